"""The gaps of a log on its own time: each interruption a dot, as high as the gap before it was long; the mean of the last 20.

Bursts are columns of low dots, a trend is a line that leaves the level of the mean.
"""

from __future__ import annotations

import numpy as np
import pyqtgraph as pg
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QVBoxLayout, QWidget

from ckptplanner.engine.backtests import LAST_GAPS, Log
from ckptplanner.engine.replay import past_mean_s
from ckptplanner.ui.plots.plot import Plot, ValueAxis, log10, pen, time_text
from ckptplanner.ui.theme import LIGHT, SMALL_PX, Theme
from ckptplanner.ui.words import say
from ckptplanner.units import DAY, HOUR, MINUTE, SECONDS, rough, significant

_TIMES = (1e-3, 1.0, MINUTE, HOUR, DAY, 10 * DAY, 100 * DAY, 1000 * DAY, 1e9, 1e10, 1e11)
_MOST_DOTS = 8_000  # more cannot be told apart, and each is drawn
_ROOM = 0.12  # above and below the dots, as a share of their log range
_FEW = 100  # up to so many the dots are larger
_FAINT = 110  # of 255, so that many dots in one place are darker than one


class GapsPlot(QWidget):
    """Draws the gaps of one log."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("gaps_plot")
        self.setAccessibleName(say("Gaps between interruptions"))
        self._theme = LIGHT
        self._log: Log | None = None
        self._unit_s = DAY
        self._view = pg.GraphicsLayoutWidget()
        self._view.setFrameStyle(0)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self._view)
        bottom = ValueAxis("bottom", self._since_text, is_log=False)
        self._plot = Plot(ValueAxis("left", time_text, is_time=True, times=_TIMES), bottom)
        self._title = pg.LabelItem(justify="left")
        for row, item in enumerate((self._title, self._plot)):
            self._view.addItem(item, row=row, col=0)
        grid = self._view.ci.layout
        grid.setContentsMargins(8, 0, 16, 0)
        grid.setVerticalSpacing(0)
        grid.setRowFixedHeight(0, 20)
        self._dots = pg.ScatterPlotItem(size=3, pen=None, pxMode=True, antialias=True)
        self._dots.setZValue(1)
        self._plot.addItem(self._dots)

    def show_log(self, log: Log) -> None:
        """Draw it."""
        if log is not self._log:
            self._log = log
            self._draw()

    def show_theme(self, theme: Theme) -> None:
        """Take the colours of a theme."""
        self._theme = theme
        self._view.setBackground(theme.surface)
        self._plot.show_theme(theme)
        self._draw()

    def _since_text(self, count: float) -> str:
        """A tick of the log's own time."""
        return f"{significant(count, 4)}\u00a0{'d' if self._unit_s == DAY else 'h'}"

    def _draw(self) -> None:
        log, theme = self._log, self._theme
        if log is None:
            return
        gaps = np.array(log.gaps_s)
        since = np.cumsum(gaps)
        span = float(since[-1])
        self._unit_s = DAY if span >= 3 * DAY else HOUR
        x, y = since / self._unit_s, log10(gaps)
        title = say("Gaps between {count} interruptions, and the mean of the last {last}", count=f"{gaps.size + 1:,}",
                    last=LAST_GAPS)  # fmt: skip
        self._title.setText(title, color=theme.text, size=f"{SMALL_PX}px", bold=True)
        shown = slice(None, None, max(-(-gaps.size // _MOST_DOTS), 1))
        ink = QColor(theme.use_low)
        ink.setAlpha(_FAINT if gaps.size > _FEW else 255)
        self._dots.setData(x[shown], y[shown], brush=ink, size=3 if gaps.size > _FEW else 5)
        self._plot.hide_curves()
        self._plot.curve("mean", np.array([0.0, x[-1]]), np.full(2, np.log10(gaps.mean())), pen(theme.line), z=0)
        self._plot.curve("last", x[:-1], log10(past_mean_s(gaps, LAST_GAPS)), pen(theme.text), z=3)
        low, high = float(y.min()), float(y.max())
        room = _ROOM * max(high - low, 0.5)
        self._plot.vb.setRange(xRange=(0.0, 1.005 * float(x[-1])), yRange=(low - room, high + room), padding=0)
        self.setAccessibleDescription(
            say(
                "from {shortest} to {longest}, mean {mean}, over {span}",
                shortest=rough(float(gaps.min()), SECONDS), longest=rough(float(gaps.max()), SECONDS),
                mean=rough(float(gaps.mean()), SECONDS), span=rough(span, SECONDS),
            )
        )  # fmt: skip
