"""The way from a log into the plan: what its mean gap means for this many nodes, and the button that proposes it."""

from __future__ import annotations

import math

from PySide6.QtCore import Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QCheckBox, QHBoxLayout, QLabel, QPushButton, QSizePolicy, QWidget
from typing_extensions import override

from ckptplanner.engine.backtests import Log
from ckptplanner.engine.edits import mean_of_log_s
from ckptplanner.engine.scenario import MOST_GAPS, Scenario
from ckptplanner.ui.words import node_count, say
from ckptplanner.units import SECONDS, brief, grouped


class UseRow(QWidget):
    """Proposes the mean gap of a log with its nodes, and the spread of its gaps where that is wanted."""

    edited = Signal(str, object)
    gesture_ended = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._log: Log | None = None
        self._scenario: Scenario | None = None
        self._words = QLabel()
        self._words.setObjectName("evidence.scaled")
        self._words.setProperty("role", "small")
        self._words.setWordWrap(True)
        self._words.setMinimumWidth(80)
        self._words.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self._spread = QCheckBox(say("with the spread of its gaps"))
        self._spread.setObjectName("evidence.spread")
        self._button = QPushButton(say("Use this record"))
        self._button.setObjectName("evidence.use")
        self._spread.toggled.connect(self._show_state)
        self._button.clicked.connect(self._on_use)
        self._hands = hands = QHBoxLayout()
        hands.setSpacing(12)
        hands.addStretch(1)
        hands.addWidget(self._spread)
        hands.addWidget(self._button)
        self._row = QBoxLayout(QBoxLayout.Direction.LeftToRight, self)
        self._row.setContentsMargins(0, 0, 0, 0)
        self._row.setSpacing(4)
        self._row.addWidget(self._words, 1)
        self._row.addLayout(hands)

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        """Where it is narrow the words stand over the button."""
        needed = self._words.fontMetrics().horizontalAdvance(self._words.text()) + self._hands.sizeHint().width()
        is_wide = needed + 16 <= self.width()
        ways = QBoxLayout.Direction
        self._row.setDirection(ways.LeftToRight if is_wide else ways.TopToBottom)

    def show_log(self, log: Log, scenario: Scenario) -> None:
        """Say what this log would mean for this plan."""
        self._log, self._scenario = log, scenario
        self._show_state()

    def _show_state(self) -> None:
        log, scenario = self._log, self._scenario
        if log is None or scenario is None:
            return
        has_spread = len(log.gaps_s) >= 2
        self._spread.setEnabled(has_spread)
        self._spread.setToolTip(
            say("The times between interruptions then spread as in this log, with its bursts and calms, not as a formula says")
            if has_spread
            else say("One gap has no spread: two at least are needed")
        )
        words, count = _scaled(log, scenario), len(log.gaps_s)
        if self._with_spread and count > MOST_GAPS:
            values = {"words": words, "most": grouped(MOST_GAPS), "count": grouped(count)}
            words = say("{words}; the spread of the last {most} of {count} gaps", **values)
        self._words.setText(words)
        is_used = _is_used(log, scenario, with_spread=self._with_spread)
        self._button.setEnabled(not is_used)
        self._button.setToolTip(
            say("The plan has it already")
            if is_used
            else say("Sets how often this plan is interrupted to the log's mean gap and its nodes; undo takes it back")
        )

    @property
    def _with_spread(self) -> bool:
        return self._spread.isEnabled() and self._spread.isChecked()

    def _on_use(self) -> None:
        if self._log is not None:
            self.edited.emit("failures.gaps_s" if self._with_spread else "failures.record", self._log)
            self.gesture_ended.emit()


def _is_used(log: Log, scenario: Scenario, *, with_spread: bool) -> bool:
    """Whether the plan has what the button would propose."""
    failures = scenario.failures
    is_mean = math.isclose(failures.mtbi_s, mean_of_log_s(log), rel_tol=1e-9)
    if not is_mean or failures.mtbi_nodes != (log.nodes or scenario.workload.nodes):
        return False
    follows = failures.law == "empirical" and failures.gaps_s == log.gaps_s[-MOST_GAPS:]
    return follows is with_spread


def _scaled(log: Log, scenario: Scenario) -> str:
    """The mean gap of the log, for the nodes of this plan, beside what the plan has."""
    failures, nodes = scenario.failures, scenario.workload.nodes
    mean = mean_of_log_s(log)
    has = brief(failures.mtbi_s * failures.mtbi_nodes / nodes, SECONDS)
    if log.nodes is None:
        return say(
            "{mean}, taken as this plan's own at {nodes}; the plan has {has}",
            mean=brief(mean, SECONDS), nodes=node_count(nodes), has=has,
        )  # fmt: skip
    return say(
        "{mean} at {log_nodes}, so {scaled} at this plan's {nodes}; the plan has {has}",
        mean=brief(mean, SECONDS), log_nodes=node_count(log.nodes), scaled=brief(mean * log.nodes / nodes, SECONDS),
        nodes=grouped(nodes), has=has,
    )  # fmt: skip
