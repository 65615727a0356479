"""Break-evens: over the range of one input, which of two plans costs less, and every value at which that changes.

    difference |        .                      a crossing: the difference passes zero
      a - b    |.       |.    /|               a step: one plan's file system grows, and the difference jumps
             0 |-.------|-.--/-|------
               |  .     |  ./  |  .            capacity grows in steps, so an input may flip the choice several times
               +---------------------- input

Both plans get the value and choose again by their own rules: the file system, the interval. Then their total dollars a year
are compared, storage and lost GPU time together, as `evaluate` has them. A plan that would not work (yearly.py) loses to one
that does.

How it finds every flip. First come the edges at which a plan chooses another file system: what a plan needs rises or falls
with an input and does not turn back, so its choice by price is constant between two points where it is the same, and
halving finds every edge to one part in 1e9, however near two of them are. Between edges the difference is smooth; it is
looked at on a grid (48 points, logarithmic where the range is above zero), and a sign that changes is followed to a root of
the difference. Where it only comes near zero between three points, the nearest point is looked for too. Of an
input in whole numbers up to 64 values are all looked at, up to 256 where a plan keeps copies, which only some can form.

What can still be missed are two changes inside one cell of the grid that undo one another and are due to neither an edge nor
a single dip: a plan that fails and works again, a number of writing jobs that goes up and back, a choice by totals
(`storage.choose_by`) that does.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Literal

import numpy as np

from ckptplanner.engine.candidates import by_price
from ckptplanner.engine.curves import systems_at
from ckptplanner.engine.evaluate import evaluate
from ckptplanner.engine.job import job_of
from ckptplanner.engine.levers import Lever, Put, lever_of
from ckptplanner.engine.ranges import Range, ranges_of
from ckptplanner.engine.scenario import NamedScenario, Scenario
from ckptplanner.engine.yearly import yearly

Winner = Literal["first", "second", "equal", "unknown"]
Progress = Callable[[float], None]

POINTS = 48
FEW, MANY = 64, 256  # whole numbers that are all looked at: in any case, and where copies may come and go with them
FINE = 1e-9  # of the value: how close a step is enclosed
_ROOT = 1e-13  # of the value: how close a crossing is
_EQUAL = 1e-12  # of a total: closer than rounding
_STEP = 1e-6  # of a total: what the difference jumps by at least where it is no crossing
_MOST_HALVINGS = 200


@dataclass(frozen=True, slots=True)
class Segment:
    """A piece of the range in which the same plan costs less.

    Unknown: the dollars of a plan are not known, or neither works. `failing` names the plans that have an error in the middle
    of the piece, by all findings of `evaluate`.
    """

    low: float
    high: float
    winner: Winner
    failing: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Flip:
    """A value at which the cheaper plan changes; the first whole number of the upper piece where the input is whole."""

    value: float
    kind: Literal["crossing", "step"]
    below: Winner
    above: Winner


@dataclass(frozen=True, slots=True)
class FlipBar:
    """One input: its range, who costs less where, and every flip, in rising order."""

    first: str
    second: str
    mtbi_nodes: int  # what the time between interruptions belongs to
    range: Range
    difference_usd_per_year: float | None  # first - second, at today's values; None where one is not known
    segments: tuple[Segment, ...]
    flips: tuple[Flip, ...]

    @property
    def path(self) -> str:
        """The input."""
        return self.range.path

    def at(self, value: float) -> Segment:
        """The piece that holds a value; at a flip the upper one."""
        return next((piece for piece in reversed(self.segments) if piece.low <= value), self.segments[0])

    @property
    def today(self) -> Segment:
        """The piece that holds today's value."""
        return self.at(self.range.value)

    @property
    def distance(self) -> float:
        """From today's value to the nearest flip, as a share of the range (`Range.position`); infinity without a flip. [1]"""
        here = self.range.position(self.range.value)
        return min((abs(self.range.position(flip.value) - here) for flip in self.flips), default=math.inf)


def flip_bar(
    first: NamedScenario,
    second: NamedScenario,
    over: Range,
    progress: Progress = lambda _: None,
    *,
    second_stays: bool = False,
) -> FlipBar:
    """Find which of two plans costs less over the range of an input.

    Args:
        first: The plan whose range it is.
        second: The other plan; it gets the same values.
        over: The input and its ends (`ranges.range_of`, or one's own).
        progress: Called now and then with the done share; it may raise to give up.
        second_stays: The second plan keeps its own value instead: "from which write time on is this plan dearer than
            that one?"

    About 0.1 s for an input, and some more for each step of capacity in the range.
    """
    return _Search(first, second, over, progress, second_stays).bar()


