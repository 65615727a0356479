"""What a user's present settings mean: Megatron, TorchTitan or Hugging Face settings become edits of a scenario.

    read_settings(text)            -> ImportedSettings: edits with the lines they come from, findings, what is not said
    adopted_settings(named, read)  -> the scenario with these settings, each value with its line as its source

An interval is in steps there; it becomes a time with the step time of the scenario that it is put into.
"""

from __future__ import annotations

from typing import Any

from ckptplanner.engine.edits import edit
from ckptplanner.engine.plan import Finding, finding
from ckptplanner.engine.scenario import MAX_S, NamedScenario, Source
from ckptplanner.engine.settings.meaning import Edit, ImportedSettings, Kept, Meaning
from ckptplanner.engine.settings.meaning_megatron import bridge, megatron_lm
from ckptplanner.engine.settings.meaning_others import hugging_face, torchtitan
from ckptplanner.engine.settings.reading import Found, found
from ckptplanner.engine.settings.unread import unread
from ckptplanner.text import text
from ckptplanner.units import grouped

__all__ = ["Edit", "ImportedSettings", "Kept", "adopted_settings", "edits_for", "group_finding", "read_settings"]

_MEANINGS = {
    "megatron-lm": megatron_lm, "megatron-bridge": bridge, "torchtitan": torchtitan, "torchtitan-0.2": torchtitan,
    "hf-trainer": hugging_face,
}  # fmt: skip
_NOT_SAID = (
    text("How long a step takes: the interval becomes a time with the step time of the plan."),
    text("How long a save takes and how often the job is interrupted: those stay as they are in the plan."),
)


def read_settings(written: str) -> ImportedSettings:
    """What the text says about saving, and what that really does. Nothing in it is executed."""
    said: Found | None = found(written)
    if said is None:
        return ImportedSettings(refusal=text(
            "No settings of Megatron-LM, Megatron Bridge, TorchTitan or Hugging Face Trainer are in this text: paste the lines "
            "that set how checkpoints are saved."
        ))  # fmt: skip
    meaning = Meaning(said)
    _MEANINGS[said.dialect](meaning)
    for taken, other in said.others:
        meaning.say(
            "warning", "workload.framework",
            text(
                "Line {line}: {words} is taken; another command says {other} in line {there}.",
                line=taken.line, words=taken.words, other=other.words, there=other.line,
            ),
        )  # fmt: skip
    meaning.findings += unread(said)
    return meaning.result(_NOT_SAID)


def edits_for(read: ImportedSettings, step_s: float) -> tuple[tuple[str, Any], ...]:
    """Paths and values, for a step that takes so long."""
    return tuple((one.path, min(one.value * step_s, MAX_S) if one.is_steps else one.value) for one in read.edits)


def adopted_settings(named: NamedScenario, read: ImportedSettings) -> NamedScenario:
    """The scenario with these settings in it.

    Raises:
        EditError: one of them is out of its field's range; nothing is changed.
    """
    step_s = named.scenario.workload.step_s
    for one, (path, value) in zip(read.edits, edits_for(read, step_s), strict=True):
        named = edit(named, path, value, "typed")
        named = named.with_source(Source(path=path, kind="typed", text=str(one.where)))
    return named


def group_finding(named: NamedScenario, read: ImportedSettings) -> Finding | None:
    """That the copies cannot be formed on the ranks of this plan, which no line of settings tells."""
    values = dict(edits_for(read, 1.0))
    factor, work = values.get("replication.factor", 1), named.scenario.workload
    jump, ranks = values.get("replication.jump") or work.gpus_per_node, work.nodes * work.gpus_per_node
    if factor == 1 or ranks % (jump * factor) == 0:
        return None
    return finding(
        "error", "replication.factor",
        "A jump of {jump} and {factor} copies do not divide the {ranks} ranks of this plan: the run stops at its start.",
        jump=grouped(jump), factor=grouped(factor), ranks=grouped(ranks),
    )  # fmt: skip
