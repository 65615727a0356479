"""Replay of a log: what a way to choose the interval would have cost, gap by gap (docs/models.md 18.2).

    interruption                                                        next interruption
    |--- R ---|----- w -----|C|----- w -----|C|----- w -----|C|--- lost ---|
              ^ training    ^ save 1 begins  ........ t_a after its stop it is usable

    kept of a gap = (T - C) x usable saves            waste = 1 - kept / (all gaps + D for each)

Formulas: numbers and arrays in, numbers and arrays out. Nothing is assumed about the law of the gaps.
"""

from __future__ import annotations

import numpy as np

from ckptplanner.frozen import FloatArray

STEP = 1.01  # the best interval is looked for in steps of 1 %
STEPS_EACH_WAY = 140  # 1.01^140 = 4: from a quarter to four times
_SHAPES = (0.05, 50.0)
_HALVINGS = 60


def kept_s(
    gaps_s: FloatArray,
    interval_s: FloatArray | float,
    *,
    blocking_s: float,
    background_s: FloatArray | float,
    restart_s: float,
    lost_s: float | None = None,
) -> FloatArray:
    """Return the training of each gap that a restart finds again. [s], broadcast of gaps and intervals

    Args:
        gaps_s: From one interruption to the next. [s]
        interval_s: T, start of one save to start of the next. [s], > 0, one for all gaps or one for each
        blocking_s: C. [s]
        background_s: t_a, from the end of the stop until the save is usable. [s], like `interval_s`
        restart_s: R at the beginning of each gap; the next interruption may cut it short. [s]
        lost_s: Training lost per save where that is more than C. [s]

    Save j is usable at R + (j - 1) P + T + t_a with P = max(T, C + t_a): a trainer that finds its last write unfinished waits.
    A save that becomes usable in the very moment of the interruption counts.
    """
    period = np.maximum(interval_s, blocking_s + background_s)
    saves = np.floor((gaps_s - restart_s - background_s - interval_s) / period) + 1.0
    work = np.maximum(interval_s - (blocking_s if lost_s is None else lost_s), 0.0)
    return np.asarray(work * np.maximum(saves, 0.0))


def waste_fraction(kept: FloatArray, gaps_s: FloatArray, downtime_s: float) -> float:
    """Return the share of the time that was not kept. [1], in [0, 1]

    D comes on top of every gap, as in E1: the log's clock stands still while no node is there.
    """
    return float(np.clip(1.0 - kept.sum() / (gaps_s.sum() + downtime_s * gaps_s.size), 0.0, 1.0))


def replayed_waste_fraction(
    gaps_s: FloatArray,
    interval_s: FloatArray,
    *,
    blocking_s: float,
    background_s: FloatArray | float,
    restart_s: float,
    downtime_s: float,
    lost_s: float | None = None,
) -> FloatArray:
    """Return the waste of each constant interval over all gaps. [1], shape of `interval_s`

    The arguments are those of `kept_s`. One interval at a time, so that a log of any length needs little memory.
    """
    every, behind = np.broadcast_arrays(np.asarray(interval_s, dtype=float), background_s)
    found = [
        waste_fraction(
            kept_s(gaps_s, one, blocking_s=blocking_s, background_s=late, restart_s=restart_s, lost_s=lost_s),
            gaps_s,
            downtime_s,
        )
        for one, late in zip(every.ravel().tolist(), behind.ravel().tolist(), strict=True)
    ]
    return np.array(found).reshape(every.shape)


def intervals_around_s(interval_s: float) -> FloatArray:
    """Return intervals from a quarter to four times one, itself among them, 1 % apart. [s], (281,)

    Nobody sets an interval more finely, and a finer search finds what is not there: the start times of logs are whole minutes
    and mostly round ones, so that some intervals fit between them to the second.
    """
    return np.asarray(interval_s * STEP ** np.arange(-STEPS_EACH_WAY, STEPS_EACH_WAY + 1.0))


def past_mean_s(gaps_s: FloatArray, last: int = 20) -> FloatArray:
    """Return for every gap but the first the mean of up to `last` gaps before it. [s], (n - 1,)

    Past data only: while there are fewer than `last`, all there are. The first gap has no past and only teaches.
    """
    sums = np.concatenate(([0.0], np.cumsum(gaps_s)))
    end = np.arange(1, gaps_s.size)
    start = np.maximum(end - last, 0)
    return np.asarray((sums[end] - sums[start]) / (end - start))


def weibull_shape(gaps_s: FloatArray) -> float:
    """Return the most likely Weibull shape of complete gaps. [1], from 0.05 to 50

    Solves sum(x^k ln x) / sum(x^k) - 1/k = mean(ln x) by halving; the left side grows with k. Gaps must be above 0 and must
    not all be equal (then 50). A log that ends with an event, so that no open gap is left to count.
    """
    x = gaps_s / gaps_s.max()
    logs = np.log(x)
    low, high = _SHAPES
    for _ in range(_HALVINGS):
        k = (low + high) / 2.0
        powers = x**k
        rises = float((powers * logs).sum() / powers.sum() - 1.0 / k - logs.mean()) < 0.0
        low, high = (k, high) if rises else (low, k)
    return (low + high) / 2.0
