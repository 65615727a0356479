"""The page "Your files": what the user's files say about the inputs, and what adopting it would change.

    sentence                                                     Open files…  Open folder…  Refresh
    question, a line where the page is low                       [ stop | whole write ]
    values | files | planned and observed      (chosen beside the tabs)
    all proposed together: −$1,240 a month, waste −0.02 %        Adopt 2 chosen   Adopt all proposed

It shows what the desk has found and proposes; nothing is worked out here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QStackedWidget, QVBoxLayout, QWidget
from typing_extensions import override

from ckptplanner.data.evidence import Place
from ckptplanner.engine.adopting import Effect
from ckptplanner.ui.evidence import found_words as words
from ckptplanner.ui.evidence.desk import Found
from ckptplanner.ui.evidence.files_empty import FilesEmpty
from ckptplanner.ui.evidence.files_head import FilesHead
from ckptplanner.ui.evidence.files_table import FilesTable, answered_values, files_that_ask
from ckptplanner.ui.evidence.found_table import FoundTable
from ckptplanner.ui.evidence.observed_panel import ObservedPanel
from ckptplanner.ui.evidence.question_rows import QuestionRows
from ckptplanner.ui.lines import QuietLine
from ckptplanner.ui.scenario_bar import Switch
from ckptplanner.ui.theme import LIGHT, Theme
from ckptplanner.ui.widgets.field_row import source_word
from ckptplanner.ui.words import say
from ckptplanner.units import grouped

_LOW_BELOW = 480  # a page so high has no room for questions above its table [px]
VALUES, FILES, OBSERVED = "values", "files", "observed"


class FilesPage(QWidget):
    """Shows `Found`; proposes edits, choices and what to open."""

    adopt_requested = Signal(object)  # a tuple of Estimates
    choices_changed = Signal(object)  # Choices
    open_requested = Signal(object)  # a list of Paths
    remove_requested = Signal(object)  # a Path
    refresh_requested = Signal()
    columns_requested = Signal(str)  # of this file in Gathered
    field_requested = Signal(str)
    stopped = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("evidence.files_page")
        self._theme = LIGHT
        self._found = Found()
        self.bar = Switch("files.parts", (
            (VALUES, say("Values"), say("What the files say about the inputs")),
            (FILES, say("Files"), say("What was opened, and what became of every file")),
            (OBSERVED, say("Planned and observed"), say("A week later: the plan beside what the files show")),
        ))  # fmt: skip
        self.head, self.questions = FilesHead(), QuestionRows()
        self.found, self.files, self.observed, self._empty = FoundTable(), FilesTable(), ObservedPanel(), FilesEmpty()
        self._foot, self._sum = QWidget(), QuietLine()
        self._sum.setObjectName("files.sum")
        self._adopt, self._adopt_all = QPushButton(), QPushButton(say("Adopt all proposed"))
        self._body = QStackedWidget()
        self._whole = QStackedWidget()
        self._place()
        self._connect()
        self.show_part(VALUES)
        self.show_found(self._found)

    def _place(self) -> None:
        for button, name in ((self._adopt, "adopt"), (self._adopt_all, "adopt_all")):
            button.setObjectName(f"files.{name}")
            button.setFixedHeight(26)
        self._adopt_all.setProperty("role", "primary")
        self._adopt_all.setToolTip(
            say("What is doubtful, contradicts another value or is in use stays as it is; one step to undo")
        )
        self._adopt.setToolTip(say("One step to undo (Enter in the table)"))
        foot = QHBoxLayout(self._foot)
        foot.setContentsMargins(16, 6, 16, 8)
        foot.setSpacing(8)
        foot.addWidget(self._sum, 1)
        foot.addWidget(self._adopt)
        foot.addWidget(self._adopt_all)
        values = QWidget()
        column = QVBoxLayout(values)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.questions)
        column.addWidget(self.found, 1)
        column.addWidget(self._foot)
        for part in (values, self.files, self.observed):
            self._body.addWidget(part)
        self.picture = QWidget()
        self.picture.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.picture.setProperty("role", "surface")
        box = QVBoxLayout(self.picture)
        box.setContentsMargins(0, 0, 0, 0)
        box.setSpacing(4)
        box.addWidget(self.head)
        box.addWidget(self._body, 1)
        self._whole.addWidget(self.picture)
        self._whole.addWidget(self._empty)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.addWidget(self._whole)

    def _connect(self) -> None:
        self.bar.chosen.connect(self.show_part)
        head = self.head
        head.open_requested.connect(self.open_requested)
        head.refresh_requested.connect(self.refresh_requested)
        head.stopped.connect(self.stopped)
        head.field_requested.connect(self.field_requested)
        head.part_requested.connect(self.show_part)
        self._empty.files_requested.connect(head.ask_files)
        self._empty.folder_requested.connect(head.ask_folder)
        self.questions.answered.connect(self._on_answer)
        self.found.adopt_requested.connect(self.adopt_requested)
        self.found.field_requested.connect(self.field_requested)
        self.found.asked_again.connect(self._on_asked_again)
        self.found.chosen_changed.connect(self._show_foot)
        self.files.remove_requested.connect(self.remove_requested)
        self.files.left_out.connect(self._on_left_out)
        self.files.asked_again.connect(self._on_asked_again)
        self.files.columns_requested.connect(self.columns_requested)
        self._adopt.clicked.connect(self._on_adopt)
        self._adopt_all.clicked.connect(self._on_adopt_all)

    # ------------------------------------------------------------ what is shown

    def show_part(self, key: str) -> None:
        """Show the values, the files, or what was planned beside what is observed."""
        self.bar.show_choice(key)
        self._body.setCurrentIndex((VALUES, FILES, OBSERVED).index(key))

    def take_keys(self) -> None:
        """Put the keys where they have something to do: into the table, to the first question, to the button that opens."""
        if self._whole.currentWidget() is self._empty:
            first: QWidget = self._empty.first_stop
        elif self.part == VALUES and self.found.effects:
            first = self.found
        elif self.part == FILES:
            first = self.files
        else:
            question = self.questions.first_stop if self.part == VALUES else None
            first = question or self.head.first_stop
        first.setFocus(Qt.FocusReason.ShortcutFocusReason)

    @property
    def part(self) -> str:
        """Which of them is seen."""
        return (VALUES, FILES, OBSERVED)[self._body.currentIndex()]

    def show_found(self, found: Found) -> None:
        """Show all that the desk has."""
        self._found = found
        is_empty = not found.paths
        self.bar.setEnabled(not is_empty)
        self._whole.setCurrentWidget(self._empty if is_empty else self.picture)
        self.head.show_found(found)
        self.questions.show_questions(found.reading.questions if found.reading is not None else (), files_that_ask(found))
        self.found.show_effects(found.meaning.effects, is_stale=found.is_stale, answered=answered_values(found))
        self.files.show_found(found)
        self.observed.show_observed(found.meaning.observed, found.meaning.verdict)
        self._show_foot()

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.questions.show_room(is_low=self.height() < _LOW_BELOW)

    def show_progress(self, fraction: float) -> None:
        """Say how much of the files has been read."""
        self.head.show_progress(fraction)

    def show_file(self, name: str, number: int, count: int) -> None:
        """Say which of how many files is being read."""
        self.head.show_file(name, number, count)

    def show_theme(self, theme: Theme) -> None:
        """Take the colours of a theme."""
        self._theme = theme
        for part in (self.head, self.found, self.files, self.observed, self._empty):
            part.show_theme(theme)

    def _show_foot(self) -> None:
        chosen, proposed = self.found.chosen_effects, self._proposed
        self._adopt.setText(say("Adopt 1 chosen") if len(chosen) == 1 else
                            say("Adopt {count} chosen", count=grouped(len(chosen))))  # fmt: skip
        self._adopt.setVisible(bool(chosen))
        self._adopt_all.setEnabled(bool(proposed))
        self._foot.setVisible(bool(self.found.effects))
        self._sum.show_words(self._sum_words(proposed))

    def _sum_words(self, proposed: Sequence[Effect]) -> str:
        if not proposed:
            return say("All that is proposed is in use.") if self.found.effects else ""
        usd, waste = self._found.meaning.together
        count = grouped(len(proposed))
        if usd is None and waste is None:
            return say("{count} proposed", count=count)
        return say(
            "{count} proposed, together: {money} a month, waste {waste} points", count=count, money=words.money_change(usd),
            waste=words.waste_change(waste),
        )  # fmt: skip

    @property
    def _proposed(self) -> tuple[Effect, ...]:
        return tuple(effect for effect in self.found.effects if words.is_for_all(effect))

    def texts(self) -> tuple[list[str], list[list[str]]]:
        """The part that is seen as heads and rows, for a table."""
        if self.part == OBSERVED:
            return self.observed.texts()
        if self.part == FILES:
            heads = [say("File"), say("What it is"), say("Tells"), say("Date"), say("Remark")]
            lines = [line for line in self.files.lines if not line.is_group]
            return heads, [[*_padded([cell.first for cell in line.cells[:4]], 4), line.remark] for line in lines]
        heads = [
            say("Input"), say("Found"), say("Range"), say("Rests on"), say("Place"), say("In use"), say("Source"),
            say("$ a month"), say("Waste, points"), say("Remark"),
        ]  # fmt: skip
        return heads, [_row(effect) for effect in self.found.effects]

    # ------------------------------------------------------------ hands

    def _on_adopt(self) -> None:
        if chosen := self.found.chosen_effects:
            self.adopt_requested.emit(tuple(effect.estimate for effect in chosen))

    def _on_adopt_all(self) -> None:
        if proposed := self._proposed:
            self.adopt_requested.emit(tuple(effect.estimate for effect in proposed))

    def _on_answer(self, question: str, quantity: str) -> None:
        choices = self._found.choices
        answers = (*(one for one in choices.answers if one[0] != question), (question, quantity))
        self.choices_changed.emit(replace(choices, answers=answers))

    def _on_asked_again(self, question: str) -> None:
        choices = self._found.choices
        self.choices_changed.emit(replace(choices, answers=tuple(one for one in choices.answers if one[0] != question)))

    def _on_left_out(self, file: str, is_left_out: bool) -> None:
        choices = self._found.choices
        left_out = choices.left_out | {file} if is_left_out else choices.left_out - {file}
        self.choices_changed.emit(replace(choices, left_out=left_out))


def _padded(cells: list[str], count: int) -> list[str]:
    return cells + [""] * (count - len(cells))


def _row(effect: Effect) -> list[str]:
    one = effect.estimate
    places: Sequence[Place] = one.places
    return [
        words.title_of(effect), words.found_words(one), words.range_words(one), words.basis_words(one),
        "; ".join(str(place) for place in places), words.in_use_words(effect) if one.path is not None else "",
        source_word(effect.in_use_source), words.money_change(effect.usd_per_month) if one.path is not None else "",
        words.waste_change(effect.waste_fraction) if one.path is not None else "", " ".join(words.remarks(effect)),
    ]  # fmt: skip
