"""A log of interruptions adopted by a plan: its mean with its nodes, and on demand the spread of its gaps."""

from __future__ import annotations

import pytest

from ckptplanner.data.records import Log
from ckptplanner.engine.backtests import logs
from ckptplanner.engine.edits import EditError, edit
from ckptplanner.engine.evaluate import evaluate
from ckptplanner.engine.scenario import MOST_GAPS, NamedScenario

LANL = next(log for log in logs() if log.id == "lanl-20")
OWN = Log("own:mine", "mine", "mine.csv", "2026-10-02", None, (3600.0, 7200.0, 10_800.0), "4 lines")


@pytest.fixture
def plan() -> NamedScenario:
    return NamedScenario(name="5 min")


def test_a_public_log_sets_the_mean_and_its_nodes(plan: NamedScenario) -> None:
    changed = edit(plan, "failures.record", LANL)
    failures, source = changed.scenario.failures, changed.source_of("failures.mtbi_s")
    assert failures.mtbi_s == pytest.approx(13.6 * 3600, rel=2e-3)  # docs/models.md 18.3, as published: 13.6 h
    assert failures.mtbi_nodes == 512
    assert failures.law == "weibull"
    assert failures.gaps_s == ()
    assert source is not None
    assert source.kind == "doc"
    assert "LANL system 20: 2,400 gaps." in source.text


def test_the_users_own_log_is_a_log_and_its_unknown_nodes_a_guess(plan: NamedScenario) -> None:
    changed = edit(plan, "failures.record", OWN)
    mean, nodes = (changed.source_of(f"failures.{name}") for name in ("mtbi_s", "mtbi_nodes"))
    assert changed.scenario.failures.mtbi_s == 7200.0
    assert changed.scenario.failures.mtbi_nodes == plan.scenario.workload.nodes
    assert mean is not None
    assert nodes is not None
    assert (mean.kind, mean.date, nodes.kind) == ("log", "2026-10-02", "guess")


def test_the_spread_comes_with_the_mean(plan: NamedScenario) -> None:
    changed = edit(plan, "failures.gaps_s", OWN)
    failures = changed.scenario.failures
    assert (failures.law, failures.gaps_s, failures.mtbi_s) == ("empirical", OWN.gaps_s, 7200.0)
    waste = evaluate(changed.scenario).waste
    assert waste is not None
    assert waste.exact_fraction != pytest.approx(evaluate(edit(plan, "failures.record", OWN).scenario).waste.exact_fraction)  # type: ignore[union-attr]


def test_gaps_alone_are_still_gaps(plan: NamedScenario) -> None:
    failures = edit(plan, "failures.gaps_s", (60.0, 90.0)).scenario.failures
    assert (failures.gaps_s, failures.mtbi_s, failures.law) == ((60.0, 90.0), 720_000.0, "weibull")


def test_of_a_long_log_the_newest_gaps_are_kept(plan: NamedScenario) -> None:
    long = Log("own:long", "long", "long.csv", "", 8, tuple(float(gap) for gap in range(1, MOST_GAPS + 11)))
    changed = edit(plan, "failures.gaps_s", long)
    assert changed.scenario.failures.gaps_s == long.gaps_s[10:]
    source = changed.source_of("failures.gaps_s")
    assert source is not None
    assert "the last 10,000 of 10,010 gaps" in source.text


def test_the_mean_of_a_log_has_as_many_digits_as_logs_know(plan: NamedScenario) -> None:
    odd = Log("own:odd", "odd", "odd.csv", "", 8, (49_802.0, 49_803.0, 49_804.5))
    for path in ("failures.record", "failures.gaps_s"):
        assert edit(plan, path, odd).scenario.failures.mtbi_s == 49_800.0


def test_the_spread_of_one_gap_is_refused_and_its_mean_is_not(plan: NamedScenario) -> None:
    one = Log("own:one", "one", "one.csv", "", 8, (3600.0,))
    assert edit(plan, "failures.record", one).scenario.failures.mtbi_s == 3600.0
    with pytest.raises(EditError, match="one has one gap, and a spread needs two at least"):
        edit(plan, "failures.gaps_s", one)
