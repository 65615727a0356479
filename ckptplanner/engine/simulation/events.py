"""The kinds of events of one setup as columns: a simulation step looks up by event number what follows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ckptplanner.engine.simulation.setup import Setup
from ckptplanner.frozen import FloatArray

STEP, LOCAL, SHARED = 0, 1, 2
LEVELS = {"step": STEP, "local": LOCAL, "shared": SHARED}
RACK_LOST, PLANNED_STOP, GROUP_LOST = "rack lost", "planned stop", "group lost"


@dataclass(frozen=True, slots=True, eq=False)
class Events:
    """Columns (n,): the causes, then a lost rack, a planned stop and a group that lost its last copy, where there are any."""

    names: tuple[str, ...]
    level: npt.NDArray[np.int64]
    restart_s: FloatArray
    nodes_taken: npt.NDArray[np.int64]
    final_save_s: FloatArray  # of the save that the notice allows; 0 for none
    downtime_s: FloatArray
    queue_s: FloatArray
    edges: FloatArray  # of the causes' shares on [0, 1), the last one left out
    rack: int  # its number, -1 where there is none
    planned: int
    group: int

    @property
    def is_plain(self) -> bool:
        """One cause that goes back to a save, and nothing beside it."""
        return (
            len(self.names) == 1
            and bool(self.level[0] == SHARED)
            and not self.nodes_taken.any()
            and not self.final_save_s.any()
        )


def events_of(setup: Setup) -> Events:
    """Lay the columns out. Without a local level its interruptions go to shared storage."""
    rows: list[tuple[str, int, float, int, float, float, float]] = []
    notice, spares = setup.notice, setup.spares
    announced = notice.final_save_s if notice is not None and notice.final_save_s <= notice.notice_s * (1 + 1e-12) else 0.0
    for cause in setup.causes:
        taken = int(cause.takes_node and (spares is not None or setup.replicas is not None or announced > 0.0))
        final = announced if cause.takes_node else 0.0
        level = LEVELS[cause.level] if setup.local is not None or cause.level != "local" else SHARED
        rows.append((cause.name, level, cause.restart_s, taken, final, setup.downtime_s, 0.0))
    numbers = {"rack": -1, "planned": -1, "group": -1}
    if setup.racks is not None:
        numbers["rack"] = len(rows)
        level = LEVELS[setup.racks.level] if setup.local is not None else SHARED
        taken = setup.racks.nodes if spares is not None else 0
        rows.append((RACK_LOST, level, setup.racks.restart_s, taken, 0.0, setup.downtime_s, 0.0))
    if setup.planned is not None:
        stops = setup.planned
        numbers["planned"] = len(rows)
        fits = stops.notice_s is None or stops.final_save_s <= stops.notice_s * (1 + 1e-12)
        rows.append((PLANNED_STOP, SHARED, stops.restart_s, 0, stops.final_save_s if fits else 0.0, 0.0, stops.queue_s))
    if setup.replicas is not None:
        numbers["group"] = len(rows)
        rows.append((GROUP_LOST, SHARED, setup.escalated_restart_s, 1, announced, setup.downtime_s, 0.0))
    shares = np.cumsum([cause.share for cause in setup.causes])
    names, levels, restarts, taken_nodes, finals, downs, queues = zip(*rows, strict=True)
    return Events(
        names=names,
        level=np.array(levels),
        restart_s=np.array(restarts, dtype=float),
        nodes_taken=np.array(taken_nodes),
        final_save_s=np.array(finals, dtype=float),
        downtime_s=np.array(downs, dtype=float),
        queue_s=np.array(queues, dtype=float),
        edges=shares[:-1] / shares[-1],
        **numbers,
    )
