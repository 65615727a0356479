"""Scenarios side by side: the inputs that differ, the figures of SPEC 5 and EXAMPLES E1 with their differences, the JSON."""

from __future__ import annotations

import csv
import io
import json
import math
from pathlib import Path
from typing import Any

import pytest

from ckptplanner.engine.campaign import COLUMNS, campaign, campaign_rows
from ckptplanner.engine.compare import (
    FIGURES,
    Case,
    Comparison,
    cases_of,
    comparison,
    comparison_cells,
    comparison_columns,
    comparison_document,
)
from ckptplanner.engine.compare_words import as_text, difference_text, is_seen, share_text, summary, value_text
from ckptplanner.engine.csv_files import CAMPAIGN, COMPARISON, write_comparison
from ckptplanner.engine.document import plan_document
from ckptplanner.engine.edits import edit
from ckptplanner.engine.evaluate import plan_of
from ckptplanner.engine.scenario import CustomStorage, NamedScenario, Workbook
from ckptplanner.engine.workbook_file import WorkbookError, as_document, from_document, read, write
from ckptplanner.units import TB
from tests.engine.build import SIX_BYTES, SYNC, percent, printed, scenario

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "resources/examples").glob("*.json"))
NAMES = ("5 min", "20 min", "sync 60 s", "6 B")


def book() -> Workbook:
    """The four plans of EXAMPLES E1, the 5-minute one as the base."""
    made = (scenario(), scenario(storage={"write_s": 1200.0}), scenario(SYNC, storage={"write_s": 60.0}), scenario(SIX_BYTES))
    named = tuple(NamedScenario(name=name, scenario=one) for name, one in zip(NAMES, made, strict=True))
    return Workbook(scenarios=named, current="5 min", base="5 min")


@pytest.fixture(scope="module")
def found() -> Comparison:
    return comparison(cases_of(book()), "5 min", "month")


# ---------------------------------------------------------------- what differs


def test_the_inputs_that_differ_and_no_others(found: Comparison) -> None:
    assert [(row.path, row.shown) for row in found.inputs] == [
        ("workload.layout", ("14\u00a0B", "14\u00a0B", "14\u00a0B", "6\u00a0B")),
        ("storage.mode", ("async", "async", "sync", "async")),
        ("storage.write_s", ("5\u00a0min", "20\u00a0min", "1\u00a0min", "5\u00a0min")),
    ]
    assert [row.differs for row in found.inputs] == [
        (False, False, False, True), (False, False, True, False), (False, True, True, False),
    ]  # fmt: skip
    assert found.inputs[0].in_full[3] == "bf16 weights 2 + bf16 Adam moments 4 = 6\u00a0B"
    assert (found.inputs[2].title, found.inputs[2].unit, found.inputs[2].values) == ("Write time", "s", (300, 1200, 60, 300))


def test_storage_that_exists_is_compared_by_its_parts() -> None:
    own = scenario(storage={"custom": CustomStorage(write_bytes_per_s=250e9, read_bytes_per_s=700e9, usable_bytes=2e15)})
    cases = [Case(named, plan_of(named)) for named in (NamedScenario(name="a"), NamedScenario(name="b", scenario=own))]
    rows = {row.path: row.shown for row in comparison(cases, "a").inputs}
    assert rows["storage.custom"] == ("", "given")
    assert rows["storage.custom.write_bytes_per_s"] == ("", "250\u00a0GB/s")


def test_rows_that_look_alike_are_said_to_be_others() -> None:
    days, weeks = (NamedScenario(name=name) for name in ("days", "weeks"))
    days = edit(days, "saves", ({"kind": "permanent", "every_s": 86_400.0},))
    weeks = edit(weeks, "saves", ({"kind": "permanent", "every_s": 604_800.0},))
    row = next(iter(comparison([Case(one, plan_of(one)) for one in (days, weeks)], "days").inputs))
    assert (row.path, row.shown) == ("saves", ("1 row", "1 row, others"))


