"""Figures of many plans at once: sizes of one supply, for one way to save -> columns to rank.

For a given file system the write time is not searched: the shortest that it sustains is the best one.

* Asynchronous. At any interval the waste grows with t_a: so does what an interruption loses (t), and what a slowed down
  step costs (sigma). Where the interval must follow the write (T >= C + t_a) a shorter write only frees it.
* Synchronous. C = t_w: at any interval every term of the waste grows with C.
* R, the final save before a planned stop and the bill of the file system depend on its rate alone, not on the time given.
* With other jobs on it a shorter write also overlaps with fewer of them. Their number is a rising step function of the write
  time, so the shortest write that is long enough is the least fixed point; `_fastest` climbs to it from below.

So each file system has one candidate, at the left end of its tooth (teeth.py), or where the 10 GB/s rule of EFA begins; a
search over sizes is a search over all write times. A longer T meets fewer other jobs too: `_Chunk._first_s`. T* is the best
interval unless a save itself costs money (traffic between zones, requests), a stop comes announced too late for a last save,
or a limit on lost work forces a shorter one: then T is searched between its bounds. T* of two levels (level by level, n
whole) and of checkpoints that count from the next save on is only close to the best: `polished` searches T there, and n
beside it, and keeps the better.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from functools import lru_cache
from typing import Any

import numpy as np

from ckptplanner.engine.beyond import jobs_writing
from ckptplanner.engine.checks import NO_PROGRESS_FRACTION
from ckptplanner.engine.cost import storage_usd_per_year
from ckptplanner.engine.families import Supply, Writes
from ckptplanner.engine.job import Job, job_of
from ckptplanner.engine.outcome import (
    MONTH_S,
    FileSystems,
    Outcome,
    baseline_share,
    outcome,
    reach_bytes_per_s,
    writing_at_once,
)
from ckptplanner.engine.scenario import AUTO_EFA_BYTES_PER_S, MAX_S, Scenario
from ckptplanner.frozen import BoolArray, FloatArray, with_value

CHUNK = 16_384  # so many plans at once stay in the cache
MOST_RATIO = 1_000_000  # of local saves for a shared one
SHORTEST_S = 1e-3  # the least write time that a scenario takes
_GOLDEN, _SECTIONS, _HALVINGS, _CELLS = (np.sqrt(5.0) - 1.0) / 2.0, 26, 30, 64
_CLIMBS, _TIGHTENINGS = 64, 12
_MOST_COUNTS = 8
_EDGE = 1.0 + 1e-12
COST, WASTE, STORAGE, REWORK = "cost", "waste", "storage", "rework"


@dataclass(frozen=True, slots=True)
class Bounds:
    """The limits that a plan must keep; infinity where there is none."""

    storage_usd_per_month: float = np.inf
    waste_fraction: float = np.inf
    worst_rework_s: float = np.inf


@dataclass(frozen=True, slots=True, eq=False)
class Columns:
    """What plans are ranked by, all (n,). NaN is not known."""

    index: FloatArray  # of the size
    money_usd_per_year: FloatArray
    waste_fraction: FloatArray
    usd_per_month: FloatArray
    worst_rework_s: FloatArray
    write_s: FloatArray
    interval_s: FloatArray
    asked_s: FloatArray  # NaN where T* is used
    jobs_writing: FloatArray  # how many of the jobs that share it write at once
    ratio: FloatArray  # n where it was searched, else NaN
    works: BoolArray  # nothing stands in its way, whatever the limits
    within: BoolArray  # and it keeps the limits

    def value(self, objective: str) -> FloatArray:
        """What an objective minimises."""
        return {
            COST: self.money_usd_per_year, WASTE: self.waste_fraction, STORAGE: self.usd_per_month, REWORK: self.worst_rework_s,
        }[objective]  # fmt: skip

    def __len__(self) -> int:
        return int(self.index.size)


@lru_cache(maxsize=1)
def _names() -> tuple[str, ...]:
    return tuple(field.name for field in fields(Columns))


_NOTHING = np.zeros(0)
EMPTY = Columns(*(_NOTHING,) * 10, np.zeros(0, dtype=bool), np.zeros(0, dtype=bool))


def joined(parts: list[Columns]) -> Columns:
    """Columns one after another."""
    if len(parts) == 1:
        return parts[0]
    return Columns(**{name: np.concatenate([getattr(part, name) for part in parts]) for name in _names()})


def taken(columns: Columns, at: Any) -> Columns:
    """Some of the plans."""
    return Columns(**{name: getattr(columns, name)[at] for name in _names()})


def columns(
    scenario: Scenario, lots: Sequence[tuple[Supply, FloatArray]], objective: str, bounds: Bounds, *, polish: bool = False
) -> list[Columns]:
    """Work out the figures of some sizes of some supplies.

    Args:
        scenario: With the mode and the levels of the plan, at the pace `within`, without an interval of its own.
        lots: Kinds of file system and indices of their sizes, (n,).
        objective: What is minimised where T is free: cost, waste, storage or rework.
        bounds: The limits.
        polish: Search T of every plan.

    Returns:
        The columns in the order of the lots, in pieces that do not end where the lots do.
    """
    job = job_of(scenario)
    rows = [_Rows.of(scenario, job, supply, index) for supply, index in lots if len(index)]
    parts, waiting = [], list[_Rows]()
    for one in [piece for whole in rows for piece in whole.pieces()]:
        if waiting and sum(len(other) for other in waiting) + len(one) > CHUNK:
            parts.append(_Chunk(scenario, job, _Rows.joined(waiting), objective, bounds).columns(polish))
            waiting = []
        waiting.append(one)
    if waiting:
        parts.append(_Chunk(scenario, job, _Rows.joined(waiting), objective, bounds).columns(polish))
    return parts


def polished(scenario: Scenario, lots: Sequence[tuple[Supply, FloatArray]], objective: str, bounds: Bounds) -> list[Columns]:
    """Work out the figures with T searched for every plan, and with it n of two levels; what `columns` says where it is better.

    The n that are tried: 1, and the whole numbers around T3 / sqrt(2 C1 M1) at the shortest, the middle and the longest T3.
    """
    job = job_of(scenario)
    if job.levels is None:
        return columns(scenario, lots, objective, bounds, polish=True)
    best = joined(columns(scenario, lots, objective, bounds))
    own = np.sqrt(2.0 * scenario.local.blocking_s * min(job.levels.local_mtbi_s, 1e15))
    around = np.quantile(best.interval_s, (0.0, 0.5, 1.0), method="nearest") / max(own, scenario.workload.step_s)
    tried = {1, *(max(round(float(np.floor(one))) + more, 1) for one in around for more in (0, 1))}
    for ratio in sorted(one for one in tried if one <= MOST_RATIO):
        trial = with_value(scenario, "local.ratio", ratio)
        best = _better(best, joined(columns(trial, lots, objective, bounds, polish=True)), objective)
    return [best]


def replaced(columns: Columns, at: Any, others: Columns) -> Columns:
    """A copy in which some plans stand in the place of others."""
    made = {name: getattr(columns, name).copy() for name in _names()}
    for name in _names():
        made[name][at] = getattr(others, name)
    return Columns(**made)


@dataclass(frozen=True, slots=True, eq=False)
class _Rows:
    """Sizes of several supplies side by side."""

    index: FloatArray
    systems: FileSystems
    writes: Writes
    save_usd: FloatArray
    over_efa: FloatArray  # 1 over EFA, -1 without, 0 where the 10 GB/s rule is not for it

    @classmethod
    def of(cls, scenario: Scenario, job: Job, supply: Supply, index: FloatArray) -> _Rows:
        """The rows of one supply."""
        rule = 0.0 if supply.needs_efa is None else 1.0 if supply.needs_efa else -1.0
        writes = supply.writes(scenario, job, index)
        return cls(
            np.asarray(index, dtype=float), supply.systems(scenario, job, index, writes=writes),
            writes, np.full(len(index), supply.save_usd), np.full(len(index), rule),
        )  # fmt: skip

    @classmethod
    def joined(cls, rows: list[_Rows]) -> _Rows:
        """Rows one after another."""
        if len(rows) == 1:
            return rows[0]
        systems = {
            name: np.concatenate([np.atleast_2d(getattr(one.systems, name)) for one in rows], axis=1)
            for name in FileSystems.__slots__
        }
        systems["jobs_writing"] = systems["jobs_writing"][0]
        names = ("index", "save_usd", "over_efa")
        writes = Writes(*(np.concatenate([getattr(one.writes, name) for one in rows]) for name in Writes.__slots__))
        return cls(
            systems=FileSystems(**systems),
            writes=writes,
            **{name: np.concatenate([getattr(one, name) for one in rows]) for name in names},
        )

    def taken(self, at: Any) -> _Rows:
        """Some of them."""
        systems = {name: getattr(self.systems, name)[..., at] for name in FileSystems.__slots__}
        writes = Writes(*(getattr(self.writes, name)[at] for name in Writes.__slots__))
        return _Rows(self.index[at], FileSystems(**systems), writes, self.save_usd[at], self.over_efa[at])

    def pieces(self) -> Iterator[_Rows]:
        """Pieces that stay in the cache."""
        for start in range(0, len(self), CHUNK):
            yield self if len(self) <= CHUNK else self.taken(slice(start, start + CHUNK))

    def __len__(self) -> int:
        return int(self.index.size)


@dataclass(frozen=True, slots=True, eq=False)
class _Found:
    """Plans at one choice of T."""

    write_s: FloatArray
    jobs_writing: FloatArray
    allowed: BoolArray
    result: Outcome
    usd_per_month: FloatArray  # requests included
    money_usd_per_year: FloatArray


class _Chunk:
    """Some sizes of one supply under one scenario."""

    def __init__(self, scenario: Scenario, job: Job, rows: _Rows, objective: str, bounds: Bounds) -> None:
        self.scenario, self.job, self.rows = scenario, job, rows
        self.objective, self.bounds = objective, bounds
        self.mode = scenario.storage.mode
        self.systems = rows.systems

    def columns(self, polish: bool = False) -> Columns:
        """The figures."""
        found = self.at(None)
        own = found.result.interval_s[0]
        free = self._interval_is_free() | polish
        asked = self._tightened(found) if np.isfinite(self.bounds.worst_rework_s) and not free.all() else None
        if free.any():
            few = self if free.all() else _Chunk(self.scenario, self.job, self.rows.taken(free), self.objective, self.bounds)
            asked = own.copy() if asked is None else asked
            asked[free] = few.searched(found if few is self else few.at(None))
        best = self._columns(found, None)
        if asked is not None:
            best = _better(best, self._columns(self.at(asked), np.where(asked == own, np.nan, asked)), self.objective)
        if self.scenario.shared.jobs > 1 and (found.jobs_writing > 1.0).any():
            for count in _counts(self.scenario.shared.jobs):
                if (found.jobs_writing > count).any():
                    longer = self._first_s(count)
                    best = _better(best, self._columns(self.at(longer), longer), self.objective)
        return best

    def _first_s(self, count: int) -> FloatArray:
        """The shortest T at which no more than `count` jobs write at once: beyond T* the best one for them. [s]"""
        write = self._write_s(np.full(len(self.rows), float(count)))
        first = write / _most_duty(self.scenario.shared.jobs, count) * (1.0 + 1e-9)
        if self.scenario.storage.whole_steps:
            first = np.ceil(first / self.scenario.workload.step_s) * self.scenario.workload.step_s
        return np.asarray(np.clip(first, self.scenario.workload.step_s, self.job.run_s))

    def _interval_is_free(self) -> BoolArray:
        """Where T* is not the best interval: a save costs money, or a stop comes too soon for a last one. (n,)"""
        planned = self.scenario.planned
        is_short = planned.every_s is not None and planned.notice_s is not None
        crosses = self.job.zone_usd_per_byte != 0.0 and self.objective == COST
        return np.asarray((self.rows.save_usd != 0.0) | is_short | crosses | (self.objective == REWORK))

    # -- one choice of T

    def at(self, asked_s: FloatArray | None) -> _Found:
        asked = None if asked_s is None else asked_s[None, :]
        write, writing, allowed = self._fastest(asked)
        systems = self.systems
        if self.scenario.shared.jobs > 1:
            names = type(systems).__slots__
            rates = {
                "jobs_writing": writing,
                "write_bytes_per_s": self.rows.writes.at(self.scenario, writing)[None, :],
            }
            systems = type(systems)(**{name: getattr(systems, name) for name in names} | rates)
        result = outcome(self.scenario, self.job, systems, write, self.mode, asked)
        month, money = systems.usd_per_month[0], result.total_usd_per_year[0]
        if self.rows.save_usd.any():
            requests = self.rows.save_usd * MONTH_S / result.period_s[0]
            month, money = month + requests, money + storage_usd_per_year(requests)
        return _Found(write, writing, allowed, result, month, money)

    def _fastest(self, asked: FloatArray | None) -> tuple[FloatArray, FloatArray, BoolArray]:
        """The shortest write time of each, how many jobs write then, and whether it is allowed. (n,)"""
        storage, load = self.scenario.storage, self.scenario.shared.load_bytes_per_s
        size, efficiency = self.job.checkpoint_bytes, storage.write_efficiency
        jobs = np.ones(len(self.rows))
        for _ in range(_CLIMBS if self.scenario.shared.jobs > 1 else 1):
            write = self._write_s(jobs)
            more = np.maximum(writing_at_once(self.scenario, self.job, np.minimum(write, MAX_S), self.mode, asked), jobs)
            if (more == jobs).all():
                break
            jobs = more
        baseline, plain = self._rate_bytes_per_s(jobs), self._is_capped
        allowed = (baseline * efficiency > load) & (write <= MAX_S)
        together = size * jobs / np.maximum(write - storage.latency_s, 1e-300) + load
        allowed &= (
            plain | (self.rows.over_efa == 0.0) | ((self.rows.over_efa > 0.0) & (together > AUTO_EFA_BYTES_PER_S * efficiency))
        )
        return np.minimum(write, MAX_S), jobs, np.asarray(allowed)

    def _rate_bytes_per_s(self, jobs: FloatArray) -> FloatArray:
        """What each file system writes while so many jobs write at once; for a job alone its row says it. [B/s]"""
        alone = self.scenario.shared.jobs == 1
        return self.systems.write_bytes_per_s[0] if alone else self.rows.writes.at(self.scenario, jobs)

    @property
    def _cap_bytes_per_s(self) -> float:
        """What is left of the 10 GB/s that are written without EFA. [B/s]"""
        return AUTO_EFA_BYTES_PER_S * self.scenario.storage.write_efficiency - self.scenario.shared.load_bytes_per_s

    @property
    def _is_capped(self) -> BoolArray:
        """Which write without EFA under the 10 GB/s rule, where that leaves something. (n,)"""
        return np.asarray((self.rows.over_efa < 0.0) & (self._cap_bytes_per_s > 0.0))

    def _write_s(self, jobs: FloatArray) -> FloatArray:
        """The shortest write time while so many jobs write at once. [s]"""
        storage, size = self.scenario.storage, self.job.checkpoint_bytes
        baseline = self._rate_bytes_per_s(jobs)
        reach = reach_bytes_per_s(self.scenario, self.job, self.systems.client_bytes_per_s[0])
        takes = size / np.minimum(baseline_share(self.scenario, baseline, jobs) * storage.write_efficiency, reach)
        capped = size * jobs / max(self._cap_bytes_per_s, 1.0)
        if (is_capped := self._is_capped).any():
            takes = np.where(is_capped, np.maximum(takes, capped), takes)
        return np.asarray(np.maximum(storage.latency_s + takes * _EDGE, SHORTEST_S))

    # -- T

    def _least_s(self, found: _Found) -> FloatArray:
        """The shortest interval that leaves room for a save, and for training. [s]"""
        save = found.result.blocking_s[0] + (found.write_s if self.mode == "async" else 0.0)
        least = np.maximum(save, found.result.lost_s[0] * (1.0 + 1e-6))
        return np.asarray(np.maximum(least, self.scenario.workload.step_s))

    def _most_s(self, found: _Found) -> FloatArray:
        """The longest interval that loses no more than allowed at worst. [s]"""
        limit = self.bounds.worst_rework_s
        if not np.isfinite(limit) or not self.job.ways.rollback.share:
            return np.full_like(found.write_s, self.job.run_s)
        if self.scenario.storage.published == "next_save":
            most = np.full_like(found.write_s, limit / 2.0)
        else:
            most = limit - found.result.durable_after_s[0]
        if self.scenario.storage.whole_steps:
            step = self.scenario.workload.step_s
            most = np.floor(most / step + 1e-9) * step
        return np.asarray(np.minimum(most, self.job.run_s))

    def _tightened(self, found: _Found) -> FloatArray | None:
        """T* where it keeps the limit on lost work, the longest interval that does elsewhere; None where T* always does."""
        if (found.result.worst_rework_s[0] <= self.bounds.worst_rework_s * _EDGE).all():
            return None
        best: FloatArray = found.result.interval_s[0]
        asked = best
        for _ in range(_TIGHTENINGS if self.scenario.shared.jobs > 1 else 1):
            asked = np.maximum(np.minimum(best, self._most_s(found)), self.scenario.workload.step_s)
            if self.scenario.shared.jobs == 1:
                break
            found = self.at(asked)
        return asked

    def searched(self, found: _Found) -> FloatArray:
        """The best T between its bounds, by golden section on its logarithm: the objective falls, then rises. [s]"""
        low = np.log(self._least_s(found))
        high = np.maximum(np.log(np.maximum(self._most_s(found), 1e-300)), low)
        if self.objective == REWORK and not np.isfinite(self.bounds.waste_fraction):
            return np.exp(low)
        for limit, metric in ((self.bounds.waste_fraction, _waste), (self.bounds.storage_usd_per_month, _month)):
            if np.isfinite(limit) and (metric is not _month or self.rows.save_usd.any()):
                low = self._first_within(low, found, limit, metric)
                high = np.maximum(high, low)
        if self.objective == REWORK:
            return np.exp(low)
        objective: Callable[[_Found], FloatArray] = {COST: _money, WASTE: _waste, STORAGE: _month}[self.objective]
        if self.objective == STORAGE and np.isfinite(self.bounds.waste_fraction):
            high = self._last_within(high, found, self.bounds.waste_fraction)
        is_stepped = self.scenario.local.enabled and self.scenario.local.ratio is None  # n is whole
        if is_stepped or self.scenario.shared.jobs > 1:  # the objective falls and rises more than once
            low, high = self._lowest_cell(low, high, objective)
        left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
        at_left, at_right = objective(self.at(np.exp(left))), objective(self.at(np.exp(right)))
        for _ in range(_SECTIONS):
            is_left = ~(at_left > at_right)
            high, low = np.where(is_left, right, high), np.where(is_left, low, left)
            new = np.where(is_left, high - _GOLDEN * (high - low), low + _GOLDEN * (high - low))
            at_new = objective(self.at(np.exp(new)))
            left, right = np.where(is_left, new, right), np.where(is_left, left, new)
            at_left, at_right = np.where(is_left, at_new, at_right), np.where(is_left, at_left, at_new)
        return np.asarray(np.exp((low + high) / 2.0))

    def _lowest_cell(
        self, low: FloatArray, high: FloatArray, objective: Callable[[_Found], FloatArray]
    ) -> tuple[FloatArray, FloatArray]:
        """The cells of a grid around its lowest point. log [s]"""
        grid = np.linspace(low, high, _CELLS + 1)
        values = np.array([objective(self.at(np.exp(points))) for points in grid])
        best = np.where(np.isnan(values), np.inf, values).argmin(axis=0)
        rows = np.arange(low.size)
        return grid[np.maximum(best - 1, 0), rows], grid[np.minimum(best + 1, _CELLS), rows]

    def _first_within(self, low: FloatArray, found: _Found, limit: float, metric: Callable[[_Found], FloatArray]) -> FloatArray:
        """From `low` up to T*: the first T where a figure that falls with T keeps its limit; T* where none does. log [s]"""
        high = np.maximum(np.log(found.result.interval_s[0]), low)
        if metric is _month:  # requests fall for ever
            high = np.full_like(high, np.log(self.job.run_s))
        keeps = metric(self.at(np.exp(low))) <= limit
        if keeps.all():
            return low
        first, last = low, high
        for _ in range(_HALVINGS):
            middle = (first + last) / 2.0
            is_within = metric(self.at(np.exp(middle))) <= limit
            first, last = np.where(is_within, first, middle), np.where(is_within, middle, last)
        return np.where(keeps, low, last)

    def _last_within(self, high: FloatArray, found: _Found, limit: float) -> FloatArray:
        """From T* up to `high`: the last T where the waste keeps its limit. log [s]"""
        first = np.minimum(np.log(found.result.interval_s[0]), high)
        last = high
        for _ in range(_HALVINGS):
            middle = (first + last) / 2.0
            is_within = _waste(self.at(np.exp(middle))) <= limit
            first, last = np.where(is_within, middle, first), np.where(is_within, last, middle)
        return np.asarray(first)

    # -- columns

    def _columns(self, found: _Found, asked: FloatArray | None) -> Columns:
        result, bounds = found.result, self.bounds
        waste, worst = _waste(found), result.worst_rework_s[0]
        works = found.allowed & self._works(found)
        within = works & (worst <= bounds.worst_rework_s * (1.0 + 1e-9)) & (waste <= bounds.waste_fraction * (1.0 + 1e-9))
        if np.isfinite(bounds.storage_usd_per_month):
            within = within & (found.usd_per_month <= bounds.storage_usd_per_month * (1.0 + 1e-9))
        full = np.zeros_like(waste)
        return Columns(
            index=self.rows.index,
            money_usd_per_year=found.money_usd_per_year + full,
            waste_fraction=waste,
            usd_per_month=found.usd_per_month + full,
            worst_rework_s=worst + full,
            write_s=found.write_s,
            interval_s=result.interval_s[0] + full,
            asked_s=np.full_like(waste, np.nan) if asked is None else asked,
            jobs_writing=found.jobs_writing,
            ratio=np.full_like(waste, self.scenario.local.ratio or np.nan),
            works=works,
            within=within,
        )

    def _works(self, found: _Found) -> BoolArray:
        """Whether the job makes progress and a save fits into the run: what checks.py calls an error otherwise. (n,)"""
        result, job = found.result, self.job
        save = result.blocking_s[0] + (found.write_s if self.mode == "async" else 0.0)
        works = (result.interval_s[0] > result.lost_s[0]) & (save <= job.run_s)
        works &= (job.mtbi_s > result.restart_s[0]) & (job.mtbi_s > result.blocking_s[0])
        works &= (result.exact_fraction[0] <= NO_PROGRESS_FRACTION) & np.isfinite(result.chosen_fraction[0])
        works &= _waste(found) <= NO_PROGRESS_FRACTION
        if self.scenario.local.enabled:
            works &= result.local_interval_s[0] > self.scenario.local.blocking_s
        return np.asarray(works)


def _counts(jobs: int) -> tuple[int, ...]:
    """Numbers of jobs that write at once, fewer than all; of many a few."""
    return tuple(
        sorted({round(float(count)) for count in np.geomspace(1, jobs - 1, min(jobs - 1, _MOST_COUNTS))}, reverse=True)
    )


@lru_cache(maxsize=256)
def _most_duty(jobs: int, count: int) -> float:
    """The largest share of the time in which a job may write while no more than `count` of `jobs` write at once."""
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2.0
        is_within = float(jobs_writing(jobs, np.array([middle]))[0]) <= count
        low, high = (middle, high) if is_within else (low, middle)
    return max(low, 1e-12)


def _better(first: Columns, second: Columns, objective: str) -> Columns:
    """Row by row the one that keeps the limits, of two that do the lower one."""
    is_lower = ~(second.value(objective) >= first.value(objective))
    pick = np.where(second.within == first.within, is_lower, second.within)
    return Columns(**{name: np.where(pick, getattr(second, name), getattr(first, name)) for name in _names()})


def _waste(found: _Found) -> FloatArray:
    """The share of time lost, planned stops included. [1], (n,)"""
    total: FloatArray = np.minimum(found.result.chosen_fraction[0] + found.result.planned_fraction[0], 1.0)
    return total


def _month(found: _Found) -> FloatArray:
    return found.usd_per_month


def _money(found: _Found) -> FloatArray:
    return found.money_usd_per_year
