"""The Path view: the phases of a save and a restart, the node as a board with the chosen phase lit, host RAM, the hops."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFont, QFontMetricsF, QPainter, QPaintEvent, QResizeEvent, QShowEvent, QTextLayout
from PySide6.QtWidgets import (
    QCheckBox,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)
from typing_extensions import override

from ckptplanner.engine.cost import Basis
from ckptplanner.engine.node_plan import Phase
from ckptplanner.engine.plan import Plan
from ckptplanner.ui.diagram.board import Board, paint_board, phase_of
from ckptplanner.ui.diagram.faster import faster_option
from ckptplanner.ui.diagram.hops_table import HopsTable
from ckptplanner.ui.diagram.node import node_of
from ckptplanner.ui.diagram.outside import offer_words
from ckptplanner.ui.diagram.paint import legend_widths, paint_legend
from ckptplanner.ui.diagram.phase_bar import PhaseBar
from ckptplanner.ui.diagram.ram_bar import RamBar
from ckptplanner.ui.shown import Shown, base_of, current_of
from ckptplanner.ui.theme import BODY_PX, LIGHT, Theme, font, set_property
from ckptplanner.ui.words import say, say_text
from ckptplanner.units import SECONDS, grouped, rough

_FIRST = "shared_write"
_NARROW, _WIDE, _ROOM_FOR_OFFER = 1000, 1400, 540
_OF_THE_SYSTEM = ("disks", "servers_network", "connections")


class Legend(QWidget):
    """What colour and thickness mean."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = LIGHT
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)

    def show_theme(self, theme: Theme) -> None:
        """Take the colours of a theme."""
        self._theme = theme
        self.update()

    @override
    def sizeHint(self) -> QSize:
        return QSize(int(sum(legend_widths(self._theme))) + 8, self.height_for(self.width()))

    def height_for(self, wide: float) -> int:
        """One row or two."""
        return 20 if sum(legend_widths(self._theme)) + 8 <= wide else 40

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        self.setFixedHeight(self.height_for(self.width()))

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        paint_legend(QPainter(self), QRectF(self.rect()), self._theme)


class Words(QLabel):
    """A sentence in at most so many lines; what does not fit is in its tooltip."""

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName(name)
        self.setWordWrap(True)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self._words, self._most = "", 2

    def show_words(self, words: str, most: int = 2) -> None:
        """Show a text in at most `most` lines."""
        if (words, most) != (self._words, self._most):
            self._words, self._most = words, most
            self._fit()

    @property
    def words(self) -> str:
        """The whole text."""
        return self._words

    def _fit(self) -> None:
        shown = clamped(self._words, self.font(), self.width(), self._most)
        self.setText(shown)
        self.setToolTip("" if shown == self._words else self._words)
        self.setAccessibleName(self._words)

    @override
    def minimumSizeHint(self) -> QSize:
        return QSize(160, 16)

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()


def clamped(words: str, made: QFont, wide: float, most: int) -> str:
    """A text cut to what stands in `most` lines of that width."""
    lines: list[str] = []
    metrics = QFontMetricsF(made)
    paragraphs = words.split("\n")
    for number, paragraph in enumerate(paragraphs):
        layout = QTextLayout(paragraph, made)
        layout.beginLayout()
        while (line := layout.createLine()).isValid():
            line.setLineWidth(max(wide, 40))
            lines.append(paragraph[line.textStart() : line.textStart() + line.textLength()])
            if len(lines) == most:
                rest = " ".join([paragraph[line.textStart() :], *paragraphs[number + 1 :]])
                layout.endLayout()
                if metrics.horizontalAdvance(rest) <= wide:
                    return words
                kept = "".join(lines[:-1])
                return words[: len(kept) + words[len(kept) :].startswith("\n")] + metrics.elidedText(
                    rest, Qt.TextElideMode.ElideRight, wide
                )
        layout.endLayout()
    return words


