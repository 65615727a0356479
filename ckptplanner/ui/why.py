"""Why this number? A card over the window: formula, numbers put in, where they come from, what would change it.

    +----------------------------------------+
    | <  Needed write throughput           x |    CardPopup: title, back and close, a body that scrolls
    |########################################|
    |  W = S / t_w                           |    WhyPopup: the rest
    |  1,742.3 GB / 300 s = 5.81 GB/s        |
    |########################################|
    |  S    One checkpoint  1.742 TB  article|    a dotted value leads to a field or to another derivation
    |  What would change it                  |
    |  10 min to write      2.90 GB/s   -50 %|
    +----------------------------------------+

The popup computes nothing: a value that leads to another figure asks for it by `figure_requested`, and whoever knows the
scenario answers with `show_derivation`; the one before can be gone back to.
"""

from __future__ import annotations

import html
import re

from PySide6.QtCore import QPoint, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QHideEvent, QKeyEvent, QPainter, QPaintEvent, QPalette, QPen
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)
from typing_extensions import override

from ckptplanner.engine.derivation.changes import Change
from ckptplanner.engine.derivation.derive import Derivation, Input
from ckptplanner.ui.theme import EDGE, GRID, font
from ckptplanner.ui.widgets.field_row import source_word
from ckptplanner.ui.words import say, say_text

WIDTH = 420
# Qt draws what stands above or below the line at two thirds of its size: 10 px of 15
_SCRIPTS = "<style>sub, sup { font-size: 15px; }</style>"
_LEAST_HEIGHT, _TALLEST = 120, 1000
_SCROLL_BAR, _BORDER, _RADIUS = 8, 1, 6
_FEW_CHANGES = 8
_SYMBOL_WIDTH, _TITLE_WIDTH = 28, 124
_LABEL_WIDTH = _SYMBOL_WIDTH + _TITLE_WIDTH + 2 * GRID


def rich(formula: str) -> str:
    """A formula as rich text: t_w with its index below the line, e^(...) and p^3 with their exponents above."""
    shown = html.escape(formula, quote=False)
    while (start := shown.find("^(")) >= 0:
        end = _closing(shown, start + 1)
        shown = f"{shown[:start]}<sup>{shown[start + 2 : end]}</sup>{shown[end + 1 :]}"
    shown = re.sub(r"\^(\d+)", r"<sup>\1</sup>", shown)
    return re.sub(r"([A-Za-zησ])_([A-Za-z0-9]+)", r"\1<sub>\2</sub>", shown)


def _closing(text: str, start: int) -> int:
    """Where the parenthesis that opens at `start` closes."""
    depth = 0
    for index in range(start, len(text)):
        depth += (text[index] == "(") - (text[index] == ")")
        if depth == 0:
            return index
    return len(text)


def words(text: str, role: str = "", *, is_rich: bool = False) -> QLabel:
    """A label that wraps and whose text can be selected."""
    label = QLabel(_SCRIPTS + text if is_rich and re.search("<su[bp]>", text) else text)
    label.setTextFormat(Qt.TextFormat.RichText if is_rich else Qt.TextFormat.PlainText)
    label.setWordWrap(True)
    label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    label.setAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop)
    if role:
        label.setProperty("role", role)
    return label


def aside(text: str) -> QLabel:
    """Small print at the right end of a row."""
    label = QLabel(text)
    label.setProperty("role", "small")
    label.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignTop)
    label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    return label


def hairline() -> QFrame:
    """A line across the card, one pixel high."""
    line = QFrame()
    line.setFixedHeight(1)
    line.setBackgroundRole(QPalette.ColorRole.Midlight)
    line.setAutoFillBackground(True)
    return line


class Link(QAbstractButton):
    """A value that leads somewhere: underlined with dots, reached by Tab, followed by click, Space or Enter."""

    def __init__(self, text: str, goal: str, hint: str) -> None:
        """Show `text`; `goal` is the field path or figure that it leads to, and its name for tests."""
        super().__init__()
        self.setText(text)
        self.setObjectName(goal)
        self.setToolTip(hint)
        self.setAccessibleName(f"{text}: {hint}")
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setFont(font())

    @override
    def sizeHint(self) -> QSize:
        metrics = self.fontMetrics()
        return QSize(metrics.horizontalAdvance(self.text()), metrics.height() + 1)

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.click()
        else:
            super().keyPressEvent(event)

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        palette, painter = QApplication.palette(), QPainter(self)
        is_lit = self.hasFocus() or self.underMouse()
        colour: QColor = palette.color(QPalette.ColorRole.Accent if is_lit else QPalette.ColorRole.WindowText)
        painter.setPen(colour)
        metrics = self.fontMetrics()
        painter.drawText(0, metrics.ascent(), self.text())
        pen = QPen(colour, 1)
        if not self.hasFocus():
            pen.setDashPattern([1, 2])
        painter.setPen(pen)
        below = metrics.ascent() + 3
        painter.drawLine(0, below, metrics.horizontalAdvance(self.text()), below)


