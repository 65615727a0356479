"""The input rows of the sheet: what drives its formulas, with sources, and what no cell can work out, as values."""

from __future__ import annotations

import math

import numpy as np

from ckptplanner.data.records import FsxTier
from ckptplanner.engine import ceilings
from ckptplanner.engine.candidates import tier_like
from ckptplanner.engine.job import Job
from ckptplanner.engine.plan import Option, Plan, Schedule
from ckptplanner.engine.replicas import group_loss_rate_per_s
from ckptplanner.engine.restarts import Part
from ckptplanner.engine.scenario import Scenario, storage_price_path
from ckptplanner.engine.sheet.kind import Kind
from ckptplanner.engine.sheet.rows import Formula, Sheet
from ckptplanner.engine.tables import InputRow, Translate
from ckptplanner.frozen import FloatArray
from ckptplanner.text import Text, text

# the inputs that drive the formulas, in the order of the sheet; key in the formulas -> field path
_INPUTS = {
    "total": "workload.total_params", "frozen": "workload.frozen_params",
    "frozen_each": "workload.frozen_bytes_per_param", "measured": "workload.measured_bytes",
    "nodes": "workload.nodes", "gpus_per_node": "workload.gpus_per_node", "writer": "workload.writer",
    "step": "workload.step_s", "mtbi_given": "failures.mtbi_s", "mtbi_nodes": "failures.mtbi_nodes",
    "detect": "failures.detect_s", "reschedule": "failures.reschedule_s", "start": "failures.start_s",
    "downtime": "failures.downtime_s", "mode": "storage.mode", "stop_given": "storage.blocking_s",
    "write_given": "storage.write_s", "interval_given": "storage.interval_s",
    "interval_model": "storage.interval_model", "waste_model": "storage.waste_model",
    "generations": "storage.generations_kept", "write_share": "storage.write_efficiency",
    "read_share": "storage.read_efficiency", "fill": "storage.max_fill", "background": "storage.background_loss_s",
    "slowdown": "storage.slowdown_fraction", "latency": "storage.latency_s", "pace": "storage.pace",
    "published": "storage.published", "whole": "storage.whole_steps", "copies": "restore.copies", "days": "run.days",
    "node_price": "prices.node_usd_per_h", "gpu_value": "prices.gpu_value_usd_per_h",
    "skew": "datapath.writer_skew_ratio", "used": "shared.used_bytes", "load": "shared.load_bytes_per_s", "jobs": "shared.jobs",
    "stop_every": "planned.every_s", "notice": "planned.notice_s", "queue": "planned.queue_s",
    "spares": "spares.nodes", "spare_wait": "spares.wait_s", "node_loss": "replication.node_loss_interval_s",
    "same_zone": "network.same_zone", "zone_price": "prices.cross_zone_usd_per_gb", "s3_price": "prices.s3_usd_per_gb_month",
}  # fmt: skip
_LAW_INPUTS = {
    "law": "failures.law", "weibull_shape": "failures.weibull_shape", "lognormal_shape": "failures.lognormal_shape",
    "gaps": "failures.gaps_s", "clock": "failures.clock", "fleet_age": "failures.fleet_age_s",
}  # fmt: skip
_LEVEL_INPUTS = {
    "process_share": "failures.process_share", "node_share": "failures.node_share", "cluster_share": "failures.cluster_share",
    "local_on": "local.enabled", "local_stop": "local.blocking_s", "local_write": "local.durable_s",
    "local_restart_given": "local.restart_s", "local_interval_given": "local.interval_s", "ratio_given": "local.ratio",
    "uploads": "local.uploads", "factor": "replication.factor", "jump": "replication.jump",
}  # fmt: skip
_CUSTOM_INPUTS = {
    "write_rate": "storage.custom.write_bytes_per_s", "read_rate": "storage.custom.read_bytes_per_s",
    "usable": "storage.custom.usable_bytes", "storage_month": "storage.custom.usd_per_month",
}  # fmt: skip


