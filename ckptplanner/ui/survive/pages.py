"""The view on paper: sentences, grid beside matrix, and the interval below, on any painter."""

from __future__ import annotations

from PySide6.QtCore import QRectF
from PySide6.QtGui import QPainter

from ckptplanner.ui.ink import lines_of, write
from ckptplanner.ui.survive.case import Case
from ckptplanner.ui.survive.grid import paint_grid
from ckptplanner.ui.survive.interval import HEIGHT, paint_timeline
from ckptplanner.ui.survive.matrix import paint_matrix
from ckptplanner.ui.theme import BODY_PX, Theme
from ckptplanner.ui.words import say_text

_GAP = 16.0


def paint_case(painter: QPainter, room: QRectF, case: Case, theme: Theme) -> None:
    """Paint a case into a rectangle; it takes about 460 px of height to breathe."""
    painter.save()
    top = room.top()
    for words, colour, bold in ((case.survival.sentence, theme.text, True), (case.survival.detail, theme.muted, False)):
        for line in lines_of(say_text(words), room.width(), 2, BODY_PX, bold=bold):
            write(painter, QRectF(room.left(), top, room.width(), 20), line, colour, pixels=BODY_PX, bold=bold)
            top += 20
    top += 8
    tall = max(room.bottom() - HEIGHT - _GAP - top, 100.0)
    left = (room.width() - 24) * (0.44 if room.width() >= 900 else 0.38)
    paint_grid(painter, QRectF(room.left(), top, left, tall), case, theme)
    paint_matrix(painter, QRectF(room.left() + left + 24, top, room.width() - left - 24, tall), case, theme)
    paint_timeline(painter, QRectF(room.left(), top + tall + _GAP, room.width(), HEIGHT), case, theme)
    painter.restore()
