"""Paints a layout with any QPainter: the window, a picture or a page.

A line is as thick as its load and coloured by its use; the bottleneck has a mark, a thick edge and words.
"""

from __future__ import annotations

import math

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPainterPath, QPen, QPolygonF

from ckptplanner.engine.node_plan import Phase
from ckptplanner.ui.diagram.hop_words import use_colour
from ckptplanner.ui.diagram.shapes import Box, Label, Layout, Line, Rect
from ckptplanner.ui.theme import BODY_PX, SMALL_PX, Theme, font
from ckptplanner.ui.words import say, say_text
from ckptplanner.units import BYTES_PER_S, brief, significant

_LARGE = {"node", "cpu", "ram", "ena", "peer", "s3", "storage"}
_BOLD = {"node", "cpu", "storage", "ena"}
_THIN_LOAD, _THICK_LOAD, _THIN, _THICK, _THICKEST = 0.04e9, 6e9, 1.6, 7.0, 9.0
_LEGEND_LOADS = (0.04e9, 0.2e9, 6e9)
_MIDDLE = Qt.AlignmentFlag.AlignVCenter
_ALIGN = {
    "left": Qt.AlignmentFlag.AlignLeft, "right": Qt.AlignmentFlag.AlignRight, "centre": Qt.AlignmentFlag.AlignHCenter,
}  # fmt: skip


def thickness(load_bytes_per_s: float | None) -> float:
    """How thick a load is drawn, on a log scale. [px]"""
    if not load_bytes_per_s:
        return _THIN
    share = math.log(load_bytes_per_s / _THIN_LOAD) / math.log(_THICK_LOAD / _THIN_LOAD)
    return min(max(_THIN + share * (_THICK - _THIN), _THIN), _THICKEST)


def qrect(rect: Rect) -> QRectF:
    """The same rectangle for Qt."""
    return QRectF(rect.x, rect.y, rect.w, rect.h)


def paint_warning(painter: QPainter, place: QRectF, colour: QColor, ground: QColor) -> None:
    """The mark of the bottleneck: a filled triangle with a bar in it."""
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    corners = [QPointF(place.center().x(), place.top()), place.bottomRight(), place.bottomLeft()]
    painter.setPen(QPen(colour, 1.5, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap, Qt.PenJoinStyle.RoundJoin))
    painter.setBrush(colour)
    painter.drawPolygon(QPolygonF(corners))
    x, high = place.center().x(), place.height()
    painter.setPen(QPen(ground, max(high / 8, 1.2), Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap))
    painter.drawLine(QPointF(x, place.top() + high * 0.38), QPointF(x, place.top() + high * 0.62))
    painter.drawPoint(QPointF(x, place.top() + high * 0.83))
    painter.restore()


