"""The formulas of two levels, of gaps with a memory and of ageing nodes, in the place of those of one level without memory."""

from __future__ import annotations

from collections.abc import Sequence

from ckptplanner.engine.job import ages, job_of
from ckptplanner.engine.laws import Empirical, Lognormal
from ckptplanner.engine.plan import Levels, Plan, Schedule, Waste
from ckptplanner.ui.report.html import FormulaRow
from ckptplanner.ui.words import say
from ckptplanner.units import FRACTION, SECONDS, brief, grouped


def _time(seconds: float | None) -> str:
    return say("never") if seconds is None else brief(seconds, SECONDS)


def exact_number(waste: Waste) -> str:
    """The waste of the exact model, or that there is none."""
    value = waste.exact_fraction
    return say("makes no progress") if value is None else f"η = {brief(value, FRACTION)}"


def first_order_number(waste: Waste) -> str:
    """The waste to first order, or that it says nothing."""
    value = waste.first_order_fraction
    return say("holds no more") if value is None else f"η = {brief(value, FRACTION)}"


def aged_rows(plan: Plan, schedule: Schedule) -> list[FormulaRow]:
    """The mean time between interruptions where each node ages by itself."""
    if not ages(plan.scenario):
        return []
    return [FormulaRow(
        say("Interruptions"), "M = L / (N (H(A + L) − H(A)))", f"M = {_time(schedule.mtbi_s)}",
        say("L run, A age of the nodes, H(u) how often a node fails by the age u: the renewal function of its Weibull law. "
            "Nodes that age each for itself."),
    )]  # fmt: skip


# ---------------------------------------------------------------- gaps with a memory


def is_searched(plan: Plan) -> bool:
    """Whether the best interval was searched for under a law with a memory."""
    storage = plan.scenario.storage
    is_renewal = plan.waste is not None and plan.waste.exact_model == "renewal"
    return is_renewal and storage.interval_model == "exact" and storage.published == "write_end"


def renewal_interval(schedule: Schedule) -> FormulaRow:
    """T* under a law with a memory."""
    return FormulaRow(
        say("Interval"), say("T* = the T for which (T − C) Σ S(R + t<sub>a</sub> + T + j T) is largest"),
        f"T* = {_time(schedule.best_interval_s)}, T = {_time(schedule.interval_s)}",
        say("Found numerically; T is at least C plus the write, t<sub>a</sub> what is written behind the stop."),
    )  # fmt: skip


def renewal_waste(plan: Plan, waste: Waste, *, pauses: str, stops: str) -> FormulaRow:
    """E4, with the law of the gaps."""
    formula = f"1 − η = (T − C) Σ S(R + t − s + T + j P) / (M + D){pauses}{stops}, j = 0, 1, 2, ...<br/>{_law(plan)}"
    return FormulaRow(
        say("Waste, exact"), formula, exact_number(waste),
        say("Renewal model: gaps independent of each other, of this law, whose clock begins anew with each interruption; "
            "s the stop alone. Derived, and met by a simulation."),
    )  # fmt: skip


def _law(plan: Plan) -> str:
    law, failures = job_of(plan.scenario).law, plan.scenario.failures
    if isinstance(law, Empirical):
        return say(
            "S(u) share of the {count} measured gaps above u, scaled to the mean M, in at most 32 groups",
            count=grouped(len(failures.gaps_s)),
        )
    if isinstance(law, Lognormal):
        return say("S(u) chance that a lognormal gap of mean M is above u, σ = {shape}", shape=f"{failures.lognormal_shape:g}")
    return f"S(u) = exp(−(u/b)<sup>k</sup>), b = M / Γ(1 + 1/k), k = {failures.weibull_shape:g}"


# ---------------------------------------------------------------- two levels


def level_rows(
    plan: Plan, levels: Levels, schedule: Schedule, waste: Waste, *, pauses: str, stops: str
) -> Sequence[FormulaRow]:
    """What goes back where, both intervals, restart, rework, and the waste by E5 and E6."""
    return (
        _rates(levels), _intervals(plan, levels), _restarts(plan, levels, schedule), _rework(waste),
        _first_order(waste, stops=" + q" if stops else ""), _nested(plan, waste, pauses=pauses, stops=stops),
    )  # fmt: skip


def _rates(levels: Levels) -> FormulaRow:
    numbers = f"M<sub>1</sub> = {_time(levels.local.mtbi_s)}, M<sub>3</sub> = {_time(levels.shared.mtbi_s)}"
    return FormulaRow(
        say("Interruptions"), "M<sub>1</sub> = M / a<sub>1</sub>, M<sub>3</sub> = M / a<sub>3</sub>", numbers,
        say("1 the nodes' drives, 3 shared storage; a the share of interruptions that goes back to each. "
            "What drives and copies survive goes back to 1, the rest and lost groups to 3."),
    )  # fmt: skip


