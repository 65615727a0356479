"""Where each node of a cluster lies in a rectangle: racks as lines of cells, in as many columns as keep the cells large.

rack 1  [0 1][2 3][4 5][6 7]      rack 3  [16 17]...
rack 2  [8 9]...                  rack 4  ...
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from PySide6.QtCore import QRectF

from ckptplanner.ui.survive.case import Cluster

_LEAST, _WIDEST, _TALLEST = 6.0, 84.0, 68.0  # from one cell to the next [px]
_COLUMN_GAP, _WITHOUT_RACKS = 16.0, 8
_LABELS = (56.0, 30.0, 0.0)  # words and number, number alone, none


@dataclass(frozen=True, slots=True)
class NodePlan:
    """Cells of one size on a grid; a line holds `per_line` of them, a rack `rack_lines` lines, side by side in `columns`."""

    cluster: Cluster
    per_line: int
    rack_lines: int
    racks: int
    columns: int
    cell_w: float  # from one cell to the next
    cell_h: float
    label_w: float

    @property
    def gap(self) -> float:
        """Between cells of different groups. [px]"""
        least = min(self.cell_w, self.cell_h)
        return 8.0 if least >= 36 else 4.0 if least >= 20 else 2.0 if least >= 12 else 1.0

    @property
    def rows(self) -> int:
        """Racks under one another."""
        return math.ceil(self.racks / self.columns)

    @property
    def column_w(self) -> float:
        """A rack with its label. [px]"""
        return self.label_w + self.per_line * self.cell_w

    @property
    def width(self) -> float:
        """All of it. [px]"""
        return self.columns * (self.column_w + _COLUMN_GAP) - _COLUMN_GAP

    @property
    def height(self) -> float:
        """All of it. [px]"""
        return self.rows * self.rack_lines * self.cell_h

    @property
    def has_numbers(self) -> bool:
        """Whether a number has room in a cell."""
        digits = len(str(self.cluster.nodes - 1))
        return self.cell_h - self.gap >= 14 and self.cell_w - self.gap >= 7 * digits + 4

    @property
    def per_rack(self) -> int:
        """Nodes from one label to the next."""
        return rack_size(self.cluster) or self.per_line

    def place(self, node: int) -> tuple[int, int, int]:
        """Rack, line in it and cell in the line."""
        rack, inside = divmod(node, self.per_rack)
        return (rack, *divmod(inside, self.per_line))

    def cell(self, node: int) -> QRectF:
        """Where a node is drawn."""
        rack, line, at = self.place(node)
        column, row = divmod(rack, self.rows)
        left = column * (self.column_w + _COLUMN_GAP) + self.label_w + at * self.cell_w
        top = (row * self.rack_lines + line) * self.cell_h
        return QRectF(left, top, self.cell_w - self.gap, self.cell_h - self.gap)

    def is_joined(self, node: int, other: int) -> bool:
        """Whether two neighbours by number are drawn as one box: of one group, in one line."""
        if not (min(node, other) >= 0 and max(node, other) < self.cluster.nodes):
            return False
        group_of = self.cluster.group_of
        return group_of[node] == group_of[other] and self.place(node)[:2] == self.place(other)[:2]

    def slot(self, node: int) -> QRectF:
        """The node's part of its box, up to the middle of the gap where it is joined."""
        half = self.gap / 2
        return self.cell(node).adjusted(
            -half if self.is_joined(node - 1, node) else 0.0, 0.0, half if self.is_joined(node, node + 1) else 0.0, 0.0
        )

    def label(self, rack: int) -> QRectF:
        """Where a rack's name stands; empty where racks are not labelled."""
        column, row = divmod(rack, self.rows)
        return QRectF(
            column * (self.column_w + _COLUMN_GAP), row * self.rack_lines * self.cell_h,
            self.label_w, self.rack_lines * self.cell_h - self.gap,
        )  # fmt: skip

    def node_at(self, x: float, y: float) -> int | None:
        """The node at a point; gaps belong to the cell before them."""
        found = self._rack_at(x, y)
        if found is None:
            return None
        rack, inside, line = found
        at = math.floor((inside - self.label_w) / self.cell_w)
        node = rack * self.per_rack + line * self.per_line + at
        is_there = 0 <= at < self.per_line and line * self.per_line + at < self.per_rack and node < self.cluster.nodes
        return node if is_there else None

    def rack_at(self, x: float, y: float) -> int | None:
        """The rack whose label is at a point."""
        found = self._rack_at(x, y)
        return found[0] if found is not None and found[1] < self.label_w else None

    def _rack_at(self, x: float, y: float) -> tuple[int, float, int] | None:
        column, inside = divmod(x, self.column_w + _COLUMN_GAP)
        row, line = divmod(math.floor(y / self.cell_h), self.rack_lines)
        rack = int(column) * self.rows + row
        if x < 0 or y < 0 or row >= self.rows or not 0 <= rack < self.racks or inside >= self.column_w:
            return None
        return (rack, inside, line)

    def beside(self, node: int, dx: int, dy: int) -> int:
        """The next node in a direction, the same one at the edge."""
        here = self.cell(node).center()
        step_x, step_y = dx * self.cell_w, dy * self.cell_h
        found = self.node_at(here.x() + step_x, here.y() + step_y)
        if found is None and dx:  # over the gap and the label into the next column
            found = self.node_at(here.x() + dx * (self.cell_w + self.label_w + _COLUMN_GAP), here.y())
        return node if found is None else found


