"""When the next interruption of each run comes. Times of the wall, (n,); what is free of interruptions does not count."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from ckptplanner.engine.laws import Law
from ckptplanner.engine.simulation.setup import Fleet, Setup
from ckptplanner.frozen import BoolArray, FloatArray


class Clock(Protocol):
    """The job's own interruptions."""

    def first(self, random: np.random.Generator, runs: int) -> FloatArray:
        """The first of each run, which begins at 0. [s]"""

    def after(
        self, random: np.random.Generator, due_s: FloatArray, event_s: FloatArray, ready_s: FloatArray, own: BoolArray
    ) -> FloatArray:
        """The next one after an event.

        Args:
            due_s: When it was due before the event. [s]
            event_s: The event. [s]
            ready_s: The end of what is free of interruptions after it. [s]
            own: Whether the event came from this clock.
        """


class Renewal:
    """One clock for the whole job that starts anew after each of its interruptions; other events hold it up."""

    def __init__(self, law: Law) -> None:
        self._law = law

    def first(self, random: np.random.Generator, runs: int) -> FloatArray:
        """A whole gap."""
        return self._law.draw(random, runs)

    def after(
        self, random: np.random.Generator, due_s: FloatArray, event_s: FloatArray, ready_s: FloatArray, own: BoolArray
    ) -> FloatArray:
        """A whole gap from when it can fail again, or what was left of the last one."""
        gaps = self._law.draw(random, len(due_s))
        return ready_s + np.where(own, gaps, due_s - event_s)


class Ageing:
    """Nodes that age each for themselves: a Poisson process whose rate follows the wall clock, by inversion.

    Source: Cinlar, "Introduction to Stochastic Processes", 1975: the cumulative rate of the process has unit gaps.
    """

    def __init__(self, fleet: Fleet) -> None:
        times, number = np.asarray(fleet.times_s), np.asarray(fleet.cumulative)
        rate = max((number[-1] - number[-2]) / (times[-1] - times[-2]), 1e-300)
        far = max(times[-1], 1.0) * 1e6
        self._times = np.concatenate((times, [times[-1] + far]))
        self._number = np.concatenate((number, [number[-1] + rate * far]))

    def first(self, random: np.random.Generator, runs: int) -> FloatArray:
        """From the start of the run."""
        return self._next(random, np.zeros(runs))

    def after(
        self, random: np.random.Generator, due_s: FloatArray, event_s: FloatArray, ready_s: FloatArray, own: BoolArray
    ) -> FloatArray:
        """From when it can fail again: what is past does not matter."""
        return self._next(random, ready_s)

    def _next(self, random: np.random.Generator, from_s: FloatArray) -> FloatArray:
        number = np.interp(from_s, self._times, self._number) + random.standard_exponential(len(from_s))
        return np.asarray(np.interp(number, self._number, self._times))


def clock_of(setup: Setup) -> Clock:
    """The clock of a setup."""
    return Renewal(setup.law) if setup.fleet is None else Ageing(setup.fleet)
