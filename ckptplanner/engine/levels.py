"""Two levels of checkpoints: often to the nodes' own drives, every n-th time to shared storage too (docs/models.md 16).

    |-- w --|C1|-- w --|C1|-- w --|C1|C3|         n = 3, T1 = w + C1, T3 = n T1 + C3
            ^ restorable t1 later        ^ restorable t3 later, on shared storage

Interruptions of the first kind (rate 1/M1) go back to the newest local checkpoint, those of the second (rate 1/M3) to the
newest on shared storage. Scalars and arrays run through the same lines and broadcast.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ckptplanner.frozen import FloatArray


@dataclass(frozen=True, slots=True)
class Level:
    """What one level costs: [s], scalars or arrays that broadcast."""

    lost_s: FloatArray | float  # training lost per save, C with background loss
    background_s: FloatArray | float  # from the end of the stop until it can be restored, t
    restart_s: FloatArray | float  # R from here
    mtbi_s: FloatArray | float  # mean time between the interruptions that go back to this level, infinity where there are none


def local_interval_s(shared_interval_s: FloatArray, shared_lost_s: FloatArray | float, ratio: FloatArray) -> FloatArray:
    """Return T1 = (T3 - C3) / n. [s]"""
    return np.asarray((shared_interval_s - shared_lost_s) / ratio)


def shared_interval_s(local_interval: FloatArray, shared_lost_s: FloatArray | float, ratio: FloatArray) -> FloatArray:
    """Return T3 = n T1 + C3, the start of one shared save to the start of the next. [s]"""
    return np.asarray(ratio * local_interval + shared_lost_s)


def ratios(local_interval: FloatArray, best_shared_interval_s: FloatArray, shared: Level) -> tuple[FloatArray, FloatArray]:
    """Return the two whole ratios around T3*/T1: rounded down and up, neither below what lets a shared write end.

    Args:
        local_interval: T1. [s], > 0
        best_shared_interval_s: T3* of the shared level alone. [s]
        shared: The shared level; its background time must fit into n T1.
    """
    least = np.maximum(np.ceil(np.asarray(shared.background_s) / local_interval - 1e-9), 1.0)
    wanted = np.maximum((best_shared_interval_s - shared.lost_s) / local_interval, 1.0)
    down = np.maximum(np.floor(wanted + 1e-9), least)
    return down, np.maximum(np.ceil(wanted - 1e-9), least)


def two_level_waste_fraction(
    local: Level, shared: Level, *, interval_s: FloatArray, ratio: FloatArray, uploads_survive: bool, downtime_s: float = 0.0
) -> FloatArray:
    """Return the share of time lost with two levels, in nested form. [1], in [0, 1]

    Args:
        local: C1, t1, R1, M1.
        shared: C3, t3, R3, M3.
        interval_s: T1, start of one local save to the start of the next. [s], > 0
        ratio: n, local saves per shared save.
        uploads_survive: Whether the write to shared storage goes on when the trainer is restarted.
        downtime_s: D, free of interruptions, after each. [s]

    The goodput of the local level (E1 with the mean stop C1 + C3/n) sets the pace at which shared saves come, and the shared
    level is E1 once more on that pace. Derived in docs/models.md 16.2 (E6) and met by a simulation. Memoryless interruptions;
    a shared write that ends before the next begins. 1 where the saves take more than the interval.
    """
    work = np.maximum(np.asarray(interval_s, dtype=float) - local.lost_s, 0.0)
    rate_1, rate_3 = 1.0 / np.asarray(local.mtbi_s, dtype=float), 1.0 / np.asarray(shared.mtbi_s, dtype=float)
    period = interval_s + shared.lost_s / ratio
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        inner = np.where(
            rate_1 > 0.0,
            work * rate_1 * np.exp(-rate_1 * (local.restart_s + local.background_s)) / np.expm1(rate_1 * period),
            work / period,
        ) / (1.0 + rate_1 * downtime_s)
        pace = ratio * work / inner  # wall time from one shared save to the next
        upload = shared.background_s * (1.0 if uploads_survive else np.exp(0.0))
        killed = 0.0 if uploads_survive else pace * np.expm1(rate_1 * np.asarray(shared.background_s))
        lag = shared.restart_s + upload + killed
        outer = np.where(rate_3 > 0.0, ratio * work * rate_3 * np.exp(-rate_3 * lag) / np.expm1(rate_3 * pace), inner) / (
            1.0 + rate_3 * downtime_s
        )
    goodput = np.where(work > 0.0, np.nan_to_num(outer, nan=0.0, posinf=0.0), 0.0)
    return np.asarray(np.clip(1.0 - goodput, 0.0, 1.0))


def first_order_parts(
    local: Level, shared: Level, *, interval_s: FloatArray, ratio: FloatArray, downtime_s: float = 0.0
) -> tuple[FloatArray, FloatArray]:
    """Return what each level wastes to first order, C/T + (T/2 + C + t + R + D)/M: local, shared. [1]

    T1 carries the mean stop of both, as does T3 = n T1 + C3. Source: Benoit, Cavelan, Le Fevre, Robert and Sun 2017 for the
    sum over the levels (E5); docs/models.md 16.1.
    """
    shared_interval = ratio * interval_s + shared.lost_s
    own_interval = shared_interval / ratio
    lost_1, lost_3 = np.asarray(local.lost_s, dtype=float), np.asarray(shared.lost_s, dtype=float)
    parts = []
    for level, lost, interval in ((local, lost_1, own_interval), (shared, lost_3, shared_interval)):
        rework = interval / 2.0 + lost + level.background_s
        parts.append(np.asarray(lost / interval + (rework + level.restart_s + downtime_s) / np.asarray(level.mtbi_s)))
    return parts[0], parts[1]
