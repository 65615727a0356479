"""The real situations of the examples: inputs as printed or as shipped, and every figure that must come out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ckptplanner.engine import workbook_file
from ckptplanner.engine.edits import edit
from ckptplanner.engine.evaluate import evaluate, plan_of
from ckptplanner.engine.plan import Plan, Schedule, Waste
from ckptplanner.engine.scenario import CustomStorage, NamedScenario, Workbook
from ckptplanner.engine.tables import input_rows
from ckptplanner.frozen import with_value
from ckptplanner.units import DAY, GB, GBPS, GIB, HOUR, MINUTE, TB
from tests.engine.build import ARTICLE, SIX_BYTES, SYNC, percent, printed, scenario

EXAMPLES = Path(__file__).parents[2] / "resources" / "examples"

TWENTY_MIN: dict[str, Any] = {"storage.write_s": 1200.0}
SYNC_1_MIN: dict[str, Any] = SYNC | {"storage.write_s": 60.0}


def known(plan: Plan) -> tuple[Schedule, Waste]:
    assert plan.schedule is not None
    assert plan.waste is not None
    return plan.schedule, plan.waste


def shipped(name: str) -> Workbook:
    return workbook_file.read(EXAMPLES / f"{name}.ckptplan.json")


def said(plan: Plan, severity: str, path: str) -> str:
    found = [one.message for one in plan.findings if (one.severity, one.path) == (severity, path)]
    return " ".join(found).replace("\u00a0", " ")


@pytest.mark.parametrize("file", sorted(EXAMPLES.glob("*.ckptplan.json")), ids=lambda file: file.name)
def test_a_shipped_file_is_whole_and_says_where_its_values_come_from(file: Path) -> None:
    workbook = workbook_file.read(file)
    for named in workbook.scenarios:
        assert named.missing == ()
        assert named.note
        assert named.sources
        plan = plan_of(named)
        assert plan.schedule is not None
        others_fill_it = named.name == "others use 97 %"
        assert plan.count("error") == others_fill_it


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


@pytest.mark.parametrize(("index", "stop", "rate"), [(0, 3.3, "2.0"), (1, 4.1, "1.6")])
def test_e3_as_shipped(index: int, stop: float, rate: str) -> None:
    """395.74 GiB over 64 GPUs are 6.64 GB each: 2.0 GB/s in 3.3 s and 1.6 GB/s in 4.1 s, of a link of 450 GB/s."""
    named = shipped("one-rack-measured").scenarios[index]
    plan = plan_of(named)
    work = named.scenario.workload
    assert (work.nodes, work.gpus_per_node, work.node.accelerator) == (16, 4, "GB200")
    assert printed(plan.checkpoint.checkpoint_bytes / work.total_params, "8.04") == "8.04"
    assert "between 6 and 10" in said(plan, "info", "workload.measured_bytes")
    assert known(plan)[0].blocking_s == stop
    assert printed(395.74 * GIB / 64 / stop, rate, GB) == rate
    words = said(plan, "info", "storage.blocking_s")
    assert f"{395.74 * GIB / 64 / stop / GB:.2f} GB/s a GPU" in words
    assert "far below the 450 GB/s of its link" in words
    assert "pageable memory is a likely cause" in words


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


# ---------------------------------------------------------------- E5, export by one writer


def test_e5_one_writer_and_the_collective_timeout() -> None:
    """5 servers of 5 Gbps are 3.125 GB/s: 794 GB take 254 s; within 600 s they need 1.32 GB/s."""
    plan = plan_of(shipped("single-writer-export").shown)
    schedule, waste = known(plan)
    work, chosen = plan.scenario.workload, plan.storage.chosen
    assert (work.nodes, work.gpus_per_node, plan.scenario.storage.generations_kept) == (32, 8, 2)
    assert printed(plan.checkpoint.checkpoint_bytes, "4.76", TB) == "4.76"
    assert chosen is not None
    assert (chosen.id, chosen.servers) == ("p2-500-12000", 5)
    assert chosen.client_bytes_per_s == pytest.approx(25 * GBPS)
    assert printed(25 * GBPS, "3.1", GB) == "3.1"
    assert plan.beyond is not None
    export = plan.beyond.saves[0]
    assert (export.kind, export.writer, export.saved_bytes) == ("export", "single", 397e9 * 2)
    assert export.writes_in_s == pytest.approx(794e9 / 3.125e9)
    assert printed(export.writes_in_s or 0.0, "254") == "254"
    words = said(plan, "info", "saves")
    for part in ("3.12 GB/s to 5 servers", "4 min 14 s at best", "1.32 GB/s are needed", "timeout of 10 min"):
        assert part in words
    assert schedule.durable_after_s == schedule.period_s  # t = T
    assert "only from the next save on" in said(plan, "warning", "storage.published")
    assert waste.worst_rework_s == pytest.approx(2 * schedule.interval_s)
    assert schedule.best_interval_s == pytest.approx((2 * 5 * 178 * HOUR / 3) ** 0.5, rel=0.01)  # sqrt(2 C M / 3)
    assert plan.count("error") == 0


def test_e5_half_the_servers_pass_the_timeout() -> None:
    """2 servers: 1.25 GB/s, 635 s."""
    smaller = with_value(shipped("single-writer-export").shown.scenario, "storage.tier", "p2-1000-4800")
    words = said(evaluate(smaller), "warning", "saves")
    assert "10 min 35 s at best" in words


# ---------------------------------------------------------------- E6, the full file system


def test_e6_an_error_before_the_first_save() -> None:
    """4 x 53 GB = 212 GB, and 3 % of 4,800 GiB = 154.6 GB: 57.4 GB are missing; a step is 2,400 GiB, 816 $ a month."""
    workbook = shipped("full-file-system")
    plan = plan_of(workbook.shown)
    assert plan.scenario.workload.nodes == 1
    assert plan.checkpoint.checkpoint_bytes == 53e9
    assert plan.scenario.shared.used_bytes == pytest.approx(0.97 * 4800 * GIB)
    assert plan.count("error") == 1
    words = said(plan, "error", "shared.used_bytes")
    missing = 4 * 53e9 - 0.03 * 4800 * GIB
    for part in ("Before the first save", f"delete {missing / GB:.1f} GB", "add 2,400 GiB for $816", "dies with the node"):
        assert part in words
    more = plan_of(workbook.scenarios[1])
    assert more.storage.chosen is not None
    assert more.storage.chosen.capacity_gib == 7200
    assert more.storage.chosen.usd_per_month == pytest.approx(7200 * 0.34)
    assert more.count("error") == 0


# ---------------------------------------------------------------- E7, Tokyo, bought by the block


def test_e7_a_price_is_asked_for_and_not_guessed() -> None:
    named = shipped("tokyo-by-the-block").shown
    plan = plan_of(named)
    assert named.scenario.prices.region == "ap-northeast-1"
    assert "type it from your bill" in said(plan, "warning", "prices.storage_usd_per_gib_month.p2_125")
    assert "p5.48xlarge in ap-northeast-1" in said(plan, "warning", "prices.node_usd_per_h")
    assert plan.storage.chosen is not None
    assert plan.storage.chosen.usd_per_month is None
    assert plan.cost is not None
    assert (plan.cost.storage_usd_per_year, plan.cost.total_usd_per_year) == (None, None)


def test_e7_with_the_prices_of_oregon_typed() -> None:
    """1.4 TB in 583 s at 2.4 GB/s; (R + F) / 24 h with R = 600 + 583 s: 2.0 points."""
    named = shipped("tokyo-by-the-block").scenarios[1]
    plan = plan_of(named)
    schedule, waste = known(plan)
    assert named.scenario.prices.region == "ap-northeast-1"
    assert schedule.mtbi_s == 356 * HOUR
    assert plan.storage.chosen is not None
    assert plan.storage.chosen.id == "p2-250-9600"
    assert plan.storage.chosen.usd_per_month == pytest.approx(9600 * 0.21)
    assert printed(schedule.best_interval_s, "75.5", MINUTE) == "75.5"
    assert percent(waste.chosen_fraction, "0.49") == "0.49"
    assert percent(waste.planned_fraction, "2.0") == "2.0"
    assert waste.planned_fraction == pytest.approx((600 + 2 * 1.4e12 / 2.4e9) / DAY)
    assert plan.beyond is not None
    assert printed(plan.beyond.final_save_s or 0.0, "583") == "583"
    assert "9 min 43 s of 10 min notice" in said(plan, "info", "planned.notice_s")
    assert plan.cost is not None
    assert plan.cost.total_usd_per_year is not None


def test_e7_the_names_and_notes_are_japanese_and_survive_saving(tmp_path: Path) -> None:
    workbook = shipped("tokyo-by-the-block")
    assert [named.name for named in workbook.scenarios] == ["東京、単価は未入力", "東京、オレゴンの単価で"]
    assert all("東京" in named.note for named in workbook.scenarios)
    copy = tmp_path / "東京.ckptplan.json"
    workbook_file.write(workbook, copy)
    assert workbook_file.read(copy) == workbook
    assert "東京、オレゴンの単価で" in copy.read_text(encoding="utf-8")
    texts = {row.path: row.source_text for row in input_rows(workbook.scenarios[1])}
    assert texts["prices.node_usd_per_h"] == "オレゴン（us-west-2）の単価を仮に入力"


def test_e7_typing_the_prices_gives_the_second_scenario() -> None:
    first, second = shipped("tokyo-by-the-block").scenarios
    oregon = {"p2_125": 0.145, "p2_250": 0.21, "p2_500": 0.34, "p2_1000": 0.6}
    named: NamedScenario = first
    for name, price in oregon.items():
        named = edit(named, f"prices.storage_usd_per_gib_month.{name}", price)
    assert edit(named, "prices.node_usd_per_h", 55.04).scenario == second.scenario


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
    words = said(plan, "warning", "run.days")
    assert words.startswith("T* (28.9 h) is longer than the run (")
    assert words.endswith("): save once at the end.")


# ---------------------------------------------------------------- local and shared saves (docs/models.md 16.3)


@pytest.mark.parametrize(
    ("name", "waste", "ratio", "usd"),
    [
        ("shared storage alone", "0.537", None, 4080.0),
        ("local saves with copies", "0.615", 3, 1044.0),
        ("copies block for 8 s", "0.710", 2, 1044.0),
        ("local saves without copies", None, 1, 1044.0),
    ],
)
def test_local_saves_buy_cheaper_storage(name: str, waste: str | None, ratio: int | None, usd: float) -> None:
    plan = plan_of(shipped("local-and-shared").named(name))
    _, found = known(plan)
    assert plan.storage.chosen is not None
    assert plan.storage.chosen.usd_per_month == usd
    assert (plan.levels.ratio if plan.levels else None) == ratio
    if waste is not None:
        assert percent(found.exact_fraction, waste) == waste
