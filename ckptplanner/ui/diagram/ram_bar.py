"""Host memory of a node as an upright bar to scale: what is held, what is free, and what does not fit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QHelpEvent, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QToolTip, QWidget
from typing_extensions import override

from ckptplanner.engine.node_plan import HostRam, RamItem
from ckptplanner.ui.diagram.node import capacity
from ckptplanner.ui.theme import LIGHT, SMALL_PX, Theme, font
from ckptplanner.ui.words import say, say_text
from ckptplanner.units import BYTES, FRACTION, brief

_BAR, _LINE, _LABEL, _HEAD = 56.0, 16.0, 32.0, 44.0


@dataclass(frozen=True, slots=True)
class Piece:
    """One piece of the bar from its foot up; `item` is None for what is free."""

    name: str
    size_bytes: float
    low_bytes: float
    item: RamItem | None

    @property
    def is_guess(self) -> bool:
        """Whether nobody said how much it is."""
        return self.item is not None and self.item.is_guess

    @property
    def size(self) -> str:
        """How much it is, and that it is a guess."""
        shown = brief(self.size_bytes, BYTES)
        return say("{size}, a guess", size=shown) if self.is_guess else shown


def pieces_of(ram: HostRam) -> list[Piece]:
    """The pieces from the foot up: the checkpoint's first, then the job's, then what is free."""
    low, found = 0.0, []
    held = [item for item in ram.items if item.held_bytes > 0]
    for item in sorted(held, key=lambda item: item.id == "job"):
        found.append(Piece(say_text(item.name), item.held_bytes, low, item))
        low += item.held_bytes
    if ram.ram_bytes is not None and ram.ram_bytes > low:
        found.append(Piece(say("free"), ram.ram_bytes - low, low, None))
    return found


def spread(wished: Sequence[float], high: float, low: float, top: float) -> list[float]:
    """Push labels apart: middles in falling order of the bar from its foot up, each `high` px, between `top` and `low`."""
    placed: list[float] = []
    for middle in wished:  # from the lowest up
        limit = placed[-1] - high if placed else low - high / 2
        placed.append(min(middle, limit))
    floor = top + high / 2
    for index in range(len(placed) - 1, -1, -1):
        if placed[index] < floor:
            placed[index] = floor
        floor = max(floor, placed[index] + high) if placed[index] <= floor else floor
    return placed


class RamBar(QWidget):
    """The bar with its leaders; a click on a piece asks for the field that it follows from."""

    field_requested = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("ram_bar")
        self.setAccessibleName(say("Host RAM of a node"))
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setMouseTracking(True)
        self.setMinimumSize(180, 176)
        self._ram: HostRam | None = None
        self._theme, self._index, self._chosen = LIGHT, 0, -1

    def show_ram(self, ram: HostRam | None, index: int, theme: Theme) -> None:
        """Show what a node holds; `index` gives the scenario's colour."""
        self._ram, self._index, self._theme = ram, index, theme
        self._chosen = min(self._chosen, len(self._pieces()) - 1)
        self.setAccessibleDescription("\n".join(self.texts()))
        self.update()

    def texts(self) -> list[str]:
        """What is written, from the summary down."""
        if self._ram is None:
            return [say("Host RAM of a node"), say("not known")]
        parts = [f"{piece.name} {piece.size}" for piece in self._pieces()]
        over = self._over_words()
        return [say("Host RAM of a node"), self._summary(), *([over] if over else []), *parts]

    def _pieces(self) -> list[Piece]:
        return pieces_of(self._ram) if self._ram is not None else []

    def _summary(self) -> str:
        ram = self._ram
        if ram is None or ram.ram_bytes is None:
            return say("size not known")
        fill = brief(ram.fill_ratio or 0.0, FRACTION, 2 if (ram.fill_ratio or 0.0) < 1 else 3)
        size, si = capacity(ram.ram_bytes), brief(ram.ram_bytes, BYTES)
        return say("{size}, {use} used", size=size if size == si else f"{size} = {si}", use=fill)

    def _over_words(self) -> str:
        ram = self._ram
        if ram is None or ram.ram_bytes is None or ram.used_bytes <= ram.ram_bytes:
            return ""
        return say("{size} more than is installed", size=brief(ram.used_bytes - ram.ram_bytes, BYTES))

    # ------------------------------------------------------------ places

    def _scale(self) -> tuple[QRectF, float]:
        """The bar's room and how many bytes it stands for."""
        ram = self._ram
        assert ram is not None
        most = max(ram.ram_bytes or 0.0, ram.used_bytes, 1.0)
        return QRectF(0.5, _HEAD + 4, _BAR, max(self.height() - _HEAD - 8, 40)), most

    def _rects(self) -> list[tuple[Piece, QRectF]]:
        if self._ram is None:
            return []
        room, most = self._scale()
        found = []
        for piece in self._pieces():
            bottom = room.bottom() - piece.low_bytes / most * room.height()
            high = max(piece.size_bytes / most * room.height(), 2.0)
            found.append((piece, QRectF(room.left(), bottom - high, room.width(), high)))
        return found

    def _labels(self) -> list[tuple[Piece, QRectF, float]]:
        """Each piece with its rectangle and the middle of its label."""
        rects = self._rects()
        wished = [rect.center().y() for _, rect in rects]
        high = min(_LABEL, (self.height() - _HEAD) / max(len(rects), 1))
        return [
            (piece, rect, y) for (piece, rect), y in zip(rects, spread(wished, high, self.height() - 2, _HEAD), strict=True)
        ]

    def _piece_at(self, place: QPointF) -> Piece | None:
        for piece, rect, y in reversed(self._labels()):
            is_label = place.x() > _BAR + 8 and abs(place.y() - y) <= _LABEL / 2
            if is_label or rect.adjusted(0, -2, 0, 2).contains(place):
                return piece
        return None

    def place_of(self, item_id: str) -> QPointF | None:
        """A point at which a click asks for that item's field."""
        return next(
            (rect.center() for piece, rect in self._rects() if piece.item is not None and piece.item.id == item_id), None
        )

    # ------------------------------------------------------------ mouse and keys

    @override
    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        piece = self._piece_at(event.position())
        is_link = piece is not None and piece.item is not None
        self.setCursor(Qt.CursorShape.PointingHandCursor if is_link else Qt.CursorShape.ArrowCursor)

    @override
    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        self._ask(self._piece_at(event.position()))

    def _ask(self, piece: Piece | None) -> None:
        if piece is not None and piece.item is not None and piece.item.path:
            self.field_requested.emit(piece.item.path)

    @override
    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            piece = self._piece_at(QPointF(event.pos()))
            words = f"{piece.name}\n{piece.size}" if piece is not None else ""
            QToolTip.showText(event.globalPos(), words, self)
            return True
        return super().event(event)

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        pieces = self._pieces()
        move = {Qt.Key.Key_Up: 1, Qt.Key.Key_Down: -1}.get(Qt.Key(event.key()), 0)
        if move and pieces:
            self._chosen = min(max(self._chosen + move, 0), len(pieces) - 1)
            self.update()
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and 0 <= self._chosen < len(pieces):
            self._ask(pieces[self._chosen])
        else:
            super().keyPressEvent(event)

    # ------------------------------------------------------------ painting

    @override
    def sizeHint(self) -> QSize:
        return QSize(216, 320)

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        theme, wide = self._theme, float(self.width())
        self._write(painter, QRectF(0, 0, wide, 20), say("Host RAM of a node"), theme.text, font(bold=True))
        if self._ram is None:
            self._write(painter, QRectF(0, 20, wide, 16), say("not known"), theme.muted)
            return
        over = self._over_words()
        self._write(
            painter,
            QRectF(0, 20, wide, 16),
            over or self._summary(),
            theme.error if over else theme.muted,
            font(SMALL_PX, bold=bool(over)),
        )
        for number, (piece, rect, y) in enumerate(self._labels()):
            self._piece(painter, piece, rect, number)
            self._leader(painter, piece, rect, y, number)
        self._installed(painter)

    def _write(self, painter: QPainter, place: QRectF, words: str, colour: str, made: QFont | None = None) -> None:
        painter.setFont(made or font(SMALL_PX))
        painter.setPen(QColor(colour))
        shown = QFontMetricsF(painter.font()).elidedText(words, Qt.TextElideMode.ElideRight, place.width())
        painter.drawText(place, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, shown)

    def _fill(self, piece: Piece, number: int) -> QColor:
        theme = self._theme
        if piece.item is None:
            return QColor(theme.hairline)
        if piece.item.id == "job":
            return QColor(theme.line)
        mark = theme.mark(self._index)
        return QColor(mark.colour if number % 2 == 0 else mark.ground)

    def _piece(self, painter: QPainter, piece: Piece, rect: QRectF, number: int) -> None:
        theme, ram = self._theme, self._ram
        painter.fillRect(rect, self._fill(piece, number))
        if ram is not None and ram.ram_bytes is not None and piece.low_bytes + piece.size_bytes > ram.ram_bytes:
            room, most = self._scale()
            line = room.bottom() - ram.ram_bytes / most * room.height()
            beyond = QRectF(rect.left(), rect.top(), rect.width(), min(line, rect.bottom()) - rect.top())
            painter.fillRect(beyond, QColor(theme.error))
        if rect.height() > 4:
            painter.fillRect(QRectF(rect.left(), rect.top(), rect.width(), 1), QColor(theme.surface))
        if piece.is_guess and rect.height() > 6:
            pen = QPen(QColor(theme.warning), 1)
            pen.setDashPattern([3, 2])
            painter.setPen(pen)
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(rect.adjusted(0.5, 1.5, -0.5, -0.5))

    def _leader(self, painter: QPainter, piece: Piece, rect: QRectF, y: float, number: int) -> None:
        theme, left = self._theme, _BAR + 28
        painter.setPen(QPen(QColor(theme.line), 1))
        middle = rect.center().y()
        painter.drawPolyline([
            QPointF(rect.right() + 2, middle), QPointF(rect.right() + 8, middle), QPointF(left - 10, y), QPointF(left - 4, y),
        ])  # fmt: skip
        wide, second = self.width() - left, theme.warning if piece.is_guess else theme.muted
        room = min(_LABEL, (self.height() - _HEAD) / max(len(self._pieces()), 1))
        if room >= _LABEL - 0.5:
            self._write(painter, QRectF(left, y - 16, wide, 16), piece.name, theme.text)
            self._write(painter, QRectF(left, y, wide, 16), piece.size, second)
        else:
            self._write(
                painter,
                QRectF(left, y - 8, wide, 16),
                f"{piece.name} {piece.size}",
                theme.warning if piece.is_guess else theme.text,
            )
        if number == self._chosen and self.hasFocus():
            painter.setPen(QPen(QColor(theme.accent), 1))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(QRectF(left - 3, y - room / 2, wide + 2, room), 3, 3)

    def _installed(self, painter: QPainter) -> None:
        """The line of what is installed, where more is asked for."""
        ram, theme = self._ram, self._theme
        if ram is None or ram.ram_bytes is None or ram.used_bytes <= ram.ram_bytes:
            return
        room, most = self._scale()
        y = room.bottom() - ram.ram_bytes / most * room.height()
        painter.setPen(QPen(QColor(theme.text), 2))
        painter.drawLine(QPointF(0, y), QPointF(room.right() + 6, y))
        # words on the bar itself: the place beside it belongs to the leaders
        words = say("installed")
        made = font(SMALL_PX)
        wide = QFontMetricsF(made).horizontalAdvance(words) + 6
        place = QRectF(room.left() + (room.width() - wide) / 2, y + 2, wide, 14)
        painter.fillRect(place, QColor(theme.surface))
        self._write(painter, place.adjusted(3, 0, 3, 0), words, theme.text, made)
