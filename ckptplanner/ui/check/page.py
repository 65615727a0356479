"""The third page of the Plan view: the plan is simulated, and what comes out stands beside what the formulas say.

One simulation runs at a time. Where the plan changes meanwhile it is given up; what was found for an older plan stays,
pale, until the plan is simulated again or is what it was. A few results are kept, so that scenarios can be gone through.
"""

from __future__ import annotations

import time

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QCloseEvent, QShowEvent
from PySide6.QtWidgets import QMessageBox, QPushButton, QScrollArea, QStackedWidget, QVBoxLayout, QWidget
from typing_extensions import override

from ckptplanner.engine.causes import formula_causes
from ckptplanner.engine.plan import Plan
from ckptplanner.ui.background import TaskRunner
from ckptplanner.ui.check.controls import Controls
from ckptplanner.ui.check.coverage import Run
from ckptplanner.ui.check.picture import Picture
from ckptplanner.ui.check.work import Asked, Result, asked_of, estimate_of, marks_of, run_work, simulation_work
from ckptplanner.ui.shown import Shown
from ckptplanner.ui.theme import LIGHT, Theme
from ckptplanner.ui.widgets.empty_page import EmptyPage
from ckptplanner.ui.words import day_count, say, say_text
from ckptplanner.units import SECONDS, grouped, rough, significant

_KEPT = 6
_USUAL_RUNS = 1_000
_DAY_S = 86_400.0