def given(sheet: Sheet, plan: Plan, inputs: dict[str, InputRow], kind: Kind) -> None:
    """Every input that drives the formulas of this kind of plan, and the file system that it chose."""
    scenario, chosen = plan.scenario, plan.storage.chosen
    sheet.heading(text("Inputs"))
    _layout(sheet, scenario, inputs["workload.layout"])
    _given(sheet, inputs, _INPUTS)
    if kind.renewal or kind.ages:
        _given(sheet, inputs, _LAW_INPUTS)
    if kind.levels:
        _given(sheet, inputs, _LEVEL_INPUTS)
    if kind.custom:
        _given(sheet, inputs, _CUSTOM_INPUTS)
        reach = ceilings.custom_reach(scenario)
        limit = reach if math.isfinite(reach) else None
        path = "datapath.client_bytes_per_s"
        sheet.add("client", text("One node moves at most, empty = no limit"), limit, "B/s", _source(inputs[path]), path)
    elif chosen is not None:
        _file_system(sheet, scenario, chosen, inputs)


def _source(row: InputRow) -> str:
    return ", ".join(part for part in (row.source, row.source_text, row.date) if part)


def _given(sheet: Sheet, inputs: dict[str, InputRow], keys: dict[str, str]) -> None:
    for key, path in keys.items():
        row = inputs[path]
        sheet.add(key, text(row.title), row.value, row.unit, _source(row), path)


def _layout(sheet: Sheet, scenario: Scenario, row: InputRow) -> None:
    """One row for each part of what is saved for a parameter, and their sum."""
    parts = scenario.workload.layout
    for index, part in enumerate(parts):
        label = text("Saved for each: {what}", what=part.what)
        sheet.add(f"part{index}", label, part.bytes_per_param, "B/param", _source(row), row.path)
    total = Formula("=" + "+".join(f"{{part{index}}}" for index in range(len(parts))))
    sheet.add("each", text("Saved for each, sum"), total, "B/param", path="workload.bytes_per_param")


def _file_system(sheet: Sheet, scenario: Scenario, chosen: Option, inputs: dict[str, InputRow]) -> None:
    """The chosen tier: what the service offers, what it costs, and its capacity where that is fixed."""
    throughput = chosen.throughput_mb_per_s_per_tib or 0.0
    tier = tier_like(scenario, throughput, efa=chosen.efa)
    is_fixed = scenario.storage.tier != "auto"
    price_path = storage_price_path(throughput)
    price = inputs.get(price_path)
    source = ", ".join(part for part in (tier.source, tier.date) if part)
    efa = text(", EFA") if chosen.efa else text("")
    sheet.add("tau", text("FSx throughput{efa}", efa=efa), throughput, "MB/s/TiB", source, "storage.tier")
    sheet.add("growth", text("Capacity grows by"), tier.step_gib, "GiB", source)
    sheet.add("small", text("Smaller size allowed, 0 = none"), tier.small_gib or 0.0, "GiB", source)
    sheet.add(
        "fixed", text("Capacity fixed, empty = sized"), chosen.capacity_gib if is_fixed else None, "GiB", path="storage.tier"
    )
    sheet.add("client_limit", text("One client moves at most"), _client_limit(scenario, tier), "B/s", source)
    sheet.add("per_server", text("and to each server, empty = no limit"), tier.client_server_bytes_per_s, "B/s", source)
    sheet.add(
        "gib_price", text("Price of a GiB-month"), price.value if price else None, "USD/GiB-month",
        _source(price) if price else "", price_path if price else "",
    )  # fmt: skip


def _client_limit(scenario: Scenario, tier: FsxTier) -> float:
    return min(ceilings.client_limit(scenario, tier), ceilings.node_reach(scenario, over_efa=tier.efa))


