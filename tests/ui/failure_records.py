"""Records of interruptions for tests of the failures page, put together by hand: a job of 41 days, a system of nine years."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from ckptplanner.data.evidence import COUNTED, Kind, Place
from ckptplanner.engine.evidence import Choices, Combined, FailureRecord, Shape, Stop, Trend
from ckptplanner.text import text
from ckptplanner.units import DAY, HOUR

BEGIN_S = 1_790_812_800.0  # 2026-10-01
SAID = {
    "node": "NODE_FAIL", "process": "FAILED 1:0", "cluster": "lustre: all clients evicted", "preempted": "PREEMPTED",
    "unknown": "exit code 255", "cancelled": "CANCELLED", "limit": "TIMEOUT", "completed": "COMPLETED", "open": "RUNNING",
}  # fmt: skip
KINDS: tuple[Kind, ...] = (
    "node", "process", "node", "limit", "node", "cancelled", "cluster", "process", "node", "node", "unknown", "cancelled",
    "node", "process", "limit", "node", "node", "preempted", "cancelled", "process", "node", "node", "cluster", "node",
    "process", "node", "cancelled", "process", "node", "open",
)  # fmt: skip


def stop(index: int, at_s: float, kind: Kind, counted: frozenset[str] = COUNTED) -> Stop:
    """One stop as a reader of sacct gives it."""
    return Stop(
        key=f"run pretrain {index}", at_s=at_s, kind=kind, said=SAID[kind], place=Place("sacct.txt", f"line {index + 2}"),
        is_counted=kind in counted, is_reclassified=False, merged=3 if index == 6 else 1, job="pretrain-a", nodes=32,
        node_names=("cu19",) if kind == "node" else tuple(f"cu{n}" for n in range(20, 31)) if kind == "cluster" else (),
    )  # fmt: skip


def with_choices(record: FailureRecord, choices: Choices) -> FailureRecord:
    """The stops as an engine would have them under these choices; the numbers stay."""
    said, stops = dict(choices.kinds), []
    for one in record.stops:
        kind = said.get(one.key, one.kind)
        is_other = one.key in said and kind != one.kind
        stops.append(replace(one, kind=kind, is_counted=kind in choices.counted, is_reclassified=is_other))
    if choices.period is not None:
        begin, end = choices.period
        stops = [one for one in stops if begin <= one.at_s <= end]
    return replace(record, stops=tuple(stops))


def job_record() -> FailureRecord:
    """23 interruptions of a job on 32 nodes in 41 days."""
    rng = np.random.default_rng(6)
    at = BEGIN_S + np.sort(rng.uniform(0.5, 40.5, len(KINDS) - 1)) * DAY
    at = np.append(at, BEGIN_S + 41 * DAY)
    stops = tuple(stop(index, float(seconds), kind) for index, (seconds, kind) in enumerate(zip(at, KINDS, strict=True)))
    heads = np.array([one.at_s for one in stops if one.is_counted])
    numbers = np.arange(1, heads.size + 1)
    spread = 1.64 / np.sqrt(numbers)
    mean = (heads - BEGIN_S) / numbers
    gaps = np.append(np.diff(heads, prepend=BEGIN_S), BEGIN_S + 41 * DAY - heads[-1])
    return FailureRecord(
        job="pretrain-a", jobs=("pretrain-a", "ablation"), nodes=32.0, is_exposure_known=True, stops=stops, first_s=BEGIN_S,
        last_s=BEGIN_S + 41 * DAY, exposure_s=41 * DAY, count=23, mtbi_s=42.8 * HOUR, low_s=30.3 * HOUR, high_s=63.1 * HOUR,
        gaps_s=gaps, is_open=np.arange(gaps.size) == gaps.size - 1,
        shape=Shape(0.82, 0.63, 1.04, 38.0 * HOUR, 0.21, can_tell=True), trend=Trend(0.4, 1.05, 0.69, "none"),
        over_time_s=heads, over_time_mtbi_s=mean, over_time_low_s=mean * np.exp(-spread),
        over_time_high_s=mean * np.exp(spread),
        combined=None, node_rate_per_s=math.nan, common_rate_per_s=math.nan,
        notes=(text("Two lines belong to an interruption just before them and are not counted again."),),
    )  # fmt: skip


def with_prior(record: FailureRecord) -> FailureRecord:
    """The same together with a published record."""
    combined = Combined("llama3-unexpected", "Llama 3 405B, unexpected", 55.0 * HOUR, 39.0 * HOUR, 80.0 * HOUR)
    return replace(record, combined=combined)


def large_record(count: int = 7_104) -> FailureRecord:
    """A system of nine years whose interruptions come in bursts."""
    rng = np.random.default_rng(2)
    kinds: tuple[Kind, ...] = ("node", "process", "cluster", "unknown", "cancelled", "limit")
    gaps = rng.weibull(0.7, count)
    at = BEGIN_S - 9 * 365 * DAY + np.cumsum(gaps) / gaps.sum() * 9 * 365 * DAY
    picked = rng.choice(len(kinds), count, p=(0.5, 0.2, 0.02, 0.13, 0.1, 0.05))
    stops = tuple(stop(index, float(at[index]), kinds[picked[index]]) for index in range(count))
    heads = np.array([one.at_s for one in stops if one.is_counted])
    numbers, first = np.arange(1, heads.size + 1), float(at[0])
    mean, spread = (heads - first + 1.0) / numbers, 1.64 / np.sqrt(numbers)
    own = np.maximum(np.diff(heads), 1.0)
    total = float(own.sum())
    return FailureRecord(
        job="", jobs=("2", "20"), nodes=49.0, is_exposure_known=False, stops=stops, first_s=first, last_s=float(heads[-1]),
        exposure_s=total, count=own.size, mtbi_s=total / own.size, low_s=0.98 * total / own.size,
        high_s=1.02 * total / own.size, gaps_s=own, is_open=np.zeros(own.size, dtype=bool),
        shape=Shape(0.7, 0.69, 0.71, 0.79 * total / own.size, 1e-300, can_tell=True),
        trend=Trend(8.0, 1.2, 1e-12, "more often"),
        over_time_s=heads, over_time_mtbi_s=mean, over_time_low_s=mean * np.exp(-spread),
        over_time_high_s=mean * np.exp(spread),
        combined=None, node_rate_per_s=math.nan, common_rate_per_s=math.nan,
        notes=(
            text("Events without the runs around them: time is counted from the first interruption to the last, planned stops "
                 "and repairs included. The first is where the count begins."),
            text("Interruptions come more often as time goes on (U = {u}).", u="8.00"),
        ),
    )  # fmt: skip


def quiet_record() -> FailureRecord:
    """Nothing happened in 10 days, on nobody knows how many nodes."""
    none = np.zeros(0)
    return replace(
        job_record(), job="pretrain-a", jobs=("pretrain-a",), nodes=math.nan, stops=(stop(0, BEGIN_S + 10 * DAY, "open"),),
        last_s=BEGIN_S + 10 * DAY, exposure_s=10 * DAY, count=0, mtbi_s=math.nan, low_s=80.1 * HOUR, high_s=math.inf,
        gaps_s=np.array([10 * DAY]), is_open=np.array([True]), shape=None, trend=None, over_time_s=none, over_time_mtbi_s=none,
        over_time_low_s=none, over_time_high_s=none, notes=(),
    )  # fmt: skip
