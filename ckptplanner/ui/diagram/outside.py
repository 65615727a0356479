"""Outside the node: the other nodes, S3, and the file system with its servers. No Qt."""

from __future__ import annotations

from dataclasses import replace

from ckptplanner.engine.node_plan import Hop
from ckptplanner.engine.plan import Option
from ckptplanner.text import Text, text
from ckptplanner.ui.diagram.draft import Draft, limit_words, snap
from ckptplanner.ui.diagram.shapes import Box, Rect
from ckptplanner.units import BYTES, BYTES_PER_S, FRACTION, GIB, brief, grouped, significant

_SYSTEM_HEAD, _SYSTEM_FOOT, _MOST_SERVERS, _LEAST_PITCH = 48.0, 24.0, 6, 28.0


def add_outside(draft: Draft, column: Rect) -> None:
    has_chips = draft.shows_gradients or "peer" in draft.way
    low = 40.0 if column.h < 360 else 44.0
    peer_high = low + 28 if has_chips else low
    system = min(_system_height(draft), column.h - peer_high - low - 16)
    gap = snap(min(max((column.h - peer_high - low - system) / 2, 8), 32))
    _add_peer(draft, Rect(column.x, 0.0, column.w, peer_high), has_chips=has_chips)
    s3 = Rect(column.x, peer_high + gap, column.w, low)
    is_s3 = "s3" in draft.way
    hop = draft.phase.hop("s3_connections") if draft.phase else None
    words = (_at_most(hop) if hop else text("takes this write")) if is_s3 else text("not on this way")
    if hop is not None and draft.phase is not None and hop.id == draft.phase.bottleneck:
        words = limit_words(hop)
    draft.add(Box("s3", "s3", s3, text("S3"), second=words, is_lit=is_s3))
    _add_storage(draft, Rect(column.x, column.h - system, column.w, system))


def _at_most(hop: Hop) -> Text:
    if hop.ceiling_bytes_per_s is None:
        return text("ceiling not known")
    return text("{rate} at most", rate=brief(hop.ceiling_bytes_per_s, BYTES_PER_S))


def _add_peer(draft: Draft, rect: Rect, *, has_chips: bool) -> None:
    others = draft.node.count - 1
    if others == 0:
        title, words = text("No other node"), None
    else:
        title = text("1 other node") if others == 1 else text("{count} other nodes", count=grouped(others))
        words = text("not on this way")
    load = draft.load("ena", "efa", "memory")
    limit = draft.phase.limit if draft.phase else None
    if others == 0 and "peer" in draft.way:
        words = text("nobody takes a copy")
    elif limit is not None and limit.part == "peer":
        words = limit_words(limit)
    elif "peer" in draft.way:
        words = text("give the copy back") if draft.way.is_back else text("take the copies")
    elif others and draft.is_single:
        words = text("this node writes for all")
    elif others and draft.phase is not None and draft.phase.hops:
        is_out = bool({"storage", "s3"} & draft.way.roles) and load is not None
        words = text("each the same {rate}", rate=brief(load or 0.0, BYTES_PER_S)) if is_out else text("each does the same")
    draft.add(Box("peer", "peer", rect, title, second=words, is_lit="peer" in draft.way))
    if not has_chips:
        return
    wide = (rect.w - 16 - 8) / 3
    for index, (role, name) in enumerate((("peer_gpu", text("GPU")), ("peer_ram", text("RAM")), ("peer_drives", text("NVMe")))):
        chip = Rect(rect.x + 8 + index * (wide + 4), rect.bottom - 25, wide, 18)
        draft.add(Box(role, role, chip, name, parent="peer", is_lit=role in draft.way, is_centred=True))


def _servers(option: Option | None) -> int:
    """How many parts of the storage are drawn: its servers, or one where they are not known."""
    return 0 if option is None else option.servers or 1


def _system_height(draft: Draft) -> float:
    """How high the box of the file system would like to be."""
    return _SYSTEM_HEAD + min(max(_servers(draft.plan.storage.chosen), 1), _MOST_SERVERS) * 40.0 + _SYSTEM_FOOT


