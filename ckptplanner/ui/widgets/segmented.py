"""A switch of two or three words side by side, all of them visible: async | sync."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent, QPaintEvent
from PySide6.QtWidgets import QButtonGroup, QHBoxLayout, QPushButton, QWidget
from typing_extensions import override

from ckptplanner.frozen import FieldSpec
from ckptplanner.ui.theme import FIELD_HEIGHT, paint_guess_edge, set_property
from ckptplanner.ui.widgets.choice_edit import Choice
from ckptplanner.ui.words import say


class Segmented(QWidget):
    """One choice among few. Left and right go along; the chosen word alone takes part in the tab order."""

    edited = Signal(str, object)
    gesture_ended = Signal()
    refused = Signal(str)

    def __init__(self, spec: FieldSpec, choices: Sequence[Choice], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.path = spec.path
        self._choices = tuple(choices)
        self._value: Any = None
        self._is_guess = False
        self._message = ""
        self.setObjectName(spec.path)
        self.setAccessibleName(say(spec.title))
        self.setFixedHeight(FIELD_HEIGHT)
        self._group = QButtonGroup(self)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        for index, choice in enumerate(self._choices):
            row.addWidget(self._button(index, choice), 1)
        self._group.idClicked.connect(self._on_clicked)

    def _button(self, index: int, choice: Choice) -> QPushButton:
        button = QPushButton(choice.label)
        button.setCheckable(True)
        button.setProperty("role", "segment")
        button.setProperty("place", "first" if index == 0 else "last" if index == len(self._choices) - 1 else "middle")
        button.setFixedHeight(FIELD_HEIGHT)
        button.setToolTip(choice.tooltip)
        self._group.addButton(button, index)
        if index == 0:
            self.setFocusProxy(button)
        return button

    def show_value(self, value: Any) -> None:
        """Show the choice of that value. (Setting a button emits no `idClicked`.)"""
        self._value = value
        for index, choice in enumerate(self._choices):
            button, is_chosen = self._group.button(index), choice.value == value
            if button.isChecked() != is_chosen and is_chosen:
                button.setChecked(True)
            if is_chosen:
                self.setFocusProxy(button)
            button.setFocusPolicy(Qt.FocusPolicy.StrongFocus if is_chosen else Qt.FocusPolicy.ClickFocus)

    def show_guess(self, is_guess: bool) -> None:
        """Mark the value as a guess by its edge."""
        self._is_guess = is_guess
        self._show_state()

    def show_refusal(self, message: str) -> None:
        """Mark the choice as refused and go back to the one that holds."""
        if message:
            self.show_value(self._value)
        if message != self._message:
            self._message = message
            self._show_state()
            self.refused.emit(message)

    def value_text(self) -> str:
        """The choice that holds, as text."""
        return next((choice.label for choice in self._choices if choice.value == self._value), "")

    def _show_state(self) -> None:
        state = "error" if self._message else "guess" if self._is_guess else ""
        if (self.property("state") or "") != state:
            set_property(self, "state", state)
            for button in self._group.buttons():
                self.style().unpolish(button)
                self.style().polish(button)

    def _on_clicked(self, index: int) -> None:
        chosen = self._choices[index].value
        if chosen != self._value:
            self.show_refusal("")
            self.edited.emit(self.path, chosen)
            self.gesture_ended.emit()

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        if self._is_guess and self.isEnabled() and not self._message:
            paint_guess_edge(self)

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        move = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}.get(Qt.Key(event.key()), 0)
        index = next((i for i, choice in enumerate(self._choices) if choice.value == self._value), 0) + move
        if move and 0 <= index < len(self._choices):
            button = self._group.button(index)
            button.setFocus(Qt.FocusReason.TabFocusReason)
            button.click()
        elif not move:
            super().keyPressEvent(event)
