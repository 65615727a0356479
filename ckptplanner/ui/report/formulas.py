"""The formulas that led to a plan, each with the plan's own numbers, its source and the range in which it holds."""

from __future__ import annotations

from collections.abc import Sequence

from ckptplanner.engine.cards import network_fraction
from ckptplanner.engine.plan import Plan, Schedule, Waste
from ckptplanner.engine.scenario import Storage
from ckptplanner.ui.report.html import FormulaRow
from ckptplanner.ui.report.model_formulas import (
    aged_rows,
    exact_number,
    first_order_number,
    is_searched,
    level_rows,
    renewal_interval,
    renewal_waste,
)
from ckptplanner.ui.words import say
from ckptplanner.units import BYTES, BYTES_PER_S, FRACTION, GIBS, HOURS_PER_YEAR, SECONDS, brief


def formula_rows(plan: Plan) -> list[FormulaRow]:
    """The formulas in the order in which they are used; those that this plan does not use are left out."""
    rows = [_size(plan), _rate(plan)]
    if plan.storage.chosen is not None and plan.storage.chosen.bound_by is not None:
        rows.append(_capacity(plan))
    if plan.schedule is not None and plan.waste is not None:
        rows += aged_rows(plan, plan.schedule)
        rows += _of_model(plan, plan.schedule, plan.waste)
        rows += [] if plan.scenario.planned.every_s is None else [_planned(plan.waste)]
        rows.append(_dollars(plan))
    return [*rows, *_copies(plan), *_node(plan)]


def _of_model(plan: Plan, schedule: Schedule, waste: Waste) -> Sequence[FormulaRow]:
    """Interval, restart, rework and waste, by the model that gave the numbers."""
    if plan.levels is not None:
        pauses = " / (1 + H/M)" if _pauses(plan) else ""
        return level_rows(plan, plan.levels, schedule, waste, pauses=pauses, stops=" (1 − q)" if _stops(plan) else "")
    interval = renewal_interval(schedule) if is_searched(plan) else _interval(plan.scenario.storage, schedule)
    exact = _exact(plan, waste) if waste.exact_model == "exponential" else _with_memory(plan, waste)
    return [interval, _restart(plan, schedule), _rework(plan, waste), _first_order(plan, waste), exact]


def _with_memory(plan: Plan, waste: Waste) -> FormulaRow:
    pauses = " / (1 + H/M<sub>0</sub>)" if _pauses(plan) else ""
    return renewal_waste(plan, waste, pauses=pauses, stops=" (1 − q)" if _stops(plan) else "")


def _stops(plan: Plan) -> bool:
    """Whether other saves stop training."""
    return any(row.stop_s for row in plan.scenario.saves)


def _size(plan: Plan) -> FormulaRow:
    measured = plan.scenario.workload.measured_bytes is not None
    formula = say("S as measured") if measured else say("S = parameters × bytes of each, trained and frozen")
    size = brief(plan.checkpoint.checkpoint_bytes, BYTES)
    return FormulaRow(
        say("One checkpoint"), formula, f"S = {size}", say("Optimizer states deduplicated; activations not saved.")
    )


def _rate(plan: Plan) -> FormulaRow:
    latency = plan.scenario.storage.latency_s
    formula = "W = S / (t<sub>w</sub> − latency)" if latency else "W = S / t<sub>w</sub>"
    rate = brief(plan.storage.required_write_bytes_per_s, BYTES_PER_S)
    return FormulaRow(
        say("Write rate needed"), formula, f"W = {rate}", say("The baseline must sustain it; bursts are not counted.")
    )


def _capacity(plan: Plan) -> FormulaRow:
    chosen = plan.storage.chosen
    assert chosen is not None
    formula = say("u × the next whole number above max(k S / fill, 1000 W / (τ efficiency)) / u")
    shared = plan.scenario.shared
    if (
        shared.jobs > 1
        or shared.load_bytes_per_s
        or shared.used_bytes
        or any(row.to == "shared" for row in plan.scenario.saves)
    ):
        formula = say(
            "u × the next whole number above max((k S jobs + other saves + used by others) / fill, "
            "1000 (W jobs writing + load of others) / (τ efficiency)) / u"
        )
    source = say("AWS, FSx for Lustre, Persistent 2 SSD; legal sizes only.")
    return FormulaRow(say("Capacity"), formula, brief(chosen.capacity_gib, GIBS), source)


def _interval(storage: Storage, schedule: Schedule) -> FormulaRow:
    names = {"exact": _exact_interval, "young": _young_interval, "daly": _daly_interval}
    formula, source = names[storage.interval_model](is_next=storage.published == "next_save")
    numbers = f"T* = {brief(schedule.best_interval_s, SECONDS)}, T = {brief(schedule.interval_s, SECONDS)}"
    return FormulaRow(say("Interval"), formula, numbers, source)


def _exact_interval(*, is_next: bool) -> tuple[str, str]:
    if is_next:
        formula = "(x − c)(2 − e<sup>−x</sup>) = 1 − e<sup>−x</sup>, x = T*/M, c = C/M"
    else:
        formula = "1 − e<sup>−x</sup> = x − c, x = T*/M, c = C/M"
    return formula, say("Least exact waste for interruptions at a constant rate; T is at least C plus the write.")


def _young_interval(*, is_next: bool) -> tuple[str, str]:
    formula = "T* = √(2 C M / 3)" if is_next else "T* = √(2 C M)"
    return formula, say("J. W. Young, CACM 17(9), 1974. Holds for C much below T and T much below M.")


