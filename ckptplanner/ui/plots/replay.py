"""A log replayed: what each interval would have lost, what was predicted, and what the last gaps alone would have done."""

from __future__ import annotations

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QEvent, QPointF, Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget
from typing_extensions import override

from ckptplanner.engine.backtests import Backtest
from ckptplanner.frozen import FloatArray
from ckptplanner.ui.plots.handle import MarkItem, Tag
from ckptplanner.ui.plots.notes import Notes, Spot, around
from ckptplanner.ui.plots.plot import Plot, ValueAxis, log10, pen, time_text
from ckptplanner.ui.theme import LIGHT, SMALL_PX, Mark, Theme
from ckptplanner.ui.words import say
from ckptplanner.units import FRACTION, SECONDS, brief, percent

_MOST = 1.3  # how far the curve is followed above its least
_BELOW, _ABOVE = 0.2, 0.1  # room below the least and above the highest mark, as a share of what is shown
_DASHED, _DOTTED = Qt.PenStyle.DashLine, Qt.PenStyle.DotLine
_PAGE = 10  # columns of the curve that Page Up and Page Down go


class ReplayPlot(QWidget):
    """Draws one Backtest; the pointer, or the arrow keys, read off what an interval would have lost."""

    cursor_moved = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("replay_plot")
        self.setAccessibleName(say("Lost share over the interval"))
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self._theme = LIGHT
        self._backtest: Backtest | None = None
        self._column: int | None = None  # where the line stands that is read off
        self._view = pg.GraphicsLayoutWidget()
        self._view.setFrameStyle(0)
        self._view.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self._view)
        self._build()
        self._view.scene().sigMouseMoved.connect(self._on_mouse_moved)
        self._view.scene().sigMouseClicked.connect(self._on_mouse_clicked)
        self._view.viewport().installEventFilter(self)
        self._plot.vb.sigResized.connect(self._draw)

    def _build(self) -> None:
        bottom = ValueAxis("bottom", time_text, is_time=True)
        self._plot = Plot(ValueAxis("left", lambda share: brief(share, FRACTION), is_log=False), bottom)
        self._title, self._below = pg.LabelItem(justify="left"), pg.LabelItem(justify="center")
        for row, item in enumerate((self._title, self._plot, self._below)):
            self._view.addItem(item, row=row, col=0)
        grid = self._view.ci.layout
        grid.setContentsMargins(8, 2, 16, 2)
        grid.setVerticalSpacing(0)
        grid.setRowFixedHeight(0, 22)
        grid.setRowFixedHeight(2, 18)
        self._marks = {name: MarkItem() for name in ("young", "best", "exact", "first_order")}
        self._point = MarkItem()
        for mark in (*self._marks.values(), self._point):
            self._plot.addItem(mark, ignoreBounds=True)
        self._cursor = pg.InfiniteLine(angle=90, movable=False)
        self._cursor.setZValue(8)
        self._plot.addItem(self._cursor, ignoreBounds=True)
        self._tag = Tag(is_ghost=True)
        self._tag.setParentItem(self._view.ci)
        self._notes = Notes()
        self._show_cursor(None)

    # ------------------------------------------------------------ what is shown

    def show_backtest(self, backtest: Backtest) -> None:
        """Draw it."""
        if self._backtest is None or self._backtest.curve_interval_s is not backtest.curve_interval_s:
            self._column = None
        self._backtest = backtest
        self.setAccessibleDescription("; ".join(words for _, words in _marked(backtest)))
        self._draw()

    def show_theme(self, theme: Theme) -> None:
        """Take the colours of a theme."""
        self._theme = theme
        self._view.setBackground(theme.surface)
        self._plot.show_theme(theme)
        self._tag.show_theme(theme)
        self._cursor.setPen(pen(theme.edge, 1, _DASHED))
        self._draw()

    def _draw(self) -> None:
        backtest, theme = self._backtest, self._theme
        if backtest is None:
            return
        size = f"{SMALL_PX}px"
        self._title.setText(say("Lost, share of the time"), color=theme.text, size=size, bold=True)
        self._below.setText(say("Interval, start of one save to the start of the next"), color=theme.text, size=size)
        x, y = log10(backtest.curve_interval_s), backtest.curve_fraction
        low, high = _range(backtest)
        self._plot.vb.setRange(xRange=(float(x[0]), float(x[-1])), yRange=(low, high), padding=0)
        self._plot.hide_curves()
        self._notes.clear(theme.surface)
        self._plot.curve("replayed", x, np.where(y <= high * 1.5, y, np.nan), pen(theme.accent), z=4)
        self._notes.spare_line(self._plot, x, y)
        self._draw_level(backtest, x)
        self._draw_marks(backtest)
        self._write(backtest, x)
        self._notes.finish()
        self._view.scene().prepareForPaint()
        self._show_cursor(self._column)

    def _draw_level(self, backtest: Backtest, x: FloatArray) -> None:
        """What an interval that follows the log would have lost: no interval of its own, so a level line."""
        level = backtest.adaptive_fraction
        if level is not None:
            ends = np.array([x[0], x[-1]])
            self._plot.curve("adaptive", ends, np.full(2, level), pen(self._theme.muted, 1, _DASHED), z=3)
            self._notes.spare_line(self._plot, ends, np.full(2, level))

    def _draw_marks(self, backtest: Backtest) -> None:
        theme = self._theme
        looks = {
            "young": Mark(theme.accent, "", "circle"), "best": Mark(theme.accent, "", "diamond"),
            "exact": Mark(theme.text, "", "square"), "first_order": Mark(theme.muted, "", "triangle"),
        }  # fmt: skip
        places = _places(backtest)
        for name, mark in self._marks.items():
            mark.setVisible(name in places)
            if name in places:
                mark.show_mark(looks[name], theme.surface, is_filled=name == "young")
                mark.setPos(*places[name])
                self._notes.spare_mark(self._plot, *places[name])
        self._point.show_mark(looks["young"], theme.surface, is_filled=False)
        stem = [height for name, (_, height) in places.items() if name != "best"]
        self._plot.curve("stem", np.full(2, places["young"][0]), np.array([min(stem), max(stem)]), pen(theme.line, 1, _DOTTED))

    def _write(self, backtest: Backtest, x: FloatArray) -> None:
        """Name the marks, then the level; what finds no room stands in the sentence above anyway."""
        places, theme = _places(backtest), self._theme
        colours = {"young": theme.accent, "best": theme.accent, "exact": theme.text, "first_order": theme.muted}
        firsts = {"young": (1.0, 0.0), "best": (0.0, 0.0), "exact": (0.0, 0.5), "first_order": (0.0, 1.0)}
        for name, words in _marked(backtest):
            if name in places:
                self._notes.write(name, self._plot, words, _near(*places[name], firsts[name]), colours[name])
        for name, words in _marked(backtest):
            if name == "adaptive" and backtest.adaptive_fraction is not None:
                level = backtest.adaptive_fraction
                spots = [Spot(end, level, side, above) for end, side in ((x[-1], 1.0), (x[0], 0.0)) for above in (0.0, 1.0)]
                self._notes.write(name, self._plot, words, spots, theme.muted)

    # ------------------------------------------------------------ reading off

    def _show_cursor(self, column: int | None) -> None:
        backtest = self._backtest
        is_shown = column is not None and backtest is not None
        for item in (self._cursor, self._point, self._tag):
            item.setVisible(is_shown)
        if column is None or backtest is None:
            return
        every, lost = float(backtest.curve_interval_s[column]), float(backtest.curve_fraction[column])
        place, box = float(np.log10(every)), self._plot.vb.sceneBoundingRect()
        self._cursor.setValue(place)
        self._point.setPos(place, lost)
        self._point.setVisible(lost <= self._plot.vb.viewRange()[1][1])
        self._tag.show_text(f"{brief(every, SECONDS)} · {percent(lost)}")
        x = float(self._plot.vb.mapViewToScene(QPointF(place, lost)).x())
        self._tag.place(x, box.top() - 21, box.left(), box.right())

    def _read_off(self, column: int | None) -> None:
        """Stand at a column of the curve, or nowhere, and say what is there."""
        self._column = column
        self._show_cursor(column)
        backtest = self._backtest
        if column is None or backtest is None:
            self.cursor_moved.emit("")
            return
        lost = float(backtest.curve_fraction[column])
        self.cursor_moved.emit(
            say(
                "A save every {time} would have lost {lost} of {log}; the best constant interval {best}",
                time=brief(float(backtest.curve_interval_s[column]), SECONDS),
                lost=percent(lost),
                log=backtest.log.name,
                best=percent(backtest.best_fraction),
            )
        )

    def place_of(self, interval_s: float, fraction: float) -> QPointF:
        """Where a point of the plot lies in this widget."""
        scene = self._plot.vb.mapViewToScene(QPointF(float(np.log10(interval_s)), fraction))
        return QPointF(self._view.mapTo(self, self._view.mapFromScene(scene)))

    def _on_mouse_moved(self, scene: QPointF) -> None:
        self._read_off(self._column_at(scene))

    def _on_mouse_clicked(self, event: object) -> None:
        self.setFocus(Qt.FocusReason.MouseFocusReason)

    def _column_at(self, scene: QPointF) -> int | None:
        if self._backtest is None or not self._plot.vb.sceneBoundingRect().contains(scene):
            return None
        place = self._plot.vb.mapSceneToView(scene).x()
        return int(np.argmin(np.abs(log10(self._backtest.curve_interval_s) - place)))

    @override
    def eventFilter(self, watched: object, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Leave:
            self._read_off(None)
        return False

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        backtest, key = self._backtest, Qt.Key(event.key())
        if backtest is None:
            super().keyPressEvent(event)
            return
        young = int(np.argmin(np.abs(backtest.curve_interval_s - backtest.young_interval_s)))
        last, now = backtest.curve_interval_s.size - 1, young if self._column is None else self._column
        steps = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1, Qt.Key.Key_PageDown: -_PAGE, Qt.Key.Key_PageUp: _PAGE}
        if key == Qt.Key.Key_Home:
            self._read_off(young)
        elif key == Qt.Key.Key_End:
            self._read_off(int(np.argmin(np.abs(backtest.curve_interval_s - backtest.best_interval_s))))
        elif key == Qt.Key.Key_Escape and self._column is not None:
            self._read_off(None)
        elif key in steps:
            self._read_off(min(max(now + steps[key], 0), last))
        else:
            super().keyPressEvent(event)

    @override
    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self._read_off(None)

    @override
    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._draw()

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._draw()


