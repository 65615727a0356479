"""What the user's files say, as it stands there: measurements, runs, events and facts, each with its place. No estimates.

    reader      one file or folder -> FileEvidence        (data/readers/, one file a family)
    engine      many FileEvidence  -> estimates           (engine/evidence.py)

Times of day are seconds since 1970 (UTC where the file names a zone, else as the file has them: `is_zoned` tells).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from ckptplanner.text import Text, text
from ckptplanner.units import (
    BYTES,
    BYTES_PER_PARAM,
    BYTES_PER_S,
    COUNT,
    FRACTION,
    PARAMS,
    SECONDS,
    Unit,
)

Typical = Literal["median", "mean", "newest"]


@dataclass(frozen=True, slots=True)
class Place:
    """Where in the user's files something stands."""

    file: str  # relative to what was given, printable
    where: str = ""  # "line 12", "jobs[0].write.bw_bytes", "iter_0001000/.metadata"; empty: the file as a whole

    def __str__(self) -> str:
        return f"{self.file}, {self.where}" if self.where else self.file


@dataclass(frozen=True, slots=True)
class Quantity:
    """Something that files can tell: its name, unit, the field that it settles, and which of many values stands for it."""

    id: str
    title: Text
    unit: Unit
    path: str | None  # a field of the scenario; None: shown, and used for others
    typical: Typical = "median"


def _quantities(*rows: Quantity) -> Mapping[str, Quantity]:
    return {row.id: row for row in rows}


QUANTITIES: Mapping[str, Quantity] = _quantities(
    # a save: C stops training; t is from the start of the save until it can be restored; t_w = t - C (t where sync)
    Quantity("stop", text("Stop time"), SECONDS, "storage.blocking_s"),
    Quantity("restorable", text("Restorable after"), SECONDS, None),
    Quantity("write", text("Write time"), SECONDS, "storage.write_s"),
    Quantity("interval", text("Interval"), SECONDS, "storage.interval_s"),
    Quantity("background_loss", text("Background loss"), SECONDS, "storage.background_loss_s"),
    Quantity("slowdown", text("Background slowdown"), FRACTION, "storage.slowdown_fraction"),
    Quantity("local_stop", text("Stop time of local saves"), SECONDS, "local.blocking_s"),
    Quantity("local_write", text("Write time of local saves"), SECONDS, "local.durable_s"),
    Quantity("local_interval", text("Interval of local saves"), SECONDS, "local.interval_s"),
    Quantity("step", text("Step time"), SECONDS, "workload.step_s"),
    # a restart
    Quantity("detect", text("Detect"), SECONDS, "failures.detect_s"),
    Quantity("reschedule", text("Reschedule"), SECONDS, "failures.reschedule_s"),
    Quantity("start", text("Start"), SECONDS, "failures.start_s"),
    Quantity("restore_read", text("Read the checkpoint"), SECONDS, None),
    Quantity("restart", text("Training again in"), SECONDS, None),  # all parts together
    Quantity("lost_steps", text("Steps done twice"), COUNT, None),
    Quantity("queue", text("Wait after a planned stop"), SECONDS, "planned.queue_s"),
    # sizes
    Quantity("checkpoint", text("Measured checkpoint"), BYTES, "workload.measured_bytes", "newest"),
    Quantity("bytes_per_param", text("Saved for each parameter"), BYTES_PER_PARAM, "workload.bytes_per_param", "newest"),
    Quantity("params", text("Parameters"), PARAMS, "workload.total_params", "newest"),
    Quantity("generations", text("Complete generations on disk"), COUNT, None, "newest"),
    Quantity("nodes", text("Nodes"), COUNT, "workload.nodes", "newest"),
    # rates
    Quantity("writes_at", text("Storage writes at"), BYTES_PER_S, "storage.custom.write_bytes_per_s", "mean"),
    Quantity("reads_at", text("Storage reads at"), BYTES_PER_S, "storage.custom.read_bytes_per_s", "mean"),
    Quantity("drives_write", text("Drives write at"), BYTES_PER_S, "datapath.nvme_write_bytes_per_s", "mean"),
    Quantity("drives_read", text("Drives read at"), BYTES_PER_S, "datapath.nvme_read_bytes_per_s", "mean"),
    Quantity("copy", text("One GPU copies to host memory at"), BYTES_PER_S, "datapath.copy_bytes_per_s", "mean"),
    Quantity("exchange", text("Nodes exchange at"), BYTES_PER_S, None, "mean"),  # per node; a collective, not a storage path
    Quantity("shared_load", text("Other load on the file system"), BYTES_PER_S, "shared.load_bytes_per_s", "mean"),
)

# why a run ended, or what an event was
Kind = Literal["node", "process", "cluster", "preempted", "unknown", "cancelled", "limit", "completed", "open"]
KIND_TITLES: Mapping[str, Text] = {
    "node": text("node failed"),
    "process": text("process failed"),
    "cluster": text("many nodes or storage failed"),
    "preempted": text("taken away"),
    "unknown": text("stopped, cause unknown"),
    "cancelled": text("cancelled"),
    "limit": text("time limit"),
    "completed": text("completed"),
    "open": text("still running"),
}
COUNTED: frozenset[str] = frozenset(
    {"node", "process", "cluster", "preempted", "unknown"}
)  # interruptions, until the user says


