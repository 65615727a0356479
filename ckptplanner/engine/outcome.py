"""The order of the formulas, once, for a number and for an array: Scenario, file systems, write times -> what follows.

    sizing:  write times (n,) -> capacity, baseline and price of m file systems, (m, n)
    outcome: file systems and write times -> interval, waste, rework and dollars, (m, n)

evaluate.py looks at one column of it, curves.py at many, tradeoff.py at synchronous saves only. NaN stands for an unknown
price and for the first-order waste above 100 % inside these arrays; it never leaves them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ckptplanner.data.records import FsxTier
from ckptplanner.engine import beyond, ceilings, cost, fsx, interruptions, interval, restarts
from ckptplanner.engine import checkpoint as ck
from ckptplanner.engine.scenario import AUTO_EFA_BYTES_PER_S, Scenario
from ckptplanner.frozen import BoolArray, FloatArray
from ckptplanner.units import DAY, GB, GIB, HOUR, HOURS_PER_YEAR, MONTHS_PER_YEAR

MONTH_S = HOURS_PER_YEAR / MONTHS_PER_YEAR * HOUR


@dataclass(frozen=True, slots=True)
class Job:
    """The numbers of a scenario that no file system and no write time changes."""

    checkpoint_bytes: float
    held_bytes: float  # on the file system: the generations of all jobs, and what other saves keep there
    writers: int
    mtbi_s: float
    restart_base_s: float
    ways: restarts.Ways
    downtime_s: float
    row_stop_fraction: float
    s3_mean_bytes: float  # in S3 on average over the run
    fixed_other_usd_per_year: float  # S3 and idle spares; NaN where a price is not known
    zone_usd_per_byte: float  # 0 where the file system is in the nodes' zone, NaN where the price is not known
    gpus: int
    gpu_value_usd_per_h: float
    run_s: float

    @property
    def rollback_mtbi_s(self) -> float:
        """Mean time between interruptions that lose what was trained since a save. [s]"""
        return self.mtbi_s / self.ways.save_share


@dataclass(frozen=True, slots=True, eq=False)
class FileSystems:
    """m file systems at n write times, every array (m, n) or broadcastable to it."""

    capacity_gib: FloatArray
    write_bytes_per_s: FloatArray
    read_bytes_per_s: FloatArray
    client_bytes_per_s: FloatArray
    usd_per_month: FloatArray
    bound_by_capacity: BoolArray
    allowed: BoolArray  # by the EFA rule and the quota
    usable: BoolArray  # allowed, and the nodes can feed it
    jobs_writing: FloatArray  # how many of the jobs on it write at once


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """What follows for every file system and write time; all (m, n)."""

    write_s: FloatArray
    writes_in_s: FloatArray
    blocking_s: FloatArray
    lost_s: FloatArray
    durable_after_s: FloatArray
    best_interval_s: FloatArray
    wanted_interval_s: FloatArray
    interval_s: FloatArray
    period_s: FloatArray
    restore_read_s: FloatArray
    restart_s: FloatArray
    saving_fraction: FloatArray
    first_order_fraction: FloatArray
    exact_fraction: FloatArray
    chosen_fraction: FloatArray
    mean_rework_s: FloatArray
    worst_rework_s: FloatArray
    rework_fraction: FloatArray
    restart_fraction: FloatArray
    planned_rework_s: FloatArray
    planned_fraction: FloatArray
    lost_usd_per_year: FloatArray
    storage_usd_per_year: FloatArray
    zone_bytes_per_month: FloatArray
    other_usd_per_year: FloatArray
    total_usd_per_year: FloatArray


def job_of(scenario: Scenario) -> Job:
    """Work out what the whole job has in common."""
    work, prices, storage = scenario.workload, scenario.prices, scenario.storage
    size = work.measured_bytes or ck.checkpoint_bytes(
        work.total_params, work.frozen_params, work.bytes_per_param, work.frozen_bytes_per_param
    )
    node_price = np.nan if prices.node_usd_per_h is None else prices.node_usd_per_h
    value = prices.gpu_value_usd_per_h
    run_s = scenario.run.days * DAY
    mtbi_s = interruptions.scaled_mtbi_s(scenario.failures.mtbi_s, scenario.failures.mtbi_nodes, work.nodes)
    s3_mean = _s3_mean_bytes(scenario, size, run_s)
    return Job(
        checkpoint_bytes=size,
        held_bytes=(storage.generations_kept * size + _other_saves_bytes(scenario, size, run_s)) * scenario.shared.jobs,
        writers=work.nodes if work.writer == "sharded" else 1,
        mtbi_s=mtbi_s,
        restart_base_s=scenario.failures.restart_base_s,
        ways=restarts.ways(scenario, size),
        downtime_s=scenario.failures.downtime_s + mean_wait_s(scenario, mtbi_s),
        row_stop_fraction=sum(beyond.stop_fraction(row.stop_s, row.every_s, run_s) for row in scenario.saves),
        s3_mean_bytes=s3_mean,
        fixed_other_usd_per_year=_fixed_other_usd(scenario, s3_mean),
        zone_usd_per_byte=0.0 if scenario.network.same_zone else _or_nan(prices.cross_zone_usd_per_gb) / GB,
        gpus=work.nodes * work.gpus_per_node,
        gpu_value_usd_per_h=node_price / work.gpus_per_node if value is None else value,
        run_s=run_s,
    )


def _other_saves_bytes(scenario: Scenario, checkpoint_bytes: float, run_s: float) -> float:
    """What the rows of other saves keep on the file system by the end of the run. [B]"""
    rows = (row for row in scenario.saves if row.to == "shared")
    return sum((row.bytes or checkpoint_bytes) * beyond.kept(beyond.count_in_run(row.every_s, run_s), row.keep) for row in rows)


def _or_nan(price: float | None) -> float:
    return np.nan if price is None else price


def _s3_mean_bytes(scenario: Scenario, checkpoint_bytes: float, run_s: float) -> float:
    """What lies in S3 on average over the run. [B]"""
    rows = (row for row in scenario.saves if row.to == "s3")
    return sum(
        (row.bytes or checkpoint_bytes) * beyond.mean_kept(beyond.count_in_run(row.every_s, run_s), row.keep) for row in rows
    )


def _fixed_other_usd(scenario: Scenario, s3_mean_bytes: float) -> float:
    """S3 and idle spares in a year; NaN where one of them has no known price. [USD/year]"""
    prices, spares = scenario.prices, scenario.spares.nodes
    s3 = MONTHS_PER_YEAR * s3_mean_bytes / GB * _or_nan(prices.s3_usd_per_gb_month) if s3_mean_bytes else 0.0
    return s3 + (HOURS_PER_YEAR * spares * _or_nan(prices.node_usd_per_h) if spares else 0.0)


def lost_node_wait_s(scenario: Scenario) -> float:
    """How long a lost node waits for a replacement on average: not at all while a spare is left. [s]"""
    spares = scenario.spares
    if not spares.wait_s:
        return 0.0
    losses = scenario.workload.nodes / scenario.replication.node_loss_interval_s
    return spares.wait_s * beyond.no_spare_probability(spares.nodes, spares.wait_s, losses)


def mean_wait_s(scenario: Scenario, mtbi_s: float) -> float:
    """What waiting for a replacement costs an interruption on average. [s] docs/models.md 14.5."""
    losses = scenario.workload.nodes / scenario.replication.node_loss_interval_s
    return lost_node_wait_s(scenario) * min(1.0, losses * mtbi_s)


def zone_bytes_per_month(scenario: Scenario, job: Job, period_s: FloatArray) -> FloatArray:
    """Bytes written and read in a month that cross zones; 0 where the file system is in the nodes' zone. [B]"""
    if scenario.network.same_zone:
        return np.zeros_like(period_s)
    read = job.checkpoint_bytes * scenario.restore.copies * job.ways.reads_shared / job.mtbi_s
    rows = sum(
        (row.bytes or job.checkpoint_bytes) / row.every_s for row in scenario.saves if row.to == "shared" and row.every_s
    )
    return np.asarray(MONTH_S * (job.checkpoint_bytes / period_s + read + rows))


