"""From a model to a file to hand over, in one window, with keys and mouse, reading what stands on the screen."""

from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path

import pytest
from PySide6.QtCore import QSettings, Qt
from PySide6.QtWidgets import QLabel, QMessageBox, QPushButton

from ckptplanner import cli
from ckptplanner.engine.document import plan_document
from ckptplanner.engine.evaluate import plan_of
from ckptplanner.ui.evidence.log_table import LogsTable
from ckptplanner.ui.main_window import MainWindow
from ckptplanner.ui.store import Store
from ckptplanner.ui.why import Link, WhyPopup
from tests.pdf import text_of
from tests.ui.conftest import E1, Open
from tests.ui.hands import (
    CTRL,
    Answer,
    Handle,
    card,
    child,
    click_figure,
    drop,
    figures,
    headline,
    labels,
    plain,
    plot_figures,
    press,
    shown,
    table,
    type_into,
    with_button,
    with_file,
    with_text,
)

SAMPLE = Path(__file__).parents[1] / "data" / "samples" / "hf"
MODEL = "deepseek_v3"
# 671.03 B × 14 B = 9.394 TB; over 1,200 s that is 7.83 GB/s
TOTAL = json.loads((SAMPLE / "expected_parameters.json").read_text())[MODEL]["total_parameters"]


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """The model's config.json as somebody has it on disk."""
    folder = tmp_path / "DeepSeek-V3"
    folder.mkdir()
    shutil.copy(SAMPLE / f"{MODEL}.config.json", folder / "config.json")
    return folder / "config.json"


def test_from_a_model_to_a_report(open_window: Open, config: Path, tmp_path: Path) -> None:
    window, store = open_window()
    assert "45 min" in card(window, "SAVE EVERY")
    take_the_model(window, config)
    type_the_write_time(window)
    drag_the_write_time(window, store)
    undo_and_redo(window)
    leave_a_ghost(window)
    duplicate_and_rename(window)
    saved = save(window, tmp_path)
    reopen(open_window, store, saved)
    export(window, store, tmp_path / "out")


def take_the_model(window: MainWindow, config: Path) -> None:
    assert drop(window, config)
    assert shown(window, "workload.total_params") == "671.026404352 B"
    assert "11.6 B parameters" in [text.replace("\u00a0", " ") for text in labels(window)], "its multi-token part"
    assert "9.39 TB" in headline(window)
    assert "31.3 GB/s" in headline(window), "9.394 TB in 300 s"


def type_the_write_time(window: MainWindow) -> None:
    before, options, tag = headline(window), table(window), plot_figures(window)
    type_into(window, "storage.write_s", "20 min")
    assert "7.83 GB/s" in headline(window)
    assert "restorable after 20 min" in card(window, "SAVE EVERY")
    assert headline(window) != before
    assert table(window) != options
    assert tag.startswith("5 min · 31.3 GB/s")
    assert plot_figures(window).startswith("20 min · 7.83 GB/s")
    assert Handle(window).shown_s == pytest.approx(1200.0)


def drag_the_write_time(window: MainWindow, store: Store) -> None:
    handle, steps = Handle(window), store.undo_stack.count()
    seen, headlines = [], set()
    handle.press(1200.0)
    for seconds in (1500.0, 2000.0, 2700.0, 3600.0):
        handle.move(handle.pixel(seconds), held=True)
        seen.append(shown(window, "storage.write_s"))
        headlines.add(headline(window))
        assert store.workbook.shown.scenario.storage.write_s == pytest.approx(seconds, rel=0.05)
        assert handle.shown_s == pytest.approx(store.workbook.shown.scenario.storage.write_s, rel=1e-6)
    handle.release(3600.0)
    assert seen == ["25 min", "33 min", "45 min", "1 h"]
    assert len(headlines) == 4
    assert plot_figures(window).startswith("1 h · 2.61 GB/s")
    assert store.undo_stack.count() == steps + 1


def undo_and_redo(window: MainWindow) -> None:
    press(window, Qt.Key.Key_Z, CTRL)
    assert shown(window, "storage.write_s") == "20 min"
    assert "7.83 GB/s" in headline(window)
    assert plot_figures(window).startswith("20 min")
    press(window, Qt.Key.Key_Y, CTRL)
    assert plot_figures(window).startswith("1 h · 2.61 GB/s")
    press(window, Qt.Key.Key_Z, CTRL)
    press(window, Qt.Key.Key_Z, CTRL)
    assert plot_figures(window).startswith("5 min")
    press(window, Qt.Key.Key_Z, CTRL | Qt.KeyboardModifier.ShiftModifier)
    assert plot_figures(window).startswith("20 min")


def leave_a_ghost(window: MainWindow) -> None:
    assert "ghost" not in headline(window)
    press(window, Qt.Key.Key_G)
    type_into(window, "storage.write_s", "10 min")
    assert "+$" in card(window, "BUY")
    assert "to the ghost" in card(window, "BUY")
    window.setFocus()
    press(window, Qt.Key.Key_G)
    assert "ghost" not in headline(window)


def duplicate_and_rename(window: MainWindow) -> None:
    press(window, Qt.Key.Key_D, CTRL)
    with with_text("ten minutes"):
        press(window, Qt.Key.Key_F2)
    tab = child(window, QPushButton, "scenario.ten minutes")
    assert tab.isVisible()
    assert tab.isChecked()
    type_into(window, "storage.generations_kept", "3")


