"""`ckptplanner import`: the table, the JSON of SPEC 11, and taking what was found into a plan."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from ckptplanner.engine.scenario import NamedScenario, Workbook
from ckptplanner.engine.workbook_file import read, write
from tests.conftest import Run

SAMPLES = Path("tests/data/samples")
SACCT, MEGATRON, FIO = SAMPLES / "logs/sacct_parsable2.txt", SAMPLES / "logs/megatron-lm.log", SAMPLES / "storage/fio-3.33.json"


def document(run: Run, *arguments: object) -> dict[str, Any]:
    code, out, _ = run("import", *arguments, "--json")
    assert code == 0
    made: dict[str, Any] = json.loads(out)
    return made


def found(made: dict[str, Any], path: str) -> dict[str, Any]:
    rows: list[dict[str, Any]] = made["found"]
    return next(row for row in rows if row["path"] == path)


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    file = tmp_path / "job.ckptplan.json"
    book = Workbook(scenarios=(NamedScenario(name="5 min"), NamedScenario(name="other")), current="5 min", base="5 min")
    write(book, file)
    return file


def test_the_json_has_the_fields_of_the_contract(run: Run) -> None:
    """SPEC 11: found: [path, value, unit, low, high, count, kind, source (file, where)], refused: [file, message]."""
    made = document(run, MEGATRON)
    row = found(made, "storage.blocking_s")
    assert {"path", "value", "unit", "low", "high", "count", "kind", "source"} <= set(row)
    assert row["value"] == pytest.approx(5.067, abs=1e-3)  # the median, README of the samples
    assert (row["unit"], row["count"], row["kind"]) == ("s", 3, "measured")
    assert (row["low"], row["high"]) == (pytest.approx(4.972, abs=1e-3), pytest.approx(5.262, abs=1e-3))
    assert row["source"]["file"] == "megatron-lm.log"
    assert row["source"]["where"].startswith("line ")
    assert made["refused"] == []


def test_a_refused_file_is_named_and_the_others_stand(run: Run, tmp_path: Path) -> None:
    broken = tmp_path / "broken.json"
    broken.write_bytes(FIO.read_bytes()[:3000])
    made = document(run, MEGATRON, broken)
    assert [row["file"] for row in made["refused"]] == ["broken.json"]
    assert found(made, "storage.blocking_s")


def test_the_table_is_for_people(run: Run) -> None:
    code, out, err = run("import", MEGATRON, SACCT)
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0].startswith("2 files read")
    assert any("Stop time" in line and "5.07" in line and "storage.blocking_s" in line for line in lines)


def test_what_is_proposed_goes_into_the_plan_with_its_source(run: Run, plan: Path) -> None:
    code, out, _ = run("import", MEGATRON, "--into", plan)
    assert code == 0
    assert "taken into" in out
    named = read(plan).shown
    source = named.source_of("storage.blocking_s")
    assert named.scenario.storage.blocking_s == 5.067
    assert source is not None
    assert (source.kind, source.count) == ("log", 3)
    assert source.text.startswith("megatron-lm.log, line ")
    assert named.scenario.storage.interval_s is None  # a decision is never taken over by itself


def test_one_field_alone_and_another_scenario(run: Run, plan: Path) -> None:
    run("import", MEGATRON, "--into", plan, "--scenario", "other", "--only", "storage.blocking_s")
    book = read(plan)
    assert book.named("other").scenario.storage.blocking_s == 5.067
    assert book.named("other").scenario.storage.write_s == 300.0
    assert book.named("5 min").scenario.storage.blocking_s == 5.0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--only", "storage.max_fill"], "no such field, or none that files settle"),
        (["--only", "workload.measured_bytes"], "the files say nothing about this field"),
        (["--job", "nojob"], "--job 'nojob': one of "),
        (["--merge=-1 s"], "at least 0 s"),
        (["--answer", "foo=bar"], "no questions is expected"),
        (["--scenario", "nobody"], "nobody"),
        (["--merge", "soon"], "soon"),
        (["--nodes", "0"], "whole number of nodes"),
        (["--answer", "what"], "QUESTION=QUANTITY"),
    ],
)
def test_what_is_refused_is_one_line_and_the_plan_stays(run: Run, plan: Path, arguments: list[str], words: str) -> None:
    before = plan.read_bytes()
    code, out, err = run("import", MEGATRON, "--into", plan, *arguments)
    assert (code, out) == (2, "")
    assert words in err
    assert err.count("\n") == 1
    assert plan.read_bytes() == before


def test_an_m_is_taken_with_the_nodes_that_it_was_counted_on(run: Run, plan: Path) -> None:
    """Job 1 of the sample ran 83 s on 4 nodes and was interrupted once."""
    run("import", SACCT, "--into", plan, "--only", "failures.mtbi_s")
    failures = read(plan).shown.scenario.failures
    assert failures.mtbi_nodes == 4
    assert failures.mtbi_s == pytest.approx(83.0)


def test_an_answer_settles_what_a_file_leaves_open(run: Run) -> None:
    open_question = document(run, FIO)
    assert open_question["questions"]
    question = next(one for one in open_question["questions"] if "write" in one["id"])
    answered = document(run, FIO, "--answer", f"{question['id']}=drives_write")
    assert found(answered, "datapath.nvme_write_bytes_per_s")["value"] == pytest.approx(2.049e9, rel=1e-3)


def test_a_folder_is_walked_and_a_path_that_is_missing_is_said(run: Run, tmp_path: Path) -> None:
    (tmp_path / "run/logs").mkdir(parents=True)
    shutil.copy(MEGATRON, tmp_path / "run/logs/rank0.out")
    made = document(run, tmp_path / "run")
    assert found(made, "storage.blocking_s")["source"]["file"] == "run/logs/rank0.out"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nowhere"], "there is no such file or folder"),
        ([""], "an empty path"),
        ([SACCT, "--job", "nojob"], "one of pretrain-120b"),
        ([FIO, "--answer", "storage.target.write:/fsx=foo"], "writes_at or drives_write is expected"),
        ([FIO, "--only", "storage.blocking_s"], "--into FILE is expected"),
        ([SAMPLES / "apply"], "no such file"),
    ],
)
def test_what_cannot_be_meant_is_refused_in_one_line(run: Run, arguments: list[object], words: str) -> None:
    code, out, err = run("import", *arguments)
    assert (code, out) == (2, "")
    assert words in err
    assert err.count("\n") == 1


def test_where_nothing_can_be_read_the_first_reason_is_said(run: Run, tmp_path: Path) -> None:
    (tmp_path / "broken.json").write_bytes(FIO.read_bytes()[:3000])
    code, out, err = run("import", tmp_path / "broken.json")
    assert (code, out) == (2, "")
    assert err.startswith("broken.json, line ")


def test_a_field_that_waits_for_an_answer_says_which(run: Run, plan: Path) -> None:
    code, _, err = run("import", FIO, MEGATRON, "--into", plan, "--only", "datapath.nvme_write_bytes_per_s")
    assert code == 2
    assert "--answer storage.target.write" in err
    assert "=drives_write" in err


def test_the_columns_of_a_table_are_named(run: Run, tmp_path: Path) -> None:
    """Stops on 1, 3 and 7 March, day first: 144 h with two of them after the first, 72 h."""
    table = tmp_path / "incidents.csv"
    rows = ("01/03/2026 00:00,a", "03/03/2026 00:00,b", "07/03/2026 00:00,c")
    table.write_text("happened at,what went wrong\n" + "\n".join(rows) + "\n")
    code, _, err = run("import", table)
    assert code == 2
    assert "say which of its columns is what" in err
    made = document(run, table, "--columns", "incidents.csv:time=happened at,dates=d/m/y")
    assert found(made, "failures.mtbi_s")["value"] == pytest.approx(72.0 * 3600.0)


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ("incidents.csv", "FILE:time=COLUMN"),
        ("incidents.csv:time=when", "it has no column 'when'; there are happened at"),
        ("other.csv:time=happened at", "there is no such file among those that were given"),
        ("incidents.csv:time=happened at,dates=y/d/m", "one of iso"),
    ],
)
def test_columns_that_cannot_be_meant_are_refused(run: Run, tmp_path: Path, columns: str, words: str) -> None:
    table = tmp_path / "incidents.csv"
    table.write_text("happened at,what went wrong\n01/03/2026 00:00,a\n03/03/2026 00:00,b\n")
    code, out, err = run("import", table, "--columns", columns)
    assert (code, out) == (2, "")
    assert words in err


def test_it_needs_no_qt(tmp_path: Path) -> None:
    import subprocess
    import sys

    code = (
        "import sys\nfrom ckptplanner.cli import main\n"
        f"main(['import', {str(MEGATRON)!r}, '--json'])\n"
        "print(*sorted(name for name in sys.modules if name.startswith(('PySide6', 'pyqtgraph', 'pandas'))), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stderr.strip() == ""
