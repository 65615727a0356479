"""The quiet line at the foot: how likely a group is lost, and whether its members share a rack."""

from __future__ import annotations

from ckptplanner.engine.plan import Plan
from ckptplanner.ui.survive.case import Cluster
from ckptplanner.ui.words import say
from ckptplanner.units import FRACTION, SECONDS, brief, rough


def facts(plan: Plan, cluster: Cluster) -> list[str]:
    """What is worth knowing about the groups, in short sentences."""
    made, given = plan.replication, plan.scenario.replication
    if made is None or cluster.factor < 2:
        return []
    found: list[str] = []
    chance = made.loss_probability_after_first
    if chance is not None:
        shown, window = _chance(chance), rough(given.rebuild_s, SECONDS)
        if cluster.factor == 2:
            found.append(say("chance that the second node of a pair is lost within {window}: {chance}",
                             window=window, chance=shown))  # fmt: skip
        else:
            found.append(say("chance that the rest of a group is lost within {window}: {chance}",
                             window=window, chance=shown))  # fmt: skip
    if cluster.rack_nodes:
        found.append(_racks(cluster))
        if made.better_jump is not None and _shares(cluster):
            found.append(say("jump {jump} would keep them apart", jump=made.better_jump))
    return found


def _shares(cluster: Cluster) -> int:
    """How many groups lie inside one rack."""
    return sum(len({cluster.rack_of(node) for node in group}) == 1 for group in cluster.groups)


def _racks(cluster: Cluster) -> str:
    inside, count = _shares(cluster), len(cluster.groups)
    if inside == count:
        return say("the nodes of every group share a rack: a lost rack loses them all")
    if inside:
        return say("{inside} of {count} groups lie inside one rack", inside=inside, count=count)
    return say("no group lies inside one rack")


def _chance(chance: float) -> str:
    least = 1e-6
    return say("less than {chance}", chance=brief(least, FRACTION)) if 0.0 < chance < least else brief(chance, FRACTION, 2)
