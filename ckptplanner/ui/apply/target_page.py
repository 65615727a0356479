"""One target: its version and what it is for, what it cannot do, the names it needs, its files."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QSettings, Qt
from PySide6.QtWidgets import QHBoxLayout, QLabel, QVBoxLayout, QWidget

from ckptplanner.ui.apply.finding_lines import FindingLines
from ckptplanner.ui.apply.names_form import NamesForm
from ckptplanner.ui.apply.prepared import TargetFiles
from ckptplanner.ui.apply.preview import Preview
from ckptplanner.ui.apply.purposes import purpose
from ckptplanner.ui.lines import QuietLine
from ckptplanner.ui.theme import Theme
from ckptplanner.ui.words import say, say_text


class TargetPage(QWidget):
    """Shows the target that is handed to it."""

    def __init__(self, settings: QSettings, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setProperty("role", "surface")
        self._title, self._version, self._purpose = QLabel(), QuietLine(), QLabel()
        for label, name, role in (
            (self._title, "title", "title"), (self._version, "version", "small"), (self._purpose, "purpose", "muted"),
        ):  # fmt: skip
            label.setObjectName(f"apply.{name}")
            label.setProperty("role", role)
            label.setTextFormat(Qt.TextFormat.PlainText)
            label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._purpose.setWordWrap(True)
        self.findings, self.names, self.preview = FindingLines(), NamesForm(settings), Preview()
        self._place()

    def _place(self) -> None:
        head = QHBoxLayout()
        head.setSpacing(8)
        head.addWidget(self._title)
        head.addWidget(self._version, 1)
        box = QVBoxLayout(self)
        box.setContentsMargins(16, 10, 16, 4)
        box.setSpacing(6)
        box.addLayout(head)
        box.addWidget(self._purpose)
        box.addWidget(self.findings)
        box.addWidget(self.names)
        box.addWidget(self.preview, 1)
        box.addStretch()

    def show_target(self, found: TargetFiles | None, folder: Path | None) -> None:
        """Show a target, or that there is nothing to write."""
        if found is None:
            self._title.setText(say("Nothing to write yet"))
            self._version.show_words("")
            self._purpose.setText(say("This plan has no schedule: choose a file system that holds its checkpoints first."))
            self.findings.show_findings(())
            self.names.show_used(())
            self.preview.show_files((), folder)
            self.preview.hide()
            return
        target = found.target
        checked = target.checked or say("by its source and documents, not run here")
        self._title.setText(say_text(target.title))
        self._version.show_words(f"{target.version} · {checked}")
        self._purpose.setText(purpose(target) if found.written.files else say("Not written, for this reason:"))
        self.findings.show_findings(found.written.findings)
        self.names.show_used(found.names)
        self.preview.show_files(found.written.files, folder)
        self.preview.setVisible(bool(found.written.files))

    def show_theme(self, theme: Theme) -> None:
        """Take the colours of a theme."""
        self.findings.show_theme(theme)
        self.preview.show_theme(theme)
