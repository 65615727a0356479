"""Reads what fio writes with --output-format=json or json+: rates of writing and reading, group by group.

    {"fio version", "timestamp", "global options", "jobs": [{"groupid", "error", "job options", "read": {..}, "write": {..}}]}

Jobs of one group run side by side and add up; groups (after a stonewall) follow each other and do not. `bw` is KiB/s and
`bw_bytes` B/s, `runtime` ms. fio prints other text, with brackets, before its JSON; with --status-interval one JSON after
another, each of which counts from the start; with --client the jobs of all hosts stand in `client_stats`. Results of several
nodes that ran side by side, put into one file, add up: their jobs have names of their own and their times overlap.
Source: fio 3.33, written by the tool itself on 2026-11-30.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

from ckptplanner.data.evidence import FileEvidence, Measured
from ckptplanner.data.readers.errors import printable
from ckptplanner.data.readers.json_values import as_object
from ckptplanner.data.readers.rates import (
    NO_FLUSH,
    READ_CACHED,
    day,
    items,
    moment_s,
    number,
    rate,
    target_of,
    whole,
)
from ckptplanner.data.readers.source import Head, Opened, Reader
from ckptplanner.text import Text, text
from ckptplanner.units import BYTES_PER_S, KIB, SECONDS, brief

TITLE = text("Storage benchmark (fio)")
_ADVICE = "run fio with --output-format=json and give its output"
_MOST_RUNS = 1000
_MOST_JOBS = 20_000
_JSON = re.compile(r'\{\s*"fio version"\s*:')
_PLAIN = re.compile(r"^(\d;fio-\d|\S.{0,200}: \(g=\d+\): rw=)")
_FLUSHES = ("end_fsync", "fsync_on_close", "fsync", "fdatasync", "sync")
_NAMES_ONLY = frozenset({"name", "stonewall", "new_group", "description", "group_reporting", "wait_for"})
_UNEVEN = 1.1  # longest over shortest run of jobs side by side
_SHORT_S = 10.0
_SMALL_BYTES = 64 * KIB
_LEAST_S = 2.0  # of runs side by side: fio tells their times in whole seconds


def _knows(head: Head) -> bool:
    return _JSON.search(head.text) is not None or any(_PLAIN.match(line) for line in head.lines)


@dataclass(frozen=True, slots=True)
class _Job:
    """What one job did in one direction."""

    group: str
    direction: str
    bytes_per_s: float
    bytes: float
    runtime_s: float
    options: Mapping[str, str]
    host: str
    where: str


_Row = tuple[float, float | None, list[_Job]]  # a group's rate, when, and its jobs


@dataclass(slots=True)
class _Found:
    """Everything of a file, before it is put together."""

    values: dict[tuple[Any, ...], list[_Row]] = field(default_factory=dict)
    warnings: list[Text] = field(default_factory=list)

    def warn(self, words: Text) -> None:
        if words not in self.warnings and len(self.warnings) < 20:
            self.warnings.append(words)


def _read(opened: Opened) -> FileEvidence:
    runs = list(islice(opened.objects("fio version"), _MOST_RUNS + 1))
    if not runs:
        raise opened.refuse(f"this is fio's text for people; {_ADVICE}")
    found = _Found()
    if len(runs) > _MOST_RUNS:
        found.warn(text("Only the first {count} results of this file are used.", count=f"{_MOST_RUNS:,}"))
    kept = _whole_runs(runs[:_MOST_RUNS])
    if len(kept) < len(runs[:_MOST_RUNS]):
        found.warn(text("Results from before the end of a run (--status-interval) are left out."))
    for together in _side_by_side(kept):
        _add(found, [(f"result {number_ + 1}, " if len(runs) > 1 else "", run) for number_, run in together])
    measured = tuple(_measured(opened, key[0], key[1], rows) for key, rows in found.values.items())
    if not measured:
        more = f" ({found.warnings[0]})" if found.warnings else ""
        raise opened.refuse(f"there is no rate of writing or reading in it{more}; a run with rw=write or rw=read has one")
    when = moment_s(kept[-1][1].get("timestamp"))
    return FileEvidence("fio", TITLE, opened.name, day(when) or opened.date, measured=measured, warnings=tuple(found.warnings))


def _whole_runs(runs: Sequence[Mapping[str, Any]]) -> list[tuple[int, Mapping[str, Any]]]:
    """The runs without results from before their end: of those with the same start and jobs the last one."""
    last: dict[object, tuple[int, Mapping[str, Any]]] = {}
    for index, run in enumerate(runs):
        at, names = moment_s(run.get("timestamp")), _names_of(run)
        before = next(reversed(last), None) if last else None
        key: object = (None if at is None else _times_of(run)[0], names)
        if before is not None and _is_same_run(before, key):
            del last[before]
        last[key if at is not None else (index, names)] = (index, run)
    return list(last.values())


def _is_same_run(one: Any, other: Any) -> bool:
    if one[0] is None or other[0] is None or one[1] != other[1]:
        return False
    return bool(abs(one[0] - other[0]) <= 2.0)


def _names_of(run: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(str(as_object(job).get("jobname"))[:80] for job in items(run.get("jobs"), _MOST_JOBS))


def _times_of(run: Mapping[str, Any]) -> tuple[float, float]:
    """When it began and ended; the same moment where it does not say. [s]"""
    end = moment_s(run.get("timestamp")) or 0.0
    jobs = [as_object(job) for job in items(run.get("jobs"), _MOST_JOBS)]
    return end - max((number(job.get("elapsed")) or 0.0 for job in jobs), default=0.0), end


def _side_by_side(runs: Sequence[tuple[int, Mapping[str, Any]]]) -> list[list[tuple[int, Mapping[str, Any]]]]:
    """The runs, those together that nodes have made at the same time: most of their times is common, their names are not."""
    bundles: list[list[tuple[int, Mapping[str, Any]]]] = []
    for number_, run in runs:
        begin, end = _times_of(run)
        last = bundles[-1] if bundles else []
        names = {_names_of(other) for _, other in last}
        if last and end - begin >= _LEAST_S and _names_of(run) not in names:
            first_begin, first_end = _times_of(last[0][1])
            common = min(end, first_end) - max(begin, first_begin)
            if common > 0.5 * max(end - begin, first_end - first_begin):
                last.append((number_, run))
                continue
        bundles.append([(number_, run)])
    return bundles


def _add(found: _Found, together: Sequence[tuple[str, Mapping[str, Any]]]) -> None:
    """Put the jobs of runs side by side into groups, and each group's rate to those with the same options."""
    groups: dict[tuple[str, str], list[_Job]] = {}
    for node, (where, run) in enumerate(together):
        for job in _jobs(found, run, where):
            own = job if len(together) == 1 else replace(job, host=f"{node}")
            groups.setdefault((own.group, own.direction), []).append(own)
    run = together[-1][1]
    for (group, direction), jobs in groups.items():
        options = jobs[0].options
        is_mixed = (group, "read") in groups and (group, "write") in groups
        alike = tuple(sorted((name, value) for name, value in options.items() if name not in _NAMES_ONLY))
        key = (direction, is_mixed, alike, len(jobs), len({job.host for job in jobs}))
        value = sum(job.bytes_per_s for job in jobs)
        if value > 0:
            found.values.setdefault(key, []).append((value, moment_s(run.get("timestamp")), jobs))


