"""The five questions of the headline and their answers, and the smaller line: words and figures, shared by window and report.

Values are named by the figure they show (see derivation/figures.py), so that a click on one finds its derivation.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ckptplanner.engine.cost import per_basis
from ckptplanner.engine.node_plan import Hop
from ckptplanner.engine.plan import Levels, Option, Plan, Waste
from ckptplanner.engine.restarts import each_way
from ckptplanner.engine.scenario import Storage
from ckptplanner.text import Text, text
from ckptplanner.units import (
    BYTES,
    BYTES_PER_S,
    DAY,
    DAYS,
    FRACTION,
    GIB,
    GIBS,
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


@dataclass(frozen=True, slots=True)
class Share:
    """One bar of FITS: how full something is."""

    figure: str
    name: Text
    fraction: float
    shown: str


@dataclass(frozen=True, slots=True)
class Card:
    """One question: the large figure, the words after it, and lines below; FITS has bars instead."""

    title: Text
    figure: str
    large: str
    words: Text
    lines: tuple[Text, ...] = ()
    shares: tuple[Share, ...] = ()


def basis_words(basis: str) -> Text:
    """What dollars are per: a month, the run or a year."""
    return {"month": text("a month"), "run": text("for the run"), "year": text("a year")}[basis]


def money(usd_per_year: float | None, plan: Plan, basis: str) -> str:
    """Yearly dollars on the chosen basis."""
    return UNKNOWN if usd_per_year is None else brief(per_basis(usd_per_year, basis, plan.scenario.run.days), USD)


def _time(seconds: float | None) -> str:
    return UNKNOWN if seconds is None else rough(seconds, SECONDS)


def _far(seconds: float | None) -> str:
    """A time as `_time` says it, in days once it is some."""
    return _time(seconds) if seconds is None or seconds < 3 * DAY else brief(seconds / DAY, DAYS)


def cards(plan: Plan, basis: str = "month") -> tuple[Card, ...]:
    """The five cards of a plan; what is not known is a dash, and a finding says why."""
    return tuple(make(plan, basis) for make in (_costs, _save_every, _if_it_breaks, _buy, _fits))


def _costs(plan: Plan, basis: str) -> Card:
    cost = plan.cost
    parts = (cost.total_usd_per_year, cost.storage_usd_per_year, cost.lost_gpu_usd_per_year) if cost else (None,) * 3
    total, storage, lost = (money(part, plan, basis) for part in parts)
    lines = [text("storage {storage_usd}", storage_usd=storage), text("lost GPU time {lost_gpu_usd}", lost_gpu_usd=lost)]
    if cost is not None and cost.other_usd_per_year != 0:
        lines.append(text("S3, spares, zones {other_usd}", other_usd=money(cost.other_usd_per_year, plan, basis)))
    return Card(text("COSTS"), "total_usd", total, basis_words(basis), tuple(lines))


def _save_every(plan: Plan, basis: str) -> Card:
    schedule = plan.schedule
    steps = grouped(schedule.interval_steps) if schedule else UNKNOWN
    stop, durable = (schedule.blocking_s, schedule.durable_after_s) if schedule else (None, None)
    if plan.levels is not None:
        return _save_on_two_levels(plan.levels, waits=plan.waits)
    return Card(
        text("SAVE EVERY"), "period_s" if plan.waits else "interval_s", _time(schedule.period_s if schedule else None),
        text("{interval_steps} steps", interval_steps=steps),
        (text("each save stops training for {blocking_s}", blocking_s=_time(stop)),
         text("restorable after {durable_after_s}", durable_after_s=_time(durable))),
    )  # fmt: skip


def _save_on_two_levels(levels: Levels, *, waits: bool) -> Card:
    local, shared = levels.local, levels.shared
    every, ratio = _time(shared.interval_s), grouped(levels.ratio)
    to_shared = text("shared: one in {ratio}, every {interval_s}", ratio=ratio, interval_s=every)
    if waits:
        to_shared = text("shared: one in {ratio}, every {period_s}", ratio=ratio, period_s=every)
    elif levels.ratio == 1:
        both = _time(local.blocking_s + shared.blocking_s)
        to_shared = text("shared: each of them, {both_stops_s} of stop in all", both_stops_s=both)
    figure, often = "local_interval_s", _time(local.interval_s)
    if levels.ratio == 1:  # a shared stop after each local one: T1 leaves it out
        figure, often = "period_s" if waits else "interval_s", every
    return Card(
        text("SAVE EVERY"), figure, often, text("on the nodes' drives"),
        (to_shared,
         text("restorable after {local_durable_after_s}, {durable_after_s}",
              local_durable_after_s=_time(local.durable_after_s), durable_after_s=_time(shared.durable_after_s))),
    )  # fmt: skip


def _if_it_breaks(plan: Plan, basis: str) -> Card:
    waste, schedule = plan.waste, plan.schedule
    worst, mean = (waste.worst_rework_s, waste.mean_rework_s) if waste else (None, None)
    restart = schedule.restart_s if schedule else None
    reach = plan.beyond.oldest_reach_s if plan.beyond else None
    times = {"mean_rework_s": _time(mean), "restart_s": _time(restart)}
    after = text("mean {mean_rework_s}, runs again in {restart_s}", **times)
    if len(each_way(plan)) > 1:
        after = text("on average {mean_rework_s}, runs again in {restart_s}", **times)
    return Card(
        text("IF IT BREAKS"), "worst_rework_s", _time(worst), text("lost at most"),
        (after,
         text("can go back {reach_s}", reach_s=_far(reach))),
    )  # fmt: skip


def _buy(plan: Plan, basis: str) -> Card:
    chosen = plan.storage.chosen
    if chosen is None:
        return Card(text("BUY"), "capacity_gib", UNKNOWN, text("nothing on offer fits"))
    price = money(None if chosen.usd_per_month is None else chosen.usd_per_month * MONTHS_PER_YEAR, plan, basis)
    words = text("FSx Lustre") if chosen.usd_per_month is not None else text("not ranked: no price")
    if chosen.throughput_mb_per_s_per_tib is None:
        rate = brief(chosen.baseline_bytes_per_s, BYTES_PER_S)
        return Card(
            text("USE"), "baseline_bytes_per_s", rate, text("storage we have"),
            (text("writes in {writes_in_s}, reads in {restore_read_s}", writes_in_s=_time(chosen.writes_in_s),
                  restore_read_s=_time(plan.schedule.restore_read_s if plan.schedule else None)),
             text("{storage_usd} {per}", storage_usd=price, per=basis_words(basis))),
        )  # fmt: skip
    return Card(
        text("BUY"), "capacity_gib", f"{grouped(chosen.capacity_gib)}\u00a0GiB", words,
        (_sold_as(chosen), _price_line(price, basis, plan.storage.next_best_fraction)),
    )  # fmt: skip


def _sold_as(chosen: Option) -> Text:
    name = f"{grouped(chosen.throughput_mb_per_s_per_tib or 0)}\u00a0MB/s/TiB" + (" EFA" if chosen.efa else "")
    if chosen.bound_by == "capacity":
        return text("{throughput_mb_per_s_per_tib}, bound by capacity", throughput_mb_per_s_per_tib=name)
    if chosen.bound_by == "throughput":
        return text("{throughput_mb_per_s_per_tib}, bound by throughput", throughput_mb_per_s_per_tib=name)
    return text("{throughput_mb_per_s_per_tib}, as fixed", throughput_mb_per_s_per_tib=name)


def _price_line(price: str, basis: str, next_best: float | None) -> Text:
    per = basis_words(basis)
    if next_best is None:
        return text("{storage_usd} {per}", storage_usd=price, per=per)
    more = f"{next_best * 100:+,.0f}\u00a0%".replace("-", "−")
    if next_best < 0:
        return text("{storage_usd} {per}, a cheaper one {next_best}", storage_usd=price, per=per, next_best=more)
    return text("{storage_usd} {per}, next best {next_best}", storage_usd=price, per=per, next_best=more)


def _fits(plan: Plan, basis: str) -> Card:
    chosen = plan.storage.chosen
    shares: list[Share] = []
    node = (
        ("host_ram", text("host RAM"), plan.host_ram.fill_ratio if plan.host_ram else None),
        ("network_fraction", text("network"), network_fraction(plan)),
    )
    shares += [Share(figure, name, use, _share_words(use)) for figure, name, use in node if use is not None]
    if chosen is not None:
        fill = chosen.fill_ratio
        shares.append(Share("fill_fraction", text("file system"), fill, _share_words(fill)))
        quota = quota_fraction(plan)
        if quota is not None:
            shares.append(Share("quota_fraction", text("quota"), quota, _share_words(quota)))
    return Card(text("FITS"), "fill_fraction", "", text(""), shares=tuple(shares))


def _share_words(share: float) -> str:
    """A share in two digits; one that rounds to nothing says so."""
    return f"<0.01{NBSP}%" if 0.0 < share < 1e-4 else brief(share, FRACTION, 2)


def network_limit(plan: Plan) -> Hop | None:
    """The hop of a node's own way to storage that a save uses most; None where none of its ceilings is known."""
    if plan.datapath is None or plan.storage.chosen is None:
        return None
    own = (hop for hop in plan.datapath.phase("shared_write").hops if not hop.is_shared and hop.use_ratio is not None)
    return max(own, key=lambda hop: hop.use_ratio or 0.0, default=None)