def values(sheet: Sheet, plan: Plan, job: Job, kind: Kind, translate: Translate) -> None:
    """What no cell can work out, as values: sums over rows, a binomial, the sums of a law, the groups of replicas."""
    scenario = plan.scenario
    rows, held = scenario.saves, scenario.storage.generations_kept * job.checkpoint_bytes * scenario.shared.jobs
    sizes = [row.bytes or job.checkpoint_bytes for row in rows]
    written = sum(size / row.every_s for size, row in zip(sizes, rows, strict=True) if row.to == "shared" and row.every_s)
    writing, s3 = (plan.beyond.jobs_writing, plan.beyond.s3_mean_bytes) if plan.beyond else (1.0, 0.0)
    saves = translate(text("a value: the sum over the rows of other saves"))
    binomial = translate(text("a value: 95 % point of a binomial of the jobs and of t_w / T"))
    sheet.heading(text("Worked out by the planner, not by cells"))
    sheet.add("other_stops", text("Stopped by other saves"), job.row_stop_fraction, "1", saves, "saves")
    sheet.add("other_held", text("Kept by other saves on the file system"), job.held_bytes - held, "B", saves, "saves")
    sheet.add("other_written", text("Written by other saves to the file system"), written, "B/s", saves, "saves")
    sheet.add("s3_bytes", text("In S3, on average over the run"), s3, "B", saves, "saves")
    sheet.add("writing", text("Jobs that write at once"), writing, "", binomial, "shared.jobs")
    if kind.classes:
        _class_sums(sheet, job, translate(text("a value: the sum over the rows of restart classes")))
    if kind.levels:
        groups = translate(text("a value: the groups of replicas one by one, racks included"))
        rate = group_loss_rate_per_s(scenario) or 0.0
        sheet.add("group_rate", text("Groups that lose every copy"), rate, "1/s", groups, "replication.factor")
    if kind.ages:
        renewals = translate(text("a value: the renewal function of the Weibull law over the run"))
        failures = job.run_s / (scenario.workload.nodes * job.mtbi_s)
        sheet.add("node_failures", text("Failures of one node in the run"), failures, "", renewals, "failures.clock")
    if kind.renewal and plan.schedule is not None:
        _law_sums(sheet, scenario, job, plan.schedule, translate)


def _law_sums(sheet: Sheet, scenario: Scenario, job: Job, schedule: Schedule, translate: Translate) -> None:
    """E4's sum at the interval of this plan, and the interval where E4 is largest."""
    from ckptplanner.engine.save_sums import covered_s

    restart_s = job.ways.rollback_restart_s(np.asarray(schedule.restore_read_s))
    first_s = restart_s + schedule.durable_after_s - schedule.blocking_s + schedule.interval_s
    usable = float(covered_s(job.law, np.asarray(first_s), np.asarray(schedule.period_s))) / schedule.period_s
    searched = translate(text("a value: found by search, where E4 is largest under the law of the gaps"))
    summed = translate(text("a value: E4's sum of survival chances at the T of this plan; it holds for these inputs alone"))
    best_s = _searched_s(scenario, job, schedule, restart_s)
    sheet.add("exact_end", text("Exact, restorable when written"), best_s, "s", searched, "failures.law")
    sheet.add("usable", text("Usable saves at an interruption"), usable, "", summed, "failures.law")


def _searched_s(scenario: Scenario, job: Job, schedule: Schedule, restart_s: FloatArray) -> float:
    """The interval where E4 is largest: the plan's own, or searched for where the plan takes another model's. [s]"""
    from ckptplanner.engine.renewal import renewal_best_interval_s

    if scenario.storage.interval_model == "exact" and scenario.storage.published == "write_end":
        return schedule.best_interval_s
    background = np.asarray(0.0 if schedule.mode == "sync" else schedule.write_s)
    lost = np.asarray(schedule.lost_per_save_s)
    return float(renewal_best_interval_s(law=job.law, lost_s=lost, background_s=background, restart_s=restart_s))


def _class_sums(sheet: Sheet, job: Job, source: str) -> None:
    kinds = [("back", text("Back to a save"), job.ways.rollback)]
    if job.ways.pause is not None:
        kinds.append(("pause", text("Lose a step only"), job.ways.pause))
    if job.levels is not None:
        kinds.append(("near", text("Back to a local save"), job.levels.local))
        kinds.append(("far", text("Back to a shared save"), job.levels.shared))
    for key, name, part in kinds:
        _class_sum(sheet, key, name, part, source)


def _class_sum(sheet: Sheet, key: str, name: Text, part: Part, source: str) -> None:
    path = "restart.classes"
    sheet.add(f"{key}_share", text("{kind}: share", kind=name), part.share, "1", source, path)
    sheet.add(f"{key}_base", text("{kind}: before shared storage is read", kind=name), part.base_s, "s", source, path)
    sheet.add(f"{key}_reads", text("{kind}: of them read shared storage", kind=name), part.reads_shared, "1", source, path)
