"""The real situations of EXAMPLES: inputs as printed, and every figure that must come out."""

from __future__ import annotations

from typing import Any

import pytest

from ckptplanner.engine.evaluate import evaluate
from ckptplanner.engine.plan import Plan, Schedule, Waste
from ckptplanner.engine.scenario import CustomStorage
from ckptplanner.units import DAY, GIB, HOUR, MINUTE, TB
from tests.engine.build import ARTICLE, SIX_BYTES, SYNC, percent, printed, scenario

TWENTY_MIN: dict[str, Any] = {"storage.write_s": 1200.0}
SYNC_1_MIN: dict[str, Any] = SYNC | {"storage.write_s": 60.0}


def known(plan: Plan) -> tuple[Schedule, Waste]:
    assert plan.schedule is not None
    assert plan.waste is not None
    return plan.schedule, plan.waste


# ---------------------------------------------------------------- E1, Article A


@pytest.mark.parametrize(
    ("changes", "exact", "first_order"),
    [(TWENTY_MIN, "0.75", "0.76"), ({}, "0.54", "0.54"), (SIX_BYTES, "0.53", "0.53"), (SYNC_1_MIN, "1.37", "1.39")],
    ids=["20-min", "5-min", "6-bytes", "sync-1-min"],
)
def test_e1_article_a(changes: dict[str, Any], exact: str, first_order: str) -> None:
    _, waste = known(evaluate(scenario(changes)))
    assert percent(waste.chosen_fraction, exact) == percent(waste.exact_fraction, exact) == exact
    _, waste = known(evaluate(scenario(ARTICLE, changes)))
    assert percent(waste.chosen_fraction, first_order) == first_order


# ---------------------------------------------------------------- E2, compression or interval?

BLOG: dict[str, Any] = SYNC | {
    "workload.total_params": 405e9,
    "workload.layout": (
        {"what": "bf16 weights", "bytes_per_param": 2.0},
        {"what": "moments", "bytes_per_param": 8.0},
        {"what": "gradients", "bytes_per_param": 2.0},
    ),
    "workload.nodes": 16,
    "failures.mtbi_s": 356 * HOUR,
    "failures.mtbi_nodes": 16,
    "storage.custom": CustomStorage(write_bytes_per_s=5e9, read_bytes_per_s=5e9, usable_bytes=1e15),
    "storage.pace": "full",
    "prices.gpu_value_usd_per_h": 4.40,
}
HALF_HOUR: dict[str, Any] = {"storage.interval_s": 1800.0}


def test_e2_the_blogs_plan() -> None:
    plan = evaluate(scenario(BLOG, HALF_HOUR))
    schedule, waste = known(plan)
    assert plan.scenario.workload.bytes_per_param == 12
    assert printed(plan.checkpoint.checkpoint_bytes, "4.86", TB) == "4.86"
    assert printed(plan.checkpoint.checkpoint_bytes, "4526", GIB) == "4,526"
    assert printed(schedule.blocking_s, "972") == "972"
    assert percent(waste.chosen_fraction, "54.1") == "54.1"
    assert plan.cost is not None
    assert plan.cost.stalled_gpu_usd_per_year == pytest.approx(8760 * 128 * 4.40 * 972 / 1800)


def test_e2_the_best_interval_saves_more_than_compression() -> None:
    schedule, waste = known(evaluate(scenario(BLOG)))
    assert printed(schedule.interval_s, "14.0", HOUR) == "14.0"
    assert percent(waste.chosen_fraction, "3.96") == "3.96"
    _, compressed = known(evaluate(scenario(BLOG, HALF_HOUR, workload={"measured_bytes": 405e9 * 12 / 1.27})))
    assert percent(compressed.chosen_fraction, "42.6") == "42.6"


def test_e2_saving_in_the_background() -> None:
    schedule, waste = known(evaluate(scenario(BLOG, storage={"mode": "async", "blocking_s": 10.0})))
    assert printed(schedule.interval_s, "84", MINUTE) == "84"
    assert percent(waste.chosen_fraction, "0.59") == "0.59"


# ---------------------------------------------------------------- E3, one rack, measured size


def test_e3_a_measured_size_wins_and_is_named_between_presets() -> None:
    changes = {"total_params": 52.85e9, "measured_bytes": 395.74 * GIB, "nodes": 16, "gpus_per_node": 4}
    plan = evaluate(scenario(workload=changes))
    assert plan.checkpoint.checkpoint_bytes == 395.74 * GIB
    assert printed(plan.checkpoint.checkpoint_bytes / 52.85e9, "8.04") == "8.04"
    assert any("between 6 and 10" in f.message for f in plan.findings if f.path == "workload.measured_bytes")


# ---------------------------------------------------------------- E4, Llama 3 405B


@pytest.mark.parametrize(("copies", "waste"), [(1, "9.3"), (8, "9.5"), (16, "9.7"), (128, "12.5")])
def test_e4_restart_is_the_bill(copies: int, waste: str) -> None:
    plan = evaluate(
        scenario(
            workload={"total_params": 405.853e9, "nodes": 2048},
            failures={"mtbi_s": 54 * DAY / 466, "mtbi_nodes": 2048},
            storage={
                "custom": CustomStorage(write_bytes_per_s=2e12, read_bytes_per_s=2e12, usable_bytes=1e15),
                "blocking_s": 5.0,
                "write_s": 60.0,
            },
            restore={"copies": copies},
        )
    )
    schedule, found = known(plan)
    assert printed(plan.checkpoint.checkpoint_bytes, "5.68", TB) == "5.68"
    assert printed(schedule.mtbi_s, "2.78", HOUR) == "2.78"
    assert printed(schedule.interval_s, "5.3", MINUTE) == "5.3"
    assert percent(found.chosen_fraction, waste) == waste
    assert plan.count("error") == 0


# ---------------------------------------------------------------- E8, one node, fine-tune


def test_e8_one_node_saves_once_at_the_end() -> None:
    plan = evaluate(
        scenario(
            SYNC,
            workload={"total_params": 8e9, "layout": "fsdp2-12", "nodes": 1},
            failures={"mtbi_s": 5000 * HOUR, "mtbi_nodes": 1},
            storage={"write_s": 300.0},
            run={"days": 1.0},
        )
    )
    schedule, waste = known(plan)
    chosen = plan.storage.chosen
    assert chosen is not None
    assert waste.exact_fraction is not None
    assert 0 < waste.exact_fraction < 1
    assert (chosen.throughput_mb_per_s_per_tib, chosen.capacity_gib, chosen.efa) == (500, 1200, False)
    assert chosen.usd_per_month == pytest.approx(408)
    assert printed(schedule.best_interval_s, "28.9", HOUR) == "28.9"
    said = [f.message.replace("\u00a0", " ") for f in plan.findings if f.path == "run.days"]
    assert len(said) == 1
    assert said[0].startswith("T* (28.9 h) is longer than the run (")
    assert said[0].endswith("): save once at the end.")
