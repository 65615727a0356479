"""An S3 data repository association of the plan's FSx file system: what is written to one of its folders goes to a bucket.

Where the plan has saves that go to S3, a folder for those is linked and they stay; otherwise the folder of the saves, with
deletions, so that the bucket holds the generations that the file system holds. The export is no part of a save.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from ckptplanner.engine.operations import SaveRow
from ckptplanner.engine.plan import Finding, finding
from ckptplanner.engine.settings.doing import told
from ckptplanner.engine.settings.file_system import (
    file_system_of,
    malformed_ids,
    mount_of,
    tag_list,
    token,
    why_none,
)
from ckptplanner.engine.settings.target import Settings, SettingsFile, Target, Written, counted
from ckptplanner.engine.settings.writing import head, one_line, readme, shell_word
from ckptplanner.text import text
from ckptplanner.units import BYTES, DAY, SECONDS, TB, brief, grouped

NAME = "s3-dra.json"
PERMANENT = "permanent"  # the folder of the saves that stay
CHECKED = "request accepted by botocore 1.44.8 (ParamValidator)"
LARGEST_FILE_BYTES = 5 * TB  # that the FSx guide names for one object
_BUCKET = re.compile(r"[a-z0-9](?:[a-z0-9.-]{1,61})[a-z0-9]")
_NO_KEY = re.compile(r"[^A-Za-z0-9._-]")
_MOST_PATH = 4096


def _kept_in_s3(settings: Settings) -> tuple[SaveRow, ...]:
    """The saves of the plan that go to S3."""
    return tuple(row for row in settings.plan.scenario.saves if row.to == "s3")


def _folder(settings: Settings) -> str:
    """The linked folder as the file system has it, below its mount point."""
    _, folder = mount_of(settings.names.shared_folder)
    return f"{folder.rstrip('/')}/{PERMANENT}" if _kept_in_s3(settings) else folder


def _bucket(settings: Settings) -> tuple[str, str]:
    """The bucket and what stands before the keys: the user's prefix, if the name has one, and the job."""
    bucket, _, prefix = one_line(settings.names.bucket).strip().removeprefix("s3://").strip("/").partition("/")
    parts = [_NO_KEY.sub("-", part) for part in (*prefix.split("/"), settings.names.job) if part]
    return bucket, "/".join(parts)[:900]


def _uploaded_a_day(settings: Settings) -> float:
    """What is exported. [B/day]"""
    size, rows = settings.plan.checkpoint.checkpoint_bytes, _kept_in_s3(settings)
    if rows:
        return sum((row.bytes or size) * DAY / row.every_s for row in rows if row.every_s)
    return size * DAY / settings.interval_s


def request(settings: Settings) -> dict[str, Any]:
    """CreateDataRepositoryAssociation."""
    bucket, prefix = _bucket(settings)
    events = ["NEW", "CHANGED"] if _kept_in_s3(settings) else ["NEW", "CHANGED", "DELETED"]
    return {
        "ClientRequestToken": token(settings, "dra-"),
        "FileSystemId": settings.names.file_system_id,
        "FileSystemPath": _folder(settings)[:_MOST_PATH],
        "DataRepositoryPath": f"s3://{bucket}/{prefix}/",
        "BatchImportMetaDataOnCreate": False,
        "S3": {"AutoExportPolicy": {"Events": events}},
        "Tags": tag_list(settings),
    }


def write(settings: Settings) -> Written:
    """The request and a text beside it, where the plan has an FSx file system."""
    if file_system_of(settings.plan) is None:
        return Written((), (why_none(settings.plan),))
    content, findings = json.dumps(request(settings), indent=2) + "\n", tuple(_findings(settings))
    files = (SettingsFile(NAME, "json", content), readme(NAME, _lines(told(settings, findings))))
    return Written(files, findings)


# ---------------------------------------------------------------- what is said


