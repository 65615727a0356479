"""The page "Map": who costs least, or one figure, over two inputs that one chooses."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from PySide6.QtWidgets import QHBoxLayout, QLabel, QVBoxLayout, QWidget
from typing_extensions import override

from ckptplanner.engine.cards import basis_words
from ckptplanner.engine.cost import Basis, per_basis
from ckptplanner.engine.figure_map import FigureMap, figure_map
from ckptplanner.engine.flip_words import amounts
from ckptplanner.engine.levers import GPU_VALUE
from ckptplanner.engine.ranges import ranges_of
from ckptplanner.engine.same_job import same_job
from ckptplanner.engine.tornado import ASKED, title_of
from ckptplanner.ui.bench import BenchPage
from ckptplanner.ui.decide.flip_bars import Side
from ckptplanner.ui.decide.map_view import MapView
from ckptplanner.ui.decide.missing import missing
from ckptplanner.ui.decide.tornado_bars import figure_text
from ckptplanner.ui.lines import Sentence
from ckptplanner.ui.shown import Shown, current_of
from ckptplanner.ui.theme import Theme
from ckptplanner.ui.widgets.picker import Picker
from ckptplanner.ui.words import say, say_text
from ckptplanner.units import USD, brief, grouped

WINNER = "winner"
_ACROSS, _UP = GPU_VALUE, "failures.mtbi_s"  # at first


def _muted(words: str) -> QLabel:
    made = QLabel(words)
    made.setProperty("role", "muted")
    return made


class MapPage(BenchPage):
    """Works the map out away from the window and shows it."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("map", parent)
        self._what, self._across, self._up = WINNER, _ACROSS, _UP
        self._indices: dict[str, int] = {}
        self._picks = {
            "what": Picker("map.what", say("What the map shows")),
            "across": Picker("map.across", say("Input along a row")),
            "up": Picker("map.up", say("Input along a column")),
        }
        head = QWidget()
        row = QHBoxLayout(head)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(8)
        for words, name in ((say("Map of"), "what"), (say("over"), "across"), (say("and"), "up")):
            row.addWidget(_muted(words))
            row.addWidget(self._picks[name])
        row.addStretch(1)
        self._sentence = Sentence("map.sentence", is_title=True)
        self.map = MapView()
        inside = QVBoxLayout(self.picture)
        inside.setContentsMargins(0, 4, 0, 8)
        inside.setSpacing(8)
        said = QHBoxLayout()
        said.setContentsMargins(16, 0, 16, 0)
        said.addWidget(self._sentence)
        inside.addLayout(said)
        inside.addWidget(self.map, 1)
        self._place(head)
        self.map.hovered.connect(self.cursor_moved)
        self._picks["what"].chosen.connect(self._on_what)
        self._picks["across"].chosen.connect(self._on_across)
        self._picks["up"].chosen.connect(self._on_up)

    def show_plans(self, shown: Sequence[Shown], basis: Basis) -> None:
        """Show the map of the current plan, as soon as it is worked out."""
        self._shown, self._basis = tuple(shown), basis
        self._indices |= {one.name: one.index for one in shown}
        now = current_of(shown)
        ranges = {one.path: one for one in ranges_of(now.named) if one.high > one.low}
        self._keep_inputs(list(ranges))
        plans = (now.named, *same_job(now.named, [one.named for one in shown]))
        figures = [(name, say_text(title_of(name, now.named, basis))) for name in ASKED]
        has_rivals = len(plans) > 1
        what = self._what if has_rivals or self._what != WINNER else ASKED[0]
        first = [(WINNER, say("who costs least"))] if has_rivals else []
        self._picks["what"].show_entries([*first, *figures], what)
        entries = [(path, say_text(one.lever.title)) for path, one in ranges.items()]
        self._picks["across"].show_entries(entries, self._across)
        self._picks["up"].show_entries(entries, self._up)
        if (lack := missing(now)) is not None:
            self.bench.show_missing(*lack)
            return
        figure = None if what == WINNER else what
        compared = plans if figure is None else plans[:1]
        across, up = ranges[self._across], ranges[self._up]
        key = (
            tuple((one.name, one.scenario) for one in compared),
            figure,
            "" if figure is None else basis,
            across.path,
            up.path,
        )
        self.bench.ask(key, lambda progress: figure_map(compared, across, up, figure, basis=basis, progress=progress))

    def _keep_inputs(self, paths: Sequence[str]) -> None:
        """Inputs that are not in use in this plan give way to others."""
        if self._across not in paths:
            self._across = next(path for path in paths if path != self._up)
        if self._up not in paths or self._up == self._across:
            self._up = next(path for path in paths if path != self._across)

    # ------------------------------------------------------------ what is shown

    @override
    def _draw(self) -> None:
        found = self.bench.result
        if not isinstance(found, FigureMap):
            self._sentence.show_words("")
            self.map.show_map(None, (), self._dollars, is_stale=False)
            return
        self._sentence.show_words(self._words(found), is_stale=self.bench.is_stale)
        sides = [
            Side(name, self._theme.mark(self._indices.get(name, 0)), number == 0) for number, name in enumerate(found.plans)
        ]
        self.map.show_map(found, sides, self._dollars, is_stale=self.bench.is_stale)

    def _words(self, found: FigureMap) -> str:
        """The map in one sentence."""
        if found.values is not None and found.unit is not None and found.title is not None:
            known = found.values[0][np.isfinite(found.values[0])]
            if not known.size:
                return say("{figure} is not known here.", figure=say_text(found.title))
            low, high = (figure_text(float(one), found.unit) for one in (known.min(), known.max()))
            return say("{figure} from {low} to {high}", figure=say_text(found.title), low=low, high=high)
        shares = [(float((found.winner == number).mean()), name) for number, name in enumerate(found.plans)]
        parts = [say("“{name}” in {share}", name=name, share=f"{share * 100:.0f}\u00a0%") for share, name in shares if share]
        return say("Costs least: {parts} of the cells", parts=", ".join(parts)) if parts else say("No dollars are known here.")

    def _dollars(self, usd_per_year: float) -> str:
        if math.isnan(usd_per_year):
            return say("unknown")
        if math.isinf(usd_per_year):
            return say("does not work")
        dollars = per_basis(usd_per_year, self._basis, current_of(self._shown).plan.scenario.run.days)
        shown = f"${grouped(dollars)}" if 1000 <= dollars < 1e7 else brief(dollars, USD)
        return f"{shown} {say_text(basis_words(self._basis))}"

    def show_theme(self, theme: Theme) -> None:
        """Take the colours of a theme."""
        self._theme = theme
        for part in (self.bench, self.map, self._sentence):
            part.show_theme(theme)
        self._draw()

    def texts(self) -> tuple[list[str], list[list[str]]]:
        """The map as a table: the first input along a row, the second down, the highest value on top."""
        found = self.bench.result
        if not isinstance(found, FigureMap):
            return [], []
        across, up = found.across.lever, found.up.lever
        heads = [f"{say_text(up.title)} / {say_text(across.title)}", *amounts(found.across_values.tolist(), across.unit)]
        names = amounts(found.up_values.tolist(), up.unit)
        rows = []
        for row in range(found.up_values.size - 1, -1, -1):
            cells = [self._cell(found, row, column) for column in range(found.across_values.size)]
            rows.append([names[row], *cells])
        return heads, rows

    @staticmethod
    def _cell(found: FigureMap, row: int, column: int) -> str:
        if found.values is None or found.unit is None:
            number = int(found.winner[row, column])
            return found.plans[number] if number >= 0 else ""
        value = float(found.values[0, row, column])
        return "" if math.isnan(value) else figure_text(value, found.unit)

    # ------------------------------------------------------------ hands

    def _on_what(self, what: str) -> None:
        self._what = what
        self.show_plans(self._shown, self._basis)

    def _on_across(self, path: str) -> None:
        """An input that is the other one already changes places with it."""
        self._across, self._up = path, self._across if path == self._up else self._up
        self.show_plans(self._shown, self._basis)

    def _on_up(self, path: str) -> None:
        self._up, self._across = path, self._up if path == self._across else self._across
        self.show_plans(self._shown, self._basis)
