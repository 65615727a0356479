"""The phases side by side, each with how long it takes; one of them is shown."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFontMetricsF, QKeyEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QAbstractButton, QButtonGroup, QHBoxLayout, QSizePolicy, QWidget
from typing_extensions import override

from ckptplanner.engine.node_plan import Phase
from ckptplanner.ui.diagram.hop_words import phase_time
from ckptplanner.ui.theme import BODY_PX, LIGHT, SMALL_PX, Theme, font
from ckptplanner.ui.words import say, say_text

_PAD = 6


class PhaseButton(QAbstractButton):
    """A phase: its name, its time, and below that the base's time where there is a base."""

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName(f"phase.{name}")
        self.setCheckable(True)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self._theme, self._lines, self._is_used, self._has_base = LIGHT, ("", "", ""), True, False

    def show_phase(self, phase: Phase, base: str, theme: Theme, *, has_base: bool) -> None:
        """Show a phase; `base` is what the base says, "" where it does not use the phase."""
        self._theme, self._is_used = theme, phase.is_used
        if has_base != self._has_base:
            self._has_base = has_base
            self.updateGeometry()
        lines = (say_text(phase.title), phase_time(phase), base)
        if lines != self._lines:
            self._lines = lines
            self.setText(lines[0])
            self.setAccessibleName(", ".join(line for line in lines if line))
            self.updateGeometry()
        self.setToolTip(
            "\n".join([", ".join(line for line in lines if line), say_text(phase.sentence), say_text(phase.detail)])
        )
        self.update()

    def texts(self) -> tuple[str, str, str]:
        """Name, time, and the base's time."""
        return self._lines

    @override
    def sizeHint(self) -> QSize:
        title, small = QFontMetricsF(font()), QFontMetricsF(font(SMALL_PX))
        wide = max(title.horizontalAdvance(self._lines[0]), *(small.horizontalAdvance(line) for line in self._lines[1:]))
        return QSize(int(wide) + 2 * _PAD + 4, 56 if self._has_base else 40)

    @override
    def minimumSizeHint(self) -> QSize:
        return QSize(48, self.sizeHint().height())

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        painter, theme = QPainter(self), self._theme
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        room = QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5)
        if self.isChecked() or self.underMouse() or self.hasFocus():
            is_strong = self.isChecked() or self.hasFocus()
            painter.setPen(QPen(QColor(theme.accent if is_strong else theme.hairline), 1))
            painter.setBrush(QColor(theme.accent_ground if self.isChecked() else theme.hover))
            painter.drawRoundedRect(room, 4, 4)
        y = 3.0
        for number, (words, high) in enumerate(zip(self._lines, (19.0, 15.0, 16.0), strict=True)):
            made = font(SMALL_PX if number else BODY_PX)
            is_strong = number == 0 and (self._is_used or self.isChecked())
            painter.setFont(made)
            painter.setPen(QColor(theme.text if is_strong else theme.muted))
            place = QRectF(_PAD, y, self.width() - 2 * _PAD, high)
            shown = QFontMetricsF(made).elidedText(words, Qt.TextElideMode.ElideRight, place.width())
            painter.drawText(place, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, shown)
            y += high


class PhaseBar(QWidget):
    """All phases; Left and Right go along, the chosen one takes part in the tab order."""

    chosen = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("phase_bar")
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(10, 4, 10, 4)
        self._row.setSpacing(0)
        self._group = QButtonGroup(self)
        self._buttons: dict[str, PhaseButton] = {}
        self._row.addStretch(1)

    def show_phases(self, phases: Sequence[Phase], base: Sequence[Phase], chosen: str, theme: Theme) -> None:
        """Show phases with their times, the base's below, and which one is chosen."""
        of_base = {phase.name: phase for phase in base}
        names = [phase.name for phase in phases]
        if names != list(self._buttons):
            self._rebuild(names)
        for phase in phases:
            other = of_base.get(phase.name)
            words = say("base {time}", time=phase_time(other)) if other is not None and other.is_used else ""
            button = self._buttons[phase.name]
            button.show_phase(phase, words, theme, has_base=bool(of_base))
            is_chosen = phase.name == chosen
            button.setChecked(is_chosen)
            button.setFocusPolicy(Qt.FocusPolicy.StrongFocus if is_chosen else Qt.FocusPolicy.ClickFocus)

    def _rebuild(self, names: Sequence[str]) -> None:
        for button in self._buttons.values():
            self._group.removeButton(button)
            self._row.removeWidget(button)
            button.deleteLater()
        self._buttons = {}
        for index, name in enumerate(names):
            button = PhaseButton(name)
            button.clicked.connect(lambda _checked=False, name=name: self.chosen.emit(name))
            self._group.addButton(button)
            self._row.insertWidget(index, button)
            self._buttons[name] = button

    def texts(self) -> list[tuple[str, str, str]]:
        """What stands on the buttons."""
        return [button.texts() for button in self._buttons.values()]

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        move = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}.get(Qt.Key(event.key()), 0)
        names = list(self._buttons)
        index = next((i for i, name in enumerate(names) if self._buttons[name].isChecked()), 0) + move
        if move and 0 <= index < len(names):
            self._buttons[names[index]].setFocus(Qt.FocusReason.TabFocusReason)
            self.chosen.emit(names[index])
        elif not move:
            super().keyPressEvent(event)
