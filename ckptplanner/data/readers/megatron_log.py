"""Megatron-LM's training log, and that of its forks, in one pass: C, t, T, step times, restarts and background loss.

    [TS] saving checkpoint at iteration  12090 to DIR in torch_dist format
      [TS] scheduled an async checkpoint save at iteration  12090 to DIR         C = scheduled - saving (async)
      [TS] successfully saved checkpoint from iteration  12090 to DIR [ t 1/4 ]  t = saved - saving (C too where sync)
        save-checkpoint ................................: (min, max)             ms; C where lines have no stamps
     [TS] iteration  12010/  500000 | ... | elapsed time per iteration (ms): 20016.6 |     without the save

Older versions print no stamps: then C is the timer's, t and T come from the stamps of the iterations around, or from their
times added up, and are marked as approximate. Stamps have no zone. Lines of all ranks may be mixed, with prefixes before them.
Sources: Megatron-LM d98e8a64 (2026-08-22) checkpointing.py, training.py; Megatron-DeepSpeed's "(s)"; older timers
"time (ms) | save-checkpoint: 57514.53".
"""

from __future__ import annotations

import re
from collections import deque
from dataclasses import dataclass
from statistics import median

from ckptplanner.data.evidence import Fact, FileEvidence, Kind
from ckptplanner.data.readers.source import Head, Opened
from ckptplanner.data.readers.training_runs import BACKWARDS, BY_GAP, FAR_S, JUMPED, Clock, Found, Runs
from ckptplanner.text import Text, text
from ckptplanner.units import COUNT

TITLE = text("Training log (Megatron-LM)")

_ITERATION = re.compile(
    r"iteration +(\d{1,12})/ *\d+ \|[^|]*\|(?:[^|]*\|){0,4}? *elapsed time per iteration \((ms|s)\): *(\d{1,12}(?:\.\d*)?) *\|"
)
_STAMPED = re.compile(
    r"(\d\d\d\d-\d\d-\d\d \d\d:\d\d):([0-5]\d(?:\.\d{1,6})?)\] iteration +(\d{1,12})/ *\d+ \|[^|]*\|"
    r" elapsed time per iteration \((m?s)\): *(\d{1,12}(?:\.\d*)?) *\|"
)
_STAMP = re.compile(r"\[(\d{4}-\d\d-\d\d \d\d:\d\d):(\d\d(?:[.,]\d{1,6})?)\]")
_DATETIME = re.compile(r"\[([^\]]{1,80})\] datetime[:=] ?(\d{4}-\d\d-\d\d \d\d:\d\d):(\d\d)")
_SAVE = re.compile(r"(?<!successfully )saving checkpoint at iteration +(\d{1,12})\b")
_SCHEDULED = re.compile(r"scheduled an async checkpoint save at iteration +(\d{1,12})\b")
_SAVED = re.compile(r"successfully saved (local )?checkpoint (?:from|at) iteration +(\d{1,12})\b")
_TIMER = re.compile(r"\b(save|load)-checkpoint(-non-persistent)?[ .]*: *(?:\( *[\d.]+ *, *)?(\d{1,12}(?:\.\d*)?)\b")
_LOADING = re.compile(r"loading (?:\w+ )?checkpoint from ")
_LOADED = re.compile(r"successfully loaded checkpoint from .*?at iteration +(\d{1,12})\b")
_ARGUMENT = re.compile(r"\b([a-z_]{2,40}) \.{3,} (\d{1,9}|True|False|None)\s*$")
_WORLD = re.compile(r"\busing world size: (\d{1,9}),")
_PREFIX = re.compile(r"^\s*(\[?[\w.-]+\]?:)")
_KNOWN = re.compile(
    r"iteration +\d+/ *\d+ \|.{0,400}elapsed time per iteration \(m?s\):"
    r"|saving checkpoint at iteration +\d+ to |successfully saved (?:local )?checkpoint (?:from|at) iteration +\d"
    r"|loading (?:\w+ )?checkpoint from \S+ at iteration \d|successfully loaded checkpoint from .{1,400}? at iteration \d"
    r"|scheduled an async checkpoint save at iteration|save-checkpoint(?:-non-persistent)? \.{5,}: \("
    r"|using world size: \d+, data-parallel[- ]size: \d+|tensor_model_parallel_size \.{5,} \d"
)
_ARGUMENTS: dict[str, Text] = {
    "world_size": text("GPUs (world size)"),
    "tensor_model_parallel_size": text("Tensor parallel"),
    "pipeline_model_parallel_size": text("Pipeline parallel"),
    "expert_model_parallel_size": text("Expert parallel"),
    "context_parallel_size": text("Context parallel"),
    "data_parallel_size": text("Data parallel"),
    "global_batch_size": text("Global batch size"),
    "save_interval": text("Iterations from save to save"),
    "non_persistent_save_interval": text("Iterations from local save to local save"),
}
_EXITS: tuple[tuple[str, Kind], ...] = (  # what the program says when it ends by itself
    ("after training is done", "completed"),
    ("exiting program after receiving", "unknown"),
    ("exiting program after", "limit"),
    ("exiting program at iteration", "limit"),
)
HALF_CHARS = 2000
RECENT = 4096  # lines of iterations that are looked back at
OPEN_SAVES = 64
GAP_S, GAP_STEPS = 300.0, 5  # no restart is so short, and no pause between two lines of a healthy run so long
HOUR_S, HOUR_OFF_S = 3600.0, 120.0
OVER_LINES, QUIET_LINES = 3, 5  # that a background loss is worked out from

