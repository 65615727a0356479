"""What the formula that decides says of each cause of loss, in the words of the simulation, so that both can be compared."""

from __future__ import annotations

from ckptplanner.engine.plan import Plan


def formula_causes(plan: Plan) -> dict[str, float] | None:
    """Shares of the run by cause, which sum to 1; None where the formula that decides has no number.

    What interruptions cost is split as the means of its parts are: rework, restart, and waiting for a node
    (docs/models.md 4). The formula does not tell saving from waiting for the last write: both are "saving".
    """
    waste, schedule = plan.waste, plan.schedule
    if waste is None or schedule is None or waste.chosen_fraction is None or waste.saving_fraction is None:
        return None
    down_s = plan.scenario.failures.downtime_s + (plan.beyond.mean_wait_s if plan.beyond is not None else 0.0)
    parts_s = {"rework": waste.mean_rework_s, "restart": schedule.restart_s, "down": down_s}
    lost, total_s = waste.chosen_fraction - waste.saving_fraction, sum(parts_s.values())
    planned = waste.planned_fraction or 0.0
    split = {name: lost * part_s / total_s if total_s > 0.0 else 0.0 for name, part_s in parts_s.items()}
    kept = 1.0 - waste.chosen_fraction - planned
    return {"training": kept, "saving": waste.saving_fraction, **split, "planned": planned}
