"""What menus do that needs a dialog, a file or the clipboard: new, open, save, import, export, copy.

What only some of them need is imported by them, so that the window does not wait for it.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QLocale, QSettings
from PySide6.QtWidgets import QApplication, QFileDialog, QInputDialog, QLineEdit, QMainWindow, QMenu, QMessageBox

from ckptplanner import __version__
from ckptplanner.data.readers.errors import ReaderError, UnknownFamily
from ckptplanner.engine.cost import Basis
from ckptplanner.engine.csv_files import ExportError
from ckptplanner.engine.edits import EditError, edit, value_from_text
from ckptplanner.engine.evaluate import plan_of
from ckptplanner.engine.scenario import NamedScenario, Workbook
from ckptplanner.engine.workbook_file import SUFFIX, WorkbookError
from ckptplanner.ui.assets import asset_path
from ckptplanner.ui.plan_view import PlanView
from ckptplanner.ui.store import Store
from ckptplanner.ui.words import say
from ckptplanner.units import PARAMS, UnitError, parse

if TYPE_CHECKING:
    from ckptplanner.ui.report.export import Paper


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


def _with_total(named: NamedScenario, total: float) -> NamedScenario:
    """The scenario with another model, of which only the number of parameters is known."""
    return edit(edit(named, "workload.model", None), "workload.total_params", total)


class Commands:
    """The window's commands; errors are one sentence in a box, and nothing is lost by them."""

    def __init__(self, window: QMainWindow, store: Store, view: PlanView, settings: QSettings) -> None:
        self._window, self._store, self._view, self._settings = window, store, view, settings
        self.basis: Basis = "month"
        self.paper: Paper = "letter" if settings.value("paper", _usual_paper()) == "letter" else "a4"

    # ------------------------------------------------------------ files

    def new(self) -> None:
        """Three questions, then a plan with allowances."""
        if not self.may_leave():
            return
        from ckptplanner.ui.start_dialog import StartDialog

        dialog = StartDialog(self._window)
        if dialog.exec() and (named := dialog.named) is not None:
            self._store.reset(Workbook(scenarios=(named,), current=named.name, base=named.name), None)

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
        box.setText(say("This plan has changes that are not saved."))
        buttons = QMessageBox.StandardButton
        box.setStandardButtons(buttons.Save | buttons.Discard | buttons.Cancel)
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

    def take(self, path: Path) -> None:
        """Take what was dropped on the window: a plan, or a model's file or folder."""
        if path.name.endswith(SUFFIX):
            self.open_file(path)
        else:
            self.take_model(path)

    def take_model(self, path: Path) -> None:
        """Read a model; an unknown family is named and its total asked for."""
        from ckptplanner.data.readers.models import read_model

        try:
            parts = read_model(path)
        except UnknownFamily as error:
            self._ask_total(error)
            return
        except ReaderError as error:
            self._say(str(error))
            return
        self._store.end_gesture()
        self._store.edit("workload.model", parts)
        self._store.end_gesture()

    def _ask_total(self, error: UnknownFamily) -> None:
        asked = say("{reason}\n\nHow many parameters has it in all, the experts included?", reason=error)
        written, is_given = QInputDialog.getText(self._window, say("A family that is not known"), asked)
        if not is_given:
            return
        try:
            total = parse(written, PARAMS)
            self._store.apply(partial(_with_total, total=total), say("model"))
        except UnitError as refused:
            self._say(str(refused))

    def ask_layout(self) -> None:
        """Ask for the parts that are saved for a parameter, and their bytes."""
        now = self._store.workbook.shown.scenario.workload.layout
        written = ", ".join(f"{part.what}:{part.bytes_per_param:g}" for part in now)
        asked = say("What is on disk for one trained parameter, and its bytes: bf16 weights:2, fp32 moments:8")
        answer, is_given = QInputDialog.getText(self._window, say("Saved for each"), asked, text=written)
        if not is_given:
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
        new, is_given = QInputDialog.getText(self._window, say("Rename"), say("Name of the scenario"), text=now)
        if is_given:
            self._store.rename(now, new)

    def note(self) -> None:
        """Ask for the current scenario's note."""
        now = self._store.workbook.shown
        words, is_given = QInputDialog.getMultiLineText(
            self._window, say("Note"), say("Note to {name}", name=now.name), now.note
        )
        if is_given:
            self._store.note(words)

    def make_base(self) -> None:
        """Compare with the current scenario."""
        self._store.make_base(self._store.workbook.current)

    def remove(self) -> None:
        """Take the current scenario away; undo brings it back."""
        self._store.remove(self._store.workbook.current)

    # ------------------------------------------------------------ taking away

    def export(self) -> None:
        """Ask for a folder; write report.pdf, the CSV files and the pictures."""
        finish_typing()
        folder = QFileDialog.getExistingDirectory(self._window, say("Export to a folder"), self._folder())
        if folder:
            self.export_to(Path(folder))

    def export_to(self, folder: Path) -> bool:
        """Write everything into a folder; says where, or why not."""
        named = self._store.workbook.shown
        from ckptplanner.ui.headless import export

        try:
            files = export(named, plan_of(named), folder, self.paper, self.basis)
        except ExportError as error:
            self._say(str(error))
            return False
        self._say_done(say("Written to {folder}: {files}", folder=folder, files=", ".join(file.name for file in files)))
        return True

    def choose_paper(self, name: str) -> None:
        """Take A4 or Letter for the reports from now on."""
        self.paper = "letter" if name == "letter" else "a4"
        self._settings.setValue("paper", self.paper)

    def copy_picture(self) -> None:
        """Put the plots on the clipboard as a picture."""
        from ckptplanner.ui.report import copying

        copying.copy_picture(self._view.picture_widget)
        self._say_done(say("The picture is on the clipboard."))

    def copy_table(self) -> None:
        """Put the options on the clipboard as a table."""
        headings, *rows = self._view.options.texts()
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
        """One sentence in a box, with what to do in it."""
        box = QMessageBox(QMessageBox.Icon.Warning, "ckptplanner", sentence, QMessageBox.StandardButton.Ok, self._window)
        box.setObjectName("trouble")
        box.exec()

    def _say_done(self, sentence: str) -> None:
        self._window.statusBar().showMessage(sentence, 8000)
