"""A log of interruptions from a user's file: `read_log(path)` gives the gaps between them.

    a CSV with a column for the time     time, kind, nodes, downtime_s, note           (others: start, timestamp, date ...)
    the same with numbers                a heading that names the unit: hours, time_s, elapsed (min)
    text                                 one time stamp a line, without a heading
    the failure table of Los Alamos      System, ..., Prob Started, ...; one system of it

Times are ISO 8601 with or without a zone, or m/d/yyyy H:MM. Their order does not matter. Those less than a minute apart are
one interruption: a failure is often written down once for each node. What a file is shows in its first line, not in its name.
"""

from __future__ import annotations

import csv
import math
import re
import stat
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path

from ckptplanner.data.readers.errors import ReaderError, printable, shown
from ckptplanner.data.readers.tables import FAR_S, TIME_HEADINGS, delimiter_of, heading_words, number_scale, stamp
from ckptplanner.data.records import Log

SIZE_CAP_BYTES = 20_000_000
LINE_CAP_CHARS = 20_000
EVENTS_CAP = 100_000
MERGE_S = 60.0

_ACCEPTED = "a CSV with a column time, or one time stamp a line, is expected"
_TIMES = "a time such as 2026-11-29T14:05, 2026-11-29 14:05:30+01:00 or 11/29/2026 14:05 is expected"
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1f]")


class SystemNeeded(ReaderError):  # noqa: N818 - read as what it is in the sentence of an except
    """The failure table of Los Alamos, of which one system must be chosen; `systems` are there."""

    def __init__(self, source: str, systems: Sequence[int], wanted: int | None) -> None:
        there = ", ".join(map(str, systems))
        what = (
            "this table holds several systems; choose one" if wanted is None else f"there is no system {wanted}; choose another"
        )
        super().__init__(f"{source}: {what}: {there}.")
        self.systems = tuple(systems)


@dataclass
class _Events:
    """What was read so far: times as seconds, and what stood beside them."""

    source: str
    at_s: list[float] = field(default_factory=list)
    kinds: Counter[str] = field(default_factory=Counter)
    left_out: int = 0
    has_zone: bool | None = None  # None until the first date is read
    last_day: str = ""

    def fail(self, line: int, what: str) -> ReaderError:
        """One sentence with the file and the line."""
        return ReaderError(f"{self.source}, line {line}: {what}.")

    def add_date(self, cell: str, line: int) -> None:
        """A time stamp; all must have a zone or none."""
        time = stamp(cell)
        if time is None:
            raise self.fail(line, f"{shown(cell)} is no time; {_TIMES}")
        zoned = time.tzinfo is not None
        if self.has_zone is None:
            self.has_zone = zoned
        elif self.has_zone != zoned:
            raise self.fail(line, "some times have a zone and some have none; give all of them one, or none")
        origin = datetime(1970, 1, 1, tzinfo=UTC if zoned else None)
        self.last_day = max(self.last_day, f"{time:%Y-%m-%d}")
        self.add((time - origin).total_seconds(), line)

    def add_number(self, cell: str, scale: float, line: int) -> None:
        """A number in the unit of the heading."""
        try:
            value = float(cell) * scale
        except ValueError:
            raise self.fail(line, f"{shown(cell)} is no number, as the heading says it should be") from None
        if not math.isfinite(value) or abs(value) > FAR_S:
            raise self.fail(line, f"{shown(cell)} is not a time that a log can hold")
        self.add(value, line)

    def add(self, at_s: float, line: int) -> None:
        """One more event, up to the cap."""
        if len(self.at_s) >= EVENTS_CAP:
            raise self.fail(line, f"there are more than {EVENTS_CAP:,} events; give a shorter log")
        self.at_s.append(at_s)


def _text(path: Path, source: str) -> str:
    """The file as text. Devices, large files and binary ones are refused."""
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            raise ReaderError(f"{source}: this is no regular file; {_ACCEPTED}.")
        if status.st_size > SIZE_CAP_BYTES:
            raise ReaderError(f"{source}: it has {status.st_size:,} bytes, where at most {SIZE_CAP_BYTES:,} are expected.")
        with path.open("rb") as file:
            raw = file.read(SIZE_CAP_BYTES + 1)
    except (OSError, ValueError) as error:
        if isinstance(error, ReaderError):
            raise
        why = error.strerror if isinstance(error, OSError) else "there is no such file"
        raise ReaderError(f"{source}: it cannot be read ({why}); {_ACCEPTED}.") from None
    if len(raw) > SIZE_CAP_BYTES:
        raise ReaderError(f"{source}: it grew beyond {SIZE_CAP_BYTES:,} bytes while it was read.")
    if _CONTROL.search(raw):
        raise ReaderError(f"{source}: this is a binary file or not UTF-8; {_ACCEPTED}.")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        return raw.decode("latin-1")  # the table of Los Alamos, and what older spreadsheets write


def _lines(text: str, source: str) -> Iterator[str]:
    for number, line in enumerate(text.splitlines(), start=1):
        if len(line) > LINE_CAP_CHARS:
            raise ReaderError(f"{source}, line {number}: it has {len(line):,} characters; {_ACCEPTED}.")
        yield line


def _records(text: str, source: str) -> Iterator[tuple[int, list[str]]]:
    """Line numbers and stripped cells, without empty lines and those that begin with #."""
    first = next((line for line in text.splitlines() if line.strip() and not line.startswith("#")), "")
    delimiter = delimiter_of(first)
    reader = csv.reader(_lines(text, source), delimiter=delimiter, strict=True)
    try:
        for cells in reader:
            row = [cell.strip() for cell in cells]
            if any(row) and not row[0].startswith("#"):
                yield reader.line_num, row
    except csv.Error as error:
        raise ReaderError(f"{source}, line {reader.line_num}: it is no line of a CSV ({error}); {_ACCEPTED}.") from None


