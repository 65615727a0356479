"""Rules of our own, where validators are blind, over what the files of a target really say.

    broken_rules(settings, written, id) -> findings  errors are refused by the registry, warnings are shown

The files are read back (read_back.py); a rule looks for names, and judges the numbers under them, whichever target wrote them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from ckptplanner.engine.plan import Finding, finding
from ckptplanner.engine.settings import fsx_rules
from ckptplanner.engine.settings.read_back import Read, Unreadable, Value, read
from ckptplanner.engine.settings.stops import MOST_RESTARTS, final_save_s, longest_stop_s, shown
from ckptplanner.engine.settings.target import Settings, Written
from ckptplanner.text import text
from ckptplanner.units import BYTES, GIB, brief, grouped

Rule = Callable[[Settings, Read], Iterator[Finding]]

INTERVALS = ("save_interval", "save_steps", "every_n_train_steps", "interval", "save_every_steps")
SKIPPED_LOCALLY = "non_persistent_save_interval"  # no local save on a step that saves to shared storage
LOCAL_INTERVALS = (SKIPPED_LOCALLY, "save_locally_every_steps")
KEEPS = ("most_recent_k", "save_total_limit", "save_top_k", "keep_latest_k", "keep")
TIMEOUTS = ("ddp_timeout", "timeout", "checkpointing", "rank_out_of_section_timeout", "save_timeout_s",
            "train_timeout_seconds")  # fmt: skip
MINUTES = ("distributed_timeout_minutes",)
DEFAULT_TIMEOUTS_S = {  # where a target's files write none, by the name that they would write
    "torchtitan": ("train_timeout_seconds", 100.0), "torchtitan-0.2": ("train_timeout_seconds", 100.0),
    "megatron-lm": ("distributed_timeout_minutes", 600.0), "megatron-bridge": ("distributed_timeout_minutes", 600.0),
}  # fmt: skip
LEAST_MARGIN = 1.5  # of a timeout over the longest stop
MOST_SIGNAL_S, SLURM_DEFAULT_S = 65_535, 60
_ROUNDING = 1.0 + 1e-9


def broken_rules(settings: Settings, written: Written, target_id: str = "") -> tuple[Finding, ...]:
    """What the files of one target say that they must not: errors, and warnings that do not stop anybody.

    Args:
        target_id: Whose files they are, for the defaults that apply where they are silent.
    """
    found: list[Finding] = []
    unset, default_s = DEFAULT_TIMEOUTS_S.get(target_id, ("", 0.0))
    for file in written.files:
        try:
            values = read(file)
        except Unreadable as trouble:
            found.append(
                finding("error", "workload.framework", "{file} cannot be read back: {why}", file=file.name, why=trouble)
            )
            continue
        for rule in RULES:
            found += (_in_file(one, file.name) for one in rule(settings, values))
        if values.all(unset):
            unset = ""
    return (*found, *_default_timeout(settings, default_s)) if unset and written.files else tuple(found)


def _in_file(one: Finding, name: str) -> Finding:
    return Finding(one.severity, one.path, text("{file}: {what}", file=name, what=one.text))


def _whole(value: Value) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _said(value: Value) -> str:
    return "?" if value is None else str(value)


# ---------------------------------------------------------------- steps


def _whole_steps(settings: Settings, values: Read) -> Iterator[Finding]:
    for value in values.all(*INTERVALS):
        if _whole(value) != settings.interval_steps:
            yield finding("error", "storage.interval_s", "The interval must be {steps} whole steps, and is {value}.",
                          steps=grouped(settings.interval_steps), value=_said(value))  # fmt: skip


def _local_divides(settings: Settings, values: Read) -> Iterator[Finding]:
    for value in values.all(SKIPPED_LOCALLY):
        if _whole(value) == settings.interval_steps:
            yield finding(
                "error", "local.interval_s",
                "Local saves every {value} steps fall on the shared ones, and Megatron skips them there: none is made.",
                value=_said(value),
            )  # fmt: skip
    for value in values.all(*LOCAL_INTERVALS):
        steps = _whole(value)
        if steps is None or steps < 1 or settings.interval_steps % steps:
            yield finding(
                "error", "local.interval_s",
                "Local saves every {value} steps do not divide the {steps} steps between shared ones: some are left out.",
                value=_said(value), steps=grouped(settings.interval_steps),
            )  # fmt: skip


def _retained(settings: Settings, values: Read) -> Iterator[Finding]:
    for value in values.all("save_retain_interval"):
        steps = _whole(value)
        if steps is None or steps < 1 or steps % settings.interval_steps:
            yield finding("error", "storage.interval_s", "Checkpoints kept every {value} steps are no multiple of {steps}.",
                          value=_said(value), steps=grouped(settings.interval_steps))  # fmt: skip


# ---------------------------------------------------------------- what is kept


def _kept(settings: Settings, values: Read) -> Iterator[Finding]:
    # Lightning removes the oldest while the newest is being written, so its number counts that one too
    being_written = 0 if "AsyncCheckpointIO" in values.all("calls") else 1
    for value in values.all(*KEEPS):
        kept = _whole(value)
        if kept is None or kept < 1:
            yield finding("error", "storage.generations_kept", "At least one complete checkpoint must be kept, not {value}.",
                          value=_said(value))  # fmt: skip
        else:
            yield from _fits(settings, kept + being_written)


def _fits(settings: Settings, held: int) -> Iterator[Finding]:
    plan, storage, chosen = settings.plan, settings.plan.scenario.storage, settings.plan.storage.chosen
    if chosen is None:
        return
    size, usable = plan.checkpoint.checkpoint_bytes, chosen.capacity_gib * GIB * storage.max_fill
    others = max(chosen.fill_ratio * chosen.capacity_gib * GIB - storage.generations_kept * size, 0.0)
    if others + held * size > usable * _ROUNDING:
        yield finding(
            "error", "storage.generations_kept",
            "{count} checkpoints of {size} do not fit: there is room for {usable}.",
            count=grouped(held), size=brief(size, BYTES), usable=brief(max(usable - others, 0.0), BYTES),
        )  # fmt: skip


def _groups(settings: Settings, values: Read) -> Iterator[Finding]:
    jumps, factors = values.all("replication_jump"), values.all("replication_factor")
    if not jumps and not factors:
        if any(value is True for value in values.all("replication")):
            yield finding("error", "replication.jump", "Copies are asked for without a jump and a number of them.")
        return
    jump, factor = _whole(jumps[0] if jumps else None), _whole(factors[0] if factors else None)
    if jump is None or factor is None or jump < 1 or factor < 2:
        yield finding("error", "replication.factor", "Copies need a jump of 1 or more and a factor of 2 or more.")
    elif settings.world_size % (jump * factor):
        yield finding(
            "error", "replication.factor", "{factor} copies with a jump of {jump} do not divide {ranks} ranks.",
            factor=grouped(factor), jump=grouped(jump), ranks=grouped(settings.world_size),
        )  # fmt: skip


# ---------------------------------------------------------------- times


def _timeouts(settings: Settings, values: Read) -> Iterator[Finding]:
    least_s = longest_stop_s(settings) * LEAST_MARGIN
    given = [*values.all(*TIMEOUTS), *(60 * v for v in values.all(*MINUTES) if isinstance(v, int | float))]
    for value in given:
        if value is not None and (not isinstance(value, int | float) or value < least_s / _ROUNDING):
            yield finding(
                "error", "workload.collective_timeout_s",
                "A timeout of {value} s would end the run: a save stops training for {stop}, and needs a margin.",
                value=_said(value), stop=shown(longest_stop_s(settings)),
            )  # fmt: skip


def _default_timeout(settings: Settings, default_s: float) -> Iterator[Finding]:
    if default_s < longest_stop_s(settings) * LEAST_MARGIN / _ROUNDING:
        yield finding(
            "error", "workload.collective_timeout_s",
            "No timeout is written, and the default of {value} s would end the run: a save stops training for {stop}.",
            value=f"{default_s:g}", stop=shown(longest_stop_s(settings)),
        )  # fmt: skip


def _before_the_end(settings: Settings, values: Read) -> Iterator[Finding]:
    least_s, path = final_save_s(settings), "planned.notice_s"
    for value in values.all("termination_grace_period_seconds"):
        if (_whole(value) or 0) < least_s:
            yield finding("error", path, "{value} s are too short for a last save of {save}.",
                          value=_said(value), save=shown(least_s))  # fmt: skip
    for value in values.all("sbatch_signal"):
        match = re.fullmatch(r"(?:[RB]+:)?\w+@(\d+)", str(value))
        seconds = int(match[1]) if match else SLURM_DEFAULT_S
        if seconds < least_s:
            yield finding("error", path, "A signal {value} s before the end is too late for a last save of {save}.",
                          value=seconds, save=shown(least_s))  # fmt: skip
        if seconds > MOST_SIGNAL_S:
            yield finding("error", path, "Slurm sends a signal 65,535 s before the end at most, not {value}.", value=seconds)
        for limit_s in (_clock_s(limit) for limit in values.all("sbatch_time")):
            if limit_s is not None and seconds >= limit_s:
                yield finding("error", "planned.every_s", "The signal comes {value} s before the end of {limit} s.",
                              value=seconds, limit=limit_s)  # fmt: skip


def _clock_s(value: Value) -> int | None:
    """Seconds of Slurm's D-HH:MM:SS; None where it is something else."""
    match = re.fullmatch(r"(\d+)-(\d\d):(\d\d):(\d\d)", str(value))
    if match is None:
        return None
    days, hours, minutes, seconds = map(int, match.groups())
    return ((days * 24 + hours) * 60 + minutes) * 60 + seconds


