"""A plan as a setup: every number comes from the plan, nothing is worked out twice (docs/models.md 17.3)."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ckptplanner.engine.datapath import near_read_s
from ckptplanner.engine.laws import law_of
from ckptplanner.engine.plan import Plan, Schedule
from ckptplanner.engine.restarts import base_s
from ckptplanner.engine.scenario import Scenario
from ckptplanner.engine.simulation.setup import (
    Cause,
    Level,
    LocalLevel,
    Notice,
    PlannedStops,
    Racks,
    Replicas,
    Setup,
    Spares,
)
from ckptplanner.units import DAY

INTERRUPTION = "interruption"


@dataclass(frozen=True, slots=True)
class TwoLevels:
    """What a plan with a local level knows beyond its schedule. The lead's `plan.levels` fills it; see `with_levels`."""

    local_interval_s: float  # T1, start to start
    local_stop_s: float  # C1
    local_durable_s: float  # t1, from the end of the stop
    local_restart_s: float  # R1
    ratio: int  # n
    uploads_survive: bool
    nodes_survive: bool  # whether copies on peers outlive the loss of a node
    group_nodes: int = 1  # F, nodes that hold one another's shards
    fatal_chance: float | None = None  # of a node loss, where groups overlap
    racks_with_whole_groups: int = 0


def setup_of(plan: Plan) -> Setup | None:
    """The setup of a plan; None where it has no schedule, or where a save costs more than the interval."""
    schedule, scenario = plan.schedule, plan.scenario
    if schedule is None or not schedule.interval_s > schedule.lost_per_save_s:
        return None
    failures, spares, planned = scenario.failures, scenario.spares, scenario.planned
    law = law_of(
        failures.law,
        schedule.mtbi_s,
        weibull_shape=failures.weibull_shape,
        lognormal_shape=failures.lognormal_shape,
        gaps_s=failures.gaps_s,
    )
    return Setup(
        run_s=scenario.run.days * DAY,
        law=law,
        interval_s=schedule.interval_s,
        lost_s=schedule.lost_per_save_s,
        stop_s=schedule.blocking_s,
        background_s=schedule.durable_after_s - schedule.blocking_s,
        overlap="wait",  # what every framework of the catalog does (docs/models.md 9)
        causes=_split(_ways(plan, schedule), _node_share(plan, schedule)),
        downtime_s=failures.downtime_s,
        step_s=scenario.workload.step_s,
        other_stop_fraction=min(sum(row.stop_fraction for row in plan.beyond.saves), 1.0) if plan.beyond is not None else 0.0,
        spares=Spares(spares.nodes, spares.wait_s) if spares.wait_s else None,
        planned=_planned(scenario, schedule) if planned.every_s is not None else None,
        notice=Notice(failures.spot_notice_s, schedule.writes_in_s) if failures.spot_notice_s is not None else None,
    )


def _planned(scenario: Scenario, schedule: Schedule) -> PlannedStops:
    stops = scenario.planned
    assert stops.every_s is not None
    return PlannedStops(
        every_s=stops.every_s,
        final_save_s=schedule.writes_in_s,
        restart_s=scenario.failures.restart_base_s + schedule.restore_read_s,
        notice_s=stops.notice_s,
        queue_s=stops.queue_s,
    )


def _ways(plan: Plan, schedule: Schedule) -> list[Cause]:
    """The rows of `restart.classes`, or one way for all."""
    scenario = plan.scenario
    rows = [row for row in scenario.restart.classes if row.share > 0.0]
    if not rows:
        return [Cause(INTERRUPTION, 1.0, schedule.restart_s)]
    total, found = sum(row.share for row in rows), []
    for number, row in enumerate(scenario.restart.classes, start=1):
        if row.share <= 0.0:
            continue
        near = near_read_s(scenario, plan.checkpoint.checkpoint_bytes, row.reads_from) or 0.0
        read = schedule.restore_read_s if row.reads_from == "shared" else near
        level: Level = "step" if row.rework == "step" else "shared"
        found.append(Cause(f"row {number}, from {row.reads_from}", row.share / total, base_s(row) + read, level))
    return found


def _node_share(plan: Plan, schedule: Schedule) -> float:
    """The share of interruptions that take a node: N M / M_n, as `outcome.mean_wait_s` counts. [1]"""
    losses_per_s = plan.scenario.workload.nodes / plan.scenario.replication.node_loss_interval_s
    return min(1.0, losses_per_s * schedule.mtbi_s)


def _split(causes: list[Cause], node_share: float) -> tuple[Cause, ...]:
    """Lay the causes on [0, 1) in order; those below `node_share` take a node, and one on both sides is cut in two."""
    found, begin = [], 0.0
    for cause in causes:
        taking = min(max(node_share - begin, 0.0), cause.share)
        begin += cause.share
        if taking > 0.0:
            found.append(replace(cause, share=taking, takes_node=True))
        if cause.share - taking > 1e-12:
            found.append(replace(cause, share=cause.share - taking))
    return tuple(found)


# ---------------------------------------------------------------- two levels: what `plan.levels` is to fill


def with_levels(plan: Plan, setup: Setup, levels: TwoLevels) -> Setup:
    """The setup of a plan whose nodes save to their own drives too (docs/models.md 15).

    `setup` is what `setup_of` gave for the same plan: its stop, write and restart are those of the shared level. Causes are
    laid out node first, then process, then cluster, so that those that take a node come first. A lost group, and a lost rack
    that holds one, go to shared storage. With the rows of `restart.classes` the causes stay as they are.
    """
    scenario, failures, replication = plan.scenario, plan.scenario.failures, plan.scenario.replication
    assert plan.schedule is not None
    shared_restart = plan.schedule.restart_s
    causes = setup.causes
    if not scenario.restart.classes:
        node: Level = "local" if levels.nodes_survive else "shared"
        rows: tuple[tuple[str, float, Level], ...] = (
            ("node", failures.node_share, node),
            ("process", failures.process_share, "local"),
            ("cluster", failures.cluster_share, "shared"),
        )
        restart = {"local": levels.local_restart_s, "shared": shared_restart}
        total = sum(share for _, share, _ in rows)
        ways = [Cause(name, share / total, restart[level], level) for name, share, level in rows if share > 0.0]
        causes = _split(ways, _node_share(plan, plan.schedule))
    racks = None
    if levels.racks_with_whole_groups and replication.rack_loss_interval_s is not None:
        every = replication.rack_loss_interval_s / levels.racks_with_whole_groups
        racks = Racks(every, shared_restart, "shared", replication.rack_nodes or 1)
    replicas = None
    if levels.nodes_survive:
        replicas = Replicas(scenario.workload.nodes, levels.group_nodes, replication.rebuild_s, levels.fatal_chance)
    local = LocalLevel(
        work_s=levels.local_interval_s - levels.local_stop_s,
        stop_s=levels.local_stop_s,
        durable_s=levels.local_durable_s,
        ratio=levels.ratio,
        uploads_survive=levels.uploads_survive,
    )
    return replace(setup, local=local, causes=causes, racks=racks, replicas=replicas, escalated_restart_s=shared_restart)
