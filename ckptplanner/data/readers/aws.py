"""What AWS says about file systems and instances: `aws fsx describe-file-systems` and `aws ec2 describe-instance-types`.

    FileSystems[]     Lustre only: StorageCapacity (GiB), DeploymentType, PerUnitStorageThroughput (MB/s/TiB), EfaEnabled
    InstanceTypes[]   MemoryInfo.SizeInMiB, GpuInfo, InstanceStorageInfo (decimal GB), NetworkInfo.NetworkCards, EfaInfo

Checked with the output shapes of botocore 1.43.11 and 1.44.8, and with AWS's own data as moto 5.2.1 bundles it. Owners, tags,
ids, ARNs and names of hosts stay in the file: a file system is called by its place in the list. Prices are in aws_prices.py.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from pydantic import ValidationError

from ckptplanner.data import catalog
from ckptplanner.data.evidence import Fact, FileEvidence
from ckptplanner.data.readers import aws_prices
from ckptplanner.data.readers.json_values import as_count, as_list, as_number, as_object, as_text, at, objects
from ckptplanner.data.readers.source import Head, Opened, Reader
from ckptplanner.data.records import FsxTier, NodeType, StorageTier
from ckptplanner.text import Text, text
from ckptplanner.units import BYTES, BYTES_PER_S, GB, GBPS, GIB, GIBS, MB, MIB, brief, grouped, significant

MOST_SYSTEMS, MOST_TYPES = 200, 200
_P2 = ("PERSISTENT_2", "SSD")
_NAMES = {
    "SCRATCH_1": "Scratch 1",
    "SCRATCH_2": "Scratch 2",
    "PERSISTENT_1": "Persistent 1",
    "PERSISTENT_2": "Persistent 2",
}
_GONE = ("FAILED", "DELETING", "MISCONFIGURED_UNAVAILABLE")
_METADATA_IOPS = (1500, 3000, 6000, *range(12000, 192001, 12000))
_MOST_HBM_MIB = 409_600.0  # trn2 is said to have 524,288 MiB a device
_FSX_LIST = re.compile(r'"FileSystems"\s*:\s*\[')
_TYPE_LIST = re.compile(r'"InstanceTypes"\s*:\s*\[')
_TYPE_NAME = re.compile(r"[a-z][a-z0-9-]{0,20}\.[a-z0-9-]{1,20}")


# ---------------------------------------------------------------- aws fsx describe-file-systems


def _knows_fsx(head: Head) -> bool:
    return head.is_json and _FSX_LIST.search(head.text) is not None and head.has('"FileSystemType"')


def _read_fsx(opened: Opened) -> FileEvidence:
    systems = as_list(at(opened.json(), "FileSystems"))
    lustre = [(index, one) for index, one in objects(systems) if one.get("FileSystemType") == "LUSTRE"]
    if not lustre:
        raise opened.refuse("there is no Lustre file system in it; describe-file-systems of FSx for Lustre is expected")
    warnings, facts = list[Text](), list[Fact]()
    if len(lustre) < len(systems):
        warnings.append(
            text("{count} file systems are not Lustre and were left out.", count=grouped(len(systems) - len(lustre)))
        )
    if len(lustre) > MOST_SYSTEMS:
        warnings.append(text("Only the first {count} file systems were read.", count=grouped(MOST_SYSTEMS)))
    for number, (index, system) in enumerate(lustre[:MOST_SYSTEMS], start=1):
        facts += _system_facts(opened, number, index, system, warnings)
    return FileEvidence(
        reader="aws-fsx", title=text("FSx file systems (aws fsx describe-file-systems)"), file=opened.name, date=opened.date,
        facts=tuple(facts), warnings=tuple(warnings),
    )  # fmt: skip


def _system_facts(opened: Opened, number: int, index: int, system: dict[str, Any], warnings: list[Text]) -> Iterator[Fact]:
    """What one file system is: a legal one for `storage.tier`, or what it does for `storage.custom`."""
    lustre, gib = as_object(system.get("LustreConfiguration")), as_number(system.get("StorageCapacity"), 1.0, 2**31)
    kind = as_text(lustre.get("DeploymentType")), as_text(system.get("StorageType", "SSD"))
    known = {tier.throughput_mb_per_s_per_tib for tier in catalog.fsx_tiers()}
    notes = tuple(_notes(number, system, lustre, warnings))
    place, is_there = opened.place(f"FileSystems[{index}]"), system.get("Lifecycle") not in _GONE
    if kind == _P2 and gib is not None:
        rate = as_number(lustre.get("PerUnitStorageThroughput"), 1.0, 99_999.0)
        if rate not in known or gib != int(gib):
            warnings.append(
                text("File system {number}: {rate} MB/s/TiB is no throughput of Persistent 2 that is known here; it is shown "
                     "only.", number=number, rate="?" if rate is None else grouped(rate))
            )  # fmt: skip
            is_there = False
        rate, efa = rate or 0.0, _has_efa(number, lustre, warnings)
        if is_there:
            warnings += _illegal(number, _p2_tier(rate, efa=efa), gib)
        shown = f"Persistent 2, {rate:.0f} MB/s/TiB, {grouped(gib)} GiB" + (", EFA" if efa else "")
        value = f"p2-{rate:.0f}-{gib:.0f}" + ("-efa" if efa else "")
        title = text("File system {number}, {size}", number=number, size=brief(gib, GIBS))
        yield Fact("storage.tier" if is_there else None, title, value, place, shown, notes=notes)
        return
    yield from _other_system(opened, number, index, system, notes, is_there=is_there)


def _has_efa(number: int, lustre: dict[str, Any], warnings: list[Text]) -> bool:
    """Absent is no; EFA goes with a metadata configuration only."""
    said = lustre.get("EfaEnabled")
    if said not in (None, True, False):
        warnings.append(text("File system {number}: EfaEnabled is neither true nor false; taken as no.", number=number))
    if said is True and not as_object(lustre.get("MetadataConfiguration")):
        warnings.append(
            text("File system {number}: EFA without a metadata configuration is not known to exist; check it.", number=number)
        )
    return said is True


def _p2_tier(rate: float, *, efa: bool) -> FsxTier:
    return next(one for one in catalog.fsx_tiers() if (one.throughput_mb_per_s_per_tib, one.efa) == (rate, efa))


def _illegal(number: int, tier: FsxTier, gib: float) -> Iterator[Text]:
    """A sentence where the service does not sell this capacity."""
    if gib != tier.small_gib and gib % tier.step_gib:
        yield text(
            "File system {number}: {size} is no capacity that is sold as {name}: multiples of {step} are.",
            number=number, size=brief(gib, GIBS), name=tier.name, step=brief(tier.step_gib, GIBS),
        )  # fmt: skip


def _notes(number: int, system: dict[str, Any], lustre: dict[str, Any], warnings: list[Text]) -> Iterator[Text]:
    """What is to be known of a file system beside its size and its rate."""
    lifecycle, metadata = as_text(system.get("Lifecycle"), 40), as_object(lustre.get("MetadataConfiguration"))
    if lifecycle in _GONE:
        warnings.append(text("File system {number} is {state}: it is shown only.", number=number, state=lifecycle))
    elif lifecycle not in ("", "AVAILABLE"):
        yield text("Its state is {state}.", state=lifecycle)
    if metadata:
        iops = as_count(metadata.get("Iops"))
        mode = as_text(metadata.get("Mode"), 40)
        yield text("Metadata: {mode}, {iops} IOPS.", mode=mode or "?", iops="?" if iops is None else grouped(iops))
        if mode == "USER_PROVISIONED":
            yield text("IOPS of metadata that were asked for are billed apart: they are in no price here.")
            if iops is not None and iops not in _METADATA_IOPS:
                warnings.append(text("File system {number}: {iops} IOPS are not sold.", number=number, iops=grouped(iops)))
    if lustre.get("DataCompressionType") == "LZ4":
        yield text("Compressed with LZ4: the space in use is smaller than what is written, so read no checkpoint size off it.")
    yield text("What others write to it is not in this file.")


def _other_system(
    opened: Opened, number: int, index: int, system: dict[str, Any], notes: tuple[Text, ...], *, is_there: bool
) -> Iterator[Fact]:
    """Persistent 1, Scratch, Intelligent-Tiering: what it writes, reads and holds, where its kind is in the catalog."""
    lustre = as_object(system.get("LustreConfiguration"))
    tier, gib = _catalog_tier(system, lustre), as_number(system.get("StorageCapacity"), 1.0, 2**31)
    bought = as_number(lustre.get("ThroughputCapacity"), 1.0, 1e9)
    deployment = as_text(lustre.get("DeploymentType"), 40)
    storage = as_text(system.get("StorageType"), 40)
    name = tier.name if tier is not None else f"{_NAMES.get(deployment, deployment or '?')}, {storage or '?'}"
    place, value = opened.place(f"FileSystems[{index}]"), dict[str, float]()
    if bought is not None and storage == "INTELLIGENT_TIERING":
        value = {"write_bytes_per_s": bought * MB, "read_bytes_per_s": bought * MB}
        notes = (*notes, text("Its room is elastic, so the file names no capacity; reads are taken to be as fast as writes."))
    elif tier is not None and tier.write_mb_per_s_per_tib and tier.read_mb_per_s_per_tib and gib is not None:
        per_unit = gib / tier.counted_gib * MB
        value = {
            "write_bytes_per_s": per_unit * tier.write_mb_per_s_per_tib,
            "read_bytes_per_s": per_unit * tier.read_mb_per_s_per_tib,
            "usable_bytes": gib * GIB,
        }
        notes = (*notes, text("Rates by the rule of the catalog: {note}", note=tier.note or tier.name))
    title = text("File system {number}, {size}", number=number, size="?" if gib is None else brief(gib, GIBS))
    if bought is not None and gib is None:
        title = text("File system {number}, {size}", number=number, size=brief(bought * MB, BYTES_PER_S))
    if not value:
        notes = (*notes, text("No rule is known for what such a file system sustains: measure it."))
        yield Fact(None, title, name, place, name, notes=notes)
        return
    shown = f"{name}: {brief(value['write_bytes_per_s'], BYTES_PER_S)}, {brief(value['read_bytes_per_s'], BYTES_PER_S)}"
    yield Fact("storage.custom" if is_there else None, title, value, place, shown, notes=notes)


def _catalog_tier(system: dict[str, Any], lustre: dict[str, Any]) -> StorageTier | None:
    """The row of the catalog that a file system is one of."""
    rate = as_count(lustre.get("PerUnitStorageThroughput"))
    hdd = "hdd-" if system.get("StorageType") == "HDD" else ""
    row = {"SCRATCH_1": "scratch-1", "SCRATCH_2": "scratch-2", "PERSISTENT_1": f"p1-{hdd}{rate}"}
    wanted = row.get(as_text(lustre.get("DeploymentType")))
    return next((tier for tier in catalog.storage_tiers() if tier.id == wanted), None)


# ---------------------------------------------------------------- aws ec2 describe-instance-types


def _knows_types(head: Head) -> bool:
    return head.is_json and _TYPE_LIST.search(head.text) is not None and head.has('"InstanceType"')


def _read_types(opened: Opened) -> FileEvidence:
    listed = as_list(at(opened.json(), "InstanceTypes"))
    warnings, facts, without = list[Text](), list[Fact](), 0
    for index, one in objects(listed):
        name = as_text(one.get("InstanceType"), 45)
        if not _TYPE_NAME.fullmatch(name):
            warnings.append(text("InstanceTypes[{index}] has no name of an instance type and was left out.", index=index))
        elif not _devices(one):
            without += 1
        elif len(facts) < MOST_TYPES:
            facts += _node_fact(opened, index, name, one, warnings)
        else:
            warnings.append(text("Only the first {count} instance types were read.", count=grouped(MOST_TYPES)))
            break
    if without:
        warnings.append(text("{count} instance types without accelerators were left out.", count=grouped(without)))
    if not facts:
        raise opened.refuse("there is no instance type with GPUs or other accelerators in it")
    return FileEvidence(
        reader="aws-ec2", title=text("EC2 instance types (aws ec2 describe-instance-types)"), file=opened.name,
        date=opened.date, facts=tuple(facts), warnings=tuple(warnings[:MOST_TYPES]),
    )  # fmt: skip


def _devices(one: dict[str, Any]) -> list[tuple[str, int, float | None]]:
    """Name, number and memory in MiB of the accelerators."""
    lists = at(one, "GpuInfo", "Gpus"), at(one, "NeuronInfo", "NeuronDevices")
    found = []
    for _, device in (pair for devices in lists for pair in objects(devices)):
        count = as_count(device.get("Count"), 1_000)
        if count:
            size = as_number(at(device, "MemoryInfo", "SizeInMiB"), 1.0, 1e9)
            found.append((as_text(device.get("Name"), 60) or "?", count, size))
    return found


def _node_fact(opened: Opened, index: int, name: str, one: dict[str, Any], warnings: list[Text]) -> Iterator[Fact]:
    """A kind of node as the file has it; what the file does not say comes from the catalog's row of the same name."""
    row = next((known for known in catalog.nodes() if known.id == name), None)
    said = _said(one, name, warnings)
    if row is not None:
        _compare(row, said, warnings)
    # the links inside a node are the catalog's: the file says nothing of them
    inside = {} if row is None else row.model_dump()
    given = {"id": name, "name": name, "date": opened.date, "status": "documented", "note": "" if row is None else row.note}
    source = f"aws ec2 describe-instance-types, {opened.name}" + ("" if row is None else f"; what it leaves out: {row.source}")
    try:
        node = NodeType.model_validate({**inside, **said, **given, "source": source})
    except ValidationError:
        warnings.append(text("{name} was left out: its numbers do not go together.", name=name))
        return
    parts = [f"{node.gpus} x {node.accelerator}"]
    if node.host_ram_gib:
        parts.append(f"{grouped(node.host_ram_gib)} GiB")
    if node.nvme_count and node.nvme_bytes_each:
        parts.append(f"NVMe {node.nvme_count} x {brief(node.nvme_bytes_each, BYTES)}")
    if node.network_bytes_per_s:
        parts.append(f"{significant(node.network_bytes_per_s / GBPS)} Gbps")
    yield Fact(
        "workload.node", text("Node, {name}", name=name), node, opened.place(f"InstanceTypes[{index}]"), ", ".join(parts),
        notes=tuple(_node_notes(one)),
    )  # fmt: skip


