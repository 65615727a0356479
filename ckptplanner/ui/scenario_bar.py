"""The bar of scenarios: one button each with its mark, plus; at the right the counts of findings and the two switches."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import QButtonGroup, QHBoxLayout, QInputDialog, QMenu, QPushButton, QScrollArea, QToolButton, QWidget

from ckptplanner.engine.edits import basis_of
from ckptplanner.engine.plan import SEVERITIES, Severity
from ckptplanner.ui.marks import mark_icon
from ckptplanner.ui.shown import Shown, current_of
from ckptplanner.ui.theme import LIGHT, Theme, icon
from ckptplanner.ui.words import say, severity_word

_HEIGHT = 40


class Switch(QWidget):
    """Two or three words of which at most one holds."""

    chosen = Signal(str)

    def __init__(self, name: str, choices: Sequence[tuple[str, str, str]], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName(name)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        self._group = QButtonGroup(self)
        self._buttons: dict[str, QPushButton] = {}
        for index, (key, label, tip) in enumerate(choices):
            button = QPushButton(label)
            button.setObjectName(f"{name}.{key}")
            button.setCheckable(True)
            button.setToolTip(tip)
            button.setProperty("role", "segment")
            button.setProperty("place", "first" if index == 0 else "last" if index == len(choices) - 1 else "middle")
            button.setFixedHeight(24)
            button.setMinimumWidth(button.sizeHint().width() + 14)
            self._group.addButton(button, index)
            self._buttons[key] = button
            row.addWidget(button)
        self._keys = [key for key, _, _ in choices]
        self._group.idClicked.connect(self._on_clicked)

    def _on_clicked(self, index: int) -> None:
        self.chosen.emit(self._keys[index])

    def show_choice(self, key: str) -> None:
        """Show which one holds; an unknown key shows none. Tab comes to the one that holds, arrows go on from there."""
        self._group.setExclusive(key in self._buttons)
        for name, button in self._buttons.items():
            is_left_out = key in self._buttons and name != key
            button.setFocusPolicy(Qt.FocusPolicy.ClickFocus if is_left_out else Qt.FocusPolicy.StrongFocus)
            if button.isChecked() != (name == key):
                button.setChecked(name == key)


class ScenarioBar(QWidget):
    """Proposes what to do with scenarios; shows how many findings the current plan has."""

    switch_requested = Signal(str)
    duplicate_requested = Signal()
    rename_requested = Signal(str, str)
    remove_requested = Signal(str)
    base_requested = Signal(str)
    note_requested = Signal()
    findings_requested = Signal(str)
    ideal_requested = Signal(bool)
    basis_chosen = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("scenario_bar")
        self.setFixedHeight(_HEIGHT)
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setProperty("role", "surface")
        self._theme = LIGHT
        self._shown: tuple[Shown, ...] = ()
        row = QHBoxLayout(self)
        row.setContentsMargins(12, 0, 12, 0)
        row.setSpacing(6)
        self._tabs = QHBoxLayout()
        self._tabs.setContentsMargins(0, 0, 0, 0)
        self._tabs.setSpacing(4)
        inside = QWidget()
        inside.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        inside.setProperty("role", "surface")
        inside.setLayout(self._tabs)
        self._scroll = QScrollArea()
        self._scroll.setWidget(inside)
        self._scroll.setWidgetResizable(True)
        self._scroll.setFixedHeight(_HEIGHT - 4)
        self._scroll.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        row.addWidget(self._scroll, 1)
        self._buttons: list[QPushButton] = []
        self._add = QToolButton()
        self._add.setObjectName("scenario.add")
        self._add.setToolTip(say("Duplicate this scenario (Ctrl+D)"))
        self._add.clicked.connect(self.duplicate_requested)
        self._tabs.addWidget(self._add)
        self._tabs.addStretch(1)
        self._counts = {severity: self._count_button(severity) for severity in SEVERITIES}
        for button in self._counts.values():
            row.addWidget(button)
        row.addSpacing(10)
        self._ideal = Switch("ideal", (
            ("ideal", say("Ideal"), say("Nothing allowed for: fill 100 %, full rates, detection 1 min")),
            ("allowances", say("Allowances"), say("Guesses: fill 85 %, reads at 70 %, detection 10 min, 15 s lost a save")),
        ))  # fmt: skip
        self._ideal.chosen.connect(self._on_ideal)
        self._basis = Switch("basis", (
            ("month", say("Month"), say("Dollars a month: a twelfth of a year")),
            ("run", say("Run"), say("Dollars for the length of the run")),
            ("year", say("Year"), say("Dollars a year of 8,760 h")),
        ))  # fmt: skip
        self._basis.chosen.connect(self.basis_chosen)
        row.addWidget(self._ideal)
        row.addSpacing(10)
        row.addWidget(self._basis)

    def _count_button(self, severity: Severity) -> QPushButton:
        button = QPushButton()
        button.setObjectName(f"findings.{severity}")
        button.setFlat(True)
        button.setProperty("role", "count")
        button.setIconSize(QSize(16, 16))
        button.clicked.connect(lambda: self.findings_requested.emit(severity))
        return button

    def _on_ideal(self, key: str) -> None:
        self.ideal_requested.emit(key == "ideal")

    # ------------------------------------------------------------ what is shown

    def show_theme(self, theme: Theme) -> None:
        """Take the colours of a theme."""
        self._theme = theme
        self._add.setIcon(icon("add", theme))
        colours = {"error": theme.error, "warning": theme.warning, "info": theme.info}
        for severity, button in self._counts.items():
            button.setIcon(icon(severity, theme, colours[severity]))
        self.show_plans(self._shown)

    def show_basis(self, basis: str) -> None:
        """Show the money basis."""
        self._basis.show_choice(basis)

    def show_plans(self, shown: Sequence[Shown]) -> None:
        """Show scenarios and counts."""
        self._shown = tuple(shown)
        while len(self._buttons) < len(shown):
            self._buttons.append(self._tab())
            self._tabs.insertWidget(len(self._buttons) - 1, self._buttons[-1])
        for button, one in zip(self._buttons, shown, strict=False):
            label = say("{name}   base", name=one.name) if one.is_base and len(shown) > 1 else one.name
            button.setText(label.replace("&", "&&") if len(label) < 44 else label[:40].replace("&", "&&") + "…")
            button.setToolTip(escape(one.name + (f"\n{one.named.note}" if one.named.note else "")))
            button.setIcon(mark_icon(self._theme, one.index, is_filled=one.is_current))
            button.setChecked(one.is_current)
            button.setObjectName(f"scenario.{one.name}")
            button.setVisible(True)
        for button in self._buttons[len(shown) :]:
            button.setVisible(False)
        if shown:
            now = current_of(shown)
            for severity, button in self._counts.items():
                count = now.plan.count(severity)
                button.setText(str(count))
                button.setAccessibleName(f"{count} {severity_word(severity)}")
            self._ideal.show_choice(basis_of(now.named.scenario))

    def _tab(self) -> QPushButton:
        button = QPushButton()
        button.setCheckable(True)
        button.setProperty("role", "scenario")
        button.setFixedHeight(28)
        button.setIconSize(QSize(14, 14))
        button.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        button.clicked.connect(lambda: self._on_tab(button))
        button.customContextMenuRequested.connect(
            lambda place: self.menu_for(self._name_of(button)).exec(button.mapToGlobal(place))
        )
        return button

    def _name_of(self, button: QPushButton) -> str:
        return self._shown[self._buttons.index(button)].name

    def _on_tab(self, button: QPushButton) -> None:
        button.setChecked(self._shown[self._buttons.index(button)].is_current)
        self.switch_requested.emit(self._name_of(button))

    def menu_for(self, name: str) -> QMenu:
        """What can be done with one scenario."""
        menu = QMenu(self)
        menu.addAction(say("Rename…"), lambda: self.ask_name(name))
        menu.addAction(say("Compare with this one (base)"), lambda: self.base_requested.emit(name))
        menu.addAction(say("Note…"), self.note_requested.emit)
        remove = menu.addAction(say("Remove"), lambda: self.remove_requested.emit(name))
        remove.setEnabled(len(self._shown) > 1)
        return menu

    def ask_name(self, name: str) -> None:
        """Ask for another name of a scenario."""
        new, is_given = QInputDialog.getText(self, say("Rename"), say("Name of the scenario"), text=name)
        if is_given:
            self.rename_requested.emit(name, new)
