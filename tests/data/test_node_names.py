"""No address of a node is in any result, and names of nodes are still told apart and found equal."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from ckptplanner.data.evidence import FileEvidence
from ckptplanner.data.readers.column_mapping import ColumnMapping
from ckptplanner.data.readers.evidence_files import gather
from ckptplanner.data.readers.node_names import node_name

SAMPLES = Path(__file__).parent / "samples"
HIDDEN = re.compile(r"node-[0-9a-f]{6}")
EKS = "ip-10-0-1-2.us-west-2.compute.internal"
SACCT = "JobIDRaw|JobID|JobName|State|Submit|Eligible|Start|End|ElapsedRaw|NNodes|NodeList|Restarts|FailedNode\n"


@pytest.mark.parametrize(
    "name",
    [
        EKS, "ip-10-0-1-2", "10.0.1.2", "10-0-1-2.default.pod.cluster.local", "host-192-168-1-5", "ec2-54-200-1-2.compute-1.x",
        "node_10_0_1_2", "gpu1-10-0-1-2", "ip-10-0-1-2-7", "10.0.1.2-a", "10.0.1.2-7", "ip-010-000-001-002", "fd00::1a2b",
        "fe80::1%eth0",
    ],
)  # fmt: skip
def test_a_name_that_holds_an_address_is_a_hash(name: str) -> None:
    assert HIDDEN.fullmatch(node_name(name))


@pytest.mark.parametrize(
    "name",
    [
        "gpu-001", "a3", "rack1n3", "rack-12-3", "i-0123456789abcdef0", "gpu-2026-11-29-14", "node-1-2-3", "p5-300-1-2-3",
        "v1.2.3", "sel-1.2.3.4.5", "node-1f3a9c", "", "train-0:8080",
    ],
)  # fmt: skip
def test_any_other_name_stays(name: str) -> None:
    assert node_name(name) == name


def test_one_node_has_one_name_in_every_file_and_two_have_two() -> None:
    assert node_name(EKS) == node_name("ip-10-0-1-2") == node_name("10.0.1.2")
    assert len({node_name(f"ip-10-0-{high}-{low}") for high in range(4) for low in range(100)}) == 400
    assert node_name(EKS) == node_name(EKS) == "node-" + node_name(EKS)[5:]


def names_in(found: FileEvidence) -> set[str]:
    return {name for one in (*found.runs, *found.events) for name in one.node_names}


def kubernetes(folder: Path) -> None:
    event = {
        "apiVersion": "v1", "kind": "Event", "reason": "NodeNotReady", "involvedObject": {"kind": "Node", "name": EKS},
        "firstTimestamp": "2026-11-03T09:00:00Z", "count": 1,
    }  # fmt: skip
    (folder / "a").write_text(json.dumps(event))


def hyperpod(folder: Path) -> None:
    path = SAMPLES / "logs/hyperpod-list-cluster-events.json"
    value = json.loads(path.read_text())
    for one in value["Events"]:
        one["InstanceId"] = "ip-10-0-1-2"
        one["Description"] = f"{one.get('Description', '')} on ip-10-0-1-2"
    (folder / "a").write_text(json.dumps(value))


def sacct(folder: Path) -> None:
    rows = [
        f"7|7|llm|{state}|2026-11-0{day}T00:00:00|2026-11-0{day}T00:00:00|2026-11-0{day}T00:10:00|2026-11-0{day}T20:10:00|72000|2"
        "|ip-10-0-1-[2-3]|1|ip-10-0-1-2\n"
        for day, state in ((1, "NODE_FAIL"), (2, "COMPLETED"))
    ]
    (folder / "a").write_text(SACCT + "".join(rows))


def slurmctld(folder: Path) -> None:
    (folder / "a").write_text(
        "[2026-11-29T13:59:01.123] slurmctld version 22.05.8 started on cluster c\n"
        "[2026-11-29T14:02:11.000] error: Nodes ip-10-0-1-2 not responding, setting DOWN\n"
    )


def nvrx(folder: Path) -> None:
    (folder / "a").write_text(json.dumps({
        "job_id": "7", "attempt_index": 0, "cycle_number": 0, "cycle_start_time": "2026-11-02T00:04:11Z",
        "cycle_end_time": "2026-11-02T10:04:11Z", "active_nodes": "ip-10-0-1-2,ip-10-0-1-3", "standby_nodes": "",
    }))  # fmt: skip


def torchrun(folder: Path) -> None:
    path = next(path for path in sorted(SAMPLES.rglob("*")) if path.is_file() and b"Root Cause (first obs" in path.read_bytes())
    (folder / "a").write_text(re.sub(r"(host +: )\S+", rf"\g<1>{EKS}", path.read_text()))


def xid(folder: Path) -> None:
    line = "Nov 29 14:00:01 ip-10-0-1-2 kernel: NVRM: Xid (PCI:0000:18:00): 79, pid=1, GPU has fallen off the bus.\n"
    (folder / "a").write_text(line * 2)


@pytest.mark.parametrize("written", [kubernetes, hyperpod, sacct, slurmctld, nvrx, torchrun, xid])
def test_no_reader_gives_an_address(tmp_path: Path, written: object) -> None:
    assert callable(written)
    written(tmp_path)
    (found,) = gather([tmp_path]).files
    assert names_in(found)
    assert all(HIDDEN.fullmatch(name) for name in names_in(found))
    assert node_name("10.0.1.2") in names_in(found)
    assert "10-0-1-2" not in repr((found.runs, found.events))


def test_a_table_that_a_person_explained_gives_none_either(tmp_path: Path) -> None:
    (tmp_path / "pager.csv").write_text("when,what,where\n2026-10-02 03:14,node 10.0.1.2 lost,ip-10-0-1-2\n")
    mapping = ColumnMapping(time="when", kind="what", node_names="where")
    (found,) = gather([tmp_path / "pager.csv"], mappings={"pager.csv": mapping}).files
    assert found.events[0].node_names == (node_name("10.0.1.2"),)
    assert found.events[0].said == f"node {node_name('10.0.1.2')} lost"


def test_names_without_an_address_are_left_as_they_are(tmp_path: Path) -> None:
    shutil.copytree(SAMPLES / "logs/slurm", tmp_path / "slurm")
    files = gather([tmp_path / "slurm"]).files
    assert any(names_in(file) for file in files)
    assert not any(HIDDEN.fullmatch(name) for file in files for name in names_in(file))
