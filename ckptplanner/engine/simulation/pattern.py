"""What a trainer does from the moment it trains again until it is interrupted, in closed form (docs/models.md 17.1).

    |-- w --|C1|-- w --|C1|-- w --|C1| C3 |-- w --|C1| ...        n local saves, then a shared one; one level: n = 1, C1 = 0
            local save ^ + t1 restorable   ^ + t3 the shared one restorable

Times are counted from the moment training began. Functions take arrays of such times and broadcast.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ckptplanner.engine.simulation.setup import Setup
from ckptplanner.frozen import FloatArray

WORK, SAVE, WAIT = 0, 1, 2
Done = FloatArray | float
Kinds = npt.NDArray[np.int8]


@dataclass(frozen=True, slots=True)
class Pattern:
    """The pace of one setup: slots of wait, work and a local stop, and after every `slots` of them a shared stop.

    The first shared stop comes after `first` slots less those that were `done` since the last one before the interruption:
    trainers count by step, so that a recovery does not move the shared saves. The first wait is left out: nothing is being
    written yet.
    """

    work_s: float
    slot_wait_s: float
    local_stop_s: float
    local_durable_s: float
    first: int
    slots: int
    stop_s: float
    wait_s: float
    durable_s: float
    usable_every_s: float  # from one shared save that can be restored to the next

    @property
    def slot_s(self) -> float:
        """One slot. [s]"""
        return self.slot_wait_s + self.work_s + self.local_stop_s

    @property
    def period_s(self) -> float:
        """From one shared stop to the next. [s]"""
        return self.stop_s + self.slots * self.slot_s + self.wait_s

    @property
    def waits(self) -> bool:
        """Whether training ever waits for a write."""
        return self.wait_s > 0.0 or self.slot_wait_s > 0.0

    def first_stop_s(self, done: Done) -> FloatArray:
        """When the first shared stop begins. [s]"""
        return np.asarray((self.first - done) * self.slot_s - self.slot_wait_s)

    def totals(self, at_s: FloatArray, done: Done = 0.0) -> tuple[FloatArray, FloatArray]:
        """Training and saving until `at_s`; the rest was waiting for a write. [s], shape of the input, >= 0"""
        after = at_s - self.first_stop_s(done)
        is_late = after >= 0.0
        turns = np.where(is_late, np.floor(after / self.period_s), 0.0)
        into = after - turns * self.period_s
        inside = np.where(
            is_late,
            np.minimum(np.maximum(into - self.stop_s, 0.0), self.slots * self.slot_s),
            np.maximum(at_s, 0.0) + self.slot_wait_s,
        )
        slots = np.floor(inside / self.slot_s)
        rest = inside - slots * self.slot_s - self.slot_wait_s
        full = slots + np.where(is_late, self.first - done + turns * self.slots, 0.0)
        work = full * self.work_s + np.minimum(np.maximum(rest, 0.0), self.work_s)
        saving = np.where(is_late, turns * self.stop_s + np.minimum(into, self.stop_s), 0.0)
        if self.local_stop_s:
            saving = saving + full * self.local_stop_s + np.minimum(np.maximum(rest - self.work_s, 0.0), self.local_stop_s)
        return work, saving

    def first_usable_s(self, done: Done) -> FloatArray:
        """When the first shared save can be restored. [s]"""
        return self.first_stop_s(done) + (self.stop_s + self.durable_s)

    def shared_saves(self, at_s: FloatArray, done: Done = 0.0) -> FloatArray:
        """How many shared saves of this stretch can be restored at `at_s`. [1]"""
        return np.maximum(np.floor((at_s - self.first_usable_s(done)) / self.usable_every_s) + 1.0, 0.0)

    def shared_work_s(self, saves: FloatArray, done: Done = 0.0) -> FloatArray:
        """Training of this stretch that the newest of so many shared saves holds, 0 for none. [s]"""
        held = self.first - done + (saves - 1.0) * self.slots
        return np.where(saves > 0.0, held * self.work_s, 0.0)

    def local_saves(self, at_s: FloatArray, done: Done = 0.0) -> FloatArray:
        """How many local saves of this stretch can be restored at `at_s`; each holds a slot's work. [1]"""
        durable = at_s - self.local_durable_s
        after = durable - self.first_stop_s(done)
        turns = np.floor(after / self.period_s)
        into = np.maximum(after - turns * self.period_s - self.stop_s, 0.0)
        late = self.first - done + turns * self.slots + np.minimum(np.floor(into / self.slot_s), self.slots)
        early = np.floor(np.maximum(durable + self.slot_wait_s, 0.0) / self.slot_s)
        return np.where(after >= 0.0, late, early)

    def in_flight(self, at_s: FloatArray, done: Done = 0.0) -> tuple[FloatArray, FloatArray]:
        """When the shared save that is next to become restorable does so, and what it holds; inf where none is written. [s]"""
        saves = self.shared_saves(at_s, done)
        ended = self.first_stop_s(done) + self.stop_s + saves * self.period_s
        usable = self.first_usable_s(done) + saves * self.usable_every_s
        return np.where(ended <= at_s, usable, np.inf), self.shared_work_s(saves + 1.0, done)

    def pieces(self, begin_s: float, end_s: float, done: int = 0) -> tuple[FloatArray, FloatArray, Kinds]:
        """Begin, end and kind (WORK, SAVE, WAIT) of everything between two times, in order. [s]"""
        slot, slot_kinds = [self.slot_wait_s, self.work_s, self.local_stop_s], [WAIT, WORK, SAVE]
        first_stop = float(self.first_stop_s(done))
        lengths: list[FloatArray] = []
        kinds: list[FloatArray] = []
        origin, skipped = -self.slot_wait_s, 0
        if begin_s < first_stop:
            lengths.append(np.tile(slot, self.first - done))
            kinds.append(np.tile(slot_kinds, self.first - done))
        else:
            skipped = int((begin_s - first_stop) / self.period_s)
            origin = first_stop + skipped * self.period_s
        turns = int((end_s - first_stop) / self.period_s) + 1 - skipped if end_s > first_stop else 0
        lengths.append(np.tile([self.stop_s, *(slot * self.slots), self.wait_s], turns))
        kinds.append(np.tile([SAVE, *(slot_kinds * self.slots), WAIT], turns))
        ends = origin + np.cumsum(np.concatenate(lengths))
        starts = np.concatenate(([origin], ends))[:-1]
        starts, ends = np.clip(starts, begin_s, end_s), np.clip(ends, begin_s, end_s)
        there = ends > starts
        return starts[there], ends[there], np.concatenate(kinds)[there].astype(np.int8)


