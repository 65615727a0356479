"""From a model to a first plan: three questions - which model, which nodes, which storage - and the plan is there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from PySide6.QtCore import QPointF, Qt, QTimer
from PySide6.QtGui import QDragEnterEvent, QDropEvent, QPainter, QPaintEvent, QPalette
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
from ckptplanner.engine.scenario import NamedScenario
from ckptplanner.ui.drops import dropped_file, welcome
from ckptplanner.ui.theme import set_property
from ckptplanner.ui.widgets.choice_edit import paint_chevron
from ckptplanner.ui.words import say
from ckptplanner.units import BYTES, BYTES_PER_S, PARAMS, UnitError, brief, parse

_CUSTOM = (
    ("write_bytes_per_s", BYTES_PER_S), ("read_bytes_per_s", BYTES_PER_S), ("usable_bytes", BYTES),
)  # fmt: skip


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
        self.setMinimumWidth(660)
        self.setAcceptDrops(True)
        self.named: NamedScenario | None = None
        self._model: ModelRow | ModelParts | None = None
        self._build_model()
        self._build_nodes()
        self._build_storage()
        self._place()
        self._search.textEdited.connect(self._on_typed)
        self._hits.itemClicked.connect(self._on_hit)
        self._hits.itemActivated.connect(self._on_hit)
        self._file.clicked.connect(self._on_file)
        self._storage.currentIndexChanged.connect(self._on_storage)
        self._on_typed("")
        self._on_storage(0)
        QTimer.singleShot(0, self._search.setFocus)

    # ------------------------------------------------------------ building

    def _build_model(self) -> None:
        self._search = QLineEdit()
        self._search.setObjectName("start.model")
        self._search.setPlaceholderText(say("a few letters (qwen3 235), or a number of parameters (70 B)"))
        self._file = QPushButton(say("From a file…"))
        self._file.setToolTip(say("config.json, model.safetensors.index.json or weights; or drop one here"))
        self._hits = QListWidget()
        self._hits.setObjectName("start.hits")
        self._hits.setFixedHeight(112)
        self._hits.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
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
        model.addWidget(self._search, 1)
        model.addWidget(self._file)
        form.addRow(say("Which model?"), model)
        form.addRow("", self._hits)
        form.addRow("", self._parts)
        nodes = QHBoxLayout()
        for widget, stretch in ((self._count, 0), (QLabel("×"), 0), (self._node, 1), (QLabel(say("in")), 0), (self._region, 0)):
            nodes.addWidget(widget, stretch)
        form.addRow(say("Which nodes?"), nodes)
        storage = QVBoxLayout()
        storage.setSpacing(8)
        storage.addWidget(self._storage)
        self._rate_row = QWidget()
        rates = QHBoxLayout(self._rate_row)
        rates.setContentsMargins(0, 0, 0, 0)
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
        buttons.button(QDialogButtonBox.StandardButton.Ok).setText(say("Make the plan"))
        buttons.button(QDialogButtonBox.StandardButton.Ok).setProperty("role", "primary")
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

    # ------------------------------------------------------------ answers

    def _on_typed(self, text: str) -> None:
        self._model = None
        self._hits.clear()
        for row in catalog.find_models(text, 40):
            item = QListWidgetItem(f"{row.name}   {brief(row.total_params, PARAMS, 4) if row.total_params else ''}")
            item.setData(Qt.ItemDataRole.UserRole, row)
            self._hits.addItem(item)
        self._parts.setText("")
        self._show_trouble("")

    def _on_hit(self, item: QListWidgetItem) -> None:
        row: ModelRow = item.data(Qt.ItemDataRole.UserRole)
        self._model = row
        self._search.setText(row.name)
        words = [say("{total} in all", total=brief(row.total_params, PARAMS, 5) if row.total_params else "?")]
        if row.active_params:
            words.append(say("{active} active", active=brief(row.active_params, PARAMS, 4)))
        if row.mtp_params:
            words.append(say("{mtp} of multi-token prediction, not counted yet", mtp=brief(row.mtp_params, PARAMS, 4)))
        self._parts.setText(" · ".join([*words, row.source]))

    def _on_file(self) -> None:
        names = say("Models (*.json *.safetensors)")
        chosen, _ = QFileDialog.getOpenFileName(self, say("Model from a file"), "", names)
        if chosen:
            self.take(Path(chosen))

    def take(self, path: Path) -> None:
        """Take the model from a file or folder."""
        try:
            parts = read_model(path)
        except ReaderError as error:
            self._show_trouble(str(error))
            return
        self._model = parts
        self._search.setText(parts.name or path.name)
        self._hits.clear()
        self._parts.setText(
            " · ".join([say("{total} in all", total=brief(parts.total_params, PARAMS, 6)), *parts_lines(parts)])
        )
        self._show_trouble("")

    def _on_storage(self, index: int) -> None:
        self._rate_row.setVisible(self._storage.itemData(index) == "custom")

    def _show_trouble(self, sentence: str) -> None:
        self._trouble.setText(sentence)
        self._trouble.setVisible(bool(sentence))
        set_property(self._search, "state", "error" if sentence else "")

    @override
    def accept(self) -> None:
        try:
            self.named = self._plan()
        except (EditError, UnitError) as error:
            self._show_trouble(error.message if isinstance(error, EditError) else str(error))
            return
        super().accept()

    def _plan(self) -> NamedScenario:
        named = with_allowances(NamedScenario(name=self._name()))
        for path, value in self._answers():
            named = edit(named, path, value)
        return named

    def _name(self) -> str:
        return (self._model.name if self._model is not None else self._search.text().strip())[:100] or say("first plan")

    def _answers(self) -> list[tuple[str, Any]]:
        model = self._model
        if model is None and self._hits.count() == 1:
            model = self._hits.item(0).data(Qt.ItemDataRole.UserRole)
        if model is not None:
            answers: list[tuple[str, Any]] = [("workload.model", model)]
        else:
            answers = [("workload.total_params", self._typed_total())]
        answers += [
            ("prices.region", self._region.currentText()),
            ("workload.node", self._node.currentData()),
            ("workload.nodes", self._count.value()),
        ]
        if self._storage.currentData() == "custom":
            answers += [(f"storage.custom.{name}", parse(self._rates[name].text(), unit)) for name, unit in _CUSTOM]
        return answers

    def _typed_total(self) -> float:
        try:
            total = value_from_text("workload.total_params", self._search.text())
        except EditError as error:
            sentence = say("Choose a model from the list, or write a number of parameters: 124.45 B, 671e9.")
            raise EditError("workload.total_params", sentence) from error
        return float(total)

    @override
    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        welcome(event)

    @override
    def dropEvent(self, event: QDropEvent) -> None:
        if (file := dropped_file(event)) is not None:
            self.take(file)
