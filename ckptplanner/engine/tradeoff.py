"""Idle GPUs against storage dollars over the stop time C of synchronous saves: a year of both (docs/models.md 8)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ckptplanner.engine import teeth
from ckptplanner.engine.cost import lost_gpu_h_per_year, lost_usd_per_year
from ckptplanner.engine.curves import cheapest_rows, systems_at
from ckptplanner.engine.job import job_of
from ckptplanner.engine.outcome import outcome
from ckptplanner.engine.plan import Ranges
from ckptplanner.engine.scenario import Scenario
from ckptplanner.frozen import FloatArray

POINTS = 512
FIRST_S, LAST_S = 20.0, 600.0
MOST_WIDENINGS = 6


@dataclass(frozen=True, slots=True, eq=False)
class Tradeoff:
    """A year's dollars over C, stacked as in the plot. NaN where a price is not known. All (n,)."""

    blocking_s: FloatArray
    idle_gpu_h_per_year: FloatArray
    idle_usd_per_year: FloatArray
    rework_usd_per_year: FloatArray
    restart_usd_per_year: FloatArray
    storage_usd_per_year: FloatArray
    total_usd_per_year: FloatArray
    least: Ranges | None


def at(
    scenario: Scenario,
    blocking_s: FloatArray,
    *,
    rework: bool,
    restarts: bool,
    gpu_value_usd_per_h: float | None = None,
) -> Tradeoff:
    """Compute the parts at given stop times, without looking for the least. `blocking_s` is C. [s], (n,)"""
    job = job_of(scenario)
    value = job.gpu_value_usd_per_h if gpu_value_usd_per_h is None else gpu_value_usd_per_h
    systems, _ = systems_at(scenario, job, blocking_s, "sync")
    result = outcome(scenario, job, systems, blocking_s, "sync")
    index = cheapest_rows(scenario, systems, result).astype(int)

    def picked(values: FloatArray) -> FloatArray:
        full = values + np.zeros_like(result.interval_s)
        return np.where(index >= 0, np.take_along_axis(full, np.maximum(index, 0)[None, :], axis=0)[0], np.nan)

    idle = picked(result.saving_fraction)
    parts = {
        "idle_usd_per_year": lost_usd_per_year(idle, job.gpus, value),
        "rework_usd_per_year": lost_usd_per_year(picked(result.rework_fraction), job.gpus, value) * rework,
        "restart_usd_per_year": lost_usd_per_year(picked(result.restart_fraction), job.gpus, value) * restarts,
        "storage_usd_per_year": picked(result.storage_usd_per_year),
    }
    return Tradeoff(
        blocking_s=blocking_s,
        idle_gpu_h_per_year=lost_gpu_h_per_year(idle, job.gpus),
        **parts,
        total_usd_per_year=sum(parts.values(), np.zeros_like(blocking_s)),
        least=None,
    )


def tradeoff(
    scenario: Scenario,
    *,
    rework: bool = True,
    restarts: bool = True,
    gpu_value_usd_per_h: float | None = None,
    low_s: float | None = None,
    high_s: float | None = None,
) -> Tradeoff:
    """Compute idle, rework, restart and storage dollars over C, the least total and the pieces within 3 % of it.

    Args:
        rework: Whether training lost by interruptions counts.
        restarts: Whether restart time counts.
        gpu_value_usd_per_h: Value of a GPU-hour, 0 for reserved and free; None takes the scenario's. [USD/h]
        low_s: Shortest stop time looked at. [s]; None: 20 s, and less where the least total lies there.
        high_s: Longest. [s]; None: 600 s, and more where the least total lies there.
    """
    low, high = low_s or FIRST_S, high_s or LAST_S
    found = _between(scenario, low, high, rework, restarts, gpu_value_usd_per_h)
    for _ in range(MOST_WIDENINGS):
        least = found.least
        if least is not None and high_s is None and least.least_at > 0.9 * high:
            high *= 3.0
        elif least is not None and low_s is None and least.least_at < 1.1 * low:
            low /= 3.0
        else:
            break
        found = _between(scenario, low, high, rework, restarts, gpu_value_usd_per_h)
    return found


def _between(
    scenario: Scenario, low_s: float, high_s: float, rework: bool, restarts: bool, gpu_value_usd_per_h: float | None
) -> Tradeoff:
    """The trade-off between two stop times."""
    job = job_of(scenario)
    options = {"rework": rework, "restarts": restarts}
    drawn = at(scenario, np.geomspace(low_s, high_s, POINTS), **options, gpu_value_usd_per_h=gpu_value_usd_per_h)
    if scenario.storage.custom is not None or not np.isfinite(drawn.total_usd_per_year).any():
        return drawn
    edges = teeth.edges_s(scenario, job, "sync", low_s, high_s)

    def total(blocking_s: FloatArray) -> FloatArray:
        return at(scenario, blocking_s, **options, gpu_value_usd_per_h=gpu_value_usd_per_h).total_usd_per_year

    return Tradeoff(
        **{name: getattr(drawn, name) for name in Tradeoff.__slots__ if name != "least"},
        least=teeth.within(edges, total),
    )