def required_write_bytes_per_s(scenario: Scenario, checkpoint_bytes: float, write_s: FloatArray) -> FloatArray:
    """Return W, what storage must sustain: S over the write time less the fixed part. [B/s]; infinity where none is left."""
    left = write_s - scenario.storage.latency_s
    return np.where(left > 0.0, checkpoint_bytes / np.where(left > 0.0, left, 1.0), np.inf)


def _column(values: Sequence[float | None], missing: float) -> FloatArray:
    return np.array([[missing if value is None else value] for value in values], dtype=float)


def writing_at_once(scenario: Scenario, job: Job, write_s: FloatArray, mode: str) -> FloatArray:
    """How many jobs write at once to the file system, at their 95 % point. (n,); 1 where this job is alone."""
    jobs = scenario.shared.jobs
    return np.ones_like(write_s) if jobs == 1 else beyond.jobs_writing(jobs, writing_duty(scenario, job, write_s, mode))


def writing_duty(scenario: Scenario, job: Job, write_s: FloatArray, mode: str) -> FloatArray:
    """The share of the time in which one job writes, t_w / T, at most 1. (n,)"""
    blocking, background = _save_parts(scenario, write_s, mode)
    lost = blocking + scenario.storage.background_loss_s + scenario.storage.slowdown_fraction * background
    _, _, used = _intervals(scenario, job, lost[None, :], (blocking + background)[None, :])
    return np.asarray(np.minimum(write_s / used[0], 1.0))


