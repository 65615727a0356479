"""The Evidence view: what the user's own files say, and what logs and published runs show beside the formulas.

A further page is one more line in `_PAGES` and its place in evidence/places.py. A page has picture, texts(), show_theme(theme);
what it has as `bar` stands at the right of the tabs while it is seen.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QCloseEvent, QDragEnterEvent, QDropEvent, QHideEvent, QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QStackedWidget, QTabBar, QVBoxLayout, QWidget
from typing_extensions import override

from ckptplanner.engine.cost import Basis
from ckptplanner.engine.evidence import Choices
from ckptplanner.ui.drops import carried_files, dropped_files
from ckptplanner.ui.evidence.places import FAILURES, FILES, LOGS
from ckptplanner.ui.plan_view import lead_into
from ckptplanner.ui.shown import Shown, current_of
from ckptplanner.ui.theme import LIGHT, Theme
from ckptplanner.ui.words import say

if TYPE_CHECKING:
    from ckptplanner.engine.evidence import Estimate
    from ckptplanner.ui.evidence.desk import EvidenceDesk
    from ckptplanner.ui.evidence.files_page import FilesPage
    from ckptplanner.ui.evidence.published_page import PublishedPage
    from ckptplanner.ui.failures_page import FailuresPage
    from ckptplanner.ui.logs_page import LogsPage


class Page(Protocol):
    """What every page can do; it is a QWidget."""

    @property
    def picture(self) -> QWidget: ...
    def show_theme(self, theme: Theme) -> None: ...
    def texts(self) -> tuple[list[str], list[list[str]]]: ...


def _bar_of(page: Page) -> QWidget | None:
    """What a page has in the bar of the tabs."""
    bar = getattr(page, "bar", None)
    return bar if isinstance(bar, QWidget) else None


def is_for_evidence(file: Path) -> bool:
    """Whether a file may be a log by its name: no plan, no model and no folder."""
    return file.suffix.lower() not in _OTHERS and not file.is_dir()


_OTHERS = (".json", ".safetensors")  # plans and models among them, which the window tells apart


class EvidenceView(QWidget):
    """Pages under their tabs; each is made when first visited and drawn while it is seen."""

    edited = Signal(str, object)
    gesture_ended = Signal()
    field_requested = Signal(str)
    cursor_moved = Signal(str)
    scenario_requested = Signal(str, object)  # see main_window

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("evidence_view")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setProperty("role", "surface")
        self.setAcceptDrops(True)
        self._theme = LIGHT
        self._shown: Shown | None = None
        self._made: dict[int, Page] = {}
        self._desk: EvidenceDesk | None = None
        self.tabs = QTabBar()
        self.tabs.setObjectName("evidence_pages")
        for title, _ in _PAGES:
            self.tabs.addTab(title())
        self._stack = QStackedWidget()
        self._top = QHBoxLayout()
        self._place()
        self.tabs.currentChanged.connect(self._on_page)
        self._on_page(FILES)

    def _place(self) -> None:
        self._top.setContentsMargins(4, 0, 16, 0)
        self._top.setSpacing(8)
        self._top.addWidget(self.tabs)
        self._top.addStretch(1)
        box = QVBoxLayout(self)
        box.setContentsMargins(0, 0, 0, 0)
        box.setSpacing(0)
        box.addLayout(self._top)
        box.addWidget(self._stack, 1)

    # ------------------------------------------------------------ pages

    def page(self, index: int) -> Page:
        """A page, made when it is first visited."""
        if index not in self._made:
            self._made[index] = made = _PAGES[index][1](self)
            assert isinstance(made, QWidget)
            made.show_theme(self._theme)
            self._stack.addWidget(made)
            lead_into(self.tabs, made)
            if (bar := _bar_of(made)) is not None:
                self._top.addWidget(bar)
                bar.hide()  # until no other page's is seen: both together would make the window wider
                lead_into(self.tabs, bar)
        return self._made[index]

    @property
    def files(self) -> FilesPage:
        """What the user's files say."""
        from ckptplanner.ui.evidence.files_page import FilesPage

        made = self.page(FILES)
        assert isinstance(made, FilesPage)
        return made

    @property
    def failures(self) -> FailuresPage:
        """The interruptions in the user's files."""
        from ckptplanner.ui.failures_page import FailuresPage

        made = self.page(FAILURES)
        assert isinstance(made, FailuresPage)
        return made

    @property
    def logs(self) -> LogsPage:
        """The logs that are replayed."""
        from ckptplanner.ui.logs_page import LogsPage

        made = self.page(LOGS)
        assert isinstance(made, LogsPage)
        return made

    @property
    def published(self) -> PublishedPage:
        """The cards of published runs."""
        from ckptplanner.ui.evidence.places import PUBLISHED
        from ckptplanner.ui.evidence.published_page import PublishedPage

        made = self.page(PUBLISHED)
        assert isinstance(made, PublishedPage)
        return made

    def make_files(self) -> FilesPage:
        """The page of the user's files, joined to its desk."""
        from ckptplanner.ui.evidence.files_page import FilesPage

        made = FilesPage()
        made.open_requested.connect(self.open_files)
        made.remove_requested.connect(lambda path: self.desk.remove(path))
        made.refresh_requested.connect(lambda: self.desk.refresh())
        made.stopped.connect(lambda: self.desk.stop())
        made.choices_changed.connect(self._on_choices)
        made.columns_requested.connect(self._on_columns)
        made.adopt_requested.connect(self._on_adopt)
        made.field_requested.connect(self.field_requested)
        return made

    def make_failures(self) -> FailuresPage:
        """The page of interruptions, joined to the same desk."""
        from ckptplanner.ui.failures_page import FailuresPage

        made = FailuresPage()
        made.choices_changed.connect(self._on_choices)
        made.open_requested.connect(lambda: self.files.head.ask_files())
        made.cursor_moved.connect(self.cursor_moved)
        self._show_failures(made)
        return made

    def _show_failures(self, page: FailuresPage) -> None:
        """What the files say, beside the M of the plan that is shown."""
        found = None if self._desk is None else self._desk.found
        reading = None if found is None else found.reading
        failures = None if self._shown is None else self._shown.named.scenario.failures
        in_use = (None, None) if failures is None else (failures.mtbi_s, failures.mtbi_nodes)
        page.show_failures(
            None if reading is None else reading.failures, Choices() if found is None else found.choices, *in_use
        )

    def make_logs(self) -> LogsPage:
        """The page of logs, for the plan that is shown."""
        from ckptplanner.ui.logs_page import LogsPage

        made = LogsPage()
        made.edited.connect(self.edited)
        made.gesture_ended.connect(self.gesture_ended)
        made.cursor_moved.connect(self.cursor_moved)
        if self._shown is not None:
            made.show_plan(self._shown.plan)
        return made

    # ------------------------------------------------------------ the user's files

    @property
    def desk(self) -> EvidenceDesk:
        """What gathers and reads the user's files, made when the first is opened."""
        if self._desk is None:
            from ckptplanner.ui.evidence import tools
            from ckptplanner.ui.evidence.desk import EvidenceDesk

            self._desk = desk = EvidenceDesk(tools.tools(), self)
            desk.changed.connect(self._on_desk)
            desk.progressed.connect(self.files.show_progress)
            desk.told.connect(self.files.show_file)
            if self._shown is not None:
                desk.show_plan(self._shown.named, self._shown.plan)
            self._watch()
        return self._desk

    def open_files(self, paths: Sequence[Path]) -> None:
        """Read files and folders, and show what they say."""
        self.show_page(FILES)
        self.desk.open(paths)

    def _on_desk(self) -> None:
        self.files.show_found(self.desk.found)
        if FAILURES in self._made:
            self._show_failures(self.failures)

    def _on_choices(self, choices: Choices) -> None:
        self.desk.choose(choices)

    def _on_columns(self, name: str) -> None:
        """Ask what the columns of a table are, and read it so."""
        path = self.desk.path_of(name)
        if path is None:
            return
        from ckptplanner.ui.evidence.mapping_dialog import ask_columns

        mapping = ask_columns(self, path)
        if mapping is not None:
            self.desk.map_columns(name, mapping)

    def _on_adopt(self, estimates: Sequence[Estimate]) -> None:
        self.scenario_requested.emit("change", (self.desk.adopted(estimates), say("adoption of measured values")))

    def _watch(self) -> None:
        """What the files mean for the plan is worked out only while their page is seen."""
        if self._desk is not None:
            self._desk.watch(is_watched=self.isVisible() and self.tabs.currentIndex() == FILES)

    def close_work(self) -> None:
        """Give up what runs and wait for it: the window goes away."""
        if self._desk is not None:
            self._desk.close()

    @override
    def closeEvent(self, event: QCloseEvent) -> None:
        self.close_work()
        super().closeEvent(event)

    @override
    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._watch()

    @override
    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._watch()

    # ------------------------------------------------------------ what is shown

    def show_page(self, index: int) -> None:
        """Show a page, by its place among the tabs."""
        self.tabs.setCurrentIndex(index)

    def show_plans(self, shown: Sequence[Shown], basis: Basis) -> None:
        """Draw the current plan where a page depends on it."""
        self._shown = current_of(shown)
        if LOGS in self._made:
            self.logs.show_plan(self._shown.plan)
        if FAILURES in self._made:
            self._show_failures(self.failures)
        if self._desk is not None:
            self._desk.show_plan(self._shown.named, self._shown.plan)

    def show_theme(self, theme: Theme) -> None:
        """Take the colours of a theme."""
        self._theme = theme
        for page in self._made.values():
            page.show_theme(theme)

    @property
    def _seen(self) -> Page:
        return self.page(self.tabs.currentIndex())

    @property
    def picture_widget(self) -> QWidget:
        """What a picture of the page that is seen shows."""
        return self._seen.picture

    def texts(self) -> tuple[list[str], list[list[str]]]:
        """The page that is seen as heads and rows, for a table."""
        return self._seen.texts()

    # ------------------------------------------------------------ hands

    def _on_page(self, index: int) -> None:
        seen = self.page(index)
        assert isinstance(seen, QWidget)
        self._stack.setCurrentWidget(seen)
        for at, page in self._made.items():
            if at != index and (bar := _bar_of(page)) is not None:
                bar.hide()
        if (own := _bar_of(self._made[index])) is not None:
            own.show()
        self._watch()

    @override
    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """One log may be dropped here; what else there is, the window tells apart."""
        files = carried_files(event)
        if len(files) == 1 and is_for_evidence(files[0]):
            event.acceptProposedAction()
        else:
            event.ignore()

    @override
    def dropEvent(self, event: QDropEvent) -> None:
        if not (files := dropped_files(event)):
            return
        if self.tabs.currentIndex() == FILES:
            self.open_files(files[:1])
        else:
            self.show_page(LOGS)
            self.logs.take(files[0])


def _published(_: EvidenceView) -> PublishedPage:
    from ckptplanner.ui.evidence.published_page import PublishedPage

    return PublishedPage()


_PAGES: tuple[tuple[Callable[[], str], Callable[[EvidenceView], Page]], ...] = (
    (lambda: say("Your files"), EvidenceView.make_files),
    (lambda: say("Failures"), EvidenceView.make_failures),
    (lambda: say("Logs replayed"), EvidenceView.make_logs),
    (lambda: say("Published runs"), _published),
)
