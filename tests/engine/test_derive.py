"""Derivations: every printed line can be worked out by hand, and no figure fails or shows a None in any scenario."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.special import erfc

from ckptplanner.data import catalog
from ckptplanner.engine.beyond import jobs_writing, no_spare_probability
from ckptplanner.engine.cost import Basis
from ckptplanner.engine.derivation import derive
from ckptplanner.engine.derivation.derive import Derivation, derivation
from ckptplanner.engine.derivation.figures import FIGURES
from ckptplanner.engine.evaluate import evaluate
from ckptplanner.engine.measure import HOW_TO_MEASURE, alternatives, catalog_value
from ckptplanner.engine.operations import RestartClass, SaveRow
from ckptplanner.engine.scenario import PATHS, CustomStorage, NamedScenario, Scenario, Source
from ckptplanner.frozen import FloatArray, spec_of, with_value

CUSTOM = CustomStorage(usd_per_month=20_000.0)
CLASSES = (
    RestartClass(share=0.9, detect_s=20.0, reschedule_s=40.0, start_s=60.0, reads_from="peer", rework="step"),
    RestartClass(share=0.1),
)
MANY_CLASSES = (
    RestartClass(share=0.3, detect_s=5.0, reads_from="local", rework="step"),
    RestartClass(share=0.0, detect_s=77.0),
    RestartClass(share=0.2, detect_s=50.0, reads_from="replica"),
    RestartClass(share=0.1, start_s=20.0, reads_from="shared", rework="step"),
    RestartClass(share=0.2, start_s=500.0),
)
SAVES = (
    SaveRow(kind="permanent", every_s=86_400.0, stop_s=120.0),
    SaveRow(kind="evaluation", every_s=7200.0, bytes=5e11, to="shared", keep=3, stop_s=3.0),
    SaveRow(kind="export", every_s=40_000.0, bytes=2.5e11, writer="single", stop_s=0.0),
    SaveRow(kind="final", every_s=None, to="shared", stop_s=600.0),
)
LEVEL_CLASSES = (
    RestartClass(share=0.3, detect_s=20.0, start_s=60.0, reads_from="local"),
    RestartClass(share=0.2, detect_s=90.0, reads_from="replica"),
    RestartClass(share=0.2, detect_s=900.0),
    RestartClass(share=0.1, start_s=500.0),
)
PAUSES_TOO = (*LEVEL_CLASSES, RestartClass(share=0.4, detect_s=5.0, reads_from="peer", rework="step"))
UNKNOWN_NODE = {name: None for name in ("host_ram_gib", "ena_bytes_per_s", "network_bytes_per_s", "sockets")} | dict.fromkeys(
    ("hbm_rate", "copy_rate", "link_rate", "socket_rate"), ""
)
LOCAL = {"local.enabled": True}
COPIES = {**LOCAL, "replication.factor": 2}
LEVELS: dict[str, dict[str, Any]] = {
    "two levels": LOCAL,
    "two levels, copies": COPIES,
    "two levels, copies that are often lost": {**COPIES, "replication.node_loss_interval_s": 1e6, "failures.mtbi_s": 3e5},
    "two levels, all copies lost": {**COPIES, "replication.node_loss_interval_s": 1e3},
    "two levels, racks of copies": {
        **COPIES, "replication.jump": 8, "replication.rack_nodes": 4, "replication.rack_loss_interval_s": 1e7,
    },
    "two levels, slow": {**COPIES, "storage.write_s": 3000.0, "failures.mtbi_s": 20_000.0, "local.blocking_s": 20.0},
    "two levels, local interval given": {**COPIES, "local.interval_s": 1000.0},
    "two levels, ratio given": {**COPIES, "local.ratio": 5},
    "two levels, both given": {**COPIES, "local.ratio": 4, "local.interval_s": 500.0},
    "two levels, interval given": {**COPIES, "storage.interval_s": 9000.0},
    "two levels, interval and local interval given": {**COPIES, "storage.interval_s": 9000.0, "local.interval_s": 1234.0},
    "two levels, interval and ratio given": {**COPIES, "storage.interval_s": 9000.0, "local.ratio": 7},
    "two levels, all three given": {
        **COPIES, "storage.interval_s": 9000.0, "local.ratio": 7, "local.interval_s": 1000.0, "storage.whole_steps": True,
    },
    "two levels, interval longer than the run": {**COPIES, "storage.interval_s": 9000.0, "run.days": 0.05},
    "two levels, interval shorter than a save": {**COPIES, "storage.interval_s": 4.0},
    "two levels, waits": {**COPIES, "local.interval_s": 100.0, "local.ratio": 2},
    "two levels, waits, first order": {
        **COPIES, "local.interval_s": 100.0, "local.ratio": 2, "storage.waste_model": "first_order", "saves": SAVES,
    },
    "two levels, a write bounds the ratio": {**COPIES, "local.interval_s": 100.0, "storage.write_s": 20_000.0},
    "two levels, the run bounds the ratio": {**COPIES, "run.days": 0.1, "local.interval_s": 3000.0},
    "two levels, uploads survive": {**COPIES, "local.uploads": "survive", "failures.mtbi_s": 50_000.0},
    "two levels, next save": {**COPIES, "storage.published": "next_save"},
    "two levels, next save, young, sync": {
        **COPIES, "storage.published": "next_save", "storage.interval_model": "young", "storage.mode": "sync",
    },
    "two levels, sync": {**COPIES, "storage.mode": "sync", "storage.write_s": 60.0},
    "two levels, young": {**COPIES, "storage.interval_model": "young", "storage.waste_model": "first_order"},
    "two levels, daly": {**COPIES, "storage.interval_model": "daly"},
    "two levels, daly, long stops": {
        **COPIES, "storage.interval_model": "daly", "local.blocking_s": 3000.0, "storage.blocking_s": 9000.0,
        "failures.mtbi_s": 1200.0,
    },
    "two levels, whole steps": {**COPIES, "storage.whole_steps": True, "workload.step_s": 7.0},
    "two levels, whole steps given": {**COPIES, "storage.whole_steps": True, "local.interval_s": 1003.0},
    "two levels, long local saves": {**COPIES, "local.durable_s": 5000.0},
    "two levels, long local saves in whole steps": {**COPIES, "local.durable_s": 5000.0, "storage.whole_steps": True},
    "two levels, allowances": {
        **COPIES, "storage.background_loss_s": 15.0, "storage.slowdown_fraction": 0.02, "storage.latency_s": 7.0,
        "failures.downtime_s": 300.0, "spares.nodes": 1, "spares.wait_s": 50_000.0, "saves": SAVES,
    },
    "two levels, downtime": {**COPIES, "failures.downtime_s": 1000.0, "failures.mtbi_s": 50_000.0},
    "two levels, other saves that never end": {**COPIES, "saves": (SaveRow(every_s=100.0, stop_s=200.0),)},
    "two levels, other saves, rare interruptions": {**COPIES, "saves": SAVES, "failures.mtbi_s": 1e9},
    "two levels, classes": {**COPIES, "restart.classes": LEVEL_CLASSES},
    "two levels, classes and pauses": {**COPIES, "restart.classes": PAUSES_TOO, "failures.mtbi_s": 30_000.0},
    "two levels, classes, first order": {
        **COPIES, "restart.classes": PAUSES_TOO, "storage.waste_model": "first_order", "failures.downtime_s": 60.0,
    },
    "two levels, all restart locally": {**LOCAL, "restart.classes": LEVEL_CLASSES[:2], "failures.downtime_s": 60.0},
    "two levels, all go to shared storage": {**LOCAL, "restart.classes": LEVEL_CLASSES[2:], "failures.downtime_s": 60.0},
    "two levels, all pause": {**LOCAL, "restart.classes": PAUSES_TOO[4:], "saves": SAVES},
    "two levels, shares given": {
        **LOCAL, "failures.process_share": 0.2, "failures.node_share": 0.2, "failures.cluster_share": 0.2,
    },
    "two levels, copies, shares given": {
        **COPIES, "failures.process_share": 0.2, "failures.node_share": 0.2, "failures.cluster_share": 0.2,
    },
    "two levels, no shares": {
        **LOCAL, "failures.process_share": 0.0, "failures.node_share": 0.0, "failures.cluster_share": 0.0,
    },
    "two levels, no process alone": {**LOCAL, "failures.process_share": 0.0, "failures.node_share": 0.9},
    "two levels, all local": {
        **COPIES, "failures.cluster_share": 0.0, "failures.node_share": 0.5, "replication.node_loss_interval_s": 1e12,
    },
    "two levels, no stops": {**COPIES, "local.blocking_s": 0.0, "storage.blocking_s": 0.0},
    "two levels, illegal copies": {**LOCAL, "replication.factor": 3},
    "two levels, no progress": {**COPIES, "failures.mtbi_s": 60.0},
    "two levels, hardly any progress": {**COPIES, "failures.mtbi_s": 1500.0},
    "two levels, local saves longer than their interval": {**COPIES, "local.blocking_s": 30.0, "local.interval_s": 20.0},
    "two levels, planned stops": {**COPIES, "planned.every_s": 86_400.0, "planned.notice_s": 60.0},
    "two levels, a zone and neighbours": {
        **COPIES, "network.same_zone": False, "prices.cross_zone_usd_per_gb": 0.02, "shared.jobs": 4,
        "storage.custom": CUSTOM, "storage.pace": "full",
    },
    "two levels, no system": {**COPIES, "storage.latency_s": 400.0},
    "two levels, no storage price": {**COPIES, "prices.storage_usd_per_gib_month.p2_500": None},
}  # fmt: skip
WEIBULL = {"failures.weibull_shape": 0.7}
GAPS = (100.0, 3000.0, 5000.0, 5000.0, 9000.0, 20_000.0, 21_000.0, 60_000.0, 90_000.0, 200_000.0, 250_000.0)
LAWS: dict[str, dict[str, Any]] = {
    "weibull": WEIBULL,
    "weibull, often": {**WEIBULL, "failures.mtbi_s": 20_000.0, "storage.blocking_s": 60.0},
    "weibull, regular": {"failures.weibull_shape": 2.0, "failures.mtbi_s": 50_000.0},
    "weibull, sync": {**WEIBULL, "storage.mode": "sync", "storage.write_s": 60.0},
    "weibull, first order": {**WEIBULL, "storage.waste_model": "first_order", "storage.interval_model": "young"},
    "weibull, daly": {**WEIBULL, "storage.interval_model": "daly"},
    "weibull, next save": {**WEIBULL, "storage.published": "next_save"},
    "weibull, next save, sync": {**WEIBULL, "storage.published": "next_save", "storage.mode": "sync"},
    "weibull, waits": {**WEIBULL, "storage.interval_s": 200.0},
    "weibull, allowances": {
        **WEIBULL, "storage.background_loss_s": 15.0, "storage.slowdown_fraction": 0.02, "failures.downtime_s": 300.0,
        "spares.nodes": 1, "spares.wait_s": 50_000.0, "saves": SAVES,
    },
    "weibull, classes and downtime": {**WEIBULL, "restart.classes": MANY_CLASSES, "failures.downtime_s": 100.0},
    "weibull, classes": {**WEIBULL, "restart.classes": CLASSES},
    "weibull, no stop": {**WEIBULL, "storage.blocking_s": 0.0},
    "weibull, no progress": {**WEIBULL, "failures.mtbi_s": 60.0},
    "weibull, other saves, rare interruptions": {**WEIBULL, "saves": SAVES, "failures.mtbi_s": 1e9},
    "weibull, two levels": {**WEIBULL, **COPIES},
    "weibull, whole steps": {**WEIBULL, "storage.whole_steps": True},
    "lognormal": {"failures.law": "lognormal"},
    "lognormal, wide": {"failures.law": "lognormal", "failures.lognormal_shape": 2.0, "failures.mtbi_s": 40_000.0},
    "gaps": {"failures.law": "empirical", "failures.gaps_s": GAPS},
    "gaps, often, sync": {
        "failures.law": "empirical", "failures.gaps_s": GAPS, "failures.mtbi_s": 30_000.0, "storage.mode": "sync",
    },
    "no gaps": {"failures.law": "empirical"},
}  # fmt: skip
MODELS = {**LEVELS, **LAWS}
SCENARIOS: dict[str, dict[str, Any]] = {
    "E1 5 min": {},
    "E1 20 min": {"storage.write_s": 1200.0},
    "E1 sync": {"storage.mode": "sync", "storage.write_s": 60.0},
    "E1 6 B": {"workload.layout": "bf16-6"},
    "first order": {"storage.waste_model": "first_order", "storage.interval_model": "young"},
    "daly": {"storage.interval_model": "daly"},
    "daly, long stop": {"storage.interval_model": "daly", "storage.blocking_s": 3000.0, "failures.mtbi_s": 1200.0},
    "next save": {"storage.published": "next_save"},
    "next save, young": {"storage.published": "next_save", "storage.interval_model": "young"},
    "next save, sync": {"storage.published": "next_save", "storage.mode": "sync"},
    "full pace": {"storage.pace": "full"},
    "full pace, sync": {"storage.pace": "full", "storage.mode": "sync"},
    "custom": {"storage.custom": CUSTOM},
    "custom, full pace": {"storage.custom": CUSTOM, "storage.pace": "full"},
    "custom, no price": {"storage.custom": CustomStorage()},
    "fixed": {"storage.tier": "p2-250-28800"},
    "fixed and refused": {"storage.tier": "p2-500-10000"},
    "smallest": {"workload.total_params": 1e9, "workload.nodes": 1},
    "waits": {"storage.interval_s": 200.0},
    "waits, first order": {"storage.interval_s": 200.0, "storage.waste_model": "first_order"},
    "typed interval": {"storage.interval_s": 1800.0},
    "shorter than a step": {"storage.interval_s": 8.0, "storage.blocking_s": 1.0},
    "longer than the run": {"run.days": 0.02},
    "whole steps": {"storage.whole_steps": True},
    "whole steps, typed": {"storage.whole_steps": True, "storage.interval_s": 1804.0},
    "allowances": {
        "storage.max_fill": 0.85, "storage.read_efficiency": 0.7, "storage.write_efficiency": 0.8,
        "storage.background_loss_s": 15.0, "storage.slowdown_fraction": 0.02, "storage.latency_s": 7.0,
        "failures.downtime_s": 300.0, "failures.detect_s": 600.0,
    },
    "four copies": {"restore.copies": 4},
    "measured": {"workload.measured_bytes": 424.92e9},
    "frozen": {"workload.frozen_params": 5e9},
    "frozen beyond all": {"workload.frozen_params": 200e9},
    "single writer": {"workload.writer": "single", "storage.write_s": 1200.0},
    "counted elsewhere": {"failures.mtbi_nodes": 128, "failures.mtbi_s": 28_440.0},
    "quota": {"storage.quota_gib": 20_000.0},
    "gpu value": {"prices.gpu_value_usd_per_h": 4.4},
    "no storage price": {f"prices.storage_usd_per_gib_month.p2_{tier}": None for tier in (125, 250, 500, 1000)},
    "no node price": {"prices.node_usd_per_h": None},
    "free": {"prices.node_usd_per_h": 0.0, "prices.storage_usd_per_gib_month.p2_500": 0.0},
    "no stop": {"storage.blocking_s": 0.0},
    "no progress": {"failures.mtbi_s": 60.0},
    "save longer than interval": {"storage.interval_s": 20.0, "storage.blocking_s": 30.0},
    "no system": {"storage.latency_s": 400.0},
    "first order beyond": {"failures.mtbi_s": 1800.0, "storage.mode": "sync", "storage.waste_model": "first_order"},
    "tiny": {"workload.total_params": 125e6, "workload.nodes": 1, "workload.gpus_per_node": 1},
    "planned stops": {"planned.every_s": 86_400.0, "planned.queue_s": 900.0},
    "planned stops, no notice": {"planned.every_s": 86_400.0, "planned.notice_s": 60.0, "restart.classes": CLASSES},
    "planned stops, sync, first order": {
        "planned.every_s": 20_000.0, "planned.notice_s": 10.0, "storage.mode": "sync", "storage.waste_model": "first_order",
    },
    "planned stops only": {"planned.every_s": 600.0},
    "recovered from peers": {"restart.classes": CLASSES},
    "recovered from peers, first order": {
        "restart.classes": CLASSES, "storage.waste_model": "first_order", "storage.interval_model": "young",
        "failures.downtime_s": 100.0,
    },
    "recovered from peers, daly": {"restart.classes": CLASSES, "storage.interval_model": "daly"},
    "recovered from peers, next save": {"restart.classes": CLASSES, "storage.published": "next_save"},
    "recovered from peers, next save, young": {
        "restart.classes": CLASSES, "storage.published": "next_save", "storage.interval_model": "young",
    },
    "many classes": {"restart.classes": MANY_CLASSES, "failures.mtbi_s": 20_000.0, "restore.copies": 2},
    "only to saves": {"restart.classes": tuple(row for row in MANY_CLASSES if row.rework == "save")},
    "only pauses": {"restart.classes": tuple(row for row in MANY_CLASSES if row.rework == "step")},
    "classes that never happen": {"restart.classes": (RestartClass(share=0.0),)},
    "other saves": {"saves": SAVES, "run.days": 90.0},
    "other saves, rare interruptions": {"saves": SAVES, "failures.mtbi_s": 1e9},
    "other saves, first order": {"saves": SAVES, "storage.waste_model": "first_order"},
    "other saves that never end": {"saves": (SaveRow(every_s=100.0, stop_s=200.0), SaveRow(every_s=None, stop_s=60.0))},
    "other saves, no S3 price": {"saves": SAVES, "prices.s3_usd_per_gb_month": None},
    "neighbours": {"shared.jobs": 4, "shared.load_bytes_per_s": 1.5e9, "shared.used_bytes": 3e12},
    "neighbours and allowances": {
        "shared.jobs": 7, "shared.load_bytes_per_s": 1.5e9, "shared.used_bytes": 3e12, "storage.max_fill": 0.85,
        "storage.write_efficiency": 0.8, "storage.read_efficiency": 0.7, "storage.latency_s": 3.0, "saves": SAVES,
    },
    "neighbours on the storage we have": {
        "storage.custom": CUSTOM, "shared.jobs": 9, "shared.load_bytes_per_s": 30e9, "storage.pace": "full",
        "storage.slowdown_fraction": 0.1,
    },
    "neighbours take all": {"storage.custom": CUSTOM, "shared.load_bytes_per_s": 200e9},
    "spares": {"spares.nodes": 1, "spares.wait_s": 50_000.0},
    "three spares": {"spares.nodes": 3, "spares.wait_s": 3e6, "failures.downtime_s": 60.0, "restart.classes": CLASSES},
    "no spares": {"spares.wait_s": 7200.0, "storage.waste_model": "first_order"},
    "spares, no price": {"spares.nodes": 2, "prices.node_usd_per_h": None, "prices.gpu_value_usd_per_h": 5.0},
    "another zone": {
        "network.same_zone": False, "prices.cross_zone_usd_per_gb": 0.02, "saves": SAVES, "restart.classes": CLASSES,
        "restore.copies": 2, "spares.nodes": 1, "run.days": 60.0,
    },
    "another zone, no price": {"network.same_zone": False},
    "skewed writers": {"datapath.writer_skew_ratio": 3.0, "datapath.client_bytes_per_s": 0.4e9, "storage.write_s": 1200.0},
    "bound by the card": {"datapath.ena_bytes_per_s": 0.2e9, "storage.latency_s": 2.0},
    "one flow": {"storage.custom": CUSTOM, "datapath.tcp_flows": 1, "storage.mode": "sync", "storage.pace": "full"},
    "unknown node": {"workload.node": catalog.node("p6-b300.48xlarge").model_copy(update=UNKNOWN_NODE)},
    "two copies": {"replication.factor": 2},
    "four copies on drives": {"replication.factor": 4, "replication.rack_nodes": 4, "replication.rack_loss_interval_s": 1e8},
    "four copies in racks": {
        "replication.factor": 4, "replication.jump": 32, "replication.rack_nodes": 4, "replication.rack_loss_interval_s": 1e8,
    },
    "overlapping groups": {"replication.factor": 4, "replication.jump": 4, "replication.node_loss_interval_s": 1e5},
    "groups inside nodes": {"replication.factor": 4, "replication.jump": 2},
    "often lost": {"replication.factor": 2, "replication.node_loss_interval_s": 1e3},
    "illegal copies": {"replication.factor": 3},
    "racks without copies": {"replication.rack_nodes": 5, "replication.rack_loss_interval_s": 1e9},
    "full memory": {
        "memory.staging": "whole", "memory.staging_copies": 2, "memory.pinned_bytes": 5e9, "memory.ram_disk_bytes": 1e9,
        "memory.growth_bytes": 1e8, "memory.job_bytes": 3e11, "replication.factor": 2, "replication.store": "ram",
        "saves": SAVES,
    },
    "ring buffer": {"memory.ring_bytes": 1e10, "replication.factor": 2, "datapath.pinned": False},
    **{name: LEVELS[name] for name in ("two levels, copies", "two levels, classes and pauses", "two levels, all three given")},
    **{name: LAWS[name] for name in ("weibull", "lognormal", "gaps", "weibull, classes and downtime")},
    "huge": {"workload.total_params": 1e13, "workload.nodes": 10_000, "storage.generations_kept": 20},
}  # fmt: skip


def named(changes: dict[str, Any]) -> NamedScenario:
    scenario = Scenario()
    for path, value in changes.items():
        scenario = with_value(scenario, path, value)
    return NamedScenario(name="x", scenario=scenario)


def plain(words: object) -> str:
    return str(words).replace("\u00a0", " ")


def every_text(found: Derivation) -> list[str]:
    rows = [str(text) for row in found.inputs for text in (row.symbol, row.title, row.value, row.remark or "")]
    changes = [str(text) for change in found.changes for text in (change.label, change.value, change.difference)]
    head = [found.formula, found.substituted, found.result, *map(str, (found.title, found.valid, found.source))]
    return [*head, str(found.missing or ""), *rows, *changes]


# ---------------------------------------------------------------- a small calculator for what is printed

CHANCES = ("no_spare_fraction", "node_loss_fraction", "replica_after_first", "replica_loss", "planned_fraction")
SCALES = {
    "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0, "years": 365 * 86400.0, "d": 1.0, "%": 0.01,
    "B": 1.0, "kB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12, "PB": 1e15, "GiB": 1.0,
    "/GB": 1e-9, "B/s": 1.0, "kB/s": 1e3, "MB/s": 1e6, "GB/s": 1e9, "TB/s": 1e12, "PB/s": 1e15,
}  # fmt: skip
QUANTITY = re.compile(r"\$?(\d[\d,]*\.?\d*(?:e[+-]?\d+)?)(?:\u00a0([A-Za-z%/]+))?(/GiB|/GB|/h)?")
MONEY = {"k": 1e3, "M": 1e6, "B": 1e9}


def quantity(match: re.Match[str]) -> str:
    number, unit = match[1].rstrip(","), match[2]
    tail = "," if match[1].endswith(",") else ""
    scale = (SCALES[unit] if unit else 1.0) * SCALES.get(match[3] or "", 1.0)
    return f"({number.replace(',', '')}*{scale!r}){tail}"


SIGNS = {
    "−": "-", " · ": " * ", "√": "sqrt", "⌈": "ceil(", "⌉": ")", "⌊": "floor(", "⌋": ")", "e^": "exp", "^": "**",
}  # fmt: skip


def worked_out(expression: str, unknown: float = math.nan) -> float:
    """The value of a printed line; `unknown` is the T that an argmax looks for."""
    code = re.sub(r"8,760\u00a0h(?= [·/])", "8760", expression)
    code = re.sub(r"\$([\d.,]+)([kMB])(?=$| )", lambda found: str(float(found[1].replace(",", "")) * MONEY[found[2]]), code)
    code = re.sub(
        r"(\d+(?:,\d+)?)\u00a0(h|min)\u00a0(\d+)\u00a0(min|s)", r"(\1\u00a0\2+\3\u00a0\4)".replace("\\u00a0", "\u00a0"), code
    )
    code = QUANTITY.sub(quantity, code)
    for sign, meaning in SIGNS.items():
        code = code.replace(sign, meaning)
    if "Σ " in code:  # the law of the gaps is the last call of its line
        start = code.index("Σ ")
        code = f"{code[:start]}total(lambda j: {code[start + 2 :]})"
    names: dict[str, Any] = {"max": max, "min": min, "round": round, "sqrt": math.sqrt, "exp": _exp, "ceil": math.ceil}
    names |= {"binom": _binom, "poisson": lambda count, mean: no_spare_probability(int(count), mean, 1.0)}
    names |= {"floor": math.floor, "total": _total, "weibull": _weibull, "lognormal": _lognormal, "gaps": _gaps, "T": unknown}

    return float(eval(code, {"__builtins__": {}, **names}))  # our own printed line


def _exp(power: float) -> float:
    return math.exp(power) if power < 700 else math.inf


def _total(chance: Callable[[FloatArray], FloatArray]) -> float:
    """The sum over j = 0, 1, 2, ... until nothing more comes."""
    found, size = 0.0, 100_000
    for start in range(0, 40 * size, size):
        terms = chance(np.arange(start, start + size, dtype=float))
        found += float(terms.sum())
        if terms[-1] < 1e-10:
            break
    return found


def _weibull(age: FloatArray, mean: float, shape: float) -> FloatArray:
    return np.exp(-((age * math.gamma(1 + 1 / shape) / mean) ** shape))


def _lognormal(age: FloatArray, mean: float, shape: float) -> FloatArray:
    deviation = (np.log(age / mean) + shape**2 / 2) / shape
    return np.asarray(erfc(deviation / math.sqrt(2)) / 2)


def _gaps(age: FloatArray, mean: float) -> FloatArray:
    scaled = np.array(GAPS) * mean / np.mean(GAPS)
    return np.mean(scaled[:, None] > age, axis=0)


def _binom(jobs: float, duty: float, point: float) -> float:
    assert point == pytest.approx(0.95)
    return float(jobs_writing(int(jobs), np.array(duty)))


def check(found: Derivation) -> None:
    """The printed left side gives the printed result."""
    if "⇒" in found.substituted:
        equation, result = found.substituted.split(" ⇒ ")
        left, right = map(worked_out, equation.split(" = "))
        assert left == pytest.approx(right, rel=2e-3)
        assert result.endswith(f"= {found.result}")
        return
    if "≤" in found.substituted:
        left, right = map(worked_out, found.substituted.split(" ≤ "))
        assert left <= right * (1 + 1e-4)
        return
    if " = " not in found.substituted:
        assert found.substituted == found.result
        return
    left, right = found.substituted.rsplit(" = ", 1)
    assert right == found.result
    if left.startswith("argmax "):
        check_largest(left.removeprefix("argmax "), worked_out(right))
        return
    result = worked_out(right.lstrip("+"))
    lost_digits = 6e-4 if found.figure not in CHANCES else 1e-12  # a difference from 1 has no more digits than that
    assert worked_out(left) == pytest.approx(result, rel=0.011, abs=lost_digits), found.substituted


def check_largest(expression: str, found: float) -> None:
    """Nothing around the printed T gives more; the teeth of a log's gaps are as fine as its digits."""
    best = worked_out(expression, found)
    for factor in (0.5, 0.8, 0.9, 0.97, 1.03, 1.1, 1.25, 2.0):
        assert worked_out(expression, found * factor) <= best * (1 + (1e-3 if "gaps" in expression else 1e-7)), factor


