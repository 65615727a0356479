"""The Evidence view: what the formulas say beside what logs and published runs show."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QStackedWidget, QTabBar, QVBoxLayout, QWidget
from typing_extensions import override

from ckptplanner.engine.backtests import CASES
from ckptplanner.engine.cost import Basis
from ckptplanner.ui.drops import carried_file, dropped_file
from ckptplanner.ui.logs_page import OWN, LogsPage
from ckptplanner.ui.scenario_bar import Switch
from ckptplanner.ui.shown import Shown, current_of
from ckptplanner.ui.theme import LIGHT, Theme
from ckptplanner.ui.words import say, say_text

if TYPE_CHECKING:
    from ckptplanner.ui.evidence.published_page import PublishedPage

LOGS, PUBLISHED = range(2)


def is_for_evidence(file: Path) -> bool:
    """Whether a file may be a log by its name: no plan, no model and no folder."""
    return file.suffix.lower() not in _OTHERS and not file.is_dir()


_OTHERS = (".json", ".safetensors")  # plans and models, which the window takes


class EvidenceView(QWidget):
    """Pages under their tabs; each is made when first visited and drawn while it is seen."""

    edited = Signal(str, object)
    gesture_ended = Signal()
    field_requested = Signal(str)
    cursor_moved = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("evidence_view")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setProperty("role", "surface")
        self.setAcceptDrops(True)
        self._theme = LIGHT
        self._shown: Shown | None = None
        self.logs = LogsPage()
        self._published: PublishedPage | None = None
        self.tabs = QTabBar()
        self.tabs.setObjectName("evidence_pages")
        for label in (say("Logs replayed"), say("Published runs")):
            self.tabs.addTab(label)
        self._asked = QLabel(say("What a save costs"))
        self._asked.setProperty("role", "small")
        self.costs = Switch("evidence.costs", (
            ("0", say("Async, 5 s"), say_text(CASES[0].name)), ("1", say("Sync, 1 min"), say_text(CASES[1].name)),
            ("2", say("Sync, 5 min"), say_text(CASES[2].name)),
            (OWN, say("This plan"), say("The stop, the write, the restart and the wait of the plan that is shown")),
        ))  # fmt: skip
        self._stack = QStackedWidget()
        self._stack.addWidget(self.logs)
        self._place()
        self.tabs.currentChanged.connect(self._on_page)
        self.costs.chosen.connect(self._on_costs)
        for signal, own in ((self.logs.edited, self.edited), (self.logs.gesture_ended, self.gesture_ended),
                            (self.logs.cursor_moved, self.cursor_moved)):  # fmt: skip
            signal.connect(own)
        self._on_costs("0")

    def _place(self) -> None:
        self._top = top = QHBoxLayout()
        top.setContentsMargins(4, 0, 16, 0)
        top.setSpacing(8)
        top.addWidget(self.tabs)
        top.addStretch(1)
        top.addWidget(self._asked)
        top.addWidget(self.costs)
        box = QVBoxLayout(self)
        box.setContentsMargins(0, 0, 0, 0)
        box.setSpacing(0)
        box.addLayout(top)
        box.addWidget(self._stack, 1)

    # ------------------------------------------------------------ what is shown

    @property
    def published(self) -> PublishedPage:
        """The cards of published runs, made when they are first visited."""
        if self._published is None:
            from ckptplanner.ui.evidence.published_page import PublishedPage

            self._published = PublishedPage()
            self._published.show_theme(self._theme)
            self._stack.addWidget(self._published)
            self._top.addWidget(self._published.switch)
        return self._published

    def show_page(self, index: int) -> None:
        """Show the logs (0) or the published runs (1)."""
        self.tabs.setCurrentIndex(index)

    def show_plans(self, shown: Sequence[Shown], basis: Basis) -> None:
        """Replay with the current plan where that is asked for; published runs do not depend on it."""
        self._shown = current_of(shown)
        self.logs.show_plan(self._shown.plan)

    def show_theme(self, theme: Theme) -> None:
        """Take the colours of a theme."""
        self._theme = theme
        self.logs.show_theme(theme)
        if self._published is not None:
            self._published.show_theme(theme)

    @property
    def picture_widget(self) -> QWidget:
        """What a picture of the page that is seen shows."""
        return self.logs.picture if self.tabs.currentIndex() == LOGS else self.published.picture

    def texts(self) -> tuple[list[str], list[list[str]]]:
        """The page that is seen as heads and rows, for a table."""
        return self.logs.texts() if self.tabs.currentIndex() == LOGS else self.published.texts()

    # ------------------------------------------------------------ hands

    def _on_page(self, index: int) -> None:
        is_logs = index == LOGS
        self._stack.setCurrentWidget(self.logs if is_logs else self.published)
        self._asked.setVisible(is_logs)
        self.costs.setVisible(is_logs)
        if self._published is not None:
            self._published.switch.setVisible(not is_logs)

    def _on_costs(self, key: str) -> None:
        self.costs.show_choice(key)
        self.logs.show_case(key)

    @override
    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """A log may be dropped here; a plan, a model or a folder is for the window to take."""
        file = carried_file(event)
        if file is None or not is_for_evidence(file):
            event.ignore()
        else:
            event.acceptProposedAction()

    @override
    def dropEvent(self, event: QDropEvent) -> None:
        if (file := dropped_file(event)) is not None:
            self.show_page(LOGS)
            self.logs.take(file)
