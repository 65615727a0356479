"""What a file leaves open is asked here: "Finished saving in 4.8 s": is that the stop or the whole write?"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QFrame, QLabel, QSizePolicy, QVBoxLayout, QWidget
from typing_extensions import override

from ckptplanner.data.evidence import Question
from ckptplanner.ui.scenario_bar import Switch
from ckptplanner.ui.words import say, say_text
from ckptplanner.units import grouped

_AT_ONCE = 2  # more than these are asked after them


class QuestionRow(QFrame):
    """One question and its answers; where it is narrow the answers stand below."""

    answered = Signal(str, str)

    def __init__(self, question: Question, answer: str) -> None:
        super().__init__()
        self.setObjectName(f"question.{question.id}")
        self.setProperty("role", "card")
        self._id = question.id
        self._words = QLabel(say_text(question.words))
        self._words.setWordWrap(True)
        self._words.setMinimumWidth(80)
        self._words.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        choices = [
            (key, say("{choice} (likely)", choice=say_text(words)) if key == question.suggested else say_text(words), "")
            for key, words in question.choices
        ]
        self.choices = Switch(f"question.{question.id}.choices", choices)
        self.choices.setAccessibleName(say_text(question.words))
        self.choices.show_choice(answer)
        self.choices.chosen.connect(self._on_chosen)
        self._row = QBoxLayout(QBoxLayout.Direction.LeftToRight, self)
        self._row.setContentsMargins(12, 6, 8, 6)
        self._row.setSpacing(8)
        self._row.addWidget(self._words, 1)
        below = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        below.addWidget(self.choices)
        below.addStretch(0)
        self._row.addLayout(below)

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        room = self.width() - self.choices.sizeHint().width() - 28
        is_wide = room >= min(self._words.fontMetrics().horizontalAdvance(self._words.text()), 360)
        ways = QBoxLayout.Direction
        self._row.setDirection(ways.LeftToRight if is_wide else ways.TopToBottom)

    def _on_chosen(self, key: str) -> None:
        self.answered.emit(self._id, key)


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
        self._rows = [QuestionRow(question, "") for question in questions[:_AT_ONCE]]
        for at, row in enumerate(self._rows):
            row.answered.connect(self.answered)
            self._box.insertWidget(at, row)
        left = len(questions) - len(self._rows)
        self._more.setText(say("1 more question after these") if left == 1 else
                           say("{count} more questions after these", count=grouped(left)))  # fmt: skip
        self._more.setVisible(left > 0)
        self.setVisible(bool(questions))
