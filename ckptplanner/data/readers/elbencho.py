"""Reads what elbencho 3 writes with --csvfile and --jsonfile: rates until the last thread was done, not the first.

    CSV    a heading at the top of a new file; MKDIRS and other phases without bytes have empty cells
    JSON   one object a line, every number a string:
           {"phase_type", "iso_start_date", "config": {"hosts", "direct_io", ..}, "first_done": {..}, "last_done": {"bytes/s"}}

A checkpoint ends with its last shard, so [last] counts. The CSV has MiB/s and the JSON bytes/s.
Source: elbencho d085b19 (3.1-9), Statistics.cpp and ProgArgs.cpp; read 2026-11-29.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ckptplanner.data.evidence import FileEvidence, Measured
from ckptplanner.data.readers.errors import printable
from ckptplanner.data.readers.json_values import as_object
from ckptplanner.data.readers.rates import (
    NO_FLUSH,
    READ_CACHED,
    Target,
    day,
    moment_s,
    number,
    rate,
    whole,
)
from ckptplanner.data.readers.source import Head, Opened, Reader
from ckptplanner.text import Text, text
from ckptplanner.units import MIB

TITLE = text("Storage benchmark (elbencho)")
_RATE = "MiB/s [last]"
_NEEDED = frozenset({"operation", _RATE, "hosts"})
_OWN = frozenset({"operation", "MiB/s [first]", "hosts"})
_ROW = re.compile(r"^\d{4}-\d\d-\d\dT[^,]*,[^,]*,(dir|file|blockdev|bdev),.*,(WRITE|READ|MKDIRS|STAT|RMFILES|RMDIRS),")
_JSON = re.compile(r'^\s*\{"phase_type":"')
_WAYS = {"WRITE": "write", "READ": "read"}
_MOST_ROWS = 100_000
_MOST_GROUPS = 200


@dataclass(frozen=True, slots=True)
class _Row:
    """One phase that moved bytes."""

    way: str
    bytes_per_s: float
    hosts: int | None
    is_direct: bool | None
    is_random: bool
    path_type: str
    sizes: tuple[str, ...]  # threads, file size, block size: what tells one setting from another
    at_s: float | None
    where: str


def _knows(head: Head) -> bool:
    first = next((line for line in head.lines if line.strip()), "")
    return set(_cells(first)) >= _OWN or _ROW.match(first[:2000]) is not None or _is_json(first)


def _is_json(first: str) -> bool:
    return _JSON.match(first) is not None and '"last_done"' in first and '"config"' in first


def _cells(line: str) -> list[str]:
    """The cells of one line; commas inside quotes are part of a cell."""
    try:
        return [cell.strip() for cell in next(csv.reader([line]), [])]
    except csv.Error:
        return []


def _read(opened: Opened) -> FileEvidence:
    first = next((line for line in opened.head.lines if line.strip()), "")
    groups: dict[object, list[_Row]] = {}
    seen = 0
    for row in _json_rows(opened) if _JSON.match(first) else _csv_rows(opened):
        key = (row.way, row.hosts, row.is_direct, row.is_random, row.path_type, row.sizes)
        seen += 1
        if seen <= _MOST_ROWS and (key in groups or len(groups) < _MOST_GROUPS):
            groups.setdefault(key, []).append(row)
    if not groups:
        raise opened.refuse("no phase in it wrote or read bytes; a run of elbencho with -w or -r does")
    kept = sum(len(rows) for rows in groups.values())
    warnings = [] if kept == seen else [text("Only the first {count} rows of this file are used.", count=f"{kept:,}")]
    last = max((row.at_s for rows in groups.values() for row in rows if row.at_s is not None), default=None)
    measured = tuple(_measured(opened, rows, groups) for rows in groups.values())
    return FileEvidence("elbencho", TITLE, opened.name, day(last) or opened.date, measured=measured, warnings=tuple(warnings))


def _csv_rows(opened: Opened) -> Iterator[_Row]:
    columns: list[str] = []
    for line, words in opened.lines():
        cells = _cells(words)
        if set(cells) >= _OWN:  # once more where files were put together
            if not set(cells) >= _NEEDED:
                raise opened.refuse(f"the column {_RATE} is missing; give the CSV file as elbencho wrote it", line)
            columns = cells
        elif not columns and words.strip():
            raise opened.refuse(
                "the headings are missing; run elbencho without --nocsvlabels and with a new file for --csvfile", line
            )
        elif len(cells) >= len(columns) > 0:
            row = _from_csv(dict(zip(columns, cells, strict=False)), f"line {line}, {_RATE}")
            if row is not None:
                yield row


def _from_csv(row: Mapping[str, str], where: str) -> _Row | None:
    found = number(row[_RATE])
    way = _WAYS.get(row["operation"].upper())
    if way is None or not found:
        return None
    return _Row(
        way,
        found * MIB,
        whole(row["hosts"]),
        _flag(row.get("direct IO")),
        _flag(row.get("random")) is True,
        row.get("path type", "")[:20],
        tuple(row.get(name, "")[:40] for name in ("threads", "file size", "block size")),
        moment_s(row.get("ISO date")),
        where,
    )


def _json_rows(opened: Opened) -> Iterator[_Row]:
    for line, words in opened.lines():
        if not words.strip():
            continue
        try:
            value = as_object(json.loads(words))
        except (ValueError, RecursionError):
            raise opened.refuse("this is no JSON; elbencho --jsonfile writes one object a line", line) from None
        row = _from_json(value, f"line {line}, last_done.bytes/s")
        if row is not None:
            yield row


def _from_json(value: Mapping[str, object], where: str) -> _Row | None:
    config, last = as_object(value.get("config")), as_object(value.get("last_done"))
    phase = str(value.get("phase_type", ""))[:20].upper()
    found = number(last.get("bytes/s"))
    way = _WAYS.get(phase)
    if way is None or not found or "rwmix_read" in last:
        return None
    return _Row(
        way,
        found,
        whole(config.get("hosts")),
        _flag(config.get("direct_io")),
        _flag(config.get("random_offsets")) is True,
        str(config.get("path_type", ""))[:20],
        tuple(printable(str(config.get(name, ""))[:40]) for name in ("threads", "file_size", "block_size")),
        moment_s(value.get("iso_start_date")),
        where,
    )


def _flag(value: object) -> bool | None:
    return {"1": True, "true": True, "0": False, "false": False}.get(str(value)[:10].strip().lower())


def _measured(opened: Opened, rows: Sequence[_Row], groups: Mapping[object, Sequence[_Row]]) -> Measured:
    one = rows[0]
    doubts = list(_doubts(one))
    notes = [*doubts]
    if len({group[0].sizes for group in groups.values() if group[0].way == one.way}) > 1:
        threads, size, block = (part or "?" for part in one.sizes)
        notes.append(
            text("With {threads} threads, files of {size} B and blocks of {block} B.", threads=threads, size=size, block=block)
        )
    times = [row.at_s for row in rows]
    return rate(
        one.way,
        [row.bytes_per_s for row in rows],
        opened.place(one.where),
        Target(kind="drives" if one.path_type.lower() in ("blockdev", "bdev") else ""),
        notes,
        is_doubtful=bool(doubts),
        nodes=one.hosts,
        at_s=[at for at in times if at is not None] if None not in times else (),
    )


def _doubts(row: _Row) -> Iterator[Text]:
    """Why these rates are not those of a save or a restore."""
    if row.is_direct is False:
        yield NO_FLUSH if row.way == "write" else READ_CACHED
    elif row.is_direct is None:
        yield text("Whether direct I/O was used is not in the file: a page cache may have taken part.")
    if row.is_random:
        yield text("At random places: a checkpoint is written and read in sequence.")


READER = Reader("elbencho", TITLE, _knows, _read)
