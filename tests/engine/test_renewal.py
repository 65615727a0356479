"""Any law of the gaps (docs/models.md 15): against sums written out, golden values, the exponential law, and a plain search."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ckptplanner.engine import interval
from ckptplanner.engine.evaluate import evaluate
from ckptplanner.engine.fleet import expected_failures
from ckptplanner.engine.fresh_clock import expected_interruptions
from ckptplanner.engine.laws import Empirical, Exponential, Law, Lognormal, Weibull
from ckptplanner.engine.renewal import renewal_best_interval_s, renewal_waste_fraction
from ckptplanner.frozen import FloatArray
from ckptplanner.units import HOUR
from tests.engine.build import STEADY, percent, printed, scenario

M_200_H = 200 * HOUR
GAPS = (3.0, 10.0, 1.0, 50.0, 7.0, 22.0, 5.0)
FEW = settings(STEADY, max_examples=60)


def wastes(law: Law, every: Any, lost: Any, write: Any, restart: Any, *, down: float = 0.0) -> FloatArray:
    every, lost, write, restart = (np.asarray(value, dtype=float) for value in (every, lost, write, restart))
    period = interval.save_period_s(every, lost, write)
    return renewal_waste_fraction(
        law=law, interval_s=every, lost_s=lost, background_s=write, period_s=period, restart_s=restart, downtime_s=down
    )


def waste(law: Law, every: float, lost: float, write: float, restart: float, *, down: float = 0.0) -> float:
    return float(wastes(law, every, lost, write, restart, down=down))


def bests(law: Law, lost: Any, offset: Any) -> FloatArray:
    lost, offset = np.asarray(lost, dtype=float), np.asarray(offset, dtype=float)
    return renewal_best_interval_s(law=law, lost_s=lost, background_s=0.25 * offset, restart_s=0.75 * offset)


def best(law: Law, lost: float, offset: float) -> float:
    return float(bests(law, lost, offset))


# ---------------------------------------------------------------- golden numbers


@pytest.mark.parametrize(("shape", "golden"), [(0.5, "0.2478470549"), (0.7, "0.2811022237"), (1.5, "0.3246098406")])
def test_waste_of_one_weibull_clock(shape: float, golden: str) -> None:
    assert printed(waste(Weibull(5000.0, shape), 1000.0, 100.0, 500.0, 300.0), golden) == golden


@pytest.mark.parametrize(
    ("shape", "interval_golden", "waste_golden"),
    [(0.5, 0.1711427138, "0.1276080928"), (0.7, 0.1536668039, "0.1380376447")],
)
def test_the_best_interval_of_one_weibull_clock(shape: float, interval_golden: float, waste_golden: str) -> None:
    law = Weibull(1.0, shape)
    found = best(law, 0.01, 0.01)
    # a search by values of the waste settles T to about the root of the rounding, 1e-8
    assert found == pytest.approx(interval_golden, rel=3e-8)
    assert printed(waste(law, found, 0.01, 0.0, 0.01), waste_golden) == waste_golden


TABLE = """
0.5 1e-4 1.09 .02206 .02211 0.2 .02424
0.5 0.01 1.21 .12761 .12956 1.5 .16142
0.5 0.1  1.41 .32836 .34447 4.9 .55721
0.7 1e-4 1.03 .02337 .02338 0.0 .02424
0.7 0.01 1.09 .13804 .13846 0.3 .16142
0.7 0.1  1.20 .36519 .37077 1.5 .55721
"""


@pytest.mark.parametrize("row", TABLE.strip().splitlines())
def test_the_table_of_shapes(row: str) -> None:
    shape, share, by_young, least, at_young, more, first_order = row.split()
    law, lost, young = Weibull(1.0, float(shape)), float(share), float(np.sqrt(2.0 * float(share)))
    found = best(law, lost, 0.01)
    lowest, there = waste(law, found, lost, 0.0, 0.01), waste(law, young, lost, 0.0, 0.01)
    assert printed(found / young, by_young) == by_young
    assert printed(lowest, least).lstrip("0") == least
    assert printed(there, at_young).lstrip("0") == at_young
    assert printed(there / lowest - 1.0, more, 0.01) == more
    # C/T + (T/2 + C + R)/M with R = 0.01 M
    assert printed(lost / young + young / 2.0 + lost + 0.01, first_order).lstrip("0") == first_order


def test_clusters_at_the_articles_point() -> None:
    plan = (2683.2815730, 5.0, 300.0, 900.0)
    assert percent(waste(Weibull(M_200_H, 0.5), *plan), "0.5202") == "0.5202"
    assert percent(waste(Weibull(M_200_H, 1.0), *plan), "0.5381") == "0.5381"


# ---------------------------------------------------------------- the sum

LAWS: tuple[Law, ...] = (
    *(Weibull(1.0, shape) for shape in (0.2, 0.3, 0.5, 0.7, 1.0, 1.5, 3.0, 5.0, 10.0)),
    *(Lognormal(1.0, shape) for shape in (0.05, 0.1, 0.3, 1.0, 2.0, 4.0)),
)


def summed(law: Law, first: float, period: float) -> float:
    """P times the sum, 300,000 terms written out; what a heavy tail keeps beyond them is nearly an integral."""
    steps = np.arange(300_000)
    end = np.asarray(first + period * len(steps))
    terms = float(law.survival(first + period * steps).sum()) + 0.5 * float(law.survival(end))
    return period * terms + float(law.left_s(end))


@pytest.mark.parametrize("law", LAWS, ids=str)
@pytest.mark.parametrize("offset", [0.0, 0.3, 2.0])
def test_the_sum_is_the_sum(law: Law, offset: float) -> None:
    for period in (1e-5, 1e-3, 0.0125, 0.025, 0.06, 0.1, 0.3, 1.0, 3.0):
        kept = 1.0 - waste(law, period, 0.0, 0.0, offset)
        expected = summed(law, offset + period, period)
        assert kept == pytest.approx(expected, rel=1e-9, abs=2e-16)


def test_saves_of_a_log_are_counted() -> None:
    law = Empirical(14.0, GAPS)
    assert sum(GAPS) / len(GAPS) == 14.0
    # C 1, T 4, t_a 1, R 2: restorable at 7, 11, 15, ... : 0 1 0 11 1 4 0 saves of 3 each
    assert waste(law, 4.0, 1.0, 1.0, 2.0) == pytest.approx(1.0 - 17 * 3.0 / 98.0)
    assert waste(law, 4.0, 1.0, 1.0, 2.0, down=7.0) == pytest.approx(1.0 - 17 * 3.0 / (98.0 + 7 * 7.0))


@pytest.mark.parametrize("law", [Weibull(1.0, 0.6), Weibull(1.0, 2.0), Lognormal(1.0, 1.2)], ids=str)
def test_a_log_of_many_gaps_wastes_what_its_law_does(law: Law) -> None:
    log = Empirical(1.0, tuple(law.draw(np.random.default_rng(4), 10_000).tolist()))
    assert waste(log, 0.2, 0.02, 0.05, 0.03) == pytest.approx(waste(law, 0.2, 0.02, 0.05, 0.03), rel=0.03)
    # more than 600 points take 256 groups of gaps instead of all
    every = np.geomspace(0.03, 1.0, 700)
    one_by_one = [waste(log, value, 0.02, 0.0, 0.03) for value in every[::70]]
    assert wastes(log, every, 0.02, 0.0, 0.03)[::70] == pytest.approx(one_by_one, rel=3e-3)


ANY_PLAN = st.tuples(*(st.floats(low, high).map(lambda x: 10.0**x) for low, high in ((1, 6), (-1, 4), (0, 5), (0, 5), (2, 7))))


@given(plan=ANY_PLAN, down=st.sampled_from((0.0, 500.0)))
@FEW
def test_memoryless_gaps_waste_what_e1_and_e3_say(plan: tuple[float, ...], down: float) -> None:
    every, lost, write, restart, mean = plan
    period = np.asarray(max(every, lost + write))
    exact = interval.exact_waste_fraction(
        interval_s=np.asarray(every), lost_s=np.asarray(lost), background_s=np.asarray(write), period_s=period,
        restart_s=np.asarray(restart), downtime_s=down, mtbi_s=mean,
    )  # fmt: skip
    for law in (Exponential(mean), Weibull(mean, 1.0)):
        assert waste(law, every, lost, write, restart, down=down) == pytest.approx(float(exact), abs=1e-9)


@pytest.mark.parametrize(
    ("law", "write"),
    [
        (Weibull(5000.0, 0.5), 500.0),
        (Weibull(5000.0, 0.7), 1500.0),
        (Lognormal(5000.0, 1.0), 1500.0),
        (Weibull(5000.0, 3.0), 0.0),
    ],
    ids=str,
)
def test_e4_is_what_a_job_does(law: Law, write: float) -> None:
    """Gaps drawn at random; saves counted one by one, without a survival function."""
    gaps = law.draw(np.random.default_rng(7), 40_000)
    every, lost, restart, down = 1000.0, 100.0, 300.0, 60.0
    period, kept = max(every, lost + write), np.zeros_like(gaps)
    usable = restart + every + write
    while usable < gaps.max():
        kept += np.where(gaps >= usable, every - lost, 0.0)
        usable += period
    goodput = kept.sum() / (gaps + down).sum()
    error = float(np.std(kept - goodput * (gaps + down)) / np.sqrt(len(gaps)) / np.mean(gaps + down))
    assert abs(1.0 - goodput - waste(law, every, lost, write, restart, down=down)) < 4.0 * error


# ---------------------------------------------------------------- properties

SHAPED = st.one_of(
    st.builds(Weibull, st.just(1e5), st.floats(0.3, 6.0)),
    st.builds(Lognormal, st.just(1e5), st.floats(0.2, 3.0)),
    st.just(Exponential(1e5)),
    st.just(Empirical(1e5, GAPS)),
)
PLAN = st.tuples(*(st.floats(low, high).map(lambda x: 10.0**x) for low, high in ((2, 5), (0, 3), (0, 4), (0, 4))))


@given(law=SHAPED, plan=PLAN, down=st.sampled_from((0.0, 3600.0)))
@FEW
def test_waste_is_a_share_and_knows_no_unit_of_time(law: Law, plan: tuple[float, ...], down: float) -> None:
    value = waste(law, *plan, down=down)
    assert 0.0 <= value <= 1.0
    every, lost, write, restart = (2.0 * part for part in plan)
    doubled = waste(law.scaled(2.0 * law.mean_s), every, lost, write, restart, down=2.0 * down)
    assert doubled == pytest.approx(value, abs=1e-9)


@given(law=SHAPED, plan=PLAN, factor=st.floats(0.3, 0.95))
@FEW
def test_a_shorter_mean_never_wastes_less(law: Law, plan: tuple[float, ...], factor: float) -> None:
    _, lost, write, restart = plan
    if isinstance(law, Empirical):
        return  # one lucky gap can end right behind a save
    shorter = law.scaled(law.mean_s * factor)
    assert waste(shorter, *plan) >= waste(law, *plan) - 1e-9
    # and so at the best interval of each
    offset = write + restart
    least = [waste(each, best(each, lost, offset), lost, 0.0, offset) for each in (shorter, law)]
    assert least[0] >= least[1] - 1e-9


@given(law=SHAPED, plan=PLAN)
@FEW
def test_rare_interruptions_leave_the_saves(law: Law, plan: tuple[float, ...]) -> None:
    every, lost, write, restart = plan
    saving = min((max(every, lost + write) - (every - lost)) / max(every, lost + write), 1.0)
    assert waste(law.scaled(1e15), every, lost, write, restart) == pytest.approx(saving, abs=1e-3)


def test_a_save_that_costs_more_than_its_interval_keeps_nothing() -> None:
    assert waste(Weibull(1e5, 0.7), 100.0, 150.0, 0.0, 0.0) == 1.0


# ---------------------------------------------------------------- the best interval


@pytest.mark.parametrize("law", [Exponential(1.0), Weibull(1.0, 1.0)], ids=str)
def test_the_best_interval_of_memoryless_gaps_is_e2(law: Law) -> None:
    costs = np.array([1e-9, 1e-7, 1e-4, 0.01, 0.3, 1.0, 10.0])
    expected = interval.optimal_interval_s(costs, 1.0)
    assert bests(law, costs, 0.01) == pytest.approx(expected, rel=1e-6)
    assert bests(law, costs, 0.0) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("law", [law for law in LAWS if law != Lognormal(1.0, 0.1)], ids=str)
def test_no_other_interval_wastes_less(law: Law) -> None:
    for lost, offset in ((1e-9, 0.0), (1e-5, 0.01), (0.01, 0.01), (0.1, 0.3), (1.0, 0.1)):
        found = best(law, lost, offset)
        assert found > lost
        others = lost * (1.0 + np.geomspace(1e-3, 1e2 / lost, 4001))
        assert waste(law, found, lost, 0.0, offset) <= wastes(law, others, lost, 0.0, offset).min() + 1e-9


def test_the_best_interval_of_a_log_is_a_tooth() -> None:
    law = Empirical(14.0, GAPS)
    for lost, offset in ((0.01, 0.0), (0.3, 1.0), (2.0, 0.5), (8.0, 4.0)):
        found = best(law, lost, offset)
        room = np.array(GAPS)[np.array(GAPS) > offset] - offset
        assert np.abs(room / found - np.round(room / found)).min() < 1e-9
        others = np.linspace(lost + 1e-3, 60.0, 20_001)
        assert waste(law, found, lost, 0.0, offset) <= wastes(law, others, lost, 0.0, offset).min() + 1e-12


def test_a_save_for_nothing_is_made_all_the_time() -> None:
    assert best(Weibull(1.0, 0.5), 0.0, 0.1) == 0.0
    assert bests(Weibull(1.0, 0.5), [0.0, 0.01], 0.01)[1] == best(Weibull(1.0, 0.5), 0.01, 0.01)


@pytest.mark.parametrize("law", [*LAWS, Empirical(1.0, GAPS)], ids=str)
def test_every_cost_has_a_finite_interval(law: Law) -> None:
    costs, offsets = np.array([1e-9, 1e-3, 1.0, 50.0, 1e4])[:, None], np.array([0.0, 0.1, 10.0, 1e5])
    found = bests(law, costs, offsets)
    assert np.all(np.isfinite(found))
    assert np.all(found >= costs)
    assert np.all(np.isfinite(wastes(law, found, costs, 0.0, offsets)))


@pytest.mark.parametrize("law", [Weibull(M_200_H, 0.5), Weibull(M_200_H, 1.5), Lognormal(M_200_H, 1.0)], ids=str)
@pytest.mark.parametrize("slowdown", [0.0, 0.05])
def test_a_curve_takes_its_intervals_from_a_table(law: Law, slowdown: float) -> None:
    write, restart = np.geomspace(5.0, 20_000.0, 512), np.linspace(620.0, 3600.0, 8)[:, None]
    lost = 5.0 + slowdown * write
    found = renewal_best_interval_s(law=law, lost_s=lost, background_s=write, restart_s=restart)
    assert found.shape == (8, 512)
    for row, column in ((0, 0), (7, 511), (3, 77), (5, 300), (0, 450), (7, 13)):
        alone = best(law, float(lost[column]), float(write[column] + restart[row, 0]))
        assert found[row, column] == pytest.approx(alone, rel=2e-3)


def test_a_curve_of_a_log_stays_near_its_best() -> None:
    law = Empirical(M_200_H, tuple(np.random.default_rng(3).weibull(0.7, 2000).tolist()))
    write, restart = np.geomspace(5.0, 5000.0, 512), np.linspace(620.0, 3600.0, 8)[:, None]
    found = renewal_best_interval_s(law=law, lost_s=np.asarray(30.0), background_s=write, restart_s=restart)
    for row, column in ((0, 0), (7, 511), (3, 250)):
        offset = float(write[column] + restart[row, 0])
        least = waste(law, best(law, 30.0, offset), 30.0, 0.0, offset)
        assert waste(law, float(found[row, column]), 30.0, 0.0, offset) == pytest.approx(least, rel=0.05)


# ---------------------------------------------------------------- a run that begins with a fresh clock


@pytest.mark.parametrize("shape", [0.3, 0.5, 0.7, 1.0, 2.0, 5.0])
@pytest.mark.parametrize("means", [0.5, 5.0, 43.8, 150.0])
def test_a_fresh_clock_counts_as_one_node_does(shape: float, means: float) -> None:
    """H by a lattice on a circle against H by the inverse of its Laplace transform."""
    assert expected_interruptions(Weibull(7.0, shape), 7.0 * means) == pytest.approx(
        expected_failures(shape, 7.0, 0.0, 7.0 * means), rel=2e-3
    )


def test_a_fresh_clock_counts_as_drawn_gaps_do() -> None:
    ends = Lognormal(1.0, 2.0).draw(np.random.default_rng(0), (4000, 300)).cumsum(axis=1)
    assert expected_interruptions(Lognormal(1.0, 2.0), 43.8) == pytest.approx((ends < 43.8).sum(axis=1).mean(), rel=0.03)
    assert expected_interruptions(Exponential(1.0), 0.0) == 0.0


def test_a_short_run_of_a_law_with_a_memory_is_said() -> None:
    def said(**values: float | str) -> list[str]:
        plan = evaluate(scenario({"failures.law": "lognormal", "failures.lognormal_shape": 2.0, **values}))
        return [finding.message for finding in plan.findings if finding.path == "run.days"]

    (short,) = said()
    assert "the 43.8 interruptions" in short
    assert "has 54.6 by this law" in short
    assert not said(**{"run.days": 18_000.0})
    assert not said(**{"failures.lognormal_shape": 1.0})
    assert not said(**{"failures.law": "weibull"})


@pytest.mark.parametrize(
    ("values", "is_found"),
    [({}, True), ({"storage.interval_model": "young"}, False), ({"storage.interval_s": 3600.0}, False)],
)
def test_an_interval_is_found_numerically_only_where_it_is(values: dict[str, object], is_found: bool) -> None:
    plan = evaluate(scenario({"failures.weibull_shape": 0.7, **values}))
    assert any("found numerically" in finding.message for finding in plan.findings) == is_found
    assert any("that of the renewal model" in finding.message for finding in plan.findings)
