"""The numbers that Article A and docs/models.md print for the worked example, at the precision they are printed with."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ckptplanner.data import catalog
from ckptplanner.engine import curves, fsx, interval, tradeoff
from ckptplanner.engine.evaluate import evaluate
from ckptplanner.engine.interruptions import scaled_mtbi_s
from ckptplanner.engine.plan import Option, Plan
from ckptplanner.engine.scenario import CustomStorage
from ckptplanner.units import DAY, GB, GBPS, GIB, HOUR, MINUTE, SECONDS, TB, rough
from tests.engine.build import ARTICLE, INSTANT, SIX_BYTES, SYNC, percent, printed, scenario

# ---------------------------------------------------------------- size


@pytest.mark.parametrize(
    ("layout", "sum_bytes"),
    [("megatron-14", 14), ("zero-16", 16), ("fsdp2-12", 12), ("deepseek-10", 10), ("bf16-6", 6), ("weights-2", 2)],
)
def test_presets_sum_to_the_bytes_of_the_table(layout: str, sum_bytes: float) -> None:
    assert scenario(workload={"layout": layout}).workload.bytes_per_param == sum_bytes


@pytest.mark.parametrize(
    ("layout", "size_tb", "node_gb"),
    [("weights-2", "0.25", "7.8"), ("megatron-14", "1.742", "54"), ("deepseek-10", "1.24", "39"), ("bf16-6", "0.75", "23")],
)
def test_sizes_of_the_example(layout: str, size_tb: str, node_gb: str) -> None:
    found = evaluate(scenario(workload={"layout": layout})).checkpoint
    assert printed(found.checkpoint_bytes, size_tb, TB) == size_tb
    assert printed(found.bytes_per_node, node_gb, GB) == node_gb


def test_a_single_writer_moves_everything() -> None:
    found = evaluate(scenario(workload={"writer": "single"})).checkpoint
    assert found.bytes_per_node == found.checkpoint_bytes


def test_frozen_parts_count_inside_the_total_and_active_parameters_never() -> None:
    assert evaluate(scenario(workload={"frozen_params": 24.45e9})).checkpoint.checkpoint_bytes == 100e9 * 14 + 24.45e9 * 2
    assert evaluate(scenario(workload={"active_params": 1e9})).checkpoint.checkpoint_bytes == 124.45e9 * 14


def test_a_measured_size_overrides_the_product() -> None:
    assert evaluate(scenario(workload={"measured_bytes": 1.5e12})).checkpoint.checkpoint_bytes == 1.5e12


# ---------------------------------------------------------------- interval and waste; R = 900 s here only

R_900 = {"failures.start_s": 540.0, "storage.custom": INSTANT}


@pytest.mark.parametrize(
    ("mode", "mtbi_h", "stop_s", "write_s", "durable_s", "interval", "waste"),
    [
        ("sync", 200, 5, 5, 5, ("45", MINUTE), "0.50"),
        ("sync", 200, 60, 60, 60, ("2.6", HOUR), "1.42"),
        ("sync", 200, 300, 300, 300, ("5.8", HOUR), "3.05"),
        ("async", 200, 5, 300, 305, ("45", MINUTE), "0.54"),
        ("sync", 32, 5, 5, 5, ("18", MINUTE), "1.72"),
        ("sync", 31.6, 5, 5, 5, ("18", MINUTE), "1.73"),
        ("sync", 781, 5, 5, 5, ("88", MINUTE), "0.22"),
    ],
)
def test_the_table_of_intervals_and_waste(
    mode: str, mtbi_h: float, stop_s: float, write_s: float, durable_s: float, interval: tuple[str, float], waste: str
) -> None:
    plan = evaluate(
        scenario(
            ARTICLE, R_900, failures={"mtbi_s": mtbi_h * HOUR},
            storage={"mode": mode, "blocking_s": float(stop_s), "write_s": float(write_s)},
        )
    )  # fmt: skip
    assert plan.schedule is not None
    assert plan.waste is not None
    assert plan.schedule.restart_s == pytest.approx(900)
    assert plan.schedule.durable_after_s == durable_s
    assert printed(plan.schedule.interval_s, *interval) == interval[0]
    assert plan.schedule.interval_s == pytest.approx((2 * stop_s * mtbi_h * HOUR) ** 0.5)
    assert percent(plan.waste.chosen_fraction, waste) == percent(plan.waste.first_order_fraction, waste) == waste


def test_rework_of_an_interval_of_45_minutes_and_a_checkpoint_after_5() -> None:
    waste = evaluate(scenario(storage={"interval_s": 45 * MINUTE, "write_s": 5 * MINUTE - 5})).waste
    assert waste is not None
    assert (waste.mean_rework_s / MINUTE, waste.worst_rework_s / MINUTE) == (27.5, 50.0)


def test_the_rate_below_which_saves_overlap() -> None:
    interval_s = float(interval.young_interval_s(np.array(5.0), 200 * HOUR))
    just = evaluate(scenario(storage={"interval_s": interval_s, "write_s": interval_s - 5.0}))
    assert printed(just.storage.required_write_bytes_per_s, "0.65", GB) == "0.65"
    assert just.schedule is not None
    assert just.schedule.period_s == pytest.approx(interval_s)
    slower = evaluate(scenario(storage={"interval_s": interval_s, "write_s": interval_s + 95.0}))
    assert slower.schedule is not None
    assert slower.schedule.period_s == pytest.approx(interval_s + 100.0)
    assert [f.severity for f in slower.findings if f.path == "storage.interval_s"] == ["warning"]


def test_first_order_waste_tends_to_c_over_t_as_interruptions_vanish() -> None:
    waste = evaluate(scenario(ARTICLE, failures={"mtbi_s": 1e13}, storage={"interval_s": 1000.0})).waste
    assert waste is not None
    assert waste.first_order_fraction == pytest.approx(5 / 1000, rel=1e-6)
    assert waste.exact_fraction == pytest.approx(5 / 1000, rel=1e-6)


# ---------------------------------------------------------------- how often jobs are interrupted


@pytest.mark.parametrize(
    ("record", "hours"),
    [
        ("meta-rsc-1024", "32"), ("opt-all", "53"), ("opt-manual", "159"), ("bloom-2", "126"), ("bloom-1", "252"),
        ("llama3-all", "178"), ("llama3-unexpected", "198"), ("llama3-hardware", "254"), ("megascale", "197"), ("acme", "781"),
    ],
)  # fmt: skip
def test_published_records_scaled_to_32_nodes(record: str, hours: str) -> None:
    row = catalog.interruption_record(record)
    assert printed(scaled_mtbi_s(row.mtbi_s, row.nodes, 32), hours, HOUR) == hours
    plan = evaluate(scenario(failures={"mtbi_s": row.mtbi_s, "mtbi_nodes": row.nodes}))
    assert plan.schedule is not None
    assert printed(plan.schedule.mtbi_s, hours, HOUR) == hours


def test_the_meta_record_is_31_6_hours() -> None:
    row = catalog.interruption_record("meta-rsc-1024")
    assert printed(scaled_mtbi_s(row.mtbi_s, row.nodes, 32), "31.6", HOUR) == "31.6"


def test_the_time_between_interruptions_follows_the_node_count() -> None:
    plan = evaluate(scenario(workload={"nodes": 128}))
    assert plan.schedule is not None
    assert plan.schedule.mtbi_s == 50 * HOUR


# ---------------------------------------------------------------- FSx for Lustre

ASYNC_20_MIN: dict[str, Any] = {"storage.write_s": 1200.0}
SYNC_1_MIN: dict[str, Any] = SYNC | {"storage.write_s": 60.0}


@pytest.mark.parametrize(
    ("changes", "rate", "tier", "baseline", "bound_by", "usd", "waste"),
    [
        (ASYNC_20_MIN, "1.45", (250, 7200, False), "1.8", "capacity", 1512, "0.76"),
        ({}, "5.8", (500, 12_000, False), "6.0", "throughput", 4080, "0.54"),
        (SIX_BYTES, "2.5", (500, 7200, False), "3.6", "throughput", 2448, "0.53"),
        (SYNC_1_MIN, "29", (1000, 33_600, True), "33.6", "throughput", 20_160, "1.39"),
    ],
    ids=["20-min", "5-min", "6-bytes", "sync-1-min"],
)
def test_the_four_plans(
    changes: dict[str, Any], rate: str, tier: tuple[int, int, bool], baseline: str, bound_by: str, usd: int, waste: str
) -> None:
    plan = evaluate(scenario(ARTICLE, changes))
    chosen = plan.storage.chosen
    assert chosen is not None
    assert plan.waste is not None
    assert plan.schedule is not None
    assert printed(plan.storage.required_write_bytes_per_s, rate, GB) == rate
    assert (chosen.throughput_mb_per_s_per_tib, chosen.capacity_gib, chosen.efa) == tier
    assert printed(chosen.baseline_bytes_per_s, baseline, GB) == baseline
    assert chosen.bound_by == bound_by
    assert chosen.usd_per_month == pytest.approx(usd, abs=1e-6)
    assert percent(plan.waste.chosen_fraction, waste) == waste
    assert plan.schedule.restart_s == pytest.approx(600 + plan.checkpoint.checkpoint_bytes / chosen.baseline_bytes_per_s)
    assert plan.count("error") == 0


OPTIONS = {
    (125, False): (48_000, 7000), (250, False): (24_000, 5000), (500, False): (12_000, 4100), (1000, False): (7200, 4300),
    (125, True): (76_800, 11_100), (250, True): (38_400, 8100), (500, True): (19_200, 6500), (1000, True): (9600, 5800),
}  # fmt: skip


def test_all_options_of_the_5_minute_plan() -> None:
    plan = evaluate(scenario(ARTICLE))
    found = {
        (option.throughput_mb_per_s_per_tib, option.efa): (option.capacity_gib, round(option.usd_per_month or 0.0, -2))
        for option in plan.storage.options
    }
    assert found == OPTIONS
    bound = {option.id: option.bound_by for option in plan.storage.options}
    assert bound["p2-1000-7200"] == bound["p2-1000-9600-efa"] == "capacity"
    assert bound["p2-125-48000"] == bound["p2-500-12000"] == "throughput"


def test_gpu_to_host_and_rework_of_the_5_minute_plan() -> None:
    plan = evaluate(scenario(ARTICLE))
    assert plan.schedule is not None
    assert plan.waste is not None
    assert printed(plan.checkpoint.bytes_per_node / plan.schedule.blocking_s, "11", GB) == "11"
    assert printed(plan.waste.worst_rework_s, "50", MINUTE) == "50"


def test_the_options_come_cheapest_first() -> None:
    prices = [option.usd_per_month for option in evaluate(scenario()).storage.options]
    assert prices == sorted(prices)  # type: ignore[type-var]


@pytest.mark.parametrize(
    ("tau", "efa", "step", "burst", "price"),
    [
        (125, False, 2400, 500, 0.145), (250, False, 2400, 500, 0.210), (500, False, 2400, None, 0.340),
        (1000, False, 2400, None, 0.600), (125, True, 38_400, 500, 0.145), (250, True, 19_200, 500, 0.210),
        (500, True, 9600, None, 0.340), (1000, True, 4800, None, 0.600),
    ],
)  # fmt: skip
def test_the_table_of_tiers(tau: float, efa: bool, step: float, burst: float | None, price: float) -> None:
    row = catalog.fsx_tier(f"p2-{tau}{'-efa' if efa else ''}")
    assert (row.step_gib, row.small_gib, row.burst_mb_per_s_per_tib) == (step, None if efa else 1200, burst)
    assert scenario().prices.storage_usd_per_gib_month.at(tau) == price


def test_capacity_and_baseline_by_hand() -> None:
    """Capacity for 5.8077 GB/s at 500 MB/s/TiB, 1,000 GiB counted as 1 TiB; the baseline back from it."""
    needed = fsx.throughput_gib(np.array(124.45e9 * 14 / 300), np.array(500.0))
    assert float(needed) == pytest.approx(11_615.33, abs=0.01)
    assert float(fsx.legal_capacity_gib(needed, np.array(2400.0), np.array(1200.0))) == 12_000
    assert float(fsx.baseline_bytes_per_s(np.array(12_000.0), np.array(500.0))) == 6e9
    assert fsx.generations_gib(124.45e9 * 14, 4, 1.0) == pytest.approx(4 * 124.45e9 * 14 / 2**30)


@pytest.mark.parametrize(("needed", "legal"), [(1.0, 1200), (1200.0, 1200), (1200.1, 2400), (2400.0, 2400), (2401.0, 4800)])
def test_the_smallest_legal_capacities_without_efa(needed: float, legal: float) -> None:
    assert float(fsx.legal_capacity_gib(np.array(needed), np.array(2400.0), np.array(1200.0))) == legal


@pytest.mark.parametrize(("needed", "legal"), [(1.0, 4800), (4800.0, 4800), (4801.0, 9600)])
def test_the_smallest_legal_capacities_with_efa(needed: float, legal: float) -> None:
    assert float(fsx.legal_capacity_gib(np.array(needed), np.array(4800.0), np.array(0.0))) == legal


def chosen_of(*changes: dict[str, Any], **sections: dict[str, Any]) -> Option:
    chosen = evaluate(scenario(*changes, **sections)).storage.chosen
    assert chosen is not None
    return chosen


@pytest.mark.parametrize(
    ("tier", "node", "gbps"),
    [
        ("p2-500-1200", "p6-b300.48xlarge", 5), ("p2-500-2400", "p6-b300.48xlarge", 5),
        ("p2-500-12000", "p6-b300.48xlarge", 25),
        ("p2-500-72000", "p6-b300.48xlarge", 100), ("p2-500-9600-efa", "p6-b300.48xlarge", 700),
        ("p2-500-9600-efa", "p5.48xlarge", 1200),
    ],
)  # fmt: skip
def test_what_one_client_reaches(tier: str, node: str, gbps: float) -> None:
    chosen = chosen_of(storage={"tier": tier}, workload={"node": node})
    assert chosen.client_bytes_per_s == pytest.approx(gbps * GBPS)


def test_a_single_writer_is_held_by_its_client_limit() -> None:
    """12,000 GiB are 5 servers: 25 Gbps, 3.125 GB/s, against 6 GB/s of the file system."""
    plan = evaluate(scenario(workload={"writer": "single"}, storage={"pace": "full", "tier": "p2-500-12000"}))
    assert plan.schedule is not None
    assert plan.schedule.writes_in_s == pytest.approx(124.45e9 * 14 / 3.125e9)


def test_efa_is_assumed_above_10_gb_per_s_and_may_be_forced() -> None:
    just_below = 124.45e9 * 14 / 9.99e9
    just_above = 124.45e9 * 14 / 10.01e9
    assert not chosen_of(storage={"write_s": just_below}).efa
    assert chosen_of(storage={"write_s": just_above}).efa
    assert chosen_of(storage={"efa": "on"}).id == "p2-1000-9600-efa"
    assert not chosen_of(storage={"write_s": just_above, "efa": "off"}).efa


def test_efficiencies_and_fill_take_their_places_in_the_formula() -> None:
    """W / 0.8 = 7.26 GB/s: 500 x 14,519 GiB -> 16,800. R reads at half of the baseline of 8.4 GB/s."""
    changes = {"write_efficiency": 0.8, "read_efficiency": 0.5, "tier": "auto"}
    by_tier = {
        (option.throughput_mb_per_s_per_tib, option.efa): option
        for option in evaluate(scenario(storage=changes)).storage.options
    }
    option = by_tier[500.0, False]
    assert option.capacity_gib == 16_800
    assert option.restart_s == pytest.approx(600 + 124.45e9 * 14 / (8.4e9 * 0.5))
    held = 4 * 124.45e9 * 14 / GIB
    filled = {o.id for o in evaluate(scenario(storage={"max_fill": held / 9600, "write_s": 2600.0})).storage.options}
    assert "p2-250-9600" in filled


# ---------------------------------------------------------------- idle GPUs against storage

SYNC_YEAR = scenario(ARTICLE, SYNC)


@pytest.mark.parametrize(
    ("stop_s", "hours", "idle", "storage", "total"),
    [
        (30.0, 10_200, "182", "449", "631"), (60.0, 14_500, "258", "242", "500"), (120.0, 20_500, "364", "138", "503"),
        (300.0, 32_400, "576", "49", "625"),
    ],
)  # fmt: skip
def test_the_table_of_a_year(stop_s: float, hours: float, idle: str, storage: str, total: str) -> None:
    found = tradeoff.at(SYNC_YEAR, np.array([stop_s]), rework=False, restarts=False)
    assert round(float(found.idle_gpu_h_per_year[0]), -2) == hours
    assert printed(float(found.idle_usd_per_year[0]), idle, 1e3) == idle
    assert printed(float(found.storage_usd_per_year[0]), storage, 1e3) == storage
    assert printed(float(found.total_usd_per_year[0]), total, 1e3) == total
    cost = evaluate(scenario(ARTICLE, SYNC, storage={"write_s": stop_s})).cost
    assert cost is not None
    assert cost.stalled_gpu_h_per_year is not None
    assert round(cost.stalled_gpu_h_per_year, -2) == hours
    assert printed(cost.stalled_gpu_usd_per_year or 0.0, idle, 1e3) == idle


def test_the_least_total_of_idle_and_storage() -> None:
    least = tradeoff.tradeoff(SYNC_YEAR, rework=False, restarts=False).least
    assert least is not None
    assert printed(least.least_at, "90.745") == "90.745"
    assert printed(least.least_value, "455155") == "455,155"
    pieces = [(printed(a, "0.00"), printed(b, "0.00")) for a, b in zip(least.starts, least.ends, strict=True)]
    assert pieces == [("60.50", "61.76"), ("72.60", "79.17"), ("90.74", "98.73")]


def test_the_least_total_with_rework_and_restarts() -> None:
    least = tradeoff.tradeoff(SYNC_YEAR).least
    assert least is not None
    assert printed(least.least_at, "51.854") == "51.854"
    assert least.least_value == pytest.approx(760_069, abs=1)
    pieces = [(printed(a, "0.0"), printed(b, "0.0")) for a, b in zip(least.starts, least.ends, strict=True)]
    assert pieces == [("40.3", "42.5"), ("45.4", "49.4"), ("51.9", "56.8"), ("60.5", "64.7"), ("72.6", "73.1")]
    parts = tradeoff.at(SYNC_YEAR, np.array([least.least_at]), rework=True, restarts=True)
    assert float(parts.idle_usd_per_year[0]) == pytest.approx(239_565, abs=1)
    assert float(parts.storage_usd_per_year[0]) == pytest.approx(241_920, abs=1)
    assert float(parts.rework_usd_per_year[0]) == pytest.approx(242_440, abs=1)
    assert float(parts.restart_usd_per_year[0]) == pytest.approx(36_144, abs=1)
    assert float(parts.total_usd_per_year[0]) == pytest.approx(least.least_value, abs=1e-6)


def test_the_plan_at_the_least_total_has_the_same_dollars() -> None:
    cost = evaluate(scenario(ARTICLE, SYNC, storage={"write_s": 51.854167})).cost
    assert cost is not None
    assert cost.stalled_gpu_usd_per_year == pytest.approx(239_565, abs=1)
    assert cost.storage_usd_per_year == pytest.approx(241_920, abs=1)
    assert cost.rework_usd_per_year == pytest.approx(242_440, abs=1)
    assert cost.restart_usd_per_year == pytest.approx(36_144, abs=1)
    assert cost.total_usd_per_year == pytest.approx(760_069, abs=1)


def test_the_3_percent_ranges_hold_where_they_say_and_nowhere_else() -> None:
    """Looks at the total itself, one point in each piece, one beside each end, and one in each gap."""
    least = tradeoff.tradeoff(SYNC_YEAR).least
    assert least is not None
    limit = 1.03 * least.least_value
    middle = (least.starts + least.ends) / 2
    outside = np.concatenate([least.ends * 1.0001, least.starts * 0.9999, [30.0, 300.0]])
    assert np.all(tradeoff.at(SYNC_YEAR, middle, rework=True, restarts=True).total_usd_per_year <= limit)
    assert np.all(tradeoff.at(SYNC_YEAR, outside, rework=True, restarts=True).total_usd_per_year > limit)


def test_cheaper_gpus_move_the_least_total_to_longer_stops() -> None:
    ends = [tradeoff.tradeoff(SYNC_YEAR, gpu_value_usd_per_h=value).least for value in (17.802, 6.0, 2.0)]
    places = [least.least_at for least in ends if least is not None]
    assert len(places) == 3
    assert places == sorted(set(places))


# ---------------------------------------------------------------- the two graphs of Article A

GRAPH_S = np.array([20.0, 60.0, 300.0, 1200.0, 2400.0])


def test_the_waste_graph() -> None:
    drawn = curves.curves(scenario(ARTICLE), GRAPH_S)
    sync = [percent(float(value), "0.000") for value in drawn.picked(drawn.sync.first_order_fraction)]
    run_async = [percent(float(value), "0.000") for value in drawn.picked(drawn.run_async.first_order_fraction)]
    assert sync == ["0.834", "1.390", "3.052", "6.158", "8.851"]
    assert run_async == ["0.462", "0.472", "0.539", "0.758", "1.059"]


def test_the_cost_graph() -> None:
    drawn = curves.curves(scenario(ARTICLE), GRAPH_S)
    assert drawn.picked(drawn.usd_per_month).tolist() == pytest.approx([54_720, 20_160, 4080, 1512, 1044], abs=1e-6)


# ---------------------------------------------------------------- beyond the articles

OWN: dict[str, Any] = {"write_bytes_per_s": 10e9, "read_bytes_per_s": 20e9, "usable_bytes": 20e12}


def test_storage_that_exists_at_full_pace_sets_the_write_time() -> None:
    changes = {"custom": CustomStorage(**OWN), "pace": "full", "write_efficiency": 0.5}
    plan = evaluate(scenario(storage=changes))
    assert plan.schedule is not None
    assert plan.storage.chosen is not None
    assert plan.schedule.write_s == plan.schedule.writes_in_s == pytest.approx(124.45e9 * 14 / 5e9)
    assert plan.schedule.durable_after_s == pytest.approx(5 + 124.45e9 * 14 / 5e9)
    assert plan.schedule.restart_s == pytest.approx(600 + 124.45e9 * 14 / 20e9)
    assert plan.storage.chosen.fill_ratio == pytest.approx(4 * 124.45e9 * 14 / 20e12)
    stopped = evaluate(scenario(SYNC, storage=changes)).schedule
    assert stopped is not None
    assert stopped.blocking_s == pytest.approx(124.45e9 * 14 / 5e9)


def test_storage_that_exists_within_a_time_keeps_that_time_or_says_that_it_is_too_short() -> None:
    plan = evaluate(scenario(storage={"custom": CustomStorage(**OWN), "write_s": 200.0}))
    assert plan.schedule is not None
    assert (plan.schedule.write_s, plan.count("error")) == (200.0, 0)
    assert plan.schedule.writes_in_s == pytest.approx(174.23)
    short = evaluate(scenario(storage={"custom": CustomStorage(**OWN), "write_s": 174.0}))
    assert [(f.severity, f.path) for f in short.findings if f.severity == "error"] == [("error", "storage.write_s")]


def test_fill_of_the_20_minute_plan_and_the_cheapest_at_85_percent() -> None:
    assert percent(chosen_of(ASYNC_20_MIN).fill_ratio, "90.1") == "90.1"
    roomy = chosen_of(ASYNC_20_MIN, storage={"max_fill": 0.85})
    assert (roomy.throughput_mb_per_s_per_tib, roomy.capacity_gib) == (125, 12_000)
    assert roomy.usd_per_month == pytest.approx(1740)


def test_the_two_times_of_a_write() -> None:
    within = evaluate(scenario(ASYNC_20_MIN))
    full = evaluate(scenario(ASYNC_20_MIN, storage={"pace": "full"}))
    assert within.schedule is not None
    assert full.schedule is not None
    assert within.waste is not None
    assert full.waste is not None
    assert (within.schedule.write_s, printed(within.schedule.writes_in_s, "968")) == (1200, "968")
    assert printed(full.schedule.write_s, "968") == "968"
    assert percent(within.waste.chosen_fraction, "0.754") == "0.754"
    assert percent(full.waste.chosen_fraction, "0.722") == "0.722"


@pytest.mark.parametrize(("copies", "restart"), [(1, "890"), (4, "1,762")])
def test_restore_by_copies(copies: int, restart: str) -> None:
    schedule = evaluate(scenario(restore={"copies": copies})).schedule
    assert schedule is not None
    assert printed(schedule.restart_s, "0") == restart


def test_restore_is_held_by_what_the_nodes_can_take() -> None:
    """2 nodes x 25 Gbps = 6.25 GB/s against 100 servers' worth of file system."""
    plan = evaluate(scenario(workload={"nodes": 1}, storage={"tier": "p2-1000-12000"}))
    assert plan.schedule is not None
    assert plan.schedule.restore_read_s == pytest.approx(124.45e9 * 14 / (25 * GBPS))


