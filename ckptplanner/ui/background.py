"""Slow work off the GUI thread: one runner, one thread, the newest job wins.

    runner.start(lambda progress: simulate(setup, progress=progress))     progressed(0.43) ... finished(result)

A job calls `progress(fraction)` now and then; once it has been given up, that call raises `Cancelled`, which ends it: the
engine knows no threads. Everything a listener hears, it hears on the GUI thread, and never of a job that was given up.
"""

from __future__ import annotations

import threading
import time
import traceback
from collections.abc import Callable

from PySide6.QtCore import QObject, QRunnable, Qt, QThreadPool, Signal, SignalInstance, Slot
from typing_extensions import override

Progress = Callable[[float], None]
Work = Callable[[Progress], object]

_BETWEEN_S = 0.03  # from one report of progress to the next: more than anybody sees
_LONGEST_WAIT_MS = 10_000  # for a job to notice that it was given up


class Cancelled(Exception):  # noqa: N818 - nothing went wrong
    """Raised by `progress` in a job that was given up; it passes through the engine and ends there."""


class _Job(QRunnable):
    """One piece of work with its number. It owns no QObject: the signals it is handed are the runner's.

    The runner keeps the Python object until the pool is idle, so neither side frees it under the other.
    """

    def __init__(
        self, number: int, work: Work, given_up: threading.Event, progressed: SignalInstance, ended: SignalInstance
    ) -> None:
        super().__init__()
        self.setAutoDelete(False)
        self._number, self._given_up = number, given_up
        self._work: Work | None = work
        self._progressed, self._ended = progressed, ended
        self._told_at = 0.0

    def _progress(self, fraction: float) -> None:
        if self._given_up.is_set():
            raise Cancelled
        now = time.monotonic()
        if now - self._told_at >= _BETWEEN_S:
            self._told_at = now
            self._progressed.emit(self._number, fraction)

    @override
    def run(self) -> None:
        work, self._work = self._work, None
        assert work is not None
        result, trouble = None, ""
        try:
            self._progress(0.0)
            result = work(self._progress)
        except Cancelled:
            pass
        except Exception as error:  # noqa: BLE001 - it is told, and the window goes on
            trouble = f"{str(error) or type(error).__name__}\n\n{traceback.format_exc()}"
        self._ended.emit(self._number, result, trouble)


class TaskRunner(QObject):
    """Runs one job at a time; a new one takes the place of the one before.

    `progressed` says the share that is done, `finished` the result, `failed` one line on what happened, an empty line and
    the details. A job that was cancelled or replaced says nothing any more.
    """

    progressed = Signal(float)
    finished = Signal(object)
    failed = Signal(str)
    _job_progressed = Signal(int, float)
    _job_ended = Signal(int, object, str)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._pool = QThreadPool(self)
        self._pool.setMaxThreadCount(1)
        self._jobs: list[_Job] = []
        self._number = 0
        self._is_running = False
        self._given_up = threading.Event()
        # queued even where Qt would not think it needed: jobs emit on the pool's thread
        self._job_progressed.connect(self._on_progressed, Qt.ConnectionType.QueuedConnection)
        self._job_ended.connect(self._on_ended, Qt.ConnectionType.QueuedConnection)

    @property
    def is_running(self) -> bool:
        """Whether a result is still awaited."""
        return self._is_running

    @property
    def is_idle(self) -> bool:
        """Whether nothing runs any more, what was given up included."""
        return self._pool.activeThreadCount() == 0

    def start(self, work: Work) -> None:
        """Run `work` on the pool's thread and give up what runs now; its result is never told."""
        self.cancel()
        self._number += 1
        self._is_running = True
        self._given_up = threading.Event()
        if self.is_idle:
            self._jobs.clear()
        job = _Job(self._number, work, self._given_up, self._job_progressed, self._job_ended)
        self._jobs.append(job)
        self._pool.start(job)

    def cancel(self) -> None:
        """Give up the present job: nothing of it is told from now on, and it ends at its next report of progress."""
        self._given_up.set()
        self._is_running = False

    def close(self) -> None:
        """Give up and wait until the thread is free, before what it reports to goes away."""
        self.cancel()
        self._pool.clear()
        if self._pool.waitForDone(_LONGEST_WAIT_MS):
            self._jobs.clear()

    def _is_awaited(self, number: int) -> bool:
        return self._is_running and number == self._number

    @Slot(int, float)
    def _on_progressed(self, number: int, fraction: float) -> None:
        if self._is_awaited(number):
            self.progressed.emit(fraction)

    @Slot(int, object, str)
    def _on_ended(self, number: int, result: object, trouble: str) -> None:
        if not self._is_awaited(number):
            return
        self._is_running = False
        if trouble:
            self.failed.emit(trouble)
        else:
            self.finished.emit(result)
