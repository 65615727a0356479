"""Scenarios as columns of a table: base and pinned ones stay at the left, the others scroll and are dragged into order.

    titles | base   pinned | others ->                two views on the two parts of one grid, scrolled together

Everything a pointer does has a key: S sorts by the row, P pins the column, B makes it the base, Enter shows it, Ctrl and an
arrow move it, F goes to the field of an input. The table proposes and waits to be shown what became of it.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QModelIndex, QPoint, QRect, QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QColor, QKeyEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHBoxLayout,
    QHeaderView,
    QLineEdit,
    QMenu,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QVBoxLayout,
    QWidget,
)
from typing_extensions import override

from ckptplanner.ui.decide.grid import CELL_ROLE, NOTHING, Cell, Grid, GridModel, Index, Row
from ckptplanner.ui.decide.heads import GROUP_PX, ROW_PX, ColumnHead, RowHead, corner_width
from ckptplanner.ui.ink import box, pen, tick, width_of, write
from ckptplanner.ui.theme import BODY_PX, LIGHT, Theme
from ckptplanner.ui.words import say

_EDGE, _SHARE, _TICK = 8, 52, 14
BASE_WIDTH, MOST_BASE, LEAST_WIDTH, LEAST_PLAIN, MOST_WIDTH = 136, 200, 148, 104, 300
WIDE_FROM = 196  # from here on a difference has room beside its share
_MOVES = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}


class CellPainter(QStyledItemDelegate):
    """Paints a cell: the value at the left, the difference and its share at the right, a tick where it is better."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.theme = LIGHT

    @override
    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        model = index.model()
        assert isinstance(model, GridModel)
        row, room, theme = model.grid.rows[index.row()], QRectF(option.rect), self.theme
        cell = index.data(CELL_ROLE)
        painter.save()
        if not isinstance(cell, Cell):
            painter.fillRect(room, QColor(theme.header))
            painter.restore()
            return
        state = option.state
        if state & QStyle.StateFlag.State_Selected:
            painter.fillRect(room, QColor(theme.selected))
        painter.setPen(pen(theme.hairline))
        painter.drawLine(room.topLeft(), room.bottomLeft())
        if row.begins:
            painter.drawLine(room.topLeft(), room.topRight())
        head = model.grid.heads[index.column()]
        if cell.is_marked and head.index is not None:
            box(painter, room.adjusted(3, 2, -2, -2), theme.mark(head.index).ground)
        self._write(painter, room.adjusted(_EDGE, 0, -_EDGE, 0), cell)
        if state & QStyle.StateFlag.State_HasFocus:
            box(painter, room.adjusted(1, 0, 0, 0), "", theme.accent, 2)
        painter.restore()

    def _write(self, painter: QPainter, room: QRectF, cell: Cell) -> None:
        theme = self.theme
        colour = theme.muted if cell.is_quiet else theme.text
        left = self._beside(painter, room, cell)
        write(painter, QRectF(room.left(), room.top(), left - room.left(), room.height()), cell.shown, colour,
              pixels=BODY_PX, bold=cell.is_strong)  # fmt: skip

    def _beside(self, painter: QPainter, room: QRectF, cell: Cell) -> float:
        """Write the small type; return where it begins, so that the value keeps to its left."""
        theme, right = self.theme, room.right()
        tone = {"better": theme.accent, "worse": theme.warning, "": theme.muted}[cell.tone]
        is_wide = room.width() + 2 * _EDGE >= WIDE_FROM
        parts = [(cell.share, _SHARE)] if cell.share else []
        if cell.difference and (is_wide or not cell.share):
            parts.append((cell.difference, 0))
        for words, least in parts:
            width = width_of(words)
            write(painter, QRectF(right - width, room.top(), width, room.height()), words, tone, align="right")
            right -= max(width + 6.0, least)
        if cell.tone == "better":
            tick(painter, right - 6, room.center().y(), tone)
            right -= _TICK
        return right - 4 if right < room.right() else room.right()

    @override
    def createEditor(self, parent: QWidget, option: QStyleOptionViewItem, index: Index) -> QWidget:
        edit = QLineEdit(parent)
        edit.setObjectName("decide.days")
        edit.setAccessibleName(say("Days of the stage"))
        return edit

    @override
    def setEditorData(self, editor: QWidget, index: Index) -> None:
        assert isinstance(editor, QLineEdit)
        editor.setText(str(index.data()))
        editor.selectAll()

    @override
    def setModelData(self, editor: QWidget, model: object, index: Index) -> None:
        assert isinstance(editor, QLineEdit)
        assert isinstance(model, GridModel)
        if editor.text() != index.data():
            model.setData(index, editor.text())


