"""The terms beyond the articles: printed figures, sums by hand, scipy's distributions, a simulation and a dense search."""

from __future__ import annotations

import dataclasses
import math
from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy import stats

from ckptplanner.data import catalog
from ckptplanner.engine import beyond, curves, tradeoff
from ckptplanner.engine.evaluate import evaluate
from ckptplanner.engine.job import job_of
from ckptplanner.engine.node_plan import Beyond
from ckptplanner.engine.plan import Option, Plan, Schedule, Waste
from ckptplanner.engine.scenario import Scenario
from ckptplanner.frozen import with_value
from ckptplanner.units import DAY, GB, GIB, HOUR, MINUTE, TB
from tests.engine.build import INSTANT, SYNC, percent, printed, scenario

S, M = 124.45e9 * 14, 200 * HOUR
READ_S = S / 6e9  # the 5-minute plan reads and writes at the 6 GB/s of 500 MB/s/TiB x 12,000 GiB
R = 600 + READ_S
DAILY: dict[str, Any] = {"planned.every_s": DAY}
OUTPUTS = ("checkpoint", "schedule", "waste", "storage", "cost", "replication", "datapath", "host_ram", "beyond", "findings")


def schedule_of(plan: Plan) -> Schedule:
    assert plan.schedule is not None
    return plan.schedule


def waste_of(plan: Plan) -> Waste:
    assert plan.waste is not None
    return plan.waste


def beyond_of(plan: Plan) -> Beyond:
    assert plan.beyond is not None
    return plan.beyond


def chosen_of(plan: Plan) -> Option:
    assert plan.storage.chosen is not None
    return plan.storage.chosen


def known(value: float | None) -> float:
    assert value is not None
    return value


# ---------------------------------------------------------------- planned stops


def test_a_planned_stop_a_day() -> None:
    """(R + F) / 86,400 with R = 890.4 s and F = 290.4 s: 1.37 points."""
    plan = evaluate(scenario(DAILY))
    waste, without = waste_of(plan), waste_of(evaluate(scenario()))
    assert waste.planned_fraction == pytest.approx((R + READ_S) / DAY)
    assert percent(waste.planned_fraction, "1.37") == "1.37"
    assert waste.chosen_fraction == without.chosen_fraction
    assert waste.total_fraction == pytest.approx(known(without.chosen_fraction) + (R + READ_S) / DAY)
    assert beyond_of(plan).final_save_s == pytest.approx(READ_S)
    assert beyond_of(plan).planned_rework_s == pytest.approx(READ_S)


def test_a_queue_after_the_stop() -> None:
    waste = waste_of(evaluate(scenario(DAILY, {"planned.queue_s": 1800.0})))
    assert waste.planned_fraction == pytest.approx((R + 1800 + READ_S) / DAY)


@pytest.mark.parametrize(("notice", "fits"), [(READ_S, True), (READ_S - 1, False), (0.0, False), (600.0, True)])
def test_a_notice_shorter_than_a_save_costs_the_rework(notice: float, fits: bool) -> None:
    """(R + queue + T/2 + t) / every, with t = 305 s."""
    plan = evaluate(scenario(DAILY, {"planned.notice_s": notice, "planned.queue_s": 60.0}))
    rework = READ_S if fits else schedule_of(plan).interval_s / 2 + 305
    assert waste_of(plan).planned_fraction == pytest.approx((R + 60 + rework) / DAY)
    assert beyond_of(plan).planned_rework_s == pytest.approx(rework)


def test_the_last_save_goes_at_full_rate_times_the_write_efficiency() -> None:
    plan = evaluate(scenario(DAILY, storage={"tier": "p2-500-12000", "write_efficiency": 0.5, "write_s": 1200.0}))
    assert beyond_of(plan).final_save_s == pytest.approx(2 * READ_S)


def test_planned_stops_cost_dollars() -> None:
    """32 nodes at 142.416 $/h: a share of 8,760 h."""
    cost = evaluate(scenario(DAILY)).cost
    assert cost is not None
    assert cost.planned_usd_per_year == pytest.approx((R + READ_S) / DAY * 8760 * 32 * 142.416)
    before = evaluate(scenario()).cost
    assert before is not None
    assert known(cost.total_usd_per_year) - known(before.total_usd_per_year) == pytest.approx(cost.planned_usd_per_year)


