"""`ckptplanner optimize`: the best plan for a job, what comes close, and the frontier of dollars against waste."""

from __future__ import annotations

import argparse
import json
from typing import Any

from ckptplanner.engine.families import FAMILIES
from ckptplanner.engine.optimise import LIMITS, Decision, Proposal, Search, optimise
from ckptplanner.engine.scenario import NamedScenario
from ckptplanner.executors import add_executor, executor_of
from ckptplanner.frozen import Frozen
from ckptplanner.units import FRACTION, SECONDS, USD, USD_PER_MONTH, Unit, UnitError, brief, parse, rough

UNITS: dict[str, Unit] = {"storage_usd_per_month": USD_PER_MONTH, "waste_fraction": FRACTION, "worst_rework_s": SECONDS}
SHOWN = 10  # rows of the frontier for people; --json has all


def add_arguments(command: argparse.ArgumentParser) -> None:
    """What only this command takes."""
    command.add_argument("--json", action="store_true", help="print one JSON object")
    command.add_argument("--minimise", choices=("cost", "waste"), default="cost", help="cost if left out")
    command.add_argument(
        "--limit", metavar="NAME=VALUE", action="append", type=_limit, default=[], dest="limits",
        help="storage_usd_per_month, waste_fraction or worst_rework_s at most; may be repeated",
    )  # fmt: skip
    command.add_argument(
        "--family", action="append", choices=FAMILIES, dest="families", help="only these file systems; may be repeated"
    )
    command.add_argument("--levels", choices=("any", "single", "two"), default="any", help="with a local level or without")
    command.add_argument(
        "--price", metavar="ID=USD", action="append", type=_price, default=[], dest="prices",
        help="a price that was asked for, by the name it was asked by",
    )  # fmt: skip
    add_executor(command)


def _limit(written: str) -> tuple[str, float]:
    name, _, value = written.partition("=")
    if name not in UNITS:
        raise argparse.ArgumentTypeError(f"{written!r}: NAME=VALUE with a NAME of {', '.join(LIMITS)} is expected")
    try:
        limit = parse(value, UNITS[name])
    except UnitError as error:
        raise argparse.ArgumentTypeError(f"{written!r}: {error}") from error
    if not limit > 0.0:
        raise argparse.ArgumentTypeError(f"{written!r}: a limit above 0 is expected")
    return name, limit


def _price(written: str) -> tuple[str, float]:
    name, _, value = written.partition("=")
    try:
        price = parse(value, USD)
    except UnitError as error:
        raise argparse.ArgumentTypeError(f"{written!r}: ID=USD is expected; {error}") from error
    if not name or price < 0.0:
        raise argparse.ArgumentTypeError(f"{written!r}: ID=USD with a price of at least 0 is expected")
    return name, price


def optimised(named: NamedScenario, options: argparse.Namespace) -> tuple[str, bool]:
    """Search; JSON, or words for people, and whether there is a plan."""
    search = Search(
        minimise=options.minimise,
        limits=tuple(dict(options.limits).items()),
        families=tuple(dict.fromkeys(options.families)) if options.families else None,
        levels=options.levels,
        prices=tuple(dict(options.prices).items()),
    )
    with executor_of(options.executor) as executor:
        found = optimise(named.scenario, search, executor)
    shown = json.dumps(decision_document(found), ensure_ascii=False, indent=1, allow_nan=False) if options.json else None
    return shown or _words(named, found), found.best is not None


