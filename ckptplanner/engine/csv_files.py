"""The CSV files of an export: options, curves, inputs, findings, and the nodes' own. No Qt: the command line needs no display.

UTF-8 with a byte order mark, or Excel would spoil Japanese; each file appears whole or not at all.
"""

from __future__ import annotations

import os
import re
import secrets
from pathlib import Path
from typing import TYPE_CHECKING

from ckptplanner.engine import tables
from ckptplanner.engine.plan import Plan
from ckptplanner.engine.scenario import NamedScenario, Workbook
from ckptplanner.text import Text, text

if TYPE_CHECKING:
    from pandas import DataFrame

NAMES = (
    "options.csv", "curves.csv", "inputs.csv", "findings.csv",
    "datapath.csv", "host_ram.csv", "replication.csv", "survival.csv", "levels.csv", "saves.csv", "requirement.csv",
)  # fmt: skip
COMPARISON, CAMPAIGN = "comparison.csv", "campaign.csv"  # where there are two scenarios or more, and where there are stages
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")
_NUMBER = re.compile(r"[+-][\d.,]+\s*%?")


class ExportError(Exception):
    """A file that could not be written; `text` is one sentence that says what, where and what to do."""

    def __init__(self, sentence: Text) -> None:
        super().__init__(str(sentence))
        self.text = sentence


def write_csv(named: NamedScenario, plan: Plan, folder: Path) -> tuple[Path, ...]:
    """Write the files into `folder`, which is made where it is missing, and return their paths.

    Raises:
        ExportError: a file or the folder cannot be written.
    """
    from ckptplanner.engine.node_tables import node_frames  # here, since the window starts without it
    from ckptplanner.engine.requirement import COLUMNS, requirement, requirement_rows

    frames = {
        "options.csv": tables.options_table(plan),
        "curves.csv": tables.curves_table(plan),
        "inputs.csv": tables.inputs_table(named),
        "findings.csv": tables.findings_table(plan),
        **node_frames(plan),
        "requirement.csv": tables.frame(requirement_rows(requirement(named, plan)), COLUMNS),
    }
    written = tuple(folder / name for name in NAMES)
    for path in written:
        frame = frames[path.name]
        write_whole(path, csv_text(frame).encode("utf-8-sig"))
    return written


def write_comparison(workbook: Workbook, folder: Path) -> tuple[Path, ...]:
    """Write comparison.csv where there are two scenarios or more, campaign.csv where some are stages; return their paths.

    Raises:
        ExportError: a file or the folder cannot be written.
    """
    from ckptplanner.engine import campaign, compare

    frames: dict[str, DataFrame] = {}
    if len(workbook.scenarios) > 1:
        found = compare.comparison(compare.cases_of(workbook), workbook.base)
        columns = [str(harmless(name)) for name in compare.comparison_columns(found)]
        frames[COMPARISON] = tables.frame_of(columns, compare.comparison_cells(found))
    if workbook.stages:
        rows = campaign.campaign_rows(campaign.campaign(workbook.stages))
        frames[CAMPAIGN] = tables.frame_of(campaign.COLUMNS, rows)
    for name, frame in frames.items():
        write_whole(folder / name, csv_text(frame).encode("utf-8-sig"))
    return tuple(folder / name for name in frames)


def csv_text(frame: DataFrame) -> str:
    """The frame as CSV: floats so that they read back to the last bit, unknown as an empty cell."""
    return frame.map(harmless).to_csv(index=False, lineterminator="\r\n", na_rep="")


def harmless(value: object) -> object:
    """A text that a spreadsheet would take for a formula, marked as text; all else as it is, "+45 %" included."""
    if not isinstance(value, str) or not value.startswith(_FORMULA_STARTS) or _NUMBER.fullmatch(value):
        return value
    return f"'{value}"


def write_whole(path: Path, content: bytes) -> None:
    """Write `content` to a file beside `path` and put it in its place, so that nobody ever finds half a file.

    Raises:
        ExportError: the folder or the file cannot be written.
    """
    part = path.with_name(f".ckptplanner-{secrets.token_hex(6)}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            part.write_bytes(content)
            os.replace(part, path)
        finally:
            part.unlink(missing_ok=True)
    except OSError as problem:
        raise ExportError(
            text(
                "{name} could not be written to {folder} ({reason}): choose a folder that you may write to, or close "
                "the file where it is open.",
                name=path.name, folder=path.parent, reason=problem.strerror or problem,
            )
        ) from problem  # fmt: skip
