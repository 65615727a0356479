"""The same job at other node counts: six small plots over one axis of nodes, today's count marked in each of them.

    time between interruptions     interval               waste
    needed write rate              cost                   loss of replicas

From where on a save takes longer than the best interval the ground is shaded. A line under the mouse goes through all six.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from html import escape

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QGraphicsRectItem, QVBoxLayout, QWidget

from ckptplanner.engine.cards import basis_words
from ckptplanner.engine.cost import Basis, per_basis
from ckptplanner.engine.scale import NODE_COUNTS, Scale, ScaleRow
from ckptplanner.frozen import FloatArray
from ckptplanner.ui.plots.handle import MarkItem
from ckptplanner.ui.plots.notes import Notes, Spot
from ckptplanner.ui.plots.plot import Plot, ValueAxis, log10, money_text, pen, percent_text, time_text
from ckptplanner.ui.theme import LIGHT, SMALL_PX, Mark, Theme
from ckptplanner.ui.words import node_count, say, say_text
from ckptplanner.units import BYTES_PER_S, FRACTION, SECONDS, USD, brief, grouped, percent, rough

_COLUMNS = 3
_FADED = 0.4
_ROOM = 0.08  # above and below a curve, as a share of its log range
_LEAST = 0.35  # of a log range: what hardly changes is a flat line
Value = Callable[[ScaleRow], float | None]


@dataclass(frozen=True, slots=True)
class _Panel:
    """One small plot: its name, what is drawn in the scenario's colour and what thinly, and how a value reads."""

    name: str
    value: Value
    shown: Callable[[float], str]
    tick: Callable[[float], str]
    thin: tuple[tuple[str, Value], ...] = ()
    is_time: bool = False


def rate_text(value: float) -> str:
    """A tick of a rate."""
    return brief(value, BYTES_PER_S, 2)


