"""The page "What flips it": the current plan against another, and where an input would change which of them costs less."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSize, Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QVBoxLayout, QWidget
from typing_extensions import override

from ckptplanner.engine.cards import basis_words
from ckptplanner.engine.cost import Basis, per_basis
from ckptplanner.engine.flip_words import amounts, beats_sentence, flip_sentence, rival
from ckptplanner.engine.flips import FlipBar, flip_bars
from ckptplanner.engine.levers import field_of
from ckptplanner.engine.scenario import NamedScenario
from ckptplanner.engine.yearly import yearly
from ckptplanner.ui.background import Progress
from ckptplanner.ui.bench import BenchPage
from ckptplanner.ui.decide.flip_bars import FlipBars, Side
from ckptplanner.ui.decide.kinds import kind_word
from ckptplanner.ui.decide.missing import missing
from ckptplanner.ui.lines import QuietLine, Sentence
from ckptplanner.ui.marks import mark_icon
from ckptplanner.ui.shown import Shown, base_of, current_of
from ckptplanner.ui.theme import Theme
from ckptplanner.ui.widgets.picker import Picker
from ckptplanner.ui.words import say, say_text
from ckptplanner.units import USD, brief, grouped

Pair = tuple[NamedScenario, NamedScenario]


class _Head(QWidget):
    """Which plan is compared with which, and what today's difference is."""

    other_chosen = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self._mark, self._name = QLabel(), QLabel()
        self._mark.setFixedWidth(14)
        self._against = QLabel(say("against"))
        self._against.setProperty("role", "muted")
        self.other = Picker("flips.other", say("Plan to compare with"))
        self.today = QuietLine()
        self.today.setObjectName("flips.today")
        self.today.setProperty("role", "muted")
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(6)
        for part in (self._mark, self._name, self._against, self.other):
            row.addWidget(part)
        row.addSpacing(8)
        row.addWidget(self.today, 1)
        self.other.chosen.connect(self.other_chosen)

    def show_pair(self, now: Shown, others: Sequence[Shown], other: Shown, theme: Theme) -> None:
        """Show the current plan and what it may be compared with."""
        self._mark.setPixmap(mark_icon(theme, now.index, is_filled=True).pixmap(QSize(14, 14)))
        self._name.setText(now.name)
        icons = [mark_icon(theme, one.index, is_filled=False) for one in others]
        self.other.show_entries([(one.name, one.name) for one in others], other.name, icons)


