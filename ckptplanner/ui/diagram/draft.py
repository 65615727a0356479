"""What is gathered while a board is laid out, and the rows that it is laid out in. No Qt."""

from __future__ import annotations

from dataclasses import dataclass, field

from ckptplanner.engine.node_plan import Hop, Phase
from ckptplanner.engine.plan import Plan
from ckptplanner.text import Text, text
from ckptplanner.ui.diagram.node import Node
from ckptplanner.ui.diagram.roles import Way, load_at
from ckptplanner.ui.diagram.shapes import Box, Label, Line, Rect
from ckptplanner.units import BYTES_PER_S, FRACTION, brief

PAD = 12.0

# rows of the board from top to bottom: least height, share of what is left over, most height
_ROWS = {
    "head": (28.0, 0.0, 28.0), "gpu": (36.0, 1.0, 64.0), "gap_gpu": (20.0, 1.4, 72.0), "switch": (20.0, 0.6, 36.0),
    "gap_switch": (12.0, 1.0, 64.0), "cards": (36.0, 1.0, 64.0), "gap_cards": (24.0, 1.4, 112.0),
    "cpu": (68.0, 1.4, 116.0), "gap_cpu": (24.0, 1.4, 104.0), "ena": (40.0, 0.8, 60.0), "foot": (8.0, 1.0, 40.0),
}  # fmt: skip


def snap(value: float) -> float:
    """Down to the grid of 4 px."""
    return float(int(value) // 4 * 4)


@dataclass(slots=True)
class Draft:
    """What is gathered while a board is laid out."""

    plan: Plan
    node: Node
    phase: Phase | None
    way: Way
    shows_gradients: bool
    boxes: list[Box] = field(default_factory=list)
    lines: list[Line] = field(default_factory=list)
    labels: list[Label] = field(default_factory=list)
    rows: dict[str, tuple[float, float]] = field(default_factory=dict)  # top and height

    def load(self, *hop_ids: str) -> float | None:
        return None if self.phase is None else load_at(self.phase, *hop_ids)

    @property
    def is_single(self) -> bool:
        """Whether one node writes what all hold, in the phase that is drawn."""
        is_write = self.phase is not None and self.phase.name in {"snapshot", "shared_write", "s3_write"}
        return is_write and self.plan.scenario.workload.writer == "single"

    def add(self, box: Box) -> Rect:
        self.boxes.append(box)
        return box.rect

    def top(self, row: str) -> float:
        return self.rows[row][0]

    def bottom(self, row: str) -> float:
        return sum(self.rows[row])

    def line(self, role: str, points: list[tuple[float, float]], load: float | None = None, *, arrow: bool = False) -> None:
        """Add a line, running the way the data goes."""
        is_lit = role in self.way
        ordered = tuple(reversed(points)) if self.way.is_back and is_lit else tuple(points)
        name = f"{role} {sum(line.role == role for line in self.lines) + 1}"
        self.lines.append(Line(name, role, ordered, is_lit, arrow and is_lit, load if is_lit else None))


def rows_of(height: float) -> dict[str, tuple[float, float]]:
    """Where each row begins and how high it is: what is left over goes to the rows by their shares."""
    heights = {name: least for name, (least, _, _) in _ROWS.items()}
    spare = height - sum(heights.values())
    for _ in range(3):  # rows that have reached their most leave the rest to others
        open_rows = {name: share for name, (_, share, most) in _ROWS.items() if share and heights[name] < most}
        total = sum(open_rows.values())
        for name, share in open_rows.items():
            heights[name] = min(heights[name] + spare * share / total, _ROWS[name][2])
        spare = height - sum(heights.values())
    rows, top = {}, 0.0
    for name, row in heights.items():
        rows[name] = (top, snap(row) if name != "foot" else height - top)
        top += rows[name][1]
    return rows


def limit_words(hop: Hop) -> Text:
    rate = brief(hop.ceiling_bytes_per_s, BYTES_PER_S) if hop.ceiling_bytes_per_s is not None else ""
    if not rate:
        return text("the limit")
    if hop.use_ratio is None:
        return text("limit: {rate}", rate=rate)
    return text("limit: {rate}, {use}", rate=rate, use=brief(hop.use_ratio, FRACTION, 2 if hop.use_ratio < 1 else 3))


def bus_y(draft: Draft) -> float:
    return draft.top("cards") - 8 if draft.node.is_direct else draft.bottom("cards") + 8
