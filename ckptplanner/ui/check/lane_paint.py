"""How the lanes are laid out and painted: one picture for each lane, whatever the number of saves in it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QLineF, QRectF, Qt
from PySide6.QtGui import QColor, QImage, QPainter

from ckptplanner.frozen import FloatArray
from ckptplanner.ui.check.axis import moment_text, moment_ticks
from ckptplanner.ui.check.causes import ink_on
from ckptplanner.ui.check.coverage import Lane, Run, heights, skyline
from ckptplanner.ui.check.kinds import cause_word, colour_of
from ckptplanner.ui.ink import box, cross, mix, pen, width_of, write
from ckptplanner.ui.theme import Theme
from ckptplanner.ui.words import say
from ckptplanner.units import FRACTION, SECONDS, brief, rough

AXIS, _MARKS, _SHARE = 22.0, 16.0, 60.0  # heights of axis and of the row of crosses; width of the shares [px]
_TALLEST, _PITCH_GAP, _LEAST, _FADED = 72.0, 4.0, 2.0, 0.4
_CROSSES_APART, _MOST_LABELS, _AROUND, _LOWEST = 9.0, 120, 8.0, 18.0


@dataclass(frozen=True, slots=True)
class Frame:
    """Seconds and pixels of one drawing."""

    run: Run
    room: QRectF
    begin_s: float
    end_s: float

    @property
    def names(self) -> float:
        """Width of the names at the left. [px]"""
        return max([width_of(cause_word(lane.name)) for lane in self.run.lanes] + [width_of(say("interruptions"))]) + 12

    @property
    def marks(self) -> QRectF:
        """The row of crosses."""
        return QRectF(self.room.left() + self.names, self.room.top(), self.room.width() - self.names - _SHARE, _MARKS)

    @property
    def pitch(self) -> float:
        """From lane to lane. [px]"""
        free = self.room.height() - _MARKS - AXIS
        return float(int(min(free / max(len(self.run.lanes), 1), _TALLEST + _PITCH_GAP)))

    @staticmethod
    def heights_of(run: Run) -> tuple[int, int]:
        """The least height at which names do not touch, and the one beyond which nothing gets more readable. [px]"""
        least, most = (_MARKS + AXIS + len(run.lanes) * pitch + 2 for pitch in (_LOWEST, _TALLEST + _PITCH_GAP))
        return int(least), int(most)

    @property
    def whole(self) -> QRectF:
        """Crosses and lanes."""
        marks = self.marks
        return QRectF(marks.left(), marks.top(), marks.width(), _MARKS + self.pitch * len(self.run.lanes))

    @property
    def seconds_per_pixel(self) -> float:
        """How long a pixel is."""
        return (self.end_s - self.begin_s) / max(self.marks.width(), 1.0)

    def x(self, seconds: float) -> float:
        """Where a moment lies. [px]"""
        return self.marks.left() + (seconds - self.begin_s) / self.seconds_per_pixel

    def places(self, seconds: FloatArray) -> FloatArray:
        """Where many moments lie. [px]"""
        return self.marks.left() + (seconds - self.begin_s) / self.seconds_per_pixel

    def seconds(self, x: float) -> float:
        """The moment at a place. [s]"""
        return self.begin_s + (x - self.marks.left()) * self.seconds_per_pixel

    def bars(self) -> Iterator[tuple[Lane, QRectF]]:
        """Every lane with its room."""
        marks, gap = self.marks, min(_PITCH_GAP, max(self.pitch - 8.0, 1.0))
        for index, lane in enumerate(self.run.lanes):
            yield lane, QRectF(marks.left(), marks.bottom() + index * self.pitch, marks.width(), self.pitch - gap)

    def lane_at(self, y: float) -> Lane | None:
        """The lane at a height."""
        return next((lane for lane, bar in self.bars() if bar.top() <= y < bar.top() + self.pitch), None)

    def share_seen(self, lane: Lane) -> float:
        """The share of the time that is seen which a lane covers."""
        return float(lane.shares(np.array([self.begin_s, self.end_s]))[0])


def paint_lanes(
    painter: QPainter, frame: Frame, theme: Theme, *, dots: float = 1.0, is_stale: bool = False, has_focus: bool = False
) -> None:
    """Paint a run into the room of its frame; `dots` are the dots of the screen for each pixel."""
    painter.setOpacity(_FADED if is_stale else 1.0)
    _paint_axis(painter, frame, theme)
    for lane, bar in frame.bars():
        write(painter, QRectF(frame.room.left(), bar.top(), frame.names - 12, bar.height()), cause_word(lane.name),
              theme.text, align="right")  # fmt: skip
        _paint_lane(painter, frame, lane, bar, theme, dots)
        share = brief(frame.share_seen(lane), FRACTION) if lane.start_s.size else "–"
        write(painter, QRectF(bar.right() + 8, bar.top(), _SHARE - 8, bar.height()), share, theme.muted, align="right")
    _paint_interruptions(painter, frame, theme)
    if has_focus:
        box(painter, frame.whole.adjusted(-2, -1, 2, 0), "", theme.accent, radius=3.0)


def _rgb(colour: str) -> tuple[int, int, int]:
    made = QColor(colour)
    return made.red(), made.green(), made.blue()


def _paint_lane(painter: QPainter, frame: Frame, lane: Lane, bar: QRectF, theme: Theme, dots: float) -> None:
    """A column of pixels for each stretch of time, as tall as the lane's share of it asks for."""
    count, rows = max(round(bar.width() * dots), 1), max(round(bar.height() * dots), 1)
    edges = np.linspace(frame.begin_s, frame.end_s, count + 1)
    colour = colour_of(lane.name, theme)
    tall = heights(lane.shares(edges), float(rows), _LEAST * dots)
    pixels = skyline(tall, rows, _rgb(colour), _rgb(theme.band)).tobytes()
    painter.drawImage(bar, QImage(pixels, count, rows, count * 4, QImage.Format.Format_RGB32))
    _write_times(painter, frame, lane, bar, ink_on(colour, theme))