class FlipsPage(BenchPage):
    """Works the bars out away from the window and shows them."""

    field_requested = Signal(str)
    scenario_requested = Signal(str, object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("flips", parent)
        self._chosen = ""  # the other plan, by its name; empty: the one that suggests itself
        self._indices: dict[str, int] = {}
        self._head = _Head()
        self._sentence = Sentence("flips.sentence", is_title=True, most_lines=3)
        self.bars = FlipBars()
        inside = QVBoxLayout(self.picture)
        inside.setContentsMargins(0, 4, 0, 0)
        inside.setSpacing(4)
        said = QHBoxLayout()
        said.setContentsMargins(16, 0, 16, 0)
        said.addWidget(self._sentence)
        inside.addLayout(said)
        inside.addWidget(self.bars)
        inside.addStretch(1)
        self._place(self._head, say("Duplicate this scenario"))
        self.bench.help_requested.connect(self._on_help)
        self._head.other_chosen.connect(self._on_other)
        self.bars.hovered.connect(self.cursor_moved)
        self.bars.field_requested.connect(self._on_field)

    # ------------------------------------------------------------ what is asked

    def show_plans(self, shown: Sequence[Shown], basis: Basis) -> None:
        """Compare the current plan with another one, as soon as that is worked out."""
        self._shown, self._basis = tuple(shown), basis
        self._indices |= {one.name: one.index for one in shown}
        now, other = current_of(shown), self._other()
        if other is None:
            self.bench.show_missing(
                say("Nothing to compare with yet"),
                say("Two plans are needed. Duplicate this one and change what you would do otherwise: the bars then show at "
                    "which price, size or failure rate the choice flips."),
                has_button=True,
            )  # fmt: skip
            return
        self._head.show_pair(now, [one for one in shown if one is not now], other, self._theme)
        self._show_today(now, other)
        if (lack := missing(now)) is not None:
            self.bench.show_missing(*lack)
        elif other.plan.cost is None or other.plan.cost.total_usd_per_year is None:
            words = say("The dollars of “{name}” are not known yet.", name=other.name)
            self.bench.show_missing(say("Nothing to compare with yet"), words, keeps_head=True)
        else:
            pair = (now.named, other.named)
            key = tuple((one.name, one.scenario) for one in pair)  # where a value comes from changes nothing
            self.bench.ask(key, lambda progress: _worked(pair, progress))

    def _other(self) -> Shown | None:
        """The chosen plan, else the base, else the cheapest for the same job, else the next one."""
        others = [one for one in self._shown if not one.is_current]
        by_name = {one.name: one for one in others}
        if self._chosen in by_name:
            return by_name[self._chosen]
        if (base := base_of(self._shown)) is not None:
            return base
        near = rival(current_of(self._shown).named, [one.named for one in others])
        return by_name[near.name] if near is not None else next(iter(others), None)

    def _show_today(self, now: Shown, other: Shown) -> None:
        costs = [one.plan.cost.total_usd_per_year if one.plan.cost else None for one in (now, other)]
        if costs[0] is None or costs[1] is None:
            self._head.today.show_words("")
            return
        difference = per_basis(abs(costs[1] - costs[0]), self._basis, now.plan.scenario.run.days)
        words = say("today “{name}” costs {usd} {per} less", name=now.name if costs[0] <= costs[1] else other.name,
                    usd=brief(difference, USD), per=say_text(basis_words(self._basis)))  # fmt: skip
        if other.plan.count("error"):
            words = say("{words}; “{name}” does not work yet", words=words, name=other.name)
        self._head.today.show_words(words)

    # ------------------------------------------------------------ what is shown

    @override
    def _draw(self) -> None:
        found = self.bench.result
        if found is None:
            self._sentence.show_words("")
            self.bars.show_bars((), None, self._cost_words, is_stale=False)
            return
        assert isinstance(found, _Found)
        said = beats_sentence(found.bars)
        self._sentence.show_words("" if said is None else say_text(said), is_stale=self.bench.is_stale)
        sides = (self._side(found.pair[0].name, is_current=True), self._side(found.pair[1].name, is_current=False))
        self.bars.show_bars(found.bars, sides, self._cost_words, is_stale=self.bench.is_stale)

    def _side(self, name: str, *, is_current: bool) -> Side:
        return Side(name, self._theme.mark(self._indices.get(name, 0)), is_current)

    def _cost_words(self, bar: FlipBar, value: float) -> str:
        """What both plans cost at a value of an input."""
        found = self.bench.result
        if not isinstance(found, _Found):
            return ""
        lever = bar.range.lever
        costs = [self._dollars(one, yearly(lever.put(one.scenario, value)).usd_per_year) for one in found.pair]
        return say(
            "{title} {value}: “{first}” {first_usd}, “{second}” {second_usd} {per}", title=say_text(lever.title),
            value=amounts((bar.range.low, value), lever.unit)[1], first=bar.first, second=bar.second,
            first_usd=costs[0], second_usd=costs[1], per=say_text(basis_words(self._basis)),
        )  # fmt: skip

    def _dollars(self, named: NamedScenario, usd_per_year: float | None) -> str:
        if usd_per_year is None:
            return say("unknown")
        if usd_per_year == float("inf"):
            return say("does not work")
        dollars = per_basis(usd_per_year, self._basis, named.scenario.run.days)
        return f"${grouped(dollars)}" if dollars >= 1000 else brief(dollars, USD)  # near a flip they differ by little

    def show_theme(self, theme: Theme) -> None:
        """Take the colours of a theme."""
        self._theme = theme
        for part in (self.bench, self.bars, self._sentence):
            part.show_theme(theme)
        if self._shown:
            self.show_plans(self._shown, self._basis)

    def texts(self) -> tuple[list[str], list[list[str]]]:
        """The bars as a table: an input each, with its flips and its sentence."""
        heads = [
            say("Input"),
            say("Today"),
            say("From"),
            say("To"),
            say("Flips at"),
            say("What it says"),
            say("Range"),
            say("Why"),
        ]
        rows = []
        for bar in self.bars.bars:
            over = bar.range
            low, high, today, *flips = amounts(
                (over.low, over.high, over.value, *(flip.value for flip in bar.flips)), over.lever.unit
            )
            rows.append([say_text(over.lever.title), today, low, high, ", ".join(flips), say_text(flip_sentence(bar)),
                         kind_word(over.kind), say_text(over.reason)])  # fmt: skip
        return heads, rows

    # ------------------------------------------------------------ hands

    def _on_other(self, name: str) -> None:
        self._chosen = name
        self.show_plans(self._shown, self._basis)

    def _on_field(self, path: str) -> None:
        self.field_requested.emit(field_of(current_of(self._shown).named.scenario, path))

    def _on_help(self) -> None:
        self.scenario_requested.emit("duplicate", None)

    @override
    def forget(self) -> None:
        """Another file was opened."""
        self._chosen = ""
        super().forget()


class _Found:
    """The bars of a pair of plans."""

    def __init__(self, pair: Pair, bars: tuple[FlipBar, ...]) -> None:
        self.pair, self.bars = pair, bars


def _worked(pair: Pair, progress: Progress) -> _Found:
    return _Found(pair, flip_bars(*pair, progress=progress))
