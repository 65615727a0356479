"""Small notes inside plots: kept between the axes, and apart from one another."""

from __future__ import annotations

import pyqtgraph as pg
from PySide6.QtCore import QRectF

from ckptplanner.ui.plots.plot import Plot
from ckptplanner.ui.theme import SMALL_PX, font


class Notes:
    """Notes by name, made once and written anew with each drawing; the first written is the last to go."""

    def __init__(self) -> None:
        self._items: dict[str, pg.TextItem] = {}
        self._written: list[str] = []
        self._ground = ""

    def clear(self, ground: str) -> None:
        """Begin a drawing: nothing is written yet. `ground` is the colour behind notes that cover what is below."""
        self._ground = ground
        self._written = []
        for item in self._items.values():
            item.setVisible(False)

    def write(
        self,
        key: str,
        plot: Plot,
        text: str,
        x: float,
        y: float,
        anchor: tuple[float, float],
        colour: str,
        *,
        covers: bool = False,
    ) -> None:
        """Write a note at a place of a plot, in log positions."""
        item = self._items.get(key)
        if item is None:
            item = pg.TextItem(anchor=anchor)
            item.setFont(font(SMALL_PX))
            item.setZValue(15)
            plot.addItem(item, ignoreBounds=True)
            self._items[key] = item
        item.fill = pg.mkBrush(self._ground) if covers else pg.mkBrush(None)
        item.setText(text, color=colour)
        item.setAnchor((_kept_inside(plot, item, x, anchor[0]), anchor[1]))
        item.setPos(x, y)
        item.setVisible(True)
        self._written.append(key)

    def tidy(self) -> None:
        """Lift a note of the bottom edge over another one; of other notes that run into one another the first stays."""
        kept: list[QRectF] = []
        for key in self._written:
            item = self._items[key]
            if item.anchor[1] > 1.0 and any(_scene_rect(item).intersects(other) for other in kept):
                item.setAnchor((item.anchor[0], item.anchor[1] + 0.9))
            rect = _scene_rect(item)
            item.setVisible(not any(rect.intersects(other) for other in kept))
            if item.isVisible():
                kept.append(rect.adjusted(2, 3, -2, -3))


def _kept_inside(plot: Plot, item: pg.TextItem, x: float, anchor: float) -> float:
    """The anchor at which a note at x stays between the axes."""
    (low, high), room = plot.vb.viewRange()[0], max(plot.vb.width(), 1.0)
    width = max(item.boundingRect().width(), 1.0)
    place = (x - low) / (high - low) * room
    return float(min(max(anchor, (place + width - room) / width), place / width))


def _scene_rect(item: pg.TextItem) -> QRectF:
    return QRectF(item.mapRectToScene(item.boundingRect()))
