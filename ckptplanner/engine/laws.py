"""The laws of the time between interruptions: how likely a gap is longer than u, and gaps drawn at random.

    S(u) = P(gap > u)                  exponential, Weibull, lognormal, or the gaps of a log, each scaled to a mean M

Every law is frozen and hashable. Ages are in seconds, arrays of any shape; S is 1 for u <= 0.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np

from ckptplanner.frozen import FloatArray


@dataclass(frozen=True)
class Law(ABC):
    """A renewal law with a finite mean."""

    mean_s: float

    @abstractmethod
    def survival(self, age_s: FloatArray) -> FloatArray:
        """S(u), the chance that a gap is longer than `age_s`. [1], shape of the input"""

    @abstractmethod
    def left_s(self, age_s: FloatArray) -> FloatArray:
        """The integral of S from `age_s` to infinity. [s], shape of the input; the mean at 0"""

    @abstractmethod
    def draw(self, random: np.random.Generator, size: int | tuple[int, ...]) -> FloatArray:
        """Gaps at random. [s], of that size"""

    def scaled(self, mean_s: float) -> Self:
        """The same shape with another mean."""
        return replace(self, mean_s=mean_s)


@dataclass(frozen=True)
class Exponential(Law):
    """Memoryless: S = e^(-u/M)."""

    def survival(self, age_s: FloatArray) -> FloatArray:
        return np.exp(-np.maximum(age_s, 0.0) / self.mean_s)

    def left_s(self, age_s: FloatArray) -> FloatArray:
        age = np.asarray(age_s, dtype=float)
        return np.asarray(self.mean_s * self.survival(age) - np.minimum(age, 0.0))

    def draw(self, random: np.random.Generator, size: int | tuple[int, ...]) -> FloatArray:
        return np.asarray(random.exponential(self.mean_s, size))


@dataclass(frozen=True)
class Weibull(Law):
    """S = e^(-(u/s)^k) with s = M / Gamma(1 + 1/k); k below 1 clusters, k = 1 is the exponential law."""

    shape: float

    @cached_property
    def scale_s(self) -> float:
        """s, the age that a share 1/e of the gaps outlives. [s]"""
        return self.mean_s / math.gamma(1.0 + 1.0 / self.shape)

    def survival(self, age_s: FloatArray) -> FloatArray:
        return np.exp(-((np.maximum(age_s, 0.0) / self.scale_s) ** self.shape))

    def left_s(self, age_s: FloatArray) -> FloatArray:
        from scipy.special import gammaincc

        age = np.asarray(age_s, dtype=float)
        tail = gammaincc(1.0 / self.shape, (np.maximum(age, 0.0) / self.scale_s) ** self.shape)
        return np.asarray(self.mean_s * tail - np.minimum(age, 0.0))

    def draw(self, random: np.random.Generator, size: int | tuple[int, ...]) -> FloatArray:
        return np.asarray(self.scale_s * random.weibull(self.shape, size))


@dataclass(frozen=True)
class Lognormal(Law):
    """ln u is normal with standard deviation `shape`; the median is M e^(-shape^2 / 2)."""

    shape: float

    @cached_property
    def median_s(self) -> float:
        """e^mu. [s]"""
        return self.mean_s * math.exp(-0.5 * self.shape**2)

    def _z(self, age_s: FloatArray) -> FloatArray:
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(np.maximum(age_s, 0.0) / self.median_s) / self.shape)

    def survival(self, age_s: FloatArray) -> FloatArray:
        from scipy.special import ndtr

        return np.asarray(ndtr(-self._z(age_s)))

    def left_s(self, age_s: FloatArray) -> FloatArray:
        from scipy.special import ndtr

        age, z = np.asarray(age_s, dtype=float), self._z(age_s)
        return np.asarray(self.mean_s * ndtr(self.shape - z) - np.maximum(age, 0.0) * ndtr(-z) - np.minimum(age, 0.0))

    def draw(self, random: np.random.Generator, size: int | tuple[int, ...]) -> FloatArray:
        return np.asarray(random.lognormal(math.log(self.median_s), self.shape, size))


@dataclass(frozen=True)
class Empirical(Law):
    """The gaps of a log, each as likely as the others, scaled to the mean."""

    gaps_s: tuple[float, ...]

    @cached_property
    def sorted_s(self) -> FloatArray:
        """The scaled gaps, ascending. [s]"""
        gaps = np.sort(np.asarray(self.gaps_s, dtype=float))
        return np.asarray(gaps * (self.mean_s / float(gaps.mean())))

    def survival(self, age_s: FloatArray) -> FloatArray:
        gaps = self.sorted_s
        return np.asarray(1.0 - np.searchsorted(gaps, np.maximum(age_s, 0.0), side="right") / len(gaps))

    def left_s(self, age_s: FloatArray) -> FloatArray:
        gaps, age = self.sorted_s, np.asarray(age_s, dtype=float)
        sums = np.concatenate(([0.0], np.cumsum(gaps)))
        below = np.searchsorted(gaps, np.maximum(age, 0.0), side="right")
        longer = sums[-1] - sums[below] - np.maximum(age, 0.0) * (len(gaps) - below)
        return np.asarray(longer / len(gaps) - np.minimum(age, 0.0))

    def draw(self, random: np.random.Generator, size: int | tuple[int, ...]) -> FloatArray:
        return np.asarray(random.choice(self.sorted_s, size))


def law_of(kind: str, mean_s: float, *, weibull_shape: float, lognormal_shape: float, gaps_s: tuple[float, ...]) -> Law:
    """The law that `failures.law` names, with mean M; memoryless for shape 1 and where no gaps are given."""
    if kind == "lognormal":
        return Lognormal(mean_s, lognormal_shape)
    if kind == "empirical" and len(gaps_s) > 0:
        return Empirical(mean_s, gaps_s)
    if kind == "weibull" and weibull_shape != 1.0:
        return Weibull(mean_s, weibull_shape)
    return Exponential(mean_s)