def decision_document(found: Decision) -> dict[str, Any]:
    """The JSON of `optimize`; `best` is null where no plan keeps the limits, and `reason` says why."""
    others = dict.fromkeys((*found.ties, *found.families))
    none = found.none
    return {
        "objective": {"minimise": found.search.minimise, "limits": dict(found.search.limits)},
        "best": _row(found.best) if found.best else None,
        "runners_up": [_row(one) for one in others if one != found.best],
        "frontier": [_row(one) for one in found.frontier],
        "reason": None
        if none is None
        else {
            "message": str(none.text),
            "limit": none.limit,
            "least": none.least,
            "closest": _row(none.closest) if none.closest else None,
        },
        "asks": [
            {
                "id": one.ask.id, "path": one.ask.path or None, "what": str(one.ask.what), "wins_below_usd": one.wins_below_usd,
                "suggested_usd": one.ask.suggested_usd, "source": one.ask.source or None, "date": one.ask.date or None,
            }
            for one in found.asks
        ],
        "left_out": [{"id": one.id, "family": one.family, "reason": str(one.reason)} for one in found.left_out],
        "considered": found.considered,
    }  # fmt: skip


def _row(one: Proposal) -> dict[str, Any]:
    return {
        "id": one.id,
        "family": one.family,
        "name": str(one.name),
        "set": {path: value.model_dump() if isinstance(value, Frozen) else value for path, value in one.edits},
        "usd_per_month": one.usd_per_month,
        "total_usd_per_year": one.total_usd_per_year,
        "waste_fraction": one.waste_fraction,
        "worst_rework_s": one.worst_rework_s,
        "bound_by": one.bound_by,
        "bound_words": str(one.bound_words),
        "note": None if one.note is None else str(one.note),
    }


def _words(named: NamedScenario, found: Decision) -> str:
    """What people read: the winner and how to get it, what comes close, the families, the frontier, missing prices."""
    lines = [named.name]
    if found.best is None:
        lines += ["" if found.none is None else str(found.none.text)]
        if found.none is not None and found.none.closest is not None:
            lines += ["", "Closest:", _line(found.none.closest)]
    else:
        lines += [f"Best: {_line(found.best).strip()}", f"What bounds it: {found.best.bound_words}.", "Set:"]
        lines += [f"  {path}={_value(value)}" for path, value in found.best.edits]
        for title, rows in (
            ("Within 1 %:", found.ties),
            ("Best of each family:", found.families),
            ("Dollars against waste:", _few(found.frontier)),
        ):
            lines += ["", title, *(_line(one) for one in rows)] if rows else []
    if found.asks:
        lines += ["", "Prices that are missing (give them with --price or --set):"]
        lines += [f"  {one.ask.path or one.ask.id}: {one.ask.what}{_wins(one.wins_below_usd)}" for one in found.asks]
    reasons: dict[str, list[str]] = {}
    for out in found.left_out:
        reasons.setdefault(str(out.reason), []).append(out.id)
    if reasons:
        lines += ["", "Left out:", *(f"  {', '.join(ids)}: {reason}" for reason, ids in reasons.items())]
    return "\n".join(lines)


def _wins(below: float | None) -> str:
    return "" if below is None else f"; it wins below {brief(below, USD)}"


def _value(value: Any) -> str:
    if isinstance(value, Frozen):
        return json.dumps(value.model_dump())
    return "null" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def _few(rows: tuple[Proposal, ...]) -> tuple[Proposal, ...]:
    """Some of the frontier, its ends among them."""
    if len(rows) <= SHOWN:
        return rows
    return tuple(rows[round(place * (len(rows) - 1) / (SHOWN - 1))] for place in range(SHOWN))


def _line(one: Proposal) -> str:
    month = "price unknown" if one.usd_per_month is None else f"{brief(one.usd_per_month, USD)} a month"
    total = "" if one.total_usd_per_year is None else f", {brief(one.total_usd_per_year, USD)} a year in all"
    local = ", local saves" if one.scenario.local.enabled else ""
    copies = one.scenario.replication.factor
    copied = f" with {copies} copies" if local and copies > 1 else ""
    return (
        f"  {one.name}, {one.mode}{local}{copied}, written in {rough(one.write_s, SECONDS)}, every "
        f"{rough(one.interval_s, SECONDS)}: {month}{total}, waste {brief(one.waste_fraction, FRACTION)}"
    )
