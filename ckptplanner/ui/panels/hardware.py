"""The panel of what a node carries and holds: the ceilings of the data path and host memory, where the user knows better."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from typing_extensions import override

from ckptplanner.engine import ceilings
from ckptplanner.engine.ceilings import Known
from ckptplanner.engine.host_ram import JOB_SHARE
from ckptplanner.engine.plan import Plan
from ckptplanner.engine.scenario import Scenario
from ckptplanner.ui.panels.panel import ComputedEntry, Entry, FieldEntry, Panel, check, listed, named_choices, quantity, switch
from ckptplanner.ui.words import say
from ckptplanner.units import BYTES, BYTES_PER_S, FRACTION, GIB, brief

Read = Callable[[Scenario], Known]


class HardwarePanel(Panel):
    """Copies, links, host memory, drives, cards; what fills host memory."""

    @override
    def title(self) -> str:
        return say("Node")

    @override
    def entries(self) -> Sequence[Entry]:
        return (*_memory(), *_ceilings(), *_more())


def _memory() -> tuple[Entry, ...]:
    return (
        ComputedEntry(figure="host_ram", title=say("Host RAM full"), text=_fill, line=_used),
        FieldEntry(path="memory.ram_bytes", make=quantity(say("unknown")), none_text=_ram),
        FieldEntry(path="memory.job_bytes", make=quantity(say("a tenth")), none_text=_job),
        FieldEntry(path="memory.writes_in_flight", reason=_not_with_sync),
        FieldEntry(path="datapath.pinned", title=say("Copies to"), make=check(say("pinned memory"))),
    )


def _ceilings() -> tuple[Entry, ...]:
    return (
        _rate("copy_bytes_per_s", ceilings.copy),
        _rate("memory_bytes_per_s", ceilings.memory),
        _rate("ena_bytes_per_s", ceilings.ena),
        _rate("efa_bytes_per_s", ceilings.efa),
        _rate("nvme_write_bytes_per_s", lambda scenario: ceilings.nvme(scenario, is_read=False)),
        _rate("nvme_read_bytes_per_s", lambda scenario: ceilings.nvme(scenario, is_read=True), rare=True),
        _rate("link_bytes_per_s", ceilings.link, rare=True),
        _rate("hbm_bytes_per_s", ceilings.hbm, rare=True),
    )


def _more() -> tuple[Entry, ...]:
    return (
        FieldEntry(path="datapath.client_bytes_per_s", make=quantity(say("as the service says")), rare=True),
        FieldEntry(path="datapath.servers_bytes_per_s", make=quantity(say("as the service says")), rare=True),
        FieldEntry(path="datapath.writer_skew_ratio", rare=True),
        FieldEntry(path="datapath.tcp_flow", make=listed(*named_choices("datapath.tcp_flow")), rare=True),
        FieldEntry(path="datapath.tcp_flows", title=say("TCP flows"), make=quantity(say("no limit")), rare=True),
        FieldEntry(path="datapath.efa_connections", rare=True),
        FieldEntry(path="datapath.s3_connections", rare=True),
        _rate("s3_connection_bytes_per_s", ceilings.s3_connection, rare=True, title=say("S3 connection")),
        FieldEntry(path="datapath.s3_part_bytes", make=quantity(say("as needed")), rare=True),
        FieldEntry(
            path="memory.staging", title=say("Process stages"), make=switch(*named_choices("memory.staging")), rare=True
        ),
        FieldEntry(path="memory.staging_copies", rare=True),
        FieldEntry(path="memory.pinned_bytes", rare=True),
        FieldEntry(path="memory.ram_disk_bytes", rare=True),
        FieldEntry(path="memory.growth_bytes", rare=True),
        FieldEntry(path="memory.ring_bytes", make=quantity(say("none")), rare=True),
    )


def _rate(name: str, read: Read, *, rare: bool = False, title: str = "") -> FieldEntry:
    """A ceiling: empty, it shows the catalog's."""
    return FieldEntry(
        path=f"datapath.{name}",
        title=title,
        make=quantity(say("unknown")),
        none_text=lambda plan: _catalog_rate(read(plan.scenario)),
        rare=rare,
    )


def _catalog_rate(known: Known) -> str:
    return say("not known") if known.rate is None else brief(known.rate, BYTES_PER_S)


def _not_with_sync(scenario: Scenario) -> str:
    return say("one, with sync") if scenario.storage.mode == "sync" else ""


def _fill(plan: Plan) -> str:
    ratio = plan.host_ram.fill_ratio if plan.host_ram else None
    return "–" if ratio is None else brief(ratio, FRACTION, 2)


def _used(plan: Plan) -> str:
    ram = plan.host_ram
    if ram is None:
        return ""
    if ram.ram_bytes is None:
        return say("{used} needed, memory not known", used=brief(ram.used_bytes, BYTES))
    return say("{used} of {has} a node", used=brief(ram.used_bytes, BYTES), has=brief(ram.ram_bytes, BYTES))


def _ram(plan: Plan) -> str:
    gib = plan.scenario.workload.node.host_ram_gib
    return say("not known") if gib is None else brief(gib * GIB, BYTES)


def _job(plan: Plan) -> str:
    ram = plan.host_ram.ram_bytes if plan.host_ram else None
    return say("not known") if ram is None else say("a tenth, {size}", size=brief(JOB_SHARE * ram, BYTES))
