"""What a count of interruptions and the gaps between them say about M: exact intervals, shape, trend (docs/models.md 22).

    exposure, count            -> M with its exact interval, and with a published record (gamma update)
    gaps, some of them cut off -> Weibull shape with its interval, test against exponential
    moments                    -> Laplace's U and the Crow-AMSAA beta, M over time

Times are in any one unit that the names call seconds; arrays are (n,). scipy is loaded inside, when it is needed.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ckptplanner.frozen import BoolArray, FloatArray

IntArray = npt.NDArray[np.intp]
LEVEL = 0.9
LEAST_TELLING = 20  # gaps below which no law can be told from another
LEAST_SHOWN = 50  # and from which on the shape is worth a number
LEAST_FOR_TREND = 5
POINTS_CAP = 400
_SHAPES = (0.02, 50.0)  # beyond these the gaps have no Weibull shape to speak of


# ---------------------------------------------------------------- the mean


def mtbi_interval_s(exposure_s: float, count: float, level: float = LEVEL) -> tuple[float, float]:
    """The exact interval of M after `count` interruptions in `exposure_s`, the end fixed in advance. [s]

    [2 TT / chi2(1 - a/2; 2r + 2), 2 TT / chi2(a/2; 2r)], a = 1 - level; without any interruption the upper end is infinite.
    Source: Garwood's interval of a Poisson mean, Biometrika 28, 1936.
    """
    from scipy.special import chdtri

    tail = (1.0 - level) / 2.0
    low = 2.0 * exposure_s / float(chdtri(2.0 * count + 2.0, tail))
    return low, (2.0 * exposure_s / float(chdtri(2.0 * count, 1.0 - tail)) if count > 0 else math.inf)


@dataclass(frozen=True, slots=True)
class GammaRate:
    """What is known of the rate of one node: Gamma(a, b), as if `events` had been seen in `node_s`."""

    events: float  # a
    node_s: float  # b [node-seconds]

    def after(self, events: float, node_s: float) -> GammaRate:
        """With so many more events in so much more time."""
        return GammaRate(self.events + events, self.node_s + node_s)

    def mtbi_s(self, nodes: float) -> float:
        """M of `nodes` nodes from the mean of the rate, in which the waste is linear: (b / a) / N. [s]"""
        return self.node_s / self.events / nodes

    def interval_s(self, nodes: float, level: float = LEVEL) -> tuple[float, float]:
        """The interval of M from the quantiles of the rate. [s]"""
        from scipy.special import gammaincinv

        tail = (1.0 - level) / 2.0
        least, most = (float(gammaincinv(self.events, at)) for at in (tail, 1.0 - tail))
        return self.node_s / most / nodes, self.node_s / least / nodes

    def quiet_probability(self, nodes: float, horizon_s: float) -> float:
        """The chance that nothing happens in the next `horizon_s`: negative binomial, (b / (b + N H))^a."""
        return math.exp(-self.events * math.log1p(nodes * horizon_s / self.node_s))


def record_as_prior(mtbi_s: float, nodes: float, events: float = 2.0) -> GammaRate:
    """A published record as `events` events at its own rate: weak, so that the user's log soon outweighs it."""
    return GammaRate(events, events * nodes * mtbi_s)


def share_interval(count: int, total: int, level: float = LEVEL) -> tuple[float, float]:
    """The exact interval of a share, `count` of `total` (Clopper and Pearson, Biometrika 26, 1934)."""
    from scipy.special import betaincinv

    tail = (1.0 - level) / 2.0
    low = float(betaincinv(count, total - count + 1, tail)) if count else 0.0
    return low, (float(betaincinv(count + 1, total - count, 1.0 - tail)) if count < total else 1.0)


def causes_rates_per_s(of_nodes: float, common: float, unknown: float, node_s: float, exposure_s: float) -> tuple[float, float]:
    """Split 1/M = N/M_node + 1/M_common: the rate of one node and of what stops all, whatever N. [1/s]

    Those of unknown cause are shared out like the others. Valid where most causes are known.
    """
    known = of_nodes + common
    scale = (known + unknown) / known
    return of_nodes * scale / node_s, common * scale / exposure_s


# ---------------------------------------------------------------- merging


def merged_groups(at_s: FloatArray, merge_s: float) -> IntArray:
    """For times in order the number of the interruption that each belongs to: from 0 on.

    One that comes less than `merge_s` after the one before it, or at the same moment, belongs to it.
    """
    gaps = np.diff(at_s)
    first = np.zeros(min(len(at_s), 1), dtype=np.intp)
    return np.concatenate((first, np.cumsum((gaps >= merge_s) & (gaps > 0.0))))


# ---------------------------------------------------------------- the shape


_LEAST_GAP = 1e-12  # of the longest


@dataclass(frozen=True, slots=True)
class WeibullFit:
    """The likeliest Weibull law of some gaps, with the interval of its shape."""

    shape: float
    low: float
    high: float
    scale_s: float
    p_exponential: float  # how often an exponential law gives a likelihood ratio as large; small: it is none


