"""The panel of how often the job is interrupted and what stands between an interruption and training again."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from typing_extensions import override

from ckptplanner.data import catalog
from ckptplanner.data.records import InterruptionRecord
from ckptplanner.engine.plan import Plan
from ckptplanner.engine.restarts import Way, each_way
from ckptplanner.engine.scenario import Scenario
from ckptplanner.ui.panels.panel import ComputedEntry, Entry, FieldEntry, Panel, listed, named_choices, quantity
from ckptplanner.ui.widgets.choice_edit import Choice
from ckptplanner.ui.words import node_count, say
from ckptplanner.units import BYTES, DAY, FRACTION, SECONDS, brief, grouped, percent, rough, significant


class FailuresPanel(Panel):
    """Mean time between interruptions, and the parts of the restart time."""

    @override
    def title(self) -> str:
        return say("Failures")

    @override
    def entries(self) -> Sequence[Entry]:
        return (
            FieldEntry(
                path="failures.record",
                title=say("Published record"),
                help=say("Fills the time below and its node count from a published count of interruptions."),
                make=listed(*map(_record_choice, catalog.interruption_records()), describe=lambda _: say("none")),
                shown=_record_id,
            ),
            FieldEntry(path="failures.mtbi_s", line=_each_node),
            FieldEntry(path="failures.detect_s"),
            FieldEntry(path="failures.reschedule_s"),
            FieldEntry(path="failures.start_s"),
            ComputedEntry(figure="restart_s", title=say("Restart time"), text=_restart, line=_read_back),
            FieldEntry(path="failures.mtbi_nodes", title=say("Counted at nodes"), rare=True),
            FieldEntry(path="failures.downtime_s", rare=True),
            FieldEntry(
                path="failures.law",
                make=listed(*named_choices("failures.law")),
                rare=True,
                line=_law,
                also=("failures.gaps_s",),
            ),
            FieldEntry(path="failures.weibull_shape", rare=True, is_shown=_has("weibull"), line=_shape),
            FieldEntry(path="failures.lognormal_shape", rare=True, is_shown=_has("lognormal")),
            FieldEntry(path="failures.clock", make=listed(*named_choices("failures.clock")), rare=True),
            FieldEntry(path="failures.fleet_age_s", rare=True, reason=_one_clock, line=_age),
            FieldEntry(path="failures.process_share", rare=True, reason=_one_level),
            FieldEntry(path="failures.node_share", rare=True, reason=_one_level),
            FieldEntry(path="failures.cluster_share", rare=True, reason=_one_level),
            FieldEntry(path="restore.copies", rare=True),
            FieldEntry(path="failures.spot_notice_s", make=quantity(say("no spot nodes")), rare=True),
            FieldEntry(path="run.days", rare=True),
            FieldEntry(path="planned.every_s", title=say("Planned stop"), make=quantity(say("none")), line=_planned, rare=True),
            FieldEntry(path="planned.notice_s", title=say("Notice"), make=quantity(say("long enough")), rare=True),
            FieldEntry(path="planned.queue_s", title=say("Queue after"), rare=True),
            FieldEntry(path="spares.nodes", rare=True, line=_spares),
            FieldEntry(path="spares.wait_s", title=say("Wait without"), rare=True),
        )


def _record_choice(row: InterruptionRecord) -> Choice:
    time = brief(row.mtbi_s, SECONDS)
    every = say("{time} at {nodes}", time=time, nodes=node_count(row.nodes))
    return Choice(row.id, f"{row.name}    {every}", row.name, f"{say(row.counted)}, {row.date}")


def _record_id(scenario: Scenario) -> str | None:
    wanted = (scenario.failures.mtbi_s, scenario.failures.mtbi_nodes)
    return next((row.id for row in catalog.interruption_records() if (row.mtbi_s, row.nodes) == wanted), None)


def _each_node(plan: Plan) -> str:
    failures, nodes = plan.scenario.failures, plan.scenario.workload.nodes
    each = _long_time(failures.mtbi_s * failures.mtbi_nodes)
    if nodes == failures.mtbi_nodes:
        return say("this job, all causes, {nodes} = each node every {time}", nodes=node_count(nodes), time=each)
    scaled = brief(failures.mtbi_s * failures.mtbi_nodes / nodes, SECONDS)
    if nodes == 1:
        return say("this job's one node: every {time}", time=scaled)
    return say("this job's {nodes}: {time}, each node every {each}", nodes=node_count(nodes), time=scaled, each=each)


def _long_time(seconds: float) -> str:
    if seconds < 2 * DAY:
        return brief(seconds, SECONDS)
    if seconds < 1000 * DAY:
        return say("{count} days", count=significant(seconds / DAY))
    return say("{count} years", count=significant(seconds / (365 * DAY)))


def _restart(plan: Plan) -> str:
    return "–" if plan.schedule is None else brief(plan.schedule.restart_s, SECONDS)


def _read_back(plan: Plan) -> str:
    if plan.schedule is None:
        return say("unknown while no storage is chosen")
    ways = each_way(plan)
    if len(ways) > 1:
        return _mean_of(ways)
    return say(
        "with {time} to read {size} back",
        time=brief(plan.schedule.restore_read_s, SECONDS),
        size=brief(plan.checkpoint.checkpoint_bytes * plan.scenario.restore.copies, BYTES),
    )


def _mean_of(ways: Sequence[Way]) -> str:
    """What a mean restart is the mean of: two ways with their shares, more from the fastest to the slowest."""
    if len(ways) == 2:
        (often, seldom), shares = ways, [brief(way.share, FRACTION, 2) for way in ways]
        return say(
            "mean of {often} ({often_share}) and {seldom} ({seldom_share})",
            often=rough(often.restart_s, SECONDS), often_share=shares[0], seldom=rough(seldom.restart_s, SECONDS),
            seldom_share=shares[1],
        )  # fmt: skip
    times = [way.restart_s for way in ways]
    return say(
        "mean of {count} ways, {fastest} to {slowest}",
        count=len(ways), fastest=rough(min(times), SECONDS), slowest=rough(max(times), SECONDS),
    )  # fmt: skip


def _has(law: str) -> Callable[[Scenario], bool]:
    return lambda scenario: scenario.failures.law == law


def _law(plan: Plan) -> str:
    failures = plan.scenario.failures
    if failures.law == "empirical":
        return say("{count} gaps of a log, scaled to the mean", count=grouped(len(failures.gaps_s)))
    if failures.law == "lognormal":
        return say("the exact number follows the renewal model")
    return say("memoryless") if failures.weibull_shape == 1 else ""


def _shape(plan: Plan) -> str:
    shape = plan.scenario.failures.weibull_shape
    if shape == 1:
        return say("1: memoryless; logs show 0.4 to 1")
    return say("in bursts") if shape < 1 else say("more regular than chance")


def _one_clock(scenario: Scenario) -> str:
    return say("one clock for the job") if scenario.failures.clock == "job" else ""


def _one_level(scenario: Scenario) -> str:
    if not scenario.local.enabled:
        return say("no local saves")
    return say("restart classes are given") if scenario.restart.classes else ""


def _age(plan: Plan) -> str:
    if plan.scenario.failures.clock == "job" or plan.schedule is None:
        return ""
    return say("in this run the job is interrupted every {time}", time=rough(plan.schedule.mtbi_s, SECONDS))


def _planned(plan: Plan) -> str:
    if plan.scenario.planned.every_s is None or plan.waste is None or plan.waste.planned_fraction is None:
        return ""
    return say("costs {share} of the time", share=percent(plan.waste.planned_fraction))


def _spares(plan: Plan) -> str:
    chance = plan.beyond.no_spare_probability if plan.beyond else None
    return "" if chance is None else say("none left with {chance}", chance=brief(chance, FRACTION, 2))
