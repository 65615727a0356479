"""Storage dollars a month against waste: every plan that none beats in both a dot, the winner, the scenarios.

Left and low is better. The dots are joined by steps: between two of them no plan is known to be better than the left one.
The arrows go along the dots, Enter takes one, and so does a double click.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QEvent, QObject, QPointF, Qt, QTimer, Signal
from PySide6.QtGui import QColor, QFocusEvent, QKeyEvent, QMouseEvent, QResizeEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget
from typing_extensions import override

from ckptplanner.frozen import FloatArray
from ckptplanner.ui.plots.handle import MarkItem
from ckptplanner.ui.plots.notes import Notes, Spot, around
from ckptplanner.ui.plots.plot import Plot, ValueAxis, log10, money_text, one_two_five, pen, percent_text
from ckptplanner.ui.theme import LIGHT, SMALL_PX, Mark, Theme
from ckptplanner.ui.words import say

_NEAR_PX = 28.0  # from the pointer to a dot that it means
_ROOM = 0.05  # on each side, as a share of the range
_LEAST_DECADES = 0.3


@dataclass(frozen=True, slots=True)
class Dot:
    """One plan of the frontier: its key, its words line by line."""

    key: str
    usd_per_month: float
    waste_fraction: float
    lines: tuple[str, ...]

    @property
    def words(self) -> str:
        """All in one line."""
        return ", ".join(self.lines)


@dataclass(frozen=True, slots=True)
class Reference:
    """A scenario: its name, its mark."""

    name: str
    index: int
    usd_per_month: float
    waste_fraction: float
    words: str
    is_current: bool
    is_same_job: bool = True


class FrontierPlot(QWidget):
    """Draws the frontier and says which plan the pointer or the keys mean."""

    chosen = Signal(str)
    taken = Signal(str, bool)  # key, and whether as a new scenario
    cursor_moved = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("frontier_plot")
        self.setAccessibleName(say("Storage dollars against waste"))
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self._theme = LIGHT
        self.dots: tuple[Dot, ...] = ()
        self.references: tuple[Reference, ...] = ()
        self._best, self._chosen, self._hovered = "", "", ""
        self._view = pg.GraphicsLayoutWidget()
        self._view.setFrameStyle(0)
        self._view.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self._view)
        self._plot = Plot(ValueAxis("left", percent_text), ValueAxis("bottom", money_text))
        self._title, self._below = pg.LabelItem(justify="left"), pg.LabelItem(justify="center")
        for row, item in enumerate((self._title, self._plot, self._below)):
            self._view.addItem(item, row=row, col=0)
        grid = self._view.ci.layout
        grid.setContentsMargins(8, 2, 16, 2)
        grid.setVerticalSpacing(0)
        grid.setRowFixedHeight(0, 24)
        grid.setRowFixedHeight(2, 20)
        self._points = pg.ScatterPlotItem(size=6, pxMode=True, antialias=True)
        self._points.setZValue(5)
        self._ring = pg.ScatterPlotItem(size=14, pxMode=True, antialias=True, brush=None)
        self._ring.setZValue(13)
        self._winner = MarkItem()
        for item in (self._points, self._ring, self._winner):
            self._plot.addItem(item, ignoreBounds=True)
        self._marks: list[MarkItem] = []
        self._notes = Notes()
        self._later = QTimer(self)  # the box of the plot follows a new size late
        self._later.setSingleShot(True)
        self._later.setInterval(0)
        self._later.timeout.connect(self._draw)
        self._view.viewport().setMouseTracking(True)
        self._view.viewport().installEventFilter(self)

    # ------------------------------------------------------------ what is shown

    def show_plans(self, dots: Sequence[Dot], best: str, chosen: str, references: Sequence[Reference]) -> None:
        """Show the frontier, cheapest first, with the winner, the chosen plan and the scenarios."""
        self.dots, self._best, self._chosen = tuple(dots), best, chosen
        self.references = tuple(one for one in references if one.usd_per_month > 0.0 and one.waste_fraction > 0.0)
        self._hovered = self._hovered if any(dot.key == self._hovered for dot in dots) else ""
        self._draw()

    def show_theme(self, theme: Theme) -> None:
        """Take the colours of a theme."""
        self._theme = theme
        self._view.setBackground(theme.surface)
        self._plot.show_theme(theme)
        self._draw()

    def _dot(self, key: str) -> Dot | None:
        return next((dot for dot in self.dots if dot.key == key), None)

    def place_of(self, dot: Dot | Reference) -> QPointF:
        """Where a plan lies in the widget. [px]"""
        scene = self._plot.vb.mapViewToScene(QPointF(*_place(dot)))
        return QPointF(self._view.mapTo(self, self._view.mapFromScene(scene)))

    def _draw(self) -> None:
        theme, dots = self._theme, self.dots
        size = f"{SMALL_PX}px"
        self._title.setText(say("Waste, share of training time"), color=theme.text, size=size, bold=True)
        self._below.setText(say("Storage, $ a month: left and low is better"), color=theme.text, size=size)
        self._notes.clear(theme.surface)
        self._plot.hide_curves()
        every: list[Dot | Reference] = [*dots, *self.references]
        if every:
            self._fit(np.array([_place(one) for one in every]))
        self._draw_dots()
        self._draw_marks()
        self._draw_notes()
        self._notes.finish()
        self._say()

    def _fit(self, places: FloatArray) -> None:
        (left, low), (right, high) = places.min(axis=0), places.max(axis=0)
        across, up = max(right - left, _LEAST_DECADES), max(high - low, _LEAST_DECADES)
        self._plot.vb.setRange(
            xRange=(left - _ROOM * across, right + _ROOM * across), yRange=(low - 2 * _ROOM * up, high + 2 * _ROOM * up),
            padding=0,
        )  # fmt: skip
        (left, right), (low, high) = self._plot.vb.viewRange()
        heights, across_ = one_two_five(10.0**low, 10.0**high), one_two_five(10.0**left, 10.0**right)
        whole = [place for place in np.log10(across_) if abs(place - round(place)) < 1e-9]
        self._plot.show_grid_lines(np.log10(heights).tolist(), whole)

    def _draw_dots(self) -> None:
        dots, theme = self.dots, self._theme
        self._points.setVisible(bool(dots))
        self._ring.setVisible(self._dot(self._chosen) is not None)
        if not dots:
            return
        x, y = log10(np.array([dot.usd_per_month for dot in dots])), log10(np.array([dot.waste_fraction for dot in dots]))
        left, right = np.repeat(x, 2)[1:], np.repeat(y, 2)[:-1]
        self._plot.curve("frontier", left, right, pen(theme.line), z=2)
        self._notes.spare_line(self._plot, left, right)
        brushes = [QColor(theme.accent if dot.key == self._hovered else theme.use_low) for dot in dots]
        self._points.setData(x, y, brush=brushes, pen=None, size=6 if len(dots) > 60 else 7)
        chosen = self._dot(self._chosen)
        if chosen is not None:
            place = _place(chosen)
            self._ring.setData([place[0]], [place[1]], pen=pen(theme.accent, 2.5 if self.hasFocus() else 1.5), brush=None)

    def _draw_marks(self) -> None:
        theme = self._theme
        best = self._dot(self._best)
        self._winner.setVisible(best is not None)
        if best is not None:
            self._winner.show_mark(Mark(theme.accent, "", "diamond"), theme.surface, is_filled=True)
            self._winner.setPos(*_place(best))
        while len(self._marks) < len(self.references):
            made = MarkItem()
            self._marks.append(made)
            self._plot.addItem(made, ignoreBounds=True)
        for item, one in zip(self._marks, self.references, strict=False):
            item.show_mark(theme.mark(one.index), theme.surface, is_filled=one.is_current)
            item.setPos(*_place(one))
            item.setVisible(True)
            item.setOpacity(1.0 if one.is_same_job else 0.45)
        for item in self._marks[len(self.references) :]:
            item.setVisible(False)

    def _draw_notes(self) -> None:
        theme, notes, plot = self._theme, self._notes, self._plot
        best, hovered, chosen = self._dot(self._best), self._dot(self._hovered), self._dot(self._chosen)
        every: list[Dot | Reference] = [*self.references, *(one for one in (best, chosen) if one is not None)]
        for one in every:
            notes.spare_mark(plot, *_place(one))
        if hovered is not None:
            x, y = _place(hovered)
            (left, right), (low, high) = plot.vb.viewRange()
            side = 0.0 if x < (left + right) / 2 else 1.0
            spots = [
                *around(x, y, (side, 1.0)),
                Spot((left + right) / 2, high, 0.5, 0.0),
                Spot((left + right) / 2, low, 0.5, 1.0),
            ]
            notes.write("hovered", plot, "\n".join(hovered.lines), spots, theme.text, covers=True)
        if best is not None:
            notes.write("best", plot, say("best plan"), around(*_place(best), (0.0, 0.0)), theme.accent)
        for mark in sorted(self.references, key=lambda other: not other.is_current):
            colour = theme.mark(mark.index).colour if mark.is_same_job else theme.muted
            notes.write(f"mark{mark.index}", plot, mark.name, around(*_place(mark)), colour)

    def _say(self) -> None:
        chosen = self._dot(self._chosen)
        count = say("{count} plans that none beats in both", count=len(self.dots))
        self.setAccessibleDescription(
            count if chosen is None else say("{count}; chosen: {plan}", count=count, plan=chosen.words)
        )

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._later.start()

    def rest(self) -> None:
        """Draw nothing any more: the page is not seen."""
        self._later.stop()

    # ------------------------------------------------------------ hands

    def _meant(self, place: QPointF) -> Dot | Reference | None:
        """The plan nearest to a place in the widget, if it is near. [px]"""
        every: list[Dot | Reference] = [*self.references, *self.dots]
        apart = [(self.place_of(one) - place).manhattanLength() for one in every]
        at = int(np.argmin(apart)) if apart else -1
        return every[at] if apart and apart[at] <= _NEAR_PX else None

    @override
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        kind = event.type()
        if kind == QEvent.Type.Leave:
            self._hover(None)
        elif isinstance(event, QMouseEvent) and isinstance(watched, QWidget):
            one = self._meant(QPointF(watched.mapTo(self, event.position().toPoint())))
            if kind == QEvent.Type.MouseMove:
                self._hover(one)
            elif event.button() == Qt.MouseButton.LeftButton and kind == QEvent.Type.MouseButtonPress:
                self.setFocus(Qt.FocusReason.MouseFocusReason)
                if isinstance(one, Dot):
                    self.chosen.emit(one.key)
                return True
            elif event.button() == Qt.MouseButton.LeftButton and kind == QEvent.Type.MouseButtonDblClick:
                if isinstance(one, Dot):
                    self.taken.emit(one.key, False)
                return True
        return False

    def _hover(self, one: Dot | Reference | None) -> None:
        self.cursor_moved.emit(one.words if one is not None else "")
        self._view.viewport().setCursor(
            Qt.CursorShape.PointingHandCursor if isinstance(one, Dot) else Qt.CursorShape.ArrowCursor
        )
        key = one.key if isinstance(one, Dot) else ""
        if key != self._hovered:
            self._hovered = key
            self._draw()

    @override
    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self._draw_dots()

    @override
    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self._draw_dots()

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        key, keys = event.key(), [dot.key for dot in self.dots]
        at = keys.index(self._chosen) if self._chosen in keys else 0
        moves = {
            Qt.Key.Key_Left: at - 1, Qt.Key.Key_Up: at - 1, Qt.Key.Key_Right: at + 1, Qt.Key.Key_Down: at + 1,
            Qt.Key.Key_Home: 0, Qt.Key.Key_End: len(keys) - 1,
        }  # fmt: skip
        if keys and Qt.Key(key) in moves:
            self.chosen.emit(keys[min(max(moves[Qt.Key(key)], 0), len(keys) - 1)])
        elif keys and key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.taken.emit(keys[at], bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier))
        elif key == Qt.Key.Key_Escape and self._best in keys:
            self.chosen.emit(self._best)
        else:
            super().keyPressEvent(event)


def _place(one: Dot | Reference) -> tuple[float, float]:
    """Log positions."""
    return float(np.log10(one.usd_per_month)), float(np.log10(one.waste_fraction))
