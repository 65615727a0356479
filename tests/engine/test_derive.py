"""Derivations: every printed line can be worked out by hand, and no figure fails or shows a None in any scenario."""

from __future__ import annotations

import re
from typing import Any

import pytest

from ckptplanner.engine.cost import Basis
from ckptplanner.engine.derivation import derive
from ckptplanner.engine.derivation.derive import Derivation, derivation
from ckptplanner.engine.derivation.figures import FIGURES
from ckptplanner.engine.evaluate import evaluate
from ckptplanner.engine.measure import HOW_TO_MEASURE, alternatives, catalog_value
from ckptplanner.engine.scenario import PATHS, Scenario, Source
from ckptplanner.frozen import spec_of
from tests.engine.calculator import check
from tests.engine.cases import CUSTOM, MODELS, SCENARIOS, named


def plain(words: object) -> str:
    return str(words).replace("\u00a0", " ")


def every_text(found: Derivation) -> list[str]:
    rows = [str(text) for row in found.inputs for text in (row.symbol, row.title, row.value, row.remark or "")]
    changes = [str(text) for change in found.changes for text in (change.label, change.value, change.difference)]
    head = [found.formula, found.substituted, found.result, *map(str, (found.title, found.valid, found.source))]
    return [*head, str(found.missing or ""), *rows, *changes]


@pytest.mark.parametrize("changes", SCENARIOS.values(), ids=SCENARIOS.keys())
def test_every_line_can_be_worked_out(changes: dict[str, Any]) -> None:
    """Also: what is not known is said and never shown as a number, and every row leads to something that exists."""
    scenario = named(changes)
    for figure in FIGURES:
        found = derivation(scenario, figure)
        assert bool(found.result) == bool(found.substituted) == (found.missing is None), figure
        if found.result:
            check(found)
        for words in every_text(found):
            assert not re.search(r"\b(None|nan|inf)\b|[{}]", words), (figure, words)
        for row in found.inputs:
            assert row.figure is None or row.figure in FIGURES
            assert row.path is None or row.path.startswith("storage.custom.") or row.path in PATHS
            assert row.kind in {"log", "doc", "article", "guess", "typed"}


