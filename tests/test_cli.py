"""The command line: the contract of `plan --json`, the two kinds of no, and the export on a machine without a screen."""

from __future__ import annotations

import csv
import json
import math
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ckptplanner import __version__
from tests.conftest import Run
from tests.pdf import text_of

EXAMPLES = Path(__file__).parents[1] / "resources" / "examples"
E1 = EXAMPLES / "nemotron-3.5-super.ckptplan.json"
FILES = sorted(EXAMPLES.glob("*.ckptplan.json"))


def document(run: Run, *arguments: object, code: int = 0) -> dict[str, Any]:
    """What `plan --json` prints."""
    given, out, err = run("plan", *arguments, "--json")
    assert (given, err) == (code, "")
    printed = json.loads(out, parse_constant=pytest.fail)
    assert isinstance(printed, dict)
    return printed


def plan_file(folder: Path, scenario: dict[str, Any], **top: Any) -> Path:
    """A plan file with one scenario."""
    file = folder / "small.ckptplan.json"
    file.write_text(json.dumps({"schema": 1, "scenarios": [{"name": "a", **scenario}], **top}), encoding="utf-8")
    return file


# ---------------------------------------------------------------- the JSON, key by key

NUMBER, MAYBE, WHOLE, TEXT, FLAG = (int, float), (int, float, type(None)), (int,), (str,), (bool,)
OPTION = {
    "throughput_mb_per_s_per_tib": MAYBE, "efa": FLAG, "capacity_gib": NUMBER, "baseline_bytes_per_s": NUMBER,
    "bound_by": (str, type(None)), "usd_per_month": MAYBE, "illegal_reason": (str, type(None)),
}  # fmt: skip
PARTS: dict[str, dict[str, tuple[type, ...]]] = {
    "checkpoint": {"checkpoint_bytes": NUMBER, "bytes_per_node": NUMBER},
    "schedule": {
        "mode": TEXT, "mtbi_s": NUMBER, "interval_s": NUMBER, "interval_steps": WHOLE, "young_interval_s": NUMBER,
        "blocking_s": NUMBER, "write_s": NUMBER, "durable_after_s": NUMBER, "restart_s": NUMBER,
    },
    "waste": {
        "model": TEXT, "first_order_fraction": MAYBE, "exact_fraction": MAYBE, "saving_fraction": MAYBE,
        "interruption_fraction": MAYBE, "mean_rework_s": NUMBER, "worst_rework_s": NUMBER,
    },
    "cost": dict.fromkeys(
        ("storage_usd_per_year", "stalled_gpu_usd_per_year", "rework_usd_per_year", "restart_usd_per_year",
         "total_usd_per_year", "stalled_gpu_h_per_year"), MAYBE,
    ),
    "replication": {
        "legal_factors": (list,), "group_count": WHOLE, "loss_probability_after_first": MAYBE,
        "scattered_loss_probability": MAYBE, "run_loss_probability": MAYBE, "local_bytes_per_node": NUMBER,
    },
}  # fmt: skip
TOP = (
    "checkpoint",
    "schedule",
    "waste",
    "storage",
    "cost",
    "levels",
    "replication",
    "datapath",
    "host_ram",
    "beyond",
    "findings",
)

PHASES = (
    "snapshot", "local_write", "gds_write", "replicate", "shared_write", "s3_write",
    "restore_local", "restore_replica", "restore_shared",
)  # fmt: skip


