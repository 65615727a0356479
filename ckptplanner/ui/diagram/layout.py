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

from dataclasses import dataclass, field, replace
from itertools import pairwise

from ckptplanner.engine.node_plan import Hop, Phase
from ckptplanner.engine.plan import Option, Plan
from ckptplanner.text import Text, text
from ckptplanner.ui.diagram.node import Node, capacity, gbps, node_of, shares
from ckptplanner.ui.diagram.roles import PEER_PARTS, Way, load_at, roles_of, way_of
from ckptplanner.ui.diagram.shapes import Box, Label, Layout, Line, Rect
from ckptplanner.units import BYTES, BYTES_PER_S, FRACTION, GIB, brief, grouped

LEAST_WIDTH, LEAST_HEIGHT = 560.0, 316.0
_MOST_HEIGHT = 760.0
_PAD, _GAP, _SLIT = 12.0, 8.0, 10.0
_LEAST_GROUP, _MOST_CONTENT, _LEAST_GPU, _MOST_BOX = 120.0, 320.0, 44.0, 152.0
_TAG = 20.0
_SYSTEM_HEAD, _SYSTEM_FOOT, _MOST_SERVERS, _LEAST_PITCH = 48.0, 24.0, 6, 28.0

# rows of the board from top to bottom: least height, share of what is left over, most height
_ROWS = {
    "head": (28.0, 0.0, 28.0), "gpu": (36.0, 1.0, 64.0), "gap_gpu": (20.0, 1.4, 72.0), "switch": (20.0, 0.6, 36.0),
    "gap_switch": (12.0, 1.0, 64.0), "cards": (36.0, 1.0, 64.0), "gap_cards": (24.0, 1.4, 112.0),
    "cpu": (68.0, 1.4, 116.0), "gap_cpu": (24.0, 1.4, 104.0), "ena": (40.0, 0.8, 60.0), "foot": (8.0, 1.0, 40.0),
}  # fmt: skip


