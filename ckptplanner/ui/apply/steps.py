"""The interval in whole steps, in words: what the plan asks for and what whole steps give."""

from __future__ import annotations

from ckptplanner.engine.settings.target import Settings
from ckptplanner.ui.words import say
from ckptplanner.units import SECONDS, brief, exact, grouped


def steps_words(settings: Settings) -> str:
    """T 44 min 45 s = 268 steps of 10 s = 44 min 40 s; of two levels both."""
    step = brief(settings.step_s, SECONDS)
    levels = settings.plan.levels
    if levels is None or settings.local_steps is None or settings.local_interval_s is None:
        asked, real = _apart(settings.planned_interval_s, settings.interval_s)
        return say("T {planned} = {steps}", planned=asked, steps=_steps(settings.interval_steps, step, real))
    asked, real = _apart(levels.local.interval_s, settings.local_interval_s)
    steps = settings.interval_steps
    return say(
        "Local saves: {asked} = {local}. Shared: one in {ratio}, {steps} = {shared}",
        asked=asked, local=_steps(settings.local_steps, step, real), ratio=grouped(levels.ratio),
        steps=say("1 step") if steps == 1 else say("{steps} steps", steps=grouped(steps)),
        shared=brief(settings.interval_s, SECONDS),
    )  # fmt: skip


def _steps(steps: int, step: str, real: str) -> str:
    if steps == 1:
        return say("1 step of {step} = {real}", step=step, real=real)
    return say("{steps} steps of {step} = {real}", steps=grouped(steps), step=step, real=real)


def _apart(planned_s: float, real_s: float) -> tuple[str, str]:
    """Both times, with as many parts as tell them apart."""
    ways = (brief(planned_s, SECONDS), brief(real_s, SECONDS)), (_whole(planned_s), _whole(real_s))
    apart = next((pair for pair in ways if pair[0] != pair[1]), None)
    return apart or ways[0]


def _whole(seconds: float) -> str:
    """In hours, minutes and seconds, to the second."""
    return exact(float(round(seconds)), SECONDS) if seconds >= 60.0 else exact(round(seconds, 2), SECONDS)


def is_rounded(settings: Settings) -> bool:
    """Whether whole steps give another interval than the plan's, so much that it can be seen."""
    planned, real = settings.planned_interval_s, settings.interval_s
    if settings.plan.levels is not None and settings.local_interval_s is not None:
        planned, real = settings.plan.levels.local.interval_s, settings.local_interval_s
    asked, given = _apart(planned, real)
    return asked != given
