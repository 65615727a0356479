"""A row: label, editor, source word, and the one line of small print that matters most."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QPushButton
from pytestqt.qtbot import QtBot

from ckptplanner.engine.scenario import Scenario
from ckptplanner.frozen import spec_of
from ckptplanner.ui.widgets.choice_edit import CheckEdit, Choice, ChoiceEdit, SearchEdit
from ckptplanner.ui.widgets.field_row import ComputedRow, Editor, FieldRow
from ckptplanner.ui.widgets.quantity_edit import QuantityEdit
from ckptplanner.ui.widgets.section import Section
from ckptplanner.ui.widgets.segmented import Segmented

LEFT = Qt.MouseButton.LeftButton
MODES = (Choice("async", "async"), Choice("sync", "sync"))


def row_with(qtbot: QtBot, editor: Editor, value: object, kind: str = "article") -> FieldRow:
    row = FieldRow(editor, "A title")
    qtbot.addWidget(row)
    row.resize(320, 48)
    row.show_value(value, kind, "where it is from")
    with qtbot.waitExposed(row):
        row.show()
    row.activateWindow()
    return row


def quantity_row(qtbot: QtBot, value: float = 300.0, kind: str = "article") -> FieldRow:
    return row_with(qtbot, QuantityEdit(spec_of(Scenario, "storage.write_s")), value, kind)


def source_button(row: FieldRow) -> QPushButton:
    return next(button for button in row.findChildren(QPushButton) if button.property("role") == "source")


@pytest.mark.parametrize("kind", ["log", "doc", "article", "guess", "typed"])
def test_the_source_is_a_word(qtbot, kind):
    row = quantity_row(qtbot, kind=kind)
    assert row.source_text() == kind
    assert source_button(row).toolTip() == "where it is from"
    assert (row.editor.property("state") == "guess") == (kind == "guess")


def test_the_source_can_be_asked_for_by_mouse_and_by_key(qtbot, heard):
    row = quantity_row(qtbot)
    asked = heard(row.source_requested)
    QTest.mouseClick(source_button(row), LEFT)
    QTest.keyClick(row.editor, Qt.Key.Key_F1)
    assert asked.said == [("storage.write_s",), ("storage.write_s",)]


def test_a_refusal_takes_the_place_of_the_source_and_the_second_line(qtbot):
    row = quantity_row(qtbot)
    row.show_second_line("the same in other words")
    row.editor.selectAll()
    QTest.keyClicks(row.editor, "5 minn")
    assert row.source_text() == "keeps 5\u00a0min"
    assert row.small_print() == "Not a time. Write 90 s, 5 min or 1.5 h."
    QTest.keyClick(row.editor, Qt.Key.Key_Escape)
    assert row.source_text() == "article"
    assert row.small_print() == "the same in other words"


def test_a_kept_value_that_is_too_long_stands_in_the_line(qtbot):
    row = quantity_row(qtbot, 290.0)
    row.editor.selectAll()
    QTest.keyClicks(row.editor, "x")
    assert row.source_text() == ""
    assert row.small_print().endswith("Keeps 4\u00a0min\u00a050\u00a0s.")


def test_says_how_the_text_will_be_shown_back(qtbot):
    row = quantity_row(qtbot)
    row.editor.selectAll()
    QTest.keyClicks(row.editor, "7.5 min")
    assert row.small_print() == "shown back as 7\u00a0min\u00a030\u00a0s"
    QTest.keyClick(row.editor, Qt.Key.Key_Return)
    assert row.small_print() == ""


def test_a_reason_disables(qtbot):
    row = quantity_row(qtbot)
    row.set_enabled_reason("not with sync")
    assert not row.editor.isEnabled()
    assert "not with sync" in row.source_text() + row.small_print()
    row.set_enabled_reason("")
    assert row.editor.isEnabled()
    assert row.source_text() == "article"


def test_edits_go_out(qtbot, heard):
    row = quantity_row(qtbot)
    edits, ends = heard(row.edited), heard(row.gesture_ended)
    row.focus()
    QTest.keyClicks(row.editor, "10 min")
    QTest.keyClick(row.editor, Qt.Key.Key_Return)
    assert edits.said == [("storage.write_s", 600.0)]
    assert len(ends.said) == 1


def test_a_switch_proposes_by_mouse_and_by_key(qtbot, heard):
    editor = Segmented(spec_of(Scenario, "storage.mode"), MODES)
    row = row_with(qtbot, editor, "async")
    edits = heard(row.edited)
    first, second = editor.findChildren(QPushButton)
    QTest.mouseClick(second, LEFT)
    assert edits.said == [("storage.mode", "sync")]
    row.show_value("sync", "typed")
    QTest.mouseClick(second, LEFT)
    assert len(edits.said) == 1
    second.setFocus()
    QTest.keyClick(second, Qt.Key.Key_Left)
    assert edits.said[1:] == [("storage.mode", "async")]
    assert first.isChecked()


def test_a_refused_switch_goes_back(qtbot):
    editor = Segmented(spec_of(Scenario, "storage.mode"), MODES)
    row = row_with(qtbot, editor, "async")
    first, second = editor.findChildren(QPushButton)
    QTest.mouseClick(second, LEFT)
    row.show_refusal("Not now.")
    assert first.isChecked()
    assert row.small_print() == "Not now."


def test_a_list_proposes_by_key_and_stays_silent_when_shown(qtbot, heard):
    editor = ChoiceEdit(spec_of(Scenario, "storage.efa"))
    row = row_with(qtbot, editor, "auto")
    edits = heard(row.edited)
    editor.show_choices((Choice("auto", "auto"), Choice("on", "on"), Choice("off", "off")))
    row.show_value("auto", "article")
    assert edits.said == []
    QTest.keyClick(editor, Qt.Key.Key_Down)
    assert edits.said == [("storage.efa", "on")]


def test_a_list_shows_a_value_that_it_does_not_offer(qtbot):
    editor = ChoiceEdit(spec_of(Scenario, "prices.region"), lambda value: f"other: {value}")
    editor.show_choices((Choice("us-west-2", "us-west-2"),))
    row = row_with(qtbot, editor, "mars-1")
    assert editor.currentText() == "other: mars-1"
    row.show_value("us-west-2", "typed")
    assert editor.count() == 1


def test_a_box_is_ticked(qtbot, heard):
    editor = CheckEdit(spec_of(Scenario, "storage.whole_steps"), "yes")
    row = row_with(qtbot, editor, False)
    edits = heard(row.edited)
    QTest.mouseClick(editor, LEFT)
    assert edits.said == [("storage.whole_steps", True)]


def test_a_search_proposes_what_it_finds(qtbot, heard):
    rows = {"qwen": "a row"}
    editor = SearchEdit(
        spec_of(Scenario, "workload.model"),
        lambda text: [Choice(row, name) for name, row in rows.items() if text in name],
        str,
    )
    row = row_with(qtbot, editor, None, "")
    edits = heard(row.edited)
    editor.setFocus()
    QTest.keyClicks(editor, "xyz")
    QTest.keyClick(editor, Qt.Key.Key_Return)
    assert row.small_print() == "No model in the catalog is called that."
    QTest.keyClick(editor, Qt.Key.Key_Escape)
    assert row.small_print() == ""
    QTest.keyClicks(editor, "qw")
    QTest.keyClick(editor, Qt.Key.Key_Return)
    assert edits.said == [("workload.model", "a row")]


def test_a_computed_figure_answers_why(qtbot, heard):
    row = ComputedRow("restart_s", "Restart time")
    qtbot.addWidget(row)
    row.show_value("14 min 50 s", "with 4 min 50 s to read 1.74 TB back")
    asked = heard(row.why_requested)
    QTest.mouseClick(row, LEFT)
    assert asked.said == [("restart_s",)]
    assert row.accessibleName() == "Restart time: 14 min 50 s"


def test_a_section_folds_and_shows_more(qtbot):
    section, common, rare = Section("Title"), QLabel("common"), QLabel("rare")
    qtbot.addWidget(section)
    section.add_row(common)
    section.add_row(rare, rare=True)
    with qtbot.waitExposed(section):
        section.show()
    assert common.isVisible()
    assert not rare.isVisible()
    more = section.findChild(QPushButton)
    assert more.text() == "1 more"
    QTest.mouseClick(more, LEFT)
    assert rare.isVisible()
    section.set_unfolded(False)
    assert not common.isVisible()
    section.reveal(rare)
    assert rare.isVisible()
