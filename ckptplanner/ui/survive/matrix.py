"""What survives which event, tier by tier, and from which of them training restarts. A head chooses its event."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QEvent, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QHelpEvent, QKeyEvent, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QToolTip, QWidget
from typing_extensions import override

from ckptplanner.engine.node_plan import EVENTS, Event, TierState
from ckptplanner.ui.ink import box, cross, dash, lines_of, pen, tick, width_of, write
from ckptplanner.ui.survive.case import Case, head_words
from ckptplanner.ui.theme import BODY_PX, LIGHT, SMALL_PX, Theme
from ckptplanner.ui.words import say, say_text
from ckptplanner.units import SECONDS, brief, rough

TALLEST = 288
_HEAD, _LOW_HEAD, _ROW, _LEAST_ROW, _TWO_LINES = 40.0, 30.0, 48.0, 18.0, 32.0
_PILL_H, _COLUMN = 20.0, 88.0


@dataclass(frozen=True, slots=True)
class Places:
    """Where rows and columns of the matrix lie."""

    room: QRectF
    label_w: float
    column_w: float
    row_h: float
    head_h: float

    def column(self, index: int) -> QRectF:
        """A column with its head."""
        left = self.room.left() + self.label_w + index * self.column_w
        return QRectF(left, self.room.top(), self.column_w, self.head_h + len(_ROWS) * self.row_h)

    def frame(self, index: int) -> QRectF:
        """The frame round a column, as wide as it where columns are narrow."""
        inset = 2.0 if self.column_w >= 48 else 0.0
        return self.column(index).adjusted(inset, 0.0, -inset, 0.0)

    def row(self, index: int) -> QRectF:
        """A row over its whole width."""
        return QRectF(self.room.left(), self.room.top() + self.head_h + index * self.row_h,
                      self.label_w + len(EVENTS) * self.column_w, self.row_h)  # fmt: skip

    def cell(self, row: int, column: int) -> QRectF:
        """One cell."""
        return self.row(row).intersected(self.column(column))

    def column_at(self, x: float, y: float) -> int | None:
        """The column at a point."""
        return next((index for index in range(len(EVENTS)) if self.column(index).contains(QPointF(x, y))), None)


_ROWS = range(5)
_LEAST_PX = 9


def fit(room: QRectF, case: Case) -> Places:
    """Rows and columns for that room; the labels take what they need, up to a share of it."""
    head_h = _HEAD if room.height() >= _HEAD + 2 + len(_ROWS) * (_LEAST_ROW + 2) else _LOW_HEAD
    row_h = min(max(float(int((room.height() - head_h - 2) / len(_ROWS))), _LEAST_ROW), _ROW)
    needed = max(_label_width(state, has_two_lines=row_h >= _TWO_LINES) for state in case.tiers) + 10
    label_w = min(needed, max(room.width() * 0.34, room.width() - _COLUMN * len(EVENTS)))
    column_w = min(float(int((room.width() - label_w) / len(EVENTS))), _COLUMN)
    return Places(room, room.width() - column_w * len(EVENTS) if column_w < _COLUMN else label_w, column_w, row_h, head_h)


def _label_width(state: TierState, *, has_two_lines: bool) -> float:
    name, (words, is_guess) = width_of(say_text(state.title), BODY_PX), read_words(state)
    if not has_two_lines:
        return name + 8 + width_of(short_words(state))
    return max(name, width_of(words) + (4 + width_of(say("guess")) if is_guess else 0))


def short_words(state: TierState) -> str:
    """The time alone, or nothing where there is none."""
    return rough(state.read_s, SECONDS) if state.read_s is not None and state.is_used else ""


def read_words(state: TierState) -> tuple[str, bool]:
    """How long reading from a tier takes, and whether that is a guess."""
    if not state.is_used:
        return (say_text(state.why_not) if state.why_not is not None else say("not set"), False)
    if state.read_s is None:
        return (say("read time not known"), False)
    if state.read_s < 1.0:
        return (say("read in less than 1 s"), state.is_read_guess)
    time = brief(state.read_s, SECONDS, 2)
    return (say("read in about {time}", time=time) if state.is_read_guess else say("read in {time}", time=time),
            state.is_read_guess)  # fmt: skip


def is_source(case: Case, row: int, column: int) -> bool:
    """Whether training restarts from this tier after this event; the chosen one as it is, the others by their example."""
    source = case.survival.source if EVENTS[column] == case.event else case.sources[column]
    return source is not None and source == case.tiers[row].tier


def is_base_source(case: Case, row: int, column: int) -> bool:
    """Whether the plan that is compared with restarts from here and this one does not."""
    base = case.base
    if base is None or is_source(case, row, column):
        return False
    source = base.survival.source if EVENTS[column] == case.event else base.sources[column]
    return source is not None and source == case.tiers[row].tier


def has_survived(case: Case, row: int, column: int) -> bool:
    """Whether a checkpoint of this tier is left."""
    return is_source(case, row, column) or case.tiers[row].survives[column]


def paint_matrix(painter: QPainter, room: QRectF, case: Case, theme: Theme) -> None:
    """Draw the matrix into a rectangle."""
    places = fit(room, case)
    chosen = EVENTS.index(case.event)
    frame = places.frame(chosen)
    box(painter, frame, theme.accent_ground, theme.accent, radius=4.0)
    for column, words in enumerate(head_words(case)):
        head = places.column(column)
        head.setHeight(places.head_h)
        _paint_head(painter, head, words, theme, is_chosen=column == chosen)
    for row, state in enumerate(case.tiers):
        _paint_label(painter, places.row(row), places.label_w - 8, state, theme)
        line = places.row(row)
        for left, right in ((line.left(), frame.left()), (frame.right(), line.right())):
            painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
            painter.setPen(pen(theme.hairline))
            painter.drawLine(QPointF(left, line.top()), QPointF(right, line.top()))
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for column in range(len(EVENTS)):
            _paint_cell(painter, places.cell(row, column), case, row, column, theme)


def _paint_head(painter: QPainter, head: QRectF, words: str, theme: Theme, *, is_chosen: bool) -> None:
    widest, most = head.width() + (0 if is_chosen else 3), 3 if head.height() >= _HEAD else 2
    width, parts = head.width() - (10 if head.width() >= 54 else 5), words.split(" ")
    is_bold = is_chosen and all(width_of(part, bold=True) <= head.width() - 6 for part in parts)
    pixels, lines = SMALL_PX, [words]
    for pixels in range(SMALL_PX, _LEAST_PX - 1, -1):  # smaller on narrow paper, where a word would be broken
        lines = lines_of(words, width, most, pixels, bold=is_bold, widest=widest)
        if len(lines) <= 2 and all(width_of(part, pixels, bold=is_bold) <= head.width() for part in parts):
            break
    for index, line in enumerate(lines):
        room = QRectF(head.left() - 2, head.bottom() - 3 - 12 * (len(lines) - index), head.width() + 4, 12)
        colour = theme.text if is_chosen else theme.muted
        write(painter, room, line, colour, pixels=pixels, bold=is_bold, align="middle")


def _paint_label(painter: QPainter, row: QRectF, width: float, state: TierState, theme: Theme) -> None:
    name, (words, is_guess) = say_text(state.title), read_words(state)
    colour = theme.text if state.is_used else theme.muted
    if row.height() >= _TWO_LINES:
        top = row.center().y() - 17
        write(painter, QRectF(row.left(), top, width, 18), name, colour, pixels=BODY_PX)
        _paint_read(painter, QRectF(row.left(), top + 17, width, 16), words, is_guess, theme)
        return
    room = QRectF(row.left(), row.top(), width, row.height())
    used = write(painter, room, name, colour, pixels=BODY_PX)
    write(
        painter, room.adjusted(used + 8, 0, 0, 0), short_words(state), theme.warning if is_guess else theme.muted, align="right"
    )


def _paint_read(painter: QPainter, room: QRectF, words: str, is_guess: bool, theme: Theme) -> None:
    used = write(painter, room, words, theme.muted)
    if is_guess:
        write(painter, room.adjusted(used + 4, 0, 0, 0), say("guess"), theme.warning)


def _paint_cell(painter: QPainter, cell: QRectF, case: Case, row: int, column: int, theme: Theme) -> None:
    x, y = cell.center().x(), cell.center().y() + 0.5
    if case.base is not None and is_base_source(case, row, column):
        mark = theme.mark(case.base.index).colour
        box(painter, _pill(cell), "", mark, radius=_pill(cell).height() / 2)
    if not case.tiers[row].is_used:
        dash(painter, x, y, theme.disabled_text)
    elif is_source(case, row, column):
        box(painter, _pill(cell), theme.accent, "", radius=_pill(cell).height() / 2)
        tick(painter, x, y, theme.accent_text, 1.75)
    elif has_survived(case, row, column):
        tick(painter, x, y, theme.text)
    else:
        cross(painter, x, y, theme.disabled_text, 1.25)


def _pill(cell: QRectF) -> QRectF:
    wide, tall = min(cell.width() - 12, 44.0), min(_PILL_H, cell.height() - 4)
    return QRectF(round(cell.center().x() - wide / 2), round(cell.center().y() + 0.5 - tall / 2), wide, tall)


def cell_words(case: Case, row: int, column: int) -> str:
    """A cell in words, for the table and the tooltip."""
    if not case.tiers[row].is_used:
        return say("not used")
    if is_source(case, row, column):
        return say("restarts from here")
    return say("survives") if has_survived(case, row, column) else say("lost")


def table_of(case: Case) -> tuple[list[str], list[list[str]]]:
    """The matrix as heads and rows of words."""
    heads = [say("Tier"), say("Read time"), *head_words(case)]
    rows = []
    for row, state in enumerate(case.tiers):
        words, is_guess = read_words(state)
        read = say("{words}, guess", words=words) if is_guess else words
        rows.append([say_text(state.title), read, *(cell_words(case, row, column) for column in range(len(EVENTS)))])
    return heads, rows


class TierMatrix(QWidget):
    """The matrix in the window: heads can be clicked, Left and Right go from event to event."""

    event_chosen = Signal(str)
    hovered = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("survive.matrix")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.setMinimumSize(420, int(_LOW_HEAD + 5 * _LEAST_ROW + 4))
        self._theme = LIGHT
        self._case: Case | None = None
        self._over: int | None = None

    def show_theme(self, theme: Theme) -> None:
        """Take the colours of a theme."""
        self._theme = theme
        self.update()

    def show_case(self, case: Case | None) -> None:
        """Draw this case."""
        self._case = case
        if case is not None:
            heads, rows = table_of(case)
            column = EVENTS.index(case.event)
            said = "; ".join(f"{row[0]}: {row[2 + column]}" for row in rows)
            self.setAccessibleName(say("What survives which event"))
            self.setAccessibleDescription(say("{event}. {tiers}", event=heads[2 + column], tiers=said))
        self.update()

    def places(self) -> Places:
        """Where rows and columns are."""
        assert self._case is not None
        return fit(QRectF(self.rect()).adjusted(0, 1, -1, -1), self._case)

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        if self._case is None:
            return
        painter, theme, places = QPainter(self), self._theme, self.places()
        if self._over is not None and EVENTS[self._over] != self._case.event:
            box(painter, places.frame(self._over), theme.hover, theme.hairline, radius=4.0)
        paint_matrix(painter, places.room, self._case, theme)
        if self.hasFocus():
            column = places.column(EVENTS.index(self._case.event))
            box(painter, column.adjusted(1, -1, -1, 1), "", theme.accent, radius=5.0, width=2.0)

    @override
    def mousePressEvent(self, event: QMouseEvent) -> None:
        column = self._column_at(event)
        if column is not None and event.button() == Qt.MouseButton.LeftButton:
            self.event_chosen.emit(EVENTS[column])

    @override
    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self._point_at(self._column_at(event))

    def _column_at(self, event: QMouseEvent) -> int | None:
        return None if self._case is None else self.places().column_at(event.position().x(), event.position().y())

    @override
    def leaveEvent(self, event: QEvent) -> None:
        self._point_at(None)

    def _point_at(self, column: int | None) -> None:
        if column != self._over:
            self._over = column
            self.setCursor(Qt.CursorShape.ArrowCursor if column is None else Qt.CursorShape.PointingHandCursor)
            self.update()

    @override
    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip and self._case is not None:
            QToolTip.showText(event.globalPos(), self._tip(event.pos().x(), event.pos().y()), self)
            return True
        return super().event(event)

    def _tip(self, x: float, y: float) -> str:
        assert self._case is not None
        places, heads = self.places(), head_words(self._case)
        for row, state in enumerate(self._case.tiers):
            if not places.row(row).contains(QPointF(x, y)):
                continue
            column = places.column_at(x, y)
            if column is None:
                words, is_guess = read_words(state)
                return f"{say_text(state.title)}: {words}{', ' + say('guess') if is_guess else ''}"
            words = f"{say_text(state.title)}, {heads[column]}: {cell_words(self._case, row, column)}"
            if self._case.base is not None and is_base_source(self._case, row, column):
                words += "; " + say("{name} restarts from here", name=self._case.base.name)
            return words
        column = places.column_at(x, y)
        return "" if column is None else heads[column]

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        move = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}.get(Qt.Key(event.key()), 0)
        if not move or self._case is None:
            super().keyPressEvent(event)
            return
        at = EVENTS.index(self._case.event) + move
        if 0 <= at < len(EVENTS):
            chosen: Event = EVENTS[at]
            self.event_chosen.emit(chosen)
