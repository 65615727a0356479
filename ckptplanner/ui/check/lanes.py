"""One simulated run as lanes over its days: the wheel zooms, a drag moves, a double click shows the whole run again.

interruptions      x              x   x
training      #########  #########  ###
saving        . . . . .  . . . . .  . .
lost                   ##          #
              |0 d      |10 d      |20 d
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QWheelEvent
from PySide6.QtWidgets import QSizePolicy, QWidget
from typing_extensions import override

from ckptplanner.ui.check.axis import moment_text
from ckptplanner.ui.check.coverage import Run
from ckptplanner.ui.check.kinds import cause_word
from ckptplanner.ui.check.lane_paint import Frame, paint_lanes
from ckptplanner.ui.painted import Painted
from ckptplanner.ui.words import say
from ckptplanner.units import FRACTION, SECONDS, brief, rough

_LEAST_SPAN_S = 30.0
_NEAR = 6.0  # from the pointer to an interruption [px]
_PER_NOTCH = 1.3  # a notch of the wheel
_MARGIN = 0.25  # of the span, beside an interruption that is zoomed to


class LaneView(Painted):
    """The lanes and what is seen of them: a window of time inside the run."""

    view_changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("check.lanes", say("One simulated run"), parent)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMinimumSize(280, 118)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self._run: Run | None = None
        self._begin_s, self._end_s = 0.0, 1.0
        self._is_stale = False
        self._held: tuple[float, float] | None = None  # where the mouse took hold [px], and the beginning then [s]
        self._was_moved = False

    @override
    def sizeHint(self) -> QSize:
        return QSize(900, 220)

    def show_run(self, run: Run | None, *, is_stale: bool = False, keeps_view: bool = False) -> None:
        """Draw a run, all of it or the same days as before; pale where the plan has changed since."""
        self._is_stale = is_stale
        if run is not self._run:
            self._run = run
            if run is not None and not (keeps_view and self._end_s <= run.length_s):
                self._look_at(0.0, run.length_s)
            if run is not None:
                least, most = Frame.heights_of(run)
                self.setMinimumHeight(least)
                self.setMaximumHeight(most)
        self._describe()
        self.update()

    def show_stale(self, is_stale: bool) -> None:
        """Pale where the plan has changed since."""
        self._is_stale = is_stale
        self.update()

    def _describe(self) -> None:
        run = self._run
        if run is None:
            self.setAccessibleDescription("")
            return
        parts = ", ".join(f"{cause_word(lane.name)} {rough(lane.total_s, SECONDS)}" for lane in run.lanes)
        count = run.interruption_s.size
        self.setAccessibleDescription(say("{count} interruptions; {parts}", count=f"{count:,}", parts=parts))

    # ------------------------------------------------------------ what is seen of the run

    @property
    def view_s(self) -> tuple[float, float]:
        """The beginning and the end of what is seen. [s]"""
        return self._begin_s, self._end_s

    @property
    def is_whole(self) -> bool:
        """Whether all of the run is seen."""
        return self._run is None or self._end_s - self._begin_s >= self._run.length_s * (1 - 1e-9)

    def show_whole(self) -> None:
        """Look at all of the run."""
        if self._run is not None:
            self._look_at(0.0, self._run.length_s)

    def show_span(self, begin_s: float, end_s: float) -> None:
        """Look at a window of time."""
        self._look_at(begin_s, end_s)

    def _look_at(self, begin_s: float, end_s: float) -> None:
        if self._run is None:
            return
        length = self._run.length_s
        span = min(max(end_s - begin_s, min(_LEAST_SPAN_S, length)), length)
        begin = min(max(begin_s, 0.0), length - span)
        if (begin, begin + span) != (self._begin_s, self._end_s):
            self._begin_s, self._end_s = begin, begin + span
            self.view_changed.emit()
            self.update()

    def _zoom(self, factor: float, about_s: float) -> None:
        """Make the window `factor` times as long; what is `about_s` stays where it is."""
        span = self._end_s - self._begin_s
        least = min(_LEAST_SPAN_S, self._run.length_s if self._run is not None else _LEAST_SPAN_S)
        factor = max(factor, least / span)
        self._look_at(about_s - (about_s - self._begin_s) * factor, about_s + (self._end_s - about_s) * factor)

    def show_interruption(self, step: int) -> None:
        """Zoom to the next interruption (1) or the one before (-1), as seen from the middle of the window."""
        run = self._run
        if run is None or run.interruption_s.size == 0:
            return
        middle = (self._begin_s + self._end_s) / 2
        if step > 0:
            index = int(np.searchsorted(run.interruption_s, middle + 1.0, side="right"))
        else:
            index = int(np.searchsorted(run.interruption_s, middle - 1.0, side="left")) - 1
        self._zoom_to(float(run.interruption_s[min(max(index, 0), run.interruption_s.size - 1)]))

    def _zoom_to(self, at_s: float) -> None:
        """Look at an interruption with what it lost and the way back, which is about as long as both together."""
        run = self._run
        if run is None:
            return
        spans = [found for lane in run.lanes if lane.name != "training" for found in (lane.at(at_s - 1.0), lane.at(at_s + 1.0))]
        known = [one for one in spans if one is not None]
        begin, end = min((one[0] for one in known), default=at_s), max((one[1] for one in known), default=at_s)
        half = max(at_s - begin, end - at_s, 600.0) * (1 + 4 * _MARGIN)
        self._look_at(at_s - half, at_s + half)

    # ------------------------------------------------------------ drawing

    def frame(self) -> Frame | None:
        """Where what is drawn, for the pointer and for tests."""
        if self._run is None:
            return None
        return Frame(self._run, QRectF(self.rect()).adjusted(0, 0, -1, 0), self._begin_s, self._end_s)

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        frame = self.frame()
        if frame is not None:
            painter = QPainter(self)
            paint_lanes(
                painter,
                frame,
                self._theme,
                dots=self.devicePixelRatioF(),
                is_stale=self._is_stale,
                has_focus=self.hasFocus(),
            )

    # ------------------------------------------------------------ words

    def _interruption_at(self, place: QPointF) -> int | None:
        """The interruption near a place, while the pointer is on the lanes."""
        frame, run = self.frame(), self._run
        if frame is None or run is None or run.interruption_s.size == 0 or not frame.whole.contains(place):
            return None
        index = int(np.argmin(np.abs(run.interruption_s - frame.seconds(place.x()))))
        return index if abs(frame.x(float(run.interruption_s[index])) - place.x()) <= _NEAR else None

    def words_at(self, place: QPointF) -> str:
        """What happens at a place: the interruption that is near, or what the run does at that moment."""
        frame, run = self.frame(), self._run
        if frame is None or run is None or not frame.whole.contains(place):
            return ""
        if (index := self._interruption_at(place)) is not None and place.y() < frame.marks.bottom() + 2:
            at = float(run.interruption_s[index])
            return say("{moment}: {cause}", moment=moment_text(at, 60.0), cause=run.causes[index])
        moment = frame.seconds(place.x())
        words = moment_text(moment, 60.0 if self._end_s - self._begin_s > 3600.0 else 1.0)
        if (one := frame.lane_at(place.y())) is not None:
            name, stretch = cause_word(one.name), one.at(moment)
            if stretch is not None:
                return say("{moment}: {name}, {time}", moment=words, name=name, time=rough(stretch[1] - stretch[0], SECONDS))
            seen = frame.share_seen(one)
            return say("{moment}: {name}, {share} of what is seen", moment=words, name=name, share=brief(seen, FRACTION))
        return words

    # ------------------------------------------------------------ hands

    @override
    def wheelEvent(self, event: QWheelEvent) -> None:
        frame = self.frame()
        if frame is None:
            return
        notches = event.angleDelta().y() / 120.0
        if notches:
            self._zoom(_PER_NOTCH**-notches, frame.seconds(event.position().x()))
        else:
            self._move(-event.angleDelta().x() / 120.0 * 0.1)
        event.accept()

    def _move(self, share: float) -> None:
        step = (self._end_s - self._begin_s) * share
        self._look_at(self._begin_s + step, self._end_s + step)

    @override
    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton and self._run is not None:
            self._held, self._was_moved = (event.position().x(), self._begin_s), False

    @override
    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        frame = self.frame()
        if frame is None:
            return
        if self._held is not None:
            by = event.position().x() - self._held[0]
            if abs(by) > 3.0:
                self._was_moved = True
            if self._was_moved:
                begin = self._held[1] - by * frame.seconds_per_pixel
                self._look_at(begin, begin + self._end_s - self._begin_s)
            return
        is_mark = self._interruption_at(event.position()) is not None and event.position().y() < frame.marks.bottom() + 2
        shape = Qt.CursorShape.PointingHandCursor if is_mark else Qt.CursorShape.ArrowCursor
        self.setCursor(shape if is_mark or self.is_whole else Qt.CursorShape.OpenHandCursor)
        self.hovered.emit(self.words_at(event.position()))

    @override
    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        frame, held, self._held = self.frame(), self._held, None
        if frame is None or held is None or self._was_moved or self._run is None:
            return
        index = self._interruption_at(event.position())
        if index is not None and event.position().y() < frame.marks.bottom() + 2:
            self._zoom_to(float(self._run.interruption_s[index]))

    @override
    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        self._held = None
        self.show_whole()

    @override
    def tip_at(self, place: QPointF) -> str:
        return self.words_at(place)

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        middle = (self._begin_s + self._end_s) / 2
        acts: dict[Qt.Key, Callable[[], None]] = {
            Qt.Key.Key_Left: lambda: self._move(-0.1),
            Qt.Key.Key_Right: lambda: self._move(0.1),
            Qt.Key.Key_Plus: lambda: self._zoom(1 / 2, middle),
            Qt.Key.Key_Equal: lambda: self._zoom(1 / 2, middle),
            Qt.Key.Key_Minus: lambda: self._zoom(2.0, middle),
            Qt.Key.Key_Home: self.show_whole,
            Qt.Key.Key_PageDown: lambda: self.show_interruption(1),
            Qt.Key.Key_PageUp: lambda: self.show_interruption(-1),
        }
        act = acts.get(Qt.Key(event.key()))
        if act is None:
            super().keyPressEvent(event)
        else:
            act()
