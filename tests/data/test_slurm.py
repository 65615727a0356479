"""Slurm's accounting, node events and logs, and nvidia-resiliency-ext's cycles: what they say, and files that are broken."""

from __future__ import annotations

import json
import math
import random
from contextlib import suppress
from dataclasses import astuple
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from ckptplanner.data.evidence import FileEvidence, Run
from ckptplanner.data.readers import event_tables, nvrx, slurm, slurm_jobs
from ckptplanner.data.readers.errors import ReaderError
from ckptplanner.data.readers.slurm_events import event_of_line
from ckptplanner.data.readers.slurm_jobs import Found, elapsed_s, expand_nodes, moment
from ckptplanner.data.readers.source import open_file
from ckptplanner.engine.evidence import Choices, Estimate
from ckptplanner.engine.readings import read_evidence
from ckptplanner.engine.timelines import timeline

SAMPLES = Path(__file__).parent / "samples" / "logs"
READERS = (*slurm.READERS, *nvrx.READERS, *event_tables.READERS)
GPUS = ("gpu-001", "gpu-002", "gpu-003", "gpu-004")
HEADING = "JobIDRaw|JobName|State|Submit|Start|End|NNodes|NodeList"


def read(path: Path, name: str | None = None) -> FileEvidence:
    opened = open_file(path, name)
    (reader,) = [reader for reader in READERS if reader.knows(opened.head)]
    said = reader.read(opened)
    assert said.reader == reader.id
    return said


def wrote(folder: Path, words: str | bytes, name: str = "jobs.txt") -> Path:
    path = folder / name
    path.write_bytes(words.encode() if isinstance(words, str) else words)
    return path


def at(words: str) -> float:
    found = moment(words)
    assert found is not None
    return found[0]


def tries_of(said: FileEvidence, job: str) -> list[Run]:
    return [run for run in said.runs if run.job == job]


def parts_of(said: FileEvidence, job: str) -> dict[str, Estimate]:
    """The parts of a restart of this job, by name."""
    reading = read_evidence((said,), Choices(job=job), nodes=4)
    return {one.id: one for one in reading.estimates if one.id in ("detect", "reschedule", "start", "restart", "queue")}


def warned(said: FileEvidence) -> str:
    return " ".join(map(str, said.warnings))


# ---------------------------------------------------------------- accounting: the values of the samples' README


@pytest.mark.parametrize(
    ("name", "is_zoned"),
    [("sacct_parsable2.txt", False), ("sacct-22.05.json", True), ("slurm/sacct-25.05-constructed.json", True)],
)
def test_job_one_failed_by_a_node_and_ran_again(name: str, is_zoned: bool) -> None:
    said = read(SAMPLES / name)
    first, second = tries_of(said, "pretrain-120b")
    assert first.end_s is not None
    assert second.eligible_s is not None
    assert (first.kind, first.end_s - first.start_s) == ("node", 38.0)
    assert second.eligible_s - first.end_s == 121.0
    assert second.start_s - first.end_s == 137.0
    assert (first.nodes, first.node_names, first.is_zoned) == (4, GPUS, is_zoned)
    assert (first.job_id, second.job_id, said.measured) == ("1", "1", ())
    again = parts_of(said, "pretrain-120b")["reschedule"]
    assert (again.value, again.count) == (137.0, 1)
    words = " ".join(map(str, again.notes))
    assert "2\u00a0min\u00a01\u00a0s" in words
    assert "when the failure was noticed" in words
    assert (said.date, said.warnings) == ("2026-11-29", ())


def test_steps_are_no_runs_and_ends_are_told_apart() -> None:
    for name in ("sacct_parsable2.txt", "sacct-22.05.json"):
        said = read(SAMPLES / name)
        assert {run.job: (run.kind, run.said) for run in said.runs if run.job != "pretrain-120b"} == {
            "eval-oom": ("process", "FAILED"),
            "ckpt-test": ("completed", "COMPLETED"),
            "killed": ("limit", "TIMEOUT"),
            "user-cancel": ("cancelled", "CANCELLED"),
            "sft-20b": ("process", "FAILED"),
        }
        assert len(said.runs) == 7