# ---------------------------------------------------------------- restart classes


def row(share: float, *parts: float, reads: str = "shared", rework: str = "save") -> dict[str, Any]:
    """One class; parts are detect, reschedule and start."""
    return {"share": share, "reads_from": reads, "rework": rework} | dict(
        zip(("detect_s", "reschedule_s", "start_s"), parts, strict=True)
    )


def classes(*rows: dict[str, Any]) -> dict[str, Any]:
    return {"restart.classes": rows}


PEERS = classes(row(0.9, 60, 0, 60, reads="peer", rework="step"), row(0.1, 60, 300, 240))


def test_nine_of_ten_recovered_from_peers() -> None:
    """By hand: T* = sqrt(2 C M / 0.1) = 141 min, C/T = 0.059 %, 0.1 (T/2 + t + R)/M = 0.076 %, 0.9 x 130 s / M = 0.016 %."""
    plan = evaluate(scenario(PEERS))
    assert percent(waste_of(plan).chosen_fraction, "0.15") == "0.15"
    assert percent(waste_of(plan).first_order_fraction, "0.15") == "0.15"
    assert printed(schedule_of(plan).interval_s, "141", MINUTE) == "141"


def test_restart_and_rework_are_weighted_sums() -> None:
    plan = evaluate(scenario(PEERS))
    schedule = schedule_of(plan)
    peer_read = S / 32 / 800e9  # a node's part over 16 cards of 400 Gbps
    assert schedule.restart_s == pytest.approx(0.9 * (120 + peer_read) + 0.1 * R)
    assert waste_of(plan).mean_rework_s == pytest.approx(0.9 * 10 + 0.1 * (schedule.interval_s / 2 + 305))


@pytest.mark.parametrize(
    ("reads", "near_s"),
    [("local", S / 32 / 18.0224e9), ("replica", 2 * S / 32 / 18.0224e9), ("peer", S / 32 / 800e9), ("shared", READ_S)],
)
def test_what_a_class_reads(reads: str, near_s: float) -> None:
    """A node's 54 GB from its drives at 18 GB/s; from a peer's that serve two; or the whole checkpoint from the file system."""
    plan = evaluate(scenario(classes(row(0.5, 1, 2, 3, reads=reads), row(0.5, 60, 300, 240))))
    assert schedule_of(plan).restart_s == pytest.approx(0.5 * (6 + near_s) + 0.5 * R)


def test_one_class_with_the_parts_of_the_default_is_the_default() -> None:
    one = evaluate(scenario(classes(row(1.0, 60, 300, 240))))
    two = evaluate(scenario(classes(row(0.3, 60, 300, 240), row(0.7, 60, 300, 240))))
    default = evaluate(scenario())
    for plan in (one, two):
        assert dataclasses.astuple(schedule_of(plan)) == pytest.approx(dataclasses.astuple(schedule_of(default)), abs=1e-9)
        assert waste_of(plan).exact_fraction == pytest.approx(waste_of(default).exact_fraction, rel=1e-12)


def test_when_every_interruption_costs_a_step_saves_are_rare_and_nothing_is_infinite() -> None:
    """C/T of the run's one save, and 130 s an interruption."""
    plan = evaluate(scenario(classes(row(1.0, 60, 0, 60, reads="peer", rework="step"))))
    assert schedule_of(plan).interval_s == 365 * DAY
    assert waste_of(plan).exact_fraction == pytest.approx(130 / M, rel=0.01)


