"""A part of the column that folds: a header with a chevron and a title, rows below, the rarer ones behind "5 more"."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QSize, Qt, Signal
from PySide6.QtGui import QFocusEvent, QPainter, QPaintEvent, QPalette
from PySide6.QtWidgets import QAbstractButton, QApplication, QHBoxLayout, QPushButton, QVBoxLayout, QWidget
from typing_extensions import override

from ckptplanner.ui.theme import EDGE, GRID, HEADER_HEIGHT, font
from ckptplanner.ui.widgets.choice_edit import paint_chevron
from ckptplanner.ui.words import say


class _Header(QAbstractButton):
    """The bar on top; a click folds."""

    def __init__(self, title: str) -> None:
        super().__init__()
        self.setText(title)
        self.setCheckable(True)
        self.setChecked(True)
        self.setFixedHeight(HEADER_HEIGHT)
        self.setFont(font(bold=True))
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setAccessibleName(title)
        self._is_reached_by_key = False

    @override
    def focusInEvent(self, event: QFocusEvent) -> None:
        """Only who came by key needs to see where the focus is."""
        super().focusInEvent(event)
        self._is_reached_by_key = event.reason() in (Qt.FocusReason.TabFocusReason, Qt.FocusReason.BacktabFocusReason)

    @override
    def sizeHint(self) -> QSize:
        return QSize(0, HEADER_HEIGHT)

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        palette, role = QApplication.palette(), QPalette.ColorRole
        painter = QPainter(self)
        painter.fillRect(self.rect(), palette.color(role.Window))
        painter.setPen(palette.color(role.Accent if self.hasFocus() and self._is_reached_by_key else role.Midlight))
        painter.drawLine(0, self.height() - 1, self.width(), self.height() - 1)
        painter.drawLine(0, 0, self.width(), 0)
        colour = palette.color(role.Text)
        paint_chevron(painter, QPointF(EDGE + 6, self.height() / 2), colour, is_open=self.isChecked())
        painter.setPen(colour)
        place = self.rect().adjusted(EDGE + 20, 0, 0, 0)
        painter.drawText(place, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, self.text())


class Section(QWidget):
    """Rows under a header. Those added as `rare` are shown once "more" is clicked."""

    rows_shown = Signal()  # some that were hidden are seen now

    def __init__(self, title: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._header = _Header(title)
        self._more = QPushButton()
        self._more.setProperty("role", "source")
        self._more.setCheckable(True)
        self._more.setCursor(Qt.CursorShape.PointingHandCursor)
        self._body, self._rare = QWidget(), QWidget()
        self._rare_rows: list[QWidget] = []
        self._is_filtered = False
        self._common = self._column(self._body, GRID)
        self._rest = self._column(self._rare, 0)
        self._common.addWidget(self._rare)
        self._rare.hide()
        bar = QHBoxLayout(self._header)
        bar.setContentsMargins(0, 0, EDGE, 0)
        bar.addStretch(1)
        bar.addWidget(self._more)
        column = self._column(self, 0)
        column.addWidget(self._header)
        column.addWidget(self._body)
        self._header.toggled.connect(self.set_unfolded)
        self._more.toggled.connect(self.set_more_shown)
        self.count_rows()

    def _column(self, holder: QWidget, margin: int) -> QVBoxLayout:
        column = QVBoxLayout(holder)
        column.setContentsMargins(0, margin, 0, margin)
        column.setSpacing(0)
        return column

    def add_row(self, row: QWidget, *, rare: bool = False) -> None:
        """Add a row at the end of the shown ones, or behind "more"."""
        if rare:
            self._rest.addWidget(row)
            self._rare_rows.append(row)
            self.count_rows()
        else:
            self._common.insertWidget(self._common.count() - 1, row)

    @property
    def is_unfolded(self) -> bool:
        """Whether the rows are shown."""
        return self._header.isChecked()

    @property
    def is_more_shown(self) -> bool:
        """Whether the rare rows are shown as well."""
        return self._more.isChecked()

    def set_unfolded(self, is_unfolded: bool) -> None:
        """Show or hide the rows."""
        self._header.setChecked(is_unfolded)
        self._body.setVisible(is_unfolded)
        self.count_rows()
        if is_unfolded:
            self.rows_shown.emit()

    def set_more_shown(self, is_shown: bool) -> None:
        """Show or hide the rare rows."""
        self._more.setChecked(is_shown)
        self._rare.setVisible(is_shown or self._is_filtered)
        self.count_rows()
        if is_shown:
            self.rows_shown.emit()

    def show_filtered(self, is_filtered: bool) -> None:
        """While rows are filtered the rare ones stand among the others, and a section without rows is not there."""
        self._is_filtered = is_filtered
        self._rare.setVisible(is_filtered or self.is_more_shown)
        self.count_rows()
        if is_filtered:
            self.rows_shown.emit()

    def reveal(self, row: QWidget) -> None:
        """Unfold what hides `row`."""
        self.set_unfolded(True)
        if self._rare.isAncestorOf(row):
            self.set_more_shown(True)

    def count_rows(self) -> None:
        """Say how many rare rows there are, after some were shown or hidden."""
        count = sum(not row.isHidden() for row in self._rare_rows)
        text = say("fewer") if self.is_more_shown else say("{count} more", count=count)
        if text != self._more.text():
            self._more.setText(text)
        self._more.setVisible(count > 0 and self.is_unfolded and not self._is_filtered)
