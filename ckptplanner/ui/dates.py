"""Dates as files have them: moments as text, and ticks of an axis at whole hours, days, months or years.

Seconds are since 1970; what lies beyond the years 1 to 9999 stands at their end.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

from ckptplanner.units import DAY, HOUR, MINUTE

_EPOCH = datetime(1970, 1, 1)
_FIRST, _LAST = datetime(1, 1, 1), datetime(9999, 12, 31)
TICK_ROOM = 84.0  # what a date at a tick needs [px]
_CLOCK = tuple(n * MINUTE for n in (1, 2, 5, 10, 15, 30)) + tuple(n * HOUR for n in (1, 2, 3, 6, 12))
_DAYS = (1, 2, 5, 10, 20)
_MONTHS = (1, 2, 3, 6)
_MONTH_S, _YEAR_S = 30.4 * DAY, 365.25 * DAY
Tick = tuple[float, str]


def date_of(seconds: float) -> datetime:
    """The date of a moment. [s since 1970]"""
    try:
        return _EPOCH + timedelta(seconds=seconds)
    except OverflowError:
        return _LAST if seconds > 0 else _FIRST


def moment_text(seconds: float) -> str:
    """A moment to the minute: 2026-11-29 14:05."""
    made = date_of(seconds)
    return f"{made.year:04}-{made.month:02}-{made.day:02} {made.hour:02}:{made.minute:02}"


def day_text(seconds: float) -> str:
    """A day: 2026-11-29."""
    return moment_text(seconds)[:10]


def span_text(begin_s: float, end_s: float) -> tuple[str, str]:
    """The ends of a stretch, as days; to the minute where it is short."""
    say_end = moment_text if end_s - begin_s < 4 * DAY else day_text
    return say_end(begin_s), say_end(end_s)


def date_ticks(begin_s: float, end_s: float, width: float, room: float = TICK_ROOM) -> list[Tick]:
    """Ticks with their words at whole dates inside a range, no closer than `room` pixels."""
    if not end_s > begin_s:
        return []
    least = (end_s - begin_s) * room / max(width, room)
    if (clock := next((step for step in _CLOCK if step >= least), None)) is not None:
        first = -(-begin_s // clock)
        places = [(first + index) * clock for index in range(int((end_s - first * clock) // clock) + 1)]
        return [(place, moment_text(place)[5:]) for place in places]
    dates, size = _dates(begin_s, end_s, least)
    found = [((made - _EPOCH).total_seconds(), f"{made.year:04}-{made.month:02}-{made.day:02}"[:size]) for made in dates]
    return [one for one in found if begin_s <= one[0] <= end_s]


def _dates(begin_s: float, end_s: float, least: float) -> tuple[Iterator[datetime], int]:
    """Whole days, months or years at least so far apart, and how many letters of the date tell them."""
    begin, end = date_of(begin_s), date_of(end_s)
    if (days := next((n for n in _DAYS if n * DAY >= least), None)) is not None:
        return _whole_days(begin, end, days), 10
    if (months := next((n for n in _MONTHS if n * _MONTH_S >= least), None)) is not None:
        return _whole_months(begin, end, months), 7
    years = next((n for n in (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000) if n * _YEAR_S >= least), 2000)
    return _whole_months(begin, end, 12 * years), 4


def _whole_days(begin: datetime, end: datetime, step: int) -> Iterator[datetime]:
    ordinal = -(-begin.toordinal() // step) * step
    while ordinal <= end.toordinal():
        yield datetime.fromordinal(ordinal)
        ordinal += step


def _whole_months(begin: datetime, end: datetime, step: int) -> Iterator[datetime]:
    index = -(-(begin.year * 12 + begin.month - 1) // step) * step
    while index <= min(end.year, 9999) * 12 + end.month - 1:
        if index >= 12:
            yield datetime(index // 12, index % 12 + 1, 1)
        index += step
