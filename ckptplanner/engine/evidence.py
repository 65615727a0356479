"""What the user's files mean for a plan: values with their intervals, and what is known about the interruptions.

    Gathered (data/evidence.py) + Choices  -> Reading: estimates for the fields, and the interruptions as FailureRecord

Every choice that a person can make about the files is in `Choices`; the same files and choices give the same reading.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

from ckptplanner.data.evidence import COUNTED, Kind, Place, Question
from ckptplanner.frozen import BoolArray, FloatArray
from ckptplanner.text import Text
from ckptplanner.units import Unit

MERGE_S = 60.0
Basis = Literal["measured", "counted", "stated", "derived"]


@dataclass(frozen=True, slots=True)
class Choices:
    """What a person says about the files."""

    merge_s: float = MERGE_S  # stops less than this after the one before belong to it
    counted: frozenset[str] = COUNTED  # kinds that are interruptions
    kinds: tuple[tuple[str, Kind], ...] = ()  # the key of a stop, and the kind that it really is
    job: str | None = None  # None: the one with the most node hours; "": all
    period: tuple[float, float] | None = None  # seconds since 1970
    answers: tuple[tuple[str, str], ...] = ()  # a question's id and the quantity that was chosen
    prior: str | None = None  # an interruption record of the catalog that the count is combined with
    left_out: frozenset[str] = frozenset()  # files


@dataclass(frozen=True, slots=True)
class Estimate:
    """One value for a field, from the files."""

    id: str  # the quantity, "mtbi", "shape", or the path of a fact
    path: str | None  # what engine/edits.py takes; None: for reading only
    title: Text
    value: Any  # a number in `unit`, or what the path takes
    unit: Unit | None
    low: float | None  # ends of the 90 % interval, or of 90 % of the values; None: not known
    high: float | None
    count: int  # values, or interruptions
    basis: Basis
    places: tuple[Place, ...]  # at most a handful; the first is the one that is shown
    date: str
    spread: Literal["interval", "values", ""] = ""  # what low and high are
    shown: str = ""  # the value in words where it is no number
    notes: tuple[Text, ...] = ()
    with_paths: tuple[tuple[str, Any], ...] = ()  # fields that go with it: the nodes that M belongs to
    only_for: tuple[tuple[str, str], ...] = ()  # proposed only where the scenario has these: the region of a price
    is_proposed: bool = True  # False: doubtful, or one of two that contradict each other: adopted only by itself


@dataclass(frozen=True, slots=True)
class Stop:
    """One end of a run or one event, after merging."""

    key: str  # the same whenever the same files are read
    at_s: float
    kind: Kind  # what the file says, or what the user said
    said: str
    place: Place
    is_counted: bool
    is_reclassified: bool
    merged: int  # how many lines are this one stop
    job: str
    nodes: int | None
    node_names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Shape:
    """A Weibull law fitted to the gaps, the last ones censored."""

    shape: float
    low: float  # 90 %, by likelihood ratio
    high: float
    scale_s: float
    p_exponential: float  # of the likelihood ratio test against shape 1
    can_tell: bool  # from 20 gaps on
    cv: float = math.nan  # standard deviation over mean of the gaps that were seen to their end


@dataclass(frozen=True, slots=True)
class Trend:
    """Whether interruptions come more or less often as time goes on."""

    laplace_u: float
    crow_beta: float
    p_value: float  # two-sided, of U
    direction: Literal["none", "rarer", "more often"]  # at 10 %


@dataclass(frozen=True, slots=True)
class Combined:
    """The count together with a published record (gamma update)."""

    record: str  # its id
    name: str
    mtbi_s: float
    low_s: float
    high_s: float


@dataclass(frozen=True, slots=True, eq=False)
class FailureRecord:
    """What the files say about interruptions."""

    job: str  # "" where all are taken together
    jobs: tuple[str, ...]  # those there are, most node hours first
    nodes: float  # that M belongs to, weighted by exposure; NaN where no file says
    is_exposure_known: bool  # from runs; False: from the first to the last event
    stops: tuple[Stop, ...]  # in time, those that do not count too
    first_s: float  # seconds since 1970, of what was watched
    last_s: float
    exposure_s: float  # running time
    count: int
    mtbi_s: float  # NaN where nothing was counted
    low_s: float  # exact 90 % interval; low alone where the count is 0
    high_s: float  # infinity where the count is 0
    gaps_s: FloatArray  # running time between interruptions
    is_open: BoolArray  # which of them were cut off: censored
    shape: Shape | None
    trend: Trend | None
    over_time_s: FloatArray  # moments, and M up to there with its 90 % band
    over_time_mtbi_s: FloatArray
    over_time_low_s: FloatArray
    over_time_high_s: FloatArray
    combined: Combined | None
    node_rate_per_s: float  # of one node, by causes of nodes; NaN where the causes are not known
    common_rate_per_s: float  # of what stops all, whatever the number of nodes
    notes: tuple[Text, ...] = ()  # what is to be known: -D missing, trend, ages


@dataclass(frozen=True, slots=True, eq=False)
class Reading:
    """What the files mean."""

    estimates: tuple[Estimate, ...]  # those that a field takes first
    failures: FailureRecord | None
    questions: tuple[Question, ...] = ()  # not answered yet
    notes: tuple[Text, ...] = ()
