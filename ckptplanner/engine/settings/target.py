"""A plan in the terms of the programs that carry it out: what every target needs, worked out once, and how a file looks.

    settings_of(named, plan) -> Settings      steps, generations to keep, copies, timeouts: numbers that targets take
    Target.write(settings)   -> Written       files for one target, and what that target cannot do

Targets know one another as little as formulas do; the files they write are checked by rules.py, whatever wrote them.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable
from dataclasses import dataclass
from textwrap import wrap
from typing import Literal

from ckptplanner import __version__
from ckptplanner.engine.plan import Finding, Plan
from ckptplanner.engine.scenario import NamedScenario
from ckptplanner.text import Text
from ckptplanner.units import BYTES, SECONDS, Unit, brief, grouped, percent

Language = Literal["shell", "yaml", "toml", "python", "json", "text"]
Group = Literal["framework", "storage", "scheduler"]
WIDTH = 124  # of a sentence in a comment, in characters
TIMEOUT_MARGIN = 3.0  # a save may take this much longer than planned before a watchdog ends the run


@dataclass(frozen=True, slots=True)
class Names:
    """What a plan does not know: folders and names at the user's site. The defaults are meant to be replaced."""

    shared_folder: str = "/fsx/checkpoints"
    local_folder: str = "/local/checkpoints"
    log_folder: str = "/fsx/logs"
    job: str = "pretrain"
    bucket: str = "my-checkpoints"
    subnet_id: str = "subnet-0123456789abcdef0"
    security_group_id: str = "sg-0123456789abcdef0"
    file_system_id: str = "fs-0123456789abcdef0"


@dataclass(frozen=True, slots=True, eq=False)
class Settings:
    """A plan in steps, generations and copies."""

    named: NamedScenario
    plan: Plan
    names: Names
    plan_id: str  # the same for the same inputs: 12 hexadecimal digits
    step_s: float
    interval_steps: int  # n = max(1, round(T / step)); with two levels of shared saves, a multiple of local_steps
    interval_s: float  # the T that this really gives
    planned_interval_s: float  # what the plan asks for
    local_steps: int | None  # None: there is no local level
    local_interval_s: float | None
    keep: int  # complete generations to keep: k - 1, since k counts the one being written
    is_async: bool
    stop_s: float
    write_s: float
    factor: int  # copies of each shard, 1: none
    jump: int  # between the ranks of a group
    world_size: int
    save_timeout_s: int  # above the longest save, with a margin, whole seconds
    done: Plan | None = None  # what a target's settings really do, where that is known (doing.py)
    warnings: tuple[str, ...] = ()  # what the target cannot do, a sentence each

    @property
    def has_local(self) -> bool:
        """Whether there is a local level."""
        return self.local_steps is not None

    def assumptions(self) -> tuple[str, ...]:
        """What a comment on top of a file says of the plan and of what the target makes of it, a line each, in English."""
        work = self.plan.scenario.workload
        size = _time_or_size(self.plan.checkpoint.checkpoint_bytes, BYTES)
        every, step = _time_or_size(self.interval_s, SECONDS), _time_or_size(self.step_s, SECONDS)
        planned = _time_or_size(self.planned_interval_s, SECONDS)
        asked = f" (the plan asks for {planned})" if planned != every else ""
        nodes, gpus = counted(work.nodes, "node"), counted(work.gpus_per_node, "GPU")
        lines = [
            f"plan {self.named.name!r}, id {self.plan_id}, by ckptplanner {__version__}",
            f"{nodes} x {gpus}, one checkpoint {size}",
            f"save every {every}: {counted(self.interval_steps, 'step')} of {step}{asked}",
            *self._waste(),
        ]
        for warning in self.warnings:
            parts = wrap(f"Warning: {warning}", WIDTH, subsequent_indent="  ", break_on_hyphens=False)
            lines += (_plain(part) for part in parts)
        return tuple(lines)

    def _waste(self) -> tuple[str, ...]:
        """What the file's own settings lose, beside what the plan does where that is something else."""
        planned = _waste_of(self.plan)
        if self.done is None:
            return () if planned is None else (f"waste {planned}",)
        real, beside = _waste_of(self.done), "" if planned is None else f"; the plan: {planned}"
        if real is None:
            return () if planned is None else (f"waste 100 %: these saves leave no time to train{beside}",)
        return (f"waste {real}",) if real == planned else (f"waste {real} with these settings{beside}",)


def _waste_of(plan: Plan) -> str | None:
    waste = plan.waste
    return None if waste is None or waste.total_fraction is None else _plain(percent(waste.total_fraction))


def counted(count: int, what: str) -> str:
    """A number of things in a comment: 1 step, 268 steps."""
    return f"{grouped(count)} {what}" if count == 1 else f"{grouped(count)} {what}s"


def _time_or_size(value: float, unit: Unit) -> str:
    return _plain(brief(value, unit))


def _plain(words: str) -> str:
    """Without the no-break spaces, which shells and parsers take badly."""
    return words.replace("\u00a0", " ").replace("\u2009", " ")


@dataclass(frozen=True, slots=True)
class SettingsFile:
    """One file that a target is given."""

    name: str
    language: Language
    content: str


@dataclass(frozen=True, slots=True)
class Written:
    """What a target is given, and what it cannot do of the plan, with the nearest thing that works."""

    files: tuple[SettingsFile, ...]
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True)
class Target:
    """A program or a service that settings are written for."""

    id: str
    title: Text
    version: str  # that the settings are for
    checked: str  # with which real program or library, and its version; "" where by its source or documents alone
    group: Group
    write: Callable[[Settings], Written]


class NotPlanned(ValueError):  # noqa: N818 - read as what it is in the sentence of an except
    """A plan that no settings can be written from; the message is one sentence."""


def plan_id(named: NamedScenario) -> str:
    """A short name of the inputs: the same for the same scenario, another for any other."""
    return hashlib.sha256(named.scenario.model_dump_json().encode()).hexdigest()[:12]


def settings_of(named: NamedScenario, plan: Plan, names: Names | None = None) -> Settings:
    """The plan in steps, generations and copies.

    Raises:
        NotPlanned: there is no schedule, so there is nothing to write.
    """
    scenario, schedule = plan.scenario, plan.schedule
    if schedule is None:
        raise NotPlanned("This plan has no schedule: choose a file system that holds its checkpoints first.")
    step, work, copies = scenario.workload.step_s, scenario.workload, scenario.replication
    steps = max(1, round(schedule.interval_s / step))
    local_steps = None
    if plan.levels is not None:
        local_steps = max(1, round(plan.levels.local.interval_s / step))
        steps = local_steps * max(1, plan.levels.ratio)
    longest = max(schedule.blocking_s, schedule.write_s, schedule.writes_in_s)
    return Settings(
        named=named, plan=plan, names=names or Names(), plan_id=plan_id(named), step_s=step, interval_steps=steps,
        interval_s=steps * step, planned_interval_s=schedule.interval_s, local_steps=local_steps,
        local_interval_s=None if local_steps is None else local_steps * step,
        keep=max(scenario.storage.generations_kept - 1, 1), is_async=schedule.mode == "async", stop_s=schedule.blocking_s,
        write_s=schedule.write_s, factor=copies.factor, jump=copies.jump or work.gpus_per_node,
        world_size=work.nodes * work.gpus_per_node, save_timeout_s=math.ceil(longest * TIMEOUT_MARGIN),
    )  # fmt: skip
