"""Why a figure is what it is: its formula, the numbers put in, where they come from and what would change it.

    W = S / t_w                          formula      one template, "{S} / {t_need}", written twice:
    1,742.3 GB / 300 s = 5.81 GB/s       substituted  once with the symbols and once with the numbers of its terms
    S           1.742 TB, 124.45 B by 14 B            a term leads to a field or to another figure
    10 min to write     2.90 GB/s     -50 %           a nudge: the scenario with one input changed, evaluated again

Nothing is computed a second time here. Every number stands in the Plan, the Scenario or the Job; which template holds
follows from the models, the mode and the kind of storage. A figure that is not known says what is missing.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

from pydantic import ValidationError

from ckptplanner.data import catalog
from ckptplanner.data.records import FsxTier
from ckptplanner.engine.checks import source_kind
from ckptplanner.engine.cost import Basis, per_basis
from ckptplanner.engine.evaluate import evaluate
from ckptplanner.engine.outcome import Job, job_of
from ckptplanner.engine.plan import Option, Plan
from ckptplanner.engine.scenario import NamedScenario, Scenario
from ckptplanner.frozen import spec_of, value_at, with_value
from ckptplanner.text import Text, text
from ckptplanner.units import (
    BYTES,
    BYTES_PER_PARAM,
    BYTES_PER_S,
    COUNT,
    DAY,
    FRACTION,
    GIB,
    GIBS,
    NBSP,
    PARAMS,
    SECONDS,
    SHOWN_STEPS,
    TIER,
    USD,
    USD_PER_GIB_MONTH,
    USD_PER_H,
    Unit,
    brief,
    exact,
    grouped,
    significant,
)


@dataclass(frozen=True, slots=True)
class Input:
    """One number of the formula. It leads to a field (`path`), to another derivation (`figure`) or nowhere."""

    symbol: str
    title: Text
    value: Text
    remark: Text | None
    path: str | None
    figure: str | None
    kind: str


@dataclass(frozen=True, slots=True)
class Change:
    """What one changed input would make of the figure."""

    label: Text
    value: Text
    difference: Text


@dataclass(frozen=True, slots=True)
class Derivation:
    """What the window says when one asks why. `substituted` ends with `result`; both are empty where `missing` says why."""

    figure: str
    title: Text
    formula: str
    substituted: str
    result: str
    missing: Text | None
    inputs: tuple[Input, ...]
    changes: tuple[Change, ...]
    valid: Text
    source: Text


@dataclass(frozen=True)
class Case:
    """A named scenario, its plan and the span of time its dollars are for: what terms and figures are read from."""

    named: NamedScenario
    basis: Basis

    @cached_property
    def plan(self) -> Plan:
        """The plan; `evaluate` remembers it."""
        return evaluate(self.named.scenario)

    @cached_property
    def job(self) -> Job:
        """What no file system changes."""
        return job_of(self.named.scenario)

    @property
    def scenario(self) -> Scenario:
        """The inputs."""
        return self.named.scenario

    @property
    def chosen(self) -> Option | None:
        """The file system that was chosen."""
        return self.plan.storage.chosen

    @property
    def tier(self) -> FsxTier | None:
        """The catalog row of the chosen file system, None for storage that exists."""
        key = (getattr(self.chosen, "throughput_mb_per_s_per_tib", None), getattr(self.chosen, "efa", None))
        return next((t for t in self.scenario.storage.tiers if (t.throughput_mb_per_s_per_tib, t.efa) == key), None)

    @property
    def is_sync(self) -> bool:
        """Whether training waits for the write."""
        return self.scenario.storage.mode == "sync"

    @property
    def is_custom(self) -> bool:
        """Whether storage that exists is used."""
        return self.scenario.storage.custom is not None

    @property
    def waits(self) -> bool:
        """Whether the next save begins before the last one is written, so that training waits."""
        schedule = self.plan.schedule
        return schedule is not None and schedule.period_s > schedule.interval_s * (1 + 1e-9)

    @property
    def wanted_s(self) -> float:
        """The interval before it is held between a step and the run. [s]"""
        schedule, asked = self.plan.schedule, self.scenario.storage.interval_s
        if asked is not None or schedule is None:
            return asked or 0.0
        return max(schedule.best_interval_s, schedule.blocking_s + (0.0 if self.is_sync else schedule.write_s))


Reader = Callable[[Case], float | None]
Maker = Callable[[Case], str]


# ---------------------------------------------------------------- how numbers are written


def precise(value: float, unit: Unit) -> str:
    """A number for the substituted line: five digits and a unit in which the line can be worked out by hand."""
    if unit.kind == "params":
        return f"{_digits(value / 1e9)}e9"
    for name, scale in SHOWN_STEPS[unit.kind] if unit.kind in {"bytes", "rate"} else ():
        if abs(value) >= 10 * scale or scale == 1.0:
            return f"{_digits(value / scale)}{NBSP}{name}"
    if unit.kind == "fraction":
        return f"{_digits(value * 100)}{NBSP}%"
    if unit.kind == "usd":
        return "$" + _digits(value) + {"USD/h": "/h", "USD/GiB-month": "/GiB"}.get(unit.symbol, "")
    ending = {"time": "s", "gib": "GiB", "tier": "MB/s", "bytes_per_param": "B", "days": "d"}.get(unit.kind)
    return _digits(value) + (f"{NBSP}{ending}" if ending else "")


def _digits(value: float) -> str:
    return grouped(value) if value == int(value) and abs(value) < 1e9 else significant(value, 5)


def shown(value: float, unit: Unit) -> str:
    """A result as the cards say it, with all of its three digits: 2.90 GB/s, $21,938, 44 min 47 s."""
    if unit.kind == "usd":
        return exact(round(value), USD) if abs(value) >= 100 else brief(value, unit)
    if unit.kind == "time" and 1 <= value < 59.95:
        return f"{significant(value)}{NBSP}s"
    for name, scale in SHOWN_STEPS[unit.kind] if unit.kind in {"bytes", "rate"} else ():
        if abs(value) >= scale * 0.9995:
            decimals = max(0, 2 - math.floor(math.log10(value / scale * 1.0005)))
            return f"{grouped(value / scale, decimals)}{NBSP}{name}"
    return brief(value, unit)


def _plain(words: str) -> Text:
    return text("{value}", value=words)


def _finite(value: float | None) -> float | None:
    return None if value is None or not math.isfinite(value) else float(value)


# ---------------------------------------------------------------- terms: the numbers that formulas are made of


@dataclass(frozen=True, slots=True)
class Term:
    """A number of a formula: symbol, unit, where it stands, and the field or figure that it leads to."""

    symbol: str
    unit: Unit
    read: Reader
    leads: str | Maker = ""
    title: Text | None = None
    remark: Callable[[Case], Text | None] = lambda case: None

    def leads_to(self, case: Case) -> str:
        """A field path, a figure id or nothing."""
        return self.leads if isinstance(self.leads, str) else self.leads(case)


def _from(part: str) -> Callable[[str], Reader]:
    """Readers of one part of the plan: None where the part or its number is."""

    def reader_of(name: str) -> Reader:
        path = part.split(".")

        def read(case: Case) -> float | None:
            found: Any = case.plan
            for step in (*path, name):
                found = getattr(found, step, None)
            return _finite(found)

        return read

    return reader_of


_schedule, _waste, _cost, _size = _from("schedule"), _from("waste"), _from("cost"), _from("checkpoint")
_chosen, _next, _storage = _from("storage.chosen"), _from("storage.next_best"), _from("storage")


def _field(symbol: str, path: str, unit: Unit | None = None, remark: Callable[[Case], Text | None] | None = None) -> Term:
    """A term that is an input, under the words of its field."""
    spec = spec_of(Scenario, path)
    return Term(
        symbol, unit or spec.unit or COUNT, lambda case: _finite(value_at(case.scenario, path)), path,
        Text(spec.title), remark or (lambda case: None),
    )  # fmt: skip


def _figure(symbol: str, figure: str, remark: Callable[[Case], Text | None] | None = None) -> Term:
    """A term that is a figure of its own."""
    return Term(
        symbol, _UNITS.get(figure, SECONDS), lambda case: read_figure(case, figure), figure, None, remark or (lambda case: None)
    )


def _tier_number(name: str) -> Reader:
    return lambda case: _finite(getattr(case.tier, name, None))


def _price_path(case: Case) -> str:
    return f"prices.storage_usd_per_gib_month.p2_{case.tier.throughput_mb_per_s_per_tib:.0f}" if case.tier else ""


def _price(case: Case) -> float | None:
    return _finite(value_at(case.scenario, path)) if (path := _price_path(case)) else None


def _gpu_value_path(case: Case) -> str:
    return "prices.node_usd_per_h" if case.scenario.prices.gpu_value_usd_per_h is None else "prices.gpu_value_usd_per_h"


def _gpu_value_remark(case: Case) -> Text | None:
    prices, gpus = case.scenario.prices, case.scenario.workload.gpus_per_node
    if prices.gpu_value_usd_per_h is not None or prices.node_usd_per_h is None:
        return None
    return text("{price} a node by {gpus}", price=brief(prices.node_usd_per_h, USD_PER_H, 6), gpus=gpus)


def _size_remark(case: Case) -> Text | None:
    work = case.scenario.workload
    if work.measured_bytes is not None:
        return text("measured")
    return text(
        "{params} by {bytes}", params=brief(work.total_params, PARAMS, 5), bytes=brief(work.bytes_per_param, BYTES_PER_PARAM)
    )


def _write_path(case: Case) -> str:
    return "writes_in_s" if case.scenario.storage.pace == "full" else "storage.write_s"


def _full_pace_counts(case: Case) -> bool:
    return case.scenario.storage.pace == "full" and case.is_custom and case.plan.schedule is not None


def _need_s(case: Case) -> float | None:
    return _schedule("write_s")(case) if _full_pace_counts(case) else case.scenario.storage.write_s


def _decision(case: Case) -> Text | None:
    return text("a decision") if case.scenario.storage.pace == "within" else None


def _quota(case: Case) -> float | None:
    limits = [tier.default_quota_gib for tier in case.scenario.storage.tiers]
    return case.scenario.storage.quota_gib or max(limits, default=None)


def _option_name(option: Option | None) -> Text | None:
    if option is None or option.throughput_mb_per_s_per_tib is None:
        return None
    tier, size = grouped(option.throughput_mb_per_s_per_tib), grouped(option.capacity_gib)
    return text("{tier} MB/s/TiB, {size} GiB", tier=tier, size=size)


_MONEY_FIGURES = ("total_usd", "storage_usd", "lost_gpu_usd", "storage_usd_per_month")
_UNITS: Mapping[str, Unit] = {
    **dict.fromkeys(_MONEY_FIGURES, USD), "interval_steps": COUNT, "capacity_gib": GIBS,
    "checkpoint_bytes": BYTES, "bytes_per_node": BYTES,
    "baseline_bytes_per_s": BYTES_PER_S, "required_write_bytes_per_s": BYTES_PER_S,
    **dict.fromkeys(
        ("next_best", "fill_fraction", "quota_fraction", "waste_fraction", "first_order_fraction", "goodput_fraction"), FRACTION
    ),
}  # fmt: skip

_TERMS: Mapping[str, Term] = {
    "P": _field("P", "workload.total_params"),
    "P_f": _field("P_f", "workload.frozen_params"),
    "b": Term(
        "b", BYTES_PER_PARAM, lambda case: case.scenario.workload.bytes_per_param, "workload.layout", text("Saved for each"),
    ),
    "b_f": _field("b_f", "workload.frozen_bytes_per_param"),
    "S_m": _field("S", "workload.measured_bytes"),
    "S": _figure("S", "checkpoint_bytes", _size_remark),
    "S_gib": Term("S", GIBS, lambda case: case.plan.checkpoint.checkpoint_bytes / GIB, "checkpoint_bytes", None, _size_remark),
    "N": _field("N", "workload.nodes"),
    "g": _field("g", "workload.gpus_per_node"),
    "s": _field("s", "workload.step_s"),
    "M_0": _field("M_0", "failures.mtbi_s"),
    "N_0": _field("N_0", "failures.mtbi_nodes", remark=lambda case: text("nodes that it was counted on")),
    "M": _figure("M", "mtbi_s"),
    "t_d": _field("t_d", "failures.detect_s"),
    "t_q": _field("t_q", "failures.reschedule_s"),
    "t_b": _field("t_b", "failures.start_s"),
    "D": _field("D", "failures.downtime_s"),
    "C_given": _field("C", "storage.blocking_s"),
    "C": _figure("C", "blocking_s"),
    "loss": _field("C_b", "storage.background_loss_s"),
    "slow": _field("σ", "storage.slowdown_fraction"),
    "t_w": Term("t_w", SECONDS, _schedule("write_s"), _write_path, text("Write time"), _decision),
    "t_need": Term(
        "t_w", SECONDS, _need_s, lambda case: "writes_in_s" if _full_pace_counts(case) else "storage.write_s",
        text("Write time"), _decision,
    ),
    "l": _field("l", "storage.latency_s"),
    "T_asked": _field("T", "storage.interval_s"),
    "T": _figure("T", "interval_s"),
    "T_best": _figure("T*", "best_interval_s"),
    "n_steps": _figure("n", "interval_steps"),
    "run": Term("L", SECONDS, lambda case: case.scenario.run.days * DAY, "run.days", text("Run length")),
    "days": _field("L", "run.days"),
    "t": _figure("t", "durable_after_s"),
    "R": _figure("R", "restart_s"),
    "t_r": _figure("t_r", "restore_read_s"),
    "k": _field("k", "storage.generations_kept"),
    "fill": _field("f", "storage.max_fill"),
    "e_w": _field("e_w", "storage.write_efficiency"),
    "e_r": _field("e_r", "storage.read_efficiency"),
    "copies": _field("m", "restore.copies"),
    "W": _figure("W", "required_write_bytes_per_s"),
    "c": _figure("c", "capacity_gib"),
    "c_fixed": Term("c", GIBS, _chosen("capacity_gib"), "storage.tier", text("File system")),
    "c_custom": Term("c", GIBS, _chosen("capacity_gib"), "storage.custom.usable_bytes", text("Usable")),
    "u": Term("u", GIBS, _tier_number("step_gib"), "", text("Grows in steps of")),
    "tau": Term(
        "τ", TIER, _chosen("throughput_mb_per_s_per_tib"), "storage.tier", text("Baseline of a TiB"),
        lambda case: text("1,000 GiB count as one"),
    ),
    "B": _figure("B", "baseline_bytes_per_s"),
    "B_w": _field("B", "storage.custom.write_bytes_per_s"),
    "B_r": _field("B_r", "storage.custom.read_bytes_per_s"),
    "client": Term("c_l", BYTES_PER_S, _chosen("client_bytes_per_s"), "", text("Limit of one node")),
    "quota": Term("Q", GIBS, _quota, "storage.quota_gib", text("Quota")),
    "p": Term(
        "p", USD_PER_GIB_MONTH, _price, _price_path, text("A GiB a month"), lambda case: _plain(case.scenario.prices.region),
    ),
    "p_m": _field("K_m", "storage.custom.usd_per_month", USD),
    "v": Term(
        "v", USD_PER_H, lambda case: _finite(case.job.gpu_value_usd_per_h), _gpu_value_path,
        text("A GPU-hour"), _gpu_value_remark,
    ),
    "K_s": _figure("K_s", "storage_usd"),
    "K_g": _figure("K_g", "lost_gpu_usd"),
    "K_m": _figure("K_1", "storage_usd_per_month", lambda case: _option_name(case.chosen)),
    "K_2": Term(
        "K_2", USD, _next("usd_per_month"), "", text("Next best"), lambda case: _option_name(case.plan.storage.next_best),
    ),
    "eta": _figure("η", "waste_fraction"),
}  # fmt: skip


# ---------------------------------------------------------------- formulas: templates, written from the parts of a case


def _product(*factors: str) -> str:
    return " · ".join(factor for factor in factors if factor)


def _stop(case: Case) -> str:
    """What a save costs: C, and what is lost while it is written."""
    storage = case.scenario.storage
    parts = ["{C}"]
    parts += ["{loss}"] if storage.background_loss_s else []
    parts += ["{slow} · {t_w}"] if storage.slowdown_fraction and not case.is_sync else []
    return parts[0] if len(parts) == 1 else f"({' + '.join(parts)})"


def _save(case: Case) -> str:
    return "{C}" if case.is_sync else "{C} + {t_w}"


def _period(case: Case) -> str:
    """From one save to the next: T, or C + t_w where training waits for the write."""
    return "{T}" if not case.waits else "{C}" if case.is_sync else "({C} + {t_w})"


def _downtime(case: Case, template: str) -> str:
    return template if case.scenario.failures.downtime_s else ""


def _interval(case: Case) -> str:
    storage, schedule, step = case.scenario.storage, case.plan.schedule, case.scenario.workload.step_s
    if storage.whole_steps and schedule is not None and math.isclose(schedule.interval_s, step * schedule.interval_steps):
        return "{s} · {n_steps}"
    wanted = "{T_asked}" if storage.interval_s is not None else f"max({{T_best}}, {_save(case)})"
    if schedule is not None and schedule.interval_s < case.wanted_s * (1 - 1e-12):
        wanted = f"min({wanted}, {{run}})"
    return f"max({wanted}, {{s}})" if min(case.wanted_s, case.job.run_s) < step else wanted


def _whole_steps(case: Case) -> str:
    """How many steps the interval has before it is held within the run; never fewer than a save takes."""
    if case.scenario.storage.interval_s is not None:
        return "max(1, round({T_asked} / {s}))"
    return f"max(1, round(max({{T_best}}, {_save(case)}) / {{s}}), ⌈({_save(case)}) / {{s}}⌉)"


def _checkpoint(case: Case) -> str:
    work = case.scenario.workload
    if not work.frozen_params:
        return "{P} · {b}"
    trained = "({P} − {P_f})" if work.frozen_params <= work.total_params else "max({P} − {P_f}, 0)"
    return f"{trained} · {{b}} + {{P_f}} · {{b_f}}"


def _required(case: Case) -> str:
    left = (_need_s(case) or 0.0) - case.scenario.storage.latency_s
    return "{S} / ({t_need} − {l})" if case.scenario.storage.latency_s and left > 0 else "{S} / {t_need}"


def _capacity_needed(case: Case) -> str:
    storage = case.scenario.storage
    held = "{k} · {S_gib}" + (" / {fill}" if storage.max_fill != 1 else "")
    per_tib = "({e_w} · {tau})" if storage.write_efficiency != 1 else "{tau}"
    return f"max({held}, 1,000{NBSP}GiB · {{W}} / {per_tib})"


def _client(case: Case) -> bool:
    return _chosen("client_bytes_per_s")(case) is not None


def _grouped(rate: str) -> str:
    """A product below a line needs its parentheses."""
    return f"({rate})" if " · " in rate and not rate.startswith("min(") else rate


def _writes_in(case: Case) -> str:
    storage = case.scenario.storage
    rate = _product("{B}", "{e_w}" if storage.write_efficiency != 1 else "")
    if _client(case):
        rate = f"min({rate}, {_product('{N}' if case.scenario.workload.writer == 'sharded' else '', '{client}')})"
    return ("{l} + " if storage.latency_s else "") + f"{{S}} / {_grouped(rate)}"


def _restore_read(case: Case) -> str:
    rate = _product("{B_r}" if case.is_custom else "{B}", "{e_r}" if case.scenario.storage.read_efficiency != 1 else "")
    if _client(case):
        rate = f"min({rate}, {{N}} · {{client}})"
    size = _product("{copies}" if case.scenario.restore.copies != 1 else "", "{S}")
    return f"{size} / {_grouped(rate)}"


def _first_order(case: Case) -> str:
    saving = f"1 − ({{T}} − {_stop(case)}) / {_period(case)}" if case.waits else f"{_stop(case)} / {{T}}"
    return f"{saving} + ({_period(case)} / 2 + {{t}} + {{R}}{_downtime(case, ' + {D}')}) / {{M}}"


def _exact_waste(case: Case) -> str:
    background = "" if case.is_sync and case.scenario.storage.published == "write_end" else " + {t} − {C}"
    return (
        f"1 − ({{T}} − {_stop(case)}) / {{M}} · e^(−({{T}}{background} + {{R}}) / {{M}})"
        f" / (1 − e^(−{_period(case)} / {{M}})){_downtime(case, ' / (1 + {D} / {M})')}"
    )


def _best_exact(case: Case) -> str:
    return f"1 − e^(−{{T_best}} / {{M}}) = ({{T_best}} − {_stop(case)}) / {{M}}"


def _best_next_save(case: Case) -> str:
    return f"(({{T_best}} − {_stop(case)}) / {{M}}) · (2 − e^(−{{T_best}} / {{M}})) = 1 − e^(−{{T_best}} / {{M}})"


def _daly(case: Case) -> str:
    stop, schedule = _stop(case), case.plan.schedule
    if schedule is not None and schedule.lost_per_save_s >= 2 * schedule.mtbi_s:
        return f"{{M}} + {stop}"
    return f"√(2 · {stop} · {{M}}) · (1 + √({stop} / (2 · {{M}})) / 3 + {stop} / (2 · {{M}}) / 9)"


def _storage_usd(case: Case) -> str:
    year = "{p_m}" if case.is_custom else "{c} · {p}"
    return {"month": year, "run": f"12 · {year} · {{days}} / 365{NBSP}d", "year": f"12 · {year}"}[case.basis]


def _lost_usd(case: Case) -> str:
    year = f"8,760{NBSP}h · {{N}} · {{g}} · {{v}} · {{eta}}"
    return year + {"month": " / 12", "run": f" · {{days}} / 365{NBSP}d", "year": ""}[case.basis]


# ---------------------------------------------------------------- figures: what is asked about


@dataclass(frozen=True, slots=True)
class Recipe:
    """One way to a figure: when it holds, its template, where it is valid and who says so.

    `relation` is "=" where the template gives the figure, "≤" where the figure is the least size that reaches it, and
    "solves" where the template is an equation that the figure satisfies.
    """

    template: str | Maker
    valid: Text
    source: Text | Callable[[Case], Text]
    when: Callable[[Case], bool] = lambda case: True
    relation: Literal["=", "≤", "solves"] = "="
    also: tuple[str, ...] = ()

    def written(self, case: Case) -> str:
        """The template for this case."""
        return self.template if isinstance(self.template, str) else self.template(case)


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure of the cards: its words, symbol, where it stands, its recipes (the first that holds), what it needs."""

    title: Text | Callable[[Case], Text]
    symbol: str
    read: Reader
    recipes: tuple[Recipe, ...]
    asked: tuple[str, ...]
    needs: tuple[str, ...] = ("system",)
    in_points: bool = False


