"""A plan for nvidia-resiliency-ext: the launcher's arguments, its timeouts, and local checkpoints with copies elsewhere."""

from __future__ import annotations

import math
from collections.abc import Iterator

from ckptplanner.engine.plan import Finding, finding
from ckptplanner.engine.settings.doing import as_done
from ckptplanner.engine.settings.stops import (
    can_replicate,
    cannot_form_groups,
    collective_timeout_s,
    longest_stop_s,
    restarts_expected,
    restarts_to_allow,
    run_s,
    shown,
)
from ckptplanner.engine.settings.target import TIMEOUT_MARGIN, Settings, SettingsFile, Target, Written
from ckptplanner.engine.settings.writing import aligned, comment, double_quoted, head, shell_word
from ckptplanner.text import text
from ckptplanner.units import grouped

YAML, SCRIPT, CODE = "nvrx_ft.yaml", "nvrx_launch.sh", "nvrx_local.py"
VERSION = "nvidia-resiliency-ext 0.7.0"
CHECKED = (
    "timeouts accepted by FaultToleranceConfig, arguments by ft_launcher's parser and groups by CliqueReplicationStrategy of "
    "nvidia-resiliency-ext 0.4.1; what is newer (cycle info, progress) by the source of 0.7.0 (d8686d9c)"
)
LEAST_CHECKPOINTING_S, LEAST_STEP_S, LEAST_SETUP_S = 300, 180, 900
STEPS_TO_WAIT = 10
ITERATION_FILE = "latest_checkpointed_iteration.txt"


def write(settings: Settings) -> Written:
    """Timeouts and launcher always, the module where there is a local level or a copy."""
    findings, local = tuple(_said(settings)), settings.plan.scenario.local
    done = as_done(
        settings, findings, is_async=settings.is_async and not _excludes_async(settings), has_copies=can_replicate(settings),
        local_stop_s=local.blocking_s + local.durable_s,
    )  # fmt: skip
    files = [SettingsFile(YAML, "yaml", _yaml(done)), SettingsFile(SCRIPT, "shell", _script(done))]
    if settings.has_local or settings.factor > 1:
        files.append(SettingsFile(CODE, "python", _code(done)))
    return Written(tuple(files), findings)


def _excludes_async(settings: Settings) -> bool:
    """Whether the framework cannot save asynchronously beside these local saves."""
    return settings.has_local and _has_iterations(settings)


def _said(settings: Settings) -> Iterator[Finding]:
    if settings.factor > 1 and not can_replicate(settings):
        yield cannot_form_groups(settings)
    if settings.is_async and _excludes_async(settings):
        yield finding(
            "warning", "storage.mode",
            "{framework} cannot make local saves of nvidia-resiliency-ext and asynchronous shared saves in one run today: make "
            "both synchronous, or one of them only.",
            framework=settings.plan.scenario.workload.framework.name,
        )  # fmt: skip
    if settings.has_local:
        yield finding(
            "info", "local.enabled",
            "nvidia-resiliency-ext keeps one complete local checkpoint and the one being written, however many fit.",
        )  # fmt: skip
    if not _has_iterations(settings):
        yield finding(
            "info", "workload.framework",
            "{framework} does not write its newest iteration into a file: the launcher cannot end a job that makes no "
            "progress, and your training code must tell it when it saves and when it computes.",
            framework=settings.plan.scenario.workload.framework.name,
        )  # fmt: skip


def _has_iterations(settings: Settings) -> bool:
    """Whether the framework writes the file that the launcher reads progress from, and announces its sections."""
    return settings.plan.scenario.workload.framework.name.startswith("Megatron")


def checkpointing_timeout_s(settings: Settings) -> int:
    """Above what training stands still at one save. [s]"""
    return max(settings.save_timeout_s, LEAST_CHECKPOINTING_S)


# ---------------------------------------------------------------- timeouts


def _yaml(settings: Settings) -> str:
    schedule, failures = settings.plan.schedule, settings.plan.scenario.failures
    read_s = schedule.restore_read_s if schedule else 0.0
    setup_s = max(math.ceil((failures.start_s + read_s) * TIMEOUT_MARGIN), LEAST_SETUP_S)
    step_s = max(math.ceil(settings.step_s * STEPS_TO_WAIT), LEAST_STEP_S)
    rows = [
        ("initial_rank_heartbeat_timeout: null", "sections instead of heartbeats"),
        ("rank_heartbeat_timeout: null", ""),
        ("rank_section_timeouts:", "in seconds"),
        (f"  setup: {setup_s}",
         f"from the plan: start {shown(failures.start_s)}, read {shown(read_s)}, times {TIMEOUT_MARGIN:.0f}"),
        (f"  step: {step_s}", f"from the plan: {STEPS_TO_WAIT} steps of {shown(settings.step_s)}, never below {LEAST_STEP_S}"),
        (f"  checkpointing: {checkpointing_timeout_s(settings)}",
         f"from the plan: a save stops training for {shown(longest_stop_s(settings))}; with a margin"),
        (f"rank_out_of_section_timeout: {collective_timeout_s(settings)}",
         "from the plan: the collective timeout, or above a save"),
    ]  # fmt: skip
    if _has_iterations(settings):
        rows += [
            (f"checkpoint_iteration_file: {double_quoted(_iteration_file(settings))}", ""),
            ("max_no_progress_cycles: 3", "ends a job that fails again and again before its next save"),
        ]
    rows.append(
        (f"cycle_info_dir: {double_quoted(settings.names.log_folder)}", "one file for each run of the job: read them back")
    )
    notes = ("Megatron-LM announces these sections with --enable-ft-package; other training code calls its client.",)
    top = comment(head(settings, "Timeouts of nvidia-resiliency-ext, for 0.7.0", CHECKED, notes))
    return f"{top}fault_tolerance:\n{aligned(rows, '  ')}"