def _daly_interval(*, is_next: bool) -> tuple[str, str]:
    if is_next:
        return _young_interval(is_next=True)
    formula = "T* = √(2 C M) (1 + √(C / 2M) / 3 + C / 18M)"
    return formula, say("J. T. Daly, FGCS 22(3), 2006, start to start; M + C from C = 2M on.")


def _restart(plan: Plan, schedule: Schedule) -> FormulaRow:
    formula = say("R = detect + reschedule + start + copies × S / read rate")
    if plan.scenario.restart.classes:
        formula = say("R = sum over the restart classes of share × (detect + reschedule + start + read)")
    return FormulaRow(
        say("Restart"), formula,
        f"R = {brief(schedule.restart_s, SECONDS)}", say("The read is bounded by the file system and by the nodes."),
    )  # fmt: skip


def _rework(plan: Plan, waste: Waste) -> FormulaRow:
    numbers = f"{brief(waste.mean_rework_s, SECONDS)}, {brief(waste.worst_rework_s, SECONDS)}"
    formula = "P/2 + t, P + t"
    if _pauses(plan):
        formula = "w<sub>s</sub> (P/2 + t) + w<sub>p</sub> s, P + t"
    return FormulaRow(say("Rework, mean and worst"), formula, numbers, say("An interruption strikes at any time alike."))


def _pauses(plan: Plan) -> bool:
    """Whether some interruptions lose a step only."""
    return any(row.rework == "step" and row.share > 0 for row in plan.scenario.restart.classes)


def _first_order(plan: Plan, waste: Waste) -> FormulaRow:
    rework = "r<sub>mean</sub>" if _pauses(plan) else "P/2 + t"
    return FormulaRow(
        say("Waste, first order"), f"η ≈ C/T + ({rework} + R + D) / M{' + q' if _stops(plan) else ''}",
        first_order_number(waste),
        say("Young 1974. Holds for C much below T, T much below M, t below T, constant rate."),
    )  # fmt: skip


def _exact(plan: Plan, waste: Waste) -> FormulaRow:
    below = "(1 + D/M)" + ("(1 + H/M<sub>0</sub>)" if _pauses(plan) else "")
    formula = f"1 − η = ((T − C)/M) e<sup>−(T + t − s + R)/M</sup><br/>/ ((1 − e<sup>−P/M</sup>){below})"
    formula += f"{' (1 − q)' if _stops(plan) else ''}, " + say("s = the stop alone")
    if _pauses(plan):
        formula += "<br/>" + say(
            "M and R here of the interruptions that go back to a save, H the pauses by interruption, M<sub>0</sub> of all"
        )
    return FormulaRow(
        say("Waste, exact"), formula, exact_number(waste),
        say("Renewal reward for exponential interruptions, which may strike during saves and restarts; any C, T and M. "
            "Correlated faults and changing rates are outside of it."),
    )  # fmt: skip


def _planned(waste: Waste) -> FormulaRow:
    value = waste.planned_fraction
    return FormulaRow(
        say("Planned stops"), say("(R + queue + last save, or P/2 + t where the notice is too short) / every"),
        "" if value is None else f"{brief(value, FRACTION)}", say("Stops that are rare against the interval."),
    )  # fmt: skip


def _dollars(plan: Plan) -> FormulaRow:
    hours = f"{HOURS_PER_YEAR:,.0f}"
    formula = say("{hours} × GPUs × value of a GPU-hour × η + 12 × storage", hours=hours)
    if plan.scenario.planned.every_s is not None or (plan.cost and plan.cost.other_usd_per_year):
        formula = say(
            "{hours} × GPUs × value of a GPU-hour × (η + planned stops) + 12 × storage + S3, spares, zones", hours=hours
        )
    return FormulaRow(
        say("Dollars a year"), formula, "",
        say("Reserved GPUs cost the same idle or busy: then it is the value of the training lost."),
    )  # fmt: skip


def _copies(plan: Plan) -> list[FormulaRow]:
    """The chance of losing a group, where there are copies."""
    copies = plan.replication
    if copies is None or copies.factor == 1 or copies.run_loss_probability is None:
        return []
    return [FormulaRow(
        say("A group is lost in the run"),
        "1 − exp(−(N/M<sub>n</sub> p<sup>F−1</sup> + n<sub>r</sub>/M<sub>r</sub>) L),<br/>p = 1 − exp(−Δ/M<sub>n</sub>)",
        brief(copies.run_loss_probability, FRACTION), say("Independent losses, and racks that hold whole groups."),
    )]  # fmt: skip


def _node(plan: Plan) -> list[FormulaRow]:
    """How full the node's memory and its way to storage are."""
    ram, network = plan.host_ram.fill_ratio if plan.host_ram else None, network_fraction(plan)
    rows = []
    if ram is not None:
        rows.append(FormulaRow(
            say("Host RAM"), say("all that a node's memory holds / its memory"), brief(ram, FRACTION),
            say("The most loaded node at its fullest."),
        ))  # fmt: skip
    if network is not None:
        rows.append(FormulaRow(
            say("Network of a node"), say("S of a node / (t<sub>w</sub> × lowest ceiling of a node on the way)"),
            brief(network, FRACTION), say("Cards, links and the limit of one client."),
        ))  # fmt: skip
    return rows