def network_fraction(plan: Plan) -> float | None:
    """How much of its card, its links and its client limit a node uses in the shared write. [1]"""
    limit = network_limit(plan)
    return None if limit is None else limit.use_ratio


def quota_fraction(plan: Plan) -> float | None:
    """The share of the account's quota, the user's or the default one, that the chosen file system takes. [1]"""
    chosen, quota = plan.storage.chosen, quota_gib(plan.scenario.storage)
    if chosen is None or chosen.throughput_mb_per_s_per_tib is None:
        return None
    return chosen.capacity_gib / quota if quota else None


def quota_gib(storage: Storage) -> float | None:
    """The account's quota: the user's, else the service's default. [GiB]"""
    return storage.quota_gib or max((tier.default_quota_gib for tier in storage.tiers), default=None)


def small_line(plan: Plan, basis: str = "month") -> tuple[Text, ...]:
    """S, W, T*, waste, planned stops where there are any, goodput and total, in that order."""
    waste = plan.waste
    lost = waste.chosen_fraction if waste else None
    first = waste.first_order_fraction if waste else None
    shown = UNKNOWN if lost is None else percent(lost)
    all_lost = waste.total_fraction if waste else None
    good = UNKNOWN if all_lost is None else f"{(1 - all_lost) * 100:.2f}\u00a0%"
    planned = () if plan.scenario.planned.every_s is None else (_planned_stops(waste),)
    total = plan.cost.total_usd_per_year if plan.cost else None
    exact = UNKNOWN if total is None else f"${grouped(per_basis(total, basis, plan.scenario.run.days))}"
    needed = brief(plan.storage.required_write_bytes_per_s, BYTES_PER_S)
    return (
        text("one checkpoint {checkpoint_bytes}", checkpoint_bytes=_size(plan.checkpoint.checkpoint_bytes)),
        text("needed {required_write_bytes_per_s}", required_write_bytes_per_s=needed),
        _best_words(plan),
        text("waste from saving and interruptions {waste_fraction}", waste_fraction=shown),
        text("first order {first_order_fraction}",
             first_order_fraction=UNKNOWN if first is None else percent(first)),
        *planned,
        text("goodput {goodput_fraction}", goodput_fraction=good),
        text("total {total_usd} {per}", total_usd=exact, per=basis_words(basis)),
    )  # fmt: skip


