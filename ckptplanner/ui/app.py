"""Start the window: application, look, settings, the trouble box; then the event loop."""

from __future__ import annotations

import gc
import logging
import sys
import traceback
from pathlib import Path
from types import TracebackType

from PySide6.QtCore import QByteArray, QLibraryInfo, QLocale, QSettings, QSize, Qt, QTimer, QTranslator
from PySide6.QtWidgets import QApplication, QMessageBox, QWidget

from ckptplanner import __version__
from ckptplanner.data.readers.errors import ReaderError, UnknownFamily
from ckptplanner.engine.edits import with_allowances
from ckptplanner.engine.scenario import NamedScenario, Workbook
from ckptplanner.engine.workbook_file import SUFFIX, WorkbookError, read
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
    from ckptplanner.ui.commands import with_guesses

    named = with_guesses(with_allowances(NamedScenario(name=say("first plan"))))
    return Workbook(scenarios=(named,), current=named.name, base=named.name)


def run(file: Path | None, screenshot: Path | None) -> int:
    """Open the window on a file and run until it is closed; or write a picture of it and end.

    The file is a plan, or a model's file or folder, from which the first plan takes its model.
    """
    try:
        workbook = _plan_in(file, may_ask=screenshot is None) if file is not None else None
    except WorkbookError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    app = application()
    settings = QSettings()
    apply_theme(app, THEMES.get(str(settings.value("theme", "light")), THEMES["light"]))
    sys.excepthook = report_trouble
    from ckptplanner.ui.commands import new_plan, take_model
    from ckptplanner.ui.main_window import MainWindow
    from ckptplanner.ui.store import Store

    store = Store(workbook or new_workbook())
    store.file = file if workbook is not None else None
    window = MainWindow(store, settings)
    once = Qt.ConnectionType.SingleShotConnection
    window.ready.connect(gc.enable)  # cli.py switched it off: nothing of what a start makes is garbage
    if file is not None and workbook is None:
        window.ready.connect(lambda: take_model(window, store, file), once)
    elif file is None and screenshot is None and has_screen(app):
        window.ready.connect(lambda: QTimer.singleShot(0, lambda: new_plan(window, store)), once)
    if screenshot is not None:
        window.ready.connect(lambda: QTimer.singleShot(0, lambda: _shoot(window, screenshot)), once)
    elif has_screen(app):
        fit_to(window, window.screen().availableGeometry().size(), isinstance(settings.value("geometry"), QByteArray))
    window.show()
    return app.exec()


def _plan_in(file: Path, *, may_ask: bool) -> Workbook | None:
    """The plans of a file, None where it is a model's file or folder.

    Raises:
        WorkbookError: it is neither, or nobody can be asked for a total that it does not tell.
    """
    try:
        return read(file)
    except WorkbookError:
        if file.name.endswith(SUFFIX):
            raise
        from ckptplanner.data.readers.models import read_model

        try:
            read_model(file)
        except UnknownFamily as error:
            if not may_ask:
                raise WorkbookError(str(error)) from error
            return None
        except ReaderError:
            pass
        else:
            return None
        raise


def has_screen(app: QApplication) -> bool:
    """Whether somebody can see the window; nobody can answer a question on Qt's offscreen platform."""
    return app.platformName() != "offscreen"


def fit_to(window: QWidget, available: QSize, has_geometry: bool) -> None:
    """On a small screen the window may be smaller than its least size, and on its first start it is."""
    window.setMinimumSize(window.minimumSize().boundedTo(available))
    if not has_geometry:
        window.resize(QSize(1440, 900).boundedTo(available))


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
