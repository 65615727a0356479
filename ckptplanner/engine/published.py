"""Published runs: what was reported, what the planner says for the same inputs, and why they differ (docs/models.md 18)."""

from __future__ import annotations

from dataclasses import dataclass

from ckptplanner.data.records import Status
from ckptplanner.text import Text


@dataclass(frozen=True, slots=True)
class Card:
    """One published quantity beside the planner's number; `planner` is None where there is nothing to compare."""

    id: str
    run: str
    title: Text
    reported: Text
    reported_value: float | None
    planner: Text | None
    planner_value: float | None
    ratio: float | None  # the planner's by the reported
    why: Text
    inputs: tuple[tuple[Text, str, str], ...]  # what, its value in words, where it is from ("assumed" where nowhere)
    source: str
    date: str
    status: Status
