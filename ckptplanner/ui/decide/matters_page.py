"""The page "What matters": the tornado of one figure, and beside it what to measure next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QWidget
from typing_extensions import override

from ckptplanner.engine.cost import Basis
from ckptplanner.engine.flip_words import amounts
from ckptplanner.engine.levers import field_of
from ckptplanner.engine.regret import Decision, Regret, best_of, regrets
from ckptplanner.engine.same_job import same_job
from ckptplanner.engine.scenario import NamedScenario
from ckptplanner.engine.tornado import ASKED, Tornado, title_of, tornado
from ckptplanner.ui.background import Progress
from ckptplanner.ui.bench import BenchPage
from ckptplanner.ui.decide.kinds import kind_word
from ckptplanner.ui.decide.measure_list import MeasureList, better_words, regret_words
from ckptplanner.ui.decide.missing import missing
from ckptplanner.ui.decide.tornado_bars import TornadoBars, figure_text
from ckptplanner.ui.lines import QuietLine
from ckptplanner.ui.shown import Shown, current_of
from ckptplanner.ui.theme import Theme
from ckptplanner.ui.widgets.picker import Picker
from ckptplanner.ui.words import say, say_text

_TORNADO_SHARE = 0.15  # of the work
Key = tuple[tuple[str, object], ...]


@dataclass(frozen=True, slots=True, eq=False)
class _Found:
    plans: Key
    tornado: Tornado
    regrets: tuple[Regret, ...]
    decided: Decision | None


class MattersPage(BenchPage):
    """Works both out away from the window and shows them."""

    field_requested = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("matters", parent)
        self._figure = ASKED[0]
        self._picker = Picker("matters.figure", say("Figure"))
        head = QWidget()
        row = QHBoxLayout(head)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(8)
        asks = QLabel(say("What moves"))
        asks.setProperty("role", "muted")
        hint = QuietLine()
        hint.show_words(say("One input at a time; file system and interval are chosen again."))
        row.addWidget(asks)
        row.addWidget(self._picker)
        row.addSpacing(8)
        row.addWidget(hint, 1)
        self.bars, self.list = TornadoBars(), MeasureList()
        inside = QHBoxLayout(self.picture)
        inside.setContentsMargins(0, 8, 0, 12)
        inside.setSpacing(16)
        inside.addWidget(self.bars, 62, Qt.AlignmentFlag.AlignTop)
        inside.addWidget(self.list, 38)
        self._place(head)
        self._picker.chosen.connect(self._on_figure)
        self.bars.hovered.connect(self.cursor_moved)
        self.list.said.connect(self.cursor_moved)
        for part in (self.bars, self.list):
            part.field_requested.connect(self._on_field)

    def show_plans(self, shown: Sequence[Shown], basis: Basis) -> None:
        """Show what matters to the current plan, as soon as that is worked out."""
        self._shown, self._basis = tuple(shown), basis
        now, figure = current_of(shown), self._figure
        self._picker.show_entries([(name, say_text(title_of(name, now.named, basis))) for name in ASKED], figure)
        if (lack := missing(now)) is not None:
            self.bench.show_missing(*lack)
            return
        plans = (now.named, *same_job(now.named, [one.named for one in shown]))
        key: Key = tuple((one.name, one.scenario) for one in plans)
        old = self.bench.result
        known = old if isinstance(old, _Found) and old.plans == key else None
        self.bench.ask((key, figure, basis), lambda progress: _worked(key, plans, figure, basis, known, progress))

    @override
    def _draw(self) -> None:
        found, is_stale = self.bench.result, self.bench.is_stale
        if not isinstance(found, _Found):
            self.bars.show_tornado(None, is_stale=False)
            self.list.setVisible(False)
            return
        self.bars.show_tornado(found.tornado, is_stale=is_stale)
        self.list.setVisible(True)
        self.list.show_regrets(found.regrets, found.decided, is_stale=is_stale)

    def show_theme(self, theme: Theme) -> None:
        """Take the colours of a theme."""
        self._theme = theme
        for part in (self.bench, self.bars):
            part.show_theme(theme)

    def texts(self) -> tuple[list[str], list[list[str]]]:
        """Both as one table: a row for each input, the widest bar first."""
        found = self.bench.result
        if not isinstance(found, _Found):
            return [], []
        shown, unit = found.tornado, found.tornado.unit
        figure = say_text(shown.title)
        heads = [
            say("Input"), say("Today"), say("Low"), say("High"), say("{figure}, at low", figure=figure),
            say("{figure}, today", figure=figure), say("{figure}, at high", figure=figure), say("Range"),
            say("Not knowing it may cost"), say("What would change"), say("Command"), say("How it is measured"),
        ]  # fmt: skip
        rows, by_path = [], {row.path: row for row in found.regrets}
        for bar in shown.bars:
            over, row = bar.range, by_path.get(bar.path)
            today, low, high = amounts((over.value, over.low, over.high), over.lever.unit)
            cells = [say_text(over.lever.title), today, low, high, *(figure_text(value, unit) for value in
                     (bar.low, shown.expected, bar.high)), kind_word(over.kind)]  # fmt: skip
            if row is None or found.decided is None:
                cells += [""] * 4
            else:
                how = " ".join(map(say_text, row.how_to))
                cells += [regret_words(row), better_words(row, found.decided), row.command or "", how]
            rows.append(cells)
        return heads, rows

    def _on_figure(self, figure: str) -> None:
        self._figure = figure
        self.show_plans(self._shown, self._basis)

    def _on_field(self, path: str) -> None:
        self.field_requested.emit(field_of(current_of(self._shown).named.scenario, path))


def _worked(
    key: Key, plans: Sequence[NamedScenario], figure: str, basis: Basis, known: _Found | None, progress: Progress
) -> _Found:
    """The tornado of the first plan, and the regrets among all; those are taken over where the plans are the same."""
    bars = tornado(plans[0], figure, basis=basis, progress=lambda part: progress(part * _TORNADO_SHARE))
    if known is not None:
        return _Found(key, bars, known.regrets, known.decided)
    decided = best_of(plans)
    rows = regrets(plans, progress=lambda part: progress(_TORNADO_SHARE + part * (1.0 - _TORNADO_SHARE)))
    return _Found(key, bars, rows, decided)
