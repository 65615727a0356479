"""Every file system that could be bought: which sizes of each kind are legal, what a size sustains, what it costs.

    kinds of FSx for Lustre, Lustre of other clouds   sizes by their steps     rate and price follow from the size
    S3                                                one size, elastic        rate from the connections of the nodes
    storage that exists                               one size                 as the scenario says

A `Supply` is one kind; `Supply.systems` makes the rows that outcome.py takes, any number at once. Persistent 2 on SSD and
storage that exists are the scenario's own; anything else enters a scenario as `storage.custom`, so its rows are what such a
storage would do for this job: no faster than the nodes feed it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ckptplanner.data import catalog
from ckptplanner.data.records import NO_REGION, FsxTier, StorageTier, TierPrice
from ckptplanner.engine import ceilings, fsx
from ckptplanner.engine.candidates import option_id
from ckptplanner.engine.job import Job
from ckptplanner.engine.outcome import FileSystems, node_limit_bytes_per_s
from ckptplanner.engine.scenario import AUTO_EFA_BYTES_PER_S, CustomStorage, Scenario, storage_price_path
from ckptplanner.frozen import BoolArray, FloatArray
from ckptplanner.text import Text, text
from ckptplanner.units import BYTES, GB, GIB, GIBS, MB, TIER, brief, grouped

P2, S3, EXISTING = "fsx-p2", "s3", "existing"
FAMILIES = (P2, "fsx-p1", "fsx-scratch", "fsx-it", "google", "azure", "oci", S3, EXISTING)
FAMILY_NAMES: Mapping[str, Text] = {
    P2: text("FSx Persistent 2"),
    "fsx-p1": text("FSx Persistent 1"),
    "fsx-scratch": text("FSx Scratch"),
    "fsx-it": text("FSx Intelligent-Tiering"),
    "google": text("Google Managed Lustre"),
    "azure": text("Azure Managed Lustre"),
    "oci": text("OCI Lustre"),
    S3: text("S3"),
    EXISTING: text("storage that exists"),
}
MOST_SIZES = 2_000_000  # of one kind, where neither the service nor the nodes set an end
S3_PREFIXES = 1  # of one job: what is promised without asking how its keys are named
_ROUNDING = 1e-9
_EFA = "-efa"  # behind the id of a class: the same over EFA


@dataclass(frozen=True, slots=True)
class Sizes:
    """Legal sizes, ascending: a few small ones, multiples of a step, beyond `until` multiples of a longer step.

    In GiB, or in B/s where throughput is bought; `first` and `last` are multiples of the step.
    """

    small: tuple[float, ...]
    step: float
    first: int
    last: int  # MOST_SIZES where the service names no end
    far_step: float = 0.0
    far_first: int = 1
    far_last: int = 0

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self.small) + max(self.last - self.first + 1, 0) + max(self.far_last - self.far_first + 1, 0)

    def at(self, index: Any) -> FloatArray:
        """The sizes at some indices. (n,) -> (n,)"""
        index = np.asarray(index, dtype=float)
        near = len(self.small)
        far = near + max(self.last - self.first + 1, 0)
        sizes = np.asarray((index - near + self.first) * self.step)
        if self.far_step:
            sizes = np.where(index >= far, (index - far + self.far_first) * self.far_step, sizes)
        if (is_small := index < near).any():
            sizes[is_small] = np.asarray(self.small)[index[is_small].astype(int)]
        return sizes

    def first_from(self, needed: float) -> int:
        """The index of the least size that is at least `needed`; `count` where none is."""
        return self._first(lambda size: size >= needed * (1.0 - _ROUNDING))

    def last_up_to(self, limit: float) -> int:
        """The index of the greatest size that is at most `limit`; -1 where none is."""
        return self._first(lambda size: size > limit * (1.0 + _ROUNDING)) - 1

    def _first(self, holds: Any) -> int:
        """The first index whose size passes a test that only larger ones pass too."""
        low, high = 0, self.count
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if holds(float(self.at(middle))) else (middle + 1, high)
        return low


ONE_SIZE = Sizes((1.0,), 1.0, 1, 0)


@dataclass(frozen=True, slots=True)
class Ask:
    """A price that is asked for: the name that it is given by, and what a source says that nobody vouches for."""

    id: str
    path: str  # a field of the scenario, or "" where `--price ID=VALUE` takes it
    what: Text
    suggested_usd: float | None = None
    source: str = ""
    date: str = ""


def job_prices(scenario: Scenario, job: Job) -> tuple[Ask, ...]:
    """The prices that a year of this job hangs on whatever file system it has, known or not."""
    found = []
    if not scenario.network.same_zone:
        found.append(Ask("cross-zone", "prices.cross_zone_usd_per_gb", text("a GB that crosses zones")))
    if scenario.spares.nodes:
        found.append(Ask("node", "prices.node_usd_per_h", text("an hour of a node, for the idle spares")))
    if job.s3_mean_bytes:
        found.append(Ask(S3, "prices.s3_usd_per_gb_month", text("a GB a month of S3")))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A kind of file system that takes no part, or not with all its sizes, and why."""

    family: str
    id: str
    name: str
    reason: Text


