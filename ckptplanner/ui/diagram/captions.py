"""Words on the lines, and the mark of the bottleneck with its words where its own box has no room. No Qt."""

from __future__ import annotations

from ckptplanner.engine.node_plan import Hop
from ckptplanner.text import text
from ckptplanner.ui.diagram.draft import PAD, Draft, bus_y, limit_words
from ckptplanner.ui.diagram.roles import roles_of
from ckptplanner.ui.diagram.shapes import Label, Rect
from ckptplanner.units import BYTES_PER_S, brief

_TAG = 20.0


def add_marks(draft: Draft, board: Rect) -> None:
    limit = draft.phase.limit if draft.phase else None
    mark_role = ""
    if limit is not None:
        present = [box.role for box in draft.boxes] + [line.role for line in draft.lines]
        mark_role = roles_of(limit, draft.way, present)[0]
        rect = _mark_rect(draft, mark_role, board)
        if rect is not None:
            draft.labels.append(
                Label(limit_words(limit), rect, "limit", "centre" if rect.x == board.x + PAD else "left", mark_role)
            )
    ena = next(box for box in draft.boxes if box.id == "ena").rect
    if "cpu_ena" in draft.way and mark_role != "cpu_ena":
        lines = [line for line in draft.lines if line.role == "cpu_ena"]
        load, gap = lines[0].load_bytes_per_s, draft.rows["gap_cpu"]
        if load is not None:
            words = text("PCIe, {rate}", rate=brief(load, BYTES_PER_S))
            low, high = lines[0].points[0][0] - 8, lines[-1].points[0][0] + 8
            draft.labels.append(Label(words, Rect(low - 140, gap[0], 140, gap[1]), "lit", "right", "cpu_ena"))
            if len(lines) > 1:
                draft.labels.append(Label(words, Rect(high, gap[0], 140, gap[1]), "lit", "left", "cpu_ena"))
    has_room = not {"cards", "drives", "switch_cpu"} & {mark_role} and not {"cards", "trunk"} <= draft.way.roles
    if "switch_cpu" in draft.way and has_room and draft.rows["gap_cards"][1] >= _TAG:
        first = draft.lines[[line.role for line in draft.lines].index("switch_cpu")]
        if first.load_bytes_per_s is not None:
            rate = brief(first.load_bytes_per_s, BYTES_PER_S)
            words = text("C2C, {rate}", rate=rate) if draft.node.is_direct else text("PCIe, {rate}", rate=rate)
            room = Rect(first.points[0][0] + 10, draft.top("gap_cards"), 104, draft.rows["gap_cards"][1])
            draft.labels.append(Label(words, room, "lit", "left", "switch_cpu"))
    if "trunk" in draft.way and "cards" not in draft.way and mark_role != "trunk":
        hop = _narrowest(draft, "client", "flows", "connections")
        if hop is not None and hop.ceiling_bytes_per_s is not None:
            rate, is_rdma = brief(hop.ceiling_bytes_per_s, BYTES_PER_S), draft.phase is not None and draft.phase.hop("efa")
            words = text("EFA, {rate} at most", rate=rate) if is_rdma else text("TCP, {rate} at most", rate=rate)
            room = Rect(ena.right + 12, ena.middle_y + 6, board.right - ena.right - 16, 20)
            draft.labels.append(Label(words, room, "lit", "left", "trunk"))


def _narrowest(draft: Draft, *hop_ids: str) -> Hop | None:
    hops = [draft.phase.hop(name) for name in hop_ids] if draft.phase else []
    known = [hop for hop in hops if hop is not None and hop.ceiling_bytes_per_s is not None]
    return min(known, key=lambda hop: hop.ceiling_bytes_per_s or 0.0, default=None)


def _mark_rect(draft: Draft, role: str, board: Rect) -> Rect | None:
    """Where the words of the bottleneck stand: in the gap below its row. Boxes outside carry theirs inside."""
    below = {
        "gpu": "gap_gpu", "gpu_switch": "gap_gpu", "switch_cards": "gap_switch", "switch_drives": "gap_switch",
        "cards": "gap_cards", "drives": "gap_cards", "switch_cpu": "gap_cards", "cpu": "gap_cpu", "ram": "gap_cpu",
        "cpu_ena": "gap_cpu",
    }  # fmt: skip
    if role in below:
        top, high = draft.rows[below[role]]
        if len([line for line in draft.lines if line.role == "switch_cpu"]) % 2:  # a line runs down the middle
            x = board.middle_x + 12
            return Rect(x, top + (high - _TAG) / 2, board.right - PAD - x, _TAG)
        offset = 4 if role == "cards" and not draft.node.is_direct and "trunk" in draft.way else 0
        return Rect(board.x + PAD, top + (high - _TAG) / 2 + offset, board.w - 2 * PAD, _TAG)
    if role == "trunk":
        ena = next(box for box in draft.boxes if box.id == "ena").rect
        if "cards" not in draft.way:
            return Rect(ena.right + 8, ena.middle_y - _TAG - 6, board.right + 40 - ena.right - 8, _TAG)
        return Rect(board.x + PAD, bus_y(draft) - _TAG / 2, board.w - 2 * PAD, _TAG)
    return None
