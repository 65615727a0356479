"""The column of panels at the left, a dock. Its forms are built after the first paint, so that the plan is seen first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QSettings, Qt, Signal
from PySide6.QtWidgets import QDockWidget, QHBoxLayout, QPushButton, QScrollArea, QVBoxLayout, QWidget

from ckptplanner.engine.plan import Plan
from ckptplanner.engine.scenario import Workbook
from ckptplanner.ui.theme import EDGE, PANEL_WIDTH, ROW_HEIGHT
from ckptplanner.ui.words import say

if TYPE_CHECKING:
    from ckptplanner.ui.panels.panel import Panel


class PanelColumn(QDockWidget):
    """Workload, failures, storage, replication and the node in one column; says what they say."""

    edited = Signal(str, object)
    layout_requested = Signal()
    refused = Signal(str, str)
    gesture_ended = Signal()
    why_requested = Signal(str)
    source_requested = Signal(str)

    def __init__(self, settings: QSettings, parent: QWidget | None = None) -> None:
        super().__init__(say("Panels"), parent)
        self.setObjectName("panels")
        self._settings = settings
        self._panels: tuple[Panel, ...] = ()
        self._workbook: Workbook | None = None
        self._plan: Plan | None = None
        column = QWidget()
        column.setProperty("role", "panel")
        column.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._box = QVBoxLayout(column)
        self._box.setContentsMargins(0, 0, 0, 0)
        self._box.setSpacing(0)
        scroll = QScrollArea()
        scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # the fields in it are the stops
        scroll.setWidgetResizable(True)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scroll.setWidget(column)
        self._only = QPushButton()
        self._only.setObjectName("panels.only_guesses")
        self._only.setProperty("role", "source")
        self._only.setCheckable(True)
        self._only.setToolTip(say("Show the inputs alone that are assumed: what to measure first (Ctrl+Shift+A)"))
        self._only.toggled.connect(self._on_only)
        bar = QWidget()
        bar.setProperty("role", "panel")
        bar.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        row = QHBoxLayout(bar)
        row.setContentsMargins(EDGE, 0, EDGE, 0)
        row.addStretch(1)
        row.addWidget(self._only)
        bar.setFixedHeight(ROW_HEIGHT)
        self._bar = bar
        whole = QWidget()
        lines = QVBoxLayout(whole)
        lines.setContentsMargins(0, 0, 0, 0)
        lines.setSpacing(0)
        lines.addWidget(bar)
        lines.addWidget(scroll, 1)
        whole.setFixedWidth(PANEL_WIDTH)
        self.setTitleBarWidget(QWidget())
        self.setFeatures(QDockWidget.DockWidgetFeature.DockWidgetClosable)
        self.setWidget(whole)

    def build(self) -> None:
        """Make the forms and show what they missed; the second call does nothing."""
        if self._panels:
            return
        from ckptplanner.ui.panels.failures import FailuresPanel
        from ckptplanner.ui.panels.hardware import HardwarePanel
        from ckptplanner.ui.panels.replication import ReplicationPanel
        from ckptplanner.ui.panels.storage import StoragePanel
        from ckptplanner.ui.panels.workload import WorkloadPanel

        self._panels = (WorkloadPanel(), FailuresPanel(), StoragePanel(), ReplicationPanel(), HardwarePanel())
        for panel in self._panels:
            name = type(panel).__name__
            panel.section.set_unfolded(self._settings.value(f"unfolded/{name}", True, type=bool) is not False)
            panel.section.set_more_shown(self._settings.value(f"more/{name}", False, type=bool) is True)
            panel.edited.connect(self._on_edited)
            panel.refused.connect(self.refused)
            panel.gesture_ended.connect(self.gesture_ended)
            panel.why_requested.connect(self.why_requested)
            panel.source_requested.connect(self.source_requested)
        if self._workbook is not None:
            self.show_workbook(self._workbook)
        if self._plan is not None:
            self.show_plan(self._plan)
        for panel in self._panels:
            self._box.addWidget(panel)
            panel.show()  # now: by itself it would be shown a turn of the event loop later, and laid out after that
        self._box.addStretch(1)

    def _on_edited(self, path: str, value: object) -> None:
        """Pass an edit on; "other…" among the layouts asks for the parts first."""
        from ckptplanner.ui.panels.workload import ANOTHER_LAYOUT, OTHER_LAYOUT

        if path == "workload.layout" and value in (OTHER_LAYOUT, ANOTHER_LAYOUT):
            self.layout_requested.emit()
            self.show_refusal(path, "")
        else:
            self.edited.emit(path, value)

    def remember(self) -> None:
        """Write down which sections are folded."""
        for panel in self._panels:
            name = type(panel).__name__
            self._settings.setValue(f"unfolded/{name}", panel.section.is_unfolded)
            self._settings.setValue(f"more/{name}", panel.section.is_more_shown)

    def show_workbook(self, workbook: Workbook) -> None:
        """Show the values of the current scenario."""
        self._workbook = workbook
        for panel in self._panels:
            panel.show_workbook(workbook)

        self._count()

    def toggle_only_guesses(self) -> None:
        """Show the assumptions alone, or all inputs again."""
        self.show()
        self._only.toggle()

    def _on_only(self, is_on: bool) -> None:
        for panel in self._panels:
            panel.show_filtered(is_on)
        self._count()

    def _count(self) -> None:
        """Say how many inputs are assumed."""
        count = sum(panel.guesses for panel in self._panels)
        shown = say("1 assumption") if count == 1 else say("{count} assumptions", count=count)
        self._only.setText(say("all inputs") if self._only.isChecked() else shown)
        self._bar.setVisible(bool(self._panels))

    def show_plan(self, plan: Plan) -> None:
        """Show what follows from them."""
        self._plan = plan
        for panel in self._panels:
            panel.show_plan(plan)

    def show_refusal(self, path: str, message: str) -> None:
        """Say below a field why its value was refused; an empty message takes it away."""
        for panel in self._panels:
            panel.show_refusal(path, message)

    def has_field(self, path: str) -> bool:
        """Whether a field has its row here."""
        return any(panel.has_field(path) for panel in self._panels)

    def focus_field(self, path: str) -> None:
        """Go to the row of a field, or of the part it belongs to; one that the filter hides ends the filter."""
        self.build()
        if self._only.isChecked():
            self._only.setChecked(False)
        for known in (path, path.rpartition(".")[0]):
            for panel in self._panels:
                if panel.has_field(known):
                    self.show()
                    panel.focus_field(known)
                    return