@dataclass(frozen=True, slots=True, eq=False)
class Writes:
    """What n file systems write; (n,) each."""

    bytes_per_s: FloatArray
    reach_bytes_per_s: FloatArray  # what one job's nodes feed, where that is not cut later on
    is_own: BoolArray  # the rate is one job's: others neither share it nor slow it down

    def at(self, scenario: Scenario, jobs_writing: FloatArray) -> FloatArray:
        """The rate that `storage.custom` or a file system has while so many jobs write at once. [B/s]"""
        load, efficiency = scenario.shared.load_bytes_per_s, scenario.storage.write_efficiency
        rate = np.where(self.is_own, self.bytes_per_s * jobs_writing + load / efficiency, self.bytes_per_s)
        return np.clip(np.minimum(rate, (self.reach_bytes_per_s * jobs_writing + load) / efficiency), 1.0, 1e18)


@dataclass(frozen=True, slots=True)
class Supply:
    """One kind of file system: its legal sizes and what follows from a size. Rates are for a size of 1."""

    family: str
    id: str
    name: str
    sizes: Sizes
    first: int  # index of the first size that holds what is kept
    last: int  # index of the last that is worth a look: the quota, the service's end, or more than the nodes can use
    last_is_quota: bool
    write_bytes_per_s: float
    read_bytes_per_s: float
    elastic_gib: float | None  # room where it does not follow from the size
    client_bytes_per_s: float
    client_server_bytes_per_s: float
    server_size: float
    usd_per_month: float  # for a size of 1; NaN where it is not known
    fixed_usd_per_month: float
    save_usd: float  # requests of one save
    needs_efa: bool | None  # True: over EFA; False: without; None: the rule of 10 GB/s is not for it
    tier: FsxTier | None
    asks: tuple[Ask, ...]
    note: Text | None = None
    default_quota_gib: float | None = None  # of an account, where the user gives none
    is_own: bool = False  # the rates are one job's, whatever others do there

    @property
    def is_priced(self) -> bool:
        """Whether all its prices are known."""
        return not math.isnan(self.usd_per_month + self.fixed_usd_per_month + self.save_usd)

    @property
    def is_custom(self) -> bool:
        """Whether it enters a scenario as `storage.custom`."""
        return self.tier is None and self.family != EXISTING

    def unpaid(self) -> Supply:
        """The same for nothing: what it would do whatever it costs."""
        return replace(self, usd_per_month=0.0, fixed_usd_per_month=0.0, save_usd=0.0)

    def capacity_gib(self, size: FloatArray) -> FloatArray:
        """The room of a size. [GiB]"""
        return np.full_like(size, self.elastic_gib) if self.elastic_gib is not None else size

    def storage_usd_per_month(self, index: Any) -> FloatArray:
        """The bill of some sizes, requests left out. [USD/month], (n,)"""
        return self._bill(self.sizes.at(index))

    def _bill(self, size: FloatArray) -> FloatArray:
        bill: FloatArray = np.round(size * self.usd_per_month, 6) + self.fixed_usd_per_month
        return bill

    def writes(self, scenario: Scenario, job: Job, index: Any) -> Writes:
        """What some sizes write, for any number of jobs that write at once. (n,)"""
        size = self.sizes.at(np.atleast_1d(index))
        reach = np.full_like(size, math.inf)
        if self.is_custom:
            reach = job.writers * self._client(size) / scenario.datapath.writer_skew_ratio
        return Writes(size * self.write_bytes_per_s, reach, np.full(size.size, self.is_own))

    def _client(self, size: FloatArray) -> FloatArray:
        """What one node moves to a size. [B/s]"""
        servers = np.ceil(size / self.server_size - _ROUNDING)
        found = fsx.client_bytes_per_s(servers, np.asarray(self.client_bytes_per_s), np.asarray(self.client_server_bytes_per_s))
        return np.broadcast_to(found, size.shape)

    def systems(
        self, scenario: Scenario, job: Job, index: Any, jobs_writing: float = 1.0, writes: Writes | None = None
    ) -> FileSystems:
        """The file systems of some sizes, as outcome.py takes them; `writes` if known. (n,) -> arrays (1, n)"""
        size = self.sizes.at(np.atleast_1d(index))
        read, client = size * self.read_bytes_per_s, self._client(size)
        known = self.writes(scenario, job, index) if writes is None else writes
        write = known.at(scenario, np.full(size.size, jobs_writing))
        if self.is_custom:
            load, efficiency = scenario.shared.load_bytes_per_s, scenario.storage.read_efficiency
            read = read + load / efficiency if self.is_own else read
            read = np.clip(np.minimum(read, (scenario.workload.nodes * client + load) / efficiency), 1.0, 1e18)
            client = np.full_like(size, ceilings.custom_reach(scenario))
        true = np.ones((1, size.size), dtype=bool)
        return FileSystems(
            capacity_gib=self.capacity_gib(size)[None, :],
            write_bytes_per_s=write[None, :],
            read_bytes_per_s=read[None, :],
            client_bytes_per_s=client[None, :],
            usd_per_month=self._bill(size)[None, :],
            bound_by_capacity=~true,
            allowed=true,
            usable=true,
            jobs_writing=np.full(size.size, jobs_writing),
        )

    def size_name(self, index: int) -> Text:
        """A size as one says it."""
        size = float(self.sizes.at(index))
        if self.tier is not None:
            words = {"throughput": grouped(self.tier.throughput_mb_per_s_per_tib), "size": grouped(size)}
            if self.tier.efa:
                return text("{throughput} MB/s/TiB × {size} GiB, EFA", **words)
            return text("{throughput} MB/s/TiB × {size} GiB", **words)
        if self.family in (S3, EXISTING):
            return FAMILY_NAMES[self.family]
        if self.elastic_gib is not None:
            return text("{name}: {size} MB/s", name=self.name, size=grouped(size / MB))
        return text("{name} × {size} GiB", name=self.name, size=grouped(size))

    def note_on(self, index: int) -> Text | None:
        """What is to be known of a size: of its kind, and that the default quota does not reach."""
        size, quota = float(self.sizes.at(index)), self.default_quota_gib
        if quota is None or self.elastic_gib is not None or size <= quota * (1.0 + _ROUNDING):
            return self.note
        over = text(
            "{size} is above the default quota of {quota}: ask AWS for it before you plan on it.",
            size=brief(size, GIBS), quota=brief(quota, GIBS),
        )  # fmt: skip
        return over if self.note is None else text("{over} {note}", over=over, note=self.note)

    def size_id(self, index: int) -> str:
        """A name without spaces: p2-500-12000, google-500-18000, s3."""
        size = float(self.sizes.at(index))
        if self.tier is not None:
            return option_id(self.tier, size)
        if self.family in (S3, EXISTING):
            return self.id
        return f"{self.id.partition('/')[0]}-{size / MB if self.elastic_gib is not None else size:.10g}"

    def edits(
        self, scenario: Scenario, job: Job, index: int, usd_per_month: float | None, jobs_writing: float = 1.0
    ) -> dict[str, Any]:
        """The fields of a scenario that stand for one size.

        Args:
            usd_per_month: The bill, requests included. [USD/month] None where it is not known.
            jobs_writing: How many jobs write at once.
        """
        if self.family == EXISTING:
            return {}
        if self.tier is not None:
            tau = self.tier.throughput_mb_per_s_per_tib
            edits = {"storage.custom": None, "storage.tier": self.size_id(index)}
            paid = {} if usd_per_month is None else {storage_price_path(tau): self.usd_per_month}
            return edits | paid
        systems = self.systems(scenario, job, index, jobs_writing)
        custom = CustomStorage(
            write_bytes_per_s=float(systems.write_bytes_per_s[0, 0]),
            read_bytes_per_s=float(systems.read_bytes_per_s[0, 0]),
            usable_bytes=float(systems.capacity_gib[0, 0]) * GIB,
            usd_per_month=usd_per_month,
        )
        return {"storage.custom": custom}


