"""The ways to save that a search goes through: asynchronous or not, with and without a local level, how many copies where.

A way is a few edits of the scenario. The stop and the write of local saves are what the scenario says, or what the node's
parts need for so many copies where that is longer.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ckptplanner.engine.datapath import is_exchanged_on_training
from ckptplanner.engine.evaluate import evaluate
from ckptplanner.engine.replicas import jump_of
from ckptplanner.engine.replication import better_jump, legal_factors
from ckptplanner.engine.scenario import Scenario
from ckptplanner.frozen import value_at, with_value

# a search is free in these, so they start from here
FREE: dict[str, Any] = {"storage.interval_s": None, "storage.pace": "within", "storage.tier": "auto"}


@dataclass(frozen=True, slots=True)
class Way:
    """One way to save: what it changes, and the scenario with that and with a free interval, pace and file system."""

    edits: tuple[tuple[str, Any], ...]
    scenario: Scenario


def ways(scenario: Scenario, modes: tuple[str, ...], levels: str) -> tuple[Way, ...]:
    """List the ways to save that a scenario allows.

    Args:
        modes: async, sync or both; async only where the framework has it.
        levels: single, two or any.
    """
    found = []
    for mode in modes:
        if mode == "async" and not scenario.workload.framework.has_async:
            continue
        if levels != "two":
            found.append({"storage.mode": mode, "local.enabled": False})
        if levels != "single":
            found += [{"storage.mode": mode, **local} for local in _local(scenario)]
    return tuple(Way(tuple(edits.items()), changed(scenario, FREE | edits)) for edits in found)


def changed(scenario: Scenario, edits: dict[str, Any]) -> Scenario:
    """The scenario with some fields changed."""
    for path, value in edits.items():
        if value_at(scenario, path) != value:
            scenario = with_value(scenario, path, value)
    return scenario


def _local(scenario: Scenario) -> Iterator[dict[str, Any]]:
    """The local level with every number of copies that can be formed and that the drives hold."""
    work, copies = scenario.workload, scenario.replication
    node, world = work.node, work.nodes * work.gpus_per_node
    if not node.nvme_count:
        return
    jump = jump_of(scenario)
    size = evaluate(scenario).checkpoint.checkpoint_bytes
    room = node.nvme_count * (node.nvme_bytes_each or 0.0)
    for factor in (1, *(factor for factor in legal_factors(world, jump) if factor > 1)):
        held = 2 * factor * size / work.nodes
        if held > room and (factor == 1 or copies.store == "nvme"):
            break
        jumps: list[int | None] = [copies.jump]
        if factor > 1 and copies.rack_nodes is not None:
            apart = better_jump(world, work.gpus_per_node, factor, copies.rack_nodes)
            jumps += [apart] if apart not in (None, jump) else []
        for one in jumps:
            edits = {
                "local.enabled": True, "local.interval_s": None, "local.ratio": None, "replication.factor": factor,
                "replication.jump": one,
            }  # fmt: skip
            yield edits | _local_times(scenario, edits)


def _local_times(scenario: Scenario, edits: dict[str, Any]) -> dict[str, Any]:
    """The stop and the write of local saves with so many copies. [s]"""
    trial, local = changed(scenario, edits), scenario.local
    path = evaluate(trial).datapath
    if path is None:
        return {}
    stop = path.reachable_blocking_s if is_exchanged_on_training(trial) else None
    written = path.phase("replicate" if trial.replication.factor > 1 else "local_write").seconds
    return {
        "local.blocking_s": max(local.blocking_s, stop or 0.0),
        "local.durable_s": max(local.durable_s, written or 0.0),
    }
