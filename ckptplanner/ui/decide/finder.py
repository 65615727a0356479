"""Searches for the best plan of the current scenario, away from the window, for the pages that show what was found.

    goal, typed prices, scenario -> Finder -> background.TaskRunner -> optimise() -> Found -> changed

It works only while a page of it is seen. An edit takes the place of what runs; what was found before stays, as an old
result, until the new one is there. A few results are kept, so that scenarios can be gone through.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeVar

from PySide6.QtCore import QObject, Signal
from typing_extensions import override

from ckptplanner.engine.families import Ask
from ckptplanner.engine.optimise import Decision, Search, optimise
from ckptplanner.engine.scenario import Scenario
from ckptplanner.ui.background import Progress, TaskRunner, Work
from ckptplanner.ui.shown import Shown, current_of

Minimise = Literal["cost", "waste"]
Levels = Literal["any", "single", "two"]
_T = TypeVar("_T")
_KEPT = 8
_FIRST_PART = 0.7  # of the bar for the first look at everything; each further look takes as much of the rest


@dataclass(frozen=True, slots=True)
class Goal:
    """What a person asks for; None is no limit, and for `families` those that the nodes reach."""

    minimise: Minimise = "cost"
    storage_usd_per_month: float | None = None
    waste_fraction: float | None = None
    worst_rework_s: float | None = None
    families: tuple[str, ...] | None = None
    modes: tuple[str, ...] = ("async", "sync")
    levels: Levels = "any"

    def search(self, prices: tuple[tuple[str, float], ...]) -> Search:
        """The same for the engine."""
        limits = tuple(
            (name, value)
            for name in ("storage_usd_per_month", "waste_fraction", "worst_rework_s")
            if (value := getattr(self, name)) is not None
        )
        return Search(
            minimise=self.minimise, limits=limits, families=self.families, modes=self.modes, levels=self.levels, prices=prices
        )


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """What a search found, and of what; `shown` are the scenarios as they were when it began."""

    shown: tuple[Shown, ...]
    scenario: Scenario
    goal: Goal
    prices: tuple[tuple[str, float], ...]
    decision: Decision
    seconds: float


class _Told(Executor):
    """Works on the spot and tells how far it is; telling raises where the work was given up."""

    def __init__(self, progress: Progress) -> None:
        self._progress, self._done = progress, 0.0

    @override
    def map(
        self, fn: Callable[..., _T], *iterables: Iterable[Any], timeout: float | None = None, chunksize: int = 1
    ) -> Iterator[_T]:
        tasks = list(zip(*iterables, strict=True))
        start, part = self._done, (1.0 - self._done) * _FIRST_PART
        for number, task in enumerate(tasks):
            self._progress(start + part * number / len(tasks))
            yield fn(*task)
        self._done = start + part


def search_work(scenario: Scenario, goal: Goal, prices: tuple[tuple[str, float], ...], shown: tuple[Shown, ...] = ()) -> Work:
    """The search as work for a runner; gives a Found."""

    def work(progress: Progress) -> Found:
        begun = time.monotonic()
        decision = optimise(scenario, goal.search(prices), _Told(progress))
        return Found(shown, scenario, goal, prices, decision, time.monotonic() - begun)

    return work


class Finder(QObject):
    """Holds the goal and the prices typed for it, and searches whenever one of them or the scenario is new."""

    changed = Signal()
    progressed = Signal(float)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.goal = Goal()
        self.trouble = ""
        self._shown: tuple[Shown, ...] = ()
        self._prices: dict[str, dict[str, tuple[Ask, float]]] = {}  # by region and id
        self._kept: list[Found] = []  # the newest last
        self._running: tuple[Scenario, Goal, tuple[tuple[str, float], ...]] | None = None
        self._failed: tuple[Scenario, Goal, tuple[tuple[str, float], ...]] | None = None
        self._seen: set[str] = set()
        self._begun_at = 0.0
        self._runner = TaskRunner(self)
        self._runner.progressed.connect(self.progressed)
        self._runner.finished.connect(self._on_finished)
        self._runner.failed.connect(self._on_failed)

    # ------------------------------------------------------------ what is asked

    @property
    def shown(self) -> tuple[Shown, ...]:
        """All scenarios."""
        return self._shown

    @property
    def current(self) -> Shown | None:
        """The scenario that plans are looked for."""
        return current_of(self._shown) if self._shown else None

    @property
    def _asked(self) -> tuple[Scenario, Goal, tuple[tuple[str, float], ...]] | None:
        if self.current is None:
            return None
        prices = tuple((name, price) for name, (_, price) in self.typed_prices().items())
        return self.current.named.scenario, self.goal, prices

    def show_plans(self, shown: tuple[Shown, ...]) -> None:
        """Take the scenarios; search where the current one is new and a page is seen."""
        self._shown = shown
        self._go_on()

    def ask(self, **changes: Any) -> None:
        """Change the goal."""
        goal = replace(self.goal, **changes)
        if goal != self.goal:
            self.goal = goal
            self._go_on()

    def typed_prices(self) -> dict[str, tuple[Ask, float]]:
        """The prices that were typed for the region of the current scenario, by the id that they were asked for by. [USD]"""
        return {} if self.current is None else self._prices.get(self.current.named.scenario.prices.region, {})

    def give_price(self, ask: Ask, usd: float | None) -> None:
        """Take a price, or forget it again. [USD]"""
        if self.current is None:
            return
        prices = self._prices.setdefault(self.current.named.scenario.prices.region, {})
        if usd is None:
            prices.pop(ask.id, None)
        else:
            prices[ask.id] = (ask, usd)
        self._go_on()

    # ------------------------------------------------------------ working

    def look(self, page: str) -> None:
        """A page is seen: search if that is not done."""
        self._seen.add(page)
        self._go_on()

    def rest(self, page: str) -> None:
        """A page is not seen any more; once none is, give up what runs."""
        self._seen.discard(page)
        if not self._seen:
            self._give_up()

    def _give_up(self) -> None:
        self._runner.cancel()
        self._running = None

    def stop(self) -> None:
        """Give up what runs, and begin it again only when something is new or `again` says so."""
        self._runner.cancel()
        self._failed, self._running = self._running, None
        self.changed.emit()

    def again(self) -> None:
        """Search what was stopped, or what went wrong."""
        self._failed, self.trouble = None, ""
        self._go_on()

    def forget(self) -> None:
        """Drop results and typed prices; the goal stays."""
        self._give_up()
        self._kept, self._prices, self._failed, self.trouble = [], {}, None, ""

    def close(self) -> None:
        """Give up and wait until nothing runs."""
        self._seen.clear()
        self._give_up()
        self._runner.close()

    @property
    def is_running(self) -> bool:
        """Whether a search is under way."""
        return self._running is not None

    @property
    def is_stopped(self) -> bool:
        """Whether what is asked now was stopped, or went wrong."""
        return self._failed is not None and self._failed == self._asked

    @property
    def runs_for_s(self) -> float:
        """How long the search has been under way. [s]"""
        return time.monotonic() - self._begun_at if self.is_running else 0.0

    @property
    def is_idle(self) -> bool:
        """Whether no thread is at work any more."""
        return self._runner.is_idle

    def fresh(self) -> Found | None:
        """What was found for what is asked now."""
        asked = self._asked
        return next((one for one in reversed(self._kept) if (one.scenario, one.goal, one.prices) == asked), None)

    def drawn(self) -> Found | None:
        """What is drawn: the fresh result, else the newest of all."""
        return self.fresh() or (self._kept[-1] if self._kept else None)

    def shown_with(self, found: Found) -> tuple[Shown, ...]:
        """The scenarios that belong beside a result: those of now, or beside an old one those that it was found for."""
        return self._shown if found is self.fresh() else found.shown

    def _go_on(self) -> None:
        asked = self._asked
        if asked is not None and self._seen and asked not in (self._running, self._failed):
            if self.fresh() is None:
                self._running, self._failed, self.trouble = asked, None, ""
                self._begun_at = time.monotonic()
                self._runner.start(search_work(*asked, self._shown))
            else:
                self._runner.cancel()
                self._running = None
        self.changed.emit()

    def _on_finished(self, found: object) -> None:
        assert isinstance(found, Found)
        self._running = None
        self._kept = [*self._kept, found][-_KEPT:]
        self.changed.emit()

    def _on_failed(self, trouble: str) -> None:
        self._failed, self._running, self.trouble = self._running, None, trouble
        self.changed.emit()