def supplies(
    scenario: Scenario,
    job: Job,
    *,
    families: tuple[str, ...] | None = None,
    prices: Mapping[str, float] | None = None,
    most_usd_per_month: float | None = None,
) -> tuple[tuple[Supply, ...], tuple[LeftOut, ...]]:
    """List what could be bought for a job, and what takes no part.

    Args:
        families: Names of FAMILIES; None: those of the nodes' own cloud, or all where the nodes are in none.
        prices: Prices that the user gives, by the id of an `Ask`. [USD]
        most_usd_per_month: Sizes that cost more are left out. [USD/month]
    """
    wanted = FAMILIES if families is None else families
    in_ec2 = "." in scenario.workload.node.id and families is None
    found: list[Supply] = []
    out: list[LeftOut] = []
    for item in _all(scenario, job, prices or {}):
        if isinstance(item, LeftOut):
            if item.family in wanted:
                out.append(item)
            continue
        if item.family not in wanted:
            continue
        if in_ec2 and item.family in ("google", "azure", "oci"):
            reason = text("in another cloud than {node}", node=scenario.workload.node.name)
            out.append(LeftOut(item.family, item.id, item.name, reason))
            continue
        kept = _within(item, most_usd_per_month)
        if kept is None:
            out.append(LeftOut(item.family, item.id, item.name, _too_small(scenario, item, most_usd_per_month)))
            continue
        found.append(kept)
        if kept.needs_efa and float(kept.sizes.at(kept.first)) * kept.write_bytes_per_s <= AUTO_EFA_BYTES_PER_S:
            reason = text("its sizes up to 10 GB/s: EFA is planned above that, unless it is switched on")
            out.append(LeftOut(item.family, item.id, item.name, reason))
    return tuple(found), tuple(out)


