"""A plan for DeepSpeed: the "checkpoint" part of its JSON, and the lines of user code that hold the interval."""

from __future__ import annotations

import json
from typing import Any

from ckptplanner.engine.plan import Finding, finding
from ckptplanner.engine.settings.doing import as_done
from ckptplanner.engine.settings.permanent import are_deleted
from ckptplanner.engine.settings.stops import collective_timeout_s, has_no_local_level, longest_save_s, nearest_async, shown
from ckptplanner.engine.settings.target import Settings, SettingsFile, Target, Written
from ckptplanner.engine.settings.writing import aligned, comment, double_quoted, head, readme
from ckptplanner.text import text

CONFIG, CODE = "deepspeed_checkpoint.json", "deepspeed_saves.py"
VERSION = "deepspeed 0.19.8"
CHECKED = "accepted by deepspeed 0.19.8: DeepSpeedConfig read the JSON, an engine on CPU saved synchronously with the code"
COMMIT_TIMEOUT_S = 300.0  # DEFAULT_CHECKPOINT_TIMEOUT_SECONDS of its decoupled engine, which no setting changes


def write(settings: Settings) -> Written:
    """The JSON with a text beside it, and the user's lines."""
    findings = (
        *_said(settings),
        *has_no_local_level(settings, text("DeepSpeed")),
        *are_deleted(settings, "KEEP", settings.keep),
    )
    # what is waited for before the next step stops training like a synchronous save, but for one step
    is_async = _is_decoupled(settings) and longest_save_s(settings) <= settings.step_s
    done = as_done(settings, findings, is_async=is_async, is_local=False)
    values: dict[str, Any] = {"tag_validation": "Fail"}
    how = "No writer is set: saves are synchronous, by PyTorch's own."
    if _is_decoupled(settings):
        values["writer"] = {"type": "fast", "decoupled": True, "io_buffer_double": True}
        how = "writer.decoupled: from the plan, asynchronous; waited for before the next optimizer step, for 300 s at most"
    title = "DeepSpeed, for deepspeed 0.19.8"
    lines = (
        *head(done, f'The "checkpoint" part of the configuration of {title}', CHECKED),
        "",
        "Merge it into the configuration of the run.",
        "tag_validation: Fail, or ranks that save under different names go unnoticed until the restart",
        how,
        f"The interval and the number of checkpoints to keep are in {CODE}: DeepSpeed has no setting for them.",
    )
    files = (
        SettingsFile(CONFIG, "json", json.dumps({"checkpoint": values}, indent=2) + "\n"),
        readme(CONFIG, lines),
        SettingsFile(CODE, "python", _code(done, title)),
    )
    return Written(files, findings)


def _is_decoupled(settings: Settings) -> bool:
    return settings.is_async and longest_save_s(settings) < COMMIT_TIMEOUT_S


def _said(settings: Settings) -> tuple[Finding, ...]:
    if not settings.is_async:
        return ()
    if not _is_decoupled(settings):
        return (finding(
            "warning", "storage.mode",
            "DeepSpeed's asynchronous writer ends the run when a write takes 5 min, and this one may take {write}: "
            "saves are written synchronously. {nearest}", write=shown(longest_save_s(settings)), nearest=nearest_async(),
        ),)  # fmt: skip
    if longest_save_s(settings) <= settings.step_s:  # it is written before anybody waits
        return ()
    return (finding(
        "warning", "storage.mode",
        "DeepSpeed waits for its asynchronous writer before the next optimizer step: a save stops training for up to {stop} "
        "instead of {planned}. {nearest}",
        stop=shown(longest_save_s(settings) - settings.step_s), planned=shown(settings.stop_s), nearest=nearest_async(),
    ),)  # fmt: skip


def _code(settings: Settings, title: str) -> str:
    values = aligned([
        (f"FOLDER = {double_quoted(settings.names.shared_folder)}", ""),
        (f"SAVE_EVERY_STEPS = {settings.interval_steps}", f"from the plan: save every {shown(settings.interval_s)}"),
        (f"KEEP = {settings.keep}", "from the plan: complete checkpoints; one more is there while it is being written"),
        (f"SAVE_TIMEOUT_S = {collective_timeout_s(settings)}",
         f"from the plan: above the longest save, {shown(settings.save_timeout_s)} with its margin"),
    ])  # fmt: skip
    top = comment(head(settings, f"When to save, and what to keep, with {title}", "Checked: " + CHECKED))
    return top + _IMPORTS + values + _BODY


_IMPORTS = """import shutil
from datetime import timedelta
from pathlib import Path

"""

_BODY = '''

def init_distributed():
    """Instead of deepspeed.init_distributed(): ranks wait for one another longer than a save takes."""
    import deepspeed

    deepspeed.init_distributed(timeout=timedelta(seconds=SAVE_TIMEOUT_S))


class Saves:
    """Call after_step(engine) on every rank after engine.step(); resume with engine.load_checkpoint(FOLDER)."""

    def __init__(self, engine):
        self.saved_at = engine.global_steps

    def after_step(self, engine, client_state=None):
        step = engine.global_steps  # does not move within gradient accumulation
        if step == self.saved_at or step % SAVE_EVERY_STEPS:
            return
        if engine.global_rank == 0:
            trim()
        engine.save_checkpoint(FOLDER, client_state=client_state or {})
        self.saved_at = step
        if engine.global_rank == 0:
            trim()


def trim(folder=FOLDER, keep=KEEP):
    """Remove the oldest complete checkpoints; DeepSpeed removes none. What is newer than `latest` is never touched."""
    folder = Path(folder)
    if not (folder / "latest").is_file():
        return
    newest = _step_of((folder / "latest").read_text().strip())
    steps = {_step_of(path.name): path for path in folder.glob("global_step*") if path.is_dir()}
    complete = sorted(step for step in steps if step is not None and newest is not None and step <= newest)
    for step in complete[:-keep]:
        shutil.rmtree(steps[step], ignore_errors=True)


def _step_of(tag):
    number = tag.removeprefix("global_step")
    return int(number) if number.isdigit() else None
'''


TARGETS: tuple[Target, ...] = (Target("deepspeed", text("DeepSpeed"), VERSION, CHECKED, "framework", write),)
