"""The cluster as a grid of nodes: which belong together, which are lost. A click or Space loses a node or brings it back."""

from __future__ import annotations

import math
from collections.abc import Iterable

from PySide6.QtCore import QEvent, QLineF, QPoint, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QHelpEvent, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPixmap, QResizeEvent
from PySide6.QtWidgets import QScrollArea, QToolTip, QWidget
from typing_extensions import override

from ckptplanner.ui.ink import box, cross, hatch, mix, pen, width_of, write
from ckptplanner.ui.survive.case import Case, Cluster, nodes_word
from ckptplanner.ui.survive.places import NodePlan, fit
from ckptplanner.ui.theme import BODY_PX, LIGHT, SMALL_PX, Theme
from ckptplanner.ui.words import node_count, say

HEAD = 20  # the line above the cells
_CHIP = 18.0
_SCROLL = 10
_LISTED = 16
_SEARCHED = 4096  # in larger clusters colours follow a pattern
_INSET = 3  # round the cells, for the ring of the keyboard


def caption(cluster: Cluster) -> str:
    """What the boxes are."""
    count, size = len(cluster.groups), cluster.factor
    if size < 2:
        return (
            say("{count} nodes, no copies on other nodes", count=f"{cluster.nodes:,}") if cluster.nodes > 1 else say("1 node")
        )
    apart = cluster.groups[0][-1] - cluster.groups[0][0] > size - 1
    if not apart:
        if size == 2:
            return say("{count} groups of 2 nodes; each holds both shards", count=f"{count:,}")
        return say("{count} groups of {size} nodes; each holds all {size} shards", count=f"{count:,}", size=size)
    step = cluster.groups[0][1] - cluster.groups[0][0]
    return say("{count} groups of {size} nodes, {step} apart; point at one to see its group",
               count=f"{count:,}", size=size, step=step)  # fmt: skip


