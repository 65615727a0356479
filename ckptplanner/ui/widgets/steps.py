"""How a quantity steps under the wheel and the arrow keys: the next nice value in the unit that is shown.

plain   5 min -> 6 min    1.74 TB -> 1.8 TB    32 -> 33     two leading digits move, whole numbers stay whole
ladder  5 min -> 10 min   1.74 TB -> 2 TB      32 -> 50     1, 2, 5, 10, 20, 50 ...; times 1 s .. 30 min, 1 h ..
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Mapping

from ckptplanner.units import GB, HOUR, MINUTE, SHOWN_STEPS, Unit

_TIME_LADDER = (*(n * MINUTE**power for power in (0, 1) for n in (1, 2, 5, 10, 20, 30)), HOUR, 2 * HOUR, 5 * HOUR)
# from this time on [s] -> the step [s]
_TIME_STEPS = ((100 * HOUR, 10 * HOUR), (10 * HOUR, HOUR), (HOUR, 10 * MINUTE), (MINUTE, MINUTE), (1.0, 1.0))
_FIRST: Mapping[str, float] = {"bytes": GB, "rate": GB, "params": 1e9, "fraction": 0.01}
_NEAR = 1e-9


def nice_step(value: float, unit: Unit, up: bool) -> float:
    """The next value above or below that has two leading digits, at least one whole unit apart where it is whole."""
    if value <= 0:
        return _clean(value + _FIRST.get(unit.kind, 1.0) * (1 if up else -1))
    just = value * (1 + _NEAR if up else 1 - _NEAR)
    if unit.kind == "time" and just >= 1.0:
        step = next(step for start, step in _TIME_STEPS if just >= start)
    else:
        scale = _scale(just, unit)
        shown = value / scale
        step = 10.0 ** (math.floor(math.log10(just / scale)) - 1)
        if unit.kind == "count" and value < 1000:
            step = 1.0
        elif abs(shown - round(shown)) < _NEAR * shown:
            step = max(step, 1.0)
        step *= scale
    places = value / step
    return _clean((math.floor(places + _NEAR) + 1 if up else math.ceil(places - _NEAR) - 1) * step)


def ladder_step(value: float, unit: Unit, up: bool) -> float:
    """The next rung of 1, 2, 5, 10 ... above or below, counted in the unit that is shown."""
    if value <= 0:
        return nice_step(value, unit, up)
    if unit.kind == "time":
        if up and value * (1 + _NEAR) < _TIME_LADDER[-1] and value >= 1:
            return _TIME_LADDER[bisect_right(_TIME_LADDER, value * (1 + _NEAR))]
        if not up and 1 < value * (1 - _NEAR) <= _TIME_LADDER[-1]:
            return _TIME_LADDER[bisect_left(_TIME_LADDER, value * (1 - _NEAR)) - 1]
    scale = _scale(value * (1 + _NEAR if up else 1 - _NEAR), unit)
    shown = value / scale
    decade = 10.0 ** math.floor(math.log10(shown * (1 + _NEAR if up else 1 - _NEAR)))
    rungs = [decade * n for n in (1, 2, 5, 10)]
    if up:
        return _clean(next(rung for rung in rungs if rung > shown * (1 + _NEAR)) * scale)
    return _clean(next(rung for rung in reversed(rungs) if rung < shown * (1 - _NEAR)) * scale)


def _scale(value: float, unit: Unit) -> float:
    """The size of the unit in which this value is shown."""
    if unit.kind == "fraction":
        return 0.01
    return next((scale for _, scale in SHOWN_STEPS.get(unit.kind, ()) if value >= scale), 1.0)


def _clean(value: float) -> float:
    """Without the dirt of the last bits."""
    return float(f"{value:.12g}")
