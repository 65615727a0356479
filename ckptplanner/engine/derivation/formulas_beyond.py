"""The formulas of the terms beyond the articles, as templates: other saves, planned stops, spares, copies, the node.

A name in braces is a term; names that end in a number belong to one row of the restart classes or of the other saves.
Two functions are not of school: binom(n, d, 95 %) is the least count that 95 % of a binomial do not pass, and poisson(n, m)
is the chance of n or more where m are expected.
"""

from __future__ import annotations

from collections.abc import Iterable

from ckptplanner.engine import replication
from ckptplanner.engine.derivation.case import Case, of_replication
from ckptplanner.engine.derivation.formulas import period
from ckptplanner.engine.replicas import copies_of
from ckptplanner.units import MONTHS_PER_YEAR, NBSP, grouped


def _sum(parts: Iterable[str]) -> str:
    return " + ".join(parts) or "0"


# ---------------------------------------------------------------- other saves


def other_saves(case: Case) -> str:
    """What other saves keep on the file system, those of all jobs."""
    own = _sum(f"{{x_{place}}} · {{S_{place}}}" for place, _ in case.saves_to("shared"))
    return own if case.scenario.shared.jobs == 1 else f"{{jobs}} · ({own})"


def s3(case: Case) -> str:
    """What lies in S3 when the run ends."""
    return _sum(f"{{x_{place}}} · {{S_{place}}}" for place, _ in case.saves_to("s3"))


def other_stops(case: Case) -> str:
    """The share of time that other saves stop training; a row without an interval happens once in the run."""
    rows = ((place, row) for place, row in enumerate(case.scenario.saves) if row.stop_s)
    return _sum(_stop(case, place, row.every_s, row.stop_s) for place, row in rows)


def _stop(case: Case, place: int, every_s: float | None, stop_s: float) -> str:
    every = "{run}" if every_s is None else f"{{E_{place}}}"
    share = f"{{C_{place}}} / {every}"
    return share if stop_s <= (case.job.run_s if every_s is None else every_s) else f"min({share}, 1)"


def reach(case: Case) -> str:
    """How far back one can go: the kept generations, or the oldest permanent save."""
    rows = ((place, row) for place, row in enumerate(case.scenario.saves) if row.kind == "permanent" and row.every_s)
    own = f"({{k}} − 1) · {period(case)}"
    schedule = case.plan.schedule
    if schedule is not None and (case.scenario.storage.generations_kept - 1) * schedule.period_s > case.job.run_s:
        own = f"min({own}, {{run}})"
    kept = [own, *(f"{{x_{place}}} · {{E_{place}}}" for place, _ in rows)]
    return kept[0] if len(kept) == 1 else f"max({', '.join(kept)})"


# ---------------------------------------------------------------- planned stops, spares, zones


def planned(case: Case) -> str:
    """The share of time that planned stops take: the restart, the queue, and a last save or what was trained since one."""
    inputs, beyond, waste = case.scenario.planned, case.beyond, case.plan.waste
    restart = "{t_d} + {t_q} + {t_b} + {t_r}" if case.scenario.restart.classes or case.has_levels else "{R}"
    last = beyond is None or beyond.planned_rework_s == beyond.final_save_s
    lost = "{t_s}" if last else f"{period(case)} / 2 + {{t}}"
    parts = (restart, "{queue}" if inputs.queue_s else "", lost)
    share = f"({_sum(part for part in parts if part)}) / {{every}}"
    is_all = waste is not None and waste.total_fraction is not None and waste.total_fraction >= 1.0
    return f"min({share}, 1 − {{eta}})" if is_all else share


def worst_rework(case: Case) -> str:
    """What an interruption costs at worst: all since a save, or a step where none goes back to one."""
    return f"{period(case)} + {{t}}" if case.job.ways.rollback.share else "{s}"


def total_waste(case: Case) -> str:
    """Everything that is lost, of all the time."""
    if not case.scenario.planned.every_s:
        return "{eta}"
    return "min({eta} + {eta_p}, 1)" if _is_all(case) else "{eta} + {eta_p}"


def goodput(case: Case) -> str:
    """What is left for training."""
    if not case.scenario.planned.every_s:
        return "1 − {eta}"
    return "max(1 − {eta} − {eta_p}, 0)" if _is_all(case) else "1 − {eta} − {eta_p}"


def _is_all(case: Case) -> bool:
    return case.plan.waste is not None and case.plan.waste.total_fraction == 1


def mean_wait(case: Case) -> str:
    """What waiting for a replacement costs an interruption: most take no node along, and some find a spare."""
    none_left = "{P_0} · " if case.scenario.spares.nodes else ""
    return f"{{wait}} · {none_left}min(1, {{N}} / {{M_n}} · {{M}})"


