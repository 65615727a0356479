"""What the headings and first rows of a table suggest about its columns; a person confirms it in the dialog.

suggested_mapping(headings, rows) -> ColumnMapping, with `asks` for what only the person can tell; None for no idea
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from ckptplanner.data.evidence import QUANTITIES
from ckptplanner.data.readers.column_mapping import ColumnMapping, RowsAre, TimeFormat, ValueColumn, number, time_of
from ckptplanner.data.readers.tables import TIME_HEADINGS, is_day_first, is_numbered, stamp, unit_in
from ckptplanner.text import Text, text
from ckptplanner.units import COUNT, SECONDS

_STARTS = (
    *TIME_HEADINGS,
    "started_at",
    "created",
    "_timestamp",
    "triggered_at",
    "begin",
    "opened_at",
    "wall_time",
    "prob started",
)
_ENDS = ("end", "ended", "end_time", "ended_at", "resolved_on", "resolved_at", "finished", "finished_at", "stop", "closed_at",
         "fixed", "prob fixed", "updated")  # fmt: skip
_KINDS = ("kind", "type", "cause", "category", "class", "reason", "state", "status", "root_cause")
_COUNTS = ("nodes", "nnodes", "num_nodes", "node_count")
_NAMES = ("node", "host", "hostname", "node_name", "nodelist")
_JOBS = ("job", "job_name", "run", "run_name", "name")
_STEPS = ("step", "_step", "global_step", "trainer/global_step", "iteration", "iter")
_LENGTHS = ("downtime", "down", "duration", "runtime", "_runtime", "outage", "elapsed", "time to resolve")
# words of a heading, all of them, and the quantity; a save's time is left to the person: it may be C, t or t_w
_VALUES: tuple[tuple[str, str], ...] = (
    ("step time", "step"), ("iteration time", "step"), ("time per iteration", "step"), ("time per step", "step"),
    ("blocking", "stop"), ("stall", "stop"), ("stop time", "stop"),
    ("write time", "write"), ("detect", "detect"), ("reschedule", "reschedule"),
    ("restore", "restore_read"), ("checkpoint load", "restore_read"), ("load checkpoint", "restore_read"),
    ("checkpoint size", "checkpoint"), ("checkpoint bytes", "checkpoint"),
    ("write bw", "writes_at"), ("write bandwidth", "writes_at"), ("write throughput", "writes_at"), ("write rate", "writes_at"),
    ("read bw", "reads_at"), ("read bandwidth", "reads_at"), ("read throughput", "reads_at"), ("read rate", "reads_at"),
)  # fmt: skip
_RUN_WORDS = frozenset({"finished", "crashed", "failed", "killed", "running", "preempted", "completed", "cancelled", "timeout"})

Columns = Mapping[str, Sequence[str]]


def suggested_mapping(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> ColumnMapping | None:
    """What the columns seem to be, of a table with these headings and first rows; None where nothing is recognised."""
    columns = {
        heading: tuple(row[index] for row in rows if index < len(row) and row[index]) for index, heading in enumerate(headings)
    }
    times = {name: found for name, cells in columns.items() if (found := _time_format(name, cells)) is not None}
    time = _first(times, _STARTS) or next((name for name in times if _bare(name) not in _ENDS), "")
    plan = ColumnMapping(time=time)
    if time:
        plan = replace(plan, time_format=times[time][0], time_scale=times[time][1], asks=times[time][2])
    same = [name for name, found in times.items() if name != time and found[0] == plan.time_format]
    others = [name for name in columns if name not in times]
    plan = replace(
        plan,
        end=_first(same, _ENDS),
        kind=_first(others, _KINDS),
        nodes=_first([name for name in others if _is_count(columns[name])], _COUNTS),
        node_names=_first(others, _NAMES),
        job=_first(others, _JOBS),
        system=_first(others, ("system", "cluster")),
        step=_first([name for name in others if _is_count(columns[name])], _STEPS),
        values=tuple(_values(columns, others)),
    )
    plan = _with_length(plan, columns)
    rows_are = _rows_are(plan, columns)
    if rows_are is None:
        return None
    return replace(plan, rows_are=rows_are, job=plan.job if rows_are == "runs" else "")


def _bare(heading: str) -> str:
    """A heading without its unit and case: Duration (min) -> duration, downtime_s -> downtime."""
    low = heading.casefold().strip()
    unit = unit_in(heading)
    if unit is not None:
        low = re.sub(rf"[\s_,]*(?:in )?[(\[]?\s*{re.escape(unit[0].casefold())}\s*[)\]]?$", "", low)
    return low.strip()


def _first(names: Iterable[str], wanted: Sequence[str]) -> str:
    """The name that comes first among those wanted; empty for none."""
    there = {_bare(name).replace(" ", "_"): name for name in reversed(list(names))}
    return next((there[word.replace(" ", "_")] for word in wanted if word.replace(" ", "_") in there), "")


def _is_count(cells: Sequence[str]) -> bool:
    return bool(cells) and all(number(cell, COUNT, 1.0) is not None for cell in cells)


def _time_format(name: str, cells: Sequence[str]) -> tuple[TimeFormat, float, tuple[Text, ...]] | None:
    """How the cells of a column write times, the seconds in one, and what must be asked; None where they are no times."""
    if not cells:
        return None
    if all(is_numbered(cell) for cell in cells):
        return _numbered(cells)
    if all(time_of(cell, ColumnMapping()) is not None for cell in cells):
        return "iso", 1.0, ()
    is_named = _bare(name).replace(" ", "_") in _STARTS or _bare(name) in _ENDS or "timestamp" in name.casefold()
    for kind, low, high in (("epoch_s", 1e9, 4e9), ("epoch_ms", 1e12, 4e12)):
        if is_named and all(_is_between(cell, low, high) for cell in cells):
            return ("epoch_s" if kind == "epoch_s" else "epoch_ms"), 1.0, ()
    low_name = name.casefold()
    if low_name.startswith("relative time") or low_name in ("hours", "seconds", "minutes"):
        unit = unit_in(f"t ({name})") or unit_in(name)
        if _is_count_or_decimal(cells):
            asks = () if unit else (text("In which unit is the column {column}? Seconds were taken.", column=name),)
            return "elapsed", unit[2] if unit else 1.0, asks
    return None


def _is_between(cell: str, low: float, high: float) -> bool:
    value = number(cell, COUNT, 1.0) if "." not in cell else _decimal(cell)
    return value is not None and low <= value < high


def _decimal(cell: str) -> float | None:
    return number(cell, SECONDS, 1.0) if re.fullmatch(r"[\d.]+", cell) else None


def _is_count_or_decimal(cells: Sequence[str]) -> bool:
    return all(_decimal(cell) is not None for cell in cells)


def _numbered(cells: Sequence[str]) -> tuple[TimeFormat, float, tuple[Text, ...]] | None:
    """Whether 3/4/2026 is the fourth of March: a number above 12 tells, and else it must be asked."""
    day_first = is_day_first(cells)
    if not all(stamp(cell, is_day_first=day_first is True) for cell in cells):
        return None
    if day_first is not None:
        return ("d/m/y" if day_first else "m/d/y"), 1.0, ()
    return "", 1.0, (text("Are dates such as {date} month/day/year or day/month/year?", date=cells[0][:40]),)


def _values(columns: Columns, names: Iterable[str]) -> Iterable[ValueColumn]:
    """Columns whose heading names a quantity, with the unit that it names."""
    for name in names:
        words = " ".join(re.split(r"[^a-z0-9]+", name.casefold()))
        found = unit_in(name)
        unit = found[1] if found else None
        quantity = next((quantity for part, quantity in _VALUES if part in words), "")
        if quantity and unit == QUANTITIES[quantity].unit and found and _is_count_or_decimal(columns[name]):
            yield ValueColumn(name, quantity, found[2], found[0])


def _with_length(plan: ColumnMapping, columns: Columns) -> ColumnMapping:
    """With the column that says how long each row took."""
    taken = {plan.time, plan.end, *(column.column for column in plan.values)}
    name = _first([name for name in columns if name not in taken], _LENGTHS)
    if not name or plan.end:
        return plan
    unit = unit_in(name)
    is_plain = _is_count_or_decimal(columns[name])
    asks = plan.asks
    if is_plain and unit is None:
        asks = (*asks, text("In which unit is the column {column}? Seconds were taken.", column=name))
    return replace(plan, duration=name, duration_scale=unit[2] if unit and unit[1] is SECONDS else 1.0, asks=asks)


def _rows_are(plan: ColumnMapping, columns: Columns) -> RowsAre | None:
    if plan.time and plan.step:
        return "steps"
    words = {cell.casefold() for cell in columns.get(plan.kind, ())}
    if plan.time and (plan.end or plan.duration) and words & _RUN_WORDS:
        return "runs"
    if plan.values and not plan.kind and not (plan.end or plan.duration):
        return "values"
    return "events" if plan.time else None
