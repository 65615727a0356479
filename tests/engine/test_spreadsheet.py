"""The live formulas of "copy as spreadsheet", worked out here cell by cell, give the numbers of the plan."""

from __future__ import annotations

import math
import re
from typing import Any

import pytest

from ckptplanner import __version__
from ckptplanner.engine.beyond import no_spare_probability
from ckptplanner.engine.evaluate import evaluate
from ckptplanner.engine.job import job_of
from ckptplanner.engine.operations import RestartClass, SaveRow
from ckptplanner.engine.plan import Plan
from ckptplanner.engine.scenario import PATHS, NamedScenario, Scenario
from ckptplanner.engine.spreadsheet import COLUMNS, spreadsheet, spreadsheet_cells
from ckptplanner.frozen import with_value
from tests.engine.build import INSTANT
from tests.engine.cases import LEVELS, MODELS, named


class Evaluator:
    """Just enough of a spreadsheet: numbers, texts, blank cells, operators and the functions that the sheet uses."""

    def __init__(self, rows: list[list[str]]) -> None:
        self.rows = rows
        self.values: dict[str, Any] = {}

    def at(self, address: str) -> Any:
        if address not in self.values:
            self.values[address] = self._value(self.rows[int(address[1:]) - 1]["ABCDE".index(address[0])])
        return self.values[address]

    def labelled(self, label: str) -> Any:
        found = [number for number, row in enumerate(self.rows, start=1) if row[0] == label]
        assert len(found) == 1, (label, found)
        return self.at(f"B{found[0]}")

    def _value(self, cell: str) -> Any:
        if not cell.startswith("="):
            if cell in {"TRUE", "FALSE"}:
                return cell == "TRUE"
            try:
                return float(cell)
            except ValueError:
                return cell
        code = re.sub(r"(?<![<>])=", "==", cell[1:])
        code = re.sub(r"\b(B\d+)\b", r'at("\1")', code).replace("^", "**")
        # both branches of IF wait until they are needed, as in a spreadsheet
        return _evaluate_lazily(code, self.at)


def _evaluate_lazily(code: str, at: Any) -> Any:
    names = {
        "at": at, "SQRT": math.sqrt, "EXP": math.exp, "MAX": max, "MIN": min, "OR": lambda *parts: any(parts),
        "AND": lambda *parts: all(parts), "ROUNDDOWN": lambda value, _: math.trunc(value),
        "MOD": lambda value, by: value % by, "ROUND": lambda value, _: math.floor(value + 0.5),
        "POISSON": lambda count, mean, _: 1.0 - no_spare_probability(int(count) + 1, mean, 1.0),
        "ROUNDUP": lambda value, _: math.copysign(math.ceil(abs(value)), value), "TRUE": True, "FALSE": False,
    }  # fmt: skip
    return eval(_with_conditions(code), {"__builtins__": {}}, names)


def _with_conditions(code: str) -> str:
    """IF(a,b,c) as Python's (b if a else c), inside out."""
    while (start := code.rfind("IF(")) >= 0:
        parts, depth, begin = [], 0, start + 3
        for place in range(begin, len(code)):
            sign = code[place]
            if depth == 0 and sign in ",)":
                parts.append(code[begin:place])
                begin = place + 1
                if sign == ")":
                    break
            depth += {"(": 1, ")": -1}.get(sign, 0)
        condition, then, otherwise = parts
        code = f"{code[:start]}(({then}) if ({condition}) else ({otherwise})){code[begin:]}"
    return code


def _scenario(**changes: object) -> Scenario:
    scenario = Scenario()
    for path, value in changes.items():
        scenario = with_value(scenario, path.replace("__", "."), value)
    return scenario