def test_no_scenario_of_that_name() -> None:
    with pytest.raises(ValueError, match="no scenario 'x'; there are '5 min', '20 min'"):
        comparison(cases_of(book()), "x")


# ---------------------------------------------------------------- what follows


def test_the_figures_are_those_that_are_printed(found: Comparison) -> None:
    storage, waste = found.row("cost.storage_usd_per_year"), found.row("waste.chosen_fraction")
    assert [printed(float(value), "0") for value in storage.values] == ["4,080", "1,512", "20,160", "2,448"]  # SPEC 5
    assert [percent(float(value), "0.54") for value in waste.values] == ["0.54", "0.75", "1.37", "0.53"]  # EXAMPLES E1
    capacity = found.row("storage.chosen.capacity_gib")
    assert capacity.values == (12_000.0, 7_200.0, 33_600.0, 7_200.0)
    assert found.row("storage.chosen.id").values == ("p2-500-12000", "p2-250-7200", "p2-1000-33600-efa", "p2-500-7200")


def test_differences_are_those_of_what_is_shown(found: Comparison) -> None:
    for row in found.figures:
        base = row.values[found.base]
        assert row.changes[found.base] is None
        for value, change in zip(row.values, row.changes, strict=True):
            if change is None:
                assert value == base or value is None or isinstance(value, str) or math.isclose(value, base, rel_tol=1e-9)
                continue
            assert change.difference == value - base  # type: ignore[operator]
            assert change.fraction == (value - base) / base  # type: ignore[operator]


def test_less_is_better_for_costs_and_more_for_reach(found: Comparison) -> None:
    storage, reach = found.row("cost.storage_usd_per_year"), found.row("beyond.oldest_reach_s")
    assert [change and change.is_better for change in storage.changes] == [None, True, False, True]
    assert [change and change.is_better for change in reach.changes] == [None, None, True, None]
    assert (storage.best(), reach.best()) == ({1}, {2})
    needed = found.row("storage.required_write_bytes_per_s")
    assert needed.best() == frozenset()
    assert {change and change.is_better for change in needed.changes} == {None}
    assert found.row("schedule.blocking_s").best() == frozenset(), "three of four alike are no winners"


def test_the_basis_is_that_of_each_scenarios_own_run() -> None:
    short = scenario(run={"days": 36.5})
    cases = [Case(one, plan_of(one)) for one in (NamedScenario(name="a"), NamedScenario(name="b", scenario=short))]
    year, run = (comparison(cases, "a", basis).row("cost.storage_usd_per_year") for basis in ("year", "run"))
    assert year.values == pytest.approx((48_960.0, 48_960.0))
    assert run.values == pytest.approx((48_960.0, 4_896.0))


def test_an_unknown_price_differs_from_nothing() -> None:
    dear = edit(NamedScenario(name="unknown"), "prices.region", "ap-northeast-1")
    cases = [Case(one, plan_of(one)) for one in (NamedScenario(name="known"), dear)]
    total = comparison(cases, "known").row("cost.total_usd_per_year")
    assert (total.values[1], total.changes[1], total.best()) == (None, None, frozenset())


def test_optional_figures_stand_only_where_they_say_something(found: Comparison) -> None:
    paths = {row.figure.path for row in found.figures}
    assert {"levels.local.interval_s", "cost.planned_usd_per_year", "findings.error"} & paths == set()
    local = read(ROOT / "resources/examples/local-and-shared.ckptplan.json")
    row = comparison(cases_of(local), local.base).row("levels.local.interval_s")
    assert row.values[0] is None
    assert row.values[1] is not None


# ---------------------------------------------------------------- words


def test_the_summary_names_the_cheapest_that_works(found: Comparison) -> None:
    assert str(summary(found)) == "Cheapest in all, and least waste: 6 B, $19,925 a month, 0.53\u00a0%."
    full = read(ROOT / "resources/examples/full-file-system.ckptplan.json")
    assert str(summary(comparison(cases_of(full), full.base))) == "Only 2,400 GiB more works; the others have errors."
    alike = [Case(named, plan_of(named)) for named in (NamedScenario(name="a"), NamedScenario(name="b"))]
    assert str(summary(comparison(alike, "a"))) == "All alike in dollars and in waste."


