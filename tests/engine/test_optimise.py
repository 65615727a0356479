"""The search for the best plan: the numbers of the issue, brute force, and that every proposal is one that works."""

from __future__ import annotations

import math
import warnings
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ckptplanner.data import catalog
from ckptplanner.engine import fsx
from ckptplanner.engine.evaluate import evaluate
from ckptplanner.engine.families import FAMILIES, Sizes, supplies
from ckptplanner.engine.job import job_of
from ckptplanner.engine.operations import SaveRow
from ckptplanner.engine.optimise import LIMITS, Proposal, Search, goal, optimise
from ckptplanner.engine.outcome import fixed_tier, outcome
from ckptplanner.engine.ranking import Bounds, polished
from ckptplanner.engine.scenario import CustomStorage, Scenario
from ckptplanner.engine.ways import changed
from ckptplanner.frozen import with_value
from ckptplanner.units import GIB
from tests.engine.build import ARTICLE, SIX_BYTES, STEADY, scenario

P2_ALONE: dict[str, Any] = {"families": ("fsx-p2",), "levels": "single"}


def agrees(proposal: Proposal) -> None:
    """The figures of a proposal are those of its scenario, and nothing stands in its way."""
    plan = evaluate(proposal.scenario)
    errors = [finding.message for finding in plan.findings if finding.severity == "error"]
    assert errors == []
    assert plan.schedule is not None
    assert plan.waste is not None
    assert plan.cost is not None
    chosen = plan.storage.chosen
    assert chosen is not None
    assert chosen.illegal_reason is None
    assert plan.waste.total_fraction == pytest.approx(proposal.waste_fraction, rel=1e-9)
    assert plan.waste.worst_rework_s == pytest.approx(proposal.worst_rework_s, rel=1e-9)
    assert plan.schedule.interval_s == pytest.approx(proposal.interval_s, rel=1e-9)
    assert plan.schedule.write_s == pytest.approx(proposal.write_s, rel=1e-9)
    if proposal.usd_per_month is not None:
        assert chosen.usd_per_month == pytest.approx(proposal.usd_per_month, rel=1e-9)
    if proposal.total_usd_per_year is not None:
        assert plan.cost.total_usd_per_year == pytest.approx(proposal.total_usd_per_year, rel=1e-9)


def by_edits(base: Scenario, proposal: Proposal) -> Scenario:
    for path, value in proposal.edits:
        base = with_value(base, path, value)
    return base


# ---------------------------------------------------------------- the numbers of the issue


def test_the_winner_of_the_articles_cluster() -> None:
    decision = optimise(scenario(ARTICLE), Search(**P2_ALONE))
    assert decision.best is not None
    assert decision.best.total_usd_per_year is not None
    assert decision.best.total_usd_per_year <= 261_100
    assert (decision.best.id, decision.best.bound_by) == ("p2-1000-7200", "capacity")
    assert [tie.id for tie in decision.ties] == ["p2-500-9600", "p2-500-12000"]


def test_the_articles_plans_cost_more() -> None:
    for plan, usd in (
        ({"storage.write_s": 1200.0}, 320_677),
        ({"storage.write_s": 300.0}, 264_021),
        ({"storage.mode": "sync", "storage.write_s": 60.0}, 796_782),
    ):
        cost = evaluate(scenario(ARTICLE, plan)).cost
        assert cost is not None
        assert cost.total_usd_per_year == pytest.approx(usd, abs=1)


def test_the_winner_of_six_bytes() -> None:
    best = optimise(scenario(ARTICLE, SIX_BYTES), Search(**P2_ALONE)).best
    assert best is not None
    assert best.total_usd_per_year is not None
    assert best.total_usd_per_year <= 234_200


def test_least_waste_within_the_bill_of_the_article() -> None:
    search = Search(minimise="waste", limits=(("storage_usd_per_month", 1512.0),), **P2_ALONE)
    best = optimise(scenario(ARTICLE), search).best
    assert best is not None
    assert best.waste_fraction <= 0.00726
    assert best.usd_per_month == 1512
    assert best.bound_by == "storage_usd_per_month"


