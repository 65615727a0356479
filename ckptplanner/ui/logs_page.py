"""A page of the Evidence view: logs of interruptions replayed, those that come along and the user's own.

logs                  | what Young's interval would have lost, in a sentence
name nodes gap shape  | lost share over the interval, what was predicted
Replay a log...       | the gaps of the log on its own time          Use this record
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLabel,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QSplitter,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)
from typing_extensions import override

from ckptplanner.data.readers.errors import ReaderError
from ckptplanner.engine.backtests import CASES, Backtest, Costs, Log, backtest, costs_of_plan, logs
from ckptplanner.engine.plan import Plan
from ckptplanner.ui.evidence.asking import ask_file, ask_system
from ckptplanner.ui.evidence.log_table import LogsTable, headings, row_texts
from ckptplanner.ui.evidence.sentences import priced, verdict
from ckptplanner.ui.evidence.use_row import UseRow
from ckptplanner.ui.plots.gaps import GapsPlot
from ckptplanner.ui.plots.replay import ReplayPlot
from ckptplanner.ui.scenario_bar import Switch
from ckptplanner.ui.theme import LIGHT, Theme
from ckptplanner.ui.words import say, say_text
from ckptplanner.units import SECONDS, brief, percent

_EDGE = 16
_LEFT_WIDTH = 388
_LEAST_PLOT, _LEAST_STRIP, _STRIP = 156, 88, 136
_FIRST = "lanl-20"
_WIDE_FROM = 900  # px
OWN = "plan"  # the case of costs that is the plan's own


class Picture(QWidget):
    """The two sentences and both plots: what a picture of the page shows."""

    def __init__(self) -> None:
        super().__init__()
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setProperty("role", "surface")
        self.verdict, self.priced = QLabel(), QLabel()
        for label, name, role in ((self.verdict, "evidence.verdict", "title"), (self.priced, "evidence.priced", "small")):
            label.setObjectName(name)
            label.setProperty("role", role)
            label.setWordWrap(True)
        self.replay, self.gaps = ReplayPlot(), GapsPlot()
        for plot in (self.replay, self.gaps):
            plot.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Ignored)
        self.replay.setMinimumHeight(_LEAST_PLOT)
        self.gaps.setMinimumHeight(_LEAST_STRIP)
        self.gaps.setMaximumHeight(_STRIP)
        words = QVBoxLayout()
        words.setContentsMargins(12, 0, 16, 0)
        words.setSpacing(2)
        words.addWidget(self.verdict)
        words.addWidget(self.priced)
        box = QVBoxLayout(self)
        box.setContentsMargins(0, 6, 0, 0)
        box.setSpacing(4)
        box.addLayout(words)
        box.addWidget(self.replay, 3)
        box.addWidget(self.gaps, 1)

    def show_theme(self, theme: Theme) -> None:
        """Take the colours of a theme."""
        self.replay.show_theme(theme)
        self.gaps.show_theme(theme)


class LogsPage(QWidget):
    """Chooses a log and what a save costs; shows the replay; proposes the record for the plan."""

    edited = Signal(str, object)
    gesture_ended = Signal()
    cursor_moved = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("evidence.logs_page")
        self._theme = LIGHT
        self._plan: Plan | None = None
        self._case = "0"
        self._own: tuple[Log, ...] = ()
        self._chosen = next((log.id for log in logs() if log.id == _FIRST), logs()[0].id)
        self._folder = Path.home()
        self.table, self.picture, self.use = LogsTable(), Picture(), UseRow()
        self.bar, self._asked = QWidget(), QLabel()
        self.costs = Switch("evidence.costs", (
            ("0", say("Async, 5 s"), say_text(CASES[0].name)), ("1", say("Sync, 1 min"), say_text(CASES[1].name)),
            ("2", say("Sync, 5 min"), say_text(CASES[2].name)),
            (OWN, say("This plan"), say("The stop, the write, the restart and the wait of the plan that is shown")),
        ))  # fmt: skip
        self._open = QPushButton(say("Replay a log…"))
        self._trouble, self._hint, self._empty = QLabel(), QLabel(), QLabel()
        self._stack = QStackedWidget()
        self._place()
        self._connect()

    def _place(self) -> None:
        self._asked.setText(say("What a save costs"))
        self._asked.setProperty("role", "small")
        row = QHBoxLayout(self.bar)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(8)
        row.addWidget(self._asked)
        row.addWidget(self.costs)
        self._place_parts()

    def _place_parts(self) -> None:
        self._open.setObjectName("evidence.open")
        self._open.setToolTip(say("A CSV or text file with the times of interruptions, or the table of LANL"))
        self._trouble.setObjectName("evidence.trouble")
        self._trouble.setProperty("role", "refusal")
        self._hint.setProperty("role", "small")
        self._hint.setText(say("or drop a file with your interruptions here"))
        for label in (self._trouble, self._hint, self._empty):
            label.setWordWrap(True)
        self._trouble.hide()
        buttons = QHBoxLayout()
        buttons.setContentsMargins(4, 0, 12, 0)
        buttons.setSpacing(12)
        buttons.addWidget(self._open)
        buttons.addWidget(self._hint, 1)
        trouble = QHBoxLayout()
        trouble.setContentsMargins(4, 0, 12, 0)
        trouble.addWidget(self._trouble)
        left = QWidget()
        column = QVBoxLayout(left)
        column.setContentsMargins(12, 2, 0, 8)
        column.setSpacing(6)
        column.addWidget(self.table, 1)
        column.addLayout(trouble)
        column.addLayout(buttons)
        self._empty.setObjectName("evidence.empty")
        self._empty.setProperty("role", "muted")
        self._empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._empty.setMargin(32)
        scroll = QScrollArea()
        scroll.setWidgetResizable(True)
        scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        scroll.setWidget(self.picture)
        self._stack.addWidget(scroll)
        self._stack.addWidget(self._empty)
        foot = QHBoxLayout()
        foot.setContentsMargins(12, 0, 16, 8)
        foot.addWidget(self.use)
        right = QWidget()
        lines = QVBoxLayout(right)
        lines.setContentsMargins(8, 0, 0, 0)
        lines.setSpacing(6)
        lines.addWidget(self._stack, 1)
        lines.addLayout(foot)
        self.splitter = QSplitter(Qt.Orientation.Horizontal)
        self.splitter.setObjectName("evidence.splitter")
        self.splitter.setChildrenCollapsible(False)
        self.splitter.setHandleWidth(5)
        left.setMinimumWidth(264)
        right.setMinimumWidth(400)
        self.splitter.addWidget(left)
        self.splitter.addWidget(right)
        self.splitter.setStretchFactor(1, 1)
        self.splitter.setSizes([_LEFT_WIDTH, 700])
        box = QVBoxLayout(self)
        box.setContentsMargins(0, 0, 0, 0)
        box.addWidget(self.splitter)

    def _connect(self) -> None:
        self.costs.chosen.connect(self.show_case)
        self.costs.show_choice(self._case)
        self.table.chosen.connect(self._on_chosen)
        self.table.removed.connect(self._on_removed)
        self.picture.replay.cursor_moved.connect(self.cursor_moved)
        self._open.clicked.connect(self._on_open)
        self.use.edited.connect(self.edited)
        self.use.gesture_ended.connect(self.gesture_ended)

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        """Where the bar of the tabs is short, the switch stands alone."""
        super().resizeEvent(event)
        self._asked.setVisible(self.width() >= _WIDE_FROM)

    # ------------------------------------------------------------ what is shown

    @property
    def _logs(self) -> tuple[Log, ...]:
        """The user's own first, the newest on top."""
        return (*self._own, *logs())

    @property
    def log(self) -> Log:
        """The one that is replayed."""
        return next((log for log in self._logs if log.id == self._chosen), self._logs[0])

    def _costs(self) -> Costs | None:
        """What a save costs: one of the three cases, or the plan; None where that has no file system."""
        if self._case != OWN:
            return CASES[int(self._case)]
        return None if self._plan is None else costs_of_plan(self._plan)

    def show_case(self, key: str) -> None:
        """Take another case of costs: the number of one of the three, or the plan's own."""
        self._case = key
        self.costs.show_choice(key)
        self._draw()

    def show_plan(self, plan: Plan) -> None:
        """Show what the log would mean for this plan."""
        self._plan = plan
        self._draw()

    def show_theme(self, theme: Theme) -> None:
        """Take the colours of a theme."""
        self._theme = theme
        self.picture.show_theme(theme)
        if self._plan is not None:
            self._show_table()

    def _show_table(self) -> None:
        rows = [backtest(log, CASES[0]) for log in self._logs]
        own = frozenset(log.id for log in self._own)
        self.table.show_rows(rows, own, self._logs.index(self.log), self._theme)

    def _draw(self) -> None:
        if self._plan is None:
            return
        self._show_table()
        self.use.show_log(self.log, self._plan.scenario)
        costs = self._costs()
        if costs is None:
            self._empty.setText(
                say("This plan has no file system yet, so there is no save to price. Choose one of the three cases above.")
            )
            self._stack.setCurrentIndex(1)
            return
        found = backtest(self.log, costs)
        self._stack.setCurrentIndex(0)
        self.picture.verdict.setText(verdict(found))
        self.picture.priced.setText(priced(found, costs))
        self.picture.replay.show_backtest(found)
        self.picture.gaps.show_log(self.log)

    def texts(self) -> tuple[list[str], list[list[str]]]:
        """Every log under the present case as heads and rows, for a table."""
        costs = self._costs()
        heads = [
            *headings(), say("Young's interval"), say("Lost with it"), say("Best constant interval"), say("Lost with that"),
            say("Set anew from the last 20 gaps"), say("The exact formula said"), say("First order said"),
        ]  # fmt: skip
        return heads, [] if costs is None else [_row(backtest(log, costs)) for log in self._logs]

    # ------------------------------------------------------------ hands

    def _on_chosen(self, row: int) -> None:
        log = self._logs[row]
        if log.id != self._chosen:
            self._tell("")
            self._chosen = log.id
            self._draw()

    def _on_removed(self, row: int) -> None:
        """A log of the user's own goes; those that come along stay."""
        if row < len(self._own):
            self._own = self._own[:row] + self._own[row + 1 :]
            self._chosen = self._logs[min(row, len(self._logs) - 1)].id
            self._draw()

    def _on_open(self) -> None:
        file = ask_file(self, self._folder)
        if file is not None:
            self._folder = file.parent
            self.take(file)

    def take(self, file: Path) -> None:
        """Read a log and replay it; a file that cannot be used is told of in one sentence, and nothing changes."""
        try:
            found = self._read(file)
        except ReaderError as error:
            self._tell(str(error))
            return
        if found is not None:
            log = replace(found, id=f"own:{found.id}")  # never that of a log that comes along
            self._own = (log, *(one for one in self._own if one.id != log.id))
            self._chosen = log.id
            self._tell("")
            self._draw()

    def _read(self, file: Path) -> Log | None:
        """The log in a file, of a table the system that is asked for; None where the question was not answered."""
        from ckptplanner.data.readers.interruption_log import SystemNeeded, read_log

        try:
            return read_log(file)
        except SystemNeeded as needed:
            system = ask_system(self, file.name, needed.systems)
            return None if system is None else read_log(file, system=system)

    def _tell(self, sentence: str) -> None:
        self._trouble.setText(sentence)
        self._trouble.setVisible(bool(sentence))


def _row(found: Backtest) -> list[str]:
    first, adaptive = found.first_order_fraction, found.adaptive_fraction
    return [
        *row_texts(found),
        brief(found.young_interval_s, SECONDS),
        percent(found.young_fraction),
        brief(found.best_interval_s, SECONDS),
        percent(found.best_fraction),
        "–" if adaptive is None else percent(adaptive),
        percent(found.exact_fraction),
        "–" if first is None else percent(first),
    ]
