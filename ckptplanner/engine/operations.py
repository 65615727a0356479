"""Inputs of what else happens in a run: announced stops, other saves, ways to restart, neighbours on the file system.

All are neutral by default: with them no figure of the articles moves (docs/models.md 14).
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field, model_validator

from ckptplanner.frozen import Frozen, entry
from ckptplanner.units import Bytes, BytesPerSecond, Count, Fraction, Seconds

CENTURY_S = 100 * 365 * 86_400.0


class Planned(Frozen):
    """Stops that come announced, by the scheduler, for repair work or because a booking ends."""

    every_s: Seconds | None = entry(
        None, title="Planned stop every", source="", ge=60, le=CENTURY_S,
        help="A time limit of the scheduler, repair work, a booking that ends. Empty: none.",
    )  # fmt: skip
    notice_s: Seconds | None = entry(
        None, title="Notice before it", source="", ge=0, le=CENTURY_S,
        help="How long before the stop the job is told. Empty: long enough for a last save at full rate.",
    )  # fmt: skip
    queue_s: Seconds = entry(
        0.0, title="Queue after it", source="article", ge=0, le=CENTURY_S, help="Waiting until the job is started again."
    )


class Shared(Frozen):
    """What else lives on the same file system."""

    used_bytes: Bytes = entry(
        0.0, title="Used by others", source="article", ge=0, le=1e21, help="Space of the file system that is taken already."
    )
    load_bytes_per_s: BytesPerSecond = entry(
        0.0,
        title="Load of others",
        source="article",
        ge=0,
        le=1e18,
        help="What others take of it, reading and writing alike.",
    )
    jobs: Count = entry(
        1, title="Jobs like this", source="article", ge=1, le=10_000,
        help="Equal jobs on the same file system, this one included.",
    )  # fmt: skip


class SaveRow(Frozen):
    """One kind of save beside the resumable one."""

    kind: Literal["permanent", "evaluation", "export", "final"] = Field(default="permanent", title="Kind")
    every_s: Seconds | None = Field(default=86_400.0, ge=1, le=CENTURY_S, title="Every")
    bytes: Bytes | None = Field(default=None, ge=1, le=1e20, title="Size")
    writer: Literal["sharded", "single"] = Field(default="sharded", title="Written by")
    to: Literal["shared", "s3"] = Field(default="s3", title="Goes to")
    keep: Count | None = Field(default=None, ge=1, le=1_000_000, title="Kept")
    stop_s: Seconds = Field(default=0.0, ge=0, le=CENTURY_S, title="Stops training for")

    @model_validator(mode="before")
    @classmethod
    def _final_is_once(cls, row: Any) -> Any:
        """The final save happens once, at the end, unless the row says otherwise."""
        is_silent = isinstance(row, dict) and row.get("kind") == "final" and "every_s" not in row
        return {**row, "every_s": None} if is_silent else row


class RestartClass(Frozen):
    """One way in which interruptions end: how often, how long its parts take, what is read and what is lost."""

    share: Fraction = Field(ge=0, le=1, title="Share")
    detect_s: Seconds = Field(default=60.0, ge=0, le=CENTURY_S, title="Detect")
    reschedule_s: Seconds = Field(default=300.0, ge=0, le=CENTURY_S, title="Reschedule")
    start_s: Seconds = Field(default=240.0, ge=0, le=CENTURY_S, title="Start")
    reads_from: Literal["peer", "local", "replica", "shared"] = Field(default="shared", title="Reads from")
    rework: Literal["step", "save"] = Field(default="save", title="Loses")


class Restart(Frozen):
    """The ways in which interruptions end; empty: one way, with the parts of `failures`."""

    classes: tuple[RestartClass, ...] = entry(
        (), title="Restart classes", source="article", max_length=32,
        help="Rows of share, parts of the restart, what is read and what is lost: a step, or what was trained since a save.",
    )  # fmt: skip


class Spares(Frozen):
    """Nodes that stand ready to replace a lost one."""

    nodes: Count = entry(0, title="Spare nodes", source="article", ge=0, le=100_000, help="Paid for, and idle until needed.")
    wait_s: Seconds = entry(
        0.0, title="Wait without one", source="article", ge=0, le=CENTURY_S,
        help="Time until a replacement is there where no spare is left; also until a used spare is replaced.",
    )  # fmt: skip


class Network(Frozen):
    """Where the file system is."""

    same_zone: bool = entry(
        True, title="Same zone", source="article",
        help="The file system is in the availability zone of the nodes. Off: each byte crosses zones and may cost money.",
    )  # fmt: skip
