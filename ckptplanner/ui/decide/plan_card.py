"""One plan, large: what it costs, what it wastes, what bounds it, what it sets, and the buttons that take it."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QGridLayout, QHBoxLayout, QLabel, QPushButton, QScrollArea, QVBoxLayout, QWidget
from typing_extensions import override

from ckptplanner.engine.cards import basis_words
from ckptplanner.engine.cost import Basis
from ckptplanner.engine.optimise import Proposal
from ckptplanner.ui.decide.plan_words import (
    Figures,
    Setting,
    difference,
    figures_as_it_is,
    figures_of,
    how_of,
    name_of,
    rework_words,
    settings_of,
    short_money,
    waste_words,
)
from ckptplanner.ui.shown import Shown
from ckptplanner.ui.words import say, say_text
from ckptplanner.units import UNKNOWN

_AROUND = 62  # what the card has beside its text: edges and the buttons [px]


def _label(role: str = "", *, wraps: bool = False) -> QLabel:
    made = QLabel()
    made.setTextFormat(Qt.TextFormat.PlainText)
    made.setWordWrap(wraps)
    if role:
        made.setProperty("role", role)
    return made


class PlanCard(QWidget):
    """Shows one proposal beside the plan as it is."""

    adopted = Signal(object)
    added = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("plan_card")
        self.proposal: Proposal | None = None
        self._kind, self._name, self._how = _label("small"), _label("title", wraps=True), _label("muted", wraps=True)
        self._figure, self._per = _label("figure"), _label("muted")
        self._difference, self._bound, self._note = _label(wraps=True), _label("muted", wraps=True), _label("small", wraps=True)
        self._difference.setObjectName("plan_card.difference")
        self._facts: list[tuple[QLabel, QLabel]] = [(_label("muted"), _label()) for _ in range(5)]
        self._set_head = _label("title")
        self._grid = QGridLayout()
        self._cells: list[tuple[QLabel, QLabel, QLabel, QLabel]] = []
        self.adopt, self.add = QPushButton(say("Adopt")), QPushButton(say("As a new scenario"))
        for button, name in ((self.adopt, "adopt"), (self.add, "add")):
            button.setObjectName(f"plan_card.{name}")
            button.setFixedHeight(26)
        self.adopt.setProperty("role", "primary")
        self.adopt.setToolTip(say("Set the current scenario so; one step to undo (Enter in the list)"))
        self.add.setToolTip(say("Keep the current scenario and add one that is set so (Shift+Enter in the list)"))
        self.adopt.clicked.connect(lambda: self.adopted.emit(self.proposal))
        self.add.clicked.connect(lambda: self.added.emit(self.proposal))
        self._place()

    def _place(self) -> None:
        frame, inside = QFrame(), QWidget()
        frame.setProperty("role", "card")
        inside.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        inside.setProperty("role", "surface")
        box = QVBoxLayout(inside)
        box.setContentsMargins(16, 0, 16, 4)
        box.setSpacing(4)
        box.addWidget(self._kind)
        box.addWidget(self._name)
        box.addWidget(self._how)
        figure = QHBoxLayout()
        figure.setSpacing(6)
        figure.addWidget(self._figure, 0, Qt.AlignmentFlag.AlignBaseline)
        figure.addWidget(self._per, 1, Qt.AlignmentFlag.AlignBaseline)
        box.addSpacing(4)
        box.addLayout(figure)
        facts = QGridLayout()
        facts.setHorizontalSpacing(12)
        facts.setVerticalSpacing(2)
        facts.setColumnStretch(1, 1)
        for row, pair in enumerate(self._facts):
            for column, one in enumerate(pair):
                facts.addWidget(one, row, column)
        box.addLayout(facts)
        box.addSpacing(4)
        box.addWidget(self._difference)
        box.addWidget(self._bound)
        box.addWidget(self._note)
        box.addSpacing(4)
        box.addWidget(self._set_head)
        self._grid.setHorizontalSpacing(12)
        self._grid.setVerticalSpacing(2)
        self._grid.setColumnStretch(0, 3)
        self._grid.setColumnStretch(1, 3)
        self._grid.setColumnStretch(2, 4)
        box.addLayout(self._grid)
        box.addStretch(1)
        scroll = QScrollArea()
        scroll.setWidgetResizable(True)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        scroll.setWidget(inside)
        buttons = QHBoxLayout()
        buttons.setContentsMargins(16, 8, 16, 0)
        buttons.setSpacing(8)
        buttons.addWidget(self.adopt)
        buttons.addWidget(self.add)
        buttons.addStretch(1)
        within = QVBoxLayout(frame)
        within.setContentsMargins(1, 12, 1, 12)
        within.setSpacing(0)
        within.addWidget(scroll, 1)
        within.addLayout(buttons)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.addWidget(frame, 1000)
        whole.addStretch(1)
        self._frame, self._inside, self._scroll = frame, inside, scroll

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        """As tall as what it says, or lower where there is no room."""
        layout = self._inside.layout()
        assert layout is not None
        layout.activate()
        width = max(self.width() - 4, 1)  # two edges of 1 px, two margins of 1 px
        self._frame.setMaximumHeight(layout.totalHeightForWidth(width) + _AROUND)

    def show_plan(
        self, one: Proposal | None, kind: str, now: Shown, minimise: str, basis: Basis, *, has_bound: bool = True
    ) -> None:
        """Show a proposal, which is called `kind`, beside the plan as it is; what bounds it is told of the best ones."""
        self.proposal = one
        self.setVisible(one is not None)
        if one is None:
            return
        figures, days = figures_of(one), now.named.scenario.run.days
        per = say_text(basis_words(basis))
        self._kind.setText(kind)
        self._name.setText(name_of(one))
        self._how.setText(how_of(one))
        is_money = minimise != "waste" and figures.total_usd_per_year is not None
        if is_money:
            self._figure.setText(short_money(figures.total_usd_per_year, basis, days))
            self._per.setText(say("{per} in all", per=per))
        else:
            self._figure.setText(waste_words(figures.waste_fraction))
            self._per.setText(say("of the time is lost"))
        self._show_facts(figures, basis, days, is_money=is_money)
        settings = settings_of(one, now.named.scenario)
        words = difference(figures, figures_as_it_is(now), minimise, basis, days, per)
        if not settings:
            words = say("“{name}” is this plan already.", name=now.name)
        elif words:
            words = say("Beside “{name}”: {words}.", name=now.name, words=words)
        self._difference.setText(words)
        self._difference.setVisible(bool(words))
        self._show_settings(settings)
        self._bound.setText(say("What bounds it: {reason}.", reason=say_text(one.bound_words)))
        self._bound.setVisible(has_bound)
        self._note.setText(say_text(one.note) if one.note is not None else "")
        self._note.setVisible(one.note is not None)
        self.adopt.setEnabled(bool(settings))
        self._fit()
        self.setAccessibleName(say("{kind}: {name}, {how}", kind=kind, name=name_of(one), how=how_of(one)))

    def _show_facts(self, figures: Figures, basis: Basis, days: float, *, is_money: bool) -> None:
        first = (say("Waste"), waste_words(figures.waste_fraction)) if is_money else (
            say("Costs in all"), short_money(figures.total_usd_per_year, basis, days),
        )  # fmt: skip
        rows = (
            (say("Storage"), short_money(figures.storage_usd_per_year, basis, days)),
            (say("Lost GPU time"), short_money(figures.lost_usd_per_year, basis, days)),
            first,
            (say("Lost at most"), rework_words(figures.worst_rework_s)),
        )
        known = [(title, shown) for title, shown in rows if shown != UNKNOWN]
        for at, (title, value) in enumerate(self._facts):
            is_there = at < len(known)
            for label, text in zip((title, value), known[at] if is_there else ("", ""), strict=True):
                label.setText(text)
                label.setVisible(is_there)

    def _show_settings(self, settings: tuple[Setting, ...]) -> None:
        self._set_head.setText(say("What it sets"))
        self._set_head.setVisible(bool(settings))
        while len(self._cells) < len(settings):
            row = len(self._cells)
            made = (
                _label("muted", wraps=True),
                _label("muted", wraps=True),
                _label("title", wraps=True),
                _label("small", wraps=True),
            )
            for column, label in enumerate(made[:3]):
                self._grid.addWidget(label, 2 * row, column, Qt.AlignmentFlag.AlignTop)
            self._grid.addWidget(made[3], 2 * row + 1, 1, 1, 2)
            self._cells.append(made)
        for at, cells in enumerate(self._cells):
            one = settings[at] if at < len(settings) else None
            texts = ("", "", "", "") if one is None else (one.title, one.now, one.then, one.detail)
            for label, text in zip(cells, texts, strict=True):
                label.setText(text)
                label.setVisible(bool(text))
