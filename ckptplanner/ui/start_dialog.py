"""From a model to a first plan: three questions - which model, which nodes, which storage - and the plan is there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from PySide6.QtCore import QEvent, QObject, QPointF, Qt, QTimer
from PySide6.QtGui import QDragEnterEvent, QDropEvent, QKeyEvent, QPainter, QPaintEvent, QPalette
from PySide6.QtWidgets import (
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QFileDialog,
    QFormLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QPushButton,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)
from typing_extensions import override

from ckptplanner.data import catalog
from ckptplanner.data.readers.errors import ReaderError
from ckptplanner.data.readers.models import read_model
from ckptplanner.data.records import ModelParts, ModelRow
from ckptplanner.engine.edits import EditError, edit, value_from_text, with_allowances
from ckptplanner.engine.scenario import NamedScenario, Scenario
from ckptplanner.frozen import spec_of
from ckptplanner.ui.drops import dropped_file, welcome
from ckptplanner.ui.theme import set_property
from ckptplanner.ui.widgets.choice_edit import paint_chevron
from ckptplanner.ui.words import say
from ckptplanner.units import BYTES, BYTES_PER_S, NBSP, PARAMS, Unit, UnitError, brief, parse

_CUSTOM = (
    ("write_bytes_per_s", BYTES_PER_S), ("read_bytes_per_s", BYTES_PER_S), ("usable_bytes", BYTES),
)  # fmt: skip
_LEAST_PARAMS = 1e6  # below it, "405" is part of a name and no number of parameters


def parts_lines(parts: ModelParts) -> list[str]:
    """A model's parts in words."""
    rows = [
        (say("body"), parts.body_params), (say("embedding"), parts.embedding_params),
        (say("output head"), 0 if parts.tied else parts.head_params),
        (say("vision part"), parts.vision_params), (say("multi-token prediction"), parts.mtp_params),
    ]  # fmt: skip
    lines = [f"{name} {brief(value, PARAMS, 4)}" for name, value in rows if value]
    if parts.mtp_params and not parts.mtp_counted:
        lines[-1] += say(", not counted yet")
    return lines


def row_line(row: ModelRow) -> str:
    """A model of the catalog in words: its totals and where they come from."""
    words = [say("{total} in all", total=brief(row.total_params, PARAMS, 5) if row.total_params else "?")]
    if row.active_params:
        words.append(say("{active} active", active=brief(row.active_params, PARAMS, 4)))
    if row.mtp_params:
        words.append(say("{mtp} of multi-token prediction, not counted yet", mtp=brief(row.mtp_params, PARAMS, 4)))
    return " · ".join([*words, row.source])


def number_in(text: str) -> float | None:
    """The number of parameters that a text stands for, None where it is something else."""
    try:
        total = float(value_from_text("workload.total_params", text))
    except EditError:
        return None
    return total if total >= _LEAST_PARAMS else None


class Drop(QComboBox):
    """A plain list that drops down, with the chevron of the panels."""

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        colour = self.palette().color(QPalette.ColorRole.PlaceholderText)
        paint_chevron(QPainter(self), QPointF(self.width() - 12, self.height() / 2), colour)


