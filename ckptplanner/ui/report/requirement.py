"""The requirement sheet as a page: what storage must do for the plan, and the lines that accept it. No price stands in it."""

from __future__ import annotations

from datetime import datetime

from ckptplanner import __version__
from ckptplanner.engine.bench_lines import Line, broken
from ckptplanner.engine.requirement import Requirement, how_to_run
from ckptplanner.ui.report.content import whole_html
from ckptplanner.ui.report.html import esc, table
from ckptplanner.ui.words import say, say_text

LINE_LENGTH = 116


def requirement_html(sheet: Requirement, created: datetime) -> str:
    """The page."""
    made = say("Made of the plan {name} on {date} by ckptplanner {version}", name=f"“{sheet.name}”",
               date=f"{created:%Y-%m-%d}", version=__version__)  # fmt: skip
    rows = [[esc(say_text(one.title)), f"<b>{esc(one.shown)}</b>", esc(say_text(one.note))] for one in sheet.needs]
    needs = table([say("What"), say("How much"), say("Why")], rows, widths=(30, 14, 56))
    return whole_html((
        f"<h1>{esc(say('What storage must do'))}</h1>", f'<p class="muted">{esc(made)}</p>',
        f"<h2>{esc(say('Requirement'))}</h2>", needs,
        f"<h2>{esc(say('How it is accepted'))}</h2>", f'<h6 class="caption">{esc(say_text(how_to_run()))}</h6>',
        *map(_line, sheet.lines),
    ))  # fmt: skip


def _line(line: Line) -> str:
    """One command: the tool, what it writes, the command itself, when it passes."""
    head = say("{tool} {version}: {what}", tool=line.tool, version=line.version, what=say_text(line.what))
    passes = say("Passes when {condition}.", condition=say_text(line.passes))
    command = "<br/>".join(esc(part).replace("  ", "&nbsp;&nbsp;&nbsp;") for part in broken(line.command, LINE_LENGTH))
    return (
        f'<h3>{esc(head)}</h3><p class="command">{command}</p><p class="muted">{esc(passes)}</p>'
    )  # fmt: skip
