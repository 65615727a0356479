"""A field that takes a quantity as people write it ("90 min", "1.6 TB/s") and shows it back normalised.

Typing is nobody's business but the field's: it says at once whether it understands, and proposes the value on Enter, on
leaving, and at each step of wheel or arrow key. What it does not understand stays as typed until it does; Escape goes
back. A field never takes its own proposal for granted: it waits for `show_value`.
"""

from __future__ import annotations

from typing import Any, Final

from PySide6.QtCore import QEvent, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent, QKeySequence, QMouseEvent, QPainter, QPaintEvent, QPalette, QPen, QWheelEvent
from PySide6.QtWidgets import QApplication, QLineEdit, QWidget
from typing_extensions import override

from ckptplanner.frozen import FieldSpec
from ckptplanner.ui.theme import FIELD_HEIGHT, paint_guess_edge, set_property
from ckptplanner.ui.widgets.steps import ladder_step, nice_step
from ckptplanner.ui.words import say
from ckptplanner.units import NUMBER, Unit, UnitError, exact, parse

_NOTHING: Final = object()
_STEPPER_WIDTH = 16
_WHEEL_NOTCH = 120


def out_of_range(value: float, spec: FieldSpec) -> str:
    """What would be accepted, in one sentence; empty when `value` is."""
    unit, low, high = spec.unit or NUMBER, spec.low, spec.high
    too_low = low is not None and (value <= low if spec.low_excluded else value < low)
    too_high = high is not None and value > high
    if not too_low and not too_high:
        return ""
    if low is not None and high is not None and not spec.low_excluded:
        return say("Between {low} and {high}.", low=exact(low, unit), high=exact(high, unit))
    if too_high and high is not None:
        return say("At most {high}.", high=exact(high, unit))
    if low is not None and spec.low_excluded:
        return say("More than {low}.", low="0" if low == 0 else exact(low, unit))
    return say("At least {low}.", low=exact(low or 0.0, unit))


def is_undo_or_redo(event: QEvent) -> bool:
    """Whether the keys of undo or redo are offered to a field before they become a shortcut."""
    if event.type() != QEvent.Type.ShortcutOverride or not isinstance(event, QKeyEvent):
        return False
    return event.matches(QKeySequence.StandardKey.Undo) or event.matches(QKeySequence.StandardKey.Redo)


