"""The mean time between interruptions as it became known, with its band, and published records as a ruler beside it.

100 h |..........          ------  Llama 3 405B, unexpected
      |   .---''''''''''''' counted
 10 h |--'                 ------  OPT-175B, all restarts
       2026-10   2026-11
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter
from PySide6.QtWidgets import QWidget
from typing_extensions import override

from ckptplanner.engine.evidence import FailureRecord
from ckptplanner.frozen import FloatArray
from ckptplanner.ui.dates import date_ticks, day_text
from ckptplanner.ui.ink import write
from ckptplanner.ui.plots.plot import Plot, ValueAxis, log10, pen, spread
from ckptplanner.ui.plots.titled import TitledPlot
from ckptplanner.ui.stops import kind_path, paint_mark
from ckptplanner.ui.theme import LIGHT, SMALL_PX, Theme, font
from ckptplanner.ui.words import say
from ckptplanner.units import HOUR, MINUTE, SECONDS, brief

_MOST = 1_500  # more points cannot be told apart
_GAP = 13.0  # from name to name on the ruler [px]
_REACH = 1.5  # decades from M within which records stand on the ruler
_ROOM = 0.08  # above and below, as a share of the log range
_NEAR = 6.0  # from the pointer to a mark of the ruler [px]
_RULER_SHARE, _RULER_LEAST, _RULER_MOST = 0.38, 150, 260  # of the width of the whole [px]
_TIMES = (
    1.0, 10.0, MINUTE, 5 * MINUTE, 10 * MINUTE, 30 * MINUTE, *(n * 10.0**power * HOUR for power in range(7) for n in (1, 2, 5)),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Rung:
    """One value on the ruler: what it is called, and all about it in one line."""

    name: str
    mtbi_s: float
    words: str
    look: Literal["counted", "in use", "combined", "chosen", "record"] = "record"


_ORDER = ("counted", "in use", "combined", "chosen", "record")


def _hours(seconds: float) -> str:
    """A tick: hours as in every sentence about M."""
    return brief(seconds, SECONDS)


class DateAxis(pg.AxisItem):  # type: ignore[misc]
    """Dates below a plot whose positions are seconds after `begin_s`."""

    def __init__(self) -> None:
        super().__init__("bottom", showValues=True, maxTickLength=-3)
        self.begin_s = 0.0
        self.setStyle(tickFont=font(SMALL_PX), autoExpandTextSpace=False, tickTextOffset=4)
        self.setHeight(20)

    @override
    def tickValues(self, minVal: float, maxVal: float, size: float) -> list[tuple[float, list[float]]]:
        ticks = date_ticks(minVal + self.begin_s, maxVal + self.begin_s, size)
        self._words = {seconds - self.begin_s: words for seconds, words in ticks}
        return [(1.0, list(self._words))]

    @override
    def tickStrings(self, values: Sequence[float], scale: float, spacing: float) -> list[str]:
        return [self._words.get(value, "") for value in values]


class Ruler(pg.AxisItem):  # type: ignore[misc]
    """Values beside the plot on its own scale; those that matter most have their names where not all have room."""

    def __init__(self) -> None:
        super().__init__("right", showValues=False)
        self.setWidth(_RULER_LEAST)
        self._rungs: tuple[Rung, ...] = ()
        self._theme = LIGHT

    def show_rungs(self, rungs: Sequence[Rung], theme: Theme) -> None:
        """Show these values."""
        self._rungs, self._theme = tuple(rungs), theme
        self.picture = None
        self.update()

    def _box(self) -> QRectF:
        # boundingRect() is 15 px higher at both ends than the plot
        return QRectF(self.mapRectFromParent(self.geometry()))

    def height_of(self, rung: Rung) -> float:
        """How far down a value stands, in the coordinates of this item. [px]"""
        view, box = self.linkedView(), self._box()
        if view is None:
            return box.bottom()
        low, high = view.viewRange()[1]
        return float(box.top() + box.height() * (high - np.log10(rung.mtbi_s)) / (high - low))

    def rung_at(self, y: float) -> Rung | None:
        """The value near a height. [px]"""
        near = min(self._rungs, key=lambda rung: abs(self.height_of(rung) - y), default=None)
        return near if near is not None and abs(self.height_of(near) - y) <= _NEAR else None

    def named(self) -> list[Rung]:
        """Those whose names have room, from top to bottom."""
        counted = next((rung.mtbi_s for rung in self._rungs if rung.look == "counted"), 0.0)

        def order(rung: Rung) -> tuple[int, float]:
            return _ORDER.index(rung.look), abs(np.log(rung.mtbi_s / counted)) if counted else -rung.mtbi_s

        most = max(int((self._box().height() - 12) / _GAP) + 1, 1)
        return sorted(sorted(self._rungs, key=order)[:most], key=lambda rung: -rung.mtbi_s)

    @override
    def paint(self, painter: QPainter, option: Any, widget: Any) -> None:
        box, theme = self._box(), self._theme
        painter.setPen(pen(theme.line))
        painter.drawLine(QLineF(5.5, box.top(), 5.5, box.bottom()))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        inks = {"counted": theme.text, "in use": theme.accent, "combined": theme.use_high, "chosen": theme.text}
        named = self.named()
        places = [self.height_of(rung) for rung in named]
        heights = spread(places, _GAP, box.top() + 6, box.bottom() - 6)
        for rung in self._rungs:
            place = self.height_of(rung)
            painter.setPen(pen(inks.get(rung.look, theme.thin)))
            painter.drawLine(QLineF(2 if rung.look == "record" else 0, place, 9, place))
        for rung, place, height in zip(named, places, heights, strict=True):
            ink = inks.get(rung.look, theme.muted)
            painter.setPen(pen(inks.get(rung.look, theme.line)))
            painter.drawPolyline([QPointF(9, place), QPointF(11, place), QPointF(19, height), QPointF(22, height)])
            room = QRectF(25, height - 8, self.width() - 27, 16)
            value = write(painter, room, brief(rung.mtbi_s, SECONDS), ink, bold=rung.look in ("counted", "in use"))
            write(painter, room.adjusted(value + 6, 0, 0, 0), rung.name, ink)


class MeanPlot(TitledPlot):
    """Draws M over time; the pointer reads off M and the records."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("evidence.mean")
        self.setAccessibleName(say("Mean time between interruptions over time"))
        self.setMinimumSize(320, 96)
        self._record: FailureRecord | None = None
        self.rungs: tuple[Rung, ...] = ()
        self._bottom, self.ruler = DateAxis(), Ruler()
        self._place(Plot(ValueAxis("left", _hours, is_time=True, times=_TIMES), self._bottom, self.ruler), (8, 0, 4, 0), 20)
        self._low, self._high = (pg.PlotCurveItem(connect="finite") for _ in range(2))
        self._band = pg.FillBetweenItem(self._low, self._high)
        self._band.setZValue(-5)
        self._ends = _Ends()
        for item in (self._band, self._ends):
            self._plot.addItem(item, ignoreBounds=True)
        self._view.scene().sigMouseMoved.connect(self._on_mouse_moved)
        self._plot.vb.sigResized.connect(self._draw)

    # ------------------------------------------------------------ what is shown

    def show_record(self, record: FailureRecord, rungs: Sequence[Rung]) -> None:
        """Draw it beside these values."""
        self._record = record
        centre = record.mtbi_s if np.isfinite(record.mtbi_s) else record.low_s
        kept = [rung for rung in rungs if np.isfinite(rung.mtbi_s) and rung.mtbi_s > 0.0]
        if np.isfinite(centre) and centre > 0.0:
            kept = [one for one in kept if one.look != "record" or abs(np.log10(one.mtbi_s / centre)) <= _REACH]
        self.rungs = tuple(kept)
        self.setAccessibleDescription("; ".join(rung.words for rung in kept))
        self._draw()

    def _values(self) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Moments, M and its band as log positions, thinned; NaN where nothing is known."""
        record = self._record
        if record is None or not len(record.over_time_s):
            return (np.zeros(0),) * 4
        at = np.asarray(record.over_time_s, dtype=float)
        kept = np.unique(np.linspace(0, at.size - 1, min(at.size, _MOST)).astype(int))
        band = (record.over_time_mtbi_s, record.over_time_low_s, record.over_time_high_s)
        mean, low, high = (log10(np.nan_to_num(np.asarray(one, float)[kept], nan=-1.0, posinf=1e30)) for one in band)
        return at[kept], mean, low, high

    @override
    def _draw(self) -> None:
        theme, record = self._theme, self._record
        if record is None:
            return
        self.ruler.setWidth(round(min(max(self.width() * _RULER_SHARE, _RULER_LEAST), _RULER_MOST)))
        self._title.setText(
            say("Mean time between interruptions, 90 % band"), color=theme.text, size=f"{SMALL_PX}px", bold=True
        )
        at, mean, low, high = self._values()
        begin, end = record.first_s, max(record.last_s, record.first_s + 60.0)
        self._bottom.begin_s = begin
        bottom, top = self._range(mean, low, high)
        span = (end - begin) * 1.06
        self._plot.vb.setRange(xRange=(0.0, span), yRange=(bottom, top), padding=0)
        self._plot.hide_curves()
        self._draw_curves(at - begin, mean, np.clip(low, bottom - 1, top + 1), np.clip(high, bottom - 1, top + 1))
        use = next((rung for rung in self.rungs if rung.look == "in use"), None)
        if use is not None:
            height = np.full(2, np.log10(use.mtbi_s))
            self._plot.curve("use", np.array([0.0, span]), height, pen(theme.accent, 1, Qt.PenStyle.DashLine), z=1)
        self._ends.show_ends(record, (end - begin) * 1.03, theme)
        self.ruler.show_rungs(self.rungs, theme)

    def _draw_curves(self, x: FloatArray, mean: FloatArray, low: FloatArray, high: FloatArray) -> None:
        theme = self._theme
        self._band.setVisible(x.size > 1)
        if x.size > 1:
            self._plot.curve("mean", x, mean, pen(theme.text), z=4)
            good = np.isfinite(low) & np.isfinite(high)
            self._low.setData(x[good], low[good])
            self._high.setData(x[good], high[good])
            self._band.setBrush(QColor(theme.accent_ground))
            for name, y in (("low", low), ("high", high)):
                self._plot.curve(name, x, y, pen(theme.hatch), z=2)

    def _range(self, mean: FloatArray, low: FloatArray, high: FloatArray) -> tuple[float, float]:
        """From the lowest to the highest that matters: the ruler, the band as it is now, M since its first quarter."""
        record = self._record
        assert record is not None
        ends = [record.low_s, record.high_s, record.mtbi_s, *(rung.mtbi_s for rung in self.rungs)]
        ends += [record.combined.low_s, record.combined.high_s] if record.combined is not None else []
        heights = [float(np.log10(one)) for one in ends if np.isfinite(one) and one > 0.0]
        since = mean[mean.size // 4 :]
        heights += [float(one) for one in since[np.isfinite(since)]]
        if not heights:
            return 3.0, 6.0
        least, most = min(heights), max(heights)
        room = max(_ROOM * (most - least), 0.1)
        return least - room, most + room

    # ------------------------------------------------------------ reading off

    def words_at(self, seconds: float) -> str:
        """M as it was known at a moment. [s since 1970]"""
        record = self._record
        if record is None or not len(record.over_time_s):
            return ""
        index = int(np.searchsorted(record.over_time_s, seconds, side="right")) - 1
        mean = float(record.over_time_mtbi_s[index]) if index >= 0 else np.nan
        if not np.isfinite(mean):
            return say("Until {day}: no interruption", day=day_text(seconds))
        low, high = (brief(float(ends[index]), SECONDS) for ends in (record.over_time_low_s, record.over_time_high_s))
        words = {"day": day_text(seconds), "time": brief(mean, SECONDS), "low": low, "high": high}
        return say("Until {day}: one every {time}, {low} to {high} at 90 %", **words)

    def place_of(self, seconds: float) -> QPointF:
        """Where a moment lies in this widget, halfway up. [px]"""
        view = self._plot.vb.viewRange()[1]
        scene = self._plot.vb.mapViewToScene(QPointF(seconds - self._bottom.begin_s, sum(view) / 2))
        return QPointF(self._view.mapTo(self, self._view.mapFromScene(scene)))

    def place_of_rung(self, rung: Rung) -> QPointF:
        """Where a value of the ruler lies in this widget. [px]"""
        scene = self.ruler.mapToScene(QPointF(6.0, self.ruler.height_of(rung)))
        return QPointF(self._view.mapTo(self, self._view.mapFromScene(scene)))

    def _on_mouse_moved(self, scene: QPointF) -> None:
        if self._plot.vb.sceneBoundingRect().contains(scene):
            seconds = float(self._plot.vb.mapSceneToView(scene).x()) + self._bottom.begin_s
            self.cursor_moved.emit(self.words_at(seconds))
            return
        place = self.ruler.mapFromScene(scene)
        rung = self.ruler.rung_at(place.y()) if 0.0 <= place.x() <= self.ruler.width() else None
        self.cursor_moved.emit("" if rung is None else rung.words)
        self._view.setToolTip("" if rung is None else rung.words)


class _Ends(pg.GraphicsObject):  # type: ignore[misc]
    """At the right end of the plot: M as counted and M together with a published record, each with its interval."""

    def __init__(self) -> None:
        super().__init__()
        self._bars: list[tuple[float, float, float, float, str, str]] = []
        self._ground = ""
        self.setZValue(8)

    def show_ends(self, record: FailureRecord, x: float, theme: Theme) -> None:
        """Show them around a place."""
        self.prepareGeometryChange()
        self._ground, self._bars = theme.surface, []
        if np.isfinite(record.mtbi_s):
            self._bars.append((x * 0.993, record.mtbi_s, record.low_s, record.high_s, "node", theme.text))
        if (combined := record.combined) is not None:
            self._bars.append((x * 1.012, combined.mtbi_s, combined.low_s, combined.high_s, "preempted", theme.use_high))
        self.update()

    @override
    def boundingRect(self) -> QRectF:
        view = self.getViewBox()
        return QRectF(0, 0, 1, 1) if view is None else QRectF(view.viewRect())

    @override
    def paint(self, painter: QPainter, option: Any, widget: Any = None) -> None:
        way = painter.transform()
        painter.resetTransform()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for x, mean, low, high, shape, colour in self._bars:
            ends = [way.map(QPointF(x, float(np.log10(value)))) for value in (low, mean, high) if 0.0 < value < np.inf]
            painter.setPen(pen(colour))
            painter.drawLine(QLineF(ends[0], ends[-1]))
            middle = way.map(QPointF(x, float(np.log10(mean))))
            paint_mark(painter, kind_path(shape, 7), middle, colour, self._ground, is_filled=shape == "node")
        painter.setTransform(way)
