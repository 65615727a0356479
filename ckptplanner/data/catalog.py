"""The catalog: reads each CSV file beside this module once, converts units, and looks rows up.

Every row carries its source, date and status; a blank cell means that no source was found. The files are written in
the units of their sources, and the heading says which. Here they become those of the engine:

    nvme_gb_each = 3800    ->  nvme_bytes_each = 3.8e12
    ena_gbps     = 350     ->  ena_bytes_per_s = 43.75e9
    total_b      = 124.45  ->  total_params    = 124.45e9

The catalog is a menu of defaults: a scenario carries the rows that it uses, and `evaluate` never comes here.
"""

from __future__ import annotations

import csv
import difflib
import io
import re
import unicodedata
from collections.abc import Callable, Mapping
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Any, TypeVar, get_args

from pydantic import ValidationError

from ckptplanner.data.records import (
    ByteLayout,
    Ceiling,
    Framework,
    FsxTier,
    InterruptionLog,
    InterruptionRecord,
    ModelRow,
    NodePrice,
    NodeType,
    PublishedRun,
    RequestRate,
    Row,
    StoragePrice,
    StorageTier,
    TierPrice,
)
from ckptplanner.units import DAY, GB, GBPS, HOUR, MIB

RowT = TypeVar("RowT", bound=Row)
Cells = dict[str, Any]

# the unit word in a heading -> the one in the field's name, and the factor between them
_UNITS: Mapping[str, tuple[str, float]] = {
    "h": ("s", HOUR),
    "d": ("s", DAY),
    "gb": ("bytes", GB),
    "mib": ("bytes", MIB),
    "gbps": ("bytes_per_s", GBPS),
    "b": ("params", 1e9),
}
_UNIT_WORD = re.compile(rf"_({'|'.join(_UNITS)})(?=_|$)")
_FEW = 12  # so many ids are listed whole in a refusal; of more, only the closest


class CatalogError(ValueError):
    """A catalog file that cannot be used, or an id that is not in it; the message is one line for the user."""


def _field_of(heading: str, model: type[Row]) -> tuple[str, float | None]:
    """The field that a column fills, and the factor for its numbers: None where the cell is taken as it stands."""
    word = _UNIT_WORD.search(heading)
    if heading in model.model_fields or word is None:
        return heading, None
    name, factor = _UNITS[word[1]]
    return heading[: word.start(1)] + name + heading[word.end(1) :], factor


def _columns(headings: list[str], model: type[Row], where: str) -> dict[str, tuple[str, float | None]]:
    columns: dict[str, tuple[str, float | None]] = {}
    for heading in headings:
        field, factor = _field_of(heading, model)
        if field not in model.model_fields:
            raise CatalogError(f"{where}, column {heading}: unknown heading, {model.__name__} has no {field}")
        if field in (taken for taken, _ in columns.values()):
            raise CatalogError(f"{where}, column {heading}: another column fills {field} already")
        columns[heading] = field, factor
    return columns


def _value(cell: str, factor: float | None) -> Any:
    """A cell's text, or its number in the engine's unit; pydantic reads the texts that stand for numbers or yes/no."""
    return cell if factor is None else float(cell) * factor


def _is_blank_allowed(field: str, model: type[Row]) -> bool:
    return type(None) in get_args(model.model_fields[field].annotation)


def read_rows(
    file: Traversable, model: type[RowT], convert: Callable[[Cells], Cells] = lambda cells: cells
) -> tuple[RowT, ...]:
    """Read one CSV file into rows of `model`; the first line holds the headings.

    Args:
        file: The file; a `pathlib.Path` will do.
        model: The kind of row. A heading is one of its fields, or such a field in a human unit (`mtbi_h`, `ena_gbps`).
        convert: Last change of a row's cells before they are validated, for what is no matter of units. A ValueError
            that it raises is a fault of the row.

    Raises:
        CatalogError: a heading is unknown, a cell is missing or no number, or an id stands twice. The message names
            file, line and column.
    """
    try:
        reader = csv.reader(io.StringIO(file.read_text(encoding="utf-8")), strict=True)
    except (OSError, UnicodeDecodeError) as error:
        raise CatalogError(f"{file.name}: cannot be read: {error}") from error
    try:
        columns = _columns(next(reader, []), model, f"{file.name}:1")
        rows: dict[str, RowT] = {}
        for cells in reader:
            row = _row(cells, columns, model, convert, f"{file.name}:{reader.line_num}")
            if row.id in rows:
                raise CatalogError(f"{file.name}:{reader.line_num}, column id: {row.id} stands there twice")
            rows[row.id] = row
    except csv.Error as error:
        raise CatalogError(f"{file.name}:{reader.line_num}: {error}") from error
    if not rows:
        raise CatalogError(f"{file.name}:1: there are no rows")
    return tuple(rows.values())


