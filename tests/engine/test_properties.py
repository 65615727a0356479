"""What holds for every scenario that the fields allow: finite or said why, legal, monotone, the same as array and as number."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from ckptplanner.data import catalog
from ckptplanner.data.records import ModelParts
from ckptplanner.engine import checks, curves, fsx, interval
from ckptplanner.engine.evaluate import evaluate, plan_of
from ckptplanner.engine.job import job_of
from ckptplanner.engine.plan import Option, Plan
from ckptplanner.engine.scenario import PATHS, CustomStorage, NamedScenario, Scenario
from ckptplanner.engine.tradeoff import tradeoff
from ckptplanner.frozen import FieldSpec, leaf_paths, spec_of, with_value
from ckptplanner.units import GIB
from tests.engine.build import STEADY, scenario

FAST = settings(STEADY, max_examples=300)
FEWER = settings(FAST, max_examples=150)

# ---------------------------------------------------------------- every valid scenario, built from the fields' own words

MODEL = ModelParts(name="some", family="llama", source="test", date="2026-11", body_params=1e9, embedding_params=1e8)
SMALLEST = 1e-300
NOTHING: Any = ({"what": "nothing", "bytes_per_param": 0.0},)


def rising(low: float, high: float, *, low_excluded: bool) -> st.SearchStrategy[float]:
    """Floats from low to high, as often small as large, with both ends where they are allowed."""
    first, last = math.log10(max(low, SMALLEST)), math.log10(high)
    usual = st.floats(max(first, -12.0), last).map(lambda exponent: min(max(10.0**exponent, low), high))
    rare = st.floats(first, last).map(lambda exponent: min(max(10.0**exponent, low), high))
    ends = st.just(high) if low_excluded else st.sampled_from((low, high))
    return st.one_of(usual, usual, usual, rare, ends)


def numbers(spec: FieldSpec) -> st.SearchStrategy[Any]:
    assert spec.low is not None, f"{spec.path} has no least value"
    assert spec.high is not None, f"{spec.path} has no greatest value"
    if spec.is_integer:
        least, most = int(spec.low), int(spec.high)
        return st.one_of(st.integers(least, min(most, least + 100)), st.integers(least, most))
    high = spec.high if spec.path not in HIGH_EXCLUDED else math.nextafter(spec.high, 0.0)
    return rising(spec.low, high, low_excluded=spec.low_excluded)


HIGH_EXCLUDED = {"storage.slowdown_fraction"}
TIERS = st.one_of(
    st.sampled_from(("auto", "p2-500-12000", "p2-1000-33600-efa", "p2-125-1200", "p2-250-100", "p2-1-1", "p2-1000-1200-efa")),
    st.builds(
        lambda tau, size, efa: f"p2-{tau}-{size}{efa}",
        st.sampled_from((125, 250, 500, 1000, 1, 99_999)),
        st.one_of(st.integers(1, 40).map(lambda steps: steps * 2400), st.integers(1, 999_999_999)),
        st.sampled_from(("", "-efa")),
    ),
)
LAYOUTS = st.one_of(
    st.sampled_from(tuple(row.id for row in catalog.layouts())),
    st.lists(rising(0.0, 1000.0, low_excluded=False), min_size=1, max_size=3).map(
        lambda parts: [{"what": f"part {place}", "bytes_per_param": size} for place, size in enumerate(parts)]
    ),
)


ROWS_OF_SAVES = st.lists(
    st.fixed_dictionaries(
        {},
        optional={
            "kind": st.sampled_from(("permanent", "evaluation", "export", "final")),
            "every_s": st.one_of(st.none(), rising(1.0, 3e9, low_excluded=False)),
            "bytes": st.one_of(st.none(), rising(1.0, 1e20, low_excluded=False)),
            "writer": st.sampled_from(("sharded", "single")),
            "to": st.sampled_from(("shared", "s3")),
            "keep": st.one_of(st.none(), st.integers(1, 1_000_000)),
            "stop_s": rising(0.0, 1e9, low_excluded=False),
        },
    ),
    max_size=3,
)
CLASSES = st.lists(
    st.fixed_dictionaries(
        {"share": rising(0.0, 1.0, low_excluded=False)},
        optional={
            "detect_s": rising(0.0, 1e9, low_excluded=False),
            "reads_from": st.sampled_from(("peer", "local", "replica", "shared")),
            "rework": st.sampled_from(("step", "save")),
        },
    ),
    max_size=3,
)


def field(model: type[Any], path: str) -> st.SearchStrategy[Any]:
    """What one field takes, from its limits and choices."""
    spec = spec_of(model, path)
    special = {
        "workload.model": st.sampled_from((None, MODEL)),
        "workload.layout": LAYOUTS,
        "workload.node": st.sampled_from(tuple(row.id for row in catalog.nodes())),
        "workload.framework": st.sampled_from(tuple(row.id for row in catalog.frameworks())),
        "storage.tier": TIERS,
        "saves": ROWS_OF_SAVES,
        "failures.gaps_s": st.lists(rising(0.0, 1e13, low_excluded=True), max_size=5),
        "restart.classes": CLASSES,
        "prices.region": st.sampled_from(("us-west-2", "ap-northeast-1", "東京")),
    }
    if path in special:
        return special[path]
    if path == "storage.custom":
        made = st.fixed_dictionaries({name: field(CustomStorage, name) for name in leaf_paths(CustomStorage)})
        return st.one_of(st.none(), st.none(), made)
    if spec.choices or spec.is_bool:
        return st.sampled_from(spec.choices or (False, True))
    values = numbers(spec)
    return st.one_of(st.none(), values) if spec.optional else values


def nested(values: dict[str, Any]) -> dict[str, Any]:
    tree: dict[str, Any] = {}
    for path, value in values.items():
        *above, name = path.split(".")
        place = tree
        for step in above:
            place = place.setdefault(step, {})
        place[name] = value
    return tree


ANY = st.fixed_dictionaries({}, optional={path: field(Scenario, path) for path in PATHS}).map(
    lambda values: Scenario.model_validate(nested(values))
)


def plausible(path: str, low: float, high: float) -> tuple[str, st.SearchStrategy[float]]:
    return path, rising(low, high, low_excluded=False)


USUAL = st.fixed_dictionaries(
    dict(
        [
            plausible("workload.total_params", 1e8, 1e13),
            plausible("failures.mtbi_s", 3e4, 1e8),
            plausible("storage.write_s", 5.0, 3600.0),
            plausible("storage.blocking_s", 0.1, 100.0),
            plausible("storage.write_efficiency", 0.2, 1.0),
            plausible("storage.max_fill", 0.2, 1.0),
            plausible("storage.latency_s", 0.01, 4.0),
            plausible("storage.background_loss_s", 0.01, 60.0),
            plausible("failures.downtime_s", 0.1, 3600.0),
        ]
    )
    | {
        "workload.nodes": st.integers(1, 4096),
        "storage.generations_kept": st.integers(2, 20),
        "storage.mode": st.sampled_from(("sync", "async")),
        "storage.efa": st.sampled_from(("auto", "on", "off")),
        "storage.pace": st.sampled_from(("within", "full")),
        "storage.published": st.sampled_from(("write_end", "next_save")),
        "storage.interval_model": st.sampled_from(("exact", "young", "daly")),
        "storage.waste_model": st.sampled_from(("exact", "first_order")),
        "storage.choose_by": st.sampled_from(("storage_usd", "total_usd")),
    }
).map(lambda values: Scenario.model_validate(nested(values)))

# ---------------------------------------------------------------- what a plan must be


def numbers_in(thing: Any, where: str) -> Iterator[tuple[str, float]]:
    """Every number in the outputs, with the path to it."""
    if isinstance(thing, bool | str) or thing is None:
        return
    if isinstance(thing, int | float):
        yield where, float(thing)
    elif isinstance(thing, tuple):
        for place, part in enumerate(thing):
            yield from numbers_in(part, f"{where}[{place}]")
    elif dataclasses.is_dataclass(thing):
        for part in dataclasses.fields(thing):
            if part.name not in {"scenario", "findings"}:
                yield from numbers_in(getattr(thing, part.name), f"{where}.{part.name}")


def faults(plan: Plan) -> list[str]:
    found = []
    for where, value in numbers_in(plan, "plan"):
        name = where.rpartition(".")[2]
        if not math.isfinite(value):
            found.append(f"{where} = {value}")
        elif value < 0 and not name.endswith("usd_per_year"):
            found.append(f"{where} = {value} is negative")
        elif name.endswith("_fraction") and value > 1:
            found.append(f"{where} = {value} is more than all")
    return found


def parts(plan: Plan) -> dict[str, Any]:
    """What may be None only when a finding says why."""
    named: dict[str, Any] = {"schedule": plan.schedule, "waste": plan.waste, "cost": plan.cost, "chosen": plan.storage.chosen}
    for part in (plan.waste, plan.cost):
        if part is not None:
            named |= {field.name: getattr(part, field.name) for field in dataclasses.fields(part)}
    return named


@FAST
@given(ANY)
@example(scenario(workload={"layout": NOTHING}))
@example(scenario(workload={"frozen_params": 124.45e9, "frozen_bytes_per_param": 0.0}))
@example(scenario(workload={"layout": NOTHING}, storage={"custom": CustomStorage(), "pace": "full"}))
@example(scenario(workload={"layout": NOTHING}, failures={"spot_notice_s": 1.0}))
@example(scenario(storage={"custom": CustomStorage()}))
@example(scenario(storage={"tier": "p2-1-1"}))
@example(scenario(storage={"write_s": 1e-3}))
@example(scenario(storage={"blocking_s": 0.0}))
@example(scenario(storage={"latency_s": 300.0}))
@example(scenario(failures={"mtbi_s": 1.0}))
def test_every_valid_scenario_gives_finite_numbers_or_says_why(any_scenario: Scenario) -> None:
    plan = evaluate(any_scenario)
    assert faults(plan) == []
    if plan.waste is not None and (plan.waste.total_fraction or 0.0) > 0.95:
        assert plan.count("error")
    if plan.cost is not None and plan.storage.chosen is not None and plan.cost.total_usd_per_year is not None:
        assert plan.cost.total_usd_per_year == pytest.approx(plan.storage.chosen.total_usd_per_year)
    missing = [name for name, part in parts(plan).items() if part is None]
    assert not missing or plan.count("error") + plan.count("warning") > 0, missing
    for finding in plan_of(NamedScenario(name="any", scenario=any_scenario)).findings:
        assert finding.message
        spec_of(Scenario, finding.path)


@settings(FAST, max_examples=60)
@given(ANY)
@example(scenario(workload={"layout": NOTHING}))
@example(scenario(storage={"write_s": 1e-3}))
def test_curves_of_every_valid_scenario_can_be_drawn(any_scenario: Scenario) -> None:
    drawn = curves.curves_of(any_scenario)
    assert np.all(np.diff(drawn.write_s) > 0)
    assert np.all(np.isfinite(drawn.capacity_gib))
    for mode in (drawn.sync, drawn.run_async):
        for fraction in (mode.exact_fraction, mode.first_order_fraction, mode.chosen_fraction):
            known = fraction[~np.isnan(fraction)]
            assert np.all((known >= 0) & (known <= 1))
        assert np.all(np.isfinite(mode.interval_s) & (mode.interval_s > 0))
    tradeoff(any_scenario)


@FAST
@given(USUAL)
def test_an_ordinary_scenario_gets_all_its_parts(usual: Scenario) -> None:
    """Guards the test above: without it everything could be None."""
    plan = evaluate(usual)
    if plan.storage.chosen is not None and plan.count("error") == 0:
        assert None not in (plan.schedule, plan.waste, plan.cost)
        assert plan.waste is not None
        assert plan.waste.exact_fraction is not None
        assert (
            plan.cost is not None and plan.cost.lost_gpu_usd_per_year is not None
        ) or plan.scenario.storage.waste_model != "exact"


# ---------------------------------------------------------------- capacities


def is_legal(option: Option) -> bool:
    """The table of docs/models.md 6.2, written down again: steps of 2,400 GiB, of 4.8M / tau with EFA, and 1,200 without it."""
    tau = option.throughput_mb_per_s_per_tib
    assert tau in {125.0, 250.0, 500.0, 1000.0}
    step = 4_800_000.0 / tau if option.efa else 2400.0
    return (option.capacity_gib >= step and option.capacity_gib % step == 0) or (option.capacity_gib == 1200 and not option.efa)


@FAST
@given(USUAL)
def test_every_option_is_a_size_that_the_service_sells_and_is_big_and_fast_enough(usual: Scenario) -> None:
    plan, storage = evaluate(usual), usual.storage
    held = storage.generations_kept * plan.checkpoint.checkpoint_bytes / storage.max_fill
    needed = plan.checkpoint.checkpoint_bytes / (storage.write_s - storage.latency_s) / storage.write_efficiency
    assert len(plan.storage.options) == 8
    for option in plan.storage.options:
        assert is_legal(option), option
        assert option.capacity_gib * GIB >= held * (1 - 1e-6)
        assert option.baseline_bytes_per_s >= needed * (1 - 1e-6)
        step = 4_800_000.0 / option.throughput_mb_per_s_per_tib if option.efa else 2400.0  # type: ignore[operator]
        if option.capacity_gib > step:
            less = option.capacity_gib - step
            assert less * GIB < held or less * 1e3 * option.throughput_mb_per_s_per_tib < needed  # type: ignore[operator]


@FAST
@given(st.integers(1, 10**8), st.sampled_from((2400.0, 4800.0, 9600.0, 19200.0, 38400.0)), st.booleans())
def test_the_neighbours_of_an_illegal_capacity_are_legal_and_near(capacity: int, step: float, has_small: bool) -> None:
    small = 1200.0 if has_small else None
    near = fsx.legal_neighbours_gib(float(capacity), step, small)
    assert 1 <= len(near) <= 2
    assert all(size % step == 0 or size == small for size in near)
    assert near == (float(capacity),) or all(size != capacity for size in near)
    assert min(abs(size - capacity) for size in near) <= step
    assert near[-1] >= capacity


# ---------------------------------------------------------------- scalar and array


@FEWER
@given(USUAL)
def test_curves_at_one_write_time_are_the_options_of_the_plan(usual: Scenario) -> None:
    plan = evaluate(usual)
    drawn = curves.curves(usual, np.array([usual.storage.write_s]))
    mode = drawn.sync if usual.storage.mode == "sync" else drawn.run_async
    by_tier = {(option.throughput_mb_per_s_per_tib, option.efa): option for option in plan.storage.options}
    for row, tier in enumerate(drawn.tiers):
        option = by_tier[tier.throughput_mb_per_s_per_tib, tier.efa]
        assert drawn.capacity_gib[row, 0] == option.capacity_gib
        assert drawn.usd_per_month[row, 0] == pytest.approx(option.usd_per_month, rel=1e-12)
        if option.waste_fraction is None:
            assert math.isnan(mode.chosen_fraction[row, 0])
        else:
            assert mode.chosen_fraction[row, 0] == pytest.approx(option.waste_fraction, rel=1e-12)
    legal = all(option.illegal_reason is None for option in plan.storage.options)
    if legal and plan.storage.chosen is not None and plan.cost is not None and plan.cost.total_usd_per_year is not None:
        assert drawn.picked(drawn.usd_per_month)[0] == pytest.approx(plan.storage.chosen.usd_per_month, rel=1e-12)


@FEWER
@given(st.lists(rising(1e-9, 10.0, low_excluded=False), min_size=1, max_size=8), rising(1.0, 1e12, low_excluded=False))
def test_intervals_of_an_array_are_those_of_its_numbers(shares: list[float], mtbi: float) -> None:
    stops = np.array(shares) * mtbi
    for formula in (interval.optimal_interval_s, interval.young_interval_s, interval.daly_interval_s):
        together = formula(stops, mtbi)
        assert together.tolist() == pytest.approx([float(formula(np.array(stop), mtbi)) for stop in stops], rel=1e-12)


def test_the_plots_pick_what_the_plan_picks_for_a_single_writer() -> None:
    """12,000 GiB at 500 MB/s/TiB take 3.1 GB/s from one client: the plan buys 250 x 24,000, and so must the plots."""
    single = scenario(workload={"writer": "single"})
    chosen = evaluate(single).storage.chosen
    assert chosen is not None
    drawn = curves.curves(single, np.array([300.0]))
    assert drawn.picked(drawn.usd_per_month)[0] == pytest.approx(chosen.usd_per_month)


# ---------------------------------------------------------------- metamorphic


@FEWER
@given(USUAL, st.integers(1, 4))
def test_twice_the_nodes_are_interrupted_twice_as_often(usual: Scenario, doublings: int) -> None:
    more = with_value(usual, "workload.nodes", usual.workload.nodes * 2**doublings)
    assert job_of(more).mtbi_s == pytest.approx(job_of(usual).mtbi_s / 2**doublings, rel=1e-12)


@FEWER
@given(USUAL, rising(1e9, 1e12, low_excluded=False))
def test_twice_the_bytes_at_twice_the_bandwidth_take_as_long(usual: Scenario, rate: float) -> None:
    def plan(factor: float) -> Plan:
        custom = CustomStorage(write_bytes_per_s=factor * rate, read_bytes_per_s=2 * factor * rate, usable_bytes=1e20)
        bigger = with_value(usual, "workload.total_params", factor * usual.workload.total_params)
        return evaluate(with_value(bigger, "storage.custom", custom))

    one, two = plan(1.0), plan(2.0)
    assert one.schedule is not None
    assert two.schedule is not None
    assert two.checkpoint.checkpoint_bytes == pytest.approx(2 * one.checkpoint.checkpoint_bytes)
    assert dataclasses.astuple(two.schedule)[1:] == pytest.approx(dataclasses.astuple(one.schedule)[1:], rel=1e-9)
    assert two.waste is not None
    assert one.waste is not None
    assert (two.waste.exact_fraction or 1.0) == pytest.approx(one.waste.exact_fraction or 1.0, rel=1e-9)


@FEWER
@given(USUAL, rising(1.0, 20.0, low_excluded=False))
def test_more_time_to_restart_never_wastes_less(usual: Scenario, factor: float) -> None:
    slower = with_value(usual, "failures.start_s", usual.failures.start_s * factor)
    one, two = wastes(usual), wastes(slower)
    assert all(after >= before * (1 - 1e-9) for before, after in zip(one, two, strict=True))
    assert factor < 1.01 or not one or sum(two) > sum(one) or min(one) == 1.0


@FEWER
@given(USUAL, rising(1.0, 20.0, low_excluded=False))
def test_rarer_interruptions_never_waste_more(usual: Scenario, factor: float) -> None:
    rarer = with_value(usual, "failures.mtbi_s", usual.failures.mtbi_s * factor)
    one, two = wastes(usual), wastes(rarer)
    assert all(after <= before * (1 + 1e-9) + 1e-12 for before, after in zip(one, two, strict=True))


def wastes(usual: Scenario) -> list[float]:
    """The exact waste of every tier at the best exact interval; Young's would drift away from it."""
    exact = with_value(with_value(usual, "storage.waste_model", "exact"), "storage.interval_model", "exact")
    drawn = curves.curves(exact, np.array([exact.storage.write_s]))
    mode = drawn.sync if exact.storage.mode == "sync" else drawn.run_async
    return [float(value) for value in mode.exact_fraction[:, 0]]


