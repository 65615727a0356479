"""An event-by-event simulation of the same jobs, written with SimPy: what the simulator is held against.

    life      the job's clock: lets a trainer run, interrupts it, waits until nodes are there again
    trainer   restart, then work and stops by turns; starts writers
    writer    one save on its way to where it can be restored; dies with its trainer

It shares no line with ckptplanner and knows no formula. Random numbers are those of the standard library. Every piece of work,
every stop and every write is an event of its own, which makes it slow and easy to believe. `make bench-simulator` measures how
slow, and test_simulation_reference.py whether both sides agree.

It stands here and not in tests/bench, because `tests.engine` is a package that both can import from: pytest puts the folder
above `tests` on the path, and so does `python -m` for the benchmark.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Generator
from dataclasses import dataclass
from random import Random

import simpy

Steps = Generator[simpy.Event, object, None]
Gap = Callable[[Random], float]


@dataclass(frozen=True)
class Kind:
    """One kind of interruption. `is_local`: training goes on from the newest save of either level."""

    share: float
    restart_s: float
    is_local: bool = False
    takes_node: bool = False


@dataclass(frozen=True)
class Job:
    """One job. With one level `every` is 1 and the local stop and write are left at nothing. Times in seconds."""

    run_s: float
    gap: Gap  # from when the job can fail until it does
    kinds: tuple[Kind, ...]
    work_s: float  # between two saves of any level
    stop_s: float  # of a save to shared storage
    write_s: float  # from the end of that stop until it can be restored
    waits: bool = True  # the next stop comes once the last write is done; else they go side by side
    every: int = 1  # local saves for one to shared storage
    local_stop_s: float = 0.0
    local_write_s: float | None = None  # None without a local level
    down_s: float = 0.0
    spares: int | None = None  # None if nodes are always there
    new_node_s: float = 0.0
    nodes: int = 0  # with copies in groups; 0 without
    group: int = 2
    copied_again_s: float = 0.0
    group_lost_restart_s: float = 0.0


def memoryless(mean_s: float) -> Gap:
    """Exponential gaps."""
    return lambda random: random.expovariate(1.0 / mean_s)


def weibull(mean_s: float, shape: float) -> Gap:
    """Weibull gaps with that mean."""
    scale = mean_s / math.gamma(1.0 + 1.0 / shape)
    return lambda random: random.weibullvariate(scale, shape)


class Run:
    """One run of a job. A place in the training is a number of pieces of work of `work_s` each."""

    def __init__(self, job: Job, random: Random) -> None:
        self.job, self.random, self.env = job, random, simpy.Environment()
        self.interruptions = 0
        self.trained, self.here, self.shared = 0, 0, 0  # now, restorable by the newest save at all, on shared storage
        self.at_work_since: float | None = None
        self.trainer: simpy.Process | None = None
        self.writers: list[simpy.Process] = []
        self.last_write: simpy.Process | None = None
        self.lost_at: dict[int, float] = {}
        self.spares = simpy.Container(self.env, init=job.spares) if job.spares is not None else None

    def waste(self) -> float:
        """Play the run; the share of it that was no training that stays. What is trained at its end stays."""
        self.env.process(self.life())
        self.env.run(until=self.job.run_s)
        trained_s = self.trained * self.job.work_s
        if self.at_work_since is not None:
            trained_s += self.env.now - self.at_work_since
        return 1.0 - trained_s / self.job.run_s

    def life(self) -> Steps:
        """From interruption to interruption. While nodes are missing nothing can fail."""
        restart_s = 0.0
        while True:
            self.trainer = self.env.process(self.train(restart_s))
            yield self.env.timeout(self.job.gap(self.random))
            self.interruptions += 1
            self.stop_everything()
            kind = self.random.choices(self.job.kinds, [one.share for one in self.job.kinds])[0]
            restart_s = self.go_back(kind)
            if self.spares is not None and kind.takes_node:
                yield self.env.process(self.another_node(self.spares))
            yield self.env.timeout(self.job.down_s)

    def stop_everything(self) -> None:
        """The trainer and all that it has started die."""
        assert self.trainer is not None
        self.trainer.interrupt()
        for writer in self.writers:
            if writer.is_alive:
                writer.interrupt()
        self.writers, self.last_write, self.at_work_since = [], None, None

    def go_back(self, kind: Kind) -> float:
        """To the newest save that is left; how long the restart from it takes. [s]"""
        restart_s, is_local = kind.restart_s, kind.is_local
        if self.job.nodes and kind.takes_node and self.is_last_copy_gone():
            restart_s, is_local = self.job.group_lost_restart_s, False
        self.here = self.here if is_local else self.shared
        self.trained = self.here
        return restart_s

    def is_last_copy_gone(self) -> bool:
        """Take a node at random; whether the others of its group are gone too, their copies not made again yet."""
        node, now = self.random.randrange(self.job.nodes), self.env.now
        first = node - node % self.job.group
        others = [one for one in range(first, first + self.job.group) if one != node]
        gone = all(now - self.lost_at.get(one, -math.inf) < self.job.copied_again_s for one in others)
        self.lost_at[node] = now
        return gone

    def another_node(self, spares: simpy.Container) -> Steps:
        """Order a new node for the one that is lost, and take the next one that there is."""
        self.env.process(self.delivery(spares))
        yield spares.get(1)

    def delivery(self, spares: simpy.Container) -> Steps:
        """A node that was ordered."""
        yield self.env.timeout(self.job.new_node_s)
        yield spares.put(1)

    def train(self, restart_s: float) -> Steps:
        """Restart, then work and save until interrupted."""
        job, env = self.job, self.env
        try:
            yield env.timeout(restart_s)
            while True:
                self.at_work_since = env.now
                yield env.timeout(job.work_s)
                self.at_work_since = None
                self.trained += 1
                if job.local_write_s is not None:
                    yield env.timeout(job.local_stop_s)
                    self.writers.append(env.process(self.write(job.local_write_s, self.trained, to_shared=False)))
                if self.trained % job.every == 0:
                    if job.waits and self.last_write is not None and self.last_write.is_alive:
                        yield self.last_write
                    yield env.timeout(job.stop_s)
                    self.writers = [writer for writer in self.writers if writer.is_alive]
                    self.last_write = env.process(self.write(job.write_s, self.trained, to_shared=True))
                    self.writers.append(self.last_write)
        except simpy.Interrupt:
            return

    def write(self, takes_s: float, trained: int, *, to_shared: bool) -> Steps:
        """A write behind the training."""
        try:
            yield self.env.timeout(takes_s)
        except simpy.Interrupt:
            return
        self.here = max(self.here, trained)
        if to_shared:
            self.shared = max(self.shared, trained)


@dataclass(frozen=True)
class Found:
    """Means over runs."""

    waste_fraction: float
    standard_error: float
    interruptions: float


def simulate(job: Job, *, runs: int, seed: int) -> Found:
    """Play a job so many times."""
    random = Random(seed)
    played = [Run(job, random) for _ in range(runs)]
    wastes = [run.waste() for run in played]
    error = statistics.stdev(wastes) / math.sqrt(runs)
    return Found(statistics.fmean(wastes), error, statistics.fmean(run.interruptions for run in played))
