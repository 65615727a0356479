"""How a derivation writes numbers: one way to be worked out by hand, one as the cards say a result."""

from __future__ import annotations

import math

from ckptplanner.text import Text, text
from ckptplanner.units import NBSP, SHOWN_STEPS, USD, Unit, brief, exact, grouped, significant

_PRICES = {"USD/h": "/h", "USD/GiB-month": "/GiB", "USD/GB-month": "/GB", "USD/GB": "/GB"}


def precise(value: float, unit: Unit) -> str:
    """A number for the substituted line: five digits and a unit in which the line can be worked out by hand."""
    if unit.kind == "params":
        return f"{_digits(value / 1e9)}e9"
    for name, scale in SHOWN_STEPS[unit.kind] if unit.kind in {"bytes", "rate"} else ():
        if abs(value) >= 10 * scale or scale == 1.0:
            return f"{_digits(value / scale)}{NBSP}{name}"
    if unit.kind == "fraction":
        return f"{_digits(value * 100)}{NBSP}%"
    if unit.kind == "usd":
        return "$" + _digits(value) + _PRICES.get(unit.symbol, "")
    ending = {"time": "s", "gib": "GiB", "tier": "MB/s", "bytes_per_param": "B", "days": "d"}.get(unit.kind)
    return _digits(value) + (f"{NBSP}{ending}" if ending else "")


def _digits(value: float) -> str:
    return grouped(value) if value == int(value) and abs(value) < 1e9 else significant(value, 5)


def shown(value: float, unit: Unit) -> str:
    """A result as the cards say it, with all of its three digits: 2.90 GB/s, $21,938, 44 min 47 s."""
    if unit.kind == "usd":
        return exact(round(value), USD) if abs(value) >= 100 else brief(value, unit)
    if unit.kind == "time" and 1 <= value < 59.95:
        return f"{significant(value)}{NBSP}s"
    for name, scale in SHOWN_STEPS[unit.kind] if unit.kind in {"bytes", "rate"} else ():
        if abs(value) >= scale * 0.9995:
            decimals = max(0, 2 - math.floor(math.log10(value / scale * 1.0005)))
            return f"{grouped(value / scale, decimals)}{NBSP}{name}"
    return brief(value, unit)


def plain(words: str) -> Text:
    """Words that need no translation."""
    return text("{value}", value=words)


NOT_KNOWN = text("not known")
