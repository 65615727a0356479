"""The panel of what the nodes keep: local saves, copies on other nodes, and how likely a group of them is lost."""

from __future__ import annotations

from collections.abc import Sequence

from typing_extensions import override

from ckptplanner.engine.plan import Plan
from ckptplanner.engine.scenario import Scenario
from ckptplanner.ui.panels.panel import ComputedEntry, Entry, FieldEntry, Panel, check, named_choices, quantity, switch
from ckptplanner.ui.words import node_count, say
from ckptplanner.units import BYTES, FRACTION, SECONDS, brief, grouped, percent, rough

MANY_FACTORS = 7


class ReplicationPanel(Panel):
    """Local saves, copies, jump, window, node losses, racks."""

    @override
    def title(self) -> str:
        return say("Replication")

    @override
    def entries(self) -> Sequence[Entry]:
        return (
            FieldEntry(path="local.enabled", make=check(say("to the drives")), line=_what_local_brings),
            FieldEntry(
                path="local.interval_s",
                make=quantity(say("best")),
                none_text=_own_interval,
                reason=_no_local,
                line=_shared_each,
            ),
            FieldEntry(path="local.blocking_s", reason=_no_local),
            FieldEntry(path="local.durable_s", reason=_no_local, line=_local_durable, rare=True),
            FieldEntry(path="local.restart_s", reason=_no_local, rare=True),
            FieldEntry(path="local.ratio", make=quantity(say("best")), none_text=_own_ratio, reason=_no_local, rare=True),
            FieldEntry(path="local.uploads", make=switch(*named_choices("local.uploads")), reason=_no_local, rare=True),
            FieldEntry(path="replication.factor", line=_groups),
            FieldEntry(path="replication.jump", make=quantity(say("GPUs of a node")), none_text=_own_jump, line=_jump_line),
            ComputedEntry(figure="replica_loss", title=say("Group lost in run"), text=_run_loss, line=_after_first),
            FieldEntry(path="replication.rebuild_s", line=_window, reason=_alone),
            FieldEntry(path="replication.node_loss_interval_s", title=say("Node lost every"), line=_loss_line),
            FieldEntry(path="replication.rack_nodes", make=quantity(say("not described")), rare=True),
            FieldEntry(
                path="replication.rack_loss_interval_s", title=say("Rack lost every"), make=quantity(say("never")), rare=True
            ),
            FieldEntry(path="replication.store", make=switch(*named_choices("replication.store")), rare=True, reason=_alone),
            FieldEntry(
                path="replication.exchange", make=switch(*named_choices("replication.exchange")), rare=True, reason=_alone
            ),
        )


def _no_local(scenario: Scenario) -> str:
    return "" if scenario.local.enabled else say("no local saves")


def _what_local_brings(plan: Plan) -> str:
    levels = plan.levels
    if levels is None or levels.waste_fraction is None or levels.single_level_fraction is None:
        return say("shared saves alone")
    wastes = {"own": percent(levels.waste_fraction), "alone": percent(levels.single_level_fraction)}
    if plan.scenario.failures.has_memory:
        return say("waste {own} with them, {alone} without, both memoryless", **wastes)
    return say("waste {own} with them, {alone} without", **wastes)


def _own_interval(plan: Plan) -> str:
    return say("best") if plan.levels is None else say("{time}, the best", time=rough(plan.levels.local.interval_s, SECONDS))


def _own_ratio(plan: Plan) -> str:
    return say("best") if plan.levels is None else say("{count} local, the best", count=grouped(plan.levels.ratio))


def _shared_each(plan: Plan) -> str:
    levels = plan.levels
    if levels is None:
        return ""
    if levels.ratio == 1:
        return say("each goes to shared storage too: every {time} with its stop", time=rough(levels.shared.interval_s, SECONDS))
    return say(
        "one in {ratio} shared: every {time}", ratio=grouped(levels.ratio), time=rough(levels.shared.interval_s, SECONDS)
    )


def _local_durable(plan: Plan) -> str:
    phase = (
        None
        if plan.datapath is None
        else plan.datapath.phase("replicate" if plan.scenario.replication.factor > 1 else "local_write")
    )
    if plan.levels is None or phase is None or phase.seconds is None:
        return ""
    return say("these drives need {time}", time=brief(phase.seconds, SECONDS))


def _alone(scenario: Scenario) -> str:
    return say("no copies") if scenario.replication.factor == 1 else ""


def _groups(plan: Plan) -> str:
    found = plan.replication
    if found is None:
        return ""
    factors = found.legal_factors
    near = sorted(sorted(factors, key=lambda one: abs(one - found.factor))[:MANY_FACTORS])
    listed = ", ".join(grouped(one) for one in near)
    if not found.is_legal:
        return say("not possible; {factors} are", factors=listed) if factors else say("not possible with this jump")
    if found.factor == 1:
        return say("no protection; possible: {factors}", factors=listed)
    size = brief(found.local_bytes_per_node, BYTES)
    return say("{groups} groups, {size} on each node", groups=grouped(len(found.node_groups)), size=size)


def _own_jump(plan: Plan) -> str:
    return say("{count}, a node", count=plan.scenario.workload.gpus_per_node)


def _jump_line(plan: Plan) -> str:
    found, gpus = plan.replication, plan.scenario.workload.gpus_per_node
    if found is None or found.factor == 1 or not found.is_legal or found.jump % gpus:
        return ""
    apart = found.jump // gpus
    if apart == 1:
        return say("pairs neighbours, usually of one rack")
    return say("members are {count} nodes apart", count=grouped(apart))


def _run_loss(plan: Plan) -> str:
    chance = plan.replication.run_loss_probability if plan.replication else None
    if plan.replication is None or plan.replication.factor == 1 or chance is None:
        return "–"
    return brief(chance, FRACTION)


def _after_first(plan: Plan) -> str:
    found = plan.replication
    if found is None or found.factor == 1 or found.loss_probability_after_first is None:
        return say("a lost node loses its part of the local checkpoint")
    return say("{chance} after a first loss", chance=brief(found.loss_probability_after_first, FRACTION, 2))


def _window(plan: Plan) -> str:
    found = plan.replication
    if found is None or found.window_needed_s is None:
        return ""
    return say("needs {time}, the next save included", time=rough(found.window_needed_s, SECONDS))


def _loss_line(plan: Plan) -> str:
    every = plan.scenario.replication.node_loss_interval_s / plan.scenario.workload.nodes
    return say("one of {nodes} every {time}", nodes=node_count(plan.scenario.workload.nodes), time=brief(every, SECONDS))
