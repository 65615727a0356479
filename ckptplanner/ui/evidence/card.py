"""One published figure as a card: what was reported, what the planner says for the same inputs, and why they differ."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QGridLayout, QHBoxLayout, QLabel, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from ckptplanner.engine.published import ASSUMED, Card
from ckptplanner.ui.evidence.ratio import RatioRuler, ratio_text
from ckptplanner.ui.theme import Theme
from ckptplanner.ui.words import say, say_text

_LABEL_WIDTH = 64


def capital(words: str) -> str:
    """Words that begin a line."""
    return words[:1].upper() + words[1:]


def label(words: str, role: str = "", name: str = "") -> QLabel:
    """A text that wraps and can be selected by nobody: it is read."""
    made = QLabel(words)
    made.setTextFormat(Qt.TextFormat.PlainText)
    made.setWordWrap(True)
    made.setAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop)
    if role:
        made.setProperty("role", role)
    if name:
        made.setObjectName(name)
    return made


def source_words(card: Card) -> str:
    """Where a figure was published, and when."""
    parts = [card.source, card.date]
    if card.status == "unverified":
        parts.append(say("not verified"))
    return ", ".join(part for part in parts if part)


class CardWidget(QFrame):
    """A card; its inputs with their sources unfold."""

    def __init__(self, card: Card, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.card = card
        self.setObjectName(f"card.{card.id}")
        self.setProperty("role", "card")
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
        self.setAccessibleName(f"{card.run}: {say_text(card.title)}")
        self._ruler = RatioRuler(card.ratio) if card.ratio else None
        self._more: QPushButton | None = None
        self._inputs: QWidget | None = None
        box = QVBoxLayout(self)
        box.setContentsMargins(12, 8, 12, 8)
        box.setSpacing(4)
        box.addLayout(self._head())
        box.addLayout(self._figures())
        box.addWidget(label(capital(say_text(card.why)), "" if card.planner is not None else "muted", "card.why"))
        box.addLayout(self._foot())

    def _head(self) -> QHBoxLayout:
        card, row = self.card, QHBoxLayout()
        words = QVBoxLayout()
        words.setSpacing(0)
        words.addWidget(label(" · ".join(part for part in (card.run, card.scale) if part), "small"))
        words.addWidget(label(capital(say_text(card.title)), "title"))
        row.addLayout(words, 1)
        if self._ruler is not None and card.ratio is not None:
            side = QVBoxLayout()
            side.setSpacing(0)
            figure = QLabel(ratio_text(card.ratio))
            figure.setObjectName("card.ratio")
            figure.setProperty("role", "title")
            figure.setAlignment(Qt.AlignmentFlag.AlignCenter)
            figure.setToolTip(say("The planner's figure by the reported one"))
            side.addWidget(self._ruler, 0, Qt.AlignmentFlag.AlignRight)
            side.addWidget(figure)
            side.addStretch(1)
            row.addLayout(side)
        return row

    def _figures(self) -> QGridLayout:
        card, grid = self.card, QGridLayout()
        grid.setHorizontalSpacing(8)
        grid.setVerticalSpacing(2)
        grid.setColumnMinimumWidth(0, _LABEL_WIDTH)
        grid.setColumnStretch(1, 1)
        lines = [(say("reported"), card.reported)] + ([] if card.planner is None else [(say("planner"), card.planner)])
        for row, (name, words) in enumerate(lines):
            grid.addWidget(label(name, "muted"), row, 0)
            grid.addWidget(label(say_text(words)), row, 1)
        return grid

    def _foot(self) -> QVBoxLayout:
        card, column = self.card, QVBoxLayout()
        column.setSpacing(4)
        row = QHBoxLayout()
        row.setSpacing(12)
        source = label(source_words(card), "small", "card.source")
        source.setToolTip(card.note)
        row.addWidget(source, 1)
        if card.inputs or card.note:
            self._more = QPushButton()
            self._more.setObjectName("card.more")
            self._more.setProperty("role", "link")
            self._more.setCheckable(True)
            self._more.setToolTip("\n".join(f"{say_text(what)} {value}: {_where(where)}" for what, value, where in card.inputs))
            self._more.toggled.connect(self._on_more)
            self._more.setAccessibleName(say("Inputs of {run}, {what}", run=card.run, what=say_text(card.title)))
            row.addWidget(self._more, 0, Qt.AlignmentFlag.AlignTop)
            self._name_more(is_open=False)
        column.addLayout(row)
        self._below = column
        return column

    def _name_more(self, *, is_open: bool) -> None:
        count = len(self.card.inputs)
        words = say("fewer") if is_open else say("1 input") if count == 1 else say("{count} inputs", count=count)
        if self._more is not None:
            self._more.setText(words if count or is_open else say("note"))

    def _on_more(self, is_open: bool) -> None:
        if self._inputs is None:
            self._inputs = self._listed()
            self._below.addWidget(self._inputs)
        self._inputs.setVisible(is_open)
        self._name_more(is_open=is_open)

    def _listed(self) -> QWidget:
        """Every input with its value and where that is from; what is only assumed is marked."""
        holder = QWidget()
        grid = QGridLayout(holder)
        grid.setContentsMargins(0, 4, 0, 0)
        grid.setHorizontalSpacing(8)
        grid.setVerticalSpacing(2)
        for column, share in enumerate((4, 4, 7)):
            grid.setColumnStretch(column, share)
        for row, (what, value, where) in enumerate(self.card.inputs):
            grid.addWidget(label(capital(say_text(what)), "muted"), row, 0)
            grid.addWidget(label(value), row, 1)
            made = label(_where(where), "small")
            if where == ASSUMED:
                made.setProperty("kind", "guess")
            grid.addWidget(made, row, 2)
        if self.card.note:
            grid.addWidget(label(self.card.note, "small"), grid.rowCount(), 0, 1, 3)
        return holder

    def show_theme(self, theme: Theme) -> None:
        """Take the colours of a theme."""
        if self._ruler is not None:
            self._ruler.show_theme(theme)


def _where(where: str) -> str:
    return say("assumed") if where == ASSUMED else where
