"""What the engine's tests share: scenarios by field path, and numbers as the tables print them."""

from __future__ import annotations

from typing import Any

from hypothesis import HealthCheck, settings

from ckptplanner.engine.scenario import CustomStorage, Scenario
from ckptplanner.frozen import with_value

ARTICLE: dict[str, Any] = {"storage.interval_model": "young", "storage.waste_model": "first_order"}
SYNC: dict[str, Any] = {"storage.mode": "sync"}
SIX_BYTES: dict[str, Any] = {"workload.layout": "bf16-6"}

# the same examples every time: a run fails because of a change, not by luck. Set derandomize to False to look for more
STEADY = settings(deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])

# reads and writes at once: what is left of R is its base
INSTANT = CustomStorage(write_bytes_per_s=1e18, read_bytes_per_s=1e18, usable_bytes=1e18)


def scenario(*groups: dict[str, Any], **sections: dict[str, Any]) -> Scenario:
    """The default scenario with values at dotted paths, or by section: storage={"write_s": 60.0}."""
    made = Scenario()
    by_section = {f"{section}.{name}": value for section, values in sections.items() for name, value in values.items()}
    for group in (*groups, by_section):
        for path, value in group.items():
            made = with_value(made, path, value)
    return made


def printed(value: float, like: str, scale: float = 1.0) -> str:
    """`value / scale` with as many decimals as the printed number `like` has."""
    decimals = len(like.partition(".")[2])
    return f"{value / scale:,.{decimals}f}"


def percent(value: float | None, like: str) -> str:
    """A share as the tables print it, in percent, with the decimals of `like`."""
    assert value is not None
    return printed(value, like, 0.01)
