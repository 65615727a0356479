"""The list of findings: what is wrong, at which field; a click goes there."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPoint, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QScrollArea, QVBoxLayout, QWidget
from typing_extensions import override

from ckptplanner.engine.plan import Finding
from ckptplanner.engine.scenario import Scenario
from ckptplanner.frozen import PathError, spec_of
from ckptplanner.ui.theme import LIGHT, SMALL_PX, Theme, font, icon
from ckptplanner.ui.words import say, say_text, severity_word

_WIDTH = 460


def field_title(path: str) -> str:
    """What the field at a path is called in its panel."""
    try:
        return say(spec_of(Scenario, path).title)
    except PathError:
        return path


class FindingRow(QPushButton):
    """One finding."""

    def __init__(self, finding: Finding, theme: Theme) -> None:
        super().__init__()
        self.finding = finding
        self.setObjectName(f"finding.{finding.severity}.{finding.path}")
        self.setProperty("role", "finding")
        self.setFlat(True)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        row = QHBoxLayout(self)
        row.setContentsMargins(12, 8, 12, 8)
        row.setSpacing(10)
        colour = {"error": theme.error, "warning": theme.warning, "info": theme.info}[finding.severity]
        sign = QLabel()
        sign.setPixmap(icon(finding.severity, theme, colour).pixmap(QSize(16, 16)))
        row.addWidget(sign, 0, Qt.AlignmentFlag.AlignTop)
        words = QVBoxLayout()
        words.setSpacing(0)
        message = QLabel(say_text(finding.text))
        message.setTextFormat(Qt.TextFormat.PlainText)
        message.setWordWrap(True)
        where = QLabel(field_title(finding.path))
        where.setProperty("role", "small")
        where.setFont(font(SMALL_PX))
        for label in (message, where):
            label.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
            words.addWidget(label)
        row.addLayout(words, 1)
        self.setAccessibleName(f"{severity_word(finding.severity)}: {message.text()}")
        self._message = message

    @override
    def sizeHint(self) -> QSize:
        width = _WIDTH - 60
        return QSize(_WIDTH, self._message.heightForWidth(width) + 34)


class FindingsView(QFrame):
    """A card over the window with every finding of the current plan."""

    field_requested = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent, Qt.WindowType.Popup)
        self.setObjectName("findings_view")
        self.setProperty("role", "card")
        self._theme = LIGHT
        self._rows = QVBoxLayout()
        self._rows.setContentsMargins(0, 0, 0, 0)
        self._rows.setSpacing(0)
        inside = QWidget()
        inside.setLayout(self._rows)
        self._scroll = QScrollArea()
        self._scroll.setWidgetResizable(True)
        self._scroll.setWidget(inside)
        self._scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        box = QVBoxLayout(self)
        box.setContentsMargins(1, 1, 1, 1)
        box.addWidget(self._scroll)

    def show_theme(self, theme: Theme) -> None:
        """Take the colours of a theme."""
        self._theme = theme

    def show_findings(self, findings: Sequence[Finding], first: str, corner: QPoint, most_height: int) -> None:
        """Open below `corner` (its top right), scrolled to the first of a severity."""
        while (item := self._rows.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.deleteLater()
        rows = [FindingRow(finding, self._theme) for finding in findings]
        for row in rows:
            row.setFixedHeight(row.sizeHint().height())
            row.clicked.connect(self._on_row)
            self._rows.addWidget(row)
        if not rows:
            empty = QLabel(say("Nothing to report: every check holds."))
            empty.setContentsMargins(16, 12, 16, 12)
            self._rows.addWidget(empty)
        self._rows.addStretch(1)
        height = sum(row.sizeHint().height() for row in rows) if rows else 44
        self.setFixedSize(_WIDTH, min(height + 4, most_height))
        self.move(corner - QPoint(_WIDTH, 0))
        self.show()
        target = next((row for row in rows if row.finding.severity == first), rows[0] if rows else None)
        if target is not None:
            target.setFocus()
            self._scroll.ensureWidgetVisible(target)

    def _on_row(self) -> None:
        row = self.sender()
        assert isinstance(row, FindingRow)
        self.close()
        self.field_requested.emit(row.finding.path)

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.close()
            return
        move = {Qt.Key.Key_Down: True, Qt.Key.Key_Up: False}.get(Qt.Key(event.key()))
        if move is not None:
            self.focusNextPrevChild(move)
            return
        super().keyPressEvent(event)
