"""The window: builds its parts, places them, connects them; nothing else. Files and dialogs live in `commands.py`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QByteArray, QEvent, QPoint, QSettings, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QAction, QActionGroup, QCloseEvent, QCursor, QDragEnterEvent, QDropEvent, QKeySequence, QPaintEvent
from PySide6.QtWidgets import (
    QApplication,
    QHBoxLayout,
    QLabel,
    QMainWindow,
    QMenu,
    QToolBar,
    QToolButton,
    QVBoxLayout,
    QWidget,
)
from typing_extensions import override

from ckptplanner.engine.cost import BASES, Basis
from ckptplanner.engine.plan import Plan
from ckptplanner.engine.scenario import Workbook
from ckptplanner.ui.commands import Commands, finish_typing
from ckptplanner.ui.drops import dropped_files, welcome
from ckptplanner.ui.evidence.places import FAILURES, FILES, LOGS, PUBLISHED
from ckptplanner.ui.headline import Headline
from ckptplanner.ui.panel_column import PanelColumn
from ckptplanner.ui.scenario_bar import ScenarioBar
from ckptplanner.ui.shown import Shown, base_of, current_of, rivals_of
from ckptplanner.ui.status import figures_line, model_line
from ckptplanner.ui.store import Store
from ckptplanner.ui.theme import THEMES, apply_theme, icon
from ckptplanner.ui.views import DECIDE, EVIDENCE, PATH, PLAN, SURVIVE, Views
from ckptplanner.ui.words import say

if TYPE_CHECKING:
    from ckptplanner.ui.apply.dialog import ApplyDialog
    from ckptplanner.ui.break_even import BreakEvens
    from ckptplanner.ui.pop_ups import PopUps


def _basis(name: object) -> Basis:
    """The money basis of that name; a month where there is none."""
    return next((known for known in BASES if known == name), "month")


# what the dialog of settings needs, loaded once the window stands, a piece at a time: else its first opening waits for it
_AHEAD = ((1500, "ckptplanner.engine.settings.registry"), (1700, "ckptplanner.engine.settings.importing"),
          (1900, "ckptplanner.ui.apply.dialog"))  # fmt: skip
_NESTED = 6  # layouts from a field to the window; each asks the next one to lay out


def _lay_out() -> None:
    """Lay out what has changed now: else it is painted before it is laid out, and once more after."""
    for _ in range(_NESTED):
        QApplication.sendPostedEvents(None, QEvent.Type.LayoutRequest)


class MainWindow(QMainWindow):
    """One window on one workbook."""

    ready = Signal()

    def __init__(self, store: Store, settings: QSettings) -> None:
        super().__init__()
        self.setObjectName("main_window")
        self.setMinimumSize(QSize(1180, 720))
        self.setAcceptDrops(True)
        self._store, self._settings = store, settings
        self._shown: tuple[Shown, ...] = ()
        self._ghost: Plan | None = None
        self._opened = store.times_opened
        self._refused: set[str] = set()
        self._is_painted = False
        self._basis: Basis = _basis(settings.value("basis"))
        self._theme = THEMES[str(settings.value("theme", "light"))]
        self._build_parts()
        self._commands = Commands(self, store, self._view, settings)
        self._build_actions()
        self._connect()
        self._restore()
        self._apply_theme()
        store.tell()

    # ------------------------------------------------------------ building

    def _build_parts(self) -> None:
        self._bar, self._headline, self._view = ScenarioBar(), Headline(), Views()
        self._panels = PanelColumn(self._settings)
        self.addDockWidget(Qt.DockWidgetArea.LeftDockWidgetArea, self._panels)
        self._cards: PopUps | None = None
        self._break_evens: BreakEvens | None = None
        self._apply: ApplyDialog | None = None
        middle = QWidget()
        box = QVBoxLayout(middle)
        box.setContentsMargins(0, 0, 0, 0)
        box.setSpacing(0)
        box.addWidget(self._headline)
        box.addWidget(self._view, 1)
        self.setCentralWidget(middle)
        self._place_bar()
        self._left, self._right = QLabel(), QLabel()
        self._stale = QLabel()
        self._stale.setObjectName("stale")
        self._stale.setProperty("role", "refusal")
        self.statusBar().setSizeGripEnabled(False)
        self.statusBar().addWidget(self._left, 1)
        self.statusBar().addPermanentWidget(self._stale)
        self.statusBar().addPermanentWidget(self._right)

    def _place_bar(self) -> None:
        holder = QToolBar(say("Scenarios"))
        holder.setObjectName("scenarios")
        holder.setMovable(False)
        holder.setFloatable(False)
        holder.setContextMenuPolicy(Qt.ContextMenuPolicy.PreventContextMenu)
        holder.setProperty("role", "bare")
        holder.setContentsMargins(0, 0, 0, 0)
        if (layout := holder.layout()) is not None:
            layout.setContentsMargins(0, 0, 0, 0)
        holder.addWidget(self._bar)
        self.addToolBar(holder)

    def _build_actions(self) -> None:
        self._icons: list[tuple[QAction, str]] = []
        self._build_menus()
        self._build_corner()
        self._build_view_buttons()

    def _action(self, text: str, slot: object, keys: str | QKeySequence.StandardKey | None = None, sign: str = "") -> QAction:
        action = QAction(text, self)
        action.triggered.connect(finish_typing)
        action.triggered.connect(slot)
        if keys is not None:
            action.setShortcut(QKeySequence(keys))
            action.setToolTip(f"{text.replace('…', '')} ({action.shortcut().toString()})")
        if sign:
            self._icons.append((action, sign))
        self.addAction(action)
        return action

    def _build_menus(self) -> None:
        do, store, keys = self._commands, self._store, QKeySequence.StandardKey
        self._new = self._action(say("New plan…"), do.new, keys.New, "new")
        self._open = self._action(say("Open…"), do.open, keys.Open, "open")
        self._save = self._action(say("Save"), do.save, keys.Save, "save")
        save_as = self._action(say("Save as…"), do.save_as, "Ctrl+Shift+S")
        self._import = self._action(say("Model from a file…"), do.import_model, "Ctrl+I", "import")
        self._export = self._action(say("Export report and tables…"), do.export, "Ctrl+E", "export")
        file = self.menuBar().addMenu(say("File"))
        file.addActions([self._new, self._open])
        self._examples = file.addMenu(say("Examples"))
        do.fill_examples(self._examples)
        file.addActions([self._save, save_as])
        file.addSeparator()
        self._settings_files = self._action(say("Settings for frameworks and clouds…"), self._show_settings, "Ctrl+T", "apply")
        file.addActions([self._import, self._export, self._settings_files])
        self._papers = self._choice_menu(
            file.addMenu(say("Paper of the report")), (("a4", say("A4")), ("letter", say("Letter"))), do.paper
        )
        self._papers.triggered.connect(self._on_paper)
        file.addSeparator()
        file.addAction(self._action(say("Quit"), self.close, keys.Quit))
        stack = store.undo_stack
        self._undo = self._action(say("Undo"), stack.undo, "Ctrl+Z", "undo")
        self._redo = self._action(say("Redo"), stack.redo, "Ctrl+Shift+Z", "redo")
        self._redo.setShortcuts([QKeySequence("Ctrl+Shift+Z"), QKeySequence("Ctrl+Y")])
        for action, changed in ((self._undo, stack.canUndoChanged), (self._redo, stack.canRedoChanged)):
            action.setEnabled(False)
            changed.connect(action.setEnabled)
        self._copy_picture = self._action(say("Copy picture"), do.copy_picture, "Ctrl+Shift+P", "picture")
        self._copy_table = self._action(say("Copy table"), do.copy_table, "Ctrl+Shift+T", "table")
        self._copy_sheet = self._action(say("Copy as spreadsheet, with formulas"), do.copy_sheet, "Ctrl+Shift+F", "spreadsheet")
        edit = self.menuBar().addMenu(say("Edit"))
        edit.addActions([self._undo, self._redo])
        edit.addSeparator()
        edit.addActions([self._copy_picture, self._copy_table, self._copy_sheet])
        self._build_scenario_menu()
        self._build_view_menu()
        about = self.menuBar().addMenu(say("Help"))
        about.addAction(self._action(say("Models and sources"), do.show_models))
        about.addAction(self._action(say("About"), do.about))

    def _build_scenario_menu(self) -> None:
        do = self._commands
        menu = self.menuBar().addMenu(say("Scenario"))
        menu.addAction(self._action(say("Duplicate"), self._store.duplicate, "Ctrl+D"))
        menu.addAction(self._action(say("Rename…"), do.rename, "F2"))
        menu.addAction(self._action(say("Note…"), do.note))
        menu.addAction(self._action(say("Compare with this one (base)"), do.make_base))
        menu.addAction(self._action(say("Remove"), do.remove))
        menu.addSeparator()
        self._check = self._action(say("Check my plan by simulation"), do.check_plan, "Ctrl+R", "check")
        menu.addAction(self._check)
        menu.addSeparator()
        menu.addAction(self._action(say("Next scenario"), lambda: self._step(1), "Ctrl+Tab"))
        menu.addAction(self._action(say("Previous scenario"), lambda: self._step(-1), "Ctrl+Shift+Tab"))

    def _build_view_menu(self) -> None:
        menu = self.menuBar().addMenu(say("View"))
        for label, page, keys in self._pages():
            menu.addAction(self._action(label, page, keys))
        menu.addSeparator()
        menu.addAction(self._action(say("Leave a ghost here, or take it away"), self._toggle_ghost, "G"))
        menu.addAction(self._action(say("Findings"), lambda: self._show_findings("error"), "Ctrl+F"))
        panels = self._panels.toggleViewAction()
        panels.setText(say("Panels"))
        panels.setShortcut("F9")
        menu.addAction(panels)
        menu.addAction(self._action(say("Only assumptions"), self._panels.toggle_only_guesses, "Ctrl+Shift+A"))
        menu.addSeparator()
        self._themes = self._choice_menu(menu, (("light", say("Light")), ("dark", say("Dark"))), self._theme.name)
        self._themes.triggered.connect(self._on_theme)

    def _pages(self) -> tuple[tuple[str, Callable[[], None], str | None], ...]:
        """What the view menu leads to, by which keys."""
        view = self._view

        def plan(page: int | None = None, table: int | None = None) -> None:
            view.show_view(PLAN)
            if page is not None:
                view.plan.show_page(page)
            if table is not None:
                view.plan.show_table(table)

        def evidence(page: int) -> None:
            view.show_view(EVIDENCE)
            view.evidence.show_page(page)

        def files() -> None:
            evidence(FILES)
            view.evidence.files.take_keys()

        def decide(page: int) -> None:
            view.show_view(DECIDE)
            view.decide.show_page(page)

        return (
            (say("Over the write time"), lambda: plan(page=0), "Ctrl+1"),
            (say("Idle GPUs against storage"), lambda: plan(page=1), "Ctrl+2"),
            (say("Check by simulation"), lambda: plan(page=2), "Ctrl+0"),
            (say("Path of the data"), lambda: view.show_view(PATH), "Ctrl+3"),
            (say("What survives"), lambda: view.show_view(SURVIVE), "Ctrl+4"),
            (say("Your files"), files, "Ctrl+Shift+E"),
            (say("Failures in your files"), lambda: evidence(FAILURES), "Ctrl+Shift+L"),
            (say("Logs replayed"), lambda: evidence(LOGS), "Ctrl+5"),
            (say("Published runs"), lambda: evidence(PUBLISHED), "Ctrl+6"),
            (say("Best plan"), lambda: decide(0), "Ctrl+G"),
            (say("What flips it"), lambda: decide(1), "Ctrl+L"),
            (say("Frontier"), lambda: decide(2), "Ctrl+Shift+G"),
            (say("What matters"), lambda: decide(3), None),
            (say("Map over two inputs"), lambda: decide(4), None),
            (say("Other node counts"), lambda: decide(5), None),
            (say("Side by side"), lambda: decide(6), "Ctrl+B"),
            (say("Requirement sheet"), lambda: decide(7), "Ctrl+Shift+B"),
            (say("Storage options"), lambda: plan(table=0), "Ctrl+7"),
            (say("Save schedule"), lambda: plan(table=1), "Ctrl+8"),
            (say("Restart classes"), lambda: plan(table=2), "Ctrl+9"),
        )

    def _choice_menu(self, menu: QMenu, choices: Sequence[tuple[str, str]], chosen: str) -> QActionGroup:
        """Add actions of which one holds."""
        group = QActionGroup(self)
        for name, label in choices:
            action = group.addAction(label)
            action.setCheckable(True)
            action.setData(name)
            action.setChecked(name == chosen)
            menu.addAction(action)
        return group

    def _on_paper(self, action: QAction) -> None:
        self._commands.choose_paper(str(action.data()))

    def _build_corner(self) -> None:
        """The toolbar, in the corner of the menu bar: one row for both."""
        corner = QWidget(self.menuBar())
        row = QHBoxLayout(corner)
        row.setContentsMargins(0, 0, 8, 0)
        row.setSpacing(2)
        self._file_label = QLabel()
        self._file_label.setObjectName("file_label")
        self._file_label.setProperty("role", "small")
        self._file_label.setFixedWidth(280)
        self._file_label.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        row.addWidget(self._file_label)
        row.addSpacing(12)
        groups = (
            (self._new, self._open, self._save),
            (self._undo, self._redo),
            (self._import, self._export, self._settings_files),
            (self._check,),
        )
        for group in groups:
            for action in group:
                row.addWidget(self._button(action))
            row.addSpacing(8)
        self._theme_action = self._action(say("Light or dark"), self._toggle_theme, sign="moon")
        row.addWidget(self._button(self._theme_action))
        self.menuBar().setCornerWidget(corner)

    def _button(self, action: QAction) -> QToolButton:
        button = QToolButton()
        button.setDefaultAction(action)
        button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonIconOnly)
        button.setFixedSize(26, 26)
        return button

    def _build_view_buttons(self) -> None:
        for action in (self._copy_picture, self._copy_table, self._copy_sheet):
            self._view.buttons.addWidget(self._button(action))

    def _connect(self) -> None:
        store = self._store
        self._panels.edited.connect(store.edit)
        self._panels.layout_requested.connect(self._commands.ask_layout)
        self._panels.gesture_ended.connect(store.end_gesture)
        self._panels.refused.connect(self._on_refused)
        self._panels.why_requested.connect(self._show_why)
        self._panels.source_requested.connect(self._show_source)
        self._view.edited.connect(store.edit)
        self._view.gesture_ended.connect(store.end_gesture)
        self._view.cursor_moved.connect(self._on_cursor)
        self._view.field_requested.connect(self._on_field)
        self._view.scenario_requested.connect(self._on_scenario)
        self._headline.why_requested.connect(self._show_why)
        self._headline.field_requested.connect(self._on_input)
        self.ready.connect(self._on_ready)
        self._bar.switch_requested.connect(store.switch)
        self._bar.duplicate_requested.connect(store.duplicate)
        self._bar.rename_requested.connect(store.rename)
        self._bar.remove_requested.connect(store.remove)
        self._bar.base_requested.connect(store.make_base)
        self._bar.note_requested.connect(self._commands.note)
        self._bar.ideal_requested.connect(store.make_ideal)
        self._bar.basis_chosen.connect(self._on_basis)
        self._bar.findings_requested.connect(self._show_findings)
        store.workbook_changed.connect(self._on_workbook)
        store.plans_changed.connect(self._on_plans)
        store.edit_rejected.connect(self._on_rejected)
        store.undo_stack.cleanChanged.connect(self._show_clean)

    def _on_painted(self) -> None:
        """The paint that began is over: one turn of the event loop shows the plan, the next ones go on building."""
        QTimer.singleShot(0, self._go_on)

    def _go_on(self) -> None:
        """The plots, and what is left once they have been painted."""
        self._view.plan.plots()
        QTimer.singleShot(20, self.complete)

    def complete(self) -> None:
        """Build what the first paint did not wait for."""
        self._view.plan.plots()
        self._show_icons()
        self._panels.build()
        self._pop_ups()
        _lay_out()
        QTimer.singleShot(0, self.ready.emit)  # once what was built is laid out

    def _on_ready(self) -> None:
        """What is worked out beside the window begins when the window stands."""
        if self._break_evens is None:
            QTimer.singleShot(0, self, self._watch_break_evens)
            for wait_ms, module in _AHEAD:
                QTimer.singleShot(wait_ms, self, partial(import_module, module))

    def _watch_break_evens(self) -> None:
        if not self.isVisible():  # closed meanwhile
            return
        from ckptplanner.ui.break_even import BreakEvens

        self._break_evens = BreakEvens(self)
        self._break_evens.found.connect(self._headline.show_break_even)
        self._break_evens.show_plans(self._shown)

    # ------------------------------------------------------------ what is shown

    def _on_workbook(self, workbook: Workbook) -> None:
        self._panels.show_workbook(workbook)
        self._show_clean(self._store.undo_stack.isClean())

    def _on_plans(self, shown: tuple[Shown, ...]) -> None:
        self._shown = shown
        now = current_of(shown)
        base = base_of(shown)
        if self._opened != self._store.times_opened:  # what is kept of plans was of another file
            self._opened, self._ghost = self._store.times_opened, None
            self._view.forget()
        reference, name = (self._ghost, say("the ghost")) if self._ghost else (base.plan, base.name) if base else (None, "")
        self._panels.show_plan(now.plan)
        self._bar.show_plans(shown)
        index = base.index if base is not None and self._ghost is None else None
        self._headline.expect_rivals([one.name for one in rivals_of(shown)])
        self._headline.show_plan(now, self._basis, reference, name, index)
        if self._break_evens is not None:
            self._break_evens.show_plans(shown)
        self._view.show_plans(shown, self._basis)
        self._show_in_settings()
        self._left.setText(figures_line(now.plan, now.named))
        self._right.setText(model_line(now.plan))
        if self._is_painted:
            _lay_out()

    def _show_clean(self, is_clean: bool) -> None:
        file = self._store.file
        name = file.name if file else say("untitled")
        self.setWindowTitle(f"{name}[*] – ckptplanner")
        self.setWindowModified(not is_clean)
        shown = self._file_label.fontMetrics().elidedText(name, Qt.TextElideMode.ElideMiddle, 200)
        self._file_label.setText(f"{shown}   {say('saved') if is_clean and file else say('not saved')}")

    def _on_cursor(self, text: str) -> None:
        now = current_of(self._shown)
        self._left.setText(text or figures_line(now.plan, now.named))

    def _on_rejected(self, path: str, message: str) -> None:
        self._panels.show_refusal(path, message)
        if self._panels.has_field(path):
            self._on_refused(path, message)
        elif message:
            self.statusBar().showMessage(message, 10_000)

    def _on_refused(self, path: str, message: str) -> None:
        """While a field holds something refused, say that the plots keep the last good plan."""
        (self._refused.add if message else self._refused.discard)(path)
        self._stale.setText(say("Shown: the last good plan. One field is not accepted yet.") if self._refused else "")

    def _on_basis(self, name: str) -> None:
        self._basis = basis = _basis(name)
        self._bar.show_basis(basis)
        self._settings.setValue("basis", basis)
        self._commands.basis = basis
        self._on_plans(self._shown)

    def _toggle_ghost(self) -> None:
        self._ghost = None if self._ghost is not None else current_of(self._shown).plan
        self._view.plan.show_ghost(self._ghost)
        self._on_plans(self._shown)

    def _on_scenario(self, what: str, which: Any) -> None:
        """What a view asks for: scenarios by name, one field of one, the edits of a plan, a change with its name."""
        store = self._store
        ways: dict[str, Callable[[], None]] = {
            "switch": lambda: store.switch(which), "base": lambda: store.make_base(which), "duplicate": store.duplicate,
            "order": lambda: store.reorder(which), "campaign": lambda: store.make_campaign(which),
            "edit": lambda: store.edit_of(*which), "adopt": lambda: store.adopt(which),
            "adopt_as_new": lambda: store.adopt_as_new(*which), "change": lambda: store.apply(*which),
        }  # fmt: skip
        ways[what]()

    def _step(self, by: int) -> None:
        names = [one.name for one in self._shown]
        self._store.switch(names[(names.index(self._store.workbook.current) + by) % len(names)])

    # ------------------------------------------------------------ pop-ups

    def _pop_ups(self) -> PopUps:
        """The cards, made when they are first needed or once the window has been painted."""
        if self._cards is None:
            from ckptplanner.ui.pop_ups import PopUps

            self._cards = PopUps(self)
            self._cards.show_theme(self._theme)
            self._cards.field_requested.connect(self._on_field)
            self._cards.edited.connect(self._store.edit)
        return self._cards

    def _show_settings(self) -> None:
        """Open the settings of other programs beside the window, or bring them to the front."""
        if self._apply is None:
            self._apply = self._commands.settings_dialog()
            self._apply.resize(min(self.width() - 60, 1240), min(self.height() - 60, 820))
            self._apply.show_theme(self._theme)
            self._apply.field_requested.connect(self._on_settings_field)
        self._apply.show()
        self._show_in_settings()
        self._apply.raise_()
        self._apply.activateWindow()

    def _show_in_settings(self) -> None:
        if self._apply is not None and self._apply.isVisible():
            self._apply.show_file(self._store.file)
            self._apply.show_plans(self._shown)

    def _on_settings_field(self, path: str) -> None:
        self.activateWindow()
        self._on_input(path)

    def _anchor(self) -> QWidget:
        """What a pop-up stands beside: where the click or the focus was."""
        return QApplication.widgetAt(QCursor.pos()) or QApplication.focusWidget() or self._headline

    def _show_why(self, figure: str) -> None:
        self._pop_ups().show_why(current_of(self._shown).named, figure, self._basis, self._anchor())

    def _on_field(self, path: str) -> None:
        """Go to a field: in its panel, or in the table under the plots."""
        tables = {"saves": 1, "restart.classes": 2}
        if path in tables:
            self._view.show_view(PLAN)
            self._view.plan.show_table(tables[path])
            self._view.plan.rows(tables[path]).view.setFocus()
        else:
            self._panels.focus_field(path)

    def _on_input(self, path: str) -> None:
        """Go to the field of an input, which may be made of several."""
        from ckptplanner.engine.levers import field_of

        self._on_field(field_of(current_of(self._shown).named.scenario, path))

    def _show_source(self, path: str) -> None:
        self._pop_ups().show_source(current_of(self._shown).named, path, self._anchor())

    def _show_findings(self, severity: str) -> None:
        corner = self._bar.mapToGlobal(QPoint(self._bar.width() - 12, self._bar.height()))
        self._pop_ups().show_findings(current_of(self._shown).plan, severity, corner, self.height() - 120)

    # ------------------------------------------------------------ look

    def _on_theme(self, action: QAction) -> None:
        self._theme = THEMES[str(action.data())]
        self._settings.setValue("theme", self._theme.name)
        self._apply_theme()
        self._on_plans(self._shown)

    def _toggle_theme(self) -> None:
        other = "light" if self._theme.is_dark else "dark"
        next(action for action in self._themes.actions() if action.data() == other).trigger()

    def _apply_theme(self) -> None:
        app = QApplication.instance()
        assert isinstance(app, QApplication)
        apply_theme(app, self._theme)
        if self._is_painted:
            self._show_icons()
        for part in (self._bar, self._headline, self._view):
            part.show_theme(self._theme)
        if self._apply is not None:
            self._apply.show_theme(self._theme)
        if self._cards is not None:
            self._cards.show_theme(self._theme)
        self._bar.show_basis(self._basis)

    def _show_icons(self) -> None:
        for action, sign in self._icons:
            action.setIcon(icon("sun" if sign == "moon" and self._theme.is_dark else sign, self._theme))

    # ------------------------------------------------------------ window state

    def _restore(self) -> None:
        settings = self._settings
        self._commands.basis = self._basis
        self.resize(1440, 900)
        for name, restore in (
            ("geometry", self.restoreGeometry),
            ("state", self.restoreState),
            ("splitter", self._view.plan.splitter.restoreState),
        ):
            stored = settings.value(name)
            if isinstance(stored, QByteArray):
                restore(stored)

    def _remember(self) -> None:
        settings = self._settings
        settings.setValue("geometry", self.saveGeometry())
        settings.setValue("state", self.saveState())
        settings.setValue("splitter", self._view.plan.splitter.saveState())
        self._panels.remember()

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if not self._is_painted:
            self._is_painted = True
            QTimer.singleShot(0, self._on_painted)

    @override
    def closeEvent(self, event: QCloseEvent) -> None:
        if self._commands.may_leave():
            self._remember()
            self._view.close_work()
            if self._apply is not None:
                self._apply.close()
            if self._break_evens is not None:
                self._break_evens.close()
            event.accept()
        else:
            event.ignore()

    @override
    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        welcome(event)

    @override
    def dropEvent(self, event: QDropEvent) -> None:
        if files := dropped_files(event):
            self._commands.take(files)
