"""Reads what measures or draws the path inside a node and between nodes: nvbandwidth, nccl-tests, nvidia-smi topo -m.

    nvbandwidth -j     nvbandwidth.testcases[].{name, status, bandwidth_matrix, sum}: GB/s, cells are strings or "N/A"
    nccl-tests -J      results[].{size, out_of_place.bus_bw}: GB/s; a collective, not a storage path
    topo -m            a matrix of GPUs and network cards with a legend; on a terminal its headings are underlined (ANSI)

A save copies from all GPUs at once: all_to_host_memcpy_ce. device_to_host_memcpy_ce copies from one after the other.
Source: nvbandwidth 66746a3, nccl-tests a0b82b2; read 2026-11-29.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ckptplanner.data.evidence import Fact, FileEvidence, Measured
from ckptplanner.data.readers.errors import printable
from ckptplanner.data.readers.json_values import as_object
from ckptplanner.data.readers.rates import day, items, moment_s, number
from ckptplanner.data.readers.source import Head, Opened, Reader
from ckptplanner.text import Text, text
from ckptplanner.units import BYTES_PER_S, COUNT, GB, brief

NVBANDWIDTH_TITLE = text("Copies between GPU and host memory (nvbandwidth)")
NCCL_TITLE = text("Exchange between GPUs (nccl-tests)")
TOPO_TITLE = text("Topology of a node (nvidia-smi topo -m)")
_CAP_BYTES = 20_000_000
_MOST_GPUS = 1024
_TOGETHER, _ONE_BY_ONE = "all_to_host_memcpy_ce", "device_to_host_memcpy_ce"

_NVBANDWIDTH_TEXT = re.compile(r"^nvbandwidth Version: ")


def _knows_nvbandwidth(head: Head) -> bool:
    if re.search(r'\{\s*"nvbandwidth"\s*:\s*\{', head.text) is not None:
        return True
    return any(_NVBANDWIDTH_TEXT.match(line) for line in head.lines[:20])


def _read_nvbandwidth(opened: Opened) -> FileEvidence:
    root = next(opened.objects("nvbandwidth", _CAP_BYTES), None)
    if root is None:
        raise opened.refuse("this is nvbandwidth's text for people; run nvbandwidth -j and give its output")
    found = as_object(root.get("nvbandwidth"))
    cases = {
        str(as_object(case).get("name"))[:80]: (index, as_object(case))
        for index, case in enumerate(items(found.get("testcases"), 1000))
    }
    together, one_by_one = _copy_rate(cases, _TOGETHER), _copy_rate(cases, _ONE_BY_ONE)
    if together is None and one_by_one is None:
        raise opened.refuse(f"it has no result of {_TOGETHER}; run nvbandwidth -j -t {_TOGETHER}")
    per_gpu, gpus, where = together or one_by_one or (0.0, 1, "")
    notes: list[Text] = []
    if together is None:
        notes.append(text("One GPU after the other: while all copy at once, as in a save, each is slower."))
    else:
        total = brief(per_gpu * gpus, BYTES_PER_S, 4)
        notes.append(text("{count} GPUs at once copy {rate} together.", count=f"{gpus:,}", rate=total))
        if one_by_one is not None:
            notes.append(text("One GPU after the other copies {rate}.", rate=brief(one_by_one[0], BYTES_PER_S)))
    copy = Measured("copy", (per_gpu,), opened.place(where), notes=tuple(notes), is_doubtful=together is None)
    return FileEvidence(
        "nvbandwidth",
        NVBANDWIDTH_TITLE,
        opened.name,
        opened.date,
        measured=(copy,),
        facts=_devices(opened, found),
        warnings=tuple(_failed(cases)),
    )


def _copy_rate(cases: Mapping[str, tuple[int, Mapping[str, Any]]], name: str) -> tuple[float, int, str] | None:
    """B/s of one GPU, the number of GPUs, and where it stands; None where the test was not run."""
    index, case = cases.get(name, (0, {}))
    if case.get("status") != "Passed" or "GB/s" not in str(case.get("bandwidth_description", "GB/s")):
        return None
    rows = [row for row in items(case.get("bandwidth_matrix"), _MOST_GPUS) if isinstance(row, list)]
    cells = [value for row in rows for cell in row[:_MOST_GPUS] if (value := number(cell))]
    total = number(case.get("sum"))
    where = f"nvbandwidth.testcases[{index}].sum ({name})"
    if not cells or len(cells) > _MOST_GPUS:
        return None
    return (total or sum(cells)) * GB / len(cells), len(cells), where


def _devices(opened: Opened, found: Mapping[str, Any]) -> tuple[Fact, ...]:
    """The GPUs of the node, where the list is of one node."""
    gpus = [str(gpu)[:200] for gpu in items(found.get("GPU Device list"), _MOST_GPUS)]
    hosts = {gpu.rpartition(": (")[2] for gpu in gpus}
    if len(hosts) != 1:
        return ()
    place = opened.place("nvbandwidth.GPU Device list")
    return (Fact("workload.gpus_per_node", text("GPUs of a node"), len(gpus), place, unit=COUNT),)


def _failed(cases: Mapping[str, tuple[int, Mapping[str, Any]]]) -> Iterator[Text]:
    for name in (_TOGETHER, _ONE_BY_ONE):
        status = cases.get(name, (0, {}))[1].get("status")
        if status is not None and status != "Passed":
            yield text("{test} was not run to its end: {status}.", test=name, status=printable(str(status)[:40]))


# ---------------------------------------------------------------- nccl-tests


def _knows_nccl(head: Head) -> bool:
    return head.is_json and head.has('"nccl_version"', '"args"', '"ranks"')


def _read_nccl(opened: Opened) -> FileEvidence:
    root = as_object(opened.json(_CAP_BYTES))
    rows: list[tuple[float, float, str]] = []
    is_wrong = False
    for index, raw in enumerate(items(root.get("results"))):
        row = as_object(raw)
        size = number(row.get("size"))
        for way in ("out_of_place", "in_place"):
            part = as_object(row.get(way))
            rate = number(part.get("bus_bw"))
            is_wrong = is_wrong or bool(number(part.get("nwrong")))
            if size and rate:
                rows.append((size, rate * GB, f"results[{index}].{way}.bus_bw"))
                break
    if not rows:
        raise opened.refuse("it has no bus_bw; a finished run of nccl-tests with -J has one for each size")
    largest = max(size for size, _, _ in rows)
    kept = [row for row in rows if row[0] == largest]
    hosts = {str(as_object(rank).get("hostname"))[:200] for rank in items(root.get("ranks")) if "hostname" in as_object(rank)}
    notes = [text("The bus bandwidth of {test}, for the largest size: a collective between GPUs, no storage path.",
                  test=_test_name(root.get("args")))]  # fmt: skip
    if len(hosts) < 2:
        notes.append(text("All ranks are on one node: this is its own links, not the network between nodes."))
    else:
        notes.append(text("Measured on {count} nodes.", count=f"{len(hosts):,}"))
    exchange = Measured(
        "exchange", tuple(rate for _, rate, _ in kept), opened.place(kept[0][2]), notes=tuple(notes), is_doubtful=len(hosts) < 2
    )
    date = day(moment_s(root.get("end_time")) or moment_s(root.get("start_time")))
    warnings = (text("nccl-tests found wrong results: this network or these GPUs have a fault."),) if is_wrong else ()
    return FileEvidence("nccl_tests", NCCL_TITLE, opened.name, date or opened.date, measured=(exchange,), warnings=warnings)


def _test_name(args: object) -> str:
    first = next(iter(items(args, 1)), "")
    found = re.fullmatch(r"[a-z_]{1,40}_perf", str(first)[:500].rsplit("/", 1)[-1])
    return found[0] if found else "nccl-tests"


# ---------------------------------------------------------------- nvidia-smi topo -m

_ANSI = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_GPU = re.compile(r"GPU\d{1,4}")
_LINK = re.compile(r"X|SYS|NODE|PHB|PXB|PIX|NV\d{1,3}|OK|NS|DIS|N/A")
_LEGEND = re.compile(r"^\s*(NIC\d{1,4}): (\S{1,60})\s*$")
_NEAR = ("PIX", "PXB")


def _words(line: str) -> list[str]:
    return _ANSI.sub("", line[:20_000]).split()


def _columns(line: str) -> list[str]:
    """The GPUs and cards of the heading; empty where this is no heading."""
    words = _words(line)
    if not words or words[0] != "GPU0":
        return []
    end = words.index("CPU") if "CPU" in words else len(words)
    columns = words[:end]
    return [] if len(columns) > 2 * _MOST_GPUS or any(_LINK.fullmatch(word) for word in columns) else columns


def _knows_topo(head: Head) -> bool:
    lines = head.lines[:60]
    columns = next((found for line in lines if (found := _columns(line))), None)
    if columns is None:
        return False
    rows = [words for line in lines if (words := _words(line)) and words[0] == "GPU0" and words[1:2] == ["X"]]
    return bool(rows)


def _read_topo(opened: Opened) -> FileEvidence:
    columns: list[str] = []
    rows: dict[str, tuple[int, list[str]]] = {}
    names: dict[str, str] = {}
    for line, words in opened.lines():
        if not columns:
            columns = _columns(words)
            continue
        cells = _words(words)
        legend = _LEGEND.match(words[:200])
        if legend is not None:
            names[legend[1]] = printable(legend[2])
        elif cells and cells[0] in columns and len(cells) > len(columns) and cells[0] not in rows:
            rows[cells[0]] = (line, cells[1 : 1 + len(columns)])
    gpus = [name for name in columns if _GPU.fullmatch(name)]
    missing = [name for name in gpus if name not in rows]
    if not gpus or missing:
        what = f"the row of {missing[0]} is missing or cut" if missing else "there is no matrix in it"
        raise opened.refuse(f"{what}; give the whole output of nvidia-smi topo -m")
    strange = next((cell for _, cells in rows.values() for cell in cells if not _LINK.fullmatch(cell)), None)
    if strange is not None:
        raise opened.refuse(f"{printable(strange[:20])!r} is no kind of link; SYS, NODE, PHB, PXB, PIX or NV# stands there")
    cards = [name for name in columns if not _GPU.fullmatch(name)]
    count = Fact(
        "workload.gpus_per_node", text("GPUs of a node"), len(gpus), opened.place(f"line {rows[gpus[0]][0]}"), unit=COUNT
    )
    near = [_near(opened, gpu, rows[gpu], columns, names) for gpu in gpus] if cards else []
    warnings = () if cards else (text("There are no network cards in this matrix."),)
    return FileEvidence("topo", TOPO_TITLE, opened.name, opened.date, facts=(count, *near), warnings=warnings)


def _near(opened: Opened, gpu: str, row: tuple[int, list[str]], columns: Sequence[str], names: Mapping[str, str]) -> Fact:
    """Which network cards share a PCIe switch with a GPU, and how many lie behind the other CPU."""
    line, cells = row
    links = [(name, cell) for name, cell in zip(columns, cells, strict=True) if not _GPU.fullmatch(name)]
    near = [name for name, cell in links if cell in _NEAR]
    far = sum(cell == "SYS" for _, cell in links)
    shown = ", ".join(f"{name} ({names[name]})" if name in names else printable(name) for name in near[:16])
    note = text("{far} of {all} network cards are behind the other CPU (SYS).", far=f"{far:,}", all=f"{len(links):,}")
    notes = (note,) if near else (text("No network card shares a PCIe switch with it (PIX or PXB)."), note)
    title = text("Network cards near {gpu}", gpu=gpu)
    return Fact(None, title, ", ".join(near[:16]), opened.place(f"line {line}"), shown=shown or "–", notes=notes)


READERS: tuple[Reader, ...] = (
    Reader("nvbandwidth", NVBANDWIDTH_TITLE, _knows_nvbandwidth, _read_nvbandwidth),
    Reader("nccl_tests", NCCL_TITLE, _knows_nccl, _read_nccl),
    Reader("topo", TOPO_TITLE, _knows_topo, _read_topo),
)