def _row(
    cells: list[str],
    columns: Mapping[str, tuple[str, float | None]],
    model: type[RowT],
    convert: Callable[[Cells], Cells],
    where: str,
) -> RowT:
    if len(cells) != len(columns):
        raise CatalogError(f"{where}: {len(cells)} cells under {len(columns)} headings")
    found: Cells = {}
    for cell, (heading, (field, factor)) in zip(cells, columns.items(), strict=True):
        try:
            if cell.strip():
                found[field] = _value(cell.strip(), factor)
            elif _is_blank_allowed(field, model):
                found[field] = None
        except ValueError as error:
            raise CatalogError(f"{where}, column {heading}: {cell!r} is not a number") from error
    try:
        row = model.model_validate(convert(found))
    except ValidationError as error:
        fault = error.errors()[0]
        column = next((h for h, (field, _) in columns.items() if field == fault["loc"][0]), fault["loc"][0])
        is_missing = fault["type"] == "missing"
        words = "must not be blank" if is_missing else f"{fault['msg']}; it holds {fault['input']!r}"
        raise CatalogError(f"{where}, column {column}: {words}") from error
    except ValueError as error:
        raise CatalogError(f"{where}: {error}") from error
    for heading, (field, _) in columns.items():
        if isinstance(value := getattr(row, field), int | float) and value < 0:
            raise CatalogError(f"{where}, column {heading}: {value:g} is below zero")
    return row


def _split_parts(cells: Cells) -> Cells:
    """Turn "bf16 weights:2;fp32 master weights:4" into the parts of a layout."""
    parts = [part.rpartition(":") for part in str(cells.get("parts", "")).split(";")]
    return cells | {"parts": [{"what": what.strip(), "bytes_per_param": number} for what, _, number in parts]}


def _divide_period(cells: Cells) -> Cells:
    """Compute the mean from the period and the events where these are given: nothing rounded is stored."""
    period_s, events, mtbi_s = (cells.get(name) for name in ("period_s", "events", "mtbi_s"))
    if mtbi_s is not None:
        if period_s is not None or events is not None:
            raise ValueError("give either mtbi_h, or period_d and events")
        return cells
    if period_s is None or not str(events).isdigit() or int(str(events)) == 0:
        raise ValueError("mtbi_h is blank, so period_d and events (a whole number from 1) are needed")
    return cells | {"mtbi_s": period_s / int(str(events))}


def _file(name: str) -> Traversable:
    return resources.files("ckptplanner.data") / name


@cache
def layouts() -> tuple[ByteLayout, ...]:
    """What is on disk for one trained parameter, by layout (docs/models.md 2)."""
    return read_rows(_file("layouts.csv"), ByteLayout, _split_parts)


@cache
def frameworks() -> tuple[Framework, ...]:
    """How the training frameworks save (docs/models.md 9)."""
    return read_rows(_file("frameworks.csv"), Framework)


@cache
def nodes() -> tuple[NodeType, ...]:
    """Cloud instances, nodes on premises, and `generic`, which is meant to be edited."""
    return read_rows(_file("nodes.csv"), NodeType)


@cache
def fsx_tiers() -> tuple[FsxTier, ...]:
    """FSx for Lustre Persistent 2 on SSD, each throughput without and with EFA (docs/models.md 6)."""
    return read_rows(_file("fsx_tiers.csv"), FsxTier)


@cache
def ceilings() -> tuple[Ceiling, ...]:
    """What GPU memory, links, copies, host memory, drives and connections carry (docs/models.md 12.2)."""
    return read_rows(_file("ceilings.csv"), Ceiling)


@cache
def storage_prices() -> tuple[StoragePrice, ...]:
    """Prices of Persistent 2 by region and throughput; None where none was found."""
    return read_rows(_file("storage_prices.csv"), StoragePrice)


@cache
def storage_tiers() -> tuple[StorageTier, ...]:
    """File systems beside Persistent 2 on SSD: other kinds of FSx for Lustre, Lustre of other clouds."""
    return read_rows(_file("storage_tiers.csv"), StorageTier)


@cache
def tier_prices() -> tuple[TierPrice, ...]:
    """Prices of those file systems, and of requests to S3, by region."""
    return read_rows(_file("tier_prices.csv"), TierPrice)


@cache
def request_rates() -> tuple[RequestRate, ...]:
    """Requests a second that S3 takes on one prefix."""
    return read_rows(_file("request_rates.csv"), RequestRate)


@cache
def node_prices() -> tuple[NodePrice, ...]:
    """Prices of nodes on demand, by region."""
    return read_rows(_file("node_prices.csv"), NodePrice)


@cache
def interruption_records() -> tuple[InterruptionRecord, ...]:
    """Published counts of interruptions, each at its own number of nodes (docs/models.md 5)."""
    return read_rows(_file("interruptions.csv"), InterruptionRecord, _divide_period)


