"""Copy as spreadsheet: the plan as cells with live formulas, so that finance can follow and change every figure.

    A label | B value or formula | C unit | D source | E field path        tab-separated, one row a line

Inputs come first, then what follows from them, then the steps of the exact optimum. A formula refers to cells only,
never to a number that the program computed; it uses the English names and commas that Excel, LibreOffice and Google
Sheets take (a spreadsheet set to a decimal comma needs its paste settings at "English"). The file system is the one the
plan chose: its throughput, step and price stand among the inputs. What no cell can work out stands as a value and says so:
the sums of the restart classes and of the other saves, and how many jobs write at once.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field

from ckptplanner import __version__
from ckptplanner.data.records import FsxTier
from ckptplanner.engine import ceilings
from ckptplanner.engine.candidates import tier_like
from ckptplanner.engine.csv_files import harmless
from ckptplanner.engine.evaluate import evaluate
from ckptplanner.engine.job import Job, job_of
from ckptplanner.engine.plan import Option, Plan
from ckptplanner.engine.restarts import Ways
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
    "skew": "datapath.writer_skew_ratio", "used": "shared.used_bytes", "load": "shared.load_bytes_per_s", "jobs": "shared.jobs",
    "stop_every": "planned.every_s", "notice": "planned.notice_s", "queue": "planned.queue_s",
    "spares": "spares.nodes", "spare_wait": "spares.wait_s", "node_loss": "replication.node_loss_interval_s",
    "same_zone": "network.same_zone", "zone_price": "prices.cross_zone_usd_per_gb", "s3_price": "prices.s3_usd_per_gb_month",
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
    plan = evaluate(named.scenario)
    scenario, chosen = named.scenario, plan.storage.chosen
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
        reach = ceilings.custom_reach(scenario)
        limit = reach if math.isfinite(reach) else None
        path = "datapath.client_bytes_per_s"
        sheet.add("client", text("One node moves at most, empty = no limit"), limit, "B/s", _source(inputs[path]), path)
    elif chosen is not None:
        _file_system(sheet, scenario, chosen, inputs)
    _values(sheet, plan, job_of(scenario), translate)
    _size_and_rate(sheet, is_custom=scenario.storage.custom is not None)
    if chosen is None:
        sheet.add("", text("No file system on offer can do this; the rest cannot be computed."), None)
        return sheet.cells(translate)
    _capacity(sheet, is_custom=scenario.storage.custom is not None)
    ways = job_of(scenario).ways
    classes = _Classes(bool(scenario.restart.classes), ways.pause is not None, not ways.rollback.share)
    _interval(sheet, classes)
    _times(sheet, classes)
    _waste(sheet, classes)
    _dollars(sheet, classes)
    _newton_at_write_end(sheet, classes)
    _newton_at_next_save(sheet)
    sheet.heading(
        text("Not in this sheet: copies on other nodes, host memory, the way of the data. They change no figure above.")
    )
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


def _values(sheet: Sheet, plan: Plan, job: Job, translate: Translate) -> None:
    """What no cell can work out, as values: the sums of rows, and a binomial."""
    scenario = plan.scenario
    rows, held = scenario.saves, scenario.storage.generations_kept * job.checkpoint_bytes * scenario.shared.jobs
    sizes = [row.bytes or job.checkpoint_bytes for row in rows]
    written = sum(size / row.every_s for size, row in zip(sizes, rows, strict=True) if row.to == "shared" and row.every_s)
    writing, s3 = (plan.beyond.jobs_writing, plan.beyond.s3_mean_bytes) if plan.beyond else (1.0, 0.0)
    saves = translate(text("a value: the sum over the rows of other saves"))
    binomial = translate(text("a value: 95 % point of a binomial of the jobs and of t_w / T"))
    sheet.heading(text("Worked out by the planner, not by cells"))
    sheet.add("other_stops", text("Stopped by other saves"), job.row_stop_fraction, "1", saves, "saves")
    sheet.add("other_held", text("Kept by other saves on the file system"), job.held_bytes - held, "B", saves, "saves")
    sheet.add("other_written", text("Written by other saves to the file system"), written, "B/s", saves, "saves")
    sheet.add("s3_bytes", text("In S3, on average over the run"), s3, "B", saves, "saves")
    sheet.add("writing", text("Jobs that write at once"), writing, "", binomial, "shared.jobs")
    if scenario.restart.classes:
        _class_sums(sheet, job.ways, translate(text("a value: the sum over the rows of restart classes")))


def _class_sums(sheet: Sheet, ways: Ways, source: str) -> None:
    path = "restart.classes"
    kinds = [("back", text("Back to a save"), ways.rollback)]
    if ways.pause is not None:
        kinds.append(("pause", text("Lose a step only"), ways.pause))
    for key, name, part in kinds:
        sheet.add(f"{key}_share", text("{kind}: share", kind=name), part.share, "1", source, path)
        sheet.add(f"{key}_base", text("{kind}: before shared storage is read", kind=name), part.base_s, "s", source, path)
        sheet.add(f"{key}_reads", text("{kind}: of them read shared storage", kind=name), part.reads_shared, "1", source, path)


@dataclass(frozen=True, slots=True)
class _Classes:
    """How the formulas change with restart classes: whether there are any, and whether some lose a step only."""

    given: bool
    pauses: bool
    only_pauses: bool

    @property
    def mtbi(self) -> str:
        """The cell of the time between interruptions that go back to a save."""
        return "{mtbi_back}" if self.given else "{mtbi}"


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


_HELD = "({generations}*{size}*{jobs}+{other_held}+{used})/1073741824"


def _capacity(sheet: Sheet, *, is_custom: bool) -> None:
    sheet.heading(text("File system"))
    sheet.add("held", text("Generations kept need"), Formula(f"={_HELD}/{{fill}}"), "GiB")
    if is_custom:
        _formulas(sheet, [
            ("capacity", text("Capacity"), "={usable}/1073741824", "GiB"),
            ("own", text("Left for this job's writes"),
             "=MAX(({write_rate}-{load}/{write_share})/{writing},1)*{write_share}", "B/s"),
            ("own_read", text("Left for its reads"), "=MAX({read_rate}*{read_share}-{load},1)", "B/s"),
            ("rate", text("Saves reach"), '=IF({client}="",{own},MIN({own},{writers}*{client}/{skew}))', "B/s"),
            ("read", text("Restarts reach"), '=IF({client}="",{own_read},MIN({own_read},{nodes}*{client}))', "B/s"),
        ])  # fmt: skip
    else:
        _formulas(sheet, [
            ("fast", text("The write rate needs"), "=1000*({needed}*{writing}+{load})/{write_share}/1000000/{tau}", "GiB"),
            ("need", text("The larger of both"), "=MAX({held},{fast})", "GiB"),
            ("capacity", text("Capacity, the next legal size"),
             '=IF({fixed}="",IF({need}<={small}*(1+1E-9),{small},MAX(ROUNDUP({need}/{growth}-1E-9,0),1)*{growth}),{fixed})',
             "GiB"),
            ("baseline", text("Baseline"), "={capacity}/1000*{tau}*1000000", "B/s"),
            ("servers", text("Storage servers"), "=ROUNDUP({capacity}/{growth},0)", ""),
            ("client", text("One node moves"),
             '=IF({per_server}="",{client_limit},MIN({client_limit},{servers}*{per_server}))', "B/s"),
            ("own", text("Left for this job's writes"),
             "=MAX(({baseline}-{load}/{write_share})/{writing},1)*{write_share}", "B/s"),
            ("own_read", text("Left for its reads"), "=MAX({baseline}*{read_share}-{load},1)", "B/s"),
            ("rate", text("Saves reach"), "=MIN({own},{writers}*{client}/{skew})", "B/s"),
            ("read", text("Restarts reach"), "=MIN({own_read},{nodes}*{client})", "B/s"),
            ("storage_month", text("Storage a month"), '=IF({gib_price}="","",{capacity}*{gib_price})', "USD/month"),
        ])  # fmt: skip
    _formulas(sheet, [
        ("filled", text("Full"), f"={_HELD}/{{capacity}}", "1"),
        ("writes_in", text("The write takes"), "={latency}+{size}/{rate}", "s"),
    ])  # fmt: skip


def _interval(sheet: Sheet, classes: _Classes) -> None:
    sheet.heading(text("Interval"))
    mean = classes.mtbi
    sheet.add("mtbi", text("This job is interrupted every, M"), Formula("={mtbi_given}*{mtbi_nodes}/{nodes}"), "s")
    if classes.given:
        sheet.add("mtbi_back", text("and goes back to a save every"), Formula("={mtbi}/MAX({back_share},1E-9)"), "s")
    _formulas(sheet, [
        ("write", text("Write time, t_w"), '=IF({pace}="full",{writes_in},{write_given})', "s"),
        ("stop", text("One save stops training, C"), '=IF({mode}="sync",{write},{stop_given})', "s"),
        ("async_write", text("Written in the background, t_a"), '=IF({mode}="sync",0,{write})', "s"),
        ("lost", text("Training lost per save"), "={stop}+{background}+{slowdown}*{async_write}", "s"),
        ("young", text("Young 1974, sqrt(2CM)"), f"=SQRT(2*{{lost}}*{mean})", "s"),
        ("daly", text("Daly 2006"),
         f"=IF({{lost}}>=2*{mean},{mean}+{{lost}},"
         f"{{young}}*(1+SQRT({{lost}}/(2*{mean}))/3+{{lost}}/(2*{mean})/9))", "s"),
        ("exact_end", text("Exact, restorable when written"), f"=IF({{lost}}>0,{{end{NEWTON_STEPS}}}*{mean},0)", "s"),
        ("exact_next", text("Exact, restorable at the next save"), f"=IF({{lost}}>0,{{next{NEWTON_STEPS}}}*{mean},0)", "s"),
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


def _times(sheet: Sheet, classes: _Classes) -> None:
    since, restart = "{period}/2+{durable}", "{base}+{read_s}"
    if classes.given:
        restart = "{back_base}+{back_reads}*{read_s}"
    mean, back = since, restart
    if classes.pauses:
        mean = f"{{back_share}}*({since})+{{pause_share}}*{{step}}"
        restart = f"{{back_share}}*({restart})+{{pause_share}}*({{pause_base}}+{{pause_reads}}*{{read_s}})"
    sheet.heading(text("After an interruption"))
    _formulas(sheet, [
        ("durable", text("Restorable after, t"),
         '=IF({published}="next_save",{period},{stop}+{async_write})', "s"),
        ("base", text("Before the read"), "={detect}+{reschedule}+{start}", "s"),
        ("read_s", text("Reading from shared storage"), "={copies}*{size}/{read}", "s"),
        ("back", text("Training again from a save after"), f"={back}", "s"),
        ("restart", text("Training again after, R"), f"={restart}", "s"),
        ("mean", text("Rework, mean"), f"={mean}", "s"),
        ("worst", text("Rework, at worst"), "={step}" if classes.only_pauses else "={period}+{durable}", "s"),
        ("losses", text("Nodes lost in one wait for a spare"), "={nodes}/{node_loss}*{spare_wait}", ""),
        ("none_left", text("No spare is left"), "=IF({spares}=0,1,1-POISSON({spares}-1,{losses},TRUE))", "1"),
        ("mean_wait", text("Mean wait for a spare"),
         "={spare_wait}*{none_left}*MIN(1,{nodes}/{node_loss}*{mtbi})", "s"),
        ("down", text("Before a restart begins, D"), "={downtime}+{mean_wait}", "s"),
        ("stop_loss", text("Lost at a planned stop"),
         f'=IF({{notice}}="",{{writes_in}},IF({{writes_in}}<={{notice}}*(1+1E-12),{{writes_in}},{since}))', "s"),
    ])  # fmt: skip
    if classes.pauses:
        pause = "={pause_share}*({pause_base}+{pause_reads}*{read_s}+{step}+{down})"
        sheet.add("pause", text("Pauses, by interruption"), Formula(pause), "s")


def _waste(sheet: Sheet, classes: _Classes) -> None:
    mean = classes.mtbi
    sheet.heading(text("Waste, share of training time"))
    _formulas(sheet, [
        ("saving_own", text("Saving, C/T"),
         '=IF({interval}>{lost},MIN(MAX(1-({interval}-{lost})/{period},0),1),"")', "1"),
        ("saving", text("Saving, with other saves"), '=IF({saving_own}="","",MIN({saving_own}+{other_stops},1))', "1"),
        ("first_sum", text("First order, the sum"),
         '=IF({saving_own}="","",{saving_own}+({mean}+{restart}+{down})/{mtbi}+{other_stops})', "1"),
        ("first", text("First order"), '=IF({first_sum}="","",IF({first_sum}>1,"",{first_sum}))', "1"),
        ("x", text("Period over M, x"), f"={{period}}/{mean}", ""),
        ("one_less", text("1 - e^-x"), "=IF({x}<0.001,{x}*(1-{x}/2*(1-{x}/3*(1-{x}/4))),1-EXP(0-{x}))", ""),
        ("goodput", text("Goodput, exact"),
         f"=MAX({{interval}}-{{lost}},0)/{mean}*EXP(0-({{interval}}+{{durable}}-{{stop}}+{{back}})/{mean})"
         f"/{{one_less}}/(1+{{down}}/{mean}){'/(1+{pause}/{mtbi})' if classes.pauses else ''}*MAX(1-{{other_stops}},0)", "1"),
        ("exact", text("Exact"), '=IF({saving}="","",MAX(MIN(MAX(1-{goodput},0),1),{saving}))', "1"),
        ("waste", text("Waste by the model chosen"), '=IF({waste_model}="exact",{exact},{first})', "1"),
        ("interrupted", text("of it interruptions"), '=IF({waste}="","",{waste}-{saving})', "1"),
        ("rework_part", text("rework in interruptions"), "={mean}/({mean}+{restart}+{down})", "1"),
        ("planned", text("Planned stops"),
         '=IF({saving}="","",IF({stop_every}="",0,MIN(({base}+{read_s}+{queue}+{stop_loss})/{stop_every},'
         'IF({waste}="",1,1-{waste}))))', "1"),
        ("all_lost", text("Waste and planned stops"), '=IF({waste}="","",MIN({waste}+{planned},1))', "1"),
    ])  # fmt: skip


def _dollars(sheet: Sheet, classes: _Classes) -> None:
    pausing = "+{pause_share}*{pause_reads}" if classes.pauses else ""
    reads = f"*({{back_share}}*{{back_reads}}{pausing})" if classes.given else ""
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
        ("stops", text("Planned stops, value"), year % ("planned", "{planned}"), "USD/year"),
        ("s3_usd", text("S3"),
         '=IF({s3_bytes}=0,0,IF({s3_price}="","",12*{s3_bytes}/1000000000*{s3_price}))', "USD/year"),
        ("zone_bytes", text("Across zones a month"),
         f"=IF({{same_zone}},0,2628000*({{size}}/{{period}}+{{size}}*{{copies}}{reads}/{{mtbi}}+{{other_written}}))", "B"),
        ("zone_usd", text("Across zones"),
         '=IF({zone_bytes}=0,0,IF({zone_price}="","",12*{zone_bytes}/1000000000*{zone_price}))', "USD/year"),
        ("spares_usd", text("Spares"), '=IF({spares}=0,0,IF({node_price}="","",8760*{spares}*{node_price}))', "USD/year"),
        ("total_year", text("Total"),
         '=IF(OR({storage}="",{stalled}="",{rework}="",{restarts}="",{stops}="",{s3_usd}="",{zone_usd}="",{spares_usd}=""),"",'
         "{storage}+{stalled}+{rework}+{restarts}+{stops}+{s3_usd}+{zone_usd}+{spares_usd})", "USD/year"),
        ("total_month", text("Total a month"), '=IF({total_year}="","",{total_year}/12)', "USD/month"),
        ("total_run", text("Total for the run"), '=IF({total_year}="","",{total_year}*{days}*24/8760)', "USD"),
    ])  # fmt: skip


def _newton_at_write_end(sheet: Sheet, classes: _Classes) -> None:
    """Steps to the x = T/M of least exact waste: 1 - e^-x = x - c, from Daly's series (docs/models.md 4.2)."""
    sheet.heading(text("Exact optimum by Newton's method: 1 - e^-x = x - c, x = T/M"))
    root = "SQRT(2*{c})"
    start = f"{root}+{root}^2/6+{root}^3/36"
    _formulas(sheet, [
        ("c", text("c = C/M"), f"={{lost}}/{classes.mtbi}", ""),
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
