"""How far each input may be from what is taken for it today: a low and a high value, and who says so.

Where something has been published, its spread is the range. Elsewhere the range is an assumption, and is marked as one. An
input is *uncertain* where the truth has one value that a measurement would show, and *decided* where a person chooses it.

    position    0 |-----------------+------------------| 1       on a log scale where both ends are above zero
                 low              today              high
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from ckptplanner.data import catalog
from ckptplanner.engine.levers import BYTES_EACH, GPU_VALUE, RESTART_BASE, STORAGE_PRICE, Lever, lever_of, limits_of
from ckptplanner.engine.measure import alternatives
from ckptplanner.engine.scenario import NamedScenario, Scenario
from ckptplanner.engine.value_words import nodes_words
from ckptplanner.text import Text, text
from ckptplanner.units import MINUTE

Kind = Literal["published", "catalog", "assumption", "given"]
Ends = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Range:
    """An input of one scenario with its range. All values are in the unit of the lever; low <= today's value <= high."""

    lever: Lever
    low: float
    high: float
    kind: Kind
    reason: Text
    is_uncertain: bool

    @property
    def path(self) -> str:
        """The input."""
        return self.lever.path

    @property
    def value(self) -> float:
        """Today's value."""
        return self.lever.value

    def position(self, value: float) -> float:
        """Where a value lies between low and high, 0..1; logarithmic where both ends are above zero."""
        if self.high <= self.low:
            return 0.0
        if self.low > 0.0:
            return math.log(value / self.low) / math.log(self.high / self.low)
        return (value - self.low) / (self.high - self.low)


def _always(scenario: Scenario) -> bool:
    return True


@dataclass(frozen=True, slots=True)
class _Row:
    """One line of the table: the ends for a named scenario, why, and where it says something at all."""

    path: str
    ends: Callable[[NamedScenario, float], Ends]
    kind: Kind
    reason: Text | Callable[[NamedScenario], Text]
    is_uncertain: bool = True
    applies: Callable[[Scenario], bool] = _always


def _from_to(low: float, high: float) -> Callable[[NamedScenario, float], Ends]:
    return lambda named, value: (low, high)


def _times(low: float, high: float) -> Callable[[NamedScenario, float], Ends]:
    return lambda named, value: (value * low, value * high)


def _record_times(named: NamedScenario) -> list[float]:
    return [record.value for record in alternatives(named, "failures.mtbi_s")]


def _records(named: NamedScenario, value: float) -> Ends:
    found = _record_times(named)
    return min(found), max(found)


def _records_words(named: NamedScenario) -> Text:
    found = alternatives(named, "failures.mtbi_s")
    low, high = (pick(found, key=lambda record: record.value) for pick in (min, max))
    return text(
        "{count} published records, scaled to {nodes}: from {lowest} to {highest}",
        count=len(found), nodes=nodes_words(named.scenario.failures.mtbi_nodes), lowest=low.name, highest=high.name,
    )  # fmt: skip


def _layouts(named: NamedScenario, value: float) -> Ends:
    each = [row.bytes_per_param for row in catalog.layouts()]
    return min(each), max(each)


def _is_async(scenario: Scenario) -> bool:
    return scenario.storage.mode == "async"


def _has_custom(scenario: Scenario) -> bool:
    return scenario.storage.custom is not None


def _has_local(scenario: Scenario) -> bool:
    return scenario.local.enabled


def _has_planned(scenario: Scenario) -> bool:
    return scenario.planned.every_s is not None


def _is_uncertain_law(scenario: Scenario) -> bool:
    return scenario.failures.law == "weibull" and scenario.failures.weibull_shape != 1.0


_SHARE = text("assumed: real saves and restarts reach from half of the baseline to all of it")
_HALF_TO_TWICE = text("assumed: from half of it to twice as much")
_OTHER_SIZE = text("assumed: a model from a quarter of this size to eight times as large")

