"""Which parts of the board a phase uses, and where each of its hops is drawn. No Qt.

gpu - gpu_switch - switch - switch_cpu - cpu/ram - cpu_ena - ena - trunk - branch - server
                      |- switch_cards - cards - trunk
                      |- switch_drives - drives
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ckptplanner.engine.node_plan import Hop, Phase

OUTSIDE = ("peer", "storage", "s3")
_OF_PART = {
    "gpu": ("gpu",), "ram": ("ram",), "nvme": ("drives",), "efa": ("cards", "ena"), "ena": ("ena",), "peer": ("peer",),
    "servers": ("storage",), "disks": ("server", "storage"), "s3": ("s3",),
    "link": ("switch_cpu", "gpu_switch", "switch_cards", "switch_drives", "cpu_ena"),
}  # fmt: skip
_OF_HOP = {
    "client": ("trunk",), "flows": ("trunk",), "connections": ("branch", "trunk"), "storage": ("storage",),
    "peer_gpu": ("peer_gpu",), "peer_memory": ("peer_ram",), "peer_nvme": ("peer_drives",),
}  # fmt: skip
PEER_PARTS = (("peer_gpu", "peer_gpu"), ("peer_ram", "peer_memory"), ("peer_drives", "peer_nvme"))  # role, hop
_ROLES = (("gpu", "gpu"), ("ram", "ram"), ("drives", "nvme"), ("peer", "peer"), ("s3", "s3"))
_ON_THE_WAY = ("client", "flows", "connections")  # limits of the way between two parts, whatever part they name
_EVERY_ONE = {"link"}  # a host link is each of its lines; other parts stand at the first role that is there


@dataclass(frozen=True, slots=True)
class Way:
    """The roles that are lit, and whether data goes back from storage to the GPUs."""

    roles: frozenset[str]
    is_back: bool

    def __contains__(self, role: str) -> bool:
        return role in self.roles


def way_of(phase: Phase | None, *, has_cards: bool, is_direct: bool) -> Way:
    """What a phase lights. `is_direct`: cards and drives hang on the CPU, without switches between."""
    if phase is None:
        return Way(frozenset(), False)
    parts = {hop.part for hop in phase.hops if hop.id not in _ON_THE_WAY}
    found = {role for role, part in _ROLES if part in parts}
    if parts & {"servers", "disks"}:
        found.add("storage")
    found |= {role for role, hop_id in PEER_PARTS if any(hop.id == hop_id for hop in phase.hops)}
    if "efa" in parts:
        found.add("cards" if has_cards else "ena")
    if "ena" in parts or (found & set(OUTSIDE) and not found & {"cards", "ena"}):
        found.add("ena")
    return Way(frozenset(found | _lines(found, is_direct=is_direct)), phase.name.startswith("restore"))


def _lines(found: set[str], *, is_direct: bool) -> set[str]:
    """The lines between the parts that are lit."""
    below = {"cards", "drives"} & found
    passes_cpu = {"ram", "ena"} | (below if is_direct else set())
    lines: set[str] = set()
    if "gpu" in found:
        lines |= {"gpu_switch", "switch"}
    if ("gpu" in found and passes_cpu & found) or ("ram" in found and below and not is_direct):
        lines |= {"switch_cpu", "switch", "cpu"}
    if below and not is_direct:
        lines.add("switch")
    lines |= {f"switch_{part}" for part in below}
    if "ram" in found:
        lines.add("cpu")
    if "ena" in found:
        lines |= {"cpu_ena", "cpu"}
    if found & set(OUTSIDE):
        lines.add("trunk")
    if "storage" in found:
        lines |= {"branch", "server"}
    return lines


def roles_of(hop: Hop, way: Way, present: Iterable[str]) -> tuple[str, ...]:
    """The roles at which a hop is drawn: those of its id, else of its part; lit ones before others."""
    there = set(present)
    wished = [role for role in (*_OF_HOP.get(hop.id, ()), *_OF_PART.get(hop.part, ())) if role in there]
    lit = [role for role in wished if role in way]
    chosen = lit or wished or [role for role in ("node",) if role in there]
    return tuple(chosen) if hop.part in _EVERY_ONE and hop.id not in _OF_HOP else tuple(chosen[:1])


def load_at(phase: Phase, *hop_ids: str) -> float | None:
    """The load of the first of these hops that has one. [B/s]"""
    for hop_id in hop_ids:
        hop = phase.hop(hop_id)
        if hop is not None and hop.load_bytes_per_s is not None:
            return hop.load_bytes_per_s
    return None
