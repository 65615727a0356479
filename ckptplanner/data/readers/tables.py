"""Tables in a user's file, and what their cells mean: the delimiter, rows with their lines, time stamps, units in a heading.

Shared by `interruption_log` (gaps for the backtest), `event_tables` and `column_mapping`.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from ckptplanner.data.readers.source import Opened
from ckptplanner.units import BYTES, BYTES_PER_S, DAY, HOUR, MINUTE, SECONDS, Unit, UnitError, parse

DELIMITERS = ",;\t|"
TIME_HEADINGS = (
    "time",
    "timestamp",
    "start",
    "started",
    "start_time",
    "datetime",
    "date",
    "created_at",
    "created_on",
)
FAR_S = 1e12
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

_SCALES = {"s": 1.0, "sec": 1.0, "second": 1.0, "min": MINUTE, "minute": MINUTE, "h": HOUR, "hr": HOUR, "hour": HOUR,
           "d": DAY, "day": DAY}  # fmt: skip
_NUMBERS = re.compile(r"(?:(?:time|t|at|start|elapsed|age|uptime)[ _]*)?[(\[]?([a-z]+?)s?[)\]]?")
_CLOCK = r"(?:,?[ T]+(\d{1,2}):(\d{2})(?::(\d{2})(?:\.\d{1,9})?)?(?: ?([AaPp])\.?[Mm]\.?)?)?"
_NUMBERED = re.compile(rf"(\d{{1,2}})([/.-])(\d{{1,2}})\2(\d{{4}}){_CLOCK}", re.ASCII)  # 11/29/2026, 29.11.2026, 29-11-2026
_WEEKDAY, _MONTH = r"(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]{0,6},? )?", r"([a-z]{3,9})\.?"
_NAMED = (
    re.compile(rf"{_WEEKDAY}(?P<day>\d{{1,2}})\.?[ -](?P<month>{_MONTH})[ -](\d{{4}}){_CLOCK}", re.ASCII | re.IGNORECASE),
    re.compile(rf"{_WEEKDAY}(?P<month>{_MONTH}) (?P<day>\d{{1,2}}),? (\d{{4}}){_CLOCK}", re.ASCII | re.IGNORECASE),
)  # 29 Nov 2026, Nov 29, 2026
_MONTHS = ("january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
           "december")  # fmt: skip
_WORD = re.compile(r"[^\W\d_]{1,12}(?:/[a-z]{1,6})?", re.IGNORECASE)
_BRACKETED = re.compile(r"[^()\[\]]*[(\[]\s*([^()\[\]]{1,20}?)\s*[)\]]\s*")
_ENDING = re.compile(r".*?[a-z0-9][ _,]+(?:in )?([a-z]{2,12}|[shd]|[kmgt]i?b(?:/s|ps))", re.IGNORECASE)


def delimiter_of(line: str) -> str:
    """The delimiter that a line has most of; a comma where it has none."""
    return max(DELIMITERS, key=line.count)


def rows(opened: Opened) -> Iterator[tuple[int, list[str]]]:
    """Line numbers and stripped cells in one pass, without empty lines and those that begin with #; the heading is the first.

    Raises:
        ReaderError: quotes that do not close, a cell of more than 131,072 characters, or the file cannot be read.
    """
    first = next((line for line in opened.head.lines if line.strip() and not line.startswith("#")), "")
    line = 0

    def lines() -> Iterator[str]:
        nonlocal line
        for number, words in opened.lines():
            line = number
            yield words

    try:
        for cells in csv.reader(lines(), delimiter=delimiter_of(first), strict=True):
            row = [cell.strip() for cell in cells]
            if any(row) and not row[0].startswith("#"):
                yield line, row
    except csv.Error as error:
        raise opened.refuse(f"it is no line of a CSV ({error})", line) from None


def stamp(cell: str, *, is_day_first: bool | None = None) -> datetime | None:
    """A time stamp: ISO 8601, with the month in words, or in numbers; None for anything else.

    Args:
        cell: 2026-11-29T14:05, 29 Nov 2026 14:05, Nov 29, 2026 2:05 PM, 11/29/2026 14:05, 29.11.2026 14:05; with UTC or GMT.
        is_day_first: Whether 3/4/2026 is the third of April; None: it is the fourth of March, and dots and dashes are none.
    """
    bare = _bare(cell)
    found = _stamp(bare, is_day_first=is_day_first)
    return found.replace(tzinfo=UTC) if found is not None and found.tzinfo is None and bare != cell else found


def _bare(cell: str) -> str:
    return cell[:-4] if cell.endswith((" UTC", " GMT")) else cell


def _stamp(cell: str, *, is_day_first: bool | None) -> datetime | None:
    try:
        if (numbered := _NUMBERED.fullmatch(cell)) is not None:
            if numbered[2] != "/" and is_day_first is None:
                return None
            month, day = int(numbered[1]), int(numbered[3])
            return _moment(int(numbered[4]), *((day, month) if is_day_first else (month, day)), numbered.groups()[4:])
        if (named := next((found for one in _NAMED if (found := one.fullmatch(cell)) is not None), None)) is not None:
            word = named["month"].rstrip(".").casefold()
            month = next((at for at, name in enumerate(_MONTHS, start=1) if name.startswith(word)), 0)
            return _moment(int(named.groups()[-5]), month, int(named["day"]), named.groups()[-4:])
        # a bare number must not be read as a date without dashes
        return datetime.fromisoformat(cell) if "-" in cell[1:] else None
    except ValueError:
        return None


def _moment(year: int, month: int, day: int, clock: Sequence[str | None]) -> datetime | None:
    """A day and a time of it: hour, minute, second and a or p. Raises ValueError where there is no such day."""
    hour, minute, second = (int(part or 0) for part in clock[:3])
    half = (clock[3] or "").lower()
    if half and not 1 <= hour <= 12:
        return None
    return datetime(year, month, day, hour % 12 + (12 if half == "p" else 0) if half else hour, minute, second)


def is_numbered(cell: str) -> bool:
    """Whether it is a date of numbers whose order must be known: 3/4/2026, 3.4.2026, 3-4-2026."""
    return _NUMBERED.fullmatch(_bare(cell)) is not None


def is_day_first(cells: Sequence[str]) -> bool | None:
    """Whether dates of numbers begin with the day: told by the first number above 12, or by dots; None where neither tells."""
    found = [match for cell in cells if (match := _NUMBERED.fullmatch(_bare(cell))) is not None]
    if any(int(match[1]) > 12 for match in found):
        return True
    if any(int(match[3]) > 12 for match in found):
        return False
    return True if found and all(match[2] == "." for match in found) else None


def since_1970_s(time: datetime) -> float:
    """Seconds since 1970, of a time without a zone as if it were UTC. [s]"""
    return ((time if time.tzinfo else time.replace(tzinfo=UTC)) - EPOCH).total_seconds()


def number_scale(heading: str) -> float | None:
    """The seconds in the unit that a heading of times names: hours, time_s, elapsed (min)."""
    found = _NUMBERS.fullmatch(heading)
    return _SCALES.get(found[1]) if found else None


def unit_in(heading: str) -> tuple[str, Unit, float] | None:
    """The unit that a heading names, as it stands there: "Duration (min)" -> "min", seconds, 60.0; "bw(KiB/s)", "load_ms".

    None where it names none that is known: a bracket may as well hold "last" or "GPU".
    """
    for pattern in (_BRACKETED, _ENDING):
        found = pattern.fullmatch(heading.strip())
        if found is not None and (scaled := scale_of(found[1])) is not None:
            return (found[1], *scaled)
    return None


def scale_of(word: str) -> tuple[Unit, float] | None:
    """What kind of unit a word such as min, ms, GiB or KiB/s is, and how many seconds, bytes or bytes/s it has."""
    if _WORD.fullmatch(word) is None:
        return None
    for unit in (SECONDS, BYTES, BYTES_PER_S):
        try:
            return unit, parse(f"1 {word}", unit)
        except UnitError:
            continue
    return None


def heading_words(cells: Sequence[str]) -> list[str]:
    """Headings as they are compared: without case and without what surrounds them."""
    return [cell.strip().casefold() for cell in cells]
