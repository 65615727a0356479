"""One plot: axes that speak in minutes, dollars and percent, a pool of curves, and the conversion to log positions.

pyqtgraph places log axes at log10 of the value; only this file converts. Pens are 1 px (a wider antialiased pen makes a
repaint six times slower); the one bold line of a plot is reduced to its corners first.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QPainter, QPen
from typing_extensions import override

from ckptplanner.frozen import FloatArray
from ckptplanner.ui.theme import SMALL_PX, Theme, font
from ckptplanner.units import DAY, HOUR, MINUTE, SECONDS, USD, brief, significant

LEFT_WIDTH, RIGHT_WIDTH = 48, 96
_TIME_TICKS = (
    1e-3, 1e-2, 0.1, 1.0, 2.0, 5.0, 10.0, 20.0, 30.0, MINUTE, 2 * MINUTE, 5 * MINUTE, 10 * MINUTE, 20 * MINUTE, HOUR,
    2 * HOUR, 5 * HOUR, 10 * HOUR, DAY, 2 * DAY, 5 * DAY, 10 * DAY, 30 * DAY, 100 * DAY, 365 * DAY, 1000 * DAY, 1e9, 1e10,
)  # fmt: skip
Ends = Sequence[tuple[str, float]]


def time_text(seconds: float) -> str:
    """A tick of a time axis."""
    return f"{seconds / DAY:,.0f}\u00a0d" if seconds >= 0.999 * DAY else brief(seconds, SECONDS)


def money_text(dollars: float) -> str:
    """A tick of a money axis: $500, $5k, $1.2M."""
    if dollars >= 1e4 or dollars == 0:
        return brief(dollars, USD, 3) if dollars else "$0"
    return f"${significant(dollars / 1e3, 3)}k" if dollars >= 1e3 else f"${significant(dollars, 2)}"


def percent_text(fraction: float) -> str:
    """A tick of a share axis."""
    return f"{significant(fraction * 100, 2)}\u00a0%"


def one_two_five(low: float, high: float) -> list[float]:
    """Every 1, 2 and 5 times a power of ten in a range."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    return [step * 10.0**power for power in powers for step in (1.0, 2.0, 5.0) if low <= step * 10.0**power <= high]


class ValueAxis(pg.AxisItem):  # type: ignore[misc]
    """An axis that names its ticks by a function and drops those that would touch.

    Args:
        text: Writes a value.
        is_log: Whether positions are log10 of the value.
        is_time: Whether the values are seconds on a log axis, which has its ticks at the `times` that people say.
    """

    def __init__(
        self,
        orientation: str,
        text: Callable[[float], str],
        *,
        is_log: bool = True,
        is_time: bool = False,
        times: Sequence[float] = _TIME_TICKS,
    ) -> None:
        super().__init__(orientation, showValues=True, maxTickLength=-3)
        self._text, self._is_log, self._is_time, self._times = text, is_log, is_time, times
        self.setStyle(tickFont=font(SMALL_PX), autoExpandTextSpace=False, tickTextOffset=4)
        if orientation == "left":
            self.setWidth(LEFT_WIDTH)
        else:
            self.setHeight(20)

    @override
    def tickValues(self, minVal: float, maxVal: float, size: float) -> list[tuple[float, list[float]]]:
        if not math.isfinite(minVal) or not math.isfinite(maxVal) or maxVal <= minVal:
            return []
        if self._is_log:
            low, high = 10.0**minVal, 10.0**maxVal
            values = [tick for tick in self._times if low <= tick <= high] if self._is_time else one_two_five(low, high)
            places = [math.log10(value) for value in values]
        else:
            places = _linear_ticks(minVal, maxVal, size)
        return [(1.0, self._thinned(places, minVal, maxVal, size))]

    def _thinned(self, places: list[float], low: float, high: float, size: float) -> list[float]:
        """Leave out ticks until no two stand closer than their text needs."""
        room = (64 if self.orientation == "bottom" else 18) * (high - low) / max(size, 1.0)
        kept: list[float] = []
        # whole powers of ten first: 1 % matters more than 2 %
        for place in sorted(places, key=lambda one: (self._is_log and not self._is_time and abs(one - round(one)) > 1e-9, one)):
            if all(abs(place - other) >= room for other in kept):
                kept.append(place)
        return sorted(kept)

    @override
    def tickStrings(self, values: Sequence[float], scale: float, spacing: float) -> list[str]:
        return [self._text(10.0**value if self._is_log else value) for value in values]


