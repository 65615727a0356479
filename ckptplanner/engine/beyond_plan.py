"""The part of the plan about what else happens in a run: other saves, planned stops, neighbours, spares, zones.

Unpacks the scenario for the formulas of beyond.py and puts what follows into a `Beyond` (node_plan.py).
"""

from __future__ import annotations

from dataclasses import dataclass

from ckptplanner.engine import beyond
from ckptplanner.engine.datapath import Way
from ckptplanner.engine.job import Job, mean_wait_s
from ckptplanner.engine.node_plan import Beyond, DataPath, SavedRow
from ckptplanner.engine.operations import SaveRow
from ckptplanner.engine.plan import Schedule
from ckptplanner.engine.scenario import Scenario
from ckptplanner.units import GB, HOURS_PER_YEAR, MONTHS_PER_YEAR


@dataclass(frozen=True, slots=True)
class Context:
    """What the builder looks at."""

    scenario: Scenario
    job: Job
    way: Way
    path: DataPath
    schedule: Schedule
    required_write_bytes_per_s: float
    planned_rework_s: float
    zone_bytes_per_month: float
    jobs_writing: float


def beyond_plan(context: Context) -> Beyond:
    """Work out every term beyond the articles."""
    scenario, schedule, job = context.scenario, context.schedule, context.job
    rows = tuple(_row(context, row) for row in scenario.saves)
    on_shared = [row.required_write_bytes_per_s for row in rows if row.to == "shared"]
    s3_bytes = sum(row.held_bytes for row in rows if row.to == "s3")
    price = scenario.prices.s3_usd_per_gb_month
    jobs = scenario.shared.jobs
    planned = scenario.planned
    return Beyond(
        saves=rows,
        peak_write_bytes_per_s=(context.required_write_bytes_per_s + sum(on_shared)) * context.jobs_writing
        + scenario.shared.load_bytes_per_s,
        s3_bytes=s3_bytes,
        s3_mean_bytes=job.s3_mean_bytes,
        s3_usd_per_month=None if price is None else s3_bytes / GB * price,
        oldest_reach_s=_oldest_reach_s(context),
        final_save_s=None if planned.every_s is None else schedule.writes_in_s,
        planned_rework_s=None if planned.every_s is None else context.planned_rework_s,
        jobs_writing=context.jobs_writing,
        restart_all_s=None if jobs == 1 else _restart_all_s(context),
        zone_bytes_per_month=context.zone_bytes_per_month,
        zone_usd_per_month=_zone_usd_per_month(context),
        no_spare_probability=_no_spare(context),
        mean_wait_s=mean_wait_s(scenario, job.mtbi_s),
        spare_saves_s=_spare_saves(scenario),
        spare_pays_above_s=_spare_pays(scenario),
        spares_usd_per_month=_spares_usd(scenario),
    )


def _row(context: Context, row: SaveRow) -> SavedRow:
    scenario, job = context.scenario, context.job
    write_s = max(context.schedule.write_s - scenario.storage.latency_s, 1e-9)
    size = row.bytes or job.checkpoint_bytes
    count = beyond.count_in_run(row.every_s, job.run_s)
    held = size * beyond.kept(count, row.keep)
    price = scenario.prices.s3_usd_per_gb_month
    billed = None if row.to != "s3" or price is None else held / GB * price
    return SavedRow(
        kind=row.kind, to=row.to, writer=row.writer, every_s=row.every_s, saved_bytes=size,
        required_write_bytes_per_s=size / write_s,
        writes_in_s=_writes_in_s(context, row, size),
        stop_fraction=beyond.stop_fraction(row.stop_s, row.every_s, job.run_s),
        count_in_run=count, held_bytes=held, usd_per_month=billed,
    )  # fmt: skip


def _writes_in_s(context: Context, row: SaveRow, size: float) -> float | None:
    """What a row's write takes at best over the way that the data path knows. [s]"""
    phase = context.path.phase("s3_write" if row.to == "s3" else "shared_write")
    if phase.seconds is None:
        return None
    writers = 1.0 if row.writer == "single" else context.way.nodes / context.scenario.datapath.writer_skew_ratio
    times = [
        (size if hop.is_shared else size / writers) / hop.ceiling_bytes_per_s for hop in phase.hops if hop.ceiling_bytes_per_s
    ]
    return max(times, default=0.0) + context.scenario.storage.latency_s


def _oldest_reach_s(context: Context) -> float:
    """How far back one can go: the kept generations, and permanent saves as long as the run. [s]"""
    reach = context.schedule.reach_s
    for row in context.scenario.saves:
        if row.kind == "permanent" and row.every_s is not None:
            count = beyond.count_in_run(row.every_s, context.job.run_s)
            reach = max(reach, row.every_s * beyond.kept(count, row.keep))
    return reach


def _restart_all_s(context: Context) -> float:
    """The restart when all jobs read at once: the file system serves them together, or each is bound by its own nodes. [s]"""
    schedule, rate = context.schedule, context.way.own_read_bytes_per_s
    copies, jobs = context.scenario.restore.copies, context.scenario.shared.jobs
    together = jobs * copies * context.job.checkpoint_bytes / rate if rate else schedule.restore_read_s
    longer = max(together - schedule.restore_read_s, 0.0)
    return schedule.restart_s + longer * context.job.ways.reads_shared


def _zone_usd_per_month(context: Context) -> float | None:
    price = context.scenario.prices.cross_zone_usd_per_gb
    if context.scenario.network.same_zone:
        return 0.0
    return None if price is None else context.zone_bytes_per_month / GB * price


def _losses_per_s(scenario: Scenario) -> float:
    return scenario.workload.nodes / scenario.replication.node_loss_interval_s


def _no_spare(context: Context) -> float | None:
    spares = context.scenario.spares
    if not spares.nodes and not spares.wait_s:
        return None
    return beyond.no_spare_probability(spares.nodes, spares.wait_s, _losses_per_s(context.scenario))


def _spare_saves(scenario: Scenario) -> float | None:
    spares = scenario.spares
    if not spares.nodes and not spares.wait_s:
        return None
    return beyond.spare_saves_s(spares.nodes, spares.wait_s, _losses_per_s(scenario))


def _spare_pays(scenario: Scenario) -> float | None:
    if not scenario.spares.nodes and not scenario.spares.wait_s:
        return None
    return beyond.spare_pays_above_s(_losses_per_s(scenario), scenario.workload.nodes)


def _spares_usd(scenario: Scenario) -> float | None:
    if not scenario.spares.nodes:
        return 0.0
    price = scenario.prices.node_usd_per_h
    return None if price is None else scenario.spares.nodes * price * HOURS_PER_YEAR / MONTHS_PER_YEAR
