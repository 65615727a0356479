"""Slurm's text: `sacct -P` with one row for each run of a job, and the list of readers of this family.

    JobIDRaw|JobID|JobName|State|...     any columns in any order, with a heading; rows with a dot in the id are steps

Source: Slurm 22.05.8 (ran), 284c3b95 (26.11rc, read). Its default output cuts names short and is refused, with the command
that writes all of it. Names of users, accounts and ids of who cancelled a job stay in the file.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise

from ckptplanner.data.evidence import FileEvidence
from ckptplanner.data.readers import slurm_events, slurm_json
from ckptplanner.data.readers.slurm_jobs import (
    COMMAND,
    STATES,
    TRIES_CAP,
    WAITING,
    Found,
    Try,
    elapsed_s,
    evidence,
    moment,
    whole_number,
    words_of,
)
from ckptplanner.data.readers.source import Head, Opened, Reader
from ckptplanner.data.readers.tables import delimiter_of, heading_words
from ckptplanner.text import text

_TITLE = text("Slurm accounting (sacct)")
_HEADING_LINES = 10  # an error of sacct or the command itself may stand above the heading
_TIMES = frozenset({"start", "end", "elapsed", "elapsedraw"})
_ID = re.compile(r"(\d{1,12})(?:_(?:\d{1,9}|\[[^\]]*\]))?(\+\d{1,6})?")
_RULE = re.compile(r"[- ]*-{3,}[- ]*")


def _heading(line: str) -> tuple[str, list[str]] | None:
    """The delimiter and the headings, where the line is a heading of sacct."""
    delimiter = delimiter_of(line)
    words = heading_words(line.split(delimiter))
    known = set(words)
    is_one = "state" in known and known & {"jobid", "jobidraw"} and known & (_TIMES | {"exitcode", "nnodes"})
    return (delimiter, words) if is_one else None


def _is_cut_short(lines: Sequence[str]) -> bool:
    """Whether these are sacct's columns as it shows them on a terminal: JobID  JobName ... over dashes."""
    return any(
        {"jobid", "state"} <= set(first.casefold().split()) and _RULE.fullmatch(second) is not None
        for first, second in pairwise(lines)
    )


def _is_headless(lines: Sequence[str]) -> bool:
    """Whether the first line is a row of sacct -P without its heading."""
    cells = lines[0].split("|") if lines else []
    has_state = any(_state(cell) in STATES or _state(cell) in WAITING for cell in cells)
    has_time = any(moment(cell) is not None or elapsed_s(cell) is not None for cell in cells[1:])
    return len(cells) > 2 and has_state and has_time and any(_ID.fullmatch(cell.split(".")[0]) for cell in cells)


def _knows(head: Head) -> bool:
    lines = [line for line in head.lines[:_HEADING_LINES] if line.strip()]
    return not head.is_json and (any(map(_heading, lines)) or _is_cut_short(lines) or _is_headless(lines))


def _state(cell: str) -> str:
    """The state without who cancelled it: CANCELLED by 1000, CANCELLED+."""
    return cell.split(" ", 1)[0].rstrip("+").upper()


def _try(cells: Mapping[str, str], where: str, found: Found) -> Try | None:
    """One row; None where its id or state is none."""
    raw, shown_id = cells.get("jobidraw", ""), cells.get("jobid", "")
    ids = _ID.fullmatch(shown_id or raw)
    state = words_of(_state(cells["state"]))[:40]
    if ids is None or not state:
        return None
    start, end = moment(cells.get("start", "")), moment(cells.get("end", ""))
    names = found.nodes(cells.get("nodelist", ""))
    submit, eligible = moment(cells.get("submit", "")), moment(cells.get("eligible", ""))
    return Try(
        key=f"{cells.get('cluster', '')}|{raw or shown_id}",
        id=shown_id or raw,
        name=words_of(cells.get("jobname", "")),
        state=state,
        where=where,
        start_s=start[0] if start else None,
        end_s=end[0] if end else None,
        submit_s=submit[0] if submit else None,
        eligible_s=eligible[0] if eligible else None,
        elapsed_s=elapsed_s(cells.get("elapsedraw", "")) or elapsed_s(cells.get("elapsed", "")),
        nodes=whole_number(cells.get("nnodes", "")),
        node_names=names,
        failed_node=next(iter(found.nodes(cells.get("failednode", ""))), ""),
        restarts=whole_number(cells.get("restarts", "")) or 0,
        leader=f"{cells.get('cluster', '')}|{ids[1]}" if ids[2] else "",
        is_zoned=any(time is not None and time[1] for time in (start, end)),
    )


def _read(opened: Opened) -> FileEvidence:
    tries: list[Try] = []
    found = Found()
    delimiter, words, is_id_first = "|", list[str](), False
    for number, line in opened.lines():
        if is_id_first and "." in line.partition(delimiter)[0]:  # most rows are steps
            continue
        if (heading := _heading(line) if "tate" in line.casefold() else None) is not None:
            delimiter, words = heading
            is_id_first = words[0] in ("jobid", "jobidraw")
            found.has_restarts = found.has_restarts or "restarts" in words
            _check_columns(opened, number, words)
            continue
        if not words and number > _HEADING_LINES:
            break
        if not words or not line.strip():
            continue
        cells = line.split(delimiter)
        row = dict(zip(words, cells, strict=False))
        if "." in (row.get("jobidraw") or row.get("jobid", "")):
            continue
        one = _try(row, f"line {number}", found) if len(cells) == len(words) else None
        if one is None:
            found.leave_out(f"line {number}")
        elif len(tries) < TRIES_CAP:
            tries.append(one)
        else:
            found.is_capped = True
    if not words:
        why = "names are cut short in it" if _is_cut_short(opened.head.lines) else "its columns have no heading"
        raise opened.refuse(f"{why}; write it with '{COMMAND}'")
    return evidence(opened, "slurm-text", _TITLE, tries, found)


def _check_columns(opened: Opened, line: int, words: Sequence[str]) -> None:
    """The times of a run are there: two of start, end and how long it was."""
    known = set(words)
    if len([True for group in ({"start"}, {"end"}, {"elapsed", "elapsedraw"}) if group & known]) < 2:
        raise opened.refuse(f"the columns Start and End are not there; write it with '{COMMAND}'", line)


READERS: tuple[Reader, ...] = (
    Reader("slurm-text", _TITLE, _knows, _read),
    *slurm_json.READERS,
    *slurm_events.READERS,
)
