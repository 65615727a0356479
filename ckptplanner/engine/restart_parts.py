"""What stands between a stop and training again, from the runs of one job: detect, reschedule, start, and queueing.

    fault ......... End ............ Start ........... first step
          detect        reschedule         start             of a run that was interrupted
                        queue                                of one that ended as planned

A scheduler's End is when it noticed. What was before it is seen only where an event or the last line of a log tells. A log
alone has no End and no Start: from its last line before to its first step after is one time, `restart`, that has all parts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from ckptplanner.data.evidence import Place
from ckptplanner.engine.evidence import Choices
from ckptplanner.engine.timelines import Timeline
from ckptplanner.engine.tracks import Joined
from ckptplanner.text import Text, text
from ckptplanner.units import SECONDS, brief

_PLANNED = ("limit", "completed")


@dataclass
class Part:
    """Times of one quantity, each with the place of the run that it was read from."""

    quantity: str
    values: list[float] = field(default_factory=list)
    places: list[Place] = field(default_factory=list)
    notes: list[Text] = field(default_factory=list)
    is_doubtful: bool = False

    def add(self, value_s: float, place: Place) -> None:
        """One more, unless time ran backwards."""
        if value_s >= 0.0:
            self.values.append(value_s)
            self.places.append(place)


def restart_parts(line: Timeline, job: str, choices: Choices, read_s: float | None) -> Iterable[Part]:
    """The parts of each restart of a job; "" is all jobs.

    Args:
        line: The runs.
        job: Which job.
        choices: Which ends are interruptions, and which period counts.
        read_s: What reading the checkpoint took, where a file says. [s]
    """
    detect, reschedule, queue = Part("detect"), Part("reschedule"), Part("queue")
    start, restart = Part("start"), Part("restart")
    held: list[float] = []
    kinds = dict(choices.kinds)
    for name in [job] if job else line.jobs:
        runs = _within(line.jobs.get(name, ()), choices)
        for one in runs:
            _add_start(start, one, read_s)
        for before, after in pairwise(runs):
            end = before.run.end_s
            if end is None or after.run.start_s < end:
                continue
            kind = kinds.get(before.key, before.run.kind)
            ready = max(end, after.run.eligible_s or end)
            is_told = before.is_end_told and after.is_start_told and _was_waiting(before, after, end)
            if kind in choices.counted:
                _add_detect(detect, before, end)
                if is_told:
                    reschedule.add(after.run.start_s - end, after.run.place)
                    held.append(ready - end)
                if after.run.first_step_s is not None:
                    restart.add(after.run.first_step_s - end, after.run.place)
            elif kind in _PLANNED and is_told:
                queue.add(after.run.start_s - ready, after.run.place)
    _explain(reschedule, start, detect, held, read_s)
    return [part for part in (detect, reschedule, start, restart, queue) if part.values]


def _within(runs: Sequence[Joined], choices: Choices) -> list[Joined]:
    if choices.period is None:
        return list(runs)
    begin, end = choices.period
    return [one for one in runs if begin <= one.run.start_s and one.end_s <= end]


def _was_waiting(before: Joined, after: Joined, end_s: float) -> bool:
    """Whether the next run came by itself: a try of the same job, or the next job of a chain, asked for before the end."""
    one, two = before.run, after.run
    if not one.job_id or not two.job_id or one.job_id == two.job_id:
        return True
    return two.submit_s is not None and two.submit_s <= end_s


def _add_start(start: Part, one: Joined, read_s: float | None) -> None:
    if one.run.first_step_s is not None and one.run.first_step_s > one.run.start_s:  # else the log begins with the step
        start.add(one.run.first_step_s - one.run.start_s - (read_s or 0.0), one.run.place)


def _add_detect(detect: Part, one: Joined, end_s: float) -> None:
    if not one.is_end_told:
        return
    since = one.fault_s if one.fault_s is not None else one.last_line_s
    if since is not None:
        detect.add(end_s - since, one.run.place)
    if one.fault_s is None and one.last_line_s is not None and not detect.notes:
        detect.notes.append(text("From the last line of the log to the end that the scheduler wrote."))


def _explain(reschedule: Part, start: Part, detect: Part, held: Sequence[float], read_s: float | None) -> None:
    """What hides in which part."""
    longest = max(held, default=0.0)
    if longest > 0.0:
        reschedule.notes.append(text("Of it the scheduler held the job back for up to {time}.", time=brief(longest, SECONDS)))
    if not detect.values:
        reschedule.notes.append(
            text("The end of a run is when the failure was noticed: the time until then is not in it, and no file tells it.")
        )
    if read_s is None:
        start.is_doubtful = True
        start.notes.append(text("Reading the checkpoint is in it: no file says how long that took."))
