"""The terms beyond the articles: rows of restart classes and other saves, neighbours, spares, copies, host memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from ckptplanner.engine import beyond, restarts
from ckptplanner.engine.cards import network_limit
from ckptplanner.engine.datapath import near_read_s
from ckptplanner.engine.derivation.case import Case, Reader, of_beyond, of_ram, of_replication
from ckptplanner.engine.derivation.figures import read_figure
from ckptplanner.engine.derivation.term import Term, field_term, figure_term
from ckptplanner.engine.node_plan import Hop, RamItem
from ckptplanner.engine.operations import RestartClass, SaveRow
from ckptplanner.engine.outcome import writing_duty
from ckptplanner.engine.replicas import jump_of
from ckptplanner.text import Text, text
from ckptplanner.units import BYTES, BYTES_PER_S, COUNT, FRACTION, GIB, GIBS, NUMBER, SECONDS, brief, grouped

_MAX_CLASSES, _MAX_SAVES = 32, 64  # the lengths that the fields allow
_READS: Mapping[str, Text] = {
    "peer": text("a peer's GPUs"), "local": text("local drives"), "replica": text("a replica"),
}  # fmt: skip
_RAM: Mapping[str, tuple[str, Text]] = {
    "job": ("U_j", text("The job")), "pinned": ("U_p", text("Pinned buffers")), "ram_disk": ("U_d", text("RAM disk")),
    "ring": ("U_b", text("Ring buffer")), "being_written": ("U_w", text("Being written")),
    "next": ("U_n", text("Room for the next")), "replicas": ("U_c", text("Copies of peers")),
    "growth": ("U_l", text("Left by saves")), "export": ("U_e", text("Gathered by one writer")),
}  # fmt: skip


# ---------------------------------------------------------------- rows


def _class_of(case: Case, place: int) -> RestartClass | None:
    rows = case.scenario.restart.classes
    return rows[place] if place < len(rows) else None


def _share(place: int) -> Reader:
    def read(case: Case) -> float | None:
        row, total = _class_of(case, place), sum(row.share for row in case.scenario.restart.classes)
        return None if row is None else row.share / (total or 1.0)

    return read


def _near_s(case: Case, row: RestartClass) -> float:
    return near_read_s(case.scenario, case.job.checkpoint_bytes, row.reads_from) or 0.0


def _base(place: int) -> Reader:
    def read(case: Case) -> float | None:
        row = _class_of(case, place)
        return None if row is None else restarts.base_s(row) + _near_s(case, row)

    return read


def _base_term(place: int) -> Term:
    """The parts of one class, with the read where it is near."""

    def remark(case: Case) -> Text | None:
        row = _class_of(case, place)
        near_s = 0.0 if row is None else _near_s(case, row)
        return (
            text("with {time} to read {place}", time=brief(near_s, SECONDS), place=_READS[row.reads_from])
            if row and near_s
            else None
        )

    return Term(
        f"b_{place + 1}", SECONDS, _base(place), "restart.classes", text("Restart of class {row}", row=place + 1), remark
    )


def _row_of(case: Case, place: int) -> SaveRow | None:
    rows = case.scenario.saves
    return rows[place] if place < len(rows) else None


def _save(symbol: str, place: int) -> Term:
    """One number of one row of the other saves."""

    def read(case: Case) -> float | None:
        row = _row_of(case, place)
        if row is None:
            return None
        every, size = row.every_s, row.bytes or case.job.checkpoint_bytes
        count = beyond.kept(beyond.count_in_run(every, case.job.run_s), row.keep)
        return {"S": size, "x": float(count), "E": every, "C": row.stop_s}[symbol]

    titles = {
        "S": text("Size of save {row}", row=place + 1), "x": text("Kept of save {row}", row=place + 1),
        "E": text("Save {row} every", row=place + 1), "C": text("Stop of save {row}", row=place + 1),
    }  # fmt: skip
    unit = {"S": BYTES, "x": COUNT}.get(symbol, SECONDS)
    return Term(f"{symbol}_{place + 1}", unit, read, "saves", titles[symbol])


_CLASS_TERMS: Mapping[str, Term] = {
    **{
        f"w_{place}": Term(
            f"w_{place + 1}", FRACTION, _share(place), "restart.classes", text("Share of class {row}", row=place + 1)
        )
        for place in range(_MAX_CLASSES)
    },
    **{f"b_{place}": _base_term(place) for place in range(_MAX_CLASSES)},
}
_SAVE_TERMS: Mapping[str, Term] = {
    f"{symbol}_{place}": _save(symbol, place) for symbol in ("S", "x", "E", "C") for place in range(_MAX_SAVES)
}


# ---------------------------------------------------------------- the node and its copies


def _item(case: Case, name: str) -> RamItem | None:
    return None if case.plan.host_ram is None else next((one for one in case.plan.host_ram.items if one.id == name), None)


def _ram(name: str) -> Term:
    """One item of the ledger of host memory."""
    symbol, title = _RAM[name]

    def read(case: Case) -> float | None:
        item = _item(case, name)
        return None if item is None else item.held_bytes

    def path(case: Case) -> str:
        item = _item(case, name)
        return "" if item is None else item.path

    def remark(case: Case) -> Text | None:
        return text("a tenth of the memory") if name == "job" and is_guess(case) else None

    def is_guess(case: Case) -> bool:
        item = _item(case, name)
        return item is not None and item.is_guess

    return Term(symbol, BYTES, read, path, title, remark, is_guess)


def _ceiling(symbol: str, hop: Callable[[Case], Hop | None]) -> Term:
    """The ceiling of one hop under the hop's name; it leads to the field that replaces it."""

    def read(case: Case) -> float | None:
        found = hop(case)
        return None if found is None else found.ceiling_bytes_per_s

    def path(case: Case) -> str:
        found = hop(case)
        return "" if found is None else found.path

    def remark(case: Case) -> Text | None:
        found = hop(case)
        return None if found is None else found.name

    return Term(symbol, BYTES_PER_S, read, path, text("Lowest ceiling"), remark)


