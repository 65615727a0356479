"""What a run's time is spent on: words and colours, the same in the bar of causes and in the lanes."""

from __future__ import annotations

import re

from ckptplanner.ui.theme import Theme
from ckptplanner.ui.words import say

# as the simulation names them; what the lanes call lost is the rework that the bar counts
CAUSES = ("training", "saving", "waiting", "rework", "restart", "down", "planned")
LANES = ("training", "saving", "waiting", "lost", "restart", "down", "planned")
_ROW = re.compile(r"row (\d+), from \w+")
ALWAYS = ("training", "saving", "lost", "restart")


def cause_word(name: str) -> str:
    """A cause as it stands beside its share."""
    return {
        "training": say("training"), "saving": say("saving"), "waiting": say("waiting"), "rework": say("done again"),
        "lost": say("lost"), "restart": say("restart"), "down": say("down"), "planned": say("planned stops"),
    }.get(name, name)  # fmt: skip


def cause_help(name: str) -> str:
    """What counts as that, in a sentence."""
    return {
        "training": say("Training that is kept"),
        "saving": say("Training stands still, or is slowed, by a save"),
        "waiting": say("The next save waits until the last one is written"),
        "rework": say("Training that an interruption undoes, so that it is done again"),
        "lost": say("Training that an interruption undoes, so that it is done again"),
        "restart": say("From the interruption until training runs again"),
        "down": say("Waiting for a node to restart on"),
        "planned": say("Maintenance, limits of the queue and other stops that are known before"),
    }.get(name, "")


def colour_of(name: str, theme: Theme) -> str:
    """The colour of a cause or of its lane."""
    return theme.causes[CAUSES.index("rework" if name == "lost" else name)]


def interruption_words(cause: str, level: str) -> str:
    """An interruption and what it goes back to."""
    after = {
        "step": say("goes on after a pause"), "local": say("goes back to the newest save"),
        "shared": say("goes back to shared storage"),
    }.get(level, "")  # fmt: skip
    return say("{cause}; {after}", cause=_event_word(cause), after=after) if after else _event_word(cause)


def _event_word(cause: str) -> str:
    """The simulation's name of an interruption, as a person reads it."""
    if (row := _ROW.fullmatch(cause)) is not None:
        return say("restart class {number}", number=row[1])
    return {
        "interruption": say("interruption"), "node": say("node lost"), "process": say("process ended"),
        "cluster": say("all nodes stopped"), "rack lost": say("rack lost"), "planned stop": say("planned stop"),
        "group lost": say("all copies of a group lost"),
    }.get(cause, cause)  # fmt: skip
