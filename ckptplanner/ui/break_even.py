"""Until when is the plan the better one? Worked out beside the window, once it stands and nothing changes for a moment."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QObject, QTimer, Signal

from ckptplanner.engine.flip_words import BreakEven, break_even
from ckptplanner.engine.scenario import NamedScenario, Scenario
from ckptplanner.ui.background import TaskRunner
from ckptplanner.ui.shown import Shown, current_of

_QUIET_MS = 400  # while somebody drags or types there is nothing to be said
Key = tuple[tuple[str, Scenario], ...]  # of the current plan, then the others: where a value comes from changes nothing


class BreakEvens(QObject):
    """Finds the sentence for the plan that is shown; the newest plan wins."""

    found = Signal(object)  # a BreakEven, or None where there is nothing to say

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._key: Key | None = None
        self._plans: tuple[NamedScenario, ...] = ()
        self._last: tuple[Key, BreakEven | None] | None = None
        self._runner = TaskRunner(self)
        self._quiet = QTimer(self)
        self._quiet.setObjectName("break_even.quiet")
        self._quiet.setSingleShot(True)
        self._quiet.setInterval(_QUIET_MS)
        self._quiet.timeout.connect(self._begin)
        self._runner.finished.connect(self._on_finished)

    def show_plans(self, shown: Sequence[Shown]) -> None:
        """Take the plans; what was found is said again where it still holds."""
        plans = (current_of(shown), *(one for one in shown if not one.is_current))
        key = tuple((one.name, one.named.scenario) for one in plans)
        if self._last is not None and self._last[0] == key:
            self.close_work()
            self._key = key
            self.found.emit(self._last[1])
        elif key != self._key:
            self.close_work()
            self._key, self._plans = key, tuple(one.named for one in plans)
            self.found.emit(None)
            self._quiet.start()

    def close_work(self) -> None:
        """Give up what is being worked out; what was given up is waited for when this goes."""
        self._quiet.stop()
        self._runner.cancel()
        self._key = None

    def close(self) -> None:
        """Give up and wait until the thread is free: the window goes away."""
        self.close_work()
        self._runner.close()

    @property
    def is_idle(self) -> bool:
        """Whether nothing is awaited."""
        return not (self._quiet.isActive() or self._runner.is_running)

    def _begin(self) -> None:
        plans = self._plans
        self._runner.start(lambda progress: break_even(plans[0], plans[1:], progress))

    def _on_finished(self, found: object) -> None:
        assert self._key is not None
        assert found is None or isinstance(found, BreakEven)
        self._last = (self._key, found)
        self.found.emit(found)
