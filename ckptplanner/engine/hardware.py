"""Inputs of what the nodes carry and hold: ceilings of the data path, host memory, local checkpoints and their replicas.

None means that the catalog's row for the node is used. What is given here replaces it, for one node unless said otherwise.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from ckptplanner.data import catalog
from ckptplanner.data.records import Ceiling
from ckptplanner.frozen import Frozen, entry
from ckptplanner.units import Bytes, BytesPerSecond, Count, Fraction, Seconds

MAX_RATE = 1e18
CENTURY_S = 100 * 365 * 86_400.0


def _rate(title: str, help: str) -> BytesPerSecond | None:
    """A ceiling that replaces the catalog's."""
    given: BytesPerSecond | None = entry(None, title=title, source="", ge=1, le=MAX_RATE, help=help)
    return given


class Datapath(Frozen):
    """Ceilings of the hops from GPU memory to storage, where the user knows better than the catalog."""

    pinned: bool = entry(
        True, title="Pinned memory", source="guess",
        help="Copies go to page-locked host memory. Off: pageable memory, 3 to 4 GB/s a GPU whatever the link.",
    )  # fmt: skip
    hbm_bytes_per_s: BytesPerSecond | None = _rate("GPU memory", "What the memory of one GPU reads or writes.")
    copy_bytes_per_s: BytesPerSecond | None = _rate(
        "Copy engine", "What one GPU copies to host memory while all of the node copy, as measured with nvbandwidth."
    )
    link_bytes_per_s: BytesPerSecond | None = _rate("Host link", "The link of one GPU to its CPU, one direction.")
    memory_bytes_per_s: BytesPerSecond | None = _rate("Host memory", "What the memory of all CPUs of a node takes or gives.")
    nvme_write_bytes_per_s: BytesPerSecond | None = _rate("Drives write", "What all local drives of a node write.")
    nvme_read_bytes_per_s: BytesPerSecond | None = _rate("Drives read", "What all local drives of a node read.")
    ena_bytes_per_s: BytesPerSecond | None = _rate("ENA card", "What a node moves over TCP, or its network on premises.")
    efa_bytes_per_s: BytesPerSecond | None = _rate("EFA cards", "What all RDMA cards of a node move, one direction.")
    client_bytes_per_s: BytesPerSecond | None = _rate(
        "One client", "What one node exchanges with the file system at most, whatever its cards carry."
    )
    servers_bytes_per_s: BytesPerSecond | None = _rate(
        "Servers' network", "What the network of all storage servers together carries."
    )
    tcp_flow: Literal["outside", "placement", "ena_express"] = entry(
        "outside", title="One TCP flow", source="doc",
        help="5 Gbps outside a placement group, 10 inside one, 25 with ENA Express in one zone.",
    )  # fmt: skip
    tcp_flows: Count | None = entry(
        None, title="TCP flows of a node", source="", ge=1, le=1_000_000,
        help="Connections of one node to storage that exists or to a peer without RDMA. Empty: enough, they are not the limit.",
    )  # fmt: skip
    efa_connections: Count = entry(
        1024, title="EFA connections", source="doc", ge=1, le=10_000_000,
        help="How many a file system takes; each client uses one for each of its interfaces.",
    )  # fmt: skip
    s3_connections: Count = entry(
        25, title="S3 connections", source="doc", ge=1, le=100_000,
        help="Connections of one node to S3. AWS's client opens 25 for its default target of 10 Gbps.",
    )  # fmt: skip
    s3_connection_bytes_per_s: BytesPerSecond | None = _rate("One S3 connection", "What one connection to S3 carries.")
    s3_part_bytes: Bytes | None = entry(
        None, title="S3 part", source="", ge=5 * 2**20, le=5 * 2**30,
        help="Size of a part of an upload. Empty: the least that keeps a shard within 10,000 parts, at least 8 MiB.",
    )  # fmt: skip
    writer_skew_ratio: Fraction = entry(
        1.0, title="Writer skew", source="article", ge=1, le=1000,
        help="What the most loaded writer moves, by the mean: experts and embeddings are not spread evenly.",
    )  # fmt: skip
    ceilings: tuple[Ceiling, ...] = Field(default_factory=catalog.ceilings, repr=False)


