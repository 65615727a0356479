"""How simulations are run: seeds, executors, progress, cancelling, the two paths, one run as a timeline."""

from __future__ import annotations

import math
import time
import tracemalloc
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np
import pytest

from ckptplanner.engine.laws import Exponential, Weibull
from ckptplanner.engine.simulation.gaps import gaps_of, is_plain, run_gaps
from ckptplanner.engine.simulation.result import CAUSES, KEPT_RUNS, Simulation
from ckptplanner.engine.simulation.run import MOST_INTERRUPTIONS, layout_of, simulate, stream
from ckptplanner.engine.simulation.setup import (
    Cause,
    LocalLevel,
    Notice,
    PlannedStops,
    Racks,
    Replicas,
    Setup,
    Spares,
)
from ckptplanner.engine.simulation.steps import run_steps
from ckptplanner.engine.simulation.timeline import CAUSE_OF, KINDS, replay, timeline

PLAIN = Setup(
    run_s=2e6, law=Weibull(8000.0, 0.8), interval_s=1000.0, lost_s=60.0, background_s=400.0, downtime_s=50.0,
    causes=(Cause("interruption", 1.0, 300.0),), other_stop_fraction=0.02,
)  # fmt: skip
WAITING = Setup(
    run_s=2e6, law=Exponential(20_000.0), interval_s=1000.0, lost_s=60.0, background_s=1400.0,
    causes=(Cause("interruption", 1.0, 300.0),),
)  # fmt: skip
EVERYTHING = Setup(
    run_s=4e6, law=Weibull(20_000.0, 0.7), interval_s=1000.0, lost_s=50.0, background_s=300.0, downtime_s=100.0, step_s=10.0,
    causes=(
        Cause("process", 0.5, 120.0, "local"), Cause("node", 0.3, 300.0, "local", takes_node=True),
        Cause("peer", 0.1, 60.0, "step"), Cause("cluster", 0.1, 900.0, "shared"),
    ),
    escalated_restart_s=900.0, local=LocalLevel(500.0, 5.0, 60.0, 4, uploads_survive=True), spares=Spares(2, 400_000.0),
    replicas=Replicas(32, 2, 40_000.0), racks=Racks(1e6, 900.0, "shared", 4), other_stop_fraction=0.01,
    planned=PlannedStops(86_400.0, 200.0, 890.0, None, 600.0), notice=Notice(120.0, 60.0),
)  # fmt: skip
SETUPS = {"plain": PLAIN, "waiting": WAITING, "everything": EVERYTHING}


def numbers(found: Simulation) -> tuple[object, ...]:
    """All that a simulation found, to be compared bit for bit."""
    return (
        found.runs, found.waste_fraction, found.standard_error, dict(found.quantiles), dict(found.causes), dict(found.by_class),
        found.histogram_edges.tolist(), found.histogram_counts.tolist(), found.span_s,
    )  # fmt: skip


# ---------------------------------------------------------------- the same bits


def test_the_fast_path_is_taken_where_nothing_is_carried_over() -> None:
    assert [is_plain(setup) for setup in SETUPS.values()] == [True, False, False]


@pytest.mark.parametrize("setup", SETUPS.values(), ids=SETUPS)
def test_a_seed_gives_the_same_bits_and_another_one_others(setup: Setup) -> None:
    first = simulate(setup, runs=50, seed=7)
    assert numbers(first) == numbers(simulate(setup, runs=50, seed=7))
    assert numbers(first) != numbers(simulate(setup, runs=50, seed=8))


@pytest.mark.parametrize("setup", SETUPS.values(), ids=SETUPS)
def test_threads_give_the_same_bits(setup: Setup) -> None:
    runs = 2 * layout_of(setup).chunk_runs + 10
    with ThreadPoolExecutor(3) as executor:
        assert numbers(simulate(setup, runs=runs, executor=executor)) == numbers(simulate(setup, runs=runs))


def test_processes_give_the_same_bits() -> None:
    with ProcessPoolExecutor(2) as executor:
        for setup in SETUPS.values():
            runs = 2 * layout_of(setup).chunk_runs + 10
            assert numbers(simulate(setup, runs=runs, executor=executor)) == numbers(simulate(setup, runs=runs))


def test_more_runs_only_add_to_those_that_were_there() -> None:
    """The runs of a seed are the same ones, however many are asked for."""
    few, many = (simulate(PLAIN, runs=runs, seed=3) for runs in (2, 3))
    third = timeline(PLAIN, seed=3, run=2).causes["training"] / PLAIN.run_s
    assert many.causes["training"] * 3 - few.causes["training"] * 2 == pytest.approx(third, abs=1e-12)