class LayoutPainter:
    """Draws one layout; `strong` is the hop that is pointed at or has the focus."""

    def __init__(self, painter: QPainter, layout: Layout, phase: Phase | None, theme: Theme, strong: str = "") -> None:
        self._painter, self._layout, self._phase, self._theme, self._strong = painter, layout, phase, theme, strong
        limit = phase.limit if phase is not None else None
        self._limit = limit.id if limit is not None else ""

    def paint(self) -> None:
        """Boxes from the outermost in, lines, words on free ground."""
        painter = self._painter
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for box in sorted(self._layout.boxes, key=lambda box: (bool(box.parent), box.role == "ram")):
            self._box(box)
        for line in sorted(
            self._layout.lines, key=lambda line: (line.is_lit, line.role in {"trunk", "branch"}, line.role == "gradient")
        ):
            self._line(line)
        for label in self._layout.labels:
            self._label(label)
        self._ring()
        painter.restore()

    # ------------------------------------------------------------ use

    def _ratio(self, hop_ids: tuple[str, ...]) -> float | None:
        hops = [self._phase.hop(hop_id) for hop_id in hop_ids] if self._phase else []
        return max((hop.use_ratio for hop in hops if hop is not None and hop.use_ratio is not None), default=None)

    def _use(self, hop_ids: tuple[str, ...]) -> QColor:
        return QColor(use_colour(self._theme, self._ratio(hop_ids)))

    def _use_of_role(self, role: str) -> QColor:
        ids = [hop for box in self._layout.boxes_of(role) for hop in box.hops]
        return self._use((*ids, *(hop for line in self._layout.lines_of(role) for hop in line.hops)))

    def _is_limit(self, item: Box | Line) -> bool:
        return bool(self._limit) and self._limit in item.hops and item.is_lit and item.role != "server"

    # ------------------------------------------------------------ boxes

    def _box(self, box: Box) -> None:
        painter, theme = self._painter, self._theme
        is_limit = self._is_limit(box)
        edge, width, style = QColor(theme.line), 1.0, Qt.PenStyle.SolidLine
        if box.is_lit and box.role != "server":
            edge = self._use(box.hops) if box.hops else QColor(theme.edge)
            width = 1.5 if box.hops else 1.0
            if box.hops and self._ratio(box.hops) is None:
                style = Qt.PenStyle.DashLine
        elif not box.is_lit and box.role in {"s3", "peer"}:
            edge = QColor(theme.hairline)
        if is_limit:
            width = 2.0 if box.parent == "peer" else 3.0
        if box.role == "node":
            edge, width = QColor(theme.line), 1.0
        ground = theme.panel if box.role in {"node", "cpu"} else theme.surface
        if box.role == "node":
            ground = theme.surface
        if box.is_lit and box.hops and box.role not in {"node", "server", "storage"}:
            ground = theme.selected
        painter.setPen(QPen(edge, width, style))
        painter.setBrush(QColor(ground))
        inset = 0.5 if width <= 1 else width / 2
        painter.drawRoundedRect(qrect(box.rect).adjusted(inset, inset, -inset, -inset), 4, 4)
        if box.is_hot:
            pen = QPen(QColor(theme.text), 1.5)
            pen.setDashPattern([3.0, 2.0])
            painter.setPen(pen)
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(qrect(box.rect).adjusted(0.75, 0.75, -0.75, -0.75), 4, 4)
        if box.role == "node":
            self._head(box)
        else:
            (self._centred if box.is_centred else self._spread)(box, is_limit=is_limit)

    def _text(self, place: QRectF, words: str, made: QFont, colour: QColor | str, align: Qt.AlignmentFlag) -> float:
        """Draw one line, elided where it is too long; returns its width."""
        metrics = QFontMetricsF(made)
        shown = metrics.elidedText(words, Qt.TextElideMode.ElideRight, place.width())
        self._painter.setFont(made)
        self._painter.setPen(QColor(colour))
        self._painter.drawText(place, align | _MIDDLE, shown)
        return float(metrics.horizontalAdvance(shown))

    def _centred(self, box: Box, *, is_limit: bool) -> None:
        theme, rect = self._theme, qrect(box.rect).adjusted(1, 0, -1, 0)
        second = say_text(box.second) if box.second is not None else ""
        high = 32.0 if second else 16.0
        top = rect.center().y() - high / 2
        is_quiet = box.role == "switch"
        small = font(SMALL_PX, bold=is_limit)
        self._text(QRectF(rect.x(), top, rect.width(), 16), say_text(box.title), small, theme.muted if is_quiet else theme.text,
                   Qt.AlignmentFlag.AlignHCenter)  # fmt: skip
        if second:
            self._text(
                QRectF(rect.x(), top + 16, rect.width(), 16), second, font(SMALL_PX), theme.muted, Qt.AlignmentFlag.AlignHCenter
            )
        if is_limit and not box.role.startswith("peer"):  # the box around those has the mark
            mark = QRectF(box.rect.right - 14, box.rect.y - 5, 11, 10)  # over the edge: the words need the room inside
            self._painter.setPen(Qt.PenStyle.NoPen)
            self._painter.setBrush(QColor(theme.surface))
            self._painter.drawEllipse(mark.adjusted(-2.5, -2.5, 2.5, 2.5))
            paint_warning(self._painter, mark, self._use(box.hops), QColor(theme.surface))

    def _head(self, box: Box) -> None:
        """The first line of the board: which node, its name, and that its inside is a guess."""
        theme, room = self._theme, QRectF(box.rect.x + 12, box.rect.y + 4, box.rect.w - 24, 20)
        words = [say_text(one) for one in (box.right, box.short) if one is not None]
        least = min((_small_width(one) for one in words), default=0.0)
        left = room.adjusted(0, 0, -least - 12, 0)
        left.setLeft(left.left() + self._text(left, say_text(box.title), font(bold=True), theme.text, _ALIGN["left"]) + 20)
        name = say_text(box.second) if box.second is not None else ""
        room.setLeft(left.left() + self._text(left, name, font(), theme.muted, _ALIGN["left"]) + 12)
        note = next((one for one in words if _small_width(one) <= room.width()), words[-1] if words else "")
        self._text(room, note, font(SMALL_PX), theme.warning, _ALIGN["right"])

    def _spread(self, box: Box, *, is_limit: bool) -> None:
        """A box with its title at the left: words at the right, under it and at its foot."""
        theme, rect = self._theme, box.rect
        pad, high = (12 if box.role in {"node", "cpu"} else 8), (20.0 if box.role in _LARGE else 16.0)
        left, wide, top = rect.x + pad, rect.w - 2 * pad, _top_of(box, high)
        if is_limit:
            mark = QRectF(rect.right - pad - 15, rect.y + 7, 15, 13)
            paint_warning(self._painter, mark, self._use(box.hops), QColor(theme.surface))
            wide -= 22
        made = font(BODY_PX if box.role in _LARGE else SMALL_PX, bold=box.role in _BOLD or is_limit)
        colour = theme.muted if not box.is_lit and box.role in {"s3", "peer"} else theme.text
        taken = self._text(QRectF(left, top, wide, high), say_text(box.title), made, colour, Qt.AlignmentFlag.AlignLeft)
        if box.right is not None:
            place = QRectF(left + taken + 8, top, wide - taken - 8, high)
            if _small_width(say_text(box.right)) <= place.width():
                self._text(place, say_text(box.right), font(SMALL_PX), theme.muted, Qt.AlignmentFlag.AlignRight)
        if box.second is not None:
            self._second(box, QRectF(left, top + high, rect.w - 2 * pad, 16))
        if box.foot is not None:
            place, small = QRectF(left, rect.bottom - 24, rect.w - 2 * pad, 20), font(SMALL_PX, bold=is_limit)
            self._text(place, say_text(box.foot), small, self._use(box.hops), Qt.AlignmentFlag.AlignLeft)
        if box.role == "server" and box.is_lit:
            self._meter(box)

    def _second(self, box: Box, place: QRectF) -> None:
        theme, words = self._theme, say_text(box.second) if box.second is not None else ""
        is_told = box.is_lit and box.role in {"ram", "ena"} and self._ratio(box.hops) is not None
        if box.short is not None and _small_width(words) > place.width():
            words = say_text(box.short)
        colour = self._use(box.hops) if is_told else QColor(theme.muted)
        self._text(place, words, font(SMALL_PX), colour, Qt.AlignmentFlag.AlignLeft)

    def _meter(self, box: Box) -> None:
        """How much of a server is used."""
        theme, rect = self._theme, box.rect
        room = QRectF(rect.x + 8, rect.bottom - (8 if rect.h >= 28 else 6), rect.w - 16, 4)
        self._painter.fillRect(room, QColor(theme.hairline))
        if box.meter is not None:
            full = QRectF(room.x(), room.y(), room.width() * min(box.meter, 1.0), 4)
            self._painter.fillRect(full, QColor(use_colour(theme, box.meter)))

    # ------------------------------------------------------------ lines

    def _line(self, line: Line) -> None:
        painter, theme = self._painter, self._theme
        path = QPainterPath(QPointF(*line.points[0]))
        points = [QPointF(*point) for point in line.points]
        width = thickness(line.load_bytes_per_s) if line.is_lit else 1.0
        colour, style = QColor(theme.line), Qt.PenStyle.SolidLine
        if line.role == "gradient":
            colour, width = QColor(theme.text), 2.0
        elif line.is_lit:
            ratio = self._ratio(line.hops)
            colour = QColor(use_colour(theme, ratio)) if line.hops else QColor(theme.use_low)
            if (line.hops and ratio is None) or line.load_bytes_per_s is None:
                style = Qt.PenStyle.DashLine
            if self._is_limit(line):
                width = max(width, 4.0)
        head = min(max(7.0, width * 1.7), math.dist(line.points[-2], line.points[-1]) - 2)
        if line.has_arrow:
            points[-1] = _shortened(points[-2], points[-1], head - 1)
        for point in points[1:]:
            path.lineTo(point)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        if line.role == "trunk" or (line.role == "gradient" and line.has_arrow):  # it goes over other lines
            painter.setPen(QPen(QColor(theme.surface), width + 4, Qt.PenStyle.SolidLine, Qt.PenCapStyle.FlatCap))
            painter.drawPath(path)
        pen = QPen(colour, width, style, Qt.PenCapStyle.FlatCap, Qt.PenJoinStyle.RoundJoin)
        if line.role == "gradient":
            pen.setDashPattern([3.0, 2.0])
        painter.setPen(pen)
        painter.drawPath(path)
        if line.has_arrow:
            _arrow(painter, points[-1], QPointF(*line.points[-1]), head, colour)

    # ------------------------------------------------------------ words on free ground

    def _label(self, label: Label) -> None:
        theme, rect, words = self._theme, qrect(label.rect), say_text(label.text)
        if label.tone == "limit":
            self._tag(rect, words, self._use((self._limit,)), label.align)
        elif _small_width(words) <= rect.width():
            colour = self._use_of_role(label.role)
            is_known = colour != QColor(theme.thin)
            self._text(rect, words, font(SMALL_PX), colour if is_known else theme.muted, _ALIGN[label.align])

    def _tag(self, room: QRectF, words: str, colour: QColor, align: str) -> None:
        painter, theme, made = self._painter, self._theme, font(SMALL_PX, bold=True)
        wide = min(QFontMetricsF(made).horizontalAdvance(words) + 34, room.width())
        left = room.center().x() - wide / 2 if align == "centre" else room.left()
        place = QRectF(round(left), round(room.center().y() - 10), wide, 20)
        painter.setPen(QPen(colour, 1.5))
        painter.setBrush(QColor(theme.surface))
        painter.drawRoundedRect(place, 4, 4)
        paint_warning(painter, QRectF(place.left() + 8, place.top() + 5, 11, 10), colour, QColor(theme.surface))
        self._text(place.adjusted(26, 0, -4, 0), words, made, theme.text, Qt.AlignmentFlag.AlignLeft)

    def _ring(self) -> None:
        """Where the focus is."""
        painter = self._painter
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(QColor(self._theme.accent), 2))
        for item in self._layout.places_of(self._strong) if self._strong else ():
            if isinstance(item, Box):
                painter.drawRoundedRect(qrect(item.rect).adjusted(-2.5, -2.5, 2.5, 2.5), 6, 6)
            else:
                xs, ys = [x for x, _ in item.points], [y for _, y in item.points]
                painter.drawRoundedRect(
                    QRectF(min(xs), min(ys), max(xs) - min(xs), max(ys) - min(ys)).adjusted(-6, 1, 6, -1), 4, 4
                )