@FEWER
@given(USUAL)
def test_the_best_interval_beats_its_neighbours(usual: Scenario) -> None:
    exact = with_value(with_value(usual, "storage.waste_model", "exact"), "storage.interval_model", "exact")
    plan = evaluate(exact)
    if plan.schedule is None or plan.schedule.interval_s != plan.schedule.best_interval_s:
        return
    for factor in (0.9, 1.1):
        other = evaluate(with_value(exact, "storage.interval_s", plan.schedule.interval_s * factor))
        assert plan.waste is not None
        assert other.waste is not None
        assert other.waste.exact_fraction is None or plan.waste.exact_fraction is not None
        if other.waste.exact_fraction is not None and other.storage.chosen == plan.storage.chosen:
            assert other.waste.exact_fraction >= plan.waste.exact_fraction * (1 - 1e-9)  # type: ignore[operator]


# ---------------------------------------------------------------- limits

LIMITED = [path for path in PATHS if spec_of(Scenario, path).low is not None]


@pytest.mark.parametrize("path", LIMITED)
def test_a_value_beyond_the_limits_of_its_field_is_refused(path: str) -> None:
    spec = spec_of(Scenario, path)
    assert spec.low is not None
    assert spec.high is not None
    step = 1 if spec.is_integer else max(abs(spec.high), 1.0) * 1e-9
    beyond: list[Any] = [spec.low - 1, spec.high + step, float("nan"), float("inf"), "a lot", True]
    for value in [*beyond, spec.low] if spec.low_excluded else beyond:
        with pytest.raises(ValidationError):
            with_value(Scenario(), path, value)
    with_value(Scenario(), path, math.floor(spec.high) - 1 if spec.is_integer else spec.high * (1 - 1e-9))


@pytest.mark.parametrize("path", [path for path in PATHS if spec_of(Scenario, path).choices])
def test_a_word_that_is_no_choice_is_refused(path: str) -> None:
    with pytest.raises(ValidationError):
        with_value(Scenario(), path, "sometimes")


@pytest.mark.parametrize(
    "tier", ["p2-500", "500-12000", "p2-500-12000-EFA", "p2--500-12000", "p2-0-12000", "p2-500-0", "", "p3-500-12000"]
)
def test_a_tier_that_cannot_be_read_is_refused_with_an_example(tier: str) -> None:
    with pytest.raises(ValidationError, match="p2-500-12000"):
        with_value(Scenario(), "storage.tier", tier)


def test_the_order_of_findings_is_errors_first() -> None:
    plan = evaluate(scenario(storage={"generations_kept": 1, "published": "next_save"}))
    assert [finding.severity for finding in plan.findings] == sorted(
        (finding.severity for finding in plan.findings), key=("error", "warning", "info").index
    )
    assert checks.by_severity(reversed(plan.findings))[0].severity == "error"
