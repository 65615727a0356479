"""Check my plan, in the window: start, see progress, stop, change the plan meanwhile, look at runs; close at any time."""

from __future__ import annotations

import re
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QLabel, QMainWindow, QMessageBox, QProgressBar, QTabBar, QWidget
from pytestqt.qtbot import QtBot

from ckptplanner.engine.evaluate import evaluate
from ckptplanner.engine.scenario import NamedScenario, Scenario
from ckptplanner.frozen import with_value
from ckptplanner.ui.assets import asset_path
from ckptplanner.ui.background import Cancelled, Progress
from ckptplanner.ui.check import work
from ckptplanner.ui.check.page import CheckPage
from ckptplanner.ui.check.strip import Strip
from ckptplanner.ui.shown import Shown
from ckptplanner.ui.store import Store
from tests.ui.conftest import Heard, Open
from tests.ui.hands import CTRL, Answer, child, click, drop, labels, press, type_into

CHECK = 2


def shown(*, name: str = "plan", index: int = 0, **values: object) -> Shown:
    scenario = Scenario()
    for path, value in values.items():
        scenario = with_value(scenario, path.replace("__", "."), value)
    return Shown(NamedScenario(name=name, scenario=scenario), evaluate(scenario), index, is_current=True, is_base=True)


@pytest.fixture
def page(qtbot: QtBot) -> Iterator[CheckPage]:
    made = CheckPage()
    qtbot.addWidget(made)
    made.resize(1068, 560)
    made.show_plan(shown())
    made.show()
    yield made
    made.close_work()


TRIES = 3  # of what is timed: the machine may be busy with other tests


class Slow:
    """In the place of the simulation: it goes on until it may end, telling how much is done."""

    def __init__(self, real: Callable[..., object]) -> None:
        self._real = real
        self.may_end = False
        self.fraction = 0.43
        self.began = 0
        self.ended_at = 0.0

    def __call__(self, setup: object, *, runs: int, seed: int, progress: Progress) -> object:
        self.began += 1
        try:
            while not self.may_end:
                progress(self.fraction)
                time.sleep(0.01)
        except Cancelled:
            self.ended_at = time.monotonic()
            raise
        return self._real(setup, runs=runs, seed=seed, progress=progress)


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> Slow:
    made = Slow(work.simulate)
    monkeypatch.setattr(work, "simulate", made)
    return made


def button(page: QWidget, name: str) -> QAbstractButton:
    found = child(page, QAbstractButton, name)
    assert isinstance(found, QAbstractButton)
    return found


def words(page: QWidget) -> str:
    return "\n".join(labels(page))


def finish(qtbot: QtBot, page: CheckPage) -> None:
    qtbot.waitUntil(lambda: not page.is_running, timeout=10_000)


def result_words(page: QWidget) -> str:
    return child(page, QLabel, "check.sentence").text()


# ---------------------------------------------------------------- start, progress, stop


def test_at_first_it_offers_what_it_would_show(page: CheckPage) -> None:
    assert "This plan has not been simulated yet" in words(page)
    assert "1,000 runs of 365 days" in words(page)
    assert button(page, "check.begin").isVisible()
    assert not button(page, "check.start").isVisible()
    assert not child(page, Strip, "check.strip").isVisible()


def test_a_click_simulates_and_shows(qtbot: QtBot, page: CheckPage) -> None:
    click(button(page, "check.begin"))
    assert page.is_running
    finish(qtbot, page)
    strip = child(page, Strip, "check.strip")
    assert strip.isVisible()
    assert "exact 0.53" in strip.accessibleDescription().replace("\u00a0", " ")
    assert result_words(page)
    assert re.search(r"1,000 runs of 365 days, seed 1; 4[34]\b", words(page))
    assert "run 1 of 1,000" in words(page)
    assert button(page, "check.start").isVisible()


def test_progress_is_counted(qtbot: QtBot, page: CheckPage, slow: Slow) -> None:
    page.start()
    bar, count = child(page, QProgressBar, "check.progress"), child(page, QLabel, "check.count")
    qtbot.waitUntil(lambda: count.text().startswith("430 of 1,000 runs"))
    assert bar.isVisible()
    assert bar.value() == 430
    assert button(page, "check.stop").isVisible()
    assert "The plan is being simulated" in words(page)
    qtbot.waitUntil(lambda: count.text().endswith("left"), timeout=3000)
    slow.may_end = True
    finish(qtbot, page)
    assert not bar.isVisible()
    assert not button(page, "check.stop").isVisible()


