"""The simulation against the exact models: tables and golden lines that were computed without it (docs/models.md 17)."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ckptplanner.engine import beyond, replication
from ckptplanner.engine.laws import Empirical, Exponential, Law, Lognormal, Weibull
from ckptplanner.engine.renewal import renewal_waste_fraction
from ckptplanner.engine.simulation.result import Simulation
from ckptplanner.engine.simulation.run import simulate
from ckptplanner.engine.simulation.setup import (
    Cause,
    Fleet,
    LocalLevel,
    Notice,
    Overlap,
    PlannedStops,
    Racks,
    Replicas,
    Setup,
    Spares,
)
from ckptplanner.units import HOUR
from tests.engine.build import STEADY

LONG = 3000  # interruptions of a run: its beginning without a restart and its kept end weigh nothing


def job(
    interval_s: float,
    lost_s: float,
    background_s: float,
    restart_s: float,
    law: Law | float,
    *,
    turns: float = LONG,
    **more: object,
) -> Setup:
    """One level and one cause; a number as law is M of the memoryless one."""
    law = law if isinstance(law, Law) else Exponential(law)
    given = {"run_s": turns * law.mean_s, "causes": (Cause("interruption", 1.0, restart_s),), **more}
    return Setup(law=law, interval_s=interval_s, lost_s=lost_s, background_s=background_s, **given)  # type: ignore[arg-type]


def assert_meets(found: Simulation, waste: float, error: float = 0.0, slack: float = 0.0) -> None:
    """Within 3 standard errors of the difference, or a slack that the source allows."""
    apart = abs(found.waste_fraction - waste)
    assert apart <= max(3.0 * math.hypot(found.standard_error, error), slack), (found.waste_fraction, waste)
    assert found.standard_error < 0.003, "an error so large that anything would do"


# ---------------------------------------------------------------- one level

OVERLAPS: tuple[Overlap, ...] = ("wait", "queue", "parallel", "skip")
# T 1000, C 50, R 300, M 20000: event simulation, +- 0.0005
OVERLAP_TABLE = {
    900.0: (0.1276, 0.1276, 0.1276, 0.1276),
    1500.0: (0.4463, 0.4285, 0.1534, 0.1524),
    2500.0: (0.6719, 0.6657, 0.1947, 0.2056),
    4000.0: (0.8012, 0.7990, 0.2529, 0.2919),
}


@pytest.mark.parametrize("write", OVERLAP_TABLE)
@pytest.mark.parametrize("overlap", OVERLAPS)
def test_what_a_trainer_does_with_an_unfinished_write(write: float, overlap: Overlap) -> None:
    found = simulate(job(1000.0, 50.0, write, 300.0, 20_000.0, turns=1000.0, overlap=overlap), runs=200)
    assert_meets(found, OVERLAP_TABLE[write][OVERLAPS.index(overlap)], 0.0005)
    assert (found.causes["waiting"] > 0.1) == (overlap == "wait" and write > 950.0)


def test_the_golden_line_of_a_waiting_trainer() -> None:
    assert_meets(simulate(job(1000.0, 50.0, 1500.0, 300.0, 20_000.0), runs=64), 0.446253608)


@pytest.mark.parametrize(("down", "golden"), [(0.0, 0.3072088022), (200.0, 0.3338546175)])
def test_the_golden_lines_with_and_without_downtime(down: float, golden: float) -> None:
    assert_meets(simulate(job(1000.0, 100.0, 500.0, 300.0, 5000.0, downtime_s=down), runs=256), golden)


@pytest.mark.parametrize(("shape", "golden"), [(0.5, 0.2478470549), (0.7, 0.2811022237), (1.5, 0.3246098406)])
def test_the_golden_lines_of_weibull(shape: float, golden: float) -> None:
    assert_meets(simulate(job(1000.0, 100.0, 500.0, 300.0, Weibull(5000.0, shape)), runs=256), golden)


# law, C, R, T* and the waste there; M = 1, t_a = 0
BEST_LINES = [
    (Exponential(1.0), 1e-4, 0.0, 0.01417554767, 0.01407554767),
    (Exponential(1.0), 0.1, 0.0, 0.4831831682, 0.3831831682),
    (Exponential(1.0), 0.3, 0.0, 0.8888868861, 0.5888868861),
    (Weibull(1.0, 0.5), 0.01, 0.01, 0.1711427138, 0.1276080928),
    (Weibull(1.0, 0.7), 0.01, 0.01, 0.1536668039, 0.1380376447),
]


@pytest.mark.parametrize(("law", "save", "restart", "interval", "golden"), BEST_LINES)
def test_the_golden_lines_of_the_best_interval(law: Law, save: float, restart: float, interval: float, golden: float) -> None:
    assert_meets(simulate(job(interval, save, 0.0, restart, law), runs=256), golden)


# shape, C/M -> T*/T_Young, eta*, eta at Young's T; R = 0.01 M, t_a = 0
WEIBULL_TABLE = [
    (0.5, 1e-4, 1.09, 0.02206, 0.02211),
    (0.5, 0.01, 1.21, 0.12761, 0.12956),
    (0.5, 0.1, 1.41, 0.32836, 0.34447),
    (0.7, 1e-4, 1.03, 0.02337, 0.02338),
    (0.7, 0.01, 1.09, 0.13804, 0.13846),
    (0.7, 0.1, 1.20, 0.36519, 0.37077),
]


@pytest.mark.parametrize(("shape", "save", "ratio", "at_best", "at_young"), WEIBULL_TABLE)
def test_weibull_at_the_best_interval_and_at_youngs(
    shape: float, save: float, ratio: float, at_best: float, at_young: float
) -> None:
    young = math.sqrt(2.0 * save)
    for interval, waste in ((ratio * young, at_best), (young, at_young)):
        assert_meets(simulate(job(interval, save, 0.0, 0.01, Weibull(1.0, shape)), runs=256), waste, 5e-6, slack=0.0005)


@pytest.mark.parametrize("law", [Lognormal(5000.0, 1.2), Empirical(5000.0, (200.0, 900.0, 3000.0, 5000.0, 16_000.0))])
def test_other_laws_meet_their_formula(law: Law) -> None:
    waste = renewal_waste_fraction(
        interval_s=np.array(1000.0), lost_s=np.array(50.0), background_s=np.array(200.0), period_s=np.array(1000.0),
        restart_s=np.array(300.0), downtime_s=100.0, law=law,
    )  # fmt: skip
    found = simulate(job(1000.0, 50.0, 200.0, 300.0, law, downtime_s=100.0), runs=256)
    assert_meets(found, float(waste), slack=2e-4)


@pytest.mark.parametrize("interval", [1000.0, 700.0, 2685.0, 3333.3])
@pytest.mark.parametrize("write", [0.0, 300.0])
def test_without_interruptions_saving_is_all_there_is(interval: float, write: float) -> None:
    """The run ends just where a save does, or its write."""
    for end in (0.0, write):
        found = simulate(job(interval, 50.0, write, 300.0, 1e15, run_s=1e4 * interval + end), runs=16)
        saving = 50.0 * 1e4 / found.setup.run_s
        assert found.waste_fraction == pytest.approx(saving, abs=1e-9)
        assert found.causes["saving"] == pytest.approx(saving, abs=1e-9)


# C = 50 s beside 950 s of work; a write of 1,500 s is waited for, or lets every second save be made only
RARE = {"wait": 600.0 / 1550.0, "queue": 50.0 / 1000.0, "parallel": 50.0 / 1000.0, "skip": 50.0 / 1950.0}


@pytest.mark.parametrize("overlap", OVERLAPS)
def test_without_interruptions_stops_and_waits_are_left(overlap: Overlap) -> None:
    found = simulate(job(1000.0, 50.0, 1500.0, 300.0, 1e15, run_s=1e8, overlap=overlap), runs=4)
    assert found.waste_fraction == pytest.approx(RARE[overlap], abs=2e-5)
    assert found.causes["saving"] + found.causes["waiting"] == pytest.approx(found.waste_fraction, rel=1e-12)


@pytest.mark.parametrize("overlap", OVERLAPS)
def test_a_smaller_m_never_lowers_the_waste(overlap: Overlap) -> None:
    before: Simulation | None = None
    for mtbi in (1e6, 1e5, 3e4, 1e4, 3e3):
        found = simulate(job(1000.0, 60.0, 1200.0, 200.0, mtbi, run_s=5e6, overlap=overlap), runs=100)
        if before is not None:
            noise = math.hypot(found.standard_error, before.standard_error)
            assert found.waste_fraction >= before.waste_fraction - 3.0 * noise
        before = found


times = st.floats(0.0, 3000.0)


@STEADY
@given(
    save=times, write=times, restart=times, down=times, work=st.floats(1.0, 5000.0), shape=st.floats(0.3, 3.0),
    overlap=st.sampled_from(OVERLAPS), planned=st.booleans(), local=st.booleans(), survive=st.booleans(),
    ratio=st.integers(1, 5), level=st.sampled_from(["step", "local", "shared"]),
)  # fmt: skip
def test_causes_sum_to_the_run_and_goodput_is_a_share(
    save: float, write: float, restart: float, down: float, work: float, shape: float, overlap: Overlap,
    planned: bool, local: bool, survive: bool, ratio: int, level: str,
) -> None:  # fmt: skip
    causes = (Cause("a", 0.6, restart, level, takes_node=True), Cause("b", 0.4, restart / 2.0))  # type: ignore[arg-type]
    setup = Setup(
        run_s=2e5, law=Weibull(5000.0, shape), interval_s=work + save, lost_s=save, background_s=write, causes=causes,
        overlap=overlap, downtime_s=down, step_s=10.0, other_stop_fraction=0.01, escalated_restart_s=restart,
        local=LocalLevel(work, save / 10.0, write / 5.0, ratio, survive) if local else None,
        planned=PlannedStops(20_000.0, 200.0, restart, None, down) if planned else None,
        spares=Spares(1, 30_000.0), notice=Notice(300.0, 100.0), replicas=Replicas(8, 2, 20_000.0), racks=Racks(1e5, restart),
    )  # fmt: skip
    found = simulate(setup, runs=8)
    assert math.fsum(found.causes.values()) == pytest.approx(1.0, abs=1e-9)
    assert all(share >= -1e-9 for share in found.causes.values())
    assert 0.0 <= found.waste_fraction <= 1.0
    assert all(0.0 <= one <= 1.0 for one in found.quantiles.values())


# ---------------------------------------------------------------- two levels

# w, C1, t1, R1, M1 / n / C3, t3, R3, M3: simulated elsewhere with errors up to 0.0006, the last row up to 0.001. There the
# count of saves matters: 0.4842 where it begins anew in some recoveries, 0.481 where it goes on as a trainer's steps do
LEVEL_TABLE = [
    (2678.0, 5.0, 60.0, 300.0, 267 * HOUR, 4, 5.0, 1200.0, 900.0, 800 * HOUR, 0.00668),
    (1187.0, 20.0, 60.0, 300.0, 10 * HOUR, 3, 60.0, 1800.0, 1500.0, 40 * HOUR, 0.09295),
    (600.0, 20.0, 60.0, 300.0, 5 * HOUR, 12, 60.0, 6000.0, 1500.0, 80 * HOUR, 0.12086),
    (523.0, 20.0, 60.0, 300.0, 2 * HOUR, 3, 60.0, 1800.0, 900.0, 8 * HOUR, 0.26633),
    (445.0, 30.0, 60.0, 300.0, 1 * HOUR, 3, 120.0, 1200.0, 900.0, 3 * HOUR, 0.481),
]


def two_levels(row: tuple[float, ...], *, survive: bool = False, overlap: Overlap = "parallel") -> Setup:
    work, stop, durable, restart, mtbi, ratio, far_stop, far_write, far_restart, far_mtbi, _ = row
    both = 1.0 / (1.0 / mtbi + 1.0 / far_mtbi)
    causes = (Cause("process", both / mtbi, restart, "local"), Cause("cluster", both / far_mtbi, far_restart, "shared"))
    local = LocalLevel(work, stop, durable, int(ratio), survive)
    return job(1.0 + far_stop, far_stop, far_write, 0.0, both, causes=causes, local=local, overlap=overlap)


@pytest.mark.parametrize("row", LEVEL_TABLE, ids=str)
def test_two_levels(row: tuple[float, ...]) -> None:
    assert_meets(simulate(two_levels(row), runs=128), row[-1], 0.0006, slack=0.003)


def test_two_levels_whose_uploads_survive() -> None:
    row = LEVEL_TABLE[1]
    die, survive = (simulate(two_levels(row, survive=kept, overlap="wait"), runs=256) for kept in (False, True))
    assert_meets(die, 0.09304039185, slack=0.003)
    assert_meets(survive, 0.09181825064, slack=0.003)
    assert die.waste_fraction > survive.waste_fraction + 3.0 * math.hypot(die.standard_error, survive.standard_error)


def rarer(row: tuple[float, ...], factor: float) -> Setup:
    """Both levels interrupted less often, by that factor, in a run of the same length."""
    setup = two_levels((*row[:4], row[4] * factor, *row[5:9], row[9] * factor, row[10]), overlap="wait")
    return replace(setup, run_s=4e6)


def test_two_levels_without_interruptions_have_their_stops() -> None:
    found = simulate(rarer(LEVEL_TABLE[1], 1e12), runs=4)
    assert found.waste_fraction == pytest.approx((3 * 20.0 + 60.0) / (3 * 1207.0 + 60.0), abs=2e-4)
    assert found.causes["saving"] == pytest.approx(found.waste_fraction, rel=1e-12)


@pytest.mark.parametrize("row", LEVEL_TABLE, ids=str)
def test_a_smaller_m_of_two_levels_never_lowers_the_waste(row: tuple[float, ...]) -> None:
    before: Simulation | None = None
    for factor in (10.0, 3.0, 1.0, 0.5):
        found = simulate(rarer(row, factor), runs=1000)
        if before is not None:
            noise = math.hypot(found.standard_error, before.standard_error)
            assert found.waste_fraction >= before.waste_fraction - 3.0 * noise
        before = found


# ---------------------------------------------------------------- what else happens


def test_spares_wait_as_long_as_the_page_says() -> None:
    """None: each loss waits w. Enough: none does. One: the wait is what is left of the last order, w/2 on average."""
    mtbi, wait = 100_000.0, 20_000.0
    causes = (Cause("node", 1.0, 300.0, takes_node=True),)
    found = [
        simulate(job(4000.0, 50.0, 0.0, 300.0, mtbi, causes=causes, spares=Spares(count, wait)), runs=32).causes["down"]
        for count in (0, 1, 2, 50)
    ]
    assert found[0] == pytest.approx(wait / (mtbi + wait), rel=0.02)
    for count in (1, 2):
        most = wait * beyond.no_spare_probability(count, wait, 1.0 / mtbi) / mtbi
        assert most / (count + 1) * 0.8 < found[count] < most / (count + 1) * 1.15
    assert found[3] == 0.0


def test_groups_of_replicas_are_lost_as_often_as_the_page_says() -> None:
    """N / M_n times the chance that the partner is gone too (docs/models.md 13.3)."""
    nodes, node_s, window = 16, 1.6e6, 8000.0
    causes = (Cause("node", 1.0, 100.0, "local", takes_node=True),)
    setup = job(
        1000.0, 10.0, 100.0, 0.0, node_s / nodes, causes=causes, local=LocalLevel(1000.0, 5.0, 50.0, 4),
        replicas=Replicas(nodes, 2, window), escalated_restart_s=900.0,
    )  # fmt: skip
    found = simulate(setup, runs=200)
    chance = replication.loss_probability(window, node_s)
    lost = found.by_class["group lost"].per_run
    assert lost == pytest.approx(replication.group_loss_rate_per_s(nodes, node_s, chance) * setup.run_s, rel=0.06)
    assert found.by_class["group lost"].mean_rework_s > found.by_class["node"].mean_rework_s


def test_groups_that_overlap_are_lost_by_chance() -> None:
    causes = (Cause("node", 1.0, 100.0, "local", takes_node=True),)
    setup = job(
        1000.0, 10.0, 100.0, 0.0, 1e5, causes=causes, local=LocalLevel(1000.0, 5.0, 50.0, 4),
        replicas=Replicas(16, 2, 1.0, chance=0.1), escalated_restart_s=900.0,
    )  # fmt: skip
    found = simulate(setup, runs=64)
    assert found.by_class["group lost"].per_run == pytest.approx(0.1 * LONG, rel=0.03)


def test_racks_come_on_top() -> None:
    """Memoryless racks beside a memoryless job are one process with the sum of the rates."""
    racks = job(1000.0, 50.0, 0.0, 300.0, 20_000.0, racks=Racks(10_000.0, 300.0))
    found = simulate(racks, runs=64)
    alone = simulate(job(1000.0, 50.0, 0.0, 300.0, 20_000.0 / 3.0, turns=3 * LONG), runs=64)
    assert_meets(found, alone.waste_fraction, alone.standard_error)
    assert found.by_class["rack lost"].per_run == pytest.approx(2 * LONG, rel=0.02)


def test_pauses_only_stretch_the_clock() -> None:
    """docs/models.md 14.2: the goodput of the roll-backs over 1 + (1 - q)(R_p + step) / M."""
    causes = (Cause("peer", 0.9, 120.0, "step"), Cause("shared", 0.1, 890.0))
    found = simulate(job(1000.0, 50.0, 100.0, 0.0, 3000.0, causes=causes, step_s=10.0), runs=128)
    roll_back = math.exp(-(1100.0 + 890.0) / 30_000.0) * 950.0 / 30_000.0 / -math.expm1(-1000.0 / 30_000.0)
    assert_meets(found, 1.0 - roll_back / (1.0 + 0.9 * 130.0 / 3000.0), slack=0.0005)
    assert found.by_class["peer"].mean_rework_s == pytest.approx(10.0, rel=1e-4)  # but for one that the end cuts off


def test_planned_stops_cost_what_is_written_down() -> None:
    stops = PlannedStops(every_s=86_400.0, final_save_s=290.0, restart_s=890.0, notice_s=300.0, queue_s=600.0)
    found = simulate(job(2685.0, 5.0, 300.0, 890.0, 1e15, run_s=365 * 86_400.0, planned=stops), runs=4)
    assert found.causes["planned"] == pytest.approx((890.0 + 290.0 + 600.0) / 86_400.0, rel=0.01)
    assert found.causes["rework"] == 0.0
    assert found.by_class["planned stop"].per_run == 364.0
    short = simulate(
        job(2685.0, 5.0, 300.0, 890.0, 1e15, run_s=365 * 86_400.0, planned=PlannedStops(86_400.0, 290.0, 890.0, 200.0)), runs=4
    )
    assert short.causes["rework"] > 0.01


def test_a_spot_notice_saves_the_work_of_announced_losses() -> None:
    """Else half the work of an interval is lost on average, or all of it within the stop of 50 s."""
    causes = (Cause("spot", 0.5, 300.0, takes_node=True), Cause("other", 0.5, 300.0))
    half = 0.95 * 475.0 + 0.05 * 950.0
    for notice, lost in ((120.0, 0.0), (30.0, half)):
        found = simulate(job(1000.0, 50.0, 0.0, 0.0, 50_000.0, causes=causes, notice=Notice(notice, 60.0)), runs=32)
        assert found.by_class["spot"].mean_rework_s == pytest.approx(lost, rel=0.03, abs=1.0)
        assert found.by_class["other"].mean_rework_s == pytest.approx(half, rel=0.03)


def test_an_ageing_fleet_fails_as_its_table_says() -> None:
    """Ten interruptions in the first tenth of the run, ten in the rest."""
    fleet = Fleet((0.0, 1e5, 1e6), (0.0, 10.0, 20.0))
    found = simulate(job(1000.0, 50.0, 0.0, 100.0, 5e4, run_s=1e6, fleet=fleet), runs=2000)
    assert found.by_class["interruption"].per_run == pytest.approx(20.0, abs=0.3)
    early = simulate(job(1000.0, 50.0, 0.0, 100.0, 5e4, run_s=1e5, fleet=fleet), runs=2000)
    assert early.by_class["interruption"].per_run == pytest.approx(10.0, abs=0.25)


def test_saves_of_other_rows_take_their_share_of_training() -> None:
    plain, more = (
        simulate(job(1000.0, 50.0, 0.0, 300.0, 20_000.0, turns=200.0, other_stop_fraction=share), runs=50)
        for share in (0.0, 0.1)
    )
    assert 1.0 - more.waste_fraction == pytest.approx((1.0 - plain.waste_fraction) * 0.9, rel=1e-12)
