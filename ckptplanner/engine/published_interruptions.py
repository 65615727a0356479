"""The planner beside published interruptions, effective training times and intervals."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from ckptplanner.data import catalog
from ckptplanner.data.records import InterruptionRecord
from ckptplanner.engine import interruptions, interval
from ckptplanner.engine.published_sums import ASSUMED, INSTANT, Compared, Input, bytes_per_param, found, plan_with, time_words
from ckptplanner.engine.scenario import CustomStorage
from ckptplanner.text import Text, text
from ckptplanner.units import (
    DAY,
    HOUR,
    MINUTE,
    WEEK,
    grouped,
    percent,
    significant,
)

_LLAMA = "Llama 3, arXiv 2407.21783"
_META = "Kokolis et al., arXiv 2410.21680"
_MEGASCALE = "Jiang et al., arXiv 2402.15627"
_BLOOM = "BigScience training chronicles"


# ---------------------------------------------------------------- how often a run is interrupted


def _events(nodes: int, period_s: float, reported: float, of: str, why: Text, record: str = "llama3-all") -> Compared:
    """How many events another record means for these nodes and this time."""
    row: InterruptionRecord = catalog.interruption_record(record)
    mtbi_s = interruptions.scaled_mtbi_s(row.mtbi_s, row.nodes, nodes)
    count = period_s / mtbi_s
    return Compared(
        text(
            "{count}, one in {mtbi}, scaled from {record}", count=significant(count), mtbi=time_words(mtbi_s), record=row.name
        ),
        count,
        reported,
        why,
        (
            (text("nodes"), grouped(nodes), of),
            (text("time"), f"{period_s / DAY:g} d", of),
            (text("M of the other record"), f"{time_words(row.mtbi_s)}, {grouped(row.nodes)} nodes", row.source),
        ),
    )


def _mean_time(nodes: int, reported_s: float, of: str, why: Text) -> Compared:
    """M by the record of Llama 3 at these nodes."""
    row = catalog.interruption_record("llama3-all")
    mtbi_s = interruptions.scaled_mtbi_s(row.mtbi_s, row.nodes, nodes)
    return Compared(
        text("{mtbi}, scaled from {record}", mtbi=time_words(mtbi_s), record=row.name),
        mtbi_s,
        reported_s,
        why,
        (
            (text("nodes"), grouped(nodes), of),
            (text("M of the other record"), f"{time_words(row.mtbi_s)}, {grouped(row.nodes)} nodes", row.source),
        ),
    )


# ---------------------------------------------------------------- effective training time and intervals


def _effective(values: Mapping[str, Any], why: Text, inputs: tuple[Input, ...]) -> Compared:
    """1 less the exact waste of a plan, against "more than 90 %"."""
    schedule, waste = found(plan_with(values))
    assert waste.exact_fraction is not None
    return Compared(
        text("{share} at T = {interval}", share=percent(1.0 - waste.exact_fraction), interval=time_words(schedule.interval_s)),
        1.0 - waste.exact_fraction,
        0.9,
        why,
        inputs,
    )


_LLAMA_RUN: Mapping[str, Any] = {
    "workload.total_params": 405.853e9, "workload.nodes": 2048, "failures.mtbi_nodes": 2048, "failures.mtbi_s": 54 * DAY / 466,
    "storage.write_s": 60.0,
    "storage.custom": CustomStorage(write_bytes_per_s=2e12, read_bytes_per_s=2e12, usable_bytes=240e15),
}  # fmt: skip


def _llama_effective() -> Compared:
    return _effective(
        _LLAMA_RUN,
        text("They agree as far as 'more than 90 %' tells. Restarts are most of it, and their length is assumed here."),
        (
            (text("M"), time_words(54 * DAY / 466), f"{_LLAMA}: 466 in 54 days"),
            (text("parameters"), "405.853 B", "config.json in NVIDIA aiconfigurator-core 0.12.0"),
            bytes_per_param("megatron-14"),
            (text("storage writes and reads"), "2 TB/s", _LLAMA),
            (text("stop of a save"), "5 s", ASSUMED),
            (text("write behind it"), "60 s", ASSUMED),
            (text("restart before the read"), "10 min", ASSUMED),
        ),
    )


_MEGASCALE_RUN: Mapping[str, Any] = {
    "workload.total_params": 175e9, "workload.nodes": 1250, "failures.mtbi_nodes": 1250, "failures.mtbi_s": 21 * DAY / 100,
    "storage.custom": INSTANT,
}  # fmt: skip
_MEGASCALE_INPUTS: tuple[Input, ...] = (
    (text("M"), "5 h 2 min", f"{_MEGASCALE}: over 100 restarts in several weeks, taken as three"),
    (text("stop of a save"), "5 s", f"{_MEGASCALE}: several seconds; 5 is assumed"),
    (text("write behind it"), "5 min", ASSUMED),
    (text("restart"), "10 min", ASSUMED),
)


def _megascale_effective() -> Compared:
    why = text("They agree as far as 'more than 90 %' tells; the write and the restart are assumed.")
    return _effective(_MEGASCALE_RUN, why, _MEGASCALE_INPUTS)


def _megascale_catch_up() -> Compared:
    schedule, waste = found(plan_with(_MEGASCALE_RUN))
    return Compared(
        text(
            "{worst} at worst and {mean} on average at T = {interval}",
            worst=time_words(waste.worst_rework_s), mean=time_words(waste.mean_rework_s),
            interval=time_words(schedule.interval_s),
        ),
        waste.worst_rework_s,
        15 * MINUTE,
        text("T + t at the best interval lies within the reported time; their own interval is not given."),
        _MEGASCALE_INPUTS,
    )  # fmt: skip


_META_STOP, _META_GAP, _META_RESTART, _META_M = 5 * MINUTE, HOUR, 12.5 * MINUTE, 7.9 * HOUR
_META_INPUTS: tuple[Input, ...] = (
    (text("M of a 1,024-GPU job"), "7.9 h", _META),
    (text("write, which stops training"), "5 min", _META),
    (text("training between saves"), "1 h", _META),
    (text("restart"), "12 min 30 s", f"{_META}: 5 to 20 min; the middle is taken"),
)


def published_ettr(blocking_s: float, gap_s: float, restart_s: float, mtbi_s: float) -> float:
    """Return Meta's estimate of the effective training time: (1 - (u + dT/2)/M) / (1 + w/dT). [1]

    The failures of all nodes together come once in M; u is the restart, w the write, dT the training between saves. A
    cross-check beside E1, not what decisions are made by. Source: Kokolis et al. 2024, arXiv 2410.21680.
    """
    return (1.0 - (restart_s + gap_s / 2.0) / mtbi_s) / (1.0 + blocking_s / gap_s)


def _meta_write() -> Compared:
    every = np.array(_META_GAP + _META_STOP)
    stop = np.array(_META_STOP)
    exact = 1.0 - float(
        interval.exact_waste_fraction(
            interval_s=every, lost_s=stop, background_s=np.array(0.0), period_s=every, restart_s=np.array(_META_RESTART),
            downtime_s=0.0, mtbi_s=_META_M,
        )
    )  # fmt: skip
    theirs = published_ettr(_META_STOP, _META_GAP, _META_RESTART, _META_M)
    return Compared(
        text("effective {exact}, where their formula gives {theirs}", exact=percent(exact), theirs=percent(theirs)),
        None,  # what is reported here goes into both: there is no ratio of one quantity to itself
        None,
        text(
            "What the reported times mean. Theirs is of first order; the exact formula counts cut-short saves and restarts too."
        ),
        _META_INPUTS,
    )


def _best_interval(stop_s: float, mtbi_s: float, reported_s: float, why: Text, inputs: tuple[Input, ...]) -> Compared:
    """T* by E2 against an interval that was used."""
    best = float(interval.optimal_interval_s(np.array(stop_s), mtbi_s))
    over = reported_s / best
    least = stop_s / best + best / 2.0 / mtbi_s  # docs/models.md 3.1: only the part that depends on T
    used = least * (over + 1.0 / over) / 2.0
    return Compared(
        text(
            "T* = {best}; the part of the waste that depends on T is {used} of the time with theirs, {least} at its least",
            best=time_words(best),
            used=percent(used),
            least=percent(least),
        ),
        best,
        reported_s,
        why,
        inputs,
    )


def _meta_interval() -> Compared:
    why = text("Near the best for jobs of this size.")
    return _best_interval(_META_STOP, _META_M, _META_GAP + _META_STOP, why, _META_INPUTS[:3])


def _bloom_interval() -> Compared:
    return _best_interval(
        40.0,
        WEEK / 1.5,
        3 * HOUR,
        text(
            "The interval was a round 100 iterations, nearly twice T*: waste is flat there, and that costs 0.3 % of the time."
        ),
        (
            (text("stop of a save"), "40 s", _BLOOM),
            (
                text("M"),
                time_words(WEEK / 1.5),
                "BigScience, The Technology Behind BLOOM Training: 1 to 2 GPU failures a week; 1.5 taken",
            ),
        ),
    )


_SITES = text("Sites count unlike events and differ by more than ten times; a record of one's own settles it.")
_ROUND = text("Close, though both figures of the report are round.")

INTERRUPTIONS: Mapping[str, Callable[[], Compared]] = {
    "bloom-interval": _bloom_interval,
    "bloom-failures": partial(
        _events, 48, WEEK, 1.5, "BigScience, The Technology Behind BLOOM Training",
        text("Within what was reported, 1 to 2 a week; the middle is compared."),
    ),
    "opt-restarts": partial(_events, 124, 60 * DAY, 105.0, "Zhang et al., arXiv 2205.01068", _SITES),
    "opt-manual": partial(
        _events, 124, 60 * DAY, 35.0, "Zhang et al., arXiv 2205.01068",
        text("Restarts by hand for hardware alone come close to another site's interruptions of every kind."),
    ),
    "llama3-interruptions": partial(
        _events, 2048, 54 * DAY, 466.0, _LLAMA,
        text("Counted on clusters and years apart: the older record of the same company, of node hardware alone."),
        "meta-rsc-nodes",
    ),
    "llama3-effective": _llama_effective,
    "meta-write": _meta_write,
    "meta-interval": _meta_interval,
    "meta-mttf": partial(_mean_time, 128, 7.9 * HOUR, _META, _SITES),
    "megascale-restarts": partial(_events, 1250, 21 * DAY, 100.0, _MEGASCALE, _ROUND),
    "megascale-effective": _megascale_effective,
    "megascale-catch-up": _megascale_catch_up,
    "acme-failures": partial(
        _events, 588, 182.5 * DAY, 103.0, "Hu et al., NSDI 2024",
        text("Acme counts hardware failures over whole clusters, not the interruptions of one job on all nodes."),
    ),
    "vast-mtti": partial(
        _mean_time, 2000, 150 * MINUTE, "VAST Data blog",
        text("Close: 466 interruptions in 54 days on the same model and nearly as many GPUs."),
    ),
}  # fmt: skip
