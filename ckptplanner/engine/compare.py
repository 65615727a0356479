"""Scenarios side by side: which inputs differ, what follows from that, and by how much. Nothing is computed anew.

    inputs   one row for each field that is not the same everywhere            path, title, value of each scenario
    figures  one row for each output                        value of each scenario, difference and share to the base

Figures are named by their place in `plan --json`, so `cost.total_usd_per_year` is the same everywhere. Dollars are a year's
unless another basis is asked for; differences are those of what is shown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from ckptplanner.data.records import LayoutPart
from ckptplanner.engine.cost import Basis, per_basis
from ckptplanner.engine.document import plan_document
from ckptplanner.engine.evaluate import plan_of
from ckptplanner.engine.plan import Plan
from ckptplanner.engine.scenario import PATHS, STORAGE_PRICE_PATH, TIER_PATTERN, CustomStorage, NamedScenario, Workbook
from ckptplanner.engine.tables import Cell, Translate, input_row
from ckptplanner.frozen import leaf_paths, value_at
from ckptplanner.text import Text, text
from ckptplanner.units import (
    BYTES,
    BYTES_PER_PARAM,
    BYTES_PER_S,
    COUNT,
    FRACTION,
    GIBS,
    SECONDS,
    USD_PER_YEAR,
    Unit,
    exact,
    grouped,
)

Better = Literal["less", "more"]
Group = Literal["money", "time", "storage", "findings"]
_SAME = 1e-9  # differences by rounding alone are none


@dataclass(frozen=True, slots=True)
class Case:
    """One scenario with its plan."""

    named: NamedScenario
    plan: Plan


@dataclass(frozen=True, slots=True)
class Figure:
    """One output: its place in `plan --json`, its words, and which way is better; an optional one is left out where unused."""

    path: str
    title: Text
    unit: Unit | None
    group: Group
    better: Better | None = None
    is_optional: bool = False
    is_part: bool = False  # of the figure above it that is none

    def read(self, plan: Plan) -> float | str | None:
        """The value in a plan; None where it is not known."""
        if self.path.startswith("findings."):
            return sum(finding.severity == self.path.removeprefix("findings.") for finding in plan.findings)
        found: Any = plan
        for name in self.path.split("."):
            found = None if found is None else getattr(found, name)
        return found  # type: ignore[no-any-return]

    @property
    def is_money(self) -> bool:
        """Whether it is counted on the money basis."""
        return self.unit == USD_PER_YEAR


FIGURES = (
    Figure("cost.total_usd_per_year", text("Costs in all"), USD_PER_YEAR, "money", "less"),
    Figure("cost.storage_usd_per_year", text("Storage"), USD_PER_YEAR, "money", "less"),
    Figure("cost.lost_gpu_usd_per_year", text("Lost GPU time"), USD_PER_YEAR, "money", "less"),
    Figure("cost.stalled_gpu_usd_per_year", text("Stopped by saves"), USD_PER_YEAR, "money", "less", is_part=True),
    Figure("cost.rework_usd_per_year", text("Rework"), USD_PER_YEAR, "money", "less", is_part=True),
    Figure("cost.restart_usd_per_year", text("Restarts"), USD_PER_YEAR, "money", "less", is_part=True),
    Figure(
        "cost.planned_usd_per_year", text("Stops that are planned"), USD_PER_YEAR, "money", "less",
        is_optional=True, is_part=True,
    ),
    Figure("cost.other_usd_per_year", text("S3, spares, zones"), USD_PER_YEAR, "money", "less", is_optional=True),
    Figure("waste.chosen_fraction", text("Waste"), FRACTION, "time", "less"),
    Figure("waste.planned_fraction", text("Planned stops"), FRACTION, "time", "less", is_optional=True),
    Figure("levels.local.interval_s", text("Local save every"), SECONDS, "time", is_optional=True),
    Figure("schedule.period_s", text("Save every"), SECONDS, "time"),
    Figure("schedule.blocking_s", text("Each save stops"), SECONDS, "time", "less"),
    Figure("schedule.durable_after_s", text("Restorable after"), SECONDS, "time", "less"),
    Figure("waste.worst_rework_s", text("Lost at most"), SECONDS, "time", "less"),
    Figure("waste.mean_rework_s", text("Lost on average"), SECONDS, "time", "less"),
    Figure("schedule.restart_s", text("Runs again in"), SECONDS, "time", "less"),
    Figure("beyond.oldest_reach_s", text("Can go back"), SECONDS, "time", "more"),
    Figure("checkpoint.checkpoint_bytes", text("One checkpoint"), BYTES, "storage"),
    Figure("storage.required_write_bytes_per_s", text("Needs to write"), BYTES_PER_S, "storage"),
    Figure("storage.chosen.id", text("File system"), None, "storage"),
    Figure("storage.chosen.capacity_gib", text("Capacity"), GIBS, "storage"),
    Figure("storage.chosen.baseline_bytes_per_s", text("Sustains"), BYTES_PER_S, "storage"),
    Figure("storage.chosen.fill_ratio", text("Full"), FRACTION, "storage"),
    Figure("storage.chosen.writes_in_s", text("Writes in"), SECONDS, "storage", "less"),
    Figure("findings.error", text("Errors"), COUNT, "findings", "less", is_optional=True),
    Figure("findings.warning", text("Warnings"), COUNT, "findings", "less", is_optional=True),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class DifferingInput:
    """One field that is not the same everywhere; `values` are in its own unit."""

    path: str
    title: str
    unit: str
    values: tuple[Cell, ...]
    shown: tuple[str, ...]
    in_full: tuple[str, ...]
    sources: tuple[str, ...]
    differs: tuple[bool, ...]  # from the base


@dataclass(frozen=True, slots=True)
class Change:
    """How a figure differs from the base's; `fraction` is None where the base's is 0."""

    difference: float
    fraction: float | None
    is_better: bool | None


@dataclass(frozen=True, slots=True)
class FigureRow:
    """One figure in every scenario; a change is None at the base, where nothing differs, and where one is not known."""

    figure: Figure
    values: tuple[float | str | None, ...]
    changes: tuple[Change | None, ...]

    def best(self, without: frozenset[int] = frozenset()) -> frozenset[int]:
        """The scenarios that are best in it, of those not left out; none where no way is better or most are alike."""
        rest = (index for index in range(len(self.values)) if index not in without)
        known = [(value, index) for index in rest if isinstance(value := self.values[index], int | float)]
        if self.figure.better is None or len(known) < 2 or len({value for value, _ in known}) == 1:
            return frozenset()
        pick = min if self.figure.better == "less" else max
        least = pick(value for value, _ in known)
        found = frozenset(index for value, index in known if _is_same(value, least))
        return found if 2 * len(found) <= len(known) else frozenset()


@dataclass(frozen=True, slots=True)
class Comparison:
    """All of it; `base` is an index into `names`."""

    names: tuple[str, ...]
    base: int
    basis: Basis
    broken: frozenset[int]  # scenarios whose plan has an error: they are best in nothing
    inputs: tuple[DifferingInput, ...]
    figures: tuple[FigureRow, ...]

    def row(self, path: str) -> FigureRow:
        """The row of a figure. Raises KeyError."""
        found = next((row for row in self.figures if row.figure.path == path), None)
        if found is None:
            raise KeyError(path)
        return found


def cases_of(workbook: Workbook) -> tuple[Case, ...]:
    """Every scenario of a plan file with its plan."""
    return tuple(Case(named, plan_of(named)) for named in workbook.scenarios)


def comparison(cases: Sequence[Case], base: str, basis: Basis = "year", translate: Translate = str) -> Comparison:
    """Set scenarios side by side.

    Args:
        cases: The scenarios in the order in which they are to stand.
        base: The name of the one that the others are compared with.
        basis: What dollars are counted over; each scenario's own run where it is the run.
        translate: What makes words of the texts.

    Raises:
        ValueError: no scenario has the name of the base.
    """
    names = tuple(case.named.name for case in cases)
    if base not in names:
        raise ValueError(f"no scenario {base!r}; there are {', '.join(map(repr, names))}")
    at = names.index(base)
    rows = (_figure_row(figure, cases, at, basis) for figure in FIGURES)
    return Comparison(
        names=names,
        base=at,
        basis=basis,
        broken=frozenset(index for index, case in enumerate(cases) if case.plan.count("error")),
        inputs=tuple(_inputs([case.named for case in cases], at, translate)),
        figures=tuple(row for row in rows if not row.figure.is_optional or any(row.values)),
    )


# ---------------------------------------------------------------- inputs


def _inputs(scenarios: Sequence[NamedScenario], base: int, translate: Translate) -> Iterable[DifferingInput]:
    for path in _paths(scenarios):
        values = [value_at(named.scenario, path) for named in scenarios]
        if any(value != values[base] for value in values):
            yield _input(scenarios, base, path, values, translate)


def _paths(scenarios: Sequence[NamedScenario]) -> Iterable[str]:
    """The paths of all inputs; storage that exists is listed by its parts where any scenario has some."""
    for path in PATHS:
        yield path
        if path == "storage.custom" and any(named.scenario.storage.custom is not None for named in scenarios):
            yield from leaf_paths(CustomStorage, "storage.custom.")


def _input(
    scenarios: Sequence[NamedScenario], base: int, path: str, values: Sequence[Any], translate: Translate
) -> DifferingInput:
    rows = [input_row(named, path, translate) for named in scenarios]
    differs = tuple(value != values[base] for value in values)
    short = [_short(path, value, row.shown, translate) for value, row in zip(values, rows, strict=True)]
    return DifferingInput(
        path=path,
        title=_title(path, rows[base].title, translate),
        unit=rows[base].unit,
        values=tuple(row.value for row in rows),
        shown=tuple(
            translate(text("{value}, others", value=said)) if is_other and said == short[base] else said
            for said, is_other in zip(short, differs, strict=True)
        ),
        in_full=tuple(row.shown for row in rows),
        sources=tuple(row.source for row in rows),
        differs=differs,
    )


def _title(path: str, title: str, translate: Translate) -> str:
    """A price of storage is called by its throughput alone in its panel."""
    return translate(text("Price of {tier}", tier=title)) if path.startswith(STORAGE_PRICE_PATH) else title


def _short(path: str, value: Any, shown: str, translate: Translate) -> str:
    """A layout by its sum, a fixed file system by its throughput and size; all else as it is shown."""
    if isinstance(value, tuple) and value and isinstance(value[0], LayoutPart):
        return exact(sum(part.bytes_per_param for part in value), BYTES_PER_PARAM)
    fixed = TIER_PATTERN.fullmatch(value) if path == "storage.tier" else None
    if fixed is None:
        return shown
    values = {"throughput": grouped(int(fixed[1])), "size": grouped(int(fixed[2]))}
    if fixed[3]:
        return translate(text("{throughput} MB/s/TiB × {size} GiB, EFA", **values))
    return translate(text("{throughput} MB/s/TiB × {size} GiB", **values))


# ---------------------------------------------------------------- figures


def _figure_row(figure: Figure, cases: Sequence[Case], base: int, basis: Basis) -> FigureRow:
    values = tuple(_value(figure, case.plan, basis) for case in cases)
    return FigureRow(figure, values, tuple(_change(figure, value, values[base]) for value in values))


def _value(figure: Figure, plan: Plan, basis: Basis) -> float | str | None:
    value = figure.read(plan)
    if figure.is_money and isinstance(value, float):
        return per_basis(value, basis, plan.scenario.run.days)
    return value


def _change(figure: Figure, value: float | str | None, base: float | str | None) -> Change | None:
    if not isinstance(value, int | float) or not isinstance(base, int | float) or _is_same(value, base):
        return None
    less = value < base
    better = None if figure.better is None else less == (figure.better == "less")
    return Change(value - base, (value - base) / base if base else None, better)


def _is_same(one: float, other: float) -> bool:
    return abs(one - other) <= _SAME * max(abs(one), abs(other))


# ---------------------------------------------------------------- JSON and CSV


def comparison_document(workbook: Workbook) -> dict[str, Any]:
    """What `plan --compare --json` prints: the base, every plan by name, and what differs, dollars a year."""
    cases = cases_of(workbook)
    found = comparison(cases, workbook.base)
    return {
        "base": workbook.base,
        "scenarios": [{"name": case.named.name, **plan_document(case.plan)} for case in cases],
        "differences": {
            "inputs": [
                {"path": row.path, "title": row.title, "unit": row.unit, "values": _by_name(found, row.values)}
                for row in found.inputs
            ],
            "figures": [_figure_document(found, row) for row in found.figures],
        },
    }


def _by_name(found: Comparison, values: Iterable[Any]) -> dict[str, Any]:
    return dict(zip(found.names, values, strict=True))


def _figure_document(found: Comparison, row: FigureRow) -> dict[str, Any]:
    def each(read: Callable[[Change], Any]) -> dict[str, Any]:
        changes = enumerate(zip(found.names, row.changes, strict=True))
        return {name: _unchanged(row, found.base, at) if change is None else read(change) for at, (name, change) in changes}

    document = {
        "path": row.figure.path, "title": str(row.figure.title), "unit": row.figure.unit.symbol if row.figure.unit else "",
        "better": row.figure.better, "values": _by_name(found, row.values),
    }  # fmt: skip
    if row.figure.unit is None:
        return document
    fractions = each(lambda change: change.fraction)
    return {**document, "differences": each(lambda change: change.difference), "fractions": fractions}


def _unchanged(row: FigureRow, base: int, at: int) -> float | None:
    """0 where a known value is the base's; None where one of both is not known."""
    return None if row.values[at] is None or row.values[base] is None else 0.0


