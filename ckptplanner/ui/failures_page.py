"""The failures page of the Evidence view: what the user's files say about interruptions, and what counts as one.

choices: job, what belongs together, a published record, the period
23 interruptions in 41 days of running on 32 nodes: one every 43 h (30 to 63 h at 90 %).
kinds with their boxes | every stop on a time axis; a drag brushes a period
gaps with the law      | M over time with its band | published records
table of stops; the kind is chosen in its cell
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtGui import QHideEvent, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QSplitter, QStackedWidget, QTabBar, QVBoxLayout, QWidget
from typing_extensions import override

from ckptplanner.data.catalog import interruption_records
from ckptplanner.data.evidence import KIND_TITLES
from ckptplanner.engine.evidence import Choices, FailureRecord, Stop
from ckptplanner.engine.interruptions import scaled_mtbi_s
from ckptplanner.ui.evidence.failure_controls import FailureControls
from ckptplanner.ui.evidence.failure_words import notes, verdict
from ckptplanner.ui.evidence.kind_toggles import KindToggles
from ckptplanner.ui.evidence.stops_table import AS_SAID, StopsTable, headings
from ckptplanner.ui.lines import QuietLine, Sentence
from ckptplanner.ui.plots.failures_gaps import GapsLawPlot
from ckptplanner.ui.plots.failures_mean import MeanPlot, Rung
from ckptplanner.ui.plots.failures_strip import AXIS_PX, Period, StopsStrip
from ckptplanner.ui.theme import LIGHT, Theme
from ckptplanner.ui.widgets.empty_page import EmptyPage
from ckptplanner.ui.words import node_count, say
from ckptplanner.units import SECONDS, brief

_BOTH_FROM = 300  # px below the time axis from which plots and table stand together
_LANE, _LOW_LANE, _LOW_BELOW = 18, 14, 480  # how high a lane is, and in a page that is lower than that [px]
PLOTS, STOPS = range(2)


class FailuresPage(QWidget):
    """Shows a record of interruptions; proposes other choices, which come back through `show_failures`."""

    choices_changed = Signal(object)  # Choices
    open_requested = Signal()
    cursor_moved = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("evidence.failures")
        self._theme = LIGHT
        self._record: FailureRecord | None = None
        self._whole: FailureRecord | None = None  # the last one that no period restricted
        self._choices = Choices()
        self._in_use: tuple[float | None, int | None] = (None, None)
        self._stops: tuple[Stop, ...] = ()  # on the time axis: those outside the period too
        self.controls = FailureControls()
        self.verdict = Sentence("evidence.failures.verdict", is_title=True)
        self.notes = Sentence("evidence.failures.notes", is_title=False)
        self.toggles, self.strip = KindToggles(), StopsStrip()
        self.gaps, self.mean, self.table = GapsLawPlot(), MeanPlot(), StopsTable()
        self._head = QLabel(say("ticked: an interruption"))
        self._hint = QuietLine()
        self.tabs = QTabBar()
        self.splitter = QSplitter(Qt.Orientation.Vertical)
        self._empty = EmptyPage("evidence.failures", say("Open files…"))
        self._stack = QStackedWidget()
        self._picture, self._page = QWidget(), QWidget()
        self._place()
        self._connect()

    # ------------------------------------------------------------ parts

    def _place(self) -> None:
        for part in (self, self._picture, self._page):
            part.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
            part.setProperty("role", "surface")
        self._head.setProperty("role", "small")
        self.tabs.setObjectName("evidence.failures.tabs")
        self.tabs.setExpanding(False)
        for label in (say("Gaps and mean"), say("Stops")):
            self.tabs.addTab(label)
        words = QVBoxLayout()
        words.setContentsMargins(12, 4, 16, 0)
        words.setSpacing(0)
        words.addWidget(self.verdict)
        words.addWidget(self.notes)
        box = QVBoxLayout(self._picture)
        box.setContentsMargins(0, 0, 0, 0)
        box.setSpacing(2)
        box.addLayout(words)
        box.addLayout(self._axis_part())
        box.addWidget(self.tabs)
        box.addWidget(self._below(), 1)
        page = QVBoxLayout(self._page)
        page.setContentsMargins(0, 0, 0, 0)
        page.setSpacing(0)
        page.addWidget(self.controls)
        page.addWidget(self._picture, 1)
        self._stack.addWidget(self._page)
        self._stack.addWidget(self._empty)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.addWidget(self._stack)

    def _axis_part(self) -> QVBoxLayout:
        """The kinds with their boxes, level with the lanes of the time axis."""
        self._hint.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self._head.setFixedHeight(AXIS_PX)
        kinds = QVBoxLayout()
        kinds.setSpacing(0)
        kinds.addWidget(self.toggles)
        kinds.addWidget(self._head)
        lanes = QHBoxLayout()
        lanes.setSpacing(8)
        lanes.addLayout(kinds)
        lanes.addWidget(self.strip, 1)
        part = QVBoxLayout()
        part.setContentsMargins(12, 2, 16, 0)
        part.setSpacing(0)
        part.addWidget(self._hint)
        part.addLayout(lanes)
        return part

    def _below(self) -> QWidget:
        """The two plots over the table."""
        self._plots = QWidget()
        row = QHBoxLayout(self._plots)
        row.setContentsMargins(4, 0, 4, 0)
        row.setSpacing(0)
        row.addWidget(self.gaps, 5)
        row.addWidget(self.mean, 6)
        holder = QWidget()
        inside = QVBoxLayout(holder)
        inside.setContentsMargins(6, 0, 10, 4)
        inside.addWidget(self.table)
        self._rows = holder
        self.splitter.setObjectName("evidence.failures.splitter")
        self.splitter.setChildrenCollapsible(False)
        self.splitter.setHandleWidth(5)
        self.splitter.addWidget(self._plots)
        self.splitter.addWidget(holder)
        self.splitter.setSizes([320, 200])
        self.table.setMinimumHeight(68)
        return self.splitter

    def _connect(self) -> None:
        self.controls.job_chosen.connect(self._on_job)
        self.controls.merge_chosen.connect(self._on_merge)
        self.controls.prior_chosen.connect(self._on_prior)
        self.controls.period_cleared.connect(self._on_period_cleared)
        self.toggles.counted_changed.connect(self._on_counted)
        self.strip.stop_chosen.connect(self._on_stop)
        self.strip.period_chosen.connect(self._on_period)
        self.table.chosen.connect(self._on_row)
        self.table.kind_chosen.connect(self._on_kind)
        self.tabs.currentChanged.connect(self._arrange)
        self._empty.start_requested.connect(self.open_requested)
        for signal in (self.strip.hovered, self.gaps.cursor_moved, self.mean.cursor_moved):
            signal.connect(self.cursor_moved)

    # ------------------------------------------------------------ what is shown

    def show_failures(
        self, record: FailureRecord | None, choices: Choices, in_use_s: float | None, in_use_nodes: int | None
    ) -> None:
        """Show a record under these choices, beside the M that the plan uses at so many nodes; None: nothing to show."""
        self._record, self._choices, self._in_use = record, choices, (in_use_s, in_use_nodes)
        if record is None:
            self._whole = None
        elif choices.period is None or (self._whole is not None and self._whole.job != record.job):
            self._whole = record
        self._draw()

    def show_theme(self, theme: Theme) -> None:
        """Take the colours of a theme."""
        self._theme = theme
        for part in (self.controls, self.verdict, self.notes, self.strip, self.gaps, self.mean, self._empty):
            part.show_theme(theme)
        self._draw()

    @property
    def picture(self) -> QWidget:
        """What a picture of the page shows: all but the row of choices."""
        return self._picture if self._record is not None else self._empty

    def texts(self) -> tuple[list[str], list[list[str]]]:
        """Every stop as heads and rows, for a table."""
        return self.table.texts() if self._record is not None else ([*headings(), say("Counts")], [])

    def _draw(self) -> None:
        record = self._record
        self._stack.setCurrentIndex(1 if record is None else 0)
        if record is None:
            self._empty.show_words(
                say("No interruptions yet"),
                say("Open or drop a folder with what your cluster and your jobs have written: sacct output, logs of training, "
                    "events of nodes or pods. Every end of a run is shown here on a time axis, and how often your job is "
                    "interrupted is counted from it."),
                has_button=True,
            )  # fmt: skip
            return
        self.controls.show_choices(record, self._choices)
        self.verdict.show_words(verdict(record))
        self.notes.show_words(notes(record))
        self.notes.setVisible(bool(self.notes.text()))
        self.gaps.show_record(record)
        self.mean.show_record(record, self._rungs(record))
        with QSignalBlocker(self.table):
            self.table.show_stops(record.stops, self._theme)
        self._draw_axis(record)
        self._arrange()

    def _draw_axis(self, record: FailureRecord) -> None:
        """All stops with their kinds; those that the period leaves out stay in sight."""
        period, whole = self._choices.period, self._whole
        stops, begin, end = record.stops, record.first_s, record.last_s
        if period is not None and whole is not None:
            outside = [stop for stop in whole.stops if not period[0] <= stop.at_s <= period[1]]
            inside = [stop for stop in record.stops if period[0] <= stop.at_s <= period[1]]
            stops = tuple(sorted((*outside, *inside), key=lambda stop: stop.at_s))
            begin, end = min(begin, whole.first_s), max(end, whole.last_s)
        if period is not None:
            begin, end = min(begin, period[0]), max(end, period[1])
        begin, end = (min([begin, *(stop.at_s for stop in stops[:1])]), max([end, *(stop.at_s for stop in stops[-1:])]))
        self._stops = stops
        counts: Counter[str] = Counter(stop.kind for stop in record.stops)
        there = {stop.kind for stop in stops}
        lanes = [kind for kind in KIND_TITLES if kind in there]
        height = _LANE if self.height() >= _LOW_BELOW else _LOW_LANE
        self.strip.show_lane_height(height)
        self.strip.show_stops(stops, lanes, (begin, end), period)
        self.toggles.show_kinds([(kind, counts[kind]) for kind in lanes], self._choices.counted, height, self._theme)
        self._hint.show_words(
            say("Drag over the dates to take a period only") if period is None
            else say("Only the period between the blue lines is taken; Esc takes all")
        )  # fmt: skip
        self._show_chosen()

    def _rungs(self, record: FailureRecord) -> list[Rung]:
        """What stands on the ruler beside M: what was counted, what the plan uses, and published records at this size."""
        found: list[Rung] = []
        has_nodes = math.isfinite(record.nodes) and record.nodes >= 1.0
        if math.isfinite(record.mtbi_s):
            found.append(Rung(say("counted"), record.mtbi_s, verdict(record), "counted"))
        elif math.isfinite(record.low_s):
            found.append(Rung(say("at least"), record.low_s, verdict(record), "counted"))
        if (combined := record.combined) is not None:
            words = say("Together with {name} one every {mean}", name=combined.name, mean=brief(combined.mtbi_s, SECONDS))
            found.append(Rung(say("combined"), combined.mtbi_s, words, "combined"))
        seconds, nodes = self._in_use
        if seconds is not None:
            here = scaled_mtbi_s(seconds, nodes, 1) / record.nodes if nodes is not None and has_nodes else seconds
            words = say("The plan in use has one every {mean}", mean=brief(here, SECONDS))
            found.append(Rung(say("in use"), here, words, "in use"))
        if has_nodes:
            here_nodes = node_count(round(record.nodes))
            for row in interruption_records():
                mean = scaled_mtbi_s(row.mtbi_s, row.nodes, 1) / record.nodes
                words = say(
                    "{name}: one every {mean} at {here}, counted at {nodes}", name=row.name, mean=brief(mean, SECONDS),
                    here=here_nodes, nodes=node_count(row.nodes),
                )  # fmt: skip
                found.append(Rung(row.name, mean, words, "chosen" if row.id == self._choices.prior else "record"))
        return found

    # ------------------------------------------------------------ room

    def _arrange(self) -> None:
        """Plots and table together where there is room for both; else one of them, under tabs."""
        used = self.controls.sizeHint().height() + self.verdict.height() + self.notes.height() + self.strip.height() + 20
        is_both = self.height() - used >= _BOTH_FROM
        self.tabs.setVisible(not is_both)
        self._hint.setVisible(is_both)
        self.controls.show_hint("" if is_both or self._choices.period is not None else say("Drag over the dates for a period"))
        self._plots.setVisible(is_both or self.tabs.currentIndex() == PLOTS)
        self._rows.setVisible(is_both or self.tabs.currentIndex() == STOPS)

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if self._record is not None:
            self._draw_axis(self._record)
        self._arrange()

    @override
    def hideEvent(self, event: QHideEvent) -> None:
        """Nothing of this page is pointed at any more."""
        super().hideEvent(event)
        self.cursor_moved.emit("")

    # ------------------------------------------------------------ hands

    def _propose(self, choices: Choices) -> None:
        if choices != self._choices:
            self.choices_changed.emit(choices)

    def _on_job(self, job: str) -> None:
        self._propose(replace(self._choices, job=job, period=None))

    def _on_merge(self, seconds: float) -> None:
        self._propose(replace(self._choices, merge_s=seconds))

    def _on_prior(self, record: str) -> None:
        self._propose(replace(self._choices, prior=record or None))

    def _on_period_cleared(self) -> None:
        self._propose(replace(self._choices, period=None))

    def _on_period(self, period: Period | None) -> None:
        self._propose(replace(self._choices, period=period))

    def _on_counted(self, kind: str, is_counted: bool) -> None:
        counted = self._choices.counted | {kind} if is_counted else self._choices.counted - {kind}
        self._propose(replace(self._choices, counted=frozenset(counted)))

    def _on_kind(self, key: str, kind: str) -> None:
        others = tuple(one for one in self._choices.kinds if one[0] != key)
        chosen = () if kind == AS_SAID else ((key, kind),)
        self._propose(replace(self._choices, kinds=(*others, *chosen)))

    def _on_stop(self, index: int) -> None:
        """A stop on the time axis: its row, where the table has it."""
        assert self._record is not None
        key = self._stops[index].key
        row = next((place for place, stop in enumerate(self._record.stops) if stop.key == key), -1)
        self.strip.show_chosen(index)
        if row >= 0:
            if self.tabs.isVisible():
                self.tabs.setCurrentIndex(STOPS)
            self.table.choose(row)

    def _on_row(self, _: int) -> None:
        self._show_chosen()

    def _show_chosen(self) -> None:
        """Mark the table's current stop on the time axis."""
        row, record = self.table.currentIndex().row(), self._record
        if record is None or not 0 <= row < len(record.stops):
            self.strip.show_chosen(-1)
            return
        key = record.stops[row].key
        self.strip.show_chosen(next((place for place, stop in enumerate(self._stops) if stop.key == key), -1))
