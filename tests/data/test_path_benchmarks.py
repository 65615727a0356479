"""nvbandwidth, nccl-tests and nvidia-smi topo -m: the values of the samples, and every trap of their formats."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from ckptplanner.data.evidence import FileEvidence
from ckptplanner.data.readers.errors import ReaderError
from ckptplanner.data.readers.path_benchmarks import READERS
from tests.data.bench_samples import SAMPLES, check_numbers, read, survive, words, wrote

STORAGE = SAMPLES / "storage"
NVBANDWIDTH = STORAGE / "nvbandwidth-constructed.json"
NCCL = STORAGE / "nccl-tests-constructed.json"
TOPO = STORAGE / "nvidia-smi-topo-m-constructed.txt"


def given(folder: Path, content: object) -> FileEvidence:
    text = content if isinstance(content, str) else json.dumps(content)
    evidence = read(wrote(folder, text), READERS)
    check_numbers(evidence)
    return evidence


def refused(folder: Path, content: object) -> str:
    with pytest.raises(ReaderError) as error:
        given(folder, content)
    return str(error.value)


# ---------------------------------------------------------------- nvbandwidth


def cases(root: dict[str, Any]) -> list[dict[str, Any]]:
    return root["nvbandwidth"]["testcases"]  # type: ignore[no-any-return]


def test_nvbandwidth_sample_all_gpus_at_once() -> None:
    evidence = read(NVBANDWIDTH, READERS)
    (copy,) = evidence.measured
    assert copy.quantity == "copy"
    assert copy.values == (158.5e9 / 8,), "not 210.34 / 8, one after the other"
    assert not copy.is_doubtful
    assert "8 GPUs at once copy 158.5\u00a0GB/s together." in words(evidence)
    assert "One GPU after the other copies 26.3\u00a0GB/s." in words(evidence)
    assert [(fact.path, fact.value) for fact in evidence.facts] == [("workload.gpus_per_node", 8)]


def test_nvbandwidth_cells_that_are_not_available(tmp_path: Path) -> None:
    root = json.loads(NVBANDWIDTH.read_text())
    cases(root)[2] |= {"bandwidth_matrix": [["20.0", "N/A", "18.0"]], "sum": 38.0}
    assert given(tmp_path, root).measured[0].values == (19e9,)


@pytest.mark.parametrize(
    "case", [{"status": "Waived"}, {"status": "Error"}, {"bandwidth_matrix": [["N/A"]]}, {"name": "other"}]
)
def test_nvbandwidth_one_gpu_after_the_other_is_doubtful(tmp_path: Path, case: dict[str, Any]) -> None:
    root = json.loads(NVBANDWIDTH.read_text())
    cases(root)[2] |= case
    (copy,) = given(tmp_path, root).measured
    assert copy.values == (pytest.approx(210.34e9 / 8),)
    assert copy.is_doubtful
    assert "after the other" in str(copy.notes[0])


def test_nvbandwidth_that_was_waived_or_failed(tmp_path: Path) -> None:
    root = {"nvbandwidth": {"testcases": [{"name": "all_to_host_memcpy_ce", "status": "Waived"}]}}
    assert "run nvbandwidth -j -t all_to_host_memcpy_ce" in refused(tmp_path, root)
    assert "it has no result" in refused(tmp_path, {"nvbandwidth": {"error": "CUDA_ERROR_NO_DEVICE"}})
    assert "run nvbandwidth -j and give" in refused(tmp_path, "nvbandwidth Version: v0.8\nBuilt from Git version: v0.8\n")


def test_nvbandwidth_of_several_hosts_does_not_tell_the_gpus_of_one(tmp_path: Path) -> None:
    text = NVBANDWIDTH.read_text().replace("17:00.0): (gpu-001)", "17:00.0): (gpu-002)")
    assert given(tmp_path, text).facts == ()


# ---------------------------------------------------------------- nccl-tests


def nccl(*hosts: str) -> dict[str, Any]:
    root: dict[str, Any] = json.loads(NCCL.read_text())
    return root | {"ranks": [{"rank": index, "hostname": host} for index, host in enumerate(hosts)]}


def test_nccl_sample_is_of_one_node() -> None:
    evidence = read(NCCL, READERS)
    (exchange,) = evidence.measured
    assert (exchange.quantity, exchange.values) == ("exchange", (231.31e9,))
    assert exchange.is_doubtful
    assert "no storage path" in words(evidence)
    assert "one node" in words(evidence)
    assert evidence.date == "2026-11-20"


def test_nccl_largest_size_between_nodes(tmp_path: Path) -> None:
    root = nccl("gpu-001", "gpu-002", "gpu-001")
    small = {"size": 1024, "out_of_place": {"bus_bw": 900.0}}
    root["results"] = [small, *root["results"], small]
    (exchange,) = given(tmp_path, root).measured
    assert exchange.values == (231.31e9,)
    assert not exchange.is_doubtful
    assert str(exchange.place) == "file.txt, results[1].out_of_place.bus_bw"
    root["results"][1] |= {"out_of_place": {"bus_bw": "N/A"}, "in_place": {"bus_bw": 231.38, "nwrong": 3}}
    evidence = given(tmp_path, root)
    assert evidence.measured[0].values == (231.38e9,)
    assert "wrong results" in words(evidence)


def test_nccl_without_results(tmp_path: Path) -> None:
    assert "it has no bus_bw" in refused(tmp_path, nccl() | {"results": [{"size": 5, "out_of_place": None}, 7, None]})


# ---------------------------------------------------------------- topo -m


def test_topo_sample() -> None:
    evidence = read(TOPO, READERS)
    count, *gpus = evidence.facts
    assert (count.path, count.value) == ("workload.gpus_per_node", 4)
    assert [fact.shown for fact in gpus] == ["NIC0 (rdmap16s27)", "NIC1 (rdmap32s27)", "NIC2 (rdmap48s27)", "–"]
    assert "1 of 3" in str(gpus[0].notes[-1])
    assert "2 of 3" in str(gpus[2].notes[-1])
    assert "No network card shares" in str(gpus[3].notes[0])
    assert str(gpus[3].place) == f"{TOPO.name}, line 5"


def test_topo_from_a_terminal_and_with_spaces_for_tabs(tmp_path: Path) -> None:
    text = TOPO.read_text()
    heading, rest = text.split("\n", 1)
    underlined = "\t" + "\t".join(f"\x1b[4m{name}\x1b[0m" for name in heading.split("\t")[1:])
    plain = read(wrote(tmp_path, text), READERS)
    assert given(tmp_path, underlined + "\n" + rest) == plain
    assert given(tmp_path, re.sub(r"\t+", "    ", text)) == plain


def test_topo_with_other_names_of_cards_and_without_any(tmp_path: Path) -> None:
    renamed = re.sub(r"NIC(\d)", r"mlx5_\1", TOPO.read_text())
    assert given(tmp_path, renamed).facts[1].shown == "mlx5_0"
    alone = "\tGPU0\tGPU1\tCPU Affinity\nGPU0\t X \tPIX\t0-7\nGPU1\tPIX\t X \t0-7\n"
    evidence = given(tmp_path, alone)
    assert [fact.value for fact in evidence.facts] == [2]
    assert "no network cards" in words(evidence)


def test_topo_that_is_cut_or_changed(tmp_path: Path) -> None:
    lines = TOPO.read_text().splitlines()
    assert "the row of GPU2 is missing or cut" in refused(tmp_path, "\n".join(lines[:3]))
    assert "the row of GPU1 is missing or cut" in refused(
        tmp_path, "\n".join([*lines[:2], "GPU1\tNV18\t X \tNV18", *lines[3:]])
    )
    assert "'FAST' is no kind of link" in refused(tmp_path, "\n".join(lines).replace("NODE", "FAST"))


def test_mutated_files_end_in_a_value_or_a_refusal(tmp_path: Path) -> None:
    survive(READERS, (NVBANDWIDTH, NCCL, TOPO), tmp_path, rounds=450, seed=20261129)
