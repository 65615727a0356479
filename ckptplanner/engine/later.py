"""Fields of the contract that this version does not compute with yet: accepted at the value that changes nothing.

A file or a setting may name them at that value. Any other value is refused, since it would be dropped without a word.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

NEUTRAL: Mapping[str, Any] = {
    "failures.weibull_shape": 1, "failures.process_share": 0.5, "failures.node_share": 0.4, "failures.cluster_share": 0.1,
    "local.enabled": False, "local.blocking_s": 5, "local.durable_s": 60, "local.restart_s": 600,
    "local.interval_s": None, "local.ratio": None,
}  # fmt: skip


def refusal(path: str, value: Any) -> str | None:
    """Why `value` is refused for a path of NEUTRAL, None where it changes nothing."""
    neutral = NEUTRAL[path]
    if value == neutral and isinstance(value, bool) == isinstance(neutral, bool):
        return None
    return f"this version does not compute with it yet; only {json.dumps(neutral)}, which changes nothing, is accepted"


def from_text(written: str) -> Any:
    """What a person wrote for such a path: a JSON value, or the text itself."""
    try:
        return json.loads(written)
    except (ValueError, RecursionError):
        return written


def split(row: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Part a scenario of a file into what this version knows and what comes later, the latter by path."""
    known: dict[str, Any] = {}
    later: dict[str, Any] = {}
    for name, value in row.items():
        if name in NEUTRAL:
            later[name] = value
        elif isinstance(value, dict):
            found = {f"{name}.{key}": one for key, one in value.items() if f"{name}.{key}" in NEUTRAL}
            later |= found
            rest = {key: one for key, one in value.items() if f"{name}.{key}" not in NEUTRAL}
            if rest or not found:
                known[name] = rest
        else:
            known[name] = value
    return known, later
