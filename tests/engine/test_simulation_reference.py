"""The simulator beside an event-by-event simulation of the same jobs that is written with SimPy and shares nothing with it."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache

import pytest

from ckptplanner.engine.simulation.run import simulate
from ckptplanner.engine.simulation.setup import Setup
from tests.engine import reference
from tests.engine.reference_cases import CASES, NODES, PLAIN, TWO_LEVELS, WAITING

RUNS = {"one level": 50, "one level that waits": 60, "two levels": 25, "two levels, often interrupted": 120}
MANY = 100  # where nothing is said
OURS = 4096


@cache
def played(name: str) -> reference.Found:
    """What the reference says; the slow part."""
    return reference.simulate(CASES[name].job, runs=RUNS.get(name, MANY), seed=len(name))


def errors_apart(setup: Setup, name: str) -> float:
    """How many standard errors of the difference lie between the wastes."""
    there, here = played(name), simulate(setup, runs=OURS, seed=1)
    noise = math.hypot(there.standard_error, here.standard_error)
    assert noise < 0.03 * here.waste_fraction, "an error so large that anything would do"
    return abs(here.waste_fraction - there.waste_fraction) / noise


@pytest.mark.parametrize("name", CASES)
def test_both_waste_the_same(name: str) -> None:
    assert errors_apart(CASES[name].setup, name) <= 3.0


@pytest.mark.parametrize("name", CASES)
def test_both_are_interrupted_as_often(name: str) -> None:
    here = sum(one.per_run for one in simulate(CASES[name].setup, runs=OURS, seed=1).by_class.values())
    assert played(name).interruptions == pytest.approx(here, rel=0.06)


WRONG = {
    "no restart": ("one level", replace(PLAIN.setup, causes=(replace(PLAIN.setup.causes[0], restart_s=0.0),))),
    "restorable at once": ("one level", replace(PLAIN.setup, background_s=0.0)),
    "no downtime": ("one level", replace(PLAIN.setup, downtime_s=0.0)),
    "no waiting": ("one level that waits", replace(WAITING.setup, overlap="parallel")),
    "saves in a queue": ("one level that waits", replace(WAITING.setup, overlap="queue")),
    "no local saves": ("two levels", replace(TWO_LEVELS.setup, local=None, interval_s=3 * 1207.0 + 60.0)),
    "nothing from local saves": (
        "two levels", replace(TWO_LEVELS.setup, causes=tuple(replace(one, level="shared") for one in TWO_LEVELS.setup.causes)),
    ),
    "no shared stops": ("two levels", replace(TWO_LEVELS.setup, lost_s=0.0)),
    "groups that last": ("copies and a spare", replace(NODES.setup, replicas=None)),
    "more spares": ("copies and a spare", replace(NODES.setup, spares=replace(NODES.setup.spares, nodes=2))),  # type: ignore[type-var]
}  # fmt: skip


@pytest.mark.parametrize(("name", "setup"), WRONG.values(), ids=WRONG)
def test_a_part_that_is_wrong_would_show(name: str, setup: Setup) -> None:
    assert errors_apart(setup, name) > 4.0
