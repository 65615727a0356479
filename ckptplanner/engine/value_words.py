"""What the values of choice fields are called, in the panels, the report and the derivations alike."""

from __future__ import annotations

from collections.abc import Mapping

from ckptplanner.engine.scenario import Scenario, Source
from ckptplanner.frozen import PathError, spec_of
from ckptplanner.text import Text, text
from ckptplanner.units import BYTES_PER_PARAM, Unit, brief, grouped

VALUE_WORDS: Mapping[str, Mapping[str, Text]] = {
    "workload.writer": {"sharded": text("all nodes"), "single": text("one")},
    "workload.model.vision": {"frozen": text("frozen"), "trained": text("trained"), "left out": text("left out")},
    "storage.mode": {"async": text("async"), "sync": text("sync")},
    "storage.interval_model": {"exact": text("exact"), "young": text("Young, 1974"), "daly": text("Daly, 2006")},
    "storage.waste_model": {"exact": text("exact"), "first_order": text("first order")},
    "storage.efa": {"auto": text("auto"), "on": text("on"), "off": text("off")},
    "storage.pace": {"within": text("in the write time"), "full": text("as fast as it can")},
    "storage.published": {"write_end": text("when written"), "next_save": text("at the next save")},
    "storage.choose_by": {"storage_usd": text("storage bill"), "total_usd": text("with lost GPUs")},
    "datapath.tcp_flow": {
        "outside": text("5 Gbps"),
        "placement": text("10 Gbps, placement"),
        "ena_express": text("25 Gbps, ENA Express"),
    },
    "memory.staging": {"share": text("its share"), "whole": text("all of it")},
    "replication.store": {"nvme": text("drives"), "ram": text("RAM")},
    "replication.exchange": {"training": text("training"), "background": text("behind")},
    "failures.law": {"weibull": text("Weibull"), "lognormal": text("lognormal"), "empirical": text("log")},
    "failures.clock": {"job": text("one, the job's"), "nodes": text("each node's")},
    "local.uploads": {"die": text("die with it"), "survive": text("survive")},
    "storage.tier": {"auto": text("cheapest")},
}


def field_unit(path: str) -> Unit | None:
    """The unit of a field; a layout is told by its sum."""
    if path == "workload.layout":
        return BYTES_PER_PARAM
    try:
        return spec_of(Scenario, path).unit
    except PathError:
        return None


def range_words(source: Source) -> Text | None:
    """What a measured value rests on: 4.97 s to 5.26 s, from 3 values; None where nothing is recorded."""
    unit = field_unit(source.path)
    between = None
    if unit is not None and source.low is not None and source.high is not None:
        between = text("{low} to {high}", low=brief(source.low, unit), high=brief(source.high, unit))
    if source.count is None:
        return between
    count = text("from 1 value") if source.count == 1 else text("from {count} values", count=grouped(source.count))
    return count if between is None else text("{between}, {count}", between=between, count=count)


def nodes_words(nodes: int) -> Text:
    """1 node, 1,024 nodes."""
    return text("1 node") if nodes == 1 else text("{count} nodes", count=grouped(nodes))
