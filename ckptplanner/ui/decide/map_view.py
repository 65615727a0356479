"""A map over two inputs: who costs least in each cell, or one figure as shades; today's point marked.

high |  b  b  b  a     each cell stands for a value of either input, at its place in the range; cells with different
     |  b  b  a  a     winners have a line between them, so that colour is not needed to see where the choice flips
low  |  b  a  o  a     o: today
     +-------------
      low       high
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np
from PySide6.QtCore import QLineF, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QKeyEvent, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget
from typing_extensions import override

from ckptplanner.engine.figure_map import FigureMap
from ckptplanner.engine.flip_words import amounts
from ckptplanner.engine.ranges import Range
from ckptplanner.frozen import FloatArray
from ckptplanner.ui.decide.flip_bars import Side
from ckptplanner.ui.decide.tornado_bars import figure_text
from ckptplanner.ui.ink import box, hatch, lines_of, mix, pen, spread, width_of, write
from ckptplanner.ui.marks import mark_path
from ckptplanner.ui.painted import Pointed
from ckptplanner.ui.theme import BODY_PX
from ckptplanner.ui.words import say, say_text

_LEFT, _TOP, _BELOW, _LEGEND = 148.0, 8.0, 44.0, 168.0
_WIDEST, _TALLEST = 1100.0, 720.0
_FADED, _PALE, _DARK = 0.4, 0.06, 0.82  # the lightest and the darkest shade of the figure
Cell = tuple[int, int]  # column, row


def _edges(over: Range, values: FloatArray) -> list[float]:
    """Where cells end, as shares of the range: halfway between neighbouring values."""
    places = [over.position(float(value)) for value in values]
    return [0.0, *((one + other) / 2 for one, other in pairwise(places)), 1.0]


class MapView(Pointed[Cell]):
    """Draws one FigureMap."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("figure_map", say("Map over two inputs"), parent)
        self.setMinimumSize(560, 264)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self._map: FigureMap | None = None
        self._sides: tuple[Side, ...] = ()
        self._cost_words: Callable[[float], str] = str
        self._is_stale = False

    @override
    def sizeHint(self) -> QSize:
        return QSize(960, 420)

    def show_map(
        self, found: FigureMap | None, sides: Sequence[Side], cost_words: Callable[[float], str], *, is_stale: bool
    ) -> None:
        """Draw it; `sides` are its plans, `cost_words` says dollars a year. Pale where a plan has changed since."""
        if found is not self._map:
            self._at = None
        self._map, self._sides, self._cost_words, self._is_stale = found, tuple(sides), cost_words, is_stale
        self.setAccessibleDescription("" if found is None else self.words_of(self._today(found)))
        self.update()

    # ------------------------------------------------------------ places

    def map_rect(self) -> QRectF:
        """The cells together."""
        wide = min(self.width() - _LEFT - _LEGEND - 32, _WIDEST)
        tall = min(self.height() - _TOP - _BELOW, _TALLEST)
        return QRectF(_LEFT, _TOP, max(wide, 80.0), max(tall, 80.0))

    def cell_rect(self, cell: Cell) -> QRectF:
        """One cell, on whole pixels."""
        assert self._map is not None
        room, (column, row) = self.map_rect(), cell
        across, up = _edges(self._map.across, self._map.across_values), _edges(self._map.up, self._map.up_values)
        left, right = (round(room.left() + across[at] * room.width()) for at in (column, column + 1))
        top, bottom = (round(room.bottom() - up[at] * room.height()) for at in (row + 1, row))
        return QRectF(left, top, right - left, bottom - top)

    def _cell_at(self, place: QPointF) -> Cell | None:
        found, room = self._map, self.map_rect()
        if found is None or not room.contains(place):
            return None
        x = (place.x() - room.left()) / room.width()
        y = (room.bottom() - place.y()) / room.height()
        column = int(np.searchsorted(_edges(found.across, found.across_values), x)) - 1
        row = int(np.searchsorted(_edges(found.up, found.up_values), y)) - 1
        return min(max(column, 0), found.across_values.size - 1), min(max(row, 0), found.up_values.size - 1)

    @staticmethod
    def _today(found: FigureMap) -> Cell:
        """The cell of today's values, which are among those of the map."""
        column = int(np.argmin(np.abs(found.across_values - found.across.value)))
        return column, int(np.argmin(np.abs(found.up_values - found.up.value)))

    # ------------------------------------------------------------ words

    def words_of(self, cell: Cell) -> str:
        """One cell in words: both inputs, and what comes of them."""
        found = self._map
        if found is None:
            return ""
        column, row = cell
        inputs = [
            f"{say_text(over.lever.title)} {amounts((float(value), over.low), over.lever.unit)[0]}"
            for over, value in ((found.across, found.across_values[column]), (found.up, found.up_values[row]))
        ]
        if found.values is not None and found.title is not None and found.unit is not None:
            value = float(found.values[0, row, column])
            shown = figure_text(None if math.isnan(value) else value, found.unit)
            return f"{', '.join(inputs)}: {say_text(found.title)} {shown}"
        costs = [
            say("“{name}” {usd}", name=name, usd=self._cost_words(float(total)))
            for name, total in zip(found.plans, found.total_usd_per_year[:, row, column], strict=True)
        ]
        return f"{', '.join(inputs)}: {', '.join(costs)}"

    # ------------------------------------------------------------ drawing

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        found = self._map
        if found is None:
            return
        painter = QPainter(self)
        painter.setOpacity(_FADED if self._is_stale else 1.0)
        if found.values is None:
            self._paint_winners(painter, found)
        else:
            self._paint_shades(painter, found, found.values[0])
        self._paint_axes(painter, found)
        self._paint_today(painter, found)
        if self._at is not None:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=False)
            painter.setPen(pen(self._theme.accent, 2.0))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(self.cell_rect(self._at).adjusted(1, 1, -1, -1))
        if self.hasFocus():
            box(painter, self.map_rect().adjusted(-2, -2, 2, 2), "", self._theme.accent)

    def _cells(self, found: FigureMap) -> list[Cell]:
        return [(column, row) for row in range(found.up_values.size) for column in range(found.across_values.size)]

    def _paint_winners(self, painter: QPainter, found: FigureMap) -> None:
        theme, winner = self._theme, found.winner
        for column, row in self._cells(found):
            room, number = self.cell_rect((column, row)), int(winner[row, column])
            mark = self._sides[number].mark if 0 <= number < len(self._sides) else None
            painter.fillRect(room, QColor(theme.grid if mark is None else mark.ground))
            if mark is not None and number % 2:
                hatch(painter, room, mix(mark.colour, mark.ground, 0.2))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=False)
        painter.setPen(pen(theme.text, 1.0))
        for column, row in self._cells(found):  # between cells that differ
            room = self.cell_rect((column, row))
            if column + 1 < winner.shape[1] and winner[row, column] != winner[row, column + 1]:
                painter.drawLine(QLineF(room.right(), room.top(), room.right(), room.bottom()))
            if row + 1 < winner.shape[0] and winner[row, column] != winner[row + 1, column]:
                painter.drawLine(QLineF(room.left(), room.top(), room.right(), room.top()))
        self._paint_keys(painter, found)

    def _paint_keys(self, painter: QPainter, found: FigureMap) -> None:
        """At the right: which mark and ground is which plan, and in how many cells it costs least."""
        theme, room = self._theme, self.map_rect()
        left, top = room.right() + 20, room.top()
        write(painter, QRectF(left, top, _LEGEND, 18), say("Costs least"), theme.muted)
        rows = [*((side.name, number, side) for number, side in enumerate(self._sides)), (say("not known"), -1, None)]
        for name, number, side in rows:
            share = float(np.mean(found.winner == number))
            if not share:
                continue
            top += 24
            swatch = QRectF(left, top, 20, 16)
            painter.fillRect(swatch, QColor(theme.grid if side is None else side.mark.ground))
            if side is not None and number % 2:
                hatch(painter, swatch, mix(side.mark.colour, side.mark.ground, 0.2))
            if side is not None:
                _paint_mark(painter, swatch.center(), side, 8.0)
            write(painter, QRectF(left + 28, top, _LEGEND - 28, 16), name, theme.text, pixels=BODY_PX)

    def _paint_shades(self, painter: QPainter, found: FigureMap, values: FloatArray) -> None:
        """The figure: the darker the more; on a log scale where it spans more than a power of ten."""
        theme, room = self._theme, self.map_rect()
        known = values[np.isfinite(values)]
        low, high = (float(known.min()), float(known.max())) if known.size else (0.0, 1.0)
        is_log = low > 0 and high > 10 * low

        def shade(value: float) -> str:
            if is_log:
                share = math.log(value / low) / math.log(high / low)
            else:
                share = (value - low) / (high - low) if high > low else 0.0
            return mix(theme.use_low, theme.surface, _PALE + (_DARK - _PALE) * share)

        for column, row in self._cells(found):
            value, cell = float(values[row, column]), self.cell_rect((column, row))
            painter.fillRect(cell, QColor(shade(value) if math.isfinite(value) else theme.surface))
            if not math.isfinite(value):
                hatch(painter, cell, theme.hatch)
        left = room.right() + 20
        assert found.unit is not None
        title = "" if found.title is None else say_text(found.title)
        for number, line in enumerate(lines_of(title, _LEGEND, 2)):
            write(painter, QRectF(left, room.top() + 16 * number, _LEGEND, 16), line, theme.muted)
        bar = QRectF(left, room.top() + 42, 16, min(room.height() - 60, 220.0))
        for line_number in range(round(bar.height())):
            share = 1 - line_number / bar.height()
            value = low * (high / low) ** share if is_log else low + (high - low) * share
            painter.fillRect(QRectF(bar.left(), bar.top() + line_number, bar.width(), 1.5), QColor(shade(value)))
        for value, top in ((high, bar.top()), (low, bar.bottom() - 16)):
            write(painter, QRectF(bar.right() + 8, top, _LEGEND - 24, 16), figure_text(value, found.unit), theme.text)
        column, row = self._today(found)
        today = float(values[row, column])
        if math.isfinite(today) and high > low:
            share = math.log(today / low) / math.log(high / low) if is_log else (today - low) / (high - low)
            y = min(max(bar.bottom() - share * bar.height(), bar.top() + 24), bar.bottom() - 24)
            words = say("today {value}", value=figure_text(today, found.unit))
            write(painter, QRectF(bar.right() + 8, y - 8, _LEGEND - 24, 16), words, theme.text, bold=True)

    def _paint_axes(self, painter: QPainter, found: FigureMap) -> None:
        """Both inputs with the ends of their ranges and today's values."""
        theme, room = self._theme, self.map_rect()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=False)
        painter.setPen(pen(theme.line))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRect(QRectF(room.left() - 0.5, room.top() - 0.5, round(room.width()) + 1, round(room.height()) + 1))
        for over, is_across in ((found.across, True), (found.up, False)):
            low, today, high = amounts((over.low, over.value, over.high), over.lever.unit)
            words = [
                (low, 0.0, False),
                (say("today {value}", value=today), over.position(over.value), True),
                (high, 1.0, False),
            ]
            if is_across:
                self._paint_below(painter, room, words, say_text(over.lever.title))
            else:
                self._paint_beside(painter, room, words, say_text(over.lever.title))

    def _paint_below(self, painter: QPainter, room: QRectF, words: Sequence[tuple[str, float, bool]], title: str) -> None:
        theme = self._theme
        widths = [width_of(text, bold=strong) for text, _, strong in words]
        lefts = spread([room.left() + place * room.width() for _, place, _ in words], widths, 10, room.left(), room.right())
        for (text, _, strong), left, wide in zip(words, lefts, widths, strict=True):
            spot = QRectF(left, room.bottom() + 4, wide, 16)
            write(painter, spot, text, theme.text if strong else theme.muted, bold=strong)
        write(
            painter,
            QRectF(room.left(), room.bottom() + 22, room.width(), 18),
            title,
            theme.text,
            pixels=BODY_PX,
            align="middle",
        )

    def _paint_beside(self, painter: QPainter, room: QRectF, words: Sequence[tuple[str, float, bool]], title: str) -> None:
        theme = self._theme
        tops = [room.bottom() - place * room.height() - 8 for _, place, _ in words]
        tops[0], tops[2] = room.bottom() - 16, room.top()
        tops[1] = min(max(tops[1], room.top() + 18), room.bottom() - 34)
        for (text, _, strong), top in zip(words, tops, strict=True):
            spot = QRectF(16, top, room.left() - 24, 16)
            write(painter, spot, text, theme.text if strong else theme.muted, bold=strong, align="right")
        lines = lines_of(title, room.left() - 24, 2, BODY_PX)
        top = room.top() + (40 if tops[1] > room.center().y() - 30 else room.height() * 0.7)
        for number, line in enumerate(lines):
            write(painter, QRectF(16, top + 18 * number, room.left() - 24, 18), line, theme.text, pixels=BODY_PX, align="right")

    def _paint_today(self, painter: QPainter, found: FigureMap) -> None:
        theme, room = self._theme, self.map_rect()
        x = round(room.left() + found.across.position(found.across.value) * room.width()) + 0.5
        y = round(room.bottom() - found.up.position(found.up.value) * room.height()) + 0.5
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=False)
        painter.setPen(pen(theme.text, dashed=True))
        painter.drawLine(QLineF(x, y, x, room.bottom()))
        painter.drawLine(QLineF(room.left(), y, x, y))
        if not self._sides:
            return
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(theme.surface))
        painter.drawEllipse(QPointF(x, y), 8, 8)
        _paint_mark(painter, QPointF(x, y), self._sides[0], 10.0)

    # ------------------------------------------------------------ hands

    @override
    def first(self) -> Cell | None:
        return None if self._map is None else self._today(self._map)

    @override
    def said_of(self, at: Cell) -> str:
        return self.words_of(at)

    @override
    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self._point(self._cell_at(event.position()))

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        steps = {Qt.Key.Key_Left: (-1, 0), Qt.Key.Key_Right: (1, 0), Qt.Key.Key_Up: (0, 1), Qt.Key.Key_Down: (0, -1)}
        found, key = self._map, Qt.Key(event.key())
        if found is None or key not in (*steps, Qt.Key.Key_Home):
            super().keyPressEvent(event)
            return
        column, row = self._at or self._today(found)
        if key == Qt.Key.Key_Home or self._at is None:
            self._point(self._today(found))
            return
        right, up = steps[key]
        self._point(
            (min(max(column + right, 0), found.across_values.size - 1), min(max(row + up, 0), found.up_values.size - 1))
        )


def _paint_mark(painter: QPainter, place: QPointF, side: Side, size: float) -> None:
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(pen(side.mark.colour, 1.5))
    painter.setBrush(QColor(side.mark.colour) if side.is_current else Qt.BrushStyle.NoBrush)
    painter.drawPath(mark_path(side.mark.shape, size).translated(place))
    painter.setBrush(Qt.BrushStyle.NoBrush)
