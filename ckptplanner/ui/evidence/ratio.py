"""A ratio on a ruler from a quarter to four times, so that forty of them can be taken in at a glance."""

from __future__ import annotations

import math

from PySide6.QtCore import QLineF, QPointF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QSizePolicy, QWidget
from typing_extensions import override

from ckptplanner.ui.theme import LIGHT, Theme
from ckptplanner.ui.words import say
from ckptplanner.units import significant

_REACH = 2.0  # doublings to either side
_NEAR = 0.25  # as a share: what differs by less counts as agreement
_SIZE = QSize(104, 14)


def ratio_text(ratio: float) -> str:
    """The ratio in three digits; what is far below cannot be told more exactly than that."""
    return say("below 0.01") if ratio < 0.01 else significant(ratio, 3)


class RatioRuler(QWidget):
    """A mark on a hairline; the tick in the middle is 1, an arrow at an end points at what lies beyond."""

    def __init__(self, ratio: float, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._ratio, self._theme = ratio, LIGHT
        self.setFixedSize(_SIZE)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.setToolTip(say("The planner's figure by the reported one, on a ruler from a quarter to four times; the tick is 1"))

    def show_theme(self, theme: Theme) -> None:
        """Take the colours of a theme."""
        self._theme = theme
        self.update()

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        painter, theme = QPainter(self), self._theme
        half, y = (self.width() - 12) / 2, self.height() / 2
        middle = self.width() / 2
        painter.setPen(QPen(QColor(theme.line), 1))
        painter.drawLine(QLineF(middle - half, y, middle + half, y))
        for doublings in (-2, -1, 0, 1, 2):
            x, tall = middle + half * doublings / _REACH, 4.0 if doublings == 0 else 2.0
            painter.drawLine(QLineF(x, y - tall, x, y + tall))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        is_near = abs(math.log(self._ratio)) <= math.log1p(_NEAR)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(theme.accent if is_near else theme.use_high))
        place = math.log2(self._ratio) / _REACH
        if abs(place) <= 1.0:
            painter.drawEllipse(QPointF(middle + half * place, y), 3.5, 3.5)
        else:
            way = math.copysign(1.0, place)
            tip = middle + way * (half + 5)
            painter.drawPolygon(QPolygonF([QPointF(tip, y), QPointF(tip - way * 7, y - 4), QPointF(tip - way * 7, y + 4)]))
