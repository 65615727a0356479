"""Break-evens, tornado, what to measure next and scale as rows for CSV, report and clipboard.

Like tables.py: plain Python rows, an unknown number is None. A value of an input is in the input's own unit, which has a
column; its text, with the unit, stands beside it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from ckptplanner.engine.flip_words import flip_sentence
from ckptplanner.engine.flips import FlipBar
from ckptplanner.engine.ranges import Range
from ckptplanner.engine.regret import Decision, Regret, change_words
from ckptplanner.engine.scale import Scale, ScaleRow
from ckptplanner.engine.tables import Cell, Translate, frame, known
from ckptplanner.engine.tornado import Tornado
from ckptplanner.text import Text
from ckptplanner.units import exact

if TYPE_CHECKING:
    from pandas import DataFrame

RANGE_COLUMNS = ("path", "title", "unit", "value", "low", "high", "range_kind", "range_reason", "is_uncertain")
FLIP_COLUMNS = (
    *RANGE_COLUMNS, "first", "second", "piece_low", "piece_high", "cheaper", "flip", "flip_shown", "flip_kind", "sentence",
)  # fmt: skip
TORNADO_COLUMNS = (*RANGE_COLUMNS, "figure", "figure_unit", "at_low", "expected", "at_high", "span")
REGRET_COLUMNS = (
    *RANGE_COLUMNS, "regret_at_low_usd_per_year", "regret_at_high_usd_per_year", "would_change", "command", "how_to_measure",
)  # fmt: skip
SCALE_COLUMNS = tuple(field.name for field in fields(ScaleRow))


def _range_cells(over: Range, translate: Translate) -> dict[str, Cell]:
    lever = over.lever
    return {
        "path": over.path, "title": translate(lever.title), "unit": lever.unit.symbol, "value": known(over.value),
        "low": known(over.low), "high": known(over.high), "range_kind": over.kind, "range_reason": translate(over.reason),
        "is_uncertain": over.is_uncertain,
    }  # fmt: skip


def flip_rows(bars: Sequence[FlipBar], translate: Translate = str) -> list[dict[str, Cell]]:
    """A row for each piece of each bar: who is cheaper in it, and the flip at which it begins; none for the first piece."""
    rows: list[dict[str, Cell]] = []
    for bar in bars:
        names = {"first": bar.first, "second": bar.second, "equal": "equal", "unknown": None}
        shared = _range_cells(bar.range, translate) | {"first": bar.first, "second": bar.second}
        for piece, flip in zip(bar.segments, (None, *bar.flips), strict=True):
            rows.append(shared | {
                "piece_low": known(piece.low), "piece_high": known(piece.high), "cheaper": names[piece.winner],
                "flip": None if flip is None else known(flip.value),
                "flip_shown": None if flip is None else exact(flip.value, bar.range.lever.unit),
                "flip_kind": None if flip is None else flip.kind, "sentence": translate(flip_sentence(bar)),
            })  # fmt: skip
    return rows


def tornado_rows(found: Tornado, translate: Translate = str) -> list[dict[str, Cell]]:
    """A row for each bar, the widest first."""
    return [
        _range_cells(bar.range, translate) | {
            "figure": found.figure, "figure_unit": found.unit.symbol, "at_low": known(bar.low),
            "expected": known(found.expected), "at_high": known(bar.high), "span": known(bar.span(found.expected)),
        }
        for bar in found.bars
    ]  # fmt: skip


def regret_rows(found: Sequence[Regret], decided: Decision, translate: Translate = str) -> list[dict[str, Cell]]:
    """A row for each input, the dearest first; what would change is said for the dearer end."""
    rows: list[dict[str, Cell]] = []
    for row in found:
        best = row.worst.best
        rows.append(_range_cells(row.range, translate) | {
            "regret_at_low_usd_per_year": known(row.low.regret_usd_per_year),
            "regret_at_high_usd_per_year": known(row.high.regret_usd_per_year),
            "would_change": None if best is None else translate(change_words(decided, best)), "command": row.command,
            "how_to_measure": " ".join(map(translate, row.how_to)) or None,
        })  # fmt: skip
    return rows


def scale_rows(found: Scale, translate: Translate = str) -> list[dict[str, Cell]]:
    """A row for each node count."""

    def cell(value: Any) -> Cell:
        return translate(value) if isinstance(value, Text) else known(value)

    return [{name: cell(getattr(row, name)) for name in SCALE_COLUMNS} for row in found.rows]


def flips_table(bars: Sequence[FlipBar], translate: Translate = str) -> DataFrame:
    """Break-evens as a DataFrame."""
    return frame(flip_rows(bars, translate), FLIP_COLUMNS)


def tornado_table(found: Tornado, translate: Translate = str) -> DataFrame:
    """The tornado as a DataFrame."""
    return frame(tornado_rows(found, translate), TORNADO_COLUMNS)


def regret_table(found: Sequence[Regret], decided: Decision, translate: Translate = str) -> DataFrame:
    """What to measure next as a DataFrame."""
    return frame(regret_rows(found, decided, translate), REGRET_COLUMNS)


def scale_table(found: Scale, translate: Translate = str) -> DataFrame:
    """Scale as a DataFrame."""
    return frame(scale_rows(found, translate), SCALE_COLUMNS)
