"""Events, pods and JobSets of Kubernetes: which of them are stops, and what they leave open."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from ckptplanner.data.evidence import FileEvidence
from ckptplanner.data.readers import kubernetes
from ckptplanner.data.readers.errors import ReaderError
from ckptplanner.data.readers.source import open_file
from ckptplanner.engine.evidence import Choices
from ckptplanner.engine.readings import read_evidence

SAMPLES = Path(__file__).parent / "samples" / "logs"
EVENTS, PODS, JOBSET = (SAMPLES / f"kubectl-get-{kind}.json" for kind in ("events", "pods", "jobset"))
(READER,) = kubernetes.READERS


def read(path: Path) -> FileEvidence:
    opened = open_file(path)
    assert READER.knows(opened.head)
    return READER.read(opened)


def wrote(tmp_path: Path, *values: Any) -> Path:
    """Objects one behind another, as --watch writes them."""
    path = tmp_path / "objects.json"
    path.write_text("\n".join(json.dumps(value, indent=1) for value in values))
    return path


def said(found: FileEvidence) -> str:
    notes = (note for one in (*found.restarts, *found.measured) for note in one.notes)
    return " ".join(map(str, (*found.warnings, *notes)))


def utc(words: str) -> float:
    return datetime.fromisoformat(words).replace(tzinfo=UTC).timestamp()


def event(reason: str, message: str = "", **fields: Any) -> dict[str, Any]:
    about = {"kind": "Pod", "name": "p-0"}
    return {
        "apiVersion": "v1", "kind": "Event", "reason": reason, "message": message, "involvedObject": about,
        "firstTimestamp": "2026-11-03T09:00:00Z", "lastTimestamp": "2026-11-03T09:00:00Z", "count": 1, **fields,
    }  # fmt: skip


# ---------------------------------------------------------------- events


def test_the_events_of_the_sample() -> None:
    """A lost node, said twice; a pod that waits, which stops nothing; and a container that crashes."""
    found = read(EVENTS)
    assert [(one.kind, one.said, one.at_s) for one in found.events] == [
        ("node", "NodeNotReady (Node)", utc("2026-11-03T09:12:41")),
        ("node", "NodeNotReady (Pod)", utc("2026-11-03T09:12:44")),
        ("process", "BackOff (Pod)", utc("2026-11-07T03:40:02")),
    ]
    assert found.events[0].node_names == ("ip-10-0-3-17.us-west-2.compute.internal",)
    assert all(one.is_zoned for one in found.events)
    assert found.events[2].place.where == "items[3]"
    assert "FailedScheduling 1" in said(found)


def test_events_alone_are_no_count() -> None:
    """They are gone after an hour."""
    found = read(EVENTS)
    assert all(one.is_partial for one in found.events)
    assert "keeps events for an hour" in said(found)
    assert "several events within minutes; they are one stop" in said(found)


@pytest.mark.parametrize(
    ("reason", "message", "kind"),
    [
        ("OOMKilling", "Memory cgroup out of memory", "process"),
        ("Preempted", "Preempted by pod x on node y", "preempted"),
        ("Evicted", "The node was low on resource: memory.", "preempted"),
        ("Rebooted", "Node n1 has been rebooted, boot id: x", "node"),
        ("BackOff", "Back-off restarting failed container", "process"),
        ("BackOff", 'Back-off pulling image "x"', None),
        ("TaintManagerEviction", "Marking for deletion Pod a/b", "node"),
        ("TaintManagerEviction", "Cancelling deletion of Pod a/b", None),
        ("FailedScheduling", "0/34 nodes are available", None),
        ("Killing", "Stopping container trainer", None),
    ],
)
def test_which_reasons_stop_a_job(tmp_path: Path, reason: str, message: str, kind: str | None) -> None:
    found = read(wrote(tmp_path, event(reason, message)))
    assert [one.kind for one in found.events] == ([] if kind is None else [kind])


def test_repeats_are_counted_where_they_have_no_times(tmp_path: Path) -> None:
    late = {"lastTimestamp": "2026-11-03T11:00:00Z", "count": 5}
    found = read(wrote(tmp_path, event("NodeNotReady", **late), event("BackOff", "restarting failed", **late)))
    assert [one.at_s for one in found.events] == [
        utc("2026-11-03T09:00:00"),
        utc("2026-11-03T11:00:00"),
        utc("2026-11-03T09:00:00"),
    ], "a crash loop is one stop"
    assert "3 repeats have no times of their own" in said(found)


def test_the_other_api_of_events(tmp_path: Path) -> None:
    """events.k8s.io/v1: regarding, note, eventTime in microseconds, and a series."""
    one = {
        "apiVersion": "events.k8s.io/v1", "kind": "Event", "reason": "NodeNotReady", "note": "x",
        "regarding": {"kind": "Node", "name": "n1"}, "eventTime": "2026-11-03T09:00:00.250000Z",
        "series": {"count": 3, "lastObservedTime": "2026-11-03T10:00:00.000000Z"},
    }  # fmt: skip
    found = read(wrote(tmp_path, one))
    assert [one.at_s for one in found.events] == [utc("2026-11-03T09:00:00.250"), utc("2026-11-03T10:00:00")]
    assert found.events[0].node_names == ("n1",)


def test_an_event_without_a_time_is_left_out(tmp_path: Path) -> None:
    found = read(wrote(tmp_path, event("NodeNotReady", firstTimestamp=None, lastTimestamp="soon", eventTime=None)))
    assert found.events == ()
    assert "1 objects without a time" in said(found)


def test_lists_of_mixed_kinds_watched_objects_and_typed_lists(tmp_path: Path) -> None:
    mixed = {"apiVersion": "v1", "kind": "List", "items": []}
    for path in (EVENTS, PODS, JOBSET):
        value = json.loads(path.read_text())
        mixed["items"] += value.get("items", [value])
    found = read(wrote(tmp_path, mixed))
    assert (len(found.events), len(found.runs), len(found.restarts), len(found.measured)) == (4, 0, 2, 1)
    watched = read(wrote(tmp_path, event("NodeNotReady"), event("OOMKilling")))
    assert [one.place.where for one in watched.events] == ["", "object 2"]
    bare = {key: value for key, value in event("NodeNotReady").items() if key not in ("kind", "apiVersion")}
    assert len(read(wrote(tmp_path, {"apiVersion": "v1", "kind": "EventList", "items": [bare]})).events) == 1


# ---------------------------------------------------------------- pods


def pod(name: str, node: str, state: dict[str, Any], last: dict[str, Any] | None = None, **status: Any) -> dict[str, Any]:
    container = {"name": "trainer", "restartCount": 0 if last is None else 1, "state": state, "lastState": last or {}}
    labels = {"jobset.sigs.k8s.io/jobset-name": "pretrain"}
    return {
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "labels": labels}, "spec": {"nodeName": node},
        "status": {"startTime": "2026-11-07T00:00:00Z", "containerStatuses": [container], **status},
    }  # fmt: skip


def ended(code: int, reason: str = "Error", end: str = "03:43:12", start: str = "00:00:10") -> dict[str, Any]:
    times = {"startedAt": f"2026-11-07T{start}Z", "finishedAt": f"2026-11-07T{end}Z"}
    return {"terminated": {"exitCode": code, "reason": reason, **times}}


def test_the_pod_of_the_sample() -> None:
    """Three restarts, of which the last end alone is told: it is no run, from which M would be two minutes."""
    found = read(PODS)
    assert found.runs == ()
    (end,) = found.events
    assert (end.kind, end.said, end.at_s, end.is_partial) == (
        "process", "Error, exit code 1", utc("2026-11-07T03:43:12"), True,
    )  # fmt: skip
    assert end.node_names == ("ip-10-0-3-5.us-west-2.compute.internal",)
    (restarts,) = found.restarts
    assert (restarts.job, restarts.count, restarts.since_s) == ("pretrain", 3, utc("2026-11-07T03:30:00"))
    assert restarts.until_s == utc("2026-11-07T03:45:58"), "the last moment in the file: it still runs"
    assert "the last end only" in said(found)
    assert "more restarts were counted than ends are told: 1" in said(found)


RUNNING = {"running": {"startedAt": "2026-11-07T03:45:58Z"}}


def test_a_pod_of_which_all_ends_are_told_has_runs(tmp_path: Path) -> None:
    found = read(wrote(tmp_path, pod("p-0", "n1", RUNNING, ended(1))))
    run, still = found.runs
    assert (run.job, run.kind, run.said) == ("pretrain", "process", "Error, exit code 1")
    assert (run.start_s, run.end_s) == (utc("2026-11-07T00:00:10"), utc("2026-11-07T03:43:12"))
    assert (still.kind, still.start_s, still.end_s) == ("open", utc("2026-11-07T03:45:58"), None)
    assert (found.restarts, found.events) == ((), ())


def test_an_end_that_is_no_restart_is_none_of_those_counted(tmp_path: Path) -> None:
    """Two restarts and then the end of the pod: of three ends two are told."""
    one = pod("p-0", "n1", ended(1, end="09:00:00"), ended(1))
    one["status"]["containerStatuses"][0]["restartCount"] = 2
    found = read(wrote(tmp_path, one))
    assert (found.runs, found.restarts[0].count) == ((), 2)
    assert found.restarts[0].until_s == utc("2026-11-07T09:00:00")


def test_of_14_restarts_in_30_days_the_count_is_proposed(tmp_path: Path) -> None:
    """30 days and 14 restarts are 51 h; the last run alone would say 2 h."""
    last = {"terminated": {"exitCode": 1, "startedAt": "2026-10-30T22:00:00Z", "finishedAt": "2026-10-31T00:00:00Z"}}
    one = pod("p-0", "n1", {"running": {"startedAt": "2026-10-31T00:00:00Z"}}, last, startTime="2026-10-01T00:00:00Z")
    one["status"]["containerStatuses"][0]["restartCount"] = 14
    reading = read_evidence([read(wrote(tmp_path, one))], Choices(), nodes=32)
    (mtbi,) = [estimate for estimate in reading.estimates if estimate.id == "mtbi"]
    assert (mtbi.is_proposed, mtbi.count, mtbi.value) == (True, 14, pytest.approx(30 * 86400 / 14))


@pytest.mark.parametrize(
    ("code", "reason", "kind", "words"),
    [
        (137, "OOMKilled", "process", "OOMKilled"),
        (137, "Error", "unknown", "Error, exit code 137 (SIGKILL)"),
        (143, "Error", "unknown", "Error, exit code 143 (SIGTERM)"),
        (137, "ContainerStatusUnknown", "node", "ContainerStatusUnknown"),
        (0, "Completed", "completed", "Completed"),
        (1, "Error", "process", "Error, exit code 1"),
    ],
)
def test_how_a_container_ended(tmp_path: Path, code: int, reason: str, kind: str, words: str) -> None:
    (run,) = read(wrote(tmp_path, pod("p-0", "n1", ended(code, reason)))).runs
    assert (run.kind, run.said) == (kind, words)


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        ({"reason": "Evicted"}, "preempted"),
        ({"reason": "NodeLost"}, "node"),
        ({"reason": "DeadlineExceeded"}, "limit"),
        ({"conditions": [{"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler"}]}, "preempted"),
        ({"conditions": [{"type": "DisruptionTarget", "status": "True", "reason": "DeletionByTaintManager"}]}, "node"),
        ({"conditions": [{"type": "DisruptionTarget", "status": "False", "reason": "PreemptionByScheduler"}]}, "unknown"),
    ],
)
def test_what_ended_a_pod_from_outside(tmp_path: Path, status: dict[str, Any], kind: str) -> None:
    (run,) = read(wrote(tmp_path, pod("p-0", "n1", ended(137), **status))).runs
    assert run.kind == kind


def test_the_pods_of_a_job_that_end_together_are_one_stop_by_the_first(tmp_path: Path) -> None:
    """One pod runs out of memory; the other 31 are killed with it."""
    first = pod("p-0", "n0", ended(137, "OOMKilled", "03:43:12"))
    rest = [pod(f"p-{n}", f"n{n}", ended(143, "Error", f"03:43:{12 + n}")) for n in range(1, 32)]
    (run,) = read(wrote(tmp_path, {"kind": "List", "apiVersion": "v1", "items": [*rest, first]})).runs
    assert (run.kind, run.nodes, run.node_names) == ("process", 32, ("n0",))
    assert run.end_s == utc("2026-11-07T03:43:12")


def test_a_container_without_times_cannot_be_placed(tmp_path: Path) -> None:
    lost = {"terminated": {"exitCode": 137, "reason": "ContainerStatusUnknown", "startedAt": None, "finishedAt": None}}
    backwards = ended(1, start="03:43:12", end="00:00:10")
    assert read(wrote(tmp_path, pod("p-0", "n1", lost), pod("p-1", "n2", backwards))).runs == ()


# ---------------------------------------------------------------- JobSets


def test_the_jobset_of_the_sample() -> None:
    """Five restarts, of which three count: the two others are planned. There are no times."""
    found = read(JOBSET)
    (restarts,) = found.restarts
    assert (restarts.job, restarts.count, restarts.nodes) == ("pretrain", 3, 32)
    assert (restarts.since_s, restarts.until_s) == (utc("2026-11-01T00:00:00"), None)
    assert "M is its age over the count" in said(found)
    assert "2 more restarts do not count" in said(found)
    assert [(one.quantity, one.values) for one in found.measured] == [("nodes", (32.0,))]
    assert (found.runs, found.events) == ((), ())


def test_a_jobset_that_is_over_and_one_of_an_older_version(tmp_path: Path) -> None:
    value = json.loads(JOBSET.read_text())
    value["status"] |= {"conditions": [{"type": "Failed", "status": "True", "lastTransitionTime": "2026-11-05T00:00:00Z"}]}
    del value["status"]["restartsCountTowardsMax"]
    value["spec"]["replicatedJobs"] = [
        {"name": "driver", "replicas": 1, "template": {"spec": {"parallelism": 1}}},
        {"name": "workers", "replicas": 4, "template": {"spec": {"parallelism": 16, "completions": 8}}},
    ]
    (restarts,) = read(wrote(tmp_path, value)).restarts
    assert (restarts.count, restarts.until_s, restarts.nodes) == (5, utc("2026-11-05T00:00:00"), 32)


# ---------------------------------------------------------------- what it is not


def test_other_objects_are_refused_or_not_known(tmp_path: Path) -> None:
    service = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "x"}}
    assert not READER.knows(open_file(wrote(tmp_path, service)).head)
    job = {"apiVersion": "v1", "kind": "Job", "metadata": {"ownerReferences": [{"kind": "JobSet"}]}}
    with pytest.raises(ReaderError, match="no Event, Pod or JobSet"):
        read(wrote(tmp_path, job))


def test_a_file_that_is_cut_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "cut.json"
    path.write_bytes(EVENTS.read_bytes()[:2000])
    with pytest.raises(ReaderError, match=r"cut\.json, line \d+: this is no JSON"):
        read(path)


def test_no_other_sample_is_taken() -> None:
    for path in sorted((Path(__file__).parent / "samples").rglob("*")):
        if path.is_file():
            assert READER.knows(open_file(path).head) == path.name.startswith("kubectl"), path
