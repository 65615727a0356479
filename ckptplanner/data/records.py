"""The rows of the catalog: frozen facts, each with its source, date and status. No formulas."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from ckptplanner.frozen import Frozen
from ckptplanner.units import (
    Bytes,
    BytesPerParam,
    BytesPerSecond,
    Count,
    Gib,
    MbPerSPerTib,
    Params,
    Seconds,
    Usd,
    UsdPerGibMonth,
    UsdPerHour,
)

NO_REGION = "not stated"  # the region of a price whose source names none
Status = Literal["documented", "article", "derived", "unverified"]


class Row(Frozen):
    """One row of a catalog: a name to show and where its numbers come from."""

    id: str
    name: str
    source: str = Field(min_length=1)
    date: str
    status: Status
    note: str = ""


class LayoutPart(Frozen):
    """One thing that is saved for every trained parameter."""

    what: str
    bytes_per_param: BytesPerParam = Field(ge=0, le=1000)


class ByteLayout(Row):
    """What is on disk for one trained parameter (docs/models.md 2)."""

    parts: tuple[LayoutPart, ...]

    @property
    def bytes_per_param(self) -> float:
        """The sum of the parts. [B/param]"""
        return sum(part.bytes_per_param for part in self.parts)


class Framework(Row):
    """How a training framework saves: in steps, async or not, and what it does when the last write is unfinished."""

    default_interval_steps: Count | None
    has_async: bool
    async_by_default: bool
    on_unfinished_write: Literal["waits", "warns, then waits", "sync"]
    keeps: str = ""


class NodeType(Row):
    """One kind of node. None where no source was found; `generic` is meant to be edited."""

    accelerator: str
    gpus: Count = Field(ge=1)
    hbm_bytes_per_gpu: Bytes | None = None
    host_ram_gib: Gib | None = None
    nvme_count: Count | None = None
    nvme_bytes_each: Bytes | None = None
    network_bytes_per_s: BytesPerSecond | None = None
    network_cards: Count | None = None
    efa_interfaces: Count | None = None
    ena_bytes_per_s: BytesPerSecond | None = None
    host_link: str = ""
    hbm_rate: str = ""  # ids of ceilings: of one GPU, of one GPU's link, of one GPU's copies, of one socket, of all drives
    link_rate: str = ""
    copy_rate: str = ""
    socket_rate: str = ""
    sockets: Count | None = None
    nvme_write_rate: str = ""
    nvme_read_rate: str = ""
    fsx_efa_interfaces: Count | None = None
    gpu_rdma: bool = False  # cards of the node read and write GPU memory past the CPU
    fsx_gds: bool = False
    fsx_efa: bool = False


class Ceiling(Row):
    """What one hop of the data path carries, and how that is known."""

    stage: str
    rate_bytes_per_s: BytesPerSecond = Field(gt=0)
    kind: Literal["measured", "documented", "theoretical", "derived", "assumed"]


class FsxTier(Row):
    """One throughput of FSx for Lustre Persistent 2 SSD, with or without EFA (docs/models.md 6)."""

    throughput_mb_per_s_per_tib: MbPerSPerTib
    efa: bool
    step_gib: Gib
    small_gib: Gib | None = None
    burst_mb_per_s_per_tib: MbPerSPerTib | None = None
    network_mb_per_s_per_tib: MbPerSPerTib | None = None
    default_quota_gib: Gib
    client_bytes_per_s: BytesPerSecond
    client_server_bytes_per_s: BytesPerSecond | None = None


def _split(cell: object) -> object:
    """Numbers with spaces between them, as a cell of a CSV holds them."""
    return cell.split() if isinstance(cell, str) else cell


class StorageTier(Row):
    """One kind of file system beside Persistent 2 on SSD: which sizes are sold and what a size sustains.

    Sizes are `small_gib`, then multiples of `step_gib` from `min_gib` on, from `step_until_gib` on multiples of
    `far_step_gib`; a tier that is bought by throughput has steps of that instead, and room for anything.
    """

    family: Literal["fsx-p1", "fsx-scratch", "fsx-it", "google", "azure", "oci"]
    provider: Literal["aws", "google", "azure", "oci"]
    write_mb_per_s_per_tib: MbPerSPerTib | None = None
    read_mb_per_s_per_tib: MbPerSPerTib | None = None
    counted_gib: Gib = Field(gt=0)  # what the service counts as one TiB
    small_gib: Annotated[tuple[Annotated[float, Field(gt=0)], ...], BeforeValidator(_split)] = ()
    min_gib: Gib | None = None
    step_gib: Gib | None = None
    step_until_gib: Gib | None = None
    far_step_gib: Gib | None = None
    max_gib: Gib | None = None
    throughput_step_bytes_per_s: BytesPerSecond | None = None
    throughput_max_bytes_per_s: BytesPerSecond | None = None
    default_quota_gib: Gib | None = None
    server_gib: Gib | None = None
    client_bytes_per_s: BytesPerSecond | None = None
    client_server_bytes_per_s: BytesPerSecond | None = None
    has_efa: bool = False  # can be had with EFA too, at the client limit of Persistent 2


class TierPrice(Row):
    """What one GiB of a tier costs a month in one region; of S3, whose GB is priced elsewhere, what 1,000 uploads cost."""

    region: str
    tier: str
    usd_per_gib_month: UsdPerGibMonth | None = None
    thousand_puts_usd: Usd | None = None


class RequestRate(Row):
    """How many requests of one kind S3 takes a second on one prefix, at least."""

    requests_per_s: Count = Field(gt=0)


class StoragePrice(Row):
    """What one GiB of one FSx throughput costs a month in one region."""

    region: str
    throughput_mb_per_s_per_tib: MbPerSPerTib
    usd_per_gib_month: UsdPerGibMonth | None


class NodePrice(Row):
    """What one node costs an hour in one region, on demand."""

    region: str
    node: str
    node_usd_per_h: UsdPerHour | None


class InterruptionRecord(Row):
    """A published count of interruptions: `mtbi_s` at `nodes` nodes (docs/models.md 5)."""

    nodes: Count = Field(ge=1)
    period_s: Seconds | None = None
    events: Count | None = None
    mtbi_s: Seconds
    counted: str


class PublishedRun(Row):
    """One quantity that a run, a paper or a vendor has published, in its own words (docs/models.md 18.4)."""

    scale: str = ""
    quantity: str
    value: str
    unit: str = ""
    nothing: str = ""  # why there is nothing to compare with; blank where there is

    @property
    def words(self) -> str:
        """The value with its unit."""
        return f"{self.value} {self.unit}".strip()


class ModelParts(Frozen):
    """A model's parameters by part, with the switches that say which of them a checkpoint holds.

    `body_params` is the text model without embedding, head and MTP layers. `active_body_params` is the share of it that
    one token uses; embedding and head are always counted as active here, which not every model card does.
    """

    name: str
    family: str
    source: str
    date: str
    body_params: Params = Field(ge=0)
    active_body_params: Params | None = Field(default=None, ge=0)
    embedding_params: Params = Field(default=0, ge=0)
    head_params: Params = Field(default=0, ge=0)
    tied: bool = False
    mtp_params: Params = Field(default=0, ge=0)
    mtp_counted: bool = False
    vision_params: Params = Field(default=0, ge=0)
    vision: Literal["frozen", "trained", "left out"] = "frozen"
    notes: tuple[str, ...] = ()

    @property
    def total_params(self) -> float:
        """All parameters that are saved under the present switches."""
        return (
            self.body_params
            + self.embedding_params
            + (0 if self.tied else self.head_params)
            + (self.mtp_params if self.mtp_counted else 0)
            + (0 if self.vision == "left out" else self.vision_params)
        )

    @property
    def frozen_params(self) -> float:
        """The part of the total that is saved but not trained."""
        return self.vision_params if self.vision == "frozen" else 0.0

    @property
    def active_params(self) -> float | None:
        """What one token uses, embedding and head included; None when the family does not tell."""
        if self.active_body_params is None:
            return None
        return self.active_body_params + self.embedding_params + (0 if self.tied else self.head_params)


class ModelRow(Row):
    """A model of the catalog: a computed total where the shape is known, otherwise the published one."""

    hf_id: str
    architecture: str
    total_params: Params | None
    mtp_params: Params | None = None
    active_params: Params | None = None
    total_published: str = ""
    active_published: str = ""


class InterruptionLog(Row):
    """A public log of interruptions: whole minutes from one to the next, in order (docs/models.md 18.1)."""

    nodes: Count = Field(ge=1)
    gaps_min: Annotated[tuple[Annotated[int, Field(ge=1)], ...], BeforeValidator(_split)] = Field(min_length=1)


@dataclass(frozen=True, slots=True)
class Log:
    """The times between the interruptions of one system or job, in order, from the first to the last."""

    id: str
    name: str
    source: str
    date: str
    nodes: int | None
    gaps_s: tuple[float, ...]
    note: str = ""

    @property
    def span_s(self) -> float:
        """From the first interruption to the last. [s]"""
        return sum(self.gaps_s)
