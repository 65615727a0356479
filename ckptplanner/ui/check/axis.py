"""The two axes of the check: shares of the run, and moments of a run from days down to seconds; labels kept apart."""

from __future__ import annotations

import math

from ckptplanner.units import DAY, HOUR, MINUTE, NBSP, significant

_STEPS = (
    1.0, 2.0, 5.0, 10.0, 15.0, 30.0, MINUTE, 2 * MINUTE, 5 * MINUTE, 10 * MINUTE, 15 * MINUTE, 30 * MINUTE, HOUR, 2 * HOUR,
    3 * HOUR, 6 * HOUR, 12 * HOUR, DAY, 2 * DAY, 5 * DAY, 10 * DAY, 20 * DAY, 50 * DAY, 100 * DAY, 200 * DAY, 500 * DAY,
)  # fmt: skip


def moment_text(seconds: float, step_s: float) -> str:
    """A moment of a run, as exact as the step asks for: 12 d, 12 d 06:30, 12 d 06:30:15."""
    whole = round(seconds)
    days, rest = divmod(whole, round(DAY))
    if step_s >= DAY:
        return f"{days:,}{NBSP}d"
    hours, rest = divmod(rest, 3600)
    minutes, rest = divmod(rest, 60)
    clock = f"{hours:02}:{minutes:02}" + (f":{rest:02}" if step_s < MINUTE else "")
    return f"{days:,}{NBSP}d{NBSP}{clock}"


def moment_ticks(begin_s: float, end_s: float, width: float, room: float = 96.0) -> tuple[float, list[float]]:
    """The step from tick to tick, and the ticks, no closer than `room` pixels. [s]"""
    least = (end_s - begin_s) * room / max(width, room)
    step = next((one for one in _STEPS if one >= least), math.ceil(least / (500 * DAY)) * 500 * DAY)
    first = math.ceil(begin_s / step - 1e-9)
    return step, [index * step for index in range(first, math.floor(end_s / step + 1e-9) + 1)]


def share_ticks(low: float, high: float, width: float, room: float = 64.0) -> list[float]:
    """Round shares in a range, no closer than `room` pixels. [1]"""
    least = max((high - low) * room / max(width, room), 1e-12)
    power = 10.0 ** math.floor(math.log10(least))
    step = next(factor * power for factor in (1.0, 2.0, 5.0, 10.0) if factor * power >= least * (1 - 1e-9))
    return [index * step for index in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)]


def share_text(fraction: float) -> str:
    """A share at a tick: 0.55 %."""
    return f"{significant(round(fraction * 100, 9), 4)}{NBSP}%"
