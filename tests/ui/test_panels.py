"""One contract for all panels: a good edit emits once, a bad one shows a note, an equal one is silent, showing is mute."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QSettings, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QComboBox, QLabel, QLineEdit, QPushButton, QScrollArea
from pytestqt.qtbot import QtBot

from ckptplanner.data import catalog
from ckptplanner.data.records import LayoutPart, ModelParts
from ckptplanner.engine.edits import edit
from ckptplanner.engine.evaluate import evaluate, plan_of
from ckptplanner.engine.scenario import PATHS, CustomStorage, NamedScenario, Scenario, Source, Workbook
from ckptplanner.frozen import with_value
from ckptplanner.ui.panel_column import PanelColumn
from ckptplanner.ui.panels.failures import FailuresPanel
from ckptplanner.ui.panels.hardware import HardwarePanel
from ckptplanner.ui.panels.panel import Panel
from ckptplanner.ui.panels.replication import ReplicationPanel
from ckptplanner.ui.panels.storage import StoragePanel
from ckptplanner.ui.panels.workload import WorkloadPanel
from ckptplanner.ui.widgets.field_row import FieldRow

PANELS = (WorkloadPanel, FailuresPanel, StoragePanel, ReplicationPanel, HardwarePanel)
TABLES = {"saves", "restart.classes"}  # typed in the tables under the plots
RETURN = Qt.Key.Key_Return
# panel, path, a good text and its value, a bad text, the text of the value that is shown already
CASES = (
    (WorkloadPanel, "workload.total_params", "671B", 671e9, "many", "124.45e9"),
    (WorkloadPanel, "workload.nodes", "64", 64, "0", "32"),
    (WorkloadPanel, "prices.node_usd_per_h", "$98.32", 98.32, "-1", "142.416"),
    (WorkloadPanel, "workload.step_s", "2.5 s", 2.5, "2.5 GB", "10000 ms"),
    (FailuresPanel, "failures.mtbi_s", "100 h", 360_000.0, "0", "720,000 s"),
    (FailuresPanel, "failures.detect_s", "90 s", 90.0, "soon", "1 min"),
    (FailuresPanel, "run.days", "2 weeks", 14.0, "0", "365"),
    (StoragePanel, "storage.write_s", "10 min", 600.0, "0 s", "300"),
    (StoragePanel, "storage.generations_kept", "3", 3, "2.5", "4"),
    (StoragePanel, "storage.interval_s", "1 h", 3600.0, "-5 min", ""),
    (StoragePanel, "storage.max_fill", "80 %", 0.8, "0", "1"),
    (StoragePanel, "prices.storage_usd_per_gib_month.p2_500", "0.3", 0.3, "free", "0.34"),
)


def workbook(scenario: Scenario | None = None, *sources: Source) -> Workbook:
    named = NamedScenario(name="5 min", scenario=scenario or Scenario(), sources=sources)
    return Workbook(scenarios=(named,), current="5 min", base="5 min")


def shown(qtbot: QtBot, kind: type[Panel], scenario: Scenario | None = None, *sources: Source) -> Panel:
    panel = kind()
    qtbot.addWidget(panel)
    panel.resize(320, 1200)
    panel.section.set_more_shown(True)
    panel.show_workbook(workbook(scenario, *sources))
    panel.show_plan(evaluate(scenario or Scenario()))
    with qtbot.waitExposed(panel):
        panel.show()
    panel.activateWindow()
    return panel


def type_into(panel: Panel, path: str, text: str) -> QLineEdit:
    row = panel.field(path)
    row.focus()
    assert isinstance(row.editor, QLineEdit)
    QTest.keyClick(row.editor, Qt.Key.Key_Delete)
    QTest.keyClicks(row.editor, text)
    QTest.keyClick(row.editor, RETURN)
    return row.editor


def choose(panel: Panel, path: str, start: str) -> None:
    """Choose the entry whose text begins so, as the list does it."""
    box = panel.field(path).editor
    assert isinstance(box, QComboBox)
    index = next(i for i in range(box.count()) if box.itemText(i).startswith(start))
    box.setCurrentIndex(index)
    box.activated.emit(index)


@pytest.mark.parametrize(("kind", "path", "good", "value", "bad", "equal"), CASES, ids=[case[1] for case in CASES])
class TestContract:
    def test_a_good_edit_emits_once(self, qtbot, heard, kind, path, good, value, bad, equal):
        panel = shown(qtbot, kind)
        edits, ends = heard(panel.edited), heard(panel.gesture_ended)
        type_into(panel, path, good).clearFocus()
        assert edits.said == [(path, value)]
        assert len(ends.said) == 1

    def test_a_bad_edit_shows_a_note(self, qtbot, heard, kind, path, good, value, bad, equal):
        panel = shown(qtbot, kind)
        edits = heard(panel.edited)
        editor = type_into(panel, path, bad)
        editor.clearFocus()
        assert edits.said == []
        assert panel.field(path).small_print()
        assert editor.text() == bad

    def test_an_equal_edit_is_silent(self, qtbot, heard, kind, path, good, value, bad, equal):
        panel = shown(qtbot, kind)
        said = heard(panel.edited, panel.gesture_ended)
        type_into(panel, path, equal).clearFocus()
        assert said.said == []

    def test_showing_emits_nothing(self, qtbot, heard, kind, path, good, value, bad, equal):
        panel = shown(qtbot, kind)
        said = heard(panel.edited, panel.gesture_ended, panel.why_requested, panel.source_requested)
        changed = with_value(Scenario(), path, value)
        panel.show_workbook(workbook(changed))
        panel.show_plan(evaluate(changed))
        assert said.said == []
        assert panel.field(path).source_text() == "typed"

    def test_a_refusal_from_outside_stands_below_the_row(self, qtbot, heard, kind, path, good, value, bad, equal):
        panel = shown(qtbot, kind)
        panel.show_refusal(path, "Not together with that.")
        panel.show_refusal("workload.no_such_field", "Never shown.")
        assert panel.field(path).small_print().startswith("Not together with that.")


@pytest.mark.parametrize("kind", PANELS)
def test_at_most_ten_rows_before_more(qtbot, kind):
    panel = shown(qtbot, kind)
    panel.section.set_more_shown(False)
    rows = [row for row in panel.findChildren(QLabel) if row.buddy() is not None and row.isVisible()]
    assert 4 <= len(rows) <= 10


@pytest.mark.parametrize("kind", PANELS)
def test_no_label_is_cut_in_a_column_of_300(qtbot, kind):
    panel = shown(qtbot, kind)
    panel.resize(300, 1200)
    assert panel.minimumSizeHint().width() <= 300
    for label in panel.findChildren(QLabel):
        if label.buddy() is not None:
            assert label.fontMetrics().horizontalAdvance(label.text()) <= label.width(), label.text()


def test_every_field_has_a_row_in_one_panel(qtbot):
    panels = [kind() for kind in PANELS]
    for panel in panels:
        qtbot.addWidget(panel)
    for path in set(PATHS) - TABLES:
        assert sum(panel.has_field(path) for panel in panels) == 1, path


def test_unfolds_and_scrolls_to_a_field(qtbot):
    area, panel = QScrollArea(), StoragePanel()
    qtbot.addWidget(area)
    area.setWidgetResizable(True)
    area.setWidget(panel)
    area.resize(320, 200)
    panel.show_workbook(workbook())
    panel.section.set_unfolded(False)
    with qtbot.waitExposed(area):
        area.show()
    area.activateWindow()
    panel.focus_field("prices.gpu_value_usd_per_h")
    row = panel.field("prices.gpu_value_usd_per_h")
    qtbot.waitUntil(lambda: area.viewport().rect().contains(row.mapTo(area.viewport(), row.rect().center())))
    assert row.editor.hasFocus()


def test_sources_are_shown(qtbot):
    source = Source(path="failures.start_s", kind="log", text="slurm-4711.out", date="2026-11-21", note="312 saves")
    panel = shown(qtbot, FailuresPanel, None, source)
    assert panel.field("failures.start_s").source_text() == "log"
    assert panel.field("failures.detect_s").source_text() == "guess"
    assert panel.field("failures.mtbi_s").source_text() == "article"


def test_second_lines_say_the_same_in_other_words(qtbot):
    work, failures, storage, replication, node = (shown(qtbot, kind) for kind in PANELS)
    lines = [
        work.field("workload.layout").small_print(),
        work.computed("checkpoint_bytes").small_print(),
        failures.field("failures.mtbi_s").small_print(),
        failures.computed("restart_s").small_print(),
        storage.field("storage.generations_kept").small_print(),
        replication.field("replication.factor").small_print(),
        node.computed("host_ram").small_print(),
    ]
    assert [line.replace("\u00a0", " ") for line in lines] == [
        "bf16 weights 2 + fp32 master 4 + Adam moments 8",
        "54.4 GB a node, written by all 32",
        "this job, all causes, 32 nodes = each node every 267 days",
        "with 4 min 50 s to read 1.74 TB back",
        "3 complete + 1 being written",
        "no protection; possible: 1, 2, 4, 8, 16, 32",
        "549 GB of 4.4 TB a node",
    ]
    assert work.computed("checkpoint_bytes").value_text() == "1.74\u00a0TB"
    assert failures.computed("restart_s").value_text() == "14\u00a0min\u00a050\u00a0s"
    interval = storage.field("storage.interval_s").editor
    assert isinstance(interval, QLineEdit)
    assert interval.placeholderText() == "best, 44.7\u00a0min"


def test_a_mean_restart_says_what_it_is_the_mean_of(qtbot):
    panel = shown(qtbot, FailuresPanel, with_value(Scenario(), "local.enabled", True))
    line = panel.computed("restart_s").small_print().replace("\u00a0", " ")
    assert line == "mean of 10 min (50 %) and 15 min (50 %)"


def test_a_figure_answers_why(qtbot, heard):
    panel = shown(qtbot, FailuresPanel)
    asked = heard(panel.why_requested)
    QTest.mouseClick(panel.computed("restart_s"), Qt.MouseButton.LeftButton)
    assert asked.said == [("restart_s",)]


@pytest.mark.parametrize(
    ("kind", "path", "start", "value"),
    [
        (WorkloadPanel, "workload.node", "p5.48xlarge", "p5.48xlarge"),
        (WorkloadPanel, "workload.framework", "TorchTitan", "TorchTitan"),
        (WorkloadPanel, "workload.layout", "12", "fsdp2-12"),
        (FailuresPanel, "failures.record", "Llama 3 405B, all", "llama3-all"),
        (StoragePanel, "storage.efa", "on", "on"),
        (StoragePanel, "storage.tier", "1,000, 7,200", "p2-1000-7200"),
        (StoragePanel, "storage.published", "at the next save", "next_save"),
        (StoragePanel, "prices.region", "eu-west-1", "eu-west-1"),
    ],
)
def test_a_choice_proposes_its_id(qtbot, heard, kind, path, start, value):
    panel = shown(qtbot, kind)
    edits, ends = heard(panel.edited), heard(panel.gesture_ended)
    choose(panel, path, start)
    assert edits.said == [(path, value)]
    assert len(ends.said) == 1


def test_a_model_is_found_by_words(qtbot, heard):
    panel = shown(qtbot, WorkloadPanel)
    edits = heard(panel.edited)
    type_into(panel, "workload.model", "qwen3 235")
    assert edits.said == [("workload.model", catalog.find_models("qwen3 235")[0])]


def test_the_parts_of_a_model_have_switches(qtbot, heard):
    parts = ModelParts(
        name="Some model", family="Some", source="config.json", date="2026-11-01", body_params=600e9,
        embedding_params=1e9, head_params=1e9, mtp_params=11.5e9, vision_params=0.4e9,
    )  # fmt: skip
    panel = shown(qtbot, WorkloadPanel, with_value(Scenario(), "workload.model", parts))
    edits = heard(panel.edited)
    for path in ("workload.model.mtp_counted", "workload.model.tied"):
        QTest.mouseClick(panel.field(path).editor, Qt.MouseButton.LeftButton)
    choose(panel, "workload.model.vision", "left out")
    assert edits.said == [
        ("workload.model.mtp_counted", True),
        ("workload.model.tied", True),
        ("workload.model.vision", "left out"),
    ]
    panel.show_workbook(workbook())
    assert not panel.field("workload.model.vision").isVisible()


def test_a_layout_of_ones_own_is_other(qtbot):
    own = (LayoutPart(what="fp32 weights", bytes_per_param=4), LayoutPart(what="state", bytes_per_param=7.25))
    panel = shown(qtbot, WorkloadPanel, with_value(Scenario(), "workload.layout", own))
    row = panel.field("workload.layout")
    assert row.editor.value_text() == "11.25\u00a0B"
    assert row.small_print() == "fp32 weights 4 + state 7.25"


def test_sync_has_no_stop_time_of_its_own(qtbot):
    panel = shown(qtbot, StoragePanel, with_value(Scenario(), "storage.mode", "sync"))
    row = panel.field("storage.blocking_s")
    assert not row.editor.isEnabled()
    assert "not with sync" in row.source_text() + row.small_print()


def test_the_storage_we_have_and_back(qtbot, heard):
    panel = shown(qtbot, StoragePanel)
    edits = heard(panel.edited)
    assert not panel.field("storage.custom.usable_bytes").isVisible()
    choose(panel, "storage.tier", "storage we have")
    assert edits.said == [("storage.custom", CustomStorage()), ("storage.pace", "full")]
    panel.show_workbook(workbook(with_value(Scenario(), "storage.custom", CustomStorage())))
    assert panel.field("storage.custom.usable_bytes").isVisible()
    button = next(b for b in panel.findChildren(QPushButton) if b.objectName() == "button.storage.custom")
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)
    assert edits.said[2:] == [("storage.custom", None)]


# ---------------------------------------------------------------- only assumptions


@pytest.fixture
def column(qtbot: QtBot, tmp_path: Path) -> PanelColumn:
    made = PanelColumn(QSettings(str(tmp_path / "s.ini"), QSettings.Format.IniFormat))
    qtbot.addWidget(made)
    made.build()
    named = NamedScenario(name="5 min")
    made.show_workbook(Workbook(scenarios=(named,), current="5 min", base="5 min"))
    made.show_plan(plan_of(named))
    made.show()
    return made


def rows_seen(column: PanelColumn) -> set[str]:
    return {row.path for row in column.findChildren(FieldRow) if row.isVisible()}


def test_the_filter_shows_the_assumptions_alone_and_counts_them(column: PanelColumn) -> None:
    button = column.findChild(QPushButton, "panels.only_guesses")
    assert button is not None
    whole = rows_seen(column)
    assert "storage.blocking_s" in whole  # article A's
    count = int(button.text().split()[0])
    button.click()
    few = rows_seen(column)
    assert {"failures.detect_s", "failures.reschedule_s", "failures.start_s"} <= few
    assert len(few) == count
    assert "storage.blocking_s" not in few
    button.click()
    assert rows_seen(column) == whole


def test_an_assumption_that_is_measured_leaves_the_filter(column: PanelColumn) -> None:
    column.toggle_only_guesses()
    named = edit(NamedScenario(name="5 min"), "failures.detect_s", 90.0, "log", "sacct.txt")
    column.show_workbook(Workbook(scenarios=(named,), current="5 min", base="5 min"))
    assert "failures.detect_s" not in rows_seen(column)
    assert "failures.start_s" in rows_seen(column)


def test_going_to_a_field_that_the_filter_hides_ends_the_filter(column: PanelColumn) -> None:
    column.toggle_only_guesses()
    column.focus_field("storage.blocking_s")
    assert "storage.blocking_s" in rows_seen(column)
