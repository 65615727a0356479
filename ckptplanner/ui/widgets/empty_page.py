"""What stands on a page that has nothing to show yet: what it would show, and the button that fills it."""

from __future__ import annotations

from PySide6.QtCore import QRectF, Qt, Signal
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QLabel, QPushButton, QVBoxLayout, QWidget
from typing_extensions import override

from ckptplanner.ui.theme import LIGHT, Theme

_WIDTH, _EDGE = 520, 16


class EmptyPage(QWidget):
    """A title, a sentence or two and the button, in a dashed frame."""

    start_requested = Signal()

    def __init__(self, name: str, button: str, parent: QWidget | None = None) -> None:
        """Build the page; its object name is `name`.empty, that of the button `name`.begin."""
        super().__init__(parent)
        self.setObjectName(f"{name}.empty")
        self._theme = LIGHT
        self._title, self._words = QLabel(), QLabel()
        self._title.setProperty("role", "title")
        self._words.setProperty("role", "muted")
        for label in (self._title, self._words):
            label.setAlignment(Qt.AlignmentFlag.AlignCenter)
            label.setWordWrap(True)
            label.setFixedWidth(_WIDTH)
        self.begin = QPushButton(button)
        self.begin.setObjectName(f"{name}.begin")
        self.begin.setProperty("role", "primary")
        self.begin.setFixedHeight(26)
        self.begin.clicked.connect(self.start_requested)
        box = QVBoxLayout(self)
        box.setContentsMargins(32, 24, 32, 24)
        box.setSpacing(8)
        box.addStretch(1)
        for part in (self._title, self._words):
            box.addWidget(part, 0, Qt.AlignmentFlag.AlignHCenter)
        box.addSpacing(8)
        box.addWidget(self.begin, 0, Qt.AlignmentFlag.AlignHCenter)
        box.addStretch(1)

    def show_theme(self, theme: Theme) -> None:
        """Take the colours of a theme."""
        self._theme = theme
        self.update()

    def show_words(self, title: str, words: str, *, has_button: bool) -> None:
        """Say what there is to say."""
        self._title.setText(title)
        self._words.setText(words)
        for label in (self._title, self._words):  # a box that centres labels does not ask how tall they are at their width
            label.setFixedHeight(max(label.heightForWidth(_WIDTH), 0))
        self.begin.setVisible(has_button)

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        line = QPen(QColor(self._theme.line), 1)
        line.setDashPattern([4, 3])
        painter.setPen(line)
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(_EDGE + 0.5, 8.5, -_EDGE - 0.5, -_EDGE - 0.5), 4, 4)
