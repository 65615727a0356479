"""What Kubernetes says about stops of a job: events, pods and JobSets, as `kubectl get ... -o json` writes them.

    Event     reason, involvedObject, firstTimestamp, lastTimestamp, count       (events.k8s.io/v1: regarding, deprecated...)
    Pod       containerStatuses[].{restartCount, state, lastState.terminated.{reason, exitCode, startedAt, finishedAt}}
    JobSet    status.{restarts, restartsCountTowardsMax}, metadata.creationTimestamp, spec.replicatedJobs

A List of mixed kinds, a single object, or objects one behind another (`--watch`). Events are kept for an hour by default, so
they are marked as partial. A JobSet counts its restarts without their times. Checked with kubernetes 37.0.2 (events, pods)
and the Go types of JobSet v1alpha2, read 2026-11-29.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from ckptplanner.data.evidence import COUNTED, Event, FileEvidence, Kind, Measured, Place, Restarts, Run
from ckptplanner.data.readers.json_stream import documents
from ckptplanner.data.readers.json_values import as_count, as_object, as_text, at, day_of, moment, objects
from ckptplanner.data.readers.source import Head, Opened, Reader
from ckptplanner.text import Text, text
from ckptplanner.units import grouped

MOST_EVENTS, MOST_PODS, MOST_JOBSETS = 100_000, 100_000, 1_000
SAME_STOP_S = 600.0  # pods of one job that end within this of the one before ended together
_TITLE = text("Kubernetes objects (kubectl get -o json)")
_KIND = re.compile(r'"kind"\s*:\s*"(?:Event|Pod|JobSet)(?:List)?"')
_API = re.compile(r'"apiVersion"\s*:\s*"(?:v1|events\.k8s\.io/v1(?:beta1)?|jobset\.x-k8s\.io/v1\w*)"')
_REASONS: dict[str, Kind] = {
    "NodeNotReady": "node",
    "Rebooted": "node",
    "KernelOops": "node",
    "TaintManagerEviction": "node",
    "OOMKilled": "process",
    "OOMKilling": "process",
    "SystemOOM": "process",
    "BackOff": "process",
    "CrashLoopBackOff": "process",
    "BackoffLimitExceeded": "process",
    "Preempted": "preempted",
    "Evicted": "preempted",
    "SpotInterrupted": "preempted",
}
_ENDED: dict[str, Kind] = {  # why a pod or a container ended
    "OOMKilled": "process",
    "Evicted": "preempted",
    "Preempting": "preempted",
    "NodeLost": "node",
    "NodeShutdown": "node",
    "ContainerStatusUnknown": "node",
    "DeadlineExceeded": "limit",
    "PreemptionByScheduler": "preempted",
    "EvictionByEvictionAPI": "preempted",
    "TerminationByKubelet": "preempted",
    "DeletionByTaintManager": "node",
    "DeletionByPodGC": "node",
}
_KILLED = {137: "SIGKILL", 143: "SIGTERM"}
_JOB_LABELS = ("jobset.sigs.k8s.io/jobset-name", "training.kubeflow.org/job-name", "batch.kubernetes.io/job-name", "job-name")


@dataclass(frozen=True, slots=True)
class _Ended:
    """One container of a job that ran from start to end."""

    start_s: float
    end_s: float
    kind: Kind
    said: str
    node: str
    place: Place
    is_restart: bool  # its container was started again after it


@dataclass
class _Job:
    """What the pods of one job say."""

    ended: list[_Ended] = field(default_factory=list)
    running_s: list[float] = field(default_factory=list)  # since when its containers run
    nodes: set[str] = field(default_factory=set)
    restarts: int = 0
    since_s: float | None = None
    place: Place | None = None

    @property
    def groups(self) -> list[list[_Ended]]:
        """The containers that ended together."""
        groups: list[list[_Ended]] = []
        for one in sorted(self.ended, key=lambda ended: ended.end_s):
            if groups and one.end_s - groups[-1][-1].end_s <= SAME_STOP_S:
                groups[-1].append(one)
            else:
                groups.append([one])
        return groups

    @property
    def is_forgotten(self) -> bool:
        """Whether there were more restarts than ends are told: then these alone would make M far too short."""
        return self.restarts > sum(any(one.is_restart for one in group) for group in self.groups)


@dataclass
class _Cluster:
    """Everything that was read so far."""

    opened: Opened
    events: list[Event] = field(default_factory=list)
    jobs: dict[str, _Job] = field(default_factory=dict)
    restarts: list[Restarts] = field(default_factory=list)
    measured: list[Measured] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)  # of what was seen, by kind
    ignored: Counter[str] = field(default_factory=Counter)  # reasons of events that stop nothing
    unplaced: int = 0  # repeats of events whose times are not kept
    undated: int = 0


def _knows(head: Head) -> bool:
    return head.is_json and _KIND.search(head.text) is not None and _API.search(head.text) is not None


def _read(opened: Opened) -> FileEvidence:
    found = _Cluster(opened)
    for number, document in enumerate(documents(opened)):
        where = "" if number == 0 else f"object {number + 1}"
        _add(found, document, where, "")
    if not sum(found.counts.values()):
        raise opened.refuse("there is no Event, Pod or JobSet in it; kubectl get events,pods,jobsets -o json writes them")
    times = [event.at_s for event in found.events]
    times += [at_s for job in found.jobs.values() for at_s in (*(one.end_s for one in job.ended), *job.running_s)]
    runs: list[Run] = []
    for name, job in found.jobs.items():
        if job.is_forgotten:
            found.events += _ends(job)
            found.restarts += _container_restarts(name, job, max(times, default=None))
        else:
            runs += _runs(name, job)
    return FileEvidence(
        reader="kubernetes", title=_TITLE, file=opened.name, date=day_of(max(times)) if times else opened.date,
        measured=tuple(found.measured), runs=tuple(runs), events=tuple(found.events), restarts=tuple(found.restarts),
        warnings=tuple(_warnings(found)),
    )  # fmt: skip


def _add(found: _Cluster, item: Any, where: str, kind: str) -> None:
    """An object, or those of a list; a typed list (PodList) leaves the kind of its items out."""
    kind = as_text(at(item, "kind"), 40) or kind
    if kind.endswith("List"):
        prefix = f"{where}, " if where else ""
        for index, one in objects(at(item, "items")):
            inner = as_text(one.get("kind"), 40) or kind.removesuffix("List")
            if not inner.endswith("List"):
                _add(found, one, f"{prefix}items[{index}]", inner)
        return
    reader = {"Event": _add_event, "Pod": _add_pod, "JobSet": _add_jobset}.get(kind)
    most = {"Event": MOST_EVENTS, "Pod": MOST_PODS, "JobSet": MOST_JOBSETS}.get(kind, 0)
    if reader is not None:
        found.counts[kind] += 1
        if found.counts[kind] <= most:
            reader(found, as_object(item), found.opened.place(where))


def _warnings(found: _Cluster) -> Iterator[Text]:
    if found.counts["Event"]:
        yield text(
            "Kubernetes keeps events for an hour unless it is told otherwise: M does not follow from them alone. One lost node "
            "makes several events within minutes; they are one stop."
        )
    if found.ignored:
        top = ", ".join(f"{reason} {grouped(count)}" for reason, count in found.ignored.most_common(5))
        yield text("{count} events stop no training and were left out: {top}.", count=grouped(found.ignored.total()), top=top)
    if found.unplaced:
        yield text("{count} repeats have no times of their own: of each series the first and the last were taken.",
                   count=grouped(found.unplaced))  # fmt: skip
    if found.undated:
        yield text("{count} objects without a time were left out.", count=grouped(found.undated))
    if any(job.ended for job in found.jobs.values()):
        yield text("Of each container Kubernetes keeps the last end only; earlier ones are in the count of restarts.")
    if forgotten := sum(bool(job.ended) and job.is_forgotten for job in found.jobs.values()):
        yield text("Jobs of which more restarts were counted than ends are told: {count}. There the count is taken for M, and "
                   "the ends only tell causes.", count=grouped(forgotten))  # fmt: skip
    if any(job.nodes for job in found.jobs.values()):
        yield text("A job is taken to have as many nodes as its pods in this file are on.")
    for kind, most in (("Event", MOST_EVENTS), ("Pod", MOST_PODS), ("JobSet", MOST_JOBSETS)):
        if found.counts[kind] > most:
            yield text("Of {count} objects of the kind {kind} the first {most} were read.",
                       count=grouped(found.counts[kind]), kind=kind, most=grouped(most))  # fmt: skip


# ---------------------------------------------------------------- events


def _first_moment(*values: Any) -> tuple[float, bool] | None:
    return next((found for found in map(moment, values) if found is not None), None)


def _add_event(found: _Cluster, item: dict[str, Any], place: Place) -> None:
    about = as_object(item.get("involvedObject") or item.get("regarding"))
    reason, message = as_text(item.get("reason"), 60), as_text(item.get("message") or item.get("note"), 300)
    kind = _kind_of_event(reason, message)
    if kind is None:
        found.ignored[reason or "?"] += 1
        return
    first = _first_moment(
        item.get("firstTimestamp"), item.get("deprecatedFirstTimestamp"), item.get("eventTime"),
        item.get("lastTimestamp"), at(item, "metadata", "creationTimestamp"),
    )  # fmt: skip
    if first is None:
        found.undated += 1
        return
    last = _first_moment(at(item, "series", "lastObservedTime"), item.get("lastTimestamp"), item.get("deprecatedLastTimestamp"))
    count = next((number for number in map(as_count, (
        at(item, "series", "count"), item.get("count"), item.get("deprecatedCount"))) if number), 1)  # fmt: skip
    what = as_text(about.get("kind"), 40)
    on_node = as_text(about.get("name") if what == "Node" else at(item, "source", "host"), 120)
    times = [first]
    if count > 1 and last is not None and last[0] > first[0] and kind == "node":
        times.append(last)  # what repeats with a pod is one stop that goes on
        found.unplaced += count - 2
    for seconds, is_zoned in times:
        found.events.append(
            Event(seconds, kind, f"{reason} ({what})" if what else reason, place, node_names=(on_node,) if on_node else (),
                  is_zoned=is_zoned, is_partial=True)
        )  # fmt: skip


def _kind_of_event(reason: str, message: str) -> Kind | None:
    """The kind of stop that a reason names; None where nothing stops."""
    if reason == "BackOff" and "restarting" not in message:  # the same reason stands for images that are not pulled
        return None
    if reason == "TaintManagerEviction" and message.startswith("Cancelling"):
        return None
    return _REASONS.get(reason)


# ---------------------------------------------------------------- pods


def _job_of(item: dict[str, Any]) -> str:
    labels = as_object(at(item, "metadata", "labels"))
    owner = next((as_text(one.get("name"), 120) for _, one in objects(at(item, "metadata", "ownerReferences"))), "")
    named = next((as_text(labels[label], 120) for label in _JOB_LABELS if as_text(labels.get(label), 120)), "")
    return named or owner or as_text(at(item, "metadata", "name"), 120) or "?"


def _add_pod(found: _Cluster, item: dict[str, Any], place: Place) -> None:
    job = found.jobs.setdefault(_job_of(item), _Job())
    status, node = as_object(item.get("status")), as_text(at(item, "spec", "nodeName"), 120)
    if node:
        job.nodes.add(node)
    since = moment(status.get("startTime"))
    if since is not None:
        job.since_s = since[0] if job.since_s is None else min(job.since_s, since[0])
    over = _end_of_pod(status)
    for index, container in objects(status.get("containerStatuses")):
        where = Place(place.file, f"{place.where}.status.containerStatuses[{index}]".removeprefix("."))
        restarts = as_count(container.get("restartCount"), 1_000_000) or 0
        if restarts > job.restarts:
            job.restarts, job.place = restarts, where
        for key in ("lastState", "state"):
            ended, is_restart = as_object(at(container, key, "terminated")), key == "lastState"
            _add_end(job, ended, None if is_restart else over, node, where, is_restart=is_restart)
        running = moment(at(container, "state", "running", "startedAt"))
        if running is not None:
            job.running_s.append(running[0])
            job.place = job.place or where


def _end_of_pod(status: dict[str, Any]) -> tuple[Kind, str] | None:
    """Why a pod as a whole ended, where something from outside ended it: its own reason, or DisruptionTarget."""
    for _, condition in objects(status.get("conditions")):
        reason = as_text(condition.get("reason"), 60)
        if condition.get("type") == "DisruptionTarget" and condition.get("status") == "True" and reason in _ENDED:
            return _ENDED[reason], reason
    reason = as_text(status.get("reason"), 60)
    return (_ENDED[reason], reason) if reason in _ENDED else None


def _add_end(
    job: _Job, terminated: dict[str, Any], over: tuple[Kind, str] | None, node: str, place: Place, *, is_restart: bool
) -> None:
    """A container that ended; without a start and an end (a lost node leaves them empty) it cannot be placed."""
    start, end = moment(terminated.get("startedAt")), moment(terminated.get("finishedAt"))
    if start is None or end is None or end[0] < start[0]:
        return
    kind, said = over if over is not None else _kind_of_end(terminated)
    job.ended.append(_Ended(start[0], end[0], kind, said, node, place, is_restart))


def _kind_of_end(terminated: dict[str, Any]) -> tuple[Kind, str]:
    reason, code = as_text(terminated.get("reason"), 60), as_count(terminated.get("exitCode"), 255)
    said = reason or "?"
    if reason in _ENDED:
        return _ENDED[reason], said
    if code is None:
        return "unknown", said
    if code in _KILLED:  # killed from outside: by its node, by a person, or with the rest of the job
        return "unknown", f"{said}, exit code {code} ({_KILLED[code]})"
    return ("completed", reason or "exit code 0") if code == 0 else ("process", f"{said}, exit code {code}")


def _runs(name: str, job: _Job) -> Iterator[Run]:
    """One run for all containers that ended together, by the first of them; the rest were stopped by it."""
    nodes = len(job.nodes) or None
    for group in job.groups:
        first = _first(group)
        start = min(one.start_s for one in group)
        yield Run(
            name, min(start, first.end_s), first.end_s, first.kind, first.said, first.place, nodes=nodes,
            node_names=(first.node,) if first.node else (), is_zoned=True,
        )  # fmt: skip
    if job.running_s and job.place is not None:
        start = max(job.running_s)
        yield Run(name, start, None, "open", "Running", job.place, nodes=nodes, is_zoned=True)  # until the file was written


def _first(group: list[_Ended]) -> _Ended:
    """The one by which the others of its group ended."""
    return next((one for one in group if one.kind != "completed"), group[0])


def _ends(job: _Job) -> Iterator[Event]:
    """The ends that are told where most are forgotten: they tell causes, and are no count."""
    for first in map(_first, job.groups):
        if first.kind in COUNTED:
            names = (first.node,) if first.node else ()
            yield Event(first.end_s, first.kind, first.said, first.place, node_names=names, is_zoned=True, is_partial=True)


def _container_restarts(name: str, job: _Job, last_s: float | None) -> Iterator[Restarts]:
    """What Kubernetes counts where more ended than it tells the times of; of what still runs, up to the file's last moment."""
    if job.since_s is not None and job.place is not None:
        notes = [text("Restarts of one container in its pod, counted by Kubernetes; only the last of them has times.")]
        until = last_s
        if job.running_s:
            notes.append(text("It still runs: its age is counted up to the last moment in this file, and may be longer."))
        else:
            until = max((one.end_s for one in job.ended), default=None)
        yield Restarts(name, job.restarts, job.since_s, until, job.place, len(job.nodes) or None, tuple(notes))


