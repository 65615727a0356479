"""The field for one quantity: what it takes, shows, refuses, and when it says so."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from ckptplanner.engine.scenario import Scenario
from ckptplanner.frozen import spec_of
from ckptplanner.ui.widgets.quantity_edit import QuantityEdit
from ckptplanner.ui.widgets.steps import ladder_step, nice_step
from ckptplanner.units import (
    BYTES,
    BYTES_PER_PARAM,
    COUNT,
    FRACTION,
    PARAMS,
    SECONDS,
    TB,
    USD_PER_GIB_MONTH,
    Unit,
)

KEY = Qt.Key


def made(qtbot: QtBot, path: str = "storage.write_s", value: float | None = 300.0) -> QuantityEdit:
    edit = QuantityEdit(spec_of(Scenario, path), "nothing typed")
    qtbot.addWidget(edit)
    edit.show_value(value)
    with qtbot.waitExposed(edit):
        edit.show()
    edit.activateWindow()
    edit.setFocus()
    edit.selectAll()
    return edit


def plain(edit: QuantityEdit) -> str:
    return edit.text().replace("\u00a0", " ")


def wheel(edit: QWidget, up: bool, modifiers: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
    place = QPointF(10, 10)
    event = QWheelEvent(
        place, edit.mapToGlobal(place), QPoint(), QPoint(0, 120 if up else -120), Qt.MouseButton.NoButton, modifiers,
        Qt.ScrollPhase.NoScrollPhase, False,
    )  # fmt: skip
    QApplication.sendEvent(edit, event)


def test_shows_its_value_with_the_unit(qtbot):
    edit = made(qtbot)
    assert plain(edit) == "5 min"
    assert edit.objectName() == "storage.write_s"
    assert edit.accessibleName() == "Write time"


@pytest.mark.parametrize(
    ("path", "typed", "value", "shown"),
    [
        ("storage.write_s", "90 min", 5400.0, "1 h 30 min"),
        ("storage.write_s", "1.5h", 5400.0, "1 h 30 min"),
        ("storage.write_s", "10分", 600.0, "10 min"),
        ("storage.write_s", "１０ min", 600.0, "10 min"),
        ("storage.custom.write_bytes_per_s", "11 GB/s", 11e9, "11 GB/s"),
        ("storage.custom.write_bytes_per_s", "350 Gbps", 43.75e9, "43.75 GB/s"),
        ("workload.measured_bytes", "4 GiB", 2.0**32, "4.294967296 GB"),
        ("prices.node_usd_per_h", "$142.4/h", 142.4, "$142.4/h"),
        ("workload.total_params", "124.5B", 124.5e9, "124.5 B"),
        ("workload.nodes", "2,048", 2048, "2,048"),
        ("storage.max_fill", "85 %", 0.85, "85 %"),
    ],
)
def test_takes_what_people_write(qtbot, heard, path, typed, value, shown):
    edit = made(qtbot, path, 1.0)
    edits = heard(edit.edited)
    QTest.keyClicks(edit, typed) if typed.isascii() else edit.insert(typed)
    edit.setModified(True)
    assert edits.said == []
    QTest.keyClick(edit, KEY.Key_Return)
    assert edits.said == [(path, value)]
    assert plain(edit) == shown


def test_proposes_once_for_enter_and_leaving(qtbot, heard):
    edit = made(qtbot)
    edits, ends = heard(edit.edited), heard(edit.gesture_ended)
    QTest.keyClicks(edit, "10 min")
    QTest.keyClick(edit, KEY.Key_Return)
    edit.clearFocus()
    assert edits.said == [("storage.write_s", 600.0)]
    assert len(ends.said) == 1


def test_leaving_proposes(qtbot, heard):
    edit = made(qtbot)
    edits = heard(edit.edited)
    QTest.keyClicks(edit, "10 min")
    edit.clearFocus()
    assert edits.said == [("storage.write_s", 600.0)]


def test_an_equal_value_is_silent_and_normalised(qtbot, heard):
    edit = made(qtbot)
    edits = heard(edit.edited, edit.gesture_ended)
    QTest.keyClicks(edit, "300")
    QTest.keyClick(edit, KEY.Key_Return)
    assert edits.said == []
    assert plain(edit) == "5 min"


def test_refuses_while_typing_and_keeps_the_text(qtbot, heard):
    edit = made(qtbot)
    edits, refusals = heard(edit.edited), heard(edit.refused)
    QTest.keyClicks(edit, "5 minn")
    assert edit.property("state") == "error"
    assert refusals.said[-1] == ("Not a time. Write 90 s, 5 min or 1.5 h.",)
    QTest.keyClick(edit, KEY.Key_Return)
    edit.clearFocus()
    edit.show_value(300.0)
    assert plain(edit) == "5 minn"
    assert edits.said == []
    QTest.keyClick(edit, KEY.Key_End)
    QTest.keyClick(edit, KEY.Key_Backspace)
    assert refusals.said[-1] == ("",)
    assert not edit.property("state")


def test_escape_goes_back(qtbot, heard):
    edit = made(qtbot)
    edits = heard(edit.edited)
    QTest.keyClicks(edit, "nonsense")
    QTest.keyClick(edit, KEY.Key_Escape)
    assert plain(edit) == "5 min"
    assert not edit.property("state")
    assert edits.said == []


@pytest.mark.parametrize(
    ("path", "typed", "message"),
    [
        ("storage.write_s", "0", "Between 1 ms and 876,000 h."),
        ("storage.blocking_s", "-1", "Between 0 s and 876,000 h."),
        ("workload.nodes", "0", "Between 1 and 1,000,000."),
        ("workload.nodes", "1.5", "Not a whole number. Write 32 or 2,048."),
        ("storage.max_fill", "120 %", "Between 0.1 % and 100 %."),
    ],
)
def test_says_what_would_be_accepted(qtbot, heard, path, typed, message):
    edit = made(qtbot, path, 1)
    refusals = heard(edit.refused)
    QTest.keyClicks(edit, typed)
    assert refusals.said[-1][0].replace("\u00a0", " ") == message


def test_empty_means_none_where_that_is_allowed(qtbot, heard):
    edit = made(qtbot, "storage.interval_s", 60.0)
    edits = heard(edit.edited)
    QTest.keyClick(edit, KEY.Key_Delete)
    QTest.keyClick(edit, KEY.Key_Return)
    assert edits.said == [("storage.interval_s", None)]
    assert edit.placeholderText() == "nothing typed"


def test_another_value_replaces_what_is_typed(qtbot):
    edit = made(qtbot)
    QTest.keyClicks(edit, "7 mi")
    edit.show_value(600.0)
    assert plain(edit) == "10 min"
    assert not edit.property("state")


def test_a_value_refused_elsewhere_stays_until_typed_over(qtbot, heard):
    edit = made(qtbot)
    edits = heard(edit.edited)
    QTest.keyClicks(edit, "7 min")
    QTest.keyClick(edit, KEY.Key_Return)
    edit.show_refusal("Not with this storage.")
    edit.show_value(300.0)
    assert plain(edit) == "7 min"
    assert edit.property("state") == "error"
    QTest.keyClick(edit, KEY.Key_Escape)
    assert plain(edit) == "5 min"
    assert len(edits.said) == 1


def test_arrow_keys_step_and_end_the_gesture(qtbot, heard):
    edit = made(qtbot)
    edits, ends = heard(edit.edited), heard(edit.gesture_ended)
    QTest.keyPress(edit, KEY.Key_Up)
    QTest.keyPress(edit, KEY.Key_Up)
    assert ends.said == []
    QTest.keyRelease(edit, KEY.Key_Up)
    assert edits.said == [("storage.write_s", 360.0), ("storage.write_s", 420.0)]
    assert len(ends.said) == 1
    QTest.keyClick(edit, KEY.Key_Down, Qt.KeyboardModifier.ControlModifier)
    assert edits.said[-1] == ("storage.write_s", 300.0)


def test_a_step_stops_at_the_limit(qtbot, heard):
    edit = made(qtbot, "workload.nodes", 1)
    edits = heard(edit.edited)
    QTest.keyClick(edit, KEY.Key_Down)
    assert edits.said == []


def test_the_wheel_steps_only_a_focused_field(qtbot, heard):
    box = QWidget()
    qtbot.addWidget(box)
    edits = [QuantityEdit(spec_of(Scenario, "storage.write_s")) for _ in range(2)]
    column = QVBoxLayout(box)
    for edit in edits:
        edit.show_value(300.0)
        column.addWidget(edit)
    with qtbot.waitExposed(box):
        box.show()
    box.activateWindow()
    edits[0].setFocus()
    said = heard(edits[0].edited, edits[1].edited)
    wheel(edits[1], up=True)
    assert said.said == []
    wheel(edits[0], up=True)
    wheel(edits[0], up=True, modifiers=Qt.KeyboardModifier.ControlModifier)
    assert said.said == [("storage.write_s", 360.0), ("storage.write_s", 600.0)]


def test_show_value_emits_nothing(qtbot, heard):
    edit = made(qtbot)
    said = heard(edit.edited, edit.gesture_ended, edit.refused)
    edit.show_value(600.0)
    assert said.said == []


@pytest.mark.parametrize(
    ("unit", "value", "up", "down", "ladder_up", "ladder_down"),
    [
        (SECONDS, 300.0, 360.0, 240.0, 600.0, 120.0),
        (SECONDS, 290.0, 300.0, 240.0, 300.0, 120.0),
        (SECONDS, 60.0, 120.0, 59.0, 120.0, 30.0),
        (SECONDS, 5400.0, 6000.0, 4800.0, 7200.0, 3600.0),
        (SECONDS, 720_000.0, 756_000.0, 684_000.0, 1_800_000.0, 360_000.0),
        (BYTES, 1.74 * TB, 1.8 * TB, 1.7 * TB, 2 * TB, 1 * TB),
        (COUNT, 32.0, 33.0, 31.0, 50.0, 20.0),
        (COUNT, 2048.0, 2100.0, 2000.0, 5000.0, 2000.0),
        (PARAMS, 124.45e9, 130e9, 120e9, 200e9, 100e9),
        (BYTES_PER_PARAM, 14.0, 15.0, 13.0, 20.0, 10.0),
        (FRACTION, 0.85, 0.86, 0.84, 1.0, 0.5),
        (USD_PER_GIB_MONTH, 0.34, 0.35, 0.33, 0.5, 0.2),
    ],
)
def test_steps_are_nice(unit: Unit, value, up, down, ladder_up, ladder_down):
    assert nice_step(value, unit, True) == pytest.approx(up, rel=1e-12)
    assert nice_step(value, unit, False) == pytest.approx(down, rel=1e-12)
    assert ladder_step(value, unit, True) == pytest.approx(ladder_up, rel=1e-12)
    assert ladder_step(value, unit, False) == pytest.approx(ladder_down, rel=1e-12)
