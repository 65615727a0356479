"""The three views in the window: a ceiling moves the bottleneck, lost nodes the restart tier, a permanent save fills S3."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QComboBox, QLabel, QLineEdit, QTabBar, QTableView, QWidget

from ckptplanner.ui.diagram.view import PathView
from ckptplanner.ui.findings_view import FindingsView
from ckptplanner.ui.survive.view import SurviveView
from ckptplanner.ui.widgets.rows_table import RowsTable
from tests.ui.conftest import Open
from tests.ui.hands import CTRL, child, click, field, headline, labels, press, type_into

PATH, SURVIVE = 1, 2


@pytest.fixture(autouse=True)
def _no_picture_stays(qapp: QApplication) -> Iterator[None]:
    """The offscreen platform does not survive a picture on its clipboard at the end."""
    yield
    qapp.clipboard().clear()


def show_tab(window: QWidget, name: str, index: int) -> None:
    bar = child(window, QTabBar, name)
    click(bar, bar.tabRect(index).center())


def words(view: QWidget) -> str:
    return "\n".join(labels(view))


def unfold(window: QWidget, path: str) -> None:
    """Bring a field that is folded away onto the screen."""
    window._panels.focus_field(path)  # type: ignore[attr-defined]  # noqa: SLF001


def cell(table: RowsTable, row: int, column: int) -> str:
    model = table.view.model()
    return str(model.index(row, column).data()).replace("\u00a0", " ")


def type_in_cell(table: RowsTable, row: int, column: int, text: str) -> None:
    """Choose a cell, type, press Enter."""
    view = table.view
    index = view.model().index(row, column)
    place: QRect = view.visualRect(index)
    QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, place.center())
    view.edit(index)
    editor = QApplication.focusWidget()
    if isinstance(editor, QComboBox):
        editor.setCurrentText(text)
        editor.activated.emit(editor.currentIndex())
        QApplication.processEvents()
        return
    assert isinstance(editor, QLineEdit)
    editor.selectAll()
    QTest.keyClicks(editor, text)
    QTest.keyClick(editor, Qt.Key.Key_Return)
    QApplication.processEvents()  # the view commits what was typed once the key has been handled


# ---------------------------------------------------------------- path


def test_a_ceiling_that_is_typed_moves_the_bottleneck(open_window: Open) -> None:
    window, store = open_window()
    show_tab(window, "view_tabs", PATH)
    view = child(window, PathView, "path_view")
    view.show_phase("snapshot")
    assert "pinned copies, 455 GB/s a node" in words(view)
    unfold(window, "datapath.memory_bytes_per_s")
    assert field(window, "datapath.memory_bytes_per_s").placeholderText().replace("\u00a0", " ") == "717 GB/s"
    type_into(window, "datapath.memory_bytes_per_s", "100 GB/s")
    assert "host memory, 2 sockets, 100 GB/s a node" in words(view)
    store.undo_stack.undo()
    assert "pinned copies, 455 GB/s a node" in words(view)


def test_the_hops_of_the_view_are_copied(open_window: Open) -> None:
    window, _ = open_window()
    show_tab(window, "view_tabs", PATH)
    press(window, Qt.Key.Key_T, CTRL | Qt.KeyboardModifier.ShiftModifier)
    copied = QGuiApplication.clipboard().text()
    assert "ENA card" in copied
    assert copied.count("\n") == 8, "a heading and the seven hops of the shared write"


def test_a_view_that_was_hidden_shows_the_present_plan(open_window: Open) -> None:
    window, _ = open_window()
    show_tab(window, "view_tabs", PATH)
    show_tab(window, "view_tabs", 0)
    type_into(window, "storage.write_s", "10 min")
    show_tab(window, "view_tabs", PATH)
    assert "of the 10 min allowed" in words(child(window, PathView, "path_view"))


# ---------------------------------------------------------------- survive


def test_two_lost_nodes_of_a_pair_change_the_restart_tier(open_window: Open) -> None:
    window, store = open_window()
    show_tab(window, "view_tabs", SURVIVE)
    view = child(window, SurviveView, "survive_view")
    assert "No replicas" in words(view)
    click(child(window, QAbstractButton, "survive.propose"))
    assert store.workbook.shown.scenario.replication.factor == 2
    cells, sentence = view.grid.cells, child(window, QLabel, "survive.sentence")
    assert "Node 0 is lost, but the other nodes of its group still hold its shards" in sentence.text()
    click(cells, cells.rect_of(1).center().toPoint())
    assert "shared storage" in sentence.text()


# ---------------------------------------------------------------- the tables that are typed


def test_a_permanent_save_fills_s3(open_window: Open) -> None:
    window, store = open_window()
    show_tab(window, "plan_tables", 1)
    table = child(window, RowsTable, "saves")
    assert "Only the resumable save is planned" in words(table)
    click(table.add)
    assert store.workbook.shown.scenario.saves[0].kind == "permanent"
    held = table.texts()[0].index("Held at the end")
    assert cell(table, 0, held) == "636 TB"  # 365 of 1.742 TB
    type_in_cell(table, 0, 1, "10 d")
    assert cell(table, 0, held) == "62.7 TB"  # 36 of them
    type_in_cell(table, 0, 4, "file system")
    assert cell(table, 0, held + 1) == ""
    assert "57,600" not in headline(window)
    for _ in range(3):
        store.undo_stack.undo()
    assert store.workbook.shown.scenario.saves == ()


def test_a_cell_that_is_refused_keeps_its_text_and_says_why(open_window: Open) -> None:
    window, store = open_window()
    show_tab(window, "plan_tables", 1)
    table = child(window, RowsTable, "saves")
    click(table.add)
    before = store.workbook
    type_in_cell(table, 0, 1, "often")
    assert cell(table, 0, 1) == "often"
    assert table.refusal().startswith("Every: ")
    assert store.workbook is before
    type_in_cell(table, 0, 1, "-1 h")
    assert table.refusal().startswith("Every: ")
    type_in_cell(table, 0, 1, "12 h")
    assert table.refusal() == ""
    assert store.workbook.shown.scenario.saves[0].every_s == 43_200
    QTest.keyClick(table.view, Qt.Key.Key_Delete)
    assert store.workbook.shown.scenario.saves == ()


def test_restart_classes_change_the_restart_time(open_window: Open) -> None:
    window, store = open_window()
    show_tab(window, "plan_tables", 2)
    table = child(window, RowsTable, "restart.classes")
    click(table.add)
    click(table.add)
    type_in_cell(table, 0, 0, "90 %")
    type_in_cell(table, 1, 0, "10 %")
    for column, text in ((1, "30 s"), (2, "0 s"), (3, "90 s"), (4, "a peer's GPUs"), (5, "a step")):
        type_in_cell(table, 0, column, text)
    waste = store.workbook.shown.scenario.restart.classes
    assert [row.share for row in waste] == [0.9, 0.1]
    assert "0.15 %" in headline(window)


def test_a_finding_of_the_schedule_leads_to_its_table(open_window: Open) -> None:
    window, _ = open_window()
    show_tab(window, "plan_tables", 1)
    click(child(window, RowsTable, "saves").add)
    show_tab(window, "plan_tables", 0)
    show_tab(window, "view_tabs", PATH)
    press(window, Qt.Key.Key_F, CTRL)
    found = window.findChild(FindingsView)
    assert found is not None
    row = next(one for one in found.findChildren(QAbstractButton) if "lie in S3" in one.accessibleName())
    click(row)
    assert child(window, QTabBar, "view_tabs").currentIndex() == 0
    assert child(window, QTableView, "saves.table").isVisible()


@pytest.mark.parametrize("index", [0, 1, 2])
def test_each_view_can_be_copied_as_a_picture(open_window: Open, index: int) -> None:
    window, _ = open_window()
    show_tab(window, "view_tabs", index)
    press(window, Qt.Key.Key_P, CTRL | Qt.KeyboardModifier.ShiftModifier)
    image = QGuiApplication.clipboard().image()
    assert image.width() > 1000
    assert len({image.pixel(x, y) for x in range(0, image.width(), 16) for y in range(0, image.height(), 16)}) > 8
