"""Any table of a user, once a person has said which column is what: `read_mapped(opened, mapping)`.

    MappingNeeded   headings and first rows, for the dialog that asks
    suggested_mapping(headings, rows) -> ColumnMapping     what the headings, their units and the first cells suggest
    read_mapped(opened, ColumnMapping) -> FileEvidence     rows as events, runs, values, or a series of steps

For exports of trackers (W&B), of pagers (PagerDuty) and tables kept by hand. What a column means is never guessed silently:
units that a heading names are shown in the suggestion, and dates such as 3/4/2026 are asked about until a day above 12 tells.
"""

from __future__ import annotations

import math
import re
import statistics
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from ckptplanner.data.evidence import KIND_TITLES, QUANTITIES, Event, FileEvidence, Kind, Measured, Run
from ckptplanner.data.readers.errors import ReaderError, shown
from ckptplanner.data.readers.slurm_jobs import (
    LATEST_S,
    STATES,
    Found,
    day_of,
    elapsed_s,
    whole_number,
    words_of,
)
from ckptplanner.data.readers.source import Opened
from ckptplanner.data.readers.tables import is_numbered, rows, since_1970_s, stamp
from ckptplanner.text import Text, text
from ckptplanner.units import COUNT, SECONDS, Unit, UnitError, parse

ROWS_CAP = 100_000
ROWS_SHOWN = 20
PAUSE = 10.0  # a step that took this many times the median is no step time

# how times may be written, for the sentence that refuses a column
SPELLINGS = "2026-11-29 14:05, 29 Nov 2026 14:05, Nov 29, 2026 2:05 PM, 29.11.2026 14:05, 11/29/2026 14:05, seconds since 1970"
_UTC = re.compile(r"\b(?:utc|gmt)\b", re.IGNORECASE)  # in a heading: its times have a zone

TimeFormat = Literal["iso", "m/d/y", "d/m/y", "epoch_s", "epoch_ms", "elapsed", ""]
RowsAre = Literal["events", "runs", "values", "steps"]

_NUMBER = re.compile(r"[-+]?(?:\d{1,3}(?:,\d{3})+|\d{1,20})?(?:\.\d{0,30})?(?:e[-+]?\d{1,3})?", re.IGNORECASE)
_MEANINGS: tuple[tuple[Kind, str], ...] = (
    ("node", "node nodes hardware hw gpu gpus cpu memory dimm ecc xid nic nvlink nvswitch host disk ssd psu network"),
    ("process", "process software sw oom failed failure bug nccl hang hung exception segfault"),
    ("cluster", "cluster storage filesystem lustre fsx power cooling facility facilities switch fabric"),
    ("preempted", "preempted preemption spot"),
    ("cancelled", "cancelled canceled killed planned maintenance manual"),
    ("limit", "timeout limit"),
    ("completed", "completed finished done success succeeded"),
    ("open", "running open"),
    ("unknown", "unknown undetermined crashed crash other"),  # crashed in W&B: no sign of life any more
)
_WORDS: dict[str, Kind] = {word: kind for kind, words in _MEANINGS for word in words.split()}


@dataclass(frozen=True, slots=True)
class ValueColumn:
    """A column of measured values: which quantity, and how much of its unit (SI) one of the column is."""

    column: str
    quantity: str  # an id of QUANTITIES
    scale: float = 1.0
    unit: str = ""  # as the heading names it, for showing


@dataclass(frozen=True, slots=True)
class ColumnMapping:
    """Which column is what; columns by their heading, "" for none."""

    rows_are: RowsAre = "events"
    time: str = ""
    time_format: TimeFormat = "iso"  # "": it must be asked
    time_scale: float = 1.0  # seconds in one of an elapsed time
    end: str = ""  # a time like the first
    duration: str = ""
    duration_scale: float = 1.0  # seconds in one of it
    kind: str = ""
    kinds: tuple[tuple[str, Kind], ...] = ()  # a word of that column and what it means, before what is known here
    nodes: str = ""  # a count
    node_names: str = ""
    job: str = ""
    system: str = ""
    step: str = ""  # a number that counts up, of a series
    values: tuple[ValueColumn, ...] = ()
    asks: tuple[Text, ...] = ()  # what the suggestion could not tell


