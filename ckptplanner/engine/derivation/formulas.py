"""The formulas as templates, "{S} / {t_need}", written from the parts that a case has.

A name in braces is a term of terms.py; the same template is shown once with symbols and once with numbers.
"""

from __future__ import annotations

import math

from ckptplanner.engine.derivation.case import Case, need_s, of_beyond, of_chosen, of_waste
from ckptplanner.engine.job import mean_wait_s
from ckptplanner.engine.operations import RestartClass
from ckptplanner.units import NBSP


def product(*factors: str) -> str:
    return " · ".join(factor for factor in factors if factor)


def stop(case: Case) -> str:
    """What a save costs: its parts, or one name for them with two levels."""
    return "{C_3}" if case.has_levels else save_cost(case)


def save_cost(case: Case) -> str:
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
    if case.has_levels and case.waits:
        return "({C_3} + {t_w})"
    return "{T}" if not case.waits else "{C}" if case.is_sync else "({C} + {t_w})"


def waited(case: Case) -> str:
    """The same where nothing stands around it."""
    return period(case).strip("()")


def mtbi(case: Case) -> str:
    """The time between interruptions that go back to a save: all of them, those that do not only pause, or go to shared."""
    if case.has_levels:
        return "{M_3}"
    return "{M}" if case.job.ways.save_share == 1 else "{M_s}"


def downtime(case: Case) -> str:
    """What passes before a restart begins: D, and the mean wait for a spare; empty without."""
    parts = ["{D}"] if case.scenario.failures.downtime_s else []
    return " + ".join([*parts, *(["{t_sp}"] if mean_wait_s(case.scenario, case.job.mtbi_s) else [])])


def mean_rework(case: Case) -> str:
    """What an interruption loses on average, by the ways in which it may end."""
    since_save = f"{period(case)} / 2 + {{t}}"
    if not case.pauses:
        return since_save
    return (f"{{w_s}} · ({since_save}) + " if case.job.ways.rollback.share else "") + "{w_p} · {s}"


def restart(case: Case) -> str:
    """R: its parts, or the restart classes by their shares."""
    return " + ".join(of_class(place, row) for place, row in case.classes) or ALL_PARTS


def rollback_restart(case: Case) -> str:
    """The mean restart of the interruptions that go back to a save."""
    rows = [(place, row) for place, row in case.classes if row.rework == "save"]
    if not rows:
        return ALL_PARTS
    return f"({' + '.join(of_class(place, row) for place, row in rows)}) / {{w_s}}"


def pause(case: Case) -> str:
    """What the interruptions that lose a step cost each interruption on average."""
    rows = [of_class(place, row) for place, row in case.classes if row.rework == "step"]
    lost = " + ".join(part for part in ("{s}", downtime(case)) if part)
    return " + ".join([*rows, f"{{w_p}} · ({lost})" if " + " in lost else f"{{w_p}} · {lost}"])


ALL_PARTS = "{t_d} + {t_q} + {t_b} + {t_r}"


def of_class(place: int, row: RestartClass) -> str:
    own = f"({{b_{place}}} + {{t_r}})" if row.reads_from == "shared" else f"{{b_{place}}}"
    return f"{{w_{place}}} · {own}"


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
    storage, shared = case.scenario.storage, case.scenario.shared
    kept = held(case)
    if storage.max_fill != 1:
        kept = f"({kept}) / {{fill}}" if " + " in kept else f"{kept} / {{fill}}"
    rate = product("{W}", "{n_w}" if shared.jobs > 1 else "") + (" + {load}" if shared.load_bytes_per_s else "")
    rate = f"({rate})" if " + " in rate else rate
    per_tib = "({e_w} · {tau})" if storage.write_efficiency != 1 else "{tau}"
    return f"max({kept}, 1,000{NBSP}GiB · {rate} / {per_tib})"


def held(case: Case) -> str:
    """What lies on the file system: the generations of all jobs, other saves, and what others use."""
    shared = case.scenario.shared
    parts = [product("{k}", "{S_gib}", "{jobs}" if shared.jobs > 1 else "")]
    parts += ["{o_gib}"] if case.saves_to("shared") else []
    return " + ".join([*parts, *(["{used_gib}"] if shared.used_bytes else [])])


def fill(case: Case) -> str:
    """How full the file system is."""
    kept = held(case)
    return f"({kept}) / {{c}}" if " + " in kept else f"{kept} / {{c}}"


def _client(case: Case) -> bool:
    return of_chosen("client_bytes_per_s")(case) is not None


def divisor(part: str) -> str:
    """What stands above or below a line: a product or a difference needs its parentheses."""
    is_one = not any(sign in part for sign in (" · ", " − ", " / ")) or (part.startswith("min(") and part.endswith(")"))
    return part if is_one else f"({part})"


def _own_write_rate(case: Case) -> str:
    """What the file system has left for this job's writes: never less than 1 B/s, so that times stay finite."""
    storage, shared, chosen = case.scenario.storage, case.scenario.shared, case.chosen
    share = "{e_w}" if storage.write_efficiency != 1 else ""
    left = 1.0
    if chosen is not None:
        own = chosen.baseline_bytes_per_s - shared.load_bytes_per_s / storage.write_efficiency
        left = own / (of_beyond("jobs_writing")(case) or 1.0)
    if left < 1.0:
        return product(_LEAST_RATE, share)
    rate = product("{B}", share)
    if shared.load_bytes_per_s:
        rate = f"({rate} − {{load}})" if shared.jobs > 1 else f"{rate} − {{load}}"
    return rate + (" / {n_w}" if shared.jobs > 1 else "")


_LEAST_RATE = f"1{NBSP}B/s"


