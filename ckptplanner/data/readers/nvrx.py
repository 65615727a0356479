"""Cycle files of nvidia-resiliency-ext: `cycle_info.JOB.ATTEMPT.CYCLE`, one JSON file for each run of a job.

    {"job_id": "482913", "attempt_index": 0, "cycle_number": 1, "cycle_start_time": "...Z", "cycle_end_time": "...Z" or "",
     "active_nodes": "gpu-[001-016,018-033]", "standby_nodes": "gpu-034", "generation": "1", ...}

Restarts inside a job are there too, each with its nodes, but no cause. `cycle_info.JOB.current` is a link to the newest.
Source: nvidia-resiliency-ext d8686d9c (2026-08-07), its CycleInfoWriter; release 0.7.0 (ran).
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from ckptplanner.data.evidence import FileEvidence, Run
from ckptplanner.data.readers.slurm_jobs import day_of, expand_nodes, moment, words_of
from ckptplanner.data.readers.source import Head, Opened, Reader
from ckptplanner.text import text

SIZE_CAP_BYTES = 1_000_000
_TITLE = text("Restart cycle (nvidia-resiliency-ext)")


def _knows(head: Head) -> bool:
    return head.is_json and head.has('"cycle_start_time"', '"cycle_number"', '"attempt_index"')


def _is_link_beside(opened: Opened) -> bool:
    """Whether it is a link to another file of its own folder, which is read for itself."""
    try:
        target = os.readlink(opened.path) if opened.path.is_symlink() else ""
    except OSError:
        return False
    return bool(target) and os.path.basename(target) == target


def _time(opened: Opened, cycle: Mapping[str, Any], key: str) -> tuple[float, bool] | None:
    """A time of the file, None where it is empty."""
    words = cycle.get(key)
    if words in (None, ""):
        return None
    found = moment(words) if isinstance(words, str) and "-" in words else None
    if found is None:
        raise opened.refuse(f"{key} is no time such as 2026-11-02T00:04:11Z")
    return found


def _read(opened: Opened) -> FileEvidence:
    cycle = opened.json(SIZE_CAP_BYTES)
    if not isinstance(cycle, dict):
        raise opened.refuse("an object with cycle_start_time is expected")
    start, end = _time(opened, cycle, "cycle_start_time"), _time(opened, cycle, "cycle_end_time")
    if start is None or (end is not None and end[0] < start[0]):
        raise opened.refuse("cycle_start_time is missing or after cycle_end_time")
    date = day_of(start[0] if end is None else end[0])
    if _is_link_beside(opened):
        return FileEvidence(
            "nvrx-cycle", _TITLE, opened.name, date, warnings=(text("A link to another cycle file; that one is read."),)
        )
    nodes = cycle.get("active_nodes")
    names = expand_nodes(nodes) if isinstance(nodes, str) else ()
    run = Run(
        job=_word(cycle, "job_id") or "nvidia-resiliency-ext",
        start_s=start[0],
        end_s=None if end is None else end[0],
        kind="open" if end is None else "unknown",
        said=f"attempt {_word(cycle, 'attempt_index') or '–'}, cycle {_word(cycle, 'cycle_number') or '–'}",
        place=opened.place("cycle_start_time"),
        nodes=len(names) or None,
        node_names=names,
        is_zoned=start[1],
    )
    warnings = () if end is None else (
        text("The file says when the cycle ended, not why: it counts as an interruption until you say what it was."),
    )  # fmt: skip
    return FileEvidence("nvrx-cycle", _TITLE, opened.name, date, runs=(run,), warnings=warnings)


def _word(cycle: Mapping[str, Any], key: str) -> str:
    """A name or a small number of the file."""
    value = cycle.get(key)
    if isinstance(value, str):
        return words_of(value[:1000])
    return str(value) if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 10**12 else ""


READERS: tuple[Reader, ...] = (Reader("nvrx-cycle", _TITLE, _knows, _read),)
