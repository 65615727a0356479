"""What flips it, and the break-even under the cards: worked out beside the window, read, pointed at, given up."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QAction, QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QLabel, QProgressBar, QWidget
from pytestqt.qtbot import QtBot

from ckptplanner.engine.scenario import Workbook
from ckptplanner.engine.workbook_file import read
from ckptplanner.frozen import with_value
from ckptplanner.ui.background import Cancelled, Progress
from ckptplanner.ui.break_even import BreakEvens
from ckptplanner.ui.decide import flips_page
from ckptplanner.ui.decide.flip_bars import FlipBars
from ckptplanner.ui.decide.flips_page import FlipsPage
from ckptplanner.ui.main_window import MainWindow
from ckptplanner.ui.theme import DARK
from ckptplanner.ui.widgets.picker import Picker
from tests.ui.conftest import E1, Heard, Open
from tests.ui.hands import CTRL, LEFT, NO_KEYS, child, click, click_figure, labels, plain, press, type_into

BOOK = read(E1)
LONG_MS = 20_000  # the machine may be busy with other tests


def page_of(window: QWidget) -> FlipsPage:
    found = window.findChild(FlipsPage)
    assert found is not None
    return found


def bars_of(window: QWidget) -> FlipBars:
    return page_of(window).bars


def wait(qtbot: QtBot, window: QWidget) -> None:
    bench = page_of(window).bench
    qtbot.waitUntil(lambda: not bench.is_running and not bench.is_stale, timeout=LONG_MS)


@pytest.fixture
def opened(qtbot: QtBot, open_window: Open) -> MainWindow:
    """The window on E1 with the bars worked out."""
    window, _ = open_window()
    press(window, Qt.Key.Key_L, CTRL)
    wait(qtbot, window)
    return window


class Slow:
    """In the place of the search: it goes on until it may end, telling how much is done."""

    def __init__(self, real: Callable[..., object]) -> None:
        self._real = real
        self.may_end = False
        self.began = self.given_up = 0

    def __call__(self, first: object, second: object, *, progress: Progress) -> object:
        self.began += 1
        try:
            while not self.may_end:
                progress(0.43)
                time.sleep(0.005)
        except Cancelled:
            self.given_up += 1
            raise
        return self._real(first, second, progress=progress)


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> Slow:
    made = Slow(flips_page.flip_bars)
    monkeypatch.setattr(flips_page, "flip_bars", made)
    return made


def row(window: QWidget, title: str) -> dict[str, str]:
    """An input's row in the table that is copied."""
    heads, rows = page_of(window).texts()
    cells = next(cells for cells in rows if cells[0] == title)
    return {head: cell.replace("\u00a0", " ") for head, cell in zip(heads, cells, strict=True)}


def index_of(window: QWidget, path: str) -> int:
    return next(index for index, bar in enumerate(bars_of(window).bars) if bar.path == path)


# ---------------------------------------------------------------- the bars


def test_every_flip_is_named_with_its_range(opened: MainWindow) -> None:
    value = row(opened, "Value of a GPU-hour")
    assert (value["Today"], value["From"], value["To"], value["Flips at"]) == ("$17.8", "$1", "$40", "$6.31")
    assert value["Range"] == "assumption"
    mtbi = row(opened, "Interrupted every")
    assert (mtbi["Flips at"], mtbi["Range"]) == ("566 h", "published")
    assert row(opened, "Nodes")["Flips at"] == "20"
    assert row(opened, "Parameters")["Flips at"] == "309 B, 334 B, 368 B"
    assert row(opened, "Stop time")["Flips at"] == ""
    said = child(opened, QLabel, "flips.sentence").text().replace("\u00a0", " ")
    assert said.startswith("It beats “20 min” while a GPU-hour is worth more than $6.31")
    assert "$4,674 a month less" in "\n".join(labels(page_of(opened)))


def test_the_uncertain_inputs_come_first_and_those_without_effect_last(opened: MainWindow) -> None:
    bars = bars_of(opened).bars
    flipping = [bar for bar in bars if bar.flips]
    assert [bar.path for bar in flipping[:2]] == ["prices.gpu_value_usd_per_h", "failures.mtbi_s"]
    assert bars[: len(flipping)] == tuple(flipping)
    assert len(bars) > len(flipping)


