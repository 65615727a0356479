"""Scenarios that between them reach every formula: what derivations, links and the sheet are tried on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ckptplanner.data import catalog
from ckptplanner.engine.operations import RestartClass, SaveRow
from ckptplanner.engine.scenario import CustomStorage, NamedScenario, Scenario
from ckptplanner.engine.workbook_file import read
from ckptplanner.frozen import with_value

EXAMPLES = Path(__file__).parents[2] / "resources" / "examples"
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
    "two levels, each save to both": {**COPIES, "local.ratio": 1, "failures.node_share": 0.3, "failures.cluster_share": 0.2},
    "two levels, waits at each save": {**COPIES, "local.interval_s": 200.0, "local.ratio": 1},
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
    "weibull, shape 0.6": {"failures.weibull_shape": 0.6, "local.enabled": False},
    "nodes that age": {"failures.clock": "nodes", "failures.weibull_shape": 0.6, "failures.fleet_age_s": 3e7, "run.days": 90.0},
    "new nodes": {"failures.clock": "nodes", "failures.weibull_shape": 0.6, "run.days": 90.0, "storage.blocking_s": 60.0},
    "nodes that age, two levels": {
        **COPIES, "failures.clock": "nodes", "failures.weibull_shape": 0.6, "failures.fleet_age_s": 1e7, "run.days": 90.0,
    },
    "nodes that age, lognormal": {"failures.clock": "nodes", "failures.law": "lognormal"},
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


def examples() -> dict[str, NamedScenario]:
    """Every scenario of the example plans."""
    files = sorted(EXAMPLES.glob("*.ckptplan.json"))
    return {f"{file.name}: {one.name}": one for file in files for one in read(file).scenarios}
