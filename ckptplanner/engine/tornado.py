"""The tornado: one figure of a plan with each input in turn at the low and at the high end of its range, widest bar first.

    price of storage   |=========|==================|
    stop time               |====|===========|            low   expected   high
    detection                  |=|==|

A bar is what `evaluate` says with that one input changed and everything else as it is; the plan chooses its file system and
interval again by its own rules. A range of no width gives a bar of no width.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ckptplanner.engine.cost import Basis
from ckptplanner.engine.derivation.case import Case
from ckptplanner.engine.derivation.figures import FIGURES, figure_unit, read_figure
from ckptplanner.engine.ranges import Range, ranges_of
from ckptplanner.engine.scenario import NamedScenario, Scenario
from ckptplanner.text import Text
from ckptplanner.units import Unit

# what a tornado is asked for most; any other figure of derivation/figures.py will do
ASKED = (
    "total_usd", "storage_usd_per_month", "lost_gpu_usd", "waste_fraction", "interval_s", "mean_rework_s", "worst_rework_s",
    "restart_s",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Bar:
    """One input at both ends of its range, and the figure there; None where the figure cannot be computed."""

    range: Range
    low: float | None
    high: float | None

    @property
    def path(self) -> str:
        """The input."""
        return self.range.path

    def span(self, expected: float | None) -> float:
        """How far the figure moves over low, expected and high, in its own unit; 0 where fewer than two are known."""
        known = [value for value in (self.low, expected, self.high) if value is not None]
        return max(known) - min(known) if len(known) > 1 else 0.0


@dataclass(frozen=True, slots=True)
class Tornado:
    """All bars of one figure, the widest first, around its expected value."""

    figure: str
    title: Text
    unit: Unit
    expected: float | None
    bars: tuple[Bar, ...]


def title_of(figure: str, named: NamedScenario, basis: Basis) -> Text:
    """What a figure is called.

    Raises:
        KeyError: there is no such figure.
    """
    title = FIGURES[figure].title
    return title if isinstance(title, Text) else title(Case(named, basis))


def figure_of(figure: str, named: NamedScenario, scenario: Scenario, basis: Basis) -> float | None:
    """A figure of a scenario that stands in the place of a named one."""
    return read_figure(Case(named.model_copy(update={"scenario": scenario}), basis), figure)


def tornado(
    named: NamedScenario,
    figure: str,
    over: Sequence[Range] | None = None,
    basis: Basis = "month",
    progress: Callable[[float], None] = lambda _: None,
) -> Tornado:
    """Work out the bars of a figure.

    Args:
        named: The plan.
        figure: A name of derivation/figures.py, such as those of `ASKED`.
        over: The ranges; left out, those of `ranges_of`.
        basis: What dollars are per: month, run or year.
        progress: Called with the done share; it may raise to give up.

    Raises:
        KeyError: there is no such figure.

    About 3 ms for an input. Only the ends are looked at: between them the figure may go further where capacity steps.
    """
    ranges = ranges_of(named) if over is None else tuple(over)
    title, expected = title_of(figure, named, basis), figure_of(figure, named, named.scenario, basis)
    bars = []
    for done, one in enumerate(ranges):
        progress(done / len(ranges))
        low, high = (figure_of(figure, named, one.lever.put(named.scenario, end), basis) for end in (one.low, one.high))
        bars.append(Bar(one, low, high))
    progress(1.0)
    widest = sorted(bars, key=lambda bar: -bar.span(expected))
    return Tornado(figure, title, figure_unit(figure), expected, tuple(widest))
