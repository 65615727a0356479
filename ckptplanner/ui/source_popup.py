"""Whose number is that? The source of one field: date, conflicts, what else is known, how to measure it, the way back."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from ckptplanner.engine.checks import source_kind
from ckptplanner.engine.measure import Alternative, alternatives, catalog_value, how_to_measure
from ckptplanner.engine.scenario import NamedScenario, Scenario, Source
from ckptplanner.engine.value_words import VALUE_WORDS, range_words
from ckptplanner.frozen import spec_of, value_at
from ckptplanner.ui.theme import EDGE, GRID
from ckptplanner.ui.why import CardPopup, Link, aside, hairline, words
from ckptplanner.ui.widgets.field_row import source_meaning
from ckptplanner.ui.words import say, say_text
from ckptplanner.units import NBSP, SECONDS, Unit, brief, exact

_LABEL_WIDTH = 80


class SourcePopup(CardPopup):
    """The card of one field's source."""

    edited = Signal(str, object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._path = ""

    def show_field(self, named: NamedScenario, path: str) -> None:
        """Show what is known about the value at `path`.

        Raises:
            PathError: there is no such field.
        """
        spec = spec_of(Scenario, path)
        self._path = path
        self.title.setText(say(spec.title))
        body = QVBoxLayout()
        body.setContentsMargins(0, 0, 0, EDGE)
        body.setSpacing(2 * GRID)
        body.addLayout(_facts(named, path))
        others = alternatives(named, path)
        if others:
            body.addWidget(hairline())
            body.addLayout(self._alternatives(others, spec.unit))
        measure = how_to_measure(path)
        if measure is not None:
            body.addWidget(hairline())
            body.addLayout(_paragraph(say("How to measure it"), say_text(measure)))
        self._add_way_back(body, named, path)
        self.show_body(body)

    def _alternatives(self, others: tuple[Alternative, ...], unit: Unit | None) -> QGridLayout:
        """Other values with their sources; a click takes one over."""
        grid = _grid()
        grid.setColumnStretch(0, 1)
        grid.addWidget(words(say("Other sources"), "small"), 0, 0, 1, 3)
        for row, other in enumerate(others, start=1):
            name = words(other.name, "muted")
            name.setToolTip("\n".join(filter(None, (other.source, other.note))))
            link = Link(shown_value(self._path, other.value, unit), f"use:{other.name}", say("Use this value"))
            link.clicked.connect(lambda _=False, value=other.value: self._edit(value))
            grid.addWidget(name, row, 0)
            grid.addWidget(link, row, 1, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignTop)
            grid.addWidget(aside(other.date), row, 2)
        return grid

    def _add_way_back(self, body: QVBoxLayout, named: NamedScenario, path: str) -> None:
        """The button that restores the catalog's value, where that is known and not the present one."""
        value = catalog_value(named, path)
        optional = spec_of(Scenario, path).optional
        if value == value_at(named.scenario, path) or (value is None and (not optional or path.startswith("prices."))):
            return
        button = QPushButton(say("Back to the catalog value"))
        button.setObjectName("back_to_catalog")
        button.clicked.connect(lambda: self._edit(value))
        line = QHBoxLayout()
        line.setContentsMargins(EDGE, 0, EDGE, 0)
        line.addWidget(button)
        line.addWidget(aside(shown_value(path, value, spec_of(Scenario, path).unit)), 1, Qt.AlignmentFlag.AlignVCenter)
        body.addLayout(line)

    def _edit(self, value: Any) -> None:
        self.close()
        self.edited.emit(self._path, value)


def _grid() -> QGridLayout:
    grid = QGridLayout()
    grid.setContentsMargins(EDGE, 0, EDGE, 0)
    grid.setHorizontalSpacing(2 * GRID)
    grid.setVerticalSpacing(2)
    return grid


def _facts(named: NamedScenario, path: str) -> QVBoxLayout:
    """What the field is, its value, and where that comes from."""
    spec = spec_of(Scenario, path)
    column, grid = QVBoxLayout(), _grid()
    column.setSpacing(2 * GRID)
    column.addLayout(_paragraph("", say(spec.description)))
    rows = [
        (say("Value"), shown_value(path, value_at(named.scenario, path), spec.unit)),
        (say("Source"), source_meaning(source_kind(named, path))),
        *_recorded(named.source_of(path)),
    ]
    grid.setColumnStretch(1, 1)
    for row, (label, text) in enumerate(rows):
        title = words(label, "muted")
        title.setFixedWidth(_LABEL_WIDTH)
        grid.addWidget(title, row, 0)
        grid.addWidget(words(text), row, 1)
    column.addLayout(grid)
    return column


def _recorded(source: Source | None) -> list[tuple[str, str]]:
    if source is None:
        return []
    measured = range_words(source)
    rows = [
        (say("From"), source.text), (say("Date"), source.date), (say("Measured"), say_text(measured) if measured else ""),
        (say("Note"), source.note),
    ]  # fmt: skip
    return [(label, text) for label, text in rows if text]


def _paragraph(title: str, text: str) -> QVBoxLayout:
    column = QVBoxLayout()
    column.setContentsMargins(EDGE, 0, EDGE, 0)
    column.setSpacing(2)
    if title:
        column.addWidget(words(title, "small"))
    column.addWidget(words(text, "" if title else "muted"))
    return column


def shown_value(path: str, value: Any, unit: Unit | None) -> str:
    """A value as its field shows it; rows of the catalog by name."""
    words = VALUE_WORDS.get(path, {}).get(value) if isinstance(value, str) else None
    if words is not None:
        return say_text(words)
    if value is None:
        return say("not given")
    if isinstance(value, bool):
        return say("yes") if value else say("no")
    if isinstance(value, int | float) and unit is not None:
        return brief(value, unit) if unit is SECONDS else exact(value, unit).replace(f"{NBSP}/", "/")
    if isinstance(value, tuple):
        return ", ".join(f"{say(part.what)} {part.bytes_per_param:g}" for part in value)
    return str(getattr(value, "name", value))
