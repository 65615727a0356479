"""A fresh process until a plot has been painted: the planner on a file, or, without one, an empty pyqtgraph plot.

Prints the monotonic clock and the CPU seconds at that moment, then the top-level modules that are loaded, and ends.
"""

from __future__ import annotations

import sys
import time


def when_painted(act: object) -> None:
    """Call `act` once the event loop is idle after the first plot's first paint.

    The hook is put in when the event loop begins, so that each side imports pyqtgraph in its own way and time.
    """
    from PySide6.QtWidgets import QApplication

    run = QApplication.exec

    def run_watched(*_: object) -> int:
        import pyqtgraph as pg
        from PySide6.QtCore import QTimer

        real, seen = pg.GraphicsView.paintEvent, []

        def painted(view: object, event: object) -> None:
            real(view, event)
            if not seen:
                seen.append(view)
                QTimer.singleShot(0, act)

        pg.GraphicsView.paintEvent = painted
        return run()

    QApplication.exec = run_watched


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


def main(arguments: list[str]) -> None:
    """Run one of both."""
    if arguments[:1] == ["--profile"]:
        import cProfile
        import os
        import pstats

        profiler = cProfile.Profile()

        def show() -> None:
            profiler.disable()
            pstats.Stats(profiler).sort_stats("cumulative").print_stats("ckptplanner|built-in|method", 60)
            os._exit(0)

        when_painted(show)
        profiler.enable()
        arguments = arguments[1:]
    else:
        when_painted(tell)
    if not arguments:
        empty()
    from ckptplanner.cli import main as planner

    sys.exit(planner(arguments))


if __name__ == "__main__":
    main(sys.argv[1:])
