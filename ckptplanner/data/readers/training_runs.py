"""What the logs of training have in common: values that are thinned, the runs of a job, and what a restart took.

Found   the values, notes and warnings of one log, bounded whatever its size
Runs    lines of steps, stamps and starts in, one after the other -> the runs, their restarts and the steps done twice
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

from ckptplanner.data.evidence import Fact, FileEvidence, Kind, Measured, Question, Run
from ckptplanner.data.readers.source import Opened
from ckptplanner.text import Text, text

VALUES_CAP = 100_000
RUNS_CAP = 10_000
LATEST_S = 7.2e9  # seconds since 1970: the year 2198
FAR_S = 1e8  # three years: nothing that a log measures takes longer
BACK_CAP_S = 86_400.0  # no clock is set further
HOUR_OFF_S = 120.0
GAP_S, GAP_STEPS = 300.0, 5  # a longer pause between two lines that nothing explains is a restart; a shorter one is none
_MINUTES_CAP = 100_000
_MINUTE = re.compile(r"(?:19[7-9]|20\d|21\d)\d-\d\d-\d\d[ T_]\d\d:\d\d")

BACKWARDS = text(
    "The clock goes back within a run (summer time, or an adjusted clock): times across it are left out, and the run counts "
    "with the time that its steps took."
)
JUMPED = text("The clock leaps ahead by an hour within a run (summer time): times across it are left out, and so is that hour.")
BY_GAP = text("A run is taken as restarted because of a gap between its steps alone.")


def back_s(passed_s: float, took_s: float) -> float:
    """How far a clock was set back between two lines, by whole hours where it is summer time. [s]

    Args:
        passed_s: From stamp to stamp.
        took_s: What the steps between them took.
    """
    apart = took_s - passed_s
    hours = round(apart / 3600.0) * 3600.0
    return hours if hours and abs(apart - hours) < HOUR_OFF_S else apart


class Clock:
    """Time stamps to seconds since 1970, as the file has them; a minute is worked out once."""

    def __init__(self) -> None:
        self.minutes: dict[str, float] = {}

    def at_s(self, minute: str, seconds: str) -> float | None:
        """A stamp such as "2026-11-02 00:40" and "04.225830"; None where it is none. [s]"""
        base = self.minutes.get(minute)
        if base is None:
            if _MINUTE.fullmatch(minute) is None:
                return None
            try:
                base = datetime.fromisoformat(minute.replace("_", " ")).replace(tzinfo=UTC).timestamp()
            except (ValueError, OverflowError):
                return None
            if len(self.minutes) >= _MINUTES_CAP:
                self.minutes.clear()
            self.minutes[minute] = base
        try:
            past = float(seconds)
        except ValueError:
            return None
        return base + past if 0.0 <= past < 61.0 else None


class Kept:
    """Values of one quantity; beyond the cap every second one goes, so those that stay are spread over the whole file."""

    def __init__(self) -> None:
        self.values: list[float] = []
        self.at_s: list[float | None] = []
        self.line, self.seen, self.every = 0, 0, 1

    def add(self, value: float, line: int, at_s: float | None) -> None:
        """One more value."""
        self.seen += 1
        if self.seen % self.every:
            return
        if not self.values:
            self.line = line
        self.values.append(value)
        self.at_s.append(at_s)
        if len(self.values) > VALUES_CAP:
            del self.values[1::2], self.at_s[1::2]
            self.every *= 2


class Found:
    """What one log has said so far."""

    def __init__(self, opened: Opened) -> None:
        self.opened = opened
        self.kept: dict[str, Kept] = {}
        self.notes: dict[str, dict[Text, None]] = {}
        self.questions: dict[str, tuple[str, Question]] = {}
        self.warnings: dict[Text, None] = {}
        self.counts: Counter[str] = Counter()
        self.facts: dict[str, Fact] = {}
        self.last_s = -math.inf

    def add(self, quantity: str, value: float, line: int, at_s: float | None = None, note: Text | None = None) -> None:
        """A value in the quantity's own unit; one that no log can hold is left out."""
        if not 0.0 <= value <= FAR_S:
            if value < 0.0:
                self.warn(BACKWARDS)
            return
        self.of(quantity).add(value, line, at_s)
        if note is not None:
            self.note(quantity, note)

    def of(self, quantity: str) -> Kept:
        """The values of a quantity."""
        return self.kept.setdefault(quantity, Kept())

    def note(self, quantity: str, note: Text) -> None:
        """Something to be known of the values of a quantity."""
        self.notes.setdefault(quantity, {})[note] = None

    def warn(self, words: Text) -> None:
        """A trap that this file fell into, said once."""
        self.warnings[words] = None

    def _measured(self, name: str, kept: Kept) -> Measured:
        quantity, question = self.questions.get(name, (name, None))
        notes = list(self.notes.get(name, ()))
        if kept.every > 1:
            notes.append(text("{kept} of {seen} values were kept", kept=f"{len(kept.values):,}", seen=f"{kept.seen:,}"))
        at_s = tuple(at for at in kept.at_s if at is not None)
        return Measured(
            quantity,
            tuple(kept.values),
            self.opened.place(f"line {kept.line}"),
            at_s=at_s if len(at_s) == len(kept.values) else (),
            notes=tuple(notes),
            question=question,
        )

    def evidence(self, reader: str, title: Text, runs: Iterable[Run], warnings: Iterable[Text] = ()) -> FileEvidence:
        """All of it."""
        day = self.opened.date
        if math.isfinite(self.last_s):
            day = datetime.fromtimestamp(self.last_s, UTC).strftime("%Y-%m-%d")
        return FileEvidence(
            reader,
            title,
            self.opened.name,
            date=day,
            measured=tuple(self._measured(name, kept) for name, kept in self.kept.items() if kept.values),
            runs=tuple(runs),
            facts=tuple(self.facts.values()),
            warnings=(*self.warnings, *warnings),
        )