def _jobs(found: _Found, run: Mapping[str, Any], where: str) -> Iterator[_Job]:
    common = _options(run.get("global options"))
    name = "jobs" if isinstance(run.get("jobs"), list) else "client_stats"
    for index, raw in enumerate(items(run.get(name), _MOST_JOBS)):
        job = as_object(raw)
        title = printable(str(job.get("jobname", ""))[:60])
        if name == "client_stats" and title == "All clients":
            continue  # the sum of the others
        if number(job.get("error")) != 0.0 and "error" in job:
            found.warn(text("The job {job} ended with an error and is left out.", job=title or str(index)))
            continue
        if "mixed" in job:
            found.warn(text("The job {job} has writing and reading in one number (unified_rw_reporting).", job=title))
        options = {**common, **_options(job.get("job options"))}
        host = f"{job.get('hostname', '')}:{job.get('port', '')}"[:200]
        for way in ("write", "read"):
            one = _one(found, as_object(job.get(way)), title)
            if one is not None:
                group = str(job.get("groupid", 0))[:20]
                yield _Job(group, way, *one, options, host, f"{where}{name}[{index}].{way}.bw_bytes")


def _options(value: object) -> dict[str, str]:
    return {str(name)[:80]: str(given)[:200] for name, given in list(as_object(value).items())[:500]}


