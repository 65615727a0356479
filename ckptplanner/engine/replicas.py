"""The replicas of one plan, and what must be said about them (docs/models.md 13.2, 13.3).

Unpacks a Scenario for the formulas of replication.py. Without replicas nothing is grouped and no array is made.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np

from ckptplanner.engine import replication as groups
from ckptplanner.engine.node_plan import ReplicationPlan
from ckptplanner.engine.replication import IntArray
from ckptplanner.engine.scenario import Scenario
from ckptplanner.units import DAY

MAX_LISTED_NODES = 10_000  # the groups of a larger cluster are counted, not listed
LOST_AT_ONCE = (2, 3, 4, 8)
COPIES_WHILE_SAVING = 2  # the clean generation and the one being written


def replication_plan(
    scenario: Scenario,
    checkpoint_bytes: float,
    period_s: float | None,
    durable_s: float | None,
    replica_read_s: float | None,
    restart_base_s: float,
) -> ReplicationPlan:
    """Return the groups of a scenario, what they hold and how likely one is lost.

    Args:
        scenario: The inputs.
        checkpoint_bytes: S. [B]
        period_s: From one local save to the next, T_1. [s] None where no save can be planned.
        durable_s: From the start of a save until the copies are on the drives, t_1. [s] None where it is not known.
        replica_read_s: Reading the shards of a lost node from its group. [s] None where it is not known; then left out.
        restart_base_s: Detect, reschedule and start. [s]
    """
    work, inputs = scenario.workload, scenario.replication
    nodes, factor, jump = work.nodes, inputs.factor, jump_of(scenario)
    world = nodes * work.gpus_per_node
    legal = groups.is_legal(world, jump, factor)
    window = None
    if factor > 1 and period_s is not None and durable_s is not None:
        window = restart_base_s + (replica_read_s or 0.0) + period_s + durable_s
    bare = ReplicationPlan(
        factor=factor,
        jump=jump,
        world=world,
        legal_factors=_legal_factors(world, jump),
        legal_jumps=legal_jumps(world, factor),
        is_legal=legal,
        group_count=None,
        node_groups=_node_groups(nodes, work.gpus_per_node, jump, factor if legal else 1),
        loss_probability_after_first=None,
        scattered_loss_probability=None,
        run_loss_probability=None,
        independent_run_loss_probability=None,
        scattered_run_loss_probability=None,
        survive_probabilities=(),
        local_bytes_per_node=COPIES_WHILE_SAVING * factor * checkpoint_bytes / nodes,
        window_needed_s=window,
        racks_with_whole_groups=None,
        better_jump=None,
        tolerated_losses=None,
    )
    if not legal:
        return bare
    chances = _Chances(scenario, jump)
    return replace(
        bare,
        group_count=world // factor,
        loss_probability_after_first=chances.after_first,
        scattered_loss_probability=chances.scattered,
        run_loss_probability=chances.in_run(chances.after_first, with_racks=True),
        independent_run_loss_probability=chances.in_run(chances.after_first),
        scattered_run_loss_probability=chances.in_run(chances.scattered),
        survive_probabilities=chances.survive(),
        racks_with_whole_groups=chances.racks,
        better_jump=chances.better_jump(),
        tolerated_losses=groups.tolerated_losses(work.gpus_per_node, jump, factor),
    )


def jump_of(scenario: Scenario) -> int:
    """J: what is given, or the GPUs of a node."""
    return scenario.replication.jump or scenario.workload.gpus_per_node


def is_replicated(replication: ReplicationPlan) -> bool:
    """Whether more than one copy is asked for and can be formed."""
    return replication.is_legal and replication.factor > 1


def copies_of(scenario: Scenario, replication: ReplicationPlan) -> IntArray | None:
    """The nodes of the groups, one row a group (replication.node_sets); without replicas each node in a row of its own."""
    work = scenario.workload
    if not is_replicated(replication):
        return np.arange(work.nodes, dtype=np.int64)[:, np.newaxis]
    return _node_sets(work.nodes, work.gpus_per_node, replication.jump, replication.factor)


def group_numbers(scenario: Scenario, replication: ReplicationPlan, rows: Sequence[int]) -> tuple[int, ...]:
    """The indices into `node_groups` that some rows of `copies_of` belong to, ascending."""
    if not is_replicated(replication) or replication.jump % scenario.workload.gpus_per_node == 0:
        return tuple(sorted(rows))  # the rows share no node, so they are the groups
    sets = copies_of(scenario, replication)
    if sets is None:
        return ()
    _, number = np.unique(groups.linked_nodes(sets, scenario.workload.nodes), return_inverse=True)
    return tuple(np.unique(number[sets[list(rows), 0]]).tolist()) if rows else ()


def group_loss_rate_per_s(scenario: Scenario) -> float | None:
    """How often every copy of some shard is lost, racks included. [1/s] None where no replicas can be formed, or unknown."""
    work, factor, jump = scenario.workload, scenario.replication.factor, jump_of(scenario)
    if factor == 1 or not groups.is_legal(work.nodes * work.gpus_per_node, jump, factor):
        return None
    chances = _Chances(scenario, jump)
    return chances.rate_per_s(chances.after_first, with_racks=True)


class _Chances:
    """The probabilities of one legal scenario."""

    def __init__(self, scenario: Scenario, jump: int) -> None:
        work, inputs = scenario.workload, scenario.replication
        self.nodes, self.gpus, self.factor, self.jump = work.nodes, work.gpus_per_node, inputs.factor, jump
        self.inputs, self.run_s = inputs, scenario.run.days * DAY
        self.sets = None if self.factor == 1 else _node_sets(self.nodes, self.gpus, jump, self.factor)
        self.after_first, self.scattered = self._after_first()
        self.racks = self._racks()

    def _after_first(self) -> tuple[float | None, float | None]:
        """The chance that a lost node takes a group with it: in groups, and with copies scattered over all nodes."""
        if self.factor == 1:
            return 1.0, 1.0
        p = groups.loss_probability(self.inputs.rebuild_s, self.inputs.node_loss_interval_s)
        grouped_chance = None if self.sets is None else groups.grouped_loss_probability(self.sets, self.nodes, p)
        return grouped_chance, groups.scattered_loss_probability(self.nodes, self.factor, p)

    def _racks(self) -> int | None:
        rack = self.inputs.rack_nodes
        if rack is None:
            return None
        if self.factor == 1:
            return -(-self.nodes // rack)
        return None if self.sets is None else len(groups.racks_with_whole_groups(self.sets, rack))

    def in_run(self, after_first: float | None, *, with_racks: bool = False) -> float | None:
        """The chance that a group is lost in the run."""
        rate = self.rate_per_s(after_first, with_racks=with_racks)
        return None if rate is None else groups.run_loss_probability(rate, self.run_s)

    def rate_per_s(self, after_first: float | None, *, with_racks: bool) -> float | None:
        """How often a group is lost. [1/s]"""
        if after_first is None:
            return None
        rate = groups.group_loss_rate_per_s(self.nodes, self.inputs.node_loss_interval_s, after_first)
        if with_racks and self.racks is not None and self.inputs.rack_loss_interval_s is not None:
            rate += groups.rack_loss_rate_per_s(self.racks, self.inputs.rack_loss_interval_s)
        return rate

    def survive(self) -> tuple[tuple[int, float], ...]:
        """The chance that no group is lost when so many nodes are gone at once; empty where groups overlap."""
        size = self._nodes_of_a_group()
        if size is None:
            return ()
        return tuple((k, groups.survive_probability(self.nodes, size, k)) for k in LOST_AT_ONCE if k <= self.nodes)

    def _nodes_of_a_group(self) -> int | None:
        if self.factor == 1 or self.jump % self.gpus == 0:
            return self.factor
        return None if self.sets is None else groups.disjoint_group_nodes(self.sets, self.nodes)

    def better_jump(self) -> int | None:
        """Another jump where a rack holds whole groups."""
        rack = self.inputs.rack_nodes
        if self.factor == 1 or rack is None or not self.racks:
            return None
        return groups.better_jump(self.nodes * self.gpus, self.gpus, self.factor, rack)


_legal_factors = lru_cache(maxsize=256)(groups.legal_factors)
legal_jumps = lru_cache(maxsize=256)(groups.legal_jumps)


@lru_cache(maxsize=8)
def _node_sets(nodes: int, gpus_per_node: int, jump: int, factor: int) -> IntArray | None:
    sets = groups.node_sets(nodes, gpus_per_node, jump, factor)
    if sets is not None:
        sets.setflags(write=False)
    return sets


@lru_cache(maxsize=32)
def _node_groups(nodes: int, gpus_per_node: int, jump: int, factor: int) -> tuple[tuple[int, ...], ...]:
    """The nodes that depend on one another, group by group; none listed above MAX_LISTED_NODES."""
    if nodes > MAX_LISTED_NODES:
        return ()
    if factor == 1:
        return tuple(zip(range(nodes)))
    sets = _node_sets(nodes, gpus_per_node, jump, factor)
    if sets is None:
        return ()
    if jump % gpus_per_node == 0:
        return tuple(tuple(row) for row in sets.tolist())
    linked = groups.linked_nodes(sets, nodes)
    order = np.argsort(linked, kind="stable")
    parts = np.split(order, np.flatnonzero(np.diff(linked[order])) + 1)
    return tuple(tuple(part.tolist()) for part in parts)
