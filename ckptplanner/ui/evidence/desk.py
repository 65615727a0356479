"""Gathers the user's files in the background, reads them, and works out what they mean for the plan that is shown.

    paths --gather--> Gathered --read (choices, nodes)--> Reading --judge (scenario, plan)--> Meaning

Each step begins again where what it rests on has changed; what was found before stays until the new is there. The desk holds
what was opened and what the person chose about it; it knows no widgets.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, Qt, QTimer, Signal, Slot

from ckptplanner.data.evidence import FileEvidence, Gathered
from ckptplanner.engine.adopting import Effect
from ckptplanner.engine.evidence import Choices, Estimate, Reading
from ckptplanner.engine.observed import Observed
from ckptplanner.engine.plan import Plan
from ckptplanner.engine.scenario import NamedScenario
from ckptplanner.text import Text
from ckptplanner.ui.background import Progress, TaskRunner
from ckptplanner.ui.evidence.found_words import Coverage

Telling = Callable[[str, int, int], None]  # the name of a file, which one it is, of how many
_BETWEEN_S = 0.03  # from one name of a file to the next: more than anybody sees
_QUIET_MS = 150  # without another change of the plan, before its dollars are worked out anew


@dataclass(frozen=True, slots=True, eq=False)
class Meaning:
    """What a reading means for one plan."""

    effects: tuple[Effect, ...] = ()
    observed: tuple[Observed, ...] = ()
    verdict: Text | None = None
    coverage: Coverage = field(default_factory=Coverage)
    together: tuple[float | None, float | None] = (None, None)  # dollars a month and waste, all proposed values adopted


@dataclass(frozen=True)
class Tools:
    """The functions that do the work; a test hands in others."""

    gather: Callable[[Sequence[Path], Progress, Mapping[str, Any], Telling], Gathered]
    read: Callable[[Sequence[FileEvidence], Choices, int], Reading]
    judge: Callable[[NamedScenario, Plan, Reading, Progress], Meaning]
    adopt: Callable[[NamedScenario, Sequence[Estimate]], NamedScenario]


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """All that can be shown."""

    paths: tuple[Path, ...] = ()
    choices: Choices = field(default_factory=Choices)
    gathered: Gathered = field(default_factory=Gathered)
    reading: Reading | None = None
    meaning: Meaning = field(default_factory=Meaning)
    is_reading: bool = False  # files are being read
    is_stale: bool = False  # the meaning is that of a plan before
    trouble: str = ""  # one line, an empty line and the details
    was_stopped: bool = False


def _same_files(names: frozenset[str], before: Mapping[str, Path], now: Mapping[str, Path]) -> frozenset[str]:
    """What these files are called now: a name changes with what else was opened, and may be another file's now."""
    name_of = {place: name for name, place in now.items()}
    kept = set()
    for name in names:
        place = before.get(name)
        if place in name_of:
            kept.add(name_of[place])
        elif place is None or name not in now:  # one that is gone may come back
            kept.add(name)
    return frozenset(kept)


def _now_and_then(telling: Telling) -> Telling:
    """Tells a name only where some time has gone by since the one before: a folder may have thousands of small files."""
    told_at = -_BETWEEN_S

    def told(name: str, number: int, count: int) -> None:
        nonlocal told_at
        now = time.monotonic()
        if now - told_at >= _BETWEEN_S:
            told_at = now
            telling(name, number, count)

    return told


