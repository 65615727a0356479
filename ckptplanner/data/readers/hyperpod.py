"""What SageMaker HyperPod says about its instances: `aws sagemaker list-cluster-events`, and events as EventBridge sends them.

    {"Events": [{EventTime, ResourceType, EventLevel, InstanceGroupName, InstanceId, Description}]}        times in ISO 8601
    {"detail-type": "SageMaker HyperPod Cluster Event", "detail": {"EventDetails": {EventTime, ...}}}      epoch MILLISECONDS
    {"detail-type": "SageMaker HyperPod Cluster Node Health Event", "detail": {InstanceId, HealthSummary}}

Sources: botocore 1.43.11 and 1.44.8 output shapes; the events reference of the SageMaker guide as stored in 2026-11. Only
clusters whose NodeProvisioningMode is Continuous have events. A fault, the replacement and its end are one stop.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

from ckptplanner.data.evidence import Event, FileEvidence, Place
from ckptplanner.data.readers.json_stream import documents
from ckptplanner.data.readers.json_values import anonymous, as_object, as_text, at, day_of, moment, objects
from ckptplanner.data.readers.source import Head, Opened, Reader
from ckptplanner.text import Text, text
from ckptplanner.units import grouped

MOST_EVENTS = 100_000
REPAIR_S = 7_200.0  # a repair that begins or ends within this of a fault in its group belongs to the fault
_TITLE = text("SageMaker HyperPod events")
_BRIDGE = "SageMaker HyperPod Cluster"
_LIST = re.compile(r'"Events"\s*:\s*\[')
_FAULT = re.compile(
    r"health check|unhealthy|not ?ready|faulty|hardware (?:fault|failure)|\bxid\b|\becc\b|impaired|unreachable"
    r"|(?:node|instance) (?:has )?failed\b(?! to)",
    re.IGNORECASE,
)
_REPAIR = re.compile(r"instance replacement|reboot of ec2 instance", re.IGNORECASE)
_NO_FAULT = re.compile(
    r"orchestration-ready|failed to (?:start|submit|provision|create|delete|terminate)|lifecycle script|creation"
    r"|updateclustersoftware",
    re.IGNORECASE,
)
_What = Literal["fault", "repair"]


@dataclass(frozen=True, slots=True)
class _Said:
    """One event that is about a fault of an instance, or its repair."""

    at_s: float
    what: _What
    said: str
    group: str
    instance: str
    place: Place
    is_zoned: bool


@dataclass
class _Found:
    """Everything that was read so far."""

    opened: Opened
    said: list[_Said] = field(default_factory=list)
    ids: set[str] = field(default_factory=set)
    other: Counter[str] = field(default_factory=Counter)  # by level
    seen: int = 0
    twice: int = 0
    undated: int = 0
    is_millis: bool = False


def _knows(head: Head) -> bool:
    if not head.is_json:
        return False
    return (_LIST.search(head.text) is not None and head.has('"EventTime"', '"ClusterArn"', '"ResourceType"')) or (
        head.has('"detail-type"', f'"{_BRIDGE}', '"aws.sagemaker"')
    )


def _read(opened: Opened) -> FileEvidence:
    found = _Found(opened)
    for number, document in enumerate(documents(opened)):
        for where, one in _records(document, "" if number == 0 else f"object {number + 1}"):
            found.seen += 1
            if found.seen <= MOST_EVENTS:
                _add(found, one, opened.place(where))
    if not found.seen:
        raise opened.refuse("there is no cluster event of HyperPod in it; aws sagemaker list-cluster-events writes them")
    events, repairs = _stops(found.said)
    return FileEvidence(
        reader="hyperpod", title=_TITLE, file=opened.name, events=events, warnings=tuple(_warnings(found, repairs)),
        date=day_of(max(one.at_s for one in found.said)) if found.said else opened.date,
    )  # fmt: skip


def _records(document: Any, where: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """The events of a document, each with its place: of a list, of EventBridge, or of describe-cluster-event."""
    prefix = f"{where}." if where else ""
    if isinstance(document, list):  # its members are objects, so this goes no deeper
        for index, one in objects(document):
            yield from _records(one, f"{prefix}[{index}]")
        return
    event = as_object(document)
    if isinstance(event.get("Events"), list):
        for index, one in objects(event["Events"]):
            yield f"{prefix}Events[{index}]", one
    elif as_text(event.get("detail-type")).startswith(_BRIDGE):
        detail = as_object(event.get("detail"))
        inner = as_object(detail.get("EventDetails"))
        if inner or "HealthSummary" in detail:
            envelope = {"EventId": event.get("id"), "EventTime": event.get("time")}
            yield f"{prefix}detail.EventDetails" if inner else f"{prefix}detail", {**envelope, **(inner or detail)}
    elif at(event, "EventDetails", "EventTime") is not None:
        yield f"{prefix}EventDetails", as_object(event["EventDetails"])
    elif "EventTime" in event and "ResourceType" in event:
        yield where, event


def _add(found: _Found, one: dict[str, Any], place: Place) -> None:
    event_id, level = as_text(one.get("EventId"), 64), as_text(one.get("EventLevel"), 20)
    if event_id and event_id in found.ids:
        found.twice += 1
        return
    found.ids.add(event_id)
    health = as_object(one.get("HealthSummary"))
    words = anonymous(one.get("Description")) or anonymous(health.get("HealthStatusReason"))
    what = _meaning(words, health, level)
    if what is None:
        found.other[level or "?"] += 1
        return
    time = moment(one.get("EventTime"))
    if time is None:
        found.undated += 1
        return
    found.is_millis = found.is_millis or not isinstance(one.get("EventTime"), str) or "-" not in one["EventTime"]
    group, instance = as_text(one.get("InstanceGroupName"), 63), as_text(one.get("InstanceId"), 63)
    found.said.append(_Said(time[0], what, f"{words} ({level})" if level else words, group, instance, place, time[1]))


def _meaning(words: str, health: dict[str, Any], level: str) -> _What | None:
    """Whether it is about a fault of an instance or its repair; None for scaling, creation and all the rest."""
    if health:
        return None if as_text(health.get("HealthStatus")) == "Healthy" else "fault"
    if _REPAIR.search(words):
        return "repair"
    if level == "Info" or _NO_FAULT.search(words):
        return None
    return "fault" if _FAULT.search(words) else None


def _stops(said: list[_Said]) -> tuple[tuple[Event, ...], int]:
    """One event for each fault; repairs that follow belong to it, and those without one are a stop of their own."""
    events: list[Event] = []
    groups, instances = dict[str, float](), dict[tuple[str, str], float]()  # the last moment of the stop of each
    repairs = 0
    for one in sorted(said, key=lambda event: event.at_s):
        key = (one.group, one.instance)
        last = groups.get(one.group) if one.what == "repair" else instances.get(key)
        groups[one.group] = instances[key] = one.at_s
        if last is not None and one.at_s - last <= REPAIR_S:
            repairs += 1
            continue
        names = (one.instance,) if one.instance else ()
        events.append(Event(one.at_s, "node", one.said, one.place, node_names=names, is_zoned=one.is_zoned))
    return tuple(events), repairs


def _warnings(found: _Found, repairs: int) -> Iterator[Text]:
    yield text("Only clusters with NodeProvisioningMode Continuous have such events, and not each of them stops a job.")
    if repairs:
        yield text(
            "Events that say more about a fault or its repair, and are one stop with it: {count}.", count=grouped(repairs)
        )
    if found.is_millis:
        yield text("Numbers as times are read as epoch seconds or milliseconds by their size.")
    if found.other:
        levels = ", ".join(f"{level} {grouped(count)}" for level, count in found.other.most_common(5))
        yield text("Events about scaling, creation, patching and the like, left out: {count} ({levels}).",
                   count=grouped(found.other.total()), levels=levels)  # fmt: skip
    if found.twice:
        yield text("Events that stand there twice: {count}.", count=grouped(found.twice))
    if found.undated:
        yield text("Events without a time, left out: {count}.", count=grouped(found.undated))
    if found.seen > MOST_EVENTS:
        yield text("Of {count} events the first {most} were read.", count=grouped(found.seen), most=grouped(MOST_EVENTS))


READERS: tuple[Reader, ...] = (Reader("hyperpod", _TITLE, _knows, _read),)
