"""Rows of saves and restart classes as text and in files, and files of versions that knew less."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from ckptplanner import cli
from ckptplanner.data import catalog
from ckptplanner.data.records import FsxTier, NodeType
from ckptplanner.engine.csv_files import write_csv
from ckptplanner.engine.edits import EditError, edit, value_from_text
from ckptplanner.engine.evaluate import evaluate, plan_of
from ckptplanner.engine.operations import RestartClass, SaveRow
from ckptplanner.engine.plan import Plan
from ckptplanner.engine.scenario import NamedScenario, Scenario, Workbook
from ckptplanner.engine.tables import input_rows
from ckptplanner.engine.workbook_file import WorkbookError, as_document, from_document
from ckptplanner.units import DAY
from tests.engine.build import scenario

E1 = Path(__file__).parents[2] / "resources" / "examples" / "nemotron-3.5-super.ckptplan.json"
S = 124.45e9 * 14
DEEP = "[" * 100_000
SAVES = '[{"kind": "export", "bytes": 794e9, "writer": "single", "to": "shared", "keep": 1}, {}]'
CLASSES = (
    '[{"share": 0.9, "detect_s": 60, "reschedule_s": 0, "start_s": 60, "reads_from": "peer", "rework": "step"}, {"share": 0.1}]'
)


# ---------------------------------------------------------------- rows as text


def test_rows_are_read_and_what_they_leave_out_is_the_default() -> None:
    assert value_from_text("saves", SAVES) == (
        SaveRow(kind="export", bytes=794e9, writer="single", to="shared", keep=1),
        SaveRow(),
    )
    first, second = value_from_text("restart.classes", CLASSES)
    assert (first.share, first.reads_from, first.rework) == (0.9, "peer", "step")
    assert second == RestartClass(share=0.1)


@pytest.mark.parametrize("path", ["saves", "restart.classes"])
@pytest.mark.parametrize("written", ["", "null", "none", "[]", " [] "])
def test_no_rows(path: str, written: str) -> None:
    assert value_from_text(path, written) == ()


@pytest.mark.parametrize(("path", "written"), [("saves", SAVES), ("restart.classes", CLASSES)])
def test_the_table_of_inputs_holds_what_a_setting_takes(path: str, written: str) -> None:
    rows = value_from_text(path, written)
    named = edit(NamedScenario(name="some"), path, rows)
    shown = next(one for one in input_rows(named) if one.path == path)
    assert value_from_text(path, str(shown.value)) == rows
    assert shown.shown == "2 rows"
    assert (
        from_document(as_document(Workbook(scenarios=(named,), current="some", base="some"))).shown.scenario == named.scenario
    )


@pytest.mark.parametrize(
    ("path", "written", "words"),
    [
        ("saves", "nonsense", ("JSON list", "kind, every_s, bytes")),
        ("saves", '{"kind": "export"}', ("JSON list",)),
        ("saves", DEEP, ("JSON list",)),
        ("saves", "[1]", ("a row is an object, not 1",)),
        ("saves", '[{"kind": "sometimes"}]', ("kind", "'permanent'", '"sometimes"')),
        ("saves", '[{"every_s": "often"}]', ("every_s", '"often"', "Write 90 s")),
        ("saves", '[{"every_s": 0.5}]', ("every_s", "greater than or equal to 1")),
        ("saves", '[{"bytes": 0}]', ("bytes",)),
        ("saves", '[{"bytes": NaN}]', ("bytes", "finite")),
        ("saves", '[{"bytes": 1e999}]', ("bytes", "finite")),
        ("saves", '[{"keep": 2.5}]', ("keep", "integer")),
        ("saves", '[{"keep": true}]', ("keep", "true or false")),
        ("saves", '[{"stop_s": -1}]', ("stop_s",)),
        ("saves", '[{"more": 1}]', ("more: no such field", "stop_s")),
        ("saves", json.dumps([{}] * 65), ("65 rows", "at most 64")),
        ("restart.classes", "[{}]", ("share is missing", "reads_from")),
        ("restart.classes", '[{"share": 2}]', ("share", "less than or equal to 1")),
        ("restart.classes", '[{"share": 0.5, "reads_from": "moon"}]', ("reads_from", "'replica'", '"moon"')),
        ("restart.classes", '[{"share": 0.5, "rework": "all"}]', ("rework", "'step'")),
        ("restart.classes", json.dumps([{"share": 0.1}] * 33), ("33 rows", "at most 32")),
        ("storage.custom", DEEP, ("JSON object",)),
        ("datapath.tcp_flow", "sideways", ("outside, placement, ena_express",)),
        ("memory.staging", "half", ("share, whole",)),
        ("replication.factor", "0", ("at least 1",)),
        ("datapath.copy_bytes_per_s", "0", ("at least",)),
    ],
)
def test_what_cannot_be_is_refused_in_one_sentence(path: str, written: str, words: tuple[str, ...]) -> None:
    with pytest.raises(EditError) as refused:
        edit(NamedScenario(name="some"), path, value_from_text(path, written))
    said = str(refused.value).replace("\u00a0", " ")
    assert said.startswith(f"{path}: ")
    assert "\n" not in said
    assert "Value error" not in said
    assert len(said) < 400
    assert not [word for word in words if word not in said], said


# ---------------------------------------------------------------- the command


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    try:
        code = cli.main(["plan", str(E1), "--json", *arguments])
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else 1
    out, err = capsys.readouterr()
    return code, out, err


def test_rows_by_setting(capsys: pytest.CaptureFixture[str]) -> None:
    """5 servers: 794 GB by one writer in 254 s; R = 0.9 x 120 s + 0.1 x 890 s and a little for the peers' 54 GB."""
    code, out, err = run(
        capsys, "--set", "storage.tier=p2-500-12000", "--set", f"saves={SAVES}", "--set", f"restart.classes={CLASSES}"
    )
    assert (code, err) == (0, "")
    plan = json.loads(out)
    assert [row["kind"] for row in plan["beyond"]["saves"]] == ["export", "permanent"]
    assert plan["beyond"]["saves"][0]["writes_in_s"] == pytest.approx(794e9 / 3.125e9)
    assert plan["schedule"]["restart_s"] == pytest.approx(0.9 * (120 + S / 32 / 800e9) + 0.1 * (600 + S / 6e9))