def _by_basis(month: Text, run: Text, year: Text) -> Callable[[Case], Text]:
    return lambda case: {"month": month, "run": run, "year": year}[case.basis]


def _dollars(name: str) -> Reader:
    def read(case: Case) -> float | None:
        year = _cost(name)(case)
        return None if year is None else per_basis(year, case.basis, case.scenario.run.days)

    return read


def _next_best(case: Case) -> float | None:
    other, own = _next("usd_per_month")(case), _chosen("usd_per_month")(case)
    return other / own - 1.0 if other is not None and own else None


def _quota_share(case: Case) -> float | None:
    capacity, quota = _chosen("capacity_gib")(case), _quota(case)
    return None if case.is_custom or capacity is None or not quota else capacity / quota


def _goodput(case: Case) -> float | None:
    waste = _waste("chosen_fraction")(case)
    return None if waste is None else 1.0 - waste


def _aws(case: Case) -> Text:
    tier = case.tier or next(iter(case.scenario.storage.tiers), None)
    return text("Amazon FSx for Lustre User Guide and FSx API model, {date}.", date=tier.date if tier else "")


def _price_source(case: Case) -> Text:
    tier = case.tier
    row = catalog.storage_price(case.scenario.prices.region, tier.throughput_mb_per_s_per_tib) if tier else None
    if row is None or row.usd_per_gib_month is None or row.usd_per_gib_month != _price(case):
        return text("The price as it was given; a month is billed by capacity.")
    return text("Price: {source}, {date}. A month is billed by capacity.", source=row.source, date=row.date)


