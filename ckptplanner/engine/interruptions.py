"""How often a job is interrupted, scaled from where it was counted, and how long reading back takes (docs/models.md 5, 7.4)."""

from __future__ import annotations

import numpy as np

from ckptplanner.frozen import FloatArray


def scaled_mtbi_s(mtbi_s: float, counted_nodes: int, nodes: int) -> float:
    """Return M for `nodes` nodes from a count at `counted_nodes`: M0 N0 / N. [s]

    A rough guide: interruptions are taken as proportional to nodes, and correlated faults break that. docs/models.md 5.2.
    """
    return mtbi_s * counted_nodes / nodes


def restore_read_s(
    checkpoint_bytes: float, copies: int, read_bytes_per_s: FloatArray, clients_bytes_per_s: FloatArray
) -> FloatArray:
    """Return the time to read a checkpoint back. [s], broadcast of the rates

    Args:
        checkpoint_bytes: S. [B]
        copies: How many times S is read: 1 sharded, replicas for HSDP, ranks for DDP.
        read_bytes_per_s: What the file system delivers. [B/s]
        clients_bytes_per_s: What all nodes together can take. [B/s]

    See docs/models.md 7.4.
    """
    return copies * checkpoint_bytes / np.minimum(read_bytes_per_s, clients_bytes_per_s)