def _best_words(plan: Plan) -> Text:
    """T*; with two levels T3*, which the whole number of local saves between shared ones does not meet."""
    best = UNKNOWN if plan.schedule is None else _best(plan.schedule.best_interval_s)
    if plan.levels is not None:
        return text("best shared interval {best_interval_s} before rounding to local saves", best_interval_s=best)
    return text("best interval {best_interval_s}", best_interval_s=best)


def _planned_stops(waste: Waste | None) -> Text:
    share = waste.planned_fraction if waste else None
    return text("planned stops {planned_fraction}", planned_fraction=UNKNOWN if share is None else percent(share))


def _size(size_bytes: float) -> str:
    """A size both ways, since 1 TB is no TiB: 1.74 TB = 1,623 GiB."""
    gib = size_bytes / GIB
    return brief(size_bytes, BYTES) + (f" = {brief(round(gib), GIBS)}" if gib >= 10 else "")


def _best(seconds: float) -> str:
    """T* to three digits in one unit: 44.7 min."""
    unit, scale = ("h", 3600.0) if seconds >= 7200 else ("min", 60.0) if seconds >= 60 else ("s", 1.0)
    return f"{seconds / scale:.3g}\u00a0{unit}"


Differ = Callable[[Plan], float | None]
DIFFERENCES: dict[str, tuple[Differ, str]] = {
    "total_usd": (lambda plan: plan.cost.total_usd_per_year if plan.cost else None, "money"),
    **dict.fromkeys(("interval_s", "period_s"), (lambda plan: plan.schedule.period_s if plan.schedule else None, "time")),
    "local_interval_s": (lambda plan: plan.near_period_s, "time"),
    "worst_rework_s": (lambda plan: plan.waste.worst_rework_s if plan.waste else None, "time"),
    "capacity_gib": (lambda plan: _price_of(plan), "money"),
    "baseline_bytes_per_s": (lambda plan: _price_of(plan), "money"),
}


def _price_of(plan: Plan) -> float | None:
    chosen = plan.storage.chosen
    return None if chosen is None or chosen.usd_per_month is None else chosen.usd_per_month * MONTHS_PER_YEAR


def difference(figure: str, plan: Plan, reference: Plan, basis: str) -> str | None:
    """How a card's figure differs from a reference plan, with its sign; None where there is nothing to say."""
    if figure not in DIFFERENCES:
        return None
    read, kind = DIFFERENCES[figure]
    mine, theirs = read(plan), read(reference)
    if mine is None or theirs is None:
        return None
    change = mine - theirs
    if abs(change) < 1e-9:
        return None
    if kind == "money":
        dollars = per_basis(abs(change), basis, plan.scenario.run.days)
        size = f"${grouped(dollars)}" if dollars < 1e5 else brief(dollars, USD)
    else:
        size = rough(abs(change), SECONDS)
    return ("+" if change > 0 else "−") + size