_ALWAYS = text("Holds always: it is a definition.")
_SPEC = text("SPEC 1, definitions.")
_ARTICLE = text("Article A, section on write throughput; SPEC 1.")
_RATE = text("Independent interruptions at a constant rate.")
_FIRST = text("C much below T, T much below M, and a write shorter than T. Above 100 % it says nothing.")
_YOUNG = text('J. W. Young, "A first order approximation to the optimum checkpoint interval", CACM 17(9), 1974.')
_DALY = text('J. T. Daly, "A higher order estimate of the optimum checkpoint interval", FGCS 22(3), 2006.')
_DERIVED = text(
    "THEORY 1.2 and 1.3: derived and simulated. Without a background write it is Daly's exact time, FGCS 22(3), 2006."
)
_GIVEN = text("As it was given.")


def _is(path: str, *values: object) -> Callable[[Case], bool]:
    return lambda case: value_at(case.scenario, path) in values


_NEXT_SAVE = _is("storage.published", "next_save")
_YEAR = text("A year is 8,760 h. Reserved GPUs cost the same idle: then it is the value of the training that was lost.")
_ASK_TIME = ("failures.mtbi_s", "storage.blocking_s", "storage.write_s", "workload.nodes")
_ASK_SIZE = ("storage.write_s", "workload.layout", "workload.nodes")