def test_synchronous_saves_of_spec_6() -> None:
    """The least total at 51.854 s, and the left ends of the pieces within 3 %."""
    decision = optimise(scenario(ARTICLE), Search(modes=("sync",), within_fraction=0.03, **P2_ALONE))
    assert decision.best is not None
    assert decision.best.write_s == pytest.approx(51.854, abs=5e-4)
    assert decision.best.total_usd_per_year == pytest.approx(760_069, abs=1)
    starts = sorted(round(one.write_s, 1) for one in (decision.best, *decision.ties))
    assert starts == [40.3, 45.4, 51.9, 60.5, 72.6]


def test_the_least_of_spec_6_without_rework() -> None:
    """Idle and storage alone, over the sizes that are searched: 90.745 s and 455,155 dollars."""
    rows = []
    base = scenario(ARTICLE, {"storage.mode": "sync"})
    job = job_of(base)
    for tier in base.storage.tiers:
        if not tier.efa:
            continue
        for steps in range(1, 40):
            systems = fixed_tier(base, tier, steps * tier.step_gib, np.ones(1))
            write = job.checkpoint_bytes / systems.write_bytes_per_s[0]
            if job.checkpoint_bytes / write[0] <= 10e9 or steps * tier.step_gib * GIB < job.held_bytes:
                continue
            found = outcome(base, job, systems, write, "sync")
            idle = found.saving_fraction * 8760 * 256 * job.gpu_value_usd_per_h
            rows.append((float((idle + found.storage_usd_per_year)[0, 0]), float(write[0])))
    total, write_s = min(rows)
    assert total == pytest.approx(455_155, abs=1)
    assert write_s == pytest.approx(90.745, abs=1e-3)


# ---------------------------------------------------------------- brute force


def problem(seed: int) -> Scenario:
    """A random job."""
    random = np.random.default_rng(seed)

    def between(low: float, high: float) -> float:
        return float(np.exp(random.uniform(np.log(low), np.log(high))))

    nodes = int(between(2, 2000))
    return scenario(
        {
            "workload.total_params": between(1e9, 2e12),
            "workload.nodes": nodes,
            "failures.mtbi_s": between(3e4, 3e6),
            "failures.mtbi_nodes": nodes,
            "storage.blocking_s": between(0.5, 60.0),
            "storage.generations_kept": int(random.integers(2, 8)),
            "storage.max_fill": float(random.uniform(0.6, 1.0)),
            "storage.write_efficiency": float(random.uniform(0.5, 1.0)),
            "storage.read_efficiency": float(random.uniform(0.5, 1.0)),
            "storage.slowdown_fraction": float(random.choice([0.0, 0.01])),
            "storage.background_loss_s": float(random.choice([0.0, 15.0])),
            "storage.latency_s": float(random.choice([0.0, 3.0])),
            "storage.waste_model": str(random.choice(["exact", "first_order"])),
            "storage.interval_model": str(random.choice(["exact", "young"])),
            "planned.every_s": float(random.choice([86_400.0, 604_800.0])) if random.random() < 0.3 else None,
            "shared.jobs": int(random.choice([1, 1, 1, 3])),
            "prices.gpu_value_usd_per_h": between(0.5, 20.0),
        }
    )


def brute_force(base: Scenario, minimise: str, budget: float) -> float:
    """The least total or waste over both modes, every size that the budget allows and a dense row of write times."""
    job, best = job_of(base), math.inf
    stretch = np.concatenate(([1.0 + 1e-12], np.geomspace(1.0001, 200.0, 60)))
    held = (job.held_bytes / GIB) / base.storage.max_fill
    for tier in base.storage.tiers:
        price = base.prices.storage_usd_per_gib_month.at(tier.throughput_mb_per_s_per_tib) or 0.0
        sizes = [tier.small_gib or 0.0, *(tier.step_gib * step for step in range(1, int(budget / price / tier.step_gib) + 1))]
        for size in sizes:
            if not size or size < held * (1 - 1e-9) or size * price > budget:
                continue
            for mode in ("async", "sync"):
                best = min(best, _least(with_value(base, "storage.mode", mode), job, tier, size, minimise, stretch))
    return best