def _save_parts(scenario: Scenario, write_s: FloatArray, mode: str) -> tuple[FloatArray, FloatArray]:
    """The stop of a save, and what is written behind it. [s]"""
    if mode == "sync":
        return write_s, np.zeros_like(write_s)
    return np.full_like(write_s, scenario.storage.blocking_s), write_s


def sizing(
    scenario: Scenario, tiers: Sequence[FsxTier], needed_bytes_per_s: FloatArray, job: Job, jobs_writing: FloatArray
) -> FileSystems:
    """Size every tier for every needed rate: the least legal capacity that holds the generations and sustains it.

    Args:
        needed_bytes_per_s: W divided by the write efficiency. [B/s], (n,); infinity gives the generations' capacity.
        jobs_writing: How many jobs write at once, (n,).
    """
    storage, prices = scenario.storage, scenario.prices.storage_usd_per_gib_month
    tau = _column([tier.throughput_mb_per_s_per_tib for tier in tiers], 0.0)
    step = _column([tier.step_gib for tier in tiers], 0.0)
    efa = _column([float(tier.efa) for tier in tiers], 0.0) > 0.0
    held = (job.held_bytes + scenario.shared.used_bytes) / GIB / storage.max_fill
    together = needed_bytes_per_s * jobs_writing + scenario.shared.load_bytes_per_s / storage.write_efficiency
    fast = fsx.throughput_gib(np.where(np.isfinite(together), together, 0.0), tau)
    capacity = fsx.legal_capacity_gib(np.maximum(held, fast), step, _column([tier.small_gib for tier in tiers], 0.0))
    baseline = fsx.baseline_bytes_per_s(capacity, tau)
    reach = {over_efa: ceilings.node_reach(scenario, over_efa=over_efa) for over_efa in (False, True)}
    limit = _column([min(ceilings.client_limit(scenario, tier), reach[tier.efa]) for tier in tiers], np.inf)
    own = baseline_share(scenario, baseline, jobs_writing)
    per_server = _column([tier.client_server_bytes_per_s for tier in tiers], np.inf)
    price = _column([prices.at(tier.throughput_mb_per_s_per_tib) for tier in tiers], np.nan)
    wants_efa = together > AUTO_EFA_BYTES_PER_S
    allowed = {"auto": efa == wants_efa, "on": efa | np.zeros_like(wants_efa), "off": ~efa | np.zeros_like(wants_efa)}
    quota = np.inf if storage.quota_gib is None else storage.quota_gib
    stores = fsx.servers(capacity, step)
    client = fsx.client_bytes_per_s(stores, limit, per_server)
    within = allowed[storage.efa] & (capacity <= quota) & np.isfinite(needed_bytes_per_s)
    return FileSystems(
        capacity_gib=capacity,
        write_bytes_per_s=baseline,
        read_bytes_per_s=baseline,
        client_bytes_per_s=client,
        usd_per_month=np.round(capacity * price, 6),
        bound_by_capacity=held >= fast,
        allowed=within,
        usable=within & can_feed(scenario, job, client, needed_bytes_per_s, own),
        jobs_writing=jobs_writing,
    )


def baseline_share(scenario: Scenario, baseline_bytes_per_s: FloatArray, jobs_writing: FloatArray | float) -> FloatArray:
    """What of a baseline is there for this job: less the load of others, split among the jobs that write. [B/s], > 0"""
    load = scenario.shared.load_bytes_per_s / scenario.storage.write_efficiency
    return np.maximum((baseline_bytes_per_s - load) / jobs_writing, 1.0)


def can_feed(
    scenario: Scenario, job: Job, client_bytes_per_s: FloatArray, needed_bytes_per_s: FloatArray, baseline: FloatArray
) -> BoolArray:
    """Whether the writers reach the needed rate (W over the write efficiency); at full pace any rate will do."""
    if scenario.storage.pace == "full":
        return np.isfinite(baseline)
    wanted = np.minimum(needed_bytes_per_s, baseline) * scenario.storage.write_efficiency
    return np.asarray(reach_bytes_per_s(scenario, job, client_bytes_per_s) >= wanted * (1.0 - 1e-9))


