"""What the report says, as HTML for a QTextDocument: the same figures and words as the window, computed by the Plan.

    title, sentence, note | five cards | pictures | costs | options | nodes | findings | side by side | inputs | formulas

Every text of a person or a file goes through `esc`. Pictures stand as <img src="picture:0">, which pages.py paints.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby

from ckptplanner import __version__
from ckptplanner.engine.cards import Card, basis_words, cards, small_line
from ckptplanner.engine.cost import Basis, per_basis
from ckptplanner.engine.plan import Option, Plan
from ckptplanner.engine.scenario import NamedScenario, Workbook
from ckptplanner.engine.tables import InputRow, input_rows
from ckptplanner.ui.report.comparison import comparison_parts
from ckptplanner.ui.report.formulas import formula_rows
from ckptplanner.ui.report.html import esc, path_of, table
from ckptplanner.ui.report.level_content import levels_part
from ckptplanner.ui.report.node_content import node_parts
from ckptplanner.ui.theme import LIGHT
from ckptplanner.ui.words import say, say_text
from ckptplanner.units import BYTES_PER_S, FRACTION, GIBS, MONTHS_PER_YEAR, NBSP, SECONDS, USD, brief, grouped, rough

PICTURE_SOURCE = "picture:"
CARD_WIDTHS = (18, 22, 20, 25, 15)


@dataclass(frozen=True, slots=True)
class Facts:
    """What the report is made of."""

    named: NamedScenario
    plan: Plan
    sentence: str
    basis: Basis
    created: datetime
    workbook: Workbook | None = None  # all scenarios, to set them side by side

    def per_basis(self, usd_per_year: float | None) -> float | None:
        """Yearly dollars on the basis of this report; None stays None."""
        if usd_per_year is None:
            return None
        return per_basis(usd_per_year, self.basis, self.named.scenario.run.days)

    @property
    def basis_words(self) -> str:
        """How one says the basis behind a figure."""
        return say_text(basis_words(self.basis))


def report_html(facts: Facts, pictures: Sequence[tuple[str, str]]) -> str:
    """The whole report.

    Args:
        facts: What to say.
        pictures: Title and caption of each picture, in the order in which pages.py knows them.
    """
    parts = (
        _head(facts), _cards(cards(facts.plan, facts.basis)), _key_figures(facts), _pictures(pictures), levels_part(facts.plan),
        _costs(facts),
        _options(facts), *node_parts(facts.plan), _findings(facts.plan),
        *comparison_parts(facts.workbook, facts.basis), _inputs(facts.named), _formulas(facts),
    )  # fmt: skip
    return whole_html(parts)


def whole_html(parts: Iterable[str]) -> str:
    """Parts as a whole document in the look of the report."""
    return f"<html><head><style>{_STYLE}</style></head><body>{''.join(parts)}</body></html>"


def _money(usd: float | None) -> str:
    return say("unknown") if usd is None else brief(usd, USD)


# ---------------------------------------------------------------- the first page


def _head(facts: Facts) -> str:
    named = facts.named
    note = f'<p class="note">{esc(named.note.strip())}</p>' if named.note.strip() else ""
    where = say(
        "Plan of {date} by ckptplanner {version}; prices of {region}",
        date=f"{facts.created:%Y-%m-%d %H:%M}", version=__version__, region=named.scenario.prices.region,
    )  # fmt: skip
    return f'<h1>{esc(named.name)}</h1><p class="muted">{esc(where)}</p><p class="lead">{esc(facts.sentence)}</p>{note}'


def _cards(answers: Sequence[Card]) -> str:
    """The five cards of the headline, side by side."""
    pairs = zip(CARD_WIDTHS, answers, strict=True)
    cells = "".join(f'<td class="card" width="{width}%">{_card(card)}</td>' for width, card in pairs)
    return f'<table class="cards" width="100%" cellspacing="0"><tr>{cells}</tr></table>'


def _card(card: Card) -> str:
    said = [say_text(line) for line in card.lines] + [f"{say_text(share.name)} {share.shown}" for share in card.shares]
    lines = "".join(f'<p class="line">{esc(line)}</p>' for line in said)
    large = f'<p class="figure">{esc(card.large)}</p>' if card.large else ""
    beside = f'<p class="beside">{esc(say_text(card.words))}</p>' if card.words.template else ""
    return f'<p class="question">{esc(say_text(card.title))}</p>{large}{beside}{lines}'


def _key_figures(facts: Facts) -> str:
    """The smaller line of the headline."""
    said = (say_text(part) for part in small_line(facts.plan, facts.basis))
    return f'<p class="key">{" &nbsp;·&nbsp; ".join(esc(part.replace(" ", NBSP)) for part in said)}</p>'


def _pictures(pictures: Sequence[tuple[str, str]]) -> str:
    return "".join(
        f"<h2>{esc(title)}</h2>"
        + (f'<h6 class="caption">{esc(caption)}</h6>' if caption else "")
        + f'<p class="picture"><img src="{PICTURE_SOURCE}{index}"/></p>'
        for index, (title, caption) in enumerate(pictures)
    )


# ---------------------------------------------------------------- tables


def _costs(facts: Facts) -> str:
    cost = facts.plan.cost
    if cost is None:
        return ""
    parts = [
        (say("Storage"), cost.storage_usd_per_year),
        (say("GPU time stopped by saves"), cost.stalled_gpu_usd_per_year),
        (say("Rework after interruptions"), cost.rework_usd_per_year),
        (say("Restarts"), cost.restart_usd_per_year),
    ]
    if facts.named.scenario.planned.every_s is not None:
        parts.append((say("Planned stops"), cost.planned_usd_per_year))
    if cost.other_usd_per_year != 0:
        parts.append((say("S3, idle spares, between zones"), cost.other_usd_per_year))
    parts.append((say("Total"), cost.total_usd_per_year))
    days = facts.named.scenario.run.days
    rows = []
    for name, usd in parts:
        by_basis = (_full_money(usd, basis, days) for basis in ("month", "run", "year"))
        rows.append([esc(name), *by_basis, _share(usd, cost.total_usd_per_year)])
    rows[-1] = [f"<b>{cell}</b>" for cell in rows[-1]]
    run = say("Run of {days}", days=f"{days:g}\u00a0d")
    headings = [say("Costs"), say("$ a month"), run, say("$ a year"), say("Share")]
    made = table(headings, rows, right=(1, 2, 3, 4), widths=(36, 18, 18, 18, 10))
    return f"<h2>{esc(say('What it costs'))}</h2>{made}"


def _full_money(usd_per_year: float | None, basis: str, days: float) -> str:
    return esc(say("unknown")) if usd_per_year is None else f"{per_basis(usd_per_year, basis, days):,.0f}"


def _share(usd: float | None, total: float | None) -> str:
    return "" if usd is None or not total else esc(brief(usd / total, FRACTION, 2))


def _option_usd(facts: Facts, usd_per_month: float | None) -> float | None:
    return None if usd_per_month is None else facts.per_basis(usd_per_month * MONTHS_PER_YEAR)


def _options(facts: Facts) -> str:
    plan = facts.plan
    money = {"month": say("$ a month"), "run": say("$ for the run"), "year": say("$ a year")}[facts.basis]
    headings = [
        say("File system"), say("EFA"), say("Bound by"), say("Baseline"), say("Writes in"), say("Runs again in"),
        say("Full"), money, say("Waste"), say("With lost GPU time"),
    ]  # fmt: skip
    rows = [_option_row(facts, option) for option in plan.storage.options]
    offered = sum(option.is_offered for option in plan.storage.options)
    caption = say(
        "{offered} offered, {refused} not, cheapest first, for a write time of {time}; the chosen one is set in bold.",
        offered=offered, refused=len(rows) - offered, time=rough(plan.scenario.storage.write_s, SECONDS),
    )  # fmt: skip
    made = table(headings, rows, right=(3, 4, 5, 6, 7, 8, 9), widths=(27, 5, 11, 9, 10, 8, 6, 8, 7, 9))
    return f"<h2>{esc(say('Storage options'))}</h2><h6 class='caption'>{esc(caption)}</h6>{made}"


def _option_row(facts: Facts, option: Option) -> list[str]:
    total = facts.per_basis(option.total_usd_per_year)
    price = _option_usd(facts, option.usd_per_month)
    cells = [
        _option_name(option), say("EFA") if option.efa else say("no"),
        "" if option.bound_by is None else _bound_word(option), brief(option.baseline_bytes_per_s, BYTES_PER_S),
        brief(option.writes_in_s, SECONDS), rough(option.restart_s, SECONDS), brief(option.fill_ratio, FRACTION, 2),
        "" if price is None else grouped(price),
        "" if option.waste_fraction is None else brief(option.waste_fraction, FRACTION, 2),
        "" if total is None else grouped(total),
    ]  # fmt: skip
    said = [esc(cell) for cell in cells]
    if option is facts.plan.storage.chosen:
        said = [f"<b>{cell}</b>" for cell in said]
    reason = option.illegal_reason or option.excluded_reason
    if reason is not None:
        said = [f'<span class="muted">{cell}</span>' for cell in said]
        said[0] += f'<br/><span class="small">{esc(say_text(reason))}</span>'
    return said


def _bound_word(option: Option) -> str:
    return say("generations") if option.bound_by == "capacity" else say("throughput")


def _option_name(option: Option) -> str:
    if option.throughput_mb_per_s_per_tib is None:
        return say("The storage we have, {size}", size=brief(option.capacity_gib, GIBS))
    return f"{grouped(option.throughput_mb_per_s_per_tib)} MB/s/TiB, {grouped(option.capacity_gib)} GiB"


def _findings(plan: Plan) -> str:
    words = {"error": say("Error"), "warning": say("Warning"), "info": say("Note")}
    rows = [
        [f'<span class="{one.severity}">{esc(words[one.severity])}</span>', esc(say_text(one.text)), path_of(one.path)]
        for one in plan.findings
    ]
    title = f"<h2>{esc(say('Findings'))}</h2>"
    if not rows:
        return f"{title}<p>{esc(say('Nothing to report.'))}</p>"
    return title + table([say("Kind"), say("What"), say("Field")], rows, widths=(10, 62, 28))


def _inputs(named: NamedScenario) -> str:
    titles = {
        "workload": say("Workload"), "failures": say("Failures"), "storage": say("Storage"), "restore": say("Restore"),
        "run": say("Run"), "prices": say("Prices"), "datapath": say("Data path"), "memory": say("Host memory"),
        "replication": say("Replication"), "local": say("Local saves"), "saves": say("Other saves"),
        "planned": say("Planned stops"), "restart": say("Restart classes"), "shared": say("Neighbours"),
        "spares": say("Spares"), "network": say("Network"),
    }  # fmt: skip
    headings = [say("Input"), say("Value"), say("Source"), say("Date"), say("Field")]
    parts = [f"<h2>{esc(say('Inputs'))}</h2>"]
    for section, rows in groupby(input_rows(named, say_text), key=lambda row: row.path.partition(".")[0]):
        made = table(headings, map(_input_cells, rows), widths=(19, 22, 22, 10, 27))
        parts.append(f"<h3>{esc(titles.get(section, section))}</h3>{made}")
    return "".join(parts)


def _input_cells(row: InputRow) -> list[str]:
    is_best = row.path in {"storage.interval_s", "local.interval_s", "local.ratio"}
    absent = say("the best one") if is_best else say("not given")
    value = row.shown or absent
    kind = {
        "log": say("log"), "doc": say("doc"), "article": say("article"), "guess": say("guess"), "typed": say("typed"),
    }.get(row.source, row.source)  # fmt: skip
    mark = "warning" if row.source == "guess" else "plain"
    source = f'<span class="{mark}">{esc(kind)}</span>'
    if row.source_text and kind:
        source += f'<span class="small">, {esc(row.source_text)}</span>'
    if row.measured:
        source += f'<span class="small">, {esc(row.measured)}</span>'
    shown = esc(value) if row.shown else f'<span class="muted">{esc(value)}</span>'
    date = esc(row.date).replace("-", "\u2011")
    return [esc(row.title), shown, source, date, path_of(row.path)]


def _formulas(facts: Facts) -> str:
    rows = [[esc(row.what), row.formula, row.numbers, row.source] for row in formula_rows(facts.plan)]
    headings = [say("What"), say("Formula"), say("In this plan"), say("Source and range")]
    legend = say(
        "S checkpoint, k generations, W write rate, τ throughput of the file system, u its step of capacity, C stop of one "
        "save with background loss, t time until a save can be restored, T interval, P the interval that really passes, "
        "M mean time between interruptions, R restart, D wait for a spare, η share of training time lost."
    )
    if facts.plan.levels is not None:
        legend += " " + say("1 local, 3 shared, n local saves to a shared one; in these t counts from the end of a stop.")
    made = table(headings, rows, widths=(17, 33, 20, 30))
    return f"<h2>{esc(say('Formulas'))}</h2><h6 class='caption'>{esc(legend)}</h6>{made}"


_STYLE = f"""
body, p, td, th {{ color: {LIGHT.text}; font-size: 12px; }}
h1 {{ margin: 0 0 2px 0; }}
h2 {{ margin: 24px 0 4px 0; }}
h3 {{ margin: 14px 0 0 0; }}
h6.caption {{ margin: 0 0 4px 0; }}
p {{ margin: 0; }}
p.lead {{ font-size: 14px; margin: 12px 0 0 0; }}
p.note {{ margin: 8px 0 0 0; color: {LIGHT.muted}; }}
p.key {{ font-size: 11px; color: {LIGHT.muted}; margin: 8px 0 0 0; }}
p.picture {{ margin: 2px 0 0 0; }}
p.muted {{ color: {LIGHT.muted}; font-size: 11px; }}
b {{ font-size: 11px; }}
span.muted, span.info, span.plain {{ color: {LIGHT.muted}; font-size: 11px; }}
span.error {{ color: {LIGHT.error}; font-size: 11px; }}
span.warning {{ color: {LIGHT.warning}; font-size: 11px; }}
span.small {{ color: {LIGHT.muted}; font-size: 10px; }}
table.cards {{ margin: 16px 0 0 0; border-collapse: collapse; }}
td.card {{ padding: 6px 10px 8px 0; border-top: 1px solid {LIGHT.accent}; border-bottom: 1px solid {LIGHT.hairline};
    vertical-align: top; }}
p.question {{ font-size: 11px; color: {LIGHT.muted}; }}
p.figure {{ font-size: 19px; }}
p.beside, p.line {{ font-size: 10px; color: {LIGHT.muted}; }}
table.grid {{ border-collapse: collapse; margin: 2px 0 0 0; }}
table.grid th {{ font-size: 10px; font-weight: normal; color: {LIGHT.muted}; padding: 3px 8px 3px 0;
    border-bottom: 1px solid {LIGHT.edge}; vertical-align: bottom; }}
table.grid td {{ font-size: 11px; padding: 3px 8px 3px 0; border-bottom: 1px solid {LIGHT.hairline};
    vertical-align: top; }}
td.number {{ white-space: nowrap; }}
p.command {{ font-size: 11px; margin: 1px 0 3px 0; }}
"""
