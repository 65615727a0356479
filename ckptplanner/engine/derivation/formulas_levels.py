"""The formulas of two levels as templates: how often to save to each, what goes back to each, and what that wastes.

A name in braces is a term; names that end in a number belong to one row of the restart classes. docs/models.md 16.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from ckptplanner.engine.derivation.case import Case, of_levels, of_local, of_schedule, of_waste
from ckptplanner.engine.derivation.formulas import (
    ALL_PARTS,
    daly_series,
    divisor,
    downtime,
    of_class,
    other_stops,
    period,
    saves_take_more,
)
from ckptplanner.engine.derivation.nested import local_best_interval_s, nested
from ckptplanner.engine.operations import RestartClass
from ckptplanner.engine.replicas import group_loss_rate_per_s
from ckptplanner.engine.restarts import has_copies

Rows = list[tuple[int, RestartClass]]
LOCAL_SAVE = "{C_1} + {t_1}"


def _near(case: Case) -> Rows:
    """The restart classes that go back to a save on the nodes' own drives."""
    return [(place, row) for place, row in case.classes if row.rework == "save" and row.reads_from != "shared"]


def _far(case: Case) -> Rows:
    return [(place, row) for place, row in case.classes if row.rework == "save" and row.reads_from == "shared"]


def is_near(case: Case) -> bool:
    """Whether anything restarts from the nodes' own drives."""
    return case.rates is not None and case.rates.local_share > 0


def is_far(case: Case) -> bool:
    """Whether anything goes back to shared storage."""
    return case.rates is not None and case.rates.shared_share > 0


# ---------------------------------------------------------------- what goes back where


def _shares(rows: Iterable[tuple[int, RestartClass]]) -> str:
    return " + ".join(f"{{w_{place}}}" for place, _ in rows)


def _survived(case: Case) -> str:
    """The share of interruptions that local drives and their copies survive, lost groups not yet taken off."""
    if case.classes:
        return _shares(_near(case)) or "0"
    failures = case.scenario.failures
    kept = "{h_1} + {h_2}" if has_copies(case.scenario) else "{h_1}"
    known = failures.process_share + failures.node_share + failures.cluster_share
    if not known or math.isclose(known, 1.0, rel_tol=1e-12):
        return kept
    return f"({kept}) / ({{h_1}} + {{h_2}} + {{h_3}})" if " + " in kept else f"{kept} / ({{h_1}} + {{h_2}} + {{h_3}})"


def local_share(case: Case) -> str:
    """The share that restarts from the nodes' own drives: what they survive, less what takes every copy of a shard."""
    return _survived(case) + (" − {a_g}" if case.rates is not None and case.rates.group_losses else "")


def shared_share(case: Case) -> str:
    """The share that goes back to shared storage: the rest of those that go back to a save."""
    return "1 − {a_1}" if not case.pauses else "{w_s} − {a_1}"


def group_loss_share(case: Case) -> str:
    """The share of interruptions in which every copy of some shard is lost."""
    inputs, rate = case.scenario.replication, "{N} / {M_n} · {P_1}"
    if inputs.rack_loss_interval_s is not None and case.plan.replication and case.plan.replication.racks_with_whole_groups:
        rate = f"({rate} + {{racks}} / {{M_r}})"
    losses = group_loss_rate_per_s(case.scenario)
    is_all = case.rates is not None and losses is not None and losses * case.job.mtbi_s > case.rates.local.share
    return f"min({{M}} · {rate}, {_survived(case)})" if is_all else f"{{M}} · {rate}"


def shared_mtbi(case: Case) -> str:
    """The time between interruptions that go back to shared storage; never quite infinite."""
    return "{M} / {a_3}" if case.rates is not None and case.rates.shared_share > 1e-9 else "{M} / {a_3m}"


# ---------------------------------------------------------------- restart and rework


def _mean_class(rows: Rows) -> str:
    if len(rows) == 1:
        place, row = rows[0]
        return f"{{b_{place}}} + {{t_r}}" if row.reads_from == "shared" else f"{{b_{place}}}"
    return f"({' + '.join(of_class(place, row) for place, row in rows)}) / ({_shares(rows)})"


def local_restart(case: Case) -> str:
    """R1: as it was given, or the mean of the restart classes that read from near."""
    return _mean_class(_near(case)) if case.classes else "{R_1_given}"