def _small_width(words: str) -> float:
    return float(QFontMetricsF(font(SMALL_PX)).horizontalAdvance(words))


def _top_of(box: Box, high: float) -> float:
    """Where the title of a box begins: near the top, or so that its lines stand in the middle."""
    rect, lines = box.rect, high + (16 if box.second is not None else 0)
    if box.role in {"ram", "ena", "s3"} or (box.role == "peer" and rect.h < 60):
        return rect.y + (rect.h - lines) / 2
    if box.role == "server":
        return rect.y + (3 if rect.h >= 28 else 1)
    return rect.y + (4 if box.role in {"node", "cpu"} else 6)


def _shortened(start: QPointF, end: QPointF, by: float) -> QPointF:
    """A point that lies `by` before the end."""
    length = math.hypot(end.x() - start.x(), end.y() - start.y())
    share = max(1.0 - by / length, 0.0) if length else 0.0
    return QPointF(start.x() + (end.x() - start.x()) * share, start.y() + (end.y() - start.y()) * share)


def _arrow(painter: QPainter, base: QPointF, tip: QPointF, size: float, colour: QColor) -> None:
    length = math.hypot(tip.x() - base.x(), tip.y() - base.y()) or 1.0
    dx, dy = (tip.x() - base.x()) / length, (tip.y() - base.y()) / length
    back = QPointF(tip.x() - dx * size, tip.y() - dy * size)
    half = size * 0.55
    corners = [tip, QPointF(back.x() - dy * half, back.y() + dx * half), QPointF(back.x() + dy * half, back.y() - dx * half)]
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(colour)
    painter.drawPolygon(QPolygonF(corners))


