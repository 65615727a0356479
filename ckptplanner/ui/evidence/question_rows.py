"""What a file leaves open is asked here: "Finished saving in 4.8 s", is that the stop or the whole write?

Where there is little room the questions are one line until they are opened.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from PySide6.QtCore import Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QFrame, QHBoxLayout, QLabel, QPushButton, QSizePolicy, QVBoxLayout, QWidget
from typing_extensions import override

from ckptplanner.data.evidence import Question
from ckptplanner.text import Text
from ckptplanner.ui.lines import QuietLine
from ckptplanner.ui.words import say, say_text
from ckptplanner.units import grouped

_AT_ONCE = 2  # more than these are asked after them


class QuestionRow(QFrame):
    """One question and a button for each answer: beside it, below it, or below one another, as there is room."""

    answered = Signal(str, str)

    def __init__(self, question: Question, files: Sequence[str] = ()) -> None:
        """Build it; `files` are those that leave it open."""
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
        asks = QVBoxLayout()
        asks.setSpacing(0)
        asks.addWidget(self._words)
        if files:
            self._files = QuietLine()
            self._files.setObjectName(f"question.{question.id}.files")
            self._files.show_words(files_words(files))
            self._files.setToolTip("\n".join(files))
            asks.addWidget(self._files)
        self._row.addLayout(asks, 1)
        self._answers = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._answers.setSpacing(6)
        for button in self._buttons:
            self._answers.addWidget(button)
        self._answers.addStretch(1)
        self._row.addLayout(self._answers)

    @property
    def first_answer(self) -> QWidget:
        """Where the keys go first."""
        return self._buttons[0] if self._buttons else self

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


def files_words(files: Sequence[str]) -> str:
    """The files that a question is about."""
    if len(files) == 1:
        return files[0]
    return say("{file} and {count} more", file=files[0], count=grouped(len(files) - 1))


class QuestionRows(QWidget):
    """The open questions, two at a time; one line where they are folded."""

    answered = Signal(str, str)  # the question's id, and the quantity that was chosen

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("files.questions")
        self._questions: tuple[Question, ...] = ()
        self._files: dict[str, tuple[str, ...]] = {}
        self._rows: list[QuestionRow] = []
        self._is_low = self._is_open = False
        self._fold = QPushButton()
        self._fold.setObjectName("files.questions.fold")
        self._fold.setProperty("role", "link")
        self._fold.clicked.connect(self._on_fold)
        self._more = QLabel()
        self._more.setProperty("role", "small")
        self._box = QVBoxLayout(self)
        self._box.setContentsMargins(16, 0, 16, 8)
        self._box.setSpacing(4)
        below = QHBoxLayout()
        below.setSpacing(16)
        below.addWidget(self._more)
        below.addWidget(self._fold)
        below.addStretch(1)
        self._box.addLayout(below)
        self.hide()

    def show_questions(self, questions: Sequence[Question], files: Mapping[str, Sequence[str]] | None = None) -> None:
        """Ask these, of the files that leave them open; those that were answered are not among them any more."""
        about = {question.id: tuple((files or {}).get(question.id, ())) for question in questions}
        if (tuple(questions), about) == (self._questions, self._files):
            return
        self._questions, self._files = tuple(questions), about
        self._is_open = self._is_open and bool(questions)
        for row in self._rows:
            self._box.removeWidget(row)
            row.hide()
            row.deleteLater()
        self._rows = [QuestionRow(question, about[question.id]) for question in questions[:_AT_ONCE]]
        for at, row in enumerate(self._rows):
            row.answered.connect(self.answered)
            self._box.insertWidget(at, row)
        left = len(questions) - len(self._rows)
        self._more.setText(say("1 more question after these") if left == 1 else
                           say("{count} more questions after these", count=grouped(left)))  # fmt: skip
        self._arrange()

    def show_room(self, *, is_low: bool) -> None:
        """Whether there is little room: then the questions are one line until they are opened."""
        if is_low != self._is_low:
            self._is_low = is_low
            self._arrange()

    @property
    def is_folded(self) -> bool:
        """Whether the questions are one line."""
        return self._is_low and not self._is_open

    @property
    def first_stop(self) -> QWidget | None:
        """Where the keys go first; None where nothing is asked."""
        if not self._questions:
            return None
        return self._fold if self.is_folded else self._rows[0].first_answer

    def _arrange(self) -> None:
        count, is_folded = len(self._questions), self.is_folded
        for row in self._rows:
            row.setVisible(not is_folded)
        self._more.setVisible(count > len(self._rows) and not is_folded)
        asked = say("1 question about what was measured") if count == 1 else (
            say("{count} questions about what was measured", count=grouped(count))
        )  # fmt: skip
        self._fold.setText(asked if is_folded else say("Answer later"))
        self._fold.setVisible(self._is_low and bool(count))
        self._box.setContentsMargins(16, 0, 16, 0 if is_folded else 8)
        self.setVisible(bool(count))

    def _on_fold(self) -> None:
        self._is_open = not self._is_open
        self._arrange()
        if (first := self.first_stop) is not None:
            first.setFocus()
