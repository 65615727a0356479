"""Cost and waste against the write time: two plots over one another with one axis, one handle and one cursor.

$ a month |-__    thin: every throughput with and without EFA     EFA band | ... | hatched: next save begins first
          |   --__   bold: the cheapest legal choice
          |  mark        within 3 % of the least total  =====
----------+--------------[handle]------------------
waste     | sync dashed, async solid
          +------------------------- write time (log)
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QEvent, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QPainter, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QGraphicsSimpleTextItem, QVBoxLayout, QWidget
from typing_extensions import override

from ckptplanner.engine.cards import basis_words
from ckptplanner.engine.cost import Basis, per_basis
from ckptplanner.engine.curves import Curves, ModeCurves
from ckptplanner.engine.plan import Plan
from ckptplanner.frozen import FloatArray
from ckptplanner.ui.plots.handle import Grip, MarkItem, Tag
from ckptplanner.ui.plots.notes import Notes, Spot, around
from ckptplanner.ui.plots.plot import (
    RIGHT_WIDTH,
    EndLabels,
    Plot,
    ValueAxis,
    corners,
    hatch,
    log10,
    money_text,
    one_two_five,
    pen,
    percent_text,
    time_text,
)
from ckptplanner.ui.shown import Shown, base_of, current_of
from ckptplanner.ui.theme import LIGHT, SMALL_PX, Mark, Theme, font
from ckptplanner.ui.words import say, say_text
from ckptplanner.units import BYTES_PER_S, FRACTION, MONTHS_PER_YEAR, SECONDS, USD, brief, grouped, percent, rough

PATH = "storage.write_s"
_NICE = ((120.0, 1.0), (600.0, 5.0), (1800.0, 10.0), (7200.0, 60.0), (float("inf"), 300.0))
DASH = Qt.PenStyle.DashLine


def nice_s(seconds: float) -> float:
    """A write time as one would say it: whole seconds, then 5 s, 10 s, minutes. [s]"""
    if seconds < 10.0:
        return float(f"{seconds:.2g}")
    step = next(step for limit, step in _NICE if seconds < limit)
    return round(seconds / step) * step


class WriteTimePlots(QWidget):
    """Draws all plans it is given; proposes a write time when the handle is dragged or a place is clicked."""

    edited = Signal(str, object)
    gesture_ended = Signal()
    cursor_moved = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("write_time_plots")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self._theme = LIGHT
        self._shown: tuple[Shown, ...] = ()
        self._ghost: Plan | None = None
        self._reach: tuple[float, ...] | None = None  # how far one drag may go, as log10 of seconds
        self._held_at: float | None = None  # where in the scene the line stood when tag or grip was taken hold of
        self._basis: Basis = "month"
        self._shows_total = False
        self._drawn: tuple[object, ...] = ()
        self._view = pg.GraphicsLayoutWidget()
        self._view.setFrameStyle(0)
        self._view.setFocusProxy(self)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self._view)
        self._build()
        self._connect()

    # ------------------------------------------------------------ building

    def _build(self) -> None:
        self._ends = EndLabels()
        self._cost = Plot(ValueAxis("left", money_text), ValueAxis("bottom", time_text, is_time=True), self._ends)
        blank = EndLabels()
        self._waste = Plot(ValueAxis("left", percent_text), ValueAxis("bottom", time_text, is_time=True), blank)
        self._cost_title, self._waste_title = (pg.LabelItem(justify="left") for _ in range(2))
        for row, item in enumerate((self._cost_title, self._cost, self._waste_title, self._waste)):
            self._view.addItem(item, row=row, col=0)
        grid = self._view.ci.layout
        grid.setContentsMargins(8, 2, 8, 18)
        grid.setVerticalSpacing(0)
        for row, height in ((0, 22), (2, 22)):
            grid.setRowFixedHeight(row, height)
        grid.setRowStretchFactor(1, 20)
        grid.setRowStretchFactor(3, 12)
        self._cost.getAxis("bottom").setStyle(showValues=False)
        self._cost.getAxis("bottom").setHeight(6)
        self._lines = [self._line(plot) for plot in (self._cost, self._waste)]
        self._ghosts = [self._quiet_line(plot) for plot in (self._cost, self._waste)]
        self._cursors = [self._quiet_line(plot) for plot in (self._cost, self._waste)]
        self._bands = [self._region(plot, -30) for plot in (self._cost, self._waste)]
        self._hatches = [self._region(plot, -25) for plot in (self._cost, self._waste)]
        self._total_band = pg.PlotCurveItem(antialias=False)
        self._total_band.setZValue(-10)
        self._cost.addItem(self._total_band)
        self._tag, self._ghost_tag, self._grip = Tag(), Tag(is_ghost=True), Grip()
        for item in (self._tag, self._ghost_tag, self._grip):
            item.setParentItem(self._view.ci)
        self._below = [QGraphicsSimpleTextItem(self._view.ci) for _ in range(3)]
        self._best = MarkItem()
        self._cost.addItem(self._best, ignoreBounds=True)
        self._marks: list[MarkItem] = []
        self._notes = Notes()

    def _line(self, plot: Plot) -> pg.InfiniteLine:
        line = pg.InfiniteLine(angle=90, movable=True)
        line.setZValue(30)
        line.setCursor(Qt.CursorShape.SizeHorCursor)
        plot.addItem(line, ignoreBounds=True)
        return line

    def _quiet_line(self, plot: Plot) -> pg.InfiniteLine:
        line = pg.InfiniteLine(angle=90, movable=False)
        line.setZValue(20)
        line.setVisible(False)
        plot.addItem(line, ignoreBounds=True)
        return line

    def _region(self, plot: Plot, z: int) -> pg.LinearRegionItem:
        region = pg.LinearRegionItem(movable=False)
        region.setZValue(z)
        for line in region.lines:
            line.setVisible(False)
        plot.addItem(region, ignoreBounds=True)
        return region

    def _connect(self) -> None:
        for line in self._lines:
            line.sigDragged.connect(self._on_dragged)
            line.sigPositionChangeFinished.connect(self._on_drag_finished)
        for knob in (self._tag, self._grip):
            knob.dragged.connect(self._on_knob_dragged)
            knob.dropped.connect(self._on_drag_finished)
        self._view.scene().sigMouseMoved.connect(self._on_mouse_moved)
        self._view.scene().sigMouseClicked.connect(self._on_mouse_clicked)
        self._view.viewport().installEventFilter(self)
        for plot in (self._cost, self._waste):
            plot.vb.sigResized.connect(self._on_laid_out)

    # ------------------------------------------------------------ what is shown

    def show_plans(self, shown: Sequence[Shown], basis: Basis = "month") -> None:
        """Draw everything anew, dollars for a month, the run or a year."""
        self._shown, self._basis = tuple(shown), basis
        self._draw()

    def show_ghost(self, plan: Plan | None) -> None:
        """Leave a grey mark of where the plan was."""
        self._ghost = plan
        self._draw()

    def show_total(self, is_total: bool) -> None:
        """Draw storage alone, or total dollars with storage below and lost GPU time above."""
        self._shows_total = is_total
        self._draw()

    def show_theme(self, theme: Theme) -> None:
        """Take the colours of a theme."""
        self._theme = theme
        self._view.setBackground(theme.surface)
        for plot in (self._cost, self._waste):
            plot.show_theme(theme)
        for tag in (self._tag, self._ghost_tag, self._grip):
            tag.show_theme(theme)
        for line in self._lines:
            line.setPen(pen(theme.accent))
            line.setHoverPen(pen(theme.accent))
        for line in (*self._ghosts, *self._cursors):
            line.setPen(pen(theme.edge, 1, DASH))
        for region in self._bands:
            region.setBrush(QColor(theme.band))
        for region in self._hatches:
            region.setBrush(hatch(theme.hatch))
        self._draw()

    def _draw(self) -> None:
        if not self._shown or not self.isVisible():  # showEvent draws what was not seen
            return
        now = current_of(self._shown)
        curves = now.plan.curves
        x = log10(curves.write_s)
        if (look := self._look(now, curves)) != self._drawn:  # while the handle is dragged the curves stay as they are
            self._drawn = look
            for plot in (self._cost, self._waste):
                plot.hide_curves()
            self._draw_cost(now, curves, x)
            self._draw_waste(now, curves, x)
            self._draw_grounds(now, curves, x)
        self._draw_marks()
        self._draw_words(now, curves, x)
        self._draw_handle(now)
        self._view.scene().prepareForPaint()  # axes follow a new range now, not during the paint, which would paint twice
        self._place()
        self.setAccessibleDescription(self._figures(now.plan))

    def _look(self, now: Shown, curves: Curves) -> tuple[object, ...]:
        """Everything that the picture of the curves depends on; curves are told apart by identity."""
        base, storage = base_of(self._shown), now.plan.scenario.storage
        compared = None if base is None else (base.plan.curves, base.index, base.plan.scenario.storage.mode)
        size = self._view.size()
        return (
            curves, compared, now.index, storage.mode, storage.waste_model, self._shows_total, self._theme.name,
            size.width(), size.height(), self._basis, now.plan.scenario.run.days,
        )  # fmt: skip

    def _usd(self, usd_per_month: FloatArray, plan: Plan) -> FloatArray:
        """Dollars a month on the basis that is shown."""
        return usd_per_month * per_basis(MONTHS_PER_YEAR, self._basis, plan.scenario.run.days)

    def _draw_cost(self, now: Shown, curves: Curves, x: FloatArray) -> None:
        theme, mark = self._theme, self._theme.mark(now.index)
        ends: list[tuple[str, float]] = []
        for row, values in enumerate(log10(self._usd(curves.usd_per_month, now.plan))):
            if np.isfinite(values).any() and curves.tiers:
                name = tier_name(curves, row)
                self._cost.curve(f"tier {row}", *corners(x, values), pen(theme.thin), z=1)
                ends.append((name, float(values[-1])))
        storage = log10(self._usd(curves.picked(curves.usd_per_month), now.plan))
        total = log10(self._usd(curves.picked(self._mode(curves, now).total_usd_per_month), now.plan))
        self._cost.curve("cheapest", *corners(x, storage), pen(mark.colour, 2), z=5)
        self._total_band.setVisible(self._shows_total)
        if self._shows_total:
            self._cost.curve("total", *corners(x, total), pen(mark.colour), z=5)
            named = ((say("total"), float(total[-1])), (say("storage"), float(storage[-1])))
            ends += [(name, end) for name, end in named if np.isfinite(end)]
            band_x, band_y = corners(x, total)
            low = np.nanmin(storage) - 1.0 if np.isfinite(storage).any() else 0.0
            self._total_band.setData(
                band_x, np.nan_to_num(band_y, nan=low), fillLevel=low, brush=QColor(theme.groups[3]), pen=None
            )
        base = base_of(self._shown)
        if base is not None:
            theirs = base.plan.curves
            dollars = self._mode(theirs, base).total_usd_per_month if self._shows_total else theirs.usd_per_month
            values = self._usd(theirs.picked(dollars), base.plan)
            self._cost.curve("base", *corners(log10(theirs.write_s), log10(values)), pen(theme.mark(base.index).colour), z=4)
        self._ends.show_ends(ends, "")
        bold = np.concatenate((storage, total if self._shows_total else storage))
        self._set_range(self._cost, x, bold, log10(self._usd(curves.usd_per_month, now.plan)).ravel(), room=0.16)

    def _draw_waste(self, now: Shown, curves: Curves, x: FloatArray) -> None:
        theme = self._theme
        colour = theme.mark(now.index).colour
        is_exact = now.plan.scenario.storage.waste_model == "exact"
        sync, run_async = (log10(curves.picked(mode.chosen_fraction)) for mode in (curves.sync, curves.run_async))
        self._waste.curve("sync", x, sync, pen(colour, 1, DASH), z=3)
        self._waste.curve("async", x, run_async, pen(colour), z=3)
        other = "first_order_fraction" if is_exact else "exact_fraction"
        for name, mode, style in (("sync", curves.sync, DASH), ("async", curves.run_async, Qt.PenStyle.SolidLine)):
            values = log10(curves.picked(getattr(mode, other)))
            self._waste.curve(f"other {name}", x, values, pen(theme.hatch, 1, style), z=1)
        base = base_of(self._shown)
        if base is not None:
            theirs = base.plan.curves
            values = log10(theirs.picked(self._mode(theirs, base).chosen_fraction))
            self._waste.curve("base", log10(theirs.write_s), values, pen(theme.mark(base.index).colour), z=2)
        first, second = (sync, run_async) if now.plan.scenario.storage.mode == "sync" else (run_async, sync)
        self._set_range(self._waste, x, first, second, room=0.12)

    @staticmethod
    def _mode(curves: Curves, shown: Shown) -> ModeCurves:
        return curves.sync if shown.plan.scenario.storage.mode == "sync" else curves.run_async

    def _set_range(self, plot: Plot, x: FloatArray, first: FloatArray, second: FloatArray, room: float) -> None:
        """Fit the heights to the first values, and to the second as far as ten times the first."""
        first, second = first[np.isfinite(first)], second[np.isfinite(second)]
        every = np.concatenate((first, second))
        plot.getAxis("left").setStyle(showValues=bool(every.size))
        low, high = (float(every.min()), float(every.max())) if every.size else (0.0, 1.0)
        if first.size:
            rising = np.sort(first)  # np.median would load numpy.ma
            middle, most = float(rising[rising.size // 2]), float(rising[int(0.98 * (rising.size - 1))])
            high = min(high, middle + 1.1) if second.size else high
            high = max(high, most)
            low = max(low, middle - 2.2)
        span = max(high - low, 0.3)
        low, high = low - room * span, high + 0.04 * span
        plot.vb.setRange(xRange=(float(x[0]), float(x[-1])), yRange=(low, high), padding=0, disableAutoRange=True)
        ticks = [np.log10(value) for value in one_two_five(10.0**low, 10.0**high)]
        bottom = self._waste.getAxis("bottom")
        places = [place for _, level in bottom.tickValues(float(x[0]), float(x[-1]), bottom.width() or 800) for place in level]
        plot.show_grid_lines(ticks, places)

    def _draw_grounds(self, now: Shown, curves: Curves, x: FloatArray) -> None:
        """The EFA band, the hatched part where saves overlap, and the bar within 3 % of the least total."""
        low, high = float(x[0]), float(x[-1])
        efa = np.clip(np.log10(curves.efa_below_s), low, high) if curves.tiers else low
        overlap = np.clip(np.log10(max(curves.overlap_from_s, 1e-9)), low, high)
        for region in self._bands:
            region.setRegion((low, efa))
            region.setVisible(bool(efa > low))
        for region in self._hatches:
            region.setRegion((overlap, high))
            region.setVisible(bool(overlap < high) and now.plan.scenario.storage.mode == "async")
        bottom = self._cost.vb.viewRange()[1][0]
        least = curves.least_total
        if least is not None:
            places = log10(np.column_stack((least.starts, least.ends, np.full(least.starts.shape, np.nan))).ravel())
            heights = np.where(np.isfinite(places), bottom, np.nan)
            self._cost.curve("least", places, heights, pen(self._theme.accent, 5), z=8)

    def _draw_marks(self) -> None:
        while len(self._marks) < 2 * len(self._shown):
            item = MarkItem()
            (self._cost if len(self._marks) % 2 == 0 else self._waste).addItem(item, ignoreBounds=True)
            self._marks.append(item)
        for item in self._marks:
            item.setVisible(False)
        for position, one in enumerate(self._shown):
            money, waste = self._heights(one.plan)
            for item, value in zip(self._marks[2 * position : 2 * position + 2], (money, waste), strict=True):
                if value and one.plan.schedule is not None:
                    item.show_mark(self._theme.mark(one.index), self._theme.surface, is_filled=one.is_current)
                    item.setPos(np.log10(self._place_s(one.plan)), np.log10(value))
                    item.setVisible(True)

    def _heights(self, plan: Plan) -> tuple[float | None, float | None]:
        """Dollars and waste of a plan, as they are drawn."""
        money = None
        if self._shows_total:
            money = plan.cost.total_usd_per_year if plan.cost else None
        elif plan.storage.chosen is not None and plan.storage.chosen.usd_per_month is not None:
            money = plan.storage.chosen.usd_per_month * MONTHS_PER_YEAR
        shown = None if money is None else per_basis(money, self._basis, plan.scenario.run.days)
        return shown, plan.waste.chosen_fraction if plan.waste else None

    @staticmethod
    def _place_s(plan: Plan) -> float:
        """Where a plan stands on the axis: the time its write is given, or takes on storage that exists. [s]"""
        if takes_its_time(plan) and plan.schedule is not None:
            return plan.schedule.write_s
        return plan.scenario.storage.write_s

    def _draw_words(self, now: Shown, curves: Curves, x: FloatArray) -> None:
        """Write the notes, the more important ones first: where two collide the later one gives way."""
        theme, (low, high) = self._theme, (float(x[0]), float(x[-1]))
        bottom, top = self._cost.vb.viewRange()[1]
        notes = self._notes
        notes.clear(theme.surface)
        self._place_best(now, curves)
        self._spare(now, curves, x)
        if not np.isfinite(curves.picked(curves.usd_per_month)).any():
            missing = say("No price is known: type it in the Storage panel, and the cost appears here.")
            notes.write("missing", self._cost, missing, [Spot((low + high) / 2, (bottom + top) / 2, 0.5, 0.5)], theme.muted)
        if takes_its_time(now.plan):
            held = say("at full pace the write takes what the storage needs")
            floor, ceiling = self._waste.vb.viewRange()[1]
            notes.write("pace", self._waste, held, [Spot(low, floor, 0.0, 1.0), Spot(low, ceiling, 0.0, 0.0)], theme.muted)
        self._word_least(curves, bottom)
        self._word_scenarios()
        self._word_modes(now, curves, x)
        if self._bands[0].isVisible() and float(np.log10(curves.efa_below_s)) - low > 0.25 * (high - low):
            spots = [Spot(low, bottom, 0.0, 1.0), Spot(low, bottom, 0.0, 2.0)]
            notes.write("efa", self._cost, say("EFA: more than 10 GB/s"), spots, theme.muted)
        self._word_generations(now, curves, x)
        if self._hatches[0].isVisible():
            spots = [Spot(high, top, 1.0, 0.0), Spot(high, bottom, 1.0, 1.0)]
            notes.write("overlap", self._cost, say("the next save begins first"), spots, theme.muted, covers=True)
        notes.finish()

    def _spare(self, now: Shown, curves: Curves, x: FloatArray) -> None:
        """What no note may stand on: marks and the handle; and, where there is room elsewhere, the bold lines."""
        notes, mode = self._notes, self._mode(curves, now)
        for item in (*self._marks, self._best):
            if item.isVisible():
                plot = self._waste if item in self._marks[1::2] else self._cost
                notes.spare_mark(plot, item.x(), item.y())
        standing = [now.plan] if self._ghost is None else [now.plan, self._ghost]
        for plot in (self._cost, self._waste):
            for plan in standing:
                notes.spare_upright(plot, float(np.log10(self._place_s(plan))))
        drawn = [curves.usd_per_month, mode.total_usd_per_month] if self._shows_total else [curves.usd_per_month]
        for dollars in drawn:
            notes.spare_line(self._cost, *corners(x, log10(self._usd(curves.picked(dollars), now.plan))))
        for one in (curves.sync, curves.run_async):
            notes.spare_line(self._waste, x, log10(curves.picked(one.chosen_fraction)))

    def _word_scenarios(self) -> None:
        """The names of the other scenarios beside their marks."""
        for one in self._shown:
            money, _ = self._heights(one.plan)
            if not one.is_current and money:
                spots = around(float(np.log10(self._place_s(one.plan))), float(np.log10(money)), (1.0, 0.0))
                self._notes.write(f"name {one.index}", self._cost, one.name, spots, self._theme.mark(one.index).colour)

    def _word_modes(self, now: Shown, curves: Curves, x: FloatArray) -> None:
        """Which line of the waste plot is which: above its left half, or wherever else along it is room."""
        low, high = self._waste.vb.viewRange()[1]
        colour = self._theme.mark(now.index).colour
        for name, mode, text in (
            ("sync", curves.sync, say("sync: training waits for the write")),
            ("async", curves.run_async, say("async: training stops {time}", time=self._stop(now))),
        ):
            heights = log10(curves.picked(mode.chosen_fraction))
            places = [int(share * x.size) for share in (0.42, 0.25, 0.6, 0.75)]
            inside = [place for place in places if low < heights[place] < high]
            # the lines rise, so there is room left above them and right below
            spots = [Spot(float(x[place]), float(heights[place]), side, side) for side in (1.0, 0.0) for place in inside]
            if spots:
                self._notes.write(name, self._waste, text, spots, colour)

    @staticmethod
    def _stop(now: Shown) -> str:
        return brief(now.plan.scenario.storage.blocking_s, SECONDS)

    def _place_best(self, now: Shown, curves: Curves) -> None:
        """The mark of the least total, on the line that is bought by it: the total, or the storage alone."""
        least = curves.least_total
        self._best.setVisible(False)
        if least is None or not least.starts.size:
            return
        if self._shows_total:
            usd = least.least_value
        else:  # the least lies where a smaller file system begins to do: its price holds from there on
            prices = curves.picked(curves.usd_per_month)
            usd = float(prices[min(int(np.searchsorted(curves.write_s, least.least_at)), prices.size - 1)])
        height = float(self._usd(np.array(usd), now.plan))
        if height > 0.0:
            self._best.show_mark(Mark(self._theme.text, "", "diamond"), self._theme.surface, is_filled=False)
            self._best.setPos(float(np.log10(least.least_at)), float(np.log10(height)))
            self._best.setVisible(True)

    def _word_least(self, curves: Curves, bottom: float) -> None:
        least = curves.least_total
        if least is None or not least.starts.size:
            return
        start, end = (rough(float(place), SECONDS) for place in (least.starts[0], least.ends[-1]))
        text = say("within 3 % of the least total: {start} to {end}", start=start, end=end)
        left, right = float(np.log10(least.starts[0])), float(np.log10(least.ends[-1]))
        spots = [
            Spot(left, bottom, 1.0, 1.0), Spot(right, bottom, 0.0, 1.0), Spot(left, bottom, 0.0, 2.0),
            Spot(left, bottom, 1.0, 2.0), Spot(right, bottom, 0.0, 2.0),
        ]  # fmt: skip
        self._notes.write("least", self._cost, text, spots, self._theme.accent)
        if self._best.isVisible():
            text = say("cheapest in total, {time}", time=rough(least.least_at, SECONDS))
            x, y = self._best.x(), self._best.y()
            above = [Spot(x, y, 1.0, 1.0), Spot(x, y, 1.0, 2.0)] if self._shows_total else []  # below it are all the others
            spots = [*above, *around(x, y, (1.0, 0.0))]
            self._notes.write("best", self._cost, text, spots, self._theme.text)

    def _word_generations(self, now: Shown, curves: Curves, x: FloatArray) -> None:
        """Where the generations and not the speed hold the size: a flat part."""
        held = np.nan_to_num(curves.picked(curves.bound_by_capacity.astype(float))) > 0.5
        if not curves.tiers or not held[-1] or np.log10(curves.write_s[-1] / curves.write_s[np.argmax(held)]) < 0.3:
            return
        flat = log10(self._usd(curves.picked(curves.usd_per_month), now.plan))
        text = say("held by {count} generations", count=now.plan.scenario.storage.generations_kept)
        spots = [
            Spot(float(x[index]), float(flat[index]), 1.0, above)
            for above in (0.0, 1.0) for index in (int(0.86 * x.size), x.size - 1)
        ]  # fmt: skip
        self._notes.write("held", self._cost, text, spots, self._theme.muted)

    def _draw_handle(self, now: Shown) -> None:
        place = float(np.log10(self._place_s(now.plan)))
        for line in self._lines:
            line.blockSignals(True)
            line.setValue(place)
            line.setMovable(not takes_its_time(now.plan))
            line.blockSignals(False)
        for knob in (self._tag, self._grip):
            knob.set_movable(not takes_its_time(now.plan))
        self._tag.show_text(self._figures(now.plan))
        self._ghost_tag.setVisible(self._ghost is not None)
        for line in self._ghosts:
            line.setVisible(self._ghost is not None)
            if self._ghost is not None:
                line.setValue(float(np.log10(self._place_s(self._ghost))))
        if self._ghost is not None:
            self._ghost_tag.show_text(rough(self._place_s(self._ghost), SECONDS))
        size = f"{SMALL_PX}px"
        per = say_text(basis_words(self._basis))
        title = say("Total, $ {per}", per=per) if self._shows_total else say("Storage, $ {per}", per=per)
        self._cost_title.setText(title, color=self._theme.text, size=size, bold=True)
        self._waste_title.setText(say("Waste, share of training time"), color=self._theme.text, size=size, bold=True)
        for item, text in zip(self._below, (say("fast, dear"), say("Write time"), say("slow, cheap")), strict=True):
            item.setFont(font(SMALL_PX, bold=item is self._below[1]))
            item.setBrush(QColor(self._theme.text if item is self._below[1] else self._theme.muted))
            item.setText(text)

    def _figures(self, plan: Plan) -> str:
        """What the tag says: 5 min · 5.81 GB/s · $4,080 · 0.54 %."""
        money, waste = self._heights(plan)
        parts = [
            rough(self._place_s(plan), SECONDS),
            brief(plan.storage.required_write_bytes_per_s, BYTES_PER_S),
            say("no price") if money is None else brief(money, USD),
        ]
        return " · ".join(parts if waste is None else [*parts, percent(waste)])

    # ------------------------------------------------------------ places in the scene

    def _place(self) -> None:
        """Put tag, ghost and grip over the line; called when the plots have been laid out anew."""
        if not self._shown:
            return
        box = self._cost.vb.sceneBoundingRect()
        for tag, plan in ((self._tag, current_of(self._shown).plan), (self._ghost_tag, self._ghost)):
            if plan is not None:
                tag.place(self._scene_x(self._place_s(plan)), box.top() - 21, box.left(), box.right() + RIGHT_WIDTH)
        if self._ghost is not None:
            self._ghost_tag.stand_beside(self._tag)
        floor = self._waste.sceneBoundingRect().bottom()
        for item, share in zip(self._below, (0.0, 0.5, 1.0), strict=True):
            room = box.width() - item.boundingRect().width()
            item.setPos(box.left() + share * room, floor - 3)
        between = (box.bottom() + self._waste.vb.sceneBoundingRect().top()) / 2
        self._grip.setPos(self._scene_x(self._place_s(current_of(self._shown).plan)), between)

    def _on_laid_out(self) -> None:
        """The plots have another size: notes and ticks are placed anew."""
        self._drawn = ()
        self._draw()

    def _scene_x(self, seconds: float) -> float:
        return float(self._cost.vb.mapViewToScene(QPointF(float(np.log10(seconds)), 0.0)).x())

    @override
    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._draw()

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._draw()

    # ------------------------------------------------------------ gestures

    def _on_dragged(self, line: pg.InfiniteLine) -> None:
        self._drag_to(float(line.value()))

    def _on_knob_dragged(self, pixels: float) -> None:
        """Tag and grip pull the line along by as much as the mouse goes."""
        if self._held_at is None:
            self._held_at = self._scene_x(self._place_s(current_of(self._shown).plan))
        self._drag_to(float(self._cost.vb.mapSceneToView(QPointF(self._held_at + pixels, 0.0)).x()))

    def _drag_to(self, place: float) -> None:
        # the pointer may go on beyond the plot, the write time may not; the axis follows the write time, hence the first range
        if self._reach is None:
            self._reach = tuple(self._cost.vb.viewRange()[0])
        low, high = self._reach
        self.edited.emit(PATH, nice_s(float(10.0 ** min(max(place, low), high))))
        self._draw_handle(current_of(self._shown))  # an equal value is no edit, and nobody would draw

    def _on_drag_finished(self, line: pg.InfiniteLine | None = None) -> None:
        self._reach = self._held_at = None
        self.gesture_ended.emit()

    def _on_mouse_clicked(self, event: object) -> None:
        """A click on free ground moves the handle there."""
        if event.button() != Qt.MouseButton.LeftButton or event.isAccepted():  # type: ignore[attr-defined]
            return
        place = self._seconds_at(event.scenePos())  # type: ignore[attr-defined]
        if place is not None and not takes_its_time(current_of(self._shown).plan):
            self.edited.emit(PATH, nice_s(place))
            self.gesture_ended.emit()

    def _seconds_at(self, scene: QPointF) -> float | None:
        for plot in (self._cost, self._waste):
            if plot.vb.sceneBoundingRect().contains(scene):
                return float(10.0 ** plot.vb.mapSceneToView(scene).x())
        return None

    def _on_mouse_moved(self, scene: QPointF) -> None:
        seconds = self._seconds_at(scene)
        for line in self._cursors:
            line.setVisible(seconds is not None)
            if seconds is not None:
                line.setValue(float(np.log10(seconds)))
        self.cursor_moved.emit("" if seconds is None else self._read_out(seconds))
        if seconds is not None:
            self._light_up(scene)

    def _light_up(self, scene: QPointF) -> None:
        """Name the thin line nearest to the pointer."""
        curves = current_of(self._shown).plan.curves
        if not curves.tiers or not self._cost.vb.sceneBoundingRect().contains(scene):
            self._ends.show_strong(None)
            return
        point = self._cost.vb.mapSceneToView(scene)
        column = int(np.argmin(np.abs(log10(curves.write_s) - point.x())))
        gaps = np.abs(log10(self._usd(curves.usd_per_month[:, column], current_of(self._shown).plan)) - point.y())
        low, high = self._cost.vb.viewRange()[1]
        near = int(np.nanargmin(gaps)) if np.isfinite(gaps).any() else -1
        is_near = near >= 0 and gaps[near] < 0.03 * (high - low)
        self._ends.show_strong(tier_name(curves, near) if is_near else None)
        for row in range(len(curves.tiers)):
            item = self._cost.curve_named(f"tier {row}")
            if item is not None:
                item.setPen(pen(self._theme.text if is_near and row == near else self._theme.thin))

    def _read_out(self, seconds: float) -> str:
        """The figures under the cursor, for the status line."""
        curves = current_of(self._shown).plan.curves
        column = int(np.argmin(np.abs(np.log(curves.write_s / seconds))))
        usd = float(self._usd(curves.picked(curves.usd_per_month), current_of(self._shown).plan)[column])
        sync, run_async = (float(curves.picked(mode.chosen_fraction)[column]) for mode in (curves.sync, curves.run_async))
        row = int(curves.cheapest[column])
        return say(
            "Write time {time}: needs {rate}; cheapest {system} {money}; waste sync {sync}, async {run_async}",
            time=rough(float(curves.write_s[column]), SECONDS),
            rate=brief(float(curves.required_write_bytes_per_s[column]), BYTES_PER_S),
            system=f"{tier_name(curves, row)} × {grouped(float(curves.capacity_gib[row, column]))} GiB" if curves.tiers else "",
            money=brief(usd, USD) if np.isfinite(usd) else say("no price"),
            sync=brief(sync, FRACTION) if np.isfinite(sync) else "–",
            run_async=brief(run_async, FRACTION) if np.isfinite(run_async) else "–",
        )

    @override
    def eventFilter(self, watched: object, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Leave:
            self.cursor_moved.emit("")
            for line in self._cursors:
                line.setVisible(False)
        return False

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        factor = {Qt.Key.Key_Left: 1 / 1.05, Qt.Key.Key_Right: 1.05}.get(Qt.Key(event.key()))
        if factor is None or not self._shown or takes_its_time(current_of(self._shown).plan):
            super().keyPressEvent(event)
            return
        now = self._place_s(current_of(self._shown).plan)
        moved = nice_s(now * factor)
        if moved == now:
            moved = now + (1.0 if factor > 1 else -1.0) * next(step for limit, step in _NICE if now < limit)
        self.edited.emit(PATH, max(moved, 1e-3))

    @override
    def keyReleaseEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Left, Qt.Key.Key_Right) and not event.isAutoRepeat():
            self.gesture_ended.emit()
        super().keyReleaseEvent(event)

    # ------------------------------------------------------------ pictures

    def paint_on(self, painter: QPainter, target: QRectF) -> None:
        """Draw both plots as vectors; at the widget's own size the scale is 1."""
        self._view.render(painter, target, self._view.viewport().rect())


def takes_its_time(plan: Plan) -> bool:
    """Whether the write time is what the storage needs and no decision: storage that exists, at full pace."""
    return plan.scenario.storage.custom is not None and plan.scenario.storage.pace == "full"


def tier_name(curves: Curves, row: int) -> str:
    """How a thin line is named at its end: 500, or 500 EFA."""
    tier = curves.tiers[row]
    return f"{grouped(tier.throughput_mb_per_s_per_tib)}{' EFA' if tier.efa else ''}"