# the published ends are those of the rows named here; tests/engine/test_ranges.py reads them in data/published_runs.csv
TABLE: tuple[_Row, ...] = (
    _Row(GPU_VALUE, _from_to(1.0, 40.0), "assumption",
         text("assumed: from about $1, reserved GPUs that would stand idle, to $40, about twice the dearest price on demand")),
    _Row("failures.mtbi_s", _records, "published", _records_words),
    _Row(RESTART_BASE, _from_to(5 * MINUTE, 20 * MINUTE), "published",
         text("restart overhead of 5 to 20 min, Kokolis et al., arXiv 2410.21680"), applies=lambda s: not s.restart.classes),
    _Row("failures.downtime_s", _from_to(0.0, 60 * MINUTE), "assumption", text("assumed: up to an hour without a free node")),
    _Row("storage.blocking_s", _from_to(0.59, 60.0), "published",
         text("from 0.59 s (ByteCheckpoint, 405B on 8,960 GPUs) to 60 s (Nemotron 3 Ultra before its change)"),
         applies=_is_async),
    _Row("storage.background_loss_s", _from_to(0.0, 60.0), "assumption",
         text("assumed: up to a minute of training lost while a save is written"), applies=_is_async),
    _Row("storage.slowdown_fraction", _from_to(0.0, 0.1), "assumption",
         text("assumed: up to a tenth of the speed while a save is written"), applies=_is_async),
    _Row("storage.latency_s", _from_to(0.0, 30.0), "assumption", text("assumed: up to half a minute to open and close")),
    _Row("storage.write_efficiency", _from_to(0.5, 1.0), "assumption", _SHARE),
    _Row("storage.read_efficiency", _from_to(0.5, 1.0), "assumption", _SHARE),
    _Row("failures.weibull_shape", _from_to(0.5, 1.0), "assumption",
         text("assumed: from strong bursts to none"), applies=_is_uncertain_law),
    _Row("local.blocking_s", _from_to(0.5, 20.0), "assumption", text("assumed: from half a second to 20 s"),
         applies=_has_local),
    _Row("local.durable_s", _times(0.5, 2.0), "assumption", _HALF_TO_TWICE, applies=_has_local),
    _Row("local.restart_s", _times(0.5, 2.0), "assumption", _HALF_TO_TWICE, applies=_has_local),
    _Row("planned.queue_s", _from_to(0.0, 4 * 60 * MINUTE), "assumption",
         text("assumed: up to four hours in the queue"), applies=_has_planned),
    _Row("spares.wait_s", _times(0.25, 4.0), "assumption", text("assumed: from a quarter of it to four times as much"),
         applies=lambda s: s.spares.wait_s > 0),
    _Row("shared.load_bytes_per_s", _times(0.5, 2.0), "assumption", _HALF_TO_TWICE,
         applies=lambda s: s.shared.load_bytes_per_s > 0),
    _Row("storage.custom.write_bytes_per_s", _times(0.5, 1.0), "assumption", _SHARE, applies=_has_custom),
    _Row("storage.custom.read_bytes_per_s", _times(0.5, 1.0), "assumption", _SHARE, applies=_has_custom),
    _Row("storage.custom.usd_per_month", _times(0.5, 2.0), "assumption", _HALF_TO_TWICE, applies=_has_custom),
    _Row("workload.nodes", _times(0.125, 8.0), "assumption",
         text("assumed: a job from an eighth of this size to eight times as large; each node fails as often"),
         is_uncertain=False),
    _Row("workload.total_params", _times(0.25, 8.0), "assumption", _OTHER_SIZE, is_uncertain=False,
         applies=lambda s: s.workload.measured_bytes is None),
    _Row("workload.measured_bytes", _times(0.25, 8.0), "assumption", _OTHER_SIZE, is_uncertain=False),
    _Row(BYTES_EACH, _layouts, "catalog", text("the layouts of the catalog, from weights alone to gradients too"),
         is_uncertain=False),
    _Row(STORAGE_PRICE, _times(0.5, 3.0), "assumption",
         text("assumed: from half of it, a discount, to three times as much, another region or service"), is_uncertain=False),
    _Row("storage.generations_kept", _from_to(2.0, 12.0), "assumption",
         text("assumed: from one complete save to eleven"), is_uncertain=False),
    _Row("storage.max_fill", _from_to(0.7, 1.0), "assumption", text("assumed: filled to 70 % or to the brim"),
         is_uncertain=False),
    _Row("restore.copies", _from_to(1.0, 8.0), "assumption", text("assumed: read once, or by up to eight replicas"),
         is_uncertain=False),
)  # fmt: skip


def range_of(named: NamedScenario, path: str) -> Range | None:
    """The range of one input; None where the table has none or the input is idle in this scenario.

    Raises:
        KeyError: the table has no such path.
    """
    row = next((row for row in TABLE if row.path == path), None)
    if row is None:
        raise KeyError(f"{path}: no range is known; there are {', '.join(row.path for row in TABLE)}")
    return _made(named, row, None)


def ranges_of(named: NamedScenario, given: Mapping[str, Ends] | None = None) -> tuple[Range, ...]:
    """The inputs that are in use in a scenario, with their ranges, in the order of the table.

    Args:
        given: Ranges that are known better, by path: an interval from a log, a price range of a contract. They replace
            those of the table, and may name any other number of a scenario.

    A range always holds today's value. Ends are cut to what the field takes.

    Raises:
        PathError: `given` names a path that is no number.
        ValueError: a given range is empty or no finite one.
    """
    given = dict(given or {})
    return tuple(_all(named, given))


def _all(named: NamedScenario, given: dict[str, Ends]) -> Iterator[Range]:
    for row in TABLE:
        if (found := _made(named, row, given.pop(row.path, None))) is not None:
            yield found
    for path, ends in given.items():
        row = _Row(path, lambda named, value, ends=ends: ends, "given", text("given"))  # type: ignore[misc]
        if (found := _made(named, row, ends)) is not None:
            yield found


def _made(named: NamedScenario, row: _Row, given: Ends | None) -> Range | None:
    if given is None and not row.applies(named.scenario):
        return None
    lever = lever_of(named.scenario, row.path)
    if lever is None:
        return None
    low, high = row.ends(named, lever.value) if given is None else given
    if not (math.isfinite(low) and math.isfinite(high) and low <= high):
        raise ValueError(f"{row.path}: a range goes from a low to a high number, not from {low} to {high}")
    least, most = limits_of(row.path)
    low, high = max(min(low, lever.value), least), min(max(high, lever.value), most)
    if lever.is_whole:
        low, high = float(math.ceil(low)), float(math.floor(high))
    kind, reason = (row.kind, row.reason) if given is None else ("given", text("given"))
    words = reason if isinstance(reason, Text) else reason(named)
    return Range(lever, low, high, kind, words, row.is_uncertain)
