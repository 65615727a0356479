"""Taking over what the user's files say: one estimate or many into a scenario, and what each would change.

adopted(named, estimates)         -> the scenario with these values, each with its file, date and interval as source
effects(named, plan, estimates)   -> what is in use beside each, and the change of dollars and waste if it were taken
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from ckptplanner.data.records import LayoutPart
from ckptplanner.engine.checks import source_kind
from ckptplanner.engine.edits import EditError, edit
from ckptplanner.engine.evaluate import plan_of
from ckptplanner.engine.evidence import Estimate
from ckptplanner.engine.far_words import far_words, other_model
from ckptplanner.engine.plan import Plan
from ckptplanner.engine.scenario import NamedScenario, Scenario, Source
from ckptplanner.engine.settled import without_settled
from ckptplanner.frozen import PathError, spec_of, value_at
from ckptplanner.text import Text, text
from ckptplanner.units import HOUR, SECONDS, Unit

DIGITS, COUNTED_DIGITS = 4, 3  # of a measured value, and of one that follows from a count: more than either knows
BYTES_PER_PARAM_PATH = "workload.bytes_per_param"
_SYNC_SHARE = 0.98  # of the write that training stands still for
_EXACT = frozenset({"bytes", "params", "usd", "gib"})  # kinds of units whose values are counts or stated, not measured times


@dataclass(frozen=True, slots=True)
class Effect:
    """What taking over one estimate would change."""

    estimate: Estimate
    in_use: Any  # what the scenario has now, for the nodes that the estimate belongs to; None: nothing
    in_use_source: str  # log, doc, article, guess, typed
    usd_per_month: float | None  # change of the total cost; None: one of both is not known
    waste_fraction: float | None  # change of the waste
    far: Text | None  # far from what is in use: the likely cause
    refusal: str  # why it cannot be taken over; "" where it can


def _rounded(value: float, unit: Unit | None, digits: int) -> float:
    """A measured value to as many digits as it is good for."""
    if unit is not None and unit.kind in _EXACT:
        return value
    scale = HOUR if unit is SECONDS and value >= HOUR else 1.0  # 42.6 h, not 153,000 s
    return float(f"{value / scale:.{digits}g}") * scale


def _value(path: str, value: Any, unit: Unit | None, digits: int) -> Any:
    """What engine/edits.py takes at that path."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    if path == BYTES_PER_PARAM_PATH:
        return (LayoutPart(what="measured", bytes_per_param=float(f"{value:.6g}")),)
    try:
        if spec_of(Scenario, path).is_integer:
            return max(round(value), 1)
    except PathError:
        return value
    return _rounded(float(value), unit, digits)


def _field(path: str) -> str:
    """The field that holds what is taken over at a path."""
    return "workload.layout" if path == BYTES_PER_PARAM_PATH else path


def _source(path: str, estimate: Estimate, *, has_range: bool) -> Source:
    where = "; ".join(dict.fromkeys(str(place) for place in estimate.places[:3]))
    return Source(
        path=path, kind="log", text=where, date=estimate.date, note=" ".join(str(note) for note in estimate.notes),
        low=estimate.low if has_range else None, high=estimate.high if has_range else None, count=estimate.count or None,
    )  # fmt: skip


def _adopted(named: NamedScenario, estimate: Estimate) -> NamedScenario:
    if estimate.path is None:
        raise EditError(estimate.id, "this is for reading only; no input takes it")
    for path, value in ((estimate.path, estimate.value), *estimate.with_paths):
        is_own = path == estimate.path
        digits = COUNTED_DIGITS if estimate.basis == "counted" else DIGITS
        named = edit(named, path, _value(path, value, estimate.unit if is_own else None, digits), "log")
        named = named.with_source(_source(_field(path), estimate, has_range=is_own))
    return named


def adopted(named: NamedScenario, estimates: Sequence[Estimate]) -> NamedScenario:
    """The scenario with these values, in their order.

    Raises:
        EditError: one of them is out of its field's range, or for reading only; nothing is changed.
    """
    for estimate in estimates:
        named = _adopted(named, estimate)
    return named


