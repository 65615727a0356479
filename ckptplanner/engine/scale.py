"""The same job at other node counts: how often it is interrupted, how often to save, and what that costs.

    M  ~ 1/N          T* ~ 1/sqrt(N)         until the write holds the interval: T >= C + t_a
    waste ~ sqrt(N)                          and faster once M is no longer far above T, t and R

The checkpoint, the write time and everything else stay as they are; each node fails as often as before, so that M follows
from `failures.mtbi_s` at `failures.mtbi_nodes`. The file system and the interval are chosen again at each count.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ckptplanner.engine.evaluate import evaluate
from ckptplanner.engine.plan import Plan
from ckptplanner.engine.scenario import NamedScenario, Scenario
from ckptplanner.engine.value_words import nodes_words
from ckptplanner.frozen import with_value
from ckptplanner.text import Text, text
from ckptplanner.units import SECONDS, grouped, percent, rough

NODE_COUNTS = tuple(8 * 2**step for step in range(12))  # 8 ... 16,384
MANY_GPUS = 10_000


@dataclass(frozen=True, slots=True)
class ScaleRow:
    """The job at one node count; None where a number cannot be computed or is not known."""

    nodes: int
    gpus: int
    mtbi_s: float | None
    best_interval_s: float | None
    interval_s: float | None  # from one save to the next: what really passes
    local_interval_s: float | None  # between saves to the nodes' own drives; None with one level
    is_held_by_write: bool  # the interval is longer than the best one because the write takes so long
    waste_fraction: float | None
    required_write_bytes_per_s: float
    storage_usd_per_month: float | None
    total_usd_per_year: float | None
    bottleneck: Text | None  # of the write to shared storage
    loss_probability_after_first: float | None  # that a group of replicas loses its last copy while a first is rebuilt
    run_loss_probability: float | None  # that it happens in the run; 1 without replicas as soon as a node is lost


@dataclass(frozen=True, slots=True)
class Scale:
    """The rows by node count, rising, and what they say."""

    rows: tuple[ScaleRow, ...]
    answer: tuple[Text, ...]


def scale(
    named: NamedScenario, node_counts: Sequence[int] = NODE_COUNTS, progress: Callable[[float], None] = lambda _: None
) -> Scale:
    """Work out the job at the given node counts and answer whether ten thousand GPUs should save more often or less.

    Args:
        named: The plan; its own node count is what the answer compares with.
        node_counts: At least one, each 1 or more; a count that stands twice counts once.
        progress: Called with the done share; it may raise to give up.

    Raises:
        ValueError: no count, or one below 1.

    About 2 ms for a count.
    """
    counts = sorted(set(node_counts))
    if not counts or counts[0] < 1:
        raise ValueError("scale takes node counts of 1 or more")
    rows = []
    for done, nodes in enumerate(counts):
        progress(done / len(counts))
        rows.append(row_at(named.scenario, nodes))
    many = row_at(named.scenario, math.ceil(MANY_GPUS / named.scenario.workload.gpus_per_node))
    today = row_at(named.scenario, named.scenario.workload.nodes)
    progress(1.0)
    return Scale(tuple(rows), tuple(_answer(today, many, rows)))


def row_at(scenario: Scenario, nodes: int) -> ScaleRow:
    """The job at one node count, 1 or more."""
    plan = evaluate(with_value(scenario, "workload.nodes", nodes))
    schedule, waste, replication = plan.schedule, plan.waste, plan.replication
    chosen = plan.storage.chosen
    return ScaleRow(
        nodes=nodes,
        gpus=nodes * scenario.workload.gpus_per_node,
        mtbi_s=schedule.mtbi_s if schedule else None,
        best_interval_s=schedule.best_interval_s if schedule else None,
        interval_s=schedule.period_s if schedule else None,
        local_interval_s=plan.levels.local.interval_s if plan.levels else None,
        is_held_by_write=_is_held(plan),
        waste_fraction=waste.chosen_fraction if waste else None,
        required_write_bytes_per_s=plan.storage.required_write_bytes_per_s,
        storage_usd_per_month=chosen.usd_per_month if chosen else None,
        total_usd_per_year=plan.cost.total_usd_per_year if plan.cost else None,
        bottleneck=_bottleneck(plan),
        loss_probability_after_first=replication.loss_probability_after_first if replication else None,
        run_loss_probability=replication.run_loss_probability if replication else None,
    )


def _is_held(plan: Plan) -> bool:
    """Whether a save takes longer than the best interval."""
    schedule = plan.schedule
    if schedule is None:
        return False
    storage = plan.scenario.storage
    save = schedule.blocking_s + (schedule.write_s if storage.mode == "async" else 0.0)
    return schedule.best_interval_s < save * (1.0 - 1e-9) and schedule.period_s <= save * (1.0 + 1e-9)


def _bottleneck(plan: Plan) -> Text | None:
    limit = plan.datapath.phase("shared_write").limit if plan.datapath else None
    return limit.name if limit else None


def _answer(today: ScaleRow, many: ScaleRow, rows: Sequence[ScaleRow]) -> list[Text]:
    """Whether many GPUs should save more often or less than today's, and what stands in the way."""
    times = (today.mtbi_s, many.mtbi_s, today.best_interval_s, many.best_interval_s)
    now_m, then_m, now, then = times
    if now_m is None or then_m is None or now is None or then is None:
        return [text("No answer: at {gpus} GPUs nothing on offer can write the checkpoint.", gpus=grouped(many.gpus))]
    values = {
        "gpus": grouped(many.gpus), "nodes": nodes_words(many.nodes), "mtbi": rough(then_m, SECONDS),
        "best": rough(then, SECONDS), "nodes_now": nodes_words(today.nodes), "mtbi_now": rough(now_m, SECONDS),
        "best_now": rough(now, SECONDS),
    }  # fmt: skip
    if then < now * (1.0 - 1e-9):
        said = text(
            "More often: {gpus} GPUs ({nodes}) are interrupted every {mtbi}, {nodes_now} every {mtbi_now}. "
            "The best interval is {best} there and {best_now} here.", **values,
        )  # fmt: skip
    elif then > now * (1.0 + 1e-9):
        said = text(
            "Less often: {gpus} GPUs ({nodes}) are interrupted every {mtbi}, {nodes_now} every {mtbi_now}. "
            "The best interval is {best} there and {best_now} here.", **values,
        )  # fmt: skip
    else:
        said = text("As often as today: the best interval is {best_now}.", best_now=values["best_now"])
    found = [said]
    if many.waste_fraction is not None and today.waste_fraction is not None:
        found.append(text(
            "The waste is {then} there and {now} here.", then=percent(many.waste_fraction), now=percent(today.waste_fraction),
        ))  # fmt: skip
    held = next((row for row in rows if row.is_held_by_write), None)
    if held is not None and held.interval_s is not None and held.best_interval_s is not None:
        found.append(text(
            "From {nodes} on a save takes longer than the best interval ({best}): it is held at {interval_s}, and only "
            "a shorter write or local saves bring it down.",
            nodes=nodes_words(held.nodes), best=rough(held.best_interval_s, SECONDS),
            interval_s=rough(held.interval_s, SECONDS),
        ))  # fmt: skip
    return found
