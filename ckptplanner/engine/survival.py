"""What an event leaves of the checkpoints, and how training comes back: tier, clock and work done again (docs/models.md 13.4).

    a save starts        restorable            strikes          runs again
    |- snapshot taken ---|---------------------X----------------|
    0                    t                     moment           moment + detect + reschedule + start + read
    |<------------- age: done again ---------->|

A snapshot in host RAM is not a checkpoint that can be restored: it dies with the trainer, except where copies are kept in
memory on purpose.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from ckptplanner.engine import replication as groups
from ckptplanner.engine.datapath import read_of
from ckptplanner.engine.node_plan import EVENTS, TIERS, ClockPart, Event, Phase, ReplicationPlan, Survival, Tier, TierState
from ckptplanner.engine.plan import Plan
from ckptplanner.engine.replicas import copies_of, group_numbers, is_replicated, replication_plan
from ckptplanner.text import Text, text
from ckptplanner.units import BYTES, SECONDS, brief, grouped, rough

LOCAL: tuple[Tier, ...] = ("host_ram", "local_nvme", "replica")
NOTHING_LOST: tuple[Event, ...] = ("process_restart", "node_reboot")
NO_NODE_NEEDED: tuple[Event, ...] = ("process_restart", "node_reboot", "planned_stop")


def tier_states(plan: Plan) -> tuple[TierState, ...]:
    """Return every tier as this plan has it, nearest first."""
    return tuple(_state(plan, tier) for tier in TIERS)


def restart_tier(plan: Plan, event: Event, lost_nodes: Sequence[int] = ()) -> Tier | None:
    """Return the nearest tier that is used and survives the event; None where nothing is left."""
    return _source(tier_states(plan), event, _loss(plan, event, lost_nodes))


def survive(plan: Plan, event: Event, lost_nodes: Sequence[int] = (), moment_s: float | None = None) -> Survival:
    """Return what one event leaves, where training restarts from, when, and what is lost.

    Args:
        plan: With its replicas and data path, where they are known.
        event: One of EVENTS.
        lost_nodes: The nodes that are lost, exactly. Empty: the first node, group or rack, a rack that holds a whole group
            before one that does not. All nodes are lost with the cluster, and given back at a planned stop.
        moment_s: When it strikes, from the start of a save. [s] None: the mean moment, T/2 after the checkpoint became
            restorable.
    """
    states = tier_states(plan)
    loss = _loss(plan, event, lost_nodes)
    source = _source(states, event, loss)
    state = next((one for one in states if one.tier == source), None)
    period, durable = _period_s(plan, source), state.durable_after_s if state else None
    age = mean = worst = None
    moment = moment_s
    if period is not None and durable is not None:
        moment = period / 2.0 + durable if moment_s is None else moment_s
        age, mean, worst = newest_age_s(moment, period, durable), period / 2.0 + durable, period + durable
    if source == "shared" and event == "planned_stop" and _saves_before_stop(plan):
        age = mean = worst = 0.0
    clock = _clock(plan, event, state)
    restart = sum(part.seconds for part in clock) if state and state.read_s is not None else None
    rework = _Rework(age, mean, worst, is_mean=moment_s is None)
    return Survival(
        event=event,
        lost_nodes=() if event in NOTHING_LOST else loss.nodes,
        lost_groups=loss.groups,
        source=source,
        moment_s=0.0 if moment is None else moment,
        newest_age_s=age,
        mean_rework_s=mean,
        worst_rework_s=worst,
        clock=clock,
        restart_s=restart,
        sentence=_sentence(plan, event, loss, source),
        detail=_detail(source, rework, restart),
    )


def newest_age_s(moment_s: float, period_s: float, durable_after_s: float) -> float:
    """Return how old the newest restorable checkpoint is, counted from the start of its save. [s], t to t + T

    Saves start at every multiple of T and can be restored t later, so at a moment m the newest is t + (m - t) mod T old;
    with t above T older saves count. Its mean is T/2 + t and its limit T + t.
    """
    return durable_after_s + (moment_s - durable_after_s) % period_s


# ---------------------------------------------------------------- tiers


def _replication(plan: Plan) -> ReplicationPlan:
    """The plan's replicas, worked out here where the plan has none."""
    if plan.replication is not None:
        return plan.replication
    size, base = plan.checkpoint.checkpoint_bytes, plan.scenario.failures.restart_base_s
    return replication_plan(plan.scenario, size, None, None, None, base)


