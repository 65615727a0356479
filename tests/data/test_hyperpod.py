"""Events of SageMaker HyperPod, listed and as EventBridge sends them."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from ckptplanner.data.evidence import FileEvidence
from ckptplanner.data.readers import hyperpod
from ckptplanner.data.readers.errors import ReaderError
from ckptplanner.data.readers.source import open_file

SAMPLE = Path(__file__).parent / "samples" / "logs" / "hyperpod-list-cluster-events.json"
(READER,) = hyperpod.READERS
FAULT_S = datetime(2026, 11, 3, 9, 12, 40, tzinfo=UTC).timestamp()
BRIDGE = "SageMaker HyperPod Cluster Event"


def read(path: Path) -> FileEvidence:
    opened = open_file(path)
    assert READER.knows(opened.head)
    return READER.read(opened)


def said(found: FileEvidence) -> str:
    return " ".join(map(str, found.warnings))


def listed(tmp_path: Path, *events: dict[str, Any]) -> Path:
    base = {
        "ClusterArn": "arn:aws:sagemaker:us-west-2:111122223333:cluster/abc", "ResourceType": "Instance", "EventLevel": "Error",
        "InstanceGroupName": "gpu", "InstanceId": "i-0391f86fa0fe0d465", "EventTime": "2026-11-03T09:12:40+00:00",
    }  # fmt: skip
    path = tmp_path / "events.json"
    path.write_text(json.dumps({"Events": [{**base, "EventId": f"e{n}", **one} for n, one in enumerate(events)]}))
    return path


def bridged(event_time: object, **fields: Any) -> dict[str, Any]:
    """The form of the events reference: the record is under detail.EventDetails."""
    inner = {
        "EventId": f"e{event_time}", "InstanceGroupName": "gpu", "InstanceId": "i-0391f86fa0fe0d465",
        "ResourceType": "Instance", "EventTime": event_time, "EventLevel": "Error",
        "Description": "Instance failed a health check", **fields,
    }  # fmt: skip
    return {
        "version": "0", "id": "0bd4a141", "detail-type": BRIDGE, "source": "aws.sagemaker", "account": "111122223333",
        "time": "2026-11-03T09:12:41Z", "detail": {"EventDetails": inner},
    }  # fmt: skip


def test_the_sample_is_one_stop() -> None:
    """A failed health check, and the replacement that ends 7 min 18 s later."""
    found = read(SAMPLE)
    (event,) = found.events
    assert (event.at_s, event.kind, event.is_zoned) == (FAULT_S, "node", True)
    assert event.said == "Instance in InstanceGroup gpu failed a health check (Error)"
    assert event.place.where == "Events[0]"
    assert found.date == "2026-11-03"
    assert "Events that say more about a fault or its repair, and are one stop with it: 1." in said(found)
    assert "NodeProvisioningMode Continuous" in said(found)


def test_accounts_and_arns_stay_in_the_file(tmp_path: Path) -> None:
    arn = "arn:aws:sagemaker:us-west-2:111122223333:cluster/abc"
    words = f"Instance i-0391f86fa0fe0d465 of {arn} failed a health check by 10.0.3.17"
    found = read(listed(tmp_path, {"Description": words}))
    shown = repr(found)
    for secret in ("111122223333", "arn:", "10.0.3.17"):
        assert secret not in shown
    assert found.events[0].said == "Instance of failed a health check by (Error)"


@pytest.mark.parametrize("event_time", [int(FAULT_S * 1000), str(int(FAULT_S * 1000)), FAULT_S, FAULT_S * 1000 + 0.25])
def test_times_in_milliseconds_are_told_by_their_size(tmp_path: Path, event_time: object) -> None:
    path = tmp_path / "event.json"
    path.write_text(json.dumps(bridged(event_time)))
    found = read(path)
    (event,) = found.events
    assert event.at_s == pytest.approx(FAULT_S, abs=0.01)
    assert event.place.where == "detail.EventDetails"
    assert "read as epoch seconds or milliseconds" in said(found)


def test_events_one_a_line_and_those_sent_twice(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    first, day = bridged(int(FAULT_S * 1000)), bridged(int(FAULT_S * 1000) + 86_400_000)
    path.write_text("\n".join(json.dumps(one) for one in (first, first, day)))
    found = read(path)
    assert [event.at_s - FAULT_S for event in found.events] == [0.0, 86_400.0]
    assert "Events that stand there twice: 1." in said(found)
    path.write_text(json.dumps([first, day]))
    assert len(read(path).events) == 2


def test_health_events_of_nodes(tmp_path: Path) -> None:
    health = {"HealthStatus": "Unhealthy", "HealthStatusReason": "GPU_DCGM_HEALTH_CHECK_FAILED", "RepairAction": "Replace"}
    one = bridged(0)
    one |= {"detail-type": "SageMaker HyperPod Cluster Node Health Event"}
    one["detail"] = {"InstanceId": "i-0391f86fa0fe0d465", "HealthSummary": health}
    path = tmp_path / "health.json"
    path.write_text(json.dumps(one))
    (event,) = read(path).events
    assert (event.kind, event.said) == ("node", "GPU_DCGM_HEALTH_CHECK_FAILED")
    assert event.at_s == FAULT_S + 1.0, "the time of the envelope"
    one["detail"]["HealthSummary"] = {"HealthStatus": "Healthy"}
    path.write_text(json.dumps(one))
    assert read(path).events == ()


@pytest.mark.parametrize(
    ("level", "words", "is_stop"),
    [
        ("Warn", "3 node(s) lost orchestration-ready status. Current: 29/32 orchestration-ready", False),  # while scaling
        ("Error", "Failed to provision EC2 Instance in Cluster c and IG gpu", False),
        ("Error", "Instance lifecycle script execution for EC2 Instance i-1 has Failed.", False),
        ("Info", "EC2 Instance i-1 successfully provisioned in Cluster c and IG gpu", False),
        ("Info", "Instance i-1 passed its health check", False),
        ("Error", "Failed to complete UpdateClusterSoftware for IG gpu in Cluster c.", False),
        ("Warn", "Node entered NotReady state for over 5 minutes.", True),
        ("Error", "Instance i-1 is unhealthy: NVIDIA Xid 79", True),
        ("Info", "Instance i-1 is starting as part of instance replacement in Cluster c and IG gpu", True),
        ("Info", "Reboot of EC2 Instance i-1 is currently in progress on Cluster c and IG gpu", True),
    ],
)
def test_which_events_are_stops(tmp_path: Path, level: str, words: str, is_stop: bool) -> None:
    found = read(listed(tmp_path, {"EventLevel": level, "Description": words}))
    assert len(found.events) == is_stop
    assert ("left out: 1" in said(found)) == (not is_stop)


def test_faults_of_two_instances_and_their_repairs(tmp_path: Path) -> None:
    """The list is newest first, as the service gives it."""
    check, replaced = "failed a health check", "completed successfully as part of instance replacement"
    rows = [
        ("12:00", "i-9", replaced),
        ("09:40", "i-3", replaced),
        ("09:20", "i-2", check),
        ("09:15", "i-1", check),
        ("09:10", "i-1", check),
    ]
    found = read(
        listed(
            tmp_path,
            *({"EventTime": f"2026-11-03T{at}:00Z", "InstanceId": who, "Description": words} for at, who, words in rows),
        )
    )
    assert [event.node_names for event in found.events] == [("i-1",), ("i-2",), ("i-9",)], (
        "the last is too late to belong to them"
    )
    assert "Events that say more about a fault or its repair, and are one stop with it: 2." in said(found)


def test_times_that_are_none(tmp_path: Path) -> None:
    words = {"Description": "failed a health check"}
    found = read(
        listed(
            tmp_path, {**words, "EventTime": -5}, {**words, "EventTime": "yesterday"}, {**words, "EventTime": 10**18 * 10**5}
        )
    )
    assert found.events == ()
    assert "Events without a time, left out: 3." in said(found)


def test_what_it_is_not(tmp_path: Path) -> None:
    path = tmp_path / "other.json"
    path.write_text(
        json.dumps({"detail-type": "SageMaker HyperPod Cluster State Change", "source": "aws.sagemaker", "detail": {}})
    )
    with pytest.raises(ReaderError, match="no cluster event"):
        read(path)
    path.write_text("[" * 900 + "]" * 900)
    with pytest.raises(ReaderError):
        READER.read(open_file(path))
    for sample in sorted((Path(__file__).parent / "samples").rglob("*")):
        if sample.is_file():
            assert READER.knows(open_file(sample).head) == (sample == SAMPLE), sample
