"""The interval in the window: the failure is dragged through its moments, a part of the restart leads to its field."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QHelpEvent, QKeyEvent, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QToolTip, QWidget
from typing_extensions import override

from ckptplanner.engine.node_plan import ClockPart
from ckptplanner.ui.ink import box
from ckptplanner.ui.survive.case import Case
from ckptplanner.ui.survive.interval import (
    HEIGHT,
    LEAST_HEIGHT,
    Scale,
    actor_word,
    base_words,
    fit,
    moment_words,
    paint_timeline,
)
from ckptplanner.ui.theme import LIGHT, Theme
from ckptplanner.ui.words import say, say_text
from ckptplanner.units import SECONDS, brief, rough

_SNAP = 5.0  # to the mean moment [px]
FIELDS = {
    "detect": "failures.detect_s", "reschedule": "failures.reschedule_s", "start": "failures.start_s",
    "read": "storage.read_efficiency", "wait": "failures.downtime_s", "queue": "planned.queue_s",
}  # fmt: skip


class Timeline(QWidget):
    """The interval in the window: the failure can be dragged, the parts of the restart lead to their fields."""

    moment_chosen = Signal(object)  # seconds, None: the mean
    field_requested = Signal(str)
    hovered = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("survive.timeline")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.setMinimumHeight(int(LEAST_HEIGHT))
        self.setMaximumHeight(int(HEIGHT))
        self._theme = LIGHT
        self._case: Case | None = None
        self._over = ""
        self._held: float | None = None  # from the mouse to the failure, in pixels

    @override
    def sizeHint(self) -> QSize:
        return QSize(800, int(HEIGHT))

    def show_theme(self, theme: Theme) -> None:
        """Take the colours of a theme."""
        self._theme = theme
        self.update()

    def show_case(self, case: Case | None) -> None:
        """Draw this case."""
        self._case = case
        if case is not None:
            age = case.survival.newest_age_s
            self.setAccessibleName(say("One interval, to scale"))
            parts = ", ".join(f"{say_text(part.name)} {brief(part.seconds, SECONDS)}" for part in case.survival.clock)
            again = say("nothing to restart from") if age is None else say("done again: {time}", time=rough(age, SECONDS))
            said = say("{what}; {again}; restart: {parts}", what=moment_words(case), again=again, parts=parts)
            self.setAccessibleDescription(f"{said}; {other}" if (other := base_words(case)) else said)
        self.update()

    def scale(self) -> Scale | None:
        """Seconds and pixels of the picture."""
        return None if self._case is None else fit(QRectF(self.rect()).adjusted(1, 0, -1, 0), self._case)

    def place_of(self, seconds: float) -> QPointF:
        """Where a moment lies on the bar."""
        scale = self.scale()
        return QPointF() if scale is None else QPointF(scale.x(seconds), scale.bar.center().y())

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        if self._case is None:
            return
        painter = QPainter(self)
        paint_timeline(
            painter, QRectF(self.rect()).adjusted(1, 0, -1, 0), self._case, self._theme, over=self._over, has_grip=True
        )
        if self.hasFocus() and (scale := self.scale()) is not None:
            x = scale.x(self._case.survival.moment_s)
            around = QRectF(x - 8, scale.bar.center().y() - 13, 17, 26)
            box(painter, around, "", self._theme.accent, radius=4.0, width=1.5)

    # ------------------------------------------------------------ hands

    def _part_at(self, x: float, y: float) -> ClockPart | None:
        scale = self.scale()
        if scale is None or not scale.bar.top() <= y <= scale.lane(3).bottom():
            return None
        return next((part for part, room in scale.parts() if room.left() <= x < room.right()), None)

    def _is_at_failure(self, x: float, y: float) -> bool:
        scale = self.scale()
        if scale is None or self._case is None:
            return False
        return abs(x - scale.x(self._case.survival.moment_s)) <= 6 and scale.lane(0).top() <= y <= scale.lane(5).bottom()

    @override
    def mousePressEvent(self, event: QMouseEvent) -> None:
        x, y = event.position().toTuple()
        scale = self.scale()
        if event.button() != Qt.MouseButton.LeftButton or scale is None or self._case is None:
            return
        if self._is_at_failure(x, y):
            self._held = scale.x(self._case.survival.moment_s) - x
        elif (part := self._part_at(x, y)) is not None:
            if part.id in FIELDS:
                self.field_requested.emit(FIELDS[part.id])
        elif scale.bar.top() <= y <= scale.bar.bottom():
            self._held = 0.0
            self._move_to(x)

    @override
    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        x, y = event.position().toTuple()
        if self._held is not None:
            self._move_to(x + self._held)
            return
        part = None if self._is_at_failure(x, y) else self._part_at(x, y)
        over = "" if part is None else part.id
        shape = Qt.CursorShape.SizeHorCursor if self._is_at_failure(x, y) else (
            Qt.CursorShape.PointingHandCursor if part is not None and part.id in FIELDS else Qt.CursorShape.ArrowCursor
        )  # fmt: skip
        self.setCursor(shape)
        if over != self._over:
            self._over = over
            self.hovered.emit("" if part is None else self._words(part))
            self.update()

    @override
    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        self._held = None

    @override
    def leaveEvent(self, event: QEvent) -> None:
        if self._over:
            self._over = ""
            self.hovered.emit("")
            self.update()

    def _words(self, part: ClockPart) -> str:
        return say("{part}: {time}; who acts: {actor}", part=say_text(part.name), time=rough(part.seconds, SECONDS),
                   actor=actor_word(part))  # fmt: skip

    def _move_to(self, x: float) -> None:
        """Ask for the moment at a place; near the mean and the ends it is those exactly."""
        scale = self.scale()
        if scale is None or self._case is None:
            return
        span = self._case.range_s
        if span is None:
            return
        if abs(x - scale.x(self._case.mean_moment_s)) <= _SNAP:
            self.moment_chosen.emit(None)
            return
        self.moment_chosen.emit(min(max(scale.seconds(x), span[0]), span[1]))

    @override
    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            part = self._part_at(event.pos().x(), event.pos().y())
            if self._is_at_failure(event.pos().x(), event.pos().y()):
                QToolTip.showText(event.globalPos(), say("Drag it to another moment; Home brings it back"), self)
            elif part is not None:
                QToolTip.showText(event.globalPos(), self._words(part), self)
            else:
                QToolTip.hideText()
            return True
        return super().event(event)

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        if self._case is None or self._case.range_s is None:
            return
        key, (first, last) = Qt.Key(event.key()), self._case.range_s
        move = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}.get(key, 0)
        if move:
            step = (last - first) / (20 if event.modifiers() & Qt.KeyboardModifier.ControlModifier else 100)
            self.moment_chosen.emit(min(max(self._case.survival.moment_s + move * step, first), last))
        elif key == Qt.Key.Key_Home:
            self.moment_chosen.emit(None)
        elif key == Qt.Key.Key_End:
            self.moment_chosen.emit(last)
        else:
            super().keyPressEvent(event)
