"""The rows of the sheet: labels, values and formulas that name other rows, and how they become cells."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from ckptplanner.engine.csv_files import harmless
from ckptplanner.engine.tables import Cell, Translate
from ckptplanner.text import Text, text

COLUMNS = 5


class Formula(str):
    """A formula that begins with =; {key} stands for the cell of another row. Texts that a person typed are none."""


@dataclass(slots=True)
class Line:
    """One row of the sheet."""

    key: str
    label: Text
    value: Cell = None
    unit: str = ""
    source: str = ""
    path: str = ""


@dataclass(slots=True)
class Sheet:
    """The rows so far; formulas are resolved at the end, so a row may refer to one below it."""

    lines: list[Line] = field(default_factory=list)

    def heading(self, label: Text, value: Cell = None) -> None:
        """A blank row and a heading."""
        if self.lines:
            self.lines.append(Line("", text("")))
        self.lines.append(Line("", label, value))

    def add(self, key: str, label: Text, value: Cell, unit: str = "", source: str = "", path: str = "") -> None:
        """One input or formula."""
        self.lines.append(Line(key, label, value, unit, source, path))

    def cells(self, translate: Translate) -> list[list[str]]:
        """Every row as `COLUMNS` texts, formulas with the addresses of their cells."""
        address = {line.key: f"B{row}" for row, line in enumerate(self.lines, start=1) if line.key}
        return [_cells(line, address, translate) for line in self.lines]

    def formulas(self, rows: Iterable[tuple[str, Text, str, str]]) -> None:
        """Rows of key, label, formula and unit."""
        for key, label, formula, unit in rows:
            self.add(key, label, Formula(formula), unit)


def _cells(line: Line, address: dict[str, str], translate: Translate) -> list[str]:
    is_formula = isinstance(line.value, Formula)
    shown = str(line.value).format(**address) if is_formula else _plain(line.value)
    return [_plain(translate(line.label)), shown, line.unit, _plain(line.source), line.path]


def _plain(value: Cell) -> str:
    """One cell's text: yes and no as TRUE and FALSE, numbers to the last digit, no tab, line break or formula in texts."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, str):
        return str(harmless(" ".join(value.split())))
    return repr(value)