def _least(base: Scenario, job: Any, tier: Any, size: float, minimise: str, stretch: Any) -> float:
    from ckptplanner.engine.outcome import can_feed, required_write_bytes_per_s, writing_at_once

    mode = base.storage.mode
    alone = outcome(base, job, fixed_tier(base, tier, size, np.ones(1)), np.ones(1), mode)
    fixed = base.storage.latency_s
    takes = float(alone.writes_in_s[0, 0]) - fixed
    write = np.concatenate([fixed + takes * stretch * jobs for jobs in range(1, base.shared.jobs + 1)])
    cap = 10e9 * base.storage.write_efficiency
    edge = np.array([base.storage.latency_s + job.checkpoint_bytes * jobs / cap * (1 + 1e-12) for jobs in range(1, 4)])
    write = np.concatenate((write, edge))
    writing = writing_at_once(base, job, write, mode)
    systems = fixed_tier(base, tier, size, writing)
    found = outcome(base, job, systems, write, mode)
    needed = required_write_bytes_per_s(base, job.checkpoint_bytes, write) / base.storage.write_efficiency
    able = found.writes_in_s[0] <= write * (1 + 1e-9)
    is_out = base.workload.nodes > base.datapath.efa_connections
    able &= (not tier.efa if is_out else (needed * writing > 10e9) == tier.efa) & can_feed(
        base, job, systems.client_bytes_per_s, needed, np.inf
    )[0]
    save = found.blocking_s[0] + (write if mode == "async" else 0.0)
    waste = found.chosen_fraction[0] + found.planned_fraction[0]
    able &= (save <= job.run_s) & (found.interval_s[0] > found.lost_s[0]) & (found.restart_s[0] < job.mtbi_s)
    able &= (found.blocking_s[0] < job.mtbi_s) & (found.exact_fraction[0] <= 0.95) & (waste <= 0.95)
    value = found.total_usd_per_year[0] if minimise == "cost" else waste
    return float(np.where(able, value, np.inf).min())


@pytest.mark.parametrize("seed", range(24))
def test_brute_force_finds_nothing_better(seed: int) -> None:
    base = problem(seed)
    minimise = "cost" if seed % 2 == 0 else "waste"
    budget = 40_000.0 if minimise == "waste" else 150_000.0
    search = Search(minimise="cost" if minimise == "cost" else "waste", limits=(("storage_usd_per_month", budget),), **P2_ALONE)
    decision = optimise(base, search)
    least = brute_force(base, minimise, budget)
    if decision.best is None:
        assert math.isinf(least)
        return
    found = decision.best.total_usd_per_year if minimise == "cost" else decision.best.waste_fraction
    assert found is not None
    assert found <= least * (1.0 + 2e-6)
    if base.shared.jobs == 1:  # else T is free here, and T* there
        assert found == pytest.approx(least, rel=2e-6)
    agrees(decision.best)


def test_opened_gaps_find_what_a_full_look_finds() -> None:
    base = scenario({"workload.total_params": 3e12, "workload.nodes": 1000, "failures.mtbi_nodes": 1000})
    full = optimise(base, Search(most_sizes=100_000, **P2_ALONE))
    few = optimise(base, Search(most_sizes=24, **P2_ALONE))
    assert full.best is not None
    assert few.best is not None
    assert few.best.id == full.best.id
    assert few.considered < full.considered / 5


# ---------------------------------------------------------------- every proposal works


