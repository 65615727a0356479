"""A week later: what was planned beside what the files show, a row and a small ruler for each, and what follows from it.

The plan is still right: it saves every 45 min and wastes 0.54 %.

                     planned     observed                        a third     1     three times
Interrupted every      200 h        267 h    201 to 362 h        ----------|--[==o==]-------    as planned
Stop time                5 s       5.07 s    4.97 to 5.26 s      ----------o----------------    as planned
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QLabel, QScrollArea, QSizePolicy, QVBoxLayout, QWidget
from typing_extensions import override

from ckptplanner.engine.observed import Observed
from ckptplanner.text import Text
from ckptplanner.ui.ink import pen, tick, width_of, write
from ckptplanner.ui.painted import Painted
from ckptplanner.ui.theme import BODY_PX, SMALL_PX, Theme
from ckptplanner.ui.words import say, say_text
from ckptplanner.units import FRACTION, UNKNOWN, Unit, brief

_EDGE, _GAP, _ROW, _HEAD = 16, 16, 40, 26
_REACH = 3.0  # the ruler goes from a third of what was planned to three times that
_LEAST_RULER, _MOST_RULER = 120, 420


def _said(value: float | None, unit: Unit) -> str:
    return UNKNOWN if value is None or not math.isfinite(value) else brief(value, unit, 4 if unit is FRACTION else 3)


def verdict_word(one: Observed) -> str:
    """Whether a figure is as planned."""
    if one.verdict == "right":
        return say("as planned")
    if one.verdict == "unknown" or one.planned is None:
        return say("not planned")
    return say("more than planned") if one.observed > one.planned else say("less than planned")


def range_of(one: Observed) -> str:
    """The interval of what was observed."""
    if one.low is None or one.high is None or not math.isfinite(one.high):
        return ""
    return say("{low} to {high}", low=_said(one.low, one.unit), high=_said(one.high, one.unit))


class ObservedRows(Painted):
    """The rows with their rulers."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("files.observed_rows", say("Planned against observed"), parent)
        self._rows: tuple[Observed, ...] = ()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setMinimumWidth(560)

    def show_rows(self, rows: Sequence[Observed]) -> None:
        """Show these figures."""
        self._rows = tuple(rows)
        self.setFixedHeight(_HEAD + _ROW * len(rows) + 1)
        self.setAccessibleDescription(" ".join(f"{say_text(row.title)}: {say_text(row.words)}" for row in rows))
        self.update()

    @override
    def tip_at(self, place: QPointF) -> str:
        at = int((place.y() - _HEAD) // _ROW)
        return say_text(self._rows[at].words) if 0 <= at < len(self._rows) and place.y() >= _HEAD else ""

    def _columns(self) -> tuple[float, float, float, float, float]:
        """Right edges of planned and observed, left and right edge of the ruler, left edge of the verdict."""
        title = max((width_of(say_text(row.title), BODY_PX) for row in self._rows), default=0.0)
        widest = max((max(width_of(_said(row.observed, row.unit), BODY_PX, bold=True), width_of(range_of(row)))
                      for row in self._rows), default=0.0)  # fmt: skip
        planned = (
            _EDGE
            + title
            + _GAP
            + max([width_of(say("planned")), *(width_of(_said(row.planned, row.unit), BODY_PX) for row in self._rows)])
        )
        seen = planned + _GAP + max(widest, width_of(say("observed")))
        word = max((width_of(verdict_word(row)) for row in self._rows), default=0.0) + 18
        right = min(self.width() - _EDGE - word - _GAP, seen + 2 * _GAP + _MOST_RULER)
        return planned, seen, min(seen + 2 * _GAP, right - _LEAST_RULER), right, right + _GAP

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        if not self._rows:
            return
        painter, theme = QPainter(self), self._theme
        planned, seen, left, right, word = self._columns()
        write(painter, QRectF(0, 0, planned, _HEAD), say("planned"), theme.muted, align="right")
        write(painter, QRectF(planned, 0, seen - planned, _HEAD), say("observed"), theme.muted, align="right")
        for share, words in ((-1.0, say("a third")), (0.0, say("as planned")), (1.0, say("three times"))):
            middle = (left + right) / 2 + share * (right - left) / 2
            width = width_of(words)
            write(painter, QRectF(middle - width / 2 - 2, 0, width + 4, _HEAD), words, theme.muted, align="middle")
        for at, row in enumerate(self._rows):
            top = float(_HEAD + _ROW * at)
            painter.setPen(pen(theme.hairline))
            painter.drawLine(QLineF(0, top, self.width(), top))
            write(painter, QRectF(_EDGE, top + 4, planned - _EDGE, 20), say_text(row.title), theme.text, pixels=BODY_PX)
            write(painter, QRectF(0, top + 4, planned, 20), _said(row.planned, row.unit), theme.text, pixels=BODY_PX,
                  align="right")  # fmt: skip
            write(painter, QRectF(planned, top + 4, seen - planned, 20), _said(row.observed, row.unit), theme.text,
                  pixels=BODY_PX, bold=True, align="right")  # fmt: skip
            write(painter, QRectF(planned, top + 23, seen - planned, 16), range_of(row), theme.muted, align="right")
            self._paint_ruler(painter, row, QRectF(left, top, right - left, _ROW))
            self._paint_word(painter, row, QRectF(word, top, self.width() - _EDGE - word, _ROW))

    def _paint_word(self, painter: QPainter, row: Observed, room: QRectF) -> None:
        is_right, theme = row.verdict == "right", self._theme
        colour = theme.muted if row.verdict == "unknown" else theme.text if is_right else theme.warning
        if is_right:
            tick(painter, room.left() + 5, room.center().y(), theme.muted)
        write(painter, room.adjusted(16, 0, 0, 0), verdict_word(row), colour, pixels=SMALL_PX)

    def _paint_ruler(self, painter: QPainter, row: Observed, room: QRectF) -> None:
        """What was observed on a ruler on which what was planned is the middle."""
        theme, y, half = self._theme, room.center().y(), room.width() / 2
        painter.setPen(pen(theme.line))
        painter.drawLine(QLineF(room.left(), y, room.right(), y))
        for share in (-1.0, 0.0, 1.0):
            tall = 7.0 if share == 0.0 else 3.0
            x = room.center().x() + share * half
            painter.drawLine(QLineF(x, y - tall, x, y + tall))
        ratio = _ratio(row, row.observed)
        if ratio is None:
            return
        place = _place(ratio)
        colour = QColor(theme.accent if row.verdict == "right" else theme.use_high)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        ends = [_ratio(row, end) for end in (row.low, row.high) if end is not None]
        known = [min(max(_place(end), -1.0), 1.0) for end in ends if end is not None]
        if len(known) == 2:
            low, high = known
            faint = QColor(colour)
            faint.setAlphaF(0.25)
            painter.setBrush(faint)
            painter.drawRoundedRect(QRectF(room.center().x() + low * half, y - 4, max((high - low) * half, 2.0), 8), 2, 2)
        painter.setBrush(colour)
        x = room.center().x() + min(max(place, -1.0), 1.0) * half
        if abs(place) <= 1.0:
            painter.drawEllipse(QPointF(x, y), 4.0, 4.0)
        else:
            way = math.copysign(1.0, place)
            painter.drawPolygon([QPointF(x + way * 5, y), QPointF(x - way * 3, y - 5), QPointF(x - way * 3, y + 5)])
        painter.setBrush(Qt.BrushStyle.NoBrush)


def _ratio(row: Observed, value: float) -> float | None:
    """What was observed by what was planned; of a goodput what is wasted counts, the other way round."""
    planned = row.planned
    if planned is None:
        return None
    if row.unit is FRACTION and 0.5 < planned < 1.0 and value < 1.0:
        return (1.0 - planned) / (1.0 - value)
    return value / planned if planned > 0.0 and value > 0.0 else None


def _place(ratio: float) -> float:
    """Where a ratio lies on the ruler: −1 at a third, 0 in the middle, 1 at three times."""
    if not math.isfinite(ratio):
        return 2.0
    return math.log(max(ratio, 1e-9)) / math.log(_REACH)


class ObservedPanel(QWidget):
    """The sentence and the rows."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("files.observed")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setProperty("role", "surface")
        self._found: tuple[Observed, ...] = ()
        self._verdict, self._note = QLabel(), QLabel()
        self._verdict.setObjectName("files.verdict")
        self._verdict.setProperty("role", "title")
        self._note.setObjectName("files.verdict_note")
        self._note.setProperty("role", "muted")
        words = QVBoxLayout()
        words.setContentsMargins(16, 8, 16, 0)
        words.setSpacing(4)
        for label in (self._verdict, self._note):
            label.setWordWrap(True)
            label.setTextFormat(Qt.TextFormat.PlainText)
            words.addWidget(label)
        self.rows = ObservedRows()
        inside = QWidget()
        inside.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        inside.setProperty("role", "surface")
        box = QVBoxLayout(inside)
        box.setContentsMargins(0, 0, 0, 8)
        box.setSpacing(8)
        box.addLayout(words)
        box.addWidget(self.rows)
        box.addStretch(1)
        scroll = QScrollArea()
        scroll.setWidgetResizable(True)
        scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        scroll.setWidget(inside)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.addWidget(scroll)

    def show_observed(self, rows: Sequence[Observed], verdict: Text | None) -> None:
        """Show what the files show beside the plan, and what follows."""
        self._found = tuple(rows)
        self._verdict.setText(say_text(verdict) if verdict is not None else say("Nothing to hold against the plan yet"))
        self._note.setText(
            "" if rows else
            say("Open the log of the run again after a week: its interruptions, saves and restarts then stand beside the plan.")
        )  # fmt: skip
        self._note.setVisible(not rows)
        self.rows.setVisible(bool(rows))
        self.rows.show_rows(rows)

    def show_theme(self, theme: Theme) -> None:
        """Take the colours of a theme."""
        self.rows.show_theme(theme)

    def texts(self) -> tuple[list[str], list[list[str]]]:
        """Heads and rows, for a table."""
        heads = [say("Figure"), say("Planned"), say("Observed"), say("90 % interval"), say("Verdict")]
        rows = [
            [say_text(row.title), _said(row.planned, row.unit), _said(row.observed, row.unit), range_of(row), verdict_word(row)]
            for row in self._found
        ]
        return heads, rows
