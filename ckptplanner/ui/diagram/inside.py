"""The node itself: GPUs, their switches, cards and drives below them, CPUs with memory, the card for TCP. No Qt."""

from __future__ import annotations

from itertools import pairwise

from ckptplanner.engine.node_plan import Hop
from ckptplanner.text import Text, text
from ckptplanner.ui.diagram.draft import PAD, Draft, limit_words, snap
from ckptplanner.ui.diagram.node import capacity, gbps, shares
from ckptplanner.ui.diagram.shapes import Box, Rect
from ckptplanner.units import BYTES, BYTES_PER_S, FRACTION, brief, grouped

_GAP, _SLIT = 8.0, 10.0
_LEAST_GROUP, _MOST_CONTENT, _LEAST_GPU, _MOST_BOX = 120.0, 320.0, 44.0, 152.0


def add_board(draft: Draft, board: Rect) -> None:
    node = draft.node
    title = text("Node 1 of {count}", count=grouped(node.count)) if node.count > 1 else text("The node")
    note, short = text("link layout: typical for its class, a guess"), text("link layout: a guess")
    draft.add(Box("node", "node", board, title, right=note, second=text("{name}", name=node.name), short=short))
    inner = board.w - 2 * PAD
    groups = node.switches
    if (inner - (groups - 1) * _GAP) / groups < _LEAST_GROUP:
        groups = node.sockets
    wide = snap((inner - (groups - 1) * _GAP) / groups)
    left = board.x + snap((board.w - groups * wide - (groups - 1) * _GAP) / 2)
    columns = [Rect(left + index * (wide + _GAP), 0.0, wide, 0.0) for index in range(groups)]
    cpus = _add_cpus(draft, columns)
    for index, column in enumerate(columns):
        _add_group(draft, index, column, groups, cpus[index * len(cpus) // groups])
    _add_ena(draft, board)


def _add_group(draft: Draft, index: int, column: Rect, groups: int, cpu: Rect) -> None:
    """GPUs, their switch and what hangs below it; the middle stays free for the line to the CPU."""
    node = draft.node
    content = min(column.w, _MOST_CONTENT)
    area = Rect(column.middle_x - content / 2, 0.0, content, 0.0)
    switches = shares(node.switches, groups)[index]
    top, high = draft.rows["switch"]
    if node.is_direct:
        name = text("NVLink-C2C")
    else:
        name = text("PCIe switch") if switches <= 1 else text("{count} PCIe switches", count=switches)
    switch = draft.add(
        Box(f"switch {index + 1}", "switch", Rect(area.x, top, area.w, high), name,
            parent="node", is_lit="switch" in draft.way, is_centred=True)
    )  # fmt: skip
    _add_gpus(draft, index, area, groups, switch)
    beside_bus = draft.load("link", "copy", "memory")
    points = [(area.middle_x, switch.bottom), (area.middle_x, cpu.y)]
    if not (draft.way.is_back or node.is_direct or "gpu" in draft.way):
        points.reverse()  # from host memory to cards and drives
    draft.line(
        "switch_cpu", points, beside_bus / groups if beside_bus else None, arrow=not draft.way.is_back or "gpu" not in draft.way
    )
    half = min((area.w - _SLIT) / 2, _MOST_BOX)
    slots = (
        ("cards", node.cards, area.middle_x - _SLIT / 2 - half, node.card_rate, "efa"),
        ("drives", node.drives, area.middle_x + _SLIT / 2, node.drive_size, "nvme"),
    )
    for role, count, x, second, hop in slots:
        number = shares(count, groups)[index]
        if not number:
            continue
        rect = Rect(x, draft.top("cards"), half, draft.rows["cards"][1])
        label = (
            text("{count} NVMe", count=number)
            if role == "drives"
            else text("{count} {card}", count=number, card=node.card_name)
        )
        draft.add(
            Box(
                f"{role} {index + 1}",
                role,
                rect,
                label,
                second=second,
                parent="node",
                is_lit=role in draft.way,
                is_centred=True,
            )
        )
        load = draft.load(hop)
        ends = [(rect.middle_x, cpu.y), (rect.middle_x, rect.bottom)] if node.is_direct else [
            (rect.middle_x, switch.bottom), (rect.middle_x, rect.y),
        ]  # fmt: skip
        draft.line(f"switch_{role}", ends, load / min(groups, count) if load else None, arrow=not draft.way.is_back)


def _add_gpus(draft: Draft, index: int, area: Rect, groups: int, switch: Rect) -> None:
    node = draft.node
    number = shares(node.gpus, groups)[index]
    if not number:
        return
    least = min(max(_LEAST_GPU, len(node.accelerator) * 6.5 + 16), 104.0)
    fitting = [m for m in range(1, number + 1) if area.w >= -(-number // m) * (least + 4) - 4] or [number]
    merged = next((m for m in fitting if number % m == 0), fitting[0])
    shown = -(-number // merged)
    wide = min((area.w - 4 * (shown - 1)) / shown, _MOST_BOX)
    left = area.middle_x - (shown * wide + (shown - 1) * 4) / 2
    load = draft.load("copy", "link", "hbm", "peer_gpu")
    for place, inside in enumerate(shares(number, shown)):
        rect = Rect(left + place * (wide + 4), draft.top("gpu"), wide, draft.rows["gpu"][1])
        name = text("{count} {gpu}", count=inside, gpu=node.accelerator) if inside > 1 else text("{gpu}", gpu=node.accelerator)
        draft.add(
            Box(f"gpu {index + 1}.{place + 1}", "gpu", rect, name, second=node.gpu_memory, parent="node",
                is_lit="gpu" in draft.way, is_centred=True)
        )  # fmt: skip
        draft.line(
            "gpu_switch", [(rect.middle_x, rect.bottom), (rect.middle_x, switch.y)],
            load * inside / node.gpus if load else None, arrow=draft.way.is_back,
        )  # fmt: skip


def _add_cpus(draft: Draft, columns: list[Rect]) -> list[Rect]:
    """The CPUs with their memory, each below its groups."""
    node, cpus = draft.node, []
    per_cpu = len(columns) // node.sockets or 1
    top, high = draft.rows["cpu"]
    held, short = _held(draft)
    for index in range(node.sockets):
        mine = columns[index * per_cpu : (index + 1) * per_cpu] or columns[-1:]
        span = Rect(mine[0].x, top, mine[-1].right - mine[0].x, high)
        wide = span.w if len(mine) > 1 else min(span.w, 440.0)
        cpu = draft.add(
            Box(f"cpu {index + 1}", "cpu", Rect(span.middle_x - wide / 2, top, wide, high), text("CPU {number}", number=index),
                right=text("memory controller"), parent="node", is_lit="cpu" in draft.way)
        )  # fmt: skip
        ram = Rect(cpu.x + 8, cpu.y + 24, cpu.w - 16, cpu.h - (28 if cpu.h < 76 else 32))
        size = text("{size}", size=capacity(node.ram_bytes / node.sockets)) if node.ram_bytes else text("size not known")
        draft.add(
            Box(f"ram {index + 1}", "ram", ram, text("Host RAM"), right=size, second=held, short=short, parent=cpu_id(index),
                is_lit="ram" in draft.way)
        )  # fmt: skip
        cpus.append(cpu)
    for before, after in pairwise(cpus):
        draft.line("sockets", [(before.right, before.middle_y), (after.x, after.middle_y)])
    return cpus


def cpu_id(index: int) -> str:
    """The id of the CPU box of that index."""
    return f"cpu {index + 1}"


def _held(draft: Draft) -> tuple[Text | None, Text | None]:
    """What the memory of one CPU holds, and the same in fewer words."""
    if draft.phase is None or "ram" not in draft.way or not draft.phase.bytes_per_node:
        return None, None
    size = brief(draft.phase.bytes_per_node / draft.node.sockets, BYTES)
    if draft.way.is_back:
        return text("takes {size} of this checkpoint", size=size), text("takes {size}", size=size)
    return text("holds {size} of this checkpoint", size=size), text("holds {size}", size=size)


def _add_ena(draft: Draft, board: Rect) -> None:
    """The card for TCP, fed by the memory of every CPU."""
    node = draft.node
    top, high = draft.rows["ena"]
    wide = snap(min(max(board.w * 0.46, 200), 300))
    rect = Rect(board.x + snap((board.w - wide) / 2), top, wide, high)
    name = text("ENA and EFA card") if node.is_one_card else text("ENA card") if node.is_ec2 else text("Network card")
    rate = node.ena_bytes_per_s
    right = text("{bits} = {rate}", bits=gbps(rate), rate=brief(rate, BYTES_PER_S)) if rate else text("rate not known")
    hop = draft.phase.hop("ena") or draft.phase.hop("efa") if draft.phase else None
    second = _carried(hop) if hop is not None and "ena" in draft.way else text("not on this way")
    if hop is not None and "ena" in draft.way and draft.phase is not None and hop.id == draft.phase.bottleneck:
        second = limit_words(hop)
    draft.add(Box("ena", "ena", rect, name, right=right, second=second, parent="node", is_lit="ena" in draft.way))
    rams = [box.rect for box in draft.boxes if box.role == "ram"]
    load = draft.load("link", "ena", "memory") if "gpu" not in draft.way else draft.load("ena", "memory")
    for index, ram in enumerate(rams):
        middle = rect.middle_x + (index - (len(rams) - 1) / 2) * rect.w * 0.6
        x = min(max(middle, ram.x + 24), ram.right - 24)
        x = min(max(x, rect.x + 16), rect.right - 16)
        draft.line("cpu_ena", [(x, ram.bottom), (x, rect.y)], load / len(rams) if load else None, arrow=not draft.way.is_back)


def _carried(hop: Hop) -> Text:
    """What a part carries and how much of it that is."""
    if hop.load_bytes_per_s is None:
        return text("load not known")
    load = brief(hop.load_bytes_per_s, BYTES_PER_S)
    ratio = hop.use_ratio
    if ratio is None:
        return text("carries {load} of a rate not known", load=load)
    if ratio < 0.01:
        return text("carries {load}, less than 1 %", load=load)
    return text("carries {load}, {use}", load=load, use=brief(ratio, FRACTION, 2 if ratio < 1 else 3))
