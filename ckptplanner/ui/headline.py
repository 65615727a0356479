"""The headline: five cards that answer five questions, the sentence under them, and the smaller line of figures.

Every figure is a link that asks for its derivation; differences to a ghost or to the base stand beside the large figures.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QVBoxLayout, QWidget
from typing_extensions import override

from ckptplanner.engine.cards import Card, Share, cards, difference, small_line
from ckptplanner.engine.plan import Plan
from ckptplanner.engine.sentence import sentence
from ckptplanner.text import Text
from ckptplanner.ui.ink import lines_of, width_of
from ckptplanner.ui.shown import Shown
from ckptplanner.ui.theme import BODY_PX, LIGHT, SMALL_PX, Theme, font
from ckptplanner.ui.words import node_count, say, say_text

if TYPE_CHECKING:
    from ckptplanner.engine.flip_words import BreakEven

FIELD = "field:"  # before a path: a link that leads to a field and not to a derivation
_SIGNS = {"circle": "○", "square": "□", "triangle": "△", "diamond": "◇"}  # the bundled font has them
_LEAST_BAR = 6  # narrower it says nothing [px]
_LINKS = Qt.TextInteractionFlag.LinksAccessibleByMouse | Qt.TextInteractionFlag.LinksAccessibleByKeyboard


def linked(text: Text, colour: str, *, bold: bool = True) -> str:
    """A sentence as rich text in which every value is a link to the figure it is named after."""
    values: list[tuple[str, str | Text]] = []
    for name, value in text.values:
        shown = escape(say_text(value) if isinstance(value, Text) else value)
        values.append((name, shown if isinstance(value, Text) else link(name, shown, colour, bold=bold)))
    return say_text(Text(text.template, tuple(values)))


def link(figure: str, shown: str, colour: str, *, bold: bool = True) -> str:
    """One figure as a quiet link."""
    weight = "font-weight:bold;" if bold else ""
    return f'<a href="{figure}" style="color:{colour};text-decoration:none;{weight}">{shown}</a>'


class LinkLabel(QLabel):
    """Rich text whose links ask why; the text is set only when it changed."""

    why_requested = Signal(str)

    def __init__(self, role: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", role)
        self.setTextFormat(Qt.TextFormat.RichText)
        self.setTextInteractionFlags(_LINKS)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.linkActivated.connect(self.why_requested)

    def show_html(self, html: str) -> None:
        """Show rich text."""
        if html != self.text():
            self.setText(html)


class SentenceLabel(LinkLabel):
    """The sentence: as tall as it needs, and tall enough for words that are still to come."""

    def __init__(self) -> None:
        super().__init__("")
        self._awaited = ""
        self.setObjectName("sentence")
        self.setWordWrap(True)
        self.setAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop)

    def keep_room(self, words: str) -> None:
        """Keep room for these words, so that nothing below moves when they come; empty: for none."""
        if words != self._awaited:
            self._awaited = words
            self.updateGeometry()

    def fits(self, words: str) -> bool:
        """Whether words go into the room that is kept."""
        return self._lines(words, self.width()) <= self._lines(self._awaited, self.width())

    @staticmethod
    def _lines(words: str, width: int) -> int:
        return len(lines_of(words, max(width - 2, 80), 99, BODY_PX)) if words else 0

    @override
    def heightForWidth(self, width: int) -> int:
        return max(super().heightForWidth(width), self._lines(self._awaited, width) * self.fontMetrics().lineSpacing())


class Bar(QWidget):
    """How full something is: a name, a bar, a share; a click asks why."""

    why_requested = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._share: Share | None = None
        self._theme = LIGHT
        self._colour = ""
        self.setFixedHeight(17)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)

    def show_share(self, share: Share | None, theme: Theme, colour: str) -> None:
        """Show one share, or nothing."""
        self._share, self._theme, self._colour = share, theme, colour
        self.setVisible(share is not None)
        if share is not None:
            self.setAccessibleName(f"{say_text(share.name)} {share.shown}")
        self.update()

    @override
    def sizeHint(self) -> QSize:
        return QSize(160, 17)

    @override
    def mouseReleaseEvent(self, event: object) -> None:
        self._ask()

    @override
    def keyPressEvent(self, event: object) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space):  # type: ignore[attr-defined]
            self._ask()
        else:
            super().keyPressEvent(event)  # type: ignore[arg-type]

    def _ask(self) -> None:
        if self._share is not None:
            self.why_requested.emit(self._share.figure)

    def bar_room(self) -> QRectF:
        """Where the bar lies: between the name and the share, which never stand on it. [px]"""
        shown = self._share.shown if self._share is not None else ""
        words = max(width_of(shown) + 6.0, 38.0)
        return QRectF(64, self.height() / 2 - 2.5, max(self.width() - 64 - words, 0.0), 5)

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        if self._share is None:
            return
        painter, theme, share = QPainter(self), self._theme, self._share
        painter.setFont(font(SMALL_PX))
        painter.setPen(QColor(theme.muted))
        middle = Qt.AlignmentFlag.AlignVCenter
        painter.drawText(QRectF(0, 0, 64, self.height()), middle, say_text(share.name))
        is_over = share.fraction > 1.0
        room = self.bar_room()
        if room.width() >= _LEAST_BAR:
            painter.fillRect(room, QColor(theme.hairline))
            used = QRectF(room.left(), room.top(), room.width() * min(share.fraction, 1.0), room.height())
            painter.fillRect(used, QColor(theme.error if is_over else self._colour))
        painter.setPen(QColor(theme.error if is_over else theme.text))
        painter.drawText(QRectF(self.width() - 60, 0, 60, self.height()), middle | Qt.AlignmentFlag.AlignRight, share.shown)
        if self.hasFocus():
            painter.setPen(QColor(theme.accent))
            painter.drawRect(self.rect().adjusted(0, 0, -1, -1))


class CardView(QFrame):
    """One card."""

    why_requested = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "card")
        self.setMinimumWidth(136)
        box = QVBoxLayout(self)
        box.setContentsMargins(10, 7, 6, 8)
        box.setSpacing(0)
        self._title = QLabel()
        self._title.setProperty("role", "small")
        self._title.setFont(font(SMALL_PX, bold=True))
        box.addWidget(self._title)
        self._large = LinkLabel("")
        box.addWidget(self._large)
        self._lines = [LinkLabel("small") for _ in range(4)]
        self._bars = [Bar() for _ in range(4)]
        for line in (self._large, *self._lines):
            line.setWordWrap(True)
        for widget in (*self._lines, *self._bars):
            widget.setVisible(False)
            box.addWidget(widget)
        box.addStretch(1)
        for label in (self._large, *self._lines):
            label.why_requested.connect(self.why_requested)
        for bar in self._bars:
            bar.why_requested.connect(self.why_requested)

    def show_card(self, card: Card, change: str, theme: Theme, colour: str) -> None:
        """Show a card; `change` is the difference line, empty where there is nothing to compare with."""
        title = say_text(card.title)
        if title != self._title.text():
            self._title.setText(title)
        figure = (
            f'<a href="{card.figure}" style="color:{theme.text};text-decoration:none;font-size:20px">{escape(card.large)}</a>'
        )
        words = linked(card.words, theme.muted, bold=False) if card.words.template else ""
        self._large.setVisible(bool(card.large))
        self._large.show_html(f'{figure} <span style="color:{theme.muted}">{words}</span>')
        texts = ([change] if change else []) + [linked(line, theme.text) for line in card.lines]
        for label, text in zip(self._lines, [*texts, "", "", "", ""], strict=False):
            label.setVisible(bool(text))
            label.show_html(text)
        shares = [*card.shares, None, None, None, None]
        for bar, share in zip(self._bars, shares, strict=False):
            bar.show_share(share, theme, colour)


class Headline(QWidget):
    """Cards, sentence and smaller line of the current plan."""

    why_requested = Signal(str)
    field_requested = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("headline")
        self._theme = LIGHT
        box = QVBoxLayout(self)
        box.setContentsMargins(16, 8, 16, 6)
        box.setSpacing(4)
        row = QHBoxLayout()
        row.setSpacing(8)
        self._cards = [CardView() for _ in range(5)]
        for card, stretch in zip(self._cards, (19, 20, 22, 24, 14), strict=True):
            row.addWidget(card, stretch)
            card.why_requested.connect(self.why_requested)
        box.addLayout(row)
        box.addSpacing(2)
        self._sentence = SentenceLabel()
        self._plan: Plan | None = None
        self._rivals: tuple[str, ...] = ()
        self._break_even: BreakEven | None = None
        self._small = LinkLabel("small")
        self._small.setObjectName("small_line")
        self._small.setWordWrap(True)
        for label in (self._sentence, self._small):
            box.addWidget(label)
            label.why_requested.connect(self._on_link)

    def _on_link(self, goal: str) -> None:
        if goal.startswith(FIELD):
            self.field_requested.emit(goal.removeprefix(FIELD))
        else:
            self.why_requested.emit(goal)

    def show_theme(self, theme: Theme) -> None:
        """Take the colours of a theme; what is shown comes with the next plans."""
        self._theme = theme

    def show_plan(
        self, shown: Shown, basis: str, reference: Plan | None, reference_name: str, reference_index: int | None = None
    ) -> None:
        """Show a plan, and how it differs from `reference`; a scenario's index puts its mark before its name."""
        theme, plan = self._theme, shown.plan
        colour = theme.mark(shown.index).colour
        other = escape(reference_name)
        if reference_index is not None:
            mark = theme.mark(reference_index)
            other = f'<span style="color:{mark.colour};font-weight:bold">{_SIGNS[mark.shape]}</span>&nbsp;{other}'
        for view, card in zip(self._cards, cards(plan, basis), strict=True):
            change = difference(card.figure, plan, reference, basis) if reference is not None else None
            note = ""
            if change is not None and card.large:
                note = say("{change} to {name}", change=f"<b>{change}</b>", name=other)
            view.show_card(card, note, theme, colour)
        self._plan = plan
        self._show_sentence()
        gap = "&nbsp;" * 6
        self._small.show_html(gap.join(f"<span>{linked(line, theme.text)}</span>" for line in small_line(plan, basis)))

    # ------------------------------------------------------------ the sentence

    def expect_rivals(self, names: Sequence[str]) -> None:
        """Say what the plan will be compared with: the sentence will be longer then, and the room is kept."""
        self._rivals = tuple(names)

    def show_break_even(self, found: BreakEven | None) -> None:
        """Add until when the plan is the better one, or take that away."""
        if found != self._break_even:
            self._break_even = found
            self._show_sentence()

    def _show_sentence(self) -> None:
        plan, found = self._plan, self._break_even
        if plan is None:
            return
        said = sentence(plan)
        words, html = say_text(said), linked(said, self._theme.text, bold=False)
        self._sentence.keep_room(f"{words} {_usual(self._rivals)}" if self._rivals and not plan.count("error") else "")
        if found is not None and found.shorter is not None and not self._sentence.fits(f"{words} {say_text(found.sentence)}"):
            found = found.shorter
        if found is not None:
            html = f"{html} {linked_break_even(found, self._theme.text)}"
        self._sentence.show_html(html.replace("text-decoration:none", "text-decoration:underline"))

    def texts(self) -> list[str]:
        """What is written, for tests and for a screen reader."""
        return [label.text() for label in self.findChildren(LinkLabel)]