def _state(plan: Plan, tier: Tier) -> TierState:
    why_not = _why_not(plan, tier)
    read, is_guess = _read(plan, tier)
    return TierState(
        tier=tier,
        title=_title(tier),
        is_used=why_not is None,
        why_not=why_not,
        read_s=read,
        is_read_guess=is_guess,
        durable_after_s=_durable_after_s(plan, tier),
        survives=tuple(_survives(plan, tier, event) for event in EVENTS),
    )


def _title(tier: Tier) -> Text:
    titles: dict[Tier, Text] = {
        "host_ram": text("Host RAM"),
        "local_nvme": text("Local NVMe"),
        "replica": text("Replica on a peer"),
        "shared": text("Shared storage"),
        "s3": text("S3"),
    }
    return titles[tier]


def _why_not(plan: Plan, tier: Tier) -> Text | None:
    """Why training cannot restart from a tier in this plan, None where it can."""
    replication, store = _replication(plan), plan.scenario.replication.store
    if tier == "shared":
        return None if plan.schedule is not None else text("no file system is chosen")
    if tier == "s3":
        return None if any(row.to == "s3" for row in plan.scenario.saves) else text("no save goes to S3")
    if tier == "host_ram" and (store != "ram" or replication.factor == 1):
        is_sync = plan.scenario.storage.mode == "sync"
        return text("a synchronous save leaves no snapshot") if is_sync else text("the snapshot dies with the trainer")
    if tier == "local_nvme" and store == "ram" and replication.factor > 1:
        return text("copies are kept in memory")
    if tier == "local_nvme" and plan.scenario.local.enabled:
        return None
    if replication.factor == 1:
        return text("no copies are kept on the nodes")
    return None if replication.is_legal else text("the groups cannot be formed")


def _survives(plan: Plan, tier: Tier, event: Event) -> bool:
    """Whether what lies on a tier outlives an event, be it used or not."""
    if tier in ("shared", "s3"):
        return True
    if tier == "host_ram" or event == "process_restart":
        return event == "process_restart"
    if tier == "local_nvme":
        return event == "node_reboot"
    replication = _replication(plan)
    is_safe = bool(replication.tolerated_losses)
    if event == "node_reboot":
        return is_safe or plan.scenario.replication.store == "nvme"
    if event == "node_lost":
        return is_safe
    return event == "rack_lost" and is_replicated(replication) and replication.racks_with_whole_groups == 0


def _phase(plan: Plan, name: str) -> Phase | None:
    if plan.datapath is None:
        return None
    return next((phase for phase in plan.datapath.phases if phase.name == name), None)


def _read(plan: Plan, tier: Tier) -> tuple[float | None, bool]:
    """How long reading a checkpoint back from a tier takes, and whether that rests on a guess. [s]

    From shared storage it is what the plan's restart time counts; from the nodes what their data path allows, without the
    drives where copies are kept in memory.
    """
    if tier == "shared":
        return (plan.schedule.restore_read_s if plan.schedule else None), False
    if tier == "s3":
        return _read_s3(plan)
    phase = _phase(plan, "restore_replica" if tier == "replica" else "restore_local")
    if phase is None:
        return None, False
    seconds, limit = read_of(phase, plan.scenario)
    return seconds, limit is not None and limit.kind == "assumed"


