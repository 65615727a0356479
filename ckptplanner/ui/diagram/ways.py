"""The ways between the node and what is outside it, and the way of a gradient. No Qt."""

from __future__ import annotations

from dataclasses import replace

from ckptplanner.ui.diagram.draft import Draft, bus_y
from ckptplanner.ui.diagram.shapes import Line, Rect


def add_ways_out(draft: Draft, board: Rect, channel_x: float, outside: Rect) -> None:
    """From the cards to peers, S3 or the servers, through the channel beside the board."""
    way = draft.way
    if "trunk" not in way:
        return
    exit_y, start = _exit(draft, board)
    load = draft.load("client", "flows", "connections", "ena", "efa", "storage")
    draft.line("trunk", [*start, (channel_x, exit_y)], load, arrow=way.is_back and "cards" not in way)
    if "storage" in way:
        _add_branches(draft, channel_x, exit_y, load)
        if draft.node.count > 1 and not draft.is_single:
            _add_others(draft, outside, load)
    for name in ("peer", "s3"):
        if name in way:
            box = next(box for box in draft.boxes if box.id == name).rect
            draft.line(
                "trunk", [(channel_x, exit_y), (channel_x, box.middle_y), (box.x, box.middle_y)], load, arrow=not way.is_back
            )


def _exit(draft: Draft, board: Rect) -> tuple[float, list[tuple[float, float]]]:
    """How high the way leaves the board, and its points up to the edge; RDMA cards join in a bus."""
    if "cards" not in draft.way:
        ena = next(box for box in draft.boxes if box.id == "ena").rect
        return ena.middle_y, [(ena.right, ena.middle_y)]
    cards = [box.rect for box in draft.boxes if box.role == "cards"]
    y = bus_y(draft)
    load = draft.load("efa")
    for card in cards:
        edge = card.y if draft.node.is_direct else card.bottom
        draft.line(
            "trunk",
            [(card.middle_x, edge), (card.middle_x, y)],
            load / len(cards) if load else None,
            arrow=draft.way.is_back,
        )
    return y, [(cards[0].middle_x, y)]


def _add_branches(draft: Draft, channel_x: float, exit_y: float, load: float | None) -> None:
    servers = [box.rect for box in draft.boxes if box.role == "server"]
    for server in servers:
        draft.line(
            "branch", [(channel_x, exit_y), (channel_x, server.middle_y), (server.x, server.middle_y)],
            load / len(servers) if load else None,
        )  # fmt: skip


def _add_others(draft: Draft, outside: Rect, load: float | None) -> None:
    """The other nodes ask the same of the file system."""
    boxes = {box.id: box.rect for box in draft.boxes}
    peer, storage, x = boxes["peer"], boxes["storage"], outside.right + 16
    y = storage.y + min(storage.h / 2, 64.0)
    total = load * (draft.node.count - 1) if load else None
    draft.line("branch", [(peer.right, peer.y + 20), (x, peer.y + 20), (x, y), (storage.right, y)], total, arrow=True)


def add_gradient(draft: Draft, board: Rect, channel_x: float) -> None:
    """Where a gradient goes: from one GPU's memory to that of a peer, over RDMA where there is a card for it.

    The way is drawn between the boxes; the boxes that it passes are marked as hot.
    """
    last = {box.role: box for box in draft.boxes}  # the last of each role
    gpu, switch, chip = last["gpu"].rect, last["switch"].rect, last["peer_gpu"].rect
    gpu_x, hot = gpu.middle_x + 12, {"gpu", "switch", "peer_gpu"}
    pieces = [[(gpu_x, gpu.bottom), (gpu_x, switch.y)]]
    if "cards" in last:
        hot.add("cards")
        card, x = last["cards"].rect, last["cards"].rect.middle_x + 12
        if draft.node.is_direct:
            hot.add("cpu")
            middle, y = switch.middle_x, max(bus_y(draft) - 6, switch.bottom + 2)
            pieces += [[(middle, switch.bottom), (middle, last["cpu"].rect.y)], [(x, last["cpu"].rect.y), (x, card.bottom)]]
            pieces.append([(x, card.y), (x, y)])
        else:
            y = bus_y(draft) + 8
            pieces += [[(x, switch.bottom), (x, card.y)], [(x, card.bottom), (x, y)]]
    else:
        hot |= {"cpu", "ena"} if draft.plan.scenario.workload.node.gpu_rdma else {"cpu", "ram", "ena"}
        ena, ram = last["ena"].rect, last["ram"].rect
        x, y = min(ena.right - 12, ram.right - 12), ena.middle_y - 10
        middle = switch.middle_x
        pieces += [[(middle, switch.bottom), (middle, last["cpu"].rect.y)], [(x, ram.bottom), (x, ena.y)], [(ena.right, y)]]
    pieces[-1] += [(channel_x, y), (channel_x, chip.middle_y), (chip.x, chip.middle_y)]
    for number, points in enumerate(pieces):
        is_end = number == len(pieces) - 1
        draft.lines.append(Line(f"gradient {number + 1}", "gradient", tuple(points), is_lit=True, has_arrow=is_end))
    hot_ids = {last[role].id for role in hot}
    draft.boxes = [replace(box, is_hot=box.id in hot_ids) for box in draft.boxes]
