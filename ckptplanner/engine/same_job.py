"""Which plans are for the same job, so that one may be chosen instead of another."""

from __future__ import annotations

from collections.abc import Sequence

from ckptplanner.engine.scenario import NamedScenario


def same_job(shown: NamedScenario, others: Sequence[NamedScenario]) -> tuple[NamedScenario, ...]:
    """The other plans for the same job: those that differ in what is decided alone, storage, replicas, local level, spares."""
    decided = ("storage", "replication", "local", "spares")
    facts = shown.scenario.model_copy(update={name: None for name in decided})
    return tuple(
        other for other in others
        if other.name != shown.name and other.scenario.model_copy(update={name: None for name in decided}) == facts
    )  # fmt: skip
