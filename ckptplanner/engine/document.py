"""A Plan as the JSON that `plan --json` prints: the names and units of docs/models.md 10.3, nothing computed."""

from __future__ import annotations

from dataclasses import asdict, fields
from typing import Any

from ckptplanner.engine.plan import Finding, Option, Plan

NOT_YET = ("levels", "replication", "datapath")


def plan_document(plan: Plan) -> dict[str, Any]:
    """The whole plan; a part that this version does not compute is null, with a finding that says so."""
    later = {
        "severity": "info",
        "path": "replication",
        "message": f"This version does not compute {', '.join(NOT_YET)}: they are null.",
    }
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
        **dict.fromkeys(NOT_YET),
        "findings": [*map(_finding, plan.findings), later],
    }


def _option(option: Option) -> dict[str, Any]:
    row = {field.name: getattr(option, field.name) for field in fields(option)}
    reasons = ("illegal_reason", "excluded_reason")
    return row | {name: None if row[name] is None else str(row[name]) for name in reasons}


def _finding(finding: Finding) -> dict[str, Any]:
    return {"severity": finding.severity, "path": finding.path, "message": finding.message}
