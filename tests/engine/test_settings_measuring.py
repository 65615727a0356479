"""The check-list: commands that a shell can read, with the plan's sizes, and outputs that the evidence readers take back."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

from ckptplanner.data.evidence import QUANTITIES, FileEvidence, Measured
from ckptplanner.data.readers import path_benchmarks, storage_benchmarks
from ckptplanner.engine.bench_lines import NODE
from ckptplanner.engine.scenario import PATHS, CustomStorage, Scenario
from ckptplanner.engine.settings import measuring
from ckptplanner.engine.settings.measuring import CALLBACK, NAME, Check, check_list, folder_of
from ckptplanner.engine.settings.target import Names, Settings
from ckptplanner.frozen import leaf_paths
from ckptplanner.units import GB, MIB
from tests.data.bench_samples import check_numbers, read, wrote
from tests.engine.build import STEADY, scenario
from tests.engine.settings_cases import HOSTILE, hostile_names, scenarios, settings_for, settings_or_none

READERS = (*storage_benchmarks.READERS, *path_benchmarks.READERS)
LOCAL = {"local.enabled": True, "replication.factor": 2}
FIELDS = {*PATHS, *(f"storage.custom.{name}" for name in leaf_paths(CustomStorage))}


def check(made: Settings, check_id: str) -> Check:
    return next(one for one in check_list(made) if one.id == check_id)


def tool_of(one: Check, tool: str) -> dict[str, str]:
    """The options of a tool in the commands of a check; those of an inner shell too, for node 3."""
    command = next(command for command in one.commands if re.search(rf"\b{tool} -", command))
    words = shlex.split(command)
    if "bash" in words:
        inner = words[-1].replace(NODE, "3").replace("$(((SLURM_NODEID + 1) % 32))", "4")
        words = shlex.split(inner)
    found: dict[str, str] = {}
    for at, word in enumerate(words):
        name, equals, value = word.partition("=")
        after = words[at + 1] if at + 1 < len(words) else ""
        if word.startswith("-"):
            found[name] = value if equals else "" if after.startswith("-") else after
    return found


def taken_back(folder: Path, content: str, name: str) -> FileEvidence:
    evidence = read(wrote(folder, content, name), READERS)
    check_numbers(evidence)
    return evidence


def rows(evidence: FileEvidence) -> dict[str, Measured]:
    """What was measured, by the field that it settles."""
    return {str(QUANTITIES[row.quantity].path): row for row in evidence.measured}


# ---------------------------------------------------------------- the list


def test_what_is_measured_are_fields() -> None:
    for made in (settings_for(), settings_for(scenario(LOCAL))):
        for one in check_list(made):
            assert one.measures
            assert set(one.measures) <= FIELDS, one.id
            assert one.commands
            assert one.remark


def test_every_output_goes_below_one_folder_and_is_written() -> None:
    for one in check_list(settings_for(scenario(LOCAL))):
        if one.output:
            assert one.output.startswith("evidence/")
            assert any(one.output in command for command in one.commands), one.id
    ids = [one.id for one in check_list(settings_for(scenario(LOCAL)))]
    assert len(ids) == len(set(ids))
    outputs = [one.output for one in check_list(settings_for(scenario(LOCAL))) if one.output]
    assert len(outputs) == len(set(outputs))


def test_the_local_drives_where_they_are_used() -> None:
    ids = {one.id for one in check_list(settings_for())}
    assert not {"drives-write", "drives-read"} & ids
    made = settings_for(scenario(LOCAL))
    options = tool_of(check(made, "drives-write"), "fio")
    share = 2 * 14 * 124.45e9 / 256 / MIB
    assert 0 <= int(options["--size"].removesuffix("m")) - share < 16, "two copies of each shard"
    assert options["--directory"] == "/local/checkpoints-measure"


def test_sizes_are_those_of_the_plan() -> None:
    made = settings_for()
    fio, ior = tool_of(check(made, "fio-write"), "fio"), tool_of(check(made, "ior"), "ior")
    elbencho = tool_of(check(made, "elbencho"), "elbencho")
    assert fio["--size"] == ior["-b"] == elbencho["-s"] == "6496m"
    assert fio["--numjobs"] == ior["-Q"] == elbencho["-t"] == "8"
    copies = tool_of(check(made, "nvbandwidth"), "nvbandwidth")
    assert copies["-b"] == "4096"
    small = settings_for(scenario({"workload.total_params": 1e9}))
    assert tool_of(check(small, "nvbandwidth"), "nvbandwidth")["-b"] == "53", "14 GB over 256 GPUs"


def test_slurm_shows_every_run() -> None:
    (command,) = check(settings_for(), "sacct").commands
    assert " -D " in command
    assert "JobIDRaw" in command
    assert "Restarts" in command


def test_the_folder_is_on_the_file_system_and_outside_the_saves() -> None:
    assert folder_of(settings_for()) == "/fsx/checkpoints-measure"
    assert folder_of(settings_for(names=Names(shared_folder="/fsx"))) == "/fsx/measure"
    assert folder_of(settings_for(names=Names(shared_folder="/mnt/fsx/a/"))) == "/mnt/fsx/a-measure"


@pytest.mark.parametrize("framework", ["Megatron-LM", "Megatron Bridge", "TorchTitan", "Hugging Face Trainer"])
def test_the_log_of_every_framework(framework: str) -> None:
    made = settings_for(scenario({"workload.framework": framework, "storage.mode": "sync", "storage.write_s": 60.0}))
    one = check(made, "log")
    assert ("SaveTimes" in "".join(one.commands)) == (framework == "Hugging Face Trainer")
    assert {"storage.blocking_s", "storage.write_s"} <= set(one.measures)


def test_the_callback_is_python() -> None:
    compile(CALLBACK, "callback", "exec")


# ---------------------------------------------------------------- the outputs come back


def fio_result(options: dict[str, str], node: int, rate: float) -> str:
    way = options["--rw"]
    nothing = {"io_bytes": 0, "bw_bytes": 0, "bw": 0, "runtime": 0}
    size = int(options["--size"].removesuffix("m")) * MIB * int(options["--numjobs"]) * int(options["--loops"])
    seconds = size / rate
    done = {"io_bytes": int(size), "bw_bytes": rate, "bw": rate / 1024, "runtime": seconds * 1e3}
    job = {
        "jobname": f"save-{node}", "groupid": 0, "error": 0, "elapsed": round(seconds),
        "job options": {name[2:]: value for name, value in options.items() if name != "--output"},
        way: done, "read" if way == "write" else "write": nothing,
    }  # fmt: skip
    return json.dumps({"fio version": "fio-3.33", "timestamp": 1795960706 + node % 2, "global options": {}, "jobs": [job]})


@pytest.mark.parametrize("way", ["write", "read"])
def test_fio_of_all_nodes_comes_back_as_one_rate(way: str, tmp_path: Path) -> None:
    one = check(settings_for(), f"fio-{way}")
    options = tool_of(one, "fio")
    assert options["--output"] == f"/fsx/checkpoints-measure/result-{way}-3.json"
    content = "\n".join(fio_result(options, node, 0.18 * GB) for node in range(32))
    evidence = taken_back(tmp_path, content, f"fio-{way}.json")
    ((path, row),) = rows(evidence).items()
    assert (path,) == one.measures
    assert row.values == (pytest.approx(32 * 0.18 * GB),)
    assert not row.is_doubtful
    assert "Measured from 32 nodes" in "".join(map(str, row.notes))
    assert row.question is not None
    assert row.question.suggested == {"write": "writes_at", "read": "reads_at"}[way], "/fsx is taken for shared"


def test_fio_on_the_drives_comes_back(tmp_path: Path) -> None:
    for way in ("write", "read"):
        one = check(settings_for(scenario(LOCAL)), f"drives-{way}")
        evidence = taken_back(tmp_path, fio_result(tool_of(one, "fio"), 0, 20 * GB), "fio.json")
        ((path, row),) = rows(evidence).items()
        assert (path,) == one.measures
        assert not row.is_doubtful


def test_ior_comes_back(tmp_path: Path) -> None:
    one = check(settings_for(), "ior")
    command = one.commands[-1]
    options = tool_of(one, "ior")
    assert command.endswith("-O summaryFormat=JSON -O summaryFile=evidence/ior.json")
    rate = 5.9 * GB / MIB
    given_: dict[str, Any] = {
        "Version": "4.1.0", "Began": "Sun Nov 29 13:58:19 2026", "Command line": command.partition("ior")[2],
        "tests": [{
            "TestID": 0, "StartTime": "Sun Nov 29 13:58:19 2026",
            "Parameters": {"nodes": 32, "tasksPerNode": 8, "fsync": int("-e" in options), "reorderTasks": int("-C" in options),
                           "filePerProc": int("-F" in options), "testFileName": options["-o"]},
            "Options": {"nodes": 32, "tasks": 256, "test filename": options["-o"]},
            "Results": [{"access": access, "bwMiB": rate} for _ in range(3) for access in ("write", "read")],
        }],
        "summary": [],
    }  # fmt: skip
    evidence = taken_back(tmp_path, json.dumps(given_), "ior.json")
    found = rows(evidence)
    assert tuple(found) == one.measures
    for row in found.values():
        assert row.values == (pytest.approx(5.9 * GB),) * 3
        assert not row.is_doubtful, [str(note) for note in row.notes]
        assert "Measured from 32 nodes" in "".join(map(str, row.notes))


def test_elbencho_comes_back(tmp_path: Path) -> None:
    one = check(settings_for(), "elbencho")
    options = tool_of(one, "elbencho")
    assert options["--csvfile"] == one.output
    columns = ("ISO date", "label", "path type", "paths", "hosts", "threads", "file size", "block size", "direct IO", "random",
               "operation", "MiB/s [first]", "MiB/s [last]")  # fmt: skip
    lines = [",".join(columns)]
    for _ in range(3):
        for operation in ("WRITE", "READ"):
            values = ("2026-05-22T16:09:38", "", "dir", "1", "32", options["-t"], str(6496 * 2**20), str(16 * 2**20),
                      str(int("--direct" in options)), "0", operation, "6000", "5600")  # fmt: skip
            lines.append(",".join(values))
    found = rows(taken_back(tmp_path, "\n".join(lines) + "\n", "elbencho.csv"))
    assert tuple(found) == one.measures
    for row in found.values():
        assert row.values == (pytest.approx(5600 * MIB),) * 3
        assert not row.is_doubtful
        assert "Measured from 32 nodes" in "".join(map(str, row.notes))


def test_nvbandwidth_comes_back(tmp_path: Path) -> None:
    one = check(settings_for(), "nvbandwidth")
    test = tool_of(one, "nvbandwidth")["-t"]
    case = {
        "name": test, "status": "Passed", "bandwidth_description": "memcpy CE CPU(row) <- GPU(column) bandwidth (GB/s)",
        "bandwidth_matrix": [["20.0"] * 8], "sum": 160.0,
    }  # fmt: skip
    evidence = taken_back(tmp_path, json.dumps({"nvbandwidth": {"testcases": [case]}}), "nvbandwidth.json")
    ((path, row),) = rows(evidence).items()
    assert (path,) == one.measures
    assert row.values == (20 * GB,)
    assert not row.is_doubtful, "all GPUs at once, as in a save"


def test_the_topology_comes_back(tmp_path: Path) -> None:
    one = check(settings_for(), "topo")
    matrix = "\tGPU0\tGPU1\tNIC0\tCPU Affinity\nGPU0\t X \tNV18\tPIX\t0-47\nGPU1\tNV18\t X \tSYS\t0-47\nNIC0\tPIX\tSYS\t X \n"
    evidence = taken_back(tmp_path, matrix, "topo.txt")
    assert evidence.facts[0].path in one.measures


# ---------------------------------------------------------------- as a text to paste


def pasted(text: str) -> str:
    return "\n".join(line for line in text.splitlines() if not line.startswith("#"))


def test_the_text_is_one_that_a_shell_reads() -> None:
    for made in (settings_for(), settings_for(scenario(LOCAL)), settings_for(name=HOSTILE, names=hostile_names())):
        text = measuring.write(made).files[0].content
        done = subprocess.run(["bash", "-n"], input=text, capture_output=True, text=True, check=False, timeout=60)
        assert (done.returncode, done.stderr) == (0, "")


def test_a_name_does_nothing_when_it_is_pasted(tmp_path: Path) -> None:
    """The commands are run with tools that write down what they are given; a name with $(touch x) touches nothing."""
    trap = tmp_path / "touched"
    evil = f"it's $(touch {trap}) `touch {trap}` \"; touch {trap} #\n touch {trap}"
    names = Names(
        **{field: f"/fsx/{evil}" for field in ("shared_folder", "local_folder", "log_folder")}, job=evil, file_system_id=evil
    )
    text = (
        measuring.write(settings_for(scenario(LOCAL, {"prices.region": evil[:60]}), name=evil[:100], names=names))
        .files[0]
        .content
    )
    tools = tmp_path / "bin"
    tools.mkdir()
    for tool in (
        "ior",
        "elbencho",
        "fio",
        "nvbandwidth",
        "nvidia-smi",
        "ckptplanner",
        "sacct",
        "aws",
        "mkdir",
        "rm",
        "cp",
        "cat",
    ):
        (tools / tool).write_text("#!/bin/sh\n:\n")
        (tools / tool).chmod(0o755)
    srun = tools / "srun"  # runs what follows its own options, as node 3
    srun.write_text('#!/bin/bash\nwhile [[ $1 == -* || $1 =~ ^[0-9]+$ ]]; do shift; done\nSLURM_NODEID=3 "$@"\n')
    srun.chmod(0o755)
    (tmp_path / "evidence").mkdir()
    environment = {"PATH": f"{tools}:/usr/bin:/bin"}
    done = subprocess.run(
        ["bash"], input=text, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False, timeout=60
    )
    assert not trap.exists()
    assert done.stderr == ""


def test_the_text_says_where_sizes_come_from() -> None:
    (file,) = measuring.write(settings_for()).files
    assert (file.name, file.language) == (NAME, "shell")
    assert file.content.startswith("# What to measure")
    assert "id " + settings_for().plan_id in file.content
    words = " ".join(file.content.replace("\n# ", " ").split())
    assert "from the plan: 256 files of 6,496 MiB from 32 nodes, one checkpoint of 1.74 TB" in words
    assert "its saves need 5.81 GB/s" in words
    assert "about 29 min" in words, "three times 290 s to write and 290 s to read"
    assert "ckptplanner import evidence" in words


def test_the_rows_of_the_shell_are_those_of_the_list() -> None:
    made = settings_for(scenario(LOCAL))
    text = pasted(measuring.write(made).files[0].content).replace(" \\\n", " ")
    squeezed = " ".join(text.split())
    for one in check_list(made):
        for command in one.commands:
            assert " ".join(command.split()) in squeezed, one.id


def test_a_name_with_a_hyphen_stays_in_one_piece() -> None:
    made = settings_for(names=Names(shared_folder="/fsx/a -b c"))
    text = measuring.write(made).files[0].content.replace(" \\\n", " ")
    assert "'/fsx/a -b c-measure/ior'" in text
    assert tool_of(check(made, "fio-write"), "fio")["--directory"] == "/fsx/a -b c-measure"


def test_no_room_for_one_more() -> None:
    full = settings_for(scenario({"storage.write_s": 1200.0}))
    assert [one.path for one in measuring.write(full).findings] == ["storage.generations_kept"]
    assert measuring.write(settings_for()).findings == ()


def test_signs_that_the_tools_read_as_lists() -> None:
    made = settings_for(names=Names(shared_folder="/fsx/a:b"))
    assert any("/fsx/a:b-measure" in one.message for one in measuring.write(made).findings)
    assert tool_of(check(made, "fio-write"), "fio")["--directory"] == "/fsx/a\\:b-measure"


@settings(STEADY, max_examples=60)
@given(scenarios())
def test_every_plan_has_a_list(made: Scenario) -> None:
    found = settings_or_none(made, name=HOSTILE, names=hostile_names())
    if found is None:
        return
    for one in check_list(found):
        for command in one.commands:
            if "\n" not in command:
                assert shlex.split(command)
    (file,) = measuring.write(found).files
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f\u2028\u202e]", file.content)