class PathView(QWidget):
    """Everything about the way of the data. Ceilings are edited in their fields; only a faster file system is taken here."""

    edited = Signal(str, object)
    gesture_ended = Signal()
    field_requested = Signal(str)
    cursor_moved = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("path_view")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setProperty("role", "surface")
        self._theme = LIGHT
        self._shown: tuple[Shown, ...] = ()
        self._name = _FIRST
        self._faster = ""  # id of what the offer would take
        self._is_stale = False
        self.phases = PhaseBar()
        self.board, self.ram, self.hops, self._legend = Board(), RamBar(), HopsTable(), Legend()
        self._sentence, self._detail = Words("path_sentence"), Words("path_detail")
        self._sentence.setFont(font(BODY_PX, bold=True))
        self._detail.setProperty("role", "muted")
        self._gradients = QCheckBox(say("Show gradients (hot path)"))
        self._gradients.setObjectName("path_gradients")
        self._gradients.setToolTip(say("Where a gradient goes, beside the way of a checkpoint"))
        self._offer = self._offer_row()
        self._hops_title = QLabel()
        self._hops_title.setProperty("role", "title")
        self._empty_title, self._empty_words = QLabel(say("The way of the data is not known yet")), QLabel()
        self._stack = QStackedWidget()
        self._stack.addWidget(self._full())
        self._stack.addWidget(self._vacant())
        box = QVBoxLayout(self)
        box.setContentsMargins(0, 0, 0, 0)
        box.addWidget(self._stack)
        self._connect()

    def _offer_row(self) -> QWidget:
        """What would write faster, and a button that takes it."""
        offer = QWidget()
        offer.setObjectName("path_offer")
        self._offer_words = Words("path_offer_words")
        self._offer_words.setProperty("role", "muted")
        self._offer_button = QPushButton(say("Take it"))
        self._offer_button.setObjectName("path_take")
        self._offer_button.setToolTip(say("Makes it the file system of this plan; Undo takes that back"))
        row = QHBoxLayout(offer)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(12)
        row.addWidget(self._offer_words, 1)
        row.addWidget(self._offer_button)
        row.addStretch(0)
        return offer

    def _full(self) -> QWidget:
        head = QVBoxLayout()
        head.setSpacing(0)
        head.addWidget(self._sentence)
        head.addWidget(self._detail)
        foot = QHBoxLayout()
        foot.setSpacing(16)
        foot.addWidget(self._gradients, 0, Qt.AlignmentFlag.AlignTop)
        foot.addWidget(self._legend, 1)
        column = QWidget()
        middle = QVBoxLayout(column)
        middle.setContentsMargins(16, 8, 12, 8)
        middle.setSpacing(8)
        middle.addLayout(head)
        middle.addWidget(self.board, 1)
        middle.addWidget(self._offer)
        middle.addLayout(foot)
        scroll = QScrollArea()  # in a low window what does not fit is scrolled to, and nothing lies over anything
        scroll.setObjectName("path_scroll")
        scroll.setWidgetResizable(True)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        scroll.setWidget(column)
        self._side = QWidget()
        self._side.setObjectName("path_side")
        side = QVBoxLayout(self._side)
        side.setContentsMargins(12, 8, 12, 8)
        side.setSpacing(4)
        side.addWidget(self.ram, 1)
        side.addSpacing(8)
        side.addWidget(self._hops_title)
        side.addWidget(self.hops)
        body = QHBoxLayout()
        body.setSpacing(0)
        body.addWidget(scroll, 1)
        body.addWidget(_rule(vertical=True))
        body.addWidget(self._side)
        full = QWidget()
        box = QVBoxLayout(full)
        box.setContentsMargins(0, 0, 0, 0)
        box.setSpacing(0)
        box.addWidget(self.phases)
        box.addWidget(_rule(vertical=False))
        box.addLayout(body, 1)
        return full

    def _vacant(self) -> QWidget:
        """What is shown where there is no data path: what would fill it."""
        vacant = QWidget()
        vacant.setObjectName("path_empty")
        box = QVBoxLayout(vacant)
        box.setContentsMargins(32, 32, 32, 32)
        box.setSpacing(8)
        self._empty_title.setProperty("role", "title")
        self._empty_words.setProperty("role", "muted")
        self._empty_words.setWordWrap(True)
        self._empty_words.setText(
            say(
                "Choose the kind of node and a file system: then the way from GPU memory to storage is drawn, hop by hop, "
                "with the part that bounds each phase."
            )
        )
        self._empty_link = QLabel(f'<a href="workload.node">{say("Choose the node")}</a>')
        self._empty_link.setObjectName("path_empty_link")
        self._empty_link.setTextInteractionFlags(
            Qt.TextInteractionFlag.LinksAccessibleByMouse | Qt.TextInteractionFlag.LinksAccessibleByKeyboard
        )
        box.addStretch(1)
        for label in (self._empty_title, self._empty_words, self._empty_link):
            label.setAlignment(Qt.AlignmentFlag.AlignHCenter)
            box.addWidget(label)
        box.addStretch(2)
        return vacant

    def _connect(self) -> None:
        self.phases.chosen.connect(self.show_phase)
        self._gradients.toggled.connect(self._on_gradients)
        for part in (self.board, self.ram, self.hops):
            part.field_requested.connect(self.field_requested)
        self._offer_button.clicked.connect(self._on_taken)
        self._empty_link.linkActivated.connect(self.field_requested)
        self.board.cursor_moved.connect(self.cursor_moved)
        self.board.hop_pointed.connect(self.hops.show_hop)
        self.hops.hop_pointed.connect(self.board.show_hop)

    # ------------------------------------------------------------ what is shown

    def show_plans(self, shown: Sequence[Shown], basis: Basis) -> None:
        """Draw everything it is given. (Nothing here is money, so the basis does not matter.)"""
        self._shown = tuple(shown)
        self._draw_if_seen()

    def show_theme(self, theme: Theme) -> None:
        """Take the colours of a theme."""
        self._theme = theme
        self._legend.show_theme(theme)
        self.board.show_theme(theme)
        self._draw_if_seen()

    def show_phase(self, name: str) -> None:
        """Light another phase."""
        self._name = name
        self._draw_if_seen()

    @property
    def phase(self) -> str:
        """The name of the phase that is lit."""
        return self._name

    def texts(self) -> list[list[str]]:
        """The hops of the phase, as they are copied."""
        if self._is_stale:
            self._draw()
        return self.hops.texts()

    @property
    def picture_widget(self) -> PathView:
        """What a picture is taken of."""
        return self

    def paint_on(self, painter: QPainter, target: QRectF) -> None:
        """Draw the board as vectors."""
        plan = self._plan()
        if plan is not None:
            paint_board(painter, target, plan, self._name, self._theme, shows_gradients=self._gradients.isChecked())

    def _plan(self) -> Plan | None:
        return current_of(self._shown).plan if self._shown else None

    def _draw_if_seen(self) -> None:
        """Draw now, or once it is looked at: other views are dragged in while this one is hidden."""
        if self.isVisible():
            self._draw()
        else:
            self._is_stale = True

    @override
    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self._is_stale:
            self._draw()

    def _draw(self) -> None:
        self._is_stale = False
        plan = self._plan()
        if plan is None or plan.datapath is None or not plan.datapath.phases:
            self._stack.setCurrentIndex(1)
            return
        self._stack.setCurrentIndex(0)
        phases = plan.datapath.phases
        if all(phase.name != self._name for phase in phases):
            self._name = phases[0].name
        base = base_of(self._shown)
        of_base = base.plan.datapath.phases if base is not None and base.plan.datapath is not None else ()
        self.phases.show_phases(phases, of_base, self._name, self._theme)
        phase = phase_of(plan, self._name)
        assert phase is not None
        is_hot = self._gradients.isChecked()
        set_property(self._detail, "role", "small" if is_hot else "muted")
        self._sentence.show_words(say_text(phase.sentence))
        self._detail.show_words(self._contrast_words(plan) if is_hot else say_text(phase.detail), 4 if is_hot else 2)
        self.board.show_phase(plan, self._name)
        self.ram.show_ram(plan.host_ram, current_of(self._shown).index, self._theme)
        self._show_offer(plan, phase)
        self._hops_title.setText(say("Hops: {phase}", phase=say_text(phase.title)))
        self.hops.show_phase(phase, self._theme)

    def _show_offer(self, plan: Plan, phase: Phase) -> None:
        """Where the file system is the limit: what would be faster."""
        limit, chosen = phase.limit, plan.storage.chosen
        is_system = limit is not None and limit.id in _OF_THE_SYSTEM and phase.name in {"shared_write", "restore_shared"}
        found = faster_option(plan) if is_system else None
        self._faster = found.id if found is not None else ""
        if found is not None and chosen is not None:
            more = (found.usd_per_month or 0.0) - (chosen.usd_per_month or 0.0)
            values = {
                "system": say_text(offer_words(found)), "time": rough(found.writes_in_s, SECONDS),
                "money": f"${grouped(abs(more))}",
            }  # fmt: skip
            words = (
                say("Faster: {system} writes in {time} for {money} a month more", **values)
                if more >= 0
                else say("Faster: {system} writes in {time} for {money} a month less", **values)
            )
            self._offer_words.setMaximumWidth(int(QFontMetricsF(font()).horizontalAdvance(words)) + 4)
            self._offer_words.show_words(words, 1)
        self._fit()

    def _on_taken(self) -> None:
        self.edited.emit("storage.tier", self._faster)
        self.gesture_ended.emit()

    def _contrast_words(self, plan: Plan) -> str:
        """Who moves what: the hot path beside the cold one."""
        node = node_of(plan)
        if node.cards:
            hot = say(
                "Gradient, dashed: from GPU memory to a peer's by RDMA, past CPU and host RAM; the card's SmartNIC (DPU) moves "
                "it, as it does remote writes."
            )
        elif plan.scenario.workload.node.gpu_rdma:
            hot = say("Gradient, dashed: by RDMA past host RAM, over the one card that checkpoints take as well.")
        else:
            hot = say("Gradient, dashed: through host RAM; no RDMA card of this node is known.")
        cold = say(
            "Snapshot: to host RAM by the GPU's DMA engine, never by a SmartNIC or a CPU core; the cores serialise, compress "
            "and send it later."
        )
        return f"{hot}\n{cold}"

    def _on_gradients(self, is_shown: bool) -> None:
        self.board.show_gradients(is_shown)
        self._draw()

    def _fit(self) -> None:
        wide = self.width()
        self._offer.setVisible(bool(self._faster) and self.height() >= _ROOM_FOR_OFFER)
        self._side.setFixedWidth(248 if wide < _NARROW else 272 if wide < _WIDE else 320)

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()


def _rule(*, vertical: bool) -> QWidget:
    """A hairline."""
    rule = QWidget()
    rule.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
    rule.setProperty("role", "rule")
    if vertical:
        rule.setFixedWidth(1)
    else:
        rule.setFixedHeight(1)
    return rule
