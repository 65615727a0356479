"""Plan and inputs as tables, shared by the CSV files, the PDF report and the clipboard.

Rows are plain Python (`option_rows`, `input_rows`, ...); the `*_table` functions make a pandas DataFrame of them. pandas
is imported inside those only: it costs a quarter of a second, and the window starts without it. An unknown number is
None in the rows and an empty cell in the file, never NaN. Headings are the field names of docs/models.md 10 and carry the unit.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ckptplanner.data import catalog
from ckptplanner.data.records import LayoutPart, ModelParts, NodePrice, Row
from ckptplanner.engine.checks import source_kind
from ckptplanner.engine.plan import Finding, Option, Plan
from ckptplanner.engine.scenario import PATHS, STORAGE_PRICE_PATH, CustomStorage, NamedScenario, Scenario
from ckptplanner.engine.value_words import VALUE_WORDS, field_unit, range_words
from ckptplanner.frozen import FloatArray, Frozen, leaf_paths, spec_of, value_at
from ckptplanner.text import Text, text
from ckptplanner.units import BYTES_PER_PARAM, Unit, exact, grouped

if TYPE_CHECKING:
    from pandas import DataFrame

    from ckptplanner.engine.curves import Curves

Cell = str | float | int | bool | None
Translate = Callable[[Text], str]

OPTION_COLUMNS = (
    "id", "chosen", "throughput_mb_per_s_per_tib", "efa", "capacity_gib", "baseline_bytes_per_s", "read_bytes_per_s",
    "client_bytes_per_s", "servers", "bound_by", "usd_per_month", "writes_in_s", "restart_s", "fill_ratio",
    "waste_fraction", "total_usd_per_year", "illegal_reason", "excluded_reason",
)  # fmt: skip
FINDING_COLUMNS = ("severity", "path", "message")
INPUT_COLUMNS = ("path", "title", "value", "unit", "shown", "source", "source_text", "date", "low", "high", "count")


@dataclass(frozen=True, slots=True)
class InputRow:
    """One input as the report and inputs.csv show it; `value` is in the path's own unit."""

    path: str
    title: str
    value: Cell
    unit: str
    shown: str
    source: str
    source_text: str
    date: str
    low: Cell = None  # of a measured value, in the path's own unit
    high: Cell = None
    count: int | None = None
    measured: str = ""  # the same in words