def rack_size(cluster: Cluster) -> int:
    """Nodes drawn as a rack; 0 where racks are not known, or are single nodes."""
    return min(cluster.rack_nodes, cluster.nodes) if cluster.rack_nodes > 1 else 0


def fit(cluster: Cluster, width: float, height: float) -> NodePlan:
    """The arrangement with the largest cells in that room; where they would be too small it is taller than the room."""
    best: tuple[float, NodePlan] | None = None
    rack = rack_size(cluster)
    for per_line in _lines(cluster):
        per_rack = rack or per_line
        racks, rack_lines = math.ceil(cluster.nodes / per_rack), math.ceil(per_rack / per_line)
        for columns in range(1, min(racks, 16) + 1 if rack else 2):
            rows = math.ceil(racks / columns)
            if columns > 1 and math.ceil(racks / rows) < columns:
                continue  # the last column would be empty
            for label in _LABELS if rack else (0.0,):
                wide = (width - (columns - 1) * _COLUMN_GAP) / columns - label
                cell_w, cell_h = min(wide / per_line, _WIDEST), min(height / (rows * rack_lines), _TALLEST)
                score = min(cell_w, 1.4 * cell_h) - 0.01 * columns
                if label and cell_h * rack_lines >= (30 if label > 40 else 12):
                    score += 12.0 if label > 40 else 6.0
                if cell_w < 3:
                    score -= 1000.0
                made = NodePlan(cluster, per_line, rack_lines, racks, columns, cell_w, cell_h, label)
                if best is None or score > best[0]:
                    best = (score, made)
    assert best is not None
    found = best[1]
    return _whole(found) if min(found.cell_w, found.cell_h) >= _LEAST else _scrolled(cluster, width)


def _lines(cluster: Cluster) -> list[int]:
    """How many cells a line may hold: a whole rack or a part of it, otherwise multiples of 8."""
    most = rack_size(cluster) or cluster.nodes
    steps = [count for count in (8, 16, 24, 32, 48, 64, 96, 128) if count < most]
    return [*steps, most] if most <= 128 else steps


def _whole(found: NodePlan) -> NodePlan:
    """Cells on whole pixels, so that all of them are equally sharp."""
    return NodePlan(
        found.cluster, found.per_line, found.rack_lines, found.racks, found.columns,
        float(math.floor(found.cell_w)), float(math.floor(found.cell_h)), found.label_w,
    )  # fmt: skip


def _scrolled(cluster: Cluster, width: float) -> NodePlan:
    """Squares of the least size in as many lines as it takes."""
    rack = rack_size(cluster)
    label = 30.0 if rack >= 32 else 0.0
    most = max(math.floor((width - label) / _LEAST), 8)
    if not rack:
        per_line = min(most - most % 8, cluster.nodes)
        wide = math.floor(width / per_line)
        return NodePlan(cluster, per_line, 1, math.ceil(cluster.nodes / per_line), 1, wide, min(wide, 8.0), 0.0)
    per_line = min(rack, most - most % 8 if most < rack else most)
    racks, lines = math.ceil(cluster.nodes / rack), math.ceil(rack / per_line)
    columns = max(min(math.floor((width + _COLUMN_GAP) / (label + per_line * _LEAST + _COLUMN_GAP)), racks), 1)
    wide = math.floor(((width - (columns - 1) * _COLUMN_GAP) / columns - label) / per_line)
    return NodePlan(cluster, per_line, lines, racks, columns, wide, min(wide, 8.0), label)