def test_the_place_is_the_row() -> None:
    text, whole = read(SAMPLES / "sacct_parsable2.txt"), read(SAMPLES / "sacct-22.05.json")
    assert str(text.runs[0].place) == "sacct_parsable2.txt, line 2 (job 1)"
    assert str(whole.runs[0].place) == "sacct-22.05.json, jobs[0] (job 1)"
    assert str(whole.title) == "Slurm accounting (sacct --json, Slurm 22.05.8)"
    assert str(read(SAMPLES / "slurm/sacct-25.05-constructed.json").title).endswith("Slurm 25.05.0)")


def test_the_newer_json_has_lists_and_objects() -> None:
    said = read(SAMPLES / "slurm/sacct-25.05-constructed.json")
    assert said.runs[0].said == "NODE_FAIL (gpu-003)"
    (running,) = tries_of(said, "still-going")
    assert (running.kind, running.end_s, running.seen_until_s) == ("open", None, 1795961012.0)
    assert tries_of(said, "still-waiting") == []


# ---------------------------------------------------------------- what a real cluster wrote


@pytest.mark.parametrize("name", ["slurm/sacct-states.txt", "slurm/sacct-epoch.txt"])
def test_all_states_of_a_real_cluster(name: str) -> None:
    said = read(SAMPLES / name)
    kinds = {(run.job, run.said): run.kind for run in said.runs}
    assert kinds[("pretrain-120b", "NODE_FAIL")] == "node"
    assert kinds[("pretrain-120b", "RUNNING")] == "open"
    assert kinds[("low", "PREEMPTED")] == "preempted"
    assert kinds[("requeue-me", "REQUEUED")] == "unknown"
    assert kinds[("requeue-me", "TIMEOUT")] == "limit"
    assert kinds[("chain", "FAILED")] == "process"
    running = next(run for run in said.runs if run.kind == "open")
    assert (running.start_s, running.seen_until_s) == (at("2026-11-30T01:35:49"), at("2026-11-30T01:35:49") + 306)
    assert running.is_zoned == (name == "slurm/sacct-epoch.txt")
    assert said.warnings == ()


def test_rescheduling_is_counted_after_interruptions_only() -> None:
    """NODE_FAIL 01:32:08 -> 01:35:49; REQUEUED and PREEMPTED 01:35:54 -> 01:38:12; job 11 was submitted after 10 had ended."""
    again = parts_of(read(SAMPLES / "slurm/sacct-states.txt"), "")["reschedule"]
    assert (again.value, again.high, again.count) == (138.0, 221.0, 3)


def test_parts_of_a_heterogeneous_job_are_one_run() -> None:
    (run,) = tries_of(read(SAMPLES / "slurm/sacct-states.txt"), "het-job")
    assert (run.nodes, run.node_names) == (2, ("gpu-001", "gpu-004"))


def test_array_tasks_that_ran_at_once_are_two_jobs() -> None:
    said = read(SAMPLES / "slurm/sacct-states.txt")
    jobs = timeline([said]).jobs
    assert [len(jobs[job]) for job in ("arr", "arr (3_2)")] == [2, 1]  # 3_3 came after 3_1


def test_without_d_it_warns() -> None:
    said = read(SAMPLES / "slurm/sacct-without-D.txt")
    assert "without -D, sacct shows only the last try" in warned(said)
    assert "NODE_FAIL" not in {run.said for run in said.runs}


@pytest.mark.parametrize(
    ("name", "why"),
    [("slurm/sacct-default.txt", "names are cut short in it"), ("slurm/sacct-no-heading.txt", "its columns have no heading")],
)
def test_what_cannot_be_read_is_refused_with_the_command(name: str, why: str) -> None:
    with pytest.raises(
        ReaderError, match=rf"^sacct-\S+: {why}; write it with 'sacct -D -P -a -S 2026-01-01 -o JobIDRaw,.*'\.$"
    ):
        read(SAMPLES / name)


