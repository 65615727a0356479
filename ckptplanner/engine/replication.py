"""Groups of replicas and how likely one loses every copy (docs/models.md 13.2, 13.3).

    ranks   0 .. J-1 | J .. 2J-1 | ...     a block of J F ranks is cut into J groups of F
    group   n, n + J, ..., n + (F-1) J     every member holds the shards of all of it
    nodes   rank // g                      a group needs one of its nodes to be left

The formulas take the nodes of the groups as an array (K, F), one row for each different set of nodes, in the order of its
ranks; a node stands twice in a row where two members of a group share it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

IntArray = npt.NDArray[np.int64]

MAX_RANKS = 2**20  # ranks that are walked one by one, where the jump is no multiple of a node's GPUs


# ---------------------------------------------------------------- which groups can be formed


def is_legal(world: int, jump: int, factor: int) -> bool:
    """Whether all ranks fall into groups: W is a multiple of J F. One copy needs no groups and is always legal."""
    return factor == 1 or world % (jump * factor) == 0


def _divisors(value: int) -> tuple[int, ...]:
    small = np.arange(1, math.isqrt(value) + 1)
    small = small[value % small == 0]
    return tuple(sorted({*small.tolist(), *(value // small).tolist()}))  # np.unique would load numpy.ma


def legal_factors(world: int, jump: int) -> tuple[int, ...]:
    """Return every F that can be formed, ascending; none where J does not divide W."""
    return () if world % jump else _divisors(world // jump)


def legal_jumps(world: int, factor: int) -> tuple[int, ...]:
    """Return every J that can be formed, ascending; none where F does not divide W."""
    return () if world % factor else _divisors(world // factor)


def nearest(values: Iterable[int], wanted: int) -> tuple[int, ...]:
    """Return the largest value up to `wanted` and the smallest from it on: one value or two, none without values."""
    known = tuple(values)
    below, above = [value for value in known if value <= wanted], [value for value in known if value >= wanted]
    return tuple(sorted({*([max(below)] if below else []), *([min(above)] if above else [])}))


def nearest_nodes(nodes: int, gpus_per_node: int, jump: int, factor: int) -> tuple[int, ...]:
    """Return the node counts around `nodes` whose ranks J and F divide: multiples of J F / gcd(J F, g)."""
    step = jump * factor // math.gcd(jump * factor, gpus_per_node)
    below = nodes // step * step
    return tuple(sorted({count for count in (below, nodes if below == nodes else below + step) if count > 0}))


def rank_groups(world: int, jump: int, factor: int) -> IntArray:
    """Return the ranks of every group, (G, F), G = W / F, as nvidia-resiliency-ext forms them.

    For every residue m below J the ranks m, m + J, m + 2J ... are cut into runs of F, so a group is {n, n + J, ...,
    n + (F-1) J} with n = a J F + b, 0 <= b < J. Rows stand in the order of n. Needs W to be a multiple of J F.
    Source: nvidia-resiliency-ext, local/replication/group_utils.py, parse_group_sequence (d8686d9c).
    """
    return np.arange(world, dtype=np.int64).reshape(-1, factor, jump).transpose(0, 2, 1).reshape(-1, factor)


# ---------------------------------------------------------------- which nodes depend on one another


def node_sets(nodes: int, gpus_per_node: int, jump: int, factor: int) -> IntArray | None:
    """Return the nodes of the groups, (K, F), each different row once, in the order of their first ranks.

    Where J is a multiple of g the GPUs of a node stand in the same place of their groups: N / F rows that share no node.
    Otherwise the sets overlap, or a group has several members on one node (J below g). None above MAX_RANKS then.
    Needs a legal J and F.
    """
    if jump % gpus_per_node == 0:
        return rank_groups(nodes, jump // gpus_per_node, factor)
    world = nodes * gpus_per_node
    if world > MAX_RANKS:
        return None
    rows = rank_groups(world, jump, factor) // gpus_per_node
    if factor == 1:
        return np.unique(rows, axis=0)
    changes = np.ones(len(rows), dtype=bool)
    changes[1:] = np.any(rows[1:] != rows[:-1], axis=1)
    return rows[changes]


def linked_nodes(sets: IntArray, nodes: int) -> IntArray:
    """Return for each node the first node that it is linked to through groups, (N,): equal numbers belong together.

    The connected components of the nodes, where two nodes that stand in one row are joined.
    """
    first = np.arange(nodes, dtype=np.int64)
    while True:
        low = first.copy()
        np.minimum.at(low, sets, np.broadcast_to(first[sets].min(axis=1, keepdims=True), sets.shape))
        low = low[low]
        if np.array_equal(low, first):
            return first
        first = low


def lost_sets(sets: IntArray, lost_nodes: Sequence[int]) -> IntArray:
    """Return the rows of `sets` that have no node left once `lost_nodes` are gone: indices, ascending."""
    return np.flatnonzero(np.isin(sets, np.asarray(lost_nodes, dtype=np.int64)).all(axis=1))


def _minimal_sizes(sets: IntArray) -> IntArray:
    """How many nodes each set has that contains no other set: losing a larger one loses a smaller one first.

    Only members that share a node make sets of different sizes (J below g); those are runs of neighbouring nodes, and both
    of their ends rise from row to row.
    """
    first, last = sets[:, 0], sets[:, -1]
    if sets.shape[1] == 1 or np.all(np.diff(sets, axis=1) > 0):
        return np.full(len(sets), sets.shape[1], dtype=np.int64)
    changes = np.ones(len(sets), dtype=bool)
    changes[1:] = (first[1:] != first[:-1]) | (last[1:] != last[:-1])
    first, last = first[changes], last[changes]
    is_minimal = np.ones(len(first), dtype=bool)
    is_minimal[1:] &= first[1:] != first[:-1]
    is_minimal[:-1] &= last[:-1] != last[1:]
    return (last - first + 1)[is_minimal]


def tolerated_losses(gpus_per_node: int, jump: int, factor: int) -> int:
    """Return how many nodes may be lost at once, whichever they are: F - 1, fewer where members of a group share a node.

    With J below g the group that starts with a node reaches over floor((F-1) J / g) nodes beside its first; no other
    group reaches over fewer. 0: a whole group sits inside one node.
    """
    return factor - 1 if jump >= gpus_per_node else (factor - 1) * jump // gpus_per_node


# ---------------------------------------------------------------- independent losses


def loss_probability(window_s: float, node_loss_interval_s: float) -> float:
    """Return p, the chance that one given node is lost while another's copies are rebuilt, 1 - exp(-Delta/M_n). [1]"""
    return -math.expm1(-window_s / node_loss_interval_s)