def _said(one: dict[str, Any], name: str, warnings: list[Text]) -> dict[str, Any]:
    """The fields of a NodeType that the file gives."""
    devices = _devices(one)
    sizes = {size for _, _, size in devices}
    found: dict[str, Any] = {"accelerator": devices[0][0], "gpus": sum(count for _, count, _ in devices)}
    size_mib = next(iter(sizes)) if len(sizes) == 1 else None
    if size_mib is not None and size_mib <= _MOST_HBM_MIB:
        found["hbm_bytes_per_gpu"] = size_mib * MIB
    elif size_mib is not None:
        warnings.append(
            text("{name}: {size} for one accelerator is more than any has; it was left out.", name=name,
                 size=brief(size_mib * MIB, BYTES))
        )  # fmt: skip
    else:
        warnings.append(text("{name}: the memory of one GPU is not clear from the file.", name=name))
    ram_mib = as_number(at(one, "MemoryInfo", "SizeInMiB"), 1.0, 1e12)
    if ram_mib is not None:
        found["host_ram_gib"] = ram_mib * MIB / GIB
    found |= _drives(one, name, warnings)
    interfaces = as_count(at(one, "NetworkInfo", "EfaInfo", "MaximumEfaInterfaces"), 10_000)
    if interfaces is not None:
        found["efa_interfaces"] = interfaces
    return found | _cards(one, interfaces)


