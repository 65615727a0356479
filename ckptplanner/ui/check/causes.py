"""Where the run goes: the whole run as one bar, its losses drawn large below it, and the formula's split beside them.

    [ training 99.46 % ...................................................|#]
      \\____________________________________________________________________\\
    simulated [ 0.19 % | 0.22 %              | 0.13 %     ] 0.537 %
    formula   [ 0.19 % | 0.23 %               | 0.12 %    ] 0.538 %
    # saving 0.19 %   # done again 0.22 %   # restart 0.13 %
"""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import QPointF, QRectF, QSize
from PySide6.QtGui import QColor, QMouseEvent, QPainter, QPaintEvent, QPolygonF, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget
from typing_extensions import override

from ckptplanner.ui.check.kinds import CAUSES, cause_help, cause_word, colour_of
from ckptplanner.ui.ink import mix, pen, width_of, write
from ckptplanner.ui.painted import Painted
from ckptplanner.ui.theme import BODY_PX, Theme
from ckptplanner.ui.words import say
from ckptplanner.units import FRACTION, brief

_TITLE, _WHOLE, _FAN, _BAR, _BETWEEN, _LEGEND = 22.0, 16.0, 8.0, 16.0, 4.0, 16.0  # heights, from above [px]
_MORE = 10.0  # by which each bar may be taller, where there is room [px]
_BEFORE_LEGEND, _FADED, _SWATCH, _LEAST, _APART = 6.0, 0.4, 8.0, 1.0, 16.0
Shares = Mapping[str, float]


def _luminance(colour: str) -> float:
    """Of the light that a colour gives, as the contrast of words is reckoned (WCAG 2)."""
    parts = QColor(colour)
    linear = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
        for part in (parts.redF(), parts.greenF(), parts.blueF())
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def ink_on(fill: str, theme: Theme) -> str:
    """The colour of words on a fill: whichever of text and surface stands out more."""
    ground = _luminance(fill) + 0.05

    def contrast(colour: str) -> float:
        ink = _luminance(colour) + 0.05
        return max(ink, ground) / min(ink, ground)

    return max((theme.text, theme.surface), key=contrast)


