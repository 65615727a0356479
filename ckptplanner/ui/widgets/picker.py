"""A small list for what a page shows: which plan, which figure, which input. It is the state of a view and no field."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPointF, QSignalBlocker, QSize, Qt, Signal
from PySide6.QtGui import QIcon, QPainter, QPaintEvent, QPalette, QWheelEvent
from PySide6.QtWidgets import QApplication, QComboBox, QWidget
from typing_extensions import override

from ckptplanner.ui.widgets.choice_edit import paint_chevron

_CHEVRON = 20  # room for it [px]


class Picker(QComboBox):
    """Entries with a key each."""

    chosen = Signal(str)

    def __init__(self, name: str, says: str, parent: QWidget | None = None) -> None:
        """Build it; `says` is its name for a screen reader."""
        super().__init__(parent)
        self._entries: tuple[tuple[str, str], ...] = ()
        self.setObjectName(name)
        self.setAccessibleName(says)
        self.setIconSize(QSize(14, 14))
        self.setFixedHeight(24)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMaxVisibleItems(20)
        self.activated.connect(self._on_activated)

    def show_entries(self, entries: Sequence[tuple[str, str]], key: str, icons: Sequence[QIcon] = ()) -> None:
        """Offer keys and what they are called, and show which one holds."""
        with QSignalBlocker(self):
            if tuple(entries) != self._entries:
                self._entries = tuple(entries)
                self.clear()
                for _, label in entries:
                    self.addItem(label)
            for index, one in enumerate(icons):
                self.setItemIcon(index, one)
            self.setCurrentIndex(next((index for index, one in enumerate(self._entries) if one[0] == key), -1))
        self.updateGeometry()

    @property
    def key(self) -> str:
        """The key that holds; empty where none does."""
        index = self.currentIndex()
        return self._entries[index][0] if 0 <= index < len(self._entries) else ""

    def choose(self, key: str) -> None:
        """Choose an entry as a hand would."""
        index = next(index for index, one in enumerate(self._entries) if one[0] == key)
        self.setCurrentIndex(index)
        self._on_activated(index)

    def _on_activated(self, index: int) -> None:
        self.chosen.emit(self._entries[index][0])

    @override
    def sizeHint(self) -> QSize:
        widest = max((self.fontMetrics().horizontalAdvance(label) for _, label in self._entries), default=40)
        has_icons = any(not self.itemIcon(index).isNull() for index in range(self.count()))
        return QSize(widest + (20 if has_icons else 0) + 16 + _CHEVRON, 24)

    @override
    def minimumSizeHint(self) -> QSize:
        return QSize(min(self.sizeHint().width(), 120), 24)

    @override
    def wheelEvent(self, event: QWheelEvent) -> None:
        event.ignore()  # it would change the page under a hand that scrolls

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        colour = QApplication.palette().color(QPalette.ColorRole.PlaceholderText)
        paint_chevron(QPainter(self), QPointF(self.width() - 11, self.height() / 2), colour)
