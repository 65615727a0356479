"""How often to save, and what share of training is lost to saving and to interruptions (docs/models.md 3, 4).

    |<----------------- period T_p ----------------->|
    | C stop |........ t_a in the background ........|      t = C + t_a: restorable
    ^ save j begins                                  ^ save j + 1 begins, T later, or once the write is done

Scalars and arrays run through the same lines and broadcast; every function is finite for finite inputs in its range.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ckptplanner.frozen import FloatArray

_NEWTON_STEPS = 8
_SERIES_BELOW = 0.02


def young_interval_s(blocking_s: FloatArray, mtbi_s: FloatArray | float) -> FloatArray:
    """Return the interval that wastes the least time to first order, sqrt(2 C M). [s], broadcast of the inputs

    Args:
        blocking_s: Time one save stops training, C. [s], >= 0
        mtbi_s: Mean time between interruptions of the job, M. [s], > 0

    Valid for C much below T and T much below M. Start of one save to the start of the next.
    Source: J. W. Young, "A first order approximation to the optimum checkpoint interval", CACM 17(9), 1974.
    """
    return np.asarray(np.sqrt(2.0 * np.asarray(blocking_s) * mtbi_s))


def daly_interval_s(blocking_s: FloatArray, mtbi_s: FloatArray | float) -> FloatArray:
    """Return Daly's series for the best interval, start to start. [s], broadcast of the inputs

    T = sqrt(2CM) (1 + sqrt(C/2M)/3 + C/2M/9), and M + C from C = 2M on.
    Source: J. T. Daly, "A higher order estimate of the optimum checkpoint interval", FGCS 22(3), 2006 (his tau is T - C).
    """
    half = np.asarray(blocking_s) / (2.0 * np.asarray(mtbi_s))
    series = young_interval_s(blocking_s, mtbi_s) * (1.0 + np.sqrt(half) / 3.0 + half / 9.0)
    return np.asarray(np.where(half >= 1.0, mtbi_s + np.asarray(blocking_s), series))


def _x_less_one_plus_exp(x: FloatArray, loss: FloatArray) -> FloatArray:
    """x - 1 + e^-x without the loss of digits near 0; `loss` is e^-x - 1."""
    small = np.minimum(x, _SERIES_BELOW)
    series = small * small * (0.5 - small * (1 / 6 - small * (1 / 24 - small * (1 / 120 - small / 720))))
    return np.where(x < _SERIES_BELOW, series, x + loss)


def optimal_interval_s(blocking_s: FloatArray, mtbi_s: FloatArray | float) -> FloatArray:
    """Return the interval of least exact waste. [s], broadcast of the inputs

    Solves 1 - e^-x = x - C/M for x = T/M by Newton from Daly's series; C is the effective stop (background loss
    included). The optimum depends neither on the restart time nor on the write, as long as the write fits in.
    Valid for exponential interruptions; 0 where C is 0. Derived in docs/models.md 4.2 (E2) and met by a simulation.
    """
    c = np.asarray(blocking_s, dtype=float) / mtbi_s
    s = np.sqrt(2.0 * c)
    x: FloatArray = np.where(c < 1.0, s + s**2 / 6.0 + s**3 / 36.0, 1.0 + c)
    x = np.where(c > 0.0, x, 1.0)
    for _ in range(_NEWTON_STEPS):
        loss = np.expm1(-x)
        x = x + (_x_less_one_plus_exp(x, loss) - c) / loss
    return np.where(c > 0.0, x * mtbi_s, 0.0)


def optimal_interval_if_published_next_s(blocking_s: FloatArray, mtbi_s: FloatArray | float) -> FloatArray:
    """Return the interval of least exact waste when a checkpoint is restorable only from the next save on. [s]

    Then t = T, and the optimum solves (x - c)(2 - e^-x) = 1 - e^-x for x = T/M, c = C/M; sqrt(2CM/3) to first order.
    Valid for exponential interruptions; 0 where C is 0. Derived in docs/models.md 4.3: the exact waste with t_a = T - C.
    """
    c = np.asarray(blocking_s, dtype=float) / mtbi_s
    x = np.where(c > 0.0, np.where(c < 1.0, np.sqrt(2.0 * c / 3.0) + c, 1.0 + c), 1.0)
    for _ in range(_NEWTON_STEPS):
        loss = np.expm1(-x)
        value = _x_less_one_plus_exp(x, loss) - x * loss - c * (1.0 - loss)
        x = np.maximum(x - value / (-2.0 * loss + (x - c) * np.exp(-x)), x * 1e-3)
    return np.where(c > 0.0, x * mtbi_s, 0.0)


def best_interval_s(lost_s: FloatArray, mtbi_s: FloatArray | float, *, model: str, published_next_save: bool) -> FloatArray:
    """Return T* by the chosen model. [s] Daly's series is for checkpoints published at the end of their write."""
    if published_next_save:
        if model == "exact":
            return optimal_interval_if_published_next_s(lost_s, mtbi_s)
        return np.asarray(young_interval_s(lost_s, mtbi_s) / np.sqrt(3.0))
    formulas: dict[str, Callable[[FloatArray, FloatArray | float], FloatArray]] = {
        "exact": optimal_interval_s,
        "young": young_interval_s,
        "daly": daly_interval_s,
    }
    return formulas[model](lost_s, mtbi_s)


