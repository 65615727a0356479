"""Slurm's accounting as JSON: `sacct -D --json`, in the shape of 22.05 and in that of the data parsers from 25.05 on.

    22.05     state.current "NODE_FAIL", numbers as they are, meta.Slurm
    25.05     state.current ["NODE_FAIL"], numbers {set, infinite, number}, restart_cnt, failed_node, meta.slurm

Source: Slurm 22.05.8 (ran), data_parser v0.0.43 at 284c3b95 (read). Times are seconds since 1970; 0 is not yet.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

from ckptplanner.data.evidence import FileEvidence
from ckptplanner.data.readers.slurm_jobs import (
    COMMAND,
    LATEST_S,
    STATES,
    TRIES_CAP,
    WAITING,
    Found,
    Try,
    evidence,
    words_of,
)
from ckptplanner.data.readers.source import Head, Opened, Reader
from ckptplanner.text import Text, text

_TITLE = text("Slurm accounting (sacct --json)")
_RELEASE = re.compile(r"[0-9A-Za-z.\-]{1,20}")
# of several in one list, what the run ended by stands first here
_ORDER = {state: index for index, state in enumerate((*STATES, *WAITING))}


def number(value: Any) -> float | None:
    """A number as it stands or as {set, infinite, number}; None where it is not set, endless, or something else."""
    if isinstance(value, dict):
        if value.get("set") is False or value.get("infinite") is True:
            return None
        value = value.get("number")
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return float(value) if math.isfinite(value) else None
    except OverflowError:
        return None


def _count(value: Any) -> int | None:
    found = number(value)
    return int(found) if found is not None and 0 <= found < 1e9 else None


def _moment(times: Mapping[str, Any], key: str) -> float | None:
    """Seconds since 1970, None for 0: not yet."""
    at_s = number(times.get(key))
    return at_s if at_s is not None and 0 < at_s < LATEST_S else None


def _part(value: Any, key: str) -> Mapping[str, Any]:
    """The object under a key, empty where there is none."""
    inner = value.get(key) if isinstance(value, dict) else None
    return inner if isinstance(inner, dict) else {}


def _word(value: Any) -> str:
    return words_of(value[:1000]) if isinstance(value, str) else ""


def _state(job: Mapping[str, Any]) -> str:
    """One state: 22.05 has a word, newer releases a list of a state and its flags."""
    current = _part(job, "state").get("current")
    states = [_word(one)[:40].upper() for one in (current if isinstance(current, list) else [current])[:20]]
    return min((one for one in states if one), key=lambda one: _ORDER.get(one, len(_ORDER)), default="")


def _try(job: Any, where: str, found: Found) -> Try | None:
    """One element of jobs; None where it is no job."""
    job_id, state = _count(job.get("job_id")) if isinstance(job, dict) else None, ""
    if job_id is None or not (state := _state(job)):
        return None
    times, array, het = _part(job, "time"), _part(job, "array"), _part(job, "het")
    elapsed = number(times.get("elapsed"))
    shown, leader = str(job_id), _count(het.get("job_id")) or 0
    if _count(array.get("job_id")) and (task := _count(array.get("task_id"))) is not None:
        shown = f"{_count(array.get('job_id'))}_{task}"
    if leader:
        shown = f"{leader}+{_count(het.get('job_offset')) or 0}"
    cluster = _word(job.get("cluster"))
    nodes, failed = job.get("nodes"), job.get("failed_node")
    found.has_restarts = found.has_restarts or "restart_cnt" in job
    return Try(
        key=f"{cluster}|{job_id}",
        id=shown,
        name=_word(job.get("name")),
        state=state,
        where=where,
        start_s=_moment(times, "start"),
        end_s=_moment(times, "end"),
        submit_s=_moment(times, "submission"),
        eligible_s=_moment(times, "eligible"),
        elapsed_s=elapsed if elapsed is not None and 0 <= elapsed < LATEST_S else None,
        nodes=_count(job.get("allocation_nodes")),
        node_names=found.nodes(nodes) if isinstance(nodes, str) else (),
        failed_node=next(iter(found.nodes(failed)), "") if isinstance(failed, str) else "",
        restarts=_count(job.get("restart_cnt")) or 0,
        leader=f"{cluster}|{leader}" if leader else "",
        is_zoned=True,
    )


def _knows(head: Head) -> bool:
    """sacct's, not squeue's: there the times stand in the job itself."""
    return head.is_json and head.has('"jobs"', '"job_id"', '"time"', '"submission"', '"elapsed"')


def _title(whole: Mapping[str, Any]) -> Text:
    """With the release, which stands under Slurm or, later, slurm."""
    meta = _part(whole, "meta")
    release = (_part(meta, "Slurm") or _part(meta, "slurm")).get("release")
    if isinstance(release, str) and _RELEASE.fullmatch(release):
        return text("Slurm accounting (sacct --json, Slurm {release})", release=release)
    return _TITLE


def _read(opened: Opened) -> FileEvidence:
    whole = opened.json()
    jobs = whole.get("jobs") if isinstance(whole, dict) else None
    if not isinstance(jobs, list):
        raise opened.refuse(f"there is no list of jobs in it; write it with 'sacct -D --json', or as text with '{COMMAND}'")
    found, tries = Found(), list[Try]()
    for index, job in enumerate(jobs[:TRIES_CAP]):
        one = _try(job, f"jobs[{index}]", found)
        if one is None:
            found.leave_out(f"jobs[{index}]")
        else:
            tries.append(one)
    found.is_capped = len(jobs) > TRIES_CAP
    return evidence(opened, "slurm-json", _title(whole), tries, found)


READERS: tuple[Reader, ...] = (Reader("slurm-json", _TITLE, _knows, _read),)
