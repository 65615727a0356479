"""A scenario's mark - a shape in its colour - as a path for plots and as an icon for buttons and tables."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QIcon, QPainter, QPainterPath, QPen, QPixmap, QPolygonF

from ckptplanner.ui.theme import Theme

_SIDE = 28  # drawn at twice the size it is shown at


def mark_path(shape: str, size: float) -> QPainterPath:
    """A scenario's shape around the origin; `size` is its width."""
    half, path = size / 2, QPainterPath()
    if shape == "circle":
        path.addEllipse(QPointF(0, 0), half, half)
    elif shape == "square":
        path.addRect(QRectF(-half * 0.88, -half * 0.88, size * 0.88, size * 0.88))
    else:
        corners = [(0, -half), (half, half * 0.8), (-half, half * 0.8)] if shape == "triangle" else [
            (0, -half * 1.15), (half * 1.15, 0), (0, half * 1.15), (-half * 1.15, 0),
        ]  # fmt: skip
        path.addPolygon(QPolygonF([QPointF(x, y) for x, y in corners]))
        path.closeSubpath()
    return path


def mark_icon(theme: Theme, index: int, *, is_filled: bool) -> QIcon:
    """A scenario's mark as an icon; the current one is filled, the others are open."""
    mark, pixmap = theme.mark(index), QPixmap(_SIDE, _SIDE)
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.translate(_SIDE / 2, _SIDE / 2)
    painter.setPen(QPen(QColor(mark.colour), 3))
    painter.setBrush(QColor(mark.colour) if is_filled else Qt.BrushStyle.NoBrush)
    painter.drawPath(mark_path(mark.shape, 18))
    painter.end()
    pixmap.setDevicePixelRatio(2)
    return QIcon(pixmap)


def no_mark() -> QIcon:
    """An icon of the same size with nothing on it, so that names line up."""
    pixmap = QPixmap(_SIDE, _SIDE)
    pixmap.fill(Qt.GlobalColor.transparent)
    pixmap.setDevicePixelRatio(2)
    return QIcon(pixmap)
