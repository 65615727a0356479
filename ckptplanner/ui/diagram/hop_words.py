"""What is said about a hop, in the table, the tooltips and to a screen reader alike; and the colour of its use."""

from __future__ import annotations

from ckptplanner.engine.node_plan import Hop, Phase
from ckptplanner.ui.theme import Theme
from ckptplanner.ui.words import say, say_text
from ckptplanner.units import BYTES_PER_S, FRACTION, NBSP, SECONDS, UNKNOWN, brief, rough, significant

MIDDLE, HIGH = 0.5, 0.8
GB = 1e9


def use_colour(theme: Theme, ratio: float | None) -> str:
    """The colour of a use; never the only sign of it."""
    if ratio is None:
        return theme.thin
    return theme.use_high if ratio > HIGH else theme.use_middle if ratio >= MIDDLE else theme.use_low


def kind_word(kind: str) -> str:
    """How a ceiling is known."""
    return {
        "measured": say("measured"), "documented": say("documented"), "theoretical": say("theoretical"),
        "derived": say("derived"), "assumed": say("assumed"), "typed": say("typed"),
    }[kind]  # fmt: skip


def use_words(ratio: float | None) -> str:
    """A use in percent; what is tiny is not made exact."""
    if ratio is None:
        return say("not known")
    return f"<1{NBSP}%" if 0.0 < ratio < 0.01 else brief(ratio, FRACTION, 2 if ratio < 1 else 3)


def gb_words(rate_bytes_per_s: float | None) -> str:
    """A rate in GB/s without its unit, for a column that says it."""
    return UNKNOWN if rate_bytes_per_s is None else significant(rate_bytes_per_s / GB)


def hop_name(hop: Hop) -> str:
    """The name of a hop; what all nodes share says so."""
    return say("{name}, all nodes", name=say_text(hop.name)) if hop.is_shared else say_text(hop.name)


def hop_row(hop: Hop) -> tuple[str, str, str, str]:
    """Name, can, load, use."""
    return hop_name(hop), gb_words(hop.ceiling_bytes_per_s), gb_words(hop.load_bytes_per_s), use_words(hop.use_ratio)


def hop_lines(hop: Hop, *, is_limit: bool) -> list[str]:
    """All that is known of a hop, line by line."""
    can, load = hop.ceiling_bytes_per_s, hop.load_bytes_per_s
    carries = say("ceiling {rate}", rate=brief(can, BYTES_PER_S)) if can is not None else say("ceiling not known")
    asked = say("load {rate}", rate=brief(load, BYTES_PER_S)) if load is not None else say("load not known")
    lines = [hop_name(hop), f"{carries}, {asked}", say("use {use}", use=use_words(hop.use_ratio))]
    if is_limit:
        lines[2] = say("{use}: this is the limit", use=lines[2])
    known = ", ".join(part for part in (kind_word(hop.kind), hop.source, hop.date) if part)
    if can is not None:
        lines.append(known)
    if hop.note is not None:
        lines.append(say_text(hop.note))
    return lines


def phase_time(phase: Phase) -> str:
    """How long a phase takes at best, or that it is not part of the plan."""
    if not phase.is_used:
        return say("not set")
    return say("not known") if phase.seconds is None else rough(phase.seconds, SECONDS)
