"""What matters, the map and the other node counts: worked out, read, pointed at, led on from."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QLabel, QWidget
from pytestqt.qtbot import QtBot

from ckptplanner.engine.ranges import ranges_of
from ckptplanner.engine.scenario import Workbook
from ckptplanner.engine.tornado import tornado
from ckptplanner.engine.workbook_file import read
from ckptplanner.ui.bench import Bench
from ckptplanner.ui.decide.map_view import MapView
from ckptplanner.ui.decide.matters_page import MattersPage
from ckptplanner.ui.decide.measure_list import MeasureList
from ckptplanner.ui.decide.tornado_bars import TornadoBars
from ckptplanner.ui.decide_view import MAP, MATTERS, SCALE, DecideView, Page
from ckptplanner.ui.main_window import MainWindow
from ckptplanner.ui.plots.scale import ScalePlots
from ckptplanner.ui.theme import DARK
from ckptplanner.ui.views import DECIDE, Views
from ckptplanner.ui.widgets.picker import Picker
from tests.ui.conftest import E1, Heard, Open
from tests.ui.hands import LEFT, NO_KEYS, child, labels, type_into

BOOK = read(E1)
LONG_MS = 20_000


def wait(qtbot: QtBot, page: QWidget) -> None:
    bench = page.findChild(Bench)
    assert bench is not None
    qtbot.waitUntil(lambda: not bench.is_running and not bench.is_stale, timeout=LONG_MS)


def visit(window: MainWindow, index: int) -> Page:
    """Go to a page of the Decide view."""
    views = window.findChild(Views)
    assert views is not None
    views.show_view(DECIDE)
    views.decide.show_page(index)
    return views.decide.page(index)


def opened(qtbot: QtBot, open_window: Open, index: int) -> tuple[MainWindow, QWidget]:
    window, _ = open_window()
    page = visit(window, index)
    assert isinstance(page, QWidget)
    wait(qtbot, page)
    return window, page


def choose(page: QWidget, name: str, key: str) -> None:
    picker = child(page, Picker, name)
    assert isinstance(picker, Picker)
    picker.choose(key)


def texts(page: QWidget) -> tuple[list[str], list[list[str]]]:
    heads, rows = page.texts()  # type: ignore[attr-defined]
    return heads, [[cell.replace("\u00a0", " ") for cell in row] for row in rows]


# ---------------------------------------------------------------- what matters


def test_the_tornado_says_what_the_engine_says(qtbot: QtBot, open_window: Open) -> None:
    _, page = opened(qtbot, open_window, MATTERS)
    _, rows = texts(page)
    expected = tornado(BOOK.shown, "total_usd")
    assert [row[0] for row in rows] == [str(bar.range.lever.title) for bar in expected.bars]
    assert rows[1][:7] == ["Interrupted every", "200 h", "31.6 h", "781 h", "$69,481", "$21,938", "$11,754"]
    assert rows[-1][0] == "Fill at most"
    assert rows[-1][4] == rows[-1][5] == rows[-1][6]


def test_another_figure_is_drawn(qtbot: QtBot, open_window: Open) -> None:
    _, page = opened(qtbot, open_window, MATTERS)
    choose(page, "matters.figure", "waste_fraction")
    wait(qtbot, page)
    _, rows = texts(page)
    mtbi = next(row for row in rows if row[0] == "Interrupted every")
    assert mtbi[5] == "0.537 %"
    assert next(row for row in rows if row[0] == "Price of storage")[4] == "0.537 %"


def test_a_click_on_a_bar_leads_to_its_field(qtbot: QtBot, open_window: Open) -> None:
    _, page = opened(qtbot, open_window, MATTERS)
    bars = page.findChild(TornadoBars)
    assert bars is not None
    heard = Heard(bars.hovered)
    qtbot.mouseMove(bars, bars.row_rect(1).center().toPoint())
    assert str(heard.said[-1][0]).replace("\u00a0", " ").startswith("Interrupted every 31.6 h: $69,481; 781 h: $11,754;")
    QTest.mouseClick(bars, LEFT, NO_KEYS, bars.row_rect(1).center().toPoint())
    focused = QApplication.focusWidget()
    assert focused is not None
    assert focused.objectName() == "failures.mtbi_s"
    bars.setFocus(Qt.FocusReason.TabFocusReason)
    asked = Heard(bars.field_requested)
    QTest.keyClick(bars, Qt.Key.Key_Down)
    QTest.keyClick(bars, Qt.Key.Key_Return)
    assert asked.said == [("prices.gpu_value_usd_per_h",)]


def test_what_to_measure_next_is_ranked_and_copied(qtbot: QtBot, open_window: Open) -> None:
    _, page = opened(qtbot, open_window, MATTERS)
    found = page.findChild(MeasureList)
    assert found is not None
    said = [text for text in labels(found) if text.endswith("a year")]
    assert said == ["$504k a year", "$451k a year", "$200k a year", "$194k a year", "$29.2k a year"]
    lines = labels(found)
    assert any("sacct -D -P" in line for line in lines)
    selectable = Qt.TextInteractionFlag.TextSelectableByMouse
    command = next(one for one in found.findChildren(QLabel) if "sacct" in one.text() and one.isVisible())
    assert command.textInteractionFlags() & selectable
    copy = next(one for one in found.findChildren(QAbstractButton) if one.isVisible() and one.text() == "copy")
    copy.click()
    assert QGuiApplication.clipboard().text() == "sacct -D -P -j JOB --format=JobID,State,Start,End,NNodes"
    assert any(line.startswith("Right over the whole range of: ") and "Write efficiency" in line for line in lines)


def test_an_edit_makes_what_matters_pale_until_it_is_worked_out(qtbot: QtBot, open_window: Open) -> None:
    window, page = opened(qtbot, open_window, MATTERS)
    assert isinstance(page, MattersPage)
    before = texts(page)
    type_into(window, "failures.mtbi_s", "100 h")
    assert page.bench.is_stale
    assert texts(page) == before
    wait(qtbot, page)
    assert next(row for row in texts(page)[1] if row[0] == "Interrupted every")[1] == "100 h"


# ---------------------------------------------------------------- map


def test_the_map_says_who_costs_least(qtbot: QtBot, open_window: Open) -> None:
    _, page = opened(qtbot, open_window, MAP)
    heads, rows = texts(page)
    assert heads[0] == "Interrupted every / Value of a GPU-hour"
    assert {cell for row in rows for cell in row[1:]} == {"5 min", "20 min"}
    today = next(row for row in rows if row[0] == "200 h")
    assert today[1] == "20 min"
    assert today[-1] == "5 min"
    view = page.findChild(MapView)
    assert view is not None
    assert "“5 min” $21,938 a month, “20 min” $26,613 a month" in view.accessibleDescription()


def test_the_map_is_read_off_by_mouse_and_keys(qtbot: QtBot, open_window: Open) -> None:
    _, page = opened(qtbot, open_window, MAP)
    view = page.findChild(MapView)
    assert view is not None
    heard = Heard(view.hovered)
    corner = view.cell_rect((0, 0)).center()
    qtbot.mouseMove(view, QPointF(corner).toPoint())
    assert str(heard.said[-1][0]).replace("\u00a0", " ").startswith("Value of a GPU-hour $1, Interrupted every 31.6 h: “5 min”")
    QTest.keyClick(view, Qt.Key.Key_Home)
    assert "Interrupted every 200" in str(heard.said[-1][0])
    QTest.keyClick(view, Qt.Key.Key_Up)
    assert "Interrupted every 200" not in str(heard.said[-1][0])


def test_inputs_and_figure_of_the_map_are_chosen(qtbot: QtBot, open_window: Open) -> None:
    _, page = opened(qtbot, open_window, MAP)
    choose(page, "map.what", "waste_fraction")
    choose(page, "map.across", "failures.mtbi_s")  # the one that stands along the column: they change places
    wait(qtbot, page)
    heads, rows = texts(page)
    assert heads[0] == "Value of a GPU-hour / Interrupted every"
    values = [float(row[heads.index("200\u00a0h")].removesuffix(" %")) for row in rows]
    assert np.ptp(values) == 0  # a GPU-hour's value changes no waste
    assert values[0] == pytest.approx(0.537)


def test_a_plan_alone_has_a_map_of_a_figure(qtbot: QtBot, open_window: Open) -> None:
    window, _ = open_window(Workbook(scenarios=BOOK.scenarios[:1], current="5 min", base="5 min"))
    page = visit(window, MAP)
    assert isinstance(page, QWidget)
    wait(qtbot, page)
    assert "from $4,511 to $151k" in child(page, QLabel, "map.sentence").text()


# ---------------------------------------------------------------- scale


def test_ten_thousand_gpus_save_more_often(qtbot: QtBot, open_window: Open) -> None:
    _, page = opened(qtbot, open_window, SCALE)
    said = child(page, QLabel, "scale.answer").text().replace("\u00a0", " ")
    assert said.startswith("More often: 10,000 GPUs (1,250 nodes) are interrupted every 5 h 7 min, 32 nodes every 200 h.")
    heads, rows = texts(page)
    assert [row[0] for row in rows] == [
        "8",
        "16",
        "32",
        "64",
        "128",
        "256",
        "512",
        "1,024",
        "2,048",
        "4,096",
        "8,192",
        "16,384",
    ]
    last = dict(zip(heads, rows[-1], strict=True))
    assert (last["Interrupted every"], last["Saved every"], last["best"], last["Waste"]) == (
        "23 min",
        "5 min 5 s",
        "2 min",
        "62.2 %",
    )
    assert last["Limit"] == "file system"


def test_todays_count_is_among_the_rows(qtbot: QtBot, open_window: Open) -> None:
    window, page = opened(qtbot, open_window, SCALE)
    type_into(window, "workload.nodes", "100")
    wait(qtbot, page)
    assert "100" in [row[0] for row in texts(page)[1]]
    plots = page.findChild(ScalePlots)
    assert plots is not None
    assert "100 nodes: Interrupted every 64 h" in plots.accessibleDescription().replace("\u00a0", " ")


# ---------------------------------------------------------------- all of them


@pytest.mark.parametrize("index", [MATTERS, MAP, SCALE])
def test_a_plan_with_an_error_says_what_is_missing(open_window: Open, index: int) -> None:
    window, _ = open_window()
    type_into(window, "storage.generations_kept", "1")
    page = visit(window, index)
    assert isinstance(page, QWidget)
    assert "This plan does not work yet" in labels(page)


@pytest.mark.parametrize("index", [MATTERS, MAP, SCALE])
def test_both_themes_are_drawn(qtbot: QtBot, open_window: Open, index: int) -> None:
    window, _page = opened(qtbot, open_window, index)
    view = window.findChild(DecideView)
    assert view is not None
    light = view.picture_widget.grab().toImage()
    view.show_theme(DARK)
    assert view.picture_widget.grab().toImage() != light


@pytest.mark.parametrize("index", [MATTERS, MAP, SCALE])
def test_closing_at_once_leaves_nothing_running(open_window: Open, index: int) -> None:
    window, store = open_window()
    page = visit(window, index)
    assert isinstance(page, QWidget)
    QApplication.processEvents()
    store.undo_stack.setClean()
    window.close()
    bench = page.findChild(Bench)
    assert bench is not None
    assert bench.is_idle


@pytest.mark.parametrize("file", sorted(file.name for file in E1.parent.glob("*.json")))
@pytest.mark.parametrize("index", [MATTERS, MAP, SCALE])
def test_every_example_is_drawn(qtbot: QtBot, open_window: Open, file: str, index: int) -> None:
    book = read(E1.with_name(file))
    window, _ = open_window(book)
    page = visit(window, index)
    assert isinstance(page, QWidget)
    bench = page.findChild(Bench)
    assert bench is not None
    qtbot.waitUntil(lambda: not bench.is_running, timeout=60_000)
    page.grab()
    assert ranges_of(book.shown)