def _one(found: _Found, stats: Mapping[str, Any], title: str) -> tuple[float, float, float] | None:
    """B/s, bytes and seconds of one direction; None where nothing was done."""
    size, runtime = number(stats.get("io_bytes")) or 0.0, (number(stats.get("runtime")) or 0.0) / 1e3
    per_s, kib = number(stats.get("bw_bytes")), number(stats.get("bw"))
    if per_s is None and kib:
        found.warn(text("This fio writes bw in KiB/s only; it is taken times 1024."))
        per_s = kib * KIB
    elif per_s and kib is not None and abs(kib * KIB - per_s) > max(KIB, 0.01 * per_s):
        found.warn(text("bw and bw_bytes of the job {job} do not agree; bw_bytes is used.", job=title))
    if per_s and "runtime" in stats and runtime == 0.0:
        per_s = 0.0
    if not per_s:
        if size:
            found.warn(text("The job {job} has no running time, so its rate is not known.", job=title))
        return None
    return per_s, size, runtime


def _is_on(options: Mapping[str, str], name: str) -> bool:
    return options.get(name, "0").strip().lower() not in ("0", "false", "no", "none")


def _measured(opened: Opened, direction: str, is_mixed: bool, rows: Sequence[_Row]) -> Measured:
    """The rates of all groups with the same options, with what is to be known of them."""
    jobs = rows[0][2]
    options = jobs[0].options
    doubts = list(_doubts(direction, is_mixed, options))
    values, notes = [], list(doubts)
    for value, _, group in rows:
        by_last = _by_last(group)
        values.append(value if by_last is None else by_last)
        if by_last is not None:
            notes.append(
                text(
                    "The jobs did not end together: all bytes by the longest run are {rate}; their rates add up to {sum}.",
                    rate=brief(by_last, BYTES_PER_S),
                    sum=brief(value, BYTES_PER_S),
                )
            )
    longest = max(job.runtime_s for _, _, group in rows for job in group)
    if 0 < longest < _SHORT_S:
        notes.append(text("It ran for {time} only: a short burst may be faster than a save.", time=brief(longest, SECONDS)))
    times = [at for _, at, _ in rows]
    return rate(
        direction,
        values,
        opened.place(jobs[0].where),
        target_of(options.get("filename") or options.get("directory")),
        tuple(dict.fromkeys(notes)),
        is_doubtful=bool(doubts),
        nodes=len({job.host for job in jobs}),
        at_s=[at for at in times if at is not None] if None not in times else (),
    )


def _by_last(jobs: Sequence[_Job]) -> float | None:
    """All bytes by the longest run, where the jobs ended at different times: a save ends with its last shard. [B/s]"""
    if len(jobs) < 2 or any(job.runtime_s <= 0 or job.bytes <= 0 for job in jobs):
        return None
    runs = [job.runtime_s for job in jobs]
    return sum(job.bytes for job in jobs) / max(runs) if max(runs) > _UNEVEN * min(runs) else None


def _doubts(direction: str, is_mixed: bool, options: Mapping[str, str]) -> Iterator[Text]:
    """Why these rates are not those of a save or a restore."""
    is_direct = _is_on(options, "direct") or options.get("buffered") == "0"
    if not options:
        yield text("The options of the run are not in the file: whether a page cache took part is not known.")
    elif direction == "write" and not is_direct and not any(_is_on(options, name) for name in _FLUSHES):
        yield NO_FLUSH
    elif direction == "read" and not is_direct:
        yield READ_CACHED
    if is_mixed:
        yield text("Writing and reading took place at the same time: each alone is faster.")
    if options.get("rw", options.get("readwrite", "")).startswith("rand"):
        yield text("At random places: a checkpoint is written and read in sequence.")
    block = _size(options.get("bs", options.get("blocksize", "")))
    if block is not None and block < _SMALL_BYTES:
        yield text(
            "In blocks of {size}: a checkpoint is written in large ones.",
            size=printable(options.get("bs", options.get("blocksize", ""))[:20]),
        )
    if any(name in options for name in ("rate", "rate_iops")):
        yield text("The rate was limited by an option of the run.")


def _size(words: str) -> float | None:
    """Bytes of 4k, 4m or 65536, as fio means them (k is 1024); None for anything else."""
    found = re.fullmatch(r"(\d{1,12})([kmgt]?)(?:i?b)?", words.strip().lower())
    if found is None or whole(found[1], 10**12) is None:
        return None
    return float(found[1]) * KIB ** " kmgt".index(found[2] or " ")


READER = Reader("fio", TITLE, _knows, _read)
