"""A settings file to read: letters of one width, line numbers, a mark beside every line that comes from the plan.

  |   1  # plan '5 min', id ...                          QPlainTextEdit, read-only
# |  12  --save-interval 268   # from the plan: ...      the bar at the left: a figure of the plan
"""

from __future__ import annotations

from PySide6.QtCore import QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QResizeEvent, QTextCursor, QTextFormat
from PySide6.QtWidgets import QPlainTextEdit, QTextEdit, QWidget
from typing_extensions import override

from ckptplanner.ui.apply.highlight import Highlighter, is_from_the_plan
from ckptplanner.ui.theme import LIGHT, SMALL_PX, Theme, code_font, load_code_font
from ckptplanner.ui.words import say

_PAD, _BAR = 8, 3


class _Gutter(QWidget):
    """The strip at the left of the text."""

    def __init__(self, view: CodeView) -> None:
        super().__init__(view)
        self._view = view

    @override
    def sizeHint(self) -> QSize:
        return QSize(self._view.gutter_width(), 0)

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        self._view.paint_gutter(self, event.rect())


class CodeView(QPlainTextEdit):
    """Shows one file or one difference."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        load_code_font()
        self.setObjectName("apply.preview")
        self.setAccessibleName(say("The file"))
        self.setReadOnly(True)
        self.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.setFont(code_font())
        self.document().setDocumentMargin(6)
        self._theme, self._is_difference = LIGHT, False
        self._highlighter = Highlighter(self.document())
        self._gutter = _Gutter(self)
        self.updateRequest.connect(self._on_update)
        self.setViewportMargins(self.gutter_width(), 0, 0, 0)

    def show_file(self, content: str, language: str, *, is_difference: bool = False) -> None:
        """Show a text; where it is the one that was shown before, the place in it stays."""
        self._is_difference = is_difference
        self._highlighter.show_language(language, is_difference=is_difference)
        if content != self.toPlainText():
            down, across = self.verticalScrollBar().value(), self.horizontalScrollBar().value()
            self.setPlainText(content)
            self.verticalScrollBar().setValue(down)
            self.horizontalScrollBar().setValue(across)
        self._tint()
        self.setViewportMargins(self.gutter_width(), 0, 0, 0)
        self._place_gutter()
        self._gutter.update()

    def show_theme(self, theme: Theme) -> None:
        """Take the colours of a theme."""
        self._theme = theme
        self._highlighter.show_theme(theme)
        self.setFont(code_font())  # a style sheet that is set anew takes it away
        self._tint()
        self._gutter.update()

    def lines_from_the_plan(self) -> list[int]:
        """Numbers of the lines that come from a figure of the plan."""
        lines = self.toPlainText().split("\n")
        return [] if self._is_difference else [number for number, line in enumerate(lines, 1) if is_from_the_plan(line)]

    def _tint(self) -> None:
        """The grounds of lines that were added and taken away."""
        made = []
        block = self.document().firstBlock()
        grounds = {"+": self._theme.code.added_ground, "-": self._theme.code.removed_ground}
        while self._is_difference and block.isValid():
            ground = grounds.get(block.text()[:1])
            if ground is not None:
                one = QTextEdit.ExtraSelection()
                one.format.setBackground(QColor(ground))
                one.format.setProperty(QTextFormat.Property.FullWidthSelection, True)
                one.cursor = QTextCursor(block)
                made.append(one)
            block = block.next()
        self.setExtraSelections(made)

    # ------------------------------------------------------------ the strip at the left

    def gutter_width(self) -> int:
        """Room for the numbers of the lines; a difference has none."""
        if self._is_difference:
            return _PAD
        digits = max(2, len(str(self.blockCount())))
        return 2 * _PAD + _BAR + digits * self.fontMetrics().horizontalAdvance("0")

    def paint_gutter(self, gutter: QWidget, rect: QRect) -> None:
        """Numbers, and bars beside lines from the plan."""
        painter = QPainter(gutter)
        painter.fillRect(rect, QColor(self._theme.surface if self._is_difference else self._theme.panel))
        if self._is_difference:
            return
        made = code_font(SMALL_PX)
        painter.setFont(made)
        block = self.firstVisibleBlock()
        top = self.blockBoundingGeometry(block).translated(self.contentOffset()).top()
        while block.isValid() and top <= rect.bottom():
            height = self.blockBoundingRect(block).height()
            if is_from_the_plan(block.text()):
                painter.fillRect(QRectF(0, top, _BAR, height), QColor(self._theme.code.remark))
            painter.setPen(QColor(self._theme.muted))
            place = QRectF(_BAR, top, gutter.width() - _BAR - _PAD, height)
            painter.drawText(place, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, str(block.blockNumber() + 1))
            top += height
            block = block.next()

    def _on_update(self, rect: QRect, down: int) -> None:
        if down:
            self._gutter.scroll(0, down)
        else:
            self._gutter.update(0, rect.y(), self._gutter.width(), rect.height())

    def _place_gutter(self) -> None:
        inside = self.contentsRect()
        self._gutter.setGeometry(inside.left(), inside.top(), self.gutter_width(), inside.height())

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._place_gutter()
