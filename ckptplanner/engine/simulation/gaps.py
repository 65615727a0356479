"""The fast path: one level, one cause, nothing carried from one interruption to the next (docs/models.md 17.2).

Gaps are drawn as a block (gaps, runs), cut at the end of the run, and all that happens in a gap follows from its length, so
that a block is some twenty passes over an array that stays in the cache. A gap that begins after the end is cut to nothing
and adds nothing. `steps.run_steps` gives the same on the same gaps; a test holds them together.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from ckptplanner.engine.laws import Law
from ckptplanner.engine.simulation import result
from ckptplanner.engine.simulation.events import events_of
from ckptplanner.engine.simulation.pattern import pattern_of
from ckptplanner.engine.simulation.setup import Setup
from ckptplanner.engine.simulation.steps import Chunk, Tick
from ckptplanner.frozen import BoolArray, FloatArray

BLOCK = 2**15  # gaps that are worked on at once: with the arrays beside them they fit into a core's own cache
MOST_ROWS = 120  # so that a count of rows fits into a signed byte


def is_plain(setup: Setup) -> bool:
    """Whether nothing is carried over: one level whose saves do not overlap, one cause, one clock, nothing else going on."""
    beside = (setup.local, setup.fleet, setup.replicas, setup.racks, setup.planned)
    pattern = pattern_of(setup)
    overlaps = pattern.wait_s > 0.0 or pattern.slots > 1 or setup.background_s > setup.interval_s - setup.lost_s
    return all(part is None for part in beside) and events_of(setup).is_plain and not overlaps


class _Blocks:
    """Blocks of gaps with their ends, until every run is over."""

    def __init__(self, setup: Setup, random: np.random.Generator, runs: int, span_s: float) -> None:
        self._law: Law = setup.law
        self._random, self._span_s, self._down_s = random, span_s, setup.downtime_s
        self.run = np.arange(runs)
        self.at = np.zeros(runs)  # when each run may fail again

    def __iter__(self) -> Iterator[tuple[FloatArray, FloatArray]]:
        """Gaps and the times from which the next ones count, (rows, runs that go on)."""
        while len(self.run):
            gaps = self._law.draw(self._random, (self._rows(), len(self.run)))
            ready = gaps + self._down_s if self._down_s else gaps.copy()
            ready[0] += self.at
            for row in range(1, len(ready)):  # np.cumsum along this axis takes several times as long
                ready[row] += ready[row - 1]
            yield gaps, ready
            goes_on: BoolArray = ready[-1] < self._span_s
            self.at, self.run = ready[-1][goes_on], self.run[goes_on]

    def _rows(self) -> int:
        """Enough for most runs to end in it: what is expected and two standard deviations, if that is not too much."""
        expected = (self._span_s - float(self.at.min())) / (self._law.mean_s + self._down_s)
        wanted = math.ceil(expected + 2.0 * math.sqrt(expected)) + 1
        return max(min(wanted, BLOCK // len(self.run), MOST_ROWS), 1)


def run_gaps(
    setup: Setup, random: np.random.Generator, runs: int, span_s: float, *, counted: int | None = None, tick: Tick | None = None
) -> Chunk:
    """Simulate a chunk of plain runs over `span_s`; arguments as in `steps.run_steps`."""
    restart, stop = setup.causes[0].restart_s, setup.lost_s
    every, write = setup.interval_s, setup.background_s
    share = stop / every
    totals = np.zeros((5, runs))  # running, stops begun, parts of them, saves that can be restored, in attempts
    attempts, rows_done, last = np.zeros(runs), np.zeros(runs), np.zeros(runs)
    blocks, is_first = _Blocks(setup, random, runs, span_s), True
    for gaps, ready in blocks:
        run = blocks.run
        running = _attempts(gaps, ready, blocks.at, span_s, setup.downtime_s)
        totals[4, run] += running.sum(axis=0)
        ended = _ended(ready, setup.downtime_s, span_s)
        attempts[run] += ended
        rows_done[run] += len(gaps)
        first = running[0].copy() if is_first else None
        running -= restart
        np.maximum(running, 0.0, out=running)
        if first is not None:
            running[0] = first
        _take_last(running, ended, last, run)
        totals[0, run] += running.sum(axis=0)
        _add_saves(totals, run, running, share, every, write, gaps)
        is_first = False
        if tick is not None:
            tick(1.0 - len(run) / runs * (1.0 - min(float(ready[-1].mean()) / span_s, 1.0)))
    return _books(setup, totals, attempts, rows_done, last, span_s, runs if counted is None else counted)


def _attempts(gaps: FloatArray, ready: FloatArray, at: FloatArray, span_s: float, down_s: float) -> FloatArray:
    """The gaps cut at the end of the run. [s], (rows, runs); what begins later is 0"""
    if down_s:
        fails, begins = np.minimum(ready - down_s, span_s), np.minimum(ready, span_s)
    else:
        fails = begins = np.minimum(ready, span_s)
    cut = np.empty_like(gaps)
    np.subtract(fails[0], at, out=cut[0])
    np.subtract(fails[1:], begins[:-1], out=cut[1:])
    return np.maximum(cut, 0.0, out=cut) if down_s else cut


def _ended(ready: FloatArray, down_s: float, span_s: float) -> FloatArray:
    """How many interruptions of the block come before the end. (runs,)"""
    before = ready < span_s + down_s
    return np.asarray(np.add.reduce(before.view(np.int8), axis=0, dtype=np.int8), dtype=float)


def _take_last(
    running: FloatArray, ended: FloatArray, last: FloatArray, run: np.ndarray[tuple[int], np.dtype[np.int64]]
) -> None:
    """Note how long the attempt ran that the end of the run cuts off, where it is in this block."""
    row = ended.astype(np.int64)
    here = np.flatnonzero(row < len(running))
    last[run[here]] = running[row[here], here]


def _add_saves(
    totals: FloatArray,
    run: np.ndarray[tuple[int], np.dtype[np.int64]],
    running: FloatArray,
    share: float,
    every_s: float,
    write_s: float,
    work: FloatArray,
) -> None:
    """Count stops and restorable saves; `work` is an array to compute in.

    With x = (u + C) / T: floor(x) stops have begun, the newest is min(x - floor(x), C/T) of an interval old, and
    floor(x - (C + t_a) / T) saves can be restored.
    """
    x = running
    x *= 1.0 / every_s
    x += share
    begun = np.floor(x, out=work)
    totals[1, run] += begun.sum(axis=0)
    part = np.subtract(x, begun, out=work)
    totals[2, run] += np.minimum(part, share, out=part).sum(axis=0)
    x -= share + write_s / every_s
    np.maximum(x, 0.0, out=x)
    totals[3, run] += np.floor(x, out=x).sum(axis=0)


def _books(
    setup: Setup,
    totals: FloatArray,
    attempts: FloatArray,
    rows: FloatArray,
    last: FloatArray,
    span_s: float,
    counted: int,
) -> Chunk:
    """Seconds by cause. The attempt that the end cuts off keeps all of its training; what it wrote counts like the rest."""
    stop, every, write = setup.lost_s, setup.interval_s, setup.background_s
    running, begun, parts, kept, spent = totals
    saving = (begun - rows) * stop + parts * every
    begun_last = np.floor((last + stop) / every)
    saving_last = (begun_last - 1.0) * stop + np.minimum(last + stop - begun_last * every, stop)
    kept_last = np.maximum(np.floor((last - write) / every), 0.0)
    training = (kept - kept_last) * (every - stop) + (last - saving_last)
    rework = np.maximum(running - saving - training, 0.0)
    seconds = np.zeros((len(running), len(result.CAUSES)))
    seconds[:, result.TRAINING] = training
    seconds[:, result.SAVING] = saving
    seconds[:, result.REWORK] = rework
    seconds[:, result.RESTART] = spent - running
    seconds[:, result.DOWN] = np.maximum(span_s - spent, 0.0)
    if setup.other_stop_fraction:
        seconds[:, result.SAVING] += setup.other_stop_fraction * (training + rework)
        seconds[:, [result.TRAINING, result.REWORK]] *= 1.0 - setup.other_stop_fraction
    counts = np.array([attempts[:counted].sum()])
    return Chunk(seconds, counts, np.array([rework[:counted].sum()]), [])


def gaps_of(setup: Setup, random: np.random.Generator, runs: int, span_s: float, run: int) -> FloatArray:
    """The gaps that `run_gaps` draws for one run of a chunk. [s]"""
    found: list[FloatArray] = []
    blocks = _Blocks(setup, random, runs, span_s)
    for gaps, _ in blocks:
        column = int(np.searchsorted(blocks.run, run))
        if column == len(blocks.run) or blocks.run[column] != run:
            break
        found.append(gaps[:, column].copy())
    return np.concatenate(found)
