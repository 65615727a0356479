"""The same jobs for the simulator and for the reference that is written with SimPy, each put down by hand for both sides."""

from __future__ import annotations

from dataclasses import dataclass

from ckptplanner.engine.laws import Exponential, Weibull
from ckptplanner.engine.simulation.setup import Cause, LocalLevel, Replicas, Setup, Spares
from ckptplanner.units import HOUR
from tests.engine import reference
from tests.engine.reference import Job, Kind, memoryless


@dataclass(frozen=True)
class Case:
    """One job, twice."""

    setup: Setup
    job: Job


PLAIN = Case(
    Setup(
        run_s=1.5e6, law=Weibull(15_000.0, 0.7), interval_s=1000.0, lost_s=60.0, background_s=400.0, downtime_s=200.0,
        causes=(Cause("interruption", 1.0, 300.0),),
    ),
    Job(
        run_s=1.5e6, gap=reference.weibull(15_000.0, 0.7), work_s=940.0, stop_s=60.0, write_s=400.0, down_s=200.0,
        kinds=(Kind(1.0, 300.0),),
    ),
)  # fmt: skip

WAITING = Case(
    Setup(
        run_s=2e6, law=Exponential(20_000.0), interval_s=1000.0, lost_s=50.0, background_s=1500.0,
        causes=(Cause("interruption", 1.0, 300.0),),
    ),
    Job(run_s=2e6, gap=memoryless(20_000.0), work_s=950.0, stop_s=50.0, write_s=1500.0, kinds=(Kind(1.0, 300.0),)),
)  # fmt: skip


def two_levels(
    work_s: float, ratio: int, near: tuple[float, float, float, float], far: tuple[float, float, float, float]
) -> Case:
    """Local and shared saves over a hundred interruptions; stop, write, restart and mean time between of each level."""
    (stop, write, restart, every), (far_stop, far_write, far_restart, far_every) = near, far
    mean_s = 1.0 / (1.0 / every + 1.0 / far_every)
    causes = (Cause("process", mean_s / every, restart, "local"), Cause("cluster", mean_s / far_every, far_restart, "shared"))
    setup = Setup(
        run_s=100.0 * mean_s, law=Exponential(mean_s), interval_s=1.0 + far_stop, lost_s=far_stop, background_s=far_write,
        causes=causes, local=LocalLevel(work_s, stop, write, ratio),
    )  # fmt: skip
    job = Job(
        run_s=100.0 * mean_s, gap=memoryless(mean_s), work_s=work_s, stop_s=far_stop, write_s=far_write, every=ratio,
        local_stop_s=stop, local_write_s=write,
        kinds=(Kind(1.0 / every, restart, is_local=True), Kind(1.0 / far_every, far_restart)),
    )  # fmt: skip
    return Case(setup, job)


TWO_LEVELS = two_levels(1187.0, 3, (20.0, 60.0, 300.0, 10 * HOUR), (60.0, 1800.0, 1500.0, 40 * HOUR))
OFTEN_INTERRUPTED = two_levels(445.0, 3, (30.0, 60.0, 300.0, HOUR), (120.0, 1200.0, 900.0, 3 * HOUR))

# copies in groups of two that are often away together, one spare node, three kinds of interruptions, nodes lost in clusters
NODES = Case(
    Setup(
        run_s=2e6, law=Weibull(20_000.0, 0.8), interval_s=51.0, lost_s=50.0, background_s=900.0, downtime_s=100.0,
        causes=(
            Cause("node", 0.5, 300.0, "local", takes_node=True),
            Cause("process", 0.4, 120.0, "local"),
            Cause("cluster", 0.1, 900.0, "shared"),
        ),
        escalated_restart_s=4000.0, local=LocalLevel(1500.0, 10.0, 60.0, 4), spares=Spares(1, 15_000.0),
        replicas=Replicas(8, 2, 60_000.0),
    ),
    Job(
        run_s=2e6, gap=reference.weibull(20_000.0, 0.8), work_s=1500.0, stop_s=50.0, write_s=900.0, down_s=100.0,
        kinds=(Kind(0.5, 300.0, is_local=True, takes_node=True), Kind(0.4, 120.0, is_local=True), Kind(0.1, 900.0)),
        every=4, local_stop_s=10.0, local_write_s=60.0, spares=1, new_node_s=15_000.0, nodes=8, group=2,
        copied_again_s=60_000.0, group_lost_restart_s=4000.0,
    ),
)  # fmt: skip

CASES = {
    "one level": PLAIN,
    "one level that waits": WAITING,
    "two levels": TWO_LEVELS,
    "two levels, often interrupted": OFTEN_INTERRUPTED,
    "copies and a spare": NODES,
}
