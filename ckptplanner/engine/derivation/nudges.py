"""Inputs changed one at a time, as one would ask: what to call the change, and the fields with their new values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from pydantic import ValidationError

from ckptplanner.data import catalog
from ckptplanner.engine.derivation.case import Case, finite
from ckptplanner.engine.replicas import jump_of
from ckptplanner.engine.scenario import Scenario, storage_price_path
from ckptplanner.frozen import spec_of, value_at, with_value
from ckptplanner.text import Text, text
from ckptplanner.units import BYTES, BYTES_PER_PARAM, COUNT, DAY, FRACTION, HOUR, SECONDS, USD, brief, grouped

Edits = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Nudge:
    """One input changed as one would ask: what to call it, and the fields with their new values; None where it is idle."""

    label: Text
    edits: Callable[[Case], tuple[Any, Edits] | None]
    # a field that has its default, or what a case is: then only figures that ask for this change show it
    quiet: str | Callable[[Case], bool] = ""

    def is_quiet(self, case: Case) -> bool:
        """Whether only figures that ask for it show it."""
        if callable(self.quiet):
            return self.quiet(case)
        return bool(self.quiet) and value_at(case.scenario, self.quiet) == spec_of(Scenario, self.quiet).default


def _quiet(nudge: Nudge, quiet: str | Callable[[Case], bool]) -> Nudge:
    return replace(nudge, quiet=quiet)


def _times(path: str, factor: float, label: Text, start: float | None = None) -> Nudge:
    """The value times `factor`; `start` where it is 0 or empty."""

    def edits(case: Case) -> tuple[Any, Edits] | None:
        value = value_at(case.scenario, path)
        new = value * factor if value else start
        if new is None:
            return None
        is_whole = spec_of(Scenario, path).is_integer
        return _brief(max(1, round(new)) if is_whole else new, path), {path: max(1, round(new)) if is_whole else new}

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
    "share": text("each process stages its part"), "whole": text("each process stages all of it"),
    "storage_usd": text("cheapest by storage"), "total_usd": text("cheapest in total"),
    "die": text("uploads that a restart kills"), "survive": text("uploads that survive a restart"),
    "weibull": text("Weibull gaps"), "lognormal": text("lognormal gaps"), "empirical": text("the gaps of the log"),
    "job": text("one clock for the job"), "nodes": text("a clock for each node"),
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
    half: dict[str, Any] = {path: value_at(case.scenario, path) / 2 for path in parts}
    shown = brief(sum(half.values()), SECONDS)
    rows = case.scenario.restart.classes
    if not rows:
        return shown, half
    names = ("detect_s", "reschedule_s", "start_s")
    faster = tuple(row.model_copy(update={name: getattr(row, name) / 2 for name in names}) for row in rows)
    return text("half of the time before the read"), {**half, "restart.classes": faster}


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


def _jump(case: Case) -> tuple[Any, Edits]:
    twice = 2 * jump_of(case.scenario)
    return grouped(twice), {"replication.jump": twice}


def _one_spare_more(case: Case) -> tuple[Any, Edits]:
    more = case.scenario.spares.nodes + 1
    return grouped(more), {"spares.nodes": more}


def _more_memory(case: Case) -> tuple[Any, Edits] | None:
    ram = case.plan.host_ram.ram_bytes if case.plan.host_ram else None
    return None if ram is None else (brief(ram * 2, BYTES), {"memory.ram_bytes": ram * 2})


def _other_zone(case: Case) -> tuple[Any, Edits]:
    same = case.scenario.network.same_zone
    return text("in another zone") if same else text("in the nodes' zone"), {"network.same_zone": not same}


def _no_classes(case: Case) -> tuple[Any, Edits] | None:
    return ("", {"restart.classes": ()}) if case.scenario.restart.classes else None


def _no_other_saves(case: Case) -> tuple[Any, Edits] | None:
    return ("", {"saves": ()}) if case.scenario.saves else None


def _pinned(case: Case) -> tuple[Any, Edits]:
    pinned = case.scenario.datapath.pinned
    return text("pageable copies") if pinned else text("pinned copies"), {"datapath.pinned": not pinned}


def _local_saves(case: Case) -> tuple[Any, Edits]:
    is_on = case.scenario.local.enabled
    return text("without local saves") if is_on else text("with local saves"), {"local.enabled": not is_on}


def _other_local_interval(case: Case) -> tuple[Any, Edits] | None:
    if case.plan.levels is None:
        return None
    twice = case.plan.levels.local.interval_s * 2
    return brief(twice, SECONDS), {"local.interval_s": twice}


def _best_local_again(case: Case) -> tuple[Any, Edits] | None:
    local = case.scenario.local
    return None if local.interval_s is None and local.ratio is None else ("", {"local.interval_s": None, "local.ratio": None})


def _one_local_save_more(case: Case) -> tuple[Any, Edits] | None:
    if case.plan.levels is None:
        return None
    more = case.plan.levels.ratio + 1
    return grouped(more), {"local.ratio": more}


def _fewer_processes_alone(case: Case) -> tuple[Any, Edits] | None:
    """Half as many interruptions after which all drives are there; the others grow in their proportion."""
    failures = case.scenario.failures
    half, others = failures.process_share / 2, failures.node_share + failures.cluster_share
    if not half or not others or others + half > 1:
        return None
    grown = {f"failures.{name}": getattr(failures, name) * (1 + half / others) for name in ("node_share", "cluster_share")}
    return brief(half, FRACTION), {"failures.process_share": half, **grown}


def _other_shape(case: Case) -> tuple[Any, Edits]:
    new = 1.0 if case.scenario.failures.weibull_shape == 0.7 else 0.7
    return f"{new:g}", {"failures.law": "weibull", "failures.weibull_shape": new}


def _twice_the_spread(case: Case) -> tuple[Any, Edits] | None:
    wide = case.scenario.failures.lognormal_shape * 2
    return None if case.scenario.failures.law != "lognormal" else (f"{wide:g}", {"failures.lognormal_shape": wide})


def _other_clock(case: Case) -> tuple[Any, Edits]:
    new = "job" if case.scenario.failures.clock == "nodes" else "nodes"
    return CHOICE_WORDS[new], {"failures.clock": new}


def _is_memoryless(case: Case) -> bool:
    return not case.is_renewal and not case.ages


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
    "planned.every_s": _quiet(_times("planned.every_s", 2, text("a planned stop every {value}"), DAY), "planned.every_s"),
    "planned.notice_s": _quiet(_times("planned.notice_s", 0.5, text("{value} of notice"), 60.0), "planned.every_s"),
    "planned.queue_s": _quiet(_times("planned.queue_s", 2, text("{value} in the queue"), HOUR), "planned.every_s"),
    "restart.classes": Nudge(text("all interruptions alike"), _no_classes),
    "saves": Nudge(text("no other saves"), _no_other_saves),
    "shared.used_bytes": _quiet(_times("shared.used_bytes", 2, text("{value} used by others"), 1e12), "shared.used_bytes"),
    "shared.load_bytes_per_s": _quiet(
        _times("shared.load_bytes_per_s", 2, text("{value} of load by others"), 1e9), "shared.load_bytes_per_s"
    ),
    "shared.jobs": _quiet(_times("shared.jobs", 2, text("{value} jobs like this")), "shared.jobs"),
    "spares.nodes": _quiet(Nudge(text("{value} spare nodes"), _one_spare_more), "spares.wait_s"),
    "spares.wait_s": _quiet(_times("spares.wait_s", 2, text("{value} of wait without a spare"), HOUR), "spares.wait_s"),
    "network.same_zone": _quiet(Nudge(text("{value}"), _other_zone), "network.same_zone"),
    "prices.s3_usd_per_gb_month": _times("prices.s3_usd_per_gb_month", 0.5, text("{value} a GB in S3")),
    "prices.cross_zone_usd_per_gb": _quiet(
        _times("prices.cross_zone_usd_per_gb", 0.5, text("{value} a GB across zones"), 0.02), "network.same_zone"
    ),
    "replication.factor": _quiet(_times("replication.factor", 2, text("{value} copies")), "replication.factor"),
    "replication.jump": _quiet(Nudge(text("members {value} ranks apart"), _jump), "replication.factor"),
    "replication.rebuild_s": _quiet(
        _times("replication.rebuild_s", 0.5, text("copies rebuilt within {value}"), HOUR), "replication.factor"
    ),
    "replication.node_loss_interval_s": _quiet(
        _times("replication.node_loss_interval_s", 2, text("a node lost every {value}")), "replication.factor"
    ),
    "replication.rack_loss_interval_s": _quiet(
        _times("replication.rack_loss_interval_s", 2, text("a rack lost every {value}")), "replication.factor"
    ),
    "local.enabled": _quiet(Nudge(text("{value}"), _local_saves), "local.enabled"),
    "local.blocking_s": _quiet(_times("local.blocking_s", 2, text("{value} of local stop"), 5.0), "local.enabled"),
    "local.durable_s": _quiet(_times("local.durable_s", 2, text("{value} of local write"), 60.0), "local.enabled"),
    "local.restart_s": _quiet(_times("local.restart_s", 0.5, text("a local restart of {value}")), "local.enabled"),
    "local.interval_s": _quiet(Nudge(text("save locally every {value}"), _other_local_interval), "local.enabled"),
    "local.interval_s/best": Nudge(text("the best local interval and ratio"), _best_local_again),
    "local.ratio": _quiet(Nudge(text("{value} local saves to a shared one"), _one_local_save_more), "local.enabled"),
    "local.uploads": _quiet(_choose("local.uploads", "survive", "die"), "local.enabled"),
    "failures.process_share": _quiet(Nudge(text("{value} a process alone"), _fewer_processes_alone), "local.enabled"),
    "failures.weibull_shape": _quiet(Nudge(text("Weibull gaps of shape {value}"), _other_shape), _is_memoryless),
    "failures.lognormal_shape": Nudge(text("lognormal gaps of shape {value}"), _twice_the_spread),
    "failures.law": _quiet(_choose("failures.law", "lognormal", "weibull"), _is_memoryless),
    "failures.clock": _quiet(Nudge(text("{value}"), _other_clock), _is_memoryless),
    "failures.fleet_age_s": _quiet(
        _times("failures.fleet_age_s", 2, text("nodes of age {value}"), 365 * DAY), lambda case: not case.ages
    ),
    "memory.ram_bytes": _quiet(Nudge(text("{value} of host RAM"), _more_memory), "memory.ram_bytes"),
    "memory.job_bytes": _times("memory.job_bytes", 2, text("{value} for the job")),
    "memory.staging": _quiet(_choose("memory.staging", "whole", "share"), "memory.staging"),
    "memory.writes_in_flight": _quiet(_times("memory.writes_in_flight", 2, text("{value} saves in RAM")), "memory.staging"),
    "memory.staging_copies": _quiet(_times("memory.staging_copies", 2, text("{value} staging copies")), "memory.staging"),
    "datapath.writer_skew_ratio": _quiet(
        _put("datapath.writer_skew_ratio", 1.5, 1.0, text("the fullest writer moves {value} times the mean")),
        "datapath.writer_skew_ratio",
    ),
    "datapath.pinned": _quiet(Nudge(text("{value}"), _pinned), "datapath.pinned"),
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
