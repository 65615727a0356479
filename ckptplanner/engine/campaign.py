"""Scenarios as stages of one campaign: run one after another on one file system that serves the largest of them.

    one file system   the cheapest legal one whose capacity and rate are enough for every stage; each stage is then
                      planned on it, since a faster one than its own also shortens its restarts
    sums              dollars, checkpoints and bytes written over the days of all stages

A stage lasts as long as its scenario's run (`run.days`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ckptplanner.engine.cost import per_basis
from ckptplanner.engine.evaluate import evaluate
from ckptplanner.engine.plan import Option, Plan
from ckptplanner.engine.scenario import AUTO_EFA_BYTES_PER_S, NamedScenario, Scenario
from ckptplanner.engine.tables import Cell
from ckptplanner.frozen import with_value
from ckptplanner.text import Text, text
from ckptplanner.units import DAY, GIB


@dataclass(frozen=True, slots=True)
class Stage:
    """One stage on the file system of the campaign; `own` is the same plan with a file system of its own."""

    name: str
    days: float
    plan: Plan
    own: Plan
    needed_write_bytes_per_s: float  # of the file system, all jobs on it together
    needed_bytes: float  # capacity, at the fill limit
    saves: float | None
    written_bytes: float | None  # to the file system and to S3, other saves included
    storage_usd: float | None
    lost_gpu_usd: float | None
    other_usd: float | None
    total_usd: float | None
    own_storage_usd: float | None
    own_total_usd: float | None

    @property
    def waste_fraction(self) -> float | None:
        """Time lost on the file system of the campaign, planned stops included. [1]"""
        return self.plan.waste.total_fraction if self.plan.waste else None


@dataclass(frozen=True, slots=True)
class Campaign:
    """All stages and their sums; `reason` says why there is no one file system for all."""

    stages: tuple[Stage, ...]
    option: Option | None
    reason: Text | None
    largest: str  # the stage that asks for most of the rate
    fullest: str  # and of the capacity

    @property
    def days(self) -> float:
        """All stages together."""
        return sum(stage.days for stage in self.stages)

    @property
    def broken(self) -> tuple[str, ...]:
        """The stages whose plan has an error on this file system."""
        return tuple(stage.name for stage in self.stages if stage.plan.count("error"))

    @property
    def waste_fraction(self) -> float | None:
        """GPU-hours lost of all GPU-hours. [1]"""
        works = [stage.plan.scenario.workload for stage in self.stages]
        hours = [stage.days * work.nodes * work.gpus_per_node for stage, work in zip(self.stages, works, strict=True)]
        lost = [stage.waste_fraction for stage in self.stages]
        known = [share * hour for share, hour in zip(lost, hours, strict=True) if share is not None]
        return sum(known) / sum(hours) if len(known) == len(hours) else None

    def total(self, name: str) -> float | None:
        """The sum of a field of the stages; None where one is not known."""
        known = [value for stage in self.stages if (value := getattr(stage, name)) is not None]
        return sum(known) if len(known) == len(self.stages) else None


def campaign(stages: Sequence[NamedScenario]) -> Campaign:
    """Run scenarios one after another, each for the days of its run.

    Raises:
        ValueError: there is no stage.
    """
    if not stages:
        raise ValueError("a campaign needs a stage")
    scenarios = [named.scenario for named in stages]
    tier, reason = _one_file_system(scenarios)
    planned = [evaluate(scenario if tier is None else with_value(scenario, "storage.tier", tier)) for scenario in scenarios]
    made = tuple(_stage(named, plan) for named, plan in zip(stages, planned, strict=True))
    return Campaign(
        stages=made,
        option=None if reason is not None else planned[0].storage.chosen,
        reason=reason,
        largest=max(made, key=lambda stage: stage.needed_write_bytes_per_s).name,
        fullest=max(made, key=lambda stage: stage.needed_bytes).name,
    )


# ---------------------------------------------------------------- one file system for all


def _one_file_system(scenarios: Sequence[Scenario]) -> tuple[str | None, Text | None]:
    """The id of the tier to fix in every stage, None where storage exists or nothing serves all; and why."""
    existing = {scenario.storage.custom for scenario in scenarios}
    if len(existing) > 1:
        if None in existing:
            return None, text("Some stages are on storage that exists, some on a file system to buy; each keeps its own.")
        return None, text("The stages are on different storage that exists; each keeps its own.")
    if existing != {None}:
        return None, None
    if len({scenario.prices.region for scenario in scenarios}) > 1:
        return None, text("The stages are in different regions; each keeps its own.")
    fixed = {scenario.storage.tier for scenario in scenarios}
    if len(fixed) == 1 and fixed != {"auto"}:
        return fixed.pop(), None
    free = [with_value(scenario, "storage.tier", "auto") for scenario in scenarios]
    by_total = any(scenario.storage.choose_by == "total_usd" for scenario in scenarios)
    best: tuple[float, str] | None = None
    for price, tier in _large_enough(free):
        if best is not None and not by_total:
            break
        plans = [evaluate(with_value(scenario, "storage.tier", tier)) for scenario in free]
        if any(plan.storage.chosen is None or plan.storage.chosen.illegal_reason is not None for plan in plans):
            continue
        totals = [_of_run(plan, plan.cost.total_usd_per_year if plan.cost else None) for plan in plans]
        known = [total for total in totals if total is not None]
        rank = sum(known) if by_total and len(known) == len(totals) else price
        best = min((rank, tier), best or (rank, tier))
    if best is None:
        return None, text("No file system on offer serves every stage; each keeps its own.")
    return best[1], None


def _large_enough(scenarios: Sequence[Scenario]) -> list[tuple[float, str]]:
    """Every tier at the size that its largest stage needs, cheapest first; those with no known price last, smallest first."""
    plans = [evaluate(scenario) for scenario in scenarios]
    efa = _efa(plans)
    quota = min((one.storage.quota_gib for one in scenarios if one.storage.quota_gib is not None), default=float("inf"))
    found: list[tuple[bool, float, str]] = []
    for tier in scenarios[0].storage.tiers:
        sizes = [
            option
            for plan in plans
            for option in plan.storage.options
            if option.throughput_mb_per_s_per_tib == tier.throughput_mb_per_s_per_tib and option.efa == tier.efa
        ]
        if efa is None or tier.efa != efa or len(sizes) < len(plans):
            continue
        largest = max(sizes, key=lambda option: option.capacity_gib)
        if largest.capacity_gib <= quota:
            price = largest.usd_per_month
            found.append((price is None, largest.capacity_gib if price is None else price, largest.id))
    return [(by, name) for _, by, name in sorted(found)]


def _efa(plans: Sequence[Plan]) -> bool | None:
    """Whether the file system has EFA: as the stages ask for it, else by the largest rate; None where they disagree."""
    asked = {plan.scenario.storage.efa for plan in plans} - {"auto"}
    if len(asked) == 2:
        return None
    if asked:
        return asked == {"on"}
    return any(_needed_write(plan) > AUTO_EFA_BYTES_PER_S for plan in plans)


# ---------------------------------------------------------------- one stage


def _needed_write(plan: Plan) -> float:
    """What the file system must be rated at: what all jobs on it write at once, over the share that real saves reach. [B/s]"""
    storage, shared = plan.scenario.storage, plan.scenario.shared
    jobs = plan.beyond.jobs_writing if plan.beyond else 1.0
    return (plan.storage.required_write_bytes_per_s * jobs + shared.load_bytes_per_s) / storage.write_efficiency


def _needed_bytes(plan: Plan) -> float:
    """The capacity that all that is kept needs at the fill limit. [B]"""
    chosen, storage = plan.storage.chosen, plan.scenario.storage
    if chosen is None:
        return storage.generations_kept * plan.checkpoint.checkpoint_bytes / storage.max_fill
    return chosen.fill_ratio * chosen.capacity_gib * GIB / storage.max_fill


def _stage(named: NamedScenario, plan: Plan) -> Stage:
    own = evaluate(named.scenario)
    cost, schedule, days = plan.cost, plan.schedule, named.scenario.run.days
    saves = days * DAY / schedule.period_s if schedule else None
    others = sum(row.count_in_run * row.saved_bytes for row in plan.beyond.saves) if plan.beyond else 0.0
    return Stage(
        name=named.name,
        days=days,
        plan=plan,
        own=own,
        needed_write_bytes_per_s=_needed_write(plan),
        needed_bytes=_needed_bytes(plan),
        saves=saves,
        written_bytes=None if saves is None else saves * plan.checkpoint.checkpoint_bytes + others,
        storage_usd=_of_run(plan, cost.storage_usd_per_year if cost else None),
        lost_gpu_usd=_of_run(plan, cost.lost_gpu_usd_per_year if cost else None),
        other_usd=_of_run(plan, cost.other_usd_per_year if cost else None),
        total_usd=_of_run(plan, cost.total_usd_per_year if cost else None),
        own_storage_usd=_of_run(own, own.cost.storage_usd_per_year if own.cost else None),
        own_total_usd=_of_run(own, own.cost.total_usd_per_year if own.cost else None),
    )


def _of_run(plan: Plan, usd_per_year: float | None) -> float | None:
    return None if usd_per_year is None else per_basis(usd_per_year, "run", plan.scenario.run.days)


# ---------------------------------------------------------------- as a file

_SUMS = ("saves", "written_bytes", "storage_usd", "lost_gpu_usd", "other_usd", "total_usd", "own_storage_usd", "own_total_usd")
COLUMNS = (
    "stage", "days", "file_system", "needed_write_bytes_per_s", "needed_bytes", "period_s", "waste_fraction", *_SUMS,
)  # fmt: skip


def campaign_rows(found: Campaign) -> list[list[Cell]]:
    """One row for each stage and one for all, as campaign.csv has them; dollars are those of the stage's days."""
    rows: list[list[Cell]] = [
        [stage.name, stage.days, stage.plan.storage.chosen.id if stage.plan.storage.chosen else None,
         stage.needed_write_bytes_per_s, stage.needed_bytes, stage.plan.schedule.period_s if stage.plan.schedule else None,
         stage.waste_fraction, *(getattr(stage, name) for name in _SUMS)]
        for stage in found.stages
    ]  # fmt: skip
    largest = [max(getattr(stage, name) for stage in found.stages) for name in ("needed_write_bytes_per_s", "needed_bytes")]
    option = found.option.id if found.option else None
    return [*rows, ["sum", found.days, option, *largest, None, found.waste_fraction, *map(found.total, _SUMS)]]
