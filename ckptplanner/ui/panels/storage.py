"""The panel of how and where checkpoints are written."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from typing_extensions import override

from ckptplanner.data import catalog
from ckptplanner.engine.plan import Option, Plan
from ckptplanner.engine.scenario import TIER_PATTERN, CustomStorage, Scenario
from ckptplanner.ui.panels.panel import (
    ButtonEntry,
    Edit,
    Entry,
    FieldEntry,
    Panel,
    check,
    listed,
    named_choices,
    quantity,
    switch,
)
from ckptplanner.ui.widgets.choice_edit import Choice
from ckptplanner.ui.words import say
from ckptplanner.units import HOUR, MINUTE, NBSP, SECONDS, USD_PER_MONTH, brief, grouped, significant

_EXISTING: Final = "existing"


class StoragePanel(Panel):
    """Mode, stop time, write time, generations, file system, region."""

    @override
    def title(self) -> str:
        return say("Storage")

    @override
    def entries(self) -> Sequence[Entry]:
        return (*_saving(), *_file_system(), *_limits(), *_models(), *_prices())


def _has_custom(scenario: Scenario) -> bool:
    return scenario.storage.custom is not None


def _buys(scenario: Scenario) -> bool:
    return scenario.storage.custom is None


def _not_at_full_pace(scenario: Scenario) -> str:
    is_taken = scenario.storage.custom is not None and scenario.storage.pace == "full"
    return say("not at full pace") if is_taken else ""


def _not_with_sync(scenario: Scenario) -> str:
    return say("not with sync") if scenario.storage.mode == "sync" else ""


def _saving() -> tuple[Entry, ...]:
    return (
        FieldEntry(path="storage.mode", make=switch(*named_choices("storage.mode"))),
        FieldEntry(path="storage.blocking_s", reason=_not_with_sync),
        FieldEntry(path="storage.write_s", reason=_not_at_full_pace),
        FieldEntry(path="storage.interval_s", make=quantity(say("best")), none_text=_best_interval),
        FieldEntry(path="storage.generations_kept", line=_generations),
    )


def _file_system() -> tuple[Entry, ...]:
    custom = "storage.custom."
    return (
        FieldEntry(
            path="storage.tier",
            make=listed(Choice("auto", say("cheapest")), describe=_tier_name),
            shown=lambda scenario: _EXISTING if _has_custom(scenario) else scenario.storage.tier,
            choices=_tiers,
            edits=_choose_tier,
            also=("storage.custom",),
        ),
        FieldEntry(path=f"{custom}write_bytes_per_s", is_shown=_has_custom),
        FieldEntry(path=f"{custom}read_bytes_per_s", is_shown=_has_custom),
        FieldEntry(path=f"{custom}usable_bytes", is_shown=_has_custom),
        FieldEntry(path=f"{custom}usd_per_month", make=quantity(say("unknown")), is_shown=_has_custom),
        ButtonEntry(title=say("buy a new one instead"), edit=("storage.custom", None), is_shown=_has_custom),
        FieldEntry(
            path="storage.efa",
            make=listed(*named_choices("storage.efa")),
            choices=_efa,
            is_shown=_buys,
        ),
        FieldEntry(
            path="prices.region",
            make=listed(*(Choice(region, region) for region in catalog.regions())),
            is_shown=_buys,
        ),
    )


def _limits() -> tuple[Entry, ...]:
    return (
        FieldEntry(path="storage.max_fill", rare=True),
        FieldEntry(path="storage.write_efficiency", rare=True),
        FieldEntry(path="storage.read_efficiency", rare=True),
        FieldEntry(path="storage.background_loss_s", rare=True),
        FieldEntry(path="storage.slowdown_fraction", title=say("Slowdown"), reason=_not_with_sync, rare=True),
        FieldEntry(path="storage.latency_s", title=say("Fixed time"), rare=True),
        FieldEntry(
            path="storage.pace",
            make=listed(*named_choices("storage.pace")),
            rare=True,
        ),
        FieldEntry(
            path="storage.published",
            make=listed(*named_choices("storage.published")),
            rare=True,
        ),
    )


def _models() -> tuple[Entry, ...]:
    return (
        FieldEntry(
            path="storage.interval_model",
            make=listed(*named_choices("storage.interval_model")),
            rare=True,
        ),
        FieldEntry(
            path="storage.waste_model",
            make=listed(*named_choices("storage.waste_model")),
            rare=True,
        ),
        FieldEntry(
            path="storage.choose_by",
            make=listed(*named_choices("storage.choose_by")),
            rare=True,
        ),
        FieldEntry(path="storage.whole_steps", rare=True),
        FieldEntry(path="storage.quota_gib", make=quantity(say("only a warning")), rare=True),
        FieldEntry(path="shared.used_bytes", rare=True),
        FieldEntry(path="shared.load_bytes_per_s", rare=True),
        FieldEntry(path="shared.jobs", rare=True, line=_jobs),
        FieldEntry(path="network.same_zone", make=check(say("as the nodes")), rare=True),
    )


def _prices() -> tuple[Entry, ...]:
    table = "prices.storage_usd_per_gib_month."
    tiers = ("p2_125", "p2_250", "p2_500", "p2_1000")
    return (
        *(FieldEntry(path=table + tier, make=quantity(say("unknown")), rare=True) for tier in tiers),
        FieldEntry(
            path="prices.gpu_value_usd_per_h",
            title=say("GPU-hour value"),
            make=quantity(say("from node price")),
            rare=True,
        ),
        FieldEntry(path="prices.s3_usd_per_gb_month", make=quantity(say("unknown")), rare=True),
        FieldEntry(path="prices.cross_zone_usd_per_gb", make=quantity(say("unknown")), rare=True),
    )


def _best_interval(plan: Plan) -> str:
    if plan.schedule is None:
        return say("best")
    is_free = plan.scenario.storage.interval_s is None
    seconds = plan.schedule.interval_s if is_free else plan.schedule.best_interval_s
    if 10 * MINUTE <= seconds < 2 * HOUR:
        return say("best, {time}", time=f"{significant(seconds / MINUTE)}{NBSP}min")
    return say("best, {time}", time=brief(seconds, SECONDS))


def _generations(plan: Plan) -> str:
    return say("{count} complete + 1 being written", count=f"{plan.scenario.storage.generations_kept - 1:,}")


def _jobs(plan: Plan) -> str:
    if plan.beyond is None or plan.scenario.shared.jobs == 1:
        return ""
    return say("{count} write at once", count=grouped(plan.beyond.jobs_writing))


def _size(throughput: float, capacity: float, efa: bool) -> str:
    return f"{throughput:,.0f}, {capacity:,.0f}{NBSP}GiB" + (" EFA" if efa else "")


def _tier_name(tier: Any) -> str:
    """How a tier reads that is not among the plan's options."""
    match = TIER_PATTERN.fullmatch(str(tier))
    return _size(float(match[1]), float(match[2]), bool(match[3])) if match else say("storage we have")


