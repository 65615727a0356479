"""The logs that can be replayed, the user's own first: how large the system was, how often it stopped, how regularly."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QModelIndex, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableView, QWidget
from typing_extensions import override

from ckptplanner.engine.backtests import Backtest
from ckptplanner.ui.theme import LIGHT, Theme, font
from ckptplanner.ui.widgets.headed_model import HeadedModel, Index
from ckptplanner.ui.words import say
from ckptplanner.units import HOUR, UNKNOWN, grouped, significant

ROW_PX = 22


def headings() -> tuple[str, ...]:
    """The column headings."""
    return say("Log"), say("Nodes"), say("Interruptions"), say("Mean gap"), say("Shape")


def row_texts(backtest: Backtest) -> tuple[str, ...]:
    """One log as the table shows it."""
    log, shape = backtest.log, backtest.weibull_shape
    return (
        log.name,
        UNKNOWN if log.nodes is None else grouped(log.nodes),
        grouped(len(log.gaps_s) + 1),
        say("{hours} h", hours=significant(backtest.mean_gap_s / HOUR)),
        UNKNOWN if shape is None else significant(shape, 2),
    )


class LogsModel(HeadedModel):
    """One row for each log."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._rows: tuple[Backtest, ...] = ()
        self._own: frozenset[str] = frozenset()
        self._chosen = -1
        self._theme = LIGHT

    def show_rows(self, rows: Sequence[Backtest], own: frozenset[str], chosen: int, theme: Theme) -> None:
        """Take the logs; `own` are the ids of the user's, `chosen` is the row that is replayed."""
        if [row.log for row in rows] != [row.log for row in self._rows]:
            self.beginResetModel()
            self._rows, self._own, self._chosen, self._theme = tuple(rows), own, chosen, theme
            self.endResetModel()
            return
        self._rows, self._own, self._chosen, self._theme = tuple(rows), own, chosen, theme
        if rows:
            self.dataChanged.emit(self.index(0, 0), self.index(len(rows) - 1, self.columnCount() - 1))

    @override
    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self._rows)

    @override
    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not 0 <= index.row() < len(self._rows):
            return None
        row, is_chosen = self._rows[index.row()], index.row() == self._chosen
        if role == Qt.ItemDataRole.DisplayRole:
            return row_texts(row)[index.column()]
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return self.alignment(index.column())
        if role == Qt.ItemDataRole.BackgroundRole:
            return QColor(self._theme.selected) if is_chosen else None
        if role == Qt.ItemDataRole.FontRole:
            return font(bold=True) if is_chosen and index.column() == 0 else None
        if role == Qt.ItemDataRole.ToolTipRole:
            return self._tip(row, index.column())
        return None

    def _tip(self, row: Backtest, column: int) -> str:
        log = row.log
        if column == 4 and row.weibull_shape is None:
            return say("With fewer than 20 gaps one cannot tell")
        if column == 4:
            return say("Of a Weibull law: below 1 interruptions come in bursts, 1 is memoryless")
        said = [part for part in (log.note, f"{log.source}, {log.date}" if log.date else log.source) if part]
        if log.id in self._own:
            said.append(say("Del takes your log away again"))
        return "\n".join(said)

    @override
    def headings(self) -> Sequence[str]:
        return headings()


class LogsTable(QTableView):
    """The table itself; going to a row replays it."""

    chosen = Signal(int)
    removed = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("evidence.logs")
        self.setAccessibleName(say("Logs that can be replayed"))
        self._logs = LogsModel(self)
        self.setProperty("role", "dense")
        self.setModel(self._logs)
        self.setShowGrid(False)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setTabKeyNavigation(False)
        self.setWordWrap(False)
        self.verticalHeader().hide()
        self.verticalHeader().setDefaultSectionSize(ROW_PX)
        self.verticalHeader().setMinimumSectionSize(18)
        header = self.horizontalHeader()
        header.setHighlightSections(False)
        header.setSectionsClickable(False)
        header.setMinimumSectionSize(36)
        header.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        self.selectionModel().currentRowChanged.connect(self._on_row)

    def show_rows(self, rows: Sequence[Backtest], own: frozenset[str], chosen: int, theme: Theme) -> None:
        """Show the logs, with the one that is replayed marked and current."""
        self._logs.show_rows(rows, own, chosen, theme)
        if self.currentIndex().row() != chosen:
            self.setCurrentIndex(self._logs.index(chosen, 0))

    def _on_row(self, now: QModelIndex, _: QModelIndex) -> None:
        if now.isValid():
            self.chosen.emit(now.row())

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Delete, Qt.Key.Key_Backspace) and self.currentIndex().isValid():
            self.removed.emit(self.currentIndex().row())
            return
        super().keyPressEvent(event)