def check_types(row: dict[str, Any], types: dict[str, tuple[type, ...]]) -> None:
    assert set(types) <= set(row)
    for name, kinds in types.items():
        value = row[name]
        assert isinstance(value, kinds), name
        assert isinstance(value, bool) is (kinds == FLAG), name
        assert not isinstance(value, float) or math.isfinite(value), name


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_the_json_has_every_key_of_the_contract(run: Run, file: Path) -> None:
    printed = document(run, file, code=3 if file.name.startswith("full-file-system") else 0)  # that one shows an error
    assert tuple(printed) == TOP
    for part, types in PARTS.items():
        check_types(printed[part], types)
    assert [phase["name"] for phase in printed["datapath"]["phases"]] == list(PHASES)
    for phase in printed["datapath"]["phases"]:
        check_types(phase, {"seconds": MAYBE, "bottleneck": (str, type(None))})
        for hop in phase["hops"]:
            check_types(hop, {"name": TEXT, "ceiling_bytes_per_s": MAYBE, "load_bytes_per_s": MAYBE})
    storage = printed["storage"]
    assert set(storage) == {"required_write_bytes_per_s", "chosen", "options"}
    assert isinstance(storage["required_write_bytes_per_s"], float)
    for option in (storage["chosen"], *storage["options"]):
        check_types(option, OPTION)
        assert option["bound_by"] in {"capacity", "throughput", None}
    assert storage["chosen"] in storage["options"]
    for finding in printed["findings"]:
        assert set(finding) == {"severity", "path", "message"}
        assert finding["severity"] in {"error", "warning", "info"}
        assert finding["path"]
        assert finding["message"]


def test_the_numbers_belong_together(run: Run) -> None:
    printed = document(run, E1)
    waste, schedule, cost = printed["waste"], printed["schedule"], printed["cost"]
    assert printed["checkpoint"]["checkpoint_bytes"] == pytest.approx(124.45e9 * 14)
    assert waste["saving_fraction"] == pytest.approx(schedule["blocking_s"] / schedule["interval_s"])
    assert waste["interruption_fraction"] == pytest.approx(waste["exact_fraction"] - waste["saving_fraction"])
    parts = ("storage_usd_per_year", "stalled_gpu_usd_per_year", "rework_usd_per_year", "restart_usd_per_year")
    assert cost["total_usd_per_year"] == pytest.approx(sum(cost[name] for name in parts))
    assert waste["exact_fraction"] == pytest.approx(0.0054, abs=5e-5)
    assert printed["storage"]["chosen"]["usd_per_month"] == pytest.approx(4080.0)


def test_levels_are_there_where_there_are_two(run: Run) -> None:
    assert document(run, E1)["levels"] is None
    settings = ("--set", "local.enabled=true", "--set", "replication.factor=2", "--set", "storage.write_s=1936")
    levels = document(run, E1, *settings)["levels"]
    assert levels["ratio"] == levels["shared"]["ratio"] == 3  # THEORY 3.3
    assert levels["local"]["interval_s"] == pytest.approx(2830, abs=1)
    assert levels["shared"]["interval_s"] == pytest.approx(3 * levels["local"]["interval_s"] + 5, rel=1e-9)
    assert levels["waste_fraction"] == pytest.approx(0.00615, abs=5e-6)
    parts = levels["local"]["waste_fraction"] + levels["shared"]["waste_fraction"]
    assert parts == pytest.approx(levels["waste_fraction"], rel=1e-12)


def test_a_price_that_is_unknown_is_null_with_a_finding(run: Run) -> None:
    printed = document(run, E1, "--set", "prices.node_usd_per_h=null")
    assert printed["cost"]["stalled_gpu_usd_per_year"] is None
    assert printed["cost"]["total_usd_per_year"] is None
    assert any(one["path"] == "prices.node_usd_per_h" for one in printed["findings"])


def test_a_region_without_prices_asks_for_them(run: Run) -> None:
    printed = document(run, E1, "--set", "prices.region=mars-1")
    assert {option["usd_per_month"] for option in printed["storage"]["options"]} == {None}
    assert printed["cost"]["storage_usd_per_year"] is None
    assert any(one["path"].startswith("prices.") for one in printed["findings"] if one["severity"] == "warning")


def test_more_than_all_is_null_and_no_share(run: Run) -> None:
    """M below R: no plan makes progress; the first-order sum is above 1 and not a share."""
    printed = document(run, E1, "--set", "failures.mtbi_s=60 s", code=3)
    assert printed["waste"] is None or printed["waste"]["first_order_fraction"] is None
    assert any(one["severity"] == "error" for one in printed["findings"])


# ---------------------------------------------------------------- --set


