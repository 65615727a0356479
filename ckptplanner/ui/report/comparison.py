"""The pages of the report that set scenarios side by side: what differs, what follows, and all as stages of one campaign."""

from __future__ import annotations

from collections.abc import Sequence

from ckptplanner.engine.campaign import Campaign, campaign
from ckptplanner.engine.compare import Comparison, FigureRow, cases_of, comparison
from ckptplanner.engine.compare_words import difference_text, dollars, is_seen, share_text, summary, value_text
from ckptplanner.engine.cost import Basis
from ckptplanner.engine.scenario import Workbook
from ckptplanner.engine.sentence import option_name
from ckptplanner.ui.report.html import esc, table
from ckptplanner.ui.words import say, say_text
from ckptplanner.units import BYTES, BYTES_PER_S, DAYS, UNKNOWN, brief, grouped, percent

MOST_COLUMNS = 4  # of scenarios beside the base in one table
_TITLE_WIDTH = 20
_NEW_PAGE = ' style="page-break-before:always"'


def comparison_parts(workbook: Workbook | None, basis: Basis) -> tuple[str, ...]:
    """The comparison where there is something to compare with, and the campaign where there is one."""
    if workbook is None:
        return ()
    found = comparison(cases_of(workbook), workbook.base, basis, say_text) if len(workbook.scenarios) > 1 else None
    return (_side_by_side(found) if found else "", _campaign(campaign(workbook.stages)) if workbook.stages else "")


def _side_by_side(found: Comparison) -> str:
    """The inputs that differ, then the figures; the base stands in every table, beside at most four others."""
    others = [at for at in range(len(found.names)) if at != found.base]
    parts = [f"<h2{_NEW_PAGE}>{esc(say('Scenarios side by side'))}</h2>", _caption(say_text(summary(found)))]
    for first in range(0, len(others), MOST_COLUMNS):
        shown = [found.base, *others[first : first + MOST_COLUMNS]]
        parts += [_inputs(found, shown), _figures(found, shown)]
    return "".join(parts)


def _caption(words: str) -> str:
    return f'<h6 class="caption">{esc(words)}</h6>'


def _widths(count: int) -> list[int]:
    return [_TITLE_WIDTH, *[(100 - _TITLE_WIDTH) // count] * count]


def _headings(found: Comparison, shown: Sequence[int], title: str) -> list[str]:
    names = [say("{name}, base", name=found.names[at]) if at == found.base else found.names[at] for at in shown]
    return [title, *names]


def _inputs(found: Comparison, shown: Sequence[int]) -> str:
    if not found.inputs:
        return f"<p>{esc(say('No input differs.'))}</p>"
    rows = []
    for one in found.inputs:
        cells = [one.shown[at] or UNKNOWN for at in shown]
        marked = [f"<b>{esc(cell)}</b>" if one.differs[at] else esc(cell) for cell, at in zip(cells, shown, strict=True)]
        rows.append([esc(one.title), *marked])
    made = table(_headings(found, shown, say("What differs")), rows, widths=_widths(len(shown)))
    return made + "<p>&nbsp;</p>"


def _figures(found: Comparison, shown: Sequence[int]) -> str:
    rows = []
    for row in found.figures:
        best = row.best(found.broken)
        indent = "&nbsp;&nbsp;&nbsp;" if row.figure.is_part else ""
        rows.append([indent + esc(say_text(row.figure.title)), *(_figure(found, row, at, is_best=at in best) for at in shown)])
    made = table(_headings(found, shown, say("What follows")), rows, widths=_widths(len(shown)))
    legend = {
        "month": say("Dollars a month. Differences are those to the base. Bold: the best in its row."),
        "run": say("Dollars for the run. Differences are those to the base. Bold: the best in its row."),
        "year": say("Dollars a year. Differences are those to the base. Bold: the best in its row."),
    }[found.basis]
    return made + f'<p class="muted">{esc(legend)}</p>'


def _figure(found: Comparison, row: FigureRow, at: int, *, is_best: bool) -> str:
    said = esc(say_text(value_text(row.figure, row.values[at])))
    change = row.changes[at]
    shown = f"<b>{said}</b>" if is_best else said
    if change is None or not is_seen(row, found.base, at):
        return shown
    parts = [say_text(difference_text(row.figure, change)), share_text(row.figure, change)]
    better = {True: say("better"), False: say("worse"), None: ""}[change.is_better]
    words = ", ".join(part for part in (*parts, better) if part)
    return f'{shown}<br/><span class="small">{esc(words)}</span>'


# ---------------------------------------------------------------- one campaign


def _campaign(found: Campaign) -> str:
    headings = [
        say("Stage"), say("Days"), say("Needs to write"), say("Needs to hold"), say("Waste"), say("Saves"), say("Written"),
        say("Storage"), say("Lost GPU time"), say("In all"), say("With its own"),
    ]  # fmt: skip
    rows = [
        [esc(stage.name), _days(stage.days), brief(stage.needed_write_bytes_per_s, BYTES_PER_S),
         brief(stage.needed_bytes, BYTES), _share(stage.waste_fraction), _count(stage.saves), _size(stage.written_bytes),
         _money(stage.storage_usd), _money(stage.lost_gpu_usd), _money(stage.total_usd), _money(stage.own_total_usd)]
        for stage in found.stages
    ]  # fmt: skip
    sums = [
        esc(say("All stages")), _days(found.days),
        brief(max(stage.needed_write_bytes_per_s for stage in found.stages), BYTES_PER_S),
        brief(max(stage.needed_bytes for stage in found.stages), BYTES), _share(found.waste_fraction),
        _count(found.total("saves")), _size(found.total("written_bytes")),
        *(_money(found.total(name)) for name in ("storage_usd", "lost_gpu_usd", "total_usd", "own_total_usd")),
    ]  # fmt: skip
    rows.append([f"<b>{cell}</b>" for cell in sums])
    made = table(headings, rows, right=range(1, 11), widths=(13, 7, 9, 9, 8, 8, 9, 9, 10, 9, 9))
    return f"<h2>{esc(say('As stages of one campaign'))}</h2>{_caption(_campaign_words(found))}{made}"


def _campaign_words(found: Campaign) -> str:
    if found.reason is not None or found.option is None:
        return say_text(found.reason) if found.reason is not None else say("No file system is planned.")
    return say(
        "One after another, each for the days of its run, on one file system for all: {name}. "
        "The last column is the same stage with a file system of its own.",
        name=say_text(option_name(found.option)),
    )  # fmt: skip


def _days(days: float) -> str:
    return brief(days, DAYS)


def _share(fraction: float | None) -> str:
    return UNKNOWN if fraction is None else percent(fraction)


def _count(count: float | None) -> str:
    return UNKNOWN if count is None else grouped(count)


def _size(size: float | None) -> str:
    return UNKNOWN if size is None else brief(size, BYTES)


def _money(usd: float | None) -> str:
    return UNKNOWN if usd is None else dollars(usd)
