"""The Plan view: cost and waste over the write time, or the trade-off over the stop time; below, the storage options."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QSplitter, QStackedWidget, QTabBar, QVBoxLayout, QWidget

from ckptplanner.engine.cost import Basis
from ckptplanner.engine.plan import Plan
from ckptplanner.ui.options_table import OptionsTable
from ckptplanner.ui.scenario_bar import Switch
from ckptplanner.ui.shown import Shown, current_of
from ckptplanner.ui.theme import LIGHT, Theme
from ckptplanner.ui.words import say
from ckptplanner.units import SECONDS, rough

if TYPE_CHECKING:
    from ckptplanner.ui.check.page import CheckPage
    from ckptplanner.ui.plots.write_time import WriteTimePlots
    from ckptplanner.ui.tradeoff_page import TradeoffPage
    from ckptplanner.ui.widgets.rows_table import RowsTable


OVER_WRITE_TIME, TRADEOFF, CHECK = range(3)


class PlanView(QWidget):
    """Two pages of plots over the tables, and the check by simulation, which takes all the room."""

    edited = Signal(str, object)
    gesture_ended = Signal()
    cursor_moved = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("plan_view")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setProperty("role", "surface")
        self._theme = LIGHT
        self.options = OptionsTable()
        self._plots: WriteTimePlots | None = None
        self._all_shown: tuple[Shown, ...] = ()
        self._basis: Basis = "month"
        self._ghost: Plan | None = None
        self._page: TradeoffPage | None = None
        self._check: CheckPage | None = None
        self._shown: Shown | None = None
        self._tabs = QTabBar()
        self._tabs.setObjectName("plan_pages")
        for label in (say("Over the write time"), say("Idle GPUs against storage"), say("Check by simulation")):
            self._tabs.addTab(label)
        self._cost = Switch("cost", (
            ("storage", say("Storage"), say("The storage bill alone, as in Article A")),
            ("total", say("Total"), say("Storage below, lost GPU time above")),
        ))  # fmt: skip
        self._cost.show_choice("storage")
        self._cost.chosen.connect(self._on_cost)
        self._stack = QStackedWidget()
        self._vacant = QWidget()  # where the plots will be
        self._stack.addWidget(self._vacant)
        self._count = QLabel()
        self._count.setProperty("role", "small")
        self.tables = QTabBar()
        self.tables.setObjectName("plan_tables")
        for label in (say("Storage options"), say("Save schedule"), say("Restart classes")):
            self.tables.addTab(label)
        self._below = QStackedWidget()
        self._below.addWidget(self.options)
        self._rows: dict[int, RowsTable] = {}
        self._place()
        self._tabs.currentChanged.connect(self._on_page)
        self.tables.currentChanged.connect(self._on_table)
        self.options.edited.connect(self.edited)
        self.options.gesture_ended.connect(self.gesture_ended)

    def _place(self) -> None:
        top = QHBoxLayout()
        top.setContentsMargins(4, 0, 16, 0)
        top.addWidget(self._tabs)
        top.addStretch(1)
        top.addWidget(self._cost)
        head = QHBoxLayout()
        head.setContentsMargins(4, 0, 16, 0)
        head.addWidget(self.tables)
        head.addStretch(1)
        head.addWidget(self._count)
        self._tables_below = below = QWidget()
        lower = QVBoxLayout(below)
        lower.setContentsMargins(0, 0, 0, 0)
        lower.setSpacing(0)
        lower.addLayout(head)
        lower.addWidget(self._below, 1)
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

    def show_plans(self, shown: Sequence[Shown], basis: Basis) -> None:
        """Draw everything it is given."""
        now = self._shown = current_of(shown)
        self._all_shown, self._basis = tuple(shown), basis
        if self._plots is not None:
            self._plots.show_plans(shown, basis)
        if self._page is not None:
            self._page.show_plan(now, basis)
        if self._check is not None:
            self._check.show_plan(now)
        self.options.show_plan(now, basis, self._theme)
        for index in self._rows:
            self._show_rows(index)
        self._show_count()

    def _show_count(self) -> None:
        """What stands beside the name of the table that is shown."""
        now = self._shown
        if now is None or self.tables.currentIndex() != 0:
            self._count.setText("")
            return
        options, storage = now.plan.storage.options, now.plan.scenario.storage
        offered = sum(option.is_offered for option in options)
        self._count.setText(
            say(
                "{offered} offered, {others} not, cheapest first, for a write time of {time} and {count} generations",
                offered=offered,
                others=len(options) - offered,
                time=rough(storage.write_s, SECONDS),
                count=storage.generations_kept,
            )
        )

    def rows(self, index: int) -> RowsTable:
        """The save schedule (1) or the restart classes (2), made when it is first visited."""
        if index not in self._rows:
            from ckptplanner.ui.row_pages import classes_table, schedule_table

            self._rows[index] = made = schedule_table() if index == 1 else classes_table()
            made.edited.connect(self.edited)
            made.gesture_ended.connect(self.gesture_ended)
            self._below.addWidget(made)
            self._show_rows(index)
        return self._rows[index]

    def _show_rows(self, index: int) -> None:
        if self._shown is not None:
            from ckptplanner.ui.row_pages import show_classes, show_schedule

            show = show_schedule if index == 1 else show_classes
            show(self._rows[index], self._shown.plan, self._theme)

    def note_plans(self, shown: Sequence[Shown]) -> None:
        """While another view is seen: a simulation of a plan that has changed is given up all the same."""
        if self._check is not None:
            self._check.show_plan(current_of(shown))

    def show_table(self, index: int) -> None:
        """Show the storage options (0), the save schedule (1) or the restart classes (2)."""
        if self._tabs.currentIndex() == CHECK:
            self.show_page(OVER_WRITE_TIME)
        self.tables.setCurrentIndex(index)

    def table_texts(self) -> list[list[str]]:
        """The table that is looked at, as it is copied."""
        if self._check is not None and self._stack.currentWidget() is self._check:
            return self._check.texts()
        index = self.tables.currentIndex()
        return self.options.texts() if index == 0 else self.rows(index).texts()

    def _on_table(self, index: int) -> None:
        self._below.setCurrentWidget(self.options if index == 0 else self.rows(index))
        self._show_count()

    def show_ghost(self, plan: Plan | None) -> None:
        """Leave a grey mark of where the plan was."""
        self._ghost = plan
        if self._plots is not None:
            self._plots.show_ghost(plan)

    def show_theme(self, theme: Theme) -> None:
        """Take the colours of a theme."""
        self._theme = theme
        if self._plots is not None:
            self._plots.show_theme(theme)
        if self._page is not None:
            self._page.plot.show_theme(theme)
        if self._check is not None:
            self._check.show_theme(theme)

    def show_page(self, index: int) -> None:
        """Show the plots over the write time (0), the trade-off (1) or the check by simulation (2)."""
        self._tabs.setCurrentIndex(index)

    @property
    def picture_widget(self) -> QWidget:
        """The plot that is looked at, for a picture of it."""
        seen = self._stack.currentWidget()
        if self._check is not None and seen is self._check:
            return self._check.picture_widget
        return self._page.plot if self._page is not None and seen is self._page else self.plots()

    def plots(self) -> WriteTimePlots:
        """The plots over the write time. Loading pyqtgraph takes as long as all the rest, so the plan is shown first."""
        if self._plots is None:
            from ckptplanner.ui.plots.write_time import WriteTimePlots

            self._plots = made = WriteTimePlots()
            made.edited.connect(self.edited)
            made.gesture_ended.connect(self.gesture_ended)
            made.cursor_moved.connect(self.cursor_moved)
            made.show_theme(self._theme)
            made.show_ghost(self._ghost)
            if self._all_shown:
                made.show_plans(self._all_shown, self._basis)
            self._stack.insertWidget(0, made)
            self._stack.removeWidget(self._vacant)
            self._vacant.deleteLater()
            self._stack.setCurrentIndex(0)
        return self._plots

    def page(self) -> TradeoffPage:
        """The page of the trade-off, made when it is first visited."""
        if self._page is None:
            from ckptplanner.ui.tradeoff_page import TradeoffPage

            self._page = TradeoffPage()
            self._page.plot.show_theme(self._theme)
            self._page.cursor_moved.connect(self.cursor_moved)
            if self._shown is not None:
                self._page.show_plan(self._shown, self._basis)
            self._stack.addWidget(self._page)
        return self._page

    def check(self) -> CheckPage:
        """The check by simulation, made when it is first visited."""
        if self._check is None:
            from ckptplanner.ui.check.page import CheckPage

            self._check = CheckPage()
            self._check.show_theme(self._theme)
            self._check.cursor_moved.connect(self.cursor_moved)
            if self._shown is not None:
                self._check.show_plan(self._shown)
            self._stack.addWidget(self._check)
            lead_into(self._tabs, self._check)
        return self._check

    def forget(self) -> None:
        """Another file was opened: no ghost and no simulation of a plan of the last one stays."""
        self.show_ghost(None)
        if self._check is not None:
            self._check.forget()

    def close_work(self) -> None:
        """Give up what runs in the background: the window goes away."""
        if self._check is not None:
            self._check.close_work()

    def _on_page(self, index: int) -> None:
        pages = {OVER_WRITE_TIME: self.plots, TRADEOFF: self.page, CHECK: self.check}
        self._stack.setCurrentWidget(pages[index]())
        self._cost.setVisible(index == OVER_WRITE_TIME)
        self._tables_below.setVisible(index != CHECK)
        if index == TRADEOFF:
            self.page().draw()

    def _on_cost(self, key: str) -> None:
        self._cost.show_choice(key)
        self.plots().show_total(key == "total")


def lead_into(before: QWidget, view: QWidget) -> None:
    """Tab goes from a widget into a view, from top to bottom; a view is made late, so it stood at the end."""
    for part in view.findChildren(QWidget):
        if part.focusPolicy() != Qt.FocusPolicy.NoFocus and part.window() is view.window():  # not in a list that drops down
            QWidget.setTabOrder(before, part)
            before = part
