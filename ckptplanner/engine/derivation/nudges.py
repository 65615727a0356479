"""Inputs changed one at a time, as one would ask: what to call the change, and the fields with their new values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from ckptplanner.data import catalog
from ckptplanner.engine.derivation.case import Case, finite
from ckptplanner.engine.scenario import Scenario, storage_price_path
from ckptplanner.frozen import spec_of, value_at, with_value
from ckptplanner.text import Text, text
from ckptplanner.units import BYTES_PER_PARAM, COUNT, SECONDS, USD, brief

Edits = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Nudge:
    """One input changed as one would ask: what to call it, and the fields with their new values; None where it is idle."""

    label: Text
    edits: Callable[[Case], tuple[Any, Edits] | None]


def _times(path: str, factor: float, label: Text, start: float | None = None) -> Nudge:
    """The value times `factor`; `start` where it is 0 or empty."""

    def edits(case: Case) -> tuple[Any, Edits] | None:
        value = value_at(case.scenario, path)
        new = value * factor if value else start
        if new is None:
            return None
        return _brief(new, path), {path: max(1, round(new)) if isinstance(value, int) else new}

    return Nudge(label, edits)


def _put(path: str, value: float, other: float, label: Text) -> Nudge:
    """The number set to `value`, or to `other` where it is that already."""

    def edits(case: Case) -> tuple[Any, Edits] | None:
        new = other if value_at(case.scenario, path) == value else value
        return _brief(new, path), {path: new}

    return Nudge(label, edits)


def _choose(path: str, value: str, other: str) -> Nudge:
    """The choice `value`, or `other` where it is that already."""

    def edits(case: Case) -> tuple[Any, Edits] | None:
        new = other if value_at(case.scenario, path) == value else value
        return CHOICE_WORDS[new], {path: new}

    return Nudge(text("{value}"), edits)


# a choice in words that stand alone
CHOICE_WORDS: Mapping[str, Text] = {
    "async": text("async saving"), "sync": text("sync saving"),
    "sharded": text("written by all nodes"), "single": text("written by one node"),
    "exact": text("exact model"), "first_order": text("first-order model"),
    "young": text("Young's interval"), "daly": text("Daly's interval"),
    "within": text("pace within the write time"), "full": text("pace full"),
    "write_end": text("restorable when written"), "next_save": text("restorable at the next save"),
    "auto": text("auto"), "on": text("EFA on"), "off": text("EFA off"),
    "storage_usd": text("cheapest by storage"), "total_usd": text("cheapest in total"),
}  # fmt: skip


def _brief(value: float, path: str) -> str:
    unit = spec_of(Scenario, path).unit or COUNT
    return brief(round(value) if unit is COUNT else value, unit)


def _layout(case: Case) -> tuple[Any, Edits]:
    """6 B as bf16 with bf16 moments, or weights alone where it is that little already."""
    row = catalog.layout("bf16-6")
    if case.scenario.workload.bytes_per_param <= row.bytes_per_param:
        row = catalog.layout("weights-2")
    return brief(row.bytes_per_param, BYTES_PER_PARAM), {"workload.layout": row.parts}


def _restart_base(case: Case) -> tuple[Any, Edits]:
    parts = ("failures.detect_s", "failures.reschedule_s", "failures.start_s")
    half = {path: value_at(case.scenario, path) / 2 for path in parts}
    return brief(sum(half.values()), SECONDS), half


def _gpu_value(case: Case) -> tuple[Any, Edits] | None:
    value = finite(case.job.gpu_value_usd_per_h)
    return None if not value else (brief(value / 2, USD), {"prices.gpu_value_usd_per_h": value / 2})


def _storage_price(case: Case) -> tuple[Any, Edits] | None:
    tiers = dict.fromkeys(tier.throughput_mb_per_s_per_tib for tier in case.scenario.storage.tiers)
    paths = [storage_price_path(tier) for tier in tiers]
    half = {path: price / 2 for path in paths if (price := value_at(case.scenario, path))}
    return None if case.is_custom or not half else ("", half)


def _other_interval(case: Case) -> tuple[Any, Edits] | None:
    schedule = case.plan.schedule
    if schedule is None:
        return None
    twice = schedule.interval_s * 2
    return brief(twice, SECONDS), {"storage.interval_s": twice}


def _one_generation_more(case: Case) -> tuple[Any, Edits]:
    more = case.scenario.storage.generations_kept + 1
    return more, {"storage.generations_kept": more}


def _best_again(case: Case) -> tuple[Any, Edits] | None:
    return None if case.scenario.storage.interval_s is None else ("", {"storage.interval_s": None})


def _cheapest_again(case: Case) -> tuple[Any, Edits] | None:
    return None if case.scenario.storage.tier == "auto" or case.is_custom else ("", {"storage.tier": "auto"})


NUDGES: Mapping[str, Nudge] = {
    "storage.write_s": _times("storage.write_s", 2, text("{value} to write")),
    "workload.layout": Nudge(text("{value} for each"), _layout),
    "workload.measured_bytes": _times("workload.measured_bytes", 0.5, text("{value} measured")),
    "workload.total_params": _times("workload.total_params", 2, text("{value} parameters")),
    "workload.frozen_params": _times("workload.frozen_params", 0.5, text("{value} of them frozen")),
    "workload.nodes": _times("workload.nodes", 2, text("{value} nodes")),
    "workload.gpus_per_node": _times("workload.gpus_per_node", 2, text("{value} GPUs a node")),
    "workload.writer": _choose("workload.writer", "single", "sharded"),
    "workload.step_s": _times("workload.step_s", 2, text("{value} a step")),
    "failures.mtbi_s": _times("failures.mtbi_s", 2, text("interrupted every {value}")),
    "failures.mtbi_s/2": _times("failures.mtbi_s", 0.5, text("interrupted every {value}")),
    "failures.restart_base_s": Nudge(text("{value} before the read"), _restart_base),
    "failures.downtime_s": _times("failures.downtime_s", 2, text("{value} of waiting for a spare"), 600.0),
    "storage.mode": _choose("storage.mode", "sync", "async"),
    "storage.blocking_s": _times("storage.blocking_s", 2, text("{value} of stop"), 5.0),
    "storage.interval_s": Nudge(text("save every {value}"), _other_interval),
    "storage.interval_s/best": Nudge(text("the best interval"), _best_again),
    "storage.interval_model": _choose("storage.interval_model", "young", "exact"),
    "storage.waste_model": _choose("storage.waste_model", "first_order", "exact"),
    "storage.whole_steps": Nudge(
        text("interval in whole steps"),
        lambda case: None if case.scenario.storage.whole_steps else ("", {"storage.whole_steps": True}),
    ),
    "storage.generations_kept": Nudge(text("{value} generations"), _one_generation_more),
    "storage.write_efficiency": _put("storage.write_efficiency", 0.7, 1.0, text("{value} write efficiency")),
    "storage.read_efficiency": _put("storage.read_efficiency", 0.7, 1.0, text("{value} read efficiency")),
    "storage.max_fill": _put("storage.max_fill", 0.85, 1.0, text("filled to {value} at most")),
    "storage.background_loss_s": _times("storage.background_loss_s", 2, text("{value} of background loss"), 15.0),
    "storage.slowdown_fraction": _put("storage.slowdown_fraction", 0.05, 0.0, text("{value} background slowdown")),
    "storage.latency_s": _times("storage.latency_s", 2, text("{value} fixed per save"), 10.0),
    "storage.pace": _choose("storage.pace", "full", "within"),
    "storage.published": _choose("storage.published", "next_save", "write_end"),
    "storage.efa": _choose("storage.efa", "on", "off"),
    "storage.tier": Nudge(text("the cheapest file system"), _cheapest_again),
    "storage.choose_by": _choose("storage.choose_by", "total_usd", "storage_usd"),
    "storage.quota_gib": _times("storage.quota_gib", 2, text("quota {value}"), 201_600.0),
    "storage.custom.write_bytes_per_s": _times("storage.custom.write_bytes_per_s", 2, text("storage that writes {value}")),
    "storage.custom.read_bytes_per_s": _times("storage.custom.read_bytes_per_s", 2, text("storage that reads {value}")),
    "storage.custom.usable_bytes": _times("storage.custom.usable_bytes", 2, text("{value} usable")),
    "storage.custom.usd_per_month": _times("storage.custom.usd_per_month", 0.5, text("{value} a month for storage")),
    "restore.copies": _times("restore.copies", 2, text("{value} copies read")),
    "run.days": _times("run.days", 0.5, text("a run of {value}")),
    "prices.storage_usd_per_gib_month": Nudge(text("storage at half the price"), _storage_price),
    "prices.gpu_value_usd_per_h": Nudge(text("{value} a GPU-hour"), _gpu_value),
}  # fmt: skip


def nudged(case: Case, nudge: Nudge) -> tuple[Text, Case] | None:
    """The label and the case after the change; None where it is idle or out of a field's range."""
    found = nudge.edits(case)
    if found is None:
        return None
    word, edits = found
    label = word if isinstance(word, Text) else text(nudge.label.template, value=word)
    scenario = case.scenario
    try:
        for path, value in edits.items():
            scenario = with_value(scenario, path, value)
    except ValidationError:
        return None
    named = case.named.model_copy(update={"scenario": scenario})
    return label, Case(named, case.basis)
