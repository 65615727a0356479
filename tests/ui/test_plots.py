"""The plots: what can be taken hold of, and what is written in them."""

from __future__ import annotations

import pyqtgraph as pg
import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget

from ckptplanner.ui.plots.handle import Grip, Knob, Tag
from tests.ui.conftest import Open
from tests.ui.hands import LEFT, NO_KEYS, Handle, child, plot_figures


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