def _lines(settings: Settings) -> Iterator[str]:
    mount, _ = mount_of(settings.names.shared_folder)
    rows, schedule = _kept_in_s3(settings), settings.plan.schedule
    a_day, size = brief(_uploaded_a_day(settings), BYTES), brief(settings.plan.checkpoint.checkpoint_bytes, BYTES)
    durable = "" if schedule is None else f" (t of the plan: {brief(schedule.durable_after_s, SECONDS)})"
    yield from head(settings, "S3 data repository association of an FSx for Lustre file system (AWS CLI 2)", CHECKED)
    yield ""
    yield f"FileSystemId: replace it by the id of the file system that was made; it is mounted at {mount} here"
    if rows:
        kinds = ", ".join(sorted({row.kind for row in rows}))
        yield f"FileSystemPath: for the plan's saves that go to S3 ({kinds}), {a_day} a day; write or copy them there"
        yield "Events: NEW and CHANGED: what has been exported stays in the bucket when it is removed from the file system"
    else:
        every = brief(settings.interval_s, SECONDS)
        yield f"FileSystemPath: the folder of the saves, from the plan {size} every {every}: {a_day} a day"
        yield (
            f"Events: with DELETED the bucket follows the file system, {counted(settings.keep, 'complete checkpoint')} from "
            "the plan; without it every save stays and is paid for. "
            "What is removed by mistake goes there too: turn on versioning"
        )
    yield "DataRepositoryPath: one bucket and prefix for one folder; versions and life cycles are set on the bucket"
    yield "BatchImportMetaDataOnCreate: false: there is nothing to read from a bucket that begins empty"
    yield "ClientRequestToken, Tags: from the plan's id"
    yield ""
    yield "Before: replace the id of the file system and the bucket. Make the folder, and give FSx rights to the bucket."
    region = shell_word(settings.plan.scenario.prices.region)
    yield f"  aws fsx create-data-repository-association --region {region} --cli-input-json file://{NAME}"
    yield ""
    yield "What it does not do:"
    yield f"- The export is not the write of the plan: a checkpoint can be restored from the file system once written{durable},"
    yield "  from S3 only when the export that begins after it is through: AgeOfOldestQueuedMessage (CloudWatch, AWS/FSx,"
    yield "  Publisher AutoExport) is 0 then."
    yield f"- Each export reads its {size} back from the file system, beside the next save: the plan does not count that load."
    yield "- Files are exported one by one: a folder in the bucket may be incomplete, whatever its marker says, until then."
    yield "- LZ4 on the file system saves nothing in S3: objects are written uncompressed, and the plan counts them so."
    yield "- A linked file system has no backups. At most 8 associations, made one at a time, and no folder inside another."
    yield "- Names must be UTF-8 and keys at most 1,024 bytes; objects arrive in S3 Standard."


def _findings(settings: Settings) -> Iterator[Finding]:
    work, rows = settings.plan.scenario.workload, _kept_in_s3(settings)
    yield from malformed_ids(settings, "file_system_id")
    bucket, _ = _bucket(settings)
    if not _BUCKET.fullmatch(bucket) or ".." in bucket:
        yield finding(
            "warning", "saves", "{bucket} is no name of a bucket: 3 to 63 small letters, digits, dots and hyphens.",
            bucket=bucket[:80] or "–",
        )  # fmt: skip
    if len(_folder(settings)) > _MOST_PATH:
        yield finding(
            "warning", "saves", "The folder's name is longer than {most} characters and was cut.", most=grouped(_MOST_PATH)
        )
    if work.writer == "single" and settings.plan.checkpoint.checkpoint_bytes > LARGEST_FILE_BYTES:
        yield finding(
            "warning", "workload.writer",
            "A file of {size} is larger than the {most} that FSx exports as one object: write in shards.",
            size=brief(settings.plan.checkpoint.checkpoint_bytes, BYTES), most=brief(LARGEST_FILE_BYTES, BYTES),
        )  # fmt: skip
    if rows:
        yield finding(
            "info", "saves",
            "FSx exports whatever lies in {folder}, and nothing writes there by itself: copy the saves that stay into it.",
            folder=_folder(settings),
        )  # fmt: skip
    else:
        yield finding(
            "info", "saves",
            "FSx exports every save, not one in a while: {amount} a day, each {size} read once more from the file system. To "
            "keep a few only, add a row that goes to S3 to the plan's saves.",
            amount=brief(_uploaded_a_day(settings), BYTES), size=brief(settings.plan.checkpoint.checkpoint_bytes, BYTES),
        )  # fmt: skip


TARGETS: tuple[Target, ...] = (
    Target("s3-dra", text("S3 data repository association"), "AWS CLI 2, FSx API 2018-03-01", CHECKED, "storage", write),
)  # fmt: skip