def _drives(one: dict[str, Any], name: str, warnings: list[Text]) -> dict[str, Any]:
    """Number and size of the local drives; sizes are decimal GB."""
    if one.get("InstanceStorageSupported") is False:
        return {"nvme_count": 0, "nvme_bytes_each": None}
    info = as_object(one.get("InstanceStorageInfo"))
    drives = [
        (as_count(disk.get("Count"), 1_000), as_number(disk.get("SizeInGB"), 1.0, 1e7))
        for _, disk in objects(info.get("Disks"))
        if disk.get("Type") != "hdd"
    ]
    if not drives:
        return {}
    counts = [count for count, _ in drives if count]
    sizes = {size for _, size in drives if size is not None}
    total_gb = as_number(info.get("TotalSizeInGB"), 0.0, 1e9)
    if len(sizes) != 1 or len(counts) != len(drives):
        warnings.append(text("{name}: its local drives are not all alike, so they were left out.", name=name))
        return {}
    each_gb = next(iter(sizes))
    if total_gb is not None and total_gb != sum(counts) * each_gb:
        warnings.append(
            text("{name}: the drives do not add up to the total that the file names, {total} GB.",
                 name=name, total=grouped(total_gb))
        )  # fmt: skip
    return {"nvme_count": sum(counts), "nvme_bytes_each": each_gb * GB}