def _read_s3(plan: Plan) -> tuple[float | None, bool]:
    """Every node reads its part over as many connections as it writes with: a guess, for nothing is known of reading. [s]"""
    phase = _phase(plan, "s3_write")
    rates = [hop.ceiling_bytes_per_s for hop in phase.hops if hop.ceiling_bytes_per_s] if phase else []
    share = plan.checkpoint.checkpoint_bytes / plan.scenario.workload.nodes
    return (share / min(rates) + plan.scenario.storage.latency_s, True) if rates else (None, False)


def _durable_after_s(plan: Plan, tier: Tier) -> float | None:
    """From the start of a save until a restart can read it from a tier. [s] None where it is not known.

    On the nodes that is the stop and then the whole way of the copies, to the drives where they are kept there.
    """
    if plan.schedule is None or tier == "s3":
        return None
    if tier == "shared":
        return plan.schedule.durable_after_s
    if plan.levels is not None:
        return plan.levels.local.durable_after_s
    copies = _phase(plan, "replicate")
    return None if copies is None or copies.seconds is None else plan.schedule.blocking_s + copies.seconds


def _period_s(plan: Plan, tier: Tier | None) -> float | None:
    """From one save to the next that reaches a tier. [s]"""
    if tier == "s3":
        return min((row.every_s for row in plan.scenario.saves if row.to == "s3" and row.every_s is not None), default=None)
    if plan.schedule is None or tier is None:
        return None
    return plan.schedule.period_s if tier == "shared" else plan.near_period_s


# ---------------------------------------------------------------- what is lost


@dataclass(frozen=True, slots=True)
class _Loss:
    """The nodes whose copies are gone, and what that does to the groups."""

    nodes: tuple[int, ...]
    groups: tuple[int, ...]
    keeps_copies: bool  # every group has a copy left
    is_described: bool = True  # False: what a rack is, is not known


def _loss(plan: Plan, event: Event, given: Sequence[int]) -> _Loss:
    nodes, rack = plan.scenario.workload.nodes, plan.scenario.replication.rack_nodes
    in_range = tuple(sorted({node for node in given if 0 <= node < nodes}))
    if event == "process_restart":
        return _Loss((), (), keeps_copies=True)
    if event == "node_reboot" and plan.scenario.replication.store == "nvme":
        return _Loss((), (), keeps_copies=True)
    replication = _replication(plan)
    sets = copies_of(plan.scenario, replication)
    if event in ("cluster_lost", "planned_stop"):
        gone = tuple(range(nodes))
    elif in_range:
        gone = in_range
    elif event == "rack_lost":
        if rack is None:
            return _Loss((), (), keeps_copies=False, is_described=False)
        gone = _worst_rack(sets, rack, nodes)
    elif event == "group_lost" and sets is not None:
        gone = tuple(np.unique(sets[0]).tolist())
    else:
        gone = (0,)
    if sets is None:
        return _Loss(gone, (), keeps_copies=len(gone) <= (replication.tolerated_losses or 0))
    rows = groups.lost_sets(sets, gone).tolist()
    return _Loss(gone, group_numbers(plan.scenario, replication, rows), keeps_copies=not rows)


def _worst_rack(sets: np.ndarray[tuple[int, ...], np.dtype[np.int64]] | None, rack: int, nodes: int) -> tuple[int, ...]:
    """The nodes of the first rack that holds a whole group, or of the first one."""
    whole = [] if sets is None else groups.racks_with_whole_groups(sets, rack).tolist()
    number = whole[0] if whole else 0
    return tuple(range(number * rack, min((number + 1) * rack, nodes)))


def _source(states: Iterable[TierState], event: Event, loss: _Loss) -> Tier | None:
    """The nearest used tier that is left; what is left of replicas depends on the very nodes that are lost."""
    for state in states:
        left = state.survives[EVENTS.index(event)]
        if state.tier == "replica" and event not in ("cluster_lost", "planned_stop"):
            left = loss.keeps_copies
        if state.is_used and left:
            return state.tier
    return None