def known(value: Any) -> Cell:
    """A cell's value: numpy scalars as Python's own, and None for what is not a finite number."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, Text):
        return str(value)
    return None if isinstance(value, float) and not math.isfinite(value) else value


# ---------------------------------------------------------------- options and findings


def option_rows(plan: Plan, translate: Translate = str) -> list[dict[str, Cell]]:
    """Every file system looked at, in the order of the plan: cheapest first, the refused ones with their reason."""
    return [_option_cells(option, option is plan.storage.chosen, translate) for option in plan.storage.options]


def _option_cells(option: Option, chosen: bool, translate: Translate) -> dict[str, Cell]:
    values: dict[str, Any] = {name: getattr(option, name) for name in OPTION_COLUMNS if name != "chosen"}
    values["chosen"] = chosen
    said = {name: translate(value) for name, value in values.items() if isinstance(value, Text)}
    return {name: known(said.get(name, values[name])) for name in OPTION_COLUMNS}


def finding_rows(findings: Sequence[Finding], translate: Translate = str) -> list[dict[str, Cell]]:
    """What is said about a plan, errors first."""
    return [{"severity": one.severity, "path": one.path, "message": translate(one.text)} for one in findings]


def options_table(plan: Plan, translate: Translate = str) -> DataFrame:
    """Every file system looked at, as a DataFrame."""
    return frame(option_rows(plan, translate), OPTION_COLUMNS)


def findings_table(plan: Plan, translate: Translate = str) -> DataFrame:
    """What is said about the plan, as a DataFrame."""
    return frame(finding_rows(plan.findings, translate), FINDING_COLUMNS)


def inputs_table(named: NamedScenario, translate: Translate = str) -> DataFrame:
    """All inputs with unit and source, as a DataFrame."""
    rows = [{name: getattr(row, name) for name in INPUT_COLUMNS} for row in input_rows(named, translate)]
    return frame(rows, INPUT_COLUMNS)


def frame(rows: Sequence[Mapping[str, Cell]], columns: Sequence[str]) -> DataFrame:
    """A DataFrame of objects: whole numbers stay whole, and None stays None."""
    return frame_of(columns, [[row[name] for name in columns] for row in rows])


def frame_of(columns: Sequence[str], rows: Sequence[Sequence[Cell]]) -> DataFrame:
    """The same from rows in the order of the columns."""
    from pandas import DataFrame

    return DataFrame([list(row) for row in rows], columns=list(columns), dtype=object)


# ---------------------------------------------------------------- curves


def curves_table(plan: Plan) -> DataFrame:
    """Cost and waste over the write time: the cheapest choice, then capacity and price of every tier."""
    from pandas import DataFrame

    curves = plan.curves
    columns: dict[str, Any] = {
        "write_s": curves.write_s,
        "required_write_bytes_per_s": curves.required_write_bytes_per_s,
        "cheapest": _cheapest_ids(curves),
        "cheapest_usd_per_month": curves.picked(curves.usd_per_month),
        "async_first_order_waste_fraction": curves.picked(curves.run_async.first_order_fraction),
        "async_exact_waste_fraction": curves.picked(curves.run_async.exact_fraction),
        "sync_first_order_waste_fraction": curves.picked(curves.sync.first_order_fraction),
        "sync_exact_waste_fraction": curves.picked(curves.sync.exact_fraction),
    }
    for row, name in enumerate(_tier_names(curves)):
        columns[f"{name}_capacity_gib"] = curves.capacity_gib[row]
        columns[f"{name}_usd_per_month"] = curves.usd_per_month[row]
    return DataFrame({name: _finite(values) for name, values in columns.items()})


def _finite(values: FloatArray | list[str | None]) -> Any:
    """Infinity as NaN, which pandas writes as an empty cell; texts as they are."""
    return np.where(np.isfinite(values), values, np.nan) if isinstance(values, np.ndarray) else values


def _tier_names(curves: Curves) -> list[str]:
    """p2_500 or p2_1000_efa for each tier; custom for storage that exists."""
    names = [f"p2_{tier.throughput_mb_per_s_per_tib:.0f}{'_efa' if tier.efa else ''}" for tier in curves.tiers]
    return names or ["custom"]


def _cheapest_ids(curves: Curves) -> list[str | None]:
    """The cheapest option at each write time under the name that `storage.tier` takes."""
    capacities = curves.picked(curves.capacity_gib)
    return [_option_id(curves, int(row), size) for row, size in zip(curves.cheapest, capacities, strict=True)]


def _option_id(curves: Curves, row: int, capacity_gib: float) -> str | None:
    if row < 0:
        return None
    if not curves.tiers:
        return "custom"
    tier = curves.tiers[row]
    return f"p2-{tier.throughput_mb_per_s_per_tib:.0f}-{capacity_gib:.0f}{'-efa' if tier.efa else ''}"


# ---------------------------------------------------------------- inputs


def input_rows(named: NamedScenario, translate: Translate = str) -> tuple[InputRow, ...]:
    """All inputs in the order of declaration: path, title, value in its own unit, and where it comes from."""
    return tuple(input_row(named, path, translate) for path in _input_paths(named.scenario))


def _input_paths(scenario: Scenario) -> Iterator[str]:
    """The paths of all inputs; storage that exists is listed by its parts."""
    for path in PATHS:
        yield path
        if path == "storage.custom" and scenario.storage.custom is not None:
            yield from leaf_paths(CustomStorage, "storage.custom.")


def input_row(named: NamedScenario, path: str, translate: Translate = str) -> InputRow:
    """One input: what it is, its value, and where it comes from."""
    spec = spec_of(Scenario, path)
    value = value_at(named.scenario, path)
    plain, unit = _plain(value), field_unit(path)
    source_text, date = _origin(named, path, translate)
    recorded = named.source_of(path)
    words = VALUE_WORDS.get(path, {}).get(value) if isinstance(value, str) else None
    return InputRow(
        path=path,
        title=translate(text(spec.title)),
        value=plain,
        unit=unit.symbol if unit is not None and unit.kind not in {"count", "number"} else "",
        shown=translate(words) if words else shown(value, unit, translate),
        source=source_kind(named, path),
        source_text=source_text,
        date=date,
        low=known(recorded.low) if recorded else None,
        high=known(recorded.high) if recorded else None,
        count=recorded.count if recorded else None,
        measured=translate(ranged) if recorded and (ranged := range_words(recorded)) else "",
    )


def _plain(value: Any) -> Cell:
    """What one cell holds of a value: a row by its id, a layout by its sum, storage that exists by its parts below."""
    if isinstance(value, Row):
        return value.id
    if isinstance(value, ModelParts):
        return value.name
    if isinstance(value, CustomStorage):
        return "given"
    if isinstance(value, tuple):
        return _layout_sum(value) if value and isinstance(value[0], LayoutPart) else _rows_json(value)
    return known(value)


def _layout_sum(parts: tuple[LayoutPart, ...]) -> float:
    return float(sum(part.bytes_per_param for part in parts))


def _rows_json(rows: tuple[Any, ...]) -> str | None:
    """Rows of saves or of restart classes, or gaps, as the JSON that `--set` takes; nothing where there are none."""
    plain = [row.model_dump(exclude_defaults=True) if isinstance(row, Frozen) else row for row in rows]
    return json.dumps(plain) if rows else None


def shown(value: Any, unit: Unit | None, translate: Translate = str) -> str:
    """The text of an input's value, to the last digit and with its unit; empty where nothing is given."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return translate(text("yes") if value else text("no"))
    if isinstance(value, Row):
        return value.name
    if isinstance(value, tuple):
        if value and isinstance(value[0], LayoutPart):
            return _layout(value, translate)
        if value and isinstance(value[0], float):
            return translate(text("{count} gaps", count=len(value)))
        if len(value) == 1:
            return translate(text("1 row"))
        return translate(text("{count} rows", count=len(value))) if value else ""
    if isinstance(value, int):
        return grouped(value)
    if isinstance(value, float):
        return exact(value, unit) if unit is not None else repr(value)
    plain = _plain(value)
    return "" if plain is None else str(plain)