def _legend(theme: Theme) -> list[tuple[str, list[tuple[str, float, str]]]]:
    """The two halves of the legend: a word, and its samples with colour, thickness and words."""
    uses = ((theme.use_low, say("under 50 %")), (theme.use_middle, say("50 to 80 %")), (theme.use_high, say("over 80 %")))
    loads = [
        (theme.thin, thickness(load), brief(load, BYTES_PER_S) if load == _LEGEND_LOADS[-1] else significant(load / 1e9))
        for load in _LEGEND_LOADS
    ]
    return [(say("use"), [(colour, 3.0, words) for colour, words in uses]), (say("load"), loads)]


def _half_width(head: str, samples: list[tuple[str, float, str]]) -> float:
    metrics = QFontMetricsF(font(SMALL_PX))
    return float(metrics.horizontalAdvance(head) + 8 + sum(metrics.horizontalAdvance(words) + 26 for _, _, words in samples))


def legend_widths(theme: Theme) -> tuple[float, float]:
    """How wide the two halves of the legend are in the language of the window."""
    use, load = (_half_width(*half) for half in _legend(theme))
    return use, load


def paint_legend(painter: QPainter, rect: QRectF, theme: Theme) -> None:
    """What colour and thickness mean: in one row where there is room, otherwise in two; to the right."""
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    metrics = QFontMetricsF(font(SMALL_PX))
    painter.setFont(font(SMALL_PX))
    widths = legend_widths(theme)
    is_one_row = sum(widths) + 8 <= rect.width()
    shrunk = min(rect.width() / max(widths), 1.0)  # where even two rows are too wide, words are cut
    x, y = rect.right() - (sum(widths) + 8 if is_one_row else max(widths) * shrunk), rect.top()
    left = x
    for (head, samples), half in zip(_legend(theme), widths, strict=True):
        painter.setPen(QColor(theme.muted))
        painter.drawText(QRectF(x, y, half, 20), Qt.AlignmentFlag.AlignLeft | _MIDDLE, head)
        at = x + metrics.horizontalAdvance(head) + 8
        for colour, width, words in samples:
            painter.setPen(QPen(QColor(colour), width, Qt.PenStyle.SolidLine, Qt.PenCapStyle.FlatCap))
            painter.drawLine(QPointF(at, y + 10.5), QPointF(at + 12, y + 10.5))
            wide = (metrics.horizontalAdvance(words) + 26) * shrunk - 26
            shown = words if shrunk == 1.0 else metrics.elidedText(words, Qt.TextElideMode.ElideRight, wide)
            painter.setPen(QColor(theme.muted))
            painter.drawText(QRectF(at + 16, y, half, 20), Qt.AlignmentFlag.AlignLeft | _MIDDLE, shown)
            at += wide + 26
        x, y = (x + half + 8, y) if is_one_row else (left, y + 20)
    painter.restore()
