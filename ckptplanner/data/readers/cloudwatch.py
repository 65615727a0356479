"""Reads FSx metrics as the AWS CLI gives them: rates of bursts, the load between them, and the space that is free.

    get-metric-data         MetricDataResults[].{Label, Timestamps, Values}: newest first; which statistic it is stands nowhere
    get-metric-statistics   Label, Datapoints[].{Timestamp, Sum, SampleCount, Average, Unit}: in no order

Throughput is Sum / period. There is one sample for each storage target (OST), so Average is that of one target; times
SampleCount it is the Sum. A burst shorter than two periods is blurred over them: its rate is a lower bound.
Source: API models of botocore 1.43.11, AWS documentation of FSx for Lustre metrics; read 2026-11-29.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from ckptplanner.data.evidence import Fact, FileEvidence, Measured, Place
from ckptplanner.data.readers.errors import printable
from ckptplanner.data.readers.json_values import as_object
from ckptplanner.data.readers.rates import day, items, mean, moment_s, number
from ckptplanner.data.readers.source import Head, Opened, Reader
from ckptplanner.text import Text, text
from ckptplanner.units import BYTES, SECONDS, brief

TITLE = text("File system metrics (CloudWatch)")
_WRITE, _READ, _FREE = "DataWriteBytes", "DataReadBytes", "FreeDataStorageCapacity"
_METRICS = (_WRITE, _READ, _FREE)
_OTHER_STATISTICS = ("average", "maximum", "minimum", "samplecount", "avg")
_MOST_POINTS = 200_000
_MOST_SERIES = 50
_CLEAR = 3.0  # a burst is at least so many times the level between bursts
_LEAST_OF_TOP = 0.05
_WHOLE_PERIODS = 3  # from so many on, those between the first and the last are full


@dataclass(frozen=True, slots=True)
class _Series:
    """One metric over time, oldest first; sums over all storage targets."""

    metric: str
    at_s: tuple[float, ...]
    values: tuple[float, ...]
    period_s: float
    where: str


@dataclass(frozen=True, slots=True)
class _Bursts:
    """What stands out of a series, and the level between."""

    rates: tuple[float, ...]  # B/s, one for each burst
    at_s: tuple[float, ...]
    is_bound: bool  # all were too short for a full period
    quiet: float | None  # B/s, None where there are too few periods to say


def _knows(head: Head) -> bool:
    if not head.is_json:
        return False
    if head.has('"MetricDataResults"'):
        return True
    return head.has('"Datapoints"', '"Label"') and any(f'"{name}' in head.text for name in _METRICS)


def _read(opened: Opened) -> FileEvidence:
    root = as_object(opened.json())
    warnings: list[Text] = []
    series = list(_all_series(root, warnings))
    free = [one for one in series if one.metric == _FREE]
    measured = list(_rates(opened, [one for one in series if one.metric != _FREE], warnings))
    if not measured and not free:
        more = f" ({warnings[0]})" if warnings else ""
        raise opened.refuse(
            f"there are no sums of {_WRITE} or {_READ} over at least two periods in it{more}; ask CloudWatch for the "
            "statistic Sum of these metrics"
        )
    if root.get("NextToken"):
        warnings.append(text("There is more than this file holds (NextToken)."))
    if "MetricDataResults" in root and measured:
        warnings.append(text("The statistic is not in this file; the values are taken as sums (Sum)."))
    facts = tuple(
        Fact(None, text("Free space of the file system"), one.values[-1], opened.place(one.where), unit=BYTES) for one in free
    )
    last = max((one.at_s[-1] for one in series), default=None)
    return FileEvidence(
        "cloudwatch",
        TITLE,
        opened.name,
        day(last) or opened.date,
        measured=tuple(measured),
        facts=facts,
        warnings=tuple(dict.fromkeys(warnings)),
    )


def _all_series(root: Mapping[str, Any], warnings: list[Text]) -> Iterator[_Series]:
    if "MetricDataResults" not in root:
        one = _from_statistics(root, warnings)
        if one is not None:
            yield one
        return
    results = items(root.get("MetricDataResults"), _MOST_SERIES)
    if len(items(root.get("MetricDataResults"))) > len(results):
        warnings.append(text("Only the first {count} metrics of this file are used.", count=f"{_MOST_SERIES:,}"))
    for index, raw in enumerate(results):
        result = as_object(raw)
        label = f"{result.get('Label', '')} {result.get('Id', '')}"[:200]
        metric = next((name for name in _METRICS if name in label), None)
        if metric is None:
            continue
        if any(word in label.lower() for word in _OTHER_STATISTICS):
            warnings.append(_no_sum(printable(str(result.get("Label", ""))[:60])))
            continue
        times, values = items(result.get("Timestamps"), _MOST_POINTS), items(result.get("Values"), _MOST_POINTS)
        if len(times) != len(values):
            warnings.append(text("{metric} has not as many values as times and is left out.", metric=metric))
            continue
        if result.get("StatusCode") == "PartialData":
            warnings.append(text("{metric} is there in part only (PartialData).", metric=metric))
        one = _series(metric, zip(times, values, strict=True), None, f"MetricDataResults[{index}].Values", warnings)
        if one is not None:
            yield one


def _no_sum(metric: str) -> Text:
    return text("{metric} is not a sum over all storage targets (OST), so it is no throughput; ask for Sum.", metric=metric)


def _from_statistics(root: Mapping[str, Any], warnings: list[Text]) -> _Series | None:
    label = str(root.get("Label", ""))[:200]
    metric = next((name for name in _METRICS if name in label), None)
    if metric is None:
        return None
    points: list[tuple[object, object]] = []
    for raw in items(root.get("Datapoints"), _MOST_POINTS):
        point = as_object(raw)
        if point.get("Unit", "Bytes") not in ("Bytes", "None"):
            warnings.append(text("{metric} is not in bytes and is left out.", metric=metric))
            return None
        total = number(point.get("Sum"))
        average, samples = number(point.get("Average")), number(point.get("SampleCount"))
        if total is None and average is not None and samples is not None:
            total = average * samples
        if total is not None:
            points.append((point.get("Timestamp"), total))
    if not points and items(root.get("Datapoints")):
        warnings.append(_no_sum(metric))
    return _series(metric, points, number(root.get("Period")), "Datapoints", warnings)


def _series(metric: str, points: Any, period_s: float | None, where: str, warnings: list[Text]) -> _Series | None:
    """The points in time with their period, which the shortest step between them tells."""
    found: dict[float, float] = {}
    for time, value in points:
        at_s, amount = moment_s(time), number(value)
        if at_s is not None and amount is not None:
            found[at_s] = amount
    times = tuple(sorted(found))
    steps = [after - before for before, after in pairwise(times)]
    if metric == _FREE and times:
        return _Series(metric, times, tuple(found[at] for at in times), 0.0, where)
    if not period_s and not steps:
        return None
    period_s = period_s or min(steps)
    if period_s < 1.0:
        warnings.append(text("The times of {metric} are less than a second apart, so it is left out.", metric=metric))
        return None
    if any(abs(step / period_s - round(step / period_s)) > 0.01 for step in steps):
        warnings.append(text("The times of {metric} are not evenly spaced; the shortest step is its period.", metric=metric))
    return _Series(metric, times, tuple(found[at] for at in times), period_s, where)


def _rates(opened: Opened, series: Sequence[_Series], warnings: list[Text]) -> Iterator[Measured]:
    """Rates of bursts by direction, and the load between them of writing and reading together."""
    quiet: dict[str, float] = {}
    place: Place | None = None
    for one in series:
        bursts = _bursts(one)
        if bursts.rates:
            quantity = "writes_at" if one.metric == _WRITE else "reads_at"
            notes = _burst_notes(one, is_bound=bursts.is_bound)
            yield Measured(quantity, bursts.rates, opened.place(one.where), bursts.at_s, notes, bursts.is_bound, is_of_all=True)
        elif len(one.values) >= _WHOLE_PERIODS:
            warnings.append(text("{metric} has no bursts, so it does not tell a rate of saves.", metric=one.metric))
        if bursts.quiet is not None and one.metric not in quiet:
            quiet[one.metric] = bursts.quiet
            place = place or opened.place(one.where)
    if len({one.metric for one in series}) < len(series):
        warnings.append(text("There are several file systems in this file; each is read for itself."))
    if place is not None:
        notes = () if len(quiet) == 2 else (text("Only {metric} is in this file.", metric=next(iter(quiet))),)
        middle = text("The median of the periods between bursts, whoever caused it.")
        yield Measured("shared_load", (math.fsum(quiet.values()),), place, notes=(middle, *notes))


def _burst_notes(series: _Series, *, is_bound: bool) -> tuple[Text, ...]:
    period = brief(series.period_s, SECONDS)
    if is_bound:
        return (
            text(
                "At least this: the bursts are shorter than three periods of {period}, and what is between the first and "
                "the last byte of one is not known.",
                period=period,
            ),
        )
    return (
        text("From the periods of {period} that lie within a burst; the first and the last are in part empty.", period=period),
        text("Counted by the file system: what all that used it moved together, other load included."),
    )


def _bursts(series: _Series) -> _Bursts:
    """The rates of what stands out clearly, and the median of the rest."""
    rates = [value / series.period_s for value in series.values]
    top, base = max(rates), sorted(rates)[len(rates) // 4]
    if len(rates) < _WHOLE_PERIODS or top <= _CLEAR * base:
        level = statistics.median(rates) if len(rates) >= _WHOLE_PERIODS else None
        return _Bursts((), (), False, level)
    limit = max(math.sqrt(base * top), _LEAST_OF_TOP * top)
    runs: list[list[int]] = []
    for index, value in enumerate(rates):
        if value <= limit:
            continue
        follows = bool(runs) and runs[-1][-1] == index - 1
        if follows and series.at_s[index] - series.at_s[index - 1] <= 1.5 * series.period_s:
            runs[-1].append(index)
        else:
            runs.append([index])
    long = [run for run in runs if len(run) >= _WHOLE_PERIODS]
    chosen = [run[1:-1] for run in long] or runs
    between = [value for value in rates if value <= limit]
    return _Bursts(
        tuple(mean([rates[index] for index in run]) for run in chosen),
        tuple(series.at_s[run[0]] for run in chosen),
        not long,
        statistics.median(between) if len(between) >= _WHOLE_PERIODS else None,
    )


READER = Reader("cloudwatch", TITLE, _knows, _read)
