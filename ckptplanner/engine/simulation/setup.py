"""All that the simulator needs, as plain numbers: no Scenario, nothing of the window; frozen, hashable, to be pickled.

`from_plan.setup_of` fills it from a plan; tests write it by hand. Times are in seconds, shares 0 to 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ckptplanner.engine.laws import Law

Level = Literal["step", "local", "shared"]
Overlap = Literal["wait", "queue", "parallel", "skip"]


@dataclass(frozen=True, slots=True)
class Cause:
    """One kind of interruption of the job's own clock.

    `level` says what it goes back to: "step" pauses and goes on, "local" takes the newest restorable save of either level,
    "shared" the newest on shared storage. `share` is its share of the interruptions.
    """

    name: str
    share: float
    restart_s: float
    level: Level = "shared"
    takes_node: bool = False


@dataclass(frozen=True, slots=True)
class LocalLevel:
    """Saves to the nodes' own drives between those to shared storage: n times work and a local stop, then a shared stop."""

    work_s: float  # w, training between two local stops
    stop_s: float  # C1
    durable_s: float  # t1, from the end of the stop until it can be restored
    ratio: int  # n
    uploads_survive: bool = False  # an interruption of the local level leaves the write to shared storage alone


@dataclass(frozen=True, slots=True)
class Fleet:
    """Nodes that age each for itself: interruptions come by a cumulative number over wall time, clock of the job aside.

    `cumulative` is the expected number until `times_s`, both ascending from 0; beyond the table its last slope goes on.
    """

    times_s: tuple[float, ...]
    cumulative: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Spares:
    """Spare nodes; a used one is replaced `wait_s` later, and where none is left the job waits for the next to come."""

    nodes: int
    wait_s: float


@dataclass(frozen=True, slots=True)
class Replicas:
    """Copies in groups of neighbouring numbers: a node loss becomes "shared" when the rest of its group is gone already.

    A lost member counts for `window_s`, until its copies exist again. With `chance` each loss is fatal with that chance
    instead, for groups that overlap.
    """

    nodes: int
    group_nodes: int
    window_s: float
    chance: float | None = None


@dataclass(frozen=True, slots=True)
class Racks:
    """Losses of whole racks, which come on top of the job's own clock, at a constant rate."""

    interval_s: float  # between losses of any of the racks
    restart_s: float
    level: Level = "shared"
    nodes: int = 1  # taken from the spares


@dataclass(frozen=True, slots=True)
class PlannedStops:
    """Stops at the multiples of `every_s`; told early enough the job makes a last save, which takes the time before it."""

    every_s: float
    final_save_s: float
    restart_s: float
    notice_s: float | None = None  # None is long enough
    queue_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Notice:
    """The warning before a spot node is taken; interruptions that take a node come with it."""

    notice_s: float
    final_save_s: float


@dataclass(frozen=True)
class Setup:
    """One job. Without a local level a save begins every `interval_s`; with one `local.work_s` and `ratio` set the pace."""

    run_s: float
    law: Law  # of the job's clock, which starts anew after each of its interruptions
    interval_s: float  # T, start to start
    lost_s: float  # C, training lost per save, counted as saving
    background_s: float  # t_a, from the end of the stop until the save can be restored
    causes: tuple[Cause, ...]
    stop_s: float | None = None  # the stop itself where `lost_s` has background loss in it: it paces waiting writers
    overlap: Overlap = "wait"
    downtime_s: float = 0.0  # D after each interruption, free of others
    step_s: float = 0.0  # what an interruption of level "step" loses
    escalated_restart_s: float = 0.0  # R where an interruption of the local level has to go to shared storage
    other_stop_fraction: float = 0.0  # share of training time that saves of other rows take
    local: LocalLevel | None = None
    fleet: Fleet | None = None  # in the place of the law
    spares: Spares | None = None
    replicas: Replicas | None = None
    racks: Racks | None = None
    planned: PlannedStops | None = None
    notice: Notice | None = None

    def __post_init__(self) -> None:
        """Refuse what could not be simulated: our bug, not the user's."""
        work = self.local.work_s if self.local is not None else self.interval_s - self.lost_s
        if not (self.run_s > 0 and work > 0 and self.law.mean_s > 0):
            raise ValueError("a run, the work between saves and the mean gap must be longer than nothing")
        if not self.causes or min(cause.share for cause in self.causes) < 0 or not sum(c.share for c in self.causes) > 0:
            raise ValueError("interruptions need causes with shares")

    @property
    def interruptions(self) -> float:
        """How many interruptions and planned stops a run has, roughly; for sizes of arrays."""
        if self.fleet is not None:
            own = self.fleet.cumulative[-1] * self.run_s / max(self.fleet.times_s[-1], 1e-300)
        else:
            own = self.run_s / (self.law.mean_s + self.downtime_s)
        racks = self.run_s / self.racks.interval_s if self.racks is not None else 0.0
        return own + racks + (self.run_s / self.planned.every_s if self.planned is not None else 0.0)
