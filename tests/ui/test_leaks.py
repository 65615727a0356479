"""The watch of conftest sees what it is there for: a timer, a thread or a pool job that a test leaves running."""

from __future__ import annotations

import threading

from PySide6.QtCore import QObject, QRunnable, QThreadPool, QTimer
from pytestqt.qtbot import QtBot

from tests.ui.conftest import Open, Timers, left_running


def test_a_timer_is_seen_until_it_stops(timers: Timers) -> None:
    parent = QObject()
    timer = QTimer(parent)
    timer.setObjectName("ticking")
    assert left_running(timers, set(threading.enumerate())) == []
    timer.start(10_000)
    assert left_running(timers, set(threading.enumerate())) == ["timer ticking"]
    timer.stop()
    assert left_running(timers, set(threading.enumerate())) == []


def test_a_thread_is_seen_until_it_ends(timers: Timers) -> None:
    before, may_end = set(threading.enumerate()), threading.Event()
    thread = threading.Thread(target=may_end.wait, name="forgotten", daemon=True)
    thread.start()
    assert left_running(timers, before) == ["thread forgotten"]
    may_end.set()
    thread.join()
    assert left_running(timers, before) == []


def test_a_pool_job_is_seen_until_it_is_done(timers: Timers, qtbot: QtBot) -> None:
    may_end = threading.Event()
    QThreadPool.globalInstance().start(QRunnable.create(may_end.wait))
    before = set(threading.enumerate())
    assert left_running(timers, before) == ["1 pool jobs"]
    may_end.set()
    assert QThreadPool.globalInstance().waitForDone(5000)
    # once the job is done, the pool's own thread may wait for another one
    assert left_running(timers, set(threading.enumerate())) == []


def test_windows_that_close_leave_nothing_behind(open_window: Open, timers: Timers) -> None:
    before = set(threading.enumerate())
    for _ in range(2):
        window, _store = open_window()
        window.close()
    assert left_running(timers, before) == []