@settings(STEADY, max_examples=16)
@given(
    params=st.floats(math.log(125e6), math.log(10e12)).map(math.exp),
    nodes=st.one_of(st.integers(1, 64), st.integers(1, 16_384)),
    node=st.sampled_from(("p6-b300.48xlarge", "p5.48xlarge", "g6e.12xlarge", "trn1.32xlarge", "dgx-h100", "generic")),
    single=st.booleans(),
    minimise=st.sampled_from(("cost", "waste", "storage")),
    levels=st.sampled_from(("single", "single", "two")),
    limits=st.fixed_dictionaries(
        {},
        optional={
            "storage_usd_per_month": st.floats(100.0, 1e6),
            "waste_fraction": st.floats(0.001, 0.5),
            "worst_rework_s": st.floats(30.0, 1e5),
        },
    ),
    more=st.fixed_dictionaries(
        {},
        optional={
            "storage.whole_steps": st.booleans(),
            "storage.published": st.sampled_from(("write_end", "next_save")),
            "storage.quota_gib": st.floats(5e3, 2e5),
            "storage.efa": st.sampled_from(("auto", "off")),
            "shared.jobs": st.integers(1, 4),
            "shared.load_bytes_per_s": st.sampled_from((0.0, 2e8)),
            "planned.every_s": st.sampled_from((86_400.0, 604_800.0)),
            "planned.notice_s": st.sampled_from((5.0, 600.0)),
            "network.same_zone": st.just(False),
            "prices.cross_zone_usd_per_gb": st.just(0.01),
            "storage.interval_s": st.just(1800.0),
            "storage.custom": st.just(CustomStorage(usd_per_month=5000.0)),
        },
    ),
)
def test_what_is_proposed_works(
    params: float,
    nodes: int,
    node: str,
    single: bool,
    minimise: Any,
    levels: Any,
    limits: dict[str, float],
    more: dict[str, Any],
) -> None:
    row = catalog.node(node)
    base = scenario(
        {
            "workload.total_params": params, "workload.nodes": nodes, "workload.node": row, "workload.gpus_per_node": row.gpus,
            "workload.writer": "single" if single else "sharded",
        },
        more,
    )  # fmt: skip
    decision = optimise(base, Search(minimise=minimise, limits=tuple(limits.items()), levels=levels, most_sizes=64))
    if decision.best is None:
        assert decision.none is not None
        assert str(decision.none.text).endswith(".")
        if decision.none.closest is not None:
            agrees(decision.none.closest)
        return
    proposals = (decision.best, *decision.families, *decision.ties[:3], decision.frontier[0], decision.frontier[-1])
    tiers = {tier.id: tier for tier in base.storage.tiers}
    for one in proposals:
        agrees(one)
        assert by_edits(base, one) == one.scenario
        if one.family == "fsx-p2":
            _, tau, size, *efa = one.id.split("-")
            tier = tiers["-".join(["p2", tau, *efa])]
            assert fsx.legal_neighbours_gib(float(size), tier.step_gib, tier.small_gib) == (float(size),)
        for name, limit in limits.items():
            value = {LIMITS[0]: one.usd_per_month, LIMITS[1]: one.waste_fraction, LIMITS[2]: one.worst_rework_s}[name]
            assert value is not None
            assert value <= limit * (1 + 1e-8)


def test_the_frontier_falls() -> None:
    frontier = optimise(scenario()).frontier
    bills, wastes = [one.usd_per_month or 0.0 for one in frontier], [one.waste_fraction for one in frontier]
    assert bills == sorted(bills)
    assert wastes == sorted(wastes, reverse=True)
    assert len(set(wastes)) == len(wastes)


def test_processes_find_the_same() -> None:
    base = scenario(SIX_BYTES)
    with ProcessPoolExecutor(2) as executor:
        assert optimise(base, executor=executor) == optimise(base)


# ---------------------------------------------------------------- families and prices


def test_sizes_of_two_steps() -> None:
    google = Sizes((), 9000.0, 1, 170, 72_000.0, 22, 139)
    assert google.at(np.array([0, 169, 170, 171])).tolist() == [9000.0, 1_530_000.0, 1_584_000.0, 1_656_000.0]
    assert float(google.at(google.count - 1)) == 10_008_000.0
    assert google.first_from(9001.0) == 1
    assert google.last_up_to(8999.0) == -1
    scratch = Sizes((1200.0, 2400.0), 3600.0, 1, 10)
    assert scratch.at(np.arange(4)).tolist() == [1200.0, 2400.0, 3600.0, 7200.0]


