"""The formulas where interruptions have a memory, as templates: a renewal law of the gaps, nodes that age (docs/models.md 15).

Functions that are not of school: weibull(u, M, k), lognormal(u, M, s) and gaps(u, M) are the chance that a gap of mean M is
longer than u, those of a log in groups as the plan takes them; Σ sums over j = 0, 1, 2, ...; argmax is the T for which what
follows is largest; renewals(t, M, k) is how often a new node fails within t on average.
"""

from __future__ import annotations

from ckptplanner.engine.derivation.case import Case
from ckptplanner.engine.derivation.formulas import (
    downtime,
    mtbi,
    other_stops,
    period,
    saves_take_more,
    saving_that_waits,
    stop,
)
from ckptplanner.engine.laws import Empirical, Lognormal


def _survival(case: Case, age: str) -> str:
    """The chance that a gap is longer than an age."""
    if isinstance(case.job.law, Empirical):
        return f"gaps({age}, {mtbi(case)})"
    if isinstance(case.job.law, Lognormal):
        return f"lognormal({age}, {mtbi(case)}, {{s_l}})"
    return f"weibull({age}, {mtbi(case)}, {{k_w}})"


def _restart(case: Case) -> str:
    return "{R_s}" if case.pauses else "{R}"


def usable_saves(case: Case) -> str:
    """How many saves that count an interruption finds behind it on average."""
    background = "" if case.is_sync and case.scenario.storage.published == "write_end" else " + {t} − {C}"
    return f"Σ {_survival(case, f'{_restart(case)}{background} + {{T}} + j · {period(case)}')}"


def exact_waste(case: Case) -> str:
    """The waste of the renewal model: what the usable saves hold, by the mean gap."""
    if saves_take_more(case):
        return saving_that_waits(case)
    down, mean = downtime(case), mtbi(case)
    below = ["(1 + {H} / {M})"] if case.pauses else []
    every = f"({mean} + {down})" if down else mean
    return f"1 − ({{T}} − {stop(case)}) · {{m}} / {every}{''.join(f' / {part}' for part in below)}{other_stops(case)}"


def best_interval(case: Case) -> str:
    """What the best interval makes largest: the work between saves times the saves that an interruption finds."""
    background = "" if case.is_sync else " + {t_w}"
    return f"argmax (T − {stop(case)}) · Σ {_survival(case, f'{_restart(case)}{background} + T + j · T')}"


def aged_mtbi(case: Case) -> str:
    """M where each node ages by itself: the run by the failures of all nodes in it."""
    return "{run} / ({N} · {x_n})"


def node_failures(case: Case) -> str:
    """How often one node fails in the run, from its age on."""
    mean = "{M_0} · {N_0}, {k_w}"
    if not case.scenario.failures.fleet_age_s:
        return f"renewals({{run}}, {mean})"
    return f"renewals({{age}} + {{run}}, {mean}) − renewals({{age}}, {mean})"
