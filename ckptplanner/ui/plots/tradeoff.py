"""Idle GPUs against storage dollars over the stop time of synchronous saves: stacked areas, the total and its least."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QRectF, Signal
from PySide6.QtGui import QColor, QPainter, QResizeEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget
from typing_extensions import override

from ckptplanner.engine.cards import basis_words
from ckptplanner.engine.cost import Basis, per_basis
from ckptplanner.engine.plan import Ranges
from ckptplanner.engine.tradeoff import Tradeoff
from ckptplanner.frozen import FloatArray
from ckptplanner.ui.plots.handle import MarkItem
from ckptplanner.ui.plots.notes import Notes, Spot
from ckptplanner.ui.plots.plot import EndLabels, Plot, ValueAxis, log10, money_text, pen, time_text
from ckptplanner.ui.theme import LIGHT, SMALL_PX, Mark, Theme
from ckptplanner.ui.words import say, say_text
from ckptplanner.units import SECONDS, USD, brief, rough

_HEADROOM = 26.0  # over the curves, for the note [px]


class TradeoffPlot(QWidget):
    """Draws one Tradeoff; the switches beside it decide what that counts."""

    cursor_moved = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("tradeoff_plot")
        self._theme = LIGHT
        self._tradeoff: Tradeoff | None = None
        self._basis: Basis = "year"
        self._factor = 1.0  # from a year to the basis
        self._view = pg.GraphicsLayoutWidget()
        self._view.setFrameStyle(0)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self._view)
        self._ends = EndLabels(120)
        bottom = ValueAxis("bottom", time_text, is_time=True)
        self._plot = Plot(ValueAxis("left", money_text, is_log=False), bottom, self._ends)
        self._title, self._below = pg.LabelItem(justify="left"), pg.LabelItem(justify="center")
        for row, item in enumerate((self._title, self._plot, self._below)):
            self._view.addItem(item, row=row, col=0)
        self._view.ci.layout.setContentsMargins(8, 2, 8, 2)
        self._view.ci.layout.setVerticalSpacing(0)
        self._view.ci.layout.setRowFixedHeight(0, 22)
        self._view.ci.layout.setRowFixedHeight(2, 18)
        self._best = MarkItem()
        self._plot.addItem(self._best, ignoreBounds=True)
        self._notes = Notes()
        self._view.scene().sigMouseMoved.connect(self._on_mouse_moved)
        self._plot.vb.sigResized.connect(self._draw)

    def show_tradeoff(self, tradeoff: Tradeoff, basis: Basis = "year", run_days: float = 365.0) -> None:
        """Draw it, dollars for a month, the run of `run_days` days, or a year."""
        self._tradeoff = tradeoff
        self._basis, self._factor = basis, per_basis(1.0, basis, run_days)
        self._draw()

    def show_theme(self, theme: Theme) -> None:
        """Take the colours of a theme."""
        self._theme = theme
        self._view.setBackground(theme.surface)
        self._plot.show_theme(theme)
        self._draw()

    def _parts(self, tradeoff: Tradeoff) -> list[tuple[str, FloatArray]]:
        """What is stacked, from below, in dollars on the basis that is shown."""
        return [
            (say("storage"), tradeoff.storage_usd_per_year * self._factor),
            (say("idle GPUs"), tradeoff.idle_usd_per_year * self._factor),
            (say("rework"), tradeoff.rework_usd_per_year * self._factor),
            (say("restarts"), tradeoff.restart_usd_per_year * self._factor),
        ]

    def _total(self, tradeoff: Tradeoff) -> FloatArray:
        return tradeoff.total_usd_per_year * self._factor

    def _draw(self) -> None:
        tradeoff, theme = self._tradeoff, self._theme
        if tradeoff is None:
            return
        x = log10(tradeoff.blocking_s)
        self._plot.hide_curves()
        size = f"{SMALL_PX}px"
        title = say("Synchronous saving, $ {per}", per=say_text(basis_words(self._basis)))
        self._title.setText(title, color=theme.text, size=size, bold=True)
        self._below.setText(say("Stop time C, which is the write time when saving is synchronous"), color=theme.text, size=size)
        total = self._total(tradeoff)
        self._notes.clear(theme.surface)
        if not np.isfinite(total).any():
            self._plot.vb.setRange(xRange=(float(x[0]), float(x[-1])), yRange=(0, 1), padding=0)
            missing = say("A price is missing: type it, and the trade-off appears.")
            self._notes.write("missing", self._plot, missing, [Spot(float(x.mean()), 0.5, 0.5, 0.5)], theme.muted)
            self._notes.finish()
            self._best.setVisible(False)
            self._ends.show_ends((), "")
            return
        ends: list[tuple[str, float]] = []
        height = np.zeros_like(total)
        for layer, (name, values) in enumerate(self._parts(tradeoff)):
            if not np.nansum(values):
                continue
            below, height = height, height + values
            fill = QColor(theme.groups[layer])
            self._plot.curve(name, x, height, pen(theme.line), z=9 - layer, fillLevel=0.0, brush=fill)
            ends.append((name, float((height[-1] + below[-1]) / 2)))
        self._plot.curve("total", x, total, pen(theme.accent, 1), z=11)
        self._ends.show_ends(ends, "")
        most = float(min(np.nanmax(total), 3.0 * np.nanmin(total))) or 1.0
        room = max(self._plot.vb.height() - _HEADROOM, 1.0) / max(self._plot.vb.height(), 2.0)
        self._plot.vb.setRange(xRange=(float(x[0]), float(x[-1])), yRange=(0.0, most / room), padding=0)
        self._draw_least(tradeoff, x, total)
        self._notes.finish()

    def _draw_least(self, tradeoff: Tradeoff, x: FloatArray, total: FloatArray) -> None:
        least, theme = tradeoff.least, self._theme
        self._best.setVisible(least is not None)
        if least is None:
            return
        places = log10(np.column_stack((least.starts, least.ends, np.full(least.starts.shape, np.nan))).ravel())
        self._plot.curve("ranges", places, np.where(np.isfinite(places), 0.0, np.nan), pen(theme.accent, 6), z=14)
        place = float(np.log10(least.least_at))
        self._best.show_mark(Mark(theme.accent, "", "diamond"), theme.surface, is_filled=False)
        self._best.setPos(place, least.least_value * self._factor)
        text = self._words(least)
        (low, high), (_, top) = self._plot.vb.viewRange()
        self._notes.spare_line(self._plot, x, total)
        self._notes.spare_mark(self._plot, place, least.least_value * self._factor)
        spots = [
            Spot(place, top, 0.5, 0.0),
            Spot((low + high) / 2, top, 0.5, 0.0),
            Spot(high, top, 1.0, 0.0),
            Spot(low, top, 0.0, 0.0),
        ]
        self._notes.write("least", self._plot, text, spots, theme.text)
        self.setAccessibleDescription(text)

    def _words(self, least: Ranges) -> str:
        """Where the least lies, and where the total is hardly more."""
        money, time = brief(least.least_value * self._factor, USD), rough(least.least_at, SECONDS)
        if least.starts.size > 1:
            ranges = say("within 3 % on the {count} marked ranges", count=least.starts.size)
        else:
            start, end = (rough(float(ends[0]), SECONDS) for ends in (least.starts, least.ends))
            ranges = say("within 3 % from {start} to {end}", start=start, end=end)
        return say("least {money} at {time}; {ranges}", money=money, time=time, ranges=ranges)

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._draw()

    def _on_mouse_moved(self, scene: object) -> None:
        tradeoff = self._tradeoff
        if tradeoff is None or not self._plot.vb.sceneBoundingRect().contains(scene):
            self.cursor_moved.emit("")
            return
        seconds = 10.0 ** self._plot.vb.mapSceneToView(scene).x()
        column = int(np.argmin(np.abs(np.log(tradeoff.blocking_s / seconds))))
        words = [f"{name} {brief(float(values[column]), USD)}" for name, values in self._named(tradeoff, column)]
        self.cursor_moved.emit(
            say("Stop time {time}: {parts}", time=rough(float(tradeoff.blocking_s[column]), SECONDS), parts=", ".join(words))
        )

    def _named(self, tradeoff: Tradeoff, column: int) -> Sequence[tuple[str, FloatArray]]:
        every = [*self._parts(tradeoff), (say("total"), self._total(tradeoff))]
        return [(name, values) for name, values in every if np.isfinite(values[column])]

    def paint_on(self, painter: QPainter, target: QRectF) -> None:
        """Draw the plot as vectors."""
        self._view.render(painter, target, self._view.viewport().rect())
