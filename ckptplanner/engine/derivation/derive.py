"""Why a figure is what it is: its formula, the numbers put in, where they come from and what would change it.

    W = S / t_w                          formula      one template, "{S} / {t_need}", written twice:
    1,742.3 GB / 300 s = 5.81 GB/s       substituted  once with the symbols and once with the numbers of its terms
    S           1.742 TB, 124.45 B by 14 B            a term leads to a field or to another figure
    10 min to write     2.90 GB/s     -50 %           a nudge: the scenario with one input changed, evaluated again

Nothing is computed a second time here. Every number stands in the Plan, the Scenario or the Job; which template holds
follows from the models, the mode and the kind of storage. A figure that is not known says what is missing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from ckptplanner.engine.checks import source_kind
from ckptplanner.engine.cost import Basis
from ckptplanner.engine.derivation.case import Case
from ckptplanner.engine.derivation.changes import Change, changes_of
from ckptplanner.engine.derivation.figures import FIGURES, read_figure, recipe_of, result_text
from ckptplanner.engine.derivation.missing import why_missing
from ckptplanner.engine.derivation.nudges import CHOICE_WORDS
from ckptplanner.engine.derivation.recipe import Figure, Recipe
from ckptplanner.engine.derivation.term import Term
from ckptplanner.engine.derivation.terms import TERMS
from ckptplanner.engine.derivation.writing import NOT_KNOWN, plain, precise, shown
from ckptplanner.engine.scenario import NamedScenario, Scenario
from ckptplanner.frozen import spec_of, value_at
from ckptplanner.text import Text, text
from ckptplanner.units import BYTES, GIBS, NBSP, brief, exact


@dataclass(frozen=True, slots=True)
class Input:
    """One number of the formula. It leads to a field (`path`), to another derivation (`figure`) or nowhere."""

    symbol: str
    title: Text
    value: Text
    remark: Text | None
    path: str | None
    figure: str | None
    kind: str


@dataclass(frozen=True, slots=True)
class Derivation:
    """What the window says when one asks why. `substituted` ends with `result`; both are empty where `missing` says why."""

    figure: str
    title: Text
    formula: str
    substituted: str
    result: str
    missing: Text | None
    inputs: tuple[Input, ...]
    changes: tuple[Change, ...]
    valid: Text
    source: Text


_SLOT = re.compile(r"{(\w+)}")
# a dot between two symbols says nothing; after a quotient or a number with its unit it does
_PRODUCT = re.compile(r"(?<!/ )(?<![\w\u00a0,*])([A-Za-zτησ][\w*]*|\d+) · (?=[A-Za-zτησ√])")
# figures that depend on one another are looked through from the most doubtful kind on
_KINDS = ("guess", "typed", "article", "log", "doc")


def derivation(named: NamedScenario, figure: str, basis: Basis = "month") -> Derivation:
    """Explain one figure of a plan.

    Args:
        named: The scenario with the sources of its values.
        figure: One of FIGURES.
        basis: What dollars are for: a month, the run or a year.

    Raises:
        KeyError: there is no such figure.
    """
    case, spec = Case(named, basis), FIGURES[figure]
    recipe = recipe_of(case, spec)
    value = read_figure(case, figure)
    result = "" if value is None else result_text(figure, value)
    return Derivation(
        figure=figure,
        title=_title(case, figure),
        formula=_formula(recipe.written(case), recipe.relation, spec.symbol),
        substituted=_substituted(case, recipe, spec, figure, value),
        result=result,
        missing=why_missing(case, spec) if value is None else None,
        inputs=(*_inputs(case, recipe, figure), *(_choice(case, path) for path in recipe.also)),
        changes=tuple(changes_of(case, figure)),
        valid=recipe.valid,
        source=recipe.source if isinstance(recipe.source, Text) else recipe.source(case),
    )


def _title(case: Case, figure: str) -> Text:
    title = FIGURES[figure].title
    return title if isinstance(title, Text) else title(case)


def _formula(template: str, relation: str, symbol: str) -> str:
    """The template in symbols: products without a dot, and the figure's own symbol before it."""
    right = _SLOT.sub(lambda slot: TERMS[slot[1]].symbol, template)
    right = _PRODUCT.sub(r"\1 ", right)
    if relation == "solves" or right == symbol:
        return right
    return f"{right} ≤ {symbol}" if relation == "≤" else f"{symbol} = {right}"


def _substituted(case: Case, recipe: Recipe, spec: Figure, figure: str, value: float | None) -> str:
    """The template in numbers, then the result; empty where one of them is not known."""
    template = recipe.written(case)
    numbers = {name: TERMS[name].read(case) for name in _SLOT.findall(template)}
    if value is None or None in numbers.values():
        return ""
    left = _SLOT.sub(lambda slot: precise(numbers[slot[1]] or 0.0, TERMS[slot[1]].unit), template)
    result = result_text(figure, value)
    if recipe.relation == "solves":
        return f"{left} ⇒ {spec.symbol} = {result}"
    return result if left == result else f"{left} {recipe.relation} {result}"


def _inputs(case: Case, recipe: Recipe, own: str) -> Iterator[Input]:
    for name in dict.fromkeys(_SLOT.findall(recipe.written(case))):
        term, leads = TERMS[name], TERMS[name].leads_to(case)
        if leads == own:
            continue
        figure = leads if leads in FIGURES else None
        path = leads if leads and figure is None else None
        yield Input(
            symbol=term.symbol,
            title=term.title or _title(case, figure or "waste_fraction"),
            value=_value(term, term.read(case), is_field=path is not None),
            remark=term.remark(case),
            path=path,
            figure=figure,
            kind="guess" if term.is_guess(case) else _kind(case, leads) or "doc",
        )


def _value(term: Term, value: float | None, *, is_field: bool) -> Text:
    if value is None:
        return NOT_KNOWN
    if term.unit is BYTES:
        return plain(brief(value, BYTES, 4))
    if term.unit is GIBS:
        return plain(precise(value, GIBS))
    typed = exact(value, term.unit).replace(f"{NBSP}/", "/")
    return plain(typed if is_field and len(typed) <= 16 else shown(value, term.unit))


def _choice(case: Case, path: str) -> Input:
    """A choice that decides which formula holds."""
    value, spec = value_at(case.scenario, path), spec_of(Scenario, path)
    if value is None:
        shown_as = text("not given")
    elif isinstance(value, tuple):
        shown_as = text("{count} rows", count=len(value))
    elif spec.unit is not None:
        shown_as = plain(brief(value, spec.unit))
    else:
        shown_as = CHOICE_WORDS.get(value, plain(str(value)))
    return Input("", Text(spec.title), shown_as, None, path, None, _kind(case, path) or "doc")


def _kind(case: Case, leads: str) -> str:
    """Where a value comes from: a field's source, or for a figure the most doubtful among what it is made of."""
    if not leads:
        return ""
    if leads not in FIGURES:
        return source_kind(case.named, leads)
    kinds = {source_kind(case.named, path) for path in _fields_below(case, leads, set())}
    return next((kind for kind in _KINDS if kind in kinds), "")


def _fields_below(case: Case, figure: str, seen: set[str]) -> Iterator[str]:
    """The fields that a figure is made of, through the figures between; an equation may name its own figure."""
    seen.add(figure)
    for name in _SLOT.findall(recipe_of(case, FIGURES[figure]).written(case)):
        leads = TERMS[name].leads_to(case)
        if leads in FIGURES:
            yield from _fields_below(case, leads, seen) if leads not in seen else ()
        elif leads:
            yield leads
