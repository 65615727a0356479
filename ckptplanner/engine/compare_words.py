"""A comparison in words: how values and differences are written, for the window, the report and the command line alike."""

from __future__ import annotations

from collections.abc import Sequence

from ckptplanner.engine.compare import Change, Comparison, Figure, FigureRow
from ckptplanner.engine.tables import Translate
from ckptplanner.text import Text, text
from ckptplanner.units import COUNT, FRACTION, GIBS, NBSP, SECONDS, UNKNOWN, USD, brief, grouped, percent, rough, significant

_LONG_MONEY = 1e7
_LEAST_SHARE, _LEAST_OF_SAME = 0.0005, 0.01


def dollars(usd: float) -> str:
    """Dollars to the last one: $4,080; from ten million on as they are said."""
    if abs(usd) >= _LONG_MONEY:
        return brief(usd, USD)
    return ("−" if round(usd) < 0 else "") + f"${grouped(abs(usd))}"


def value_text(figure: Figure, value: float | str | None) -> Text:
    """How the value of a figure is written."""
    if value is None:
        return text("{value}", value=UNKNOWN)
    if isinstance(value, str):
        return _file_system(value)
    return text("{value}", value=_number(figure, value))


def _number(figure: Figure, value: float) -> str:
    unit = figure.unit
    if figure.is_money:
        return dollars(value)
    if unit is None or unit == COUNT:
        return grouped(value)
    if unit == SECONDS:
        return rough(value, SECONDS)
    if unit == FRACTION:
        return percent(value) if figure.path.startswith("waste.") else brief(value, FRACTION, 2)
    return f"{grouped(value)}{NBSP}GiB" if unit == GIBS else brief(value, unit)


def _file_system(option_id: str) -> Text:
    """p2-1000-33600-efa without its size: 1,000 MB/s/TiB, EFA; the storage that exists by its words."""
    parts = option_id.split("-")
    if len(parts) < 3:
        return text("the storage we have")
    rate = f"{int(parts[1]):,}{NBSP}MB/s/TiB"
    return text("{rate}, EFA", rate=rate) if option_id.endswith("-efa") else text("{value}", value=rate)


def difference_text(figure: Figure, change: Change) -> Text:
    """How a difference is written, with its sign: +$4,674, −11 min, +0.22 points."""
    sign, size = "+" if change.difference > 0 else "−", abs(change.difference)
    if figure.unit == FRACTION:
        return text("{change} points", change=f"{sign}{significant(size * 100, 2)}")
    return text("{value}", value=sign + _number(figure, size))


def share_text(figure: Figure, change: Change) -> str:
    """How a difference is written as a share of the base's: +21 %; empty where the base's is 0 or it is too small to say."""
    if change.fraction is None or figure.unit == COUNT or abs(change.fraction) < _LEAST_SHARE:
        return ""
    size = abs(change.fraction) * 100
    digits = f"{size:,.0f}" if size >= 9.95 else significant(size, 2)
    return f"{'+' if change.fraction > 0 else '−'}{digits}{NBSP}%"


def is_seen(row: FigureRow, base: int, at: int) -> bool:
    """Whether the difference to the base is worth writing: not where it reads +$0, nor below 1 % of what reads the same."""
    change, figure = row.changes[at], row.figure
    if change is None or (figure.is_money and abs(change.difference) < 0.5):
        return False
    if change.fraction is None:
        return True
    reads_the_same = value_text(figure, row.values[at]) == value_text(figure, row.values[base])
    return abs(change.fraction) >= (_LEAST_OF_SAME if reads_the_same else _LEAST_SHARE)


def summary(found: Comparison) -> Text:
    """What the comparison comes to, in one sentence: the cheapest in all and the one that wastes least."""
    cheapest, leanest = (_first(found, path) for path in ("cost.total_usd_per_year", "waste.chosen_fraction"))
    if cheapest is None and leanest is None:
        works = [name for at, name in enumerate(found.names) if at not in found.broken]
        if not works:
            return text("None of these plans works yet.")
        if found.broken and len(works) == 1:
            return text("Only {name} works; the others have errors.", name=works[0])
        return text("All alike in dollars and in waste.")
    waste = found.row("waste.chosen_fraction")
    if cheapest is None:
        assert leanest is not None
        return text("Least waste: {name}, {waste}.", name=found.names[leanest], waste=value_text(waste.figure,
                    waste.values[leanest]))  # fmt: skip
    total = found.row("cost.total_usd_per_year")
    values = {"name": found.names[cheapest], "total": value_text(total.figure, total.values[cheapest])}
    per = {"month": text("a month"), "run": text("for the run"), "year": text("a year")}[found.basis]
    if leanest is None or leanest == cheapest:
        said = value_text(waste.figure, waste.values[cheapest])
        return text("Cheapest in all, and least waste: {name}, {total} {per}, {waste}.", **values, per=per, waste=said)
    return text(
        "Cheapest in all: {name}, {total} {per}. Least waste: {other}, {waste}.",
        **values, per=per, other=found.names[leanest], waste=value_text(waste.figure, waste.values[leanest]),
    )  # fmt: skip


def _first(found: Comparison, path: str) -> int | None:
    return min(found.row(path).best(found.broken), default=None)


def as_text(found: Comparison, translate: Translate = str) -> str:
    """The whole comparison as lines whose columns line up, for a terminal."""
    heads = [f"{name} (base)" if at == found.base else name for at, name in enumerate(found.names)]
    rows: list[Sequence[str]] = [["", *heads]]
    rows += [[row.title, *(said or UNKNOWN for said in row.shown)] for row in found.inputs]
    split = len(rows)
    rows += [[_title(row, translate), *_cells(row, found.base, translate)] for row in found.figures]
    widths = [max(_width(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = ["  ".join(_padded(cell, width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    lines.insert(split, "")
    return "\n".join([translate(summary(found)), "", *lines])


def _cells(row: FigureRow, base: int, translate: Translate) -> list[str]:
    shares = [
        share_text(row.figure, change) if change is not None and is_seen(row, base, at) else ""
        for at, change in enumerate(row.changes)
    ]
    return [
        translate(value_text(row.figure, value)) + (f" ({share})" if share else "")
        for value, share in zip(row.values, shares, strict=True)
    ]


def _title(row: FigureRow, translate: Translate) -> str:
    return ("  " if row.figure.is_part else "") + translate(row.figure.title)


def _width(said: str) -> int:
    """Columns of a terminal; a Japanese sign takes two."""
    return sum(2 if "\u1100" <= sign <= "\u115f" or "\u2e80" <= sign <= "\uffe0" else 1 for sign in said)


def _padded(said: str, width: int) -> str:
    return said + " " * (width - _width(said))
