"""What a layout is made of: boxes and lines with coordinates in pixels. No Qt.

A `role` says what a box or a line is on the board; hops find their place by it (roles.py).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

from ckptplanner.text import Text


class Rect(NamedTuple):
    """A rectangle; y grows downward."""

    x: float
    y: float
    w: float
    h: float

    @property
    def right(self) -> float:
        """The right edge."""
        return self.x + self.w

    @property
    def bottom(self) -> float:
        """The lower edge."""
        return self.y + self.h

    @property
    def middle_x(self) -> float:
        """Halfway across."""
        return self.x + self.w / 2

    @property
    def middle_y(self) -> float:
        """Halfway down."""
        return self.y + self.h / 2

    def overlaps(self, other: Rect) -> bool:
        """Whether the two share ground; touching edges do not."""
        return self.x < other.right and other.x < self.right and self.y < other.bottom and other.y < self.bottom

    def holds(self, other: Rect) -> bool:
        """Whether `other` lies inside."""
        return (
            self.x <= other.x and self.y <= other.y and other.right <= self.right and other.bottom <= self.bottom
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Box:
    """One part: a title, words at its right and under it; `parent` is the box that it stands in.

    `short` says `second` where there is little room, on the node itself `right`; `meter` is how much of a bar along the foot
    is filled; a hot box is one that a gradient passes.
    """

    id: str
    role: str
    rect: Rect
    title: Text
    right: Text | None = None
    second: Text | None = None
    short: Text | None = None
    foot: Text | None = None
    parent: str = ""
    is_lit: bool = False
    is_centred: bool = False
    hops: tuple[str, ...] = ()
    meter: float | None = None
    is_hot: bool = False

    def with_hops(self, hops: tuple[str, ...]) -> Box:
        """The same box as the place of these hops."""
        return replace(self, hops=hops)


@dataclass(frozen=True, slots=True)
class Line:
    """A way between two parts; `load_bytes_per_s` is what this one line carries. The arrow stands at its last point."""

    id: str
    role: str
    points: tuple[tuple[float, float], ...]
    is_lit: bool = False
    has_arrow: bool = False
    load_bytes_per_s: float | None = None
    hops: tuple[str, ...] = ()

    def with_hops(self, hops: tuple[str, ...]) -> Line:
        """The same line as the place of these hops."""
        return replace(self, hops=hops)


@dataclass(frozen=True, slots=True)
class Label:
    """Words on free ground; `tone` is lit, by the use of `role`, or limit, the words at the mark of a bottleneck."""

    text: Text
    rect: Rect
    tone: str
    align: str = "left"
    role: str = ""


@dataclass(frozen=True, slots=True)
class Layout:
    """The board of one phase at one size."""

    size: tuple[float, float]
    boxes: tuple[Box, ...]
    lines: tuple[Line, ...]
    labels: tuple[Label, ...]

    def box(self, box_id: str) -> Box:
        """The box of that id. Raises StopIteration where there is none."""
        return next(box for box in self.boxes if box.id == box_id)

    def boxes_of(self, role: str) -> tuple[Box, ...]:
        """All boxes of a role, from left to right."""
        return tuple(box for box in self.boxes if box.role == role)

    def lines_of(self, role: str) -> tuple[Line, ...]:
        """All lines of a role."""
        return tuple(line for line in self.lines if line.role == role)

    def places_of(self, hop_id: str) -> tuple[Box | Line, ...]:
        """Where a hop is drawn."""
        boxes = [box for box in self.boxes if hop_id in box.hops]
        return (*boxes, *(line for line in self.lines if hop_id in line.hops))
