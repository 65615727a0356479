"""The page "Side by side": scenarios as columns of a table, or as stages of one campaign on one file system."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QStackedWidget, QVBoxLayout, QWidget

from ckptplanner.engine.campaign import Campaign, campaign
from ckptplanner.engine.compare import Case, comparison
from ckptplanner.engine.compare_words import summary
from ckptplanner.engine.cost import Basis
from ckptplanner.engine.scenario import Scenario
from ckptplanner.frozen import spec_of
from ckptplanner.ui.decide.grid import NOTHING, Grid
from ckptplanner.ui.decide.rows import campaign_grid, campaign_words, comparison_grid
from ckptplanner.ui.decide.table import ScenarioTable
from ckptplanner.ui.lines import QuietLine, Sentence
from ckptplanner.ui.scenario_bar import Switch
from ckptplanner.ui.shown import Shown
from ckptplanner.ui.theme import LIGHT, Theme, set_property
from ckptplanner.ui.widgets.empty_page import EmptyPage
from ckptplanner.ui.widgets.quantity_edit import out_of_range
from ckptplanner.ui.words import say, say_text
from ckptplanner.units import DAYS, UnitError, parse

ALTERNATIVES, STAGES = "alternatives", "stages"
DAYS_PATH = "run.days"


class SideBySidePage(QWidget):
    """Shows all scenarios and proposes what to do with them; the order by a figure and what is pinned are its own."""

    scenario_requested = Signal(str, object)  # what, and the scenario or scenarios: see main_window
    field_requested = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("decide.side_by_side")
        self._theme = LIGHT
        self._shown: tuple[Shown, ...] = ()
        self._basis: Basis = "month"
        self._pinned: frozenset[str] = frozenset()
        self._sorted: tuple[str, bool] | None = None  # the row, and whether the best comes last
        self._stages: frozenset[str] = frozenset()  # that were chosen before these became alternatives again
        self.controls = Switch("decide.mode", (
            (ALTERNATIVES, say("Alternatives"), say("One of them will be chosen: differences to the base")),
            (STAGES, say("Stages"), say("They run one after another: one file system for all, dollars and bytes summed")),
        ))  # fmt: skip
        self._sentence = Sentence("decide.sentence", is_title=False)
        self.table = ScenarioTable()
        self._hint = QuietLine()
        self._hint.setObjectName("decide.hint")
        self._empty = EmptyPage("decide", say("Duplicate this scenario (Ctrl+D)"))
        self._empty.show_words(
            say("There is one scenario so far"),
            say("Duplicate it and change the copy: what differs and what follows from that stands here side by side."),
            has_button=True,
        )
        self._stack = QStackedWidget()
        self._place()
        self._connect()

    def _place(self) -> None:
        full = QWidget()
        box = QVBoxLayout(full)
        box.setContentsMargins(0, 0, 0, 0)
        box.setSpacing(0)
        top = QVBoxLayout()
        top.setContentsMargins(16, 6, 16, 6)
        top.addWidget(self._sentence)
        below = QVBoxLayout()
        below.setContentsMargins(16, 4, 16, 6)
        below.addWidget(self._hint)
        box.addLayout(top)
        box.addWidget(self.table, 1)
        box.addLayout(below)
        self._stack.addWidget(self._empty)
        self._stack.addWidget(full)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.addWidget(self._stack)

    def _connect(self) -> None:
        table, ask = self.table, self.scenario_requested
        self._empty.start_requested.connect(lambda: ask.emit("duplicate", None))
        self.controls.chosen.connect(self._on_mode)
        table.sort_requested.connect(self._on_sort)
        table.pin_requested.connect(self._on_pin)
        table.base_requested.connect(lambda name: ask.emit("base", name))
        table.switch_requested.connect(lambda name: ask.emit("switch", name))
        table.order_requested.connect(self._on_order)
        table.stage_requested.connect(self._on_stage)
        table.days_typed.connect(self._on_days)
        table.field_requested.connect(self._on_field)

    # ------------------------------------------------------------ what is shown

    @property
    def is_campaign(self) -> bool:
        """Whether they are shown as stages."""
        return any(one.is_stage for one in self._shown)

    @property
    def picture_widget(self) -> QWidget:
        """What a picture of the page shows."""
        return self.table if len(self._shown) > 1 else self._empty

    def show_plans(self, shown: Sequence[Shown], basis: Basis) -> None:
        """Show all scenarios."""
        self._shown, self._basis = tuple(shown), basis
        names = {one.name for one in shown}
        self._pinned &= names
        self._stages &= names
        self._refuse("")
        self._draw()

    def show_theme(self, theme: Theme) -> None:
        """Take the colours of a theme."""
        self._theme = theme
        self.table.show_theme(theme)
        self._empty.show_theme(theme)
        self._sentence.show_theme(theme)

    def texts(self) -> tuple[list[str], list[list[str]]]:
        """The table as it is copied: headings and rows, each difference in a column of its own."""
        grid = self.table.grid if len(self._shown) > 1 else NOTHING
        has_more = [any(row.cells and row.kind == "figure" and row.cells[at].beside for row in grid.rows)
                    for at in range(len(grid.heads))]  # fmt: skip
        heads = [""]
        for head, more in zip(grid.heads, has_more, strict=True):
            heads += [say("{name}, base", name=head.name) if head.is_base else head.name]
            heads += [say("{name}, difference", name=head.name), "%"] if more else []
        rows = []
        for row in grid.rows:
            cells = [row.title]
            for at, more in enumerate(has_more):
                cell = row.cells[at] if row.cells else None
                beside = cell is not None and row.kind == "figure"
                cells.append(cell.shown if cell else "")
                cells += [cell.difference if cell and beside else "", cell.share if cell and beside else ""] if more else []
            rows.append(cells)
        return heads, rows

    def _draw(self) -> None:
        self._stack.setCurrentIndex(1 if len(self._shown) > 1 else 0)
        self.controls.setVisible(len(self._shown) > 1)
        self.controls.show_choice(STAGES if self.is_campaign else ALTERNATIVES)
        if len(self._shown) < 2:
            return
        if self.is_campaign:
            self._draw_campaign()
        else:
            self._draw_comparison()

    def _draw_comparison(self) -> None:
        base = next(one for one in self._shown if one.is_base)
        found = comparison([Case(one.named, one.plan) for one in self._shown], base.name, self._basis, say_text)
        grid = comparison_grid(found, self._shown, self._pinned)
        order = self._columns(grid)
        self.table.show_grid(grid.picked(order), 1 + len(self._pinned - {base.name}), can_sort=True)
        row_id, is_last = self._sorted or ("", False)
        row = grid.row(row_id)
        self.table.show_sorted(row_id, is_up=row is not None and (row.more_is_better == is_last))
        self._sentence.show_words(say_text(summary(found)))
        self._hint.show_words(say(
            "Click a row or S: sort. Drag or Ctrl+arrow: order. P: pin, B: base, F: field. Enter or a click on a name: show."
        ))  # fmt: skip

    def _columns(self, grid: Grid) -> list[int]:
        """The base, what is pinned, then the others, sorted by a row where one was chosen."""
        row = grid.row(self._sorted[0]) if self._sorted else None
        values = row.sort if row is not None else ()
        signs = -1.0 if row is not None and row.more_is_better != (self._sorted or ("", False))[1] else 1.0

        def key(at: int) -> tuple[bool, bool, bool, float]:
            head = grid.heads[at]
            value = values[at] if values else None
            is_pinned = head.name in self._pinned
            is_sorted = not is_pinned and bool(values)
            return (not head.is_base, not is_pinned, is_sorted and value is None, signs * (value or 0.0) if is_sorted else 0.0)

        return sorted(range(len(grid.heads)), key=key)

    def _draw_campaign(self) -> None:
        stages = [one.named for one in self._shown if one.is_stage]
        found: Campaign | None = campaign(stages) if stages else None
        self.table.show_grid(campaign_grid(found, self._shown), 1, can_sort=False)
        self.table.show_sorted("", is_up=False)
        self._sentence.show_words(campaign_words(found))
        self._hint.show_words(say(
            "Click the first row or press Space: in or out. Double-click the days or press Enter: type them. "
            "Drag a column or Ctrl+arrow: order of the stages."
        ))  # fmt: skip

    # ------------------------------------------------------------ hands

    def _on_mode(self, mode: str) -> None:
        now = frozenset(one.name for one in self._shown if one.is_stage)
        if mode == STAGES and not now:
            everyone = [one.name for one in self._shown]
            self.scenario_requested.emit("campaign", sorted(self._stages, key=everyone.index) or everyone)
        elif mode == ALTERNATIVES and now:
            self._stages = now
            self.scenario_requested.emit("campaign", [])
        self.controls.show_choice(STAGES if self.is_campaign else ALTERNATIVES)

    def _on_sort(self, row_id: str) -> None:
        """The best first, then the best last, then the order of the file again."""
        if self._sorted is None or self._sorted[0] != row_id:
            self._sorted = (row_id, False)
        else:
            self._sorted = None if self._sorted[1] else (row_id, True)
        self._redraw_at_place()

    def _on_pin(self, name: str) -> None:
        self._pinned ^= {name}
        self._redraw_at_place(name)

    def _redraw_at_place(self, name: str | None = None) -> None:
        """Draw again with the same cell under the keys, wherever its column went."""
        place = self.table.place()
        if place is not None and name is None:
            name = self.table.grid.heads[place[1]].name
        self._draw()
        names = [head.name for head in self.table.grid.heads]
        if place is not None and name in names:
            self.table.show_place(place[0], names.index(name))

    def _on_order(self, names: Sequence[str]) -> None:
        """The order that is seen becomes that of the file, the base where it stands among them now."""
        place = self.table.place()
        held = self.table.grid.heads[place[1]].name if place is not None else None
        self._sorted = None
        before = [one.name for one in self._shown]
        fixed = {one.name for one in self._shown if one.is_base or one.name in self._pinned} if not self.is_campaign else set()
        moved = iter([name for name in names if name not in fixed])
        self.scenario_requested.emit("order", [name if name in fixed else next(moved) for name in before])
        if place is not None and held is not None:
            seen = [head.name for head in self.table.grid.heads]
            self.table.show_place(place[0], seen.index(held))

    def _on_stage(self, name: str) -> None:
        now = {one.name for one in self._shown if one.is_stage}
        if now == {name}:
            self._refuse(say("A campaign has at least one stage."))
            return
        self.scenario_requested.emit("campaign", [one.name for one in self._shown if one.name in now ^ {name}])

    def _on_field(self, name: str, path: str) -> None:
        """A field is that of the scenario that the panels show."""
        self.scenario_requested.emit("switch", name)
        self.field_requested.emit(path)

    def _on_days(self, name: str, written: str) -> None:
        """What was typed for the days of a stage: proposed, or refused in the line below while the days that hold stay."""
        try:
            value = parse(written, DAYS)
        except UnitError as error:
            self._refuse(say("{why} The days that hold stay.", why=say(str(error))))
            return
        trouble = out_of_range(value, spec_of(Scenario, DAYS_PATH))
        if trouble:
            self._refuse(say("{why} The days that hold stay.", why=trouble))
            return
        self._refuse("")
        self.scenario_requested.emit("edit", (name, DAYS_PATH, value))

    def _refuse(self, why: str) -> None:
        """Say in the line below why something is not done; empty takes it back."""
        set_property(self._hint, "role", "refusal" if why else "small")
        if why:
            self._hint.show_words(why)
