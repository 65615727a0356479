"""How fast the simulator is, as ratios to baselines measured in the same run, so that they hold on any machine.

    against SimPy    the same jobs event by event (tests/engine/reference.py), time of one run: at least 100 times as fast. Both
                     must find the same waste, within 3 standard errors of the difference
    against drawing  one level, memoryless: at most 5 times as long as drawing one exponential number for each interruption and
                     one for the end of each run, and nothing else
    memory           the peak of eight times as many runs against that of the fewer: at most 1.1

`make bench-simulator` prints tables and exits 1 where a limit does not hold. Both sides take turns; the medians of their CPU
times count. The smaller number of runs for memory is the one from which no more wastes are kept for quantiles.
"""

from __future__ import annotations

import math
import statistics
import sys
import time
import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ckptplanner.engine.laws import Exponential
from ckptplanner.engine.simulation.gaps import is_plain
from ckptplanner.engine.simulation.result import KEPT_RUNS, Simulation
from ckptplanner.engine.simulation.run import simulate
from ckptplanner.engine.simulation.setup import Cause, Setup
from ckptplanner.units import DAY, HOUR
from tests.engine import reference
from tests.engine.reference_cases import CASES, Case

REPEATS, THEIR_RUNS, OUR_RUNS = 9, 20, 2048
DRAW_REPEATS = 41  # they take some hundredths of a second
LEAST_FASTER, MOST_DRAWS, MOST_MEMORY, MOST_ERRORS = 100.0, 5.0, 1.1, 3.0
COMPARED = ("one level that waits", "two levels", "two levels, often interrupted", "copies and a spare")

# one level, memoryless: Article A's job for a year
YEAR = Setup(
    run_s=365 * DAY, law=Exponential(200 * HOUR), interval_s=2685.0, lost_s=5.0, background_s=300.0,
    causes=(Cause("interruption", 1.0, 900.0),),
)  # fmt: skip
YEARS, BLOCK = 20_000, 2**16
# few interruptions in a run, so that hundreds of thousands of runs are quick: the fast path and the general one
SHORT = {
    name: Setup(
        run_s=2e4, law=Exponential(20_000.0), interval_s=1000.0, lost_s=50.0, background_s=write,
        causes=(Cause("interruption", 1.0, 300.0),),
    )
    for name, write in (("one level", 300.0), ("one level that waits", 1500.0))
}  # fmt: skip


@dataclass(frozen=True)
class Row:
    """One line of the table; `is_missed` says whether the limit does not hold."""

    name: str
    baseline: str
    measured: str
    ratio: str
    limit: str
    is_missed: bool


def seconds(work: Callable[[], object]) -> float:
    """CPU time. [s]"""
    before = time.process_time()
    work()
    return time.process_time() - before


def by_turns(one: Callable[[int], object], other: Callable[[int], object], repeats: int = REPEATS) -> tuple[float, float]:
    """Median CPU times of both, which take turns; each is handed the number of the turn. [s]"""
    times = [(seconds(lambda: one(turn)), seconds(lambda: other(turn))) for turn in range(repeats)]  # noqa: B023
    return statistics.median(time[0] for time in times), statistics.median(time[1] for time in times)


def pooled(wastes: list[float], errors: list[float]) -> tuple[float, float]:
    """Mean and standard error of equally large groups of runs."""
    return statistics.fmean(wastes), math.hypot(*errors) / len(errors)


def against_simpy(name: str, case: Case) -> list[Row]:
    """Time of one run on both sides, and whether they mean the same."""
    theirs: list[reference.Found] = []
    ours: list[Simulation] = []
    simulate(case.setup, runs=2)  # for warmth
    slow, fast = by_turns(
        lambda turn: theirs.append(reference.simulate(case.job, runs=THEIR_RUNS, seed=turn)),
        lambda turn: ours.append(simulate(case.setup, runs=OUR_RUNS, seed=turn)),
    )
    slow, fast = slow / THEIR_RUNS, fast / OUR_RUNS
    there = pooled([one.waste_fraction for one in theirs], [one.standard_error for one in theirs])
    here = pooled([one.waste_fraction for one in ours], [one.standard_error for one in ours])
    errors = abs(here[0] - there[0]) / math.hypot(here[1], there[1])
    return [
        Row(
            name, f"{1e3 * slow:.2f} ms", f"{1e3 * fast:.4f} ms", f"{slow / fast:.0f} x", f">= {LEAST_FASTER:.0f}",
            slow / fast < LEAST_FASTER,
        ),
        Row("  waste", *(f"{mean:.4f} ± {error:.4f}" for mean, error in (there, here)), f"{errors:.1f} se",
            f"<= {MOST_ERRORS:.0f}", errors > MOST_ERRORS),
    ]  # fmt: skip


def draw(count: int, seed: int) -> None:
    """So many exponential numbers, a block at a time, which is fastest."""
    random = np.random.default_rng(seed)
    for first in range(0, count, BLOCK):
        random.exponential(1.0, min(BLOCK, count - first))


def against_drawing() -> Row:
    """The fast path beside its random numbers alone."""
    assert is_plain(YEAR)
    found = simulate(YEAR, runs=YEARS)
    count = YEARS + round(YEARS * sum(one.per_run for one in found.by_class.values()))
    draw(count, 0)
    least, measured = by_turns(lambda turn: draw(count, turn), lambda turn: simulate(YEAR, runs=YEARS, seed=turn), DRAW_REPEATS)
    ratio = measured / least
    return Row(
        f"{count:,} draws", f"{1e3 * least:.2f} ms", f"{1e3 * measured:.2f} ms", f"{ratio:.2f}", f"<= {MOST_DRAWS:.0f}",
        ratio > MOST_DRAWS,
    )  # fmt: skip


def peak(setup: Setup, runs: int) -> int:
    """The most memory that a simulation takes at once. [bytes]"""
    tracemalloc.start()
    simulate(setup, runs=runs)
    found = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return found


def memory(name: str, setup: Setup) -> Row:
    """Eight times as many runs."""
    simulate(setup, runs=2)
    few, many = peak(setup, KEPT_RUNS), peak(setup, 8 * KEPT_RUNS)
    ratio = many / few
    return Row(name, f"{few / 1e6:.2f} MB", f"{many / 1e6:.2f} MB", f"{ratio:.3f}", f"<= {MOST_MEMORY}", ratio > MOST_MEMORY)


def table(head: tuple[str, str, str], rows: list[Row]) -> str:
    """What people read."""
    lines = [f"{head[0]:<32}{head[1]:>20}{head[2]:>20}{'ratio':>9}{'limit':>8}"]
    for row in rows:
        missed = "  MISSED" if row.is_missed else ""
        lines.append(f"{row.name:<32}{row.baseline:>20}{row.measured:>20}{row.ratio:>9}{row.limit:>8}{missed}")
    return "\n".join(lines)


def main() -> int:
    """Measure, print, judge."""
    simpy = [row for name in COMPARED for row in against_simpy(name, CASES[name])]
    drawing = [against_drawing()]
    flat = [memory(name, setup) for name, setup in SHORT.items()]
    parts = (
        table(("time of one run", "SimPy", "simulator"), simpy),
        table((f"{YEARS:,} runs of a year", "drawing alone", "simulator"), drawing),
        table(("peak of traced memory", f"{KEPT_RUNS:,} runs", f"{8 * KEPT_RUNS:,} runs"), flat),
    )
    print("\n\n".join(parts))
    return int(any(row.is_missed for row in (*simpy, *drawing, *flat)))


if __name__ == "__main__":
    sys.exit(main())