class CauseBars(Painted):
    """Draws what was simulated and what the formula says, split by cause."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("check.causes", say("Where the run goes"), parent)
        self.setMinimumWidth(280)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self._simulated: Shares = {}
        self._formula: Shares | None = None
        self._is_stale = False
        self._rooms: list[tuple[QRectF, str]] = []  # what was drawn where, for the pointer

    def show_causes(self, simulated: Shares, formula: Shares | None, *, is_stale: bool = False) -> None:
        """Draw shares of the run by cause; `formula` where the formula that decides can be split."""
        self._simulated, self._formula, self._is_stale = dict(simulated), formula, is_stale
        self.setAccessibleDescription("; ".join(self._words(name) for name in ("training", *self._lost())))
        self._take_height()
        self.update()

    def _lost(self) -> list[str]:
        """The causes of loss that occur, in their order."""
        known = self._formula or {}
        return [name for name in CAUSES[1:] if self._simulated.get(name, 0.0) > 0.0 or known.get(name, 0.0) > 0.0]

    def _words(self, name: str) -> str:
        """One cause in words, by both."""
        words, share = cause_word(name), brief(self._simulated.get(name, 0.0), FRACTION)
        if name == "training":
            return say("{cause} {share}", cause=words, share=percent_kept(self._simulated.get(name, 0.0)))
        if self._formula is None or name not in self._formula:
            return say("{cause} {share}", cause=words, share=share)
        return say("{cause} {share}, formula {other}", cause=words, share=share, other=brief(self._formula[name], FRACTION))

    # ------------------------------------------------------------ measures

    def _legend(self) -> list[tuple[str, str, QRectF]]:
        """Every loss with its words and its room, in as many lines as they need; counted from the top of the legend."""
        placed: list[tuple[str, str, QRectF]] = []
        x, y = 0.0, 0.0
        for name in self._lost():
            words = say("{cause} {share}", cause=cause_word(name), share=brief(self._simulated.get(name, 0.0), FRACTION))
            width = min(_SWATCH + 6 + width_of(words), float(self.width()))
            if x and x + width > self.width():
                x, y = 0.0, y + _LEGEND
            placed.append((name, words, QRectF(x, y, width, _LEGEND)))
            x += width + _APART
        return placed

    def _rows(self) -> int:
        return 1 if self._formula is None else 2

    def _height(self) -> int:
        legend = max((room.bottom() for _, _, room in self._legend()), default=0.0)
        bars = self._rows() * _BAR + (self._rows() - 1) * _BETWEEN
        return int(_TITLE + _WHOLE + _FAN + bars + _BEFORE_LEGEND + legend)

    @override
    def sizeHint(self) -> QSize:
        return QSize(480, self._height() + int(_MORE * (1 + self._rows())))

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        if self._simulated:
            self._take_height()

    def _take_height(self) -> None:
        """As tall as everything needs, or a little taller; set only when it is new, or layouts would go on for ever."""
        least = self._height()
        most = least + int(_MORE * (1 + self._rows()))
        if (least, most) != (self.minimumHeight(), self.maximumHeight()):
            self.setMinimumHeight(least)
            self.setMaximumHeight(most)

    @property
    def _more(self) -> float:
        """By how much each bar is taller than it must be. [px]"""
        return float(int(min(max((self.height() - self._height()) / (1 + self._rows()), 0.0), _MORE)))

    # ------------------------------------------------------------ drawing

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        if not self._simulated:
            return
        painter = QPainter(self)
        painter.setOpacity(_FADED if self._is_stale else 1.0)
        self._rooms = []
        title = QRectF(0, 0, self.width(), 20)
        write(painter, title, say("Where the run goes"), self._theme.text, pixels=BODY_PX, bold=True)
        losses = self._paint_whole(painter)
        rows = [(say("simulated"), self._simulated)]
        if self._formula is not None:
            rows.append((say("formula"), self._formula))
        names = max(width_of(name) for name, _ in rows) + 8
        totals = [sum(shares.get(name, 0.0) for name in CAUSES[1:]) for _, shares in rows]
        ends = max(width_of(brief(total, FRACTION)) for total in totals) + 8
        room = self.width() - names - ends
        more = self._more
        top, bar = _TITLE + _WHOLE + _FAN + more, _BAR + more
        self._paint_fan(painter, losses, QRectF(names, top, room * totals[0] / max([*totals, 1e-12]), bar))
        for (name, shares), total in zip(rows, totals, strict=True):
            width = room * total / max([*totals, 1e-12])
            write(painter, QRectF(0, top, names - 8, bar), name, self._theme.muted, align="right")
            self._paint_parts(painter, QRectF(names, top, width, bar), shares, total)
            write(painter, QRectF(names + width + 6, top, ends, bar), brief(total, FRACTION), self._theme.text)
            top += bar + _BETWEEN
        self._paint_legend(painter, top - _BETWEEN + _BEFORE_LEGEND)

    def _paint_whole(self, painter: QPainter) -> QRectF:
        """The whole run; returns where its losses lie."""
        theme, kept = self._theme, self._simulated.get("training", 0.0)
        whole = QRectF(0, _TITLE, self.width(), _WHOLE - 2 + self._more)
        split = min(whole.width() * kept, whole.width() - 2.0)
        training = QRectF(whole.left(), whole.top(), split - _LEAST, whole.height())
        colour = colour_of("training", theme)
        painter.fillRect(training, QColor(colour))
        words = say("{cause} {share}", cause=cause_word("training"), share=percent_kept(kept))
        write(painter, training.adjusted(6, 0, -6, 0), words, ink_on(colour, theme))
        self._rooms.append((training, "training"))
        losses = QRectF(split, whole.top(), whole.width() - split, whole.height())
        self._paint_parts(painter, losses, self._simulated, max(1.0 - kept, 1e-12), has_words=False)
        return losses

    def _paint_fan(self, painter: QPainter, losses: QRectF, bar: QRectF) -> None:
        """The losses at the end of the run are those drawn large below."""
        fan = QPolygonF([losses.bottomLeft(), losses.bottomRight(), QPointF(bar.right(), bar.top()), bar.topLeft()])
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(pen(mix(self._theme.line, self._theme.surface, 0.6)))
        painter.setBrush(QColor(self._theme.band))
        painter.drawPolygon(fan)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)

    def _paint_parts(self, painter: QPainter, bar: QRectF, shares: Shares, total: float, *, has_words: bool = True) -> None:
        """One stacked bar of the losses, with shares where there is room."""
        left = bar.left()
        names = [name for name in CAUSES[1:] if shares.get(name, 0.0) > 0.0]
        for name in names:
            width = bar.width() * shares[name] / total
            part = QRectF(left, bar.top(), max(width - (_LEAST if has_words else 0.0), 0.5), bar.height())
            colour = colour_of(name, self._theme)
            painter.fillRect(part, QColor(colour))
            words = brief(shares[name], FRACTION)
            if has_words and width_of(words) + 8 <= part.width():
                write(painter, part.adjusted(4, 0, -4, 0), words, ink_on(colour, self._theme))
            self._rooms.append((part.adjusted(-1, -2, 1, 2), name))
            left += width

    def _paint_legend(self, painter: QPainter, top: float) -> None:
        for name, words, place in self._legend():
            room = place.translated(0.0, top)
            painter.fillRect(QRectF(room.left(), room.top() + 4, _SWATCH, _SWATCH), QColor(colour_of(name, self._theme)))
            write(painter, room.adjusted(_SWATCH + 6, 0, 1, 0), words, self._theme.text)
            self._rooms.append((room, name))

    # ------------------------------------------------------------ hands

    def words_at(self, place: QPointF) -> str:
        """The cause at a place, in words."""
        name = next((name for room, name in self._rooms if room.contains(place)), "")
        return f"{self._words(name)}. {cause_help(name)}." if name else ""

    def texts(self) -> list[list[str]]:
        """The split as a table."""
        rows = [[say("Part of the run"), say("Simulated"), say("Formula")]]
        for name in CAUSES:
            other = "" if self._formula is None or name not in self._formula else brief(self._formula[name], FRACTION, 6)
            rows.append([cause_word(name), brief(self._simulated.get(name, 0.0), FRACTION, 6), other])
        return rows

    @override
    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self.hovered.emit(self.words_at(event.position()))

    @override
    def tip_at(self, place: QPointF) -> str:
        return self.words_at(place)


def percent_kept(fraction: float) -> str:
    """What is kept, as exact as what is lost: 99.46 %, never 99.5 % beside a loss of 0.54 %."""
    lost = 1.0 - fraction
    digits = 2 if lost >= 0.0005 else 4
    return f"{fraction * 100:.{digits}f}\u00a0%"
