"""Whether a simulation says the same as the plan's formula, in words (docs/models.md 17.4)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce

from ckptplanner.engine.evaluate import evaluate
from ckptplanner.engine.losses import RENEWAL
from ckptplanner.engine.model_checks import law_words
from ckptplanner.engine.plan import Plan, Waste
from ckptplanner.engine.simulation.result import Simulation
from ckptplanner.text import Text, text
from ckptplanner.units import FRACTION, SECONDS, brief, grouped, rough, significant

ERRORS = 3.0  # standard errors that chance explains
PARTS = 0.02  # of the waste; the share from which the planner says that two models part
ENDS = 0.0003  # of the run, which begins without a restart and ends with everything kept
UNCLEAR = 0.1  # of the waste: three errors above that say nothing yet
FEW_TURNS, FEW_SAVES = 5.0, 10.0


@dataclass(frozen=True, slots=True)
class Check:
    """The simulation beside the plan's formulas.

    `formula_fraction` is the plan's total, the number that drives decisions; None where it has none. `agrees` is true within
    3 standard errors, which is chance, or within 2 % of the waste, below which no one would plan differently, or within 0.03
    points, which the two ends of a run make: it begins without a restart, and its last stretch is not lost. It says little
    where `is_clear` is false: three standard errors are more than a tenth of the waste, and the text asks for more runs.
    """

    formula_fraction: float | None
    first_order_fraction: float | None
    agrees: bool
    is_clear: bool
    text: Text


def check(plan: Plan, simulation: Simulation) -> Check:
    """Compare a simulation with the plan that it was made from."""
    waste = plan.waste
    formula = waste.total_fraction if waste is not None else None
    first = waste.first_order_fraction if waste is not None else None
    if formula is None:
        return Check(None, first, False, False, text("The plan has no waste to compare the simulation with."))
    apart = abs(simulation.waste_fraction - formula)
    agrees = apart <= max(ERRORS * simulation.standard_error, PARTS * formula, ENDS)
    noise = ERRORS * simulation.standard_error
    if noise > UNCLEAR * simulation.waste_fraction and apart <= noise:
        return Check(formula, first, agrees, False, _unclear(simulation))
    sentences = [_verdict(simulation, formula, agrees=agrees)]
    reason = next(_reasons(plan, simulation, formula), None)
    if not agrees:
        sentences.append(reason or text("The formula leaves out something that matters here."))
    sentences += _first_order(plan)
    if simulation.is_shortened:
        sentences.append(
            text(
                "Only {span} of each run was simulated: it has very many interruptions.", span=rough(simulation.span_s, SECONDS)
            )
        )
    return Check(formula, first, agrees, True, _joined(sentences))


def _joined(sentences: list[Text]) -> Text:
    """Sentences one after the other, each translated for itself."""
    return reduce(lambda before, after: text("{before} {after}", before=before, after=after), sentences)


def _unclear(simulation: Simulation) -> Text:
    needed = simulation.runs * (ERRORS * simulation.standard_error / (UNCLEAR * max(simulation.waste_fraction, 1e-12))) ** 2
    return text(
        "{runs} runs cannot tell yet: their mean, {waste}, is known to {error} only. Some {needed} runs would do.",
        runs=grouped(simulation.runs), waste=brief(simulation.waste_fraction, FRACTION),
        error=text("± {error}", error=brief(ERRORS * simulation.standard_error, FRACTION, 2)),
        needed=grouped(float(significant(min(needed, 1e12), 1).replace(",", ""))),
    )  # fmt: skip


def _verdict(simulation: Simulation, formula: float, *, agrees: bool) -> Text:
    apart = simulation.waste_fraction - formula
    errors = abs(apart) / simulation.standard_error if simulation.standard_error > 0.0 else None
    values = {
        "simulated": brief(simulation.waste_fraction, FRACTION),
        "formula": brief(formula, FRACTION),
        "points": significant(abs(apart) * 100.0, 2),
        "errors": "–" if errors is None else significant(errors, 2),
    }
    if agrees and errors is not None and errors > ERRORS:
        return text(
            "The simulation wastes {simulated} and the formula says {formula}: {points} points or {errors} standard errors "
            "apart, more than chance makes, but too little to plan otherwise.",
            **values,
        )
    if agrees:
        return text(
            "The simulation wastes {simulated} and the formula says {formula}: they agree, {points} points or {errors} "
            "standard errors apart.",
            **values,
        )
    if apart > 0.0:
        return text(
            "The simulation wastes {simulated}, more than the {formula} of the formula: {points} points or {errors} standard "
            "errors apart.",
            **values,
        )
    return text(
        "The simulation wastes {simulated}, less than the {formula} of the formula: {points} points or {errors} standard "
        "errors apart.",
        **values,
    )


def _reasons(plan: Plan, simulation: Simulation, formula: float) -> Iterator[Text]:
    """What the simulation has and the formula has not, the most likely first."""
    setup, schedule, scenario = simulation.setup, plan.schedule, plan.scenario
    yield from _fresh_clock(plan, simulation, formula)
    if schedule is not None and setup.run_s < max(FEW_TURNS * schedule.mtbi_s, FEW_SAVES * schedule.period_s):
        yield text(
            "The run of {run} is short against the {mtbi} between interruptions and the {interval} between saves; the formula "
            "is for a long one.",
            run=rough(setup.run_s, SECONDS), mtbi=rough(schedule.mtbi_s, SECONDS), interval=rough(schedule.period_s, SECONDS),
        )  # fmt: skip
    if setup.notice is not None:
        yield text("The formula knows no spot notice; in the simulation a last save is made where the notice is long enough.")
    if setup.spares is not None and setup.spares.nodes:
        yield text(
            "The formula lets a lost node wait for its own replacement; in the simulation the job takes the next one that "
            "comes."
        )
    if setup.planned is not None:
        yield text(
            "Planned stops come at fixed times, so they meet the saves at the same place each time; the formula takes the "
            "mean, and adds them to the rest."
        )
    if plan.levels is not None and scenario.failures.has_memory:
        yield text("The formula of two levels takes interruptions as memoryless; the simulation takes their law.")
    if any(cause.level == "step" for cause in setup.causes) or setup.fleet is not None:
        yield text("The formula takes all interruptions at one mean rate; in the simulation they come by their own law.")


def _fresh_clock(plan: Plan, simulation: Simulation, formula: float) -> Iterator[Text]:
    """Runs begin right after an interruption, so that a law with a memory makes more or fewer of them than one each M."""
    schedule, setup = plan.schedule, simulation.setup
    if schedule is None or plan.levels is not None or not plan.scenario.failures.has_memory:
        return
    names = {cause.name for cause in setup.causes}
    simulated = sum(count.per_run for name, count in simulation.by_class.items() if name in names)
    counted = simulation.span_s / (schedule.mtbi_s + _downtime_s(plan))
    more = simulated / counted - 1.0
    if abs(more) > PARTS and (more > 0.0) == (simulation.waste_fraction > formula):
        yield text(
            "Each run begins right after an interruption, with a fresh clock: by this law ({law}) it is interrupted "
            "{simulated} times on average, not {counted} times as in a long run, which the formula is for.",
            law=law_words(plan.scenario.failures), simulated=significant(simulated), counted=significant(counted),
        )  # fmt: skip


def _first_order(plan: Plan) -> list[Text]:
    """Where the first-order formula parts from the exact one, and why."""
    waste, schedule = plan.waste, plan.schedule
    if waste is None or schedule is None or waste.exact_fraction is None:
        return []
    waits = _downtime_s(plan)
    shares = {
        "save": schedule.lost_per_save_s, "interval": schedule.period_s, "restart": schedule.restart_s + waits,
    }  # fmt: skip
    values: dict[str, object] = {name: brief(seconds / schedule.mtbi_s, FRACTION, 2) for name, seconds in shares.items()}
    if waste.first_order_fraction is None:
        return [
            text(
                "The first-order formula gives more than 100 % here: it counts on a save ({save}), an interval ({interval}) "
                "and a restart ({restart}) being short against the time between interruptions.",
                **values,
            )
        ]
    more = waste.first_order_fraction / waste.exact_fraction - 1.0 if waste.exact_fraction > 0.0 else 0.0
    if abs(more) <= PARTS:
        return []
    values |= {"first": brief(waste.first_order_fraction, FRACTION), "more": brief(abs(more), FRACTION, 2)}
    memoryless = _memoryless_fraction(plan, waste)
    if memoryless is not None and abs(memoryless / waste.exact_fraction - 1.0) > 0.5 * abs(more):
        values |= {"law": law_words(plan.scenario.failures), "memoryless": brief(memoryless, FRACTION)}
        return [_first_order_by_law(waste.exact_fraction, is_much=more > 0.0, values=values)]
    if more > 0.0:
        return [
            text(
                "The first-order formula says {first}, {more} too much: it counts on a save ({save}), an interval ({interval}) "
                "and a restart ({restart}) being short against the time between interruptions.",
                **values,
            )
        ]
    return [
        text(
            "The first-order formula says {first}, {more} too little: it counts on a save ({save}), an interval ({interval}) "
            "and a restart ({restart}) being short against the time between interruptions.",
            **values,
        )
    ]


def _memoryless_fraction(plan: Plan, waste: Waste) -> float | None:
    """The exact waste of the same interval without the memory; None where the number has none."""
    scenario, schedule = plan.scenario, plan.schedule
    if waste.exact_model != RENEWAL or schedule is None:
        return None
    storage = scenario.storage.model_copy(update={"interval_s": schedule.interval_s})
    other = evaluate(scenario.model_copy(update={"failures": scenario.failures.memoryless, "storage": storage}))
    return other.waste.exact_fraction if other.waste is not None else None


def _first_order_by_law(exact: float, *, is_much: bool, values: dict[str, object]) -> Text:
    """The law is what makes the difference: the first order knows memoryless interruptions only."""
    values = {name: values[name] for name in ("first", "more", "law", "memoryless")} | {"exact": brief(exact, FRACTION)}
    if is_much:
        return text(
            "The first-order formula says {first}, {more} too much: it takes interruptions as memoryless. Exactly, "
            "{memoryless} would be wasted then; by their law ({law}) it is {exact}.",
            **values,
        )
    return text(
        "The first-order formula says {first}, {more} too little: it takes interruptions as memoryless. Exactly, {memoryless} "
        "would be wasted then; by their law ({law}) it is {exact}.",
        **values,
    )


def _downtime_s(plan: Plan) -> float:
    """D with the mean wait for a spare. [s]"""
    return plan.scenario.failures.downtime_s + (plan.beyond.mean_wait_s if plan.beyond is not None else 0.0)
