"""The page "Scale" of the Decide view: should ten thousand GPUs save more often or less? The answer, and six small plots."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtWidgets import QVBoxLayout, QWidget
from typing_extensions import override

from ckptplanner.engine.cost import Basis
from ckptplanner.engine.scale import NODE_COUNTS, Scale, scale
from ckptplanner.ui.bench import BenchPage
from ckptplanner.ui.decide.missing import missing
from ckptplanner.ui.lines import Sentence
from ckptplanner.ui.plots.scale import ScalePlots
from ckptplanner.ui.shown import Shown, current_of
from ckptplanner.ui.theme import Theme
from ckptplanner.ui.words import say, say_text


class ScalePage(BenchPage):
    """Works the node counts out away from the window and shows them."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("scale", parent)
        self.answer = Sentence("scale.answer", is_title=True, most_lines=3)
        self.more = Sentence("scale.more", is_title=False, most_lines=3)
        self.plots = ScalePlots()
        self.plots.setToolTip(
            say("Checkpoint and write time stay, each node fails as often; file system and interval are chosen again.")
        )
        inside = QVBoxLayout(self.picture)
        inside.setContentsMargins(0, 0, 0, 4)
        inside.setSpacing(0)
        said = QVBoxLayout()
        said.setContentsMargins(16, 0, 16, 6)
        said.setSpacing(0)
        said.addWidget(self.more)
        inside.addLayout(said)
        inside.addWidget(self.plots, 1)
        self._place(self.answer)
        self.plots.cursor_moved.connect(self.cursor_moved)

    def show_plans(self, shown: Sequence[Shown], basis: Basis) -> None:
        """Show the current job at other node counts, as soon as that is worked out."""
        self._shown, self._basis = tuple(shown), basis
        if (lack := missing(current_of(shown), needs_dollars=False)) is not None:
            self.bench.show_missing(*lack)
            return
        now = current_of(shown).named
        counts = (*NODE_COUNTS, now.scenario.workload.nodes)
        self.bench.ask(now.scenario, lambda progress: scale(now, counts, progress))

    @override
    def _draw(self) -> None:
        found = self.bench.result
        if not isinstance(found, Scale) or not self._shown:
            for part in (self.answer, self.more):
                part.show_words("")
            self.plots.setVisible(False)
            return
        self.plots.setVisible(True)
        now = current_of(self._shown)
        self.answer.show_words(say_text(found.answer[0]), is_stale=self.bench.is_stale)
        self.more.show_words(" ".join(map(say_text, found.answer[1:])), is_stale=self.bench.is_stale)
        scenario = now.plan.scenario
        self.plots.show_scale(
            found, self._theme.mark(now.index), nodes=scenario.workload.nodes, copies=scenario.replication.factor,
            basis=self._basis, run_days=scenario.run.days, is_stale=self.bench.is_stale,
        )  # fmt: skip

    def show_theme(self, theme: Theme) -> None:
        """Take the colours of a theme."""
        self._theme = theme
        for part in (self.bench, self.answer, self.more, self.plots):
            part.show_theme(theme)
        self._draw()

    def texts(self) -> tuple[list[str], list[list[str]]]:
        """The rows as a table."""
        found = self.bench.result
        return self.plots.texts(found.rows) if isinstance(found, Scale) else ([], [])