def test_pointing_at_a_value_says_what_both_cost(opened: MainWindow, qtbot: QtBot) -> None:
    bars, heard = bars_of(opened), Heard(bars_of(opened).hovered)
    at = index_of(opened, "prices.gpu_value_usd_per_h")
    x = bars.place_of(at, 6.3123)
    qtbot.mouseMove(bars, QPointF(x, bars.bar_rect(at).center().y()).toPoint())
    said = str(heard.said[-1][0]).replace("\u00a0", " ")
    assert said.startswith("Value of a GPU-hour $6.31: “5 min” $10,4")
    assert "“20 min” $10,4" in said
    assert said.endswith("a month")


def test_a_click_on_a_bar_leads_to_the_field(opened: MainWindow) -> None:
    bars = bars_of(opened)
    for path, name in (
        ("failures.mtbi_s", "failures.mtbi_s"),
        ("storage.blocking_s", "storage.blocking_s"),
        ("failures.restart_base_s", "failures.detect_s"),
        ("prices.storage_usd_per_gib_month", "prices.storage_usd_per_gib_month.p2_500"),
    ):
        QTest.mouseClick(bars, LEFT, NO_KEYS, bars.row_rect(index_of(opened, path)).center().toPoint())
        focused = QApplication.focusWidget()
        assert focused is not None
        assert focused.objectName() == name


def test_keys_go_along_the_bars(opened: MainWindow) -> None:
    bars, heard = bars_of(opened), Heard(bars_of(opened).hovered)
    bars.setFocus(Qt.FocusReason.TabFocusReason)
    QTest.keyClick(bars, Qt.Key.Key_Home)
    assert "Value of a GPU-hour $17.8:" in str(heard.said[-1][0])
    QTest.keyClick(bars, Qt.Key.Key_Left)
    assert "Value of a GPU-hour $16.7:" in str(heard.said[-1][0])
    QTest.keyClick(bars, Qt.Key.Key_Down)
    assert "566" in str(heard.said[-1][0])
    asked = Heard(page_of(opened).field_requested)
    QTest.keyClick(bars, Qt.Key.Key_Return)
    assert asked.said == [("failures.mtbi_s",)]


def test_another_plan_is_chosen(opened: MainWindow, qtbot: QtBot) -> None:
    child(opened, Picker, "flips.other").choose("6 B")  # type: ignore[attr-defined]
    wait(qtbot, opened)
    assert {bar.second for bar in bars_of(opened).bars} == {"6 B"}
    child(opened, Picker, "flips.other").choose("sync 60 s")  # type: ignore[attr-defined]
    wait(qtbot, opened)
    assert "over the whole range of every input" in child(opened, QLabel, "flips.sentence").text()


# ---------------------------------------------------------------- work


def test_work_shows_how_far_it_is_and_can_be_stopped(qtbot: QtBot, open_window: Open, slow: Slow) -> None:
    window, _ = open_window()
    press(window, Qt.Key.Key_L, CTRL)
    bar = child(window, QProgressBar, "flips.progress")
    qtbot.waitUntil(lambda: bar.isVisible() and bar.value() == 430, timeout=LONG_MS)
    assert "43 %" in labels(page_of(window))
    click(child(window, QAbstractButton, "flips.stop"))
    qtbot.waitUntil(lambda: slow.given_up == 1, timeout=LONG_MS)
    assert "It was stopped before it was done." in labels(page_of(window))
    slow.may_end = True
    click(child(window, QAbstractButton, "flips.begin"))
    wait(qtbot, window)
    assert row(window, "Value of a GPU-hour")["Flips at"] == "$6.31"


def test_an_edit_while_it_runs_drops_what_was_asked(qtbot: QtBot, open_window: Open, slow: Slow) -> None:
    window, _ = open_window()
    press(window, Qt.Key.Key_L, CTRL)
    qtbot.waitUntil(lambda: slow.began == 1, timeout=LONG_MS)
    type_into(window, "storage.write_s", "6 min")
    qtbot.waitUntil(lambda: slow.given_up == 1, timeout=LONG_MS)
    slow.may_end = True
    wait(qtbot, window)
    assert slow.began == 2
    assert row(window, "Value of a GPU-hour")["Flips at"] != "$6.31"


def test_the_old_bars_are_pale_until_the_new_ones_are_there(opened: MainWindow, qtbot: QtBot) -> None:
    bench = page_of(opened).bench
    type_into(opened, "storage.write_s", "6 min")
    assert bench.is_stale
    assert bars_of(opened).bars
    wait(qtbot, opened)
    type_into(opened, "storage.write_s", "5 min")
    assert not bench.is_stale  # known already
    assert row(opened, "Value of a GPU-hour")["Flips at"] == "$6.31"