class _Part(QTableView):
    """One of the two views."""

    key_pressed = Signal(object)

    def __init__(self, name: str, model: GridModel) -> None:
        super().__init__()
        self.setObjectName(name)
        self.grid_model = model
        self._theme = LIGHT
        self._painter = CellPainter(self)  # one for each view: two that share one cannot tell whose editor is whose
        self.setItemDelegate(self._painter)
        self.setModel(model)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setFrameShape(QTableView.Shape.NoFrame)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setEditTriggers(QAbstractItemView.EditTrigger.DoubleClicked | QAbstractItemView.EditTrigger.EditKeyPressed)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setTabKeyNavigation(False)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.setCornerButtonEnabled(False)
        self.heads = ColumnHead(model)
        self.setHorizontalHeader(self.heads)
        self.heads.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.heads.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.verticalHeader().setMinimumSectionSize(ROW_PX)
        self.verticalHeader().setDefaultSectionSize(ROW_PX)

    def show_theme(self, theme: Theme) -> None:
        """Take the colours of a theme."""
        self._theme = self._painter.theme = theme
        self.heads.show_theme(theme)
        self.viewport().update()

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        """The bands of the groups and of the current row go on behind the last column."""
        painter, right = QPainter(self.viewport()), self.horizontalHeader().length() - self.horizontalHeader().offset()
        for at, row in enumerate(self.grid_model.grid.rows):
            if row.kind == "group":
                room = QRect(right, self.rowViewportPosition(at), self.viewport().width() - right, self.rowHeight(at))
                painter.fillRect(room, QColor(self._theme.header))
        painter.end()
        super().paintEvent(event)

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        event.ignore()
        self.key_pressed.emit(event)
        if not event.isAccepted():
            super().keyPressEvent(event)


