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
from ckptplanner.engine import beyond, ceilings, cost, fsx, interruptions
from ckptplanner.engine.job import Job
from ckptplanner.engine.losses import Costs, Losses, intervals, losses
from ckptplanner.engine.scenario import AUTO_EFA_BYTES_PER_S, Scenario
from ckptplanner.frozen import BoolArray, FloatArray
from ckptplanner.units import GIB, HOUR, HOURS_PER_YEAR, MONTHS_PER_YEAR

MONTH_S = HOURS_PER_YEAR / MONTHS_PER_YEAR * HOUR


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
class Outcome(Losses):
    """What follows for every file system and write time; all (m, n)."""

    write_s: FloatArray
    writes_in_s: FloatArray
    blocking_s: FloatArray
    lost_s: FloatArray
    restore_read_s: FloatArray
    chosen_fraction: FloatArray
    rework_fraction: FloatArray
    restart_fraction: FloatArray
    planned_rework_s: FloatArray
    planned_fraction: FloatArray
    lost_usd_per_year: FloatArray
    storage_usd_per_year: FloatArray
    zone_bytes_per_month: FloatArray
    other_usd_per_year: FloatArray
    total_usd_per_year: FloatArray


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


def writing_at_once(
    scenario: Scenario, job: Job, write_s: FloatArray, mode: str, interval_s: FloatArray | None = None
) -> FloatArray:
    """How many jobs write at once to the file system, at their 95 % point. (n,); 1 where this job is alone."""
    jobs = scenario.shared.jobs
    if jobs == 1:
        return np.ones_like(write_s)
    return beyond.jobs_writing(jobs, writing_duty(scenario, job, write_s, mode, interval_s))


def writing_duty(
    scenario: Scenario, job: Job, write_s: FloatArray, mode: str, interval_s: FloatArray | None = None
) -> FloatArray:
    """The share of the time in which one job writes, t_w / T, at most 1. (n,)"""
    blocking, background = _save_parts(scenario, write_s, mode)
    lost = _lost_s(scenario, blocking, background)
    # what a restart reads is not known yet; where the gaps have a memory it moves T* a little
    costs = Costs(blocking[None, :], background[None, :], lost[None, :], np.zeros_like(lost[None, :]))
    _, _, used = intervals(scenario, job, costs, interval_s)
    return np.asarray(np.minimum(write_s / used[0], 1.0))


def _lost_s(scenario: Scenario, blocking_s: FloatArray, background_s: FloatArray) -> FloatArray:
    """Training lost per save: the stop, and what the write in the background slows down. [s]"""
    storage = scenario.storage
    return blocking_s + storage.background_loss_s + storage.slowdown_fraction * background_s


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


def outcome(
    scenario: Scenario,
    job: Job,
    systems: FileSystems,
    write_s: FloatArray,
    mode: str,
    interval_s: FloatArray | None = None,
) -> Outcome:
    """Follow the formulas from a write time to dollars.

    Args:
        systems: m file systems, arrays (m, n).
        write_s: Time allowed for a write. [s], (n,)
        mode: sync or async.
        interval_s: Intervals to use in the place of what the scenario says. [s], (m, n) or broadcastable.

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
    readers = scenario.workload.nodes * systems.client_bytes_per_s
    reads = np.maximum(systems.read_bytes_per_s * storage.read_efficiency - shared.load_bytes_per_s, 1.0)
    read = interruptions.restore_read_s(job.checkpoint_bytes, scenario.restore.copies, reads, readers)
    costs = Costs(blocking, background, _lost_s(scenario, blocking, background), read)
    lost = losses(scenario, job, costs, interval_s)
    chosen = lost.exact_fraction if storage.waste_model == "exact" else lost.first_order_fraction
    share = lost.mean_rework_s / (lost.mean_rework_s + lost.restart_s + job.downtime_s)
    rework = lost.period_s / 2.0 + lost.durable_after_s
    rework_planned, planned = _planned(scenario, job, job.restart_base_s + read, writes_in, rework)
    total = chosen
    if scenario.planned.every_s is not None:
        planned = np.where(np.isnan(chosen), planned, np.minimum(planned, 1.0 - chosen))
        total = chosen + planned
    lost_usd = cost.lost_usd_per_year(total, job.gpus, job.gpu_value_usd_per_h)
    storage_usd = cost.storage_usd_per_year(systems.usd_per_month)
    zone = zone_bytes_per_month(scenario, job, lost.period_s)
    other_usd = job.fixed_other_usd_per_year + MONTHS_PER_YEAR * (zone * job.zone_usd_per_byte if zone.any() else zone)
    return Outcome(
        **{name: getattr(lost, name) for name in Losses.__slots__},
        write_s=write,
        writes_in_s=writes_in,
        blocking_s=blocking,
        lost_s=costs.lost_s,
        restore_read_s=read,
        chosen_fraction=chosen,
        rework_fraction=(chosen - lost.saving_fraction) * share,
        restart_fraction=(chosen - lost.saving_fraction) * (1.0 - share),
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
    full = np.zeros(np.broadcast_shapes(final_save_s.shape, restart_s.shape))
    if planned.every_s is None:
        return full, full
    lost = beyond.planned_rework_s(final_save_s, planned.notice_s, rework_s)
    return lost + full, beyond.planned_fraction(restart_s, planned.queue_s, lost, planned.every_s) + full
