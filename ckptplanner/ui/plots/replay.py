"""A log replayed: what each interval would have lost, what was predicted, and what the last gaps alone would have done."""

from __future__ import annotations

import numpy as np
import pyqtgraph as pg
import shiboken6
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QColor, QFocusEvent, QKeyEvent
from PySide6.QtWidgets import QGraphicsSimpleTextItem, QWidget
from typing_extensions import override

from ckptplanner.engine.backtests import Backtest
from ckptplanner.ui.plots.handle import MarkItem, Tag
from ckptplanner.ui.plots.notes import Notes, Spot, around
from ckptplanner.ui.plots.plot import EndLabels, Plot, ValueAxis, log10, pen, time_text
from ckptplanner.ui.plots.titled import TitledPlot
from ckptplanner.ui.theme import SMALL_PX, Mark, Theme, font
from ckptplanner.ui.words import say
from ckptplanner.units import FRACTION, SECONDS, brief, percent

_MOST = 1.3  # how far the curve is followed above its least
_BELOW, _ABOVE = 0.16, 0.1  # room below the least and above the highest mark, as a share of what is shown
_ENDS_WIDTH = 152
_NARROW = 440.0  # less wide than this the marks are named without what they lose [px]
_DASHED, _DOTTED = Qt.PenStyle.DashLine, Qt.PenStyle.DotLine
_PAGE = 10  # columns of the curve that Page Up and Page Down go


class ReplayPlot(TitledPlot):
    """Draws one Backtest; the pointer, or the arrow keys, read off what an interval would have lost."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("replay_plot")
        self.setAccessibleName(say("Lost share over the interval"))
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self._backtest: Backtest | None = None
        self._column: int | None = None  # where the line stands that is read off
        self._build()
        self._view.scene().sigMouseMoved.connect(self._on_mouse_moved)
        self._view.scene().sigMouseClicked.connect(self._on_mouse_clicked)
        self._plot.vb.sigResized.connect(self._draw)

    def _build(self) -> None:
        bottom, self._ends = ValueAxis("bottom", time_text, is_time=True), EndLabels(_ENDS_WIDTH)
        left = ValueAxis("left", lambda share: brief(share, FRACTION), is_log=False)
        self._place(Plot(left, bottom, self._ends), (8, 2, 4, 2), 22)
        self._marks = {name: MarkItem() for name in ("young", "best", "exact", "first_order")}
        self._point = MarkItem()
        for mark in (*self._marks.values(), self._point):
            self._plot.addItem(mark, ignoreBounds=True)
        self._cursor = pg.InfiniteLine(angle=90, movable=False)
        self._cursor.setZValue(8)
        self._plot.addItem(self._cursor, ignoreBounds=True)
        self._tag = Tag(is_ghost=True)
        self._tag.setParentItem(self._view.ci)
        self._below = QGraphicsSimpleTextItem(self._view.ci)
        self._below.setFont(font(SMALL_PX))
        self._notes = Notes()
        self._show_cursor(None)

    # ------------------------------------------------------------ what is shown

    def show_backtest(self, backtest: Backtest) -> None:
        """Draw it."""
        if self._backtest is None or self._backtest.curve_interval_s is not backtest.curve_interval_s:
            self._column = None
        self._backtest = backtest
        self.setAccessibleDescription("; ".join(_words(backtest).values()))
        self._draw()

    @override
    def show_theme(self, theme: Theme) -> None:
        self._tag.show_theme(theme)
        self._cursor.setPen(pen(theme.edge, 1, _DASHED))
        super().show_theme(theme)

    @override
    def _draw(self) -> None:
        backtest, theme = self._backtest, self._theme
        if backtest is None:
            return
        self._title.setText(say("Share of the time lost"), color=theme.text, size=f"{SMALL_PX}px", bold=True)
        x, y = log10(backtest.curve_interval_s), backtest.curve_fraction
        low, high = _range(backtest)
        self._plot.vb.setRange(xRange=(float(x[0]), float(x[-1])), yRange=(low, high), padding=0)
        self._plot.hide_curves()
        self._notes.clear(theme.surface)
        self._plot.curve("replayed", x, np.where(y <= high * 1.5, y, np.nan), pen(theme.accent), z=4)
        self._notes.spare_line(self._plot, x, y)
        self._draw_marks(backtest, float(x[-1]))
        self._write(backtest)
        self._notes.finish()
        self._view.scene().prepareForPaint()
        self._below.setText(say("interval between saves"))
        self._below.setBrush(QColor(theme.muted))
        box = self._plot.vb.sceneBoundingRect()
        self._below.setPos(box.right() + 8, box.bottom() + 3)
        self._show_cursor(self._column)

    def _draw_marks(self, backtest: Backtest, right: float) -> None:
        """The two intervals on the curve; the levels that were predicted for Young's; the level of one that follows the log."""
        theme, places = self._theme, _places(backtest)
        looks = {
            "young": Mark(theme.accent, "", "circle"), "best": Mark(theme.accent, "", "diamond"),
            "exact": Mark(theme.text, "", "square"), "first_order": Mark(theme.muted, "", "triangle"),
        }  # fmt: skip
        for name, mark in self._marks.items():
            mark.setVisible(name in places)
            if name in places:
                mark.show_mark(looks[name], theme.surface, is_filled=name == "young")
                mark.setPos(*places[name])
                self._notes.spare_mark(self._plot, *places[name])
        self._point.show_mark(looks["young"], theme.surface, is_filled=False)
        young, lost = places["young"]
        predicted = {name: places[name][1] for name in ("exact", "first_order") if name in places}
        for name, level in predicted.items():
            self._plot.curve(name, np.array([young, right]), np.full(2, level), pen(looks[name].colour, 1, _DOTTED), z=3)
        heights = [lost, *predicted.values()]
        self._plot.curve("stem", np.full(2, young), np.array([min(heights), max(heights)]), pen(theme.line, 1, _DOTTED), z=1)
        if backtest.adaptive_fraction is not None:
            across = np.array(self._plot.vb.viewRange()[0])
            self._plot.curve("adaptive", across, np.full(2, backtest.adaptive_fraction), pen(theme.muted, 1, _DASHED), z=1)
        self._ends.show_ends(_ends(backtest), "")

    def _write(self, backtest: Backtest) -> None:
        """Name the two marks, to the side that is free of the other."""
        places, words = _places(backtest), _words(backtest)
        if self._plot.vb.width() < _NARROW:
            words |= _short_words(backtest)
        side = 0.0 if "best" in places and places["best"][0] < places["young"][0] else 1.0
        for name, left in (("young", side), ("best", 1.0 - side)):
            if name in places:
                x, y = places[name]
                spots = [Spot(x, y, left, above) for above in (0.0, -0.5, -1.0)] + list(around(x, y))
                self._notes.write(name, self._plot, words[name], spots, self._theme.accent, covers=True)

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
    def _on_left(self) -> None:
        self._read_off(None)

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
        if self._column is not None and shiboken6.isValid(self._cursor):  # the focus also goes while all of it is taken down
            self._read_off(None)


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


