"""The plan's permanent saves in the terms of what deletes generations: multiples of which steps stay, and which leave for S3.

A row of the plan goes to shared storage, where its generations stay for good, or to S3, where copies of them stay.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from ckptplanner.engine.plan import Finding, finding
from ckptplanner.engine.settings.target import Settings
from ckptplanner.units import grouped


def permanent_steps(settings: Settings, to: Literal["shared", "s3"] = "shared") -> tuple[int, ...]:
    """How often a generation stays for good there: in steps, multiples of the interval, ascending; none that another covers."""
    rows = (row for row in settings.plan.scenario.saves if row.kind == "permanent" and row.to == to)
    every = {max(1, round(row.every_s / settings.interval_s)) for row in rows if row.every_s is not None}
    own = (one for one in sorted(every) if not any(one % other == 0 for other in every if other < one))
    return tuple(one * settings.interval_steps for one in own)


def steps_shown(steps: tuple[int, ...]) -> str:
    """Their multiples, in words: 268 or 402."""
    return " or ".join(map(grouped, steps))


def are_deleted(settings: Settings, name: str, keep: int) -> Iterator[Finding]:
    """Said where what is called `name` keeps the newest and knows no permanent saves."""
    if steps := permanent_steps(settings):
        yield finding(
            "warning", "saves",
            "{name} deletes permanent saves like any other: copy what is a multiple of {steps} steps out of the folder before "
            "{keep} newer ones are complete.",
            name=name, steps=steps_shown(steps), keep=grouped(keep),
        )  # fmt: skip
    yield from leave_for_s3(settings, name, keep)


def leave_for_s3(settings: Settings, name: str, keep: int) -> Iterator[Finding]:
    """Said by all that delete: the copy in S3 is made by somebody else, and before."""
    if steps := permanent_steps(settings, "s3"):
        yield finding(
            "warning", "saves",
            "{name} deletes the saves that are to stay in S3 too: copy what is a multiple of {steps} steps to S3 before {keep} "
            "newer ones are complete. Target s3-dra exports the folder that they are copied to.",
            name=name, steps=steps_shown(steps), keep=grouped(keep),
        )  # fmt: skip
