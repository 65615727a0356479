"""A measured value that is far from what the plan has: a sentence that says so and names the likely cause."""

from __future__ import annotations

from typing import Any

from ckptplanner.data import catalog
from ckptplanner.engine.evidence import Estimate
from ckptplanner.engine.plan import Plan
from ckptplanner.engine.scenario import Scenario
from ckptplanner.text import Text, text
from ckptplanner.units import BYTES, BYTES_PER_S, PARAMS, SECONDS, brief, percent, significant

FAR_RATIO = 1.1  # of sizes
FAR_TIME_RATIO = 2.0
OTHER_RATIO = 2.0  # of parameters: beyond it this is another model
PAGEABLE_BYTES_PER_S = 4.5e9  # what one GPU copies to memory that is not pinned, at most (docs/models.md 12.2)
NEAR = 0.01  # within 1 % it is one of the layouts
_LEAST, _ONLY_WEIGHTS, _MOST = 0.4, 2.5, 40.0  # no format has less than half a byte; weights alone have 2 [B/param]


def other_model(scenario: Scenario, estimate: Estimate) -> Text | None:
    """That a count of parameters or a size can hardly be that of the plan's model; None where it can.

    A count is out of reach beyond twice or half the plan's, a size below half a byte for each parameter and above forty.
    """
    if isinstance(estimate.value, bool) or not isinstance(estimate.value, int | float) or estimate.value <= 0.0:
        return None
    own = max(scenario.workload.total_params, 1.0)
    if estimate.id == "params" and not 1.0 / OTHER_RATIO < estimate.value / own < OTHER_RATIO:
        return _other_model(brief(estimate.value, PARAMS), brief(own, PARAMS))
    if estimate.id == "checkpoint" and not _LEAST < estimate.value / own < _MOST:
        return _other_model(brief(estimate.value, BYTES), brief(own, PARAMS))
    return None


def far_words(plan: Plan, estimate: Estimate, now: Any) -> Text | None:
    """Say that a measured value is far from what is in use, and why that may be; None where it is near.

    Args:
        plan: The plan as it is.
        estimate: What was measured.
        now: What is in use in its place, see adopting.in_use.
    """
    if (replaced := _other_storage(plan, estimate)) is not None:
        return replaced
    if isinstance(estimate.value, bool) or not isinstance(estimate.value, int | float):
        return None
    value = float(estimate.value)
    if (stranger := other_model(plan.scenario, estimate)) is not None:
        return stranger
    if estimate.id == "checkpoint":
        return _size(plan, value / max(plan.scenario.workload.total_params, 1.0), value / plan.checkpoint.checkpoint_bytes)
    if estimate.id == "bytes_per_param":
        own = plan.checkpoint.checkpoint_bytes / max(plan.scenario.workload.total_params, 1.0)
        return _size(plan, value, value / own)
    if estimate.id == "params":
        return _params(plan, value)
    if estimate.id == "stop":
        return _stop(plan, value)
    if estimate.id == "copy":
        return _copy(plan, value)
    if estimate.id == "mtbi":
        return _mtbi(plan, estimate, value)
    return _times(value, now)


def _times(value: float, now: Any) -> Text | None:
    """A number that is at least twice or at most half of what is in use."""
    if not isinstance(now, int | float) or isinstance(now, bool) or now <= 0.0 or value <= 0.0:
        return None
    ratio = value / now
    if 1.0 / FAR_TIME_RATIO < ratio < FAR_TIME_RATIO:
        return None
    if ratio < 1.0:
        return text("{share} of what the plan has.", share=percent(ratio))
    return text("{ratio} times what the plan has.", ratio=significant(ratio, 2))


def _other_storage(plan: Plan, estimate: Estimate) -> Text | None:
    """A first rate of storage of one's own: whatever the plan buys now is not bought any more."""
    if plan.scenario.storage.custom is not None or not (estimate.path or "").startswith("storage.custom."):
        return None
    return text("The storage becomes your own, its bill unknown; what the plan buys now is dropped.")


def _params(plan: Plan, params: float) -> Text | None:
    """A count that is not that of the plan's model; some do not count an input embedding or a head twice."""
    own = plan.scenario.workload.total_params
    if params <= 0.0 or 1.0 / FAR_RATIO < params / own < FAR_RATIO:
        return None
    return _other_model(brief(params, PARAMS), brief(own, PARAMS))


