"""Reads the summary.json of DLIO, which MLPerf Storage runs: saves and loads of a checkpoint. What it calls GB is GiB.

    {"num_accelerators", "num_hosts", "metric": {"save_checkpoint_io_mean_GB_per_second", "..._duration_mean_seconds", ..}}

DLIO divides by 1024^3, so its numbers are times 1.0737 in GB. `checkpoint_size_GB` is that of all ranks together.
Source: DLIO e1919d7, statscounter.py; mlpstorage caa90c9; read 2026-11-29.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ckptplanner.data.evidence import Fact, FileEvidence, Measured
from ckptplanner.data.readers.json_values import as_object
from ckptplanner.data.readers.rates import Target, day, moment_s, number, rate, whole
from ckptplanner.data.readers.source import Head, Opened, Reader
from ckptplanner.text import Text, text
from ckptplanner.units import BYTES, BYTES_PER_S, GIB, SECONDS, Unit, brief

TITLE = text("Checkpoint benchmark (DLIO, MLPerf Storage)")
_CAP_BYTES = 5_000_000
_GIB = text("The file calls GiB GB; it is converted.")


def _knows(head: Head) -> bool:
    return head.is_json and head.has('"metric"', '"num_accelerators"')


def _read(opened: Opened) -> FileEvidence:
    root = as_object(opened.json(_CAP_BYTES))
    metric = as_object(root.get("metric"))
    is_cached = root.get("potential_caching") is True
    nodes = whole(root.get("num_hosts"))
    size = number(metric.get("checkpoint_size_GB"))
    measured = (
        *_direction(opened, metric, "save", ("write", "write"), nodes, size, is_cached=False),
        *_direction(opened, metric, "load", ("read", "restore_read"), nodes, size, is_cached=is_cached),
    )
    if not measured:
        raise opened.refuse("it has no saves or loads of checkpoints; a run of DLIO's checkpoint workload has them")
    facts: tuple[Fact, ...] = ()
    if size:
        title = text("Checkpoint of the benchmark")
        facts = (Fact(None, title, size * GIB, opened.place("metric.checkpoint_size_GB"), unit=BYTES, notes=(_GIB,)),)
    warnings = (text("DLIO says that a page cache may have taken part (potential_caching)."),) if is_cached else ()
    date = day(moment_s(root.get("end")) or moment_s(root.get("start")))
    return FileEvidence("dlio", TITLE, opened.name, date or opened.date, measured=measured, facts=facts, warnings=warnings)


def _direction(
    opened: Opened,
    metric: Mapping[str, Any],
    word: str,
    kinds: tuple[str, str],
    nodes: int | None,
    size: float | None,
    *,
    is_cached: bool,
) -> tuple[Measured, ...]:
    """The mean rate and the mean time of all saves, or of all loads."""
    rate_key, time_key = f"{word}_checkpoint_io_mean_GB_per_second", f"{word}_checkpoint_duration_mean_seconds"
    per_s, seconds = number(metric.get(rate_key)), number(metric.get(time_key))
    cached = [text("Read back from a page cache, as DLIO suspects.")] if is_cached else []
    made: list[Measured] = []
    if per_s:
        spread = _spread(metric.get(f"{word}_checkpoint_io_stdev_GB_per_second"), GIB, BYTES_PER_S)
        notes = (*cached, _GIB, *spread)
        place = opened.place(f"metric.{rate_key}")
        made.append(rate(kinds[0], [per_s * GIB], place, Target(), notes, is_doubtful=is_cached, nodes=nodes))
    if seconds:
        spread = _spread(metric.get(f"{word}_checkpoint_duration_stdev_seconds"), 1.0, SECONDS)
        other = text("The time of the benchmark's checkpoint, not of yours: the rate is what carries over.")
        if size:
            other = text(
                "The time of the benchmark's checkpoint of {size}, not of yours: the rate is what carries over.",
                size=brief(size * GIB, BYTES),
            )
        place = opened.place(f"metric.{time_key}")
        made.append(Measured(kinds[1], (seconds,), place, notes=(*cached, other, *spread), is_doubtful=True))
    return tuple(made)


def _spread(value: object, scale: float, unit: Unit) -> tuple[Text, ...]:
    found = number(value)
    if not found:
        return ()
    return (text("The mean of all, with a standard deviation of {spread}.", spread=brief(found * scale, unit)),)


READER = Reader("dlio", TITLE, _knows, _read)
