"""A page of the Evidence view: published runs as cards in two columns, with a switch for those that compare."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QScrollArea, QVBoxLayout, QWidget
from typing_extensions import override

from ckptplanner.engine.published import Card, cards
from ckptplanner.ui.evidence.card import CardWidget, capital, source_words
from ckptplanner.ui.evidence.ratio import ratio_text
from ckptplanner.ui.scenario_bar import Switch
from ckptplanner.ui.theme import LIGHT, Theme
from ckptplanner.ui.words import say, say_text

_EDGE, _GAP = 16, 12
_TWO_FROM = 680  # narrower than this the cards stand in one column [px]
ALL, COMPARED, OTHERS = "all", "compared", "others"


class PublishedPage(QWidget):
    """Shows the cards; its switch stands in the bar of the view."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("evidence.published_page")
        self._theme = LIGHT
        self._kind = COMPARED
        self._columns = 0
        self._held = QWidget()
        self.cards = tuple(CardWidget(card, self._held) for card in cards())
        compared = sum(card.planner is not None for card in cards())
        counts = {"all": len(self.cards), "compared": compared, "others": len(self.cards) - compared}
        self.bar = Switch("evidence.kinds", (
            (COMPARED, say("Compared, {count}", count=counts[COMPARED]), say("What the planner can say something to")),
            (OTHERS, say("Not compared, {count}", count=counts[OTHERS]), say("Reported without what a comparison needs")),
            (ALL, say("All, {count}", count=counts[ALL]), say("Every published figure that was collected")),
        ))  # fmt: skip
        self.bar.chosen.connect(self.show_kind)
        self._lines = [QVBoxLayout(), QVBoxLayout()]
        self._scroll = QScrollArea()
        self._scroll.setObjectName("evidence.cards")
        self._scroll.setAccessibleName(say("Published runs"))
        self._scroll.setWidgetResizable(True)
        self._scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._place()
        self.show_kind(COMPARED)

    def _place(self) -> None:
        held = self._held
        held.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        held.setProperty("role", "surface")
        whole = QVBoxLayout(held)
        whole.setContentsMargins(_EDGE, 8, _EDGE - 8, _EDGE)  # the scroll bar is 8 px wide
        whole.setSpacing(8)
        words = QLabel(say(
            "What others reported, and what the planner says for the same inputs. The ratio is the planner's figure by theirs; "
            "what a source does not give is assumed and marked as such."
        ))  # fmt: skip
        words.setProperty("role", "muted")
        words.setWordWrap(True)
        whole.addWidget(words)
        row = QHBoxLayout()
        row.setSpacing(_GAP)
        for line in self._lines:
            line.setSpacing(_GAP)
            line.addStretch(1)
            row.addLayout(line, 1)
        whole.addLayout(row, 1)
        self._scroll.setWidget(held)
        box = QVBoxLayout(self)
        box.setContentsMargins(0, 0, 0, 0)
        box.addWidget(self._scroll)

    # ------------------------------------------------------------ what is shown

    def show_kind(self, kind: str) -> None:
        """Show all cards, those with something to compare, or the others."""
        self._kind = kind
        self.bar.show_choice(kind)
        for card in self.cards:
            card.setVisible(self._is_shown(card.card))
        self._columns = 0
        self._arrange()
        self._scroll.verticalScrollBar().setValue(0)

    def _is_shown(self, card: Card) -> bool:
        return self._kind == ALL or (card.planner is not None) == (self._kind == COMPARED)

    def _arrange(self) -> None:
        """Deal the cards out to the columns in their order; moved only when the number of columns is another."""
        columns = 2 if self.width() >= _TWO_FROM else 1
        if columns == self._columns:
            return
        self._columns = columns
        shown = [card for card in self.cards if self._is_shown(card.card)]
        for card in self.cards:  # not by takeAt: the item would live on, and the card's height would never be asked for again
            for line in self._lines:
                line.removeWidget(card)
        for index, card in enumerate(shown):
            line = self._lines[index % columns]
            line.insertWidget(line.count() - 1, card)

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()

    def show_theme(self, theme: Theme) -> None:
        """Take the colours of a theme."""
        self._theme = theme
        for card in self.cards:
            card.show_theme(theme)

    @property
    def picture(self) -> QWidget:
        """What a picture of the page shows: the cards that are seen."""
        return self._scroll.viewport()

    def texts(self) -> tuple[list[str], list[list[str]]]:
        """The cards that are shown as heads and rows, for a table."""
        heads = [
            say("Run"), say("Scale"), say("What"), say("Reported"), say("The planner says"), say("Ratio"),
            say("Why they differ"), say("Source"),
        ]  # fmt: skip
        return heads, [_row(card.card) for card in self.cards if self._is_shown(card.card)]


def _row(card: Card) -> list[str]:
    return [
        card.run,
        card.scale,
        capital(say_text(card.title)),
        say_text(card.reported),
        "" if card.planner is None else say_text(card.planner),
        ratio_text(card.ratio) if card.ratio else "",
        capital(say_text(card.why)),
        source_words(card),
    ]
