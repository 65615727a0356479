"""The exact models of docs/models.md 4 against known values, and against an event simulation that knows no formula."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest

from ckptplanner.engine import interval
from ckptplanner.units import HOUR
from tests.engine.build import percent, printed

M_200_H = 200 * HOUR


def best(stop: float, mtbi: float) -> float:
    return float(interval.optimal_interval_s(np.array(stop), mtbi))


def young(stop: float, mtbi: float) -> float:
    return float(interval.young_interval_s(np.array(stop), mtbi))


def daly(stop: float, mtbi: float) -> float:
    return float(interval.daly_interval_s(np.array(stop), mtbi))


def exact(
    every: float, stop: float, write: float, restart: float, mtbi: float, *, down: float = 0.0, lost: float | None = None
) -> float:
    """The exact waste of one plan. `lost` is C with background loss, where that differs from the stop."""
    return float(
        interval.exact_waste_fraction(
            interval_s=np.array(every),
            lost_s=np.array(stop if lost is None else lost),
            background_s=np.array(write),
            period_s=interval.save_period_s(np.array(every), np.array(stop), np.array(write)),
            restart_s=np.array(restart),
            downtime_s=down,
            mtbi_s=mtbi,
        )
    )


def first_order(every: float, stop: float, write: float, restart: float, mtbi: float) -> float:
    """C/T + (T/2 + t + R)/M through the engine's own parts."""
    period = interval.save_period_s(np.array(every), np.array(stop), np.array(write))
    saving = interval.saving_fraction(np.array(every), np.array(stop), period)
    rework = interval.mean_rework_s(period, np.array(stop + write))
    return float(interval.first_order_waste_fraction(saving, rework, np.array(restart), 0.0, mtbi))


# ---------------------------------------------------------------- golden numbers


@pytest.mark.parametrize(
    ("stop", "mtbi", "golden"),
    [
        (5.0, M_200_H, "2684.949275"), (60.0, M_200_H, "9315.203138"), (300.0, M_200_H, "20885.09267"),
        (5.0, 32 * HOUR, "1074.981887"), (1e-4, 1.0, "0.01417554767"), (0.1, 1.0, "0.4831831682"), (0.3, 1.0, "0.8888868861"),
    ],
)  # fmt: skip
def test_the_exact_interval(stop: float, mtbi: float, golden: str) -> None:
    assert printed(best(stop, mtbi), golden).replace(",", "") == golden


@pytest.mark.parametrize(("share", "golden"), [(1e-4, "0.01407554767"), (0.1, "0.3831831682"), (0.3, "0.5888868861")])
def test_the_waste_at_the_exact_interval(share: float, golden: str) -> None:
    assert printed(exact(best(share, 1.0), share, 0.0, 0.0, 1.0), golden) == golden


def test_youngs_interval_of_the_example() -> None:
    assert printed(young(5.0, M_200_H), "0.000000").replace(",", "") == "2683.281573"


def test_both_wastes_of_the_example() -> None:
    plan = (2683.2815730, 5.0, 300.0, 900.0, M_200_H)
    assert f"{first_order(*plan):.12f}" == "0.005400391074"
    assert f"{exact(*plan):.12f}" == "0.005381232618"


@pytest.mark.parametrize(("down", "golden"), [(0.0, "0.3072088022"), (200.0, "0.3338546175")])
def test_waste_with_and_without_downtime(down: float, golden: str) -> None:
    assert printed(exact(1000.0, 100.0, 500.0, 300.0, 5000.0, down=down), golden) == golden


def test_waste_of_a_waiting_trainer() -> None:
    assert f"{exact(1000.0, 50.0, 1500.0, 300.0, 20_000.0):.9f}" == "0.446253608"


# ---------------------------------------------------------------- the optimum


def test_daly_is_start_to_start_and_ends_at_m_plus_c() -> None:
    c = 0.1
    assert daly(c, 1.0) == pytest.approx(math.sqrt(2 * c) * (1 + math.sqrt(c / 2) / 3 + c / 2 / 9), rel=1e-14)
    assert daly(2.0, 1.0) == 3.0
    assert daly(5.0, 1.0) == 6.0