def colours_of(cluster: Cluster, places: NodePlan) -> list[int]:
    """A step of the palette for each group, other than those of the groups beside it and above it."""
    if cluster.nodes > _SEARCHED:
        return [(group + cluster.groups[group][0] // places.per_line) % 4 for group in range(len(cluster.groups))]
    found = [-1] * len(cluster.groups)
    for group, members in enumerate(cluster.groups):
        taken = set()
        for node in members[:16]:
            x, y = places.cell(node).center().toTuple()
            for dx, dy in ((-1, 0), (0, -1), (1, 0), (0, 1)):
                other = places.node_at(x + dx * places.cell_w, y + dy * places.cell_h)
                if other is not None and cluster.group_of[other] != group:
                    taken.add(found[cluster.group_of[other]])
        start = group % 4
        found[group] = next((step % 4 for step in range(start, start + 4) if step % 4 not in taken), start)
    return found


def runs_of(places: NodePlan, nodes: Iterable[int]) -> list[tuple[int, int]]:
    """First and last node of each box: neighbours in a line that hold one another's copies."""
    runs: list[tuple[int, int]] = []
    for node in nodes:
        if runs and node == runs[-1][1] + 1 and places.is_joined(node - 1, node):
            runs[-1] = (runs[-1][0], node)
        else:
            runs.append((node, node))
    return runs


def paint_cells(painter: QPainter, places: NodePlan, theme: Theme) -> None:
    """Racks and groups, without what happened to them."""
    cluster, colours = places.cluster, colours_of(places.cluster, places)
    is_small = places.gap < 2
    by_colour: dict[int, list[QRectF]] = {}
    for first, last in runs_of(places, range(cluster.nodes)):
        room, colour = places.cell(first).united(places.cell(last)), colours[cluster.group_of[first]]
        if is_small:
            by_colour.setdefault(colour, []).append(room)
            continue
        box(painter, room, theme.groups[colour], theme.line, radius=3.0 if places.gap > 3 else 2.0)
        for node in range(first + 1, last + 1):
            x = math.floor(places.slot(node).left()) + 0.5
            painter.setPen(pen(theme.edge))
            inset = min(6.0, room.height() / 4)
            painter.drawLine(QLineF(x, room.top() + inset, x, room.bottom() - inset))
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
    painter.setPen(Qt.PenStyle.NoPen)
    for colour, rooms in by_colour.items():
        painter.setBrush(
            QColor(theme.groups[colour]).darker(108) if not theme.is_dark else QColor(theme.groups[colour]).lighter(125)
        )
        painter.drawRects(rooms)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    if places.has_numbers:
        pixels = BODY_PX if places.cell_h >= 28 else SMALL_PX
        for node in range(cluster.nodes):
            write(painter, places.slot(node), str(node), theme.text, pixels=pixels, align="middle")
    if places.label_w:
        _paint_labels(painter, places, theme)


def _paint_labels(painter: QPainter, places: NodePlan, theme: Theme) -> None:
    for rack in range(places.racks):
        room = places.label(rack)
        if places.label_w < 40:
            if room.height() >= 9 or rack % 5 == 4:
                write(painter, room.adjusted(0, -2, -6, 2), str(rack + 1), theme.muted, align="right")
            continue
        count = len(places.cluster.rack(rack))
        middle = room.center().y()
        two = room.height() >= 30
        top = QRectF(room.left(), middle - (15 if two else 8), room.width() - 4, 15)
        write(painter, top, say("rack {number}", number=rack + 1), theme.muted)
        if two:
            words = node_count(count)
            write(painter, top.translated(0, 15), words, theme.muted)


def paint_lost(painter: QPainter, places: NodePlan, lost: Iterable[int], theme: Theme) -> None:
    """What is lost: a red edge, hatching and a cross, so that it does not hang on the colour."""
    nodes = sorted(lost)
    if places.gap < 4:
        _paint_small_losses(painter, places, nodes, theme)
        return
    gone = set(places.cluster.lost_groups(frozenset(nodes)))
    for first, last in runs_of(places, nodes):
        room = places.slot(first).united(places.slot(last))
        box(painter, room, theme.error_ground, "", radius=3.0)
        hatch(painter, room.adjusted(1, 1, -1, -1), mix(theme.error, theme.error_ground, 0.4), 6.0)
        box(painter, room, "", theme.error, radius=3.0, width=2.0 if places.cluster.group_of[first] in gone else 1.0)
        for node in range(first, last + 1):
            _paint_chip(painter, places, node, theme)


def _paint_chip(painter: QPainter, places: NodePlan, node: int, theme: Theme) -> None:
    room, number = places.slot(node), str(node)
    x, y = room.center().toTuple()
    if not places.has_numbers:
        cross(painter, x, y, theme.error, half=min(room.width(), room.height()) / 2 - 2)
        return
    pixels = BODY_PX if places.cell_h >= 28 else SMALL_PX
    wide = width_of(number, pixels)
    if room.width() >= wide + 20:
        gap = 9.0 if room.width() >= wide + 28 else 6.5
        tall = min(_CHIP, room.height() - 4)
        chip = QRectF(x - wide / 2 - gap - 3, y - tall / 2, wide + 2 * gap + 6, tall).intersected(room.adjusted(2, 2, -2, -2))
        box(painter, chip, theme.error_ground, "", radius=3.0)
        cross(painter, chip.left() + gap, y, theme.error, 1.5, min(gap / 2 - 0.5, tall / 2 - 2))
        write(painter, QRectF(chip.right() - wide - 3, chip.top(), wide + 2, tall), number, theme.error, pixels=pixels)
    else:
        chip = QRectF(x - 8, y - 8, 16, 16).intersected(room.adjusted(2, 2, -2, -2))
        box(painter, chip, theme.error_ground, "", radius=2.0)
        cross(painter, x, y, theme.error, 1.5, min(4.5, chip.height() / 2 - 1))


def _paint_small_losses(painter: QPainter, places: NodePlan, nodes: list[int], theme: Theme) -> None:
    rooms = [places.cell(node) for node in nodes]
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QColor(theme.error))
    painter.drawRects(rooms)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.setPen(pen(theme.surface))
    painter.drawLines([line for room in rooms for line in (
        QLineF(room.topLeft(), room.bottomRight()), QLineF(room.topRight(), room.bottomLeft()))])  # fmt: skip
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)


def paint_grid(painter: QPainter, room: QRectF, case: Case, theme: Theme) -> None:
    """Caption, racks, groups and losses in a rectangle, for a report."""
    write(painter, QRectF(room.left(), room.top(), room.width(), 16), caption(case.cluster), theme.muted)
    places = fit(case.cluster, room.width(), room.height() - HEAD)
    painter.save()
    painter.translate(room.left(), room.top() + HEAD)
    if places.height > room.height() - HEAD:
        painter.scale(1.0, (room.height() - HEAD) / places.height)
    paint_cells(painter, places, theme)
    paint_lost(painter, places, case.lost, theme)
    painter.restore()


def _inside(place: QPointF | QPoint) -> tuple[float, float]:
    return place.x() - _INSET, place.y() - _INSET


