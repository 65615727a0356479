"""What the readers of benchmarks share: numbers as they stand in files, notes on page caches, and what was written to.

A benchmark's file names a path at most; whether that is the shared file system or a drive of the node is asked.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal

from ckptplanner.data.evidence import Measured, Place, Question
from ckptplanner.data.readers.errors import printable
from ckptplanner.data.readers.json_values import as_list, day_of
from ckptplanner.text import Text, text

LARGEST = 1e18  # of a rate in B/s, a size in B or a time in s: above it a file is damaged
EARLIEST_S, LATEST_S = 946_684_800.0, 4_102_444_800.0  # 2000 and 2100
MOUNTS = frozenset({"mnt", "media", "dev", "run"})  # what stands below is a mount point, not the name of a person

Kind = Literal["shared", "drives", ""]

ONE_NODE = text("Measured from one node: what all nodes together get is not in this file.")
NODES_UNKNOWN = text("How many nodes took part is not in this file.")
NO_FLUSH = text("Written without direct I/O and without a flush at the end: a page cache may have taken it.")
READ_CACHED = text("Read without direct I/O: it may come from a page cache.")


def number(value: object) -> float | None:
    """A number of at least 0 from a JSON value or a cell; None where there is none, or where no tool would write it."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    if isinstance(value, str) and (len(value) > 40 or "_" in value):
        return None
    try:
        result = float(value)
    except (ValueError, OverflowError):
        return None
    return result if 0 <= result <= LARGEST else None


def whole(value: object, most: int = 10_000_000) -> int | None:
    """A whole number from 1 on, as for nodes and tasks."""
    found = number(value)
    return int(found) if found is not None and 1 <= found <= most and found == int(found) else None


def items(value: object, most: int = 100_000) -> Sequence[Any]:
    """The value where it is a list, no more than `most` of it; else an empty one."""
    return as_list(value)[:most]


def moment_s(value: object) -> float | None:
    """Seconds since 1970 from a date in words, seconds or milliseconds; which of the two the size of a number tells."""
    if isinstance(value, str) and "-" in value[1:]:
        try:
            when = datetime.fromisoformat(value[:40])
            seconds = (when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp()
        except (ValueError, OverflowError):
            return None
    else:
        found = number(value)
        if found is None:
            return None
        seconds = found / 1e3 if found > LATEST_S else found
    return seconds if EARLIEST_S <= seconds <= LATEST_S else None


def day(seconds: float | None) -> str:
    """YYYY-MM-DD in UTC; empty where the time is not known."""
    return "" if seconds is None else day_of(seconds)


@dataclass(frozen=True, slots=True)
class Target:
    """What was written to or read from, as far as the file tells."""

    shown: str = ""  # the start of its path
    kind: Kind = ""  # what the path is called after; empty: nothing is known


_DRIVES = re.compile(r"nvme|ephemeral|instance[-_]?stor|/local|scratch_local|^/tmp|^/dev/", re.IGNORECASE)
_SHARED = re.compile(r"fsx|lustre|gpfs|weka|beegfs|/efs|/nfs|shared", re.IGNORECASE)


def target_of(path: object) -> Target:
    """What a path is called after. Only its mount point is shown, not the names of people below it."""
    if not isinstance(path, str) or not path.strip():
        return Target()
    first = printable(path.strip().split(":", 1)[0])[:200]
    parts = [part for part in first.split("/") if part]
    if not first.startswith("/"):
        return Target()
    parts = parts[: 2 if parts[:1] and parts[0] in MOUNTS else 1]
    is_drive, is_shared = bool(_DRIVES.search(first)), bool(_SHARED.search(first))
    kind: Kind = "" if is_drive == is_shared else "drives" if is_drive else "shared"
    return Target("/" + "/".join(parts), kind)


def rate(
    direction: str,
    values: Sequence[float],
    place: Place,
    target: Target,
    notes: Sequence[Text],
    *,
    is_doubtful: bool,
    nodes: int | None,
    at_s: Sequence[float] = (),
) -> Measured:
    """Rates of writing or reading in bytes per second, with the question what they were measured on.

    `nodes` is how many took part, None where the file does not say; that stands in the notes too.
    """
    is_write = direction == "write"
    shared, drives = ("writes_at", "drives_write") if is_write else ("reads_at", "drives_read")
    return Measured(
        quantity=drives if target.kind == "drives" else shared,
        values=tuple(values),
        place=place,
        at_s=tuple(at_s),
        notes=(*notes, nodes_note(nodes)),
        is_doubtful=is_doubtful,
        question=_question(is_write, target, shared, drives),
        nodes=nodes,
    )


def _question(is_write: bool, target: Target, shared: str, drives: str) -> Question:
    if is_write:
        words = text("What did the benchmark write to?")
        if target.shown:
            words = text("What did the benchmark write to: what is {path}?", path=target.shown)
    else:
        words = text("What did the benchmark read from?")
        if target.shown:
            words = text("What did the benchmark read from: what is {path}?", path=target.shown)
    return Question(
        id=f"storage.target.{'write' if is_write else 'read'}" + (f":{target.shown}" if target.shown else ""),
        words=words,
        choices=((shared, text("the shared file system")), (drives, text("the drives of one node"))),
        suggested={"shared": shared, "drives": drives}.get(target.kind, ""),
    )


def nodes_note(nodes: int | None) -> Text:
    """How many nodes took part: one node is not the cluster."""
    if nodes is None:
        return NODES_UNKNOWN
    return ONE_NODE if nodes == 1 else text("Measured from {count} nodes.", count=f"{nodes:,}")


def mean(values: Sequence[float]) -> float:
    """The mean of at least one value."""
    return math.fsum(values) / len(values)
