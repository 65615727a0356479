"""One row of a panel: label, editor and source word; below them at most one line of small print.

Interrupted every  [      200 h]  article
this job, all causes, 32 nodes = each node every 267 days

Write time         [    5 minn ]  keeps 5 min        <- refused: the value that holds, and what would be accepted
Not a time. Write 90 s, 5 min or 1.5 h.

Restart time         14 min 50 s  click for why      <- ComputedRow
"""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QEvent, QSize, Qt, Signal
from PySide6.QtGui import QEnterEvent, QKeyEvent, QPainter, QPaintEvent, QPalette, QResizeEvent
from PySide6.QtWidgets import QAbstractButton, QApplication, QHBoxLayout, QLabel, QPushButton, QSizePolicy, QVBoxLayout, QWidget
from typing_extensions import override

from ckptplanner.ui.theme import EDGE, EDITOR_WIDTH, FIELD_HEIGHT, LABEL_WIDTH, LINE_HEIGHT, ROW_HEIGHT, set_property
from ckptplanner.ui.widgets.choice_edit import CheckEdit, ChoiceEdit, SearchEdit
from ckptplanner.ui.widgets.quantity_edit import QuantityEdit
from ckptplanner.ui.widgets.segmented import Segmented
from ckptplanner.ui.words import say

Editor = QuantityEdit | ChoiceEdit | Segmented | CheckEdit | SearchEdit

_LABEL_GAP, _SOURCE_GAP = 4, 6
_INSET = 9  # from the edge of a field to the end of its text


def source_word(kind: str) -> str:
    """The short word that says where a value comes from."""
    words = {
        "log": say("log"),
        "doc": say("doc"),
        "article": say("article"),
        "guess": say("guess"),
        "typed": say("typed"),
    }
    return words.get(kind, "")


def source_meaning(kind: str) -> str:
    """What the short word at a field stands for."""
    meanings = {
        "log": say("Read from your own log or benchmark."),
        "doc": say("From documentation."),
        "article": say("From Article A, which the example follows (docs/models.md)."),
        "guess": say("A guess until it is measured."),
        "typed": say("Typed, or chosen here."),
    }
    return meanings.get(kind, "")


def _line() -> tuple[QWidget, QHBoxLayout]:
    """The holder of label, editor and source."""
    holder = QWidget()
    holder.setFixedHeight(ROW_HEIGHT)
    row = QHBoxLayout(holder)
    edge = (ROW_HEIGHT - FIELD_HEIGHT) // 2
    row.setContentsMargins(EDGE, edge, 0, edge)
    row.setSpacing(0)
    return holder, row