class ScenarioTable(QWidget):
    """The table of a grid whose first columns stay where they are."""

    sort_requested = Signal(str)
    pin_requested = Signal(str)
    base_requested = Signal(str)
    switch_requested = Signal(str)
    order_requested = Signal(object)
    stage_requested = Signal(str)
    field_requested = Signal(str, str)  # the scenario and the path
    days_typed = Signal(str, str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("decide.table")
        self.setAccessibleName(say("Scenarios side by side"))
        self._grid, self._fixed = NOTHING, 1
        self._can_sort = True
        self._models = (GridModel(self), GridModel(self))
        self.left, self.right = _Part("decide.left", self._models[0]), _Part("decide.right", self._models[1])
        self.titles = RowHead(self._models[0])
        self.left.setVerticalHeader(self.titles)
        self.right.verticalHeader().hide()
        self.right.heads.setSectionsMovable(True)
        self.left.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.left.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.left.setAccessibleName(say("The base and what is pinned"))
        self.right.setAccessibleName(say("The other scenarios"))
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        self._beneath = QVBoxLayout()
        self._beneath.addWidget(self.left)
        row.addLayout(self._beneath)
        row.addWidget(self.right, 1)
        self._connect()

    def _connect(self) -> None:
        for view, other in ((self.left, self.right), (self.right, self.left)):
            view.key_pressed.connect(self._on_key)
            view.verticalScrollBar().valueChanged.connect(other.verticalScrollBar().setValue)
            view.heads.sectionClicked.connect(self._on_head)
            view.customContextMenuRequested.connect(self._on_menu)
            view.heads.customContextMenuRequested.connect(self._on_head_menu)
            view.clicked.connect(self._on_clicked)
            view.grid_model.typed.connect(self.days_typed)
        self.left.selectionModel().currentChanged.connect(self._on_left_current)
        self.right.selectionModel().currentChanged.connect(self._on_right_current)
        self.right.horizontalScrollBar().rangeChanged.connect(self._on_range)
        self.right.heads.sectionMoved.connect(self._on_moved)
        self.titles.sort_requested.connect(self.sort_requested)

    # ------------------------------------------------------------ what is shown

    @property
    def grid(self) -> Grid:
        """What is shown."""
        return self._grid

    def show_theme(self, theme: Theme) -> None:
        """Take the colours of a theme."""
        for part in (self.left, self.right, self.titles):
            part.show_theme(theme)

    def show_grid(self, grid: Grid, fixed: int, *, can_sort: bool) -> None:
        """Show a grid whose first `fixed` columns stay at the left."""
        self._grid, self._fixed, self._can_sort = grid, fixed, can_sort
        columns = range(len(grid.heads))
        for model, picked in zip(self._models, (columns[:fixed], columns[fixed:]), strict=True):
            model.show_grid(grid.picked(picked))
        for view in (self.left, self.right):
            for place, line in enumerate(grid.rows):
                view.setRowHeight(place, GROUP_PX if line.kind == "group" else ROW_PX)
        self.right.setVisible(len(grid.heads) > fixed)
        self.titles.setFixedWidth(corner_width(grid))
        self._share_width()

    def show_sorted(self, row_id: str, *, is_up: bool) -> None:
        """Show which row sorts the columns."""
        self.titles.show_sorted(row_id, is_up=is_up)

    def _share_width(self) -> None:
        """Give every column its width: as much as there is, between limits; the left part is as wide as it must be."""
        count = len(self._grid.heads)
        others = count - self._fixed
        if not count:
            return
        room = self.width() - self.titles.width() - self._bar_width()
        least = LEAST_WIDTH if self._can_sort else LEAST_PLAIN  # differences take their room
        base = int(min(max(room / count, min(BASE_WIDTH, least)), MOST_BASE))
        each = int(min(max((room - base) / max(count - 1, 1), least), MOST_WIDTH))
        for at in range(self._fixed):
            self.left.setColumnWidth(at, base if at == 0 else each)
        for at in range(others):
            self.right.setColumnWidth(at, each)
        self.left.setFixedWidth(self.titles.width() + base + each * (self._fixed - 1))

    def _bar_width(self) -> int:
        bar = self.right.verticalScrollBar()
        return bar.sizeHint().width() if bar.maximum() > 0 else 0

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._share_width()

    @override
    def sizeHint(self) -> QSize:
        return QSize(800, 400)

    def _on_range(self, _least: int, most: int) -> None:
        """Both parts have the same height of rows: where one has a bar below, the other keeps its room free."""
        height = self.right.horizontalScrollBar().sizeHint().height() if most > 0 else 0
        self._beneath.setContentsMargins(0, 0, 0, height)

    # ------------------------------------------------------------ hands

    def _column(self, view: _Part, column: int) -> int:
        return column if view is self.left else column + self._fixed

    def place(self) -> tuple[int, int] | None:
        """Row and column of the current cell in the whole grid."""
        for view in (self.right, self.left):
            if view.hasFocus() and view.currentIndex().isValid():
                return view.currentIndex().row(), self._column(view, view.currentIndex().column())
        return None

    def show_place(self, row: int, column: int) -> None:
        """Go to a cell of the whole grid."""
        view = self.left if column < self._fixed else self.right
        local = column if view is self.left else column - self._fixed
        view.setFocus()
        view.setCurrentIndex(view.grid_model.index(row, local))

    def _name(self, column: int) -> str | None:
        """The scenario of a column; None for a sum."""
        heads = self._grid.heads
        return heads[column].name if 0 <= column < len(heads) and heads[column].index is not None else None

    def _on_left_current(self, now: QModelIndex, _before: QModelIndex) -> None:
        self._select(self.right, now.row())

    def _on_right_current(self, now: QModelIndex, _before: QModelIndex) -> None:
        self._select(self.left, now.row())

    @staticmethod
    def _select(view: _Part, row: int) -> None:
        """The band of the row goes through both parts."""
        if row >= 0 and not view.hasFocus():
            view.selectionModel().blockSignals(True)
            view.selectRow(row)
            view.selectionModel().blockSignals(False)
            view.viewport().update()

    def _on_clicked(self, index: QModelIndex) -> None:
        row = self._grid.rows[index.row()]
        view = self.left if index.model() is self._models[0] else self.right
        name = self._name(self._column(view, index.column()))
        if row.kind == "stage" and name is not None:
            self.stage_requested.emit(name)

    def _on_head(self, section: int) -> None:
        view = self.left if self.sender() is self.left.heads else self.right
        name = self._name(self._column(view, section))
        if name is not None:
            self.switch_requested.emit(name)

    def _on_moved(self, logical: int, old: int, new: int) -> None:
        """A column was dragged: put it back, and propose the order that was meant."""
        heads = self.right.heads
        order = [heads.logicalIndex(visual) for visual in range(heads.count())]
        if order == sorted(order):
            return
        QTimer.singleShot(0, heads, lambda: self._propose(order))

    def _propose(self, order: Sequence[int]) -> None:
        heads = self.right.heads
        heads.blockSignals(True)
        for logical in range(heads.count()):
            heads.moveSection(heads.visualIndex(logical), logical)
        heads.blockSignals(False)
        self._order([self._column(self.right, at) for at in order])

    def _order(self, others: Sequence[int]) -> None:
        """Propose an order of the columns that are not fixed; those come first, as they stand."""
        names = [self._name(at) for at in (*range(self._fixed), *others)]
        self.order_requested.emit([name for name in names if name is not None])

    def _move(self, column: int, by: int) -> bool:
        """Propose that a column changes places with its neighbour."""
        others = list(range(self._fixed, len(self._grid.heads)))
        target = column + by
        if column not in others or target not in others:
            return False
        at, to = others.index(column), others.index(target)
        others[at], others[to] = others[to], others[at]
        self._order(others)
        return True

    def _on_key(self, event: QKeyEvent) -> None:
        place = self.place()
        if place is None:
            return
        row, column = place
        if self._act(event, row, column):
            event.accept()

    def _act(self, event: QKeyEvent, row: int, column: int) -> bool:
        """What a key does at a cell; False where it does nothing of ours."""
        name, line, key = self._name(column), self._grid.rows[row], event.key()
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            if key not in _MOVES:
                return False
            if self._move(column, _MOVES[Qt.Key(key)]):
                self.show_place(row, column + _MOVES[Qt.Key(key)])
            return True
        if key == Qt.Key.Key_S and line.sort:
            self.sort_requested.emit(line.id)
            return True
        if name is not None and key == Qt.Key.Key_F and line.kind == "input":
            self.field_requested.emit(name, line.id)
            return True
        if name is not None and key == Qt.Key.Key_P and self._can_sort:
            self.pin_requested.emit(name)
            return True
        if name is not None and key == Qt.Key.Key_B and self._can_sort:
            self.base_requested.emit(name)
            return True
        if name is not None and key == Qt.Key.Key_Space and line.kind == "stage":
            self.stage_requested.emit(name)
            return True
        if name is not None and key in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and not self._is_typing():
            self._enter(name, line, row, column)
            return True
        return self._step(Qt.Key(key), row, column)

    def _is_typing(self) -> bool:
        return any(view.state() == QAbstractItemView.State.EditingState for view in (self.left, self.right))

    def _enter(self, name: str, line: Row, row: int, column: int) -> None:
        """Enter types days, takes a stage in or out, and shows the scenario everywhere else."""
        if line.kind == "days":
            view = self.left if column < self._fixed else self.right
            view.edit(view.currentIndex())
        elif line.kind == "stage":
            self.stage_requested.emit(name)
        else:
            self.switch_requested.emit(name)

    def _step(self, key: Qt.Key, row: int, column: int) -> bool:
        """From one part into the other at its edge."""
        target = column + _MOVES.get(key, 0)
        crosses = (column < self._fixed) != (target < self._fixed)
        if key not in _MOVES or not crosses or not 0 <= target < len(self._grid.heads):
            return False
        self.show_place(row, target)
        return True

    # ------------------------------------------------------------ menus

    def _on_menu(self, where: QPoint) -> None:
        view = self.left if self.sender() is self.left else self.right
        index = view.indexAt(where)
        if index.isValid():
            self.menu_for(self._column(view, index.column()), index.row()).exec(view.viewport().mapToGlobal(where))

    def _on_head_menu(self, where: QPoint) -> None:
        view = self.left if self.sender() is self.left.heads else self.right
        section = view.heads.logicalIndexAt(where)
        if section >= 0:
            self.menu_for(self._column(view, section)).exec(view.heads.mapToGlobal(where))

    def menu_for(self, column: int, row: int | None = None) -> QMenu:
        """What can be done with a column, and with the row of a cell; each with its key."""
        menu, name = QMenu(self), self._name(column)
        menu.setToolTipsVisible(True)
        if name is not None:
            menu.addAction(say("Show this scenario\tEnter"), lambda: self.switch_requested.emit(name))
            if self._can_sort:
                head = self._grid.heads[column]
                base = menu.addAction(say("Compare with this one (base)\tB"), lambda: self.base_requested.emit(name))
                base.setEnabled(not head.is_base)
                words = say("Let it scroll\tP") if head.is_pinned else say("Pin it at the left\tP")
                menu.addAction(words, lambda: self.pin_requested.emit(name)).setEnabled(not head.is_base)
            menu.addAction(say("Move to the left\tCtrl+Left"), lambda: self._move(column, -1)).setEnabled(column > self._fixed)
            to_right = menu.addAction(say("Move to the right\tCtrl+Right"), lambda: self._move(column, 1))
            to_right.setEnabled(self._fixed <= column < len(self._grid.heads) - 1)
        line = None if row is None else self._grid.rows[row]
        if line is not None and (line.sort or line.kind == "input"):
            menu.addSeparator()
            menu.addAction(say("Sort by this row\tS"), lambda: self.sort_requested.emit(line.id)).setEnabled(bool(line.sort))
            if name is not None and line.kind == "input":
                menu.addAction(say("Go to its field\tF"), lambda: self.field_requested.emit(name, line.id))
        return menu