def simulated_waste(
    *, every: float, stop: float, write: float, mtbi: float, rollbacks: float, restart: float, pause: float, turns: int = 12_000
) -> tuple[float, float]:
    """Play a job through two kinds of interruption; the share of time lost and its standard error.

    Each interruption is one that loses all work since the last restorable save, with probability `rollbacks`, or a pause in
    which everything stands still. A turn ends at the first rollback.
    """
    random = np.random.default_rng(20_261_129)
    kept, spent = np.zeros(turns), np.zeros(turns)
    for turn in range(turns):
        running = pauses = 0.0
        while True:
            running += random.exponential(mtbi)
            if random.random() < rollbacks:
                break
            pauses += pause
        now, trained, restorable = restart, 0.0, 0.0
        while now + every + write <= running:  # the save that begins at now + every - stop is written
            now += every
            trained += every - stop
            restorable = trained
        kept[turn], spent[turn] = restorable, running + pauses
    goodput = kept.sum() / spent.sum()
    error = math.sqrt(float(((kept - goodput * spent) ** 2).sum())) / float(spent.sum())
    return 1 - float(goodput), error


@pytest.mark.parametrize("rollbacks", [0.2, 0.6, 1.0])
def test_the_exact_model_with_pauses_meets_the_simulation(rollbacks: float) -> None:
    """T = 1,000 s, C = 50 s, t_w = 400 s, M = 5,000 s; a rollback restarts in 300 s, a pause takes 190 s and a step of 10 s."""
    rows = (row(rollbacks, 100, 100, 100), row(1 - rollbacks, 90, 50, 50, reads="peer", rework="step"))
    plan = evaluate(
        scenario(
            {"storage.custom": INSTANT, "workload.measured_bytes": 1.0, "restart.classes": rows},
            failures={"mtbi_s": 5000.0},
            storage={"interval_s": 1000.0, "blocking_s": 50.0, "write_s": 400.0},
        )
    )
    simulated, error = simulated_waste(
        every=1000.0, stop=50.0, write=400.0, mtbi=5000.0, rollbacks=rollbacks, restart=300.0, pause=200.0
    )
    assert 0 < error < 0.004
    assert waste_of(plan).exact_fraction == pytest.approx(simulated, abs=4 * error)
    if rollbacks < 1:  # leaving the pauses out would be noticed
        rare = with_value(with_value(plan.scenario, "restart.classes", ()), "failures.mtbi_s", 5000.0 / rollbacks)
        rare = with_value(with_value(rare, "failures.start_s", 240.0), "failures.reschedule_s", 0.0)
        assert abs(known(waste_of(evaluate(rare)).exact_fraction) - simulated) > 4 * error


# ---------------------------------------------------------------- other saves


def saves(*rows: dict[str, Any]) -> dict[str, Any]:
    return {"saves": rows}


PERMANENT = saves({"kind": "permanent", "every_s": DAY, "to": "s3"}) | {"run.days": 90.0}


def test_one_permanent_save_a_day_for_90_days() -> None:
    """90 x 1.742 TB = 157 TB, at 0.023 $ a GB 3,607 $ a month."""
    found = beyond_of(evaluate(scenario(PERMANENT)))
    assert found.saves[0].count_in_run == 90
    assert found.s3_bytes == pytest.approx(90 * S)
    assert printed(found.s3_bytes, "157", TB) == "157"
    assert found.s3_usd_per_month == pytest.approx(90 * S / GB * 0.023)
    assert printed(known(found.s3_usd_per_month), "3607") == "3,607"
    assert printed(known(found.saves[0].usd_per_month), "3607") == "3,607"


def test_s3_is_billed_by_what_lies_there_on_average() -> None:
    """On day 1 nothing, on day 2 one, ... on day 90 eighty-nine: 44.5 on average."""
    cost, without = evaluate(scenario(PERMANENT)).cost, evaluate(scenario({"run.days": 90.0})).cost
    assert cost is not None
    assert without is not None
    assert cost.other_usd_per_year == pytest.approx(12 * 44.5 * S / GB * 0.023)
    assert known(cost.total_usd_per_year) - known(without.total_usd_per_year) == pytest.approx(cost.other_usd_per_year)


@pytest.mark.parametrize(
    ("row", "mean"),
    [({"every_s": DAY, "keep": 7}, sum(min(day, 7) for day in range(90)) / 90), ({"kind": "final", "every_s": None}, 0.0)],
    ids=["the last 7", "only at the end"],
)
def test_s3_on_average_where_not_all_piles_up(row: dict[str, Any], mean: float) -> None:
    cost = evaluate(scenario(saves(row) | {"run.days": 90.0})).cost
    assert cost is not None
    assert cost.other_usd_per_year == pytest.approx(12 * mean * S / GB * 0.023)


