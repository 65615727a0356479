"""A week later: what the files show beside what was planned, card by card, and whether the plan still holds.

observed(plan, reading)               -> one row for M, C, t, T, R and goodput
observed_verdict(named, plan, reading) -> "The plan is still right", or what to change to and what that saves
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from ckptplanner.engine.adopting import adopted, proposed
from ckptplanner.engine.edits import EditError, edit
from ckptplanner.engine.evaluate import plan_of
from ckptplanner.engine.evidence import Estimate, Reading
from ckptplanner.engine.plan import Plan
from ckptplanner.engine.scenario import NamedScenario
from ckptplanner.text import Text, listed, text
from ckptplanner.units import FRACTION, SECONDS, USD, Unit, brief, percent

NEAR_RATIO = 1.1  # closer than this is right, whatever the interval says
GOOD_ENOUGH = 1.03  # a plan within 3 % of the least total is kept: the same measure as the ranges of the plots
Verdict = Literal["right", "off", "unknown"]
_PARTS = ("detect", "reschedule", "start")
_SAVES_EVERY = text("Saves every")


@dataclass(frozen=True, slots=True)
class Observed:
    """One figure of the plan beside what the files show."""

    title: Text
    planned: float | None
    observed: float
    unit: Unit
    low: float | None
    high: float | None
    verdict: Verdict
    words: Text


def _verdict(planned: float | None, found: float, low: float | None, high: float | None) -> Verdict:
    if planned is None:
        return "unknown"
    if low is not None and high is not None and low <= planned <= high:
        return "right"
    if planned > 0.0 and found > 0.0 and 1.0 / NEAR_RATIO <= found / planned <= NEAR_RATIO:
        return "right"
    return "off"


def _row(title: Text, planned: float | None, found: float, low: float | None, high: float | None, unit: Unit) -> Observed:
    verdict = _verdict(planned, found, low, high)
    return Observed(title, planned, found, unit, low, high, verdict, _words(planned, found, unit, verdict))


def _words(planned: float | None, found: float, unit: Unit, verdict: Verdict) -> Text:
    shown = brief(found, unit)
    if planned is None:
        return text("{found}; the plan has no such figure.", found=shown)
    said = {"found": shown, "planned": brief(planned, unit)}
    if verdict == "right":
        return text("{found}, as planned ({planned}).", **said)
    if found > planned:
        return text("{found}, more than planned ({planned}).", **said)
    return text("{found}, less than planned ({planned}).", **said)


def _goodput(planned_waste: float | None, waste: float) -> Observed:
    """Goodput is near 1 whatever happens: what is lost decides whether it is as planned."""
    verdict = _verdict(planned_waste, waste, None, None)
    planned, found = None if planned_waste is None else 1.0 - planned_waste, 1.0 - waste
    words = _words(planned, found, FRACTION, verdict)
    return Observed(text("Goodput"), planned, found, FRACTION, None, None, verdict, words)


def _estimates(reading: Reading) -> dict[str, Estimate]:
    """The first estimate of each quantity that is proposed; the interval, which is a decision, never is."""
    found: dict[str, Estimate] = {}
    for one in reading.estimates:
        if one.is_proposed or one.path is None or one.id == "interval":
            found.setdefault(one.id, one)
    return found


def _mtbi(plan: Plan, reading: Reading) -> Observed | None:
    """M of the files, scaled to the nodes of the plan."""
    record = reading.failures
    if plan.schedule is None or record is None or not math.isfinite(record.mtbi_s):
        return None
    scale = 1.0 if math.isnan(record.nodes) else record.nodes / plan.scenario.workload.nodes
    found, low, high = (value * scale for value in (record.mtbi_s, record.low_s, record.high_s))
    ends = (low if math.isfinite(low) else None, high if math.isfinite(high) else None)
    return _row(text("Interrupted every"), plan.schedule.mtbi_s, found, *ends, SECONDS)


def _restart_s(found: dict[str, Estimate]) -> float | None:
    """R: as it was seen, or the sum of its parts where all are known. [s]"""
    if "restart" in found:
        return float(found["restart"].value)
    parts = [found.get(name) for name in (*_PARTS, "restore_read")]
    known = [float(one.value) for one in parts if one is not None]
    return sum(known) if len(known) == len(parts) else None


def _waste(plan: Plan, found: dict[str, Estimate], mtbi_s: float | None, restart_s: float | None) -> float | None:
    """C/T + (T/2 + t + R)/M of what was seen; None where a part is missing. [1]"""
    stop, interval, after = (found.get(name) for name in ("stop", "interval", "restorable"))
    if stop is None or interval is None or after is None or mtbi_s is None or restart_s is None or interval.value <= 0.0:
        return None
    waste = stop.value / interval.value + (interval.value / 2.0 + after.value + restart_s) / mtbi_s
    return min(float(waste), 1.0)


def _rows(plan: Plan, reading: Reading) -> Iterator[Observed]:
    schedule, found = plan.schedule, _estimates(reading)
    if schedule is None:
        return
    mtbi = _mtbi(plan, reading)
    if mtbi is not None:
        yield mtbi
    planned = {
        "stop": (text("Stop time"), schedule.blocking_s),
        "restorable": (text("Restorable after"), schedule.durable_after_s),
        "interval": (_SAVES_EVERY, schedule.period_s),
    }
    for name, (title, value) in planned.items():
        one = found.get(name)
        if one is not None:
            yield _row(title, value, float(one.value), one.low, one.high, SECONDS)
    restart = _restart_s(found)
    if restart is not None:
        whole = found.get("restart")
        ends = (whole.low, whole.high) if whole is not None else (None, None)
        yield _row(text("Training again in"), schedule.restart_s, restart, *ends, SECONDS)
    waste = _waste(plan, found, mtbi.observed if mtbi is not None else None, restart)
    total = plan.waste.total_fraction if plan.waste is not None else None
    if waste is not None:
        yield _goodput(total, waste)


def observed(plan: Plan, reading: Reading) -> tuple[Observed, ...]:
    """What the files show beside the plan, for its nodes: M, C, t, T, R and goodput, as far as they are there.

    A figure is right where the plan lies in the interval of what was measured, or within 10 % of it. Goodput is
    1 - C/T - (T/2 + t + R)/M with everything as seen; it needs all five.
    """
    return tuple(_rows(plan, reading))


def _taken(named: NamedScenario, reading: Reading) -> NamedScenario:
    """The scenario with what was measured of its risks and costs; its decisions stay.

    A save that stops training until it is written has one time: the stop that was seen stands for the write.
    """
    found = _estimates(reading)
    is_sync = named.scenario.storage.mode == "sync"
    wanted = {"mtbi", *_PARTS, "background_loss"} | (set() if is_sync else {"stop", "write"})
    made = adopted(named, [one for one in proposed(named, reading.estimates) if one.id in wanted])
    if is_sync and "stop" in found:
        made = edit(made, "storage.write_s", max(float(found["stop"].value), 1e-3), "log")
    return made


def observed_verdict(named: NamedScenario, plan: Plan, reading: Reading) -> Text:
    """Whether the plan holds with what was measured, or what to change it to.

    The interval that is used stays, then the best one is taken: a plan within 3 % of the least total (or of the least waste
    where no price is known) is still right.
    """
    rows = observed(plan, reading)
    if plan.schedule is None or not rows:
        return text("Nothing in the files can be held against the plan yet.")
    try:
        measured = _taken(named, reading)
        kept = plan_of(edit(measured, "storage.interval_s", plan.schedule.interval_s))
        free = plan_of(edit(measured, "storage.interval_s", None))
    except EditError as error:
        return text("The plan cannot take what was measured: {why}", why=str(error))
    errors = [finding for finding in kept.findings if finding.severity == "error"]
    if errors:
        return text("The plan no longer works: {why}", why=errors[0].text)
    if kept.waste is None or free.waste is None or kept.schedule is None or free.schedule is None:
        return text("Nothing in the files can be held against the plan yet.")
    every, best = brief(kept.schedule.period_s, SECONDS), brief(free.schedule.period_s, SECONDS)
    old, new = kept.waste.total_fraction, free.waste.total_fraction
    if old is None or new is None:
        return text("Nothing in the files can be held against the plan yet.")
    costs = [one.cost.total_usd_per_year if one.cost is not None else None for one in (kept, free)]
    first, second = costs
    is_right = first <= second * GOOD_ENOUGH if first is not None and second is not None else old <= new * GOOD_ENOUGH
    other = next((row for row in rows if row.title == _SAVES_EVERY and row.verdict == "off"), None)
    off = [row.title for row in rows if row.verdict == "off" and row is not other]
    if is_right and other is not None:
        return text(
            "The plan is still right, but the job does not follow it: it saves every {seen}, the plan says {every}.",
            seen=brief(other.observed, SECONDS), every=every,
        )  # fmt: skip
    if is_right and not off:
        return text("The plan is still right: it saves every {every} and wastes {waste}.", every=every, waste=percent(old))
    if is_right:
        return text(
            "The plan is still right: saving every {every} is as good as the best interval. Other than planned: {what}.",
            every=every, what=listed(off),
        )  # fmt: skip
    if first is None or second is None:
        return text(
            "Save every {best} in the place of {every}: the waste goes from {old} to {new}.",
            best=best, every=every, old=percent(old), new=percent(new),
        )  # fmt: skip
    return text(
        "Save every {best} in the place of {every}: that saves {usd} a month.",
        best=best, every=every, usd=brief((first - second) / 12.0, USD),
    )  # fmt: skip
