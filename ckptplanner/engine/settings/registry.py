"""All targets, in the order in which they are offered, and files that no rule refuses."""

from __future__ import annotations

from collections.abc import Iterable

from ckptplanner.engine.plan import Finding
from ckptplanner.engine.settings import (
    dcp,
    deepspeed,
    fsx_files,
    huggingface,
    lightning,
    measuring,
    megatron,
    nvrx,
    s3_dra,
    schedulers,
    torchtitan,
    trimming,
)
from ckptplanner.engine.settings.rules import broken_rules
from ckptplanner.engine.settings.target import Settings, SettingsFile, Target, Written

IDS = (
    "megatron-lm", "megatron-bridge", "torchtitan", "torchtitan-0.2", "hf-trainer", "lightning", "nemo2", "deepspeed", "nvrx",
    "dcp", "fsx-cli", "fsx-cloudformation", "fsx-terraform", "s3-dra", "slurm", "jobset", "trim", "measure",
)  # fmt: skip
FAMILIES = (
    megatron, torchtitan, huggingface, lightning, deepspeed, nvrx, dcp, fsx_files, s3_dra, schedulers, trimming, measuring,
)  # fmt: skip
TARGETS: tuple[Target, ...] = tuple(
    sorted((target for family in FAMILIES for target in family.TARGETS), key=lambda target: IDS.index(target.id))
)


def target(id: str) -> Target:
    """The target of that id.

    Raises:
        KeyError: there is none; the message lists those that exist.
    """
    for one in TARGETS:
        if one.id == id:
            return one
    raise KeyError(f"no target {id!r}; there are {', '.join(one.id for one in TARGETS)}")


def write_all(settings: Settings, ids: Iterable[str]) -> Written:
    """The files of these targets and what they cannot do; a target that breaks a rule is left out, and why is said."""
    files: list[SettingsFile] = []
    findings: list[Finding] = []
    for one in (target(id) for id in ids):
        written = one.write(settings)
        known = {(found.severity, found.path) for found in written.findings}  # what the target itself says, it says better
        broken = [rule for rule in broken_rules(settings, written, one.id) if (rule.severity, rule.path) not in known]
        refused = [rule for rule in broken if rule.severity == "error"]
        findings += refused or (*written.findings, *broken)  # what a file cannot do says nothing of one that is not written
        files += () if refused else written.files
    return Written(tuple(files), tuple(dict.fromkeys(findings)))
