"""Small notes inside plots: each at the first of its spots that is free of other notes, of marks, and of lines.

Places are worked out from the range and the box of the plot, not asked of the scene, whose items follow a new range late.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QPointF, QRectF

from ckptplanner.frozen import FloatArray
from ckptplanner.ui.plots.plot import Plot
from ckptplanner.ui.theme import SMALL_PX, font

_GAP, _MARK, _INK = 4.0, 6.0, 4.0  # beside a mark; half of a mark; empty edge of a text item [px]


class Spot(NamedTuple):
    """A place in log positions, and the share of the note's size that lies left of it and above it."""

    x: float
    y: float
    left: float
    above: float


def around(x: float, y: float, first: tuple[float, float] = (0.0, 0.5)) -> tuple[Spot, ...]:
    """Spots beside a mark: the given one, then right, left, above and below, then the four corners."""
    sides = [first, (0.0, 0.5), (1.0, 0.5), (0.5, 1.0), (0.5, 0.0), (0.0, 1.0), (1.0, 1.0), (0.0, 0.0), (1.0, 0.0)]
    return tuple(Spot(x, y, *side) for side in dict.fromkeys(sides))


class Notes:
    """Notes by name, made once and written anew with each drawing; the first written has the first choice."""

    def __init__(self) -> None:
        self._items: dict[str, pg.TextItem] = {}
        self._looks: dict[str, tuple[str, str, str]] = {}
        self._written: dict[str, QRectF] = {}
        self._marks: list[QRectF] = []
        self._lines: list[tuple[FloatArray, ...]] = []
        self._ground = ""

    def clear(self, ground: str) -> None:
        """Begin a drawing: nothing is written yet. `ground` is the colour behind notes that cover what is below."""
        self._ground = ground
        self._written, self._marks, self._lines = {}, [], []

    def spare_mark(self, plot: Plot, x: float, y: float) -> None:
        """Keep notes off a mark at log positions."""
        place = _in_scene(plot, x, y)
        self._marks.append(QRectF(place.x() - _MARK, place.y() - _MARK, 2 * _MARK, 2 * _MARK))

    def spare_upright(self, plot: Plot, x: float) -> None:
        """Keep notes off an upright line where that can be."""
        self.spare_line(plot, np.array([x, x]), np.array(plot.vb.viewRange()[1]))

    def spare_line(self, plot: Plot, x: FloatArray, y: FloatArray) -> None:
        """Keep notes off a line through log positions where that can be; NaN is a gap."""
        box, ((left, right), (low, high)) = plot.vb.sceneBoundingRect(), plot.vb.viewRange()
        across = box.left() + (x - left) / (right - left) * box.width()
        down = np.clip(box.top() + (high - y) / (high - low) * box.height(), box.top(), box.bottom())
        edges = [edge for line in (across, down) for edge in (np.minimum(line[:-1], line[1:]), np.maximum(line[:-1], line[1:]))]
        self._lines.append(tuple(edges))

    def write(self, key: str, plot: Plot, text: str, spots: Sequence[Spot], colour: str, *, covers: bool = False) -> None:
        """Write a note at the first free spot; where lines cross them all, at the first off other notes, or not at all."""
        item = self._item(key, plot)
        look = (text, colour, self._ground if covers else "")
        if self._looks.get(key) != look:  # a text is laid out anew even when it is the same
            self._looks[key] = look
            item.fill = pg.mkBrush(look[2]) if covers else pg.mkBrush(None)
            item.setText(text, color=colour)
        size = item.boundingRect().size()
        apart = [(spot, rect) for spot, rect in _placed(plot, spots, size.width(), size.height()) if self._is_apart(rect)]
        found = next((one for one in apart if not self._is_crossed(one[1])), apart[0] if apart else None)
        if found is None:
            return
        spot, rect = found
        place = _in_scene(plot, spot.x, spot.y)
        anchor = (place.x() - rect.left()) / rect.width(), (place.y() - rect.top()) / rect.height()
        if item.anchor != pg.Point(anchor):
            item.setAnchor(anchor)
        item.setPos(spot.x, spot.y)
        item.setVisible(True)
        self._written[key] = rect

    def _item(self, key: str, plot: Plot) -> pg.TextItem:
        item = self._items.get(key)
        if item is None:
            item = self._items[key] = pg.TextItem()
            item.setFont(font(SMALL_PX))
            item.setZValue(15)
            plot.addItem(item, ignoreBounds=True)
        return item

    def finish(self) -> None:
        """Take away what was not written this time."""
        for key, item in self._items.items():
            if key not in self._written and item.isVisible():
                item.setVisible(False)

    def _is_apart(self, rect: QRectF) -> bool:
        """Whether a note would leave other notes and the marks alone; the empty edges of notes may overlap a little."""
        ink = _ink(rect)
        return not any(ink.intersects(_ink(other)) for other in self._written.values()) and not any(
            ink.intersects(mark) for mark in self._marks
        )

    def _is_crossed(self, rect: QRectF) -> bool:
        ink = _ink(rect)
        return any(
            bool(np.any((right >= ink.left()) & (left <= ink.right()) & (bottom >= ink.top()) & (top <= ink.bottom())))
            for left, right, top, bottom in self._lines
        )


def _placed(plot: Plot, spots: Sequence[Spot], width: float, height: float) -> Iterator[tuple[Spot, QRectF]]:
    """Where a note of that size would stand in the scene: moved in between the sides, never over top or bottom."""
    box = plot.vb.sceneBoundingRect()
    for spot in spots:
        place = _in_scene(plot, spot.x, spot.y)
        x = place.x() - spot.left * width + _gap(spot.left)
        y = place.y() - spot.above * height + _gap(spot.above) / 4
        x = max(min(x, box.right() - width), box.left())
        rect = QRectF(x, y, max(width, 1.0), max(height, 1.0))
        if rect.top() >= box.top() - _INK and rect.bottom() <= box.bottom() + _INK:
            yield spot, rect


def _gap(share: float) -> float:
    return 0.0 if share == 0.5 else _GAP if share < 0.5 else -_GAP


def _ink(rect: QRectF) -> QRectF:
    return rect.adjusted(_INK, _INK, -_INK, -_INK)


def _in_scene(plot: Plot, x: float, y: float) -> QPointF:
    box, ((left, right), (low, high)) = plot.vb.sceneBoundingRect(), plot.vb.viewRange()
    return QPointF(box.left() + (x - left) / (right - left) * box.width(), box.top() + (high - y) / (high - low) * box.height())