class Cells(QWidget):
    """The nodes; as tall as they need."""

    lost_chosen = Signal(object)
    hovered = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("survive.nodes")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self._theme = LIGHT
        self._case: Case | None = None
        self._places: NodePlan | None = None
        self._room = QSize(0, 0)
        self._picture: QPixmap | None = None  # the cells, and the same with what is lost
        self._with_losses: QPixmap | None = None
        self._at: int | None = None  # under the mouse
        self._cursor = 0

    @property
    def cluster(self) -> Cluster | None:
        """The nodes that are shown."""
        return None if self._case is None else self._case.cluster

    @property
    def cursor_node(self) -> int:
        """The node that the keys act on."""
        return self._cursor

    def show_theme(self, theme: Theme) -> None:
        """Take the colours of a theme."""
        self._theme, self._picture, self._with_losses = theme, None, None
        self.update()

    def show_case(self, case: Case | None) -> None:
        """Draw these nodes and losses."""
        before, self._case = self._case, case
        is_new = before is None or case is None or case.cluster is not before.cluster
        if case is not None and before is not None and not is_new and case.lost == before.lost:
            return
        self._with_losses = None
        if case is not None and is_new:
            self._cursor, self._at = min(self._cursor, case.cluster.nodes - 1), None
            self._arrange()
        if case is not None:
            lost = nodes_word(case.lost) if case.lost else say("none")
            self.setAccessibleName(say("Nodes"))
            self.setAccessibleDescription(say("{caption}. Lost: {lost}.", caption=caption(case.cluster), lost=lost))
        self.update()

    def show_room(self, room: QSize) -> None:
        """Take the room that can be seen without scrolling."""
        if room != self._room:
            self._room = room
            self._arrange()

    def _arrange(self) -> None:
        self._picture = self._with_losses = None
        if self._case is None or self._room.isEmpty():
            return
        width, height = self._room.width() - 2 * _INSET, self._room.height() - 2 * _INSET
        places = fit(self._case.cluster, width, height)
        is_long = places.height > height
        if is_long:
            places = fit(self._case.cluster, width - _SCROLL, height)
        self._places = places
        self.setFixedSize(self._room.width() - (_SCROLL if is_long else 0), max(int(places.height), height) + 2 * _INSET)

    def rect_of(self, node: int) -> QRectF:
        """Where a node is drawn."""
        return QRectF() if self._places is None else self._places.cell(node).translated(_INSET, _INSET)

    def rect_of_rack(self, rack: int) -> QRectF:
        """Where a rack's label is drawn."""
        return QRectF() if self._places is None else self._places.label(rack).translated(_INSET, _INSET)

    # ------------------------------------------------------------ drawing

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        if self._case is None or self._places is None:
            return
        painter, places, theme = QPainter(self), self._places, self._theme
        painter.drawPixmap(0, 0, self._drawn(places, self._case.lost))
        painter.translate(_INSET, _INSET)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if self._at is not None:
            for first, last in runs_of(places, sorted(self._case.cluster.members(self._at))):
                room = places.cell(first).united(places.cell(last))
                box(painter, room.adjusted(-1, -1, 1, 1), "", theme.text, radius=3.0, width=1.5)
        if self.hasFocus():
            box(painter, places.slot(self._cursor).adjusted(-2, -2, 2, 2), "", theme.accent, radius=4.0, width=2.0)

    def _drawn(self, places: NodePlan, lost: frozenset[int]) -> QPixmap:
        ratio = self.devicePixelRatioF()
        if self._picture is None or self._picture.devicePixelRatio() != ratio:
            self._picture, self._with_losses = QPixmap(self.size() * ratio), None
            self._picture.setDevicePixelRatio(ratio)
            self._picture.fill(Qt.GlobalColor.transparent)
            painter = QPainter(self._picture)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.translate(_INSET, _INSET)
            paint_cells(painter, places, self._theme)
            painter.end()
        if self._with_losses is None:
            self._with_losses = QPixmap(self._picture)
            painter = QPainter(self._with_losses)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.translate(_INSET, _INSET)
            paint_lost(painter, places, lost, self._theme)
            painter.end()
        return self._with_losses

    # ------------------------------------------------------------ hands

    def _lose(self, nodes: Iterable[int]) -> None:
        """Lose these nodes, or bring them back where all of them are lost already."""
        if self._case is None:
            return
        chosen = frozenset(nodes)
        lost = self._case.lost
        self.lost_chosen.emit(lost - chosen if chosen <= lost else lost | chosen)

    def words_of(self, node: int) -> str:
        """What is known about a node."""
        assert self._case is not None
        cluster = self._case.cluster
        words = say("node {node}", node=node)
        if cluster.factor > 1:
            members = cluster.members(node)
            words = say(
                "node {node}, group {group}: nodes {members}",
                node=node,
                group=cluster.group_of[node] + 1,
                members=", ".join(map(str, members[:_LISTED])) + (" …" if len(members) > _LISTED else ""),
            )
        if cluster.rack_nodes:
            words = say("{words}, rack {rack}", words=words, rack=cluster.rack_of(node) + 1)
        return say("{words}, lost", words=words) if node in self._case.lost else words

    @override
    def mousePressEvent(self, event: QMouseEvent) -> None:
        if self._places is None or self._case is None or event.button() != Qt.MouseButton.LeftButton:
            return
        x, y = _inside(event.position())
        rack, node = self._places.rack_at(x, y), self._places.node_at(x, y)
        if rack is not None:
            self._lose(self._case.cluster.rack(rack))
        elif node is not None:
            self._cursor = node
            self._lose([node])

    @override
    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self._places is None:
            return
        x, y = _inside(event.position())
        node = self._places.node_at(x, y)
        is_rack = self._places.rack_at(x, y) is not None
        self.setCursor(Qt.CursorShape.PointingHandCursor if node is not None or is_rack else Qt.CursorShape.ArrowCursor)
        self._point_at(node)

    @override
    def leaveEvent(self, event: QEvent) -> None:
        self._point_at(None)

    def _point_at(self, node: int | None) -> None:
        if node != self._at:
            self._at = node
            self.hovered.emit("" if node is None else self.words_of(node))
            self.update()

    @override
    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip and self._places is not None:
            x, y = _inside(event.pos())
            node, rack = self._places.node_at(x, y), self._places.rack_at(x, y)
            if node is not None:
                QToolTip.showText(event.globalPos(), self.words_of(node), self)
            elif rack is not None:
                QToolTip.showText(event.globalPos(), say("Lose rack {number}", number=rack + 1), self)
            else:
                QToolTip.hideText()
            return True
        return super().event(event)

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        if self._case is None or self._places is None:
            return
        moves = {Qt.Key.Key_Left: (-1, 0), Qt.Key.Key_Right: (1, 0), Qt.Key.Key_Up: (0, -1), Qt.Key.Key_Down: (0, 1)}
        key = Qt.Key(event.key())
        if key in moves:
            self._cursor = self._places.beside(self._cursor, *moves[key])
            self.hovered.emit(self.words_of(self._cursor))
            self.update()
        elif key == Qt.Key.Key_Space:
            self._lose([self._cursor])
        elif key == Qt.Key.Key_A and not event.modifiers():
            self.lost_chosen.emit(frozenset(range(self._case.cluster.nodes)))
        elif key == Qt.Key.Key_Escape and self._case.lost:
            self.lost_chosen.emit(frozenset())
        else:
            super().keyPressEvent(event)