def test_background_loss() -> None:
    plan = evaluate(scenario(storage={"background_loss_s": 54.0}))
    assert plan.schedule is not None
    assert plan.waste is not None
    assert printed(plan.schedule.interval_s, "154", MINUTE) == "154"
    assert percent(plan.waste.chosen_fraction, "1.44") == "1.44"
    assert plan.schedule.durable_after_s == 305


def test_published_at_the_next_save() -> None:
    plan = evaluate(scenario(storage={"published": "next_save"}))
    assert plan.schedule is not None
    assert plan.waste is not None
    assert printed(plan.schedule.interval_s, "26", MINUTE) == "26"
    assert percent(plan.waste.chosen_fraction, "0.77") == "0.77"
    assert plan.schedule.durable_after_s == plan.schedule.interval_s
    young = evaluate(scenario(ARTICLE, storage={"published": "next_save"})).schedule
    assert young is not None
    assert young.interval_s == pytest.approx((2 * 5 * 720_000 / 3) ** 0.5)


def test_reach() -> None:
    schedule = evaluate(scenario()).schedule
    assert schedule is not None
    assert rough(schedule.reach_s, SECONDS).replace("\u00a0", " ") == "2 h 14 min"


def test_ideal_and_with_allowances() -> None:
    allowances = {
        "storage.max_fill": 0.85, "storage.read_efficiency": 0.7, "failures.detect_s": 600.0, "storage.background_loss_s": 15.0,
    }  # fmt: skip
    ideal, real = evaluate(scenario()).waste, evaluate(scenario(allowances)).waste
    assert ideal is not None
    assert real is not None
    assert percent(ideal.chosen_fraction, "0.54") == "0.54"
    assert percent(real.chosen_fraction, "1.00") == "1.00"


