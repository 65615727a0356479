"""Changing a scenario by path: one edit, what it brings along, and where the new value comes from.

Some edits are more than one field: a node brings its GPUs and its price, a region its prices, a record its node count, a
model its parameters. Every edit gives a new NamedScenario or an EditError with one sentence; nothing is half changed.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, Literal

from pydantic import ValidationError

from ckptplanner.data import catalog
from ckptplanner.data.records import InterruptionRecord, LayoutPart, Log, ModelParts, ModelRow, NodeType, Row
from ckptplanner.engine.operations import RestartClass, SaveRow
from ckptplanner.engine.scenario import (
    LEAST_GAPS,
    MOST_GAPS,
    PATHS,
    CustomStorage,
    NamedScenario,
    Scenario,
    Source,
    storage_price_path,
)
from ckptplanner.frozen import FieldSpec, Frozen, PathError, spec_of, value_at, with_value
from ckptplanner.units import SECONDS, UnitError, exact, parse

Kind = Literal["log", "doc", "article", "guess", "typed"]
Change = tuple[str, Any, Source | None]

# a new plan starts with these, each marked as a guess until it is measured; the ideal has them neutral (docs/models.md 7.5)
ALLOWANCES: dict[str, float] = {
    "storage.max_fill": 0.85,
    "storage.read_efficiency": 0.7,
    "failures.detect_s": 600.0,
    "storage.background_loss_s": 15.0,
}


class EditError(ValueError):
    """A value or a path that cannot be accepted; the message names the path and what would be."""

    def __init__(self, path: str, message: str) -> None:
        super().__init__(f"{path}: {message}")
        self.path = path
        self.message = message


def accepted_values(spec: FieldSpec) -> str:
    """What a field accepts, in words: its choices, or its range with units."""
    if spec.choices:
        return "one of " + ", ".join(spec.choices)
    if spec.is_bool:
        return "true or false"
    if spec.unit is None:
        return "text"
    low, high = (None if limit is None else exact(limit, spec.unit) for limit in (spec.low, spec.high))
    more = "more than" if spec.low_excluded else "at least"
    return f"{more} {low} and at most {high}" + (", or null" if spec.optional else "")


def _spec(path: str) -> FieldSpec:
    """The spec of a path that can be edited.

    Raises:
        EditError: there is no such field; the message names those that come close.
    """
    try:
        return spec_of(Scenario, path)
    except PathError as error:
        raise EditError(path, _near(path)) from error


def _near(path: str) -> str:
    head = path.partition(".")[0]
    near = [known for known in PATHS if known.startswith(head + ".")]
    heads = sorted({known.partition(".")[0] for known in PATHS})
    return "no such field; there are " + ", ".join(near if near else (f"{name}.…" for name in heads))


def value_from_text(path: str, written: str) -> Any:
    """Read what a person wrote for a field: with a unit ("5 min") or bare in the field's own unit.

    Raises:
        EditError: no such field, or the text is not a value of it.
    """
    special = _TEXT_READERS.get(path)
    if special is not None:
        return special(written)
    spec = _spec(path)
    clean = written.strip()
    if spec.optional and clean.lower() in {"", "null", "none", "auto", "best"}:
        return None
    if spec.is_bool:
        value = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}
        if clean.lower() not in value:
            raise EditError(path, f"{written!r} is not accepted; write true or false")
        return value[clean.lower()]
    if spec.unit is None:
        return clean
    try:
        return parse(clean, spec.unit)
    except UnitError as error:
        raise EditError(path, str(error)) from error


def _layout_from_text(written: str) -> tuple[LayoutPart, ...]:
    """A preset's id, or parts as "bf16 weights:2, fp32 moments:8"."""
    if ":" not in written:
        try:
            return catalog.layout(written.strip()).parts
        except catalog.CatalogError as error:
            raise EditError("workload.layout", f"{error}, or write parts as 'weights:2, moments:8'") from error
    parts = (part.rpartition(":") for part in written.split(","))
    try:
        return tuple(LayoutPart(what=what.strip(), bytes_per_param=float(each)) for what, _, each in parts)
    except (ValueError, ValidationError) as error:
        raise EditError("workload.layout", "write parts as 'bf16 weights:2, fp32 moments:8', bytes 0 to 1000") from error


def _given_bytes(written: str) -> tuple[LayoutPart, ...]:
    each = value_from_text("workload.frozen_bytes_per_param", written)
    return (LayoutPart(what="given", bytes_per_param=each),)


def _custom_from_text(written: str) -> CustomStorage | None:
    if written.strip().lower() in {"null", "none", ""}:
        return None
    fields = ", ".join(CustomStorage.model_fields)
    try:
        return CustomStorage.model_validate(json.loads(written))
    except (ValueError, ValidationError, RecursionError) as error:
        raise EditError("storage.custom", f"write null, or a JSON object with {fields}") from error


