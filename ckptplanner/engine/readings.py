"""From the user's files to estimates for the fields of a plan: `read_evidence(files, choices, nodes=...)`.

    measured values of a quantity -> one estimate: median of times, mean of rates, the newest of sizes, with their spread
                                     two that contradict each other: both, the newer one proposed
    runs, events, counts          -> M, its shape, the shares of causes, the parts of a restart
    facts                         -> as they are stated

Nothing here guesses: what a file leaves open is a question, what is doubtful is shown and not proposed.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ckptplanner.data.evidence import QUANTITIES, FileEvidence, Measured, Place, Quantity, Question
from ckptplanner.engine.evidence import Basis, Choices, Estimate, Reading
from ckptplanner.engine.failure_estimates import failure_estimates
from ckptplanner.engine.failure_record import failure_record
from ckptplanner.engine.restart_parts import restart_parts
from ckptplanner.engine.timelines import timeline
from ckptplanner.engine.watches import job_of
from ckptplanner.frozen import BoolArray, FloatArray
from ckptplanner.text import Text, text
from ckptplanner.units import brief

LEAST_FOR_QUANTILES = 20
PLACES_CAP, NOTES_CAP = 5, 6
_ALIKE = 0.05  # values of two files closer than this do not contradict each other
_SYNC = 0.02  # a stop this close to the whole save: training stops until it is written
_SAME_MOMENT_S = 2.0
_MOST = 1e30  # no time, size or rate is larger: NaN and infinity are left out with it
_ORDER = (
    "mtbi", "shape", "shares", "stop", "restorable", "write", "interval", "step", "background_loss", "slowdown", "checkpoint",
    "bytes_per_param", "params", "detect", "reschedule", "start", "restore_read", "restart", "lost_steps", "queue",
    "local_stop", "local_write", "local_interval", "nodes", "generations", "writes_at", "reads_at", "drives_write",
    "drives_read", "copy", "exchange", "shared_load",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Sample:
    """Values of one quantity from one file."""

    quantity: str
    values: tuple[float, ...]
    places: tuple[Place, ...]
    date: str = ""
    at_s: tuple[float, ...] = ()
    notes: tuple[Text, ...] = ()
    is_doubtful: bool = False
    basis: Basis = "measured"
    nodes: int | None = None
    is_of_all: bool = False
    reader: str = ""

    @property
    def when(self) -> tuple[str, float]:
        """How new it is."""
        return self.date, max(self.at_s, default=0.0)


def read_evidence(files: Sequence[FileEvidence], choices: Choices, *, nodes: int) -> Reading:
    """What these files mean.

    Args:
        files: What the readers gave.
        choices: What a person says about them.
        nodes: Of the plan, for what no file says.
    """
    used = [file for file in files if file.file not in choices.left_out]
    line = timeline(used)
    record = failure_record(line, used, choices, nodes=nodes)
    samples, questions = _samples(used, choices)
    samples += _derived_writes(samples)
    read_s = [value for one in samples if one.quantity == "restore_read" and not one.is_doubtful for value in one.values]
    told = {one.quantity for one in samples if not one.is_doubtful}
    for part in restart_parts(line, job_of(line, choices), choices, float(np.median(read_s)) if read_s else None):
        if part.quantity not in told:
            samples.append(
                _Sample(
                    part.quantity, tuple(part.values), tuple(part.places), _date_of(used, part.places), (), tuple(part.notes),
                    part.is_doubtful, "derived",
                )
            )  # fmt: skip
    found = [estimate for quantity in QUANTITIES for estimate in _estimates(quantity, samples, nodes)]
    found += failure_estimates(record, used, nodes)
    found += [estimate for file in sorted(used, key=lambda one: one.date, reverse=True) for estimate in _facts(file)]
    rank = {name: at for at, name in enumerate(_ORDER)}
    found.sort(key=lambda estimate: rank.get(estimate.id, len(rank)))
    return Reading(estimates=_one_for_each_path(found), failures=record, questions=questions)


# ---------------------------------------------------------------- values


def _samples(files: Sequence[FileEvidence], choices: Choices) -> tuple[list[_Sample], tuple[Question, ...]]:
    """The values of all files with their quantities, and the questions that keep some of them back."""
    answers = dict(choices.answers)
    samples: list[_Sample] = []
    questions: dict[str, Question] = {}
    for file in files:
        for one in file.measured:
            quantity = one.quantity
            if one.question is not None:
                answer = answers.get(one.question.id)
                if answer not in ("", *(choice for choice, _ in one.question.choices)):
                    questions.setdefault(one.question.id, one.question)
                    continue
                quantity = answer or ""
            sample = _sample(quantity, one, file)
            if sample is not None:
                samples.append(sample)
    return _without_twins(samples), tuple(questions.values())


def _sample(quantity: str, one: Measured, file: FileEvidence) -> _Sample | None:
    if quantity not in QUANTITIES:
        return None
    has_times = len(one.at_s) == len(one.values)
    kept = [at for at, value in enumerate(one.values) if 0.0 <= value <= _MOST]
    if not kept:
        return None
    return _Sample(
        quantity=quantity, values=tuple(float(one.values[at]) for at in kept), places=(one.place,), date=file.date,
        at_s=tuple(one.at_s[at] for at in kept) if has_times else (), notes=one.notes, is_doubtful=one.is_doubtful,
        nodes=one.nodes, is_of_all=one.is_of_all, reader=file.reader,
    )  # fmt: skip


def _without_twins(samples: list[_Sample]) -> list[_Sample]:
    """The same value at the same moment in two files, a log as text and as JSON for example, is one value."""
    seen: dict[str, list[_Sample]] = {}
    kept = []
    for one in samples:
        others = [other for other in seen.get(one.quantity, []) if other.places[0].file != one.places[0].file]
        if one.at_s and others:
            rest = np.flatnonzero(~_is_there(np.asarray(one.at_s), others)).tolist()
            if not rest:
                continue
            one = replace(one, values=tuple(one.values[at] for at in rest), at_s=tuple(one.at_s[at] for at in rest))
        if one.at_s:
            seen.setdefault(one.quantity, []).append(one)
        kept.append(one)
    return kept


def _is_there(at_s: FloatArray, samples: Sequence[_Sample]) -> BoolArray:
    """Which of these moments one of the samples has too."""
    times = np.sort([moment for one in samples for moment in one.at_s])
    after = np.searchsorted(times, at_s)
    nearest = np.minimum(
        np.abs(times[np.minimum(after, len(times) - 1)] - at_s), np.abs(times[np.maximum(after - 1, 0)] - at_s)
    )  # fmt: skip
    return np.asarray(nearest <= _SAME_MOMENT_S)


def _derived_writes(samples: Sequence[_Sample]) -> list[_Sample]:
    """t_w = t - C of each save where a file has both, and t where training stops for all of it."""
    if any(one.quantity == "write" for one in samples):
        return []
    found = []
    for whole in (one for one in samples if one.quantity == "restorable"):
        file = whole.places[0].file
        stops = [one for one in samples if one.quantity == "stop" and one.places[0].file == file]
        if not stops or whole.is_doubtful != stops[0].is_doubtful:
            continue
        values = _less_stops(np.asarray(whole.values), np.asarray(stops[0].values))
        note = text("From the start of a save until it can be restored, without the stop.")
        if len(values):
            found.append(replace(whole, quantity="write", values=tuple(values.tolist()), at_s=(), basis="derived",
                                 notes=(*whole.notes, note)))  # fmt: skip
    return found


def _less_stops(whole_s: FloatArray, stop_s: FloatArray) -> FloatArray:
    stop = stop_s if len(stop_s) == len(whole_s) else np.full(len(whole_s), float(np.median(stop_s)))
    is_sync = float(np.median(stop)) >= (1.0 - _SYNC) * float(np.median(whole_s))
    rest = whole_s if is_sync else whole_s - stop
    return rest[rest > 0.0]


# ---------------------------------------------------------------- estimates


def _estimates(quantity: str, samples: Sequence[_Sample], nodes: int) -> Iterable[Estimate]:
    """One for the values that agree, one more for each group that contradicts them, one for the doubtful ones."""
    about, own = QUANTITIES[quantity], [one for one in samples if one.quantity == quantity]
    groups = _agreeing(about, [one for one in own if not one.is_doubtful])
    estimates = [_estimate(about, group, nodes) for group in groups]
    for at, estimate in enumerate(estimates):
        if len(estimates) > 1:
            other = estimates[1 if at == 0 else 0]
            note = text(
                "Contradicts {other}: {place}.", other=brief(float(other.value), about.unit), place=str(other.places[0])
            )  # fmt: skip
            estimate = replace(estimate, notes=(*estimate.notes, note), is_proposed=estimate.is_proposed and at == 0)
        yield estimate
    doubtful = [one for one in own if one.is_doubtful]
    if doubtful:
        yield replace(_estimate(about, doubtful, nodes), is_proposed=False)


def _agreeing(about: Quantity, samples: Sequence[_Sample]) -> list[list[_Sample]]:
    """Groups of samples whose ranges touch, the newest group first, then the one with more values."""
    if about.typical == "newest":
        return [sorted(samples, key=lambda one: one.when)] if samples else []
    groups: list[list[_Sample]] = []
    top = -math.inf
    for some in sorted(_alike_files(samples), key=_ends_of):
        low, high = _ends_of(some)
        if groups and low * (1.0 - _ALIKE) <= top:
            groups[-1] += some
            top = max(top, high)
        else:
            groups.append([*some])
            top = high
    groups.sort(key=lambda group: (max(one.date for one in group), sum(len(one.values) for one in group)), reverse=True)
    return groups


def _alike_files(samples: Sequence[_Sample]) -> list[list[_Sample]]:
    """Three files and more of one kind with a value or two each are repetitions: their spread is among them."""
    by_reader: dict[str, list[_Sample]] = {}
    for one in samples:
        by_reader.setdefault(one.reader, []).append(one)
    found: list[list[_Sample]] = []
    for some in by_reader.values():
        is_repeated = len(some) >= 3 and all(len(one.values) < 3 for one in some)
        found += [some] if is_repeated else [[one] for one in some]
    return found


def _ends_of(samples: Sequence[_Sample]) -> tuple[float, float]:
    return _ends([value for one in samples for value in one.values])


def _ends(values: Sequence[float]) -> tuple[float, float]:
    """5 % and 95 % of the values from 20 on, else the least and the greatest."""
    if len(values) >= LEAST_FOR_QUANTILES:
        low, high = np.quantile(np.asarray(values), (0.05, 0.95)).tolist()
        return low, high
    return min(values), max(values)


def _estimate(about: Quantity, samples: Sequence[_Sample], nodes: int) -> Estimate:
    """One estimate from samples that agree; of sizes they are in order of time."""
    values = [value for one in samples for value in one.values]
    value = values[-1]
    if about.typical == "median":
        value = float(np.median(values))
    elif about.typical == "mean":
        value = float(np.mean(values))
    low, high = _ends(values) if len(values) > 1 else (None, None)
    ordered = reversed(samples) if about.typical == "newest" else samples
    notes = [note for one in samples for note in one.notes]
    is_proposed, extra = _may_propose(about, samples, nodes)
    return Estimate(
        id=about.id, path=about.path, title=about.title, value=value, unit=about.unit, low=low, high=high, count=len(values),
        basis=samples[0].basis, places=tuple(dict.fromkeys(place for one in ordered for place in one.places))[:PLACES_CAP],
        date=max(one.date for one in samples), spread="values" if low is not None else "",
        notes=(*tuple(dict.fromkeys(notes))[:NOTES_CAP], *extra), is_proposed=is_proposed,
    )  # fmt: skip


def _may_propose(about: Quantity, samples: Sequence[_Sample], nodes: int) -> tuple[bool, tuple[Text, ...]]:
    """Whether the field takes it first, and why not."""
    if about.id == "interval":
        return False, (text("What the job does now; a plan proposes its own."),)
    if about.path is not None and about.path.startswith("storage.custom."):
        counts = {nodes if one.is_of_all else one.nodes for one in samples}
        if counts != {nodes}:
            known = ", ".join(str(count) for count in sorted(count for count in counts if count is not None))
            if known:
                return False, (text("Measured with {known} nodes, not with {nodes}.", known=known, nodes=nodes),)
            return False, (text("How many nodes took part is not known: a few do not reach what {nodes} do.", nodes=nodes),)
    return True, ()


# ---------------------------------------------------------------- facts, and one value for each field


def _facts(file: FileEvidence) -> Iterable[Estimate]:
    for fact in file.facts:
        number = fact.value if isinstance(fact.value, int | float) and not isinstance(fact.value, bool) else None
        if number is not None and not math.isfinite(number):
            continue
        yield Estimate(
            id=fact.path or str(fact.title), path=fact.path, title=fact.title, value=fact.value, unit=fact.unit, low=None,
            high=None, count=1, basis="stated", places=(fact.place,), date=file.date, shown=fact.shown, notes=fact.notes,
            only_for=fact.only_for,
        )  # fmt: skip


def _one_for_each_path(estimates: Iterable[Estimate]) -> tuple[Estimate, ...]:
    """At most one estimate proposed for a field: the first in order; the same fact in several files is there once."""
    taken: dict[str, int] = {}
    kept: list[Estimate] = []
    for estimate in estimates:
        at = taken.get(estimate.path) if estimate.path is not None and estimate.is_proposed else None
        if at is None:
            if estimate.path is not None and estimate.is_proposed:
                taken[estimate.path] = len(kept)
            kept.append(estimate)
        elif estimate.basis == kept[at].basis == "stated" and estimate.value == kept[at].value:
            places = tuple(dict.fromkeys((*kept[at].places, *estimate.places)))[:PLACES_CAP]
            kept[at] = replace(kept[at], places=places, count=kept[at].count + 1)
        else:
            kept.append(replace(estimate, is_proposed=False, notes=(*estimate.notes, _other(kept[at]))))
    return tuple(kept)


def _other(first: Estimate) -> Text:
    return text("{place} says another value for this field, and is proposed.", place=str(first.places[0]))


def _date_of(files: Sequence[FileEvidence], places: Sequence[Place]) -> str:
    """The newest date of the files of these places."""
    dates: Mapping[str, str] = {file.file: file.date for file in files}
    return max((dates.get(place.file, "") for place in places), default="")
