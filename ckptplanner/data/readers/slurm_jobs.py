"""What Slurm's accounting means: tries of jobs, however they were written, become runs.

    slurm.py (text, events), slurm_json.py  ->  Try, one for each run of a job  ->  Runs, warnings

Source: Slurm 22.05.8 (ran: sacct, sacctmgr), 284c3b95 (26.11rc, read), its pages "sacct" and "Job State Codes".
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta

from ckptplanner.data.evidence import COUNTED, FileEvidence, Kind, Run
from ckptplanner.data.readers.errors import printable
from ckptplanner.data.readers.source import Opened
from ckptplanner.data.readers.tables import EPOCH, since_1970_s, stamp
from ckptplanner.text import Text, text
from ckptplanner.units import HOUR

TRIES_CAP = 100_000
NODES_CAP = 100_000  # names in one list
NAMES_CAP = 1_000_000  # in one file; the lists after that are counted only
LATEST_S = 1e11  # a later end is no time
COLUMNS = "JobIDRaw,JobID,JobName,State,Submit,Eligible,Start,End,ElapsedRaw,NNodes,NodeList"
COMMAND = f"sacct -D -P -a -S 2026-01-01 -o {COLUMNS}"

STATES: dict[str, Kind] = {
    "NODE_FAIL": "node", "BOOT_FAIL": "node", "LAUNCH_FAILED": "node", "RECONFIG_FAIL": "node",
    "OUT_OF_MEMORY": "process", "FAILED": "process", "SPECIAL_EXIT": "process",
    "PREEMPTED": "preempted",
    "TIMEOUT": "limit", "DEADLINE": "limit",
    "CANCELLED": "cancelled", "REVOKED": "cancelled",
    "REQUEUED": "unknown", "REQUEUE_HOLD": "unknown", "REQUEUE_FED": "unknown",
    "COMPLETED": "completed", "RESIZING": "completed",  # a job of another size goes on in a row of its own
    "RUNNING": "open", "SUSPENDED": "open", "COMPLETING": "open", "CONFIGURING": "open", "STOPPED": "open",
    "SIGNALING": "open", "STAGE_OUT": "open",
}  # fmt: skip
WAITING = frozenset({"PENDING", "RESV_DEL_HOLD", "POWER_UP_NODE"})

_PART = re.compile(r"(?:[^,\[\]\s]|\[[^\[\]]*\])+")
_RANGE = re.compile(r"(\d{1,9})(?:-(\d{1,9}))?")
_NODE = re.compile(r"(?!\d+\.\d+\.\d+\.\d+$)[A-Za-z0-9_.\-]{1,255}")
_ELAPSED = re.compile(r"(?:(\d{1,6})-)?(?:(\d{1,4}):)?(\d{1,4}):(\d{2})(?:\.\d+)?")


@dataclass(frozen=True, slots=True)
class Try:
    """One run of a job as a row says it; times in seconds since 1970, None where the row has none."""

    key: str  # the same for all tries of a job, and no other job's
    id: str  # as people write it: 1, 3_2, 6+0
    name: str
    state: str  # without the id of who cancelled it
    where: str
    start_s: float | None = None
    end_s: float | None = None
    submit_s: float | None = None
    eligible_s: float | None = None
    elapsed_s: float | None = None
    nodes: int | None = None
    node_names: tuple[str, ...] = ()
    failed_node: str = ""
    restarts: int = 0
    leader: str = ""  # of a heterogeneous job, whose parts start and end together
    is_zoned: bool = False


@dataclass(slots=True)
class Found:
    """What a file held besides the tries, and the lists of nodes that were written out."""

    has_restarts: bool = False
    left_out: int = 0
    first_left_out: str = ""
    is_capped: bool = False
    names_left: int = NAMES_CAP
    lists: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def nodes(self, words: str) -> tuple[str, ...]:
        """The nodes of a list; none once the file has named too many."""
        if words not in self.lists:
            names = expand_nodes(words)
            names = names if len(names) <= self.names_left else ()
            self.names_left -= len(names)
            self.lists[words] = names
        return self.lists[words]

    def leave_out(self, where: str) -> None:
        """A row that cannot be read."""
        self.left_out += 1
        self.first_left_out = self.first_left_out or where


def moment(cell: str) -> tuple[float, bool] | None:
    """Seconds since 1970 and whether a zone is known, of 2026-11-29T14:00:30 or epoch seconds; None for Unknown, None, "".

    [s], between 1970 and the year 5138.
    """
    if cell.isdecimal() and cell.isascii():
        at_s, zoned = (float(cell) if len(cell) <= 12 else LATEST_S), True
    elif (time := stamp(cell)) is not None:
        at_s, zoned = since_1970_s(time), time.tzinfo is not None
    else:
        return None
    return (at_s, zoned) if 0 < at_s < LATEST_S else None


def elapsed_s(cell: str) -> float | None:
    """Seconds of ElapsedRaw (38) or Elapsed (1-02:03:04), None for anything else. [s]"""
    if cell.isdecimal() and cell.isascii():
        return float(cell) if len(cell) <= 10 else None
    found = _ELAPSED.fullmatch(cell)
    if found is None:
        return None
    days, hours, minutes, seconds = (int(part or 0) for part in found.groups())
    return days * 86400.0 + hours * 3600.0 + minutes * 60.0 + seconds


def expand_nodes(words: str) -> tuple[str, ...]:
    """The nodes of a Slurm list such as gpu-[001-004,007],rack[1-2]n[3-4]; none where it is no such list or too long."""
    parts = _PART.findall(words)
    if ",".join(parts) != words or len(words) > 1_000_000:
        return ()
    names: list[str] = []
    for part in parts:
        pieces = [_numbers(piece) if odd % 2 else [piece] for odd, piece in enumerate(re.split(r"\[([^\[\]]*)\]", part))]
        count = len(names)
        total = 1
        for piece in pieces:
            total *= len(piece)
        if not 0 < total <= NODES_CAP - count:
            return ()
        names += map("".join, itertools.product(*pieces))
    return tuple(names) if all(map(_NODE.fullmatch, names)) else ()


def _numbers(ranges: str) -> list[str]:
    """001-003,007 -> 001, 002, 003, 007; empty where it is something else."""
    numbers: list[str] = []
    for part in ranges.split(","):
        found = _RANGE.fullmatch(part.strip())
        if found is None:
            return []
        low, high = int(found[1]), int(found[2] or found[1])
        if not 0 <= high - low < NODES_CAP - len(numbers):
            return []
        numbers += [str(number).zfill(len(found[1])) for number in range(low, high + 1)]
    return numbers


def whole_number(cell: str) -> int | None:
    """A count as it stands, None for anything else."""
    return int(cell) if cell.isdecimal() and cell.isascii() and len(cell) <= 9 else None


def words_of(cell: str) -> str:
    """A name from the file, short and printable."""
    return printable("".join(letter for letter in cell if letter.isprintable()).strip())[:120]


def evidence(opened: Opened, reader: str, title: Text, tries: Sequence[Try], found: Found) -> FileEvidence:
    """Runs, and what is to be known about them. What lies between them depends on what counts: engine/restart_parts.py.

    Raises:
        ReaderError: the file shows only the last try of jobs that were requeued.
    """
    warnings = _check_duplicates(opened, tries, found)
    kept, repeated = _without_repeats(tries)
    started = [one for one in (_complete(one, found) for one in kept) if one is not None]
    stale = _stale(started)
    gone = {one.where for one in stale}
    whole = _joined(one for one in started if (one.end_s is not None or _kind(one) == "open") and one.where not in gone)
    whole.sort(key=lambda one: (one.start_s, LATEST_S if one.end_s is None else one.end_s))
    last_s = max((at for one in whole for at in (one.start_s, one.end_s, one.submit_s) if at is not None), default=0.0)
    clusters = {one.key.partition("|")[0] for one in whole}
    runs = tuple(_run(opened, one, last_s, len(clusters) > 1) for one in whole)
    warnings += _warnings(kept, whole, found, repeated)
    endless = sum(1 for one in started if one.end_s is None and _kind(one) != "open")
    if endless:
        warnings.append(text("{count} runs have ended, but their end is not known: they were left out.", count=endless))
    if stale:
        warnings.append(text(
            "{count} runs are said to go on although a later try of the same job began; they were left out, the first is "
            "{first} (job {id}). 'sacctmgr show runawayjobs' shows them.",
            count=len(stale), first=stale[0].where, id=stale[0].id,
        ))  # fmt: skip
    date = day_of(last_s) or opened.date
    return FileEvidence(reader, title, opened.name, date, runs=runs, warnings=tuple(warnings))


def day_of(at_s: float) -> str:
    """YYYY-MM-DD, empty for the year 1970's first second."""
    return f"{EPOCH + timedelta(seconds=at_s):%Y-%m-%d}" if at_s > 0 else ""