def _add_storage(draft: Draft, rect: Rect) -> None:
    """The file system with its servers; many of them are shortened."""
    option, is_lit = draft.plan.storage.chosen, "storage" in draft.way
    title, words = _system_words(option)
    draft.add(Box("storage", "storage", rect, title, second=words, foot=_system_use(draft, option), is_lit=is_lit))
    count, room = _servers(option), rect.h - _SYSTEM_HEAD - _SYSTEM_FOOT
    rows = min(max(int(room // _LEAST_PITCH), 1), _MOST_SERVERS)
    if count <= rows:
        named = list(range(1, count + 1))
    else:
        named = [0] if rows == 1 else [*range(1, max(rows - 1, 1)), 0, count][-rows:]
    ratio = _ratio(draft, "disks", "storage")
    pitch = snap(min(max(room / max(len(named), 1), _LEAST_PITCH), 40.0))
    for place, number in enumerate(named):
        row = Rect(rect.x + 8, rect.y + _SYSTEM_HEAD + place * pitch, rect.w - 16, min(pitch - 4, 28.0))
        if option is None or option.servers is None:
            name, size = text("disks"), None
        elif number:
            name, size = text("server {number}", number=grouped(number)), text("{size}", size=_share_of(option))
        else:
            name, size = text("{count} servers more", count=grouped(count - len(named) + 1)) if len(named) > 1 else text(
                "{count} servers", count=grouped(count)
            ), text("{size} each", size=_share_of(option))  # fmt: skip
        draft.add(
            Box(f"server {place + 1}", "server", row, name, right=size, parent="storage", is_lit=is_lit,
                meter=ratio if is_lit else None)
        )  # fmt: skip


def _share_of(option: Option) -> str:
    """What one server of a file system holds."""
    return f"{grouped(option.capacity_gib / (option.servers or 1))}\u00a0GiB"


def _ratio(draft: Draft, *hop_ids: str) -> float | None:
    hops = [draft.phase.hop(hop_id) for hop_id in hop_ids] if draft.phase else []
    return next((hop.use_ratio for hop in hops if hop is not None), None)


def offer_words(option: Option) -> Text:
    """Size and throughput of a file system that can be bought."""
    values = {"size": grouped(option.capacity_gib), "rate": grouped(option.throughput_mb_per_s_per_tib or 0.0)}
    if option.efa:
        return text("{size} GiB, {rate} MB/s/TiB, EFA", **values)
    return text("{size} GiB, {rate} MB/s/TiB", **values)


def _system_words(option: Option | None) -> tuple[Text, Text | None]:
    if option is None:
        return text("File system"), text("none is chosen")
    if option.id == "custom" or option.throughput_mb_per_s_per_tib is None:
        return text("Storage we have"), text("{size} usable", size=brief(option.capacity_gib * GIB, BYTES))
    return text("FSx for Lustre"), offer_words(replace(option, efa=False))


def _system_use(draft: Draft, option: Option | None) -> Text | None:
    """How much of its share each server gives in this phase."""
    limit = draft.phase.limit if draft.phase else None
    if limit is not None and limit.id in {"connections", "servers_network"}:
        return limit_words(limit)
    hops = [draft.phase.hop(name) for name in ("disks", "storage")] if draft.phase else []
    hop = next((hop for hop in hops if hop is not None), None)
    if hop is None or option is None or "storage" not in draft.way:
        return None
    count = option.servers or 1
    if hop.ceiling_bytes_per_s is None or hop.load_bytes_per_s is None:
        return text("use not known")
    load, can = (significant(rate / count / 1e9) for rate in (hop.load_bytes_per_s, hop.ceiling_bytes_per_s))
    ratio = hop.use_ratio or 0.0
    values = {"load": load, "can": can, "use": brief(ratio, FRACTION, 2 if ratio < 1 else 3)}
    return text("{use}: {load} of {can} GB/s each", **values) if count > 1 else text("{use}: {load} of {can} GB/s", **values)
