"""The Plan view: cost and waste over the write time, or the trade-off over the stop time; below, the storage options."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QCheckBox, QHBoxLayout, QLabel, QSlider, QSplitter, QStackedWidget, QTabBar, QVBoxLayout, QWidget

from ckptplanner.engine.plan import Plan
from ckptplanner.engine.tradeoff import tradeoff
from ckptplanner.ui.options_table import OptionsTable
from ckptplanner.ui.plots.tradeoff import TradeoffPlot
from ckptplanner.ui.plots.write_time import WriteTimePlots
from ckptplanner.ui.scenario_bar import Switch
from ckptplanner.ui.shown import Shown, current_of
from ckptplanner.ui.theme import LIGHT, Theme
from ckptplanner.ui.words import say
from ckptplanner.units import SECONDS, USD_PER_H, brief, rough

_SLIDER_STEPS = 100


class TradeoffPage(QWidget):
    """The trade-off with its switches: what counts, and what a GPU-hour is worth."""

    cursor_moved = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._shown: Shown | None = None
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

    def show_plan(self, shown: Shown) -> None:
        """Show the trade-off of a plan; drawn only while it can be seen."""
        self._shown = shown
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
        self.plot.show_tradeoff(
            tradeoff(
                plan.scenario, rework=self._rework.isChecked(), restarts=self._restarts.isChecked(), gpu_value_usd_per_h=value
            )
        )


class PlanView(QWidget):
    """Two pages of plots over the table of options."""

    edited = Signal(str, object)
    gesture_ended = Signal()
    cursor_moved = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("plan_view")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setProperty("role", "surface")
        self._theme = LIGHT
        self.plots, self.page, self.options = WriteTimePlots(), TradeoffPage(), OptionsTable()
        self._tabs = QTabBar()
        self._tabs.setObjectName("plan_pages")
        for label in (say("Over the write time"), say("Idle GPUs against storage")):
            self._tabs.addTab(label)
        self._cost = Switch("cost", (
            ("storage", say("Storage"), say("The storage bill alone, as in Article A")),
            ("total", say("Total"), say("Storage below, lost GPU time above")),
        ))  # fmt: skip
        self._cost.show_choice("storage")
        self._cost.chosen.connect(self._on_cost)
        self._stack = QStackedWidget()
        self._stack.addWidget(self.plots)
        self._stack.addWidget(self.page)
        self._count = QLabel()
        self._count.setProperty("role", "small")
        self._place()
        self._tabs.currentChanged.connect(self._on_page)
        for source in (self.plots, self.options):
            source.edited.connect(self.edited)
            source.gesture_ended.connect(self.gesture_ended)
        self.plots.cursor_moved.connect(self.cursor_moved)
        self.page.cursor_moved.connect(self.cursor_moved)

    def _place(self) -> None:
        top = QHBoxLayout()
        top.setContentsMargins(4, 0, 16, 0)
        top.addWidget(self._tabs)
        top.addStretch(1)
        top.addWidget(self._cost)
        top.addSpacing(12)
        self.buttons = QHBoxLayout()
        self.buttons.setSpacing(2)
        top.addLayout(self.buttons)
        head = QHBoxLayout()
        head.setContentsMargins(16, 6, 16, 2)
        title = QLabel(say("Storage options"))
        title.setProperty("role", "title")
        head.addWidget(title)
        head.addStretch(1)
        head.addWidget(self._count)
        below = QWidget()
        lower = QVBoxLayout(below)
        lower.setContentsMargins(0, 0, 0, 0)
        lower.setSpacing(0)
        lower.addLayout(head)
        lower.addWidget(self.options, 1)
        self.splitter = QSplitter(Qt.Orientation.Vertical)
        self.splitter.setObjectName("plan_splitter")
        self.splitter.setChildrenCollapsible(False)
        self.splitter.setHandleWidth(5)
        self._stack.setMinimumHeight(200)
        below.setMinimumHeight(96)
        self.splitter.addWidget(self._stack)
        self.splitter.addWidget(below)
        self.splitter.setStretchFactor(0, 3)
        self.splitter.setStretchFactor(1, 2)
        self.splitter.setSizes([370, 230])
        box = QVBoxLayout(self)
        box.setContentsMargins(0, 0, 0, 0)
        box.setSpacing(0)
        box.addLayout(top)
        box.addWidget(self.splitter, 1)

    def show_plans(self, shown: Sequence[Shown], basis: str) -> None:
        """Draw everything it is given."""
        now = current_of(shown)
        self.plots.show_plans(shown)
        self.page.show_plan(now)
        self.options.show_plan(now, basis, self._theme)
        options, storage = now.plan.storage.options, now.plan.scenario.storage
        refused = sum(option.illegal_reason is not None for option in options)
        self._count.setText(
            say(
                "{offered} offered, {refused} refused, cheapest first, for a write time of {time} and {count} generations",
                offered=len(options) - refused,
                refused=refused,
                time=rough(storage.write_s, SECONDS),
                count=storage.generations_kept,
            )
        )

    def show_ghost(self, plan: Plan | None) -> None:
        """Leave a grey mark of where the plan was."""
        self.plots.show_ghost(plan)

    def show_theme(self, theme: Theme) -> None:
        """Take the colours of a theme."""
        self._theme = theme
        self.plots.show_theme(theme)
        self.page.plot.show_theme(theme)

    def show_page(self, index: int) -> None:
        """Show the plots over the write time (0) or the trade-off (1)."""
        self._tabs.setCurrentIndex(index)

    @property
    def picture_widget(self) -> WriteTimePlots | TradeoffPlot:
        """The plot that is looked at, for a picture of it."""
        return self.plots if self._stack.currentIndex() == 0 else self.page.plot

    def _on_page(self, index: int) -> None:
        self._stack.setCurrentIndex(index)
        self._cost.setVisible(index == 0)
        if index == 1:
            self.page.draw()

    def _on_cost(self, key: str) -> None:
        self._cost.show_choice(key)
        self.plots.show_total(key == "total")
