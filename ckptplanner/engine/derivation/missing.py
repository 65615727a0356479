"""What is missing where a figure is not known: the first reason that holds among those that the figure names."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ckptplanner.engine.checks import no_node_price
from ckptplanner.engine.derivation.case import Case, finite, of_chosen, of_waste
from ckptplanner.engine.derivation.figures import Figure
from ckptplanner.text import Text, text

_BEYOND = text("The first-order formula passes 100 % here and holds no more; the exact model does.")
_MISSING: Mapping[str, tuple[Callable[[Case], bool], Callable[[Case], Text]]] = {
    "fsx": (lambda case: case.is_custom, lambda case: text("The quota of AWS does not concern storage that exists.")),
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


def _first_error(case: Case) -> Text | None:
    return next((finding.text for finding in case.plan.findings if finding.severity == "error"), None)


def why_missing(case: Case, figure: Figure) -> Text:
    """Say why the figure is not known."""
    reasons = (say(case) for is_missing, say in (_MISSING[need] for need in figure.needs) if is_missing(case))
    return next(reasons, None) or _first_error(case) or text("It cannot be worked out from these inputs.")
