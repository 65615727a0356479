"""The gaps of one's own record: how many were longer than a time, with the laws that were fitted to them.

Gaps that were cut off are counted as Kaplan and Meier do: each of them is a tick on the steps.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyqtgraph as pg
from PySide6.QtCore import QPointF, Qt
from PySide6.QtWidgets import QWidget
from typing_extensions import override

from ckptplanner.engine.evidence import FailureRecord
from ckptplanner.frozen import BoolArray, FloatArray
from ckptplanner.ui.plots.notes import Notes, Spot
from ckptplanner.ui.plots.plot import Plot, ValueAxis, log10, pen, percent_text, time_text
from ckptplanner.ui.plots.titled import TitledPlot
from ckptplanner.ui.theme import SMALL_PX, Theme
from ckptplanner.ui.words import say
from ckptplanner.units import FRACTION, SECONDS, brief, significant

_MOST = 1_500  # more steps cannot be told apart
_MOST_TICKS = 400
_LEAST_DECADES = 1.0
_TIMES = (
    1.0, 10.0, 60.0, 600.0, 3600.0, 6 * 3600.0, 86400.0, 5 * 86400.0, 20 * 86400.0, 100 * 86400.0, 365 * 86400.0,
    1000 * 86400.0, 1e9,
)  # fmt: skip
_SPOTS = (0.72, 0.5, 0.34, 0.85, 0.2, 0.93, 0.1)  # shares at which a curve may be named


def survival(gaps_s: FloatArray, is_open: BoolArray) -> tuple[FloatArray, FloatArray]:
    """Return the times of steps and the share of gaps that are longer, by Kaplan and Meier. [s], [1]

    Args:
        gaps_s: Gaps. [s], (n,)
        is_open: Which of them were cut off. (n,)

    Source: E. L. Kaplan, P. Meier, "Nonparametric estimation from incomplete observations", JASA 53, 1958.
    """
    order = np.lexsort((is_open, gaps_s))  # at the same time an end comes before a cut
    times, ends = gaps_s[order], ~is_open[order]
    at_risk = times.size - np.arange(times.size)
    share = np.cumprod(np.where(ends, 1.0 - 1.0 / at_risk, 1.0))
    return times, np.asarray(share, dtype=float)


def _thinned(count: int, most: int) -> npt.NDArray[np.intp]:
    return np.unique(np.linspace(0, count - 1, min(count, most)).astype(np.intp))


class GapsLawPlot(TitledPlot):
    """Draws the gaps of a record; the pointer reads off the share of longer ones."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("evidence.gaps_law")
        self.setAccessibleName(say("Gaps between interruptions and the fitted law"))
        self.setMinimumSize(200, 96)
        self._record: FailureRecord | None = None
        self._steps: tuple[FloatArray, FloatArray] = (np.zeros(0), np.zeros(0))
        self._cuts: FloatArray = np.zeros(0)
        bottom = ValueAxis("bottom", time_text, is_time=True, times=_TIMES)
        self._place(Plot(ValueAxis("left", percent_text, is_log=False), bottom), (8, 0, 12, 0), 20)
        self._ticks = pg.ScatterPlotItem(size=7, pxMode=True, antialias=True, symbol="|")
        self._ticks.setZValue(6)
        self._plot.addItem(self._ticks, ignoreBounds=True)
        self._cursor = pg.InfiniteLine(angle=90, movable=False)
        self._cursor.setZValue(8)
        self._cursor.setVisible(False)
        self._plot.addItem(self._cursor, ignoreBounds=True)
        self._notes = Notes()
        self._view.scene().sigMouseMoved.connect(self._on_mouse_moved)
        self._plot.vb.sigResized.connect(self._draw)

    # ------------------------------------------------------------ what is shown

    def show_record(self, record: FailureRecord) -> None:
        """Draw its gaps."""
        self._record = record
        gaps, is_open = np.asarray(record.gaps_s, dtype=float), np.asarray(record.is_open, dtype=bool)
        good = np.isfinite(gaps) & (gaps > 0.0)
        has_ends = bool((good & ~is_open).any())
        self._steps = survival(gaps[good], is_open[good]) if has_ends else (np.zeros(0), np.zeros(0))
        self._cuts = np.sort(gaps[good & is_open])
        self.setAccessibleDescription("; ".join([self._heading(), *self._law_words().values()]))
        self._draw()

    @override
    def show_theme(self, theme: Theme) -> None:
        self._cursor.setPen(pen(theme.edge, 1, Qt.PenStyle.DashLine))
        super().show_theme(theme)

    def _heading(self) -> str:
        times, _ = self._steps
        if not times.size:
            return say("No gap between interruptions yet")
        if times.size == 1:
            return say("Share of gaps that were longer: there is 1")
        open_count = self._cuts.size
        if open_count:
            return say("Share of {count} gaps that were longer; {open} ended without an interruption",
                       count=f"{times.size:,}", open=f"{open_count:,}")  # fmt: skip
        return say("Share of {count} gaps that were longer", count=f"{times.size:,}")

    def _law_words(self) -> dict[str, str]:
        """The laws that are drawn, each with its name."""
        record, found = self._record, {}
        if record is None or not self._steps[0].size or not np.isfinite(record.mtbi_s):
            return {}
        shape = record.shape
        found["memoryless"] = say("memoryless, one every {time}", time=brief(record.mtbi_s, SECONDS))
        if shape is not None and shape.can_tell:
            found["weibull"] = say("Weibull, shape {shape} ({low} to {high})", shape=significant(shape.shape, 2),
                                   low=significant(shape.low, 2), high=significant(shape.high, 2))  # fmt: skip
        return found

    def _longer(self, name: str, seconds: FloatArray) -> FloatArray:
        """What share of gaps a law makes longer than these times."""
        record = self._record
        if record is None or (name == "weibull" and record.shape is None):
            return np.full(seconds.shape, np.nan)
        if name == "weibull" and record.shape is not None:
            return np.asarray(np.exp(-((seconds / record.shape.scale_s) ** record.shape.shape)))
        return np.asarray(np.exp(-seconds / record.mtbi_s))

    @override
    def _draw(self) -> None:
        theme, (times, share) = self._theme, self._steps
        self._title.setText(self._heading(), color=theme.text, size=f"{SMALL_PX}px", bold=True)
        self._plot.hide_curves()
        self._notes.clear(theme.surface)
        self._ticks.setVisible(bool(times.size))
        if times.size:
            self._fit(times)
            self._draw_steps(times, share)
            self._draw_laws()
        self._notes.finish()

    def _fit(self, times: FloatArray) -> None:
        low, high = (float(np.log10(edge)) for edge in (np.quantile(times, 0.01), times[-1]))
        middle, half = (low + high) / 2, max((high - low) / 2 * 1.04, _LEAST_DECADES / 2)
        self._plot.vb.setRange(xRange=(middle - half, middle + half), yRange=(0.0, 1.05), padding=0)
        self._plot.show_grid_lines((0.25, 0.5, 0.75, 1.0), ())

    def _draw_steps(self, times: FloatArray, share: FloatArray) -> None:
        kept = _thinned(times.size, _MOST)
        x, y = log10(times[kept]), share[kept]
        left = self._plot.vb.viewRange()[0][0]
        across = np.repeat(np.concatenate(([min(left, x[0])], x)), 2)[1:]
        down = np.repeat(np.concatenate(([1.0], y)), 2)[:-1]
        self._plot.curve("steps", across, down, pen(self._theme.text), z=4)
        self._notes.spare_line(self._plot, across, down)
        cuts = self._cuts[_thinned(self._cuts.size, _MOST_TICKS)] if self._cuts.size else self._cuts
        heights = share[np.searchsorted(times, cuts, side="right") - 1] if cuts.size else cuts
        self._ticks.setData(log10(cuts), heights, pen=pen(self._theme.text), brush=None)

    def _draw_laws(self) -> None:
        theme, words = self._theme, self._law_words()
        low, high = self._plot.vb.viewRange()[0]
        x = np.linspace(low, high, 200)
        looks = {"memoryless": (theme.accent, Qt.PenStyle.SolidLine), "weibull": (theme.use_high, Qt.PenStyle.DashLine)}
        curves = {name: self._longer(name, 10.0**x) for name in words}
        for name, y in curves.items():
            self._plot.curve(name, x, y, pen(looks[name][0], 1, looks[name][1]), z=5)
            self._notes.spare_line(self._plot, x, y)
        times, share = self._steps
        drops = log10(times)
        for name in curves:  # to the right of all curves the one, to their left the other
            left = 0.0 if name == "memoryless" else 1.0
            spots = []
            for level in _SPOTS:
                crossed = [float(x[int(np.argmin(np.abs(y - level)))]) for y in curves.values()]
                crossed.append(float(drops[int(np.argmax(share < level))] if share[-1] < level else drops[-1]))
                at = max(crossed) if left == 0.0 else min(crossed)
                spots += [Spot(at, level, left, 0.9 if left == 0.0 else 0.1), Spot(at, level, left, 0.5)]
            self._notes.write(name, self._plot, words[name], spots, looks[name][0], covers=True)

    # ------------------------------------------------------------ reading off

    def words_at(self, seconds: float) -> str:
        """How many gaps were longer than that, and what the laws say."""
        times, share = self._steps
        if not times.size:
            return ""
        index = int(np.searchsorted(times, seconds, side="right")) - 1
        longer = 1.0 if index < 0 else float(share[index])
        said = say("{share} of the gaps were longer than {time}", share=brief(longer, FRACTION),
                   time=brief(seconds, SECONDS))  # fmt: skip
        laws = {name: brief(float(self._longer(name, np.array([seconds]))[0]), FRACTION) for name in self._law_words()}
        if "weibull" in laws:
            return say("{said}; memoryless {memoryless}, Weibull {weibull}", said=said, **laws)
        return say("{said}; memoryless {memoryless}", said=said, **laws) if laws else said

    def place_of(self, seconds: float) -> QPointF:
        """Where a time lies in this widget, halfway up. [px]"""
        scene = self._plot.vb.mapViewToScene(QPointF(float(np.log10(seconds)), 0.5))
        return QPointF(self._view.mapTo(self, self._view.mapFromScene(scene)))

    def _on_mouse_moved(self, scene: QPointF) -> None:
        is_inside = bool(self._steps[0].size) and self._plot.vb.sceneBoundingRect().contains(scene)
        self._cursor.setVisible(is_inside)
        if is_inside:
            place = float(self._plot.vb.mapSceneToView(scene).x())
            self._cursor.setValue(place)
            self.cursor_moved.emit(self.words_at(10.0**place))
        else:
            self.cursor_moved.emit("")

    @override
    def _on_left(self) -> None:
        self._cursor.setVisible(False)
        super()._on_left()
