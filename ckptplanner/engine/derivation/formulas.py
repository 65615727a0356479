"""The formulas as templates, "{S} / {t_need}", written from the parts that a case has.

A name in braces is a term of terms.py; the same template is shown once with symbols and once with numbers.
"""

from __future__ import annotations

import math

from ckptplanner.engine.derivation.case import Case, need_s, of_chosen
from ckptplanner.units import NBSP


def _product(*factors: str) -> str:
    return " · ".join(factor for factor in factors if factor)


def stop(case: Case) -> str:
    """What a save costs: C, and what is lost while it is written."""
    storage = case.scenario.storage
    parts = ["{C}"]
    parts += ["{loss}"] if storage.background_loss_s else []
    parts += ["{slow} · {t_w}"] if storage.slowdown_fraction and not case.is_sync else []
    return parts[0] if len(parts) == 1 else f"({' + '.join(parts)})"


def save(case: Case) -> str:
    """From the start of a save until all of it is written."""
    return "{C}" if case.is_sync else "{C} + {t_w}"


def period(case: Case) -> str:
    """From one save to the next: T, or C + t_w where training waits for the write."""
    return "{T}" if not case.waits else "{C}" if case.is_sync else "({C} + {t_w})"


def _downtime(case: Case, template: str) -> str:
    return template if case.scenario.failures.downtime_s else ""


def interval(case: Case) -> str:
    """T: as asked or the best one, held between a step and the run."""
    storage, schedule, step = case.scenario.storage, case.plan.schedule, case.scenario.workload.step_s
    if storage.whole_steps and schedule is not None and math.isclose(schedule.interval_s, step * schedule.interval_steps):
        return "{s} · {n_steps}"
    wanted = "{T_asked}" if storage.interval_s is not None else f"max({{T_best}}, {save(case)})"
    if schedule is not None and schedule.interval_s < case.wanted_s * (1 - 1e-12):
        wanted = f"min({wanted}, {{run}})"
    return f"max({wanted}, {{s}})" if min(case.wanted_s, case.job.run_s) < step else wanted


def whole_steps(case: Case) -> str:
    """How many steps the interval has before it is held within the run; never fewer than a save takes."""
    if case.scenario.storage.interval_s is not None:
        return "max(1, round({T_asked} / {s}))"
    return f"max(1, round(max({{T_best}}, {save(case)}) / {{s}}), ⌈({save(case)}) / {{s}}⌉)"


def checkpoint(case: Case) -> str:
    """S: what is trained and what is frozen, by the bytes that are kept of each."""
    work = case.scenario.workload
    if not work.frozen_params:
        return "{P} · {b}"
    trained = "({P} − {P_f})" if work.frozen_params <= work.total_params else "max({P} − {P_f}, 0)"
    return f"{trained} · {{b}} + {{P_f}} · {{b_f}}"


def required(case: Case) -> str:
    """W: the checkpoint over the write time, less what no bandwidth shortens."""
    left = (need_s(case) or 0.0) - case.scenario.storage.latency_s
    return "{S} / ({t_need} − {l})" if case.scenario.storage.latency_s and left > 0 else "{S} / {t_need}"


def capacity_needed(case: Case) -> str:
    """The size that holds the generations and sustains the rate, before it is rounded up to one that is sold."""
    storage = case.scenario.storage
    held = "{k} · {S_gib}" + (" / {fill}" if storage.max_fill != 1 else "")
    per_tib = "({e_w} · {tau})" if storage.write_efficiency != 1 else "{tau}"
    return f"max({held}, 1,000{NBSP}GiB · {{W}} / {per_tib})"


def _client(case: Case) -> bool:
    return of_chosen("client_bytes_per_s")(case) is not None


def _grouped(rate: str) -> str:
    """A product below a line needs its parentheses."""
    return f"({rate})" if " · " in rate and not rate.startswith("min(") else rate


def writes_in(case: Case) -> str:
    """The time that the file system needs for a write."""
    storage = case.scenario.storage
    rate = _product("{B}", "{e_w}" if storage.write_efficiency != 1 else "")
    if _client(case):
        rate = f"min({rate}, {_product('{N}' if case.scenario.workload.writer == 'sharded' else '', '{client}')})"
    return ("{l} + " if storage.latency_s else "") + f"{{S}} / {_grouped(rate)}"


def restore_read(case: Case) -> str:
    """The time that reading the checkpoint back takes."""
    rate = _product("{B_r}" if case.is_custom else "{B}", "{e_r}" if case.scenario.storage.read_efficiency != 1 else "")
    if _client(case):
        rate = f"min({rate}, {{N}} · {{client}})"
    size = _product("{copies}" if case.scenario.restore.copies != 1 else "", "{S}")
    return f"{size} / {_grouped(rate)}"


def first_order(case: Case) -> str:
    """The waste to first order; where training waits, what the waiting costs is counted as saving."""
    saving = f"1 − ({{T}} − {stop(case)}) / {period(case)}" if case.waits else f"{stop(case)} / {{T}}"
    return f"{saving} + ({period(case)} / 2 + {{t}} + {{R}}{_downtime(case, ' + {D}')}) / {{M}}"


def exact_waste(case: Case) -> str:
    """The waste of the exact model: one line for saves that fit in and for those that are waited for."""
    background = "" if case.is_sync and case.scenario.storage.published == "write_end" else " + {t} − {C}"
    return (
        f"1 − ({{T}} − {stop(case)}) / {{M}} · e^(−({{T}}{background} + {{R}}) / {{M}})"
        f" / (1 − e^(−{period(case)} / {{M}})){_downtime(case, ' / (1 + {D} / {M})')}"
    )


def best_exact(case: Case) -> str:
    """The equation that the best interval satisfies."""
    return f"1 − e^(−{{T_best}} / {{M}}) = ({{T_best}} − {stop(case)}) / {{M}}"


def best_next_save(case: Case) -> str:
    """The same equation where a checkpoint counts from the next save on."""
    return f"(({{T_best}} − {stop(case)}) / {{M}}) · (2 − e^(−{{T_best}} / {{M}})) = 1 − e^(−{{T_best}} / {{M}})"


def daly(case: Case) -> str:
    """Daly's series, or what he gives beyond its range."""
    lost, schedule = stop(case), case.plan.schedule
    if schedule is not None and schedule.lost_per_save_s >= 2 * schedule.mtbi_s:
        return f"{{M}} + {lost}"
    return f"√(2 · {lost} · {{M}}) · (1 + √({lost} / (2 · {{M}})) / 3 + {lost} / (2 · {{M}}) / 9)"


def storage_usd(case: Case) -> str:
    """The storage bill for the span of time that dollars are for."""
    year = "{p_m}" if case.is_custom else "{c} · {p}"
    return {"month": year, "run": f"12 · {year} · {{days}} / 365{NBSP}d", "year": f"12 · {year}"}[case.basis]


def lost_usd(case: Case) -> str:
    """The lost GPU hours by their value, for the span of time that dollars are for."""
    year = f"8,760{NBSP}h · {{N}} · {{g}} · {{v}} · {{eta}}"
    return year + {"month": " / 12", "run": f" · {{days}} / 365{NBSP}d", "year": ""}[case.basis]