_EXACT_RECIPE = Recipe(
    _exact_waste, text("Exponential interruptions, also during saves and restarts; waiting writers are counted."), _DERIVED,
    also=("storage.waste_model",),
)  # fmt: skip
_FIRST_RECIPE = Recipe(_first_order, _FIRST, _YOUNG, also=("storage.waste_model",))

_FIGURES: Mapping[str, Figure] = {
    "total_usd": Figure(
        _by_basis(text("Total a month"), text("Total of the run"), text("Total a year")), "K", _dollars("total_usd_per_year"),
        (Recipe("{K_s} + {K_g}", text("Counts storage and lost GPU time; not the GPUs that train."), text("SPEC 11, cost.")),),
        ("storage.write_s", "failures.mtbi_s", "prices.gpu_value_usd_per_h", "workload.layout"),
        ("system", "storage_price", "gpu_price", "progress", "first_order_chosen"),
    ),
    "storage_usd": Figure(
        _by_basis(text("Storage a month"), text("Storage for the run"), text("Storage a year")), "K_s",
        _dollars("storage_usd_per_year"),
        (Recipe(_storage_usd, text("Provisioned capacity, used or not; a year is 12 months."), _price_source),),
        ("storage.write_s", "workload.layout", "prices.storage_usd_per_gib_month", "failures.mtbi_s"),
        ("system", "storage_price"),
    ),
    "lost_gpu_usd": Figure(
        _by_basis(text("Lost GPU time a month"), text("Lost GPU time of the run"), text("Lost GPU time a year")), "K_g",
        _dollars("lost_gpu_usd_per_year"), (Recipe(_lost_usd, _YEAR, text("SPEC 6 and 11, cost.")),),
        ("prices.gpu_value_usd_per_h", "failures.mtbi_s", "storage.blocking_s", "storage.write_s"),
        ("system", "gpu_price", "progress", "first_order_chosen"),
    ),
    "interval_s": Figure(
        text("Save every"), "T", _schedule("interval_s"),
        (
            Recipe(
                _interval, text("As it was asked for, from one step to the whole run."), _GIVEN,
                lambda case: case.scenario.storage.interval_s is not None,
            ),
            Recipe(
                _interval, text("The best interval, never shorter than a save takes, from one step to the whole run."),
                text("THEORY 1.3: the next save waits for the last."),
            ),
        ),
        _ASK_TIME,
    ),
    "interval_steps": Figure(
        text("Steps between saves"), "n", _schedule("interval_steps"),
        (
            Recipe(
                "max(1, round({T} / {s}))", _ALWAYS, text("SPEC 9: frameworks count in steps."),
                lambda case: not case.scenario.storage.whole_steps,
            ),
            Recipe(_whole_steps, text("The interval is rounded to whole steps."), text("SPEC 9: frameworks count in steps.")),
        ),
        ("workload.step_s", "failures.mtbi_s", "storage.blocking_s"),
    ),
    "blocking_s": Figure(
        text("Stop of one save"), "C", _schedule("blocking_s"),
        (
            Recipe(
                "{t_w}", text("Synchronous saving: training waits for the whole write."), _SPEC, lambda case: case.is_sync,
                also=("storage.mode",),
            ),
            Recipe(
                "{C_given}", text("Asynchronous saving: until the state is copied to host memory."), _GIVEN,
                also=("storage.mode",),
            ),
        ),
        ("storage.blocking_s", "storage.write_s", "storage.mode"),
    ),
    "durable_after_s": Figure(
        text("Restorable after"), "t", _schedule("durable_after_s"),
        (
            Recipe(
                _period, text("The checkpoint counts only from the next save on."),
                text("SPEC 13, published at the next save."), _NEXT_SAVE, also=("storage.published",),
            ),
            Recipe(_save, text("Counted from the start of the save until it can be restored."), _SPEC, also=("storage.mode",)),
        ),
        ("storage.write_s", "storage.blocking_s", "storage.published"),
    ),
    "worst_rework_s": Figure(
        text("Lost at worst"), "r_max", _waste("worst_rework_s"),
        (
            Recipe(
                lambda case: f"{_period(case)} + {{t}}",
                text("An interruption just before the next checkpoint becomes restorable."), text("SPEC 3."),
            ),
        ),
        ("storage.write_s", "storage.blocking_s", "failures.mtbi_s"),
    ),
    "mean_rework_s": Figure(
        text("Lost on average"), "r_mean", _waste("mean_rework_s"),
        (
            Recipe(
                lambda case: f"{_period(case)} / 2 + {{t}}",
                text("Interruptions are equally likely at any time."), text("SPEC 3."),
            ),
        ),
        ("storage.write_s", "storage.blocking_s", "failures.mtbi_s"),
    ),
    "restart_s": Figure(
        text("Restart time"), "R", _schedule("restart_s"),
        (
            Recipe(
                "{t_d} + {t_q} + {t_b} + {t_r}",
                text("The parts follow one another; none of them is interrupted."), text("SPEC 10."),
            ),
        ),
        ("failures.restart_base_s", "storage.read_efficiency", "restore.copies", "storage.write_s"),
    ),
    "reach_s": Figure(
        text("One can go back"), "r_back", _schedule("reach_s"),
        (
            Recipe(
                lambda case: f"({{k}} − 1) · {_period(case)}",
                text("One of the k generations is being written."), text("SPEC 13, reach."),
            ),
        ),
        ("storage.generations_kept", "failures.mtbi_s", "storage.blocking_s"),
    ),
    "capacity_gib": Figure(
        text("Capacity to buy"), "c", _chosen("capacity_gib"),
        (
            Recipe("{c_custom}", text("The space that this job may fill."), _GIVEN, lambda case: case.is_custom),
            Recipe(
                "{c_fixed}", text("The size as it was fixed; the findings say where the service would refuse it."), _GIVEN,
                lambda case: case.scenario.storage.tier != "auto", also=("storage.tier",),
            ),
            Recipe(
                _capacity_needed, text("The least size that the service sells."), _aws,
                lambda case: case.tier is not None and case.tier.small_gib == _chosen("capacity_gib")(case), relation="≤",
                also=("storage.tier", "storage.efa"),
            ),
            Recipe(
                lambda case: f"{{u}} · ⌈{_capacity_needed(case)} / {{u}}⌉",
                text("The least size sold that holds the generations and sustains the rate; baseline, never burst."),
                _aws, also=("storage.tier", "storage.efa"),
            ),
        ),
        ("storage.write_s", "workload.layout", "storage.generations_kept", "workload.nodes"),
    ),
    "baseline_bytes_per_s": Figure(
        text("Sustained rate"), "B", _chosen("baseline_bytes_per_s"),
        (
            Recipe("{B_w}", text("What the storage that exists sustains for this job."), _GIVEN, lambda case: case.is_custom),
            Recipe(
                f"{{c}} / 1,000{NBSP}GiB · {{tau}}",
                text("The baseline, which lasts; the burst of small sizes is never counted."), _aws,
            ),
        ),
        ("storage.write_s", "workload.layout", "storage.generations_kept"),
    ),
    "storage_usd_per_month": Figure(
        text("Storage a month"), "K_1", _chosen("usd_per_month"),
        (
            Recipe("{p_m}", text("This job's share of the bill."), _GIVEN, lambda case: case.is_custom),
            Recipe("{c} · {p}", text("Provisioned capacity, used or not."), _price_source),
        ),
        ("storage.write_s", "workload.layout", "prices.storage_usd_per_gib_month"), ("system", "storage_price"),
    ),
    "next_best": Figure(
        text("Next best, above this one"), "Δ", _next_best,
        (
            Recipe(
                "{K_2} / {K_m} − 1",
                text("Compares the storage bills alone; a slower one also restarts slower."), _price_source,
            ),
        ),
        ("storage.write_s", "workload.layout"), ("system", "storage_price", "other"), in_points=True,
    ),
    "fill_fraction": Figure(
        text("File system full"), "f_c", _chosen("fill_fraction"),
        (Recipe("{k} · {S_gib} / {c}", text("All k generations, the one being written included."), text("SPEC 13, fill.")),),
        ("storage.generations_kept", "workload.layout", "storage.write_s"),
    ),
    "quota_fraction": Figure(
        text("Share of the quota"), "q", _quota_share,
        (Recipe("{c} / {quota}", text("The default quota unless yours is given; counts this file system alone."), _aws),),
        ("storage.write_s", "workload.layout", "storage.quota_gib"), ("fsx", "system"),
    ),
    "checkpoint_bytes": Figure(
        text("One checkpoint"), "S", _size("checkpoint_bytes"),
        (
            Recipe(
                "{S_m}", text("Measured: it replaces parameters times bytes."), _GIVEN,
                lambda case: case.scenario.workload.measured_bytes is not None,
            ),
            Recipe(
                _checkpoint,
                text("All parameters, never the active ones; scheduler and data-loader state are small and left out."),
                text("SPEC 2; Article A."),
            ),
        ),
        ("workload.layout", "workload.total_params", "workload.nodes"), (),
    ),
    "bytes_per_node": Figure(
        text("Written by one node"), "S_N", _size("bytes_per_node"),
        (
            Recipe(
                "{S}", text("One node writes everything."), text("SPEC 2."), _is("workload.writer", "single"),
                also=("workload.writer",),
            ),
            Recipe(
                "{S} / {N}", text("Sharded saving, evenly; the most loaded rank may write more."), text("SPEC 2."),
                also=("workload.writer",),
            ),
        ),
        ("workload.nodes", "workload.layout"), (),
    ),
    "required_write_bytes_per_s": Figure(
        text("Needed write throughput"), "W", _storage("required_write_bytes_per_s"),
        (Recipe(_required, text("The least that storage must sustain; real saves reach a share of the baseline."), _ARTICLE),),
        _ASK_SIZE, (),
    ),
    "best_interval_s": Figure(
        text("Best interval"), "T*", _schedule("best_interval_s"),
        (
            Recipe(
                "{C}", text("A stop that costs nothing: save as often as the write allows."), _SPEC,
                lambda case: _schedule("lost_per_save_s")(case) == 0,
            ),
            Recipe(
                _best_next_save, text("Exponential interruptions; a checkpoint counts from the next save on."),
                text("THEORY 1.2 with t = T: derived."),
                lambda case: _NEXT_SAVE(case) and case.scenario.storage.interval_model == "exact", "solves",
                ("storage.interval_model",),
            ),
            Recipe(
                lambda case: f"√(2 · {_stop(case)} · {{M}} / 3)", _FIRST, text("SPEC 13, published at the next save."),
                _NEXT_SAVE, also=("storage.interval_model",),
            ),
            Recipe(
                _best_exact,
                text("Exponential interruptions. Neither the restart nor the write moves it, as long as the write fits in."),
                text("THEORY 1.2: derived and simulated; Daly 2006 is its series."), _is("storage.interval_model", "exact"),
                "solves", ("storage.interval_model",),
            ),
            Recipe(
                _daly, text("A series; for C below 2 M."), _DALY, _is("storage.interval_model", "daly"),
                also=("storage.interval_model",),
            ),
            Recipe(
                lambda case: f"√(2 · {_stop(case)} · {{M}})", text("C much below T and T much below M."), _YOUNG,
                also=("storage.interval_model",),
            ),
        ),
        _ASK_TIME,
    ),
    "waste_fraction": Figure(
        text("Waste from saving and interruptions"), "η", _waste("chosen_fraction"),
        (replace(_FIRST_RECIPE, when=_is("storage.waste_model", "first_order")), _EXACT_RECIPE),
        _ASK_TIME, ("system", "progress", "first_order_chosen"),
    ),
    "first_order_fraction": Figure(
        text("Waste to first order"), "η_1", _waste("first_order_fraction"), (replace(_FIRST_RECIPE, also=()),),
        _ASK_TIME, ("system", "progress", "first_order"),
    ),
    "goodput_fraction": Figure(
        text("Goodput"), "G", _goodput, (Recipe("1 − {eta}", _ALWAYS, _SPEC),),
        _ASK_TIME, ("system", "progress", "first_order_chosen"), in_points=True,
    ),
    "mtbi_s": Figure(
        text("This job is interrupted every"), "M", lambda case: _finite(case.job.mtbi_s),
        (
            Recipe(
                "{M_0} · {N_0} / {N}",
                text("Proportional to nodes: a rough guide, which correlated faults break."), text("SPEC 4."),
            ),
        ),
        ("failures.mtbi_s", "workload.nodes", "storage.write_s"), (),
    ),
    "writes_in_s": Figure(
        text("Writes in"), "t_s", _schedule("writes_in_s"),
        (
            Recipe(
                _writes_in, text("At the sustained rate; what the file system does, not what is allowed."),
                text("SPEC 13, two times of a write."),
            ),
        ),
        ("storage.write_s", "storage.write_efficiency", "workload.layout", "workload.nodes"),
    ),
    "restore_read_s": Figure(
        text("Reading it back"), "t_r", _schedule("restore_read_s"),
        (Recipe(_restore_read, text("At the sustained rate, all nodes reading at once."), text("SPEC 13, restore.")),),
        ("storage.read_efficiency", "restore.copies", "storage.write_s", "workload.layout"),
    ),
}  # fmt: skip

