"""The way of the data, phase by phase: every hop with its ceiling and its load, the lowest one marked (docs/models.md 12).

    snapshot        GPU memory -> copy engine -> host link -> host memory                       stops training
    replicate       GPU memory -> RDMA cards -> peers' GPU memory, then all copies to memory and drives
    local_write     host memory -> drives            gds_write  GPU memory -> host link -> drives, past CPU and RAM
    shared_write    host memory -> link -> card -> client limits -> servers -> disks            behind training
    s3_write        host memory -> card -> connections                                          behind training
    restore_*       the way back

A hop counts what passes through it: bytes of a node, or of all nodes where it is shared. The time of a phase is that of the
hop which takes longest; hops whose ceiling is not known are left out of that and said to be so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from ckptplanner.data.records import FsxTier
from ckptplanner.engine import ceilings
from ckptplanner.engine.ceilings import Known
from ckptplanner.engine.node_plan import DataPath, Hop, Phase, PhaseName
from ckptplanner.engine.plan import Option
from ckptplanner.engine.scenario import Scenario
from ckptplanner.text import Text, listed, text
from ckptplanner.units import BYTES, BYTES_PER_S, FRACTION, GBPS, MB, SECONDS, brief, grouped

FULL_RATIO = 1.0 + 1e-9
LEAST_S = 1e-12  # what is given less time than that has no load worth a number
SLOW_COPY_RATIO = 10.0  # a stop that takes so many times what the link needs is worth a word
DRIVES = ("nvme", "peer_nvme")
PAGEABLE_BYTES_PER_S = 4e9  # what pageable copies reach at most: 3 to 4 GB/s a GPU


@dataclass(frozen=True, slots=True)
class Stretch:
    """One hop before it is known how long the phase takes: what passes through it, in bytes."""

    id: str
    name: Text
    part: str
    ceiling: Known
    passing_bytes: float
    is_shared: bool = False
    note: Text | None = None

    @property
    def seconds(self) -> float | None:
        """How long its ceiling needs. [s]"""
        return self.passing_bytes / self.ceiling.rate if self.ceiling.rate else None


@dataclass(frozen=True, slots=True)
class Way:
    """What the phases are built from: the sizes, the times of the plan and the file system it chose."""

    scenario: Scenario
    checkpoint_bytes: float
    option: Option | None
    tier: FsxTier | None
    write_s: float | None
    period_s: float | None
    blocking_s: float | None
    own_write_bytes_per_s: float | None  # what the file system has left for this job
    own_read_bytes_per_s: float | None
    s3_bytes: float = 0.0  # the upload that asks most of a node; 0 without one
    s3_is_single: bool = False

    @property
    def nodes(self) -> int:
        """Nodes of the job."""
        return self.scenario.workload.nodes

    @property
    def is_single(self) -> bool:
        """Whether one node writes everything."""
        return self.scenario.workload.writer == "single"

    @property
    def share_bytes(self) -> float:
        """What the most loaded writer moves. [B]"""
        if self.is_single:
            return self.checkpoint_bytes
        return self.checkpoint_bytes / self.nodes * self.scenario.datapath.writer_skew_ratio

    @property
    def staged_bytes(self) -> float:
        """What comes into host memory while training stands still: the writer's share, or all copies of a node. [B]"""
        replication = self.scenario.replication
        is_copied = replication.factor > 1 and replication.exchange == "training"
        return max(self.share_bytes, replication.factor * self.even_bytes) if is_copied else self.share_bytes

    @property
    def even_bytes(self) -> float:
        """What a node holds of a checkpoint. [B]"""
        return self.checkpoint_bytes / self.nodes

    @property
    def gpus(self) -> int:
        """GPUs of a node that copy."""
        return 1 if self.is_single else self.scenario.workload.gpus_per_node


def data_path(way: Way) -> DataPath:
    """Build every phase, and the stop and write times that this hardware reaches."""
    phases = tuple(build(way) for build in _PHASES)
    found = {phase.name: phase for phase in phases}
    stop = found["snapshot"].seconds
    if is_exchanged_on_training(way.scenario):
        stop = _longer(stop, _replicated_stop_s(way))
    ring = None
    if way.scenario.memory.ring_bytes is not None:
        stop = ring = ring_blocking_s(way.scenario, way.staged_bytes, stop)
    return DataPath(phases, stop, found["shared_write"].seconds, ring)


def is_exchanged_on_training(scenario: Scenario) -> bool:
    """Whether copies are exchanged while training stands still."""
    return scenario.replication.factor > 1 and scenario.replication.exchange == "training"


