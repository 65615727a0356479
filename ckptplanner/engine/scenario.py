"""The inputs: what a person decides, knows or guesses. Frozen and hashable; a Plan follows from a Scenario alone.

Field paths (`storage.write_s`) are a contract: files, `--set`, messages, CSV and tests use them. A Scenario carries the
catalog rows it uses, so that a saved file explains itself and a new catalog never changes an old plan. An id in the place
of a row ("p5.48xlarge", "TorchTitan") is looked up once, when the value is set.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, field_validator, model_validator

from ckptplanner.data import catalog
from ckptplanner.data.records import Framework, FsxTier, LayoutPart, ModelParts, NodeType
from ckptplanner.engine.hardware import Datapath, Local, Memory, Replication
from ckptplanner.engine.operations import Network, Planned, Restart, SaveRow, Shared, Spares
from ckptplanner.frozen import Frozen, entry, leaf_paths
from ckptplanner.units import (
    Bytes,
    BytesPerParam,
    BytesPerSecond,
    Count,
    Days,
    Fraction,
    Gib,
    Number,
    Params,
    Seconds,
    UsdPerGb,
    UsdPerGbMonth,
    UsdPerGibMonth,
    UsdPerHour,
    UsdPerMonth,
)

MAX_S = 100 * 365 * 86_400.0  # a century
Gap = Annotated[Seconds, Field(gt=0, le=1e13)]
LEAST_GAPS, MOST_GAPS = 2, 10_000  # of the empirical law
TIER_PATTERN = re.compile(r"p2-([1-9]\d{0,4})-([1-9]\d{0,8})(-efa)?")
AUTO_EFA_BYTES_PER_S = 10e9


def _row_of(look_up: Callable[[str], Any]) -> BeforeValidator:
    return BeforeValidator(lambda value: look_up(value) if isinstance(value, str) else value)


def _layout_of(value: Any) -> Any:
    """A catalog id stands for its parts."""
    return catalog.layout(value).parts if isinstance(value, str) else value


class Workload(Frozen):
    """What is trained, on what, and what of it is saved."""

    model: ModelParts | None = entry(
        None, title="Model", source="", help="The model's parameters by part, from a file or the catalog."
    )
    total_params: Params = entry(
        124.45e9, title="Parameters", source="article", ge=1, le=1e16,
        help="All parameters, the experts that a token does not use included. The size follows this, never the active ones.",
    )  # fmt: skip
    active_params: Params = entry(
        12e9, title="Active parameters", source="article", ge=0, le=1e16,
        help="What one token uses. Shown for comparison; never used for the size of a checkpoint.",
    )  # fmt: skip
    layout: Annotated[tuple[LayoutPart, ...], BeforeValidator(_layout_of)] = entry(
        lambda: catalog.layout("megatron-14").parts, title="Saved for each", source="article", min_length=1, max_length=32,
        help="What is on disk for one trained parameter, part by part.",
    )  # fmt: skip
    frozen_params: Params = entry(
        0.0, title="Frozen parameters", source="article", ge=0, le=1e16,
        help="Parameters that are saved but not trained, an image encoder for example. Counted inside the total.",
    )  # fmt: skip
    frozen_bytes_per_param: BytesPerParam = entry(
        2.0, title="Saved for each frozen one", source="article", ge=0, le=1000,
        help="Bytes on disk for one frozen parameter: 2 in bf16, 0 where the base model is read from elsewhere.",
    )  # fmt: skip
    measured_bytes: Bytes | None = entry(
        None, title="Measured checkpoint", source="", ge=1, le=1e20,
        help="The size of one real checkpoint. When it is given it replaces parameters times bytes.",
    )  # fmt: skip
    nodes: Count = entry(32, title="Nodes", source="article", ge=1, le=1_000_000, help="Nodes of this job.")
    gpus_per_node: Count = entry(
        8, title="GPUs per node", source="article", ge=1, le=1024, help="Accelerators of one node that train."
    )
    node: Annotated[NodeType, _row_of(catalog.node)] = entry(
        lambda: catalog.node("p6-b300.48xlarge"), title="Node", source="article",
        help="The kind of node: its memory, links, drives and network come from the catalog.",
    )  # fmt: skip
    writer: Literal["sharded", "single"] = entry(
        "sharded", title="Written by", source="article",
        help="Sharded: every node writes its share. Single: one node writes everything, and its link bounds the write.",
    )  # fmt: skip
    framework: Annotated[Framework, _row_of(catalog.framework)] = entry(
        lambda: catalog.framework("Megatron-LM"), title="Framework", source="article",
        help="Decides the unit of the interval (steps) and what happens when the last write is unfinished.",
    )  # fmt: skip
    step_s: Seconds = entry(10.0, title="Step time", ge=1e-6, le=1e6, help="One training step. Turns the interval into steps.")
    collective_timeout_s: Seconds = entry(
        600.0, title="Collective timeout", source="doc", ge=1e-6, le=1e8,
        help="How long a rank waits for the others before the job is ended; PyTorch's default is 10 min for NCCL.",
    )  # fmt: skip

    @property
    def bytes_per_param(self) -> float:
        """The sum of the layout. [B/param]"""
        return sum(part.bytes_per_param for part in self.layout)


class Failures(Frozen):
    """How often the job is interrupted and what stands between an interruption and training again."""

    mtbi_s: Seconds = entry(
        720_000.0, title="Interrupted every", source="article", ge=1e-3, le=1e13,
        help="Mean time between interruptions of the whole job, whatever their cause, at the node count below.",
    )  # fmt: skip
    mtbi_nodes: Count = entry(
        32, title="Nodes of that record", source="article", ge=1, le=1_000_000,
        help="The node count that the time above belongs to. The job's own time is scaled from it.",
    )  # fmt: skip
    detect_s: Seconds = entry(60.0, title="Detect", ge=0, le=MAX_S, help="From the fault until it is noticed.")
    reschedule_s: Seconds = entry(
        300.0,
        title="Reschedule",
        ge=0,
        le=MAX_S,
        help="Take the bad node out and start the job elsewhere: the scheduler.",
    )
    start_s: Seconds = entry(
        240.0, title="Start", ge=0, le=MAX_S, help="Start processes and communicators, before the checkpoint is read."
    )
    downtime_s: Seconds = entry(
        0.0,
        title="Wait for a spare",
        source="article",
        ge=0,
        le=MAX_S,
        help="Time after an interruption in which no node is there to restart on.",
    )
    spot_notice_s: Seconds | None = entry(
        None, title="Spot notice", source="", ge=1e-6, le=MAX_S,
        help="Warning before a spot node is taken: 2 min on AWS. Empty: no spot nodes.",
    )  # fmt: skip
    process_share: Fraction = entry(
        0.5, title="Process alone", ge=0, le=1,
        help="Share of interruptions after which every node and its drives are still there.",
    )  # fmt: skip
    node_share: Fraction = entry(
        0.4, title="Node lost", ge=0, le=1, help="Share of interruptions that take one node with them."
    )
    cluster_share: Fraction = entry(
        0.1, title="Cluster lost", ge=0, le=1,
        help="Share of interruptions after which no local checkpoint is left: power, storage, an operator.",
    )  # fmt: skip
    law: Literal["weibull", "lognormal", "empirical"] = entry(
        "weibull", title="Law of the gaps", source="article",
        help="How the times between interruptions spread around their mean; weibull with shape 1 is exponential, memoryless.",
    )  # fmt: skip
    weibull_shape: Number = entry(
        1.0, title="Weibull shape", source="article", ge=0.2, le=10,
        help="Below 1 interruptions come in bursts, 1 is memoryless, above 1 they come more regularly.",
    )  # fmt: skip
    lognormal_shape: Number = entry(
        1.0, title="Lognormal shape", ge=0.05, le=4, help="Standard deviation of the logarithm of the gaps."
    )
    gaps_s: tuple[Gap, ...] = entry(
        (), title="Measured gaps", source="article", max_length=MOST_GAPS,
        help="Times between interruptions from a log. The empirical law takes their shape, scaled to the mean above.",
    )  # fmt: skip
    clock: Literal["job", "nodes"] = entry(
        "job", title="Clock", source="article",
        help="job: one clock for the whole job, set anew by every interruption. nodes: each node ages by itself.",
    )  # fmt: skip
    fleet_age_s: Seconds = entry(
        0.0, title="Age of the nodes", source="article", ge=0, le=MAX_S,
        help="How long the nodes have run when the job begins; with a shape below 1 young nodes fail more often.",
    )  # fmt: skip

    @property
    def restart_base_s(self) -> float:
        """Detect, reschedule and start together; reading the checkpoint comes on top. [s]"""
        return self.detect_s + self.reschedule_s + self.start_s

    @property
    def has_memory(self) -> bool:
        """Whether the gaps of the job's own clock follow another law than the memoryless one."""
        return self.clock == "job" and (self.law != "weibull" or self.weibull_shape != 1.0)

    @property
    def memoryless(self) -> Failures:
        """The same without the memory of the job's clock."""
        return self.model_copy(update={"law": "weibull", "weibull_shape": 1.0}) if self.has_memory else self