def _within(supply: Supply, most_usd: float | None) -> Supply | None:
    """The supply up to a bill; None where no size is left."""
    last = supply.last
    if most_usd is not None and supply.is_priced:
        low, high = supply.first, last + 1
        while low < high:  # the first size whose bill is above
            middle = (low + high) // 2
            over = float(supply.storage_usd_per_month(middle)) > most_usd * (1.0 + _ROUNDING)
            low, high = (low, middle) if over else (middle + 1, high)
        last = low - 1
    if last < supply.first:
        return None
    return replace(supply, last=last, last_is_quota=supply.last_is_quota and last == supply.last)


def _too_small(scenario: Scenario, supply: Supply, most_usd: float | None) -> Text:
    if supply.first >= supply.sizes.count:
        return text("its largest size does not hold the generations")
    if most_usd is not None and supply.is_priced and float(supply.storage_usd_per_month(supply.first)) > most_usd:
        return text("the size that holds the generations is above the budget")
    if scenario.storage.quota_gib is not None:
        return text("the size that holds the generations is above your quota")
    return text("no size will do")


# ---------------------------------------------------------------- kinds


def _all(scenario: Scenario, job: Job, prices: Mapping[str, float]) -> Iterator[Supply | LeftOut]:
    for tier in scenario.storage.tiers:
        yield _persistent_2(scenario, job, tier, prices)
    for other in catalog.storage_tiers():
        yield _of_catalog(scenario, job, other, prices)
        if other.has_efa:
            yield _of_catalog(scenario, job, other, prices, over_efa=True)
    yield _s3(scenario, job, prices)
    if scenario.storage.custom is not None:
        yield _existing(scenario, job, scenario.storage.custom)


def held_gib(scenario: Scenario, job: Job) -> float:
    """The room that a file system needs for what is kept and what others have on it. [GiB]"""
    return (job.held_bytes + scenario.shared.used_bytes) / GIB / scenario.storage.max_fill