def _read(path: Path, source: str, system: int | None, without: Collection[str]) -> tuple[_Events, int | None]:
    """All events of a file, or of one system of a table; and how many nodes it has, where the table says so."""
    records = _records(_text(path, source), source)
    line, heading = next(records, (1, []))
    words, events = heading_words(heading), _Events(source)
    if not heading:
        raise ReaderError(f"{source}: the file is empty; {_ACCEPTED}.")
    if {"system", "prob started"} <= set(words):
        return events, _read_table(records, words, events, system)
    if stamp(heading[0]) is not None:
        events.add_date(heading[0], line)
        for number, cells in records:
            events.add_date(cells[0], number)
        return events, None
    column, scale = _time_column(words, line, events)
    kind = words.index("kind") if "kind" in words else None
    for number, cells in records:
        if column >= len(cells) or not cells[column]:
            raise events.fail(number, f"the column {shown(heading[column])} is blank")
        name = cells[kind] if kind is not None and kind < len(cells) else ""
        if name and name.casefold() in without:
            events.left_out += 1
            continue
        events.kinds.update([name] if name else [])
        if scale is None:
            events.add_date(cells[column], number)
        else:
            events.add_number(cells[column], scale, number)
    return events, None


def _time_column(words: Sequence[str], line: int, events: _Events) -> tuple[int, float | None]:
    """Which column holds the time, and the scale of its numbers; None for dates."""
    for word in TIME_HEADINGS:
        if word in words:
            return words.index(word), None
    for column, word in enumerate(words):
        scale = number_scale(word)
        if scale is not None:
            return column, scale
    first = words[0]
    if re.fullmatch(r"[-+]?[\d.]+(e[-+]?\d+)?", first):
        raise events.fail(line, f"{shown(first)} is a number without a unit; put a heading above it: hours or seconds")
    raise events.fail(line, f"neither a time nor a heading for one: {shown(', '.join(words))}; {_ACCEPTED}")


def _read_table(
    records: Iterator[tuple[int, list[str]]], words: Sequence[str], events: _Events, wanted: int | None
) -> int | None:
    """One system of the failure table; returns its number of nodes."""
    system, start = words.index("system"), words.index("prob started")
    size = words.index("nodes") if "nodes" in words else None
    seen: set[int] = set()
    nodes = 0
    for number, cells in records:
        if max(system, start) >= len(cells) or not cells[system].isdecimal() or len(cells[system]) > 6:
            raise events.fail(number, "a row without a system and a start; the table of Los Alamos has both")
        seen.add(int(cells[system]))
        if wanted == int(cells[system]):
            events.add_date(cells[start], number)
            if size is not None and size < len(cells) and cells[size].isdecimal() and len(cells[size]) < 9:
                nodes = max(nodes, int(cells[size]))
    if wanted not in seen:
        raise SystemNeeded(events.source, sorted(seen), wanted)
    return nodes or None


def merged_s(at_s: Sequence[float], merge_s: float) -> list[float]:
    """The times in order without those that come less than `merge_s` after the one before them. [s]"""
    ordered = sorted(at_s)
    return ordered[:1] + [time for before, time in pairwise(ordered) if time - before >= merge_s and time > before]


def _note(events: _Events, kept: int, is_sorted: bool, merge_s: float) -> str:
    parts = [f"{len(events.at_s):,} lines, {kept:,} interruptions after merging what is less than {merge_s:g} s apart."]
    if not is_sorted:
        parts.append("The lines were not in order.")
    if events.left_out:
        parts.append(f"{events.left_out:,} lines were left out by their kind.")
    if events.kinds:
        parts.append(
            "Kinds: " + ", ".join(f"{shown(kind)[1:-1]} {count:,}" for kind, count in events.kinds.most_common(8)) + "."
        )
    return " ".join(parts)


def read_log(path: str | Path, *, system: int | None = None, merge_s: float = MERGE_S, without: Collection[str] = ()) -> Log:
    """Read the gaps between interruptions from a user's file.

    Args:
        path: A CSV or a text file, see above.
        system: Which system, where the file is the failure table of Los Alamos.
        merge_s: Events less than this after the one before them belong to it. [s]
        without: Kinds that are not counted, planned stops for example; case does not matter.

    Raises:
        SystemNeeded: the table of Los Alamos, and no system of it was named.
        ReaderError: anything else that cannot be used; one sentence for the user.
    """
    place = Path(path)
    source = printable(place.name) or printable(str(place))
    events, nodes = _read(place, source, system, {kind.casefold() for kind in without})
    times = merged_s(events.at_s, merge_s)
    if len(times) < 2:
        count = "no time" if not events.at_s else "only one distinct time"
        if len(set(events.at_s)) > 1:
            raise ReaderError(
                f"{source}: its {len(events.at_s):,} times lie less than {merge_s:g} s apart each and count as one "
                "interruption; at least two are needed for a gap between them."
            )
        raise ReaderError(f"{source}: it holds {count}; at least two interruptions are needed for a gap between them.")
    in_order = all(before <= after for before, after in pairwise(events.at_s))
    stem = printable(place.stem)
    return Log(
        id=stem if system is None else f"{stem}-{system}",
        name=stem if system is None else f"LANL system {system}",
        source=source,
        date=events.last_day,
        nodes=nodes,
        gaps_s=tuple(after - before for before, after in pairwise(times)),
        note=_note(events, len(times), in_order, merge_s),
    )
