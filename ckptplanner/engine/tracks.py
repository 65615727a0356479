"""The runs of one job as one kind of file has them, and which job of another file they are.

    Track     of one reader, one job and one clock
    Placed    those of all files, each job once; same_job tells where a further one belongs

What runs at once for most of its time is the same. A clock without a zone is told from one with a zone by the starts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ckptplanner.data.evidence import Run
from ckptplanner.frozen import FloatArray

_LEAST_OVERLAP = 0.05  # of the longer of two sources: a short job beside a long one is not the same
_QUARTER_S, _ZONES = 900.0, 14 * 4  # zones are quarters of an hour apart, and at most 14 hours
_STARTED_S = 120.0  # from a scheduler's start to the first line of a log
_STARTS = 200  # that are compared to tell one clock from another
_FEW_STARTS = 3
VAGUE = ("unknown", "open")


@dataclass(frozen=True, slots=True)
class Joined:
    """One run, from all that was said about it."""

    run: Run
    last_line_s: float | None = None  # of its log, where the scheduler says when it ended
    fault_s: float | None = None  # the first event of a node or the cluster just before its end
    is_suspect: bool = False  # cancelled right after such an event: a hang that was killed?
    key: str = ""  # of the stop at its end: the same whenever the same files are read
    is_start_told: bool = True  # by a scheduler or launcher; False: the first line of a log
    is_end_told: bool = True

    @property
    def end_s(self) -> float:
        """When it ended, or the last moment known of it. [s since 1970]"""
        known = self.run.end_s if self.run.end_s is not None else self.run.seen_until_s
        return self.run.start_s if known is None else known

    @property
    def running_from_s(self) -> float:
        """What it ran before its end is counted from here: its start, unless the clock was changed since. [s since 1970]"""
        return min(self.run.start_s - self.run.back_s, self.end_s)


@dataclass(frozen=True, slots=True, eq=False)
class Track:
    """The runs of one job as one kind of file has them, on one clock."""

    reader: str
    job: str
    runs: tuple[Joined, ...]
    spans_s: FloatArray  # from and to, (n, 2)
    length_s: float
    known: float  # how much a run of it says: cause, nodes, when it could have started
    ids: frozenset[str]  # of the scheduler
    starts_s: FloatArray  # by which its clock is told from another: of all tracks on it, where it has few of its own

    @property
    def is_zoned(self) -> bool:
        return self.runs[0].run.is_zoned

    @property
    def is_from_log(self) -> bool:
        return self.runs[0].run.is_from_log


def track_of(reader: str, job: str, runs: tuple[Joined, ...]) -> Track:
    points = [2 * (one.run.kind not in VAGUE) + (one.run.eligible_s is not None) + (one.run.nodes is not None) for one in runs]
    spans = spans_of(runs)
    ids = frozenset(one.run.job_id for one in runs) - {""}
    length = float(np.diff(spans).sum())
    return Track(reader, job, runs, spans, length, sum(points) / len(points), ids, spans[:_STARTS, 0])


class Placed:
    """The tracks so far, and which of them a further one can be the same job as."""

    def __init__(self) -> None:
        self.tracks: list[Track] = []
        self._by_id: dict[str, list[int]] = {}
        self._without: list[int] = []

    def put(self, track: Track) -> None:
        """One more job."""
        at = len(self.tracks)
        self.tracks.append(track)
        for name in track.ids:
            self._by_id.setdefault(name, []).append(at)
        if not track.ids:
            self._without.append(at)

    def change(self, at: int, runs: tuple[Joined, ...]) -> None:
        """The runs of a job together with those of another source."""
        first = self.tracks[at]
        self.tracks[at] = track_of(first.reader, first.job, runs)

    def others(self, track: Track) -> Iterable[tuple[int, Track]]:
        """Those of other readers or on another clock; where both have the scheduler's ids, with one in common."""
        among: Iterable[int] = range(len(self.tracks))
        if track.ids:
            among = sorted({at for name in track.ids for at in self._by_id.get(name, ())} | set(self._without))
        for at in among:
            other = self.tracks[at]
            if other.reader != track.reader or other.is_zoned != track.is_zoned:
                yield at, other


