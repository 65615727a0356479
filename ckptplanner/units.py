"""Units: what a float in a field means, how people write it and how it is shown.

Inside the engine everything is seconds, bytes, bytes per second and US dollars. This file is the edge: `parse` turns
what an engineer writes ("90 min", "11 GB/s", "350 Gbps", "7.2 TiB", "$142.4/h", "124.5B") into those, and `exact`,
`brief` and `rough` turn them back. `parse(exact(x)) == x` for every finite x. GB is 10^9 B and GiB is 2^30 B.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

KB, MB, GB, TB, PB = 1e3, 1e6, 1e9, 1e12, 1e15
KIB, MIB, GIB, TIB, PIB = 2.0**10, 2.0**20, 2.0**30, 2.0**40, 2.0**50
MINUTE, HOUR, DAY, WEEK = 60.0, 3600.0, 86400.0, 604800.0
HOURS_PER_YEAR = 8760.0
MONTHS_PER_YEAR = 12.0
BIT_PER_S = 0.125
GBPS = 0.125e9

NBSP = "\u00a0"
UNKNOWN = "–"  # in the place of a number that is not known


class UnitError(ValueError):
    """The text is not a quantity of this kind; the message is one sentence that says what would be accepted."""


@dataclass(frozen=True, slots=True)
class Unit:
    """What a number counts. `symbol` is what CSV headings and JSON readers see; `kind` chooses how it is written."""

    symbol: str
    kind: str


_BYTE_SCALES = {
    "b": 1.0, "byte": 1.0, "bytes": 1.0,
    "kb": KB, "mb": MB, "gb": GB, "tb": TB, "pb": PB,
    "kib": KIB, "mib": MIB, "gib": GIB, "tib": TIB, "pib": PIB,
}  # fmt: skip
_TIME_SCALES = {
    "us": 1e-6, "ms": 1e-3, "s": 1.0, "sec": 1.0, "secs": 1.0, "second": 1.0, "seconds": 1.0, "秒": 1.0,
    "m": MINUTE, "min": MINUTE, "mins": MINUTE, "minute": MINUTE, "minutes": MINUTE, "分": MINUTE,
    "h": HOUR, "hr": HOUR, "hrs": HOUR, "hour": HOUR, "hours": HOUR, "時間": HOUR,
    "d": DAY, "day": DAY, "days": DAY, "日": DAY, "w": WEEK, "wk": WEEK, "week": WEEK, "weeks": WEEK, "週": WEEK,
}  # fmt: skip
_COUNT_SCALES = {"": 1.0, "k": 1e3, "m": 1e6, "b": 1e9, "bn": 1e9, "billion": 1e9, "million": 1e6, "g": 1e9, "t": 1e12,
                 "trillion": 1e12, "億": 1e8, "万": 1e4, "兆": 1e12}  # fmt: skip
_BIT_PREFIX = {"": 1.0, "k": KB, "m": MB, "g": GB, "t": TB}


def _rate_scale(word: str) -> float | None:
    """Bytes per second for a word such as GB/s, GiB/s, Gbps, Gbit/s or Gb/s (a small b means bits)."""
    match = re.fullmatch(r"([kKmMgGtTpP]?)(i?)(B|b|bit|bits|Bit|byte|bytes)(?:/s|ps|/sec|/second)", word)
    if match is None:
        return None
    prefix, binary, what = match.groups()
    if what in {"b", "bit", "bits", "Bit"}:
        return None if binary or (prefix in "pP" and prefix) else BIT_PER_S * _BIT_PREFIX[prefix.lower()]
    return _BYTE_SCALES[(prefix + binary + "b").lower()]


# kind -> (what to call it, examples) for the sentence of a refusal
_EXAMPLES = {
    "time": ("a time", "90 s, 5 min or 1.5 h"),
    "bytes": ("a size", "54 GB, 1.74 TB or 7.2 TiB"),
    "gib": ("a capacity", "12,000 GiB or 7.2 TiB"),
    "rate": ("a rate", "11 GB/s, 5.4 GiB/s or 350 Gbps"),
    "tier": ("a throughput for each TiB", "125, 250, 500 or 1000"),
    "params": ("a number of parameters", "124.45 B, 671e9 or 8,030,261,248"),
    "bytes_per_param": ("bytes for one parameter", "14 or 2.5"),
    "usd": ("a price", "$142.416 or 0.34"),
    "fraction": ("a share", "85 % or 0.85"),
    "count": ("a whole number", "32 or 2,048"),
    "days": ("a length in days", "90, 2 weeks or 36 h"),
    "number": ("a number", "0.7 or 1.5"),
}


_PAIR = re.compile(r"([-+]?[\d.,]+(?:[eE][-+]?\d+)?)\s*([^\d\s.,+-][^\d\s.,+]*(?:\s*/\s*[A-Za-z-]+)*)?")


def _number(text: str) -> float | None:
    """Read one number; commas in groups of three are thousands, a single other comma is a decimal mark."""
    if re.fullmatch(r"[-+]?\d{1,3}(,\d{3})+(\.\d*)?", text):
        text = text.replace(",", "")
    elif text.count(",") == 1 and "." not in text:
        text = text.replace(",", ".")
    if not re.fullmatch(r"[-+]?(\d+(\.\d*)?|\.\d+)([eE][-+]?\d+)?", text):
        return None
    value = float(text)
    return value if math.isfinite(value) else None


def _scale(word: str, unit: Unit) -> float | None:
    """The factor that one `word` of this unit stands for, or None when the word does not belong here."""
    kind, low = unit.kind, word.lower()
    if kind == "time":
        return _TIME_SCALES.get(low) if word not in {"M"} else None
    if kind == "days":
        seconds = _TIME_SCALES.get(low)
        return None if seconds is None else seconds / DAY
    if kind == "bytes":
        return _BYTE_SCALES.get(low)
    if kind == "gib":
        size = _BYTE_SCALES.get(low)
        return None if size is None else size / GIB
    if kind == "rate":
        return _rate_scale(word)
    if kind == "params":
        return _COUNT_SCALES.get(low.removesuffix("params").removesuffix("parameters"))
    if kind == "bytes_per_param":
        return 1.0 if low in {"b", "byte", "bytes", "b/param"} else None
    if kind == "fraction":
        return 0.01 if low in {"%", "percent", "％"} else None
    if kind == "usd":
        per = unit.symbol.removeprefix("USD").lower()
        return {"": 1.0, "usd": 1.0, "k": 1e3, "m": 1e6, per: 1.0, "usd" + per: 1.0}.get(low)
    if kind == "tier":
        return 1.0 if low == "mb/s/tib" else None
    return None


def parse(text: str, unit: Unit) -> float:
    """Return the number that `text` stands for, in the unit's own scale.

    A bare number is in the field's own unit. Times may be put together ("4 min 50 s").

    Raises:
        UnitError: the text is not a quantity of this kind; the message says what would be accepted.
    """
    total = _total(text, unit)
    if total is None or not math.isfinite(total) or (unit.kind == "count" and total != int(total)):
        what, examples = _EXAMPLES[unit.kind]
        raise UnitError(f"Not {what}. Write {examples}.")
    return int(total) if unit.kind == "count" else total


def _total(text: str, unit: Unit) -> float | None:
    """The sum of the numbers with their words, None where the text is something else."""
    clean = unicodedata.normalize("NFKC", text).replace("−", "-").strip()
    if unit.kind == "usd":
        clean = clean.replace("$", "").replace("¥", " yen ").strip()
    clean = re.sub(r"(?<=\d) (?=\d{3}(\D|$))", "", clean)
    pairs, rest = _PAIR.findall(clean), _PAIR.sub("", clean).strip()
    if not pairs or rest or (len(pairs) > 1 and unit.kind not in {"time", "days"}):
        return None
    total = 0.0
    for digits, spaced in pairs:
        word = re.sub(r"\s+", "", spaced)
        value = _number(digits)
        scale = 1.0 if not word and len(pairs) == 1 else _scale(word, unit)
        if value is None or scale is None:
            return None
        total += value * scale if scale >= 1.0 else value / (1.0 / scale)
    return total


def grouped(value: float, decimals: int = 0) -> str:
    """Digits in groups of three: 12,000 or 124.45."""
    return f"{value:,.{decimals}f}"


def significant(value: float, digits: int = 3) -> str:
    """`value` with that many significant digits, grouped, without an exponent where that is readable."""
    if value == 0:
        return "0"
    magnitude = math.floor(math.log10(abs(value)))
    if magnitude < -5 or magnitude > 14:
        return f"{value:.{digits - 1}e}"
    decimals = max(0, digits - 1 - magnitude)
    text = grouped(round(value, digits - 1 - magnitude), decimals)
    return text.rstrip("0").rstrip(".") if "." in text else text


def _trim(value: float) -> str:
    """The shortest text that reads back as this float, without an exponent where that is short enough."""
    if value == int(value) and abs(value) < 1e15:
        return grouped(value)
    return repr(value)


_TIME_STEPS = (("d", DAY), ("h", HOUR), ("min", MINUTE), ("s", 1.0), ("ms", 1e-3))
_BYTE_STEPS = tuple((name, scale) for name, scale in (("PB", PB), ("TB", TB), ("GB", GB), ("MB", MB), ("kB", KB)))
_COUNT_STEPS = (("T", 1e12), ("B", 1e9), ("M", 1e6))
SHOWN_STEPS: Mapping[str, tuple[tuple[str, float], ...]] = {
    "time": _TIME_STEPS[1:], "bytes": (*_BYTE_STEPS, ("B", 1.0)),
    "rate": (*((f"{name}/s", scale) for name, scale in _BYTE_STEPS), ("B/s", 1.0)), "params": _COUNT_STEPS,
}  # fmt: skip


_BINARY_NAMES = (("PiB", PIB), ("TiB", TIB), ("GiB", GIB), ("MiB", MIB), ("KiB", KIB))
_BINARY_STEPS = {"bytes": _BINARY_NAMES, "rate": tuple((f"{name}/s", scale) for name, scale in _BINARY_NAMES)}


def _suffix(unit: Unit) -> str:
    """What follows the digits of a unit that has one scale only."""
    if unit.kind == "usd":
        return {"USD": "", "USD/h": "/h", "USD/month": "", "USD/year": ""}.get(
            unit.symbol, NBSP + unit.symbol.removeprefix("USD")
        )
    return {"gib": f"{NBSP}GiB", "bytes_per_param": f"{NBSP}B", "tier": f"{NBSP}MB/s/TiB", "days": f"{NBSP}d"}.get(
        unit.kind, ""
    )


def exact(value: float, unit: Unit) -> str:
    """Show a number so that `parse` gives it back to the last bit: 5 min, 4 min 50 s, 1.742 TB, 14 B."""
    if unit.kind == "time" and value >= MINUTE and value == int(value) and value < 1e14:
        hours, rest = divmod(int(value), 3600)
        minutes, seconds = divmod(rest, 60)
        parts = [(hours, "h"), (minutes, "min"), (seconds, "s")]
        return NBSP.join(f"{grouped(number)}{NBSP}{name}" for number, name in parts if number)
    if unit.kind == "fraction":
        percent = f"{_trim(float(f'{value * 100:.12g}'))}{NBSP}%"
        return percent if parse(percent, unit) == value else _trim(value)
    if unit.kind == "usd":
        return ("−$" if value < 0 else "$") + _trim(abs(value)) + _suffix(unit)
    for name, scale in (*SHOWN_STEPS.get(unit.kind, ()), *_BINARY_STEPS.get(unit.kind, ())):
        if abs(value) >= scale:
            candidate = f"{_trim(float(f'{value / scale:.12g}'))}{NBSP}{name}"
            if parse(candidate, unit) == value:
                return candidate
    plain = {"time": f"{NBSP}s", "bytes": f"{NBSP}B", "rate": f"{NBSP}B/s"}.get(unit.kind, _suffix(unit))
    return _trim(value) + plain


def _brief_time(value: float, whole_from: float) -> str:
    """A time in one or two parts; from `whole_from` seconds on the smaller part is left out."""
    if 0.0 < value < 0.9995:
        return f"{significant(value * 1e3)}{NBSP}ms"
    if value < MINUTE and round(value, 1) < MINUTE:
        return f"{significant(value, 2 if value >= 10 and math.isfinite(whole_from) else 3)}{NBSP}s"
    if value >= 10_000 * HOUR:
        return f"{significant(value / (365 * DAY), 3)}{NBSP}years"
    if value >= 10 * HOUR:
        return f"{significant(value / HOUR)}{NBSP}h"
    if value >= whole_from and value < 2 * HOUR - 30 and abs(value - HOUR) >= 30:
        return f"{value / MINUTE:.0f}{NBSP}min"
    big, small, names = (HOUR, MINUTE, ("h", "min")) if value >= HOUR - 0.5 else (MINUTE, 1.0, ("min", "s"))
    whole, part = divmod(round(value / small), round(big / small))
    return f"{whole}{NBSP}{names[0]}" + (f"{NBSP}{part}{NBSP}{names[1]}" if part else "")


def brief(value: float, unit: Unit, digits: int = 3) -> str:
    """Show a number with three significant digits, for plots, the headline and sentences."""
    if unit.kind == "time":
        return _brief_time(value, math.inf)
    if unit.kind == "fraction":
        return f"{significant(value * 100, digits)}{NBSP}%"
    if unit.kind == "usd":
        cents = 6 if unit in (USD_PER_H, USD_PER_GIB_MONTH, USD_PER_GB_MONTH, USD_PER_GB) else digits  # as it is billed
        return ("−" if value < 0 else "") + "$" + _brief_money(abs(value), digits, cents) + _suffix(unit)
    for name, scale in SHOWN_STEPS.get(unit.kind, ()):
        if abs(value) >= scale:
            return f"{significant(value / scale, digits)}{NBSP}{name}"
    if unit.kind in {"gib", "count", "tier"}:
        return _trim(round(value, 3)) + _suffix(unit)
    plain = {"time": f"{NBSP}s", "bytes": f"{NBSP}B", "rate": f"{NBSP}B/s"}.get(unit.kind, _suffix(unit))
    return significant(value, max(digits, 6) if unit.kind == "bytes_per_param" else digits) + plain


def percent(fraction: float) -> str:
    """A share as the headline says it: two decimals below 10 % (0.54 %, 1.00 %), three digits above and below 0.05 %."""
    if 0.0005 <= fraction < 0.09995:
        return f"{fraction * 100:.2f}{NBSP}%"
    return brief(fraction, FRACTION)


def _brief_money(value: float, digits: int, cents: int) -> str:
    for name, scale in (("B", 1e9), ("M", 1e6), ("k", 1e3)):
        if value >= scale * (10 if name == "k" else 1):
            return significant(value / scale, digits) + name
    return significant(value, cents) if value < 1000 else grouped(value)


def rough(value: float, unit: Unit) -> str:
    """Show a number as one says it in a meeting: 45 min, 2 h 14 min; other kinds as `brief`."""
    return _brief_time(value, 10 * MINUTE) if unit.kind == "time" else brief(value, unit)


def _refuse_bool(value: Any) -> Any:
    if isinstance(value, bool):
        raise ValueError("a number is expected, not true or false")
    return value


_NUMBER = BeforeValidator(_refuse_bool)
SECONDS = Unit("s", "time")
BYTES = Unit("B", "bytes")
BYTES_PER_S = Unit("B/s", "rate")
GIBS = Unit("GiB", "gib")
PARAMS = Unit("params", "params")
BYTES_PER_PARAM = Unit("B/param", "bytes_per_param")
FRACTION = Unit("1", "fraction")
COUNT = Unit("count", "count")
DAYS = Unit("days", "days")
USD = Unit("USD", "usd")
USD_PER_H = Unit("USD/h", "usd")
USD_PER_MONTH = Unit("USD/month", "usd")
USD_PER_YEAR = Unit("USD/year", "usd")
USD_PER_GIB_MONTH = Unit("USD/GiB-month", "usd")
USD_PER_GB_MONTH = Unit("USD/GB-month", "usd")
USD_PER_GB = Unit("USD/GB", "usd")
TIER = Unit("MB/s/TiB", "tier")
HOURS_A_YEAR = Unit("h/year", "number")
NUMBER = Unit("", "number")

_F = Field(allow_inf_nan=False)
Seconds = Annotated[float, SECONDS, _NUMBER, _F]
Bytes = Annotated[float, BYTES, _NUMBER, _F]
BytesPerSecond = Annotated[float, BYTES_PER_S, _NUMBER, _F]
Gib = Annotated[float, GIBS, _NUMBER, _F]
Params = Annotated[float, PARAMS, _NUMBER, _F]
BytesPerParam = Annotated[float, BYTES_PER_PARAM, _NUMBER, _F]
Fraction = Annotated[float, FRACTION, _NUMBER, _F]
Count = Annotated[int, COUNT, _NUMBER]
Number = Annotated[float, NUMBER, _NUMBER, _F]
Days = Annotated[float, DAYS, _NUMBER, _F]
Usd = Annotated[float, USD, _NUMBER, _F]
UsdPerHour = Annotated[float, USD_PER_H, _NUMBER, _F]
UsdPerMonth = Annotated[float, USD_PER_MONTH, _NUMBER, _F]
UsdPerGibMonth = Annotated[float, USD_PER_GIB_MONTH, _NUMBER, _F]
UsdPerGbMonth = Annotated[float, USD_PER_GB_MONTH, _NUMBER, _F]
UsdPerGb = Annotated[float, USD_PER_GB, _NUMBER, _F]
MbPerSPerTib = Annotated[float, TIER, _NUMBER, _F]

# how a name ends -> what it counts; the longest ending wins: the unit stands in the name
SUFFIX_UNITS: Mapping[str, Unit] = {
    "_s": SECONDS, "_bytes": BYTES, "_bytes_per_s": BYTES_PER_S, "_bytes_per_param": BYTES_PER_PARAM, "_gib": GIBS,
    "_fraction": FRACTION, "_ratio": FRACTION, "_efficiency": FRACTION, "_fill": FRACTION, "_share": FRACTION, "_shape": NUMBER,
    "_probability": FRACTION,
    "_params": PARAMS, "_usd_per_h": USD_PER_H, "usd_per_month": USD_PER_MONTH, "_usd_per_year": USD_PER_YEAR,
    "usd_per_gib_month": USD_PER_GIB_MONTH, "usd_per_gb_month": USD_PER_GB_MONTH, "usd_per_gb": USD_PER_GB,
    "_mb_per_s_per_tib": TIER, "_h_per_year": HOURS_A_YEAR, "days": DAYS,
    "bytes_per_node": BYTES, "_usd": USD,
}  # fmt: skip


def unit_of(name: str) -> Unit | None:
    """The unit that a field or column name ends in, or None when it carries none."""
    endings = [ending for ending in SUFFIX_UNITS if name.endswith(ending)]
    return SUFFIX_UNITS[max(endings, key=len)] if endings else None
