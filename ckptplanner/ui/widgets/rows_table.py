"""An editable table of frozen rows: saves, restart classes. A cell that is not accepted keeps its text and says why.

    columns of the model (typed by hand) | columns that follow from them (read only)          + Add   Remove

Proposes the whole tuple of rows on every change; what is shown comes back through `show_rows`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from PySide6.QtCore import QEvent, QModelIndex, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QComboBox,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QPushButton,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QVBoxLayout,
    QWidget,
)
from typing_extensions import override

from ckptplanner.frozen import Frozen, spec_of, with_value
from ckptplanner.ui.theme import LIGHT, Theme
from ckptplanner.ui.widgets.headed_model import HeadedModel, Index
from ckptplanner.ui.words import say
from ckptplanner.units import Unit, UnitError, brief, parse

ROW_PX = 22


@dataclass(frozen=True, slots=True)
class Column:
    """One field of the rows: its heading, and its unit or its choices under their words; `none` is said for an empty one."""

    field: str
    heading: str
    unit: Unit | None = None
    choices: tuple[tuple[str, str], ...] = ()
    none: str | None = None


class RowsModel(HeadedModel):
    """The rows as cells: typed ones first, then what follows from them."""

    proposed = Signal(object)
    refused = Signal(str)

    def __init__(self, columns: Sequence[Column], more: Sequence[str], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.columns, self._more = tuple(columns), tuple(more)
        self._rows: tuple[Frozen, ...] = ()
        self._follow: list[tuple[str, ...]] = []
        self._pending: dict[tuple[int, int], str] = {}
        self._theme = LIGHT

    @property
    def rows(self) -> tuple[Frozen, ...]:
        """The rows as they stand in the plan."""
        return self._rows

    def show_rows(self, rows: Sequence[Frozen], follow: Sequence[tuple[str, ...]], theme: Theme) -> None:
        """Take the rows of a plan, and for each what follows from it."""
        self._theme = theme
        if tuple(rows) == self._rows and list(follow) == self._follow:
            return
        is_same_size = len(rows) == len(self._rows)
        if not is_same_size:
            self.beginResetModel()
        self._pending = {} if tuple(rows) != self._rows else self._pending
        self._rows, self._follow = tuple(rows), list(follow)
        if is_same_size and rows:
            self.dataChanged.emit(self.index(0, 0), self.index(len(rows) - 1, self.columnCount() - 1))
        elif not is_same_size:
            self.endResetModel()

    @override
    def headings(self) -> list[str]:
        """All headings."""
        return [*(column.heading for column in self.columns), *self._more]

    def shown(self, row: int, column: int) -> str:
        """The text of a cell."""
        if column >= len(self.columns):
            return self._follow[row][column - len(self.columns)] if row < len(self._follow) else ""
        if (row, column) in self._pending:
            return self._pending[row, column]
        spec = self.columns[column]
        value = getattr(self._rows[row], spec.field)
        if value is None:
            return spec.none or ""
        if spec.choices:
            return dict(spec.choices).get(value, str(value))
        return brief(float(value), spec.unit) if spec.unit is not None else str(value)

    @override
    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self._rows)

    @override
    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self.columns) + len(self._more)

    @override
    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        row, column = index.row(), index.column()
        if not 0 <= row < len(self._rows):
            return None
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.EditRole):
            return self.shown(row, column)
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return self.alignment(column)
        if role == Qt.ItemDataRole.ForegroundRole:
            if (row, column) in self._pending:
                return QColor(self._theme.error)
            return QColor(self._theme.muted) if column >= len(self.columns) else None
        return None

    @override
    def is_number(self, column: int) -> bool:
        return not (column < len(self.columns) and self.columns[column].choices)

    @override
    def flags(self, index: Index) -> Qt.ItemFlag:
        flags = super().flags(index)
        return flags | Qt.ItemFlag.ItemIsEditable if index.column() < len(self.columns) else flags

    @override
    def setData(self, index: Index, value: Any, role: int = Qt.ItemDataRole.EditRole) -> bool:
        """Read what was typed; what is not accepted stays as it was typed, in red."""
        row, column = index.row(), index.column()
        spec, written = self.columns[column], str(value).strip()
        if written == self.shown(row, column):
            return False
        try:
            changed = with_value(self._rows[row], spec.field, self._read(spec, written))
        except (UnitError, ValueError) as error:
            self._pending[row, column] = written
            self.refused.emit(say("{heading}: {problem}", heading=spec.heading, problem=_problem(error, spec, self._rows[row])))
            self.dataChanged.emit(index, index)
            return False
        self._pending.pop((row, column), None)
        self.refused.emit("")
        self.proposed.emit((*self._rows[:row], changed, *self._rows[row + 1 :]))
        return True

    @staticmethod
    def _read(spec: Column, written: str) -> Any:
        if spec.choices:
            return next((key for key, words in spec.choices if written in (key, words)), written)
        if spec.none is not None and written.lower() in {"", "-", spec.none.lower()}:
            return None
        value = parse(written, spec.unit) if spec.unit is not None else written
        return int(value) if spec.unit is not None and spec.unit.kind == "count" else value


def _problem(error: Exception, spec: Column, row: Frozen) -> str:
    """One sentence: what a unit's parser says, or the range that the field has."""
    if isinstance(error, UnitError):
        return say(str(error))
    if spec.choices:
        return say("choose one of the list")
    field = spec_of(type(row), spec.field)
    if spec.unit is None or field.low is None or field.high is None:
        return say("that is out of the range of this field")
    low, high = (brief(limit, spec.unit) if limit else "0" for limit in (field.low, field.high))
    if field.low_excluded:
        return say("more than {low} and at most {high} is accepted", low=low, high=high)
    return say("{low} to {high} is accepted", low=low, high=high)


