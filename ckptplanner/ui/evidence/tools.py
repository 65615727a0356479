"""What the desk works with: the readers, and what the engine makes of what they give. Loaded when it is first needed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ckptplanner.data.evidence import FileEvidence, Gathered
from ckptplanner.engine.adopting import Effect, adopted, effects
from ckptplanner.engine.checks import source_kind
from ckptplanner.engine.edits import EditError
from ckptplanner.engine.evaluate import plan_of
from ckptplanner.engine.evidence import Choices, Reading
from ckptplanner.engine.observed import observed, observed_verdict
from ckptplanner.engine.plan import Plan
from ckptplanner.engine.scenario import NamedScenario
from ckptplanner.engine.settled import without_settled
from ckptplanner.ui.background import Progress
from ckptplanner.ui.evidence.desk import Meaning, Telling, Tools
from ckptplanner.ui.evidence.found_words import KEY_INPUTS, coverage, is_for_all
from ckptplanner.units import MONTHS_PER_YEAR


def _gather(paths: Sequence[Path], progress: Progress, mappings: Mapping[str, Any], telling: Telling) -> Gathered:
    from ckptplanner.data.readers.evidence_files import gather

    return gather(paths, progress=progress, mappings=mappings, telling=telling)


def _read(files: Sequence[FileEvidence], choices: Choices, nodes: int) -> Reading:
    from ckptplanner.engine.readings import read_evidence

    return read_evidence(files, choices, nodes=nodes)


def _together(named: NamedScenario, plan: Plan, found: Sequence[Effect]) -> tuple[float | None, float | None]:
    """What adopting all proposed values changes: dollars a month, and waste."""
    try:
        new = plan_of(adopted(named, [one.estimate for one in found if is_for_all(one)]))
    except EditError:
        return None, None
    costs = [one.cost.total_usd_per_year if one.cost is not None else None for one in (new, plan)]
    wastes = [one.waste.total_fraction if one.waste is not None else None for one in (new, plan)]
    usd = _difference(*costs)
    return None if usd is None else usd / MONTHS_PER_YEAR, _difference(*wastes)


def _difference(new: float | None, old: float | None) -> float | None:
    return None if new is None or old is None else new - old


def _judge(named: NamedScenario, plan: Plan, reading: Reading, progress: Progress) -> Meaning:
    found: list[Effect] = []
    for at, estimate in enumerate(reading.estimates):
        progress(at / len(reading.estimates))
        found += effects(named, plan, [estimate])
    kept = without_settled([one.estimate for one in found])
    found = [replace(effect, estimate=estimate) for effect, estimate in zip(found, kept, strict=True)]
    sources = {path: source_kind(named, path) for path in KEY_INPUTS}
    return Meaning(
        tuple(found), observed(plan, reading), observed_verdict(named, plan, reading), coverage(found, sources),
        _together(named, plan, found),
    )  # fmt: skip


def tools() -> Tools:
    """The real ones."""
    return Tools(_gather, _read, _judge, adopted)
