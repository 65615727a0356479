"""Which kinds count as interruptions: one box for each, with its mark and how many there are, level with its lane."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPoint, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QCheckBox, QSizePolicy, QVBoxLayout, QWidget
from typing_extensions import override

from ckptplanner.ui.ink import width_of, write
from ckptplanner.ui.stops import kind_colour, kind_path, kind_word, paint_mark
from ckptplanner.ui.theme import LIGHT, Theme
from ckptplanner.ui.words import say

_BOX, _MARK_AT, _WORDS_AT, _EDGE = 12, 26, 38, 4
NEVER = frozenset({"open"})  # what still runs was not interrupted


class KindToggle(QCheckBox):
    """One kind: whether it counts."""

    toggled_by_hand = Signal(str, bool)

    def __init__(self, kind: str) -> None:
        super().__init__()
        self.kind = kind
        self._count, self._theme = 0, LIGHT
        self.setObjectName(f"evidence.counts.{kind}")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.clicked.connect(self._on_clicked)

    def show_count(self, count: int, theme: Theme, *, is_counted: bool) -> None:
        """Show how many there are and whether they count."""
        self._count, self._theme = count, theme
        self.setText(kind_word(self.kind))
        self.setChecked(is_counted)
        self.setEnabled(self.kind not in NEVER)
        self.setAccessibleName(say("{kind}, {count}: counts as an interruption", kind=kind_word(self.kind), count=f"{count:,}"))
        self.setToolTip(
            say("What still runs has not been interrupted") if self.kind in NEVER
            else say("Whether this counts as an interruption: a cancelled job may be a hang that was killed")
            if self.kind == "cancelled" else say("Whether this counts as an interruption")
        )  # fmt: skip
        self.update()

    def wide(self) -> int:
        """How wide it needs to be. [px]"""
        return round(_WORDS_AT + width_of(self.text()) + 12 + width_of(f"{self._count:,}") + _EDGE)

    def _on_clicked(self, is_checked: bool) -> None:
        self.toggled_by_hand.emit(self.kind, is_checked)

    @override
    def hitButton(self, place: QPoint) -> bool:
        return self.rect().contains(place)

    @override
    def sizeHint(self) -> QSize:
        return QSize(self.wide(), self.height())

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        painter, theme, middle = QPainter(self), self._theme, self.height() / 2
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        colour = kind_colour(self.kind, theme)
        if self.isEnabled():
            self._paint_box(painter, middle)
        paint_mark(
            painter, kind_path(self.kind, 8), QPointF(_MARK_AT, middle), colour, theme.surface, is_filled=self.isChecked()
        )
        ink = theme.text if self.isChecked() else theme.muted
        number = f"{self._count:,}"
        wide = width_of(number)
        write(painter, QRectF(self.width() - wide - _EDGE, 0, wide, self.height()), number, ink)
        write(painter, QRectF(_WORDS_AT, 0, self.width() - wide - _EDGE - 8 - _WORDS_AT, self.height()), self.text(), ink)

    def _paint_box(self, painter: QPainter, middle: float) -> None:
        theme, box = self._theme, QRectF(2.5, middle - _BOX / 2 + 0.5, _BOX - 1, _BOX - 1)
        painter.setPen(QColor(theme.accent if self.hasFocus() or self.isChecked() else theme.edge))
        painter.setBrush(QColor(theme.accent if self.isChecked() else theme.surface))
        painter.drawRoundedRect(box, 2.5, 2.5)
        if self.isChecked():
            painter.setPen(QPen(QColor(theme.accent_text), 1.5))
            painter.drawPolyline([box.topLeft() + QPointF(x, y) for x, y in ((2.5, 5.5), (4.8, 7.8), (8.6, 3.2))])
        if self.hasFocus():
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QColor(theme.accent))
            painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), 3, 3)


class KindToggles(QWidget):
    """The boxes of the kinds that occur, in the order of their lanes."""

    counted_changed = Signal(str, bool)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("evidence.counts")
        self._toggles: dict[str, KindToggle] = {}
        self._box = QVBoxLayout(self)
        self._box.setContentsMargins(0, 0, 0, 0)
        self._box.setSpacing(0)

    def show_kinds(self, counts: Sequence[tuple[str, int]], counted: frozenset[str], lane_px: int, theme: Theme) -> None:
        """Show kinds with how many there are of each."""
        kinds = [kind for kind, _ in counts]
        for kind, toggle in self._toggles.items():
            toggle.setVisible(kind in kinds)
        for place, (kind, count) in enumerate(counts):
            toggle = self._toggle(kind)
            if self._box.indexOf(toggle) != place:
                self._box.removeWidget(toggle)
                self._box.insertWidget(place, toggle)
            toggle.setFixedHeight(lane_px)
            toggle.show_count(count, theme, is_counted=kind in counted and kind not in NEVER)
            toggle.setVisible(True)
        self.setFixedSize(max((self._toggles[kind].wide() for kind in kinds), default=120), lane_px * max(len(kinds), 1))

    def _toggle(self, kind: str) -> KindToggle:
        if kind not in self._toggles:
            made = KindToggle(kind)
            made.toggled_by_hand.connect(self.counted_changed)
            self._toggles[kind] = made
            self._box.addWidget(made)
        return self._toggles[kind]