@pytest.mark.parametrize("share", [1e-10, 1e-8, 1e-5, 1e-3, 0.03, 0.3, 1.0, 3.0])
def test_the_exact_interval_solves_its_equation(share: float) -> None:
    """1 - e^-x = x - c, relative to the small terms that are left of it: x^2/2 - x^3/6 + ... = c."""
    x = best(share, 1.0)
    left = x * x / 2 - x**3 / 6 + x**4 / 24 - x**5 / 120 if x < 0.01 else x + math.expm1(-x)
    assert left == pytest.approx(share, rel=1e-9)


@pytest.mark.parametrize(("restart", "write", "down"), [(0.0, 0.0, 0.0), (900.0, 300.0, 0.0), (3000.0, 1000.0, 5000.0)])
@pytest.mark.parametrize("stop", [5.0, 60.0, 2000.0])
def test_the_optimum_depends_on_neither_restart_nor_write_nor_downtime(
    stop: float, restart: float, write: float, down: float
) -> None:
    """A fine grid of intervals finds its least waste at the one T*."""
    mtbi = 400_000.0
    every = best(stop, mtbi)
    grid = every * np.linspace(0.98, 1.02, 401)
    assert grid[0] >= stop + write
    wastes = [exact(each, stop, write, restart, mtbi, down=down) for each in grid]
    assert grid[int(np.argmin(wastes))] == pytest.approx(every, rel=2e-4)


def test_the_least_waste_is_known_in_one_line() -> None:
    """eta_min = 1 - exp(-(T* + R + t_a)/M), and (T* - C)/M without R and t_a."""
    for stop, write, restart, mtbi in [
        (5.0, 300.0, 900.0, M_200_H),
        (60.0, 0.0, 600.0, 30_000.0),
        (10.0, 500.0, 60.0, 20_000.0),
    ]:
        every = best(stop, mtbi)
        assert every >= stop + write
        assert exact(every, stop, write, restart, mtbi) == pytest.approx(
            -math.expm1(-(every + restart + write) / mtbi), rel=1e-10
        )
        assert exact(every, stop, 0.0, 0.0, mtbi) == pytest.approx((every - stop) / mtbi, rel=1e-10)


def test_background_slowdown_takes_the_place_of_c_in_work_only() -> None:
    """C_eff = C + sigma t_a: goodput falls by (T - C_eff)/(T - C), t_a in the exponent stays."""
    every, stop, write, lost = 2000.0, 10.0, 300.0, 10.0 + 0.1 * 300.0
    goodput = 1 - exact(every, stop, write, 600.0, 50_000.0)
    slowed = 1 - exact(every, stop, write, 600.0, 50_000.0, lost=lost)
    assert slowed / goodput == pytest.approx((every - lost) / (every - stop), rel=1e-12)


def test_published_at_the_next_save_has_its_own_optimum() -> None:
    mtbi = 20_000.0
    for stop in (5.0, 100.0, 1500.0):
        every = float(interval.optimal_interval_if_published_next_s(np.array(stop), mtbi))
        grid = every * np.linspace(0.98, 1.02, 401)
        wastes = [exact(each, stop, each - stop, 600.0, mtbi) for each in grid]
        assert grid[int(np.argmin(wastes))] == pytest.approx(every, rel=2e-4)
    small = float(interval.optimal_interval_if_published_next_s(np.array(0.01), mtbi))
    assert small == pytest.approx(math.sqrt(2 * 0.01 * mtbi / 3), rel=1e-3)


def test_no_stop_means_no_best_interval() -> None:
    assert best(0.0, 1000.0) == young(0.0, 1000.0) == daly(0.0, 1000.0) == 0.0


def test_a_waste_above_all_of_the_time_exists_only_to_first_order() -> None:
    """C = R = 600 s, M = 1,800 s, synchronous: 148 % at Young's interval, exactly 72.6 %; 72.1 % at the best one."""
    every = young(600.0, 1800.0)
    assert percent(first_order(every, 600.0, 0.0, 600.0, 1800.0), "148") == "148"
    assert percent(exact(every, 600.0, 0.0, 600.0, 1800.0), "72.6") == "72.6"
    assert percent(exact(best(600.0, 1800.0), 600.0, 0.0, 600.0, 1800.0), "72.1") == "72.1"


# ---------------------------------------------------------------- a write longer than the interval


@pytest.mark.parametrize(("write", "golden"), [(900.0, "0.1276"), (1500.0, "0.4463"), (2500.0, "0.6719"), (4000.0, "0.8012")])
def test_the_wait_column(write: float, golden: str) -> None:
    """The table is an event simulation, +- 0.0005."""
    assert exact(1000.0, 50.0, write, 300.0, 20_000.0) == pytest.approx(float(golden), abs=5e-4)


