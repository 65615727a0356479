"""What Slurm wrote down when nodes went down and runs were ended: `sacctmgr show event`, slurmctld.log, a job's stderr.

    Cluster|NodeName|TimeStart|TimeEnd|State|Reason|User                       sacctmgr show event -P
    [2026-11-30T01:32:08.964] error: Nodes gpu-003 not responding, setting DOWN               slurmctld.log
    slurmstepd-gpu-004: error: *** JOB 2 ON gpu-004 CANCELLED AT ... DUE TO TIME LIMIT ***    stderr of a job

Source: Slurm 22.05.8 (ran); the words for ended steps as in slurmstepd's req.c. Reasons that people typed stay in the file.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial

from ckptplanner.data.evidence import Event, FileEvidence, Kind, Place
from ckptplanner.data.readers.slurm_jobs import Found, day_of, moment
from ckptplanner.data.readers.source import Head, Opened, Reader
from ckptplanner.data.readers.tables import heading_words
from ckptplanner.text import Text, text

EVENTS_CAP = 100_000

_NODES_TITLE = text("Slurm node events (sacctmgr show event)")
_LOG_TITLE = text("Slurm controller log or job errors")
_LOGGED = re.compile(r"\[(\d{4}-\d\d-\d\dT[0-9:.+\-Z]{8,30})\] (.*)")
_DOWN = re.compile(r"error: Nodes (\S+) not responding, setting DOWN")
_REBOOTED = re.compile(r"(?:.*: )?Node (\S+) unexpectedly rebooted")
_ON_NODE = re.compile(r"(?:Killing|requeue job) (?:JobId=)?(\d+)\S* (?:on failed node|due to failure of node) (\S+)")
_LIMIT = re.compile(r"Time limit exhausted for (?:JobId=)?(\d+)")
_TAKEN = re.compile(r"preempted (?:job |JobId=)?(\d+)\S* has been ")
_STEPD = re.compile(r"\*\*\* (?:JOB|STEP) (\d+)\S* ON (\S+) CANCELLED AT (\S+)(?: DUE TO ([A-Z ]{3,30}))?(?:,[^*]*)? ?\*\*\*")
_CAUSES: Mapping[str, Kind] = {
    "TIME LIMIT": "limit",
    "PREEMPTION": "preempted",
    "NODE FAILURE": "node",
    "JOB REQUEUE": "unknown",
    "": "cancelled",
}
_SIGNS = re.compile(
    r"_slurm_rpc_\w+: |_job_complete: JobId=|sched: Allocate JobId=|sched/backfill: |slurmctld version |update_node: node |"
    + "|".join(part.pattern for part in (_DOWN, _ON_NODE, _LIMIT, _TAKEN))
)
_TRAINING = ("elapsed time per iteration", "saving checkpoint at", "[titan]")  # a training log that Slurm wrote into

# what Slurm itself gives as the reason, in lower case
_OWN_REASONS = (
    "not responding", "node unexpectedly rebooted", "kill task failed", "prolog error", "epilog error",
    "batch job complete failure", "low realmemory", "low tmpdisk", "low socket", "low cpus", "gres/", "duplicate jobid",
    "resumetimeout reached", "health check failed", "nhc",
)  # fmt: skip
_DOWN_STATES = frozenset({"DOWN", "FAIL", "FAILING", "FAILED", "ERROR", "NO_RESPOND", "NOT_RESPONDING"})
_DRAIN_STATES = frozenset({"DRAIN", "DRAINED", "DRAINING", "DRNG"})


def event_of_line(line: str, place: Callable[[], Place], found: Found) -> Event | None:
    """The event that a line of slurmctld.log or of a job's stderr tells of, None for all other lines.

    Other readers of logs may use it for the lines that Slurm writes into a job's own output. `found` bounds the names.
    """
    if "*** " in line:
        ended = _STEPD.search(line)
        return _ended_step(ended, place(), found) if ended else None
    if not line.startswith("[") or (logged := _LOGGED.match(line)) is None:
        return None
    at = moment(logged[1])
    told = _told(logged[2]) if at is not None else None
    if at is None or told is None:
        return None
    kind, said, nodes = told
    return Event(at[0], kind, said, place(), node_names=found.nodes(nodes), is_zoned=at[1])


def _told(words: str) -> tuple[Kind, str, str] | None:
    """Kind, in the words of the file, and list of nodes, of what stands behind the time in slurmctld.log."""
    if found := _DOWN.match(words):
        return "node", "not responding, setting DOWN", found[1]
    if found := _ON_NODE.match(words):
        return "node", f"job {found[1][:12]} on a failed node", found[2]
    if found := _REBOOTED.match(words):
        return "node", "unexpectedly rebooted", found[1]
    if found := _LIMIT.match(words):
        return "limit", f"time limit of job {found[1][:12]}", ""
    if found := _TAKEN.match(words):
        return "preempted", f"job {found[1][:12]} was preempted", ""
    return None


def _ended_step(ended: re.Match[str], place: Place, found: Found) -> Event | None:
    """The line with which slurmstepd ends a job or a step."""
    at = moment(ended[3])
    if at is None:
        return None
    cause = (ended[4] or "").strip()
    said = f"job {ended[1][:12]}: {cause or 'CANCELLED'}"
    return Event(at[0], _CAUSES.get(cause, "unknown"), said, place, node_names=found.nodes(ended[2]), is_zoned=at[1])


@dataclass
class _Log:
    """Events so far, and what each was about: steps and jobs, and several lines about one node, are one event."""

    events: list[Event] = field(default_factory=list)
    seen: set[tuple[str, int, object]] = field(default_factory=set)
    is_capped: bool = False

    def add(self, event: Event) -> None:
        """One more, unless it was told before."""
        about: object = event.node_names if event.kind == "node" else event.said
        key = (event.kind, int(event.at_s), about)
        if key in self.seen:
            return
        if len(self.events) >= EVENTS_CAP:
            self.is_capped = True
            return
        self.seen.add(key)
        self.events.append(event)


def _knows_log(head: Head) -> bool:
    if any(map(head.has, _TRAINING)):
        return False
    logged = (_LOGGED.match(line) for line in head.lines)
    return any(one is not None and _SIGNS.match(one[2]) for one in logged) or any(map(_STEPD.search, head.lines))


def _read_log(opened: Opened) -> FileEvidence:
    log, found = _Log(), Found()
    for number, line in opened.lines():
        if "Job" not in line and "ode" not in line and "***" not in line:
            continue
        event = event_of_line(line, partial(opened.place, f"line {number}"), found)
        if event is not None:
            log.add(event)
    warnings = [] if log.events else [text("No node went down in it, and no run was ended.")]
    return _evidence(opened, "slurm-log", _LOG_TITLE, log, warnings)


def _evidence(opened: Opened, reader: str, title: Text, log: _Log, warnings: list[Text]) -> FileEvidence:
    if log.is_capped:
        warnings.append(text("Only the first {count} events were read.", count=f"{EVENTS_CAP:,}"))
    last_s = max((event.at_s for event in log.events), default=0.0)
    return FileEvidence(
        reader, title, opened.name, day_of(last_s) or opened.date, events=tuple(log.events), warnings=tuple(warnings)
    )  # fmt: skip


# ---------------------------------------------------------------- sacctmgr show event


def _node_heading(line: str) -> list[str] | None:
    words = heading_words(line.split("|"))
    return words if {"nodename", "timestart", "state"} <= set(words) else None


def _knows_nodes(head: Head) -> bool:
    return any(_node_heading(line) is not None for line in head.lines[:10])


def _read_nodes(opened: Opened) -> FileEvidence:
    log, found, by_hand = _Log(), Found(), 0
    words: list[str] = []
    for number, line in opened.lines():
        if (heading := _node_heading(line)) is not None:
            words = heading
            continue
        cells = line.split("|")
        if not words or not line.strip():
            continue
        if len(cells) != len(words):
            found.leave_out(f"line {number}")
            continue
        row = dict(zip(words, cells, strict=True))
        states = set(re.findall(r"[A-Z_]+", row["state"].upper()))
        if not row["nodename"] or not states & (_DOWN_STATES | _DRAIN_STATES):
            continue  # the cluster as a whole, or the controller's own start (UNK, cold-start)
        reason = _reason(row.get("reason", ""))
        if not reason and not states & _DOWN_STATES:
            by_hand += 1
            continue
        event = _node_event(row, states, reason, opened.place(f"line {number}"), found)
        if event is None:
            found.leave_out(f"line {number}")
        else:
            log.add(event)
    return _evidence(opened, "slurm-events", _NODES_TITLE, log, list(_node_warnings(found, by_hand)))


def _reason(cell: str) -> str:
    """Slurm's own words in a reason; empty where a person wrote it."""
    return next((own for own in _OWN_REASONS if cell.casefold().startswith(own)), "")


