"""The ledger of host memory: what the most loaded node holds at its fullest, against what it has (docs/models.md 13.1).

job | pinned buffers | RAM disk | saves in flight: processes x staged x copies | copies of peers | grown since a restart
"""

from __future__ import annotations

from collections.abc import Iterator

from ckptplanner.engine import ceilings
from ckptplanner.engine.datapath import Way
from ckptplanner.engine.node_plan import HostRam, RamItem
from ckptplanner.text import text
from ckptplanner.units import DAY, GIB

JOB_SHARE = 0.1  # of a node's memory: what training is taken to use until somebody says


def host_ram(way: Way, mtbi_s: float) -> HostRam:
    """Add up what host memory holds.

    Args:
        way: Sizes and times of the plan.
        mtbi_s: M; with the interval it says how many saves lie between two restarts. [s]
    """
    scenario = way.scenario
    memory, node = scenario.memory, scenario.workload.node
    ram = memory.ram_bytes
    if ram is None and node.host_ram_gib is not None:
        ram = node.host_ram_gib * GIB
    items = tuple(item for item in _items(way, ram, mtbi_s) if item.held_bytes > 0)
    drain = ceilings.nvme(scenario, is_read=False).rate if memory.ring_bytes is not None else None
    return HostRam(ram, items, drain)


def staged_bytes(way: Way) -> float:
    """What one save holds in the memory of the most loaded node. [B]"""
    memory, work = way.scenario.memory, way.scenario.workload
    if memory.staging == "whole":
        processes = 1 if way.is_single else work.gpus_per_node
        return processes * way.checkpoint_bytes * memory.staging_copies
    return way.share_bytes * memory.staging_copies


def _items(way: Way, ram_bytes: float | None, mtbi_s: float) -> Iterator[RamItem]:
    memory, replication = way.scenario.memory, way.scenario.replication
    job = memory.job_bytes
    if job is None:
        job = JOB_SHARE * (ram_bytes or 0.0)
    yield RamItem("job", text("the job"), job, memory.job_bytes is None, "memory.job_bytes")
    yield RamItem("pinned", text("pinned buffers"), memory.pinned_bytes, False, "memory.pinned_bytes")
    yield RamItem("ram_disk", text("RAM disk"), memory.ram_disk_bytes, False, "memory.ram_disk_bytes")
    yield from _saves(way)
    if replication.factor > 1:
        share, count = way.even_bytes, replication.factor
        if replication.store == "ram":
            yield RamItem("replicas", text("copies, two generations"), 2 * count * share, False, "replication.factor")
        else:
            yield RamItem("replicas", text("copies on their way"), (count - 1) * share, False, "replication.factor")
    if memory.growth_bytes and way.period_s:
        until = min(mtbi_s, way.scenario.planned.every_s or mtbi_s, way.scenario.run.days * DAY)
        grown = memory.growth_bytes * (until / way.period_s)
        yield RamItem("growth", text("left by saves until a restart"), grown, False, "memory.growth_bytes")
    gathered = max((row.bytes or way.checkpoint_bytes for row in way.scenario.saves if row.writer == "single"), default=0.0)
    yield RamItem("export", text("gathered by one writer"), gathered, False, "saves")


def _saves(way: Way) -> Iterator[RamItem]:
    """The saves in flight, or the ring buffer that they run through."""
    memory, storage = way.scenario.memory, way.scenario.storage
    if memory.ring_bytes is not None:
        yield RamItem("ring", text("ring buffer"), min(memory.ring_bytes, way.staged_bytes), False, "memory.ring_bytes")
        return
    one = staged_bytes(way)
    yield RamItem("being_written", text("being written"), one, False, "memory.staging_copies")
    others = memory.writes_in_flight - 1 if storage.mode == "async" else 0
    if others:
        name = text("room for the next") if others == 1 else text("room for {count} more", count=others)
        yield RamItem("next", name, others * one, True, "memory.writes_in_flight")