@pytest.mark.parametrize("path", [*sorted(SAMPLES.rglob("slurm/*")), SAMPLES / "sacct-22.05.json"], ids=lambda path: path.name)
def test_people_stay_in_the_file(path: Path) -> None:
    with suppress(ReaderError):
        said = str(astuple(read(path)))
        for word in ("alice", "1001", "'lab'", "trainer", "Bob", "10.0.0.7", "/home"):
            assert word not in said


# ---------------------------------------------------------------- traps


def rows(*lines: str, heading: str = HEADING) -> str:
    return "\n".join((heading, *lines)) + "\n"


def row(job: str, state: str, start: str, end: str, *, name: str = "train", submit: str = "", nodes: str = "2|n[1-2]") -> str:
    return f"{job}|{name}|{state}|{submit}|{start}|{end}|{nodes}"


T = [f"2026-11-29T1{hour}:00:00" for hour in range(10)]


def test_restarts_without_their_rows_are_refused(tmp_path: Path) -> None:
    heading = "JobIDRaw|State|Start|End|Restarts"
    hidden = wrote(tmp_path, rows(f"7|COMPLETED|{T[0]}|{T[1]}|2", heading=heading))
    with pytest.raises(ReaderError, match=r"line 2: job 7 was restarted 2 times, but only its last try is there"):
        read(hidden)
    fine = wrote(tmp_path, rows(f"7|COMPLETED|{T[0]}|{T[1]}|0", heading=heading))
    assert read(fine).warnings == ()
    cut = rows(f"7|NODE_FAIL|{T[0]}|{T[1]}|1", f"7|COMPLETED|{T[2]}|{T[3]}|2", heading=heading)  # -S left out the first
    assert "restarted more often than there are rows" in warned(read(wrote(tmp_path, cut)))


def test_restarts_in_json_without_their_rows_are_refused(tmp_path: Path) -> None:
    whole = json.loads((SAMPLES / "slurm/sacct-25.05-constructed.json").read_text())
    del whole["jobs"][0]
    with pytest.raises(ReaderError, match="only its last try is there"):
        read(wrote(tmp_path, json.dumps(whole)))


def test_a_queue_after_a_time_limit_is_no_rescheduling(tmp_path: Path) -> None:
    chain = rows(
        row("7", "TIMEOUT", T[0], T[1], submit=T[0]),
        row("8", "FAILED", T[2], T[3], submit=T[0]),  # was waiting when 7 ended
        row("9", "NODE_FAIL", T[4], T[5], submit=T[3]),  # was waiting when 8 failed
        row("10", "COMPLETED", T[7], T[8], submit=T[6]),  # came an hour later, by hand
        row("10", "COMPLETED", T[9], "Unknown", submit=T[6]),
    )
    said = read(wrote(tmp_path, chain))
    parts = parts_of(said, "train")
    assert {name: (one.value, one.count) for name, one in parts.items()} == {"queue": (3600.0, 1), "reschedule": (3600.0, 1)}
    assert {run.job for run in said.runs} == {"train"}
    assert "1 runs have ended, but their end is not known" in warned(said)


def test_rescheduling_is_of_the_job_that_is_looked_at(tmp_path: Path) -> None:
    """The big job waits half an hour each time; ten small ones that wait a minute do not make that a minute."""
    words = rows(
        row("1", "NODE_FAIL", "2026-11-01T00:00:00", "2026-11-05T00:00:00", name="big", nodes="256|g[1-256]"),
        row("1", "NODE_FAIL", "2026-11-05T00:30:00", "2026-11-09T00:00:00", name="big", nodes="256|g[1-256]"),
        row("1", "COMPLETED", "2026-11-09T00:30:00", "2026-11-12T00:00:00", name="big", nodes="256|g[1-256]"),
        *(
            row(str(job), state, f"2026-11-01T{start}", f"2026-11-01T{end}", name=f"small-{job}", nodes="1|c")
            for job in range(50, 60)
            for state, start, end in (("PREEMPTED", "00:00:00", "02:00:00"), ("COMPLETED", "02:01:00", "04:00:00"))
        ),
    )
    said = read(wrote(tmp_path, words))
    reading = read_evidence((said,), Choices(), nodes=256)
    assert reading.failures is not None
    again = next(one for one in reading.estimates if one.id == "reschedule")
    assert (reading.failures.job, again.value, again.count) == ("big", 1800.0, 2)
    assert parts_of(said, "small-50")["reschedule"].value == 60.0


