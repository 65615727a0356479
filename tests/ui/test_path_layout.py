"""The board of a node as boxes and lines: nothing lies on anything else, and every hop has a place."""

from __future__ import annotations

from itertools import combinations

import pytest

from ckptplanner.data import catalog
from ckptplanner.engine.plan import Plan
from ckptplanner.ui.diagram.layout import LEAST_HEIGHT, LEAST_WIDTH, layout_of
from ckptplanner.ui.diagram.shapes import Box, Layout, Line, Rect
from tests.ui.data_paths import plan_of

NODES = [node.id for node in catalog.nodes()]
SIZES = [(LEAST_WIDTH, LEAST_HEIGHT), (600.0, 330.0), (776.0, 420.0), (1240.0, 700.0), (2400.0, 1500.0)]
VARIANTS: dict[str, dict[str, object]] = {
    "as it is": {},
    "copies": {"replication__factor": 2},
    "copies in the background": {"replication__factor": 2, "replication__exchange": "background"},
    "over EFA": {"storage__efa": "on"},
    "one node": {"workload__nodes": 1},
    "storage that exists": {"storage__custom": {}, "datapath__tcp_flows": 8, "datapath__client_bytes_per_s": 2e9},
    "no file system": {"storage__quota_gib": 1.0},
    "one writer": {"workload__writer": "single"},
    "a ring buffer": {"memory__ring_bytes": 2e10},
    "synchronous": {"storage__mode": "sync"},
    "many servers": {"storage__tier": "p2-125-268800"},
}
KINDS = ["p6-b300.48xlarge", "p6e-gb200.36xlarge", "g6e.12xlarge", "trn1.32xlarge", "dgx-b200"]  # one of each shape
PAIRS = [(node, name) for node in NODES for name in VARIANTS if node in KINDS or name in ("as it is", "copies")]
PLANS = {(node, name): plan_of(node, **VARIANTS[name]) for node, name in PAIRS}


def phases_of(plan: Plan) -> list[str]:
    assert plan.datapath is not None
    return [phase.name for phase in plan.datapath.phases]


def parents(layout: Layout, box: Box) -> set[str]:
    found: set[str] = set()
    parent = box.parent
    while parent:
        found.add(parent)
        parent = layout.box(parent).parent
    return found


def is_on(box: Rect, point: tuple[float, float]) -> bool:
    return box.x - 1 <= point[0] <= box.right + 1 and box.y - 1 <= point[1] <= box.bottom + 1


@pytest.mark.parametrize(("node", "variant"), PAIRS)
@pytest.mark.parametrize("gradients", [False, True])
def test_no_two_boxes_share_ground_and_all_stay_inside(node: str, variant: str, gradients: bool) -> None:
    plan = PLANS[node, variant]
    for width, height in SIZES:
        for phase in phases_of(plan):
            layout = layout_of(plan, phase, width, height, shows_gradients=gradients)
            page = Rect(0.0, 0.0, *layout.size)
            assert all(page.holds(box.rect) for box in layout.boxes)
            assert all(box.rect.w > 24 and box.rect.h >= 16 for box in layout.boxes)
            assert all(
                page.x <= x <= page.right and page.y <= y <= page.bottom for line in layout.lines for x, y in line.points
            )
            assert len({box.id for box in layout.boxes}) == len(layout.boxes)
            for one, other in combinations(layout.boxes, 2):
                if one.id in parents(layout, other) and one.rect.holds(other.rect):
                    continue
                if other.id in parents(layout, one) and other.rect.holds(one.rect):
                    continue
                assert not one.rect.overlaps(other.rect), (one.id, other.id, width, phase)


@pytest.mark.parametrize(("node", "variant"), PAIRS)
def test_every_hop_of_every_phase_has_a_place_that_is_lit(node: str, variant: str) -> None:
    plan = PLANS[node, variant]
    assert plan.datapath is not None
    for phase in plan.datapath.phases:
        layout = layout_of(plan, phase.name, 776.0, 420.0)
        for hop in phase.hops:
            places = layout.places_of(hop.id)
            assert places, (phase.name, hop.id)
            assert any(place.is_lit for place in places), (phase.name, hop.id)


