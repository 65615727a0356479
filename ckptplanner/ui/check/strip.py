"""The waste that was simulated, as an interval, and the formulas' marks on the same axis.

    exact 0.538 %      first order 0.540 %
          |                |
[=========##|##============]           light: 9 of 10 runs; bold: the mean and three standard errors
   mean 0.537 %, give or take 0.004 %; 9 of 10 runs 0.31 % to 0.82 %
|----------|----------|---------|
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QLineF, QPointF, QRectF, QSize
from PySide6.QtGui import QColor, QMouseEvent, QPainter, QPaintEvent, QPolygonF
from PySide6.QtWidgets import QSizePolicy, QWidget
from typing_extensions import override

from ckptplanner.frozen import FloatArray
from ckptplanner.ui.check.axis import share_text, share_ticks
from ckptplanner.ui.ink import box, mix, pen, spread, width_of, write
from ckptplanner.ui.painted import Painted
from ckptplanner.ui.theme import BODY_PX
from ckptplanner.ui.words import say
from ckptplanner.units import FRACTION, NBSP, brief, significant

_TITLE, _LABEL, _LEAD, _BAND, _BELOW, _AXIS = 22.0, 16.0, 12.0, 18.0, 20.0, 18.0  # heights, from above [px]
HEIGHT = _TITLE + _LABEL + _LEAD + _BAND + _BELOW + _AXIS
_HUMP, _LEAST_HUMP = 84.0, 24.0  # of the spread of the runs, where there is room for it [px]
_EDGE, _FADED, _GAP, _NEAR = 8.0, 0.4, 12.0, 5.0


@dataclass(frozen=True, slots=True)
class FormulaMark:
    """What a formula says: its name, and the waste as a share."""

    name: str
    fraction: float
    is_chosen: bool


@dataclass(frozen=True, slots=True, eq=False)
class Estimate:
    """The simulated waste as shares: the mean with its standard error, where 9 of 10 runs lie, and how all are spread."""

    mean: float
    error: float
    low: float
    middle: float
    high: float
    edges: FloatArray  # of the bins, (n + 1,)
    counts: FloatArray  # of the runs in each bin, (n,)

    @property
    def interval(self) -> tuple[float, float]:
        """The mean, give or take three standard errors."""
        return self.mean - 3.0 * self.error, self.mean + 3.0 * self.error


def pointed(fraction: float, margin: float) -> str:
    """A mean as exactly as its margin allows: 0.537 %, give or take 0.005 %. (The font's plus-minus is too wide.)"""
    if margin <= 0.0:
        return brief(fraction, FRACTION)
    decimals = max(-math.floor(math.log10(margin * 100)), 0)
    mean = f"{fraction * 100:,.{decimals}f}{NBSP}%"
    return say("{mean}, give or take {margin}", mean=mean, margin=f"{significant(margin * 100, 1)}{NBSP}%")


class Strip(Painted):
    """Draws one estimate and the formulas' marks."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("check.strip", say("Simulated waste beside the formulas"), parent)
        self.setMinimumHeight(int(HEIGHT))
        self.setMaximumHeight(int(HEIGHT + _HUMP))
        self.setMinimumWidth(280)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self._estimate: Estimate | None = None
        self._marks: tuple[FormulaMark, ...] = ()
        self._is_stale = False

    @override
    def sizeHint(self) -> QSize:
        return QSize(560, int(HEIGHT))

    def show_estimate(self, estimate: Estimate, marks: Sequence[FormulaMark], *, is_stale: bool = False) -> None:
        """Draw an estimate and what the formulas say; pale where the plan has changed since."""
        self._estimate, self._is_stale = estimate, is_stale
        self._marks = tuple(sorted(marks, key=lambda mark: mark.fraction))
        self.setAccessibleDescription("; ".join([self._run_words(estimate), *(self._mark_words(mark) for mark in self._marks)]))
        self.update()

    # ------------------------------------------------------------ words

    def _run_words(self, estimate: Estimate) -> str:
        return say(
            "mean {mean}; 9 of 10 runs {low} to {high}",
            mean=pointed(estimate.mean, estimate.error * 3.0),
            low=brief(estimate.low, FRACTION),
            high=brief(estimate.high, FRACTION),
        )

    @staticmethod
    def _mark_words(mark: FormulaMark) -> str:
        return f"{mark.name} {brief(mark.fraction, FRACTION)}"

    # ------------------------------------------------------------ scale

    def _range(self) -> tuple[float, float]:
        """The shares at both ends of the axis."""
        assert self._estimate is not None
        one = self._estimate
        every = [one.low, one.high, *one.interval, *(mark.fraction for mark in self._marks)]
        tails = 0.4 * (one.high - one.low) if self._hump else 0.0  # of the spread, as far as there is any
        every += [max(one.low - tails, float(one.edges[0])), min(one.high + tails, float(one.edges[-1]))]
        low, high = min(every), max(every)
        spare = max((high - low) * 0.06, abs(high) * 0.01, 1e-7)
        return max(low - spare, 0.0), high + spare

    def place_of(self, fraction: float) -> float:
        """Where a share lies. [px]"""
        low, high = self._range()
        return _EDGE + (fraction - low) / (high - low) * (self.width() - 2 * _EDGE)

    # ------------------------------------------------------------ drawing

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        if self._estimate is None:
            return
        painter = QPainter(self)
        painter.setOpacity(_FADED if self._is_stale else 1.0)
        title = QRectF(0, 0, self.width(), 20)
        write(painter, title, say("Waste, share of the run"), self._theme.text, pixels=BODY_PX, bold=True)
        self._paint_axis(painter)
        self._paint_spread(painter, self._estimate)
        self._paint_band(painter, self._estimate)
        self._paint_marks(painter)
        self._paint_words(painter, self._estimate)

    @property
    def _hump(self) -> float:
        """Height for the spread of the runs. [px]"""
        free = self.height() - HEIGHT
        return free if free >= _LEAST_HUMP else 0.0

    @property
    def _band_top(self) -> float:
        return _TITLE + _LABEL + _LEAD + self._hump

    def _paint_axis(self, painter: QPainter) -> None:
        top = self._band_top + _BAND + _BELOW
        painter.setPen(pen(self._theme.line))
        painter.drawLine(QLineF(_EDGE, top + 0.5, self.width() - _EDGE, top + 0.5))
        for tick in share_ticks(*self._range(), self.width() - 2 * _EDGE):
            x = round(self.place_of(tick)) + 0.5
            painter.setPen(pen(self._theme.grid))
            painter.drawLine(QLineF(x, self._band_top - 4, x, top))
            painter.setPen(pen(self._theme.line))
            painter.drawLine(QLineF(x, top, x, top + 3))
            words = share_text(tick)
            half = width_of(words) / 2
            middle = min(max(x, half), self.width() - half)
            write(painter, QRectF(middle - half, top + 3, 2 * half, 15), words, self._theme.muted, align="middle")

    def _paint_spread(self, painter: QPainter, one: Estimate) -> None:
        """How the runs are spread, as steps that stand on the band."""
        tall = self._hump - 4.0
        if tall <= 0.0 or one.counts.max() <= 0.0:
            return
        places = [self.place_of(float(edge)) for edge in one.edges]
        base, steps = self._band_top - 1.0, QPolygonF()
        steps.append(QPointF(places[0], base))
        for left, right, count in zip(places, places[1:], (one.counts / one.counts.max()).tolist(), strict=False):
            steps.append(QPointF(left, base - count * tall))
            steps.append(QPointF(right, base - count * tall))
        steps.append(QPointF(places[-1], base))
        painter.save()
        painter.setClipRect(QRectF(_EDGE, 0, self.width() - 2 * _EDGE, self.height()))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(pen(mix(self._theme.accent, self._theme.surface, 0.45)))
        painter.setBrush(QColor(self._theme.accent_ground))
        painter.drawPolygon(steps)
        painter.restore()

    def _paint_band(self, painter: QPainter, one: Estimate) -> None:
        theme, top = self._theme, self._band_top
        left, right = self.place_of(one.low), self.place_of(one.high)
        ground, edge = theme.accent_ground, mix(theme.accent, theme.surface, 0.45)
        box(painter, QRectF(left, top, max(right - left, 1.0), _BAND), ground, edge, radius=2.0)
        middle = round(self.place_of(one.middle)) + 0.5
        painter.setPen(pen(edge, dashed=True))
        painter.drawLine(QLineF(middle, top + 1, middle, top + _BAND - 1))
        low, high = (self.place_of(end) for end in one.interval)
        centre = self.place_of(one.mean)
        if high - low < 3.0:  # too sure to be seen: a line
            low, high = centre - 1.5, centre + 1.5
        box(painter, QRectF(low, top + 5, high - low, _BAND - 10), theme.accent, radius=1.0)
        painter.fillRect(QRectF(centre - 1, top + 2, 2, _BAND - 4), QColor(theme.accent))

    def _paint_marks(self, painter: QPainter) -> None:
        """The formulas: an upright line through the band, and a label above it that no other covers."""
        most = (self.width() - _GAP * max(len(self._marks) - 1, 0)) / max(len(self._marks), 1)
        words = [self._mark_words(mark) for mark in self._marks]
        widths = [min(width_of(text, bold=mark.is_chosen), most) for text, mark in zip(words, self._marks, strict=True)]
        places = [self.place_of(mark.fraction) for mark in self._marks]
        lefts = spread(places, widths, _GAP, 0.0, float(self.width()))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for mark, text, left, width, place in zip(self._marks, words, lefts, widths, places, strict=True):
            colour = self._theme.text if mark.is_chosen else self._theme.muted
            x = round(place) + 0.5
            painter.setPen(pen(colour, 1.5 if mark.is_chosen else 1.0, dashed=not mark.is_chosen))
            bend = _TITLE + _LABEL + _LEAD - 2
            painter.drawLine(QLineF(x, bend, x, self._band_top + _BAND + 4))
            start = QPointF(min(max(x, left + 4), left + width - 4), _TITLE + _LABEL)
            painter.setPen(pen(colour))
            painter.drawLine(QLineF(start, QPointF(x, bend)))
            write(painter, QRectF(left, _TITLE, width, _LABEL), text, colour, bold=mark.is_chosen, align="middle")

    def _paint_words(self, painter: QPainter, one: Estimate) -> None:
        text = self._run_words(one)
        width = min(width_of(text), float(self.width()))
        (left,) = spread([self.place_of(one.mean)], [width], 0.0, 0.0, float(self.width()))
        room = QRectF(left, self._band_top + _BAND + 3, width, 16)
        write(painter, room, text, self._theme.accent, ground=self._theme.surface)

    # ------------------------------------------------------------ hands

    def words_at(self, x: float) -> str:
        """What lies at a place, in words: the mark that is near, the mean, the range of the runs."""
        one = self._estimate
        if one is None:
            return ""
        near = min(self._marks, key=lambda mark: abs(self.place_of(mark.fraction) - x), default=None)
        if near is not None and abs(self.place_of(near.fraction) - x) <= _NEAR:
            words = self._mark_words(near)
            return say("{formula}, which decides", formula=words) if near.is_chosen else words
        if self.place_of(one.interval[0]) - _NEAR <= x <= self.place_of(one.interval[1]) + _NEAR:
            return say("mean of all runs {mean}: three standard errors", mean=pointed(one.mean, one.error * 3.0))
        if self.place_of(one.low) <= x <= self.place_of(one.high):
            return say(
                "9 of 10 runs waste {low} to {high}; half of them more than {middle}",
                low=brief(one.low, FRACTION), high=brief(one.high, FRACTION), middle=brief(one.middle, FRACTION),
            )  # fmt: skip
        return ""

    @override
    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self.hovered.emit(self.words_at(event.position().x()))

    @override
    def tip_at(self, place: QPointF) -> str:
        return self.words_at(place.x())
