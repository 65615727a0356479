"""TorchTitan's logs: the text on the screen, and the structured lines of 0.3.0; stops, intervals, steps, restarts.

    [titan] 2026-11-29 14:23:42,466 - root - INFO - step:  2  loss:  6.92000         with colours between the words
    ... - Staging the checkpoint.        ... - Finished staging the checkpoint in 0.11 seconds.         async: C, not t
    ... - Saving the checkpoint.         ... - Finished saving the checkpoint in 5.53 seconds.          C; t too where sync
    ... - Saving the checkpoint (or staging if async is enabled).   ... (or staging if async is enabled)in 0.02 seconds.
    {"rank": 0, "step": 2, "time_us": 1795962222577391, "log_type_name": "checkpoint_save_end", "value": 110.49, ...}   ms

Sources: TorchTitan b5bcd76c (2026-08-21) and release 0.3.0; older words of v0.1 to v0.2.2. In 0.3.0 "saving" stands for
async_mode disabled; before, the same words were used for both, so whether they mean the whole write is asked.
"""

from __future__ import annotations

import json
import math
import re
from collections import deque
from statistics import median
from typing import Any

from ckptplanner.data.evidence import FileEvidence, Question
from ckptplanner.data.readers.source import Head, Opened
from ckptplanner.data.readers.training_runs import (
    BACKWARDS,
    BY_GAP,
    GAP_S,
    GAP_STEPS,
    LATEST_S,
    VALUES_CAP,
    Clock,
    Found,
    Runs,
    back_s,
)
from ckptplanner.text import Text, text

TITLE = text("Training log (TorchTitan)")
JSONL_TITLE = text("Structured log (TorchTitan)")

_COLOUR = re.compile(r"\x1b\[[\d;]{0,20}m")
_LINE = re.compile(r"(\d{4}-\d\d-\d\d \d\d:\d\d):(\d\d),(\d{3}) - \S{1,60} - [A-Z]{4,8} - (.*)")
_RANK = re.compile(r"\[rank(\d{1,7})\]:")
_STEP = re.compile(r"\bstep: *(\d{1,12})\b")
_SAVING = re.compile(r"(Saving|Staging) the checkpoint( \(or staging if async is enabled\))?\.")
_FINISHED = re.compile(
    r"Finished (saving|staging) the checkpoint( \(or staging if async is enabled\))? ?in (\d{1,12}(?:\.\d*)?) seconds"
)
_LOADING = re.compile(r"Loading the checkpoint (?:at step (\d{1,12})|from \S*?(?:step-(\d{1,12}))?\.?$)")
_LOADED = re.compile(r"Finished loading the checkpoint in (\d{1,12}(?:\.\d*)?) seconds")
_STARTS = re.compile(r"Training starts at step (\d{1,12})\b")
_WRITTEN = re.compile(r"train\.checkpoint_write\..{1,80}\.async_total\.latency_ms")
_KNOWN = re.compile(
    r"\[titan\] \d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3} - "
    r"|,\d{3} - \w+ - INFO - (?:\x1b\[[\d;]*m)*step: *\d+\S*(?: |\x1b\[[\d;]*m)+.{0,40}loss:"
    r"|,\d{3} - \w+ - INFO - (?:Saving|Staging) the checkpoint"
)

_WHOLE = "whole"  # under this name until the question is answered
_ROUNDED = text("as the log rounds it, to 0.01 s")
_STAGED = text("the stop of a save in the background; with pinned memory a part of the copy may follow beside the next step")
_SLOWEST = text("of each save the slowest rank of this file")
_IN_BACKGROUND = text("from the counter of the write in the background, less the stop")
_BETWEEN = text("from the lines of steps; those with a save between them are left out")
_LAST = text("The save at the last step is left out: it is written without async, and often holds the model alone.")
_CHOICES = (
    ("write", text("also the whole write: async is off, and training stands still until it is written")),
    ("", text("the stop alone: async is on, and the write goes on in the background")),
)


def _question(suggested: str) -> Question:
    words = text("“Finished saving the checkpoint in … seconds” is the stop of a save. Is it the whole write too?")
    return Question("torchtitan-saving", words, _CHOICES, suggested)


