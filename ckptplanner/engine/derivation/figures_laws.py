"""The figures of interruptions with a memory, and the recipes that take the place of the memoryless ones."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ckptplanner.engine.derivation import formulas_laws as templates
from ckptplanner.engine.derivation import sources
from ckptplanner.engine.derivation.case import Case
from ckptplanner.engine.derivation.recipe import Figure, Recipe
from ckptplanner.engine.laws import Empirical
from ckptplanner.text import text
from ckptplanner.units import NUMBER, Unit

LAW_UNITS: Mapping[str, Unit] = {"usable_saves": NUMBER, "node_failures": NUMBER}
_AGES = ("failures.fleet_age_s", "failures.weibull_shape", "run.days", "workload.nodes")
_FUNCTIONS = text("Σ sums over j = 0, 1, 2, ... the chance that a gap of that mean is longer; each gap begins anew.")
_GAPS = text(
    "Σ sums over j = 0, 1, 2, ... the chance that a gap is longer: those of the log scaled to that mean, in at most 32 groups "
    "of neighbours, each spread evenly with its mean kept. Each gap begins anew."
)


def _is_log(case: Case) -> bool:
    """Whether the gaps are those of a log."""
    return isinstance(case.job.law, Empirical)


def _is_searched(case: Case) -> bool:
    storage = case.scenario.storage
    return case.is_renewal and storage.interval_model == "exact" and storage.published != "next_save"


def _usable_saves(case: Case) -> float | None:
    """How many usable saves an interruption finds; the renewal model's own sum. [1]"""
    from ckptplanner.engine.save_sums import covered_s

    schedule = case.plan.schedule
    if schedule is None or not case.is_renewal:
        return None
    restart_s = case.job.ways.rollback_restart_s(np.asarray(schedule.restore_read_s))
    first_s = restart_s + schedule.durable_after_s - schedule.blocking_s + schedule.interval_s
    return float(covered_s(case.job.law, np.asarray(first_s), np.asarray(schedule.period_s))) / schedule.period_s


def _node_failures(case: Case) -> float | None:
    """How often one node fails in the run. [1]"""
    return case.job.run_s / (case.scenario.workload.nodes * case.job.mtbi_s) if case.ages else None


EXACT = Recipe(
    templates.exact_waste,
    text("Gaps that are independent of each other, of this law; the clock begins anew with each interruption."),
    sources.RENEWAL, lambda case: case.is_renewal, also=("storage.waste_model", "failures.law"),
)  # fmt: skip
BEST_INTERVAL = Recipe(
    templates.best_interval,
    text("Found numerically: the T for which this is largest, as long as the write fits in. Σ sums over j = 0, 1, 2, ..."),
    sources.RENEWAL_BEST, _is_searched, also=("storage.interval_model", "failures.law"),
)  # fmt: skip
LOG_INTERVAL = Recipe(
    templates.best_interval,
    text("Found numerically: the T for which this is largest, as long as the write fits in. The gaps of the log are in at most "
         "32 groups, each spread evenly: the best T for the gaps as they were would be hindsight."),
    sources.RENEWAL_BEST, lambda case: _is_searched(case) and _is_log(case), also=("storage.interval_model", "failures.gaps_s"),
)  # fmt: skip
AGED_MTBI = Recipe(
    templates.aged_mtbi, text("Each node ages by itself and begins anew at its own failure only; independent of each other."),
    sources.AGES, lambda case: case.ages, also=("failures.clock",),
)  # fmt: skip

LAW_FIGURES: Mapping[str, Figure] = {
    "usable_saves": Figure(
        text("Usable saves at an interruption"), "m", _usable_saves,
        (
            Recipe(
                templates.usable_saves, _GAPS, sources.RENEWAL, _is_log, also=("failures.law", "failures.gaps_s"),
            ),
            Recipe(templates.usable_saves, _FUNCTIONS, sources.RENEWAL, also=("failures.law",)),
        ),
        ("failures.weibull_shape", "failures.law", "failures.mtbi_s"), ("memory", "system"),
    ),
    "node_failures": Figure(
        text("Failures of one node in the run"), "x_n", _node_failures,
        (
            Recipe(
                templates.node_failures,
                text("renewals(t, M, k): how often a new node fails within t, by the renewal function of its Weibull law."),
                sources.AGES, also=("failures.clock",),
            ),
        ),
        _AGES, ("ages",),
    ),
}  # fmt: skip
