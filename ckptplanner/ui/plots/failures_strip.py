"""Every stop on a time axis, one lane for each kind; a drag over it brushes a period.

node failed        o    o  o         o
cancelled              +       +
                |2026-10-01    |2026-11-01
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from PySide6.QtCore import QLineF, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget
from typing_extensions import override

from ckptplanner.engine.evidence import Stop
from ckptplanner.frozen import FloatArray
from ckptplanner.ui.dates import date_ticks, day_text, span_text
from ckptplanner.ui.ink import hatch, pen, width_of, write
from ckptplanner.ui.painted import Painted
from ckptplanner.ui.stops import kind_colour, kind_path, paint_mark, stop_words
from ckptplanner.ui.words import say

AXIS_PX = 20  # for the dates below the lanes
_EDGE = 8  # left and right of the first and last moment [px]
_MARK = 8.0
_NEAR = 7.0  # from the pointer to a stop that it means [px]
_HELD = 4.0  # a drag begins here, anything less is a click [px]
_CROWDED = 0.8  # marks so close, as a share of their width, become upright ticks
Period = tuple[float, float]


class StopsStrip(Painted):
    """The lanes; says which stop is meant and which period is brushed."""

    stop_chosen = Signal(int)
    period_chosen = Signal(object)  # its ends in seconds since 1970, or None for all

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("evidence.strip", say("Stops on a time axis"), parent)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setMinimumWidth(240)
        self._stops: tuple[Stop, ...] = ()
        self._lanes: tuple[str, ...] = ()
        self._at = np.zeros(0)
        self._lane = np.zeros(0, dtype=int)
        self._is_counted = np.zeros(0, dtype=bool)
        self._begin_s, self._end_s = 0.0, 1.0
        self._period: Period | None = None
        self._chosen = -1
        self._pressed: float | None = None  # where the mouse took hold [px]
        self._brush: Period | None = None  # while it is drawn
        self._lane_px = 16
        self._fit()

    # ------------------------------------------------------------ what is shown

    def show_stops(self, stops: Sequence[Stop], lanes: Sequence[str], span: Period, period: Period | None) -> None:
        """Draw stops in time, one lane for each of these kinds, over a span; what lies outside the period is pale."""
        self._stops, self._lanes = tuple(stops), tuple(lanes)
        index = {kind: place for place, kind in enumerate(lanes)}
        self._at = np.array([stop.at_s for stop in stops], dtype=float)
        self._lane = np.array([index.get(stop.kind, -1) for stop in stops], dtype=int)
        self._is_counted = np.array([stop.is_counted for stop in stops], dtype=bool)
        self._begin_s, self._end_s = span if span[1] > span[0] else (span[0] - 1800.0, span[0] + 1800.0)
        self._period, self._brush, self._pressed = period, None, None
        self._chosen = -1
        self._fit()
        first, last = span_text(self._begin_s, self._end_s)
        words = say("{count} stops from {first} to {last}", count=f"{len(stops):,}", first=first, last=last)
        self.setAccessibleDescription(words)
        self.update()

    def show_lane_height(self, pixels: int) -> None:
        """Make the lanes so high."""
        self._lane_px = pixels
        self._fit()

    def show_chosen(self, index: int) -> None:
        """Mark a stop; -1: none."""
        if index != self._chosen:
            self._chosen = index
            self.update()

    def _fit(self) -> None:
        self.setFixedHeight(self.sizeHint().height())
        self.updateGeometry()

    @override
    def sizeHint(self) -> QSize:
        return QSize(600, max(len(self._lanes), 1) * self._lane_px + AXIS_PX)

    # ------------------------------------------------------------ places

    def x_of(self, seconds: float) -> float:
        """Where a moment lies. [px]"""
        return _EDGE + (seconds - self._begin_s) / (self._end_s - self._begin_s) * (self.width() - 2 * _EDGE)

    def seconds_at(self, x: float) -> float:
        """The moment at a place, inside what is shown. [s]"""
        share = (x - _EDGE) / max(self.width() - 2 * _EDGE, 1)
        return self._begin_s + min(max(share, 0.0), 1.0) * (self._end_s - self._begin_s)

    def place_of(self, index: int) -> QPointF:
        """Where a stop is drawn. [px]"""
        return QPointF(self.x_of(float(self._at[index])), (float(self._lane[index]) + 0.5) * self._lane_px)

    def stop_at(self, place: QPointF) -> int:
        """The stop of that lane that is nearest to a place; -1: none is near."""
        lane = int(place.y() // self._lane_px)
        mine = np.flatnonzero(self._lane == lane) if 0 <= lane < len(self._lanes) else np.zeros(0, dtype=int)
        if not mine.size:
            return -1
        nearest = int(mine[np.argmin(np.abs(self._at[mine] - self.seconds_at(place.x())))])
        return nearest if abs(self.x_of(float(self._at[nearest])) - place.x()) <= _NEAR else -1

    # ------------------------------------------------------------ drawing

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        painter, theme = QPainter(self), self._theme
        bottom = float(self.height() - AXIS_PX)
        painter.fillRect(QRectF(0, 0, self.width(), bottom), QColor(theme.surface))
        self._paint_outside(painter, bottom)
        painter.setPen(pen(theme.grid))
        painter.drawLines([QLineF(0, y + 0.5, self.width(), y + 0.5) for y in range(0, round(bottom), self._lane_px)])
        self._paint_dates(painter, bottom)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        period = self._shown_period
        if period is not None:
            painter.setPen(pen(theme.accent))
            painter.drawLines([QLineF(x, 0, x, bottom) for x in (round(self.x_of(end)) + 0.5 for end in period)])
        inside = np.ones(self._at.size, dtype=bool)
        if period is not None:
            inside = (self._at >= period[0]) & (self._at <= period[1])
        for lane, kind in enumerate(self._lanes):
            for is_inside in (False, True):
                painter.setOpacity(1.0 if is_inside else 0.3)
                for is_counted in (False, True):
                    mine = (self._lane == lane) & (inside == is_inside) & (self._is_counted == is_counted)
                    self._paint_lane(painter, lane, kind, self._at[mine], is_filled=is_counted)
        painter.setOpacity(1.0)
        if 0 <= self._chosen < self._at.size:
            self._paint_chosen(painter, bottom)
        if self.hasFocus():
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(pen(theme.accent))
            painter.drawRect(QRectF(0.5, 0.5, self.width() - 1, bottom - 1))

    @property
    def _shown_period(self) -> Period | None:
        return self._brush or self._period

    def _paint_outside(self, painter: QPainter, bottom: float) -> None:
        """Hatch what the period leaves out."""
        period, theme = self._shown_period, self._theme
        if period is None:
            return
        left, right = (min(max(self.x_of(end), 0.0), float(self.width())) for end in period)
        painter.fillRect(QRectF(left, 0, right - left, bottom), QColor(theme.accent_ground if self._brush else theme.selected))
        for room in (QRectF(0, 0, left, bottom), QRectF(right, 0, self.width() - right, bottom)):
            hatch(painter, room, theme.grid)

    def _paint_dates(self, painter: QPainter, bottom: float) -> None:
        theme, taken = self._theme, -1e9
        painter.setPen(pen(theme.line))
        painter.drawLine(QLineF(0, bottom + 0.5, self.width(), bottom + 0.5))
        for seconds, words in date_ticks(self._begin_s, self._end_s, self.width() - 2 * _EDGE):
            x, wide = round(self.x_of(seconds)) + 0.5, width_of(words)
            painter.setPen(pen(theme.grid))
            painter.drawLine(QLineF(x, 0, x, bottom))
            painter.setPen(pen(theme.line))
            painter.drawLine(QLineF(x, bottom, x, bottom + 3))
            left = min(max(x - wide / 2, 0.0), self.width() - wide)
            if left >= taken:
                write(painter, QRectF(left, bottom + 3, wide, AXIS_PX - 4), words, theme.muted)
                taken = left + wide + 8

    def _paint_lane(self, painter: QPainter, lane: int, kind: str, at: FloatArray, *, is_filled: bool) -> None:
        """The marks of one kind; where they would lie over one another each pixel that has one gets an upright tick."""
        if not at.size:
            return
        theme, y = self._theme, (lane + 0.5) * self._lane_px
        places = np.unique(np.rint(_EDGE + (at - self._begin_s) / (self._end_s - self._begin_s) * (self.width() - 2 * _EDGE)))
        places = places[(places >= 0) & (places <= self.width())]
        apart = np.diff(places)
        if apart.size > 8 and float(np.median(apart)) < _MARK * _CROWDED:
            half = self._lane_px / 2 - (2.5 if is_filled else 5.0)
            painter.setPen(pen(kind_colour(kind, theme)))
            painter.drawLines([QLineF(x + 0.5, y - half, x + 0.5, y + half) for x in places.tolist()])
            return
        path, colour = kind_path(kind, _MARK), kind_colour(kind, theme)
        for x in places.tolist():
            paint_mark(painter, path, QPointF(x, y), colour, theme.surface, is_filled=is_filled)

    def _paint_chosen(self, painter: QPainter, bottom: float) -> None:
        theme, place, stop = self._theme, self.place_of(self._chosen), self._stops[self._chosen]
        painter.setPen(pen(theme.accent))
        painter.drawLines([QLineF(place.x(), 0, place.x(), place.y() - 7), QLineF(place.x(), place.y() + 7, place.x(), bottom)])
        painter.setBrush(QColor(theme.surface))
        painter.drawEllipse(place, 7, 7)
        path = kind_path(stop.kind, _MARK)
        paint_mark(painter, path, place, kind_colour(stop.kind, theme), theme.surface, is_filled=stop.is_counted)

    # ------------------------------------------------------------ words

    def words_at(self, place: QPointF) -> str:
        """The stop that is near, else the day."""
        index = self.stop_at(place)
        if index >= 0:
            return stop_words(self._stops[index])
        return day_text(self.seconds_at(place.x())) if self._stops else ""

    @override
    def tip_at(self, place: QPointF) -> str:
        index = self.stop_at(place)
        if index >= 0:
            return stop_words(self._stops[index])
        return say("Drag over the dates to take a period only") if self._stops and self._period is None else ""

    # ------------------------------------------------------------ hands

    @override
    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton and self._stops:
            self._pressed = event.position().x()

    @override
    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        x = event.position().x()
        if self._pressed is not None and (self._brush is not None or abs(x - self._pressed) > _HELD):
            ends = sorted((self.seconds_at(self._pressed), self.seconds_at(x)))
            self._brush = (ends[0], ends[1])
            first, last = span_text(*ends)
            self.hovered.emit(say("{first} to {last}", first=first, last=last))
            self.update()
            return
        is_stop = self.stop_at(event.position()) >= 0
        self.setCursor(Qt.CursorShape.PointingHandCursor if is_stop else Qt.CursorShape.IBeamCursor)
        self.hovered.emit(self.words_at(event.position()))

    @override
    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if event.button() != Qt.MouseButton.LeftButton or self._pressed is None:
            return
        brush, self._brush, self._pressed = self._brush, None, None
        if brush is not None and brush[1] > brush[0]:
            self.hovered.emit("")  # its dates were those of the brush
            self._propose(brush)
        elif (index := self.stop_at(event.position())) >= 0:
            self.stop_chosen.emit(index)
        self.update()

    @override
    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        self._pressed = None
        self._clear()

    def _propose(self, period: Period) -> None:
        is_all = period[0] <= self._begin_s and period[1] >= self._end_s
        if (None if is_all else period) != self._period:
            self.period_chosen.emit(None if is_all else period)

    def _clear(self) -> None:
        if self._period is not None:
            self.period_chosen.emit(None)

    def _step_to(self, key: Qt.Key) -> int:
        """The stop that a key goes to, in time."""
        last = len(self._stops) - 1
        if key == Qt.Key.Key_Home or self._chosen < 0:
            return last if key == Qt.Key.Key_End else 0
        steps = {Qt.Key.Key_Left: self._chosen - 1, Qt.Key.Key_Right: self._chosen + 1}
        return min(max(steps.get(key, last), 0), last)

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        key, is_shifted = Qt.Key(event.key()), bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        if key == Qt.Key.Key_Escape and (self._brush is not None or self._period is not None):
            if self._brush is None:
                self._clear()
            self._brush, self._pressed = None, None
            self.hovered.emit("")
            self.update()
        elif not self._stops or key not in (Qt.Key.Key_Left, Qt.Key.Key_Right, Qt.Key.Key_Home, Qt.Key.Key_End):
            super().keyPressEvent(event)
        elif is_shifted and self._chosen >= 0 and key in (Qt.Key.Key_Home, Qt.Key.Key_End):
            begin, end = self._period or (self._begin_s, self._end_s)
            at = float(self._at[self._chosen])
            ends = (at, max(end, at)) if key == Qt.Key.Key_Home else (min(begin, at), at)
            if ends[1] > ends[0]:
                self._propose(ends)
        else:
            index = self._step_to(key)
            self.stop_chosen.emit(index)
            self.hovered.emit(stop_words(self._stops[index]))