def _expected(plan: Plan) -> dict[str, float | None]:
    schedule, waste, cost, chosen = plan.schedule, plan.waste, plan.cost, plan.storage.chosen
    assert schedule is not None
    assert waste is not None
    assert cost is not None
    assert chosen is not None
    return {
        "One checkpoint, S": plan.checkpoint.checkpoint_bytes,
        "Written by one of them": plan.checkpoint.bytes_per_node,
        "Storage must sustain, W": plan.storage.required_write_bytes_per_s,
        "Capacity, the next legal size": chosen.capacity_gib,
        "Baseline": chosen.baseline_bytes_per_s,
        "One node moves": chosen.client_bytes_per_s,
        "Storage a month": chosen.usd_per_month,
        "Full": chosen.fill_ratio,
        "The write takes": schedule.writes_in_s,
        "This job is interrupted every, M": schedule.mtbi_s,
        "Young 1974, sqrt(2CM)": schedule.young_interval_s,
        "Best interval, T*": schedule.best_interval_s,
        "Save every, T": schedule.interval_s,
        "Time that really passes": schedule.period_s,
        "Restorable after, t": schedule.durable_after_s,
        "Training again after, R": schedule.restart_s,
        "Rework, mean": waste.mean_rework_s,
        "Rework, at worst": waste.worst_rework_s,
        "Saving, with other saves": waste.saving_fraction,
        "Planned stops": waste.planned_fraction,
        "Waste and planned stops": waste.total_fraction,
        "First order": waste.first_order_fraction,
        "Exact": waste.exact_fraction,
        "Waste by the model chosen": waste.chosen_fraction,
        "GPU time stopped by saves": cost.stalled_gpu_h_per_year,
        "Stopped by saves": cost.stalled_gpu_usd_per_year,
        "Rework": cost.rework_usd_per_year,
        "Restarts": cost.restart_usd_per_year,
        "Storage": cost.storage_usd_per_year,
        "Planned stops, value": cost.planned_usd_per_year,
        "Total": cost.total_usd_per_year,
    }


def _expected_of_levels(plan: Plan) -> dict[str, float | None]:
    levels = plan.levels
    if levels is None:
        return {}
    local, shared = levels.local, levels.shared
    rates = job_of(plan.scenario).levels
    assert rates is not None
    found = {
        "Go back to a local save": rates.local_share,
        "Go back to a shared save": rates.shared_share,
        "Lose every copy of a shard": rates.group_losses,
        "Goes back to a local save every, M1": local.mtbi_s,
        "Goes back to a shared save every, M3": rates.shared_mtbi_s,
        "Save locally every, T1": local.interval_s,
        "Local saves to a shared one, n": levels.ratio,
        "Restorable locally after": local.durable_after_s,
        "Training again from a shared save after, R3": shared.restart_s,
        "Waste of the local level": local.waste_fraction,
        "Waste of the shared level": shared.waste_fraction,
    }
    if rates.local_share:
        found["Training again from a local save after, R1"] = local.restart_s
    return found