def test_a_cancelled_hang_is_rescheduled_too(tmp_path: Path) -> None:
    """Once a person says that it was an interruption, the next job of the chain is its restart."""
    said = read(wrote(tmp_path, rows(
        row("7", "CANCELLED by 1", T[0], T[1], submit=T[0]), row("8", "NODE_FAIL", T[2], T[3], submit=T[0]),
        row("9", "COMPLETED", T[6], T[7], submit=T[3]),
    )))  # fmt: skip
    assert parts_of(said, "train")["reschedule"].value == 3 * 3600.0
    key = f"run train {at(T[0]):.0f}"
    both = read_evidence((said,), Choices(kinds=((key, "process"),)), nodes=2)
    again = next(one for one in both.estimates if one.id == "reschedule")
    assert (again.count, again.low, again.high) == (2, 3600.0, 3 * 3600.0)


def test_columns_in_any_order_with_a_delimiter_at_the_end(tmp_path: Path) -> None:
    heading = "$ sacct -p ...\nEnd|State|Elapsed|JobName|JobID|"
    words = rows(f"{T[1]}|NODE_FAIL|1-00:00:01|a|7|", f"{T[1]}|NODE_FAIL|00:00:01|b|7.0|", heading=heading)
    (run,) = read(wrote(tmp_path, words)).runs
    assert (run.start_s, run.end_s, run.nodes) == (at(T[1]) - 86401, at(T[1]), None)


def test_a_dot_in_a_name_makes_no_step(tmp_path: Path) -> None:
    words = rows(f"train.sh|7|FAILED|{T[0]}|{T[1]}", f"x|7.0|FAILED|{T[0]}|{T[1]}", heading="JobName|JobID|State|Start|End")
    assert [run.job for run in read(wrote(tmp_path, words)).runs] == ["train.sh"]


def test_an_end_from_elapsed_and_rows_that_never_ran(tmp_path: Path) -> None:
    words = rows(
        f"7|FAILED|{T[0]}|Unknown|00:30",
        f"8|CANCELLED by 5|None|{T[1]}|0",
        "9|PENDING|Unknown|Unknown|0",
        f"10_[3-9]|PENDING|{T[0]}|Unknown|0",
        f"11|FAILED|{T[3]}|{T[2]}|5",
        "what|is|this",
        heading="JobID|State|Start|End|Elapsed",
    )
    said = read(wrote(tmp_path, words))
    assert [(run.end_s, run.kind) for run in said.runs] == [(at(T[0]) + 30, "process")]
    assert "2 rows were left out because they could not be read" in warned(said)


def test_rows_that_are_there_twice_count_once(tmp_path: Path) -> None:
    one = row("7", "NODE_FAIL", T[0], T[1])
    said = read(wrote(tmp_path, rows(one, HEADING, one, row("7", "RUNNING", T[2], "Unknown"))))
    assert len(said.runs) == 2
    assert "1 rows were there twice" in warned(said)


def test_clocks_that_changed_are_told(tmp_path: Path) -> None:
    heading = "JobIDRaw|State|Start|End|ElapsedRaw|Restarts"
    words = rows("7|FAILED|2026-10-25T01:00:00|2026-10-25T05:00:00|18000|0", heading=heading)
    said = read(wrote(tmp_path, words))
    assert "SLURM_TIME_FORMAT=%s" in warned(said)
    ahead = read(wrote(tmp_path, words.replace("18000", "10801")))
    for one, ran_s in ((said, 18000.0), (ahead, 10800.0)):
        record = read_evidence((one,), Choices(), nodes=2).failures
        assert record is not None
        assert record.exposure_s == ran_s, "as long as Elapsed says"
        assert record.stops[0].at_s == at("2026-10-25T05:00:00")
    assert "SLURM_TIME_FORMAT=%s" not in warned(read(wrote(tmp_path, words.replace("18000", "14400"))))


