"""A plan as a setup: every number comes from the plan, nothing is worked out twice (docs/models.md 17.1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ckptplanner.engine.job import ages
from ckptplanner.engine.laws import Exponential, Law, law_of
from ckptplanner.engine.plan import Levels, Plan, Schedule
from ckptplanner.engine.replicas import is_replicated
from ckptplanner.engine.restarts import row_restart_s
from ckptplanner.engine.scenario import Scenario
from ckptplanner.engine.simulation.setup import (
    Cause,
    Fleet,
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
FLEET_POINTS = 256


def setup_of(plan: Plan) -> Setup | None:
    """The setup of a plan; None where it has no schedule, or where a save costs more than the interval."""
    schedule, scenario = plan.schedule, plan.scenario
    if schedule is None or not schedule.interval_s > schedule.lost_per_save_s:
        return None
    failures, spares, planned = scenario.failures, scenario.spares, scenario.planned
    run_s = scenario.run.days * DAY
    setup = Setup(
        run_s=run_s,
        law=_law(scenario, schedule.mtbi_s),
        interval_s=schedule.interval_s,
        lost_s=schedule.lost_per_save_s,
        stop_s=schedule.blocking_s,
        background_s=schedule.durable_after_s - schedule.blocking_s,
        overlap="wait",  # what every framework of the catalog does (docs/models.md 9)
        causes=_split(_ways(plan, schedule), _node_share(plan, schedule))
        if _nodes_matter(scenario)
        else tuple(_ways(plan, schedule)),
        downtime_s=failures.downtime_s,
        step_s=scenario.workload.step_s,
        other_stop_fraction=min(sum(row.stop_fraction for row in plan.beyond.saves), 1.0) if plan.beyond is not None else 0.0,
        fleet=_fleet(scenario, run_s) if ages(scenario) else None,
        spares=Spares(spares.nodes, spares.wait_s) if spares.wait_s else None,
        planned=_planned(scenario, schedule) if planned.every_s is not None else None,
        notice=Notice(failures.spot_notice_s, schedule.writes_in_s) if failures.spot_notice_s is not None else None,
    )
    return setup if plan.levels is None else _with_levels(plan, setup, plan.levels)


def _law(scenario: Scenario, mean_s: float) -> Law:
    """The law of the job's clock; the sum of the nodes' own clocks is memoryless, or `fleet` takes its place."""
    failures = scenario.failures
    if failures.clock == "nodes":
        return Exponential(mean_s)
    return law_of(
        failures.law, mean_s, weibull_shape=failures.weibull_shape, lognormal_shape=failures.lognormal_shape,
        gaps_s=failures.gaps_s,
    )  # fmt: skip


def _fleet(scenario: Scenario, run_s: float) -> Fleet:
    """How many interruptions to expect until each time of the run; young nodes need close points at its beginning."""
    from ckptplanner.engine.fleet import cumulative_failures

    failures = scenario.failures
    times = np.concatenate(([0.0], np.geomspace(run_s * 1e-6, run_s, FLEET_POINTS)))
    of_one = cumulative_failures(failures.weibull_shape, failures.mtbi_s * failures.mtbi_nodes, failures.fleet_age_s, times)
    return Fleet(tuple(times.tolist()), tuple((scenario.workload.nodes * of_one).tolist()))


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
    """The rows of `restart.classes`, or one way for all. With two levels rows that read near restart locally."""
    scenario = plan.scenario
    rows = scenario.restart.classes
    total = sum(row.share for row in rows)
    if not total:
        return [Cause(INTERRUPTION, 1.0, schedule.restart_s)]
    found = []
    for number, row in enumerate(rows, start=1):
        if row.share <= 0.0:
            continue
        level: Level = "step" if row.rework == "step" else "shared" if row.reads_from == "shared" else "local"
        found.append(
            Cause(f"row {number}, from {row.reads_from}", row.share / total, row_restart_s(row, plan, schedule), level)
        )
    return found


def _nodes_matter(scenario: Scenario) -> bool:
    """Whether it makes a difference which interruptions take a node, replicas aside."""
    return scenario.spares.wait_s > 0.0 or scenario.failures.spot_notice_s is not None


def _node_share(plan: Plan, schedule: Schedule | None) -> float:
    """The share of interruptions that take a node: N M / M_n, as `outcome.mean_wait_s` counts. [1]"""
    if schedule is None:
        return 0.0
    losses_per_s = plan.scenario.workload.nodes / plan.scenario.replication.node_loss_interval_s
    return min(1.0, losses_per_s * schedule.mtbi_s)


def _split(causes: Sequence[Cause], node_share: float) -> tuple[Cause, ...]:
    """Lay the causes on [0, 1) in order; those below `node_share` take a node, and one on both sides is cut in two."""
    found, begin = [], 0.0
    for cause in (replace(cause, takes_node=False) for cause in causes):
        taking = min(max(node_share - begin, 0.0), cause.share)
        begin += cause.share
        if taking > 0.0:
            found.append(replace(cause, share=taking, takes_node=True))
        if cause.share - taking > 1e-12:
            found.append(replace(cause, share=cause.share - taking))
    return tuple(found)


# ---------------------------------------------------------------- two levels


def _with_levels(plan: Plan, setup: Setup, levels: Levels) -> Setup:
    """Add the nodes' own drives (docs/models.md 16).

    The setup's stop and write are those of the shared level already. Without restart classes the causes are laid out node
    first, then process, then cluster, so that those that take a node come first. A rack that holds a whole group adds its own
    losses; the job's clock leaves them out, since M counts all interruptions.
    """
    scenario, local = plan.scenario, levels.local
    causes = setup.causes
    if not any(row.share for row in scenario.restart.classes):
        causes = tuple(_causes_by_what_is_lost(plan, levels))
    has_copies = plan.replication is not None and is_replicated(plan.replication)
    if has_copies or _nodes_matter(scenario):
        causes = _split(causes, _node_share(plan, plan.schedule))
    setup = replace(
        setup,
        local=LocalLevel(
            work_s=max(local.interval_s - local.blocking_s, 1e-6),
            stop_s=local.blocking_s,
            durable_s=local.durable_after_s - local.blocking_s,
            ratio=levels.ratio,
            uploads_survive=scenario.local.uploads == "survive",
        ),
        causes=causes,
        escalated_restart_s=levels.shared.restart_s,
    )
    if plan.replication is None or not is_replicated(plan.replication):
        return setup
    work, copies = scenario.workload, scenario.replication
    is_disjoint = plan.replication.jump % work.gpus_per_node == 0
    chance = None if is_disjoint else plan.replication.loss_probability_after_first
    setup = replace(setup, replicas=Replicas(work.nodes, copies.factor, copies.rebuild_s, chance))
    whole, every = plan.replication.racks_with_whole_groups, copies.rack_loss_interval_s
    if not whole or every is None:
        return setup
    racks = Racks(every / whole, levels.shared.restart_s, "shared", copies.rack_nodes or 1)
    others = 1.0 / setup.law.mean_s - whole / every
    return replace(setup, racks=racks, law=setup.law.scaled(1.0 / others if others > 0.0 else 1e15))


def _causes_by_what_is_lost(plan: Plan, levels: Levels) -> list[Cause]:
    """Node, process and cluster by their shares, each with the level that restores it."""
    failures = plan.scenario.failures
    copies = plan.replication is not None and is_replicated(plan.replication)
    rows: tuple[tuple[str, float, Level], ...] = (
        ("node", failures.node_share, "local" if copies else "shared"),
        ("process", failures.process_share, "local"),
        ("cluster", failures.cluster_share, "shared"),
    )
    total = sum(share for _, share, _ in rows)
    restart = {"local": levels.local.restart_s, "shared": levels.shared.restart_s}
    if not total:
        return [Cause(INTERRUPTION, 1.0, levels.shared.restart_s)]
    return [Cause(name, share / total, restart[level], level) for name, share, level in rows if share > 0.0]