def save(window: MainWindow, folder: Path) -> Path:
    file = folder / "meeting.ckptplan.json"
    assert window.isWindowModified()
    with with_file(file):
        press(window, Qt.Key.Key_S, CTRL)
    assert file.exists()
    assert not window.isWindowModified()
    assert "meeting.ckptplan.json" in window.windowTitle()
    return file


def reopen(open_window: Open, first: Store, file: Path) -> None:
    window, store = open_window()
    with with_file(file):
        press(window, Qt.Key.Key_O, CTRL)
    assert store.workbook == first.workbook
    assert store.workbook.current == "ten minutes"
    for mine, theirs in zip(store.shown(), first.shown(), strict=True):
        assert plan_document(mine.plan) == plan_document(theirs.plan)
    assert child(window, QPushButton, "scenario.ten minutes").isVisible()
    assert shown(window, "storage.generations_kept") == "3"


def rows_of(file: Path) -> list[dict[str, str]]:
    with file.open(encoding="utf-8-sig", newline="") as stream:
        return list(csv.DictReader(stream))


def export(window: MainWindow, store: Store, folder: Path) -> None:
    folder.mkdir()
    with with_file(folder):
        press(window, Qt.Key.Key_E, CTRL)
    assert {file.name for file in folder.iterdir()} >= {
        "report.pdf", "options.csv", "curves.csv", "inputs.csv", "findings.csv", "cost-and-waste.png", "tradeoff.png",
    }  # fmt: skip
    inputs = {row["path"]: row for row in rows_of(folder / "inputs.csv")}
    assert float(inputs["workload.total_params"]["value"]) == TOTAL
    assert float(inputs["storage.write_s"]["value"]) == 600.0
    plan = plan_of(store.workbook.shown)
    on_screen = table(window)
    written = rows_of(folder / "options.csv")
    assert len(written) == len(on_screen) > 4
    for row, cells in zip(written, on_screen, strict=True):
        assert f"{float(row['usd_per_month']):,.0f}" == cells[7]
        assert f"{float(row['capacity_gib']):,.0f}" in cells[0]
    chosen = next(row for row in written if row["chosen"] == "True")
    assert f"{float(chosen['capacity_gib']):,.0f} GiB" in card(window, "BUY")
    curve = min(rows_of(folder / "curves.csv"), key=lambda row: abs(float(row["write_s"]) - 600.0))
    assert float(curve["required_write_bytes_per_s"]) * float(curve["write_s"]) == pytest.approx(14 * TOTAL)
    assert len(rows_of(folder / "findings.csv")) == len(plan.findings)
    report = text_of(folder / "report.pdf")
    for _, figure in figures(window):
        assert figure in report
    assert "15.7 GB/s" in report
    assert "9.39 TB" in report
    assert " ".join(plain(child(window, QLabel, "sentence").text()).split()) in report


def test_twice_the_nodes_halve_the_time_between_interruptions(open_window: Open, capsys: pytest.CaptureFixture[str]) -> None:
    """On the screen, in the card that says why, and on the command line: one number."""
    window, store = open_window()
    type_into(window, "workload.nodes", "64")
    assert store.workbook.shown.scenario.failures.mtbi_s == 720_000.0
    lines = [text.replace("\u00a0", " ") for text in labels(window)]
    assert any(line.startswith("this job's 64 nodes: 100 h") for line in lines)
    click_figure(window, "best_interval_s")
    why = child(window, WhyPopup, "")
    assert why.isVisible()
    assert child(why, Link, "mtbi_s").text().replace("\u00a0", " ") == "100 h"
    why.close()
    assert cli.main(["plan", str(E1), "--set", "workload.nodes=64", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["schedule"]["mtbi_s"] == 360_000.0
    assert plan_of(store.workbook.shown).schedule.mtbi_s == 360_000.0  # type: ignore[union-attr]


def test_a_plan_dropped_on_the_window_is_opened_and_asks_first(open_window: Open, settings: QSettings, tmp_path: Path) -> None:
    window, store = open_window()
    type_into(window, "storage.write_s", "7 min")
    other = tmp_path / "other.ckptplan.json"
    shutil.copy(E1.parent / "llama-3-405b.ckptplan.json", other)
    with with_button(QMessageBox.StandardButton.Cancel):
        drop(window, other)
    assert store.workbook.shown.scenario.storage.write_s == 420.0
    with with_button(QMessageBox.StandardButton.Discard):
        drop(window, other)
    assert "5.68 TB" in headline(window)
    assert not window.isWindowModified()
    assert "other.ckptplan.json" in window.windowTitle()


def test_g_is_a_letter_inside_a_field(open_window: Open) -> None:
    window, _ = open_window()
    edit = type_into(window, "storage.write_s", "g", enter=False)
    assert edit.text() == "g"
    assert "ghost" not in headline(window)


def test_a_log_dropped_on_the_window_opens_evidence(open_window: Open, tmp_path: Path) -> None:
    window, _ = open_window()
    log = tmp_path / "mine.csv"
    log.write_text("time\n2026-09-01T02:10\n2026-09-03T11:40\n2026-09-08T20:05\n")
    assert drop(window, log)
    table = child(window, LogsTable, "evidence.logs")
    assert table.isVisible()
    assert table.model().index(0, 0).data() == "mine"


def test_what_is_nothing_of_ours_is_told_what_can_be_dropped(open_window: Open, tmp_path: Path) -> None:
    window, _ = open_window()
    other = tmp_path / "notes.txt"
    other.write_text("milk and bread\n")
    with Answer(lambda dialog: dialog.accept()) as told:
        drop(window, other)
    assert "a plan, a model" in told.words
    assert "a log" in told.words