class _Steps:
    """Steps and saves of one rank, from text or from structured lines."""

    def __init__(self, opened: Opened, is_zoned: bool) -> None:
        self.found = Found(opened)
        self.runs = Runs(self.found, opened.name.rpartition("/")[2], is_zoned)
        self.last: int | None = None
        self.at_s: float | None = None
        self.is_excused = False  # a save or a load since the last step
        self.usual: deque[float] = deque(maxlen=9)
        self.saving_s: float | None = None  # when the last save of this run began

    def begin(self, number: int, said: str) -> None:
        """A new run, unless the one before had no step yet."""
        if self.runs.begin(number, said):
            self.last = self.at_s = self.saving_s = None
            self.usual.clear()

    def step(self, number: int, step: int, at_s: float) -> None:
        """This step is done, or has begun: the same of each."""
        if self.last is not None and step < self.last:
            self.begin(number, f"step {self.last}, then {step}")
        if step == self.last:
            return
        if self.last is not None and self.at_s is not None:
            count, passed_s = step - self.last, at_s - self.at_s
            if self._is_gap(count, passed_s):
                self.found.warn(BY_GAP)
                self.begin(number, f"a gap of {passed_s:,.0f} s before step {step}")
        if self.last is None or self.at_s is None:
            self.runs.first(step, at_s, None, number)
        else:
            self.runs.now.spacing = count
            if not self.is_excused and passed_s >= 0.0:
                self.usual.append(passed_s / count)
                self.found.add("step", passed_s / count, number, at_s, _BETWEEN)
            elif passed_s < 0.0:
                self.found.warn(BACKWARDS)
                self.saving_s = None
                self.runs.clock_set(back_s(passed_s, count * median(self.usual) if self.usual else 0.0), at_s)
        self.last, self.at_s, self.is_excused = step, at_s, False
        self.runs.now.top = step
        self.runs.seen(at_s)

    def _is_gap(self, count: int, passed_s: float) -> bool:
        if self.is_excused or not self.usual:
            return False
        spare_s, usual_s = passed_s - count * median(self.usual), median(self.usual)
        return spare_s > GAP_S and spare_s > GAP_STEPS * usual_s

    def saving(self, number: int, at_s: float) -> None:
        """A save begins."""
        self.is_excused = True
        self.runs.seen(at_s)
        if self.saving_s is not None and at_s > self.saving_s:
            self.found.add("interval", at_s - self.saving_s, number, at_s)
        self.saving_s = at_s

    def evidence(self, reader: str, title: Text) -> FileEvidence:
        """All that the log says."""
        evidence = self.found.evidence(reader, title, self.runs.finish())
        if not evidence.measured and not evidence.runs:
            raise self.found.opened.refuse("it has no line of a step or a save as TorchTitan prints them")
        return evidence


class _Screen(_Steps):
    """The text log; where all ranks print into it, the first that is seen counts."""

    def __init__(self, opened: Opened) -> None:
        super().__init__(opened, is_zoned=False)
        self.clock = Clock()
        self.rank: str | None = None
        self.is_last_step = self.is_plain = False

    def read(self) -> None:
        """All lines, once."""
        for number, line in self.found.opened.lines():
            if "step:" in line or "heckpoint" in line or "Training " in line or "Starting job" in line:
                self.line(number, line)

    def line(self, number: int, line: str) -> None:
        """A line of interest."""
        found = _LINE.search(_COLOUR.sub("", line))
        if found is None:
            return
        rank = _RANK.search(line, 0, 200)
        name = rank[1] if rank is not None else ""
        if self.rank is None:
            self.rank = name
        at_s = self.clock.at_s(found[1], f"{found[2]}.{found[3]}")
        if name != self.rank or at_s is None:
            return
        words = found[4]
        if "loss:" in words and (step := _STEP.search(words)):
            self.step(number, int(step[1]), at_s)
        else:
            self.other(number, words, at_s)

    def other(self, number: int, words: str, at_s: float) -> None:
        """A line about a save, a load or a start."""
        if finished := _FINISHED.search(words):
            self.finished(number, finished, at_s)
        elif _SAVING.search(words):
            self.is_last_step = False
            self.saving(number, at_s)
        elif "checkpoint" in words and "at last step" in words:
            self.is_last_step = True
        elif loading := _LOADING.search(words):
            self.begin(number, "it loads a checkpoint")
            step = loading[1] or loading[2]
            self.runs.now.loaded = int(step) if step else None
        elif loaded := _LOADED.search(words):
            self.runs.now.read_s = float(loaded[1])
            self.found.add("restore_read", float(loaded[1]), number, at_s, _ROUNDED)
        elif starts := _STARTS.search(words):
            self.begin(number, "it starts again")
            self.runs.now.loaded, self.runs.now.first_step_s = max(0, int(starts[1]) - 1), at_s
        elif words.startswith(("Starting job", "Checkpointing active")):
            self.begin(number, "it starts again")
        elif words.startswith("Training completed"):
            self.runs.now.kind, self.runs.now.said = "completed", "Training completed"
        else:
            return
        self.is_excused = True
        self.runs.seen(at_s)

    def finished(self, number: int, found: re.Match[str], at_s: float) -> None:
        """How long a save took: always the stop; whether it was the whole write too, older words leave open."""
        took_s = float(found[3])
        if self.is_last_step:
            self.found.warn(_LAST)
            return
        self.found.add("stop", took_s, number, at_s, _ROUNDED)
        if found[1] == "staging":
            self.found.note("stop", _STAGED)
            return
        self.found.add(_WHOLE, took_s, number, at_s, _ROUNDED)
        self.found.questions[_WHOLE] = ("", _question("" if found[2] else "write"))


