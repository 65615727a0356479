"""What was watched: the running time of a job, and its stops with those that belong together merged.

    runs:     spans of running time, a stop at the end of each; a period cuts them on both sides
    events:   one span from the first interruption to the last; the first is where the watch begins

docs/models.md 22. A person's choices (engine/evidence.py) say which job, which kinds count, which period and what is merged.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from ckptplanner.data.evidence import Event, FileEvidence, Kind
from ckptplanner.engine.evidence import Choices, Stop
from ckptplanner.engine.failure_stats import merged_groups
from ckptplanner.engine.timelines import Timeline, is_time, node_count
from ckptplanner.engine.tracks import Joined
from ckptplanner.frozen import BoolArray, FloatArray
from ckptplanner.text import Text, text

_NAMES_CAP = 32
_SEVERITY: tuple[Kind, ...] = ("cluster", "node", "preempted", "process", "unknown")


@dataclass(frozen=True, slots=True)
class Watch:
    """What was watched: stops, running time, gaps by the stop that ends them."""

    job: str
    jobs: tuple[str, ...]
    stops: tuple[Stop, ...]  # merged, in time
    first_s: float
    last_s: float
    spans_s: FloatArray  # running time, from and to, (n, 2)
    node_s: float  # NaN where no file says how many
    nodes: float
    is_exposure_known: bool
    notes: tuple[Text, ...]
    run_keys: tuple[str, ...] = ()  # of the stop at the end of each span; events have none
    is_cut_left: BoolArray | None = None


def job_of(line: Timeline, choices: Choices) -> str:
    """The job that is looked at: the chosen one, else the one with the most node hours; "" is all."""
    ranked = _ranked(line)
    if choices.job is not None and (choices.job in ranked or not choices.job):
        return choices.job
    return ranked[0] if ranked else ""


def _ranked(line: Timeline) -> tuple[str, ...]:
    def node_s(job: str) -> float:
        return sum((one.end_s - one.running_from_s) * (one.run.nodes or 1) for one in line.jobs[job])

    return tuple(sorted(line.jobs, key=lambda job: (-node_s(job), job)))


def _period(choices: Choices) -> tuple[float, float]:
    return choices.period if choices.period is not None else (-math.inf, math.inf)


def watch_of_runs(line: Timeline, choices: Choices) -> Watch | None:
    job = job_of(line, choices)
    begin, end = _period(choices)
    picked = [one for name in ([job] if job else line.jobs) for one in line.jobs[name]]
    runs = sorted((one for one in picked if one.end_s > begin and one.run.start_s < end), key=lambda one: one.end_s)
    if not runs:
        return None
    whole = np.array([(one.running_from_s, one.end_s) for one in runs])
    spans = np.clip(whole, begin, end)
    lengths = np.diff(spans)[:, 0]
    if lengths.sum() <= 0.0:
        return None
    counts = np.array([math.nan if one.run.nodes is None else one.run.nodes for one in runs], dtype=float)
    is_said = np.isfinite(counts)
    share = lengths[is_said].sum()
    nodes = float((lengths * counts)[is_said].sum() / share) if share > 0.0 else math.nan
    notes = [*line.notes]
    if choices.job and job != choices.job:
        notes.append(text("There is no job {job} in these files.", job=choices.job))
    suspects = sum(one.is_suspect for one in runs)
    if suspects:
        notes.append(
            text(
                "Cancelled within 10 min of an event of their nodes: {count}. Hangs that were killed? Change their kind if so.",
                count=suspects,
            )
        )
    if any(one.run.eligible_s is not None for one in runs):
        notes.append(text("A scheduler's end of a run is when the failure was noticed, not when it happened."))
    return Watch(
        job=job,
        jobs=_ranked(line),
        stops=_stops([_stop_of_run(one) for one in runs if begin <= one.end_s <= end], choices),
        first_s=float(spans[:, 0].min()),
        last_s=float(spans[:, 1].max()),
        spans_s=spans,
        node_s=nodes * float(lengths.sum()),
        nodes=nodes,
        is_exposure_known=True,
        notes=tuple(notes),
        run_keys=tuple(one.key if one.end_s <= end else "" for one in runs),
        is_cut_left=whole[:, 0] < begin,
    )


def _stop_of_run(one: Joined) -> Stop:
    run = one.run
    return Stop(
        key=one.key, at_s=one.end_s, kind=run.kind if run.end_s is not None else "open", said=run.said, place=run.place,
        is_counted=False, is_reclassified=False, merged=1, job=run.job, nodes=run.nodes, node_names=run.node_names[:_NAMES_CAP],
    )  # fmt: skip


def watch_of_events(files: Sequence[FileEvidence], choices: Choices) -> Watch | None:
    begin, end = _period(choices)
    systems: dict[str, list[Event]] = {}
    for file in files:
        for event in file.events:
            if is_time(event.at_s) and not event.is_partial:
                systems.setdefault(event.system, []).append(event)
    jobs = _ranked_systems(systems)
    job = choices.job if choices.job is not None and choices.job in ("", *jobs) else (*jobs, "")[0]
    picked = systems[job] if job else [event for some in systems.values() for event in some]
    own = sorted(picked, key=lambda event: event.at_s)
    stops = _stops(_keyed(own), choices)
    heads = [stop.at_s for stop in stops if stop.is_counted]
    if len(heads) < 2:
        return None
    first, last = max(begin, heads[0]), min(end, heads[-1])
    if last <= first:
        return None
    counts = [count for count in (node_count(event.nodes) for event in own) if count is not None]
    nodes = float(max(counts)) if counts else math.nan
    notes = [
        text(
            "Events without the runs around them: time is counted from the first interruption to the last, planned stops and "
            "repairs included. The first is where the count begins."
        )
    ]
    if jobs and not job and len(jobs) > 1:
        notes.append(text("{count} systems are taken together as one.", count=len(jobs)))
    return Watch(
        job=job, jobs=jobs, stops=tuple(stop for stop in stops if begin <= stop.at_s <= end), first_s=first,
        last_s=last, spans_s=np.array([[first, last]]), node_s=nodes * (last - first), nodes=nodes, is_exposure_known=False,
        notes=tuple(notes),
    )  # fmt: skip


def _ranked_systems(systems: Mapping[str, Sequence[Event]]) -> tuple[str, ...]:
    """Those that have a name, most node hours from their first to their last event first."""

    def node_s(name: str) -> float:
        times = [event.at_s for event in systems[name]]
        return (max(times) - min(times)) * max(node_count(event.nodes) or 1 for event in systems[name])

    return tuple(sorted(filter(None, systems), key=lambda name: (-node_s(name), name)))


def _keyed(events: Sequence[Event]) -> tuple[Stop, ...]:
    """Events as stops, each with a key of its own."""
    seen: dict[str, int] = {}
    stops = []
    for event in events:
        name = f"event {event.system} {event.at_s:.0f} {','.join(event.node_names[:2])} {event.said[:24]}"
        seen[name] = again = seen.get(name, 0) + 1
        key = name if again == 1 else f"{name} #{again}"
        stops.append(_stop_of_event(event, key))
    return tuple(stops)


def _stop_of_event(event: Event, key: str) -> Stop:
    return Stop(
        key=key, at_s=event.at_s, kind=event.kind, said=event.said, place=event.place, is_counted=False, is_reclassified=False,
        merged=1, job=event.system, nodes=event.nodes, node_names=event.node_names[:_NAMES_CAP],
    )  # fmt: skip


# ---------------------------------------------------------------- which stops count


def _stops(raw: Sequence[Stop], choices: Choices) -> tuple[Stop, ...]:
    """Stops with their kinds as the person has them, those that lie close together merged; in time.

    What a person says holds for that stop, before anything is merged; said of the first of some that belong together, for all.
    """
    said: Mapping[str, Kind] = dict(choices.kinds)
    counted = choices.counted
    by_job: dict[str, list[Stop]] = {}
    others = []
    for stop in raw:
        if stop.kind in counted or said.get(stop.key) in counted:
            by_job.setdefault(stop.job, []).append(stop)
        else:
            others.append(_merged((stop,), said, counted))
    found = list(others)
    for stops in by_job.values():
        stops.sort(key=lambda stop: stop.at_s)
        groups = _groups(stops, choices.merge_s)
        alone = [stop for group in groups for stop in group[1:] if said.get(stop.key, stop.kind) not in counted]
        if alone:
            out = {stop.key for stop in alone}
            found += [_merged((stop,), said, counted) for stop in alone]
            groups = _groups([stop for stop in stops if stop.key not in out], choices.merge_s)
        found += [_merged(group, said, counted) for group in groups]
    return tuple(sorted(found, key=lambda stop: (stop.at_s, stop.key)))


def _groups(stops: Sequence[Stop], merge_s: float) -> list[Sequence[Stop]]:
    """Stops in time, those together that belong together."""
    if len(stops) == 1:
        return [stops]
    groups = merged_groups(np.array([stop.at_s for stop in stops]), merge_s)
    edges = [*np.flatnonzero(np.diff(groups, prepend=-1)).tolist(), len(stops)]
    return [stops[a:b] for a, b in pairwise(edges)]


def _merged(stops: Sequence[Stop], said: Mapping[str, Kind], counted: frozenset[str]) -> Stop:
    """One stop of several lines: the key of the first, and what the person said of that, else the gravest kind."""
    head = stops[0]
    if len(stops) == 1:
        kind = said.get(head.key, head.kind)
        return replace(head, kind=kind, is_counted=kind in counted, is_reclassified=kind != head.kind)
    kinds = [said.get(stop.key, stop.kind) for stop in stops]
    gravest = min(range(len(stops)), key=lambda at: _gravity(kinds[at]))
    worst = min(stops, key=lambda stop: _gravity(stop.kind))
    kind = said.get(head.key, kinds[gravest])
    names = tuple(dict.fromkeys(name for stop in stops for name in stop.node_names))[:_NAMES_CAP]
    return replace(
        head, kind=kind, said=worst.said, is_counted=kind in counted, merged=len(stops), node_names=names,
        is_reclassified=kind != worst.kind and any(stop.key in said for stop in stops),
    )  # fmt: skip


def _gravity(kind: Kind) -> int:
    return _SEVERITY.index(kind) if kind in _SEVERITY else len(_SEVERITY)