@pytest.mark.parametrize("node", NODES)
def test_lines_run_across_or_down_and_lit_ones_begin_and_end_at_parts(node: str) -> None:
    plan = PLANS[node, "copies"]
    for phase in phases_of(plan):
        layout = layout_of(plan, phase, 776.0, 420.0, shows_gradients=True)
        for line in layout.lines:
            for (x1, y1), (x2, y2) in zip(line.points, line.points[1:], strict=False):
                assert x1 == x2 or y1 == y2, (line.id, line.points)
        for line in lit(layout, "gpu_switch", "switch_cpu", "switch_cards", "switch_drives", "cpu_ena"):
            for end in (line.points[0], line.points[-1]):
                assert any(is_on(box.rect, end) for box in layout.boxes if box.role != "node"), (phase, line.id)


def lit(layout: Layout, *roles: str) -> list[Line]:
    return [line for line in layout.lines if line.role in roles and line.is_lit]


def roles_lit(layout: Layout) -> set[str]:
    return {item.role for item in (*layout.boxes, *layout.lines) if item.is_lit}


def test_the_parts_of_the_default_node() -> None:
    layout = layout_of(PLANS["p6-b300.48xlarge", "as it is"], "shared_write", 860.0, 440.0)
    assert [str(box.title) for box in layout.boxes_of("cards")] == ["4 EFA"] * 4
    assert str(layout.box("cards 1").second) == "400\u00a0Gbps"
    assert [str(box.title) for box in layout.boxes_of("drives")] == ["2 NVMe"] * 4
    assert len(layout.boxes_of("gpu")) == 8
    assert len(layout.boxes_of("ram")) == 2
    assert str(layout.box("ena").right) == "350\u00a0Gbps = 43.8\u00a0GB/s"
    assert [str(box.title) for box in layout.boxes_of("server")] == [f"server {number}" for number in range(1, 6)]
    assert "a guess" in str(layout.box("node").right)


@pytest.mark.parametrize(
    ("node", "gpus", "cards", "sockets"),
    [
        ("p6e-gb200.36xlarge", 4, 17, 2), ("g6e.12xlarge", 4, 0, 1), ("p5.4xlarge", 1, 0, 1),
        ("p5.48xlarge", 8, 32, 2), ("trn1.32xlarge", 16, 8, 2), ("generic", 8, 8, 2), ("dgx-b200", 8, 0, 2),
    ],
)  # fmt: skip
@pytest.mark.parametrize(("width", "height"), SIZES)
def test_all_gpus_and_cards_are_there_whatever_the_grouping(
    node: str, gpus: int, cards: int, sockets: int, width: float, height: float
) -> None:
    def total(role: str) -> int:
        words = [str(box.title).split() for box in layout.boxes_of(role)]
        return sum(int(first) if first.isdigit() else 1 for first, *_ in words)

    layout = layout_of(PLANS[node, "as it is"], "snapshot", width, height)
    assert (total("gpu"), total("cards"), len(layout.boxes_of("cpu"))) == (gpus, cards, sockets)


def test_what_each_phase_lights() -> None:
    plan = PLANS["p6-b300.48xlarge", "copies"]
    seen = {phase: roles_lit(layout_of(plan, phase, 860.0, 440.0)) for phase in phases_of(plan)}
    assert {"gpu", "gpu_switch", "switch_cpu", "ram"} <= seen["snapshot"]
    assert not {"ena", "cards", "drives", "storage", "peer"} & seen["snapshot"], "a snapshot stays inside the node"
    assert {"ram", "switch_cpu", "switch_drives", "drives"} <= seen["local_write"]
    assert {"gpu", "drives"} <= seen["gds_write"]
    assert not {"ram", "cpu", "switch_cpu"} & seen["gds_write"], "GPUDirect goes past CPU and RAM"
    assert {"gpu", "cards", "trunk", "peer", "peer_gpu", "drives"} <= seen["replicate"]
    assert {"ram", "cpu_ena", "ena", "trunk", "branch", "server", "storage"} <= seen["shared_write"]
    assert not {"gpu", "cards", "peer", "s3"} & seen["shared_write"]
    assert {"ram", "ena", "trunk", "s3"} <= seen["s3_write"]
    assert {"peer", "peer_drives", "cards", "gpu"} <= seen["restore_replica"]
    over_efa = roles_lit(layout_of(PLANS["p6-b300.48xlarge", "over EFA"], "shared_write", 860.0, 440.0))
    assert {"ram", "cards", "trunk", "storage"} <= over_efa
    assert not {"ena", "cpu_ena"} & over_efa


