"""What several targets ask about stops and restarts: how long a last save takes, how many restarts, what is missing."""

from __future__ import annotations

import math
from collections.abc import Iterator

from ckptplanner.engine.plan import Finding, finding
from ckptplanner.engine.settings.target import Settings
from ckptplanner.text import Text, text
from ckptplanner.units import DAY, SECONDS, brief, grouped

NOTICE_MARGIN = 1.2  # of the signal before a stop, over the last save
TIMEOUT_LEAST_S = 600  # PyTorch's own for NCCL: a shorter one would end runs for other reasons than a save
MOST_RESTARTS = 2**31 - 1  # what a 32-bit field takes


def shown(seconds: float) -> str:
    """A time in words for a remark in a file."""
    return brief(seconds, SECONDS)


def longest_save_s(settings: Settings) -> float:
    """How long one write may take: the time given, or what the storage needs where that is more. [s]"""
    schedule = settings.plan.schedule
    return max(settings.write_s, schedule.writes_in_s if schedule else 0.0)


def longest_stop_s(settings: Settings) -> float:
    """How long training stands still at one save, so what a watchdog must let pass. [s]"""
    return settings.stop_s if settings.is_async else max(settings.stop_s, longest_save_s(settings))


def final_save_s(settings: Settings) -> float:
    """From the signal until the last save is on storage: the step that is running, the stop and the write. [s]"""
    stop_s = settings.stop_s if settings.is_async else 0.0
    return settings.step_s + stop_s + longest_save_s(settings)


def notice_s(settings: Settings) -> int:
    """How long before a stop the job is to be told, in whole seconds: what a last save takes and a fifth more.

    The plan's own notice may be longer, which is no reason to end training earlier.
    """
    return math.ceil(final_save_s(settings) * NOTICE_MARGIN)


def has_short_notice(settings: Settings) -> bool:
    """Whether the plan is told of a stop later than a last save needs."""
    given_s = settings.plan.scenario.planned.notice_s
    return given_s is not None and given_s < notice_s(settings)


def collective_timeout_s(settings: Settings) -> int:
    """What ranks wait for one another at most, in whole seconds: above the longest save. [s]"""
    return math.ceil(max(settings.plan.scenario.workload.collective_timeout_s, settings.save_timeout_s, TIMEOUT_LEAST_S))


def restarts_expected(settings: Settings, seconds: float) -> float:
    """Interruptions in that time, by the plan's M."""
    schedule = settings.plan.schedule
    return 0.0 if schedule is None else seconds / schedule.mtbi_s


def restarts_to_allow(settings: Settings, seconds: float) -> int:
    """A limit that chance alone does not reach: the interruptions expected and four standard deviations."""
    expected = restarts_expected(settings, seconds)
    return int(min(math.ceil(expected + 4.0 * math.sqrt(expected) + 3.0), MOST_RESTARTS))


def planned_stops(settings: Settings, every_s: float | None) -> int:
    """Stops in the run that come announced, as often as they really come."""
    return 0 if every_s is None else int(min(math.ceil(run_s(settings) / every_s), MOST_RESTARTS))


def run_s(settings: Settings) -> float:
    """Length of the run. [s]"""
    return settings.plan.scenario.run.days * DAY


def can_replicate(settings: Settings) -> bool:
    """Whether there are copies and the ranks can be put into groups of them."""
    return settings.factor > 1 and settings.world_size % (settings.jump * settings.factor) == 0


def has_no_local_level(settings: Settings, name: Text) -> Iterator[Finding]:
    """Said by every target that saves to one place alone."""
    if settings.has_local or settings.factor > 1:
        yield finding(
            "warning", "local.enabled" if settings.has_local else "replication.factor",
            "{name} has no local saves and no copies of them: only the shared saves are written. Add local saves of "
            "nvidia-resiliency-ext beside it (target nvrx).",
            name=name,
        )  # fmt: skip


def writes_while_training_stops(settings: Settings, name: Text, nearest: Text) -> Finding:
    """Said by every target that has no asynchronous saving."""
    return finding(
        "warning", "storage.mode",
        "{name} has no asynchronous saving: each save stops training for {write} instead of {stop}. {nearest}",
        name=name, write=shown(longest_save_s(settings)), stop=shown(settings.stop_s), nearest=nearest,
    )  # fmt: skip


def cannot_form_groups(settings: Settings) -> Finding:
    """The ranks do not divide into groups of J and F; docs/models.md 13.2."""
    return finding(
        "warning", "replication.factor",
        "{factor} copies with a jump of {jump} do not divide {ranks} ranks: local saves are written without copies.",
        factor=grouped(settings.factor), jump=grouped(settings.jump), ranks=grouped(settings.world_size),
    )  # fmt: skip


def nearest_async() -> Text:
    """What to do where saving is not asynchronous."""
    return text("Use asynchronous saves of PyTorch (target dcp), or a shorter write time.")
