"""Whose word the ends of a range are, as one word beside it."""

from __future__ import annotations

from ckptplanner.engine.ranges import Kind
from ckptplanner.ui.words import say


def kind_word(kind: Kind) -> str:
    """Where a range comes from."""
    return {
        "published": say("published"), "catalog": say("catalog"), "assumption": say("assumption"), "given": say("given"),
    }[kind]  # fmt: skip