CUSTOM = {"write_bytes_per_s": 62e9, "read_bytes_per_s": 125e9, "usable_bytes": 1e15}
CLASSES = (
    RestartClass(share=0.6, detect_s=20.0, reschedule_s=0.0, start_s=60.0, reads_from="peer", rework="step"),
    RestartClass(share=0.3, reads_from="local"),
    RestartClass(share=0.1, detect_s=900.0),
)
SAVES = (
    SaveRow(kind="permanent", every_s=86_400.0, stop_s=120.0),
    SaveRow(kind="evaluation", every_s=7200.0, bytes=5e11, to="shared", keep=3, stop_s=3.0),
    SaveRow(kind="final", every_s=None, to="shared", stop_s=600.0),
)
CASES: dict[str, dict[str, object]] = {
    "async": {},
    "async 20 min": {"storage__write_s": 1200.0},
    "sync": {"storage__mode": "sync", "storage__write_s": 60.0},
    "young, first order": {"storage__interval_model": "young", "storage__waste_model": "first_order"},
    "daly": {"storage__interval_model": "daly"},
    "custom": {"storage__custom": {**CUSTOM, "usd_per_month": 9000.0}},
    "custom, price unknown": {"storage__custom": CUSTOM},
    "custom at full pace": {"storage__custom": {**CUSTOM, "usd_per_month": 1.0}, "storage__pace": "full"},
    "fixed tier": {"storage__tier": "p2-1000-33600-efa"},
    "fixed tier that does not exist": {"storage__tier": "p2-300-5000"},
    "efficiencies": {"storage__write_efficiency": 0.7, "storage__read_efficiency": 0.6},
    "fill": {"storage__max_fill": 0.85, "storage__write_s": 1200.0},
    "restore copies": {"restore__copies": 4},
    "background loss": {"storage__background_loss_s": 54.0},
    "slowdown and latency": {"storage__slowdown_fraction": 0.02, "storage__latency_s": 20.0},
    "published at the next save": {"storage__published": "next_save"},
    "published at the next save, young": {"storage__published": "next_save", "storage__interval_model": "young"},
    "typed interval": {"storage__interval_s": 1800.0},
    "typed interval, overlap": {"storage__interval_s": 200.0},
    "whole steps": {"storage__whole_steps": True, "workload__step_s": 7.0},
    "whole steps, half a step": {"storage__whole_steps": True, "storage__interval_s": 1805.0},
    "no stop": {"storage__blocking_s": 0.0},
    "no progress": {"storage__blocking_s": 500.0, "storage__interval_s": 400.0},
    "first order above 100 %": {"failures__mtbi_s": 900.0, "storage__waste_model": "first_order"},
    "full pace": {"storage__pace": "full", "storage__write_s": 600.0},
    "single writer": {"workload__writer": "single", "storage__write_s": 1200.0},
    "small": {"workload__total_params": 125e6, "workload__nodes": 1, "failures__mtbi_nodes": 1},
    "huge": {"workload__total_params": 1e13, "workload__nodes": 4096, "storage__generations_kept": 20},
    "rare interruptions": {"failures__mtbi_s": 1e11},
    "frozen part": {"workload__frozen_params": 10e9},
    "measured": {"workload__measured_bytes": 1.5e12},
    "downtime": {"failures__downtime_s": 3600.0},
    "value of a GPU-hour": {"prices__gpu_value_usd_per_h": 2.5, "run__days": 90.0},
    "node price unknown": {"prices__node_usd_per_h": None},
    "planned stops": {"planned__every_s": 86_400.0, "planned__queue_s": 600.0, "planned__notice_s": 3600.0},
    "planned stops, short notice": {"planned__every_s": 86_400.0, "planned__notice_s": 60.0, "restart__classes": CLASSES},
    "planned stops all the time": {"planned__every_s": 60.0},
    "neighbours": {"shared__jobs": 4, "shared__used_bytes": 3e12, "shared__load_bytes_per_s": 1e9, "saves": SAVES},
    "neighbours and allowances": {
        "shared__jobs": 6,
        "shared__load_bytes_per_s": 2e9,
        "storage__write_efficiency": 0.8,
        "storage__read_efficiency": 0.6,
        "storage__max_fill": 0.85,
    },
    "neighbours on the storage we have": {
        "storage__custom": CUSTOM,
        "shared__jobs": 8,
        "shared__load_bytes_per_s": 3e10,
        "storage__pace": "full",
        "datapath__client_bytes_per_s": 1e8,
    },
    "skewed writers": {"datapath__writer_skew_ratio": 5.0, "datapath__client_bytes_per_s": 3e8, "storage__write_s": 1200.0},
    "classes": {"restart__classes": CLASSES},
    "classes, daly": {"restart__classes": CLASSES, "storage__interval_model": "daly", "failures__downtime_s": 60.0},
    "classes, young, next save": {
        "restart__classes": CLASSES,
        "storage__interval_model": "young",
        "storage__published": "next_save",
        "storage__waste_model": "first_order",
    },
    "classes that go back": {"restart__classes": CLASSES[1:]},
    "classes that lose a step": {"restart__classes": CLASSES[:1]},
    "other saves": {"saves": SAVES, "run__days": 90.0},
    "other saves, first order": {"saves": SAVES, "storage__waste_model": "first_order"},
    "other saves, S3 price unknown": {"saves": SAVES, "prices__s3_usd_per_gb_month": None},
    "spares": {"spares__nodes": 2, "spares__wait_s": 1e6},
    "no spares": {"spares__wait_s": 7200.0, "storage__waste_model": "first_order"},
    "another zone": {
        "network__same_zone": False,
        "prices__cross_zone_usd_per_gb": 0.02,
        "saves": SAVES,
        "restart__classes": CLASSES,
        "restore__copies": 3,
    },
    "another zone, price unknown": {"network__same_zone": False},
}


