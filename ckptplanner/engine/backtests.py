"""Back-tests: a log of interruptions replayed under several ways to choose the interval (docs/models.md 18).

    Log (public, or the user's own) + Costs (a published case, or the present plan) -> Backtest

The window, the PDF and the command line read a Backtest and compute nothing again. A back-test uses hindsight where its name
says so (`best_`, and the mean gap of `young_`); `adaptive_` knows only the past.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ckptplanner.data import catalog
from ckptplanner.data.records import Log
from ckptplanner.engine import interval, replay
from ckptplanner.engine.plan import Plan
from ckptplanner.frozen import FloatArray
from ckptplanner.text import Text, text
from ckptplanner.units import MINUTE

__all__ = ["CASES", "Backtest", "Costs", "Log", "backtest", "backtest_all", "backtest_of_plan", "logs"]

LAST_GAPS = 20  # what the adaptive interval looks back on
LEAST_GAPS_FOR_SHAPE = 20  # with fewer one cannot tell (docs/models.md 18.2)


@dataclass(frozen=True, slots=True)
class Costs:
    """What a save and a restart cost in a replay."""

    name: Text
    blocking_s: float
    background_s: float  # not looked at where a save is published by the next one
    restart_s: float
    downtime_s: float = 0.0
    lost_s: float | None = None  # training lost per save where that is more than the stop
    published_next_save: bool = False

    def behind_s(self, interval_s: FloatArray) -> FloatArray:
        """t_a at each interval. [s]"""
        if self.published_next_save:
            return np.maximum(interval_s - self.blocking_s, 0.0)
        return np.full_like(interval_s, self.background_s)

    @property
    def all_lost_s(self) -> float:
        """Training lost per save. [s]"""
        return self.blocking_s if self.lost_s is None else self.lost_s


CASES = (
    Costs(text("copy to host memory, written behind"), 5.0, 300.0, 900.0),
    Costs(text("a fast write that stops training"), 60.0, 0.0, 900.0),
    Costs(text("a slow write that stops training"), 300.0, 0.0, 900.0),
)


@dataclass(frozen=True, slots=True, eq=False)
class Backtest:
    """What one log would have cost under one case of costs; fractions are shares of the log's time that were lost."""

    log: Log
    blocking_s: float
    background_s: float
    restart_s: float
    downtime_s: float
    mean_gap_s: float
    weibull_shape: float | None  # None where there are too few gaps to tell
    young_interval_s: float  # sqrt(2 C M) with the mean gap, not below C + t_a
    formula_interval_s: float  # sqrt(2 C M) itself
    young_fraction: float
    best_interval_s: float  # the best constant one in hindsight, to 1 %
    best_fraction: float
    adaptive_fraction: float | None  # Young's T from the last 20 gaps before each; None where there is but one gap
    exact_fraction: float  # what E1 says at Young's T
    first_order_fraction: float | None  # what the first order says at Young's T; None above 100 %
    curve_interval_s: FloatArray  # from a quarter of Young's T to four times, 1 % apart
    curve_fraction: FloatArray

    @property
    def is_young_raised(self) -> bool:
        """Whether Young's T is shorter than a save takes, so that the least possible one stands in its place."""
        return self.young_interval_s > self.formula_interval_s * (1.0 + 1e-9)


@lru_cache(maxsize=1)
def logs() -> tuple[Log, ...]:
    """The logs that come with the planner; read when first asked for."""
    return tuple(
        Log(row.id, row.name, row.source, row.date, row.nodes, tuple(MINUTE * gap for gap in row.gaps_min), row.note)
        for row in catalog.interruption_logs()
    )


def _formula_interval_s(costs: Costs, mean_gap_s: FloatArray) -> FloatArray:
    """Young's T as his formula has it. [s]"""
    lost = np.full_like(mean_gap_s, costs.all_lost_s)
    return interval.best_interval_s(lost, mean_gap_s, model="young", published_next_save=costs.published_next_save)


def _young_interval_s(costs: Costs, mean_gap_s: FloatArray) -> FloatArray:
    """Young's T as the planner would plan it: never shorter than a save takes. [s]"""
    return np.asarray(np.maximum(np.maximum(_formula_interval_s(costs, mean_gap_s), _least_interval_s(costs)), 1e-3))


def _least_interval_s(costs: Costs) -> float:
    """What a save takes, C + t_a. [s]"""
    return costs.blocking_s + (0.0 if costs.published_next_save else costs.background_s)


