"""The panel of what is trained, on what, and what of it is saved."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from typing_extensions import override

from ckptplanner.data import catalog
from ckptplanner.data.records import LayoutPart
from ckptplanner.engine.plan import Plan
from ckptplanner.engine.scenario import Scenario
from ckptplanner.ui.panels.panel import (
    ComputedEntry,
    Entry,
    FieldEntry,
    Panel,
    check,
    listed,
    named_choices,
    quantity,
    search,
    switch,
)
from ckptplanner.ui.widgets.choice_edit import Choice
from ckptplanner.ui.words import say
from ckptplanner.units import BYTES, BYTES_PER_PARAM, PARAMS, brief, exact, significant

OTHER_LAYOUT: Final = "other"  # asks for the parts; also stands for parts that are no preset
ANOTHER_LAYOUT: Final = "another"


class WorkloadPanel(Panel):
    """Model, layout, nodes, framework."""

    @override
    def title(self) -> str:
        return say("Workload")

    @override
    def entries(self) -> Sequence[Entry]:
        return (*_model(), *_cluster(), *_rare())


def _model() -> tuple[Entry, ...]:
    return (
        FieldEntry(
            path="workload.model",
            make=search(_find_models, lambda parts: parts.name, say("search a model")),
            line=lambda plan: "" if (model := plan.scenario.workload.model) is None else model.family,
        ),
        FieldEntry(
            path="workload.model.mtp_counted",
            title=say("MTP layers"),
            help=say("Layers for predicting several tokens. Most checkpoints for serving leave them out."),
            make=check(say("counted")),
            is_shown=lambda scenario: _part(scenario, "mtp_params") > 0,
            line=lambda plan: _part_line(plan, "mtp_params"),
        ),
        FieldEntry(
            path="workload.model.vision",
            title=say("Vision part"),
            help=say("A frozen part is saved but carries no optimizer state."),
            make=listed(*named_choices("workload.model.vision")),
            is_shown=lambda scenario: _part(scenario, "vision_params") > 0,
            line=lambda plan: _part_line(plan, "vision_params"),
        ),
        FieldEntry(path="workload.total_params"),
        FieldEntry(
            path="workload.layout",
            make=listed(*_layouts(), describe=lambda _: say("other…")),
            shown=lambda scenario: _layout_id(scenario.workload.layout),
            choices=lambda plan: _layout_choices(plan.scenario),
            line=_layout_line,
        ),
    )


def _cluster() -> tuple[Entry, ...]:
    return (
        FieldEntry(path="workload.nodes"),
        FieldEntry(
            path="workload.node",
            make=listed(*(Choice(row.id, row.name, tooltip=row.accelerator) for row in catalog.nodes())),
            shown=lambda scenario: scenario.workload.node.id,
        ),
        FieldEntry(path="prices.node_usd_per_h", make=quantity(say("unknown"))),
        FieldEntry(
            path="workload.framework",
            make=listed(*(Choice(row.id, row.name) for row in catalog.frameworks())),
            shown=lambda scenario: scenario.workload.framework.id,
        ),
        FieldEntry(path="workload.step_s"),
        ComputedEntry(
            figure="checkpoint_bytes",
            title=say("One checkpoint"),
            text=lambda plan: brief(plan.checkpoint.checkpoint_bytes, BYTES),
            line=_writers_line,
        ),
    )


def _rare() -> tuple[Entry, ...]:
    return (
        FieldEntry(path="workload.gpus_per_node", rare=True),
        FieldEntry(
            path="workload.model.tied",
            title=say("Embedding"),
            help=say("Tied: the head is the embedding and is saved once."),
            make=check(say("tied to head")),
            is_shown=lambda scenario: _part(scenario, "head_params") > 0,
            line=lambda plan: _part_line(plan, "head_params"),
            rare=True,
        ),
        FieldEntry(path="workload.active_params", title=say("Active"), rare=True),
        FieldEntry(path="workload.frozen_params", title=say("Frozen"), rare=True),
        FieldEntry(path="workload.frozen_bytes_per_param", title=say("Each frozen one"), rare=True),
        FieldEntry(path="workload.measured_bytes", title=say("Measured size"), make=quantity(say("not measured")), rare=True),
        FieldEntry(
            path="workload.writer",
            make=switch(*named_choices("workload.writer")),
            rare=True,
        ),
        FieldEntry(path="workload.collective_timeout_s", title=say("Comm. timeout"), rare=True),
    )


def _find_models(text: str) -> list[Choice]:
    return [Choice(row, _model_label(row.name, row.total_params), row.name) for row in catalog.find_models(text)]


def _model_label(name: str, params: float | None) -> str:
    return name if params is None else f"{name}    {brief(params, PARAMS)}"


def _part(scenario: Scenario, name: str) -> float:
    value: float = getattr(scenario.workload.model, name, 0.0)
    return value


def _part_line(plan: Plan, name: str) -> str:
    return say("{count} parameters", count=brief(_part(plan.scenario, name), PARAMS))


def _layout_id(parts: Sequence[LayoutPart]) -> str:
    return next((row.id for row in catalog.layouts() if row.parts == tuple(parts)), OTHER_LAYOUT)


def _layout_text(bytes_per_param: float) -> str:
    return exact(bytes_per_param, BYTES_PER_PARAM)


def _layouts() -> tuple[Choice, ...]:
    return tuple(
        Choice(
            row.id,
            f"{_layout_text(row.bytes_per_param)}    {say(row.name)}",
            _layout_text(row.bytes_per_param),
            _parts_text(row.parts),
        )
        for row in catalog.layouts()
    )


def _layout_choices(scenario: Scenario) -> tuple[Choice, ...]:
    """The catalog's layouts, and the scenario's own when it is none of them; or the offer to write one."""
    parts = scenario.workload.layout
    if _layout_id(parts) != OTHER_LAYOUT:
        return (*_layouts(), Choice(OTHER_LAYOUT, say("other…"), say("other…"), say("Write the parts and their bytes")))
    text = _layout_text(scenario.workload.bytes_per_param)
    return (
        *_layouts(),
        Choice(OTHER_LAYOUT, f"{text}    {say('other')}", text, _parts_text(parts)),
        Choice(ANOTHER_LAYOUT, say("other…"), say("other…"), say("Write the parts and their bytes")),
    )


def _parts_text(parts: Sequence[LayoutPart]) -> str:
    """The parts on one line of the column; the usual ones in their short names."""
    short = {"fp32 master weights": say("fp32 master"), "fp32 Adam moments": say("Adam moments")}
    return " + ".join(f"{short.get(part.what) or say(part.what)} {significant(part.bytes_per_param, 6)}" for part in parts)


def _layout_line(plan: Plan) -> str:
    if plan.scenario.workload.measured_bytes is not None:
        return say("not used, a real checkpoint was measured")
    return _parts_text(plan.scenario.workload.layout)


def _writers_line(plan: Plan) -> str:
    work: Any = plan.scenario.workload
    if work.writer == "single":
        return say("written by one node, which bounds the write")
    share = brief(plan.checkpoint.bytes_per_node, BYTES)
    return say("{share} a node, written by all {nodes}", share=share, nodes=f"{work.nodes:,}")
