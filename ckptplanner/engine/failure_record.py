"""What the files say about interruptions: which job, which stops count, in how much running time, and M from that.

    runs:     running time of one job, its stops; planned stops, queueing and what still runs are censored
    events:   without runs, from the first to the last: the first is where the watch begins and is not counted
    a count:  of restarts without their times, M = age / count

docs/models.md 22; engine/watches.py says what was watched.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np

from ckptplanner.data import catalog
from ckptplanner.data.evidence import FileEvidence, Restarts
from ckptplanner.engine.evidence import Choices, Combined, FailureRecord, Shape, Stop, Trend
from ckptplanner.engine.failure_stats import (
    LEAST_FOR_TREND,
    LEAST_SHOWN,
    LEAST_TELLING,
    causes_rates_per_s,
    crow_beta,
    laplace_u,
    moving_mtbi,
    mtbi_interval_s,
    record_as_prior,
    two_sided_p,
    variation,
    weibull_fit,
)
from ckptplanner.engine.timelines import Timeline, is_time, node_count
from ckptplanner.engine.watches import Watch, watch_of_events, watch_of_runs
from ckptplanner.frozen import BoolArray, FloatArray
from ckptplanner.text import Text, text
from ckptplanner.units import SECONDS, brief

LEAST_KNOWN = 5  # stops of known cause, before their shares mean anything
LEAST_GAP_S = 0.5  # half of what logs resolve: a run that ended at once
TREND_P = 0.1


def failure_record(line: Timeline, files: Sequence[FileEvidence], choices: Choices, *, nodes: int) -> FailureRecord | None:
    """What these files say about interruptions; None where they say nothing.

    Args:
        line: Their runs, put together.
        files: Those that are not left out.
        choices: What a person says about them.
        nodes: Of the plan, where no file says how many.
    """
    watch = watch_of_runs(line, choices) if line.jobs else watch_of_events(files, choices)
    if watch is None:
        return None if line.jobs else _record_of_count(files, choices)
    return _record(watch, choices, nodes)


# ---------------------------------------------------------------- M and the rest


def _record(watch: Watch, choices: Choices, nodes: int) -> FailureRecord:
    exposure = float(np.diff(watch.spans_s).sum())
    stops = watch.stops
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
        common_rate_per_s=common_rate,
        notes=(*watch.notes, *_words(trend, in_watch, exposure), *shape_words(shape, is_open), *notes),
    )  # fmt: skip


def _running_time(spans_s: FloatArray, at_s: FloatArray) -> FloatArray:
    """Running time from the beginning of the watch to each moment; of several runs at once all of them count. [s]"""
    times = spans_s.T.ravel()
    step = np.repeat((1.0, -1.0), len(spans_s))
    order = np.argsort(times, kind="stable")
    times = times[order] - times[order[0]]
    clock = np.concatenate(([0.0], np.cumsum(np.cumsum(step[order])[:-1] * np.diff(times))))
    return np.asarray(np.interp(at_s - spans_s.min(), times, clock))


def _gaps_of_runs(watch: Watch, stops: Iterable[Stop]) -> tuple[FloatArray, BoolArray]:
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


def _gaps_of_events(watch: Watch, stops: Iterable[Stop]) -> tuple[FloatArray, BoolArray]:
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
    beta = crow_beta(inner, exposure_s)
    if p >= TREND_P:
        return Trend(u, beta, p, "none")
    return Trend(u, beta, p, "more often" if u > 0.0 else "rarer")


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


def _rates(stops: Sequence[Stop], watch: Watch, exposure_s: float) -> tuple[float, float]:
    """The rate of one node and of what stops all; NaN below five known causes, or where most are not known."""
    of_nodes = sum(stop.kind == "node" for stop in stops)
    unknown = sum(stop.kind not in ("node", "process", "cluster", "preempted") for stop in stops)
    known = len(stops) - unknown
    if known < max(LEAST_KNOWN, len(stops) / 2.0):
        return math.nan, math.nan
    return causes_rates_per_s(of_nodes, known - of_nodes, unknown, watch.node_s, exposure_s)


def _combined(
    watch: Watch, count: int, exposure_s: float, prior: str | None, nodes: int
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


def _words(trend: Trend | None, stops: Sequence[Stop], exposure_s: float) -> Iterable[Text]:
    """What is to be known before the numbers are believed."""
    if not stops:
        yield text("No interruption in {time} of running: M is at least what is shown.", time=brief(exposure_s, SECONDS))
    merged = sum(stop.merged - 1 for stop in stops)
    if merged:
        yield text("Lines that belong to the interruption just before them, not counted again: {count}.", count=f"{merged:,}")
    if trend is not None and trend.direction != "none":
        words = {
            "rarer": text("Interruptions come more rarely as time goes on (U = {u}).", u=f"{trend.laplace_u:.2f}"),
            "more often": text("Interruptions come more often as time goes on (U = {u}).", u=f"{trend.laplace_u:.2f}"),
        }
        yield words[trend.direction]
        yield text("Restrict the period to what is still true; the shape mixes better times with worse ones.")


def shape_words(shape: Shape | None, is_open: BoolArray) -> tuple[Text, ...]:
    """What the number of gaps allows to say of their law."""
    seen = int((~is_open).sum())
    if shape is None or not shape.can_tell:
        return (
            text(
                "Gaps seen to their end: {count}, too few to tell their law from another. From {least} on it can be told.",
                count=seen, least=LEAST_TELLING,
            ),
        )  # fmt: skip
    if seen < LEAST_SHOWN:
        return (
            text(
                "{count} gaps tell their law from another, but not its shape: from {least} on a number means something.",
                count=seen, least=LEAST_SHOWN,
            ),
        )  # fmt: skip
    return ()


# ---------------------------------------------------------------- a count without times


def _record_of_count(files: Sequence[FileEvidence], choices: Choices) -> FailureRecord | None:
    """M = age / count of the job that restarted most in its node hours."""
    counts = [one for file in files for one in file.restarts if age_s(one) > 0.0 and one.count >= 0]
    if not counts:
        return None
    counts.sort(key=lambda one: (-age_s(one) * (node_count(one.nodes) or 1), one.job))
    jobs = tuple(dict.fromkeys(one.job for one in counts))
    one = next((one for one in counts if one.job == choices.job), counts[0])
    age = age_s(one)
    low, high = mtbi_interval_s(age, one.count)
    none, open_ = np.zeros(0), np.zeros(0, dtype=bool)
    until = one.since_s + age
    return FailureRecord(
        job=one.job, jobs=jobs, nodes=float(node_count(one.nodes) or math.nan), is_exposure_known=False, stops=(),
        first_s=one.since_s, last_s=until, exposure_s=age, count=one.count, mtbi_s=age / one.count if one.count else math.nan,
        low_s=low, high_s=high, gaps_s=none, is_open=open_, shape=None, trend=None, over_time_s=none, over_time_mtbi_s=none,
        over_time_low_s=none, over_time_high_s=none, combined=None, node_rate_per_s=math.nan, common_rate_per_s=math.nan,
        notes=(count_words(one), *one.notes),
    )  # fmt: skip


def age_s(one: Restarts) -> float:
    """How long the restarts were counted for; 0 where the file does not say. [s]"""
    if one.until_s is None or not is_time(one.until_s) or not is_time(one.since_s):
        return 0.0
    return max(one.until_s - one.since_s, 0.0)


def count_words(one: Restarts) -> Text:
    """The caveat of a count."""
    return text(
        "Restarts without their times: {count} in {time}. The time that restarts and planned stops took is in it, and what "
        "they were for is not known.",
        count=one.count, time=brief(age_s(one), SECONDS),
    )  # fmt: skip
