"""Exact least values of a saw tooth: a total that rises between steps of capacity and falls at each of them.

    total  |\\      |\\
           | \\  /| | \\ /|      the least is at the left end of a tooth; each piece within 3 % starts at a left end
           |  \\/ |/|  \\/ |     and ends where the total passes the limit or the next tooth begins

Sampling would miss the teeth; their edges are known, since capacity grows in known steps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from ckptplanner.engine import fsx
from ckptplanner.engine.job import Job
from ckptplanner.engine.outcome import node_limit_bytes_per_s, reach_bytes_per_s, writing_at_once
from ckptplanner.engine.plan import Ranges
from ckptplanner.engine.scenario import AUTO_EFA_BYTES_PER_S, Scenario
from ckptplanner.frozen import FloatArray
from ckptplanner.units import MB

MAX_STEPS_PER_TIER = 4000
_HALVINGS = 40
_CUTS, _ROUNDS = 257, 2  # each round cuts a tooth into 256 pieces; in one of 256^2 the total is a straight line to 1e-10


def edges_s(scenario: Scenario, job: Job, mode: str, low_s: float, high_s: float) -> FloatArray:
    """Return every write time in [low, high] at which a tier's capacity or the EFA rule changes or the nodes can feed it. [s]

    Args:
        mode: sync or async; with other jobs on the file system it decides how many write at once.

    At most 4,000 steps of capacity a tier: beyond them only the ends of the range are looked at.
    """
    storage, load = scenario.storage, scenario.shared.load_bytes_per_s
    efficiency, latency = storage.write_efficiency, storage.latency_s
    found = [np.array([low_s, high_s]), *_fed_from_s(scenario, job)]
    changes, counts = _jobs_writing(scenario, job, mode, low_s, high_s)
    found.append(changes)
    for writing in counts:
        together = job.checkpoint_bytes * writing  # what the file system takes in one write time
        efa_rate = AUTO_EFA_BYTES_PER_S * efficiency - load
        found.append(np.array([latency + together / efa_rate] if efa_rate > 0.0 else []))
        for tier in storage.tiers:
            small = [] if tier.small_gib is None else [tier.small_gib]
            one_step = np.array([tier.step_gib])
            per_step = fsx.write_s_at_steps(together, tier.throughput_mb_per_s_per_tib, one_step, efficiency, 0.0)[0]
            others = load / (tier.step_gib / 1000.0 * tier.throughput_mb_per_s_per_tib * MB * efficiency)
            most = min(float(per_step) / max(low_s - latency, 1e-9) + others, float(MAX_STEPS_PER_TIER))
            capacities = np.array([*small, *(tier.step_gib * np.arange(1.0, np.floor(most) + 1.0))])
            throughput = tier.throughput_mb_per_s_per_tib
            found.append(latency + fsx.write_s_at_steps(together, throughput, capacities, efficiency, load))
    edges = np.sort(np.concatenate(found))  # np.unique would load numpy.ma
    edges = edges[np.concatenate(([True], np.diff(edges) > 0.0))]
    inside: FloatArray = edges[(edges >= low_s) & (edges <= high_s)]
    return inside


def _fed_from_s(scenario: Scenario, job: Job) -> Iterator[FloatArray]:
    """The write times from which the writers can feed a file system: one for each number of servers, up to their own limit."""
    for tier in scenario.storage.tiers:
        limit, each = node_limit_bytes_per_s(scenario, tier), tier.client_server_bytes_per_s or np.inf
        stores = (
            np.arange(1.0, min(np.ceil(limit / each), float(MAX_STEPS_PER_TIER)) + 1.0) if np.isfinite(each) else np.ones(1)
        )
        client = fsx.client_bytes_per_s(stores, np.array(limit), np.array(each))
        yield scenario.storage.latency_s + job.checkpoint_bytes / reach_bytes_per_s(scenario, job, client)


def _jobs_writing(scenario: Scenario, job: Job, mode: str, low_s: float, high_s: float) -> tuple[FloatArray, tuple[float, ...]]:
    """Where the number of jobs that write at once changes, and its values. It grows with the share of time spent writing."""
    if scenario.shared.jobs == 1:
        return np.array([]), (1.0,)
    grid = np.geomspace(low_s, high_s, _CUTS)
    counts = writing_at_once(scenario, job, grid, mode)
    at = np.flatnonzero(np.diff(counts))
    low, high, before = grid[at], grid[at + 1], counts[at]
    for _ in range(_HALVINGS if at.size else 0):
        middle = (low + high) / 2.0
        is_same = writing_at_once(scenario, job, middle, mode) == before
        low, high = np.where(is_same, middle, low), np.where(is_same, high, middle)
    return high, tuple(sorted(set(counts.tolist())))


def within(edges: FloatArray, total: Callable[[FloatArray], FloatArray], share: float = 0.03) -> Ranges | None:
    """Find the least total and every piece where it lies within `share` of that.

    Args:
        edges: Ends of the teeth, rising. (n,)
        total: The total at given points, (m,) -> (m,); NaN where it is not known. It must rise inside each tooth.
        share: How far above the least still counts.

    Returns:
        The least point and the pieces, neighbours joined; None where nothing is known.
    """
    at_edges = total(edges)
    if not np.isfinite(at_edges).any():
        return None
    least = int(np.nanargmin(at_edges))
    limit = at_edges[least] * (1.0 + share)
    good = at_edges[:-1] <= limit
    starts, stops = edges[:-1][good], np.maximum(edges[1:] * (1.0 - 1e-12), edges[:-1])[good]
    ends = _last_within(starts, stops, total, limit) if starts.size else stops
    if at_edges[-1] <= limit:
        starts, ends = np.append(starts, edges[-1]), np.append(ends, edges[-1])
    joined = np.append(True, starts[1:] > ends[:-1] * (1.0 + 1e-9)) if starts.size else np.array([], dtype=bool)
    groups = np.flatnonzero(joined)
    last = np.append(groups[1:] - 1, starts.size - 1)
    return Ranges(float(edges[least]), float(at_edges[least]), starts[groups], ends[last])


def _last_within(starts: FloatArray, stops: FloatArray, total: Callable[[FloatArray], FloatArray], limit: float) -> FloatArray:
    """For teeth whose left end is within the limit: the last point that still is. (k,) -> (k,)"""
    ends = stops.copy()
    crossing = np.flatnonzero(~(total(stops) <= limit))
    if not crossing.size:
        return ends
    low, high, columns = starts[crossing], stops[crossing], np.arange(crossing.size)
    for _ in range(_ROUNDS):
        points = np.linspace(low, high, _CUTS)
        totals = total(points.ravel()).reshape(points.shape)
        inside = (totals <= limit).sum(axis=0)
        last, after = np.clip(inside - 1, 0, _CUTS - 2), np.clip(inside, 1, _CUTS - 1)
        low, high, at_low, at_high = (
            points[last, columns],
            points[after, columns],
            totals[last, columns],
            totals[after, columns],
        )
    rise = at_high - at_low
    is_known = np.isfinite(rise) & (rise > 0.0)
    part = np.where(is_known, (limit - at_low) / np.where(is_known, rise, 1.0), 0.0)
    ends[crossing] = low + np.clip(part, 0.0, 1.0) * (high - low)
    return ends
