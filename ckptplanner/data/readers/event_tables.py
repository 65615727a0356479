"""Tables of events: the failure table of Los Alamos, a plain log of interruptions, and any other CSV, whose columns are asked.

    System,...,Prob Started,...,Facilities,Hardware,...     LA-UR-05-7318: several systems, a row for each node that failed
    time,kind,nodes,downtime_s,note                         ours; only `time` must be there; or one time stamp a line
    anything else with a heading and rows                   MappingNeeded, and then column_mapping.read_mapped

`interruption_log.read_log` reads the first two for the backtest, as gaps; here each row stays what it is.
Source: LANL public release LA-UR-05-7318, failure data 1996-2005; credit: Los Alamos National Laboratory.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice

from ckptplanner.data.evidence import Event, FileEvidence, Kind
from ckptplanner.data.readers.column_mapping import (
    ROWS_CAP,
    ROWS_SHOWN,
    ColumnMapping,
    MappingNeeded,
    headings_of,
    read_mapped,
)
from ckptplanner.data.readers.slurm_jobs import day_of, words_of
from ckptplanner.data.readers.source import Head, Opened, Reader
from ckptplanner.data.readers.tables import (
    TIME_HEADINGS,
    delimiter_of,
    heading_words,
    is_day_first,
    is_numbered,
    number_scale,
    rows,
    since_1970_s,
    stamp,
    unit_in,
)
from ckptplanner.text import Text, text
from ckptplanner.units import SECONDS

EVENTS_CAP = 100_000

_LANL_TITLE = text("Failure data of Los Alamos")
_LOG_TITLE = text("Log of interruptions")
_TABLE_TITLE = text("Table")
_LANL_CAUSES: tuple[tuple[str, Kind], ...] = (
    ("hardware", "node"),
    ("network", "node"),
    ("software", "process"),
    ("facilities", "cluster"),
    ("human error", "unknown"),
    ("undetermined", "unknown"),
)
# the headings of a plain log; with any other the columns are asked
_KINDS = frozenset({"kind", "cause"})
_COUNTS = frozenset({"nodes", "nnodes"})
_NAMES = frozenset({"node", "host", "hostname"})
_IGNORED = frozenset({"note", "notes", "comment", "remark"})
# tables that other readers know, by words of their headings
_OTHERS = (
    ("operation", "path type"),  # elbencho
    ("access", "bw(mib/s)"),  # IOR
    ("jobidraw", "state"),
    ("jobid", "state"),
    ("nodename", "timestart"),
)


def _first_rows(head: Head) -> list[list[str]]:
    """The first rows of what may be a table, stripped; empty where it is none."""
    lines = [line for line in head.lines[:60] if line.strip() and not line.startswith("#")][: ROWS_SHOWN + 1]
    if not lines or head.is_json or any(len(line) > 20_000 for line in lines):
        return []
    try:
        return [[cell.strip() for cell in cells] for cells in csv.reader(lines, delimiter=delimiter_of(lines[0]), strict=True)]
    except csv.Error:
        return []


# ---------------------------------------------------------------- Los Alamos


def _knows_lanl(head: Head) -> bool:
    found = _first_rows(head)
    return bool(found) and {"system", "prob started"} <= set(heading_words(found[0]))


def _read_lanl(opened: Opened) -> FileEvidence:
    table = rows(opened)
    words = heading_words(next(table, (0, []))[1])
    at = {word: index for index, word in reversed(list(enumerate(words)))}
    if not {"system", "prob started"} <= set(at):
        raise opened.refuse("a table with the columns System and Prob Started is expected")
    system, start = at["system"], at["prob started"]
    size, node, down = at.get("nodes"), at.get("nodenum"), at.get("down time")
    causes = [(at[name], name, kind) for name, kind in _LANL_CAUSES if name in at]
    last = max(at.values())
    events: list[Event] = []
    left_out: list[int] = []
    said: dict[str, str] = {}
    is_capped = False
    for line, cells in table:
        if len(cells) <= last or not _is_small(cells[system]) or (time := stamp(cells[start])) is None:
            left_out.append(line)
            continue
        if len(events) >= EVENTS_CAP:
            is_capped = True
            break
        index, name, kind = next((one for one in causes if cells[one[0]]), (start, "", "unknown"))
        why = name.capitalize() if not name or cells[index].casefold() == name else f"{name.capitalize()}: {cells[index][:40]}"
        events.append(
            Event(
                at_s=since_1970_s(time),
                kind=kind,
                said=said.setdefault(why, words_of(why)),
                place=opened.place(f"line {line}"),
                nodes=_count(cells, size) or None,
                node_names=(cells[node],) if node is not None and _is_small(cells[node]) else (),
                downtime_s=None if (minutes := _count(cells, down)) is None else 60.0 * minutes,
                is_zoned=time.tzinfo is not None,
                system=cells[system],
            )
        )
    if not events:
        raise opened.refuse("there is no row with a system and a start such as 6/21/2005 10:54")
    return _evidence(opened, "lanl-table", _LANL_TITLE, events, [*_left_out(left_out), *_capped(is_capped)])


def _is_small(cell: str) -> bool:
    """Whether it is a number of at most six digits."""
    return cell.isdecimal() and cell.isascii() and len(cell) <= 6


def _count(cells: Sequence[str], column: int | None) -> int | None:
    """A whole number that is above 0 or a downtime, None where the cell is blank."""
    cell = "" if column is None else cells[column]
    return int(cell) if cell.isdecimal() and cell.isascii() and len(cell) <= 9 else None


def _left_out(lines: Sequence[int]) -> Iterator[Text]:
    if lines:
        yield text(
            "Rows that could not be read, left out: {count}; the first is line {line}.",
            count=len(lines),
            line=lines[0],
        )


def _capped(is_capped: bool) -> Iterator[Text]:
    if is_capped:
        yield text("Only the first {count} events were read.", count=f"{EVENTS_CAP:,}")


def _evidence(opened: Opened, reader: str, title: Text, events: Sequence[Event], warnings: Sequence[Text]) -> FileEvidence:
    date = day_of(max(event.at_s for event in events)) or opened.date
    return FileEvidence(reader, title, opened.name, date, events=tuple(events), warnings=tuple(warnings))


# ---------------------------------------------------------------- a plain log


def _plain_mapping(found: Sequence[Sequence[str]]) -> ColumnMapping | None:
    """The columns of a plain log by their headings; None where one of them is not known here."""
    if len(found) < 2:
        return None
    headings = headings_of(found[0])
    words = heading_words(headings)
    downtime = next((name for name in headings if _is_downtime(name)), "")
    time = next((word for word in TIME_HEADINGS if word in words), "")
    scale = None if time else next((number_scale(word) for word in words if number_scale(word) is not None), None)
    time = time or next((word for word in words if number_scale(word) is not None), "")
    known = {time, downtime.casefold(), "job", "system"} | _KINDS | _COUNTS | _NAMES | _IGNORED
    if not time or not set(words) <= known or len(set(words)) < len(words):
        return None
    cells = [row[words.index(time)] for row in found[1:] if words.index(time) < len(row)]
    cell, day_first = next(iter(cells), ""), _day_first(cells)[0]
    if scale is None and stamp(cell, is_day_first=day_first) is None:
        return None

    def named(wanted: frozenset[str] | set[str]) -> str:
        return next((heading for heading, word in zip(headings, words, strict=True) if word in wanted), "")

    unit = unit_in(downtime)
    return ColumnMapping(
        time=named({time}),
        time_format="elapsed" if scale is not None else "iso" if not is_numbered(cell) else "d/m/y" if day_first else "m/d/y",
        time_scale=scale or 1.0,
        duration=downtime,
        duration_scale=unit[2] if unit else 1.0,
        kind=named(_KINDS),
        nodes=named(_COUNTS),
        node_names=named(_NAMES),
        system=named({"system"}),
    )


def _day_first(cells: Sequence[str]) -> tuple[bool, tuple[Text, ...]]:
    """Whether dates with slashes begin with the day, as one above 12 tells; else the month is taken, and said."""
    slashed = [cell for cell in cells if is_numbered(cell)]
    told = is_day_first(slashed)
    if slashed and told is None:
        return False, (text("Dates such as {date} are taken as month/day/year.", date=words_of(slashed[0])[:40]),)
    return told is True, ()


def _order(opened: Opened, column: int) -> tuple[bool, tuple[Text, ...]]:
    """Whether the dates of a column begin with the day, by all its rows, and what was assumed.

    Raises:
        ReaderError: some can only begin with the day and others only with the month.
    """
    told: dict[bool, tuple[int, str]] = {}
    first = ""
    for line, cells in islice(rows(opened), ROWS_CAP + 1):
        cell = cells[column] if column < len(cells) else ""
        if not is_numbered(cell):
            continue
        first = first or cell
        order = is_day_first([cell])
        if order is not None and order not in told:
            told[order] = line, cell
            if len(told) == 2:
                raise opened.refuse(
                    f"some of its dates are day/month/year ({words_of(told[True][1])[:40]}, line {told[True][0]}) and others "
                    f"month/day/year ({words_of(told[False][1])[:40]}, line {told[False][0]}), so the rest may be either; "
                    "write them as 2026-11-29"
                )
    return (True in told, ()) if told or not first else _day_first([first])


def _is_downtime(heading: str) -> bool:
    unit = unit_in(heading)
    return unit is not None and unit[1] is SECONDS and heading.casefold().startswith(("downtime", "down time", "duration"))


def _is_stamps(found: Sequence[Sequence[str]]) -> bool:
    """Whether these lines are time stamps and nothing else."""
    if not found or any(len(cells) != 1 for cells in found):
        return False
    return all(stamp(cells[0]) or stamp(cells[0], is_day_first=True) for cells in found)


def _knows_log(head: Head) -> bool:
    found = _first_rows(head)
    if not found or _knows_lanl(head):
        return False
    return _is_stamps(found) or _plain_mapping(found) is not None


def _read_log(opened: Opened) -> FileEvidence:
    found = _first_rows(opened.head)
    if _is_stamps(found):
        return _read_stamps(opened, *_order(opened, 0))
    mapping = _plain_mapping(found)
    if mapping is None:
        raise opened.refuse("a CSV with a column time, or one time stamp a line, is expected")
    assumed: tuple[Text, ...] = ()
    if mapping.time_format in ("m/d/y", "d/m/y"):
        day_first, assumed = _order(opened, heading_words(headings_of(found[0])).index(mapping.time.casefold()))
        mapping = replace(mapping, time_format="d/m/y" if day_first else "m/d/y")
    said = read_mapped(opened, mapping, reader="event-log")
    warnings = (*assumed, *said.warnings)
    return FileEvidence(said.reader, _LOG_TITLE, said.file, said.date, events=said.events, warnings=warnings)


def _read_stamps(opened: Opened, day_first: bool, assumed: Sequence[Text]) -> FileEvidence:
    events: list[Event] = []
    left_out: list[int] = []
    for line, cells in islice(rows(opened), EVENTS_CAP + 1):
        time = stamp(cells[0], is_day_first=day_first)
        at_s = 0.0 if time is None else since_1970_s(time)
        if time is None or at_s <= 0:
            left_out.append(line)
        else:
            events.append(Event(at_s, "unknown", "", opened.place(f"line {line}"), is_zoned=time.tzinfo is not None))
    if len(left_out) >= len(events):
        raise opened.refuse("most lines are no time such as 2026-11-29T14:05", left_out[0] if left_out else None)
    is_capped = len(events) > EVENTS_CAP
    return _evidence(
        opened, "event-log", _LOG_TITLE, events[:EVENTS_CAP], [*assumed, *_left_out(left_out), *_capped(is_capped)]
    )


# ---------------------------------------------------------------- any other table


def _knows_table(head: Head) -> bool:
    """A heading with at least two names, and rows that have as many cells; none that another reader knows."""
    found = _first_rows(head)
    if len(found) < 2 or len(found[0]) < 2 or _knows_log(head) or _knows_lanl(head):
        return False
    words = heading_words(found[0])
    is_heading = all(words) and not any(stamp(word) or word.lstrip("[(")[:1].isdigit() for word in words)
    has_cells = all(len(cells) == len(words) for cells in found)
    return is_heading and has_cells and not any(set(signs) <= set(words) for signs in _OTHERS)


def _read_table(opened: Opened) -> FileEvidence:
    table = rows(opened)
    heading = next(table, (0, []))[1]
    first = [cells for _, cells in islice(table, ROWS_SHOWN)]
    line = next((line for line in opened.head.lines if line.strip() and not line.startswith("#")), "")
    raise MappingNeeded(opened.name, headings_of(heading), first, delimiter_of(line))


READERS: tuple[Reader, ...] = (
    Reader("lanl-table", _LANL_TITLE, _knows_lanl, _read_lanl),
    Reader("event-log", _LOG_TITLE, _knows_log, _read_log),
    Reader("table", _TABLE_TITLE, _knows_table, _read_table),
)