# ---------------------------------------------------------------- JobSets


def _add_jobset(found: _Cluster, item: dict[str, Any], place: Place) -> None:
    status, since = as_object(item.get("status")), moment(at(item, "metadata", "creationTimestamp"))
    restarts, towards = as_count(status.get("restarts")) or 0, as_count(status.get("restartsCountTowardsMax"))
    name, nodes = as_text(at(item, "metadata", "name"), 120) or "?", _pods_of(item)
    if since is None:
        found.undated += 1
        return
    notes = [text("A count without times: M is its age over the count.")]
    if towards is not None and towards < restarts:
        notes.append(
            text(
                "{count} more restarts do not count towards its limit, by its failure policy, and are taken as planned.",
                count=restarts - towards,
            )
        )
    over = next(
        (moment(one.get("lastTransitionTime")) for _, one in objects(status.get("conditions"))
         if one.get("type") in ("Completed", "Failed") and one.get("status") == "True"), None,
    )  # fmt: skip
    until = over[0] if over is not None and over[0] > since[0] else None
    if until is None:
        notes.append(text("It is still there: its age is counted up to the day of the file."))
    count = restarts if towards is None else min(towards, restarts)
    found.restarts.append(Restarts(name, count, since[0], until, place, nodes, tuple(notes)))
    if nodes:
        note = text("Pods of its largest job, taken as one on each node.")
        where = Place(place.file, f"{place.where}.spec.replicatedJobs".removeprefix("."))
        found.measured.append(Measured("nodes", (float(nodes),), where, notes=(note,)))


def _pods_of(item: dict[str, Any]) -> int | None:
    """Pods of the largest of its jobs: replicas x parallelism, or completions where these are fewer."""
    sizes = []
    for _, job in objects(at(item, "spec", "replicatedJobs")):
        spec = as_object(at(job, "template", "spec"))
        parallelism, completions = as_count(spec.get("parallelism"), 1_000_000), as_count(spec.get("completions"), 1_000_000)
        pods = min((one for one in (parallelism, completions) if one), default=1)
        replicas = as_count(job.get("replicas"), 100_000)
        sizes.append((1 if replicas is None else replicas) * pods)
    return max(sizes, default=0) or None


READERS: tuple[Reader, ...] = (Reader("kubernetes", _TITLE, _knows, _read),)