@pytest.mark.parametrize("setting", ["saves=[1]", "saves=" + DEEP, 'restart.classes=[{"share": 2}]', "saves.0.bytes=3"])
def test_a_refused_row_is_one_line_and_exit_2(capsys: pytest.CaptureFixture[str], setting: str) -> None:
    code, out, err = run(capsys, "--set", setting)
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert E1.name in err
    assert setting.partition("=")[0] in err


def test_shares_that_do_not_sum_are_a_finding_and_exit_3(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "--set", 'restart.classes=[{"share": 0.5}]')
    assert (code, err) == (3, "")
    found = [one for one in json.loads(out)["findings"] if one["path"] == "restart.classes"]
    assert [one["severity"] for one in found] == ["error"]


# ---------------------------------------------------------------- files of older versions

NEW_SECTIONS = ("datapath", "memory", "replication", "saves", "planned", "restart", "shared", "spares", "network")
NEW_PRICES = ("s3_usd_per_gb_month", "cross_zone_usd_per_gb")


def document(*changes: dict[str, Any]) -> dict[str, Any]:
    """One scenario as it stands in a file, "a"."""
    named = NamedScenario(name="a", scenario=scenario(*changes))
    made: dict[str, Any] = json.loads(json.dumps(as_document(Workbook(scenarios=(named,), current="a", base="a"))))
    return made


def without_what_is_new(whole: dict[str, Any]) -> dict[str, Any]:
    """The same as a version wrote it that knew neither the sections nor the columns of the node and the file systems."""
    old = copy.deepcopy(whole)
    for row in old["scenarios"]:
        for section in NEW_SECTIONS:
            del row[section]
        for price in NEW_PRICES:
            del row["prices"][price]
        row["workload"]["node"] = {
            name: value for name, value in row["workload"]["node"].items() if NodeType.model_fields[name].is_required()
        }
        row["storage"]["tiers"] = [
            {name: value for name, value in tier.items() if FsxTier.model_fields[name].is_required()}
            for tier in row["storage"]["tiers"]
        ]
    return old


def same_figures(one: Plan, other: Plan) -> bool:
    names = ("checkpoint", "schedule", "waste", "storage", "cost", "replication", "datapath", "host_ram", "beyond", "findings")
    return all(getattr(one, name) == getattr(other, name) for name in names)


@pytest.mark.parametrize(
    "node", ["p6-b300.48xlarge", "p5.48xlarge", "p6e-gb200.36xlarge", "g6e.12xlarge", "trn1.32xlarge", "dgx-h100"]
)
def test_an_old_file_gives_the_same_figures(node: str) -> None:
    whole = document({"workload.node": node, "storage.write_s": 1200.0})
    old = without_what_is_new(whole)
    assert "copy_rate" not in old["scenarios"][0]["workload"]["node"]
    found = from_document(old).shown
    assert found.scenario.workload.node == catalog.node(node)
    assert same_figures(evaluate(found.scenario), evaluate(from_document(whole).shown.scenario))
    assert set(NEW_SECTIONS) <= set(found.missing)
    assert "prices.s3_usd_per_gb_month" in found.missing
    assert any(one.message.startswith("Not in the file") for one in plan_of(found).findings)


def test_what_a_file_says_of_its_node_is_left_alone() -> None:
    old = without_what_is_new(document())
    old["scenarios"][0]["workload"]["node"] |= {"host_ram_gib": 1000.0, "copy_rate": "copy-pinned-4"}
    plan = evaluate(from_document(old).shown.scenario)
    assert plan.host_ram is not None
    assert plan.host_ram.ram_bytes == 1000 * 2**30
    assert plan.datapath is not None
    assert plan.datapath.phase("snapshot").seconds == pytest.approx(S / 32 / 8 / 26e9)


