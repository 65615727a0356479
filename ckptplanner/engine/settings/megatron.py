"""A plan as arguments of Megatron-LM and as the checkpoint section of a Megatron Bridge configuration.

Both share one checkpoint code, so one answer to what can be done of a plan (`_Way`): asynchronous saves and saves to the nodes'
own drives exclude each other, and a local save that falls on the step of a shared one is skipped.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from ckptplanner.engine.plan import Finding, finding
from ckptplanner.engine.settings.doing import as_done
from ckptplanner.engine.settings.permanent import are_deleted, leave_for_s3, permanent_steps
from ckptplanner.engine.settings.target import TIMEOUT_MARGIN, Settings, SettingsFile, Target, Written
from ckptplanner.engine.settings.trimming import NAME as TRIMMING
from ckptplanner.engine.settings.trimming import trimming_file
from ckptplanner.engine.settings.writing import (
    aligned,
    comment,
    double_quoted,
    head,
    is_true,
    one_line,
    shell_word,
    steps_words,
)
from ckptplanner.text import Text, text
from ckptplanner.units import DAY, SECONDS, brief, grouped

ARGUMENTS, YAML = "megatron_lm_args.sh", "megatron_bridge_checkpoint.yaml"
LM_VERSION, BRIDGE_VERSION = "Megatron-LM, core 0.19.2", "Megatron Bridge 0.6.2"
LM_CHECKED = (
    "accepted by the parser and validate_args of Megatron-LM (megatron-core 0.19.2, torch 2.13.0), with a stand-in for the GPU"
)
BRIDGE_CHECKED = (
    "accepted by CheckpointConfig and its finalize() of megatron-bridge 0.6.2 on megatron-core 0.19.2, torch 2.13.0"
)
DEFAULT_TIMEOUT_S = 600.0  # of both: 10 min
SPARSE = 10  # of the arguments' alternative to the script: every tenth generation stays

Row = tuple[str, str]


@dataclass(frozen=True, slots=True)
class _Way:
    """What of a plan is written."""

    is_async: bool
    is_local: bool
    is_replicated: bool
    stop_s: float  # training stands still this long at one save


def _shown(seconds: float) -> str:
    return brief(seconds, SECONDS)


def _longest_write_s(settings: Settings) -> float:
    schedule = settings.plan.schedule
    return max(settings.stop_s, settings.write_s, schedule.writes_in_s if schedule else 0.0)


def _way(settings: Settings) -> _Way:
    is_local = settings.local_steps is not None and settings.local_steps < settings.interval_steps
    is_async = settings.is_async and not is_local
    divides = settings.world_size % (settings.jump * settings.factor) == 0
    stop_s = settings.stop_s if is_async else _longest_write_s(settings)
    return _Way(is_async, is_local, is_local and settings.factor > 1 and divides, stop_s)


def _as_done(settings: Settings, way: _Way, findings: list[Finding]) -> Settings:
    """Local saves are synchronous here: they stop training until they are written."""
    local = settings.plan.scenario.local
    return as_done(
        settings, findings, is_async=way.is_async, is_local=way.is_local, has_copies=way.is_replicated,
        local_stop_s=local.blocking_s + local.durable_s,
    )  # fmt: skip


def _timeout_minutes(settings: Settings, way: _Way) -> int | None:
    """What ranks may wait for one another, where the default of 10 min is too short: above the longest stop."""
    needed_s = max(way.stop_s * TIMEOUT_MARGIN, settings.plan.scenario.workload.collective_timeout_s)
    return math.ceil(needed_s / 60.0) if needed_s > DEFAULT_TIMEOUT_S else None


# ---------------------------------------------------------------- what cannot be done


def _findings(settings: Settings, way: _Way, name: Text) -> Iterator[Finding]:
    local = settings.plan.scenario.local
    if settings.is_async and way.is_local:
        yield finding(
            "warning", "storage.mode",
            "{name} cannot save asynchronously and to local drives in one run, so that all saves are synchronous: a shared one "
            "stops training for {write} instead of {stop}, a local one for {near}. Without local saves it stays asynchronous.",
            name=name, write=_shown(way.stop_s), stop=_shown(settings.stop_s), near=_shown(local.blocking_s + local.durable_s),
        )  # fmt: skip
    if settings.has_local and not way.is_local:
        yield finding(
            "warning", "local.ratio",
            "{name} makes no local save on a step that saves to shared storage, and in this plan every one falls on such a "
            "step: there are shared saves only, every {steps}. Plan two or more local saves for each shared one.",
            name=name, steps=steps_words(settings.interval_steps),
        )  # fmt: skip
    if settings.factor > 1 and not settings.has_local:
        yield finding(
            "warning", "replication.factor",
            "{name} copies local saves only, and this plan has none: turn local saves on, or no copies are made.", name=name,
        )  # fmt: skip
    elif settings.factor > 1 and way.is_local and not way.is_replicated:
        yield finding(
            "warning", "replication.factor",
            "{factor} copies with a jump of {jump} do not divide {ranks} ranks: local saves are written without copies, and a "
            "lost node goes back to shared storage.",
            factor=grouped(settings.factor), jump=grouped(settings.jump), ranks=grouped(settings.world_size),
        )  # fmt: skip


def _nothing_deletes(settings: Settings) -> Finding:
    return finding(
        "warning", "storage.generations_kept",
        "Megatron-LM cannot keep the last {keep} checkpoints: it deletes nothing, or all but the newest and each R-th "
        "(--save-retain-interval). "
        "Run {script}, written beside it, every {often}: it keeps the newest {keep}.",
        keep=grouped(settings.keep), script=TRIMMING, often=_shown(settings.interval_s),
    )  # fmt: skip


# ---------------------------------------------------------------- what both say, in words


def _every(settings: Settings) -> str:
    return f"from the plan: save every {_shown(settings.interval_s)}, in steps of {_shown(settings.step_s)}"


def _local_every(settings: Settings) -> str:
    seconds = (settings.local_steps or 0) * settings.step_s
    ratio = settings.interval_steps // (settings.local_steps or 1)
    return f"from the plan: local save every {_shown(seconds)}, {grouped(ratio)} for each shared one"


def _timeout(settings: Settings, way: _Way) -> str:
    own_s = settings.plan.scenario.workload.collective_timeout_s
    if own_s >= way.stop_s * TIMEOUT_MARGIN:
        return f"ranks wait for one another: the plan's collective timeout, {_shown(own_s)}"
    return f"ranks wait for one another: above the longest stop of the plan, {_shown(way.stop_s)}, with a margin"


def _mode(settings: Settings, way: _Way) -> str:
    stop = f"each save stops training for {_shown(way.stop_s)}"
    if way.is_async == settings.is_async:
        return f"from the plan: {'asynchronous' if way.is_async else 'synchronous'}, {stop}"
    return f"not as in the plan, since there are local saves: {stop}"


def _copies(settings: Settings) -> tuple[str, str]:
    groups = settings.world_size // (settings.jump * settings.factor)
    times = f"{grouped(settings.jump)} x {grouped(settings.factor)} x {grouped(groups)} = {grouped(settings.world_size)} ranks"
    return f"from the plan: J, ranks between the members of a group; {times}", "from the plan: F, copies of each shard"


# ---------------------------------------------------------------- Megatron-LM


def _needs_script(settings: Settings) -> bool:
    """Whether the framework itself cannot keep what the plan keeps: more than the newest, and multiples of one number."""
    return settings.keep > 1 or len(permanent_steps(settings)) > 1


def _retention(settings: Settings) -> tuple[Row, ...]:
    """Where one generation is to be kept, the framework does just that; where every save is permanent, it deletes nothing."""
    permanent = permanent_steps(settings)
    if _needs_script(settings) or permanent == (settings.interval_steps,):
        return ()
    last = settings.plan.scenario.run.days * DAY / settings.step_s
    beyond = (math.floor(last / settings.interval_steps) + 1) * settings.interval_steps
    if permanent:
        return ((f"--save-retain-interval {permanent[0]}", "from the plan: the newest stays, and its permanent saves"),)
    return ((f"--save-retain-interval {max(beyond, 2 * settings.interval_steps)}", "from the plan: only the newest stays"),)


def _last_save(settings: Settings) -> bool:
    """Whether the plan counts on a last save before a stop.

    Else the handler stays off: with it, ranks that are to end after another was lost wait until they are killed.
    """
    return settings.plan.scenario.planned.every_s is not None


_LAST_SAVE = "from the plan: a last save before each planned stop; without it SIGTERM ends training unsaved"
_LAST_SAVE_NOTES = (
    "The last save is made at SIGTERM, which must reach the training processes and not torchrun: it would kill them after 30 s",
    "(targets slurm and jobset see to it). An asynchronous one is waited for before the process ends. An exit duration needs",
    "no signal, but counts from the start of the process, so a restart within a job passes the time limit: not used.",
)


def _path_word(folder: str) -> str:
    """A folder as one word of a shell line that no parser of arguments takes for a flag."""
    return shell_word(f"./{one_line(folder)}" if folder.startswith("-") else folder)


def _lm_rows(settings: Settings, way: _Way) -> list[Row]:
    folder = _path_word(settings.names.shared_folder)
    rows = [
        (f"--save {folder}", "your folder on shared storage"),
        (f"--load {folder}", "a restart goes on from the newest"),
        (f"--save-interval {settings.interval_steps}", _every(settings)),
        ("--ckpt-format torch_dist", "every rank writes its share"),
    ]
    if way.is_async:
        rows += [
            ("--async-save", _mode(settings, way)),
            ("--async-strategy nvrx", "needs nvidia-resiliency-ext; where it is missing write mcore"),
            ("--use-persistent-ckpt-worker", "without it --async-save is switched off, with a warning only"),
        ]
    rows += [
        ("--ckpt-fully-parallel-load", "a restart reads each part once and exchanges it"),
        ("--ckpt-assume-constant-structure", "saves after the first are planned from the first"),
        *_retention(settings),
    ]
    if way.is_local:
        rows += [
            ("--non-persistent-ckpt-type local", "from the plan: local saves; needs nvidia-resiliency-ext"),
            (
                f"--non-persistent-local-ckpt-dir {_path_word(settings.names.local_folder)}",
                "your folder on each node's own drives",
            ),
            (f"--non-persistent-save-interval {settings.local_steps}", _local_every(settings)),
            ("--non-persistent-local-ckpt-algo fully_parallel", "each rank writes its share"),
        ]
    if way.is_replicated:
        jump, factor = _copies(settings)
        rows += [
            ("--replication", "copies on other nodes"),
            (f"--replication-jump {settings.jump}", jump),
            (f"--replication-factor {settings.factor}", factor),
        ]
    if _last_save(settings):
        rows.append(("--exit-signal-handler", _LAST_SAVE))
    minutes = _timeout_minutes(settings, way)
    if minutes is not None:
        rows.append((f"--distributed-timeout-minutes {minutes}", _timeout(settings, way)))
    return rows


def _lm_notes(settings: Settings, way: _Way) -> list[str]:
    notes = ["", 'source this file, then: torchrun ... pretrain_gpt.py "${CHECKPOINT_ARGS[@]}" ...']
    permanent = permanent_steps(settings)
    if _needs_script(settings):
        notes.append(f"keeps {settings.keep} complete generations: {TRIMMING}, since Megatron-LM itself deletes nothing here.")
    if _needs_script(settings) and not permanent:
        notes.append(
            f"Without the script: --save-retain-interval {SPARSE * settings.interval_steps} keeps the newest and every "
            f"{SPARSE}th for good."
        )
    if permanent == (settings.interval_steps,):
        notes.append("Every save is permanent by the plan: nothing is deleted.")
    if way.is_local:
        notes.append("Local saves refuse --use-checkpoint-args and --dist-ckpt-optim-fully-reshardable.")
    if _last_save(settings):
        notes += _LAST_SAVE_NOTES
    if way.is_async:
        notes.append("On systems with NVLink between nodes add --async-ckpt-use-cpu-shm.")
    return notes


def write_lm(settings: Settings) -> Written:
    """The arguments as a bash array, and the script that trims where more than one generation is to be kept."""
    way = _way(settings)
    findings = list(_findings(settings, way, text("Megatron-LM")))
    if _needs_script(settings):
        findings.append(_nothing_deletes(settings))
    if permanent_steps(settings) != (settings.interval_steps,):
        findings += leave_for_s3(settings, TRIMMING if _needs_script(settings) else "--save-retain-interval", settings.keep)
    done = _as_done(settings, way, findings)
    content = "".join(
        (
            comment(head(done, f"Checkpoint arguments of {LM_VERSION}", LM_CHECKED, _lm_notes(settings, way))),
            "CHECKPOINT_ARGS=(\n",
            aligned(_lm_rows(settings, way), "  "),
            ")\n",
        )
    )
    files = [SettingsFile(ARGUMENTS, "shell", content)]
    if _needs_script(settings):
        files.append(trimming_file(settings))
    return Written(tuple(files), tuple(findings))


# ---------------------------------------------------------------- Megatron Bridge


def _folder(name: str) -> str:
    return double_quoted(one_line(name))


def _bridge_rows(settings: Settings, way: _Way) -> list[Row]:
    rows = [
        (f"save: {_folder(settings.names.shared_folder)}", "your folder on shared storage"),
        (f"load: {_folder(settings.names.shared_folder)}", "a restart goes on from the newest"),
        (f"save_interval: {settings.interval_steps}", _every(settings)),
        ("ckpt_format: torch_dist", "every rank writes its share"),
        (f"async_save: {is_true(way.is_async)}", _mode(settings, way)),
        (f"use_persistent_ckpt_worker: {is_true(way.is_async)}", "asynchronous saves need it, local ones refuse it"),
        (f"most_recent_k: {settings.keep}", "from the plan: complete generations; an old one goes once a new one is durable"),
        ("ckpt_assume_constant_structure: true", "saves after the first are planned from the first"),
    ]
    if way.is_local:
        rows += [
            ("non_persistent_ckpt_type: local", "from the plan: local saves; needs nvidia-resiliency-ext"),
            (f"non_persistent_local_ckpt_dir: {_folder(settings.names.local_folder)}", "your folder on each node's own drives"),
            (f"non_persistent_save_interval: {settings.local_steps}", _local_every(settings)),
            ("non_persistent_local_ckpt_algo: fully_parallel", "each rank writes its share"),
        ]
    if way.is_replicated:
        jump, factor = _copies(settings)
        rows += [
            ("replication: true", "copies on other nodes"),
            (f"replication_jump: {settings.jump}", jump),
            (f"replication_factor: {settings.factor}", factor),
        ]
    return rows


def write_bridge(settings: Settings) -> Written:
    """The section `checkpoint`, `train` where stops are planned, and `dist` where ranks must wait longer than the default."""
    way = _way(settings)
    findings = [*_findings(settings, way, text("Megatron Bridge")), *are_deleted(settings, "most_recent_k", settings.keep)]
    done = _as_done(settings, way, findings)
    notes = [""]
    if way.is_async:
        notes.append("The worker of asynchronous saves takes host memory of its own: watch it at the first saves.")
        notes.append("Without nvidia-resiliency-ext Bridge takes its own asynchronous writer.")
    if _last_save(settings):
        notes += _LAST_SAVE_NOTES
    notes.append("also_save_hf_checkpoint writes while training stands still: leave it off.")
    parts = [
        comment(head(done, f"Checkpoint section of a configuration of {BRIDGE_VERSION}", BRIDGE_CHECKED, notes)),
        "checkpoint:\n",
        aligned(_bridge_rows(settings, way), "  "),
    ]
    if _last_save(settings):
        parts += ["train:\n", aligned([("exit_signal_handler: true", _LAST_SAVE)], "  ")]
    minutes = _timeout_minutes(settings, way)
    if minutes is not None:
        parts += ["dist:\n", aligned([(f"distributed_timeout_minutes: {minutes}", _timeout(settings, way))], "  ")]
    return Written((SettingsFile(YAML, "yaml", "".join(parts)),), tuple(findings))


TARGETS: tuple[Target, ...] = (
    Target("megatron-lm", text("Megatron-LM"), LM_VERSION, LM_CHECKED, "framework", write_lm),
    Target("megatron-bridge", text("Megatron Bridge"), BRIDGE_VERSION, BRIDGE_CHECKED, "framework", write_bridge),
)  # fmt: skip
