"""Formulas of interruptions: golden numbers, the published table, coverage, and the table of Los Alamos."""

from __future__ import annotations

import csv
import lzma
import math
import time
import warnings
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ckptplanner.engine.failure_stats import (
    GammaRate,
    causes_rates_per_s,
    crow_beta,
    laplace_u,
    merged_groups,
    moving_mtbi,
    mtbi_interval_s,
    record_as_prior,
    share_interval,
    two_sided_p,
    variation,
    weibull_fit,
)
from ckptplanner.frozen import FloatArray

SAMPLES = Path(__file__).parents[1] / "data" / "samples" / "lanl"


def inner_moments_s(at_s: FloatArray) -> tuple[FloatArray, float]:
    """For a log that begins and ends with an event: the n - 2 in between, counted from the first, and the end. [s]"""
    return at_s[1:-1] - at_s[0], float(at_s[-1] - at_s[0])


def seen(count: int) -> np.ndarray:
    return np.zeros(count, dtype=bool)


# ---------------------------------------------------------------- M


@pytest.mark.parametrize(
    ("count", "low", "high"),
    [(0, 333.808, math.inf), (1, 210.799, 19495.7), (5, 95.12, 507.576), (10, 58.9545, 184.318), (100, 8.46889, 11.8851)],
)
def test_the_interval_of_m_has_its_golden_values(count: int, low: float, high: float) -> None:
    assert mtbi_interval_s(1000.0, count) == pytest.approx((low, high), rel=5e-6)  # as many digits as are printed


@pytest.mark.parametrize(
    ("count", "low", "high", "ratio"),
    [(1, 0.21, 19.5, 9.6), (5, 0.48, 2.54, 2.3), (10, 0.59, 1.84, 1.8), (20, 0.69, 1.51, 1.5), (50, 0.79, 1.28, 1.27),
     (100, 0.85, 1.19, 1.18)],
)  # fmt: skip
def test_the_factors_of_the_table(count: int, low: float, high: float, ratio: float) -> None:
    """The page prints 1.29 for 50; 100 / chi2(0.05; 100) = 100 / 77.93 is 1.28."""
    found = mtbi_interval_s(float(count), count)
    assert found == pytest.approx((low, high), abs=0.0051 if count > 1 else 0.05)
    assert math.sqrt(found[1] / found[0]) == pytest.approx(ratio, abs=0.051)


def test_no_interruption_bounds_m_by_a_third_of_the_time() -> None:
    assert mtbi_interval_s(300.0, 0)[0] == pytest.approx(300.0 / 3.00, rel=0.005)


def test_the_interval_covers_m_in_92_percent_of_all_runs_with_ten_interruptions() -> None:
    counts = np.random.default_rng(6).poisson(10.0, 40_000)
    ends = {count: mtbi_interval_s(10.0, int(count)) for count in np.unique(counts)}
    covered = np.mean([ends[count][0] <= 1.0 <= ends[count][1] for count in counts])
    assert covered == pytest.approx(0.922, abs=0.004)


@given(st.integers(0, 2000), st.floats(1e-3, 1e12))
def test_the_interval_holds_the_estimate_and_scales_with_time(count: int, exposure: float) -> None:
    low, high = mtbi_interval_s(exposure, count)
    assert 0.0 < low < (exposure / count if count else math.inf) <= high
    assert mtbi_interval_s(2.0 * exposure, count)[0] == pytest.approx(2.0 * low)


def test_the_published_records_have_their_intervals() -> None:
    """THEORY 4.1: M for 32 nodes, in hours."""
    for nodes, days, events, expected in [
        (124, 60, 105, (53.1, 45.2, 62.9)),
        (124, 60, 35, (159.4, 120, 216)),
        (2048, 54, 466, (178, 165, 192)),
        (1250, 21, 100, (197, 167, 234)),
        (588, 182.5, 103, (781, 663, 926)),
    ]:
        exposure = nodes * days * 24.0 / 32.0
        assert (exposure / events, *mtbi_interval_s(exposure, events)) == pytest.approx(expected, rel=0.004)


def test_the_gamma_update() -> None:
    rate = record_as_prior(200.0, 32).after(3, 9_600)
    assert (rate.events, rate.node_s) == (5.0, 22_400.0)
    assert rate.mtbi_s(32) == pytest.approx(140.0)
    assert rate.interval_s(32) == pytest.approx((76.4733, 355.303), rel=1e-6)


def test_the_chance_of_a_quiet_time_is_negative_binomial() -> None:
    from scipy.stats import nbinom

    rate = GammaRate(5.0, 22_400.0)
    assert rate.quiet_probability(32, 24.0) == pytest.approx((22_400 / (22_400 + 32 * 24)) ** 5)
    assert rate.quiet_probability(32, 24.0) == pytest.approx(nbinom.pmf(0, 5.0, 22_400 / (22_400 + 32 * 24)))
    draws = np.random.default_rng(1).gamma(5.0, 1.0 / 22_400.0, 200_000)
    assert rate.quiet_probability(32, 140.0) == pytest.approx(np.exp(-draws * 32 * 140.0).mean(), abs=0.003)


