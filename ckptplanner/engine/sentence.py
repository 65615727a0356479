"""The plan in one sentence: what the headline, the command line and the first line of the report say."""

from __future__ import annotations

from ckptplanner.engine.plan import Levels, Option, Plan, Schedule
from ckptplanner.text import Text, text
from ckptplanner.units import BYTES_PER_S, SECONDS, brief, grouped, percent, rough


def sentence(plan: Plan) -> Text:
    """Say what to do and what it brings; where the plan does not work, say so first."""
    errors = [finding for finding in plan.findings if finding.severity == "error"]
    if errors:
        return text("This plan does not work yet. {reason}", reason=errors[0].text)
    schedule = plan.schedule
    assert schedule is not None  # a plan without a schedule has an error
    if plan.waits:
        return _waiting(plan, schedule)
    if plan.levels is not None:
        return _two_levels(plan.levels)
    values = {
        "interval_s": rough(schedule.period_s, SECONDS),
        "blocking_s": rough(schedule.blocking_s, SECONDS),
        "durable_after_s": rough(schedule.durable_after_s, SECONDS),
    }
    short = _short_notice(plan)
    if schedule.mode == "sync":
        del values["durable_after_s"]
        if short:
            return text(
                "Save every {interval_s}; each save stops training for {blocking_s} and can be restored as soon as it ends. "
                "{notice} of notice is too short for a last save ({writes_in_s}): each planned stop loses {rework}.",
                **values, **short,
            )  # fmt: skip
        return text(
            "Save every {interval_s}; each save stops training for {blocking_s} and can be restored as soon as it ends.",
            **values,
        )
    if short:
        return text(
            "Save every {interval_s}; each save stops training for {blocking_s} and can be restored after {durable_after_s}. "
            "{notice} of notice is too short for a last save ({writes_in_s}): each planned stop loses {rework}.",
            **values, **short,
        )  # fmt: skip
    return text(
        "Save every {interval_s}; each save stops training for {blocking_s} and can be restored after {durable_after_s}.",
        **values,
    )


def _two_levels(levels: Levels) -> Text:
    """What to do where local saves come between the shared ones."""
    local, shared = levels.local, levels.shared
    values = {
        "interval_s": rough(shared.interval_s, SECONDS),
        "local_durable_after_s": rough(local.durable_after_s, SECONDS),
        "durable_after_s": rough(shared.durable_after_s, SECONDS),
    }
    if levels.ratio == 1:
        return text(
            "Save every {interval_s} to the nodes' drives and to shared storage, which stops training for {both_stops_s} "
            "in all. Restorable after {local_durable_after_s} from the drives, after {durable_after_s} from shared storage.",
            **values, both_stops_s=rough(local.blocking_s + shared.blocking_s, SECONDS),
        )  # fmt: skip
    return text(
        "Save every {local_interval_s} to the nodes' drives ({local_blocking_s} stop); one in {ratio} of these saves, every "
        "{interval_s}, goes to shared storage too ({blocking_s} more). Restorable after {local_durable_after_s} from the "
        "drives, after {durable_after_s} from shared storage.",
        **values, local_interval_s=rough(local.interval_s, SECONDS), local_blocking_s=rough(local.blocking_s, SECONDS),
        ratio=grouped(levels.ratio), blocking_s=rough(shared.blocking_s, SECONDS),
    )  # fmt: skip


def _short_notice(plan: Plan) -> dict[str, str | Text]:
    """What is to be said where planned stops come too soon after their notice for a last save; else nothing."""
    notice_s, beyond = plan.scenario.planned.notice_s, plan.beyond
    if notice_s is None or beyond is None or beyond.planned_rework_s is None or beyond.final_save_s is None:
        return {}
    if beyond.planned_rework_s == beyond.final_save_s:
        return {}
    return {
        "notice": text("{time}", time=rough(notice_s, SECONDS)),
        "writes_in_s": rough(beyond.final_save_s, SECONDS),
        "rework": text("{time}", time=rough(beyond.planned_rework_s, SECONDS)),
    }


def _waiting(plan: Plan, schedule: Schedule) -> Text:
    """What happens when the next save is due before the last one is written."""
    waste = plan.waste.chosen_fraction if plan.waste else None
    values: dict[str, str | Text] = {
        "asked": text("{time}", time=rough(schedule.interval_s, SECONDS)),
        "period_s": rough(schedule.period_s, SECONDS),
        "waste_fraction": "–" if waste is None else percent(waste),
        "durable_after_s": rough(schedule.durable_after_s, SECONDS),
    }
    if plan.levels is not None:
        return text(
            "A shared save every {asked} makes training wait for the write: one begins every {period_s}, and "
            "{waste_fraction} of the time is lost. Leave at least {durable_after_s} between shared saves.",
            **values,
        )
    return text(
        "Saving every {asked} makes training wait for the write: a save begins every {period_s}, and {waste_fraction} of "
        "the time is lost. Leave at least {durable_after_s} between saves.",
        **values,
    )


def option_name(option: Option) -> Text:
    """A file system as one says it: 500 MB/s/TiB × 12,000 GiB, with EFA where it has it."""
    if option.throughput_mb_per_s_per_tib is None:
        return text("the storage we have, {rate}", rate=brief(option.baseline_bytes_per_s, BYTES_PER_S))
    throughput, size = grouped(option.throughput_mb_per_s_per_tib), grouped(option.capacity_gib)
    if option.efa:
        return text("{throughput} MB/s/TiB × {size} GiB, EFA", throughput=throughput, size=size)
    return text("{throughput} MB/s/TiB × {size} GiB", throughput=throughput, size=size)
