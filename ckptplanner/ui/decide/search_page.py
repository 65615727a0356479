"""What the pages that show a search have in common: the finder, the goal above, a veil over what is old, taking a plan."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Signal
from PySide6.QtGui import QCloseEvent, QColor, QHideEvent, QPainter, QPaintEvent, QShowEvent
from PySide6.QtWidgets import QFrame, QMessageBox, QPushButton, QVBoxLayout, QWidget
from typing_extensions import override

from ckptplanner.engine.cost import Basis
from ckptplanner.engine.optimise import Proposal
from ckptplanner.ui.decide.finder import Finder
from ckptplanner.ui.decide.goal_bar import GoalBar
from ckptplanner.ui.decide.plan_words import short_name
from ckptplanner.ui.shown import Shown
from ckptplanner.ui.theme import LIGHT, Theme
from ckptplanner.ui.words import say

_SOON_MS = 150  # what is found by then needs no veil
_VEIL = 150  # of 255


class Veil(QWidget):
    """Lies over what is shown of an older result, so that it is pale and nobody takes it for the new one."""

    def __init__(self, over: QWidget) -> None:
        super().__init__(over)
        self.setObjectName("veil")
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self._theme = LIGHT
        over.installEventFilter(self)
        self.hide()

    def show_theme(self, theme: Theme) -> None:
        """Take the colours of a theme."""
        self._theme = theme
        self.update()

    @override
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Resize and isinstance(watched, QWidget):
            self.resize(watched.size())
        return False

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        ground = QColor(self._theme.surface)
        ground.setAlpha(_VEIL)
        QPainter(self).fillRect(self.rect(), ground)


class SearchPage(QWidget):
    """Base of the pages on what a search found. `draw` is theirs."""

    scenario_requested = Signal(str, object)
    field_requested = Signal(str)
    cursor_moved = Signal(str)
    edited = Signal(str, object)
    gesture_ended = Signal()

    def __init__(self, finder: Finder, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.finder = finder
        self.theme = LIGHT
        self.basis: Basis = "month"
        self.controls = QPushButton(say("Details…"))
        self.controls.setObjectName("decide.details")
        self.controls.setProperty("role", "link")
        self.controls.clicked.connect(self._on_details)
        self.body = QWidget()
        self.goal = GoalBar(finder)
        self._veil = Veil(self.body)
        self._soon = QTimer(self)
        self._soon.setSingleShot(True)
        self._soon.setInterval(_SOON_MS)
        self._soon.timeout.connect(self._on_soon)
        rule = QFrame()
        rule.setFixedHeight(1)
        rule.setProperty("role", "rule")
        box = QVBoxLayout(self)
        box.setContentsMargins(0, 0, 0, 0)
        box.setSpacing(0)
        box.addWidget(self.goal)
        box.addWidget(rule)
        box.addWidget(self.body, 1)
        finder.changed.connect(self._on_changed)

    # ------------------------------------------------------------ what is shown

    def show_plans(self, shown: Sequence[Shown], basis: Basis) -> None:
        """Take the scenarios; searched and drawn only while the page can be seen."""
        self.basis = basis
        self.finder.show_plans(tuple(shown))

    def show_theme(self, theme: Theme) -> None:
        """Take the colours of a theme."""
        self.theme = theme
        self._veil.show_theme(theme)
        self._on_changed()

    def draw(self) -> None:
        """Draw what the finder has."""
        raise NotImplementedError

    @property
    def is_fresh(self) -> bool:
        """Whether what is drawn is for the plan and the goal as they are now."""
        return self.finder.fresh() is not None

    def _on_changed(self) -> None:
        if not self.isVisible():
            return
        self.controls.setVisible(bool(self.finder.trouble))
        self.draw()
        if self.is_fresh:
            self._soon.stop()
            self._veil.hide()
        elif not self._veil.isVisible() and not self._soon.isActive():
            self._soon.start()

    def _on_soon(self) -> None:
        self._veil.resize(self.body.size())
        self._veil.raise_()
        self._veil.show()

    @override
    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.finder.look(self.objectName())

    @override
    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._soon.stop()
        self.finder.rest(self.objectName())

    def forget(self) -> None:
        """Drop what was found, and the prices typed: they were for plans of another file."""
        self.finder.forget()

    def close_work(self) -> None:
        """Give up what runs and wait for it: the window goes away."""
        self.finder.close()

    @override
    def closeEvent(self, event: QCloseEvent) -> None:
        self.close_work()
        super().closeEvent(event)

    # ------------------------------------------------------------ hands

    def adopt(self, one: Proposal | None) -> None:
        """Set the current scenario as this plan is; not while the plan is an old one."""
        if one is not None and one.edits and self._may_take():
            self.scenario_requested.emit("adopt", one.edits)

    def add(self, one: Proposal | None) -> None:
        """Add a scenario that is set as this plan is."""
        if one is not None and self._may_take():
            self.scenario_requested.emit("adopt_as_new", (short_name(one), one.edits))

    def _may_take(self) -> bool:
        if not self.is_fresh:
            self.cursor_moved.emit(say("This plan was found for other inputs: wait for the search."))
        return self.is_fresh

    def _on_details(self) -> None:
        trouble = self.finder.trouble
        box = QMessageBox(QMessageBox.Icon.Warning, "ckptplanner", trouble.partition("\n\n")[0], parent=self)
        box.setDetailedText(trouble.partition("\n\n")[2])
        box.exec()