def pattern_of(setup: Setup) -> Pattern:
    """The pace of a setup, by what it does when the last write is unfinished (docs/models.md 17.1).

    wait: the stop begins once the last write is done. queue: training goes on, writes follow one another. parallel: each
    write takes its time beside the others. skip: the save is left out, so that every m-th is made.
    """
    local = setup.local
    work = setup.interval_s - setup.lost_s if local is None else local.work_s
    ratio = 1 if local is None else local.ratio
    slot_wait = 0.0 if local is None else max(local.durable_s - work, 0.0)
    block = ratio * (slot_wait + work + (0.0 if local is None else local.stop_s))
    stop = setup.lost_s if setup.stop_s is None else setup.stop_s
    writing = setup.background_s - (setup.lost_s - stop)  # left of the write when the training lost by a save is over
    times = max(math.ceil(writing / block - 1e-12), 1) if setup.overlap == "skip" else 1
    wait = max(writing - block, 0.0) if setup.overlap == "wait" else 0.0
    period = setup.lost_s + times * block + wait
    return Pattern(
        work_s=work,
        slot_wait_s=slot_wait,
        local_stop_s=0.0 if local is None else local.stop_s,
        local_durable_s=0.0 if local is None else local.durable_s,
        first=ratio,
        slots=ratio * times,
        stop_s=setup.lost_s,
        wait_s=wait,
        durable_s=setup.background_s,
        usable_every_s=max(period, setup.background_s) if setup.overlap == "queue" else period,
    )