def flip_bars(
    first: NamedScenario, second: NamedScenario, over: Sequence[Range] | None = None, progress: Progress = lambda _: None
) -> tuple[FlipBar, ...]:
    """The bars of all inputs that both plans share: those with flips first, the nearest flip on top.

    Args:
        over: Ranges of the first plan's inputs; left out, those of `ranges_of`.

    An input in which the plans differ is what is being decided and has no bar. Ties keep the order of the table.
    """
    shared = [one for one in (ranges_of(first) if over is None else over) if _is_shared(second, one.lever)]
    bars = []
    for done, one in enumerate(shared):
        bars.append(flip_bar(first, second, one, lambda part, done=done: progress((done + part) / len(shared))))  # type: ignore[misc]
    progress(1.0)
    return tuple(sorted(bars, key=lambda bar: bar.distance))


def _is_shared(other: NamedScenario, lever: Lever) -> bool:
    """Whether the other plan has the same value; the price of storage moves in proportion, whatever class each chose."""
    if lever.put(other.scenario, lever.value) == other.scenario:
        return True
    theirs = lever_of(other.scenario, lever.path)
    return theirs is not None and theirs.value == lever.value


# ---------------------------------------------------------------- one plan over the input


def _stay(scenario: Scenario, value: float) -> Scenario:
    """The scenario as it is, whatever the value."""
    return scenario


@dataclass(slots=True)
class _Side:
    """One plan: its dollars and its choice at a value; both remembered."""

    scenario: Scenario
    put: Put
    totals: dict[float, float | None] = field(default_factory=dict)
    options: dict[float, str | None] = field(default_factory=dict)
    keys: dict[float, object] = field(default_factory=dict)

    def total(self, value: float) -> float | None:
        """Dollars a year; infinity where the plan would not work, None where they are not known."""
        if value not in self.totals:
            found = yearly(self.put(self.scenario, value))
            self.totals[value], self.options[value] = found.usd_per_year, found.option_id
        return self.totals[value]

    @property
    def is_fixed(self) -> bool:
        """Whether the file system is given, so that no choice changes."""
        return self.scenario.storage.custom is not None or self.scenario.storage.tier != "auto"

    def is_same(self, *values: float) -> bool:
        """Whether the same file system is chosen at all of these values."""
        for value in values:
            self.total(value)
        return self.is_fixed or len({self.options[value] for value in values}) == 1

    def key(self, value: float) -> object:
        """What is chosen, found without the dollars where prices alone decide it: the cheapest usable rows and their sizes."""
        if value not in self.keys:
            if self.scenario.storage.choose_by == "storage_usd":
                self.keys[value] = _choice(self.put(self.scenario, value))
            else:
                self.total(value)
                self.keys[value] = self.options[value]
        return self.keys[value]


def _choice(scenario: Scenario) -> object:
    """The tiers that the plan chooses among by price, with their capacities."""
    storage = scenario.storage
    return by_price(systems_at(scenario, job_of(scenario), np.array([storage.write_s]), storage.mode)[0])


# ---------------------------------------------------------------- both


