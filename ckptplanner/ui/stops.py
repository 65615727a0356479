"""How a stop looks and reads, the same on the time axis, in its legend and in the table: one shape for each kind.

Filled marks count as interruptions, hollow ones do not; the colours only help.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QIcon, QPainter, QPainterPath, QPen, QPixmap, QPolygonF

from ckptplanner.data.evidence import KIND_TITLES
from ckptplanner.engine.evidence import Stop
from ckptplanner.ui.dates import moment_text
from ckptplanner.ui.theme import Theme
from ckptplanner.ui.words import node_count, say, say_text

_SIDE = 28  # icons are drawn at twice the size they are shown at
_NAMED = 2  # nodes that are named in a cell
# corners around the origin, for a mark that is 2 wide
_CORNERS: dict[str, Sequence[tuple[float, float]]] = {
    "process": ((0, -1), (1, 0.8), (-1, 0.8)),
    "cluster": ((-0.85, -0.85), (0.85, -0.85), (0.85, 0.85), (-0.85, 0.85)),
    "preempted": ((0, -1.1), (1.1, 0), (0, 1.1), (-1.1, 0)),
    "unknown": ((0, 1), (1, -0.8), (-1, -0.8)),
    "cancelled": ((-0.35, -1), (0.35, -1), (0.35, -0.35), (1, -0.35), (1, 0.35), (0.35, 0.35), (0.35, 1), (-0.35, 1),
                  (-0.35, 0.35), (-1, 0.35), (-1, -0.35), (-0.35, -0.35)),
    "limit": ((-0.4, -1), (0.4, -1), (0.4, 1), (-0.4, 1)),
    "completed": ((-0.5, -0.9), (0.5, -0.9), (1, 0), (0.5, 0.9), (-0.5, 0.9), (-1, 0)),
    "open": ((-0.8, -1), (1, 0), (-0.8, 1)),
}  # fmt: skip


def kind_path(kind: str, size: float) -> QPainterPath:
    """The shape of a kind around the origin; `size` is its width. [px]"""
    path, half = QPainterPath(), size / 2
    corners = _CORNERS.get(kind)
    if corners is None:
        path.addEllipse(QPointF(0, 0), half, half)
        return path
    path.addPolygon(QPolygonF([QPointF(x * half, y * half) for x, y in corners]))
    path.closeSubpath()
    return path


def kind_colour(kind: str, theme: Theme) -> str:
    """The colour of a kind."""
    return {
        "node": theme.use_high, "process": theme.use_low, "cluster": theme.text, "preempted": theme.warning,
        "cancelled": theme.causes[6], "limit": theme.muted, "completed": theme.thin, "open": theme.accent,
    }.get(kind, theme.muted)  # fmt: skip


def paint_mark(painter: QPainter, path: QPainterPath, place: QPointF, colour: str, ground: str, *, is_filled: bool) -> None:
    """Draw a mark at a place."""
    painter.translate(place)
    painter.setPen(QPen(QColor(colour), 1.2))
    painter.setBrush(QColor(colour if is_filled else ground))
    painter.drawPath(path)
    painter.translate(-place)


def kind_icon(kind: str, theme: Theme, *, is_filled: bool) -> QIcon:
    """The mark of a kind for a cell or an entry of a list."""
    pixmap = QPixmap(_SIDE, _SIDE)
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.scale(2, 2)
    centre = QRectF(0, 0, _SIDE / 2, _SIDE / 2).center()
    paint_mark(painter, kind_path(kind, 8), centre, kind_colour(kind, theme), theme.surface, is_filled=is_filled)
    painter.end()
    pixmap.setDevicePixelRatio(2)
    made = QIcon(pixmap)
    made.addPixmap(pixmap, QIcon.Mode.Selected)  # the style would tint it in the chosen row
    return made


def kind_word(kind: str) -> str:
    """What a kind is called."""
    title = KIND_TITLES.get(kind)
    return kind if title is None else say_text(title)


def where_words(stop: Stop) -> str:
    """The nodes where it happened: the first ones by name."""
    names = stop.node_names
    if len(names) <= _NAMED + 1:
        return ", ".join(names)
    return say("{names} and {count} more", names=", ".join(names[:_NAMED]), count=len(names) - _NAMED)


def said_words(stop: Stop) -> str:
    """What the file says, and how many lines more belong to the same stop."""
    if stop.merged <= 1:
        return stop.said
    more = say("1 more line") if stop.merged == 2 else say("{count} more lines", count=f"{stop.merged - 1:,}")
    return f"{stop.said} (+ {more})" if stop.said else more


def counts_word(stop: Stop) -> str:
    """Whether it is an interruption."""
    return say("counts") if stop.is_counted else say("does not count")


def stop_words(stop: Stop) -> str:
    """All about a stop in one line."""
    parts = [
        kind_word(stop.kind), said_words(stop), where_words(stop), "" if stop.nodes is None else node_count(stop.nodes),
        counts_word(stop), str(stop.place),
    ]  # fmt: skip
    return say("{moment}: {what}", moment=moment_text(stop.at_s), what=", ".join(part for part in parts if part))
