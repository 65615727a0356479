"""The tables under the plots that are typed by hand: the save schedule and the restart classes, with what follows from them."""

from __future__ import annotations

from ckptplanner.engine.operations import RestartClass, SaveRow
from ckptplanner.engine.plan import Plan
from ckptplanner.engine.restarts import row_restart_s
from ckptplanner.frozen import Frozen
from ckptplanner.ui.theme import Theme
from ckptplanner.ui.widgets.rows_table import Column, RowsTable
from ckptplanner.ui.words import say
from ckptplanner.units import BYTES, COUNT, FRACTION, SECONDS, UNKNOWN, USD, brief, grouped


def schedule_table() -> RowsTable:
    """The saves beside the resumable one."""
    kinds = (
        ("permanent", say("permanent")), ("evaluation", say("evaluation")), ("export", say("export")), ("final", say("final")),
    )  # fmt: skip
    return RowsTable(
        "saves",
        (
            Column("kind", say("Kind"), choices=kinds),
            Column("every_s", say("Every"), SECONDS, none=say("once, at the end")),
            Column("bytes", say("Size"), BYTES, none=say("whole checkpoint")),
            Column("writer", say("Written by"), choices=(("sharded", say("all nodes")), ("single", say("one")))),
            Column("to", say("Goes to"), choices=(("s3", say("S3")), ("shared", say("file system")))),
            Column("keep", say("Kept"), COUNT, none=say("all")),
            Column("stop_s", say("Stops training"), SECONDS),
        ),
        (say("Writes in"), say("Share of time"), say("In the run"), say("Held at the end"), say("S3 a month, at the end")),
        lambda _: SaveRow(),
        say(
            "Only the resumable save is planned. Add permanent ones, exports or saves for evaluation to see what they stop, "
            "what they ask of the file system and what piles up in S3."
        ),
    )


def show_schedule(table: RowsTable, plan: Plan, theme: Theme) -> None:
    """Show the rows of a plan with what follows from them."""
    rows = plan.beyond.saves if plan.beyond else ()
    follow = [
        (
            UNKNOWN if row.writes_in_s is None else brief(row.writes_in_s, SECONDS),
            brief(row.stop_fraction, FRACTION, 2) if row.stop_fraction else "0",
            grouped(row.count_in_run),
            brief(row.held_bytes, BYTES),
            "" if row.to != "s3" else UNKNOWN if row.usd_per_month is None else brief(row.usd_per_month, USD),
        )
        for row in rows
    ]
    table.show_rows(plan.scenario.saves, follow, theme)


def classes_table() -> RowsTable:
    """The ways in which interruptions end."""
    places = (
        ("shared", say("file system")), ("replica", say("a replica")), ("local", say("local drives")),
        ("peer", say("a peer's GPUs")),
    )  # fmt: skip
    return RowsTable(
        "restart.classes",
        (
            Column("share", say("Share"), FRACTION),
            Column("detect_s", say("Detect"), SECONDS),
            Column("reschedule_s", say("Reschedule"), SECONDS),
            Column("start_s", say("Start"), SECONDS),
            Column("reads_from", say("Reads from"), choices=places),
            Column("rework", say("Loses"), choices=(("save", say("since a save")), ("step", say("a step")))),
        ),
        (say("Runs again after"), say("Work lost, mean")),
        _rest,
        say(
            "Without rows all interruptions end with the parts in the Failures panel; with local saves its shares say how many "
            "restart from the drives. Rows take the place of both. Add them where some restart faster: from copies, from "
            "data-parallel peers, without a new node."
        ),
    )


def _rest(rows: tuple[Frozen, ...]) -> RestartClass:
    """A new row takes the share that is left."""
    taken = sum(row.share for row in rows if isinstance(row, RestartClass))
    return RestartClass(share=max(1.0 - taken, 0.0))


def show_classes(table: RowsTable, plan: Plan, theme: Theme) -> None:
    """Show the rows of a plan with their restart time and rework."""
    schedule, scenario = plan.schedule, plan.scenario
    follow = []
    for row in scenario.restart.classes:
        if schedule is None:
            follow.append((UNKNOWN, UNKNOWN))
            continue
        lost = scenario.workload.step_s
        if row.rework == "save":
            lost = schedule.period_s / 2.0 + schedule.durable_after_s
            if plan.levels is not None and row.reads_from != "shared":
                lost = plan.levels.local.interval_s / 2.0 + plan.levels.local.durable_after_s
        follow.append((brief(row_restart_s(row, plan, schedule), SECONDS), brief(lost, SECONDS)))
    table.show_rows(scenario.restart.classes, follow, theme)
