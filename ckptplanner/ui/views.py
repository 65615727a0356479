"""The views in the middle: Plan, Path, Survive, Evidence, Decide. Each is made when visited and drawn while seen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QStackedWidget, QTabBar, QVBoxLayout, QWidget

from ckptplanner.engine.cost import Basis
from ckptplanner.ui.plan_view import PlanView, lead_into
from ckptplanner.ui.shown import Shown
from ckptplanner.ui.theme import LIGHT, Theme
from ckptplanner.ui.words import say

if TYPE_CHECKING:
    from ckptplanner.ui.decide_view import DecideView
    from ckptplanner.ui.diagram.view import PathView
    from ckptplanner.ui.evidence_view import EvidenceView
    from ckptplanner.ui.survive.view import SurviveView

    LaterView = PathView | SurviveView | EvidenceView | DecideView

PLAN, PATH, SURVIVE, EVIDENCE, DECIDE = range(5)


class Views(QWidget):
    """Tabs, the buttons that copy what is seen, and the view itself."""

    edited = Signal(str, object)
    gesture_ended = Signal()
    cursor_moved = Signal(str)
    field_requested = Signal(str)
    scenario_requested = Signal(str, object)  # what, and the scenario or scenarios: see main_window

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("views")
        self._theme = LIGHT
        self._shown: tuple[Shown, ...] = ()
        self._basis: Basis = "month"
        self.plan = PlanView()
        self._path: PathView | None = None
        self._survive: SurviveView | None = None
        self._evidence: EvidenceView | None = None
        self._decide: DecideView | None = None
        self.tabs = QTabBar()
        self.tabs.setObjectName("view_tabs")
        for label in (say("Plan"), say("Path"), say("Survive"), say("Evidence"), say("Decide")):
            self.tabs.addTab(label)
        self._stack = QStackedWidget()
        self._stack.addWidget(self.plan)
        self.buttons = QHBoxLayout()
        self.buttons.setSpacing(2)
        self._place()
        self.tabs.currentChanged.connect(self._on_tab)
        self._join(self.plan)

    def _place(self) -> None:
        bar = QWidget()
        bar.setProperty("role", "bar")
        top = QHBoxLayout(bar)
        top.setContentsMargins(4, 0, 16, 0)
        top.addWidget(self.tabs)
        top.addStretch(1)
        top.addLayout(self.buttons)
        box = QVBoxLayout(self)
        box.setContentsMargins(0, 0, 0, 0)
        box.setSpacing(0)
        box.addWidget(bar)
        box.addWidget(self._stack, 1)

    def _join(self, view: PlanView | LaterView) -> None:
        view.edited.connect(self.edited)
        view.gesture_ended.connect(self.gesture_ended)
        view.cursor_moved.connect(self.cursor_moved)

    def show_view(self, index: int) -> None:
        """Show Plan (0), Path (1), Survive (2), Evidence (3) or Decide (4)."""
        self.tabs.setCurrentIndex(index)

    @property
    def index(self) -> int:
        """Which one is shown."""
        return self.tabs.currentIndex()

    @property
    def path(self) -> PathView:
        """The way of the data."""
        if self._path is None:
            from ckptplanner.ui.diagram.view import PathView

            self._path = made = PathView()
            self._add(made)
        return self._path

    @property
    def survive(self) -> SurviveView:
        """What an event leaves."""
        if self._survive is None:
            from ckptplanner.ui.survive.view import SurviveView

            self._survive = made = SurviveView()
            self._add(made)
        return self._survive

    @property
    def evidence(self) -> EvidenceView:
        """What the user's files, logs and published runs say to the formulas."""
        if self._evidence is None:
            from ckptplanner.ui.evidence_view import EvidenceView

            self._evidence = made = EvidenceView()
            made.scenario_requested.connect(self.scenario_requested)
            self._add(made)
        return self._evidence

    @property
    def decide(self) -> DecideView:
        """The scenarios side by side, and what is asked of storage."""
        if self._decide is None:
            from ckptplanner.ui.decide_view import DecideView

            self._decide = made = DecideView()
            made.scenario_requested.connect(self.scenario_requested)
            self._add(made)
        return self._decide

    def _add(self, view: LaterView) -> None:
        self._join(view)
        view.field_requested.connect(self.field_requested)
        view.show_theme(self._theme)
        self._stack.addWidget(view)

    def _view(self, index: int) -> PlanView | LaterView:
        if index == PLAN:
            return self.plan
        return self._later(index)

    def _later(self, index: int) -> LaterView:
        if index == PATH:
            return self.path
        return self.survive if index == SURVIVE else self.evidence if index == EVIDENCE else self.decide

    def _on_tab(self, index: int) -> None:
        view = self._view(index)
        if self._shown:
            view.show_plans(self._shown, self._basis)
        self._stack.setCurrentWidget(view)
        if view is not self.plan:
            lead_into(self.tabs, view)

    def show_plans(self, shown: Sequence[Shown], basis: Basis) -> None:
        """Draw all plans in the view that is seen; the others draw when they are."""
        self._shown, self._basis = tuple(shown), basis
        self._view(self.index).show_plans(shown, basis)
        if self.index != PLAN:
            self.plan.note_plans(shown)

    def show_theme(self, theme: Theme) -> None:
        """Take the colours of a theme."""
        self._theme = theme
        for view in (self.plan, self._path, self._survive, self._evidence, self._decide):
            if view is not None:
                view.show_theme(theme)

    def forget(self) -> None:
        """Another file was opened: nothing that was worked out for plans of the last one stays."""
        self.plan.forget()
        if self._decide is not None:
            self._decide.forget()

    def close_work(self) -> None:
        """Give up what runs in any view and wait for it: the window goes away."""
        self.plan.close_work()
        if self._evidence is not None:
            self._evidence.close_work()
        if self._decide is not None:
            self._decide.close_work()

    @property
    def picture_widget(self) -> QWidget:
        """What a picture of the view that is seen shows."""
        return self._view(self.index).picture_widget

    def table_texts(self) -> list[list[str]]:
        """The table of the view that is seen: headings and rows."""
        if self.index == PLAN:
            return self.plan.table_texts()
        if self.index == PATH:
            return self.path.texts()
        view = self.survive if self.index == SURVIVE else self.evidence if self.index == EVIDENCE else self.decide
        headings, rows = view.texts()
        return [headings, *rows]
