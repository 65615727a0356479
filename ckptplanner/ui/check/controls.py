"""The row above the check: start and stop, how many runs, which seed; a count and a bar while it runs."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QProgressBar, QPushButton, QVBoxLayout, QWidget

from ckptplanner.ui.lines import QuietLine
from ckptplanner.ui.scenario_bar import Switch
from ckptplanner.ui.words import say
from ckptplanner.units import SECONDS, grouped, rough

RUNS = (200, 1_000, 10_000)
_STEPS = 1000  # of the bar
_TIME_FROM_S, _SHARE_FROM = 0.5, 0.02  # before that nothing is said about the time that is left


class Controls(QWidget):
    """Says what the person wants; the page does it."""

    start_requested = Signal()
    stop_requested = Signal()
    seed_requested = Signal()
    runs_chosen = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.start = QPushButton(say("Simulate this plan"))
        self.start.setObjectName("check.start")
        self.start.setProperty("role", "primary")
        self.stop = QPushButton(say("Stop"))
        self.stop.setObjectName("check.stop")
        self.stop.setAccessibleName(say("Stop the simulation"))
        self.runs = Switch("check.runs", tuple(
            (str(count), grouped(count), say("{count} runs; the mean is sure to {share} of what one run varies",
                                             count=grouped(count), share=f"{100 / count**0.5:.1f}\u00a0%"))
            for count in RUNS
        ))  # fmt: skip
        for count, button in zip(RUNS, self.runs.findChildren(QPushButton), strict=True):
            button.setAccessibleName(say("{count} runs", count=grouped(count)))
        self._seed = QLabel()
        self._seed.setProperty("role", "small")
        self.another = QPushButton(say("Another seed"))
        self.another.setObjectName("check.another")
        self.another.setToolTip(say("Draw other interruptions: the answer should hardly change"))
        self._count = QuietLine()
        self._count.setObjectName("check.count")
        self._count.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self._bar = QProgressBar()
        self._bar.setObjectName("check.progress")
        self._bar.setRange(0, _STEPS)
        self._bar.setTextVisible(False)
        self._bar.setFixedHeight(4)
        self._bar.setAccessibleName(say("Progress of the simulation"))
        keeps = self._bar.sizePolicy()
        keeps.setRetainSizeWhenHidden(True)
        self._bar.setSizePolicy(keeps)
        self._place()
        self.start.clicked.connect(self.start_requested)
        self.stop.clicked.connect(self.stop_requested)
        self.another.clicked.connect(self.seed_requested)
        self.runs.chosen.connect(self._on_runs)
        self.show_idle("")

    def _place(self) -> None:
        row = QHBoxLayout()
        row.setContentsMargins(16, 6, 16, 4)
        row.setSpacing(10)
        for button in (self.start, self.stop, self.another):
            button.setFixedHeight(26)
        row.addWidget(self.start)
        row.addWidget(self.stop)
        row.addWidget(self.runs)
        name = QLabel(say("runs"))
        name.setProperty("role", "muted")
        row.addWidget(name)
        row.addSpacing(12)
        row.addWidget(self._seed)
        row.addWidget(self.another)
        row.addWidget(self._count, 1)
        box = QVBoxLayout(self)
        box.setContentsMargins(0, 0, 0, 0)
        box.setSpacing(0)
        box.addLayout(row)
        bar = QHBoxLayout()
        bar.setContentsMargins(16, 0, 16, 0)
        bar.addWidget(self._bar)
        box.addLayout(bar)

    def _on_runs(self, key: str) -> None:
        self.runs_chosen.emit(int(key))

    # ------------------------------------------------------------ what is shown

    def show_choice(self, runs: int, seed: int) -> None:
        """Show how many runs are asked for, and the seed they are drawn from."""
        self.runs.show_choice(str(runs))
        self._seed.setText(say("seed {number}", number=seed))

    def show_idle(self, note: str, *, may_start: bool = True, has_start: bool = True) -> None:
        """Nothing runs; `note` is said at the right. Without a start, something else on the page offers it."""
        self.start.setVisible(has_start)
        self.stop.setVisible(False)
        for part in (self.start, self.runs, self.another):
            part.setEnabled(may_start)
        self._bar.setVisible(False)
        self._count.show_words(note)

    def show_progress(self, fraction: float, runs: int, seconds: float) -> None:
        """So much of `runs` is done after `seconds`."""
        self.stop.setVisible(True)
        self.start.setVisible(False)
        self._bar.setVisible(True)
        self._bar.setValue(round(fraction * _STEPS))
        done = say("{done} of {runs} runs", done=grouped(int(fraction * runs)), runs=grouped(runs))
        if seconds >= _TIME_FROM_S and fraction >= _SHARE_FROM:
            left = rough(max(seconds / fraction - seconds, 1.0), SECONDS) if seconds / fraction > 60.0 else (
                f"{max(round(seconds / fraction - seconds), 1)}\u00a0s"
            )  # fmt: skip
            done = say("{done}, {time} left", done=done, time=left)
        self._count.show_words(done)
