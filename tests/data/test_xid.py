"""Xid errors of GPUs in kernel logs, and the gauge of the DCGM exporter."""

from __future__ import annotations

import json
import os
import tracemalloc
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from ckptplanner.data.evidence import FileEvidence
from ckptplanner.data.readers import xid
from ckptplanner.data.readers.errors import ReaderError
from ckptplanner.data.readers.source import open_file

XID = "NVRM: Xid (PCI:0000:10:1c)"
ROW = f"{XID}: 63, pid=1896, Row Remapper: New row marked for remapping, reset gpu to activate."  # THEORY 5
LATE = datetime(2026, 11, 29, 20, 0, tzinfo=UTC).timestamp()


def wrote(tmp_path: Path, lines: Iterable[str], at_s: float = LATE) -> Path:
    path = tmp_path / "kernel.log"
    path.write_text("\n".join(lines) + "\n")
    os.utime(path, (at_s, at_s))
    return path


def read(path: Path) -> FileEvidence:
    opened = open_file(path)
    (reader,) = [reader for reader in xid.READERS if reader.knows(opened.head)]
    return reader.read(opened)


def said(found: FileEvidence) -> str:
    return " ".join(map(str, found.warnings))


def utc(*parts: int) -> float:
    return datetime(*parts, tzinfo=UTC).timestamp()  # type: ignore[misc, arg-type]


# ---------------------------------------------------------------- kernel logs


@pytest.mark.parametrize(
    ("stamp", "at_s", "host", "is_zoned"),
    [
        ("[Sun Nov 29 13:59:52 2026] ", utc(2026, 11, 29, 13, 59, 52), (), False),
        ("2026-11-29T13:59:52+0900 gpu-7 kernel: ", utc(2026, 11, 29, 4, 59, 52), ("gpu-7",), True),
        ("2026-11-29T13:59:52.500000+09:00 gpu-7 kernel: [12345.6] ", utc(2026, 11, 29, 4, 59, 52) + 0.5, ("gpu-7",), True),
        ("2026-11-29T13:59:52,123456+00:00 ", utc(2026, 11, 29, 13, 59, 52) + 0.123456, (), True),  # dmesg --time-format iso
        ("2026-11-29 13:59:52 gpu-7 kernel: ", utc(2026, 11, 29, 13, 59, 52), ("gpu-7",), False),
        ("Sun 2026-11-29 13:59:52 UTC gpu-7 kernel: ", utc(2026, 11, 29, 13, 59, 52), ("gpu-7",), True),
        ("Sun 2026-11-29 13:59:52 JST gpu-7 kernel: ", utc(2026, 11, 29, 13, 59, 52), ("gpu-7",), False),
        ("1795957192.250000 gpu-7 kernel: ", 1795957192.25, ("gpu-7",), True),  # journalctl -o short-unix
        ("Nov 29 13:59:52 gpu-7 kernel: [12345.678901] ", utc(2026, 11, 29, 13, 59, 52), ("gpu-7",), False),
    ],
)
def test_the_stamps_that_a_line_may_have(
    tmp_path: Path, stamp: str, at_s: float, host: tuple[str, ...], is_zoned: bool
) -> None:
    (event,) = read(wrote(tmp_path, [f"{stamp}{ROW}"])).events
    assert event.at_s == pytest.approx(at_s, abs=1e-5)
    assert (event.node_names, event.is_zoned) == (host, is_zoned)
    assert (event.kind, event.said, event.place.where) == ("node", "Xid 63", "line 1")


def test_journalctl_as_json(tmp_path: Path) -> None:
    entry = {"__REALTIME_TIMESTAMP": "1795957192250000", "_HOSTNAME": "gpu-7", "MESSAGE": ROW}
    (event,) = read(wrote(tmp_path, [json.dumps(entry)])).events
    assert (event.at_s, event.node_names) == (1795957192.25, ("gpu-7",))


def test_seconds_since_boot_cannot_be_placed(tmp_path: Path) -> None:
    with pytest.raises(ReaderError, match=r"2 Xid lines have seconds since boot and no time of day; use dmesg -T"):
        read(wrote(tmp_path, [f"[12345.678901] {ROW}", f"[ 1299.000001] {XID}: 79, x"]))
    some = read(wrote(tmp_path, [f"[12345.678901] {ROW}", f"[Sun Nov 29 13:59:52 2026] {ROW}"]))
    assert len(some.events) == 1
    assert "1 lines have seconds since boot" in said(some)


