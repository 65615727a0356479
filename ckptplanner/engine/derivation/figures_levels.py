"""The figures of two levels: what goes back where, how often to save to each, and the recipes that take the place of others.

The same figures as with one level (interval, waste, restart, rework) have recipes of their own here; figures.py puts them
first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ckptplanner.engine.derivation import formulas, sources
from ckptplanner.engine.derivation import formulas_levels as templates
from ckptplanner.engine.derivation.case import Case, Reader, finite, of_levels, of_local, of_schedule, of_shared
from ckptplanner.engine.derivation.nested import local_best_interval_s, of_nested
from ckptplanner.engine.derivation.recipe import Figure, Recipe, is_one_of
from ckptplanner.engine.replicas import group_loss_rate_per_s
from ckptplanner.text import text
from ckptplanner.units import COUNT, FRACTION, Unit

LEVEL_UNITS: Mapping[str, Unit] = {
    "ratio": COUNT,
    **dict.fromkeys(("local_share", "shared_share", "group_loss_share", "local_goodput_fraction"), FRACTION),
}
_ASK_SHARES = ("failures.process_share", "replication.factor", "restart.classes")
_ASK_RATES = ("failures.mtbi_s", *_ASK_SHARES, "workload.nodes")
_ASK_INTERVALS = ("local.blocking_s", "local.interval_s", "local.ratio", "failures.mtbi_s", "storage.write_s")
_ASK_NESTED = ("failures.mtbi_s", "failures.process_share", "local.ratio", "local.uploads", "storage.write_s")
_CHOICES = ("storage.interval_s", "local.interval_s", "local.ratio")


def _levels(case: Case) -> bool:
    return case.has_levels


def _where(condition: Callable[[Case], bool], read: Reader) -> Reader:
    return lambda case: finite(read(case)) if condition(case) else None


def _of_rates(name: str) -> Reader:
    return lambda case: None if case.rates is None else finite(getattr(case.rates, name))


def _group_losses(case: Case) -> float | None:
    return None if case.rates is None or group_loss_rate_per_s(case.scenario) is None else case.rates.group_losses


def _is_least_interval(case: Case) -> bool:
    """Whether the best shared interval is no more than its stop and a step."""
    best, lost = of_schedule("best_interval_s")(case), of_schedule("lost_per_save_s")(case)
    return case.has_levels and best is not None and lost is not None and best <= lost + case.scenario.workload.step_s


def _both_stops_s(case: Case) -> float | None:
    own, shared = of_local("blocking_s")(case), of_shared("blocking_s")(case)
    return None if own is None or shared is None else own + shared


def _solves(case: Case) -> bool:
    return templates.local_best(case)[1]


INTERVAL = Recipe(
    templates.interval, text("n local intervals, and the stop of the save that goes to shared storage too."), sources.CHOICE,
    _levels, also=_CHOICES,
)  # fmt: skip
LEAST_INTERVAL = Recipe(
    "{C_3} + {s}", text("No shorter than a shared save and a step."), sources.CHOICE, _is_least_interval,
    also=("storage.interval_model",),
)  # fmt: skip
MEAN_REWORK = Recipe(
    templates.mean_rework,
    text("Each level by its share of the interruptions; they are equally likely at any time. Killed uploads are not counted."),
    sources.LEVEL_RATES, _levels,
)  # fmt: skip
RESTART = Recipe(
    templates.restart, text("Both levels by their shares of the interruptions."), sources.LEVEL_RATES, _levels,
    also=("restart.classes",),
)  # fmt: skip
FIRST_ORDER = Recipe(
    templates.first_order,
    text("Stops much below the intervals, both much below the time between interruptions. Killed uploads are not counted."),
    sources.LEVELS_FIRST_ORDER, _levels,
)  # fmt: skip
EXACT = Recipe(
    templates.exact_waste,
    text("Exponential interruptions, also during saves and restarts; a shared write ends before the next begins."),
    sources.NESTED, _levels, also=("storage.waste_model", "local.uploads"),
)  # fmt: skip

LEVEL_FIGURES: Mapping[str, Figure] = {
    "local_interval_s": Figure(
        text("Save locally every"), "T_1", of_local("interval_s"),
        (
            Recipe(
                templates.local_interval, text("As it was given, from one step to the whole run."), sources.GIVEN,
                lambda case: case.scenario.local.interval_s is not None,
            ),
            Recipe(
                templates.local_interval, text("What the interval asked for leaves to each of n local saves."),
                sources.CHOICE, lambda case: case.scenario.storage.interval_s is not None, also=("local.ratio",),
            ),
            Recipe(
                templates.local_interval,
                text("The best interval of the local level alone, never shorter than a local save takes."), sources.CHOICE,
            ),
        ),
        _ASK_INTERVALS, ("levels", "system"),
    ),
    "local_blocking_s": Figure(
        text("Stop of a local save"), "C_1", of_local("blocking_s"),
        (Recipe("{C_1}", text("Until the state is copied; with copies that training waits for, those too."), sources.GIVEN),),
        ("local.blocking_s",), ("levels", "system"),
    ),
    "local_durable_after_s": Figure(
        text("Restorable from the drives after"), "t_near", of_local("durable_after_s"),
        (
            Recipe(
                templates.LOCAL_SAVE, text("Counted from the start of the local save, its copies on other nodes included."),
                sources.DEFINITION,
            ),
        ),
        ("local.durable_s", "local.blocking_s"), ("levels", "system"),
    ),
    "both_stops_s": Figure(
        text("Stop of both saves"), "C_all", _both_stops_s,
        (Recipe("{C_1} + {C}", text("One after the other, where each local save goes to shared storage too."),
                sources.DEFINITION),),
        ("local.blocking_s", "storage.blocking_s"), ("levels", "system"),
    ),
    "local_best_interval_s": Figure(
        text("Best local interval"), "T_1*", local_best_interval_s,
        (
            Recipe(
                lambda case: templates.local_best(case)[0],
                text("Exponential interruptions, those that restart locally alone."), sources.CHOICE, _solves, "solves",
                ("storage.interval_model",),
            ),
            Recipe(
                lambda case: templates.local_best(case)[0],
                text("A stop that costs nothing: save as often as the write allows."), sources.DEFINITION,
                lambda case: not case.scenario.local.blocking_s,
            ),
            Recipe(
                lambda case: templates.local_best(case)[0], text("A series; for C_1 below 2 M_1."), sources.DALY,
                is_one_of("storage.interval_model", "daly"), also=("storage.interval_model",),
            ),
            Recipe(
                lambda case: templates.local_best(case)[0], text("C_1 much below T_1 and T_1 much below M_1."), sources.YOUNG,
                also=("storage.interval_model",),
            ),
        ),
        _ASK_INTERVALS, ("levels", "near"),
    ),
    "ratio": Figure(
        text("Local saves to a shared one"), "n", of_levels("ratio"),
        (
            Recipe(
                templates.ratio, text("As it was given."), sources.GIVEN, lambda case: case.scenario.local.ratio is not None,
            ),
            Recipe(
                templates.ratio, text("As many local intervals as come closest to the interval asked for."), sources.CHOICE,
                lambda case: case.scenario.storage.interval_s is not None, also=("storage.interval_s",),
            ),
            Recipe(
                templates.ratio,
                text("Of the two whole numbers around it the one that wastes less by the exact model; a shared write ends "
                     "before the next begins, and one fits into the run."),
                sources.CHOICE,
            ),
        ),
        _ASK_INTERVALS, ("levels", "system"),
    ),
    "local_share": Figure(
        text("Restart locally"), "a_1", _of_rates("local_share"),
        (
            Recipe(
                templates.local_share, text("The restart classes that go back to a save and read from near."),
                sources.LEVEL_RATES, lambda case: bool(case.classes), also=("restart.classes",),
            ),
            Recipe(
                templates.local_share,
                text("Assumed shares. A lost node restarts locally where its shards have copies on others."),
                sources.LEVEL_RATES, also=("replication.factor",),
            ),
        ),
        _ASK_SHARES, ("levels",),
    ),
    "shared_share": Figure(
        text("Go back to shared storage"), "a_3", _of_rates("shared_share"),
        (Recipe(templates.shared_share, text("The rest of those that go back to a save."), sources.LEVEL_RATES),),
        _ASK_SHARES, ("levels",),
    ),
    "group_loss_share": Figure(
        text("Lose every copy of a shard"), "a_g", _group_losses,
        (
            Recipe(
                templates.group_loss_share,
                text("Counted among the lost nodes: it moves that share from the local level to the shared one."),
                sources.LEVEL_RATES, also=("replication.factor",),
            ),
        ),
        ("replication.factor", "replication.rebuild_s", "replication.node_loss_interval_s", "failures.mtbi_s"),
        ("levels", "copies", "groups"),
    ),
    "local_mtbi_s": Figure(
        text("Restarts locally every"), "M_1", _of_rates("local_mtbi_s"),
        (Recipe("{M} / {a_1}", text("Interruptions of this kind come at a constant rate."), sources.LEVEL_RATES),),
        _ASK_RATES, ("levels", "near"),
    ),
    "shared_mtbi_s": Figure(
        text("Goes back to shared storage every"), "M_3", _of_rates("shared_mtbi_s"),
        (Recipe(templates.shared_mtbi, text("Interruptions of this kind come at a constant rate."), sources.LEVEL_RATES),),
        _ASK_RATES, ("levels",),
    ),
    "local_restart_s": Figure(
        text("Local restart"), "R_1", _where(templates.is_near, of_local("restart_s")),
        (
            Recipe(
                templates.local_restart, text("The classes that read from near, by their shares."), sources.CLASSES,
                lambda case: bool(case.classes), also=("restart.classes",),
            ),
            Recipe(templates.local_restart, text("Detection, start and the read from local drives together."), sources.GIVEN),
        ),
        ("local.restart_s", "restart.classes"), ("levels", "near"),
    ),
    "shared_restart_s": Figure(
        text("Restart from shared storage"), "R_3", of_shared("restart_s"),
        (
            Recipe(
                templates.shared_restart, text("The classes that read shared storage, by their shares."), sources.CLASSES,
                lambda case: bool(case.classes), also=("restart.classes",),
            ),
            Recipe(
                templates.shared_restart, text("The parts follow one another; none of them is interrupted."), sources.RESTART,
            ),
        ),
        ("failures.restart_base_s", "storage.read_efficiency", "restore.copies"), ("levels", "system"),
    ),
    "shared_stop_s": Figure(
        text("Lost by a shared save"), "C_3", _where(_levels, of_schedule("lost_per_save_s")),
        (
            Recipe(
                formulas.save_cost, text("The stop, and what training loses while the save is written."), sources.DEFINITION,
            ),
        ),
        ("storage.blocking_s", "storage.background_loss_s", "storage.slowdown_fraction"), ("levels", "system"),
    ),
    "local_goodput_fraction": Figure(
        text("Goodput of the local level"), "g_1", of_nested("goodput"),
        (
            Recipe(
                templates.local_goodput, text("Exponential interruptions; stops of shared saves count as their mean."),
                sources.NESTED,
            ),
        ),
        _ASK_NESTED, ("levels", "system", "progress"), in_points=True,
    ),
    "pace_s": Figure(
        text("A shared save really every"), "P_3", of_nested("pace_s"),
        (Recipe(templates.pace, text("With the local restarts on the way."), sources.NESTED),),
        _ASK_NESTED, ("levels", "system", "progress"),
    ),
    "upload_lag_s": Figure(
        text("Restorable after the stop, killed uploads counted"), "t_3'", of_nested("lag_s"),
        (
            Recipe(
                templates.upload_lag, text("Each upload that a local restart kills is made up by the next shared save."),
                sources.NESTED, lambda case: case.scenario.local.uploads == "die", also=("local.uploads",),
            ),
            Recipe(
                templates.upload_lag, text("The upload goes on when the trainer is restarted."), sources.NESTED,
                also=("local.uploads",),
            ),
        ),
        _ASK_NESTED, ("levels", "system", "progress"),
    ),
}  # fmt: skip
