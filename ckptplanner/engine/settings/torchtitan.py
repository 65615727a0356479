"""A plan for TorchTitan: a Python function for 0.3.0 and newer, which read no TOML, and TOML for 0.2.0 to 0.2.2."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from ckptplanner.engine.evaluate import evaluate
from ckptplanner.engine.plan import Finding, finding
from ckptplanner.engine.settings.doing import as_done
from ckptplanner.engine.settings.permanent import are_deleted
from ckptplanner.engine.settings.target import TIMEOUT_MARGIN, Settings, SettingsFile, Target, Written
from ckptplanner.engine.settings.writing import aligned, comment, double_quoted, head, is_true, one_line, steps_words
from ckptplanner.frozen import with_value
from ckptplanner.text import text
from ckptplanner.units import FRACTION, SECONDS, brief

PYTHON, TOML = "torchtitan_plan.py", "torchtitan_checkpoint.toml"
VERSION, OLD_VERSIONS = "torchtitan 0.3.0", "torchtitan 0.2.0 to 0.2.2"
CHECKED = "accepted by CheckpointManager.Config of torchtitan 0.3.0 inside its Trainer.Config, torch 2.13.0"
OLD_CHECKED = "read by ConfigManager of torchtitan 0.2.0, 0.2.1 and 0.2.2 into its JobConfig, torch 2.13.0"
OLDER_NOTES = (
    "Not for 0.1.0 and older: they take these lines without a word and save nothing. There, write enable_checkpoint for enable",
    "and last_save_model_weights_only for last_save_model_only; 0.2.0 and newer refuse those names.",
)
LEAST_KEPT = 2  # keep_latest_k = 1 raises
DEFAULT_TIMEOUT_S = 100.0  # train_timeout_seconds of both
GLOO_TIMEOUT_S = 1800.0  # PyTorch's own, for the group that the writers of asynchronous saves meet in; no setting changes it

Row = tuple[str, str, str]  # key, value in Python, remark
LOAD_ONLY: Row = ("load_only", "False", "true would save nothing")  # a run's own settings may have it on


@dataclass(frozen=True, slots=True)
class _Syntax:
    """How a truth value is written."""

    true: str
    false: str


_PYTHON, _TOML = _Syntax("True", "False"), _Syntax(is_true(True), is_true(False))


def _shown(seconds: float) -> str:
    return brief(seconds, SECONDS)


def _longest_write_s(settings: Settings) -> float:
    schedule = settings.plan.schedule
    return max(settings.write_s, schedule.writes_in_s if schedule else 0.0)


def _stop_s(settings: Settings) -> float:
    """How long training stands still at one save. [s]"""
    return settings.stop_s if settings.is_async else max(settings.stop_s, _longest_write_s(settings))


def _kept(settings: Settings) -> int:
    return max(settings.keep, LEAST_KEPT)


def _timeout_s(settings: Settings) -> int | None:
    """What ranks may wait for one another, where the default of 100 s is shorter than a stop with its margin."""
    needed_s = _stop_s(settings) * TIMEOUT_MARGIN
    return math.ceil(needed_s) if needed_s > DEFAULT_TIMEOUT_S else None


def _rows(settings: Settings, syntax: _Syntax) -> tuple[Row, ...]:
    mode = "async_with_pinned_mem" if settings.is_async else "disabled"
    kind = "asynchronous" if settings.is_async else "synchronous"
    return (
        ("enable", syntax.true, "off by default"),
        ("folder", double_quoted(one_line(settings.names.shared_folder)), "your folder on shared storage"),
        (
            "interval", str(settings.interval_steps),
            f"from the plan: save every {_shown(settings.interval_s)}, in steps of {_shown(settings.step_s)}",
        ),
        ("async_mode", f'"{mode}"', f"from the plan: {kind}, each save stops training for {_shown(_stop_s(settings))}"),
        ("keep_latest_k", str(_kept(settings)), "from the plan: complete generations; one more while it is written"),
        ("last_save_model_only", syntax.false, "true would leave a last save that nothing can resume from"),
    )  # fmt: skip


def _timeout_remark(settings: Settings) -> str:
    return f"ranks wait for one another: above the longest stop of the plan, {_shown(_stop_s(settings))}, with a margin"


def _findings(settings: Settings) -> Iterator[Finding]:
    if settings.keep < LEAST_KEPT:
        yield finding(
            "warning", "storage.generations_kept",
            "TorchTitan keeps at least {least} generations, and one more while it is written: plan for {generations}.",
            least=LEAST_KEPT, generations=LEAST_KEPT + 1,
        )  # fmt: skip
    if settings.has_local or settings.factor > 1:
        yield from _no_local(settings)
    if settings.is_async and _longest_write_s(settings) > GLOO_TIMEOUT_S:
        yield finding(
            "warning", "storage.write_s",
            "The writers of TorchTitan's asynchronous saves wait for one another for at most {most}, and a write takes up to "
            "{write}: a rank that is done early may end the run. Shorten the write time.",
            most=_shown(GLOO_TIMEOUT_S), write=_shown(_longest_write_s(settings)),
        )  # fmt: skip
    yield from are_deleted(settings, "keep_latest_k", _kept(settings))


def _no_local(settings: Settings) -> Iterator[Finding]:
    """The shared saves alone are written; how often they had better come then."""
    if not settings.has_local:
        yield finding(
            "warning", "replication.factor", "TorchTitan makes no copies on other nodes: only the shared saves are written."
        )
        return
    alone = evaluate(with_value(settings.plan.scenario, "local.enabled", False))
    waste = alone.waste.total_fraction if alone.waste is not None else None
    if alone.schedule is None or waste is None:
        yield finding("warning", "local.enabled", "TorchTitan has no local saves: only the shared saves are written.")
        return
    steps = max(1, round(alone.schedule.interval_s / settings.step_s))
    yield finding(
        "warning", "local.enabled",
        "TorchTitan has no local saves: only the shared saves are written. Without local saves the best interval is {every}, "
        "{steps}, and wastes {waste}: turn local saves off in the plan to get it.",
        every=_shown(steps * settings.step_s), steps=steps_words(steps), waste=brief(waste, FRACTION),
    )  # fmt: skip


def _notes(settings: Settings, base: str) -> tuple[str, ...]:
    notes = (f"An absolute folder is taken as it is; a relative one is inside {base}.",)
    if not settings.is_async:
        return notes
    return (*notes, "An old generation goes when a save begins: until it is written there may be one complete one fewer.")


def write(settings: Settings) -> Written:
    """A function that sets the checkpoint part of a configuration."""
    findings = tuple(_findings(settings))
    done = as_done(settings, findings, is_local=False)
    notes = (
        "",
        "In your own function that returns a Trainer.Config: return apply(config). Its other checkpoint settings stay;",
        "last_save_in_hf is refused beside last_save_model_only=False: that format holds the model alone.",
        *_notes(settings, "dump_folder"),
    )
    rows = [(f"{key}={value},", remark) for key, value, remark in (*_rows(settings, _PYTHON), LOAD_ONLY)]
    parts = [
        comment(
            head(done, f"Checkpoints of {VERSION} and newer: a run is a Python function, there is no TOML", CHECKED, notes)
        ),
        "import dataclasses\n\n\ndef apply(config):\n",
        "    config.checkpoint = dataclasses.replace(\n        config.checkpoint,\n",
        aligned(rows, "        "),
        "    )\n",
    ]
    timeout_s = _timeout_s(settings)
    if timeout_s is not None:
        parts.append(aligned([(f"config.comm.train_timeout_seconds = {timeout_s}", _timeout_remark(settings))], "    "))
    parts.append("    return config\n")
    return Written((SettingsFile(PYTHON, "python", "".join(parts)),), findings)


def write_old(settings: Settings) -> Written:
    """The sections `checkpoint` and, where it must be longer than the default, `comm` of a TOML file."""
    findings = tuple(_findings(settings))
    done = as_done(settings, findings, is_local=False)
    notes = ("", *OLDER_NOTES, *_notes(settings, "job.dump_folder"))
    parts = [
        comment(head(done, f"Checkpoints of {OLD_VERSIONS}: sections of the run's TOML", OLD_CHECKED, notes)),
        "[checkpoint]\n",
        aligned([(f"{key} = {value}", remark) for key, value, remark in _rows(settings, _TOML)]),
    ]
    timeout_s = _timeout_s(settings)
    if timeout_s is not None:
        parts += ["\n[comm]\n", aligned([(f"train_timeout_seconds = {timeout_s}", _timeout_remark(settings))])]
    return Written((SettingsFile(TOML, "toml", "".join(parts)),), findings)


TARGETS: tuple[Target, ...] = (
    Target("torchtitan", text("TorchTitan"), f"{VERSION} and newer", CHECKED, "framework", write),
    Target("torchtitan-0.2", text("TorchTitan with TOML"), OLD_VERSIONS, OLD_CHECKED, "framework", write_old),
)  # fmt: skip