def test_a_short_job_of_the_same_name_does_not_break_the_long_ones_chain(tmp_path: Path) -> None:
    said = read(wrote(tmp_path, rows(
        row("6", "COMPLETED", T[0], T[2]),
        row("7", "NODE_FAIL", T[1], T[5]),
        row("7", "COMPLETED", T[6], T[9]),
    )))  # fmt: skip
    jobs = timeline([said]).jobs
    assert {one.run.job_id: job for job, runs in jobs.items() for one in runs} == {"6": "train (6)", "7": "train"}


def test_the_job_with_the_bare_name_is_the_same_in_every_export(tmp_path: Path) -> None:
    """In the first week job 101 ran longer and in the second job 100: each run is there once, in one job."""
    days = [f"2026-11-{day:02}T00:00:00" for day in range(1, 29)]
    one = [row("100", "NODE_FAIL", days[0], days[2]), row("101", "NODE_FAIL", days[0], days[3])]
    one.append(row("101", "NODE_FAIL", days[4], days[6]))
    two = [*one, row("100", "NODE_FAIL", days[3], days[10]), row("100", "NODE_FAIL", days[11], days[20])]
    weeks = [read(wrote(tmp_path, rows(*some), f"{len(some)}.txt")) for some in (one, two)]
    for files in (weeks, weeks[::-1], weeks[1:]):
        jobs = timeline(files).jobs
        assert {name: [one.run.job_id for one in runs] for name, runs in jobs.items()} == {
            "train": ["100"] * 3, "train (101)": ["101"] * 2,
        }  # fmt: skip
        record = read_evidence(files, Choices(job=""), nodes=2).failures
        assert record is not None
        assert (record.exposure_s, record.count) == (23 * 86400.0, 5)
    assert set(timeline(weeks[:1]).jobs) == {"train", "train (100)"}


def test_an_open_job_weighs_what_it_ran_so_far(tmp_path: Path) -> None:
    """A job that has just begun does not take the name from the one that has run for days beside it."""
    words = rows(row("7", "NODE_FAIL", "2026-11-01T00:00:00", T[1]), row("8", "RUNNING", T[0], "Unknown"))
    jobs = timeline([read(wrote(tmp_path, words))]).jobs
    assert {name: [one.run.job_id for one in runs] for name, runs in jobs.items()} == {"train": ["7"], "train (8)": ["8"]}


def test_two_clusters_in_one_export_are_not_one_job(tmp_path: Path) -> None:
    heading = "Cluster|JobIDRaw|JobName|State|Start|End"
    said = read(wrote(tmp_path, rows(*(f"{c}|7|{c}|FAILED|{T[0]}|{T[1]}" for c in "ab"), heading=heading)))
    assert [run.job_id for run in said.runs] == ["a/7", "b/7"]


@pytest.mark.parametrize("first", [0, 1])
def test_the_same_accounting_with_and_without_a_zone_counts_once(tmp_path: Path, first: int) -> None:
    local = ((0, 4, "NODE_FAIL"), (5, 9, "NODE_FAIL"))
    here = rows(*(row("7", state, T[start], T[end]) for start, end, state in local))
    away = [(f"{at(T[start]) - 9 * 3600:.0f}", f"{at(T[end]) - 9 * 3600:.0f}", state) for start, end, state in local]
    epoch = rows(*(row("7", state, start, end) for start, end, state in away))
    files = [read(wrote(tmp_path, here, "iso.txt")), read(wrote(tmp_path, epoch, "epoch.txt"))]
    record = read_evidence((files[first], files[1 - first]), Choices(), nodes=2).failures
    assert record is not None
    assert (record.exposure_s, record.count) == (8 * 3600.0, 2)


