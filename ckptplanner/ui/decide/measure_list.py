"""What to measure next: the inputs by the dollars a year that not knowing them may cost, each with the way to measure it."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFrame, QGraphicsOpacityEffect, QGridLayout, QPushButton, QVBoxLayout, QWidget

from ckptplanner.engine.bench_lines import broken
from ckptplanner.engine.flip_words import amounts
from ckptplanner.engine.regret import Decision, Regret, change_words
from ckptplanner.engine.sentence import option_name
from ckptplanner.ui.decide.kinds import kind_word
from ckptplanner.ui.decide.requirement_page import label
from ckptplanner.ui.theme import set_property
from ckptplanner.ui.why import Link
from ckptplanner.ui.words import say, say_text
from ckptplanner.units import SECONDS, USD, brief, rough

_FADED, _LINE_LENGTH = 0.4, 52


def regret_words(row: Regret) -> str:
    """The dollars a year, or that the plan would not work."""
    if row.worst.best is None:
        return say("unknown")
    value = row.usd_per_year
    return say("would not work") if value is None else say("{usd} a year", usd=brief(value, USD))


def range_words(row: Regret) -> str:
    """Today's value and the range."""
    over = row.range
    today, low, high = amounts((over.value, over.low, over.high), over.lever.unit)
    return say("today {value}, {low} to {high}, {kind}", value=today, low=low, high=high, kind=kind_word(over.kind))


def better_words(row: Regret, decided: Decision) -> str:
    """What one would do otherwise, knowing the truth at the dearer end."""
    end = row.worst
    if end.best is None:
        return ""
    value = amounts((end.value, row.range.value), row.range.lever.unit)[0]
    return say("at {value} better: {change}", value=value, change=say_text(change_words(decided, end.best)))


class RegretRow(QFrame):
    """One input."""

    copied = Signal(str)
    field_requested = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._row: Regret | None = None
        self._title = Link("", "", say("Go to the field"))
        self._usd = label("", "title", wraps=False)
        self._range, self._better, self._how = label("", "small"), label("", "small"), label("", "small")
        self._command = label("", "small")
        self._copy = QPushButton(say("copy"))
        self._copy.setProperty("role", "link")
        self._title.clicked.connect(self._on_title)
        self._copy.clicked.connect(self._on_copy)
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 6, 0, 6)
        grid.setHorizontalSpacing(12)
        grid.setVerticalSpacing(1)
        grid.addWidget(self._title, 0, 0, Qt.AlignmentFlag.AlignLeft)
        grid.addWidget(self._usd, 0, 1, Qt.AlignmentFlag.AlignRight)
        for line, part in enumerate((self._range, self._better, self._how), start=1):
            grid.addWidget(part, line, 0, 1, 2)
        grid.addWidget(self._command, 4, 0)
        grid.addWidget(self._copy, 4, 1, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignTop)
        grid.setColumnStretch(0, 1)

    def show_row(self, row: Regret, decided: Decision) -> None:
        """Show an input."""
        self._row = row
        title = say_text(row.range.lever.title)
        self._title.setText(title)
        self._title.setAccessibleName(say("Go to the field: {title}", title=title))
        self._title.updateGeometry()
        self._usd.setText(regret_words(row))
        set_property(self._usd, "role", "warning" if row.usd_per_year is None else "title")
        self._range.setText(range_words(row))
        self._range.setToolTip(say_text(row.range.reason))
        self._better.setText(better_words(row, decided))
        self._better.setVisible(bool(self._better.text()))
        self._command.setText("\n".join(broken(row.command, _LINE_LENGTH)) if row.command else "")
        self._how.setText(" ".join(map(say_text, row.how_to)))
        for part in (self._command, self._copy):
            part.setVisible(row.command is not None)
        self._how.setVisible(row.command is None and bool(row.how_to))
        self._command.setToolTip(self._how.text())
        self._copy.setAccessibleName(say("Copy the command for {title}", title=title))

    def _on_title(self) -> None:
        if self._row is not None:
            self.field_requested.emit(self._row.path)

    def _on_copy(self) -> None:
        if self._row is not None and self._row.command is not None:
            QGuiApplication.clipboard().setText(self._row.command)
            self.copied.emit(say_text(self._row.range.lever.title))


class MeasureList(QWidget):
    """The inputs, dearest first; those that cost nothing in one sentence."""

    said = Signal(str)
    field_requested = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("measure_list")
        self._head = label(say("What to measure next"), "title")
        self._lead, self._rest = label("", "small"), label("", "small")
        self._rest.setObjectName("measure.rest")
        self._rows: list[RegretRow] = []
        self._lines = QVBoxLayout()
        self._lines.setSpacing(0)
        box = QVBoxLayout(self)
        box.setContentsMargins(0, 0, 16, 0)
        box.setSpacing(4)
        box.addWidget(self._head)
        box.addWidget(self._lead)
        box.addLayout(self._lines)
        box.addWidget(self._rest)
        box.addStretch(1)

    def show_regrets(self, found: Sequence[Regret], decided: Decision | None, *, is_stale: bool) -> None:
        """Show the rows; pale where a plan has changed since."""
        dear = [row for row in found if row.usd_per_year is None or row.usd_per_year > 0]
        still = [row for row in found if row not in dear]
        self._lead.setText("" if decided is None else say(
            "Decided today: {option}, written in {write}, saved every {interval}. Dollars are what that plan may cost more "
            "than the one that one would choose, knowing the truth.",
            option=say_text(option_name(decided.option)), write=rough(decided.write_s, SECONDS),
            interval=rough(decided.interval_s, SECONDS),
        ))  # fmt: skip
        while len(self._rows) < len(dear):
            made = RegretRow()
            made.field_requested.connect(self.field_requested)
            made.copied.connect(self._on_copied)
            self._rows.append(made)
            self._lines.addWidget(made)
        for number, one in enumerate(self._rows):
            one.setVisible(number < len(dear))
            if number < len(dear) and decided is not None:
                one.show_row(dear[number], decided)
        names = ", ".join(say_text(row.range.lever.title) for row in still)
        self._rest.setText(say("Right over the whole range of: {names}.", names=names) if names else "")
        faded = QGraphicsOpacityEffect(self) if is_stale else None
        if faded is not None:
            faded.setOpacity(_FADED)
        self.setGraphicsEffect(faded)  # type: ignore[arg-type]

    def _on_copied(self, title: str) -> None:
        self.said.emit(say("The command for {title} is on the clipboard.", title=title))
