"""The goal as a person says it: minimise money in all, with storage at most so much, waste at most, work lost at most.

Two lines and a thin bar: what is asked, among which plans, and how far the search is.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QHBoxLayout, QLabel, QMenu, QProgressBar, QPushButton, QVBoxLayout, QWidget

from ckptplanner.engine.families import FAMILIES, FAMILY_NAMES
from ckptplanner.frozen import FieldSpec
from ckptplanner.ui.decide.finder import Finder
from ckptplanner.ui.lines import QuietLine
from ckptplanner.ui.scenario_bar import Switch
from ckptplanner.ui.theme import FIELD_HEIGHT
from ckptplanner.ui.widgets.quantity_edit import QuantityEdit
from ckptplanner.ui.words import say, say_text
from ckptplanner.units import FRACTION, SECONDS, USD_PER_MONTH, Unit, grouped

_STEPS = 1000
_FIELD_WIDTH = 78
_LONG_S = 1.0  # from then on a search can be stopped
MODES = {"any": ("async", "sync"), "async": ("async",), "sync": ("sync",)}


def limit_spec(name: str, title: str, unit: Unit, *, low: float = 0.0, high: float = 1e12, path: str = "goal") -> FieldSpec:
    """What a field for a limit or a price takes; empty is no limit."""
    return FieldSpec(
        path=f"{path}.{name}", title=title, description="", unit=unit, optional=True, choices=(), is_integer=False,
        is_bool=False, default=None, default_source="", low=low, high=high, low_excluded=True,
    )  # fmt: skip


class GoalBar(QWidget):
    """Shows the goal of a finder and proposes others."""

    def __init__(self, finder: Finder, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("goal")
        self._finder = finder
        self._minimise = Switch("goal.minimise", (
            ("cost", say("money in all"), say("Storage, stopped training, rework, restarts and planned stops")),
            ("waste", say("waste"), say("The share of training time that is lost")),
        ))  # fmt: skip
        self._limits = {
            name: QuantityEdit(limit_spec(name, title, unit, high=high), say("any"))
            for name, title, unit, high in (
                ("storage_usd_per_month", say("Storage at most, a month"), USD_PER_MONTH, 1e12),
                ("waste_fraction", say("Waste at most"), FRACTION, 1.0),
                ("worst_rework_s", say("Work lost at most"), SECONDS, 1e9),
            )
        }
        self._levels = Switch("goal.levels", (
            ("any", say("any levels"), say("With local saves between the shared ones, or without")),
            ("single", say("shared only"), say("Every save goes to shared storage")),
            ("two", say("two levels"), say("Local saves between the shared ones")),
        ))  # fmt: skip
        self._modes = Switch("goal.modes", (
            ("any", say("async or sync"), say("Whichever is better")),
            ("async", say("async"), say("Training goes on while a save is written")),
            ("sync", say("sync"), say("Training waits until a save is written")),
        ))  # fmt: skip
        self._families = QPushButton()
        self._families.setObjectName("goal.families")
        self._families.setToolTip(say("Which file systems take part"))
        self._families.setFixedHeight(24)
        self._menu = QMenu(self)
        self._menu.setObjectName("goal.families.menu")
        self._all: QAction = self._menu.addAction(say("All in reach of the nodes"))
        self._all.setCheckable(True)
        self._all.triggered.connect(self._on_all)
        self._menu.addSeparator()
        self._each: dict[str, QAction] = {}
        for family in FAMILIES:
            action = self._each[family] = self._menu.addAction(say_text(FAMILY_NAMES[family]))
            action.setCheckable(True)
            action.setData(family)
            action.triggered.connect(partial(self._on_family, family))
        self._families.setMenu(self._menu)
        self._note = QuietLine()
        self._note.setObjectName("goal.note")
        self._note.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self._bar = QProgressBar()
        self._bar.setObjectName("goal.progress")
        self._bar.setAccessibleName(say("Progress of the search"))
        self._bar.setRange(0, _STEPS)
        self._bar.setTextVisible(False)
        self._bar.setFixedHeight(2)
        keeps = self._bar.sizePolicy()
        keeps.setRetainSizeWhenHidden(True)
        self._bar.setSizePolicy(keeps)
        self.clear = QPushButton(say("no limits"))
        self.clear.setObjectName("goal.clear")
        self.clear.setProperty("role", "link")
        self.stop = QPushButton()
        self.stop.setObjectName("goal.stop")
        self.stop.setProperty("role", "link")
        self._place()
        self._connect()
        self.show_goal()

    def _place(self) -> None:
        first, second = QHBoxLayout(), QHBoxLayout()
        for row in (first, second):
            row.setContentsMargins(16, 0, 16, 0)
            row.setSpacing(8)
        first.addWidget(QLabel(say("Minimise")))
        first.addWidget(self._minimise)
        for name, before, after in (
            ("storage_usd_per_month", say("storage at most"), say("a month")),
            ("waste_fraction", say("waste at most"), ""),
            ("worst_rework_s", say("lose at most"), ""),
        ):
            edit = self._limits[name]
            edit.setFixedSize(_FIELD_WIDTH, FIELD_HEIGHT + 2)
            label = QLabel(before)
            label.setProperty("role", "muted")
            first.addSpacing(4)
            first.addWidget(label)
            first.addWidget(edit)
            if after:
                unit = QLabel(after)
                unit.setProperty("role", "muted")
                first.addWidget(unit)
        first.addStretch(1)
        among = QLabel(say("Among"))
        second.addWidget(among)
        for part in (self._families, self._levels, self._modes):
            second.addWidget(part)
        second.addWidget(self._note, 1)
        second.addWidget(self.stop)
        second.addWidget(self.clear)
        box = QVBoxLayout(self)
        box.setContentsMargins(0, 6, 0, 0)
        box.setSpacing(6)
        box.addLayout(first)
        box.addLayout(second)
        box.addWidget(self._bar)

    def _connect(self) -> None:
        finder = self._finder
        self._minimise.chosen.connect(lambda key: finder.ask(minimise=key))
        self._levels.chosen.connect(lambda key: finder.ask(levels=key))
        self._modes.chosen.connect(lambda key: finder.ask(modes=MODES[key]))
        self.stop.clicked.connect(self._on_stop)
        self.clear.clicked.connect(self._on_clear)
        for edit in self._limits.values():
            edit.edited.connect(self._on_limit)
        finder.changed.connect(self.show_goal)
        finder.progressed.connect(self._on_progressed)

    # ------------------------------------------------------------ what is shown

    def show_goal(self) -> None:
        """Show the goal that holds, and what the search is at."""
        goal, finder = self._finder.goal, self._finder
        self._minimise.show_choice(goal.minimise)
        self._levels.show_choice(goal.levels)
        self._modes.show_choice(next(key for key, modes in MODES.items() if modes == goal.modes))
        values = {name: getattr(goal, name) for name in self._limits}
        for name, edit in self._limits.items():
            edit.show_value(values[name])
        self.clear.setVisible(any(value is not None for value in values.values()))
        self._all.setChecked(goal.families is None)
        for family, action in self._each.items():
            action.setChecked(goal.families is not None and family in goal.families)
        self._families.setText(self._families_words())
        self._bar.setVisible(finder.is_running)
        if not finder.is_running:
            self._bar.setValue(0)
        self._note.show_words(self._words())
        self._show_stop()

    def _show_stop(self) -> None:
        """What takes its time can be stopped, what was stopped can be searched again."""
        finder = self._finder
        self.stop.setText(say("search again") if finder.is_stopped else say("stop"))
        self.stop.setVisible(finder.is_stopped or finder.runs_for_s >= _LONG_S)

    def _families_words(self) -> str:
        families = self._finder.goal.families
        if families is None:
            return say("all file systems in reach")
        if len(families) == 1:
            return say_text(FAMILY_NAMES[families[0]])
        return say("{count} kinds of file systems", count=len(families))

    def _words(self) -> str:
        finder = self._finder
        if finder.trouble:
            return finder.trouble.partition("\n\n")[0]
        if finder.is_running:
            return say("searching")
        if finder.is_stopped:
            return say("stopped")
        found = finder.fresh()
        if found is None:
            return ""
        seconds = f"{max(round(found.seconds, 1), 0.1):g}\u00a0s"
        return say("{count} plans in {time}", count=grouped(found.decision.considered), time=seconds)

    def _on_progressed(self, fraction: float) -> None:
        self._bar.setValue(round(fraction * _STEPS))
        if self.stop.isHidden() and self._finder.runs_for_s >= _LONG_S:
            self._show_stop()

    # ------------------------------------------------------------ hands

    def _on_limit(self, path: str, value: Any) -> None:
        self._finder.ask(**{path.removeprefix("goal."): value})

    def _on_stop(self) -> None:
        (self._finder.again if self._finder.is_stopped else self._finder.stop)()

    def _on_clear(self) -> None:
        self._finder.ask(**dict.fromkeys(self._limits))

    def _on_all(self) -> None:
        self._finder.ask(families=None)
        self.show_goal()

    def _on_family(self, family: str) -> None:
        """The first one chosen stands alone; each further one joins it; none left is all again."""
        now = self._finder.goal.families or ()
        wanted = set(now) ^ {family}
        self._finder.ask(families=tuple(name for name in FAMILIES if name in wanted) or None)
        self.show_goal()
