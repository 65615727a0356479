"""What keeps a page of the Decide view from saying anything about the current plan."""

from __future__ import annotations

from ckptplanner.ui.shown import Shown
from ckptplanner.ui.words import say, say_text


def missing(now: Shown, *, needs_dollars: bool = True) -> tuple[str, str] | None:
    """A title and why; None where the plan works and, if they are needed, its dollars are known."""
    plan = now.plan
    reason = next((finding.text for finding in plan.findings if finding.severity == "error"), None)
    if reason is not None:
        return say("This plan does not work yet"), say_text(reason)
    if needs_dollars and (plan.cost is None or plan.cost.total_usd_per_year is None):
        return (
            say("The dollars of this plan are not known"),
            say("A price is missing. Type what storage and nodes cost, in the panels at the left: the rest follows."),
        )
    return None