def _cards(one: dict[str, Any], efa_interfaces: int | None) -> dict[str, Any]:
    """Network cards by their baseline; where one card more than EFA interfaces is there, the first is for TCP alone.

    NetworkPerformance is prose, and is not read.
    """
    listed = list(objects(at(one, "NetworkInfo", "NetworkCards")))
    rates = [as_number(card.get("BaselineBandwidthInGbps"), 0.0, 1e6) for _, card in listed]
    known = [rate for rate in rates if rate is not None]
    if not known or len(known) != len(rates):
        return {}
    found: dict[str, Any] = {"network_cards": len(known)}
    if efa_interfaces is not None and len(known) == efa_interfaces + 1 > 1:
        return found | {"ena_bytes_per_s": known[0] * GBPS, "network_bytes_per_s": sum(known[1:]) * GBPS}
    return found | {"network_bytes_per_s": sum(known) * GBPS}


def _node_notes(one: dict[str, Any]) -> Iterator[Text]:
    cards = [
        as_number(card.get("BaselineBandwidthInGbps"), 0.0, 1e6) for _, card in objects(at(one, "NetworkInfo", "NetworkCards"))
    ]
    if cards and cards[0] is not None:
        yield text(
            "Card 0 has {first} Gbps of {cards} cards with {sum} Gbps in all.",
            first=grouped(cards[0]), cards=len(cards), sum=grouped(sum(rate or 0.0 for rate in cards)),
        )  # fmt: skip
    yield text("Links between GPU, host memory and cards are the catalog's: the file does not say them.")