def _compare(scenario: NamedScenario) -> None:
    """The sheet's own results are those of the plan."""
    sheet, plan = Evaluator(spreadsheet_cells(scenario)), evaluate(scenario.scenario)
    labels = {row[0] for row in sheet.rows}
    for label, wanted in {**_expected(plan), **_expected_of_levels(plan)}.items():
        if label not in labels:
            assert plan.scenario.storage.custom is not None, label
        elif wanted is None:
            assert sheet.labelled(label) == "", label
        else:
            assert sheet.labelled(label) == pytest.approx(wanted, rel=1e-9, abs=1e-15), label


@pytest.mark.parametrize("case", CASES)
def test_formulas_give_the_plan(case: str) -> None:
    _compare(NamedScenario(name=case, scenario=_scenario(**CASES[case])))


@pytest.mark.parametrize("case", MODELS)
def test_formulas_give_the_plan_of_other_models(case: str) -> None:
    """Two levels, and interruptions with a memory; what has no file system has no numbers to compare."""
    if evaluate(named(MODELS[case]).scenario).storage.chosen is not None:
        _compare(named(MODELS[case]))


def test_an_edited_input_moves_what_follows() -> None:
    rows = spreadsheet_cells(NamedScenario(name="a"))
    edited = [[*row[:1], "sync", *row[2:]] if row[4] == "storage.mode" else row for row in rows]
    plan = evaluate(_scenario(storage__mode="sync"))
    assert plan.schedule is not None
    assert Evaluator(edited).labelled("Save every, T") == pytest.approx(plan.schedule.interval_s, rel=1e-9)


def test_every_row_is_a_line_and_every_input_has_path_and_source() -> None:
    rows = spreadsheet_cells(NamedScenario(name="a\tb\nc", scenario=Scenario()))
    lines = spreadsheet(NamedScenario(name="a\tb\nc")).splitlines()
    assert len(lines) == len(rows)
    assert {len(row) for row in rows} == {COLUMNS}
    inputs = [row for row in rows if row[4] and not row[1].startswith("=")]
    assert all(row[3] for row in inputs if row[4] != "storage.tier")
    assert [row[3] for row in rows if row[4] == "workload.total_params"] == ["article, default"]


def test_the_first_line_names_version_and_scenario() -> None:
    first = spreadsheet(NamedScenario(name="5 分, 学習")).splitlines()[0]
    assert __version__ in first
    assert "5 分, 学習" in first


def test_a_typed_text_is_never_a_formula() -> None:
    scenario = with_value(Scenario(), "workload.layout", ({"what": "=1+1", "bytes_per_param": 14.0},))
    text = spreadsheet(NamedScenario(name="=HYPERLINK(1)", scenario=scenario).model_copy(update={"note": "=1"}))
    cells = [cell for line in text.splitlines() for column, cell in enumerate(line.split("\t")) if column != 1]
    assert not [cell for cell in cells if cell.startswith("=")]


def test_without_a_file_system_the_rest_is_left_out() -> None:
    scenario = _scenario(storage__quota_gib=1.0)
    rows = spreadsheet_cells(NamedScenario(name="a", scenario=scenario))
    assert evaluate(scenario).storage.chosen is None
    assert "No file system" in rows[-1][0]
    assert Evaluator(rows).labelled("One checkpoint, S") == pytest.approx(1.7423e12)


