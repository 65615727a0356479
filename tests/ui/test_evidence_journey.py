"""A folder is dropped on the window: M is adopted, the waste moves, undo, a hang is reclassified, a week later refresh."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QPushButton
from pytestqt.qtbot import QtBot

from ckptplanner.ui.evidence.found_table import FoundTable
from ckptplanner.ui.evidence.places import FAILURES, FILES
from ckptplanner.ui.evidence.stops_table import StopsTable
from ckptplanner.ui.evidence_view import EvidenceView
from ckptplanner.ui.main_window import MainWindow
from ckptplanner.ui.views import EVIDENCE, Views
from tests.ui.conftest import Open
from tests.ui.hands import CTRL, drop, headline, press, shown

HEAD = "JobIDRaw|JobName|State|ExitCode|Submit|Eligible|Start|End|ElapsedRaw|NNodes|NodeList"


def sacct(folder: Path, *, weeks: int) -> None:
    """Every two days a node fails, once a week somebody kills a hang; on 32 nodes, each run of 48 h."""
    rows = [HEAD]
    for day in range(0, 7 * weeks, 2):
        state = "CANCELLED by 1000" if day % 8 == 6 else "NODE_FAIL"
        start, end = f"2026-09-{1 + day:02d}T00:00:00", f"2026-09-{3 + day:02d}T00:00:00"
        rows.append(f"77|pretrain|{state}|0:0|{start}|{start}|{start}|{end}|172800|32|gpu-[001-032]")
    (folder / "sacct.txt").write_text("\n".join(rows) + "\n")


def view_of(window: MainWindow) -> EvidenceView:
    views = window.findChild(Views)
    assert views is not None
    assert views.index == EVIDENCE
    return views.evidence


def settle(qtbot: QtBot, view: EvidenceView) -> None:
    qtbot.waitUntil(lambda: not view.desk.is_busy, timeout=60_000)


def goodput(window: MainWindow) -> float:
    words = headline(window).replace("\u00a0", " ")
    return float(words.partition("goodput")[2].split()[0])


def test_a_folder_becomes_inputs(open_window: Open, qtbot: QtBot, tmp_path: Path) -> None:
    window, store = open_window()
    before = goodput(window)
    folder = tmp_path / "run-7"
    folder.mkdir()
    sacct(folder, weeks=2)
    assert drop(window, folder)
    view = view_of(window)
    settle(qtbot, view)
    adopt_m(qtbot, window, view)
    # 7 runs of 48 h, 6 of them interrupted: 336 h / 6 = 56 h
    assert shown(window, "failures.mtbi_s") == "56 h"
    assert goodput(window) < before - 0.3
    source = store.workbook.shown.source_of("failures.mtbi_s")
    assert source is not None
    assert source.kind == "log"
    assert source.text.startswith("run-7/sacct.txt, line ")
    assert source.count == 6
    press(window, Qt.Key.Key_Z, CTRL)
    assert shown(window, "failures.mtbi_s") == "200 h"
    assert goodput(window) == before
    reclassify_the_hang(qtbot, view)
    refresh(qtbot, window, view, folder)


def adopt_m(qtbot: QtBot, window: MainWindow, view: EvidenceView) -> None:
    assert view.tabs.currentIndex() == FILES
    found = view.files.findChild(FoundTable)
    assert found is not None
    row = next(at for at, effect in enumerate(found.effects) if effect.estimate.id == "mtbi")
    effect = found.effects[row]
    assert effect.waste_fraction is not None
    assert effect.waste_fraction > 0.003
    view.files.adopt_requested.emit((effect.estimate,))
    settle(qtbot, view)


def reclassify_the_hang(qtbot: QtBot, view: EvidenceView) -> None:
    """Is a cancelled job a hang that was killed? Then 7 interruptions, one every 48 h."""
    view.show_page(FAILURES)
    stops = view.failures.findChild(StopsTable)
    assert stops is not None
    hang = next(stop for stop in stops.model().stops if stop.kind == "cancelled")  # type: ignore[attr-defined]
    stops.kind_chosen.emit(hang.key, "process")
    settle(qtbot, view)
    assert "7 interruptions" in view.failures.verdict.text()
    assert view.desk.found.reading is not None
    record = view.desk.found.reading.failures
    assert record is not None
    assert (record.count, record.mtbi_s / 3600.0) == (7, 48.0)


def refresh(qtbot: QtBot, window: MainWindow, view: EvidenceView, folder: Path) -> None:
    """A week later: the folder has grown, the reclassified stop is still one, and the plan is held against it."""
    sacct(folder, weeks=3)
    view.show_page(FILES)
    button = view.files.findChild(QPushButton, "files.refresh")
    assert button is not None
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)
    settle(qtbot, view)
    reading = view.desk.found.reading
    assert reading is not None
    assert reading.failures is not None
    assert len(reading.failures.stops) == 11
    assert reading.failures.count == 10  # 9 nodes and the hang; the second one was not reclassified
    view.files.show_part("observed")
    said = " ".join(label.text() for label in view.files.findChildren(QLabel) if label.isVisible())
    assert "Save every" in said or "still right" in said