def test_stop_takes_less_than_200_ms(qtbot: QtBot, page: CheckPage) -> None:
    """The real simulation, with so many interruptions that it would take long."""
    page.show_plan(shown(failures__mtbi_s=7200.0))
    click(button(page, "check.runs.10000"))
    bar, took_s = child(page, QProgressBar, "check.progress"), []
    for _ in range(TRIES):
        page.start()
        qtbot.waitUntil(lambda: bar.value() > 0, timeout=10_000)
        begun = time.monotonic()
        click(button(page, "check.stop"))
        assert not page.is_running
        qtbot.waitUntil(lambda: page.is_idle, timeout=5000)
        took_s.append(time.monotonic() - begun)
        assert "stopped" in words(page)
    assert min(took_s) < 0.2
    assert button(page, "check.begin").isVisible()


def test_a_stopped_simulation_leaves_the_older_result(qtbot: QtBot, page: CheckPage, slow: Slow) -> None:
    slow.may_end = True
    page.start()
    finish(qtbot, page)
    said = result_words(page)
    slow.may_end = False
    page.start()
    qtbot.waitUntil(lambda: slow.began == 2)
    click(button(page, "check.stop"))
    assert result_words(page) == said


def test_the_focus_goes_from_start_to_stop_and_back(qtbot: QtBot, page: CheckPage, slow: Slow) -> None:
    page.activateWindow()
    button(page, "check.begin").setFocus()
    QTest.keyClick(button(page, "check.begin"), Qt.Key.Key_Space)
    assert QApplication.focusWidget() is button(page, "check.stop")
    QTest.keyClick(button(page, "check.stop"), Qt.Key.Key_Space)
    assert QApplication.focusWidget() is button(page, "check.begin")
    slow.may_end = True
    QTest.keyClick(button(page, "check.begin"), Qt.Key.Key_Space)
    finish(qtbot, page)
    assert QApplication.focusWidget() is button(page, "check.start")


# ---------------------------------------------------------------- the plan changes


def test_a_change_meanwhile_drops_the_old_result(qtbot: QtBot, page: CheckPage, slow: Slow) -> None:
    took_s = []
    for number in range(1, TRIES + 1):
        page.show_plan(shown())
        page.start()
        qtbot.waitUntil(lambda number=number: slow.began == number)
        begun = time.monotonic()
        page.show_plan(shown(storage__blocking_s=60.0))
        assert not page.is_running
        qtbot.waitUntil(lambda: page.is_idle)
        took_s.append(slow.ended_at - begun)
    assert min(took_s) < 0.2
    assert "given up: the plan has changed" in words(page)
    assert "This plan has not been simulated yet" in words(page)
    slow.may_end = True
    page.start()
    finish(qtbot, page)
    assert "exact 1.45" in child(page, Strip, "check.strip").accessibleDescription()


def test_an_old_result_is_pale_until_the_plan_is_what_it_was(qtbot: QtBot, page: CheckPage) -> None:
    page.start()
    finish(qtbot, page)
    said = result_words(page)
    page.show_plan(shown(name="other", storage__blocking_s=60.0))
    assert result_words(page) == "The plan has changed; simulate again."
    assert "Pale below: “plan” as it was, saved every 45 min, interrupted every 200 h" in words(page).replace("\u00a0", " ")
    page.show_plan(shown(name="renamed"))
    assert result_words(page) == said


def test_what_does_not_bear_on_the_run_changes_nothing(qtbot: QtBot, page: CheckPage, slow: Slow) -> None:
    page.start()
    qtbot.waitUntil(lambda: slow.began == 1)
    page.show_plan(shown(prices__gpu_value_usd_per_h=1.0))
    assert page.is_running
    slow.may_end = True
    finish(qtbot, page)
    assert "simulate again" not in result_words(page)


def test_results_of_scenarios_are_kept_side_by_side(qtbot: QtBot, page: CheckPage) -> None:
    said = []
    for stop_s in (5.0, 60.0):
        page.show_plan(shown(storage__blocking_s=stop_s))
        page.start()
        finish(qtbot, page)
        said.append(child(page, Strip, "check.strip").accessibleDescription())
    page.show_plan(shown())
    assert child(page, Strip, "check.strip").accessibleDescription() == said[0]
    page.begin()
    assert not page.is_running  # it is known already


def test_a_plan_without_a_schedule_says_why(page: CheckPage) -> None:
    page.show_plan(shown(storage__mode="sync", storage__interval_s=10.0))
    assert "nothing would be trained" in words(page)
    assert "This plan cannot be simulated" in words(page)
    assert not button(page, "check.begin").isVisible()
    page.begin()
    assert not page.is_running