def _iteration_file(settings: Settings) -> str:
    return f"{settings.names.shared_folder.rstrip('/')}/{ITERATION_FILE}"


# ---------------------------------------------------------------- the launcher


def _script(settings: Settings) -> str:
    scenario = settings.plan.scenario
    nodes, spares = scenario.workload.nodes, scenario.spares.nodes
    asked_s = min(run_s(settings), scenario.planned.every_s or math.inf)
    restarts, expected = restarts_to_allow(settings, asked_s), restarts_expected(settings, asked_s)
    rows = [
        (f"--nnodes={nodes}:{nodes + spares}" if spares else f"--nnodes={nodes}",
         "from the plan" + (f": {grouped(nodes)} nodes that train, {grouped(spares)} spare" if spares else "")),
        (f"--nproc-per-node={scenario.workload.gpus_per_node}", "from the plan: GPUs of a node"),
        (f"--max-restarts={restarts}", f"from the plan: {grouped(expected, 1)} interruptions expected in {shown(asked_s)}"),
        (f"--ft-cfg-path={YAML}", "timeouts"),
        (f"--ft-cycle-info-dir={shell_word(settings.names.log_folder)}", ""),
    ]  # fmt: skip
    if _has_iterations(settings):
        rows.append((f"--ft-checkpoint-iteration-file={shell_word(_iteration_file(settings))}", ""))
    top = comment(head(settings, "Launcher of nvidia-resiliency-ext, for 0.7.0", CHECKED, ("On each node: " + _USE,)))
    return f'#!/bin/bash\n{top}arguments=(\n{aligned(rows, "  ")})\nexec ft_launcher "${{arguments[@]}}" "$@"\n'


_USE = f"bash {SCRIPT} --rdzv-backend=c10d --rdzv-endpoint=FIRST_NODE:29500 train.py ..."


# ---------------------------------------------------------------- local checkpoints


def _code(settings: Settings) -> str:
    steps = settings.local_steps or settings.interval_steps
    rows = [
        (f"LOCAL_FOLDER = {double_quoted(settings.names.local_folder)}", "on the nodes' own drives"),
        (f"SAVE_LOCALLY_EVERY_STEPS = {steps}", f"from the plan: a local save every {shown(steps * settings.step_s)}"),
    ]  # fmt: skip
    if settings.has_local:
        rows.append((f"SAVE_EVERY_STEPS = {settings.interval_steps}",
                     f"from the plan: every {settings.interval_steps // steps} local saves one to shared storage"))  # fmt: skip
    copies = can_replicate(settings)
    if copies:
        rows += [
            (f"REPLICATION_JUMP = {settings.jump}", "from the plan: ranks between the members of a group"),
            (f"REPLICATION_FACTOR = {settings.factor}", f"from the plan: {settings.factor} copies of each shard"),
        ]
    top = comment(head(settings, "Local checkpoints of nvidia-resiliency-ext, for 0.7.0", CHECKED))
    imports = _IMPORTS + (_IMPORT_COPIES if copies else "")
    return top + imports + "\n" + aligned(rows) + (_WITH_COPIES if copies else _WITHOUT) + _BODY


_IMPORTS = """from nvidia_resiliency_ext.checkpointing.local.basic_state_dict import BasicTensorAwareStateDict
from nvidia_resiliency_ext.checkpointing.local.ckpt_managers.local_manager import LocalCheckpointManager
"""
_IMPORT_COPIES = """from nvidia_resiliency_ext.checkpointing.local.replication.strategies import CliqueReplicationStrategy
"""

_WITH_COPIES = '''

def local_manager():
    """Make one on every rank after init_process_group; J x F must divide the number of ranks."""
    copies = CliqueReplicationStrategy.from_replication_params(REPLICATION_JUMP, REPLICATION_FACTOR)
    return LocalCheckpointManager(LOCAL_FOLDER, repl_strategy=copies)
'''
_WITHOUT = '''

def local_manager():
    """Make one on every rank after init_process_group. There are no copies: a lost node loses its shards."""
    return LocalCheckpointManager(LOCAL_FOLDER)
'''
_BODY = '''

def after_step(manager, step, make_state):
    """On every rank; `make_state()` gives this rank's nested dicts and lists of CUDA tensors, made anew for each save."""
    if step % SAVE_LOCALLY_EVERY_STEPS == 0:
        manager.save(BasicTensorAwareStateDict(make_state()), step, is_async=False)


def newest(manager):
    """Step and state of the newest local checkpoint that is complete on all ranks, or (0, None)."""
    step = manager.find_latest()
    if step < 0:
        return 0, None
    loaded, _ = manager.load()
    return step, loaded.state_dict
'''


TARGETS: tuple[Target, ...] = (
    Target("nvrx", text("nvidia-resiliency-ext"), VERSION, CHECKED, "framework", write),
)  # fmt: skip