def test_values_and_differences_in_words(found: Comparison) -> None:
    def said(path: str, at: int) -> tuple[str, str, str]:
        row = found.row(path)
        change = row.changes[at]
        assert change is not None
        words = (value_text(row.figure, row.values[at]), difference_text(row.figure, change), share_text(row.figure, change))
        return tuple(str(one).replace("\u00a0", " ") for one in words)  # type: ignore[return-value]

    assert said("cost.storage_usd_per_year", 1) == ("$1,512", "−$2,568", "−63 %")
    assert said("waste.chosen_fraction", 1) == ("0.75 %", "+0.22 points", "+41 %")
    assert said("schedule.restart_s", 1) == ("26 min", "+11 min", "+76 %")
    assert said("storage.chosen.capacity_gib", 2) == ("33,600 GiB", "+21,600 GiB", "+180 %")
    assert str(value_text(found.row("storage.chosen.id").figure, "p2-1000-33600-efa")) == "1,000\u00a0MB/s/TiB, EFA"


def test_what_reads_the_same_has_no_difference_worth_a_word() -> None:
    full = read(ROOT / "resources/examples/full-file-system.ckptplan.json")
    found = comparison(cases_of(full), full.base, "month")
    lost, waste, restart = (
        found.row(path) for path in ("cost.lost_gpu_usd_per_year", "waste.chosen_fraction", "schedule.restart_s")
    )
    assert lost.changes[1] is not None, "−$0.07 is a difference"
    assert not is_seen(lost, 0, 1)
    assert not is_seen(waste, 0, 1)
    assert is_seen(restart, 0, 1)
    assert found.inputs[0].shown == ("500 MB/s/TiB × 4,800 GiB", "500 MB/s/TiB × 7,200 GiB")


def test_the_table_lines_up(found: Comparison) -> None:
    lines = as_text(found).split("\n")
    head = next(line for line in lines if "5 min (base)" in line)
    costs = next(line for line in lines if line.startswith("Costs in all"))
    for name, value in (("5 min (base)", "$21,938"), ("20 min", "$26,613"), ("sync 60 s", "$65,897"), ("6 B", "$19,925")):
        assert head.index(name) == costs.index(value)


# ---------------------------------------------------------------- JSON and files


def numbers(part: Any) -> list[float]:
    """Every number of a document."""
    if isinstance(part, dict):
        part = list(part.values())
    if isinstance(part, list):
        return [number for one in part for number in numbers(one)]
    return [part] if isinstance(part, int | float) and not isinstance(part, bool) else []


def test_the_document_holds_base_scenarios_and_differences() -> None:
    document = comparison_document(book())
    assert set(document) == {"base", "scenarios", "differences"}
    assert document["base"] == "5 min"
    assert [one["name"] for one in document["scenarios"]] == list(NAMES)
    for one, named in zip(document["scenarios"], book().scenarios, strict=True):
        assert one == {"name": named.name, **plan_document(plan_of(named))}
    inputs = {row["path"]: row for row in document["differences"]["inputs"]}
    assert inputs["storage.write_s"]["values"] == {"5 min": 300.0, "20 min": 1200.0, "sync 60 s": 60.0, "6 B": 300.0}
    figures = {row["path"]: row for row in document["differences"]["figures"]}
    storage = figures["cost.storage_usd_per_year"]
    assert (storage["unit"], storage["better"]) == ("USD/year", "less")
    assert storage["differences"] == pytest.approx(
        {"5 min": 0.0, "20 min": -30_816.0, "sync 60 s": 192_960.0, "6 B": -19_584.0}
    )
    assert storage["fractions"]["20 min"] == pytest.approx(1512 / 4080 - 1)
    assert "differences" not in figures["storage.chosen.id"]


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.stem)
def test_every_example_can_be_compared_and_run_as_a_campaign(file: Path) -> None:
    workbook = read(file)
    document = json.loads(json.dumps(comparison_document(workbook), allow_nan=False))
    assert all(math.isfinite(number) for number in numbers(document))
    found = comparison(cases_of(workbook), workbook.base)
    cells = comparison_cells(found)
    assert {len(row) for row in cells} == {len(comparison_columns(found))}
    assert as_text(found)
    for row in campaign_rows(campaign(workbook.scenarios)):
        assert len(row) == len(COLUMNS)
        assert all(math.isfinite(cell) for cell in row if isinstance(cell, float))


