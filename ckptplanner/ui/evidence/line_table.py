"""A table whose cells have two lines each, with groups, a remark below a row where there is one, and an action at its end.

    Group
    Interrupted every           267 h     200 h    −$1,240   Adopt
    sacct.txt, line 12     201 to 362 h   guess
    Rarer than in any published record: are some tries missing in the files?

It knows nothing of what it shows: a `Line` has all the words. Space, Enter, a click on the action or a double click act.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from PySide6.QtCore import QEvent, QModelIndex, QPoint, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QMouseEvent, QPainter, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QWidget,
)
from typing_extensions import override

from ckptplanner.ui.ink import lines_of, pen, tick, width_of, write
from ckptplanner.ui.theme import BODY_PX, LIGHT, SMALL_PX, Theme
from ckptplanner.ui.widgets.headed_model import HeadedModel, Index

Tone = Literal["text", "muted", "accent", "warning", "error"]
LINE_ROLE = Qt.ItemDataRole.UserRole
GROUP_PX, LINE_PX = 24, 16
_EDGE, _GAP, _LEFT = 16, 12, 28  # of the first and the last column, between columns, of rows under their group
_INSET = 6  # of headings too, see theme.py
_MOST_ROWS, _FAR = 0.85, 1.5  # of the rows; what is so much longer makes no column wider where there is little room
_BARE_PX = 6  # a row that has nothing but a remark, without it


@dataclass(frozen=True, slots=True)
class Cell:
    """What stands in a cell: a line, and a small one below it."""

    first: str = ""
    second: str = ""
    tone: Tone = "text"
    second_tone: Tone = "muted"
    is_bold: bool = False
    is_small: bool = False
    is_ticked: bool = False  # with a tick before it
    is_stale: bool = False


@dataclass(frozen=True, slots=True)
class Line:
    """One row, or the title of a group; `item` is what it stands for."""

    key: str  # what tells it from all others
    cells: tuple[Cell, ...]
    item: object = None
    remark: str = ""
    remark_tone: Tone = "muted"
    tip: str = ""
    is_group: bool = False
    can_act: bool = False  # whether the last cell is a link


@dataclass(frozen=True, slots=True)
class Column:
    """One column: its heading, its side, and how narrow and wide it may be. [px]"""

    heading: str
    least: int
    most: int
    is_right: bool = False


class LineModel(HeadedModel):
    """Lines as rows."""

    def __init__(self, columns: Sequence[Column], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.columns = tuple(columns)
        self.lines: tuple[Line, ...] = ()

    def show_lines(self, lines: Sequence[Line]) -> None:
        """Take the lines; where their keys are the same the choice stays."""
        is_same = [line.key for line in lines] == [line.key for line in self.lines]
        if not is_same:
            self.beginResetModel()
        self.lines = tuple(lines)
        if not is_same:
            self.endResetModel()
        elif lines:
            self.dataChanged.emit(self.index(0, 0), self.index(len(lines) - 1, len(self.columns) - 1))

    @override
    def headings(self) -> Sequence[str]:
        return [column.heading for column in self.columns]

    @override
    def is_number(self, column: int) -> bool:
        return self.columns[column].is_right

    @override
    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self.lines)

    @override
    def flags(self, index: Index) -> Qt.ItemFlag:
        if index.isValid() and self.lines[index.row()].is_group:
            return Qt.ItemFlag.NoItemFlags  # the arrows go past it
        return super().flags(index)

    @override
    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not 0 <= index.row() < len(self.lines):
            return None
        line = self.lines[index.row()]
        if role == LINE_ROLE:
            return line
        if role == Qt.ItemDataRole.ToolTipRole:
            return line.tip or None
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return self.alignment(index.column())
        if index.column() >= len(line.cells):
            return None
        cell = line.cells[index.column()]
        if role == Qt.ItemDataRole.DisplayRole:
            return cell.first
        if role == Qt.ItemDataRole.AccessibleTextRole:
            remark = line.remark if index.column() == 0 else ""
            return ", ".join(part for part in (cell.first, cell.second, remark) if part)
        return None


class LinePainter(QStyledItemDelegate):
    """Paints a cell; the remark below a row is painted by every cell of it, each its own part."""

    def __init__(self, parent: QTableView, columns: Sequence[Column], row_px: int, most_lines: int) -> None:
        super().__init__(parent)
        self.theme = LIGHT
        self.hovered = -1
        self._view, self._columns = parent, tuple(columns)
        self.row_px, self._most_lines = row_px, most_lines

    def _remark(self, line: Line) -> list[str]:
        room = self._view.viewport().width() - _LEFT - _EDGE
        return lines_of(line.remark, room, self._most_lines) if line.remark and room > 40 else []

    def height_of(self, line: Line) -> int:
        """How tall a row is. [px]"""
        remark = self._remark(line)
        return GROUP_PX if line.is_group else self._base_of(line) + (LINE_PX * len(remark) + 1 if remark else 0)

    def _base_of(self, line: Line) -> int:
        return self.row_px if line.cells else _BARE_PX

    @override
    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(40, self.row_px)

    def _colour(self, tone: Tone) -> str:
        return str(getattr(self.theme, tone))

    @override
    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        room, line, column = QRectF(option.rect), index.data(LINE_ROLE), index.column()
        assert isinstance(line, Line)
        painter.save()
        painter.setClipRect(room)
        if line.is_group:
            painter.fillRect(room, QColor(self.theme.header))
            whole = QRectF(_EDGE, room.top(), self._view.viewport().width() - 2 * _EDGE, room.height())
            write(painter, whole, line.cells[0].first, self.theme.text, bold=True)
        else:
            self._paint_ground(painter, room, option, index)
            if column < len(line.cells):
                self._paint_cell(painter, room, line.cells[column], column)
            top = room.top() + self._base_of(line) - (4 if line.cells else 2)
            for at, words in enumerate(self._remark(line)):
                width = self._view.viewport().width() - _LEFT - _EDGE
                place = QRectF(_LEFT, top + LINE_PX * at, width, LINE_PX)
                write(painter, place, words, self._colour(line.remark_tone))
        painter.restore()

    def _paint_ground(self, painter: QPainter, room: QRectF, option: QStyleOptionViewItem, index: Index) -> None:
        theme = self.theme
        is_chosen = bool(option.state & QStyle.StateFlag.State_Selected)
        ground = theme.selected if is_chosen else theme.hover if index.row() == self.hovered else theme.surface
        painter.fillRect(room, QColor(ground))
        painter.setPen(pen(theme.hairline))
        bottom = room.bottom() - 0.5
        painter.drawLine(QRectF(room.left(), bottom, room.width(), 0).topLeft(), QRectF(room.right(), bottom, 0, 0).topLeft())
        if is_chosen and index.column() == 0:
            painter.fillRect(QRectF(0, room.top(), 3, room.height() - 1), QColor(theme.accent))
        if self._view.hasFocus() and index.row() == self._view.currentIndex().row():
            painter.setPen(pen(theme.accent))
            painter.drawRect(QRectF(0.5, room.top() + 0.5, self._view.viewport().width() - 1, room.height() - 2))

    def _paint_cell(self, painter: QPainter, room: QRectF, cell: Cell, column: int) -> None:
        is_last = column == len(self._columns) - 1
        left, right = (_LEFT if column == 0 else _GAP), (_EDGE if is_last else _INSET)
        inside = room.adjusted(left, 0, -right, 0)
        has_two = self.row_px > 30
        top = QRectF(inside.left(), room.top() + (4 if has_two else 1), inside.width(), 20)
        align = "right" if self._columns[column].is_right else "left"
        pixels = SMALL_PX if cell.is_small else BODY_PX
        painter.setOpacity(0.4 if cell.is_stale else 1.0)
        width = write(painter, top, cell.first, self._colour(cell.tone), pixels=pixels, align=align, bold=cell.is_bold)
        if cell.is_ticked:
            tick(painter, top.right() - width - 9, top.center().y(), self._colour(cell.tone))
        painter.setOpacity(1.0)
        if cell.second and has_two:
            below = QRectF(inside.left(), room.top() + 22, inside.width(), 16)
            write(painter, below, cell.second, self._colour(cell.second_tone), align=align)


class LineTable(QTableView):
    """The table itself; `acted` is told of what was chosen when its action is wanted."""

    acted = Signal(object)  # a tuple of the lines' items
    chosen_changed = Signal()

    def __init__(
        self, name: str, says: str, columns: Sequence[Column], *, row_px: int = 42, most_lines: int = 2,
        parent: QWidget | None = None,
    ) -> None:  # fmt: skip
        """Build it; `says` is its name for a screen reader."""
        super().__init__(parent)
        self.setObjectName(name)
        self.setAccessibleName(says)
        self._columns = tuple(columns)
        self.line_model = LineModel(columns, self)
        self._painter = LinePainter(self, columns, row_px, most_lines)
        self.setItemDelegate(self._painter)
        self.setModel(self.line_model)
        self.setProperty("role", "lines")
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setMouseTracking(True)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOn)
        self.setTabKeyNavigation(False)
        self.verticalHeader().hide()
        self.verticalHeader().setMinimumSectionSize(18)
        header = self.horizontalHeader()
        header.setHighlightSections(False)
        header.setSectionsClickable(False)
        header.setMinimumSectionSize(24)
        header.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.selectionModel().selectionChanged.connect(self.chosen_changed)

    # ------------------------------------------------------------ what is shown

    def show_lines(self, lines: Sequence[Line]) -> None:
        """Show these lines; the first row is the current one where none was."""
        if lines and tuple(lines) == self.lines:
            return
        self.line_model.show_lines(lines)
        self._fit()
        self.viewport().update()
        first = next((at for at, line in enumerate(lines) if not line.is_group), None)
        if not self.currentIndex().isValid() and first is not None:
            flags = self.selectionModel().SelectionFlag
            self.selectionModel().setCurrentIndex(self.line_model.index(first, 0), flags.ClearAndSelect | flags.Rows)
            self.scrollToTop()

    def show_theme(self, theme: Theme) -> None:
        """Take the colours of a theme."""
        self._painter.theme = theme
        self.viewport().update()

    @property
    def lines(self) -> tuple[Line, ...]:
        """All lines, from top to bottom."""
        return self.line_model.lines

    @property
    def chosen(self) -> tuple[Line, ...]:
        """The chosen lines, from top to bottom."""
        rows = sorted({index.row() for index in self.selectionModel().selectedRows()})
        return tuple(self.lines[row] for row in rows)

    @property
    def current(self) -> Line | None:
        """The line where the keys are; None where there is none."""
        at = self.currentIndex().row()
        return self.lines[at] if 0 <= at < len(self.lines) and not self.lines[at].is_group else None

    def action_place(self, key: str) -> QPoint:
        """Where the action of a line lies in the viewport."""
        row = next(at for at, line in enumerate(self.lines) if line.key == key)
        room = self.visualRect(self.line_model.index(row, len(self._columns) - 1))
        return QPoint(room.right() - _EDGE - 6, room.top() + 12)

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self._fit()

    def _wanted(self, at: int) -> tuple[int, int, int]:
        """How wide a column would be, how wide without the few far longer words in it, and for its heading alone. [px]"""
        column = self._columns[at]
        cells = [line.cells[at] for line in self.lines if not line.is_group and at < len(line.cells)]
        wide = sorted(
            max(width_of(cell.first, SMALL_PX if cell.is_small else BODY_PX, bold=cell.is_bold)
                + (16 if cell.is_ticked else 0), width_of(cell.second)) for cell in cells
        )  # fmt: skip
        around = (_LEFT if at == 0 else _GAP) + (_EDGE if at == len(self._columns) - 1 else _INSET)
        least = max(column.least, math.ceil(width_of(column.heading)))
        most = [least, *wide]
        usual = [least, *(one for one in wide if one <= _FAR * wide[int((len(wide) - 1) * _MOST_ROWS)])]
        whole, fair = (min(max(some), max(column.most, least)) for some in (most, usual))
        return math.ceil(whole) + around, math.ceil(fair) + around, max(column.least, min(least, column.most)) + around

    def _fit(self) -> None:
        """Columns as wide as they need within limits, what is spare spread over them; rows as tall as their remarks."""
        last, room = len(self._columns) - 1, self.viewport().width()
        wanted = [self._wanted(at) for at in range(last + 1)]
        widths = [whole for whole, _, _ in wanted]
        fair, least = [one for _, one, _ in wanted], [one for _, _, one in wanted]
        spare = room - sum(widths)
        if spare >= 0:
            share = spare // (last + 2)
            widths = [width + (share if 0 < at < last else 0) for at, width in enumerate(widths)]
        # one long word alone makes no column wide; then the names give way, and at last everything
        for floor in (fair, [least[0], *fair[1:]], least):
            for at in sorted(range(last), key=lambda at: floor[at] - widths[at]):
                widths[at] -= max(min(sum(widths) - room, widths[at] - floor[at]), 0)
        widths[0] += room - sum(widths)
        for at, width in enumerate(widths):
            self.setColumnWidth(at, max(width, 24))
        for at, line in enumerate(self.lines):
            if self.rowHeight(at) != (height := self._painter.height_of(line)):
                self.setRowHeight(at, height)

    # ------------------------------------------------------------ hands

    def _act(self, lines: Sequence[Line]) -> None:
        if items := tuple(line.item for line in lines if line.can_act):
            self.acted.emit(items)

    def line_at(self, place: QPoint) -> Line | None:
        """The row at a place of the viewport; None where there is none."""
        row = self.rowAt(place.y())
        return self.lines[row] if 0 <= row < len(self.lines) and not self.lines[row].is_group else None

    def _is_action(self, place: QPoint) -> bool:
        return self.columnAt(place.x()) == len(self._columns) - 1

    @override
    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        super().mouseMoveEvent(event)
        place = event.position().toPoint()
        line = self.line_at(place)
        is_link = line is not None and line.can_act and self._is_action(place)
        self.viewport().setCursor(Qt.CursorShape.PointingHandCursor if is_link else Qt.CursorShape.ArrowCursor)
        self._hover(self.rowAt(place.y()))

    @override
    def leaveEvent(self, event: QEvent) -> None:
        self._hover(-1)
        super().leaveEvent(event)

    def _hover(self, row: int) -> None:
        if row != self._painter.hovered:
            self._painter.hovered = row
            self.viewport().update()

    @override
    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        super().mouseReleaseEvent(event)
        place = event.position().toPoint()
        line = self.line_at(place)
        if line is not None and event.button() == Qt.MouseButton.LeftButton and self._is_action(place):
            self._act((line,))

    @override
    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        place = event.position().toPoint()
        line = self.line_at(place)
        if line is not None and event.button() == Qt.MouseButton.LeftButton and not self._is_action(place):
            self._act((line,))

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        plain = (Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.KeypadModifier)
        if event.modifiers() in plain and event.key() in (Qt.Key.Key_Space, Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._act(self.chosen)
        else:
            super().keyPressEvent(event)