FIGURES: tuple[str, ...] = tuple(_FIGURES)


def read_figure(case: Case, figure: str) -> float | None:
    """The figure's value in its unit, None where it is not known."""
    return _finite(_FIGURES[figure].read(case))


def figure_unit(figure: str) -> Unit:
    """The unit that `read_figure` answers in."""
    return _UNITS.get(figure, SECONDS)


# ---------------------------------------------------------------- what is missing


_BEYOND = text("The first-order formula passes 100 % here and holds no more; the exact model does.")
_MISSING: Mapping[str, tuple[Callable[[Case], bool], Callable[[Case], Text]]] = {
    "fsx": (lambda case: case.is_custom, lambda case: text("The quota of AWS does not concern storage that exists.")),
    "system": (
        lambda case: case.chosen is None,
        lambda case: _first_error(case) or text("No file system on offer can do this."),
    ),
    "storage_price": (
        lambda case: _chosen("usd_per_month")(case) is None,
        lambda case: _no_price(case),
    ),
    "gpu_price": (
        lambda case: _finite(case.job.gpu_value_usd_per_h) is None,
        lambda case: text(
            "No price is known for {node} in {region}: type one, or the value of a GPU-hour.",
            node=case.scenario.workload.node.name, region=case.scenario.prices.region,
        ),
    ),
    "progress": (
        lambda case: _waste("exact_fraction")(case) is None,
        lambda case: _first_error(case) or text("The job makes no progress."),
    ),
    "first_order": (lambda case: _waste("first_order_fraction")(case) is None, lambda case: _BEYOND),
    "first_order_chosen": (lambda case: _waste("chosen_fraction")(case) is None, lambda case: _BEYOND),
    "other": (
        lambda case: case.plan.storage.next_best is None,
        lambda case: text("No other file system on offer has a price."),
    ),
}  # fmt: skip


