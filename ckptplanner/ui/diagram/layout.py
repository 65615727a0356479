"""Plan and phase to boxes and lines: one node as a board, and outside it peers, S3 and the file system. No Qt.

    +- node ------------------------------------+
    | GPU GPU   GPU GPU   GPU GPU   GPU GPU     |     other nodes
    |  switch    switch    switch    switch     |
    | EFA NVMe  EFA NVMe  EFA NVMe  EFA NVMe  --|--+  S3
    | CPU 0, host RAM     CPU 1, host RAM       |  |
    |            ENA card ----------------------|--+- file system: server 1 ...
    +-------------------------------------------+

With NVLink-C2C the switches are links of a GPU to its CPU, and cards and drives hang on the CPU below them.
"""

from __future__ import annotations

from ckptplanner.engine.plan import Plan
from ckptplanner.ui.diagram.captions import add_marks
from ckptplanner.ui.diagram.draft import Draft, rows_of, snap
from ckptplanner.ui.diagram.inside import add_board
from ckptplanner.ui.diagram.node import node_of
from ckptplanner.ui.diagram.outside import add_outside
from ckptplanner.ui.diagram.roles import PEER_PARTS, roles_of, way_of
from ckptplanner.ui.diagram.shapes import Layout, Rect
from ckptplanner.ui.diagram.ways import add_gradient, add_ways_out

LEAST_WIDTH, LEAST_HEIGHT = 560.0, 316.0
_MOST_HEIGHT = 760.0


def layout_of(plan: Plan, phase_name: str, width: float, height: float, *, shows_gradients: bool = False) -> Layout:
    """The board of a plan's phase within `width` x `height` [px]; a phase that is not there lights nothing."""
    width, height = max(width, LEAST_WIDTH), max(min(height, _MOST_HEIGHT), LEAST_HEIGHT)
    node = node_of(plan)
    phase = next((one for one in plan.datapath.phases if one.name == phase_name), None) if plan.datapath else None
    way = way_of(phase, has_cards=node.cards > 0, is_direct=node.is_direct)
    draft = Draft(plan, node, phase, way, shows_gradients)
    draft.rows = rows_of(height)
    outer = snap(min(max(width * 0.2, 156), 208))
    channel = snap(min(max(width * 0.07, 40), 96))
    board = Rect(0.0, 0.0, snap(width - outer - channel - 24), height)
    add_board(draft, board)
    outside = Rect(board.right + channel, 0.0, outer, height)
    add_outside(draft, outside)
    add_ways_out(draft, board, board.right + channel / 2, outside)
    add_marks(draft, board)
    if shows_gradients:
        add_gradient(draft, board, board.right + channel / 2 + 12)
    return _placed(draft, (width, height))


def _placed(draft: Draft, size: tuple[float, float]) -> Layout:
    """Every hop is given to the boxes and lines of its roles."""
    present = [box.role for box in draft.boxes] + [line.role for line in draft.lines]
    at: dict[str, list[str]] = {}
    for hop in draft.phase.hops if draft.phase else ():
        for role in roles_of(hop, draft.way, present):
            at.setdefault(role, []).append(hop.id)
    boxes = [box.with_hops(tuple(at.get(box.role, ()))) for box in draft.boxes]
    lines = [line.with_hops(tuple(at.get(line.role, ()))) for line in draft.lines]
    # what stands in a box is also said by the box around it
    around = {
        "storage": ("storage", "server", "branch"), "peer": ("peer", *(role for role, _ in PEER_PARTS)),
    }  # fmt: skip
    for index, box in enumerate(boxes):
        if box.id in around:
            ids = dict.fromkeys(hop_id for role in around[box.id] for hop_id in at.get(role, ()))
            boxes[index] = box.with_hops(tuple(ids))
    return Layout(size, tuple(boxes), tuple(lines), tuple(draft.labels))