class CustomStorage(Frozen):
    """A file system that exists: what it does for this job and what it costs."""

    write_bytes_per_s: BytesPerSecond = entry(62e9, title="Writes at", ge=1, le=1e18, help="Sustained write rate for this job.")
    read_bytes_per_s: BytesPerSecond = entry(125e9, title="Reads at", ge=1, le=1e18, help="Sustained read rate for this job.")
    usable_bytes: Bytes = entry(1e15, title="Usable", ge=1, le=1e21, help="Space this job may fill.")
    usd_per_month: UsdPerMonth | None = entry(
        None,
        title="Costs a month",
        source="",
        ge=0,
        le=1e12,
        help="This job's share. Empty: unknown, and money is not ranked.",
    )


class Storage(Frozen):
    """How and where checkpoints are written."""

    mode: Literal["async", "sync"] = entry(
        "async", title="Save", source="article",
        help="Async: training stops while state is copied to host memory. Sync: until the write is complete.",
    )  # fmt: skip
    blocking_s: Seconds = entry(
        5.0, title="Stop time", source="article", ge=0, le=MAX_S,
        help="C: one save stops training for this long. With sync saving it is the write time.",
    )  # fmt: skip
    write_s: Seconds = entry(
        300.0, title="Write time", source="article", ge=1e-3, le=MAX_S,
        help="t_w: the time given to the write to storage. A decision: shorter is dearer.",
    )  # fmt: skip
    interval_s: Seconds | None = entry(
        None, title="Interval", source="", ge=1e-6, le=MAX_S,
        help="Start of one save to the start of the next. Empty: the best one, never shorter than a save takes.",
    )  # fmt: skip
    interval_model: Literal["exact", "young", "daly"] = entry(
        "exact", title="Interval model", source="doc",
        help="exact: least waste under exponential failures. young: sqrt(2CM), 1974. daly: its series, 2006.",
    )  # fmt: skip
    waste_model: Literal["exact", "first_order"] = entry(
        "exact", title="Waste model", source="doc",
        help="Which of the two numbers drives costs, curves and decisions. Both are always shown.",
    )  # fmt: skip
    generations_kept: Count = entry(
        4, title="Generations", source="article", ge=1, le=100_000,
        help="k: complete generations kept plus the one being written.",
    )  # fmt: skip
    efa: Literal["auto", "on", "off"] = entry(
        "auto", title="EFA", source="article", help="auto: on above 10 GB/s, where AWS recommends it."
    )
    write_efficiency: Fraction = entry(
        1.0, title="Write efficiency", source="article", ge=0.001, le=1,
        help="The share of the baseline that real saves reach.",
    )  # fmt: skip
    read_efficiency: Fraction = entry(
        1.0, title="Read efficiency", source="article", ge=0.001, le=1,
        help="The share of the baseline that real restarts reach.",
    )  # fmt: skip
    max_fill: Fraction = entry(
        1.0, title="Fill at most", source="article", ge=0.001, le=1,
        help="Generations may fill this share of the capacity.",
    )  # fmt: skip
    background_loss_s: Seconds = entry(
        0.0, title="Background loss", source="article", ge=0, le=MAX_S,
        help="Training time lost per save while it is written in the background.",
    )  # fmt: skip
    slowdown_fraction: Fraction = entry(
        0.0, title="Background slowdown", source="article", ge=0, lt=1,
        help="Share of training speed lost while a write runs in the background.",
    )  # fmt: skip
    latency_s: Seconds = entry(
        0.0, title="Fixed time per save", source="article", ge=0, le=MAX_S,
        help="Metadata, opening and closing: the part of a write that no bandwidth shortens.",
    )  # fmt: skip
    pace: Literal["within", "full"] = entry(
        "within", title="Pace", source="article",
        help="within: the write takes the write time. full: it takes what the file system needs.",
    )  # fmt: skip
    published: Literal["write_end", "next_save"] = entry(
        "write_end", title="Restorable", source="article",
        help="next_save: a checkpoint can be restored only once the next save begins.",
    )  # fmt: skip
    custom: CustomStorage | None = entry(
        None,
        title="Storage that exists",
        source="",
        help="Given: this file system is used instead of a new FSx one.",
    )
    whole_steps: bool = entry(False, title="Whole steps", source="article", help="Round the interval to whole training steps.")
    tier: str = entry(
        "auto", title="File system", source="article",
        help="auto: the cheapest legal one. Or a fixed one: p2-500-12000, p2-1000-33600-efa.",
    )  # fmt: skip
    quota_gib: Gib | None = entry(
        None, title="Quota", source="", ge=1, le=1e12,
        help="The account's quota as a hard limit. Empty: the default quota is a warning only.",
    )  # fmt: skip
    choose_by: Literal["storage_usd", "total_usd"] = entry(
        "storage_usd", title="Cheapest means", source="article",
        help="storage_usd: the storage bill. total_usd: with the value of lost GPU time.",
    )  # fmt: skip
    tiers: tuple[FsxTier, ...] = Field(default_factory=catalog.fsx_tiers, repr=False)

    @field_validator("tier")
    @classmethod
    def _tier_is_readable(cls, tier: str) -> str:
        if tier != "auto" and not TIER_PATTERN.fullmatch(tier):
            raise ValueError("write auto, or throughput and capacity: p2-500-12000 or p2-1000-33600-efa")
        return tier


