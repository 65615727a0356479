"""What to measure next: a decision that stands while the truth moves, and what that costs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ckptplanner.engine.evaluate import evaluate
from ckptplanner.engine.measure import HOW_TO_MEASURE
from ckptplanner.engine.ranges import TABLE, range_of, ranges_of
from ckptplanner.engine.regret import COMMANDS, best_of, change_words, decide, held, how_to, regret_sentence, regrets
from ckptplanner.engine.scenario import CustomStorage, NamedScenario, Scenario
from ckptplanner.frozen import with_value
from ckptplanner.units import MONTHS_PER_YEAR
from tests.engine.build import STEADY, scenario

PLAN = NamedScenario(name="5 min", scenario=scenario())
SLOW = NamedScenario(name="20 min", scenario=scenario(storage={"write_s": 1200.0}))


def total(made: Scenario) -> float:
    cost = evaluate(made).cost
    assert cost is not None
    assert cost.total_usd_per_year is not None
    return cost.total_usd_per_year


MADE = st.fixed_dictionaries({
    "storage.write_s": st.sampled_from([60.0, 300.0, 1200.0]),
    "storage.mode": st.sampled_from(["async", "sync"]),
    "storage.max_fill": st.sampled_from([1.0, 0.85]),
    "local.enabled": st.booleans(),
    "storage.whole_steps": st.booleans(),
    "shared.jobs": st.sampled_from([1, 3]),
})  # fmt: skip


@settings(STEADY, max_examples=20)
@given(MADE)
def test_deciding_changes_nothing_while_the_truth_stays(made: dict[str, Any]) -> None:
    plan = scenario(made)
    decision = decide(plan)
    assert decision is not None
    assert total(held(decision, lambda same: same)) == pytest.approx(total(plan), rel=1e-9)


def test_the_decided_plan_is_the_one_of_the_least_total() -> None:
    """The tooth of SPEC's 5-minute plan: 242 s, 1,000 MB/s/TiB x 7,200 GiB, as the mark of the plan view has it."""
    decision, least = best_of([PLAN, SLOW]), evaluate(PLAN.scenario).curves.least_total
    assert decision is not None
    assert least is not None
    assert decision.option.id == "p2-1000-7200"
    assert decision.write_s == pytest.approx(least.least_at)
    assert total(decision.scenario) == pytest.approx(least.least_value * MONTHS_PER_YEAR, rel=1e-9)


def test_what_is_held_while_interruptions_change() -> None:
    decision = decide(PLAN.scenario)
    assert decision is not None
    plan = evaluate(held(decision, lambda one: with_value(one, "failures.mtbi_s", 72_000.0)))
    today = evaluate(PLAN.scenario)
    assert plan.schedule is not None
    assert today.schedule is not None
    assert plan.storage.chosen is not None
    assert plan.storage.chosen.id == "p2-500-12000"
    assert (plan.schedule.write_s, plan.schedule.interval_s) == (300.0, today.schedule.interval_s)
    assert plan.schedule.best_interval_s < plan.schedule.interval_s


def test_a_file_system_that_is_slower_than_thought_takes_longer() -> None:
    decision = decide(PLAN.scenario)
    assert decision is not None
    plan = evaluate(held(decision, lambda one: with_value(one, "storage.write_efficiency", 0.5)))
    assert plan.schedule is not None
    assert plan.storage.chosen is not None
    assert plan.storage.chosen.id == "p2-500-12000"
    assert plan.schedule.write_s == pytest.approx(124.45e9 * 14 / 3e9)  # half of 6 GB/s
    assert plan.schedule.write_s == plan.schedule.writes_in_s
    assert plan.count("error") == 0


def test_a_file_system_grows_where_the_generations_do_not_fit_and_never_shrinks() -> None:
    decision = decide(SLOW.scenario)
    assert decision is not None
    assert decision.option.id == "p2-250-7200"  # 90 % full
    twice = held(decision, lambda one: with_value(one, "workload.total_params", 2 * 124.45e9))
    assert twice.storage.tier == "p2-250-14400"
    half = held(decision, lambda one: with_value(one, "workload.total_params", 0.5 * 124.45e9))
    assert half.storage.tier == "p2-250-7200"


