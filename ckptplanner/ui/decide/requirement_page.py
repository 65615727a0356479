"""The page "Requirement sheet": what storage must do for the plan that is shown, and the lines that accept it."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFrame, QGridLayout, QLabel, QPushButton, QScrollArea, QVBoxLayout, QWidget

from ckptplanner.engine.bench_lines import Line, broken
from ckptplanner.engine.cost import Basis
from ckptplanner.engine.requirement import Need, Requirement, how_to_run, requirement, requirement_text
from ckptplanner.ui.shown import Shown, current_of
from ckptplanner.ui.theme import Theme
from ckptplanner.ui.words import say, say_text

_EDGE, _LINE_LENGTH = 16, 120


def label(words: str, role: str = "", *, wraps: bool = True) -> QLabel:
    """A text that can be selected, for it is meant to be passed on."""
    made = QLabel(words)
    made.setTextFormat(Qt.TextFormat.PlainText)
    made.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    made.setWordWrap(wraps)
    made.setAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop)
    if role:
        made.setProperty("role", role)
    return made


class NeedRow:
    """One need: its title, its value, where it comes from."""

    def __init__(self, grid: QGridLayout, row: int) -> None:
        self._labels = (label("", wraps=False), label("", "title", wraps=False), label("", "muted"))
        for column, one in enumerate(self._labels):
            grid.addWidget(one, row, column)

    def show_need(self, need: Need | None) -> None:
        """Show a need, or nothing."""
        words = ("", "", "") if need is None else (say_text(need.title), need.shown, say_text(need.note))
        for one, said in zip(self._labels, words, strict=True):
            one.setText(said)
            one.setVisible(need is not None)


class LineCard(QFrame):
    """One command with what it does and when it passes; a button copies it."""

    copied = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "card")
        self._line: Line | None = None
        self._head, self._command, self._passes = label("", "title"), label(""), label("", "small")
        self._copy = QPushButton(say("copy"))
        self._copy.setProperty("role", "link")
        self._copy.clicked.connect(self._on_copy)
        grid = QGridLayout(self)
        grid.setContentsMargins(12, 8, 12, 8)
        grid.setVerticalSpacing(2)
        grid.addWidget(self._head, 0, 0)
        grid.addWidget(self._copy, 0, 1, Qt.AlignmentFlag.AlignRight)
        grid.addWidget(self._command, 1, 0, 1, 2)
        grid.addWidget(self._passes, 2, 0, 1, 2)
        grid.setColumnStretch(0, 1)

    def show_line(self, line: Line) -> None:
        """Show a command."""
        self._line = line
        head = say("{tool} {version}: {what}", tool=line.tool, version=line.version, what=say_text(line.what))
        self._head.setText(head)
        self._command.setText("\n".join(broken(line.command, _LINE_LENGTH)))
        self._passes.setText(say("Passes when {condition}.", condition=say_text(line.passes)))
        self._copy.setAccessibleName(say("Copy the line for {tool}", tool=head))

    def _on_copy(self) -> None:
        if self._line is not None:
            QGuiApplication.clipboard().setText(self._line.command)
            self.copied.emit(self._line.tool)


class RequirementPage(QWidget):
    """The sheet of the current plan."""

    cursor_moved = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("decide.requirement")
        self._sheet: Requirement | None = None
        self.controls = QPushButton(say("Copy the sheet as text"))
        self.controls.setObjectName("decide.copy_sheet")
        self.controls.setFixedHeight(24)
        self.controls.clicked.connect(self._on_copy)
        self._held = QWidget()
        self._held.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._held.setProperty("role", "surface")
        self._scroll = QScrollArea()
        self._scroll.setAccessibleName(say("Requirement sheet"))
        self._scroll.setWidgetResizable(True)
        self._scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._rows: list[NeedRow] = []
        self._cards: list[LineCard] = []
        self._place()

    def _place(self) -> None:
        self._grid, self._lines = QGridLayout(), QVBoxLayout()
        self._grid.setHorizontalSpacing(24)
        self._grid.setVerticalSpacing(4)
        self._grid.setColumnStretch(2, 1)
        self._lines.setSpacing(8)
        title = label(say("How it is accepted"), "title")
        lead = label(
            say("What storage must do for this plan, whoever sells it. No price stands here; an export writes it as a page."),
            "muted",
        )
        inside = QVBoxLayout(self._held)
        inside.setContentsMargins(_EDGE, 8, _EDGE - 8, _EDGE)
        inside.setSpacing(8)
        inside.addWidget(lead)
        inside.addLayout(self._grid)
        inside.addSpacing(8)
        inside.addWidget(title)
        inside.addWidget(label(say_text(how_to_run()), "muted"))
        inside.addLayout(self._lines)
        inside.addStretch(1)
        self._scroll.setWidget(self._held)
        box = QVBoxLayout(self)
        box.setContentsMargins(0, 0, 0, 0)
        box.addWidget(self._scroll)

    # ------------------------------------------------------------ what is shown

    def show_plans(self, shown: Sequence[Shown], basis: Basis) -> None:
        """Show the sheet of the current plan."""
        now = current_of(shown)
        sheet = self._sheet = requirement(now.named, now.plan)
        while len(self._rows) < len(sheet.needs):
            self._rows.append(NeedRow(self._grid, len(self._rows)))
        for row, need in zip(self._rows, [*sheet.needs, *[None] * len(self._rows)], strict=False):
            row.show_need(need)
        while len(self._cards) < len(sheet.lines):
            self._cards.append(LineCard())
            self._cards[-1].copied.connect(self._on_copied)
            self._lines.addWidget(self._cards[-1])
        for card, line in zip(self._cards, sheet.lines, strict=False):
            card.show_line(line)
        for card in self._cards[len(sheet.lines) :]:
            card.setVisible(False)
        for card in self._cards[: len(sheet.lines)]:
            card.setVisible(True)

    def show_theme(self, theme: Theme) -> None:
        """Take the colours of a theme: the style sheet does."""

    @property
    def picture_widget(self) -> QWidget:
        """What a picture of the page shows: all of the sheet, scrolled or not."""
        return self._held

    def texts(self) -> tuple[list[str], list[list[str]]]:
        """The sheet as it is copied: headings and rows, the commands last."""
        heads = [say("What"), say("How much"), say("Why")]
        if self._sheet is None:
            return heads, []
        rows = [[say_text(one.title), one.shown, say_text(one.note)] for one in self._sheet.needs]
        return heads, [
            *rows,
            *([f"{line.tool} {line.version}", line.command, say_text(line.passes)] for line in self._sheet.lines),
        ]

    # ------------------------------------------------------------ hands

    def _on_copy(self) -> None:
        if self._sheet is not None:
            QGuiApplication.clipboard().setText(requirement_text(self._sheet, say_text))
            self.cursor_moved.emit(say("The sheet is on the clipboard."))

    def _on_copied(self, tool: str) -> None:
        self.cursor_moved.emit(say("The line for {tool} is on the clipboard.", tool=tool))