def test_rates_follow_the_facts() -> None:
    base = scenario({"workload.node": catalog.node("generic")})
    found, _ = supplies(base, job_of(base), families=FAMILIES)
    rates = {supply.id: supply.write_bytes_per_s * float(supply.sizes.at(0)) for supply in found if supply.elastic_gib is None}
    assert rates["google-1000"] == pytest.approx(8.79e9, rel=1e-3)
    assert rates["azure-40"] == pytest.approx(1.92e9, rel=1e-3)
    assert rates["oci-125"] == pytest.approx(3.9e9, rel=1e-3)
    assert rates["scratch-2"] == pytest.approx(120e6)
    assert rates["p1-hdd-40"] == pytest.approx(72e6)
    tiered = next(supply for supply in found if supply.id == "it-4000")
    assert tiered.sizes.at(np.array([0, 1])).tolist() == [4e9, 8e9]


def test_a_tier_without_a_price_asks_and_wins_with_one() -> None:
    base = scenario()
    search = Search(families=("fsx-p2", "fsx-p1"), levels="single")
    decision = optimise(base, search)
    asked = {one.ask.id: one for one in decision.asks}
    assert set(asked) == {"p1-hdd-12", "p1-hdd-40"}
    assert asked["p1-hdd-40"].ask.suggested_usd == 0.083
    assert "us-west-2" not in asked["p1-hdd-40"].ask.source
    limit = asked["p1-hdd-40"].wins_below_usd
    assert limit is not None
    for price, wins in ((limit * 0.999, True), (limit * 1.001, False)):
        best = optimise(base, Search(families=search.families, levels="single", prices=(("p1-hdd-40", price),))).best
        assert best is not None
        assert best.id.startswith("p1-hdd-40") is wins


def test_intelligent_tiering_needs_both_its_prices() -> None:
    search = Search(families=("fsx-it",), levels="single", prices=(("it-4000", 0.023), ("it-4000/throughput", 0.52)))
    decision = optimise(scenario(), search)
    assert decision.best is not None
    assert decision.best.id.startswith("it-4000-")
    assert "it-4000" not in {one.ask.id for one in decision.asks}
    agrees(decision.best)


def test_intelligent_tiering_has_efa_at_4000_and_multiples() -> None:
    prices = (("it-4000", 0.023), ("it-4000/throughput", 0.01))
    search = Search(minimise="waste", families=("fsx-it",), levels="single", prices=prices)
    best = optimise(scenario(), search).best
    assert best is not None
    assert best.id.startswith("it-4000-efa-")
    assert 1.7423e12 / best.write_s > 10e9
    agrees(best)
    off = optimise(scenario({"storage.efa": "off"}), search)
    assert {one.id for one in off.left_out if one.family == "fsx-it"} == {"it-4000-efa"}
    asked = [one.ask.id for one in optimise(scenario(), Search(families=("fsx-it",), levels="single")).asks]
    assert len(asked) == len(set(asked))
    assert not any("efa" in one for one in asked)


def test_s3_pays_for_what_it_keeps_and_for_each_part() -> None:
    best = optimise(scenario(), Search(families=("s3",), levels="single")).best
    assert best is not None
    assert best.usd_per_month is not None
    shard, part = 1.7423e12 / 256, 8 * 2.0**20
    puts = 256 * (math.ceil(shard / part) + 2) * 730 * 3600 / best.interval_s
    assert best.usd_per_month == pytest.approx(4 * 1742.3 * 0.023 + puts * 0.005 / 1000, rel=1e-4)
    assert best.write_s == pytest.approx(1.7423e12 / (3500 * part), rel=1e-6)
    assert "3,500 PUT" in str(best.note)
    assert "one prefix" in str(best.note)
    agrees(best)
    # requests cost money, so saves come less often than T*
    assert best.interval_s > 1.05 * 2685


def test_s3_takes_so_many_requests_on_a_prefix() -> None:
    base = scenario({"workload.total_params": 405e9, "workload.nodes": 2048, "failures.mtbi_nodes": 2048})
    best = optimise(base, Search(families=("s3",), levels="single")).best
    assert best is not None
    custom = best.scenario.storage.custom
    assert custom is not None
    assert custom.write_bytes_per_s <= 3500 * 8 * 2.0**20 * (1 + 1e-9)
    assert custom.read_bytes_per_s <= 5500 * 8 * 2.0**20 * (1 + 1e-9)
    larger = optimise(with_value(base, "datapath.s3_part_bytes", 64 * 2.0**20), Search(families=("s3",), levels="single")).best
    assert larger is not None
    assert larger.write_s < best.write_s / 2


