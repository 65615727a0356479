"""What saving and interruptions lose: the interval and the waste, by the model that holds (docs/models.md 4, 15, 16).

    one level,  memoryless      E2 for T*,  E1 (E3 where training waits for the write)
    one level,  any other law   the numeric optimum,  E4
    two levels                  E2 for each level, n = T3/T1 rounded the better way,  E6

`model_of` is the rule; the first-order formula stands beside each of them. Arrays are (m, n) or broadcast to it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ckptplanner.engine import interval, levels
from ckptplanner.engine.job import Job, LevelRates
from ckptplanner.engine.laws import Exponential
from ckptplanner.engine.scenario import Scenario
from ckptplanner.frozen import FloatArray

EXPONENTIAL, RENEWAL, TWO_LEVELS = "exponential", "renewal", "two_levels"


@dataclass(frozen=True, slots=True, eq=False)
class Costs:
    """What one save costs and what a restart reads. [s], (m, n)"""

    blocking_s: FloatArray
    background_s: FloatArray
    lost_s: FloatArray
    read_s: FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class Losses:
    """What follows. (m, n) or broadcastable; NaN is the first-order waste where it no longer holds."""

    best_interval_s: FloatArray
    wanted_interval_s: FloatArray
    interval_s: FloatArray
    period_s: FloatArray
    durable_after_s: FloatArray
    restart_s: FloatArray
    saving_fraction: FloatArray
    first_order_fraction: FloatArray
    exact_fraction: FloatArray
    mean_rework_s: FloatArray
    worst_rework_s: FloatArray
    local_interval_s: FloatArray  # T1; the interval itself with one level
    ratio: FloatArray  # n; 1 with one level
    local_fraction: FloatArray  # what the local level wastes to first order; 0 with one level


def model_of(job: Job) -> str:
    """Which exact model holds: two levels where local saves are made, renewal where the gaps have a memory."""
    if job.levels is not None:
        return TWO_LEVELS
    return EXPONENTIAL if isinstance(job.law, Exponential) else RENEWAL


def losses(scenario: Scenario, job: Job, costs: Costs, interval_s: FloatArray | None = None) -> Losses:
    """Choose the interval and work out the waste, by the model that holds.

    Args:
        interval_s: Intervals to use, in the place of what the scenario says. [s], (m, n) or broadcastable; None: as it says.
    """
    asked = _asked_s(scenario, interval_s)
    if job.levels is None:
        return _one_level(scenario, job, costs, asked)
    return _two_levels(scenario, job, job.levels, costs, asked)


def _asked_s(scenario: Scenario, interval_s: FloatArray | None) -> FloatArray | None:
    """The interval that was asked for; None where the best one is wanted. [s]"""
    given = scenario.storage.interval_s
    return interval_s if interval_s is not None else None if given is None else np.array([[given]])


def _least_of_equals(lost: FloatArray) -> FloatArray:
    """One row where all are alike, and one number where that is the same everywhere: T* follows from the stop alone."""
    if not lost.size:
        return lost
    few = lost[:1] if (lost == lost[:1]).all() else lost
    return few[:, :1] if (few == few[:, :1]).all() else few


def _best_interval_s(scenario: Scenario, job: Job, costs: Costs) -> FloatArray:
    """T* of one level. [s]"""
    storage = scenario.storage
    next_save = storage.published == "next_save"
    if model_of(job) == RENEWAL and storage.interval_model == "exact" and not next_save:
        from ckptplanner.engine.renewal import renewal_best_interval_s

        restart = job.ways.rollback_restart_s(costs.read_s)
        return renewal_best_interval_s(law=job.law, lost_s=costs.lost_s, background_s=costs.background_s, restart_s=restart)
    best = interval.best_interval_s(
        _least_of_equals(costs.lost_s), job.rollback_mtbi_s, model=storage.interval_model, published_next_save=next_save
    )
    return best + np.zeros_like(costs.lost_s)


def intervals(
    scenario: Scenario, job: Job, costs: Costs, interval_s: FloatArray | None = None
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """T*, the interval asked for, and the one that is used: in whole steps, at least a step, at most the run. [s]"""
    asked = _asked_s(scenario, interval_s)
    if job.levels is not None:
        found = _two_levels(scenario, job, job.levels, costs, asked)
        return found.best_interval_s, found.wanted_interval_s, found.interval_s
    save = costs.blocking_s + costs.background_s
    best = _best_interval_s(scenario, job, costs)
    wanted = np.maximum(best, save) if asked is None else asked + np.zeros_like(best)
    return best, wanted, _held(scenario, job, wanted, save if asked is None else np.zeros_like(save))


def _held(scenario: Scenario, job: Job, wanted: FloatArray, least: FloatArray) -> FloatArray:
    """An interval in whole steps where that is asked for, at least a step, at most the run. [s]"""
    step, used = scenario.workload.step_s, wanted
    if scenario.storage.whole_steps:
        used = step * np.maximum(np.maximum(np.rint(wanted / step), np.ceil(least / step - 1e-9)), 1.0)
    return np.asarray(np.maximum(np.minimum(used, job.run_s), step))


def _one_level(scenario: Scenario, job: Job, costs: Costs, asked_s: FloatArray | None) -> Losses:
    ways, step = job.ways, scenario.workload.step_s
    best, wanted, used = intervals(scenario, job, costs, asked_s)
    period = interval.save_period_s(used, costs.blocking_s, costs.background_s)
    durable = period if scenario.storage.published == "next_save" else costs.blocking_s + costs.background_s
    rework = interval.mean_rework_s(period, durable)
    saving = interval.saving_fraction(used, costs.lost_s, period)
    exact = _one_level_waste(job, costs, used, period, durable)
    worst = ways.worst_s(interval.worst_rework_s(period, durable), step)
    shared = _Shares(ways.rework_s(rework, step), ways.restart_s(costs.read_s))
    return _losses(scenario, job, costs, (best, wanted, used, period, durable), saving, shared, exact, worst)


def _one_level_waste(job: Job, costs: Costs, used: FloatArray, period: FloatArray, durable: FloatArray) -> FloatArray:
    """E1 and E3, or E4 where the gaps have a memory. [1]"""
    restart = job.ways.rollback_restart_s(costs.read_s)
    parts = {
        "interval_s": used, "lost_s": costs.lost_s, "background_s": durable - costs.blocking_s, "period_s": period,
        "restart_s": restart,
    }  # fmt: skip
    if model_of(job) == EXPONENTIAL:
        return interval.exact_waste_fraction(**parts, downtime_s=job.downtime_s, mtbi_s=job.rollback_mtbi_s)
    from ckptplanner.engine.renewal import renewal_waste_fraction

    return renewal_waste_fraction(**parts, downtime_s=job.downtime_s, law=job.law)


@dataclass(frozen=True, slots=True, eq=False)
class _Shares:
    """Mean rework and restart of all interruptions. [s]"""

    rework_s: FloatArray
    restart_s: FloatArray


def _losses(
    scenario: Scenario,
    job: Job,
    costs: Costs,
    times: tuple[FloatArray, FloatArray, FloatArray, FloatArray, FloatArray],
    saving: FloatArray,
    shares: _Shares,
    exact: FloatArray,
    worst: FloatArray,
    local: tuple[FloatArray, FloatArray, FloatArray] | None = None,
) -> Losses:
    """Put pauses and the stops of other saves on top, and the first-order formula beside it."""
    best, wanted, used, period, durable = times
    saving = np.clip(saving, 0.0, 1.0)
    first = interval.first_order_waste_fraction(saving, shares.rework_s, shares.restart_s, job.downtime_s, job.mtbi_s)
    pause = job.ways.pause_s(costs.read_s, scenario.workload.step_s, job.downtime_s)
    exact = interval.with_pauses(exact, pause / job.mtbi_s)
    if job.row_stop_fraction:
        first, exact = first + job.row_stop_fraction, 1.0 - (1.0 - exact) * max(1.0 - job.row_stop_fraction, 0.0)
        saving = np.minimum(saving + job.row_stop_fraction, 1.0)
    exact = np.maximum(exact, saving)
    one = np.ones_like(used)
    local_interval, ratio, local_fraction = (used, one, 0.0 * one) if local is None else local
    return Losses(
        best_interval_s=best,
        wanted_interval_s=wanted,
        interval_s=used,
        period_s=period,
        durable_after_s=durable,
        restart_s=shares.restart_s,
        saving_fraction=saving,
        first_order_fraction=np.where((first <= 1.0) & (used > costs.lost_s), first, np.nan),
        exact_fraction=exact,
        mean_rework_s=shares.rework_s,
        worst_rework_s=worst,
        local_interval_s=local_interval,
        ratio=ratio,
        local_fraction=local_fraction,
    )


# ---------------------------------------------------------------- two levels


def _local_interval_s(
    scenario: Scenario, job: Job, rates: LevelRates, best_shared: FloatArray, lost_s: FloatArray
) -> FloatArray:
    """T1: what is given, or E2 for the local level alone, never shorter than a local save takes. [s]"""
    local = scenario.local
    if local.interval_s is not None:
        return _held(scenario, job, np.full_like(best_shared, local.interval_s), np.zeros_like(best_shared))
    mtbi = min(rates.local_mtbi_s, 1e15)
    best = interval.best_interval_s(
        np.asarray(local.blocking_s), mtbi, model=scenario.storage.interval_model, published_next_save=False
    )
    save = local.blocking_s + local.durable_s
    wanted = np.maximum(np.minimum(best, best_shared - lost_s), save)
    return _held(scenario, job, wanted, np.full_like(wanted, save))


def _ratio_and_interval(
    scenario: Scenario,
    job: Job,
    local_s: FloatArray,
    costs: Costs,
    waste: _Waste,
    best_shared: FloatArray,
    asked_s: FloatArray | None,
) -> tuple[FloatArray, FloatArray]:
    """n and T1: both as given, n from the interval that was asked for, or the better of the two ratios around T3*/T1."""
    local = scenario.local
    most = np.maximum(np.floor((job.run_s - costs.lost_s) / local_s), 1.0)
    if asked_s is not None:
        asked = np.maximum(np.minimum(asked_s, job.run_s), scenario.workload.step_s)
        room = np.maximum(asked - costs.lost_s, scenario.workload.step_s)
        ratio = np.full_like(room, local.ratio) if local.ratio is not None else np.maximum(np.rint(room / local_s), 1.0)
        return ratio, local_s if local.interval_s is not None else room / ratio
    if local.ratio is not None:
        return np.full_like(local_s, local.ratio), local_s
    shared = levels.Level(costs.lost_s, costs.background_s, 0.0, np.inf)
    down, up = (np.minimum(one, most) for one in levels.ratios(local_s, best_shared, shared))
    is_up = waste(local_s, up) < waste(local_s, down)
    return np.where(is_up, up, down), local_s


@dataclass(frozen=True, slots=True, eq=False)
class _Waste:
    """E6 as a function of T1 and n, the waiting for an unfinished shared write included."""

    scenario: Scenario
    job: Job
    rates: LevelRates
    costs: Costs

    def lost_s(self, local_s: FloatArray, ratio: FloatArray) -> FloatArray:
        """What a shared save costs: its stop, and waiting where n T1 leaves no time for the write. [s]"""
        return np.asarray(self.costs.lost_s + np.maximum(self.costs.background_s - ratio * local_s, 0.0))

    def background_s(self, local_s: FloatArray, ratio: FloatArray) -> FloatArray:
        """From the end of the shared stop until it can be restored. [s]"""
        if self.scenario.storage.published == "next_save":
            return levels.shared_interval_s(local_s, self.lost_s(local_s, ratio), ratio) - self.costs.blocking_s
        return self.costs.background_s

    def both(self, local_s: FloatArray, ratio: FloatArray) -> tuple[levels.Level, levels.Level]:
        """The two levels."""
        local, rates = self.scenario.local, self.rates
        own = levels.Level(local.blocking_s, local.durable_s, rates.local.restart_s(self.costs.read_s), rates.local_mtbi_s)
        lost, background = self.lost_s(local_s, ratio), self.background_s(local_s, ratio)
        return own, levels.Level(lost, background, rates.shared.restart_s(self.costs.read_s), rates.shared_mtbi_s)

    def __call__(self, local_s: FloatArray, ratio: FloatArray) -> FloatArray:
        own, shared = self.both(local_s, ratio)
        survive = self.scenario.local.uploads == "survive"
        return levels.two_level_waste_fraction(
            own, shared, interval_s=local_s, ratio=ratio, uploads_survive=survive, downtime_s=self.job.downtime_s
        )


def _two_levels(scenario: Scenario, job: Job, rates: LevelRates, costs: Costs, asked_s: FloatArray | None) -> Losses:
    storage, ways, step = scenario.storage, job.ways, scenario.workload.step_s
    best_shared = np.maximum(
        interval.best_interval_s(
            _least_of_equals(costs.lost_s), rates.shared_mtbi_s, model=storage.interval_model,
            published_next_save=storage.published == "next_save",
        ),
        costs.lost_s + step,
    )  # fmt: skip
    waste = _Waste(scenario, job, rates, costs)
    local_s = _local_interval_s(scenario, job, rates, best_shared, costs.lost_s)
    ratio, local_s = _ratio_and_interval(scenario, job, local_s, costs, waste, best_shared, asked_s)
    own, shared = waste.both(local_s, ratio)
    period = levels.shared_interval_s(local_s, shared.lost_s, ratio)
    used = levels.shared_interval_s(local_s, costs.lost_s, ratio)
    durable = costs.blocking_s + np.asarray(shared.background_s)
    own_rework = period / ratio / 2.0 + scenario.local.blocking_s + scenario.local.durable_s
    far_rework = interval.mean_rework_s(period, durable)
    pause_share = 0.0 if ways.pause is None else ways.pause.share
    rework = rates.local_share * own_rework + rates.shared_share * far_rework + pause_share * step
    restart = rates.local_share * np.asarray(own.restart_s) + rates.shared_share * np.asarray(shared.restart_s)
    if ways.pause is not None:
        restart = restart + ways.pause.share * ways.pause.restart_s(costs.read_s)
    near, far = levels.first_order_parts(own, shared, interval_s=local_s, ratio=ratio, downtime_s=job.downtime_s)
    saving = 1.0 - ratio * (local_s - scenario.local.blocking_s) / period
    worst = ways.worst_s(interval.worst_rework_s(period, durable), step)
    wanted = used if asked_s is None else asked_s + np.zeros_like(used)
    return _losses(
        scenario, job, costs, (best_shared + np.zeros_like(used), wanted, used, period, durable), saving,
        _Shares(rework, restart), waste(local_s, ratio), worst, (local_s, ratio, near / np.maximum(near + far, 1e-300)),
    )  # fmt: skip
