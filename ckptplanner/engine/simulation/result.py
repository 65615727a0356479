"""What a simulation found, and the sums that it is made of, which do not grow with the runs (docs/models.md 17.3)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from ckptplanner.engine.simulation.setup import Setup
from ckptplanner.frozen import FloatArray

CAUSES = ("training", "saving", "waiting", "rework", "restart", "down", "planned")
TRAINING, SAVING, WAITING, REWORK, RESTART, DOWN, PLANNED = range(len(CAUSES))
QUANTILES = (0.05, 0.5, 0.95)
KEPT_RUNS = 65_536  # quantiles and histogram look at the first so many runs at most
BINS = 40


@dataclass(frozen=True, slots=True)
class ClassCount:
    """How often one kind of interruption came, and what it cost in training that had to be done again."""

    per_run: float
    mean_rework_s: float


@dataclass(frozen=True, eq=False)
class Simulation:
    """The share of time wasted over many runs, with its error, its spread and its parts.

    `causes` are mean shares of the run that sum to 1. `span_s` is what was simulated of each run: less than `setup.run_s`
    where a run would have had more interruptions than `run.MOST_INTERRUPTIONS`. Quantiles and histogram look at the first
    65,536 runs.
    """

    setup: Setup
    runs: int
    seed: int
    waste_fraction: float
    standard_error: float
    quantiles: Mapping[float, float]
    causes: Mapping[str, float]
    by_class: Mapping[str, ClassCount]
    histogram_edges: FloatArray
    histogram_counts: FloatArray
    span_s: float

    @property
    def is_shortened(self) -> bool:
        """Whether less than the whole run was simulated."""
        return self.span_s < self.setup.run_s


@dataclass(eq=False)
class Partial:
    """Sums over some runs; `add` takes the next ones in, in order, so that the same runs give the same bits."""

    runs: int
    mean: FloatArray  # (7,) shares of the run by CAUSES
    squares: float  # sum of squared distances of the waste from its mean
    counts: FloatArray  # by event
    rework_s: FloatArray  # by event
    kept: list[FloatArray] = field(default_factory=list)  # waste of the first runs

    def add(self, other: Partial) -> None:
        """Take the sums of further runs in. Source: Chan, Golub, LeVeque 1979, pairwise update of a variance."""
        runs = self.runs + other.runs
        apart = other.mean - self.mean
        self.squares += other.squares + float(apart[TRAINING]) ** 2 * self.runs * other.runs / runs
        self.mean = self.mean + apart * (other.runs / runs)
        if self.runs < KEPT_RUNS:
            self.kept += other.kept
        self.runs = runs
        self.counts = self.counts + other.counts
        self.rework_s = self.rework_s + other.rework_s


def partial_of(seconds: FloatArray, span_s: float, counts: FloatArray, rework_s: FloatArray, *, keep: bool) -> Partial:
    """The sums of one chunk from its seconds by cause, (runs, 7)."""
    shares = seconds / span_s
    mean = shares.mean(axis=0)
    waste = 1.0 - shares[:, TRAINING]
    squares = float(((shares[:, TRAINING] - mean[TRAINING]) ** 2).sum())
    return Partial(len(shares), mean, squares, counts, rework_s, [waste] if keep else [])


def simulation_of(setup: Setup, seed: int, span_s: float, total: Partial, names: tuple[str, ...]) -> Simulation:
    """Words for the sums: error, quantiles, histogram, and interruptions by name."""
    waste = np.concatenate(total.kept)[:KEPT_RUNS]
    low, high = float(waste.min()), float(waste.max())
    counts, edges = np.histogram(waste, bins=BINS, range=(low, max(high, low + 1e-9)))
    mean = total.mean / total.mean.sum()
    return Simulation(
        setup=setup,
        runs=total.runs,
        seed=seed,
        waste_fraction=float(min(max(1.0 - mean[TRAINING], 0.0), 1.0)),
        standard_error=math.sqrt(total.squares / (total.runs - 1) / total.runs),
        quantiles={level: float(value) for level, value in zip(QUANTILES, np.quantile(waste, QUANTILES), strict=True)},
        causes={cause: float(share) for cause, share in zip(CAUSES, mean, strict=True)},
        by_class=_by_class(total, names),
        histogram_edges=edges,
        histogram_counts=counts.astype(float),
        span_s=span_s,
    )


def _by_class(total: Partial, names: tuple[str, ...]) -> dict[str, ClassCount]:
    """Events of one name together, in the order of their first."""
    found: dict[str, ClassCount] = {}
    for name in dict.fromkeys(names):
        which = [index for index, one in enumerate(names) if one == name]
        count = float(total.counts[which].sum())
        found[name] = ClassCount(count / total.runs, float(total.rework_s[which].sum()) / count if count else 0.0)
    return found
