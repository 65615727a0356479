"""Simulate many runs of one setup, in chunks: here, or on any executor, with the same bits (docs/models.md 17.2).

    runs -> chunks (their size follows from the setup alone) -> tasks of some chunks -> sums, added in order

A chunk draws from its own stream, named by seed and number, and always as if it were whole, so that run 17 of a seed is the
same whatever the number of runs or workers.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass

import numpy as np

from ckptplanner.engine.simulation.events import events_of
from ckptplanner.engine.simulation.gaps import is_plain, run_gaps, strip_runs
from ckptplanner.engine.simulation.result import KEPT_RUNS, Partial, Simulation, partial_of, simulation_of
from ckptplanner.engine.simulation.setup import Setup
from ckptplanner.engine.simulation.steps import Tick, run_steps

Progress = Callable[[float], None]

MOST_INTERRUPTIONS = 50_000  # of one run; a longer run is cut to what has so many on average
PLAIN_GAPS = 2**18  # of a chunk, roughly
TASK_GAPS = 2**20  # of a task, roughly: some ten milliseconds
AHEAD = 32  # tasks that wait in an executor
POLL_S = 0.03


class _StoppedError(Exception):
    """The caller gave up."""


@dataclass(frozen=True, slots=True)
class Layout:
    """How a setup is cut into chunks."""

    span_s: float
    plain: bool
    chunk_runs: int
    task_chunks: int


def layout_of(setup: Setup) -> Layout:
    """Cut by the expected number of interruptions, which sets time and memory of a chunk."""
    span = setup.run_s * min(1.0, MOST_INTERRUPTIONS / max(setup.interruptions, 1e-9))
    count = min(setup.interruptions, MOST_INTERRUPTIONS) + 4.0
    plain = is_plain(setup)
    few = 1024 if count < 1000 else 256
    runs = max(strip_runs(setup), int(2 ** round(np.log2(PLAIN_GAPS / count)))) if plain else few
    return Layout(span, plain, runs, max(int(TASK_GAPS / (runs * count * (1 if plain else 8))), 1))


def stream(seed: int, chunk: int) -> np.random.Generator:
    """The random numbers of one chunk."""
    return np.random.default_rng(np.random.SeedSequence((seed, chunk)))


def _nothing(fraction: float) -> None:
    """No one wants to know."""


def simulate(
    setup: Setup, *, runs: int = 1000, seed: int = 0, progress: Progress = _nothing, executor: Executor | None = None
) -> Simulation:
    """Simulate `runs` runs and say what they wasted.

    Args:
        runs: At least 2, or there is no error to give.
        seed: 0 or more; the same one gives the same bits, whatever the executor.
        progress: Called in this thread with the done share, several times a second. It may raise to give up: what waits in
            the executor is cancelled then, and threads stop at their next look; a process ends the task that it is at.
        executor: Threads or processes to work in; this thread if left out.

    Standard error is that of the mean over the runs. Memory does not grow with the runs.
    """
    if runs < 2 or seed < 0:
        raise ValueError("at least 2 runs and a seed from 0 on are needed")
    layout = layout_of(setup)
    parts = (
        _here(setup, layout, runs, seed, progress) if executor is None else _on(executor, setup, layout, runs, seed, progress)
    )
    total = next(parts)
    for part in parts:
        total.add(part)
    progress(1.0)
    return simulation_of(setup, seed, layout.span_s, total, events_of(setup).names)


def _chunks(layout: Layout, runs: int) -> int:
    return -(-runs // layout.chunk_runs)


def _chunk(setup: Setup, layout: Layout, runs: int, seed: int, chunk: int, tick: Tick | None) -> Partial:
    """The sums of one chunk; of the last one only the runs that were asked for."""
    first = chunk * layout.chunk_runs
    wanted = min(runs - first, layout.chunk_runs)
    simulate_chunk = run_gaps if layout.plain else run_steps
    done = simulate_chunk(setup, stream(seed, chunk), layout.chunk_runs, layout.span_s, counted=wanted, tick=tick)
    return partial_of(done.seconds[:wanted], layout.span_s, done.counts, done.rework_s, keep=first < KEPT_RUNS)


def _here(setup: Setup, layout: Layout, runs: int, seed: int, progress: Progress) -> Iterator[Partial]:
    chunks = _chunks(layout, runs)
    for chunk in range(chunks):
        yield _chunk(setup, layout, runs, seed, chunk, lambda part, chunk=chunk: progress((chunk + part) / chunks))  # type: ignore[misc]
        progress((chunk + 1) / chunks)


def task(setup: Setup, layout: Layout, runs: int, seed: int, chunks: range, stop: threading.Event | None) -> list[Partial]:
    """Some chunks in a worker."""

    def look(_: float) -> None:
        if stop is not None and stop.is_set():
            raise _StoppedError

    return [_chunk(setup, layout, runs, seed, chunk, look) for chunk in chunks]


def _on(executor: Executor, setup: Setup, layout: Layout, runs: int, seed: int, progress: Progress) -> Iterator[Partial]:
    """Keep some tasks in the executor and take their results in order."""
    chunks = _chunks(layout, runs)
    starts = iter(range(0, chunks, layout.task_chunks))
    stop = threading.Event() if isinstance(executor, ThreadPoolExecutor) else None  # an event does not travel to processes
    going: deque[Future[list[Partial]]] = deque()

    def submit() -> None:
        for start in starts:
            some = range(start, min(start + layout.task_chunks, chunks))
            going.append(executor.submit(task, setup, layout, runs, seed, some, stop))
            if len(going) >= AHEAD:
                return

    try:
        submit()
        done = 0
        while going:
            _wait(going, done, chunks, layout, progress)
            parts = going.popleft().result()
            done += len(parts)
            submit()
            yield from parts
    finally:
        if stop is not None:
            stop.set()
        for future in going:
            future.cancel()


def _wait(going: deque[Future[list[Partial]]], done: int, chunks: int, layout: Layout, progress: Progress) -> None:
    """Wait for the oldest task; tell how much is done meanwhile."""
    told = 0.0
    while not going[0].done():
        wait([going[0]], timeout=POLL_S)
        if time.perf_counter() - told > POLL_S:
            ready = sum(future.done() for future in going) * layout.task_chunks
            progress(min((done + ready) / chunks, 1.0))
            told = time.perf_counter()
    progress(min((done + layout.task_chunks) / chunks, 1.0))
