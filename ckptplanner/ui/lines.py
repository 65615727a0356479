"""Labels that keep to their lines: a sentence in a few, a quiet one in one; the tooltip has what does not fit."""

from __future__ import annotations

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QLabel, QSizePolicy
from typing_extensions import override

from ckptplanner.ui.ink import lines_of, metrics, write
from ckptplanner.ui.theme import BODY_PX, LIGHT, Theme

_FADED = 0.4


class QuietLine(QLabel):
    """One small line, shortened where it does not fit; the tooltip has all of it."""

    def __init__(self) -> None:
        super().__init__()
        self._words = ""
        self.setProperty("role", "small")
        self.setMinimumWidth(40)

    @property
    def words(self) -> str:
        """All of it."""
        return self._words

    def show_words(self, words: str) -> None:
        """Show a line."""
        self._words = words
        self._shorten()

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        self._shorten()

    def _shorten(self) -> None:
        shown = metrics().elidedText(self._words, Qt.TextElideMode.ElideRight, self.width())
        self.setText(shown)
        self.setToolTip(self._words if shown != self._words else "")


class Sentence(QLabel):
    """A sentence in at most a few lines, as tall as it needs at its width; a label's own wrapping asks for too much."""

    def __init__(self, name: str, *, is_title: bool, most_lines: int = 2) -> None:
        super().__init__()
        self._most_lines = most_lines
        self.setObjectName(name)
        self._is_title = is_title
        self._colour = LIGHT.text
        self._is_stale = False
        self.setMinimumWidth(80)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)

    def show_theme(self, theme: Theme) -> None:
        """Take the colours of a theme."""
        self._colour = theme.text if self._is_title else theme.muted
        self.update()

    def show_words(self, words: str, *, is_stale: bool = False) -> None:
        """Say something; pale where it no longer holds."""
        self._is_stale = is_stale
        self.setText(words)
        self.setToolTip("")
        self._fit()

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        self._fit()

    def _lines(self) -> list[str]:
        return lines_of(self.text(), self.width(), self._most_lines, BODY_PX, bold=self._is_title)

    def _fit(self) -> None:
        lines = self._lines()
        self.setFixedHeight(20 * len(lines))
        if lines[-1].endswith("…") and not self.text().endswith("…"):
            self.setToolTip(self.text())
        self.update()

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setOpacity(_FADED if self._is_stale else 1.0)
        for index, line in enumerate(self._lines()):
            room = QRectF(0, 20 * index, self.width(), 20)
            write(painter, room, line, self._colour, pixels=BODY_PX, bold=self._is_title)
