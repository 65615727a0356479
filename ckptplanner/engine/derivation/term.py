"""What a term of a formula is: symbol, unit, where the number stands, and the field or figure that it leads to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ckptplanner.engine.derivation.case import Case, Maker, Reader, finite
from ckptplanner.engine.derivation.figures import figure_unit, read_figure
from ckptplanner.engine.scenario import Scenario
from ckptplanner.frozen import spec_of, value_at
from ckptplanner.text import Text
from ckptplanner.units import COUNT, Unit


@dataclass(frozen=True, slots=True)
class Term:
    """A number of a formula: symbol, unit, where it stands, and the field or figure that it leads to."""

    symbol: str
    unit: Unit
    read: Reader
    leads: str | Maker = ""
    title: Text | None = None
    remark: Callable[[Case], Text | None] = lambda case: None
    is_guess: Callable[[Case], bool] = lambda case: False  # where nothing was typed and the program takes something

    def leads_to(self, case: Case) -> str:
        """A field path, a figure id or nothing."""
        return self.leads if isinstance(self.leads, str) else self.leads(case)


def field_term(symbol: str, path: str, unit: Unit | None = None, remark: Callable[[Case], Text | None] | None = None) -> Term:
    """A term that is an input, under the words of its field."""
    spec = spec_of(Scenario, path)
    return Term(
        symbol, unit or spec.unit or COUNT, lambda case: finite(value_at(case.scenario, path)), path,
        Text(spec.title), remark or (lambda case: None),
    )  # fmt: skip


def figure_term(symbol: str, figure: str, remark: Callable[[Case], Text | None] | None = None) -> Term:
    """A term that is a figure of its own."""
    return Term(
        symbol, figure_unit(figure), lambda case: read_figure(case, figure), figure, None, remark or (lambda case: None)
    )