@pytest.mark.parametrize("down", [0.0, 50.0, 20_000.0])
@pytest.mark.parametrize("run", [0, 1, 77, 200])
def test_both_paths_agree_on_the_same_gaps(down: float, run: int) -> None:
    setup = Setup(
        run_s=2e6, law=Weibull(8000.0, 0.8), interval_s=1000.0, lost_s=60.0, background_s=400.0, downtime_s=down,
        causes=(Cause("interruption", 1.0, 300.0),),
    )  # fmt: skip
    fast = run_gaps(setup, stream(5, 0), 256, setup.run_s).seconds[run]
    slow = replay(setup, gaps_of(setup, stream(5, 0), setup.run_s, run), setup.run_s).seconds[0]
    np.testing.assert_allclose(fast, slow, atol=1e-6)
    assert fast.sum() == pytest.approx(setup.run_s, rel=1e-12)
    assert fast[CAUSES.index("rework")] > 0.0


def test_both_paths_agree_in_distribution() -> None:
    """A second cause of no weight sends the same job over the general path."""
    general = Setup(**{**vars(PLAIN), "causes": (Cause("a", 1.0, 300.0), Cause("b", 0.0, 300.0))})
    assert not is_plain(general)
    fast, slow = simulate(PLAIN, runs=1000), simulate(general, runs=1000)
    noise = math.hypot(fast.standard_error, slow.standard_error)
    assert abs(fast.waste_fraction - slow.waste_fraction) < 3.0 * noise
    for level, value in fast.quantiles.items():
        assert value == pytest.approx(slow.quantiles[level], abs=10.0 * noise)


# ---------------------------------------------------------------- error, memory, very many interruptions


def test_the_error_is_that_of_the_mean() -> None:
    """Means of many small simulations scatter as their errors say."""
    found = [simulate(PLAIN, runs=20, seed=seed) for seed in range(60)]
    scatter = float(np.std([one.waste_fraction for one in found], ddof=1))
    assert scatter == pytest.approx(float(np.mean([one.standard_error for one in found])), rel=0.3)


def test_sums_added_up_are_those_of_all_runs_together() -> None:
    layout = layout_of(WAITING)
    chunks = [run_steps(WAITING, stream(0, chunk), layout.chunk_runs, layout.span_s) for chunk in range(3)]
    waste = 1.0 - np.concatenate([chunk.seconds for chunk in chunks])[:, 0] / WAITING.run_s
    found = simulate(WAITING, runs=len(waste))
    assert found.waste_fraction == pytest.approx(float(waste.mean()), rel=1e-9)
    assert found.standard_error == pytest.approx(float(waste.std(ddof=1)) / math.sqrt(len(waste)), rel=1e-9)
    assert found.quantiles == pytest.approx({q: float(np.quantile(waste, q)) for q in (0.05, 0.5, 0.95)}, rel=1e-9)
    assert found.histogram_counts.sum() == len(waste)


def test_memory_stays_flat_as_runs_grow() -> None:
    small = Setup(
        run_s=2e4, law=Exponential(20_000.0), interval_s=1000.0, lost_s=60.0, background_s=0.0, causes=(Cause("a", 1.0, 10.0),)
    )
    peaks = []
    for runs in (KEPT_RUNS, 6 * KEPT_RUNS):
        tracemalloc.start()
        simulate(small, runs=runs)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.1 * peaks[0]


def test_a_run_with_very_many_interruptions_is_shortened() -> None:
    setup = Setup(
        run_s=1e9, law=Exponential(100.0), interval_s=20.0, lost_s=1.0, background_s=0.0, causes=(Cause("a", 1.0, 10.0),)
    )
    found = simulate(setup, runs=2)
    assert found.is_shortened
    assert found.span_s == pytest.approx(MOST_INTERRUPTIONS * 100.0)
    assert found.by_class["a"].per_run == pytest.approx(MOST_INTERRUPTIONS, rel=0.02)
    assert not simulate(PLAIN, runs=2).is_shortened


@pytest.mark.parametrize(("runs", "seed"), [(1, 0), (0, 0), (10, -1)])
def test_too_few_runs_are_refused(runs: int, seed: int) -> None:
    with pytest.raises(ValueError, match="runs"):
        simulate(PLAIN, runs=runs, seed=seed)


def test_a_setup_without_work_between_saves_is_refused() -> None:
    with pytest.raises(ValueError, match="work"):
        Setup(run_s=1.0, law=Exponential(1.0), interval_s=1.0, lost_s=2.0, background_s=0.0, causes=(Cause("a", 1.0, 1.0),))


# ---------------------------------------------------------------- progress and cancelling


