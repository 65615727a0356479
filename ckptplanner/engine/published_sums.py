"""What every comparison with a published run is made of: a plan or a formula with the inputs of the run.

An input that the source does not give is marked as assumed. What differs is said in one sentence.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ckptplanner.data import catalog
from ckptplanner.engine.evaluate import evaluate
from ckptplanner.engine.plan import Plan, Schedule, Waste
from ckptplanner.engine.scenario import CustomStorage, Scenario
from ckptplanner.frozen import with_value
from ckptplanner.text import Text, text
from ckptplanner.units import (
    SECONDS,
    brief,
)

ASSUMED = "assumed"
Input = tuple[Text, str, str]

INSTANT = CustomStorage(write_bytes_per_s=1e18, read_bytes_per_s=1e18, usable_bytes=1e18)


@dataclass(frozen=True, slots=True)
class Compared:
    """The planner's side of a card."""

    planner: Text
    planner_value: float | None
    reported_value: float | None
    why: Text
    inputs: tuple[Input, ...]


def plan_with(values: Mapping[str, Any]) -> Plan:
    """The plan of the default scenario with these values, by path."""
    scenario = Scenario()
    for path, value in values.items():
        scenario = with_value(scenario, path, value)
    return evaluate(scenario)


def found(plan: Plan) -> tuple[Schedule, Waste]:
    """Schedule and waste of a plan that has a file system."""
    assert plan.schedule is not None
    assert plan.waste is not None
    return plan.schedule, plan.waste


def time_words(seconds: float) -> str:
    """A time in three digits."""
    return brief(seconds, SECONDS)


def bytes_per_param(preset: str) -> Input:
    """The bytes of a layout, as an input that no source gives."""
    layout = catalog.layout(preset)
    return text("bytes for one parameter"), f"{layout.bytes_per_param:g}", ASSUMED