def _layout(parts: tuple[LayoutPart, ...], translate: Translate) -> str:
    """bf16 weights 2 + fp32 master weights 4 + fp32 Adam moments 8 = 14 B."""
    total = exact(sum(part.bytes_per_param for part in parts), BYTES_PER_PARAM)
    return " + ".join(f"{translate(text(part.what))} {part.bytes_per_param:g}" for part in parts) + f" = {total}"


def _origin(named: NamedScenario, path: str, translate: Translate) -> tuple[str, str]:
    """Where a value comes from in words, and the date: what is recorded, the catalog's row, or the default."""
    recorded = named.source_of(path)
    if recorded is not None:
        return recorded.text or recorded.note, recorded.date
    row = _catalog_row(named.scenario, path)
    if row is not None:
        return row.source, row.date
    if value_at(named.scenario, path) == spec_of(Scenario, path).default:
        return translate(text("default")), ""
    return "", ""


def _catalog_row(scenario: Scenario, path: str) -> Row | ModelParts | None:
    """The row that a value was taken from, where its value is still the row's."""
    value = value_at(scenario, path)
    if isinstance(value, Row | ModelParts):
        return value
    if path == "workload.layout":
        return next((row for row in catalog.layouts() if row.parts == value), None)
    if path == "prices.node_usd_per_h":
        return next((row for row in catalog.node_prices() if _is_price_of(row, scenario, value)), None)
    throughput = path.removeprefix(STORAGE_PRICE_PATH)
    if throughput != path:
        return next(
            (
                row
                for row in catalog.storage_prices()
                if row.region == scenario.prices.region
                and f"{row.throughput_mb_per_s_per_tib:.0f}" == throughput
                and row.usd_per_gib_month == value
            ),
            None,
        )
    return None


def _is_price_of(row: NodePrice, scenario: Scenario, value: float | None) -> bool:
    is_same_node = row.region == scenario.prices.region and row.node == scenario.workload.node.id
    return is_same_node and row.node_usd_per_h == value
