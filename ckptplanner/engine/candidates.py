"""The file systems that could serve a scenario: the one that exists or is fixed, the eight on sale, and the choice.

candidates: Scenario, Job -> rows of the options table, each with its column of the outcome
choose:     what is fixed, else the cheapest on offer
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace
from functools import cached_property, lru_cache
from typing import Any, TypeVar

import numpy as np

from ckptplanner.data.records import FsxTier
from ckptplanner.engine import checks, fsx
from ckptplanner.engine.curves import systems_at
from ckptplanner.engine.job import Job
from ckptplanner.engine.outcome import FileSystems, Outcome, existing, fixed_tier, outcome
from ckptplanner.engine.plan import Option
from ckptplanner.engine.scenario import TIER_PATTERN, Scenario
from ckptplanner.frozen import FloatArray
from ckptplanner.text import Text, text
from ckptplanner.units import GIB, GIBS, brief

Value = TypeVar("Value")


@dataclass(frozen=True, eq=False)
class Candidate:
    """One file system with what follows from it: a row of the options table and its row of the systems and the outcome."""

    option: Option
    tier: FsxTier | None
    all_systems: FileSystems
    all_outcomes: Outcome
    row: int

    @cached_property
    def systems(self) -> FileSystems:
        """This file system alone, (1, 1)."""
        return _row(self.all_systems, self.row)

    @cached_property
    def outcome(self) -> Outcome:
        """What follows from it alone, (1, 1)."""
        return _row(self.all_outcomes, self.row)


def candidates(scenario: Scenario, job: Job) -> list[Candidate]:
    """The file system that exists or is fixed, and the eight that could be bought."""
    storage = scenario.storage
    write = np.array([storage.write_s])
    without = scenario.model_copy(update={"storage": storage.model_copy(update={"custom": None})})
    sized, needed = systems_at(without, job, write, storage.mode)
    result = outcome(scenario, job, sized, write, storage.mode)
    found = [
        _candidate(scenario, job, tier, (sized, result, row), _excluded(scenario, tier, sized, row), is_sized=True)
        for row, tier in enumerate(storage.tiers)
    ]
    if not np.isfinite(needed).all():
        found = []
    for tier, systems in _given(scenario, sized.jobs_writing):
        of_it = outcome(scenario, job, systems, write, storage.mode)
        given = _candidate(scenario, job, tier, (systems, of_it, 0), None, is_sized=False)
        found = [given, *(other for other in found if other.option.id != given.option.id)]
    return found


def _given(scenario: Scenario, jobs_writing: FloatArray) -> list[tuple[FsxTier | None, FileSystems]]:
    """What the user has fixed: existing storage, or a tier with its capacity."""
    if scenario.storage.custom is not None:
        return [(None, existing(scenario, jobs_writing))]
    fixed = TIER_PATTERN.fullmatch(scenario.storage.tier)
    if fixed is None:
        return []
    tier = tier_like(scenario, float(fixed[1]), efa=bool(fixed[3]))
    return [(tier, fixed_tier(scenario, tier, float(fixed[2]), jobs_writing))]


def tier_like(scenario: Scenario, throughput: float, *, efa: bool) -> FsxTier:
    """The tier of that throughput, or one of the same kind with it where the service has none (checks say so)."""
    same = [tier for tier in scenario.storage.tiers if tier.efa == efa]
    exact = [tier for tier in same if tier.throughput_mb_per_s_per_tib == throughput]
    return exact[0] if exact else same[-1].model_copy(update={"throughput_mb_per_s_per_tib": throughput})


def _excluded(scenario: Scenario, tier: FsxTier, systems: FileSystems, row: int) -> Text | None:
    """Why a legal option takes no part in the choice."""
    storage = scenario.storage
    if storage.quota_gib is not None and systems.capacity_gib[row, 0] > storage.quota_gib:
        return text("above your quota of {quota}", quota=brief(storage.quota_gib, GIBS))
    if bool(systems.allowed[row, 0]):
        return None
    if storage.efa == "auto":
        return text("EFA above 10 GB/s") if not tier.efa else text("no EFA below 10 GB/s")
    return text("EFA is switched off") if tier.efa else text("EFA is switched on")


@lru_cache(maxsize=4)
def names_of(kind: Any) -> tuple[str, ...]:
    """The fields of a dataclass, inherited ones included (its slots are its own alone)."""
    return tuple(field.name for field in fields(kind))


def _row(values: Value, row: int) -> Value:
    """One row of arrays (m, n) as arrays (1, n); what has one row for all is passed on."""
    kind: Any = type(values)
    arrays = {name: getattr(values, name) for name in names_of(kind)}
    picked = {name: array[row : row + 1] if array.ndim == 2 and len(array) > 1 else array for name, array in arrays.items()}
    return kind(**picked)  # type: ignore[no-any-return]


def _candidate(
    scenario: Scenario,
    job: Job,
    tier: FsxTier | None,
    found: tuple[FileSystems, Outcome, int],
    excluded: Text | None,
    *,
    is_sized: bool,
) -> Candidate:
    systems, result, row = found

    def one(values: FloatArray) -> float:
        return float(values[row if len(values) > 1 else 0, 0])

    capacity = one(systems.capacity_gib)
    held = (job.held_bytes + scenario.shared.used_bytes) / GIB
    option = Option(
        id=option_id(tier, capacity),
        throughput_mb_per_s_per_tib=tier.throughput_mb_per_s_per_tib if tier else None,
        efa=tier.efa if tier else False,
        capacity_gib=capacity,
        baseline_bytes_per_s=one(systems.write_bytes_per_s),
        read_bytes_per_s=one(systems.read_bytes_per_s),
        client_bytes_per_s=_finite(one(systems.client_bytes_per_s)),
        servers=int(fsx.servers(np.array(capacity), np.array(tier.step_gib))) if tier else None,
        bound_by=("capacity" if systems.bound_by_capacity[row, 0] else "throughput") if is_sized else None,
        usd_per_month=_finite(one(systems.usd_per_month)),
        writes_in_s=one(result.writes_in_s),
        restart_s=one(result.restart_s),
        fill_ratio=held / capacity,
        waste_fraction=_finite(one(result.chosen_fraction)),
        total_usd_per_year=_finite(one(result.total_usd_per_year)),
        excluded_reason=excluded,
    )
    if (refused := checks.illegal_reason(scenario, job, tier, option)) is not None:
        option = replace(option, illegal_reason=refused)
    return Candidate(option, tier, systems, result, row)


def option_id(tier: FsxTier | None, capacity_gib: float) -> str:
    """The name that `storage.tier` takes: p2-500-12000 or p2-1000-33600-efa; custom for storage that exists."""
    if tier is None:
        return "custom"
    return f"p2-{tier.throughput_mb_per_s_per_tib:.0f}-{capacity_gib:.0f}{'-efa' if tier.efa else ''}"


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def rank(candidate: Candidate) -> tuple[bool, bool, bool, float]:
    """Storage that exists first, then the cheapest; what would be refused, and what has no price, behind."""
    option = candidate.option
    price = option.usd_per_month
    by = price if price is not None else option.capacity_gib
    return (option.id != "custom", option.illegal_reason is not None, price is None, by)


def by_price(systems: FileSystems) -> tuple[tuple[int, float], ...]:
    """The cheapest usable rows at the first write time and their capacities; the smallest ones where no price is known."""
    price, size, usable = systems.usd_per_month[:, 0], systems.capacity_gib[:, 0], systems.usable[:, 0]
    with_price = usable & np.isfinite(price)
    order = np.where(with_price, price, np.inf) if with_price.any() else np.where(usable, size, np.inf)
    least = order.min()
    if not math.isfinite(least):
        return ()
    return tuple((int(row), float(size[row])) for row in np.flatnonzero(order <= least * (1.0 + 1e-12)))


def chosen_alone(scenario: Scenario, job: Job) -> Candidate | None:
    """What `choose` picks among all candidates, without the rows that stay behind: the same numbers in less time."""
    storage = scenario.storage
    if storage.custom is not None or storage.tier != "auto" or storage.choose_by != "storage_usd":
        return choose(scenario, candidates(scenario, job))
    write = np.array([storage.write_s])
    sized, _ = systems_at(scenario, job, write, storage.mode)
    rows = by_price(sized)
    if not rows:
        return None
    result = outcome(scenario, job, sized, write, storage.mode)
    found = [_candidate(scenario, job, storage.tiers[row], (sized, result, row), None, is_sized=True) for row, _ in rows]
    return choose(scenario, found)


def choose(scenario: Scenario, found: list[Candidate]) -> Candidate | None:
    """What is fixed or exists; otherwise the cheapest on offer, or the smallest where no price is known."""
    if scenario.storage.custom is not None or scenario.storage.tier != "auto":
        return found[0]
    offered = [candidate for candidate in found if candidate.option.is_offered]
    by_total = scenario.storage.choose_by == "total_usd"

    def money(candidate: Candidate) -> float:
        option = candidate.option
        dollars = option.total_usd_per_year if by_total else option.usd_per_month
        return math.inf if dollars is None else dollars

    priced = [candidate for candidate in offered if math.isfinite(money(candidate))]
    if priced:
        return min(priced, key=lambda one: (money(one), float(one.outcome.exact_fraction[0, 0])))
    return min(offered, key=lambda one: (one.option.capacity_gib, one.option.restart_s), default=None)
