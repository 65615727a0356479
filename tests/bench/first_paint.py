"""A fresh process until something has been painted: the planner on a file, or, without one, an empty pyqtgraph plot.

    first_paint.py [--profile] [--plots] [FILE]

The planner is watched until its plan is on screen - the sentence of the headline - or, with --plots, until its plots are.
Prints the monotonic clock and the CPU seconds at that moment, then the modules that are loaded, and ends.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable


def when_painted(is_meant: Callable[[object], bool], act: Callable[[], None]) -> None:
    """Call `act` once the event loop is idle after the first paint of a widget that is meant.

    The watch begins with the event loop, so that each side imports pyqtgraph in its own way and time.
    """
    from PySide6.QtCore import QEvent, QObject, QTimer
    from PySide6.QtWidgets import QApplication
    from typing_extensions import override

    class Watch(QObject):
        is_over = False

        @override
        def eventFilter(self, watched: QObject, event: QEvent) -> bool:
            if not self.is_over and event.type() == QEvent.Type.Paint and is_meant(watched):
                self.is_over = True
                QTimer.singleShot(0, act)
            return False

    run = QApplication.exec

    def run_watched(*_: object) -> int:
        app = QApplication.instance()
        watch = Watch(app)
        app.installEventFilter(watch)
        return run()

    QApplication.exec = run_watched


def is_plan(widget: object) -> bool:
    """The headline's sentence: what to save, how often."""
    return widget.objectName() == "sentence"  # type: ignore[attr-defined]


def is_plot(widget: object) -> bool:
    """The ground that a plot is painted on."""
    from PySide6.QtWidgets import QGraphicsView, QWidget

    return isinstance(widget, QWidget) and isinstance(widget.parent(), QGraphicsView)


def tell() -> None:
    """Say when, and what is loaded."""
    import os

    now, cpu = time.monotonic(), time.process_time()
    print(now, cpu, *sorted(sys.modules), flush=True)
    os._exit(0)


def empty() -> None:
    """The baseline: nothing smaller can show a plot."""
    import pyqtgraph as pg

    app = pg.mkQApp()
    plot = pg.PlotWidget()
    plot.resize(1440, 900)
    plot.show()
    app.exec()


def profiled() -> Callable[[], None]:
    """Begin a profile; what is returned prints it and ends."""
    import cProfile
    import os
    import pstats

    profiler = cProfile.Profile()

    def show() -> None:
        profiler.disable()
        pstats.Stats(profiler).sort_stats("cumulative").print_stats("ckptplanner|built-in|method", 60)
        os._exit(0)

    profiler.enable()
    return show


def main(arguments: list[str]) -> None:
    """Run one of both."""
    switches = {one for one in arguments if one.startswith("--")}
    files = [one for one in arguments if not one.startswith("--")]
    act = profiled() if "--profile" in switches else tell
    when_painted(is_plan if files and "--plots" not in switches else is_plot, act)
    if not files:
        empty()
    from ckptplanner.cli import main as planner

    sys.exit(planner(files))


if __name__ == "__main__":
    main(sys.argv[1:])
