"""Every stop in a table: when, what it was, what the file says; its kind is chosen in the cell.

Arrows go along, F2 or Enter opens the list of kinds, a click on the kind too.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any

from PySide6.QtCore import QEvent, QModelIndex, QPointF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QColor, QIcon, QKeyEvent, QMouseEvent, QPainter, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QComboBox,
    QHeaderView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QWidget,
)
from typing_extensions import override

from ckptplanner.data.evidence import KIND_TITLES
from ckptplanner.engine.evidence import Stop
from ckptplanner.ui.dates import moment_text
from ckptplanner.ui.ink import width_of
from ckptplanner.ui.stops import counts_word, kind_icon, kind_word, said_words, stop_words, where_words
from ckptplanner.ui.theme import BODY_PX, LIGHT, Theme, font
from ckptplanner.ui.widgets.choice_edit import paint_chevron
from ckptplanner.ui.widgets.headed_model import HeadedModel, Index
from ckptplanner.ui.words import say
from ckptplanner.units import UNKNOWN, grouped

ROW_PX = 20
AS_SAID = ""  # in the place of a kind: what the file says
WHEN, KIND, SAID, NODES, WHERE, FILE = range(6)
_LEAST_SAID, _LEAST_FILE = 96, 120
_KEYS = (Qt.Key.Key_F2, Qt.Key.Key_Return, Qt.Key.Key_Enter)


def headings() -> tuple[str, ...]:
    """The column headings."""
    return say("When"), say("What it was"), say("The file says"), say("Nodes"), say("Where"), say("File")


def row_texts(stop: Stop) -> tuple[str, ...]:
    """One stop as the table shows it."""
    return (
        moment_text(stop.at_s),
        kind_word(stop.kind),
        said_words(stop),
        UNKNOWN if stop.nodes is None else grouped(stop.nodes),
        where_words(stop),
        str(stop.place),
    )


class StopsModel(HeadedModel):
    """One row for each stop."""

    kind_chosen = Signal(str, str)  # the key of a stop, and its kind; AS_SAID: as the file has it

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._stops: tuple[Stop, ...] = ()
        self._theme = LIGHT
        self._icons: dict[tuple[str, bool], QIcon] = {}

    @property
    def stops(self) -> tuple[Stop, ...]:
        """Those that are shown, in time."""
        return self._stops

    def show_stops(self, stops: Sequence[Stop], theme: Theme) -> None:
        """Take the stops of a record; rows keep their places where only what they are has changed."""
        if theme is not self._theme:
            self._theme, self._icons = theme, {}
        is_same = [stop.key for stop in stops] == [stop.key for stop in self._stops]
        if not is_same:
            self.beginResetModel()
        self._stops = tuple(stops)
        if not is_same:
            self.endResetModel()
        elif stops:
            self.dataChanged.emit(self.index(0, 0), self.index(len(stops) - 1, FILE))

    @override
    def headings(self) -> Sequence[str]:
        return headings()

    @override
    def is_number(self, column: int) -> bool:
        return column == NODES

    @override
    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self._stops)

    @override
    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not 0 <= index.row() < len(self._stops):
            return None
        stop, column = self._stops[index.row()], index.column()
        if role == Qt.ItemDataRole.DisplayRole:
            return row_texts(stop)[column]
        if role == Qt.ItemDataRole.EditRole:
            return stop.kind if column == KIND else row_texts(stop)[column]
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return self.alignment(column)
        if role == Qt.ItemDataRole.ForegroundRole:
            return None if stop.is_counted else QColor(self._theme.muted)
        if role == Qt.ItemDataRole.FontRole:
            return font(bold=True) if stop.is_reclassified and column == KIND else None
        if role == Qt.ItemDataRole.DecorationRole:
            return self.icon(stop.kind, is_filled=stop.is_counted) if column == KIND else None
        if role == Qt.ItemDataRole.ToolTipRole:
            return stop_words(stop)
        return None

    def icon(self, kind: str, *, is_filled: bool) -> QIcon:
        """The mark of a kind, made once."""
        key = kind, is_filled
        if key not in self._icons:
            self._icons[key] = kind_icon(kind, self._theme, is_filled=is_filled)
        return self._icons[key]

    @override
    def flags(self, index: Index) -> Qt.ItemFlag:
        flags = super().flags(index)
        return flags | Qt.ItemFlag.ItemIsEditable if index.column() == KIND else flags

    @override
    def setData(self, index: Index, value: Any, role: int = Qt.ItemDataRole.EditRole) -> bool:
        """Propose another kind; it shows once the record comes back with it."""
        stop = self._stops[index.row()]
        if value == stop.kind:
            return False
        self.kind_chosen.emit(stop.key, str(value))
        return True


class KindDelegate(QStyledItemDelegate):
    """The list of kinds in the cell, and the chevron that invites to open it."""

    @override
    def createEditor(self, parent: QWidget, option: QStyleOptionViewItem, index: Index) -> QWidget:
        model = index.model()
        assert isinstance(model, StopsModel)
        stop = model.stops[index.row()]
        box = QComboBox(parent)
        box.setObjectName("evidence.kind")
        box.setAccessibleName(say("What it was"))
        box.setIconSize(QSize(14, 14))
        box.setMaxVisibleItems(10)
        for kind in KIND_TITLES:
            box.addItem(model.icon(kind, is_filled=True), kind_word(kind), kind)
        if stop.is_reclassified:
            box.addItem(say("as the file says"), AS_SAID)
        widest = max(width_of(kind_word(kind), BODY_PX) for kind in KIND_TITLES)
        box.view().setMinimumWidth(round(widest) + 48)  # the cell is as wide as the kinds that are there
        box.activated.connect(partial(self._finish, box))
        QTimer.singleShot(0, box, box.showPopup)
        return box

    def _finish(self, box: QComboBox, _index: int) -> None:
        self.commitData.emit(box)
        self.closeEditor.emit(box)

    @override
    def updateEditorGeometry(self, editor: QWidget, option: QStyleOptionViewItem, index: Index) -> None:
        editor.setGeometry(option.rect)  # over the mark too, which the list has of its own

    @override
    def setEditorData(self, editor: QWidget, index: Index) -> None:
        if isinstance(editor, QComboBox):
            editor.setCurrentIndex(editor.findData(index.data(Qt.ItemDataRole.EditRole)))

    @override
    def setModelData(self, editor: QWidget, model: Any, index: Index) -> None:
        if isinstance(editor, QComboBox):
            model.setData(index, editor.currentData())

    @override
    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        super().paint(painter, option, index)
        if option.state & (QStyle.StateFlag.State_MouseOver | QStyle.StateFlag.State_Selected):
            model, box = index.model(), option.rect
            assert isinstance(model, StopsModel)
            colour = option.palette.color(option.palette.ColorRole.PlaceholderText)
            paint_chevron(painter, QPointF(box.right() - 9, box.center().y() + 1), colour)


class StopsTable(QTableView):
    """The table itself."""

    chosen = Signal(int)
    kind_chosen = Signal(str, str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("evidence.stops")
        self.setAccessibleName(say("Stops"))
        self._cells = StopsModel(self)
        self.setModel(self._cells)
        self.setItemDelegateForColumn(KIND, KindDelegate(self))
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setMouseTracking(True)
        self.setIconSize(QSize(14, 14))
        self.setTabKeyNavigation(False)
        self.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerItem)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        rows = self.verticalHeader()
        rows.hide()
        rows.setMinimumSectionSize(ROW_PX)
        rows.setDefaultSectionSize(ROW_PX)
        rows.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        header = self.horizontalHeader()
        header.setHighlightSections(False)
        header.setSectionsClickable(False)
        header.setMinimumSectionSize(36)
        header.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self._cells.kind_chosen.connect(self.kind_chosen)
        self.selectionModel().currentRowChanged.connect(self._on_row)

    # ------------------------------------------------------------ what is shown

    def show_stops(self, stops: Sequence[Stop], theme: Theme) -> None:
        """Show these stops; the one that was current stays so while it is there."""
        row = self.currentIndex().row()
        key = self._cells.stops[row].key if 0 <= row < len(self._cells.stops) else ""
        self._cells.show_stops(stops, theme)
        place = next((index for index, stop in enumerate(stops) if stop.key == key), -1) if key else -1
        if place >= 0 and place != self.currentIndex().row():
            self.choose(place)
        self._fit()

    def choose(self, row: int) -> None:
        """Make a stop the current one and bring it into sight."""
        index = self._cells.index(row, KIND)
        self.setCurrentIndex(index)
        self.scrollTo(index)

    def texts(self) -> tuple[list[str], list[list[str]]]:
        """Heads and rows as they are copied, with whether each stop counts."""
        heads = [*headings(), say("Counts")]
        return heads, [[*row_texts(stop), counts_word(stop)] for stop in self._cells.stops]

    def _fit(self) -> None:
        """Give the columns their widths: what has few letters gets what it needs, the words of the file the rest."""
        heads = headings()
        stops = self._cells.stops[:: max(len(self._cells.stops) // 200, 1)]
        there = {stop.kind for stop in self._cells.stops}
        kinds = max([width_of(heads[KIND]), *(width_of(kind_word(kind), BODY_PX, bold=True) for kind in there)])
        most = {
            WHEN: width_of("2026-12-28 20:48", BODY_PX) + 26,
            KIND: kinds + 58,
            NODES: max([width_of(heads[NODES]), *(width_of(row_texts(stop)[NODES], BODY_PX) for stop in stops)]) + 20,
            WHERE: max([width_of(heads[WHERE]), *(width_of(where_words(stop), BODY_PX) for stop in stops)]) + 24,
            FILE: max([width_of(heads[FILE]), *(width_of(str(stop.place), BODY_PX) for stop in stops)]) + 24,
        }
        room = self.viewport().width()
        most[WHERE] = min(most[WHERE], max(room * 0.2, 60))
        most[FILE] = min(most[FILE], max(room * 0.26, _LEAST_FILE))
        for column, least in ((WHERE, 60.0), (FILE, float(_LEAST_FILE))):
            over = sum(math.ceil(wide) for wide in most.values()) + _LEAST_SAID - room
            most[column] -= max(min(over, most[column] - least), 0)
        for column, wide in most.items():
            self.setColumnWidth(column, math.ceil(wide))
        self.setColumnWidth(SAID, max(room - sum(math.ceil(wide) for wide in most.values()), _LEAST_SAID))

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    # ------------------------------------------------------------ hands

    def _on_row(self, now: QModelIndex, _: QModelIndex) -> None:
        if now.isValid():
            self.chosen.emit(now.row())

    def open_kinds(self) -> None:
        """Open the list of kinds of the current stop."""
        row = self.currentIndex().row()
        if row >= 0 and self.state() != QAbstractItemView.State.EditingState:
            index = self._cells.index(row, KIND)
            self.setCurrentIndex(index)
            self.edit(index)

    @override
    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        super().mouseReleaseEvent(event)
        index = self.indexAt(event.position().toPoint())
        if event.button() == Qt.MouseButton.LeftButton and index.isValid() and index.column() == KIND:
            self.open_kinds()

    @override
    def event(self, event: QEvent) -> bool:
        # F2 opens a cell here; elsewhere it is a shortcut of the window
        if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent) and event.key() in _KEYS:
            event.accept()
            return True
        return super().event(event)

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in _KEYS and self.state() != QAbstractItemView.State.EditingState:
            self.open_kinds()
        else:
            super().keyPressEvent(event)
