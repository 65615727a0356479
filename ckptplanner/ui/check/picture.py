"""The result as a picture: the verdict, strip and causes side by side, and one run as lanes below."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QToolButton, QVBoxLayout, QWidget
from typing_extensions import override

from ckptplanner.ui.check.causes import CauseBars
from ckptplanner.ui.check.lanes import LaneView
from ckptplanner.ui.check.strip import Strip
from ckptplanner.ui.lines import QuietLine, Sentence
from ckptplanner.ui.theme import LIGHT, Theme, icon
from ckptplanner.ui.words import say
from ckptplanner.units import grouped

_EDGE = 16


class RunHead(QWidget):
    """Which run the lanes show, the way to the others, and the way back to all of it."""

    step_requested = Signal(int)
    whole_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        title = QLabel(say("One simulated run"))
        title.setProperty("role", "title")
        self._number = QLabel()
        self._number.setObjectName("check.run")
        self._number.setProperty("role", "muted")
        self.before, self.after = QToolButton(), QToolButton()
        for button, name, words, step in (
            (self.before, "check.previous", say("Previous run"), -1), (self.after, "check.next", say("Next run"), 1),
        ):  # fmt: skip
            button.setObjectName(name)
            button.setAccessibleName(words)
            button.setToolTip(words)
            button.setFixedSize(22, 22)
            button.setIconSize(QSize(14, 14))
            button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
            button.setProperty("step", step)
            button.clicked.connect(self._on_step)
        hint = QuietLine()
        hint.show_words(say("The wheel zooms, a drag moves; Page Down goes from one interruption to the next"))
        hint.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.whole = QPushButton(say("Whole run"))
        self.whole.setObjectName("check.whole")
        self.whole.setProperty("role", "link")
        self.whole.setToolTip(say("Show all days of the run again (double click, Home)"))
        self.whole.clicked.connect(self.whole_requested)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(4)
        row.addWidget(title)
        row.addSpacing(12)
        for part in (self.before, self._number, self.after):
            row.addWidget(part)
        row.addWidget(hint, 1)
        row.addSpacing(12)
        row.addWidget(self.whole)

    def _on_step(self) -> None:
        self.step_requested.emit(int(self.sender().property("step")))

    def show_theme(self, theme: Theme) -> None:
        """Take the colours of a theme."""
        self.before.setIcon(icon("chevron-left", theme))
        self.after.setIcon(icon("chevron-right", theme))

    def show_number(self, number: int, runs: int) -> None:
        """Run `number`, counted from 0, of so many."""
        self._number.setText(say("run {number} of {runs}", number=grouped(number + 1), runs=grouped(runs)))
        self.before.setEnabled(number > 0)
        self.after.setEnabled(number + 1 < runs)


class Picture(QWidget):
    """Everything that a simulation has to say."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("check.picture")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setProperty("role", "surface")
        self._theme = LIGHT
        self._sign = QLabel()
        self._sign.setFixedSize(20, 20)
        self.sentence = Sentence("check.sentence", is_title=True, most_lines=3)
        self.detail = Sentence("check.detail", is_title=False)
        self.strip, self.causes, self.head, self.lanes = Strip(), CauseBars(), RunHead(), LaneView()
        said = QHBoxLayout()
        said.setSpacing(4)
        said.addWidget(self._sign, 0, Qt.AlignmentFlag.AlignTop)
        lines = QVBoxLayout()
        lines.setSpacing(0)
        lines.addWidget(self.sentence)
        lines.addWidget(self.detail)
        said.addLayout(lines, 1)
        upper = QHBoxLayout()
        upper.setSpacing(40)
        upper.addWidget(self.strip, 50)
        upper.addWidget(self.causes, 50, Qt.AlignmentFlag.AlignTop)
        box = QVBoxLayout(self)
        box.setContentsMargins(_EDGE, 6, _EDGE, 6)
        box.setSpacing(0)
        box.addLayout(said)
        box.addSpacing(10)
        box.addLayout(upper, 2)
        box.addSpacing(16)
        box.addWidget(self.head)
        box.addSpacing(2)
        box.addWidget(self.lanes, 3)
        box.addStretch(0)

    def show_theme(self, theme: Theme) -> None:
        """Take the colours of a theme."""
        self._theme = theme
        for part in (self.sentence, self.detail, self.strip, self.causes, self.head, self.lanes):
            part.show_theme(theme)
        self.update()

    def show_words(self, sentence: str, detail: str, sign: str) -> None:
        """The verdict with what it rests on; `sign` is an icon's name."""
        colour = {"warning": self._theme.warning, "error": self._theme.error}.get(sign, self._theme.accent)
        self._sign.setPixmap(icon(sign, self._theme, colour).pixmap(16, 16))
        self.sentence.show_words(sentence)
        self.detail.show_words(detail)

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(0, self.head.y() - 8, self.width(), 1, QColor(self._theme.hairline))