@pytest.mark.parametrize(
    ("setting", "read", "value"),
    [
        ("storage.write_s=20 min", lambda d: d["schedule"]["write_s"], 1200.0),
        ("storage.write_s=1200", lambda d: d["schedule"]["write_s"], 1200.0),
        ("failures.mtbi_s=100 h", lambda d: d["schedule"]["mtbi_s"], 360_000.0),
        ("workload.nodes=64", lambda d: d["schedule"]["mtbi_s"], 360_000.0),
        ("workload.total_params=62.225B", lambda d: d["checkpoint"]["checkpoint_bytes"], 62.225e9 * 14),
        ("workload.bytes_per_param=10", lambda d: d["checkpoint"]["checkpoint_bytes"], 1.2445e12),
        ("workload.measured_bytes=1 TiB", lambda d: d["checkpoint"]["checkpoint_bytes"], 2.0**40),
        ("storage.mode=sync", lambda d: d["schedule"]["mode"], "sync"),
        ("storage.tier=p2-500-14400", lambda d: d["storage"]["chosen"]["capacity_gib"], 14_400),
        ("storage.efa=on", lambda d: d["storage"]["chosen"]["efa"], True),
        ("storage.interval_model=young", lambda d: round(d["schedule"]["interval_s"]), 2683),
        ("storage.max_fill=85 %", lambda d: d["storage"]["chosen"]["capacity_gib"], 12_000),
    ],
)
def test_a_setting_takes_a_unit(run: Run, setting: str, read: Callable[[dict[str, Any]], object], value: object) -> None:
    assert read(document(run, E1, "--set", setting)) == value


def test_existing_storage_can_be_set(run: Run) -> None:
    custom = '{"write_bytes_per_s": 250e9, "read_bytes_per_s": 700e9, "usable_bytes": 2e15}'
    printed = document(run, E1, "--set", f"storage.custom={custom}")
    assert printed["storage"]["chosen"]["baseline_bytes_per_s"] == 250e9
    assert printed["storage"]["chosen"]["usd_per_month"] is None


def test_settings_are_taken_one_after_the_other(run: Run) -> None:
    printed = document(run, E1, "--set", "storage.write_s=1 h", "--set", "storage.write_s=20 min")
    assert printed["schedule"]["write_s"] == 1200.0


def test_another_scenario_of_the_file(run: Run) -> None:
    assert document(run, E1, "--scenario", "20 min")["storage"]["chosen"]["usd_per_month"] == pytest.approx(1512.0)
    assert document(run, E1, "--scenario", "sync 60 s")["schedule"]["mode"] == "sync"


# ---------------------------------------------------------------- the first kind of no: exit 2


def refused(run: Run, *arguments: object) -> str:
    """The one line that a refused command says."""
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert err.endswith("\n")
    assert err.count("\n") == 1
    assert "Traceback" not in err
    return err


@pytest.mark.parametrize(
    ("setting", "parts"),
    [
        ("storage.write_s=5 minn", ("storage.write_s", "5 min or 1.5 h")),
        ("storage.write_s=5 GB", ("storage.write_s", "5 min or 1.5 h")),
        ("storage.write_s=", ("storage.write_s", "5 min or 1.5 h")),
        ("storage.write_s=0", ("storage.write_s", "at most")),
        ("storage.write_s=-3 min", ("storage.write_s", "at most")),
        ("storage.write_s=nan", ("storage.write_s",)),
        ("storage.write_s=inf", ("storage.write_s",)),
        ("storage.write_s=1e999", ("storage.write_s",)),
        ("workload.nodes=2.5", ("workload.nodes",)),
        ("workload.nodes=0", ("workload.nodes", "at least 1")),
        ("workload.nodes=99999999999", ("workload.nodes", "1,000,000")),
        ("storage.max_fill=120 %", ("storage.max_fill", "100 %")),
        ("storage.mode=sometimes", ("storage.mode", "async, sync")),
        ("storage.tier=huge", ("storage.tier", "p2-500-12000")),
        ("storage.whole_steps=perhaps", ("storage.whole_steps", "true or false")),
        ("storage.custom=[1", ("storage.custom", "write_bytes_per_s")),
        ("storage.custom={\"write_bytes_per_s\": -1}", ("storage.custom", "write_bytes_per_s")),
        ("workload.layout=14", ("workload.layout",)),
        ("workload.layout=weights:many", ("workload.layout", "moments:8")),
        ("workload.node=p99.48xlarge", ("workload.node", "p5.48xlarge")),
        ("workload.model=no such model", ("workload.model",)),
        ("failures.record=nobody", ("failures.record",)),
        ("storage.write_seconds=3", ("storage.write_seconds", "storage.write_s")),
        ("wirkload.nodes=3", ("wirkload.nodes", "workload")),
        ("storage=3", ("storage",)),
        ("=3", ("no such field",)),
        ("storage.write_s", ("storage.write_s", "PATH=VALUE")),
        ("workload.nodes.more=3", ("workload.nodes",)),
    ],
)  # fmt: skip
def test_a_setting_that_cannot_be_is_one_line(run: Run, setting: str, parts: tuple[str, ...]) -> None:
    said = refused(run, "plan", E1, "--json", "--set", setting).replace("\u00a0", " ")
    for part in (E1.name, *parts):
        assert part in said