def shared_restart(case: Case) -> str:
    """R3: its parts, or the mean of the restart classes that read shared storage."""
    return _mean_class(_far(case)) if _far(case) else ALL_PARTS


def restart(case: Case) -> str:
    """R: both levels by their shares, and the classes that only pause."""
    parts = ["{a_1} · {R_1}"] if is_near(case) else []
    parts += ["{a_3} · {R_3}"] if is_far(case) else []
    return " + ".join([*parts, *(of_class(place, row) for place, row in case.classes if row.rework == "step")]) or "0"


def mean_rework(case: Case) -> str:
    """What an interruption loses on average: since a local save, since a shared one, or a step."""
    parts = [f"{{a_1}} · ({period(case)} / (2 · {{n}}) + {LOCAL_SAVE})"] if is_near(case) else []
    parts += [f"{{a_3}} · ({period(case)} / 2 + {{t}})"] if is_far(case) else []
    return " + ".join([*parts, *(["{w_p} · {s}"] if case.pauses else [])]) or "0"


# ---------------------------------------------------------------- how often


def local_best(case: Case) -> tuple[str, bool]:
    """The interval of the local level alone: its template, and whether that is an equation which it satisfies."""
    rates, stop, model = case.rates, case.scenario.local.blocking_s, case.scenario.storage.interval_model
    if not stop:
        return "{C_1}", False
    if model == "exact":
        return "1 − e^(−{T_1_best} / {M_1}) = ({T_1_best} − {C_1}) / {M_1}", True
    is_long = rates is not None and stop >= 2 * rates.local_mtbi_s
    return (daly_series("{C_1}", "{M_1}", is_long=is_long) if model == "daly" else "√(2 · {C_1} · {M_1})"), False


def _held(case: Case, wanted: str, wanted_s: float, least: str | None) -> str:
    """An interval in whole steps where that is asked for, at least a step, at most the run."""
    step, run, used_s = case.scenario.workload.step_s, case.job.run_s, wanted_s
    if case.scenario.storage.whole_steps:
        save_s = case.scenario.local.blocking_s + case.scenario.local.durable_s
        steps = max(round(wanted_s / step), math.ceil(save_s / step - 1e-9) if least else 0, 1)
        at_least = f", ⌈({least}) / {{s}}⌉" if least else ""
        wanted, used_s = f"{{s}} · max(1, round({divisor(wanted)} / {{s}}){at_least})", step * steps
    if used_s > run:
        wanted = f"min({wanted}, {{run}})"
    return f"max({wanted}, {{s}})" if min(used_s, run) < step else wanted


def _free(case: Case) -> str:
    """T1 where nothing is asked for: the best one, no longer than the shared level's own and no shorter than a local save."""
    local, best = case.scenario.local, local_best_interval_s(case)
    room = (of_schedule("best_interval_s")(case) or 0.0) - (of_schedule("lost_per_save_s")(case) or 0.0)
    own, own_s = ("{T_1_best}", best) if best is not None and best <= room else ("{T_best} − {C_3}", room)
    save_s = local.blocking_s + local.durable_s
    return _held(case, f"max({own}, {LOCAL_SAVE})", max(own_s, save_s), LOCAL_SAVE)


def local_interval(case: Case) -> str:
    """T1: what is left of the interval asked for, as it was given, or the best one."""
    asked, given = case.scenario.storage.interval_s, case.scenario.local.interval_s
    if given is not None:
        return _held(case, "{T_1_given}", given, None)
    return _free(case) if asked is None else f"{divisor(_room(case))} / {{n}}"


def _room(case: Case) -> str:
    """What the interval asked for leaves between its stop and the next."""
    asked, step, run = case.scenario.storage.interval_s or 0.0, case.scenario.workload.step_s, case.job.run_s
    wanted = "min({T_asked}, {run})" if asked > run else "{T_asked}"
    lost = of_schedule("lost_per_save_s")(case) or 0.0
    return f"{wanted} − {{C_3}}" if max(min(asked, run), step) - lost >= step else "{s}"


def ratio(case: Case) -> str:
    """How many local saves make a shared one: as it was given, what fits into the interval asked for, or the better of two."""
    if case.scenario.local.ratio is not None:
        return "{n_given}"
    if case.scenario.storage.interval_s is not None:
        own = "{T_1}" if case.scenario.local.interval_s is not None else _free(case)
        return f"max(1, round({divisor(_room(case))} / {divisor(own)}))"
    return _better_ratio(case)