def writes_in(case: Case) -> str:
    """The time that the file system needs for a write."""
    storage = case.scenario.storage
    rate = _own_write_rate(case)
    if _client(case):
        nodes = product("{N}" if case.scenario.workload.writer == "sharded" else "", "{client}")
        rate = f"min({rate}, {nodes}{' / {skew}' if case.scenario.datapath.writer_skew_ratio != 1 else ''})"
    return ("{l} + " if storage.latency_s else "") + f"{{S}} / {divisor(rate)}"


def restore_read(case: Case) -> str:
    """The time that reading the checkpoint back takes."""
    storage, load, chosen = case.scenario.storage, case.scenario.shared.load_bytes_per_s, case.chosen
    rate = product("{B_r}" if case.is_custom else "{B}", "{e_r}" if storage.read_efficiency != 1 else "")
    rate += " − {load}" if load else ""
    if chosen is not None and chosen.read_bytes_per_s * storage.read_efficiency - load < 1.0:
        rate = _LEAST_RATE
    if _client(case):
        rate = f"min({rate}, {{N}} · {{client}})"
    size = product("{copies}" if case.scenario.restore.copies != 1 else "", "{S}")
    return f"{size} / {divisor(rate)}"


def first_order(case: Case) -> str:
    """The waste to first order; where training waits, what the waiting costs is counted as saving."""
    saving = f"1 − ({{T}} − {stop(case)}) / {period(case)}" if case.waits else f"{stop(case)} / {{T}}"
    rework = "{r_mean}" if case.pauses else mean_rework(case)
    parts = " + ".join(part for part in (rework, "{R}", downtime(case)) if part)
    return f"{saving} + ({parts}) / {{M}}{' + {q}' if case.job.row_stop_fraction else ''}"


def exact_waste(case: Case) -> str:
    """The waste of the exact model: one line for saves that fit in and for those that are waited for."""
    if saves_take_more(case):
        return saving_that_waits(case)
    background = "" if case.is_sync and case.scenario.storage.published == "write_end" else " + {t} − {C}"
    mean, down = mtbi(case), downtime(case)
    below = [f"(1 + ({down}) / {mean})" if " + " in down else f"(1 + {down} / {mean})"] if down else []
    below += ["(1 + {H} / {M})"] if case.pauses else []
    return (
        f"1 − ({{T}} − {stop(case)}) / {mean} · e^(−({{T}}{background} + {'{R_s}' if case.pauses else '{R}'}) / {mean})"
        f" / (1 − e^(−{period(case)} / {mean})){''.join(f' / {part}' for part in below)}{other_stops(case)}"
    )


def other_stops(case: Case) -> str:
    """The factor of the time that other saves leave; empty without them."""
    stops = case.job.row_stop_fraction
    return "" if not stops else " · (1 − {q})" if stops < 1 else " · max(1 − {q}, 0)"


def saving_that_waits(case: Case) -> str:
    """What the saves take, all of them, where interruptions are too rare to count."""
    saving = f"1 − ({{T}} − {stop(case)}) / {period(case)}" if case.waits else f"{stop(case)} / {{T}}"
    return f"{saving} + {{q}}" if (of_waste("saving_fraction")(case) or 0.0) < 1.0 else f"min({saving} + {{q}}, 1)"


def saves_take_more(case: Case) -> bool:
    """Whether interruptions are so rare that the waste is what the saves take: other saves may stop it while it waits."""
    exact, saving = of_waste("exact_fraction")(case), of_waste("saving_fraction")(case)
    return bool(case.job.row_stop_fraction) and exact is not None and exact == saving


def best_exact(case: Case) -> str:
    """The equation that the best interval satisfies."""
    mean = mtbi(case)
    return f"1 − e^(−{{T_best}} / {mean}) = ({{T_best}} − {stop(case)}) / {mean}"


def best_next_save(case: Case) -> str:
    """The same equation where a checkpoint counts from the next save on."""
    mean = mtbi(case)
    left = f"(({{T_best}} − {stop(case)}) / {mean}) · (2 − e^(−{{T_best}} / {mean}))"
    return f"{left} = 1 − e^(−{{T_best}} / {mean})"


def young(case: Case) -> str:
    """Young's interval, or what takes its place where a checkpoint counts from the next save on."""
    third = " / 3" if case.scenario.storage.published == "next_save" else ""
    return f"√(2 · {stop(case)} · {mtbi(case)}{third})"


def daly(case: Case) -> str:
    """Daly's series, or what he gives beyond its range."""
    schedule = case.plan.schedule
    is_long = schedule is not None and schedule.lost_per_save_s >= 2 * case.save_mtbi_s
    return daly_series(stop(case), mtbi(case), is_long=is_long)


def daly_series(lost: str, mean: str, *, is_long: bool) -> str:
    """His series for a stop and a mean time between interruptions; their sum where the stop is long."""
    if is_long:
        return f"{mean} + {lost}"
    return f"√(2 · {lost} · {mean}) · (1 + √({lost} / (2 · {mean})) / 3 + {lost} / (2 · {mean}) / 9)"


def storage_usd(case: Case) -> str:
    """The storage bill for the span of time that dollars are for."""
    year = "{p_m}" if case.is_custom else "{c} · {p}"
    return {"month": year, "run": f"12 · {year} · {{days}} / 365{NBSP}d", "year": f"12 · {year}"}[case.basis]


def lost_usd(case: Case) -> str:
    """The lost GPU hours by their value, for the span of time that dollars are for."""
    lost = "({eta} + {eta_p})" if of_waste("planned_fraction")(case) else "{eta}"
    year = f"8,760{NBSP}h · {{N}} · {{g}} · {{v}} · {lost}"
    return year + {"month": " / 12", "run": f" · {{days}} / 365{NBSP}d", "year": ""}[case.basis]