class StartDialog(QDialog):
    """Asks three questions; `named` holds the plan once it is accepted."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("start_dialog")
        self.setWindowTitle(say("New plan"))
        self.setMinimumWidth(700)
        self.setAcceptDrops(True)
        self.named: NamedScenario | None = None
        self._model: ModelRow | ModelParts | None = None
        self._found: tuple[ModelRow, ...] = ()
        self._build_model()
        self._build_nodes()
        self._build_storage()
        self._place()
        self._search.textEdited.connect(self._on_typed)
        self._hits.itemClicked.connect(self._on_hit)
        self._hits.itemActivated.connect(self._on_hit)
        self._hits.currentItemChanged.connect(self._on_current)
        self._file.clicked.connect(self._on_file)
        self._folder.clicked.connect(self._on_folder)
        for edit_ in self._rates.values():
            edit_.textEdited.connect(lambda: self._show_trouble(""))
        self._storage.currentIndexChanged.connect(self._on_storage)
        self._on_typed("")
        self._on_storage(0)
        QTimer.singleShot(0, self._search.setFocus)

    # ------------------------------------------------------------ building

    def _build_model(self) -> None:
        self._search = QLineEdit()
        self._search.setObjectName("start.model")
        self._search.setPlaceholderText(say("a few letters (qwen3 235), or a number (70 B)"))
        self._file = QPushButton(say("From a file…"))
        self._file.setObjectName("start.file")
        self._file.setToolTip(say("config.json, model.safetensors.index.json or weights; or drop one here"))
        self._folder = QPushButton(say("Folder…"))
        self._folder.setObjectName("start.folder")
        self._folder.setToolTip(say("A folder that holds a model's config.json or weights; or drop one here"))
        self._hits = QListWidget()
        self._hits.setObjectName("start.hits")
        self._hits.setProperty("role", "completions")
        self._hits.setAccessibleName(say("Models of that name"))
        self._hits.setFixedHeight(116)
        self._hits.setWordWrap(True)
        self._hits.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        self._search.installEventFilter(self)
        self._hits.installEventFilter(self)
        self._parts = QLabel()
        self._parts.setObjectName("start.parts")
        self._parts.setProperty("role", "small")
        self._parts.setWordWrap(True)

    def _build_nodes(self) -> None:
        self._count = QSpinBox()
        self._count.setObjectName("start.nodes")
        self._count.setRange(1, 1_000_000)
        self._count.setValue(32)
        self._node = Drop()
        self._node.setObjectName("start.node")
        for row in catalog.nodes():
            self._node.addItem(f"{row.name}  ({row.gpus} × {row.accelerator})", row.id)
        self._node.setCurrentIndex(self._node.findData("p6-b300.48xlarge"))
        self._region = Drop()
        self._region.setObjectName("start.region")
        self._region.addItems(list(catalog.regions()))

    def _build_storage(self) -> None:
        self._storage = Drop()
        self._storage.setObjectName("start.storage")
        self._storage.addItem(say("buy a new FSx for Lustre"), "fsx")
        self._storage.addItem(say("storage we already have"), "custom")
        self._rates = {name: QLineEdit() for name, _ in _CUSTOM}
        examples = (say("writes at, 250 GB/s"), say("reads at, 700 GB/s"), say("usable, 2 PB"))
        for (name, edit_), example in zip(self._rates.items(), examples, strict=True):
            edit_.setObjectName(f"start.{name}")
            edit_.setPlaceholderText(example)

    def _place(self) -> None:
        form = QFormLayout()
        form.setLabelAlignment(Qt.AlignmentFlag.AlignLeft)
        form.setVerticalSpacing(10)
        model = QHBoxLayout()
        model.setSpacing(8)
        model.addWidget(self._search, 1)
        model.addWidget(self._file)
        model.addWidget(self._folder)
        form.addRow(say("Which model?"), model)
        form.addRow("", self._hits)
        form.addRow("", self._parts)
        nodes = QHBoxLayout()
        nodes.setSpacing(8)
        for widget, stretch in ((self._count, 0), (QLabel("×"), 0), (self._node, 1), (QLabel(say("in")), 0), (self._region, 0)):
            nodes.addWidget(widget, stretch)
        form.addRow(say("Which nodes?"), nodes)
        storage = QVBoxLayout()
        storage.setSpacing(8)
        storage.addWidget(self._storage)
        self._rate_row = QWidget()
        rates = QHBoxLayout(self._rate_row)
        rates.setContentsMargins(0, 0, 0, 0)
        rates.setSpacing(8)
        for edit_ in self._rates.values():
            rates.addWidget(edit_)
        storage.addWidget(self._rate_row)
        form.addRow(say("Which storage?"), storage)
        self._trouble = QLabel()
        self._trouble.setObjectName("start.trouble")
        self._trouble.setProperty("role", "refusal")
        self._trouble.setWordWrap(True)
        note = QLabel(
            say("What is not known starts as a marked guess, with allowances for real life; every guess can be replaced.")
        )
        note.setProperty("role", "small")
        note.setWordWrap(True)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Ok | QDialogButtonBox.StandardButton.Cancel)
        make = buttons.button(QDialogButtonBox.StandardButton.Ok)
        make.setText(say("Make the plan"))
        make.setProperty("role", "primary")
        buttons.accepted.connect(self.accept)
        buttons.rejected.connect(self.reject)
        for field in (self._search, self._count, self._node, self._region, self._storage, *self._rates.values()):
            field.setMinimumHeight(24)
        box = QVBoxLayout(self)
        box.setContentsMargins(20, 16, 20, 16)
        box.setSpacing(12)
        box.addLayout(form)
        for part in (self._trouble, note, buttons):
            box.addWidget(part)
        for button in (self._file, self._folder):
            button.setAutoDefault(False)
        make.setDefault(True)  # only now that it is in the dialog, which else takes the first button for Enter

    # ------------------------------------------------------------ answers

    def _on_typed(self, text: str) -> None:
        self._model = None
        self._found = catalog.find_models(text, 40)
        self._hits.clear()
        for row in self._found:
            item = QListWidgetItem(f"{row.name}   {brief(row.total_params, PARAMS, 4) if row.total_params else ''}")
            item.setData(Qt.ItemDataRole.UserRole, row)
            self._hits.addItem(item)
        if not self._found:
            self._say_in_list(text)
        self._preview()
        self._show_trouble("")

    def _say_in_list(self, text: str) -> None:
        """What stands in the list where no model has that name."""
        if (total := number_in(text)) is not None:
            words = say("A model of {total} parameters, whatever its name", total=brief(total, PARAMS, 4))
        else:
            words = say("No model of that name: write its number of parameters, or open its config.json")
        item = QListWidgetItem(words)
        item.setFlags(Qt.ItemFlag.NoItemFlags)
        self._hits.addItem(item)

    def _preview(self) -> None:
        """Show what Enter would take: the highlighted model with its parts, or the number."""
        answer = self._answer()
        if isinstance(answer, ModelRow):
            self._hits.setCurrentRow(self._found.index(answer))
            self._parts.setText(row_line(answer))
        else:
            self._parts.setText(say("{total} in all", total=brief(answer, PARAMS, 5)) if isinstance(answer, float) else "")

    def _on_current(self, item: QListWidgetItem | None) -> None:
        """The arrow keys choose while the list has the focus; while it has not, a highlight is a preview."""
        if item is not None and self._hits.hasFocus():
            self._on_hit(item)

    def _on_hit(self, item: QListWidgetItem) -> None:
        row: ModelRow | None = item.data(Qt.ItemDataRole.UserRole)
        if row is None:
            return
        self._model = row
        self._search.setText(row.name)
        self._parts.setText(row_line(row))
        self._show_trouble("")

    @override
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Down leads from the search into the list, Up from its first line back."""
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            if watched is self._search and event.key() == Qt.Key.Key_Down and self._found:
                self._enter_list()
                return True
            if watched is self._hits and event.key() == Qt.Key.Key_Up and self._hits.currentRow() <= 0:
                self._search.setFocus(Qt.FocusReason.OtherFocusReason)
                return True
        return super().eventFilter(watched, event)

    def _enter_list(self) -> None:
        row = max(self._hits.currentRow(), 0)
        self._hits.setFocus(Qt.FocusReason.OtherFocusReason)
        self._hits.setCurrentRow(row)
        self._on_hit(self._hits.item(row))

    def _on_file(self) -> None:
        names = say("Models (*.json *.safetensors)")
        chosen, _ = QFileDialog.getOpenFileName(self, say("Model from a file"), "", names)
        if chosen:
            self.take(Path(chosen))

    def _on_folder(self) -> None:
        if chosen := QFileDialog.getExistingDirectory(self, say("Model from a folder")):
            self.take(Path(chosen))

    def take(self, path: Path) -> None:
        """Take the model from a file or folder."""
        try:
            parts = read_model(path)
        except ReaderError as error:
            self._show_trouble(str(error))
            return
        self._hits.clear()
        self._found = ()
        self._model = parts
        self._search.setText(parts.name or path.name)
        self._parts.setText(
            " · ".join([say("{total} in all", total=brief(parts.total_params, PARAMS, 6)), *parts_lines(parts)])
        )
        self._show_trouble("")

    def _on_storage(self, index: int) -> None:
        self._rate_row.setVisible(self._storage.itemData(index) == "custom")

    def _show_trouble(self, sentence: str, field: QLineEdit | None = None) -> None:
        """Say what is wrong, at the field where it is; no sentence: nothing is."""
        self._trouble.setText(sentence)
        self._trouble.setVisible(bool(sentence))
        for edit_ in (self._search, *self._rates.values()):
            set_property(edit_, "state", "error" if sentence and edit_ is (field or self._search) else "")

    @override
    def accept(self) -> None:
        try:
            self.named = self._plan()
        except EditError as error:
            field = self._rates.get(error.path.removeprefix("storage.custom."), self._search)
            self._show_trouble(error.message, field)
            field.setFocus(Qt.FocusReason.OtherFocusReason)
            field.selectAll()
            return
        super().accept()

    def _plan(self) -> NamedScenario:
        model = self._answer()
        if model is None:
            sentence = say("Choose a model from the list, or write a number of parameters: 124.45 B, 671e9.")
            raise EditError("workload.model", sentence)
        named = with_allowances(NamedScenario(name=self._name(model)))
        if isinstance(model, float):
            named = edit(named, "workload.total_params", model)
            named = edit(named, "workload.active_params", model, "guess", say("All of them, until you say otherwise"))
        else:
            named = edit(named, "workload.model", model)
        for path, value in self._answers():
            named = self._edited(named, path, value)
        return named

    def _answer(self) -> ModelRow | ModelParts | float | None:
        """What is taken: the model that was chosen, else a number, else the model of that very name, else the only one."""
        if self._model is not None:
            return self._model
        written = self._search.text().strip()
        if (total := number_in(written)) is not None:
            return total
        exact = next((row for row in self._found if row.name.casefold() == written.casefold()), None)
        return exact or (self._found[0] if len(self._found) == 1 else None)

    @staticmethod
    def _name(model: ModelRow | ModelParts | float) -> str:
        if isinstance(model, float):
            return brief(model, PARAMS, 4).replace(NBSP, " ")
        return (model.name or "").strip()[:100] or say("first plan")

    def _answers(self) -> list[tuple[str, Any]]:
        answers: list[tuple[str, Any]] = [
            ("prices.region", self._region.currentText()),
            ("workload.node", self._node.currentData()),
            ("workload.nodes", self._count.value()),
        ]
        if self._storage.currentData() == "custom":
            answers += [(f"storage.custom.{name}", self._rate(name, unit)) for name, unit in _CUSTOM]
            answers.append(("storage.pace", "full"))  # its own speed, no write time of ours
        return answers

    def _rate(self, name: str, unit: Unit) -> float:
        """What was written for one of the storage's figures. Raises EditError, which names the field."""
        path = f"storage.custom.{name}"
        try:
            return parse(self._rates[name].text(), unit)
        except UnitError as error:
            raise self._named_error(path, str(error)) from error

    def _edited(self, named: NamedScenario, path: str, value: Any) -> NamedScenario:
        try:
            return edit(named, path, value)
        except EditError as error:
            raise self._named_error(path, error.message) from error

    @staticmethod
    def _named_error(path: str, message: str) -> EditError:
        spec = spec_of(Scenario, path)
        return EditError(path, say("{field}: {reason}", field=say(spec.title), reason=message))

    @override
    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        welcome(event)

    @override
    def dropEvent(self, event: QDropEvent) -> None:
        if (file := dropped_file(event)) is not None:
            self.take(file)
