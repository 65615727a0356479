"""The page "Best plan": the goal as a person says it, the winner large, and beside it the plans that it beats."""

from __future__ import annotations

import math

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QScrollArea, QVBoxLayout, QWidget
from typing_extensions import override

from ckptplanner.engine.cards import basis_words
from ckptplanner.engine.cost import Basis
from ckptplanner.engine.families import FAMILY_NAMES, Ask
from ckptplanner.engine.optimise import NoPlan, Proposal
from ckptplanner.frozen import value_at
from ckptplanner.ui.decide.entries import entries_of, key_of
from ckptplanner.ui.decide.finder import Finder, Found
from ckptplanner.ui.decide.plan_card import PlanCard
from ckptplanner.ui.decide.plan_rows import Entry, PlanRows
from ckptplanner.ui.decide.plan_words import money, rework_words, waste_exactly
from ckptplanner.ui.decide.price_rows import Price, PriceRows
from ckptplanner.ui.decide.search_page import SearchPage
from ckptplanner.ui.ink import width_of, write
from ckptplanner.ui.lines import Sentence
from ckptplanner.ui.plan_view import lead_into
from ckptplanner.ui.shown import Shown, current_of
from ckptplanner.ui.theme import LIGHT, Theme
from ckptplanner.ui.words import say, say_text
from ckptplanner.units import FRACTION, MINUTE, SECONDS, USD_PER_MONTH, brief, rough

VALUE_PATH = "prices.gpu_value_usd_per_h"
_CARD_SHARE, _CARD_LEAST, _CARD_MOST = 0.3, 300, 460
_MOST_LIST = 1160  # beyond that a name and its figures are too far apart
LIMIT_UNITS = {"storage_usd_per_month": USD_PER_MONTH, "waste_fraction": FRACTION, "worst_rework_s": SECONDS}


def loosened(name: str, least: float) -> float:
    """A limit that the least value keeps, in three digits; times in whole minutes or seconds."""
    if name == "worst_rework_s" and least >= MINUTE:
        step = MINUTE if least >= 10 * MINUTE else 1.0
        return math.ceil(least / step - 1e-9) * step
    if least <= 0.0:
        return least
    step = 10.0 ** (math.floor(math.log10(least)) - 2)
    return float(f"{math.ceil(least / step - 1e-9) * step:.6g}")


class Legend(QWidget):
    """What the two parts of a bar are."""

    def __init__(self) -> None:
        super().__init__()
        self._theme = LIGHT
        self.setFixedHeight(20)

    @override
    def sizeHint(self) -> QSize:
        return QSize(260, 20)

    def show_theme(self, theme: Theme) -> None:
        """Take the colours of a theme."""
        self._theme = theme
        self.update()

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        painter, left = QPainter(self), 0.0
        for colour, words in ((self._theme.thin, say("storage")), (self._theme.hairline, say("lost GPU time"))):
            painter.fillRect(QRectF(left, 6, 16, 8), QColor(colour))
            width = width_of(words)
            write(painter, QRectF(left + 22, 0, width, 20), words, self._theme.muted)
            left += 22 + width + 16


class NonePanel(QFrame):
    """Why there is no plan, and what would help."""

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("best.none")
        self.setProperty("role", "card")
        self.words = Sentence("best.none.words", is_title=True, most_lines=4)
        self.help, self.other = QPushButton(), QPushButton(say("Minimise waste instead"))
        self.help.setObjectName("best.loosen")
        self.help.setProperty("role", "primary")
        self.other.setObjectName("best.waste_instead")
        box = QVBoxLayout(self)
        box.setContentsMargins(16, 12, 16, 12)
        box.setSpacing(8)
        box.addWidget(self.words)
        for button in (self.help, self.other):
            button.setFixedHeight(26)
            box.addWidget(button, 0, Qt.AlignmentFlag.AlignLeft)


