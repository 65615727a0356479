"""The FSx for Lustre file system of a plan as AWS takes it, and from which figure of the plan each of its values comes.

The targets that make it, and the one that links it to S3, share this. Only what the service sells is let through: botocore
and cfn-lint take 333 MB/s/TiB and 33,601 GiB without a word.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ckptplanner.data import catalog
from ckptplanner.data.readers.rates import MOUNTS
from ckptplanner.data.records import FsxTier
from ckptplanner.engine import fsx
from ckptplanner.engine.bench_lines import writers
from ckptplanner.engine.plan import Finding, Option, Plan, finding
from ckptplanner.engine.scenario import AUTO_EFA_BYTES_PER_S, storage_price_path
from ckptplanner.engine.sentence import option_name
from ckptplanner.engine.settings.fsx_rules import MOST_IOPS, automatic_iops
from ckptplanner.engine.settings.target import Settings
from ckptplanner.engine.settings.writing import one_line
from ckptplanner.text import text
from ckptplanner.units import BYTES, BYTES_PER_S, FRACTION, GIB, SECONDS, brief, grouped

VERSION = "2.15"
QUOTA = "L-8F1B9C74"  # Persistent 2 SSD storage of an account in a region (public list of default quotas, undated)
CREATES_PER_IOPS = 2.0  # files made, opened or closed in a second for each metadata IOPS (user guide, performance)
SLOW_METADATA_FRACTION = 0.1  # of the write time
_LARGEST_GIB = 2**31 - 1  # of the API's integer
_IDS = {
    "subnet_id": re.compile(r"subnet-[0-9a-f]{8,17}"),
    "security_group_id": re.compile(r"sg-[0-9a-f]{8,17}"),
    "file_system_id": re.compile(r"fs-[0-9a-f]{8,17}"),
}
_ID_WORDS = {
    "subnet_id": text("a subnet"),
    "security_group_id": text("a security group"),
    "file_system_id": text("a file system"),
}


@dataclass(frozen=True, slots=True)
class FileSystem:
    """What is ordered: whole numbers, as the service counts them."""

    capacity_gib: int
    throughput_mb_per_s_per_tib: int
    efa: bool
    option: Option
    tier: FsxTier

    @property
    def metadata_iops(self) -> int:
        """What AUTOMATIC gives at this capacity; it grows with it up to the most that the service sells."""
        return automatic_iops(self.capacity_gib)


def file_system_of(plan: Plan) -> FileSystem | None:
    """The Persistent 2 file system that the plan has chosen; None where it has another, or one that is not sold."""
    option = plan.storage.chosen
    if option is None or option.throughput_mb_per_s_per_tib is None:
        return None
    tier = _tier(option)
    if tier is None or option.capacity_gib > _LARGEST_GIB or _sizes(option, tier) != (option.capacity_gib,):
        return None
    return FileSystem(round(option.capacity_gib), round(tier.throughput_mb_per_s_per_tib), option.efa, option, tier)


def _tier(option: Option) -> FsxTier | None:
    """The row of the catalog, never of the plan: a plan's file may hold rows that the service does not sell."""
    rows = (row for row in catalog.fsx_tiers() if row.efa == option.efa)
    return next((row for row in rows if row.throughput_mb_per_s_per_tib == option.throughput_mb_per_s_per_tib), None)


def _sizes(option: Option, tier: FsxTier) -> tuple[float, ...]:
    return fsx.legal_neighbours_gib(option.capacity_gib, tier.step_gib, tier.small_gib)


# ---------------------------------------------------------------- where there is none


def why_none(plan: Plan) -> Finding:
    """Why there is nothing to write, with the nearest file system that FSx sells."""
    option = plan.storage.chosen
    if option is None or option.throughput_mb_per_s_per_tib is None:
        return _is_another(plan)
    tier = _tier(option)
    if tier is None:
        offered = ", ".join(grouped(row.throughput_mb_per_s_per_tib) for row in catalog.fsx_tiers() if not row.efa)
        return finding(
            "warning", "storage.tier",
            "FSx sells no Persistent 2 of {throughput} MB/s/TiB, so nothing is written: it offers {offered}.",
            throughput=grouped(option.throughput_mb_per_s_per_tib), offered=offered,
        )  # fmt: skip
    if option.capacity_gib > _LARGEST_GIB:
        return finding(
            "warning", "storage.tier",
            "{size} GiB are more than AWS takes in one request: keep fewer checkpoints, or use several file systems.",
            size=grouped(option.capacity_gib),
        )  # fmt: skip
    sizes = ", ".join(grouped(size) for size in _sizes(option, tier))
    return finding(
        "warning", "storage.tier",
        "FSx sells no {size} GiB at {throughput} MB/s/TiB, so nothing is written: the next sizes are {sizes} GiB.",
        size=grouped(option.capacity_gib), throughput=grouped(option.throughput_mb_per_s_per_tib), sizes=sizes,
    )  # fmt: skip


