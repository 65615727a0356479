"""FSx for Lustre, Persistent 2 SSD: which capacities are legal, what they sustain, what bound them (docs/models.md 6).

    capacity = u * ceil(max(k S / 2^30 / fill, 1000 W[MB/s] / tau) / u)        baseline = capacity / 1000 * tau [MB/s]

1,000 GiB counts as 1 TiB here, as in AWS's own examples. Estimates use the baseline, never the burst.
"""

from __future__ import annotations

import numpy as np

from ckptplanner.frozen import FloatArray
from ckptplanner.units import GIB, MB

# a need that lies above a step by rounding alone does not cost a whole step
_ROUNDING = 1e-9


def generations_gib(checkpoint_bytes: float, generations: int, max_fill: float) -> float:
    """Return the capacity that the kept generations need, k S / fill. [GiB]"""
    return generations * checkpoint_bytes / GIB / max_fill


def throughput_gib(write_bytes_per_s: FloatArray, throughput_mb_per_s_per_tib: FloatArray) -> FloatArray:
    """Return the capacity that a write rate needs, 1000 W[MB/s] / tau. [GiB], broadcast of the inputs"""
    return 1000.0 * np.asarray(write_bytes_per_s) / MB / throughput_mb_per_s_per_tib


def legal_capacity_gib(needed_gib: FloatArray, step_gib: FloatArray, small_gib: FloatArray) -> FloatArray:
    """Return the least capacity that the service accepts and that is at least `needed_gib`. [GiB]

    Args:
        needed_gib: What is needed. [GiB], > 0
        step_gib: The unit of growth u. [GiB]
        small_gib: The one size below u, 0 where there is none. [GiB]
    """
    steps = np.maximum(np.ceil(needed_gib / step_gib - _ROUNDING), 1.0)
    return np.where((small_gib > 0.0) & (needed_gib <= small_gib * (1.0 + _ROUNDING)), small_gib, steps * step_gib)


def legal_neighbours_gib(capacity_gib: float, step_gib: float, small_gib: float | None) -> tuple[float, ...]:
    """Return the capacity itself where it is legal, otherwise the nearest legal ones around it. [GiB]"""
    if capacity_gib == small_gib or (capacity_gib >= step_gib and capacity_gib % step_gib == 0):
        return (capacity_gib,)
    below = np.floor(capacity_gib / step_gib) * step_gib or (small_gib or 0.0)
    above = small_gib if small_gib and capacity_gib < small_gib else np.ceil(capacity_gib / step_gib) * step_gib
    return tuple(sorted({float(size) for size in (below, above) if size > 0 and (size <= capacity_gib or size == above)}))


def baseline_bytes_per_s(capacity_gib: FloatArray, throughput_mb_per_s_per_tib: FloatArray) -> FloatArray:
    """Return the sustained rate, capacity / 1000 * tau. [B/s]"""
    return capacity_gib / 1000.0 * throughput_mb_per_s_per_tib * MB


def servers(capacity_gib: FloatArray, step_gib: FloatArray) -> FloatArray:
    """Return the number of storage servers, ceil(capacity / u); the 1,200 GiB size is one."""
    return np.ceil(capacity_gib / step_gib)


def client_bytes_per_s(
    storage_servers: FloatArray, limit_bytes_per_s: FloatArray, per_server_bytes_per_s: FloatArray
) -> FloatArray:
    """Return what one client can move: its own limit, and over TCP 5 Gbps for each storage server. [B/s]

    Args:
        storage_servers: Servers of the file system.
        limit_bytes_per_s: The limit of one client. [B/s]
        per_server_bytes_per_s: Limit between one client and one server, infinity with EFA. [B/s]
    """
    return np.minimum(limit_bytes_per_s, storage_servers * per_server_bytes_per_s)


def write_s_at_steps(
    written_bytes: float,
    throughput_mb_per_s_per_tib: float,
    capacities_gib: FloatArray,
    efficiency: float,
    load_bytes_per_s: float,
) -> FloatArray:
    """Return the write times at which a capacity is just enough: below each of them the next step is due. [s]

    Args:
        written_bytes: What all jobs that write at once write. [B]
        load_bytes_per_s: What others take of the file system. [B/s] Capacities that have nothing left are left out.
    """
    rate = baseline_bytes_per_s(capacities_gib, np.asarray(throughput_mb_per_s_per_tib)) * efficiency - load_bytes_per_s
    return np.asarray(written_bytes / rate[rate > 0.0])
