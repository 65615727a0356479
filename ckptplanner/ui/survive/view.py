"""The Survive view: choose what happens; see what is left, from where training restarts, and what the clock does."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QRectF, Qt, Signal
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QScrollArea, QStackedWidget, QVBoxLayout, QWidget
from typing_extensions import override

from ckptplanner.engine.cost import Basis
from ckptplanner.engine.node_plan import EVENTS, Event
from ckptplanner.engine.plan import Plan
from ckptplanner.ui.lines import QuietLine, Sentence
from ckptplanner.ui.shown import Shown, base_of, current_of
from ckptplanner.ui.survive.case import Case, Cluster, case_of, cluster_of, event_of, example_of
from ckptplanner.ui.survive.facts import facts
from ckptplanner.ui.survive.grid import NodeGrid
from ckptplanner.ui.survive.matrix import TALLEST, TierMatrix, table_of
from ckptplanner.ui.survive.parts import Events
from ckptplanner.ui.survive.timeline import Timeline
from ckptplanner.ui.theme import LIGHT, Theme
from ckptplanner.ui.words import say, say_text

_EDGE = 16
_MOST_OFFERED = 4
_NODES: tuple[Event, ...] = ("node_lost", "group_lost", "rack_lost", "cluster_lost")


class Picture(QWidget):
    """Sentences, grid, matrix and interval: what a picture of the view shows."""

    def __init__(self, grid: NodeGrid, matrix: TierMatrix, timeline: Timeline) -> None:
        super().__init__()
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setProperty("role", "surface")
        self.sentence = Sentence("survive.sentence", is_title=True)
        self.detail = Sentence("survive.detail", is_title=False)
        self._grid = grid
        self._upper = QWidget()
        row = QHBoxLayout(self._upper)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(24)
        row.addWidget(grid, 42)
        row.addWidget(matrix, 58)
        self._theme = LIGHT
        self._timeline = timeline
        box = QVBoxLayout(self)
        box.setContentsMargins(_EDGE, 4, _EDGE, 0)
        box.setSpacing(0)
        box.addWidget(self.sentence)
        box.addWidget(self.detail)
        box.addSpacing(6)
        box.addWidget(self._upper, 1000)
        box.addSpacing(12)
        box.addWidget(timeline)
        box.addStretch(1)

    def fit(self) -> None:
        """Grid and matrix grow with the window while that makes them more readable; what is left stays below."""
        self._upper.setMaximumHeight(max(self._grid.tallest(self._grid.width()), TALLEST))

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        self.fit()

    def show_theme(self, theme: Theme) -> None:
        """Take the colours of a theme."""
        self._theme = theme
        for label in (self.sentence, self.detail):
            label.show_theme(theme)
        self.update()

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        for y in (0, self._timeline.y() - 8):
            painter.fillRect(0, y, self.width(), 1, QColor(self._theme.hairline))


class SurviveView(QWidget):
    """What an event leaves of the checkpoints, and the way back to training."""

    edited = Signal(str, object)
    gesture_ended = Signal()
    field_requested = Signal(str)
    cursor_moved = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("survive_view")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setProperty("role", "surface")
        self._shown: Shown | None = None
        self._base: Shown | None = None
        self._case: Case | None = None
        self._event: Event = "node_lost"
        self._lost: frozenset[int] = frozenset()
        self._moment_s: float | None = None
        self._theme = LIGHT
        self.events, self.grid, self.matrix, self.timeline = Events(), NodeGrid(), TierMatrix(), Timeline()
        self._picture = Picture(self.grid, self.matrix, self.timeline)
        self._facts = QuietLine()
        self._facts.setObjectName("survive.facts")
        self._offer = QWidget()
        self._none = QLabel()
        self._propose = QPushButton()
        self._copies = 2
        self._empty = QLabel()
        self._stack = QStackedWidget()
        self._place()
        self._connect()

    def _place(self) -> None:
        self._none.setObjectName("survive.no_replicas")
        self._none.setProperty("role", "small")
        self._propose.setObjectName("survive.propose")
        self._propose.setProperty("role", "link")
        self._propose.setToolTip(say("Let other nodes hold the shards of every node too"))
        row = QHBoxLayout(self._offer)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(8)
        row.addWidget(self._none)
        row.addWidget(self._propose)
        foot = QHBoxLayout()
        foot.setContentsMargins(_EDGE, 0, _EDGE, 4)
        foot.setSpacing(16)
        foot.addWidget(self._offer)
        foot.addWidget(self._facts, 1)
        top = QHBoxLayout()
        top.setContentsMargins(_EDGE, 5, _EDGE, 5)
        top.addWidget(self.events)
        full = QWidget()
        box = QVBoxLayout(full)
        box.setContentsMargins(0, 0, 0, 0)
        box.setSpacing(0)
        box.addLayout(top)
        scroll = QScrollArea()
        scroll.setWidgetResizable(True)
        scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        scroll.setWidget(self._picture)
        box.addWidget(scroll, 1)
        box.addLayout(foot)
        self._empty.setObjectName("survive.empty")
        self._empty.setProperty("role", "muted")
        self._empty.setWordWrap(True)
        self._empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._empty.setMargin(32)
        self._stack.addWidget(full)
        self._stack.addWidget(self._empty)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.addWidget(self._stack)

    def _connect(self) -> None:
        self.events.chosen.connect(self._on_event)
        self.matrix.event_chosen.connect(self._on_event)
        self.grid.lost_chosen.connect(self._on_lost)
        self.timeline.moment_chosen.connect(self._on_moment)
        self.timeline.field_requested.connect(self.field_requested)
        self.grid.hovered.connect(self.cursor_moved)
        self.timeline.hovered.connect(self.cursor_moved)
        self._propose.clicked.connect(self._on_propose)

    # ------------------------------------------------------------ what is shown

    @property
    def picture_widget(self) -> QWidget:
        """What a picture of the view shows."""
        return self._picture

    def texts(self) -> tuple[list[str], list[list[str]]]:
        """The matrix as heads and rows, for a table."""
        return ([], []) if self._case is None else table_of(self._case)

    def show_theme(self, theme: Theme) -> None:
        """Take the colours of a theme."""
        self._theme = theme
        for part in (self._picture, self.grid, self.matrix, self.timeline):
            part.show_theme(theme)

    def show_plans(self, shown: Sequence[Shown], basis: Basis) -> None:
        """Draw the current plan with the event that was chosen last."""
        self._shown, self._base = current_of(shown), base_of(shown)
        plan = self._shown.plan
        if plan.schedule is None:
            self._case = None
            self._empty.setText(_why_empty(plan))
            self._stack.setCurrentIndex(1)
            return
        self._stack.setCurrentIndex(0)
        cluster = cluster_of(plan)
        self._lost = frozenset(node for node in self._lost if node < cluster.nodes)
        if self._event in _NODES:
            if not self._lost:
                self._lost = example_of("node_lost", cluster, 0)
            self._event = event_of(plan, self._lost)
        self._draw()

    def _draw(self) -> None:
        if self._shown is None or self._shown.plan.schedule is None:
            return
        shown, before = self._shown, self._case
        moment = self._moment_s
        base = self._base
        case = case_of(shown.plan, self._event, self._lost, moment, index=shown.index, before=before, base=base)
        if moment is not None:  # another plan or tier: the moment must lie in its interval
            span = case.range_s
            if span is None or not span[0] <= moment <= span[1]:
                moment = None
                case = case_of(shown.plan, self._event, self._lost, None, index=shown.index, before=case, base=base)
        self._moment_s, self._case = moment, case
        self.events.show_case(case)
        self._picture.sentence.show_words(say_text(case.survival.sentence))
        detail = say_text(case.survival.detail)
        if shown.plan.count("error"):
            detail = say("Only once the errors of this plan are mended: {detail}", detail=detail)
        self._picture.detail.show_words(detail)
        for part in (self.grid, self.matrix, self.timeline):
            part.show_case(case)
        self._picture.fit()
        self._show_offer(shown.plan, case.cluster)
        self._facts.show_words(("\u00a0" * 6).join(facts(shown.plan, case.cluster)))

    def _show_offer(self, plan: Plan, cluster: Cluster) -> None:
        """Without copies on other nodes: what that means, and the least that would change it where it can be formed."""
        self._offer.setVisible(cluster.factor < 2 and cluster.nodes > 1)
        made = plan.replication
        if made is not None and not made.is_legal:
            self._none.setText(say("The groups cannot be formed: a lost node sends everything to shared storage"))
        else:
            self._none.setText(say("No replicas: a lost node sends everything to shared storage"))
        legal = (2,) if made is None else tuple(factor for factor in made.legal_factors if 2 <= factor <= _MOST_OFFERED)
        self._copies = min(legal, default=2)
        self._propose.setVisible(bool(legal))
        self._propose.setText(say("Keep {count} copies", count=self._copies))

    # ------------------------------------------------------------ hands

    def _on_event(self, key: str) -> None:
        if self._case is None:
            return
        cluster = self._case.cluster
        if key == "rack_lost" and not cluster.rack_nodes:
            self.events.show_case(self._case)
            self.field_requested.emit("replication.rack_nodes")
            return
        if key != "nodes":
            event = next(one for one in EVENTS if one == key)
            self._lost = example_of(event, cluster, self._node(cluster))
            self._event = event
        self._draw()

    def _node(self, cluster: Cluster) -> int:
        """The node that an example is made of: a lost one, or the one that the keys act on."""
        few = self._lost if len(self._lost) < cluster.nodes else frozenset()
        return min(few, default=self.grid.cells.cursor_node)

    def _on_lost(self, lost: frozenset[int]) -> None:
        if self._case is None:
            return
        self._lost = lost
        self._event = event_of(self._case.plan, lost) if lost else "process_restart"
        self._draw()

    def _on_moment(self, moment_s: float | None) -> None:
        self._moment_s = moment_s
        self._draw()

    def _on_propose(self) -> None:
        self.edited.emit("replication.factor", self._copies)
        self.gesture_ended.emit()


def _why_empty(plan: Plan) -> str:
    """Why there is nothing to draw: the first error of the plan."""
    reason = next((finding.text for finding in plan.findings if finding.severity == "error"), None)
    if reason is None:
        return say("There is no schedule of saves yet, so there is nothing to restart from.")
    return say("There is no schedule of saves yet, so there is nothing to restart from. {reason}", reason=say_text(reason))


def paint_survival(
    painter: QPainter,
    room: QRectF,
    plan: Plan,
    event: Event,
    theme: Theme,
    *,
    lost: frozenset[int] | None = None,
    index: int = 0,
) -> None:
    """Paint sentences, grid, matrix and interval into a rectangle, as lines and words, for a report."""
    from ckptplanner.ui.survive.pages import paint_case

    if plan.schedule is not None:
        paint_case(painter, room, case_of(plan, event, lost, index=index), theme)
