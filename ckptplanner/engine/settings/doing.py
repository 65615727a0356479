"""What a target's settings really do: the plan changed as the target writes it, so that a file carries its own waste.

as_done(settings, findings, is_async=False, is_local=False) -> settings whose `assumptions` say waste and warnings of that
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from pydantic import ValidationError

from ckptplanner.engine.evaluate import evaluate
from ckptplanner.engine.plan import Finding, Plan
from ckptplanner.engine.scenario import MAX_S, TIER_PATTERN, Scenario
from ckptplanner.engine.settings.target import Settings
from ckptplanner.frozen import with_value


def as_done(
    settings: Settings,
    findings: Iterable[Finding],
    *,
    is_async: bool | None = None,
    is_local: bool | None = None,
    has_copies: bool = False,
    local_stop_s: float | None = None,
) -> Settings:
    """The settings of a target that decides how saves are made, to write its files with.

    Args:
        findings: What the target cannot do; the warnings among them stand in its files.
        is_async: Whether it saves asynchronously; None: as the plan does.
        is_local: Whether it makes local saves; None: as the plan does.
        has_copies: Whether it copies local saves to other nodes.
        local_stop_s: How long a local save stops training, where that is not as in the plan.
    """
    scenario = settings.plan.scenario
    near = settings.has_local and is_local is not False and settings.local_steps is not None
    values: dict[str, Any] = {
        "storage.mode": "async" if (settings.is_async if is_async is None else is_async) else "sync",
        "storage.interval_s": min(settings.interval_s, MAX_S),
        "storage.whole_steps": False,  # they are whole here
        "local.enabled": near,
        "replication.factor": settings.factor if has_copies else 1,
    }
    chosen = settings.plan.storage.chosen
    if scenario.storage.custom is None and chosen is not None and TIER_PATTERN.fullmatch(chosen.id):
        values["storage.tier"] = chosen.id  # another way to save does not buy another file system
    if near:
        local_steps = settings.local_steps or 1
        values["local.interval_s"] = min(local_steps * settings.step_s, MAX_S)
        values["local.ratio"] = settings.interval_steps // local_steps
        if local_stop_s is not None:
            values |= {"local.blocking_s": min(local_stop_s, MAX_S), "local.durable_s": 0.0}
    return told(replace(settings, done=_plan(scenario, values)), findings)


def told(settings: Settings, findings: Iterable[Finding]) -> Settings:
    """The settings of a target that leaves to others how saves are made: its files carry its warnings, and the plan's waste."""
    return replace(settings, warnings=tuple(one.message for one in findings if one.severity != "info"))


def _plan(scenario: Scenario, values: dict[str, Any]) -> Plan | None:
    try:
        for path, value in values.items():
            scenario = with_value(scenario, path, value)
    except ValidationError:
        return None
    return evaluate(scenario)