def test_without_a_price_of_s3_the_total_is_not_known() -> None:
    plan = evaluate(scenario(PERMANENT, {"prices.s3_usd_per_gb_month": None}))
    assert beyond_of(plan).s3_usd_per_month is None
    assert plan.cost is not None
    assert plan.cost.total_usd_per_year is None


def test_only_the_last_few_are_kept() -> None:
    found = beyond_of(evaluate(scenario(saves({"every_s": DAY, "keep": 7}) | {"run.days": 90.0})))
    assert found.saves[0].count_in_run == 90
    assert found.saves[0].held_bytes == pytest.approx(7 * S)


def test_reach() -> None:
    """(4 - 1) T = 2 h 14 min of generations; 90 days of permanent ones, or as many as are kept."""
    assert beyond_of(evaluate(scenario())).oldest_reach_s == schedule_of(evaluate(scenario())).reach_s
    assert printed(beyond_of(evaluate(scenario())).oldest_reach_s, "134", MINUTE) == "134"
    assert beyond_of(evaluate(scenario(PERMANENT))).oldest_reach_s == 90 * DAY
    kept = saves({"kind": "permanent", "every_s": DAY, "keep": 5})
    assert beyond_of(evaluate(scenario(kept))).oldest_reach_s == 5 * DAY
    evaluations = saves({"kind": "evaluation", "every_s": DAY})
    assert printed(beyond_of(evaluate(scenario(evaluations))).oldest_reach_s, "134", MINUTE) == "134"


def test_the_stops_of_all_rows_add_up() -> None:
    """60 s a day, 30 s every 6 h, and 600 s once in a run of 10 days."""
    rows = saves(
        {"every_s": DAY, "stop_s": 60.0},
        {"kind": "evaluation", "every_s": 6 * HOUR, "stop_s": 30.0},
        {"kind": "final", "every_s": None, "stop_s": 600.0},
    )
    plan, without = evaluate(scenario(rows, {"run.days": 10.0})), evaluate(scenario({"run.days": 10.0}))
    stops = [60 / DAY, 30 / (6 * HOUR), 600 / (10 * DAY)]
    assert [one.stop_fraction for one in beyond_of(plan).saves] == pytest.approx(stops)
    first, base = waste_of(plan), waste_of(without)
    assert known(first.first_order_fraction) - known(base.first_order_fraction) == pytest.approx(sum(stops))
    assert known(first.saving_fraction) - known(base.saving_fraction) == pytest.approx(sum(stops))
    assert 1 - known(first.exact_fraction) == pytest.approx((1 - known(base.exact_fraction)) * (1 - sum(stops)))


def test_the_peak_when_all_fall_together() -> None:
    """The resumable save, 600 GB of weights within the same 300 s, and 0.5 GB/s of others; S3 takes another way."""
    rows = saves({"kind": "evaluation", "to": "shared", "bytes": 600e9, "keep": 1}, {"to": "s3"})
    found = beyond_of(evaluate(scenario(rows, {"shared.load_bytes_per_s": 0.5e9})))
    assert found.peak_write_bytes_per_s == pytest.approx(S / 300 + 2e9 + 0.5e9)


def test_rows_on_the_file_system_take_their_room() -> None:
    """4 generations of 1.742 TB and 10 kept of 600 GB: 12,079 GiB, six steps of 2,400."""
    rows = saves({"kind": "evaluation", "to": "shared", "bytes": 600e9, "keep": 10})
    plan = evaluate(scenario(rows))
    needed = (4 * S + 10 * 600e9) / GIB
    assert printed(needed, "12079") == "12,079"
    assert chosen_of(plan).fill_ratio == pytest.approx(needed / chosen_of(plan).capacity_gib)
    assert all(option.capacity_gib >= 14_400 for option in plan.storage.options)