class ScalePlots(QWidget):
    """Draws one Scale."""

    cursor_moved = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("scale_plots")
        self.setAccessibleName(say("The same job at other node counts"))
        self.setMinimumHeight(256)
        self._theme = LIGHT
        self._scale: Scale | None = None
        self._mark = LIGHT.mark(0)
        self._nodes, self._factor, self._copies = 1, 1.0, 1
        self._basis: Basis = "month"
        self._is_stale = False
        self._view = pg.GraphicsLayoutWidget()
        self._view.setFrameStyle(0)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self._view)
        self._titles: list[pg.LabelItem] = []
        self._plots: list[Plot] = []
        self._marks: list[MarkItem] = []
        self._shades: list[QGraphicsRectItem] = []
        self._lines: list[tuple[pg.InfiniteLine, pg.InfiniteLine]] = []
        self._notes = Notes()
        for index, panel in enumerate(self._panels()):
            self._build(index, panel)
        self._below = pg.LabelItem(justify="center")
        self._view.addItem(self._below, row=4, col=0, colspan=_COLUMNS)
        grid = self._view.ci.layout
        grid.setRowFixedHeight(4, 16)
        grid.setContentsMargins(12, 0, 16, 4)
        grid.setVerticalSpacing(0)
        grid.setHorizontalSpacing(12)
        for column in range(_COLUMNS):
            grid.setColumnStretchFactor(column, 1)
        for row in (0, 2):
            grid.setRowFixedHeight(row, 24)
        self._view.scene().sigMouseMoved.connect(self._on_mouse_moved)
        self._plots[0].vb.sigResized.connect(self._draw)

    def _build(self, index: int, panel: _Panel) -> None:
        bottom = ValueAxis("bottom", grouped, is_time=True, times=NODE_COUNTS)
        plot = Plot(ValueAxis("left", panel.tick, is_time=panel.is_time), bottom)
        title = pg.LabelItem(justify="left")
        row, column = divmod(index, _COLUMNS)
        self._view.addItem(title, row=2 * row, col=column)
        self._view.addItem(plot, row=2 * row + 1, col=column)
        mark, shade = MarkItem(), QGraphicsRectItem()
        shade.setZValue(-30)
        lines = pg.InfiniteLine(angle=90, movable=False), pg.InfiniteLine(angle=90, movable=False)
        for item in (mark, shade, *lines):
            plot.addItem(item, ignoreBounds=True)
        lines[1].setVisible(False)
        self._titles.append(title)
        self._plots.append(plot)
        self._marks.append(mark)
        self._shades.append(shade)
        self._lines.append(lines)

    def _panels(self) -> tuple[_Panel, ...]:
        per = say_text(basis_words(self._basis))
        loss = (lambda one: one.loss_probability_after_first) if self._copies > 1 else (lambda one: one.run_loss_probability)
        return (
            _Panel(say("Interrupted every"), lambda one: one.mtbi_s, _time, time_text, is_time=True),
            _Panel(say("Saved every"), lambda one: one.interval_s, _time, time_text, is_time=True, thin=(
                (say("best"), lambda one: one.best_interval_s), (say("to the drives"), lambda one: one.local_interval_s))),
            _Panel(say("Waste"), lambda one: one.waste_fraction, percent, percent_text),
            _Panel(say("Needs to write"), lambda one: one.required_write_bytes_per_s,
                   lambda value: brief(value, BYTES_PER_S), rate_text),
            _Panel(say("Costs {per}", per=per), lambda one: self._dollars(one.total_usd_per_year),
                   lambda value: brief(value, USD), money_text, thin=(
                (say("storage"), lambda one: None if one.storage_usd_per_month is None
                 else self._dollars(12.0 * one.storage_usd_per_month)),)),
            _Panel(say("Chance that replicas are lost"), loss, lambda value: brief(value, FRACTION), percent_text),
        )  # fmt: skip

    def _dollars(self, usd_per_year: float | None) -> float | None:
        return None if usd_per_year is None else usd_per_year * self._factor

    # ------------------------------------------------------------ what is shown

    def show_scale(
        self, found: Scale | None, mark: Mark, *, nodes: int, copies: int, basis: Basis, run_days: float, is_stale: bool
    ) -> None:
        """Draw the rows; `nodes` is today's count, `copies` of each checkpoint are kept on the nodes."""
        self._scale, self._mark, self._nodes, self._copies = found, mark, nodes, copies
        self._basis, self._factor, self._is_stale = basis, per_basis(1.0, basis, run_days), is_stale
        self._draw()

    def show_theme(self, theme: Theme) -> None:
        """Take the colours of a theme."""
        self._theme = theme
        self._view.setBackground(theme.surface)
        for plot in self._plots:
            plot.show_theme(theme)
        self._draw()

    def _draw(self) -> None:
        found = self._scale
        self._view.setVisible(found is not None)
        if found is None:
            return
        self._notes.clear(self._theme.surface)
        self._below.setText(say("Nodes of the job"), color=self._theme.text, size=f"{SMALL_PX}px")
        x = np.log10(np.array([one.nodes for one in found.rows], dtype=float))
        held = next((one.nodes for one in found.rows if one.is_held_by_write), None)
        for index, panel in enumerate(self._panels()):
            self._draw_panel(index, panel, x, held)
        self._notes.finish()
        self.setAccessibleDescription("; ".join(self.words_of(row) for row in found.rows))

    def _draw_panel(self, index: int, panel: _Panel, x: FloatArray, held: int | None) -> None:
        found, theme, plot = self._scale, self._theme, self._plots[index]
        assert found is not None
        rows = found.rows
        plot.setOpacity(_FADED if self._is_stale else 1.0)
        plot.hide_curves()
        is_idle = index == len(self._plots) - 1 and self._copies <= 1  # nothing to lose
        plot.getAxis("left").setStyle(showValues=not is_idle, tickLength=0 if is_idle else -3)
        if is_idle:
            panel = replace(panel, value=_nothing)
        lines = [("", panel.value), *panel.thin]
        heights = [log10(np.array([_known(read(row)) for row in rows])) for _, read in lines]
        known = np.concatenate([height[np.isfinite(height)] for height in heights])
        low, high = (float(known.min()), float(known.max())) if known.size else (0.0, 1.0)
        room = max(_LEAST - (high - low), 0.0) / 2 + _ROOM * max(high - low, _LEAST)
        plot.vb.setRange(xRange=(float(x[0]), float(x[-1])), yRange=(low - room, high + room), padding=0.02)
        (left, right), (bottom, top) = plot.vb.viewRange()
        ticks = [places for axis in (plot.getAxis("left"), plot.getAxis("bottom"))
                 for _, places in axis.tickValues(*((bottom, top, plot.vb.height()) if axis.orientation == "left"
                                                    else (left, right, plot.vb.width())))]  # fmt: skip
        plot.show_grid_lines(*([[], []] if is_idle or len(ticks) < 2 else ticks))
        for number, ((name, _), height) in enumerate(zip(lines, heights, strict=True)):
            drawn = pen(self._mark.colour if number == 0 else theme.thin, 1.0, Qt.PenStyle.SolidLine if number == 0
                        else Qt.PenStyle.DashLine)  # fmt: skip
            plot.curve(f"{number}", x, height, drawn, z=5 - number)
            self._notes.spare_line(plot, x, height)
            finite = np.flatnonzero(np.isfinite(height))
            if name and finite.size:
                at = int(finite[-1])
                spots = [Spot(float(x[at]), float(height[at]), 1.0, above) for above in (0.0, 1.0)]
                spots += [Spot(float(x[one]), float(height[one]), 0.5, above) for one in finite[::-2] for above in (0.0, 1.0)]
                self._notes.write(f"{index}.{name}", plot, name, spots, theme.muted)
        place = float(np.log10(self._nodes))
        today = next((row for row in rows if row.nodes == self._nodes), None)
        value = None if today is None else panel.value(today)
        for line, colour in zip(self._lines[index], (theme.line, theme.accent), strict=True):
            line.setPen(pen(colour))
        self._lines[index][0].setPos(place)
        self._marks[index].setVisible(value is not None and value > 0)
        if value is not None and value > 0:
            self._marks[index].show_mark(self._mark, theme.surface, is_filled=True)
            self._marks[index].setPos(place, float(np.log10(value)))
        self._title(index, panel, value)
        self._shade(index, held, right, bottom, top)
        self._write_notes(index, plot, x, (left, right, bottom, top), held)

    def _title(self, index: int, panel: _Panel, value: float | None) -> None:
        theme = self._theme
        words = "" if value is None else say("today {value}", value=panel.shown(value))
        html = f'<b>{escape(panel.name)}</b>&nbsp;&nbsp; <span style="color:{theme.muted}">{escape(words)}</span>'
        self._titles[index].setText(html, color=theme.text, size=f"{SMALL_PX}px")
        self._titles[index].setOpacity(_FADED if self._is_stale else 1.0)

    def _shade(self, index: int, held: int | None, right: float, bottom: float, top: float) -> None:
        shade = self._shades[index]
        shade.setVisible(held is not None)
        if held is not None:
            start = float(np.log10(held))
            shade.setRect(QRectF(start, bottom, right - start, top - bottom))
            shade.setPen(QColor(0, 0, 0, 0))
            shade.setBrush(QColor(self._theme.band))

    def _write_notes(
        self, index: int, plot: Plot, x: FloatArray, ends: tuple[float, float, float, float], held: int | None
    ) -> None:
        """Today's count, from where on saves are held, and what limits the write."""
        left, right, bottom, top = ends
        theme, place = self._theme, float(np.log10(self._nodes))
        if index == 0:
            spots = [Spot(place, bottom, 0.0, 1.0), Spot(place, bottom, 1.0, 1.0), Spot(place, top, 0.0, 0.0)]
            self._notes.write("today", plot, say("today {nodes}", nodes=node_count(self._nodes)), spots, theme.text)
        if index == 1 and held is not None:
            words = say("held by the write")
            start = float(np.log10(held))
            spots = [Spot(start, top, 0.0, 0.0), Spot(right, top, 1.0, 0.0), Spot(start, bottom, 1.0, 1.0)]
            self._notes.write("held", plot, words, spots, theme.text)
        if index == 3:
            for number, (name, start, end) in enumerate(self._limits()):
                middle = (np.log10(start) + np.log10(end)) / 2
                words = say("limit: {name}", name=name)
                spots = [Spot(float(middle), y, 0.5, above) for y, above in ((top, 0.0), (bottom, 1.0))]
                self._notes.write(f"limit.{number}", plot, words, spots, theme.text)
        if index == 5 and self._copies <= 1:
            words = say("one copy: the first lost node loses it")
            y = (bottom + top) / 2
            self._notes.write("copies", plot, words, [Spot((left + right) / 2, y, 0.5, 0.5)], theme.muted)

    def _limits(self) -> list[tuple[str, int, int]]:
        """What limits the write, from which node count to which."""
        found: list[tuple[str, int, int]] = []
        for row in self._scale.rows if self._scale else ():
            name = "" if row.bottleneck is None else say_text(row.bottleneck)
            if found and found[-1][0] == name:
                found[-1] = (name, found[-1][1], row.nodes)
            else:
                found.append((name, row.nodes, row.nodes))
        return [one for one in found if one[0]]

    # ------------------------------------------------------------ words

    def words_of(self, row: ScaleRow) -> str:
        """One node count in words."""
        parts = [
            f"{panel.name} {say('unknown') if (value := panel.value(row)) is None else panel.shown(value)}"
            for panel in self._panels()[: 6 if self._copies > 1 else 5]
        ]
        if row.bottleneck is not None:
            parts.append(say("limit: {name}", name=say_text(row.bottleneck)))
        return f"{node_count(row.nodes)}: {', '.join(parts)}"

    def texts(self, rows: Sequence[ScaleRow]) -> tuple[list[str], list[list[str]]]:
        """The rows as a table."""
        panels = self._panels()
        thin = [part for panel in panels for part in panel.thin]
        heads = [say("Nodes"), say("GPUs"), *(panel.name for panel in panels), *(name for name, _ in thin), say("Limit")]
        shown = [*((panel.value, panel.shown) for panel in panels),
                 *((read, panel.shown) for panel in panels for _, read in panel.thin)]  # fmt: skip
        return heads, [
            [grouped(row.nodes), grouped(row.gpus),
             *("" if (value := read(row)) is None else words(value) for read, words in shown),
             "" if row.bottleneck is None else say_text(row.bottleneck)]
            for row in rows
        ]  # fmt: skip

    def _on_mouse_moved(self, scene: QPointF) -> None:
        found = self._scale
        plot = next((one for one in self._plots if one.vb.sceneBoundingRect().contains(scene)), None)
        for _, line in self._lines:
            line.setVisible(plot is not None and found is not None)
        if plot is None or found is None:
            self.cursor_moved.emit("")
            return
        at = plot.vb.mapSceneToView(scene).x()
        row = min(found.rows, key=lambda one: abs(float(np.log10(one.nodes)) - at))
        for _, line in self._lines:
            line.setPos(float(np.log10(row.nodes)))
        self.cursor_moved.emit(self.words_of(row))


def _time(seconds: float) -> str:
    return rough(seconds, SECONDS)


def _nothing(row: ScaleRow) -> float | None:
    """No number."""
    return None


def _known(value: float | None) -> float:
    return float("nan") if value is None else value
