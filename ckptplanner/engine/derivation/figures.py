"""The figures that one can ask about: their words and symbols, where they stand, and the recipes that they are made by."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from ckptplanner.engine.cards import quota_fraction
from ckptplanner.engine.derivation import figures_laws as laws
from ckptplanner.engine.derivation import figures_levels as levels
from ckptplanner.engine.derivation import formulas, sources
from ckptplanner.engine.derivation import formulas_beyond as templates
from ckptplanner.engine.derivation.case import (
    Case,
    dollars,
    finite,
    of_beyond,
    of_chosen,
    of_schedule,
    of_size,
    of_storage,
    of_waste,
)
from ckptplanner.engine.derivation.figures_beyond import BEYOND_FIGURES, BEYOND_UNITS
from ckptplanner.engine.derivation.recipe import Figure, Recipe, is_one_of
from ckptplanner.engine.derivation.writing import shown
from ckptplanner.text import Text, text
from ckptplanner.units import BYTES, BYTES_PER_S, COUNT, FRACTION, GIBS, NBSP, SECONDS, TIER, USD, Unit, brief


def _by_basis(month: Text, run: Text, year: Text) -> Callable[[Case], Text]:
    return lambda case: {"month": month, "run": run, "year": year}[case.basis]


def _goodput(case: Case) -> float | None:
    waste = of_waste("total_fraction")(case)
    return None if waste is None else 1.0 - waste


_NEXT_SAVE = is_one_of("storage.published", "next_save")
_MONEY_FIGURES = ("total_usd", "storage_usd", "lost_gpu_usd", "storage_usd_per_month")
_UNITS: Mapping[str, Unit] = {
    **dict.fromkeys(_MONEY_FIGURES, USD), "interval_steps": COUNT, "capacity_gib": GIBS,
    "checkpoint_bytes": BYTES, "bytes_per_node": BYTES,
    "throughput_mb_per_s_per_tib": TIER, "baseline_bytes_per_s": BYTES_PER_S, "required_write_bytes_per_s": BYTES_PER_S,
    **dict.fromkeys(
        ("next_best", "fill_fraction", "quota_fraction", "waste_fraction", "first_order_fraction", "goodput_fraction"), FRACTION
    ),
    **BEYOND_UNITS,
    **levels.LEVEL_UNITS,
    **laws.LAW_UNITS,
}  # fmt: skip
_ASK_TIME = ("failures.mtbi_s", "storage.blocking_s", "storage.write_s", "workload.nodes")
_ASK_SIZE = ("storage.write_s", "workload.layout", "workload.nodes")

_EXACT_RECIPE = Recipe(
    formulas.exact_waste, text("Exponential interruptions, also during saves and restarts; waiting writers are counted."),
    sources.DERIVED, also=("storage.waste_model",),
)  # fmt: skip
_FIRST_RECIPE = Recipe(formulas.first_order, sources.FIRST_ORDER_HOLDS, sources.YOUNG, also=("storage.waste_model",))
_IS_FIRST = is_one_of("storage.waste_model", "first_order")

FIGURES: Mapping[str, Figure] = {
    "total_usd": Figure(
        _by_basis(text("Total a month"), text("Total of the run"), text("Total a year")), "K", dollars("total_usd_per_year"),
        (Recipe(templates.total_usd, text("Counts storage and lost GPU time; not the GPUs that train."), sources.COSTS),),
        ("storage.write_s", "failures.mtbi_s", "prices.gpu_value_usd_per_h", "workload.layout"),
        ("system", "storage_price", "gpu_price", "progress", "first_order_chosen", "other_price"),
    ),
    "storage_usd": Figure(
        _by_basis(text("Storage a month"), text("Storage for the run"), text("Storage a year")), "K_s",
        dollars("storage_usd_per_year"),
        (Recipe(formulas.storage_usd, text("Provisioned capacity, used or not; a year is 12 months."), sources.price_source),),
        ("storage.write_s", "workload.layout", "prices.storage_usd_per_gib_month", "failures.mtbi_s"),
        ("system", "storage_price"),
    ),
    "lost_gpu_usd": Figure(
        _by_basis(text("Lost GPU time a month"), text("Lost GPU time of the run"), text("Lost GPU time a year")), "K_g",
        dollars("lost_gpu_usd_per_year"), (Recipe(formulas.lost_usd, sources.YEAR, sources.COSTS),),
        ("prices.gpu_value_usd_per_h", "failures.mtbi_s", "storage.blocking_s", "storage.write_s"),
        ("system", "gpu_price", "progress", "first_order_chosen"),
    ),
    "interval_s": Figure(
        text("Save every"), "T", of_schedule("interval_s"),
        (
            levels.INTERVAL,
            Recipe(
                formulas.interval, text("As it was asked for, from one step to the whole run."), sources.GIVEN,
                lambda case: case.scenario.storage.interval_s is not None,
            ),
            Recipe(
                formulas.interval, text("The best interval, never shorter than a save takes, from one step to the whole run."),
                sources.WAITING,
            ),
        ),
        _ASK_TIME,
    ),
    "period_s": Figure(
        text("A save begins every"), "P", of_schedule("period_s"),
        (
            Recipe(
                formulas.waited, text("The next save is due before the last one is written: it waits."), sources.WAITING,
                lambda case: case.waits, also=("storage.interval_s",),
            ),
            Recipe("{T}", text("The write ends before the next save is due."), sources.DEFINITION),
        ),
        ("storage.write_s", "storage.interval_s", "storage.blocking_s"),
    ),
    "interval_steps": Figure(
        text("Steps between saves"), "n", of_schedule("interval_steps"),
        (
            Recipe(
                "max(1, round({T} / {s}))", sources.ALWAYS, sources.STEPS,
                lambda case: not case.scenario.storage.whole_steps or case.has_levels,
            ),
            Recipe(formulas.whole_steps, text("The interval is rounded to whole steps."), sources.STEPS),
        ),
        ("workload.step_s", "failures.mtbi_s", "storage.blocking_s"),
    ),
    "blocking_s": Figure(
        text("Stop of one save"), "C", of_schedule("blocking_s"),
        (
            Recipe(
                "{t_w}", text("Synchronous saving: training waits for the whole write."), sources.DEFINITION,
                lambda case: case.is_sync, also=("storage.mode",),
            ),
            Recipe(
                "{C_given}", text("Asynchronous saving: until the state is copied to host memory."), sources.GIVEN,
                also=("storage.mode",),
            ),
        ),
        ("storage.blocking_s", "storage.write_s", "storage.mode"),
    ),
    "durable_after_s": Figure(
        text("Restorable after"), "t", of_schedule("durable_after_s"),
        (
            Recipe(
                formulas.period, text("The checkpoint counts only from the next save on."),
                sources.NEXT_SAVE, _NEXT_SAVE, also=("storage.published",),
            ),
            Recipe(
                formulas.save, text("Counted from the start of the save until it can be restored."), sources.DEFINITION,
                also=("storage.mode",),
            ),
        ),
        ("storage.write_s", "storage.blocking_s", "storage.published"),
    ),
    "worst_rework_s": Figure(
        text("Lost at worst"), "r_max", of_waste("worst_rework_s"),
        (
            Recipe(
                templates.worst_rework, text("An interruption just before the next checkpoint becomes restorable."),
                sources.FIRST_ORDER,
            ),
        ),
        ("storage.write_s", "storage.blocking_s", "failures.mtbi_s"),
    ),
    "mean_rework_s": Figure(
        text("Lost on average"), "r_mean", of_waste("mean_rework_s"),
        (
            levels.MEAN_REWORK,
            Recipe(
                formulas.mean_rework, text("Interruptions are equally likely at any time; a pause loses a step."),
                sources.CLASSES, lambda case: case.pauses, also=("restart.classes",),
            ),
            Recipe(formulas.mean_rework, text("Interruptions are equally likely at any time."), sources.FIRST_ORDER),
        ),
        ("storage.write_s", "storage.blocking_s", "failures.mtbi_s"),
    ),
    "restart_s": Figure(
        text("Restart time"), "R", of_schedule("restart_s"),
        (
            levels.RESTART,
            Recipe(
                formulas.restart, text("The restart classes by their shares; what is read from near is part of the class."),
                sources.CLASSES, lambda case: bool(case.classes), also=("restart.classes",),
            ),
            Recipe(
                formulas.restart,
                text("The parts follow one another; none of them is interrupted."), sources.RESTART,
            ),
        ),
        ("failures.restart_base_s", "storage.read_efficiency", "restore.copies", "storage.write_s"),
    ),
    "reach_s": Figure(
        text("One can go back"), "r_back", of_beyond("oldest_reach_s"),
        (
            Recipe(
                templates.reach, text("One of the k generations is being written; permanent saves reach further."),
                sources.OTHER_SAVES, lambda case: any(row.kind == "permanent" for row in case.scenario.saves), also=("saves",),
            ),
            Recipe(templates.reach, text("One of the k generations is being written."), sources.REACH),
        ),
        ("storage.generations_kept", "failures.mtbi_s", "storage.blocking_s"),
    ),
    "capacity_gib": Figure(
        text("Capacity to buy"), "c", of_chosen("capacity_gib"),
        (
            Recipe("{c_custom}", text("The space that this job may fill."), sources.GIVEN, lambda case: case.is_custom),
            Recipe(
                "{c_fixed}", text("The size as it was fixed; the findings say where the service would refuse it."),
                sources.GIVEN, lambda case: case.scenario.storage.tier != "auto", also=("storage.tier",),
            ),
            Recipe(
                formulas.capacity_needed, text("The least size that the service sells."), sources.aws,
                lambda case: case.tier is not None and case.tier.small_gib == of_chosen("capacity_gib")(case), relation="≤",
                also=("storage.tier", "storage.efa"),
            ),
            Recipe(
                lambda case: f"{{u}} · ⌈{formulas.capacity_needed(case)} / {{u}}⌉",
                text("The least size sold that holds the generations and sustains the rate; baseline, never burst."),
                sources.aws, also=("storage.tier", "storage.efa"),
            ),
        ),
        ("storage.write_s", "workload.layout", "storage.generations_kept", "workload.nodes"),
    ),
    "baseline_bytes_per_s": Figure(
        text("Sustained rate"), "B", of_chosen("baseline_bytes_per_s"),
        (
            Recipe(
                "{B_w}", text("What the storage that exists sustains for this job."), sources.GIVEN,
                lambda case: case.is_custom,
            ),
            Recipe(
                f"{{c}} / 1,000{NBSP}GiB · {{tau}}",
                text("The baseline, which lasts; the burst of small sizes is never counted."), sources.aws,
            ),
        ),
        ("storage.write_s", "workload.layout", "storage.generations_kept"),
    ),
    "throughput_mb_per_s_per_tib": Figure(
        text("Throughput of a TiB"), "τ", of_chosen("throughput_mb_per_s_per_tib"),
        (
            Recipe(
                f"1,000{NBSP}GiB · {{B}} / {{c}}",
                text("One of the throughputs on offer: the one whose least size costs least, or the one that was fixed."),
                sources.aws, also=("storage.tier", "storage.efa", "storage.choose_by"),
            ),
        ),
        ("storage.write_s", "workload.layout", "storage.generations_kept"), ("sold", "system"),
    ),
    "storage_usd_per_month": Figure(
        text("Storage a month"), "K_1", of_chosen("usd_per_month"),
        (
            Recipe("{p_m}", text("This job's share of the bill."), sources.GIVEN, lambda case: case.is_custom),
            Recipe("{c} · {p}", text("Provisioned capacity, used or not."), sources.price_source),
        ),
        ("storage.write_s", "workload.layout", "prices.storage_usd_per_gib_month"), ("system", "storage_price"),
    ),
    "next_best": Figure(
        text("Next best, above this one"), "Δ", of_storage("next_best_fraction"),
        (
            Recipe(
                "{K_2} / {K_m} − 1",
                text("Compares the storage bills alone; a slower one also restarts slower."), sources.price_source,
            ),
        ),
        ("storage.write_s", "workload.layout"), ("system", "storage_price", "other"), in_points=True,
    ),
    "fill_fraction": Figure(
        text("File system full"), "f_c", of_chosen("fill_ratio"),
        (Recipe(formulas.fill, text("All k generations, the one being written included."), sources.FILL),),
        ("storage.generations_kept", "workload.layout", "storage.write_s"),
    ),
    "quota_fraction": Figure(
        text("Share of the quota"), "q", lambda case: quota_fraction(case.plan),
        (
            Recipe(
                "{c} / {quota}", text("The default quota unless yours is given; counts this file system alone."), sources.aws,
            ),
        ),
        ("storage.write_s", "workload.layout", "storage.quota_gib"), ("fsx", "system"),
    ),
    "checkpoint_bytes": Figure(
        text("One checkpoint"), "S", of_size("checkpoint_bytes"),
        (
            Recipe(
                "{S_m}", text("Measured: it replaces parameters times bytes."), sources.GIVEN,
                lambda case: case.scenario.workload.measured_bytes is not None,
            ),
            Recipe(
                formulas.checkpoint,
                text("All parameters, never the active ones; scheduler and data-loader state are small and left out."),
                sources.SIZE,
            ),
        ),
        ("workload.layout", "workload.total_params", "workload.nodes"), (),
    ),
    "bytes_per_node": Figure(
        text("Written by one node"), "S_N", of_size("bytes_per_node"),
        (
            Recipe(
                "{S}", text("One node writes everything."), sources.SIZE, is_one_of("workload.writer", "single"),
                also=("workload.writer",),
            ),
            Recipe(
                "{S} / {N}", text("Sharded saving, evenly; the most loaded rank may write more."), sources.SIZE,
                also=("workload.writer",),
            ),
        ),
        ("workload.nodes", "workload.layout"), (),
    ),
    "required_write_bytes_per_s": Figure(
        text("Needed write throughput"), "W", of_storage("required_write_bytes_per_s"),
        (
            Recipe(
                formulas.required, text("The least that storage must sustain; real saves reach a share of the baseline."),
                sources.ARTICLE,
            ),
        ),
        _ASK_SIZE, (),
    ),
    "best_interval_s": Figure(
        text("Best interval"), "T*", of_schedule("best_interval_s"),
        (
            levels.LEAST_INTERVAL,
            Recipe(
                "{C}", text("A stop that costs nothing: save as often as the write allows."), sources.DEFINITION,
                lambda case: of_schedule("lost_per_save_s")(case) == 0,
            ),
            Recipe(
                formulas.best_next_save, text("Exponential interruptions; a checkpoint counts from the next save on."),
                sources.NEXT_SAVE_EXACT,
                lambda case: _NEXT_SAVE(case) and case.scenario.storage.interval_model == "exact", "solves",
                ("storage.interval_model",),
            ),
            Recipe(
                formulas.young, sources.FIRST_ORDER_HOLDS, sources.NEXT_SAVE,
                _NEXT_SAVE, also=("storage.interval_model",),
            ),
            laws.LOG_INTERVAL,
            laws.BEST_INTERVAL,
            Recipe(
                formulas.best_exact,
                text("Exponential interruptions. Neither the restart nor the write moves it, as long as the write fits in."),
                sources.OPTIMUM, is_one_of("storage.interval_model", "exact"),
                "solves", ("storage.interval_model",),
            ),
            Recipe(
                formulas.daly, text("A series; for C below 2 M."), sources.DALY, is_one_of("storage.interval_model", "daly"),
                also=("storage.interval_model",),
            ),
            Recipe(
                formulas.young, text("C much below T and T much below M."), sources.YOUNG,
                also=("storage.interval_model",),
            ),
        ),
        _ASK_TIME,
    ),
    "waste_fraction": Figure(
        text("Waste from saving and interruptions"), "η", of_waste("chosen_fraction"),
        (
            replace(
                levels.FIRST_ORDER, when=lambda case: case.has_levels and _IS_FIRST(case), also=("storage.waste_model",)
            ),
            replace(_FIRST_RECIPE, when=_IS_FIRST), levels.EXACT, laws.EXACT, _EXACT_RECIPE,
        ),
        _ASK_TIME, ("system", "progress", "first_order_chosen"),
    ),
    "first_order_fraction": Figure(
        text("Waste to first order"), "η_1", of_waste("first_order_fraction"),
        (levels.FIRST_ORDER, replace(_FIRST_RECIPE, also=())),
        _ASK_TIME, ("system", "progress", "first_order"),
    ),
    "goodput_fraction": Figure(
        text("Goodput"), "G", _goodput, (Recipe(templates.goodput, sources.ALWAYS, sources.DEFINITION),),
        _ASK_TIME, ("system", "progress", "first_order_chosen"), in_points=True,
    ),
    "mtbi_s": Figure(
        text("This job is interrupted every"), "M", lambda case: finite(case.job.mtbi_s),
        (
            laws.AGED_MTBI,
            Recipe(
                "{M_0} · {N_0} / {N}",
                text("Proportional to nodes: a rough guide, which correlated faults break."), sources.SCALING,
            ),
        ),
        ("failures.mtbi_s", "workload.nodes", "storage.write_s"), (),
    ),
    "writes_in_s": Figure(
        text("Writes in"), "t_s", of_schedule("writes_in_s"),
        (
            Recipe(
                formulas.writes_in, text("At the sustained rate; what the file system does, not what is allowed."),
                sources.TWO_TIMES,
            ),
        ),
        ("storage.write_s", "storage.write_efficiency", "workload.layout", "workload.nodes"),
    ),
    "restore_read_s": Figure(
        text("Reading it back"), "t_r", of_schedule("restore_read_s"),
        (Recipe(formulas.restore_read, text("At the sustained rate, all nodes reading at once."), sources.RESTORE),),
        ("storage.read_efficiency", "restore.copies", "storage.write_s", "workload.layout"),
    ),
    **BEYOND_FIGURES,
    **levels.LEVEL_FIGURES,
    **laws.LAW_FIGURES,
}  # fmt: skip


def read_figure(case: Case, figure: str) -> float | None:
    """The figure's value in its unit, None where it is not known."""
    return finite(FIGURES[figure].read(case))


def figure_unit(figure: str) -> Unit:
    """The unit that `read_figure` answers in."""
    return _UNITS.get(figure, SECONDS)


def result_text(figure: str, value: float) -> str:
    """The value as the derivation's result."""
    if figure == "next_best":
        return ("+" if value >= 0 else "−") + shown(abs(value), FRACTION)
    if figure == "goodput_fraction":
        return brief(value, FRACTION, 4)
    return shown(value, figure_unit(figure))


def recipe_of(case: Case, figure: Figure) -> Recipe:
    """The first recipe that holds."""
    return next((recipe for recipe in figure.recipes if recipe.when(case)), figure.recipes[-1])