def test_a_failure_is_a_sentence_with_details(qtbot: QtBot, page: CheckPage, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> object:
        raise ValueError("the work between saves must be longer than nothing")

    monkeypatch.setattr(work, "simulate", broken)
    page.start()
    finish(qtbot, page)
    assert "the work between saves must be longer than nothing" in words(page)
    told: list[str] = []

    def read(box: QWidget) -> None:
        assert isinstance(box, QMessageBox)
        told.append(box.detailedText())

    with Answer(read):
        click(button(page, "check.details"))
    assert "in broken" in told[0]
    page.show_plan(shown(storage__blocking_s=60.0))
    assert not button(page, "check.details").isVisible()


# ---------------------------------------------------------------- runs and seeds


def test_another_seed_draws_again(qtbot: QtBot, page: CheckPage) -> None:
    page.start()
    finish(qtbot, page)
    before = child(page, Strip, "check.strip").accessibleDescription()
    click(button(page, "check.another"))
    finish(qtbot, page)
    assert "seed 2" in words(page)
    assert child(page, Strip, "check.strip").accessibleDescription() != before


def test_the_number_of_runs_is_chosen(qtbot: QtBot, page: CheckPage) -> None:
    click(button(page, "check.runs.200"))
    assert "200 runs of 365 days" in words(page)
    page.start()
    finish(qtbot, page)
    assert "run 1 of 200" in words(page)
    assert not button(page, "check.previous").isEnabled()


def test_runs_can_be_gone_through(qtbot: QtBot, page: CheckPage) -> None:
    page.start()
    finish(qtbot, page)
    lanes = page.picture.lanes
    first = lanes.accessibleDescription()
    with qtbot.waitSignal(page.picture.head.step_requested):
        click(button(page, "check.next"))
    assert "run 2 of 1,000" in words(page)
    qtbot.waitUntil(lambda: lanes.accessibleDescription() != first)
    click(button(page, "check.previous"))
    qtbot.waitUntil(lambda: lanes.accessibleDescription() == first)


def test_the_way_back_to_the_whole_run(qtbot: QtBot, page: CheckPage) -> None:
    page.start()
    finish(qtbot, page)
    assert not button(page, "check.whole").isEnabled()
    QTest.keyClick(page.picture.lanes, Qt.Key.Key_PageDown)
    assert not page.picture.lanes.is_whole
    click(button(page, "check.whole"))
    assert page.picture.lanes.is_whole


def test_the_lanes_say_what_the_causes_say(qtbot: QtBot, page: CheckPage) -> None:
    """One run of the simulation, in days: its lanes together are the run."""
    page.start()
    finish(qtbot, page)
    frame = page.picture.lanes.frame()
    assert frame is not None
    run = frame.run
    assert run.length_s == pytest.approx(365 * 86_400.0)
    assert sum(one.total_s for one in run.lanes) == pytest.approx(run.length_s, rel=1e-6)
    assert {"training", "saving", "lost", "restart"} <= {one.name for one in run.lanes}


# ---------------------------------------------------------------- by keys


def test_everything_is_reached_by_tab_and_has_a_name(qtbot: QtBot, page: CheckPage) -> None:
    page.start()
    finish(qtbot, page)
    page.activateWindow()
    page.picture.lanes.show_span(0.0, 86_400.0)
    button(page, "check.start").setFocus()
    seen: list[str] = []
    for _ in range(20):
        now = QApplication.focusWidget()
        assert now is not None
        if now.objectName() in seen:
            break
        seen.append(now.objectName())
        assert now.accessibleName() or now.text()  # type: ignore[attr-defined]
        QTest.keyClick(now, Qt.Key.Key_Tab)
    assert set(seen) >= {"check.start", "check.runs.1000", "check.another", "check.next", "check.whole", "check.lanes"}


def test_arrows_choose_the_number_of_runs(page: CheckPage) -> None:
    page.activateWindow()
    button(page, "check.runs.1000").setFocus()
    QTest.keyClick(button(page, "check.runs.1000"), Qt.Key.Key_Right)
    assert button(page, "check.runs.10000").isChecked()
    assert QApplication.focusWidget() is button(page, "check.runs.10000")
    assert "10,000 runs of 365 days" in words(page)


# ---------------------------------------------------------------- in the window


def check_page(window: QMainWindow) -> CheckPage:
    found = window.findChild(CheckPage)
    assert found is not None
    return found


def to_check(window: QMainWindow) -> CheckPage:
    bar = child(window, QTabBar, "plan_pages")
    click(bar, bar.tabRect(CHECK).center())
    return check_page(window)


def test_the_shortcut_opens_and_starts(qtbot: QtBot, open_window: Open) -> None:
    window, _ = open_window()
    assert window.findChild(CheckPage) is None
    press(window, Qt.Key.Key_2, CTRL)
    press(window, Qt.Key.Key_R, CTRL)
    page = check_page(window)
    assert page.isVisible()
    finish(qtbot, page)
    assert "exact 0.53" in child(page, Strip, "check.strip").accessibleDescription()
    press(window, Qt.Key.Key_R, CTRL)
    assert not page.is_running


def test_the_page_takes_the_room_of_the_tables(open_window: Open) -> None:
    window, _ = open_window()
    tables = child(window, QTabBar, "plan_tables")
    assert tables.isVisible()
    to_check(window)
    assert not tables.isVisible()
    press(window, Qt.Key.Key_8, CTRL)  # the save schedule
    assert tables.isVisible()
    assert not check_page(window).isVisible()


def test_an_edit_gives_up_what_runs(qtbot: QtBot, open_window: Open, slow: Slow) -> None:
    window, _ = open_window()
    page = to_check(window)
    page.start()
    qtbot.waitUntil(lambda: slow.began == 1)
    type_into(window, "storage.blocking_s", "60 s")
    assert not page.is_running
    qtbot.waitUntil(lambda: page.is_idle)
    assert slow.ended_at > 0.0


def test_an_edit_in_another_view_gives_it_up_too(qtbot: QtBot, open_window: Open, slow: Slow) -> None:
    window, _ = open_window()
    page = to_check(window)
    page.start()
    qtbot.waitUntil(lambda: slow.began == 1)
    press(window, Qt.Key.Key_3, CTRL)
    type_into(window, "storage.blocking_s", "60 s")
    assert not page.is_running


def test_another_file_takes_the_results_with_it(qtbot: QtBot, open_window: Open, tmp_path: Path) -> None:
    window, _ = open_window()
    page = to_check(window)
    page.start()
    finish(qtbot, page)
    other = tmp_path / "other.ckptplan.json"
    shutil.copy(asset_path("examples") / "one-node-fine-tune.ckptplan.json", other)
    assert drop(window, other)
    assert "This plan has not been simulated yet" in words(page)
    assert not child(page, Strip, "check.strip").isVisible()


def test_nothing_is_copied_before_there_is_something(open_window: Open) -> None:
    window, _ = open_window()
    to_check(window)
    QGuiApplication.clipboard().setText("kept")
    press(window, Qt.Key.Key_T, CTRL | Qt.KeyboardModifier.ShiftModifier)
    assert QGuiApplication.clipboard().text() == "kept"
    assert "nothing to copy" in window.statusBar().currentMessage()
    QGuiApplication.clipboard().clear()


def test_undo_brings_the_result_back(qtbot: QtBot, open_window: Open) -> None:
    window, _ = open_window()
    page = to_check(window)
    page.start()
    finish(qtbot, page)
    said = result_words(page)
    type_into(window, "storage.blocking_s", "60 s")
    assert "simulate again" in result_words(page)
    press(window, Qt.Key.Key_Z, CTRL)
    assert result_words(page) == said


def test_table_and_picture_are_those_of_the_page(qtbot: QtBot, open_window: Open) -> None:
    window, _ = open_window()
    page = to_check(window)
    page.start()
    finish(qtbot, page)
    view = window._view.plan  # type: ignore[attr-defined]  # noqa: SLF001
    assert view.table_texts()[0] == ["Part of the run", "Simulated", "Formula"]
    assert view.picture_widget is page.picture


def closing_is_quick(window: QMainWindow, store: Store) -> float:
    store.undo_stack.setClean()
    begun = time.monotonic()
    window.close()
    return time.monotonic() - begun


def test_the_window_closes_while_it_runs(qtbot: QtBot, open_window: Open, slow: Slow, heard: type[Heard]) -> None:
    window, store = open_window()
    page = to_check(window)
    page.start()
    qtbot.waitUntil(lambda: slow.began == 1)
    assert closing_is_quick(window, store) < 0.5
    assert page.is_idle
    assert slow.ended_at > 0.0


def test_a_real_simulation_is_waited_for_on_closing(qtbot: QtBot, open_window: Open) -> None:
    window, store = open_window()
    store.edit("failures.mtbi_s", 7200.0)
    page = to_check(window)
    click(button(page, "check.runs.10000"))
    page.start()
    bar = child(page, QProgressBar, "check.progress")
    qtbot.waitUntil(lambda: bar.value() > 0, timeout=10_000)
    assert closing_is_quick(window, store) < 0.5
    assert page.is_idle
