"""A panel: a list of entries turned into rows under one header.

A panel lists its entries and says nothing else about its form:

    FieldEntry("failures.mtbi_s", line=_each_node)     a field of the Scenario; its words come from the Scenario
    ComputedEntry("restart_s", say("Restart time"), ...)   a figure of the Plan; a click asks why

Values come by `show_workbook`, what follows from them (second lines, computed figures, choices) by `show_plan`. A panel
proposes edits and holds none.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import QPushButton, QScrollArea, QVBoxLayout, QWidget

from ckptplanner.engine.plan import Plan
from ckptplanner.engine.scenario import NamedScenario, Scenario, Source, Workbook
from ckptplanner.engine.value_words import VALUE_WORDS, range_words
from ckptplanner.frozen import FieldSpec, PathError, spec_of, value_at
from ckptplanner.ui.theme import EDGE
from ckptplanner.ui.widgets.choice_edit import CheckEdit, Choice, ChoiceEdit, SearchEdit
from ckptplanner.ui.widgets.field_row import ComputedRow, Editor, FieldRow, source_meaning
from ckptplanner.ui.widgets.quantity_edit import QuantityEdit
from ckptplanner.ui.widgets.section import Section
from ckptplanner.ui.widgets.segmented import Segmented
from ckptplanner.ui.words import say, say_text

Edit = tuple[str, Any]
Make = Callable[[FieldSpec], Editor]
_UNSEEN = object()


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldEntry:
    """One field of the Scenario as a row; what is left out comes from the field itself."""

    path: str
    title: str = ""
    help: str = ""
    make: Make | None = None
    rare: bool = False
    shown: Callable[[Scenario], Any] | None = None
    edits: Callable[[Scenario, Any], Sequence[Edit]] | None = None
    is_shown: Callable[[Scenario], bool] | None = None
    reason: Callable[[Scenario], str] | None = None
    line: Callable[[Plan], str] | None = None
    none_text: Callable[[Plan], str] | None = None
    choices: Callable[[Plan], Sequence[Choice]] | None = None
    also: tuple[str, ...] = ()  # other fields that this row stands for


@dataclass(frozen=True, slots=True, kw_only=True)
class ComputedEntry:
    """One figure of the Plan as a row."""

    figure: str
    title: str
    text: Callable[[Plan], str]
    line: Callable[[Plan], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class ButtonEntry:
    """A button that proposes one edit."""

    title: str
    edit: Edit
    is_shown: Callable[[Scenario], bool]


Entry = FieldEntry | ComputedEntry | ButtonEntry


# How an entry is edited


def quantity(none_text: str = "") -> Make:
    """A quantity; `none_text` says what an empty field means."""
    return lambda spec: QuantityEdit(spec, none_text)


def listed(*choices: Choice, describe: Callable[[Any], str] = str) -> Make:
    """A list that drops down; `describe` names a value that is not in it."""

    def make(spec: FieldSpec) -> ChoiceEdit:
        editor = ChoiceEdit(spec, describe)
        editor.show_choices(choices)
        return editor

    return make


def switch(*choices: Choice) -> Make:
    """Two or three words side by side."""
    return lambda spec: Segmented(spec, choices)


def check(text: str) -> Make:
    """Yes or no, with a word beside the box."""
    return lambda spec: CheckEdit(spec, text)


def search(find: Callable[[str], Sequence[Choice]], describe: Callable[[Any], str], hint: str) -> Make:
    """A search in a catalog."""
    return lambda spec: SearchEdit(spec, find, describe, hint)


def named_choices(path: str) -> list[Choice]:
    """The values of a choice field under their common names."""
    return [Choice(value, say_text(words)) for value, words in VALUE_WORDS[path].items()]


def _default_make(spec: FieldSpec) -> Make:
    return check("") if spec.is_bool else quantity()


# Rows that know where their value lies


class _BoundField:
    """A row and its entry: knows how to show a scenario and a plan, and shows only what is new."""

    def __init__(self, entry: FieldEntry) -> None:
        self.entry = entry
        self.spec, self._is_field = _spec(entry)
        editor = (entry.make or _default_make(self.spec))(self.spec)
        self.row = FieldRow(editor, entry.title or say(self.spec.title), entry.help or say(self.spec.description))
        self._seen: tuple[Any, Source | None] = (_UNSEEN, None)
        self._kind, self._reason = "", ""
        self._is_there = True

    @property
    def is_guess(self) -> bool:
        """Whether it counts in this scenario, and its value is an assumption."""
        return self._is_there and not self._reason and self._kind == "guess"

    def show_filtered(self, only_guesses: bool) -> None:
        """Show the row where it is there, or only where it holds an assumption."""
        self.row.setVisible(self.is_guess if only_guesses else self._is_there)

    def show_scenario(self, named: NamedScenario, sources: dict[str, Source]) -> None:
        entry, scenario = self.entry, named.scenario
        self._is_there = entry.is_shown is None or entry.is_shown(scenario)
        if entry.reason is not None:
            self._reason = entry.reason(scenario)
            self.row.set_enabled_reason(self._reason)
        value = entry.shown(scenario) if entry.shown else value_at(scenario, entry.path)
        source = sources.get(entry.path)
        if self._seen[0] is value and self._seen[1] is source:
            return
        self._seen = (value, source)
        self._kind = kind = "" if value is None else source.kind if source else self._default_kind(scenario)
        with QSignalBlocker(self.row):
            self.row.show_value(value, kind, _source_tooltip(kind, source))

    def _default_kind(self, scenario: Scenario) -> str:
        if not self._is_field:
            return ""
        return self.spec.default_source if value_at(scenario, self.entry.path) == self.spec.default else "typed"

    def show_plan(self, plan: Plan) -> None:
        entry, editor = self.entry, self.row.editor
        with QSignalBlocker(self.row):
            if entry.choices is not None and isinstance(editor, ChoiceEdit):
                editor.show_choices(entry.choices(plan))
            if entry.none_text is not None and isinstance(editor, QuantityEdit):
                editor.show_none_text(entry.none_text(plan))
            if entry.line is not None:
                self.row.show_second_line(entry.line(plan))


def _spec(entry: FieldEntry) -> tuple[FieldSpec, bool]:
    """What is known about the field, and whether it is one: the published record is none, it fills two of them."""
    try:
        return spec_of(Scenario, entry.path), True
    except PathError:
        made = FieldSpec(entry.path, entry.title, entry.help, None, True, (), False, False, None, "", None, None, False)
        return made, False


def _source_tooltip(kind: str, source: Source | None) -> str:
    if source and (source.text or source.date or source.note):
        head = ", ".join(filter(None, (source.text, source.date)))
        measured = range_words(source)
        return "\n".join(filter(None, (head, say_text(measured) if measured else "", source.note)))
    return source_meaning(kind)


class Panel(QWidget):
    """One section of the column. Subclasses name it and list its entries."""

    edited = Signal(str, object)
    refused = Signal(str, str)  # path and why its text is not accepted; empty once it is
    gesture_ended = Signal()
    why_requested = Signal(str)
    source_requested = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.section = Section(self.title())
        self._name = ""
        self._only_guesses = False
        self._scenario: Scenario | None = None
        self._sources: tuple[Source, ...] = ()
        self._plan: Plan | None = None
        self._fields: dict[str, _BoundField] = {}
        self._homes: dict[str, _BoundField] = {}
        self._computed: list[tuple[ComputedEntry, ComputedRow]] = []
        self._buttons: list[tuple[ButtonEntry, QPushButton, QWidget]] = []
        self.setProperty("role", "panel")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.section)
        for entry in self.entries():
            self._add(entry)
        self.section.rows_shown.connect(self._show_what_follows)

    def title(self) -> str:
        """The name in the header."""
        raise NotImplementedError

    def entries(self) -> Sequence[Entry]:
        """What the panel holds, from top to bottom."""
        raise NotImplementedError

    def _add(self, entry: Entry) -> None:
        if isinstance(entry, FieldEntry):
            bound = _BoundField(entry)
            self._fields[entry.path] = bound
            self._homes |= dict.fromkeys((entry.path, *entry.also), bound)
            bound.row.edited.connect(self._on_edited)
            bound.row.gesture_ended.connect(self.gesture_ended)
            bound.row.source_requested.connect(self.source_requested)
            bound.row.editor.refused.connect(partial(self.refused.emit, entry.path))
            self.section.add_row(bound.row, rare=entry.rare)
        elif isinstance(entry, ComputedEntry):
            row = ComputedRow(entry.figure, entry.title)
            row.why_requested.connect(self.why_requested)
            self._computed.append((entry, row))
            self.section.add_row(row)
        else:
            self._add_button(entry)

    def _add_button(self, entry: ButtonEntry) -> None:
        button = QPushButton(entry.title)
        button.setProperty("role", "link")
        button.setObjectName(f"button.{entry.edit[0]}")
        button.clicked.connect(self._on_button)
        holder = QWidget()
        column = QVBoxLayout(holder)
        column.setContentsMargins(EDGE, 2, EDGE, 2)
        column.addWidget(button)
        self._buttons.append((entry, button, holder))
        self.section.add_row(holder)

    # What is shown

    def show_workbook(self, workbook: Workbook) -> None:
        """Show the values of the current scenario; emits nothing."""
        named = workbook.shown
        if named.name != self._name:
            self._name = named.name
            for bound in self._fields.values():
                bound.row.forget()
        if named.scenario is self._scenario and named.sources is self._sources:
            return
        self._scenario, self._sources = named.scenario, named.sources
        sources = {source.path: source for source in named.sources}
        for bound in self._fields.values():
            bound.show_scenario(named, sources)
        self._show_rows()

    @property
    def guesses(self) -> int:
        """How many of its fields hold an assumption."""
        return sum(bound.is_guess for bound in self._fields.values())

    def show_filtered(self, only_guesses: bool) -> None:
        """Show all rows, or those of assumptions alone; without any the panel is not there."""
        if only_guesses != self._only_guesses:
            self._only_guesses = only_guesses
            self.section.show_filtered(only_guesses)
            self._show_rows()

    def _show_rows(self) -> None:
        """Which rows are there, by the scenario and the filter."""
        if self._scenario is None:
            return
        for bound in self._fields.values():
            bound.show_filtered(self._only_guesses)
        for entry, _, holder in self._buttons:
            holder.setVisible(entry.is_shown(self._scenario) and not self._only_guesses)
        for _, row in self._computed:
            row.setVisible(not self._only_guesses)
        self.section.setVisible(not self._only_guesses or self.guesses > 0)
        self.section.count_rows()

    def show_plan(self, plan: Plan) -> None:
        """Show what follows from the values: computed figures, second lines, choices; emits nothing."""
        if plan is self._plan:
            return
        self._plan = plan
        self._show_what_follows()

    def _show_what_follows(self) -> None:
        """Bring the rows up to date that can be seen; the others follow when they are shown."""
        plan, section = self._plan, self.section
        if plan is None or not section.is_unfolded:
            return
        for bound in self._fields.values():
            if section.is_more_shown or self._only_guesses or not bound.entry.rare:
                bound.show_plan(plan)
        for entry, row in self._computed:
            row.show_value(entry.text(plan), entry.line(plan))

    def show_refusal(self, path: str, message: str) -> None:
        """Say below the row of `path` why its value was refused; other panels' paths are passed over."""
        if path in self._homes:
            self._homes[path].row.show_refusal(message)

    # Where a field is

    def has_field(self, path: str) -> bool:
        """Whether the field at `path` has its row here."""
        return path in self._homes

    def field(self, path: str) -> FieldRow:
        """The row of the field at `path`.

        Raises:
            KeyError: it has no row in this panel.
        """
        return self._homes[path].row

    def computed(self, figure: str) -> ComputedRow:
        """The row of a computed figure.

        Raises:
            KeyError: it has no row in this panel.
        """
        return {entry.figure: row for entry, row in self._computed}[figure]

    def focus_field(self, path: str) -> None:
        """Unfold and scroll to the row of `path` and put the cursor into it."""
        row = self.field(path)
        self.section.reveal(row)
        parent: QWidget | None = self
        while parent is not None and not isinstance(parent, QScrollArea):
            parent = parent.parentWidget()
        if isinstance(parent, QScrollArea) and (content := parent.widget()) is not None:
            content.adjustSize()
            parent.ensureWidgetVisible(row, 0, row.height() * 2)
        row.focus()

    # What is proposed

    def _on_edited(self, path: str, value: Any) -> None:
        edits = self._fields[path].entry.edits
        if edits is None or self._scenario is None:
            self.edited.emit(path, value)
            return
        for target, proposed in edits(self._scenario, value):
            self.edited.emit(target, proposed)

    def _on_button(self) -> None:
        pressed = self.sender()
        for entry, button, _ in self._buttons:
            if button is pressed:
                self.edited.emit(*entry.edit)
                self.gesture_ended.emit()