@pytest.mark.parametrize("changes", MODELS.values(), ids=MODELS.keys())
def test_every_line_of_the_models_can_be_worked_out(changes: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """The same without what would change it, which takes nearly all of the time."""
    monkeypatch.setattr(derive, "changes_of", lambda case, figure: ())
    test_every_line_can_be_worked_out(changes)


@pytest.mark.parametrize("basis", ["month", "run", "year"])
@pytest.mark.parametrize("figure", ["total_usd", "storage_usd", "lost_gpu_usd"])
def test_dollars_follow_the_basis(figure: str, basis: Basis) -> None:
    check(derivation(named({"run.days": 90.0}), figure, basis))


def test_a_year_is_twelve_months() -> None:
    month, year = (derivation(named({}), "storage_usd", basis) for basis in ("month", "year"))
    assert (month.result, year.result) == ("$4,080", "$48,960")


def test_needed_write_throughput_reads_as_one_would_say_it() -> None:
    found = derivation(named({}), "required_write_bytes_per_s")
    assert str(found.title) == "Needed write throughput"
    assert found.formula == "W = S / t_w"
    assert plain(found.substituted) == "1,742.3 GB / 300 s = 5.81 GB/s"
    rows = [tuple(map(plain, (change.label, change.value, change.difference))) for change in found.changes]
    assert rows[:3] == [
        ("10 min to write", "2.90 GB/s", "−50 %"),
        ("6 B for each", "2.49 GB/s", "−57 %"),
        ("64 nodes", "5.81 GB/s", "no change"),
    ]
    size, write = found.inputs
    assert (plain(size.value), plain(size.remark), size.figure) == ("1.742 TB", "124.45 B by 14 B", "checkpoint_bytes")
    assert (plain(write.value), plain(write.remark), write.path) == ("5 min", "a decision", "storage.write_s")


@pytest.mark.parametrize(
    ("figure", "changes", "formula"),
    [
        ("blocking_s", {"storage.mode": "sync"}, "C = t_w"),
        ("best_interval_s", {"storage.interval_model": "young"}, "T* = √(2 C M)"),
        ("best_interval_s", {}, "1 − e^(−T* / M) = (T* − C) / M"),
        ("durable_after_s", {"storage.published": "next_save"}, "t = T"),
        ("waste_fraction", {"storage.waste_model": "first_order"}, "η = C / T + (T / 2 + t + R) / M"),
        ("baseline_bytes_per_s", {"storage.custom": CUSTOM}, "B"),
        ("checkpoint_bytes", {"workload.measured_bytes": 1e12}, "S"),
        ("worst_rework_s", {"storage.interval_s": 200.0}, "r_max = (C + t_w) + t"),
        ("writes_in_s", {"storage.custom": CUSTOM}, "t_s = S / B"),
    ],
)
def test_the_formula_follows_the_scenario(figure: str, changes: dict[str, Any], formula: str) -> None:
    assert plain(derivation(named(changes), figure).formula) == formula


@pytest.mark.parametrize(
    ("figure", "changes", "words"),
    [
        ("total_usd", SCENARIOS["no storage price"], "type it from your bill"),
        ("lost_gpu_usd", SCENARIOS["no node price"], "No price is known for p6-b300.48xlarge"),
        ("quota_fraction", SCENARIOS["custom"], "does not concern"),
        ("waste_fraction", SCENARIOS["save longer than interval"], "no progress"),
        ("first_order_fraction", SCENARIOS["first order beyond"], "passes 100 %"),
        ("capacity_gib", SCENARIOS["no system"], "leaves nothing of the write time"),
    ],
)
def test_what_is_missing_is_said(figure: str, changes: dict[str, Any], words: str) -> None:
    found = derivation(named(changes), figure)
    assert words in plain(found.missing)
    assert (found.result, found.substituted) == ("", "")


def test_a_change_shows_what_the_changed_plan_shows() -> None:
    changed = named({"storage.write_s": 600.0})
    rows = {plain(change.label): change for change in derivation(named({}), "capacity_gib").changes}
    assert str(rows["10 min to write"].value) == derivation(changed, "capacity_gib").result
    assert evaluate(changed.scenario).storage.chosen is not None


def test_a_guess_below_makes_the_figure_a_guess() -> None:
    rows = {row.symbol: row.kind for row in derivation(named({}), "waste_fraction").inputs}
    assert (rows["R"], rows["C"]) == ("guess", "article")
    logged = named({}).with_source(Source(path="storage.blocking_s", kind="log"))
    assert derivation(logged, "blocking_s").inputs[0].kind == "log"


def test_every_figure_says_where_it_holds_and_who_says_so() -> None:
    for figure in FIGURES:
        found = derivation(named({}), figure)
        assert str(found.valid)
        assert str(found.source)
        assert found.changes


@pytest.mark.parametrize("path", [path for path in PATHS if path.startswith(("failures.", "local."))])
def test_what_the_models_need_says_how_it_is_measured(path: str) -> None:
    assert str(HOW_TO_MEASURE[path]).endswith(".")


@pytest.mark.parametrize("path", HOW_TO_MEASURE)
def test_what_is_measured_is_a_field(path: str) -> None:
    assert spec_of(Scenario, path).title


def test_the_catalog_knows_other_prices_and_records() -> None:
    scenario = named({"prices.storage_usd_per_gib_month.p2_500": 0.29})
    assert catalog_value(scenario, "prices.storage_usd_per_gib_month.p2_500") == 0.34
    assert catalog_value(scenario, "prices.node_usd_per_h") == 142.416
    assert catalog_value(scenario, "storage.blocking_s") == 5.0
    records = alternatives(scenario, "failures.mtbi_s")
    assert next(row.value for row in records if "OPT-175B, all" in row.name) == pytest.approx(53.14 * 3600, rel=1e-3)
    assert {row.value for row in alternatives(scenario, "prices.storage_usd_per_gib_month.p2_500")} >= {0.34}
    assert alternatives(scenario, "storage.write_s") == ()


# ---------------------------------------------------------------- beyond the articles


@pytest.mark.parametrize(
    ("figure", "changes", "formula", "result"),
    [
        ("restart_s", "recovered from peers", "R = w_1 b_1 + w_2 · (b_2 + t_r)", "3 min 17 s"),
        ("mean_rework_s", "recovered from peers", "r_mean = w_s · (T / 2 + t) + w_p s", "7 min 44 s"),
        ("best_interval_s", "recovered from peers, first order", "T* = √(2 C M_s)", "2 h 21 min"),
        ("waste_fraction", "recovered from peers", None, "0.151 %"),  # SPEC 13: 0.15 %
        ("planned_fraction", "planned stops", "η_p = (R + t_c + t_s) / T_p", "2.41 %"),
        ("planned_fraction", "planned stops, no notice", "η_p = (t_d + t_q + t_b + t_r + T / 2 + t) / T_p", "6.29 %"),
        ("goodput_fraction", "planned stops", "G = 1 − η − η_p", "97.05 %"),
        ("total_usd", "other saves", "K = K_s + K_g + K_o", None),
        ("other_usd", "other saves", "K_o = S_3 p_3", None),
        ("reach_s", "other saves", "r_back = max((k − 1) · T, x_1 E_1)", "2,160 h"),
        ("capacity_gib", "neighbours", "c = u · ⌈max(k S J + V, 1,000 GiB · (W n_w + Λ) / τ) / u⌉", None),
        ("writes_in_s", "neighbours", "t_s = S / min((B − Λ) / n_w, N c_l)", None),
        ("writes_in_s", "neighbours take all", "t_s = S / 1 B/s", None),
        ("restore_read_s", "neighbours", "t_r = S / min(B − Λ, N c_l)", None),
        ("fill_fraction", "neighbours", "f_c = (k S J + V) / c", None),
        ("replica_after_first", "two copies", "P_1 = p", "0.0156 %"),  # SPEC 7
        ("replica_after_first", "four copies on drives", "P_1 = p^(F − 1)", None),
        ("replica_loss", "two copies", "P = 1 − e^(−N / M_n · P_1 L)", "0.682 %"),
        ("replica_loss", "four copies on drives", "P = 1 − e^(−(N / M_n · P_1 + n_r / M_r) · L)", None),
        ("replica_loss", "four copies in racks", "P = 1 − e^(−N / M_n · P_1 L)", None),  # no rack holds a whole group
        ("network_fraction", "skewed writers", "u_n = S_N z / (t_w c_n)", None),
    ],
)
def test_formulas_beyond_the_articles(figure: str, changes: str, formula: str | None, result: str | None) -> None:
    found = derivation(named(SCENARIOS[changes]), figure)
    assert formula is None or plain(found.formula) == formula
    assert result is None or plain(found.result) == result
    assert found.substituted


def test_scattered_copies_stand_beside_grouped_ones() -> None:
    """SPEC 7: 0.4832 % against 0.016 %, 31 times."""
    rows = derivation(named(SCENARIOS["two copies"]), "replica_loss").inputs
    remark = next(plain(row.remark) for row in rows if row.symbol == "P_1")
    assert remark == "scattered over all nodes 0.4832 %, 30.9 times"


def test_a_class_says_what_it_reads_from_near() -> None:
    rows = {row.symbol: row for row in derivation(named(SCENARIOS["many classes"]), "restart_s").inputs}
    assert "local drives" in plain(rows["b_1"].remark)
    assert rows["b_5"].remark is None
    assert {row.path for row in rows.values()} == {"restart.classes", None}


def test_what_only_some_plans_have_is_not_asked_of_the_others() -> None:
    """A neutral plan shows no change of an input that it does not use, unless the figure is about it."""
    labels = [plain(change.label) for change in derivation(named({}), "total_usd").changes]
    assert not [label for label in labels if "planned stop" in label or "jobs like this" in label or label == "2 copies"]
    labels = [plain(change.label) for change in derivation(named({}), "planned_fraction").changes]
    assert labels[0] == "a planned stop every 24 h"


@pytest.mark.parametrize(
    ("figure", "changes", "words"),
    [
        ("planned_fraction", {}, "No planned stops"),
        ("host_ram", SCENARIOS["unknown node"], "memory of p6-b300.48xlarge is not known"),
        ("snapshot_s", SCENARIOS["unknown node"], "No ceiling of this way is known"),
        ("replica_loss", SCENARIOS["illegal copies"], "3 copies cannot be formed"),
        ("total_usd", SCENARIOS["another zone, no price"], "crosses zones"),
        ("total_usd", SCENARIOS["other saves, no S3 price"], "What S3 costs"),
        ("other_usd", {}, "Nothing lies in S3"),
    ],
)
def test_what_is_missing_beyond_the_articles_is_said(figure: str, changes: dict[str, Any], words: str) -> None:
    found = derivation(named(changes), figure)
    assert words in plain(found.missing)
    assert found.result == ""


@pytest.mark.parametrize("basis", ["month", "run", "year"])
@pytest.mark.parametrize("scenario", ["other saves", "another zone", "planned stops", "spares"])
def test_all_dollars_follow_the_basis(scenario: str, basis: Basis) -> None:
    for figure in ("total_usd", "lost_gpu_usd", "other_usd"):
        found = derivation(named(SCENARIOS[scenario]), figure, basis)
        if found.result:
            check(found)


def test_memory_that_nobody_typed_is_a_guess() -> None:
    rows = {row.symbol: row for row in derivation(named({}), "host_ram").inputs}
    assert (rows["U_j"].kind, plain(rows["U_j"].remark)) == ("guess", "a tenth of the memory")
    typed = {row.symbol: row for row in derivation(named({"memory.job_bytes": 3e11}), "host_ram").inputs}
    assert (typed["U_j"].kind, typed["U_j"].remark) == ("typed", None)


def test_without_local_saves_there_is_no_local_figure() -> None:
    rows = {
        plain(row.label): plain(row.value) for row in derivation(named({"local.enabled": True}), "local_interval_s").changes
    }
    assert rows["without local saves"] == "there is none"


def test_an_aged_mean_says_what_it_is_made_of() -> None:
    aged = named({"failures.weibull_shape": 0.5, "failures.clock": "nodes"})
    remarks = {row.symbol: row.remark and plain(row.remark) for row in derivation(aged, "waste_fraction").inputs}
    assert remarks["M"] == "by the age of the nodes"