def test_figures_are_places_in_the_document() -> None:
    document = plan_document(plan_of(read(ROOT / "resources/examples/local-and-shared.ckptplan.json").scenarios[1]))
    for figure in FIGURES:
        place: Any = document
        if figure.path.startswith("findings."):
            continue
        for name in figure.path.split("."):
            place = place[name]


def test_the_comparison_as_a_file(tmp_path: Path) -> None:
    spoilt = book().scenarios[1].model_copy(update={"name": "=20 分"})
    workbook = Workbook(scenarios=(book().scenarios[0], spoilt), current="5 min", base="5 min")
    assert [path.name for path in write_comparison(workbook, tmp_path)] == [COMPARISON]
    content = (tmp_path / COMPARISON).read_text(encoding="utf-8-sig")
    rows = {row["path"]: row for row in csv.DictReader(io.StringIO(content))}
    storage = rows["cost.storage_usd_per_year"]
    assert float(storage["5 min"]) == 48_960.0
    assert float(storage["'=20 分"]) == 18_144.0, "a name that a spreadsheet would take for a formula is marked as text"
    assert float(storage["'=20 分 - 5 min"]) == -30_816.0
    assert float(storage["'=20 分 (share)"]) == pytest.approx(1512 / 4080 - 1)
    assert rows["storage.write_s"]["kind"] == "input"


def test_one_scenario_makes_no_comparison(tmp_path: Path) -> None:
    alone = Workbook(scenarios=(NamedScenario(name="a"),), current="a", base="a")
    assert write_comparison(alone, tmp_path) == ()


# ---------------------------------------------------------------- stages of one campaign


def test_one_file_system_serves_the_largest() -> None:
    small, large = book().scenarios[1], book().scenarios[0]
    found = campaign((small, large))
    assert found.option is not None
    assert found.option.id == "p2-500-12000", "SPEC 5: what the 5-minute plan needs also holds the 20-minute one"
    assert (found.largest, found.days) == ("5 min", 730.0)
    assert found.total("storage_usd") == pytest.approx(2 * 12 * 4080)
    assert found.total("own_storage_usd") == pytest.approx(12 * (4080 + 1512))
    one, other = found.stages
    assert one.plan.storage.chosen is not None
    assert one.plan.storage.chosen.restart_s == pytest.approx(890, abs=1), "the 20-minute stage restarts as fast as the other"
    assert one.waste_fraction is not None
    assert one.own.waste is not None
    assert one.waste_fraction < float(one.own.waste.total_fraction or 0)
    assert other.total_usd == pytest.approx(other.own_total_usd), "the largest stage is as it would be alone"


def test_a_fast_stage_makes_all_of_them_fast() -> None:
    found = campaign(book().scenarios)
    assert found.option is not None
    assert (found.option.id, found.option.usd_per_month) == ("p2-1000-33600-efa", 20_160.0)  # SPEC 5
    assert found.largest == "sync 60 s"


