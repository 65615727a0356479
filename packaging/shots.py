"""Draw the pictures of README and guide into docs/img, without a screen; the same bytes on every machine.

make shots
"""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from datetime import datetime, timedelta
from pathlib import Path
from unittest.mock import patch

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
os.environ.setdefault("QT_LOGGING_RULES", "default.warning=false")  # what offscreen cannot do does not matter here

from PySide6.QtCore import QEventLoop, QLocale, QPoint, QSettings
from PySide6.QtGui import QPainter, QPixmap
from PySide6.QtWidgets import QApplication, QLineEdit, QListWidget, QWidget

from ckptplanner.engine.workbook_file import read
from ckptplanner.ui import headless
from ckptplanner.ui.app import application
from ckptplanner.ui.apply.dialog import ApplyDialog
from ckptplanner.ui.break_even import BreakEvens
from ckptplanner.ui.check.page import CheckPage
from ckptplanner.ui.decide.table import ScenarioTable
from ckptplanner.ui.decide_view import BEST, FLIPS, FRONTIER, MATTERS, SIDE_BY_SIDE
from ckptplanner.ui.evidence.places import FAILURES, FILES, LOGS
from ckptplanner.ui.findings_view import FindingsView
from ckptplanner.ui.headline import Headline
from ckptplanner.ui.main_window import MainWindow
from ckptplanner.ui.plan_view import CHECK, PlanView
from ckptplanner.ui.scenario_bar import ScenarioBar
from ckptplanner.ui.start_dialog import StartDialog
from ckptplanner.ui.store import Store
from ckptplanner.ui.theme import THEMES, apply_theme
from ckptplanner.ui.views import DECIDE, EVIDENCE, PATH, SURVIVE, Views
from ckptplanner.ui.why import WhyPopup

ROOT = Path(__file__).parents[1]
EXAMPLES, IMAGES = ROOT / "resources/examples", ROOT / "docs/img"
SIZE = (1440, 900)
DAY = datetime(2026, 11, 29, 12, 0)
PAGE_S = 12.0  # in which a search or the bars are done on any machine
STEPS = 3  # from one interruption of the simulated run to the next, until one is seen that shows the lanes well


class FixedDay(datetime):
    """A clock that stands still, so that the report's date does not change the picture."""

    @classmethod
    def now(cls, tz: object = None) -> FixedDay:
        return cls(DAY.year, DAY.month, DAY.day, DAY.hour)


def settle() -> None:
    """Let layouts and plots come to rest, and no caret blink."""
    for _ in range(4):
        QApplication.processEvents()
    if (focused := QApplication.focusWidget()) is not None:
        focused.clearFocus()
    QApplication.processEvents()


def wait_for_break_evens(made: MainWindow) -> None:
    """The sentence under the cards comes a moment after the last change."""
    while (found := made.findChild(BreakEvens)) is None or not found.is_idle:
        QApplication.processEvents(QEventLoop.ProcessEventsFlag.WaitForMoreEvents, 50)
    settle()


def window(example: str, theme: str, folder: Path) -> tuple[MainWindow, Store]:
    """The window on an example, in a theme, with settings of its own; and its store."""
    settings = QSettings(str(folder / f"{example}-{theme}.ini"), QSettings.Format.IniFormat)
    settings.setValue("theme", theme)
    app = application()
    apply_theme(app, THEMES[theme])
    file = EXAMPLES / f"{example}.ckptplan.json"
    store = Store(read(file))
    store.file = file
    made = MainWindow(store, settings)
    made.resize(*SIZE)
    wait_for_all = QEventLoop()
    made.ready.connect(wait_for_all.quit)
    made.show()
    wait_for_all.exec()
    wait_for_break_evens(made)
    return made, store


def save(picture: QPixmap, name: str) -> None:
    """Write one picture and say so."""
    path = IMAGES / name
    if not picture.save(str(path)):
        sys.exit(f"{path} cannot be written")
    print(path.relative_to(ROOT))


def with_card(made: MainWindow, card: QWidget, place: QPoint) -> QPixmap:
    """The window with a card over it; cards are windows of their own, so both are drawn and put together."""
    settle()
    picture, over = made.grab(), card.grab()
    painter = QPainter(picture)
    painter.drawPixmap(place, over)
    painter.end()
    card.close()
    return picture