def _useful(scenario: Scenario, job: Job, write: float, read: float, client: float, per_server: float, server: float) -> float:
    """The size beyond which nodes neither write nor read faster; infinity where nothing of theirs is known."""
    storage, shared = scenario.storage, scenario.shared
    if math.isinf(client):
        return math.inf
    writes = job.writers * client / scenario.datapath.writer_skew_ratio
    reads = scenario.workload.nodes * client
    by_write = (writes / storage.write_efficiency * shared.jobs + shared.load_bytes_per_s / storage.write_efficiency) / write
    by_read = (reads + shared.load_bytes_per_s) / storage.read_efficiency / read
    by_servers = server * math.ceil(client / per_server) if math.isfinite(per_server) else 0.0
    return max(by_write, by_read, by_servers)


def _bounds(scenario: Scenario, job: Job, sizes: Sizes, useful: float) -> tuple[int, int, bool]:
    """First and last index, and whether the quota ends them."""
    first = sizes.first_from(held_gib(scenario, job))
    last = min(max(sizes.first_from(useful), first), sizes.count - 1)
    quota = scenario.storage.quota_gib
    allowed = last if quota is None else sizes.last_up_to(quota)
    return first, min(last, allowed), allowed < last


def efa_refusal(scenario: Scenario) -> Text | None:
    """Why the nodes do not reach a file system over EFA; None where they do. The 10 GB/s rule is only for nodes that do."""
    storage, work = scenario.storage, scenario.workload
    if storage.efa == "off":
        return text("EFA is switched off")
    if not work.node.fsx_efa and storage.efa != "on":
        return text("{node} is not known to reach it over EFA", node=work.node.name)
    if work.nodes > scenario.datapath.efa_connections:
        return text("{nodes} nodes need more EFA connections than it takes", nodes=grouped(work.nodes))
    return None


def _persistent_2(scenario: Scenario, job: Job, tier: FsxTier, prices: Mapping[str, float]) -> Supply | LeftOut:
    storage = scenario.storage
    name = f"FSx {tier.name}"

    def out(reason: Text) -> LeftOut:
        return LeftOut(P2, tier.id, name, reason)

    refusal = efa_refusal(scenario)
    if tier.efa and refusal is not None:
        return out(refusal)
    if not tier.efa and storage.efa == "on":
        return out(text("EFA is switched on"))
    tau = tier.throughput_mb_per_s_per_tib
    known = scenario.prices.storage_usd_per_gib_month.at(tau)
    own, other = tier.id.removesuffix(_EFA), tier.id.removesuffix(_EFA) + _EFA
    price = prices.get(own, prices.get(other, known))  # with and without EFA a GiB costs the same
    what = text("a GiB a month at {tier}", tier=brief(tau, TIER))
    asks = () if price is not None else (Ask(own, storage_price_path(tau), what),)
    rate = tau * MB / 1000.0
    limit = node_limit_bytes_per_s(scenario, tier)
    per_server = math.inf if tier.client_server_bytes_per_s is None else tier.client_server_bytes_per_s
    sizes = Sizes(() if tier.small_gib is None else (tier.small_gib,), tier.step_gib, 1, MOST_SIZES)
    first, last, is_quota = _bounds(scenario, job, sizes, _useful(scenario, job, rate, rate, limit, per_server, tier.step_gib))
    return Supply(
        family=P2, id=tier.id, name=name, sizes=sizes, first=first, last=last, last_is_quota=is_quota,
        write_bytes_per_s=rate, read_bytes_per_s=rate, elastic_gib=None, client_bytes_per_s=limit,
        client_server_bytes_per_s=per_server, server_size=tier.step_gib,
        usd_per_month=math.nan if price is None else price, fixed_usd_per_month=0.0, save_usd=0.0,
        needs_efa=tier.efa if storage.efa == "auto" and refusal is None else None, tier=tier, asks=asks,
        default_quota_gib=tier.default_quota_gib if storage.quota_gib is None else None,
    )  # fmt: skip


def _price(scenario: Scenario, tier_id: str, prices: Mapping[str, float], what: Text) -> tuple[float, tuple[Ask, ...]]:
    """What the user or a source vouches for; else NaN and the question, with what an unsure source says. [USD/GiB-month]"""
    if tier_id in prices:
        return prices[tier_id], ()
    row = catalog.tier_price(scenario.prices.region, tier_id)
    if row is not None and row.usd_per_gib_month is not None and row.status != "unverified":
        return row.usd_per_gib_month, ()
    if row is None or row.usd_per_gib_month is None:
        rows = (one for one in catalog.tier_prices() if one.tier == tier_id and one.usd_per_gib_month is not None)
        row = next(rows, None)
    if row is None:
        return math.nan, (Ask(tier_id, "", what),)
    return math.nan, (Ask(tier_id, "", what, row.usd_per_gib_month, _said_by(row), row.date),)