def comparison_columns(found: Comparison) -> tuple[str, ...]:
    """The headings of comparison.csv: every scenario by its name, then its difference to the base and that as a share."""
    columns = ["kind", "path", "title", "unit", "better"]
    for at, name in enumerate(found.names):
        columns += [name] if at == found.base else [name, f"{name} - {found.names[found.base]}", f"{name} (share)"]
    return tuple(columns)


def comparison_cells(found: Comparison) -> list[list[Cell]]:
    """The rows of comparison.csv: inputs that differ, then figures; a number where there is one, empty where not."""
    rows: list[list[Cell]] = []
    for one in found.inputs:
        cells: list[Cell] = ["input", one.path, one.title, one.unit, None]
        for at, value in enumerate(one.values):
            cells += [value] if at == found.base else [value, None, None]
        rows.append(cells)
    for row in found.figures:
        unit = row.figure.unit.symbol if row.figure.unit else ""
        cells = ["figure", row.figure.path, str(row.figure.title), unit, row.figure.better]
        for at, (given, change) in enumerate(zip(row.values, row.changes, strict=True)):
            same = None if row.figure.unit is None else _unchanged(row, found.base, at)
            difference = (same, same) if change is None else (change.difference, change.fraction)
            cells += [given] if at == found.base else [given, *difference]
        rows.append(cells)
    return rows
