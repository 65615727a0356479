"""`ckptplanner apply`: a plan as settings of the programs and services that carry it out, in files.

    ckptplanner apply FILE --target NAME... --out DIR [--name NAME=VALUE]... [--force] [--json]

A target is written unless a rule refuses its files, or there is nothing for it to write: then it says why. Errors of the plan
stop nothing but end with 3. A file that is there already and says something else is not written over without --force; then
nothing is written at all.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from ckptplanner.engine.csv_files import ExportError
from ckptplanner.engine.plan import Finding, Plan
from ckptplanner.engine.scenario import NamedScenario
from ckptplanner.engine.settings.folder import differing, files_of, write_files
from ckptplanner.engine.settings.names import NameRefused, names_from
from ckptplanner.engine.settings.target import NotPlanned, Settings, Target, Written, counted, settings_of
from ckptplanner.text import text
from ckptplanner.units import NBSP, SECONDS, brief

Parts = list[tuple[Target, Written]]
Writer = Callable[[Settings, Target], Written]


class ApplyError(ValueError):
    """What was asked for cannot be done; the message is one line and says what would be accepted."""


def add_arguments(command: argparse.ArgumentParser) -> None:
    """What only this command takes."""
    command.add_argument(
        "--target", metavar="NAME", action="append", required=True, dest="targets",
        help="what to write settings for; may be repeated; an unknown one lists them all",
    )  # fmt: skip
    command.add_argument("--out", required=True, metavar="DIR", type=Path, help="the folder; it is made where it is missing")
    command.add_argument(
        "--name", metavar="NAME=VALUE", action="append", default=[], dest="names",
        help="a folder or name at your site, shared_folder=/lustre/run for example; may be repeated",
    )  # fmt: skip
    command.add_argument("--force", action="store_true", help="write over files that differ")
    command.add_argument("--json", action="store_true", help="print one JSON object")


def applied(
    named: NamedScenario, plan: Plan, options: argparse.Namespace, targets: Sequence[Target], write: Writer
) -> tuple[str, bool]:
    """Write the files; JSON, or words for people, and whether there is an error finding.

    Raises:
        ApplyError: a target or a name is unknown, or the files cannot be written.
    """
    chosen = _chosen(options.targets, targets)
    names = _names(options.names)
    parts: Parts = []
    settings: Settings | None = None
    findings = list(plan.findings)
    try:
        settings = settings_of(named, plan, names)
    except NotPlanned as problem:
        reason = Finding("error", "storage.tier", text("{reason}", reason=problem))
        findings.append(reason)
        parts = [(target, Written((), (reason,))) for target in chosen]
    else:
        parts = [(target, write(settings, target)) for target in chosen]
        _write(options.out, parts, is_forced=options.force)
    has_errors = any(one.severity == "error" for one in (*findings, *(one for _, part in parts for one in part.findings)))
    if options.json:
        document = apply_document(parts, findings)
        return json.dumps(document, ensure_ascii=False, indent=1, allow_nan=False), has_errors
    return _words(named, settings, parts, findings, options.out), has_errors


def _chosen(ids: Sequence[str], targets: Sequence[Target]) -> tuple[Target, ...]:
    known = {target.id: target for target in targets}
    for one in ids:
        if one not in known:
            raise ApplyError(f"--target {one!r}: one of {', '.join(known)} is expected")
    return tuple(known[one] for one in dict.fromkeys(ids))


def _names(written: Sequence[str]) -> Any:
    values: dict[str, str] = {}
    for one in written:
        name, equals, value = one.partition("=")
        if not equals:
            raise ApplyError(f"--name {one!r}: NAME=VALUE is expected, shared_folder=/lustre/run for example")
        values[name.strip()] = value
    try:
        return names_from(values)
    except NameRefused as refused:
        raise ApplyError(f"--name {refused}") from refused


def _write(folder: Path, parts: Parts, *, is_forced: bool) -> None:
    files = files_of(part for _, part in parts)
    if not is_forced and (names := differing(folder, files)):
        others = ", ".join(names)
        raise ApplyError(
            f"{folder}: {others} would be written over and say something else now: another --out, or --force, is expected"
        )
    try:
        write_files(folder, files)
    except ExportError as error:
        raise ApplyError(f"--out {folder}: {error}") from error


def apply_document(parts: Parts, findings: Sequence[Finding]) -> dict[str, Any]:
    """The JSON of `apply`: files with their targets, and the plan's findings before those of each target."""
    said: list[tuple[str | None, Finding]] = [(None, one) for one in findings]
    said += [(target.id, one) for target, part in parts for one in part.findings if one not in findings]
    return {
        "files": [
            {"name": file.name, "target": target.id, "version": target.version, "checked": target.checked or None}
            for target, part in parts
            for file in part.files
        ],
        "not_written": [
            {"target": target.id, "path": one.path, "message": one.message} for target, part in parts for one in reasons(part)
        ],
        "findings": [
            {"severity": one.severity, "path": one.path, "message": one.message, "target": target} for target, one in said
        ],
    }


def _words(named: NamedScenario, settings: Settings | None, parts: Parts, findings: Sequence[Finding], folder: Path) -> str:
    """What people read: the interval in steps, the files, what the targets cannot do, and the plan's errors."""
    lines = [named.name]
    if settings is not None:
        lines.append(steps_line(settings))
    for target, part in parts:
        why = reasons(part)
        lines += ["", f"{target.title} ({target.version}):", *(f"  {folder / file.name}" for file in part.files)]
        lines += [f"  not written: {one.path}: {one.message}" for one in why]
        lines += [f"  {one.severity}: {one.path}: {one.message}" for one in part.findings if one not in why]
    told = {one for _, part in parts for one in part.findings}
    errors = [one for one in findings if one.severity == "error" and one not in told]
    if errors:
        lines += ["", *(f"error: {one.path}: {one.message}" for one in errors)]
    if errors and any(part.files for _, part in parts):
        lines += ["", "The files do what this plan says, its errors included: mend the plan before you use them."]
    return "\n".join(lines)


def reasons(part: Written) -> tuple[Finding, ...]:
    """Why a target has no files: its errors, or what it says where there is nothing for it to write; none where it has some."""
    if part.files:
        return ()
    return tuple(one for one in part.findings if one.severity == "error") or part.findings


def steps_line(settings: Settings) -> str:
    """The interval in whole steps, and the time that this really gives."""
    step = brief(settings.step_s, SECONDS)
    every = f"every {counted(settings.interval_steps, 'step')} of {step} = {brief(settings.interval_s, SECONDS)}"
    if settings.local_steps is None or settings.local_interval_s is None:
        return f"Save {every}".replace(NBSP, " ")
    local = f"{counted(settings.local_steps, 'step')} = {brief(settings.local_interval_s, SECONDS)}"
    return f"Save locally every {local}, to shared storage {every}".replace(NBSP, " ")
