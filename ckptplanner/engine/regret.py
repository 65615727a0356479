"""What to measure next: inputs ranked by the money that not knowing them may cost, and how each is measured.

    decided today  --truth turns out to be x-->  what it costs then
                                               - what the plan costs that one would choose knowing x
                                               = regret at x                         [USD/year], never below zero

**Decided** is the plan that costs least at today's values: one of the given plans, each with the file system and interval
that its own rules choose, or one of them with the write time at which its total is least. The decision is made before the
truth is known, and then stands:

- the file system, its class and its size; where the generations no longer fit it grows in legal steps, as the service
  allows and as one would have to; it never shrinks, and storage that exists stays as it is;
- the write time; where the file system needs longer than that, the write takes what it needs;
- the interval, and the interval and ratio of local saves; where a write outlasts the interval training waits, as the exact
  model has it;
- mode, generations, replicas and everything else that is no fact.

**Knowing x** one would choose again in the same way, or stay with what was decided if that is better. Dollars are storage and
lost GPU time together, as `evaluate` has them. Only the two ends of a range are asked; between them a step of capacity may cost
more, as a rule it costs less.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ckptplanner.engine import fsx
from ckptplanner.engine.candidates import option_id, tier_like
from ckptplanner.engine.curves import default_grid_s, least_total
from ckptplanner.engine.evaluate import evaluate
from ckptplanner.engine.flip_words import amount
from ckptplanner.engine.levers import BYTES_EACH, RESTART_BASE, STORAGE_PRICE
from ckptplanner.engine.measure import how_to_measure
from ckptplanner.engine.plan import Option
from ckptplanner.engine.ranges import Range, ranges_of
from ckptplanner.engine.scenario import NamedScenario, Scenario, storage_price_path
from ckptplanner.engine.sentence import option_name
from ckptplanner.engine.yearly import yearly
from ckptplanner.frozen import value_at, with_value
from ckptplanner.text import Text, listed, text
from ckptplanner.units import SECONDS, USD, brief, rough

_LEAST = 1e-9  # of a total: a smaller regret is rounding

# what to type, where one line does it; names in capitals are the reader's own
_WRITE = "srun -N NODES ior -a POSIX -w -e -k -F -t 1m -b 16g -o FOLDER/ior"
_READ = "srun -N NODES ior -a POSIX -r -C -k -F -t 1m -b 16g -o FOLDER/ior"
_SIZE = "du -s --apparent-size --block-size=1 CHECKPOINT"
COMMANDS: Mapping[str, str] = {
    "failures.mtbi_s": "sacct -D -P -j JOB --format=JobID,State,Start,End,NNodes",
    "failures.weibull_shape": "sacct -D -P -j JOB --format=JobID,State,Start,End,NNodes",
    "failures.downtime_s": "sacct -D -P -j JOB --format=JobID,Submit,Eligible,Start",
    "planned.queue_s": "sacct -D -P -j JOB --format=JobID,Submit,Eligible,Start",
    RESTART_BASE: "sacct -D -P -j JOB --format=JobID,State,Start,End",
    "storage.write_efficiency": _WRITE,
    "storage.read_efficiency": _READ,
    "storage.custom.write_bytes_per_s": _WRITE,
    "storage.custom.read_bytes_per_s": _READ,
    "shared.load_bytes_per_s": (
        "aws cloudwatch get-metric-statistics --namespace AWS/FSx --metric-name DataWriteBytes --statistics Sum --period 60 "
        "--dimensions Name=FileSystemId,Value=FILE_SYSTEM --start-time START --end-time END"
    ),
    "workload.measured_bytes": _SIZE,
    "workload.total_params": _SIZE,
    BYTES_EACH: _SIZE,
}
_MEASURED_AS = {
    RESTART_BASE: ("failures.detect_s", "failures.reschedule_s", "failures.start_s"),
    BYTES_EACH: ("workload.layout",),
    STORAGE_PRICE: (storage_price_path(500.0),),
}


@dataclass(frozen=True, slots=True)
class Decision:
    """A plan with everything in it that has been decided."""

    plan: str
    option: Option
    write_s: float
    interval_s: float
    scenario: Scenario  # with the decisions fixed


@dataclass(frozen=True, slots=True)
class End:
    """One end of a range: what the decided plan costs there, and the plan that one would rather have."""

    value: float
    held_usd_per_year: float | None  # None where the decided plan cannot do it, or a price is not known
    best_usd_per_year: float | None
    regret_usd_per_year: float | None
    best: Decision | None


@dataclass(frozen=True, slots=True)
class Regret:
    """An input, what not knowing it may cost, and how it is measured."""

    range: Range
    low: End
    high: End
    command: str | None
    how_to: tuple[Text, ...]

    @property
    def path(self) -> str:
        """The input."""
        return self.range.path

    @property
    def worst(self) -> End:
        """The dearer end; one at which the decided plan cannot do it comes first."""
        return max(self.low, self.high, key=_rank)

    @property
    def usd_per_year(self) -> float | None:
        """The regret at the dearer end; None where the plan cannot do it there. [USD/year]"""
        return self.worst.regret_usd_per_year


def _rank(end: End) -> float:
    if end.regret_usd_per_year is not None:
        return end.regret_usd_per_year
    return -1.0 if end.best_usd_per_year is None else math.inf


def decide(scenario: Scenario, name: str = "") -> Decision | None:
    """Fix what a plan decides: its file system, interval and local saves. None where it has no file system."""
    plan = evaluate(scenario)
    chosen, schedule = plan.storage.chosen, plan.schedule
    if chosen is None or schedule is None:
        return None
    fixed = scenario
    if scenario.storage.custom is None:
        fixed = with_value(fixed, "storage.tier", chosen.id)
    fixed = with_value(fixed, "storage.interval_s", schedule.interval_s)
    if plan.levels is not None:
        fixed = with_value(fixed, "local.interval_s", plan.levels.local.interval_s)
        fixed = with_value(fixed, "local.ratio", plan.levels.ratio)
    return Decision(name, chosen, schedule.write_s, schedule.period_s, fixed)


def held(decision: Decision, change: Callable[[Scenario], Scenario]) -> Scenario:
    """The decided plan where the truth is another: it stands, and does what it has to (see the head of this file)."""
    return _written(_grown(change(decision.scenario), decision.option))


def _written(scenario: Scenario) -> Scenario:
    """The scenario with a write time that its file system can keep: the given one, or what it needs."""
    storage = scenario.storage
    if storage.pace == "full" or (storage.tier == "auto" and storage.custom is None):  # bought to keep it
        return scenario
    schedule = evaluate(scenario).schedule
    if schedule is None or schedule.writes_in_s <= storage.write_s * (1.0 + 1e-9):
        return scenario
    return with_value(scenario, "storage.write_s", schedule.writes_in_s)


def _grown(scenario: Scenario, option: Option) -> Scenario:
    """The file system in the size that holds the generations: as it was decided, or larger."""
    if option.throughput_mb_per_s_per_tib is None:
        return scenario
    chosen = evaluate(scenario).storage.chosen
    if chosen is None or chosen.fill_ratio <= scenario.storage.max_fill * (1.0 + 1e-9):
        return scenario
    tier = tier_like(scenario, option.throughput_mb_per_s_per_tib, efa=option.efa)
    needed = chosen.fill_ratio * chosen.capacity_gib / scenario.storage.max_fill
    legal = fsx.legal_capacity_gib(np.array(needed), np.array(tier.step_gib), np.array(tier.small_gib or 0.0))
    return with_value(scenario, "storage.tier", option_id(tier, float(legal)))


def _total(scenario: Scenario) -> float:
    """Dollars a year; infinity where they are not known, or the plan would not work."""
    total = yearly(scenario).usd_per_year
    return math.inf if total is None else total


def _choices(plans: Sequence[NamedScenario], change: Callable[[Scenario], Scenario]) -> Iterator[tuple[str, Scenario]]:
    """What one may choose among: each plan by its own rules, and with the write time of the least total."""
    for plan in plans:
        scenario = _written(change(plan.scenario))
        yield plan.name, scenario
        storage = scenario.storage
        if storage.custom is None and storage.tier == "auto" and storage.interval_s is None:
            grid = default_grid_s(scenario)
            least = least_total(scenario, float(grid[0]), float(grid[-1]))
            if least is not None:
                yield plan.name, with_value(scenario, "storage.write_s", least.least_at)


def best_of(
    plans: Sequence[NamedScenario], change: Callable[[Scenario], Scenario] = lambda scenario: scenario
) -> Decision | None:
    """The plan to choose where the truth is `change` of what the plans say; None where no dollars are known."""
    found = min(_choices(plans, change), key=lambda choice: _total(choice[1]), default=None)
    return None if found is None or math.isinf(_total(found[1])) else decide(found[1], found[0])


def regrets(
    plans: Sequence[NamedScenario],
    over: Sequence[Range] | None = None,
    progress: Callable[[float], None] = lambda _: None,
) -> tuple[Regret, ...]:
    """Rank inputs by what not knowing them may cost, the dearest first.

    Args:
        plans: Plans for the same job, at least one; the ranges are those of the first. Where all of them use storage that
            exists, its price is left out if it is not known.
        over: Inputs with their ranges; left out, the uncertain ones of `ranges_of`: what nobody decides.
        progress: Called with the done share; it may raise to give up.

    Returns:
        One row an input; those where the decided plan could not do it at an end come first. Empty where no dollars are known.

    About 20 ms for an input and a plan.
    """
    ranges = [one for one in ranges_of(plans[0]) if one.is_uncertain] if over is None else list(over)
    plans = _without_unknown_price(plans)
    decided = best_of(plans)
    if decided is None:
        return ()
    rows = []
    for done, one in enumerate(ranges):
        progress(done / len(ranges))
        low, high = (_end(plans, decided, one, value) for value in (one.low, one.high))
        rows.append(Regret(one, low, high, COMMANDS.get(one.path), how_to(one.path)))
    progress(1.0)
    return tuple(sorted(rows, key=lambda row: -_rank(row.worst)))


def _without_unknown_price(plans: Sequence[NamedScenario]) -> Sequence[NamedScenario]:
    """Where all plans use storage that exists, a price that nobody knows is the same whatever is decided: left out."""
    path = "storage.custom.usd_per_month"
    if any(plan.scenario.storage.custom is None for plan in plans):
        return plans
    if all(value_at(plan.scenario, path) is not None for plan in plans):
        return plans
    return [plan.model_copy(update={"scenario": with_value(plan.scenario, path, 0.0)}) for plan in plans]


def _end(plans: Sequence[NamedScenario], decided: Decision, over: Range, value: float) -> End:
    def change(scenario: Scenario) -> Scenario:
        return over.lever.put(scenario, value)

    stays = held(decided, change)
    cost = _total(stays)
    best = best_of(plans, change)
    least = math.inf if best is None else _total(best.scenario)
    if cost <= least * (1.0 + _LEAST):
        best, least = decide(stays, decided.plan) or best, cost
    regret = None if math.isinf(cost) else max(cost - least, 0.0)
    return End(value, None if math.isinf(cost) else cost, None if math.isinf(least) else least, regret, best)


def how_to(path: str) -> tuple[Text, ...]:
    """How an input is measured: one entry for each field that it is made of; empty where there is nothing to say."""
    found = (how_to_measure(one) for one in _MEASURED_AS.get(path, (path,)))
    return tuple(one for one in found if one is not None)


# ---------------------------------------------------------------- words


def change_words(before: Decision, after: Decision) -> Text:
    """What one would do otherwise: only what differs is named."""
    found = []
    if before.option.id != after.option.id:
        found.append(text("{option}", option=option_name(after.option)))
    if rough(before.write_s, SECONDS) != rough(after.write_s, SECONDS):
        found.append(text("write within {write_s}", write_s=rough(after.write_s, SECONDS)))
    if rough(before.interval_s, SECONDS) != rough(after.interval_s, SECONDS):
        found.append(text("save every {interval_s}", interval_s=rough(after.interval_s, SECONDS)))
    return listed(found) if found else text("the plan stays as it is")


def regret_sentence(row: Regret, decided: Decision) -> Text:
    """What one input may cost and what knowing it would change."""
    end, lever = row.worst, row.range.lever
    value = amount(end.value, lever.unit)
    if end.best is None:
        return text("{title} at {value}: the dollars are not known.", title=lever.title, value=value)
    change = change_words(decided, end.best)
    if end.regret_usd_per_year is None:
        return text("{title} at {value}: the plan would not work. Better: {change}.",
                    title=lever.title, value=value, change=change)  # fmt: skip
    if not end.regret_usd_per_year:
        return text("{title}: the plan is right over the whole range.", title=lever.title)
    return text(
        "{title} at {value}: the plan costs {usd_per_year} a year more than it need. Better: {change}.",
        title=lever.title, value=value, usd_per_year=brief(end.regret_usd_per_year, USD), change=change,
    )  # fmt: skip
