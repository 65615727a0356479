"""A proposed plan in words: what it is, what it costs, what it sets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ckptplanner.engine.cost import Basis, per_basis
from ckptplanner.engine.optimise import Proposal
from ckptplanner.engine.scenario import CustomStorage, Scenario
from ckptplanner.engine.value_words import VALUE_WORDS
from ckptplanner.engine.ways import changed
from ckptplanner.frozen import spec_of, value_at
from ckptplanner.ui.shown import Shown
from ckptplanner.ui.words import say, say_text
from ckptplanner.units import (
    BYTES,
    BYTES_PER_S,
    FRACTION,
    MONTHS_PER_YEAR,
    NBSP,
    SECONDS,
    UNKNOWN,
    USD,
    brief,
    grouped,
    percent,
    rough,
)

_EQUAL = 1e-3  # what is no difference. [%]
# what a search is free to set
FREE_PATHS = (
    "storage.mode", "storage.pace", "storage.write_s", "storage.interval_s", "storage.custom", "storage.tier",
    "local.enabled", "local.interval_s", "local.ratio", "local.blocking_s", "local.durable_s",
    "replication.factor", "replication.jump",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Figures:
    """What plans are compared by; None is not known."""

    storage_usd_per_year: float | None
    total_usd_per_year: float | None
    waste_fraction: float | None
    worst_rework_s: float | None

    @property
    def lost_usd_per_year(self) -> float | None:
        """What is paid beside the storage: GPU time that is lost, and little else."""
        if self.storage_usd_per_year is None or self.total_usd_per_year is None:
            return None
        return self.total_usd_per_year - self.storage_usd_per_year


def figures_of(one: Proposal) -> Figures:
    """The figures of a proposal."""
    year = None if one.usd_per_month is None else one.usd_per_month * MONTHS_PER_YEAR
    return Figures(year, one.total_usd_per_year, one.waste_fraction, one.worst_rework_s)


def figures_as_it_is(one: Shown) -> Figures:
    """The figures of a scenario's plan."""
    cost, waste = one.plan.cost, one.plan.waste
    return Figures(
        None if cost is None else cost.storage_usd_per_year,
        None if cost is None else cost.total_usd_per_year,
        None if waste is None else waste.total_fraction,
        None if waste is None else waste.worst_rework_s,
    )


def is_same_job(one: Scenario, other: Scenario) -> bool:
    """Whether two scenarios differ at most in what a search is free to set, so that their plans can be ranked together."""
    return changed(other, {path: value_at(one, path) for path in FREE_PATHS}) == one


def money(usd_per_year: float | None, basis: Basis, days: float) -> str:
    """Dollars on a basis, to the dollar: 21,690."""
    return UNKNOWN if usd_per_year is None else grouped(per_basis(usd_per_year, basis, days))


def short_money(usd_per_year: float | None, basis: Basis, days: float) -> str:
    """Dollars on a basis in three digits: $21.7k."""
    return UNKNOWN if usd_per_year is None else brief(per_basis(usd_per_year, basis, days), USD)


def waste_words(fraction: float | None) -> str:
    """A waste as the headline has it."""
    return UNKNOWN if fraction is None else percent(fraction)


def name_of(one: Proposal) -> str:
    """The file system of a plan."""
    return say_text(one.name)


def how(scenario: Scenario, write_s: float, interval_s: float) -> str:
    """How a plan saves: async, written in 44 s, saved every 48 min."""
    mode = say_text(VALUE_WORDS["storage.mode"][scenario.storage.mode])
    values = {"mode": mode, "write": rough(write_s, SECONDS), "interval": rough(interval_s, SECONDS)}
    if not scenario.local.enabled:
        return say("{mode}, written in {write}, every {interval}", **values)
    copies = scenario.replication.factor
    if copies == 1:
        return say("{mode}, written in {write}, every {interval}, local saves between", **values)
    return say("{mode}, written in {write}, every {interval}, local saves with {copies} copies", **values, copies=copies)


def short_how(scenario: Scenario, write_s: float, interval_s: float) -> str:
    """The same in fewer words, for a row."""
    mode = say_text(VALUE_WORDS["storage.mode"][scenario.storage.mode])
    values = {"mode": mode, "write": rough(write_s, SECONDS), "interval": rough(interval_s, SECONDS)}
    if not scenario.local.enabled:
        return say("{mode}, writes {write}, every {interval}", **values)
    copies = scenario.replication.factor
    if copies == 1:
        return say("{mode}, writes {write}, every {interval}, local saves", **values)
    return say("{mode}, writes {write}, every {interval}, {copies} local copies", **values, copies=copies)


