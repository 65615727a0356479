"""The numbers between the two levels and their waste: what the nested model works with on its way (docs/models.md 16.2).

The plan holds the intervals, the rates and the waste; the steps between them are asked of the same formulas again.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ckptplanner.engine import interval, levels
from ckptplanner.engine.derivation.case import Case, Reader, finite

_NEVER_S = 1e15  # losses.py takes it for an interval where nothing restarts locally


@dataclass(frozen=True, slots=True)
class Nested:
    """The steps of E6: what each follows from is written in formulas_levels.py."""

    goodput: float  # g1
    pace_s: float  # P3
    lag_s: float  # t3'


def nested(case: Case) -> Nested | None:
    """The steps for a plan with two levels; None where there is one, no plan, or no time between the saves."""
    found, schedule, inputs = case.plan.levels, case.plan.schedule, case.scenario.local
    if found is None or schedule is None:
        return None
    own, far, downtime_s = found.local, found.shared, case.job.downtime_s
    if own.interval_s <= own.blocking_s:
        return None
    local = levels.Level(own.blocking_s, inputs.durable_s, own.restart_s, math.inf if own.mtbi_s is None else own.mtbi_s)
    lost = schedule.period_s - found.ratio * own.interval_s
    shared = levels.Level(lost, schedule.durable_after_s - schedule.blocking_s, far.restart_s, far.mtbi_s or math.inf)
    every, ratio = np.asarray(own.interval_s), np.asarray(float(found.ratio))
    goodput = levels.local_goodput_fraction(local, shared, interval_s=every, ratio=ratio, downtime_s=downtime_s)
    with np.errstate(divide="ignore", invalid="ignore"):
        pace = ratio * (every - local.lost_s) / goodput
    lag = levels.upload_lag_s(local, shared, pace, uploads_survive=inputs.uploads == "survive")
    return Nested(float(goodput), float(pace), float(lag))


def of_nested(name: str) -> Reader:
    """A reader of one of the steps."""

    def read(case: Case) -> float | None:
        found = nested(case)
        return None if found is None else finite(getattr(found, name))

    return read


def local_best_interval_s(case: Case) -> float | None:
    """The interval that the local level alone would have; None where nothing restarts from it. [s]"""
    rates = case.rates
    if rates is None or not rates.local_share:
        return None
    model = case.scenario.storage.interval_model
    mtbi_s, stop = min(rates.local_mtbi_s, _NEVER_S), np.asarray(case.scenario.local.blocking_s)
    return float(interval.best_interval_s(stop, mtbi_s, model=model, published_next_save=False))
