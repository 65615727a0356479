"""The rules of FSx for Lustre that no validator knows: capacities, throughputs, EFA, metadata, versions, quotas."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ckptplanner.data.records import FsxTier
from ckptplanner.engine.plan import Finding, finding
from ckptplanner.engine.settings.target import Settings
from ckptplanner.text import text
from ckptplanner.units import grouped, significant

VERSION = "2.15"
VERSIONS = ("2.10", "2.12", "2.15")
MOST_IOPS, IOPS_STEP = 192_000, 12_000
SMALL_IOPS = (1_500, 3_000, 6_000)
MOST_TOKEN = 63


@dataclass(frozen=True, slots=True)
class FileSystem:
    """A file system as a file asks for it; None where the file says nothing or refers to something else."""

    capacity_gib: float | None
    throughput: float | None
    deployment: str | None
    storage: str | None
    efa: bool
    version: str | None
    metadata_mode: str | None
    iops: float | None
    subnets: int | None
    token: str | None


def file_systems(document: Any) -> Iterator[FileSystem]:
    """The file systems of an AWS CLI request, a CloudFormation template or Terraform's JSON."""
    if not isinstance(document, dict):
        return
    if "LustreConfiguration" in document or document.get("FileSystemType") == "LUSTRE":
        yield _of_api(document)
    for resource in _values(document.get("Resources")):
        if isinstance(resource, dict) and resource.get("Type") == "AWS::FSx::FileSystem":
            yield _of_api(_map(resource.get("Properties")))
    resources = document.get("resource")
    for group in resources if isinstance(resources, list) else [resources]:
        for found in _values(_map(group).get("aws_fsx_lustre_file_system")):
            yield from (_of_terraform(one) for one in (found if isinstance(found, list) else [found]) if isinstance(one, dict))


def _values(part: Any) -> list[Any]:
    return list(part.values()) if isinstance(part, dict) else []


def _map(part: Any) -> dict[str, Any]:
    """A table; Terraform's JSON may write one in a list."""
    if isinstance(part, list) and len(part) == 1:
        part = part[0]
    return part if isinstance(part, dict) else {}


def _number(value: Any) -> float | None:
    if isinstance(value, bool):
        return None
    try:
        return float(value)
    except (TypeError, ValueError):
        return None