@pytest.mark.parametrize("jobs", [2, 4])
def test_a_longer_interval_lets_fewer_jobs_write_at_once(jobs: int) -> None:
    base = scenario({"shared.jobs": jobs})
    search = Search(minimise="waste", limits=(("storage_usd_per_month", 4000.0),), **P2_ALONE)
    best = optimise(base, search).best
    assert best is not None
    agrees(best)
    if jobs == 4:
        assert best.waste_fraction <= 0.007075
        assert best.scenario.storage.interval_s is not None


@pytest.mark.parametrize("family", ["s3", "fsx-p1"])
def test_jobs_bring_their_own_nodes(family: str) -> None:
    few = {"workload.nodes": 2, "failures.mtbi_nodes": 2, "datapath.s3_connections": 4, "storage.efa": "off"}
    search = Search(minimise="waste", families=(family,), levels="single")
    alone = optimise(scenario(few), search).best
    shared = optimise(scenario(few, {"shared.jobs": 4, "shared.load_bytes_per_s": 1e8}), search).best
    assert alone is not None
    assert shared is not None
    assert shared.write_s == pytest.approx(alone.write_s, rel=1e-6)
    agrees(shared)


@pytest.mark.parametrize("family", ["fsx-p2", "fsx-p1", "fsx-scratch"])
def test_a_size_above_the_default_quota_says_so(family: str) -> None:
    large = {"workload.total_params": 3e12, "storage.efa": "off"}
    search = Search(families=(family,), levels="single")
    best = optimise(scenario(large), search).best
    assert best is not None
    assert "above the default quota of 100,800\u00a0GiB" in str(best.note)
    small = optimise(scenario(), search).best
    assert small is not None
    assert "above the default quota" not in str(small.note)
    known = optimise(scenario(large, {"storage.quota_gib": 1e6}), search).best
    assert known is not None
    assert "above the default quota" not in str(known.note)


def test_hard_disks_end_at_their_quota() -> None:
    base = scenario()
    found, _ = supplies(base, job_of(base), families=("fsx-p1",))
    ends = {one.id: float(one.sizes.at(one.sizes.count - 1)) for one in found}
    assert ends["p1-hdd-12"] == 102_000.0
    assert ends["p1-hdd-40"] == 100_800.0


def test_a_node_of_ec2_is_not_offered_another_cloud() -> None:
    decision = optimise(scenario())
    assert {one.family for one in decision.left_out} >= {"google", "azure", "oci"}
    asked = optimise(scenario({"workload.node": catalog.node("dgx-h100")}), Search(levels="single")).asks
    assert {"google-1000", "azure-500", "oci-250"} <= {one.ask.id for one in asked}


def test_storage_that_exists_takes_part() -> None:
    own = CustomStorage(write_bytes_per_s=20e9, read_bytes_per_s=40e9, usable_bytes=1e14, usd_per_month=100.0)
    best = optimise(scenario({"storage.custom": own}), Search(levels="single")).best
    assert best is not None
    assert best.family == "existing"
    agrees(best)


@pytest.mark.parametrize(
    ("changes", "ask", "path", "price"),
    [
        ({"network.same_zone": False}, "cross-zone", "prices.cross_zone_usd_per_gb", 0.01),
        (
            {"spares.nodes": 2, "prices.node_usd_per_h": None, "prices.gpu_value_usd_per_h": 5.0},
            "node", "prices.node_usd_per_h", 40.0,
        ),
        (
            {"saves": (SaveRow(every_s=604_800.0, to="s3"),), "prices.s3_usd_per_gb_month": None},
            "s3", "prices.s3_usd_per_gb_month", 0.023,
        ),
    ],
)  # fmt: skip
def test_a_price_of_the_whole_job_is_asked_for(changes: dict[str, Any], ask: str, path: str, price: float) -> None:
    base = scenario(changes)
    nothing = optimise(base, Search(**P2_ALONE))
    assert nothing.best is None
    assert nothing.none is not None
    assert path in str(nothing.none.text)
    assert [(one.ask.id, one.ask.path) for one in nothing.asks] == [(ask, path)]
    found = optimise(base, Search(prices=((ask, price),), **P2_ALONE))
    assert found.best is not None
    assert dict(found.best.edits)[path] == price
    assert by_edits(base, found.best) == found.best.scenario
    assert found.asks == ()
    agrees(found.best)


