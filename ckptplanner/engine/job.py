"""What a whole job has in common, whatever file system and write time it gets: Scenario -> Job (docs/models.md 5, 14, 16)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ckptplanner.engine import beyond, interruptions, restarts
from ckptplanner.engine import checkpoint as ck
from ckptplanner.engine.laws import Exponential, Law, law_of
from ckptplanner.engine.replicas import group_loss_rate_per_s
from ckptplanner.engine.scenario import Scenario
from ckptplanner.units import DAY, GB, HOURS_PER_YEAR, MONTHS_PER_YEAR

GROUPS_OF_GAPS = 32


@dataclass(frozen=True, slots=True)
class LevelRates:
    """How often the job goes back to each of two levels, and how it restarts from there."""

    local: restarts.Part
    shared: restarts.Part
    mtbi_s: float
    group_losses: float  # share of all interruptions in which every copy of a shard is lost; moved from local to shared

    @property
    def local_share(self) -> float:
        """Share of interruptions that go back to the nodes' own drives."""
        return max(self.local.share - self.group_losses, 0.0)

    @property
    def shared_share(self) -> float:
        """Share that goes back to shared storage."""
        return self.local.share + self.shared.share - self.local_share

    @property
    def local_mtbi_s(self) -> float:
        """M1. [s]; infinity where nothing restarts locally"""
        return self.mtbi_s / self.local_share if self.local_share else np.inf

    @property
    def shared_mtbi_s(self) -> float:
        """M3. [s]; never quite infinite, so that T3 stays finite"""
        return self.mtbi_s / max(self.shared_share, 1e-9)


@dataclass(frozen=True, slots=True)
class Job:
    """The numbers of a scenario that no file system and no write time changes."""

    checkpoint_bytes: float
    held_bytes: float  # on the file system: the generations of all jobs, and what other saves keep there
    writers: int
    mtbi_s: float
    law: Law  # of the gaps between interruptions that go back to a save
    restart_base_s: float
    ways: restarts.Ways
    levels: LevelRates | None  # None where there is one level
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


def job_of(scenario: Scenario) -> Job:
    """Work out what the whole job has in common."""
    work, prices, storage = scenario.workload, scenario.prices, scenario.storage
    size = work.measured_bytes or ck.checkpoint_bytes(
        work.total_params, work.frozen_params, work.bytes_per_param, work.frozen_bytes_per_param
    )
    node_price = np.nan if prices.node_usd_per_h is None else prices.node_usd_per_h
    value = prices.gpu_value_usd_per_h
    run_s = scenario.run.days * DAY
    mtbi_s = _mtbi_s(scenario, run_s)
    ways = restarts.ways(scenario, size)
    s3_mean = _s3_mean_bytes(scenario, size, run_s)
    return Job(
        checkpoint_bytes=size,
        held_bytes=(storage.generations_kept * size + _other_saves_bytes(scenario, size, run_s)) * scenario.shared.jobs,
        writers=work.nodes if work.writer == "sharded" else 1,
        mtbi_s=mtbi_s,
        law=_law(scenario, mtbi_s / ways.save_share),
        restart_base_s=scenario.failures.restart_base_s,
        ways=ways,
        levels=_level_rates(scenario, size, mtbi_s) if scenario.local.enabled else None,
        downtime_s=scenario.failures.downtime_s + mean_wait_s(scenario, mtbi_s),
        row_stop_fraction=sum(beyond.stop_fraction(row.stop_s, row.every_s, run_s) for row in scenario.saves),
        s3_mean_bytes=s3_mean,
        fixed_other_usd_per_year=_fixed_other_usd(scenario, s3_mean),
        zone_usd_per_byte=0.0 if scenario.network.same_zone else _or_nan(prices.cross_zone_usd_per_gb) / GB,
        gpus=work.nodes * work.gpus_per_node,
        gpu_value_usd_per_h=node_price / work.gpus_per_node if value is None else value,
        run_s=run_s,
    )


def _mtbi_s(scenario: Scenario, run_s: float) -> float:
    """M of this job: scaled to its nodes; where each node ages by itself, as its age in this run has it. [s]"""
    failures, nodes = scenario.failures, scenario.workload.nodes
    mtbi_s = interruptions.scaled_mtbi_s(failures.mtbi_s, failures.mtbi_nodes, nodes)
    if not ages(scenario):
        return mtbi_s
    from ckptplanner.engine.fleet import fleet_mtbi_s

    return fleet_mtbi_s(mtbi_s, nodes, failures.weibull_shape, failures.fleet_age_s, run_s)


def ages(scenario: Scenario) -> bool:
    """Whether the age of the nodes changes how often the job is interrupted (docs/models.md 15.3)."""
    failures = scenario.failures
    return failures.clock == "nodes" and failures.law == "weibull" and failures.weibull_shape != 1.0


def _law(scenario: Scenario, mean_s: float) -> Law:
    """The law of the gaps; many clocks that age by themselves are close to memoryless together."""
    failures = scenario.failures
    if failures.clock == "nodes":
        return Exponential(mean_s)
    if failures.law == "empirical" and failures.gaps_s:
        from ckptplanner.engine.save_sums import Grouped

        # the gaps as they are would reward an interval that ends right before one of them: a plan is not for the past
        return Grouped(mean_s, failures.gaps_s, min(len(failures.gaps_s), GROUPS_OF_GAPS))
    return law_of(
        failures.law, mean_s, weibull_shape=failures.weibull_shape, lognormal_shape=failures.lognormal_shape,
        gaps_s=failures.gaps_s,
    )  # fmt: skip


def _level_rates(scenario: Scenario, checkpoint_bytes: float, mtbi_s: float) -> LevelRates:
    """The rates of both levels; a lost group goes back to shared storage."""
    local, shared = restarts.level_ways(scenario, checkpoint_bytes)
    groups = group_loss_rate_per_s(scenario) or 0.0
    return LevelRates(local, shared, mtbi_s, min(groups * mtbi_s, local.share))


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