class ChoiceDelegate(QStyledItemDelegate):
    """A list for columns with choices, a line for the others."""

    @override
    def createEditor(self, parent: QWidget, option: QStyleOptionViewItem, index: Index) -> QWidget:
        model = index.model()
        assert isinstance(model, RowsModel)
        spec = model.columns[index.column()]
        if not spec.choices:
            return super().createEditor(parent, option, index)
        box = QComboBox(parent)
        box.addItems([words for _, words in spec.choices])
        box.activated.connect(partial(self._finish, box))
        return box

    def _finish(self, box: QComboBox, _index: int) -> None:
        self.commitData.emit(box)
        self.closeEditor.emit(box)

    @override
    def setEditorData(self, editor: QWidget, index: Index) -> None:
        if isinstance(editor, QComboBox):
            editor.setCurrentText(str(index.data()))
        else:
            super().setEditorData(editor, index)

    @override
    def setModelData(self, editor: QWidget, model: Any, index: Index) -> None:
        if isinstance(editor, QComboBox):
            model.setData(index, editor.currentText())
        else:
            super().setModelData(editor, model, index)


class _View(QTableView):
    """The table; Delete removes the row."""

    remove_requested = Signal()

    @override
    def event(self, event: QEvent) -> bool:
        # F2 and letters edit a cell here; elsewhere they are shortcuts of the window
        if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent):
            is_plain = event.modifiers() in (Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.ShiftModifier)
            if is_plain and self.currentIndex().isValid() and (event.key() == Qt.Key.Key_F2 or event.text().strip()):
                event.accept()
                return True
        return super().event(event)

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Delete and self.state() != QAbstractItemView.State.EditingState:
            self.remove_requested.emit()
        else:
            super().keyPressEvent(event)