def _usual(others: Sequence[str]) -> str:
    """A break-even as long as they usually are."""
    name = max(others, key=len)
    return say(
        "It beats “{other}” while {condition}.", other=name,
        condition=say(
            "{one}, and {another}", one=say("a GPU-hour is worth more than {low}", low="$6.31"),
            another=say("{nodes} are interrupted more often than every {high}", nodes=node_count(1_024), high="566\u00a0h"),
        ),
    )  # fmt: skip


def linked_break_even(found: BreakEven, colour: str) -> str:
    """The break-even as rich text; every value leads to the field of its input."""
    condition = dict(found.sentence.values).get("condition")
    if not isinstance(condition, Text):
        return escape(say_text(found.sentence))
    parts = dict(condition.values)
    each = (parts["one"], parts["another"]) if len(found.paths) > 1 else (condition,)
    shown = [_linked_condition(one, path, colour) for one, path in zip(each, found.paths, strict=True) if isinstance(one, Text)]
    if len(shown) > 1:
        shown = [say_text(Text(condition.template, (("one", shown[0]), ("another", shown[1]))))]
    values = ((name, shown[0] if name == "condition" else _escaped(value)) for name, value in found.sentence.values)
    return say_text(Text(found.sentence.template, tuple(values)))


def _linked_condition(condition: Text, path: str, colour: str) -> str:
    values = tuple(
        (name, link(FIELD + path, _escaped(value), colour, bold=False) if name in ("low", "high") else _escaped(value))
        for name, value in condition.values
    )
    return say_text(Text(condition.template, values))


def _escaped(value: str | Text) -> str:
    return escape(say_text(value) if isinstance(value, Text) else value)
