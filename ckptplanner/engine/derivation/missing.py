"""What is missing where a figure is not known: the first reason that holds among those that the figure names."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ckptplanner.engine.cards import network_limit
from ckptplanner.engine.checks import no_node_price
from ckptplanner.engine.derivation.case import Case, finite, of_chosen, of_cost, of_ram, of_replication, of_waste
from ckptplanner.engine.derivation.formulas_beyond import has_other_usd
from ckptplanner.engine.derivation.recipe import Figure
from ckptplanner.text import Text, text

_BEYOND = text("The first-order formula passes 100 % here and holds no more; the exact model does.")
_NO_CEILING = text("No ceiling of this way is known: type one.")
_MISSING: Mapping[str, tuple[Callable[[Case], bool], Callable[[Case], Text]]] = {
    "fsx": (lambda case: case.is_custom, lambda case: text("The quota of AWS does not concern storage that exists.")),
    "sold": (lambda case: case.is_custom, lambda case: text("Storage that exists is not bought by throughput.")),
    "system": (
        lambda case: case.chosen is None,
        lambda case: _first_error(case) or text("No file system on offer can do this."),
    ),
    "storage_price": (
        lambda case: of_chosen("usd_per_month")(case) is None,
        lambda case: _no_price(case),
    ),
    "gpu_price": (
        lambda case: finite(case.job.gpu_value_usd_per_h) is None,
        lambda case: no_node_price(case.scenario),
    ),
    "progress": (
        lambda case: of_waste("exact_fraction")(case) is None,
        lambda case: _first_error(case) or text("The job makes no progress."),
    ),
    "first_order": (lambda case: of_waste("first_order_fraction")(case) is None, lambda case: _BEYOND),
    "first_order_chosen": (lambda case: of_waste("chosen_fraction")(case) is None, lambda case: _BEYOND),
    "planned": (lambda case: case.scenario.planned.every_s is None, lambda case: text("No planned stops are given.")),
    "classes": (lambda case: not case.scenario.restart.classes, lambda case: text("All interruptions end alike.")),
    "pauses": (lambda case: not case.pauses, lambda case: text("All interruptions go back to a save.")),
    "wait": (lambda case: not case.scenario.spares.wait_s, lambda case: text("No wait for a replacement is given.")),
    "spares": (
        lambda case: not case.scenario.spares.wait_s and not case.scenario.spares.nodes,
        lambda case: text("No spare nodes and no wait for a replacement are given."),
    ),
    "saves": (lambda case: not case.scenario.saves, lambda case: text("No other saves are given.")),
    "other_price": (lambda case: of_cost("other_usd_per_year")(case) is None, lambda case: _no_other_price(case)),
    "others_cost": (
        lambda case: not has_other_usd(case), lambda case: text("Nothing lies in S3, no node is spare, nothing crosses zones."),
    ),
    "zones": (
        lambda case: case.scenario.network.same_zone, lambda case: text("The file system is in the zone of the nodes."),
    ),
    "jobs": (lambda case: case.scenario.shared.jobs == 1, lambda case: text("This job is alone on the file system.")),
    "copies": (lambda case: case.scenario.replication.factor == 1, lambda case: text("There is one copy only.")),
    "groups": (
        lambda case: of_replication("loss_probability_after_first")(case) is None,
        lambda case: _first_error(case) or text("Too many ranks to look at every group."),
    ),
    "levels": (lambda case: not case.has_levels, lambda case: text("No local saves are made.")),
    "near": (
        lambda case: case.rates is not None and not case.rates.local_share,
        lambda case: text("Nothing restarts from the nodes' own drives."),
    ),
    "memory": (lambda case: not case.is_renewal, lambda case: text("Interruptions have no memory in this model.")),
    "ages": (lambda case: not case.ages, lambda case: text("The age of the nodes does not count here.")),
    "ram": (
        lambda case: of_ram("ram_bytes")(case) is None,
        lambda case: text("The memory of {node} is not known: type it.", node=case.scenario.workload.node.name),
    ),
    "snapshot": (lambda case: case.limit("snapshot") is None, lambda case: _NO_CEILING),
    "network": (lambda case: network_limit(case.plan) is None, lambda case: _NO_CEILING),
    "shared_write": (lambda case: case.limit("shared_write") is None, lambda case: _NO_CEILING),
    "other": (
        lambda case: case.plan.storage.next_best is None,
        lambda case: text("No other file system on offer has a price."),
    ),
}  # fmt: skip


def _no_price(case: Case) -> Text:
    if case.is_custom:
        return text("What the storage that exists costs is not known: type this job's share.")
    region = case.scenario.prices.region
    return text("No price is known for this file system in {region}: type it from your bill.", region=region)


def _no_other_price(case: Case) -> Text:
    if case.beyond is not None and case.beyond.s3_bytes and case.scenario.prices.s3_usd_per_gb_month is None:
        return text("What S3 costs is not known: type its price.")
    if not case.scenario.network.same_zone and case.scenario.prices.cross_zone_usd_per_gb is None:
        return text("What a GB costs that crosses zones is not known: type its price.")
    return no_node_price(case.scenario)


def _first_error(case: Case) -> Text | None:
    return next((finding.text for finding in case.plan.findings if finding.severity == "error"), None)


def why_missing(case: Case, figure: Figure) -> Text:
    """Say why the figure is not known."""
    reasons = (say(case) for is_missing, say in (_MISSING[need] for need in figure.needs) if is_missing(case))
    return next(reasons, None) or _first_error(case) or text("It cannot be worked out from these inputs.")
