"""What a search found, and the scenarios of the same job, as ranked rows."""

from __future__ import annotations

from collections.abc import Sequence

from ckptplanner.engine.cost import Basis
from ckptplanner.engine.families import FAMILY_NAMES
from ckptplanner.engine.optimise import Proposal
from ckptplanner.engine.sentence import option_name
from ckptplanner.ui.decide.finder import Found, Goal
from ckptplanner.ui.decide.plan_rows import Entry
from ckptplanner.ui.decide.plan_words import (
    Figures,
    figures_as_it_is,
    figures_of,
    is_same_job,
    money,
    name_of,
    share_above,
    short_how,
    waste_exactly,
    waste_words,
)
from ckptplanner.ui.shown import Shown
from ckptplanner.ui.words import say, say_text
from ckptplanner.units import UNKNOWN

FEW_TIES = 4
_ROUNDING = 1.0 + 1e-9


def proposals_of(found: Found, *, all_ties: bool) -> tuple[tuple[Proposal, ...], int]:
    """The winner, the best of each family and what comes near, each once; and how many near ones are left out."""
    decision = found.decision
    if decision.best is None:
        return (), 0
    kept: dict[object, Proposal] = {decision.best.scenario: decision.best}
    for one in decision.families:
        kept.setdefault(one.scenario, one)
    near = [one for one in decision.ties if one.scenario not in kept]
    shown = near if all_ties else near[:FEW_TIES]
    return (*kept.values(), *shown), len(near) - len(shown)


def broken_limit(figures: Figures, goal: Goal) -> str:
    """Which limit a plan breaks, in words; empty where it keeps all."""
    month = None if figures.storage_usd_per_year is None else figures.storage_usd_per_year / 12.0
    for value, limit, words in (
        (month, goal.storage_usd_per_month, say("above the limit on the storage bill")),
        (figures.waste_fraction, goal.waste_fraction, say("above the limit on waste")),
        (figures.worst_rework_s, goal.worst_rework_s, say("above the limit on lost work")),
    ):
        if value is not None and limit is not None and value > limit * _ROUNDING:
            return words
    return ""


def value_of(figures: Figures, goal: Goal) -> float | None:
    """What a plan is ranked by."""
    return figures.waste_fraction if goal.minimise == "waste" else figures.total_usd_per_year


def entries_of(found: Found, shown: Sequence[Shown], basis: Basis, *, all_ties: bool) -> tuple[tuple[Entry, ...], int]:
    """The rows, the best first, what cannot be ranked last; and how many near ties are left out."""
    proposals, more = proposals_of(found, all_ties=all_ties)
    peers = [one for one in shown if one.is_current or is_same_job(found.scenario, one.named.scenario)]
    goal = found.goal
    best = found.decision.best
    least = None if best is None else value_of(figures_of(best), goal)
    raw: list[tuple[float | None, Figures, Proposal | None, Shown | None, str]] = []
    for one in proposals:
        same = next((own for own in peers if own.named.scenario == one.scenario), None)
        raw.append((value_of(figures_of(one), goal), figures_of(one), one, same, ""))
    taken = {one.scenario for one in proposals}
    for other in peers:
        if other.named.scenario not in taken:
            figures = figures_as_it_is(other)
            broken = broken_limit(figures, goal)
            raw.append((None if broken else value_of(figures, goal), figures, None, other, broken))
    raw.sort(key=lambda row: (row[0] is None, row[0] or 0.0))
    days = found.scenario.run.days
    rows = []
    for place, (value, figures, plan, peer, broken) in enumerate(raw):
        rank = UNKNOWN if value is None else str(place + 1)
        is_near = value is not None and least is not None and value <= least * (1.0 + found.decision.search.within_fraction)
        rows.append(_entry(rank, value, least, figures, plan, peer, broken, basis, days, goal, is_near=is_near))
    return tuple(rows), more


def _entry(
    rank: str,
    value: float | None,
    least: float | None,
    figures: Figures,
    one: Proposal | None,
    peer: Shown | None,
    broken: str,
    basis: Basis,
    days: float,
    goal: Goal,
    *,
    is_near: bool,
) -> Entry:
    name, tag, words = _words(one, peer)
    above = "" if value is None or least is None else share_above(value, least)
    if goal.minimise == "waste":
        main, other = waste_exactly(figures.waste_fraction), money(figures.total_usd_per_year, basis, days)
    else:
        main, other = money(figures.total_usd_per_year, basis, days), waste_words(figures.waste_fraction)
    if main == UNKNOWN:
        main = say("cost unknown") if goal.minimise != "waste" else main
    return Entry(
        key=f"scenario.{peer.index}" if one is None and peer is not None else one.id + _way(one) if one is not None else "",
        rank=rank,
        name=name,
        tag=broken or tag,
        how=words,
        main=main,
        beside=", ".join(part for part in (above, other) if part),
        figures=figures,
        proposal=one,
        scenario=None if peer is None else peer.name,
        mark=None if peer is None else peer.index,
        is_current=peer is not None and peer.is_current,
        is_near=is_near,
    )


def _way(one: Proposal) -> str:
    local = one.scenario.local.enabled
    return f".{one.mode}" + (f".{one.scenario.replication.factor}.{one.scenario.replication.jump}" if local else "")


def key_of(one: Proposal) -> str:
    """The key of a proposal's row."""
    return one.id + _way(one)


def _words(one: Proposal | None, peer: Shown | None) -> tuple[str, str, str]:
    """Name, tag and second line."""
    if one is not None:
        family, name = say_text(FAMILY_NAMES[one.family]), name_of(one)
        kind = "" if str(one.name).startswith(str(FAMILY_NAMES[one.family])) else family
        if peer is not None:
            kind = say("now “{name}”", name=peer.name) if peer.is_current else say("as “{name}”", name=peer.name)
        return name, kind, short_how(one.scenario, one.write_s, one.interval_s)
    assert peer is not None
    scenario, plan = peer.named.scenario, peer.plan
    tag = say("the plan as it is") if peer.is_current else say("another scenario")
    if plan.schedule is None:
        return peer.name, tag, ""
    words = short_how(scenario, plan.schedule.write_s, plan.schedule.period_s)
    chosen = plan.storage.chosen
    if chosen is None:
        return peer.name, tag, words
    return peer.name, tag, say("{system}, {how}", system=say_text(option_name(chosen)), how=words)
