"""Formulas of the terms beyond the articles: planned stops, other saves, neighbours, spares, zones (docs/models.md 14).

Scalars and arrays run through the same lines. Each is neutral at the defaults: 0, or 1 for a count of jobs.
"""

from __future__ import annotations

import numpy as np

from ckptplanner.frozen import FloatArray

FULL_POINT = 0.95  # the share of the time in which no more jobs than this write at once


def planned_rework_s(final_save_s: FloatArray, notice_s: float | None, mean_rework_s: FloatArray) -> FloatArray:
    """Return the training that a planned stop costs besides the restart. [s], broadcast of the inputs

    Args:
        final_save_s: F, one save at full rate. [s]
        notice_s: How long before the stop the job is told; None is long enough. [s]
        mean_rework_s: T/2 + t, what is lost where the notice is too short. [s]

    F where the notice allows a last save, T/2 + t otherwise. docs/models.md 14.1.
    """
    fits = np.asarray(True if notice_s is None else np.asarray(final_save_s) <= notice_s * (1.0 + 1e-12))
    return np.where(fits, final_save_s, mean_rework_s)


def planned_fraction(restart_s: FloatArray, queue_s: float, rework_s: FloatArray, every_s: float) -> FloatArray:
    """Return the share of time that planned stops take, (R + queue + F or rework) / every. [1], at most 1

    docs/models.md 14.1. Valid for stops that are rare against the interval between saves.
    """
    return np.minimum((np.asarray(restart_s) + queue_s + rework_s) / every_s, 1.0)


def stop_fraction(stop_s: float, every_s: float | None, run_s: float) -> float:
    """Return C_i / T_i of one row of saves; a row without an interval happens once, at the end of the run. [1]"""
    return min(stop_s / (run_s if every_s is None else every_s), 1.0)


def count_in_run(every_s: float | None, run_s: float) -> int:
    """Return how often a row of saves happens in the run."""
    return 1 if every_s is None else int(run_s / every_s * (1.0 + 1e-12))


def kept(count: int, keep: int | None) -> int:
    """Return how many of them are there at the end: all, or the last few."""
    return count if keep is None else min(count, keep)


def mean_kept(count: int, keep: int | None) -> float:
    """Return how many of them are there on average over the run: they pile up one by one, up to `keep`. [1]

    Each of `count` equal intervals begins with as many as there were saves before it, at most `keep`.
    """
    most = kept(count, keep)
    return 0.0 if count == 0 else (most * (most - 1) / 2.0 + most * (count - most)) / count


def jobs_writing(jobs: int, duty: FloatArray) -> FloatArray:
    """Return how many of `jobs` equal jobs write at once: the 95 % point of a binomial, at least 1.

    Args:
        jobs: Jobs on the file system, this one included.
        duty: t_w / T, the share of the time in which one job writes. [1], 0 .. 1

    Valid for jobs that are not in step with one another. docs/models.md 14.4.
    """
    shape = np.asarray(duty, dtype=float)
    if jobs == 1:
        return np.ones_like(shape)
    from scipy.special import bdtr

    below = bdtr(np.arange(jobs)[:, None], jobs, np.clip(shape, 0.0, 1.0).ravel()[None, :]) < FULL_POINT
    return np.asarray(np.maximum(below.sum(axis=0).astype(float), 1.0).reshape(shape.shape))


def no_spare_probability(spares: int, wait_s: float, node_losses_per_s: float) -> float:
    """Return the chance that a lost node finds no spare left. [1]

    Spares that are on their way back are Poisson with mean rate times wait; none is left where these are all of them.
    1 without spares. docs/models.md 14.5.
    """
    if spares == 0:
        return 1.0
    mean = node_losses_per_s * wait_s
    if mean <= 0.0:
        return 0.0
    from scipy.special import pdtrc

    return float(pdtrc(spares - 1, mean))


def spare_pays_above_s(node_losses_per_s: float, nodes: int) -> float:
    """Return the wait above which one more spare pays: it costs 1/N of the cluster and saves the wait of each loss. [s]"""
    return 1.0 / node_losses_per_s / nodes
