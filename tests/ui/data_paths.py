"""A plausible DataPath and HostRam, written by hand, so that the Path view is tested on its contract alone."""

from __future__ import annotations

from dataclasses import replace

from ckptplanner.data import catalog
from ckptplanner.engine.evaluate import evaluate
from ckptplanner.engine.node_plan import DataPath, Hop, HostRam, Kind, Phase, PhaseName, RamItem
from ckptplanner.engine.plan import Plan
from ckptplanner.engine.scenario import NamedScenario, Scenario
from ckptplanner.frozen import with_value
from ckptplanner.text import Text, text
from ckptplanner.ui.shown import Shown

GB = 1e9
TITLES = {
    "snapshot": "Snapshot", "local_write": "Local write", "gds_write": "GPUDirect write", "replicate": "Replicate",
    "shared_write": "Shared write", "s3_write": "S3 write", "restore_local": "Restore, local",
    "restore_replica": "Restore, replica", "restore_shared": "Restore, shared",
}  # fmt: skip
PARTS = {
    "hbm": "gpu", "copy": "gpu", "link": "link", "memory": "ram", "nvme": "nvme", "ena": "ena", "efa": "efa",
    "client": "ena", "flows": "ena", "connections": "efa", "servers_network": "servers", "disks": "disks", "peer_gpu": "peer",
    "peer_memory": "peer", "peer_nvme": "peer", "s3_connections": "s3", "storage": "disks",
}  # fmt: skip
PATHS = {
    "hbm": "datapath.hbm_bytes_per_s", "copy": "datapath.copy_bytes_per_s", "link": "datapath.link_bytes_per_s",
    "memory": "datapath.memory_bytes_per_s", "nvme": "datapath.nvme_write_bytes_per_s", "ena": "datapath.ena_bytes_per_s",
    "efa": "datapath.efa_bytes_per_s", "client": "datapath.client_bytes_per_s", "flows": "datapath.tcp_flows",
    "connections": "datapath.efa_connections", "servers_network": "datapath.servers_bytes_per_s", "disks": "storage.tier",
    "peer_gpu": "datapath.hbm_bytes_per_s", "peer_memory": "datapath.memory_bytes_per_s",
    "peer_nvme": "datapath.nvme_write_bytes_per_s", "s3_connections": "datapath.s3_connections",
    "storage": "storage.custom.write_bytes_per_s",
}  # fmt: skip
NAMES = {
    "hbm": "GPU memory, 8 GPUs", "copy": "copy engines, 8 GPUs", "link": "PCIe to the card", "memory": "host RAM, two sockets",
    "nvme": "8 NVMe drives", "ena": "ENA card", "efa": "16 EFA cards", "client": "client over TCP", "flows": "TCP flows",
    "connections": "EFA connections", "servers_network": "5 servers, 5 Gbps each", "disks": "file system",
    "peer_gpu": "peer's GPU memory", "peer_memory": "peer's RAM", "peer_nvme": "peer's drives",
    "s3_connections": "25 S3 connections", "storage": "storage that exists",
}  # fmt: skip


def hop(name: str, can: float | None, load: float | None, kind: Kind = "documented", *, shared: bool = False) -> Hop:
    """One hop, in GB/s."""
    return Hop(
        id=name, name=text(NAMES[name]), part=PARTS[name], ceiling_bytes_per_s=None if can is None else can * GB,
        load_bytes_per_s=None if load is None else load * GB, is_shared=shared, kind=kind, source="Amazon EC2 User Guide",
        date="2026-07", path=PATHS[name], note=None,
    )  # fmt: skip


def phase(
    name: PhaseName, hops: tuple[Hop, ...], *, seconds: float | None, limit: str | None, sentence: Text, detail: Text,
    allowed: float | None = None, used: bool = True,
) -> Phase:  # fmt: skip
    """One phase of the default plan."""
    return Phase(
        name=name, title=text(TITLES[name]), is_used=used, bytes_per_node=54.4e9, seconds=seconds, allowed_s=allowed,
        bottleneck=limit, hops=hops, make_words=lambda: (sentence, detail),
    )  # fmt: skip


def _unused(name: PhaseName, hops: tuple[Hop, ...], seconds: float | None, limit: str | None, *words: str) -> Phase:
    """A phase that the plan does not use."""
    sentence, detail = map(text, words)
    return phase(name, hops, seconds=seconds, limit=limit, sentence=sentence, detail=detail, used=False)


def _inside() -> tuple[Phase, ...]:
    """What stays in a node."""
    drives = hop("nvme", 9.0112, 9.01, "derived")
    snapshot = (
        hop("hbm", 62000, 10.9, "theoretical"), hop("copy", 455, 10.9, "measured"), hop("link", 512, 10.9),
        hop("memory", 716.8, 10.9, "theoretical"),
    )  # fmt: skip
    return (
        phase(
            "snapshot", snapshot, seconds=0.12, limit="copy", allowed=5.0,
            sentence=text("The copy engines are the limit: 455 GB/s for the 8 GPUs of a node, 2.4 % of it used."),
            detail=text("Copying 54.4 GB a node takes 120 ms of the 5 s allowed."),
        ),
        _unused(
            "local_write", (hop("memory", 716.8, 9.01, "theoretical"), hop("link", 512, 9.01), drives), 6.04, "nvme",
            "The local drives are the limit: 9.01 GB/s for the 8 of a node.", "Writing 54.4 GB a node takes 6 s.",
        ),
        _unused(
            "gds_write", (), None, None,
            "GPUDirect Storage is not used in this plan.", "No ceiling is known for this node.",
        ),
    )  # fmt: skip


