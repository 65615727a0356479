"""The cards that open over the window: why a figure is what it is, where a value comes from, what the findings are."""

from __future__ import annotations

from PySide6.QtCore import QObject, QPoint, Signal
from PySide6.QtWidgets import QWidget

from ckptplanner.engine.cost import Basis
from ckptplanner.engine.derivation.derive import derivation
from ckptplanner.engine.plan import Plan
from ckptplanner.engine.scenario import NamedScenario
from ckptplanner.ui.findings_view import FindingsView
from ckptplanner.ui.source_popup import SourcePopup
from ckptplanner.ui.theme import Theme
from ckptplanner.ui.why import WhyPopup


class PopUps(QObject):
    """Opens the cards and says where they lead."""

    field_requested = Signal(str)
    edited = Signal(str, object)

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._findings, self._why, self._source = FindingsView(window), WhyPopup(window), SourcePopup(window)
        self._asked: tuple[NamedScenario, Basis] | None = None
        self._why.field_requested.connect(self.field_requested)
        self._why.figure_requested.connect(self._follow)
        self._findings.field_requested.connect(self.field_requested)
        self._source.edited.connect(self.edited)

    def show_theme(self, theme: Theme) -> None:
        """Take the colours of a theme."""
        self._findings.show_theme(theme)

    def show_why(self, named: NamedScenario, figure: str, basis: Basis, anchor: QWidget) -> None:
        """Open the derivation of a figure beside `anchor`."""
        self._asked = (named, basis)
        self._why.show_derivation(derivation(named, figure, basis))
        self._why.open_by(anchor)

    def _follow(self, figure: str) -> None:
        """From one derivation to another; the card keeps its place and the way back."""
        if self._asked is not None:
            named, basis = self._asked
            self._why.show_derivation(derivation(named, figure, basis))

    def show_source(self, named: NamedScenario, path: str, anchor: QWidget) -> None:
        """Open what is known about the source of a value beside `anchor`."""
        self._source.show_field(named, path)
        self._source.open_by(anchor)

    def show_findings(self, plan: Plan, severity: str, corner: QPoint, most_height: int) -> None:
        """Open the findings below `corner`, at the first of a severity."""
        self._findings.show_findings(plan.findings, severity, corner, most_height)
