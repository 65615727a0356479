"""Idle GPUs against storage dollars over the stop time of synchronous saves: stacked areas, the total and its least."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QRectF, Signal
from PySide6.QtGui import QColor, QPainter, QResizeEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget
from typing_extensions import override

from ckptplanner.engine.tradeoff import Tradeoff
from ckptplanner.frozen import FloatArray
from ckptplanner.ui.plots.handle import MarkItem
from ckptplanner.ui.plots.plot import EndLabels, Plot, ValueAxis, log10, money_text, pen, time_text
from ckptplanner.ui.theme import LIGHT, SMALL_PX, Mark, Theme, font
from ckptplanner.ui.words import say
from ckptplanner.units import SECONDS, USD, brief, rough


class TradeoffPlot(QWidget):
    """Draws one Tradeoff; the switches beside it decide what that counts."""

    cursor_moved = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("tradeoff_plot")
        self._theme = LIGHT
        self._tradeoff: Tradeoff | None = None
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
        self._word = pg.TextItem(anchor=(0.5, 1.3))
        self._word.setFont(font(SMALL_PX))
        self._word.setZValue(20)
        self._plot.addItem(self._word, ignoreBounds=True)
        self._view.scene().sigMouseMoved.connect(self._on_mouse_moved)

    def show_tradeoff(self, tradeoff: Tradeoff) -> None:
        """Draw it."""
        self._tradeoff = tradeoff
        self._draw()

    def show_theme(self, theme: Theme) -> None:
        """Take the colours of a theme."""
        self._theme = theme
        self._view.setBackground(theme.surface)
        self._plot.show_theme(theme)
        self._draw()

    def _parts(self, tradeoff: Tradeoff) -> list[tuple[str, FloatArray]]:
        """What is stacked, from below."""
        return [
            (say("storage"), tradeoff.storage_usd_per_year),
            (say("idle GPUs"), tradeoff.idle_usd_per_year),
            (say("rework"), tradeoff.rework_usd_per_year),
            (say("restarts"), tradeoff.restart_usd_per_year),
        ]

    def _draw(self) -> None:
        tradeoff, theme = self._tradeoff, self._theme
        if tradeoff is None:
            return
        x = log10(tradeoff.blocking_s)
        self._plot.hide_curves()
        size = f"{SMALL_PX}px"
        self._title.setText(say("Synchronous saving, $ a year"), color=theme.text, size=size, bold=True)
        self._below.setText(say("Stop time C, which is the write time when saving is synchronous"), color=theme.text, size=size)
        total = tradeoff.total_usd_per_year
        if not np.isfinite(total).any():
            self._word.setText(say("A price is missing: type it, and the trade-off appears."), color=theme.muted)
            self._plot.vb.setRange(xRange=(float(x[0]), float(x[-1])), yRange=(0, 1), padding=0)
            self._word.setPos(float(x.mean()), 0.5)
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
        lowest, top = 0.0, float(min(np.nanmax(total), 3.0 * np.nanmin(total))) * 1.06 or 1.0
        self._plot.vb.setRange(xRange=(float(x[0]), float(x[-1])), yRange=(lowest, top), padding=0)
        self._draw_least(tradeoff, top)

    def _draw_least(self, tradeoff: Tradeoff, top: float) -> None:
        least, theme = tradeoff.least, self._theme
        self._best.setVisible(least is not None)
        self._word.setVisible(least is not None)
        if least is None:
            return
        places = log10(np.column_stack((least.starts, least.ends, np.full(least.starts.shape, np.nan))).ravel())
        self._plot.curve("ranges", places, np.where(np.isfinite(places), 0.0, np.nan), pen(theme.accent, 6), z=14)
        place = float(np.log10(least.least_at))
        self._best.show_mark(Mark(theme.accent, "", "diamond"), theme.surface, is_filled=False)
        self._best.setPos(place, least.least_value)
        text = say(
            "least {money} at {time}; within 3 % on the {count} marked pieces",
            money=brief(least.least_value, USD),
            time=rough(least.least_at, SECONDS),
            count=least.starts.size,
        )
        self._word.setText(text, color=theme.text)
        low, high = self._plot.vb.viewRange()[0]
        self._word.setAnchor(((place - low) / (high - low), 0.0))  # inside the plot wherever the least lies
        self._word.setPos(place, top)
        self.setAccessibleDescription(text)

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
        every = [*self._parts(tradeoff), (say("total"), tradeoff.total_usd_per_year)]
        return [(name, values) for name, values in every if np.isfinite(values[column])]

    def paint_on(self, painter: QPainter, target: QRectF) -> None:
        """Draw the plot as vectors."""
        self._view.render(painter, target, self._view.viewport().rect())
