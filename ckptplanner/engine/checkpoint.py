"""How big one checkpoint is and who writes how much of it (docs/models.md 2)."""

from __future__ import annotations


def checkpoint_bytes(total_params: float, frozen_params: float, bytes_per_param: float, frozen_bytes_per_param: float) -> float:
    """Return S, one checkpoint summed over all nodes, deduplicated over data parallel ranks. [B]

    Args:
        total_params: All parameters, frozen ones included. [params]
        frozen_params: The part of them that is saved but not trained. [params], <= total_params
        bytes_per_param: What is on disk for a trained parameter. [B/param]
        frozen_bytes_per_param: What is on disk for a frozen one. [B/param]

    Scheduler, random and data-loader state are small and not counted; activations are not saved.
    """
    return max(total_params - frozen_params, 0.0) * bytes_per_param + frozen_params * frozen_bytes_per_param


def bytes_per_writer(checkpoint: float, writers: int) -> float:
    """Return what one writer moves. [B] Sharded saving: every node one share; a single writer: all of it."""
    return checkpoint / writers
