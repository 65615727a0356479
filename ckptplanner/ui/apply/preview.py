"""The files of one target: a tab for each, the file or what changed in it since it was saved last."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QSignalBlocker, Qt
from PySide6.QtWidgets import QButtonGroup, QHBoxLayout, QPushButton, QTabBar, QVBoxLayout, QWidget

from ckptplanner.engine.settings.folder import content_in
from ckptplanner.engine.settings.target import SettingsFile
from ckptplanner.ui.apply.code_view import CodeView
from ckptplanner.ui.lines import QuietLine
from ckptplanner.ui.theme import Theme
from ckptplanner.ui.words import say

FILE, DIFFERENCE = 0, 1
_AROUND = 3  # lines that stand before and after a change


def difference(before: str, after: str, name: str) -> str:
    """What changed, line by line, with - and + before it; nothing where nothing did."""
    lines = difflib.unified_diff(
        before.splitlines(), after.splitlines(), f"{name} ({say('saved before')})", f"{name} ({say('now')})",
        n=_AROUND, lineterm="",
    )  # fmt: skip
    return "\n".join(list(lines)[2:])  # without the two lines of names, which the tab says


def changes(plus: int, minus: int) -> str:
    """2 lines added, 1 removed; what there is none of is not said."""
    added = say("1 line added") if plus == 1 else say("{count} lines added", count=plus)
    removed = say("1 line removed") if minus == 1 else say("{count} lines removed", count=minus)
    if plus and minus:
        return say("{added}, {count} removed", added=added, count=minus)
    return added if plus else removed


class Preview(QWidget):
    """Shows the files that it is given."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._files: tuple[SettingsFile, ...] = ()
        self._folder: Path | None = None
        self._tabs = QTabBar()
        self._tabs.setObjectName("apply.files")
        self._tabs.setExpanding(False)
        self._tabs.setElideMode(Qt.TextElideMode.ElideMiddle)
        self._tabs.setUsesScrollButtons(True)
        self._tabs.setAccessibleName(say("Files"))
        self._ways = QButtonGroup(self)
        self.code = CodeView()
        self._words = QuietLine()
        self._words.setObjectName("apply.words")
        self._words.setTextFormat(Qt.TextFormat.PlainText)
        self._place()
        self._tabs.currentChanged.connect(self._show)
        self._ways.idClicked.connect(self._show)

    def _place(self) -> None:
        ways = QHBoxLayout()
        ways.setSpacing(0)
        labels = (say("File"), say("Difference to the last export"))
        for index, label in enumerate(labels):
            button = QPushButton(label)
            button.setObjectName(("apply.file", "apply.difference")[index])
            button.setCheckable(True)
            button.setAutoDefault(False)
            button.setProperty("role", "segment")
            button.setProperty("place", "first" if index == 0 else "last")
            button.setMinimumWidth(button.fontMetrics().horizontalAdvance(label) + 24)
            button.setFixedHeight(22)
            self._ways.addButton(button, index)
            ways.addWidget(button)
        self._ways.button(FILE).setChecked(True)
        top = QHBoxLayout()
        top.setSpacing(8)
        top.addWidget(self._tabs, 1)
        top.addLayout(ways)
        box = QVBoxLayout(self)
        box.setContentsMargins(0, 0, 0, 0)
        box.setSpacing(4)
        box.addLayout(top)
        box.addWidget(self.code, 1)
        box.addWidget(self._words)

    # ------------------------------------------------------------ what is shown

    def show_files(self, files: Sequence[SettingsFile], folder: Path | None) -> None:
        """Show files, and how they differ from those in a folder; the tab that was open stays open where there is one."""
        names = [file.name for file in files]
        open_one = self.file.name if self.file is not None else ""
        changed = names != self.file_names()
        self._files, self._folder = tuple(files), folder
        if changed:
            with QSignalBlocker(self._tabs):
                while self._tabs.count():
                    self._tabs.removeTab(0)
                for name in names:
                    self._tabs.setTabToolTip(self._tabs.addTab(name), name)
                if open_one in names:
                    self._tabs.setCurrentIndex(names.index(open_one))
        self._show()

    def show_theme(self, theme: Theme) -> None:
        """Take the colours of a theme."""
        self.code.show_theme(theme)

    def file_names(self) -> list[str]:
        """The names on the tabs."""
        return [file.name for file in self._files]

    @property
    def file(self) -> SettingsFile | None:
        """The file that is seen."""
        index = self._tabs.currentIndex()
        return self._files[index] if 0 <= index < len(self._files) else None

    def _show(self, _index: int = 0) -> None:
        file = self.file
        if file is None:
            self.code.show_file("", "text")
            self._words.show_words("")
            return
        before = None if self._folder is None else content_in(self._folder, file.name)
        is_difference = self._ways.checkedId() == DIFFERENCE
        if is_difference:
            changes = "" if before is None else difference(before, file.content, file.name)
            self.code.show_file(changes, "text", is_difference=True)
        else:
            self.code.show_file(file.content, file.language)
        self._words.show_words(self._state(file, before))

    def _state(self, file: SettingsFile, before: str | None) -> str:
        """How the file stands to the one that was saved before."""
        if self._folder is None:
            return say("Nothing of this plan has been saved yet: once it is, this shows what has changed since.")
        if before is None:
            return say("There is no {name} in {folder} yet.", name=file.name, folder=self._folder)
        if before == file.content:
            return say("The same as in {folder}.", folder=self._folder)
        lines = difference(before, file.content, file.name).split("\n")
        plus, minus = (sum(line.startswith(sign) for line in lines) for sign in "+-")
        return say("Differs from the one in {folder}: {changes}.", folder=self._folder, changes=changes(plus, minus))
