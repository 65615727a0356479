"""What a file leaves open is asked here: "Finished saving in 4.8 s", is that the stop or the whole write?"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QFrame, QLabel, QPushButton, QSizePolicy, QVBoxLayout, QWidget
from typing_extensions import override

from ckptplanner.data.evidence import Question
from ckptplanner.text import Text
from ckptplanner.ui.words import say, say_text
from ckptplanner.units import grouped

_AT_ONCE = 2  # more than these are asked after them


class QuestionRow(QFrame):
    """One question and a button for each answer: beside it, below it, or below one another, as there is room."""

    answered = Signal(str, str)

    def __init__(self, question: Question) -> None:
        super().__init__()
        self.setObjectName(f"question.{question.id}")
        self.setProperty("role", "card")
        self._id = question.id
        self._words = QLabel(say_text(question.words))
        self._words.setWordWrap(True)
        self._words.setMinimumWidth(80)
        self._words.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self._buttons = [self._button(key, words, is_likely=key == question.suggested) for key, words in question.choices]
        self._row = QBoxLayout(QBoxLayout.Direction.LeftToRight, self)
        self._row.setContentsMargins(12, 6, 8, 6)
        self._row.setSpacing(6)
        self._row.addWidget(self._words, 1)
        self._answers = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._answers.setSpacing(6)
        for button in self._buttons:
            self._answers.addWidget(button)
        self._answers.addStretch(1)
        self._row.addLayout(self._answers)

    def _button(self, key: str, words: Text, *, is_likely: bool) -> QPushButton:
        said = say("{choice} (likely)", choice=say_text(words)) if is_likely else say_text(words)
        made = QPushButton(said)
        made.setObjectName(f"question.{self._id}.{key}")
        made.setToolTip(said)
        made.setFixedHeight(24)
        made.setMinimumWidth(60)
        made.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        made.clicked.connect(partial(self.answered.emit, self._id, key))
        return made

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        room = self.width() - 26
        wanted = sum(button.sizeHint().width() + 6 for button in self._buttons)
        words = self._words.fontMetrics().horizontalAdvance(self._words.text())
        ways = QBoxLayout.Direction
        self._row.setDirection(ways.LeftToRight if wanted + min(words, 360) <= room else ways.TopToBottom)
        self._answers.setDirection(ways.LeftToRight if wanted <= room else ways.TopToBottom)


class QuestionRows(QWidget):
    """The open questions, two at a time."""

    answered = Signal(str, str)  # the question's id, and the quantity that was chosen

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("files.questions")
        self._questions: tuple[Question, ...] = ()
        self._rows: list[QuestionRow] = []
        self._more = QLabel()
        self._more.setProperty("role", "small")
        self._box = QVBoxLayout(self)
        self._box.setContentsMargins(16, 0, 16, 8)
        self._box.setSpacing(4)
        self._box.addWidget(self._more)
        self.hide()

    def show_questions(self, questions: Sequence[Question]) -> None:
        """Ask these; those that were answered are not among them any more."""
        if tuple(questions) == self._questions:
            return
        self._questions = tuple(questions)
        for row in self._rows:
            self._box.removeWidget(row)
            row.hide()
            row.deleteLater()
        self._rows = [QuestionRow(question) for question in questions[:_AT_ONCE]]
        for at, row in enumerate(self._rows):
            row.answered.connect(self.answered)
            self._box.insertWidget(at, row)
        left = len(questions) - len(self._rows)
        self._more.setText(say("1 more question after these") if left == 1 else
                           say("{count} more questions after these", count=grouped(left)))  # fmt: skip
        self._more.setVisible(left > 0)
        self.setVisible(bool(questions))