def snap(value: float) -> float:
    """Down to the grid of 4 px."""
    return float(int(value) // 4 * 4)


@dataclass(slots=True)
class _Draft:
    """What is gathered while a board is laid out."""

    plan: Plan
    node: Node
    phase: Phase | None
    way: Way
    shows_gradients: bool
    boxes: list[Box] = field(default_factory=list)
    lines: list[Line] = field(default_factory=list)
    labels: list[Label] = field(default_factory=list)
    rows: dict[str, tuple[float, float]] = field(default_factory=dict)  # top and height

    def load(self, *hop_ids: str) -> float | None:
        return None if self.phase is None else load_at(self.phase, *hop_ids)

    def add(self, box: Box) -> Rect:
        self.boxes.append(box)
        return box.rect

    def top(self, row: str) -> float:
        return self.rows[row][0]

    def bottom(self, row: str) -> float:
        return sum(self.rows[row])

    def line(self, role: str, points: list[tuple[float, float]], load: float | None = None, *, arrow: bool = False) -> None:
        """Add a line, running the way the data goes."""
        is_lit = role in self.way
        ordered = tuple(reversed(points)) if self.way.is_back and is_lit else tuple(points)
        name = f"{role} {sum(line.role == role for line in self.lines) + 1}"
        self.lines.append(Line(name, role, ordered, is_lit, arrow and is_lit, load if is_lit else None))


def layout_of(plan: Plan, phase_name: str, width: float, height: float, *, shows_gradients: bool = False) -> Layout:
    """The board of a plan's phase within `width` x `height` [px]; a phase that is not there lights nothing."""
    width, height = max(width, LEAST_WIDTH), max(min(height, _MOST_HEIGHT), LEAST_HEIGHT)
    node = node_of(plan)
    phase = next((one for one in plan.datapath.phases if one.name == phase_name), None) if plan.datapath else None
    way = way_of(phase, has_cards=node.cards > 0, is_direct=node.is_direct)
    draft = _Draft(plan, node, phase, way, shows_gradients)
    draft.rows = _rows(height)
    outer = snap(min(max(width * 0.2, 156), 208))
    channel = snap(min(max(width * 0.07, 40), 96))
    board = Rect(0.0, 0.0, snap(width - outer - channel - 24), height)
    _add_board(draft, board)
    outside = Rect(board.right + channel, 0.0, outer, height)
    _add_outside(draft, outside)
    _add_ways_out(draft, board, board.right + channel / 2, outside)
    _add_marks(draft, board)
    if shows_gradients:
        _add_gradient(draft, board, board.right + channel / 2 + 12)
    return _placed(draft, (width, height))


def _rows(height: float) -> dict[str, tuple[float, float]]:
    """Where each row begins and how high it is: what is left over goes to the rows by their shares."""
    heights = {name: least for name, (least, _, _) in _ROWS.items()}
    spare = height - sum(heights.values())
    for _ in range(3):  # rows that have reached their most leave the rest to others
        open_rows = {name: share for name, (_, share, most) in _ROWS.items() if share and heights[name] < most}
        total = sum(open_rows.values())
        for name, share in open_rows.items():
            heights[name] = min(heights[name] + spare * share / total, _ROWS[name][2])
        spare = height - sum(heights.values())
    rows, top = {}, 0.0
    for name, row in heights.items():
        rows[name] = (top, snap(row) if name != "foot" else height - top)
        top += rows[name][1]
    return rows


# ---------------------------------------------------------------- the node


def _add_board(draft: _Draft, board: Rect) -> None:
    node = draft.node
    title = text("Node 1 of {count}", count=grouped(node.count)) if node.count > 1 else text("The node")
    draft.add(Box("node", "node", board, title))
    inner = board.w - 2 * _PAD
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
    _add_title(draft, board)


def _add_title(draft: _Draft, board: Rect) -> None:
    left, top, half = board.x + _PAD + 96, board.y + 4, (board.w - 2 * _PAD - 96) / 2
    name_width = min(len(draft.node.name) * 7.0 + 12, half)
    draft.labels.append(Label(text("{name}", name=draft.node.name), Rect(left, top, name_width, 20), "muted"))
    room = Rect(left + name_width + 4, top, board.right - _PAD - left - name_width - 4, 20)
    note, short = text("link layout: typical for its class, a guess"), text("link layout: a guess")
    draft.labels.append(Label(note, room, "guess", "right", short=short))


def _add_group(draft: _Draft, index: int, column: Rect, groups: int, cpu: Rect) -> None:
    """GPUs, their switch and what hangs below it; the middle stays free for the line to the CPU."""
    node = draft.node
    content = min(column.w, _MOST_CONTENT)
    area = Rect(column.middle_x - snap(content / 2), 0.0, content, 0.0)
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


def _add_gpus(draft: _Draft, index: int, area: Rect, groups: int, switch: Rect) -> None:
    node = draft.node
    number = shares(node.gpus, groups)[index]
    if not number:
        return
    merged = next(
        (m for m in range(1, number + 1) if (area.w - 4 * (-(-number // m) - 1)) / -(-number // m) >= _LEAST_GPU), number
    )
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


def _add_cpus(draft: _Draft, columns: list[Rect]) -> list[Rect]:
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


def _held(draft: _Draft) -> tuple[Text | None, Text | None]:
    """What the memory of one CPU holds, and the same in fewer words."""
    if draft.phase is None or "ram" not in draft.way or not draft.phase.bytes_per_node:
        return None, None
    size = brief(draft.phase.bytes_per_node / draft.node.sockets, BYTES)
    if draft.way.is_back:
        return text("takes {size} of this checkpoint", size=size), text("takes {size}", size=size)
    return text("holds {size} of this checkpoint", size=size), text("holds {size}", size=size)


def _add_ena(draft: _Draft, board: Rect) -> None:
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
    if hop is not None and draft.phase is not None and hop.id == draft.phase.bottleneck:
        second = _limit_words(hop)
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
    return text("carries {load}, {use}", load=load, use=brief(ratio, FRACTION, 2))


# ---------------------------------------------------------------- outside the node


def _add_outside(draft: _Draft, column: Rect) -> None:
    has_chips = draft.shows_gradients or "peer" in draft.way
    low = 40.0 if column.h < 360 else 44.0
    peer_high = low + 28 if has_chips else low
    system = min(_system_height(draft), column.h - peer_high - low - 16)
    gap = snap(min(max((column.h - peer_high - low - system) / 2, 8), 32))
    _add_peer(draft, Rect(column.x, 0.0, column.w, peer_high), has_chips=has_chips)
    s3 = Rect(column.x, peer_high + gap, column.w, low)
    is_s3 = "s3" in draft.way
    hop = draft.phase.hop("s3_connections") if draft.phase else None
    words = (_at_most(hop) if hop else text("takes this write")) if is_s3 else text("not on this way")
    if hop is not None and draft.phase is not None and hop.id == draft.phase.bottleneck:
        words = _limit_words(hop)
    draft.add(Box("s3", "s3", s3, text("S3"), second=words, is_lit=is_s3))
    _add_storage(draft, Rect(column.x, column.h - system, column.w, system))


def _at_most(hop: Hop) -> Text:
    if hop.ceiling_bytes_per_s is None:
        return text("ceiling not known")
    return text("{rate} at most", rate=brief(hop.ceiling_bytes_per_s, BYTES_PER_S))


def _add_peer(draft: _Draft, rect: Rect, *, has_chips: bool) -> None:
    others = draft.node.count - 1
    if others == 0:
        title, words = text("No other node"), None
    else:
        title = text("1 other node") if others == 1 else text("{count} other nodes", count=grouped(others))
        words = text("not on this way")
    load = draft.load("ena", "efa", "memory")
    limit = draft.phase.limit if draft.phase else None
    if limit is not None and limit.part == "peer":
        words = _limit_words(limit)
    elif "peer" in draft.way:
        words = text("give the copy back") if draft.way.is_back else text("take the copies")
    elif others and draft.phase is not None and draft.phase.hops:
        is_out = bool({"storage", "s3"} & draft.way.roles) and load is not None
        words = text("each the same {rate}", rate=brief(load or 0.0, BYTES_PER_S)) if is_out else text("each does the same")
    draft.add(Box("peer", "peer", rect, title, second=words, is_lit="peer" in draft.way))
    if not has_chips:
        return
    wide = (rect.w - 16 - 8) / 3
    for index, (role, name) in enumerate((("peer_gpu", text("GPU")), ("peer_ram", text("RAM")), ("peer_drives", text("NVMe")))):
        chip = Rect(rect.x + 8 + index * (wide + 4), rect.bottom - 25, wide, 18)
        draft.add(Box(role, role, chip, name, parent="peer", is_lit=role in draft.way, is_centred=True))


def _servers(option: Option | None) -> int:
    """How many parts of the storage are drawn: its servers, or one where they are not known."""
    return 0 if option is None else option.servers or 1


def _system_height(draft: _Draft) -> float:
    """How high the box of the file system would like to be."""
    return _SYSTEM_HEAD + min(max(_servers(draft.plan.storage.chosen), 1), _MOST_SERVERS) * 40.0 + _SYSTEM_FOOT


def _add_storage(draft: _Draft, rect: Rect) -> None:
    """The file system with its servers; many of them are shortened."""
    option, is_lit = draft.plan.storage.chosen, "storage" in draft.way
    title, words = _system_words(option)
    draft.add(Box("storage", "storage", rect, title, second=words, foot=_system_use(draft, option), is_lit=is_lit))
    count, room = _servers(option), rect.h - _SYSTEM_HEAD - _SYSTEM_FOOT
    rows = min(max(int(room // _LEAST_PITCH), 1), _MOST_SERVERS)
    if count <= rows:
        named = list(range(1, count + 1))
    else:
        named = [0] if rows == 1 else [*range(1, max(rows - 1, 1)), 0, count][-rows:]
    ratio = _ratio(draft, "disks", "storage")
    pitch = snap(min(max(room / max(len(named), 1), _LEAST_PITCH), 40.0))
    for place, number in enumerate(named):
        row = Rect(rect.x + 8, rect.y + _SYSTEM_HEAD + place * pitch, rect.w - 16, min(pitch - 4, 28.0))
        if option is None or option.servers is None:
            name, size = text("disks"), None
        elif number:
            name, size = text("server {number}", number=grouped(number)), text("{size}", size=_share_of(option))
        else:
            name, size = text("{count} servers more", count=grouped(count - len(named) + 1)) if len(named) > 1 else text(
                "{count} servers", count=grouped(count)
            ), text("{size} each", size=_share_of(option))  # fmt: skip
        draft.add(
            Box(f"server {place + 1}", "server", row, name, right=size, parent="storage", is_lit=is_lit,
                meter=ratio if is_lit else None)
        )  # fmt: skip


def _share_of(option: Option) -> str:
    """What one server of a file system holds."""
    return f"{grouped(option.capacity_gib / (option.servers or 1))}\u00a0GiB"


def _ratio(draft: _Draft, *hop_ids: str) -> float | None:
    hops = [draft.phase.hop(hop_id) for hop_id in hop_ids] if draft.phase else []
    return next((hop.use_ratio for hop in hops if hop is not None), None)


def _system_words(option: Option | None) -> tuple[Text, Text | None]:
    if option is None:
        return text("File system"), text("none is chosen")
    if option.id == "custom" or option.throughput_mb_per_s_per_tib is None:
        return text("Storage that exists"), text("{size} usable", size=brief(option.capacity_gib * GIB, BYTES))
    words = text(
        "{size} GiB, {rate} MB/s/TiB", size=grouped(option.capacity_gib), rate=grouped(option.throughput_mb_per_s_per_tib)
    )
    return text("FSx for Lustre"), words


def _system_use(draft: _Draft, option: Option | None) -> Text | None:
    """How much of its share each server gives in this phase."""
    limit = draft.phase.limit if draft.phase else None
    if limit is not None and limit.id in {"connections", "servers_network"}:
        return _limit_words(limit)
    hops = [draft.phase.hop(name) for name in ("disks", "storage")] if draft.phase else []
    hop = next((hop for hop in hops if hop is not None), None)
    if hop is None or option is None or "storage" not in draft.way:
        return None
    count = option.servers or 1
    if hop.ceiling_bytes_per_s is None or hop.load_bytes_per_s is None:
        return text("use not known")
    load, can = hop.load_bytes_per_s / count / 1e9, hop.ceiling_bytes_per_s / count / 1e9
    values = {"load": f"{load:.3g}", "can": f"{can:.3g}", "use": brief(hop.use_ratio or 0.0, FRACTION, 2)}
    return text("{load} of {can} GB/s each, {use}", **values) if count > 1 else text("{load} of {can} GB/s, {use}", **values)


# ---------------------------------------------------------------- ways out of the node


def _add_ways_out(draft: _Draft, board: Rect, channel_x: float, outside: Rect) -> None:
    """From the cards to peers, S3 or the servers, through the channel beside the board."""
    way = draft.way
    if "trunk" not in way:
        return
    exit_y, start = _exit(draft, board)
    load = draft.load("client", "flows", "connections", "ena", "efa", "storage")
    draft.line("trunk", [*start, (channel_x, exit_y)], load, arrow=way.is_back and "cards" not in way)
    if "storage" in way:
        _add_branches(draft, channel_x, exit_y, load)
        if draft.node.count > 1:
            _add_others(draft, outside, load)
    for name in ("peer", "s3"):
        if name in way:
            box = next(box for box in draft.boxes if box.id == name).rect
            draft.line(
                "trunk", [(channel_x, exit_y), (channel_x, box.middle_y), (box.x, box.middle_y)], load, arrow=not way.is_back
            )


def _exit(draft: _Draft, board: Rect) -> tuple[float, list[tuple[float, float]]]:
    """How high the way leaves the board, and its points up to the edge; RDMA cards join in a bus."""
    if "cards" not in draft.way:
        ena = next(box for box in draft.boxes if box.id == "ena").rect
        return ena.middle_y, [(ena.right, ena.middle_y)]
    cards = [box.rect for box in draft.boxes if box.role == "cards"]
    bus_y = _bus_y(draft)
    load = draft.load("efa")
    for card in cards:
        edge = card.y if draft.node.is_direct else card.bottom
        draft.line(
            "trunk",
            [(card.middle_x, edge), (card.middle_x, bus_y)],
            load / len(cards) if load else None,
            arrow=draft.way.is_back,
        )
    return bus_y, [(cards[0].middle_x, bus_y)]


def _bus_y(draft: _Draft) -> float:
    return draft.top("cards") - 8 if draft.node.is_direct else draft.bottom("cards") + 8


def _add_branches(draft: _Draft, channel_x: float, exit_y: float, load: float | None) -> None:
    servers = [box.rect for box in draft.boxes if box.role == "server"]
    for server in servers:
        draft.line(
            "branch", [(channel_x, exit_y), (channel_x, server.middle_y), (server.x, server.middle_y)],
            load / len(servers) if load else None,
        )  # fmt: skip


def _add_others(draft: _Draft, outside: Rect, load: float | None) -> None:
    """The other nodes ask the same of the file system."""
    boxes = {box.id: box.rect for box in draft.boxes}
    peer, storage, x = boxes["peer"], boxes["storage"], outside.right + 16
    y = storage.y + min(storage.h / 2, 64.0)
    total = load * (draft.node.count - 1) if load else None
    draft.line("branch", [(peer.right, peer.y + 20), (x, peer.y + 20), (x, y), (storage.right, y)], total, arrow=True)


# ---------------------------------------------------------------- words on lines, the mark of the bottleneck


def _add_marks(draft: _Draft, board: Rect) -> None:
    limit = draft.phase.limit if draft.phase else None
    mark_role = ""
    if limit is not None:
        present = [box.role for box in draft.boxes] + [line.role for line in draft.lines]
        mark_role = roles_of(limit, draft.way, present)[0]
        rect = _mark_rect(draft, mark_role, board)
        if rect is not None:
            draft.labels.append(
                Label(_limit_words(limit), rect, "limit", "centre" if rect.x == board.x + _PAD else "left", mark_role)
            )
    ena = next(box for box in draft.boxes if box.id == "ena").rect
    if "cpu_ena" in draft.way and mark_role != "cpu_ena":
        lines = [line for line in draft.lines if line.role == "cpu_ena"]
        load, gap = lines[0].load_bytes_per_s, draft.rows["gap_cpu"]
        if load is not None:
            words = text("PCIe, {rate}", rate=brief(load, BYTES_PER_S))
            low, high = lines[0].points[0][0] - 8, lines[-1].points[0][0] + 8
            draft.labels.append(Label(words, Rect(low - 140, gap[0], 140, gap[1]), "lit", "right", "cpu_ena"))
            if len(lines) > 1:
                draft.labels.append(Label(words, Rect(high, gap[0], 140, gap[1]), "lit", "left", "cpu_ena"))
    has_room = not {"cards", "drives", "switch_cpu"} & {mark_role} and not {"cards", "trunk"} <= draft.way.roles
    if "switch_cpu" in draft.way and has_room and draft.rows["gap_cards"][1] >= _TAG:
        first = draft.lines[[line.role for line in draft.lines].index("switch_cpu")]
        if first.load_bytes_per_s is not None:
            rate = brief(first.load_bytes_per_s, BYTES_PER_S)
            words = text("C2C, {rate}", rate=rate) if draft.node.is_direct else text("PCIe, {rate}", rate=rate)
            room = Rect(first.points[0][0] + 10, draft.top("gap_cards"), 104, draft.rows["gap_cards"][1])
            draft.labels.append(Label(words, room, "lit", "left", "switch_cpu"))
    if "trunk" in draft.way and "cards" not in draft.way and mark_role != "trunk":
        hop = _narrowest(draft, "client", "flows", "connections")
        if hop is not None and hop.ceiling_bytes_per_s is not None:
            words = text("TCP, {rate} at most", rate=brief(hop.ceiling_bytes_per_s, BYTES_PER_S))
            room = Rect(ena.right + 12, ena.middle_y + 6, board.right - ena.right - 16, 20)
            draft.labels.append(Label(words, room, "lit", "left", "trunk"))


def _narrowest(draft: _Draft, *hop_ids: str) -> Hop | None:
    hops = [draft.phase.hop(name) for name in hop_ids] if draft.phase else []
    known = [hop for hop in hops if hop is not None and hop.ceiling_bytes_per_s is not None]
    return min(known, key=lambda hop: hop.ceiling_bytes_per_s or 0.0, default=None)


def _limit_words(hop: Hop) -> Text:
    rate = brief(hop.ceiling_bytes_per_s, BYTES_PER_S) if hop.ceiling_bytes_per_s is not None else ""
    if not rate:
        return text("the limit")
    if hop.use_ratio is None:
        return text("limit: {rate}", rate=rate)
    return text("limit: {rate}, {use}", rate=rate, use=brief(hop.use_ratio, FRACTION, 2))


def _mark_rect(draft: _Draft, role: str, board: Rect) -> Rect | None:
    """Where the words of the bottleneck stand: in the gap below its row. Boxes outside carry theirs inside."""
    below = {
        "gpu": "gap_gpu", "gpu_switch": "gap_gpu", "switch_cards": "gap_switch", "switch_drives": "gap_switch",
        "cards": "gap_cards", "drives": "gap_cards", "switch_cpu": "gap_cards", "cpu": "gap_cpu", "ram": "gap_cpu",
        "cpu_ena": "gap_cpu",
    }  # fmt: skip
    if role in below:
        top, high = draft.rows[below[role]]
        if len([line for line in draft.lines if line.role == "switch_cpu"]) % 2:  # a line runs down the middle
            x = board.middle_x + 12
            return Rect(x, top + (high - _TAG) / 2, board.right - _PAD - x, _TAG)
        offset = 4 if role == "cards" and not draft.node.is_direct and "trunk" in draft.way else 0
        return Rect(board.x + _PAD, top + (high - _TAG) / 2 + offset, board.w - 2 * _PAD, _TAG)
    if role == "trunk":
        ena = next(box for box in draft.boxes if box.id == "ena").rect
        if "cards" not in draft.way:
            return Rect(ena.right + 8, ena.middle_y - _TAG - 6, board.right + 40 - ena.right - 8, _TAG)
        return Rect(board.x + _PAD, _bus_y(draft) - _TAG / 2, board.w - 2 * _PAD, _TAG)
    return None


def _add_gradient(draft: _Draft, board: Rect, channel_x: float) -> None:
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
            middle, y = switch.middle_x + 10, max(_bus_y(draft) - 6, switch.bottom + 2)
            pieces += [[(middle, switch.bottom), (middle, last["cpu"].rect.y)], [(x, last["cpu"].rect.y), (x, card.bottom)]]
            pieces.append([(x, card.y), (x, y)])
        else:
            y = _bus_y(draft) + 8
            pieces += [[(x, switch.bottom), (x, card.y)], [(x, card.bottom), (x, y)]]
    else:
        hot |= {"cpu", "ram", "ena"}
        ena, ram = last["ena"].rect, last["ram"].rect
        x, y = min(ena.right - 12, ram.right - 12), ena.middle_y - 10
        middle = switch.middle_x + 10
        pieces += [[(middle, switch.bottom), (middle, last["cpu"].rect.y)], [(x, ram.bottom), (x, ena.y)], [(ena.right, y)]]
    pieces[-1] += [(channel_x, y), (channel_x, chip.middle_y), (chip.x, chip.middle_y)]
    for number, points in enumerate(pieces):
        is_end = number == len(pieces) - 1
        draft.lines.append(Line(f"gradient {number + 1}", "gradient", tuple(points), is_lit=True, has_arrow=is_end))
    hot_ids = {last[role].id for role in hot}
    draft.boxes = [replace(box, is_hot=box.id in hot_ids) for box in draft.boxes]


# ---------------------------------------------------------------- hops find their places


def _placed(draft: _Draft, size: tuple[float, float]) -> Layout:
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
