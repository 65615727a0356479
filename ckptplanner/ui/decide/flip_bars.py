"""What flips the choice, as bars: one for each input, with today's value, the ends of its range, and who wins where.

    Value of a GPU-hour  assumption          today $17.8
    assumed: from about $1 ...     [////////|======T============]       the second plan's pieces are hatched
                                   $1     $6.31              $40

Inputs that flip nothing stand below, one line each. A row is pointed at by mouse or keys: Up and Down go from row to row,
Left and Right along a bar, Home to today's value; a click or Enter goes to the field.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QLineF, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget
from typing_extensions import override

from ckptplanner.engine.flip_words import amounts, flip_sentence
from ckptplanner.engine.flips import FlipBar, Segment
from ckptplanner.engine.ranges import Range
from ckptplanner.ui.decide.kinds import kind_word
from ckptplanner.ui.ink import box, hatch, lines_of, mix, pen, spread, width_of, write
from ckptplanner.ui.marks import mark_path
from ckptplanner.ui.painted import Pointed
from ckptplanner.ui.theme import BODY_PX, Mark
from ckptplanner.ui.words import say, say_text
from ckptplanner.units import brief

_LABEL, _GAP, _EDGE = 248.0, 24.0, 16.0  # of a row, from the left [px]
_ABOVE, _BAR, _BELOW, _ROW = 17.0, 18.0, 18.0, 68.0  # of a row, from above [px]
_WIDEST = 1600.0  # bars as long as a wall cannot be read across
_HEAD, _LINE, _COLUMN = 28.0, 20.0, 256.0  # of what flips nothing [px]
_STEPS = 60  # of the keys, from one end of a bar to the other
_FADED, _HATCH = 0.4, 0.22
_MANY = 6  # flips: from more on only some are labelled
_NEAR = 6.0  # around a bar the mouse points at it [px]


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two plans: its name, its mark, and whether it is the one that is edited."""

    name: str
    mark: Mark
    is_current: bool


def value_of(over: Range, share: float) -> float:
    """The value at a share of a range, the reverse of `Range.position`; whole where the input is."""
    share = min(max(share, 0.0), 1.0)
    value = over.low * (over.high / over.low) ** share if over.low > 0.0 else over.low + (over.high - over.low) * share
    value = min(max(value, over.low), over.high)
    return float(round(value)) if over.lever.is_whole else value


def _thinned(places: Sequence[float], widths: Sequence[float], ends: tuple[float, float], today: float) -> list[float | None]:
    """Where labels stand that have room right under their flip, the nearest to today's value first; None for the others."""
    found: list[float | None] = [None] * len(places)
    kept: list[tuple[float, float]] = []
    for number in sorted(range(len(places)), key=lambda one: abs(places[one] - today)):
        left = places[number] - widths[number] / 2
        right = left + widths[number]
        if left >= ends[0] and right <= ends[1] and all(right + 8 <= low or left >= high + 8 for low, high in kept):
            found[number] = left
            kept.append((left, right))
    return found


Place = tuple[int, float | None]  # a row, and a value on its bar