@pytest.mark.parametrize(
    ("written", "seconds"),
    [
        ({"to": "shared", "bytes": 794e9, "writer": "single"}, 794e9 / 3.125e9),  # 5 servers of 5 Gbps
        ({"to": "shared", "bytes": 794e9, "writer": "sharded"}, 794e9 / 6e9),  # the disks
        ({"to": "s3", "bytes": 794e9, "writer": "single"}, 794e9 / 1.25e9),  # 25 connections
        ({"to": "s3", "bytes": 794e9, "writer": "sharded"}, 794e9 / 32 / 1.25e9),
    ],
)
def test_how_long_a_row_takes(written: dict[str, Any], seconds: float) -> None:
    plan = evaluate(scenario(saves(written | {"keep": 1}), {"storage.tier": "p2-500-12000"}))
    assert beyond_of(plan).saves[0].writes_in_s == pytest.approx(seconds)


# ---------------------------------------------------------------- neighbours


@pytest.mark.parametrize("jobs", [1, 2, 3, 7, 30, 200])
def test_jobs_that_write_at_once_are_the_95_percent_point_of_a_binomial(jobs: int) -> None:
    duty = np.array([0.0, 1e-6, 0.01, 0.1, 0.11173, 0.5, 0.9, 0.999, 1.0])
    found = beyond.jobs_writing(jobs, duty)
    assert found.tolist() == np.maximum(stats.binom.ppf(0.95, jobs, duty), 1.0).tolist()


@pytest.mark.parametrize(("jobs", "duty"), [(3, 0.2), (4, 0.11), (5, 0.6)])
def test_jobs_that_write_at_once_by_looking_at_every_case(jobs: int, duty: float) -> None:
    chances = dict.fromkeys(range(jobs + 1), 0.0)
    for case in product((0, 1), repeat=jobs):
        chances[sum(case)] += math.prod(duty if writes else 1 - duty for writes in case)
    enough = next(count for count in chances if sum(chances[k] for k in range(count + 1)) >= 0.95)
    assert float(beyond.jobs_writing(jobs, np.array([duty]))[0]) == max(enough, 1)


@pytest.mark.parametrize("jobs", [1, 4, 10])
def test_all_jobs_size_the_file_system(jobs: int) -> None:
    """Room for the generations of all, and W of those that write at once, by the formula of a capacity."""
    plan = evaluate(scenario(shared={"jobs": jobs, "used_bytes": 1e12, "load_bytes_per_s": 0.3e9}))
    writing = max(float(stats.binom.ppf(0.95, jobs, 300 / schedule_of(plan).interval_s)), 1.0)
    assert beyond_of(plan).jobs_writing == writing
    room, rate = (jobs * 4 * S + 1e12) / GIB, writing * S / 300 + 0.3e9
    found = {(one.throughput_mb_per_s_per_tib, one.efa): one.capacity_gib for one in plan.storage.options}
    for tier in catalog.fsx_tiers():
        needed = max(room, 1000 * rate / 1e6 / tier.throughput_mb_per_s_per_tib)
        by_hand = tier.step_gib * math.ceil(needed / tier.step_gib)
        assert found[tier.throughput_mb_per_s_per_tib, tier.efa] == by_hand
    assert chosen_of(plan).efa is (rate > 10e9)


def test_all_jobs_restart_at_once() -> None:
    """Ten jobs read in the time of ten."""
    plan = evaluate(scenario({"storage.tier": "p2-1000-52800-efa"}, shared={"jobs": 10}))
    assert beyond_of(plan).restart_all_s == pytest.approx(600 + 10 * S / 52.8e9)
    assert beyond_of(evaluate(scenario())).restart_all_s is None


def test_the_load_of_others_comes_off_both_ways() -> None:
    plan = evaluate(scenario({"storage.tier": "p2-500-12000", "storage.pace": "full"}, shared={"load_bytes_per_s": 1e9}))
    assert schedule_of(plan).write_s == pytest.approx(S / 5e9)
    assert schedule_of(plan).restore_read_s == pytest.approx(S / 5e9)


