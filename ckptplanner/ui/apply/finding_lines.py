"""What a target cannot do of the plan: a sentence for each finding, and the way to its field."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import QFrame, QGridLayout, QLabel, QPushButton, QScrollArea, QSizePolicy, QWidget
from typing_extensions import override

from ckptplanner.engine.plan import Finding
from ckptplanner.ui.findings_view import field_title
from ckptplanner.ui.theme import LIGHT, Theme, icon
from ckptplanner.ui.words import say, say_text, severity_word

_TALLEST = 132


class FindingLines(QScrollArea):
    """Sentences with their signs; as tall as they are, up to a limit."""

    field_requested = Signal(str)

    def __init__(self, parent: QWidget | None = None, *, tallest: int = _TALLEST) -> None:
        super().__init__(parent)
        self._tallest = tallest
        self.setObjectName("apply.findings")
        self.setAccessibleName(say("What it cannot do"))
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
        self._theme = LIGHT
        self._findings: tuple[Finding, ...] = ()
        self._fill()

    def show_findings(self, findings: Sequence[Finding]) -> None:
        """Show these."""
        if tuple(findings) != self._findings:
            self._findings = tuple(findings)
            self._fill()

    def show_theme(self, theme: Theme) -> None:
        """Take the colours of a theme."""
        self._theme = theme
        self._fill()

    def _fill(self) -> None:
        inside = QWidget()
        inside.setProperty("role", "surface")
        grid = QGridLayout(inside)
        grid.setContentsMargins(0, 0, 8, 0)
        grid.setHorizontalSpacing(8)
        grid.setVerticalSpacing(4)
        grid.setColumnStretch(1, 1)
        before: QWidget = self
        links: list[QPushButton] = []
        for row, finding in enumerate(self._findings):
            theme = self._theme
            colour = {"error": theme.error, "warning": theme.warning, "info": theme.info}[finding.severity]
            sign, words = QLabel(), QLabel(say_text(finding.text))
            sign.setPixmap(icon(finding.severity, theme, colour).pixmap(QSize(16, 16)))
            sign.setAccessibleName(severity_word(finding.severity))
            words.setTextFormat(Qt.TextFormat.PlainText)
            words.setWordWrap(True)
            words.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            link = QPushButton(field_title(finding.path))
            link.setObjectName(f"apply.field.{finding.path}")
            link.setProperty("role", "link")
            link.setToolTip(say("Go to this field"))
            link.setAutoDefault(False)
            link.setCursor(Qt.CursorShape.PointingHandCursor)
            link.clicked.connect(self._on_link)
            top = Qt.AlignmentFlag.AlignTop
            grid.addWidget(sign, row, 0, top)
            grid.addWidget(words, row, 1, top)
            grid.addWidget(link, row, 2, top | Qt.AlignmentFlag.AlignRight)
            links.append(link)
        self.setWidget(inside)
        for link in links:  # made last, and read before what stands below
            QWidget.setTabOrder(before, link)
            before = link
        self.setVisible(bool(self._findings))
        self.updateGeometry()

    def _on_link(self) -> None:
        name = self.sender().objectName()
        self.field_requested.emit(name.removeprefix("apply.field."))

    @override
    def hasHeightForWidth(self) -> bool:
        return True

    @override
    def heightForWidth(self, width: int) -> int:
        inside = self.widget()
        return 0 if inside is None else min(max(inside.heightForWidth(width), 20), self._tallest)

    @override
    def sizeHint(self) -> QSize:
        return QSize(400, self.heightForWidth(self.width()))

    @override
    def minimumSizeHint(self) -> QSize:
        return QSize(200, min(self.heightForWidth(max(self.width(), 400)), self._tallest))