def test_a_node_that_the_catalog_does_not_know_has_unknown_ceilings() -> None:
    old = without_what_is_new(document())
    old["scenarios"][0]["workload"]["node"] |= {"id": "our-node", "name": "our node"}
    plan = evaluate(from_document(old).shown.scenario)
    assert plan.datapath is not None
    assert plan.datapath.phase("snapshot").seconds is None
    assert any(one.path == "datapath.copy_bytes_per_s" and "our node" in one.message for one in plan.findings)


def test_ceilings_in_a_file_win_over_the_catalogs() -> None:
    made = document()
    for row in made["scenarios"][0]["datapath"]["ceilings"]:
        if row["id"] == "copy-pinned-5":
            row["rate_bytes_per_s"] = 5.69e9
    plan, default = evaluate(from_document(made).shown.scenario), evaluate(Scenario())
    assert plan.datapath is not None
    assert default.datapath is not None
    assert plan.datapath.phase("snapshot").seconds == pytest.approx(10 * (default.datapath.phase("snapshot").seconds or 0.0))


@pytest.mark.parametrize("rows", [[], [{"id": "copy-pinned-5", "rate_bytes_per_s": 5.69e9}]])
def test_ceilings_that_a_file_leaves_out_are_the_catalogs(rows: list[Any]) -> None:
    made = document()
    made["scenarios"][0]["datapath"]["ceilings"] = rows
    found = from_document(made).shown.scenario
    rates = {row.id: row.rate_bytes_per_s for row in found.datapath.ceilings}
    assert rates == {row.id: row.rate_bytes_per_s for row in catalog.ceilings()} | {row["id"]: 5.69e9 for row in rows}


def test_a_file_holds_the_ceilings_that_it_uses_and_reads_back_the_same() -> None:
    several: list[dict[str, Any]] = [{}, {"datapath.pinned": False}, {"workload.node": "p4d.24xlarge"}]
    for changes in several:
        made = document(changes)
        assert from_document(made).shown.scenario == scenario(changes)
        known = {row["id"] for row in made["scenarios"][0]["datapath"]["ceilings"]}
        node = scenario(changes).workload.node
        assert {node.copy_rate, node.link_rate, "tcp-placement", "s3-connection"} <= known
        assert ("copy-pageable" in known) is (changes == {"datapath.pinned": False})


def test_a_file_with_some_new_fields_gets_the_rest() -> None:
    old = without_what_is_new(document())
    old["scenarios"][0] |= {"planned": {"every_s": DAY}, "datapath": {"pinned": False}}
    found = from_document(old).shown
    assert found.scenario == scenario({"planned.every_s": DAY, "datapath.pinned": False})
    assert {"planned.notice_s", "datapath.copy_bytes_per_s"} <= set(found.missing)
    assert "planned.every_s" not in found.missing


@pytest.mark.parametrize(
    ("section", "value", "words"),
    [
        ("saves", [{"kind": "sometimes"}], ("saves.0.kind", "permanent")),
        ("saves", [{}, {"bytes": -1}], ("saves.1.bytes",)),
        ("saves", [{}] * 65, ("saves: 65 rows", "at most 64")),
        ("saves", {"kind": "export"}, ("saves",)),
        ("restart", {"classes": [{"share": 1.5}]}, ("restart.classes.0.share",)),
        ("restart", {"classes": [{"share": 1.0, "more": 1}]}, ("restart.classes.0.more",)),
        ("datapath", {"pinned": "perhaps"}, ("datapath.pinned",)),
        ("datapath", {"link_speed": 3}, ("datapath.link_speed", "datapath.link_bytes_per_s")),
        ("datapath", {"ceilings": [{"id": "our-link"}]}, ("datapath.ceilings.", "name")),
        ("datapath", {"ceilings": [{"id": ["copy-pinned-5"]}]}, ("datapath.ceilings.", "id")),
        ("datapath", {"ceilings": [3]}, ("datapath.ceilings.",)),
        (
            "datapath",
            {"ceilings": [{"id": "copy-pinned-5", "rate_bytes_per_s": 0}]},
            ("datapath.ceilings.", "rate_bytes_per_s"),
        ),
        ("memory", {"writes_in_flight": 0}, ("memory.writes_in_flight", "at least 1")),
        ("spares", None, ("spares",)),
    ],
)
def test_a_file_with_a_wrong_row_is_refused_by_its_place(section: str, value: Any, words: tuple[str, ...]) -> None:
    made = document()
    made["scenarios"][0][section] = value
    with pytest.raises(WorkbookError) as refused:
        from_document(made)
    said = str(refused.value).replace("\u00a0", " ")
    assert "\n" not in said
    assert len(said) < 800
    assert not [word for word in words if word not in said], said


def test_japanese_survives_the_csv_files(tmp_path: Path) -> None:
    named = edit(NamedScenario(name="東京"), "spares.nodes", 2, "typed", "予備は二台")
    write_csv(named, plan_of(named), tmp_path)
    assert "予備は二台" in (tmp_path / "inputs.csv").read_text(encoding="utf-8-sig")
