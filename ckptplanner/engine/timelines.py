"""The runs of each job from all files together, none of them twice, and the events that tell why they ended.

    sacct:       |------ 1 ------|     |-------- 2 --------|      start, end, why, nodes
    the log:       |--- 1 ---|            |- 2a -||- 2b --|       first step, restarts inside a run
    together:    |------ 1 ------|     |----- 2a --||-- 2b --|
    events:                     x                                 run 1 ended because a node failed

Rule: what overlaps for most of its length in files of different kinds, or on different clocks, is the same run. Start, end and
cause come from the source that knows more about its runs (a scheduler before a log), the first step from the log. A source that
sees several runs within one sees more: its runs stand. Events refine the cause of a run that ended within ten minutes, and add
no stop of their own.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from ckptplanner.data.evidence import Event, FileEvidence, Kind, Run
from ckptplanner.engine.job_names import job_names, key_of
from ckptplanner.engine.tracks import VAGUE, Joined, Placed, Track, overlaps, same_job, spans_of, track_of, with_starts
from ckptplanner.text import Text, text

BEFORE_S, AFTER_S = 600.0, 60.0  # an event this close to the end of a run is its cause
_SAME_START_S = 2.0
_LAST_LINE_S = 6 * 3600.0  # a log that fell silent longer ago than this was not hanging but cut
_KEPT = 4  # timelines: each choice about the same files asks again
_MOST_BACK_S = 86_400.0
_MOST_NODES = 1_000_000  # as failures.mtbi_nodes takes
FAR_S = 1e12  # no time of a file lies further from 1970
_STRONGER: Mapping[Kind, frozenset[Kind]] = {  # what an event's kind may replace
    "process": frozenset({"unknown"}),
    "node": frozenset({"unknown", "process"}),
    "cluster": frozenset({"unknown", "process", "node"}),
}


@dataclass(frozen=True, slots=True)
class Timeline:
    """The runs of each job in order of their start, and what was noticed on the way."""

    jobs: Mapping[str, tuple[Joined, ...]]
    notes: tuple[Text, ...] = ()


class _Same:
    """Files by which they are, not by what is in them: comparing 50,000 runs takes as long as putting them together."""

    def __init__(self, files: Iterable[FileEvidence]) -> None:
        self.files = tuple(files)

    def __hash__(self) -> int:
        return hash(tuple(map(id, self.files)))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and [*map(id, self.files)] == [*map(id, other.files)]


def timeline(files: Iterable[FileEvidence]) -> Timeline:
    """Put the runs of all files together; of files that were put together before it is the same again."""
    return _timeline(_Same(files))


@lru_cache(maxsize=_KEPT)
def _timeline(same: _Same) -> Timeline:
    used = same.files
    notes: list[Text] = []
    tracks = sorted(_tracks(used, notes), key=lambda one: (one.is_from_log, -one.known, -one.length_s, one.reader, one.job))
    placed = Placed()
    for track in tracks:
        at, own = same_job(placed, track)
        if at is None:
            placed.put(track)
            continue
        first = placed.tracks[at]
        if first.is_zoned != track.is_zoned:
            notes.append(_zone_words(first, track, own.runs[0].run.start_s - track.runs[0].run.start_s))
        placed.change(at, _join(first.runs, own.runs))
    jobs: dict[str, tuple[Joined, ...]] = {}
    for track in placed.tracks:
        jobs[track.job] = _in_order((*jobs.get(track.job, ()), *track.runs))
    events = [event for file in used for event in file.events if not event.system and is_time(event.at_s)]
    events.sort(key=lambda event: event.at_s)
    causes = _Causes(tuple(event for event in events if event.kind in _STRONGER))
    return Timeline({job: _keyed(job, runs, causes) for job, runs in jobs.items()}, tuple(dict.fromkeys(notes)))


def _keyed(job: str, runs: Iterable[Joined], causes: _Causes) -> tuple[Joined, ...]:
    """Each run with its cause, and with a name of its own: the job and when it began."""
    seen: Counter[str] = Counter()
    found = []
    for one in runs:
        name = f"run {job} {one.run.start_s:.0f}"
        seen[name] += 1
        key = name if seen[name] == 1 else f"{name} #{seen[name]}"
        run = one.run if one.run.job == job else replace(one.run, job=job)
        found.append(causes.told(replace(one, run=run, key=key)))
    return tuple(found)


# ---------------------------------------------------------------- one source


def _tracks(files: Sequence[FileEvidence], notes: list[Text]) -> list[Track]:
    closed_runs: list[tuple[str, Run]] = []
    for file in files:
        last = max((moment for run in file.runs for moment in _moments(run)), default=-math.inf)
        for run in file.runs:
            closed = _closed(run, last)
            if closed is None:
                notes.append(
                    text("{place}: a run without an end whose last moment is not known is left out.", place=str(run.place))
                )
                continue
            closed_runs.append((file.reader, closed))
    names = job_names(run for _, run in closed_runs)
    found: dict[tuple[str, str, bool], list[Joined]] = {}
    for reader, run in closed_runs:
        found.setdefault((reader, names[key_of(run)], run.is_zoned), []).append(_alone(run))
    return with_starts([track_of(reader, job, _without_repeats(runs)) for (reader, job, _), runs in found.items()])


def _alone(run: Run) -> Joined:
    return Joined(run, is_start_told=not run.is_from_log, is_end_told=not run.is_from_log and run.end_s is not None)


def is_time(moment_s: float | None) -> bool:
    """Whether this can be a moment at all."""
    return moment_s is not None and math.isfinite(moment_s) and abs(moment_s) <= FAR_S


def node_count(nodes: int | None) -> int | None:
    """A number of nodes that can be; None where it is not known."""
    return nodes if nodes is not None and 1 <= nodes <= _MOST_NODES else None


def _moments(run: Run) -> Iterable[float]:
    moments = (run.start_s, run.end_s, run.seen_until_s, run.first_step_s)
    return (moment for moment in moments if moment is not None and is_time(moment))


def _closed(run: Run, last_s: float) -> Run | None:
    """The run with an end or a last moment; None where there is neither, or where time ran backwards."""
    first_step = run.first_step_s if is_time(run.first_step_s) else None
    eligible = run.eligible_s if is_time(run.eligible_s) else None
    submit = run.submit_s if is_time(run.submit_s) else None
    known = [moment for moment in (run.seen_until_s, first_step) if moment is not None and is_time(moment)]
    seen = max(known, default=last_s)
    back = run.back_s if abs(run.back_s) <= _MOST_BACK_S else 0.0
    clean = (first_step, eligible, submit, seen if known else None, node_count(run.nodes), back)
    if clean != (run.first_step_s, run.eligible_s, run.submit_s, run.seen_until_s, run.nodes, run.back_s):
        run = replace(
            run, first_step_s=clean[0], eligible_s=clean[1], submit_s=clean[2], seen_until_s=clean[3], nodes=clean[4],
            back_s=back,
        )  # fmt: skip
    if not is_time(run.start_s):
        return None
    if run.end_s is not None:
        return run if is_time(run.end_s) and run.end_s >= run.start_s else None
    return replace(run, seen_until_s=seen) if is_time(seen) and seen > run.start_s else None


def _in_order(runs: Iterable[Joined]) -> tuple[Joined, ...]:
    return tuple(sorted(runs, key=lambda one: (one.run.start_s, one.end_s)))


def _without_repeats(runs: Iterable[Joined]) -> tuple[Joined, ...]:
    """The same run in two files of one kind is there once: as the file has it that knows its end, or saw it longer."""
    kept: list[Joined] = []
    for one in _in_order(runs):
        twin = _twin(kept, one.run)
        if twin is None:
            kept.append(one)
        elif (one.run.kind != "open", one.end_s) > (kept[twin].run.kind != "open", kept[twin].end_s):
            kept[twin] = one
    return tuple(kept)


def _twin(kept: Sequence[Joined], run: Run) -> int | None:
    """Which of the runs before it, in another file, began at the same moment on the same nodes."""
    for at in range(len(kept) - 1, -1, -1):
        other = kept[at].run
        if run.start_s - other.start_s > _SAME_START_S:
            return None
        is_elsewhere = bool(run.node_names and other.node_names and run.node_names != other.node_names)
        is_same_job = run.job_id == other.job_id
        is_elsewhere = is_elsewhere or (not is_same_job and bool(run.job_id and other.job_id))
        if (run.place.file != other.place.file or (is_same_job and run.job_id)) and not is_elsewhere:
            return at
    return None


# ---------------------------------------------------------------- several sources


def _zone_words(first: Track, second: Track, shift_s: float) -> Text:
    one, two = first.runs[0].run.place.file, second.runs[0].run.place.file
    if shift_s:
        return text(
            "Only one of {one} and {two} has times with a zone: those of {two} are moved by {hours} h.",
            one=one, two=two, hours=f"{shift_s / 3600.0:+g}",
        )  # fmt: skip
    return text("Only one of {one} and {two} has times with a zone: their runs may be hours apart.", one=one, two=two)


def _join(first: Sequence[Joined], second: Sequence[Joined]) -> tuple[Joined, ...]:
    """The runs of two sources of one job; the first knows more about each run."""
    one, two = spans_of(first), spans_of(second)
    mine: dict[int, list[int]] = {}
    theirs: dict[int, list[int]] = {}
    lengths = np.diff(one)[:, 0]
    for b in range(len(second)):
        shared = overlaps(one, two[b : b + 1])[:, 0]
        same = np.flatnonzero((shared > 0.0) & (shared >= np.minimum(lengths, two[b, 1] - two[b, 0]) / 2.0))
        theirs[b] = same.tolist()
        for a in same.tolist():
            mine.setdefault(a, []).append(b)
    joined: list[Joined] = []
    for a, run in enumerate(first):
        matches = [b for b in mine.get(a, ()) if len(theirs[b]) == 1]
        if len(matches) > 1:
            joined += _finer(run, [second[b] for b in matches])
        else:
            joined.append(_filled(run, second[matches[0]]) if matches else run)
    return _in_order([*joined, *(second[b] for b, found in theirs.items() if not found)])


def _filled(one: Joined, two: Joined) -> Joined:
    """One run from both: what the first leaves open comes from the second."""
    a, b = one.run, two.run
    has_end = a.kind in VAGUE and b.kind not in VAGUE and b.end_s is not None and b.end_s >= a.start_s
    run = replace(
        a,
        kind=b.kind if has_end else a.kind,
        said=b.said if has_end else a.said,
        end_s=b.end_s if has_end and a.end_s is None else a.end_s,
        nodes=a.nodes if a.nodes is not None else b.nodes,
        node_names=a.node_names or b.node_names,
        eligible_s=a.eligible_s if a.eligible_s is not None or a.is_zoned != b.is_zoned else b.eligible_s,
        seen_until_s=max((s for s in (a.seen_until_s, b.seen_until_s) if s is not None), default=None),
        job_id=a.job_id or b.job_id,
        back_s=a.back_s or (0.0 if a.is_zoned or b.is_zoned else b.back_s),
        submit_s=a.submit_s if a.submit_s is not None or a.is_zoned != b.is_zoned else b.submit_s,
    )
    one = replace(one, is_end_told=two.is_end_told if has_end and a.end_s is None else one.is_end_told)
    if a.is_zoned != b.is_zoned:
        return replace(one, run=run)
    end = run.end_s
    if run.first_step_s is None and b.first_step_s is not None and run.start_s <= b.first_step_s <= max(one.end_s, two.end_s):
        run = replace(run, first_step_s=b.first_step_s)
    silent = one.last_line_s
    if silent is None and end is not None and b.is_from_log and b.kind in VAGUE and 0.0 <= end - two.end_s <= _LAST_LINE_S:
        silent = two.end_s
    return replace(one, run=run, last_line_s=silent)


def _finer(outer: Joined, inner: Sequence[Joined]) -> list[Joined]:
    """The runs that another source sees within one: they stand, with the start and the end of the one around them."""
    parts = list(inner)
    a, first, last = outer.run, parts[0].run, parts[-1].run
    opened = replace(first, start_s=min(a.start_s, first.start_s), eligible_s=a.eligible_s, submit_s=a.submit_s)
    parts[0] = replace(parts[0], run=opened, is_start_told=outer.is_start_told)
    if a.end_s is not None and a.end_s >= last.start_s and last.kind in VAGUE:
        closed = replace(parts[-1].run, end_s=a.end_s, kind=a.kind, said=a.said)
        silent = parts[-1].end_s if last.is_from_log and parts[-1].end_s < a.end_s else None
        parts[-1] = replace(parts[-1], run=closed, last_line_s=silent, is_end_told=outer.is_end_told)
    return [
        replace(
            one,
            run=replace(
                one.run,
                job=a.job,
                job_id=a.job_id,
                nodes=one.run.nodes if one.run.nodes is not None else a.nodes,
                node_names=one.run.node_names or a.node_names,
            ),
        )
        for one in parts
    ]


# ---------------------------------------------------------------- why they ended


class _Causes:
    """Events in order of time that tell why a run ended."""

    def __init__(self, events: Sequence[Event]) -> None:
        self._events = events
        self._at_s = [event.at_s for event in events]

    def told(self, one: Joined) -> Joined:
        """The run with the cause that the events just before its end tell."""
        run, end = one.run, one.run.end_s
        if end is None or not self._events:
            return one
        first, last = bisect_left(self._at_s, end - BEFORE_S), bisect_left(self._at_s, end + AFTER_S)
        near = [event for event in self._events[first:last] if _concerns(event, run)]
        faults = [event.at_s for event in near if event.kind != "process" and run.start_s <= event.at_s <= end]
        if run.kind == "cancelled":
            return replace(one, is_suspect=bool(faults))
        for event in near:
            if run.kind in _STRONGER[event.kind]:
                run = replace(run, kind=event.kind, said=f"{one.run.said}; {event.said}" if one.run.said else event.said)
        if run.kind in ("node", "cluster") and faults:
            return replace(one, run=run, fault_s=min(faults))
        return one if run is one.run else replace(one, run=run)


def _concerns(event: Event, run: Run) -> bool:
    is_elsewhere = bool(event.node_names and run.node_names) and not set(event.node_names) & set(run.node_names)
    return event.is_zoned == run.is_zoned and not is_elsewhere
