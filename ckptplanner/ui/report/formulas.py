"""The formulas that led to a plan, each with the plan's own numbers, its source and the range in which it holds."""

from __future__ import annotations

from dataclasses import dataclass

from ckptplanner.engine.plan import Plan, Schedule, Waste
from ckptplanner.engine.scenario import Storage
from ckptplanner.ui.words import say
from ckptplanner.units import BYTES, BYTES_PER_S, FRACTION, GIBS, HOURS_PER_YEAR, SECONDS, brief


@dataclass(frozen=True, slots=True)
class FormulaRow:
    """One line of the table; `formula` is HTML, the rest plain text."""

    what: str
    formula: str
    numbers: str
    source: str


def formula_rows(plan: Plan) -> list[FormulaRow]:
    """The formulas in the order in which they are used; those that this plan does not use are left out."""
    rows = [_size(plan), _rate(plan)]
    if plan.storage.chosen is not None and plan.storage.chosen.bound_by is not None:
        rows.append(_capacity(plan))
    if plan.schedule is not None and plan.waste is not None:
        rows += [_interval(plan.scenario.storage, plan.schedule), _restart(plan.schedule), _rework(plan.waste)]
        rows += [_first_order(plan.waste), _exact(plan.waste), _dollars()]
    return rows


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


def _restart(schedule: Schedule) -> FormulaRow:
    return FormulaRow(
        say("Restart"), say("R = detect + reschedule + start + copies × S / read rate"),
        f"R = {brief(schedule.restart_s, SECONDS)}", say("The read is bounded by the file system and by the nodes."),
    )  # fmt: skip


def _rework(waste: Waste) -> FormulaRow:
    numbers = f"{brief(waste.mean_rework_s, SECONDS)}, {brief(waste.worst_rework_s, SECONDS)}"
    return FormulaRow(
        say("Rework, mean and worst"), "P/2 + t, P + t", numbers, say("An interruption strikes at any time alike.")
    )


def _first_order(waste: Waste) -> FormulaRow:
    value = waste.first_order_fraction
    numbers = say("holds no more") if value is None else f"η = {brief(value, FRACTION)}"
    return FormulaRow(
        say("Waste, first order"), "η ≈ C/T + (P/2 + t + R + D) / M", numbers,
        say("Young 1974. Holds for C much below T, T much below M, t < T, constant rate."),
    )  # fmt: skip


def _exact(waste: Waste) -> FormulaRow:
    value = waste.exact_fraction
    numbers = say("makes no progress") if value is None else f"η = {brief(value, FRACTION)}"
    formula = "1 − η = ((T − C)/M) e<sup>−(T + t − s + R)/M</sup><br/>/ ((1 − e<sup>−P/M</sup>)(1 + D/M)), " + say(
        "s = the stop alone"
    )
    return FormulaRow(
        say("Waste, exact"), formula, numbers,
        say("Renewal reward for exponential interruptions, which may strike during saves and restarts; any C, T and M. "
            "Correlated faults and changing rates are outside of it."),
    )  # fmt: skip


def _dollars() -> FormulaRow:
    return FormulaRow(
        say("Dollars a year"), say("{hours} × GPUs × value of a GPU-hour × η + 12 × storage", hours=f"{HOURS_PER_YEAR:,.0f}"),
        "", say("Reserved GPUs cost the same idle or busy: then it is the value of the training lost."),
    )  # fmt: skip