class MappingNeeded(ReaderError):  # noqa: N818 - read as what it is in the sentence of an except
    """A table that is known only once a person says which column is what."""

    def __init__(self, source: str, headings: Sequence[str], first_rows: Sequence[Sequence[str]], delimiter: str) -> None:
        super().__init__(f"{source}: say which of its columns is what: {shown(', '.join(headings))[1:-1]}.")
        self.headings = tuple(headings)
        self.rows = tuple(tuple(row) for row in first_rows)
        self.delimiter = delimiter


def headings_of(cells: Sequence[str]) -> tuple[str, ...]:
    """What the columns are called: as they are, numbered where one has no name or the name of another."""
    names: list[str] = []
    for index, cell in enumerate(cells, start=1):
        name = words_of(cell)
        names.append(name if name and name not in names else f"column {index}")
    return tuple(names)


def kind_of(word: str) -> Kind | None:
    """What a word such as NODE_FAIL, gpu failure or killed means; None where it is not known here."""
    low = word.casefold().strip()
    for kind in KIND_TITLES:
        if low == kind:
            return kind  # type: ignore[return-value]
    state = STATES.get(word.strip().upper())
    if state is not None:
        return state
    parts = re.split(r"[^a-z0-9]+", low[:200])
    return next((_WORDS[part] for part in parts if part in _WORDS), None)


def number(cell: str, unit: Unit, scale: float) -> float | None:
    """A bare number times `scale`, or one with its own unit ("12 min", 0:12:30); None for anything else. In `unit`."""
    if cell and _NUMBER.fullmatch(cell):
        try:
            value = float(cell.replace(",", "")) * scale
        except ValueError:
            return None
    elif unit is SECONDS and (length := elapsed_s(cell)) is not None:
        value = length
    else:
        try:
            value = parse(cell[:60], unit)
        except UnitError:
            return None
    return value if math.isfinite(value) and 0 <= value < 1e18 else None


def time_of(cell: str, mapping: ColumnMapping) -> tuple[float, bool] | None:
    """Seconds since 1970 (or since an unknown moment, for elapsed times) and whether the zone is known."""
    kind = mapping.time_format
    if kind in ("iso", "m/d/y", "d/m/y"):
        if kind == "iso" and is_numbered(cell):
            return None
        found = stamp(cell, is_day_first=None if kind == "iso" else kind == "d/m/y")
        at_s = None if found is None else since_1970_s(found)
        zoned = found is not None and (found.tzinfo is not None or _UTC.search(mapping.time) is not None)
    else:
        scale = {"epoch_s": 1.0, "epoch_ms": 1e-3}.get(kind, mapping.time_scale)
        at_s, zoned = number(cell, SECONDS, scale), kind != "elapsed"
    least = 0.0 if kind == "elapsed" else 1.0
    return (at_s, zoned) if at_s is not None and least <= at_s < LATEST_S else None


def is_turned(cell: str, mapping: ColumnMapping) -> bool:
    """Whether a date with slashes is none in the order that was said, but one in the other."""
    other: TimeFormat | None = (
        "d/m/y" if mapping.time_format == "m/d/y" else "m/d/y" if mapping.time_format == "d/m/y" else None
    )
    return other is not None and time_of(cell, replace(mapping, time_format=other)) is not None


# ---------------------------------------------------------------- reading


