"""What a plan costs in dollars: storage, training stopped by saves, rework and restarts (docs/models.md 8)."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np

from ckptplanner.frozen import FloatArray
from ckptplanner.units import DAY, HOUR, HOURS_PER_YEAR, MONTHS_PER_YEAR

Basis = Literal["month", "run", "year"]
BASES: tuple[Basis, ...] = get_args(Basis)


def lost_gpu_h_per_year(lost_fraction: FloatArray, gpus: int) -> FloatArray:
    """Return GPU-hours lost in a year for a share of time lost, 8,760 N g share. [h/year]"""
    return HOURS_PER_YEAR * gpus * np.asarray(lost_fraction)


def lost_usd_per_year(lost_fraction: FloatArray, gpus: int, gpu_value_usd_per_h: float) -> FloatArray:
    """Return what the lost share of training is worth in a year. [USD/year]

    Reserved GPUs cost the same idle or busy: then the dollars read as the value of the training the hours could have done.
    """
    return lost_gpu_h_per_year(lost_fraction, gpus) * gpu_value_usd_per_h


def storage_usd_per_year(usd_per_month: FloatArray) -> FloatArray:
    """Return twelve months of storage. [USD/year]"""
    return MONTHS_PER_YEAR * np.asarray(usd_per_month)


def per_basis(usd_per_year: float, basis: str, run_days: float) -> float:
    """Return yearly dollars for a month (a twelfth), the run (days of a year of 8,760 h) or the year. [USD]

    Raises:
        KeyError: `basis` is none of month, run and year.
    """
    factor = {"month": 1.0 / MONTHS_PER_YEAR, "run": run_days * DAY / HOUR / HOURS_PER_YEAR, "year": 1.0}[basis]
    return usd_per_year * factor