def _write_times(painter: QPainter, frame: Frame, lane: Lane, bar: QRectF, colour: str) -> None:
    """How long each stretch is, once it is wide enough to say so."""
    seen = lane.within(frame.begin_s, frame.end_s)
    if seen.stop - seen.start > _MOST_LABELS or bar.height() < 11:
        return
    for start, end in zip(lane.start_s[seen], lane.end_s[seen], strict=True):
        left, right = max(frame.x(float(start)), bar.left()), min(frame.x(float(end)), bar.right())
        words = rough(float(end - start), SECONDS)
        if width_of(words) + _AROUND <= right - left:
            write(painter, QRectF(left, bar.top(), right - left, bar.height()), words, colour, align="middle")


def _paint_interruptions(painter: QPainter, frame: Frame, theme: Theme) -> None:
    """A cross each where there is room; while few are seen, a dotted line goes down through the lanes."""
    marks, run = frame.marks, frame.run
    first, last = np.searchsorted(run.interruption_s, (frame.begin_s, frame.end_s))
    columns = np.round(frame.places(run.interruption_s[first:last]))
    places, counts = np.unique(columns, return_counts=True)
    name = QRectF(frame.room.left(), marks.top(), frame.names - 12, marks.height())
    write(painter, name, say("interruptions"), theme.muted, align="right")
    count = QRectF(marks.right() + 8, marks.top(), _SHARE - 8, marks.height())
    write(painter, count, f"{int(last - first):,}", theme.muted, align="right")
    is_sparse = places.size < 2 or float(np.median(np.diff(places))) >= _CROSSES_APART
    if is_sparse:
        for x in places.tolist():
            cross(painter, x, marks.center().y(), theme.error)
    else:
        _paint_many(painter, marks, places, counts, theme)
    if is_sparse and places.size <= 40:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        line = pen(theme.error)
        line.setStyle(Qt.PenStyle.DotLine)
        painter.setPen(line)
        painter.drawLines([QLineF(x, marks.bottom() - 2, x, frame.whole.bottom()) for x in places.tolist()])


def _paint_many(painter: QPainter, marks: QRectF, places: FloatArray, counts: npt.NDArray[np.integer], theme: Theme) -> None:
    """Too many for crosses: short lines, the taller the more there are in a pixel."""
    colour = QColor(mix(theme.error, theme.surface, 0.6))
    tall = marks.height() - 5
    for x, share in zip(places.tolist(), (counts / counts.max()).tolist(), strict=True):
        painter.fillRect(QRectF(x, marks.bottom() - 2 - tall * share, 1, tall * share), colour)


def _paint_axis(painter: QPainter, frame: Frame, theme: Theme) -> None:
    marks, bottom = frame.marks, frame.whole.bottom()
    step, ticks = moment_ticks(frame.begin_s, frame.end_s, marks.width())
    for tick in ticks:
        x = round(frame.x(tick)) + 0.5
        painter.setPen(pen(theme.grid))
        painter.drawLine(QLineF(x, marks.bottom(), x, bottom))
        painter.setPen(pen(theme.line))
        painter.drawLine(QLineF(x, bottom, x, bottom + 3))
        words = moment_text(tick, step)
        half = width_of(words) / 2
        write(painter, QRectF(min(x, frame.room.right() - half) - half, bottom + 4, 2 * half, 16), words, theme.muted)
    painter.setPen(pen(theme.line))
    painter.drawLine(QLineF(marks.left(), bottom + 0.5, marks.right(), bottom + 0.5))
    if frame.end_s - frame.begin_s < frame.run.length_s * (1 - 1e-9):  # where in the run this lies
        left = marks.left() + frame.begin_s / frame.run.length_s * marks.width()
        width = max((frame.end_s - frame.begin_s) / frame.run.length_s * marks.width(), 6.0)
        painter.fillRect(QRectF(min(left, marks.right() - 6), bottom - 1, width, 3), QColor(theme.accent))
