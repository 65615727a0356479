"""How much of each pixel of a lane is covered: thousands of saves become an even line, and a bar each once there is room.

No Qt here: arrays in, arrays out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from ckptplanner.frozen import FloatArray

_POWER = 0.4  # 20 % of a column is drawn half as tall as the lane


@dataclass(frozen=True, eq=False)
class Lane:
    """The stretches of one kind, in order of time and apart from one another. [s], arrays (n,)"""

    name: str
    start_s: FloatArray
    end_s: FloatArray

    @cached_property
    def _knots(self) -> tuple[FloatArray, FloatArray]:
        """Moments, and the seconds covered until then. [s], arrays (2n,)"""
        after = np.cumsum(self.end_s - self.start_s)
        before = after - (self.end_s - self.start_s)
        return np.column_stack((self.start_s, self.end_s)).ravel(), np.column_stack((before, after)).ravel()

    @property
    def total_s(self) -> float:
        """Seconds in all."""
        return float((self.end_s - self.start_s).sum())

    def covered_s(self, until_s: FloatArray) -> FloatArray:
        """Seconds covered from the start until each moment. [s], shape of the input"""
        if self.start_s.size == 0:
            return np.zeros_like(until_s)
        moments, covered = self._knots
        return np.interp(until_s, moments, covered)

    def shares(self, edges_s: FloatArray) -> FloatArray:
        """The share of the time between neighbouring edges that is covered. [1], one less than the edges"""
        return np.clip(np.diff(self.covered_s(edges_s)) / np.diff(edges_s), 0.0, 1.0)

    def at(self, moment_s: float) -> tuple[float, float] | None:
        """The stretch that holds a moment: start and end. [s]"""
        index = int(np.searchsorted(self.start_s, moment_s, side="right")) - 1
        if index < 0 or moment_s >= self.end_s[index]:
            return None
        return float(self.start_s[index]), float(self.end_s[index])

    def within(self, begin_s: float, end_s: float) -> slice:
        """The stretches that reach into [begin, end], as a slice of the arrays."""
        return slice(
            int(np.searchsorted(self.end_s, begin_s, side="right")), int(np.searchsorted(self.start_s, end_s, side="left"))
        )


@dataclass(frozen=True, eq=False)
class Run:
    """One simulated run, made ready to be looked at."""

    lanes: tuple[Lane, ...]
    interruption_s: FloatArray
    causes: tuple[str, ...]  # of each interruption, as a person reads it
    length_s: float


def lanes_of(
    names: Sequence[str], kinds: Sequence[str], kind: npt.NDArray[np.integer], start_s: FloatArray, end_s: FloatArray
) -> tuple[Lane, ...]:
    """A lane for each of `names`, from stretches whose kind is an index into `kinds`. Empty stretches are left out."""
    lanes = []
    for name in names:
        chosen = (kind == list(kinds).index(name)) & (end_s > start_s)
        lanes.append(Lane(name, start_s[chosen], end_s[chosen]))
    return tuple(lanes)


def heights(shares: FloatArray, tall: float, least: float) -> FloatArray:
    """How tall each column of a lane is drawn, from nothing to `tall`. [px], shape of the input

    Small shares are drawn taller than they are, by a power of the share: an hour of lost work shows in a column that stands
    for a day, and seconds of saving in every hour stay a thin line. Next to nothing is still `least` tall.
    """
    return np.where(shares > 1e-9, np.clip(tall * shares**_POWER, least, tall), 0.0)


def skyline(
    columns: FloatArray, rows: int, colour: tuple[int, int, int], ground: tuple[int, int, int]
) -> npt.NDArray[np.uint32]:
    """Pixels 0xffRRGGBB of columns that stand on the ground of a lane, (rows, columns); the top pixel of each is shaded."""
    above = np.arange(rows - 1, -1, -1, dtype=float)[:, None]
    shares = np.clip(columns[None, :] - above, 0.0, 1.0)[..., None]
    parts = np.rint(np.array(ground) + shares * (np.array(colour) - np.array(ground))).astype(np.uint32)
    pixels = 0xFF000000 | parts[..., 0] << 16 | parts[..., 1] << 8 | parts[..., 2]
    return np.ascontiguousarray(pixels, dtype=np.uint32)