def _is_another(plan: Plan) -> Finding:
    """The plan uses storage that exists."""
    legal = [option for option in plan.storage.options if option.is_offered and option.throughput_mb_per_s_per_tib is not None]
    near = min(legal, key=_price, default=None)
    if near is None:
        return finding(
            "warning", "storage.custom",
            "This plan uses storage that exists, and no FSx file system could take its place: nothing is written.",
        )  # fmt: skip
    return finding(
        "warning", "storage.custom",
        "This plan uses storage that exists, so no FSx file system is to be made; the nearest that FSx sells is {name} ({id}).",
        name=option_name(near), id=near.id,
    )  # fmt: skip


def _price(option: Option) -> tuple[bool, float]:
    price = option.usd_per_month
    return (price is None, option.capacity_gib if price is None else price)


# ---------------------------------------------------------------- from which figure


def remarks(settings: Settings, found: FileSystem) -> Mapping[str, str]:
    """For each value, by a name of its own, from which figure of the plan it comes; in the order of the request."""
    plan, option = settings.plan, found.option
    needed, baseline = _rate(plan.storage.required_write_bytes_per_s), _rate(option.baseline_bytes_per_s)
    efficiency = plan.scenario.storage.write_efficiency
    reached = "" if efficiency == 1.0 else f" at the {brief(efficiency, FRACTION)} of the rated speed that saves reach"
    grows = "and more when it grows" if found.metadata_iops < MOST_IOPS else "the most there is"
    lines = {
        "capacity": _capacity(settings, found),
        "throughput": f"from the plan: {grouped(found.capacity_gib)} GiB at "
        f"{grouped(found.throughput_mb_per_s_per_tib)} MB/s/TiB sustain {baseline}; a save needs {needed}"
        f"{reached} (required write); no burst is counted on",
        "deployment": "the plan is for Persistent 2 on SSD",
        "efa": _efa(settings, found),
        "metadata": f"AUTOMATIC: {grouped(found.metadata_iops)} IOPS at this capacity, {grows}; a save makes "
        f"{grouped(writers(plan))} files or more (ranks of the plan); EFA needs this configuration",
        "version": f"{VERSION}: the newest; EFA and metadata configurations need it",
        "compression": "NONE: trained state hardly shrinks, and the plan's capacity and rates are those of bytes as written",
        "network": "one subnet, in the zone of the plan's nodes; ports 988 and 1018 to 1023 open between nodes and file system"
        + ("; for EFA the security group must also let all traffic to and from itself pass" if found.efa else ""),
        "tags": f"the plan's id: {settings.plan_id}",
        "price": price_line(settings, found),
    }
    return {name: one_line(line) for name, line in lines.items()}


def _rate(value: float) -> str:
    return brief(value, BYTES_PER_S)


def _capacity(settings: Settings, found: FileSystem) -> str:
    plan, option, storage = settings.plan, found.option, settings.plan.scenario.storage
    held_gib = option.fill_ratio * option.capacity_gib
    kept = f"{grouped(storage.generations_kept)} checkpoints of {brief(plan.checkpoint.checkpoint_bytes, BYTES)}"
    if held_gib * GIB > storage.generations_kept * plan.checkpoint.checkpoint_bytes * 1.001:
        kept += " and what else lies there"
    step = f"steps of {grouped(found.tier.step_gib)} GiB" + (" (or 1,200 GiB alone)" if found.tier.small_gib else "")
    why = "as the plan has fixed it (storage.tier)"
    if option.bound_by == "throughput":
        needed, within = _rate(plan.storage.required_write_bytes_per_s), brief(storage.write_s, SECONDS)
        why = f"bound by throughput, {needed} for a write within {within}"
    elif option.bound_by == "capacity":
        why = f"bound by room, {grouped(held_gib)} GiB filled to at most {brief(storage.max_fill, FRACTION)}"
    return f"from the plan: {why}; {step}; {kept} fill {brief(option.fill_ratio, FRACTION, 2)} of it; it can grow, never shrink"


def _efa(settings: Settings, found: FileSystem) -> str:
    asked, needed = settings.plan.scenario.storage.efa, _rate(settings.plan.storage.required_write_bytes_per_s)
    limit = brief(AUTO_EFA_BYTES_PER_S, BYTES_PER_S)
    if found.efa:
        why = f"{needed} to write, where EFA is recommended above {limit}" if asked == "auto" else "the plan asks for it"
        return f"on, from the plan: {why}; fixed at creation, as is the throughput; clients need EFA in the same zone"
    why = f"{needed} to write, below {limit}" if asked == "auto" else "the plan has it off"
    return f"off, from the plan: {why}; it cannot be switched on later"


