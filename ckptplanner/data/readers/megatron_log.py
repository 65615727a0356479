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

from ckptplanner.data.evidence import Fact, FileEvidence, Kind
from ckptplanner.data.readers.megatron_saves import Saves
from ckptplanner.data.readers.source import Head, Opened
from ckptplanner.data.readers.training_runs import (
    BACKWARDS,
    BY_GAP,
    FAR_S,
    GAP_S,
    GAP_STEPS,
    HOUR_OFF_S,
    JUMPED,
    Clock,
    Found,
    Runs,
    back_s,
)
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
_LOADED = re.compile(r"successfully loaded checkpoint from .{1,500}?at iteration +(\d{1,12})\b")
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
    ("exiting program after receiving", "cancelled"),
    ("exiting program after", "limit"),
    ("exiting program at iteration", "limit"),
)
HALF_CHARS = 2000
COUNT_CAP = 10_000  # iterations that one line may stand for
HOUR_S = 3600.0

_AGAIN = text("The same iterations appear in several lines (several ranks): each was taken once.")
_OVERLAPS = text(
    "Saves began before the one before was written, times: {count}. The interval is too short for the write.", count=""
)


class _Log:
    """What is known at one line of a log."""

    def __init__(self, opened: Opened) -> None:
        self.found = Found(opened)
        self.runs = Runs(self.found, opened.name.rpartition("/")[2])
        self.steps = self.found.of("step")
        self.clock = Clock()
        self.minutes = self.clock.minutes
        self.saves = Saves(self.found)
        self.last: int | None = None  # the iteration of the last line
        self.is_excused = False  # something between two lines explains a gap
        self.prefix = ""
        self.half = ""  # the first part of a line that was wrapped
        self.loading_s: float | None = None
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
        """A line of iterations without a stamp, or one that was wrapped: it goes on in the next line, and no further."""
        half, self.half = self.half, ""
        found = _ITERATION.search(line)
        if found is None and half:
            line = half + line
            found = _ITERATION.search(line)
        if found is not None:
            step_s = float(found[3]) * (1.0 if found[2] == "s" else 1e-3)
            self._done(number, line, int(found[1]), self.stamp(line, found.start()), step_s)
        elif not half and "| consumed samples" in line:
            self.half = line[-HALF_CHARS:]

    def _done(self, number: int, line: str, iteration: int, at_s: float | None, step_s: float) -> None:
        """Iterations up to this one are done."""
        saves, last = self.saves, self.last
        before_s = saves.near_s
        count = 0 if last is None else iteration - last
        if count <= 0:
            count = self._not_next(number, line, iteration, at_s, step_s)
            if count == 0:
                return
        elif at_s is not None and before_s is not None:
            spare_s = at_s - before_s - count * step_s
            if (spare_s > GAP_S or spare_s < -1.0) and self._is_restart(spare_s, at_s, count * step_s, step_s):
                self.found.warn(BY_GAP)
                self._next_run(number, f"a gap of {spare_s:,.0f} s before iteration {iteration}")
                count = self._first(number, line, iteration, at_s, step_s)
        self.last, saves.near_s, self.is_excused = iteration, at_s, False
        now = self.runs.now
        now.top, now.spacing = iteration, count
        took_s = count * step_s
        saves.clock_s += took_s
        if step_s <= FAR_S:
            self.steps.add(step_s, number, at_s)
        if at_s is not None:
            if now.last_s is None:
                self.runs.seen(at_s)
            elif at_s > now.last_s:
                now.last_s = at_s
            saves.recent.append((at_s - took_s, at_s, count, step_s))
        if saves.is_busy:
            saves.beside(iteration, at_s, took_s)

    def _not_next(self, number: int, line: str, iteration: int, at_s: float | None, step_s: float) -> int:
        """A first line, a restart, or a line that comes again; how many iterations it stands for, 0: none."""
        if self.last is not None:
            prefix = _PREFIX.match(line)
            is_other = prefix is not None and prefix[1] != self.prefix
            is_older = at_s is not None and self.saves.near_s is not None and at_s <= self.saves.near_s
            if iteration == self.last or is_other or is_older:
                self.found.warn(_AGAIN)
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
        return count if 0 < count <= COUNT_CAP else 1

    def _is_restart(self, spare_s: float, at_s: float, took_s: float, step_s: float) -> bool:
        """Whether the time between two lines that follow each other tells of a restart."""
        if took_s + spare_s < -1.0:
            self.found.warn(BACKWARDS)
            self.saves.forget()
            self.runs.clock_set(back_s(took_s + spare_s, took_s), at_s)
            return False
        if self.is_excused or spare_s <= GAP_STEPS * step_s or spare_s <= GAP_S:
            return False
        if abs(spare_s - HOUR_S) < HOUR_OFF_S:
            self.found.warn(JUMPED)
            self.saves.forget()
            self.runs.clock_set(-HOUR_S, at_s)
            return False
        return True

    def _next_run(self, number: int, said: str) -> None:
        """A new run begins here, unless the one before had no iteration yet."""
        if self.runs.now.top is None:
            return
        self.saves.end_run()
        self.runs.begin(number, said)
        self.last = self.loading_s = None
        self.has_loaded = False

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
                self.saves.is_over = True
                return
        self._next_run(number, "it starts again")
        self.runs.seen(at_s)

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

    # ---------------------------------------------------------------- saves and loads

    def checkpoint(self, number: int, line: str) -> None:
        """A line about a save or a load."""
        self.is_excused = True
        found = _SAVED.search(line) or _SAVE.search(line) or _SCHEDULED.search(line)
        if found is not None:
            at_s = self.stamp(line, found.start())
            self.runs.seen(at_s)
            if found.re is _SAVED:
                self.saves.saved(int(found[2]), found[1] is not None, at_s)
            elif found.re is _SAVE:
                self.saves.saving(number, int(found[1]), at_s)
            else:
                self.saves.scheduled(int(found[1]), at_s)
        elif "before previous has finished" in line:
            self.found.counts["overlaps"] += 1
        elif "loading" in line or "loaded" in line:
            self._load(number, line)
        for timer in _TIMER.finditer(line) if "-checkpoint" in line else ():
            took_s = float(timer[3]) * 1e-3
            if timer[1] == "save":
                self.saves.timer(timer[2] is not None, took_s)
            elif self.has_loaded:
                self._read(number, took_s)

    def _load(self, number: int, line: str) -> None:
        loaded = _LOADED.search(line)
        found = loaded or _LOADING.search(line)
        if found is None:
            return
        self._next_run(number, "it loads a checkpoint")
        at_s = self.stamp(line, found.start())
        self.runs.seen(at_s)
        if loaded is None:
            self.loading_s = at_s
            return
        self.runs.now.loaded, self.has_loaded = int(loaded[1]), True
        if self.loading_s is not None and at_s is not None:
            self._read(number, at_s - self.loading_s)

    def _read(self, number: int, took_s: float) -> None:
        """How long reading took; the timer comes after the lines and says the same again."""
        self.has_loaded = False
        self.runs.now.read_s = max(0.0, took_s)
        self.found.add("restore_read", took_s, number, self.runs.now.last_s)

    def evidence(self) -> FileEvidence:
        """All that the log says."""
        self.saves.end_run()
        overlaps = self.found.counts["overlaps"]
        warnings = [] if not overlaps else [_OVERLAPS.with_value("count", f"{overlaps:,}")]
        return self.found.evidence("megatron-log", TITLE, self.runs.finish(), warnings)


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
