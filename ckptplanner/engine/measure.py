"""Where a value could come from: how it is measured, what the catalog says, and what others have published."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ckptplanner.data import catalog
from ckptplanner.data.records import Row
from ckptplanner.engine.scenario import STORAGE_PRICE_PATH, NamedScenario, Scenario
from ckptplanner.frozen import spec_of
from ckptplanner.text import Text, text

_IOR = text(
    "Run IOR or fio on the file system: one file a rank, blocks of 1 MiB or more, all nodes, for longer than the burst "
    "lasts. Divide the rate by the baseline. A save's own bytes over its seconds is better still."
)
_BILL = text("From your bill or your contract, for this region; list prices change and discounts are not public.")

HOW_TO_MEASURE: Mapping[str, Text] = {
    "workload.total_params": text("From config.json or the safetensors index: all parameters, every expert counted."),
    "workload.layout": text(
        "List one checkpoint's files by kind and divide by the trained parameters; what is on disk counts."
    ),
    "workload.measured_bytes": text(
        "Add up the files of one complete checkpoint: du --apparent-size, without copies of ranks."
    ),
    "workload.step_s": text("From the training log: the median time of a step, without steps that save or evaluate."),
    "workload.collective_timeout_s": text("From the launch script or init_process_group; 10 min for NCCL unless it was set."),
    "failures.mtbi_s": text(
        "Hours run divided by interruptions, whatever their cause: sacct -D -P for the job (-D, or requeued tries are hidden), "
        "without planned stops. Five interruptions are enough to start with, twenty are good."
    ),
    "failures.mtbi_nodes": text("The nodes of the job that the interruptions were counted on."),
    "failures.detect_s": text(
        "From the last step in the log to the first line that names the fault; a hang lasts until the collective timeout."
    ),
    "failures.reschedule_s": text("From the fault line to the job's new start: sacct Start, or the pod's start time."),
    "failures.start_s": text(
        "From the job's start to the line that says the checkpoint is being loaded: processes, communicators, compilation."
    ),
    "failures.downtime_s": text("From the scheduler: time that a requeued job was pending because no node was free."),
    "failures.spot_notice_s": text("A term of the provider, not a measurement: 2 min on AWS."),
    "failures.process_share": text(
        "Sort the interruptions by what was lost: the share after which every node came back with its drives intact, such as "
        "a crashed rank, a hang or a bug."
    ),
    "failures.node_share": text(
        "The share after which one node was replaced or came back without its local files: sacct and the node's state, or "
        "the operator's tickets."
    ),
    "failures.cluster_share": text(
        "The share after which several nodes or the storage were gone: power, network, maintenance without notice. It is the "
        "rest of the three."
    ),
    "failures.law": text(
        "Below twenty gaps of a log no law can be told from another: leave it. From fifty on compare how well each fits, or "
        "take the gaps themselves."
    ),
    "failures.weibull_shape": text(
        "Fit a Weibull law to the gaps of a log, after a look whether they have a trend: one makes the shape look smaller "
        "than it is. Below fifty gaps it is a rough guess."
    ),
    "failures.lognormal_shape": text("The standard deviation of the natural logarithm of the gaps of a log."),
    "failures.gaps_s": text(
        "Running time from one interruption to the next, from the job's log; without planned stops, and events within a "
        "minute counted once."
    ),
    "failures.clock": text(
        "A judgement: one clock where what fails follows the job, such as its software; each node's where hardware fails "
        "node by node."
    ),
    "failures.fleet_age_s": text("From the day the nodes went into service, or were last repaired, to the start of the run."),
    "local.enabled": text("A decision: whether the framework also saves to the nodes' own drives."),
    "local.blocking_s": text(
        "Time from the start of a local save to the next step, on the slowest rank; with copies that training waits for, those "
        "included. Median of many saves."
    ),
    "local.durable_s": text(
        "From the end of that stop until the log says that the local checkpoint is complete on every node, its copies included."
    ),
    "local.restart_s": text(
        "Kill a rank in a test: from the kill to the first new step, detection and the start of processes included."
    ),
    "local.interval_s": text("A decision. From a log: the time between the starts of two local saves."),
    "local.ratio": text("A decision: the framework's settings for both, the shared interval by the local one."),
    "local.uploads": text(
        "Kill a rank while a shared save is being written, and see whether that checkpoint is complete in the end."
    ),
    "storage.blocking_s": text("Time from the start of a save to the next step, on the slowest rank; median of many saves."),
    "storage.write_s": text(
        "A decision, not a measurement: how long the write may take. Measure the write efficiency instead."
    ),
    "storage.interval_s": text("A decision. From a log: the time between the starts of two saves."),
    "storage.write_efficiency": _IOR,
    "storage.read_efficiency": _IOR,
    "storage.background_loss_s": text(
        "Compare the steps while a write runs with the steps when none does; add up the difference over one write."
    ),
    "storage.slowdown_fraction": text("Step time while a write runs over step time when none does, less one."),
    "storage.latency_s": text("Save a tiny state with all ranks: what remains is metadata, opening and closing."),
    "storage.max_fill": text("A decision: a fuller file system is slower and leaves no room for a mistake."),
    "storage.generations_kept": text("A decision: the framework's keep setting, plus the one being written."),
    "storage.published": text("Stop a job just after a write and see which checkpoint it finds."),
    "storage.quota_gib": text("Service Quotas in the AWS console, for this account and region."),
    "storage.custom.write_bytes_per_s": _IOR,
    "storage.custom.read_bytes_per_s": _IOR,
    "storage.custom.usable_bytes": text("lfs quota or df for the project, less what others need."),
    "storage.custom.usd_per_month": _BILL,
    "restore.copies": text(
        "Count who reads the whole checkpoint at a restart: 1 sharded, one a replica for HSDP, one a rank for DDP."
    ),
    "planned.queue_s": text("From the scheduler: time that the job was pending after a planned stop, sacct Eligible to Start."),
    "spares.wait_s": text("From the drain of a node until its replacement is in service; the provider's promise until then."),
    "shared.load_bytes_per_s": text(
        "The file system's own counters while this job is stopped: DataReadBytes and DataWriteBytes in CloudWatch for FSx."
    ),
    "run.days": text("A decision: tokens over tokens a second, or the reservation."),
    "prices.node_usd_per_h": _BILL,
    "prices.gpu_value_usd_per_h": text("A decision: what you pay for an hour, or what the training it does is worth to you."),
    "prices.storage_usd_per_gib_month.p2_125": _BILL,
    "prices.storage_usd_per_gib_month.p2_250": _BILL,
    "prices.storage_usd_per_gib_month.p2_500": _BILL,
    "prices.storage_usd_per_gib_month.p2_1000": _BILL,
}


def how_to_measure(path: str) -> Text | None:
    """How the value at a field path is measured; None where there is nothing to say."""
    return HOW_TO_MEASURE.get(path)


@dataclass(frozen=True, slots=True)
class Alternative:
    """Another value that has a source: a price of another region or an interruption record, scaled to the field."""

    name: str
    value: float
    source: str
    date: str
    note: str


def catalog_value(named: NamedScenario, path: str) -> Any:
    """What the catalog says for this field: the price of this region and node, or the field's default; None: nothing."""
    prices = named.scenario.prices
    if path.startswith(STORAGE_PRICE_PATH):
        row = catalog.storage_price(prices.region, float(path.removeprefix(STORAGE_PRICE_PATH)))
        return None if row is None else row.usd_per_gib_month
    if path == "prices.node_usd_per_h":
        node = catalog.node_price(prices.region, named.scenario.workload.node.id)
        return None if node is None else node.node_usd_per_h
    return spec_of(Scenario, path).default


def alternatives(named: NamedScenario, path: str) -> tuple[Alternative, ...]:
    """Other sourced values for this field, in the catalog's order; records are scaled to the field's node count."""
    if path == "failures.mtbi_s":
        nodes = named.scenario.failures.mtbi_nodes
        return tuple(_alternative(row, row.mtbi_s * row.nodes / nodes) for row in catalog.interruption_records())
    if path == "prices.node_usd_per_h":
        own = [row for row in catalog.node_prices() if row.node == named.scenario.workload.node.id]
        return tuple(_alternative(row, row.node_usd_per_h) for row in own if row.node_usd_per_h is not None)
    if path.startswith(STORAGE_PRICE_PATH):
        tier = float(path.removeprefix(STORAGE_PRICE_PATH))
        same = [row for row in catalog.storage_prices() if row.throughput_mb_per_s_per_tib == tier]
        return tuple(_alternative(row, row.usd_per_gib_month) for row in same if row.usd_per_gib_month is not None)
    return ()


def _alternative(row: Row, value: float) -> Alternative:
    return Alternative(row.name, value, row.source, row.date, row.note)
