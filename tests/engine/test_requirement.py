"""The requirement sheet: rates, room, files and times of SPEC 5 and 13, and lines that a shell and fio can read."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from ckptplanner.engine.bench_lines import broken
from ckptplanner.engine.edits import with_allowances
from ckptplanner.engine.evaluate import plan_of
from ckptplanner.engine.requirement import (
    COLUMNS,
    Requirement,
    requirement,
    requirement_rows,
    requirement_text,
)
from ckptplanner.engine.scenario import CustomStorage, NamedScenario, Scenario
from ckptplanner.engine.workbook_file import read
from ckptplanner.units import GB, GIB, MIB, TB
from tests.engine.build import scenario

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "resources/examples").glob("*.json"))


def sheet_of(made: Scenario | None = None) -> Requirement:
    named = NamedScenario(name="5 min", scenario=made or Scenario())
    return requirement(named, plan_of(named))


def options_of(command: str) -> dict[str, str]:
    """Long and short options of a command, those inside `bash -c` too, with what follows them."""
    words = shlex.split(command)
    if "bash" in words:
        words = shlex.split(words[-1])
    found: dict[str, str] = {}
    for at, word in enumerate(words):
        if word.startswith("--") and "=" in word:
            name, _, value = word.partition("=")
            found[name] = value
        elif word.startswith("-"):
            after = words[at + 1] if at + 1 < len(words) else ""
            found[word] = "" if after.startswith("-") else after
    return found


# ---------------------------------------------------------------- what it must do


def test_the_rates_of_the_five_minute_plan() -> None:
    sheet = sheet_of()
    assert sheet.need("write_bytes_per_s").shown.replace("\u00a0", " ") == "5.81 GB/s", "SPEC 5: 5.8 GB/s"
    assert sheet.need("client_write_bytes_per_s").value == pytest.approx(sheet.need("write_bytes_per_s").value / 32)  # type: ignore[operator]
    assert sheet.need("read_bytes_per_s").value == pytest.approx(6 * GB), "the baseline of 12,000 GiB at 500"
    assert sheet.need("restore_s").value == pytest.approx(290.4, abs=0.05), "R of 890 s less its base of 600"
    assert sheet.need("usable_bytes").value == pytest.approx(4 * 1.7423 * TB)
    assert sheet.need("clients").value == 32


def test_rated_speeds_are_higher_than_what_saves_and_restarts_reach() -> None:
    plain, real = sheet_of(), sheet_of(scenario(storage={"write_efficiency": 0.5, "read_efficiency": 0.7}))
    assert real.need("write_bytes_per_s").value == pytest.approx(2 * plain.need("write_bytes_per_s").value)  # type: ignore[operator]
    read, seconds = real.need("read_bytes_per_s").value, real.need("restore_s").value
    assert read is not None
    assert seconds is not None
    assert read * 0.7 * seconds == pytest.approx(1.7423 * TB)


def test_room_at_the_fill_limit() -> None:
    """SPEC 13: the 1,512-dollar plan is 90.1 % full; at 0.85 more is needed than it has."""
    sheet = sheet_of(scenario(storage={"write_s": 1200.0, "max_fill": 0.85}))
    usable = sheet.need("usable_bytes").value
    assert usable == pytest.approx(0.901 * 7200 * GIB / 0.85, rel=1e-3)
    assert usable is not None
    assert usable > 7200 * GIB
    assert "at most 85\u00a0% full" in str(sheet.need("usable_bytes").note)


def test_copies_read_at_a_restart() -> None:
    once, eight = sheet_of(), sheet_of(scenario(restore={"copies": 8}))
    assert eight.need("restore_s").value == pytest.approx(8 * once.need("restore_s").value)  # type: ignore[operator]
    assert "8 times" in str(eight.need("read_bytes_per_s").note)


def test_what_others_write_at_the_same_time_is_said() -> None:
    assert all(need.id != "peak_write_bytes_per_s" for need in sheet_of().needs)
    busy = sheet_of(scenario(shared={"load_bytes_per_s": 1e9}))
    assert busy.need("peak_write_bytes_per_s").value == pytest.approx(busy.need("write_bytes_per_s").value + 1e9)  # type: ignore[operator]


def test_a_single_writer_makes_one_file() -> None:
    sheet = sheet_of(scenario(workload={"writer": "single"}, storage={"write_s": 3600.0}))
    assert (sheet.need("files_per_save").value, sheet.need("clients").value) == (1.0, 32.0)
    assert sheet.need("client_write_bytes_per_s").value == sheet.need("write_bytes_per_s").value


def test_without_a_file_system_the_read_is_not_known() -> None:
    sheet = sheet_of(scenario(storage={"quota_gib": 100.0}))
    assert sheet.need("read_bytes_per_s").value is None
    assert sheet.need("write_bytes_per_s").value == pytest.approx(5.8077 * GB, rel=1e-4)
    assert "--rw=read" not in " ".join(line.command for line in sheet.lines)


def test_no_price_stands_in_it() -> None:
    named = NamedScenario(name="x", scenario=scenario(storage={"custom": CustomStorage(usd_per_month=123_456.0)}))
    text = requirement_text(requirement(named, plan_of(named)))
    assert "$" not in text.replace("$SLURM_NODEID", "").replace("$((", "")
    assert "123" not in text.replace("123.0", "")


# ---------------------------------------------------------------- how to accept it


def test_the_lines_write_one_checkpoint() -> None:
    """256 files, one of each rank, that together hold the 1.74 TB and at most a block more each."""
    sheet = sheet_of()
    write, read, ior, elbencho = sheet.lines
    assert [line.tool for line in sheet.lines] == ["fio", "fio", "IOR", "elbencho"]
    fio, other = options_of(write.command), options_of(read.command)
    assert (fio["--rw"], other["--rw"]) == ("write", "read")
    assert fio["--size"] == other["--size"] == options_of(ior.command)["-b"] == options_of(elbencho.command)["-s"]
    each_mib = int(fio["--size"].removesuffix("m"))
    assert each_mib % 16 == 0, "IOR takes whole transfers only"
    assert 0 <= 256 * each_mib * MIB - 14 * 124.45e9 < 256 * 16 * MIB
    assert fio["--numjobs"] == options_of(ior.command)["-Q"] == options_of(elbencho.command)["-t"] == "8"
    assert all("-N 32 " in line.command for line in (write, read, ior))
    assert fio["--end_fsync"] == fio["--direct"] == "1"
    assert {"-e", "-F", "-C", "-w", "-r"} <= set(options_of(ior.command))
    assert {"--direct", "--rotatehosts", "-w", "-r"} <= set(options_of(elbencho.command))


def test_the_lines_pass_at_the_plans_rates() -> None:
    write, read, ior, elbencho = sheet_of().lines
    assert re.findall(r"[\d,]{5,}", str(write.passes)) == ["5,807,666,667"]
    assert re.findall(r"[\d,]{5,}", str(read.passes)) == ["6,000,000,000"]
    for line in (ior, elbencho):
        assert re.findall(r"([\d,]+)\u00a0MiB/s", str(line.passes)) == ["5,539", "5,723"]
    assert 5538 < 5_807_666_667 / MIB < 5539


def test_on_one_node_nothing_is_read_elsewhere() -> None:
    sheet = sheet_of(read(ROOT / "resources/examples/one-node-fine-tune.ckptplan.json").shown.scenario)
    write, again, ior, elbencho = sheet.lines
    assert write.command.startswith("fio ")
    assert again.command.startswith("fio ")
    assert "-r" not in options_of(ior.command)
    assert "--rotatehosts" not in options_of(elbencho.command)
    assert "one node" in str(write.what)


def test_tiny_shards_are_written_in_small_blocks() -> None:
    sheet = sheet_of(scenario(workload={"total_params": 125e6}))
    assert options_of(sheet.lines[0].command)["--bs"] == "1m"
    assert options_of(sheet.lines[0].command)["--size"] == "7m"


@pytest.mark.parametrize("width", [40, 96, 1000])
def test_a_broken_line_is_the_same_command(width: int) -> None:
    for line in sheet_of().lines:
        parts = broken(line.command, width)
        assert all(part.endswith(" \\") for part in parts[:-1])
        assert " ".join("\n".join(parts).replace(" \\\n", " ").split()) == line.command
        assert all(part.lstrip().startswith("-") for part in parts[1:]), "never inside an option"


# ---------------------------------------------------------------- as files


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.stem)
def test_every_example_has_a_sheet(file: Path) -> None:
    for named in read(file).scenarios:
        for one in (named, with_allowances(named)):
            sheet = requirement(one, plan_of(one))
            assert all(set(row) == set(COLUMNS) for row in requirement_rows(sheet))
            text = requirement_text(sheet)
            for need in sheet.needs:
                assert str(need.note) in text
                assert need.value is None or need.value > 0
            for line in sheet.lines:
                assert shlex.split(line.command)


def test_the_restart_is_the_one_that_reads_from_it() -> None:
    """Restarts from the nodes' drives, or of other classes, make the mean shorter than the read itself."""
    sheet = sheet_of(scenario(local={"enabled": True}, replication={"factor": 2}, storage={"write_s": 1936.0}))
    words = str(sheet.need("restore_s").note).replace("\u00a0", " ")
    assert words == "training runs again after 42 min; 10 min of it is not the file system's"


def test_the_plans_own_file_system_passes_its_own_sheet() -> None:
    """1.742 TB in 242 s are 7.2 GB/s, whatever a save costs besides and at whichever pace it is written."""
    late = sheet_of(scenario(storage={"tier": "p2-1000-7200", "latency_s": 30.0}))
    assert late.need("read_bytes_per_s").value == pytest.approx(7.2 * GB)
    full = sheet_of(scenario(storage={"tier": "p2-1000-7200", "pace": "full"}))
    assert full.need("write_bytes_per_s").value == pytest.approx(7.2 * GB)
    assert "within 4 min 2 s" in str(full.need("write_bytes_per_s").note).replace("\u00a0", " ")
