"""Where the slow work of a page is done and seen: its head, how far the work is, and a picture of what was found.

    [ head of the page ...                       43 %  Stop ]
    [#########-------------------------------------------- ]    only while something is worked out
    [ picture of the newest result, pale while it is old    ]    or what is missing, with the button that helps

What is worked out is named by a key. The newest key wins; a few results are kept, so that going back costs nothing. While
nobody sees the page nothing is worked out: whoever shows it again asks again.
"""

from __future__ import annotations

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QCloseEvent, QHideEvent
from PySide6.QtWidgets import (
    QHBoxLayout,
    QMessageBox,
    QProgressBar,
    QPushButton,
    QScrollArea,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)
from typing_extensions import override

from ckptplanner.engine.cost import Basis
from ckptplanner.ui.background import TaskRunner, Work
from ckptplanner.ui.lines import QuietLine
from ckptplanner.ui.shown import Shown
from ckptplanner.ui.theme import LIGHT, Theme, set_property
from ckptplanner.ui.widgets.empty_page import EmptyPage
from ckptplanner.ui.words import say

_KEPT = 6
_STEPS = 1000  # of the bar
_QUIET_MS = 150  # without another change, before an old result is worked out anew: a drag does not start fifty jobs
_EDGE = 16


class Bench(QWidget):
    """Works something out for a page and shows the page's picture of it."""

    drawn = Signal()  # the picture is to be drawn: a result came, or what is shown became old
    help_requested = Signal()  # by the button of the empty page

    def __init__(self, name: str, head: QWidget, picture: QWidget, button: str = "", parent: QWidget | None = None) -> None:
        """Build it; `button` is what the empty page offers where something is missing."""
        super().__init__(parent)
        self._asked: tuple[object, Work] | None = None
        self._running: object | None = None
        self._kept: dict[object, object] = {}  # results by key, the newest last
        self._trouble = ""
        self._is_stopped = False
        self._helps = button
        self._runner = TaskRunner(self)
        self._quiet = QTimer(self)
        self._quiet.setObjectName(f"{name}.quiet")
        self._quiet.setSingleShot(True)
        self._quiet.timeout.connect(self._begin)
        self._note = QuietLine()
        self._note.setObjectName(f"{name}.note")
        self._note.setFixedWidth(56)
        self._stop = self._link(f"{name}.stop", say("Stop"))
        self._details = self._link(f"{name}.details", say("Details…"))
        self._bar = QProgressBar()
        self._bar.setObjectName(f"{name}.progress")
        self._bar.setRange(0, _STEPS)
        self._bar.setTextVisible(False)
        self._bar.setFixedHeight(4)
        self._bar.setAccessibleName(say("How far the work is"))
        self._empty = EmptyPage(name, button or say("Work it out"))
        self._scroll = QScrollArea()
        self._scroll.setWidgetResizable(True)
        self._scroll.setWidget(picture)
        self._stack = QStackedWidget()
        self._stack.addWidget(self._scroll)
        self._stack.addWidget(self._empty)
        self.head, self._top = head, QWidget()
        self._place()
        self._stop.clicked.connect(self.stop)
        self._details.clicked.connect(self._on_details)
        self._empty.start_requested.connect(self._on_button)
        self._runner.progressed.connect(self._on_progressed)
        self._runner.finished.connect(self._on_finished)
        self._runner.failed.connect(self._on_failed)

    def _link(self, name: str, words: str) -> QPushButton:
        made = QPushButton(words)
        made.setObjectName(name)
        made.setProperty("role", "link")
        made.setVisible(False)
        return made

    def _place(self) -> None:
        keeps = self._bar.sizePolicy()
        keeps.setRetainSizeWhenHidden(True)
        self._bar.setSizePolicy(keeps)
        self._bar.setVisible(False)
        row = QHBoxLayout()
        row.setContentsMargins(_EDGE, 8, _EDGE, 4)
        row.setSpacing(8)
        row.addWidget(self.head, 1)
        row.addWidget(self._note)
        row.addWidget(self._stop)
        row.addWidget(self._details)
        bar = QHBoxLayout()
        bar.setContentsMargins(_EDGE, 0, _EDGE, 0)
        bar.addWidget(self._bar)
        top = QVBoxLayout(self._top)
        top.setContentsMargins(0, 0, 0, 0)
        top.setSpacing(0)
        top.addLayout(row)
        top.addLayout(bar)
        box = QVBoxLayout(self)
        box.setContentsMargins(0, 0, 0, 0)
        box.setSpacing(0)
        box.addWidget(self._top)
        box.addWidget(self._stack, 1)

    # ------------------------------------------------------------ what is asked

    def ask(self, key: object, work: Work) -> None:
        """Show what `work` gives: at once where it is known, else once it has been worked out."""
        is_new = self._asked is None or self._asked[0] != key
        if is_new:
            self._trouble, self._is_stopped = "", False
        self._asked = (key, work)
        self._top.setVisible(True)
        self._stack.setCurrentWidget(self._scroll)
        if key in self._kept:
            self._give_up()
        elif self._running == key or self._is_stopped or self._trouble:
            pass
        else:
            was_busy = self._running is not None or self._quiet.isActive() or bool(self._kept)
            self._give_up()
            self._running = key
            self._quiet.start(_QUIET_MS if was_busy else 0)
        self._show()

    def show_missing(self, title: str, words: str, *, has_button: bool = False, keeps_head: bool = False) -> None:
        """Nothing can be worked out: say what is missing. The head stays where something else may be chosen in it."""
        self._asked = None
        self._top.setVisible(keeps_head)
        self._give_up()
        self._empty.begin.setText(self._helps)
        self._empty.show_words(title, words, has_button=has_button)
        self._stack.setCurrentWidget(self._empty)
        self._show()

    def stop(self) -> None:
        """Give up what is being worked out."""
        self._is_stopped = True
        self._give_up()
        self._show()

    def forget(self) -> None:
        """Drop all results: they were of another file."""
        self._give_up()
        self._kept, self._asked = {}, None

    def close_work(self) -> None:
        """Give up and wait until the thread is free: the window goes away."""
        self._give_up()
        self._runner.close()

    @property
    def result(self) -> object | None:
        """What is drawn: the result that was asked for, else the newest of all while that is worked out."""
        if self._asked is None:
            return None
        if self._asked[0] in self._kept:
            return self._kept[self._asked[0]]
        return next(reversed(self._kept.values()), None)

    @property
    def is_stale(self) -> bool:
        """Whether what is drawn was asked for another plan."""
        return self._asked is not None and self._asked[0] not in self._kept

    @property
    def is_running(self) -> bool:
        """Whether a result is awaited."""
        return self._running is not None

    @property
    def is_idle(self) -> bool:
        """Whether no thread is at work any more."""
        return self._runner.is_idle

    @property
    def picture_widget(self) -> QWidget:
        """What a picture of the page shows."""
        picture = self._scroll.widget()
        return picture if self._stack.currentWidget() is self._scroll and picture is not None else self._empty

    def _give_up(self) -> None:
        self._quiet.stop()
        self._runner.cancel()
        self._running = None

    def _begin(self) -> None:
        if self._asked is not None:
            self._runner.start(self._asked[1])

    # ------------------------------------------------------------ what comes back

    def _on_progressed(self, fraction: float) -> None:
        self._bar.setValue(round(fraction * _STEPS))
        self._note.show_words(f"{fraction * 100:.0f}\u00a0%")

    def _on_finished(self, result: object) -> None:
        assert self._asked is not None
        key, self._running = self._asked[0], None
        self._kept.pop(key, None)
        self._kept[key] = result
        while len(self._kept) > _KEPT:
            del self._kept[next(iter(self._kept))]
        self._show()

    def _on_failed(self, trouble: str) -> None:
        self._running, self._trouble = None, trouble
        self._show()

    def _show(self) -> None:
        had_focus = self._stop.hasFocus()
        is_running = self._running is not None
        self._stop.setVisible(is_running)
        self._bar.setVisible(is_running)
        self._details.setVisible(bool(self._trouble))
        set_property(self._note, "role", "refusal" if self._trouble else "small")
        if is_running:
            self._bar.setValue(0)
        self._note.show_words("0\u00a0%" if is_running else say("failed") if self._trouble else "")
        if self._asked is not None and not is_running and (self._is_stopped or self._trouble) and self.is_stale:
            self._empty.begin.setText(say("Work it out"))
            why = self._trouble.partition("\n\n")[0] or say("It was stopped before it was done.")
            self._empty.show_words(say("Not worked out for this plan"), why, has_button=True)
            self._stack.setCurrentWidget(self._empty)
            if had_focus:
                self._empty.begin.setFocus()
        self.drawn.emit()

    # ------------------------------------------------------------ hands

    def _on_button(self) -> None:
        if self._asked is None:
            self.help_requested.emit()
            return
        self._is_stopped, self._trouble = False, ""
        self.ask(*self._asked)

    def _on_details(self) -> None:
        box = QMessageBox(QMessageBox.Icon.Warning, "ckptplanner", self._trouble.partition("\n\n")[0], parent=self)
        box.setDetailedText(self._trouble.partition("\n\n")[2])
        box.exec()

    def show_theme(self, theme: Theme) -> None:
        """Take the colours of a theme."""
        self._empty.show_theme(theme)

    @override
    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        if not event.spontaneous():
            self._give_up()

    @override
    def closeEvent(self, event: QCloseEvent) -> None:
        self.close_work()
        super().closeEvent(event)


class BenchPage(QWidget):
    """A page of the Decide view whose picture is worked out on a bench: what each of them does alike."""

    cursor_moved = Signal(str)

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName(f"decide.{name}")
        self._name = name
        self._theme = LIGHT
        self._shown: tuple[Shown, ...] = ()
        self._basis: Basis = "month"
        self.controls = QWidget()
        self.picture = QWidget()
        self.picture.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.picture.setProperty("role", "surface")

    def _place(self, head: QWidget, button: str = "") -> None:
        """Put head and picture on the bench, and the bench on the page; arguments as those of Bench."""
        self.bench = Bench(self._name, head, self.picture, button)
        whole = QHBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.addWidget(self.bench)
        self.bench.drawn.connect(self._draw)

    def _draw(self) -> None:
        """Draw the newest result, or that there is none."""
        raise NotImplementedError

    @property
    def picture_widget(self) -> QWidget:
        """What a picture of the page shows."""
        return self.bench.picture_widget

    def forget(self) -> None:
        """Another file was opened."""
        self.bench.forget()

    def close_work(self) -> None:
        """The window goes away."""
        self.bench.close_work()
