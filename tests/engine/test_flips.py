"""Break-evens: the printed ones, every flip against brute force, and what the sentences say."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ckptplanner.engine import flips as flips_module
from ckptplanner.engine.evaluate import evaluate, priced
from ckptplanner.engine.flip_words import amounts, beats_sentence, flip_sentence, headline, nearest, never_sentence, rival
from ckptplanner.engine.flips import FlipBar, flip_bar, flip_bars, grid_of
from ckptplanner.engine.levers import lever_of
from ckptplanner.engine.plan import Plan
from ckptplanner.engine.ranges import Range, range_of, ranges_of
from ckptplanner.engine.scenario import CustomStorage, NamedScenario, Scenario
from ckptplanner.engine.workbook_file import read
from ckptplanner.engine.yearly import Yearly
from ckptplanner.text import text
from ckptplanner.units import HOUR, SECONDS, USD_PER_H
from tests.engine.build import ARTICLE, STEADY, scenario

FAST = NamedScenario(name="5 min", scenario=scenario())
SLOW = NamedScenario(name="20 min", scenario=scenario(storage={"write_s": 1200.0}))
ODD = NamedScenario(name="5 min", scenario=scenario(workload={"nodes": 33}))
GPU, MTBI, PARAMS = "prices.gpu_value_usd_per_h", "failures.mtbi_s", "workload.total_params"


def over(path: str, low: float, high: float, plan: NamedScenario = FAST) -> Range:
    (found,) = (one for one in ranges_of(plan, {path: (low, high)}) if one.path == path)
    return found


def of(path: str, first: NamedScenario = FAST, second: NamedScenario = SLOW) -> FlipBar:
    found = range_of(first, path)
    assert found is not None
    return flip_bar(first, second, found)


def values(bar: FlipBar) -> list[float]:
    return [flip.value for flip in bar.flips]


# ---------------------------------------------------------------- the printed ones


def test_the_value_of_a_gpu_hour() -> None:
    """SPEC 13: the 5-minute plan beats the 20-minute one while a GPU-hour is worth more than 6.31 $."""
    bar = of(GPU)
    assert [round(value, 2) for value in values(bar)] == [6.31]
    assert [piece.winner for piece in bar.segments] == ["second", "first"]
    assert bar.flips[0].kind == "crossing"
    assert bar.today.winner == "first"


def test_the_time_between_interruptions() -> None:
    """SPEC 13: or M is below 566 h."""
    bar = of(MTBI)
    assert [round(value / HOUR) for value in values(bar)] == [566]
    assert [piece.winner for piece in bar.segments] == ["first", "second"]


def test_parameters_flip_three_times() -> None:
    """SPEC 13 prints the first half billion after each flip: 309, 334.5 and 368.5e9."""
    bar = of(PARAMS)
    assert [np.ceil(value / 0.5e9) * 0.5 for value in values(bar)] == [309.0, 334.5, 368.5]
    assert [flip.kind for flip in bar.flips] == ["step", "crossing", "step"]
    assert [piece.winner for piece in bar.segments] == ["first", "second", "first", "second"]


def test_a_flip_is_where_both_cost_the_same() -> None:
    for path in (GPU, MTBI):
        bar = of(path)
        costs = [evaluate(bar.range.lever.put(one.scenario, bar.flips[0].value)).cost for one in (FAST, SLOW)]
        totals = [cost.total_usd_per_year for cost in costs if cost is not None]
        assert totals[0] == pytest.approx(totals[1], rel=1e-9)


def test_a_step_is_enclosed_to_one_part_in_a_billion() -> None:
    bar = of(PARAMS)
    step = bar.flips[0].value
    chosen = [evaluate(bar.range.lever.put(FAST.scenario, step * at)).storage.chosen for at in (1 - 2e-9, 1.0)]
    assert [option.id for option in chosen if option is not None] == ["p2-500-28800-efa", "p2-1000-19200-efa"]


def test_the_articles_formulas_have_their_own_flips() -> None:
    plans = [NamedScenario(name=str(t), scenario=scenario(ARTICLE, storage={"write_s": t})) for t in (300.0, 1200.0)]
    bar = of(GPU, *plans)
    # storage differs by 2,568 $ a month; the lost shares are the table's 0.54 and 0.76 %
    lost = [evaluate(plan.scenario).waste for plan in plans]
    shares = [waste.first_order_fraction or 0.0 for waste in lost if waste is not None]
    assert values(bar) == [pytest.approx(2568 * 12 / (8760 * 256 * (shares[1] - shares[0])), rel=1e-9)]


def test_whole_numbers_flip_at_a_whole_number() -> None:
    bar = of("workload.nodes")
    assert values(bar) == [20.0]
    totals = {
        (name, nodes): priced(bar.range.lever.put(plan.scenario, nodes))[1]
        for name, plan in (("fast", FAST), ("slow", SLOW))
        for nodes in (19.0, 20.0)
    }

    def usd(name: str, nodes: float) -> float:
        cost = totals[name, nodes]
        assert cost is not None
        assert cost.total_usd_per_year is not None
        return cost.total_usd_per_year

    assert usd("fast", 19.0) > usd("slow", 19.0)
    assert usd("fast", 20.0) < usd("slow", 20.0)


def test_storage_prices_move_together() -> None:
    bar = of("prices.storage_usd_per_gib_month")
    assert bar.range.value == 0.340
    assert [round(value, 2) for value in values(bar)] == [0.96]


# ---------------------------------------------------------------- against brute force


def fails(plan: Plan) -> bool:
    """Whether a plan has an error other than that of host memory, which no choice of storage heals."""
    return any(one.severity == "error" and not one.message.startswith("Host memory") for one in plan.findings)


def winner(bar: FlipBar, value: float, first: Scenario, second: Scenario) -> str:
    plans = [evaluate(bar.range.lever.put(one, value)) for one in (first, second)]
    dollars = [plan.cost.total_usd_per_year if plan.cost else None for plan in plans]
    totals = [math.inf if fails(plan) else usd for plan, usd in zip(plans, dollars, strict=True)]
    if None in totals or totals == [math.inf, math.inf]:
        return "unknown"
    if totals[0] == pytest.approx(totals[1], rel=1e-12, abs=0.0):
        return "equal"
    return "first" if totals[0] < totals[1] else "second"


def check_everywhere(bar: FlipBar, first: Scenario, second: Scenario, points: int) -> None:
    """Every point of a fine grid, but for those next to a flip, has the winner of its piece."""
    assert bar.segments[0].low == bar.range.low
    assert bar.segments[-1].high == bar.range.high
    assert [piece.low for piece in bar.segments[1:]] == values(bar) == [piece.high for piece in bar.segments[:-1]]
    assert all(flip.below != flip.above for flip in bar.flips)
    assert values(bar) == sorted(set(values(bar)))
    ends = () if bar.range.lever.is_whole else (bar.range.low, bar.range.high)  # what holds at an end alone is no piece
    for value in grid_of(bar.range, points):
        if value in ends:
            continue
        if all(abs(value - flip) > 1e-8 * abs(flip) or bar.range.lever.is_whole for flip in values(bar)):
            assert bar.at(value).winner == winner(bar, value, first, second), value


def test_teeth_narrower_than_the_grid_are_found() -> None:
    """Three decades of parameters have hundreds of steps of capacity, many in each cell of the grid."""
    cheap = {"workload.nodes": 512, GPU: 0.1}  # storage and lost time weigh about the same
    first = NamedScenario(name="a", scenario=scenario(cheap, storage={"write_s": 300.0}))
    second = NamedScenario(name="b", scenario=scenario(cheap, storage={"write_s": 330.0}))
    bar = flip_bar(first, second, over(PARAMS, 1e10, 4e12, first))
    assert len(bar.flips) > 20
    check_everywhere(bar, first.scenario, second.scenario, 400)


PLANS = st.fixed_dictionaries({
    "storage.write_s": st.sampled_from([30.0, 60.0, 200.0, 300.0, 700.0, 1200.0]),
    "storage.mode": st.sampled_from(["async", "sync"]),
    "storage.generations_kept": st.sampled_from([3, 4, 8]),
    "storage.max_fill": st.sampled_from([1.0, 0.85]),
    "storage.efa": st.sampled_from(["auto", "off", "on"]),
    "storage.tier": st.sampled_from(["auto", "auto", "auto", "p2-500-12000"]),
    "local.enabled": st.sampled_from([False, False, True]),
    "storage.whole_steps": st.booleans(),
})  # fmt: skip
INPUTS = st.sampled_from([
    GPU, MTBI, PARAMS, "workload.nodes", "storage.blocking_s", "storage.write_efficiency", "storage.latency_s",
    "prices.storage_usd_per_gib_month", "failures.restart_base_s", "restore.copies", "workload.bytes_per_param",
])  # fmt: skip


@settings(STEADY, max_examples=16)
@given(PLANS, PLANS, INPUTS)
def test_any_two_plans_and_any_input(first: dict[str, Any], second: dict[str, Any], path: str) -> None:
    plans = [NamedScenario(name=name, scenario=scenario(made)) for name, made in (("a", first), ("b", second))]
    found = range_of(plans[0], path)
    if found is None:
        return
    bar = flip_bar(plans[0], plans[1], found)
    check_everywhere(bar, plans[0].scenario, plans[1].scenario, 40)


@settings(STEADY, max_examples=8)
@given(PLANS, PLANS, st.sampled_from([GPU, MTBI, PARAMS]))
def test_the_other_way_round_it_is_the_mirror_image(first: dict[str, Any], second: dict[str, Any], path: str) -> None:
    plans = [NamedScenario(name=name, scenario=scenario(made)) for name, made in (("a", first), ("b", second))]
    found = range_of(plans[0], path)
    assert found is not None
    one, other = flip_bar(plans[0], plans[1], found), flip_bar(plans[1], plans[0], found)
    swap = {"first": "second", "second": "first"}
    assert [swap.get(piece.winner, piece.winner) for piece in other.segments] == [piece.winner for piece in one.segments]
    assert values(other) == pytest.approx(values(one), rel=1e-9)


def fake(totals: Callable[[float], float]) -> Callable[[Scenario], Yearly]:
    """Dollars as a function of the value of a GPU-hour for the plan of 300 s; the other one costs 1,000."""

    def made(one: Scenario) -> Yearly:
        return Yearly(totals(one.prices.gpu_value_usd_per_h or 17.802) if one.storage.write_s == 300.0 else 1000.0, None)

    return made


def test_a_dip_below_zero_inside_one_cell_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    grid = grid_of(over(GPU, 1.0, 40.0))
    bottom = (grid[20] + grid[21]) / 2 + 0.01
    monkeypatch.setattr(flips_module, "yearly", fake(lambda value: 1000.0 - 1e-4 + (value - bottom) ** 2))
    bar = flip_bar(FAST, SLOW, over(GPU, 1.0, 40.0))
    assert values(bar) == pytest.approx([bottom - 0.01, bottom + 0.01], rel=1e-9)
    assert [piece.winner for piece in bar.segments] == ["second", "first", "second"]


def test_a_dip_that_stays_above_zero_is_no_flip(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flips_module, "yearly", fake(lambda value: 1000.0 + 1e-4 + (value - 7.0) ** 2))
    assert values(flip_bar(FAST, SLOW, over(GPU, 1.0, 40.0))) == []


def test_a_jump_that_no_choice_explains_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flips_module, "yearly", fake(lambda value: 900.0 if value < 7.0 else 1100.0))
    (flip,) = flip_bar(FAST, SLOW, over(GPU, 1.0, 40.0)).flips
    assert flip.value == pytest.approx(7.0, rel=1e-12)
    assert flip.kind == "step"


# ---------------------------------------------------------------- edges


def test_a_plan_against_itself_costs_the_same_everywhere() -> None:
    twin = NamedScenario(name="twin", scenario=FAST.scenario)
    bars = flip_bars(FAST, twin)
    assert all([piece.winner for piece in bar.segments] == ["equal"] for bar in bars)
    assert beats_sentence(bars) is None
    assert "cost the same" in str(flip_sentence(bars[0]))


def test_dollars_that_are_not_known_compare_with_nothing() -> None:
    custom = CustomStorage()
    own = NamedScenario(name="ours", scenario=scenario(storage={"custom": custom}))
    bar = of(MTBI, FAST, own)
    assert [piece.winner for piece in bar.segments] == ["unknown"]
    assert bar.difference_usd_per_year is None
    assert "cannot be compared" in str(flip_sentence(bar))


def test_what_no_file_system_can_do_is_unknown_from_there_on() -> None:
    """One node cannot write 100 TB in five minutes."""
    one = [
        NamedScenario(name=str(t), scenario=scenario(workload={"nodes": 1}, storage={"write_s": t})) for t in (300.0, 1200.0)
    ]
    bar = flip_bar(one[0], one[1], over(PARAMS, 1e9, 1e13, one[0]))
    assert bar.segments[-1].winner == "unknown"
    check_everywhere(bar, one[0].scenario, one[1].scenario, 200)


def test_a_range_of_no_width_is_one_piece() -> None:
    bar = flip_bar(FAST, SLOW, over(GPU, 17.802, 17.802))
    assert [(piece.low, piece.high, piece.winner) for piece in bar.segments] == [(17.802, 17.802, "first")]
    assert bar.distance == np.inf


def test_the_second_plan_may_stay_as_it_is() -> None:
    """From which write time on does a plan cost less than the 20-minute one?"""
    bar = flip_bar(FAST, SLOW, over("storage.write_s", 30.0, 1300.0), second_stays=True)
    assert bar.today.winner == "first"
    assert bar.segments[0].winner == "second"  # 30 s is dearer
    for flip in bar.flips:
        assert 30.0 < flip.value < 1300.0
    assert flip_bar(FAST, SLOW, over("storage.write_s", 30.0, 1300.0)).segments[0].winner == "equal"


def test_an_input_in_which_the_plans_differ_has_no_bar() -> None:
    sync = NamedScenario(name="sync", scenario=scenario(storage={"mode": "sync", "generations_kept": 3}))
    paths = {bar.path for bar in flip_bars(FAST, sync)}
    assert "storage.generations_kept" not in paths
    assert GPU in paths


def test_progress_rises_to_one_and_may_stop_it() -> None:
    told: list[float] = []
    flip_bars(FAST, SLOW, [over(GPU, 1.0, 40.0), over(MTBI, 1e5, 1e6)], told.append)
    assert told == sorted(told)
    assert told[-1] == 1.0

    class EnoughError(Exception):
        pass

    def stop(part: float) -> None:
        if part > 0.3:
            raise EnoughError

    with pytest.raises(EnoughError):
        flip_bars(FAST, SLOW, progress=stop)


def test_a_plan_that_would_not_work_loses() -> None:
    """A file system that was bought for 20 minutes holds no model of twice the size; the other plan buys a larger one."""
    bought = NamedScenario(name="bought", scenario=scenario(storage={"write_s": 1200.0, "tier": "p2-250-7200"}))
    bar = flip_bar(FAST, bought, over(PARAMS, 1e11, 3e11))
    assert bar.segments[-1].winner == "first"
    assert bar.segments[-1].failing == ("bought",)
    # four generations of 14 B fill 7,200 GiB
    assert bar.at(7200 * 2**30 / 4 / 14 * 1.0001).winner == "first"
    check_everywhere(bar, FAST.scenario, bought.scenario, 60)


def test_copies_that_cannot_be_formed_are_no_plan() -> None:
    """Each whole number of nodes is looked at: with two copies every odd one has no groups."""
    copied = NamedScenario(name="copied", scenario=scenario({"replication.factor": 2}))
    bar = flip_bar(FAST, copied, over("workload.nodes", 30, 35))
    assert [(piece.low, piece.winner) for piece in bar.segments] == [
        (30.0, "equal"), (31.0, "first"), (32.0, "equal"), (33.0, "first"), (34.0, "equal"), (35.0, "first"),
    ]  # fmt: skip


# ---------------------------------------------------------------- dollars alone


@settings(STEADY, max_examples=80)
@given(
    PLANS,
    st.sampled_from([8, 32, 700]),
    st.sampled_from(["storage_usd", "total_usd"]),
    st.sampled_from([None, CustomStorage(), CustomStorage(usd_per_month=3000.0)]),
    st.sampled_from([None, 0.34]),
    st.sampled_from([0.0, 30.0, 1300.0]),
    st.sampled_from([1, 3]),
)
def test_dollars_alone_are_those_of_the_plan(
    made: dict[str, Any], nodes: int, by: str, custom: CustomStorage | None, price: float | None, latency: float, jobs: int
) -> None:
    given_scenario = scenario(made, {
        "workload.nodes": nodes, "storage.choose_by": by, "storage.custom": custom, "shared.jobs": jobs,
        "prices.storage_usd_per_gib_month.p2_500": price, "storage.latency_s": latency,
    })  # fmt: skip
    plan = evaluate(given_scenario)
    option, cost = priced(given_scenario)
    assert cost == plan.cost
    assert (option and option.id) == (plan.storage.chosen and plan.storage.chosen.id)


# ---------------------------------------------------------------- words


@pytest.fixture(scope="module")
def bars() -> tuple[FlipBar, ...]:
    return flip_bars(FAST, SLOW)


def said(bars: tuple[FlipBar, ...], path: str) -> str:
    return str(flip_sentence(next(bar for bar in bars if bar.path == path))).replace("\u00a0", " ")


def test_the_sentence_of_each_bar(bars: tuple[FlipBar, ...]) -> None:
    assert said(bars, GPU) == "“5 min” costs less than “20 min” while a GPU-hour is worth more than $6.31."
    assert (
        said(bars, MTBI)
        == "“5 min” costs less than “20 min” while jobs of 32 nodes are interrupted more often than every 566 h."
    )
    assert said(bars, PARAMS) == (
        "“5 min” costs less than “20 min” while the model has fewer than 309 B parameters, "
        "or the model has between 334 B and 368 B parameters."
    )
    assert said(bars, "workload.nodes") == "“5 min” costs less than “20 min” while the job has 20 nodes or more."
    assert said(bars, "storage.generations_kept") == "Generations from 2 to 12: “5 min” costs less than “20 min”."


def test_the_sentence_under_the_cards(bars: tuple[FlipBar, ...]) -> None:
    assert [bar.path for bar in nearest(bars)] == [GPU, MTBI]
    assert str(beats_sentence(bars)).replace("\u00a0", " ") == (
        "It beats “20 min” while a GPU-hour is worth more than $6.31, and jobs of 32 nodes are interrupted more often than "
        "every 566 h."
    )


def test_the_headline_finds_its_rival_and_says_the_same(bars: tuple[FlipBar, ...]) -> None:
    assert headline(FAST, [FAST, SLOW]) == beats_sentence(bars)
    assert headline(FAST, [FAST]) is None


def test_the_headline_turns_to_what_is_decided_where_nothing_else_flips() -> None:
    """A file system that others fill to 97 % works for no plan of this size: 2,400 GiB more do."""
    workbook = read(Path(__file__).parents[2] / "resources/examples/full-file-system.ckptplan.json")
    assert str(headline(workbook.shown, workbook.scenarios)).replace("\u00a0", " ") == (
        "“2,400 GiB more” costs less while a checkpoint takes more than 38.7 GB, and 3 generations or more are kept."
    )


def test_the_dearer_plan_says_what_the_other_needs(bars: tuple[FlipBar, ...]) -> None:
    turned = flip_bars(SLOW, FAST, [one for one in ranges_of(SLOW) if one.path in (GPU, MTBI)])
    assert str(beats_sentence(turned)).startswith("“5 min” costs less while a GPU-hour is worth more than $6.31")


def test_no_flip_at_all_is_said() -> None:
    sync = NamedScenario(name="sync 60 s", scenario=scenario(storage={"mode": "sync", "write_s": 60.0}))
    found = flip_bars(FAST, sync, [over("storage.generations_kept", 2, 12), over("restore.copies", 1, 8)])
    assert str(beats_sentence(found)) == "It beats “sync 60 s” over the whole range of every input."
    assert str(never_sentence(found)) == "Without effect on the choice: Generations 2 to 12, Copies read 1 to 8."


def test_many_pieces_are_counted() -> None:
    copied = NamedScenario(name="copied", scenario=scenario({"replication.factor": 2}))
    many = flip_bar(ODD, copied, over("workload.nodes", 24, 41, ODD))
    assert str(flip_sentence(many)) == (
        "“5 min” costs less than “copied” while the job has exactly 33 nodes, and in 8 other pieces of the range."
    )
    assert nearest([many]) == ()
    assert str(beats_sentence([many])) == "“5 min” costs less than “copied” with “Nodes” as it is."
    two = flip_bar(FAST, copied, over("workload.nodes", 31, 33))
    assert str(flip_sentence(two)) == (
        "“5 min” costs less than “copied” while the job has fewer than 32 nodes, or the job has 33 nodes or more."
    )


def test_bars_come_by_their_distance(bars: tuple[FlipBar, ...]) -> None:
    distances = [bar.distance for bar in bars]
    assert distances == sorted(distances)
    gpu = next(bar for bar in bars if bar.path == GPU)
    assert gpu.distance == pytest.approx(np.log(17.802 / gpu.flips[0].value) / np.log(40.0))


def test_neighbours_are_told_apart() -> None:
    assert amounts((6.3121, 6.3149), USD_PER_H) == ("$6.312", "$6.315")
    assert amounts((36_000.0, 36_010.0), SECONDS)[0] != amounts((36_000.0, 36_010.0), SECONDS)[1]
    assert amounts((6.31, 6.31), USD_PER_H) == ("$6.31", "$6.31")


def test_the_rival_is_the_cheapest_other_plan_for_the_same_job() -> None:
    six = NamedScenario(name="6 B", scenario=scenario(workload={"layout": "bf16-6"}))
    sync = NamedScenario(name="sync", scenario=scenario(storage={"mode": "sync", "write_s": 60.0}))
    assert rival(FAST, [FAST, sync, six, SLOW]) is SLOW
    assert rival(FAST, [FAST, six]) is None


def test_a_lever_puts_its_own_value_back_to_the_bit() -> None:
    for one in ranges_of(FAST):
        assert one.lever.put(FAST.scenario, one.value).prices == FAST.scenario.prices or one.path == GPU
        lever = lever_of(one.lever.put(FAST.scenario, one.high), one.path)
        assert lever is not None
        assert lever.value == pytest.approx(one.high)
    assert text("{a}", a="b") != text("b")