def test_what_no_cell_works_out_says_so() -> None:
    scenario = _scenario(saves=SAVES, restart__classes=CLASSES, shared__jobs=4)
    rows = {row[0]: row for row in spreadsheet_cells(NamedScenario(name="a", scenario=scenario))}
    for label in (
        "Stopped by other saves", "In S3, on average over the run", "Jobs that write at once", "Back to a save: share",
    ):  # fmt: skip
        assert rows[label][3].startswith("a value: ")
        assert not rows[label][1].startswith("=")
    assert any(label.startswith("Not in this sheet: ") for label in rows)


def test_the_formulas_of_two_levels_follow_their_inputs() -> None:
    """What the cells say after an edit is what the program says: T1, n and the waste, whatever moved."""
    rows = spreadsheet_cells(named(LEVELS["two levels, copies"]))
    for path, value in {
        "local.blocking_s": 8.0, "local.ratio": 4.0, "local.uploads": "survive", "failures.process_share": 0.3,
        "failures.mtbi_s": 90_000.0, "storage.interval_s": 9000.0, "local.interval_s": 1500.0, "storage.mode": "sync",
    }.items():  # fmt: skip
        edited = Evaluator([[*row[:1], str(value), *row[2:]] if row[4] == path else row for row in rows])
        plan = evaluate(with_value(named(LEVELS["two levels, copies"]).scenario, path, value))
        assert plan.levels is not None
        assert plan.waste is not None
        assert edited.labelled("Local saves to a shared one, n") == plan.levels.ratio, path
        assert edited.labelled("Save locally every, T1") == pytest.approx(plan.levels.local.interval_s, rel=1e-9), path
        # how often groups are lost is a value, and follows no edit of the shares
        assert edited.labelled("Exact") == pytest.approx(plan.waste.exact_fraction, rel=1e-6), path


def test_the_nested_form_gives_the_golden_numbers() -> None:
    """THEORY 6: w 1187, n 3, local 20, 60, 300, 10 h; shared 60, 1800, 1500, 40 h, with uploads that die and survive."""
    golden = {
        "local.enabled": True, "local.interval_s": 1207.0, "local.blocking_s": 20.0, "local.durable_s": 60.0,
        "local.restart_s": 300.0, "local.ratio": 3, "storage.blocking_s": 60.0, "storage.write_s": 1800.0,
        "failures.mtbi_s": 8 * 3600.0, "failures.process_share": 0.8, "failures.node_share": 0.2,
        "failures.cluster_share": 0.0, "failures.detect_s": 1500.0, "failures.reschedule_s": 0.0, "failures.start_s": 0.0,
        "storage.custom": INSTANT,
    }  # fmt: skip
    for uploads, waste in (("die", 0.09304039185), ("survive", 0.09181825064)):
        sheet = Evaluator(spreadsheet_cells(named({**golden, "local.uploads": uploads})))
        assert sheet.labelled("Exact") == pytest.approx(waste, abs=1e-9)


def test_the_inputs_of_the_model_are_among_the_inputs() -> None:
    levels, law = ({row[4] for row in spreadsheet_cells(named(MODELS[name]))} for name in ("two levels, copies", "weibull"))
    shares = {"failures.process_share", "failures.node_share", "failures.cluster_share"}
    assert {path for path in PATHS if path.startswith("local.")} | shares <= levels
    assert {"failures.law", "failures.weibull_shape", "failures.lognormal_shape", "failures.gaps_s"} <= law
    assert not any(row[4].startswith("local.") for row in spreadsheet_cells(named({})))


@pytest.mark.parametrize(
    ("case", "label"),
    [
        ("weibull", "Usable saves at an interruption"), ("gaps", "Exact, restorable when written"),
        ("nodes that age", "Failures of one node in the run"), ("two levels, copies", "Groups that lose every copy"),
        ("two levels, classes", "Back to a local save: share"),
    ],
)  # fmt: skip
def test_what_no_cell_of_a_model_works_out_says_so(case: str, label: str) -> None:
    rows = {row[0]: row for row in spreadsheet_cells(named(MODELS[case]))}
    assert rows[label][3].startswith("a value: ")
    assert not rows[label][1].startswith("=")
