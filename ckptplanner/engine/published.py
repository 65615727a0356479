"""Published runs: what was reported, what the planner says for the same inputs, and why they differ (docs/models.md 18.4)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from ckptplanner.data import catalog
from ckptplanner.data.records import PublishedRun, Status
from ckptplanner.engine.published_interruptions import INTERRUPTIONS
from ckptplanner.engine.published_saves import SAVES
from ckptplanner.engine.published_sums import ASSUMED, Input
from ckptplanner.text import Text, text

__all__ = ["ASSUMED", "Card", "cards"]


_SUMS = {**INTERRUPTIONS, **SAVES}


@dataclass(frozen=True, slots=True)
class Card:
    """One published quantity beside the planner's number; `planner` is None where there is nothing to compare.

    The two values are in one unit, the engine's (seconds, bytes, shares or plain counts). They are None where the words are
    no number; then there is no ratio.
    """

    id: str
    run: str
    scale: str
    title: Text
    reported: Text
    reported_value: float | None
    planner: Text | None
    planner_value: float | None
    ratio: float | None  # the planner's by the reported
    why: Text
    inputs: tuple[Input, ...]  # what, its value in words, where it is from: ASSUMED where from nowhere
    source: str
    date: str
    status: Status
    note: str


def _card(row: PublishedRun) -> Card:
    said = _SUMS[row.id]() if not row.nothing else None
    reported, ours = (said.reported_value, said.planner_value) if said is not None else (None, None)
    return Card(
        id=row.id,
        run=row.name,
        scale=row.scale,
        title=Text(row.quantity),
        reported=Text(row.words),
        reported_value=reported,
        planner=said.planner if said is not None else None,
        planner_value=ours,
        ratio=ours / reported if ours is not None and reported else None,
        why=said.why if said is not None else text("nothing to compare: {reason}", reason=Text(row.nothing)),
        inputs=said.inputs if said is not None else (),
        source=row.source,
        date=row.date,
        status=row.status,
        note=row.note,
    )


@lru_cache(maxsize=1)
def cards() -> tuple[Card, ...]:
    """Every published quantity, in the order of the file. Some forty plans are computed when it is first asked for."""
    return tuple(_card(row) for row in catalog.published_runs())