def weibull_fit(gaps_s: FloatArray, is_open: BoolArray, level: float = LEVEL) -> WeibullFit | None:
    """Fit by maximum likelihood, gaps that were cut off counted as survived; None where the gaps have no shape.

    sum(x^k ln x) / sum(x^k) - 1/k - mean of ln x over the r gaps seen to their end = 0, s = (sum x^k / r)^(1/k). The interval
    is where twice the loss of log-likelihood stays within chi2(level; 1). Gaps of 0 have no logarithm and are left out.
    """
    from scipy.optimize import brentq
    from scipy.special import chdtrc, chdtri

    unit = float(gaps_s.max(initial=0.0))
    keeps = gaps_s > unit * _LEAST_GAP
    gaps_s, is_open = gaps_s[keeps], is_open[keeps]
    seen = int((~is_open).sum())
    if seen < 2:
        return None
    logs = np.log(gaps_s / unit)
    mean_log = float(logs[~is_open].mean())

    def slope(shape: float) -> float:
        powers = np.exp(shape * logs)
        return float(powers @ logs / powers.sum()) - 1.0 / shape - mean_log

    def likelihood(shape: float) -> float:
        return seen * (math.log(shape) - math.log(np.exp(shape * logs).sum() / seen) + (shape - 1.0) * mean_log - 1.0)

    if slope(_SHAPES[0]) >= 0.0 or slope(_SHAPES[1]) <= 0.0:
        return None
    shape = float(brentq(slope, *_SHAPES, xtol=1e-12, rtol=1e-12))
    best, drop = likelihood(shape), float(chdtri(1.0, 1.0 - level)) / 2.0

    def beyond(at: float) -> float:
        return best - likelihood(at) - drop

    low, high = _end(beyond, shape, 0.5), _end(beyond, shape, 2.0)
    return WeibullFit(
        shape=shape,
        low=low,
        high=high,
        scale_s=unit * float(np.exp(shape * logs).sum() / seen) ** (1.0 / shape),
        p_exponential=float(chdtrc(1.0, max(2.0 * (best - likelihood(1.0)), 0.0))),
    )


def _end(beyond: Callable[[float], float], shape: float, factor: float) -> float:
    """Where `beyond` turns positive on one side of `shape`."""
    from scipy.optimize import brentq

    near, far = shape, shape * factor
    while beyond(far) < 0.0:
        near, far = far, far * factor
    return float(brentq(beyond, *sorted((near, far)), xtol=1e-10, rtol=1e-12))


def variation(gaps_s: FloatArray) -> float:
    """The coefficient of variation of gaps, standard deviation over mean (ddof 0): 1 for an exponential law."""
    return float(gaps_s.std() / gaps_s.mean())


# ---------------------------------------------------------------- the trend


def laplace_u(at_s: FloatArray, end_s: float) -> float:
    """Laplace's U of moments since 0 in a watch that ends at `end_s`: normal if the rate is constant, above 0 if it grows.

    (mean t - end / 2) / (end sqrt(1 / 12 n)). Source: D. R. Cox, P. A. W. Lewis, 1966.
    """
    return float((at_s.mean() - end_s / 2.0) / (end_s * math.sqrt(1.0 / (12.0 * len(at_s)))))


def crow_beta(at_s: FloatArray, end_s: float) -> float:
    """The Crow-AMSAA growth exponent, n / sum ln(end / t): above 1 if interruptions come more and more often."""
    return float(len(at_s) / np.log(end_s / at_s).sum())


def two_sided_p(normal: float) -> float:
    """How often a standard normal variable is as far from 0 on either side."""
    from scipy.special import ndtr

    return 2.0 * float(ndtr(-abs(normal)))


# ---------------------------------------------------------------- M over time


@dataclass(frozen=True, slots=True)
class Moving:
    """M of the last interruptions at each of some moments, with its interval."""

    index: IntArray  # which event a moment is; n is the end of the watch
    mtbi_s: FloatArray
    low_s: FloatArray
    high_s: FloatArray


def moving_mtbi(at_s: FloatArray, end_s: float, level: float = LEVEL, cap: int = POINTS_CAP) -> Moving:
    """M over the last max(5, n / 8) interruptions, moment by moment, and at the end of the watch.

    A window that ends with an interruption has the exact interval [2 x / chi2(1 - a/2; 2k), 2 x / chi2(a/2; 2k)], k in the
    window of length x; the last one ends with the watch and has that of `mtbi_interval_s`.

    Args:
        at_s: Running time at each interruption, in order, counted from 0. (n,)
        end_s: Running time in all.
    """
    from scipy.special import chdtri

    count = len(at_s)
    if not count:
        return Moving(np.zeros(0, dtype=np.intp), *(np.zeros(0) for _ in range(3)))
    width = min(count, max(5, math.ceil(count / 8)))
    ends = np.unique(np.linspace(width, count, min(count - width + 1, cap - 1)).round().astype(np.intp))
    clock = np.concatenate(([0.0], at_s))
    spans = clock[ends] - clock[ends - width]
    tail = (1.0 - level) / 2.0
    last = end_s - clock[count - width]
    least, most = mtbi_interval_s(last, width, level)
    return Moving(
        index=np.append(ends - 1, count),
        mtbi_s=np.append(spans, last) / width,
        low_s=np.append(2.0 * spans / float(chdtri(2.0 * width, tail)), least),
        high_s=np.append(2.0 * spans / float(chdtri(2.0 * width, 1.0 - tail)), most),
    )
