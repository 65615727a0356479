"""What the dialog shows, without Qt: the files of every target for one plan, the names that they use, what is preselected."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from typing_extensions import override

from ckptplanner.engine.plan import Plan
from ckptplanner.engine.scenario import NamedScenario
from ckptplanner.engine.settings.folder import files_of
from ckptplanner.engine.settings.target import Names, NotPlanned, Settings, SettingsFile, Target, Written, settings_of

Writer = Callable[[Settings, Target], Written]

# the target of a plan's own framework: its id is the name in small letters with - between, but for these
_OTHER_IDS = {"hugging-face-trainer": "hf-trainer", "nemo": "nemo2", "pytorch-dcp": "dcp", "pytorch": "dcp"}
_FIELDS = frozenset(one.name for one in fields(Names))


class _WatchedNames(Names):
    """Names that remember which of them were asked for."""

    @override
    def __getattribute__(self, name: str) -> Any:
        if name in _FIELDS:
            object.__getattribute__(self, "__dict__").setdefault("asked", set()).add(name)
        return object.__getattribute__(self, name)

    @property
    def asked(self) -> frozenset[str]:
        """The names that were read."""
        return frozenset(object.__getattribute__(self, "__dict__").get("asked", ()))


@dataclass(frozen=True, slots=True, eq=False)
class TargetFiles:
    """One target with what it writes."""

    target: Target
    written: Written
    names: frozenset[str]  # that its files use


@dataclass(frozen=True, slots=True, eq=False)
class Prepared:
    """One plan for every target; `settings` is None where the plan has no schedule, and then there are no files."""

    named: NamedScenario
    plan: Plan
    settings: Settings | None
    targets: Mapping[str, TargetFiles]

    def files(self, ids: Iterable[str]) -> tuple[SettingsFile, ...]:
        """The files of some targets, each once."""
        return files_of(self.targets[one].written for one in ids if one in self.targets)

    def names(self, ids: Iterable[str]) -> frozenset[str]:
        """The names that the files of some targets use."""
        return frozenset[str]().union(*(self.targets[one].names for one in ids if one in self.targets))


def prepared(named: NamedScenario, plan: Plan, names: Names, targets: Sequence[Target], write: Writer) -> Prepared:
    """Write every target for a plan; nothing touches a file."""
    written: dict[str, TargetFiles] = {}
    settings: Settings | None = None
    try:
        settings = settings_of(named, plan, names)
        for target in targets:
            watched = _WatchedNames(*(getattr(names, one.name) for one in fields(Names)))
            part = write(replace(settings, names=watched), target)
            written[target.id] = TargetFiles(target, part, watched.asked)
    except NotPlanned:
        settings = None
    return Prepared(named, plan, settings, written)


def usual_ids(named: NamedScenario, targets: Sequence[Target]) -> tuple[str, ...]:
    """What a plan needs first: its own framework, and the file system unless it is there already."""
    name = named.scenario.workload.framework.id.casefold().replace(" ", "-")
    wanted = {_OTHER_IDS.get(name, name)}
    if named.scenario.storage.custom is None:
        wanted.add("fsx-cli")
    return tuple(target.id for target in targets if target.id in wanted)
