"""The Decide view: pages under their tabs. A further page is one more row in `_PAGES`.

A page has show_plans(shown, basis), show_theme(theme), texts(), picture_widget and `controls`, what stands at the right of
the tabs while it is seen; one that works in the background has forget() and close_work() too. What it says goes on where it
has the signal: edited, gesture_ended, field_requested, cursor_moved, scenario_requested.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from PySide6.QtCore import Qt, Signal, SignalInstance
from PySide6.QtGui import QCloseEvent
from PySide6.QtWidgets import QHBoxLayout, QStackedWidget, QTabBar, QVBoxLayout, QWidget
from typing_extensions import override

from ckptplanner.engine.cost import Basis
from ckptplanner.ui.decide.finder import Finder
from ckptplanner.ui.decide.side_by_side import SideBySidePage
from ckptplanner.ui.plan_view import lead_into
from ckptplanner.ui.shown import Shown
from ckptplanner.ui.theme import LIGHT, Theme
from ckptplanner.ui.words import say

# the places of the pages among the tabs
BEST, FLIPS, FRONTIER, MATTERS, MAP, SCALE, SIDE_BY_SIDE, REQUIREMENT = range(8)
_SIGNALS = ("edited", "gesture_ended", "field_requested", "cursor_moved", "scenario_requested")


class Page(Protocol):
    """What every page can do; it is a QWidget."""

    @property
    def controls(self) -> QWidget: ...
    def show_plans(self, shown: Sequence[Shown], basis: Basis) -> None: ...
    def show_theme(self, theme: Theme) -> None: ...
    def texts(self) -> tuple[list[str], list[list[str]]]: ...
    @property
    def picture_widget(self) -> QWidget: ...


def _best(finder: Finder) -> Page:
    from ckptplanner.ui.decide.best_page import BestPage

    return BestPage(finder)


def _frontier(finder: Finder) -> Page:
    from ckptplanner.ui.frontier_page import FrontierPage

    return FrontierPage(finder)


def _requirement() -> Page:
    from ckptplanner.ui.decide.requirement_page import RequirementPage

    return RequirementPage()


def _flips() -> Page:
    from ckptplanner.ui.decide.flips_page import FlipsPage

    return FlipsPage()


def _matters() -> Page:
    from ckptplanner.ui.decide.matters_page import MattersPage

    return MattersPage()


def _map() -> Page:
    from ckptplanner.ui.decide.map_page import MapPage

    return MapPage()


def _scale() -> Page:
    from ckptplanner.ui.scale_page import ScalePage

    return ScalePage()


# these two show the same search
_OF_A_SEARCH: dict[int, Callable[[Finder], Page]] = {BEST: _best, FRONTIER: _frontier}
_PAGES: tuple[tuple[Callable[[], str], Callable[[], Page] | None], ...] = (
    (lambda: say("Best plan"), None),
    (lambda: say("What flips it"), _flips),
    (lambda: say("Frontier"), None),
    (lambda: say("What matters"), _matters),
    (lambda: say("Map"), _map),
    (lambda: say("Scale"), _scale),
    (lambda: say("Side by side"), SideBySidePage),
    (lambda: say("Requirement sheet"), _requirement),
)


class DecideView(QWidget):
    """Each page is made when first visited and drawn while it is seen."""

    edited = Signal(str, object)
    gesture_ended = Signal()
    field_requested = Signal(str)
    cursor_moved = Signal(str)
    scenario_requested = Signal(str, object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("decide_view")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setProperty("role", "surface")
        self._theme = LIGHT
        self._shown: tuple[Shown, ...] = ()
        self._basis: Basis = "month"
        self._made: dict[int, Page] = {}
        self._finder = Finder(self)
        self.tabs = QTabBar()
        self.tabs.setObjectName("decide_pages")
        for title, _ in _PAGES:
            self.tabs.addTab(title())
        self._stack = QStackedWidget()
        self._top = QHBoxLayout()
        self._place()
        self.tabs.currentChanged.connect(self._on_page)
        self._on_page(BEST)

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

    # ------------------------------------------------------------ what is shown

    def page(self, index: int) -> Page:
        """A page, made when it is first visited."""
        if index not in self._made:
            make = _PAGES[index][1]
            made = self._made[index] = make() if make is not None else _OF_A_SEARCH[index](self._finder)
            assert isinstance(made, QWidget)
            for name in _SIGNALS:
                said = getattr(made, name, None)
                if isinstance(said, SignalInstance):
                    said.connect(getattr(self, name))
            made.show_theme(self._theme)
            self._stack.addWidget(made)
            self._top.addWidget(made.controls)
            lead_into(self.tabs, made)
            lead_into(self.tabs, made.controls)
        return self._made[index]

    @property
    def _seen(self) -> Page:
        return self.page(self.tabs.currentIndex())

    def show_page(self, index: int) -> None:
        """Show a page, by its place among the tabs."""
        self.tabs.setCurrentIndex(index)

    def show_plans(self, shown: Sequence[Shown], basis: Basis) -> None:
        """Draw the page that is seen; the others draw when they are."""
        self._shown, self._basis = tuple(shown), basis
        self._seen.show_plans(shown, basis)

    def close_work(self) -> None:
        """Give up what runs and wait for it: the window goes away."""
        self._finder.close()
        for page in self._made.values():
            if callable(close := getattr(page, "close_work", None)):
                close()

    @override
    def closeEvent(self, event: QCloseEvent) -> None:
        self.close_work()
        super().closeEvent(event)

    def show_theme(self, theme: Theme) -> None:
        """Take the colours of a theme."""
        self._theme = theme
        for page in self._made.values():
            page.show_theme(theme)

    def forget(self) -> None:
        """Another file was opened: what was worked out for plans of the last one goes."""
        for page in self._made.values():
            if callable(drop := getattr(page, "forget", None)):
                drop()

    @property
    def picture_widget(self) -> QWidget:
        """What a picture of the page that is seen shows."""
        return self._seen.picture_widget

    def texts(self) -> tuple[list[str], list[list[str]]]:
        """The page that is seen as heads and rows, for a table."""
        return self._seen.texts()

    def _on_page(self, index: int) -> None:
        seen = self.page(index)
        assert isinstance(seen, QWidget)
        self._stack.setCurrentWidget(seen)
        for at, page in self._made.items():
            page.controls.setVisible(at == index)
        if self._shown:
            seen.show_plans(self._shown, self._basis)