def _note() -> QLabel:
    note = QLabel()
    note.setProperty("role", "small")
    note.setWordWrap(True)
    note.setTextFormat(Qt.TextFormat.PlainText)
    note.setContentsMargins(EDGE, 0, EDGE // 2, 0)
    note.setMinimumHeight(LINE_HEIGHT)
    note.hide()
    return note


def _set_text(label: QLabel | QPushButton, text: str) -> None:
    if label.text() != text:
        label.setText(text)


def _stack(parent: QWidget, holder: QWidget, note: QLabel) -> None:
    column = QVBoxLayout(parent)
    column.setContentsMargins(0, 0, 0, 0)
    column.setSpacing(0)
    column.addWidget(holder)
    column.addWidget(note)


class FieldRow(QWidget):
    """Label, editor, source word, small print."""

    edited = Signal(str, object)
    gesture_ended = Signal()
    source_requested = Signal(str)

    def __init__(self, editor: Editor, title: str, help: str = "", parent: QWidget | None = None) -> None:
        """Put `editor` into a row with its label; `help` is the label's tooltip."""
        super().__init__(parent)
        self.editor = editor
        self.path = editor.path
        self._second_line = ""
        self._message = ""
        self._reason = ""
        self._kind = ""
        self.label = QLabel(title)
        self.label.setFixedWidth(LABEL_WIDTH)
        self.label.setToolTip(help)
        self.label.setBuddy(editor)
        self._source = QPushButton()
        self._source.setProperty("role", "source")
        self._source.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self._source.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._source.setCursor(Qt.CursorShape.PointingHandCursor)
        self._source.setAccessibleName(say("Source of {field}", field=title))
        self._note = _note()
        editor.setFixedWidth(EDITOR_WIDTH)
        self._lay_out()
        self._connect()

    def _lay_out(self) -> None:
        holder, row = _line()
        row.addWidget(self.label)
        row.addSpacing(_LABEL_GAP)
        row.addWidget(self.editor)
        row.addSpacing(_SOURCE_GAP)
        row.addWidget(self._source, 1)
        _stack(self, holder, self._note)

    def _connect(self) -> None:
        self.editor.edited.connect(self.edited)
        self.editor.gesture_ended.connect(self.gesture_ended)
        self.editor.refused.connect(self._on_refused)
        self._source.clicked.connect(self._on_source_clicked)
        if isinstance(self.editor, QuantityEdit):
            self.editor.textChanged.connect(self._show_small_print)

    def show_value(self, value: Any, source_kind: str, tooltip: str = "") -> None:
        """Show the value that holds and where it comes from; emits nothing."""
        self.editor.show_value(value)
        if source_kind != self._kind:
            self._kind = source_kind
            set_property(self._source, "kind", source_kind)
            self.editor.show_guess(source_kind == "guess")
        if self._source.toolTip() != tooltip:
            self._source.setToolTip(tooltip)
        self._show_small_print()

    def show_second_line(self, text: str) -> None:
        """Say the same in other words below the field; empty takes it back."""
        if text != self._second_line:
            self._second_line = text
            self._show_small_print()

    def show_refusal(self, message: str) -> None:
        """Say why the value was refused; empty takes it back."""
        self.editor.show_refusal(message)

    def forget(self) -> None:
        """Drop what is being typed or was refused: another plan is shown."""
        if isinstance(self.editor, QuantityEdit | SearchEdit):
            self.editor.forget()
        else:
            self.editor.show_refusal("")

    def set_enabled_reason(self, reason: str) -> None:
        """Disable the row for this reason; empty enables it."""
        if reason != self._reason:
            self._reason = reason
            self.editor.setEnabled(not reason)
            self._source.setEnabled(not reason)
            set_property(self.label, "role", "muted" if reason else "")
            self._show_small_print()

    def focus(self) -> None:
        """Put the cursor into the editor."""
        self.editor.setFocus(Qt.FocusReason.OtherFocusReason)
        if isinstance(self.editor, QuantityEdit):
            self.editor.selectAll()

    def source_text(self) -> str:
        """The word at the end of the row."""
        return self._source.text()

    def small_print(self) -> str:
        """The line below the row, empty when there is none."""
        return "" if self._note.isHidden() else self._note.text()

    def _on_refused(self, message: str) -> None:
        self._message = message
        self._show_small_print()

    def _on_source_clicked(self) -> None:
        self.source_requested.emit(self.path)

    def _show_small_print(self) -> None:
        """The most urgent line: a refusal, how the text will be shown back, or the second line."""
        word, line = self._reason or source_word(self._kind), self._second_line
        if self._message:
            kept = self.editor.value_text()
            word, line = say("keeps {value}", value=kept) if kept else "", say(self._message)
            if not self._fits(word):
                word, line = "", say("{refusal} Keeps {value}.", refusal=line, value=kept)
        elif isinstance(self.editor, QuantityEdit) and (shown := self.editor.read_back()):
            line = say("shown back as {value}", value=shown)
        if not self._fits(word):
            word, line = "", "\n".join(filter(None, (word, line)))
        _set_text(self._source, word)
        set_property(self._note, "role", "refusal" if self._message else "small")
        _set_text(self._note, line)
        self._note.setVisible(bool(line))

    def _fits(self, word: str) -> bool:
        room = self.width() - EDGE - LABEL_WIDTH - _LABEL_GAP - EDITOR_WIDTH - _SOURCE_GAP
        return self._source.fontMetrics().horizontalAdvance(word) <= room

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.oldSize().width() != event.size().width():
            self._show_small_print()

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        """F1 in the editor asks for the source, so that the source words need not stand in the tab order."""
        if event.key() == Qt.Key.Key_F1:
            self.source_requested.emit(self.path)
        else:
            super().keyPressEvent(event)


class ComputedRow(QAbstractButton):
    """A figure that was worked out: label and bold value; a click asks why."""

    why_requested = Signal(str)

    def __init__(self, figure: str, title: str, help: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.figure = figure
        self._title = title
        self._value, self._why, self._note = QLabel(), QLabel(), _note()
        self.setObjectName(figure)
        self.setToolTip(help)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self._value.setProperty("role", "title")
        self._value.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self._value.setFixedWidth(EDITOR_WIDTH + _LABEL_GAP - _INSET)
        self._why.setProperty("role", "small")
        self._why.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        label = QLabel(title)
        label.setFixedWidth(LABEL_WIDTH)
        holder, row = _line()
        row.addWidget(label)
        row.addWidget(self._value)
        row.addSpacing(_SOURCE_GAP + _INSET)
        row.addWidget(self._why, 1)
        for child in (holder, label, self._value, self._why, self._note):
            child.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        _stack(self, holder, self._note)
        self.clicked.connect(self._on_clicked)

    def show_value(self, text: str, second_line: str = "") -> None:
        """Show the figure as text, and the same in other words below it."""
        if (text, second_line) == (self._value.text(), self._note.text()):
            return
        _set_text(self._value, text)
        _set_text(self._note, second_line)
        self._note.setVisible(bool(second_line))
        self.setAccessibleName(f"{self._title}: {text}")

    def value_text(self) -> str:
        """The figure as it is shown."""
        return self._value.text()

    def small_print(self) -> str:
        """The line below the figure."""
        return self._note.text()

    def _on_clicked(self) -> None:
        self.why_requested.emit(self.figure)

    @override
    def sizeHint(self) -> QSize:
        return QWidget.sizeHint(self)

    @override
    def enterEvent(self, event: QEnterEvent) -> None:
        super().enterEvent(event)
        self._why.setText(say("why?"))

    @override
    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self._why.setText("")

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        if self.hasFocus():
            painter = QPainter(self)
            painter.setPen(QApplication.palette().color(QPalette.ColorRole.Accent))
            painter.drawRect(EDGE // 2, 0, self.width() - EDGE, ROW_HEIGHT - 1)