@pytest.mark.parametrize(
    ("content", "parts"),
    [
        (b"", ("not JSON",)),
        (b"{", ("not JSON",)),
        (b"PK\x03\x04\xff\xfe", ("UTF-8",)),
        (b"[" * 100_000, ("expected",)),
        (b"[]", ("scenarios",)),
        (b'{"scenarios": []}', ("scenarios", "at least one")),
        (b'{"scenarios": [{}]}', ("scenarios.0.name",)),
        (b'{"scenarios": [{"name": "a"}, {"name": "a"}]}', ("name of its own",)),
        (b'{"scenarios": [{"name": "a"}], "current": "b"}', ("current", "'a'")),
        (b'{"scenarios": [{"name": "a"}], "current": 3}', ("current",)),
        (b'{"schema": 2, "scenarios": [{"name": "a"}]}', ("schema", "1")),
        (b'{"scenarios": [{"name": "a"}], "extra": 1}', ("extra", "scenarios")),
        (b'{"scenarios": [{"name": "a", "storage": {"write_seconds": 3}}]}', ("storage.write_seconds", "storage.write_s")),
        (b'{"scenarios": [{"name": "a", "shelves": {}}]}', ("shelves", "storage")),
        (b'{"scenarios": [{"name": "a", "storage": {"write_s": -1}}]}', ("storage.write_s", "at most")),
        (b'{"scenarios": [{"name": "a", "storage": {"write_s": "5 min"}}]}', ("storage.write_s",)),
        (b'{"scenarios": [{"name": "a", "storage": {"write_s": NaN}}]}', ("NaN",)),
        (b'{"scenarios": [{"name": "a", "storage": {"write_s": Infinity}}]}', ("Infinity",)),
        (b'{"scenarios": [{"name": "a", "storage": {"write_s": 1e999}}]}', ("storage.write_s",)),
        (b'{"scenarios": [{"name": "a", "storage": {"write_s": true}}]}', ("storage.write_s",)),
        (b'{"scenarios": [{"name": "a", "storage": null}]}', ("storage",)),
        (b'{"scenarios": [{"name": "a", "workload": {"nodes": 2.5}}]}', ("workload.nodes",)),
        (b'{"scenarios": [{"name": "a", "note": 7}]}', ("note",)),
        (b'{"scenarios": [{"name": "a", "sources": 7}]}', ("sources",)),
        (b'{"scenarios": 7}', ("scenarios",)),
    ],
)
def test_a_file_that_cannot_be_read_is_one_line(run: Run, tmp_path: Path, content: bytes, parts: tuple[str, ...]) -> None:
    file = tmp_path / "bad.ckptplan.json"
    file.write_bytes(content)
    said = refused(run, "plan", file, "--json").replace("\u00a0", " ")
    for part in ("bad.ckptplan.json", *parts):
        assert part in said


def test_a_file_that_is_not_there(run: Run, tmp_path: Path) -> None:
    assert "gone.json" in refused(run, "plan", tmp_path / "gone.json")
    assert tmp_path.name in refused(run, "plan", tmp_path)
    assert "gone.json" in refused(run, tmp_path / "gone.json", "--screenshot", tmp_path / "a.png")


def test_a_scenario_that_is_not_there(run: Run) -> None:
    said = refused(run, "plan", E1, "--scenario", "6 min")
    assert E1.name in said
    assert "'20 min'" in said


