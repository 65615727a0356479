"""The published claim behind Article A's 61 % and 50 %: what the period costs when the mean is taken from an old data sheet.

Aupy, Robert, Vivien and Zaidouni: 2^19 processors, each with a Weibull clock of shape 0.5 and a mean of 125 years that is set
anew only by its own failures, have run for one year when a job of 10,000 years / 2^19 begins. C = R = 600 s, D = 60 s. Three
periods, all from the nominal mean mu = 125 years / 2^19:

    Young  sqrt(2 mu C) + C        "Daly"  sqrt(2 (mu + D + R) C) + C        RFO  sqrt(2 (mu - (D + R)) C)

`make bench-claim` simulates the days that the job takes, prints them with their standard errors, and exits 1 where "Daly" / RFO
is not 1.62 +- 0.02 or Young / RFO not 1.50 +- 0.02. Own simulation, in numpy alone; it knows no formula of the planner.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]

DAY, YEAR = 86_400.0, 365.25 * 86_400.0
PROCESSORS, SHAPE, MEAN_S = 2**19, 0.5, 125 * YEAR
AGE_S, WORK_S = YEAR, 10_000 * YEAR / PROCESSORS
STOP_S, RESTART_S, DOWN_S = 600.0, 600.0, 60.0
NOMINAL_S = MEAN_S / PROCESSORS
PERIODS = {
    "Young": math.sqrt(2 * NOMINAL_S * STOP_S) + STOP_S,
    '"Daly"': math.sqrt(2 * (NOMINAL_S + DOWN_S + RESTART_S) * STOP_S) + STOP_S,
    "RFO": math.sqrt(2 * (NOMINAL_S - (DOWN_S + RESTART_S)) * STOP_S),
}
CLAIMS = {('"Daly"', "RFO"): 1.62, ("Young", "RFO"): 1.50}
TOLERANCE = 0.02
FIRST_HORIZON_S = 260 * DAY  # some eight standard deviations of one run beyond the slowest mean


def failures(random: np.random.Generator, horizon_s: float) -> Array:
    """When processors fail within the horizon, from the start of the job. [s], rising

    How many processors fail at all in that time is binomial, and their first gaps follow the law cut off there: that is the
    same as drawing 2^19 gaps and throwing away the long ones, at a seventh of the work.
    """
    end, scale = AGE_S + horizon_s, MEAN_S / math.gamma(1 + 1 / SHAPE)
    share = -math.expm1(-((end / scale) ** SHAPE))
    count = random.binomial(PROCESSORS, share)
    at = scale * (-np.log1p(-share * random.random(count))) ** (1 / SHAPE)
    found = [at]
    while at.size:
        at = at + scale * random.standard_exponential(at.size) ** (1 / SHAPE)
        at = at[at < end]
        found.append(at)
    every = np.concatenate(found)
    return np.sort(every[every >= AGE_S]) - AGE_S


def side_by_side(traces: list[Array], horizon_s: float) -> Array:
    """Row k holds the k-th failure of every trace. Behind its last one the horizon stands, where nothing is known any more."""
    table = np.full((max(trace.size for trace in traces) + 1, len(traces)), horizon_s)
    for column, trace in enumerate(traces):
        table[: trace.size, column] = trace
    return table


def ends(table: Array, periods: Array) -> Array:
    """When the job ends, for every period and trace; NaN where the horizon comes first. [s], (periods, traces)

    All walk from failure to failure in lock step. What was saved before a failure stays, then D, then R, then work and saves
    by turns. A failure within D is not counted: the job is down already. (With a new D after each of them the days come out
    0.2 % longer and the ratios the same within 0.001: the published days cannot tell which was meant.) The last piece of
    work is not saved.
    """
    size = (periods.size, table.shape[1])
    every, work = periods[:, None], periods[:, None] - STOP_S
    left, up, begins, end = np.full(size, WORK_S), np.zeros(size), np.zeros(size), np.full(size, np.nan)
    for at in table:
        ended = begins + left + (np.ceil(left / work) - 1) * STOP_S
        end = np.where(np.isnan(end) & (ended <= at), ended, end)
        if not np.isnan(end).any():
            break
        struck = at >= up
        left = np.where(struck, left - work * np.floor(np.maximum(at - begins, 0.0) / every), left)
        up = np.where(struck, at + DOWN_S, up)
        begins = up + RESTART_S * (up > 0)
    return end


def runs(count: int, seed: int) -> Iterator[Array]:
    """How long the job takes under each period, trace by trace in groups. [s], (periods, some traces)"""
    periods, group = np.array(list(PERIODS.values())), 200
    for first in range(0, count, group):
        size, horizon_s = min(group, count - first), FIRST_HORIZON_S
        while True:
            random = np.random.default_rng((seed, first))
            table = side_by_side([failures(random, horizon_s) for _ in range(size)], horizon_s)
            end = ends(table, periods)
            if not np.isnan(end).any():
                break
            horizon_s *= 1.5
        yield end


def main() -> int:
    """Simulate, print, judge."""
    parser = argparse.ArgumentParser(description="The published ratios of three periods, simulated.")
    parser.add_argument("--traces", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    began = time.perf_counter()
    days = np.concatenate(list(runs(options.traces, options.seed)), axis=1) / DAY
    count = days.shape[1]
    print(f"2^19 processors, shape {SHAPE}, {count} traces, {WORK_S / DAY:.2f} days of work, nominal mean {NOMINAL_S:,.0f} s")
    for (name, period), row in zip(PERIODS.items(), days, strict=True):
        print(
            f"  {name:8} T {period:7,.1f} s   {row.mean():6.1f} days, standard error {row.std(ddof=1) / math.sqrt(count):.1f}"
        )
    failed = False
    names = list(PERIODS)
    for (above, below), claimed in CLAIMS.items():
        slow, fast = days[names.index(above)], days[names.index(below)]
        ratio = slow.mean() / fast.mean()
        error = (slow - ratio * fast).std(ddof=1) / math.sqrt(count) / fast.mean()
        holds = abs(ratio - claimed) <= TOLERANCE
        failed |= not holds
        verdict = "holds" if holds else "does NOT hold"
        print(f"  {above} / {below}: {ratio:.3f}, standard error {error:.3f}; {claimed:.2f} +- {TOLERANCE} {verdict}")
    print(f"  {time.perf_counter() - began:.1f} s")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
