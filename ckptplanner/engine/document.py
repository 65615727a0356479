"""A Plan as the JSON that `plan --json` prints: the names and units of docs/models.md 10.3, nothing computed."""

from __future__ import annotations

from dataclasses import asdict, fields
from typing import Any

from ckptplanner.engine.node_plan import Hop, HostRam, Phase, ReplicationPlan
from ckptplanner.engine.plan import Finding, Option, Plan


def plan_document(plan: Plan) -> dict[str, Any]:
    """The whole plan; a part that cannot be computed is null, with a finding that says so. `levels` is null with one level."""
    return {
        "checkpoint": asdict(plan.checkpoint),
        "schedule": asdict(plan.schedule) if plan.schedule else None,
        "waste": asdict(plan.waste) if plan.waste else None,
        "storage": {
            "required_write_bytes_per_s": plan.storage.required_write_bytes_per_s,
            "chosen": _option(plan.storage.chosen) if plan.storage.chosen else None,
            "options": [_option(option) for option in plan.storage.options],
        },
        "cost": asdict(plan.cost) if plan.cost else None,
        "levels": asdict(plan.levels) if plan.levels else None,
        "replication": _replication(plan.replication) if plan.replication else None,
        "datapath": _datapath(plan) if plan.datapath else None,
        "host_ram": _host_ram(plan.host_ram) if plan.host_ram else None,
        "beyond": asdict(plan.beyond) if plan.beyond else None,
        "findings": [_finding(finding) for finding in plan.findings],
    }


def _replication(replication: ReplicationPlan) -> dict[str, Any]:
    """The groups in figures; the nodes of each group stay out, they follow from factor and jump."""
    row = {field.name: getattr(replication, field.name) for field in fields(replication) if field.name != "node_groups"}
    chances = {str(lost): chance for lost, chance in replication.survive_probabilities}
    return row | {"survive_probabilities": chances}


def _datapath(plan: Plan) -> dict[str, Any]:
    path = plan.datapath
    assert path is not None
    return {
        "reachable_blocking_s": path.reachable_blocking_s,
        "reachable_write_s": path.reachable_write_s,
        "ring_blocking_s": path.ring_blocking_s,
        "phases": [_phase(phase) for phase in path.phases],
    }


def _phase(phase: Phase) -> dict[str, Any]:
    names = ("name", "is_used", "bytes_per_node", "seconds", "allowed_s")
    return {
        **{name: getattr(phase, name) for name in names},
        "bottleneck": phase.bottleneck,
        "unknown_hops": [hop.id for hop in phase.unknown_hops],
        "hops": [_hop(hop) for hop in phase.hops],
    }


def _hop(hop: Hop) -> dict[str, Any]:
    names = ("ceiling_bytes_per_s", "load_bytes_per_s", "use_ratio", "is_shared", "kind", "source", "date", "path")
    return {"name": hop.id, "title": str(hop.name), **{name: getattr(hop, name) for name in names}}


def _host_ram(ram: HostRam) -> dict[str, Any]:
    names = ("ram_bytes", "used_bytes", "fill_ratio", "ring_drain_bytes_per_s")
    items = [{"name": item.id, "held_bytes": item.held_bytes, "is_guess": item.is_guess} for item in ram.items]
    return {**{name: getattr(ram, name) for name in names}, "items": items}


def _option(option: Option) -> dict[str, Any]:
    row = {field.name: getattr(option, field.name) for field in fields(option)}
    reasons = ("illegal_reason", "excluded_reason")
    return row | {name: None if row[name] is None else str(row[name]) for name in reasons}


def _finding(finding: Finding) -> dict[str, Any]:
    return {"severity": finding.severity, "path": finding.path, "message": finding.message}
