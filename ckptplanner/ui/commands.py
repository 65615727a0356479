"""What menus do that needs a dialog, a file or the clipboard: new, open, save, import, export, copy.

What only some of them need is imported by them, so that the window does not wait for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import shiboken6
from PySide6.QtCore import QLocale, QSettings
from PySide6.QtWidgets import (
    QApplication,
    QFileDialog,
    QInputDialog,
    QLabel,
    QLineEdit,
    QMainWindow,
    QMenu,
    QMessageBox,
    QWidget,
)

from ckptplanner import __version__
from ckptplanner.data.readers.errors import ReaderError, UnknownFamily
from ckptplanner.engine.cost import Basis
from ckptplanner.engine.csv_files import ExportError
from ckptplanner.engine.edits import EditError, edit, value_from_text
from ckptplanner.engine.scenario import NamedScenario, Scenario, Workbook
from ckptplanner.engine.workbook_file import SUFFIX, WorkbookError
from ckptplanner.frozen import value_at
from ckptplanner.ui.assets import asset_path
from ckptplanner.ui.evidence.places import LOGS
from ckptplanner.ui.plan_view import CHECK
from ckptplanner.ui.store import LONGEST_NOTE, Store
from ckptplanner.ui.views import EVIDENCE, PLAN, Views
from ckptplanner.ui.words import say
from ckptplanner.units import PARAMS, UnitError, parse

if TYPE_CHECKING:
    from ckptplanner.ui.apply.dialog import ApplyDialog
    from ckptplanner.ui.report.export import Paper


_QUESTION_WIDTH = 420


def examples() -> list[Path]:
    """The example plans that come with the program."""
    return sorted(asset_path("examples").glob(f"*{SUFFIX}"))


def _usual_paper() -> str:
    """Letter where it is the custom, A4 elsewhere."""
    is_letter = QLocale().measurementSystem() == QLocale.MeasurementSystem.ImperialUSSystem
    return "letter" if is_letter else "a4"


def finish_typing() -> None:
    """Take what is being typed as if Enter had been pressed, so that no command overlooks it."""
    field = QApplication.focusWidget()
    if isinstance(field, QLineEdit):
        field.clearFocus()
        field.setFocus()


_OF_THE_EXAMPLE = (
    "workload.total_params", "workload.active_params", "workload.layout", "workload.nodes", "failures.mtbi_s",
    "failures.mtbi_nodes", "storage.blocking_s", "storage.generations_kept",
)  # fmt: skip


def with_guesses(named: NamedScenario) -> NamedScenario:
    """A brand-new plan in which what only comes from the article's example is marked as a guess."""
    words, example = say("The example's value, until you measure yours"), Scenario()
    for path in _OF_THE_EXAMPLE:
        value = value_at(named.scenario, path)
        if named.source_of(path) is None and value == value_at(example, path):
            named = edit(named, path, value, "guess", words)
    return named


def tell_trouble(window: QWidget, sentence: str) -> None:
    """One sentence in a box, with what to do in it."""
    box = QMessageBox(QMessageBox.Icon.Warning, "ckptplanner", sentence, QMessageBox.StandardButton.Ok, window)
    box.setObjectName("trouble")
    box.exec()


def ask_text(window: QWidget, title: str, question: str, text: str = "") -> str | None:
    """Ask for one line of text; the question wraps, and the line is wide enough for a name. None: cancelled."""
    dialog = QInputDialog(window)
    dialog.setWindowTitle(title)
    dialog.setLabelText(question)
    dialog.setTextValue(text)
    for label in dialog.findChildren(QLabel):
        label.setWordWrap(True)
    for line in dialog.findChildren(QLineEdit):
        line.setMinimumSize(_QUESTION_WIDTH, 24)
    answer = dialog.textValue() if dialog.exec() else None
    shiboken6.delete(dialog)  # at once, as Qt's own getText does: one that lingers keeps shortcuts from the window
    return answer


def new_plan(window: QWidget, store: Store) -> None:
    """Three questions, then a plan with allowances; it counts as changed until it is saved."""
    from ckptplanner.ui.start_dialog import StartDialog

    dialog = StartDialog(window)
    if dialog.exec() and dialog.named is not None:
        named = with_guesses(dialog.named)
        store.reset(Workbook(scenarios=(named,), current=named.name, base=named.name), None)
        store.undo_stack.resetClean()
    dialog.deleteLater()