def test_closing_while_it_runs_gives_up(qtbot: QtBot, open_window: Open, slow: Slow) -> None:
    window, store = open_window()
    press(window, Qt.Key.Key_L, CTRL)
    qtbot.waitUntil(lambda: slow.began == 1, timeout=LONG_MS)
    store.undo_stack.setClean()
    window.close()
    assert slow.given_up == 1
    assert page_of(window).bench.is_idle


def test_leaving_the_page_gives_up(qtbot: QtBot, open_window: Open, slow: Slow) -> None:
    window, _ = open_window()
    press(window, Qt.Key.Key_L, CTRL)
    qtbot.waitUntil(lambda: slow.began == 1, timeout=LONG_MS)
    press(window, Qt.Key.Key_1, CTRL)
    qtbot.waitUntil(lambda: slow.given_up == 1, timeout=LONG_MS)
    slow.may_end = True
    press(window, Qt.Key.Key_L, CTRL)
    wait(qtbot, window)


def test_a_failure_is_told(qtbot: QtBot, open_window: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> object:
        raise ValueError("The grid is empty.")

    monkeypatch.setattr(flips_page, "flip_bars", broken)
    window, _ = open_window()
    press(window, Qt.Key.Key_L, CTRL)
    qtbot.waitUntil(lambda: "The grid is empty." in labels(page_of(window)), timeout=LONG_MS)
    assert child(window, QAbstractButton, "flips.details").isVisible()


# ---------------------------------------------------------------- what is missing


def test_one_scenario_alone_offers_a_copy(open_window: Open) -> None:
    alone = Workbook(scenarios=BOOK.scenarios[:1], current="5 min", base="5 min")
    window, store = open_window(alone)
    press(window, Qt.Key.Key_L, CTRL)
    assert "Nothing to compare with yet" in labels(page_of(window))
    click(child(window, QAbstractButton, "flips.begin"))
    assert len(store.workbook.scenarios) == 2


def test_a_plan_with_an_error_says_so(open_window: Open) -> None:
    window, _ = open_window()
    type_into(window, "storage.generations_kept", "1")
    press(window, Qt.Key.Key_L, CTRL)
    assert "This plan does not work yet" in labels(page_of(window))


def test_both_themes_and_the_copied_picture(opened: MainWindow) -> None:
    light = opened.grab().toImage()
    page_of(opened).show_theme(DARK)
    assert page_of(opened).picture_widget.grab().toImage() != light
    action = next(one for one in opened.findChildren(QAction) if one.text() == "Copy table")
    action.trigger()
    assert "$6.31" in QGuiApplication.clipboard().text()


# ---------------------------------------------------------------- under the cards


def sentence(window: QWidget) -> str:
    return plain(child(window, QLabel, "sentence").text())


def test_the_sentence_under_the_cards_names_the_break_evens(qtbot: QtBot, open_window: Open) -> None:
    window, store = open_window()
    assert "beats" not in sentence(window)
    below = child(window, QWidget, "view_tabs").mapTo(window, QPoint(0, 0)).y()
    qtbot.waitUntil(lambda: "beats" in sentence(window), timeout=LONG_MS)
    assert sentence(window).endswith(
        "after 5 min 5 s. It beats “20 min” while a GPU-hour is worth more than $6.31, and jobs of 32 nodes are interrupted "
        "more often than every 566 h."
    )
    assert child(window, QWidget, "view_tabs").mapTo(window, QPoint(0, 0)).y() == below
    click_figure(window, "field:failures.mtbi_s")
    focused = QApplication.focusWidget()
    assert focused is not None
    assert focused.objectName() == "failures.mtbi_s"
    store.edit("storage.write_s", 240.0)
    assert "beats" not in sentence(window)  # until the new one is there
    assert child(window, QWidget, "view_tabs").mapTo(window, QPoint(0, 0)).y() == below
    qtbot.waitUntil(lambda: "beats" in sentence(window), timeout=LONG_MS)
    store.undo_stack.undo()
    qtbot.waitUntil(lambda: "$6.31" in sentence(window), timeout=LONG_MS)


def test_without_another_plan_for_the_job_nothing_is_added(qtbot: QtBot, open_window: Open) -> None:
    other = with_value(BOOK.scenarios[0].scenario, "workload.nodes", 64)
    plans = (BOOK.scenarios[0], BOOK.scenarios[1].model_copy(update={"scenario": other}))
    window, _ = open_window(Workbook(scenarios=plans, current="5 min", base="5 min"))
    before = sentence(window)
    qtbot.waitUntil(lambda: (found := window.findChild(BreakEvens)) is not None and found.is_idle, timeout=LONG_MS)
    assert sentence(window) == before
