"""Plans under one another, the best first: a rank, what it is, a bar of storage and lost GPU time, what it costs.

    1     S3                                  ####::::::::            16,686    Adopt
          async, written in 44 s, every 48 min                the least, 0.47 %  As a new scenario

A row is chosen by a click or by the arrows; Enter adopts it, Shift+Enter makes a scenario of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QEnterEvent, QFocusEvent, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QPushButton, QSizePolicy, QVBoxLayout, QWidget
from typing_extensions import override

from ckptplanner.engine.optimise import Proposal
from ckptplanner.ui.decide.plan_words import Figures
from ckptplanner.ui.ink import pen, width_of, write
from ckptplanner.ui.marks import mark_icon
from ckptplanner.ui.theme import BODY_PX, LIGHT, SMALL_PX, Theme
from ckptplanner.ui.words import say

ROW_PX, BAND_PX = 48, 20
_EDGE, _RANK, _MARK, _GAP = 16, 20, 14, 12
_MONEY, _MOST_BAR = 100, 260
_BAR_FROM = 560  # below that width there is no room for bars


@dataclass(frozen=True, slots=True)
class Entry:
    """One row: a proposal, or a scenario as it is, named by `mark` and `scenario`."""

    key: str
    rank: str
    name: str
    tag: str
    how: str
    main: str  # what the plans are ranked by
    beside: str
    figures: Figures
    proposal: Proposal | None = None
    scenario: str | None = None
    mark: int | None = None
    is_current: bool = False
    is_near: bool = False  # within 1 % of the best

    @property
    def words(self) -> str:
        """All of it, for those who listen."""
        return ", ".join(part for part in (self.rank, self.name, self.tag, self.how, self.main, self.beside) if part)


class PlanRow(QWidget):
    """One row with its two links."""

    chosen = Signal(str)
    adopted = Signal(object)
    added = Signal(object)
    switched = Signal(str)
    moved = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setFixedHeight(ROW_PX)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.entry: Entry | None = None
        self._theme = LIGHT
        self._most = 1.0
        self._is_chosen = False
        self.adopt, self.add = QPushButton(self), QPushButton(self)
        for button in (self.adopt, self.add):
            button.setProperty("role", "link")
            button.setFocusPolicy(Qt.FocusPolicy.ClickFocus)  # by keys: Enter and Shift+Enter on the row
        self.adopt.clicked.connect(self._on_adopt)
        self.add.clicked.connect(self._on_add)

    @override
    def sizeHint(self) -> QSize:
        return QSize(640, ROW_PX)

    def show_entry(self, entry: Entry, most: float, theme: Theme, *, is_chosen: bool) -> None:
        """Show a row; `most` dollars fill the bar."""
        self.entry, self._most, self._theme, self._is_chosen = entry, most, theme, is_chosen
        self.setObjectName(f"plan_row.{entry.key}")
        self.setAccessibleName(entry.words)
        self.setToolTip(", ".join(part for part in (entry.name, entry.tag, entry.how) if part))
        one = entry.proposal
        self.adopt.setText(say("Adopt") if one is not None else say("Show"))
        self.add.setText(say("New scenario"))
        self.adopt.setObjectName(f"plan_row.{entry.key}.adopt")
        self.add.setObjectName(f"plan_row.{entry.key}.add")
        self.adopt.setAccessibleName(say("Adopt {name}", name=entry.name) if one is not None else
                                     say("Show {name}", name=entry.name))  # fmt: skip
        self.add.setAccessibleName(say("{name} as a new scenario", name=entry.name))
        self.adopt.setVisible(bool(one.edits) if one is not None else not entry.is_current)
        self.add.setVisible(one is not None)
        self._fit()
        self.update()

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        self._fit()

    def _fit(self) -> None:
        for top, button in ((6, self.adopt), (26, self.add)):
            width = round(width_of(button.text())) + 2
            button.setGeometry(QRect(self.width() - _EDGE - width, top, width, 16))

    # ------------------------------------------------------------ drawing

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        entry, theme = self.entry, self._theme
        if entry is None:
            return
        painter = QPainter(self)
        ground = theme.selected if self._is_chosen else theme.hover if self.underMouse() else theme.surface
        painter.fillRect(self.rect(), QColor(ground))
        painter.setPen(pen(theme.hairline))
        painter.drawLine(0, self.height() - 1, self.width(), self.height() - 1)
        if self._is_chosen:
            painter.fillRect(QRect(0, 0, 3, self.height() - 1), QColor(theme.accent))
        if self.hasFocus():
            painter.setPen(pen(theme.accent))
            painter.drawRect(QRectF(0.5, 0.5, self.width() - 1, self.height() - 2))
        write(painter, QRectF(_EDGE, 5, _RANK, 20), entry.rank, theme.muted, pixels=BODY_PX)
        if entry.mark is not None:
            icon = mark_icon(theme, entry.mark, is_filled=entry.is_current)
            icon.paint(painter, QRect(_EDGE + _RANK, 8, 14, 14))
        right = self.width() - _EDGE - self._links_width() - _GAP
        self._paint_money(painter, entry, right)
        left, end = float(_EDGE + _RANK + _MARK + 4), float(right - _MONEY - _GAP)
        bar = self._bar_width()
        if bar:
            self._paint_bar(painter, entry.figures, QRectF(end - bar, 19, bar, 8))
            end -= bar + _GAP
        self._paint_words(painter, entry, left, end)

    def _links_width(self) -> int:
        return max((round(width_of(button.text())) + 2 for button in (self.adopt, self.add)), default=0)

    def _bar_width(self) -> float:
        return 0.0 if self.width() < _BAR_FROM else min(self.width() * 0.14, _MOST_BAR)

    def _paint_words(self, painter: QPainter, entry: Entry, left: float, right: float) -> None:
        theme = self._theme
        width = write(painter, QRectF(left, 5, right - left, 20), entry.name, theme.text, pixels=BODY_PX, bold=True)
        start = left + width + 8
        if entry.tag and right - start > 30:
            write(painter, QRectF(start, 6, right - start, 20), entry.tag, theme.muted, pixels=SMALL_PX)
        write(painter, QRectF(left, 25, right - left, 16), entry.how, theme.muted, pixels=SMALL_PX)

    def _paint_money(self, painter: QPainter, entry: Entry, right: float) -> None:
        theme = self._theme
        is_best = entry.rank == "1"
        room = QRectF(right - _MONEY, 5, _MONEY, 20)
        write(painter, room, entry.main, theme.text, pixels=BODY_PX, bold=is_best, align="right")
        write(painter, QRectF(right - _MONEY, 25, _MONEY, 16), entry.beside, theme.muted, pixels=SMALL_PX, align="right")

    def _paint_bar(self, painter: QPainter, figures: Figures, room: QRectF) -> None:
        total, storage = figures.total_usd_per_year, figures.storage_usd_per_year
        if total is None or storage is None:
            return
        theme = self._theme
        whole = min(total / self._most, 1.0) * room.width()
        part = min(storage / self._most, 1.0) * room.width()
        painter.fillRect(QRectF(room.left(), room.top(), whole, room.height()), QColor(theme.hairline))
        painter.fillRect(QRectF(room.left(), room.top(), max(part, 1.0), room.height()), QColor(theme.thin))

    # ------------------------------------------------------------ hands

    def _on_adopt(self) -> None:
        entry = self.entry
        if entry is not None and entry.proposal is not None:
            self.adopted.emit(entry.proposal)
        elif entry is not None and entry.scenario is not None:
            self.switched.emit(entry.scenario)

    def _on_add(self) -> None:
        if self.entry is not None and self.entry.proposal is not None:
            self.added.emit(self.entry.proposal)

    @override
    def mousePressEvent(self, event: QMouseEvent) -> None:
        if self.entry is not None and event.button() == Qt.MouseButton.LeftButton:
            self.chosen.emit(self.entry.key)

    @override
    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            self._on_adopt()

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        key, is_shift = event.key(), bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        if key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            (self._on_add if is_shift else self._on_adopt)()
        elif key in (Qt.Key.Key_Up, Qt.Key.Key_Down):
            self.moved.emit(-1 if key == Qt.Key.Key_Up else 1)
        elif key == Qt.Key.Key_Space and self.entry is not None:
            self.chosen.emit(self.entry.key)
        else:
            super().keyPressEvent(event)

    @override
    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        by_keys = event.reason() in (Qt.FocusReason.TabFocusReason, Qt.FocusReason.BacktabFocusReason)
        if self.entry is not None and (by_keys or event.reason() == Qt.FocusReason.OtherFocusReason):
            self.chosen.emit(self.entry.key)
        self.update()

    @override
    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.update()

    @override
    def enterEvent(self, event: QEnterEvent) -> None:
        self.update()

    @override
    def leaveEvent(self, event: QEvent) -> None:
        self.update()


class NearBand(QWidget):
    """The line under the last plan that is hardly worse than the best."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("plan_rows.near")
        self.setFixedHeight(BAND_PX)
        self._theme, self._words = LIGHT, ""

    def show_words(self, words: str, theme: Theme) -> None:
        """Show a line."""
        self._words, self._theme = words, theme
        self.setAccessibleName(words)
        self.update()

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(self.rect(), QColor(self._theme.accent_ground))
        write(painter, QRectF(self.rect()).adjusted(_EDGE, 0, -_EDGE, 0), self._words, self._theme.accent)