def take_model(window: QWidget, store: Store, path: Path) -> None:
    """Read a model; an unknown family is named and its total asked for."""
    from ckptplanner.data.readers.models import read_model

    try:
        parts = read_model(path)
    except UnknownFamily as error:
        _ask_total(window, store, error)
        return
    except ReaderError as error:
        tell_trouble(window, str(error))
        return
    store.end_gesture()
    store.edit("workload.model", parts)
    store.end_gesture()


def _trouble_with_log(path: Path) -> str | None:
    """Why a file is no log of interruptions; None where it is one, or a table of several."""
    from ckptplanner.data.readers.interruption_log import SystemNeeded, read_log

    try:
        read_log(path)
    except SystemNeeded:
        return None
    except ReaderError as error:
        return str(error)
    return None


def _kind_of(path: Path) -> Literal["known", "table", "unknown"]:
    """Whether a reader knows a file, only as a table of some kind, or not at all."""
    from ckptplanner.data.readers import event_tables
    from ckptplanner.data.readers.evidence_files import reader_of
    from ckptplanner.data.readers.source import open_file

    try:
        reader = reader_of(open_file(path))
    except ReaderError:
        return "unknown"
    if reader is None:
        return "unknown"
    return "table" if reader in event_tables.READERS else "known"


def _ask_total(window: QWidget, store: Store, error: UnknownFamily) -> None:
    asked = say("{reason}\n\nHow many parameters has it in all, the experts included?", reason=error)
    written = ask_text(window, say("A family that is not known"), asked)
    if written is None:
        return
    try:
        total = parse(written, PARAMS)
        store.apply(partial(_with_total, total=total), say("model"))
    except UnitError as refused:
        tell_trouble(window, str(refused))


def _with_total(named: NamedScenario, total: float) -> NamedScenario:
    """The scenario with another model, of which only the number of parameters is known."""
    return edit(edit(named, "workload.model", None), "workload.total_params", total)


