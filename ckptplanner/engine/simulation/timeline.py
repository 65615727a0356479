"""One simulated run as stretches of time: the same draws as that run of the simulation, and the same sums.

What an interruption takes back is marked as lost in the stretches before it, so lanes show training that stayed, training that
was lost, saves, waits, restarts and time down.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ckptplanner.engine.laws import Law
from ckptplanner.engine.simulation import result
from ckptplanner.engine.simulation.clocks import Renewal
from ckptplanner.engine.simulation.events import LEVELS, events_of
from ckptplanner.engine.simulation.gaps import gaps_of, run_gaps
from ckptplanner.engine.simulation.pattern import SAVE, WAIT, WORK, Pattern, pattern_of
from ckptplanner.engine.simulation.run import layout_of, stream
from ckptplanner.engine.simulation.setup import Setup
from ckptplanner.engine.simulation.steps import Chunk, Stretch, run_steps
from ckptplanner.frozen import FloatArray

KINDS = ("training", "lost", "saving", "waiting", "restart", "down", "planned")
CAUSE_OF = {"lost": "rework"}  # the others have the name of their cause
MOST_SEGMENTS = 400_000
NOISE_S = 1e-6  # rounding, where a position in work is taken from two sums

IntArray = npt.NDArray[np.int8]
Segments = tuple[FloatArray, FloatArray, IntArray]


@dataclass(frozen=True, slots=True)
class Interruption:
    """One event: when, what it was, and the level that it went back to ("step" for a pause)."""

    at_s: float
    cause: str
    level: str


@dataclass(frozen=True, eq=False)
class Timeline:
    """Segments in order; `kind` counts into KINDS.

    It ends at `end_at_s`: the end of the run, or where it would get longer than 400,000 segments. `causes` are the seconds
    of the whole run by cause, as the simulation counts them.
    """

    start_s: FloatArray
    end_s: FloatArray
    kind: IntArray
    interruptions: tuple[Interruption, ...]
    causes: Mapping[str, float]
    end_at_s: float

    def seconds(self, kind: str) -> float:
        """How long all segments of a kind are. [s]"""
        chosen = self.kind == KINDS.index(kind)
        return float((self.end_s - self.start_s)[chosen].sum())


@dataclass(frozen=True)
class _Replayed(Law):
    """Gaps that were drawn before, one at a time."""

    gaps: list[float]

    def survival(self, age_s: FloatArray) -> FloatArray:
        raise NotImplementedError

    def left_s(self, age_s: FloatArray) -> FloatArray:
        raise NotImplementedError

    def draw(self, random: np.random.Generator, size: int | tuple[int, ...]) -> FloatArray:
        return np.array([self.gaps.pop(0) if self.gaps else self.mean_s])


def timeline(setup: Setup, *, seed: int, run: int = 0) -> Timeline:
    """The run of that number of `simulate(setup, seed=seed)`, counted from 0."""
    layout = layout_of(setup)
    chunk, row = divmod(run, layout.chunk_runs)
    if layout.plain:
        gaps = gaps_of(setup, stream(seed, chunk), layout.span_s, row)
        done = replay(setup, gaps, layout.span_s)
        seconds = run_gaps(setup, stream(seed, chunk), layout.chunk_runs, layout.span_s, counted=row + 1).seconds[row]
    else:
        done = run_steps(setup, stream(seed, chunk), layout.chunk_runs, layout.span_s, record=row)
        seconds = done.seconds[row]
    return _drawn(setup, done.stretches, dict(zip(result.CAUSES, seconds.tolist(), strict=True)))


def replay(setup: Setup, gaps: FloatArray, span_s: float) -> Chunk:
    """One run of the general path on gaps that are given. The last one may reach over the end."""
    clock = Renewal(_Replayed(setup.law.mean_s, gaps.tolist()))
    return run_steps(setup, np.random.default_rng(0), 1, span_s, clock=clock, record=0)


def _drawn(setup: Setup, stretches: list[Stretch], causes: Mapping[str, float]) -> Timeline:
    """Cut every stretch into segments; what later ones take back is lost."""
    pattern, events = pattern_of(setup), events_of(setup)
    kept = np.minimum.accumulate([one.restored_s if one.is_over else np.inf for one in stretches][::-1])[::-1]
    parts: list[Segments] = []
    count, until = 0, stretches[-1].event_s
    levels = {number: name for name, number in LEVELS.items()}
    interruptions = []
    for one, floor in zip(stretches, kept.tolist(), strict=True):
        parts.append(_segments(one, floor, pattern, setup.other_stop_fraction, one.event == events.planned))
        count += len(parts[-1][0])
        until = max(until, float(parts[-1][1][-1])) if len(parts[-1][1]) else until
        if one.event >= 0:
            level = levels[int(events.level[one.event])]
            interruptions.append(Interruption(one.event_s, events.names[one.event], level))
        if count > MOST_SEGMENTS:
            until = float(parts[-1][1][-1])
            break
    starts, ends, kinds = _joined(parts)
    return Timeline(starts, ends, kinds, tuple(interruptions), causes, until)


def _segments(one: Stretch, floor: float, pattern: Pattern, other: float, is_planned: bool) -> Segments:
    """What one run did until one event and in the time after it that is free of others."""
    begin, end, what = pattern.pieces(one.began_at_s, one.ended_at_s - one.final_save_s, int(one.slots_done))
    starts, ends, kinds = _with_lost(begin, end, what, floor - one.base_s, pattern, one.slots_done)
    if other:
        starts, ends, kinds = _with_other_stops(starts, ends, kinds, other)
    shift = one.from_s + one.restart_s - one.began_at_s
    saved = "planned" if is_planned else "saving"
    before = _chain(one.from_s, [(one.restart_s, "planned" if one.restart_is_planned else "restart")])
    after = _chain(
        one.event_s - one.final_save_s,
        [(one.final_save_s, saved), (one.down_s, "down"), (one.queue_s, "planned"), (one.pause_s, "restart")],
    )
    redo_at = one.event_s + one.down_s + one.queue_s + one.pause_s
    redo = _chain(redo_at, [(one.redo_s * (1.0 - other), "lost"), (one.redo_s * other, "saving")])
    return _joined([before, (starts + shift, ends + shift, kinds), after, redo])


def _joined(parts: Sequence[Segments]) -> Segments:
    """Segments one after the other."""
    starts, ends, kinds = zip(*parts, strict=True)
    return np.concatenate(starts), np.concatenate(ends), np.concatenate(kinds)


def _chain(at_s: float, lengths: list[tuple[float, str]]) -> Segments:
    """Segments that follow one another, those of no length left out."""
    there = [(length, KINDS.index(kind)) for length, kind in lengths if length > 0.0]
    ends = at_s + np.cumsum([length for length, _ in there])
    return np.concatenate(([at_s], ends))[:-1], ends, np.array([kind for _, kind in there], dtype=np.int8)


def _with_lost(begin: FloatArray, end: FloatArray, what: IntArray, kept_s: float, pattern: Pattern, done: float) -> Segments:
    """Mark work beyond what stays as lost; the piece that it ends in is cut in two."""
    named = np.array([KINDS.index("training"), KINDS.index("saving"), KINDS.index("waiting")], dtype=np.int8)
    assert (WORK, SAVE, WAIT) == (0, 1, 2)
    if not len(begin):
        return begin, end, named[what]
    position = pattern.totals(begin, done)[0]
    stays = np.clip(kept_s - position, 0.0, end - begin)
    stays = np.where(stays < NOISE_S, 0.0, np.where(end - begin - stays < NOISE_S, end - begin, stays))
    stays = np.where(what == WORK, stays, end - begin)
    lost = np.int8(KINDS.index("lost"))
    return _interleaved(begin, begin + stays, end, named[what], np.full(len(what), lost))


def _with_other_stops(starts: FloatArray, ends: FloatArray, kinds: IntArray, share: float) -> Segments:
    """Saves of other rows take the end of every piece of work, as a share of it."""
    works = kinds <= KINDS.index("lost")
    middle = np.where(works, ends - share * (ends - starts), ends)
    return _interleaved(starts, middle, ends, kinds, np.full(len(kinds), np.int8(KINDS.index("saving"))))


def _interleaved(starts: FloatArray, middles: FloatArray, ends: FloatArray, first: IntArray, second: IntArray) -> Segments:
    """Cut every segment in its middle; parts of no length are left out."""
    begin = np.column_stack((starts, middles)).ravel()
    end = np.column_stack((middles, ends)).ravel()
    kinds = np.column_stack((first, second)).ravel()
    there = end > begin
    return begin[there], end[there], kinds[there]