def test_dollars_checkpoints_and_bytes_are_summed_over_the_days() -> None:
    found = campaign([edit(book().scenarios[0], "run.days", 30.0), edit(book().scenarios[1], "run.days", 10.0)])
    assert found.days == 40.0
    first, second = found.stages
    interval = plan_of(book().scenarios[0]).schedule.interval_s  # type: ignore[union-attr]
    assert first.saves == pytest.approx(30 * 86_400 / interval)
    assert first.written_bytes == pytest.approx(30 * 86_400 / interval * 1.7423 * TB)
    assert found.total("written_bytes") == pytest.approx((first.written_bytes or 0) + (second.written_bytes or 0))
    assert found.total("storage_usd") == pytest.approx(12 * 4080 * 40 / 365)
    assert found.total("total_usd") == pytest.approx((first.total_usd or 0) + (second.total_usd or 0))
    assert found.waste_fraction == pytest.approx((30 * first.waste_fraction + 10 * second.waste_fraction) / 40)  # type: ignore[operator]


def test_stages_that_cannot_share_a_file_system_say_why() -> None:
    first, second = book().scenarios[:2]
    exists = edit(second, "storage.custom", {"write_bytes_per_s": 1e11, "read_bytes_per_s": 1e11, "usable_bytes": 1e15})
    for stages in ((first, exists), (exists, first)):
        assert "Some stages are on storage that exists" in str(campaign(stages).reason)
    away = edit(second, "prices.region", "ap-northeast-1")
    for stages in ((first, away), (away, first)):
        assert str(campaign(stages).reason) == "The stages are in different regions; each keeps its own."


def test_what_is_not_known_is_not_summed() -> None:
    unknown = edit(book().scenarios[0], "prices.node_usd_per_h", None).model_copy(update={"name": "unknown"})
    found = campaign((book().scenarios[0], unknown))
    assert found.total("total_usd") is None
    assert found.total("storage_usd") is not None


def test_stages_on_different_storage_that_exists_keep_their_own() -> None:
    own = scenario(storage={"custom": CustomStorage()})
    found = campaign((NamedScenario(name="a"), NamedScenario(name="b", scenario=own)))
    assert found.option is None
    assert "each keeps its own" in str(found.reason)
    same = campaign([NamedScenario(name=name, scenario=own) for name in "ab"])
    assert (same.option is not None and same.option.id, same.reason) == ("custom", None)


def test_a_file_system_that_all_have_fixed_stays() -> None:
    fixed = [edit(one, "storage.tier", "p2-1000-12000") for one in book().scenarios[:2]]
    assert campaign(fixed).option.id == "p2-1000-12000"  # type: ignore[union-attr]


def test_stages_that_disagree_about_efa_have_no_file_system_in_common() -> None:
    on, off = (edit(book().scenarios[0], "storage.efa", word).model_copy(update={"name": word}) for word in ("on", "off"))
    found = campaign((on, off))
    assert (found.option, str(found.reason)) == (None, "No file system on offer serves every stage; each keeps its own.")


def test_a_quota_of_one_stage_bounds_all() -> None:
    bounded = edit(book().scenarios[1], "storage.quota_gib", 10_000.0)
    found = campaign((book().scenarios[0], bounded))
    assert found.option is not None
    assert found.option.id == "p2-1000-7200", "12,000 GiB are too many: the next cheapest below the quota"


def test_the_campaign_is_kept_in_the_file(tmp_path: Path) -> None:
    workbook = book().model_copy(update={"campaign": ("20 min", "5 min")})
    assert [one.name for one in workbook.stages] == ["5 min", "20 min"], "in the order of the scenarios"
    file = tmp_path / "a.ckptplan.json"
    write(workbook, file)
    assert read(file).campaign == ("20 min", "5 min")
    assert "campaign" not in as_document(book()), "a file without one is as it was"
    with pytest.raises(WorkbookError, match="campaign names 'x'"):
        from_document({**as_document(book()), "campaign": ["x"]})
    written = [path.name for path in write_comparison(workbook, tmp_path)]
    assert written == [COMPARISON, CAMPAIGN]
    rows = list(csv.DictReader(io.StringIO((tmp_path / CAMPAIGN).read_text(encoding="utf-8-sig"))))
    assert [row["stage"] for row in rows] == ["5 min", "20 min", "sum"]
    assert rows[-1]["file_system"] == "p2-500-12000"