def _no_price(case: Case) -> Text:
    if case.is_custom:
        return text("What the storage that exists costs is not known: type this job's share.")
    region = case.scenario.prices.region
    return text("No price is known for this file system in {region}: type it from your bill.", region=region)


def _first_error(case: Case) -> Text | None:
    return next((finding.text for finding in case.plan.findings if finding.severity == "error"), None)


def _missing(case: Case, figure: Figure) -> Text:
    reasons = (say(case) for is_missing, say in (_MISSING[need] for need in figure.needs) if is_missing(case))
    return next(reasons, None) or _first_error(case) or text("It cannot be worked out from these inputs.")


# ---------------------------------------------------------------- nudges: one input changed


Edits = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Nudge:
    """One input changed as one would ask: what to call it, and the fields with their new values; None where it is idle."""

    label: Text
    edits: Callable[[Case], tuple[Any, Edits] | None]


def _times(path: str, factor: float, label: Text, start: float | None = None) -> Nudge:
    """The value times `factor`; `start` where it is 0 or empty."""

    def edits(case: Case) -> tuple[Any, Edits] | None:
        value = value_at(case.scenario, path)
        new = value * factor if value else start
        if new is None:
            return None
        return _brief(new, path), {path: max(1, round(new)) if isinstance(value, int) else new}

    return Nudge(label, edits)


def _put(path: str, value: float, other: float, label: Text) -> Nudge:
    """The number set to `value`, or to `other` where it is that already."""

    def edits(case: Case) -> tuple[Any, Edits] | None:
        new = other if value_at(case.scenario, path) == value else value
        return _brief(new, path), {path: new}

    return Nudge(label, edits)


def _choose(path: str, value: str, other: str) -> Nudge:
    """The choice `value`, or `other` where it is that already."""

    def edits(case: Case) -> tuple[Any, Edits] | None:
        new = other if value_at(case.scenario, path) == value else value
        return _WORDS[new], {path: new}

    return Nudge(text("{value}"), edits)


