"""evaluate(Scenario) -> Plan: unpack the inputs, follow the formulas for the present write time, choose, and check.

The choice of a file system comes first, since the restart time depends on how fast it reads; then interval, waste and
dollars follow from it. Findings come last and never stop the rest: a part that cannot be computed is None.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import lru_cache
from typing import TypeVar

import numpy as np

from ckptplanner.engine import checkpoint as ck
from ckptplanner.engine import checks, cost, interval
from ckptplanner.engine.beyond_plan import Context, beyond_plan
from ckptplanner.engine.candidates import Candidate, candidates, choose, chosen_alone, names_of, rank
from ckptplanner.engine.datapath import Way, data_path, near_read_s
from ckptplanner.engine.host_ram import host_ram
from ckptplanner.engine.job import Job, job_of, lost_node_wait_s
from ckptplanner.engine.losses import model_of
from ckptplanner.engine.node_plan import Beyond, DataPath, ReplicationPlan
from ckptplanner.engine.outcome import Outcome, baseline_share
from ckptplanner.engine.plan import Checkpoint, Cost, Level, Levels, Option, Plan, Schedule, StoragePlan, Waste
from ckptplanner.engine.replicas import replication_plan
from ckptplanner.engine.scenario import NamedScenario, Scenario
from ckptplanner.frozen import FloatArray

Value = TypeVar("Value")


@lru_cache(maxsize=512)
def evaluate(scenario: Scenario) -> Plan:
    """Return the plan that follows from a scenario. Pure; remembered, so undo and comparison cost nothing."""
    job = job_of(scenario)
    found = candidates(scenario, job)
    chosen = choose(scenario, found)
    needed = _required(scenario, job, chosen)
    storage = StoragePlan(
        required_write_bytes_per_s=needed,
        chosen=chosen.option if chosen else None,
        options=tuple(candidate.option for candidate in sorted(found, key=rank)),
    )
    schedule = _schedule(scenario, job, chosen.outcome) if chosen else None
    levels = _levels(scenario, job, chosen.outcome) if chosen else None
    way = _way(scenario, job, chosen, schedule, levels)
    path = data_path(way)
    beyond = _beyond(scenario, job, chosen, schedule, way, path, needed)
    plan = Plan(
        scenario=scenario,
        checkpoint=Checkpoint(job.checkpoint_bytes, ck.bytes_per_writer(job.checkpoint_bytes, job.writers)),
        schedule=schedule,
        waste=_waste(scenario, job, chosen.outcome) if chosen else None,
        storage=storage,
        cost=_cost(scenario, job, chosen.outcome) if chosen else None,
        findings=(),
        replication=_replicas(scenario, job, schedule, levels, path),
        datapath=path,
        host_ram=host_ram(way, job.mtbi_s),
        beyond=beyond,
        levels=levels,
    )
    return replace(plan, findings=checks.findings(plan))


def priced(scenario: Scenario) -> tuple[Option | None, Cost | None]:
    """The file system that is chosen and its dollars: what `evaluate` says of them to the last bit, in a quarter of its time.

    Not remembered: it is for questions that ask for thousands of scenarios and for nothing else in them.
    """
    job = job_of(scenario)
    chosen = chosen_alone(scenario, job)
    return (chosen.option, _cost(scenario, job, chosen.outcome)) if chosen else (None, None)


def _way(scenario: Scenario, job: Job, chosen: Candidate | None, schedule: Schedule | None, levels: Levels | None) -> Way:
    """What the data path is built from."""
    period_s = levels.local.interval_s if levels else schedule.period_s if schedule else None
    option, tier = (chosen.option, chosen.tier) if chosen else (None, None)
    own_write = own_read = None
    if chosen is not None:
        own = baseline_share(scenario, chosen.systems.write_bytes_per_s, chosen.systems.jobs_writing)
        own_write = float(own[0, 0]) * scenario.storage.write_efficiency
        reads = float(chosen.systems.read_bytes_per_s[0, 0]) * scenario.storage.read_efficiency
        own_read = max(reads - scenario.shared.load_bytes_per_s, 1.0)
    uploads = [row for row in scenario.saves if row.to == "s3"]
    nodes = {"single": 1, "sharded": scenario.workload.nodes}
    upload = max(uploads, key=lambda row: (row.bytes or job.checkpoint_bytes) / nodes[row.writer], default=None)
    return Way(
        scenario=scenario,
        checkpoint_bytes=job.checkpoint_bytes,
        option=option,
        tier=tier,
        write_s=schedule.write_s if schedule else None,
        period_s=period_s,
        blocking_s=schedule.blocking_s if schedule else scenario.storage.blocking_s,
        own_write_bytes_per_s=own_write,
        own_read_bytes_per_s=own_read,
        s3_bytes=(upload.bytes or job.checkpoint_bytes) if upload else 0.0,
        s3_is_single=upload is not None and upload.writer == "single",
    )


def _levels(scenario: Scenario, job: Job, result: Outcome) -> Levels | None:
    """The two levels, where local saves are made."""
    rates, local = job.levels, scenario.local
    if rates is None:
        return None
    one = {name: float(getattr(result, name)[0, 0]) for name in names_of(Outcome)}
    waste = _known(result.exact_fraction) if _saves_fit(scenario, result) else None
    ratio = round(one["ratio"])
    without = {"local": local.model_copy(update={"enabled": False}), "failures": scenario.failures.memoryless}
    alone = evaluate(scenario.model_copy(update=without))  # two levels are computed for memoryless interruptions, so like them
    own = None if waste is None else waste * one["local_fraction"]
    return Levels(
        local=Level(
            one["local_interval_s"], 1, local.blocking_s, local.blocking_s + local.durable_s,
            rates.local.base_s,
            rates.local_mtbi_s if math.isfinite(rates.local_mtbi_s) else None, own,
        ),
        shared=Level(
            one["period_s"], ratio, one["blocking_s"], one["durable_after_s"],
            rates.shared.base_s + rates.shared.reads_shared * one["restore_read_s"],
            rates.shared_mtbi_s if rates.shared_share > 0.0 else None,
            None if waste is None or own is None else waste - own,
        ),
        ratio=ratio,
        waste_fraction=waste,
        single_level_fraction=alone.waste.exact_fraction if alone.waste else None,
    )  # fmt: skip


def _replicas(
    scenario: Scenario, job: Job, schedule: Schedule | None, levels: Levels | None, path: DataPath
) -> ReplicationPlan:
    written, read = path.phase("replicate").seconds, near_read_s(scenario, job.checkpoint_bytes, "replica")
    durable = None if schedule is None or written is None else schedule.blocking_s + written
    period = schedule.period_s if schedule else None
    if levels is not None:
        period, durable = levels.local.interval_s, levels.local.durable_after_s
    replaced = job.restart_base_s + scenario.failures.downtime_s + lost_node_wait_s(scenario)
    return replication_plan(scenario, job.checkpoint_bytes, period, durable, read, replaced)


def _beyond(
    scenario: Scenario,
    job: Job,
    chosen: Candidate | None,
    schedule: Schedule | None,
    way: Way,
    path: DataPath,
    needed_bytes_per_s: float,
) -> Beyond | None:
    if chosen is None or schedule is None:
        return None
    rework, zone = (float(getattr(chosen.outcome, name)[0, 0]) for name in ("planned_rework_s", "zone_bytes_per_month"))
    writing = float(np.ravel(chosen.systems.jobs_writing)[0])
    return beyond_plan(Context(scenario, job, way, path, schedule, needed_bytes_per_s, rework, zone, writing))


@lru_cache(maxsize=128)
def plan_of(named: NamedScenario) -> Plan:
    """The plan of a named scenario, with what its sources say added to the findings."""
    plan = evaluate(named.scenario)
    more = checks.source_findings(named)
    return replace(plan, findings=checks.by_severity((*plan.findings, *more))) if more else plan


def _required(scenario: Scenario, job: Job, chosen: Candidate | None) -> float:
    """W = S / t_w, or S over what the write really takes where the pace is full. [B/s]"""
    write = scenario.storage.write_s
    if scenario.storage.pace == "full" and scenario.storage.custom is not None and chosen is not None:
        write = float(chosen.outcome.write_s[0, 0])
    left = write - scenario.storage.latency_s
    return job.checkpoint_bytes / (left if left > 0 else write) if job.checkpoint_bytes else 0.0


def _known(values: FloatArray) -> float | None:
    value = float(values[0, 0])
    return value if math.isfinite(value) else None


def _schedule(scenario: Scenario, job: Job, result: Outcome) -> Schedule:
    one = {name: float(getattr(result, name)[0, 0]) for name in names_of(Outcome)}
    mtbi_s = job.rollback_mtbi_s if job.levels is None else job.levels.shared_mtbi_s
    young = float(interval.young_interval_s(result.lost_s, mtbi_s)[0, 0])
    return Schedule(
        mode=scenario.storage.mode,
        mtbi_s=job.mtbi_s,
        interval_s=one["interval_s"],
        interval_steps=max(1, round(one["interval_s"] / scenario.workload.step_s)),
        young_interval_s=young,
        best_interval_s=one["best_interval_s"],
        period_s=one["period_s"],
        blocking_s=one["blocking_s"],
        lost_per_save_s=one["lost_s"],
        write_s=one["write_s"],
        writes_in_s=one["writes_in_s"],
        durable_after_s=one["durable_after_s"],
        restore_read_s=one["restore_read_s"],
        restart_s=one["restart_s"],
        reach_s=min((scenario.storage.generations_kept - 1) * one["period_s"], job.run_s),
    )


def _saves_fit(scenario: Scenario, result: Outcome) -> bool:
    """Whether the saves leave time for training between them, the local ones too."""
    fits = float(result.interval_s[0, 0]) > float(result.lost_s[0, 0])
    local = scenario.local
    return fits and (not local.enabled or float(result.local_interval_s[0, 0]) > local.blocking_s)


def _waste(scenario: Scenario, job: Job, result: Outcome) -> Waste:
    makes_sense = _saves_fit(scenario, result)
    exact = _known(result.exact_fraction) if makes_sense else None
    saving = _known(result.saving_fraction) if makes_sense else None
    planned = _known(result.planned_fraction) if makes_sense else None
    chosen = _known(result.chosen_fraction) if makes_sense else None
    return Waste(
        model=scenario.storage.waste_model,
        exact_model=model_of(job),
        first_order_fraction=_known(result.first_order_fraction) if makes_sense else None,
        exact_fraction=exact,
        chosen_fraction=chosen,
        saving_fraction=saving,
        interruption_fraction=exact - saving if exact is not None and saving is not None else None,
        planned_fraction=planned,
        total_fraction=min(chosen + planned, 1.0) if chosen is not None and planned is not None else None,
        mean_rework_s=float(result.mean_rework_s[0, 0]),
        worst_rework_s=float(result.worst_rework_s[0, 0]),
    )


def _cost(scenario: Scenario, job: Job, result: Outcome) -> Cost:
    makes_sense = _saves_fit(scenario, result)

    def lost(fraction: FloatArray) -> float | None:
        return _known(cost.lost_usd_per_year(fraction, job.gpus, job.gpu_value_usd_per_h)) if makes_sense else None

    storage, other = _known(result.storage_usd_per_year), _known(result.other_usd_per_year)
    fractions = (result.saving_fraction, result.rework_fraction, result.restart_fraction, result.planned_fraction)
    stalled, rework, restart, planned = map(lost, fractions)
    gpu = _sum(stalled, rework, restart, planned)
    hours = _known(cost.lost_gpu_h_per_year(result.saving_fraction, job.gpus)) if makes_sense else None
    return Cost(
        storage_usd_per_year=storage,
        stalled_gpu_usd_per_year=stalled,
        rework_usd_per_year=rework,
        restart_usd_per_year=restart,
        planned_usd_per_year=planned,
        other_usd_per_year=other,
        total_usd_per_year=_sum(storage, gpu, other),
        stalled_gpu_h_per_year=hours,
        lost_gpu_usd_per_year=gpu,
    )


def _sum(*parts: float | None) -> float | None:
    """The sum, None where a part is not known."""
    known = [part for part in parts if part is not None]
    return sum(known) if len(known) == len(parts) else None