def no_spare(case: Case) -> str:
    """The chance that all spares are on their way back."""
    return {0: "1", 1: "1 − e^(−{mu})"}.get(case.scenario.spares.nodes, "poisson({n_sp}, {mu})")


def has_other_usd(case: Case) -> bool:
    """Whether anything is paid for besides storage and lost GPU time."""
    beyond = case.beyond
    return beyond is not None and bool(beyond.s3_bytes or beyond.zone_bytes_per_month or case.scenario.spares.nodes)


def other_usd(case: Case) -> str:
    """S3 by what lies there on average, traffic between zones and spares, for the span of time that dollars are for."""
    beyond, hours = case.beyond, f"8,760{NBSP}h / {MONTHS_PER_YEAR:.0f}"
    parts = ["{s3_mean} · {p_s3}"] if beyond is not None and beyond.s3_bytes else []
    parts += ["{zone} · {p_z}"] if beyond is not None and beyond.zone_bytes_per_month else []
    parts += [f"{hours} · {{n_sp}} · {{p_n}}"] if case.scenario.spares.nodes else []
    month = _sum(parts)
    if case.basis == "month":
        return month
    return f"12 · ({month})" + (f" · {{days}} / 365{NBSP}d" if case.basis == "run" else "")


def total_usd(case: Case) -> str:
    """Storage, lost GPU time and, where there is any, the rest."""
    return "{K_s} + {K_g} + {K_o}" if has_other_usd(case) else "{K_s} + {K_g}"


def zone_bytes(case: Case) -> str:
    """What crosses zones in a month: saves, restarts that read shared storage, other saves."""
    read = " · ".join(
        part for part in (
            "{copies}" if case.scenario.restore.copies != 1 else "", "{S}",
            "{rho}" if case.job.ways.reads_shared != 1 else "",
        ) if part
    )  # fmt: skip
    rows = [f"{{S_{place}}} / {{E_{place}}}" for place, row in case.saves_to("shared") if row.every_s is not None]
    return f"2,628,000{NBSP}s · ({_sum((f'{{S}} / {period(case)}', f'{read} / {{M}}', *rows))})"


# ---------------------------------------------------------------- copies on other nodes


def replica_after_first(case: Case) -> str:
    """The chance that a lost node takes a group with it: p to the power of the other copies, or a sum over overlapping sets."""
    plan = case.plan.replication
    if plan is None or plan.factor == 1:
        return "1"
    sets = copies_of(case.scenario, plan)
    sizes = () if sets is None else replication.sets_by_size(sets)
    if len(sizes) == 1 and sizes[0] == (plan.factor, case.scenario.workload.nodes // plan.factor):
        return "{p_loss}" if plan.factor == 2 else "{p_loss}^({F} − 1)"
    parts = _sum(f"{grouped(size * count)} / {{N}} · {_power(size - 1)}" for size, count in sizes)
    return f"min({parts}, 1)" if of_replication("loss_probability_after_first")(case) == 1 else parts


def _power(exponent: int) -> str:
    return {0: "1", 1: "{p_loss}"}.get(exponent, f"{{p_loss}}^{exponent}")


def replica_loss(case: Case) -> str:
    """The chance that a group loses every copy in the run: node by node, or with a rack."""
    plan, inputs = case.plan.replication, case.scenario.replication
    rate = "{N} / {M_n}" if plan is None or plan.factor == 1 else "{N} / {M_n} · {P_1}"
    if inputs.rack_loss_interval_s is not None and of_replication("racks_with_whole_groups")(case):
        rate = f"({rate} + {{racks}} / {{M_r}})"
    return f"1 − e^(−{rate} · {{run}})"


# ---------------------------------------------------------------- the node


def host_ram(case: Case) -> str:
    """What the memory of the most loaded node holds, by what it has."""
    items = case.plan.host_ram.items if case.plan.host_ram else ()
    held = _sum(f"{{ram_{item.id}}}" for item in items)
    return f"({held}) / {{ram}}" if len(items) > 1 else f"{held} / {{ram}}"


def node_share(case: Case) -> str:
    """What the most loaded writer moves."""
    work = case.scenario.workload
    return "{S_N}" if work.writer == "single" or case.scenario.datapath.writer_skew_ratio == 1 else "{S_N} · {skew}"


def network(case: Case) -> str:
    """The load of a node's way to storage, by its lowest ceiling."""
    flows = "({t_w} − {l})" if case.scenario.storage.latency_s else "{t_w}"
    return f"{node_share(case)} / ({flows} · {{c_n}})"


def shared_write(case: Case) -> str:
    """The write at the lowest ceiling of its way, of a node or of all together."""
    limit = case.limit("shared_write")
    size = "{S}" if limit is not None and limit.is_shared else node_share(case)
    return ("{l} + " if case.scenario.storage.latency_s else "") + f"{size} / {{c_w}}"
