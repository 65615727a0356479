"""What another proposed value brings along is not proposed a second time: a model comes with its parameters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ckptplanner.engine.evidence import Estimate
from ckptplanner.text import text

_BROUGHT = {"workload.model": frozenset({"workload.total_params", "workload.active_params", "workload.frozen_params"})}


def without_settled(estimates: Sequence[Estimate]) -> tuple[Estimate, ...]:
    """The same in their order; two that would overwrite each other are not both proposed.

    Args:
        estimates: As they fit the plan, see adopting.effects.
    """
    bringing = [one for one in estimates if one.is_proposed and one.path in _BROUGHT]
    return tuple(_settled(one, bringing) for one in estimates)


def _settled(estimate: Estimate, bringing: Sequence[Estimate]) -> Estimate:
    brings = next((one for one in bringing if estimate.path in _BROUGHT[str(one.path)]), None)
    if brings is None or not estimate.is_proposed:
        return estimate
    place = str(brings.places[0]) if brings.places else brings.shown
    note = text("Comes with the model of {place}.", place=place)
    return replace(estimate, is_proposed=False, notes=(note, *estimate.notes))
