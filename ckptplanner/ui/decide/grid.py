"""What a table of scenarios shows: columns with their marks, rows in groups, cells with what they differ by. No painting."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt, Signal
from PySide6.QtWidgets import QWidget
from typing_extensions import override

Index = QModelIndex | QPersistentModelIndex
Kind = Literal["group", "input", "figure", "days", "stage"]
Tone = Literal["", "better", "worse"]
CELL_ROLE = int(Qt.ItemDataRole.UserRole)


@dataclass(frozen=True, slots=True)
class Head:
    """One column: a scenario with its mark, or a sum, which has none."""

    name: str
    index: int | None = None
    is_base: bool = False
    is_current: bool = False
    is_pinned: bool = False
    is_broken: bool = False  # its plan has an error


@dataclass(frozen=True, slots=True)
class Cell:
    """One value; beside it in small type the difference and its share, or a word of where it is from."""

    shown: str
    difference: str = ""
    share: str = ""
    tone: Tone = ""
    is_strong: bool = False  # the best in its row, or an input that differs
    is_marked: bool = False  # an input that differs: on a ground of its scenario's colour
    is_quiet: bool = False
    in_words: str = ""  # for a tooltip and for who cannot see it

    @property
    def beside(self) -> str:
        """The small type as it is copied."""
        return ", ".join(part for part in (self.difference, self.share) if part)


@dataclass(frozen=True, slots=True)
class Row:
    """One line: `cells` has one for each column; a group has none."""

    id: str
    title: str
    kind: Kind
    cells: tuple[Cell, ...] = ()
    is_part: bool = False
    begins: bool = False  # a block, with a hairline above it
    sort: tuple[float | None, ...] = field(default=(), repr=False)
    more_is_better: bool = False


@dataclass(frozen=True, slots=True)
class Grid:
    """The whole table."""

    heads: tuple[Head, ...]
    rows: tuple[Row, ...]

    def row(self, row_id: str) -> Row | None:
        """The row of that id."""
        return next((row for row in self.rows if row.id == row_id), None)

    def picked(self, columns: Sequence[int]) -> Grid:
        """The same with these columns only, in this order."""
        rows = tuple(
            Row(row.id, row.title, row.kind, tuple(row.cells[at] for at in columns) if row.cells else (), row.is_part,
                row.begins, tuple(row.sort[at] for at in columns) if row.sort else (), row.more_is_better)
            for row in self.rows
        )  # fmt: skip
        return Grid(tuple(self.heads[at] for at in columns), rows)


NOTHING = Grid((), ())


class GridModel(QAbstractTableModel):
    """A grid for a table view."""

    typed = Signal(str, str)  # column and text, of a row that takes one

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.grid = NOTHING

    def show_grid(self, grid: Grid) -> None:
        """Show another grid; where it has the same shape, selection and scroll stay where they are."""
        before = self.grid
        if len(grid.heads) == len(before.heads) and [row.id for row in grid.rows] == [row.id for row in before.rows]:
            self.grid = grid
            if grid.heads and grid.rows:
                self.dataChanged.emit(self.index(0, 0), self.index(len(grid.rows) - 1, len(grid.heads) - 1))
                self.headerDataChanged.emit(Qt.Orientation.Horizontal, 0, len(grid.heads) - 1)
                self.headerDataChanged.emit(Qt.Orientation.Vertical, 0, len(grid.rows) - 1)
            return
        self.beginResetModel()
        self.grid = grid
        self.endResetModel()

    def cell(self, index: Index) -> Cell | None:
        """The cell at a place; None in a group."""
        if not index.isValid() or not 0 <= index.row() < len(self.grid.rows):
            return None
        cells = self.grid.rows[index.row()].cells
        return cells[index.column()] if index.column() < len(cells) else None

    @override
    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self.grid.rows)

    @override
    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self.grid.heads)

    @override
    def flags(self, index: Index) -> Qt.ItemFlag:
        if self.cell(index) is None:
            return Qt.ItemFlag.NoItemFlags
        flags = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable
        takes = self.grid.rows[index.row()].kind == "days" and self.grid.heads[index.column()].index is not None
        return flags | Qt.ItemFlag.ItemIsEditable if takes else flags

    @override
    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        cell = self.cell(index)
        if cell is None:
            return None
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.EditRole):
            return cell.shown
        if role in (Qt.ItemDataRole.ToolTipRole, Qt.ItemDataRole.AccessibleTextRole):
            return cell.in_words or cell.shown
        return cell if role == CELL_ROLE else None

    @override
    def setData(self, index: Index, value: Any, role: int = Qt.ItemDataRole.EditRole) -> bool:
        if role != Qt.ItemDataRole.EditRole or self.cell(index) is None:
            return False
        self.typed.emit(self.grid.heads[index.column()].name, str(value))
        return True

    @override
    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        heads, rows = self.grid.heads, self.grid.rows
        if orientation == Qt.Orientation.Horizontal:
            known = heads[section].name if 0 <= section < len(heads) else None
        else:
            known = rows[section].title if 0 <= section < len(rows) else None
        return known if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole) else None
