"""What each hop of a node carries: the user's number where there is one, otherwise the catalog's row for this node.

`Known` is a ceiling with how it is known; its rate is None where neither says anything. The rows lie in the scenario
(`datapath.ceilings`), so nothing here opens the catalog.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from ckptplanner.data.records import FsxTier
from ckptplanner.engine.node_plan import Kind
from ckptplanner.engine.scenario import Scenario
from ckptplanner.units import GBPS

GDS_CLIENT_BYTES_PER_S = 1200 * GBPS  # AWS, FSx for Lustre User Guide: one client with EFA and GPUDirect Storage
PARTS_OF_AN_UPLOAD = 10_000  # AWS, S3 API: parts of one upload
PAGEABLE = "copy-pageable"  # the row of copies to memory that is not page-locked
LARGEST_PART_BYTES = 5 * 2.0**30  # AWS, S3 API: size of a part
LEAST_PART_BYTES = 8 * 2.0**20  # what AWS's client uses at least; S3 takes 5 MiB


@dataclass(frozen=True, slots=True)
class Known:
    """A ceiling and how it is known."""

    rate: float | None  # [B/s]
    kind: Kind
    source: str
    date: str
    path: str
    note: str = ""

    def times(self, count: float) -> Known:
        """The same for several of them side by side."""
        rate = None if self.rate is None else self.rate * count
        return Known(rate, self.kind, self.source, self.date, self.path, self.note)


def given(rate: float | None, path: str, otherwise: Known) -> Known:
    """The user's number, or what stands otherwise."""
    return otherwise if rate is None else Known(rate, "typed", "", "", path)


def row(scenario: Scenario, row_id: str, path: str) -> Known:
    """The row of a ceiling; nothing known where the node names none."""
    found = next((one for one in scenario.datapath.ceilings if one.id == row_id), None) if row_id else None
    if found is None:
        return Known(None, "assumed", "", "", path)
    return Known(found.rate_bytes_per_s, found.kind, found.source, found.date, path, found.note)


def node_row(scenario: Scenario, rate: float | None, path: str) -> Known:
    """A rate that stands in the node's own row."""
    node = scenario.workload.node
    return Known(rate, "documented", node.source, node.date, path)


def hbm(scenario: Scenario) -> Known:
    """Memory of one GPU. [B/s]"""
    path = "datapath.hbm_bytes_per_s"
    return given(scenario.datapath.hbm_bytes_per_s, path, row(scenario, scenario.workload.node.hbm_rate, path))


def copy(scenario: Scenario) -> Known:
    """Copies of one GPU to or from host memory while all of the node copy: pinned, or pageable. [B/s]"""
    path, data = "datapath.copy_bytes_per_s", scenario.datapath
    row_id = scenario.workload.node.copy_rate
    if not data.pinned and row_id:
        row_id = PAGEABLE
    return given(data.copy_bytes_per_s, path, row(scenario, row_id, path))


def link(scenario: Scenario) -> Known:
    """The link of one GPU to its CPU, one direction. [B/s]"""
    path = "datapath.link_bytes_per_s"
    return given(scenario.datapath.link_bytes_per_s, path, row(scenario, scenario.workload.node.link_rate, path))


def memory(scenario: Scenario) -> Known:
    """Host memory of all sockets. [B/s]"""
    path, node = "datapath.memory_bytes_per_s", scenario.workload.node
    sockets = row(scenario, node.socket_rate, path).times(node.sockets or 1)
    return given(scenario.datapath.memory_bytes_per_s, path, sockets)


def nvme(scenario: Scenario, *, is_read: bool) -> Known:
    """All local drives of a node. [B/s]"""
    data, node = scenario.datapath, scenario.workload.node
    if is_read:
        path, own, row_id = "datapath.nvme_read_bytes_per_s", data.nvme_read_bytes_per_s, node.nvme_read_rate
    else:
        path, own, row_id = "datapath.nvme_write_bytes_per_s", data.nvme_write_bytes_per_s, node.nvme_write_rate
    return given(own, path, row(scenario, row_id, path))


def ena(scenario: Scenario) -> Known:
    """What a node moves over TCP: its ENA card; its only card, or the network on premises, where none is named. [B/s]"""
    path, node = "datapath.ena_bytes_per_s", scenario.workload.node
    rate = node.ena_bytes_per_s
    is_own_network = node.network_cards == 1 or not (node.efa_interfaces or node.fsx_efa_interfaces)
    if rate is None and is_own_network:
        rate = node.network_bytes_per_s
    return given(scenario.datapath.ena_bytes_per_s, path, node_row(scenario, rate, path))


def efa(scenario: Scenario) -> Known:
    """All RDMA cards of a node, one direction. [B/s]"""
    path, node = "datapath.efa_bytes_per_s", scenario.workload.node
    return given(scenario.datapath.efa_bytes_per_s, path, node_row(scenario, node.network_bytes_per_s, path))


def has_rdma(scenario: Scenario) -> bool:
    """Whether GPUs of two nodes exchange data past the CPU, as the catalog says of the node."""
    return scenario.workload.node.gpu_rdma


def tcp_flow(scenario: Scenario) -> Known:
    """One TCP connection. [B/s]"""
    name = scenario.datapath.tcp_flow.replace("_", "-")
    return row(scenario, f"tcp-{name}", "datapath.tcp_flow")


def s3_connection(scenario: Scenario) -> Known:
    """One connection to S3. [B/s]"""
    path = "datapath.s3_connection_bytes_per_s"
    return given(scenario.datapath.s3_connection_bytes_per_s, path, row(scenario, "s3-connection", path))


def s3_part_bytes(scenario: Scenario, shard_bytes: float) -> float:
    """The part size of an upload: the given one, or the least that keeps a shard within 10,000 parts. [B]"""
    asked = scenario.datapath.s3_part_bytes
    return asked if asked is not None else max(LEAST_PART_BYTES, shard_bytes / PARTS_OF_AN_UPLOAD)


def client_limit(scenario: Scenario, tier: FsxTier) -> float:
    """One client's limit on this tier; GPUDirect Storage lifts it on the nodes that are listed for it. [B/s]"""
    if scenario.datapath.client_bytes_per_s is not None:
        return scenario.datapath.client_bytes_per_s
    return GDS_CLIENT_BYTES_PER_S if tier.efa and scenario.workload.node.fsx_gds else tier.client_bytes_per_s


def node_reach(scenario: Scenario, *, over_efa: bool) -> float:
    """What the node's own parts let through to a file system: card and host memory; infinity where nothing is known. [B/s]"""
    cards = efa(scenario) if over_efa else ena(scenario)
    return min(rate for rate in (cards.rate, memory(scenario).rate, math.inf) if rate is not None)


def custom_reach(scenario: Scenario) -> float:
    """What one node exchanges with storage that exists, where the user says so: its flows, its limit; else infinity. [B/s]

    The rates of that storage are what it does for this job, so the node's card does not cut them; the data path says
    where the card carries less.
    """
    data = scenario.datapath
    flow = tcp_flow(scenario).rate
    flows = math.inf if data.tcp_flows is None or flow is None else data.tcp_flows * flow
    return min(flows, math.inf if data.client_bytes_per_s is None else data.client_bytes_per_s)
