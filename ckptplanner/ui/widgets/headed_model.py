"""The model of a table whose columns have headings: words stand at the left, numbers at the right, headings above them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt
from typing_extensions import override

Index = QModelIndex | QPersistentModelIndex
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter


class HeadedModel(QAbstractTableModel):
    """Answers for the headings; what stands in the cells is the business of each table."""

    def headings(self) -> Sequence[str]:
        """What stands above the columns."""
        raise NotImplementedError

    def is_number(self, column: int) -> bool:
        """Whether a column holds numbers; the first one names its row as a rule."""
        return column > 0

    def alignment(self, column: int) -> Qt.AlignmentFlag:
        """Where a column stands, heading and cells alike."""
        return _RIGHT if self.is_number(column) else _LEFT

    @override
    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self.headings())

    @override
    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if orientation != Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return self.headings()[section]
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return self.alignment(section)
        return None
