"""How often to save, as formulas: the best interval, and with one level what follows from it."""

from __future__ import annotations

from ckptplanner.engine.sheet.kind import Kind
from ckptplanner.engine.sheet.newton import last_step
from ckptplanner.engine.sheet.rows import Formula, Sheet
from ckptplanner.text import text


def interruptions(sheet: Sheet, kind: Kind) -> None:
    """How often the job is interrupted; with nodes that age, from the failures of one of them in the run."""
    sheet.heading(text("Interruptions"))
    formula = "={days}*86400/({nodes}*{node_failures})" if kind.ages else "={mtbi_given}*{mtbi_nodes}/{nodes}"
    sheet.add("mtbi", text("This job is interrupted every, M"), Formula(formula), "s")
    if kind.classes:
        sheet.add("mtbi_back", text("and goes back to a save every"), Formula("={mtbi}/MAX({back_share},1E-9)"), "s")


def best_interval(sheet: Sheet, kind: Kind) -> None:
    """What a save costs, and T* by every model; of two levels that of the shared saves."""
    mean = kind.mean
    sheet.heading(text("Interval"))
    sheet.formulas([
        ("write", text("Write time, t_w"), '=IF({pace}="full",{writes_in},{write_given})', "s"),
        ("stop", text("One save stops training, C"), '=IF({mode}="sync",{write},{stop_given})', "s"),
        ("async_write", text("Written in the background, t_a"), '=IF({mode}="sync",0,{write})', "s"),
        ("lost", text("Training lost per save"), "={stop}+{background}+{slowdown}*{async_write}", "s"),
        ("young", text("Young 1974, sqrt(2CM)"), f"=SQRT(2*{{lost}}*{mean})", "s"),
        ("daly", text("Daly 2006"), f"={daly('{lost}', mean, '{young}')}", "s"),
    ])  # fmt: skip
    if not kind.renewal:
        end = f"=IF({{lost}}>0,{last_step('end')}*{mean},0)"
        sheet.add("exact_end", text("Exact, restorable when written"), Formula(end), "s")
    least = "MAX(%s,{lost}+{step})" if kind.levels else "%s"
    best = (
        'IF({published}="next_save",IF({interval_model}="exact",{exact_next},{young}/SQRT(3)),'
        'IF({interval_model}="exact",{exact_end},IF({interval_model}="daly",{daly},{young})))'
    )
    sheet.formulas([
        ("exact_next", text("Exact, restorable at the next save"), f"=IF({{lost}}>0,{last_step('next')}*{mean},0)", "s"),
        ("best", text("Best interval, T*"), f"={least % best}", "s"),
    ])  # fmt: skip


def daly(lost: str, mean: str, young: str) -> str:
    """Daly's series, and M + C from C = 2M on."""
    return f"IF({lost}>=2*{mean},{mean}+{lost},{young}*(1+SQRT({lost}/(2*{mean}))/3+{lost}/(2*{mean})/9))"


def half_even(value: str) -> str:
    """The nearest whole number, the even one of two."""
    return f"IF(MOD({value},1)=0.5,2*ROUND({value}/2,0),ROUND({value},0))"


def one_level(sheet: Sheet) -> None:
    """T and what really passes."""
    sheet.formulas([
        ("wanted", text("Interval asked for"),
         '=IF({interval_given}="",MAX({best},{stop}+{async_write}),{interval_given})', "s"),
        ("steps", text("in steps"), "={wanted}/{step}", ""),
        ("rounded", text("in whole steps"),
         f"=MAX({half_even('{steps}')},"
         'IF({interval_given}="",ROUNDUP(({stop}+{async_write})/{step}-1E-9,0),1),1)', ""),
        ("interval", text("Save every, T"),
         "=MAX(MIN(IF({whole},{step}*{rounded},{wanted}),{days}*86400),{step})", "s"),
        ("period", text("Time that really passes"), "=MAX({interval},{stop}+{async_write})", "s"),
        ("durable", text("Restorable after, t"),
         '=IF({published}="next_save",{period},{stop}+{async_write})', "s"),
    ])  # fmt: skip