def _range(backtest: Backtest) -> tuple[float, float]:
    """From just below the least to just above the marks, and some of the way up the curve: what differs is seen."""
    heights = [height for _, height in _places(backtest).values()]
    if backtest.adaptive_fraction is not None:
        heights.append(backtest.adaptive_fraction)
    low, high = min(heights), max(heights)
    high = max(high + _ABOVE * (high - low), min(backtest.best_fraction * _MOST, 1.0), low + 1e-6)
    return low - _BELOW * (high - low), high


def _places(backtest: Backtest) -> dict[str, tuple[float, float]]:
    """Where the marks stand, in log positions: the predictions at Young's interval, which they were made for."""
    young, best = float(np.log10(backtest.young_interval_s)), float(np.log10(backtest.best_interval_s))
    found = {"young": (young, backtest.young_fraction), "exact": (young, backtest.exact_fraction)}
    if backtest.first_order_fraction is not None:
        found["first_order"] = (young, backtest.first_order_fraction)
    if not is_young_best(backtest):
        found["best"] = (best, backtest.best_fraction)
    return found


def is_young_best(backtest: Backtest) -> bool:
    """Whether no constant interval would have lost less than Young's."""
    return backtest.best_fraction >= backtest.young_fraction


def _marked(backtest: Backtest) -> list[tuple[str, str]]:
    """What stands beside each mark, those first whose place matters most."""
    every = brief(backtest.young_interval_s, SECONDS)
    young = (
        say("Young's interval, the best too, {time}: {lost}", time=every, lost=percent(backtest.young_fraction))
        if is_young_best(backtest)
        else say("Young's interval, {time}: {lost}", time=every, lost=percent(backtest.young_fraction))
    )
    best = say(
        "best in hindsight, {time}: {lost}",
        time=brief(backtest.best_interval_s, SECONDS), lost=percent(backtest.best_fraction),
    )  # fmt: skip
    found = [("young", young), ("exact", say("exact formula: {lost}", lost=percent(backtest.exact_fraction)))]
    if backtest.first_order_fraction is not None:
        found.append(("first_order", say("first order: {lost}", lost=percent(backtest.first_order_fraction))))
    if not is_young_best(backtest):
        found.append(("best", best))
    if backtest.adaptive_fraction is not None:
        found.append(("adaptive", say("set anew from the last 20 gaps: {lost}", lost=percent(backtest.adaptive_fraction))))
    return found


def _near(x: float, y: float, first: tuple[float, float]) -> tuple[Spot, ...]:
    """Spots beside a mark, then a line further down and up on both sides."""
    far = [Spot(x, y, side, above) for above in (-1.0, 2.0, -2.0, 3.0) for side in (0.0, 1.0)]
    return (*around(x, y, first), *far)