def _gaps_from_text(written: str) -> tuple[float, ...]:
    """Times between interruptions: a JSON list of seconds, or times with their units between semicolons."""
    clean = written.strip()
    if clean.lower() in {"", "null", "none", "[]"}:
        return ()
    try:
        if clean.startswith("["):
            gaps = tuple(float(gap) for gap in json.loads(clean))
        else:
            gaps = tuple(parse(part, SECONDS) for part in clean.split(";") if part.strip())
    except (ValueError, TypeError, RecursionError) as error:
        raise EditError(
            "failures.gaps_s", 'write times between semicolons, "3 h; 50 min", or a JSON list of seconds'
        ) from error
    if not all(gap > 0.0 for gap in gaps):
        raise EditError("failures.gaps_s", "each gap takes more than 0 s")
    return gaps


def _rows_from_text(path: str, model: type[Frozen]) -> Callable[[str], Any]:
    """A reader of rows: a JSON list of objects with the fields of `model`; empty or null is none."""

    def read(written: str) -> Any:
        clean = written.strip()
        if clean.lower() in {"", "null", "none", "[]"}:
            return ()
        fields = ", ".join(model.model_fields)
        try:
            rows = json.loads(clean)
            if not isinstance(rows, list):
                raise ValueError("no list")
            return tuple(model.model_validate(_with_units(row, model)) for row in rows)
        except ValidationError as error:
            raise EditError(path, f"{row_fault(error)}; a row has {fields}") from error
        except UnitError as error:
            raise EditError(path, str(error)) from error
        except (ValueError, RecursionError) as error:
            raise EditError(path, f"write a JSON list of rows with {fields}") from error

    return read


def _with_units(row: Any, model: type[Frozen]) -> Any:
    """The row with quantities read that were written with a unit: "every_s": "1 d"."""
    if not isinstance(row, dict):
        return row
    found = dict(row)
    for name, value in row.items():
        unit = spec_of(model, name).unit if name in model.model_fields else None
        if unit is not None and isinstance(value, str):
            try:
                found[name] = parse(value, unit)
            except UnitError as error:
                raise UnitError(f"{name}: {json.dumps(value)} is not accepted. {error}") from error
    return found


def row_fault(error: ValidationError) -> str:
    """What is wrong with a row: the field and why."""
    first = error.errors()[0]
    given = json.dumps(first["input"], default=str)[:60]
    where = ".".join(map(str, first["loc"]))
    if not where:
        return f"a row is an object, not {given}"
    if first["type"] == "missing":
        return f"{where} is missing"
    if first["type"] == "extra_forbidden":
        return f"{where}: no such field"
    return f"{where}: {str(first['msg']).removeprefix('Value error, ')}, not {given}"


_TEXT_READERS: dict[str, Callable[[str], Any]] = {
    "workload.layout": _layout_from_text,
    "workload.bytes_per_param": _given_bytes,
    "storage.custom": _custom_from_text,
    "workload.node": str.strip,
    "workload.framework": str.strip,
    "workload.model": str.strip,
    "failures.record": str.strip,
    "failures.gaps_s": _gaps_from_text,
    "saves": _rows_from_text("saves", SaveRow),
    "restart.classes": _rows_from_text("restart.classes", RestartClass),
}


# ---------------------------------------------------------------- what an edit brings along


def _from_row(path: str, row: Row) -> Source:
    kind: Kind = "article" if row.status == "article" else "guess" if row.status == "unverified" else "doc"
    return Source(path=path, kind=kind, text=row.source, date=row.date, note=row.note)


def _look_up(path: str, find: Callable[[str], Any], value: Any) -> Any:
    if not isinstance(value, str):
        return value
    try:
        return find(value)
    except catalog.CatalogError as error:
        raise EditError(path, str(error)) from error


def _node_changes(scenario: Scenario, value: Any) -> Iterable[Change]:
    node: NodeType = _look_up("workload.node", catalog.node, value)
    yield "workload.node", node, _from_row("workload.node", node)
    yield "workload.gpus_per_node", node.gpus, _from_row("workload.gpus_per_node", node)
    yield _node_price(scenario.prices.region, node.id)


def _node_price(region: str, node_id: str) -> Change:
    path = "prices.node_usd_per_h"
    row = catalog.node_price(region, node_id)
    if row is None or row.node_usd_per_h is None:
        return path, None, Source(path=path, kind="typed", text="No public price found", note="Type the one you pay.")
    return path, row.node_usd_per_h, _from_row(path, row)