class _Lines(_Steps):
    """The structured log; its ranks are told apart, and of each save the slowest counts."""

    def __init__(self, opened: Opened) -> None:
        super().__init__(opened, is_zoned=True)
        self.rank: int | None = None
        self.slowest: dict[tuple[int, int], tuple[float, int, float]] = {}  # run, step: took, line, when
        self.stop_s: dict[int, float] = {}  # by rank, of its last save

    def read(self) -> None:
        """All lines, once."""
        for number, line in self.found.opened.lines():
            if "checkpoint_" in line or "fwd_bwd_start" in line or "training_start" in line or "async_total" in line:
                self.line(number, line)
        for (_, _), (took_s, number, at_s) in self.slowest.items():
            self.found.add("stop", took_s, number, at_s, _SLOWEST)
            if "restorable" not in self.found.kept:
                self.found.add(_WHOLE, took_s, number, at_s, _SLOWEST)
                self.found.questions[_WHOLE] = ("", _question(""))

    def line(self, number: int, line: str) -> None:
        """One record."""
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            return
        if not isinstance(record, dict):
            return
        time_us = _number(record.get("time_us"))
        at_s = None if time_us is None or time_us * 1e-6 > LATEST_S else time_us * 1e-6
        rank, step, name = _number(record.get("rank")), _number(record.get("step")), record.get("log_type_name")
        if at_s is None or rank is None or not isinstance(name, str):
            return
        if self.rank is None:
            self.rank = int(rank)
        if rank == self.rank:
            self.moment(number, name, step, at_s)
        value = _number(record.get("value"))
        if value is not None:
            self.took(number, name, record.get("event_name"), int(rank), step, value * 1e-3, at_s)

    def moment(self, number: int, name: str, step: float | None, at_s: float) -> None:
        """When something happened on the rank that is watched."""
        if name == "training_start":
            self.begin(number, "training_start")
            self.runs.seen(at_s)
        elif name == "fwd_bwd_start" and step is not None:
            self.step(number, int(step), at_s)
        elif name == "checkpoint_save_start":
            self.saving(number, at_s)
        elif name.startswith("checkpoint_"):
            self.is_excused = True

    def took(self, number: int, name: str, event: Any, rank: int, step: float | None, took_s: float, at_s: float) -> None:
        """How long something took on any rank."""
        if name == "checkpoint_save_end" and step is not None:
            self.stop_s[rank % 100_000] = took_s
            key = (self.runs.count, int(step))
            if key in self.slowest or len(self.slowest) < VALUES_CAP:
                self.slowest[key] = max(self.slowest.get(key, (0.0, number, at_s)), (took_s, number, at_s))
        elif name == "checkpoint_load_end" and rank == self.rank:
            self.runs.now.read_s = took_s
            self.found.add("restore_read", took_s, number, at_s)
        elif isinstance(event, str) and _WRITTEN.fullmatch(event) and rank == self.rank and rank in self.stop_s:
            self.found.add("restorable", took_s, number, at_s)
            self.found.add("write", max(0.0, took_s - self.stop_s[rank]), number, at_s, _IN_BACKGROUND)


def _number(value: Any) -> float | None:
    """A number that a log can hold, None otherwise."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 <= value < 1e18 and math.isfinite(value) else None


def knows(head: Head) -> bool:
    """Whether a line of it is one that only TorchTitan prints."""
    return _KNOWN.search(head.text) is not None and not head.text.lstrip().startswith("{")


def knows_jsonl(head: Head) -> bool:
    """Whether its first line is a record of TorchTitan's structured logger."""
    first = head.text.lstrip("\ufeff \r\n").split("\n", 1)[0]
    if not first.startswith("{") or '"log_type_name"' not in first:
        return False
    try:
        record = json.loads(first)
    except (ValueError, RecursionError):
        return False
    return isinstance(record, dict) and {"log_type_name", "time_us", "rank"} <= set(record)


def read(opened: Opened) -> FileEvidence:
    """Read the text log in one pass.

    Raises:
        ReaderError: it cannot be read, or says nothing about steps or saves.
    """
    log = _Screen(opened)
    log.read()
    return log.evidence("torchtitan-log", TITLE)


def read_jsonl(opened: Opened) -> FileEvidence:
    """Read the structured log in one pass.

    Raises:
        ReaderError: it cannot be read, or says nothing about steps or saves.
    """
    log = _Lines(opened)
    log.read()
    return log.evidence("torchtitan-jsonl", JSONL_TITLE)
