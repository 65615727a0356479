"""What is shown: a plan, what happened to its nodes, and what the engine says is left; the groups and racks of its nodes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from ckptplanner.engine.node_plan import EVENTS, Event, Survival, Tier, TierState
from ckptplanner.engine.plan import Plan
from ckptplanner.engine.replicas import copies_of, is_replicated
from ckptplanner.engine.survival import survive, tier_states
from ckptplanner.ui.shown import Shown
from ckptplanner.ui.words import node_count, say

_NAMED = 3  # more lost nodes than this are counted, not listed


@dataclass(frozen=True, slots=True)
class Cluster:
    """The nodes in order, which group each belongs to and how many share a rack (0: not known)."""

    nodes: int
    groups: tuple[tuple[int, ...], ...]
    group_of: tuple[int, ...]
    rack_nodes: int
    factor: int

    def members(self, node: int) -> tuple[int, ...]:
        """The node with all that hold copies of its shards."""
        return self.groups[self.group_of[node]]

    def rack_of(self, node: int) -> int:
        """Number of the rack from 0."""
        return node // self.rack_nodes if self.rack_nodes else 0

    def rack(self, number: int) -> range:
        """The nodes of a rack."""
        return range(number * self.rack_nodes, min((number + 1) * self.rack_nodes, self.nodes))

    def lost_groups(self, lost: frozenset[int]) -> list[int]:
        """The groups of which every member is lost."""
        touched = {self.group_of[node] for node in lost}
        return sorted(group for group in touched if lost.issuperset(self.groups[group]))


@lru_cache(maxsize=8)
def _cluster(nodes: int, groups: tuple[tuple[int, ...], ...], rack_nodes: int, factor: int) -> Cluster:
    if sum(map(len, groups)) != nodes:
        groups = tuple((node,) for node in range(nodes))
    group_of = [0] * nodes
    for index, group in enumerate(groups):
        for node in group:
            group_of[node] = index
    return Cluster(nodes, groups, tuple(group_of), rack_nodes, factor)


def cluster_of(plan: Plan) -> Cluster:
    """The nodes of a plan; where no groups can be formed each node stands alone."""
    made, given = plan.replication, plan.scenario
    rack = given.replication.rack_nodes or 0
    if made is None or not is_replicated(made):
        return _cluster(given.workload.nodes, (), rack, 1)
    groups = made.node_groups
    if not groups and made.jump % given.workload.gpus_per_node == 0:  # the plan lists no groups of very large clusters
        sets = copies_of(given, made)
        groups = () if sets is None else tuple(map(tuple, sets.tolist()))
    return _cluster(given.workload.nodes, groups, rack, made.factor)


@dataclass(frozen=True, slots=True)
class Base:
    """The same event in the plan that is compared with; `sources` as in Case."""

    name: str
    index: int
    survival: Survival
    sources: tuple[Tier | None, ...]


@dataclass(frozen=True, slots=True)
class Case:
    """One event in one plan; `sources` says for each of EVENTS from where training restarts. `index` colours the saves."""

    plan: Plan
    cluster: Cluster
    event: Event
    lost: frozenset[int]
    survival: Survival
    tiers: tuple[TierState, ...]
    sources: tuple[Tier | None, ...]
    index: int = 0
    base: Base | None = None

    @property
    def title(self) -> str:
        """What happens, in two or three words."""
        return event_word(self.event, self.lost, self.cluster)

    @property
    def state(self) -> TierState | None:
        """The tier that is read back."""
        return next((tier for tier in self.tiers if tier.tier == self.survival.source), None)

    @property
    def restorable_s(self) -> float | None:
        """From the start of a save until it can be read back, t; None where it is not known. [s]"""
        found = self.survival
        if found.mean_rework_s and found.worst_rework_s:
            return max(2.0 * found.mean_rework_s - found.worst_rework_s, 0.0)
        return self.state.durable_after_s if self.state is not None else None

    @property
    def period_s(self) -> float:
        """From one save to the next, T. [s]"""
        found, schedule = self.survival, self.plan.schedule
        if found.mean_rework_s and found.worst_rework_s:
            return 2.0 * (found.worst_rework_s - found.mean_rework_s)
        return schedule.period_s if schedule is not None else 0.0

    @property
    def range_s(self) -> tuple[float, float] | None:
        """The moments that can be asked for, from the start of the save that is read back: t to just before t + T. [s]"""
        first = self.restorable_s
        return None if first is None or self.period_s <= 0.0 else (first, first + self.period_s * (1.0 - 1e-9))

    @property
    def mean_moment_s(self) -> float:
        """Halfway: where an interruption strikes on average. [s]"""
        return (self.restorable_s or 0.0) + self.period_s / 2.0


def example_of(event: Event, cluster: Cluster, node: int) -> frozenset[int]:
    """Nodes that the event takes when it is chosen by name; `node` is where attention is."""
    if event in ("process_restart", "planned_stop"):
        return frozenset()
    if event in ("node_lost", "node_reboot"):
        return frozenset({node}) if event == "node_lost" else frozenset()
    if event == "group_lost":
        return frozenset(cluster.members(node))
    if event == "rack_lost":
        return frozenset(cluster.rack(cluster.rack_of(node))) if cluster.rack_nodes else frozenset()
    return frozenset(range(cluster.nodes))


def event_of(plan: Plan, lost: frozenset[int]) -> Event:
    """What it is called when exactly these nodes are lost."""
    cluster = cluster_of(plan)
    if len(lost) == cluster.nodes and cluster.nodes > 1:
        return "cluster_lost"
    if min(cluster.rack_nodes, cluster.nodes) > 1 and lost and lost == frozenset(cluster.rack(cluster.rack_of(min(lost)))):
        return "rack_lost"
    if cluster.factor > 1 and survive(plan, "group_lost", tuple(sorted(lost))).lost_groups:
        return "group_lost"
    return "node_lost"


def case_of(
    plan: Plan,
    event: Event,
    lost: frozenset[int] | None = None,
    moment_s: float | None = None,
    *,
    index: int = 0,
    before: Case | None = None,
    base: Shown | None = None,
) -> Case:
    """Ask the engine. `before` spares the questions about the plan itself when only event or moment changed."""
    cluster = cluster_of(plan)
    if lost is None:
        lost = example_of(event, cluster, 0)
    found = survive(plan, event, tuple(sorted(lost)), moment_s)
    if before is not None and before.plan is plan:
        tiers, sources = before.tiers, before.sources
    else:
        tiers, sources = tier_states(plan), tuple(_source(plan, one, cluster) for one in EVENTS)
    other = None if base is None or base.plan.schedule is None else _base(base, event, lost, cluster.nodes)
    return Case(plan, cluster, event, lost, found, tiers, sources, index, other)


def _base(base: Shown, event: Event, lost: frozenset[int], nodes: int) -> Base:
    """The same nodes where there are as many of them, otherwise the engine's example."""
    cluster = cluster_of(base.plan)
    same = tuple(sorted(lost)) if cluster.nodes == nodes else ()
    sources = tuple(_source(base.plan, one, cluster) for one in EVENTS)
    return Base(base.name, base.index, survive(base.plan, event, same), sources)