def test_traffic_between_zones_lengthens_the_interval() -> None:
    far = {"network.same_zone": False, "prices.cross_zone_usd_per_gb": 0.01}
    best = optimise(scenario(far), Search(**P2_ALONE)).best
    assert best is not None
    assert best.interval_s > 3000
    agrees(best)
    without = with_value(best.scenario, "storage.interval_s", None)
    cost = evaluate(without).cost
    assert cost is not None
    assert cost.total_usd_per_year is not None
    assert best.total_usd_per_year is not None
    assert cost.total_usd_per_year > best.total_usd_per_year


def test_others_that_write_more_than_10_gb_per_s_leave_efa_alone() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        best = optimise(scenario({"shared.load_bytes_per_s": 30e9}), Search(**P2_ALONE)).best
    assert best is not None
    assert best.id.endswith("-efa")
    agrees(best)


@pytest.mark.parametrize(
    "out_of_reach", [{"storage.efa": "off"}, {"workload.node": catalog.node("generic")}, {"workload.nodes": 1100}]
)
def test_no_cap_where_efa_is_out_of_reach(out_of_reach: dict[str, Any]) -> None:
    budget = (("storage_usd_per_month", 50_000.0),)
    best = optimise(scenario(out_of_reach), Search(minimise="waste", limits=budget, **P2_ALONE)).best
    assert best is not None
    assert 1.7423e12 / best.write_s > 20e9
    assert not best.id.endswith("-efa")
    agrees(best)


@pytest.mark.parametrize(
    ("changes", "limits", "bound"),
    [
        ({"storage.quota_gib": 7200.0, "prices.gpu_value_usd_per_h": 100.0}, (), "quota"),
        ({"prices.gpu_value_usd_per_h": 100.0}, (("storage_usd_per_month", 4500.0),), "storage_usd_per_month"),
        ({"workload.nodes": 2, "storage.efa": "off", "prices.gpu_value_usd_per_h": 1e6}, (), "nodes"),
        ({}, (), "capacity"),
    ],
)
def test_what_bounds_the_least_cost(changes: dict[str, Any], limits: Any, bound: str) -> None:
    best = optimise(scenario(changes), Search(limits=limits, **P2_ALONE)).best
    assert best is not None
    assert best.bound_by == bound


def test_small_file_systems_with_efa_are_said_to_be_left_out() -> None:
    def out(efa: str) -> dict[str, str]:
        decision = optimise(scenario({"storage.efa": efa}), Search(**P2_ALONE))
        return {one.id: str(one.reason) for one in decision.left_out}

    said = out("auto")
    assert set(said) == {"p2-125-efa", "p2-250-efa", "p2-500-efa", "p2-1000-efa"}
    assert all("up to 10 GB/s" in reason for reason in said.values())
    assert set(out("on")) == {"p2-125", "p2-250", "p2-500", "p2-1000"}


def test_the_10_gb_per_s_rule_is_named() -> None:
    best = optimise(scenario(), Search(minimise="waste", families=("fsx-p1",), levels="single")).best
    assert best is not None
    assert best.bound_by == "efa"
    assert 1.7423e12 / best.write_s == pytest.approx(10e9, rel=1e-3)


# ---------------------------------------------------------------- goal seek


def test_waste_at_most() -> None:
    best = goal(scenario(), {"waste_fraction": 0.005}, families=("fsx-p2",), levels="single").best
    assert best is not None
    assert best.waste_fraction <= 0.005
    assert best.bound_by == "waste_fraction"


def test_lost_work_at_most() -> None:
    best = goal(scenario(), {"worst_rework_s": 1800.0}, families=("fsx-p2",), levels="single").best
    assert best is not None
    assert best.worst_rework_s == pytest.approx(1800.0, rel=1e-9)
    assert best.bound_by == "worst_rework_s"
    agrees(best)


