"""The status line: the present figures at the left, the model that gave them at the right."""

from __future__ import annotations

from ckptplanner.engine.plan import Plan
from ckptplanner.engine.scenario import NamedScenario
from ckptplanner.frozen import value_at
from ckptplanner.ui.words import say
from ckptplanner.units import BYTES_PER_S, FRACTION, SECONDS, brief, rough

DEFAULT_DATE = "2026-11"  # of the prices that a new scenario starts with
_GAP = "\u00a0" * 6


def figures_line(plan: Plan, named: NamedScenario) -> str:
    """Write time, what it needs, what the file system sustains, and whose prices these are."""
    storage = plan.scenario.storage
    parts = [
        say("Write time {time}", time=rough(storage.write_s, SECONDS)),
        say("needs {rate}", rate=brief(plan.storage.required_write_bytes_per_s, BYTES_PER_S)),
    ]
    if plan.storage.chosen is not None:
        rate = brief(plan.storage.chosen.baseline_bytes_per_s * storage.write_efficiency, BYTES_PER_S)
        parts.append(say("the file system sustains {rate}", rate=rate))
    parts.append(_prices(plan, named))
    return _GAP.join(parts)


def _prices(plan: Plan, named: NamedScenario) -> str:
    """Whose prices these are and of when; a region of which none is known says so."""
    region = plan.scenario.prices.region
    if all(option.usd_per_month is None for option in plan.storage.options):
        return say("no price is known for {region}", region=region)
    priced = [source for source in named.sources if source.path.startswith("prices.") and source.date]
    dates = sorted({source.date for source in priced if value_at(named.scenario, source.path) is not None})
    return say("prices: {region} {date}", region=region, date=dates[-1] if dates else DEFAULT_DATE)


def model_line(plan: Plan) -> str:
    """Which waste model drives the decisions, and what the other one says."""
    waste = plan.waste
    if waste is None:
        return ""
    exact, first = (
        "–" if value is None else brief(value, FRACTION) for value in (waste.exact_fraction, waste.first_order_fraction)
    )
    if waste.model == "exact":
        return say("exact model {exact}, first order {first}", exact=exact, first=first)
    return say("first-order model {first}, exact {exact}", exact=exact, first=first)