def test_a_run_that_slurm_has_forgotten_to_end_is_left_out(tmp_path: Path) -> None:
    """A runaway job: RUNNING without an end, although later tries of it began and ended."""
    words = rows(
        row("7", "RUNNING", T[0], "Unknown"), row("7", "NODE_FAIL", T[3], T[4]), row("7", "COMPLETED", T[5], T[9]),
        row("8", "RUNNING", T[8], "Unknown", name="other"),
    )  # fmt: skip
    said = read(wrote(tmp_path, words))
    assert [(run.job_id, run.said) for run in said.runs] == [("7", "NODE_FAIL"), ("7", "COMPLETED"), ("8", "RUNNING")]
    assert "1 runs are said to go on although a later try of the same job began" in warned(said)
    assert "line 2 (job 7)" in warned(said)
    record = read_evidence((said,), Choices(job="train"), nodes=2).failures
    assert record is not None
    assert record.exposure_s == 5 * 3600.0


def test_states_that_are_not_known_are_told(tmp_path: Path) -> None:
    said = read(wrote(tmp_path, rows(row("7", "MELTED", T[0], T[1]), row("7", "DEADLINE", T[2], T[3]))))
    assert [run.kind for run in said.runs] == ["unknown", "limit"]
    assert "MELTED" in warned(said)


def test_many_long_lists_of_nodes_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slurm_jobs, "NAMES_CAP", 5)
    found = Found(names_left=5)
    assert [len(found.nodes(f"{rack}[1-3]")) for rack in "aabc"] == [3, 3, 0, 0]
    monkeypatch.setattr(slurm, "TRIES_CAP", 2)
    said = read(wrote(tmp_path, rows(*(row(str(job), "FAILED", T[0], T[1]) for job in range(5)))))
    assert len(said.runs) == 2
    assert "Only the first" in warned(said)


@pytest.mark.parametrize(
    ("words", "names"),
    [
        ("gpu-[001-003,007]", ("gpu-001", "gpu-002", "gpu-003", "gpu-007")),
        ("a1,b[2-3]", ("a1", "b2", "b3")),
        ("rack[1-2]n[08-09]-ib", ("rack1n08-ib", "rack1n09-ib", "rack2n08-ib", "rack2n09-ib")),
        ("n[98-101]", ("n98", "n99", "n100", "n101")),
        ("None assigned", ()),
        ("", ()),
        ("n[3-1]", ()),
        ("n[1-", ()),
        ("n[[1-2]]", ()),
        ("n[1-999999999]", ()),
        ("n[1-9999][1-9999]", ()),
        ("10.0.0.7", ()),
        ("n,,m", ()),
    ],
)
def test_node_lists(words: str, names: tuple[str, ...]) -> None:
    assert expand_nodes(words) == names


def test_lengths_and_moments() -> None:
    assert [elapsed_s(cell) for cell in ("38", "1-02:03:04", "02:03", "02:03.5", "", "x")] == [38, 93784, 123, 123, None, None]
    assert moment("1796002290") == (1796002290.0, True)
    assert moment("2026-11-30T01:31:30") == (1796002290.0, False)
    assert moment("2026-11-30T02:31:30+0100") == (1796002290.0, True)
    assert {moment(cell) for cell in ("Unknown", "None", "", "0", "9" * 5000, "0001-01-01T00:00:00", "²")} == {None}


# ---------------------------------------------------------------- node events and logs


def test_nodes_that_went_down() -> None:
    said = read(SAMPLES / "slurm/sacctmgr-events.txt")
    assert [(event.at_s, event.kind, event.said, event.node_names, event.downtime_s) for event in said.events] == [
        (at("2026-11-30T01:32:08"), "node", "DOWN (not responding)", ("gpu-003",), 220.0),
        (at("2026-11-30T01:36:04"), "node", "DOWN", ("gpu-005",), 3.0),
    ]  # not the controller's own start (UNK, cold-start), nor the cluster's registration