def _linear_ticks(low: float, high: float, size: float) -> list[float]:
    wanted = max((high - low) / max(size / 40.0, 2.0), 1e-300)
    power = 10.0 ** math.floor(math.log10(wanted))
    step = next((factor * power for factor in (1.0, 2.0, 5.0, 10.0) if factor * power >= wanted), 10.0 * power)
    first = math.ceil(low / step)
    return [first * step + index * step for index in range(int((high - first * step) / step) + 1)]


class EndLabels(pg.AxisItem):  # type: ignore[misc]
    """Names at the right end of curves, moved apart and led to their line; no legend box is needed."""

    def __init__(self, width: int = RIGHT_WIDTH) -> None:
        super().__init__("right", showValues=False)
        self.setWidth(width)
        self._ends: Ends = ()
        self._title = ""
        self._text = QColor()
        self._line = QColor()
        self._strong: str | None = None
        self._strong_colour = QColor()

    def show_ends(self, ends: Ends, title: str) -> None:
        """Set the names with their log10 heights, and the heading above them."""
        self._ends, self._title = ends, title
        self.picture = None
        self.update()

    def show_strong(self, name: str | None) -> None:
        """Name the curve that is lit up."""
        self._strong = name
        self.picture = None
        self.update()

    def show_theme(self, theme: Theme) -> None:
        """Take the colours of a theme."""
        self._text, self._line, self._strong_colour = QColor(theme.muted), QColor(theme.thin), QColor(theme.text)
        self.picture = None
        self.update()

    @override
    def paint(self, painter: QPainter, option: Any, widget: Any) -> None:
        view = self.linkedView()
        if view is None:
            return
        painter.setFont(font(SMALL_PX))
        # boundingRect() is 15 px higher at both ends than the plot
        box, (low, high) = self.mapRectFromParent(self.geometry()), view.viewRange()[1]
        places = sorted((box.top() + box.height() * (high - end) / (high - low), name) for name, end in self._ends)
        gap = min(13.0, (box.height() - 12) / max(len(places) - 1, 1))  # in a low plot they stand closer
        heights = spread([place for place, _ in places], gap, box.top() + 6, box.bottom() - 6)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for (place, name), height in zip(places, heights, strict=True):
            is_strong = name == self._strong
            painter.setPen(QPen(self._strong_colour if is_strong else self._line, 1))
            clipped = min(max(place, box.top()), box.bottom())
            painter.drawPolyline([QPointF(0, clipped), QPointF(8, clipped), QPointF(16, height), QPointF(22, height)])
            painter.setPen(self._strong_colour if is_strong else self._text)
            painter.drawText(QRectF(26, height - 8, self.width() - 26, 16), Qt.AlignmentFlag.AlignVCenter, name)