# a choice in words that stand alone
_WORDS: Mapping[str, Text] = {
    "async": text("async saving"), "sync": text("sync saving"),
    "sharded": text("written by all nodes"), "single": text("written by one node"),
    "exact": text("exact model"), "first_order": text("first-order model"),
    "young": text("Young's interval"), "daly": text("Daly's interval"),
    "within": text("pace within the write time"), "full": text("pace full"),
    "write_end": text("restorable when written"), "next_save": text("restorable at the next save"),
    "auto": text("auto"), "on": text("EFA on"), "off": text("EFA off"),
    "storage_usd": text("cheapest by storage"), "total_usd": text("cheapest in total"),
}  # fmt: skip


def _brief(value: float, path: str) -> str:
    unit = spec_of(Scenario, path).unit or COUNT
    return brief(round(value) if unit is COUNT else value, unit)


def _layout(case: Case) -> tuple[Any, Edits]:
    """6 B as bf16 with bf16 moments, or weights alone where it is that little already."""
    row = catalog.layout("bf16-6")
    if case.scenario.workload.bytes_per_param <= row.bytes_per_param:
        row = catalog.layout("weights-2")
    return brief(row.bytes_per_param, BYTES_PER_PARAM), {"workload.layout": row.parts}


def _restart_base(case: Case) -> tuple[Any, Edits]:
    parts = ("failures.detect_s", "failures.reschedule_s", "failures.start_s")
    half = {path: value_at(case.scenario, path) / 2 for path in parts}
    return brief(sum(half.values()), SECONDS), half


def _gpu_value(case: Case) -> tuple[Any, Edits] | None:
    value = _finite(case.job.gpu_value_usd_per_h)
    return None if not value else (brief(value / 2, USD), {"prices.gpu_value_usd_per_h": value / 2})


def _storage_price(case: Case) -> tuple[Any, Edits] | None:
    paths = [f"prices.storage_usd_per_gib_month.p2_{tier}" for tier in ("125", "250", "500", "1000")]
    half = {path: price / 2 for path in paths if (price := value_at(case.scenario, path))}
    return None if case.is_custom or not half else ("", half)


def _other_interval(case: Case) -> tuple[Any, Edits] | None:
    schedule = case.plan.schedule
    if schedule is None:
        return None
    twice = schedule.interval_s * 2
    return brief(twice, SECONDS), {"storage.interval_s": twice}


def _one_generation_more(case: Case) -> tuple[Any, Edits]:
    more = case.scenario.storage.generations_kept + 1
    return more, {"storage.generations_kept": more}


def _best_again(case: Case) -> tuple[Any, Edits] | None:
    return None if case.scenario.storage.interval_s is None else ("", {"storage.interval_s": None})


def _cheapest_again(case: Case) -> tuple[Any, Edits] | None:
    return None if case.scenario.storage.tier == "auto" or case.is_custom else ("", {"storage.tier": "auto"})


_NUDGES: Mapping[str, Nudge] = {
    "storage.write_s": _times("storage.write_s", 2, text("{value} to write")),
    "workload.layout": Nudge(text("{value} for each"), _layout),
    "workload.measured_bytes": _times("workload.measured_bytes", 0.5, text("{value} measured")),
    "workload.total_params": _times("workload.total_params", 2, text("{value} parameters")),
    "workload.frozen_params": _times("workload.frozen_params", 0.5, text("{value} of them frozen")),
    "workload.nodes": _times("workload.nodes", 2, text("{value} nodes")),
    "workload.gpus_per_node": _times("workload.gpus_per_node", 2, text("{value} GPUs a node")),
    "workload.writer": _choose("workload.writer", "single", "sharded"),
    "workload.step_s": _times("workload.step_s", 2, text("{value} a step")),
    "failures.mtbi_s": _times("failures.mtbi_s", 2, text("interrupted every {value}")),
    "failures.mtbi_s/2": _times("failures.mtbi_s", 0.5, text("interrupted every {value}")),
    "failures.restart_base_s": Nudge(text("{value} before the read"), _restart_base),
    "failures.downtime_s": _times("failures.downtime_s", 2, text("{value} of waiting for a spare"), 600.0),
    "storage.mode": _choose("storage.mode", "sync", "async"),
    "storage.blocking_s": _times("storage.blocking_s", 2, text("{value} of stop"), 5.0),
    "storage.interval_s": Nudge(text("save every {value}"), _other_interval),
    "storage.interval_s/best": Nudge(text("the best interval"), _best_again),
    "storage.interval_model": _choose("storage.interval_model", "young", "exact"),
    "storage.waste_model": _choose("storage.waste_model", "first_order", "exact"),
    "storage.whole_steps": Nudge(
        text("interval in whole steps"),
        lambda case: None if case.scenario.storage.whole_steps else ("", {"storage.whole_steps": True}),
    ),
    "storage.generations_kept": Nudge(text("{value} generations"), _one_generation_more),
    "storage.write_efficiency": _put("storage.write_efficiency", 0.7, 1.0, text("{value} write efficiency")),
    "storage.read_efficiency": _put("storage.read_efficiency", 0.7, 1.0, text("{value} read efficiency")),
    "storage.max_fill": _put("storage.max_fill", 0.85, 1.0, text("filled to {value} at most")),
    "storage.background_loss_s": _times("storage.background_loss_s", 2, text("{value} of background loss"), 15.0),
    "storage.slowdown_fraction": _put("storage.slowdown_fraction", 0.05, 0.0, text("{value} background slowdown")),
    "storage.latency_s": _times("storage.latency_s", 2, text("{value} fixed per save"), 10.0),
    "storage.pace": _choose("storage.pace", "full", "within"),
    "storage.published": _choose("storage.published", "next_save", "write_end"),
    "storage.efa": _choose("storage.efa", "on", "off"),
    "storage.tier": Nudge(text("the cheapest file system"), _cheapest_again),
    "storage.choose_by": _choose("storage.choose_by", "total_usd", "storage_usd"),
    "storage.quota_gib": _times("storage.quota_gib", 2, text("quota {value}"), 201_600.0),
    "storage.custom.write_bytes_per_s": _times("storage.custom.write_bytes_per_s", 2, text("storage that writes {value}")),
    "storage.custom.read_bytes_per_s": _times("storage.custom.read_bytes_per_s", 2, text("storage that reads {value}")),
    "storage.custom.usable_bytes": _times("storage.custom.usable_bytes", 2, text("{value} usable")),
    "storage.custom.usd_per_month": _times("storage.custom.usd_per_month", 0.5, text("{value} a month for storage")),
    "restore.copies": _times("restore.copies", 2, text("{value} copies read")),
    "run.days": _times("run.days", 0.5, text("a run of {value}")),
    "prices.storage_usd_per_gib_month": Nudge(text("storage at half the price"), _storage_price),
    "prices.gpu_value_usd_per_h": Nudge(text("{value} a GPU-hour"), _gpu_value),
}  # fmt: skip

_NO_CHANGE = text("no change")
_NOT_KNOWN = text("not known")


def _nudged(case: Case, nudge: Nudge) -> tuple[Text, Case] | None:
    """The label and the case after the change; None where it is idle or out of a field's range."""
    found = nudge.edits(case)
    if found is None:
        return None
    word, edits = found
    label = word if isinstance(word, Text) else text(nudge.label.template, value=word)
    scenario = case.scenario
    try:
        for path, value in edits.items():
            scenario = with_value(scenario, path, value)
    except ValidationError:
        return None
    named = case.named.model_copy(update={"scenario": scenario})
    return label, Case(named, case.basis)