def test_never_plan_an_interval_shorter_than_the_save() -> None:
    assert percent(exact(3605.0, 5.0, 3600.0, 900.0, M_200_H), "1.009") == "1.009"
    assert percent(exact(2685.0, 5.0, 3600.0, 900.0, M_200_H), "26.2") == "26.2"


@pytest.mark.parametrize(("write", "share"), [(0.0, 0.05), (900.0, 0.05), (1500.0, 600.0 / 1550.0)])
def test_without_interruptions_saving_and_waiting_are_left(write: float, share: float) -> None:
    assert exact(1000.0, 50.0, write, 300.0, 1e15, down=600.0) == pytest.approx(share, rel=1e-9)


@pytest.mark.parametrize("write", [0.0, 900.0, 1500.0, 4000.0])
def test_rarer_interruptions_never_waste_more(write: float) -> None:
    wastes = [exact(1000.0, 50.0, write, 300.0, mtbi, down=600.0) for mtbi in np.geomspace(10.0, 1e12, 200)]
    assert wastes == sorted(wastes, reverse=True)
    assert 0.0 < wastes[-1] <= wastes[0] <= 1.0


# ---------------------------------------------------------------- error of the first-order formula


@pytest.mark.parametrize(
    ("share", "t_young", "t_daly", "t_exact", "eta_first", "eta_exact", "error", "loss"),
    [
        (1e-5, ".00447", ".00448", ".00448", ".00448", ".00447", "0.4", "0"),
        (1e-4, ".01414", ".01418", ".01418", ".01424", ".01408", "1.2", "0"),
        (1e-3, ".04472", ".04506", ".04506", ".04572", ".04406", "3.8", "0.000"),
        (0.01, ".14142", ".14483", ".14483", ".15142", ".13483", "12", "0.004"),
        (0.03, ".24495", ".25536", ".25537", ".27495", ".22537", "22", "0.019"),
        (0.1, ".44721", ".48303", ".48318", ".54721", ".38318", "43", "0.11"),
        (0.2, ".63246", ".70615", ".70676", ".83246", ".50676", "64", "0.31"),
        (0.3, ".77460", ".88751", ".88889", "1.0746", ".58889", "82", "0.54"),
    ],
)
def test_the_table_of_first_order_errors(
    share: float, t_young: str, t_daly: str, t_exact: str, eta_first: str, eta_exact: str, error: str, loss: str
) -> None:
    def shown(value: float, like: str) -> str:
        text = printed(value, like)
        return text if like.startswith(("1.", "0.")) else text.removeprefix("0")

    assert shown(young(share, 1.0), t_young) == t_young
    assert shown(daly(share, 1.0), t_daly) == t_daly
    assert shown(best(share, 1.0), t_exact) == t_exact
    first = first_order(young(share, 1.0), share, 0.0, 0.0, 1.0)
    least = exact(best(share, 1.0), share, 0.0, 0.0, 1.0)
    assert shown(first, eta_first) == eta_first
    assert shown(least, eta_exact) == eta_exact
    assert printed(first / least - 1, error, 0.01) == error
    assert printed(exact(young(share, 1.0), share, 0.0, 0.0, 1.0) - least, loss, 0.01) == loss


def test_the_articles_case_of_a_stop_of_300_s() -> None:
    assert percent(first_order(young(300.0, M_200_H), 300.0, 0.0, 900.0, M_200_H), "3.053") == "3.053"
    assert percent(exact(best(300.0, M_200_H), 300.0, 0.0, 900.0, M_200_H), "2.980") == "2.980"


# ---------------------------------------------------------------- a wrong interval


@pytest.mark.parametrize(("wrong", "more"), [(2.0, "6"), (4.0, "25"), (10.0, "74")])
def test_the_price_of_a_wrong_time_between_interruptions(wrong: float, more: str) -> None:
    """M wrong by a factor means T wrong by its root: the T-part of the waste grows by (a + 1/a)/2."""
    stop, mtbi = 7e-6 * M_200_H, M_200_H
    least = exact(best(stop, mtbi), stop, 0.0, 0.0, mtbi)
    for believed in (mtbi * wrong, mtbi / wrong):
        ratio = exact(best(stop, believed), stop, 0.0, 0.0, mtbi) / least
        a = math.sqrt(believed / mtbi)
        assert ratio == pytest.approx((a + 1 / a) / 2, rel=3e-3)
        assert printed((a + 1 / a) / 2 - 1, more, 0.01) == more


