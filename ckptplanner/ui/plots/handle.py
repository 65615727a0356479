"""The write time's tag above the plots and its grip between them, and the marks of scenarios; drawn in the scene, so that
pictures and the report show them too."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPainterPath
from PySide6.QtWidgets import QGraphicsItem, QGraphicsObject, QGraphicsSceneMouseEvent
from typing_extensions import override

from ckptplanner.ui.marks import mark_path
from ckptplanner.ui.plots.plot import pen
from ckptplanner.ui.theme import SMALL_PX, Mark, Theme, font


class Knob(QGraphicsObject):
    """Something to take hold of: it says where the mouse pulls it, and lets others move it.

    The item under a press gets all the moves until the release, so pyqtgraph's own drags and clicks stay out of it.
    """

    dragged = Signal(float)  # how far the mouse is from where it was pressed, in pixels of the scene
    dropped = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._pressed_at: float | None = None
        self.set_movable(False)

    def set_movable(self, is_movable: bool) -> None:
        """Let the mouse take hold, or let it through."""
        self.setAcceptedMouseButtons(Qt.MouseButton.LeftButton if is_movable else Qt.MouseButton.NoButton)
        if is_movable:
            self.setCursor(Qt.CursorShape.SizeHorCursor)
        else:
            self.unsetCursor()

    def drawn(self) -> QRectF:
        """What is seen; the mouse may be a little off."""
        raise NotImplementedError

    @override
    def boundingRect(self) -> QRectF:
        return self.drawn().adjusted(-5, -4, 5, 4)

    @override
    def mousePressEvent(self, event: QGraphicsSceneMouseEvent) -> None:
        self._pressed_at = event.scenePos().x()
        event.accept()

    @override
    def mouseMoveEvent(self, event: QGraphicsSceneMouseEvent) -> None:
        if self._pressed_at is not None:
            self.dragged.emit(event.scenePos().x() - self._pressed_at)

    @override
    def mouseReleaseEvent(self, event: QGraphicsSceneMouseEvent) -> None:
        self._pressed_at = None
        self.dropped.emit()


class Tag(Knob):
    """A small label on a ground, centred over a place and kept inside the width it is given."""

    def __init__(self, *, is_ghost: bool = False) -> None:
        super().__init__()
        self._text = ""
        self._ground, self._ink, self._edge = QColor("#000000"), QColor("#ffffff"), QColor()
        self._is_ghost = is_ghost
        self.setZValue(60)

    def show_text(self, text: str) -> None:
        """Set the words."""
        if text != self._text:
            self.prepareGeometryChange()
            self._text = text

    def show_theme(self, theme: Theme) -> None:
        """Take the colours of a theme."""
        self._ground = QColor(theme.surface if self._is_ghost else theme.accent)
        self._ink = QColor(theme.muted if self._is_ghost else theme.accent_text)
        self._edge = QColor(theme.edge if self._is_ghost else theme.accent)
        self.update()

    def place(self, x: float, y: float, left: float, right: float) -> None:
        """Stand centred on x, inside [left, right], the top at y."""
        half = self.drawn().width() / 2
        self.setPos(min(max(x, left + half), max(right - half, left + half)), y)

    def stand_beside(self, other: Tag) -> None:
        """Move aside where this tag would cover the other one."""
        room = (self.drawn().width() + other.drawn().width()) / 2 + 4
        gap = self.x() - other.x()
        if abs(gap) < room:
            self.setX(other.x() + (room if gap >= 0 else -room))

    @override
    def drawn(self) -> QRectF:
        width = QFontMetricsF(font(SMALL_PX)).horizontalAdvance(self._text) + 20
        return QRectF(-width / 2, 0, width, 19)

    @override
    def paint(self, painter: QPainter, option: Any, widget: Any = None) -> None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(pen(self._edge.name()))
        painter.setBrush(self._ground)
        painter.drawRoundedRect(self.drawn().adjusted(0.5, 0.5, -0.5, -0.5), 3, 3)
        painter.setPen(self._ink)
        painter.setFont(font(SMALL_PX))
        painter.drawText(self.drawn(), Qt.AlignmentFlag.AlignCenter, self._text)


class Grip(Knob):
    """The handle that invites to drag."""

    def __init__(self) -> None:
        super().__init__()
        self._ground, self._ink = QColor(), QColor()
        self.setZValue(60)

    def show_theme(self, theme: Theme) -> None:
        """Take the colours of a theme."""
        self._ground, self._ink = QColor(theme.accent), QColor(theme.accent_text)
        self.update()

    @override
    def drawn(self) -> QRectF:
        return QRectF(-4.5, -8, 9, 16)

    @override
    def paint(self, painter: QPainter, option: Any, widget: Any = None) -> None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._ground)
        painter.drawRoundedRect(self.drawn(), 3, 3)
        painter.setPen(pen(self._ink.name()))
        for x in (-1.5, 1.5):
            painter.drawLine(QPointF(x, -3.5), QPointF(x, 3.5))


class MarkItem(QGraphicsItem):
    """A scenario's mark at a point of a plot; the current one is filled, the others are open."""

    def __init__(self) -> None:
        super().__init__()
        self._path = QPainterPath()
        self._edge, self._fill = QColor(), QColor()
        self.setFlag(QGraphicsItem.GraphicsItemFlag.ItemIgnoresTransformations)

    def show_mark(self, mark: Mark, ground: str, *, is_filled: bool) -> None:
        """Take shape and colour."""
        self.prepareGeometryChange()
        self._path = mark_path(mark.shape, 9)
        self._edge, self._fill = QColor(mark.colour), QColor(mark.colour if is_filled else ground)
        self.setZValue(12 if is_filled else 10)
        self.update()

    @override
    def boundingRect(self) -> QRectF:
        return QRectF(-8, -8, 16, 16)

    @override
    def paint(self, painter: QPainter, option: Any, widget: Any = None) -> None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(pen(self._edge.name(), 1.5))
        painter.setBrush(self._fill)
        painter.drawPath(self._path)
