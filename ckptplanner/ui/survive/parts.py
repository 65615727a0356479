"""The events of the Survive view as buttons."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QLabel, QPushButton, QWidget
from typing_extensions import override

from ckptplanner.ui.survive.case import Case, event_word
from ckptplanner.ui.words import say

_BUTTON_H = 26


class Events(QWidget):
    """The events as buttons side by side, in a second line where they do not fit into one."""

    chosen = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("survive.events")
        self._name = QLabel(say("What happens"), self)
        self._name.setProperty("role", "muted")
        self._hint = QLabel(say("click nodes, or choose here"), self)
        self._hint.setProperty("role", "small")
        self._buttons: dict[str, QPushButton] = {}
        for key in ("process_restart", "node_reboot", "node_lost", "nodes", "rack_lost", "cluster_lost", "planned_stop"):
            button = QPushButton(self)
            button.setObjectName(f"survive.event.{key}")
            button.setCheckable(True)
            button.setAutoExclusive(False)
            button.setProperty("role", "scenario")
            button.setFixedHeight(_BUTTON_H)
            button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
            button.clicked.connect(lambda _=False, name=key: self.chosen.emit(name))
            self._buttons[key] = button

    def show_case(self, case: Case) -> None:
        """Mark what happens; lost nodes that no other button stands for have one of their own."""
        cluster, own = case.cluster, self._own_key(case)
        rack = (
            say("Rack {number}", number=cluster.rack_of(min(case.lost, default=0)) + 1) if cluster.rack_nodes else say("Rack")
        )
        words = {
            "process_restart": say("Process restart"), "node_reboot": say("Reboot"), "node_lost": say("One node"),
            "nodes": event_word("node_lost", case.lost, cluster), "rack_lost": rack, "cluster_lost": say("All nodes"),
            "planned_stop": say("Planned stop"),
        }  # fmt: skip
        for key, button in self._buttons.items():
            button.setText(words[key])
            button.setChecked(key == own)
        self._buttons["nodes"].setVisible(own == "nodes")
        self._buttons["rack_lost"].setToolTip("" if cluster.rack_nodes else say("Say first how many nodes share a rack"))
        self._arrange()

    @staticmethod
    def _own_key(case: Case) -> str:
        if case.event in ("node_lost", "group_lost") and case.lost:
            return "nodes"
        return case.event

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        self._arrange()

    def _arrange(self) -> None:
        shown = [button for button in self._buttons.values() if not button.isHidden()]
        wide = [button.sizeHint().width() for button in shown]
        name = self._name.sizeHint().width() + 12
        has_name = name + sum(wide) + 4 * len(wide) <= self.width()
        x, y = 0, 0
        self._name.setVisible(has_name)
        if has_name:
            self._name.setGeometry(0, 0, name, _BUTTON_H)
            x = name
        for button, width in zip(shown, wide, strict=True):
            if x and x + width > self.width():
                x, y = 0, y + _BUTTON_H + 2
            button.setGeometry(x, y, min(width, self.width()), _BUTTON_H)
            x += width + 4
        hint = self._hint.sizeHint().width()
        self._hint.setVisible(y == 0 and x + 16 + hint <= self.width())
        self._hint.setGeometry(self.width() - hint, 0, hint, _BUTTON_H)
        self.setFixedHeight(y + _BUTTON_H)
