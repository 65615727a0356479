"""What must be said about the nodes and the rest of the run: the way of the data, host memory, other saves, stops, neighbours.

Each `_check_*` looks at one matter and yields findings; `checks.py` runs them with its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ckptplanner.engine.ceilings import LARGEST_PART_BYTES, PARTS_OF_AN_UPLOAD
from ckptplanner.engine.datapath import PAGEABLE_BYTES_PER_S, SLOW_COPY_RATIO, is_exchanged_on_training, near_read_s
from ckptplanner.engine.node_plan import Beyond, HostRam, Phase
from ckptplanner.engine.plan import Finding, Option, Plan, Severity
from ckptplanner.engine.replica_checks import replication_findings
from ckptplanner.text import text
from ckptplanner.units import BYTES, BYTES_PER_S, DAY, FRACTION, SECONDS, USD, brief, grouped, percent, rough

LARGE_STOP_FRACTION = 0.05
_ROUNDING = 1.0 + 1e-9


def node_findings(plan: Plan) -> Iterator[Finding]:
    """Everything that this file looks at."""
    for check in _CHECKS:
        yield from check(plan)
    if plan.replication is not None:
        yield from replication_findings(plan.scenario, plan.replication)


def _say(severity: Severity, path: str, template: str, /, **values: object) -> Finding:
    return Finding(severity, path, text(template, **values))


# ---------------------------------------------------------------- the way of the data


def _check_stop(plan: Plan) -> Iterator[Finding]:
    """The stop against what the copy needs: too short to be true, or so long that the link is not the reason."""
    path, storage = plan.datapath, plan.scenario.storage
    if path is None or storage.mode == "sync" or plan.checkpoint.checkpoint_bytes <= 0:
        return
    needed, asked, field = path.reachable_blocking_s, storage.blocking_s, "storage.blocking_s"
    if plan.scenario.local.enabled and is_exchanged_on_training(plan.scenario):
        asked, field = plan.scenario.local.blocking_s, "local.blocking_s"  # copies go with the local saves
    if needed is not None and asked * _ROUNDING < needed:
        phase = path.phase("replicate" if is_exchanged_on_training(plan.scenario) else "snapshot")
        yield _say(
            "warning", field,
            "The plan's stop of {asked} is shorter than this hardware needs ({needed}); what bounds it: {hop}.",
            asked=brief(asked, SECONDS), needed=brief(needed, SECONDS), hop=_stop_limit(plan, phase),
        )  # fmt: skip
    elif needed is not None and asked >= SLOW_COPY_RATIO * needed:
        yield from _slow_copy(plan, asked)


def _stop_limit(plan: Plan, phase: Phase) -> object:
    if plan.scenario.memory.ring_bytes is not None:
        return text("the drives that the ring buffer drains to")
    blocking = [hop for hop in phase.hops if hop.id != "nvme" and hop.use_ratio is not None]
    slowest = max(blocking, key=lambda hop: hop.use_ratio or 0.0, default=phase.limit)
    return text("the copy") if slowest is None else slowest.name


def _slow_copy(plan: Plan, asked_s: float) -> Iterator[Finding]:
    """A copy far below the link, where the stop is the user's own number: what is likely to blame."""
    phase, work = plan.datapath.phase("snapshot") if plan.datapath else None, plan.scenario.workload
    if phase is None or phase.seconds is None:
        return
    gpus = 1 if work.writer == "single" else work.gpus_per_node
    rate = phase.bytes_per_node / gpus / asked_s
    link = next((hop.ceiling_bytes_per_s for hop in phase.hops if hop.id == "link"), None)
    if link is None or not plan.scenario.datapath.pinned:
        return
    reason = (
        text("pageable memory is a likely cause, it copies at 3 to 4 GB/s at most")
        if rate <= PAGEABLE_BYTES_PER_S
        else text("many small tensors or memory allocated anew are likely causes")
    )
    yield _say(
        "info", "storage.blocking_s",
        "A stop of {asked} is a copy at {rate} a GPU, far below the {link} of its link: {reason}.",
        asked=brief(asked_s, SECONDS), rate=brief(rate, BYTES_PER_S), link=brief(link / gpus, BYTES_PER_S), reason=reason,
    )  # fmt: skip


