"""What follows from the interval, as formulas: restart, rework, waste and dollars."""

from __future__ import annotations

from ckptplanner.engine.sheet.kind import Kind
from ckptplanner.engine.sheet.rows import Formula, Sheet
from ckptplanner.text import text

_SINCE = "{period}/2+{durable}"
_PAUSE = "({pause_base}+{pause_reads}*{read_s})"


def restarts(sheet: Sheet, kind: Kind) -> None:
    """The parts of a restart; with one level, R from a save too."""
    sheet.heading(text("After an interruption"))
    sheet.formulas([
        ("base", text("Before the read"), "={detect}+{reschedule}+{start}", "s"),
        ("read_s", text("Reading from shared storage"), "={copies}*{size}/{read}", "s"),
    ])  # fmt: skip
    if not kind.levels:
        back = "={back_base}+{back_reads}*{read_s}" if kind.classes else "={base}+{read_s}"
        sheet.add("back", text("Training again from a save after"), Formula(back), "s")


def times(sheet: Sheet, kind: Kind) -> None:
    """What an interruption costs."""
    pausing = f"+{{pause_share}}*{_PAUSE}" if kind.pauses else ""
    step = "+{pause_share}*{step}" if kind.pauses else ""
    back = "{back_share}*" if kind.pauses else ""
    restart, mean = f"{back}{{back}}{pausing}", f"{back}({_SINCE}){step}"
    if kind.levels:
        restart = f"{{local_share}}*{{local_restart}}+{{shared_share}}*{{shared_restart}}{pausing}"
        mean = f"{{local_share}}*({{period}}/{{ratio}}/2+{{local_save}})+{{shared_share}}*({_SINCE}){step}"
    sheet.formulas([
        ("restart", text("Training again after, R"), f"={restart}", "s"),
        ("mean", text("Rework, mean"), f"={mean}", "s"),
        ("worst", text("Rework, at worst"), "={step}" if kind.only_pauses else "={period}+{durable}", "s"),
        ("losses", text("Nodes lost in one wait for a spare"), "={nodes}/{node_loss}*{spare_wait}", ""),
        ("none_left", text("No spare is left"), "=IF({spares}=0,1,1-POISSON({spares}-1,{losses},TRUE))", "1"),
        ("mean_wait", text("Mean wait for a spare"),
         "={spare_wait}*{none_left}*MIN(1,{nodes}/{node_loss}*{mtbi})", "s"),
        ("down", text("Before a restart begins, D"), "={downtime}+{mean_wait}", "s"),
        ("stop_loss", text("Lost at a planned stop"),
         f'=IF({{notice}}="",{{writes_in}},IF({{writes_in}}<={{notice}}*(1+1E-12),{{writes_in}},{_SINCE}))', "s"),
    ])  # fmt: skip
    if kind.pauses:
        pause = f"={{pause_share}}*({_PAUSE}+{{step}}+{{down}})"
        sheet.add("pause", text("Pauses, by interruption"), Formula(pause), "s")


def waste(sheet: Sheet, kind: Kind) -> None:
    """To first order and by the exact model of the plan: E1 and E3, E4 with its sum as a value, or E6."""
    fits, kept = "{interval}>{lost}", "({interval}-{lost})"
    if kind.levels:
        fits, kept = "AND({interval}>{lost},{local_interval}>{local_stop})", "{ratio}*({local_interval}-{local_stop})"
    sheet.heading(text("Waste, share of training time"))
    sheet.formulas([
        ("saving_own", text("Saving, C/T"), f'=IF({fits},MIN(MAX(1-{kept}/{{period}},0),1),"")', "1"),
        ("saving", text("Saving, with other saves"), '=IF({saving_own}="","",MIN({saving_own}+{other_stops},1))', "1"),
        ("first_sum", text("First order, the sum"),
         '=IF({saving_own}="","",{saving_own}+({mean}+{restart}+{down})/{mtbi}+{other_stops})', "1"),
        ("first", text("First order"), '=IF({first_sum}="","",IF({first_sum}>1,"",{first_sum}))', "1"),
    ])  # fmt: skip
    _goodput(sheet, kind)
    sheet.formulas([
        ("exact", text("Exact"), '=IF({saving}="","",MAX(MIN(MAX(1-{goodput},0),1),{saving}))', "1"),
        ("waste", text("Waste by the model chosen"), '=IF({waste_model}="exact",{exact},{first})', "1"),
        ("interrupted", text("of it interruptions"), '=IF({waste}="","",{waste}-{saving})', "1"),
        ("rework_part", text("rework in interruptions"), "={mean}/({mean}+{restart}+{down})", "1"),
        ("planned", text("Planned stops"),
         '=IF({saving}="","",IF({stop_every}="",0,MIN(({base}+{read_s}+{queue}+{stop_loss})/{stop_every},'
         'IF({waste}="",1,1-{waste}))))', "1"),
        ("all_lost", text("Waste and planned stops"), '=IF({waste}="","",MIN({waste}+{planned},1))', "1"),
    ])  # fmt: skip


def _goodput(sheet: Sheet, kind: Kind) -> None:
    mean, pauses = kind.mean, "/(1+{pause}/{mtbi})" if kind.pauses else ""
    tail = f"{pauses}*MAX(1-{{other_stops}},0)"
    if kind.levels:
        sheet.add("goodput", text("Goodput by E6"), Formula(f"=(1-{{waste_at}}){tail}"), "1")
    elif kind.renewal:
        sum_kept = f"=MAX({{interval}}-{{lost}},0)*{{usable}}/({mean}+{{down}}){tail}"
        sheet.add("goodput", text("Goodput by E4"), Formula(sum_kept), "1")
    else:
        sheet.formulas([
            ("x", text("Period over M, x"), f"={{period}}/{mean}", ""),
            ("one_less", text("1 - e^-x"), "=IF({x}<0.001,{x}*(1-{x}/2*(1-{x}/3*(1-{x}/4))),1-EXP(0-{x}))", ""),
            ("goodput", text("Goodput, exact"),
             f"=MAX({{interval}}-{{lost}},0)/{mean}*EXP(0-({{interval}}+{{durable}}-{{stop}}+{{back}})/{mean})"
             f"/{{one_less}}/(1+{{down}}/{mean}){tail}", "1"),
        ])  # fmt: skip


def dollars(sheet: Sheet, kind: Kind) -> None:
    """What the waste is worth, storage and the rest."""
    pausing = "+{pause_share}*{pause_reads}" if kind.pauses else ""
    reads = f"*({{back_share}}*{{back_reads}}{pausing})" if kind.classes else ""
    year = '=IF(OR({hour}="",{%s}=""),"",8760*{gpus}*{hour}*%s)'
    sheet.heading(text("Dollars"))
    sheet.formulas([
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