def save_period_s(interval_s: FloatArray, blocking_s: FloatArray, background_s: FloatArray) -> FloatArray:
    """Return the time from one save to the next that really passes, max(T, C + t_a). [s]

    A trainer that finds its last write unfinished waits for it, in TorchTitan as in Megatron-LM (docs/models.md 4.4).
    """
    return np.maximum(interval_s, blocking_s + background_s)


def saving_fraction(interval_s: FloatArray, lost_s: FloatArray, period_s: FloatArray) -> FloatArray:
    """Return the share of time lost to saving: (C + waiting)/T_p, which is C/T where nothing waits. [1]

    Args:
        interval_s: Planned interval T. [s], > lost_s
        lost_s: Training lost per save, C with background loss and slowdown. [s]
        period_s: What `save_period_s` gave. [s]
    """
    return 1.0 - (interval_s - lost_s) / period_s


def mean_rework_s(period_s: FloatArray, durable_after_s: FloatArray) -> FloatArray:
    """Return the training lost on average by an interruption, T/2 + t. [s] See docs/models.md 3.2."""
    return period_s / 2.0 + durable_after_s


def worst_rework_s(period_s: FloatArray, durable_after_s: FloatArray) -> FloatArray:
    """Return the training lost at worst by an interruption, T + t. [s] See docs/models.md 3.2."""
    return period_s + durable_after_s


def first_order_waste_fraction(
    saving: FloatArray, mean_rework: FloatArray, restart_s: FloatArray, downtime_s: float, mtbi_s: float
) -> FloatArray:
    """Return C/T + (T/2 + t + R + D)/M. [1] It passes 100 % where it no longer holds: callers must say so.

    Valid for C much below T, T much below M, t < T, independent interruptions at a constant rate. Source: Young 1974.
    """
    return saving + (mean_rework + restart_s + downtime_s) / mtbi_s


def exact_waste_fraction(
    *,
    interval_s: FloatArray,
    lost_s: FloatArray,
    background_s: FloatArray,
    period_s: FloatArray,
    restart_s: FloatArray,
    downtime_s: float,
    mtbi_s: float,
) -> FloatArray:
    """Return the exact share of time lost under exponential interruptions, waiting writers included. [1], in [0, 1]

    Args:
        interval_s: Planned interval T, start to start. [s], > 0
        lost_s: Training lost per save: C, with background loss and slowdown. [s]
        background_s: From the end of the stop until the checkpoint can be restored. [s]
        period_s: max(T, C + t_a). [s]
        restart_s: R, which itself can be interrupted. [s]
        downtime_s: D, free of interruptions. [s]
        mtbi_s: M. [s], > 0

    goodput = (T - C)/M e^-(T + t_a + R)/M / (1 - e^-T_p/M) / (1 + D/M). 1 where a save costs more than its interval.
    Derived in docs/models.md 4.1 (E1) and 4.4 (E3), and met by an event simulation in tests/engine/test_theory.py.
    """
    work = np.maximum(interval_s - lost_s, 0.0) / mtbi_s
    survive = np.exp(-(interval_s + background_s + restart_s) / mtbi_s)
    goodput = work * survive / -np.expm1(-period_s / mtbi_s) / (1.0 + downtime_s / mtbi_s)
    return np.asarray(np.clip(1.0 - goodput, 0.0, 1.0))


def with_pauses(waste_fraction: FloatArray, pause_fraction: FloatArray) -> FloatArray:
    """Return the waste where some interruptions only pause the job and lose no more than a step. [1]

    Args:
        waste_fraction: Waste of the interruptions that go back to a save. [1]
        pause_fraction: Time of the pauses by the time that runs between them. [1], >= 0

    Each pause is free of further interruptions. The goodput of E1 with the rate of the others, over 1 plus the share of
    pauses: docs/models.md 14.2.
    """
    return 1.0 - (1.0 - waste_fraction) / (1.0 + pause_fraction)
