"""The figures beyond the articles: planned stops, restart classes, other saves, spares, zones, copies, the node."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ckptplanner.engine.cards import network_fraction
from ckptplanner.engine.derivation import formulas, sources
from ckptplanner.engine.derivation import formulas_beyond as templates
from ckptplanner.engine.derivation.case import (
    Case,
    Reader,
    dollars,
    finite,
    of_beyond,
    of_ram,
    of_replication,
    of_schedule,
    of_waste,
)
from ckptplanner.engine.derivation.recipe import Figure, Recipe
from ckptplanner.engine.job import mean_wait_s
from ckptplanner.engine.replication import loss_probability
from ckptplanner.text import text
from ckptplanner.units import BYTES, COUNT, FRACTION, NBSP, USD, Unit

BEYOND_UNITS: Mapping[str, Unit] = {
    "other_usd": USD, "other_saves_bytes": BYTES, "s3_bytes": BYTES, "zone_bytes_per_month": BYTES, "jobs_writing": COUNT,
    **dict.fromkeys(
        (
            "planned_fraction", "total_fraction", "other_stops_fraction", "no_spare_fraction", "node_loss_fraction",
            "replica_after_first", "replica_loss", "host_ram", "network_fraction",
        ),
        FRACTION,
    ),
}  # fmt: skip
_ASK_COPIES = (
    "replication.factor", "replication.jump", "replication.rebuild_s", "replication.node_loss_interval_s",
)  # fmt: skip
_ASK_TIME = ("failures.mtbi_s", "storage.blocking_s", "storage.write_s", "workload.nodes")
_ASK_CLASSES = ("restart.classes", "failures.restart_base_s", "failures.mtbi_s")


def _where(condition: Callable[[Case], bool], read: Reader) -> Reader:
    """The reader where the condition holds; not known elsewhere."""
    return lambda case: finite(read(case)) if condition(case) else None


def _seconds(phase: str) -> Reader:
    def read(case: Case) -> float | None:
        found = case.phase(phase)
        return None if found is None else found.seconds

    return read


def _rollback_restart_s(case: Case) -> float | None:
    read, base = of_schedule("restore_read_s")(case), case.job.ways.rollback
    return None if read is None else base.base_s + base.reads_shared * read


def _pause_s(case: Case) -> float | None:
    read, pause = of_schedule("restore_read_s")(case), case.job.ways.pause
    if read is None or pause is None:
        return None
    restart_s = pause.base_s + pause.reads_shared * read
    return pause.share * (restart_s + case.scenario.workload.step_s + case.job.downtime_s)


def _node_loss(case: Case) -> float:
    inputs = case.scenario.replication
    return loss_probability(inputs.rebuild_s, inputs.node_loss_interval_s)


BEYOND_FIGURES: Mapping[str, Figure] = {
    "planned_fraction": Figure(
        text("Planned stops"), "η_p",
        _where(lambda case: case.scenario.planned.every_s is not None, of_waste("planned_fraction")),
        (
            Recipe(
                templates.planned,
                text("Stops that are rare against the interval. Within its notice the last save loses its own time only."),
                sources.PLANNED, also=("planned.notice_s",),
            ),
        ),
        ("planned.every_s", "planned.notice_s", "planned.queue_s", "failures.restart_base_s"),
        ("planned", "system", "progress"),
    ),
    "total_fraction": Figure(
        text("Waste with planned stops"), "η_a", of_waste("total_fraction"),
        (Recipe(templates.total_waste, text("Each counted of all the time; never above 100 %."), sources.PLANNED),),
        ("planned.every_s", *_ASK_TIME), ("system", "progress", "first_order_chosen"),
    ),
    "other_stops_fraction": Figure(
        text("Stopped by other saves"), "q",
        _where(lambda case: bool(case.scenario.saves), lambda case: case.job.row_stop_fraction),
        (Recipe(templates.other_stops, text("Each kind of save for itself, beside the resumable one."), sources.OTHER_SAVES),),
        ("saves", "run.days"), ("saves",),
    ),
    "rollback_mtbi_s": Figure(
        text("Goes back to a save every"), "M_s",
        _where(lambda case: bool(case.scenario.restart.classes), lambda case: case.job.rollback_mtbi_s),
        (Recipe("{M} / {w_m}", text("The share of the restart classes that lose what was trained."), sources.CLASSES),),
        ("restart.classes", "failures.mtbi_s", "workload.nodes"), ("classes",),
    ),
    "rollback_restart_s": Figure(
        text("Restart from a save"), "R_s", _where(lambda case: case.pauses, _rollback_restart_s),
        (Recipe(formulas.rollback_restart, text("The classes that go back to a save, by their shares."), sources.CLASSES),),
        _ASK_CLASSES, ("pauses", "system"),
    ),
    "pause_s": Figure(
        text("Pauses, by interruption"), "H", _where(lambda case: case.pauses, _pause_s),
        (Recipe(formulas.pause, text("The classes that lose a step; no pause is interrupted."), sources.CLASSES),),
        (*_ASK_CLASSES, "workload.step_s"), ("pauses", "system"),
    ),
    "mean_wait_s": Figure(
        text("Mean wait for a spare"), "t_sp",
        _where(lambda case: bool(case.scenario.spares.wait_s), lambda case: mean_wait_s(case.scenario, case.job.mtbi_s)),
        (
            Recipe(
                templates.mean_wait, text("Only interruptions that take a node along wait, and only where no spare is left."),
                sources.SPARES,
            ),
        ),
        ("spares.nodes", "spares.wait_s", "replication.node_loss_interval_s"), ("wait",),
    ),
    "no_spare_fraction": Figure(
        text("No spare is left"), "P_0", of_beyond("no_spare_probability"),
        (Recipe(templates.no_spare, text("Losses are independent: spares on their way back are Poisson."), sources.SPARES),),
        ("spares.nodes", "spares.wait_s", "replication.node_loss_interval_s"), ("spares", "system"),
    ),
    "jobs_writing": Figure(
        text("Jobs that write at once"), "n_w",
        _where(lambda case: case.scenario.shared.jobs > 1, of_beyond("jobs_writing")),
        (
            Recipe(
                f"max(1, binom({{jobs}}, {{duty}}, 95{NBSP}%))",
                text("No more than these in 95 % of the time; equal jobs that are not in step: binomial."), sources.NEIGHBOURS,
            ),
        ),
        ("shared.jobs", "storage.write_s", "failures.mtbi_s"), ("jobs", "system"),
    ),
    "other_saves_bytes": Figure(
        text("Other saves on the file system"), "S_o",
        _where(
            lambda case: bool(case.saves_to("shared")),
            lambda case: case.job.held_bytes
            - case.scenario.storage.generations_kept * case.job.checkpoint_bytes * case.scenario.shared.jobs,
        ),
        (Recipe(templates.other_saves, text("At the end of the run, or what is kept of them."), sources.OTHER_SAVES),),
        ("saves", "run.days", "workload.layout"), ("saves",),
    ),
    "s3_bytes": Figure(
        text("In S3 at the end"), "S_3", _where(lambda case: bool(case.saves_to("s3")), of_beyond("s3_bytes")),
        (Recipe(templates.s3, text("All that is kept by the end of the run."), sources.OTHER_SAVES),),
        ("saves", "run.days", "workload.layout"), ("saves", "system"),
    ),
    "zone_bytes_per_month": Figure(
        text("Across zones a month"), "Z",
        _where(lambda case: not case.scenario.network.same_zone, of_beyond("zone_bytes_per_month")),
        (Recipe(templates.zone_bytes, text("Saves written and checkpoints read; a month is 730 h."), sources.ZONES),),
        ("network.same_zone", "storage.write_s", "workload.layout"), ("zones", "system"),
    ),
    "other_usd": Figure(
        text("S3, spares and zones"), "K_o", _where(templates.has_other_usd, dollars("other_usd_per_year")),
        (
            Recipe(
                templates.other_usd, text("S3 fills up over the run: half of its end on average. Spares are paid all year."),
                sources.OTHER_COSTS,
            ),
        ),
        ("saves", "spares.nodes", "network.same_zone", "prices.s3_usd_per_gb_month", "run.days"),
        ("system", "others_cost", "other_price"),
    ),
    "node_loss_fraction": Figure(
        text("A node is lost meanwhile"), "p", _node_loss,
        (Recipe("1 − e^(−{window} / {M_n})", text("Losses at a constant rate, one node for itself."), sources.COPIES),),
        ("replication.rebuild_s", "replication.node_loss_interval_s"), (),
    ),
    "replica_after_first": Figure(
        text("Lost after a first loss"), "P_1", of_replication("loss_probability_after_first"),
        (
            Recipe(
                "1", text("One copy: a lost node takes its shards along."), sources.COPIES,
                lambda case: case.scenario.replication.factor == 1, also=("replication.factor",),
            ),
            Recipe(
                templates.replica_after_first,
                text("All other members of the group within the window. Independent losses: no rack, no power feed."),
                sources.COPIES, also=("replication.factor", "replication.jump"),
            ),
        ),
        _ASK_COPIES, ("groups",),
    ),
    "replica_loss": Figure(
        text("A group is lost in the run"), "P", of_replication("run_loss_probability"),
        (
            Recipe(
                templates.replica_loss,
                text("Node by node, and with the racks that hold whole groups; the whole cluster is not counted."),
                sources.COPIES, also=("replication.factor",),
            ),
        ),
        (*_ASK_COPIES, "replication.rack_loss_interval_s", "run.days"), ("groups",),
    ),
    "host_ram": Figure(
        text("Host RAM"), "u_r", of_ram("fill_ratio"),
        (Recipe(templates.host_ram, text("The most loaded node at its fullest; above 100 % it does not fit."), sources.RAM),),
        ("memory.ram_bytes", "memory.staging", "memory.writes_in_flight", "workload.nodes", "workload.layout"), ("ram",),
    ),
    "network_fraction": Figure(
        text("Network of a node"), "u_n", lambda case: network_fraction(case.plan),
        (
            Recipe(
                templates.network, text("The lowest of a node's own ceilings on the way to storage, over the write time."),
                sources.PATH,
            ),
        ),
        ("storage.write_s", "workload.nodes", "workload.layout", "workload.writer"), ("system", "network"),
    ),
    "snapshot_s": Figure(
        text("Snapshot at best"), "t_h", _seconds("snapshot"),
        (
            Recipe(
                lambda case: f"{templates.node_share(case)} / {{c_h}}",
                text("What the links allow; real copies allocate, serialise and take longer."), sources.PATH,
            ),
        ),
        ("workload.nodes", "workload.layout", "datapath.pinned"), ("snapshot",),
    ),
    "shared_write_at_best_s": Figure(
        text("Shared write at best"), "t_b", _seconds("shared_write"),
        (Recipe(templates.shared_write, text("At the lowest known ceiling of its way."), sources.PATH),),
        ("storage.write_s", "workload.nodes", "workload.layout"), ("shared_write",),
    ),
}  # fmt: skip