def _said_by(row: TierPrice) -> str:
    """The source of a price, and its region where that is stated."""
    return row.source if row.region == NO_REGION else f"{row.source}, {row.region}"


def _of_catalog(
    scenario: Scenario, job: Job, tier: StorageTier, prices: Mapping[str, float], *, over_efa: bool = False
) -> Supply | LeftOut:
    own_id = tier.id + _EFA if over_efa else tier.id
    name = f"{tier.name}, EFA" if over_efa else tier.name
    refusal = efa_refusal(scenario)
    if over_efa and refusal is not None:
        return LeftOut(tier.family, own_id, name, refusal)
    if tier.provider == "aws" and scenario.storage.efa == "on" and not over_efa:
        return LeftOut(tier.family, own_id, name, text("EFA is switched on"))
    price, asks = _price(scenario, tier.id, prices, text("a GiB a month of {name}", name=tier.name))
    client, per_server = tier.client_bytes_per_s or math.inf, tier.client_server_bytes_per_s or math.inf
    if over_efa:
        like = next((one for one in scenario.storage.tiers if one.efa), None)
        client, per_server = client if like is None else ceilings.client_limit(scenario, like), math.inf
    limit = min(client, ceilings.node_reach(scenario, over_efa=over_efa))
    elastic, fixed = None, 0.0
    is_ruled = tier.provider == "aws" and scenario.storage.efa == "auto" and refusal is None
    if tier.throughput_step_bytes_per_s is not None:
        step = tier.throughput_step_bytes_per_s
        sizes = Sizes((), step, 1, round((tier.throughput_max_bytes_per_s or step) / step))
        write = read = 1.0
        server, elastic = step, held_gib(scenario, job)
        fixed = job.held_bytes / GIB * price
        bought, more = prices.get(f"{tier.id}/throughput"), text("1 MB/s a month of {name}", name=tier.name)
        asks = asks if bought is not None else (*asks, Ask(f"{tier.id}/throughput", "", more))
        price = math.nan if bought is None else bought / MB
    else:
        sizes = _sizes(tier)
        assert tier.write_mb_per_s_per_tib is not None
        assert tier.read_mb_per_s_per_tib is not None
        write = tier.write_mb_per_s_per_tib * MB / tier.counted_gib
        read = tier.read_mb_per_s_per_tib * MB / tier.counted_gib
        server = tier.server_gib or math.inf
        server = server if math.isfinite(per_server) else 1.0
    useful = _useful(scenario, job, write, read, limit, per_server, server)
    first, last, is_quota = _bounds(scenario, job, sizes, useful)
    if elastic is not None:
        first = 0
        last, is_quota = min(sizes.first_from(useful), sizes.count - 1), False
    return Supply(
        family=tier.family, id=own_id, name=name, sizes=sizes, first=first, last=last, last_is_quota=is_quota,
        write_bytes_per_s=write, read_bytes_per_s=read, elastic_gib=elastic, client_bytes_per_s=limit,
        client_server_bytes_per_s=per_server, server_size=server, usd_per_month=price, fixed_usd_per_month=fixed,
        save_usd=0.0, needs_efa=over_efa if is_ruled else None, tier=None,
        asks=asks, note=text(tier.note) if tier.note else None,
        default_quota_gib=tier.default_quota_gib if scenario.storage.quota_gib is None else None,
    )  # fmt: skip


def _sizes(tier: StorageTier) -> Sizes:
    step, least = tier.step_gib, tier.min_gib
    assert step is not None
    assert least is not None
    most = tier.max_gib or math.inf
    until = min(tier.step_until_gib or math.inf, most)
    last = MOST_SIZES if math.isinf(until) else math.floor(until / step + _ROUNDING)
    far = tier.far_step_gib or 0.0
    if not far:
        return Sizes(tier.small_gib, step, round(least / step), last)
    far_last = MOST_SIZES if math.isinf(most) else math.floor(most / far + _ROUNDING)
    return Sizes(tier.small_gib, step, round(least / step), last, far, math.floor(until / far + _ROUNDING) + 1, far_last)


