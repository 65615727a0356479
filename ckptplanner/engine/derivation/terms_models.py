"""The terms of two levels and of interruptions with a memory: shares, intervals, rates, the steps of the nested model."""

from __future__ import annotations

from collections.abc import Mapping

from ckptplanner.engine.derivation.case import Case, of_local, of_schedule, of_shared
from ckptplanner.engine.derivation.term import Term, field_term, figure_term
from ckptplanner.text import Text, text
from ckptplanner.units import FRACTION, NUMBER, SECONDS


def _stop_path(case: Case) -> str:
    """Where what a shared save costs is explained: the stop alone, or with what it slows down."""
    storage = case.scenario.storage
    is_sum = storage.background_loss_s or (storage.slowdown_fraction and not case.is_sync)
    return "shared_stop_s" if is_sum else "blocking_s"


def _local_restart_path(case: Case) -> str:
    return "local_restart_s" if case.classes else "local.restart_s"


def _least_share(case: Case) -> float | None:
    return None if case.rates is None else max(case.rates.shared_share, 1e-9)


def _least_remark(case: Case) -> Text | None:
    return text("counted as one in a thousand million") if case.rates is not None and not case.rates.shared_share else None


MODEL_TERMS: Mapping[str, Term] = {
    "h_1": field_term("h_1", "failures.process_share"),
    "h_2": field_term("h_2", "failures.node_share"),
    "h_3": field_term("h_3", "failures.cluster_share"),
    "a_1": figure_term("a_1", "local_share"),
    "a_3": figure_term("a_3", "shared_share"),
    "a_3m": Term("a_3", FRACTION, _least_share, "shared_share", None, _least_remark),
    "a_g": figure_term("a_g", "group_loss_share"),
    "M_1": figure_term("M_1", "local_mtbi_s"),
    "M_3": figure_term("M_3", "shared_mtbi_s"),
    "C_1": field_term("C_1", "local.blocking_s"),
    "t_1": field_term("t_1", "local.durable_s"),
    "R_1_given": field_term("R_1", "local.restart_s"),
    "R_1": Term("R_1", SECONDS, of_local("restart_s"), _local_restart_path, text("Local restart")),
    "R_3": Term("R_3", SECONDS, of_shared("restart_s"), "shared_restart_s"),
    "C_3": Term("C_3", SECONDS, of_schedule("lost_per_save_s"), _stop_path),
    "T_1_given": field_term("T_1", "local.interval_s"),
    "T_1": figure_term("T_1", "local_interval_s"),
    "T_1_best": figure_term("T_1*", "local_best_interval_s"),
    "n_given": field_term("n", "local.ratio"),
    "n": figure_term("n", "ratio"),
    "g_1": figure_term("g_1", "local_goodput_fraction"),
    "P_3": figure_term("P_3", "pace_s"),
    "lag": figure_term("t_3'", "upload_lag_s"),
    "m": figure_term("m", "usable_saves"),
    "k_w": field_term("k", "failures.weibull_shape", NUMBER),
    "s_l": field_term("s", "failures.lognormal_shape", NUMBER),
    "x_n": figure_term("x_n", "node_failures"),
    "age": field_term("A", "failures.fleet_age_s"),
}  # fmt: skip
