"""The page "Frontier": what each dollar of storage buys, beside the scenarios; a dot is taken as the plan or as a new one."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QHideEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QWidget
from typing_extensions import override

from ckptplanner.engine.cards import basis_words
from ckptplanner.engine.optimise import Proposal
from ckptplanner.ui.decide.entries import key_of
from ckptplanner.ui.decide.finder import Finder, Found
from ckptplanner.ui.decide.plan_card import PlanCard
from ckptplanner.ui.decide.plan_words import (
    figures_as_it_is,
    figures_of,
    how_of,
    is_same_job,
    money,
    name_of,
    rework_words,
    short_money,
    waste_exactly,
)
from ckptplanner.ui.decide.search_page import SearchPage
from ckptplanner.ui.plots.frontier import Dot, FrontierPlot, Reference
from ckptplanner.ui.shown import Shown, current_of
from ckptplanner.ui.theme import Theme
from ckptplanner.ui.words import say, say_text
from ckptplanner.units import MONTHS_PER_YEAR, USD, brief

_CARD_SHARE, _CARD_LEAST, _CARD_MOST = 0.3, 300, 460


class FrontierPage(SearchPage):
    """Shows the frontier of the finder's decision; which plan is chosen is its own."""

    def __init__(self, finder: Finder, parent: QWidget | None = None) -> None:
        super().__init__(finder, parent)
        self.setObjectName("decide.frontier")
        self._chosen = ""
        self.plot, self.card = FrontierPlot(), PlanCard()
        self._none = QLabel()
        self._none.setObjectName("frontier.none")
        self._none.setProperty("role", "muted")
        self._none.setWordWrap(True)
        self._none.setAlignment(Qt.AlignmentFlag.AlignCenter)
        row = QHBoxLayout(self.body)
        row.setContentsMargins(0, 0, 16, 8)
        row.setSpacing(0)
        row.addWidget(self.plot, 1)
        row.addWidget(self._none, 1)
        self._side = QWidget()
        side = QHBoxLayout(self._side)
        side.setContentsMargins(0, 12, 0, 4)
        side.addWidget(self.card)
        row.addWidget(self._side)
        self.plot.chosen.connect(self._on_chosen)
        self.plot.taken.connect(self._on_taken)
        self.plot.cursor_moved.connect(self.cursor_moved)
        self.card.adopted.connect(self.adopt)
        self.card.added.connect(self.add)

    # ------------------------------------------------------------ what is shown

    @override
    def show_theme(self, theme: Theme) -> None:
        self.plot.show_theme(theme)
        super().show_theme(theme)

    @override
    def draw(self) -> None:
        found = self.finder.drawn()
        plans = self._plans(found)
        self.plot.setVisible(bool(plans))
        self._side.setVisible(bool(plans))
        self._none.setVisible(not plans)
        if found is None or not plans:
            none = found.decision.none if found is not None else None
            self._none.setText(
                say("Every legal file system and every way to save is compared: a moment.") if found is None
                else say("{reason} “Best plan” says what would help.", reason=say_text(none.text)) if none is not None
                else say("No bill of storage is known, so there is nothing to draw.")
            )  # fmt: skip
            return
        self._side.setFixedWidth(round(min(max(self.width() * _CARD_SHARE, _CARD_LEAST), _CARD_MOST)))
        shown = self.finder.shown_with(found)
        now, best = current_of(shown), found.decision.best
        keys = [key_of(one) for one in plans]
        if self._chosen not in keys:
            self._chosen = key_of(best) if best is not None and key_of(best) in keys else keys[0]
        dots = [self._dot(key, one) for key, one in zip(keys, plans, strict=True)]
        references = [made for one in shown if (made := self._reference(one, found)) is not None]
        self.plot.show_plans(dots, key_of(best) if best is not None else "", self._chosen, references)
        chosen = plans[keys.index(self._chosen)]
        kind = say("Best plan") if chosen == best else say(
            "Plan {place} of {count} on the frontier", place=keys.index(self._chosen) + 1, count=len(keys)
        )  # fmt: skip
        self.card.show_plan(chosen, kind, now, found.goal.minimise, self.basis, has_bound=chosen == best)

    @staticmethod
    def _plans(found: Found | None) -> tuple[Proposal, ...]:
        """The frontier and the winner, cheapest first; on a log axis nothing stands that is for free."""
        if found is None:
            return ()
        best = found.decision.best
        plans = dict.fromkeys((*found.decision.frontier, *([best] if best is not None else [])))
        return tuple(sorted((one for one in plans if one.usd_per_month), key=lambda one: one.usd_per_month or 0.0))

    def _dot(self, key: str, one: Proposal) -> Dot:
        figures, days = figures_of(one), one.scenario.run.days
        money_words = say(
            "storage {month} a month, waste {waste}, {total} {per} in all",
            month=brief(one.usd_per_month or 0.0, USD), waste=waste_exactly(one.waste_fraction),
            total=short_money(figures.total_usd_per_year, self.basis, days), per=say_text(basis_words(self.basis)),
        )  # fmt: skip
        return Dot(key, one.usd_per_month or 0.0, one.waste_fraction, (name_of(one), how_of(one), money_words))

    def _reference(self, one: Shown, found: Found) -> Reference | None:
        figures = figures_as_it_is(one)
        if figures.storage_usd_per_year is None or figures.waste_fraction is None:
            return None
        month = figures.storage_usd_per_year / MONTHS_PER_YEAR
        same = one.is_current or is_same_job(found.scenario, one.named.scenario)
        values = {"name": one.name, "month": brief(month, USD), "waste": waste_exactly(figures.waste_fraction)}
        words = say("“{name}”: storage {month} a month, waste {waste}", **values) if same else say(
            "“{name}”, another job: storage {month} a month, waste {waste}", **values
        )  # fmt: skip
        return Reference(one.name, one.index, month, figures.waste_fraction, words, one.is_current, same)

    @override
    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self.plot.rest()

    # ------------------------------------------------------------ taking away

    @property
    def picture_widget(self) -> QWidget:
        """What a picture of the page shows."""
        return self.body

    def texts(self) -> tuple[list[str], list[list[str]]]:
        """The frontier as a table, the scenarios below."""
        per = say_text(basis_words(self.basis))
        heads = [
            say("Plan"), say("How it saves"), say("Storage, $ {per}", per=per), say("Waste"), say("In all, $ {per}", per=per),
            say("Lost at most"),
        ]  # fmt: skip
        found = self.finder.drawn()
        if found is None:
            return heads, []
        days = found.scenario.run.days
        every = [(name_of(one), how_of(one), figures_of(one)) for one in self._plans(found)]
        every += [(one.name, say("a scenario"), figures_as_it_is(one)) for one in self.finder.shown_with(found)]
        return heads, [
            [
                name, how, money(figures.storage_usd_per_year, self.basis, days), waste_exactly(figures.waste_fraction),
                money(figures.total_usd_per_year, self.basis, days), rework_words(figures.worst_rework_s),
            ]
            for name, how, figures in every
        ]  # fmt: skip

    # ------------------------------------------------------------ hands

    def _plan(self, key: str) -> Proposal | None:
        return next((one for one in self._plans(self.finder.drawn()) if key_of(one) == key), None)

    def _on_chosen(self, key: str) -> None:
        self._chosen = key
        self.draw()

    def _on_taken(self, key: str, as_new: bool) -> None:
        (self.add if as_new else self.adopt)(self._plan(key))
