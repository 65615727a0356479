"""The board of a node as a widget: point at a part to read it, click it to go to its field, walk the hops with keys."""

from __future__ import annotations

import math

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFocusEvent, QHelpEvent, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QToolTip, QWidget
from typing_extensions import override

from ckptplanner.engine.node_plan import Hop, Phase
from ckptplanner.engine.plan import Plan
from ckptplanner.ui.diagram.hop_words import hop_lines
from ckptplanner.ui.diagram.layout import LEAST_HEIGHT, LEAST_WIDTH, layout_of
from ckptplanner.ui.diagram.paint import LayoutPainter
from ckptplanner.ui.diagram.shapes import Box, Layout, Line
from ckptplanner.ui.theme import LIGHT, Theme
from ckptplanner.ui.words import say, say_text

_NEAR = 6.0
_SMALLEST = 0.85  # below its least size the board is drawn smaller as a whole
_FORWARD = (Qt.Key.Key_Right, Qt.Key.Key_Down)
_BACK = (Qt.Key.Key_Left, Qt.Key.Key_Up)


def paint_board(
    painter: QPainter, rect: QRectF, plan: Plan, phase: str, theme: Theme, *, shows_gradients: bool = False
) -> None:  # fmt: skip
    """Draw the board of a plan's phase into `rect` as vectors, on any painter."""
    layout = layout_of(plan, phase, rect.width(), rect.height(), shows_gradients=shows_gradients)
    scale = min(rect.width() / layout.size[0], rect.height() / layout.size[1], 1.0)
    painter.save()
    painter.translate(rect.topLeft())
    painter.scale(scale, scale)
    LayoutPainter(painter, layout, phase_of(plan, phase), theme).paint()
    painter.restore()


def phase_of(plan: Plan | None, name: str) -> Phase | None:
    """The phase of that name, None where the plan has none."""
    if plan is None or plan.datapath is None:
        return None
    return next((phase for phase in plan.datapath.phases if phase.name == name), None)


