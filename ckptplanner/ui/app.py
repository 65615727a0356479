"""Start the window: application, look, settings, the trouble box; then the event loop."""

from __future__ import annotations

import gc
import logging
import sys
import traceback
from pathlib import Path
from types import TracebackType

from PySide6.QtCore import QLibraryInfo, QLocale, QSettings, QTimer, QTranslator
from PySide6.QtWidgets import QApplication, QMessageBox

from ckptplanner import __version__
from ckptplanner.engine.edits import with_allowances
from ckptplanner.engine.scenario import NamedScenario, Workbook
from ckptplanner.engine.workbook_file import WorkbookError, read
from ckptplanner.ui.theme import THEMES, apply_theme
from ckptplanner.ui.words import say


def application() -> QApplication:
    """The one application, named so that settings find their place."""
    app = QApplication.instance() or QApplication(sys.argv[:1])
    assert isinstance(app, QApplication)
    app.setApplicationName("ckptplanner")
    app.setOrganizationName("ckptplanner")
    app.setApplicationVersion(__version__)
    translator = QTranslator(app)
    if translator.load(QLocale(), "qtbase", "_", QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath)):
        app.installTranslator(translator)
    return app


def new_workbook() -> Workbook:
    """What the window shows when no file is given: a first plan with allowances."""
    named = with_allowances(NamedScenario(name=say("first plan")))
    return Workbook(scenarios=(named,), current=named.name, base=named.name)


def run(file: Path | None, screenshot: Path | None) -> int:
    """Open the window on a file and run until it is closed; or write a picture of it and end."""
    try:
        workbook = read(file) if file is not None else None
    except WorkbookError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    app = application()
    settings = QSettings()
    apply_theme(app, THEMES.get(str(settings.value("theme", "light")), THEMES["light"]))
    sys.excepthook = report_trouble
    from ckptplanner.ui.main_window import MainWindow
    from ckptplanner.ui.store import Store

    store = Store(workbook or new_workbook())
    store.file = file
    window = MainWindow(store, settings)
    window.ready.connect(gc.enable)  # cli.py switched it off: nothing of what a start makes is garbage
    window.show()
    if screenshot is not None:
        window.ready.connect(lambda: QTimer.singleShot(0, lambda: _shoot(window, screenshot)))
    return app.exec()


def _shoot(window: object, path: Path) -> None:
    window.grab().save(str(path))  # type: ignore[attr-defined]
    QApplication.exit(0)


def report_trouble(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Our own bug: log it and show it with its details to copy; the plan stays as it was."""
    details = "".join(traceback.format_exception(kind, error, trace))
    logging.getLogger("ckptplanner").error(details)
    if issubclass(kind, KeyboardInterrupt) or QApplication.instance() is None:
        sys.__excepthook__(kind, error, trace)
        return
    box = QMessageBox(
        QMessageBox.Icon.Critical,
        "ckptplanner",
        say("Something went wrong inside the planner. Your plan is as it was; save it under another name to be safe."),
    )
    box.setDetailedText(details)
    box.exec()