@dataclass
class _Read:
    """What was read so far."""

    opened: Opened
    mapping: ColumnMapping
    events: list[Event] = field(default_factory=list)
    runs: list[Run] = field(default_factory=list)
    values: list[list[tuple[float, float | None, int]]] = field(default_factory=list)  # value, time, line
    steps: list[tuple[float, float, int]] = field(default_factory=list)  # time, step, line
    lost: list[tuple[float, float | None, int]] = field(default_factory=list)
    left_out: list[int] = field(default_factory=list)
    turned: tuple[int, str] | None = None  # the first row whose date can only be in the other order, and that date
    strange: Counter[str] = field(default_factory=Counter)
    found: Found = field(default_factory=Found)
    zones: set[bool] = field(default_factory=set)
    last_s: float = 0.0
    count: int = 0

    def kind(self, word: str) -> Kind:
        """What the word of the kind column means; the user's own meaning first."""
        if not self.mapping.kind or not word:
            return "unknown"
        low = word.casefold()
        own = next((kind for name, kind in self.mapping.kinds if name.casefold() == low), None)
        kind = own or kind_of(word)
        if kind is None:
            if len(self.strange) < 1000:
                self.strange[word[:60]] += 1
            return "unknown"
        return kind

    def add(self, row: dict[str, str], line: int) -> None:
        """One row."""
        plan = self.mapping
        time = time_of(row.get(plan.time, ""), plan) if plan.time else None
        if plan.time and time is None:
            self.left_out.append(line)
            if self.turned is None and is_turned(row.get(plan.time, ""), plan):
                self.turned = line, row[plan.time]
            return
        if time is not None:
            self.last_s = max(self.last_s, time[0])
            self.zones.add(time[1])
        for column, found in zip(plan.values, self.values, strict=True):
            value = number(row.get(column.column, ""), QUANTITIES[column.quantity].unit, column.scale)
            if value is not None:
                found.append((value, time[0] if time else None, line))
        if time is None or plan.rows_are == "values":
            return
        if plan.rows_are == "steps":
            self._step(row, time, line)
        elif plan.rows_are == "runs":
            self._run(row, time, line)
        else:
            self._event(row, time, line)

    def _length(self, row: dict[str, str], start_s: float) -> float | None:
        """From the time to the end, or the duration. [s]"""
        plan = self.mapping
        end = time_of(row.get(plan.end, ""), plan) if plan.end else None
        if end is not None:
            return end[0] - start_s if end[0] >= start_s else None
        return number(row.get(plan.duration, ""), SECONDS, plan.duration_scale) if plan.duration else None

    def _event(self, row: dict[str, str], time: tuple[float, bool], line: int) -> None:
        plan, word = self.mapping, words_of(row.get(self.mapping.kind, ""))
        self.events.append(
            Event(
                at_s=time[0],
                kind=self.kind(word),
                said=word[:60],
                place=self.opened.place(f"line {line}"),
                nodes=whole_number(row.get(plan.nodes, "")) or None,
                node_names=self.found.nodes(row.get(plan.node_names, "")),
                downtime_s=self._length(row, time[0]),
                is_zoned=time[1],
                system=words_of(row.get(plan.system, "")),
            )
        )

    def _run(self, row: dict[str, str], time: tuple[float, bool], line: int) -> None:
        plan, word = self.mapping, words_of(row.get(self.mapping.kind, ""))
        kind, length = self.kind(word), self._length(row, time[0])
        if kind != "open" and length is None:
            self.left_out.append(line)
            return
        end = None if kind == "open" or length is None else time[0] + length
        names = self.found.nodes(row.get(plan.node_names, ""))
        self.runs.append(
            Run(
                job=words_of(row.get(plan.job, "")) or self.opened.name,
                start_s=time[0],
                end_s=end,
                kind=kind,
                said=word[:60],
                place=self.opened.place(f"line {line}"),
                nodes=whole_number(row.get(plan.nodes, "")) or len(names) or None,
                node_names=names,
                seen_until_s=time[0] + length if end is None and length is not None else None,
                is_zoned=time[1],
            )
        )

    def _step(self, row: dict[str, str], time: tuple[float, bool], line: int) -> None:
        """A row of a series; a step that was there before marks a restart, and what lies between was lost."""
        step = number(row.get(self.mapping.step, ""), COUNT, 1.0)
        if step is None:
            self.left_out.append(line)
            return
        if self.steps and step <= self.steps[-1][1] and time[0] > self.steps[-1][0]:
            before_s, last, _ = self.steps[-1]
            said = f"step {last:g}, then {step:g}"
            self.events.append(Event(before_s, "unknown", said, self.opened.place(f"line {line}"), is_zoned=time[1]))
            self.lost.append((last - step, before_s, line))
        self.steps.append((time[0], step, line))

    def measured(self) -> list[Measured]:
        """The value columns, and step times and repeated steps of a series."""
        made = [
            self._measured(column.quantity, found, _note(column))
            for column, found in zip(self.mapping.values, self.values, strict=True)
        ]
        made.append(self._measured("lost_steps", self.lost, text("From a step that went back.")))
        made.append(self._step_times())
        return [one for one in made if one is not None]

    def _measured(self, quantity: str, found: list[tuple[float, float | None, int]], note: Text) -> Measured | None:
        if not found:
            return None
        times = tuple(at_s for _, at_s, _ in found if at_s is not None)
        at_s = times if len(times) == len(found) else ()
        place = self.opened.place(f"line {found[0][2]}")
        return Measured(quantity, tuple(value for value, _, _ in found), place, at_s, (note,))

    def _step_times(self) -> Measured | None:
        taken = [
            ((after[0] - before[0]) / (after[1] - before[1]), after[0], after[2])
            for before, after in zip(self.steps, self.steps[1:], strict=False)
            if after[1] > before[1] and after[0] > before[0]
        ]
        if not taken:
            return None
        usual = statistics.median(value for value, _, _ in taken)
        kept: list[tuple[float, float | None, int]] = [one for one in taken if one[0] <= PAUSE * usual]
        note = text(
            "From the times of the rows, with the saves between them; {count} pauses longer than ten usual steps are left out.",
            count=len(taken) - len(kept),
        )
        return self._measured("step", kept, note)

    def warnings(self) -> list[Text]:
        """What the user should know of the rows."""
        said = []
        if self.left_out:
            said.append(text(
                "Rows that could not be read, left out: {count}; the first is line {line}.",
                count=len(self.left_out), line=self.left_out[0],
            ))  # fmt: skip
        if self.strange:
            words = ", ".join(f"{shown(word)[1:-1]} {count}" for word, count in self.strange.most_common(5))
            said.append(text("Kinds that are not known here count as stops without a cause: {kinds}.", kinds=words))
        if self.mapping.time and self.mapping.time_format == "elapsed":
            said.append(text("Its times count from a moment that is not known: they can be put beside no other file's."))
        if len(self.zones) > 1:
            said.append(text("Some times have a zone and some have none: those without are taken as UTC."))
        if self.count >= ROWS_CAP:
            said.append(text("Only the first {count} rows were read.", count=f"{ROWS_CAP:,}"))
        return said


