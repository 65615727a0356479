"""Planned against observed: each figure by itself, and whether the plan still holds."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest

from ckptplanner.data.evidence import Place
from ckptplanner.engine.edits import edit
from ckptplanner.engine.evaluate import plan_of
from ckptplanner.engine.evidence import Estimate, FailureRecord, Reading
from ckptplanner.engine.observed import Observed, observed, observed_verdict
from ckptplanner.engine.scenario import NamedScenario
from ckptplanner.text import text
from ckptplanner.units import HOUR, SECONDS

ARTICLE = NamedScenario(name="5 min")
PATHS = {
    "stop": "storage.blocking_s", "write": "storage.write_s", "interval": "storage.interval_s", "detect": "failures.detect_s",
    "reschedule": "failures.reschedule_s", "start": "failures.start_s",
}  # fmt: skip


def seconds(quantity: str, value: float, low: float | None = None, high: float | None = None) -> Estimate:
    return Estimate(
        id=quantity, path=PATHS.get(quantity), title=text("Stop time"), value=value, unit=SECONDS, low=low, high=high, count=3,
        basis="measured", places=(Place("run.log"),), date="2026-11-02", spread="values",
    )  # fmt: skip


def record(mtbi_h: float, low_h: float, high_h: float, nodes: float = 32.0) -> FailureRecord:
    none = np.zeros(0)
    return FailureRecord(
        job="pretrain", jobs=("pretrain",), nodes=nodes, is_exposure_known=True, stops=(), first_s=0.0, last_s=1e6,
        exposure_s=10 * mtbi_h * HOUR, count=10, mtbi_s=mtbi_h * HOUR, low_s=low_h * HOUR, high_s=high_h * HOUR, gaps_s=none,
        is_open=none.astype(bool), shape=None, trend=None, over_time_s=none, over_time_mtbi_s=none, over_time_low_s=none,
        over_time_high_s=none, combined=None, node_rate_per_s=math.nan, common_rate_per_s=math.nan,
    )  # fmt: skip


def mtbi(mtbi_h: float, nodes: int = 32) -> Estimate:
    return Estimate(
        id="mtbi", path="failures.mtbi_s", title=text("Interrupted every"), value=mtbi_h * HOUR, unit=SECONDS, low=None,
        high=None, count=10, basis="counted", places=(Place("sacct.txt"),), date="2026-11-02",
        with_paths=(("failures.mtbi_nodes", nodes),),
    )  # fmt: skip


def rows_of(reading: Reading, named: NamedScenario = ARTICLE) -> dict[str, Observed]:
    return {str(row.title): row for row in observed(plan_of(named), reading)}


def test_a_figure_inside_its_interval_is_right_and_one_outside_is_off() -> None:
    rows = rows_of(Reading((seconds("stop", 12.0, 11.0, 13.0), seconds("restorable", 298.73, 285.06, 310.0)), None))
    assert (rows["Stop time"].verdict, rows["Stop time"].planned) == ("off", 5.0)
    assert rows["Restorable after"].verdict == "right"  # 305 s are planned
    assert "more than planned" in str(rows["Stop time"].words)


def test_within_ten_percent_is_right_whatever_the_interval() -> None:
    rows = rows_of(Reading((seconds("stop", 5.4, 5.39, 5.41),), None))
    assert rows["Stop time"].verdict == "right"
    assert rows_of(Reading((seconds("stop", 5.6, 5.59, 5.61),), None))["Stop time"].verdict == "off"


def test_m_is_held_against_the_plan_at_its_own_nodes() -> None:
    """100 h on 64 nodes are 200 h on 32, which is what the plan has."""
    row = rows_of(Reading((), record(100.0, 60.0, 180.0, nodes=64.0)))["Interrupted every"]
    assert row.observed == pytest.approx(200.0 * HOUR)
    assert row.low == pytest.approx(120.0 * HOUR)
    assert row.verdict == "right"
    assert rows_of(Reading((), record(20.0, 12.0, 36.0)))["Interrupted every"].verdict == "off"


def test_a_count_of_nothing_is_no_figure() -> None:
    nothing = record(100.0, 60.0, 180.0)
    nothing = type(nothing)(**{name: getattr(nothing, name) for name in nothing.__slots__} | {"mtbi_s": math.nan, "count": 0})
    assert "Interrupted every" not in rows_of(Reading((), nothing))


def test_the_restart_is_the_sum_of_its_parts_where_all_are_there() -> None:
    parts = (seconds("detect", 60.0), seconds("reschedule", 300.0), seconds("start", 240.0))
    assert "Training again in" not in rows_of(Reading(parts, None))
    row = rows_of(Reading((*parts, seconds("restore_read", 290.0)), None))["Training again in"]
    assert row.observed == pytest.approx(890.0)
    assert row.verdict == "right"


def test_goodput_is_made_of_what_was_seen() -> None:
    """C/T + (T/2 + t + R)/M with C 10, T 2,000, t 300, R 900, M 100 h."""
    reading = Reading(
        (seconds("stop", 10.0), seconds("interval", 2000.0), seconds("restorable", 300.0), seconds("restart", 900.0)),
        record(100.0, 60.0, 180.0),
    )
    row = rows_of(reading)["Goodput"]
    assert row.observed == pytest.approx(1.0 - (10.0 / 2000.0 + (1000.0 + 300.0 + 900.0) / 360_000.0))
    assert "Goodput" not in rows_of(Reading((seconds("stop", 10.0),), record(100.0, 60.0, 180.0)))


def test_the_interval_in_use_is_compared_although_it_is_never_proposed() -> None:
    used = dataclasses.replace(seconds("interval", 2610.0), is_proposed=False)
    row = rows_of(Reading((used,), None))["Saves every"]
    assert row.verdict == "right"  # 44 min 45 s are planned, within a tenth of 43 min 30 s


def test_the_plan_that_runs_as_planned_is_still_right() -> None:
    reading = Reading((mtbi(210.0), seconds("stop", 5.1)), record(210.0, 150.0, 300.0))
    words = str(observed_verdict(ARTICLE, plan_of(ARTICLE), reading))
    assert words.startswith("The plan is still right: it saves every 44\u00a0min\u00a045\u00a0s")


def test_a_plan_whose_interval_no_longer_fits_says_to_what_it_should_change() -> None:
    """M of 5 h in the place of 200 h: T* falls from 45 min to 7 min, by the root of 40."""
    reading = Reading((mtbi(5.0), seconds("stop", 5.0)), record(5.0, 4.0, 6.5))
    words = str(observed_verdict(ARTICLE, plan_of(ARTICLE), reading))
    assert words.startswith("Save every ")
    assert "a month" in words
    every = float(words.removeprefix("Save every ").split("\u00a0")[0])
    assert every == pytest.approx(45.0 / math.sqrt(40.0), rel=0.05)  # min


def test_without_prices_the_waste_decides() -> None:
    named = edit(edit(ARTICLE, "prices.node_usd_per_h", None), "prices.gpu_value_usd_per_h", None)
    reading = Reading((mtbi(5.0),), record(5.0, 4.0, 6.5))
    words = str(observed_verdict(named, plan_of(named), reading))
    assert words.startswith("Save every ")
    assert "the waste goes from" in words


def test_an_interval_that_is_as_good_as_the_best_stays_although_m_is_other_than_planned() -> None:
    """T near its optimum costs little: at 0.8 M the old interval is within 3 % of the least total."""
    reading = Reading((mtbi(160.0),), record(160.0, 150.0, 170.0))
    words = str(observed_verdict(ARTICLE, plan_of(ARTICLE), reading))
    assert words.startswith("The plan is still right")
    assert "Interrupted every" in words


def test_where_nothing_can_be_compared_it_says_so() -> None:
    assert "Nothing in the files" in str(observed_verdict(ARTICLE, plan_of(ARTICLE), Reading((), None)))


def test_a_plan_that_makes_no_progress_any_more_says_why() -> None:
    reading = Reading((mtbi(0.1),), record(0.1, 0.05, 0.2))
    assert "no longer works" in str(observed_verdict(ARTICLE, plan_of(ARTICLE), reading))


# ---------------------------------------------------------------- what a reviewer found


def test_a_write_that_takes_longer_than_planned_is_no_plan_that_is_still_right() -> None:
    """Saving every 5 min with writes of 800 s: training waits for each of them."""
    named = NamedScenario(name="short")
    for path, value in {"storage.write_s": 60.0, "storage.interval_s": 318.0, "storage.tier": "p2-1000-67200-efa"}.items():
        named = edit(named, path, value)
    reading = Reading((mtbi(200.0), seconds("write", 800.0), seconds("stop", 5.0)), record(200.0, 150.0, 270.0))
    words = str(observed_verdict(named, plan_of(named), reading))
    assert words.startswith("Save every ")


def test_a_synchronous_plan_takes_the_stop_that_was_seen_for_its_write() -> None:
    named = edit(edit(ARTICLE, "storage.mode", "sync"), "storage.write_s", 60.0)
    plan = plan_of(named)
    assert plan.schedule is not None
    named = edit(named, "storage.interval_s", plan.schedule.interval_s)
    reading = Reading((mtbi(200.0), seconds("stop", 300.0)), record(200.0, 150.0, 270.0))
    words = str(observed_verdict(named, plan_of(named), reading))
    # T* grows with the root of C: by the root of 5
    assert words.startswith("Save every ")
    assert "in the place of" in words


def test_goodput_is_judged_by_what_is_lost() -> None:
    """91 % in the place of 99.5 % is within a tenth, and 18 times the waste."""
    reading = Reading(
        (seconds("stop", 100.0), seconds("interval", 1200.0), seconds("restorable", 300.0), seconds("restart", 900.0)),
        record(200.0, 150.0, 270.0),
    )
    row = rows_of(reading)["Goodput"]
    assert row.observed == pytest.approx(0.91, abs=0.01)
    assert row.verdict == "off"
    assert "less than planned" in str(row.words)


def test_m_on_a_fractional_mean_of_nodes_is_scaled_by_it() -> None:
    """100 h on 1.5 nodes on average are 150 node hours an interruption: 4.69 h on 32 nodes."""
    row = rows_of(Reading((), record(100.0, 60.0, 180.0, nodes=1.5)))["Interrupted every"]
    assert row.observed == pytest.approx(100.0 * HOUR * 1.5 / 32.0)


def test_a_job_that_does_not_follow_the_plan_is_told_so() -> None:
    used = dataclasses.replace(seconds("interval", 5400.0), is_proposed=False)
    reading = Reading((mtbi(200.0), used), record(200.0, 150.0, 270.0))
    words = str(observed_verdict(ARTICLE, plan_of(ARTICLE), reading)).replace("\u00a0", " ")
    assert words.startswith("The plan is still right, but the job does not follow it: it saves every 1 h 30 min")
    assert "the plan says 44 min" in words