class QuantityEdit(QLineEdit):
    """An editor for one number with a unit."""

    edited = Signal(str, object)
    gesture_ended = Signal()
    refused = Signal(str)  # why the text is not accepted; empty once it is

    def __init__(self, spec: FieldSpec, none_text: str = "", parent: QWidget | None = None) -> None:
        """Build the field; `none_text` says what an empty optional field means."""
        super().__init__(parent)
        self.path = spec.path
        self._spec = spec
        self._unit: Unit = spec.unit or NUMBER
        self._value: float | None = None
        self._proposed: Any = _NOTHING
        self._message = ""
        self._is_guess = False
        self._is_gesture_open = False
        self._wheel = 0
        self.setObjectName(spec.path)
        self.setAccessibleName(say(spec.title))
        self.setAccessibleDescription(say(spec.description) if spec.description else "")
        self.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.setFixedHeight(FIELD_HEIGHT)
        self.setPlaceholderText(none_text)
        self.textEdited.connect(self._on_typed)
        self.editingFinished.connect(self._on_finished)

    # What is shown

    def show_value(self, value: Any) -> None:
        """Show the value that holds; text being typed or refused stays while the value is the one that held before."""
        is_same = value == self._value
        self._value = value
        is_typing = self.isModified() and self._proposed is _NOTHING
        if not (is_same and (is_typing or self._message)):
            self._settle()

    def show_none_text(self, text: str) -> None:
        """Say what an empty field means at the moment."""
        if text != self.placeholderText():
            self.setPlaceholderText(text)

    def show_guess(self, is_guess: bool) -> None:
        """Mark the value as a guess by its edge."""
        self._is_guess = is_guess
        self._show_state()

    def show_refusal(self, message: str) -> None:
        """Mark the text as refused by something other than the field; an empty message takes it back."""
        if message != self._message:
            self._message = message
            self._show_state()
            self.refused.emit(message)

    def forget(self) -> None:
        """Drop what is being typed or was refused, and show the value that holds."""
        self._settle()

    def value_text(self) -> str:
        """The value that holds, as text."""
        return "" if self._value is None else exact(self._value, self._unit)

    def read_back(self) -> str:
        """How the text that is being typed will be shown, when that says more than the text itself; else empty."""
        value, message = self._read()
        if message or value is None or not self.isModified():
            return ""
        shown = exact(value, self._unit)
        return shown if _bare(shown) != _bare(self.text()) else ""

    def _settle(self) -> None:
        self._proposed = _NOTHING
        text = self.value_text()
        if self.text() != text or self.isModified():
            self.setText(text)
            self.setCursorPosition(0 if not self.hasFocus() else len(text))
        self.show_refusal("")

    def _show_state(self) -> None:
        set_property(self, "state", "error" if self._message else "guess" if self._is_guess else "")

    # What is proposed

    def _read(self) -> tuple[float | None, str]:
        """The value of the text, and why it is refused."""
        text = self.text().strip()
        if not text and self._spec.optional:
            return None, ""
        try:
            value = parse(text, self._unit)
        except UnitError as error:
            # `parse` holds its refusal in a local variable: with the traceback that cycle would keep this widget alive
            # until some garbage collection, and one in the middle of a repaint crashes Qt
            return None, say(str(error.with_traceback(None)))
        return value, out_of_range(value, self._spec)

    def _on_typed(self) -> None:
        self._proposed = _NOTHING
        self.show_refusal(self._read()[1])

    def _on_finished(self) -> None:
        if self.isModified():
            self._commit()
        self._end_gesture()

    def _commit(self) -> None:
        value, message = self._read()
        self.show_refusal(message)
        if not message:
            self._propose(value)

    def _propose(self, value: float | None) -> None:
        self.setText("" if value is None else exact(value, self._unit))
        self.show_refusal("")
        if value == (self._value if self._proposed is _NOTHING else self._proposed):
            return
        self._proposed = value
        self._is_gesture_open = True
        self.edited.emit(self.path, value)

    def _end_gesture(self) -> None:
        if self._is_gesture_open:
            self._is_gesture_open = False
            self.gesture_ended.emit()

    def step(self, up: bool, ladder: bool = False) -> None:
        """Go to the next value above or below; with `ladder` along 1, 2, 5, 10."""
        if not self.isEnabled() or self.isReadOnly():
            return
        value, message = self._read()
        if message:
            return
        start = value if value is not None else self._spec.low or 0.0
        stepped = (ladder_step if ladder else nice_step)(start, self._unit, up)
        stepped = self._within(start, stepped)
        self._propose(int(stepped) if self._spec.is_integer else stepped)

    def _within(self, start: float, stepped: float) -> float:
        low, high = self._spec.low, self._spec.high
        if high is not None and stepped > high:
            return max(start, high)
        if low is None or stepped > low or (stepped == low and not self._spec.low_excluded):
            return stepped
        if not self._spec.low_excluded:
            return low
        finer = start - 0.1 * (start - stepped)
        return finer if finer > low else start

    # Keys and pointer

    @override
    def event(self, event: QEvent) -> bool:
        """Undo and redo belong to the window while nothing is being typed; a line edit would swallow the keys."""
        if not self.isModified() and is_undo_or_redo(event):
            event.ignore()
            return True
        return super().event(event)

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        key, is_ladder = event.key(), bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)
        if key in (Qt.Key.Key_Up, Qt.Key.Key_Down):
            self.step(key == Qt.Key.Key_Up, is_ladder)
        elif key == Qt.Key.Key_Escape and (self.isModified() or self._message):
            self._settle()
        else:
            super().keyPressEvent(event)

    @override
    def keyReleaseEvent(self, event: QKeyEvent) -> None:
        super().keyReleaseEvent(event)
        if event.key() in (Qt.Key.Key_Up, Qt.Key.Key_Down) and not event.isAutoRepeat():
            self._end_gesture()

    @override
    def wheelEvent(self, event: QWheelEvent) -> None:
        if not self.hasFocus():
            event.ignore()
            return
        self._wheel += event.angleDelta().y()
        while abs(self._wheel) >= _WHEEL_NOTCH:
            is_up = self._wheel > 0
            self._wheel -= _WHEEL_NOTCH if is_up else -_WHEEL_NOTCH
            self.step(is_up, bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier))
        event.accept()

    @override
    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        if event.reason() != Qt.FocusReason.PopupFocusReason:
            self._end_gesture()
            self.setCursorPosition(0)

    @override
    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton and self._stepper_shown() and event.position().x() < _STEPPER_WIDTH:
            self.setFocus(Qt.FocusReason.MouseFocusReason)
            self.step(event.position().y() < self.height() / 2, bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier))
            return
        super().mousePressEvent(event)

    @override
    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        super().mouseMoveEvent(event)
        is_on_stepper = self._stepper_shown() and event.position().x() < _STEPPER_WIDTH
        self.setCursor(Qt.CursorShape.ArrowCursor if is_on_stepper else Qt.CursorShape.IBeamCursor)

    @override
    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self._end_gesture()

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if self._is_guess and self.isEnabled() and not (self._message or self.hasFocus()):
            paint_guess_edge(self)
        if self._stepper_shown():
            self._paint_stepper()

    def _stepper_shown(self) -> bool:
        fits = self.fontMetrics().horizontalAdvance(self.text()) < self.width() - _STEPPER_WIDTH - 12
        return self.underMouse() and self.isEnabled() and not self.isReadOnly() and fits

    def _paint_stepper(self) -> None:
        palette, middle = QApplication.palette(), self.height() / 2
        painter = QPainter(self)
        painter.fillRect(QRectF(_STEPPER_WIDTH, 2, 1, self.height() - 4), palette.color(QPalette.ColorRole.Midlight))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(palette.color(QPalette.ColorRole.PlaceholderText), 1.2))
        for side in (-1, 1):
            tip, foot = middle + side * 5.5, middle + side * 2.5
            painter.drawPolyline([QPointF(6, foot), QPointF(9, tip), QPointF(12, foot)])


def _bare(text: str) -> str:
    return "".join(text.split()).replace(",", "").replace("$", "").lower()