# ---------------------------------------------------------------- restarts and nodes


def _restarts(settings: Settings, values: Read) -> Iterator[Finding]:
    for value in values.all("max_restarts"):
        if not 1 <= (_whole(value) or 0) <= MOST_RESTARTS:
            yield finding("error", "failures.mtbi_s", "A limit of {value} restarts ends the run, or is no 32-bit number.",
                          value=_said(value))  # fmt: skip
    if values.all("backoff_limit") not in ((), (0,)):
        yield finding("error", "failures.mtbi_s", "backoffLimit must be 0: a pod that comes back alone cannot join the others.")
    if values.all("restart_policy") not in ((), ("Never",)):
        yield finding("error", "failures.mtbi_s", "restartPolicy must be Never: a process that comes back alone cannot join.")


def _nodes(settings: Settings, values: Read) -> Iterator[Finding]:
    work, spares = settings.plan.scenario.workload, settings.plan.scenario.spares.nodes
    legal: dict[str, tuple[Value, ...]] = {
        "parallelism": (work.nodes,), "completions": (work.nodes,), "sbatch_nodes": (work.nodes, work.nodes + spares),
        "nodes": (work.nodes,),
        "nnodes": (work.nodes, f"{work.nodes}:{work.nodes + spares}"), "nproc_per_node": (work.gpus_per_node,),
        "sbatch_gpus_per_node": (work.gpus_per_node,),
    }  # fmt: skip
    for name, allowed in legal.items():
        for value in values.all(name):
            if value not in allowed and not str(value).startswith("$"):
                yield finding("error", "workload.nodes", "{name} is {value}, and the plan has {plan}.",
                              name=name, value=_said(value), plan=_said(allowed[-1]))  # fmt: skip


def _file_systems(settings: Settings, values: Read) -> Iterator[Finding]:
    for one in fsx_rules.file_systems(values.document):
        yield from fsx_rules.broken(settings, one)
        if one.capacity_gib is not None:
            yield from _fits(settings, settings.plan.scenario.storage.generations_kept)


RULES: tuple[Rule, ...] = (
    _whole_steps, _local_divides, _retained, _kept, _groups, _timeouts, _before_the_end, _restarts, _nodes, _file_systems,
)  # fmt: skip
