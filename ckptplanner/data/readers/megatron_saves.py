"""The saves of one Megatron-LM log: C, t, t_w and T of each, and what writes in the background cost the iterations beside them.

    saving -> scheduled -> saved     the lines of one save, told apart by the iteration in them; `Saves` is told each
    timer                            comes after them, so a save is taken down when the next iteration is done

A line without a stamp has the last iteration's (near), and where no line has any, the times of iterations added up (clock).
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from statistics import median

from ckptplanner.data.readers.training_runs import Found
from ckptplanner.text import Text, text

RECENT = 4096  # lines of iterations that are looked back at
OPEN_SAVES = 64
OVER_LINES, QUIET_LINES = 3, 5  # that a background loss is worked out from
_SLACK_S = 0.5

_TIMER = text("from the timer of save-checkpoint, its slowest rank")
_NEAR = text("approximate: the lines have no stamps, so those of the iterations around were taken")
_ADDED = text("approximate: the log has no stamps, so the times of the iterations were added up")
_LOCAL = text("non-persistent saves; where they are kept the log does not always say")
_SYNC = text("training stands still for the whole write")
_LOSS = text("from the times of iterations during the write against the median of those before it")


@dataclass(slots=True)
class Save:
    """One save while it is read."""

    iteration: int
    line: int
    start_s: float | None
    near_s: float | None
    clock_s: float
    lines: int = 0  # of later iterations, up to its end
    is_async: bool = False
    is_local: bool = False
    timer_s: float | None = None
    scheduled_s: float | None = None
    saved_s: float | None = None
    saved_near_s: float | None = None
    saved_clock_s: float | None = None


class Saves:
    """The saves of one run after the other."""

    def __init__(self, found: Found) -> None:
        self.found = found
        self.near_s: float | None = None  # the stamp of the last iteration
        self.clock_s = 0.0  # the times of the iterations added up
        self.is_busy = False  # a save is open, or its write is to be looked at
        self.is_over = False  # training is done: the save after it comes out of turn
        self.recent: deque[tuple[float, float, int, float]] = deque(maxlen=RECENT)  # began, done, iterations, time of each
        self._open: dict[int, Save] = {}
        self._newest: Save | None = None
        self._closing: list[Save] = []
        self._writes: list[tuple[int, float, float, float]] = []  # line, saving, scheduled, saved
        self._written_s = float("-inf")
        self._starts: dict[bool, Save] = {}

    def saving(self, line: int, iteration: int, at_s: float | None) -> None:
        """A save begins."""
        self._close(None)
        if self._newest is not None and self._newest.iteration == iteration:
            return  # from another rank, or once more at the end of training
        if len(self._open) >= OPEN_SAVES:
            self._record(self._open.pop(next(iter(self._open))), None)
        near_s = self.near_s if at_s is None else at_s
        self._newest = self._open[iteration] = Save(iteration, line, at_s, near_s, self.clock_s)
        self.is_busy = True

    def scheduled(self, iteration: int, at_s: float | None) -> None:
        """Training goes on; the write is in the background."""
        save = self._open.get(iteration)
        if save is not None and not save.is_async:
            save.is_async, save.scheduled_s = True, at_s

    def saved(self, iteration: int, is_local: bool, at_s: float | None) -> None:
        """It can be restored."""
        save = self._open.pop(iteration, None)
        if save is not None:
            save.is_local |= is_local
            save.is_async |= save.lines > 0
            save.saved_s, save.saved_near_s = at_s, self.near_s if at_s is None else at_s
            save.saved_clock_s = self.clock_s
            self._closing.append(save)

    def timer(self, is_local: bool, took_s: float) -> None:
        """How long the save before took training, says a line below it."""
        if self._newest is not None:
            self._newest.timer_s = took_s
            self._newest.is_local |= is_local

    def beside(self, iteration: int, at_s: float | None, took_s: float) -> None:
        """Iterations were done beside a save or after one."""
        for save in self._open.values():
            save.lines += iteration > save.iteration
        self._close(at_s)
        if at_s is not None:
            self._background(at_s - took_s)
        self.is_busy = bool(self._open or self._writes)

    def end_run(self) -> None:
        """The run ends: saves that were not written have their stop alone."""
        self._close(None)
        self._background(float("inf"))
        for save in self._open.values():
            self._record(save, None)
        self.forget()
        self.near_s, self._newest, self.clock_s, self._written_s = None, None, 0.0, float("-inf")
        self.is_over = False

    def forget(self) -> None:
        """The clock was changed: nothing that began before can be measured."""
        self._open.clear()
        self._closing.clear()
        self._writes.clear()
        self._starts.clear()
        self.recent.clear()
        self.is_busy = False

    # ---------------------------------------------------------------- one save

    def _close(self, next_s: float | None) -> None:
        for save in self._closing:
            self._record(save, next_s)
        self._closing.clear()

    def _record(self, save: Save, next_s: float | None) -> None:
        """What one save says; `next_s` is the stamp of the next iteration."""
        kind = "local_" if save.is_local else ""
        whole_s, note = self._whole(save, next_s)
        stop_s = save.timer_s
        if save.is_async and save.start_s is not None and save.scheduled_s is not None:
            stop_s = save.scheduled_s - save.start_s
        elif not save.is_async and whole_s is not None:
            stop_s = whole_s
        if stop_s is not None:
            self.found.add(kind + "stop", stop_s, save.line, save.near_s, _TIMER if stop_s == save.timer_s else None)
        if whole_s is not None and not save.is_local:
            self.found.add("restorable", whole_s, save.line, save.near_s, note)
        if whole_s is not None and stop_s is not None:
            is_apart = save.is_async or save.is_local  # the planner adds a local write to its stop
            self.found.add(kind + "write", whole_s - stop_s if is_apart else whole_s, save.line, save.near_s, note)
            if not save.is_async:
                self.found.note(kind + "write", _SYNC)
        if save.is_local:
            self.found.note("local_stop", _LOCAL)
        self._interval(save, kind)
        if save.start_s is not None and save.scheduled_s is not None and save.saved_s is not None:
            self._writes.append((save.line, save.start_s, save.scheduled_s, save.saved_s))
            del self._writes[:-OPEN_SAVES]

    def _whole(self, save: Save, next_s: float | None) -> tuple[float | None, Text | None]:
        """From the start of a save until it can be restored, and how this is known. [s]"""
        if save.saved_clock_s is None:
            return None, None
        if save.start_s is not None and save.saved_s is not None:
            return save.saved_s - save.start_s, None
        if not save.is_async:
            return save.timer_s, _TIMER
        if save.near_s is not None and save.saved_near_s is not None:
            end_s = save.saved_near_s if next_s is None or save.saved_s is not None else (save.saved_near_s + next_s) / 2
            return end_s - save.near_s, _NEAR
        if save.near_s is None and save.saved_near_s is None:
            return save.saved_clock_s - save.clock_s, _ADDED
        return None, None

    def _interval(self, save: Save, kind: str) -> None:
        """From the start of the save before it to its own, in the same run."""
        before = self._starts.get(save.is_local)
        self._starts[save.is_local] = save
        if before is None or self.is_over:
            return
        note: Text | None = None
        if save.start_s is not None and before.start_s is not None:
            passed_s = save.start_s - before.start_s
        elif save.near_s is not None and before.near_s is not None:
            passed_s, note = save.near_s - before.near_s, _NEAR
        else:
            passed_s, note = save.clock_s - before.clock_s + (before.timer_s or 0.0), _ADDED
        if passed_s > 0.0:
            self.found.add(kind + "interval", passed_s, save.line, save.near_s, note)

    # ---------------------------------------------------------------- background loss

    def _background(self, began_s: float) -> None:
        """Look at the writes that were over before the last iterations began."""
        for write in [write for write in self._writes if write[3] <= began_s]:
            self._writes.remove(write)
            self._loss(*write)
            self._written_s = max(self._written_s, write[3])
            while self.recent and self.recent[0][0] < self._written_s - _SLACK_S:
                self.recent.popleft()  # it lies beside a write, or before one

    def _loss(self, line: int, start_s: float, scheduled_s: float, saved_s: float) -> None:
        """What one write cost the iterations beside it, against those between the write before and this save."""
        quiet = [step for _, done, _, step in self.recent if done <= start_s + _SLACK_S]
        beside = [row for row in self.recent if row[1] > scheduled_s and row[0] < saved_s]
        if len(beside) < OVER_LINES or len(quiet) < QUIET_LINES:
            return
        usual_s = median(quiet)
        lost_s = sum(count * (step - usual_s) for _, _, count, step in beside)
        written = 0.0  # iterations while it was written; a line may lie half within
        for began, done, count, _ in beside:
            share = (min(done, saved_s) - max(began, scheduled_s)) / max(done - began, 1e-9)
            written += count * min(max(share, 0.0), 1.0)
        self.found.add("background_loss", max(0.0, lost_s), line, saved_s, _LOSS)
        if written * usual_s > 0.0:
            self.found.add("slowdown", max(0.0, lost_s / (written * usual_s)), line, saved_s, _LOSS)