def _option_choice(option: Option) -> Choice:
    size = _size(option.throughput_mb_per_s_per_tib or 0.0, option.capacity_gib, option.efa)
    price = say("price unknown")
    if option.usd_per_month is not None:
        price = say("{price} a month", price=brief(option.usd_per_month, USD_PER_MONTH))
    return Choice(option.id, f"{size}    {price}", size, say("MB/s for each TiB, capacity"))


def _tiers(plan: Plan) -> tuple[Choice, ...]:
    offered = [o for o in plan.storage.options if o.is_offered and TIER_PATTERN.fullmatch(o.id)]
    return (
        Choice("auto", say("cheapest")),
        *map(_option_choice, offered),
        Choice(_EXISTING, say("storage we have")),
    )


def _choose_tier(scenario: Scenario, chosen: str) -> tuple[Edit, ...]:
    """Another file system: one that exists, or a new one in its place."""
    if chosen == _EXISTING:
        return (("storage.custom", CustomStorage()), ("storage.pace", "full"))  # its own speed, no time of ours
    back = (("storage.custom", None), ("storage.pace", "within")) if _has_custom(scenario) else ()
    change = (("storage.tier", chosen),) if chosen != scenario.storage.tier else ()
    return (*back, *change)


def _efa(plan: Plan) -> tuple[Choice, ...]:
    chosen = plan.storage.chosen
    found = say("auto") if chosen is None else say("auto, on") if chosen.efa else say("auto, off")
    return (
        Choice("auto", say("auto: on above 10 GB/s"), found),
        Choice("on", say("on")),
        Choice("off", say("off")),
    )