def _kind(one: Try) -> Kind:
    return STATES.get(one.state, "unknown")


def _check_duplicates(opened: Opened, tries: Sequence[Try], found: Found) -> list[Text]:
    """Whether requeued jobs are there with all their tries, which takes sacct -D."""
    rows = Counter(one.key for one in tries)
    missing = {one.key: one for one in tries if one.restarts >= rows[one.key]}
    if not tries or (not missing and (found.has_restarts or max(rows.values()) > 1)):
        return []
    if not missing:
        return [text(
            "No job is there twice and there is no column Restarts: without -D, sacct shows only the last try of a requeued "
            "job, and its interruptions are missing. Write it with {command}.", command=COMMAND,
        )]  # fmt: skip
    one = next(iter(missing.values()))
    if max(rows.values()) == 1:
        raise opened.refuse(
            f"{one.where}: job {one.id} was restarted {one.restarts} times, but only its last try is there; write the file "
            f"with -D: {COMMAND}"
        )
    return [text(
        "{count} jobs were restarted more often than there are rows for them (job {id}: {restarts} times): their first tries "
        "are missing.", count=len(missing), id=one.id, restarts=one.restarts,
    )]  # fmt: skip


def _without_repeats(tries: Sequence[Try]) -> tuple[list[Try], int]:
    """The tries without those that are there twice, as where two files were put together."""
    kept = {(one.key, one.state, one.start_s, one.end_s): one for one in reversed(tries)}
    ordered = list(reversed(kept.values()))
    return ordered, len(tries) - len(ordered)