class Commands:
    """The window's commands; errors are one sentence in a box, and nothing is lost by them."""

    def __init__(self, window: QMainWindow, store: Store, view: Views, settings: QSettings) -> None:
        self._window, self._store, self._view, self._settings = window, store, view, settings
        self.basis: Basis = "month"
        self.paper: Paper = "letter" if settings.value("paper", _usual_paper()) == "letter" else "a4"

    # ------------------------------------------------------------ files

    def new(self) -> None:
        """Three questions, then a plan with allowances."""
        if self.may_leave():
            new_plan(self._window, self._store)

    def open(self) -> None:
        """Ask for a plan file and open it."""
        chosen, _ = QFileDialog.getOpenFileName(self._window, say("Open"), self._folder(), self._filter())
        if chosen:
            self.open_file(Path(chosen))

    def open_file(self, file: Path) -> bool:
        """Open a plan file; says why not."""
        if not self.may_leave():
            return False
        try:
            self._store.open(file)
        except WorkbookError as error:
            self._say(str(error))
            return False
        self._settings.setValue("folder", str(file.parent))
        return True

    def fill_examples(self, menu: QMenu) -> None:
        """One entry for each example."""
        for file in examples():
            name = file.name.removesuffix(SUFFIX).replace("-", " ")
            menu.addAction(name, partial(self._open_example, file))

    def _open_example(self, file: Path) -> None:
        if self.open_file(file):
            self._store.file = None
            self._store.tell()

    def save(self) -> bool:
        """Save to the file it came from, or ask for one."""
        finish_typing()
        return self._save(self._store.file) if self._store.file is not None else self.save_as()

    def save_as(self) -> bool:
        """Ask for a file and save there."""
        finish_typing()
        chosen, _ = QFileDialog.getSaveFileName(self._window, say("Save as"), self._folder(f"plan{SUFFIX}"), self._filter())
        if not chosen:
            return False
        file = Path(chosen)
        return self._save(file if file.name.endswith(SUFFIX) else file.with_name(file.name.removesuffix(".json") + SUFFIX))

    def _save(self, file: Path) -> bool:
        try:
            self._store.save(file)
        except WorkbookError as error:
            self._say(str(error))
            return False
        self._settings.setValue("folder", str(file.parent))
        self._store.tell()
        return True

    def may_leave(self) -> bool:
        """Whether the present workbook may go: it is saved, or the person says so."""
        finish_typing()
        if self._store.undo_stack.isClean():
            return True
        box = QMessageBox(self._window)
        box.setObjectName("leave")
        file = self._store.file
        name = file.name if file is not None else self._store.workbook.current
        box.setText(say("Save the changes to {name} before it is closed?", name=name))
        buttons = QMessageBox.StandardButton
        box.setStandardButtons(buttons.Save | buttons.Discard | buttons.Cancel)
        box.setDefaultButton(buttons.Save)
        for button, words in (
            (buttons.Save, say("Save")),
            (buttons.Discard, say("Don't save")),
            (buttons.Cancel, say("Cancel")),
        ):
            box.button(button).setText(words)
        answer = box.exec()
        return self.save() if answer == buttons.Save else answer == buttons.Discard

    def _folder(self, name: str = "") -> str:
        return str(Path(str(self._settings.value("folder", str(Path.home())))) / name)

    @staticmethod
    def _filter() -> str:
        return say("Plans (*{suffix})", suffix=SUFFIX)

    # ------------------------------------------------------------ models

    def import_model(self) -> None:
        """Ask for a config.json, an index or weights, and take the model from it."""
        names = say("Models (*.json *.safetensors)")
        chosen, _ = QFileDialog.getOpenFileName(self._window, say("Model from a file"), self._folder(), names)
        if chosen:
            self.take_model(Path(chosen))

    def take(self, paths: Sequence[Path]) -> None:
        """Take what was dropped on the window: a plan, a model, a log of interruptions, or files of the user's run."""
        from ckptplanner.ui.drops import is_model

        first = next((path for path in paths if path.name.endswith(SUFFIX)), paths[0])
        if first.name.endswith(SUFFIX):
            self.open_file(first)
        elif len(paths) == 1 and (is_model(first) or first.is_dir()):
            self.take_model(first) if is_model(first) else self.take_files(paths)
        elif len(paths) == 1:
            self._take_one(first)
        elif all(is_model(path) for path in paths):
            self.take_model(first)
        else:
            self.take_files(paths)

    def _take_one(self, path: Path) -> None:
        """One file that is neither a plan nor a model."""
        kind = _kind_of(path)
        trouble = _trouble_with_log(path) if kind != "known" else ""
        if trouble is None:
            self._view.show_view(EVIDENCE)
            self._view.evidence.show_page(LOGS)
            self._view.evidence.logs.take(path)
        elif kind != "unknown":
            self.take_files([path])
        elif path.suffix.lower() == ".json":
            self.take_model(path)  # which says why it is none
        else:
            what = say(
                "This is none of what can be dropped: a plan, a model (config.json, an index, weights or a folder), a log."
            )
            self._say(f"{what} {trouble}")

    def take_files(self, paths: Sequence[Path]) -> None:
        """Read files of the user's and show what they say."""
        self._view.show_view(EVIDENCE)
        self._view.evidence.open_files(paths)

    def take_model(self, path: Path) -> None:
        """Read a model; an unknown family is named and its total asked for."""
        take_model(self._window, self._store, path)

    def ask_layout(self) -> None:
        """Ask for the parts that are saved for a parameter, and their bytes."""
        now = self._store.workbook.shown.scenario.workload.layout
        written = ", ".join(f"{part.what}:{part.bytes_per_param:g}" for part in now)
        asked = say("What is on disk for one trained parameter, and its bytes: bf16 weights:2, fp32 moments:8")
        answer = ask_text(self._window, say("Saved for each"), asked, written)
        if answer is None:
            return
        try:
            parts = value_from_text("workload.layout", answer)
        except EditError as error:
            self._say(error.message)
            return
        self._store.end_gesture()
        self._store.edit("workload.layout", parts)
        self._store.end_gesture()

    # ------------------------------------------------------------ scenarios

    def rename(self) -> None:
        """Ask for another name of the current scenario."""
        now = self._store.workbook.current
        new = ask_text(self._window, say("Rename"), say("Name of the scenario"), now)
        if new is not None:
            self._store.rename(now, new)

    def note(self) -> None:
        """Ask for the current scenario's note."""
        now = self._store.workbook.shown
        words, is_given = now.note, True
        while is_given:  # again with what was typed, where it is too long
            words, is_given = QInputDialog.getMultiLineText(
                self._window, say("Note"), say("Note to {name}", name=now.name), words
            )
            if not is_given or len(words) <= LONGEST_NOTE:
                break
            self._say(say("A note has {most} characters at most; this one has {count}.", most=LONGEST_NOTE, count=len(words)))
        if is_given:
            self._store.note(words)

    def make_base(self) -> None:
        """Compare with the current scenario."""
        self._store.make_base(self._store.workbook.current)

    def remove(self) -> None:
        """Take the current scenario away; undo brings it back."""
        self._store.remove(self._store.workbook.current)

    def check_plan(self) -> None:
        """Show the check by simulation and begin it, unless this plan has been simulated."""
        self._view.show_view(PLAN)
        self._view.plan.show_page(CHECK)
        self._view.plan.check().begin()

    # ------------------------------------------------------------ taking away

    def export(self) -> None:
        """Ask for a folder; write report.pdf, the CSV files and the pictures."""
        finish_typing()
        folder = QFileDialog.getExistingDirectory(self._window, say("Export to a folder"), self._folder())
        if folder:
            self.export_to(Path(folder))

    def export_to(self, folder: Path) -> bool:
        """Write everything into a folder; says where, or why not."""
        from ckptplanner.ui.headless import export

        try:
            files = export(self._store.workbook, folder, self.paper, self.basis)
        except ExportError as error:
            self._say(str(error))
            return False
        self._say_done(say("Written to {folder}: {files}", folder=folder, files=", ".join(file.name for file in files)))
        return True

    def settings_dialog(self) -> ApplyDialog:
        """The dialog of settings for frameworks and clouds: it follows the plan while it is seen."""
        from ckptplanner.engine.settings.registry import TARGETS, write_all
        from ckptplanner.ui.apply.dialog import ApplyDialog

        store = self._store
        dialog = ApplyDialog(TARGETS, lambda settings, target: write_all(settings, [target.id]), self._settings, self._window)
        dialog.edited.connect(store.edit)
        dialog.gesture_ended.connect(store.end_gesture)
        dialog.scenario_made.connect(self._add_imported)
        return dialog

    def _add_imported(self, named: NamedScenario) -> None:
        self._store.add(named, say("scenario from present settings"))

    def choose_paper(self, name: str) -> None:
        """Take A4 or Letter for the reports from now on."""
        self.paper = "letter" if name == "letter" else "a4"
        self._settings.setValue("paper", self.paper)

    def copy_picture(self) -> None:
        """Put the view that is seen on the clipboard as a picture."""
        from ckptplanner.ui.report import copying

        copying.copy_picture(self._view.picture_widget)
        self._say_done(say("The picture is on the clipboard."))

    def copy_table(self) -> None:
        """Put the table of the view that is seen on the clipboard."""
        headings, *rows = self._view.table_texts()
        if not rows:
            self._say_done(say("There is nothing to copy on this page yet."))
            return
        from ckptplanner.ui.report import copying

        copying.copy_table(headings, rows)
        self._say_done(say("The table is on the clipboard."))

    def copy_sheet(self) -> None:
        """Put the plan on the clipboard as cells with formulas."""
        from ckptplanner.ui.report import copying

        copying.copy_spreadsheet(self._store.workbook.shown)
        self._say_done(say("Cells with formulas are on the clipboard: paste them into an empty sheet at A1."))

    # ------------------------------------------------------------ words

    def show_models(self) -> None:
        """Say which formulas are used and where they come from."""
        QMessageBox.information(
            self._window,
            say("Models and sources"),
            say(
                "Size: parameters × bytes on disk.\n\n"
                "Interval: T* solves 1 − exp(−T/M) = (T − C)/M (exact, exponential interruptions); Young 1974 and Daly 2006 "
                "as alternatives.\n\n"
                "Waste: exact renewal model with saves, background writes, waiting writers, restarts and downtime; the "
                "first-order sum C/T + (T/2 + t + R)/M beside it.\n\n"
                "Storage: capacity steps, throughput for each TiB and prices as AWS documents them for FSx for Lustre, "
                "Persistent 2.\n\n"
                "Click a figure to see its formula with the numbers put in; click the word beside a field for its source."
            ),
        )

    def about(self) -> None:
        """Say what this is."""
        QMessageBox.about(
            self._window,
            say("About"),
            say(
                "ckptplanner {version}\nA planner for the checkpoints of large model training.\nApache-2.0", version=__version__
            ),
        )

    def _say(self, sentence: str) -> None:
        tell_trouble(self._window, sentence)

    def _say_done(self, sentence: str) -> None:
        self._window.statusBar().showMessage(sentence, 8000)
