"""Values out of a user's JSON, where anything may stand anywhere: an object, a text, a number or a moment, or nothing."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from ckptplanner.data.readers.errors import printable

_FIRST_S, _LAST_S = 631_152_000.0, 4_102_444_800.0  # 1990 to 2100
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_DIGITS = re.compile(r"\d{9,17}(\.\d{1,9})?")
_SECRET = re.compile(
    r"arn:\S+|\b\d{12}\b|\b(?:\d{1,3}\.){3}\d{1,3}\b|\b(?:i|fs|eni|subnet|sg|vpc|ami|cr|vol)-[0-9a-f]{8,}\b"
    r"|\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b|\S+@\S+"
)


def as_object(value: Any) -> dict[str, Any]:
    """The object; an empty one where it is something else."""
    return value if isinstance(value, dict) else {}


def as_list(value: Any) -> list[Any]:
    """The list; an empty one where it is something else."""
    return value if isinstance(value, list) else []


def objects(value: Any) -> Iterator[tuple[int, dict[str, Any]]]:
    """The objects of a list, with their index."""
    for index, one in enumerate(as_list(value)):
        if isinstance(one, dict):
            yield index, one


def at(value: Any, *keys: str) -> Any:
    """What stands under these keys; None where there is nothing."""
    for key in keys:
        value = as_object(value).get(key)
    return value


def as_text(value: Any, most: int = 200) -> str:
    """The text, printable and on one line; empty where it is something else."""
    if not isinstance(value, str):
        return ""
    return " ".join(printable(value[: 2 * most]).split())[:most]


def anonymous(value: Any, most: int = 120) -> str:
    """The text without ids of accounts and of what belongs to them, addresses and ARNs."""
    return " ".join(_SECRET.sub("", as_text(value, 1_000)).split())[:most]


def as_number(value: Any, low: float = 0.0, high: float = 1e15) -> float | None:
    """The number where it is one from `low` to `high`; true and false are none."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if isinstance(value, int) and not low <= value <= high:  # may be too large for a float
        return None
    number = float(value)
    return number if math.isfinite(number) and low <= number <= high else None


def as_count(value: Any, high: int = 10_000_000) -> int | None:
    """The whole number from 0 on."""
    number = as_number(value, 0.0, float(high))
    return int(number) if number is not None and number == int(number) else None


def moment(value: Any) -> tuple[float, bool] | None:
    """Seconds since 1970 and whether the zone was known: from ISO 8601, or a number (s, ms, us, ns by its magnitude).

    None where it is no moment between 1990 and 2100.
    """
    if isinstance(value, str):
        return _of_text(value.strip()[:64])
    number = as_number(value, 0.0, 1e20)
    if number is None:
        return None
    for scale in (1.0, 1e-3, 1e-6, 1e-9):
        if _FIRST_S <= number * scale <= _LAST_S:
            return number * scale, True
    return None


def _of_text(words: str) -> tuple[float, bool] | None:
    if _DIGITS.fullmatch(words):
        return moment(float(words))
    if "-" not in words[1:]:  # a bare number must not be read as a date without dashes
        return None
    try:
        time = datetime.fromisoformat(words)
        is_zoned = time.tzinfo is not None
        seconds = ((time if is_zoned else time.replace(tzinfo=UTC)) - _EPOCH).total_seconds()
    except (ValueError, OverflowError):
        return None
    return (seconds, is_zoned) if _FIRST_S <= seconds <= _LAST_S else None


def day_of(seconds: float) -> str:
    """The day of a moment, YYYY-MM-DD in UTC."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d")
