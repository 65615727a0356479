"""The targets in groups: a click shows one, its box takes it into what is saved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRectF, QSignalBlocker, QSize, Qt, Signal
from PySide6.QtGui import QIcon, QPainter, QPalette, QPen
from PySide6.QtWidgets import (
    QApplication,
    QHeaderView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTreeWidget,
    QTreeWidgetItem,
    QWidget,
)
from typing_extensions import override

from ckptplanner.engine.plan import Severity
from ckptplanner.engine.settings.target import Target
from ckptplanner.ui.apply.prepared import TargetFiles
from ckptplanner.ui.apply.purposes import group_title, purpose
from ckptplanner.ui.theme import LIGHT, SMALL_PX, Theme, font, icon
from ckptplanner.ui.words import say, say_text, severity_word

_ID = Qt.ItemDataRole.UserRole
_NAME, _SIGN = 0, 1
_ROW, _HEAD = 24, 30


class _Rows(QStyledItemDelegate):
    """Rows of two heights: targets, and the titles of groups with air above. A ticked box keeps its frame in both themes."""

    @override
    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> None:
        super().paint(painter, option, index)
        if index.data(Qt.ItemDataRole.CheckStateRole) != Qt.CheckState.Checked.value:
            return
        shown = QStyleOptionViewItem(option)
        self.initStyleOption(shown, index)
        widget = option.widget
        box = widget.style().subElementRect(QStyle.SubElement.SE_ItemViewItemCheckIndicator, shown, widget)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(QApplication.palette().color(QPalette.ColorRole.Dark), 1))
        painter.drawRoundedRect(QRectF(box).adjusted(0.5, 0.5, -0.5, -0.5), 3, 3)
        painter.restore()

    @override
    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        is_head = index.data(_ID) is None and not index.parent().isValid()
        return QSize(super().sizeHint(option, index).width(), _HEAD if is_head else _ROW)


class TargetList(QTreeWidget):
    """Which target is shown, and which are ticked."""

    shown_changed = Signal(str)
    ticked_changed = Signal()

    def __init__(self, targets: Sequence[Target], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("apply.targets")
        self.setAccessibleName(say("Settings for"))
        self.setColumnCount(2)
        self.setHeaderHidden(True)
        self.setRootIsDecorated(False)
        self.setItemsExpandable(False)
        self.setIndentation(0)
        self.setUniformRowHeights(False)
        self.setAllColumnsShowFocus(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setItemDelegate(_Rows(self))
        self.setIconSize(QSize(14, 14))
        self.header().setStretchLastSection(False)
        self.header().setMinimumSectionSize(20)
        self.header().setSectionResizeMode(_NAME, QHeaderView.ResizeMode.Stretch)
        self.header().setSectionResizeMode(_SIGN, QHeaderView.ResizeMode.Fixed)
        self.header().resizeSection(_SIGN, 26)
        self._theme = LIGHT
        self._items: dict[str, QTreeWidgetItem] = {}
        self._worst: dict[str, Severity] = {}
        self._fill(targets)
        self.currentItemChanged.connect(self._on_current)
        self.itemChanged.connect(self._on_changed)

    def _fill(self, targets: Sequence[Target]) -> None:
        groups: dict[str, QTreeWidgetItem] = {}
        self._heads: list[QTreeWidgetItem] = []
        for target in targets:
            group = "measure" if target.id == "measure" else target.group
            if group not in groups:
                groups[group] = head = QTreeWidgetItem(self, [group_title(group)])
                head.setFlags(Qt.ItemFlag.ItemIsEnabled)
                head.setFont(_NAME, font(SMALL_PX, bold=True))
                head.setTextAlignment(_NAME, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignBottom)
                head.setExpanded(True)
                self._heads.append(head)
            item = QTreeWidgetItem(groups[group], [say_text(target.title)])
            item.setData(_NAME, _ID, target.id)
            item.setFlags(Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemIsUserCheckable)
            item.setCheckState(_NAME, Qt.CheckState.Unchecked)
            item.setToolTip(_NAME, purpose(target))
            self._items[target.id] = item
        self.expandAll()

    # ------------------------------------------------------------ what is shown

    @property
    def shown(self) -> str:
        """The id of the target that is shown; "" where there is none."""
        item = self.currentItem()
        return "" if item is None else str(item.data(_NAME, _ID) or "")

    @property
    def ticked(self) -> tuple[str, ...]:
        """The ids of the targets whose boxes are ticked, in order."""
        return tuple(one for one, item in self._items.items() if item.checkState(_NAME) == Qt.CheckState.Checked)

    def show_target(self, target_id: str) -> None:
        """Make a target the one that is shown."""
        if target_id in self._items:
            self.setCurrentItem(self._items[target_id])

    def tick(self, ids: Sequence[str]) -> None:
        """Tick these, and no others."""
        with QSignalBlocker(self):
            for one, item in self._items.items():
                item.setCheckState(_NAME, Qt.CheckState.Checked if one in ids else Qt.CheckState.Unchecked)

    def show_findings(self, targets: Mapping[str, TargetFiles]) -> None:
        """Mark the targets that cannot do all of the plan."""
        with QSignalBlocker(self):
            for one, item in self._items.items():
                found = targets[one].written.findings if one in targets else ()
                kinds: list[Severity] = [kind for kind in ("error", "warning") if any(f.severity == kind for f in found)]
                if kinds:
                    self._worst[one] = kinds[0]
                else:
                    self._worst.pop(one, None)
                words = say("{kind}: it cannot do all of the plan", kind=severity_word(kinds[0])) if kinds else ""
                item.setToolTip(_SIGN, words)
                item.setData(_SIGN, Qt.ItemDataRole.AccessibleTextRole, words)
        self._show_signs()

    def show_theme(self, theme: Theme) -> None:
        """Take the colours of a theme."""
        self._theme = theme
        self._show_signs()

    def _show_signs(self) -> None:
        theme = self._theme
        signs = {"error": icon("error", theme, theme.error), "warning": icon("warning", theme, theme.warning)}
        with QSignalBlocker(self):
            for one, item in self._items.items():
                item.setIcon(_SIGN, signs[self._worst[one]] if one in self._worst else QIcon())
            for head in self._heads:
                head.setForeground(_NAME, self.palette().placeholderText())
        self.viewport().update()

    # ------------------------------------------------------------ hands

    @override
    def moveCursor(self, action: QTreeWidget.CursorAction, modifiers: Qt.KeyboardModifier) -> QModelIndex:
        """The keys go from target to target, past the titles of groups; from the first one nowhere."""
        index = super().moveCursor(action, modifiers)
        goes_up = action in (QTreeWidget.CursorAction.MoveUp, QTreeWidget.CursorAction.MovePageUp)
        while index.isValid() and index.data(_ID) is None:
            index = self.indexAbove(index) if goes_up else self.indexBelow(index)
        return index if index.isValid() else self.currentIndex()

    def _on_current(self, now: QTreeWidgetItem | None) -> None:
        if now is not None and (target_id := now.data(_NAME, _ID)):
            self.shown_changed.emit(str(target_id))

    def _on_changed(self, item: QTreeWidgetItem, column: int) -> None:
        if column == _NAME and item.data(_NAME, _ID):
            self.ticked_changed.emit()
