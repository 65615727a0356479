"""Work off the GUI thread: progress and result are told on the GUI thread, and never of a job that was given up."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import pytest
from PySide6.QtCore import QThread
from pytestqt.qtbot import QtBot

from ckptplanner.ui.background import Cancelled, Progress, TaskRunner
from tests.ui.conftest import Heard


@pytest.fixture
def runner(qtbot: QtBot) -> Iterator[TaskRunner]:
    made = TaskRunner()
    assert not made.is_running
    assert made.is_idle
    yield made
    made.close()


class Endless:
    """Work that goes on until it is given up; `ended` says how."""

    def __init__(self) -> None:
        self.begun, self.ended, self.never = threading.Event(), threading.Event(), threading.Event()
        self.was_cancelled = False
        self.ended_at = 0.0

    def __call__(self, progress: Progress) -> object:
        try:
            while True:
                self.begun.set()
                progress(0.25)
                self.never.wait(0.005)
        except Cancelled:
            self.was_cancelled = True
            raise
        finally:
            self.ended_at = time.monotonic()
            self.ended.set()


def test_a_result_is_told_with_its_progress(qtbot: QtBot, runner: TaskRunner, heard: type[Heard]) -> None:
    told = heard(runner.progressed)

    def work(progress: Progress) -> object:
        threading.Event().wait(0.04)  # reports closer than that are not passed on
        progress(0.5)
        return "done"

    with qtbot.waitSignal(runner.finished) as finished:
        runner.start(work)
        assert runner.is_running
    assert finished.args == ["done"]
    assert told.said == [(0.0,), (0.5,)]
    assert not runner.is_running


def test_work_runs_elsewhere_and_is_told_of_here(qtbot: QtBot, runner: TaskRunner) -> None:
    here, threads = threading.get_ident(), {}

    def work(_progress: Progress) -> object:
        threads["work"] = threading.get_ident()
        return None

    def on_finished(_result: object) -> None:
        threads["finished"] = threading.get_ident()
        assert QThread.currentThread() is runner.thread()

    runner.finished.connect(on_finished)  # no QObject: Qt would call it on the thread that emits
    with qtbot.waitSignal(runner.finished):
        runner.start(work)
    assert threads["finished"] == here
    assert threads["work"] != here


def test_many_reports_are_thinned(qtbot: QtBot, runner: TaskRunner, heard: type[Heard]) -> None:
    told = heard(runner.progressed)

    def work(progress: Progress) -> object:
        for step in range(20_000):
            progress(step / 20_000)
        return None

    with qtbot.waitSignal(runner.finished):
        runner.start(work)
    assert len(told.said) < 100


def test_cancel_ends_the_work_and_nothing_is_told(qtbot: QtBot, runner: TaskRunner, heard: type[Heard]) -> None:
    told, work = heard(runner.finished, runner.failed), Endless()
    with qtbot.waitSignal(runner.progressed):
        runner.start(work)
    begun = time.monotonic()
    runner.cancel()
    assert not runner.is_running
    qtbot.waitUntil(lambda: runner.is_idle, timeout=1000)
    assert work.ended_at - begun < 0.2
    assert work.was_cancelled
    assert told.said == []


def test_a_failure_is_one_line_and_its_details(qtbot: QtBot, runner: TaskRunner) -> None:
    def broken(_progress: Progress) -> object:
        raise ValueError("The law has no mean.")

    with qtbot.waitSignal(runner.failed) as failed:
        runner.start(broken)
    sentence, _, details = failed.args[0].partition("\n\n")
    assert sentence == "The law has no mean."
    assert "in broken" in details
    assert details.rstrip().endswith("ValueError: The law has no mean.")
    assert not runner.is_running


def test_a_failure_without_words_has_its_name(qtbot: QtBot, runner: TaskRunner) -> None:
    def broken(_progress: Progress) -> object:
        raise MemoryError

    with qtbot.waitSignal(runner.failed) as failed:
        runner.start(broken)
    assert failed.args[0].startswith("MemoryError\n\n")


def test_the_newest_wins(qtbot: QtBot, runner: TaskRunner, heard: type[Heard]) -> None:
    told, may_end = heard(runner.finished), threading.Event()

    def old(_progress: Progress) -> object:
        may_end.wait()  # it never asks whether it was given up
        return "old"

    runner.start(old)
    runner.start(lambda _progress: "never begun")
    runner.start(lambda _progress: "new")
    may_end.set()
    with qtbot.waitSignal(runner.finished):
        pass
    qtbot.waitUntil(lambda: runner.is_idle)
    assert told.said == [("new",)]


def test_a_result_that_waits_in_the_queue_is_dropped(qtbot: QtBot, runner: TaskRunner, heard: type[Heard]) -> None:
    """The old job ended before the new one began, but nobody had heard of it yet."""
    told, ended = heard(runner.finished), threading.Event()

    def old(_progress: Progress) -> object:
        ended.set()
        return "old"

    runner.start(old)
    assert ended.wait(5.0)
    with qtbot.waitSignal(runner.finished):
        runner.start(lambda _progress: "new")
    assert told.said == [("new",)]


def test_closing_waits_for_what_runs(qtbot: QtBot, runner: TaskRunner, heard: type[Heard]) -> None:
    told, work = heard(runner.finished, runner.failed), Endless()
    runner.start(work)
    assert work.begun.wait(5.0)
    runner.close()
    assert work.ended.is_set()
    assert runner.is_idle
    assert told.said == []


def test_it_works_again_after_it_was_closed(qtbot: QtBot, runner: TaskRunner) -> None:
    runner.close()
    with qtbot.waitSignal(runner.finished) as finished:
        runner.start(lambda _progress: 7)
    assert finished.args == [7]


def test_many_short_jobs_leave_nothing_behind(qtbot: QtBot, runner: TaskRunner) -> None:
    """Runnables are kept until the pool is idle: freed under it, they would crash."""
    for number in range(200):
        runner.start(lambda _progress, number=number: number)  # type: ignore[misc]
    with qtbot.waitSignal(runner.finished) as finished:
        pass
    assert finished.args == [199]