def _longer(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else max(one, other)


def _replicated_stop_s(way: Way) -> float | None:
    """The stop of a save with copies: the exchange, and what comes into host memory over the GPUs' links. [s]

    With RDMA all copies arrive in GPU memory and are copied from there; without it those of the peers arrive in host memory.
    """
    factor, share = way.scenario.replication.factor, way.even_bytes
    cards = _between_nodes(way, share).ceiling.rate
    into = [hop.ceiling.rate for hop in _gpu_hops(way, share, way.scenario.workload.gpus_per_node)]
    slowest = min((rate for rate in into if rate is not None), default=None)
    if cards is None or slowest is None:
        return None
    copies = factor if ceilings.has_rdma(way.scenario) else 1
    return (factor - 1) * share / cards + copies * share / slowest


def ring_blocking_s(scenario: Scenario, staged_bytes: float, copy_s: float | None) -> float | None:
    """Return the stop of a save that runs through a ring buffer in host memory; None where a rate is not known. [s]

    The buffer takes what the copy brings and gives what the drives take. While it has room the copy sets the pace; once it is
    full the drives do, until all but a buffer's content has drained: max(staged / copy, (staged - buffer) / drain).
    With copies exchanged on the training path all of them pass through.
    """
    ring, drain = scenario.memory.ring_bytes, ceilings.nvme(scenario, is_read=False).rate
    if ring is None or drain is None or copy_s is None:
        return None
    return max(copy_s, (staged_bytes - ring) / drain)


def near_read_s(scenario: Scenario, checkpoint_bytes: float, reads_from: str) -> float | None:
    """Return how long reading from near takes: a peer's GPUs, the local drives, a replica on a peer. [s]

    None for shared storage, whose time depends on the file system, and where a part of the way is not known.
    """
    way = Way(scenario, checkpoint_bytes, None, None, None, None, None, None, None)
    if reads_from == "peer":
        return _between_nodes(way, way.even_bytes).seconds
    build = {"local": _restore_local, "replica": _restore_replica}.get(reads_from)
    return None if build is None else read_of(build(way), scenario)[0]


def read_of(phase: Phase, scenario: Scenario) -> tuple[float | None, Hop | None]:
    """Return the time of a way back and what bounds it; past the drives where copies are kept in memory.

    None where no part is known, or where the drives that it needs are not.
    """
    hops = [hop for hop in phase.hops if scenario.replication.store == "nvme" or hop.id not in DRIVES]
    if phase.seconds is None or any(hop.ceiling_bytes_per_s is None for hop in hops if hop.id in DRIVES):
        return None, None
    limit = max((hop for hop in hops if hop.use_ratio is not None), key=lambda hop: hop.use_ratio or 0.0, default=None)
    if limit is None:
        return None, None
    return phase.seconds * (limit.use_ratio or 0.0), limit  # a hop's use is its own time by that of the slowest


# ---------------------------------------------------------------- the hops


def _gpu_hops(way: Way, size: float, gpus: int, *, past_cpu: bool = False) -> list[Stretch]:
    """From the memory of the GPUs over their links, and into host memory unless it goes past the CPU."""
    scenario = way.scenario
    hops = [Stretch("hbm", text("GPU memory"), "gpu", ceilings.hbm(scenario).times(gpus), size)]
    if not past_cpu:
        name = text("pinned copies") if scenario.datapath.pinned else text("pageable copies")
        hops.append(Stretch("copy", name, "gpu", ceilings.copy(scenario).times(gpus), size))
    hops.append(Stretch("link", text("host links"), "link", ceilings.link(scenario).times(gpus), size))
    if not past_cpu:
        hops.append(_memory(way, size))
    return hops


def _memory(way: Way, size: float) -> Stretch:
    sockets = way.scenario.workload.node.sockets or 1
    name = text("host memory, {count} sockets", count=sockets) if sockets > 1 else text("host memory")
    return Stretch("memory", name, "ram", ceilings.memory(way.scenario), size)


def _drives(way: Way, size: float, *, is_read: bool) -> Stretch:
    count = way.scenario.workload.node.nvme_count
    name = text("{count} local drives", count=count) if count else text("local drives")
    return Stretch("nvme", name, "nvme", ceilings.nvme(way.scenario, is_read=is_read), size)


def _between_nodes(way: Way, size: float) -> Stretch:
    """The cards that carry data from node to node: RDMA where there is any, otherwise TCP."""
    if ceilings.has_rdma(way.scenario):
        return Stretch("efa", _rdma_name(way), "efa", ceilings.efa(way.scenario), size)
    return Stretch("ena", text("network card"), "ena", ceilings.ena(way.scenario), size)


def _rdma_name(way: Way) -> Text:
    count = way.scenario.workload.node.efa_interfaces or way.scenario.workload.node.network_cards
    return text("one RDMA card") if count == 1 else text("{count} RDMA cards", count=count)


def _flows(way: Way, size: float) -> list[Stretch]:
    """TCP connections of one node, where they are counted."""
    count = way.scenario.datapath.tcp_flows
    if count is None:
        return []
    name = text("{count} TCP flows", count=grouped(count)) if count > 1 else text("one TCP flow")
    return [Stretch("flows", name, "ena", ceilings.tcp_flow(way.scenario).times(count), size)]


def _card_hops(way: Way, size: float, *, over_efa: bool) -> list[Stretch]:
    """From host memory to the card that leads to the file system, and over it."""
    scenario = way.scenario
    hops = [_memory(way, size)]
    node = scenario.workload.node
    if not over_efa and node.ena_bytes_per_s and node.link_rate.endswith("x16"):  # one card, on a slot like the GPUs'
        slot = ceilings.row(scenario, node.link_rate, "datapath.ena_bytes_per_s")
        hops.append(Stretch("link", text("PCIe to the card"), "link", slot, size))
    if over_efa:
        hops.append(Stretch("efa", _rdma_name(way), "efa", ceilings.efa(scenario), size))
    else:
        name = text("ENA card") if scenario.workload.node.ena_bytes_per_s else text("network card")
        hops.append(Stretch("ena", name, "ena", ceilings.ena(scenario), size))
    return hops


def _lustre_hops(way: Way, size: float, total: float, *, is_read: bool) -> list[Stretch]:
    """Card, client limit, connections to the servers, and the servers that all nodes share."""
    option, tier, scenario = way.option, way.tier, way.scenario
    assert option is not None
    assert tier is not None
    servers = option.servers or 1
    hops = _card_hops(way, size, over_efa=tier.efa)
    limit = Known(ceilings.client_limit(scenario, tier), "documented", tier.source, tier.date, "datapath.client_bytes_per_s")
    if scenario.datapath.client_bytes_per_s is not None:
        limit = Known(limit.rate, "typed", "", "", limit.path)
    name = text("one client over EFA") if tier.efa else text("one client over TCP")
    hops.append(Stretch("client", name, "servers", limit, size))
    if tier.client_server_bytes_per_s is not None:
        each = Known(tier.client_server_bytes_per_s, "documented", tier.source, tier.date, "storage.tier").times(servers)
        gbps = grouped(tier.client_server_bytes_per_s / GBPS)
        name = text("{count} servers, {gbps} Gbps each", count=grouped(servers), gbps=gbps)
        hops.append(Stretch("connections", name, "servers", each, size))
    if tier.network_mb_per_s_per_tib is not None:
        rate = option.capacity_gib / 1000.0 * tier.network_mb_per_s_per_tib * MB
        network = Known(rate, "documented", tier.source, tier.date, "datapath.servers_bytes_per_s")
        network = ceilings.given(scenario.datapath.servers_bytes_per_s, "datapath.servers_bytes_per_s", network)
        hops.append(Stretch("servers_network", text("network of the servers"), "servers", network, total, is_shared=True))
    own = way.own_read_bytes_per_s if is_read else way.own_write_bytes_per_s
    disks = Known(own, "documented", tier.source, tier.date, "storage.tier")
    hops.append(Stretch("disks", text("file system"), "disks", disks, total, True, _less_others(scenario)))
    return hops


def _less_others(scenario: Scenario) -> Text | None:
    shared = scenario.shared
    if shared.jobs > 1:
        return text("split among the jobs that write at once")
    return text("less what others take") if shared.load_bytes_per_s else None


def _existing_hops(way: Way, size: float, total: float, *, is_read: bool) -> list[Stretch]:
    """Card, flows, and the storage that exists with the rates that were given for it."""
    own = way.own_read_bytes_per_s if is_read else way.own_write_bytes_per_s
    path = "storage.custom.read_bytes_per_s" if is_read else "storage.custom.write_bytes_per_s"
    storage = Known(own, "typed", "", "", path)
    limit = way.scenario.datapath.client_bytes_per_s
    client = [] if limit is None else [
        Stretch("client", text("one client"), "servers", Known(limit, "typed", "", "", "datapath.client_bytes_per_s"), size)
    ]  # fmt: skip
    shared = Stretch("storage", text("the storage we have"), "disks", storage, total, True, _less_others(way.scenario))
    return [*_card_hops(way, size, over_efa=False), *_flows(way, size), *client, shared]


def _storage_hops(way: Way, size: float, total: float, *, is_read: bool) -> list[Stretch]:
    if way.option is None:
        return _card_hops(way, size, over_efa=False)
    build = _existing_hops if way.tier is None else _lustre_hops
    return build(way, size, total, is_read=is_read)


# ---------------------------------------------------------------- the phases


def _snapshot(way: Way) -> Phase:
    size, is_sync = way.share_bytes, way.scenario.storage.mode == "sync"
    allowed = way.write_s if is_sync else way.blocking_s
    return _phase(way, "snapshot", text("Snapshot"), _gpu_hops(way, size, way.gpus), size, allowed, True)


def _local_write(way: Way) -> Phase:
    size = way.even_bytes
    hops = [_memory(way, size), _drives(way, size, is_read=False)]
    # with copies the local level is written by "replicate", drives included
    is_level = way.scenario.local.enabled and way.scenario.replication.factor == 1
    is_used = is_level or way.scenario.memory.ring_bytes is not None
    by_copies = way.scenario.local.enabled and not is_level
    title = text("Local write, no copies") if by_copies else text("Local write")
    return _phase(way, "local_write", title, hops, size, way.period_s, is_used)


def _gds_write(way: Way) -> Phase:
    size = way.even_bytes
    hops = [*_gpu_hops(way, size, way.scenario.workload.gpus_per_node, past_cpu=True), _drives(way, size, is_read=False)]
    return _phase(way, "gds_write", text("GPUDirect write"), hops, size, way.period_s, False)


def _replicate(way: Way) -> Phase:
    """All copies of a node: F - 1 come over the cards, F go to memory and drives. Without another node there is no way."""
    replication, size = way.scenario.replication, way.even_bytes if way.nodes > 1 else 0.0
    factor, gpus = replication.factor, way.scenario.workload.gpus_per_node
    received, held = max(factor - 1, 1) * size, max(factor, 2) * size
    if replication.exchange == "training" and ceilings.has_rdma(way.scenario):
        peer = Stretch("peer_gpu", text("peers' GPU memory"), "peer", ceilings.hbm(way.scenario).times(gpus), received)
        first = _gpu_hops(way, held, gpus)
        hops = [first[0], _between_nodes(way, received), peer, *first[1:]]
    else:
        peer = Stretch("peer_memory", text("peers' host memory"), "peer", ceilings.memory(way.scenario), received)
        first = _gpu_hops(way, size, gpus) if replication.exchange == "training" else [_memory(way, size)]
        hops = [*first, _between_nodes(way, received), *_flows(way, received), peer]
    if replication.store == "nvme":
        hops.append(_drives(way, held, is_read=False))
    return _phase(way, "replicate", text("Replicate"), hops, held, way.period_s, factor > 1)


def _shared_write(way: Way) -> Phase:
    hops = _storage_hops(way, way.share_bytes, way.checkpoint_bytes, is_read=False)
    return _phase(way, "shared_write", text("Shared write"), hops, way.share_bytes, way.write_s, True)


def _s3_write(way: Way) -> Phase:
    size = way.s3_bytes or way.checkpoint_bytes
    is_single = way.s3_is_single if way.s3_bytes else way.is_single
    share = size if is_single else size / way.nodes
    shard = share if is_single else share / way.scenario.workload.gpus_per_node
    count = way.scenario.datapath.s3_connections
    connection, flow = ceilings.s3_connection(way.scenario), ceilings.tcp_flow(way.scenario)
    slower = flow if connection.rate and flow.rate and flow.rate < connection.rate else connection
    part = ceilings.s3_part_bytes(way.scenario, shard)
    hops = [
        *_card_hops(way, share, over_efa=False),
        Stretch(
            "s3_connections", text("{count} S3 connections", count=grouped(count)), "s3", slower.times(count), share,
            note=text("parts of {size}", size=brief(part, BYTES)),
        ),
    ]  # fmt: skip
    return _phase(way, "s3_write", text("S3 write"), hops, share, None, way.s3_bytes > 0)


def _restore_local(way: Way) -> Phase:
    size, gpus = way.even_bytes, way.scenario.workload.gpus_per_node
    hops = [_drives(way, size, is_read=True), *reversed(_gpu_hops(way, size, gpus))]
    is_used = way.scenario.local.enabled or way.scenario.replication.factor > 1
    return _phase(way, "restore_local", text("Restore, local"), hops, size, None, is_used)


def _restore_replica(way: Way) -> Phase:
    """A replaced node reads its part from a peer, whose drives also serve the peer itself."""
    size, gpus = way.even_bytes, way.scenario.workload.gpus_per_node
    drives = _drives(way, 2 * size, is_read=True)
    peer = Stretch("peer_nvme", text("a peer's drives"), "peer", drives.ceiling, drives.passing_bytes)
    hops = [peer, _between_nodes(way, size), *reversed(_gpu_hops(way, size, gpus))]
    return _phase(way, "restore_replica", text("Restore, replica"), hops, size, None, way.scenario.replication.factor > 1)


def _restore_shared(way: Way) -> Phase:
    copies = way.scenario.restore.copies
    size, total = way.even_bytes * copies, way.checkpoint_bytes * copies
    gpu = _gpu_hops(way, size, way.scenario.workload.gpus_per_node)
    back = [*reversed(_storage_hops(way, size, total, is_read=True)), *reversed(gpu[:-1])]
    once: dict[str, Stretch] = {}
    for hop in back:  # the card's PCIe and the GPUs' links have one name; the slower one counts
        known = once.get(hop.id)
        if known is None or (hop.seconds or 0.0) > (known.seconds or 0.0):
            once[hop.id] = hop
    return _phase(way, "restore_shared", text("Restore, shared"), list(once.values()), size, None, True)


_PHASES = (
    _snapshot, _local_write, _gds_write, _replicate, _shared_write, _s3_write,
    _restore_local, _restore_replica, _restore_shared,
)  # fmt: skip


def _phase(
    way: Way, name: PhaseName, title: Text, stretches: Sequence[Stretch], size: float, allowed_s: float | None, is_used: bool
) -> Phase:
    """Find the slowest hop and what the plan asks of each."""
    times = {hop.id: hop.seconds for hop in stretches if hop.seconds is not None}
    slowest = max(times, key=lambda key: times[key], default=None) if size > 0 else None
    at_best = times[slowest] if slowest is not None else None
    fixed = way.scenario.storage.latency_s if name in {"shared_write", "s3_write"} else 0.0
    seconds = None if at_best is None else at_best + fixed
    over = at_best if allowed_s is None or allowed_s <= fixed else allowed_s - fixed  # the bytes flow in what is left
    hops = tuple(_hop(hop, over) for hop in stretches)
    limit = next((hop for hop in hops if hop.id == slowest), None)
    words = partial(_words, way, name, limit, hops, size, seconds, allowed_s)
    return Phase(name, title, is_used, size, seconds, allowed_s, slowest, hops, words)


def _hop(stretch: Stretch, over_s: float | None) -> Hop:
    known = stretch.ceiling
    load = stretch.passing_bytes / over_s if over_s and over_s > LEAST_S else None
    note = stretch.note if stretch.note is not None else text("{note}", note=known.note) if known.note else None
    return Hop(
        stretch.id, stretch.name, stretch.part, known.rate, load, stretch.is_shared, known.kind, known.source, known.date,
        known.path, note,
    )  # fmt: skip


# ---------------------------------------------------------------- words


def _words(
    way: Way, name: str, limit: Hop | None, hops: Sequence[Hop], size: float, seconds: float | None, allowed_s: float | None
) -> tuple[Text, Text]:
    """The sentence that names the bottleneck, and what there is to say about the time."""
    if name == "replicate" and way.nodes == 1:
        return text("There is no other node to copy to."), text("Copies protect from the loss of a node only with two or more.")
    if limit is None or seconds is None or limit.ceiling_bytes_per_s is None:
        return text("No ceiling of this way is known."), text("Type one to see how long this phase takes.")
    sentence, detail = _limit_words(way, limit, allowed_s), _detail(way, name, size, seconds, allowed_s)
    unknown = [hop.name for hop in hops if hop.ceiling_bytes_per_s is None]
    if not unknown:
        return sentence, detail
    return sentence, text("{detail} Not known, so it may take longer: {hops}.", detail=detail, hops=listed(unknown))


def _limit_words(way: Way, limit: Hop, allowed_s: float | None) -> Text:
    ceiling = brief(limit.ceiling_bytes_per_s or 0.0, BYTES_PER_S)
    is_of_all = limit.is_shared and way.nodes > 1
    where = text("for all {nodes} nodes", nodes=grouped(way.nodes)) if is_of_all else text("a node")
    use = limit.use_ratio
    if allowed_s is None or use is None:
        return text("The limit: {hop}, {ceiling} {where}.", hop=limit.name, ceiling=ceiling, where=where)
    if use <= FULL_RATIO:
        return text(
            "The limit: {hop}, {ceiling} {where}, {use} of it used.",
            hop=limit.name, ceiling=ceiling, where=where, use=brief(use, FRACTION, 2),
        )  # fmt: skip
    return text(
        "The limit: {hop}, {ceiling} {where}, and the plan asks for {load}.",
        hop=limit.name, ceiling=ceiling, where=where, load=brief(limit.load_bytes_per_s or 0.0, BYTES_PER_S),
    )  # fmt: skip


def _detail(way: Way, name: str, size: float, seconds: float, allowed_s: float | None) -> Text:
    takes, allowed = brief(seconds, SECONDS), "–" if allowed_s is None else brief(allowed_s, SECONDS)
    if name == "snapshot":
        return _snapshot_detail(way, size, seconds, allowed_s)
    if name == "replicate":
        return _replicate_detail(way, size, takes, allowed)
    total = way.checkpoint_bytes * (way.scenario.restore.copies if name == "restore_shared" else 1)
    if name == "s3_write":
        total = way.s3_bytes or way.checkpoint_bytes
    shown = brief(total, BYTES) if name in {"shared_write", "s3_write", "restore_shared"} else brief(size, BYTES)
    if name in {"shared_write", "s3_write"}:
        if allowed_s is None:
            return text("Writing {size} takes {takes} at best.", size=shown, takes=takes)
        if seconds > allowed_s * FULL_RATIO:
            return text("Writing {size} takes {takes}; {allowed} is allowed.", size=shown, takes=takes, allowed=allowed)
        return text("Writing {size} takes {takes} of the {allowed} allowed.", size=shown, takes=takes, allowed=allowed)
    if name == "restore_replica":
        return text(
            "Reading {size} back takes {takes} at best: a peer's drives read for the node and for the peer, {both}.",
            size=shown, takes=takes, both=brief(2 * size, BYTES),
        )  # fmt: skip
    if name.startswith("restore"):
        return text("Reading {size} back takes {takes} at best.", size=shown, takes=takes)
    return text("{size} a node take {takes} at best, once an interval of {allowed}.", size=shown, takes=takes, allowed=allowed)


def _replicate_detail(way: Way, size: float, takes: str, allowed: str) -> Text:
    """All copies to their end, and the part of it that training stands still for."""
    stop = _replicated_stop_s(way) if is_exchanged_on_training(way.scenario) else None
    shown = brief(size, BYTES)
    if stop is None:
        return text(
            "{size} a node take {takes} at best, once an interval of {allowed}.", size=shown, takes=takes, allowed=allowed
        )
    return text(
        "{size} a node take {takes} at best, once an interval of {allowed}; training stands still for {stop} of it.",
        size=shown, takes=takes, allowed=allowed, stop=brief(stop, SECONDS),
    )  # fmt: skip


def _snapshot_detail(way: Way, size: float, seconds: float, allowed_s: float | None) -> Text:
    """How long the copy needs, and why published copies take longer than their link."""
    takes = text("Copying {size} a node takes {takes} at best", size=brief(size, BYTES), takes=brief(seconds, SECONDS))
    if allowed_s is None or way.scenario.storage.mode == "sync":
        return text("{takes}.", takes=takes)
    passes_more = is_exchanged_on_training(way.scenario) or way.scenario.memory.ring_bytes is not None
    if allowed_s < seconds * SLOW_COPY_RATIO or passes_more:
        return text("{takes}; the plan gives it {allowed}.", takes=takes, allowed=brief(allowed_s, SECONDS))
    return text(
        "{takes}; the plan gives it {allowed}, {rate} a GPU. Published copies take seconds because memory is pageable or being "
        "allocated, tensors are many and small, and CPU cores serialise them: no link is that slow.",
        takes=takes, allowed=brief(allowed_s, SECONDS), rate=brief(copy_rate_bytes_per_s(way, allowed_s), BYTES_PER_S),
    )  # fmt: skip


def copy_rate_bytes_per_s(way: Way, blocking_s: float) -> float:
    """What one GPU copies where a stop takes so long. [B/s]"""
    return way.share_bytes / way.gpus / blocking_s
