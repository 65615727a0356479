"""What must be said about the replicas of a plan: groups that cannot be formed, that protect nothing, that share a rack."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain

from ckptplanner.engine import replication as groups
from ckptplanner.engine.node_plan import ReplicationPlan
from ckptplanner.engine.plan import Finding
from ckptplanner.engine.replicas import legal_jumps
from ckptplanner.engine.scenario import Scenario
from ckptplanner.text import text
from ckptplanner.units import BYTES, SECONDS, brief, grouped, rough

MAX_LISTED_FACTORS = 12


def replication_findings(scenario: Scenario, replication: ReplicationPlan) -> Iterator[Finding]:
    """Everything there is to say about the replicas of a plan."""
    if replication.factor == 1:
        yield Finding(
            "info", "replication.factor",
            text("One copy gives no protection: a lost node takes its local checkpoint along, shared storage must have it."),
        )  # fmt: skip
    elif not replication.is_legal:
        yield _illegal(scenario, replication)
    else:
        yield from chain(
            _check_members(scenario, replication),
            _check_one_group(scenario, replication),
            _check_racks(scenario, replication),
            _check_window(scenario, replication),
            _check_drives(scenario, replication),
        )


def _numbers(values: Sequence[int]) -> str:
    return ", ".join(grouped(value) for value in values)


def _some(values: Sequence[int], wanted: int) -> str:
    """All of the values, or the ones around `wanted` where they are many."""
    if len(values) <= MAX_LISTED_FACTORS:
        return _numbers(values)
    at = min(range(len(values)), key=lambda index: abs(values[index] - wanted))
    start = min(max(at - MAX_LISTED_FACTORS // 2, 0), len(values) - MAX_LISTED_FACTORS)
    shown = _numbers(values[start : start + MAX_LISTED_FACTORS])
    return ("… " if start else "") + shown + (" …" if start + MAX_LISTED_FACTORS < len(values) else "")


def _illegal(scenario: Scenario, replication: ReplicationPlan) -> Finding:
    work, factor, jump = scenario.workload, replication.factor, replication.jump
    if not replication.legal_factors:
        jumps = replication.legal_jumps or legal_jumps(replication.world, 1)
        jumps = tuple(one for one in jumps if one % work.gpus_per_node == 0) or jumps
        return Finding(
            "error", "replication.jump",
            text(
                "A jump of {jump} does not divide {world} ranks: no group can be formed. The nearest that can: {nearest}.",
                jump=grouped(jump), world=grouped(replication.world), nearest=_numbers(groups.nearest(jumps, jump)),
            ),
        )  # fmt: skip
    return Finding(
        "error", "replication.factor",
        text(
            "{factor} copies cannot be formed: {nodes} nodes are {world} ranks, and a jump of {jump} allows {factors}. "
            "The nearest: {nearest}; or {others} nodes.",
            factor=grouped(factor), nodes=grouped(work.nodes), world=grouped(replication.world), jump=grouped(jump),
            factors=_some(replication.legal_factors, factor),
            nearest=_numbers(groups.nearest(replication.legal_factors, factor)),
            others=_numbers(groups.nearest_nodes(work.nodes, work.gpus_per_node, jump, factor)),
        ),
    )  # fmt: skip


def _check_members(scenario: Scenario, replication: ReplicationPlan) -> Iterator[Finding]:
    gpus, tolerated = scenario.workload.gpus_per_node, replication.tolerated_losses
    values = {"jump": grouped(replication.jump), "gpus": grouped(gpus), "factor": grouped(replication.factor)}
    if tolerated == 0:
        yield Finding(
            "error", "replication.jump",
            text(
                "A jump of {jump} puts whole groups inside one node of {gpus} GPUs: the copies protect nothing. "
                "Use {gpus} or a multiple of it.", **values,
            ),
        )  # fmt: skip
    elif tolerated is not None and tolerated < replication.factor - 1:
        yield Finding(
            "warning", "replication.jump",
            text(
                "A jump of {jump} puts members of a group on one node of {gpus} GPUs: {factor} copies protect like {like}.",
                **values, like=grouped(tolerated + 1),
            ),
        )  # fmt: skip


def _check_one_group(scenario: Scenario, replication: ReplicationPlan) -> Iterator[Finding]:
    nodes = scenario.workload.nodes
    if replication.factor == nodes > 1 and replication.tolerated_losses == nodes - 1:
        yield Finding(
            "warning" if nodes > 2 else "info", "replication.factor",
            text(
                "All {nodes} nodes are one group: each node receives and holds the whole checkpoint, "
                "{held} with the one being written.",
                nodes=grouped(nodes), held=brief(replication.local_bytes_per_node, BYTES),
            ),
        )  # fmt: skip


def _check_racks(scenario: Scenario, replication: ReplicationPlan) -> Iterator[Finding]:
    rack, whole = scenario.replication.rack_nodes, replication.racks_with_whole_groups
    if rack is None or not whole:
        return
    values = {"whole": grouped(whole), "racks": grouped(-(-scenario.workload.nodes // rack))}
    if replication.better_jump is None:
        yield Finding(
            "warning", "replication.jump",
            text(
                "{whole} of {racks} racks hold every copy of some group, and a rack that fails takes them along. "
                "No legal jump spreads the groups over racks.", **values,
            ),
        )  # fmt: skip
    else:
        yield Finding(
            "warning", "replication.jump",
            text(
                "{whole} of {racks} racks hold every copy of some group, and a rack that fails takes them along. "
                "A jump of {jump} spreads the groups over racks.", **values, jump=grouped(replication.better_jump),
            ),
        )  # fmt: skip


def _check_window(scenario: Scenario, replication: ReplicationPlan) -> Iterator[Finding]:
    needed, given = replication.window_needed_s, scenario.replication.rebuild_s
    if needed is not None and needed > given:
        yield Finding(
            "warning", "replication.rebuild_s",
            text(
                "A lost node's copies exist again after {needed} (detection, restart, the next local save), "
                "not within {given}: groups are lost more often than shown.",
                needed=rough(needed, SECONDS), given=rough(given, SECONDS),
            ),
        )  # fmt: skip


def _check_drives(scenario: Scenario, replication: ReplicationPlan) -> Iterator[Finding]:
    node, needed = scenario.workload.node, replication.local_bytes_per_node
    if scenario.replication.store != "nvme":
        return
    if node.nvme_count == 0:
        yield Finding(
            "error", "replication.store",
            text("{node} has no local drives for the copies: they need {room}.", node=node.name, room=brief(needed, BYTES)),
        )  # fmt: skip
    elif node.nvme_count is not None and node.nvme_bytes_each is not None:
        room = node.nvme_count * node.nvme_bytes_each
        if needed > room:
            yield Finding(
                "error", "replication.factor",
                text(
                    "{factor} copies of two generations are {needed} a node, more than its drives hold ({room}).",
                    factor=grouped(replication.factor), needed=brief(needed, BYTES), room=brief(room, BYTES),
                ),
            )  # fmt: skip