_SOLVED = {
    "exact": "1 − e<sup>−x</sup> = x − c, x = T*/M, c = C/M",
    "young": "T* = √(2 C M)",
    "daly": "T* = √(2 C M) (1 + √(C / 2M) / 3 + C / 18M)",
}


def _intervals(plan: Plan, levels: Levels) -> FormulaRow:
    storage, local = plan.scenario.storage, plan.scenario.local
    is_given = any(value is not None for value in (storage.interval_s, local.interval_s, local.ratio))
    solved = say("each level by itself: {formula}", formula=_SOLVED[storage.interval_model])
    numbers = f"T<sub>1</sub> = {_time(levels.local.interval_s)}, n = {grouped(levels.ratio)}, "
    source = say(
        "n is the whole number next to (T<sub>3</sub>* − C<sub>3</sub>) / T<sub>1</sub> that wastes less; a local save, and "
        "n of them a shared write, end before the next begins."
    )
    if is_given:
        source = say("What is given is kept, and the rest follows from it.")
    return FormulaRow(
        say("Intervals"), f"{solved}<br/>T<sub>3</sub> = n T<sub>1</sub> + C<sub>3</sub>",
        f"{numbers}T<sub>3</sub> = {_time(levels.shared.interval_s)}", source,
    )  # fmt: skip


def _restarts(plan: Plan, levels: Levels, schedule: Schedule) -> FormulaRow:
    formula = say(
        "R = a<sub>1</sub> R<sub>1</sub> + a<sub>3</sub> R<sub>3</sub>,<br/>"
        "R<sub>3</sub> = detect + reschedule + start + copies × S / read rate"
    )
    if plan.scenario.restart.classes:
        formula = say("R = sum over the restart classes of share × (detect + reschedule + start + read)")
    local, shared = _time(levels.local.restart_s), _time(levels.shared.restart_s)
    return FormulaRow(
        say("Restart"), formula, f"R<sub>1</sub> = {local}, R<sub>3</sub> = {shared}, R = {_time(schedule.restart_s)}",
        say("R<sub>1</sub> as it is given, or by the rows that read from near."),
    )  # fmt: skip


def _rework(waste: Waste) -> FormulaRow:
    formula = (
        "a<sub>1</sub> (T<sub>1</sub>/2 + C<sub>1</sub> + t<sub>1</sub>) + a<sub>3</sub> (T<sub>3</sub>/2 + C<sub>3</sub> "
        "+ t<sub>3</sub>); T<sub>3</sub> + C<sub>3</sub> + t<sub>3</sub>"
    )
    return FormulaRow(
        say("Rework, mean and worst"), formula, f"{_time(waste.mean_rework_s)}, {_time(waste.worst_rework_s)}",
        say("An interruption strikes at any time alike; t from the end of a stop until that save can be restored. "
            "The worst goes back to shared storage."),
    )  # fmt: skip


def _first_order(waste: Waste, *, stops: str) -> FormulaRow:
    return FormulaRow(
        say("Waste, first order"), say("η ≈ sum over both levels of C/T + (T/2 + C + t + R + D) / M") + stops,
        first_order_number(waste),
        say("E5: Benoit, Cavelan, Le Fevre, Robert and Sun 2017 for the sum. Holds for stops much below the intervals and "
            "both much below M."),
    )  # fmt: skip


def _nested(plan: Plan, waste: Waste, *, pauses: str, stops: str) -> FormulaRow:
    late = "t<sub>3</sub>' = t<sub>3</sub>"
    if plan.scenario.local.uploads == "die":
        late += " + P<sub>3</sub> (exp(t<sub>3</sub>/M<sub>1</sub>) − 1)"
    lines = (
        "w = T<sub>1</sub> − C<sub>1</sub>",
        "g<sub>1</sub> = w/M<sub>1</sub> exp(−(R<sub>1</sub> + t<sub>1</sub>)/M<sub>1</sub>) / (exp((T<sub>1</sub> + "
        "C<sub>3</sub>/n)/M<sub>1</sub>) − 1) / (1 + D/M<sub>1</sub>)",
        f"P<sub>3</sub> = n w / g<sub>1</sub>, {late}",
        "1 − η = n w/M<sub>3</sub> exp(−(R<sub>3</sub> + t<sub>3</sub>')/M<sub>3</sub>) / (exp(P<sub>3</sub>/M<sub>3</sub>) "
        f"− 1) / (1 + D/M<sub>3</sub>){pauses}{stops}",
    )
    return FormulaRow(
        say("Waste, exact"), "<br/>".join(lines), exact_number(waste),
        say("E6, the nested model of two levels: memoryless interruptions, which may strike during saves and restarts, and "
            "a shared write that ends before the next begins. Derived, and met by a simulation."),
    )  # fmt: skip