def in_use(scenario: Scenario, estimate: Estimate) -> Any:
    """What the scenario has where the estimate would go; M for the nodes that the estimate counted on. None: nothing."""
    path = estimate.path
    if path is None:
        return None
    if path == BYTES_PER_PARAM_PATH:
        return scenario.workload.bytes_per_param
    try:
        now = value_at(scenario, path)
    except PathError:
        return None
    nodes = dict(estimate.with_paths).get("failures.mtbi_nodes")
    if path == "failures.mtbi_s" and nodes:
        return now * scenario.failures.mtbi_nodes / nodes
    return now


def _synchronous(estimates: Sequence[Estimate]) -> frozenset[str]:
    """The files whose saves stop training until they are written: there the stop is the whole write."""
    writes = {one.places[0].file: float(one.value) for one in estimates if one.id in ("write", "restorable") and one.places}
    return frozenset(
        one.places[0].file
        for one in estimates
        if one.id == "stop" and one.places and float(one.value) >= _SYNC_SHARE * writes.get(one.places[0].file, math.inf)
    )


def _fitting(scenario: Scenario, estimate: Estimate, synchronous: frozenset[str]) -> Estimate:
    """The same, no longer proposed where it belongs to another node, region or way of saving than the scenario's."""
    if not estimate.is_proposed:
        return estimate
    if (stranger := other_model(scenario, estimate)) is not None:
        return replace(estimate, is_proposed=False, notes=(*estimate.notes, stranger))
    is_stop = estimate.id == "stop" and bool(estimate.places) and estimate.places[0].file in synchronous
    if is_stop and scenario.storage.mode == "async":
        note = text("The run saved synchronously, so its stop is the whole write; an asynchronous save stops for the copy.")
        return replace(estimate, is_proposed=False, notes=(*estimate.notes, note))
    others = [(path, wanted) for path, wanted in estimate.only_for if str(value_at(scenario, path)) != wanted]
    if not others:
        return estimate
    note = text("For {wanted}, where the plan has {now}.", wanted=others[0][1], now=value_at(scenario, others[0][0]))
    return replace(estimate, is_proposed=False, notes=(*estimate.notes, note))


def proposed(named: NamedScenario, estimates: Sequence[Estimate]) -> tuple[Estimate, ...]:
    """What is taken over all at once, in a good order: the kind of node first, since it brings its own price."""
    synchronous = _synchronous(estimates)
    fitting = without_settled([_fitting(named.scenario, one, synchronous) for one in estimates])
    found = [one for one in fitting if one.is_proposed and one.path is not None]
    return tuple(sorted(found, key=lambda one: one.path != "workload.node"))


def _difference(new: float | None, old: float | None) -> float | None:
    return None if new is None or old is None or not math.isfinite(new - old) else new - old


def _costs(plan: Plan) -> tuple[float | None, float | None]:
    """Dollars a month and waste."""
    total = plan.cost.total_usd_per_year if plan.cost is not None else None
    return None if total is None else total / 12.0, plan.waste.total_fraction if plan.waste is not None else None


def _effect(named: NamedScenario, plan: Plan, estimate: Estimate) -> Effect:
    now = in_use(named.scenario, estimate)
    source = "" if estimate.path is None else _source_kind(named, estimate.path)
    if estimate.path is None:
        return Effect(estimate, now, source, None, None, None, "")
    try:
        new = plan_of(_adopted(named, estimate))
    except EditError as error:
        return Effect(estimate, now, source, None, None, None, str(error))
    (usd, waste), (old_usd, old_waste) = _costs(new), _costs(plan)
    return Effect(
        estimate, now, source, _difference(usd, old_usd), _difference(waste, old_waste), far_words(plan, estimate, now), ""
    )


def _source_kind(named: NamedScenario, path: str) -> str:
    try:
        return source_kind(named, _field(path))
    except PathError:
        return ""


def effects(named: NamedScenario, plan: Plan, estimates: Sequence[Estimate]) -> tuple[Effect, ...]:
    """What each estimate would change by itself, in their order.

    Args:
        named: The scenario as it is.
        plan: Its plan.
        estimates: Those of a reading.
    """
    synchronous = _synchronous(estimates)
    return tuple(_effect(named, plan, _fitting(named.scenario, one, synchronous)) for one in estimates)