def _complete(one: Try, found: Found) -> Try | None:
    """The try with its start and, from Elapsed, its end; None where it never started or its times make no sense."""
    start, end = one.start_s, one.end_s
    if one.state in WAITING:
        return None
    if one.elapsed_s is not None:
        if start is None and end is not None and one.elapsed_s > 0:
            start = end - one.elapsed_s
        elif start is not None and end is None and _kind(one) != "open":
            end = start + one.elapsed_s
    if start is None:
        return None
    if start <= 0 or (end is not None and not start <= end < LATEST_S):
        found.leave_out(one.where)
        return None
    return replace(one, start_s=start, end_s=end)


def _stale(tries: Sequence[Try]) -> list[Try]:
    """Open runs that a later try of the same job shows to be over: when they ended was lost."""
    latest: dict[str, float] = {}
    for one in tries:
        latest[one.key] = max(one.start_s or 0.0, latest.get(one.key, 0.0))
    return [one for one in tries if one.end_s is None and _kind(one) == "open" and (one.start_s or 0.0) < latest[one.key]]


def _joined(tries: Iterable[Try]) -> list[Try]:
    """The parts of a heterogeneous job as one try with all their nodes."""
    kept: list[Try] = []
    at: dict[tuple[str, float | None], int] = {}
    for one in tries:
        place = (one.leader, one.start_s)
        if not one.leader or place not in at:
            at[place] = len(kept)
            kept.append(one)
            continue
        first = kept[at[place]]
        nodes = None if first.nodes is None or one.nodes is None else first.nodes + one.nodes
        worse = one if _kind(one) in COUNTED and _kind(first) not in COUNTED else first
        kept[at[place]] = replace(first, nodes=nodes, node_names=first.node_names + one.node_names, state=worse.state)
    return kept


def _run(opened: Opened, one: Try, last_s: float, is_of_several: bool) -> Run:
    is_open = one.end_s is None
    start = one.start_s or 0.0
    elapsed, end = one.elapsed_s or 0.0, start if is_open else one.end_s or start
    seen = start + elapsed if elapsed else max(last_s, start)
    return Run(
        job=one.name or f"job {one.id}",
        start_s=start,
        end_s=one.end_s,
        kind="open" if is_open else "unknown" if _kind(one) == "open" else _kind(one),
        said=f"{one.state} ({one.failed_node})" if one.failed_node else one.state,
        place=opened.place(f"{one.where} (job {one.id})"),
        nodes=one.nodes or len(one.node_names) or None,
        node_names=one.node_names,
        eligible_s=one.eligible_s,
        seen_until_s=seen if is_open else None,
        is_zoned=one.is_zoned,
        job_id=f"{one.key.partition('|')[0]}/{one.id}" if is_of_several else one.id,
        submit_s=one.submit_s,
        back_s=HOUR * round((elapsed - (end - start)) / HOUR) if _is_shifted(one) else 0.0,
    )


def _warnings(tries: Sequence[Try], whole: Sequence[Try], found: Found, repeated: int) -> Iterator[Text]:
    """What the user should know of the rows."""
    if found.left_out:
        yield text(
            "{count} rows were left out because they could not be read; the first is {first}.",
            count=found.left_out,
            first=found.first_left_out,
        )
    if found.is_capped:
        yield text("Only the first {count} runs were read.", count=f"{TRIES_CAP:,}")
    if repeated:
        yield text("{count} rows were there twice and count once.", count=repeated)
    if not whole:
        yield text("No job in it has started.")
    strange = sorted({one.state for one in tries if one.state not in STATES and one.state not in WAITING})
    if strange:
        yield text("States that are not known here count as stops without a cause: {states}.", states=", ".join(strange[:5]))
    shifted = sum(1 for one in whole if _is_shifted(one))
    if shifted:
        yield text(
            "The clocks were changed during {count} runs, and the times have no zone: how long these ran is taken from "
            "Elapsed. For moments that are right too write the file with SLURM_TIME_FORMAT=%s.",
            count=shifted,
        )


def _is_shifted(one: Try) -> bool:
    """Whether end and start are an hour nearer or farther than the run was long: the clocks were changed in between."""
    if one.is_zoned or one.start_s is None or one.end_s is None or not one.elapsed_s:
        return False
    return abs(abs(one.end_s - one.start_s - one.elapsed_s) - HOUR) <= 2.0