def reach_bytes_per_s(scenario: Scenario, job: Job, client_bytes_per_s: FloatArray) -> FloatArray:
    """What all writers write together, the most loaded one setting the pace. [B/s]"""
    return job.writers * client_bytes_per_s / scenario.datapath.writer_skew_ratio


def node_limit_bytes_per_s(scenario: Scenario, tier: FsxTier) -> float:
    """What one node moves to this tier: the service's limit for a client, and what its own parts let through. [B/s]"""
    return min(ceilings.client_limit(scenario, tier), ceilings.node_reach(scenario, over_efa=tier.efa))


def fixed_tier(scenario: Scenario, tier: FsxTier, capacity_gib: float, jobs_writing: FloatArray) -> FileSystems:
    """A file system of a given tier and capacity, legal or not."""
    capacity = np.array([[capacity_gib]])
    baseline = fsx.baseline_bytes_per_s(capacity, np.array(tier.throughput_mb_per_s_per_tib))
    per_server = np.inf if tier.client_server_bytes_per_s is None else tier.client_server_bytes_per_s
    stores = fsx.servers(capacity, np.array(tier.step_gib))
    price = scenario.prices.storage_usd_per_gib_month.at(tier.throughput_mb_per_s_per_tib)
    return FileSystems(
        capacity_gib=capacity,
        write_bytes_per_s=baseline,
        read_bytes_per_s=baseline,
        client_bytes_per_s=fsx.client_bytes_per_s(
            stores, np.array(node_limit_bytes_per_s(scenario, tier)), np.array(per_server)
        ),
        usd_per_month=np.round(capacity * (np.nan if price is None else price), 6),
        bound_by_capacity=np.array([[False]]),
        allowed=np.array([[True]]),
        usable=np.array([[True]]),
        jobs_writing=jobs_writing,
    )


def existing(scenario: Scenario, jobs_writing: FloatArray) -> FileSystems:
    """The file system that exists (`storage.custom`); its nodes' flows bound it where they are counted."""
    custom = scenario.storage.custom
    assert custom is not None
    price = np.nan if custom.usd_per_month is None else custom.usd_per_month
    return FileSystems(
        capacity_gib=np.array([[custom.usable_bytes / GIB]]),
        write_bytes_per_s=np.array([[custom.write_bytes_per_s]]),
        read_bytes_per_s=np.array([[custom.read_bytes_per_s]]),
        client_bytes_per_s=np.array([[ceilings.custom_reach(scenario)]]),
        usd_per_month=np.array([[price]]),
        bound_by_capacity=np.array([[False]]),
        allowed=np.array([[True]]),
        usable=np.array([[True]]),
        jobs_writing=jobs_writing,
    )