def _predicted(costs: Costs, interval_s: float, mean_gap_s: float) -> tuple[float, float | None]:
    """E1 and the first order at one interval. [1]"""
    every, lost = np.array(interval_s), np.array(costs.all_lost_s)
    behind = costs.behind_s(every)
    period = interval.save_period_s(every, np.array(costs.blocking_s), behind)
    exact = interval.exact_waste_fraction(
        interval_s=every, lost_s=lost, background_s=behind, period_s=period,
        restart_s=np.array(costs.restart_s), downtime_s=costs.downtime_s, mtbi_s=mean_gap_s,
    )  # fmt: skip
    first = interval.first_order_waste_fraction(
        interval.saving_fraction(every, lost, period),
        interval.mean_rework_s(period, costs.blocking_s + behind),
        np.array(costs.restart_s), costs.downtime_s, mean_gap_s,
    )  # fmt: skip
    return float(exact), float(first) if float(first) <= 1.0 else None


def adaptive_waste_fraction(gaps_s: FloatArray, costs: Costs, last: int = LAST_GAPS) -> float | None:
    """Return the waste with Young's T set anew at each interruption from the last gaps before it. [1]

    Past data only: while there are fewer than `last`, all there are; the first gap only teaches and is not counted. None
    where there is but one gap.
    """
    if gaps_s.size < 2:
        return None
    every = _young_interval_s(costs, replay.past_mean_s(gaps_s, last))
    kept = replay.kept_s(
        gaps_s[1:], every, blocking_s=costs.blocking_s, background_s=costs.behind_s(every),
        restart_s=costs.restart_s, lost_s=costs.lost_s,
    )  # fmt: skip
    return replay.waste_fraction(kept, gaps_s[1:], costs.downtime_s)


@lru_cache(maxsize=256)
def backtest(log: Log, case: Costs) -> Backtest:
    """Replay a log under a case of costs. Pure; remembered. 5,000 gaps take some 20 ms, 100,000 half a second."""
    gaps = np.array(log.gaps_s)
    mean_gap_s = float(gaps.mean())
    young, formula = (float(of(case, np.array(mean_gap_s))) for of in (_young_interval_s, _formula_interval_s))
    curve = replay.intervals_around_s(young)
    fractions = replay.replayed_waste_fraction(
        gaps, curve, blocking_s=case.blocking_s, background_s=case.behind_s(curve),
        restart_s=case.restart_s, downtime_s=case.downtime_s, lost_s=case.lost_s,
    )  # fmt: skip
    best = int(np.argmin(fractions))
    exact, first_order = _predicted(case, young, mean_gap_s)
    for array in (curve, fractions):
        array.setflags(write=False)
    return Backtest(
        log=log,
        blocking_s=case.blocking_s,
        background_s=float(case.behind_s(np.array(young))),
        restart_s=case.restart_s,
        downtime_s=case.downtime_s,
        mean_gap_s=mean_gap_s,
        weibull_shape=replay.weibull_shape(gaps) if gaps.size >= LEAST_GAPS_FOR_SHAPE else None,
        young_interval_s=young,
        formula_interval_s=formula,
        young_fraction=float(fractions[replay.STEPS_EACH_WAY]),
        best_interval_s=float(curve[best]),
        best_fraction=float(fractions[best]),
        adaptive_fraction=adaptive_waste_fraction(gaps, case),
        exact_fraction=exact,
        first_order_fraction=first_order,
        curve_interval_s=curve,
        curve_fraction=fractions,
    )


@lru_cache(maxsize=1)
def backtest_all() -> tuple[Backtest, ...]:
    """Every log that comes with the planner under every case."""
    return tuple(backtest(log, case) for log in logs() for case in CASES)


def costs_of_plan(plan: Plan) -> Costs | None:
    """What saves and restarts cost in a plan; None where the plan has no file system."""
    schedule, failures = plan.schedule, plan.scenario.failures
    if schedule is None:
        return None
    return Costs(
        name=text("your plan"),
        blocking_s=schedule.blocking_s,
        background_s=max(schedule.durable_after_s - schedule.blocking_s, 0.0),
        restart_s=schedule.restart_s,
        downtime_s=failures.downtime_s,
        lost_s=schedule.lost_per_save_s,
        published_next_save=plan.scenario.storage.published == "next_save",
    )


def backtest_of_plan(log: Log, plan: Plan) -> Backtest | None:
    """Replay a log with the C, t_a, R and D of a plan, and the log's own M; None where the plan has no file system.

    Ways to restart that lose no more than a step, and planned stops, are left out: a log does not tell them apart.
    """
    costs = costs_of_plan(plan)
    return None if costs is None else backtest(log, costs)
