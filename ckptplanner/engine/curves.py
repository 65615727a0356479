"""Cost and waste over the write time, for every throughput with and without EFA: what the two linked plots draw."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from ckptplanner.data.records import FsxTier
from ckptplanner.engine import teeth
from ckptplanner.engine.job import Job, job_of
from ckptplanner.engine.outcome import (
    FileSystems,
    Outcome,
    existing,
    outcome,
    required_write_bytes_per_s,
    sizing,
    writing_at_once,
)
from ckptplanner.engine.plan import Ranges
from ckptplanner.engine.scenario import AUTO_EFA_BYTES_PER_S, Scenario
from ckptplanner.frozen import BoolArray, FloatArray, with_value
from ckptplanner.units import MONTHS_PER_YEAR

POINTS = 512
FIRST_S = 20.0  # the shortest write time in Article A's figures


@dataclass(frozen=True, slots=True, eq=False)
class ModeCurves:
    """Waste, cost and interval over the write time for one mode of saving; (m, n), one row a tier."""

    first_order_fraction: FloatArray
    exact_fraction: FloatArray
    chosen_fraction: FloatArray
    interval_s: FloatArray
    total_usd_per_month: FloatArray


@dataclass(frozen=True, eq=False)
class Curves:
    """Everything drawn against the write time. NaN marks what is not known or no longer holds.

    `cheapest` picks one row for each write time: the least storage bill among the tiers that the EFA rule allows, or the
    least total where the scenario chooses by it; the smallest where no price is known; -1 where none will do.
    """

    scenario: Scenario
    write_s: FloatArray
    tiers: tuple[FsxTier, ...]
    required_write_bytes_per_s: FloatArray
    capacity_gib: FloatArray
    bound_by_capacity: BoolArray
    usable: BoolArray
    usd_per_month: FloatArray
    cheapest: FloatArray
    sync: ModeCurves
    run_async: ModeCurves
    efa_below_s: float
    overlap_from_s: float

    @cached_property
    def least_total(self) -> Ranges | None:
        """Where storage and lost GPU time cost least together, and the pieces within 3 %; in dollars a month."""
        return least_total(self.scenario, float(self.write_s[0]), float(self.write_s[-1]))

    def picked(self, values: FloatArray) -> FloatArray:
        """The cheapest tier's value at each write time, NaN where there is none. (m, n) -> (n,)"""
        index = self.cheapest.astype(int)
        taken = np.take_along_axis(values, np.maximum(index, 0)[None, :], axis=0)[0]
        return np.where(index >= 0, taken, np.nan)


def _mode_curves(result: Outcome) -> ModeCurves:
    return ModeCurves(
        first_order_fraction=result.first_order_fraction,
        exact_fraction=result.exact_fraction,
        chosen_fraction=result.chosen_fraction,
        interval_s=result.interval_s,
        total_usd_per_month=result.total_usd_per_year / MONTHS_PER_YEAR,
    )


def cheapest_rows(scenario: Scenario, systems: FileSystems, result: Outcome) -> FloatArray:
    """Which row is chosen in each column: the cheapest usable one, or the smallest where no price is known; -1: none.

    Rows of one price: the one that loses less training. (m, n) -> (n,)
    """
    full = np.zeros_like(result.interval_s)
    by_total = scenario.storage.choose_by == "total_usd"
    price = result.total_usd_per_year if by_total else systems.usd_per_month + full
    usable = systems.usable & np.isfinite(result.interval_s)
    priced = np.where(usable & np.isfinite(price), price, np.inf)
    smallest = np.where(usable, systems.capacity_gib + full, np.inf)
    order = np.where(np.isfinite(priced).any(axis=0, keepdims=True), priced, smallest)
    best = order.min(axis=0, keepdims=True)
    tie = np.where(order <= best * (1.0 + 1e-12), result.exact_fraction, np.inf)
    return np.where(np.isfinite(best[0]), tie.argmin(axis=0), -1).astype(float)


def systems_at(scenario: Scenario, job: Job, write_s: FloatArray, mode: str) -> tuple[FileSystems, FloatArray]:
    """What could serve each write time: the eight FSx options, or the file system that exists; and W. (m, n), (n,)"""
    needed = required_write_bytes_per_s(scenario, job.checkpoint_bytes, write_s)
    writing = writing_at_once(scenario, job, write_s, mode)
    if scenario.storage.custom is not None:
        return existing(scenario, writing), needed
    return sizing(scenario, scenario.storage.tiers, needed / scenario.storage.write_efficiency, job, writing), needed


def default_grid_s(scenario: Scenario) -> FloatArray:
    """The write times worth drawing: from 20 s (or a tenth of the present one) to well beyond the best interval. [s]"""
    job, storage = job_of(scenario), scenario.storage
    systems, _ = systems_at(scenario, job, np.array([storage.write_s]), "async")
    save = outcome(scenario, job, systems, np.array([storage.write_s]), "async")
    interval = float(save.best_interval_s.min())
    low = min(FIRST_S, storage.write_s / 5.0)
    high = max(2.0 * interval, 3.0 * storage.write_s, 10.0 * low)
    return np.geomspace(low, min(high, low * 1e6), POINTS)