# ---------------------------------------------------------------- the clock


def _clock(plan: Plan, event: Event, state: TierState | None) -> tuple[ClockPart, ...]:
    """The parts of the restart in their order; reading is left out where its time is not known.

    After a planned stop all of R is counted, as the waste counts it, and the queue before it.
    """
    failures = plan.scenario.failures
    parts = []
    if event == "planned_stop":
        parts.append(ClockPart("queue", text("queue"), plan.scenario.planned.queue_s, "scheduler"))
    parts.append(ClockPart("detect", text("detect"), failures.detect_s, "monitoring"))
    wait = failures.downtime_s + (plan.beyond.mean_wait_s if plan.beyond is not None else 0.0)
    if wait and event not in NO_NODE_NEEDED:
        parts.append(ClockPart("wait", text("wait for a spare"), wait, "nobody"))
    if event != "process_restart":
        parts.append(ClockPart("reschedule", text("reschedule"), failures.reschedule_s, "scheduler"))
    parts.append(ClockPart("start", text("start"), failures.start_s, "framework"))
    if state is not None and state.read_s is not None:
        size = brief(plan.checkpoint.checkpoint_bytes, BYTES)
        parts.append(ClockPart("read", text("read {size}", size=size), state.read_s, "framework"))
    return tuple(parts)


def _saves_before_stop(plan: Plan) -> bool:
    """Whether a last save fits into the notice of a planned stop."""
    notice = plan.scenario.planned.notice_s
    if notice is None:
        return True
    needed = plan.beyond.final_save_s if plan.beyond is not None else None
    if needed is None and plan.schedule is not None:
        needed = plan.schedule.writes_in_s
    return needed is not None and notice >= needed


# ---------------------------------------------------------------- sentences


def _sentence(plan: Plan, event: Event, loss: _Loss, source: Tier | None) -> Text:
    if source is None:
        return text("Nothing is left to restart from.")
    if event == "process_restart":
        return _after_process_restart(source, plan.scenario.storage.mode)
    if event == "node_reboot":
        return _after_reboot(source)
    store = _place(source)
    if event == "cluster_lost":
        return text("All nodes are lost with what they hold; {store} still has the checkpoint.", store=store)
    if event == "planned_stop":
        return text("A planned stop gives the nodes back with what they hold; {store} still has the checkpoint.", store=store)
    if not loss.is_described:
        return text(
            "Racks are not described, so what one takes along is not known; {store} has the checkpoint whatever it is.",
            store=store,
        )
    return _after_loss(plan, loss, source)


def _after_process_restart(source: Tier, mode: str) -> Text:
    if source == "host_ram":
        return text("The hosts stay up, so the copies in their memory are still there.")
    if source in LOCAL:
        return text("The hosts stay up, so the checkpoint on their drives is still there.")
    if mode == "sync":
        return text("Nothing of a save stays in host RAM; {store} still has the checkpoint.", store=_place(source))
    return text("The snapshot in host RAM dies with the trainer; {store} still has the checkpoint.", store=_place(source))


def _after_reboot(source: Tier) -> Text:
    if source == "local_nvme":
        return text("A reboot keeps the drives, so the checkpoint on them is still there.")
    if source in LOCAL:
        return text("A reboot empties the memory of the node, but other nodes of its group still hold its shards.")
    return text("A reboot empties host RAM; {store} still has the checkpoint.", store=_place(source))


