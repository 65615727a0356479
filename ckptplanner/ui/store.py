"""The only mutable state: the current Workbook, its undo stack, the file it belongs to.

Every edit makes a new frozen Workbook and one undo step that holds the old and the new one; edits of one field within one
gesture become one step. Panels and views are told by two signals and draw whatever they are handed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QUndoCommand, QUndoStack
from typing_extensions import override

from ckptplanner.engine.edits import EditError, as_ideal, edit, with_allowances
from ckptplanner.engine.evaluate import plan_of
from ckptplanner.engine.scenario import NamedScenario, Source, Workbook
from ckptplanner.engine.workbook_file import read, write
from ckptplanner.frozen import with_value
from ckptplanner.ui.shown import Shown
from ckptplanner.ui.words import say

Edits = Sequence[tuple[str, Any]]
_NO_MERGE = -1
LONGEST_NAME, LONGEST_NOTE = 120, 10_000  # characters that a file takes


def _inputs(workbook: Workbook) -> tuple[object, ...]:
    """A workbook without the sources of its values."""
    return (
        workbook.current,
        workbook.base,
        workbook.campaign,
        *((one.name, one.note, one.scenario) for one in workbook.scenarios),
    )


def adopted(named: NamedScenario, edits: Edits) -> NamedScenario:
    """The scenario with several fields set, each of them typed from now on."""
    scenario, sources = named.scenario, {source.path: source for source in named.sources}
    for path, value in edits:
        scenario = with_value(scenario, path, value)
        sources[path] = Source(path=path, kind="typed", text=say("adopted from Decide"))
    return named.model_copy(update={"scenario": scenario, "sources": tuple(sources.values())})


class ChangeWorkbook(QUndoCommand):
    """From one workbook to another; steps with the same key become one."""

    def __init__(self, install: Callable[[Workbook], None], old: Workbook, new: Workbook, text: str, key: int) -> None:
        super().__init__(text)
        self._install, self._old, self.new, self._key = install, old, new, key

    @override
    def id(self) -> int:
        return self._key

    @override
    def mergeWith(self, other: QUndoCommand) -> bool:
        if not isinstance(other, ChangeWorkbook) or self._key == _NO_MERGE:
            return False
        self.new = other.new
        if _inputs(self.new) == _inputs(self._old):
            # back where the gesture began: no step is left, and the values come again from where they came
            self.setObsolete(True)
            self._install(self._old)
        return True

    @override
    def redo(self) -> None:
        self._install(self.new)

    @override
    def undo(self) -> None:
        self._install(self._old)


class Store(QObject):
    """Holds the workbook and changes it by edits that can be undone."""

    workbook_changed = Signal(object)
    plans_changed = Signal(object)
    edit_rejected = Signal(str, str)

    def __init__(self, workbook: Workbook, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.undo_stack = QUndoStack(self)
        self.file: Path | None = None
        self.times_opened = 0  # what belongs to one workbook alone, as a ghost does, remembers it
        self._workbook = workbook
        self._gesture = 0
        self._paths: dict[str, int] = {}
        self._marks: dict[str, int] = {}

    @property
    def workbook(self) -> Workbook:
        """What is shown now."""
        return self._workbook

    # ------------------------------------------------------------ edits

    def edit(self, path: str, value: object) -> None:
        """Change one field of the current scenario, or say why not."""
        self._edit(self._workbook.shown, path, value)

    def edit_of(self, name: str, path: str, value: object) -> None:
        """Change one field of another scenario, as a step of its own."""
        self.end_gesture()
        self._edit(self._workbook.named(name), path, value)
        self.end_gesture()

    def _edit(self, named: NamedScenario, path: str, value: object) -> None:
        try:
            changed = edit(named, path, value)
        except EditError as error:
            self.edit_rejected.emit(path, error.message)
            return
        self.edit_rejected.emit(path, "")
        if changed.scenario != named.scenario:
            self._replace(changed, say("change of {path}", path=path), self._merge_key(path))

    def _merge_key(self, path: str) -> int:
        return self._gesture * 1000 + self._paths.setdefault(path, len(self._paths)) % 1000

    def end_gesture(self) -> None:
        """The next edit begins a new undo step."""
        self._gesture = (self._gesture + 1) % 1_000_000

    def apply(self, change: Callable[[NamedScenario], NamedScenario], text: str) -> None:
        """Change the current scenario by a function, as one undo step.

        A refusal is reported at the field it names.
        """
        try:
            changed = change(self._workbook.shown)
        except EditError as error:
            self.edit_rejected.emit(error.path, error.message)
            return
        self._replace(changed, text, _NO_MERGE)

    def adopt(self, edits: Edits) -> None:
        """Set several fields of the current scenario at once, as one undo step."""
        self.end_gesture()
        self.apply(lambda named: adopted(named, edits), say("adoption of a plan"))
        self.end_gesture()

    def adopt_as_new(self, name: str, edits: Edits) -> None:
        """Add a scenario that is the current one with several fields set, and show it."""
        new = adopted(self._workbook.shown, edits).model_copy(update={"name": name})
        self.add(new, say("adoption of a plan as a new scenario"))

    def add(self, new: NamedScenario, text: str) -> None:
        """Add a scenario, under its name or one like it, and show it, as one undo step."""
        named = new.model_copy(update={"name": self._unused_name(new.name)})
        self._push(
            self._workbook.model_copy(update={"scenarios": (*self._workbook.scenarios, named), "current": named.name}), text
        )
        self.end_gesture()

    def _unused_name(self, name: str) -> str:
        """The name itself, or with a number behind it."""
        taken = {one.name for one in self._workbook.scenarios}
        stem = name[: LONGEST_NAME - 5]
        return next(one for one in (stem, *(f"{stem} {number}" for number in range(2, len(taken) + 3))) if one not in taken)

    def make_ideal(self, is_ideal: bool) -> None:
        """Put the four allowances to neutral, or to their guesses."""
        self.apply(as_ideal if is_ideal else with_allowances, say("ideal") if is_ideal else say("allowances"))

    def _replace(self, changed: NamedScenario, text: str, key: int) -> None:
        scenarios = tuple(changed if one.name == changed.name else one for one in self._workbook.scenarios)
        self._push(self._workbook.model_copy(update={"scenarios": scenarios}), text, key)

    def _push(self, new: Workbook, text: str, key: int = _NO_MERGE) -> None:
        if new != self._workbook:
            self.undo_stack.push(ChangeWorkbook(self._install, self._workbook, new, text, key))

    # ------------------------------------------------------------ scenarios

    def duplicate(self) -> None:
        """Add a copy of the current scenario beside it, and show the copy."""
        now = self._workbook.shown
        copy = now.model_copy(update={"name": self._free_name(now.name)})
        self._push(
            self._workbook.model_copy(update={"scenarios": (*self._workbook.scenarios, copy), "current": copy.name}),
            say("duplicate"),
        )
        self.end_gesture()

    def _free_name(self, name: str) -> str:
        """A name for a copy: "5 min copy", then "5 min copy 2"; never longer than a file may hold."""
        taken, copy = {one.name for one in self._workbook.scenarios}, say("copy")
        first = re.sub(rf" {re.escape(copy)}( \d+)?$", "", name)
        stem = f"{first[: LONGEST_NAME - len(copy) - 6]} {copy}"
        candidates = [stem, *(f"{stem} {number}" for number in range(2, len(taken) + 3))]
        return next(candidate for candidate in candidates if candidate not in taken)

    def rename(self, old: str, new: str) -> None:
        """Give a scenario another name."""
        clean = new.strip()
        if clean == old:
            return
        if not clean or len(clean) > LONGEST_NAME:
            self.edit_rejected.emit("name", say("A name of 1 to 120 characters is needed."))
            return
        if clean in {one.name for one in self._workbook.scenarios}:
            self.edit_rejected.emit("name", say("There is a scenario of that name already: choose another."))
            return
        scenarios = tuple(
            one.model_copy(update={"name": clean}) if one.name == old else one for one in self._workbook.scenarios
        )
        names = {
            role: clean if getattr(self._workbook, role) == old else getattr(self._workbook, role)
            for role in ("current", "base")
        }
        self._marks[clean] = self._marks.get(old, 0)
        stages = tuple(clean if name == old else name for name in self._workbook.campaign)
        self._push(self._workbook.model_copy(update={"scenarios": scenarios, "campaign": stages, **names}), say("rename"))

    def note(self, text: str) -> None:
        """Write the current scenario's note, of at most LONGEST_NOTE characters."""
        self.apply(lambda named: named.model_copy(update={"note": text}), say("note"))

    def remove(self, name: str) -> None:
        """Take a scenario away; the last one stays."""
        rest = tuple(one for one in self._workbook.scenarios if one.name != name)
        if not rest:
            return
        place = [one.name for one in self._workbook.scenarios].index(name)
        near = rest[min(place, len(rest) - 1)].name
        names = {
            role: near if getattr(self._workbook, role) == name else getattr(self._workbook, role)
            for role in ("current", "base")
        }
        stages = tuple(stage for stage in self._workbook.campaign if stage != name)
        self._push(self._workbook.model_copy(update={"scenarios": rest, "campaign": stages, **names}), say("remove"))
        self.end_gesture()

    def switch(self, name: str) -> None:
        """Show another scenario; looking is not an edit that one wants to undo, but it is kept in the file."""
        if name != self._workbook.current:
            self.end_gesture()
            self._install(self._workbook.model_copy(update={"current": name}))

    def make_base(self, name: str) -> None:
        """Compare with this scenario from now on."""
        self._push(self._workbook.model_copy(update={"base": name}), say("base"))

    def reorder(self, names: Sequence[str]) -> None:
        """Put the scenarios into another order; names that are left out stay behind those that are given."""
        wanted = {name: place for place, name in enumerate(names)}
        scenarios = sorted(self._workbook.scenarios, key=lambda one: wanted.get(one.name, len(wanted)))
        self._push(self._workbook.model_copy(update={"scenarios": tuple(scenarios)}), say("order of the scenarios"))
        self.end_gesture()

    def make_campaign(self, names: Sequence[str]) -> None:
        """Take these scenarios as stages of one campaign; none: all are alternatives."""
        stages = tuple(one.name for one in self._workbook.scenarios if one.name in names)
        self._push(self._workbook.model_copy(update={"campaign": stages}), say("stages"))
        self.end_gesture()

    # ------------------------------------------------------------ files

    def reset(self, workbook: Workbook, file: Path | None) -> None:
        """Start over with another workbook."""
        self.times_opened += 1
        self.undo_stack.clear()
        self.undo_stack.setClean()
        self.file = file
        self._marks = {}
        self.end_gesture()
        self._install(workbook)

    def open(self, file: Path) -> None:
        """Read a plan file. Raises WorkbookError; then nothing has changed."""
        self.reset(read(file), file)

    def save(self, file: Path) -> None:
        """Write the plan file. Raises WorkbookError; then the old file is untouched."""
        write(self._workbook, file)
        self.file = file
        self.undo_stack.setClean()
        self.end_gesture()

    # ------------------------------------------------------------ telling

    def _install(self, workbook: Workbook) -> None:
        if workbook.current not in {one.name for one in workbook.scenarios}:
            workbook = workbook.model_copy(update={"current": workbook.scenarios[0].name})
        self._workbook = workbook
        self.tell()

    def tell(self) -> None:
        """Tell panels and views what there is."""
        self.workbook_changed.emit(self._workbook)
        self.plans_changed.emit(self.shown())

    def shown(self) -> tuple[Shown, ...]:
        """Every scenario with its plan and its mark."""
        book = self._workbook
        for one in book.scenarios:
            self._marks.setdefault(one.name, self._next_mark())
        return tuple(
            Shown(
                one, plan_of(one), self._marks[one.name], one.name == book.current, one.name == book.base,
                one.name in book.campaign,
            )
            for one in book.scenarios
        )  # fmt: skip

    def _next_mark(self) -> int:
        used = {self._marks[one.name] for one in self._workbook.scenarios if one.name in self._marks}
        return next(index for index in range(len(used) + 1) if index not in used)
