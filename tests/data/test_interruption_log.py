"""Logs of interruptions as people have them, and files that are none."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ckptplanner.data.readers import interruption_log
from ckptplanner.data.readers.errors import ReaderError
from ckptplanner.data.readers.interruption_log import SystemNeeded, merged_s, read_log
from tests.engine.build import STEADY

HOUR = 3600.0


def wrote(folder: Path, text: str | bytes, name: str = "log.csv") -> Path:
    path = folder / name
    path.write_bytes(text.encode("utf-8") if isinstance(text, str) else text)
    return path


@pytest.mark.parametrize(
    "text",
    [
        "time,kind,nodes,downtime_s,note\n2026-01-01T00:00,node,1,600,\n2026-01-01T01:00,gpu,1,0,x\n2026-01-01T03:00,node,1,0,\n",
        "2026-01-01 00:00:00\n2026-01-01 01:00:00\n2026-01-01 03:00:00\n",
        "2026-01-01T00:00Z\n2026-01-01T02:00+01:00\n2026-01-01T03:00Z\n",
        "1/1/2026 0:00\n1/1/2026 1:00\n1/1/2026 3:00\n",
        "1/1/2026 12:00 AM\n1/1/2026 1:00 am\n1/1/2026 3:00:00 AM\n",
        "hours\n0\n1\n3\n",
        "time_s;kind\n7200;a\n3600;b\n14400;c\n",
        "node\telapsed (min)\nn1\t10\nn2\t70\nn3\t190\n",
        "\ufeffTimestamp, note\n2026-01-01T03:00,\n2026-01-01T00:00,\n\n2026-01-01T01:00,\n",
        "# what broke\nStart\n2026-01-01T00:00\n# a remark\n2026-01-01T00:00:59\n2026-01-01T01:00\n2026-01-01T03:00\n",
    ],
)
def test_two_gaps_however_they_are_written(tmp_path: Path, text: str) -> None:
    assert read_log(wrote(tmp_path, text)).gaps_s == (HOUR, 2 * HOUR)


def test_what_the_log_says_of_itself(tmp_path: Path) -> None:
    text = "time,kind\n2026-01-02T00:00,gpu\n2026-01-01T00:00,gpu\n2026-01-01T00:00:30,nic\n2026-01-03T00:00,planned\n"
    log = read_log(wrote(tmp_path, text, "ours.csv"), without=["Planned"])
    assert (log.id, log.name, log.source, log.date, log.nodes) == ("ours", "ours", "ours.csv", "2026-01-02", None)
    assert log.gaps_s == (24 * HOUR,)
    assert log.span_s == 24 * HOUR
    assert log.note == (
        "3 lines, 2 interruptions after merging what is less than 60 s apart. The lines were not in order. "
        "1 lines were left out by their kind. Kinds: gpu 2, nic 1."
    )


def test_merging_less_or_more(tmp_path: Path) -> None:
    path = wrote(tmp_path, "seconds\n0\n5\n400\n4000\n")
    assert read_log(path, merge_s=0.0).gaps_s == (5.0, 395.0, 3600.0)
    assert read_log(path).gaps_s == (400.0, 3600.0)
    assert read_log(path, merge_s=600.0).gaps_s == (4000.0,)


LANL = (
    "System,machine type,nodes,Prob Started,Prob Fixed,Down Time\n"
    "20,cluster,512,1/2/2003 4:05,,6\n18,cluster,1024,1/1/2003 0:00,,\n20,cluster,512,1/1/2003 4:05,,\n"
    "20,,,1/2/2003 4:05,,\n"
)


def test_the_table_of_los_alamos(tmp_path: Path) -> None:
    path = wrote(tmp_path, LANL)
    log = read_log(path, system=20)
    assert (log.name, log.nodes, log.gaps_s) == ("LANL system 20", 512, (24 * HOUR,))
    with pytest.raises(SystemNeeded, match=r"^log\.csv: this table holds several systems; choose one: 18, 20\.$") as error:
        read_log(path)
    assert error.value.systems == (18, 20)
    with pytest.raises(SystemNeeded, match="there is no system 7; choose another: 18, 20"):
        read_log(path, system=7)
    with pytest.raises(ReaderError, match="only one distinct time"):
        read_log(path, system=18)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "the file is empty"),
        (b"\n\n  \n", "the file is empty"),
        (b"\x7fELF\x02\x01\x01\x00\x00", "a binary file"),
        ("time\n2026-01-01\n".encode("utf-16"), "not UTF-8"),
        ("time\n", "it holds no time; at least two"),
        ("time\n2026-01-01T00:00\n2026-01-01T00:00\n2026-01-01T00:00\n", "only one distinct time"),
        ("s\n" + "".join(f"{i}\n" for i in range(500)), "its 500 times lie less than 60 s apart each and count as one"),
        ("time\n2026-01-01T00:00\n2026-13-01T00:00\n", "line 3: '2026-13-01T00:00' is no time; a time such as 2026-"),
        ("time\n2026-01-01T00:00\n31/12/2026 4:00\n", "line 3: '31/12/2026 4:00' is no time"),
        ("time\n2026-01-01T00:00\n1/1/2026 14:00 PM\n", "line 3"),
        ("time\n2026-01-01T00:00\n20260102\n", "line 3: '20260102' is no time"),
        ("time\n2026-01-01T00:00\nyesterday\n", "line 3: 'yesterday' is no time"),
        ("time,kind\n2026-01-01T00:00,a\n,b\n", "line 3: the column 'time' is blank"),
        ("time\n2026-01-01T00:00Z\n2026-01-01T02:00\n", "line 3: some times have a zone and some have none"),
        ("3\n5\n9\n", "line 1: '3' is a number without a unit; put a heading above it: hours or seconds"),
        ("hours\n1\ntwo\n", "line 3: 'two' is no number"),
        ("hours\n1\nnan\n", "line 3: 'nan' is not a time that a log can hold"),
        ("hours\n1\n1e300\n", "line 3"),
        ("colour,shape\nred,round\n", "line 1: neither a time nor a heading for one: 'colour, shape'"),
        ("time,note\n2026-01-01T00:00,\"never closed\n", "it is no line of a CSV"),
        ("time\n" + "9" * 30_000 + "\n", "line 2: it has 30,000 characters"),
        ("System,Prob Started\nx,1/1/2003 0:00\n", "line 2: a row without a system and a start"),
        ("System,Prob Started\n" + "9" * 5000 + ",1/1/2003 0:00\n", "line 2: a row without a system and a start"),
    ],
)  # fmt: skip
def test_a_file_that_is_no_log(tmp_path: Path, content: str | bytes, says: str) -> None:
    path = wrote(tmp_path, content)
    with pytest.raises(ReaderError) as error:
        read_log(path)
    assert says in str(error.value)
    assert str(error.value).startswith("log.csv")
    assert str(error.value).endswith(".")
    assert "\n" not in str(error.value)


def test_what_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(ReaderError, match="cannot be read"):
        read_log(tmp_path / "none.csv")
    with pytest.raises(ReaderError, match="no regular file"):
        read_log(tmp_path)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(ReaderError, match="no regular file"):
        read_log(pipe)
    with pytest.raises(ReaderError, match="there is no such file"):
        read_log("a\0b")


def test_too_much(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = wrote(tmp_path, "seconds\n" + "\n".join(str(100 * number) for number in range(20)))
    monkeypatch.setattr(interruption_log, "EVENTS_CAP", 10)
    with pytest.raises(ReaderError, match="line 12: there are more than 10 events"):
        read_log(path)
    monkeypatch.setattr(interruption_log, "SIZE_CAP_BYTES", 20)
    with pytest.raises(ReaderError, match="where at most 20 are expected"):
        read_log(path)


@STEADY
@given(st.lists(st.floats(0, 1e9), max_size=60), st.floats(0, 1000))
def test_merged_times_are_apart(times: list[float], window: float) -> None:
    kept = merged_s(times, window)
    assert kept == sorted(set(kept))
    assert set(kept) <= set(times)
    assert bool(kept) == bool(times)
    if times:
        assert kept[0] == min(times)


_PIECES = (
    "time,",
    "System,Prob Started",
    "hours",
    "3,",
    "1/1/2003 0:00",
    "2026-01-01T00:00",
    "\n",
    "\n",
    '"',
    "-",
    "Z",
    "\0",
    "é",
)
ANY_LOG = st.text(max_size=200) | st.lists(st.sampled_from(_PIECES), max_size=30).map("".join)


@STEADY
@given(ANY_LOG)
def test_any_text_is_read_or_refused(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    path = wrote(tmp_path_factory.mktemp("any"), text.encode("utf-8", "replace"))
    for system in (None, 3):
        with suppress(ReaderError):  # anything else that is raised fails the test
            assert min(read_log(path, system=system).gaps_s) > 0
