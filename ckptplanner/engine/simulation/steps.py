"""The general path: all runs of a chunk go from interruption to interruption together (docs/models.md 17.2).

    ready -- restart R -- train and save by the pattern ------ event -- D, spares, queue -- ready
    t        need         at u since training began            e        free of interruptions

One pass of the loop takes every run that is still going to its next event: an interruption by the job's clock, a lost rack,
a planned stop or the end of the run. Between events all is closed form. What a run has trained is kept as a position in work:
`base` is where the present stretch began, `shared` what shared storage holds; going back means a smaller position.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from ckptplanner.engine.simulation import result
from ckptplanner.engine.simulation.clocks import Clock, clock_of
from ckptplanner.engine.simulation.events import LOCAL, STEP, Events, events_of
from ckptplanner.engine.simulation.nodes import MOST_SPARES, REMEMBERED_LOSSES, escalated, spare_wait_s
from ckptplanner.engine.simulation.pattern import Pattern, pattern_of
from ckptplanner.engine.simulation.setup import Setup
from ckptplanner.engine.simulation.state import Chunk, IntArray, State, Stretch
from ckptplanner.frozen import BoolArray, FloatArray

Tick = Callable[[float], None]

TICK_S = 0.02


def run_steps(
    setup: Setup,
    random: np.random.Generator,
    runs: int,
    span_s: float,
    *,
    counted: int | None = None,
    clock: Clock | None = None,
    record: int | None = None,
    tick: Tick | None = None,
) -> Chunk:
    """Simulate a chunk of runs over `span_s`.

    Args:
        counted: Events of the first so many runs are counted; all if left out.
        clock: In the place of the setup's own.
        record: The number of the run whose stretches are written down.
        tick: Called with the done share every 20 ms or so; it may raise.
    """
    return _Stepper(setup, random, runs, span_s, counted, clock, record).go(tick)


class _Stepper:
    """One chunk on its way."""

    def __init__(
        self,
        setup: Setup,
        random: np.random.Generator,
        runs: int,
        span_s: float,
        counted: int | None,
        clock: Clock | None,
        record: int | None,
    ) -> None:
        self.setup, self.random, self.span_s, self.record = setup, random, span_s, record
        self.events: Events = events_of(setup)
        self.pattern: Pattern = pattern_of(setup)
        self.clock: Clock = clock or clock_of(setup)
        self.counted = runs if counted is None else counted
        self.pauses = bool((self.events.level == STEP).any())  # what never happens need not be worked out
        count = len(self.events.names)
        self.chunk = Chunk(np.empty((runs, len(result.CAUSES))), np.zeros(count), np.zeros(count), [])
        self.state = self._start(runs)

    def _start(self, runs: int) -> State:
        racks, spares, replicas = self.setup.racks, self.setup.spares, self.setup.replicas
        kept = min(spares.nodes, MOST_SPARES) if spares is not None else 0
        remembered = REMEMBERED_LOSSES if replicas is not None else 0
        nothing = np.zeros(runs)
        return State(
            run=np.arange(runs),
            t=nothing.copy(),
            need=nothing.copy(),
            need_is_planned=np.zeros(runs, dtype=bool),
            u=nothing.copy(),
            base=nothing.copy(),
            shared=nothing.copy(),
            done=nothing.copy(),
            pending_end=np.full(runs, np.inf),
            pending_work=nothing.copy(),
            due=self.clock.first(self.random, runs),
            rack_due=nothing if racks is None else self.random.exponential(racks.interval_s, runs),
            stop_number=np.ones(runs),
            spent=np.zeros((runs, len(result.CAUSES))),
            back=np.full((runs, kept), -np.inf),
            lost_at=np.full((runs, remembered), -np.inf),
            lost_node=np.zeros((runs, remembered), dtype=np.int64),
        )

    def go(self, tick: Tick | None) -> Chunk:
        """Step until no run is left."""
        told = time.perf_counter()
        while len(self.state.run):
            ended = self._step()
            if ended.any():
                self._finish(ended)
            if tick is not None and time.perf_counter() - told > TICK_S and len(self.state.run):
                tick(1.0 - len(self.state.run) / len(self.chunk.seconds) * (1.0 - float(self.state.t.mean()) / self.span_s))
                told = time.perf_counter()
        self._take_other_stops()
        return self.chunk

    # ------------------------------------------------------------ one step

    def _next_event(self) -> tuple[FloatArray, IntArray, BoolArray, BoolArray]:
        """When the next event of each run is, its number, whether it is the end, and whether the job's clock made it."""
        state, events = self.state, self.events
        at = state.due
        if events.rack >= 0:
            at = np.minimum(at, state.rack_due)
        planned = None
        if self.setup.planned is not None:
            planned = np.maximum(state.stop_number * self.setup.planned.every_s, state.t)
            at = np.minimum(at, planned)
        ended = at >= self.span_s
        at = np.minimum(at, self.span_s)
        own = (state.due <= at) & ~ended
        if len(events.edges):
            number = np.searchsorted(events.edges, self.random.random(len(at)), side="right")
        else:
            number = np.zeros(len(at), dtype=np.int64)
        if events.rack >= 0:
            number = np.where(~own & (state.rack_due <= at), events.rack, number)
        if planned is not None:
            is_rack = number == events.rack if events.rack >= 0 else False
            number = np.where(~own & ~is_rack, events.planned, number)
        return at, number, ended, own

    def _step(self) -> BoolArray:
        """Take every run to its next event and past it; which runs are over."""
        state, events, setup = self.state, self.events, self.setup
        at, number, ended, own = self._next_event()
        if setup.replicas is not None:
            number = escalated(setup.replicas, events, state, self.random, at, number, own)
        elapsed = at - state.t
        restarting = np.minimum(elapsed, state.need)
        need = state.need - restarting
        u = state.u + (elapsed - restarting)
        if setup.planned is None:
            state.spent[:, result.RESTART] += restarting
        else:
            state.spent[:, result.RESTART] += np.where(state.need_is_planned, 0.0, restarting)
            state.spent[:, result.PLANNED] += np.where(state.need_is_planned, restarting, 0.0)

        level = events.level[number]
        is_pause = (level == STEP) & ~ended
        is_saved, cut = self._final_saves(number, u, ended | is_pause)
        slots_done = state.done
        work, saving = self.pattern.totals(u - cut, state.done if setup.local is not None else 0.0)
        here = state.base + work
        restored = self._restored(at, u, here, level, is_saved, ended)
        rework = here - restored

        over = ~is_pause
        spent = state.spent
        spent[:, result.SAVING] += self._if_over(over, saving)
        if self.pattern.waits:
            spent[:, result.WAITING] += self._if_over(over, u - cut - work - saving)
        spent[:, result.REWORK] += self._if_over(over, rework)
        is_planned = number == events.planned
        if is_saved.any():
            spent[:, result.SAVING] += np.where(is_planned, 0.0, cut)
            spent[:, result.PLANNED] += np.where(is_planned, cut, 0.0)
        down, queue, pause, redo, ready = self._after(at, number, ended, is_pause)
        self._count(number, ended, np.where(is_pause, redo, rework) if self.pauses else rework)
        if self.record is not None:
            self._write_down(
                state.t, restarting, state.need_is_planned, state.u, u, at, np.where(ended, -1, number), cut, over,
                slots_done, state.base, restored, down, queue, pause, redo,
            )  # fmt: skip

        state.need = np.where(is_pause, need, events.restart_s[number])
        state.u = np.where(is_pause, u, 0.0)
        state.base = np.where(is_pause, state.base, restored)
        if setup.planned is not None:
            state.need_is_planned = np.where(is_pause, state.need_is_planned, is_planned)
            state.stop_number = np.where(
                is_planned, np.maximum(state.stop_number, np.floor(ready / setup.planned.every_s)) + 1.0, state.stop_number
            )
        state.due = self.clock.after(self.random, state.due, at, ready, own)
        if setup.racks is not None:
            gaps = self.random.exponential(setup.racks.interval_s, len(at))
            state.rack_due = ready + np.where(number == events.rack, gaps, state.rack_due - at)
        state.t = ready
        return ended | (ready >= self.span_s)

    def _final_saves(self, number: IntArray, u: FloatArray, barred: BoolArray) -> tuple[BoolArray, FloatArray]:
        """Whether a last save is made before each event, and how long it takes. [s]"""
        if not self.events.final_save_s.any():
            return np.zeros(len(u), dtype=bool), np.zeros(len(u))
        final = self.events.final_save_s[number]
        is_saved = (final > 0.0) & (u >= final) & ~barred
        return is_saved, np.where(is_saved, final, 0.0)

    def _if_over(self, over: BoolArray, seconds: FloatArray) -> FloatArray:
        """Nothing where a stretch goes on after a pause. [s]"""
        return np.where(over, seconds, 0.0) if self.pauses else seconds

    def _restored(
        self, at: FloatArray, u: FloatArray, here: FloatArray, level: IntArray, is_saved: BoolArray, ended: BoolArray
    ) -> FloatArray:
        """The position in work that each run goes on from; what shared storage holds is carried on."""
        if self.setup.local is not None:
            return self._restored_from_two(at, u, here, level, is_saved, ended)
        state = self.state
        saves = self.pattern.shared_saves(u)
        newest = np.where(saves > 0.0, state.base + self.pattern.shared_work_s(saves), state.shared)
        restored = np.where(is_saved | ended, here, newest)
        state.shared = np.where(level == STEP, state.shared, restored)
        return restored

    def _restored_from_two(
        self, at: FloatArray, u: FloatArray, here: FloatArray, level: IntArray, is_saved: BoolArray, ended: BoolArray
    ) -> FloatArray:
        """The same with a local level, which keeps its place in the count of saves and may leave a write going on."""
        state, pattern = self.state, self.pattern
        saves = pattern.shared_saves(u, state.done)
        newest = np.where(saves > 0.0, state.base + pattern.shared_work_s(saves, state.done), state.shared)
        if self.setup.local is not None and self.setup.local.uploads_survive:
            newest = self._with_pending(newest, at, u, level)
        local = pattern.local_saves(u, state.done)
        nearest = state.base + local * pattern.work_s
        is_near = (level == LOCAL) & (nearest >= newest) & ~is_saved
        restored = np.where(is_saved | ended, here, np.where(is_near, nearest, newest))
        is_pause = level == STEP
        state.done = np.where(is_pause, state.done, np.where(is_near, (state.done + local) % pattern.first, 0.0))
        state.shared = np.where(is_pause, state.shared, np.where(is_saved, here, newest))
        return restored

    def _with_pending(self, newest: FloatArray, at: FloatArray, u: FloatArray, level: IntArray) -> FloatArray:
        """What shared storage holds with the write that outlived its trainer; the next one to end goes on."""
        state = self.state
        newest = np.where(state.pending_end <= at, np.maximum(newest, state.pending_work), newest)
        flies_on = (state.pending_end > at) & (state.pending_end < np.inf)
        end, held = self.pattern.in_flight(u, state.done)
        later = np.where(flies_on, state.pending_end, at + (end - u))
        state.pending_work = np.where(flies_on, state.pending_work, state.base + held)
        state.pending_end = np.where(level == LOCAL, later, np.where(level == STEP, state.pending_end, np.inf))
        return newest

    def _after(
        self, at: FloatArray, number: IntArray, ended: BoolArray, is_pause: BoolArray
    ) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray, FloatArray]:
        """What follows an event and is free of others: down, queue, pause and the step done again, and when it is over. [s]"""
        events, setup, spent = self.events, self.setup, self.state.spent
        left = np.where(ended, 0.0, self.span_s - at)
        nothing = np.zeros(len(at))
        waits = events.downtime_s[number] if events.downtime_s.any() else nothing
        if setup.spares is not None:
            waits = waits + spare_wait_s(setup.spares, self.state.back, at, np.where(ended, 0, events.nodes_taken[number]))
        parts = (
            (waits, result.DOWN),
            (events.queue_s[number] if events.queue_s.any() else nothing, result.PLANNED),
            (np.where(is_pause, events.restart_s[number], 0.0) if self.pauses else nothing, result.RESTART),
            (np.where(is_pause, setup.step_s, 0.0) if self.pauses else nothing, result.REWORK),
        )
        taken = []
        for part, cause in parts:
            if part is not nothing:
                part = np.minimum(part, left)
                left = left - part
                spent[:, cause] += part
            taken.append(part)
        down, queue, pause, redo = taken
        return down, queue, pause, redo, np.where(ended, at, self.span_s - left)

    # ------------------------------------------------------------ books

    def _count(self, number: IntArray, ended: BoolArray, rework: FloatArray) -> None:
        rows = ~ended & (self.state.run < self.counted)
        size = len(self.events.names)
        self.chunk.counts += np.bincount(number[rows], minlength=size)
        self.chunk.rework_s += np.bincount(number[rows], weights=rework[rows], minlength=size)

    def _write_down(self, *columns: npt.NDArray[np.generic]) -> None:
        assert self.record is not None
        row = int(np.searchsorted(self.state.run, self.record))
        if row < len(self.state.run) and self.state.run[row] == self.record:
            self.chunk.stretches.append(Stretch(*(column[row].item() for column in columns)))

    def _finish(self, ended: BoolArray) -> None:
        state = self.state
        state.spent[ended, result.TRAINING] = state.base[ended]
        self.chunk.seconds[state.run[ended]] = state.spent[ended]
        state.only(~ended)

    def _take_other_stops(self) -> None:
        """Saves of other rows take their share of all training (docs/models.md 14.3)."""
        share = self.setup.other_stop_fraction
        if share:
            seconds = self.chunk.seconds
            for cause in (result.TRAINING, result.REWORK):
                seconds[:, result.SAVING] += share * seconds[:, cause]
                seconds[:, cause] *= 1.0 - share
