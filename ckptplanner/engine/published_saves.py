"""The planner beside published sizes of checkpoints, and times of saves and loads."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from ckptplanner.data import catalog
from ckptplanner.engine.checkpoint import checkpoint_bytes
from ckptplanner.engine.published_sums import ASSUMED, INSTANT, Compared, bytes_per_param, found, plan_with, time_words
from ckptplanner.engine.scenario import CustomStorage
from ckptplanner.text import Text, text
from ckptplanner.units import (
    BYTES,
    BYTES_PER_S,
    GB,
    GBPS,
    HOUR,
    MB,
    MINUTE,
    TB,
    brief,
    grouped,
    percent,
)

_LLAMA = "Llama 3, arXiv 2407.21783"
_BLOOM = "BigScience training chronicles"


# ---------------------------------------------------------------- sizes


def _bloom_size() -> Compared:
    size = checkpoint_bytes(176e9, 0.0, catalog.layout("megatron-14").bytes_per_param, 0.0)
    return Compared(
        text("{size}, which is {gib} GiB", size=brief(size, BYTES), gib=grouped(round(size / 2**30))),
        size,
        2.3 * TB,
        text("The report seems to count 1,000 GiB as one TB: then the two are the same."),
        ((text("parameters"), "176 B", "name of the model"), bytes_per_param("megatron-14")),
    )


def _bloom_save() -> Compared:
    """What a save of 40 s means; the rate of their file system is not known, so there is no second number."""
    plan = plan_with(
        {"workload.total_params": 176e9, "workload.nodes": 48, "storage.mode": "sync", "storage.write_s": 40.0,
         "storage.interval_s": 3 * HOUR}
    )  # fmt: skip
    _, waste = found(plan)
    assert waste.saving_fraction is not None
    return Compared(
        text(
            "{rate} into storage, {each} a node, and {share} of the time at one save in 3 h",
            rate=brief(plan.storage.required_write_bytes_per_s, BYTES_PER_S),
            each=brief(plan.storage.required_write_bytes_per_s / 48, BYTES_PER_S),
            share=percent(waste.saving_fraction),
        ),
        None,
        None,
        text("What the reported 40 s ask of storage and cost in time; the rate of their file system is not given."),
        (
            (text("parameters"), "176 B", "name of the model"),
            bytes_per_param("megatron-14"),
            (text("nodes"), "48", _BLOOM),
            (text("interval"), "3 h", _BLOOM),
        ),
    )


def _llama_shard() -> Compared:
    each = checkpoint_bytes(405.853e9, 0.0, catalog.layout("megatron-14").bytes_per_param, 0.0) / 16_384
    return Compared(
        text("{each} on average", each=brief(each, BYTES)),
        each,
        min(max(each, 1 * MB), 4 * GB),  # the nearest value of the reported range
        text("Within the range, so the ratio is 1: of GPUs that hold the same part only one need write it, and their shares "
             "differ widely."),
        ((text("parameters"), "405.853 B", "config.json in NVIDIA aiconfigurator-core 0.12.0"), bytes_per_param("megatron-14"),
         (text("GPUs"), "16,384", _LLAMA)),
    )  # fmt: skip


def _layout(preset: str, reported: float) -> Compared:
    layout = catalog.layout(preset)
    parts = " + ".join(f"{part.bytes_per_param:g}" for part in layout.parts)
    return Compared(
        text("{total}, {parts} ({name})", total=f"{layout.bytes_per_param:g}", parts=parts, name=layout.name),
        layout.bytes_per_param,
        reported,
        text("The same; one real save decides which layout a run has."),
        ((text("layout"), layout.name, layout.source),),
    )


# ---------------------------------------------------------------- times


def _time_of_phase(phase: str, params: float, layout: str, gpus: int, reported_s: float, of: str, why: Text) -> Compared:
    """How long a phase takes at the lowest ceiling of the nodes alone, with storage that never waits."""
    nodes = gpus // 8
    plan = plan_with(
        {"workload.total_params": params, "workload.layout": layout, "workload.nodes": nodes, "workload.node": "dgx-h100",
         "storage.custom": INSTANT}
    )  # fmt: skip
    assert plan.datapath is not None
    found = plan.datapath.phase(phase)
    assert found.seconds is not None
    hop = next(hop for hop in found.hops if hop.id == found.bottleneck)
    return Compared(
        text(
            "{seconds} at best for {size} a node; the report means {rate}, and the slowest hop ({hop}) carries {ceiling}",
            seconds=time_words(found.seconds), size=brief(found.bytes_per_node, BYTES),
            rate=brief(found.bytes_per_node / reported_s, BYTES_PER_S),
            ceiling=brief(hop.ceiling_bytes_per_s or 0.0, BYTES_PER_S), hop=hop.name,
        ),
        found.seconds,
        reported_s,
        why,
        (
            (text("parameters"), f"{params / 1e9:g} B", of),
            (text("bytes for one parameter"), f"{catalog.layout(layout).bytes_per_param:g}", ASSUMED),
            (text("GPUs"), grouped(gpus), of),
            (text("node"), "DGX H100", ASSUMED),
        ),
    )  # fmt: skip


_BYTE = "ByteCheckpoint, arXiv 2407.20143v4, table 8"
_NOT_THE_COPY = text(
    "The copy alone cannot be what stops training for so long; what else does (planning, waiting) has no bandwidth."
)
_NOT_THE_NODE = text(
    "The nodes' links are not the limit: storage is, or the steps before and after the write. Its rate is not given."
)
_LOAD = text(
    "The nodes' links are not the limit: storage is, or reading the same bytes for many replicas. Its rate is not given."
)


def _storage_time(params: float, layout: str, rate: float, reported_s: float, of: str, why: Text, rate_of: str) -> Compared:
    """How long storage of that rate needs for a checkpoint."""
    custom = CustomStorage(write_bytes_per_s=rate, read_bytes_per_s=rate, usable_bytes=1e18)
    plan = plan_with(
        {"workload.total_params": params, "workload.layout": layout, "storage.custom": custom, "storage.pace": "full"}
    )
    schedule, _ = found(plan)
    return Compared(
        text(
            "{seconds} for {size}",
            seconds=time_words(schedule.writes_in_s),
            size=brief(plan.checkpoint.checkpoint_bytes, BYTES),
        ),
        schedule.writes_in_s,
        reported_s,
        why,
        (
            (text("parameters"), f"{params / 1e9:g} B", of),
            (text("bytes for one parameter"), f"{catalog.layout(layout).bytes_per_param:g}", ASSUMED),
            (text("storage writes"), brief(rate, BYTES_PER_S), rate_of),
        ),
    )


def _hdfs() -> Compared:
    plan = plan_with({"workload.total_params": 175e9, "workload.nodes": 512, "storage.mode": "sync", "storage.write_s": 200.0})
    needed = plan.storage.required_write_bytes_per_s
    return Compared(
        text("{rate} into storage, {each} a node", rate=brief(needed, BYTES_PER_S), each=brief(needed / 512, BYTES_PER_S)),
        None,
        None,
        text("What the reported time means for storage; what theirs could do is not given."),
        ((text("parameters"), "175 B", _BYTE), bytes_per_param("megatron-14"), (text("GPUs"), "4,096", _BYTE)),
    )


SAVES: Mapping[str, Callable[[], Compared]] = {
    "bloom-size": _bloom_size,
    "bloom-save": _bloom_save,
    "llama3-shard": _llama_shard,
    "bytecheckpoint-405b-blocking": partial(
        _time_of_phase, "snapshot", 405e9, "megatron-14", 8960, 0.59, _BYTE, _NOT_THE_COPY),
    "bytecheckpoint-405b-save": partial(
        _time_of_phase, "shared_write", 405e9, "megatron-14", 8960, 51.06, _BYTE, _NOT_THE_NODE),
    "bytecheckpoint-405b-load": partial(
        _time_of_phase, "restore_shared", 405e9, "megatron-14", 8960, 129.49, _BYTE, _LOAD),
    "bytecheckpoint-7b-blocking": partial(_time_of_phase, "snapshot", 7e9, "fsdp2-12", 1488, 0.34, _BYTE, _NOT_THE_COPY),
    "bytecheckpoint-7b-save": partial(_time_of_phase, "shared_write", 7e9, "fsdp2-12", 1488, 20.13, _BYTE, _NOT_THE_NODE),
    "bytecheckpoint-7b-load": partial(_time_of_phase, "restore_shared", 7e9, "fsdp2-12", 1488, 265.73, _BYTE, _LOAD),
    "bytecheckpoint-hdfs": _hdfs,
    "torchtitan-8b": partial(
        _time_of_phase, "shared_write", 8.03e9, "fsdp2-12", 512, 50.0, "PyTorch forum, October 2024", _NOT_THE_NODE),
    "gemini-mt-nlg": partial(
        _storage_time, 530e9, "fsdp2-12", 20 * GBPS, 42 * MINUTE, "name of the model",
        text("The same at 12 bytes for a parameter; 14 would take a sixth longer."), "GEMINI paper, as quoted in public notes",
    ),
    "vast-800b": partial(
        _storage_time, 800e9, "megatron-14", 50 * GB, 3.6 * MINUTE, "VAST Data blog",
        text("The same at the low end of the survey's 50 to 200 GB/s."), "VAST Data blog: 50 to 200 GB/s; the low end is taken",
    ),
    "maxtext-bytes": partial(_layout, "fsdp2-12", 12.0),
    "vast-bytes": partial(_layout, "megatron-14", 14.0),
    "article-bytes": partial(_layout, "megatron-14", 14.0),
}  # fmt: skip
