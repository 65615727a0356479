"""Two levels of checkpoints: E5 and E6 against the printed numbers, against E1 at their limits, and as the plan uses them.

Golden values come from the models' page (THEORY 3.2, 3.3 and 6, kept in docs/models.md 16).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ckptplanner.engine.evaluate import evaluate
from ckptplanner.engine.interval import exact_waste_fraction, optimal_interval_s
from ckptplanner.engine.levels import Level, first_order_parts, ratios, shared_interval_s, two_level_waste_fraction
from ckptplanner.engine.operations import RestartClass
from ckptplanner.engine.plan import Plan
from ckptplanner.engine.restarts import each_way
from ckptplanner.engine.scenario import Scenario
from ckptplanner.frozen import with_value
from ckptplanner.units import HOUR

# w, C1, t1, R1, M1 / n / C3, t3, R3, M3 -> E6, E5
ROWS = [
    ((2678, 5, 60, 300, 267 * HOUR), 4, (5, 1200, 900, 800 * HOUR), 0.00668, 0.00670),
    ((1187, 20, 60, 300, 10 * HOUR), 3, (60, 1800, 1500, 40 * HOUR), 0.09304, 0.09631),
    ((600, 20, 60, 300, 5 * HOUR), 12, (60, 6000, 1500, 80 * HOUR), 0.12060, 0.11774),
    ((523, 20, 60, 300, 2 * HOUR), 3, (60, 1800, 900, 8 * HOUR), 0.26453, 0.28808),
    ((445, 30, 60, 300, HOUR), 3, (120, 1200, 900, 3 * HOUR), 0.48642, 0.59287),
]


def at(interval_s: float, ratio: float) -> dict[str, Any]:
    return {"interval_s": np.array(float(interval_s)), "ratio": np.array(float(ratio))}


@pytest.mark.parametrize(("own", "ratio", "far", "nested", "first"), ROWS)
def test_the_printed_rows(own: tuple[float, ...], ratio: int, far: tuple[float, ...], nested: float, first: float) -> None:
    work, *rest = own
    local, shared = Level(*rest), Level(*far)
    where = at(work + rest[0], ratio)
    assert two_level_waste_fraction(local, shared, uploads_survive=False, **where) == pytest.approx(nested, abs=5e-6)
    assert sum(first_order_parts(local, shared, **where)) == pytest.approx(first, abs=5e-6)


@pytest.mark.parametrize(("survive", "waste"), [(False, 0.09304039185), (True, 0.09181825064)])
def test_uploads_that_die_and_that_survive(survive: bool, waste: float) -> None:
    local, shared = Level(20.0, 60.0, 300.0, 10 * HOUR), Level(60.0, 1800.0, 1500.0, 40 * HOUR)
    found = two_level_waste_fraction(local, shared, uploads_survive=survive, **at(1207.0, 3))
    assert found == pytest.approx(waste, rel=1e-9)


def test_without_local_interruptions_it_is_one_level() -> None:
    """The local saves still stop training; what is left is E1 with the stops of one pattern."""
    local, shared = Level(5.0, 60.0, 300.0, np.inf), Level(60.0, 1800.0, 1500.0, 40 * HOUR)
    found = two_level_waste_fraction(local, shared, uploads_survive=False, downtime_s=120.0, **at(1000.0, 4))
    period = np.array(4 * 1000.0 + 60.0)
    one = exact_waste_fraction(
        interval_s=period, lost_s=np.array(4 * 5.0 + 60.0), background_s=np.array(1800.0), period_s=period,
        restart_s=np.array(1500.0), downtime_s=120.0, mtbi_s=40 * HOUR,
    )  # fmt: skip
    assert found == pytest.approx(float(one), rel=1e-12)


def test_without_shared_interruptions_it_is_the_local_level() -> None:
    local, shared = Level(5.0, 60.0, 300.0, 10 * HOUR), Level(0.0, 1800.0, 1500.0, np.inf)
    found = two_level_waste_fraction(local, shared, uploads_survive=False, **at(1000.0, 4))
    one = exact_waste_fraction(
        interval_s=np.array(1000.0), lost_s=np.array(5.0), background_s=np.array(60.0), period_s=np.array(1000.0),
        restart_s=np.array(300.0), downtime_s=0.0, mtbi_s=10 * HOUR,
    )  # fmt: skip
    assert found == pytest.approx(float(one), rel=1e-12)


def test_without_interruptions_the_stops_are_left() -> None:
    local, shared = Level(20.0, 60.0, 300.0, np.inf), Level(60.0, 1800.0, 1500.0, np.inf)
    found = two_level_waste_fraction(local, shared, uploads_survive=False, downtime_s=120.0, **at(1207.0, 3))
    assert found == pytest.approx((3 * 20.0 + 60.0) / (3 * 1207.0 + 60.0), rel=1e-12)


times = st.floats(1.0, 1e5)


@settings(max_examples=200, deadline=None)
@given(
    costs=st.tuples(times, times, times, times, times, times), means=st.tuples(st.floats(10.0, 1e9), st.floats(10.0, 1e9)),
    work=times, ratio=st.integers(1, 500), survive=st.booleans(), longer=st.floats(1.0, 100.0),
)  # fmt: skip
def test_it_is_a_share_and_rarer_interruptions_waste_less(
    costs: tuple[float, ...], means: tuple[float, float], work: float, ratio: int, survive: bool, longer: float
) -> None:
    def waste(scale: float, rarer: float) -> float:
        local = Level(costs[0] * scale, costs[1] * scale, costs[2] * scale, means[0] * scale * rarer)
        shared = Level(costs[3] * scale, costs[4] * scale, costs[5] * scale, means[1] * scale * rarer)
        where = at((work + costs[0]) * scale, ratio)
        return float(two_level_waste_fraction(local, shared, uploads_survive=survive, **where))

    now = waste(1.0, 1.0)
    assert 0.0 <= now <= 1.0
    assert waste(1.0, longer) <= now + 1e-12
    assert waste(7.0, 1.0) == pytest.approx(now, rel=1e-9, abs=1e-12)  # all times longer alike


def test_the_ratio_is_rounded_both_ways_and_leaves_time_for_the_write() -> None:
    shared = Level(60.0, 5000.0, 0.0, np.inf)
    local, best = np.array([1000.0, 1000.0, 9000.0]), np.array([3460.0, 8460.0, 3460.0])
    down, up = ratios(local, best, shared)
    assert down.tolist() == [5.0, 8.0, 1.0]  # 5,000 s of writing need five local intervals of 1,000 s
    assert up.tolist() == [5.0, 9.0, 1.0]
    assert shared_interval_s(np.array(1000.0), 60.0, np.array(5.0)) == 5060.0


# ---------------------------------------------------------------- in the plan


def plan_with(**values: Any) -> Plan:
    scenario = Scenario()
    for name, value in values.items():
        scenario = with_value(scenario, name.replace("__", "."), value)
    return evaluate(scenario)


COPIES = {"local__enabled": True, "replication__factor": 2}


def test_the_articles_example_with_copies() -> None:
    """THEORY 3.3: cheaper storage, not lower waste: 125 MB/s/TiB × 7,200 GiB for $1,044, η 0.615 %."""
    plan = plan_with(storage__write_s=1936.0, **COPIES)
    assert plan.levels is not None
    assert plan.storage.chosen is not None
    assert plan.levels.local.interval_s == pytest.approx(2830, abs=1)
    assert plan.levels.ratio == 3
    assert plan.schedule is not None
    assert plan.schedule.interval_s == pytest.approx(8495, abs=2)
    assert (plan.storage.chosen.id, plan.storage.chosen.usd_per_month) == ("p2-125-7200", 1044.0)
    assert plan.waste is not None
    assert plan.waste.exact_fraction == pytest.approx(0.00615, abs=5e-6)
    assert plan.waste.exact_model == "two_levels"


def test_copies_that_block_longer() -> None:
    plan = plan_with(storage__write_s=1936.0, local__blocking_s=8.0, **COPIES)
    assert plan.levels is not None
    assert plan.levels.ratio == 2
    assert plan.levels.waste_fraction == pytest.approx(0.00710, abs=5e-6)


def test_without_copies_local_saves_bring_nothing_and_that_is_said() -> None:
    plan = plan_with(local__enabled=True)
    assert plan.levels is not None
    assert plan.levels.ratio == 1  # THEORY 3.3: no gain
    assert plan.levels.single_level_fraction == pytest.approx(0.00537, abs=5e-6)
    assert any(one.path == "local.enabled" and "bring nothing" in one.message for one in plan.findings)


def test_with_a_memory_both_are_compared_without_it() -> None:
    """Two levels are computed for memoryless interruptions, so the single level beside them is too."""
    memoryless, bursts = plan_with(local__enabled=True), plan_with(local__enabled=True, failures__weibull_shape=0.5)
    assert memoryless.levels is not None
    assert bursts.levels is not None
    assert bursts.levels.single_level_fraction == memoryless.levels.single_level_fraction
    assert any("with memoryless interruptions" in one.message for one in bursts.findings if one.path == "local.enabled")


def test_the_ways_to_restart_make_the_mean() -> None:
    assert [way.share for way in each_way(plan_with())] == [1.0]
    rows = (RestartClass(share=0.9, reads_from="peer", rework="step", detect_s=1.0), RestartClass(share=0.3))
    for plan in (plan_with(**COPIES), plan_with(local__enabled=True), plan_with(restart__classes=rows)):
        ways = each_way(plan)
        assert plan.schedule is not None
        assert len(ways) == 2
        assert ways[0].share >= ways[1].share
        assert sum(way.share for way in ways) == pytest.approx(1.0)
        assert sum(way.share * way.restart_s for way in ways) == pytest.approx(plan.schedule.restart_s, abs=1e-3)


def test_with_restart_classes_the_finding_says_which_rule_counts() -> None:
    rows = (RestartClass(share=0.9, reads_from="peer", rework="step"), RestartClass(share=0.1, reads_from="shared"))
    (said,) = [one.message for one in plan_with(restart__classes=rows, **COPIES).findings if one.path == "local.enabled"]
    assert said.startswith("No restart class goes back to a save on the nodes")
    assert "Survive" in said


def test_the_ratio_is_the_best_of_all() -> None:
    """Rounding T3*/T1 is enough here: no other whole ratio wastes less."""
    free = plan_with(storage__write_s=1200.0, **COPIES).levels
    assert free is not None
    others = [plan_with(storage__write_s=1200.0, local__ratio=ratio, **COPIES).levels for ratio in range(1, 9)]
    wastes = [one.waste_fraction for one in others if one is not None and one.waste_fraction is not None]
    assert free.waste_fraction == pytest.approx(min(wastes), rel=1e-12)


def test_what_is_given_is_kept() -> None:
    plan = plan_with(local__interval_s=1800.0, local__ratio=5, **COPIES)
    assert plan.levels is not None
    assert (plan.levels.local.interval_s, plan.levels.ratio) == (1800.0, 5)
    assert plan.schedule is not None
    assert plan.schedule.interval_s == 5 * 1800.0 + 5.0


def test_a_shared_interval_that_is_asked_for_is_met_by_whole_local_ones() -> None:
    plan = plan_with(storage__interval_s=10_000.0, **COPIES)
    assert plan.schedule is not None
    assert plan.levels is not None
    assert plan.schedule.interval_s == pytest.approx(10_000.0, rel=1e-12)
    assert plan.levels.ratio * plan.levels.local.interval_s + 5.0 == pytest.approx(10_000.0, rel=1e-12)


def test_a_write_that_does_not_fit_makes_training_wait() -> None:
    plan = plan_with(local__interval_s=600.0, local__ratio=2, storage__write_s=1900.0, **COPIES)
    assert plan.schedule is not None
    assert plan.schedule.period_s == pytest.approx(2 * 600.0 + 5.0 + 700.0)
    assert any("training stands still" in one.message for one in plan.findings)


def test_rows_of_restart_classes_decide_by_what_they_read() -> None:
    rows = (
        RestartClass(share=0.6, reads_from="local"), RestartClass(share=0.1, reads_from="shared"),
        RestartClass(share=0.3, reads_from="peer", rework="step"),
    )  # fmt: skip
    plan = plan_with(restart__classes=rows, local__enabled=True)
    assert plan.levels is not None
    assert plan.levels.local.mtbi_s == pytest.approx(720_000.0 / 0.6)
    assert plan.levels.shared.mtbi_s == pytest.approx(720_000.0 / 0.1)


def test_lost_groups_go_back_to_shared_storage() -> None:
    """A third of the losses in a rack that holds whole groups: more of them reach shared storage."""
    few = plan_with(**COPIES).levels
    many = plan_with(replication__rack_nodes=8, replication__rack_loss_interval_s=2e7, **COPIES).levels
    assert few is not None
    assert many is not None
    assert few.shared.mtbi_s is not None
    assert many.shared.mtbi_s is not None
    rate = 4 / 2e7  # 4 racks
    assert 1 / many.shared.mtbi_s - 1 / few.shared.mtbi_s == pytest.approx(rate, rel=1e-9)


def test_shares_that_do_not_sum_are_an_error() -> None:
    plan = plan_with(failures__node_share=0.3, **COPIES)
    assert any(one.severity == "error" and one.path == "failures.process_share" for one in plan.findings)


def test_a_local_save_that_takes_longer_than_its_interval_is_an_error() -> None:
    plan = plan_with(local__interval_s=50.0, **COPIES)
    assert any(one.severity == "error" and one.path == "local.interval_s" for one in plan.findings)


def test_the_local_interval_is_e2_of_its_own_interruptions() -> None:
    plan = plan_with(**COPIES)
    assert plan.levels is not None
    assert plan.levels.local.mtbi_s is not None
    best = optimal_interval_s(np.array(5.0), plan.levels.local.mtbi_s)
    assert plan.levels.local.interval_s == pytest.approx(float(best), rel=1e-12)


@pytest.mark.parametrize(("factor", "written"), [(1, "local_write"), (2, "replicate")])
def test_the_way_of_the_data_knows_the_local_level(factor: int, written: str) -> None:
    """Without copies the drives are written by themselves, with them by the exchange; either way one restores from them."""
    path = plan_with(local__enabled=True, replication__factor=factor).datapath
    assert path is not None
    assert {phase.name for phase in path.phases if phase.is_used} >= {written, "restore_local"}
    assert path.phase("local_write").is_used == (factor == 1)
