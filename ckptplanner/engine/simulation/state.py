"""What the general path carries from event to event, and what it hands back. Times of the wall and work are in seconds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ckptplanner.frozen import BoolArray, FloatArray

IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Stretch:
    """What one run did until one event, for the timeline. Times of the wall and work are in seconds."""

    from_s: float
    restart_s: float
    restart_is_planned: bool
    began_at_s: float  # time since training began, at `from_s` and at the event
    ended_at_s: float
    event_s: float
    event: int  # -1 at the end of the run
    final_save_s: float
    is_over: bool  # the pattern begins anew afterwards
    slots_done: float
    base_s: float
    restored_s: float
    down_s: float
    queue_s: float
    pause_s: float
    redo_s: float


@dataclass(eq=False)
class Chunk:
    """Seconds by cause of each run, (runs, 7), and what happened in all of them."""

    seconds: FloatArray
    counts: FloatArray  # by event
    rework_s: FloatArray  # by event
    stretches: list[Stretch]


@dataclass(eq=False)
class State:
    """The runs that are still going; every array has them as its first axis."""

    run: IntArray
    t: FloatArray
    need: FloatArray
    need_is_planned: BoolArray
    u: FloatArray
    base: FloatArray
    shared: FloatArray
    done: FloatArray  # slots since the last shared save, or where it was due
    pending_end: FloatArray
    pending_work: FloatArray
    due: FloatArray
    rack_due: FloatArray
    stop_number: FloatArray
    spent: FloatArray  # (n, 7)
    back: FloatArray  # (n, spares) when each spare is there again
    lost_at: FloatArray  # (n, remembered)
    lost_node: IntArray

    def only(self, rows: BoolArray) -> None:
        """Drop the other runs."""
        for name, values in vars(self).items():
            setattr(self, name, values[rows])
