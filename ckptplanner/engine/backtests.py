"""Back-tests: a log of interruptions replayed under several ways to choose the interval (docs/models.md 18)."""

from __future__ import annotations

from dataclasses import dataclass

from ckptplanner.data.records import Log
from ckptplanner.frozen import FloatArray

__all__ = ["Backtest", "Log"]


@dataclass(frozen=True, slots=True, eq=False)
class Backtest:
    """What one log would have cost under one case of costs; fractions are shares of the log's time that were lost."""

    log: Log
    blocking_s: float
    background_s: float
    restart_s: float
    mean_gap_s: float
    weibull_shape: float | None  # None where there are too few gaps to tell
    young_interval_s: float
    young_fraction: float
    best_interval_s: float  # the best constant one in hindsight
    best_fraction: float
    adaptive_fraction: float  # T from the last 20 gaps, past data only
    exact_fraction: float  # what E1 says for Young's T
    first_order_fraction: float  # what the formula everyone knows says for Young's T
    curve_interval_s: FloatArray
    curve_fraction: FloatArray
