"""The outputs: what follows from a Scenario. Window, PDF, CSV and command line all read these and compute nothing again.

Names and units are those of docs/models.md 10.3. None means that it could not be computed or is not known; a finding says
why.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from ckptplanner.frozen import FloatArray
from ckptplanner.text import Text, text

if TYPE_CHECKING:
    from ckptplanner.engine.curves import Curves
    from ckptplanner.engine.node_plan import Beyond, DataPath, HostRam, ReplicationPlan
    from ckptplanner.engine.scenario import Scenario
    from ckptplanner.engine.tradeoff import Tradeoff

Severity = Literal["error", "warning", "info"]
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "info")


@dataclass(frozen=True, slots=True)
class Finding:
    """Something a person must know: how bad, at which field, and one sentence."""

    severity: Severity
    path: str
    text: Text

    @property
    def message(self) -> str:
        """The sentence in English."""
        return str(self.text)


def finding(severity: Severity, path: str, template: str, /, **values: object) -> Finding:
    """A finding from its sentence; the template is a literal where it is called, so that it can be translated."""
    return Finding(severity, path, text(template, **values))


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """S and the share of one writer."""

    checkpoint_bytes: float
    bytes_per_node: float


@dataclass(frozen=True, slots=True)
class Schedule:
    """When saves happen and how long each part takes."""

    mode: str
    mtbi_s: float
    interval_s: float
    interval_steps: int
    young_interval_s: float
    best_interval_s: float
    period_s: float
    blocking_s: float
    lost_per_save_s: float
    write_s: float
    writes_in_s: float
    durable_after_s: float
    restore_read_s: float
    restart_s: float
    reach_s: float


@dataclass(frozen=True, slots=True)
class Level:
    """One of two levels: how often it is saved to and what goes back to it; its waste is its share of the plan's."""

    interval_s: float
    ratio: int  # local saves for one of these
    blocking_s: float
    durable_after_s: float
    restart_s: float
    mtbi_s: float | None  # between the interruptions that go back to it; None where there are none
    waste_fraction: float | None


@dataclass(frozen=True, slots=True)
class Levels:
    """Local and shared saves together, and the waste of the same plan with shared saves alone."""

    local: Level
    shared: Level
    ratio: int
    waste_fraction: float | None
    single_level_fraction: float | None


@dataclass(frozen=True, slots=True)
class Waste:
    """The share of training lost, by both models, and the rework of one interruption.

    `exact_model` says which exact model gave the number: exponential, renewal or two_levels (losses.py).
    """

    model: str
    exact_model: str
    first_order_fraction: float | None
    exact_fraction: float | None
    chosen_fraction: float | None
    saving_fraction: float | None
    interruption_fraction: float | None
    planned_fraction: float | None
    total_fraction: float | None
    mean_rework_s: float
    worst_rework_s: float


@dataclass(frozen=True, slots=True)
class Option:
    """One file system that could be bought, or the one that exists."""

    id: str
    throughput_mb_per_s_per_tib: float | None
    efa: bool
    capacity_gib: float
    baseline_bytes_per_s: float
    read_bytes_per_s: float
    client_bytes_per_s: float | None
    servers: int | None
    bound_by: Literal["capacity", "throughput"] | None
    usd_per_month: float | None
    writes_in_s: float
    restart_s: float
    fill_ratio: float  # above 1 where the generations do not fit
    waste_fraction: float | None
    total_usd_per_year: float | None
    illegal_reason: Text | None = None
    excluded_reason: Text | None = None

    @property
    def is_offered(self) -> bool:
        """Whether it takes part in the choice."""
        return self.illegal_reason is None and self.excluded_reason is None


@dataclass(frozen=True, slots=True)
class StoragePlan:
    """What storage must sustain, what could be bought, cheapest first, and what was chosen."""

    required_write_bytes_per_s: float
    chosen: Option | None
    options: tuple[Option, ...]

    @property
    def least_usd_per_month(self) -> float | None:
        """The least price among what is offered, None where none is known. [USD/month]"""
        known = [one.usd_per_month for one in self.options if one.is_offered and one.usd_per_month is not None]
        return min(known, default=None)

    @property
    def next_best(self) -> Option | None:
        """The cheapest other option that is offered and has a price."""
        others = (o for o in self.options if o.is_offered and o is not self.chosen and o.usd_per_month is not None)
        return min(others, key=lambda option: option.usd_per_month or 0.0, default=None)

    @property
    def next_best_fraction(self) -> float | None:
        """How much more than the chosen one it costs a month, as a share; None where either price is not known. [1]"""
        other, own = self.next_best, self.chosen.usd_per_month if self.chosen else None
        return other.usd_per_month / own - 1.0 if other is not None and other.usd_per_month is not None and own else None


@dataclass(frozen=True, slots=True)
class Cost:
    """Dollars a year and what they are made of; `other` is S3, idle spares and traffic between zones."""

    storage_usd_per_year: float | None
    stalled_gpu_usd_per_year: float | None
    rework_usd_per_year: float | None
    restart_usd_per_year: float | None
    planned_usd_per_year: float | None
    other_usd_per_year: float | None
    total_usd_per_year: float | None
    stalled_gpu_h_per_year: float | None
    lost_gpu_usd_per_year: float | None


@dataclass(frozen=True)
class Plan:
    """Everything that follows from one Scenario. Curves are computed when they are first looked at."""

    scenario: Scenario
    checkpoint: Checkpoint
    schedule: Schedule | None
    waste: Waste | None
    storage: StoragePlan
    cost: Cost | None
    findings: tuple[Finding, ...]
    replication: ReplicationPlan | None = None
    datapath: DataPath | None = None
    host_ram: HostRam | None = None
    beyond: Beyond | None = None
    levels: Levels | None = None

    @property
    def waits(self) -> bool:
        """Whether the next save is due before the last one is written, so that training waits."""
        return self.schedule is not None and self.schedule.period_s > self.schedule.interval_s * (1 + 1e-9)

    @property
    def near_period_s(self) -> float | None:
        """From one save to the next that reaches the nodes' own drives: T1 with two levels, else T. [s]"""
        if self.levels is not None:
            return self.levels.local.interval_s
        return None if self.schedule is None else self.schedule.period_s

    @cached_property
    def curves(self) -> Curves:
        """Cost and waste over the write time."""
        from ckptplanner.engine.curves import curves_of

        return curves_of(self.scenario)

    @cached_property
    def tradeoff(self) -> Tradeoff:
        """Idle GPUs against storage over the stop time of synchronous saves."""
        from ckptplanner.engine.tradeoff import tradeoff

        return tradeoff(self.scenario)

    def count(self, severity: Severity) -> int:
        """How many findings of that severity there are."""
        return sum(finding.severity == severity for finding in self.findings)


@dataclass(frozen=True, slots=True, eq=False)
class Ranges:
    """Where a total lies within a share of its least value: the least point and the pieces around it."""

    least_at: float
    least_value: float
    starts: FloatArray
    ends: FloatArray