class PlanRows(QWidget):
    """All rows, and the line up to where plans are hardly worse than the best."""

    chosen = Signal(str)
    adopted = Signal(object)
    added = Signal(object)
    switched = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("plan_rows")
        self.entries: tuple[Entry, ...] = ()
        self._rows: list[PlanRow] = []
        self._band = NearBand()
        self._box = QVBoxLayout(self)
        self._box.setContentsMargins(0, 0, 0, 0)
        self._box.setSpacing(0)
        self._box.addWidget(self._band)

    def show_entries(self, entries: Sequence[Entry], chosen: str, near: str, theme: Theme) -> None:
        """Show rows in their order, the chosen one lit; `near` is said under the last of those within 1 %, if at all."""
        self.entries = tuple(entries)
        self._box.removeWidget(self._band)  # so that rows alone are counted
        while len(self._rows) < len(entries):
            self._rows.append(self._made())
        most = max((one.figures.total_usd_per_year or 0.0 for one in entries), default=1.0) or 1.0
        for row, entry in zip(self._rows, entries, strict=False):
            row.show_entry(entry, most, theme, is_chosen=entry.key == chosen)
            row.setVisible(True)
        for row in self._rows[len(entries) :]:
            row.setVisible(False)
        last = max((at for at, one in enumerate(entries) if one.is_near), default=-1)
        self._band.setVisible(bool(near) and last >= 0)
        self._band.show_words(near, theme)
        self._box.insertWidget(last + 1, self._band)

    def _made(self) -> PlanRow:
        row = PlanRow()
        row.chosen.connect(self.chosen)
        row.adopted.connect(self.adopted)
        row.added.connect(self.added)
        row.switched.connect(self.switched)
        row.moved.connect(self._on_moved)
        self._box.insertWidget(len(self._rows), row)
        return row

    def row_of(self, key: str) -> PlanRow | None:
        """The row of that key."""
        return next((row for row in self._rows if row.isVisibleTo(self) and row.entry and row.entry.key == key), None)

    def _on_moved(self, by: int) -> None:
        rows = [row for row in self._rows if row.isVisibleTo(self)]
        at = next((index for index, row in enumerate(rows) if row.hasFocus()), None)
        if at is not None:
            rows[min(max(at + by, 0), len(rows) - 1)].setFocus(Qt.FocusReason.TabFocusReason)