def test_the_interval_of_a_share() -> None:
    from scipy.stats import binomtest

    for count, total in [(0, 7), (3, 10), (10, 10)]:
        exact = binomtest(count, total).proportion_ci(0.9, "exact")
        assert share_interval(count, total) == pytest.approx((exact.low, exact.high))


def test_causes_split_the_rate() -> None:
    node, common = causes_rates_per_s(6, 3, 3, node_s=32 * 1000.0, exposure_s=1000.0)
    assert 32 * node + common == pytest.approx(12 / 1000.0)
    assert 32 * node == pytest.approx(2 * common)


# ---------------------------------------------------------------- merging


def test_what_comes_within_the_window_belongs_to_the_one_before() -> None:
    at = np.array([0.0, 59.0, 118.0, 178.0, 178.0, 500.0])
    assert merged_groups(at, 60.0).tolist() == [0, 0, 0, 1, 1, 2]
    assert merged_groups(at, 0.0).tolist() == [0, 1, 2, 3, 3, 4]
    assert merged_groups(np.zeros(0), 60.0).tolist() == []


# ---------------------------------------------------------------- shape


def test_the_golden_weibull_fit_with_the_last_gap_censored() -> None:
    fit = weibull_fit(np.array([3.0, 10, 1, 50, 7, 22, 5]), np.array([False] * 6 + [True]))
    assert fit is not None
    assert fit.shape == pytest.approx(0.93679742, abs=5e-9)
    assert fit.scale_s == pytest.approx(15.941684, abs=5e-7)


def test_the_fit_is_scipys() -> None:
    from scipy.stats import CensoredData, weibull_min

    random = np.random.default_rng(3)
    gaps = random.weibull(0.7, 60) * 1000.0
    is_open = np.zeros(60, dtype=bool)
    is_open[::7] = True
    shape, _, scale = weibull_min.fit(CensoredData(uncensored=gaps[~is_open], right=gaps[is_open]), floc=0)
    fit = weibull_fit(gaps, is_open)
    assert fit is not None
    assert (fit.shape, fit.scale_s) == pytest.approx((shape, scale), rel=1e-3)


def test_the_likelihood_ratio_finds_bursts_and_leaves_the_exponential_alone() -> None:
    random = np.random.default_rng(4)
    bursts = weibull_fit(random.weibull(0.5, 100), seen(100))
    plain = weibull_fit(random.exponential(1.0, 100), seen(100))
    assert bursts is not None
    assert plain is not None
    assert bursts.p_exponential < 1e-6
    assert bursts.high < 1.0
    assert plain.p_exponential > 0.1
    assert plain.low < 1.0 < plain.high


def test_bias_and_coverage_of_the_shape_at_twenty_gaps() -> None:
    """THEORY 4: median .73 and coverage .89 for a true .7, in logs that end after 20 expected gaps."""
    random = np.random.default_rng(5)
    scale = 1.0 / math.gamma(1.0 + 1.0 / 0.7)
    fits = []
    for _ in range(400):
        ends = np.cumsum(random.weibull(0.7, 200) * scale)
        count = int((ends < 20.0).sum())
        gaps = np.diff(np.concatenate(([0.0], ends[:count], [20.0])))
        is_open = np.append(seen(count), True)
        fit = weibull_fit(gaps, is_open)
        if fit is not None:
            fits.append(fit)
    assert np.median([fit.shape for fit in fits]) == pytest.approx(0.73, abs=0.03)
    assert np.mean([fit.low <= 0.7 <= fit.high for fit in fits]) == pytest.approx(0.89, abs=0.04)


@pytest.mark.parametrize("gaps", [[5.0], [5.0, 5.0, 5.0], [1.0, 1e9, 1.0, 1e9][:1]])
def test_gaps_that_are_all_alike_have_no_shape(gaps: list[float]) -> None:
    assert weibull_fit(np.array(gaps), seen(len(gaps))) is None


@given(st.lists(st.floats(0.5, 1e8), min_size=2, max_size=40), st.integers(0, 20))
def test_a_fit_is_finite_and_inside_its_interval(gaps: list[float], cut: int) -> None:
    is_open = np.arange(len(gaps)) >= len(gaps) - cut
    fit = weibull_fit(np.array(gaps), is_open)
    if fit is not None:
        assert 0.0 < fit.low <= fit.shape <= fit.high < math.inf
        assert 0.0 < fit.scale_s < math.inf
        assert 0.0 <= fit.p_exponential <= 1.0


# ---------------------------------------------------------------- trend


