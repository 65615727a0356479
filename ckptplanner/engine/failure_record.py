"""What the files say about interruptions: which job, which stops count, in how much running time, and M from that.

    runs:     running time of one job, its stops; planned stops, queueing and what still runs are censored
    events:   without runs, from the first to the last: the first is where the watch begins and is not counted
    a count:  of restarts without their times, M = age / count

docs/models.md 22. A person's choices (engine/evidence.py) say which job, which kinds count, which period and what is merged.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ckptplanner.data import catalog
from ckptplanner.data.evidence import Event, FileEvidence, Kind, Restarts
from ckptplanner.engine.evidence import Choices, Combined, FailureRecord, Shape, Stop, Trend
from ckptplanner.engine.failure_stats import (
    LEAST_FOR_TREND,
    LEAST_SHOWN,
    LEAST_TELLING,
    causes_rates_per_s,
    crow_beta,
    laplace_u,
    merged_groups,
    moving_mtbi,
    mtbi_interval_s,
    record_as_prior,
    two_sided_p,
    variation,
    weibull_fit,
)
from ckptplanner.engine.timelines import Joined, Timeline
from ckptplanner.frozen import BoolArray, FloatArray
from ckptplanner.text import Text, text
from ckptplanner.units import HOUR, SECONDS, brief

LEAST_KNOWN = 5  # stops of known cause, before their shares mean anything
LEAST_GAP_S = 0.5  # half of what logs resolve: a run that ended at once
TREND_P = 0.1
_NAMES_CAP = 32
_SEVERITY: tuple[Kind, ...] = ("cluster", "node", "preempted", "process", "unknown")
_SHORT_LIVED = "kube"  # readers whose events are kept for an hour, in their ids


@dataclass(frozen=True, slots=True)
class _Watch:
    """What was watched: stops before merging, running time, gaps by the stop that ends them."""

    job: str
    jobs: tuple[str, ...]
    raw: tuple[Stop, ...]
    first_s: float
    last_s: float
    spans_s: FloatArray  # running time, from and to, (n, 2)
    node_s: float  # NaN where no file says how many
    nodes: float
    is_exposure_known: bool
    notes: tuple[Text, ...]
    run_keys: tuple[str, ...] = ()  # of the stop at the end of each span; events have none
    is_cut_left: BoolArray | None = None


def failure_record(line: Timeline, files: Sequence[FileEvidence], choices: Choices, *, nodes: int) -> FailureRecord | None:
    """What these files say about interruptions; None where they say nothing.

    Args:
        line: Their runs, put together.
        files: Those that are not left out.
        choices: What a person says about them.
        nodes: Of the plan, where no file says how many.
    """
    watch = _watch_of_runs(line, choices) if line.jobs else _watch_of_events(files, choices)
    if watch is None:
        return None if line.jobs else _record_of_count(files, choices)
    stops = _stops(watch.raw, choices)
    return _record(watch, stops, choices, nodes)


# ---------------------------------------------------------------- what was watched


def run_key(one: Joined) -> str:
    """The name of the stop at the end of a run."""
    return f"run {one.run.job} {one.run.start_s:.0f}"


def job_of(line: Timeline, choices: Choices) -> str:
    """The job that is looked at: the chosen one, else the one with the most node hours; "" is all."""
    ranked = _ranked(line)
    if choices.job is not None and (choices.job in ranked or not choices.job):
        return choices.job
    return ranked[0] if ranked else ""


def _ranked(line: Timeline) -> tuple[str, ...]:
    def node_s(job: str) -> float:
        return sum((one.end_s - one.run.start_s) * (one.run.nodes or 1) for one in line.jobs[job])

    return tuple(sorted(line.jobs, key=lambda job: (-node_s(job), job)))


def _period(choices: Choices) -> tuple[float, float]:
    return choices.period if choices.period is not None else (-math.inf, math.inf)


def _watch_of_runs(line: Timeline, choices: Choices) -> _Watch | None:
    job = job_of(line, choices)
    begin, end = _period(choices)
    picked = [one for name in ([job] if job else line.jobs) for one in line.jobs[name]]
    runs = sorted((one for one in picked if one.end_s > begin and one.run.start_s < end), key=lambda one: one.end_s)
    if not runs:
        return None
    whole = np.array([(one.run.start_s, one.end_s) for one in runs])
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
                "{count} cancelled runs ended within 10 min of an event of their nodes: hangs that were killed? "
                "Change their kind if so.",
                count=suspects,
            )
        )
    if any(one.run.eligible_s is not None for one in runs):
        notes.append(text("A scheduler's end of a run is when the failure was noticed, not when it happened."))
    return _Watch(
        job=job,
        jobs=_ranked(line),
        raw=tuple(_stop_of_run(one) for one in runs if begin <= one.end_s <= end),
        first_s=float(spans[:, 0].min()),
        last_s=float(spans[:, 1].max()),
        spans_s=spans,
        node_s=nodes * float(lengths.sum()),
        nodes=nodes,
        is_exposure_known=True,
        notes=tuple(notes),
        run_keys=tuple(run_key(one) if one.end_s <= end else "" for one in runs),
        is_cut_left=whole[:, 0] < begin,
    )


def _stop_of_run(one: Joined) -> Stop:
    run = one.run
    return Stop(
        key=run_key(one), at_s=one.end_s, kind=run.kind if run.end_s is not None else "open", said=run.said, place=run.place,
        is_counted=False, is_reclassified=False, merged=1, job=run.job, nodes=run.nodes, node_names=run.node_names[:_NAMES_CAP],
    )  # fmt: skip


def _watch_of_events(files: Sequence[FileEvidence], choices: Choices) -> _Watch | None:
    begin, end = _period(choices)
    events = [event for file in files if _SHORT_LIVED not in file.reader for event in file.events]
    events = sorted((event for event in events if math.isfinite(event.at_s)), key=lambda event: event.at_s)
    jobs = _ranked_systems(events)
    job = choices.job if choices.job is not None and choices.job in ("", *jobs) else (*jobs, "")[0]
    own = [event for event in events if not job or event.system == job]
    raw = _keyed(own)
    heads = [stop.at_s for stop in _stops(raw, choices) if stop.is_counted]
    if len(heads) < 2:
        return None
    first, last = max(begin, heads[0]), min(end, heads[-1])
    if last <= first:
        return None
    counts = [event.nodes for event in own if event.nodes is not None]
    nodes = float(max(counts)) if counts else math.nan
    notes = [
        text(
            "Events without the runs around them: time is counted from the first interruption to the last, planned stops and "
            "repairs included. The first is where the count begins."
        )
    ]
    if jobs and not job and len(jobs) > 1:
        notes.append(text("{count} systems are taken together as one.", count=len(jobs)))
    return _Watch(
        job=job, jobs=jobs, raw=tuple(stop for stop in raw if first <= stop.at_s <= last), first_s=first, last_s=last,
        spans_s=np.array([[first, last]]), node_s=nodes * (last - first), nodes=nodes, is_exposure_known=False,
        notes=tuple(notes),
    )  # fmt: skip


def _ranked_systems(events: Iterable[Event]) -> tuple[str, ...]:
    """The systems that are named, most node hours from first to last event first."""
    first: dict[str, float] = {}
    node_s: dict[str, float] = {}
    for event in events:
        if event.system:
            begin = first.setdefault(event.system, event.at_s)
            node_s[event.system] = max(node_s.get(event.system, 0.0), (event.at_s - begin) * (event.nodes or 1))
    return tuple(sorted(node_s, key=lambda name: (-node_s[name], name)))


def _keyed(events: Sequence[Event]) -> tuple[Stop, ...]:
    """Events as stops, each with a key of its own."""
    seen: dict[str, int] = {}
    stops = []
    for event in events:
        name = f"event {event.system} {event.at_s:.0f} {','.join(event.node_names[:2])} {event.said[:24]}"
        seen[name] = again = seen.get(name, 0) + 1
        stops.append(
            Stop(
                key=name if again == 1 else f"{name} #{again}",
                at_s=event.at_s,
                kind=event.kind,
                said=event.said,
                place=event.place,
                is_counted=False,
                is_reclassified=False,
                merged=1,
                job=event.system,
                nodes=event.nodes,
                node_names=event.node_names[:_NAMES_CAP],
            )  # fmt: skip
        )
    return tuple(stops)


# ---------------------------------------------------------------- which stops count


def _stops(raw: Sequence[Stop], choices: Choices) -> tuple[Stop, ...]:
    """Stops with their kinds as the person has them, those that lie close together merged; in time."""
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
        groups = merged_groups(np.array([stop.at_s for stop in stops]), choices.merge_s)
        edges = [*np.flatnonzero(np.diff(groups, prepend=-1)).tolist(), len(stops)]
        found += [_merged(stops[a:b], said, counted) for a, b in zip(edges, edges[1:], strict=False)]
    return tuple(sorted(found, key=lambda stop: (stop.at_s, stop.key)))


def _merged(stops: Sequence[Stop], said: Mapping[str, Kind], counted: frozenset[str]) -> Stop:
    """One stop of several lines: it keeps the key of the first and the gravest kind, or what the person said."""
    head = stops[0]
    chosen = next((said[stop.key] for stop in stops if stop.key in said), None)
    worst = head if len(stops) == 1 else min(stops, key=lambda stop: _gravity(stop.kind))
    kind = chosen or worst.kind
    names = head.node_names
    if len(stops) > 1:
        names = tuple(dict.fromkeys(name for stop in stops for name in stop.node_names))[:_NAMES_CAP]
    return replace(
        head, kind=kind, said=worst.said, is_counted=kind in counted, merged=len(stops), node_names=names,
        is_reclassified=chosen is not None and chosen != worst.kind,
    )  # fmt: skip


def _gravity(kind: Kind) -> int:
    return _SEVERITY.index(kind) if kind in _SEVERITY else len(_SEVERITY)


# ---------------------------------------------------------------- M and the rest


def _record(watch: _Watch, stops: tuple[Stop, ...], choices: Choices, nodes: int) -> FailureRecord:
    exposure = float(np.diff(watch.spans_s).sum())
    in_watch = [stop for stop in stops if stop.is_counted and (watch.is_exposure_known or stop.at_s > watch.first_s)]
    heads = np.array([stop.at_s for stop in in_watch])
    ages = _running_time(watch.spans_s, heads)
    count = len(heads)
    low, high = mtbi_interval_s(exposure, count)
    gaps, is_open = _gaps_of_runs(watch, stops) if watch.run_keys else _gaps_of_events(watch, stops)
    trend = _trend(ages, exposure)
    shape = _shape(gaps, is_open)
    moving = moving_mtbi(ages, exposure)
    node_rate, common_rate = _rates(in_watch, watch, exposure)
    combined, notes = _combined(watch, count, exposure, choices.prior, nodes)
    return FailureRecord(
        job=watch.job, jobs=watch.jobs, nodes=watch.nodes, is_exposure_known=watch.is_exposure_known, stops=stops,
        first_s=watch.first_s, last_s=watch.last_s, exposure_s=exposure, count=count,
        mtbi_s=exposure / count if count else math.nan, low_s=low, high_s=high, gaps_s=gaps, is_open=is_open, shape=shape,
        trend=trend, over_time_s=np.append(heads, watch.last_s)[moving.index], over_time_mtbi_s=moving.mtbi_s,
        over_time_low_s=moving.low_s, over_time_high_s=moving.high_s, combined=combined, node_rate_per_s=node_rate,
        common_rate_per_s=common_rate, notes=(*watch.notes, *_words(trend, shape, gaps, is_open, in_watch, exposure), *notes),
    )  # fmt: skip


def _running_time(spans_s: FloatArray, at_s: FloatArray) -> FloatArray:
    """Running time from the beginning of the watch to each moment; of several runs at once all of them count. [s]"""
    times = spans_s.T.ravel()
    step = np.repeat((1.0, -1.0), len(spans_s))
    order = np.argsort(times, kind="stable")
    times = times[order] - times[order[0]]
    clock = np.concatenate(([0.0], np.cumsum(np.cumsum(step[order])[:-1] * np.diff(times))))
    return np.interp(at_s - spans_s.min(), times, clock)


def _gaps_of_runs(watch: _Watch, stops: Iterable[Stop]) -> tuple[FloatArray, BoolArray]:
    """One gap for each run that was seen from its start: open where it ended in another way than by an interruption.

    A run that belongs to the interruption before it has none: it was over at once.
    """
    counted = {stop.key for stop in stops if stop.is_counted}
    alone = counted | {stop.key for stop in stops if not stop.is_counted} | {""}
    lengths = np.diff(watch.spans_s)[:, 0]
    is_cut = watch.is_cut_left if watch.is_cut_left is not None else np.zeros(len(lengths), dtype=bool)
    is_kept = np.array([key in alone for key in watch.run_keys]) & ~is_cut
    is_open = np.array([key not in counted for key in watch.run_keys])
    is_kept &= (lengths > 0.0) | ~is_open
    return np.maximum(lengths[is_kept], LEAST_GAP_S), is_open[is_kept]


def _gaps_of_events(watch: _Watch, stops: Iterable[Stop]) -> tuple[FloatArray, BoolArray]:
    """From one interruption to the next; the time after the last is cut off."""
    at = np.array([stop.at_s for stop in stops if stop.is_counted])
    gaps, rest = np.diff(at), watch.last_s - (at[-1] if len(at) else watch.last_s)
    if rest > 0.0:
        gaps = np.append(gaps, rest)
    is_open = np.zeros(len(gaps), dtype=bool)
    is_open[len(gaps) - int(rest > 0.0) :] = True
    return gaps, is_open


def _trend(ages_s: FloatArray, exposure_s: float) -> Trend | None:
    """Of the interruptions inside the watch: one that ends it is where the watch ends, no event of it."""
    inner = ages_s[(ages_s > 0.0) & (ages_s < exposure_s)]
    if len(inner) < LEAST_FOR_TREND:
        return None
    u = laplace_u(inner, exposure_s)
    p = two_sided_p(u)
    direction = "none" if p >= TREND_P else "more often" if u > 0.0 else "rarer"
    return Trend(laplace_u=u, crow_beta=crow_beta(inner, exposure_s), p_value=p, direction=direction)  # type: ignore[arg-type]


def _shape(gaps_s: FloatArray, is_open: BoolArray) -> Shape | None:
    if (~is_open).sum() < 2:
        return None
    fit = weibull_fit(gaps_s, is_open)
    if fit is None:
        return None
    return Shape(
        shape=fit.shape, low=fit.low, high=fit.high, scale_s=fit.scale_s, p_exponential=fit.p_exponential,
        can_tell=int((~is_open).sum()) >= LEAST_TELLING, cv=variation(gaps_s[~is_open]),
    )  # fmt: skip


def _rates(stops: Sequence[Stop], watch: _Watch, exposure_s: float) -> tuple[float, float]:
    """The rate of one node and of what stops all; NaN below five known causes, or where most are not known."""
    of_nodes = sum(stop.kind == "node" for stop in stops)
    unknown = sum(stop.kind not in ("node", "process", "cluster", "preempted") for stop in stops)
    known = len(stops) - unknown
    if known < max(LEAST_KNOWN, len(stops) / 2.0):
        return math.nan, math.nan
    return causes_rates_per_s(of_nodes, known - of_nodes, unknown, watch.node_s, exposure_s)


def _combined(
    watch: _Watch, count: int, exposure_s: float, prior: str | None, nodes: int
) -> tuple[Combined | None, tuple[Text, ...]]:
    """The count together with a published record, at the nodes of the count."""
    if prior is None:
        return None, ()
    try:
        row = catalog.interruption_record(prior)
    except catalog.CatalogError as error:
        return None, (text("{what}", what=str(error)),)
    at = watch.nodes if math.isfinite(watch.nodes) else float(nodes)
    rate = record_as_prior(row.mtbi_s, row.nodes).after(count, at * exposure_s)
    low, high = rate.interval_s(at)
    return Combined(record=row.id, name=row.name, mtbi_s=rate.mtbi_s(at), low_s=low, high_s=high), ()


def _words(
    trend: Trend | None, shape: Shape | None, gaps_s: FloatArray, is_open: BoolArray, stops: Sequence[Stop], exposure_s: float
) -> Iterable[Text]:
    """What is to be known before the numbers are believed."""
    if not stops:
        yield text("No interruption in {time} of running: M is at least what is shown.", time=brief(exposure_s, SECONDS))
    merged = sum(stop.merged - 1 for stop in stops)
    if merged:
        yield text("{count} lines belong to an interruption just before them and are not counted again.", count=f"{merged:,}")
    if trend is not None and trend.direction != "none":
        words = {
            "rarer": text("Interruptions come more rarely as time goes on (U = {u}).", u=f"{trend.laplace_u:.2f}"),
            "more often": text("Interruptions come more often as time goes on (U = {u}).", u=f"{trend.laplace_u:.2f}"),
        }
        yield words[trend.direction]
        yield text("Restrict the period to what is still true; the shape mixes better times with worse ones.")
    seen = int((~is_open).sum())
    if shape is None or not shape.can_tell:
        yield text(
            "{count} gaps are too few to tell their law from another: from {least} on it can be told.",
            count=seen, least=LEAST_TELLING,
        )  # fmt: skip
    elif seen < LEAST_SHOWN:
        yield text(
            "{count} gaps tell the law, but not its shape: from {least} on a number means something.",
            count=seen, least=LEAST_SHOWN,
        )  # fmt: skip


# ---------------------------------------------------------------- a count without times


def _record_of_count(files: Sequence[FileEvidence], choices: Choices) -> FailureRecord | None:
    """M = age / count of the job that restarted most in its node hours."""
    counts = [one for file in files for one in file.restarts if age_s(one) > 0.0 and one.count >= 0]
    if not counts:
        return None
    counts.sort(key=lambda one: (-age_s(one) * (one.nodes or 1), one.job))
    jobs = tuple(dict.fromkeys(one.job for one in counts))
    one = next((one for one in counts if one.job == choices.job), counts[0])
    age = age_s(one)
    low, high = mtbi_interval_s(age, one.count)
    none, open_ = np.zeros(0), np.zeros(0, dtype=bool)
    until = one.since_s + age
    return FailureRecord(
        job=one.job, jobs=jobs, nodes=float(one.nodes) if one.nodes else math.nan, is_exposure_known=False, stops=(),
        first_s=one.since_s, last_s=until, exposure_s=age, count=one.count, mtbi_s=age / one.count if one.count else math.nan,
        low_s=low, high_s=high, gaps_s=none, is_open=open_, shape=None, trend=None, over_time_s=none, over_time_mtbi_s=none,
        over_time_low_s=none, over_time_high_s=none, combined=None, node_rate_per_s=math.nan, common_rate_per_s=math.nan,
        notes=(count_words(one), *one.notes),
    )  # fmt: skip


def age_s(one: Restarts) -> float:
    """How long the restarts were counted for; 0 where the file does not say. [s]"""
    age = one.until_s - one.since_s if one.until_s is not None else 0.0
    return age if math.isfinite(age) and age > 0.0 else 0.0


def count_words(one: Restarts) -> Text:
    """The caveat of a count."""
    return text(
        "A count of {count} restarts in {time} without their times: restarts and planned stops are in it, and what the "
        "restarts were for is not known.",
        count=one.count, time=brief(age_s(one), SECONDS) if age_s(one) < 10_000 * HOUR else f"{age_s(one) / HOUR:,.0f} h",
    )  # fmt: skip