@dataclass(frozen=True, slots=True)
class Question:
    """What a file leaves open about a measurement: which quantity its times are."""

    id: str  # the same question in several files has the same id
    words: Text
    choices: tuple[tuple[str, Text], ...]  # a quantity's id, and what it means
    suggested: str = ""  # a quantity's id, or empty: it must be asked


@dataclass(frozen=True, slots=True)
class Measured:
    """Values of one quantity from one file, in the order of the file and in the quantity's own unit (SI)."""

    quantity: str  # an id of QUANTITIES; with a question: what it is until that is answered, "" for nothing
    values: tuple[float, ...]
    place: Place  # of the first value, or of the key
    at_s: tuple[float, ...] = ()  # when each was measured, where the file says; else empty
    notes: tuple[Text, ...] = ()  # what is to be known of these values: approximate, from cache, one node only
    is_doubtful: bool = False  # from a page cache for example: shown, but not proposed
    question: Question | None = None
    nodes: int | None = None  # that took part, where the file says: a rate of one node is not that of the job
    is_of_all: bool = False  # what all nodes together moved, however many: counted by the file system itself


@dataclass(frozen=True, slots=True)
class Run:
    """One run of a job on its nodes, from start to end."""

    job: str  # a name or an id, the same for all tries of a job
    start_s: float
    end_s: float | None  # None: still running when the file was written, or not known
    kind: Kind
    said: str  # in the words of the file: "NODE_FAIL", "CANCELLED by 1000"
    place: Place
    nodes: int | None = None
    node_names: tuple[str, ...] = ()
    eligible_s: float | None = None  # when it could have started: the rest was waiting for nodes
    seen_until_s: float | None = None  # for an open run: the last moment the file knows of
    first_step_s: float | None = None  # when training went on, where the file says
    is_zoned: bool = False
    is_from_log: bool = False  # start and end are lines of a training log: who started it and noticed its end is not heard
    job_id: str = ""  # of a scheduler: the same for all tries, where `job` is a name that others may have too
    submit_s: float | None = None  # when a person or a script asked for it
    back_s: float = 0.0  # the clock was set back by this while it ran (below 0: ahead): it ran longer than end less start


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened at one moment; whether a run ended by it the file does not say."""

    at_s: float
    kind: Kind
    said: str
    place: Place
    nodes: int | None = None  # how many the job or the system has
    node_names: tuple[str, ...] = ()  # where it happened
    downtime_s: float | None = None
    is_zoned: bool = False
    is_partial: bool = False  # from a record that soon forgets: events of this kind alone are no count of interruptions
    system: str = ""  # of a table of several systems: one is looked at, as one job is


@dataclass(frozen=True, slots=True)
class Restarts:
    """A count of restarts without their times: M is age over count, with that caveat."""

    job: str
    count: int
    since_s: float
    until_s: float | None
    place: Place
    nodes: int | None = None
    notes: tuple[Text, ...] = ()


@dataclass(frozen=True, slots=True)
class Fact:
    """A value that the file states rather than measures: a file system, a kind of node, a price, a setting."""

    path: str | None  # a field of the scenario, or a compound path that engine/edits.py takes; None: for reading only
    title: Text
    value: Any  # what engine/edits.py takes at that path
    place: Place
    shown: str = ""  # the value in words where it is no number with a unit
    unit: Unit | None = None
    notes: tuple[Text, ...] = ()
    only_for: tuple[tuple[str, str], ...] = ()  # it holds only where the scenario has these: the node and region of a price


@dataclass(frozen=True, slots=True)
class FileEvidence:
    """Everything that one file or folder says."""

    reader: str  # the reader's id
    title: Text  # what kind of file it is: "Slurm accounting (sacct)"
    file: str  # as in Place.file
    date: str = ""  # YYYY-MM-DD of what it describes, else of the file
    measured: tuple[Measured, ...] = ()
    runs: tuple[Run, ...] = ()
    events: tuple[Event, ...] = ()
    restarts: tuple[Restarts, ...] = ()
    facts: tuple[Fact, ...] = ()
    warnings: tuple[Text, ...] = ()  # a trap that this file fell into; the values stand, but the user should know


@dataclass(frozen=True, slots=True)
class Gathered:
    """What was found in files and folders, and what could not be used."""

    files: tuple[FileEvidence, ...] = ()
    refused: tuple[tuple[str, str], ...] = ()  # file, one sentence
    unknown: tuple[str, ...] = ()  # files that no reader knows, in part
    unknown_count: int = 0
    notes: tuple[Text, ...] = ()  # for example: only the first 20,000 files were looked at
    tables: tuple[str, ...] = ()  # of those refused: tables that can be read once their columns are named
    places: Mapping[str, Path] = field(default_factory=dict, hash=False)  # where each file is, by the name it has here
