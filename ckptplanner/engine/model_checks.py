"""What must be said about the models: do their inputs go together, and which gave the number (docs/models.md 15, 16)."""

from __future__ import annotations

from collections.abc import Iterator

from ckptplanner.engine.laws import law_of
from ckptplanner.engine.losses import RENEWAL, TWO_LEVELS
from ckptplanner.engine.plan import Finding, Levels, Plan, Waste, finding
from ckptplanner.engine.restarts import has_copies
from ckptplanner.engine.scenario import LEAST_GAPS, Failures
from ckptplanner.text import text
from ckptplanner.units import DAY, DAYS, FRACTION, SECONDS, brief, grouped, percent, rough, significant

_ROUNDING = 1.0 + 1e-9
_LARGE_AGE_EFFECT = 0.02  # share of M from which the age of the nodes is worth a word
_LARGE_START_EFFECT = 0.02  # of the waste, from which the beginning of the clock is worth a word


def model_findings(plan: Plan) -> Iterator[Finding]:
    """Everything that this file looks at."""
    for check in (_check_shares, _check_law, _check_age, _check_memory, _check_levels):
        yield from check(plan)


def _check_shares(plan: Plan) -> Iterator[Finding]:
    failures, is_used = plan.scenario.failures, plan.scenario.local.enabled and not plan.scenario.restart.classes
    known = failures.process_share + failures.node_share + failures.cluster_share
    if abs(known - 1.0) > 1e-6:
        yield finding(
            "error" if is_used else "warning", "failures.process_share",
            "The shares of what is lost sum to {sum}; process alone, node lost and cluster lost sum to 100 %.",
            sum=brief(known, FRACTION),
        )  # fmt: skip


def _check_law(plan: Plan) -> Iterator[Finding]:
    failures = plan.scenario.failures
    if failures.law == "empirical" and len(failures.gaps_s) < LEAST_GAPS:
        yield finding(
            "error", "failures.gaps_s", "The empirical law needs the gaps of a log, two at least; {count} are given.",
            count=len(failures.gaps_s),
        )  # fmt: skip
    if failures.clock == "nodes" and failures.law != "weibull":
        yield finding(
            "warning", "failures.clock",
            "The age of the nodes is computed for the Weibull law only: here they count as aged, and the job as memoryless.",
        )  # fmt: skip


def _check_age(plan: Plan) -> Iterator[Finding]:
    """How far the age of the nodes moves M away from what was given."""
    failures, schedule = plan.scenario.failures, plan.schedule
    if failures.clock != "nodes" or schedule is None:
        return
    nominal = failures.mtbi_s * failures.mtbi_nodes / plan.scenario.workload.nodes
    if abs(schedule.mtbi_s / nominal - 1.0) > _LARGE_AGE_EFFECT:
        yield finding(
            "info", "failures.fleet_age_s",
            "At the age of these nodes the job is interrupted every {now} on average, not every {nominal} as an aged fleet is.",
            now=rough(schedule.mtbi_s, SECONDS), nominal=rough(nominal, SECONDS),
        )  # fmt: skip


def _check_memory(plan: Plan) -> Iterator[Finding]:
    """Which model gave the number where gaps have a memory, and what it leaves out."""
    waste, storage = plan.waste, plan.scenario.storage
    if waste is None:
        return
    is_planned = storage.interval_s is None and storage.interval_model == "exact"
    if waste.exact_model == RENEWAL:
        if is_planned and storage.published != "next_save":
            yield finding(
                "info", "failures.law",
                "Interruptions have a memory here ({law}): the exact number is that of the renewal model, its interval is "
                "found numerically.",
                law=law_words(plan.scenario.failures),
            )  # fmt: skip
        else:
            yield finding(
                "info", "failures.law",
                "Interruptions have a memory here ({law}): the exact number is that of the renewal model.",
                law=law_words(plan.scenario.failures),
            )  # fmt: skip
        yield from _check_fresh_clock(plan, waste)
        if any(row.share > 0 and row.rework == "step" for row in plan.scenario.restart.classes):
            yield finding(
                "info", "restart.classes",
                "With restart classes the renewal model takes the gaps between roll-backs to have the same shape: an "
                "approximation. Simulate to see how good it is.",
            )  # fmt: skip
    if waste.exact_model == TWO_LEVELS and plan.scenario.failures.has_memory:
        yield finding(
            "warning", "failures.law",
            "Two levels are computed for memoryless interruptions; the law of the gaps ({law}) counts in the simulation only.",
            law=law_words(plan.scenario.failures),
        )  # fmt: skip
    if waste.exact_model == RENEWAL and is_planned and storage.published == "next_save":
        yield finding(
            "info", "storage.interval_s",
            "The interval is the best one for memoryless interruptions: for checkpoints that count from the next save on no "
            "other is computed.",
        )  # fmt: skip