@pytest.mark.parametrize("code", [13, 31, 43])
def test_codes_of_the_application(tmp_path: Path, code: int) -> None:
    (event,) = read(wrote(tmp_path, [f"[Sun Nov 29 13:59:52 2026] {XID}: {code}, pid=1, name=python3"])).events
    assert event.kind == "process"
    assert "python3" not in repr(event)


@pytest.mark.parametrize("code", [48, 63, 64, 74, 79, 94, 95, 119])
def test_codes_of_the_hardware(tmp_path: Path, code: int) -> None:
    (event,) = read(wrote(tmp_path, [f"[Sun Nov 29 13:59:52 2026] {XID}: {code}, x"])).events
    assert event.kind == "node"


def test_other_codes_are_counted_and_left_out(tmp_path: Path) -> None:
    found = read(wrote(tmp_path, [f"[Sun Nov 29 13:59:52 2026] {XID}: 45, Ch 0000000{n}" for n in range(3)]))
    assert found.events == ()
    assert "3 Xid errors of other codes are no known cause of a stop and were left out: 45 (3)." in said(found)


def test_repeats_of_one_gpu_within_five_seconds_are_one(tmp_path: Path) -> None:
    def line(second: int, code: int, gpu: str = "0000:10:1c") -> str:
        return f"2026-11-29T13:00:{second:02}+0000 gpu-7 kernel: NVRM: Xid (PCI:{gpu}): {code}, x"

    lines = [line(0, 31), line(4, 31), line(9, 79), line(9, 79, "0000:20:1c"), line(15, 79)]
    found = read(wrote(tmp_path, lines))
    assert [(event.said, event.kind) for event in found.events] == [
        ("Xid 79 (3 lines)", "node"),  # the hardware's code says more than the application's
        ("Xid 79", "node"),
        ("Xid 79", "node"),
    ]
    assert "2 lines repeat an Xid of the same GPU within 5 s" in said(found)
    other_host = [line(0, 79), line(1, 79).replace("gpu-7", "gpu-8")]
    assert len(read(wrote(tmp_path, other_host)).events) == 2


def test_lines_without_a_year_take_that_of_the_file(tmp_path: Path) -> None:
    lines = [f"{day} 13:00:00 h kernel: {XID}: 79, x" for day in ("Nov 29", "Dec 31", "Jan  1", "Feb  3")]
    found = read(wrote(tmp_path, lines, utc(2027, 2, 4)))
    assert [event.at_s for event in found.events] == [
        utc(2026, 11, 29, 13), utc(2026, 12, 31, 13), utc(2027, 1, 1, 13), utc(2027, 2, 3, 13),
    ]  # fmt: skip
    assert "no year; it was taken from the date of the file, 2027-02-04" in said(found)
    before = read(wrote(tmp_path, lines[:2], utc(2027, 2, 4)))
    assert [event.at_s for event in before.events] == [utc(2026, 11, 29, 13), utc(2026, 12, 31, 13)], "none lies ahead"
    leap = read(wrote(tmp_path, [f"Feb 29 13:00:00 h kernel: {XID}: 79, x", lines[3]], utc(2027, 2, 4)))
    assert len(leap.events) == 1
    assert "1 lines without a time that can be read" in said(leap)


def test_the_old_form_and_partitions_of_a_gpu(tmp_path: Path) -> None:
    stamp = "[Sun Nov 29 13:59:52 2026] "
    lines = [f"{stamp}NVRM: Xid (0000:10:1c): 79, x", f"{stamp}NVRM: Xid (PCI:0000:20:1c GPU-I:05): 94, x"]
    assert [event.said for event in read(wrote(tmp_path, lines)).events] == ["Xid 79", "Xid 94"]


