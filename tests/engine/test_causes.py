"""The formula's split by cause: it sums to the run, and each part is where it belongs."""

from __future__ import annotations

import pytest

from ckptplanner.engine.causes import formula_causes
from ckptplanner.engine.evaluate import evaluate
from ckptplanner.engine.scenario import Scenario
from ckptplanner.frozen import with_value


def causes(**values: object) -> dict[str, float]:
    scenario = Scenario()
    for path, value in values.items():
        scenario = with_value(scenario, path.replace("__", "."), value)
    found = formula_causes(evaluate(scenario))
    assert found is not None
    return found


def test_the_parts_sum_to_the_run() -> None:
    for values in ({}, {"planned__every_s": 604_800.0}, {"failures__downtime_s": 3600.0}, {"failures__mtbi_s": 20_000.0}):
        found = causes(**values)
        assert sum(found.values()) == pytest.approx(1.0, abs=1e-12)
        assert min(found.values()) >= 0.0


def test_article_a_splits_as_its_sum_does() -> None:
    """C = 5 s, t = 305 s, R = 890 s, M = 200 h, T in whole steps of 10 s: C/T, (T/2 + t)/M and R/M to first order."""
    plan = evaluate(Scenario())
    assert plan.schedule is not None
    found, interval, mtbi = causes(), plan.schedule.interval_s, plan.schedule.mtbi_s
    assert found["saving"] == pytest.approx(5.0 / interval, rel=1e-3)
    assert found["rework"] == pytest.approx((interval / 2 + 305.0) / mtbi, rel=0.01)
    assert found["restart"] == pytest.approx(plan.schedule.restart_s / mtbi, rel=0.01)
    assert found["down"] == found["planned"] == 0.0


def test_waiting_for_a_node_is_down() -> None:
    found, before = causes(failures__downtime_s=3600.0), causes()
    assert found["down"] == pytest.approx(3600.0 / 720_000.0, rel=0.02)
    assert found["rework"] == pytest.approx(before["rework"], rel=0.02)


def test_planned_stops_stand_apart() -> None:
    plan = evaluate(with_value(Scenario(), "planned.every_s", 604_800.0))
    assert plan.waste is not None
    assert causes(planned__every_s=604_800.0)["planned"] == plan.waste.planned_fraction
    assert plan.waste.total_fraction == pytest.approx(1.0 - causes(planned__every_s=604_800.0)["training"], abs=1e-12)


def test_without_a_schedule_there_is_no_split() -> None:
    plan = evaluate(with_value(with_value(Scenario(), "storage.mode", "sync"), "storage.interval_s", 10.0))
    assert plan.waste is None or plan.waste.chosen_fraction is None
    assert formula_causes(plan) is None