# ---------------------------------------------------------------- an event simulation that knows none of the formulas


def simulate(
    *,
    work: float,
    stop: float,
    write: float,
    restart: float,
    mtbi: float,
    down: float = 0.0,
    at_next_save: bool = False,
    failures: int = 30_000,
    seed: int = 20_261_129,
) -> tuple[float, float]:
    """Play a job from failure to failure; return the share of time lost and its standard error.

    One turn: downtime, in which nothing fails; recovery; then train for `work`, wait for the writer if it is still busy, stop
    for the copy, and let the write run behind the next stretch of training. At the failure all work after the last
    restorable checkpoint is lost. A failure may strike in any of these but the downtime.
    """
    kept, spent = np.zeros(failures), np.zeros(failures)
    for turn, gap in enumerate(np.random.default_rng(seed).exponential(mtbi, failures)):
        now, trained, restorable, copied, writer_free = restart, 0.0, 0.0, 0.0, -math.inf
        while now < gap:
            trained += work
            next_save = max(now + work, writer_free)
            if (next_save if at_next_save else writer_free) <= gap:
                restorable = copied
            now = next_save + stop
            copied, writer_free = trained, now + write
        kept[turn], spent[turn] = restorable, down + gap
    goodput = kept.sum() / spent.sum()
    error = math.sqrt(float(((kept - goodput * spent) ** 2).sum())) / float(spent.sum())
    return 1 - float(goodput), error


PLANS = {
    "synchronous": {"work": 950.0, "stop": 50.0, "write": 0.0, "restart": 300.0, "mtbi": 8000.0},
    "asynchronous": {"work": 900.0, "stop": 100.0, "write": 500.0, "restart": 300.0, "mtbi": 5000.0},
    "downtime": {"work": 900.0, "stop": 100.0, "write": 500.0, "restart": 300.0, "mtbi": 5000.0, "down": 200.0},
    "waiting": {"work": 950.0, "stop": 50.0, "write": 1500.0, "restart": 300.0, "mtbi": 20_000.0},
    "waiting long, rarely running": {
        "work": 400.0,
        "stop": 100.0,
        "write": 900.0,
        "restart": 700.0,
        "mtbi": 3000.0,
        "down": 50.0,
    },
    "hardly any progress": {"work": 1200.0, "stop": 600.0, "write": 0.0, "restart": 600.0, "mtbi": 1800.0},
}


@pytest.mark.parametrize("plan", PLANS.values(), ids=PLANS)
def test_the_exact_waste_meets_the_simulation(plan: dict[str, float]) -> None:
    simulated, error = simulate(**plan)  # type: ignore[arg-type]
    every = plan["work"] + plan["stop"]
    formula = exact(every, plan["stop"], plan["write"], plan["restart"], plan["mtbi"], down=plan.get("down", 0.0))
    assert 0 < error < 0.004
    assert formula == pytest.approx(simulated, abs=4 * error)


def test_published_at_the_next_save_meets_the_simulation() -> None:
    plan = {"work": 950.0, "stop": 50.0, "write": 400.0, "restart": 300.0, "mtbi": 10_000.0}
    simulated, error = simulate(**plan, at_next_save=True)  # type: ignore[arg-type]
    formula = exact(1000.0, 50.0, 950.0, 300.0, 10_000.0)
    assert formula == pytest.approx(simulated, abs=4 * error)
    at_write_end = exact(1000.0, 50.0, 400.0, 300.0, 10_000.0)
    assert abs(at_write_end - simulated) > 4 * error


def test_the_simulation_would_notice_a_missing_term() -> None:
    """The same turns without restart, write or stop differ by far more than four standard errors."""
    simulated, error = simulate(**PLANS["asynchronous"])  # type: ignore[arg-type]
    wrong: Sequence[float] = (
        exact(1000.0, 100.0, 500.0, 0.0, 5000.0),
        exact(1000.0, 100.0, 0.0, 300.0, 5000.0),
        exact(1000.0, 0.0, 500.0, 300.0, 5000.0),
    )
    assert all(abs(value - simulated) > 8 * error for value in wrong)