def curves_of(scenario: Scenario) -> Curves:
    """The curves over the range worth drawing. They do not depend on the chosen write time, so a drag computes none."""
    grid = default_grid_s(scenario)
    return _cached_curves(with_value(scenario, "storage.write_s", 1.0), float(grid[0]), float(grid[-1]))


@lru_cache(maxsize=64)
def _cached_curves(scenario: Scenario, low_s: float, high_s: float) -> Curves:
    return curves(scenario, np.geomspace(low_s, high_s, POINTS))


def curves(scenario: Scenario, grid: FloatArray) -> Curves:
    """Compute every curve at the given write times. [s], (n,), rising, > 0; `storage.write_s` plays no part."""
    job, storage = job_of(scenario), scenario.storage
    systems, needed = systems_at(scenario, job, grid, storage.mode)
    by_mode = {mode: outcome(scenario, job, systems, grid, mode) for mode in ("sync", "async")}
    shown = by_mode[storage.mode]
    now = by_mode["async"]
    wanted = now.best_interval_s if storage.interval_s is None else now.wanted_interval_s
    return Curves(
        scenario=scenario,
        write_s=grid,
        tiers=() if storage.custom is not None else storage.tiers,
        required_write_bytes_per_s=needed,
        capacity_gib=systems.capacity_gib + np.zeros_like(shown.interval_s),
        bound_by_capacity=systems.bound_by_capacity & np.isfinite(shown.interval_s),
        usable=systems.usable & np.isfinite(shown.interval_s),
        usd_per_month=systems.usd_per_month + np.zeros_like(shown.interval_s),
        cheapest=cheapest_rows(scenario, systems, shown),
        sync=_mode_curves(by_mode["sync"]),
        run_async=_mode_curves(now),
        efa_below_s=_efa_below_s(scenario, job, grid, needed * systems.jobs_writing),
        overlap_from_s=max(float(wanted.min()) - storage.blocking_s, 0.0),
    )


def _efa_below_s(scenario: Scenario, job: Job, grid: FloatArray, together: FloatArray) -> float:
    """The longest write time at which EFA is assumed: there the jobs that write and the load of others pass 10 GB/s. [s]"""
    left = AUTO_EFA_BYTES_PER_S * scenario.storage.write_efficiency - scenario.shared.load_bytes_per_s
    if left <= 0.0:
        return float(grid[-1])
    last = int(np.flatnonzero(together > left).max(initial=0))
    writing = float(writing_at_once(scenario, job, grid[last : last + 1], scenario.storage.mode)[0])
    return scenario.storage.latency_s + job.checkpoint_bytes * writing / left


def _the_cheapest(scenario: Scenario, systems: FileSystems) -> FileSystems | None:
    """The cheapest usable row of each column as one row; None where prices alone do not decide it. (m, n) -> (1, n)"""
    if scenario.storage.choose_by == "total_usd" or systems.usd_per_month.shape[0] == 1:
        return None
    price = np.where(systems.usable & np.isfinite(systems.usd_per_month), systems.usd_per_month, np.inf)
    best = price.min(axis=0)
    if not np.isfinite(best).all() or ((price <= best * (1.0 + 1e-12)).sum(axis=0) > 1).any():
        return None
    row, column = price.argmin(axis=0), np.arange(price.shape[1])
    picked = {}
    for name in FileSystems.__slots__:
        values = getattr(systems, name)
        picked[name] = values[None, :] if values.ndim == 1 else values[row, column % values.shape[1]][None, :]
    return FileSystems(**picked)


def total_usd_at(scenario: Scenario, job: Job, write_s: FloatArray, mode: str) -> FloatArray:
    """Storage and lost GPU time of the cheapest choice at each write time. [USD/year], (n,)"""
    systems, _ = systems_at(scenario, job, write_s, mode)
    if (single := _the_cheapest(scenario, systems)) is not None:  # one file system at each time: an eighth of the work
        least: FloatArray = outcome(scenario, job, single, write_s, mode).total_usd_per_year[0]
        return least
    result = outcome(scenario, job, systems, write_s, mode)
    index = cheapest_rows(scenario, systems, result).astype(int)
    taken = np.take_along_axis(result.total_usd_per_year, np.maximum(index, 0)[None, :], axis=0)[0]
    return np.where(index >= 0, taken, np.nan)


def least_total(scenario: Scenario, low_s: float, high_s: float) -> Ranges | None:
    """Find the least total between two write times, and the pieces within 3 % of it; in dollars a month."""
    if scenario.storage.custom is not None:
        return None
    job = job_of(scenario)
    edges = teeth.edges_s(scenario, job, scenario.storage.mode, low_s, high_s)

    def total(write_s: FloatArray) -> FloatArray:
        return total_usd_at(scenario, job, write_s, scenario.storage.mode) / MONTHS_PER_YEAR

    return teeth.within(edges, total)