def grouped_loss_probability(sets: IntArray, nodes: int, probability: float) -> float:
    """Return the chance that a lost node takes a group with it, on average over the nodes. [1]

    Args:
        sets: From `node_sets`.
        nodes: N.
        probability: p, from `loss_probability`. [1]

    p^(F-1) where every node is in one set of F. In general the sum over the sets of (its nodes / N) p^(nodes - 1), capped
    at 1: sets that overlap are added, which is exact for small p.
    """
    terms = (count * size / nodes * probability ** (size - 1) for size, count in sets_by_size(sets))
    return min(math.fsum(terms), 1.0)


def sets_by_size(sets: IntArray) -> tuple[tuple[int, int], ...]:
    """Return how many nodes the sets have that contain no other set, ascending, each with how many of them there are."""
    sizes, counts = np.unique(_minimal_sizes(sets), return_counts=True)
    return tuple(zip(sizes.tolist(), counts.tolist(), strict=True))


def scattered_loss_probability(nodes: int, factor: int, probability: float) -> float | None:
    """Return the same chance with copies scattered at random over all nodes. [1] None where F is more than the nodes.

    With many shards any F nodes hold every copy of some shard, so F - 1 losses among the other N - 1 nodes suffice: the
    binomial tail P(at least F - 1 of N - 1), about C(N-1, F-1) p^(F-1); 1 - (1-p)^(N-1) for F = 2.
    Source: Cidon et al., "Copysets", USENIX ATC 2013.
    """
    others, least = nodes - 1, factor - 1
    if least > others:
        return None
    if least == 0 or probability >= 1.0:
        return 1.0
    if probability <= 0.0:
        return 0.0
    if least == 1:
        return -math.expm1(others * math.log1p(-probability))
    # logarithms of the terms C(n, k) p^k (1-p)^(n-k), each from the one before
    k = np.arange(least, others, dtype=float)
    first = math.lgamma(others + 1) - math.lgamma(least + 1) - math.lgamma(others - least + 1)
    first += least * math.log(probability) + (others - least) * math.log1p(-probability)
    steps = np.log((others - k) / (k + 1.0)) + math.log(probability) - math.log1p(-probability)
    terms = np.exp(np.concatenate([[first], first + np.cumsum(steps)]))
    return min(math.fsum(terms.tolist()), 1.0)