def test_a_kernel_log_without_an_xid_is_known_and_refused(tmp_path: Path) -> None:
    lines = [f"[Sun Nov 29 13:59:{n:02} 2026] eth0: link up" for n in range(20)]
    with pytest.raises(ReaderError, match="no Xid of an NVIDIA GPU"):
        read(wrote(tmp_path, lines))
    found = read(wrote(tmp_path, lines * 200 + [f"[Sun Nov 29 13:59:52 2026] {ROW}"]))
    assert found.events[0].place.where == "line 4001", "far behind what is looked at first"


def test_other_texts_are_not_known(tmp_path: Path) -> None:
    for lines in (["[2026-11-29 13:59:52.123] error: Nodes node03 not responding"] * 9, ["a, b, c"] * 9, [""] * 9):
        assert not any(reader.knows(open_file(wrote(tmp_path, lines)).head) for reader in xid.READERS)
    for path in sorted((Path(__file__).parent / "samples").rglob("*")):
        if path.is_file() and "xid" not in path.name:
            assert not any(reader.knows(open_file(path).head) for reader in xid.READERS), path


def test_a_long_log_is_read_in_one_pass_with_little_memory(tmp_path: Path) -> None:
    path = tmp_path / "long.log"
    noise = "2026-11-29T13:00:00+0000 gpu-7 kernel: eth0: link is up and nothing else has happened here for a while\n" * 1000
    with path.open("w") as file:
        for minute in range(60):
            file.write(f"2026-11-{1 + minute % 28:02}T{minute // 28:02}:00:00+0000 gpu-7 kernel: {ROW}\n{noise}")
    told = list[float]()
    tracemalloc.start()
    found = xid.READERS[0].read(open_file(path, progress=told.append))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert path.stat().st_size > 6_000_000
    assert len(found.events) == 60
    assert peak < 5_000_000
    assert len(told) >= 5


# ---------------------------------------------------------------- DCGM


def sample(value: int, at: str = "", gpu: int = 0) -> str:
    labels = f'gpu="{gpu}",UUID="GPU-{gpu}",modelName="NVIDIA H100 80GB HBM3",Hostname="node-a"'
    return f"DCGM_FI_DEV_XID_ERRORS{{{labels}}} {value} {at}".rstrip()


def test_only_changes_of_the_gauge_count(tmp_path: Path) -> None:
    """It holds the last Xid: 79 for an hour is one error."""
    start = 1795957192
    values = [(0, 0), (60, 79), (120, 79), (180, 79), (240, 31), (300, 0), (360, 79)]
    lines = ["# TYPE DCGM_FI_DEV_XID_ERRORS gauge", *(sample(value, f"{start + at}000") for at, value in values)]
    found = read(wrote(tmp_path, lines))
    assert [(event.at_s - start, event.kind, event.said) for event in found.events] == [
        (60.0, "node", "Xid 79"), (240.0, "process", "Xid 31"), (360.0, "node", "Xid 79"),
    ]  # fmt: skip
    assert found.events[0].node_names == ("node-a",)
    assert "only its changes are counted" in said(found)


def test_an_xid_of_before_the_first_sample_has_no_time(tmp_path: Path) -> None:
    found = read(wrote(tmp_path, [sample(79, "1795957192000"), sample(79, "1795957252000"), sample(0, "1795957252000", 1)]))
    assert found.events == ()
    assert "1 GPUs show an Xid of before their first sample" in said(found)


def test_one_look_at_the_exporter_is_no_history(tmp_path: Path) -> None:
    with pytest.raises(ReaderError, match="have no times, and one look at a gauge is no history"):
        read(wrote(tmp_path, [sample(79), sample(0, gpu=1)]))


def test_the_answer_of_prometheus(tmp_path: Path) -> None:
    metric = {"__name__": "DCGM_FI_DEV_XID_ERRORS", "gpu": "0", "Hostname": "node-a"}
    values = [[1795957192, "0"], [1795957207.5, "79"], [1795957222, "79"], [1795957237, "NaN"], ["x"], None]
    answer = {"status": "success", "data": {"resultType": "matrix", "result": [{"metric": metric, "values": values}]}}
    found = read(wrote(tmp_path, [json.dumps(answer)]))
    (event,) = found.events
    assert (event.at_s, event.said, event.place.where) == (1795957207.5, "Xid 79", "data.result[0].values[1]")
    assert "1 samples without a time or a value" in said(found)