def _between(*, has_efa: bool) -> tuple[Phase, ...]:
    """What goes to peers and comes back."""
    if has_efa:
        exchange = (hop("hbm", 62000, 5.4), hop("efa", 800, 5.4), hop("peer_gpu", 62000, 5.4))
    else:
        exchange = (hop("memory", 716.8, 5.4), hop("ena", 43.8, 5.4), hop("peer_memory", 716.8, 5.4))
    drives = (hop("nvme", 9.0112, 10.8, "derived"), hop("peer_nvme", None, 5.4))
    back = (hop("peer_nvme", 18.0, 18.0), exchange[1], hop("memory", 716.8, None), hop("copy", 455, None))
    local = (hop("nvme", 18.0, 18.0), hop("memory", 716.8, 18.0), hop("copy", 455, 18.0))
    return (
        _unused(
            "replicate", (*exchange, *drives), 12.1, "nvme",
            "The local drives are the limit: each holds two shards.", "Copies go from GPU memory to GPU memory.",
        ),
        _unused("restore_local", local, 3.0, "nvme", "The local drives are the limit: 18 GB/s.", "Reading takes 3 s."),
        _unused("restore_replica", back, None, None, "No copy is kept on another node.", "Set two copies."),
    )  # fmt: skip


def _outside(*, has_efa: bool) -> tuple[Phase, ...]:
    """What goes to storage and comes back."""
    link, memory = hop("link", 64, 0.18), hop("memory", 716.8, 0.18, "theoretical")
    out = (hop("efa", 800, 0.18), hop("client", 87.5, 0.18)) if has_efa else (hop("ena", 43.8, 0.18), hop("client", 12.5, 0.18))
    write = (memory, link, *out, hop("servers_network", 3.13, 0.18, "derived"), hop("disks", 6.0, 5.81, shared=True))
    read = (hop("disks", 12.5, 12.5, shared=True), hop("servers_network", 3.13, 0.39), *reversed(out), memory)
    return (
        phase(
            "shared_write", write, seconds=290.4, limit="disks", allowed=300.0,
            sentence=text("The file system is the limit: 6.0 GB/s for all 32 nodes, 97 % of it used."),
            detail=text("Writing 1.74 TB takes 4 min 50 s of the 5 min allowed; a node's network is nearly idle."),
        ),
        _unused(
            "s3_write", (memory, hop("ena", 43.8, 1.25), hop("s3_connections", 1.25, 1.25)), 43.6, "s3_connections",
            "25 connections to S3 are the limit: 1.25 GB/s a node.", "Writing takes 44 s.",
        ),
        phase(
            "restore_shared", (*read, hop("copy", 455, 0.39)), seconds=290.0, limit="disks",
            sentence=text("The file system is the limit: 12.5 GB/s for all 32 nodes."),
            detail=text("Reading takes 4 min 50 s."),
        ),
    )  # fmt: skip


def _phases(*, has_efa: bool) -> tuple[Phase, ...]:
    snapshot, local, direct = _inside()
    replicate, from_local, from_peer = _between(has_efa=has_efa)
    shared, s3, from_shared = _outside(has_efa=has_efa)
    return snapshot, local, direct, replicate, shared, s3, from_local, from_peer, from_shared


def ram(used_ratio: float = 0.12, ram_bytes: float | None = 4096 * 2**30) -> HostRam:
    """Host memory of the default plan, or more than is there."""
    share = (ram_bytes or 4e12) * used_ratio
    return HostRam(
        ram_bytes=ram_bytes,
        items=(
            RamItem("job", text("the job"), share - 108.8e9, True, "memory.job_bytes"),
            RamItem("written", text("being written"), 54.4e9, False, "memory.writes_in_flight"),
            RamItem("next", text("room for the next"), 54.4e9, False, "memory.writes_in_flight"),
        ),
        ring_drain_bytes_per_s=None,
    )  # fmt: skip


def with_path(plan: Plan, *, has_efa: bool = False, ram_ratio: float = 0.12) -> Plan:
    """The plan with a data path of the mockup's figures."""
    memory = ram(
        ram_ratio, plan.scenario.workload.node.host_ram_gib * 2**30 if plan.scenario.workload.node.host_ram_gib else None
    )
    return replace(plan, datapath=DataPath(_phases(has_efa=has_efa), 0.12, 290.4), host_ram=memory)


def plan_of(node: str = "p6-b300.48xlarge", **values: object) -> Plan:
    """A plan for that kind of node."""
    scenario = with_value(Scenario(), "workload.node", catalog.node(node))
    scenario = with_value(scenario, "workload.gpus_per_node", catalog.node(node).gpus)
    for path, value in values.items():
        scenario = with_value(scenario, path.replace("__", "."), value)
    return evaluate(scenario)


def shown_of(plan: Plan, base: Plan | None = None) -> tuple[Shown, ...]:
    """The plan as views are handed it, beside a base where one is given."""
    now = Shown(NamedScenario(name="5 min", scenario=plan.scenario), plan, 0, is_current=True, is_base=base is None)
    if base is None:
        return (now,)
    return (now, Shown(NamedScenario(name="20 min", scenario=base.scenario), base, 1, is_current=False, is_base=True))
