"""The names at the user's site that files use: only those, in a row that folds; one that is still an example is marked."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from PySide6.QtCore import QSettings, Signal
from PySide6.QtGui import QPaintEvent
from PySide6.QtWidgets import QGridLayout, QLabel, QLineEdit, QVBoxLayout, QWidget
from typing_extensions import override

from ckptplanner.engine.settings.names import NAMES, NameRule, refusal
from ckptplanner.engine.settings.target import Names
from ckptplanner.ui.theme import paint_guess_edge, set_property
from ckptplanner.ui.words import say, say_text

_KEY, _COLUMNS = "apply/names", 4


class _NameEdit(QLineEdit):
    """One name; a dashed edge while it is the example."""

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if self.property("state") == "guess" and not self.hasFocus():
            paint_guess_edge(self)


class NamesForm(QWidget):
    """Holds the names; `changed` says that there is a new one that is accepted, `checked` that one was looked at."""

    changed = Signal()
    checked = Signal()

    def __init__(self, settings: QSettings, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("apply.names")
        self._settings = settings
        self.names = Names()
        self._used: tuple[str, ...] = ()
        self._edits: dict[str, _NameEdit] = {}
        self._cells: dict[str, QWidget] = {}
        self._grid = QGridLayout()
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(12)
        self._grid.setVerticalSpacing(4)
        for column in range(_COLUMNS):
            self._grid.setColumnStretch(column, 1)
        self._trouble = QLabel()
        self._trouble.setObjectName("apply.name_trouble")
        self._trouble.setProperty("role", "refusal")
        self._trouble.setWordWrap(True)
        self._trouble.hide()
        for rule in NAMES:
            self._add(rule)
        box = QVBoxLayout(self)
        box.setContentsMargins(0, 0, 0, 0)
        box.setSpacing(4)
        box.addLayout(self._grid)
        box.addWidget(self._trouble)

    def _add(self, rule: NameRule) -> None:
        stored = str(self._settings.value(f"{_KEY}/{rule.name}", ""))
        if stored and refusal(rule.name, stored) is None:
            self.names = replace(self.names, **{rule.name: stored})
        label, edit = QLabel(say_text(rule.title)), _NameEdit(getattr(self.names, rule.name))
        label.setProperty("role", "small")
        edit.setObjectName(f"apply.name.{rule.name}")
        edit.setAccessibleName(label.text())
        edit.setFixedHeight(24)
        edit.setCursorPosition(0)
        label.setBuddy(edit)
        edit.textEdited.connect(self._on_typed)
        edit.editingFinished.connect(self._on_finished)
        self._edits[rule.name], cell = edit, QWidget(self)
        column = QVBoxLayout(cell)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(label)
        column.addWidget(edit)
        self._cells[rule.name] = cell
        cell.hide()
        self._show_state(rule.name)

    def show_used(self, names: Collection[str]) -> None:
        """Show these names alone, in their order."""
        used = tuple(rule.name for rule in NAMES if rule.name in names)
        if used == self._used:
            return
        self._used = used
        for cell in self._cells.values():
            self._grid.removeWidget(cell)
            cell.hide()
        for place, name in enumerate(used):
            self._grid.addWidget(self._cells[name], place // _COLUMNS, place % _COLUMNS)
            self._cells[name].show()
        self.setVisible(bool(used))
        self._show_trouble()

    def examples_of(self, names: Collection[str]) -> tuple[str, ...]:
        """What those of the names are called that are still the example's."""
        examples = Names()
        return tuple(
            say_text(rule.title)
            for rule in NAMES
            if rule.name in names and getattr(self.names, rule.name) == getattr(examples, rule.name)
        )

    # ------------------------------------------------------------ hands

    def _on_typed(self) -> None:
        name = self._name_of(self.sender())
        value = self._edits[name].text().strip()
        sentence = refusal(name, value)
        if sentence is None and value != getattr(self.names, name):
            self.names = replace(self.names, **{name: value})
            self._settings.setValue(f"{_KEY}/{name}", value)
            self.changed.emit()
        self._show_state(name)
        self._show_trouble()
        self.checked.emit()

    def _on_finished(self) -> None:
        """What was refused stays to be corrected; what is accepted stands as it is taken."""
        name = self._name_of(self.sender())
        if refusal(name, self._edits[name].text().strip()) is None:
            self._edits[name].setText(getattr(self.names, name))

    def _show_trouble(self) -> None:
        """What is expected in the first of the shown fields that holds something else."""
        sentence = self.trouble_with(self._used)
        self._trouble.setText(sentence)
        self._trouble.setVisible(bool(sentence))

    def trouble_with(self, names: Collection[str]) -> str:
        """Which of the names is refused and what is expected; nothing where all are accepted, so that files hold them."""
        for rule in NAMES:
            value = self._edits[rule.name].text().strip()
            sentence = refusal(rule.name, value) if rule.name in names else None
            if sentence is not None and value:
                return say("{name} “{value}” is refused. {expected}",
                           name=say_text(rule.title), value=value, expected=say_text(sentence))  # fmt: skip
            if sentence is not None:
                return say("{name} is empty. {expected}", name=say_text(rule.title), expected=say_text(sentence))
        return ""

    def _name_of(self, edit: object) -> str:
        return next(name for name, one in self._edits.items() if one is edit)

    def _show_state(self, name: str) -> None:
        edit = self._edits[name]
        is_refused = refusal(name, edit.text().strip()) is not None
        is_example = edit.text().strip() == getattr(Names(), name)
        set_property(edit, "state", "error" if is_refused else "guess" if is_example else "")
        edit.setToolTip(say("An example: write your own") if is_example else edit.text())