def _other_model(found: str, own: str) -> Text:
    return text("{found} where the plan has {own}: it looks like another model.", found=found, own=own)


def _size(plan: Plan, each: float, ratio: float) -> Text | None:
    """A checkpoint that is larger or smaller than its layout says. [B/param]"""
    if 1.0 / FAR_RATIO < ratio < FAR_RATIO:
        return None
    measured = significant(each, 3)
    own = significant(each / ratio, 3)
    if each < _ONLY_WEIGHTS:
        return text(
            "{measured} B a parameter where the plan has {own}: only the weights, so training cannot resume from it.",
            measured=measured, own=own,
        )  # fmt: skip
    totals = sorted({layout.bytes_per_param for layout in catalog.layouts() if layout.status != "derived"})
    near = next((total for total in totals if abs(each / total - 1.0) < NEAR), None)
    if near is None:
        below = max((total for total in totals if total < each), default=None)
        above = min((total for total in totals if total > each), default=None)
        if below is None or above is None:
            return text(
                "{measured} B a parameter where the plan has {own}, more than any layout: are copies of it saved too?",
                measured=measured, own=own,
            )  # fmt: skip
        return text(
            "{measured} B a parameter where the plan has {own}: between the layouts of {below} and {above}, none fits.",
            measured=measured, own=own, below=significant(below, 3), above=significant(above, 3),
        )  # fmt: skip
    if ratio > 1.0 and near in (12.0, 14.0):
        return text(
            "{measured} B a parameter where the plan has {own}: the moments are stored as fp32, whatever the optimizer holds "
            "in memory.", measured=measured, own=own,
        )  # fmt: skip
    names = " / ".join(layout.name for layout in catalog.layouts() if layout.bytes_per_param == near)
    return text(
        "{measured} B a parameter where the plan has {own}: it fits the layout {name}.", measured=measured, own=own, name=names
    )


def _stop(plan: Plan, stop_s: float) -> Text | None:
    """A stop that is longer than the copy to host memory can take."""
    work = plan.scenario.workload
    if stop_s <= 0.0 or plan.scenario.storage.mode == "sync":
        return None
    each = plan.checkpoint.checkpoint_bytes / (work.nodes * work.gpus_per_node) / stop_s
    reached = plan.datapath.reachable_blocking_s if plan.datapath is not None else None
    if reached is None or stop_s < FAR_TIME_RATIO * reached:
        return None
    if each < PAGEABLE_BYTES_PER_S:
        return text(
            "The copy runs at {rate} a GPU, where {least} would do: memory that is not pinned is a likely cause.",
            rate=brief(each, BYTES_PER_S), least=brief(reached, SECONDS),
        )  # fmt: skip
    return text("The node's parts could do it in {least}.", least=brief(reached, SECONDS))


def _copy(plan: Plan, rate_bytes_per_s: float) -> Text | None:
    if rate_bytes_per_s >= PAGEABLE_BYTES_PER_S or not plan.scenario.datapath.pinned:
        return None
    return text(
        "{rate} a GPU is far below the link: memory that is not pinned is a likely cause.",
        rate=brief(rate_bytes_per_s, BYTES_PER_S),
    )


def _mtbi(plan: Plan, estimate: Estimate, mtbi_s: float) -> Text | None:
    """An M outside everything that was published, at its node count. [s]"""
    nodes = dict(estimate.with_paths).get("failures.mtbi_nodes") or plan.scenario.workload.nodes
    known = [record.mtbi_s * record.nodes / nodes for record in catalog.interruption_records()]
    if mtbi_s > max(known):
        return text(
            "Rarer than in any published record ({most} at most for {nodes} nodes): are some tries or causes missing in the "
            "files?", most=brief(max(known), SECONDS), nodes=nodes,
        )  # fmt: skip
    if mtbi_s < min(known):
        return text(
            "More often than in any published record ({least} at least for {nodes} nodes): are stops by hand or time limits "
            "counted?", least=brief(min(known), SECONDS), nodes=nodes,
        )  # fmt: skip
    return None