def spread(places: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Move sorted places apart until neighbours are `gap` apart, inside [low, high] where there is room."""
    moved: list[float] = []
    for place in places:
        moved.append(max(place, moved[-1] + gap if moved else low))
    limit = high
    for index in range(len(moved) - 1, -1, -1):
        moved[index] = min(moved[index], limit)
        limit = moved[index] - gap
    return moved


class Plot(pg.PlotItem):  # type: ignore[misc]
    """A plot with log time below and a pool of curves that are made once and fed by `curve`."""

    def __init__(self, left: ValueAxis, bottom: ValueAxis, right: pg.AxisItem | None = None) -> None:
        axes = {"left": left, "bottom": bottom} | ({"right": right} if right is not None else {})
        super().__init__(axisItems=axes, enableMenu=False)
        self.hideButtons()
        self.setMouseEnabled(x=False, y=False)
        self.vb.setDefaultPadding(0.0)
        self.vb.disableAutoRange()
        self.getAxis("left").setZValue(0)
        self._curves: dict[str, pg.PlotCurveItem] = {}
        self._theme: Theme | None = None
        self._grids: list[pg.InfiniteLine] = []

    def curve(self, name: str, x: FloatArray, y: FloatArray, pen: QPen | None, **options: Any) -> pg.PlotCurveItem:
        """Draw the curve of that name through log positions; NaN leaves a gap."""
        item = self._curves.get(name)
        if item is None:
            item = pg.PlotCurveItem(connect="finite", antialias=True)
            item.setZValue(options.pop("z", 2))
            self._curves[name] = item
            self.addItem(item)
        options.pop("z", None)
        item.setVisible(True)
        item.setData(x, y, pen=pen, **options)
        return item

    def curve_named(self, name: str) -> pg.PlotCurveItem | None:
        """The curve of that name, if it has been drawn."""
        return self._curves.get(name)

    def hide_curves(self, keep: Sequence[str] = ()) -> None:
        """Hide every curve whose name does not begin with one of `keep`."""
        for name, item in self._curves.items():
            item.setVisible(name.startswith(tuple(keep)) if keep else False)

    def show_theme(self, theme: Theme) -> None:
        """Take the colours of a theme: axes, ticks, ground."""
        self._theme = theme
        for side in ("left", "bottom"):
            axis = self.getAxis(side)
            axis.setPen(QPen(QColor(theme.line), 1))
            axis.setTextPen(QColor(theme.muted))
        right = self.getAxis("right")
        if isinstance(right, EndLabels):
            right.show_theme(theme)
        self.vb.setBackgroundColor(theme.surface)

    def show_grid_lines(self, heights: Sequence[float], places: Sequence[float]) -> None:
        """Draw hairlines at log positions; pyqtgraph's own grid would cover the ticks."""
        wanted = [(height, 0) for height in heights] + [(place, 90) for place in places]
        while len(self._grids) < len(wanted):
            line = pg.InfiniteLine(movable=False)
            line.setZValue(-20)
            self._grids.append(line)
            self.addItem(line, ignoreBounds=True)
        for line, (place, angle) in zip(self._grids, wanted, strict=False):
            line.setAngle(angle)
            line.setPos(place)
            line.setPen(pen(self._theme.grid if self._theme else "#888888"))
            line.setVisible(True)
        for line in self._grids[len(wanted) :]:
            line.setVisible(False)


def pen(colour: str, width: float = 1.0, style: Qt.PenStyle = Qt.PenStyle.SolidLine) -> QPen:
    """A cosmetic pen."""
    made = QPen(QColor(colour), width, style)
    made.setCosmetic(True)
    if style == Qt.PenStyle.DashLine:
        made.setDashPattern([5, 3])
    return made


def hatch(colour: str) -> QBrush:
    """Thin diagonals."""
    return QBrush(QColor(colour), Qt.BrushStyle.BDiagPattern)


def log10(values: FloatArray) -> FloatArray:
    """Positions on a log axis; what is not above 0 becomes a gap."""
    values = np.asarray(values, dtype=float)
    with np.errstate(invalid="ignore"):
        good = values > 0.0
    return np.where(good, np.log10(np.where(good, values, 1.0)), np.nan)


def corners(x: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
    """A stepped line through samples, reduced to its corners: each value holds until the next sample that differs."""
    if x.size == 0:
        return x, y
    same = np.isclose(y[1:], y[:-1], rtol=1e-12, atol=0.0, equal_nan=True)
    turns = np.flatnonzero(~same) + 1
    starts = np.concatenate(([0], turns))
    ends = np.append(turns, x.size - 1)
    return np.column_stack((x[starts], x[ends])).ravel(), np.column_stack((y[starts], y[starts])).ravel()