def test_drains_by_hand_stop_no_job(tmp_path: Path) -> None:
    words = (
        "Cluster|NodeName|TimeStart|TimeEnd|State|Reason|User\n"
        f"c|n1|{T[0]}|Unknown|drain|Node unexpectedly rebooted|root(0)\n"
        f"c|n2|{T[0]}|{T[1]}|DRAIN|call Bob|root(0)\n"
        f"c|n3|soon|{T[1]}|DOWN|x|root(0)\nc|n4\n"
    )
    said = read(wrote(tmp_path, words))
    assert [(event.said, event.node_names, event.downtime_s) for event in said.events] == [
        ("DRAIN (node unexpectedly rebooted)", ("n1",), None)
    ]
    assert "Nodes that a person drained, left out because a job on them runs on: 1." in warned(said)
    assert "Rows that could not be read, left out: 2;" in warned(said)


def test_the_controllers_log() -> None:
    said = read(SAMPLES / "slurm/slurmctld.log")
    assert [(event.kind, event.said, event.node_names) for event in said.events] == [
        ("node", "job 1 on a failed node", ("gpu-003",)),  # and "setting DOWN" of the same node in the same second
        ("limit", "time limit of job 2", ()),
        ("limit", "time limit of job 10", ()),
        ("preempted", "job 12 was preempted", ()),
    ]
    assert said.events[0].at_s == pytest.approx(at("2026-11-30T01:32:08") + 0.964)


def test_the_lines_that_theory_quotes() -> None:
    where = open_file(SAMPLES / "slurm/slurmctld.log").place
    lines = (
        "[2026-11-30T01:32:08.964] error: Nodes node03 not responding, setting DOWN",
        "[2026-11-30T01:32:08.964] Killing JobId=48 on failed node node03",
        "slurmstepd-node7: error: *** JOB 1 ON node7 CANCELLED AT 2026-09-21T08:03:22 DUE TO TIME LIMIT ***",
        "an email about node03 not responding, setting DOWN",
        "[yesterday] Killing JobId=48 on failed node node03",
        "*** JOB 1 ON node7 CANCELLED AT noon ***",
    )
    found = [event_of_line(line, where, Found()) for line in lines]
    assert [(event.kind, event.node_names) for event in found if event] == [
        ("node", ("node03",)), ("node", ("node03",)), ("limit", ("node7",)),
    ]  # fmt: skip


def test_a_jobs_stderr() -> None:
    said = read(SAMPLES / "slurm/job-stderr.txt")
    assert [(event.kind, event.said) for event in said.events] == [
        ("limit", "job 2: TIME LIMIT"),
        ("node", "job 1: NODE FAILURE"),
        ("preempted", "job 12: PREEMPTION"),
        ("cancelled", "job 14: CANCELLED"),
    ]


# ---------------------------------------------------------------- nvidia-resiliency-ext


def test_cycles_are_runs_of_one_job() -> None:
    runs = [read(SAMPLES / f"nvrx/cycle_info.482913.0.{cycle}").runs[0] for cycle in range(3)]
    assert {run.job for run in runs} == {"482913"}
    assert [(run.kind, run.nodes, run.is_zoned) for run in runs] == [("unknown", 32, True)] * 2 + [("open", 32, True)]
    assert [run.end_s is None for run in runs] == [False, False, True]
    assert runs[1].node_names[15:17] == ("gpu-016", "gpu-018")
    gaps = [after.start_s - before.end_s for before, after in pairwise(runs) if before.end_s is not None]
    assert gaps == pytest.approx([317.25, 337.33], abs=0.01)  # 09:12:45.52 -> 09:18:02.77, 21:40:33.00 -> 21:46:10.33
    assert "not why" in warned(read(SAMPLES / "nvrx/cycle_info.482913.0.0"))


