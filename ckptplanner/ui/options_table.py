"""The storage options as a table, cheapest first, the refused ones with the reason; read from the Plan, never computed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from PySide6.QtCore import QModelIndex, Qt, Signal
from PySide6.QtGui import QColor, QIcon, QKeyEvent
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableView, QWidget
from typing_extensions import override

from ckptplanner.engine.cost import per_basis
from ckptplanner.engine.plan import Option, Plan
from ckptplanner.engine.restarts import each_way
from ckptplanner.engine.sentence import option_name
from ckptplanner.ui.marks import mark_icon, no_mark
from ckptplanner.ui.shown import Shown
from ckptplanner.ui.theme import LIGHT, Theme, font
from ckptplanner.ui.widgets.headed_model import HeadedModel, Index
from ckptplanner.ui.words import say, say_text
from ckptplanner.units import BYTES_PER_S, FRACTION, MONTHS_PER_YEAR, SECONDS, UNKNOWN, brief, grouped


def headings(basis: str) -> tuple[str, ...]:
    """The column headings for a money basis."""
    money = {"month": say("$ a month"), "run": say("$ for the run"), "year": say("$ a year")}[basis]
    return (
        say("File system"), say("EFA"), say("Baseline"), say("Writes in"), say("Reads back, restart"), say("Full"),
        say("Bound by"), money, say("To the best"), say("With lost GPU time"), say("Note"),
    )  # fmt: skip


_RESTART = 4
_IS_NUMBER = (False, False, True, True, True, True, False, True, True, True, False)


def row_texts(plan: Plan, option: Option, basis: str) -> tuple[str, ...]:
    """One option as the table and its copy show it."""
    days = plan.scenario.run.days
    best = plan.storage.least_usd_per_month
    price, total = option.usd_per_month, option.total_usd_per_year
    if option.bound_by == "capacity":
        bound = say("{count} generations", count=plan.scenario.storage.generations_kept)
    else:
        bound = say("throughput") if option.bound_by else ""
    reason = option.illegal_reason or option.excluded_reason
    return (
        _name(option),
        say("EFA") if option.efa else say("no"),
        brief(option.baseline_bytes_per_s, BYTES_PER_S),
        brief(option.writes_in_s, SECONDS),
        brief(option.restart_s, SECONDS),
        brief(option.fill_ratio, FRACTION, 2),
        bound,
        UNKNOWN if price is None else grouped(per_basis(price * MONTHS_PER_YEAR, basis, days)),
        "" if not price or not best or price <= best else f"{(price / best - 1) * 100:+,.0f}\u00a0%",
        UNKNOWN if total is None else grouped(per_basis(total, basis, days)),
        say_text(reason) if reason else "",
    )


def _name(option: Option) -> str:
    """Throughput and size; whether it has EFA stands in a column of its own."""
    return say_text(option_name(replace(option, efa=False)))


class OptionsModel(HeadedModel):
    """The rows of one plan."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._plan: Plan | None = None
        self._rows: list[tuple[str, ...]] = []
        self._basis = "month"
        self._mark = QIcon()
        self._theme = LIGHT

    def show_plan(self, shown: Shown, basis: str, theme: Theme) -> None:
        """Take the options of a plan."""
        rows = [row_texts(shown.plan, option, basis) for option in shown.plan.storage.options]
        is_same_size = len(rows) == len(self._rows)
        if not is_same_size:
            self.beginResetModel()
        is_new_basis = basis != self._basis
        self._plan, self._basis, self._theme, self._rows = shown.plan, basis, theme, rows
        self._mark = mark_icon(theme, shown.index, is_filled=True)
        if is_same_size:  # selection and scroll stay where they are
            self.dataChanged.emit(self.index(0, 0), self.index(len(rows) - 1, len(_IS_NUMBER) - 1))
        else:
            self.endResetModel()
        if is_new_basis:
            self.headerDataChanged.emit(Qt.Orientation.Horizontal, 0, len(_IS_NUMBER) - 1)

    def option(self, row: int) -> Option | None:
        """The option in a row."""
        return self._plan.storage.options[row] if self._plan and 0 <= row < len(self._rows) else None

    def texts(self) -> list[list[str]]:
        """Headings and rows, as they are copied."""
        return [list(headings(self._basis)), *map(list, self._rows)]

    @override
    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self._rows)

    @override
    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(_IS_NUMBER)

    @override
    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        option = self.option(index.row())
        if option is None or self._plan is None:
            return None
        is_chosen = option is self._plan.storage.chosen
        if role == Qt.ItemDataRole.DisplayRole:
            return self._rows[index.row()][index.column()]
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return self.alignment(index.column())
        if role == Qt.ItemDataRole.ForegroundRole:
            return None if option.is_offered or is_chosen else QColor(self._theme.muted)
        if role == Qt.ItemDataRole.BackgroundRole:
            return QColor(self._theme.selected) if is_chosen else None
        if role == Qt.ItemDataRole.FontRole:
            return font(bold=True) if is_chosen and index.column() in (0, 7) else None
        if role == Qt.ItemDataRole.DecorationRole and index.column() == 0:
            return self._mark if is_chosen else no_mark()
        if role == Qt.ItemDataRole.ToolTipRole and index.column() == _RESTART and len(each_way(self._plan)) > 1:
            return say("The mean over all ways to restart, from shared storage and from the nodes")
        if role == Qt.ItemDataRole.ToolTipRole:
            return say("Double-click or Enter makes this the file system of the plan: {id}", id=option.id)
        return None

    @override
    def headings(self) -> Sequence[str]:
        return headings(self._basis)

    @override
    def is_number(self, column: int) -> bool:
        return _IS_NUMBER[column]


class OptionsTable(QTableView):
    """The table itself; adopting a row proposes it as the plan's file system."""

    edited = Signal(str, object)
    gesture_ended = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("options_table")
        self.setAccessibleName(say("Storage options"))
        self._options = OptionsModel(self)
        self.setModel(self._options)
        self.setShowGrid(False)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setTabKeyNavigation(False)
        self.setWordWrap(False)
        self.verticalHeader().hide()
        self.verticalHeader().setDefaultSectionSize(21)
        self.verticalHeader().setMinimumSectionSize(18)
        header = self.horizontalHeader()
        header.setHighlightSections(False)
        header.setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        header.setStretchLastSection(True)
        header.setMinimumSectionSize(40)
        self.doubleClicked.connect(self._on_adopted)
        self._longest: list[int] = []

    def show_plan(self, shown: Shown, basis: str, theme: Theme) -> None:
        """Show the options of a plan; columns only grow, so that they do not jump while dragging."""
        self._options.show_plan(shown, basis, theme)
        longest = [max(map(len, column)) for column in zip(*self._options.texts(), strict=True)]
        if any(now > before for now, before in zip(longest, self._longest or [0] * len(longest), strict=True)):
            self._longest = longest
            self.resizeColumnsToContents()

    def texts(self) -> list[list[str]]:
        """Headings and rows, as they are copied."""
        return self._options.texts()

    def _on_adopted(self, index: QModelIndex) -> None:
        option = self._options.option(index.row())
        if option is not None and option.id != "custom":
            self.edited.emit("storage.tier", option.id)
            self.gesture_ended.emit()

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.currentIndex().isValid():
            self._on_adopted(self.currentIndex())
            return
        super().keyPressEvent(event)
