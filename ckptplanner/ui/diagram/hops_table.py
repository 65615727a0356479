"""The hops of a phase as a table: what each can carry, what the plan asks of it, and how much of it that is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QEvent, QModelIndex, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFontMetricsF, QIcon, QKeyEvent, QPainter, QPixmap, QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QSizePolicy, QTableView, QWidget
from typing_extensions import override

from ckptplanner.engine.node_plan import Hop, Phase
from ckptplanner.ui.diagram.hop_words import hop_lines, hop_row, use_colour
from ckptplanner.ui.diagram.paint import paint_warning
from ckptplanner.ui.theme import LIGHT, SMALL_PX, Theme, font
from ckptplanner.ui.widgets.headed_model import HeadedModel, Index
from ckptplanner.ui.words import say

ROW, _ICON = 22, 12


def headings() -> tuple[str, str, str, str]:
    """The column headings; rates are in GB/s."""
    return say("GB/s"), say("can"), say("load"), say("use")


class HopsModel(HeadedModel):
    """The hops of one phase."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._hops: tuple[Hop, ...] = ()
        self._limit: str | None = None
        self._theme = LIGHT
        self._mark = QIcon()

    def show_phase(self, phase: Phase | None, theme: Theme) -> None:
        """Take the hops of a phase."""
        hops = phase.hops if phase is not None else ()
        is_same = [hop.id for hop in hops] == [hop.id for hop in self._hops]
        if not is_same:
            self.beginResetModel()
        self._hops, self._theme = hops, theme
        self._limit = phase.bottleneck if phase is not None else None
        limit = phase.limit if phase is not None else None
        self._mark = _warning_icon(use_colour(theme, limit.use_ratio if limit is not None else None), theme)
        if not is_same:
            self.endResetModel()
        elif hops:
            self.dataChanged.emit(self.index(0, 0), self.index(len(hops) - 1, 3))

    def hop(self, row: int) -> Hop | None:
        """The hop in a row."""
        return self._hops[row] if 0 <= row < len(self._hops) else None

    def texts(self) -> list[list[str]]:
        """Headings and rows, as they are copied."""
        return [list(headings()), *(list(hop_row(hop)) for hop in self._hops)]

    @override
    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self._hops)

    @override
    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else 4

    @override
    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        hop, column = self.hop(index.row()), index.column()
        if hop is None:
            return None
        is_limit = hop.id == self._limit
        if role == Qt.ItemDataRole.DisplayRole:
            return hop_row(hop)[column]
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return self.alignment(column)
        if role == Qt.ItemDataRole.FontRole:
            return font(SMALL_PX, bold=is_limit and column > 0)
        if role == Qt.ItemDataRole.ForegroundRole:
            ratio = hop.use_ratio
            return QColor(
                use_colour(self._theme, ratio)
                if column == 3 and ratio is not None
                else self._theme.text
                if is_limit or column
                else self._theme.muted
            )
        if role == Qt.ItemDataRole.DecorationRole and column == 3 and is_limit:
            return self._mark
        if role in (Qt.ItemDataRole.ToolTipRole, Qt.ItemDataRole.AccessibleDescriptionRole):
            return "\n".join(hop_lines(hop, is_limit=is_limit))
        return None

    @override
    def headings(self) -> Sequence[str]:
        return headings()


def _warning_icon(colour: str, theme: Theme) -> QIcon:
    pixmap = QPixmap(24, 24)
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    paint_warning(painter, QRectF(2, 3, 20, 18), QColor(colour), QColor(theme.surface))
    painter.end()
    pixmap.setDevicePixelRatio(2)
    return QIcon(pixmap)


class HopsTable(QTableView):
    """The table itself; a row leads to the field of its ceiling."""

    field_requested = Signal(str)
    hop_pointed = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("hops_table")
        self.setAccessibleName(say("Hops of the phase"))
        self._hops = HopsModel(self)
        self.setModel(self._hops)
        self.setShowGrid(False)
        self.setMouseTracking(True)
        self.setIconSize(QSize(_ICON, _ICON))
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setTabKeyNavigation(False)
        self.setWordWrap(True)
        self.setProperty("role", "dense")
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Maximum)
        self.verticalHeader().hide()
        self.verticalHeader().setMinimumSectionSize(ROW)
        self.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        header = self.horizontalHeader()
        header.setHighlightSections(False)
        header.setSectionsClickable(False)
        header.setMinimumSectionSize(24)
        header.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.clicked.connect(self._on_clicked)
        self.entered.connect(self._on_entered)

    def show_phase(self, phase: Phase | None, theme: Theme) -> None:
        """Show the hops of a phase."""
        self._hops.show_phase(phase, theme)
        self._fit()

    def show_hop(self, hop_id: str) -> None:
        """Choose the row of a hop; "" chooses none."""
        for row in range(self._hops.rowCount()):
            hop = self._hops.hop(row)
            if hop is not None and hop.id == hop_id:
                self.setCurrentIndex(self._hops.index(row, 0))
                return
        self.clearSelection()

    def texts(self) -> list[list[str]]:
        """Headings and rows, as they are copied."""
        return self._hops.texts()

    @override
    def sizeHint(self) -> QSize:
        """As high as all rows, so that what is beside it takes the rest."""
        return QSize(200, 26 + max(self.verticalHeader().length(), ROW))

    @override
    def minimumSizeHint(self) -> QSize:
        return QSize(160, 26 + 3 * ROW)

    def _on_clicked(self, index: QModelIndex) -> None:
        hop = self._hops.hop(index.row())
        if hop is not None and hop.path:
            self.field_requested.emit(hop.path)

    def _on_entered(self, index: QModelIndex) -> None:
        hop = self._hops.hop(index.row())
        self.hop_pointed.emit(hop.id if hop is not None else "")

    def _fit(self) -> None:
        """Numbers take what they need, names the rest; names wrap where they must."""
        bold, texts = QFontMetricsF(font(SMALL_PX, bold=True)), self._hops.texts()
        widths = [max(bold.horizontalAdvance(row[column]) for row in texts) + 12 for column in (1, 2, 3)]
        widths[2] += _ICON + 8
        for column, wide in zip((1, 2, 3), widths, strict=True):
            self.setColumnWidth(column, int(wide))
        self.setColumnWidth(0, max(int(self.viewport().width() - sum(map(int, widths))), 48))
        metrics, room = QFontMetricsF(font(SMALL_PX)), QRectF(0, 0, self.columnWidth(0) - 8, 400)
        for row, (name, *_) in enumerate(texts[1:]):
            lines = round(metrics.boundingRect(room, int(Qt.TextFlag.TextWordWrap), name).height() / metrics.height())
            self.setRowHeight(row, ROW + 15 * (max(lines, 1) - 1))
        self.updateGeometry()

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    @override
    def leaveEvent(self, event: QEvent) -> None:
        self.hop_pointed.emit("")
        super().leaveEvent(event)

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.currentIndex().isValid():
            self._on_clicked(self.currentIndex())
            return
        super().keyPressEvent(event)
        self._on_entered(self.currentIndex())