class Board(QWidget):
    """The board that is looked at."""

    field_requested = Signal(str)
    cursor_moved = Signal(str)
    hop_pointed = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("board")
        self.setAccessibleName(say("The way of the data through a node"))
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.setMinimumSize(int(LEAST_WIDTH * _SMALLEST), int(LEAST_HEIGHT * _SMALLEST))
        self._plan: Plan | None = None
        self._phase_name = ""
        self._theme = LIGHT
        self._shows_gradients = False
        self._layout: Layout | None = None
        self._chosen = ""  # id of the hop that keys have come to
        self._pointed = ""  # id of the hop that is pointed at in the table

    def show_phase(self, plan: Plan | None, phase: str) -> None:
        """Draw a phase of a plan."""
        self._plan, self._phase_name = plan, phase
        ids = {hop.id for hop in self.hops()}
        self._chosen, self._pointed = (one if one in ids else "" for one in (self._chosen, self._pointed))
        found = phase_of(plan, phase)
        words = [say_text(found.sentence), say_text(found.detail)] if found is not None else []
        self.setAccessibleDescription("\n".join([*words, *self._strong_lines()]))
        self._forget()

    def show_theme(self, theme: Theme) -> None:
        """Take the colours of a theme."""
        self._theme = theme
        self.update()

    def show_gradients(self, is_shown: bool) -> None:
        """Draw where a gradient goes as well, or not."""
        self._shows_gradients = is_shown
        self._forget()

    def show_hop(self, hop_id: str) -> None:
        """Put a ring around the places of a hop; "" takes it away."""
        if hop_id != self._pointed:
            self._pointed = hop_id
            self.update()

    @property
    def strong_hop(self) -> str:
        """The id of the hop with the ring."""
        return self._pointed or self._chosen

    def hops(self) -> tuple[Hop, ...]:
        """The hops of the phase that is shown."""
        phase = phase_of(self._plan, self._phase_name)
        return phase.hops if phase is not None else ()

    def drawn(self) -> Layout | None:
        """The layout at the present size."""
        if self._layout is None and self._plan is not None:
            size = self.size()
            self._layout = layout_of(
                self._plan, self._phase_name, size.width(), size.height(), shows_gradients=self._shows_gradients
            )
        return self._layout

    def _scale(self) -> float:
        layout = self.drawn()
        return 1.0 if layout is None else min(self.width() / layout.size[0], self.height() / layout.size[1], 1.0)

    def place_of(self, hop_id: str) -> QPointF | None:
        """A point on the board at which a click asks for that hop's field."""
        layout = self.drawn()
        places = layout.places_of(hop_id) if layout is not None else ()
        spots = [QPointF(item.rect.middle_x, item.rect.y + 8) if isinstance(item, Box) else _middle(item) for item in places]
        answers = [(spot * self._scale(), [hop.id for hop in self._hops_at(spot * self._scale())]) for spot in spots]
        first = [spot for spot, ids in answers if ids[:1] == [hop_id]]
        return next(iter([*first, *(spot for spot, ids in answers if hop_id in ids)]), None)

    def _forget(self) -> None:
        self._layout = None
        self.update()

    # ------------------------------------------------------------ what lies where

    def _item_at(self, place: QPointF) -> Box | Line | None:
        """The part under a point: the innermost box, unless a lit line is nearer than what is around it."""
        layout = self.drawn()
        if layout is None:
            return None
        place = place / self._scale()
        inside = [box for box in layout.boxes if _holds(box, place)]
        box = min(inside, key=lambda one: one.rect.w * one.rect.h, default=None)
        if box is None or box.role in {"node", "cpu", "storage"}:
            near = [(gap, line) for line in layout.lines if line.hops and (gap := _gap(line, place)) <= _NEAR]
            if near:
                return min(near, key=lambda one: one[0])[1]
        return box

    def _hops_at(self, place: QPointF) -> tuple[Hop, ...]:
        """The hops of the part under a point, the narrowest first; a box without any leaves it to the one around it."""
        layout, item = self.drawn(), self._item_at(place)
        if layout is None or item is None:
            return ()
        ids = item.hops
        while not ids and isinstance(item, Box) and item.parent:
            item = layout.box(item.parent)
            ids = item.hops
        found = [hop for hop_id in ids for hop in self.hops() if hop.id == hop_id]
        if isinstance(item, Box) and item.role in {"storage", "peer"}:  # their own hop first, then those of what is inside
            return tuple(found)
        return tuple(sorted(found, key=lambda hop: -1.0 if hop.use_ratio is None else hop.use_ratio, reverse=True))

    def _tip(self, place: QPointF) -> str:
        hops, item = self._hops_at(place), self._item_at(place)
        phase = phase_of(self._plan, self._phase_name)
        if hops:
            limit = phase.bottleneck if phase is not None else None
            return "\n\n".join("\n".join(hop_lines(hop, is_limit=hop.id == limit)) for hop in hops)
        if isinstance(item, Box) and item.role != "node":
            return "\n".join(say_text(words) for words in (item.title, item.right, item.second) if words is not None)
        return ""

    # ------------------------------------------------------------ mouse

    @override
    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        hops = self._hops_at(event.position())
        self.setCursor(Qt.CursorShape.PointingHandCursor if hops else Qt.CursorShape.ArrowCursor)
        limit = self._limit_id()
        self.cursor_moved.emit(", ".join(hop_lines(hops[0], is_limit=hops[0].id == limit)[:3]) if hops else "")
        self.hop_pointed.emit(hops[0].id if hops else "")

    @override
    def leaveEvent(self, event: QEvent) -> None:
        self.cursor_moved.emit("")
        self.hop_pointed.emit("")

    @override
    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            self._ask(self._hops_at(event.position()))

    def _ask(self, hops: tuple[Hop, ...]) -> None:
        path = next((hop.path for hop in hops if hop.path), "")
        if path:
            self.field_requested.emit(path)

    def _limit_id(self) -> str | None:
        phase = phase_of(self._plan, self._phase_name)
        return phase.bottleneck if phase is not None else None

    @override
    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            QToolTip.showText(event.globalPos(), self._tip(QPointF(event.pos())), self)
            return True
        return super().event(event)

    def tip_at(self, place: QPointF) -> str:
        """What the tooltip says at a point."""
        return self._tip(place)

    # ------------------------------------------------------------ keys

    @override
    def focusNextPrevChild(self, next: bool) -> bool:
        """Tab walks the hops and leaves after the last one."""
        return self._step(1 if next else -1) or super().focusNextPrevChild(next)

    def _step(self, by: int) -> bool:
        ids = [hop.id for hop in self.hops()]
        index = ids.index(self._chosen) + by if self._chosen in ids else (0 if by > 0 else len(ids) - 1)
        if not 0 <= index < len(ids):
            return False
        self._choose(ids[index])
        return True

    def _choose(self, hop_id: str) -> None:
        self._chosen = hop_id
        self.update()
        self.hop_pointed.emit(hop_id)
        phase = phase_of(self._plan, self._phase_name)
        words = [say_text(phase.sentence)] if phase is not None else []
        self.setAccessibleDescription("\n".join([*words, *self._strong_lines()]))
        self.cursor_moved.emit(", ".join(self._strong_lines()[:3]))

    def _strong_lines(self) -> list[str]:
        hop = next((hop for hop in self.hops() if hop.id == self._chosen), None)
        return hop_lines(hop, is_limit=hop.id == self._limit_id()) if hop is not None else []

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = Qt.Key(event.key())
        if key in _FORWARD or key in _BACK:
            self._step(1 if key in _FORWARD else -1)
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space) and self._chosen:
            self._ask(tuple(hop for hop in self.hops() if hop.id == self._chosen))
        else:
            super().keyPressEvent(event)

    @override
    def focusInEvent(self, event: QFocusEvent) -> None:
        ids = [hop.id for hop in self.hops()]
        if ids and event.reason() in (Qt.FocusReason.TabFocusReason, Qt.FocusReason.BacktabFocusReason):
            self._choose(ids[-1 if event.reason() == Qt.FocusReason.BacktabFocusReason else 0])
        super().focusInEvent(event)

    @override
    def focusOutEvent(self, event: QFocusEvent) -> None:
        self._chosen = ""
        self.update()
        self.hop_pointed.emit("")
        super().focusOutEvent(event)

    # ------------------------------------------------------------ painting

    @override
    def sizeHint(self) -> QSize:
        return QSize(840, self.minimumHeight())  # it takes what is left, and asks for no more than it must have

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        self._forget()

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        layout = self.drawn()
        if layout is not None:
            painter = QPainter(self)
            painter.scale(self._scale(), self._scale())
            LayoutPainter(painter, layout, phase_of(self._plan, self._phase_name), self._theme, self.strong_hop).paint()


def _holds(box: Box, place: QPointF) -> bool:
    rect = box.rect
    return rect.x <= place.x() <= rect.right and rect.y <= place.y() <= rect.bottom


def _middle(line: Line) -> QPointF:
    """Halfway along the longest part of a line."""
    pairs = list(zip(line.points, line.points[1:], strict=False))
    (x1, y1), (x2, y2) = max(pairs, key=lambda pair: math.dist(*pair))
    return QPointF((x1 + x2) / 2, (y1 + y2) / 2)


def _gap(line: Line, place: QPointF) -> float:
    """How far a point is from a line; lines run across or down only."""
    gaps = []
    for (x1, y1), (x2, y2) in zip(line.points, line.points[1:], strict=False):
        x = min(max(place.x(), min(x1, x2)), max(x1, x2))
        y = min(max(place.y(), min(y1, y2)), max(y1, y2))
        gaps.append(math.hypot(place.x() - x, place.y() - y))
    return min(gaps)