def _node_event(row: Mapping[str, str], states: set[str], reason: str, place: Place, found: Found) -> Event | None:
    start, end = moment(row["timestart"]), moment(row.get("timeend", ""))
    if start is None:
        return None
    state = next(iter(sorted(states & _DOWN_STATES) or sorted(states & _DRAIN_STATES)))
    return Event(
        at_s=start[0],
        kind="node",
        said=f"{state} ({reason})" if reason else state,
        place=place,
        node_names=found.nodes(row["nodename"]),
        downtime_s=end[0] - start[0] if end is not None and end[0] >= start[0] else None,
        is_zoned=start[1],
    )


def _node_warnings(found: Found, by_hand: int) -> Iterator[Text]:
    yield text("These are all nodes that went down, not only those of your job.")
    if by_hand:
        yield text("Nodes that a person drained, left out because a job on them runs on: {count}.", count=by_hand)
    if found.left_out:
        yield text(
            "Rows that could not be read, left out: {count}; the first is {first}.",
            count=found.left_out,
            first=found.first_left_out,
        )


READERS: tuple[Reader, ...] = (
    Reader("slurm-events", _NODES_TITLE, _knows_nodes, _read_nodes),
    Reader("slurm-log", _LOG_TITLE, _knows_log, _read_log),
)