def windows(folder: Path) -> None:
    """The plan in both themes, the trade-off, and the cards over the window."""
    dark, _ = window("nemotron-3.5-super", "dark", folder)
    views = dark.findChild(Views)
    assert views is not None
    views.show_view(PATH)
    settle()
    save(dark.grab(), "path-dark.png")
    dark.close()
    light, store = window("nemotron-3.5-super", "light", folder)
    save(light.grab(), "plan-light.png")
    view, headline = light.findChild(PlanView), light.findChild(Headline)
    assert view is not None
    assert headline is not None
    headline.why_requested.emit("required_write_bytes_per_s")
    why = light.findChild(WhyPopup)
    assert why is not None
    save(with_card(light, why, headline.mapTo(light, QPoint(16, 130))), "why.png")
    bar = light.findChild(ScenarioBar)
    assert bar is not None
    bar.findings_requested.emit("warning")
    findings = light.findChild(FindingsView)
    assert findings is not None
    corner = bar.mapTo(light, QPoint(bar.width() - 12, bar.height()))
    save(with_card(light, findings, corner - QPoint(findings.width(), 0)), "findings.png")
    view.show_page(1)
    settle()
    save(light.grab(), "tradeoff-light.png")
    views = light.findChild(Views)
    assert views is not None
    for path, value in (("replication.factor", 2), ("replication.rack_nodes", 8)):
        store.edit(path, value)
    store.undo_stack.setClean()  # closing must not ask
    views.show_view(SURVIVE)
    wait_for_break_evens(light)
    save(light.grab(), "survive-light.png")
    light.close()


def checks(folder: Path) -> None:
    """The plan checked by simulation, with one interruption seen close; logs replayed."""
    light, _ = window("local-and-shared", "light", folder)
    view, views = light.findChild(PlanView), light.findChild(Views)
    assert view is not None
    assert views is not None
    view.show_page(CHECK)
    page = light.findChild(CheckPage)
    assert page is not None
    with patch("ckptplanner.ui.check.page.time") as clock:  # how long it took is another on every machine
        clock.monotonic.return_value = 0.0
        page.start()
        while page.is_running:
            QApplication.processEvents()
    for _ in range(STEPS):
        page.picture.lanes.show_interruption(1)
    settle()
    save(light.grab(), "check-light.png")
    light.close()
    dark, _ = window("nemotron-3.5-super", "dark", folder)
    views = dark.findChild(Views)
    assert views is not None
    views.show_view(EVIDENCE)
    views.evidence.show_page(LOGS)
    settle()
    save(dark.grab(), "evidence-dark.png")
    dark.close()


def run_folder(folder: Path) -> Path:
    """Files as a run leaves them: fifty days of Slurm's accounting, drawn at random but always the same, and samples."""
    draw, made = random.Random(11), folder / "run-7"
    (made / "bench").mkdir(parents=True)
    start = submit = datetime(2026, 10, 1, 8)
    rows, job = ["JobIDRaw|JobName|State|ExitCode|Submit|Eligible|Start|End|ElapsedRaw|NNodes|NodeList"], 48_000
    while start < datetime(2026, 11, 20):
        seconds = int(draw.expovariate(1.0 / 136_800.0)) + 600
        end = start + timedelta(seconds=seconds)
        state = draw.choices(("NODE_FAIL", "FAILED", "CANCELLED by 1000", "TIMEOUT", "OUT_OF_MEMORY"), (5, 4, 2, 1, 1))[0]
        job += state == "TIMEOUT"
        times = "|".join(f"{one:%Y-%m-%dT%H:%M:%S}" for one in (submit, submit, start, end))
        rows.append(f"{job}|pretrain-120b|{state}|1:0|{times}|{seconds}|32|gpu-[001-032]")
        submit, start = end, end + timedelta(seconds=draw.randrange(120, 700))
    (made / "sacct.txt").write_text("\n".join(rows) + "\n")
    for sample, name in (
        ("logs/megatron-lm.log", "rank0.log"),
        ("storage/nvbandwidth-constructed.json", "bench/nvbandwidth.json"),
    ):
        shutil.copy(ROOT / "tests/data/samples" / sample, made / name)
    return made