class NodeGrid(QWidget):
    """The caption and the nodes, which scroll where they are too many."""

    lost_chosen = Signal(object)
    hovered = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("survive.grid")
        self._theme = LIGHT
        self._caption = ""
        self.cells = Cells()
        self._scroll = QScrollArea(self)
        self._scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._scroll.viewport().setAutoFillBackground(False)
        self.cells.setAutoFillBackground(False)
        self._scroll.setWidget(self.cells)
        self.cells.setAutoFillBackground(False)
        self.cells.lost_chosen.connect(self.lost_chosen)
        self.cells.hovered.connect(self.hovered)
        self.setMinimumSize(240, 120)

    def show_theme(self, theme: Theme) -> None:
        """Take the colours of a theme."""
        self._theme = theme
        self.cells.show_theme(theme)
        self.update()

    def show_case(self, case: Case | None) -> None:
        """Draw these nodes and losses."""
        self._caption = "" if case is None else caption(case.cluster)
        self.cells.show_case(case)
        self.update()

    def tallest(self, width: float) -> int:
        """The height from which on it would only become emptier."""
        if self.cells.cluster is None:
            return self.minimumHeight()
        return HEAD + _INSET + math.ceil(fit(self.cells.cluster, width - 2 * _INSET, 1e6).height)

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        self._scroll.setGeometry(0, HEAD - _INSET, self.width(), self.height() - HEAD + _INSET)
        self.cells.show_room(self._scroll.size())

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        write(painter, QRectF(_INSET, 0, self.width() - _INSET, 16), self._caption, self._theme.muted)