class BestPage(SearchPage):
    """Shows the decision of the finder; which row is chosen and how many near ties are seen is its own."""

    def __init__(self, finder: Finder, parent: QWidget | None = None) -> None:
        super().__init__(finder, parent)
        self.setObjectName("decide.best")
        self._chosen = ""
        self._all_ties = False
        self._none: NoPlan | None = None
        self._tab_order: list[QWidget] = []
        self.card, self.rows, self.prices, self.none = PlanCard(), PlanRows(), PriceRows(), NonePanel()
        self._head, self._unit = QLabel(), QLabel()
        self._head.setProperty("role", "title")
        self._unit.setProperty("role", "small")
        self._more = QPushButton()
        self._more.setObjectName("best.more")
        self._more.setProperty("role", "link")
        self._legend = Legend()
        self._out = QLabel()
        self._out.setObjectName("best.left_out")
        self._out.setProperty("role", "small")
        self._out.setWordWrap(True)
        self._wait = QLabel(say("Every legal file system and every way to save is compared: a moment."))
        self._wait.setProperty("role", "muted")
        self._wait.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._side = QWidget()
        self._scroll = QScrollArea()
        self._place()
        self._connect()

    def _place(self) -> None:
        listed = QWidget()
        listed.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        listed.setProperty("role", "surface")
        self._list = listed
        listed.setMaximumWidth(_MOST_LIST)
        box = QVBoxLayout(listed)
        box.setContentsMargins(0, 0, 0, 12)
        box.setSpacing(0)
        head = QHBoxLayout()
        head.setContentsMargins(16, 10, 16, 6)
        head.addWidget(self._head)
        head.addStretch(1)
        head.addWidget(self._unit)
        box.addLayout(head)
        box.addWidget(self.rows)
        foot = QHBoxLayout()
        foot.setContentsMargins(16, 6, 16, 0)
        foot.addWidget(self._legend)
        foot.addStretch(1)
        foot.addWidget(self._more)
        box.addLayout(foot)
        box.addWidget(self.prices)
        out = QHBoxLayout()
        out.setContentsMargins(16, 8, 16, 0)
        out.addWidget(self._out)
        box.addLayout(out)
        box.addStretch(1)
        self._scroll.setWidgetResizable(True)
        self._scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._scroll.setWidget(listed)
        side = QVBoxLayout(self._side)
        side.setContentsMargins(16, 12, 0, 12)
        side.setSpacing(8)
        side.addWidget(self.none)
        side.addWidget(self.card, 1000)
        side.addStretch(1)
        row = QHBoxLayout(self.body)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        row.addWidget(self._side)
        row.addWidget(self._scroll, 1)
        row.addWidget(self._wait, 1)

    def _connect(self) -> None:
        for part in (self.rows, self.card):
            part.adopted.connect(self.adopt)
            part.added.connect(self.add)
        self.rows.chosen.connect(self._on_chosen)
        self.rows.switched.connect(lambda name: self.scenario_requested.emit("switch", name))
        self.prices.given.connect(self._on_price)
        self.none.help.clicked.connect(self._on_help)
        self.none.other.clicked.connect(lambda: self.finder.ask(minimise="waste"))
        self._more.clicked.connect(self._on_more)

    # ------------------------------------------------------------ what is shown

    @override
    def show_theme(self, theme: Theme) -> None:
        self._legend.show_theme(theme)
        self.none.words.show_theme(theme)
        super().show_theme(theme)

    @override
    def draw(self) -> None:
        found = self.finder.drawn()
        for part in (self._side, self._scroll):
            part.setVisible(found is not None)
        self._wait.setVisible(found is None)
        if found is None:
            return
        shown = self.finder.shown_with(found)
        now = current_of(shown)
        self._side.setFixedWidth(round(min(max(self.width() * _CARD_SHARE, _CARD_LEAST), _CARD_MOST)))
        entries, more = entries_of(found, shown, self.basis, all_ties=self._all_ties)
        if not any(entry.key == self._chosen and entry.proposal for entry in entries):
            self._chosen = key_of(found.decision.best) if found.decision.best is not None else ""
        self._draw_card(found, now, entries)
        per = say_text(basis_words(self.basis))
        is_waste = found.goal.minimise == "waste"
        self._head.setText(say("Least waste first") if is_waste else say("Cheapest first"))
        self._unit.setText(say("share of the time lost; $ {per} in all", per=per) if is_waste else
                           say("storage + lost GPU time, $ {per}; waste", per=per))  # fmt: skip
        near = sum(entry.is_near for entry in entries)
        self.rows.show_entries(entries, self._chosen, say("up to here within 1 % of the best") if near > 1 else "", self.theme)
        self._more.setVisible(more > 0 or self._all_ties)
        self._more.setText(say("only a few near ties") if self._all_ties else say("{count} more within 1 %", count=more))
        self.prices.show_prices(self._prices(found))
        self._draw_left_out(found)
        self._order_tabs()

    def _order_tabs(self) -> None:
        """Rows and fields are made when they are needed; Tab goes through them where they stand."""
        parts = [part for part in self.body.findChildren(QWidget) if part.focusPolicy() & Qt.FocusPolicy.TabFocus]
        if parts != self._tab_order:
            self._tab_order = parts
            lead_into(self.goal.clear, self.body)

    def _draw_card(self, found: Found, now: Shown, entries: tuple[Entry, ...]) -> None:
        decision = found.decision
        self._none = decision.none
        self.none.setVisible(decision.none is not None)
        if decision.none is not None:
            self._draw_none(decision.none, found)
            self.card.show_plan(decision.none.closest, say("Comes closest"), now, found.goal.minimise, self.basis)
            return
        entry = next((entry for entry in entries if entry.key == self._chosen), None)
        one = entry.proposal if entry is not None else decision.best
        kind = say("Best plan") if one is decision.best or entry is None else say("Rank {rank}", rank=entry.rank)
        has_bound = one is decision.best or one in decision.families
        self.card.show_plan(one, kind, now, found.goal.minimise, self.basis, has_bound=has_bound)

    def _draw_none(self, none: NoPlan, found: Found) -> None:
        self.none.words.show_words(say_text(none.text))
        help_, prices = self.none.help, found.scenario.prices
        lacks_value = found.goal.minimise == "cost" and prices.gpu_value_usd_per_h is None and prices.node_usd_per_h is None
        self.none.other.setVisible(lacks_value)
        help_.setVisible(lacks_value or none.limit is not None)
        if none.limit is not None and none.least is not None:
            limit = loosened(none.limit, none.least)
            unit = LIMIT_UNITS[none.limit]
            words = rough(limit, unit) if unit == SECONDS else brief(limit, unit)
            help_.setText({
                "storage_usd_per_month": say("Allow {limit} a month", limit=words),
                "waste_fraction": say("Allow {limit} of waste", limit=words),
                "worst_rework_s": say("Allow {limit} to be lost", limit=words),
            }[none.limit])  # fmt: skip
        elif lacks_value:
            help_.setText(say("Type what a GPU-hour is worth"))

    def _prices(self, found: Found) -> list[Price]:
        typed = self.finder.typed_prices()
        prices: dict[str, Price] = {}
        asked = set()
        for one in found.decision.asks:
            if not one.ask.path or one.ask.path not in asked:  # with EFA and without it costs the same
                prices[one.ask.id] = Price(one.ask, None, one.wins_below_usd)
            asked.add(one.ask.path)
        prices |= {name: Price(ask, value) for name, (ask, value) in typed.items()}
        return [prices[name] for name in sorted(prices)]

    def _draw_left_out(self, found: Found) -> None:
        reasons: dict[str, dict[str, int]] = {}
        for one in found.decision.left_out:
            kinds = reasons.setdefault(say_text(one.reason), {})
            family = say_text(FAMILY_NAMES[one.family])
            kinds[family] = kinds.get(family, 0) + 1
        words = [
            say(
                "{names}: {reason}",
                names=", ".join(
                    name if count == 1 else say("{name} ({count} kinds)", name=name, count=count)
                    for name, count in kinds.items()
                ),
                reason=reason,
            )
            for reason, kinds in reasons.items()
        ]
        self._out.setText(say("Takes no part: {list}.", list="; ".join(words)) if words else "")
        self._out.setVisible(bool(words))

    # ------------------------------------------------------------ taking away

    @property
    def picture_widget(self) -> QWidget:
        """What a picture of the page shows."""
        return self

    def texts(self) -> tuple[list[str], list[list[str]]]:
        """The ranked plans as a table."""
        per = say_text(basis_words(self.basis))
        heads = [
            "", say("Plan"), say("How it saves"), say("Storage, $ {per}", per=per), say("In all, $ {per}", per=per),
            say("Waste"), say("Lost at most"), say("What bounds it"),
        ]  # fmt: skip
        found = self.finder.drawn()
        if found is None:
            return heads, []
        days = found.scenario.run.days
        return heads, [_row(entry, self.basis, days) for entry in self.rows.entries]

    # ------------------------------------------------------------ hands

    def _on_chosen(self, key: str) -> None:
        self._chosen = key
        self.draw()

    def _on_more(self) -> None:
        self._all_ties = not self._all_ties
        self.draw()

    def _on_price(self, ask: Ask, usd: float | None) -> None:
        """A price with a field goes into the plan, any other one is kept here."""
        now = self.finder.current
        if not ask.path:
            self.finder.give_price(ask, usd)
        elif now is not None and usd is not None and value_at(now.named.scenario, ask.path) != usd:
            self.edited.emit(ask.path, usd)
            self.gesture_ended.emit()

    def _on_help(self) -> None:
        none = self._none
        if none is not None and none.limit is not None and none.least is not None:
            self.finder.ask(**{none.limit: loosened(none.limit, none.least)})
        else:
            self.field_requested.emit(VALUE_PATH)


def _row(entry: Entry, basis: Basis, days: float) -> list[str]:
    one: Proposal | None = entry.proposal
    figures = entry.figures
    return [
        entry.rank,
        f"{entry.name} ({entry.tag})" if entry.tag else entry.name,
        entry.how,
        money(figures.storage_usd_per_year, basis, days),
        money(figures.total_usd_per_year, basis, days),
        waste_exactly(figures.waste_fraction),
        rework_words(figures.worst_rework_s),
        say_text(one.bound_words) if one is not None else "",
    ]
