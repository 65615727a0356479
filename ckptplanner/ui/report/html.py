"""HTML of the report: texts made safe, tables with hairlines whose head is repeated on every page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

from ckptplanner.units import NBSP


@dataclass(frozen=True, slots=True)
class FormulaRow:
    """One line of the table of formulas: `formula`, `numbers` and `source` are HTML."""

    what: str
    formula: str
    numbers: str
    source: str


def esc(text: object) -> str:
    """Text of any origin, safe inside HTML, with its line breaks."""
    return escape(str(text)).replace("\n", "<br/>")


def table(headings: Sequence[str], rows: Iterable[Sequence[str]], *, right: Sequence[int] = (), widths: Sequence[int]) -> str:
    """A table with hairlines whose head is repeated on every page; the cells are HTML already.

    Args:
        right: Columns that are set flush right.
        widths: Width of every column. [%]
    """
    numbers = set(right)
    head = "".join(
        f'<th width="{widths[column]}%" align="{"right" if column in numbers else "left"}">{esc(heading)}</th>'
        for column, heading in enumerate(headings)
    )
    body = "".join(f"<tr>{_row_cells(row, numbers)}</tr>" for row in rows)
    return f'<table class="grid" width="100%" cellspacing="0"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'


def _row_cells(row: Sequence[str], numbers: set[int]) -> str:
    """The cells of a row. An empty one gets a blank: after a table that ends in an empty cell Qt hides the next heading."""
    return "".join(
        f'<td align="right" class="number">{cell or NBSP}</td>' if column in numbers else f"<td>{cell or NBSP}</td>"
        for column, cell in enumerate(row)
    )


def path_of(path: str) -> str:
    """A field path in small print."""
    return f'<span class="small">{esc(path)}</span>'