def _words(backtest: Backtest) -> dict[str, str]:
    """What is said of every mark and level."""
    values = {"time": brief(backtest.young_interval_s, SECONDS), "lost": percent(backtest.young_fraction)}
    if backtest.is_young_raised:
        young = say("least possible interval, {time}: {lost}", **values)
    elif is_young_best(backtest):
        young = say("Young's interval, the best too, {time}: {lost}", **values)
    else:
        young = say("Young's interval, {time}: {lost}", **values)
    best = say(
        "best in hindsight, {time}: {lost}",
        time=brief(backtest.best_interval_s, SECONDS), lost=percent(backtest.best_fraction),
    )  # fmt: skip
    found = {"young": young} if is_young_best(backtest) else {"young": young, "best": best}
    found["exact"] = say("exact formula {lost}", lost=percent(backtest.exact_fraction))
    if backtest.first_order_fraction is not None:
        found["first_order"] = say("first order {lost}", lost=percent(backtest.first_order_fraction))
    if backtest.adaptive_fraction is not None:
        found["adaptive"] = say("from last 20 gaps {lost}", lost=percent(backtest.adaptive_fraction))
    return found


def _short_words(backtest: Backtest) -> dict[str, str]:
    """The names of the two marks where there is little room."""
    young, best = (brief(every, SECONDS) for every in (backtest.young_interval_s, backtest.best_interval_s))
    named = say("least, {time}", time=young) if backtest.is_young_raised else say("Young's, {time}", time=young)
    return {"young": named, "best": say("best, {time}", time=best)}


def _ends(backtest: Backtest) -> list[tuple[str, float]]:
    """The levels that are named at their right end."""
    words = _words(backtest)
    levels = {
        "exact": backtest.exact_fraction, "first_order": backtest.first_order_fraction,
        "adaptive": backtest.adaptive_fraction,
    }  # fmt: skip
    return [(words[name], level) for name, level in levels.items() if level is not None]
