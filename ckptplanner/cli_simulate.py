"""`ckptplanner simulate`: play the plan many times over and say whether its formula holds."""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

from ckptplanner.engine.laws import Exponential
from ckptplanner.engine.model_checks import law_words
from ckptplanner.engine.plan import Plan
from ckptplanner.engine.scenario import NamedScenario
from ckptplanner.engine.simulation.check import Check, check
from ckptplanner.engine.simulation.from_plan import setup_of
from ckptplanner.engine.simulation.result import Simulation
from ckptplanner.engine.simulation.run import simulate
from ckptplanner.executors import add_executor, executor_of
from ckptplanner.units import DAY, DAYS, SECONDS, brief, grouped, percent, rough, significant

MOST_RUNS, MOST_SEED = 10_000_000, 2**63 - 1


def add_arguments(command: argparse.ArgumentParser) -> None:
    """What only this command takes."""
    command.add_argument("--runs", metavar="N", type=_runs, default=1000, help="how many runs; 1000 if left out")
    command.add_argument("--seed", metavar="S", type=_seed, default=0, help="the same seed gives the same result")
    command.add_argument("--json", action="store_true", help="print one JSON object")
    add_executor(command)


def _runs(written: str) -> int:
    return _whole(written, 2, MOST_RUNS)


def _seed(written: str) -> int:
    return _whole(written, 0, MOST_SEED)


def _whole(written: str, low: int, high: int) -> int:
    try:
        value = int(written.replace(",", "").replace("_", ""))
    except ValueError:
        value = low - 1
    if not low <= value <= high:
        raise argparse.ArgumentTypeError(f"{written!r}: a whole number from {low:,} to {high:,} is expected")
    return value


def simulated(named: NamedScenario, plan: Plan, options: argparse.Namespace) -> str:
    """Simulate the plan; JSON, or words for people."""
    setup = setup_of(plan)
    found, verdict = None, None
    if setup is not None:
        with executor_of(options.executor) as executor:
            found = simulate(setup, runs=options.runs, seed=options.seed, executor=executor)
        verdict = check(plan, found)
    errors = [f"error: {finding.path}: {finding.message}" for finding in plan.findings if finding.severity == "error"]
    if options.json:
        for error in errors:
            sys.stderr.write(f"{error}\n")
        return json.dumps(_document(options, found, verdict), ensure_ascii=False, indent=1, allow_nan=False)
    if found is None or verdict is None:
        return "\n".join([named.name, "There is nothing to simulate.", *errors])
    return "\n".join([_words(named, found, verdict), *(["", *errors] if errors else [])])


def _document(options: argparse.Namespace, found: Simulation | None, verdict: Check | None) -> dict[str, Any]:
    """The JSON of docs/models.md 17.5; null where there is nothing to simulate."""
    return {
        "runs": options.runs,
        "seed": options.seed,
        "waste_fraction": found.waste_fraction if found else None,
        "standard_error": found.standard_error if found else None,
        "quantiles": {f"{level:g}": value for level, value in found.quantiles.items()} if found else None,
        "causes": dict(found.causes) if found else None,
        "formula_fraction": verdict.formula_fraction if verdict else None,
        "first_order_fraction": verdict.first_order_fraction if verdict else None,
        "agrees": verdict.agrees if verdict else None,
        "is_clear": verdict.is_clear if verdict else None,
        "message": str(verdict.text) if verdict else None,
        "simulated_s": found.span_s if found else None,
        "interruptions": {
            name: {"per_run": one.per_run, "mean_rework_s": one.mean_rework_s} for name, one in found.by_class.items()
        }
        if found
        else None,
    }


def _law_words(named: NamedScenario, found: Simulation) -> str:
    """The law that was played, which may be another than the one that was asked for: there may be no gaps to take."""
    if found.setup.fleet is not None:
        return "each node ages by itself"
    return "memoryless" if isinstance(found.setup.law, Exponential) else str(law_words(named.scenario.failures))


def _words(named: NamedScenario, found: Simulation, verdict: Check) -> str:
    """What people read: the verdict, the waste with its spread, its parts, the interruptions."""
    low, middle, high = (percent(value) for value in found.quantiles.values())
    rows = [
        ("Gaps", _law_words(named, found)),
        ("Runs", f"{grouped(found.runs)} of {brief(found.span_s / DAY, DAYS)}, seed {found.seed}"),
        ("Waste", f"{percent(found.waste_fraction)} ± {significant(100 * found.standard_error, 2)} points"),
        ("Of single runs", f"5 % below {low}, half below {middle}, 95 % below {high}"),
        *((f"  {cause}", percent(share)) for cause, share in found.causes.items() if share > 0.0 and cause != "training"),
    ]
    for name, one in found.by_class.items():
        lost = f", {rough(one.mean_rework_s, SECONDS)} of training lost each" if one.per_run else ""
        rows.append((name.capitalize(), f"{significant(one.per_run)} a run{lost}"))
    return "\n".join([named.name, str(verdict.text), "", *(f"{title:<28}{value}" for title, value in rows)])