class FlipBars(Pointed[Place]):
    """Draws bars; what the plans cost at a value is asked of `cost_words`."""

    field_requested = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("flip_bars", say("What flips the choice"), parent)
        self.setMinimumWidth(640)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._bars: tuple[FlipBar, ...] = ()  # those that flip, then those that do not
        self._count = 0  # of those that flip
        self._sides: tuple[Side, Side] | None = None
        self._cost_words: Callable[[FlipBar, float], str] = lambda bar, value: ""
        self._is_stale = False

    # ------------------------------------------------------------ what is shown

    def show_bars(
        self,
        bars: Sequence[FlipBar],
        sides: tuple[Side, Side] | None,
        cost_words: Callable[[FlipBar, float], str],
        *,
        is_stale: bool,
    ) -> None:
        """Draw bars of the first plan against the second; pale where a plan has changed since."""
        flipping = sorted((bar for bar in bars if bar.flips), key=lambda bar: (not bar.range.is_uncertain, bar.distance))
        self._bars = (*flipping, *(bar for bar in bars if not bar.flips))
        self._count, self._sides, self._cost_words, self._is_stale = len(flipping), sides, cost_words, is_stale
        if self._at is not None and self._at[0] >= len(self._bars):
            self._at = None
        self._fit()
        self.setAccessibleDescription(" ".join(say_text(flip_sentence(bar)) for bar in flipping))
        self.update()

    @property
    def bars(self) -> tuple[FlipBar, ...]:
        """All bars in the order that is drawn."""
        return self._bars

    @property
    def _still(self) -> tuple[FlipBar, ...]:
        return self._bars[self._count :]

    @property
    def _columns(self) -> int:
        return max(int((self._width - _EDGE) // _COLUMN), 1)

    @property
    def _width(self) -> float:
        return min(float(self.width()), _WIDEST)

    def _fit(self) -> None:
        lines = -(-len(self._still) // self._columns)
        tall = self._count * _ROW + (_HEAD + lines * _LINE if lines else 0.0) + 4.0
        self.setFixedHeight(round(tall))

    @override
    def sizeHint(self) -> QSize:
        return QSize(960, self.minimumHeight())

    @override
    def resizeEvent(self, event: object) -> None:
        self._fit()

    # ------------------------------------------------------------ places

    def bar_rect(self, index: int) -> QRectF:
        """The bar of a row that flips."""
        left = _EDGE + _LABEL + _GAP
        return QRectF(left, index * _ROW + _ABOVE + 4.0, self._width - left - _EDGE, _BAR)

    def row_rect(self, index: int) -> QRectF:
        """All of a row, flipping or not."""
        if index < self._count:
            return QRectF(0.0, index * _ROW, self._width, _ROW)
        line, column = divmod(index - self._count, self._columns)
        wide = (self._width - 2 * _EDGE) / self._columns
        return QRectF(_EDGE + column * wide, self._count * _ROW + _HEAD + line * _LINE, wide - 8.0, _LINE)

    def place_of(self, index: int, value: float) -> float:
        """Where a value lies on the bar of a row. [px]"""
        room = self.bar_rect(index)
        return room.left() + self._bars[index].range.position(value) * room.width()

    def _row_at(self, place: QPointF) -> int | None:
        return next((index for index in range(len(self._bars)) if self.row_rect(index).contains(place)), None)

    def _value_at(self, index: int, place: QPointF) -> float | None:
        """The value that the mouse points at: a flip that is near, else what lies there."""
        room = self.bar_rect(index) if index < self._count else None
        if room is None or not room.adjusted(-_NEAR, -_ABOVE, _NEAR, _BELOW).contains(place):
            return None
        bar = self._bars[index]
        near = min(bar.flips, key=lambda flip: abs(self.place_of(index, flip.value) - place.x()))
        if abs(self.place_of(index, near.value) - place.x()) <= 3.0:
            return near.value
        return value_of(bar.range, (place.x() - room.left()) / max(room.width(), 1.0))

    # ------------------------------------------------------------ words

    def words_at(self, index: int, value: float | None) -> str:
        """What a row says: at a value what both plans cost there, else in one sentence."""
        bar = self._bars[index]
        if value is None:
            return f"{say_text(flip_sentence(bar))} {say_text(bar.range.reason)}"
        words = self._cost_words(bar, value)
        failing = bar.at(value).failing
        return say("{words}; does not work here: {names}", words=words, names=", ".join(failing)) if failing else words

    def _shown(self, bar: FlipBar, *more: float) -> tuple[str, ...]:
        """Values of a bar as text: both ends, today's, its flips, and others."""
        over = bar.range
        return amounts((over.low, over.high, over.value, *(flip.value for flip in bar.flips), *more), over.lever.unit)

    # ------------------------------------------------------------ drawing

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setOpacity(_FADED if self._is_stale else 1.0)
        for index in range(self._count):
            self._paint_row(painter, index)
        if self._still:
            self._paint_still(painter)

    def _paint_row(self, painter: QPainter, index: int) -> None:
        bar, theme = self._bars[index], self._theme
        is_pointed = self._at is not None and self._at[0] == index
        room = self.row_rect(index)
        if is_pointed:
            painter.fillRect(room.adjusted(4, 1, -4, -1), QColor(theme.hover))
            if self.hasFocus():
                box(painter, room.adjusted(4, 1, -4, -1), "", theme.accent)
        if index:
            painter.fillRect(QRectF(_EDGE, room.top(), room.width() - 2 * _EDGE, 1), QColor(theme.grid))
        self._paint_label(painter, bar, room)
        self._paint_pieces(painter, index)
        self._paint_values(painter, index)
        if is_pointed and self._at is not None and self._at[1] is not None:
            self._paint_cursor(painter, index, self._at[1])

    def _paint_label(self, painter: QPainter, bar: FlipBar, room: QRectF) -> None:
        theme = self._theme
        title = QRectF(_EDGE, room.top() + 6, _LABEL, 20)
        kind = kind_word(bar.range.kind)
        wide = width_of(kind)
        title.setWidth(_LABEL - wide - 8)
        write(painter, title, say_text(bar.range.lever.title), theme.text, pixels=BODY_PX)
        colour = theme.warning if bar.range.kind == "assumption" else theme.muted
        write(painter, QRectF(_EDGE + _LABEL - wide, room.top() + 7, wide, 20), kind, colour, align="right")
        for number, line in enumerate(lines_of(say_text(bar.range.reason), _LABEL, 2)):
            write(painter, QRectF(_EDGE, room.top() + 26 + 16 * number, _LABEL, 16), line, theme.muted)

    def _side(self, piece: Segment) -> Side | None:
        if self._sides is None or piece.winner not in ("first", "second"):
            return None
        return self._sides[piece.winner == "second"]

    def _paint_pieces(self, painter: QPainter, index: int) -> None:
        theme = self._theme
        for piece in self._bars[index].segments:
            left, right = self.place_of(index, piece.low), self.place_of(index, piece.high)
            room = self.bar_rect(index)
            part = QRectF(left, room.top(), max(right - left, 1.0), room.height())
            side = self._side(piece)
            if side is None:
                painter.fillRect(part, QColor(theme.grid))
                name = say("the same") if piece.winner == "equal" else say("not known")
                write(painter, part.adjusted(4, 0, -4, 0), name, theme.muted, align="middle")
                continue
            painter.fillRect(part, QColor(side.mark.ground))
            if piece.winner == "second":
                hatch(painter, part, mix(side.mark.colour, side.mark.ground, _HATCH))
            painter.fillRect(QRectF(part.left(), part.bottom() - 2, part.width(), 2), QColor(side.mark.colour))
            self._paint_winner(painter, part, side, self.place_of(index, self._bars[index].range.value))

    def _paint_winner(self, painter: QPainter, part: QRectF, side: Side, today: float) -> None:
        """The mark and the name of who wins, beside today's tick; the mark alone where there is little room."""
        wide = 16.0 + width_of(side.name)
        before, after = (
            QRectF(part.left(), part.top(), today - part.left(), part.height()),
            QRectF(today, part.top(), part.right() - today, part.height()),
        )
        if abs(part.center().x() - today) < wide / 2 + 8 and part.left() < today < part.right():
            part = max(before, after, key=lambda one: one.width())
        has_name = part.width() >= wide + 12
        if part.width() < 16:
            return
        left = part.center().x() - (wide / 2 if has_name else 5.0)
        room = QRectF(left - 4, part.top() + 1, (wide if has_name else 10.0) + 8, part.height() - 4)
        painter.fillRect(room, QColor(side.mark.ground))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(pen(side.mark.colour, 1.5))
        painter.setBrush(QColor(side.mark.colour) if side.is_current else Qt.BrushStyle.NoBrush)
        painter.drawPath(mark_path(side.mark.shape, 8.0).translated(left + 5, part.center().y() - 1))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        if has_name:
            write(painter, QRectF(left + 16, part.top(), wide - 14, part.height() - 2), side.name, side.mark.colour)

    def _paint_values(self, painter: QPainter, index: int) -> None:
        """Today's value above, both ends and every flip below, each with its tick; labels are kept apart."""
        bar, theme, room = self._bars[index], self._theme, self.bar_rect(index)
        low, high, today, *flips = self._shown(bar)
        x = round(self.place_of(index, bar.range.value)) + 0.5
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=False)
        painter.setPen(pen(theme.text, 2.0))
        painter.drawLine(QLineF(x, room.top() - 4, x, room.bottom()))
        painter.drawLine(QLineF(x - 3, room.top() - 4, x + 3, room.top() - 4))
        unit = bar.range.lever.unit
        words = say("today {value}", value=brief(bar.range.value, unit) if unit.kind == "usd" else today)
        wide = width_of(words, bold=True)
        (left,) = spread([x], [wide], 0.0, room.left(), room.right())
        write(painter, QRectF(left, room.top() - 4 - _ABOVE, wide, 16), words, theme.text, bold=True)
        lowest = room.bottom() + 3
        ends = width_of(low), width_of(high)
        write(painter, QRectF(room.left(), lowest, ends[0], 16), low, theme.muted)
        write(painter, QRectF(room.right() - ends[1], lowest, ends[1], 16), high, theme.muted, align="right")
        self._paint_flips(painter, index, flips, (room.left() + ends[0] + 10, room.right() - ends[1] - 10))
        if len(flips) > _MANY:
            count = say("{count} flips", count=len(flips))
            free = left + wide + 12 < room.right() - width_of(count)
            spot = QRectF(room.left() if not free else room.right() - 120, room.top() - 4 - _ABOVE, 120, 16)
            write(painter, spot, count, theme.muted, align="right" if free else "left")

    def _paint_flips(self, painter: QPainter, index: int, shown: Sequence[str], ends: tuple[float, float]) -> None:
        """A tick for each flip, and its value where there is room: those nearest to today's value first."""
        bar, room = self._bars[index], self.bar_rect(index)
        places = [self.place_of(index, flip.value) for flip in bar.flips]
        widths = [width_of(text, bold=True) for text in shown]
        lefts: list[float | None] = list(spread(places, widths, 8.0, *ends))
        if len(shown) > _MANY:
            lefts = _thinned(places, widths, ends, self.place_of(index, bar.range.value))
        for flip, place, left, wide, text in zip(bar.flips, places, lefts, widths, shown, strict=True):
            colour = self._flip_colour(bar, flip.value)
            tick = round(place) + 0.5
            painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=False)
            painter.setPen(pen(colour))
            painter.drawLine(QLineF(tick, room.top() - 3, tick, room.bottom() + 2))
            if left is None:
                continue
            bend = min(max(tick, left + 2), left + wide - 2)
            if abs(bend - tick) > 0.5:
                painter.setRenderHint(QPainter.RenderHint.Antialiasing)
                painter.drawLine(QLineF(tick, room.bottom() + 1, bend, room.bottom() + 6))
            write(painter, QRectF(left, room.bottom() + 3, wide, 16), text, colour, bold=True)

    def _flip_colour(self, bar: FlipBar, value: float) -> str:
        """The colour of the other plan, which wins on one side of the flip."""
        below = next(piece for piece in bar.segments if piece.high == value)
        sides = [one for one in (self._side(bar.at(value)), self._side(below)) if one is not None]
        away = next((one for one in sides if not one.is_current), sides[0] if sides else None)
        return self._theme.text if away is None else away.mark.colour

    def _paint_cursor(self, painter: QPainter, index: int, value: float) -> None:
        theme, room = self._theme, self.bar_rect(index)
        x = round(self.place_of(index, value)) + 0.5
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=False)
        painter.setPen(pen(theme.accent))
        painter.drawLine(QLineF(x, room.top() - 4, x, room.bottom() + 3))
        words = self._shown(self._bars[index], value)[-1]
        wide = width_of(words, bold=True)
        (left,) = spread([x], [wide], 0.0, room.left(), room.right())
        spot = QRectF(left, room.top() - 4 - _ABOVE, wide, 16)
        write(painter, spot, words, theme.accent, bold=True, ground=theme.hover)

    def _paint_still(self, painter: QPainter) -> None:
        """The inputs that flip nothing: title and range."""
        theme, top = self._theme, self._count * _ROW
        if self._count:
            painter.fillRect(QRectF(_EDGE, top, self._width - 2 * _EDGE, 1), QColor(theme.hairline))
        head = QRectF(_EDGE, top + 8, self._width - 2 * _EDGE, 18)
        write(painter, head, say("Without effect on the choice, over the whole of each range"), theme.muted)
        for index in range(self._count, len(self._bars)):
            bar, room = self._bars[index], self.row_rect(index)
            if self._at is not None and self._at[0] == index:
                painter.fillRect(room.adjusted(-4, 0, 0, 0), QColor(theme.hover))
                if self.hasFocus():
                    box(painter, room.adjusted(-4, 0, 0, 0), "", theme.accent)
            title = say_text(bar.range.lever.title)
            used = write(painter, room, title, theme.text, pixels=BODY_PX)
            low, high = amounts((bar.range.low, bar.range.high), bar.range.lever.unit)
            words = say("{low} to {high}", low=low, high=high)
            write(painter, room.adjusted(used + 8, 0, 0, 0), words, theme.muted)

    # ------------------------------------------------------------ hands

    @override
    def first(self) -> Place | None:
        return (0, None) if self._bars else None

    @override
    def said_of(self, at: Place) -> str:
        return self.words_at(*at)

    @override
    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        index = self._row_at(event.position())
        self.setCursor(Qt.CursorShape.ArrowCursor if index is None else Qt.CursorShape.PointingHandCursor)
        self._point(None if index is None else (index, self._value_at(index, event.position())))

    @override
    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        index = self._row_at(event.position())
        if index is not None and event.button() == Qt.MouseButton.LeftButton:
            self.field_requested.emit(self._bars[index].path)

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = Qt.Key(event.key())
        if not self._bars or key not in _KEYS:
            super().keyPressEvent(event)
            return
        index, value = self._at or (0, None)
        if key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.field_requested.emit(self._bars[index].path)
        elif key in (Qt.Key.Key_Up, Qt.Key.Key_Down):
            step = 1 if key == Qt.Key.Key_Down else -1
            self._point((min(max(index + step, 0), len(self._bars) - 1), None) if self._at else (0, None))
        elif index < self._count:
            self._point((index, self._stepped(self._bars[index].range, value, key)))

    @staticmethod
    def _stepped(over: Range, value: float | None, key: Qt.Key) -> float:
        """The next value along a bar; the next whole one where the input is whole."""
        if key == Qt.Key.Key_Home or value is None:
            return over.value
        sign = 1 if key == Qt.Key.Key_Right else -1
        moved = value_of(over, over.position(value) + sign / _STEPS)
        if over.lever.is_whole and moved == value:
            moved = min(max(value + sign, over.low), over.high)
        return moved

    @override
    def tip_at(self, place: QPointF) -> str:
        index = self._row_at(place)
        is_label = index is not None and (index >= self._count or place.x() < _EDGE + _LABEL)
        return self.words_at(index, None) if index is not None and is_label else ""


_KEYS = frozenset((
    Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_Left, Qt.Key.Key_Right, Qt.Key.Key_Home,
))  # fmt: skip
