"""The head of the page "Your files": what they settle in a sentence, the buttons that open more, and how far the reading is.

14 files settle 7 of 12 inputs; 3 are still assumed.             [Open files…] [Open folder…] [Refresh]
2 files cannot be used, 3 files not known     Which are assumed?     The plan is still right: ...
Reading run-42/rank0.log, 12 of 40                                                        43 %  Stop
[########----------------------------------------------------------------------------------------- ]
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

from PySide6.QtCore import QPoint, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QHBoxLayout, QMenu, QMessageBox, QProgressBar, QPushButton, QVBoxLayout, QWidget

from ckptplanner.engine.scenario import Scenario
from ckptplanner.frozen import PathError, spec_of
from ckptplanner.ui.evidence.asking import ask_files, ask_folder
from ckptplanner.ui.evidence.desk import Found
from ckptplanner.ui.lines import QuietLine, Sentence
from ckptplanner.ui.theme import Theme, set_property
from ckptplanner.ui.words import say, say_text
from ckptplanner.units import NBSP, grouped

_STEPS = 1000
FILES = "files"  # the part of the page that lists them


def field_title(path: str) -> str:
    """What a field is called."""
    try:
        return say(spec_of(Scenario, path).title)
    except PathError:
        return path


def _files(count: int) -> str:
    return say("1 file") if count == 1 else say("{count} files", count=grouped(count))


def _settled(count: int, settled: int, inputs: int) -> str:
    values = {"settled": settled, "inputs": inputs}
    if count == 1:
        return say("1 file settles {settled} of the {inputs} inputs that files can tell", **values)
    return say("{count} files settle {settled} of the {inputs} inputs that files can tell", count=grouped(count), **values)


def sentence_of(found: Found) -> str:
    """What the files settle, in one sentence."""
    count = len(found.gathered.files)
    if found.reading is None:
        return say("Reading what was opened") if found.is_reading else say("Nothing has been read yet.")
    if not count:
        others = len(found.gathered.refused) + max(found.gathered.unknown_count, len(found.gathered.unknown))
        if not others:
            return say("There are no files in what was opened.")
        return say("The file that was opened says nothing about any input.") if others == 1 else (
            say("None of the {count} files that were opened says anything about any input.", count=grouped(others))
        )  # fmt: skip
    covers = found.meaning.coverage
    if not covers.count:
        return say("{files} read.", files=_files(count))
    assumed = len(covers.assumed)
    head = _settled(count, len(covers.settled), covers.count)
    if not assumed:
        return say("{settled}; of the rest none is a guess.", settled=head) if len(covers.settled) < covers.count else (
            say("{settled}.", settled=head)
        )  # fmt: skip
    if assumed == 1:
        return say("{settled}; of the rest 1 is a guess.", settled=head)
    return say("{settled}; of the rest {count} are guesses.", settled=head, count=assumed)


class FilesHead(QWidget):
    """Says what there is and proposes to open more."""

    open_requested = Signal(object)  # a list of Paths
    refresh_requested = Signal()
    stopped = Signal()
    field_requested = Signal(str)
    part_requested = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("files.head")
        self._folder = Path.home()
        self._found = Found()
        self._sentence = Sentence("files.sentence", is_title=True)
        self._open, self._open_folder = QPushButton(say("Open files…")), QPushButton(say("Open folder…"))
        self._refresh = QPushButton(say("Refresh"))
        for button, name in ((self._open, "open"), (self._open_folder, "open_folder"), (self._refresh, "refresh")):
            button.setObjectName(f"files.{name}")
            button.setFixedHeight(26)
        self._refresh.setShortcut("F5")
        self._refresh.setToolTip(say("Read everything that was opened once more (F5)"))
        self._troubles, self._assumed = self._link("troubles"), self._link("assumed")
        self._verdict = QuietLine()
        self._verdict.setObjectName("files.verdict_line")
        self._details = self._link("details")
        self._details.setText(say("Details…"))
        self._reading, self._share = QuietLine(), QuietLine()
        self._reading.setObjectName("files.reading")
        self._share.setObjectName("files.share")
        self._share.setFixedWidth(44)
        self._stop = self._link("stop")
        self._stop.setText(say("Stop"))
        self._bar = QProgressBar()
        self._bar.setObjectName("files.progress")
        self._bar.setRange(0, _STEPS)
        self._bar.setTextVisible(False)
        self._bar.setFixedHeight(4)
        self._bar.setAccessibleName(say("How far the work is"))
        self._place()
        self._connect()

    def _link(self, name: str) -> QPushButton:
        made = QPushButton()
        made.setObjectName(f"files.{name}")
        made.setProperty("role", "link")
        return made

    def _place(self) -> None:
        top = QHBoxLayout()
        top.setSpacing(8)
        top.addWidget(self._sentence, 1)
        for button in (self._open, self._open_folder, self._refresh):
            top.addWidget(button)
        links = QHBoxLayout()
        links.setSpacing(16)
        for one in (self._troubles, self._assumed, self._details):
            links.addWidget(one)
        links.addWidget(self._verdict, 1)
        self._links = QWidget()
        self._links.setLayout(links)
        links.setContentsMargins(0, 0, 0, 0)
        work = QHBoxLayout()
        work.setContentsMargins(0, 0, 0, 0)
        work.setSpacing(8)
        work.addWidget(self._reading, 1)
        work.addWidget(self._share)
        work.addWidget(self._stop)
        self._work = QWidget()
        self._work.setLayout(work)
        keeps = self._bar.sizePolicy()
        keeps.setRetainSizeWhenHidden(True)
        self._bar.setSizePolicy(keeps)
        box = QVBoxLayout(self)
        box.setContentsMargins(16, 8, 16, 0)
        box.setSpacing(2)
        box.addLayout(top)
        box.addWidget(self._links)
        box.addWidget(self._work)
        box.addWidget(self._bar)

    def _connect(self) -> None:
        self._open.clicked.connect(self.ask_files)
        self._open_folder.clicked.connect(self.ask_folder)
        self._refresh.clicked.connect(self.refresh_requested)
        self._stop.clicked.connect(self.stopped)
        self._troubles.clicked.connect(lambda: self.part_requested.emit(FILES))
        self._assumed.clicked.connect(self._on_assumed)
        self._details.clicked.connect(self._on_details)

    # ------------------------------------------------------------ what is shown

    def show_found(self, found: Found) -> None:
        """Say what was found."""
        self._found = found
        self._sentence.show_words(sentence_of(found))
        self._refresh.setEnabled(bool(found.paths) and not found.is_reading)
        self._show_links(found)
        self._show_work(found)

    def _show_links(self, found: Found) -> None:
        refused, unknown = len(found.gathered.refused), max(found.gathered.unknown_count, len(found.gathered.unknown))
        parts = []
        if refused:
            parts.append(say("{files} cannot be used", files=_files(refused)))
        if unknown:
            parts.append(say("{files} not known", files=_files(unknown)))
        self._troubles.setText(", ".join(parts))
        self._troubles.setVisible(bool(parts))
        assumed = len(found.meaning.coverage.assumed)
        self._assumed.setText(say("Which is a guess?") if assumed == 1 else say("Which are guesses?"))
        self._assumed.setVisible(bool(assumed))
        trouble = found.trouble.partition("\n\n")[0] or (say("Stopped before all was read.") if found.was_stopped else "")
        self._details.setVisible(bool(found.trouble))
        verdict = found.meaning.verdict
        set_property(self._verdict, "role", "refusal" if trouble else "small")
        self._verdict.show_words(trouble or (say_text(verdict) if verdict is not None else ""))
        has_words = bool(parts) or bool(assumed) or bool(self._verdict.words)
        self._links.setVisible(has_words and not found.is_reading)

    def _show_work(self, found: Found) -> None:
        is_reading = found.is_reading
        if is_reading and self._work.isHidden():
            self.show_progress(0.0)
        self._work.setVisible(is_reading)
        self._bar.setVisible(is_reading)
        names = [path.name or str(path) for path in found.paths]
        if len(names) == 1:
            self._reading.show_words(say("Reading {file}", file=names[0]))
        elif names:
            self._reading.show_words(say("Reading {file} and {count} more", file=names[-1], count=grouped(len(names) - 1)))

    def show_progress(self, fraction: float) -> None:
        """Say how much has been read."""
        self._bar.setValue(round(fraction * _STEPS))
        self._share.show_words(f"{fraction * 100:.0f}{NBSP}%")

    def show_file(self, name: str, number: int, count: int) -> None:
        """Say which of how many files is being read."""
        if self._found.is_reading:
            words = say("Reading {file}, {number} of {count}", file=name, number=grouped(number), count=grouped(count))
            self._reading.show_words(words)

    def show_theme(self, theme: Theme) -> None:
        """Take the colours of a theme."""
        self._sentence.show_theme(theme)

    # ------------------------------------------------------------ hands

    @property
    def first_stop(self) -> QWidget:
        """Where the keys go first: the button that opens files."""
        return self._open

    def ask_files(self) -> None:
        """Ask for files and propose to open them."""
        if files := ask_files(self, self._folder):
            self._folder = files[0].parent
            self.open_requested.emit(files)

    def ask_folder(self) -> None:
        """Ask for a folder and propose to open it."""
        if (folder := ask_folder(self, self._folder)) is not None:
            self._folder = folder.parent
            self.open_requested.emit([folder])

    def assumed_menu(self) -> QMenu:
        """The inputs that are guesses and stay so; each leads to its field."""
        menu = QMenu(self)
        for path in self._found.meaning.coverage.assumed:
            action = QAction(field_title(path), menu)
            action.triggered.connect(partial(self.field_requested.emit, path))
            menu.addAction(action)
        return menu

    def _on_assumed(self) -> None:
        menu = self.assumed_menu()
        menu.exec(self._assumed.mapToGlobal(QPoint(0, self._assumed.height())))
        menu.deleteLater()

    def _on_details(self) -> None:
        sentence, _, details = self._found.trouble.partition("\n\n")
        box = QMessageBox(QMessageBox.Icon.Warning, "ckptplanner", sentence, parent=self)
        box.setDetailedText(details)
        box.exec()