class GivenUpError(Exception):
    """What a caller raises from progress."""


def busy(plain: bool) -> Setup:
    """A job of many interruptions: seconds of work."""
    return Setup(
        run_s=4e8, law=Exponential(10_000.0), interval_s=1000.0, lost_s=60.0, background_s=0.0 if plain else 2000.0,
        causes=(Cause("interruption", 1.0, 300.0),),
    )  # fmt: skip


def test_progress_rises_to_one() -> None:
    told: list[float] = []
    simulate(PLAIN, runs=9000, progress=told.append)
    assert told[-1] == 1.0
    assert told == sorted(told)
    assert len(told) > 3
    with ThreadPoolExecutor(2) as executor:
        again: list[float] = []
        simulate(PLAIN, runs=9000, progress=again.append, executor=executor)
    assert again[-1] == 1.0
    assert all(0.0 <= one <= 1.0 for one in again)


@pytest.mark.parametrize("plain", [True, False])
@pytest.mark.parametrize("threads", [0, 2])
def test_raising_from_progress_gives_up_soon(plain: bool, threads: int) -> None:
    began = time.perf_counter()
    looked = [began]

    def look(_: float) -> None:
        looked.append(time.perf_counter())
        if looked[-1] - began > 0.3:
            raise GivenUpError

    executor: Executor | None = ThreadPoolExecutor(threads) if threads else None
    with pytest.raises(GivenUpError):
        simulate(busy(plain), runs=100_000, progress=look, executor=executor)
    gave_up = time.perf_counter()
    if executor is not None:
        executor.shutdown(wait=True)
    assert gave_up - looked[-1] < 0.2
    assert time.perf_counter() - looked[-1] < 0.5, "threads stop too"
    assert max(np.diff(looked)) < 0.2, "no look is far from the next"


def test_giving_up_cancels_what_waits_in_processes() -> None:
    def look(_: float) -> None:
        raise GivenUpError

    began = time.perf_counter()
    with ProcessPoolExecutor(1) as executor:
        with pytest.raises(GivenUpError):
            simulate(PLAIN, runs=10_000_000, progress=look, executor=executor)
        assert time.perf_counter() - began < 2.0
    assert time.perf_counter() - began < 5.0


# ---------------------------------------------------------------- timeline


@pytest.mark.parametrize("setup", SETUPS.values(), ids=SETUPS)
@pytest.mark.parametrize("run", [0, 11])
def test_a_timeline_has_no_holes_and_the_sums_of_its_run(setup: Setup, run: int) -> None:
    found = timeline(setup, seed=5, run=run)
    assert found.start_s[0] == 0.0
    assert found.end_s[-1] == pytest.approx(setup.run_s)
    assert found.end_at_s == pytest.approx(setup.run_s)
    np.testing.assert_allclose(found.start_s[1:], found.end_s[:-1], atol=1e-6)
    assert (found.end_s > found.start_s).all()
    for kind in KINDS:
        assert found.seconds(kind) == pytest.approx(found.causes[CAUSE_OF.get(kind, kind)], abs=1e-3), kind


@pytest.mark.parametrize("setup", SETUPS.values(), ids=SETUPS)
def test_timelines_are_the_runs_of_the_simulation(setup: Setup) -> None:
    found = simulate(setup, runs=6, seed=4)
    lines = [timeline(setup, seed=4, run=run) for run in range(6)]
    for cause in CAUSES:
        mean = sum(line.causes[cause] for line in lines) / 6.0 / setup.run_s
        assert found.causes[cause] == pytest.approx(mean, abs=1e-9)
    assert sum(one.per_run for one in found.by_class.values()) * 6 == sum(len(line.interruptions) for line in lines)


def test_a_timeline_names_what_happened() -> None:
    found = timeline(EVERYTHING, seed=5)
    levels = {one.cause: one.level for one in found.interruptions}
    assert levels["planned stop"] == "shared"
    assert levels["process"] == "local"
    assert levels["peer"] == "step"
    assert levels["cluster"] == "shared"
    assert [one.at_s for one in found.interruptions] == sorted(one.at_s for one in found.interruptions)


def test_lost_training_stands_right_before_what_took_it() -> None:
    """Without saves that can be restored all of a short run up to its one interruption is lost."""
    setup = Setup(
        run_s=9000.0, law=Exponential(1e9), interval_s=5000.0, lost_s=10.0, background_s=0.0, causes=(Cause("a", 1.0, 100.0),)
    )
    chunk = replay(setup, np.array([3000.0, 1e9]), 9000.0)
    assert chunk.seconds[0].tolist() == pytest.approx([5890.0, 10.0, 0.0, 3000.0, 100.0, 0.0, 0.0])
