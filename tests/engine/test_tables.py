"""Tables and CSV files: the numbers of the plan to the last bit, empty cells for what is unknown, Japanese intact."""

from __future__ import annotations

import csv
import subprocess
import sys
from pathlib import Path

import pytest

from ckptplanner.engine import tables
from ckptplanner.engine.csv_files import NAMES, ExportError, csv_text, write_csv, write_whole
from ckptplanner.engine.edits import value_from_text
from ckptplanner.engine.evaluate import evaluate, plan_of
from ckptplanner.engine.scenario import PATHS, NamedScenario, Scenario, Source
from ckptplanner.frozen import value_at, with_value
from ckptplanner.units import SUFFIX_UNITS
from tests.engine.cases import LAWS, LEVELS
from tests.engine.cases import named as scenario_with


@pytest.fixture
def named() -> NamedScenario:
    return NamedScenario(name="5 分")


def _read(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def test_options_are_those_of_the_plan_to_the_last_bit(named: NamedScenario, tmp_path: Path) -> None:
    plan = plan_of(named)
    write_csv(named, plan, tmp_path)
    rows = _read(tmp_path / "options.csv")
    assert len(rows) == len(plan.storage.options)
    for row, option in zip(rows, plan.storage.options, strict=True):
        assert row["id"] == option.id
        for name in ("capacity_gib", "usd_per_month", "waste_fraction", "total_usd_per_year", "writes_in_s"):
            assert float(row[name]) == getattr(option, name)
    assert [row["id"] for row in rows if row["chosen"] == "True"] == ["p2-500-12000"]


def test_unknown_is_an_empty_cell_and_never_nan(tmp_path: Path) -> None:
    custom = {"write_bytes_per_s": 62e9, "read_bytes_per_s": 125e9, "usable_bytes": 1e15}
    named = NamedScenario(name="a", scenario=with_value(Scenario(), "storage.custom", custom))
    named = named.model_copy(update={"scenario": with_value(named.scenario, "prices.storage_usd_per_gib_month.p2_125", None)})
    write_csv(named, plan_of(named), tmp_path)
    everything = "".join((tmp_path / name).read_text(encoding="utf-8-sig") for name in NAMES).lower()
    assert not {"nan", "inf", "none"} & set(everything.replace("\r\n", ",").split(","))
    prices = {row["id"]: row["usd_per_month"] for row in _read(tmp_path / "options.csv")}
    assert prices["custom"] == ""
    assert "" in {price for name, price in prices.items() if name.startswith("p2-125-")}
    assert {row["path"] for row in _read(tmp_path / "inputs.csv")} > {"storage.custom.write_bytes_per_s", *PATHS}


def test_curves_are_those_of_the_plan(named: NamedScenario, tmp_path: Path) -> None:
    plan = plan_of(named)
    write_csv(named, plan, tmp_path)
    rows = _read(tmp_path / "curves.csv")
    assert [float(row["write_s"]) for row in rows] == plan.curves.write_s.tolist()
    exact = plan.curves.picked(plan.curves.run_async.exact_fraction)
    assert [float(row["async_exact_waste_fraction"]) for row in rows] == exact.tolist()
    assert [float(row["p2_500_capacity_gib"]) for row in rows] == plan.curves.capacity_gib[2].tolist()
    near = min(rows, key=lambda row: abs(float(row["write_s"]) - 300.0))
    assert near["cheapest"] == "p2-500-12000"


def test_curves_without_a_write_have_empty_cells() -> None:
    plan = evaluate(with_value(Scenario(), "storage.latency_s", 30.0))
    first = csv_text(tables.curves_table(plan)).splitlines()[1].split(",")
    assert first[1:4] == ["", "", ""]


def test_headings_carry_their_unit(named: NamedScenario) -> None:
    plain = {"id", "chosen", "efa", "servers", "bound_by", "illegal_reason", "excluded_reason", "cheapest"}
    plan = plan_of(named)
    for column in (*tables.options_table(plan).columns, *tables.curves_table(plan).columns):
        assert column in plain or column.endswith(tuple(SUFFIX_UNITS)), column


def test_inputs_list_every_path_with_unit_and_source(named: NamedScenario) -> None:
    rows = {row.path: row for row in tables.input_rows(named)}
    assert tuple(rows) == PATHS
    for path, row in rows.items():
        value = value_at(named.scenario, path)
        assert row.value == value or not isinstance(value, int | float | str)
    assert (rows["storage.write_s"].unit, rows["storage.write_s"].shown) == ("s", "5\u00a0min")
    assert rows["workload.layout"].value == 14.0
    assert rows["prices.node_usd_per_h"].date
    assert "Article A" in rows["prices.node_usd_per_h"].source_text


def test_a_recorded_source_is_shown_with_its_date(named: NamedScenario) -> None:
    logged = named.with_source(Source(path="failures.mtbi_s", kind="log", text="run-7 のログ", date="2026-11-02"))
    row = next(row for row in tables.input_rows(logged) if row.path == "failures.mtbi_s")
    assert (row.source, row.source_text, row.date) == ("log", "run-7 のログ", "2026-11-02")


def test_findings_are_those_of_the_plan(named: NamedScenario) -> None:
    plan = plan_of(named)
    frame = tables.findings_table(plan)
    assert frame["message"].tolist() == [finding.message for finding in plan.findings]
    assert frame["severity"].tolist() == [finding.severity for finding in plan.findings]


def test_files_begin_with_a_byte_order_mark_and_keep_japanese(named: NamedScenario, tmp_path: Path) -> None:
    written = write_csv(named, plan_of(named), tmp_path / "新しい")
    assert [path.name for path in written] == list(NAMES)
    content = (tmp_path / "新しい" / "inputs.csv").read_bytes()
    assert content.startswith(b"\xef\xbb\xbf")
    assert "学習チェックポイント".encode() in content
    assert sorted(path.name for path in (tmp_path / "新しい").iterdir()) == sorted(NAMES)


def test_a_text_that_looks_like_a_formula_is_marked_as_text(named: NamedScenario) -> None:
    logged = named.with_source(Source(path="failures.mtbi_s", kind="log", text="=cmd()"))
    assert "'=cmd()" in csv_text(tables.inputs_table(logged))


def test_a_folder_that_cannot_be_written_is_one_sentence(named: NamedScenario, tmp_path: Path) -> None:
    blocker = tmp_path / "file"
    blocker.write_text("here")
    with pytest.raises(ExportError, match=r"options\.csv could not be written to .*choose a folder"):
        write_csv(named, plan_of(named), blocker)
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_a_failed_write_leaves_the_old_file(tmp_path: Path) -> None:
    (tmp_path / "a.csv").mkdir()
    with pytest.raises(ExportError):
        write_whole(tmp_path / "a.csv", b"new")
    assert [path.name for path in tmp_path.iterdir()] == ["a.csv"]


def test_pandas_is_not_loaded_before_it_is_needed() -> None:
    code = "import sys; import ckptplanner.engine.csv_files, ckptplanner.engine.spreadsheet; print('pandas' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_both_levels_are_a_file_and_one_level_is_an_empty_one(named: NamedScenario, tmp_path: Path) -> None:
    two = scenario_with(LEVELS["two levels, copies"])
    plan = plan_of(two)
    assert plan.levels is not None
    write_csv(two, plan, tmp_path)
    rows = {row.pop("level"): row for row in _read(tmp_path / "levels.csv")}
    assert list(rows) == ["local", "shared", "both", "shared_alone"]
    for name, level in (("local", plan.levels.local), ("shared", plan.levels.shared)):
        for field, cell in rows[name].items():
            assert float(cell) == getattr(level, field), (name, field)
    assert float(rows["both"]["waste_fraction"]) == plan.levels.waste_fraction
    assert float(rows["shared_alone"]["waste_fraction"]) == plan.levels.single_level_fraction
    write_csv(named, plan_of(named), tmp_path)
    assert _read(tmp_path / "levels.csv") == []


def test_a_level_that_nothing_goes_back_to_has_an_empty_cell(tmp_path: Path) -> None:
    far = scenario_with(LEVELS["two levels, all go to shared storage"])
    write_csv(far, plan_of(far), tmp_path)
    assert _read(tmp_path / "levels.csv")[0]["mtbi_s"] == ""


def test_measured_gaps_are_counted_and_listed(tmp_path: Path) -> None:
    gaps = scenario_with(LAWS["gaps"])
    write_csv(gaps, plan_of(gaps), tmp_path)
    row = next(row for row in _read(tmp_path / "inputs.csv") if row["path"] == "failures.gaps_s")
    assert row["shown"] == "11 gaps"
    assert value_from_text("failures.gaps_s", row["value"]) == gaps.scenario.failures.gaps_s
