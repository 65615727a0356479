"""The plots: what can be taken hold of, and what is written in them."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pyqtgraph as pg
import pytest
from PySide6.QtCore import QPoint, QPointF, QRectF, QSettings, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from ckptplanner.engine.plan import Ranges
from ckptplanner.engine.tradeoff import Tradeoff
from ckptplanner.ui.main_window import MainWindow
from ckptplanner.ui.plan_view import PlanView
from ckptplanner.ui.plots.handle import Grip, Knob, MarkItem, Tag
from ckptplanner.ui.plots.plot import EndLabels, Plot, ValueAxis, money_text
from ckptplanner.ui.plots.tradeoff import TradeoffPlot
from ckptplanner.ui.plots.write_time import WriteTimePlots
from ckptplanner.ui.theme import DARK, LIGHT
from tests.ui.conftest import Open
from tests.ui.hands import LEFT, NO_KEYS, Handle, card, child, click, headline, plain, plot_figures, press, type_into


def view_of(window: QWidget) -> pg.GraphicsLayoutWidget:
    view = child(window, QWidget, "write_time_plots").findChild(pg.GraphicsLayoutWidget)
    assert view is not None
    return view


def middle_of(window: QWidget, kind: type[Knob]) -> QPoint:
    """Where the grip or the tag of the handle lies in the viewport. (The tag of a ghost takes no mouse.)"""
    view = view_of(window)
    knobs = [item for item in view.scene().items() if isinstance(item, kind) and item.acceptedMouseButtons() == LEFT]
    assert len(knobs) == 1
    return view.mapFromScene(knobs[0].mapToScene(knobs[0].drawn().center()))


def drag(handle: Handle, start: QPoint, *stops: QPoint) -> None:
    handle.move(start, held=False)
    QTest.mousePress(handle.viewport, LEFT, NO_KEYS, start)
    for stop in stops:
        handle.move(stop, held=True)
    QTest.mouseRelease(handle.viewport, LEFT, NO_KEYS, stops[-1])


# ---------------------------------------------------------------- grip and tag


@pytest.mark.parametrize("kind", [Grip, Tag])
def test_the_write_time_follows_grip_and_tag_in_one_step(open_window: Open, kind: type[Knob]) -> None:
    window, store = open_window()
    handle, steps, start = Handle(window), store.undo_stack.count(), middle_of(window, kind)
    goal = start + handle.pixel(600.0) - handle.pixel(300.0)
    drag(handle, start, start + QPoint(20, 0), start + QPoint(40, 3), goal)
    assert store.workbook.shown.scenario.storage.write_s == pytest.approx(600.0, rel=0.02)
    assert plot_figures(window).startswith("10 min")
    assert store.undo_stack.count() == steps + 1
    drag(handle, middle_of(window, kind), middle_of(window, kind) + QPoint(30, 0))
    assert store.undo_stack.count() == steps + 2


@pytest.mark.parametrize("kind", [Grip, Tag])
def test_a_drag_of_grip_or_tag_that_comes_back_leaves_no_step(open_window: Open, kind: type[Knob]) -> None:
    window, store = open_window()
    handle, steps, start = Handle(window), store.undo_stack.count(), middle_of(window, kind)
    drag(handle, start, start + QPoint(60, 0), start + QPoint(3, 0), start)
    assert store.workbook.shown.scenario.storage.write_s == 300.0
    assert store.undo_stack.count() == steps


@pytest.mark.parametrize("kind", [Grip, Tag])
def test_a_click_on_grip_or_tag_moves_nothing(open_window: Open, kind: type[Knob]) -> None:
    window, store = open_window()
    handle, steps = Handle(window), store.undo_stack.count()
    drag(handle, middle_of(window, kind), middle_of(window, kind))
    assert store.workbook.shown.scenario.storage.write_s == 300.0
    assert store.undo_stack.count() == steps


@pytest.mark.parametrize("kind", [Grip, Tag])
def test_a_drag_of_grip_or_tag_ends_at_the_edge_of_the_plot(open_window: Open, kind: type[Knob]) -> None:
    window, store = open_window()
    handle, start = Handle(window), middle_of(window, kind)
    low, high = handle.line.getViewBox().viewRange()[0]
    drag(handle, start, start + QPoint(200, 0), start + QPoint(4000, 0))
    assert store.workbook.shown.scenario.storage.write_s == pytest.approx(10.0**high, rel=0.02)
    start = middle_of(window, kind)
    drag(handle, start, start - QPoint(200, 0), start - QPoint(4000, 0))
    assert store.workbook.shown.scenario.storage.write_s == pytest.approx(10.0**low, rel=0.02)


@pytest.mark.parametrize("kind", [Grip, Tag])
def test_the_pointer_says_that_it_can_be_dragged_a_little_beyond_what_is_drawn(open_window: Open, kind: type[Knob]) -> None:
    window, _ = open_window()
    handle, view = Handle(window), view_of(window)
    knob = next(item for item in view.scene().items() if isinstance(item, kind) and item.acceptedMouseButtons() == LEFT)
    drawn = knob.drawn()
    for place in (drawn.center(), QPointF(drawn.right() + 4, drawn.center().y())):
        handle.move(QPoint(5, 5), held=False)
        assert handle.viewport.cursor().shape() != Qt.CursorShape.SizeHorCursor
        handle.move(view.mapFromScene(knob.mapToScene(place)), held=False)
        assert handle.viewport.cursor().shape() == Qt.CursorShape.SizeHorCursor


# ---------------------------------------------------------------- notes


SIZES = [(1440, 900), (1180, 720)]
SCENARIOS = ["5 min", "20 min", "sync 60 s"]


def notes_of(window: QWidget, name: str = "write_time_plots") -> dict[str, QRectF]:
    """The notes that can be seen, each with its ink in the scene."""
    view = child(window, QWidget, name).findChild(pg.GraphicsLayoutWidget)
    items = [item for item in view.scene().items() if isinstance(item, pg.TextItem) and item.isVisible()]
    return {
        item.toPlainText().replace("\u00a0", " "): item.mapRectToScene(item.boundingRect()).adjusted(4, 4, -4, -4)
        for item in items
    }


def show(open_window: Open, scenario: str, size: tuple[int, int], cost: str = "storage") -> MainWindow:
    window, store = open_window()
    window.resize(*size)
    store.switch(scenario)
    click(child(window, QPushButton, f"cost.{cost}"))
    QApplication.processEvents()
    return window


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_dark_has_the_notes_of_light(open_window: Open, scenario: str, size: tuple[int, int]) -> None:
    window = show(open_window, scenario, size)
    light = notes_of(window)
    plots = child(window, WriteTimePlots, "write_time_plots")
    plots.show_theme(DARK)
    QApplication.processEvents()
    assert notes_of(window) == light


def test_a_window_that_opens_in_the_dark_has_the_same_notes(open_window: Open, settings: QSettings) -> None:
    light = notes_of(show(open_window, "sync 60 s", SIZES[0]))
    settings.setValue("theme", "dark")
    dark = notes_of(show(open_window, "sync 60 s", SIZES[0]))
    assert set(dark) == set(light)
    assert {"5 min", "held by 4 generations", "cheapest in total, 52 s"} <= set(dark)


@pytest.mark.parametrize("cost", ["storage", "total"])
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_notes_stand_apart_from_each_other_and_from_the_handle(open_window: Open, scenario: str, cost: str) -> None:
    window = show(open_window, scenario, SIZES[0], cost)
    notes = notes_of(window)
    for (one, its), (other, theirs) in combinations(notes.items(), 2):
        assert not its.intersects(theirs), f"{one} / {other}"
    line = Handle(window).line
    x = line.getViewBox().mapViewToScene(QPointF(line.value(), 0.0)).x()
    assert not [text for text, ink in notes.items() if ink.left() <= x <= ink.right()]


def test_total_names_the_cheapest_on_its_own_line(open_window: Open) -> None:
    storage = show(open_window, "5 min", SIZES[0])
    total = show(open_window, "5 min", SIZES[0], "total")
    for window, dollars in ((storage, 4320.0), (total, 21689.0)):
        assert "cheapest in total, 4 min 2 s" in notes_of(window)
        marks = [item for item in view_of(window).scene().items() if isinstance(item, MarkItem) and item.isVisible()]
        found = [10.0 ** mark.y() for mark in marks if 10.0 ** mark.x() == pytest.approx(242.0, abs=1.0)]
        assert found == [pytest.approx(dollars, rel=0.005)]


# ---------------------------------------------------------------- trade-off


def test_the_tradeoff_speaks_of_the_basis_that_is_chosen(open_window: Open) -> None:
    window, _ = open_window()
    view = child(window, PlanView, "plan_view")
    view.show_page(1)
    QApplication.processEvents()
    seen = {}
    for basis in ("month", "year"):
        click(child(window, QPushButton, f"basis.{basis}"))
        seen[basis] = plain(child(window, QWidget, "tradeoff_plot").accessibleDescription())
        scene = child(window, QWidget, "tradeoff_plot").findChild(pg.GraphicsLayoutWidget).scene()
        titles = [item.text for item in scene.items() if isinstance(item, pg.LabelItem)]
        assert f"Synchronous saving, $ a {basis}" in titles
    assert seen == {
        "month": "least $62.9k at 52 s; within 3 % on the 5 marked ranges",
        "year": "least $755k at 52 s; within 3 % on the 5 marked ranges",
    }
    assert seen["year"] in notes_of(window, "tradeoff_plot")


def test_one_range_is_told_by_its_ends(qtbot: QtBot) -> None:
    stops = np.geomspace(20.0, 600.0, 50)
    total = 100.0 + (np.log(stops / 100.0) * 50.0) ** 2
    none = np.zeros_like(stops)
    least = Ranges(100.0, 100.0, np.array([90.0]), np.array([120.0]))
    plot = TradeoffPlot()
    qtbot.addWidget(plot)
    plot.resize(700, 300)
    plot.show()
    plot.show_tradeoff(Tradeoff(stops, none, none, none, none, total, total, least))
    text = plain(plot.accessibleDescription())
    assert text == "least $100 at 1 min 40 s; within 3 % from 1 min 30 s to 2 min"
    view = plot.findChild(pg.GraphicsLayoutWidget)
    word = next(item for item in view.scene().items() if isinstance(item, pg.TextItem) and item.isVisible())
    ink = word.mapRectToScene(word.boundingRect()).adjusted(4, 4, -4, -4)
    for one, dollars in zip(stops, total, strict=True):
        assert not ink.contains(word.getViewBox().mapViewToScene(QPointF(np.log10(one), dollars)))


# ---------------------------------------------------------------- differences in the headline


def test_a_difference_has_the_mark_of_what_it_is_to(open_window: Open) -> None:
    window, store = open_window()
    store.switch("20 min")
    assert "to ○ 5 min" in card(window, "BUY")
    press(window, Qt.Key.Key_G)
    type_into(window, "storage.write_s", "10 min")
    assert "to the ghost" in card(window, "BUY")
    assert "○" not in headline(window)


@pytest.mark.parametrize("count", [2, 9])
def test_names_at_the_end_stay_beside_their_plot(qtbot: QtBot, count: int) -> None:
    plot = Plot(ValueAxis("left", money_text), ValueAxis("bottom", money_text), ends := EndLabels())
    view = pg.GraphicsLayoutWidget()
    qtbot.addWidget(view)
    view.addItem(plot)
    view.resize(500, 140)
    plot.show_theme(LIGHT)
    plot.vb.setRange(xRange=(0.0, 1.0), yRange=(0.0, 1.0), padding=0)
    ends.show_ends([(f"name {row}", 0.5 * row / count) for row in range(count)], "")
    view.show()
    image = view.grab().toImage()
    box, ground = plot.vb.sceneBoundingRect(), image.pixelColor(1, 1)
    columns = range(int(box.right()) + 30, image.width() - 12)
    rows = [y for y in range(image.height()) if any(image.pixelColor(x, y) != ground for x in columns)]
    assert box.top() - 4 <= rows[0]
    assert rows[-1] <= box.bottom() + 4