def _intervals(scenario: Scenario, job: Job, lost: FloatArray, save: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """T*, the interval asked for, and the one that is used: in whole steps, at least a step, at most the run. [s]"""
    storage, step = scenario.storage, scenario.workload.step_s
    # T* follows from what a save costs alone: one row where all are alike, one number where that is the same everywhere
    few = lost[:1] if (lost == lost[:1]).all() else lost
    few = few[:, :1] if (few == few[:, :1]).all() else few
    best = interval.best_interval_s(
        few, job.rollback_mtbi_s, model=storage.interval_model, published_next_save=storage.published == "next_save"
    )
    best = best + np.zeros_like(lost)
    wanted = np.maximum(best, save) if storage.interval_s is None else np.full_like(best, storage.interval_s)
    used = wanted
    if storage.whole_steps:
        least = np.ceil(save / step - 1e-9) if storage.interval_s is None else 1.0
        used = step * np.maximum(np.maximum(np.rint(wanted / step), least), 1.0)
    return best, wanted, np.maximum(np.minimum(used, job.run_s), step)


def outcome(scenario: Scenario, job: Job, systems: FileSystems, write_s: FloatArray, mode: str) -> Outcome:
    """Follow the formulas from a write time to dollars.

    Args:
        systems: m file systems, arrays (m, n).
        write_s: Time allowed for a write. [s], (n,)
        mode: sync or async.

    Returns:
        Everything that depends on both, (m, n).
    """
    storage, shared = scenario.storage, scenario.shared
    clients = reach_bytes_per_s(scenario, job, systems.client_bytes_per_s)
    own = baseline_share(scenario, systems.write_bytes_per_s, systems.jobs_writing)
    rate = np.minimum(own * storage.write_efficiency, clients)
    writes_in = storage.latency_s + job.checkpoint_bytes / rate + np.zeros_like(write_s)
    write = writes_in if storage.pace == "full" else write_s + np.zeros_like(writes_in)
    blocking, background = _save_parts(scenario, write, mode)
    lost = blocking + storage.background_loss_s + storage.slowdown_fraction * background
    best, wanted, used = _intervals(scenario, job, lost, blocking + background)
    period = interval.save_period_s(used, blocking, background)
    durable = period if storage.published == "next_save" else blocking + background
    readers = scenario.workload.nodes * systems.client_bytes_per_s
    reads = np.maximum(systems.read_bytes_per_s * storage.read_efficiency - shared.load_bytes_per_s, 1.0)
    read = interruptions.restore_read_s(job.checkpoint_bytes, scenario.restore.copies, reads, readers)
    ways = job.ways
    restart = ways.restart_s(read)
    mean_rework = ways.rework_s(interval.mean_rework_s(period, durable), scenario.workload.step_s)
    saving = np.clip(interval.saving_fraction(used, lost, period), 0.0, 1.0)
    first = interval.first_order_waste_fraction(saving, mean_rework, restart, job.downtime_s, job.mtbi_s)
    exact = interval.exact_waste_fraction(
        interval_s=used,
        lost_s=lost,
        background_s=durable - blocking,
        period_s=period,
        restart_s=ways.rollback_restart_s(read),
        downtime_s=job.downtime_s,
        mtbi_s=job.rollback_mtbi_s,
    )
    exact = interval.with_pauses(exact, ways.pause_s(read, scenario.workload.step_s, job.downtime_s) / job.mtbi_s)
    if job.row_stop_fraction:
        first, exact = first + job.row_stop_fraction, 1.0 - (1.0 - exact) * max(1.0 - job.row_stop_fraction, 0.0)
        saving = np.minimum(saving + job.row_stop_fraction, 1.0)
    exact = np.maximum(exact, saving)
    first = np.where((first <= 1.0) & (used > lost), first, np.nan)
    chosen = exact if storage.waste_model == "exact" else first
    share = mean_rework / (mean_rework + restart + job.downtime_s)
    rework_planned, planned = _planned(scenario, job, job.restart_base_s + read, writes_in, period / 2.0 + durable)
    planned = np.where(np.isnan(chosen), planned, np.minimum(planned, 1.0 - chosen))
    lost_usd = cost.lost_usd_per_year(chosen + planned, job.gpus, job.gpu_value_usd_per_h)
    storage_usd = cost.storage_usd_per_year(systems.usd_per_month)
    zone = zone_bytes_per_month(scenario, job, period)
    other_usd = job.fixed_other_usd_per_year + MONTHS_PER_YEAR * (zone * job.zone_usd_per_byte if zone.any() else zone)
    return Outcome(
        write_s=write,
        writes_in_s=writes_in,
        blocking_s=blocking,
        lost_s=lost,
        durable_after_s=durable,
        best_interval_s=best,
        wanted_interval_s=wanted,
        interval_s=used,
        period_s=period,
        restore_read_s=read,
        restart_s=restart,
        saving_fraction=saving,
        first_order_fraction=first,
        exact_fraction=exact,
        chosen_fraction=chosen,
        mean_rework_s=mean_rework,
        worst_rework_s=ways.worst_s(interval.worst_rework_s(period, durable), scenario.workload.step_s),
        rework_fraction=(chosen - saving) * share,
        restart_fraction=(chosen - saving) * (1.0 - share),
        planned_rework_s=rework_planned,
        planned_fraction=planned,
        lost_usd_per_year=lost_usd,
        storage_usd_per_year=storage_usd + np.zeros_like(lost_usd),
        zone_bytes_per_month=zone,
        other_usd_per_year=other_usd,
        total_usd_per_year=lost_usd + storage_usd + other_usd,
    )


def _planned(
    scenario: Scenario, job: Job, restart_s: FloatArray, final_save_s: FloatArray, rework_s: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """What a planned stop costs besides the restart, and the share of time that they take; 0 without them."""
    planned = scenario.planned
    full = np.zeros_like(final_save_s + restart_s)
    if planned.every_s is None:
        return full, full
    lost = beyond.planned_rework_s(final_save_s, planned.notice_s, rework_s)
    return lost + full, beyond.planned_fraction(restart_s, planned.queue_s, lost, planned.every_s) + full
