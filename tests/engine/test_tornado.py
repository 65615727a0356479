"""The tornado and the map of two inputs: exactly what one gets by changing the inputs by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ckptplanner.engine.cost import per_basis
from ckptplanner.engine.evaluate import evaluate
from ckptplanner.engine.figure_map import figure_map
from ckptplanner.engine.plan import Plan
from ckptplanner.engine.ranges import range_of, ranges_of
from ckptplanner.engine.scenario import CustomStorage, NamedScenario
from ckptplanner.engine.tornado import ASKED, tornado
from ckptplanner.frozen import with_value
from tests.engine.build import STEADY, scenario

PLAN = NamedScenario(name="5 min", scenario=scenario())
SLOW = NamedScenario(name="20 min", scenario=scenario(storage={"write_s": 1200.0}))


def total_a_year(plan: Plan) -> float | None:
    return plan.cost.total_usd_per_year if plan.cost else None


READERS = {
    "total_usd": total_a_year,
    "waste_fraction": lambda plan: plan.waste.chosen_fraction if plan.waste else None,
    "worst_rework_s": lambda plan: plan.waste.worst_rework_s if plan.waste else None,
    "interval_s": lambda plan: plan.schedule.interval_s if plan.schedule else None,
    "storage_usd_per_month": lambda plan: plan.storage.chosen.usd_per_month if plan.storage.chosen else None,
}


@pytest.mark.parametrize("figure", READERS)
def test_bars_are_one_at_a_time_recomputation_to_the_bit(figure: str) -> None:
    found, read = tornado(PLAN, figure, basis="year"), READERS[figure]
    assert found.expected == read(evaluate(PLAN.scenario))
    for bar in found.bars:
        for end, value in ((bar.range.low, bar.low), (bar.range.high, bar.high)):
            assert value == read(evaluate(bar.range.lever.put(PLAN.scenario, end)))


def test_a_plain_field_is_changed_as_by_hand() -> None:
    found = tornado(PLAN, "waste_fraction", [one for one in ranges_of(PLAN) if one.path == "failures.mtbi_s"])
    (bar,) = found.bars
    by_hand = [evaluate(with_value(PLAN.scenario, "failures.mtbi_s", end)).waste for end in (bar.range.low, bar.range.high)]
    assert [bar.low, bar.high] == [waste.chosen_fraction for waste in by_hand if waste is not None]


@pytest.mark.parametrize("figure", ASKED)
def test_a_range_of_no_width_gives_a_bar_of_no_width(figure: str) -> None:
    points = {one.path: (one.value, one.value) for one in ranges_of(PLAN)}
    for bar in tornado(PLAN, figure, ranges_of(PLAN, points)).bars:
        assert bar.low == bar.high
        assert bar.span(tornado(PLAN, figure, []).expected) == pytest.approx(0.0, abs=1e-9)


@settings(STEADY, max_examples=25)
@given(st.sampled_from(ASKED), st.sampled_from([60.0, 300.0, 1200.0]), st.sampled_from(["async", "sync"]))
def test_bars_come_widest_first(figure: str, write_s: float, mode: str) -> None:
    plan = NamedScenario(name="p", scenario=scenario(storage={"write_s": write_s, "mode": mode}))
    found = tornado(plan, figure)
    spans = [bar.span(found.expected) for bar in found.bars]
    assert spans == sorted(spans, reverse=True)
    assert {bar.path for bar in found.bars} == {one.path for one in ranges_of(plan)}


def test_dollars_come_per_month_run_or_year() -> None:
    expected = total_a_year(evaluate(PLAN.scenario))
    assert expected is not None
    for basis in ("month", "run", "year"):
        assert tornado(PLAN, "total_usd", [], basis).expected == pytest.approx(per_basis(expected, basis, 365.0))  # type: ignore[arg-type]


def test_what_cannot_be_computed_has_no_span() -> None:
    plan = NamedScenario(name="ours", scenario=scenario({"storage.custom": CustomStorage()}))
    found = tornado(plan, "total_usd")
    assert found.expected is None
    assert all(bar.span(found.expected) == 0.0 for bar in found.bars)


def test_unknown_figures_are_refused_and_progress_is_told() -> None:
    with pytest.raises(KeyError):
        tornado(PLAN, "beauty")
    told: list[float] = []
    tornado(PLAN, "waste_fraction", progress=told.append)
    assert told == sorted(told)
    assert told[-1] == 1.0


# ---------------------------------------------------------------- the map


def a_map(figure: str | None = None, points: int = 6, **more: Any) -> Any:
    across, up = range_of(PLAN, "failures.mtbi_s"), range_of(PLAN, "prices.gpu_value_usd_per_h")
    assert across is not None
    assert up is not None
    return figure_map([PLAN, SLOW], across, up, figure, points=points, **more)


def test_each_cell_is_the_plan_with_both_values() -> None:
    found = a_map("waste_fraction")
    assert found.total_usd_per_year.shape == (2, found.up_values.size, found.across_values.size)
    for row, value in enumerate(found.up_values):
        for column, mtbi in enumerate(found.across_values):
            plans = [
                evaluate(with_value(with_value(one.scenario, "prices.gpu_value_usd_per_h", value), "failures.mtbi_s", mtbi))
                for one in (PLAN, SLOW)
            ]
            totals = [total_a_year(plan) or 0.0 for plan in plans]
            assert found.total_usd_per_year[:, row, column].tolist() == totals
            assert found.winner[row, column] == int(np.argmin(totals))
            assert found.values[0, row, column] == READERS["waste_fraction"](plans[0])


def test_the_border_of_the_map_is_the_break_even() -> None:
    """SPEC 13: at today's 200 h the choice flips at 6.31 $; at today's 17.802 $ at 566 h."""
    found = a_map(points=17)
    row = int(np.flatnonzero(found.up_values == 17.802)[0])
    column = int(np.flatnonzero(found.across_values == 720_000.0)[0])
    assert [found.winner[row, index] for index in np.flatnonzero(found.across_values > 566 * 3600)] == [1] * int(
        (found.across_values > 566 * 3600).sum()
    )
    assert set(found.winner[row, found.across_values < 565 * 3600]) == {0}
    assert set(found.winner[found.up_values > 6.32, column]) == {0}
    assert set(found.winner[found.up_values < 6.31, column]) == {1}


def test_the_map_knows_what_is_not_known() -> None:
    ours = NamedScenario(name="ours", scenario=scenario({"storage.custom": CustomStorage()}))
    across, up = range_of(ours, "failures.mtbi_s"), range_of(ours, "storage.blocking_s")
    assert across is not None
    assert up is not None
    assert (figure_map([ours], across, up, points=3).winner == -1).all()
    assert (figure_map([ours, PLAN], across, up, points=3).winner == 1).all()


def test_equals_go_to_the_first_plan() -> None:
    across, up = range_of(PLAN, "failures.mtbi_s"), range_of(PLAN, "storage.blocking_s")
    assert across is not None
    assert up is not None
    assert (figure_map([PLAN, PLAN], across, up, points=3).winner == 0).all()
    with pytest.raises(ValueError, match="two different inputs"):
        figure_map([PLAN], across, across)
