"""What a plan costs a year, for comparing many: dollars, infinity where it would not work, None where a price is not known.

`evaluate` says with all its findings whether a plan works. Questions that ask for thousands of plans look at what may change
with an input: room for the generations, time for the write, progress, groups of replicas.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from ckptplanner.engine import replication
from ckptplanner.engine.checks import NO_PROGRESS_FRACTION
from ckptplanner.engine.evaluate import priced
from ckptplanner.engine.plan import Cost, Option
from ckptplanner.engine.replicas import jump_of
from ckptplanner.engine.scenario import Scenario

_ROUNDING = 1.0 + 1e-9


@dataclass(frozen=True, slots=True)
class Yearly:
    """Storage and lost GPU time of a plan, and the file system that it chose."""

    usd_per_year: float | None  # infinity: it would not work
    option_id: str | None


def yearly(scenario: Scenario) -> Yearly:
    """The dollars of a plan, the same as those of `evaluate` where it works."""
    option, cost = priced(scenario)
    if option is None or cost is None or not _works(scenario, option):
        return Yearly(math.inf, option.id if option else None)
    total = cost.total_usd_per_year
    return Yearly(math.inf if total is None and _has_prices(scenario, cost) else total, option.id)


def _works(scenario: Scenario, option: Option) -> bool:
    storage, work = scenario.storage, scenario.workload
    is_given = storage.custom is not None or storage.tier != "auto"
    if option.illegal_reason is not None or option.fill_ratio > storage.max_fill * _ROUNDING:
        return False
    if is_given and storage.pace == "within" and option.writes_in_s > storage.write_s * _ROUNDING:
        return False
    if (option.waste_fraction or 0.0) > NO_PROGRESS_FRACTION:
        return False
    ranks = work.nodes * work.gpus_per_node
    return replication.is_legal(ranks, jump_of(scenario), scenario.replication.factor)


def _has_prices(scenario: Scenario, cost: Cost) -> bool:
    """Whether all prices are known: then dollars that are not known mean that saves leave no time to train."""
    prices = scenario.prices
    has_value = prices.gpu_value_usd_per_h is not None or prices.node_usd_per_h is not None
    return has_value and cost.storage_usd_per_year is not None and cost.other_usd_per_year is not None