def _after_loss(plan: Plan, loss: _Loss, source: Tier) -> Text:
    """Some nodes are gone: what that does to the groups."""
    store, count, factor = _place(source), grouped(len(loss.nodes)), plan.scenario.replication.factor
    is_one = len(loss.nodes) == 1
    if source in LOCAL:
        if is_one:
            return text(
                "Node {node} is lost, but the other nodes of its group still hold its shards.", node=grouped(loss.nodes[0])
            )
        return text("{count} nodes are lost, but every group keeps a copy.", count=count)
    if not is_replicated(_replication(plan)):
        if is_one:
            return text(
                "Node {node} is lost and nobody else has its shards; {store} still has the checkpoint.",
                node=grouped(loss.nodes[0]), store=store,
            )  # fmt: skip
        return text(
            "{count} nodes are lost and nobody else has their shards; {store} still has the checkpoint.",
            count=count, store=store,
        )  # fmt: skip
    if len(loss.groups) != 1:
        return _after_many(loss, count, store)
    number = grouped(loss.groups[0] + 1)
    if factor == 2:
        return text(
            "Both copies of group {group} are gone, so the local checkpoint is lost for every node; {store} still has it.",
            group=number, store=store,
        )  # fmt: skip
    return text(
        "All {copies} copies of group {group} are gone, so the local checkpoint is lost for every node; {store} still has it.",
        copies=grouped(factor), group=number, store=store,
    )  # fmt: skip


def _after_many(loss: _Loss, count: str, store: Text) -> Text:
    if loss.groups:
        return text(
            "Every copy of {groups} groups is gone, so the local checkpoint is lost for every node; {store} still has it.",
            groups=grouped(len(loss.groups)), store=store,
        )  # fmt: skip
    return text(
        "{count} nodes are lost, more than every group is sure to survive; {store} still has the checkpoint.",
        count=count, store=store,
    )  # fmt: skip


def _place(tier: Tier) -> Text:
    """A tier as a sentence names it."""
    places: dict[Tier, Text] = {
        "host_ram": text("host RAM"),
        "local_nvme": text("the local drives"),
        "replica": text("the copies on other nodes"),
        "shared": text("shared storage"),
        "s3": text("S3"),
    }
    return places[tier]


@dataclass(frozen=True, slots=True)
class _Rework:
    """The work done again: at the moment asked for, on average and at worst."""

    age_s: float | None
    mean_s: float | None
    worst_s: float | None
    is_mean: bool


def _detail(source: Tier | None, rework: _Rework, restart_s: float | None) -> Text:
    if source is None:
        return text("Training starts from the beginning.")
    place, restart = _place(source), None if restart_s is None else brief(restart_s, SECONDS)
    if rework.age_s is None or rework.mean_s is None or rework.worst_s is None:
        if restart is None:
            return text(
                "Training restarts from {source}; how old its checkpoint is and how long reading takes is not known.",
                source=place,
            )
        return text(
            "Training restarts from {source} and runs again after {restart}; how old its checkpoint is, is not known.",
            source=place, restart=restart,
        )  # fmt: skip
    if rework.worst_s == 0.0:
        return _without_rework(place, restart)
    worst = rough(rework.worst_s, SECONDS)
    if restart is None:
        return text(
            "Training restarts from {source}: {mean} of work done again on average, {worst} at worst; "
            "how long reading takes is not known.",
            source=place, mean=rough(rework.mean_s, SECONDS), worst=worst,
        )  # fmt: skip
    if rework.is_mean:
        return text(
            "Training restarts from {source}: {mean} of work done again on average, {worst} at worst, "
            "and it runs again after {restart}.",
            source=place, mean=rough(rework.mean_s, SECONDS), worst=worst, restart=restart,
        )  # fmt: skip
    return text(
        "Training restarts from {source}: {age} of work done again at this moment, {worst} at worst, "
        "and it runs again after {restart}.",
        source=place, age=rough(rework.age_s, SECONDS), worst=worst, restart=restart,
    )  # fmt: skip


def _without_rework(place: Text, restart: str | None) -> Text:
    """A last save was made before the stop."""
    if restart is None:
        return text("A last save is made before the stop, so no work is done again; how long reading takes is not known.")
    return text(
        "A last save is made before the stop, so no work is done again: training restarts from {source} after {restart}.",
        source=place, restart=restart,
    )  # fmt: skip
