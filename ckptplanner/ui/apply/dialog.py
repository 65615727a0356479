"""From the plan to files: which programs and services, what each of them is given, where it is saved.

It stands beside the window and follows the plan, so that a change there is seen here at once.

    Files from this plan | What do my present settings mean?        T 44 min 45 s = 268 steps of 10 s = 44 min 40 s
    FRAMEWORKS           | Megatron-LM  core 0.19.2
    [x] Megatron-LM      | findings, names
    [ ] TorchTitan       | megatron-lm.args | ...                    File | Difference to the last export
    STORAGE ...          |  1  # plan '5 min' ...
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtCore import QSettings, QSize, Qt, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import (
    QDialog,
    QFileDialog,
    QHBoxLayout,
    QLabel,
    QMessageBox,
    QPushButton,
    QSplitter,
    QStackedWidget,
    QTabBar,
    QVBoxLayout,
    QWidget,
)

from ckptplanner.engine.csv_files import ExportError
from ckptplanner.engine.plan import Plan
from ckptplanner.engine.scenario import NamedScenario
from ckptplanner.engine.settings.folder import differing, write_files
from ckptplanner.engine.settings.target import Target
from ckptplanner.ui.apply.import_page import ImportPage
from ckptplanner.ui.apply.prepared import Prepared, Writer, prepared, usual_ids
from ckptplanner.ui.apply.steps import is_rounded, steps_words
from ckptplanner.ui.apply.target_list import TargetList
from ckptplanner.ui.apply.target_page import TargetPage
from ckptplanner.ui.shown import Shown, current_of
from ckptplanner.ui.theme import Theme, set_property
from ckptplanner.ui.words import say, say_text

FILES, IMPORT = 0, 1
_LIST_WIDTH = 272


class ApplyDialog(QDialog):
    """The settings of the current plan; `show_plans` hands it over."""

    edited = Signal(str, object)
    gesture_ended = Signal()
    field_requested = Signal(str)
    scenario_made = Signal(object)

    def __init__(self, targets: Sequence[Target], write: Writer, settings: QSettings, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("apply_dialog")
        self.setMinimumSize(QSize(900, 560))
        self.setSizeGripEnabled(False)
        self._targets, self._write, self._settings = tuple(targets), write, settings
        self._file: Path | None = None
        self._untitled: Path | None = None  # where a plan that has no file yet was exported to
        self._prepared: Prepared | None = None
        self._trouble = ""  # what is said of a name that is refused
        self._is_chosen = False  # whether a person has ticked boxes, so that the plan's own choice no longer holds
        self.list, self.page = TargetList(self._targets), TargetPage(settings)
        self.imports = ImportPage({one.id: say_text(one.title) for one in self._targets})
        self._build_top()
        self._build_buttons()
        self._place()
        self.list.shown_changed.connect(self._show_target)
        self.list.ticked_changed.connect(self._on_ticked)
        self.page.names.changed.connect(self._on_names)
        self.page.names.checked.connect(self._show_buttons)
        self.page.findings.field_requested.connect(self.field_requested)
        self.imports.scenario_made.connect(self.scenario_made)
        self.imports.field_requested.connect(self.field_requested)

    # ------------------------------------------------------------ building

    def _build_top(self) -> None:
        self.tabs = QTabBar()
        self.tabs.setObjectName("apply.pages")
        self.tabs.setExpanding(False)
        self.tabs.addTab(say("Files from this plan"))
        self.tabs.addTab(say("What do my present settings mean?"))
        self._steps = QLabel()
        self._steps.setObjectName("apply.steps")
        self._steps.setProperty("role", "small")
        self._steps.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._whole = QPushButton(say("use whole steps in the plan"))
        self._whole.setObjectName("apply.whole_steps")
        self._whole.setProperty("role", "link")
        self._whole.setAutoDefault(False)
        self._whole.setCursor(Qt.CursorShape.PointingHandCursor)
        self._whole.clicked.connect(self._on_whole)
        self._stack = QStackedWidget()
        self.tabs.currentChanged.connect(self._on_page)

    def _build_buttons(self) -> None:
        self._status = QLabel()
        self._status.setObjectName("apply.status")
        self._status.setProperty("role", "small")
        self._status.setTextFormat(Qt.TextFormat.PlainText)
        self._status.setWordWrap(True)
        self._copy, self._save, self._close = (QPushButton() for _ in range(3))
        known: tuple[tuple[QPushButton, str, str, Callable[[], object]], ...] = (
            (self._copy, "copy", say("Copy"), self._on_copy),
            (self._save, "save", say("Save…"), self._on_save),
            (self._close, "close", say("Close"), self.close),
        )
        for button, name, label, slot in known:
            button.setObjectName(f"apply.{name}")
            button.setText(label)
            button.setFixedHeight(26)
            button.setMinimumWidth(88)
            button.setAutoDefault(False)
            button.clicked.connect(slot)
        self._copy.setToolTip(say("The file that is seen, onto the clipboard"))
        self._save.setProperty("role", "primary")

    def _place(self) -> None:
        top = QHBoxLayout()
        top.setContentsMargins(8, 4, 16, 0)
        top.setSpacing(10)
        top.addWidget(self.tabs)
        top.addStretch(1)
        top.addWidget(self._steps)
        top.addWidget(self._whole)
        split = QSplitter()
        split.setHandleWidth(1)
        split.setChildrenCollapsible(False)
        side = QWidget()
        side.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        side.setProperty("role", "surface")
        column = QVBoxLayout(side)
        column.setContentsMargins(10, 2, 4, 8)
        column.addWidget(self.list)
        split.addWidget(side)
        split.addWidget(self.page)
        split.setStretchFactor(0, 0)
        split.setStretchFactor(1, 1)
        side.setMinimumWidth(220)
        split.setSizes([_LIST_WIDTH, 900])
        self._stack.addWidget(split)
        self._stack.addWidget(self.imports)
        bottom = QHBoxLayout()
        bottom.setContentsMargins(16, 8, 16, 10)
        bottom.setSpacing(8)
        bottom.addWidget(self._status, 1)
        for button in (self._copy, self._save, self._close):
            bottom.addWidget(button)
        box = QVBoxLayout(self)
        box.setContentsMargins(0, 0, 0, 0)
        box.setSpacing(0)
        box.addLayout(top)
        box.addWidget(self._stack, 1)
        box.addLayout(bottom)

    # ------------------------------------------------------------ what is shown

    def show_file(self, file: Path | None) -> None:
        """Take the plan's file, which remembers where its settings were exported to and what was ticked."""
        if file == self._file:
            return
        if self._file is None and file is not None and self._untitled is not None:  # saved for the first time
            self._settings.setValue(_key(file, "folder"), str(self._untitled))
        self._file, self._is_chosen = file, False
        if file is not None and (stored := self._settings.value(_key(file, "targets"), "")):
            self._is_chosen = True
            self.list.tick(str(stored).split(","))

    def show_plans(self, shown: Sequence[Shown]) -> None:
        """Write every target for the current plan."""
        now = current_of(shown)
        self._prepared = self._written(now.named, now.plan)
        self.setWindowTitle(say("Settings for frameworks and clouds: {name}", name=now.named.name))
        if not self._is_chosen:
            self.list.tick(usual_ids(now.named, self._targets))
        self.imports.show_plan(now.named, now.plan)
        self.list.show_findings(self._prepared.targets)
        if not self.list.shown:
            self.list.show_target(next(iter((*self.list.ticked, *(one.id for one in self._targets))), ""))
        self._say("")
        self._show_steps()
        self._show_target(self.list.shown)

    def _written(self, named: NamedScenario, plan: Plan) -> Prepared:
        return prepared(named, plan, self.page.names.names, self._targets, self._write)

    def show_theme(self, theme: Theme) -> None:
        """Take the colours of a theme."""
        for part in (self.list, self.page, self.imports):
            part.show_theme(theme)

    def _show_steps(self) -> None:
        settings = self._prepared.settings if self._prepared else None
        if settings is None:
            self._steps.setText("")
            self._whole.hide()
            return
        self._steps.setText(steps_words(settings))
        is_files = self.tabs.currentIndex() == FILES
        self._steps.setVisible(is_files)
        self._whole.setVisible(is_files and is_rounded(settings) and not settings.plan.scenario.storage.whole_steps)

    def _show_target(self, target_id: str) -> None:
        found = self._prepared.targets.get(target_id) if self._prepared else None
        self.page.show_target(found, self.folder)
        self._show_buttons()

    def _show_buttons(self) -> None:
        count = len(self._prepared.files(self.list.ticked)) if self._prepared else 0
        is_files = self.tabs.currentIndex() == FILES
        self._copy.setVisible(is_files)
        self._save.setVisible(is_files)
        names = self.page.names
        trouble = names.trouble_with(self._prepared.names(self.list.ticked)) if self._prepared else ""
        own = names.trouble_with(self._prepared.names([self.list.shown])) if self._prepared else ""
        self._copy.setEnabled(self.page.preview.file is not None and not own)
        self._save.setEnabled(count > 0 and not trouble)
        self._show_trouble(trouble if is_files else "")
        words = {0: say("Save…"), 1: say("Save 1 file…")}
        self._save.setText(words.get(count) or say("Save {count} files…", count=count))
        self._save.setToolTip(say("The files of every target that is ticked, into one folder"))

    @property
    def folder(self) -> Path | None:
        """Where this plan's settings were saved last."""
        if self._file is None:
            return self._untitled
        stored = str(self._settings.value(_key(self._file, "folder"), ""))
        return Path(stored) if stored else None

    # ------------------------------------------------------------ hands

    def _on_page(self, index: int) -> None:
        self._stack.setCurrentIndex(index)
        self._say("")
        self._show_steps()
        self._show_buttons()

    def _on_ticked(self) -> None:
        self._is_chosen = True
        if self._file is not None:
            self._settings.setValue(_key(self._file, "targets"), ",".join(self.list.ticked))
        self._show_buttons()

    def _on_names(self) -> None:
        if self._prepared is not None:
            self._prepared = self._written(self._prepared.named, self._prepared.plan)
            self._show_target(self.list.shown)

    def _on_whole(self) -> None:
        self.gesture_ended.emit()
        self.edited.emit("storage.whole_steps", True)
        self.gesture_ended.emit()

    def _on_copy(self) -> None:
        file = self.page.preview.file
        if file is not None:
            QGuiApplication.clipboard().setText(file.content)
            self._say(say("{name} is on the clipboard.", name=file.name))

    def _on_save(self) -> None:
        start = str(self.folder or (self._file.parent if self._file else Path.home()))
        chosen = QFileDialog.getExistingDirectory(self, say("Save the settings to a folder"), start)
        if chosen:
            self.save_to(Path(chosen))

    def save_to(self, folder: Path) -> bool:
        """Write the files of every ticked target into a folder; asks before it writes over others."""
        if self._prepared is None or self.page.names.trouble_with(self._prepared.names(self.list.ticked)):
            return False
        files = self._prepared.files(self.list.ticked)
        if (names := differing(folder, files)) and not self._may_overwrite(folder, names):
            return False
        try:
            write_files(folder, files)
        except ExportError as error:
            self._say(say_text(error.text), is_refusal=True)
            return False
        self._remember(folder)
        done = say("Written to {folder}: {files}.", folder=folder, files=", ".join(file.name for file in files))
        examples = self.page.names.examples_of(self._prepared.names(self.list.ticked))
        if examples:
            done += " " + say("Still examples, to be replaced: {names}.", names=", ".join(examples))
        self._say(done)
        self._show_target(self.list.shown)
        return True

    def _remember(self, folder: Path) -> None:
        if self._file is None:
            self._untitled = folder
        else:
            self._settings.setValue(_key(self._file, "folder"), str(folder))

    def _may_overwrite(self, folder: Path, names: Sequence[str]) -> bool:
        box = QMessageBox(self)
        box.setObjectName("apply.overwrite")
        box.setIcon(QMessageBox.Icon.Warning)
        box.setTextFormat(Qt.TextFormat.PlainText)
        box.setText(say("In {folder} these say something else now: {names}. Write over them?",
                        folder=folder, names=", ".join(names)))  # fmt: skip
        box.setStandardButtons(QMessageBox.StandardButton.Save | QMessageBox.StandardButton.Cancel)
        box.button(QMessageBox.StandardButton.Save).setText(say("Write over them"))
        box.button(QMessageBox.StandardButton.Cancel).setText(say("Cancel"))
        box.setDefaultButton(QMessageBox.StandardButton.Cancel)
        return box.exec() == QMessageBox.StandardButton.Save

    def _show_trouble(self, trouble: str) -> None:
        """Why nothing can be saved; once nothing stands in the way, nothing."""
        if trouble != self._trouble:
            self._say(say("Nothing is saved: {trouble}", trouble=trouble) if trouble else "", is_refusal=True)
            self._trouble = trouble

    def _say(self, sentence: str, *, is_refusal: bool = False) -> None:
        self._trouble = ""
        set_property(self._status, "role", "refusal" if is_refusal else "small")
        self._status.setText(sentence)


def _key(file: Path, what: str) -> str:
    """Where something is kept for one plan file."""
    return f"apply/plans/{hashlib.sha256(str(file.absolute()).encode()).hexdigest()[:16]}/{what}"