def _s3(scenario: Scenario, job: Job, prices: Mapping[str, float]) -> Supply | LeftOut:
    """S3 Standard: rate from the connections of the nodes, price from what is kept and from the requests of each save."""
    work, data = scenario.workload, scenario.datapath
    rates = (ceilings.s3_connection(scenario).rate, ceilings.tcp_flow(scenario).rate)
    each = min((rate for rate in rates if rate is not None), default=None)
    if each is None:
        return LeftOut(S3, S3, "S3", text("what one connection carries is not known"))
    node = min(data.s3_connections * each, ceilings.node_reach(scenario, over_efa=False))
    shards = 1 if work.writer == "single" else work.nodes * work.gpus_per_node
    shard = job.checkpoint_bytes / shards
    part = ceilings.s3_part_bytes(scenario, shard)
    if part > ceilings.LARGEST_PART_BYTES or shard > part * ceilings.PARTS_OF_AN_UPLOAD * (1.0 + _ROUNDING):
        return LeftOut(S3, S3, "S3", text("a shard does not fit into the parts of an upload"))
    parts = math.ceil(shard / part - _ROUNDING)
    puts = shards * (parts + 2 if parts > 1 else 1) * scenario.shared.jobs  # begin, parts, end
    row = catalog.tier_price(scenario.prices.region, S3)
    thousand = prices.get("s3/puts", row.thousand_puts_usd if row is not None and row.status != "unverified" else None)
    kept = prices.get(S3, scenario.prices.s3_usd_per_gb_month)
    asks = []
    if kept is None:
        asks.append(Ask(S3, "prices.s3_usd_per_gb_month", text("a GB a month of S3")))
    if thousand is None:
        asks.append(Ask("s3/puts", "", text("1,000 PUT requests to S3")))
    room = held_gib(scenario, job) * (1.0 + 1e-12)
    carried = min(part, shard)
    put, get = (catalog.request_rate(one).requests_per_s for one in ("s3-put", "s3-get"))
    return Supply(
        family=S3, id=S3, name="S3", sizes=ONE_SIZE, first=0, last=0, last_is_quota=False,
        write_bytes_per_s=min(work.nodes * node, S3_PREFIXES * put * carried),
        read_bytes_per_s=min(work.nodes * node, S3_PREFIXES * get * carried), elastic_gib=room, client_bytes_per_s=node,
        client_server_bytes_per_s=math.inf, server_size=1.0,
        usd_per_month=0.0, fixed_usd_per_month=math.nan if kept is None else job.held_bytes / GB * kept,
        save_usd=math.nan if thousand is None else puts * thousand / 1000.0,
        needs_efa=None, tier=None, asks=tuple(asks),
        is_own=True,
        note=text(
            "The rate is that of the connections of all nodes at once, and at most {put} PUT and {get} GET requests a second "
            "of {part} each: what S3 promises on one prefix, and a job has one. More prefixes carry more; measure it before "
            "you rely on it.", put=grouped(put), get=grouped(get), part=brief(carried, BYTES),
        ),
    )  # fmt: skip


def _existing(scenario: Scenario, job: Job, custom: CustomStorage) -> Supply | LeftOut:
    name = str(FAMILY_NAMES[EXISTING])
    if custom.usable_bytes < held_gib(scenario, job) * GIB * (1.0 - _ROUNDING):
        return LeftOut(EXISTING, EXISTING, name, text("it does not hold the generations"))
    unknown = custom.usd_per_month is None
    ask = Ask(EXISTING, "storage.custom.usd_per_month", text("this job's share of the storage that exists a month"))
    return Supply(
        family=EXISTING, id=EXISTING, name=name, sizes=ONE_SIZE, first=0, last=0, last_is_quota=False,
        write_bytes_per_s=custom.write_bytes_per_s, read_bytes_per_s=custom.read_bytes_per_s,
        elastic_gib=custom.usable_bytes / GIB, client_bytes_per_s=ceilings.custom_reach(scenario),
        client_server_bytes_per_s=math.inf, server_size=1.0, usd_per_month=0.0,
        fixed_usd_per_month=math.nan if custom.usd_per_month is None else custom.usd_per_month,
        save_usd=0.0, needs_efa=None, tier=None, asks=(ask,) if unknown else (),
    )  # fmt: skip
