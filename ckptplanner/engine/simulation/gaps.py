"""The fast path: one level, one cause, nothing carried from one interruption to the next (docs/models.md 17.2).

Gaps are drawn as a block (gaps, runs), cut at the end of the run, and all that happens in a gap follows from its length, so
that a block is some twenty passes over an array that stays in the cache. A gap that begins after the end is cut to nothing
and adds nothing. `steps.run_steps` gives the same on the same gaps; a test holds them together.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ckptplanner.engine.laws import Law
from ckptplanner.engine.simulation import result
from ckptplanner.engine.simulation.events import events_of
from ckptplanner.engine.simulation.pattern import pattern_of
from ckptplanner.engine.simulation.setup import Setup
from ckptplanner.engine.simulation.state import Chunk, IntArray
from ckptplanner.engine.simulation.steps import Tick
from ckptplanner.frozen import BoolArray, FloatArray

BLOCK = 2**17  # gaps that are worked on at once: enough to hide the cost of a call, few enough for the cache
MOST_ROWS = 120  # so that a count of rows fits into a signed byte


def is_plain(setup: Setup) -> bool:
    """Whether nothing is carried over: one level whose saves do not overlap, one cause, one clock, nothing else going on."""
    beside = (setup.local, setup.fleet, setup.replicas, setup.racks, setup.planned)
    pattern = pattern_of(setup)
    overlaps = pattern.wait_s > 0.0 or pattern.slots > 1 or setup.background_s > setup.interval_s - setup.lost_s
    return all(part is None for part in beside) and events_of(setup).is_plain and not overlaps


def strip_runs(setup: Setup) -> int:
    """How many runs are worked on side by side: a block holds most of their gaps, if those are not too many."""
    return int(np.clip(2 ** round(math.log2(BLOCK / (setup.interruptions + 4.0))), 256, 4096))


@dataclass(eq=False)
class _Books:
    """Sums over the attempts of each run, (runs,)."""

    ran_s: FloatArray
    trained_and_saved_s: FloatArray
    begun: FloatArray
    parts: FloatArray  # of the newest stops, in intervals
    restorable: FloatArray
    failures: FloatArray
    attempts: FloatArray
    last_s: FloatArray  # the attempt that the end of the run cuts off


class _Strip:
    """Blocks of gaps of some runs, until every run is over: gaps and when the next ones count from, (rows, runs that go on)."""

    def __init__(self, setup: Setup, random: np.random.Generator, runs: int, span_s: float, buffers: FloatArray) -> None:
        self._law: Law = setup.law
        self._random, self._span_s, self._down_s, self._buffers = random, span_s, setup.downtime_s, buffers
        self.run = np.arange(runs)
        self.at = np.zeros(runs)  # when each run may fail again

    def __iter__(self) -> Iterator[tuple[FloatArray, FloatArray]]:
        while len(self.run):
            shape = (self._rows(), len(self.run))
            gaps = self._law.draw(self._random, shape)
            ready = _view(self._buffers[0], shape)
            last = self.at
            for gap, row in zip(gaps, ready, strict=True):  # np.cumsum along this axis takes several times as long
                np.add(gap, last, out=row)
                if self._down_s:
                    row += self._down_s
                last = row
            end = ready[-1].copy()
            yield gaps, ready
            goes_on: BoolArray = end < self._span_s
            self.at, self.run = end[goes_on], self.run[goes_on]

    def _rows(self) -> int:
        """Enough for most runs to end in it: what is expected and a standard deviation, if that is not too much."""
        expected = (self._span_s - float(self.at.min())) / (self._law.mean_s + self._down_s)
        wanted = math.ceil(expected + math.sqrt(expected)) + 1
        return max(min(wanted, BLOCK // len(self.run), MOST_ROWS), 1)


def _view(buffer: FloatArray, shape: tuple[int, int]) -> FloatArray:
    """The beginning of a buffer as an array of that shape: fresh arrays of this size cost more than what is done to them."""
    return buffer[: shape[0] * shape[1]].reshape(shape)


def _buffers() -> FloatArray:
    return np.empty((2, BLOCK))


def run_gaps(
    setup: Setup, random: np.random.Generator, runs: int, span_s: float, *, counted: int | None = None, tick: Tick | None = None
) -> Chunk:
    """Simulate a chunk of plain runs over `span_s`; arguments as in `steps.run_steps`, but only those that count are there."""
    wanted, side = runs if counted is None else counted, strip_runs(setup)
    buffers, parts = _buffers(), list[tuple[FloatArray, FloatArray]]()
    for first in range(0, wanted, side):
        strip = _Strip(setup, random, side, span_s, buffers)
        books = _books(setup, strip, side, span_s, buffers, tick, (first / runs, side / runs))
        found, failed = _seconds(setup, books, span_s)
        parts.append((found[: wanted - first], failed[: wanted - first]))
    seconds, failures = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    return Chunk(seconds, np.array([failures.sum()]), np.array([seconds[:, result.REWORK].sum()]), [])


def _books(
    setup: Setup,
    strip: _Strip,
    runs: int,
    span_s: float,
    buffers: FloatArray,
    tick: Tick | None,
    progress: tuple[float, float],
) -> _Books:
    """Go through the blocks of a strip."""
    books = _Books(*np.zeros((8, runs)))
    is_first = True
    for gaps, ready in strip:
        run = strip.run
        ended = _ended(ready, setup.downtime_s, span_s)
        running = _attempts(ready, strip.at, span_s, setup.downtime_s, _view(buffers[1], ready.shape))
        books.ran_s[run] += running.sum(axis=0)
        books.failures[run] += ended
        books.attempts[run] += len(gaps)
        fresh = running[0].copy()
        running -= setup.causes[0].restart_s
        np.maximum(running, 0.0, out=running)
        if is_first:  # a run begins without a restart
            running[0] = fresh
        _take_last(running, ended, books.last_s, run)
        books.trained_and_saved_s[run] += running.sum(axis=0)
        _add_saves(setup, books, run, running, gaps)
        is_first = False
        if tick is not None:
            left = len(run) / runs * (1.0 - min(float(strip.at.mean()) / span_s, 1.0))
            tick(progress[0] + progress[1] * (1.0 - left))
    return books


def _attempts(ready: FloatArray, at: FloatArray, span_s: float, down_s: float, cut: FloatArray) -> FloatArray:
    """The gaps cut at the end of the run. [s], (rows, runs); what begins later is 0"""
    if down_s:
        np.subtract(ready, down_s, out=cut)
        np.minimum(cut, span_s, out=cut)
        np.minimum(ready, span_s, out=ready)
        cut[0] -= at
        cut[1:] -= ready[:-1]
        return np.maximum(cut, 0.0, out=cut)
    np.minimum(ready, span_s, out=ready)
    np.subtract(ready[0], at, out=cut[0])
    np.subtract(ready[1:], ready[:-1], out=cut[1:])
    return cut


def _ended(ready: FloatArray, down_s: float, span_s: float) -> FloatArray:
    """How many interruptions of the block come before the end. (runs,)"""
    return _true(ready < span_s + down_s)


def _true(rows: BoolArray) -> FloatArray:
    """How many of at most 120 rows are true: bytes are summed, which is several times as fast as a count. (runs,)"""
    return np.asarray(np.add.reduce(rows.view(np.int8), axis=0, dtype=np.int8), dtype=float)


def _take_last(running: FloatArray, ended: FloatArray, last: FloatArray, run: IntArray) -> None:
    """Note how long the attempt ran that the end of the run cuts off, where it is in this block."""
    row = ended.astype(np.int64)
    here = np.flatnonzero(row < len(running))
    last[run[here]] = running[row[here], here]


def _add_saves(setup: Setup, books: _Books, run: IntArray, running: FloatArray, work: FloatArray) -> None:
    """Count stops and restorable saves; `running` is used up, `work` is an array to compute in.

    With x = (u + C) / T: floor(x) stops have begun, the newest is min(x - floor(x), C/T) of an interval old. All of them can be
    restored, but for the newest where x - floor(x) is below (C + t_a) / T, which is at most 1.
    """
    share, restorable = _shares(setup)
    x = running
    x *= 1.0 / setup.interval_s
    x += share
    begun = np.floor(x, out=work)
    stops = begun.sum(axis=0)
    part = np.subtract(x, begun, out=work)
    books.begun[run] += stops
    books.restorable[run] += stops - _true(part < restorable) + _true(x < min(restorable, 1.0))
    books.parts[run] += np.minimum(part, share, out=part).sum(axis=0)


def _shares(setup: Setup) -> tuple[float, float]:
    """C and C + t_a in intervals."""
    share = setup.lost_s / setup.interval_s
    return share, share + setup.background_s / setup.interval_s


def _seconds(setup: Setup, books: _Books, span_s: float) -> tuple[FloatArray, FloatArray]:
    """Seconds by cause, (runs, 7), and failures, (runs,). The attempt that the end cuts off keeps all of its training."""
    stop, every, last = setup.lost_s, setup.interval_s, books.last_s
    share, restorable = _shares(setup)
    running = books.trained_and_saved_s
    saving = (books.begun - books.attempts) * stop + books.parts * every
    x = last * (1.0 / every) + share  # to the last bit as above: a run may end just where a save gets restorable
    begun_last = np.floor(x)
    part_last = x - begun_last
    saving_last = (begun_last - 1.0) * stop + np.minimum(part_last, share) * every
    kept_last = begun_last - (part_last < restorable) + (x < min(restorable, 1.0))
    training = (books.restorable - kept_last) * (every - stop) + (last - saving_last)
    rework = np.maximum(running - saving - training, 0.0)
    seconds = np.zeros((len(running), len(result.CAUSES)))
    seconds[:, result.TRAINING] = training
    seconds[:, result.SAVING] = saving
    seconds[:, result.REWORK] = rework
    seconds[:, result.RESTART] = books.ran_s - running
    if setup.downtime_s:  # without, the difference is rounding alone
        seconds[:, result.DOWN] = np.maximum(span_s - books.ran_s, 0.0)
    if setup.other_stop_fraction:
        seconds[:, result.SAVING] += setup.other_stop_fraction * (training + rework)
        seconds[:, [result.TRAINING, result.REWORK]] *= 1.0 - setup.other_stop_fraction
    return seconds, books.failures


def gaps_of(setup: Setup, random: np.random.Generator, span_s: float, run: int) -> FloatArray:
    """The gaps that `run_gaps` draws for one run of a chunk. [s]"""
    found: list[FloatArray] = []
    side, buffers = strip_runs(setup), _buffers()
    for first in range(0, run + 1, side):
        strip = _Strip(setup, random, side, span_s, buffers)
        for gaps, _ in strip:
            column = int(np.searchsorted(strip.run, run - first))
            if column < len(strip.run) and strip.run[column] == run - first:
                found.append(gaps[:, column].copy())
    return np.concatenate(found)