def test_the_way_back_runs_the_other_way() -> None:
    plan = PLANS["p6-b300.48xlarge", "as it is"]
    out, back = (layout_of(plan, phase, 860.0, 440.0) for phase in ("shared_write", "restore_shared"))
    assert out.lines_of("cpu_ena")[0].points == tuple(reversed(back.lines_of("cpu_ena")[0].points))
    snapshot = layout_of(plan, "snapshot", 860.0, 440.0)
    assert snapshot.lines_of("switch_cpu")[0].has_arrow
    assert back.lines_of("gpu_switch")[0].has_arrow
    assert back.lines_of("gpu_switch")[0].points[-1][1] < back.lines_of("gpu_switch")[0].points[0][1]


def test_many_servers_are_shortened() -> None:
    plan = PLANS["p6-b300.48xlarge", "many servers"]
    assert plan.storage.chosen is not None
    count = plan.storage.chosen.servers
    assert count == 112
    for width, height in SIZES:
        titles = [str(box.title) for box in layout_of(plan, "shared_write", width, height).boxes_of("server")]
        assert len(titles) <= 6
        assert titles[0] == "server 1"
        assert titles[-1] == "server 112"
        assert titles[-2] == f"{112 - len(titles) + 1} servers more"


def test_the_load_of_a_line_is_its_share() -> None:
    plan = PLANS["p6-b300.48xlarge", "as it is"]
    assert plan.datapath is not None
    layout, phase = layout_of(plan, "shared_write", 860.0, 440.0), plan.datapath.phase("shared_write")
    ena = phase.hop("ena")
    assert ena is not None
    assert [line.load_bytes_per_s for line in layout.lines_of("cpu_ena")] == [pytest.approx(ena.load_bytes_per_s / 2)] * 2
    others = max(line.load_bytes_per_s or 0.0 for line in layout.lines_of("branch"))
    assert others == pytest.approx(31 * ena.load_bytes_per_s)


def test_one_writer_is_not_joined_by_the_others() -> None:
    layout = layout_of(PLANS["p6-b300.48xlarge", "one writer"], "shared_write", 860.0, 440.0)
    assert str(layout.box("peer").second) == "this node writes for all"
    assert len(layout.lines_of("branch")) == len(layout.boxes_of("server"))


def test_a_phase_that_is_not_there_lights_nothing() -> None:
    layout = layout_of(PLANS["generic", "as it is"], "no such phase", 860.0, 440.0)
    assert roles_lit(layout) == set()


def test_a_gradient_goes_past_cpu_and_ram_where_there_is_rdma() -> None:
    def hot(node: str) -> set[str]:
        layout = layout_of(PLANS[node, "as it is"], "snapshot", 860.0, 440.0, shows_gradients=True)
        return {box.role for box in layout.boxes if box.is_hot}

    assert hot("p6-b300.48xlarge") == {"gpu", "switch", "cards", "peer_gpu"}
    assert hot("p6e-gb200.36xlarge") == {"gpu", "switch", "cpu", "cards", "peer_gpu"}
    assert hot("g6e.12xlarge") == {"gpu", "switch", "cpu", "ena", "peer_gpu"}, "one card, with RDMA"
    assert hot("p5.4xlarge") == {"gpu", "switch", "cpu", "ram", "ena", "peer_gpu"}, "one card, without"