def test_the_golden_trend() -> None:
    at = np.array([10.0, 30, 80, 90])
    assert laplace_u(at, 100.0) == pytest.approx(0.1732050808)
    assert crow_beta(at, 100.0) == pytest.approx(1.043007919)


def test_u_is_normal_without_a_trend_and_large_with_one() -> None:
    random = np.random.default_rng(7)
    us = [laplace_u(random.uniform(0, 1, 30), 1.0) for _ in range(4000)]
    assert np.std(us) == pytest.approx(1.0, abs=0.03)
    assert np.mean([two_sided_p(u) < 0.1 for u in us]) == pytest.approx(0.1, abs=0.015)
    assert laplace_u(np.sqrt(random.uniform(0, 1, 100)), 1.0) > 3.0


def test_a_log_between_two_events_leaves_both_out() -> None:
    moments, end = inner_moments_s(np.array([5.0, 15, 35, 85, 95, 105]))
    assert moments.tolist() == [10, 30, 80, 90]
    assert end == 100.0


# ---------------------------------------------------------------- M over time


def test_m_over_time_shows_a_change() -> None:
    at = np.cumsum(np.concatenate((np.full(40, 10.0), np.full(40, 1.0))))
    moving = moving_mtbi(at, float(at[-1]))
    assert moving.mtbi_s[0] == pytest.approx(10.0)
    assert moving.mtbi_s[-1] == pytest.approx(1.0)
    assert moving.index[-1] == 80
    assert np.all(moving.low_s < moving.mtbi_s)
    assert np.all(moving.mtbi_s < moving.high_s)
    assert moving.high_s[-1] < moving.low_s[0]


def test_a_quiet_end_lifts_the_last_point() -> None:
    at = np.arange(1.0, 11.0)
    moving = moving_mtbi(at, 30.0)
    assert moving.mtbi_s[-2] == pytest.approx(1.0)
    assert moving.mtbi_s[-1] == pytest.approx((30.0 - 5.0) / 5.0)


def test_m_over_time_has_few_points() -> None:
    assert len(moving_mtbi(np.arange(1.0, 50_001.0), 50_001.0).index) <= 400
    assert len(moving_mtbi(np.zeros(0), 5.0).index) == 0
    assert moving_mtbi(np.array([3.0]), 4.0).mtbi_s.tolist() == [3.0, 4.0]


# ---------------------------------------------------------------- the table of Los Alamos


def starts_of() -> dict[str, FloatArray]:
    found: dict[str, list[float]] = {}
    epoch = datetime(1970, 1, 1)
    with lzma.open(SAMPLES / "LA-UR-05-7318-failure-data-1996-2005.csv.xz", "rt", encoding="latin-1", newline="") as file:
        for row in csv.DictReader(file):
            moment = datetime.strptime(row["Prob Started"], "%m/%d/%Y %H:%M")
            found.setdefault(row["System"], []).append((moment - epoch).total_seconds())
    return {system: np.sort(np.array(times)) for system, times in found.items()}


def summaries() -> Iterator[dict[str, str]]:
    with (SAMPLES / "lanl_system_summary.csv").open(encoding="utf-8", newline="") as file:
        yield from csv.DictReader(file)


def test_every_system_of_los_alamos_to_the_printed_digits_in_three_seconds() -> None:
    began = time.process_time()
    starts = starts_of()
    checked = 0
    for printed in summaries():
        times = starts[printed["system"]]
        groups = merged_groups(times, 60.0)
        distinct = times[np.unique(groups, return_index=True)[1]]
        gaps = np.diff(distinct) / 3600.0
        fit = weibull_fit(gaps, seen(len(gaps)))
        assert fit is not None
        moments, end = inner_moments_s(distinct)
        found = {
            "records": len(times),
            "distinct_start_minutes": len(distinct),
            "span_h": (distinct[-1] - distinct[0]) / 3600.0,
            "mean_gap_h": gaps.mean(),
            "weibull_shape": fit.shape,
            "shape_lo90": fit.low,
            "shape_hi90": fit.high,
            "cv": variation(gaps),
            "laplace_u": laplace_u(moments, end),
            "crow_beta": crow_beta(moments, end),
        }
        for name, value in found.items():
            digits = len(printed[name].partition(".")[2])
            assert abs(value - float(printed[name])) <= 0.5001 * 10.0**-digits, (printed["system"], name)
        checked += 1
    assert checked == 22
    assert time.process_time() - began < 3.0


def test_gaps_of_nothing_are_left_out_of_the_shape_without_a_warning() -> None:
    """Two stops of one moment leave a gap of 0, which has no logarithm."""
    gaps, is_open = np.array([3.0, 10.0, 1.0, 50.0, 7.0, 22.0, 5.0]), np.array([False] * 6 + [True])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with_none = weibull_fit(np.concatenate(([0.0], gaps)), np.concatenate(([False], is_open)))
    assert with_none == weibull_fit(gaps, is_open)
