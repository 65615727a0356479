"""Failures of ageing nodes (docs/models.md 15.3): against played fleets, the renewal equation, and published traces."""

from __future__ import annotations

import math

import numpy as np
import pytest

from ckptplanner.engine.fleet import MOST_TIMES_NOMINAL, cumulative_failures, expected_failures, fleet_mtbi_s
from ckptplanner.engine.laws import Weibull
from ckptplanner.frozen import FloatArray
from ckptplanner.units import DAY

YEAR = 365.25 * DAY


def by_equation(shape: float, end: float, steps: int) -> FloatArray:
    """H on an even grid up to `end` means: the renewal equation as a sum over steps, F taken in the middle of each."""
    law, time = Weibull(1.0, shape), np.linspace(0.0, end, steps + 1)
    ended = 1.0 - law.survival(time)
    middle = 1.0 - law.survival(0.5 * (time[1:] + time[:-1]))
    failures = np.zeros(steps + 1)
    for i in range(1, steps + 1):
        rest = float(np.diff(failures[:i]) @ middle[1:i][::-1]) if i > 1 else 0.0
        failures[i] = (ended[i] + rest - middle[0] * failures[i - 1]) / (1.0 - middle[0])
    return failures


@pytest.mark.parametrize("shape", [0.4, 0.7, 1.5, 3.0, 10.0])
def test_the_renewal_equation_holds(shape: float) -> None:
    steps = 900
    expected = by_equation(shape, 6.0, steps)[60:]
    found = cumulative_failures(shape, 1.0, 0.0, np.linspace(0.0, 6.0, steps + 1))[60:]
    assert found == pytest.approx(expected, rel=2e-3)


@pytest.mark.parametrize(
    ("shape", "age", "run"), [(0.5, 0.02, 0.005), (0.5, 0.5, 0.5), (0.7, 0.0, 0.1), (2.0, 0.5, 0.1), (4.0, 1.5, 1.0)]
)
def test_played_nodes_fail_as_often(shape: float, age: float, run: float) -> None:
    random, nodes = np.random.default_rng(11), 200_000
    time, counts = np.zeros(nodes), np.zeros(nodes)
    alive = np.arange(nodes)
    while len(alive) > 0:
        time[alive] += Weibull(1.0, shape).draw(random, len(alive))
        alive = alive[time[alive] <= age + run]
        counts[alive] += time[alive] > age
    error = float(counts.std() / math.sqrt(nodes))
    assert error < 0.03 * counts.mean()
    assert abs(expected_failures(shape, 1.0, age, run) - counts.mean()) < 4.0 * error


@pytest.mark.parametrize(
    ("shape", "nodes", "observed"), [(0.7, 2**16, 17_250), (0.7, 2**19, 2_138), (0.5, 2**16, 7_195), (0.5, 2**19, 903)]
)
def test_young_processors_fail_as_in_the_traces(shape: float, nodes: int, observed: float) -> None:
    """125 years for one of them, a year old: what a job sees in its first 30 days. Means of 100 to 200 traces."""
    nominal = 125 * YEAR / nodes
    assert nominal == pytest.approx({2**16: 60_191, 2**19: 7_524}[nodes], rel=1e-3)
    assert fleet_mtbi_s(nominal, nodes, shape, YEAR, 30 * DAY) == pytest.approx(observed, rel=0.01)


def test_shape_one_knows_no_age() -> None:
    assert expected_failures(1.0, 50.0, 3.0, 10.0) == 10.0 / 50.0
    assert fleet_mtbi_s(720_000.0, 32, 1.0, 0.0, 90 * DAY) == pytest.approx(720_000.0, rel=1e-12)


@pytest.mark.parametrize("shape", [0.2, 0.5, 0.9, 2.0, 10.0])
@pytest.mark.parametrize("age", [1e4, 1e5, 1e9])
def test_an_old_fleet_fails_at_its_mean(shape: float, age: float) -> None:
    assert expected_failures(shape, 1.0, age, 0.01) == pytest.approx(0.01, rel=2e-3)


@pytest.mark.parametrize("shape", [0.3, 0.999_999, 1.000_001, 3.0])
def test_long_before_the_mean_it_is_the_first_failure(shape: float) -> None:
    run = 1e-6 if shape > 0.5 else 1e-12
    first = float(1.0 - Weibull(1.0, shape).survival(np.asarray(run)))
    assert expected_failures(shape, 1.0, 0.0, run) == pytest.approx(first, rel=2e-3)


@pytest.mark.parametrize("shape", [0.3, 0.7, 2.0, 10.0])
@pytest.mark.parametrize("age", [0.0, 0.008, 1.0, 5.0, 100.0])
def test_failures_add_up_along_a_run(shape: float, age: float) -> None:
    """Short runs are counted from the density and long ones from H: both must give the same."""
    times = np.linspace(0.0, 0.2 * age if age > 0.0 else 1.0, 101)
    counts = cumulative_failures(shape, 1.0, age, times)
    assert counts[0] == 0.0
    assert np.all(np.diff(counts) >= 0.0)
    assert counts.shape == times.shape
    halves = expected_failures(shape, 1.0, age, times[50]) + expected_failures(shape, 1.0, age + times[50], times[50])
    assert counts[-1] == pytest.approx(halves, rel=2e-3)


def test_young_fleets_fail_more_below_one_and_less_above() -> None:
    by_age = [fleet_mtbi_s(720_000.0, 32, 0.6, age, 30 * DAY) for age in (0.0, 0.1 * YEAR, YEAR, 10 * YEAR)]
    assert by_age == sorted(by_age)
    assert by_age[0] < 0.5 * 720_000.0
    assert by_age[-1] < 720_000.0
    assert fleet_mtbi_s(720_000.0, 32, 3.0, 0.0, 30 * DAY) > 720_000.0
    # hardly anything fails at all: finite nevertheless
    assert fleet_mtbi_s(720_000.0, 32, 10.0, 0.0, 1.0) == 720_000.0 * MOST_TIMES_NOMINAL
