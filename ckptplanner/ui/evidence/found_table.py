"""The values that the user's files tell, one row each: found, in use, what adopting it changes, and what is to be known of it.

Space or Enter adopts the chosen rows, Ctrl+A chooses all that are proposed, F goes to the field of a row, A
asks again where a row rests on an answer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QAction, QKeyEvent
from PySide6.QtWidgets import QMenu, QWidget
from typing_extensions import override

from ckptplanner.engine.adopting import Effect
from ckptplanner.ui.evidence import found_words as words
from ckptplanner.ui.evidence.line_table import Cell, Column, Line, LineTable, Tone
from ckptplanner.ui.widgets.field_row import source_word
from ckptplanner.ui.words import say


def columns() -> tuple[Column, ...]:
    """The columns of the table."""
    return (
        Column(say("Input"), 144, 340),
        Column(say("Found"), 76, 190, is_right=True),
        Column(say("Rests on"), 84, 150),
        Column(say("In use"), 60, 150, is_right=True),
        Column(say("$ a month"), 56, 110, is_right=True),
        Column(say("Waste, points"), 48, 90, is_right=True),
        Column("", 44, 90, is_right=True),
    )


def in_full(effect: Effect) -> str:
    """Everything that a row says."""
    one = effect.estimate
    lines = [
        f"{words.title_of(effect)}: {words.found_words(one)}",
        ", ".join(part for part in (words.range_words(one), words.spread_words(one), words.basis_words(one), one.date) if part),
        *(str(place) for place in one.places),
        *words.remarks(effect),
    ]
    return "\n".join(line for line in lines if line)


def _change(said: str, way: int, *, is_stale: bool) -> Cell:
    tone: Tone = "muted" if not way else "accent" if way < 0 else "warning"
    return Cell(said, tone=tone, is_stale=is_stale)


def _action(effect: Effect) -> Cell:
    if words.is_in_use(effect):
        return Cell(say("in use"), tone="muted", is_small=True, is_ticked=True)
    if not words.can_adopt(effect):
        return Cell()
    return Cell(say("Confirm") if words.is_confirmed(effect) else say("Adopt"), tone="accent", is_small=True)


def line_of(effect: Effect, *, is_stale: bool, rests_on_answer: bool = False) -> Line:
    """One value as a row of the table."""
    one, kind = effect.estimate, words.tone_of(effect)
    tone: Tone = "text" if kind == "proposed" else "muted"
    colour_of_source: Tone = "warning" if effect.in_use_source == "guess" else (
        "accent" if effect.in_use_source == "log" else "muted"
    )  # fmt: skip
    cells = [
        Cell(words.title_of(effect), words.place_words(one), tone),
        Cell(words.found_words(one), words.range_words(one), tone, is_bold=kind == "proposed"),
        Cell(words.basis_words(one), words.spread_words(one) or one.date, tone),
    ]
    if one.path is None:
        cells.append(Cell(say("for reading"), tone="muted", is_small=True))
    else:
        cells += [
            Cell(words.in_use_words(effect), source_word(effect.in_use_source), "text", colour_of_source),
            _change(words.money_change(effect.usd_per_month), words.money_direction(effect), is_stale=is_stale),
            _change(words.waste_change(effect.waste_fraction), words.waste_direction(effect), is_stale=is_stale),
            _action(effect),
        ]
    is_loud = effect.far is not None or kind == "doubtful"
    said = words.remarks(effect)
    if rests_on_answer:
        said = (*said, say("So you answered; A asks again."))
    return Line(
        words.key_of(effect), tuple(cells), effect, " ".join(said),
        "error" if kind == "refused" else "warning" if is_loud else "muted", in_full(effect),
        can_act=words.can_adopt(effect),
    )  # fmt: skip


class FoundTable(LineTable):
    """Proposes what to adopt."""

    adopt_requested = Signal(object)  # a tuple of Estimates
    field_requested = Signal(str)
    asked_again = Signal(str)  # a question's id

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("files.found", say("What the files say"), columns(), parent=parent)
        self._effects: tuple[Effect, ...] = ()
        self._answered: Mapping[tuple[str, str], str] = {}
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.customContextMenuRequested.connect(self._on_menu)
        self.acted.connect(self._on_acted)

    @property
    def effects(self) -> tuple[Effect, ...]:
        """The values, from top to bottom."""
        return self._effects

    def show_effects(
        self, effects: Sequence[Effect], *, is_stale: bool, answered: Mapping[tuple[str, str], str] | None = None
    ) -> None:
        """Show the values, those that settle most dollars first; the same ones as before keep their places.

        Args:
            effects: The values.
            is_stale: Whether their dollars are those of a plan before.
            answered: The quantity and the file of those that rest on an answer, and the id of its question.
        """
        self._answered = answered or {}
        self._effects = words.in_order(effects, self._effects)
        lines: list[Line] = []
        group: words.Group | None = None
        for effect in self._effects:
            if (own := words.group_of(effect.estimate)) != group:
                group = own
                lines.append(Line(f"group {own}", (Cell(words.group_title(own)),), is_group=True))
            lines.append(line_of(effect, is_stale=is_stale, rests_on_answer=bool(self._question_of(effect))))
        self.show_lines(lines)

    @property
    def chosen_effects(self) -> tuple[Effect, ...]:
        """The chosen values that can be adopted."""
        return tuple(line.item for line in self.chosen if line.can_act and isinstance(line.item, Effect))

    def _on_acted(self, effects: Sequence[Effect]) -> None:
        self.adopt_requested.emit(tuple(effect.estimate for effect in effects))

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_F and event.modifiers() == Qt.KeyboardModifier.NoModifier:
            self._go_to_field()
        elif event.key() == Qt.Key.Key_A and event.modifiers() == Qt.KeyboardModifier.NoModifier:
            self._ask_again()
        else:
            super().keyPressEvent(event)

    @override
    def selectAll(self) -> None:
        """Choose all that is proposed and not in use yet."""
        self.clearSelection()
        flags = self.selectionModel().SelectionFlag
        for at, line in enumerate(self.lines):
            if isinstance(line.item, Effect) and words.is_for_all(line.item):
                self.selectionModel().select(self.line_model.index(at, 0), flags.Select | flags.Rows)

    def _go_to_field(self) -> None:
        line = self.current
        if line is not None and isinstance(line.item, Effect) and line.item.estimate.path is not None:
            self.field_requested.emit(line.item.estimate.path)

    def _question_of(self, effect: Effect) -> str:
        """The question whose answer a value rests on; empty where it rests on none."""
        one = effect.estimate
        return next((found for place in one.places if (found := self._answered.get((one.id, place.file)))), "")

    def _ask_again(self) -> None:
        line = self.current
        if line is not None and isinstance(line.item, Effect) and (question := self._question_of(line.item)):
            self.asked_again.emit(question)

    def menu_for(self, line: Line) -> QMenu:
        """What can be done with a row."""
        menu = QMenu(self)
        adopt, go = QAction(say("Adopt") + "\tEnter", menu), QAction(say("Go to its field") + "\tF", menu)
        adopt.setEnabled(line.can_act)
        adopt.triggered.connect(lambda: self._act((line,)))
        go.setEnabled(isinstance(line.item, Effect) and line.item.estimate.path is not None)
        go.triggered.connect(self._go_to_field)
        menu.addActions([adopt, go])
        if isinstance(line.item, Effect) and (question := self._question_of(line.item)):
            again = QAction(say("Ask again what it is") + "\tA", menu)
            again.triggered.connect(lambda: self.asked_again.emit(question))
            menu.addAction(again)
        return menu

    def _on_menu(self, place: QPoint) -> None:
        line = self.line_at(place)
        if line is not None:
            menu = self.menu_for(line)
            menu.exec(self.viewport().mapToGlobal(place))
            menu.deleteLater()