_COMPARED = {
    "gpus": ("GPUs", 1.0),
    "hbm_bytes_per_gpu": ("GiB HBM", GIB),
    "host_ram_gib": ("GiB RAM", 1.0),
    "nvme_count": ("drives", 1.0),
    "nvme_bytes_each": ("GB each drive", GB),
    "network_bytes_per_s": ("Gbps network", GBPS),
    "network_cards": ("network cards", 1.0),
    "efa_interfaces": ("EFA interfaces", 1.0),
    "ena_bytes_per_s": ("Gbps ENA", GBPS),
}


def _compare(row: NodeType, said: dict[str, Any], warnings: list[Text]) -> None:
    """Say where the file and the catalog differ. The file's numbers are taken, but for names and the whole network.

    For some types the baselines of the cards add up to less than EFA carries (p6-b200), or to more than the instance may
    use (g6e.24xlarge): where they differ from the catalog's figure, its is kept.
    """
    said["accelerator"] = row.accelerator
    for field, (words, scale) in _COMPARED.items():
        ours, theirs = getattr(row, field), said.get(field)
        if ours is None or theirs is None or abs(ours - theirs) <= 1e-3 * abs(ours):
            continue
        is_network = field == "network_bytes_per_s"
        kept = text("The catalog's is kept: baselines of cards need not add up to what an instance moves.")
        taken = text("The file's is taken.")
        warnings.append(
            text("{name}: the file has {theirs} {what}, the catalog {ours}. {which}", name=row.id,
                 theirs=grouped(theirs / scale), ours=grouped(ours / scale), what=words, which=kept if is_network else taken)
        )  # fmt: skip
        if is_network:
            said[field] = ours


READERS: tuple[Reader, ...] = (
    Reader("aws-fsx", text("FSx file systems (aws fsx describe-file-systems)"), _knows_fsx, _read_fsx),
    Reader("aws-ec2", text("EC2 instance types (aws ec2 describe-instance-types)"), _knows_types, _read_types),
    *aws_prices.READERS,
)