def _word(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _count(value: Any) -> int | None:
    return len(value) if isinstance(value, list) else None


def _of_api(part: dict[str, Any]) -> FileSystem:
    lustre = _map(part.get("LustreConfiguration"))
    metadata = _map(lustre.get("MetadataConfiguration"))
    return FileSystem(
        _number(part.get("StorageCapacity")), _number(lustre.get("PerUnitStorageThroughput")),
        _word(lustre.get("DeploymentType")), _word(part.get("StorageType")), lustre.get("EfaEnabled") is True,
        _word(part.get("FileSystemTypeVersion")), _word(metadata.get("Mode")), _number(metadata.get("Iops")),
        _count(part.get("SubnetIds")), _word(part.get("ClientRequestToken")),
    )  # fmt: skip


def _of_terraform(part: dict[str, Any]) -> FileSystem:
    metadata = _map(part.get("metadata_configuration"))
    return FileSystem(
        _number(part.get("storage_capacity")), _number(part.get("per_unit_storage_throughput")),
        _word(part.get("deployment_type")), _word(part.get("storage_type")), part.get("efa_enabled") is True,
        _word(part.get("file_system_type_version")), _word(metadata.get("mode")), _number(metadata.get("iops")),
        _count(part.get("subnet_ids")), None,
    )  # fmt: skip


# ---------------------------------------------------------------- rules


def broken(settings: Settings, one: FileSystem) -> Iterator[Finding]:
    """What the service would refuse, as errors, and what needs asking for first, as warnings."""
    yield from _kind(one)
    yield from _size(settings, one)
    yield from _metadata(one)
    yield from _against_the_plan(settings, one)


def _kind(one: FileSystem) -> Iterator[Finding]:
    if one.deployment != "PERSISTENT_2":
        if one.efa:
            yield finding("error", "storage.efa", "EFA needs the deployment type PERSISTENT_2, and this is {type}.",
                          type=one.deployment or text("not given"))  # fmt: skip
        else:
            yield finding("error", "storage.tier", "The deployment type must be PERSISTENT_2, and this is {type}.",
                          type=one.deployment or text("not given"))  # fmt: skip
    if one.storage not in (None, "SSD"):
        yield finding("error", "storage.tier", "Only SSD storage has these sizes and throughputs, and this is {type}.",
                      type=one.storage)  # fmt: skip
    if one.subnets not in (None, 1):
        yield finding("error", "storage.tier", "A file system is in one subnet, and here are {count}.", count=one.subnets)
    if one.token is not None and not 1 <= len(one.token) <= MOST_TOKEN:
        yield finding("error", "storage.tier", "A request token has 1 to 63 characters, and this one has {count}.",
                      count=len(one.token))  # fmt: skip


def _size(settings: Settings, one: FileSystem) -> Iterator[Finding]:
    storage = settings.plan.scenario.storage
    tiers = [tier for tier in storage.tiers if tier.efa == one.efa]
    tier = next((row for row in tiers if row.throughput_mb_per_s_per_tib == one.throughput), None)
    if tier is None:
        yield finding(
            "error", "storage.tier", "Persistent 2 has no throughput of {given} MB/s/TiB; there are {legal}.",
            given=_shown(one.throughput), legal=", ".join(grouped(row.throughput_mb_per_s_per_tib) for row in tiers),
        )  # fmt: skip
    elif not _is_legal(one.capacity_gib, tier):
        small = text("{small} or ", small=grouped(tier.small_gib)) if tier.small_gib else ""
        yield finding(
            "error", "storage.tier",
            "A capacity of {given} GiB is refused: {small}multiples of {step} GiB are legal at {throughput} MB/s/TiB.",
            given=_shown(one.capacity_gib), small=small, step=grouped(tier.step_gib),
            throughput=grouped(tier.throughput_mb_per_s_per_tib),
        )  # fmt: skip
    capacity = one.capacity_gib or 0.0
    if storage.quota_gib is not None and capacity > storage.quota_gib:
        yield finding("error", "storage.quota_gib", "{given} GiB is above your quota of {quota} GiB.",
                      given=_shown(capacity), quota=grouped(storage.quota_gib))  # fmt: skip
    elif tier is not None and storage.quota_gib is None and capacity > tier.default_quota_gib:
        yield finding(
            "warning", "storage.quota_gib",
            "{given} GiB is above the default quota of {quota} GiB: ask AWS for it before the request is sent.",
            given=_shown(capacity), quota=grouped(tier.default_quota_gib),
        )  # fmt: skip


def _is_legal(capacity_gib: float | None, tier: FsxTier) -> bool:
    if capacity_gib is None:
        return False
    return capacity_gib == tier.small_gib or (capacity_gib >= tier.step_gib and capacity_gib % tier.step_gib == 0)


def automatic_iops(capacity_gib: float) -> int:
    """Metadata operations a second that AWS gives by itself at a size of SSD storage (FSx user guide, metadata)."""
    for below, iops in ((2_400, 1_500), (4_800, 3_000), (12_000, 6_000), (48_000, IOPS_STEP)):
        if capacity_gib < below:
            return iops
    return min(int(capacity_gib // 24_000) * IOPS_STEP, MOST_IOPS)


def _metadata(one: FileSystem) -> Iterator[Finding]:
    if one.version is not None and one.version not in VERSIONS:
        yield finding("error", "storage.tier", "There is no version {given} of FSx for Lustre; there are {legal}.",
                      given=one.version, legal=", ".join(VERSIONS))  # fmt: skip
    if one.metadata_mode is None:
        if one.efa:
            yield finding("error", "storage.efa", "EFA needs a metadata configuration, and there is none.")
        if one.iops is not None:
            yield finding("error", "storage.tier", "Metadata operations a second need the mode USER_PROVISIONED.")
        return
    if one.version not in (None, VERSION):
        yield finding("error", "storage.tier", "A metadata configuration needs version 2.15, and this is {given}.",
                      given=one.version)  # fmt: skip
    if one.metadata_mode == "AUTOMATIC":
        if one.iops is not None:
            yield finding("error", "storage.tier", "The metadata mode AUTOMATIC takes no number of operations a second.")
    elif one.metadata_mode != "USER_PROVISIONED":
        yield finding("error", "storage.tier", "There is no metadata mode {given}.", given=one.metadata_mode)
    else:
        yield from _iops(one)


def _iops(one: FileSystem) -> Iterator[Finding]:
    iops = one.iops or 0.0
    if iops not in SMALL_IOPS and not (IOPS_STEP <= iops <= MOST_IOPS and iops % IOPS_STEP == 0):
        yield finding(
            "error", "storage.tier",
            "{given} metadata operations a second are refused: 1,500, 3,000, 6,000, or multiples of 12,000 up to 192,000.",
            given=_shown(one.iops),
        )  # fmt: skip
    elif one.capacity_gib is not None and iops < automatic_iops(one.capacity_gib):
        yield finding(
            "error", "storage.tier",
            "{given} metadata operations a second are below the {least} that this size has by itself.",
            given=_shown(one.iops), least=grouped(automatic_iops(one.capacity_gib)),
        )  # fmt: skip


def _against_the_plan(settings: Settings, one: FileSystem) -> Iterator[Finding]:
    """The file asks for what the plan chose, or for as much of it."""
    chosen = settings.plan.storage.chosen
    if chosen is None or chosen.throughput_mb_per_s_per_tib is None:
        return
    if (one.throughput, one.capacity_gib, one.efa) != (chosen.throughput_mb_per_s_per_tib, chosen.capacity_gib, chosen.efa):
        yield finding(
            "error", "storage.tier", "The plan chose {plan}, and the file asks for {given}.",
            plan=_called(chosen.throughput_mb_per_s_per_tib, chosen.capacity_gib, chosen.efa),
            given=_called(one.throughput, one.capacity_gib, one.efa),
        )  # fmt: skip


def _called(throughput: float | None, capacity_gib: float | None, efa: bool) -> str:
    return f"p2-{_bare(throughput)}-{_bare(capacity_gib)}{'-efa' if efa else ''}"


def _bare(value: float | None) -> str:
    return "?" if value is None else significant(value, 15).replace(",", "")


def _shown(value: float | None) -> str:
    return "?" if value is None else grouped(value, 0 if value == int(value) else 3)
