"""Work in threads, in processes and on a Dask cluster gives the same; what cannot be used says so in one line."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from ckptplanner import executors
from ckptplanner.cli import main

FILE = Path(__file__).parents[1] / "resources/examples/nemotron-3.5-super.ckptplan.json"
COMMANDS = (("simulate", "--runs", "3000", "--seed", "5"), ("optimize", "--family", "fsx-p2"))
# a cluster of its own process, so that what it starts and warns of stays out of the tests'
CLUSTER = """
import sys
from distributed import LocalCluster

if __name__ == "__main__":
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None, scheduler_port=0, silence_logs=50) as cluster:
        print(cluster.scheduler_address.replace("tcp", "dask"), flush=True)
        sys.stdin.read()
"""


def answer(capsys: pytest.CaptureFixture[str], command: tuple[str, ...], *where: str) -> object:
    name, *options = command
    assert main([name, str(FILE), *options, "--json", *where]) == 0
    return json.loads(capsys.readouterr().out)


def test_a_dask_cluster_gives_what_processes_give(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    script = tmp_path / "cluster.py"
    script.write_text(CLUSTER, encoding="utf-8")
    with subprocess.Popen([sys.executable, str(script)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as cluster:
        assert cluster.stdout is not None
        address = cluster.stdout.readline().strip()
        code = f"import sys; from ckptplanner.cli import main; sys.exit(main(sys.argv[1:] + ['--executor', {address!r}]))"
        for command in COMMANDS:
            name, *options = command
            call = [sys.executable, "-c", code, name, str(FILE), *options, "--json"]
            done = subprocess.run(call, capture_output=True, text=True, timeout=120, check=True)
            assert json.loads(done.stdout) == answer(capsys, command, "--executor", "processes")
        assert cluster.stdin is not None
        cluster.stdin.close()


@pytest.mark.parametrize("command", COMMANDS, ids=["simulate", "optimize"])
def test_threads_give_what_one_process_gives(capsys: pytest.CaptureFixture[str], command: tuple[str, ...]) -> None:
    assert answer(capsys, command, "--executor", "threads") == answer(capsys, command)


def test_a_cluster_that_does_not_answer_is_named(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(executors, "CONNECT_S", 0.5)
    assert main(["simulate", str(FILE), "--executor", "dask://127.0.0.1:1"]) == 2
    assert capsys.readouterr().err == "dask://127.0.0.1:1: no Dask scheduler answers there (OSError)\n"


def test_without_dask_the_extra_is_named(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    assert main(["optimize", str(FILE), "--executor", "dask://cluster:8786"]) == 2
    assert capsys.readouterr().err == "dask://cluster:8786: Dask is not installed here; install ckptplanner[cluster]\n"


@pytest.mark.parametrize("where", ["spam", "dask://", "dask://host", "tcp://host:1"])
def test_other_places_are_refused(capsys: pytest.CaptureFixture[str], where: str) -> None:
    with pytest.raises(SystemExit) as refused:
        main(["simulate", str(FILE), "--executor", where])
    assert refused.value.code == 2
    assert "threads, processes or dask://HOST:PORT is expected" in capsys.readouterr().err