def _check_write(plan: Plan) -> Iterator[Finding]:
    """The write time against what the nodes and the file system reach."""
    schedule, path = plan.schedule, plan.datapath
    if schedule is None or path is None:
        return
    phase = path.phase("shared_write")
    limit = phase.limit
    given = max(schedule.write_s, schedule.writes_in_s)
    if phase.seconds is None or limit is None or phase.seconds <= given * _ROUNDING:
        return
    yield _say(
        "error" if plan.scenario.storage.pace == "full" else "warning", limit.path,  # at full pace t_w follows from it
        "Data cannot be written so fast: {hop} carries {ceiling} {where}, and the write takes {takes}, not {given}.",
        where=text("for all nodes") if limit.is_shared else text("a node"),
        hop=limit.name, ceiling=brief(limit.ceiling_bytes_per_s or 0.0, BYTES_PER_S), takes=brief(phase.seconds, SECONDS),
        given=brief(given, SECONDS),
    )  # fmt: skip


def _check_read(plan: Plan) -> Iterator[Finding]:
    schedule, path = plan.schedule, plan.datapath
    if schedule is None or path is None:
        return
    phase = path.phase("restore_shared")
    limit = phase.limit
    if phase.seconds is None or limit is None or phase.seconds <= schedule.restore_read_s * 1.05:
        return
    yield _say(
        "warning", limit.path,
        "Reading back takes {takes}, longer than the storage alone needs ({given}); what bounds it: {hop}.",
        takes=brief(phase.seconds, SECONDS), given=brief(schedule.restore_read_s, SECONDS), hop=limit.name,
    )  # fmt: skip