class CheckPage(QWidget):
    """Simulates the current plan and shows what came out."""

    cursor_moved = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("check_page")
        self._theme = LIGHT
        self._shown: Shown | None = None
        self._asked: Asked | None = None  # what the current plan asks
        self._running: Asked | None = None
        self._begun_at = self._took_s = 0.0
        self._runs, self._seed, self._number = _USUAL_RUNS, 1, 0
        self._results: list[Result] = []  # the newest last
        self._note, self._trouble = "", ""
        self._simulations, self._single_runs = TaskRunner(self), TaskRunner(self)
        self.controls, self.picture = Controls(), Picture()
        self._empty = EmptyPage("check", say("Simulate this plan"))
        self._details = QPushButton(say("Details…"))
        self._details.setObjectName("check.details")
        self._details.setProperty("role", "link")
        self._stack = QStackedWidget()
        self._stack.addWidget(self._empty)
        self._scroll = QScrollArea()  # where the window is low, nothing is squeezed
        self._scroll.setWidgetResizable(True)
        self._scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._scroll.setWidget(self.picture)
        self._stack.addWidget(self._scroll)
        box = QVBoxLayout(self)
        box.setContentsMargins(0, 0, 0, 0)
        box.setSpacing(0)
        box.addWidget(self.controls)
        box.addWidget(self._details)
        box.addWidget(self._stack, 1)
        self._connect()
        self._draw()

    def _connect(self) -> None:
        controls, picture = self.controls, self.picture
        controls.start_requested.connect(self.start)
        controls.stop_requested.connect(self._on_stop)
        controls.seed_requested.connect(self._on_seed)
        controls.runs_chosen.connect(self._on_runs)
        self._empty.start_requested.connect(self.start)
        self._details.clicked.connect(self._on_details)
        self._simulations.progressed.connect(self._on_progressed)
        self._simulations.finished.connect(self._on_finished)
        self._simulations.failed.connect(self._on_failed)
        self._single_runs.finished.connect(self._on_run)
        self._single_runs.failed.connect(self._on_failed)
        picture.head.step_requested.connect(self._on_step)
        picture.head.whole_requested.connect(picture.lanes.show_whole)
        picture.lanes.view_changed.connect(self._show_zoom)
        for part in (picture.strip, picture.causes, picture.lanes):
            part.hovered.connect(self.cursor_moved)

    # ------------------------------------------------------------ what is asked

    def show_plan(self, shown: Shown) -> None:
        """Take the current plan: what is simulated for another one is given up. Drawn only while it can be seen."""
        asked, self._shown = asked_of(shown.plan), shown
        if asked != self._asked:
            self._note = self._trouble = ""
        self._asked = asked
        if self._running is not None and self._running != self._asked:
            self._simulations.cancel()
            self._running = None
            self._note = say("given up: the plan has changed")
        if self.isVisible():
            self._draw()

    def start(self) -> None:
        """Simulate the current plan, from its first run on."""
        if self._shown is None or self._asked is None:
            return
        self._running, self._begun_at = self._asked, time.monotonic()
        self._note = self._trouble = ""
        self._simulations.start(simulation_work(self._asked, self._shown, self._runs, self._seed))
        self._draw()

    def begin(self) -> None:
        """Simulate the current plan unless that is done or under way."""
        if self._running is None and self._fresh() is None:
            self.start()

    def forget(self) -> None:
        """Drop all results: they were of plans in another file."""
        self._simulations.cancel()
        self._running, self._results, self._number, self._note, self._trouble = None, [], 0, "", ""
        if self.isVisible():
            self._draw()

    def close_work(self) -> None:
        """Give up what runs and wait for it: the window goes away."""
        self._running = None
        for runner in (self._simulations, self._single_runs):
            runner.close()

    @property
    def is_running(self) -> bool:
        """Whether a simulation is under way."""
        return self._running is not None

    @property
    def is_idle(self) -> bool:
        """Whether no thread of this page is at work any more."""
        return self._simulations.is_idle and self._single_runs.is_idle

    def _fresh(self) -> Result | None:
        """The newest result for the plan as it is now."""
        return next((one for one in reversed(self._results) if one.asked == self._asked), None)

    def _drawn(self) -> Result | None:
        """What is drawn: the result for this plan, else the newest of all."""
        return self._fresh() or (self._results[-1] if self._results else None)

    # ------------------------------------------------------------ what comes back

    def _on_progressed(self, fraction: float) -> None:
        self.controls.show_progress(fraction, self._runs, time.monotonic() - self._begun_at)

    def _on_finished(self, result: object) -> None:
        assert isinstance(result, Result)
        self._running, self._took_s = None, time.monotonic() - self._begun_at
        self._results = [*(one for one in self._results if one.asked != result.asked), result][-_KEPT:]
        self._number = 0
        seconds = f"{max(round(self._took_s, 1), 0.1):g}\u00a0s"
        self._note = say("{runs} runs in {time}", runs=grouped(result.simulation.runs), time=seconds)
        self._draw()

    def _on_failed(self, trouble: str) -> None:
        self._running, self._trouble = None, trouble
        self._draw()

    def _on_run(self, run: object) -> None:
        result = self._drawn()
        assert isinstance(run, Run)
        if result is not None:
            self.picture.lanes.show_run(run, is_stale=result is not self._fresh(), keeps_view=True)
            self.picture.head.show_number(self._number, result.simulation.runs)

    # ------------------------------------------------------------ hands

    def _on_stop(self) -> None:
        self._simulations.cancel()
        self._running = None
        self._note = say("stopped")
        self._draw()

    def _on_runs(self, runs: int) -> None:
        self._runs = runs
        if self._running is not None:
            self.start()
        else:
            self._draw()

    def _on_seed(self) -> None:
        self._seed += 1
        self.start()

    def _on_step(self, by: int) -> None:
        result = self._drawn()
        if result is not None:
            self._number = min(max(self._number + by, 0), result.simulation.runs - 1)
            self.picture.head.show_number(self._number, result.simulation.runs)
            self._single_runs.start(run_work(result, self._number))

    def _on_details(self) -> None:
        box = QMessageBox(QMessageBox.Icon.Warning, "ckptplanner", self._trouble.partition("\n\n")[0], parent=self)
        box.setDetailedText(self._trouble.partition("\n\n")[2])
        box.exec()

    # ------------------------------------------------------------ drawing

    def show_theme(self, theme: Theme) -> None:
        """Take the colours of a theme."""
        self._theme = theme
        self._empty.show_theme(theme)
        self.picture.show_theme(theme)
        self._draw()

    @override
    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._draw()

    @override
    def closeEvent(self, event: QCloseEvent) -> None:
        self.close_work()
        super().closeEvent(event)

    def _draw(self) -> None:
        buttons = (self.controls.start, self.controls.stop, self._empty.begin)
        had_focus = any(button.hasFocus() for button in buttons)
        result = self._drawn() if self._asked is not None else None
        self.controls.show_choice(self._runs, self._seed)
        if self._running is not None:
            self.controls.show_progress(0.0, self._runs, time.monotonic() - self._begun_at)
        else:
            note = self._trouble.partition("\n\n")[0] if self._trouble else self._note
            self.controls.show_idle(note, may_start=self._asked is not None, has_start=result is not None)
        self._details.setVisible(bool(self._trouble))
        if result is None:
            self._draw_empty()
            self._stack.setCurrentWidget(self._empty)
        else:
            self._draw_result(result)
            self._stack.setCurrentWidget(self._scroll)
        if had_focus and (seen := next((button for button in buttons if button.isVisible()), None)) is not None:
            seen.setFocus()

    def _draw_empty(self) -> None:
        if self._shown is None or self._asked is None:
            reason = _why_not(self._shown.plan) if self._shown is not None else ""
            self._empty.show_words(say("This plan cannot be simulated"), reason, has_button=False)
            return
        days = day_count(self._shown.plan.scenario.run.days)
        words = say(
            "{runs} runs of {days} are simulated with interruptions drawn at random. You will see whether the waste that "
            "the formula says holds, where the time of a run goes, and one run as lanes: training, saving, lost, restart.",
            runs=grouped(self._runs),
            days=days,
        )
        if self._running is not None:
            self._empty.show_words(say("The plan is being simulated"), words, has_button=False)
        else:
            self._empty.show_words(say("This plan has not been simulated yet"), words, has_button=True)

    def _draw_result(self, result: Result) -> None:
        picture, is_stale = self.picture, result is not self._fresh()
        simulation = result.simulation
        if is_stale:
            picture.show_words(self._changed_words(), _of_plan(result), "warning")
        else:
            sign = "info" if result.check.agrees else "warning"
            picture.show_words(say_text(result.check.text), _rests_on(result), sign)
        picture.strip.show_estimate(estimate_of(simulation), marks_of(result), is_stale=is_stale)
        picture.causes.show_causes(dict(simulation.causes), formula_causes(result.shown.plan), is_stale=is_stale)
        if self._number == 0:
            picture.lanes.show_run(result.run, is_stale=is_stale)
        else:
            picture.lanes.show_stale(is_stale)
        picture.head.show_number(self._number, simulation.runs)
        self._show_zoom()

    def _changed_words(self) -> str:
        if self._running is not None:
            return say("The plan has changed; it is being simulated again.")
        return say("The plan has changed; simulate again.")

    def _show_zoom(self) -> None:
        self.picture.head.whole.setEnabled(not self.picture.lanes.is_whole)

    # ------------------------------------------------------------ taking away

    @property
    def picture_widget(self) -> QWidget:
        """What a picture of the page shows."""
        return self.picture if self._stack.currentWidget() is self._scroll else self

    def texts(self) -> list[list[str]]:
        """What was found as a table: headings and rows."""
        return self.picture.causes.texts() if self._stack.currentWidget() is self._scroll else [[]]