def _region_changes(scenario: Scenario, value: Any) -> Iterable[Change]:
    yield "prices.region", value, None
    for tier in sorted({tier.throughput_mb_per_s_per_tib for tier in scenario.storage.tiers}):
        path = storage_price_path(tier)
        row = catalog.storage_price(str(value), tier)
        yield path, row.usd_per_gib_month if row else None, _from_row(path, row) if row else None
    yield _node_price(str(value), scenario.workload.node.id)
    if value != scenario.prices.region:
        home = spec_of(Scenario, "prices.region").default  # the only region whose price of S3 was found
        price = spec_of(Scenario, "prices.s3_usd_per_gb_month").default if value == home else None
        yield "prices.s3_usd_per_gb_month", price, None
        yield "prices.cross_zone_usd_per_gb", None, None


def _record_changes(scenario: Scenario, value: Any) -> Iterable[Change]:
    """A published count of interruptions, or a log of them: the mean and the nodes it was counted on."""
    if isinstance(value, Log):
        yield from _log_changes(scenario, value)
        if scenario.failures.law == "empirical":  # the mean without the spread of another log, or of this one
            yield "failures.law", spec_of(Scenario, "failures.law").default, None
        return
    record: InterruptionRecord = _look_up("failures.record", catalog.interruption_record, value)
    for path, part in (("failures.mtbi_s", record.mtbi_s), ("failures.mtbi_nodes", record.nodes)):
        source = _from_row(path, record)
        yield path, part, source.model_copy(update={"text": f"{record.name}: {record.counted}. {record.source}"})


def mean_of_log_s(log: Log) -> float:
    """The mean gap of a log as a plan takes it: to 4 significant digits, more than any log knows it to. [s]"""
    return float(f"{log.span_s / len(log.gaps_s):.4g}")


def _log_changes(scenario: Scenario, log: Log) -> Iterable[Change]:
    """The mean gap of a log; where it does not say on how many nodes, it is taken as this job's own."""
    source = _from_log("failures.mtbi_s", log)
    yield "failures.mtbi_s", mean_of_log_s(log), source
    nodes = source.model_copy(update={"path": "failures.mtbi_nodes"})
    if log.nodes is None:
        nodes = nodes.model_copy(update={"kind": "guess", "note": "The log does not say how many nodes; taken as this job's."})
    yield "failures.mtbi_nodes", log.nodes or scenario.workload.nodes, nodes


def _from_log(path: str, log: Log) -> Source:
    """A log that comes with the planner is somebody else's: a document. Any other is the user's own."""
    is_public = any(row.id == log.id for row in catalog.interruption_logs())
    text = f"{log.name}: {len(log.gaps_s):,} gaps. {log.source}"
    return Source(path=path, kind="doc" if is_public else "log", text=text, date=log.date, note=log.note)


def _gaps_changes(scenario: Scenario, value: Any) -> Iterable[Change]:
    """Gaps alone; or a log, whose mean comes with them and whose spread becomes the law; of a long log the newest."""
    if not isinstance(value, Log):
        yield "failures.gaps_s", value, None
        return
    if len(value.gaps_s) < LEAST_GAPS:
        raise EditError("failures.gaps_s", f"{value.name} has one gap, and a spread needs two at least; take its mean alone")
    yield from _log_changes(scenario, value)
    source, count = _from_log("failures.gaps_s", value), len(value.gaps_s)
    if count > MOST_GAPS:
        text = f"{value.name}: the last {MOST_GAPS:,} of {count:,} gaps. {value.source}"
        source = source.model_copy(update={"text": text})
    yield "failures.gaps_s", value.gaps_s[-MOST_GAPS:], source
    yield "failures.law", "empirical", _from_log("failures.law", value)


def _model_changes(scenario: Scenario, value: Any) -> Iterable[Change]:
    if isinstance(value, str):
        value = _look_up("workload.model", catalog.model, value)
    parts = _parts_of(value) if isinstance(value, ModelRow) else value
    row = value if isinstance(value, ModelRow) else None
    if parts is None:
        yield "workload.model", None, None
        return
    yield "workload.model", parts, _model_source("workload.model", parts, row)
    yield from _parameter_changes(parts, row)


def _parameter_changes(parts: ModelParts, row: ModelRow | None = None) -> Iterable[Change]:
    active = parts.active_params
    values = {
        "workload.total_params": parts.total_params,
        "workload.frozen_params": parts.frozen_params,
        "workload.active_params": parts.total_params if active is None else active,
    }
    for path, value in values.items():
        yield path, value, _model_source(path, parts, row)


def _model_source(path: str, parts: ModelParts, row: ModelRow | None) -> Source:
    if row is not None:
        return _from_row(path, row)
    return Source(path=path, kind="doc", text=parts.source, date=parts.date, note=" ".join(parts.notes))


