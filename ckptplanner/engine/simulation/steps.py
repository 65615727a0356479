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
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ckptplanner.engine.simulation import result
from ckptplanner.engine.simulation.clocks import Clock, clock_of
from ckptplanner.engine.simulation.events import LOCAL, STEP, Events, events_of
from ckptplanner.engine.simulation.pattern import Pattern, pattern_of
from ckptplanner.engine.simulation.setup import Replicas, Setup, Spares
from ckptplanner.frozen import BoolArray, FloatArray

IntArray = npt.NDArray[np.int64]
Tick = Callable[[float], None]

MOST_SPARES = 256  # more are never used up in a run that gets on
REMEMBERED_LOSSES = 16  # of nodes, for groups of replicas
TICK_S = 0.02


@dataclass(frozen=True, slots=True)
class Stretch:
    """What one run did until one event, for the timeline. Times of the wall and work are in seconds."""

    from_s: float
    restart_s: float
    restart_is_planned: bool
    began_at_s: float  # time since training began, at `from_s` and at the event
    ended_at_s: float
    event_s: float
    event: int  # -1 at the end of the run
    final_save_s: float
    is_over: bool  # the pattern begins anew afterwards
    slots_done: float
    base_s: float
    restored_s: float
    down_s: float
    queue_s: float
    pause_s: float
    redo_s: float


@dataclass(eq=False)
class Chunk:
    """Seconds by cause of each run, (runs, 7), and what happened in all of them."""

    seconds: FloatArray
    counts: FloatArray  # by event
    rework_s: FloatArray  # by event
    stretches: list[Stretch]


@dataclass(eq=False)
class _State:
    """The runs that are still going; every array has them as its first axis."""

    run: IntArray
    t: FloatArray
    need: FloatArray
    need_is_planned: BoolArray
    u: FloatArray
    base: FloatArray
    shared: FloatArray
    done: FloatArray  # slots since the last shared save, or where it was due
    pending_end: FloatArray
    pending_work: FloatArray
    due: FloatArray
    rack_due: FloatArray
    stop_number: FloatArray
    spent: FloatArray  # (n, 7)
    back: FloatArray  # (n, spares) when each spare is there again
    lost_at: FloatArray  # (n, remembered)
    lost_node: IntArray

    def only(self, rows: BoolArray) -> None:
        """Drop the other runs."""
        for name, values in vars(self).items():
            setattr(self, name, values[rows])


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
        count = len(self.events.names)
        self.chunk = Chunk(np.empty((runs, len(result.CAUSES))), np.zeros(count), np.zeros(count), [])
        self.state = self._start(runs)

    def _start(self, runs: int) -> _State:
        racks, spares, replicas = self.setup.racks, self.setup.spares, self.setup.replicas
        kept = min(spares.nodes, MOST_SPARES) if spares is not None else 0
        remembered = REMEMBERED_LOSSES if replicas is not None else 0
        nothing = np.zeros(runs)
        return _State(
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
            number = _escalated(setup.replicas, events, state, self.random, at, number, own)
        elapsed = at - state.t
        restarting = np.minimum(elapsed, state.need)
        need = state.need - restarting
        u = state.u + (elapsed - restarting)
        if setup.planned is None:
            state.spent[:, result.RESTART] += restarting
        else:
            state.spent[:, result.RESTART] += np.where(state.need_is_planned, 0.0, restarting)
            state.spent[:, result.PLANNED] += np.where(state.need_is_planned, restarting, 0.0)

        final = events.final_save_s[number]
        level = events.level[number]
        is_pause = (level == STEP) & ~ended
        is_saved = (final > 0.0) & (u >= final) & ~ended & ~is_pause
        cut = np.where(is_saved, final, 0.0)
        slots_done = state.done
        work, saving = self.pattern.totals(u - cut, state.done if setup.local is not None else 0.0)
        here = state.base + work
        restored = self._restored(at, u, here, level, is_saved, ended)
        rework = here - restored

        over = ~is_pause
        spent = state.spent
        spent[:, result.SAVING] += np.where(over, saving, 0.0)
        if self.pattern.waits:
            spent[:, result.WAITING] += np.where(over, u - cut - work - saving, 0.0)
        spent[:, result.REWORK] += np.where(over, rework, 0.0)
        is_planned = number == events.planned
        if is_saved.any():
            spent[:, result.SAVING] += np.where(is_planned, 0.0, cut)
            spent[:, result.PLANNED] += np.where(is_planned, cut, 0.0)
        down, queue, pause, redo, ready = self._after(at, number, own, ended, is_pause)
        self._count(number, ended, np.where(is_pause, redo, rework))
        if self.record is not None:
            self._write_down(
                state.t, restarting, state.need_is_planned, state.u, u, at, np.where(ended, -1, number), cut, over,
                slots_done, state.base, restored, down, queue, pause, redo,
            )  # fmt: skip

        state.need = np.where(is_pause, need, events.restart_s[number])
        if setup.planned is not None:
            state.need_is_planned = np.where(is_pause, state.need_is_planned, is_planned)
            state.stop_number = np.where(
                is_planned, np.maximum(state.stop_number, np.floor(ready / setup.planned.every_s)) + 1.0, state.stop_number
            )
        state.u = np.where(is_pause, u, 0.0)
        state.base = np.where(is_pause, state.base, restored)
        state.due = self.clock.after(self.random, state.due, at, ready, own)
        if setup.racks is not None:
            gaps = self.random.exponential(setup.racks.interval_s, len(at))
            state.rack_due = ready + np.where(number == events.rack, gaps, state.rack_due - at)
        state.t = ready
        return ended | (ready >= self.span_s)

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
        self, at: FloatArray, number: IntArray, own: BoolArray, ended: BoolArray, is_pause: BoolArray
    ) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray, FloatArray]:
        """What follows an event and is free of others: down, queue, pause and the step done again, and when it is over. [s]"""
        events, setup, spent = self.events, self.setup, self.state.spent
        left = np.where(ended, 0.0, self.span_s - at)
        waits = events.downtime_s[number]
        if setup.spares is not None:
            waits = waits + _spare_wait_s(setup.spares, self.state.back, at, np.where(ended, 0, events.nodes_taken[number]))
        parts = (
            (waits, result.DOWN),
            (events.queue_s[number], result.PLANNED),
            (np.where(is_pause, events.restart_s[number], 0.0), result.RESTART),
            (np.where(is_pause, setup.step_s, 0.0), result.REWORK),
        )
        taken = []
        for part, cause in parts:
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