class Restore(Frozen):
    """How a checkpoint is read back."""

    copies: Count = entry(
        1, title="Copies read", source="article", ge=1, le=100_000_000,
        help="How many times the checkpoint is read at a restart: 1 sharded, replicas for HSDP, ranks for DDP.",
    )  # fmt: skip


class Run(Frozen):
    """The run as a whole."""

    days: Days = entry(365.0, title="Run length", source="article", ge=1e-6, le=36_500, help="Length of the run in days.")


class TierPrices(Frozen):
    """What one GiB costs a month, for each FSx throughput; None is unknown and is asked for."""

    p2_125: UsdPerGibMonth | None = entry(0.145, title="125 MB/s/TiB", source="article", ge=0, le=1e6, help="A GiB a month.")
    p2_250: UsdPerGibMonth | None = entry(0.210, title="250 MB/s/TiB", source="article", ge=0, le=1e6, help="A GiB a month.")
    p2_500: UsdPerGibMonth | None = entry(0.340, title="500 MB/s/TiB", source="article", ge=0, le=1e6, help="A GiB a month.")
    p2_1000: UsdPerGibMonth | None = entry(0.600, title="1,000 MB/s/TiB", source="article", ge=0, le=1e6, help="A GiB a month.")

    def at(self, throughput_mb_per_s_per_tib: float) -> float | None:
        """The price of one throughput, None where it is unknown. [USD/GiB-month]"""
        price: float | None = getattr(self, f"p2_{throughput_mb_per_s_per_tib:.0f}", None)
        return price


