"""The second page of the Plan view: the trade-off with its switches, what counts and what a GPU-hour is worth."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QCheckBox, QHBoxLayout, QLabel, QSlider, QVBoxLayout, QWidget

from ckptplanner.engine.cost import Basis
from ckptplanner.engine.plan import Plan
from ckptplanner.engine.tradeoff import tradeoff
from ckptplanner.ui.plots.tradeoff import TradeoffPlot
from ckptplanner.ui.shown import Shown
from ckptplanner.ui.words import say
from ckptplanner.units import USD_PER_H, brief

_SLIDER_STEPS = 100


class TradeoffPage(QWidget):
    """The trade-off with its switches: what counts, and what a GPU-hour is worth."""

    cursor_moved = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._shown: Shown | None = None
        self._basis: Basis = "month"
        self.plot = TradeoffPlot()
        self.plot.cursor_moved.connect(self.cursor_moved)
        self._rework = self._check("tradeoff.rework", say("count rework"))
        self._restarts = self._check("tradeoff.restarts", say("count restarts"))
        self._value = QSlider(Qt.Orientation.Horizontal)
        self._value.setObjectName("tradeoff.value")
        self._value.setRange(0, _SLIDER_STEPS)
        self._value.setValue(_SLIDER_STEPS)
        self._value.setFixedWidth(160)
        self._value.setAccessibleName(say("Value of a GPU-hour"))
        self._value.valueChanged.connect(self.draw)
        self._label = QLabel()
        self._label.setProperty("role", "small")
        row = QHBoxLayout()
        row.setContentsMargins(16, 4, 16, 0)
        row.setSpacing(16)
        name = QLabel(say("A GPU-hour is worth"))
        for widget in (self._rework, self._restarts, name, self._value, self._label):
            row.addWidget(widget)
        row.addStretch(1)
        box = QVBoxLayout(self)
        box.setContentsMargins(0, 0, 0, 0)
        box.addLayout(row)
        box.addWidget(self.plot, 1)

    def _check(self, name: str, label: str) -> QCheckBox:
        check = QCheckBox(label)
        check.setObjectName(name)
        check.setChecked(True)
        check.toggled.connect(self.draw)
        return check

    def show_plan(self, shown: Shown, basis: Basis) -> None:
        """Show the trade-off of a plan, dollars on that basis; drawn only while it can be seen."""
        self._shown, self._basis = shown, basis
        if self.isVisible():
            self.draw()

    def _most_usd_per_h(self, plan: Plan) -> float:
        prices = plan.scenario.prices
        full = (prices.node_usd_per_h or 0.0) / plan.scenario.workload.gpus_per_node
        return max(full, prices.gpu_value_usd_per_h or 0.0)

    def draw(self) -> None:
        """Compute and draw the trade-off with the present switches."""
        if self._shown is None:
            return
        plan = self._shown.plan
        value = self._most_usd_per_h(plan) * self._value.value() / _SLIDER_STEPS
        free = say("free: reserved GPUs cost the same idle or busy")
        self._label.setText(f"{brief(value, USD_PER_H)}" if value else free)
        found = tradeoff(
            plan.scenario, rework=self._rework.isChecked(), restarts=self._restarts.isChecked(), gpu_value_usd_per_h=value
        )
        self.plot.show_tradeoff(found, self._basis, plan.scenario.run.days)