def how_of(one: Proposal) -> str:
    """How a proposed plan saves."""
    return how(one.scenario, one.write_s, one.interval_s)


def short_name(one: Proposal) -> str:
    """A name for a scenario of this plan, with spaces that can be typed."""
    return say("{name}, {write}", name=name_of(one), write=rough(one.write_s, SECONDS)).replace(NBSP, " ")


# ---------------------------------------------------------------- what is set


@dataclass(frozen=True, slots=True)
class Setting:
    """One thing that a plan changes: its title, how it is, how it will be."""

    title: str
    now: str
    then: str
    detail: str = ""


def settings_of(one: Proposal, scenario: Scenario) -> tuple[Setting, ...]:
    """What a plan changes in a scenario, the file system first."""
    rows = []
    edits = dict(one.edits)
    if edits.keys() & {"storage.custom", "storage.tier"}:
        custom = edits.get("storage.custom")
        rows.append(Setting(say("File system"), _system(scenario), name_of(one), "" if custom is None else _custom(custom)))
    for path, value in one.edits:
        if path in ("storage.custom", "storage.tier"):
            continue
        rows.append(Setting(say(spec_of(Scenario, path).title), _value(path, value_at(scenario, path)), _value(path, value)))
    return tuple(rows)


def _system(scenario: Scenario) -> str:
    """The file system as the scenario has it."""
    if scenario.storage.custom is not None:
        return say("the storage we have")
    tier = scenario.storage.tier
    return say_text(VALUE_WORDS["storage.tier"][tier]) if tier in VALUE_WORDS["storage.tier"] else tier


def _custom(custom: CustomStorage) -> str:
    values = {
        "write": brief(custom.write_bytes_per_s, BYTES_PER_S), "read": brief(custom.read_bytes_per_s, BYTES_PER_S),
        "room": brief(custom.usable_bytes, BYTES),
    }  # fmt: skip
    if custom.usd_per_month is None:
        return say("writes {write}, reads {read}, holds {room}", **values)
    return say("writes {write}, reads {read}, holds {room}, {month} a month", **values, month=brief(custom.usd_per_month, USD))


def _value(path: str, value: Any) -> str:
    words = VALUE_WORDS.get(path, {})
    if isinstance(value, bool):
        return say("on") if value else say("off")
    if value in words:
        return say_text(words[value])
    if value is None:
        return say("best")
    unit = spec_of(Scenario, path).unit
    if unit is None:
        return str(value)
    return rough(value, unit) if unit == SECONDS else brief(value, unit)


# ---------------------------------------------------------------- differences


def difference(figures: Figures, other: Figures, minimise: str, basis: Basis, days: float, per: str) -> str:
    """How a plan compares with the plan as it is, in a sentence; empty where that is not known."""
    parts = []
    ours, theirs = figures.total_usd_per_year, other.total_usd_per_year
    if ours is not None and theirs is not None:
        change = per_basis(ours - theirs, basis, days)
        amount = brief(abs(change), USD)
        if abs(change) < 0.5:
            parts.append(say("costs the same"))
        else:
            parts.append(say("{amount} less {per}", amount=amount, per=per) if change < 0 else
                         say("{amount} more {per}", amount=amount, per=per))  # fmt: skip
    if figures.waste_fraction is not None and other.waste_fraction is not None:
        parts.append(
            say("waste {now} instead of {was}", now=percent(figures.waste_fraction), was=percent(other.waste_fraction))
        )
    if minimise == "waste":
        parts.reverse()
    return ", ".join(parts)


def share_above(value: float, least: float) -> str:
    """How far a value is above the least: +0.3 %."""
    if least <= 0.0:
        return ""
    share = (value / least - 1.0) * 100.0
    if share < _EQUAL:
        return say("the least")
    decimals = 2 if share < 0.095 else 1 if share < 9.95 else 0
    return f"{share:+,.{decimals}f}\u00a0%"


def rework_words(seconds: float | None) -> str:
    """What an interruption loses at most."""
    return UNKNOWN if seconds is None else rough(seconds, SECONDS)


def waste_exactly(fraction: float | None) -> str:
    """A waste with three digits, for a table."""
    return UNKNOWN if fraction is None else brief(fraction, FRACTION)
