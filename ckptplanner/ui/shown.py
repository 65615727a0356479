"""What every view is handed: the plans side by side, which one is current, which one is the base."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ckptplanner.engine.plan import Plan
from ckptplanner.engine.same_job import same_job
from ckptplanner.engine.scenario import NamedScenario


@dataclass(frozen=True, slots=True)
class Shown:
    """One scenario with its plan; `index` gives it the same mark everywhere."""

    named: NamedScenario
    plan: Plan
    index: int
    is_current: bool
    is_base: bool
    is_stage: bool = False  # of the campaign

    @property
    def name(self) -> str:
        """The scenario's name."""
        return self.named.name


def current_of(shown: Sequence[Shown]) -> Shown:
    """The one that is being edited."""
    return next(one for one in shown if one.is_current)


def base_of(shown: Sequence[Shown]) -> Shown | None:
    """The one that others are compared with, unless it is the current one itself."""
    return next((one for one in shown if one.is_base and not one.is_current), None)


def rivals_of(shown: Sequence[Shown]) -> tuple[Shown, ...]:
    """The other plans for the same job whose dollars are known and that work: one of them could be chosen instead."""
    near = {one.name for one in same_job(current_of(shown).named, [one.named for one in shown])}
    return tuple(
        one for one in shown
        if one.name in near and one.plan.cost is not None and one.plan.cost.total_usd_per_year is not None
        and not one.plan.count("error")
    )  # fmt: skip