def _source(plan: Plan, event: Event, cluster: Cluster) -> Tier | None:
    return survive(plan, event, tuple(sorted(example_of(event, cluster, 0)))).source


# ---------------------------------------------------------------- words


def nodes_word(lost: Iterable[int]) -> str:
    """Node 10; Nodes 10 and 11; Nodes 3, 7 and 12; 64 nodes."""
    nodes = sorted(lost)
    if len(nodes) == 1:
        return say("Node {node}", node=nodes[0])
    if len(nodes) > _NAMED:
        return node_count(len(nodes))
    return say("Nodes {some} and {last}", some=", ".join(map(str, nodes[:-1])), last=nodes[-1])


def event_word(event: Event, lost: frozenset[int], cluster: Cluster) -> str:
    """What happens, as a button says it."""
    if event == "process_restart":
        return say("Process restart")
    if event == "node_reboot":
        return say("Reboot")
    if event == "planned_stop":
        return say("Planned stop")
    if event == "cluster_lost":
        return say("All nodes")
    if event == "rack_lost" and cluster.rack_nodes and lost:
        return say("Rack {number}", number=cluster.rack_of(min(lost)) + 1)
    if event == "rack_lost":
        return say("Rack")
    return nodes_word(lost) if lost else say("One node")


def happened(case: Case) -> str:
    """The same as something that has happened, at the mark of the failure."""
    if case.event == "process_restart":
        return say("a process fails")
    if case.event == "node_reboot":
        return say("a node reboots")
    if case.event == "planned_stop":
        return say("planned stop")
    if case.event == "cluster_lost":
        return say("all nodes lost")
    return say("{what} lost", what=case.title)


def head_words(case: Case) -> tuple[str, ...]:
    """The heads of the matrix, one for each of EVENTS."""
    are_more = case.event == "node_lost" and len(case.lost) > 1
    node = say("nodes lost") if are_more else say("1 node lost")
    group = say("pair lost") if case.cluster.factor == 2 else say("group lost")
    return (
        say("process restart"), say("node reboot"), node, group, say("rack lost"), say("all nodes"), say("planned stop"),
    )  # fmt: skip