class _Sign(QAbstractButton):
    """The cross that closes or the arrow that goes back, drawn in the colour of second text."""

    def __init__(self, name: str, strokes: tuple[tuple[int, int, int, int], ...]) -> None:
        super().__init__()
        self._strokes = strokes
        self.setObjectName(name)
        self.setFixedSize(16, 16)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        palette, painter = QApplication.palette(), QPainter(self)
        is_lit = self.hasFocus() or self.underMouse()
        role = QPalette.ColorRole.Accent if is_lit else QPalette.ColorRole.PlaceholderText
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(palette.color(role), 1.25))
        for stroke in self._strokes:
            painter.drawLine(*stroke)


class CardPopup(QFrame):
    """A card that floats over the window: closes on Escape, on its cross and on a click outside; the focus returns."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent, Qt.WindowType.Popup | Qt.WindowType.FramelessWindowHint)
        self.setAttribute(Qt.WidgetAttribute.WA_TranslucentBackground)
        self.setFixedWidth(WIDTH)
        self._came_from: QWidget | None = None
        self._most = _TALLEST
        self._area = QRect()
        self.title = words("", "title")
        self._back = _Sign("back", ((3, 8, 13, 8), (3, 8, 7, 4), (3, 8, 7, 12)))
        self._close = _Sign("close", ((4, 4, 12, 12), (12, 4, 4, 12)))
        self._scroll = QScrollArea()
        self._scroll.setFrameShape(QFrame.Shape.NoFrame)
        self._scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._scroll.viewport().setAutoFillBackground(False)
        self._body = QWidget()
        self._lay_out()
        self._close.clicked.connect(self.close)
        self._back.clicked.connect(self.go_back)
        self._back.hide()

    def _lay_out(self) -> None:
        head = QHBoxLayout()
        head.setContentsMargins(EDGE, EDGE - 2, EDGE, EDGE - 2)
        head.setSpacing(2 * GRID)
        head.addWidget(self._back, 0, Qt.AlignmentFlag.AlignTop)
        head.addWidget(self.title, 1)
        head.addWidget(self._close, 0, Qt.AlignmentFlag.AlignTop)
        self._head = QWidget()
        self._head.setLayout(head)
        column = QVBoxLayout(self)
        column.setContentsMargins(_BORDER, _BORDER, _BORDER, _BORDER)
        column.setSpacing(0)
        column.addWidget(self._head)
        column.addWidget(self._scroll, 1)

    def go_back(self) -> None:
        """What the arrow does; a card without a past does nothing."""

    def show_body(self, body: QVBoxLayout) -> None:
        """Put a new body into the card and take its height."""
        self._close.setToolTip(say("Close"))
        self._close.setAccessibleName(say("Close"))
        self._back.setToolTip(say("Back"))
        self._back.setAccessibleName(say("Back"))
        self._body = QWidget()
        self._body.setLayout(body)
        self._scroll.setWidget(self._body)
        self._body.setAutoFillBackground(False)
        for part in self._body.findChildren(QWidget):
            part.ensurePolished()  # a style sheet's sizes count only from then on
        self._fit(self._most)
        if self.isVisible():
            self._stay_within(self.pos())

    def open_by(self, anchor: QWidget) -> None:
        """Open below `anchor`, within its window: above it where there is more room, never taller than the window."""
        self._came_from = QApplication.focusWidget() or anchor
        window = anchor.window()
        self._area = QRect(window.mapToGlobal(QPoint(0, 0)), window.size())
        self._most = self._area.height() - 2 * EDGE
        self._fit(self._most)
        self._stay_within(anchor.mapToGlobal(QPoint(0, anchor.height() + GRID)))
        self.show()
        self.setFocus(Qt.FocusReason.PopupFocusReason)

    def _stay_within(self, wanted: QPoint) -> None:
        """Stand at `wanted`, or as near to it as the window allows."""
        area = self._area
        left = max(area.left() + GRID, min(wanted.x(), area.right() - self.width() - GRID))
        top = max(area.top() + EDGE, min(wanted.y(), area.bottom() - EDGE - self.height()))
        self.move(left, top)

    def _fit(self, most: int) -> None:
        """Take the height of head and body, at most `most`; the body gives way to a scroll bar where it is cut."""
        most = max(most, _LEAST_HEIGHT)
        edges = 2 * _BORDER + self._head.heightForWidth(WIDTH - 2 * _BORDER)
        body = self._body_height(WIDTH - 2 * _BORDER)
        if edges + body > most:
            body = self._body_height(WIDTH - 2 * _BORDER - _SCROLL_BAR)
        self.setFixedHeight(min(edges + body, most))

    def _body_height(self, width: int) -> int:
        self._body.setFixedWidth(width)
        layout = self._body.layout()
        height = layout.totalHeightForWidth(width) if layout is not None else 0
        self._body.setFixedHeight(height)
        return height

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Escape closes; the arrow keys walk through what can be followed, as Tab does."""
        if event.key() == Qt.Key.Key_Escape:
            self.close()
        elif event.key() in (Qt.Key.Key_Down, Qt.Key.Key_Up):
            self.focusNextPrevChild(event.key() == Qt.Key.Key_Down)
        else:
            super().keyPressEvent(event)

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the ground: a window with round corners is see-through and takes none from a style sheet."""
        palette, painter = QApplication.palette(), QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(palette.color(QPalette.ColorRole.Dark))
        painter.setBrush(palette.color(QPalette.ColorRole.Base))
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), _RADIUS, _RADIUS)

    @override
    def hideEvent(self, event: QHideEvent) -> None:
        """Give the focus back, unless a field is about to take it."""
        super().hideEvent(event)
        came_from, self._came_from = self._came_from, None
        if came_from is not None:
            came_from.setFocus(Qt.FocusReason.PopupFocusReason)


class WhyPopup(CardPopup):
    """The derivation of a figure."""

    field_requested = Signal(str)
    figure_requested = Signal(str)
    source_requested = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._shown: Derivation | None = None
        self._past: list[Derivation] = []
        self._is_following = False
        self._is_whole = False

    def show_derivation(self, derivation: Derivation) -> None:
        """Show a derivation; one that answers `figure_requested` keeps the way back."""
        if self._is_following and self._shown is not None:
            self._past.append(self._shown)
        else:
            self._past.clear()
        self._is_following = False
        self._show(derivation)

    @override
    def go_back(self) -> None:
        """Show the derivation before this one."""
        if self._past:
            self._show(self._past.pop())

    def _show(self, derivation: Derivation, *, is_whole: bool = False) -> None:
        self._shown, self._is_whole = derivation, is_whole
        self.title.setText(say_text(derivation.title))
        self._back.setVisible(bool(self._past))
        body = QVBoxLayout()
        body.setContentsMargins(0, 0, 0, EDGE)
        body.setSpacing(2 * GRID)
        body.addWidget(_formula_block(derivation))
        body.addLayout(self._inputs(derivation.inputs))
        if derivation.changes:
            body.addWidget(hairline())
            body.addLayout(self._changes(derivation.changes))
        body.addWidget(hairline())
        body.addLayout(_foot(derivation))
        self.show_body(body)
        if self.isVisible():
            self.setFocus(Qt.FocusReason.PopupFocusReason)

    def _inputs(self, inputs: tuple[Input, ...]) -> QGridLayout:
        grid = QGridLayout()
        grid.setContentsMargins(EDGE, 0, EDGE, 0)
        grid.setHorizontalSpacing(2 * GRID)
        grid.setVerticalSpacing(2)
        grid.setColumnMinimumWidth(0, _SYMBOL_WIDTH)
        grid.setColumnStretch(2, 1)
        for row, one in enumerate(inputs):
            title = words(say_text(one.title), "muted")
            title.setFixedWidth(_TITLE_WIDTH)
            grid.addWidget(words(rich(one.symbol), "muted", is_rich=True), row, 0)
            grid.addWidget(title, row, 1)
            grid.addLayout(self._value(one), row, 2)
            grid.addWidget(self._source(one), row, 3, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignTop)
        return grid

    def _value(self, one: Input) -> QHBoxLayout:
        """The value, as a link where it leads somewhere, and its remark."""
        line = QHBoxLayout()
        line.setSpacing(0)
        value = say_text(one.value)
        remark = say(", {remark}", remark=say_text(one.remark)) if one.remark else ""
        goal = one.figure or one.path
        if goal is None:
            line.addWidget(words(value + remark), 1)
            return line
        link = Link(value, goal, say("Why this number?") if one.figure else say("Go to the field"))
        link.clicked.connect(lambda: self._follow(one))
        line.addWidget(link, 0, Qt.AlignmentFlag.AlignTop)
        line.addWidget(words(remark), 1)
        return line

    def _source(self, one: Input) -> QWidget:
        if one.path is None:
            return aside(source_word(one.kind))
        button = QPushButton(source_word(one.kind))
        button.setProperty("role", "source")
        button.setProperty("kind", one.kind)
        button.setObjectName(f"source:{one.path}")
        button.setCursor(Qt.CursorShape.PointingHandCursor)
        button.setAccessibleName(say("Source of {field}", field=say_text(one.title)))
        button.clicked.connect(lambda: self._ask_source(one.path or ""))
        return button

    def _changes(self, changes: tuple[Change, ...]) -> QGridLayout:
        """The first changes, all of them once "more" was clicked."""
        grid = QGridLayout()
        grid.setContentsMargins(EDGE, 0, EDGE, 0)
        grid.setHorizontalSpacing(2 * GRID)
        grid.setVerticalSpacing(2)
        grid.setColumnStretch(1, 1)
        grid.addWidget(words(say("What would change it"), "small"), 0, 0, 1, 3)
        few = changes if self._is_whole or len(changes) <= _FEW_CHANGES + 1 else changes[:_FEW_CHANGES]
        for row, change in enumerate(few, start=1):
            label = words(say_text(change.label), "muted")
            label.setFixedWidth(_LABEL_WIDTH)
            grid.addWidget(label, row, 0)
            grid.addWidget(words(say_text(change.value)), row, 1)
            grid.addWidget(aside(say_text(change.difference)), row, 2)
        if len(few) < len(changes):
            more = QPushButton(say("{count} more", count=len(changes) - len(few)))
            more.setObjectName("more")
            more.setProperty("role", "link")
            more.setCursor(Qt.CursorShape.PointingHandCursor)
            more.clicked.connect(self._show_whole)
            grid.addWidget(more, len(few) + 1, 0, Qt.AlignmentFlag.AlignLeft)
        return grid

    def _show_whole(self) -> None:
        if self._shown is not None:
            self._show(self._shown, is_whole=True)

    def _follow(self, one: Input) -> None:
        """Another figure opens in the same card; a field closes it, and the focus goes there."""
        if one.figure is not None:
            self._is_following = True
            self.figure_requested.emit(one.figure)
            self._is_following = False
            return
        self._came_from = None
        self.close()
        self.field_requested.emit(one.path)

    def _ask_source(self, path: str) -> None:
        self._came_from = None
        self.close()
        self.source_requested.emit(path)


def _formula_block(derivation: Derivation) -> QWidget:
    """The formula and below it the same with numbers, the result in bold; or what is missing."""
    block = QFrame()
    block.setBackgroundRole(QPalette.ColorRole.AlternateBase)
    block.setAutoFillBackground(True)
    column = QVBoxLayout(block)
    column.setContentsMargins(EDGE, 2 * GRID, EDGE, 2 * GRID)
    column.setSpacing(2)
    formula = words(rich(derivation.formula), "muted", is_rich=True)
    formula.setObjectName("formula")
    column.addWidget(formula)
    if derivation.missing is not None:
        numbers = words(say_text(derivation.missing), "warning")
    else:
        left = rich(derivation.substituted.removesuffix(derivation.result))
        numbers = words(f"{left}<b>{html.escape(derivation.result)}</b>", is_rich=True)
    numbers.setObjectName("substituted")
    column.addWidget(numbers)
    return block


def _foot(derivation: Derivation) -> QVBoxLayout:
    column = QVBoxLayout()
    column.setContentsMargins(EDGE, 0, EDGE, 0)
    column.setSpacing(2)
    column.addWidget(words(say_text(derivation.valid), "small"))
    column.addWidget(words(say_text(derivation.source), "small"))
    return column