class EvidenceDesk(QObject):
    """Holds what was opened and works on it; says `changed` whenever there is something else to show."""

    changed = Signal()
    progressed = Signal(float)
    told = Signal(str, int, int)  # the name of the file that is read, which one it is, of how many
    reading_changed = Signal(object)  # the new Reading, or None
    _job_told = Signal(int, str, int, int)

    def __init__(self, tools: Tools, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._tools = tools
        self._found = Found()
        self._mappings: dict[str, Any] = {}
        self._named: NamedScenario | None = None
        self._plan: Plan | None = None
        self._is_watched = False
        self._nodes_read, self._choices_read = 0, Choices()  # for which the reading holds
        self._nodes_asked, self._choices_asked = 0, Choices()
        self._judged_for: tuple[object, ...] = ()
        self._stage = ""
        self._gathers = 0  # how often files were gathered: what an older gathering tells is not heard
        self._files, self._meaning = TaskRunner(self), TaskRunner(self)
        self._quiet = QTimer(self)
        self._quiet.setObjectName("evidence.quiet")
        self._quiet.setSingleShot(True)
        self._quiet.setInterval(_QUIET_MS)
        self._quiet.timeout.connect(self._judge)
        self._files.progressed.connect(self.progressed)
        self._job_told.connect(self._on_told, Qt.ConnectionType.QueuedConnection)  # jobs emit on the thread of the pool
        self._files.finished.connect(self._on_read)
        self._files.failed.connect(self._on_files_failed)
        self._meaning.finished.connect(self._on_judged)
        self._meaning.failed.connect(self._on_meaning_failed)

    # ------------------------------------------------------------ what there is

    @property
    def found(self) -> Found:
        """What can be shown now."""
        return self._found

    @property
    def is_busy(self) -> bool:
        """Whether something is being worked out or waits for that."""
        return bool(self._stage) or self._meaning.is_running or self._quiet.isActive()

    def path_of(self, name: str) -> Path | None:
        """Where a file is that goes by this name in `Gathered`; None where it is gone."""
        place = self._found.gathered.places.get(name)
        return place if place is not None and place.exists() else None

    # ------------------------------------------------------------ files

    def open(self, paths: Sequence[Path]) -> None:
        """Read files and folders beside those that are there; the same ones are read anew."""
        there = list(self._found.paths)
        new = [path for path in dict.fromkeys(path.absolute() for path in paths) if path not in there]
        self._found = replace(self._found, paths=(*there, *new))
        self.refresh()

    def remove(self, path: Path) -> None:
        """Leave out a file or a folder from now on."""
        paths = tuple(one for one in self._found.paths if one != path)
        if not paths:
            self.clear()
        else:
            self._found = replace(self._found, paths=paths)
            self.refresh()

    def clear(self) -> None:
        """Take away everything that was opened."""
        self._give_up()
        self._mappings, self._judged_for = {}, ()
        self._found = Found()
        self.reading_changed.emit(None)
        self.changed.emit()

    def refresh(self) -> None:
        """Read everything that was opened once more."""
        if not self._found.paths:
            return
        paths, mappings, gather = self._found.paths, dict(self._mappings), self._tools.gather
        self._begin("gather")
        self._gathers += 1
        telling = _now_and_then(partial(self._job_told.emit, self._gathers))
        self._files.start(lambda progress: gather(paths, progress, mappings, telling))

    def map_columns(self, name: str, mapping: object) -> None:
        """Say what the columns of a table are, and read it so."""
        self._mappings[str(self._found.gathered.places.get(name, name))] = mapping  # names change with what is beside them
        self.refresh()

    def stop(self) -> None:
        """Give up the reading of files; what was found before stays, under the choices that it was found with."""
        if self._stage:
            self._files.cancel()
            self._stage = ""
            choices = self._found.choices if self._found.reading is None else self._choices_read
            self._found = replace(self._found, choices=choices, is_reading=False, was_stopped=True)
            self.changed.emit()

    def choose(self, choices: Choices) -> None:
        """Read the same files under other choices."""
        if choices != self._found.choices:
            self._found = replace(self._found, choices=choices)
            self._read()
            self.changed.emit()

    # ------------------------------------------------------------ the plan

    def show_plan(self, named: NamedScenario, plan: Plan) -> None:
        """Say what the files mean for this plan from now on."""
        self._named, self._plan = named, plan
        self._look()

    def watch(self, *, is_watched: bool) -> None:
        """While nobody looks, nothing is worked out for the plan."""
        self._is_watched = is_watched
        if is_watched:
            self._look()
        else:
            self._quiet.stop()
            if self._meaning.is_running:
                self._meaning.cancel()
                self._judged_for = ()

    def adopted(self, estimates: Sequence[Estimate]) -> Callable[[NamedScenario], NamedScenario]:
        """The change of a scenario that takes these values over; it raises EditError where that cannot be."""
        values, adopt = tuple(estimates), self._tools.adopt
        return lambda named: adopt(named, values)

    def close(self) -> None:
        """Give up and wait until the threads are free: the window goes away."""
        self._give_up()
        self._files.close()
        self._meaning.close()

    # ------------------------------------------------------------ work

    def _give_up(self) -> None:
        self._quiet.stop()
        self._files.cancel()
        self._meaning.cancel()
        self._stage = ""

    def _begin(self, stage: str) -> None:
        self._stage = stage
        self._found = replace(self._found, is_reading=True, trouble="", was_stopped=False)
        self.changed.emit()

    @property
    def _nodes(self) -> int:
        return self._named.scenario.workload.nodes if self._named is not None else 1

    def _read(self) -> None:
        """Work out what the files say under the choices there are, unless they are being gathered: then it follows."""
        found = self._found
        if self._stage == "gather" or not found.paths:
            return
        files, choices, nodes, read = found.gathered.files, found.choices, self._nodes, self._tools.read
        kept = tuple(one for one in files if one.file not in choices.left_out)
        self._nodes_asked, self._choices_asked = nodes, choices
        self._begin("read")
        self._files.start(lambda _: read(kept, choices, nodes))

    @Slot(int, str, int, int)
    def _on_told(self, gathering: int, name: str, number: int, count: int) -> None:
        if gathering == self._gathers and self._stage == "gather":
            self.told.emit(name, number, count)

    def _on_read(self, result: object) -> None:
        stage, self._stage = self._stage, ""
        if stage == "gather":
            assert isinstance(result, Gathered)
            found = self._found
            choices = replace(found.choices, left_out=_same_files(found.choices.left_out, found.gathered.places, result.places))
            self._found = replace(found, gathered=result, choices=choices)
            self._read()
            return
        assert isinstance(result, Reading)
        self._nodes_read, self._choices_read = self._nodes_asked, self._choices_asked
        self._found = replace(self._found, reading=result, is_reading=False, is_stale=True)
        self.reading_changed.emit(result)
        if self._nodes_read == self._nodes:
            self._judge()
        else:  # the plan has other nodes since
            self._read()
        self.changed.emit()

    def _on_files_failed(self, trouble: str) -> None:
        self._stage = ""
        self._found = replace(self._found, is_reading=False, trouble=trouble)
        self.changed.emit()

    def _on_meaning_failed(self, trouble: str) -> None:
        self._judged_for = ()
        self._found = replace(self._found, trouble=trouble)
        self.changed.emit()

    def _look(self) -> None:
        """Whether the reading or its meaning is out of date."""
        found = self._found
        if found.reading is None or self._stage:
            return
        if self._nodes_read != self._nodes:
            self._read()
        elif self._is_stale:
            if not found.is_stale:
                self._found = replace(found, is_stale=True)
                self.changed.emit()
            if self._is_watched:
                self._quiet.start()

    @property
    def _is_stale(self) -> bool:
        return self._judged_for != (self._found.reading, self._named)

    def _judge(self) -> None:
        reading, named, plan, judge = self._found.reading, self._named, self._plan, self._tools.judge
        if reading is None or named is None or plan is None or not self._is_watched:
            return
        self._quiet.stop()
        self._judged_for = (reading, named)
        self._found = replace(self._found, is_stale=True)
        self._meaning.start(lambda progress: judge(named, plan, reading, progress))

    def _on_judged(self, result: object) -> None:
        assert isinstance(result, Meaning)
        self._found = replace(self._found, meaning=result, is_stale=False)
        self.changed.emit()
