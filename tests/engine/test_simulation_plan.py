"""Plans that are simulated: what becomes of their numbers, whether simulation and formula agree, and the words for it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ckptplanner import cli
from ckptplanner.engine.evaluate import evaluate
from ckptplanner.engine.laws import Empirical, Exponential, Lognormal, Weibull
from ckptplanner.engine.operations import RestartClass, SaveRow
from ckptplanner.engine.plan import Plan
from ckptplanner.engine.simulation.check import Check, check
from ckptplanner.engine.simulation.from_plan import setup_of
from ckptplanner.engine.simulation.result import Simulation
from ckptplanner.engine.simulation.run import simulate
from ckptplanner.engine.simulation.setup import Setup
from ckptplanner.units import DAY, HOUR
from tests.engine.build import scenario

E1 = Path(__file__).parents[2] / "resources" / "examples" / "nemotron-3.5-super.ckptplan.json"
PEERS = (
    RestartClass(share=0.9, detect_s=40, reschedule_s=40, start_s=40, reads_from="peer", rework="step"),
    RestartClass(share=0.1),
)


def plan_of(**values: Any) -> Plan:
    """The plan of the default scenario with values at paths: failures__mtbi_s=1.0."""
    return evaluate(scenario({path.replace("__", "."): value for path, value in values.items()}))


def setup_for(**values: Any) -> Setup:
    setup = setup_of(plan_of(**values))
    assert setup is not None
    return setup


def checked(runs: int = 1000, **values: Any) -> tuple[Plan, Simulation, Check]:
    plan = plan_of(**values)
    setup = setup_of(plan)
    assert setup is not None
    found = simulate(setup, runs=runs)
    return plan, found, check(plan, found)


# ---------------------------------------------------------------- a plan as a setup


def test_the_numbers_are_those_of_the_plan() -> None:
    plan = plan_of()
    setup, schedule = setup_of(plan), plan.schedule
    assert setup is not None
    assert schedule is not None
    assert (setup.run_s, setup.law) == (365 * DAY, Exponential(schedule.mtbi_s))
    assert (setup.interval_s, setup.lost_s, setup.stop_s, setup.background_s) == (schedule.interval_s, 5.0, 5.0, 300.0)
    assert [cause.restart_s for cause in setup.causes] == [schedule.restart_s]
    assert hash(setup) == hash(setup_of(plan))


def test_background_loss_is_lost_and_does_not_pace_the_writer() -> None:
    setup = setup_for(storage__background_loss_s=54.0)
    assert (setup.lost_s, setup.stop_s, setup.background_s) == (59.0, 5.0, 300.0)


def test_published_at_the_next_save_is_restorable_an_interval_later() -> None:
    setup = setup_for(storage__published="next_save")
    assert setup.background_s == pytest.approx(setup.interval_s - 5.0)


@pytest.mark.parametrize(
    ("values", "law"),
    [
        ({"failures__weibull_shape": 0.7}, Weibull(720_000.0, 0.7)),
        ({"failures__law": "lognormal", "failures__lognormal_shape": 1.3}, Lognormal(720_000.0, 1.3)),
        ({"failures__law": "empirical", "failures__gaps_s": (1.0, 4.0)}, Empirical(720_000.0, (1.0, 4.0))),
    ],
)
def test_the_law_is_that_of_the_failures(values: dict[str, Any], law: Exponential) -> None:
    assert setup_for(**values).law == law


def test_a_young_fleet_has_a_table() -> None:
    values = {"failures__weibull_shape": 0.5, "failures__clock": "nodes", "run__days": 90.0}
    plan, setup = plan_of(**values), setup_for(**values)
    assert setup.fleet is not None
    assert plan.schedule is not None
    assert setup.fleet.cumulative[-1] == pytest.approx(90 * DAY / plan.schedule.mtbi_s, rel=1e-4)
    assert setup_for(failures__weibull_shape=1.0, failures__clock="nodes").fleet is None


def test_restart_classes_become_causes() -> None:
    setup = setup_for(restart__classes=PEERS)
    assert [(cause.level, cause.share) for cause in setup.causes] == [("step", 0.9), ("shared", 0.1)]
    assert not any(cause.takes_node for cause in setup.causes)
    assert setup.causes[0].restart_s == pytest.approx(120.0, abs=2.0)
    assert setup.step_s == 10.0


@pytest.mark.parametrize(
    ("node_loss_s", "taking"), [(23_040_000.0, [1.0]), (46_080_000.0, [0.5, 0.5]), (1e13, [2.304e-6, None])]
)
def test_interruptions_that_take_a_node_come_first(node_loss_s: float, taking: list[float | None]) -> None:
    setup = setup_for(spares__wait_s=3600.0, replication__node_loss_interval_s=node_loss_s)
    assert len(setup.causes) == len(taking)
    assert setup.causes[0].takes_node
    assert setup.causes[0].share == pytest.approx(taking[0])
    assert not any(cause.takes_node for cause in setup.causes[1:])


def test_two_levels_have_causes_by_what_is_lost() -> None:
    alone = setup_for(local__enabled=True)
    copied = setup_for(local__enabled=True, replication__factor=2)
    assert {cause.name: cause.level for cause in alone.causes} == {"node": "shared", "process": "local", "cluster": "shared"}
    assert {cause.name: cause.level for cause in copied.causes} == {"node": "local", "process": "local", "cluster": "shared"}
    assert alone.replicas is None
    assert copied.replicas is not None
    assert copied.local is not None
    plan = plan_of(local__enabled=True, replication__factor=2)
    assert plan.levels is not None
    assert copied.local.ratio == plan.levels.ratio
    assert copied.local.work_s + copied.local.stop_s == plan.levels.local.interval_s


def test_racks_that_hold_a_group_leave_the_sum_of_interruptions_alone() -> None:
    setup = setup_for(
        local__enabled=True, replication__factor=2, replication__rack_nodes=8, replication__rack_loss_interval_s=20_000 * HOUR
    )
    assert setup.racks is not None
    assert setup.racks.interval_s == 5000 * HOUR
    assert 1.0 / setup.law.mean_s + 1.0 / setup.racks.interval_s == pytest.approx(1.0 / 720_000.0)


def test_other_rows_take_their_share() -> None:
    setup = setup_for(saves=(SaveRow(kind="permanent", every_s=1000.0, stop_s=10.0),))
    assert setup.other_stop_fraction == pytest.approx(0.01)


@pytest.mark.parametrize("values", [{"storage__quota_gib": 1.0}, {"storage__interval_s": 3.0, "workload__step_s": 1.0}])
def test_a_plan_that_cannot_train_has_no_setup(values: dict[str, Any]) -> None:
    assert setup_of(plan_of(**values)) is None


# ---------------------------------------------------------------- simulation and formula

AGREE: dict[str, dict[str, Any]] = {
    "example": {},
    "sync": {"storage__mode": "sync", "storage__write_s": 60.0},
    "often": {"failures__mtbi_s": 2 * HOUR},
    "waiting": {"storage__interval_s": 200.0},
    "next save": {"storage__published": "next_save"},
    "background": {"storage__background_loss_s": 54.0, "storage__slowdown_fraction": 0.1},
    "downtime": {"failures__downtime_s": 7200.0},
    "no spares": {"spares__wait_s": 86_400.0},
    "classes": {"restart__classes": PEERS},
    "weibull": {"failures__weibull_shape": 0.7, "failures__mtbi_s": 20 * HOUR},
    "lognormal": {"failures__law": "lognormal", "failures__mtbi_s": 20 * HOUR},
    "fleet": {"failures__weibull_shape": 0.5, "failures__clock": "nodes", "run__days": 90.0},
    "planned": {"planned__every_s": 86_400.0},
    "two levels": {"local__enabled": True},
    "two levels with copies": {"local__enabled": True, "replication__factor": 2, "failures__mtbi_s": 20 * HOUR},
    "uploads that survive": {"local__enabled": True, "replication__factor": 2, "local__uploads": "survive"},
    "rows": {"saves": (SaveRow(kind="permanent", every_s=7200.0, stop_s=30.0),)},
}  # fmt: skip


@pytest.mark.parametrize("values", AGREE.values(), ids=AGREE)
def test_the_simulation_meets_the_plan(values: dict[str, Any]) -> None:
    plan, _, verdict = checked(**values)
    assert plan.waste is not None
    assert verdict.formula_fraction == plan.waste.total_fraction
    assert verdict.agrees, str(verdict.text)
    assert verdict.is_clear
    assert "they agree" in str(verdict.text) or "too little to plan otherwise" in str(verdict.text)


def test_planned_stops_and_restart_classes_as_printed() -> None:
    """1.37 points for a stop each day, 0.15 % where 90 % recover from peers."""
    stopped, plain = checked(planned__every_s=86_400.0)[1], checked()[1]
    assert stopped.causes["planned"] == pytest.approx(0.0137, abs=0.0005)
    assert stopped.waste_fraction - plain.waste_fraction == pytest.approx(0.0137, abs=0.0005)
    found = checked(restart__classes=PEERS)[1]
    assert abs(found.waste_fraction - 0.0015) < max(3 * found.standard_error, 0.00005)


DIFFER: dict[str, tuple[dict[str, Any], str]] = {
    "spot": ({"failures__spot_notice_s": 400.0}, "spot notice"),
    "spare": ({"spares__nodes": 1, "spares__wait_s": 86_400.0}, "next one that comes"),
    "short notice": ({"planned__every_s": 86_400.0, "planned__notice_s": 120.0}, "the same place each time"),
    "law of two levels": (
        {"local__enabled": True, "failures__weibull_shape": 0.3, "failures__mtbi_s": 20 * HOUR}, "memoryless",
    ),
    "short": ({"run__days": 0.1, "failures__mtbi_s": 10 * HOUR, "storage__interval_s": 4000.0}, "is short against"),
}  # fmt: skip


@pytest.mark.parametrize(("values", "reason"), DIFFER.values(), ids=DIFFER)
def test_where_they_differ_the_text_says_why(values: dict[str, Any], reason: str) -> None:
    _, found, verdict = checked(runs=100_000 if reason == "is short against" else 10_000, **values)
    assert not verdict.agrees, (found.waste_fraction, str(verdict.text))
    assert reason in str(verdict.text)


def test_too_few_runs_cannot_tell() -> None:
    _, found, verdict = checked(runs=20, run__days=2.0)
    assert not verdict.is_clear
    assert "cannot tell yet" in str(verdict.text)
    assert 3 * found.standard_error > 0.1 * found.waste_fraction


def test_the_text_says_where_the_first_order_parts() -> None:
    _, _, verdict = checked(failures__mtbi_s=2 * HOUR)
    assert "too much" in str(verdict.text)
    assert "restart (12" in str(verdict.text)
    assert "first-order" not in str(checked()[2].text)
    none = checked(failures__mtbi_s=1000.0, run__days=20.0)[2]
    assert none.first_order_fraction is None
    assert "more than 100 %" in str(none.text)


def test_the_text_says_what_a_fresh_clock_does_and_leaves_it_out_of_a_long_run() -> None:
    law = {"failures__law": "lognormal", "failures__lognormal_shape": 2.0}
    _, _, verdict = checked(runs=2000, **law)
    assert not verdict.agrees
    assert "fresh clock" in str(verdict.text)
    assert "(lognormal, shape 2) it is interrupted 54.6 times on average, not 43.8 times" in str(verdict.text)
    assert checked(runs=500, run__days=18_000.0, **law)[2].agrees


@pytest.mark.parametrize(
    ("values", "cause"),
    [
        ({"failures__weibull_shape": 0.5}, "Exactly, 0.537 % would be wasted then; by their law (Weibull, shape 0.5) it is"),
        ({"failures__weibull_shape": 0.9, "failures__mtbi_s": 2 * HOUR}, "it counts on a save"),
    ],
)
def test_the_text_names_the_cause_of_what_the_first_order_is_off(values: dict[str, Any], cause: str) -> None:
    assert cause in str(checked(**values)[2].text).replace("\u00a0", " ")


def test_a_wrong_formula_does_not_agree() -> None:
    """The same simulation beside a plan that is interrupted a tenth more often."""
    _, found, _ = checked()
    assert not check(plan_of(failures__mtbi_s=720_000.0 / 1.1), found).agrees


# ---------------------------------------------------------------- the command

KEYS = {
    "runs", "seed", "waste_fraction", "standard_error", "quantiles", "causes", "formula_fraction", "first_order_fraction",
    "agrees", "is_clear", "message", "simulated_s", "interruptions",
}  # fmt: skip


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    try:
        code = cli.main(["simulate", *map(str, arguments)])
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else 1
    return (code, *capsys.readouterr())


@pytest.mark.parametrize("executor", [(), ("--executor", "threads"), ("--executor", "processes")])
def test_the_command_prints_json(capsys: pytest.CaptureFixture[str], executor: tuple[str, ...]) -> None:
    code, out, err = run(capsys, E1, "--json", "--runs", 500, "--seed", 3, *executor)
    assert (code, err) == (0, "")
    printed = json.loads(out, parse_constant=pytest.fail)
    assert set(printed) == KEYS
    assert (printed["runs"], printed["seed"], printed["agrees"]) == (500, 3, True)
    assert list(printed["quantiles"]) == ["0.05", "0.5", "0.95"]
    assert sum(printed["causes"].values()) == pytest.approx(1.0, abs=1e-9)
    assert printed["waste_fraction"] == simulate(setup_for(), runs=500, seed=3).waste_fraction


def test_the_command_speaks(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, E1, "--set", "failures.mtbi_s=20 h")
    assert (code, err) == (0, "")
    assert "they agree" in out
    assert "rework" in out
    assert "Interruption" in out


@pytest.mark.parametrize(
    "arguments", [("--runs", "1"), ("--runs", "many"), ("--runs", "1e99"), ("--seed", "-1"), ("--executor", "magic")]
)
def test_bad_numbers_are_refused_in_one_line(capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...]) -> None:
    code, out, err = run(capsys, E1, *arguments)
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert arguments[1] in err


def test_a_plan_with_an_error_prints_nulls(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, E1, "--json", "--set", "storage.quota_gib=1")
    printed = json.loads(out)
    assert err.startswith("error: storage")
    assert code == 3
    assert set(printed) == KEYS
    assert printed["waste_fraction"] is None
    code, out, _ = run(capsys, E1, "--set", "storage.quota_gib=1")
    assert code == 3
    assert "nothing to simulate" in out
    assert "error: storage" in out


def test_an_error_is_printed_beside_what_was_simulated(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, E1, "--set", "failures.law=empirical")
    assert code == 3
    assert "error: failures.gaps_s: The empirical law needs the gaps of a log" in out
    assert "memoryless" in out
    assert "lognormal, shape 1" in run(capsys, E1, "--set", "failures.law=lognormal", "--runs", "100")[1]