STORAGE_PRICE_PATH = "prices.storage_usd_per_gib_month.p2_"  # and the throughput: one field of TierPrices


def storage_price_path(throughput_mb_per_s_per_tib: float) -> str:
    """The field that holds the price of one FSx throughput."""
    return f"{STORAGE_PRICE_PATH}{throughput_mb_per_s_per_tib:.0f}"


class Prices(Frozen):
    """What things cost, for one region and date."""

    region: str = entry(
        "us-west-2",
        title="Region",
        source="article",
        min_length=1,
        max_length=64,
        help="Prices are those of this region.",
    )
    storage_usd_per_gib_month: TierPrices = Field(default_factory=TierPrices)
    node_usd_per_h: UsdPerHour | None = entry(
        142.416, title="Node price", source="article", ge=0, le=1e7, help="One node for one hour. Empty: unknown."
    )
    gpu_value_usd_per_h: UsdPerHour | None = entry(
        None, title="Value of a GPU-hour", source="", ge=0, le=1e7,
        help="What an hour of one GPU is worth to you. Empty: the node price divided by its GPUs.",
    )  # fmt: skip
    s3_usd_per_gb_month: UsdPerGbMonth | None = entry(
        0.023, title="S3 price", source="doc", ge=0, le=1e6, help="A GB of S3 Standard a month. Empty: unknown."
    )
    cross_zone_usd_per_gb: UsdPerGb | None = entry(
        None, title="Across zones", source="", ge=0, le=1e6,
        help="What a GB costs that crosses availability zones. Empty: unknown.",
    )  # fmt: skip


