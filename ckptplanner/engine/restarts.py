"""The ways in which interruptions end: all alike, or the rows of `restart.classes` with their shares (docs/models.md 14.2).

    "save" loses what was trained since the newest restorable save; "step" loses a step, the state lives on in peers

R, the rework and the waste are sums over the rows, weighted by their shares. Reading from shared storage takes the time that
the file system needs; from local drives, a replica or a peer what the node's parts need.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ckptplanner.engine.datapath import near_read_s
from ckptplanner.engine.operations import RestartClass
from ckptplanner.engine.replication import is_legal
from ckptplanner.engine.scenario import Scenario
from ckptplanner.frozen import FloatArray

if TYPE_CHECKING:
    from ckptplanner.engine.plan import Plan, Schedule


@dataclass(frozen=True, slots=True)
class Part:
    """The rows of one kind together: their share, their mean base and how much of them reads shared storage."""

    share: float
    base_s: float  # weighted by share, within the kind
    reads_shared: float  # share of them that reads shared storage, within the kind

    def restart_s(self, read_s: FloatArray) -> FloatArray:
        """The mean restart of these rows. [s]"""
        return self.base_s + self.reads_shared * read_s


@dataclass(frozen=True, slots=True)
class Ways:
    """The two kinds of rows; without rows, one kind with all of the share."""

    rollback: Part
    pause: Part | None

    @property
    def save_share(self) -> float:
        """The share of interruptions that goes back to a save; never quite 0, so that T stays finite."""
        return max(self.rollback.share, 1e-9)

    @property
    def reads_shared(self) -> float:
        """The share of all interruptions that reads shared storage."""
        own = self.rollback.share * self.rollback.reads_shared
        return own if self.pause is None else own + self.pause.share * self.pause.reads_shared

    def rollback_restart_s(self, read_s: FloatArray) -> FloatArray:
        """The mean restart of the interruptions that go back to a save. [s]"""
        return self.rollback.restart_s(read_s)

    def restart_s(self, read_s: FloatArray) -> FloatArray:
        """The mean restart of all interruptions, R. [s]"""
        own = self.rollback.restart_s(read_s)
        return own if self.pause is None else self.rollback.share * own + self.pause.share * self.pause.restart_s(read_s)

    def rework_s(self, since_save_s: FloatArray, step_s: float) -> FloatArray:
        """The mean rework of all interruptions. [s]"""
        return since_save_s if self.pause is None else self.rollback.share * since_save_s + self.pause.share * step_s

    def worst_s(self, since_save_s: FloatArray, step_s: float) -> FloatArray:
        """The worst rework of an interruption: a step where none goes back to a save. [s]"""
        return since_save_s if self.rollback.share else since_save_s * 0.0 + step_s

    def pause_s(self, read_s: FloatArray, step_s: float, downtime_s: float) -> FloatArray:
        """What the interruptions that lose a step cost each interruption on average. [s]"""
        if self.pause is None:
            return read_s * 0.0
        return self.pause.share * (self.pause.restart_s(read_s) + step_s + downtime_s)


def ways(scenario: Scenario, checkpoint_bytes: float) -> Ways:
    """Work out the ways of a scenario.

    Args:
        checkpoint_bytes: S. [B]

    What a class reads from near takes 0 where no ceiling of the node is known; a finding says so.
    """
    rows = scenario.restart.classes
    if not any(row.share for row in rows):
        return Ways(Part(1.0, scenario.failures.restart_base_s, 1.0), None)
    kinds = {kind: [row for row in rows if row.rework == kind and row.share > 0] for kind in ("save", "step")}
    total = sum(row.share for row in rows)
    rollback, pause = (_part(scenario, kinds[kind], total, checkpoint_bytes) for kind in ("save", "step"))
    return Ways(rollback, pause if pause.share else None)


def level_ways(scenario: Scenario, checkpoint_bytes: float) -> tuple[Part, Part]:
    """Work out which interruptions restart from the nodes' own drives and which from shared storage (docs/models.md 16.1).

    Args:
        checkpoint_bytes: S. [B]

    Returns:
        The two parts with their shares of all interruptions. Rows of restart classes decide by what they read. Without rows a
        process that ends restarts locally, as does a lost node where its shards have copies; a lost cluster never does.
    """
    rows = [row for row in scenario.restart.classes if row.share > 0]
    if rows:
        total = sum(row.share for row in rows)
        back = [row for row in rows if row.rework == "save"]
        near = [row for row in back if row.reads_from != "shared"]
        far = [row for row in back if row.reads_from == "shared"]
        own, shared = (_part(scenario, some, total, checkpoint_bytes) for some in (near, far))
        return own, shared
    failures = scenario.failures
    shares = (failures.process_share, failures.node_share, failures.cluster_share)
    known = sum(shares) or 1.0
    survived = failures.process_share + (failures.node_share if has_copies(scenario) else 0.0)
    own_share = survived / known if sum(shares) else 0.0
    return (
        Part(own_share, scenario.local.restart_s, 0.0),
        Part(1.0 - own_share, failures.restart_base_s, 1.0),
    )


def has_copies(scenario: Scenario) -> bool:
    """Whether every shard has a copy on another node, in groups that can be formed."""
    work, copies = scenario.workload, scenario.replication
    return copies.factor > 1 and is_legal(work.nodes * work.gpus_per_node, copies.jump or work.gpus_per_node, copies.factor)


@dataclass(frozen=True, slots=True)
class Way:
    """One of the restarts that R is the mean of."""

    share: float
    restart_s: float


def each_way(plan: Plan) -> tuple[Way, ...]:
    """The restarts that the plan's R is the mean of, those that take the same time together, the most frequent first."""
    schedule, scenario = plan.schedule, plan.scenario
    if schedule is None:
        return ()
    found: list[tuple[float, float]] = [(1.0, schedule.restart_s)]
    rows = [row for row in scenario.restart.classes if row.share > 0]
    if rows:
        total = sum(row.share for row in rows)
        found = [(row.share / total, row_restart_s(row, plan, schedule)) for row in rows]
    elif plan.levels is not None:
        levels = (plan.levels.local, plan.levels.shared)
        found = [(schedule.mtbi_s / level.mtbi_s, level.restart_s) for level in levels if level.mtbi_s is not None]
    by_time: dict[float, float] = {}
    for share, seconds in found:
        by_time[round(seconds, 3)] = by_time.get(round(seconds, 3), 0.0) + share
    return tuple(sorted((Way(share, seconds) for seconds, share in by_time.items()), key=lambda way: -way.share))


def row_restart_s(row: RestartClass, plan: Plan, schedule: Schedule) -> float:
    """From an interruption of this row until training runs again. [s]"""
    if row.reads_from == "shared":
        return base_s(row) + schedule.restore_read_s
    return base_s(row) + (near_read_s(plan.scenario, plan.checkpoint.checkpoint_bytes, row.reads_from) or 0.0)


def _part(scenario: Scenario, rows: list[RestartClass], total: float, checkpoint_bytes: float) -> Part:
    share = sum(row.share for row in rows)
    if not share:
        return Part(0.0, scenario.failures.restart_base_s, 1.0)
    read = {place: near_read_s(scenario, checkpoint_bytes, place) or 0.0 for place in {row.reads_from for row in rows}}
    base = sum(row.share * (base_s(row) + read[row.reads_from]) for row in rows) / share
    shared = sum(row.share for row in rows if row.reads_from == "shared") / share
    return Part(share / total, base, shared)


def base_s(row: RestartClass) -> float:
    """Detect, reschedule and start of one row. [s]"""
    return row.detect_s + row.reschedule_s + row.start_s