def files(folder: Path) -> None:
    """What the files of a run say, and the interruptions in them."""
    run = run_folder(folder)
    for theme, page, name in (("light", FILES, "files"), ("dark", FAILURES, "failures")):
        made, _ = window("nemotron-3.5-super", theme, folder)
        views = made.findChild(Views)
        assert views is not None
        views.show_view(EVIDENCE)
        views.evidence.open_files([run])
        while views.evidence.desk.is_busy:
            QApplication.processEvents()
        views.evidence.show_page(page)
        settle()
        save(made.grab(), f"{name}-{theme}.png")
        made.close()


def settings(folder: Path) -> None:
    """The settings of the plan's framework, over the window."""
    made, _ = window("nemotron-3.5-super", "light", folder)
    made._show_settings()  # noqa: SLF001 - what Ctrl+T does
    dialog = made.findChild(ApplyDialog)
    assert dialog is not None
    settle()
    over = QPoint((made.width() - dialog.width()) // 2, (made.height() - dialog.height()) // 2)
    save(with_card(made, dialog, over), "settings-light.png")
    made.close()


def decide(folder: Path) -> None:
    """The best plan, the frontier, what flips the choice and what matters; scenarios side by side, sorted by what they cost."""
    for theme, pages in (("light", {BEST: "best", FLIPS: "flips"}), ("dark", {FRONTIER: "frontier", MATTERS: "matters"})):
        made, _ = window("nemotron-3.5-super", theme, folder)
        views = made.findChild(Views)
        assert views is not None
        views.show_view(DECIDE)
        for page, name in pages.items():
            views.decide.show_page(page)
            with patch("ckptplanner.ui.decide.finder.time") as clock:  # how long it took is another on every machine
                clock.monotonic.return_value = 0.0
                begun = time.monotonic()
                while time.monotonic() - begun < PAGE_S:
                    QApplication.processEvents(QEventLoop.ProcessEventsFlag.AllEvents, 50)
            settle()
            save(made.grab(), f"{name}-{theme}.png")
        made.close()
    light, _ = window("nemotron-3.5-super", "light", folder)
    views = light.findChild(Views)
    assert views is not None
    views.show_view(DECIDE)
    views.decide.show_page(SIDE_BY_SIDE)
    table = light.findChild(ScenarioTable)
    assert table is not None
    table.sort_requested.emit("cost.total_usd_per_year")
    settle()
    save(light.grab(), "decide-light.png")
    light.close()


def dialog() -> None:
    """Three questions, with a model being looked for."""
    asked = StartDialog()
    asked.show()
    search, hits = asked.findChild(QLineEdit, "start.model"), asked.findChild(QListWidget, "start.hits")
    assert search is not None
    assert hits is not None
    search.setText("qwen3 235")
    search.textEdited.emit("qwen3 235")
    if hits.count():
        hits.itemClicked.emit(hits.item(0))
    settle()
    save(asked.grab(), "new-plan.png")
    asked.close()


def report(folder: Path) -> None:
    """The first page of the report."""
    if shutil.which("pdftoppm") is None:
        print("report-page1.png left out: pdftoppm (poppler-utils) is not installed")
        return
    with patch.object(headless, "datetime", FixedDay):
        headless.export(read(EXAMPLES / "nemotron-3.5-super.ckptplan.json"), folder)
    page = IMAGES / "report-page1"
    command = ("pdftoppm", "-png", "-r", "96", "-f", "1", "-l", "1", "-singlefile", folder / "report.pdf", page)
    subprocess.run([*map(str, command)], check=True)
    print(f"{page.relative_to(ROOT)}.png")


def main() -> None:
    """Draw them all."""
    IMAGES.mkdir(parents=True, exist_ok=True)
    QLocale.setDefault(QLocale.c())
    with tempfile.TemporaryDirectory() as folder:
        windows(Path(folder))
        checks(Path(folder))
        files(Path(folder))
        settings(Path(folder))
        decide(Path(folder))
        dialog()
        report(Path(folder))


if __name__ == "__main__":
    main()