@settings(STEADY, max_examples=12)
@given(MADE)
def test_a_regret_is_never_below_zero_and_rows_are_ranked(made: dict[str, Any]) -> None:
    plan = NamedScenario(name="p", scenario=scenario(made))
    rows = regrets([plan])
    found = [row.usd_per_year for row in rows if row.usd_per_year is not None]
    assert found == sorted(found, reverse=True)
    assert all(value >= 0.0 for value in found)
    assert {row.path for row in rows} == {one.path for one in ranges_of(plan) if one.is_uncertain}


def test_a_regret_is_the_difference_of_two_plans() -> None:
    decision = best_of([PLAN])
    assert decision is not None
    for row in regrets([PLAN]):
        for end in (row.low, row.high):

            def change(one: Scenario, value: float = end.value, put: Any = row.range.lever.put) -> Scenario:
                changed: Scenario = put(one, value)
                return changed

            cost = total(held(decision, change))
            again = best_of([PLAN], change)
            assert again is not None
            assert end.held_usd_per_year == pytest.approx(cost, rel=1e-12)
            assert end.best_usd_per_year == pytest.approx(min(cost, total(again.scenario)), rel=1e-9)
            assert end.regret_usd_per_year == pytest.approx(cost - (end.best_usd_per_year or 0.0), abs=1e-3)


def test_no_regret_without_a_range() -> None:
    points = {one.path: (one.value, one.value) for one in ranges_of(PLAN)}
    rows = regrets([PLAN, SLOW], ranges_of(PLAN, points))
    assert all(row.usd_per_year == pytest.approx(0.0, abs=1e-2) for row in rows)


def test_the_value_of_a_gpu_hour_matters_where_plans_compete() -> None:
    """At 1 $ the dear file system is regretted, at 40 $ it is not."""
    over = range_of(PLAN, "prices.gpu_value_usd_per_h")
    assert over is not None
    (row,) = regrets([PLAN, SLOW], [over])
    decision = best_of([PLAN, SLOW])
    assert decision is not None
    assert row.low.regret_usd_per_year is not None
    assert row.low.regret_usd_per_year > 10_000.0
    assert row.high.regret_usd_per_year == 0.0
    assert "250 MB/s/TiB" in str(regret_sentence(row, decision))


def test_sentences_say_what_would_change() -> None:
    decision = best_of([PLAN])
    assert decision is not None
    rows = {row.path: row for row in regrets([PLAN])}
    said = str(regret_sentence(rows["storage.blocking_s"], decision)).replace("\u00a0", " ")
    assert said.startswith("Stop time at 1 min: the plan costs $451k a year more than it need. Better: save every 2 h 35 min")
    assert "right over the whole range" in str(regret_sentence(rows["failures.restart_base_s"], decision))
    assert str(change_words(decision, decision)) == "the plan stays as it is"
    unknown = replace(rows["storage.blocking_s"], low=replace(rows["storage.blocking_s"].low, regret_usd_per_year=None))
    assert "would not work" in str(regret_sentence(unknown, decision))
    assert unknown.usd_per_year is None


def test_every_row_says_how_it_is_measured() -> None:
    for row in regrets([PLAN]):
        assert row.how_to, row.path
        assert all(words in HOW_TO_MEASURE.values() for words in row.how_to)
        assert row.command == COMMANDS.get(row.path)
    assert "sacct -D -P" in COMMANDS["failures.mtbi_s"]


@pytest.mark.parametrize("row", [row for row in TABLE if row.is_uncertain], ids=lambda row: str(row.path))
def test_what_nobody_decides_can_be_measured(row: Any) -> None:
    assert how_to(row.path)


def test_storage_we_have_needs_no_price() -> None:
    ours = NamedScenario(name="ours", scenario=scenario({"storage.custom": CustomStorage()}))
    rows = {row.path: row for row in regrets([ours])}
    assert rows["storage.blocking_s"].usd_per_year
    assert best_of([ours]) is None  # its own dollars stay unknown


def test_without_dollars_nothing_is_ranked() -> None:
    unpriced = NamedScenario(name="p", scenario=scenario({"prices.node_usd_per_h": None}))
    assert regrets([unpriced]) == ()


def test_progress_is_told() -> None:
    told: list[float] = []
    regrets([PLAN], progress=told.append)
    assert told == sorted(told)
    assert told[-1] == 1.0
