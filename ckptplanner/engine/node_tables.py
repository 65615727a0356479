"""The parts of a plan about nodes as rows for CSV, PDF and clipboard: hops, memory, replicas, levels, survival, other saves.

Like tables.py: plain Python rows, an unknown number is None; headings carry the unit. `*_table` makes a DataFrame.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import TYPE_CHECKING

from ckptplanner.engine.node_plan import EVENTS, SavedRow
from ckptplanner.engine.plan import Level, Plan
from ckptplanner.engine.survival import restart_tier, tier_states
from ckptplanner.engine.tables import Cell, Translate, frame, known

if TYPE_CHECKING:
    from pandas import DataFrame

PATH_COLUMNS = (
    "phase", "is_used", "phase_seconds", "allowed_s", "hop", "title", "is_bottleneck", "ceiling_bytes_per_s",
    "load_bytes_per_s", "use_ratio", "is_shared", "kind", "source", "date", "path",
)  # fmt: skip
RAM_COLUMNS = ("item", "title", "held_bytes", "is_guess", "path")
REPLICATION_COLUMNS = ("figure", "value")
SURVIVAL_COLUMNS = ("tier", "title", "is_used", "read_s", "durable_after_s", *EVENTS)
LEVEL_COLUMNS = ("level", *(field.name for field in fields(Level)))
SAVES_COLUMNS = tuple(field.name for field in fields(SavedRow))


def path_rows(plan: Plan, translate: Translate = str) -> list[dict[str, Cell]]:
    """Every hop of every phase."""
    rows: list[dict[str, Cell]] = []
    for phase in plan.datapath.phases if plan.datapath else ():
        for hop in phase.hops:
            rows.append({
                "phase": phase.name, "is_used": phase.is_used, "phase_seconds": phase.seconds, "allowed_s": phase.allowed_s,
                "hop": hop.id, "title": translate(hop.name), "is_bottleneck": hop.id == phase.bottleneck,
                "ceiling_bytes_per_s": hop.ceiling_bytes_per_s, "load_bytes_per_s": hop.load_bytes_per_s,
                "use_ratio": hop.use_ratio, "is_shared": hop.is_shared, "kind": hop.kind, "source": hop.source,
                "date": hop.date, "path": hop.path,
            })  # fmt: skip
    return rows


def ram_rows(plan: Plan, translate: Translate = str) -> list[dict[str, Cell]]:
    """What host memory holds, then the sum and what is installed."""
    ram = plan.host_ram
    if ram is None:
        return []
    rows: list[dict[str, Cell]] = [
        {"item": item.id, "title": translate(item.name), "held_bytes": item.held_bytes, "is_guess": item.is_guess,
         "path": item.path}
        for item in ram.items
    ]  # fmt: skip
    total: dict[str, Cell] = {"item": "sum", "title": "", "held_bytes": ram.used_bytes, "is_guess": None, "path": ""}
    installed: dict[str, Cell] = {
        "item": "installed", "title": "", "held_bytes": ram.ram_bytes, "is_guess": None, "path": "memory.ram_bytes",
    }  # fmt: skip
    return [*rows, total, installed]


def replication_rows(plan: Plan) -> list[dict[str, Cell]]:
    """The figures of the groups; the lists of legal values in one cell each."""
    found = plan.replication
    if found is None:
        return []
    rows: list[dict[str, Cell]] = []
    for field in fields(found):
        value = getattr(found, field.name)
        if field.name == "survive_probabilities":
            rows += [{"figure": f"survive_{lost}_at_once_probability", "value": chance} for lost, chance in value]
        elif field.name != "node_groups":
            cell = " ".join(map(str, value)) if isinstance(value, tuple) else known(value)
            rows.append({"figure": field.name, "value": cell})
    return [*rows, {"figure": "node_group_count", "value": len(found.node_groups) if found.is_legal else None}]


def survival_rows(plan: Plan, translate: Translate = str) -> list[dict[str, Cell]]:
    """The matrix tier x event: restart where training restarts from, yes where it survives; empty where not used."""
    sources = {event: restart_tier(plan, event) for event in EVENTS}
    rows: list[dict[str, Cell]] = []
    for state in tier_states(plan):
        row: dict[str, Cell] = {
            "tier": state.tier, "title": translate(state.title), "is_used": state.is_used,
            "read_s": state.read_s if state.is_used else None,
            "durable_after_s": state.durable_after_s if state.is_used else None,
        }  # fmt: skip
        for event, survives in zip(EVENTS, state.survives, strict=True):
            word = "restart" if sources[event] == state.tier else "yes" if survives else "no"
            row[event] = word if state.is_used else None
        rows.append(row)
    return rows


def saves_rows(plan: Plan) -> list[dict[str, Cell]]:
    """The save schedule with what follows from it."""
    saved = plan.beyond.saves if plan.beyond else ()
    return [{name: known(getattr(row, name)) for name in SAVES_COLUMNS} for row in saved]


def level_rows(plan: Plan) -> list[dict[str, Cell]]:
    """Both levels, the two together, and what shared saves alone would waste; no rows with one level."""
    levels = plan.levels
    if levels is None:
        return []
    empty: dict[str, Cell] = dict.fromkeys(LEVEL_COLUMNS)
    rows: list[dict[str, Cell]] = [
        {"level": name, **{field.name: known(getattr(level, field.name)) for field in fields(level)}}
        for name, level in (("local", levels.local), ("shared", levels.shared))
    ]
    both = {**empty, "level": "both", "ratio": levels.ratio, "waste_fraction": known(levels.waste_fraction)}
    alone = {**empty, "level": "shared_alone", "ratio": 1, "waste_fraction": known(levels.single_level_fraction)}
    return [*rows, both, alone]


def node_frames(plan: Plan) -> Mapping[str, DataFrame]:
    """The CSV files of this part by name."""
    return {
        "datapath.csv": frame(path_rows(plan), PATH_COLUMNS),
        "host_ram.csv": frame(ram_rows(plan), RAM_COLUMNS),
        "replication.csv": frame(replication_rows(plan), REPLICATION_COLUMNS),
        "survival.csv": frame(survival_rows(plan), SURVIVAL_COLUMNS),
        "levels.csv": frame(level_rows(plan), LEVEL_COLUMNS),
        "saves.csv": frame(saves_rows(plan), SAVES_COLUMNS),
    }
