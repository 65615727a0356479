"""Editors for what is chosen rather than typed: a list that drops down, a search in a catalog, yes or no."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QEvent, QModelIndex, QPoint, QPointF, QRect, QRectF, QSignalBlocker, QStringListModel, Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent, QPainter, QPaintEvent, QPalette, QPen, QWheelEvent
from PySide6.QtWidgets import (
    QApplication,
    QCheckBox,
    QComboBox,
    QCompleter,
    QLineEdit,
    QListView,
    QStyle,
    QStyleOptionComboBox,
    QStylePainter,
    QWidget,
)
from typing_extensions import override

from ckptplanner.frozen import FieldSpec
from ckptplanner.ui.theme import FIELD_HEIGHT, paint_guess_edge, set_property
from ckptplanner.ui.widgets.quantity_edit import is_undo_or_redo
from ckptplanner.ui.words import say

_BOX = 14


@dataclass(frozen=True, slots=True)
class Choice:
    """One thing to choose: its value, how it reads in the list, how it reads in the closed field, and a tooltip."""

    value: Any
    label: str
    short: str = ""
    tooltip: str = ""

    @property
    def closed_label(self) -> str:
        """How it reads in the closed field."""
        return self.short or self.label


class ChoiceEdit(QComboBox):
    """A list that drops down. A value that is not in the list is shown as one more entry as long as it holds."""

    edited = Signal(str, object)
    gesture_ended = Signal()
    refused = Signal(str)

    def __init__(self, spec: FieldSpec, describe: Callable[[Any], str] = str, parent: QWidget | None = None) -> None:
        """Build the field; `describe` says how a value reads that is not offered."""
        super().__init__(parent)
        self.path = spec.path
        self._describe = describe
        self._choices: tuple[Choice, ...] = ()
        self._listed: tuple[Choice, ...] = ()
        self._value: Any = None
        self._is_guess = False
        self._message = ""
        self.setObjectName(spec.path)
        self.setAccessibleName(say(spec.title))
        self.setFixedHeight(FIELD_HEIGHT)
        self.setMaxVisibleItems(16)
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.setMinimumContentsLength(4)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.activated.connect(self._on_activated)

    def show_choices(self, choices: Sequence[Choice]) -> None:
        """Offer these; nothing is done when they are offered already."""
        if tuple(choices) != self._choices:
            self._choices = tuple(choices)
            self._listed = ()
            self.show_value(self._value)

    def show_value(self, value: Any) -> None:
        """Show the choice of that value."""
        if value == self._value and self._listed and self._listed[self.currentIndex()].value == value:
            return
        self._value = value
        listed = self._choices
        if all(choice.value != value for choice in listed):
            listed = (*listed, Choice(value, self._describe(value)))
        with QSignalBlocker(self):
            if listed != self._listed:
                self._list(listed)
            self.setCurrentIndex(next(i for i, choice in enumerate(listed) if choice.value == value))
        self.setToolTip(listed[self.currentIndex()].label if listed[self.currentIndex()].short else "")

    def _list(self, listed: tuple[Choice, ...]) -> None:
        self._listed = listed
        self.clear()
        self.addItems([choice.label for choice in listed])
        for index, choice in enumerate(listed):
            self.setItemData(index, choice.tooltip, Qt.ItemDataRole.ToolTipRole)

    @override
    def showPopup(self) -> None:
        self.view().setMinimumWidth(self.view().sizeHintForColumn(0) + 16)
        super().showPopup()

    def show_guess(self, is_guess: bool) -> None:
        """Mark the value as a guess by its edge."""
        self._is_guess = is_guess
        self._show_state()

    def show_refusal(self, message: str) -> None:
        """Mark the choice as refused; the list goes back to the value that holds."""
        if message and message != self._message:
            self.show_value(self._value)
        if message != self._message:
            self._message = message
            self._show_state()
            self.refused.emit(message)

    def value_text(self) -> str:
        """The choice that holds, as text."""
        return next((choice.closed_label for choice in self._listed if choice.value == self._value), "")

    def _show_state(self) -> None:
        set_property(self, "state", "error" if self._message else "guess" if self._is_guess else "")

    def _on_activated(self, index: int) -> None:
        chosen = self._listed[index].value
        if chosen != self._value:
            self.show_refusal("")
            self.edited.emit(self.path, chosen)
            self.gesture_ended.emit()

    @override
    def wheelEvent(self, event: QWheelEvent) -> None:
        if self.hasFocus():
            super().wheelEvent(event)
        else:
            event.ignore()

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        """The frame as the style has it; the short text and a line-drawn chevron on top."""
        painter, option = QStylePainter(self), QStyleOptionComboBox()
        self.initStyleOption(option)
        label = self._listed[self.currentIndex()].closed_label if self.currentIndex() >= 0 else ""
        option.currentText = ""
        painter.drawComplexControl(QStyle.ComplexControl.CC_ComboBox, option)
        role, palette = QPalette.ColorRole, QApplication.palette()
        group = QPalette.ColorGroup.Active if self.isEnabled() else QPalette.ColorGroup.Disabled
        place = QRect(6, 0, self.width() - 22, self.height())
        painter.setPen(palette.color(group, role.Text))
        text = self.fontMetrics().elidedText(label, Qt.TextElideMode.ElideRight, place.width())
        painter.drawText(place, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, text)
        paint_chevron(painter, QPointF(self.width() - 11, self.height() / 2), palette.color(group, role.PlaceholderText))
        painter.end()
        if self._is_guess and self.isEnabled() and not (self._message or self.hasFocus()):
            paint_guess_edge(self)


def paint_chevron(painter: QPainter, centre: QPointF, colour: Any, *, is_open: bool = True) -> None:
    """Draw the mark of what unfolds: pointing down, or to the right while it is folded."""
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(colour, 1.25))
    points = [QPointF(-3.5, -1.75), QPointF(0, 1.75), QPointF(3.5, -1.75)]
    if not is_open:
        points = [QPointF(point.y(), point.x()) for point in points]
    painter.drawPolyline([centre + point for point in points])
    painter.restore()


class CheckEdit(QCheckBox):
    """Yes or no: a box with a tick, and a word beside it."""

    edited = Signal(str, object)
    gesture_ended = Signal()
    refused = Signal(str)

    def __init__(self, spec: FieldSpec, text: str = "", parent: QWidget | None = None) -> None:
        super().__init__(text, parent)
        self.path = spec.path
        self._value = False
        self._message = ""
        self._is_guess = False
        self.setObjectName(spec.path)
        self.setAccessibleName(say(spec.title))
        self.setFixedHeight(FIELD_HEIGHT)
        self.clicked.connect(self._on_clicked)

    def show_value(self, value: Any) -> None:
        """Show whether it holds."""
        self._value = bool(value)
        with QSignalBlocker(self):
            self.setChecked(self._value)

    def show_guess(self, is_guess: bool) -> None:
        """Mark the value as a guess."""
        self._is_guess = is_guess
        self._show_state()

    def show_refusal(self, message: str) -> None:
        """Go back to the value that holds."""
        if message:
            self.show_value(self._value)
        if message != self._message:
            self._message = message
            self._show_state()
            self.refused.emit(message)

    def value_text(self) -> str:
        """The value that holds, as text."""
        return say("yes") if self._value else say("no")

    def _on_clicked(self, is_checked: bool) -> None:
        if is_checked != self._value:
            self.edited.emit(self.path, is_checked)
            self.gesture_ended.emit()

    def _show_state(self) -> None:
        set_property(self, "state", "error" if self._message else "guess" if self._is_guess else "")

    @override
    def hitButton(self, place: QPoint) -> bool:
        return self.rect().contains(place)

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        role, group, palette = QPalette.ColorRole, QPalette.ColorGroup, QApplication.palette()
        painter, box = QPainter(self), QRectF(0.5, (self.height() - _BOX) / 2 + 0.5, _BOX - 1, _BOX - 1)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        edge = role.BrightText if self._message else role.LinkVisited if self._is_guess else role.Dark
        painter.setPen(palette.color(role.Accent if self.hasFocus() else edge))
        painter.setBrush(palette.color(role.Accent if self.isChecked() else role.Base))
        painter.drawRoundedRect(box, 3, 3)
        if self.isChecked():
            painter.setPen(QPen(palette.color(role.HighlightedText), 1.5))
            painter.drawPolyline([box.topLeft() + QPointF(x, y) for x, y in ((3, 6.5), (5.5, 9), (10, 4))])
        painter.setPen(palette.color(group.Active if self.isEnabled() else group.Disabled, role.Text))
        place = self.rect().adjusted(_BOX + 6, 0, 0, 0)
        painter.drawText(place, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, self.text())


class SearchEdit(QLineEdit):
    """A name to look for in a catalog: what matches drops down while one types; choosing one proposes its value."""

    edited = Signal(str, object)
    gesture_ended = Signal()
    refused = Signal(str)

    def __init__(
        self,
        spec: FieldSpec,
        find: Callable[[str], Sequence[Choice]],
        describe: Callable[[Any], str] = str,
        hint: str = "",
        parent: QWidget | None = None,
    ) -> None:
        """Build the field; `describe` names a value, `hint` stands in the empty field."""
        super().__init__(parent)
        self.path = spec.path
        self._find = find
        self._describe = describe
        self._found: tuple[Choice, ...] = ()
        self._value: Any = None
        self._name = ""
        self._is_guess = False
        self._message = ""
        self.setObjectName(spec.path)
        self.setAccessibleName(say(spec.title))
        self.setFixedHeight(FIELD_HEIGHT)
        self.setPlaceholderText(hint)
        self._names = QStringListModel(self)
        completer = QCompleter(self._names, self)
        completer.setCompletionMode(QCompleter.CompletionMode.UnfilteredPopupCompletion)
        completer.setMaxVisibleItems(12)
        self._popup = QListView()
        self._popup.setProperty("role", "completions")
        completer.setPopup(self._popup)
        completer.activated[QModelIndex].connect(self._on_completed)  # type: ignore[index]
        self.setCompleter(completer)
        self.textEdited.connect(self._on_typed)
        self.returnPressed.connect(self._on_return)

    def show_value(self, value: Any) -> None:
        """Show the name of what holds; text being typed stays while that is the same."""
        is_same = value == self._value
        self._value, self._name = value, "" if value is None else self._describe(value)
        self.setToolTip(self._name)
        if not (is_same and (self.isModified() or self._message)):
            self._settle()

    def show_guess(self, is_guess: bool) -> None:
        """Mark the value as a guess by its edge."""
        self._is_guess = is_guess
        self._show_state()

    def show_refusal(self, message: str) -> None:
        """Mark the text as refused; an empty message takes it back."""
        if message != self._message:
            self._message = message
            self._show_state()
            self.refused.emit(message)

    def forget(self) -> None:
        """Drop what is being typed or was refused, and show the name of what holds."""
        self._settle()

    def value_text(self) -> str:
        """The name of what holds."""
        return self._name

    def _show_state(self) -> None:
        set_property(self, "state", "error" if self._message else "guess" if self._is_guess else "")

    def _settle(self) -> None:
        if self.text() != self._name or self.isModified():
            self.setText(self._name)
            self.setCursorPosition(0)
        self.show_refusal("")

    def _on_typed(self, text: str) -> None:
        self.show_refusal("")
        self._found = tuple(self._find(text))
        self._names.setStringList([choice.label for choice in self._found])
        self._popup.setMinimumWidth(max(self.width(), self._popup.sizeHintForColumn(0) + 24))

    def _on_completed(self, index: QModelIndex) -> None:
        self._propose(self._found[index.row()])

    def _on_return(self) -> None:
        if not self.isModified():
            return
        if not self.text().strip():
            self._settle()
            return
        found = tuple(self._find(self.text()))
        if found:
            self._propose(found[0])
        else:
            self.show_refusal(say("No model in the catalog is called that."))

    def _propose(self, choice: Choice) -> None:
        self.setText(choice.closed_label)
        self.setCursorPosition(0)
        self.edited.emit(self.path, choice.value)
        self.gesture_ended.emit()

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if self._is_guess and self.isEnabled() and not (self._message or self.hasFocus()):
            paint_guess_edge(self)

    @override
    def event(self, event: QEvent) -> bool:
        """Undo and redo belong to the window while nothing is being typed."""
        if not self.isModified() and is_undo_or_redo(event):
            event.ignore()
            return True
        return super().event(event)

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape and (self.isModified() or self._message):
            self._settle()
        else:
            super().keyPressEvent(event)

    @override
    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        if event.reason() != Qt.FocusReason.PopupFocusReason and self.isModified():
            self._settle()
