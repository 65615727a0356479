"""The report's table of two levels: how often each is saved to, what a save costs, what goes back to it and what it wastes."""

from __future__ import annotations

from ckptplanner.engine.plan import Level, Levels, Plan
from ckptplanner.ui.report.html import esc, table
from ckptplanner.ui.words import say
from ckptplanner.units import FRACTION, SECONDS, UNKNOWN, brief, grouped, rough


def levels_part(plan: Plan) -> str:
    """Both levels; empty with one."""
    if plan.levels is None:
        return ""
    levels = plan.levels
    headings = [
        say("Level"), say("A save every"), say("Stops training"), say("Restorable after"), say("Gone back to every"),
        say("Runs again in"), say("Waste"),
    ]  # fmt: skip
    rows = [_row(say("The nodes' drives"), levels.local), _row(say("Shared storage"), levels.shared)]
    made = table(headings, rows, right=(1, 2, 3, 4, 5, 6), widths=(20, 13, 13, 15, 16, 13, 10))
    return f"<h2>{esc(say('Two levels'))}</h2><h6 class='caption'>{esc(_caption(plan, levels))}</h6>{made}"


def _row(name: str, level: Level) -> list[str]:
    cells = (
        name, rough(level.interval_s, SECONDS), brief(level.blocking_s, SECONDS), brief(level.durable_after_s, SECONDS),
        say("never") if level.mtbi_s is None else brief(level.mtbi_s, SECONDS), brief(level.restart_s, SECONDS),
        UNKNOWN if level.waste_fraction is None else brief(level.waste_fraction, FRACTION),
    )  # fmt: skip
    return [esc(cell) for cell in cells]


def _caption(plan: Plan, levels: Levels) -> str:
    """How the levels go together, which model gave the number, and what shared saves alone would waste."""
    which = say("Each local save goes to shared storage too.")
    if levels.ratio > 1:
        which = say("One in {ratio} local saves goes to shared storage too.", ratio=grouped(levels.ratio))
    first = plan.waste.first_order_fraction if plan.waste else None
    values = {
        "exact": _share(levels.waste_fraction), "first": _share(first), "alone": _share(levels.single_level_fraction),
    }  # fmt: skip
    said = say(
        "Waste {exact} by the nested model of two levels (E6), {first} to first order (E5); {alone} with shared saves alone.",
        **values,
    )
    if plan.scenario.failures.has_memory:
        said = say(
            "Waste {exact} by the nested model of two levels (E6), {first} to first order (E5); {alone} with shared saves "
            "alone. All three are for memoryless interruptions.",
            **values,
        )
    return f"{which} {said}"


def _share(fraction: float | None) -> str:
    return UNKNOWN if fraction is None else brief(fraction, FRACTION)
