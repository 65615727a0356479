"""One number of a scenario that can be turned: what it is today, and the scenario with another value in its place.

Most inputs are a field. Four are not, and have a path of their own, that of docs/models.md 10.2 without the last part:

    prices.gpu_value_usd_per_h         the field, or the node's price by its GPUs where it is empty
    prices.storage_usd_per_gib_month   the price of the chosen class; all other classes move by the same factor
    failures.restart_base_s            detect, reschedule and start together, each by the same factor
    workload.bytes_per_param           the sum of the layout
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ckptplanner.data.records import LayoutPart
from ckptplanner.engine.evaluate import evaluate
from ckptplanner.engine.job import job_of
from ckptplanner.engine.scenario import Scenario, TierPrices, storage_price_path
from ckptplanner.frozen import PathError, spec_of, value_at, with_value
from ckptplanner.text import Text, text
from ckptplanner.units import BYTES_PER_PARAM, NUMBER, SECONDS, USD_PER_GIB_MONTH, Unit

STORAGE_PRICE = "prices.storage_usd_per_gib_month"
RESTART_BASE = "failures.restart_base_s"
BYTES_EACH = "workload.bytes_per_param"
GPU_VALUE = "prices.gpu_value_usd_per_h"
_RESTART_PARTS = ("failures.detect_s", "failures.reschedule_s", "failures.start_s")

Put = Callable[[Scenario, float], Scenario]


@dataclass(frozen=True, slots=True)
class Lever:
    """An input as it stands in one scenario; `put` sets it in that scenario, or in another one beside it."""

    path: str
    title: Text
    unit: Unit
    value: float
    is_whole: bool
    put: Put


def lever_of(scenario: Scenario, path: str) -> Lever | None:
    """The lever at a path; None where nothing is given there, so that nothing can be turned.

    Raises:
        PathError: no such field, or it does not hold a number.
    """
    if path in _COMPOUND:
        return _COMPOUND[path](scenario)
    spec = spec_of(Scenario, path)
    if spec.unit is None:
        raise PathError(f"{path}: holds no number that could be turned")
    value = value_at(scenario, path)
    if value is None:
        return None
    return Lever(path, text(spec.title), spec.unit, float(value), spec.is_integer, _field(path, is_whole=spec.is_integer))


def _field(path: str, *, is_whole: bool) -> Put:
    return lambda scenario, value: with_value(scenario, path, round(value) if is_whole else value)


def _gpu_value(scenario: Scenario) -> Lever | None:
    value, spec = job_of(scenario).gpu_value_usd_per_h, spec_of(Scenario, GPU_VALUE)
    if not math.isfinite(value):
        return None
    return Lever(GPU_VALUE, text(spec.title), spec.unit or NUMBER, value, False, _field(GPU_VALUE, is_whole=False))


def _storage_price(scenario: Scenario) -> Lever | None:
    """The price of the chosen class; the others keep their proportion to it."""
    chosen = evaluate(scenario).storage.chosen
    throughput = chosen.throughput_mb_per_s_per_tib if chosen else None
    price = None if throughput is None else scenario.prices.storage_usd_per_gib_month.at(throughput)
    if not price:
        return None

    def put(changed: Scenario, value: float) -> Scenario:
        for name in TierPrices.model_fields:
            path = storage_price_path(float(name.removeprefix("p2_")))
            if (old := value_at(changed, path)) is not None:
                changed = with_value(changed, path, old * (value / price))
        return changed

    return Lever(STORAGE_PRICE, text("Price of storage"), USD_PER_GIB_MONTH, price, False, put)


def _restart_base(scenario: Scenario) -> Lever | None:
    if scenario.restart.classes:  # then each class has parts of its own
        return None
    today = scenario.failures.restart_base_s

    def put(changed: Scenario, value: float) -> Scenario:
        if not changed.failures.restart_base_s:
            return with_value(changed, _RESTART_PARTS[0], value)
        factor = value / changed.failures.restart_base_s
        for path in _RESTART_PARTS:
            changed = with_value(changed, path, value_at(changed, path) * factor)
        return changed

    return Lever(RESTART_BASE, text("From the fault to the read"), SECONDS, today, False, put)


def _bytes_each(scenario: Scenario) -> Lever | None:
    if scenario.workload.measured_bytes is not None:
        return None

    def put(changed: Scenario, value: float) -> Scenario:
        return with_value(changed, "workload.layout", (LayoutPart(what="given", bytes_per_param=value),))

    value = scenario.workload.bytes_per_param
    return Lever(BYTES_EACH, text("Saved for each parameter"), BYTES_PER_PARAM, value, False, put)


_COMPOUND: Mapping[str, Callable[[Scenario], Lever | None]] = {
    GPU_VALUE: _gpu_value,
    STORAGE_PRICE: _storage_price,
    RESTART_BASE: _restart_base,
    BYTES_EACH: _bytes_each,
}


def limits_of(path: str) -> tuple[float, float]:
    """The least and the most that a field takes; for a path that is no field, those of what it is made of."""
    fields = {
        STORAGE_PRICE: storage_price_path(125.0), RESTART_BASE: "failures.detect_s",
        BYTES_EACH: "workload.frozen_bytes_per_param",
    }  # fmt: skip
    spec = spec_of(Scenario, fields.get(path, path))
    low, high = spec.low, spec.high
    return -math.inf if low is None else low, math.inf if high is None else high


def field_of(scenario: Scenario, path: str) -> str:
    """The field where a person sets an input: its own path, or one of the fields that it is made of."""
    if path == STORAGE_PRICE:
        chosen = evaluate(scenario).storage.chosen
        throughput = chosen.throughput_mb_per_s_per_tib if chosen else None
        return storage_price_path(125.0 if throughput is None else throughput)
    return {RESTART_BASE: _RESTART_PARTS[0], BYTES_EACH: "workload.layout"}.get(path, path)