def _escalated(
    replicas: Replicas,
    events: Events,
    state: _State,
    random: np.random.Generator,
    at: FloatArray,
    number: IntArray,
    own: BoolArray,
) -> IntArray:
    """Turn losses of a node that take the last copy of a group into losses of the group."""
    lost = own & (events.nodes_taken[number] > 0)
    if replicas.chance is not None:
        fatal = lost & (random.random(len(at)) < replicas.chance)
        return np.where(fatal & (events.level[number] == LOCAL), events.group, number)
    node = random.integers(0, replicas.nodes, len(at))
    same = (state.lost_node // replicas.group_nodes == (node // replicas.group_nodes)[:, None]) & (
        state.lost_at > (at - replicas.window_s)[:, None]
    )
    again = state.lost_node == node[:, None]
    fatal = lost & ((same & ~again).sum(axis=1) >= replicas.group_nodes - 1)
    rows = np.flatnonzero(lost)
    state.lost_at[rows] = np.where(again[rows], -np.inf, state.lost_at[rows])
    slot = state.lost_at[rows].argmin(axis=1)
    state.lost_at[rows, slot] = at[rows]
    state.lost_node[rows, slot] = node[rows]
    return np.where(fatal & (events.level[number] == LOCAL), events.group, number)


def _spare_wait_s(spares: Spares, back: FloatArray, at: FloatArray, nodes: IntArray) -> FloatArray:
    """How long each run waits for as many nodes; each one taken is ordered anew and is back `wait_s` later. [s]"""
    if not back.shape[1]:
        return np.where(nodes > 0, spares.wait_s, 0.0)
    waits = np.zeros(len(at))
    for taken in range(int(nodes.max(initial=0))):
        rows = np.flatnonzero(nodes > taken)
        slot = back[rows].argmin(axis=1)
        waits[rows] = np.maximum(waits[rows], back[rows, slot] - at[rows])
        back[rows, slot] = at[rows] + spares.wait_s
    return waits