def _better_ratio(case: Case) -> str:
    """The whole number that was taken, rounded as it was: down, up, up to a write, down to the run."""
    read = (of_levels("ratio"), of_local("interval_s"), of_schedule("best_interval_s"), of_schedule("lost_per_save_s"))
    n, every, best, lost = (part(case) or 0.0 for part in read)
    if not every:
        return "round(({T_best} − {C_3}) / {T_1})"
    wanted, most = (best - lost) / every, math.floor((case.job.run_s - lost) / every)
    if math.isclose(wanted, round(wanted), rel_tol=1e-6) and n == round(wanted):
        return "round(({T_best} − {C_3}) / {T_1})"
    if n == math.ceil(wanted):
        return "⌈({T_best} − {C_3}) / {T_1}⌉"
    if n == math.floor(wanted):
        return "⌊({T_best} − {C_3}) / {T_1}⌋"
    return "max(1, ⌊({run} − {C_3}) / {T_1}⌋)" if n == max(most, 1) else "⌈{t_w} / {T_1}⌉"


def interval(case: Case) -> str:
    """T: n local intervals and the stop of the shared save."""
    return "{n} · {T_1} + {C_3}"


# ---------------------------------------------------------------- the waste


def _saving(case: Case) -> str:
    """The share of time that saves take, with the waiting for a write that is not done."""
    return f"1 − {{n}} · ({{T_1}} − {{C_1}}) / {period(case)}" if case.waits else "({n} · {C_1} + {C_3}) / {T}"


def first_order(case: Case) -> str:
    """The waste of two levels to first order."""
    parts = " + ".join(part for part in ("{r_mean}", "{R}", downtime(case)) if part)
    return f"{_saving(case)} + ({parts}) / {{M}}{' + {q}' if case.job.row_stop_fraction else ''}"


def local_goodput(case: Case) -> str:
    """What the local level leaves for training, the stops of shared saves counted as their mean."""
    work = "({T_1} − {C_1})"
    every = f"{period(case)} / {{n}}" if case.waits else "{T_1} + {C_3} / {n}"
    if not is_near(case):
        return f"{work} / ({every})"
    down = downtime(case)
    below = f" / (1 + ({down}) / {{M_1}})" if " + " in down else f" / (1 + {down} / {{M_1}})" if down else ""
    return f"{work} / {{M_1}} · e^(−({{R_1}} + {{t_1}}) / {{M_1}}) / (e^(({every}) / {{M_1}}) − 1){below}"


def pace(case: Case) -> str:
    """The time from one shared save to the next, with what interruptions on the way cost."""
    return "{n} · ({T_1} − {C_1}) / {g_1}"


def upload_lag(case: Case) -> str:
    """How long after its stop a shared save can be restored; an upload that a restart kills is made up by the next."""
    write = "{t} − {C}"
    if case.scenario.local.uploads == "survive" or not is_near(case):
        return write
    return f"{write} + {{P_3}} · (e^(({write}) / {{M_1}}) − 1)"


def exact_waste(case: Case) -> str:
    """The waste by the nested model: the shared level on the pace of the local one."""
    found = nested(case)
    if of_waste("exact_fraction")(case) == 1 and (found is None or not math.isfinite(found.pace_s + found.lag_s)):
        return "1"
    if saves_take_more(case):
        saving = f"{_saving(case)} + {{q}}"
        return saving if (of_waste("saving_fraction")(case) or 0.0) < 1.0 else f"min({saving}, 1)"
    down = downtime(case)
    below = [f"(1 + ({down}) / {{M_3}})" if " + " in down else f"(1 + {down} / {{M_3}})"] if down and is_far(case) else []
    below += ["(1 + {H} / {M})"] if case.pauses else []
    tail = "".join(f" / {part}" for part in below) + other_stops(case)
    if not is_far(case):
        return f"1 − {{g_1}}{tail}"
    lag = " + {lag}" if (of_schedule("durable_after_s")(case) or 0.0) > (of_schedule("blocking_s")(case) or 0.0) else ""
    late = f"({{R_3}}{lag})" if lag else "{R_3}"
    return f"1 − {{n}} · ({{T_1}} − {{C_1}}) / {{M_3}} · e^(−{late} / {{M_3}}) / (e^({{P_3}} / {{M_3}}) − 1){tail}"