def _parts_of(row: ModelRow) -> ModelParts:
    """A catalog model as parts; its shape is counted already, so only MTP can be switched."""
    if row.total_params is None:
        raise EditError("workload.model", f"no total is known for {row.name}; type the number of parameters")
    return ModelParts(
        name=row.name, family=row.architecture, source=row.source, date=row.date, body_params=row.total_params,
        active_body_params=row.active_params, mtp_params=row.mtp_params or 0, notes=(row.note,) if row.note else (),
    )  # fmt: skip


def _switch_changes(scenario: Scenario, path: str, value: Any) -> Iterable[Change]:
    """One switch of the model's parts changes the totals with it."""
    model = scenario.workload.model
    if model is None:
        raise EditError(path, "no model has been chosen yet; choose one or open its config.json")
    parts: ModelParts = _validated(path, partial(with_value, model, path.rpartition(".")[2], value))
    yield "workload.model", parts, None
    yield from _parameter_changes(parts)


def _custom_changes(scenario: Scenario, path: str, value: Any) -> Iterable[Change]:
    """A field of storage that exists, before anyone has said that there is some."""
    if scenario.storage.custom is None:
        yield "storage.custom", CustomStorage(), None
    yield path, value, None


_COMPOUND: dict[str, Callable[[Scenario, Any], Iterable[Change]]] = {
    "workload.node": _node_changes,
    "prices.region": _region_changes,
    "failures.record": _record_changes,
    "failures.gaps_s": _gaps_changes,
    "workload.model": _model_changes,
    "workload.bytes_per_param": lambda _, value: [("workload.layout", value, None)],
}


def _changes(scenario: Scenario, path: str, value: Any) -> list[Change]:
    if path in _COMPOUND:
        return list(_COMPOUND[path](scenario, value))
    if path.startswith("workload.model."):
        return list(_switch_changes(scenario, path, value))
    if path.startswith("storage.custom."):
        return list(_custom_changes(scenario, path, value))
    return [(path, value, None)]


def _validated(path: str, change: Callable[[], Any]) -> Any:
    try:
        return change()
    except PathError as error:
        raise EditError(path, _near(path)) from error
    except ValidationError as error:
        raise EditError(path, _sentence(path, error)) from error
    except catalog.CatalogError as error:
        raise EditError(path, str(error)) from error


def _sentence(path: str, error: ValidationError) -> str:
    first = error.errors()[0]
    if first["type"] == "value_error":
        return str(first["ctx"]["error"])
    if first["type"] == "too_long":
        return f"{first['ctx']['actual_length']} rows are not accepted; at most {first['ctx']['max_length']} are"
    try:
        accepted = accepted_values(spec_of(Scenario, path))
    except PathError:
        accepted = first["msg"]
    given = first["input"]
    shown = json.dumps(given) if isinstance(given, int | float | str | bool | None) else type(given).__name__
    return f"{shown} is not accepted; {accepted} is"


def edit(named: NamedScenario, path: str, value: Any, kind: Kind = "typed", text: str = "") -> NamedScenario:
    """Return the scenario with one field changed, what belongs to it brought along, and the sources noted.

    Args:
        named: The scenario before.
        path: A dotted path of docs/models.md 10.2, or `failures.record`, `workload.model`, `workload.bytes_per_param`.
        value: The new value; catalog rows may be given by their id. `failures.record` and `failures.gaps_s` take a Log too.
        kind: Where the value comes from, where the catalog does not say.
        text: More about that source.

    Raises:
        EditError: unknown path or refused value; nothing is changed.
    """
    scenario, sources = named.scenario, {source.path: source for source in named.sources}
    for where, what, source in _changes(scenario, path, value):
        if _validated(where, partial(value_at, scenario, where)) == what and source is None and where != path:
            continue
        scenario = _validated(where, partial(with_value, scenario, where, what))
        sources[where] = source or Source(path=where, kind=kind, text=text)
    return named.model_copy(update={"scenario": scenario, "sources": tuple(sources.values())})


def with_allowances(named: NamedScenario) -> NamedScenario:
    """The four allowances of a real session, each marked as a guess (docs/models.md 7.5)."""
    for path, value in ALLOWANCES.items():
        named = edit(named, path, value, "guess", "A guess until it is measured")
    return named


def as_ideal(named: NamedScenario) -> NamedScenario:
    """The same plan with the four allowances neutral, as the articles have them."""
    for path in ALLOWANCES:
        named = edit(named, path, spec_of(Scenario, path).default, "article", "Ideal: nothing allowed for")
    return named


def basis_of(scenario: Scenario) -> Literal["ideal", "allowances", "own"]:
    """Whether the four allowances are neutral, at their guesses, or the user's own."""
    values = {path: value_at(scenario, path) for path in ALLOWANCES}
    if values == ALLOWANCES:
        return "allowances"
    return "ideal" if all(value == spec_of(Scenario, path).default for path, value in values.items()) else "own"