def test_a_bill_at_most() -> None:
    best = goal(scenario(), {"storage_usd_per_month": 2000.0}, families=("fsx-p2",), levels="single").best
    assert best is not None
    assert best.usd_per_month is not None
    assert best.usd_per_month <= 2000


@pytest.mark.parametrize(
    ("limits", "nearest"),
    [
        ({"waste_fraction": 0.001}, "waste_fraction"),
        ({"storage_usd_per_month": 500.0}, "storage_usd_per_month"),
        ({"worst_rework_s": 8.0}, "worst_rework_s"),
        ({"waste_fraction": 0.005, "storage_usd_per_month": 1000.0}, "storage_usd_per_month"),
    ],
)
def test_why_no_plan_keeps_the_limits(limits: dict[str, float], nearest: str) -> None:
    decision = goal(scenario(), limits, families=("fsx-p2",), levels="single")
    assert decision.best is None
    assert decision.none is not None
    assert decision.none.limit == nearest
    assert decision.none.least is not None
    assert decision.none.least > limits[nearest]
    assert decision.none.closest is not None
    agrees(decision.none.closest)
    reached = goal(scenario(), limits | {nearest: decision.none.least * 1.0001}, families=("fsx-p2",), levels="single")
    assert reached.best is not None, "the least value that is named can be reached"


def test_without_the_value_of_a_gpu_hour_the_bill_decides() -> None:
    unknown = scenario({"prices.node_usd_per_h": None})
    assert optimise(unknown).best is None
    best = goal(unknown, {"waste_fraction": 0.01}, families=("fsx-p2",), levels="single").best
    assert best is not None
    assert best.total_usd_per_year is None


@pytest.mark.parametrize(
    "search",
    [Search(minimise="money"), Search(limits=(("waste", 1.0),)), Search(limits=(("waste_fraction", 0.0),)),  # type: ignore[arg-type]
     Search(families=("nfs",))],
)  # fmt: skip
def test_a_wrong_name_is_refused(search: Search) -> None:
    with pytest.raises(ValueError, match=r"cannot be minimised|no limit|above 0|no family"):
        optimise(scenario(), search)


# ---------------------------------------------------------------- no other write time, no other interval


@pytest.mark.parametrize("seed", range(24))
def test_no_longer_write_and_no_other_interval_wins(seed: int) -> None:
    """A grid of write times and intervals over one file system, against the shortest write with its interval."""
    random = np.random.default_rng(seed)
    base, levels = problem(100 + seed), seed % 2 == 1
    factor = 2 if levels and base.workload.nodes % 2 == 0 else 1
    base = changed(
        base,
        {
            "shared.jobs": 1, "planned.every_s": None, "storage.mode": ("async", "sync")[seed // 2 % 2],
            "storage.published": ("write_end", "next_save")[seed // 4 % 2], "storage.interval_model": "exact",
            "storage.waste_model": "exact", "local.enabled": levels, "replication.factor": factor,
            "local.blocking_s": float(random.uniform(1, 30)), "local.durable_s": float(random.uniform(10, 300)),
        },
    )  # fmt: skip
    job = job_of(base)
    found, _ = supplies(base, job, families=("fsx-p2",))
    supply = found[seed % len(found)]
    index = np.array([float(min(supply.first + seed % 5, supply.last))])
    plan = polished(base, [(supply, index)], "waste", Bounds())[0]
    shortest = plan.write_s[0] * np.concatenate(([1.0], np.geomspace(1.0005, 20.0, 40)))
    write, interval = (part.ravel() for part in np.meshgrid(shortest, np.geomspace(60.0, job.run_s, 400)))
    systems = supply.systems(base, job, np.full(write.size, index[0]))
    grid = outcome(base, job, systems, write, base.storage.mode, interval[None, :])
    save = grid.blocking_s[0] + (write if base.storage.mode == "async" else 0.0)
    able = (interval >= save) & (interval > grid.lost_s[0]) & (grid.local_interval_s[0] > base.local.blocking_s * levels)
    least = float(np.where(able, grid.chosen_fraction[0], 1.0).min())
    assert plan.waste_fraction[0] <= least * (1.0 + (2e-3 if levels else 1e-6))