def _check_fresh_clock(plan: Plan, waste: Waste) -> Iterator[Finding]:
    """Whether this run is so short that the beginning of its clock matters: the formula is for one that went on for long."""
    from ckptplanner.engine.fresh_clock import expected_interruptions

    schedule, failures = plan.schedule, plan.scenario.failures
    if schedule is None or not waste.exact_fraction or waste.interruption_fraction is None:
        return
    law = law_of(
        failures.law, schedule.mtbi_s, weibull_shape=failures.weibull_shape, lognormal_shape=failures.lognormal_shape,
        gaps_s=failures.gaps_s,
    )  # fmt: skip
    held_up_s = failures.downtime_s + (plan.beyond.mean_wait_s if plan.beyond is not None else 0.0)
    long_run = plan.scenario.run.days * DAY / (schedule.mtbi_s + held_up_s)
    fresh = expected_interruptions(law, long_run * schedule.mtbi_s)
    if abs(fresh / long_run - 1.0) * waste.interruption_fraction > _LARGE_START_EFFECT * waste.exact_fraction:
        yield finding(
            "info", "run.days",
            "The formula takes the {long} interruptions that a stretch of {run} has in a long run; a run that begins right "
            "after an interruption has {fresh} by this law. Simulate to see what that is worth.",
            long=significant(long_run), run=brief(plan.scenario.run.days, DAYS), fresh=significant(fresh),
        )  # fmt: skip


def law_words(failures: Failures) -> object:
    """The law of the gaps with its shape."""
    if failures.law == "empirical":
        return text("{count} measured gaps", count=grouped(len(failures.gaps_s)))
    if failures.law == "lognormal":
        return text("lognormal, shape {shape}", shape=f"{failures.lognormal_shape:g}")
    return text("Weibull, shape {shape}", shape=f"{failures.weibull_shape:g}")


# ---------------------------------------------------------------- two levels


def _check_levels(plan: Plan) -> Iterator[Finding]:
    levels = plan.levels
    if levels is None or plan.schedule is None:
        return
    local = levels.local
    if local.interval_s <= local.blocking_s:
        yield finding(
            "error", "local.interval_s",
            "The job makes no progress: each local save stops it for {stop} and the next begins after {interval}.",
            stop=brief(local.blocking_s, SECONDS), interval=brief(local.interval_s, SECONDS),
        )  # fmt: skip
        return
    if local.interval_s * _ROUNDING < local.durable_after_s:
        yield finding(
            "error", "local.interval_s",
            "A local save takes {save} and the next begins after {interval}: leave at least {save} between them.",
            save=brief(local.durable_after_s, SECONDS), interval=brief(local.interval_s, SECONDS),
        )  # fmt: skip
    yield from _check_given_interval(plan, levels)
    yield from _check_gain(plan, levels)


def _check_given_interval(plan: Plan, levels: Levels) -> Iterator[Finding]:
    storage, schedule = plan.scenario.storage, plan.schedule
    if storage.interval_s is None or schedule is None or abs(schedule.interval_s / storage.interval_s - 1.0) < 0.01:
        return
    yield finding(
        "warning", "storage.interval_s",
        "{ratio} local saves of {local} make a shared save every {used}, not every {asked} as it was asked for.",
        ratio=grouped(levels.ratio), local=rough(levels.local.interval_s, SECONDS), used=rough(schedule.interval_s, SECONDS),
        asked=rough(storage.interval_s, SECONDS),
    )  # fmt: skip


def _check_gain(plan: Plan, levels: Levels) -> Iterator[Finding]:
    """Whether the local level brings anything against shared saves alone."""
    own, alone = levels.waste_fraction, levels.single_level_fraction
    if levels.local.mtbi_s is None and any(row.share for row in plan.scenario.restart.classes):
        yield finding(
            "warning", "local.enabled",
            "No restart class goes back to a save on the nodes (local drives or a replica), so local saves bring nothing here; "
            "Survive shows what is left on the nodes, whatever the classes say.",
        )  # fmt: skip
    elif levels.local.mtbi_s is None:
        yield finding(
            "warning",
            "local.enabled",
            "Nothing restarts from local checkpoints: every interruption is one that they do not survive.",
        )
    elif own is not None and alone is not None and own >= alone and plan.scenario.failures.has_memory:
        yield finding(
            "warning", "local.enabled",
            "Local saves bring nothing here: with memoryless interruptions {own} of the time is lost with them, {alone} "
            "without.",
            own=percent(own), alone=percent(alone),
        )  # fmt: skip
    elif own is not None and alone is not None and own >= alone:
        yield finding(
            "warning", "local.enabled",
            "Local saves bring nothing here: {own} of the time is lost with them, {alone} without.",
            own=percent(own), alone=percent(alone),
        )  # fmt: skip
    if not has_copies(plan.scenario) and plan.scenario.failures.node_share and not plan.scenario.restart.classes:
        yield finding(
            "info", "replication.factor",
            "Without copies on other nodes a lost node ({share} of interruptions) goes back to shared storage.",
            share=brief(plan.scenario.failures.node_share, FRACTION),
        )  # fmt: skip