_TIMER_NOTE = text("from the timer of save-checkpoint, its slowest rank")
_NEAR = text("approximate: the lines have no stamps, so those of the iterations around were taken")
_ADDED = text("approximate: the log has no stamps, so the times of the iterations were added up")
_LOCAL = text("non-persistent saves; where they go the log does not always say")
_SYNC = text("training stands still for the whole write")
_LOSS = text("the time that iterations took longer during one write than before it")
_FIRST = text("The same iterations appear in several lines (several ranks): each was taken once.")


@dataclass(slots=True)
class _Save:
    """One save while it is read; times that are only near are marked."""

    iteration: int
    line: int
    start_s: float | None
    near_s: float | None  # the last stamp before it
    clock_s: float
    lines: int = 0  # of iterations since
    is_async: bool = False
    is_local: bool = False
    timer_s: float | None = None
    scheduled_s: float | None = None
    saved_s: float | None = None
    saved_near_s: float | None = None
    saved_clock_s: float | None = None


class _Log:
    """What is known at one line of a log."""

    def __init__(self, opened: Opened) -> None:
        self.found = Found(opened)
        self.runs = Runs(self.found, opened.name.rpartition("/")[2])
        self.steps = self.found.of("step")
        self.clock = Clock()
        self.minutes = self.clock.minutes
        self.last: int | None = None  # the iteration of the last line
        self.at_s: float | None = None  # and its stamp
        self.clock_s = 0.0  # the times of the iterations added up, for logs without stamps
        self.is_excused = False  # something between two lines explains a gap
        self.prefix = ""
        self.half = ""  # a line that was wrapped
        self.recent: deque[tuple[float, float, int, float]] = deque(maxlen=RECENT)  # began, done, iterations, time of each
        self.saves: dict[int, _Save] = {}
        self.newest: _Save | None = None
        self.closing: list[_Save] = []
        self.writes: list[tuple[float, float, float]] = []  # saving, scheduled, saved
        self.written_s = float("-inf")
        self.starts: dict[bool, tuple[float | None, float | None, float]] = {}
        self.loading: tuple[int, float | None] | None = None
        self.has_loaded = False

    # ---------------------------------------------------------------- lines

    def stamp(self, line: str, end: int) -> float | None:
        """The stamp in brackets nearest before `end`. [s]"""
        at = line.rfind("[", 0, end)
        if at < 0:
            return None
        close = line.find("]", at + 17, at + 30)
        if close > 0:
            seconds = self.clock.at_s(line[at + 1 : at + 17], line[at + 18 : close].replace(",", "."))
            if seconds is not None:
                return seconds
        for found in _STAMP.finditer(line[:end]):
            seconds = self.clock.at_s(found[1], found[2].replace(",", "."))
            if seconds is not None:
                return seconds
        return None

    def read(self) -> None:
        """All lines, once. What a line may hold is looked for before it is taken apart."""
        for number, line in self.found.opened.lines():
            if "elapsed time per iteration" in line:
                self.iteration(number, line)
            elif "checkpoint" in line:
                self.checkpoint(number, line)
            elif self.half:
                self.iteration(number, line)
            elif "datetime" in line:
                self.moment(number, line)
            elif " | " in line:
                self.table(line)
            elif "... " in line or "using world" in line:
                self.argument(number, line)

    def table(self, line: str) -> None:
        """A line with columns: a validation, which takes its time, or the first part of a wrapped line."""
        if "validation loss" in line:
            self.is_excused = True
        elif "| consumed samples" in line:
            self.half = line[-HALF_CHARS:]

    def iteration(self, number: int, line: str) -> None:
        """A line of one or several iterations, of which there are millions: the common one takes the short way."""
        found = _STAMPED.search(line)
        if found is None or self.half:
            self._unusual(number, line)
            return
        minute, second, iteration, unit, took = found.groups()
        base_s = self.minutes.get(minute)
        at_s = self.clock.at_s(minute, second) if base_s is None else base_s + float(second)
        step_s = float(took) if unit == "s" else float(took) * 1e-3
        self._done(number, line, int(iteration), at_s, step_s)

    def _unusual(self, number: int, line: str) -> None:
        """A line of iterations without a stamp, or one that was wrapped."""
        whole, self.half = self.half + line, ""
        found = _ITERATION.search(whole)
        if found is not None:
            step_s = float(found[3]) * (1.0 if found[2] == "s" else 1e-3)
            self._done(number, whole, int(found[1]), self.stamp(whole, found.start()), step_s)
        elif "| consumed samples" in whole and len(whole) < 2 * HALF_CHARS:
            self.half = whole

    def _done(self, number: int, line: str, iteration: int, at_s: float | None, step_s: float) -> None:
        """Iterations up to this one are done."""
        last, before_s = self.last, self.at_s
        count = 0 if last is None else iteration - last
        if count <= 0:
            count = self._not_next(number, line, iteration, at_s, step_s)
            if count == 0:
                return
        elif at_s is not None and before_s is not None:
            spare_s = at_s - before_s - count * step_s
            if (spare_s > GAP_S or spare_s < -1.0) and self._is_restart(spare_s, at_s - before_s, step_s):
                self._next_run(number, f"a gap of {spare_s:,.0f} s before iteration {iteration}")
                self.found.warn(BY_GAP)
                self._first(number, line, iteration, at_s, step_s)
        self.last, self.at_s, self.is_excused = iteration, at_s, False
        now = self.runs.now
        now.top, now.spacing = iteration, count
        took_s = count * step_s
        self.clock_s += took_s
        if step_s <= FAR_S:
            self.steps.add(step_s, number, at_s)
        if at_s is not None:
            if now.last_s is None:
                self.runs.seen(at_s)
            elif at_s > now.last_s:
                now.last_s = at_s
            self.recent.append((at_s - took_s, at_s, count, step_s))
        if self.saves or self.closing or self.writes:
            self._beside(at_s, took_s)

    def _beside(self, at_s: float | None, took_s: float) -> None:
        """Iterations were done beside a save, or after one."""
        for save in self.saves.values():
            save.lines += 1
        if self.closing:
            self._close(at_s)
        if self.writes and at_s is not None:
            self._background(at_s - took_s)

    def _not_next(self, number: int, line: str, iteration: int, at_s: float | None, step_s: float) -> int:
        """A first line, a restart, or a line that comes again; how many iterations it stands for, 0: none."""
        if self.last is not None:
            prefix = _PREFIX.match(line)
            is_other = prefix is not None and prefix[1] != self.prefix
            is_older = at_s is not None and self.at_s is not None and at_s <= self.at_s
            if iteration == self.last or is_other or is_older:
                self.found.warn(_FIRST)
                return 0
            self._next_run(number, f"iteration {self.last}, then {iteration}")
        return self._first(number, line, iteration, at_s, step_s)

    def _first(self, number: int, line: str, iteration: int, at_s: float | None, step_s: float) -> int:
        """The first line of a run; how many iterations it stands for."""
        prefix = _PREFIX.match(line)
        self.prefix = prefix[1] if prefix is not None else ""
        self.runs.first(iteration, at_s, step_s, number)
        loaded, before = self.runs.now.loaded, self.runs.before
        count = iteration - loaded if loaded is not None else before.spacing if before is not None else 1
        return count if 0 < count <= 10_000 else 1

    def _is_restart(self, spare_s: float, passed_s: float, step_s: float) -> bool:
        """Whether the time between two lines that follow each other tells of a restart."""
        if passed_s < -1.0:
            self.found.warn(BACKWARDS)
            self._forget()
            return False
        if self.is_excused or spare_s <= GAP_STEPS * step_s or spare_s <= GAP_S:
            return False
        if abs(spare_s - HOUR_S) < HOUR_OFF_S:
            self.found.warn(JUMPED)
            self._forget()
            return False
        return True

    def _forget(self) -> None:
        """After the clock was changed: nothing that began before it can be measured."""
        for save in self.saves.values():
            save.start_s = save.scheduled_s = None
        self.saves.clear()
        self.recent.clear()
        self.writes.clear()
        self.starts.clear()

    def _next_run(self, number: int, said: str) -> bool:
        """A new run begins here, unless the one before had no iteration yet."""
        self._close(None)
        self._background(float("inf"))
        if not self.runs.begin(number, said):
            return False
        for save in list(self.saves.values()):
            self._record(save, None)
        self._forget()
        self.last = self.at_s = self.loading = self.newest = None
        self.clock_s, self.written_s, self.has_loaded = 0.0, float("-inf"), False
        return True

    def moment(self, number: int, line: str) -> None:
        """A line that tells the day and time: of a start, or of an end."""
        found = _DATETIME.search(line)
        if found is None:
            return
        at_s = self.clock.at_s(found[2], found[3])
        for words, kind in _EXITS:
            if found[1].startswith(words):
                self.runs.seen(at_s)
                self.runs.now.kind, self.runs.now.said = kind, found[1]
                return
        self._next_run(number, "it starts again")
        self.runs.seen(at_s)
        if "start of training step" in found[1]:
            self.is_excused = True

    def argument(self, number: int, line: str) -> None:
        """A setting that is printed at the start."""
        found = _ARGUMENT.search(line)
        world = _WORLD.search(line) if found is None else None
        name, value = ("world_size", world[1]) if world else (found[1], found[2]) if found else ("", "")
        if world is not None or name == "world_size":
            self._next_run(number, "it starts again")
        if name in _ARGUMENTS and value.isdecimal():
            place = self.found.opened.place(f"line {number}")
            self.found.facts[name] = Fact(None, _ARGUMENTS[name], int(value), place, unit=COUNT)

    # ---------------------------------------------------------------- saves

    def checkpoint(self, number: int, line: str) -> None:
        """A line about a save or a load."""
        self.is_excused = True
        if found := _SAVED.search(line):
            self._saved(found, self.stamp(line, found.start()))
        elif found := _SAVE.search(line):
            self._saving(number, int(found[1]), self.stamp(line, found.start()))
        elif found := _SCHEDULED.search(line):
            self._scheduled(int(found[1]), self.stamp(line, found.start()))
        elif "before previous has finished" in line:
            self.found.counts["overlaps"] += 1
        elif "loading" in line or "loaded" in line:
            self._load(number, line)
        for timer in _TIMER.finditer(line) if "-checkpoint" in line else ():
            self._timer(number, timer[1], bool(timer[2]), float(timer[3]) * 1e-3)

    def _saving(self, number: int, iteration: int, at_s: float | None) -> None:
        self.runs.seen(at_s)
        self._close(None)
        if iteration in self.saves or (self.newest is not None and self.newest.iteration == iteration):
            return  # from another rank, or once more at the end of training
        if len(self.saves) >= OPEN_SAVES:
            self._record(self.saves.pop(next(iter(self.saves))), None)
        self.newest = self.saves[iteration] = _Save(iteration, number, at_s, at_s or self.at_s, self.clock_s)

    def _scheduled(self, iteration: int, at_s: float | None) -> None:
        self.runs.seen(at_s)
        save = self.saves.get(iteration)
        if save is not None:
            save.is_async = True
            save.scheduled_s = save.scheduled_s or at_s

    def _saved(self, found: re.Match[str], at_s: float | None) -> None:
        self.runs.seen(at_s)
        save = self.saves.pop(int(found[2]), None)
        if save is None:
            return
        save.is_local |= found[1] is not None
        save.is_async |= save.lines > 0
        save.saved_s, save.saved_near_s, save.saved_clock_s = at_s, at_s or self.at_s, self.clock_s
        self.closing.append(save)

    def _timer(self, number: int, what: str, is_local: bool, took_s: float) -> None:
        if what == "load":
            if self.has_loaded:
                self._read(number, took_s)
        elif self.newest is not None:
            self.newest.timer_s, self.newest.is_local = took_s, self.newest.is_local or is_local

    def _load(self, number: int, line: str) -> None:
        if found := _LOADED.search(line):
            at_s = self.stamp(line, found.start())
            if self.last is not None:
                self._next_run(number, "it loads a checkpoint")
            self.runs.seen(at_s)
            self.runs.now.loaded, self.has_loaded = int(found[1]), True
            if self.loading is not None and self.loading[1] is not None and at_s is not None:
                self._read(number, at_s - self.loading[1])
        elif found := _LOADING.search(line):
            at_s = self.stamp(line, found.start())
            if self.last is not None:
                self._next_run(number, "it loads a checkpoint")
            self.runs.seen(at_s)
            self.loading = (number, at_s)

    def _read(self, number: int, took_s: float) -> None:
        """How long reading took; the timer comes after the lines and says the same again."""
        self.has_loaded = False
        self.runs.now.read_s = max(0.0, took_s)
        self.found.add("restore_read", took_s, number, self.runs.now.last_s)

    def _close(self, next_s: float | None) -> None:
        """Saves that are done are taken down when the next iteration comes: then their timers have been printed."""
        for save in self.closing:
            self._record(save, next_s)
        self.closing.clear()

    def _record(self, save: _Save, next_s: float | None) -> None:
        """What one save says: C, t, t_w and T."""
        start_s, saved_s, stop_s = save.start_s, save.saved_s, save.timer_s
        kind = "local_" if save.is_local else ""
        whole_s = None if start_s is None or saved_s is None else saved_s - start_s
        note = None if whole_s is not None else _NEAR
        if not save.is_async and whole_s is not None:
            stop_s = whole_s
        elif start_s is not None and save.scheduled_s is not None:
            stop_s = save.scheduled_s - start_s
        if whole_s is None and save.saved_clock_s is not None:
            whole_s, note = self._about(save, next_s) if save.is_async else (stop_s, _TIMER_NOTE)
        if save.is_local:
            self.found.note("local_stop", _LOCAL)
        if stop_s is not None:
            self.found.add(kind + "stop", stop_s, save.line, save.near_s, _TIMER_NOTE if stop_s == save.timer_s else None)
        if whole_s is not None:
            write_s = whole_s - (stop_s or 0.0) if save.is_async or save.is_local else whole_s
            if not save.is_local:
                self.found.add("restorable", whole_s, save.line, save.near_s, note)
            if stop_s is not None:
                self.found.add(kind + "write", write_s, save.line, save.near_s, note)
            if not save.is_async:
                self.found.note(kind + "write", _SYNC)
        self._interval(save, kind)
        if start_s is not None and save.scheduled_s is not None and saved_s is not None:
            self.writes.append((start_s, save.scheduled_s, saved_s))
            del self.writes[:-OPEN_SAVES]

    def _about(self, save: _Save, next_s: float | None) -> tuple[float | None, Text]:
        """About how long a write in the background took that has no stamps."""
        if save.near_s is not None and save.saved_near_s is not None:
            end_s = save.saved_near_s if next_s is None else (save.saved_near_s + next_s) / 2
            return end_s - save.near_s, _NEAR
        if self.at_s is None and save.saved_clock_s is not None:
            return save.saved_clock_s - save.clock_s, _ADDED
        return None, _NEAR

    def _interval(self, save: _Save, kind: str) -> None:
        """From the start of the save before to this one's, in the same run."""
        before = self.starts.get(save.is_local)
        self.starts[save.is_local] = (save.start_s, save.near_s, save.clock_s)
        if before is None:
            return
        note: Text | None = None
        if save.start_s is not None and before[0] is not None:
            passed_s = save.start_s - before[0]
        elif save.near_s is not None and before[1] is not None:
            passed_s, note = save.near_s - before[1], _NEAR
        else:
            passed_s, note = save.clock_s - before[2], _ADDED
        if passed_s > 0.0:
            self.found.add(kind + "interval", passed_s, save.line, save.near_s, note)

    # ---------------------------------------------------------------- background loss

    def _background(self, began_s: float) -> None:
        """What writes that are over cost the iterations beside them; those before each write are the quiet ones."""
        for write in [write for write in self.writes if write[2] <= began_s]:
            self.writes.remove(write)
            self._loss(*write)
            self.written_s = max(self.written_s, write[2])

    def _loss(self, start_s: float, scheduled_s: float, saved_s: float) -> None:
        quiet = [step for began, done, _, step in self.recent if done <= start_s + 0.5 and began >= self.written_s - 0.5]
        beside = [row for row in self.recent if row[1] > scheduled_s and row[0] < saved_s]
        if len(beside) < OVER_LINES or len(quiet) < QUIET_LINES:
            return
        usual_s = median(quiet)
        lost_s = sum(count * (step - usual_s) for _, _, count, step in beside)
        beside_s = 0.0  # what the iterations beside the write take where nothing is written
        for began, done, count, _ in beside:
            share = (min(done, saved_s) - max(began, scheduled_s)) / max(done - began, 1e-9)
            beside_s += count * usual_s * min(max(share, 0.0), 1.0)
        self.found.add("background_loss", max(0.0, lost_s), self.runs.now.line, saved_s, _LOSS)
        if beside_s > 0.0:
            self.found.add("slowdown", max(0.0, lost_s / beside_s), self.runs.now.line, saved_s, _LOSS)

    def evidence(self) -> FileEvidence:
        """All that the log says."""
        self._close(None)
        self._background(float("inf"))
        for save in self.saves.values():
            self._record(save, None)
        overlaps = self.found.counts["overlaps"]
        warnings = [] if not overlaps else [_OVERLAPS.with_value("count", f"{overlaps:,}")]
        return self.found.evidence("megatron-log", TITLE, self.runs.finish(), warnings)


_OVERLAPS = text("Saves began before the one before was written, times: {count}. The interval is too short for the write.", count="")


def knows(head: Head) -> bool:
    """Whether a line of it is one that only Megatron-LM and its forks print."""
    return not head.text.lstrip().startswith("{") and _KNOWN.search(head.text) is not None


def read(opened: Opened) -> FileEvidence:
    """Read a log of any size in one pass.

    Raises:
        ReaderError: it cannot be read, or says nothing about saves, iterations or runs.
    """
    log = _Log(opened)
    log.read()
    evidence = log.evidence()
    if not evidence.measured and not evidence.runs and not evidence.facts:
        raise opened.refuse("it has no line of an iteration or a save as Megatron-LM prints them")
    return evidence
