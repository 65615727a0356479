"""How much of a gap between interruptions ends up behind a restorable save, for any law (docs/models.md 15.1).

    P (S(u) + S(u + P) + S(u + 2P) + ...)          [s]

Of a smooth law the first terms are added as they stand, and the rest is an integral with corrections at its near end. For the
gaps of a log the saves that fit into each gap are counted.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from ckptplanner.engine.laws import Empirical, Exponential, Law, Lognormal, Weibull
from ckptplanner.frozen import FloatArray

_BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66)  # B_2, B_4, ...
_REACH = len(_BERNOULLI)  # terms on either side of the cut that stand in for derivatives
FEWEST_TERMS, COARSE_TERMS = 20, _REACH + 1
_MOST_TERMS = 120
_CHUNK = 1 << 18


def spread_of(law: Law) -> float:
    """About the standard deviation of a gap by its mean: how narrow a law is. [1]"""
    if isinstance(law, Weibull):
        return 1.2 / law.shape
    return law.shape if isinstance(law, Lognormal) else 1.0


@lru_cache(maxsize=64)
def _weights(terms: int) -> FloatArray:
    """What each of the first terms counts if the rest is the integral. [1], (terms + 1 + reach,)

    Euler-Maclaurin with central differences in the place of derivatives: exact for polynomials up to degree 2 reach.
    """
    steps = np.arange(1.0, _REACH + 1)
    powers = 2 * np.arange(1, _REACH + 1) - 1
    ends = np.linalg.solve(2.0 * steps ** powers[:, None], np.asarray(_BERNOULLI) / (powers + 1))
    weights = np.ones(terms + 1 + _REACH)
    weights[terms:] = np.concatenate(([0.5], -ends))
    weights[terms - _REACH : terms] += ends[::-1]
    return weights


def covered_smooth_s(law: Law, first_s: FloatArray, period_s: FloatArray, fewest: int) -> FloatArray:
    """P times the sum for a law with a smooth survival; both inputs flat. [s]"""
    terms = min(max(fewest, math.ceil(6.0 / spread_of(law))), _MOST_TERMS)
    weights, steps = _weights(terms), np.arange(terms + 1 + _REACH)
    sums = np.empty_like(first_s)
    size = max(_CHUNK // len(steps), 1)
    for start in range(0, len(first_s), size):
        part = slice(start, start + size)
        sums[part] = law.survival(first_s[part, None] + period_s[part, None] * steps) @ weights
    return np.asarray(period_s * sums + law.left_s(first_s + terms * period_s))


def _covered_empirical_s(law: Empirical, first_s: FloatArray, period_s: FloatArray) -> FloatArray:
    """P times the sum for the gaps of a log, exactly: how many saves fit into each of them. [s]"""
    gaps = law.sorted_s
    counts = np.empty_like(first_s)
    size = max(_CHUNK // len(gaps), 1)
    for start in range(0, len(first_s), size):
        part = slice(start, start + size)
        fit = np.floor((gaps - first_s[part, None]) / period_s[part, None]) + 1.0
        counts[part] = np.maximum(fit, 0.0).mean(axis=1)
    return np.asarray(period_s * counts)


@dataclass(frozen=True)
class Grouped(Empirical):
    """The gaps of a log in groups of equally many neighbours, each spread evenly over its range: less work, and smooth."""

    groups: int

    @cached_property
    def edges_s(self) -> FloatArray:
        """Where the groups begin and end. [s], (groups + 1,)"""
        gaps = self.sorted_s
        between = np.concatenate((gaps[:1], 0.5 * (gaps[1:] + gaps[:-1]), gaps[-1:]))
        return np.interp(np.linspace(0.0, len(gaps), self.groups + 1), np.arange(len(gaps) + 1), between)

    @cached_property
    def shifts_s(self) -> FloatArray:
        """How far the mean of each group is from the middle of its range, summed from above. [s], (groups + 1,)"""
        gaps, edges = self.sorted_s, self.edges_s
        sums = np.concatenate(([0.0], np.cumsum(gaps)))
        at = np.interp(np.linspace(0.0, len(gaps), self.groups + 1), np.arange(len(gaps) + 1), sums)
        shifts = np.diff(at) * (self.groups / len(gaps)) - 0.5 * (edges[1:] + edges[:-1])
        return np.append(np.cumsum(shifts[::-1])[::-1], 0.0)


def _covered_grouped_s(law: Grouped, first_s: FloatArray, period_s: FloatArray) -> FloatArray:
    """P times the sum for groups of gaps. [s] A gap of x periods after the first save holds floor(x) + 1 saves."""
    edges = law.edges_s
    sums = np.empty_like(first_s)
    size = max(_CHUNK // len(edges), 1)
    for start in range(0, len(first_s), size):
        part = slice(start, start + size)
        period = period_s[part, None]
        x = np.maximum((edges - first_s[part, None]) / period, 0.0)
        whole = np.floor(x)
        integral = (whole + 1.0) * (x - 0.5 * whole)
        width = np.diff(edges) / period
        narrow = width < 1e-6
        spread = np.diff(integral, axis=1) / np.where(narrow, 1.0, width)
        held = np.where(narrow, np.where(x[:, 1:] > 0.0, whole[:, 1:] + 1.0, 0.0), spread)
        sums[part] = period[:, 0] * held.sum(axis=1)
    shifts = law.shifts_s[np.minimum(np.searchsorted(edges, first_s), law.groups)]
    return np.asarray((sums + shifts) / law.groups)


def grouped(law: Empirical, groups: int) -> Empirical:
    """The law in groups; itself where it has no more gaps than that."""
    return law if len(law.gaps_s) <= groups else Grouped(law.mean_s, law.gaps_s, groups)


def covered_s(law: Law, first_s: FloatArray, period_s: FloatArray, fewest: int = FEWEST_TERMS) -> FloatArray:
    """P (S(u) + S(u + P) + ...) for u = `first_s`, P = `period_s`. [s], broadcast of the inputs"""
    first, period = np.broadcast_arrays(np.asarray(first_s, dtype=float), np.asarray(period_s, dtype=float))
    if isinstance(law, Exponential):
        x = period / law.mean_s
        return np.asarray(law.mean_s * np.exp(-first / law.mean_s) * x / -np.expm1(-x))
    if isinstance(law, Grouped):
        covered = _covered_grouped_s(law, first.ravel(), period.ravel())
    elif isinstance(law, Empirical):
        covered = _covered_empirical_s(law, first.ravel(), period.ravel())
    else:
        covered = covered_smooth_s(law, first.ravel(), period.ravel(), fewest)
    return covered.reshape(first.shape)