def _share(old: float, new: float) -> float:
    """How far `new` is from `old`, as a share of it."""
    return 0.0 if old == new else new / old - 1.0 if old else math.copysign(math.inf, new)


def _difference(figure: Figure, old: float | None, new: float | None) -> Text:
    if old is None or new is None:
        return _plain("")
    share = (new - old) if figure.in_points else _share(old, new)
    if abs(share) < 1e-6:
        return _NO_CHANGE
    if math.isinf(share):
        return text("was 0")
    percent = abs(share) * 100
    number = grouped(percent) if percent >= 10 else significant(percent, 2)
    signed = f"{'−' if share < 0 else '+'}{number}"
    return text("{number} points", number=signed) if figure.in_points else text("{number} %", number=signed)


def _words(name: str, value: float | None) -> Text:
    return _NOT_KNOWN if value is None else _plain(_result(name, value))


def _changes(case: Case, name: str) -> Iterator[Change]:
    """What is always asked, in that order; then everything else that moves the figure, the strongest first."""
    figure, old = _FIGURES[name], read_figure(case, name)
    found: list[tuple[tuple[int, float], Change]] = []
    for key, nudge in _NUDGES.items():
        made = _nudged(case, nudge)
        if made is None:
            continue
        label, changed = made
        new = read_figure(changed, name)
        difference = _difference(figure, old, new)
        is_asked = key in figure.asked
        if not is_asked and (difference == _NO_CHANGE or _words(name, old) == _words(name, new)):
            continue
        size = _share(old, new) if old is not None and new is not None else math.inf
        rank = (figure.asked.index(key), 0.0) if is_asked else (len(figure.asked), -abs(size))
        found.append((rank, Change(label, _words(name, new), difference)))
    yield from (change for _, change in sorted(found, key=lambda pair: pair[0]))


# ---------------------------------------------------------------- the derivation


_SLOT = re.compile(r"{(\w+)}")
# a dot between two symbols says nothing; after a quotient or a number with its unit it does
_PRODUCT = re.compile(r"(?<!/ )(?<![\w\u00a0,*])([A-Za-zτησ][\w*]*|\d+) · (?=[A-Za-zτησ√])")
# figures that depend on one another are looked through from the most doubtful kind on
_KINDS = ("guess", "typed", "article", "log", "doc")


def derivation(named: NamedScenario, figure: str, basis: Basis = "month") -> Derivation:
    """Explain one figure of a plan.

    Args:
        named: The scenario with the sources of its values.
        figure: One of FIGURES.
        basis: What dollars are for: a month, the run or a year.

    Raises:
        KeyError: there is no such figure.
    """
    case, spec = Case(named, basis), _FIGURES[figure]
    recipe = _recipe(case, spec)
    value = read_figure(case, figure)
    result = "" if value is None else _result(figure, value)
    return Derivation(
        figure=figure,
        title=_title(case, figure),
        formula=_formula(recipe.written(case), recipe.relation, spec.symbol),
        substituted=_substituted(case, recipe, spec, figure, value),
        result=result,
        missing=_missing(case, spec) if value is None else None,
        inputs=(*_inputs(case, recipe, figure), *(_choice(case, path) for path in recipe.also)),
        changes=tuple(_changes(case, figure)),
        valid=recipe.valid,
        source=recipe.source if isinstance(recipe.source, Text) else recipe.source(case),
    )


def _recipe(case: Case, figure: Figure) -> Recipe:
    return next((recipe for recipe in figure.recipes if recipe.when(case)), figure.recipes[-1])


def _title(case: Case, figure: str) -> Text:
    title = _FIGURES[figure].title
    return title if isinstance(title, Text) else title(case)


def _result(figure: str, value: float) -> str:
    if figure == "next_best":
        return ("+" if value >= 0 else "−") + shown(abs(value), FRACTION)
    if figure == "goodput_fraction":
        return brief(value, FRACTION, 4)
    return shown(value, figure_unit(figure))


def _formula(template: str, relation: str, symbol: str) -> str:
    """The template in symbols: products without a dot, and the figure's own symbol before it."""
    right = _SLOT.sub(lambda slot: _TERMS[slot[1]].symbol, template)
    right = _PRODUCT.sub(r"\1 ", right)
    if relation == "solves" or right == symbol:
        return right
    return f"{right} ≤ {symbol}" if relation == "≤" else f"{symbol} = {right}"


def _substituted(case: Case, recipe: Recipe, spec: Figure, figure: str, value: float | None) -> str:
    """The template in numbers, then the result; empty where one of them is not known."""
    template = recipe.written(case)
    numbers = {name: _TERMS[name].read(case) for name in _SLOT.findall(template)}
    if value is None or None in numbers.values():
        return ""
    left = _SLOT.sub(lambda slot: precise(numbers[slot[1]] or 0.0, _TERMS[slot[1]].unit), template)
    result = _result(figure, value)
    if recipe.relation == "solves":
        return f"{left} ⇒ {spec.symbol} = {result}"
    return result if left == result else f"{left} {recipe.relation} {result}"


def _inputs(case: Case, recipe: Recipe, own: str) -> Iterator[Input]:
    for name in dict.fromkeys(_SLOT.findall(recipe.written(case))):
        term, leads = _TERMS[name], _TERMS[name].leads_to(case)
        if leads == own:
            continue
        figure = leads if leads in _FIGURES else None
        path = leads if leads and figure is None else None
        yield Input(
            symbol=term.symbol,
            title=term.title or _title(case, figure or "waste_fraction"),
            value=_value(term, term.read(case), is_field=path is not None),
            remark=term.remark(case),
            path=path,
            figure=figure,
            kind=_kind(case, leads) or "doc",
        )


def _value(term: Term, value: float | None, *, is_field: bool) -> Text:
    if value is None:
        return _NOT_KNOWN
    if term.unit is BYTES:
        return _plain(brief(value, BYTES, 4))
    if term.unit is GIBS:
        return _plain(precise(value, GIBS))
    typed = exact(value, term.unit).replace(f"{NBSP}/", "/")
    return _plain(typed if is_field and len(typed) <= 16 else shown(value, term.unit))


def _choice(case: Case, path: str) -> Input:
    """A choice that decides which formula holds."""
    value = value_at(case.scenario, path)
    shown_as = _WORDS.get(value, _plain(str(value)))
    return Input("", Text(spec_of(Scenario, path).title), shown_as, None, path, None, _kind(case, path))


def _kind(case: Case, leads: str) -> str:
    """Where a value comes from: a field's source, or for a figure the most doubtful among what it is made of."""
    if not leads:
        return ""
    if leads not in _FIGURES:
        return source_kind(case.named, leads)
    kinds = {source_kind(case.named, path) for path in _fields_below(case, leads, set())}
    return next((kind for kind in _KINDS if kind in kinds), "")


def _fields_below(case: Case, figure: str, seen: set[str]) -> Iterator[str]:
    """The fields that a figure is made of, through the figures between; an equation may name its own figure."""
    seen.add(figure)
    for name in _SLOT.findall(_recipe(case, _FIGURES[figure]).written(case)):
        leads = _TERMS[name].leads_to(case)
        if leads in _FIGURES:
            yield from _fields_below(case, leads, seen) if leads not in seen else ()
        elif leads:
            yield leads
