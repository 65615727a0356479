"""torchrun's error files and messages: causes alone, and nothing about people."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ckptplanner.data.readers import torchrun
from ckptplanner.data.readers.errors import ReaderError
from ckptplanner.data.readers.source import open_file
from tests.data.logs import SAMPLES, evidence, stamp_s, words, written

ERROR = SAMPLES / "logs/torchrun/attempt_0/1/error.json"
STDERR = SAMPLES / "logs/torchrun/torchrun.stderr.txt"


AGENT = "768 torch/distributed/elastic/agent/server/api.py:1028]"
WORKER = "768 torch/distributed/elastic/multiprocessing/api.py:1002]"
GROUP_FAILED = "[default] Worker group FAILED. 3/3 attempts left; will restart worker group"
FAILED = "failed (exitcode: 1) local_rank: 1 (pid: 816) of binary: /opt/venv/bin/python"


def error(message: object, timestamp: object = "1795961203") -> str:
    return json.dumps({"message": {"message": message, "extraInfo": {"py_callstack": "", "timestamp": timestamp}}})


def root_cause(host: str = "gpu-017", exitcode: str = "1 (pid: 816)", trace: str = "  RuntimeError: out of luck") -> str:
    return (
        "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: \n" + "=" * 60 + "\nFailures:\n[1]:\n"
        "  time      : 2026-11-29_14:06:40\n  host      : gpu-001\n  exitcode  : -15 (pid: 815)  (SIGTERM)\n"
        "  traceback : Signal 15 (SIGTERM) received by PID 815\n" + "-" * 60 + "\nRoot Cause (first observed failure):\n[0]:\n"
        f"  time      : 2026-11-29_14:06:46\n  host      : {host}\n  rank      : 1 (local_rank: 1)\n  exitcode  : {exitcode} \n"
        f"  error_file: /home/alice/error.json\n  traceback : Traceback (most recent call last):\n{trace}\n" + "=" * 60 + "\n"
    )


def test_the_error_file_of_a_rank() -> None:
    found = evidence(ERROR)
    (event,) = found.events
    assert (event.at_s, event.is_zoned) == (1795961203.0, True), "the timestamp is a string of seconds"
    assert event.kind == "node", "an uncorrectable ECC error is the hardware's"
    assert event.said == "RuntimeError: CUDA error: uncorrectable ECC error encountered"
    assert found.date == "2026-11-29"


def test_only_causes_count() -> None:
    found = evidence(STDERR)
    assert [event.at_s for event in found.events] == [stamp_s("2026-11-29 14:06:43.907"), stamp_s("2026-11-29 14:06:46")]
    assert [event.kind for event in found.events] == ["process", "node"], "one for each attempt"
    assert "SIGTERM because another failed are not counted" in words(found)
    assert all(event.node_names == () for event in found.events), "localhost is no name of a node"


@pytest.mark.parametrize("path", [ERROR, STDERR])
def test_neither_tracebacks_nor_paths_leave_the_file(path: Path) -> None:
    said = repr(evidence(path))
    assert not any(part in said for part in ("/home", "user", "Traceback", "crash.py", "/opt"))


@pytest.mark.parametrize(
    ("message", "said"),
    [
        (
            "FileNotFoundError: [Errno 2] No such file: '/home/alice/data.bin'\nmore",
            "FileNotFoundError: [Errno 2] No such file: '…'",
        ),
        ("OSError: ~/x and C:\\Users\\alice\\x and ../alice/y", "OSError: … and … and …"),
        ("DistNetworkError: 10.1.0.16:29500 by alice@example.org", "DistNetworkError: … by …"),
        ("\n\nRuntimeError: \x1b[31mred\ud800", "RuntimeError:  [31mred?"),
        ("x" * 500, "x" * 119 + "…"),
        ("", "no message"),
    ],
)
def test_messages_are_cleaned(tmp_path: Path, message: str, said: str) -> None:
    assert written(tmp_path, error(message), "error.json").events[0].said == said


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        ("RuntimeError: NCCL error: ncclRemoteError: A call failed", "node"),
        ("NVLink error on GPU 3", "node"),
        ("Xid 79: GPU has fallen off the bus", "node"),
        ("CUDA out of memory", "process"),
        ("ValueError: maxid is 5", "process"),
    ],
)
def test_words_that_name_hardware(tmp_path: Path, message: str, kind: str) -> None:
    assert written(tmp_path, error(message), "error.json").events[0].kind == kind


def test_a_victim_has_an_error_file_too(tmp_path: Path) -> None:
    found = written(tmp_path, error("SignalException: Process 815 got signal: 15"), "error.json")
    assert found.events == ()
    assert "SIGTERM" in words(found)


@pytest.mark.parametrize("timestamp", ["", "x", -1, 1.5, None, True, "9" * 30, 10**30, [], "１２３４５６７８９０１２３４"])
def test_a_stamp_that_is_none_is_refused(tmp_path: Path, timestamp: object) -> None:
    path = tmp_path / "error.json"
    path.write_text(error("RuntimeError: x", timestamp))
    with pytest.raises(ReaderError, match=r"^error\.json: message\.message and message\.extraInfo\.timestamp"):
        torchrun.read_error(open_file(path))


@pytest.mark.parametrize(
    "content", ["[1]", '{"message": "x"}', '{"message": {"message": 5}}', '{"message": {"message": "x", "extraInfo": 1}}']
)
def test_another_shape_is_refused(tmp_path: Path, content: str) -> None:
    path = tmp_path / "error.json"
    path.write_text(content)
    assert not torchrun.knows_error(open_file(path).head)
    with pytest.raises(ReaderError, match="are expected in it"):
        torchrun.read_error(open_file(path))


def test_the_root_cause_has_its_node(tmp_path: Path) -> None:
    (event,) = written(tmp_path, root_cause()).events
    assert (event.node_names, event.said, event.kind) == (("gpu-017",), "RuntimeError: out of luck", "process")
    assert event.place.where == "line 10"


@pytest.mark.parametrize("host", ["10.1.0.16", "129-153-214-211", "1.0.0.127.in-addr.arpa", "fe80::1", "localhost", "", "a b"])
def test_an_address_is_no_name_of_a_node(tmp_path: Path, host: str) -> None:
    assert written(tmp_path, root_cause(host)).events[0].node_names == ()


def test_a_signal_is_said_as_such(tmp_path: Path) -> None:
    trace = root_cause(exitcode="-9 (pid: 7)  (SIGKILL)").replace(
        "Traceback (most recent call last):\n  RuntimeError: out of luck", "Signal 9 (SIGKILL) received by PID 7"
    )
    (event,) = written(tmp_path, trace).events
    assert (event.said, event.kind) == ("Signal 9 (SIGKILL)", "process")
    ended = trace.replace("-9 (pid: 7)  (SIGKILL)", "-15 (pid: 7)  (SIGTERM)").replace(
        "Signal 9 (SIGKILL)", "Signal 15 (SIGTERM)"
    )
    assert written(tmp_path, ended).events[0].kind == "cancelled", "stopped from outside: no cause of its own"


@pytest.mark.parametrize(
    "line",
    [
        f"I1129 14:00:00.500000 {AGENT} {GROUP_FAILED}",
        f"[2026-11-29 14:00:00,500] torch.distributed.elastic.agent.server.api: [INFO] {GROUP_FAILED}",
        f"E1129 14:00:00.500000 {WORKER} {FAILED}",
    ],
)
def test_the_agents_own_lines(tmp_path: Path, line: str) -> None:
    first, _ = written(tmp_path, line + "\n" + root_cause()).events
    assert (first.at_s, first.kind) == (stamp_s("2026-11-29 14:00:00.5"), "process"), "the year is that of the root cause"
    assert "/opt" not in first.said


def test_one_failure_in_several_lines_is_one_event(tmp_path: Path) -> None:
    lines = f"E1129 14:06:46.549000 {WORKER} {FAILED}\nI1129 14:06:47.000000 {AGENT} {GROUP_FAILED}\n"
    (event,) = written(tmp_path, lines + root_cause()).events
    assert event.said == "RuntimeError: out of luck"


def test_a_year_that_is_not_in_the_file_is_a_warning(tmp_path: Path) -> None:
    found = written(tmp_path, f"E1129 14:06:46.549000 {WORKER} {FAILED}\n")
    assert "The year of its stamps is not in the file" in words(found)


def test_a_stamp_after_the_last_date_is_of_the_year_before(tmp_path: Path) -> None:
    line = f"E1230 23:00:00.000000 {WORKER} {FAILED}\n"
    first, _ = written(tmp_path, line + root_cause().replace("2026-11-29", "2027-01-01")).events
    assert first.at_s == stamp_s("2026-12-30 23:00:00")


def test_a_root_cause_that_is_cut(tmp_path: Path) -> None:
    text = root_cause()
    for end in range(0, len(text), 17):
        path = tmp_path / "a.log"
        path.write_text(text[:end])
        assert len(torchrun.read_stderr(open_file(path)).events) <= 1
