"""What kind of plan a sheet is of: its formulas follow the model that gave the plan's numbers."""

from __future__ import annotations

from dataclasses import dataclass

from ckptplanner.engine.job import Job, ages
from ckptplanner.engine.losses import RENEWAL, model_of
from ckptplanner.engine.scenario import Scenario


@dataclass(frozen=True, slots=True)
class Kind:
    """How the formulas change from plan to plan."""

    classes: bool  # rows of restart classes are given
    pauses: bool  # some of them lose a step only
    only_pauses: bool
    levels: bool  # local saves come between the shared ones
    renewal: bool  # the gaps between interruptions have a memory
    ages: bool  # each node ages by itself
    custom: bool  # storage that exists

    @property
    def mean(self) -> str:
        """The cell of the time between the interruptions that the best interval is for."""
        return "{mtbi_shared}" if self.levels else "{mtbi_back}" if self.classes else "{mtbi}"


def kind_of(scenario: Scenario, job: Job) -> Kind:
    """The kind of a plan."""
    return Kind(
        classes=bool(scenario.restart.classes),
        pauses=job.ways.pause is not None,
        only_pauses=not job.ways.rollback.share,
        levels=job.levels is not None,
        renewal=model_of(job) == RENEWAL,
        ages=ages(scenario),
        custom=scenario.storage.custom is not None,
    )