NEIGHBOURS: dict[str, dict[str, Any]] = {
    "load": {"shared.load_bytes_per_s": 2e9},
    "jobs": {"shared.jobs": 6},
    "jobs and load": {"shared.jobs": 3, "shared.load_bytes_per_s": 1.5e9, "storage.write_efficiency": 0.8},
    "sync, jobs": SYNC | {"shared.jobs": 4, "storage.latency_s": 3.0},
    "planned stops": {"planned.every_s": DAY, "planned.notice_s": 120.0},
    "a single writer": {"workload.writer": "single", "workload.total_params": 197e9, "shared.load_bytes_per_s": 1e9},
    "few slow writers": {
        "workload.node": "g6e.12xlarge",
        "workload.nodes": 1,
        "workload.total_params": 95.7e9,
        "failures.mtbi_nodes": 4,
        "datapath.writer_skew_ratio": 2.0,
        "storage.efa": "off",
        "storage.generations_kept": 2,
        "shared.load_bytes_per_s": 1e9,
    },
}


@pytest.mark.parametrize("changes", NEIGHBOURS.values(), ids=NEIGHBOURS)
def test_the_least_total_is_that_of_a_dense_search(changes: dict[str, Any]) -> None:
    made = scenario(changes, {"prices.gpu_value_usd_per_h": 17.802})
    low, high = 20.0, 3000.0
    least = curves.least_total(made, low, high)
    assert least is not None
    grid = np.geomspace(low, high, 20_001)
    dense = curves.total_usd_at(made, job_of(made), grid, made.storage.mode) / 12
    assert least.least_value <= np.nanmin(dense) * (1 + 1e-12)
    assert least.least_value == pytest.approx(np.nanmin(dense), rel=1e-3)
    inside = np.zeros_like(grid, dtype=bool)
    for start, end in zip(least.starts, least.ends, strict=True):
        inside |= (grid >= start * (1 - 1e-9)) & (grid <= end * (1 + 1e-9))
    assert np.count_nonzero(inside != (dense <= 1.03 * least.least_value)) <= 2 * least.starts.size


@pytest.mark.parametrize(
    ("changes", "below_s"),
    [
        ({}, S / 10e9),
        ({"storage.write_efficiency": 0.5, "storage.latency_s": 10.0}, 10 + S / 5e9),
        ({"shared.load_bytes_per_s": 3e9}, S / 7e9),
        ({"shared.load_bytes_per_s": 2e9, "storage.write_efficiency": 0.5}, S / 3e9),
        ({"shared.jobs": 6}, 3 * S / 10e9),  # at 523 s of every 45 min three of six write at once: ppf(0.95, 6, 0.195) = 3
    ],
)
def test_efa_is_assumed_where_all_together_pass_10_gb_per_s(changes: dict[str, Any], below_s: float) -> None:
    """The band of the plot ends where the choice changes, the load and the other jobs included."""
    drawn = evaluate(scenario(changes)).curves
    assert drawn.efa_below_s == pytest.approx(below_s)
    for write_s, efa in ((below_s * 0.999, True), (below_s * 1.001, False)):
        offered = [one for one in evaluate(scenario(changes, {"storage.write_s": write_s})).storage.options if one.is_offered]
        assert {one.efa for one in offered} == {efa}


def test_when_others_take_10_gb_per_s_efa_is_always_assumed() -> None:
    drawn = evaluate(scenario(shared={"load_bytes_per_s": 10e9})).curves
    assert drawn.efa_below_s == drawn.write_s[-1]


def test_the_trade_off_with_neighbours_is_that_of_a_dense_search() -> None:
    made = scenario(SYNC, shared={"jobs": 4, "load_bytes_per_s": 1e9})
    least = tradeoff.tradeoff(made, low_s=20.0, high_s=600.0).least
    assert least is not None
    dense = tradeoff.at(made, np.geomspace(20.0, 600.0, 20_001), rework=True, restarts=True).total_usd_per_year
    assert least.least_value <= np.nanmin(dense) * (1 + 1e-12)
    assert least.least_value == pytest.approx(np.nanmin(dense), rel=1e-3)


# ---------------------------------------------------------------- spares

LOSS_S = 23_040_000.0 / 32  # one of 32 nodes that are lost every 6,400 h: every 200 h


