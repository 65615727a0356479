"""Copy as spreadsheet: the plan as cells with live formulas, so that finance can follow and change every figure.

    A label | B value or formula | C unit | D source | E field path        tab-separated, one row a line

Inputs come first, then what follows from them, then the steps of the exact optimum. A formula refers to cells only,
never to a number that the program computed; it uses the English names and commas that Excel, LibreOffice and Google
Sheets take (a spreadsheet set to a decimal comma needs its paste settings at "English"). The file system is the one the
plan chose: its throughput, step and price stand among the inputs. What no cell can work out stands as a value and says so:
the sums of the restart classes and of the other saves, how many jobs write at once, the sum and the best interval of a
law of gaps, the failures of ageing nodes, and the groups of replicas. The rows are made in `sheet/`.
"""

from __future__ import annotations

from ckptplanner import __version__
from ckptplanner.engine.evaluate import evaluate
from ckptplanner.engine.job import job_of
from ckptplanner.engine.scenario import NamedScenario
from ckptplanner.engine.sheet import inputs, intervals, newton, outcome, storage, two_levels
from ckptplanner.engine.sheet.kind import Kind, kind_of
from ckptplanner.engine.sheet.rows import COLUMNS, Sheet
from ckptplanner.engine.tables import Translate, input_rows
from ckptplanner.text import Text, text

__all__ = ["COLUMNS", "spreadsheet", "spreadsheet_cells"]


def spreadsheet(named: NamedScenario, translate: Translate = str) -> str:
    """The sheet as tab-separated text, ready for the clipboard."""
    return "".join("\t".join(row).rstrip("\t") + "\n" for row in spreadsheet_cells(named, translate))


def spreadsheet_cells(named: NamedScenario, translate: Translate = str) -> list[list[str]]:
    """The sheet as rows of texts: label, value or formula, unit, source, field path."""
    plan, job = evaluate(named.scenario), job_of(named.scenario)
    kind, sheet = kind_of(named.scenario, job), Sheet()
    sheet.heading(
        text("ckptplanner {version}: {name}", version=__version__, name=named.name),
        translate(text("values in column B; formulas refer to the inputs")),
    )
    inputs.given(sheet, plan, {row.path: row for row in input_rows(named, translate)}, kind)
    inputs.values(sheet, plan, job, kind, translate)
    storage.size_and_rate(sheet, is_custom=kind.custom)
    if plan.storage.chosen is None:
        sheet.add("", text("No file system on offer can do this; the rest cannot be computed."), None)
        return sheet.cells(translate)
    storage.capacity(sheet, is_custom=kind.custom)
    _what_follows(sheet, kind)
    sheet.heading(_left_out(kind))
    return sheet.cells(translate)


def _what_follows(sheet: Sheet, kind: Kind) -> None:
    """From the interruptions to dollars, then the steps of the optimum."""
    intervals.interruptions(sheet, kind)
    if kind.levels:
        two_levels.rates(sheet, kind)
    intervals.best_interval(sheet, kind)
    if kind.levels:
        two_levels.intervals(sheet)
    else:
        intervals.one_level(sheet)
    outcome.restarts(sheet, kind)
    if kind.levels:
        two_levels.restarts(sheet, kind)
    outcome.times(sheet, kind)
    outcome.waste(sheet, kind)
    if kind.levels:
        two_levels.level_waste(sheet)
    outcome.dollars(sheet, kind)
    if kind.levels:
        two_levels.nested(sheet)
    _steps(sheet, kind)


def _steps(sheet: Sheet, kind: Kind) -> None:
    """Newton's method, once for each optimum that a cell can work out."""
    if not kind.renewal:
        newton.at_write_end(sheet, newton.AT_WRITE_END, "end", "{c}")
    sheet.add("c", text("c = C/M"), newton.quotient("{lost}", kind.mean))
    if kind.levels:
        newton.at_write_end(sheet, newton.AT_WRITE_END_LOCAL, "near", "{local_c}")
        sheet.add("local_c", text("c = C1/M1"), newton.quotient("{local_stop}", "{local_mean}"))
    newton.at_next_save(sheet)


def _left_out(kind: Kind) -> Text:
    if kind.levels:
        return text("Not in this sheet: how the groups of replicas are made, host memory, the way of the data.")
    return text("Not in this sheet: copies on other nodes, host memory, the way of the data. They change no figure above.")
