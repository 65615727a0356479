"""What a node is made of, as far as the catalog says it, and how it is grouped to be drawn. No Qt.

How a node's links run is not published: groups of GPUs, cards and drives under PCIe switches are typical for the class.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ckptplanner.engine import ceilings
from ckptplanner.engine.plan import Plan
from ckptplanner.text import Text, text
from ckptplanner.units import BYTES, GIB, NBSP, brief, grouped, significant

GBPS, _LONG_NAME = 0.125e9, 14
_MEMORY_IN_NAME = re.compile(r"\s+\d+\s*GB$")


@dataclass(frozen=True, slots=True)
class Node:
    """One node as it is drawn: counts of its parts and the words on them."""

    name: str
    count: int
    accelerator: str
    gpus: int
    gpu_memory: Text | None
    sockets: int
    switches: int
    is_direct: bool  # GPUs hang on the CPU by NVLink-C2C, and so do cards and drives
    is_ec2: bool
    cards: int  # RDMA cards beside the one for TCP
    card_name: str
    card_rate: Text | None
    drives: int
    drive_size: Text | None
    ram_bytes: float | None
    ena_bytes_per_s: float | None
    is_one_card: bool  # TCP and RDMA share the only card


def node_of(plan: Plan) -> Node:
    """The node of a plan."""
    scenario = plan.scenario
    row, workload = scenario.workload.node, scenario.workload
    gpus = workload.gpus_per_node
    is_ec2 = "." in row.id
    is_direct = "C2C" in row.host_link
    sockets = row.sockets or (2 if gpus >= 8 else 1)
    switches = sockets if is_direct else max(sockets, 4 if gpus >= 8 else 2 if gpus >= 4 else 1)
    all_cards = row.efa_interfaces or row.network_cards or 0
    is_one_card = is_ec2 and (row.network_cards or 0) == 1
    ram = plan.host_ram.ram_bytes if plan.host_ram is not None else None
    if ram is None:
        ram = scenario.memory.ram_bytes or (row.host_ram_gib * GIB if row.host_ram_gib else None)
    return Node(
        name=row.name,
        count=workload.nodes,
        accelerator=_short_name(row.accelerator),
        gpus=gpus,
        gpu_memory=text("{size}", size=brief(row.hbm_bytes_per_gpu, BYTES)) if row.hbm_bytes_per_gpu else None,
        sockets=sockets,
        switches=switches,
        is_direct=is_direct,
        is_ec2=is_ec2,
        cards=0 if is_one_card else all_cards,
        card_name=("EFA" if row.efa_interfaces else "NIC"),
        card_rate=_card_rate(row.network_bytes_per_s, row.efa_interfaces, row.network_cards, is_ec2=is_ec2),
        drives=row.nvme_count or 0,
        drive_size=text("{size}", size=brief(row.nvme_bytes_each, BYTES)) if row.nvme_bytes_each else None,
        ram_bytes=ram,
        ena_bytes_per_s=ceilings.ena(scenario).rate,
        is_one_card=is_one_card,
    )


def _short_name(accelerator: str) -> str:
    """A name that stands on a small box: A100 40 GB is A100, since its memory is said anyway."""
    name = _MEMORY_IN_NAME.sub("", accelerator)
    return name if len(name) <= _LONG_NAME else " ".join(name.split()[:3])


def gbps(rate_bytes_per_s: float) -> str:
    """A rate as network cards are sold: 400 Gbps."""
    rate = rate_bytes_per_s / GBPS
    return f"{grouped(rate) if rate >= 100 else significant(rate)}{NBSP}Gbps"


def _card_rate(rate: float | None, efa: int | None, cards: int | None, *, is_ec2: bool) -> Text | None:
    """What each card carries, or what all carry together where it is not known which of them do RDMA."""
    if not rate or not (efa or cards):
        return None
    if is_ec2 and not efa:
        return text("all {rate}", rate=gbps(rate))
    return text("{rate}", rate=gbps(rate / (efa or cards or 1)))


def capacity(size_bytes: float) -> str:
    """A size of memory as it is sold, in GiB where it is a whole number of them."""
    gib = size_bytes / GIB
    return f"{grouped(gib)}{NBSP}GiB" if abs(gib - round(gib)) < 0.02 else brief(size_bytes, BYTES)


def shares(count: int, groups: int) -> list[int]:
    """`count` things as evenly in groups as they go, the first groups taking the rest."""
    return [count // groups + (index < count % groups) for index in range(groups)]