def price_line(settings: Settings, found: FileSystem) -> str:
    """What it costs a month, with the source and the date of the price."""
    prices, throughput = settings.plan.scenario.prices, float(found.throughput_mb_per_s_per_tib)
    each, month = prices.storage_usd_per_gib_month.at(throughput), found.option.usd_per_month
    if each is None or month is None:
        return f"price not known for {prices.region}: take it from your bill before you order"
    own, row = settings.named.source_of(storage_price_path(throughput)), catalog.storage_price(prices.region, throughput)
    if own is not None and own.text:
        source = f"{own.text}{', ' if own.date else ''}{own.date}"
    elif row is not None and row.usd_per_gib_month == each:
        source = f"{row.source}, {row.date}{', unverified' if row.status == 'unverified' else ''}"
    else:
        source = "as given in the plan"
    return f"${grouped(month)} a month in {prices.region}, at ${each:g} a GiB and month ({source})"


# ---------------------------------------------------------------- what is to be known before it is made


def cautions(settings: Settings, found: FileSystem, *names: str) -> Iterator[Finding]:
    """What stands in the way of this order.

    Args:
        names: The fields of Names that the target writes, to be checked.
    """
    yield from _quota(settings, found)
    yield from _metadata(settings, found)
    if found.efa and not settings.plan.scenario.network.same_zone:
        yield finding(
            "warning", "network.same_zone",
            "EFA reaches a file system in its own zone only: put the nodes there, or plan without EFA.",
        )  # fmt: skip
    yield from malformed_ids(settings, *names)


def _quota(settings: Settings, found: FileSystem) -> Iterator[Finding]:
    own = settings.plan.scenario.storage.quota_gib
    quota = found.tier.default_quota_gib if own is None else own
    if found.capacity_gib > quota:
        yield finding(
            "warning", "storage.quota_gib",
            "Ask AWS for {size} GiB of Persistent 2 SSD storage first (Service Quotas, fsx, {code}): this account has "
            "{quota} GiB unless it was raised, and the request would be refused.",
            size=grouped(found.capacity_gib), code=QUOTA, quota=grouped(quota),
        )  # fmt: skip


def _metadata(settings: Settings, found: FileSystem) -> Iterator[Finding]:
    files, storage = writers(settings.plan), settings.plan.scenario.storage
    making_s = files / (CREATES_PER_IOPS * found.metadata_iops)
    if making_s <= max(SLOW_METADATA_FRACTION * settings.write_s, storage.latency_s):
        return
    values = {"files": grouped(files), "time": brief(making_s, SECONDS), "iops": grouped(found.metadata_iops)}
    if found.metadata_iops < MOST_IOPS:
        yield finding(
            "info", "storage.latency_s",
            "Making {files} files takes about {time} of each save at the {iops} metadata IOPS of this size: add it to the "
            "fixed time, or set USER_PROVISIONED with more.",
            **values,
        )  # fmt: skip
    else:
        yield finding(
            "info", "storage.latency_s",
            "Making {files} files takes about {time} of each save at {iops} metadata IOPS, the most there is: add it to the "
            "fixed time.",
            **values,
        )  # fmt: skip


def malformed_ids(settings: Settings, *names: str) -> Iterator[Finding]:
    """Names of the user's site that AWS would not take."""
    for name in names:
        value = str(getattr(settings.names, name))
        if not _IDS[name].fullmatch(value):
            yield finding(
                "warning", "storage.tier",
                "{value} is no id of {what} as AWS writes it ({like}): replace it before you send the request.",
                value=one_line(value)[:60] or "–", what=_ID_WORDS[name],
                like=str(getattr(type(settings.names)(), name)),
            )  # fmt: skip


def is_given(settings: Settings, name: str) -> bool:
    """Whether the user has named it: it is no placeholder and looks like an id."""
    value = getattr(settings.names, name)
    return bool(value != getattr(type(settings.names)(), name) and _IDS[name].fullmatch(value))


# ---------------------------------------------------------------- names

_NO_TAG = re.compile(r"[^\w .:/=+\-@]")


def tags(settings: Settings) -> dict[str, str]:
    """The tags of what is made: letters, digits and the few signs that AWS takes."""
    name = _NO_TAG.sub("-", one_line(settings.names.job)).strip()[:200]
    return {"Name": f"checkpoints {name}".strip(), "ckptplanner-plan": settings.plan_id}


def tag_list(settings: Settings) -> list[dict[str, str]]:
    """The tags as the API and CloudFormation take them."""
    return [{"Key": key, "Value": value} for key, value in tags(settings).items()]


def token(settings: Settings, what: str = "") -> str:
    """An idempotency token: the same request twice makes one thing. At most 63 characters of the few that AWS takes."""
    return f"ckptplanner-{what}{settings.plan_id}"[:63]


def mount_of(folder: str) -> tuple[str, str]:
    """Where the file system of a folder is mounted, by its first part (two below /mnt and the like), and the folder in it."""
    parts = [part for part in one_line(folder).split("/") if part]
    count = 2 if parts[:1] and parts[0] in MOUNTS else 1
    return "/" + "/".join(parts[:count]), "/" + "/".join(parts[count:])
