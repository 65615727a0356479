"""The heads of a table of scenarios: marks and names above the columns, titles in groups beside the rows."""

from __future__ import annotations

from PySide6.QtCore import QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QEnterEvent, QMouseEvent, QPainter
from PySide6.QtWidgets import QHeaderView, QWidget
from typing_extensions import override

from ckptplanner.ui.decide.grid import Grid, GridModel, Row
from ckptplanner.ui.ink import pen, width_of, write
from ckptplanner.ui.marks import mark_icon
from ckptplanner.ui.theme import BODY_PX, LIGHT, SMALL_PX, Theme
from ckptplanner.ui.words import say

HEAD_PX, ROW_PX, GROUP_PX, TITLE_WIDTH = 30, 22, 28, 164
_EDGE, _MARK, _INDENT = 8, 14, 12
_UP, _DOWN = "▲", "▼"


class ColumnHead(QHeaderView):
    """One name with its mark for each column; the current one is underlined; base, pinned and error are said."""

    def __init__(self, model: GridModel, parent: QWidget | None = None) -> None:
        super().__init__(Qt.Orientation.Horizontal, parent)
        self._grid_model = model
        self._theme = LIGHT
        self.setSectionsClickable(True)
        self.setHighlightSections(False)
        self.setFixedHeight(HEAD_PX)
        self.setMinimumSectionSize(60)

    def show_theme(self, theme: Theme) -> None:
        """Take the colours of a theme."""
        self._theme = theme
        self.viewport().update()

    @override
    def paintSection(self, painter: QPainter, rect: QRect, logical: int) -> None:
        grid, theme = self._grid_model.grid, self._theme
        if not 0 <= logical < len(grid.heads):
            return
        head, room = grid.heads[logical], QRectF(rect)
        painter.save()
        painter.fillRect(rect, QColor(theme.surface))
        left = room.left() + _EDGE
        if head.index is not None:
            mark_icon(theme, head.index, is_filled=head.is_current).paint(
                painter, QRect(int(left), rect.center().y() - _MARK // 2 + 1, _MARK, _MARK)
            )
            left += _MARK + 5
        right = room.right() - _EDGE
        place = say("base") if head.is_base else say("pinned") if head.is_pinned else ""
        for said, colour in ((place, theme.muted), (say("error") if head.is_broken else "", theme.error)):
            if said:
                width = width_of(said)
                write(painter, QRectF(right - width, room.top(), width, room.height()), said, colour, align="right")
                right -= width + 6
        write(painter, QRectF(left, room.top(), right - left, room.height()), head.name, theme.text, pixels=BODY_PX, bold=True)
        painter.setPen(pen(theme.hairline))
        painter.drawLine(rect.bottomLeft(), rect.bottomRight())
        painter.drawLine(rect.topLeft(), rect.bottomLeft())
        if head.is_current and head.index is not None:
            line = QRect(rect.left() + 1, rect.bottom() - 1, rect.width() - 1, 2)
            painter.fillRect(line, QColor(theme.mark(head.index).colour))
        painter.restore()


class RowHead(QHeaderView):
    """One title for each row; groups stand out, parts are set in, and the row that sorts shows which way."""

    sort_requested = Signal(str)

    def __init__(self, model: GridModel, parent: QWidget | None = None) -> None:
        super().__init__(Qt.Orientation.Vertical, parent)
        self._grid_model = model
        self._theme = LIGHT
        self._sorted = ("", False)
        self._hovered = -1
        self.setSectionsClickable(True)
        self.setHighlightSections(False)
        self.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.setMinimumSectionSize(ROW_PX)
        self.setDefaultSectionSize(ROW_PX)
        self.setFixedWidth(TITLE_WIDTH)
        self.setMouseTracking(True)
        self.sectionClicked.connect(self._on_clicked)

    def show_theme(self, theme: Theme) -> None:
        """Take the colours of a theme."""
        self._theme = theme
        self.viewport().update()

    def show_sorted(self, row_id: str, *, is_up: bool) -> None:
        """Show which row sorts the columns, and whether the first one is the least; empty: none does."""
        self._sorted = (row_id, is_up)
        self.viewport().update()

    def _on_clicked(self, section: int) -> None:
        row = self._row(section)
        if row is not None and row.sort:
            self.sort_requested.emit(row.id)

    def _row(self, section: int) -> Row | None:
        rows = self._grid_model.grid.rows
        return rows[section] if 0 <= section < len(rows) else None

    @override
    def sizeHint(self) -> QSize:
        return QSize(TITLE_WIDTH, super().sizeHint().height())

    @override
    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        super().mouseMoveEvent(event)
        self._hover(self.logicalIndexAt(event.position().toPoint()))

    @override
    def leaveEvent(self, event: QEnterEvent) -> None:  # type: ignore[override]
        super().leaveEvent(event)
        self._hover(-1)

    def _hover(self, section: int) -> None:
        if section != self._hovered:
            self._hovered = section
            row = self._row(section)
            can_sort = row is not None and bool(row.sort)
            self.viewport().setCursor(Qt.CursorShape.PointingHandCursor if can_sort else Qt.CursorShape.ArrowCursor)
            self.viewport().update()

    @override
    def paintSection(self, painter: QPainter, rect: QRect, logical: int) -> None:
        row, theme, room = self._row(logical), self._theme, QRectF(rect)
        if row is None:
            return
        painter.save()
        if row.kind == "group":
            painter.fillRect(rect, QColor(theme.header))
            painter.setClipping(False)
            write(painter, room.adjusted(16, 0, -4, 0), row.title, theme.text, pixels=BODY_PX, bold=True)
            painter.restore()
            return
        is_hovered = logical == self._hovered and bool(row.sort)
        painter.fillRect(rect, QColor(theme.hover if is_hovered else theme.surface))
        left = 16 + (_INDENT if row.is_part else 0)
        colour = theme.muted if row.is_part else theme.text
        sign = ""
        if row.id == self._sorted[0]:
            sign, colour = (_UP if self._sorted[1] else _DOWN), theme.accent
        write(painter, room.adjusted(left, 0, -18, 0), row.title, colour, pixels=BODY_PX)
        if sign:
            write(painter, room.adjusted(room.width() - 18, 0, -4, 0), sign, theme.accent, pixels=SMALL_PX, align="right")
        if row.begins:
            painter.setPen(pen(theme.hairline))
            painter.drawLine(room.topLeft(), room.topRight())
        painter.restore()


def corner_width(grid: Grid) -> int:
    """How wide the titles are at most, between limits."""
    widest = max((width_of(row.title, BODY_PX) + (_INDENT if row.is_part else 0) for row in grid.rows), default=0.0)
    return int(min(max(widest + 16 + 22, TITLE_WIDTH), 220))
