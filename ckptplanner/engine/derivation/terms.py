"""The terms that formulas are made of: symbol, unit, where the number stands, and the field or figure that it leads to."""

from __future__ import annotations

from collections.abc import Mapping

from ckptplanner.engine import ceilings
from ckptplanner.engine.cards import quota_gib
from ckptplanner.engine.checks import price_path
from ckptplanner.engine.derivation.case import (
    Case,
    finite,
    full_pace_counts,
    need_s,
    of_chosen,
    of_next,
    of_schedule,
    storage_price,
    tier_number,
)
from ckptplanner.engine.derivation.term import Term, field_term, figure_term
from ckptplanner.engine.derivation.terms_beyond import BEYOND_TERMS
from ckptplanner.engine.derivation.terms_models import MODEL_TERMS
from ckptplanner.engine.derivation.writing import plain
from ckptplanner.engine.plan import Option
from ckptplanner.engine.sentence import option_name
from ckptplanner.text import Text, text
from ckptplanner.units import (
    BYTES_PER_PARAM,
    BYTES_PER_S,
    DAY,
    GIB,
    GIBS,
    PARAMS,
    SECONDS,
    TIER,
    USD,
    USD_PER_GIB_MONTH,
    USD_PER_H,
    brief,
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


def _client_path(case: Case) -> str:
    return "" if case.scenario.datapath.client_bytes_per_s is None else "datapath.client_bytes_per_s"


def _bound_by_node(case: Case) -> Text | None:
    """Whether the node's own card or memory lets less through than the file system takes of one client."""
    tier, client = case.tier, of_chosen("client_bytes_per_s")(case)
    if tier is None or client is None or client < ceilings.node_reach(case.scenario, over_efa=tier.efa):
        return None
    return text("what the node's card lets through")


TERMS: Mapping[str, Term] = {
    "P": field_term("P", "workload.total_params"),
    "P_f": field_term("P_f", "workload.frozen_params"),
    "b": Term(
        "b", BYTES_PER_PARAM, lambda case: case.scenario.workload.bytes_per_param, "workload.layout", text("Saved for each"),
    ),
    "b_f": field_term("b_f", "workload.frozen_bytes_per_param"),
    "S_m": field_term("S", "workload.measured_bytes"),
    "S": figure_term("S", "checkpoint_bytes", _size_remark),
    "S_gib": Term("S", GIBS, lambda case: case.plan.checkpoint.checkpoint_bytes / GIB, "checkpoint_bytes", None, _size_remark),
    "N": field_term("N", "workload.nodes"),
    "g": field_term("g", "workload.gpus_per_node"),
    "s": field_term("s", "workload.step_s"),
    "M_0": field_term("M_0", "failures.mtbi_s"),
    "N_0": field_term("N_0", "failures.mtbi_nodes", remark=lambda case: text("nodes that it was counted on")),
    "M": figure_term("M", "mtbi_s", lambda case: text("by the age of the nodes") if case.ages else None),
    "t_d": field_term("t_d", "failures.detect_s"),
    "t_q": field_term("t_q", "failures.reschedule_s"),
    "t_b": field_term("t_b", "failures.start_s"),
    "D": field_term("D", "failures.downtime_s"),
    "C_given": field_term("C", "storage.blocking_s"),
    "C": figure_term("C", "blocking_s"),
    "loss": field_term("C_b", "storage.background_loss_s"),
    "slow": field_term("σ", "storage.slowdown_fraction"),
    "t_w": Term("t_w", SECONDS, of_schedule("write_s"), _write_path, text("Write time"), _decision),
    "t_need": Term(
        "t_w", SECONDS, need_s, lambda case: "writes_in_s" if full_pace_counts(case) else "storage.write_s",
        text("Write time"), _decision,
    ),
    "l": field_term("l", "storage.latency_s"),
    "T_asked": field_term("T", "storage.interval_s"),
    "T": figure_term("T", "interval_s"),
    "T_best": figure_term("T*", "best_interval_s"),
    "n_steps": figure_term("n", "interval_steps"),
    "run": Term("L", SECONDS, lambda case: case.scenario.run.days * DAY, "run.days", text("Run length")),
    "days": field_term("L", "run.days"),
    "t": figure_term("t", "durable_after_s"),
    "R": figure_term("R", "restart_s"),
    "t_r": figure_term("t_r", "restore_read_s"),
    "k": field_term("k", "storage.generations_kept"),
    "fill": field_term("f", "storage.max_fill"),
    "e_w": field_term("e_w", "storage.write_efficiency"),
    "e_r": field_term("e_r", "storage.read_efficiency"),
    "copies": field_term("m", "restore.copies"),
    "W": figure_term("W", "required_write_bytes_per_s"),
    "c": figure_term("c", "capacity_gib"),
    "c_fixed": Term("c", GIBS, of_chosen("capacity_gib"), "storage.tier", text("File system")),
    "c_custom": Term("c", GIBS, of_chosen("capacity_gib"), "storage.custom.usable_bytes", text("Usable")),
    "u": Term("u", GIBS, tier_number("step_gib"), "", text("Grows in steps of")),
    "tau": Term(
        "τ", TIER, of_chosen("throughput_mb_per_s_per_tib"), "storage.tier", text("Baseline of a TiB"),
        lambda case: text("1,000 GiB count as one"),
    ),
    "B": figure_term("B", "baseline_bytes_per_s"),
    "B_w": field_term("B", "storage.custom.write_bytes_per_s"),
    "B_r": field_term("B_r", "storage.custom.read_bytes_per_s"),
    "client": Term(
        "c_l", BYTES_PER_S, of_chosen("client_bytes_per_s"), _client_path, text("Limit of one node"), _bound_by_node
    ),
    "quota": Term("Q", GIBS, lambda case: quota_gib(case.scenario.storage), "storage.quota_gib", text("Quota")),
    "p": Term(
        "p", USD_PER_GIB_MONTH, storage_price, _price_path, text("A GiB a month"),
        lambda case: plain(case.scenario.prices.region),
    ),
    "p_m": field_term("K_m", "storage.custom.usd_per_month", USD),
    "v": Term(
        "v", USD_PER_H, lambda case: finite(case.job.gpu_value_usd_per_h), _gpu_value_path,
        text("A GPU-hour"), _gpu_value_remark,
    ),
    "K_s": figure_term("K_s", "storage_usd"),
    "K_g": figure_term("K_g", "lost_gpu_usd"),
    "K_m": figure_term("K_1", "storage_usd_per_month", lambda case: _sold_name(case.chosen)),
    "K_2": Term(
        "K_2", USD, of_next("usd_per_month"), "", text("Next best"), lambda case: _sold_name(case.plan.storage.next_best),
    ),
    "eta": figure_term("η", "waste_fraction"),
    **BEYOND_TERMS,
    **MODEL_TERMS,
}  # fmt: skip
