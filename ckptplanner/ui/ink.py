"""What pictures are painted with: words that never leave their room, ticks, crosses and hatching.

The shipped font has no narrow cross, arrow or tick, so these are strokes. Everything paints on any QPainter: the window's
or a PDF's.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPen

from ckptplanner.ui.theme import SMALL_PX, font

_LEFT, _RIGHT, _MIDDLE = Qt.AlignmentFlag.AlignLeft, Qt.AlignmentFlag.AlignRight, Qt.AlignmentFlag.AlignHCenter
ALIGN = {"left": _LEFT, "right": _RIGHT, "middle": _MIDDLE}


@lru_cache(maxsize=8)
def metrics(pixels: int = SMALL_PX, bold: bool = False) -> QFontMetricsF:
    """How wide words are."""
    return QFontMetricsF(font(pixels, bold=bold))


def width_of(words: str, pixels: int = SMALL_PX, *, bold: bool = False) -> float:
    """How wide these words are. [px]"""
    return math.ceil(metrics(pixels, bold).horizontalAdvance(words))


def write(
    painter: QPainter,
    room: QRectF,
    words: str,
    colour: str,
    *,
    pixels: int = SMALL_PX,
    bold: bool = False,
    align: str = "left",
    ground: str = "",
) -> float:
    """Write one line inside `room`, shortened where it does not fit; return how wide it became. [px]"""
    fits = metrics(pixels, bold).elidedText(words, Qt.TextElideMode.ElideRight, max(room.width(), 0.0) + 0.5)
    if fits != words and len(fits) < 4:  # too little to be read
        return 0.0
    width = min(width_of(fits, pixels, bold=bold), room.width())
    if ground:
        left = room.left() if align == "left" else room.right() - width if align == "right" else room.center().x() - width / 2
        painter.fillRect(QRectF(left - 3, room.top() + 2, width + 6, room.height() - 4), QColor(ground))
    painter.setFont(font(pixels, bold=bold))
    painter.setPen(QColor(colour))
    painter.drawText(room, ALIGN[align] | Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextDontClip, fits)
    return width


def lines_of(
    words: str, width: float, most: int, pixels: int = SMALL_PX, *, bold: bool = False, widest: float = 0.0
) -> list[str]:
    """The words in at most so many lines: broken at spaces, inside a word only where it is wider than `widest`."""
    lines: list[str] = []
    widest = max(widest, width)
    line = ""
    for word in words.split(" "):
        longer = f"{line} {word}" if line else word
        if width_of(longer, pixels, bold=bold) <= width:
            line = longer
            continue
        if line:
            lines.append(line)
        line = word
        while width_of(line, pixels, bold=bold) > widest and len(line) > 1:
            count = next((n for n in range(len(line) - 1, 1, -1) if width_of(line[:n], pixels, bold=bold) <= widest), 1)
            lines.append(line[:count])
            line = line[count:]
    lines.append(line)
    if len(lines) > most:
        at = 0
        for line in lines[: most - 1]:
            at = words.index(line, at) + len(line)
        rest = words[at:].lstrip()
        lines = [
            *lines[: most - 1],
            _whole_words(metrics(pixels, bold).elidedText(rest, Qt.TextElideMode.ElideRight, widest), rest),
        ]
    return lines


def _whole_words(shortened: str, words: str) -> str:
    """Shortened words without a piece of a word at their end, where enough is left."""
    kept = shortened.removesuffix("…")
    before, _, piece = kept.rpartition(" ")
    is_piece = kept != shortened and not words[len(kept) :].startswith(" ") and len(piece) < len(before)
    return f"{before}…" if is_piece else shortened


def pen(colour: str, width: float = 1.0, *, dashed: bool = False) -> QPen:
    """A pen with flat ends."""
    made = QPen(QColor(colour), width)
    made.setCapStyle(Qt.PenCapStyle.FlatCap)
    if dashed:
        made.setDashPattern([3, 3])
    return made


def _stroke(painter: QPainter, colour: str, width: float, lines: Sequence[QLineF]) -> None:
    made = QPen(QColor(colour), width)
    made.setCapStyle(Qt.PenCapStyle.RoundCap)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(made)
    painter.drawLines(list(lines))


def tick(painter: QPainter, x: float, y: float, colour: str, width: float = 1.5) -> None:
    """A tick around a point, 10 px wide."""
    low = QPointF(x - 1.2, y + 3.2)
    _stroke(painter, colour, width, [QLineF(QPointF(x - 4.4, y), low), QLineF(low, QPointF(x + 4.6, y - 3.4))])


def cross(painter: QPainter, x: float, y: float, colour: str, width: float = 1.25, half: float = 3.2) -> None:
    """A cross around a point."""
    corners = ((-half, -half, half, half), (-half, half, half, -half))
    _stroke(painter, colour, width, [QLineF(x + a, y + b, x + c, y + d) for a, b, c, d in corners])


def dash(painter: QPainter, x: float, y: float, colour: str) -> None:
    """Nothing to say here."""
    _stroke(painter, colour, 1.25, [QLineF(x - 3, y, x + 3, y)])


def hatch(painter: QPainter, room: QRectF, colour: str, step: float = 7.0) -> None:
    """Diagonal lines over a rectangle, cut to it. (A clip would turn a PDF's lines into pictures in some viewers.)"""
    left, top, right, bottom = room.left(), room.top(), room.right(), room.bottom()
    tall, lines = room.height(), []
    start = left - tall
    while start < right:
        x1, x2 = max(start, left), min(start + tall, right)
        if x2 > x1:
            lines.append(QLineF(x1, bottom - (x1 - start), x2, bottom - (x2 - start)))
        start += step
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(pen(colour))
    if lines and top < bottom:
        painter.drawLines(lines)


def box(painter: QPainter, room: QRectF, fill: str, edge: str = "", radius: float = 3.0, width: float = 1.0) -> None:
    """A rectangle with small corners and a hairline edge that lies on whole pixels."""
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setBrush(QColor(fill) if fill else Qt.BrushStyle.NoBrush)
    painter.setPen(pen(edge, width) if edge else Qt.PenStyle.NoPen)
    inset = width / 2 if edge else 0.0
    painter.drawRoundedRect(room.adjusted(inset, inset, -inset, -inset), radius, radius)
    painter.setBrush(Qt.BrushStyle.NoBrush)


def mix(colour: str, ground: str, share: float) -> str:
    """A colour laid thinly over a ground."""
    one, two = QColor(colour), QColor(ground)
    parts = zip((one.red(), one.green(), one.blue()), (two.red(), two.green(), two.blue()), strict=True)
    return QColor(*(round(a * share + b * (1 - share)) for a, b in parts)).name()


def spread(centres: Sequence[float], widths: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Left edges of labels that would like to be centred: moved apart and into [low, high], in the same order.

    Where they do not fit into the range together, the last ones reach beyond `low`; give narrower labels then.
    """
    lefts: list[float] = []
    for centre, width in zip(centres, widths, strict=True):
        least = lefts[-1] + widths[len(lefts) - 1] + gap if lefts else low
        lefts.append(max(centre - width / 2, least))
    limit = high
    for index in range(len(lefts) - 1, -1, -1):
        lefts[index] = min(lefts[index], limit - widths[index])
        limit = lefts[index] - gap
    return lefts
