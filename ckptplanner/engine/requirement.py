"""What storage must do for a plan, on one page for whoever sells it: rates, room, clients, files, and how to accept it.

Rates are sustained: what the plan needs over the share of a rated speed that real saves and restarts reach. The lines for
fio, IOR and elbencho write one checkpoint from all nodes, each rank its file, read it back on another node, three times.
No prices stand here: the page is meant to be given away.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ckptplanner.engine.bench_lines import FOLDER, REPEATS, Line, accepting, broken, clients, writers
from ckptplanner.engine.job import job_of
from ckptplanner.engine.plan import Plan
from ckptplanner.engine.scenario import NamedScenario
from ckptplanner.engine.tables import Cell, Translate
from ckptplanner.text import Text, text
from ckptplanner.units import (
    BYTES,
    BYTES_PER_S,
    COUNT,
    DAY,
    FRACTION,
    GIB,
    SECONDS,
    UNKNOWN,
    Unit,
    brief,
    grouped,
    rough,
)


@dataclass(frozen=True, slots=True)
class Need:
    """One line of the sheet: the value in its unit, how it is written, and where it comes from."""

    id: str
    title: Text
    value: float | None
    unit: Unit
    note: Text

    @property
    def shown(self) -> str:
        """The value as it is written."""
        if self.value is None:
            return UNKNOWN
        if self.unit == COUNT:
            return grouped(self.value)
        if self.unit == SECONDS:
            return rough(self.value, SECONDS)
        return brief(self.value, self.unit)


@dataclass(frozen=True, slots=True)
class Requirement:
    """The whole sheet."""

    name: str
    needs: tuple[Need, ...]
    lines: tuple[Line, ...]

    def need(self, need_id: str) -> Need:
        """The need of that id. Raises KeyError."""
        found = next((need for need in self.needs if need.id == need_id), None)
        if found is None:
            raise KeyError(need_id)
        return found


def requirement(named: NamedScenario, plan: Plan) -> Requirement:
    """Work out the sheet of a plan; what is not known is None."""
    needs = (*_rates(plan), *_room(plan), *_files(plan), *_times(plan))
    value = {need.id: need.value for need in needs}
    return Requirement(named.name, needs, tuple(accepting(plan, value["write_bytes_per_s"], value["read_bytes_per_s"])))


# ---------------------------------------------------------------- what it must do


def _rates(plan: Plan) -> Sequence[Need]:
    scenario, storage = plan.scenario, plan.scenario.storage
    size = plan.checkpoint.checkpoint_bytes
    needed = plan.storage.required_write_bytes_per_s
    if storage.pace == "full" and plan.schedule is not None:  # the write takes what this file system needs, and so must others
        needed = size / max(plan.schedule.write_s - storage.latency_s, 1e-9)
    write = needed / storage.write_efficiency
    count = clients(plan)
    needs = [
        Need("write_bytes_per_s", text("Sustained write, all clients together"), write, BYTES_PER_S, _write_note(plan, size)),
        Need("client_write_bytes_per_s", text("of it, each client"), write / count, BYTES_PER_S,
             text("one client writes") if count == 1 else text("{count} clients write at once", count=grouped(count))),
    ]  # fmt: skip
    peak = plan.beyond.peak_write_bytes_per_s / storage.write_efficiency if plan.beyond else write
    if peak > write * (1.0 + 1e-9):
        needs.append(Need(
            "peak_write_bytes_per_s", text("Sustained write at its peak"), peak, BYTES_PER_S,
            text("with other saves, other jobs and the load of others at the same time; more than the lines below make"),
        ))  # fmt: skip
    read_s = plan.schedule.restore_read_s if plan.schedule else None
    copies = scenario.restore.copies
    read = copies * size / read_s / storage.read_efficiency if read_s else None
    needs.append(Need("read_bytes_per_s", text("Sustained read, all clients together"), read, BYTES_PER_S,
                      _read_note(plan, copies, size, read_s)))  # fmt: skip
    return needs


def _write_note(plan: Plan, size: float) -> Text:
    storage = plan.scenario.storage
    within = plan.schedule.write_s if plan.schedule else storage.write_s
    said = text("{size} within {time}, each time, without counting on a burst", size=brief(size, BYTES),
                time=rough(within, SECONDS))  # fmt: skip
    if storage.write_efficiency == 1.0:
        return said
    return text("{what}; saves reach {share} of the rated speed", what=said, share=brief(storage.write_efficiency, FRACTION))


def _read_note(plan: Plan, copies: int, size: float, read_s: float | None) -> Text:
    if read_s is None:
        return text("not known: the plan has no file system yet")
    what, time = brief(size, BYTES), rough(read_s, SECONDS)
    said = text("{size} read once in {time} at a restart", size=what, time=time)
    if copies > 1:
        said = text("{size} read {count} times in {time} at a restart", size=what, count=grouped(copies), time=time)
    share = plan.scenario.storage.read_efficiency
    return said if share == 1.0 else text("{what}; restarts reach {share} of the rated speed", what=said,
                                          share=brief(share, FRACTION))  # fmt: skip


def _room(plan: Plan) -> Sequence[Need]:
    scenario = plan.scenario
    held = job_of(scenario).held_bytes + scenario.shared.used_bytes
    count = scenario.storage.generations_kept
    each, fill = brief(plan.checkpoint.checkpoint_bytes, BYTES), scenario.storage.max_fill
    note = text("{count} checkpoints of {size}", count=grouped(count), size=each)
    if fill < 1.0:
        note = text("{what}, at most {share} full", what=note, share=brief(fill, FRACTION))
    if held > count * plan.checkpoint.checkpoint_bytes * (1.0 + 1e-9):
        note = text("{what}; with all else that lies there, {size}", what=note, size=brief(held, BYTES))
    usable = held / fill
    in_gib = text("{size} GiB; {what}", size=grouped(usable / GIB), what=note)
    return [Need("usable_bytes", text("Usable capacity"), usable, BYTES, in_gib)]


def _files(plan: Plan) -> Sequence[Need]:
    work, files = plan.scenario.workload, writers(plan)
    each, kept = plan.checkpoint.checkpoint_bytes / files, plan.scenario.storage.generations_kept
    note = text("nodes of {gpus} GPUs that mount it; all read at a restart", gpus=grouped(work.gpus_per_node))
    return [
        Need("clients", text("Clients"), float(work.nodes), COUNT, note),
        Need("files_per_save", text("Files a save, at least"), float(files), COUNT,
             text("one for each rank that writes, {size} each, and a few small ones; made, written and closed at once",
                  size=brief(each, BYTES))),
        Need("files_held", text("Files held, at least"), float(files * kept), COUNT,
             text("{count} checkpoints; the oldest is removed after each save", count=grouped(kept))),
    ]  # fmt: skip


def _times(plan: Plan) -> Sequence[Need]:
    schedule, size = plan.schedule, plan.checkpoint.checkpoint_bytes
    period = schedule.period_s if schedule else None
    busy = None if schedule is None else min(schedule.write_s / schedule.period_s, 1.0)
    rest = plan.scenario.failures.restart_base_s  # of the restart that reads from it; others may be shorter
    restart = rest + schedule.restore_read_s if schedule else None
    base = rough(rest, SECONDS) if schedule else ""
    return [
        Need("restore_s", text("Restore read within"), schedule.restore_read_s if schedule else None, SECONDS,
             text("training runs again after {time}; {rest} of it is not the file system's",
                  time=UNKNOWN if restart is None else rough(restart, SECONDS), rest=base)),
        Need("period_s", text("A save every"), period, SECONDS,
             text("it writes for {share} of the time", share=UNKNOWN if busy is None else brief(busy, FRACTION, 2))),
        Need("written_bytes_a_day", text("Written a day"), None if period is None else size * DAY / period, BYTES,
             text("for the endurance of the drives")),
    ]  # fmt: skip


# ---------------------------------------------------------------- as a file

COLUMNS = ("item", "title", "value", "unit", "shown", "note")


def how_to_run() -> Text:
    """What stands above the lines."""
    return text(
        "Make the folder {folder} first. nodes.txt lists the nodes; elbencho --service runs on each. One checkpoint is written "
        "from all nodes and read back on others, {count} times, so that no burst and no memory of a client helps.",
        folder=FOLDER, count=REPEATS,
    )  # fmt: skip


def requirement_rows(sheet: Requirement, translate: Translate = str) -> list[dict[str, Cell]]:
    """The sheet as rows for a CSV file: needs first, then the lines that accept it."""
    rows: list[dict[str, Cell]] = [
        {"item": one.id, "title": translate(one.title), "value": one.value, "unit": one.unit.symbol, "shown": one.shown,
         "note": translate(one.note)}
        for one in sheet.needs
    ]  # fmt: skip
    rows += [
        {"item": f"accept_{line.tool.lower()}", "title": f"{line.tool} {line.version}: {translate(line.what)}", "value": None,
         "unit": "", "shown": line.command, "note": translate(line.passes)}
        for line in sheet.lines
    ]  # fmt: skip
    return rows


def requirement_text(sheet: Requirement, translate: Translate = str) -> str:
    """The sheet as plain text, with every command on a line of its own so that it can be copied."""
    titles = [translate(one.title) for one in sheet.needs]
    wide, long = max(map(len, titles)), max(len(one.shown) for one in sheet.needs)
    lines = [sheet.name, ""]
    lines += [
        f"{title:<{wide}}  {one.shown:>{long}}  {translate(one.note)}" for title, one in zip(titles, sheet.needs, strict=True)
    ]
    lines += ["", f"# {translate(how_to_run())}"]
    for line in sheet.lines:
        lines += [
            "",
            f"# {line.tool} {line.version}: {translate(line.what)}",
            *broken(line.command, 110),
            f"# {translate(line.passes)}",
        ]
    return "\n".join(lines) + "\n"