def _note(column: ValueColumn) -> Text:
    if column.unit:
        return text("Column {column}, in {unit}.", column=column.column, unit=column.unit)
    return text("Column {column}.", column=column.column)


def _check(opened: Opened, mapping: ColumnMapping, headings: Sequence[str]) -> None:
    """The mapping fits the table."""
    if mapping.time and not mapping.time_format:
        raise opened.refuse("say whether its dates are month/day/year or day/month/year")
    named = (mapping.time, mapping.end, mapping.duration, mapping.kind, mapping.nodes, mapping.node_names, mapping.job,
             mapping.system, mapping.step, *(column.column for column in mapping.values))  # fmt: skip
    missing = next((name for name in named if name and name not in headings), None)
    if missing is not None:
        raise opened.refuse(f"there is no column {shown(missing)}; there are {shown(', '.join(headings))[1:-1]}")
    if any(column.quantity not in QUANTITIES for column in mapping.values):
        raise opened.refuse("a column is mapped to a quantity that is not known")
    scales = (mapping.time_scale, mapping.duration_scale, *(column.scale for column in mapping.values))
    if not all(math.isfinite(scale) and scale > 0 for scale in scales):
        raise opened.refuse("the scale of a column is no positive number")
    if mapping.rows_are == "steps" and not mapping.step:
        raise opened.refuse("say which column counts the steps")
    if mapping.rows_are != "values" and not mapping.time:
        raise opened.refuse("say which column is the time")


def read_mapped(opened: Opened, mapping: ColumnMapping, *, reader: str = "mapped-table") -> FileEvidence:
    """Read a table of which a person has said which column is what.

    Raises:
        ReaderError: a column is not there, most rows cannot be read, or the mapping leaves something open.
    """
    table = rows(opened)
    headings = headings_of(next(table, (0, []))[1])
    _check(opened, mapping, headings)
    read = _Read(opened, mapping, values=[[] for _ in mapping.values])
    for line, cells in table:
        if read.count >= ROWS_CAP:
            break
        read.count += 1
        read.add(dict(zip(headings, cells, strict=False)), line)
    if read.turned is not None:
        line, cell = read.turned
        order = "month/day/year" if mapping.time_format == "m/d/y" else "day/month/year"
        raise opened.refuse(f"{shown(cell)[1:-1]} is no date in the order {order}, in which the others would be read", line)
    if read.left_out and 2 * len(read.left_out) > read.count:
        what = f"have no readable time; accepted are {SPELLINGS}" if mapping.time else "cannot be read"
        raise opened.refuse(f"{len(read.left_out):,} of {read.count:,} rows {what}", read.left_out[0])
    measured = read.measured()
    if not (measured or read.events or read.runs):
        raise opened.refuse("there is nothing in the columns that were chosen")
    date = day_of(read.last_s) if mapping.time_format != "elapsed" else ""
    return FileEvidence(
        reader, text("Table"), opened.name, date or opened.date, tuple(measured), tuple(read.runs), tuple(read.events),
        warnings=tuple(read.warnings()),
    )  # fmt: skip