@pytest.mark.parametrize("changes", SCENARIOS.values(), ids=SCENARIOS.keys())
def test_every_line_can_be_worked_out(changes: dict[str, Any]) -> None:
    """Also: what is not known is said and never shown as a number, and every row leads to something that exists."""
    scenario = named(changes)
    for figure in FIGURES:
        found = derivation(scenario, figure)
        assert bool(found.result) == bool(found.substituted) == (found.missing is None), figure
        if found.result:
            check(found)
        for words in every_text(found):
            assert not re.search(r"\b(None|nan|inf)\b|[{}]", words), (figure, words)
        for row in found.inputs:
            assert row.figure is None or row.figure in FIGURES
            assert row.path is None or row.path.startswith("storage.custom.") or row.path in PATHS
            assert row.kind in {"log", "doc", "article", "guess", "typed"}


@pytest.mark.parametrize("changes", MODELS.values(), ids=MODELS.keys())
def test_every_line_of_the_models_can_be_worked_out(changes: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """The same without what would change it, which takes nearly all of the time."""
    monkeypatch.setattr(derive, "changes_of", lambda case, figure: ())
    test_every_line_can_be_worked_out(changes)


@pytest.mark.parametrize("basis", ["month", "run", "year"])
@pytest.mark.parametrize("figure", ["total_usd", "storage_usd", "lost_gpu_usd"])
def test_dollars_follow_the_basis(figure: str, basis: Basis) -> None:
    check(derivation(named({"run.days": 90.0}), figure, basis))


def test_a_year_is_twelve_months() -> None:
    month, year = (derivation(named({}), "storage_usd", basis) for basis in ("month", "year"))
    assert (month.result, year.result) == ("$4,080", "$48,960")


def test_needed_write_throughput_reads_as_one_would_say_it() -> None:
    found = derivation(named({}), "required_write_bytes_per_s")
    assert str(found.title) == "Needed write throughput"
    assert found.formula == "W = S / t_w"
    assert plain(found.substituted) == "1,742.3 GB / 300 s = 5.81 GB/s"
    rows = [tuple(map(plain, (change.label, change.value, change.difference))) for change in found.changes]
    assert rows[:3] == [
        ("10 min to write", "2.90 GB/s", "−50 %"),
        ("6 B for each", "2.49 GB/s", "−57 %"),
        ("64 nodes", "5.81 GB/s", "no change"),
    ]
    size, write = found.inputs
    assert (plain(size.value), plain(size.remark), size.figure) == ("1.742 TB", "124.45 B by 14 B", "checkpoint_bytes")
    assert (plain(write.value), plain(write.remark), write.path) == ("5 min", "a decision", "storage.write_s")


@pytest.mark.parametrize(
    ("figure", "changes", "formula"),
    [
        ("blocking_s", {"storage.mode": "sync"}, "C = t_w"),
        ("best_interval_s", {"storage.interval_model": "young"}, "T* = √(2 C M)"),
        ("best_interval_s", {}, "1 − e^(−T* / M) = (T* − C) / M"),
        ("durable_after_s", {"storage.published": "next_save"}, "t = T"),
        ("waste_fraction", {"storage.waste_model": "first_order"}, "η = C / T + (T / 2 + t + R) / M"),
        ("baseline_bytes_per_s", {"storage.custom": CUSTOM}, "B"),
        ("checkpoint_bytes", {"workload.measured_bytes": 1e12}, "S"),
        ("worst_rework_s", {"storage.interval_s": 200.0}, "r_max = (C + t_w) + t"),
        ("writes_in_s", {"storage.custom": CUSTOM}, "t_s = S / B"),
    ],
)
def test_the_formula_follows_the_scenario(figure: str, changes: dict[str, Any], formula: str) -> None:
    assert plain(derivation(named(changes), figure).formula) == formula


@pytest.mark.parametrize(
    ("figure", "changes", "words"),
    [
        ("total_usd", SCENARIOS["no storage price"], "type it from your bill"),
        ("lost_gpu_usd", SCENARIOS["no node price"], "No price is known for p6-b300.48xlarge"),
        ("quota_fraction", SCENARIOS["custom"], "does not concern"),
        ("waste_fraction", SCENARIOS["save longer than interval"], "no progress"),
        ("first_order_fraction", SCENARIOS["first order beyond"], "passes 100 %"),
        ("capacity_gib", SCENARIOS["no system"], "leaves nothing of the write time"),
    ],
)
def test_what_is_missing_is_said(figure: str, changes: dict[str, Any], words: str) -> None:
    found = derivation(named(changes), figure)
    assert words in plain(found.missing)
    assert (found.result, found.substituted) == ("", "")


def test_a_change_shows_what_the_changed_plan_shows() -> None:
    changed = named({"storage.write_s": 600.0})
    rows = {plain(change.label): change for change in derivation(named({}), "capacity_gib").changes}
    assert str(rows["10 min to write"].value) == derivation(changed, "capacity_gib").result
    assert evaluate(changed.scenario).storage.chosen is not None


def test_a_guess_below_makes_the_figure_a_guess() -> None:
    rows = {row.symbol: row.kind for row in derivation(named({}), "waste_fraction").inputs}
    assert (rows["R"], rows["C"]) == ("guess", "article")
    logged = named({}).with_source(Source(path="storage.blocking_s", kind="log"))
    assert derivation(logged, "blocking_s").inputs[0].kind == "log"


def test_every_figure_says_where_it_holds_and_who_says_so() -> None:
    for figure in FIGURES:
        found = derivation(named({}), figure)
        assert str(found.valid)
        assert str(found.source)
        assert found.changes


@pytest.mark.parametrize("path", HOW_TO_MEASURE)
def test_what_is_measured_is_a_field(path: str) -> None:
    assert spec_of(Scenario, path).title


def test_the_catalog_knows_other_prices_and_records() -> None:
    scenario = named({"prices.storage_usd_per_gib_month.p2_500": 0.29})
    assert catalog_value(scenario, "prices.storage_usd_per_gib_month.p2_500") == 0.34
    assert catalog_value(scenario, "prices.node_usd_per_h") == 142.416
    assert catalog_value(scenario, "storage.blocking_s") == 5.0
    records = alternatives(scenario, "failures.mtbi_s")
    assert next(row.value for row in records if "OPT-175B, all" in row.name) == pytest.approx(53.14 * 3600, rel=1e-3)
    assert {row.value for row in alternatives(scenario, "prices.storage_usd_per_gib_month.p2_500")} >= {0.34}
    assert alternatives(scenario, "storage.write_s") == ()


# ---------------------------------------------------------------- beyond the articles


@pytest.mark.parametrize(
    ("figure", "changes", "formula", "result"),
    [
        ("restart_s", "recovered from peers", "R = w_1 b_1 + w_2 · (b_2 + t_r)", "3 min 17 s"),
        ("mean_rework_s", "recovered from peers", "r_mean = w_s · (T / 2 + t) + w_p s", "7 min 44 s"),
        ("best_interval_s", "recovered from peers, first order", "T* = √(2 C M_s)", "2 h 21 min"),
        ("waste_fraction", "recovered from peers", None, "0.151 %"),  # SPEC 13: 0.15 %
        ("planned_fraction", "planned stops", "η_p = (R + t_c + t_s) / T_p", "2.41 %"),
        ("planned_fraction", "planned stops, no notice", "η_p = (t_d + t_q + t_b + t_r + T / 2 + t) / T_p", "6.29 %"),
        ("goodput_fraction", "planned stops", "G = 1 − η − η_p", "97.05 %"),
        ("total_usd", "other saves", "K = K_s + K_g + K_o", None),
        ("other_usd", "other saves", "K_o = S_3 p_3", None),
        ("reach_s", "other saves", "r_back = max((k − 1) · T, x_1 E_1)", "2,160 h"),
        ("capacity_gib", "neighbours", "c = u · ⌈max(k S J + V, 1,000 GiB · (W n_w + Λ) / τ) / u⌉", None),
        ("writes_in_s", "neighbours", "t_s = S / min((B − Λ) / n_w, N c_l)", None),
        ("writes_in_s", "neighbours take all", "t_s = S / 1 B/s", None),
        ("restore_read_s", "neighbours", "t_r = S / min(B − Λ, N c_l)", None),
        ("fill_fraction", "neighbours", "f_c = (k S J + V) / c", None),
        ("replica_after_first", "two copies", "P_1 = p", "0.0156 %"),  # SPEC 7
        ("replica_after_first", "four copies on drives", "P_1 = p^(F − 1)", None),
        ("replica_loss", "two copies", "P = 1 − e^(−N / M_n · P_1 L)", "0.682 %"),
        ("replica_loss", "four copies on drives", "P = 1 − e^(−(N / M_n · P_1 + n_r / M_r) · L)", None),
        ("replica_loss", "four copies in racks", "P = 1 − e^(−N / M_n · P_1 L)", None),  # no rack holds a whole group
        ("network_fraction", "skewed writers", "u_n = S_N z / (t_w c_n)", None),
    ],
)
def test_formulas_beyond_the_articles(figure: str, changes: str, formula: str | None, result: str | None) -> None:
    found = derivation(named(SCENARIOS[changes]), figure)
    assert formula is None or plain(found.formula) == formula
    assert result is None or plain(found.result) == result
    assert found.substituted


def test_scattered_copies_stand_beside_grouped_ones() -> None:
    """SPEC 7: 0.4832 % against 0.016 %, 31 times."""
    rows = derivation(named(SCENARIOS["two copies"]), "replica_loss").inputs
    remark = next(plain(row.remark) for row in rows if row.symbol == "P_1")
    assert remark == "scattered over all nodes 0.4832 %, 30.9 times"


def test_a_class_says_what_it_reads_from_near() -> None:
    rows = {row.symbol: row for row in derivation(named(SCENARIOS["many classes"]), "restart_s").inputs}
    assert "local drives" in plain(rows["b_1"].remark)
    assert rows["b_5"].remark is None
    assert {row.path for row in rows.values()} == {"restart.classes", None}


def test_what_only_some_plans_have_is_not_asked_of_the_others() -> None:
    """A neutral plan shows no change of an input that it does not use, unless the figure is about it."""
    labels = [plain(change.label) for change in derivation(named({}), "total_usd").changes]
    assert not [label for label in labels if "planned stop" in label or "jobs like this" in label or label == "2 copies"]
    labels = [plain(change.label) for change in derivation(named({}), "planned_fraction").changes]
    assert labels[0] == "a planned stop every 24 h"


@pytest.mark.parametrize(
    ("figure", "changes", "words"),
    [
        ("planned_fraction", {}, "No planned stops"),
        ("host_ram", SCENARIOS["unknown node"], "memory of p6-b300.48xlarge is not known"),
        ("snapshot_s", SCENARIOS["unknown node"], "No ceiling of this way is known"),
        ("replica_loss", SCENARIOS["illegal copies"], "3 copies cannot be formed"),
        ("total_usd", SCENARIOS["another zone, no price"], "crosses zones"),
        ("total_usd", SCENARIOS["other saves, no S3 price"], "What S3 costs"),
        ("other_usd", {}, "Nothing lies in S3"),
    ],
)
def test_what_is_missing_beyond_the_articles_is_said(figure: str, changes: dict[str, Any], words: str) -> None:
    found = derivation(named(changes), figure)
    assert words in plain(found.missing)
    assert found.result == ""


@pytest.mark.parametrize("basis", ["month", "run", "year"])
@pytest.mark.parametrize("scenario", ["other saves", "another zone", "planned stops", "spares"])
def test_all_dollars_follow_the_basis(scenario: str, basis: Basis) -> None:
    for figure in ("total_usd", "lost_gpu_usd", "other_usd"):
        found = derivation(named(SCENARIOS[scenario]), figure, basis)
        if found.result:
            check(found)


def test_memory_that_nobody_typed_is_a_guess() -> None:
    rows = {row.symbol: row for row in derivation(named({}), "host_ram").inputs}
    assert (rows["U_j"].kind, plain(rows["U_j"].remark)) == ("guess", "a tenth of the memory")
    typed = {row.symbol: row for row in derivation(named({"memory.job_bytes": 3e11}), "host_ram").inputs}
    assert (typed["U_j"].kind, typed["U_j"].remark) == ("typed", None)