@dataclass(slots=True)
class Try:
    """One run while it is read."""

    line: int
    start_s: float | None = None
    last_s: float | None = None
    first_step_s: float | None = None
    loaded: int | None = None  # the step of the checkpoint it went on from
    top: int | None = None  # its last step so far
    spacing: int = 1  # steps from line to line
    read_s: float = 0.0  # spent on reading the checkpoint
    back_s: float = 0.0  # the clock was set back by this
    kind: Kind = "unknown"
    said: str = ""


class Runs:
    """The runs of one job in the order of its log."""

    def __init__(self, found: Found, job: str, is_zoned: bool = False) -> None:
        self.found, self.job, self.is_zoned = found, job, is_zoned
        self.now = Try(1)
        self.before: Try | None = None
        self.done: list[Run] = []
        self.count = 1

    def seen(self, at_s: float | None) -> None:
        """A stamp of the run that is read."""
        if at_s is None:
            return
        now = self.now
        if now.start_s is None:
            now.start_s = now.last_s = at_s
        elif now.last_s is None or at_s > now.last_s:
            now.last_s = at_s

    def clock_set(self, back_s: float, at_s: float) -> None:
        """The clock was set back by this much before this stamp; ahead below 0. [s]"""
        if abs(back_s) <= BACK_CAP_S:
            self.now.back_s += back_s
            self.now.last_s = at_s

    def begin(self, line: int, said: str) -> bool:
        """A line that only a start prints; whether a new run begins with it: not where the last one had no step yet."""
        if self.now.top is None:
            return False
        self._close(said)
        self.before, self.now = self.now, Try(line)
        self.count += 1
        return True

    def first(self, step: int, at_s: float | None, per_step_s: float | None, line: int, steps: int | None = None) -> None:
        """The first line with a step of a run: what the restart took is known now.

        Args:
            step: Its number.
            at_s: When it was done. [s]
            per_step_s: How long each of the steps up to it took. [s] None where the log does not say.
            line: Its number in the file.
            steps: How many steps of this run it stands for; None: worked out from the checkpoint, or as before.
        """
        now, before = self.now, self.before
        if steps is None:
            since = step - now.loaded if now.loaded is not None else 0
            steps = since if 0 < since <= 10_000 else before.spacing if before is not None else 1
        steps = max(1, min(steps, step))
        if now.first_step_s is None and at_s is not None:
            began = at_s - (per_step_s or 0.0) * steps
            floor = now.start_s if now.start_s is not None else before.last_s if before is not None else None
            now.first_step_s = max(began, floor) if floor is not None and floor <= at_s else began
        now.top = step
        self.seen(now.first_step_s)
        if before is not None and before.kind == "unknown":
            self._restarted(before, now, step - steps if now.loaded is None else now.loaded, line)

    def _restarted(self, before: Try, now: Try, base: int, line: int) -> None:
        found, resumed = self.found, now.first_step_s
        if before.top is not None:
            found.add("lost_steps", float(max(0, before.top - base)), line, resumed, _LOST)
        if resumed is None:
            return
        if before.last_s is not None:
            found.add("restart", resumed - before.last_s, line, resumed, _RESTART)
        if now.start_s is not None and now.start_s < resumed:
            found.add("start", max(0.0, resumed - now.start_s - now.read_s), line, resumed, _START)

    def _close(self, said: str) -> None:
        now = self.now
        if now.start_s is None or now.last_s is None:
            self.found.counts["untimed"] += 1
            return
        if len(self.done) >= RUNS_CAP:
            self.found.warn(text("There are more than {count} runs; the rest is left out.", count=f"{RUNS_CAP:,}"))
            return
        if now.last_s < now.start_s:  # set back to before its start
            now.start_s, now.back_s = now.last_s - max(0.0, now.last_s - now.start_s + now.back_s), 0.0
        is_open, first_s = said == "", now.first_step_s
        end_s = None if is_open and now.kind == "unknown" else now.last_s
        self.done.append(
            Run(
                self.job,
                now.start_s,
                end_s,
                "open" if end_s is None else now.kind,
                now.said or said or "the log ends here",
                self.found.opened.place(f"line {now.line}"),
                seen_until_s=now.last_s if end_s is None else None,
                first_step_s=first_s if first_s is not None and now.start_s <= first_s <= now.last_s else None,
                is_zoned=self.is_zoned,
                is_from_log=True,
                back_s=now.back_s,
            )
        )

    def finish(self) -> tuple[Run, ...]:
        """The runs, with the one that the log ends in."""
        if self.now.top is not None or self.now.start_s is not None:
            self._close("")
        ends = [run.seen_until_s if run.end_s is None else run.end_s for run in self.done]
        self.found.last_s = max((end for end in ends if end is not None), default=-math.inf)
        if self.found.counts["untimed"]:
            self.found.warn(_UNTIMED)
        return tuple(self.done)


_LOST = text("from the last line with a step; steps after it that were lost too are not seen")
_RESTART = text("from the last stamp before to the first step after: the time until the failure was noticed is in it")
_START = text("from the first stamp of the new run to its first step, without reading the checkpoint")
_UNTIMED = text("The lines have no time stamps, so when its runs began and ended is not known.")