def _scattered(case: Case) -> Text | None:
    """The same copies scattered at random over all nodes, and how many times as likely that is."""
    grouped_chance, chance = (
        of_replication(name)(case) for name in ("loss_probability_after_first", "scattered_loss_probability")
    )
    if not grouped_chance or chance is None or case.scenario.replication.factor == 1:
        return None
    return text(
        "scattered over all nodes {chance}, {times} times", chance=brief(chance, FRACTION, 4),
        times=brief(round(chance / grouped_chance, 1), NUMBER),
    )  # fmt: skip


def _duty(case: Case) -> float:
    storage = case.scenario.storage
    return float(writing_duty(case.scenario, case.job, np.array([storage.write_s]), storage.mode)[0])


def _jump(case: Case) -> Text | None:
    return text("{jump} ranks apart", jump=grouped(jump_of(case.scenario)))


def _losses_while_waiting(case: Case) -> float:
    nodes, replication = case.scenario.workload.nodes, case.scenario.replication
    return nodes / replication.node_loss_interval_s * case.scenario.spares.wait_s


BEYOND_TERMS: Mapping[str, Term] = {
    **_CLASS_TERMS,
    **_SAVE_TERMS,
    **{f"ram_{name}": _ram(name) for name in _RAM},
    "w_s": Term("w_s", FRACTION, lambda case: case.job.ways.rollback.share, "restart.classes", text("Go back to a save")),
    "w_m": Term("w_s", FRACTION, lambda case: case.job.ways.save_share, "restart.classes", text("Go back to a save")),
    "w_p": Term(
        "w_p", FRACTION, lambda case: case.job.ways.pause.share if case.job.ways.pause else 0.0, "restart.classes",
        text("Lose a step only"),
    ),
    "M_s": figure_term("M_s", "rollback_mtbi_s"),
    "R_s": figure_term("R_s", "rollback_restart_s"),
    "H": figure_term("H", "pause_s"),
    "r_mean": figure_term("r_mean", "mean_rework_s"),
    "q": figure_term("q", "other_stops_fraction"),
    "t_sp": figure_term("t_sp", "mean_wait_s"),
    "wait": field_term("w", "spares.wait_s"),
    "n_sp": field_term("n_sp", "spares.nodes"),
    "P_0": figure_term("P_0", "no_spare_fraction"),
    "mu": Term(
        "μ", NUMBER, _losses_while_waiting, "spares.wait_s", text("Nodes lost in one wait"),
        lambda case: text("on average"),
    ),
    "M_n": field_term("M_n", "replication.node_loss_interval_s"),
    "eta_p": figure_term("η_p", "planned_fraction"),
    "every": field_term("T_p", "planned.every_s"),
    "queue": field_term("t_c", "planned.queue_s"),
    "t_s": figure_term("t_s", "writes_in_s"),
    "jobs": field_term("J", "shared.jobs"),
    "load": field_term("Λ", "shared.load_bytes_per_s"),
    "used_gib": Term(
        "V", GIBS, lambda case: case.scenario.shared.used_bytes / GIB, "shared.used_bytes", text("Used by others")
    ),
    "o_gib": Term("S_o", GIBS, lambda case: (read_figure(case, "other_saves_bytes") or 0.0) / GIB, "other_saves_bytes"),
    "n_w": figure_term("n_w", "jobs_writing"),
    "duty": Term("d", FRACTION, _duty, "storage.write_s", text("Share of time in a write"), lambda case: text("t_w by T")),
    "skew": field_term("z", "datapath.writer_skew_ratio", NUMBER),
    "S_N": figure_term("S_N", "bytes_per_node"),
    "K_o": figure_term("K_o", "other_usd"),
    "s3_mean": Term("S_3", BYTES, of_beyond("s3_mean_bytes"), "saves", text("In S3 on average")),
    "p_s3": field_term("p_3", "prices.s3_usd_per_gb_month"),
    "zone": figure_term("Z", "zone_bytes_per_month"),
    "p_z": field_term("p_z", "prices.cross_zone_usd_per_gb"),
    "p_n": field_term("p_n", "prices.node_usd_per_h"),
    "rho": Term(
        "ρ", FRACTION, lambda case: case.job.ways.reads_shared, "restart.classes", text("Read shared storage")
    ),
    "F": field_term("F", "replication.factor", remark=_jump),
    "p_loss": figure_term("p", "node_loss_fraction", _scattered),
    "window": field_term("Δ", "replication.rebuild_s"),
    "P_1": figure_term("P_1", "replica_after_first", _scattered),
    "racks": Term(
        "n_r", COUNT, of_replication("racks_with_whole_groups"), "replication.rack_nodes", text("Racks with whole groups")
    ),
    "M_r": field_term("M_r", "replication.rack_loss_interval_s"),
    "ram": Term("U", BYTES, of_ram("ram_bytes"), "memory.ram_bytes", text("Host RAM")),
    "c_n": _ceiling("c_n", lambda case: network_limit(case.plan)),
    "c_h": _ceiling("c_h", lambda case: case.limit("snapshot")),
    "c_w": _ceiling("c_w", lambda case: case.limit("shared_write")),
}  # fmt: skip
