"""Copy as spreadsheet: the plan as cells with live formulas, so that finance can follow and change every figure.

    A label | B value or formula | C unit | D source | E field path        tab-separated, one row a line

Inputs come first, then what follows from them, then the steps of the exact optimum. A formula refers to cells only,
never to a number that the program computed; it uses the English names and commas that Excel, LibreOffice and Google
Sheets take (a spreadsheet set to a decimal comma needs its paste settings at "English"). The file system is the one the
plan chose: its throughput, step and price stand among the inputs.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from ckptplanner import __version__
from ckptplanner.data.records import FsxTier
from ckptplanner.engine import ceilings
from ckptplanner.engine.csv_files import harmless
from ckptplanner.engine.evaluate import evaluate, tier_like
from ckptplanner.engine.plan import Option
from ckptplanner.engine.scenario import NamedScenario, Scenario, storage_price_path
from ckptplanner.engine.tables import Cell, InputRow, Translate, input_rows
from ckptplanner.text import Text, text

NEWTON_STEPS = 7
COLUMNS = 5
# the inputs that drive the formulas, in the order of the sheet; key in the formulas -> field path
_INPUTS = {
    "total": "workload.total_params", "frozen": "workload.frozen_params",
    "frozen_each": "workload.frozen_bytes_per_param", "measured": "workload.measured_bytes",
    "nodes": "workload.nodes", "gpus_per_node": "workload.gpus_per_node", "writer": "workload.writer",
    "step": "workload.step_s", "mtbi_given": "failures.mtbi_s", "mtbi_nodes": "failures.mtbi_nodes",
    "detect": "failures.detect_s", "reschedule": "failures.reschedule_s", "start": "failures.start_s",
    "downtime": "failures.downtime_s", "mode": "storage.mode", "stop_given": "storage.blocking_s",
    "write_given": "storage.write_s", "interval_given": "storage.interval_s",
    "interval_model": "storage.interval_model", "waste_model": "storage.waste_model",
    "generations": "storage.generations_kept", "write_share": "storage.write_efficiency",
    "read_share": "storage.read_efficiency", "fill": "storage.max_fill", "background": "storage.background_loss_s",
    "slowdown": "storage.slowdown_fraction", "latency": "storage.latency_s", "pace": "storage.pace",
    "published": "storage.published", "whole": "storage.whole_steps", "copies": "restore.copies", "days": "run.days",
    "node_price": "prices.node_usd_per_h", "gpu_value": "prices.gpu_value_usd_per_h",
}  # fmt: skip
_CUSTOM_INPUTS = {
    "write_rate": "storage.custom.write_bytes_per_s", "read_rate": "storage.custom.read_bytes_per_s",
    "usable": "storage.custom.usable_bytes", "storage_month": "storage.custom.usd_per_month",
}  # fmt: skip


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


def spreadsheet(named: NamedScenario, translate: Translate = str) -> str:
    """The sheet as tab-separated text, ready for the clipboard."""
    return "".join("\t".join(row).rstrip("\t") + "\n" for row in spreadsheet_cells(named, translate))


def spreadsheet_cells(named: NamedScenario, translate: Translate = str) -> list[list[str]]:
    """The sheet as rows of texts: label, value or formula, unit, source, field path."""
    scenario, chosen = named.scenario, evaluate(named.scenario).storage.chosen
    sheet, inputs = Sheet(), {row.path: row for row in input_rows(named, translate)}
    sheet.heading(
        text("ckptplanner {version}: {name}", version=__version__, name=named.name),
        translate(text("values in column B; formulas refer to the inputs")),
    )
    sheet.heading(text("Inputs"))
    _layout(sheet, scenario, inputs["workload.layout"])
    _given(sheet, inputs, _INPUTS)
    if scenario.storage.custom is not None:
        _given(sheet, inputs, _CUSTOM_INPUTS)
    elif chosen is not None:
        _file_system(sheet, scenario, chosen, inputs)
    _size_and_rate(sheet, is_custom=scenario.storage.custom is not None)
    if chosen is None:
        sheet.add("", text("No file system on offer can do this; the rest cannot be computed."), None)
        return sheet.cells(translate)
    _capacity(sheet, is_custom=scenario.storage.custom is not None)
    _interval(sheet)
    _times(sheet)
    _waste(sheet)
    _dollars(sheet)
    _newton_at_write_end(sheet)
    _newton_at_next_save(sheet)
    return sheet.cells(translate)


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


# ---------------------------------------------------------------- inputs


def _source(row: InputRow) -> str:
    return ", ".join(part for part in (row.source, row.source_text, row.date) if part)


def _given(sheet: Sheet, inputs: dict[str, InputRow], keys: dict[str, str]) -> None:
    for key, path in keys.items():
        row = inputs[path]
        sheet.add(key, text(row.title), row.value, row.unit, _source(row), path)


def _layout(sheet: Sheet, scenario: Scenario, row: InputRow) -> None:
    """One row for each part of what is saved for a parameter, and their sum."""
    parts = scenario.workload.layout
    for index, part in enumerate(parts):
        label = text("Saved for each: {what}", what=part.what)
        sheet.add(f"part{index}", label, part.bytes_per_param, "B/param", _source(row), row.path)
    total = Formula("=" + "+".join(f"{{part{index}}}" for index in range(len(parts))))
    sheet.add("each", text("Saved for each, sum"), total, "B/param", path="workload.bytes_per_param")


def _file_system(sheet: Sheet, scenario: Scenario, chosen: Option, inputs: dict[str, InputRow]) -> None:
    """The chosen tier: what the service offers, what it costs, and its capacity where that is fixed."""
    throughput = chosen.throughput_mb_per_s_per_tib or 0.0
    tier = tier_like(scenario, throughput, efa=chosen.efa)
    is_fixed = scenario.storage.tier != "auto"
    price_path = storage_price_path(throughput)
    price = inputs.get(price_path)
    source = ", ".join(part for part in (tier.source, tier.date) if part)
    efa = text(", EFA") if chosen.efa else text("")
    sheet.add("tau", text("FSx throughput{efa}", efa=efa), throughput, "MB/s/TiB", source, "storage.tier")
    sheet.add("growth", text("Capacity grows by"), tier.step_gib, "GiB", source)
    sheet.add("small", text("Smaller size allowed, 0 = none"), tier.small_gib or 0.0, "GiB", source)
    sheet.add(
        "fixed", text("Capacity fixed, empty = sized"), chosen.capacity_gib if is_fixed else None, "GiB", path="storage.tier"
    )
    sheet.add("client_limit", text("One client moves at most"), _client_limit(scenario, tier), "B/s", source)
    sheet.add("per_server", text("and to each server, empty = no limit"), tier.client_server_bytes_per_s, "B/s", source)
    sheet.add(
        "gib_price", text("Price of a GiB-month"), price.value if price else None, "USD/GiB-month",
        _source(price) if price else "", price_path if price else "",
    )  # fmt: skip


def _client_limit(scenario: Scenario, tier: FsxTier) -> float:
    return min(ceilings.client_limit(scenario, tier), ceilings.node_reach(scenario, over_efa=tier.efa))


# ---------------------------------------------------------------- formulas


def _formulas(sheet: Sheet, rows: Iterable[tuple[str, Text, str, str]]) -> None:
    for key, label, formula, unit in rows:
        sheet.add(key, label, Formula(formula), unit)


def _size_and_rate(sheet: Sheet, *, is_custom: bool) -> None:
    allowed = 'IF({pace}="full",{writes_in},{write_given})' if is_custom else "{write_given}"
    sheet.heading(text("Size and write rate"))
    _formulas(sheet, [
        ("size", text("One checkpoint, S"),
         '=IF({measured}="",MAX({total}-{frozen},0)*{each}+{frozen}*{frozen_each},{measured})', "B"),
        ("writers", text("Nodes that write"), '=IF({writer}="single",1,{nodes})', ""),
        ("share", text("Written by one of them"), "={size}/{writers}", "B"),
        ("allowed", text("Time for the write"), f"={allowed}", "s"),
        ("needed", text("Storage must sustain, W"),
         "=IF({allowed}>{latency},{size}/({allowed}-{latency}),{size}/{allowed})", "B/s"),
    ])  # fmt: skip


def _capacity(sheet: Sheet, *, is_custom: bool) -> None:
    sheet.heading(text("File system"))
    sheet.add("held", text("Generations kept need"), Formula("={generations}*{size}/1073741824/{fill}"), "GiB")
    if is_custom:
        _formulas(sheet, [
            ("capacity", text("Capacity"), "={usable}/1073741824", "GiB"),
            ("rate", text("Saves reach"), "={write_rate}*{write_share}", "B/s"),
            ("read", text("Restarts reach"), "={read_rate}*{read_share}", "B/s"),
        ])  # fmt: skip
    else:
        _formulas(sheet, [
            ("fast", text("The write rate needs"), "=1000*{needed}/{write_share}/1000000/{tau}", "GiB"),
            ("need", text("The larger of both"), "=MAX({held},{fast})", "GiB"),
            ("capacity", text("Capacity, the next legal size"),
             '=IF({fixed}="",IF({need}<={small}*(1+1E-9),{small},MAX(ROUNDUP({need}/{growth}-1E-9,0),1)*{growth}),{fixed})',
             "GiB"),
            ("baseline", text("Baseline"), "={capacity}/1000*{tau}*1000000", "B/s"),
            ("servers", text("Storage servers"), "=ROUNDUP({capacity}/{growth},0)", ""),
            ("client", text("One node moves"),
             '=IF({per_server}="",{client_limit},MIN({client_limit},{servers}*{per_server}))', "B/s"),
            ("rate", text("Saves reach"), "=MIN({baseline}*{write_share},{writers}*{client})", "B/s"),
            ("read", text("Restarts reach"), "=MIN({baseline}*{read_share},{nodes}*{client})", "B/s"),
            ("storage_month", text("Storage a month"), '=IF({gib_price}="","",{capacity}*{gib_price})', "USD/month"),
        ])  # fmt: skip
    _formulas(sheet, [
        ("filled", text("Full"), "={generations}*{size}/1073741824/{capacity}", "1"),
        ("writes_in", text("The write takes"), "={latency}+{size}/{rate}", "s"),
    ])  # fmt: skip


def _interval(sheet: Sheet) -> None:
    sheet.heading(text("Interval"))
    _formulas(sheet, [
        ("mtbi", text("This job is interrupted every, M"), "={mtbi_given}*{mtbi_nodes}/{nodes}", "s"),
        ("write", text("Write time, t_w"), '=IF({pace}="full",{writes_in},{write_given})', "s"),
        ("stop", text("One save stops training, C"), '=IF({mode}="sync",{write},{stop_given})', "s"),
        ("async_write", text("Written in the background, t_a"), '=IF({mode}="sync",0,{write})', "s"),
        ("lost", text("Training lost per save"), "={stop}+{background}+{slowdown}*{async_write}", "s"),
        ("young", text("Young 1974, sqrt(2CM)"), "=SQRT(2*{lost}*{mtbi})", "s"),
        ("daly", text("Daly 2006"),
         "=IF({lost}>=2*{mtbi},{mtbi}+{lost},"
         "{young}*(1+SQRT({lost}/(2*{mtbi}))/3+{lost}/(2*{mtbi})/9))", "s"),
        ("exact_end", text("Exact, restorable when written"), f"=IF({{lost}}>0,{{end{NEWTON_STEPS}}}*{{mtbi}},0)", "s"),
        ("exact_next", text("Exact, restorable at the next save"), f"=IF({{lost}}>0,{{next{NEWTON_STEPS}}}*{{mtbi}},0)", "s"),
        ("best", text("Best interval, T*"),
         '=IF({published}="next_save",IF({interval_model}="exact",{exact_next},{young}/SQRT(3)),'
         'IF({interval_model}="exact",{exact_end},IF({interval_model}="daly",{daly},{young})))', "s"),
        ("wanted", text("Interval asked for"),
         '=IF({interval_given}="",MAX({best},{stop}+{async_write}),{interval_given})', "s"),
        ("steps", text("in steps"), "={wanted}/{step}", ""),
        ("rounded", text("in whole steps"),
         '=MAX(IF(MOD({steps},1)=0.5,2*ROUND({steps}/2,0),ROUND({steps},0)),'
         'IF({interval_given}="",ROUNDUP(({stop}+{async_write})/{step}-1E-9,0),1),1)', ""),
        ("interval", text("Save every, T"),
         "=MAX(MIN(IF({whole},{step}*{rounded},{wanted}),{days}*86400),{step})", "s"),
        ("period", text("Time that really passes"), "=MAX({interval},{stop}+{async_write})", "s"),
    ])  # fmt: skip


def _times(sheet: Sheet) -> None:
    sheet.heading(text("After an interruption"))
    _formulas(sheet, [
        ("durable", text("Restorable after, t"),
         '=IF({published}="next_save",{period},{stop}+{async_write})', "s"),
        ("restart", text("Training again after, R"),
         "={detect}+{reschedule}+{start}+{copies}*{size}/{read}", "s"),
        ("mean", text("Rework, mean"), "={period}/2+{durable}", "s"),
        ("worst", text("Rework, at worst"), "={period}+{durable}", "s"),
    ])  # fmt: skip


def _waste(sheet: Sheet) -> None:
    sheet.heading(text("Waste, share of training time"))
    _formulas(sheet, [
        ("saving", text("Saving, C/T"),
         '=IF({interval}>{lost},MIN(MAX(1-({interval}-{lost})/{period},0),1),"")', "1"),
        ("first", text("First order"),
         '=IF({saving}="","",IF({saving}+({mean}+{restart}+{downtime})/{mtbi}>1,"",'
         "{saving}+({mean}+{restart}+{downtime})/{mtbi}))", "1"),
        ("x", text("Period over M, x"), "={period}/{mtbi}", ""),
        ("one_less", text("1 - e^-x"), "=IF({x}<0.001,{x}*(1-{x}/2*(1-{x}/3*(1-{x}/4))),1-EXP(0-{x}))", ""),
        ("goodput", text("Goodput, exact"),
         "=MAX({interval}-{lost},0)/{mtbi}*EXP(0-({interval}+{durable}-{stop}+{restart})/{mtbi})"
         "/{one_less}/(1+{downtime}/{mtbi})", "1"),
        ("exact", text("Exact"), '=IF({saving}="","",MAX(MIN(MAX(1-{goodput},0),1),{saving}))', "1"),
        ("waste", text("Waste by the model chosen"), '=IF({waste_model}="exact",{exact},{first})', "1"),
        ("interrupted", text("of it interruptions"), '=IF({waste}="","",{waste}-{saving})', "1"),
        ("rework_part", text("rework in interruptions"), "={mean}/({mean}+{restart}+{downtime})", "1"),
    ])  # fmt: skip


def _dollars(sheet: Sheet) -> None:
    year = '=IF(OR({hour}="",{%s}=""),"",8760*{gpus}*{hour}*%s)'
    sheet.heading(text("Dollars"))
    _formulas(sheet, [
        ("gpus", text("GPUs"), "={nodes}*{gpus_per_node}", ""),
        ("hour", text("Value of a GPU-hour"),
         '=IF({gpu_value}="",IF({node_price}="","",{node_price}/{gpus_per_node}),{gpu_value})', "USD/h"),
        ("stalled_h", text("GPU time stopped by saves"), '=IF({saving}="","",8760*{gpus}*{saving})', "h/year"),
        ("stalled", text("Stopped by saves"), year % ("saving", "{saving}"), "USD/year"),
        ("rework", text("Rework"), year % ("interrupted", "{interrupted}*{rework_part}"), "USD/year"),
        ("restarts", text("Restarts"), year % ("interrupted", "{interrupted}*(1-{rework_part})"), "USD/year"),
        ("storage", text("Storage"), '=IF({storage_month}="","",12*{storage_month})', "USD/year"),
        ("total_year", text("Total"),
         '=IF(OR({storage}="",{stalled}="",{rework}="",{restarts}=""),"",{storage}+{stalled}+{rework}+{restarts})',
         "USD/year"),
        ("total_month", text("Total a month"), '=IF({total_year}="","",{total_year}/12)', "USD/month"),
        ("total_run", text("Total for the run"), '=IF({total_year}="","",{total_year}*{days}*24/8760)', "USD"),
    ])  # fmt: skip


def _newton_at_write_end(sheet: Sheet) -> None:
    """Steps to the x = T/M of least exact waste: 1 - e^-x = x - c, from Daly's series (docs/models.md 4.2)."""
    sheet.heading(text("Exact optimum by Newton's method: 1 - e^-x = x - c, x = T/M"))
    root = "SQRT(2*{c})"
    start = f"{root}+{root}^2/6+{root}^3/36"
    _formulas(sheet, [
        ("c", text("c = C/M"), "={lost}/{mtbi}", ""),
        ("end0", text("x, start"), f"=IF({{c}}>0,IF({{c}}<1,{start},1+{{c}}),1)", ""),
    ])  # fmt: skip
    for step in range(NEWTON_STEPS):
        x = f"{{end{step}}}"
        formula = f"={x}-({_small(x)}-{{c}})/(1-EXP(0-{x}))"
        sheet.add(f"end{step + 1}", text("x, step {step}", step=step + 1), Formula(formula))


