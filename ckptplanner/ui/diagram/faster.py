"""What would write faster, where the file system is the limit: the cheapest of the offers that do. No Qt."""

from __future__ import annotations

from ckptplanner.engine.plan import Option, Plan

_WORTH_SAYING = 0.98  # of the present time


def faster_option(plan: Plan) -> Option | None:
    """The cheapest offered file system that writes in clearly less time, None where there is none or a price is missing."""
    chosen = plan.storage.chosen
    if chosen is None or chosen.usd_per_month is None or chosen.id == "custom":
        return None
    better = [
        option for option in plan.storage.options
        if option.is_offered and option.usd_per_month is not None and option.id != "custom"
        and option.writes_in_s < chosen.writes_in_s * _WORTH_SAYING
    ]  # fmt: skip
    return min(better, key=lambda option: option.usd_per_month or 0.0, default=None)
