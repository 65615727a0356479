"""A plan as arguments of the Hugging Face Trainer: a JSON file that TrainingArguments are read from."""

from __future__ import annotations

from ckptplanner.engine.settings.doing import as_done
from ckptplanner.engine.settings.permanent import are_deleted
from ckptplanner.engine.settings.stops import (
    collective_timeout_s,
    has_no_local_level,
    nearest_async,
    notice_s,
    shown,
    writes_while_training_stops,
)
from ckptplanner.engine.settings.target import Settings, SettingsFile, Target, Written
from ckptplanner.engine.settings.writing import double_quoted, head, is_true, readme
from ckptplanner.text import text
from ckptplanner.units import grouped

NAME = "hf_training_args.json"
DEFAULT_TIMEOUT_S = 1800
VERSION = "transformers 5.24.0"
CHECKED = "accepted by transformers 5.24.0: HfArgumentParser.parse_json_file into TrainingArguments, torch 2.13.0"


def write(settings: Settings) -> Written:
    """The arguments and a text beside them, since JSON has no comments."""
    findings = [
        *has_no_local_level(settings, text("Hugging Face Trainer")),
        *are_deleted(settings, "save_total_limit", settings.keep),
    ]
    if settings.is_async:
        findings.insert(0, writes_while_training_stops(settings, text("Hugging Face Trainer"), nearest_async()))
    done = as_done(settings, findings, is_async=False, is_local=False)
    timeout_s = max(collective_timeout_s(settings), DEFAULT_TIMEOUT_S)
    values: dict[str, str | int | bool] = {
        "output_dir": settings.names.shared_folder,
        "save_strategy": "steps",
        "save_steps": settings.interval_steps,
        "save_total_limit": settings.keep,
        "save_only_model": False,
        "enable_jit_checkpoint": True,
        "ddp_timeout": timeout_s,
    }
    lines = (
        *head(done, "Arguments of the Hugging Face Trainer, for transformers 5.24.0 and newer", CHECKED),
        "",
        "save_steps: from the plan, a save every " + shown(settings.interval_s),
        "save_total_limit: from the plan, complete checkpoints to keep; the oldest goes once a new one is complete",
        "save_only_model: false, or there is nothing to resume from",
        "enable_jit_checkpoint: saves on SIGTERM before a stop; the scheduler must give notice of at least "
        f"{grouped(notice_s(settings))} s, from the plan's write time",
        f"ddp_timeout: above the longest save, {shown(settings.save_timeout_s)} with its margin; never below the default",
        "",
        "Read it with HfArgumentParser(TrainingArguments).parse_json_file(...), resume with trainer.train("
        "resume_from_checkpoint=True).",
        "Whether every rank writes its share is decided by FSDP (SHARDED_STATE_DICT) or DeepSpeed, not here.",
    )
    files = (SettingsFile(NAME, "json", _json(values)), readme(NAME, lines))
    return Written(files, tuple(findings))


def _json(values: dict[str, str | int | bool]) -> str:
    """A value a line, words as they are but for what ends a line."""
    rows = (f"  {double_quoted(name)}: {_value(value)}" for name, value in values.items())
    return "{\n" + ",\n".join(rows) + "\n}\n"


def _value(value: str | int | bool) -> str:
    if isinstance(value, bool):
        return is_true(value)
    return str(value) if isinstance(value, int) else double_quoted(value)


TARGETS: tuple[Target, ...] = (
    Target("hf-trainer", text("Hugging Face Trainer"), VERSION, CHECKED, "framework", write),
)  # fmt: skip
