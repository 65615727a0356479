"""What the jobs of a scheduler are called where several have one name, in all files together.

id 100 "pre"   |---- 1 ----| |-- 2 --|                      pre
id 101 "pre"        |-- 1 --|                               pre (101): ran beside it
id 102 "pre"                            |-- 1 --|           pre: the next of a chain
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from ckptplanner.data.evidence import Run

_Key = tuple[str, str]  # name and id
_Lane = list[tuple[float, float]]  # spans in order, none of which meets another


def key_of(run: Run) -> _Key:
    """The same for all tries of a job, and no other job's."""
    return run.job, run.job_id


def job_names(runs: Iterable[Run]) -> Mapping[_Key, str]:
    """A chain of jobs of one name is one job; of those that ran at once only the one with the most node hours has it alone.

    Args:
        runs: Of all files, some of them in several; those that are open with the last moment known of them.
    """
    ends: dict[_Key, dict[tuple[bool, float], tuple[float, int]]] = defaultdict(dict)
    for run in runs:
        end = run.end_s if run.end_s is not None else run.seen_until_s
        if end is not None:
            known, at = ends[key_of(run)], (run.is_zoned, run.start_s)
            said = (max(end, run.start_s), run.nodes or 1)
            known[at] = max(known.get(at, said), said)
    names: dict[_Key, str] = {}
    lanes: dict[tuple[str, bool], _Lane] = defaultdict(list)
    for key in sorted(ends, key=lambda key: (-_node_s(ends[key]), key)):
        name, number = key
        spans = [(is_zoned, (start, end)) for (is_zoned, start), (end, _) in ends[key].items()]
        if number and any(_meets(lanes[name, is_zoned], span) for is_zoned, span in spans):
            names[key] = f"{name} ({number})"
            continue
        names[key] = name
        if number:
            for is_zoned, span in spans:
                insort(lanes[name, is_zoned], span)
    return names


def _node_s(ends: Mapping[tuple[bool, float], tuple[float, int]]) -> float:
    """How much it ran, by the clock that saw more of it. [node s]"""
    found = {True: 0.0, False: 0.0}
    for (is_zoned, start), (end, nodes) in ends.items():
        found[is_zoned] += (end - start) * nodes
    return max(found.values())


def _meets(lane: Sequence[tuple[float, float]], span: tuple[float, float]) -> bool:
    """Whether a span overlaps one of a lane's."""
    start, end = span
    before = bisect_right(lane, (start, float("inf"))) - 1
    after = bisect_left(lane, (start, start))
    return (before >= 0 and lane[before][1] > start) or (after < len(lane) and lane[after][0] < end)
