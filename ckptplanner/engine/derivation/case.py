"""What derivations are read from: a scenario with its plan, and readers that find one number in them.

A reader answers None where the number, or the part of the plan that holds it, is not known.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ckptplanner.data.records import FsxTier
from ckptplanner.engine.cost import Basis, per_basis
from ckptplanner.engine.evaluate import evaluate
from ckptplanner.engine.job import Job, LevelRates, ages, job_of
from ckptplanner.engine.losses import RENEWAL, model_of
from ckptplanner.engine.node_plan import Beyond, Hop, Phase
from ckptplanner.engine.operations import RestartClass, SaveRow
from ckptplanner.engine.plan import Option, Plan
from ckptplanner.engine.scenario import NamedScenario, Scenario


@dataclass(frozen=True)
class Case:
    """A named scenario, its plan and the span of time its dollars are for: what terms and figures are read from."""

    named: NamedScenario
    basis: Basis

    @cached_property
    def plan(self) -> Plan:
        """The plan; `evaluate` remembers it."""
        return evaluate(self.named.scenario)

    @cached_property
    def job(self) -> Job:
        """What no file system changes."""
        return job_of(self.named.scenario)

    @property
    def scenario(self) -> Scenario:
        """The inputs."""
        return self.named.scenario

    @property
    def chosen(self) -> Option | None:
        """The file system that was chosen."""
        return self.plan.storage.chosen

    @property
    def tier(self) -> FsxTier | None:
        """The catalog row of the chosen file system, None for storage that exists."""
        key = (getattr(self.chosen, "throughput_mb_per_s_per_tib", None), getattr(self.chosen, "efa", None))
        return next((t for t in self.scenario.storage.tiers if (t.throughput_mb_per_s_per_tib, t.efa) == key), None)

    @property
    def rates(self) -> LevelRates | None:
        """How often the job goes back to each of two levels; None with one level."""
        return self.job.levels

    @property
    def has_levels(self) -> bool:
        """Whether local saves are made: then the nested model of two levels gives the number."""
        return self.job.levels is not None

    @property
    def is_renewal(self) -> bool:
        """Whether the gaps between interruptions have a memory: then the renewal model gives the number."""
        return model_of(self.job) == RENEWAL

    @property
    def ages(self) -> bool:
        """Whether the age of the nodes counts in how often the job is interrupted."""
        return ages(self.scenario)

    @property
    def save_mtbi_s(self) -> float:
        """The mean time between the interruptions that the best interval is for. [s]"""
        return self.job.rollback_mtbi_s if self.job.levels is None else self.job.levels.shared_mtbi_s

    @property
    def is_sync(self) -> bool:
        """Whether training waits for the write."""
        return self.scenario.storage.mode == "sync"

    @property
    def is_custom(self) -> bool:
        """Whether storage that exists is used."""
        return self.scenario.storage.custom is not None

    @property
    def waits(self) -> bool:
        """Whether the next save is due before the last one is written, so that training waits."""
        return self.plan.waits

    @property
    def beyond(self) -> Beyond | None:
        """What the terms beyond the articles bring; None without a file system."""
        return self.plan.beyond

    @property
    def classes(self) -> tuple[tuple[int, RestartClass], ...]:
        """The restart classes that happen, each with its place in the list."""
        return tuple((place, row) for place, row in enumerate(self.scenario.restart.classes) if row.share > 0)

    @property
    def pauses(self) -> bool:
        """Whether some interruptions lose a step only."""
        return self.job.ways.pause is not None

    def saves_to(self, to: str) -> tuple[tuple[int, SaveRow], ...]:
        """The other saves that go to shared storage or S3, each with its place in the list."""
        return tuple((place, row) for place, row in enumerate(self.scenario.saves) if row.to == to)

    def phase(self, name: str) -> Phase | None:
        """One phase of the way of the data."""
        return None if self.plan.datapath is None else self.plan.datapath.phase(name)

    def limit(self, name: str) -> Hop | None:
        """The hop that bounds a phase."""
        phase = self.phase(name)
        return None if phase is None else phase.limit

    @property
    def wanted_s(self) -> float:
        """The interval before it is held between a step and the run. [s]"""
        schedule, asked = self.plan.schedule, self.scenario.storage.interval_s
        if asked is not None or schedule is None:
            return asked or 0.0
        return max(schedule.best_interval_s, schedule.blocking_s + (0.0 if self.is_sync else schedule.write_s))


Reader = Callable[[Case], float | None]
Maker = Callable[[Case], str]


def finite(value: float | None) -> float | None:
    """The value as a float, None where it is not known or not finite."""
    return None if value is None or not math.isfinite(value) else float(value)


def _from(part: str) -> Callable[[str], Reader]:
    """Readers of one part of the plan; None where the part or its number is None."""

    def reader_of(name: str) -> Reader:
        path = part.split(".")

        def read(case: Case) -> float | None:
            found: Any = case.plan
            for step in (*path, name):
                found = getattr(found, step, None)
            return finite(found)

        return read

    return reader_of


of_schedule, of_waste, of_cost, of_size = _from("schedule"), _from("waste"), _from("cost"), _from("checkpoint")
of_beyond, of_replication, of_ram = _from("beyond"), _from("replication"), _from("host_ram")
of_levels, of_local, of_shared = _from("levels"), _from("levels.local"), _from("levels.shared")
of_chosen, of_next, of_storage = _from("storage.chosen"), _from("storage.next_best"), _from("storage")


def tier_number(name: str) -> Reader:
    """A reader of a number in the catalog row of the chosen file system."""
    return lambda case: finite(getattr(case.tier, name, None))


def storage_price(case: Case) -> float | None:
    """The price of the chosen file system. [USD/GiB-month]"""
    prices = case.scenario.prices.storage_usd_per_gib_month
    return finite(prices.at(case.tier.throughput_mb_per_s_per_tib)) if case.tier else None


def full_pace_counts(case: Case) -> bool:
    """Whether the rate that is needed follows from the time that storage which exists takes at full pace."""
    return case.scenario.storage.pace == "full" and case.is_custom and case.plan.schedule is not None


def need_s(case: Case) -> float | None:
    """The write time that the needed rate is worked out from. [s]"""
    return of_schedule("write_s")(case) if full_pace_counts(case) else case.scenario.storage.write_s


def dollars(name: str) -> Reader:
    """A reader of a cost, for the span of time that the dollars are for."""

    def read(case: Case) -> float | None:
        year = of_cost(name)(case)
        return None if year is None else per_basis(year, case.basis, case.scenario.run.days)

    return read
