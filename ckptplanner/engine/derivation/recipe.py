"""A figure that one can ask about, and the ways to it: template, when it holds, where it is valid and who says so."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from ckptplanner.engine.derivation.case import Case, Maker, Reader
from ckptplanner.frozen import value_at
from ckptplanner.text import Text


@dataclass(frozen=True, slots=True)
class Recipe:
    """One way to a figure: when it holds, its template, where it is valid and who says so.

    `relation` is "=" where the template gives the figure, "≤" where the figure is the least size that reaches it, and
    "solves" where the template is an equation that the figure satisfies.
    """

    template: str | Maker
    valid: Text
    source: Text | Callable[[Case], Text]
    when: Callable[[Case], bool] = lambda case: True
    relation: Literal["=", "≤", "solves"] = "="
    also: tuple[str, ...] = ()

    def written(self, case: Case) -> str:
        """The template for this case."""
        return self.template if isinstance(self.template, str) else self.template(case)


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure of the cards: its words, symbol, where it stands, its recipes (the first that holds), what it needs."""

    title: Text | Callable[[Case], Text]
    symbol: str
    read: Reader
    recipes: tuple[Recipe, ...]
    asked: tuple[str, ...]
    needs: tuple[str, ...] = ("system",)
    in_points: bool = False


def is_one_of(path: str, *values: object) -> Callable[[Case], bool]:
    """Whether the field has one of these values."""
    return lambda case: value_at(case.scenario, path) in values
