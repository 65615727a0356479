"""Groups of replicas: the printed numbers, what holds for all shapes, and two simulations that know no formula."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from math import comb
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from ckptplanner.data import catalog
from ckptplanner.engine import replication as groups
from ckptplanner.engine.node_plan import ReplicationPlan
from ckptplanner.engine.plan import Finding
from ckptplanner.engine.replica_checks import replication_findings
from ckptplanner.engine.replicas import MAX_LISTED_NODES, replication_plan
from ckptplanner.units import HOUR, NBSP
from tests.engine.build import STEADY, percent, printed, scenario

SIZE = 124.45e9 * 14
MORE = settings(STEADY, max_examples=200)


def planned(*changes: dict[str, Any], **sections: dict[str, Any]) -> ReplicationPlan:
    """The replicas of the example: saved every 45 min, on the drives after 20 s, read back in 6 s."""
    return replication_plan(scenario(*changes, **sections), SIZE, 2685.0, 20.0, 6.0, 600.0)


def said(*changes: dict[str, Any], **sections: dict[str, Any]) -> list[Finding]:
    made = scenario(*changes, **sections)
    return list(replication_findings(made, replication_plan(made, SIZE, 2685.0, 20.0, 6.0, 600.0)))


def plain(finding: Finding) -> str:
    return finding.message.replace(NBSP, " ")


# ---------------------------------------------------------------- groups


def test_the_groups_of_the_example() -> None:
    found = groups.rank_groups(256, 8, 2).tolist()
    assert len(found) == 128
    assert found[:2] == [[0, 8], [1, 9]]
    assert found[7:9] == [[7, 15], [16, 24]]
    assert found[-1] == [247, 255]
    assert planned(replication={"factor": 2}).node_groups == tuple((node, node + 1) for node in range(0, 32, 2))
    assert planned(replication={"factor": 2}).group_count == 128


def cut(world: int, jump: int, factor: int) -> set[tuple[int, ...]]:
    """For every residue, take its ranks and cut the list: how nvidia-resiliency-ext says it, written anew."""
    return {
        tuple(ranks[start : start + factor])
        for residue in range(jump)
        for ranks in [list(range(residue, world, jump))]
        for start in range(0, len(ranks), factor)
    }


@MORE
@given(blocks=st.integers(1, 6), jump=st.integers(1, 24), factor=st.integers(1, 6))
def test_groups_part_the_ranks(blocks: int, jump: int, factor: int) -> None:
    world = blocks * jump * factor
    found = groups.rank_groups(world, jump, factor)
    assert found.shape == (world // factor, factor)
    assert sorted(found.ravel().tolist()) == list(range(world))
    assert {tuple(row) for row in found.tolist()} == cut(world, jump, factor)


@pytest.mark.parametrize(
    ("nodes", "factors"),
    [(32, (1, 2, 4, 8, 16, 32)), (30, (1, 2, 3, 5, 6, 10, 15, 30)), (31, (1, 31)), (33, (1, 3, 11, 33)), (1, (1,))],
)
def test_legal_factors(nodes: int, factors: tuple[int, ...]) -> None:
    assert groups.legal_factors(nodes * 8, 8) == factors
    assert planned(workload={"nodes": nodes}).legal_factors == factors


def test_a_jump_that_does_not_divide_the_ranks_allows_nothing() -> None:
    assert groups.legal_factors(256, 7) == ()
    assert groups.legal_jumps(256, 3) == ()
    assert groups.legal_jumps(256, 2)[-2:] == (64, 128)


@MORE
@given(world=st.integers(1, 3000), jump=st.integers(1, 64), factor=st.integers(1, 64))
def test_legal_values_divide_and_none_is_missed(world: int, jump: int, factor: int) -> None:
    assert groups.legal_factors(world, jump) == tuple(f for f in range(1, world + 1) if world % (jump * f) == 0)
    assert groups.legal_jumps(world, factor) == tuple(j for j in range(1, world + 1) if world % (j * factor) == 0)
    assert groups.is_legal(world, jump, factor) == (factor == 1 or factor in groups.legal_factors(world, jump))


@pytest.mark.parametrize(("wanted", "around"), [(2, (1, 3)), (3, (3,)), (50, (33,)), (0, (1,))])
def test_the_nearest_legal_values(wanted: int, around: tuple[int, ...]) -> None:
    assert groups.nearest((1, 3, 11, 33), wanted) == around


@MORE
@given(nodes=st.integers(1, 100), gpus=st.integers(1, 9), jump=st.integers(1, 20), factor=st.integers(1, 9))
def test_the_nearest_node_counts_are_the_nearest(nodes: int, gpus: int, jump: int, factor: int) -> None:
    legal = [n for n in range(1, 400) if n * gpus % (jump * factor) == 0]
    assert groups.nearest_nodes(nodes, gpus, jump, factor) == groups.nearest(legal, nodes)


# ---------------------------------------------------------------- nodes


@st.composite
def shapes(draw: st.DrawFn) -> tuple[int, int, int, int]:
    """Nodes, GPUs of a node, jump and factor that go together, jumps across and inside nodes among them."""
    gpus, jump, factor = draw(st.integers(1, 8)), draw(st.integers(1, 20)), draw(st.integers(1, 5))
    step = groups.nearest_nodes(1, gpus, jump, factor)[-1]
    nodes = step * draw(st.integers(1, 4))
    assume(nodes <= 200)
    return nodes, gpus, jump, factor


def brute_sets(nodes: int, gpus: int, jump: int, factor: int) -> set[frozenset[int]]:
    return {frozenset(rank // gpus for rank in group) for group in cut(nodes * gpus, jump, factor)}


@MORE
@given(shape=shapes())
def test_node_sets_are_those_of_the_rank_groups(shape: tuple[int, int, int, int]) -> None:
    sets = groups.node_sets(*shape)
    assert sets is not None
    assert {frozenset(row) for row in sets.tolist()} == brute_sets(*shape)
    assert len({tuple(row) for row in sets.tolist()}) == len(sets)


@MORE
@given(shape=shapes())
def test_linked_nodes_are_the_connected_components(shape: tuple[int, int, int, int]) -> None:
    nodes = shape[0]
    parts = [{node} for node in range(nodes)]
    for one in brute_sets(*shape):
        joined = set().union(*(part for part in parts if part & one))
        parts = [part for part in parts if not part & one] + [joined]
    sets = groups.node_sets(*shape)
    assert sets is not None
    linked = groups.linked_nodes(sets, nodes).tolist()
    assert linked == [min(next(part for part in parts if node in part)) for node in range(nodes)]


@MORE
@given(shape=shapes(), seed=st.integers(0, 1000))
def test_what_is_lost_is_what_no_rank_of_the_group_survives(shape: tuple[int, int, int, int], seed: int) -> None:
    nodes = shape[0]
    random = np.random.default_rng(seed)
    lost = random.choice(nodes, size=int(random.integers(0, nodes + 1)), replace=False).tolist()
    sets = groups.node_sets(*shape)
    assert sets is not None
    found = {frozenset(sets[row].tolist()) for row in groups.lost_sets(sets, lost).tolist()}
    assert found == {one for one in brute_sets(*shape) if one <= set(lost)}


@MORE
@given(shape=shapes())
def test_tolerated_losses_is_the_smallest_set_less_one(shape: tuple[int, int, int, int]) -> None:
    _, gpus, jump, factor = shape
    assert groups.tolerated_losses(gpus, jump, factor) == min(map(len, brute_sets(*shape))) - 1


@MORE
@given(shape=shapes(), probability=st.floats(0.0, 1.0))
def test_the_chance_after_a_loss_counts_each_smallest_set_once(shape: tuple[int, int, int, int], probability: float) -> None:
    nodes, sets = shape[0], groups.node_sets(*shape)
    assert sets is not None
    every = brute_sets(*shape)
    smallest = [one for one in every if not any(other < one for other in every)]
    expected = sum(len(one) / nodes * probability ** (len(one) - 1) for one in smallest)
    assert groups.grouped_loss_probability(sets, nodes, probability) == pytest.approx(min(expected, 1.0))


def test_groups_across_odd_jumps() -> None:
    """12 ranks on nodes of 8: each three nodes hang together, and two of any three may share a group."""
    odd = planned(workload={"nodes": 36}, replication={"factor": 2, "jump": 12})
    assert odd.node_groups == tuple((node, node + 1, node + 2) for node in range(0, 36, 3))
    assert odd.survive_probabilities == ()
    even = planned(workload={"nodes": 36}, replication={"factor": 2})
    assert odd.loss_probability_after_first == pytest.approx(2 * (even.loss_probability_after_first or 0.0))


def test_a_huge_cluster_with_an_odd_jump_is_not_walked_rank_by_rank() -> None:
    odd = planned(workload={"nodes": 300_000}, replication={"factor": 2, "jump": 12})
    assert odd.is_legal
    assert (odd.node_groups, odd.loss_probability_after_first, odd.tolerated_losses) == ((), None, 1)


def test_a_large_cluster_counts_its_groups_without_listing_them() -> None:
    large = planned(workload={"nodes": 1_000_000}, replication={"factor": 2, "rack_nodes": 16})
    assert (large.group_count, large.node_groups, large.racks_with_whole_groups) == (4_000_000, (), 62_500)
    assert len(planned(workload={"nodes": MAX_LISTED_NODES}, replication={"factor": 2}).node_groups) == MAX_LISTED_NODES // 2


# ---------------------------------------------------------------- printed probabilities


def test_after_a_first_loss() -> None:
    two, four = planned(replication={"factor": 2}), planned(replication={"factor": 4})
    assert percent(two.loss_probability_after_first, "0.01562") == "0.01562"
    assert percent(two.scattered_loss_probability, "0.4832") == "0.4832"
    assert printed((two.scattered_loss_probability or 0.0) / (two.loss_probability_after_first or 1.0), "30.9") == "30.9"
    assert four.loss_probability_after_first == pytest.approx(3.814e-12, rel=2e-4)
    assert four.scattered_loss_probability == pytest.approx(1.709e-8, rel=2e-4)
    assert 31 * (two.loss_probability_after_first or 0.0) == pytest.approx(0.004843, abs=5e-7)


@pytest.mark.parametrize(
    ("nodes", "window_h", "days", "grouped", "scattered"),
    [
        (32, 1, 90, "0.169", "5.08"), (32, 2, 90, "0.337", "9.89"), (32, 24, 90, "3.96", "69"), (512, 1, 90, "2.66", None),
        (2048, 1, 90, "10.2", None), (32, 1, 365, "0.68", "19.1"), (32, 2, 365, "1.36", "34.4"), (32, 24, 365, "15.1", "99"),
    ],
)  # fmt: skip
def test_over_a_run(nodes: int, window_h: int, days: int, grouped: str, scattered: str | None) -> None:
    found = planned(
        workload={"nodes": nodes}, replication={"factor": 2, "rebuild_s": window_h * HOUR}, run={"days": float(days)}
    )
    assert percent(found.run_loss_probability, grouped) == grouped
    assert found.run_loss_probability == found.independent_run_loss_probability
    if scattered is not None:
        assert percent(found.scattered_run_loss_probability, scattered) == scattered


def test_nodes_lost_at_once() -> None:
    two = planned(replication={"factor": 2}).survive_probabilities
    assert [(k, printed(value, ".0000")) for k, value in two] == [(2, "0.9677"), (3, "0.9032"), (4, "0.8098"), (8, "0.3132")]
    four = dict(planned(replication={"factor": 4}).survive_probabilities)
    assert (four[2], four[3]) == (1.0, 1.0)
    assert (printed(four[4], ".9998"), printed(four[8], ".984")) == ("0.9998", "0.984")
    assert groups.survive_probability(32, 2, 16) == pytest.approx(2**16 / 601_080_390)
    assert groups.survive_probability(32, 2, 17) == 0.0


def test_losses_at_once_in_a_large_cluster_stay_probabilities() -> None:
    found = [groups.survive_probability(4096, 2, k) for k in (0, 1, 2, 64, 256, 512)]
    assert found[:2] == [1.0, 1.0]
    assert found[2] == pytest.approx(1 - 1 / 4095)
    assert found == sorted(found, reverse=True)
    # all k on different pairs: the product over the draws
    assert found[-1] == pytest.approx(float(np.prod((4096 - 2 * np.arange(512)) / (4096 - np.arange(512)))))


@pytest.mark.parametrize(("nodes", "factor", "probability"), [(32, 3, 0.01), (500, 5, 0.2), (40, 40, 0.9), (6, 4, 0.5)])
def test_the_tail_of_scattered_copies(nodes: int, factor: int, probability: float) -> None:
    terms = [comb(nodes - 1, k) * probability**k * (1 - probability) ** (nodes - 1 - k) for k in range(factor - 1, nodes)]
    assert groups.scattered_loss_probability(nodes, factor, probability) == pytest.approx(sum(terms), rel=1e-10)


def test_scattered_copies_at_the_ends() -> None:
    assert groups.scattered_loss_probability(4, 5, 0.1) is None
    assert [groups.scattered_loss_probability(32, 3, p) for p in (0.0, 1.0)] == [0.0, 1.0]
    assert groups.scattered_loss_probability(1_000_000, 3, 0.5) == pytest.approx(1.0)


def test_racks_that_fail_as_a_whole() -> None:
    racks = {"factor": 2, "rack_nodes": 8, "rack_loss_interval_s": 20_000 * HOUR}
    beside = planned(replication=racks, run={"days": 90.0})
    assert groups.run_loss_probability(groups.rack_loss_rate_per_s(4, 20_000 * HOUR), 90 * 24 * HOUR) == pytest.approx(
        0.351, abs=1e-3
    )
    assert percent(beside.run_loss_probability, "35") == "35"
    assert percent(beside.independent_run_loss_probability, "0.17") == "0.17"
    assert (beside.racks_with_whole_groups, beside.better_jump) == (4, 64)
    apart = planned(replication={**racks, "jump": 64}, run={"days": 90.0})
    assert (apart.racks_with_whole_groups, apart.better_jump) == (0, None)
    assert percent(apart.run_loss_probability, "0.17") == "0.17"
    assert apart.node_groups[:2] == ((0, 8), (1, 9))


@pytest.mark.parametrize(
    ("nodes", "factor", "rack", "jump"),
    [(32, 2, 8, 64), (32, 2, 16, 128), (32, 2, 32, None), (30, 2, 8, 120), (48, 3, 8, 64), (32, 4, 16, 64), (31, 31, 8, 8)],
)
def test_a_better_jump(nodes: int, factor: int, rack: int, jump: int | None) -> None:
    """The GPUs of a rack, its multiples, any longer jump, and else one whose groups reach beyond a rack."""
    assert groups.better_jump(nodes * 8, 8, factor, rack) == jump
    if jump is not None:
        sets = groups.node_sets(nodes, 8, jump, factor)
        assert sets is not None
        assert groups.racks_with_whole_groups(sets, rack).tolist() == []


def test_one_copy_loses_its_shards_with_the_node() -> None:
    found = planned(run={"days": 0.01}, replication={"rack_nodes": 5})
    assert (found.loss_probability_after_first, found.scattered_loss_probability, found.tolerated_losses) == (1.0, 1.0, 0)
    assert found.run_loss_probability == pytest.approx(32 * 0.24 / 6400, rel=1e-3)
    assert found.survive_probabilities == ((2, 0.0), (3, 0.0), (4, 0.0), (8, 0.0))
    assert (found.racks_with_whole_groups, found.window_needed_s) == (7, None)
    assert found.node_groups == tuple((node,) for node in range(32))


def test_what_a_node_holds_and_the_window() -> None:
    assert printed(planned(replication={"factor": 2}).local_bytes_per_node, "218", 1e9) == "218"
    assert printed(planned(replication={"factor": 4}).local_bytes_per_node, "436", 1e9) == "436"
    assert planned(replication={"factor": 2}).window_needed_s == 600 + 6 + 2685 + 20
    unknown = replication_plan(scenario(replication={"factor": 2}), SIZE, 2685.0, None, None, 600.0)
    assert unknown.window_needed_s is None


# ---------------------------------------------------------------- simulations

SHAPES = [(32, 2, 8), (30, 3, 16), (64, 4, 128)]


def node_groups(nodes: int, factor: int, jump: int) -> np.ndarray[Any, np.dtype[np.int64]]:
    """The groups of nodes, from the ranks as `cut` finds them."""
    return np.array(sorted({tuple(rank // 8 for rank in group) for group in cut(nodes * 8, jump, factor)}))


@pytest.mark.parametrize(("nodes", "factor", "jump"), SHAPES)
def test_random_nodes_lost_at_once_agree_with_the_formula(nodes: int, factor: int, jump: int) -> None:
    random, sets, runs = np.random.default_rng(20261129), node_groups(nodes, factor, jump), 20_000
    order = np.argsort(random.random((runs, nodes)), axis=1)
    for k in (factor, 2 * factor, nodes // 3):
        lost = np.zeros((runs, nodes), dtype=bool)
        np.put_along_axis(lost, order[:, :k], values=True, axis=1)
        survived = float(np.mean(~lost[:, sets].all(axis=2).any(axis=1)))
        expected = groups.survive_probability(nodes, factor, k)
        error = max((expected * (1 - expected) / runs) ** 0.5, 1 / runs)
        assert abs(survived - expected) < 4 * error


def has_lost_a_group(random: np.random.Generator, sets: Any, lost_per_run: float, window: float, runs: int) -> Any:
    """Simulate runs of length 1 in which nodes are lost at random times; which of them see a group without a copy.

    A node has no copies for `window` after each of its losses. A group is gone when at a loss all its others are without.
    """
    nodes, factor = sets.size, sets.shape[1]
    counts = random.poisson(nodes * lost_per_run, runs)
    run, time = np.repeat(np.arange(runs), counts), random.random(int(counts.sum()))
    node = random.integers(0, nodes, len(run))
    # one line of time for each node of each run, far enough apart
    line = np.sort((run * nodes + node) * 2.0 + time)
    place = np.empty((nodes, factor), dtype=np.int64)
    place[sets.ravel()] = np.repeat(sets, factor, axis=0)
    gone = np.ones(len(run), dtype=bool)
    for member in place[node].T:
        at = (run * nodes + member) * 2.0 + time
        recent = np.searchsorted(line, at, side="right") > np.searchsorted(line, at - window, side="left")
        gone &= recent | (member == node)
    return np.bincount(run[gone], minlength=runs) > 0


@pytest.mark.parametrize(
    ("nodes", "factor", "jump", "lost_per_run", "window_share", "runs"),
    [(32, 2, 8, 2.0, 0.01, 6000), (30, 3, 16, 12.0, 0.03, 2000), (64, 4, 128, 12.0, 0.08, 1000)],
)
def test_losses_over_a_run_agree_with_the_formula(
    nodes: int, factor: int, jump: int, lost_per_run: float, window_share: float, runs: int
) -> None:
    """`window_share` is the window by the time between losses of a node; E7 is its first order, so that counts as error."""
    sets = node_groups(nodes, factor, jump)
    found = float(np.mean(has_lost_a_group(np.random.default_rng(7), sets, lost_per_run, window_share / lost_per_run, runs)))
    p = groups.loss_probability(window_share, 1.0)
    after_first = groups.grouped_loss_probability(sets, nodes, p)
    expected = groups.run_loss_probability(groups.group_loss_rate_per_s(nodes, 1.0, after_first), lost_per_run)
    assert 0.1 < expected < 0.9
    error = (expected * (1 - expected) / runs) ** 0.5
    assert abs(found - expected) < 3 * error + window_share * expected


# ---------------------------------------------------------------- findings


def test_one_copy_is_said_to_protect_nothing() -> None:
    (finding,) = said()
    assert (finding.severity, finding.path) == ("info", "replication.factor")
    assert "no protection" in finding.message


def test_factors_that_cannot_be_formed_name_those_that_can() -> None:
    (finding,) = said(workload={"nodes": 31}, replication={"factor": 2})
    assert (finding.severity, finding.path) == ("error", "replication.factor")
    assert plain(finding) == (
        "2 copies cannot be formed: 31 nodes are 248 ranks, and a jump of 8 allows 1, 31. The nearest: 1, 31; or 30, 32 nodes."
    )
    (many,) = said(workload={"nodes": 5040}, replication={"factor": 11})
    assert "… 4, 5, 6, 7, 8, 9, 10, 12, 14, 15, 16, 18 …" in many.message


def test_a_jump_that_cannot_be_formed_names_the_nearest() -> None:
    (finding,) = said(replication={"factor": 2, "jump": 25})
    assert (finding.severity, finding.path) == ("error", "replication.jump")
    assert "nearest that can: 16, 32." in finding.message
    (odd,) = said(workload={"nodes": 3}, replication={"factor": 2, "jump": 5})
    assert "nearest that can: 4, 6." in odd.message


@pytest.mark.parametrize(
    ("changes", "severity", "path", "words"),
    [
        ({"factor": 2, "jump": 4}, "error", "replication.jump", "protect nothing"),
        ({"factor": 16, "jump": 1}, "warning", "replication.jump", "16 copies protect like 2"),
        ({"factor": 32}, "warning", "replication.factor", "3.48 TB"),
        ({"factor": 2, "rack_nodes": 8}, "warning", "replication.jump", "A jump of 64 spreads"),
        ({"factor": 2, "rack_nodes": 32}, "warning", "replication.jump", "No legal jump"),
        ({"factor": 2, "rebuild_s": 1800.0}, "warning", "replication.rebuild_s", "exist again after 55 min"),
    ],
)
def test_what_is_said_of_groups(changes: dict[str, Any], severity: str, path: str, words: str) -> None:
    (finding,) = said(replication=changes)
    assert (finding.severity, finding.path) == (severity, path)
    assert words in plain(finding)


@pytest.mark.parametrize("changes", [{"factor": 2}, {"factor": 4, "jump": 64}, {"factor": 2, "jump": 64, "rack_nodes": 8}])
def test_a_good_plan_is_met_with_silence(changes: dict[str, Any]) -> None:
    assert said(replication=changes) == []


def test_drives_that_are_too_small_or_missing() -> None:
    def with_drives(count: int | None, store: str = "nvme") -> list[Finding]:
        node = catalog.node("p6-b300.48xlarge").model_copy(update={"nvme_count": count, "nvme_bytes_each": 100e9})
        return said(workload={"node": node}, replication={"factor": 2, "store": store})

    (small,) = with_drives(2)
    assert (small.severity, small.path) == ("error", "replication.factor")
    assert plain(small) == "2 copies of two generations are 218 GB a node, more than its drives hold (200 GB)."
    (missing,) = with_drives(0)
    assert (missing.severity, missing.path) == ("error", "replication.store")
    assert with_drives(3) == with_drives(None) == with_drives(0, "ram") == []


def everything() -> Iterator[tuple[int, int, int, int]]:
    return itertools.product((1, 2, 3, 31, 32), (1, 4, 8), (1, 3, 4, 8, 16, 1000), (1, 2, 3, 31, 32, 1000))


def test_every_shape_has_a_plan_and_words() -> None:
    for nodes, gpus, jump, factor in everything():
        changes = {"factor": factor, "jump": jump, "rack_nodes": 4, "rack_loss_interval_s": 1e8}
        shape = {"nodes": nodes, "gpus_per_node": gpus}
        found = planned(workload=shape, replication=changes)
        numbers = (
            found.loss_probability_after_first, found.scattered_loss_probability, found.run_loss_probability,
            found.independent_run_loss_probability, found.scattered_run_loss_probability,
            *(chance for _, chance in found.survive_probabilities),
        )  # fmt: skip
        assert all(number is None or 0.0 <= number <= 1.0 for number in numbers)
        assert sorted(node for group in found.node_groups for node in group) == list(range(nodes))
        is_wrong = any(one.severity == "error" for one in said(workload=shape, replication=changes))
        assert is_wrong == (factor > 1 and not (found.is_legal and found.tolerated_losses))
        assert all("{" not in finding.message for finding in said(workload=shape, replication=changes))