@pytest.mark.parametrize(("spares", "wait_h"), [(1, 24.0), (2, 100.0), (3, 720.0), (1, 0.5)])
def test_the_chance_that_no_spare_is_left_is_poisson(spares: int, wait_h: float) -> None:
    found = beyond_of(evaluate(scenario(spares={"nodes": spares, "wait_s": wait_h * HOUR})))
    by_scipy = float(stats.poisson.sf(spares - 1, wait_h * HOUR / LOSS_S))
    assert found.no_spare_probability == pytest.approx(by_scipy)
    one_by_one = 1 - sum(math.exp(-wait_h / 200) * (wait_h / 200) ** k / math.factorial(k) for k in range(spares))
    assert found.no_spare_probability == pytest.approx(one_by_one)
    assert found.mean_wait_s == pytest.approx(wait_h * HOUR * by_scipy)  # M is 200 h as well: each interruption loses a node


def test_without_spares_every_loss_waits() -> None:
    """Half of the interruptions lose a node where M is 100 h."""
    plan = evaluate(scenario(spares={"wait_s": 2 * HOUR}, failures={"mtbi_s": 100 * HOUR}))
    assert beyond_of(plan).no_spare_probability == 1.0
    assert beyond_of(plan).mean_wait_s == pytest.approx(HOUR)


def test_the_wait_counts_as_downtime() -> None:
    waiting = waste_of(evaluate(scenario(spares={"wait_s": 1800.0})))
    down = waste_of(evaluate(scenario(failures={"downtime_s": 1800.0})))
    assert waiting.exact_fraction == pytest.approx(down.exact_fraction)
    assert waiting.first_order_fraction == pytest.approx(down.first_order_fraction)


def test_one_more_spare_pays_above_m_over_n() -> None:
    """A node is lost every 200 h in 32 nodes: 6 h 15 min. It costs 730 h of a node a month."""
    plan = evaluate(scenario(spares={"nodes": 1, "wait_s": HOUR}))
    assert beyond_of(plan).spare_pays_above_s == pytest.approx(200 * HOUR / 32) == pytest.approx(6.25 * HOUR)
    assert beyond_of(plan).spares_usd_per_month == pytest.approx(730 * 142.416)


@pytest.mark.parametrize(("wait_h", "pays"), [(6.0, False), (6.5, True)])
def test_the_sentence_about_one_more_spare(wait_h: float, pays: bool) -> None:
    plan = evaluate(scenario(spares={"wait_s": wait_h * HOUR}))
    said = next(finding.message for finding in plan.findings if finding.path == "spares.nodes")
    assert ("one more spare pays" in said) is pays
    assert ("does not pay" in said) is not pays


# ---------------------------------------------------------------- zones


def test_across_zones_in_a_month() -> None:
    """730 h / 44.7 min = 979 saves of 1.742 TB, and 730 / 200 restarts: about 1.7 PB; at 0.01 $ a GB 17,000 $."""
    plan = evaluate(scenario({"network.same_zone": False, "prices.cross_zone_usd_per_gb": 0.01}))
    month = 730 * HOUR
    by_hand = month * (S / schedule_of(plan).interval_s + S / M)
    assert beyond_of(plan).zone_bytes_per_month == pytest.approx(by_hand)
    assert printed(by_hand, "1.7", 1e15) == "1.7"
    assert beyond_of(plan).zone_usd_per_month == pytest.approx(by_hand / GB * 0.01)
    assert beyond_of(evaluate(scenario())).zone_bytes_per_month == 0.0


def test_only_what_is_read_from_shared_storage_crosses_zones() -> None:
    """With 0.9 from peers a tenth of the interruptions reads; 4 copies each."""
    plan = evaluate(scenario(PEERS, {"network.same_zone": False, "restore.copies": 4}))
    by_hand = 730 * HOUR * (S / schedule_of(plan).interval_s + 0.1 * 4 * S / M)
    assert beyond_of(plan).zone_bytes_per_month == pytest.approx(by_hand, rel=1e-12)


def test_other_saves_cross_zones_where_they_go_to_the_file_system() -> None:
    rows = saves({"to": "shared", "bytes": 600e9, "every_s": DAY, "keep": 1}, {"to": "s3", "bytes": 600e9, "every_s": DAY})
    plan = evaluate(scenario(rows, {"network.same_zone": False}))
    by_hand = 730 * HOUR * (S / schedule_of(plan).interval_s + S / M + 600e9 / DAY)
    assert beyond_of(plan).zone_bytes_per_month == pytest.approx(by_hand)


