"""The Decide view: scenarios side by side by mouse and keys, stages of a campaign, the requirement sheet, what is exported."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QAction, QGuiApplication, QMouseEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QHeaderView,
    QLabel,
    QLineEdit,
    QPushButton,
    QScrollArea,
    QTabBar,
    QTableView,
    QWidget,
)
from pytestqt.qtbot import QtBot

from ckptplanner.engine.scenario import Workbook
from ckptplanner.engine.workbook_file import read
from ckptplanner.ui.decide.side_by_side import SideBySidePage
from ckptplanner.ui.decide.table import ScenarioTable
from ckptplanner.ui.main_window import MainWindow
from ckptplanner.ui.store import Store
from ckptplanner.ui.theme import DARK, LIGHT
from ckptplanner.ui.views import DECIDE, Views
from tests.pdf import text_of
from tests.ui.conftest import E1, Heard, Open
from tests.ui.hands import CTRL, LEFT, NO_KEYS, child, click, labels, press, type_into, with_file

BOOK = read(E1)
NAMES = ["5 min", "20 min", "sync 60 s", "6 B"]
ALONE = Workbook(scenarios=BOOK.scenarios[:1], current="5 min", base="5 min")
Opened = tuple[MainWindow, Store]


@pytest.fixture
def opened(open_window: Open) -> Opened:
    """The window on E1 with the scenarios side by side."""
    window, store = open_window()
    press(window, Qt.Key.Key_B, CTRL)
    return window, store


def table_of(window: QWidget) -> ScenarioTable:
    found = window.findChild(ScenarioTable)
    assert found is not None
    return found


def columns(window: QWidget) -> list[str]:
    """The names above the columns, from left to right."""
    return [head.name for head in table_of(window).grid.heads]


def row(window: QWidget, title: str) -> list[str]:
    """What stands in the row of that title, the small type behind a bar."""
    found = next(one for one in table_of(window).grid.rows if one.title == title)
    texts = (f"{cell.shown} | {cell.beside}" if cell.beside else cell.shown for cell in found.cells)
    return [text.replace("\u00a0", " ") for text in texts]


def titles(window: QWidget, group: str) -> list[str]:
    """The titles of the rows of a group."""
    found: list[str] = []
    is_inside = False
    for one in table_of(window).grid.rows:
        if one.kind == "group":
            is_inside = one.title.startswith(group)
        elif is_inside:
            found.append(one.title)
    return found


def place_of(window: QWidget, title: str, name: str) -> tuple[QTableView, QPoint]:
    """The part of the table and the place in it where a cell is."""
    table = table_of(window)
    at = next(index for index, one in enumerate(table.grid.rows) if one.title == title)
    column = columns(window).index(name)
    view = table.left if column < table.left.model().columnCount() else table.right
    local = column if view is table.left else column - table.left.model().columnCount()
    view.scrollTo(view.model().index(at, local))
    return view, view.visualRect(view.model().index(at, local)).center()


def go_to(window: QWidget, title: str, name: str) -> QTableView:
    """Click a cell."""
    view, place = place_of(window, title, name)
    QTest.mouseClick(view.viewport(), LEFT, NO_KEYS, place)
    return view


def key(window: QWidget, code: Qt.Key, keys: Qt.KeyboardModifier = NO_KEYS) -> None:
    """Press a key where the keys are."""
    focused = QApplication.focusWidget()
    assert focused is not None
    QTest.keyClick(focused, code, keys)


def current(window: QWidget) -> tuple[str, str]:
    """Title and column of the cell that the keys are at."""
    place = table_of(window).place()
    assert place is not None
    return table_of(window).grid.rows[place[0]].title, columns(window)[place[1]]


def click_title(window: QWidget, title: str) -> None:
    """Click the head of a row."""
    heads = table_of(window).titles
    at = next(index for index, one in enumerate(table_of(window).grid.rows) if one.title == title)
    y = heads.sectionViewportPosition(at) + heads.sectionSize(at) // 2
    QTest.mouseClick(heads.viewport(), LEFT, NO_KEYS, QPoint(20, y))


def drag_head(heads: QHeaderView, start: int, end: int) -> None:
    """Drag a column by its head, from one place to another."""
    viewport, kind, none = heads.viewport(), QEvent.Type.MouseMove, Qt.MouseButton.NoButton
    y = heads.height() // 2
    QTest.mousePress(viewport, LEFT, NO_KEYS, QPoint(start, y))
    for x in (start + (end - start) // 2, end):
        where = QPointF(x, y)
        QApplication.sendEvent(
            viewport, QMouseEvent(kind, where, QPointF(viewport.mapToGlobal(where.toPoint())), none, LEFT, NO_KEYS)
        )
    QTest.mouseRelease(viewport, LEFT, NO_KEYS, QPoint(end, y))


def names(store: Store) -> list[str]:
    return [one.name for one in store.workbook.scenarios]


# ---------------------------------------------------------------- side by side


def test_three_scenarios_and_what_differs(open_window: Open) -> None:
    """Journey 5: duplicate, change two things, see which inputs differ and what that does."""
    window, store = open_window(ALONE)
    press(window, Qt.Key.Key_B, CTRL)
    assert "There is one scenario so far" in labels(child(window, QWidget, "decide.empty"))
    click(child(window, QPushButton, "decide.begin"))
    store.rename("5 min copy", "slow")
    type_into(window, "storage.write_s", "20 min")
    press(window, Qt.Key.Key_D, CTRL)
    store.rename("slow copy", "slow, 16 nodes")
    type_into(window, "workload.nodes", "16")
    assert columns(window) == ["5 min", "slow", "slow, 16 nodes"]
    assert titles(window, "What differs") == ["Nodes", "Write time"]
    assert row(window, "Nodes") == ["32 | article", "32", "16 | typed"]
    assert row(window, "Write time") == ["5 min | article", "20 min | typed", "20 min | typed"]
    assert row(window, "Storage")[1] == "$1,512 | −$2,568, −63 %"


def test_the_table_shows_the_figures_of_the_example(opened: Opened) -> None:
    window, _ = opened
    assert columns(window) == NAMES
    assert titles(window, "What differs") == ["Saved for each", "Save", "Write time"]
    assert row(window, "Costs in all") == [
        "$21,938", "$26,613 | +$4,674, +21 %", "$65,897 | +$43,958, +200 %", "$19,925 | −$2,013, −9.2 %",
    ]  # fmt: skip
    assert row(window, "Waste")[:3] == ["0.54 %", "0.75 % | +0.22 points, +41 %", "1.37 % | +0.84 points, +156 %"]
    assert row(window, "File system")[2] == "1,000 MB/s/TiB, EFA"
    said = child(window, QLabel, "decide.sentence").text().replace("\u00a0", " ")
    assert said == "Cheapest in all, and least waste: 6 B, $19,925 a month, 0.53 %."


def test_better_and_worse_are_said_in_words_too(opened: Opened) -> None:
    window, _ = opened
    storage = next(one for one in table_of(window).grid.rows if one.title == "Storage")
    assert [cell.tone for cell in storage.cells] == ["", "better", "worse", "better"]
    assert storage.cells[1].in_words.replace("\u00a0", " ") == "20 min: Storage $1,512, −$2,568, −63 % to 5 min: better"
    index = table_of(window).right.model().index(6, 0)
    assert index.data(Qt.ItemDataRole.AccessibleTextRole) == storage.cells[1].in_words


def test_the_basis_changes_the_dollars(opened: Opened) -> None:
    window, _ = opened
    click(child(window, QAbstractButton, "basis.year"))
    assert row(window, "Storage")[0] == "$48,960"
    assert titles(window, "What follows, dollars a year")


def test_a_click_on_a_row_sorts(opened: Opened) -> None:
    window, store = opened
    click_title(window, "Costs in all")
    assert columns(window) == ["5 min", "6 B", "20 min", "sync 60 s"], "the base stays; the cheapest comes first"
    click_title(window, "Costs in all")
    assert columns(window) == ["5 min", "sync 60 s", "20 min", "6 B"]
    click_title(window, "Can go back")
    assert columns(window)[1] == "sync 60 s", "more is better: the most comes first"
    click_title(window, "Can go back")
    click_title(window, "Can go back")
    assert columns(window) == NAMES
    assert not store.undo_stack.canUndo(), "looking is no edit"


def test_sorting_by_keys_keeps_the_cell(opened: Opened) -> None:
    window, _ = opened
    go_to(window, "Storage", "6 B")
    key(window, Qt.Key.Key_S)
    assert columns(window) == ["5 min", "20 min", "6 B", "sync 60 s"]
    assert current(window) == ("Storage", "6 B")
    key(window, Qt.Key.Key_S)
    assert columns(window) == ["5 min", "sync 60 s", "6 B", "20 min"]


def test_words_cannot_be_sorted_by(opened: Opened) -> None:
    window, _ = opened
    click_title(window, "File system")
    click_title(window, "Save")
    assert columns(window) == NAMES


def test_a_pinned_column_stays_at_the_left(opened: Opened) -> None:
    window, store = opened
    table = table_of(window)
    go_to(window, "Storage", "sync 60 s")
    key(window, Qt.Key.Key_P)
    assert columns(window) == ["5 min", "sync 60 s", "20 min", "6 B"]
    assert (table.left.model().columnCount(), table.right.model().columnCount()) == (2, 2)
    click_title(window, "Costs in all")
    assert columns(window) == ["5 min", "sync 60 s", "6 B", "20 min"], "sorting leaves it where it is"
    go_to(window, "Storage", "sync 60 s")
    key(window, Qt.Key.Key_P)
    assert table.left.model().columnCount() == 1
    assert not store.undo_stack.canUndo()


def test_enter_and_a_click_on_a_name_show_a_scenario(opened: Opened) -> None:
    window, store = opened
    go_to(window, "Waste", "20 min")
    key(window, Qt.Key.Key_Return)
    assert store.workbook.current == "20 min"
    heads = table_of(window).right.heads
    QTest.mouseClick(heads.viewport(), LEFT, NO_KEYS, QPoint(heads.sectionViewportPosition(2) + 40, 12))
    assert store.workbook.current == "6 B"


def test_another_base_by_key(opened: Opened) -> None:
    window, store = opened
    go_to(window, "Storage", "20 min")
    key(window, Qt.Key.Key_B)
    assert store.workbook.base == "20 min"
    assert columns(window) == ["20 min", "5 min", "sync 60 s", "6 B"]
    assert row(window, "Storage")[1] == "$4,080 | +$2,568, +170 %"
    store.undo_stack.undo()
    assert columns(window) == NAMES


def test_a_dragged_column_changes_the_order_of_the_file(qtbot: QtBot, opened: Opened) -> None:
    window, store = opened
    heads = table_of(window).right.heads
    start = heads.sectionViewportPosition(0) + 60
    end = heads.sectionViewportPosition(2) + heads.sectionSize(2) - 20
    drag_head(heads, start, end)
    qtbot.waitUntil(lambda: names(store) == ["5 min", "sync 60 s", "6 B", "20 min"])
    assert columns(window) == names(store)
    assert [heads.visualIndex(at) for at in range(3)] == [0, 1, 2]
    store.undo_stack.undo()
    assert columns(window) == NAMES


def test_a_column_is_moved_by_keys(opened: Opened) -> None:
    window, store = opened
    go_to(window, "Waste", "6 B")
    key(window, Qt.Key.Key_Left, CTRL)
    assert names(store) == ["5 min", "20 min", "6 B", "sync 60 s"]
    assert current(window) == ("Waste", "6 B")
    key(window, Qt.Key.Key_Left, CTRL)
    key(window, Qt.Key.Key_Left, CTRL)
    assert names(store) == ["5 min", "6 B", "20 min", "sync 60 s"], "at the base it stops"
    for _ in range(2):
        store.undo_stack.undo()
    assert columns(window) == NAMES


def test_moving_a_sorted_column_keeps_the_order_that_is_seen(opened: Opened) -> None:
    window, store = opened
    click_title(window, "Costs in all")
    go_to(window, "Waste", "sync 60 s")
    key(window, Qt.Key.Key_Left, CTRL)
    assert columns(window) == names(store) == ["5 min", "6 B", "sync 60 s", "20 min"]


def test_a_base_in_the_middle_of_the_file_keeps_its_place_there(open_window: Open) -> None:
    window, store = open_window(BOOK.model_copy(update={"base": "sync 60 s"}))
    press(window, Qt.Key.Key_B, CTRL)
    assert columns(window) == ["sync 60 s", "5 min", "20 min", "6 B"]
    go_to(window, "Waste", "20 min")
    key(window, Qt.Key.Key_Left, CTRL)
    assert names(store) == ["20 min", "5 min", "sync 60 s", "6 B"]


def test_the_arrows_go_from_one_part_into_the_other(opened: Opened) -> None:
    window, _ = opened
    go_to(window, "Storage", "5 min")
    key(window, Qt.Key.Key_Right)
    assert current(window) == ("Storage", "20 min")
    key(window, Qt.Key.Key_Down)
    key(window, Qt.Key.Key_Left)
    assert current(window) == ("Lost GPU time", "5 min")


def test_both_parts_scroll_together(opened: Opened) -> None:
    window, _ = opened
    table = table_of(window)
    go_to(window, "Costs in all", "6 B")
    key(window, Qt.Key.Key_End, CTRL)
    table.right.scrollToBottom()
    assert table.left.verticalScrollBar().value() == table.right.verticalScrollBar().value() > 0
    assert [table.left.rowHeight(at) for at in range(30)] == [table.right.rowHeight(at) for at in range(30)]


def test_a_key_goes_to_the_field_of_an_input(opened: Opened) -> None:
    window, store = opened
    go_to(window, "Write time", "20 min")
    key(window, Qt.Key.Key_F)
    assert store.workbook.current == "20 min"
    focused = QApplication.focusWidget()
    assert focused is not None
    assert focused.objectName() == "storage.write_s"


def actions(window: QWidget, name: str, title: str | None = None) -> dict[str, QAction]:
    table = table_of(window)
    at = None if title is None else next(index for index, one in enumerate(table.grid.rows) if one.title == title)
    menu = table.menu_for(columns(window).index(name), at)
    return {action.text().split("\t")[0]: action for action in menu.actions() if action.text()}


def test_the_menu_of_a_column_does_the_same(opened: Opened) -> None:
    window, store = opened
    actions(window, "6 B")["Pin it at the left"].trigger()
    assert columns(window) == ["5 min", "6 B", "20 min", "sync 60 s"]
    actions(window, "6 B")["Let it scroll"].trigger()
    actions(window, "6 B")["Move to the left"].trigger()
    assert names(store) == ["5 min", "20 min", "6 B", "sync 60 s"]
    actions(window, "6 B", "Storage")["Sort by this row"].trigger()
    assert columns(window) == ["5 min", "20 min", "6 B", "sync 60 s"]
    actions(window, "20 min")["Compare with this one (base)"].trigger()
    assert store.workbook.base == "20 min"
    assert not actions(window, "20 min")["Pin it at the left"].isEnabled()
    actions(window, "6 B")["Show this scenario"].trigger()
    assert store.workbook.current == "6 B"


def test_an_edit_in_a_panel_shows_at_once(opened: Opened) -> None:
    window, _ = opened
    before = row(window, "Costs in all")
    type_into(window, "storage.generations_kept", "5")
    assert titles(window, "What differs") == ["Saved for each", "Save", "Write time", "Generations"]
    assert row(window, "Costs in all")[0] == before[0]
    assert row(window, "Full")[0] != "54 %"


def test_seven_scenarios_scroll_beside_the_base(open_window: Open) -> None:
    many = tuple(one.model_copy(update={"name": f"{one.name} {copy}"}) for copy in range(2) for one in BOOK.scenarios)
    window, _ = open_window(Workbook(scenarios=many, current=many[0].name, base=many[0].name))
    window.resize(1180, 720)
    press(window, Qt.Key.Key_B, CTRL)
    table = table_of(window)
    assert table.right.horizontalScrollBar().maximum() > 0
    go_to(window, "Storage", many[1].name)
    for _ in range(6):
        key(window, Qt.Key.Key_Right)
    assert current(window) == ("Storage", many[7].name)
    view, place = place_of(window, "Storage", many[7].name)
    assert view.viewport().rect().contains(place)


# ---------------------------------------------------------------- stages of one campaign


@pytest.fixture
def campaign(opened: Opened) -> Opened:
    """The four scenarios as stages."""
    click(child(opened[0], QAbstractButton, "decide.mode.stages"))
    return opened


def test_the_switch_makes_stages_of_all(campaign: Opened) -> None:
    window, store = campaign
    assert store.workbook.campaign == tuple(NAMES)
    assert columns(window) == ["All stages", *NAMES]
    assert row(window, "Part of the campaign") == ["4", "stage 1", "stage 2", "stage 3", "stage 4"]
    assert row(window, "Needs to write")[0] == "29 GB/s"
    assert "1,000 MB/s/TiB × 33,600 GiB, EFA" in child(window, QLabel, "decide.sentence").text()
    store.undo_stack.undo()
    assert columns(window) == NAMES


def test_a_stage_is_left_out_and_taken_in(campaign: Opened) -> None:
    window, store = campaign
    go_to(window, "Part of the campaign", "sync 60 s")
    assert store.workbook.campaign == ("5 min", "20 min", "6 B")
    assert row(window, "Part of the campaign") == ["3", "stage 1", "stage 2", "left out", "stage 3"]
    assert row(window, "Needs to write")[0] == "5.81 GB/s"
    assert row(window, "Storage")[3] == ""
    assert "500 MB/s/TiB × 12,000 GiB" in child(window, QLabel, "decide.sentence").text()
    key(window, Qt.Key.Key_Space)
    assert store.workbook.campaign == tuple(NAMES)


def test_the_last_stage_stays(campaign: Opened) -> None:
    window, store = campaign
    for name in NAMES[1:]:
        go_to(window, "Part of the campaign", name)
    go_to(window, "Part of the campaign", "5 min")
    assert store.workbook.campaign == ("5 min",)
    assert child(window, QLabel, "decide.hint").text() == "A campaign has at least one stage."


def type_days(window: QWidget, name: str, text: str) -> None:
    """Type days into a cell by keys."""
    go_to(window, "Days", name)
    key(window, Qt.Key.Key_Return)
    edit = QApplication.focusWidget()
    assert isinstance(edit, QLineEdit)
    edit.selectAll()
    QTest.keyClicks(edit, text)
    QTest.keyClick(edit, Qt.Key.Key_Return)
    QApplication.sendPostedEvents()  # a table takes what was typed in the next turn of the loop


def test_days_are_typed_and_summed(campaign: Opened) -> None:
    window, store = campaign
    for name, days in (("5 min", "60"), ("20 min", "3 weeks"), ("sync 60 s", "9 d"), ("6 B", "10")):
        type_days(window, name, days)
    assert [one.scenario.run.days for one in store.workbook.scenarios] == [60.0, 21.0, 9.0, 10.0]
    assert row(window, "Days") == ["100 d", "60 d", "21 d", "9 d", "10 d"]
    assert store.workbook.current == "5 min"
    whole, *each = (float(cell.removeprefix("$").replace(",", "")) for cell in row(window, "Storage"))
    assert whole == pytest.approx(sum(each), abs=2)
    assert whole == pytest.approx(12 * 20_160 * 100 / 365, abs=1), "SPEC 5: the file system of the 60-second plan, 100 days"
    store.undo_stack.undo()
    assert row(window, "Days")[4] == "365 d"


@pytest.mark.parametrize(("text", "why"), [("soon", "Not a length in days."), ("-3", "Between"), ("40000", "Between")])
def test_days_that_cannot_be_are_refused(campaign: Opened, text: str, why: str) -> None:
    window, store = campaign
    type_days(window, "20 min", text)
    assert store.workbook.named("20 min").scenario.run.days == 365.0
    hint = child(window, QLabel, "decide.hint")
    assert hint.text().startswith(why)
    assert hint.property("role") == "refusal"
    type_days(window, "20 min", "30")
    assert hint.property("role") == "small"


def test_stages_are_moved_into_order(campaign: Opened) -> None:
    window, store = campaign
    go_to(window, "Saves", "5 min")
    key(window, Qt.Key.Key_Right, CTRL)
    assert names(store) == ["20 min", "5 min", "sync 60 s", "6 B"]
    assert row(window, "Part of the campaign")[1:3] == ["stage 1", "stage 2"]
    assert current(window) == ("Saves", "5 min")


def test_the_choice_of_stages_is_remembered(campaign: Opened) -> None:
    window, store = campaign
    go_to(window, "Part of the campaign", "sync 60 s")
    click(child(window, QAbstractButton, "decide.mode.alternatives"))
    assert store.workbook.campaign == ()
    assert columns(window) == NAMES
    click(child(window, QAbstractButton, "decide.mode.stages"))
    assert store.workbook.campaign == ("5 min", "20 min", "6 B")


# ---------------------------------------------------------------- the requirement sheet


def test_the_sheet_is_that_of_the_current_plan(opened: Opened) -> None:
    window, store = opened
    press(window, Qt.Key.Key_B, CTRL | Qt.KeyboardModifier.ShiftModifier)
    page = child(window, QWidget, "decide.requirement")
    assert "5.81 GB/s" in labels(page)
    store.switch("20 min")
    assert "1.45 GB/s" in labels(page)
    assert any("--rw=write" in text for text in labels(page))


def test_a_line_and_the_sheet_are_copied(opened: Opened) -> None:
    window, _ = opened
    click(child(window, QTabBar, "decide_pages"), child(window, QTabBar, "decide_pages").tabRect(7).center())
    page = child(window, QWidget, "decide.requirement")
    ior = next(one for one in page.findChildren(QPushButton) if "IOR" in one.accessibleName())
    click(ior)
    assert QGuiApplication.clipboard().text().startswith("srun -N 32 --ntasks-per-node=8 ior ")
    click(child(window, QPushButton, "decide.copy_sheet"))
    assert "Sustained write, all clients together" in QGuiApplication.clipboard().text()
    press(window, Qt.Key.Key_T, CTRL | Qt.KeyboardModifier.ShiftModifier)
    assert QGuiApplication.clipboard().text().startswith("What\tHow much\tWhy\n")


def test_cards_that_are_not_needed_go(open_window: Open) -> None:
    window, store = open_window(BOOK.model_copy(update={"current": "20 min"}))
    press(window, Qt.Key.Key_B, CTRL | Qt.KeyboardModifier.ShiftModifier)
    page = child(window, QWidget, "decide.requirement")
    before = len(labels(page))
    store.edit("storage.quota_gib", 100.0)
    assert len(labels(page)) < before
    store.undo_stack.undo()
    assert len(labels(page)) == before


# ---------------------------------------------------------------- taking away


def test_the_table_is_copied_with_its_differences(opened: Opened) -> None:
    window, _ = opened
    press(window, Qt.Key.Key_T, CTRL | Qt.KeyboardModifier.ShiftModifier)
    lines = [line.split("\t") for line in QGuiApplication.clipboard().text().replace("\u00a0", " ").split("\n")]
    assert lines[0][:5] == ["", "5 min, base", "20 min", "20 min, difference", "%"]
    storage = next(line for line in lines if line[0] == "Storage")
    assert storage[1:5] == ["$4,080", "$1,512", "−$2,568", "−63 %"]
    assert {len(line) for line in lines if line != [""]} == {11}


def test_the_picture_is_the_table(opened: Opened) -> None:
    window, _ = opened
    press(window, Qt.Key.Key_P, CTRL | Qt.KeyboardModifier.ShiftModifier)
    assert QGuiApplication.clipboard().image().width() == 2 * table_of(window).width()


def test_the_comparison_is_exported(opened: Opened, tmp_path: Path) -> None:
    window, store = opened
    store.make_campaign(["5 min", "20 min"])
    folder = tmp_path / "out"
    folder.mkdir()
    with with_file(folder):
        press(window, Qt.Key.Key_E, CTRL)
    with (folder / "comparison.csv").open(encoding="utf-8-sig", newline="") as stream:
        rows = {line["path"]: line for line in csv.DictReader(stream)}
    assert float(rows["cost.storage_usd_per_year"]["20 min - 5 min"]) == 12 * (1512 - 4080)
    assert {path for path, line in rows.items() if line["kind"] == "input"} == {
        "workload.layout", "storage.mode", "storage.write_s",
    }  # fmt: skip
    report = " ".join(text_of(folder / "report.pdf").replace("\u00a0", " ").split())
    click(child(window, QAbstractButton, "decide.mode.alternatives"))
    for cell in row(window, "Costs in all"):
        shown = cell.split(" | ")[0]
        assert shown in report, "the same figures as on the screen"
    assert (folder / "campaign.csv").exists()


# ---------------------------------------------------------------- the view among the others


def test_the_page_follows_what_happens_elsewhere(opened: Opened) -> None:
    window, store = opened
    views = window.findChild(Views)
    assert views is not None
    views.show_view(0)
    store.rename("6 B", "six bytes")
    store.remove("20 min")
    views.show_view(DECIDE)
    assert columns(window) == ["5 min", "sync 60 s", "six bytes"]
    store.remove("sync 60 s")
    store.remove("six bytes")
    assert child(window, QPushButton, "decide.begin").isVisible()
    assert not child(window, QWidget, "decide.mode").isVisible()


def test_both_themes(qtbot: QtBot, opened: Opened, heard: Callable[..., Heard]) -> None:
    window, _ = opened
    page = window.findChild(SideBySidePage)
    assert page is not None
    said = heard(page.scenario_requested)
    shades = []
    for theme in (LIGHT, DARK):
        page.show_theme(theme)
        shades.append(page.table.right.heads.viewport().grab().toImage().pixelColor(60, 3).lightness())
    assert shades[0] > 200 > 80 > shades[1]
    assert said.said == []


def test_everything_is_reached_by_tab(opened: Opened) -> None:
    window, _ = opened
    child(window, QTabBar, "view_tabs").setFocus()
    seen = set()
    for _ in range(8):
        key(window, Qt.Key.Key_Tab)
        seen.add(getattr(QApplication.focusWidget(), "objectName", str)())
    assert {"decide_pages", "decide.mode.alternatives", "decide.left", "decide.right"} <= seen


def test_the_sheet_scrolls(qtbot: QtBot, opened: Opened) -> None:
    window, _ = opened
    window.resize(1180, 720)
    press(window, Qt.Key.Key_B, CTRL | Qt.KeyboardModifier.ShiftModifier)
    scroll = child(window, QWidget, "decide.requirement").findChild(QScrollArea)
    assert scroll is not None
    qtbot.waitUntil(lambda: scroll.verticalScrollBar().maximum() > 0)
    assert scroll.horizontalScrollBar().maximum() == 0
