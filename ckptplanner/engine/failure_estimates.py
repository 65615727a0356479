"""Estimates from the record of interruptions: M at its nodes, the Weibull shape, the shares of causes.

The shape is proposed from 50 gaps on and where no trend is found; shares from five stops of known cause on.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

from ckptplanner.data.evidence import FileEvidence, Place, Restarts
from ckptplanner.engine.evidence import Estimate, FailureRecord, Stop
from ckptplanner.engine.failure_record import LEAST_KNOWN, age_s, count_words, shape_words
from ckptplanner.engine.failure_stats import LEAST_SHOWN, mtbi_interval_s, share_interval
from ckptplanner.engine.timelines import node_count
from ckptplanner.text import Text, text
from ckptplanner.units import FRACTION, NUMBER, SECONDS

_PLACES_CAP = 5
_COUNTS_CAP = 5
_SHAPES = (0.2, 10.0)  # what failures.weibull_shape takes
_TITLE = text("Interrupted every")
_NODES_NOT_SAID = text("No file says on how many nodes; taken as this job's.")

_OF_NODES = text("Events of nodes, not interruptions of a job, and no file says of how many nodes.")
_OF_HARDWARE = ("xid", "dmesg")  # in the ids of readers whose events are of hardware


def failure_estimates(record: FailureRecord | None, files: Sequence[FileEvidence], nodes: int) -> Iterable[Estimate]:
    """What the record of interruptions settles; counts of restarts without times stand beside it."""
    if record is not None and (record.stops or record.is_exposure_known):
        stops = [stop for stop in record.stops if stop.is_counted]
        places, date = _places(record, stops, files)
        yield _mtbi(record, places, date, nodes, _is_of_nodes(record, files))
        if record.shape is not None and record.shape.can_tell:
            yield _shape(record, places, date)
        yield from _shares(stops, date)
    has_stops = record is not None and bool(record.stops)
    counts = sorted((one for file in files for one in file.restarts if age_s(one) > 0.0), key=lambda one: -one.count)
    for at, one in enumerate(counts[:_COUNTS_CAP]):
        date = next(file.date for file in files if one in file.restarts)
        yield _from_count(one, date, nodes, is_proposed=at == 0 and not has_stops and one.count > 0)


def _places(record: FailureRecord, stops: Sequence[Stop], files: Sequence[FileEvidence]) -> tuple[tuple[Place, ...], str]:
    """Where the interruptions stand, the newest first, and the newest date of their files."""
    shown = stops or record.stops
    dates = {file.file: file.date for file in files}
    places = tuple(dict.fromkeys(stop.place for stop in reversed(shown)))[:_PLACES_CAP]
    names = {stop.place.file for stop in record.stops}
    if not places:
        runs = [run for file in files for run in file.runs]
        places, names = tuple(run.place for run in runs[:1]), {run.place.file for run in runs}
    return places, max((dates.get(name, "") for name in names), default="")


def _is_of_nodes(record: FailureRecord, files: Sequence[FileEvidence]) -> bool:
    """Whether these are events of nodes, nobody says of how many, and not the interruptions of a job."""
    if record.is_exposure_known or math.isfinite(record.nodes):
        return False
    readers = {file.file: file.reader for file in files}
    return any(
        stop.node_names or any(part in readers.get(stop.place.file, "") for part in _OF_HARDWARE) for stop in record.stops
    )


def _mtbi(record: FailureRecord, places: tuple[Place, ...], date: str, nodes: int, is_of_nodes: bool) -> Estimate:
    """M at a whole number of nodes, so that the rate of a node is what was counted."""
    is_said = math.isfinite(record.nodes)
    whole = max(round(record.nodes), 1) if is_said else nodes
    scale = record.nodes / whole if is_said else 1.0
    value, low, high = record.mtbi_s, record.low_s, record.high_s
    about_shape = shape_words(record.shape, record.is_open)
    notes = tuple(note for note in record.notes if note not in about_shape)
    if not is_said:
        notes = (*notes, _OF_NODES if is_of_nodes else _NODES_NOT_SAID)
    if record.combined is not None:
        value, low, high = record.combined.mtbi_s, record.combined.low_s, record.combined.high_s
        notes = (text("Together with {name}, which counts as two interruptions.", name=record.combined.name), *notes)
    is_bound = not math.isfinite(value)
    return _counted(
        value=(low if is_bound else value) * scale, low=low * scale, high=high * scale if math.isfinite(high) else None,
        count=record.count, places=places, date=date, notes=notes, nodes=whole,
        is_proposed=not is_bound and not is_of_nodes,
        is_derived=record.combined is not None,
    )  # fmt: skip


def _counted(
    *,
    value: float, low: float, high: float | None, count: int, places: tuple[Place, ...], date: str, notes: tuple[Text, ...],
    nodes: int, is_proposed: bool, is_derived: bool,
) -> Estimate:  # fmt: skip
    return Estimate(
        id="mtbi", path="failures.mtbi_s", title=_TITLE, value=value, unit=SECONDS, low=low, high=high, count=count,
        basis="derived" if is_derived else "counted", places=places, date=date, spread="interval", notes=notes,
        with_paths=(("failures.mtbi_nodes", nodes),), is_proposed=is_proposed,
    )  # fmt: skip


def _from_count(one: Restarts, date: str, nodes: int, *, is_proposed: bool) -> Estimate:
    age = age_s(one)
    low, high = mtbi_interval_s(age, one.count)
    said = node_count(one.nodes)
    notes = (count_words(one), *one.notes, *(() if said else (_NODES_NOT_SAID,)))
    return _counted(
        value=age / one.count if one.count else low, low=low, high=high if math.isfinite(high) else None, count=one.count,
        places=(one.place,), date=date, notes=notes, nodes=said or nodes, is_proposed=is_proposed, is_derived=False,
    )  # fmt: skip


def _shape(record: FailureRecord, places: tuple[Place, ...], date: str) -> Estimate:
    shape = record.shape
    assert shape is not None
    seen = int((~record.is_open).sum())
    has_trend = record.trend is not None and record.trend.direction != "none"
    notes = []
    if has_trend:
        notes.append(text("Interruptions come more or less often as time goes on: the shape mixes that in."))
    if shape.low <= 1.0 <= shape.high:
        notes.append(text("A memoryless law fits as well."))
    return Estimate(
        id="shape", path="failures.weibull_shape", title=text("Weibull shape"), value=shape.shape, unit=NUMBER, low=shape.low,
        high=shape.high, count=seen, basis="derived", places=places, date=date, spread="interval", notes=tuple(notes),
        with_paths=(("failures.law", "weibull"),),
        is_proposed=seen >= LEAST_SHOWN and not has_trend and _SHAPES[0] <= shape.shape <= _SHAPES[1],
    )  # fmt: skip


def _shares(stops: Sequence[Stop], date: str) -> Iterable[Estimate]:
    """The three shares together; who is taken away finds no local checkpoint again, as after the loss of the cluster."""
    kinds = [stop.kind for stop in stops if stop.kind in ("process", "node", "cluster", "preempted")]
    if len(kinds) < LEAST_KNOWN:
        return
    alone, of_nodes = kinds.count("process"), kinds.count("node")
    process, node = round(alone / len(kinds), 3), round(of_nodes / len(kinds), 3)
    low, high = share_interval(alone, len(kinds))
    notes = []
    if kinds.count("preempted"):
        notes.append(text("Runs that were taken away count as a lost cluster: no local checkpoint is left."))
    if len(kinds) < len(stops):
        notes.append(text("Stops of unknown cause, left out: {count}.", count=len(stops) - len(kinds)))
    others: tuple[tuple[str, Any], ...] = (
        ("failures.node_share", node),
        ("failures.cluster_share", round(max(1.0 - process - node, 0.0), 3)),
    )
    known = [stop for stop in reversed(stops) if stop.kind in kinds]
    yield Estimate(
        id="shares", path="failures.process_share", title=text("Ended by a process alone"), value=process, unit=FRACTION,
        low=low, high=high, count=len(kinds), basis="counted",
        places=tuple(dict.fromkeys(stop.place for stop in known))[:_PLACES_CAP],
        date=date, spread="interval", notes=tuple(notes), with_paths=others,
    )  # fmt: skip
