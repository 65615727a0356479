"""What would change a figure: every nudge, evaluated again, and by how much the figure moves."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from ckptplanner.engine.derivation.case import Case
from ckptplanner.engine.derivation.figures import FIGURES, read_figure, result_text
from ckptplanner.engine.derivation.nudges import NUDGES, nudged
from ckptplanner.engine.derivation.recipe import Figure
from ckptplanner.engine.derivation.writing import NOT_KNOWN, plain
from ckptplanner.text import Text, text
from ckptplanner.units import grouped, significant

_NO_CHANGE = text("no change")


@dataclass(frozen=True, slots=True)
class Change:
    """What one changed input would make of the figure."""

    label: Text
    value: Text
    difference: Text


def _share(old: float, new: float) -> float:
    """How far `new` is from `old`, as a share of it."""
    return 0.0 if old == new else new / old - 1.0 if old else math.copysign(math.inf, new)


def _difference(figure: Figure, old: float | None, new: float | None) -> Text:
    if old is None or new is None:
        return plain("")
    share = (new - old) if figure.in_points else _share(old, new)
    if abs(share) < 1e-6:
        return _NO_CHANGE
    if math.isinf(share):
        return text("was 0")
    percent = abs(share) * 100
    number = grouped(percent) if percent >= 10 else significant(percent, 2)
    signed = f"{'−' if share < 0 else '+'}{number}"
    return text("{number} points", number=signed) if figure.in_points else text("{number} %", number=signed)


def _words(name: str, value: float | None) -> Text:
    return NOT_KNOWN if value is None else plain(result_text(name, value))


def changes_of(case: Case, name: str) -> Iterator[Change]:
    """What is always asked, in that order; then everything else that moves the figure, the strongest first."""
    figure, old = FIGURES[name], read_figure(case, name)
    found: list[tuple[tuple[int, float], Change]] = []
    for key, nudge in NUDGES.items():
        if key not in figure.asked and nudge.is_quiet(case):
            continue
        made = nudged(case, nudge)
        if made is None:
            continue
        label, changed = made
        new = read_figure(changed, name)
        difference = _difference(figure, old, new)
        is_asked = key in figure.asked
        if not is_asked and (difference == _NO_CHANGE or _words(name, old) == _words(name, new)):
            continue
        size = _share(old, new) if old is not None and new is not None else math.inf
        rank = (figure.asked.index(key), 0.0) if is_asked else (len(figure.asked), -abs(size))
        is_gone = new is None and old is not None and changed.plan.levels is None is not case.plan.levels
        found.append((rank, Change(label, text("there is none") if is_gone else _words(name, new), difference)))
    yield from (change for _, change in sorted(found, key=lambda pair: pair[0]))
