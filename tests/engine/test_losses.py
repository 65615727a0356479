"""Which model gives the plan's number, and that it is the number of that model."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ckptplanner.engine.evaluate import evaluate
from ckptplanner.engine.laws import Weibull
from ckptplanner.engine.operations import RestartClass
from ckptplanner.engine.plan import Plan
from ckptplanner.engine.renewal import renewal_waste_fraction
from ckptplanner.engine.scenario import Scenario
from ckptplanner.frozen import with_value
from ckptplanner.units import DAY, HOUR

GAPS = tuple(float(gap) for gap in (3.0, 10.0, 1.0, 50.0, 7.0, 22.0, 5.0, 90.0, 0.5, 160.0, 31.0, 12.0) for _ in range(4))


def plan_with(**values: Any) -> Plan:
    scenario = Scenario()
    for name, value in values.items():
        scenario = with_value(scenario, name.replace("__", "."), value)
    return evaluate(scenario)


@pytest.mark.parametrize(
    ("values", "model"),
    [
        ({}, "exponential"),
        ({"storage__interval_s": 200.0}, "exponential"),
        ({"failures__weibull_shape": 0.7}, "renewal"),
        ({"failures__law": "lognormal"}, "renewal"),
        ({"failures__law": "empirical", "failures__gaps_s": GAPS}, "renewal"),
        ({"failures__law": "empirical"}, "exponential"),  # and an error finding
        ({"failures__weibull_shape": 0.7, "failures__clock": "nodes"}, "exponential"),
        ({"local__enabled": True}, "two_levels"),
        ({"local__enabled": True, "failures__weibull_shape": 0.7}, "two_levels"),
    ],
)
def test_the_rule(values: dict[str, Any], model: str) -> None:
    waste = plan_with(**values).waste
    assert waste is not None
    assert waste.exact_model == model


def test_article_a_at_shape_one_half() -> None:
    """THEORY 2.1: .5202 % for k = .5 against .5381 % for k = 1, at Young's T with R = 900 s and t_a = 300 s."""
    read = plan_with().schedule
    assert read is not None
    values = {"failures__start_s": 900.0 - 360.0 - read.restore_read_s, "storage__interval_s": 2683.281573}
    for shape, waste in ((0.5, 0.005202), (1.0, 0.005381)):
        found = plan_with(failures__weibull_shape=shape, **values).waste
        assert found is not None
        assert found.exact_fraction == pytest.approx(waste, abs=5e-7)


def test_the_interval_is_the_numeric_optimum() -> None:
    plan = plan_with(failures__weibull_shape=0.5, failures__mtbi_s=20 * HOUR, storage__blocking_s=60.0)
    schedule, waste = plan.schedule, plan.waste
    assert schedule is not None
    assert waste is not None

    def at(interval_s: float) -> float:
        t, c = np.array(interval_s), np.array(60.0)
        return float(
            renewal_waste_fraction(
                law=Weibull(schedule.mtbi_s, 0.5), interval_s=t, lost_s=c, background_s=np.array(schedule.write_s), period_s=t,
                restart_s=np.array(schedule.restart_s), downtime_s=0.0,
            )
        )  # fmt: skip

    assert waste.exact_fraction == pytest.approx(at(schedule.interval_s), rel=1e-9)
    assert at(schedule.interval_s) <= min(at(schedule.interval_s * 0.98), at(schedule.interval_s * 1.02))
    assert schedule.interval_s > schedule.young_interval_s  # a little longer than Young's where k is below 1


@pytest.mark.parametrize("shape", [0.5, 0.7])
def test_bursts_waste_less_at_the_same_mean(shape: float) -> None:
    """THEORY 2.1: at the same M, k < 1 means less waste."""
    bursts, chance = plan_with(failures__weibull_shape=shape).waste, plan_with().waste
    assert bursts is not None
    assert chance is not None
    assert bursts.exact_fraction is not None
    assert chance.exact_fraction is not None
    assert bursts.exact_fraction < chance.exact_fraction
    assert bursts.first_order_fraction == pytest.approx(chance.first_order_fraction, rel=0.02)


def test_young_nodes_interrupt_more_often() -> None:
    """THEORY 2.3: with a fleet one year old and k = .5, the mean over the first 30 days is 903 s, not 7,524 s."""
    nodes = 2**19
    values = {
        "workload__nodes": nodes, "failures__mtbi_nodes": nodes, "failures__mtbi_s": 7524.0, "run__days": 30.0,
        "failures__weibull_shape": 0.5, "failures__clock": "nodes", "failures__fleet_age_s": 365 * DAY,
    }  # fmt: skip
    young = plan_with(**values)
    assert young.schedule is not None
    assert young.schedule.mtbi_s == pytest.approx(903.0, rel=0.02)
    assert any(one.path == "failures.fleet_age_s" for one in young.findings)
    mean_s = 0.1 * 365 * DAY / nodes  # nodes that fail ten times a year are aged after ten years
    aged = plan_with(**(values | {"failures__mtbi_s": mean_s, "failures__fleet_age_s": 3650 * DAY})).schedule
    assert aged is not None
    assert aged.mtbi_s == pytest.approx(mean_s, rel=0.01)


def test_the_gaps_of_a_log_are_scaled_to_the_mean() -> None:
    """Twice the gaps are the same law: their shape counts, M is given for itself."""
    once = plan_with(failures__law="empirical", failures__gaps_s=GAPS)
    twice = plan_with(failures__law="empirical", failures__gaps_s=tuple(2 * gap for gap in GAPS))
    assert once.waste is not None
    assert twice.waste is not None
    assert once.waste.exact_fraction == pytest.approx(twice.waste.exact_fraction, rel=1e-9)
    assert once.schedule is not None
    assert once.schedule.mtbi_s == 720_000.0


def test_pauses_and_a_memory_are_an_approximation_that_is_said() -> None:
    rows = (RestartClass(share=0.5, rework="step", reads_from="peer"), RestartClass(share=0.5))
    plan = plan_with(failures__weibull_shape=0.7, restart__classes=rows)
    assert any(one.path == "restart.classes" and "approximation" in one.message for one in plan.findings)


def test_an_empirical_law_without_gaps_is_an_error() -> None:
    plan = plan_with(failures__law="empirical")
    assert any(one.severity == "error" and one.path == "failures.gaps_s" for one in plan.findings)


def test_two_levels_say_that_they_are_memoryless() -> None:
    plan = plan_with(local__enabled=True, failures__weibull_shape=0.7)
    assert any(one.severity == "warning" and one.path == "failures.law" for one in plan.findings)