@pytest.mark.parametrize(
    "arguments", [("plan",), ("plan", E1, "--what"), ("export", E1), ("export", E1, "--paper", "a5", "--out", "x")]
)
def test_a_command_that_cannot_be(run: Run, arguments: tuple[object, ...]) -> None:
    assert "ckptplanner" in refused(run, *arguments)


def test_a_folder_that_cannot_be_made(run: Run, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    done = subprocess.run(
        [sys.executable, "-m", "ckptplanner", "export", str(E1), "--out", str(tmp_path / "file" / "below")],
        capture_output=True, text=True, env=without_screen(), timeout=60, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    assert "below" in done.stderr


# ---------------------------------------------------------------- the second kind: exit 3


@pytest.mark.parametrize(
    ("setting", "path"),
    [
        ("storage.tier=p2-500-12001", "storage.tier"),
        ("storage.tier=p2-600-12000", "storage.tier"),
        ("storage.tier=p2-125-1200", "storage.tier"),
        ("storage.generations_kept=1", "storage.generations_kept"),
        ("failures.mtbi_s=60 s", "failures.mtbi_s"),
    ],
)
def test_fields_that_do_not_go_together_leave_the_rest(run: Run, setting: str, path: str) -> None:
    printed = document(run, E1, "--set", setting, code=3)
    assert tuple(printed) == TOP
    assert printed["checkpoint"]["checkpoint_bytes"] == pytest.approx(1.7423e12)
    assert path in [one["path"] for one in printed["findings"] if one["severity"] == "error"]
    code, out, err = run("plan", E1, "--set", setting)
    assert (code, err) == (3, "")
    assert "error: " in out


# ---------------------------------------------------------------- files


def test_what_a_file_leaves_out_is_listed(run: Run, tmp_path: Path) -> None:
    file = plan_file(tmp_path, {"storage": {"write_s": 600}})
    printed = document(run, file)
    said = " ".join(one["message"] for one in printed["findings"] if one["severity"] == "info")
    assert "workload" in said
    assert "storage.blocking_s" in said
    assert "storage.write_s" not in said.replace("storage.write_s,", "")
    assert printed["schedule"]["write_s"] == 600.0


def test_a_whole_file_lists_nothing_as_left_out(run: Run) -> None:
    said = " ".join(one["message"] for one in document(run, E1)["findings"])
    assert "left out" not in said
    assert "default" not in said


def test_a_file_with_a_byte_order_mark_is_read(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "bom.ckptplan.json"
    file.write_bytes(b"\xef\xbb\xbf" + E1.read_bytes())
    assert document(run, file) == document(run, E1)


def test_the_version(run: Run) -> None:
    assert run("--version") == (0, f"ckptplanner {__version__}\n", "")


def test_the_plan_for_people(run: Run) -> None:
    code, out, err = run("plan", E1)
    assert (code, err) == (0, "")
    assert out.replace("\u00a0", " ").startswith("5 min\nSave every 45 min")
    assert "$4,080" in out


# ---------------------------------------------------------------- a machine without a screen


def without_screen() -> dict[str, str]:
    hidden = ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")
    return {name: value for name, value in os.environ.items() if name not in hidden}


def test_plan_loads_neither_pandas_nor_scipy_nor_qt() -> None:
    code = (
        "import sys; from ckptplanner.cli import main; code = main(['plan', sys.argv[1], '--json'])\n"
        "print(*sorted({name.split('.')[0] for name in sys.modules}), file=sys.stderr); sys.exit(code)"
    )
    done = subprocess.run([sys.executable, "-c", code, str(E1)], capture_output=True, text=True, check=True, timeout=60)
    loaded = set(done.stderr.split())
    assert {"ckptplanner", "numpy"} <= loaded
    assert loaded & {"pandas", "scipy", "matplotlib", "PySide6", "shiboken6", "pyqtgraph"} == set()
    assert json.loads(done.stdout)["checkpoint"]


NAME, NOTE = "東京・16ノード 比較案", "夜間は書き込みが混む。\n= 数式ではない"


def test_the_export_needs_no_screen_and_keeps_japanese(tmp_path: Path) -> None:
    document = json.loads(E1.read_text(encoding="utf-8"))
    document["scenarios"][0] |= {"name": NAME, "note": NOTE}
    document |= {"current": NAME, "base": NAME}
    file, folder = tmp_path / "東京.ckptplan.json", tmp_path / "出力"
    file.write_text(json.dumps(document, ensure_ascii=False), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "ckptplanner", "export", str(file), "--out", str(folder), "--set", "storage.write_s=10 min"],
        capture_output=True, text=True, env=without_screen(), timeout=120, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    assert {one.name for one in folder.iterdir()} >= {
        "report.pdf", "options.csv", "curves.csv", "inputs.csv", "findings.csv", "cost-and-waste.png", "tradeoff.png",
    }  # fmt: skip
    with (folder / "inputs.csv").open(encoding="utf-8-sig", newline="") as stream:
        inputs = {row["path"]: row for row in csv.DictReader(stream)}
    assert float(inputs["storage.write_s"]["value"]) == 600.0
    assert "LLM 学習チェックポイント" in inputs["workload.total_params"]["source_text"]
    for name in ("options.csv", "curves.csv", "inputs.csv", "findings.csv"):
        assert (folder / name).read_bytes().startswith(b"\xef\xbb\xbf"), "Excel would spoil the Japanese"
    for name in ("cost-and-waste.png", "tradeoff.png"):
        assert (folder / name).read_bytes().startswith(b"\x89PNG")
    report = text_of(folder / "report.pdf").replace(" ", "")
    assert NAME.replace(" ", "") in report
    assert "夜間は書き込みが混む。" in report
    assert "2.9GB/s" in report, "1.742 TB in 600 s"


def test_a_japanese_scenario_survives_saving(run: Run, tmp_path: Path) -> None:
    from ckptplanner.engine.workbook_file import read, write

    workbook = read(E1)
    first = workbook.scenarios[0].model_copy(update={"name": NAME, "note": NOTE})
    workbook = workbook.model_copy(update={"scenarios": (first, *workbook.scenarios[1:]), "current": NAME, "base": NAME})
    file = tmp_path / "東京.ckptplan.json"
    write(workbook, file)
    assert read(file) == workbook
    assert NAME in file.read_text(encoding="utf-8"), "as people write it, not as escapes"
    code, out, _ = run("plan", file, "--scenario", NAME)
    assert (code, out.split("\n")[0]) == (0, NAME)


def test_the_window_without_a_screen_says_what_to_do() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "ckptplanner", str(E1)],
        capture_output=True, text=True, env=without_screen(), timeout=60, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    assert "ckptplanner export FILE" in done.stderr


def test_a_reader_that_has_seen_enough_is_no_error(tmp_path: Path) -> None:
    """`plan --json | head -1`: no traceback when the pipe is closed."""
    done = subprocess.run(
        f"{sys.executable} -m ckptplanner plan {E1} --json | head -1",
        shell=True, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.stdout == "{\n"
    assert done.stderr == ""


WRONG = [
    ("failures.weibull_shape", "0.1", "at least 0.2"), ("failures.node_share", "some", "a share"),
    ("local.enabled", "maybe", "true"),
    ("local.ratio", "0", "at least 1"), ("failures.law", "gauss", "lognormal"), ("failures.gaps_s", "3 h; soon", "semicolons"),
    ("failures.gaps_s", "[3, -1]", "more than 0"),
]  # fmt: skip


@pytest.mark.parametrize(("path", "written", "accepted"), WRONG)
def test_what_a_law_or_a_level_does_not_take_is_refused(run: Run, path: str, written: str, accepted: str) -> None:
    code, out, err = run("plan", E1, "--set", f"{path}={written}")
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert path in err
    assert accepted in err


def test_gaps_are_written_with_units(run: Run) -> None:
    printed = document(run, E1, "--set", "failures.gaps_s=3 h; 50 min; 200 h", "--set", "failures.law=empirical")
    assert printed["waste"]["exact_model"] == "renewal"
    lonely = run("plan", E1, "--json", "--set", "failures.law=empirical")
    assert lonely[0] == 3
    assert "failures.gaps_s" in lonely[1]


# ---------------------------------------------------------------- all scenarios beside the base


def test_compare_prints_base_scenarios_and_differences(run: Run) -> None:
    printed = document(run, E1, "--compare")
    assert set(printed) == {"base", "scenarios", "differences"}
    assert printed["base"] == "5 min"
    by_name = {one.pop("name"): one for one in printed["scenarios"]}
    assert list(by_name) == ["5 min", "20 min", "sync 60 s", "6 B"]
    for name, plan in by_name.items():
        assert plan == document(run, E1, "--scenario", name)
    figures = {row["path"]: row for row in printed["differences"]["figures"]}
    assert figures["cost.storage_usd_per_year"]["differences"]["20 min"] == pytest.approx(12 * (1512 - 4080))
    assert {row["path"] for row in printed["differences"]["inputs"]} == {"workload.layout", "storage.mode", "storage.write_s"}


def test_compare_in_words(run: Run) -> None:
    code, out, err = run("plan", E1, "--compare")
    assert (code, err) == (0, "")
    for said in ("5 min (base)", "Write time", "$1,512 (−63\u00a0%)", "1,000\u00a0MB/s/TiB, EFA"):
        assert said in out


def test_settings_change_all_of_them_or_the_one_that_is_named(run: Run) -> None:
    every = document(run, E1, "--compare", "--set", "workload.nodes=64")
    assert {one["schedule"]["mtbi_s"] for one in every["scenarios"]} == {360_000.0}
    assert "workload.nodes" not in {row["path"] for row in every["differences"]["inputs"]}
    only = document(run, E1, "--compare", "--scenario", "20 min", "--set", "workload.nodes=64")
    nodes = next(row for row in only["differences"]["inputs"] if row["path"] == "workload.nodes")
    assert nodes["values"] == {"5 min": 32, "20 min": 64, "sync 60 s": 32, "6 B": 32}


def test_compare_refuses_like_plan(run: Run) -> None:
    for arguments in (["--scenario", "x"], ["--set", "storage.write_s=5 minn"], ["--set", "nonsense=1"]):
        code, out, err = run("plan", E1, "--compare", *arguments)
        assert (code, out) == (2, "")
        assert err.count("\n") == 1


def test_an_error_of_any_plan_is_exit_3_and_all_is_printed(run: Run) -> None:
    full = EXAMPLES / "full-file-system.ckptplan.json"
    printed = document(run, full, "--compare", code=3)
    assert [one["name"] for one in printed["scenarios"]] == ["others use 97 %", "2,400 GiB more"]
    code, out, err = run("plan", full, "--compare")
    assert (code, err) == (3, "")
    assert "error: others use 97 %: shared.used_bytes: " in out


def test_one_scenario_is_compared_with_itself(run: Run, tmp_path: Path) -> None:
    printed = document(run, plan_file(tmp_path, {}), "--compare")
    assert printed["differences"]["inputs"] == []
    assert {row["path"]: row for row in printed["differences"]["figures"]}["schedule.period_s"]["differences"] == {"a": 0.0}


def test_the_export_sets_scenarios_side_by_side(tmp_path: Path) -> None:
    document = json.loads(E1.read_text(encoding="utf-8")) | {"campaign": ["5 min", "20 min"]}
    file, folder = tmp_path / "a.ckptplan.json", tmp_path / "out"
    file.write_text(json.dumps(document), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "ckptplanner", "export", str(file), "--out", str(folder)],
        capture_output=True, text=True, env=without_screen(), timeout=120, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    names = {one.name for one in folder.iterdir()}
    assert {"comparison.csv", "campaign.csv", "requirement.csv", "requirement.txt", "requirement.pdf"} <= names
    report = " ".join(text_of(folder / "report.pdf").split())
    for said in ("Scenarios side by side", "20 min", "−$2,568, −63 %, better", "As stages of one campaign", "All stages"):
        assert said in report
    sheet = " ".join(text_of(folder / "requirement.pdf").split())
    for said in ("What storage must do", "5.81 GB/s", "--name=save-$SLURM_NODEID", "elbencho --hostsfile nodes.txt"):
        assert said in sheet
    assert "1 / 1" in sheet, "one page"