class _Search:
    """The difference of two plans over one range."""

    def __init__(
        self, first: NamedScenario, second: NamedScenario, over: Range, progress: Progress, second_stays: bool
    ) -> None:
        self._names = first.name, second.name
        self._mtbi_nodes = first.scenario.failures.mtbi_nodes
        self._over = over
        self._sides = _Side(first.scenario, over.lever.put), _Side(second.scenario, _stay if second_stays else over.lever.put)
        today = _less(*(yearly(one.scenario).usd_per_year for one in (first, second)))
        self._today = today if today is not None and math.isfinite(today) else None
        self._progress = progress

    def bar(self) -> FlipBar:
        points = self._points()
        segments, found = self._walk(points)
        return FlipBar(*self._names, self._mtbi_nodes, self._over, self._today, tuple(segments), tuple(found))

    def _difference(self, value: float) -> float | None:
        return _less(*(side.total(value) for side in self._sides))

    def _winner(self, value: float) -> Winner:
        difference = self._difference(value)
        if difference is None:
            return "unknown"
        if math.isfinite(difference) and abs(difference) <= _EQUAL * max(abs(side.total(value) or 0.0) for side in self._sides):
            return "equal"
        return "first" if difference < 0.0 else "second"

    def _points(self) -> list[float]:
        """The grid and both sides of every edge, rising."""
        grid = self._grid()
        points = set(grid)
        for number, (low, high) in enumerate(pairwise(grid)):
            self._progress(number / len(grid))
            for side in self._sides:
                for edge in () if side.is_same(low, high) else self._edges(side, low, high):
                    points.update(edge)
        rising = sorted(points)
        return sorted({*rising, *self._dips(rising)})

    def _grid(self) -> list[float]:
        """The values to look at; all of them where whole numbers are few, or decide whether copies can be formed."""
        over, span = self._over, self._over.high - self._over.low
        has_copies = any(side.scenario.replication.factor > 1 for side in self._sides)
        if over.lever.is_whole and (span <= FEW or (has_copies and span <= MANY)):
            return [float(value) for value in range(round(over.low), round(over.high) + 1)]
        return grid_of(over)

    def _is_narrow(self, low: float, high: float, share: float) -> bool:
        if self._over.lever.is_whole:
            return high - low <= 1.0
        return high - low <= share * max(abs(low), abs(high)) or not low < (low + high) / 2.0 < high

    def _middle(self, low: float, high: float) -> float:
        return float((low + high) // 2) if self._over.lever.is_whole else (low + high) / 2.0

    def _edges(self, side: _Side, low: float, high: float) -> Iterator[tuple[float, float]]:
        """Every place between two values at which the choice changes, enclosed."""
        stack = [(low, high)]
        while stack:
            low, high = stack.pop()
            if side.key(low) == side.key(high):
                continue
            if self._is_narrow(low, high, FINE):
                yield low, high
                continue
            middle = self._middle(low, high)
            stack += [(middle, high), (low, middle)]

    def _dips(self, points: list[float]) -> Iterator[float]:
        """Where three neighbours have one sign and a parabola through them reaches zero: the point nearest to it."""
        if self._over.lever.is_whole:
            return
        for low, middle, high in zip(points, points[1:], points[2:], strict=False):
            values = [self._difference(value) for value in (low, middle, high)]
            if any(value is None or math.isinf(value) for value in values):
                continue
            left, here, right = (abs(value or 0.0) for value in values)
            one_sign = len({np.sign(value) for value in values if value is not None}) == 1
            if not one_sign or here > min(left, right) or not all(side.is_same(low, middle, high) for side in self._sides):
                continue
            lowest, least = _vertex((low, left), (middle, here), (high, right))
            if low < lowest < high and least <= 0.05 * here:
                yield self._lowest(low, high)

    def _lowest(self, low: float, high: float) -> float:
        """The point of a dip where the difference is nearest to zero, by golden section."""
        golden = (5**0.5 - 1.0) / 2.0
        sign = np.sign(self._difference((low + high) / 2.0) or 1.0)
        for _ in range(30):
            left, right = high - golden * (high - low), low + golden * (high - low)
            values = [sign * (self._difference(value) or 0.0) for value in (left, right)]
            low, high = (low, right) if values[0] <= values[1] else (left, high)
        return (low + high) / 2.0

    def _walk(self, points: list[float]) -> tuple[list[Segment], list[Flip]]:
        """Follow the winner from point to point; where it changes, enclose the place."""
        found: list[Flip] = []
        for low, high in pairwise(points):
            found += self._changes(low, high)
        merged: list[Flip] = []
        for flip in found:  # an equal point between two grid cells is no piece of its own
            if merged and merged[-1].above == "equal" and flip.value - merged[-1].value <= FINE * abs(flip.value):
                before = merged.pop()
                if before.below != flip.above:
                    merged.append(Flip(flip.value, before.kind, before.below, flip.above))
                continue
            merged.append(flip)
        over = self._over
        if not over.lever.is_whole:  # what holds at an end alone is no piece
            merged = [flip for flip in merged if over.low < flip.value < over.high]
        starts = [over.low, *(flip.value for flip in merged)]
        ends = [*(flip.value for flip in merged), over.high]
        winners = [merged[0].below if merged else self._winner(_inside(over)), *(flip.above for flip in merged)]
        pieces = [
            Segment(low, high, winner, self._failing(low, high))
            for low, high, winner in zip(starts, ends, winners, strict=True)
        ]
        return pieces, merged

    def _failing(self, low: float, high: float) -> tuple[str, ...]:
        """Who has an error in the middle of a piece."""
        at = float((low + high) // 2) if self._over.lever.is_whole else (low + high) / 2.0
        plans = (evaluate(side.put(side.scenario, at)) for side in self._sides)
        return tuple(name for name, plan in zip(self._names, plans, strict=True) if plan.count("error"))

    def _changes(self, low: float, high: float) -> Iterator[Flip]:
        """The changes of the winner between two neighbours; several where the halves tell of a third winner."""
        below, above = self._winner(low), self._winner(high)
        if below == above:
            return
        if {below, above} == {"first", "second"}:
            low, high = self._root(low, high)
        else:
            for _ in range(_MOST_HALVINGS):
                if self._is_narrow(low, high, _ROOT):
                    break
                middle = self._middle(low, high)
                between = self._winner(middle)
                if between not in (below, above):
                    yield from self._changes(low, middle)
                    yield from self._changes(middle, high)
                    return
                low, high = (middle, high) if between == below else (low, middle)
        left, right = (self._difference(value) for value in (low, high))
        size = max((abs(side.total(value) or 0.0) for side in self._sides for value in (low, high)), default=0.0)
        is_step = left is None or right is None or not abs(right - left) <= _STEP * size < math.inf
        value = high if is_step or self._over.lever.is_whole else _zero(low, high, left or 0.0, right or 0.0)
        yield Flip(value, "step" if is_step else "crossing", below, above)

    def _root(self, low: float, high: float) -> tuple[float, float]:
        """Enclose a change of sign: false position that halves the weight of an end that stays, else the middle."""
        left, right = self._difference(low) or 0.0, self._difference(high) or 0.0
        kept = 0
        for turn in range(_MOST_HALVINGS):
            if self._is_narrow(low, high, _ROOT):
                break
            by_halves = turn % 4 == 3 or self._over.lever.is_whole or math.isinf(left) or math.isinf(right)
            at = self._middle(low, high) if by_halves else _zero(low, high, left, right)
            at = at if low < at < high else self._middle(low, high)
            value = self._difference(at)
            if value is None:
                break
            if value == 0.0:
                return at, at
            if (value < 0.0) == (left < 0.0):
                low, left, right = at, value, right / 2.0 if kept > 0 else right
                kept = 1
            else:
                high, right, left = at, value, left / 2.0 if kept < 0 else left
                kept = -1
        return low, high


def _inside(over: Range) -> float:
    """A value of the range that is no end, where there is one."""
    values = grid_of(over)
    return values[len(values) // 2]


def _less(first: float | None, second: float | None) -> float | None:
    """first - second; None where one is not known or neither is finite."""
    if first is None or second is None or (math.isinf(first) and math.isinf(second)):
        return None
    return first - second


def _zero(low: float, high: float, left: float, right: float) -> float:
    """Where the straight line between two points passes zero."""
    return high if left == right else low + (high - low) * (left / (left - right))


def _vertex(*points: tuple[float, float]) -> tuple[float, float]:
    """The lowest point of the parabola through three points, and its height; infinity where it is open downward."""
    (x0, y0), (x1, y1), (x2, y2) = points
    slope, next_slope = (y1 - y0) / (x1 - x0), (y2 - y1) / (x2 - x1)
    bend = (next_slope - slope) / (x2 - x0)
    if bend <= 0.0:
        return math.inf, math.inf
    at = (x0 + x1) / 2.0 - slope / (2.0 * bend)
    return at, y0 + slope * (at - x0) + bend * (at - x0) * (at - x1)


def grid_of(over: Range, points: int = POINTS) -> list[float]:
    """Values over a range: both ends, today's, and between them evenly, on a log scale where both ends are above zero."""
    if over.high <= over.low:
        return [over.low]
    space = np.geomspace if over.low > 0.0 else np.linspace
    inner = space(over.low, over.high, points)[1:-1].tolist()
    if over.lever.is_whole:
        inner = [float(round(value)) for value in inner]
    return sorted({over.low, *inner, over.value, over.high})