def test_a_link_to_the_newest_cycle_is_no_second_run(tmp_path: Path) -> None:
    target = wrote(tmp_path, (SAMPLES / "nvrx/cycle_info.482913.0.2").read_bytes(), "cycle_info.482913.0.2")
    link = tmp_path / "cycle_info.482913.current"
    link.symlink_to(target.name)
    assert (read(target).runs != (), read(link).runs) == (True, ())
    elsewhere = tmp_path / "elsewhere"
    elsewhere.symlink_to(target)
    assert len(read(elsewhere).runs) == 1


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"cycle_start_time": ""}, "cycle_start_time is missing"),
        ({"cycle_start_time": 5}, "cycle_start_time is no time"),
        ({"cycle_end_time": "soon"}, "cycle_end_time is no time"),
        ({"cycle_end_time": "2020-01-01T00:00:00Z"}, "missing or after"),
        ({"active_nodes": ["a"], "job_id": None, "generation": 7}, ""),
    ],
)
def test_broken_cycles(tmp_path: Path, change: dict[str, Any], says: str) -> None:
    cycle = json.loads((SAMPLES / "nvrx/cycle_info.482913.0.0").read_text()) | change
    path = wrote(tmp_path, json.dumps(cycle), "cycle")
    if not says:
        assert read(path).runs[0].nodes is None
        return
    with pytest.raises(ReaderError, match=says):
        read(path)


# ---------------------------------------------------------------- anything


def check_finite(said: FileEvidence) -> None:
    """No number in it is infinite or none, and no length negative."""
    runs = [x for run in said.runs for x in (run.start_s, run.end_s, run.eligible_s, run.seen_until_s)]
    events = [x for event in said.events for x in (event.at_s, event.downtime_s)]
    values = [x for one in said.measured for x in (*one.values, *one.at_s)]
    assert all(math.isfinite(x) and x >= 0 for x in (*runs, *events, *values) if x is not None)


def test_one_reader_knows_each_sample_and_none_the_others() -> None:
    others = [*SAMPLES.parent.glob("hf/*.json"), *SAMPLES.parent.glob("safetensors/*/*.json"), SAMPLES.parent / "README.md"]
    for path in others:
        assert [reader.id for reader in READERS if reader.knows(open_file(path).head)] == []


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("JobID|State|NNodes\n1|FAILED|2\n", "line 1: the columns Start and End are not there"),
        ('{"jobs": {"job_id": 1, "time": {"submission": 1, "elapsed": 2}}}', "there is no list of jobs"),
        ('{"jobs": [{"job_id": 1, "time": {"submission": NaN, "elapsed": 2}}]}', "NaN is not a number"),
        ('{"meta": ["job_id", "time", "submission", "elapsed"], "jobs": ' + "[" * 100_000, "nested too deeply"),
    ],
)
def test_broken_files(tmp_path: Path, words: str, says: str) -> None:
    with pytest.raises(ReaderError, match=says):
        read(wrote(tmp_path, words))


def test_strange_json_values_end_in_runs_or_nothing(tmp_path: Path) -> None:
    strange: list[Any] = [
        None,
        True,
        -1,
        1e300,
        10**400,
        "x",
        [],
        {},
        {"set": True, "infinite": True, "number": 3},
        {"number": {}},
    ]
    job = json.loads((SAMPLES / "slurm/sacct-25.05-constructed.json").read_text())["jobs"][0]
    for value in strange:
        jobs: list[Any] = [value]
        jobs += [job | {key: value} for key in job]
        jobs += [job | {"time": job["time"] | {key: value}} for key in job["time"]]
        said = read(wrote(tmp_path, json.dumps({"jobs": jobs})))
        check_finite(said)


@pytest.mark.parametrize("path", sorted(path for path in SAMPLES.rglob("*") if path.is_file()), ids=lambda path: path.name)
def test_mutated_samples_are_read_or_refused(tmp_path: Path, path: Path) -> None:
    random_ = random.Random(path.name)
    whole = path.read_bytes()[:20_000]
    pieces = (b"|", b"\n", b'"', b"[", b"]", b"-", b"0", b"9" * 400, b"\xff", b"nan", b"null", b",", b"1e999", b"\\ud800", b"T")
    for _ in range(25):
        data = bytearray(whole)
        for _ in range(random_.randint(1, 8)):
            place = random_.randrange(len(data) + 1)
            data[place : place + random_.choice((0, 1, 5, 300))] = random_.choice(pieces)
        for reader in READERS:
            opened = open_file(wrote(tmp_path, bytes(data)))
            with suppress(ReaderError):
                reader.knows(opened.head)
            with suppress(ReaderError):
                said = reader.read(opened)
                check_finite(said)
