"""The look of the application, settings that touch nobody's home, windows to open, and a watch on what is left running."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path

import pyqtgraph as pg
import pytest
from PySide6.QtCore import QEvent, QLocale, QSettings, QThreadPool, QTimer
from PySide6.QtWidgets import QApplication, QDialog, QMessageBox
from pytestqt.qtbot import QtBot

from ckptplanner.engine.scenario import Workbook
from ckptplanner.engine.workbook_file import read
from ckptplanner.ui.assets import asset_path
from ckptplanner.ui.main_window import MainWindow
from ckptplanner.ui.store import Store
from ckptplanner.ui.theme import LIGHT, apply_theme

E1 = asset_path("examples") / "nemotron-3.5-super.ckptplan.json"
DIALOG_MS = 10_000  # longer than any test takes to answer


@pytest.fixture(scope="session", autouse=True)
def _look(qapp: QApplication, tmp_path_factory: pytest.TempPathFactory) -> None:
    settings: Path = tmp_path_factory.mktemp("settings")
    QSettings.setDefaultFormat(QSettings.Format.IniFormat)
    QSettings.setPath(QSettings.Format.IniFormat, QSettings.Scope.UserScope, str(settings))
    QLocale.setDefault(QLocale.c())
    pg.setConfigOption("mouseRateLimit", 0)  # every move of a test's mouse counts, however fast they come
    apply_theme(qapp, LIGHT)


class Heard:
    """What a signal said, in order."""

    def __init__(self, *signals: object) -> None:
        self.said: list[tuple[object, ...]] = []
        for signal in signals:
            signal.connect(self._on_said)  # type: ignore[attr-defined]

    def _on_said(self, *values: object) -> None:
        self.said.append(values)


@pytest.fixture
def heard() -> type[Heard]:
    """Records what signals say: `heard(widget.edited).said`."""
    return Heard


# ---------------------------------------------------------------- nothing may be left running


class Timers:
    """Every QTimer that was made or started while this watched."""

    def __init__(self) -> None:
        self._seen: list[weakref.ref[QTimer]] = []

    def note(self, timer: QTimer) -> None:
        self._seen.append(weakref.ref(timer))

    def running(self) -> list[QTimer]:
        """Those that are alive and active; one whose C++ part has gone counts as stopped."""
        found: list[QTimer] = []
        for seen in self._seen:
            timer = seen()
            try:
                if timer is not None and timer.isActive():
                    found.append(timer)
            except RuntimeError:
                continue
        return found


def left_running(timers: Timers, threads_before: set[threading.Thread]) -> list[str]:
    """What a test should have stopped, in words."""
    pool = QThreadPool.globalInstance()
    threads = [thread for thread in threading.enumerate() if thread not in threads_before and thread.is_alive()]
    return [
        *(f"timer {timer.objectName() or repr(timer)}" for timer in timers.running()),
        *(f"thread {thread.name}" for thread in threads),
        *([f"{pool.activeThreadCount()} pool jobs"] if pool.activeThreadCount() else []),
    ]


@pytest.fixture
def timers(monkeypatch: pytest.MonkeyPatch) -> Timers:
    """The timers that are started during a test."""
    watched, start = Timers(), QTimer.start

    def noted(timer: QTimer, *delay: int) -> None:
        watched.note(timer)
        start(timer, *delay)

    monkeypatch.setattr(QTimer, "start", noted)
    return watched


@pytest.fixture(autouse=True)
def _nothing_is_left_running(qapp: QApplication, timers: Timers) -> Iterator[None]:
    threads = set(threading.enumerate())
    yield
    # widgets that were closed are gone once their deferred deletion has been dealt with
    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    left = left_running(timers, threads)
    assert not left, f"left running: {', '.join(left)}"


@pytest.fixture(autouse=True)
def _no_dialog_waits(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A dialog that nobody answers is a failure with its words, not a test that never ends."""
    unanswered: list[str] = []
    run = QDialog.exec

    def run_for_a_while(dialog: QDialog) -> int:
        def give_up() -> None:
            unanswered.append(dialog.text() if isinstance(dialog, QMessageBox) else dialog.windowTitle())
            dialog.reject()

        timer = QTimer()
        timer.setSingleShot(True)
        timer.timeout.connect(give_up)
        timer.start(DIALOG_MS)
        try:
            return run(dialog)
        finally:
            timer.stop()

    monkeypatch.setattr(QDialog, "exec", run_for_a_while)
    yield
    assert not unanswered, f"nobody answered: {unanswered}"


# ---------------------------------------------------------------- windows


Open = Callable[..., tuple[MainWindow, Store]]


@pytest.fixture
def settings(tmp_path: Path) -> QSettings:
    """Settings of this test alone."""
    return QSettings(str(tmp_path / "settings.ini"), QSettings.Format.IniFormat)


@pytest.fixture
def open_window(qtbot: QtBot, settings: QSettings) -> Iterator[Open]:
    """Opens a window on a workbook, on E1 where none is given; at the end it is closed without a question."""
    opened: list[tuple[MainWindow, Store]] = []

    def open_one(workbook: Workbook | None = None, file: Path | None = None) -> tuple[MainWindow, Store]:
        store = Store(workbook or read(E1))
        store.file = file
        window = MainWindow(store, settings)
        with qtbot.waitSignal(window.ready), qtbot.waitExposed(window):
            window.show()
        window.activateWindow()
        opened.append((window, store))
        return window, store

    yield open_one
    for window, store in opened:
        store.undo_stack.setClean()
        window.close()
        window.deleteLater()
    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