@cache
def interruption_logs() -> tuple[InterruptionLog, ...]:
    """Public logs of interruptions for back-tests (docs/models.md 18.1)."""
    return read_rows(_file("interruption_logs.csv"), InterruptionLog)


@cache
def published_runs() -> tuple[PublishedRun, ...]:
    """What runs have published about their checkpoints and interruptions (docs/models.md 18.4)."""
    return read_rows(_file("published_runs.csv"), PublishedRun)


@cache
def models() -> tuple[ModelRow, ...]:
    """Models with their total parameters: status `derived` where computed from the shape."""
    return read_rows(_file("models.csv"), ModelRow)


@cache
def regions() -> tuple[str, ...]:
    """The regions that a price can be chosen for; in most of them it is not known and has to be typed."""
    return tuple(dict.fromkeys(price.region for price in storage_prices()))


def _look_up(what: str, rows: tuple[RowT, ...], row_id: str) -> RowT:
    found = next((row for row in rows if row.id == row_id), None)
    if found is not None:
        return found
    ids = {row.id.casefold(): row.id for row in rows}
    if row_id.casefold() in ids:
        return next(row for row in rows if row.id == ids[row_id.casefold()])
    close = [ids[key] for key in difflib.get_close_matches(row_id.casefold(), ids, n=4, cutoff=0.5)]
    few = len(ids) <= _FEW or not close
    hint = f"known: {', '.join(ids.values())}" if few else f"closest: {', '.join(close)}"
    raise CatalogError(f"No {what} {row_id!r} in the catalog; {hint}.")


def layout(row_id: str) -> ByteLayout:
    """The layout of that id. Raises CatalogError, which names the known ones."""
    return _look_up("layout", layouts(), row_id)


def framework(row_id: str) -> Framework:
    """The framework of that name. Raises CatalogError, which names the known ones."""
    return _look_up("framework", frameworks(), row_id)


def node(row_id: str) -> NodeType:
    """The node of that id, the instance name on AWS. Raises CatalogError, which names the closest ones."""
    return _look_up("node", nodes(), row_id)


def fsx_tier(row_id: str) -> FsxTier:
    """The file system option of that id, such as p2-500 or p2-500-efa. Raises CatalogError, which names the known."""
    return _look_up("file system", fsx_tiers(), row_id)


def model(row_id: str) -> ModelRow:
    """The model of that id; `find_models` searches by words. Raises CatalogError, which names the closest ones."""
    return _look_up("model", models(), row_id)


def interruption_record(row_id: str) -> InterruptionRecord:
    """The published record of that id. Raises CatalogError, which names the known ones."""
    return _look_up("interruption record", interruption_records(), row_id)


def storage_price(region: str, throughput_mb_per_s_per_tib: float) -> StoragePrice | None:
    """The row for one throughput in one region; its price may be None, and so may the row."""
    wanted = (region, throughput_mb_per_s_per_tib)
    return next((row for row in storage_prices() if (row.region, row.throughput_mb_per_s_per_tib) == wanted), None)


def request_rate(rate_id: str) -> RequestRate:
    """One of them."""
    return next(row for row in request_rates() if row.id == rate_id)


def tier_price(region: str, tier_id: str) -> TierPrice | None:
    """The row for one tier in one region, or None where no price was found."""
    return next((row for row in tier_prices() if (row.region, row.tier) == (region, tier_id)), None)


def node_price(region: str, node_id: str) -> NodePrice | None:
    """The row for one node in one region, or None where no price was found."""
    return next((row for row in node_prices() if (row.region, row.node) == (region, node_id)), None)


def _words(text: str) -> list[str]:
    return re.findall(r"[^\W_]+", unicodedata.normalize("NFKC", text).casefold())


def _distance(word: str, row: ModelRow) -> int | None:
    """How far a typed word is from a model: 0 a whole word of its name ... 3 only inside its hf_id, None not there."""
    name, hf_id = _words(row.name), _words(row.hf_id)
    if word in name:
        return 0
    if any(part.startswith(word) for part in name):
        return 1
    if word in "".join(name):
        return 2
    return 3 if word in "".join(hf_id) else None


def find_models(text: str, limit: int = 20) -> tuple[ModelRow, ...]:
    """The models whose name or hf_id holds all the typed words, best first; all models when nothing is typed.

    Case and punctuation don't count: "qwen3 235", "llama-3.1 405" and "Nemotron super" find what they mean.
    """
    words = ["".join(_words(word)) for word in text.split()]
    ranked = []
    for row in models():
        distances = [_distance(word, row) for word in words if word]
        if None not in distances:
            ranked.append((sum(filter(None, distances)), len(row.name) if words else 0, row))
    ranked.sort(key=lambda entry: entry[:2])
    return tuple(row for *_, row in ranked[:limit])