def test_the_defaults_decide_by_the_exact_models_and_show_both() -> None:
    plan = evaluate(scenario())
    assert plan.waste is not None
    assert plan.cost is not None
    assert plan.schedule is not None
    assert plan.waste.chosen_fraction == plan.waste.exact_fraction != plan.waste.first_order_fraction
    assert plan.cost.lost_gpu_usd_per_year == pytest.approx(8760 * 32 * 142.416 * (plan.waste.exact_fraction or 0.0))
    article = evaluate(scenario(ARTICLE))
    assert article.waste is not None
    assert article.cost is not None
    assert article.cost.lost_gpu_usd_per_year == pytest.approx(
        8760 * 32 * 142.416 * (article.waste.first_order_fraction or 0.0)
    )


def test_exact_dollars_split_the_interruption_share_as_first_order_would() -> None:
    plan = evaluate(scenario())
    assert plan.waste is not None
    assert plan.cost is not None
    assert plan.schedule is not None
    year = 8760 * 32 * 142.416
    rework, restart = plan.waste.mean_rework_s, plan.schedule.restart_s
    share = (plan.waste.interruption_fraction or 0.0) / (rework + restart)
    assert plan.cost.rework_usd_per_year == pytest.approx(year * share * rework)
    assert plan.cost.restart_usd_per_year == pytest.approx(year * share * restart)
    assert plan.cost.stalled_gpu_usd_per_year == pytest.approx(year * 5 / plan.schedule.interval_s)


# ---------------------------------------------------------------- storage that exists, faster than anything sold


@pytest.mark.parametrize("pace", ["within", "full"])
def test_we_already_have_storage(pace: str) -> None:
    custom = CustomStorage(write_bytes_per_s=250e9, read_bytes_per_s=700e9, usable_bytes=2e15)
    plan: Plan = evaluate(scenario(storage={"custom": custom, "pace": pace}))
    assert plan.schedule is not None
    assert plan.count("error") == 0
    assert rough(plan.schedule.interval_s, SECONDS).replace("\u00a0", " ") == "45 min"
    assert printed(plan.schedule.writes_in_s, "7") == "7"
    assert printed(plan.schedule.restore_read_s, "2.5") == "2.5"


def test_the_run_in_days_is_a_limit_in_seconds() -> None:
    schedule = evaluate(scenario(storage={"interval_s": 3 * DAY}, run={"days": 2.0})).schedule
    assert schedule is not None
    assert schedule.interval_s == 2 * DAY
