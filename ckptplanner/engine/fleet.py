"""Nodes that each age by themselves: how often a job on all of them is interrupted (docs/models.md 15.3).

Each node is replaced or repaired only at its own failure; the gaps of one node follow a Weibull law. Over many nodes the
interruptions of the job are close to a Poisson process whose rate is the number of nodes times the renewal density of one.

The renewal function H(t), failures of one node within t of its beginning, has a Laplace transform that needs only that of
the law: f / (p (1 - f)). It is inverted by the Euler sum of Abate and Whitt, "A unified framework for numerically inverting
Laplace transforms", INFORMS Journal on Computing 18(4), 2006, to about six digits at every age.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from ckptplanner.engine.laws import Weibull
from ckptplanner.frozen import FloatArray

ComplexArray = npt.NDArray[np.complex128]

_ORDER = 24
_STEP = 0.02  # fine enough for what the sum multiplies by 10^(order/3)
_CHUNK = 256
_NONE_LEFT_LN = math.log(60.0)  # of (u/s)^k; smaller survivals only slow the sums down
# a run this short by the age is counted from the density, since the difference of H would lose its digits
_SHORT = 0.05
_DEGREE = 15
_AGED = 1e6  # means, after which nothing is left of the beginning
MOST_TIMES_NOMINAL = 1e9


@lru_cache(maxsize=1)
def _inversion() -> tuple[ComplexArray, FloatArray]:
    """The nodes p t and weights of the Euler sum. [1], both (2 order + 1,)"""
    beta = np.asarray(_ORDER * math.log(10.0) / 3.0 + 1j * math.pi * np.arange(2 * _ORDER + 1), dtype=np.complex128)
    weights = np.ones(2 * _ORDER + 1)
    weights[0], weights[-1] = 0.5, 2.0**-_ORDER
    for k in range(1, _ORDER):
        weights[2 * _ORDER - k] = weights[2 * _ORDER - k + 1] + 2.0**-_ORDER * math.comb(_ORDER, k)
    weights[1::2] *= -1.0
    return beta, np.asarray(10.0 ** (_ORDER / 3.0) * weights)


@lru_cache(maxsize=1)
def _kernels() -> tuple[FloatArray, FloatArray]:
    """ln(u/t) of the points of the transforms, and e^(-pu) and p u e^(-pu) there. [1], (points,), (2, 2 parts, nodes, points)

    The parts are real and imaginary. Below the first point e^(-pu) is 1, beyond the last it is 0, to rounding. The same for
    every age and law.
    """
    beta, _ = _inversion()
    ln_u = np.arange(-30.0, math.log(45.0 / beta[0].real), _STEP)
    exponent = beta[:, None] * np.exp(ln_u)
    kernels = (np.exp(-exponent), exponent * np.exp(-exponent))
    return ln_u, np.array([[kernel.real, kernel.imag] for kernel in kernels])


def _transforms(law: Weibull, times_s: FloatArray) -> tuple[ComplexArray, ComplexArray]:
    """f(p) and 1 - f(p) at the nodes of each time, f the transform of the density of the gaps. [1], (nodes, n)

    Each by an integral of its own, of the density and of the survival, so that neither loses its digits where it is small.
    """
    ln_u, kernels = _kernels()
    ln_z = law.shape * (ln_u[:, None] + np.log(times_s / law.scale_s))
    z = np.exp(np.minimum(ln_z, _NONE_LEFT_LN))
    survival = np.exp(-z)
    there = kernels[0] @ (law.shape * _STEP * z * survival)
    gone = kernels[1] @ (_STEP * survival)
    return there[0] + 1j * there[1] - np.expm1(-z[0]), gone[0] + 1j * gone[1]


def _inverted(law: Weibull, times_s: FloatArray, *, density: bool) -> FloatArray:
    """H(t), or t times the renewal density. [1], (n,); times above 0"""
    beta, weights = _inversion()
    found = np.empty(len(times_s))
    for start in range(0, len(times_s), _CHUNK):
        part = slice(start, start + _CHUNK)
        f, gone = _transforms(law, times_s[part])
        found[part] = weights @ (f / gone if density else f / gone / beta[:, None]).real
    return np.maximum(found, 0.0)


def _short_runs(law: Weibull, age_s: float, times_s: FloatArray) -> FloatArray:
    """H(age + t) - H(age) as the integral of a polynomial through the renewal density. [1], (n,)"""
    longest = float(times_s.max())
    nodes = np.polynomial.chebyshev.chebpts1(_DEGREE + 1)
    at = age_s + 0.5 * longest * (nodes + 1.0)
    fitted = np.polynomial.chebyshev.chebfit(nodes, _inverted(law, at, density=True) / at, _DEGREE)
    integral = np.polynomial.chebyshev.chebint(fitted, lbnd=-1.0)
    return np.asarray(0.5 * longest * np.polynomial.chebyshev.chebval(2.0 * times_s / longest - 1.0, integral))


def cumulative_failures(shape: float, mean_s: float, age_s: float, times_s: FloatArray) -> FloatArray:
    """Return the mean number of failures of one node from its age on, H(age + t) - H(age). [1], shape of the times

    Args:
        shape: Weibull shape k of the gaps of one node. [1], 0.2 to 10
        mean_s: Their mean. [s], > 0
        age_s: How long the node has run when the job begins. [s], >= 0
        times_s: Since then, rising. [s], >= 0

    Never falls over rising times. t / mean for shape 1, and for any shape once the age is many means. docs/models.md 15.3.
    """
    times = np.asarray(times_s, dtype=float)
    if shape == 1.0 or age_s > _AGED * mean_s:
        return times / mean_s
    law, flat = Weibull(mean_s, shape), times.ravel()
    counts = np.zeros_like(flat)
    short = (flat > 0.0) & (flat <= _SHORT * age_s)
    if short.any():
        counts[short] = _short_runs(law, age_s, flat[short])
    long = (flat > 0.0) & ~short
    if long.any():
        before = _inverted(law, np.array([age_s]), density=False)[0] if age_s > 0.0 else 0.0
        counts[long] = np.maximum(_inverted(law, age_s + flat[long], density=False) - before, 0.0)
    return np.maximum.accumulate(counts).reshape(times.shape) if np.all(np.diff(flat) >= 0.0) else counts.reshape(times.shape)


def expected_failures(shape: float, mean_s: float, age_s: float, run_s: float) -> float:
    """Return the mean number of failures of one node over [age, age + run]. [1] See `cumulative_failures`."""
    return float(cumulative_failures(shape, mean_s, age_s, np.array([run_s]))[0])


@lru_cache(maxsize=256)
def fleet_mtbi_s(mtbi_s: float, nodes: int, shape: float, age_s: float, run_s: float) -> float:
    """Return the mean time between interruptions of a job over its run, by the age of its nodes. [s]

    Args:
        mtbi_s: M of the job on nodes that have aged; one node fails every M times `nodes` on average. [s], > 0
        nodes: N, >= 1
        shape: Weibull shape of the gaps of one node. [1]
        age_s: How long the nodes have run when the job begins. [s], >= 0
        run_s: Length of the run. [s], > 0

    run / (N (H(age + run) - H(age))): less than M for young nodes with a shape below 1, more above 1, at most 1e9 M.
    docs/models.md 15.3.
    """
    expected = expected_failures(shape, mtbi_s * nodes, age_s, run_s)
    nominal = run_s / (mtbi_s * nodes)
    return mtbi_s * min(nominal / expected, MOST_TIMES_NOMINAL) if expected > 0.0 else mtbi_s * MOST_TIMES_NOMINAL