class Scenario(Frozen):
    """All inputs of one plan."""

    workload: Workload = Field(default_factory=Workload)
    failures: Failures = Field(default_factory=Failures)
    storage: Storage = Field(default_factory=Storage)
    restore: Restore = Field(default_factory=Restore)
    run: Run = Field(default_factory=Run)
    prices: Prices = Field(default_factory=Prices)
    datapath: Datapath = Field(default_factory=Datapath)
    memory: Memory = Field(default_factory=Memory)
    replication: Replication = Field(default_factory=Replication)
    local: Local = Field(default_factory=Local)
    saves: tuple[SaveRow, ...] = entry(
        (), title="Other saves", source="article", max_length=64,
        help="Rows of saves beside the resumable one: permanent, for evaluation, exports, the final one.",
    )  # fmt: skip
    planned: Planned = Field(default_factory=Planned)
    restart: Restart = Field(default_factory=Restart)
    shared: Shared = Field(default_factory=Shared)
    spares: Spares = Field(default_factory=Spares)
    network: Network = Field(default_factory=Network)


class Source(Frozen):
    """Where the value at `path` comes from: a short word, and what to show when one points at it."""

    path: str
    kind: Literal["log", "doc", "article", "guess", "typed"]
    text: str = ""
    date: str = ""
    note: str = ""
    low: Number | None = None  # of a measured value: the ends of its interval or spread, in the unit of its path
    high: Number | None = None
    count: Count | None = Field(default=None, ge=0)  # and how many values or interruptions it rests on


class NamedScenario(Frozen):
    """A scenario with its name, the person's note and the sources of its values.

    `missing` lists the paths that the file it came from left out; it is not saved.
    """

    name: str = Field(min_length=1, max_length=120)
    note: str = Field(default="", max_length=10_000)
    scenario: Scenario = Field(default_factory=Scenario)
    sources: tuple[Source, ...] = ()
    missing: tuple[str, ...] = Field(default=(), exclude=True)

    def source_of(self, path: str) -> Source | None:
        """The recorded source of a value; None while it is at its default."""
        return next((source for source in self.sources if source.path == path), None)

    def with_source(self, source: Source) -> Self:
        """A copy in which `source` stands for its path."""
        others = tuple(other for other in self.sources if other.path != source.path)
        return type(self).model_validate({**dict(self), "sources": (*others, source)})


class Workbook(Frozen):
    """Everything in one plan file: scenarios side by side, which one is shown and which is the base.

    `campaign` names those that are stages of one campaign, in the order of the scenarios; empty: they are alternatives.
    """

    scenarios: tuple[NamedScenario, ...] = Field(min_length=1)
    current: str
    base: str
    campaign: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _names_hold(self) -> Self:
        names = [scenario.name for scenario in self.scenarios]
        if len(set(names)) < len(names):
            raise ValueError("every scenario needs a name of its own")
        for role, name in (("current", self.current), ("base", self.base)):
            if name not in names:
                raise ValueError(f"{role} names {name!r}; the scenarios are {', '.join(map(repr, names))}")
        for name in self.campaign:
            if name not in names:
                raise ValueError(f"campaign names {name!r}; the scenarios are {', '.join(map(repr, names))}")
        return self

    def named(self, name: str) -> NamedScenario:
        """The scenario of that name.

        Raises:
            KeyError: there is none; the message lists the names.
        """
        for scenario in self.scenarios:
            if scenario.name == name:
                return scenario
        raise KeyError(f"no scenario {name!r}; there are {', '.join(repr(s.name) for s in self.scenarios)}")

    @property
    def stages(self) -> tuple[NamedScenario, ...]:
        """The stages of the campaign, in the order of the scenarios; none where these are alternatives."""
        return tuple(named for named in self.scenarios if named.name in self.campaign)

    @property
    def shown(self) -> NamedScenario:
        """The current scenario."""
        return self.named(self.current)


PATHS = leaf_paths(Scenario)
