"""Lost nodes: whether one takes the last copy of a group with it, and the wait for another (docs/models.md 17.1)."""

from __future__ import annotations

import numpy as np

from ckptplanner.engine.simulation.events import LOCAL, Events
from ckptplanner.engine.simulation.setup import Replicas, Spares
from ckptplanner.engine.simulation.state import IntArray, State
from ckptplanner.frozen import BoolArray, FloatArray

MOST_SPARES = 256  # more are never used up in a run that gets on
REMEMBERED_LOSSES = 16  # of nodes, for groups of replicas


def escalated(
    replicas: Replicas,
    events: Events,
    state: State,
    random: np.random.Generator,
    at: FloatArray,
    number: IntArray,
    own: BoolArray,
) -> IntArray:
    """Turn losses of a node that take the last copy of a group into losses of the group."""
    lost = own & (events.nodes_taken[number] > 0)
    if replicas.chance is not None:
        fatal = lost & (random.random(len(at)) < replicas.chance)
        return np.where(fatal & (events.level[number] == LOCAL), events.group, number)
    node = random.integers(0, replicas.nodes, len(at))
    same = (state.lost_node // replicas.group_nodes == (node // replicas.group_nodes)[:, None]) & (
        state.lost_at > (at - replicas.window_s)[:, None]
    )
    again = state.lost_node == node[:, None]
    fatal = lost & ((same & ~again).sum(axis=1) >= replicas.group_nodes - 1)
    rows = np.flatnonzero(lost)
    state.lost_at[rows] = np.where(again[rows], -np.inf, state.lost_at[rows])
    slot = state.lost_at[rows].argmin(axis=1)
    state.lost_at[rows, slot] = at[rows]
    state.lost_node[rows, slot] = node[rows]
    return np.where(fatal & (events.level[number] == LOCAL), events.group, number)


def spare_wait_s(spares: Spares, back: FloatArray, at: FloatArray, nodes: IntArray) -> FloatArray:
    """How long each run waits for as many nodes; each one taken is ordered anew and is back `wait_s` later. [s]"""
    if not back.shape[1]:
        return np.where(nodes > 0, spares.wait_s, 0.0)
    waits = np.zeros(len(at))
    for taken in range(int(nodes.max(initial=0))):
        rows = np.flatnonzero(nodes > taken)
        slot = back[rows].argmin(axis=1)
        waits[rows] = np.maximum(waits[rows], back[rows, slot] - at[rows])
        back[rows, slot] = at[rows] + spares.wait_s
    return waits