def with_starts(tracks: Sequence[Track]) -> list[Track]:
    """One log for each try has one start, which is a quarter of an hour from many: those of the others tell the clock."""
    pools: dict[tuple[str, bool], list[float]] = {}
    for one in tracks:
        pools.setdefault((one.reader, one.is_zoned), []).extend(one.starts_s.tolist())
    starts = {clock: np.array(pool[:_STARTS]) for clock, pool in pools.items()}
    return [one if len(one.runs) >= _FEW_STARTS else replace(one, starts_s=starts[one.reader, one.is_zoned]) for one in tracks]


# ---------------------------------------------------------------- the same job


def spans_of(runs: Sequence[Joined]) -> FloatArray:
    return np.array([(one.run.start_s, one.end_s) for one in runs], dtype=float).reshape(-1, 2)


def overlaps(one: FloatArray, two: FloatArray) -> FloatArray:
    """How long each of one runs beside each of the other. [s], (len(one), len(two))"""
    start = np.maximum(one[:, None, 0], two[None, :, 0])
    return np.asarray(np.maximum(np.minimum(one[:, None, 1], two[None, :, 1]) - start, 0.0))


def same_job(placed: Placed, track: Track) -> tuple[int | None, Track]:
    """Which job of another source this is, and its runs on that one's clock.

    It is the one with a try of the same id, else the one of the same name, else the one beside which it runs longest.
    """
    best, own = None, track
    most = (False, False, 0.0)
    for at, other in placed.others(track):
        moved = _on_clock_of(other, track)
        is_known = bool(other.ids & track.ids) and moved.is_zoned == other.is_zoned
        shared, touched = _shared_s(moved, other)
        rank = (is_known, other.job == track.job, shared)
        if shared > 0.0 and (is_known or _is_beside(shared, touched, track, other)) and rank > most:
            best, own, most = at, moved, rank
    return best, own


def _is_beside(shared_s: float, touched_s: float, one: Track, two: Track) -> bool:
    """Whether they run at once for most of the shorter one's time, and that is no small part of the longer one's.

    Or of those of its runs that the shorter one runs beside, where that is for most of their time: the log of one try.
    """
    shorter, longer = sorted((one.length_s, two.length_s))
    return shared_s >= shorter / 2.0 and (shared_s >= _LEAST_OVERLAP * longer or shared_s >= touched_s / 2.0)


def _shared_s(one: Track, two: Track) -> tuple[float, float]:
    """How long the two run at once, and how long the runs of the longer one are that the other runs beside. [s]"""
    short, long = (one.spans_s, two.spans_s) if one.length_s <= two.length_s else (two.spans_s, one.spans_s)
    near = long[(long[:, 1] > short[:, 0].min()) & (long[:, 0] < short[:, 1].max())]
    shared = np.zeros(len(near))
    for at in range(0, len(short), 512) if len(near) else ():
        shared += overlaps(short[at : at + 512], near).sum(axis=0)
    return float(shared.sum()), float(np.diff(near)[:, 0][shared > 0.0].sum())


def _on_clock_of(other: Track, track: Track) -> Track:
    """Where one has times with a zone and the other without: moved by the quarter hours by which most starts are apart."""
    if other.is_zoned == track.is_zoned:
        return track
    apart = np.subtract.outer(other.spans_s[:_STARTS, 0], track.starts_s).ravel()
    quarters = np.round(apart / _QUARTER_S)
    is_near = (np.abs(apart - quarters * _QUARTER_S) <= _STARTED_S) & (np.abs(quarters) <= _ZONES)
    if not is_near.any():
        return track
    offsets, counts = np.unique(quarters[is_near], return_counts=True)
    if 2 * counts.max() < min(len(track.starts_s), len(other.runs), _STARTS):
        return track
    shift = float(offsets[counts.argmax()]) * _QUARTER_S
    runs = tuple(replace(one, run=_moved(one.run, shift, other.is_zoned)) for one in track.runs)
    return replace(track, runs=runs, spans_s=track.spans_s + shift)


def _moved(run: Run, shift_s: float, is_zoned: bool) -> Run:
    def later(moment: float | None) -> float | None:
        return None if moment is None else moment + shift_s

    return replace(
        run, start_s=run.start_s + shift_s, end_s=later(run.end_s), eligible_s=later(run.eligible_s),
        seen_until_s=later(run.seen_until_s), first_step_s=later(run.first_step_s), submit_s=later(run.submit_s),
        is_zoned=is_zoned,
    )  # fmt: skip
