"""Steps to the exact optimum by Newton's method, and functions that keep their digits near 0, as formulas."""

from __future__ import annotations

from ckptplanner.engine.sheet.rows import Formula, Sheet
from ckptplanner.text import Text, text

_STEPS = 7
AT_WRITE_END = text("Exact optimum by Newton's method: 1 - e^-x = x - c, x = T/M")
AT_WRITE_END_LOCAL = text("The same for the local saves: 1 - e^-x = x - c, x = T1/M1, c = C1/M1")


def last_step(kind: str) -> str:
    """The cell of the last x: of `end`, `next`, or `near` for the local saves."""
    return f"{{{kind}{_STEPS}}}"


def quotient(lost: str, mean: str) -> Formula:
    """c, the stop by the time between interruptions."""
    return Formula(f"={lost}/{mean}")


def at_write_end(sheet: Sheet, heading: Text, kind: str, c: str) -> None:
    """Steps to the x = T/M of least exact waste: 1 - e^-x = x - c, from Daly's series (docs/models.md 4.2)."""
    sheet.heading(heading)
    root = f"SQRT(2*{c})"
    start = f"{root}+{root}^2/6+{root}^3/36"
    sheet.add(f"{kind}0", text("x, start"), Formula(f"=IF({c}>0,IF({c}<1,{start},1+{c}),1)"))
    for step in range(_STEPS):
        x = f"{{{kind}{step}}}"
        formula = f"={x}-({_small(x)}-{c})/(1-EXP(0-{x}))"
        sheet.add(f"{kind}{step + 1}", text("x, step {step}", step=step + 1), Formula(formula))


def at_next_save(sheet: Sheet) -> None:
    """The same where a checkpoint is restorable only from the next save on (docs/models.md 4.3)."""
    sheet.heading(text("The same when restorable at the next save: (x - c)(2 - e^-x) = 1 - e^-x"))
    sheet.add("next0", text("x, start"), Formula("=IF({c}>0,IF({c}<1,SQRT(2*{c}/3)+{c},1+{c}),1)"))
    for step in range(_STEPS):
        x = f"{{next{step}}}"
        value = f"{_small(x)}+{x}*(1-EXP(0-{x}))-{{c}}*(2-EXP(0-{x}))"
        slope = f"2*(1-EXP(0-{x}))+({x}-{{c}})*EXP(0-{x})"
        formula = f"=MAX({x}-({value})/({slope}),{x}*0.001)"
        sheet.add(f"next{step + 1}", text("x, step {step}", step=step + 1), Formula(formula))


def _small(x: str) -> str:
    """x - 1 + e^-x, by its series near 0, where the difference would lose its digits."""
    series = f"{x}^2*(0.5-{x}*(1/6-{x}*(1/24-{x}*(1/120-{x}/720))))"
    return f"IF({x}<0.02,{series},{x}-1+EXP(0-{x}))"


def growth(x: str) -> str:
    """e^x - 1, by its series near 0, and held where a cell could not hold it."""
    return f"IF({x}<0.001,{x}*(1+{x}/2*(1+{x}/3*(1+{x}/4))),EXP(MIN({x},700))-1)"