def group_loss_rate_per_s(nodes: int, node_loss_interval_s: float, probability_after_first: float) -> float:
    """Return how often some group loses every copy, N / M_n times the chance after a first loss. [1/s]

    Independent losses at a constant rate, and a window much shorter than M_n; met by a simulation in
    tests/engine/test_replication.py.
    """
    return nodes / node_loss_interval_s * probability_after_first


def run_loss_probability(rate_per_s: float, run_s: float) -> float:
    """Return the chance that it happens at least once in a run, 1 - exp(-rate x run). [1] (E7)"""
    return -math.expm1(-rate_per_s * run_s)


def survive_probability(nodes: int, group_nodes: int, lost: int) -> float:
    """Return the chance that no group loses every copy when `lost` nodes, drawn at random, are gone at once. [1]

    Args:
        nodes: N, a multiple of `group_nodes`.
        group_nodes: Nodes of one group; the groups share no node. F in the usual case.
        lost: k, 0 to N.

    sum_i (-1)^i C(G, i) C(N - iF, k - iF) / C(N, k), G = N/F, by inclusion and exclusion. In whole numbers: the terms of a
    large cluster cancel to nothing in floats.
    """
    groups, total = nodes // group_nodes, 0
    for i in range(min(groups, lost // group_nodes) + 1):
        total += (-1) ** i * math.comb(groups, i) * math.comb(nodes - i * group_nodes, lost - i * group_nodes)
    return total / math.comb(nodes, lost)


def disjoint_group_nodes(sets: IntArray, nodes: int) -> int | None:
    """Return how many nodes each group has, where groups share no node and are alike; None elsewhere."""
    sizes = np.unique(_minimal_sizes(sets))
    firsts, counts = np.unique(linked_nodes(sets, nodes), return_counts=True)
    alike = len(sizes) == 1 and np.all(counts == sizes[0])
    return int(sizes[0]) if alike and len(firsts) * int(sizes[0]) == nodes else None


# ---------------------------------------------------------------- racks


def racks_with_whole_groups(sets: IntArray, rack_nodes: int) -> IntArray:
    """Return the numbers of the racks that hold every copy of some group, ascending. Racks are runs of `rack_nodes` nodes."""
    racks = sets // rack_nodes
    return np.unique(racks[(racks == racks[:, :1]).all(axis=1), 0])


def rack_loss_rate_per_s(racks: int, rack_loss_interval_s: float) -> float:
    """Return the rate that racks add which fail as a whole and hold whole groups, racks / M_r. [1/s]"""
    return racks / rack_loss_interval_s


def better_jump(world: int, gpus_per_node: int, factor: int, rack_nodes: int) -> int | None:
    """Return a legal jump that puts no group into one rack, None where there is none.

    Multiples of the GPUs of a rack come first, the rack's own count before all: then the members of a group stand in
    different racks. Next jumps longer than a rack, then shorter ones whose groups reach beyond it. All keep the GPUs of a
    node together. Source: nvidia-resiliency-ext's advice that the jump be the blast radius.
    """
    rack = rack_nodes * gpus_per_node
    good = (
        jump
        for jump in legal_jumps(world, factor)
        if jump % gpus_per_node == 0 and (factor - 1) * (jump // gpus_per_node) >= rack_nodes
    )
    return min(good, key=lambda jump: (jump % rack != 0, jump < rack, jump if jump >= rack else -jump), default=None)
