"""The tornado: what a figure becomes with each input at the low and at the high end of its range, the widest bar first.

                            today $21,938
    Nodes             4 [ ------|################/ /  256: $630k ]      a bar that would squeeze all others is cut
    Interrupted every 781 h [ --|######### ] 31.6 h
    Fill at most                |  70 % to 100 %: no change             no effect is a tick

The low end of an input is an outline, the high end is filled; the values beside the bar are those of the input.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import QLineF, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPolygonF
from PySide6.QtWidgets import QSizePolicy, QWidget
from typing_extensions import override

from ckptplanner.engine.flip_words import amounts
from ckptplanner.engine.tornado import Bar, Tornado
from ckptplanner.ui.decide.kinds import kind_word
from ckptplanner.ui.ink import box, pen, spread, width_of, write
from ckptplanner.ui.painted import Pointed
from ckptplanner.ui.theme import BODY_PX
from ckptplanner.ui.words import say, say_text
from ckptplanner.units import Unit, brief, grouped, rough

_EDGE, _LABEL, _SIDE = 16.0, 170.0, 62.0  # room for values beside the bars [px]
_HEAD, _ROW, _BAR, _FOOT = 44.0, 25.0, 13.0, 12.0
_FADED, _CUT = 0.4, 3.0  # a bar this many times as wide as the next one is cut


def figure_text(value: float | None, unit: Unit) -> str:
    """A figure as the bars say it."""
    if value is None:
        return say("unknown")
    if unit.kind == "usd":
        return f"${grouped(value)}" if 1000 <= value < 1e5 else brief(value, unit)
    return rough(value, unit)


@dataclass(frozen=True, slots=True)
class _Scale:
    """From the figure to pixels; what lies beyond an end is cut there."""

    low: float
    high: float
    left: float
    right: float

    def place(self, value: float) -> float:
        share = (value - self.low) / (self.high - self.low) if self.high > self.low else 0.5
        return self.left + min(max(share, 0.0), 1.0) * (self.right - self.left)


def _end(moves: list[float]) -> float:
    """How far a side reaches: the farthest move that does not squeeze the next ones."""
    rising = sorted((abs(move) for move in moves if move), reverse=True)
    while len(rising) > 2 and rising[0] > _CUT * rising[1]:
        rising = rising[1:]
    return rising[0] if rising else 0.0


class TornadoBars(Pointed[int]):
    """Draws one Tornado."""

    field_requested = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("tornado_bars", say("What matters"), parent)
        self.setMinimumWidth(440)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._tornado: Tornado | None = None
        self._is_stale = False

    def show_tornado(self, found: Tornado | None, *, is_stale: bool) -> None:
        """Draw it; pale where the plan has changed since."""
        self._tornado, self._is_stale = found, is_stale
        count = len(found.bars) if found else 0
        if self._at is not None and self._at >= count:
            self._at = None
        self.setFixedHeight(round(_HEAD + count * _ROW + _FOOT))
        self.setAccessibleDescription("; ".join(self.words_at(index) for index in range(count)))
        self.update()

    @override
    def sizeHint(self) -> QSize:
        return QSize(640, self.minimumHeight())

    # ------------------------------------------------------------ places

    def row_rect(self, index: int) -> QRectF:
        """All of a row."""
        return QRectF(0.0, _HEAD + index * _ROW, self.width(), _ROW)

    def _scale(self, found: Tornado, today: float) -> _Scale:
        ends = [end - today for bar in found.bars for end in (bar.low, bar.high) if end is not None]
        low, high = _end([end for end in ends if end < 0]), _end([end for end in ends if end > 0])
        left, right = _EDGE + _LABEL + _SIDE, self.width() - _EDGE - _SIDE
        return _Scale(today - low, today + high, left, max(right, left + 40))

    # ------------------------------------------------------------ words

    def _values(self, bar: Bar) -> tuple[str, str]:
        """The ends of an input's range as text."""
        low, high, _ = amounts((bar.range.low, bar.range.high, bar.range.value), bar.range.lever.unit)
        return low, high

    def words_at(self, index: int) -> str:
        """A row in words: the figure at both ends and today."""
        found = self._tornado
        if found is None:
            return ""
        bar = found.bars[index]
        low, high = self._values(bar)
        return say(
            "{title} {low}: {at_low}; {high}: {at_high}; {figure} today {expected}", title=say_text(bar.range.lever.title),
            low=low, at_low=figure_text(bar.low, found.unit), high=high, at_high=figure_text(bar.high, found.unit),
            figure=say_text(found.title), expected=figure_text(found.expected, found.unit),
        )  # fmt: skip

    # ------------------------------------------------------------ drawing

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        found, theme = self._tornado, self._theme
        if found is None:
            return
        painter = QPainter(self)
        painter.setOpacity(_FADED if self._is_stale else 1.0)
        self._paint_head(painter, found)
        if found.expected is None:
            write(painter, self.row_rect(0), say("This figure is not known for the plan."), theme.muted, pixels=BODY_PX)
            return
        scale = self._scale(found, found.expected)
        middle = round(scale.place(found.expected)) + 0.5
        for index in range(len(found.bars)):
            self._paint_row(painter, index, found, scale)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=False)
        painter.setPen(pen(theme.text))
        painter.drawLine(QLineF(middle, _HEAD - 4, middle, _HEAD + len(found.bars) * _ROW))
        words = say("today {value}", value=figure_text(found.expected, found.unit))
        wide = width_of(words, bold=True)
        (left,) = spread([middle], [wide], 0.0, _EDGE + _LABEL, self.width() - _EDGE)
        write(painter, QRectF(left, _HEAD - 20, wide, 16), words, theme.text, bold=True)

    def _paint_head(self, painter: QPainter, found: Tornado) -> None:
        """The figure, and what outline and fill mean."""
        theme, right = self._theme, self.width() - _EDGE
        for words, colour, is_filled in (
            (say("input at its high end"), theme.use_low, True),
            (say("input at its low end"), theme.use_low, False),
        ):
            wide = width_of(words)
            right -= wide
            write(painter, QRectF(right, 2, wide, 16), words, theme.muted)
            right -= 16
            box(painter, QRectF(right, 5, 11, 10), colour if is_filled else theme.surface, colour, radius=1.0)
            right -= 14
        write(painter, QRectF(_EDGE, 0, right - _EDGE, 20), say_text(found.title), theme.text, pixels=BODY_PX, bold=True)

    def _paint_row(self, painter: QPainter, index: int, found: Tornado, scale: _Scale) -> None:
        bar, theme, room = found.bars[index], self._theme, self.row_rect(index)
        if self._at == index:
            painter.fillRect(room.adjusted(4, 0, -4, 0), QColor(theme.hover))
            if self.hasFocus():
                box(painter, room.adjusted(4, 0, -4, 0), "", theme.accent)
        title = QRectF(_EDGE, room.top(), _LABEL - 8, room.height())
        write(painter, title, say_text(bar.range.lever.title), theme.text, pixels=BODY_PX)
        assert found.expected is not None
        low, high = self._values(bar)
        top = room.top() + (_ROW - _BAR) / 2
        middle = scale.place(found.expected)
        if not bar.span(found.expected):
            words = say("{low} to {high}: no change", low=low, high=high)
            if bar.low is None or bar.high is None:
                words = say("{low} to {high}: not known", low=low, high=high)
            write(painter, QRectF(middle + 8, room.top(), self.width() - _EDGE - middle - 8, _ROW), words, theme.muted)
            painter.setPen(pen(theme.text, 2.0))
            painter.drawLine(QLineF(round(middle), top, round(middle), top + _BAR))
            return
        self._paint_ends(painter, bar, found, scale, top)

    def _paint_ends(self, painter: QPainter, bar: Bar, found: Tornado, scale: _Scale, top: float) -> None:
        today = found.expected
        assert today is not None
        ends = [(bar.low, self._values(bar)[0], False), (bar.high, self._values(bar)[1], True)]
        moves = [0.0 if value is None else value - today for value, _, _ in ends]
        is_one_sided = moves[0] * moves[1] > 0
        free = {1, -1}  # sides that have no label yet
        for number, (value, words, is_high) in enumerate(ends):
            if value is None or not moves[number]:
                continue
            side = 1 if moves[number] > 0 else -1
            tall = _BAR / 2 if is_one_sided else _BAR
            spot = top + tall * number if is_one_sided else top
            is_cut = not scale.low - 1e-9 * abs(today) <= value <= scale.high + 1e-9 * abs(today)
            edge, middle = scale.place(value), scale.place(today)
            if is_cut:
                edge += side * (_SIDE - 6)
            part = QRectF(min(edge, middle), spot, max(abs(edge - middle), 1.0), tall)
            box(painter, part, self._theme.use_low if is_high else self._theme.surface, self._theme.use_low, radius=0.0)
            if is_cut:
                self._paint_cut(painter, part, side, f"{words}: {figure_text(value, found.unit)}", is_filled=is_high)
            elif not is_one_sided or abs(moves[number]) == max(map(abs, moves)):
                self._paint_value(painter, edge, top, side, words)
            free.discard(side)
        for number, (value, words, _) in enumerate(ends):  # an end that is today's value, or changes nothing
            if value is not None and not moves[number] and free:
                self._paint_value(painter, scale.place(today), top, free.pop(), words)

    def _paint_value(self, painter: QPainter, edge: float, top: float, side: int, words: str) -> None:
        room = QRectF(edge + 5 if side > 0 else edge - 5 - _SIDE, top - 3, _SIDE, _BAR + 6)
        if side < 0:
            room.setLeft(max(room.left(), _EDGE + _LABEL))
        write(painter, room, words, self._theme.muted, align="left" if side > 0 else "right")

    def _paint_cut(self, painter: QPainter, part: QRectF, side: int, words: str, *, is_filled: bool) -> None:
        """A zigzag through a bar that goes on, and what it reaches."""
        theme = self._theme
        at = part.right() - 14 if side > 0 else part.left() + 8
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(theme.surface))
        top, bottom = part.top() - 1, part.bottom() + 1
        painter.drawPolygon(
            QPolygonF([QPointF(at + 4, top), QPointF(at + 8, top), QPointF(at + 4, bottom), QPointF(at, bottom)])
        )
        painter.setBrush(Qt.BrushStyle.NoBrush)
        inside = part.adjusted(6, 0, -22, 0) if side > 0 else part.adjusted(22, 0, -6, 0)
        ink = theme.accent_text if is_filled else theme.text
        write(painter, inside.adjusted(0, -2, 0, 2), words, ink, align="right" if side > 0 else "left")

    # ------------------------------------------------------------ hands

    def _row_at(self, place: QPointF) -> int | None:
        count = len(self._tornado.bars) if self._tornado else 0
        index = int((place.y() - _HEAD) // _ROW)
        return index if 0 <= index < count else None

    @override
    def first(self) -> int | None:
        return 0 if self._tornado is not None else None

    @override
    def said_of(self, at: int) -> str:
        return self.words_at(at)

    def _ask(self, index: int | None) -> None:
        if index is not None and self._tornado is not None:
            self.field_requested.emit(self._tornado.bars[index].path)

    @override
    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        index = self._row_at(event.position())
        self.setCursor(Qt.CursorShape.ArrowCursor if index is None else Qt.CursorShape.PointingHandCursor)
        self._point(index)

    @override
    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            self._ask(self._row_at(event.position()))

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        step: Callable[[Qt.Key], int] = lambda key: {Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1}.get(key, 0)  # noqa: E731
        key, count = Qt.Key(event.key()), len(self._tornado.bars) if self._tornado else 0
        if count and step(key):
            self._point(0 if self._at is None else min(max(self._at + step(key), 0), count - 1))
        elif count and key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._ask(self._at)
        else:
            super().keyPressEvent(event)

    @override
    def tip_at(self, place: QPointF) -> str:
        index = self._row_at(place)
        if index is None or self._tornado is None:
            return ""
        over = self._tornado.bars[index].range
        return f"{kind_word(over.kind)}: {say_text(over.reason)}"
