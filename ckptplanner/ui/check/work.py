"""What the page asks of the engine: one simulation with its verdict, and one run of it made ready for the lanes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ckptplanner.engine.plan import Plan, Waste
from ckptplanner.engine.simulation.check import Check, check
from ckptplanner.engine.simulation.from_plan import setup_of
from ckptplanner.engine.simulation.result import Simulation
from ckptplanner.engine.simulation.run import simulate
from ckptplanner.engine.simulation.setup import Setup
from ckptplanner.engine.simulation.timeline import KINDS, Timeline, timeline
from ckptplanner.ui.background import Progress, Work
from ckptplanner.ui.check.coverage import Run, lanes_of
from ckptplanner.ui.check.kinds import ALWAYS, LANES, interruption_words
from ckptplanner.ui.check.strip import Estimate, FormulaMark
from ckptplanner.ui.shown import Shown
from ckptplanner.ui.words import say


@dataclass(frozen=True)
class Asked:
    """What a simulation and its verdict follow from; prices, for one, are not among it."""

    setup: Setup
    waste: Waste


@dataclass(frozen=True, eq=False)
class Result:
    """One simulation, what it was asked of, and its first run."""

    asked: Asked
    shown: Shown
    simulation: Simulation
    check: Check
    run: Run


def asked_of(plan: Plan) -> Asked | None:
    """What is to be simulated; None where the plan has no schedule to run."""
    setup = setup_of(plan)
    return None if setup is None or plan.waste is None else Asked(setup, plan.waste)


def simulation_work(asked: Asked, shown: Shown, runs: int, seed: int) -> Work:
    """Simulate and compare, away from the window; gives a Result."""

    def work(progress: Progress) -> Result:
        simulation = simulate(asked.setup, runs=runs, seed=seed, progress=progress)
        first = run_of(timeline(asked.setup, seed=seed))
        return Result(asked, shown, simulation, check(shown.plan, simulation), first)

    return work


def run_work(result: Result, number: int) -> Work:
    """One run of a simulation, counted from 0; gives a Run."""
    setup, seed = result.asked.setup, result.simulation.seed
    return lambda _progress: run_of(timeline(setup, seed=seed, run=number))


def run_of(found: Timeline) -> Run:
    """A run as lanes: those that every run has, and the others where they occur."""
    lanes = lanes_of(LANES, KINDS, found.kind, found.start_s, found.end_s)
    kept = tuple(lane for lane in lanes if lane.name in ALWAYS or lane.start_s.size)
    at_s = np.array([one.at_s for one in found.interruptions])
    words = tuple(interruption_words(one.cause, one.level) for one in found.interruptions)
    return Run(kept, at_s, words, max(found.end_at_s, 1.0))


def estimate_of(simulation: Simulation) -> Estimate:
    """The simulated waste for the strip."""
    low, middle, high = (simulation.quantiles[level] for level in (0.05, 0.5, 0.95))
    edges, counts = simulation.histogram_edges, simulation.histogram_counts
    return Estimate(simulation.waste_fraction, simulation.standard_error, low, middle, high, edges, counts)


def marks_of(result: Result) -> tuple[FormulaMark, ...]:
    """What the formulas say: the one that decides, and the other of exact and first order."""
    found, waste = result.check, result.asked.waste
    names = {"exponential": say("exact"), "renewal": say("exact, with memory"), "two_levels": say("two levels")}
    exact, first = names.get(waste.exact_model, say("exact")), say("first order")
    planned = waste.planned_fraction or 0.0
    if planned:
        exact, first = (say("{formula} and planned stops", formula=name) for name in (exact, first))
    with_planned = None if found.first_order_fraction is None else found.first_order_fraction + planned
    if waste.model != "exact":
        other = None if waste.exact_fraction is None else waste.exact_fraction + planned
        marks = [(first, found.formula_fraction, True), (exact, other, False)]
    else:
        marks = [(exact, found.formula_fraction, True), (first, with_planned, False)]
    return tuple(FormulaMark(name, value, is_chosen=chosen) for name, value, chosen in marks if value is not None)