def _check_connections(plan: Plan) -> Iterator[Finding]:
    """Over EFA each client opens a connection for each of its interfaces, and a file system takes so many."""
    chosen, work = plan.storage.chosen, plan.scenario.workload
    each, most = work.node.fsx_efa_interfaces, plan.scenario.datapath.efa_connections
    if chosen is None or not chosen.efa or not each or work.nodes * each <= most:
        return
    yield _say(
        "warning", "datapath.efa_connections",
        "{nodes} nodes with {each} EFA interfaces each need {needed} connections, and a file system takes {most}: let each "
        "node use {fewer} at most.",
        nodes=grouped(work.nodes), each=each, needed=grouped(work.nodes * each), most=grouped(most),
        fewer=max(most // work.nodes, 0) or text("none of them, TCP instead"),
    )  # fmt: skip


def _check_copies_fit(plan: Plan) -> Iterator[Finding]:
    """What is written to the nodes at every save must be done before the next one."""
    if plan.datapath is None:
        return
    for name in ("local_write", "replicate"):
        phase = plan.datapath.phase(name)
        if phase.is_used and phase.seconds and phase.allowed_s and phase.seconds > phase.allowed_s * _ROUNDING:
            yield _say(
                "warning", phase.limit.path if phase.limit else "replication.factor",
                "{phase}: {takes} at each save, longer than the interval ({interval}); what bounds it: {hop}.",
                phase=phase.title, takes=rough(phase.seconds, SECONDS), interval=rough(phase.allowed_s, SECONDS),
                hop=phase.limit.name if phase.limit else "",
            )  # fmt: skip


def _check_unknown_links(plan: Plan) -> Iterator[Finding]:
    """Ceilings of ways that the plan uses and nobody knows."""
    if plan.datapath is None:
        return
    missing: dict[str, object] = {}
    for phase in plan.datapath.phases:
        for hop in phase.hops if phase.is_used else ():
            if hop.ceiling_bytes_per_s is None:
                missing.setdefault(hop.path, hop.name)
    for path, name in missing.items():
        yield _say(
            "info", path, "Not known of {node}: what it carries over {hop}. Type it, or the bottleneck may be missed.",
            hop=name, node=plan.scenario.workload.node.name,
        )  # fmt: skip


# ---------------------------------------------------------------- host memory


def _check_ram(plan: Plan) -> Iterator[Finding]:
    ram = plan.host_ram
    if ram is None or plan.checkpoint.checkpoint_bytes <= 0:
        return
    if ram.ram_bytes is None:
        yield _say(
            "info", "memory.ram_bytes", "The host memory of {node} is not known: whether a save fits cannot be said.",
            node=plan.scenario.workload.node.name,
        )  # fmt: skip
    elif ram.used_bytes > ram.ram_bytes * _ROUNDING:
        path, cure = _ram_cure(plan, ram)
        yield _say(
            "error", path,
            "Host memory does not hold it: {used} are needed, a node has {has}. {cure}",
            used=brief(ram.used_bytes, BYTES), has=brief(ram.ram_bytes, BYTES), cure=cure,
        )  # fmt: skip


def _ram_cure(plan: Plan, ram: HostRam) -> tuple[str, object]:
    """The nearest thing that would fit, and its field."""
    following = sum(item.held_bytes for item in ram.items if item.id == "next")
    if following and ram.used_bytes - following <= (ram.ram_bytes or 0.0) * _ROUNDING:
        cure = text("One save in memory at a time fits: wait for the write, or let it run through a ring buffer.")
        return "memory.writes_in_flight", cure
    if plan.scenario.memory.staging == "whole":
        return "memory.staging", text("Let each process stage its own share.")
    largest = max(ram.items, key=lambda item: item.held_bytes)
    return largest.path, text("The largest part: {name}, {size}.", name=largest.name, size=brief(largest.held_bytes, BYTES))


# ---------------------------------------------------------------- other saves


def _check_saves(plan: Plan) -> Iterator[Finding]:
    beyond, chosen, schedule = plan.beyond, plan.storage.chosen, plan.schedule
    if beyond is None or chosen is None or schedule is None or not plan.scenario.saves:
        return
    own = chosen.baseline_bytes_per_s * plan.scenario.storage.write_efficiency
    if any(row.to == "shared" for row in beyond.saves) and beyond.peak_write_bytes_per_s > own * _ROUNDING:
        yield _say(
            "warning", "saves",
            "When all saves fall together {peak} is asked of a file system that sustains {own}: such a save takes longer.",
            peak=brief(beyond.peak_write_bytes_per_s, BYTES_PER_S), own=brief(own, BYTES_PER_S),
        )  # fmt: skip
    for row in beyond.saves:
        if row.writer == "single" and row.to == "shared":
            yield from _single_writer(plan, chosen, row.kind, row.saved_bytes, row.writes_in_s)
        if row.to == "s3" and row.count_in_run:
            yield _say(
                "info", "saves",
                "By the end of the run {held} lie in S3: {count} {kind} saves, {money} a month.",
                held=brief(row.held_bytes, BYTES), count=grouped(row.count_in_run), kind=row.kind,
                money=text("price unknown") if row.usd_per_month is None else brief(row.usd_per_month, USD),
            )  # fmt: skip
    if beyond.s3_bytes and plan.scenario.prices.s3_usd_per_gb_month is None:
        yield _say("warning", "prices.s3_usd_per_gb_month", "No price of S3 is known: type it; until then the total is empty.")
    yield from _parts(plan, beyond)


def _check_row_stops(plan: Plan) -> Iterator[Finding]:
    beyond = plan.beyond
    stopped = sum(row.stop_fraction for row in beyond.saves) if beyond is not None else 0.0
    if stopped >= LARGE_STOP_FRACTION:
        yield _say(
            "error" if stopped >= 1.0 else "warning", "saves", "The other saves stop training for {share} of the time.",
            share=brief(stopped, FRACTION),
        )  # fmt: skip


def _single_writer(plan: Plan, chosen: Option, kind: str, size: float, takes_s: float | None) -> Iterator[Finding]:
    """What one writer reaches, and what the collective timeout asks of it."""
    timeout, client = plan.scenario.workload.collective_timeout_s, chosen.client_bytes_per_s
    if client is None or takes_s is None:
        return
    severity: Severity = "warning" if takes_s > timeout else "info"
    yield _say(
        severity, "saves",
        "The {kind} has one writer, which writes at most {client} to {servers} servers: {takes} at best; {needed} are needed "
        "to end within the collective timeout of {timeout}.",
        kind=kind, client=brief(client, BYTES_PER_S), servers=grouped(chosen.servers or 1), takes=brief(takes_s, SECONDS),
        needed=brief(size / timeout, BYTES_PER_S), timeout=brief(timeout, SECONDS),
    )  # fmt: skip


def _parts(plan: Plan, beyond: Beyond) -> Iterator[Finding]:
    """S3 takes 10,000 parts an upload: the part that a shard needs."""
    asked, work = plan.scenario.datapath.s3_part_bytes, plan.scenario.workload
    for row in beyond.saves:
        shard = row.saved_bytes / (1 if row.writer == "single" else work.nodes * work.gpus_per_node)
        if row.to == "s3" and asked is None and shard > LARGEST_PART_BYTES * PARTS_OF_AN_UPLOAD:
            yield _say(
                "error", "saves", "A shard of {shard} is more than S3 takes in one upload ({most}): let more ranks write.",
                shard=brief(shard, BYTES), most=brief(LARGEST_PART_BYTES * PARTS_OF_AN_UPLOAD, BYTES),
            )  # fmt: skip
        if row.to == "s3" and asked is not None and shard > asked * PARTS_OF_AN_UPLOAD:
            yield _say(
                "error", "datapath.s3_part_bytes",
                "A shard of {shard} has more than 10,000 parts of {part}: S3 refuses it. Parts of {least} or more fit.",
                shard=brief(shard, BYTES), part=brief(asked, BYTES), least=brief(shard / PARTS_OF_AN_UPLOAD, BYTES),
            )  # fmt: skip


# ---------------------------------------------------------------- stops, restarts, neighbours, zones


def _check_planned(plan: Plan) -> Iterator[Finding]:
    planned, beyond, waste = plan.scenario.planned, plan.beyond, plan.waste
    if planned.every_s is None or beyond is None or waste is None or beyond.final_save_s is None:
        return
    lost = percent(waste.planned_fraction or 0.0)
    if planned.notice_s is None:
        yield _say(
            "info", "planned.every_s", "Planned stops take {lost} of the time; the last save before one takes {save}.",
            lost=lost, save=brief(beyond.final_save_s, SECONDS),
        )  # fmt: skip
    elif beyond.final_save_s <= planned.notice_s * _ROUNDING:
        yield _say(
            "info", "planned.notice_s",
            "Planned stops take {lost} of the time; the last save takes {save} of {notice} notice.",
            lost=lost, save=brief(beyond.final_save_s, SECONDS), notice=brief(planned.notice_s, SECONDS),
        )  # fmt: skip
    else:
        yield _say(
            "warning", "planned.notice_s",
            "The last save before a planned stop takes {save} and the notice is {notice}: each stop loses {rework}, {lost} "
            "of the time in all.",
            save=brief(beyond.final_save_s, SECONDS), notice=brief(planned.notice_s, SECONDS),
            rework=brief(beyond.planned_rework_s or 0.0, SECONDS), lost=lost,
        )  # fmt: skip
    if planned.every_s < plan.scenario.run.days * DAY and plan.schedule and planned.every_s <= plan.schedule.restart_s:
        yield _say(
            "error", "planned.every_s",
            "The job makes no progress: planned stops come sooner than a restart takes ({restart}).",
            restart=brief(plan.schedule.restart_s, SECONDS),
        )  # fmt: skip


def _check_classes(plan: Plan) -> Iterator[Finding]:
    rows = plan.scenario.restart.classes
    if not rows:
        return
    total = sum(row.share for row in rows)
    if abs(total - 1.0) > 1e-6:
        yield _say(
            "error", "restart.classes", "The shares of the restart classes sum to {total}: they must sum to 100 %.",
            total=brief(total, FRACTION),
        )  # fmt: skip
    for place in sorted({row.reads_from for row in rows if row.share} - {"shared"}):
        if near_read_s(plan.scenario, plan.checkpoint.checkpoint_bytes, place) is None:
            yield _say(
                "warning", "restart.classes",
                "How long reading from {place} takes is not known, and counts as nothing: type what the drives or cards carry.",
                place=place,
            )  # fmt: skip
    nearby = sorted({row.reads_from for row in rows} & {"local", "replica"})
    if nearby and plan.scenario.replication.factor == 1:
        yield _say(
            "warning", "restart.classes",
            "A restart class reads from {places}, and no copies are kept: set the number of copies.", places=", ".join(nearby),
        )  # fmt: skip


def _check_neighbours(plan: Plan) -> Iterator[Finding]:
    shared, beyond, schedule, chosen = plan.scenario.shared, plan.beyond, plan.schedule, plan.storage.chosen
    if beyond is None or schedule is None or chosen is None:
        return
    if shared.jobs > 1:
        yield _say(
            "info", "shared.jobs",
            "Of {jobs} jobs {writing} write at once (95 % of the time no more): {rate} in all. If all restart at once, "
            "they run again after {restart}.",
            jobs=grouped(shared.jobs), writing=grouped(beyond.jobs_writing),
            rate=brief(plan.storage.required_write_bytes_per_s * beyond.jobs_writing, BYTES_PER_S),
            restart=rough(beyond.restart_all_s or schedule.restart_s, SECONDS),
        )  # fmt: skip
    storage = plan.scenario.storage
    own, read = chosen.baseline_bytes_per_s * storage.write_efficiency, chosen.read_bytes_per_s * storage.read_efficiency
    if shared.load_bytes_per_s >= own:
        yield _say(
            "error", "shared.load_bytes_per_s",
            "Others take all that the file system sustains ({own}): nothing is left to write.",
            own=brief(own, BYTES_PER_S),
        )  # fmt: skip
    elif shared.load_bytes_per_s >= read:
        yield _say(
            "error", "shared.load_bytes_per_s",
            "Others take all that the file system gives to readers ({read}): nothing is left for a restart.",
            read=brief(read, BYTES_PER_S),
        )  # fmt: skip


def _check_zone(plan: Plan) -> Iterator[Finding]:
    beyond = plan.beyond
    if beyond is None or plan.scenario.network.same_zone:
        return
    amount = brief(beyond.zone_bytes_per_month, BYTES)
    if beyond.zone_usd_per_month is None:
        yield _say(
            "warning", "prices.cross_zone_usd_per_gb",
            "{amount} cross zones in a month, and what a GB costs is not known: type it; until then the total is empty.",
            amount=amount,
        )  # fmt: skip
    else:
        yield _say(
            "info", "network.same_zone", "{amount} cross zones in a month: {money}.",
            amount=amount, money=brief(beyond.zone_usd_per_month, USD),
        )  # fmt: skip


def _check_spares(plan: Plan) -> Iterator[Finding]:
    beyond, spares = plan.beyond, plan.scenario.spares
    if beyond is None or beyond.no_spare_probability is None:
        return
    saves, limit = beyond.spare_saves_s or 0.0, beyond.spare_pays_above_s or 0.0
    if spares.nodes and plan.scenario.prices.node_usd_per_h is None:
        yield _say("warning", "prices.node_usd_per_h", "What the idle spare nodes cost is not known: type a node price.")
    if not spares.wait_s:
        yield _say(
            "info", "spares.wait_s", "Spare nodes stand idle and save nothing while a replacement takes no time: type how long."
        )
        return
    verdict = text("one more spare pays") if saves > limit else text("one more spare does not pay")
    yield _say(
        "info", "spares.nodes",
        "With {spares} spare nodes a lost node finds none left with {chance}, and waits {wait} then: {verdict} (it saves "
        "{saves} a loss and pays above {limit}).",
        spares=grouped(spares.nodes), chance=brief(beyond.no_spare_probability, FRACTION, 2),
        wait=brief(spares.wait_s, SECONDS), verdict=verdict, saves=rough(saves, SECONDS),
        limit=rough(limit, SECONDS),
    )  # fmt: skip


_CHECKS: tuple[Callable[[Plan], Iterator[Finding]], ...] = (
    _check_stop, _check_write, _check_read, _check_copies_fit, _check_connections, _check_unknown_links, _check_ram,
    _check_saves, _check_row_stops, _check_planned, _check_classes, _check_neighbours, _check_zone, _check_spares,
)  # fmt: skip
