"""A widget with one plot and its title above: the frame that plots of one curve or one cloud stand in."""

from __future__ import annotations

import pyqtgraph as pg
from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QResizeEvent, QShowEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget
from typing_extensions import override

from ckptplanner.ui.plots.plot import Plot
from ckptplanner.ui.theme import LIGHT, Theme


class TitledPlot(QWidget):
    """Subclasses hand over their plot, draw it in `_draw`, and say in `_on_left` what goes when the pointer leaves it."""

    cursor_moved = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = LIGHT
        self._view = pg.GraphicsLayoutWidget()
        self._view.setFrameStyle(0)
        self._view.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._title = pg.LabelItem(justify="left")
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self._view)

    def _place(self, plot: Plot, margins: tuple[int, int, int, int], title_px: int) -> None:
        """Put the plot under its title and listen to the pointer."""
        self._plot = plot
        for row, item in enumerate((self._title, plot)):
            self._view.addItem(item, row=row, col=0)
        grid = self._view.ci.layout
        grid.setContentsMargins(*margins)
        grid.setVerticalSpacing(0)
        grid.setRowFixedHeight(0, title_px)
        self._view.viewport().installEventFilter(self)

    def _draw(self) -> None:
        """Draw what there is; called whenever the size or the theme changes."""
        raise NotImplementedError

    def _on_left(self) -> None:
        """The pointer has left the plot."""
        self.cursor_moved.emit("")

    def show_theme(self, theme: Theme) -> None:
        """Take the colours of a theme."""
        self._theme = theme
        self._view.setBackground(theme.surface)
        self._plot.show_theme(theme)
        self._draw()

    @override
    def eventFilter(self, watched: object, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Leave:
            self._on_left()
        return False

    @override
    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._draw()

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._draw()
