"""The outputs about the nodes: the way of the data by phase, host memory, replicas, and what an event leaves.

Parts of a Plan (plan.py); names and units are those of docs/models.md 10.3. None means unknown, and a finding says why.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from ckptplanner.text import Text

Kind = Literal["measured", "documented", "theoretical", "derived", "assumed", "typed"]
PhaseName = Literal[
    "snapshot", "local_write", "gds_write", "replicate", "shared_write", "s3_write",
    "restore_local", "restore_replica", "restore_shared",
]  # fmt: skip
Tier = Literal["host_ram", "local_nvme", "replica", "shared", "s3"]
Event = Literal["process_restart", "node_reboot", "node_lost", "group_lost", "rack_lost", "cluster_lost", "planned_stop"]


@dataclass(frozen=True, slots=True)
class Hop:
    """One part of the way: what it carries at most, what the plan asks of it, and how the ceiling is known.

    `part` is what it is on the board: gpu, link, ram, nvme, ena, efa, peer, servers, disks, s3. A shared hop counts all
    nodes together, the others one node. `path` is the field that replaces the ceiling.
    """

    id: str
    name: Text
    part: str
    ceiling_bytes_per_s: float | None
    load_bytes_per_s: float | None
    is_shared: bool
    kind: Kind
    source: str
    date: str
    path: str
    note: Text | None = None

    @property
    def use_ratio(self) -> float | None:
        """Load by ceiling; above 1 where the plan asks for more than the hop carries."""
        if self.ceiling_bytes_per_s is None or self.load_bytes_per_s is None:
            return None
        return self.load_bytes_per_s / self.ceiling_bytes_per_s


@dataclass(frozen=True)
class Phase:
    """One phase of a save or a restart: its hops in order, how long it takes at best, and what the plan gives it.

    Its words are made when they are first read: most plans of a comparison are never looked at so closely.
    """

    name: PhaseName
    title: Text
    is_used: bool
    bytes_per_node: float
    seconds: float | None  # at the lowest known ceiling; None where no ceiling is known
    allowed_s: float | None  # what the plan gives it; None where it may take as long as it takes
    bottleneck: str | None  # id of the hop with the lowest ceiling for its load
    hops: tuple[Hop, ...]
    make_words: Callable[[], tuple[Text, Text]] = field(repr=False, compare=False)

    @cached_property
    def _words(self) -> tuple[Text, Text]:
        return self.make_words()

    @property
    def sentence(self) -> Text:
        """What names the bottleneck."""
        return self._words[0]

    @property
    def detail(self) -> Text:
        """How long it takes and what else there is to say."""
        return self._words[1]

    def hop(self, hop_id: str) -> Hop | None:
        """The hop of that id."""
        return next((hop for hop in self.hops if hop.id == hop_id), None)

    @property
    def limit(self) -> Hop | None:
        """The hop that bounds the phase, among those whose ceiling is known."""
        return None if self.bottleneck is None else self.hop(self.bottleneck)

    @property
    def unknown_hops(self) -> tuple[Hop, ...]:
        """Hops whose ceiling nobody knows: the phase takes at least its seconds."""
        return tuple(hop for hop in self.hops if hop.ceiling_bytes_per_s is None)


@dataclass(frozen=True, slots=True)
class DataPath:
    """Every phase, and the stop and write times that this hardware can reach."""

    phases: tuple[Phase, ...]
    reachable_blocking_s: float | None
    reachable_write_s: float | None
    ring_blocking_s: float | None = None  # where a save runs through a ring buffer

    def phase(self, name: str) -> Phase:
        """The phase of that name. Raises KeyError."""
        found = next((phase for phase in self.phases if phase.name == name), None)
        if found is None:
            raise KeyError(name)
        return found


@dataclass(frozen=True, slots=True)
class RamItem:
    """One thing that host memory holds on each node, and the field that it follows from."""

    id: str
    name: Text
    held_bytes: float
    is_guess: bool
    path: str


@dataclass(frozen=True, slots=True)
class HostRam:
    """What the memory of the most loaded node holds at its fullest."""

    ram_bytes: float | None
    items: tuple[RamItem, ...]
    ring_drain_bytes_per_s: float | None  # where a save runs through a ring buffer

    @property
    def used_bytes(self) -> float:
        """All items together. [B]"""
        return sum(item.held_bytes for item in self.items)

    @property
    def fill_ratio(self) -> float | None:
        """Used by installed; above 1 where it does not fit."""
        return self.used_bytes / self.ram_bytes if self.ram_bytes else None


@dataclass(frozen=True, slots=True)
class ReplicationPlan:
    """Groups of replicas: which factors can be formed, what they hold and how likely a group is lost.

    `node_groups` lists the nodes whose shards depend on one another, in order; without replicas each node stands alone.
    Probabilities are 1 for a factor of 1: a lost node loses its shards. None where no group can be formed.
    """

    factor: int
    jump: int
    world: int
    legal_factors: tuple[int, ...]
    legal_jumps: tuple[int, ...]
    is_legal: bool
    group_count: int | None
    node_groups: tuple[tuple[int, ...], ...]
    loss_probability_after_first: float | None
    scattered_loss_probability: float | None
    run_loss_probability: float | None  # independent losses and, where a rack is described, whole racks
    independent_run_loss_probability: float | None
    scattered_run_loss_probability: float | None
    survive_probabilities: tuple[tuple[int, float], ...]  # nodes lost at once, chance that no group is lost
    local_bytes_per_node: float
    window_needed_s: float | None  # detection, replacement, restart and the next local save
    racks_with_whole_groups: int | None
    better_jump: int | None  # a legal jump that puts no group into one rack
    tolerated_losses: int | None  # any so many nodes at once are survived


@dataclass(frozen=True, slots=True)
class SavedRow:
    """What follows from one row of the save schedule."""

    kind: str
    to: str
    writer: str
    every_s: float | None
    saved_bytes: float
    required_write_bytes_per_s: float
    writes_in_s: float | None  # at best, by the data path
    stop_fraction: float
    count_in_run: int
    held_bytes: float  # on the file system or in S3 at the end of the run
    usd_per_month: float | None  # what S3 bills for that at the end of the run


@dataclass(frozen=True, slots=True)
class Beyond:
    """What the terms beyond the articles bring (docs/models.md 14): saves, planned stops, neighbours, spares, zones."""

    saves: tuple[SavedRow, ...]
    peak_write_bytes_per_s: float
    s3_bytes: float  # at the end of the run
    s3_mean_bytes: float  # on average over the run, which is what is paid for
    s3_usd_per_month: float | None
    oldest_reach_s: float
    final_save_s: float | None  # the last save before a planned stop, at full rate
    planned_rework_s: float | None  # work lost at each planned stop
    jobs_writing: float  # jobs that write at once, 95 % point
    restart_all_s: float | None  # restart when all jobs read at once
    zone_bytes_per_month: float
    zone_usd_per_month: float | None
    no_spare_probability: float | None
    mean_wait_s: float
    spare_saves_s: float | None  # what one more spare saves each lost node on average
    spare_pays_above_s: float | None  # one more spare pays while that is more
    spares_usd_per_month: float | None


@dataclass(frozen=True, slots=True)
class TierState:
    """One tier as this plan has it: whether it is used, and how long reading a checkpoint back from it takes."""

    tier: Tier
    title: Text
    is_used: bool
    why_not: Text | None
    read_s: float | None  # None: not known
    is_read_guess: bool
    durable_after_s: float | None  # from the start of a save until a restart can read it from here
    survives: tuple[bool, ...]  # one for each of EVENTS


@dataclass(frozen=True, slots=True)
class ClockPart:
    """One part of a restart: how long it takes and who acts in it."""

    id: str
    name: Text
    seconds: float
    actor: Literal["monitoring", "scheduler", "framework", "nobody"]


@dataclass(frozen=True, slots=True)
class Survival:
    """What one event leaves: where training restarts from, when, and what is lost.

    `moment_s` is when it strikes, counted from the start of a save; ages are counted back from there.
    """

    event: Event
    lost_nodes: tuple[int, ...]
    lost_groups: tuple[int, ...]  # index into ReplicationPlan.node_groups of groups with no copy left
    source: Tier | None  # None: nothing is left to restart from
    moment_s: float
    newest_age_s: float | None  # age of the newest restorable state: the work that is done again
    mean_rework_s: float | None
    worst_rework_s: float | None
    clock: tuple[ClockPart, ...]
    restart_s: float | None  # the sum of the clock
    sentence: Text
    detail: Text


EVENTS: tuple[Event, ...] = (
    "process_restart", "node_reboot", "node_lost", "group_lost", "rack_lost", "cluster_lost", "planned_stop",
)  # fmt: skip
TIERS: tuple[Tier, ...] = ("host_ram", "local_nvme", "replica", "shared", "s3")