# ---------------------------------------------------------------- neutral


def differences(one: Plan, other: Plan) -> set[str]:
    return {name for name in OUTPUTS if getattr(one, name) != getattr(other, name)}


def test_a_scenario_without_the_new_sections_is_one_with_their_defaults() -> None:
    whole = Scenario().model_dump(mode="json")
    new = ("datapath", "memory", "replication", "saves", "planned", "restart", "shared", "spares", "network")
    old = Scenario.model_validate({name: value for name, value in whole.items() if name not in new})
    assert differences(evaluate(Scenario.model_validate(whole)), evaluate(old)) == set()


@pytest.mark.parametrize(
    ("changes", "may_differ"),
    [
        ({"planned.notice_s": 60.0, "planned.queue_s": 3600.0}, set()),
        ({"network.same_zone": True, "prices.cross_zone_usd_per_gb": 0.02}, set()),
        ({"shared.used_bytes": 0.0, "shared.load_bytes_per_s": 0.0, "shared.jobs": 1}, set()),
        ({"restart.classes": (), "saves": ()}, set()),
        ({"spares.nodes": 0, "spares.wait_s": 0.0}, set()),
        ({"datapath.efa_connections": 16, "datapath.tcp_flow": "placement", "datapath.tcp_flows": 4}, {"datapath"}),
        ({"memory.pinned_bytes": 1e9, "memory.ram_disk_bytes": 1e9, "memory.staging_copies": 2}, {"host_ram"}),
        ({"spares.nodes": 1}, {"beyond", "cost", "findings", "storage"}),
        ({"saves": ({"to": "s3", "every_s": DAY},)}, {"beyond", "cost", "findings", "datapath", "storage"}),
    ],
)
def test_what_is_neutral_changes_nothing_else(changes: dict[str, Any], may_differ: set[str]) -> None:
    assert differences(evaluate(scenario(changes)), evaluate(scenario())) <= may_differ


# ---------------------------------------------------------------- what belongs together


def test_all_jobs_read_together_or_are_bound_by_their_own_nodes() -> None:
    """One node each at 12.5 GB/s beside a file system of 96 GB/s: ten jobs read 17.4 TB in 181 s, alone each needs 139 s."""
    plan = evaluate(scenario({"workload.nodes": 1, "storage.tier": "p2-1000-96000", "shared.jobs": 10}))
    alone, together = S / 12.5e9, 10 * S / 96e9
    assert schedule_of(plan).restore_read_s == pytest.approx(alone)
    assert beyond_of(plan).restart_all_s == pytest.approx(schedule_of(plan).restart_s + together - alone)


def test_other_saves_are_kept_for_every_job() -> None:
    row = saves({"to": "shared", "bytes": 1e15, "every_s": DAY, "keep": 1})
    one, four = (evaluate(scenario(row, {"shared.jobs": jobs})).storage.chosen for jobs in (1, 4))
    assert one is not None
    assert four is not None
    assert four.fill_ratio * four.capacity_gib == pytest.approx(4 * one.fill_ratio * one.capacity_gib)


def test_a_lost_node_waits_for_its_replacement_before_its_copies_exist_again() -> None:
    def window(**more: float) -> float:
        plan = evaluate(scenario({"replication.factor": 2}, {f"spares.{name}": value for name, value in more.items()}))
        assert plan.replication is not None
        return known(plan.replication.window_needed_s)

    assert window(wait_s=DAY) == pytest.approx(window() + DAY)


def test_a_final_save_is_made_once() -> None:
    assert beyond_of(evaluate(scenario(saves({"kind": "final"})))).saves[0].count_in_run == 1


def test_planned_stops_take_no_more_than_what_is_left() -> None:
    plan = evaluate(scenario({"planned.every_s": 1000.0}))
    assert waste_of(plan).total_fraction == pytest.approx(1.0)
    assert plan.cost is not None
    assert known(plan.cost.lost_gpu_usd_per_year) == pytest.approx(8760 * 256 * 142.416 / 8)