class RowsTable(QWidget):
    """The table with its buttons and the line for what was refused."""

    edited = Signal(str, object)
    gesture_ended = Signal()

    def __init__(
        self, path: str, columns: Sequence[Column], more: Sequence[str], new_row: Callable[[tuple[Frozen, ...]], Frozen],
        empty: str, parent: QWidget | None = None,
    ) -> None:  # fmt: skip
        super().__init__(parent)
        self.setObjectName(path)
        self.path, self._new_row = path, new_row
        self._cells = RowsModel(columns, more, self)
        self.view = _View()
        self.view.setObjectName(f"{path}.table")
        self.view.setModel(self._cells)
        self.view.setItemDelegate(ChoiceDelegate(self.view))
        self.view.setShowGrid(False)
        self.view.setWordWrap(False)
        self.view.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.view.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.view.setEditTriggers(
            QAbstractItemView.EditTrigger.DoubleClicked
            | QAbstractItemView.EditTrigger.EditKeyPressed
            | QAbstractItemView.EditTrigger.AnyKeyPressed
        )
        self.view.verticalHeader().hide()
        self.view.verticalHeader().setDefaultSectionSize(ROW_PX)
        self.view.horizontalHeader().setHighlightSections(False)
        self.view.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        self._empty = QLabel(empty)
        self._empty.setProperty("role", "muted")
        self._empty.setWordWrap(True)
        self._refusal = QLabel()
        self._refusal.setProperty("role", "refusal")
        self.add = QPushButton(say("Add a row"))
        self.add.setObjectName(f"{path}.add")
        self.remove = QPushButton(say("Remove"))
        self.remove.setObjectName(f"{path}.remove")
        for button in (self.add, self.remove):
            button.setProperty("role", "link")
        self._place()
        self._connect()

    def _place(self) -> None:
        foot = QHBoxLayout()
        foot.setContentsMargins(16, 0, 16, 4)
        foot.setSpacing(12)
        foot.addWidget(self.add)
        foot.addWidget(self.remove)
        foot.addWidget(self._refusal, 1)
        self._empty.setContentsMargins(16, 8, 16, 4)
        box = QVBoxLayout(self)
        box.setContentsMargins(0, 0, 0, 0)
        box.setSpacing(0)
        box.addWidget(self._empty)
        box.addWidget(self.view, 1)
        box.addLayout(foot)

    def _connect(self) -> None:
        self._cells.proposed.connect(self._on_proposed)
        self._cells.refused.connect(self._refusal.setText)
        self.add.clicked.connect(self._on_add)
        self.remove.clicked.connect(self._on_remove)
        self.view.remove_requested.connect(self._on_remove)

    def show_rows(self, rows: Sequence[Frozen], follow: Sequence[tuple[str, ...]], theme: Theme) -> None:
        """Show the rows of a plan; emits nothing."""
        grew = len(rows) != len(self._cells.rows)
        self._cells.show_rows(rows, follow, theme)
        if grew:
            self._refusal.setText("")
            self.view.resizeColumnsToContents()
            if rows:
                self.view.selectRow(len(rows) - 1)
        self.view.setVisible(bool(rows))
        self._empty.setVisible(not rows)
        self.remove.setVisible(bool(rows))

    def texts(self) -> list[list[str]]:
        """Headings and rows, as they are copied."""
        count = self._cells.columnCount()
        rows = [[self._cells.shown(row, column) for column in range(count)] for row in range(self._cells.rowCount())]
        return [self._cells.headings(), *rows]

    def refusal(self) -> str:
        """What is said about a cell that was not accepted."""
        return self._refusal.text()

    def _propose(self, rows: tuple[Frozen, ...]) -> None:
        self.edited.emit(self.path, rows)
        self.gesture_ended.emit()

    def _on_proposed(self, rows: object) -> None:
        assert isinstance(rows, tuple)
        self._propose(rows)

    def _on_add(self) -> None:
        self._propose((*self._cells.rows, self._new_row(self._cells.rows)))

    def _on_remove(self) -> None:
        rows = self._cells.rows
        if not rows:
            return
        chosen = self.view.currentIndex().row()
        at = chosen if 0 <= chosen < len(rows) else len(rows) - 1
        self._propose((*rows[:at], *rows[at + 1 :]))
