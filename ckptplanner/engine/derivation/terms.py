"""The terms that formulas are made of: symbol, unit, where the number stands, and the field or figure that it leads to."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ckptplanner.engine.cards import quota_gib
from ckptplanner.engine.checks import price_path
from ckptplanner.engine.derivation.case import (
    Case,
    Maker,
    Reader,
    finite,
    full_pace_counts,
    need_s,
    of_chosen,
    of_next,
    of_schedule,
    storage_price,
    tier_number,
)
from ckptplanner.engine.derivation.figures import figure_unit, read_figure
from ckptplanner.engine.derivation.writing import plain
from ckptplanner.engine.plan import Option
from ckptplanner.engine.scenario import Scenario
from ckptplanner.engine.sentence import option_name
from ckptplanner.frozen import spec_of, value_at
from ckptplanner.text import Text, text
from ckptplanner.units import (
    BYTES_PER_PARAM,
    BYTES_PER_S,
    COUNT,
    DAY,
    GIB,
    GIBS,
    PARAMS,
    SECONDS,
    TIER,
    USD,
    USD_PER_GIB_MONTH,
    USD_PER_H,
    Unit,
    brief,
)


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


def _field(symbol: str, path: str, unit: Unit | None = None, remark: Callable[[Case], Text | None] | None = None) -> Term:
    """A term that is an input, under the words of its field."""
    spec = spec_of(Scenario, path)
    return Term(
        symbol, unit or spec.unit or COUNT, lambda case: finite(value_at(case.scenario, path)), path,
        Text(spec.title), remark or (lambda case: None),
    )  # fmt: skip


def _figure(symbol: str, figure: str, remark: Callable[[Case], Text | None] | None = None) -> Term:
    """A term that is a figure of its own."""
    return Term(
        symbol, figure_unit(figure), lambda case: read_figure(case, figure), figure, None, remark or (lambda case: None)
    )


def _price_path(case: Case) -> str:
    return price_path(case.chosen) if case.chosen and case.tier else ""


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


def _decision(case: Case) -> Text | None:
    return text("a decision") if case.scenario.storage.pace == "within" else None


def _sold_name(option: Option | None) -> Text | None:
    return None if option is None or option.throughput_mb_per_s_per_tib is None else option_name(option)


TERMS: Mapping[str, Term] = {
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
    "t_w": Term("t_w", SECONDS, of_schedule("write_s"), _write_path, text("Write time"), _decision),
    "t_need": Term(
        "t_w", SECONDS, need_s, lambda case: "writes_in_s" if full_pace_counts(case) else "storage.write_s",
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
    "c_fixed": Term("c", GIBS, of_chosen("capacity_gib"), "storage.tier", text("File system")),
    "c_custom": Term("c", GIBS, of_chosen("capacity_gib"), "storage.custom.usable_bytes", text("Usable")),
    "u": Term("u", GIBS, tier_number("step_gib"), "", text("Grows in steps of")),
    "tau": Term(
        "τ", TIER, of_chosen("throughput_mb_per_s_per_tib"), "storage.tier", text("Baseline of a TiB"),
        lambda case: text("1,000 GiB count as one"),
    ),
    "B": _figure("B", "baseline_bytes_per_s"),
    "B_w": _field("B", "storage.custom.write_bytes_per_s"),
    "B_r": _field("B_r", "storage.custom.read_bytes_per_s"),
    "client": Term("c_l", BYTES_PER_S, of_chosen("client_bytes_per_s"), "", text("Limit of one node")),
    "quota": Term("Q", GIBS, lambda case: quota_gib(case.scenario.storage), "storage.quota_gib", text("Quota")),
    "p": Term(
        "p", USD_PER_GIB_MONTH, storage_price, _price_path, text("A GiB a month"),
        lambda case: plain(case.scenario.prices.region),
    ),
    "p_m": _field("K_m", "storage.custom.usd_per_month", USD),
    "v": Term(
        "v", USD_PER_H, lambda case: finite(case.job.gpu_value_usd_per_h), _gpu_value_path,
        text("A GPU-hour"), _gpu_value_remark,
    ),
    "K_s": _figure("K_s", "storage_usd"),
    "K_g": _figure("K_g", "lost_gpu_usd"),
    "K_m": _figure("K_1", "storage_usd_per_month", lambda case: _sold_name(case.chosen)),
    "K_2": Term(
        "K_2", USD, of_next("usd_per_month"), "", text("Next best"), lambda case: _sold_name(case.plan.storage.next_best),
    ),
    "eta": _figure("η", "waste_fraction"),
}  # fmt: skip