class Memory(Frozen):
    """What host memory must hold beside the job."""

    ram_bytes: Bytes | None = entry(
        None, title="Host RAM", source="", ge=1, le=1e18, help="Memory of one node. Empty: what the catalog says of it."
    )
    job_bytes: Bytes | None = entry(
        None, title="The job uses", source="", ge=0, le=1e18,
        help="What training itself takes of a node's host memory. Empty: a tenth of it, a guess.",
    )  # fmt: skip
    staging: Literal["share", "whole"] = entry(
        "share", title="Each process stages", source="article",
        help="share: its own part of the checkpoint. whole: every process of a node gathers all of it, as full state dicts do.",
    )  # fmt: skip
    staging_copies: Count = entry(
        1, title="Staging copies", source="article", ge=1, le=1000,
        help="Copies of the staged state in a node's memory: 2 where a writer process gets one of its own.",
    )  # fmt: skip
    writes_in_flight: Count = entry(
        2, title="Saves in RAM", ge=1, le=1000,
        help="Saves that host memory holds at once when saving is asynchronous: the one being written and room for the next.",
    )  # fmt: skip
    pinned_bytes: Bytes = entry(0.0, title="Pinned buffers", source="article", ge=0, le=1e18, help="Page-locked, a node.")
    ram_disk_bytes: Bytes = entry(0.0, title="RAM disk", source="article", ge=0, le=1e18, help="A tmpfs of each node.")
    growth_bytes: Bytes = entry(
        0.0, title="Left by each save", source="article", ge=0, le=1e18,
        help="Memory of a node that a save does not give back until the processes restart.",
    )  # fmt: skip
    ring_bytes: Bytes | None = entry(
        None, title="Ring buffer", source="", ge=1, le=1e18,
        help="Memory of a node through which a save runs while it drains to the local drives. Empty: the whole save is staged.",
    )  # fmt: skip


class Replication(Frozen):
    """Copies of every shard on the local drives of other nodes, in groups as nvidia-resiliency-ext forms them."""

    factor: Count = entry(
        1, title="Copies", source="article", ge=1, le=100_000,
        help="F: every member of a group holds the shards of the whole group. 1: none, no protection against a lost node.",
    )  # fmt: skip
    jump: Count | None = entry(
        None, title="Jump", source="", ge=1, le=100_000_000,
        help="J: ranks between the members of a group. Empty: the GPUs of a node, so that neighbours are paired.",
    )  # fmt: skip
    store: Literal["nvme", "ram"] = entry(
        "nvme", title="Kept on", source="article", help="Where the copies lie on each node: its local drives, or its memory."
    )
    exchange: Literal["training", "background"] = entry(
        "training", title="Exchanged", source="doc",
        help="training: GPU to GPU while training stands still, as nvidia-resiliency-ext does. background: from host memory.",
    )  # fmt: skip
    rebuild_s: Seconds = entry(
        3600.0, title="Rebuilt within", source="article", ge=0, le=CENTURY_S,
        help="From the loss of a node until its copies exist again: detection, replacement, restart and the next local save.",
    )  # fmt: skip
    node_loss_interval_s: Seconds = entry(
        23_040_000.0, title="A node is lost every", source="article", ge=1e-3, le=1e13,
        help="Mean time until one given node is lost, drives and all.",
    )  # fmt: skip
    rack_nodes: Count | None = entry(
        None, title="Nodes in a rack", source="", ge=1, le=100_000,
        help="Nodes that fail together: a rack, a switch, a power feed. Neighbours by number.",
    )  # fmt: skip
    rack_loss_interval_s: Seconds | None = entry(
        None, title="A rack is lost every", source="", ge=1, le=1e13, help="Mean time until one given rack fails as a whole."
    )


class Local(Frozen):
    """The local level: checkpoints on the nodes' own drives between the saves to shared storage."""

    enabled: bool = entry(
        False, title="Local saves", source="article",
        help="Save to the nodes' own drives too, more often than to shared storage. What the drives survive restarts there.",
    )  # fmt: skip
    blocking_s: Seconds = entry(
        5.0, title="Local stop time", source="article", ge=0, le=CENTURY_S, help="C1: one local save stops training this long."
    )
    durable_s: Seconds = entry(
        60.0, title="Local write", ge=0, le=CENTURY_S,
        help="t1: from the end of the stop until the local checkpoint, its copies included, can be restored.",
    )  # fmt: skip
    restart_s: Seconds = entry(
        600.0, title="Local restart", source="article", ge=0, le=CENTURY_S,
        help="R1: from an interruption until training runs again from a local checkpoint, detection included.",
    )  # fmt: skip
    interval_s: Seconds | None = entry(
        None, title="Local interval", source="", ge=1e-6, le=CENTURY_S,
        help="T1: start of one local save to the start of the next. Empty: the best one.",
    )  # fmt: skip
    ratio: Count | None = entry(
        None, title="Shared save each", source="", ge=1, le=1_000_000,
        help="n: every n-th local save goes to shared storage too. Empty: the best ratio.",
    )  # fmt: skip
    uploads: Literal["die", "survive"] = entry(
        "die", title="Uploads", source="doc",
        help="die: a restart kills the write to shared storage, as in Megatron-LM, whose writer is a child of the trainer.",
    )  # fmt: skip
