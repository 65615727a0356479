"""Pictures that are painted by hand: what each of them does with a theme, the pointer, tooltips and the focus."""

from __future__ import annotations

from typing import Generic, TypeVar

from PySide6.QtCore import QEvent, QPointF, Qt, Signal
from PySide6.QtGui import QFocusEvent, QHelpEvent
from PySide6.QtWidgets import QToolTip, QWidget
from typing_extensions import override

from ckptplanner.ui.theme import LIGHT, Theme

At = TypeVar("At")


class Painted(QWidget):
    """Paints itself in a theme; says what the pointer is over."""

    hovered = Signal(str)

    def __init__(self, name: str, title: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName(name)
        self.setAccessibleName(title)
        self.setMouseTracking(True)
        self._theme = LIGHT

    def show_theme(self, theme: Theme) -> None:
        """Take the colours of a theme."""
        self._theme = theme
        self.update()

    def tip_at(self, place: QPointF) -> str:
        """What the tooltip says at a place; nothing where it is empty."""
        return ""

    @override
    def leaveEvent(self, event: QEvent) -> None:
        self.hovered.emit("")

    @override
    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            QToolTip.showText(event.globalPos(), self.tip_at(QPointF(event.pos())), self)
            return True
        return super().event(event)


class Pointed(Painted, Generic[At]):
    """One whose parts are pointed at by the mouse or gone through by keys; an `At` names a part."""

    def __init__(self, name: str, title: str, parent: QWidget | None = None) -> None:
        super().__init__(name, title, parent)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self._at: At | None = None

    def first(self) -> At | None:
        """The part that the keys begin with; None while nothing is drawn."""
        raise NotImplementedError

    def said_of(self, at: At) -> str:
        """What a part says at the foot of the window."""
        raise NotImplementedError

    def _point(self, at: At | None) -> None:
        if at != self._at:
            self._at = at
            self.update()
            self.hovered.emit("" if at is None else self.said_of(at))

    @override
    def leaveEvent(self, event: QEvent) -> None:
        self._point(None)

    @override
    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        if self._at is None and event.reason() != Qt.FocusReason.MouseFocusReason:
            self._point(self.first())
        self.update()

    @override
    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.update()