def _why_not(plan: Plan) -> str:
    """Why there is nothing to simulate: no schedule, or one that leaves no time to train; and the first error of the plan."""
    known = say("It has no schedule of saves yet.") if plan.schedule is None else (
        say("A save costs as much time as there is between two saves, so nothing would be trained.")
    )  # fmt: skip
    reason = next((finding.text for finding in plan.findings if finding.severity == "error"), None)
    return known if reason is None else say("{known} {reason}", known=known, reason=say_text(reason))


def _rests_on(result: Result) -> str:
    """What a verdict rests on."""
    found = result.simulation
    return say(
        "{runs} runs of {days}, seed {seed}; {count} interruptions in a run on average",
        runs=grouped(found.runs), days=day_count(found.span_s / _DAY_S), seed=found.seed,
        count=significant(sum(one.per_run for one in found.by_class.values())),
    )  # fmt: skip


def _of_plan(result: Result) -> str:
    """Which plan a result was for."""
    schedule = result.shown.plan.schedule
    assert schedule is not None
    return say(
        "Pale below: “{name}” as it was, saved every {interval}, interrupted every {mtbi}",
        name=result.shown.name,
        interval=rough(schedule.interval_s, SECONDS),
        mtbi=rough(schedule.mtbi_s, SECONDS),
    )