def _newton_at_next_save(sheet: Sheet) -> None:
    """The same where a checkpoint is restorable only from the next save on: (x - c)(2 - e^-x) = 1 - e^-x."""
    sheet.heading(text("The same when restorable at the next save: (x - c)(2 - e^-x) = 1 - e^-x"))
    sheet.add("next0", text("x, start"), Formula("=IF({c}>0,IF({c}<1,SQRT(2*{c}/3)+{c},1+{c}),1)"))
    for step in range(NEWTON_STEPS):
        x = f"{{next{step}}}"
        value = f"{_small(x)}+{x}*(1-EXP(0-{x}))-{{c}}*(2-EXP(0-{x}))"
        slope = f"2*(1-EXP(0-{x}))+({x}-{{c}})*EXP(0-{x})"
        formula = f"=MAX({x}-({value})/({slope}),{x}*0.001)"
        sheet.add(f"next{step + 1}", text("x, step {step}", step=step + 1), Formula(formula))


def _small(x: str) -> str:
    """x - 1 + e^-x, by its series near 0, where the difference would lose its digits."""
    series = f"{x}^2*(0.5-{x}*(1/6-{x}*(1/24-{x}*(1/120-{x}/720))))"
    return f"IF({x}<0.02,{series},{x}-1+EXP(0-{x}))"
