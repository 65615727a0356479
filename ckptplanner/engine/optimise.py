"""The best plan: every legal file system, every way to save and every write time, under the limits that are set.

    ways (async or sync, one level or two, copies)  x  supplies (kinds of file system)  x  legal sizes
        -> columns of figures (ranking.py) -> winner, near ties, the best of each family, the frontier

The search misses nothing. What is lost falls with the size of a file system and its bill rises, so between two sizes a and b
no plan can be better than the bill of a with the loss of b: where a kind has more sizes than are looked at, the gaps that
could hold a better plan are opened until none is left. (Intervals in whole steps can upset that order by a step's worth.)
With two levels T and n follow level by level and are then searched for the best plans of each way, 16 a kind of file system.
A price that nobody vouches for keeps a kind out of the ranking; it is asked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Literal

import numpy as np

from ckptplanner.engine.evaluate import evaluate
from ckptplanner.engine.families import FAMILIES, Ask, LeftOut, Supply, job_prices, supplies
from ckptplanner.engine.job import Job, job_of
from ckptplanner.engine.ranking import (
    COST,
    EMPTY,
    REWORK,
    STORAGE,
    WASTE,
    Bounds,
    Columns,
    columns,
    joined,
    polished,
    replaced,
    taken,
)
from ckptplanner.engine.replication import IntArray
from ckptplanner.engine.scenario import AUTO_EFA_BYTES_PER_S, Scenario
from ckptplanner.engine.ways import Way, changed, ways
from ckptplanner.frozen import FloatArray, value_at
from ckptplanner.text import Text, listed, text
from ckptplanner.units import FRACTION, MONTHS_PER_YEAR, SECONDS, USD, USD_PER_MONTH, brief, rough

Objective = Literal["cost", "waste", "storage"]
LIMITS = ("storage_usd_per_month", "waste_fraction", "worst_rework_s")
_OBJECTIVE_OF = {"storage_usd_per_month": STORAGE, "waste_fraction": WASTE, "worst_rework_s": REWORK}
MOST_TIES, MOST_FRONTIER = 50, 200
EQUAL_FRACTION = 1e-6
_OPENED, _ROUNDS, _ROWS_OF_A_TASK, _SORTED_ROWS = 64, 40, 65_536, 50_000
_POLISHED, _POLISHED_RATIO, _FEW_SIZES = 16, 1.5, 128
_REFUSALS = 3  # of plans of one way, before the way is given up


@dataclass(frozen=True, slots=True)
class Search:
    """What is looked for.

    `minimise`: cost (storage, stopped training, rework, restarts, planned stops and what else is paid, in a year), waste (the
    share of training lost), or storage (its bill alone). `limits` by name of LIMITS. `families` of FAMILIES, None: those that
    the nodes reach. `prices` by the id of an `Ask`. [USD] `within_fraction` of the best is a near tie.
    """

    minimise: Objective = "cost"
    limits: tuple[tuple[str, float], ...] = ()
    families: tuple[str, ...] | None = None
    modes: tuple[str, ...] = ("async", "sync")
    levels: Literal["any", "single", "two"] = "any"
    prices: tuple[tuple[str, float], ...] = ()
    within_fraction: float = 0.01
    most_sizes: int = 2048  # of one kind that are looked at before gaps are opened

    @property
    def bounds(self) -> Bounds:
        """The limits by field."""
        return Bounds(**dict(self.limits))


@dataclass(frozen=True, slots=True)
class Proposal:
    """One plan: what to change in the scenario, and what follows."""

    family: str
    id: str
    name: Text
    edits: tuple[tuple[str, Any], ...]
    scenario: Scenario = field(repr=False)
    usd_per_month: float | None
    total_usd_per_year: float | None
    waste_fraction: float
    worst_rework_s: float
    write_s: float
    interval_s: float
    mode: str
    bound_by: str  # capacity, throughput, nodes, efa, quota, sizes, or the name of a limit
    bound_words: Text
    note: Text | None = None


@dataclass(frozen=True, slots=True)
class Asked:
    """A missing price, and below what it would make the winner, where one price decides that. [USD, in its own unit]"""

    ask: Ask
    name: str
    wins_below_usd: float | None


@dataclass(frozen=True, slots=True)
class NoPlan:
    """Why no plan keeps the limits: the nearest one, and the plan that comes closest."""

    text: Text
    limit: str | None = None
    least: float | None = None
    closest: Proposal | None = None


@dataclass(frozen=True, slots=True)
class Decision:
    """What a search found. `best` is None where `none` says why."""

    search: Search
    best: Proposal | None
    ties: tuple[Proposal, ...]  # near the best, the nearest first
    families: tuple[Proposal, ...]  # the best of each, by the objective
    frontier: tuple[Proposal, ...]  # dollars of storage a month against waste, cheapest first
    asks: tuple[Asked, ...]
    left_out: tuple[LeftOut, ...]
    none: NoPlan | None
    considered: int


def optimise(scenario: Scenario, search: Search | None = None, executor: Executor | None = None) -> Decision:
    """Search for the best plan.

    Args:
        scenario: The inputs; its file system, write time, interval, mode and levels are free.
        search: What is minimised, under which limits, among what.
        executor: Where the parts of the work run; None: here.

    Raises:
        ValueError: an objective, a limit or a family has no such name, or a limit is not above 0.
    """
    search = search or Search()
    _check(search)
    return _Run(scenario, search, executor).decision()


def goal(scenario: Scenario, limits: Mapping[str, float], executor: Executor | None = None, **options: Any) -> Decision:
    """Search for the cheapest plan that keeps the limits; by the bill of storage where a GPU-hour has no known value.

    Args:
        limits: By name of LIMITS.
        options: Other fields of `Search`.
    """
    minimise: Objective = "storage" if np.isnan(job_of(scenario).gpu_value_usd_per_h) else "cost"
    return optimise(scenario, Search(minimise=minimise, limits=tuple(limits.items()), **options), executor)


def _check(search: Search) -> None:
    if search.minimise not in (COST, WASTE, STORAGE):
        raise ValueError(f"{search.minimise!r} cannot be minimised; cost, waste or storage can")
    for name, value in search.limits:
        if name not in LIMITS:
            raise ValueError(f"no limit {name!r}; there are {', '.join(LIMITS)}")
        if not value > 0.0:
            raise ValueError(f"{name}: a limit above 0 is expected, not {value:g}")
    for family in search.families or ():
        if family not in FAMILIES:
            raise ValueError(f"no family {family!r}; there are {', '.join(FAMILIES)}")


@dataclass(frozen=True, slots=True)
class _Unit:
    """One way with one supply."""

    way: Way
    supply: Supply
    is_priced: bool


def _first_look(supply: Supply, most: int) -> FloatArray:
    """Indices of a supply's sizes: all, or the first half and then ever larger steps to the last. (n,)"""
    count = supply.last - supply.first + 1
    if count <= most:
        return np.arange(supply.first, supply.last + 1, dtype=float)
    half = most // 2
    far = np.rint(np.geomspace(half, count - 1, most - half))
    return supply.first + np.union1d(np.arange(half, dtype=float), far)


class _Run:
    """One search."""

    def __init__(self, scenario: Scenario, search: Search, executor: Executor | None) -> None:
        prices = dict(search.prices)
        needed = job_prices(scenario, job_of(scenario))
        self.given = {ask.path: prices[ask.id] for ask in needed if ask.id in prices}
        self.base, self.search, self.executor = scenario, search, executor
        self.scenario = scenario = changed(scenario, self.given)
        self.unknown = tuple(ask for ask in needed if value_at(scenario, ask.path) is None)
        self.job: Job = job_of(scenario)
        self.objective: str = search.minimise
        self.bounds = search.bounds
        self.ways = ways(scenario, search.modes, search.levels)
        most = self.bounds.storage_usd_per_month
        found, self.left_out = supplies(
            scenario, self.job, families=search.families, prices=prices,
            most_usd_per_month=most if np.isfinite(most) else None,
        ) if self.job.checkpoint_bytes > 0 else ((), ())  # fmt: skip
        self.asked = tuple((supply, ask) for supply in found for ask in supply.asks)
        self.units = [
            _Unit(way, supply if supply.is_priced else supply.unpaid(), supply.is_priced)
            for way in self.ways
            for supply in found
        ]
        self.refused: dict[str, Text] = {}

    # -- the table

    def figures(self, work: list[tuple[_Unit, FloatArray]], *, polish: bool = False) -> Columns:
        """The figures of some units, one after another; those of one way go together, up to some rows."""
        scenarios: list[Scenario] = []
        tasks: list[list[tuple[Supply, FloatArray]]] = []
        rows = 0
        for unit, index in work:
            if not tasks or scenarios[-1] is not unit.way.scenario or rows > _ROWS_OF_A_TASK:
                scenarios.append(unit.way.scenario)
                tasks.append([])
                rows = 0
            tasks[-1].append((unit.supply, index))
            rows += len(index)
        call = partial(polished if polish else columns, objective=self.objective, bounds=self.bounds)
        done = self.executor.map(call, scenarios, tasks) if self.executor is not None else map(call, scenarios, tasks)
        return joined([part for parts in done for part in parts])

    def table(self) -> _Table:
        """The figures of all plans that could matter."""
        if not self.units:
            return _Table([], EMPTY, [], self.objective)
        looks = [_first_look(unit.supply, self._most_sizes) for unit in self.units]
        table = self._table(looks)
        for _ in range(_ROUNDS):
            gaps = {number: gap for number in range(len(looks)) if (gap := self._gaps(table, number)).size}
            if not gaps:
                break
            more = self.figures([(self.units[number], gap) for number, gap in gaps.items()])
            parts = list(table.parts)
            ends = np.cumsum([gap.size for gap in gaps.values()])
            for (number, gap), end in zip(gaps.items(), ends, strict=True):
                parts[number] = _sorted(joined([parts[number], taken(more, slice(end - gap.size, end))]))
            table = _Table(self.units, joined(parts), [len(part) for part in parts], self.objective)
        return self._polished(table)

    @property
    def _most_sizes(self) -> int:
        """How many sizes of one kind are looked at first; few where the interval of each has to be searched."""
        planned = self.scenario.planned
        is_short = planned.every_s is not None and planned.notice_s is not None
        searches = is_short or self.job.zone_usd_per_byte != 0.0 or self.objective == REWORK
        return min(self.search.most_sizes, _FEW_SIZES) if searches else self.search.most_sizes

    def _polished(self, table: _Table) -> _Table:
        """Search the intervals of the best plans where T* is only close to the best."""
        near: dict[int, IntArray] = {}
        for number, unit in enumerate(self.units):
            scenario = unit.way.scenario
            if scenario.local.enabled or scenario.storage.published == "next_save":
                part = table.parts[number]
                value = np.where(part.works, part.value(self.objective), np.inf)
                order = np.argsort(value, kind="stable")[:_POLISHED]
                keep = (value[order] <= table.best_of() * _POLISHED_RATIO) & np.isfinite(value[order])
                if keep.any():
                    near[number] = np.sort(order[keep])
        if not near:
            return table
        found = self.figures([(self.units[n], table.parts[n].index[at]) for n, at in near.items()], polish=True)
        at = np.concatenate([table.starts[number] + rows for number, rows in near.items()])
        rows = replaced(table.rows, at, found)
        return _Table(self.units, rows, [len(part) for part in table.parts], self.objective)

    def _table(self, looks: list[FloatArray]) -> _Table:
        """The figures of some sizes of each unit."""
        rows = self.figures(list(zip(self.units, looks, strict=True)))
        return _Table(self.units, rows, [len(look) for look in looks], self.objective)

    def _gaps(self, table: _Table, number: int) -> FloatArray:
        """Indices to look at between those looked at, where a better plan of this family could lie. (k,)"""
        part, supply = table.parts[number], self.units[number].supply
        wide = np.diff(part.index) > 1.5
        if not wide.any() or not self.units[number].is_priced:
            return np.zeros(0)
        best = table.best_of(supply.family)
        bill = supply.storage_usd_per_month(part.index + 1)[:-1]
        after = part.value(self.objective)[1:]
        if self.objective == STORAGE:
            floor = bill
        elif self.objective == COST:
            floor = after + MONTHS_PER_YEAR * (bill - supply.storage_usd_per_month(part.index)[1:])
        else:
            floor = after
        could = wide & part.within[1:] & (floor < best * (1.0 - 1e-12))
        starts, ends = part.index[:-1][could], part.index[1:][could]
        cuts = [np.rint(np.linspace(a, b, _OPENED + 2))[1:-1] for a, b in zip(starts, ends, strict=True)]
        found = np.setdiff1d(np.concatenate(cuts), part.index) if cuts else np.zeros(0)
        return np.asarray(found, dtype=float)

    # -- the decision

    def decision(self) -> Decision:
        """Rank, propose, and say why where there is nothing to propose."""
        table = self.table()
        while True:
            picked = table.picked(self.search)
            if picked.best is None or not self._refuse(table, picked):
                break
        considered = len(table.rows)
        if picked.best is None:
            return Decision(self.search, None, (), (), (), self._asks(table), self.left_out, self._none(table), considered)
        made = {at: self._proposal(table, at) for at in picked.all}
        return Decision(
            search=self.search,
            best=made[picked.best],
            ties=tuple(made[at] for at in picked.ties),
            families=tuple(made[at] for at in picked.families),
            frontier=tuple(made[at] for at in picked.frontier),
            asks=self._asks(table),
            left_out=self.left_out,
            none=None,
            considered=considered,
        )

    def _refuse(self, table: _Table, picked: _Picked) -> bool:
        """Take plans out that the checks call an error; whether there were any."""
        refused = False
        for at in table.judged(picked):
            reason = _error(self._scenario(table, at))
            if reason is None:
                continue
            refused = True
            self.refused.setdefault(str(reason), reason)
            table.refuse(at)
        return refused

    def _asks(self, table: _Table) -> tuple[Asked, ...]:
        """The prices that are missing, each once, and what each must stay below to win."""
        found: dict[str, Asked] = {}
        if self.objective == COST:
            found = {ask.id: Asked(ask, str(ask.what), None) for ask in self.unknown}
        for supply, ask in self.asked:
            below = None
            if self.objective == COST and len(supply.asks) == 1 and supply.elastic_gib is None:
                below = table.wins_below(supply)
            before = found.get(ask.id)
            if before is None:
                found[ask.id] = Asked(ask, supply.name, below)
            elif below is not None and below > (before.wins_below_usd or 0.0):
                found[ask.id] = replace(before, wins_below_usd=below)
        return tuple(found.values())

    def _edits(self, table: _Table, at: int) -> dict[str, Any]:
        unit, rows = self.units[table.unit_at(at)], table.rows
        edits = self.given | dict(unit.way.edits)
        asked, month = float(rows.asked_s[at]), float(rows.usd_per_month[at])
        edits |= {"storage.pace": "within", "storage.write_s": float(rows.write_s[at])}
        edits["storage.interval_s"] = None if np.isnan(asked) else asked
        if not np.isnan(rows.ratio[at]):
            edits["local.ratio"] = int(rows.ratio[at])
        bill, jobs = month if unit.is_priced else None, float(rows.jobs_writing[at])
        return edits | unit.supply.edits(self.scenario, self.job, int(rows.index[at]), bill, jobs)

    def _scenario(self, table: _Table, at: int) -> Scenario:
        return changed(self.base, self._edits(table, at))

    def _proposal(self, table: _Table, at: int) -> Proposal:
        unit, rows = self.units[table.unit_at(at)], table.rows
        index, edits = int(rows.index[at]), self._edits(table, at)
        bound, words = self._bound(unit, rows, at)

        def known(value: float) -> float | None:
            return float(value) if unit.is_priced and np.isfinite(value) else None

        return Proposal(
            family=unit.supply.family,
            id=unit.supply.size_id(index),
            name=unit.supply.size_name(index),
            edits=tuple((path, value) for path, value in edits.items() if value_at(self.base, path) != value),
            scenario=changed(self.base, edits),
            usd_per_month=known(rows.usd_per_month[at]),
            total_usd_per_year=known(rows.money_usd_per_year[at]),
            waste_fraction=float(rows.waste_fraction[at]),
            worst_rework_s=float(rows.worst_rework_s[at]),
            write_s=float(rows.write_s[at]),
            interval_s=float(rows.interval_s[at]),
            mode=unit.way.scenario.storage.mode,
            bound_by=bound,
            bound_words=words,
            note=unit.supply.note_on(index),
        )

    def _bound(self, unit: _Unit, rows: Columns, at: int) -> tuple[str, Text]:
        """What keeps a plan from being better: a limit, the room, the rate, the nodes."""
        supply, index = unit.supply, int(rows.index[at])
        at_limit = rows.worst_rework_s[at] > self.bounds.worst_rework_s * 0.999
        if at_limit and not np.isnan(rows.asked_s[at]):
            return "worst_rework_s", text("the limit on lost work shortens the interval")
        if supply.sizes.count == 1:
            return "sizes", text("there is one size")
        value = float(rows.value(self.objective)[at])
        if self.objective != WASTE and index > supply.first and np.isfinite(self.bounds.waste_fraction):
            smaller = columns(unit.way.scenario, [(supply, np.array([index - 1.0]))], self.objective, Bounds())[0]
            if smaller.waste_fraction[0] > self.bounds.waste_fraction * (1.0 + 1e-9):
                return "waste_fraction", text("a smaller size would waste more than the limit")
        above = self._above(unit, index)
        if above is not None and float(above.value(self.objective)[0]) < value * (1.0 - 1e-9):
            return self._end_of(supply, index)
        if index == supply.first and supply.elastic_gib is None and self.objective != WASTE:
            return "capacity", text("the generations kept need this size")
        if above is not None and float(above.waste_fraction[0]) >= rows.waste_fraction[at] * (1.0 - 1e-9):
            return self._bound_of_nodes(supply, index)
        if self.objective == WASTE:
            return self._end_of(supply, index)
        return "throughput", text("a smaller size would lose more than it saves")

    def _above(self, unit: _Unit, index: int) -> Columns | None:
        """The figures of the next size, whatever bill and quota allow; None where it does not work or keep the other limits."""
        bounds = replace(self.bounds, storage_usd_per_month=np.inf)
        found = columns(unit.way.scenario, [(unit.supply, np.array([index + 1.0]))], self.objective, bounds)[0]
        return found if found.within[0] else None

    def _end_of(self, supply: Supply, index: int) -> tuple[str, Text]:
        """What keeps a size from being the next one."""
        if index == supply.sizes.count - 1:
            return "sizes", text("there is no larger size")
        if supply.last_is_quota and index == supply.last:
            return "quota", text("the next size is above the quota")
        if float(supply.storage_usd_per_month(index + 1)) > self.bounds.storage_usd_per_month:
            return "storage_usd_per_month", text("the next size is above the budget")
        return self._bound_of_nodes(supply, index)

    def _bound_of_nodes(self, supply: Supply, index: int) -> tuple[str, Text]:
        """What keeps the nodes from a faster write."""
        if self._is_held(supply, index):
            return "efa", text("without EFA a write is planned at 10 GB/s at most")
        return "nodes", text("the nodes write and read no faster")

    def _is_held(self, supply: Supply, index: int) -> bool:
        """Whether the 10 GB/s rule keeps a file system without EFA from writing as fast as it could."""
        rate = float(supply.sizes.at(index)) * supply.write_bytes_per_s
        return supply.needs_efa is False and rate >= AUTO_EFA_BYTES_PER_S

    # -- none

    def _none(self, table: _Table) -> NoPlan:
        """Why there is no plan: a limit that cannot be kept, or what stands in the way without any."""
        unknown = self._unknown()
        if unknown is not None:
            return unknown
        closest = [found for name, _ in self.search.limits if (found := self._without(name)) is not None]
        if closest:
            return min(closest, key=lambda one: (one.least or 0.0) / dict(self.search.limits)[one.limit or ""])
        if self.search.limits:
            for name, value in self.search.limits:
                alone = self._without(name, alone=True)
                if alone is not None and alone.least is not None and alone.least > value:
                    return alone
            if len(self.search.limits) > 1:
                return NoPlan(text("No plan keeps these limits together, nor all but one of them."))
        if self.asked and not any(unit.is_priced for unit in self.units):
            return NoPlan(text("No price is known: give one of {names}.", names=_names(a.id for _, a in self.asked)))
        if self.refused:
            return NoPlan(text("Every plan is refused: {reasons}", reasons=listed(self.refused.values())))
        if not self.ways:
            return NoPlan(text("No way to save is left: {framework} saves sync only.", framework=self._framework))
        reasons = {str(one.reason): one.reason for one in self.left_out}
        if not self.units and reasons:
            return NoPlan(text("No file system on offer can do this: {reasons}.", reasons=listed(reasons.values())))
        return NoPlan(text("The job makes no progress with any file system on offer."))

    def _unknown(self) -> NoPlan | None:
        """Nothing to save, or a price without which no plan can be ranked."""
        if self.job.checkpoint_bytes <= 0:
            return NoPlan(text("Nothing is saved: there is nothing to search for."))
        if self.objective == COST and np.isnan(self.job.gpu_value_usd_per_h):
            return NoPlan(text("The value of a GPU-hour is not known: without it plans cannot be compared in dollars."))
        if self.objective == COST and self.unknown:
            return NoPlan(text(
                "A price is not known, so plans cannot be compared in dollars: {what}. Give {names}.",
                what=listed(ask.what for ask in self.unknown), names=_names(ask.path for ask in self.unknown),
            ))  # fmt: skip
        return None

    @property
    def _framework(self) -> str:
        return self.scenario.workload.framework.name

    def _without(self, name: str, *, alone: bool = False) -> NoPlan | None:
        """The least value of what a limit bounds, while the others hold; None where there is no plan at all."""
        others = () if alone else tuple((one, value) for one, value in self.search.limits if one != name)
        search = Search(
            limits=others, families=self.search.families, modes=self.search.modes, levels=self.search.levels,
            prices=self.search.prices,
        )  # fmt: skip
        run = _Run(self.base, search, self.executor)
        run.objective = _OBJECTIVE_OF[name]
        table = run.table()
        while True:
            picked = table.picked(search)
            if picked.best is None:
                return None
            if not run._refuse(table, _Picked(picked.best, (), (), ())):
                break
        closest = run._proposal(table, picked.best)
        least = float(table.rows.value(run.objective)[picked.best])
        return NoPlan(self._nearest(name, least, closest), name, least, closest)

    def _nearest(self, name: str, least: float, closest: Proposal) -> Text:
        limit = dict(self.search.limits)[name]
        month = "–" if closest.usd_per_month is None else brief(closest.usd_per_month, USD)
        if name == "storage_usd_per_month":
            return text(
                "No plan costs at most {limit}: the cheapest costs {least}, {name}.",
                limit=brief(limit, USD_PER_MONTH), least=brief(least, USD_PER_MONTH), name=closest.name,
            )  # fmt: skip
        if name == "waste_fraction":
            return text(
                "No plan wastes at most {limit}: the least is {least}, {name} for {month} a month.",
                limit=brief(limit, FRACTION), least=brief(least, FRACTION), name=closest.name, month=month,
            )  # fmt: skip
        return text(
            "No plan loses at most {limit} of training at worst: the least is {least}, {name} for {month} a month.",
            limit=rough(limit, SECONDS), least=rough(least, SECONDS), name=closest.name, month=month,
        )  # fmt: skip


def _names(ids: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(ids))


def _error(scenario: Scenario) -> Text | None:
    """What the checks call an error of a plan."""
    return next((one.text for one in evaluate(scenario).findings if one.severity == "error"), None)


def _sorted(part: Columns) -> Columns:
    return taken(part, np.argsort(part.index, kind="stable"))


@dataclass(frozen=True, slots=True)
class _Picked:
    """Rows of a table to propose."""

    best: int | None
    ties: tuple[int, ...]
    families: tuple[int, ...]
    frontier: tuple[int, ...]

    @property
    def all(self) -> tuple[int, ...]:
        """All of them, each once."""
        own = () if self.best is None else (self.best,)
        return tuple(dict.fromkeys((*own, *self.ties, *self.families, *self.frontier)))


class _Table:
    """All plans, unit after unit."""

    def __init__(self, units: list[_Unit], rows: Columns, sizes: list[int], objective: str) -> None:
        self.units, self.rows, self.objective = units, rows, objective
        self.starts = np.concatenate(([0], np.cumsum(sizes))).astype(int)
        self.parts = [taken(rows, self._rows_of(number)) for number in range(len(sizes))]
        value = self.rows.value(objective)
        self.key: FloatArray = np.where(self.rows.within & np.isfinite(value), value, np.inf)  # infinity: not ranked
        for number, unit in enumerate(units):
            if not unit.is_priced:
                self.key[self._rows_of(number)] = np.inf
        of_way = {way: number for number, way in enumerate(dict.fromkeys(id(unit.way) for unit in units))}
        self.way_of_unit = [of_way[id(unit.way)] for unit in units]
        self.refusals: dict[int, int] = {}

    def _rows_of(self, number: int) -> slice:
        """The rows of a unit."""
        return slice(self.starts[number], self.starts[number + 1])

    def unit_at(self, at: int) -> int:
        """The number of the unit that a row belongs to."""
        return int(np.searchsorted(self.starts, at, side="right")) - 1

    def way_at(self, at: int) -> int:
        """The number of the way that a row belongs to."""
        return self.way_of_unit[self.unit_at(at)]

    def best_of(self, family: str | None = None) -> float:
        """The least value, of a family or at all; infinity where there is none."""
        own = [
            self.key[self._rows_of(number)].min(initial=np.inf)
            for number, unit in enumerate(self.units)
            if family in (None, unit.supply.family)
        ]
        return float(min(own, default=np.inf))

    def refuse(self, at: int) -> None:
        """Take a plan out, and its way after a few of them."""
        self.key[at] = np.inf
        way = self.way_at(at)
        self.refusals[way] = self.refusals.get(way, 0) + 1
        if self.refusals[way] >= _REFUSALS:
            for number, own in enumerate(self.way_of_unit):
                if own == way:
                    self.key[self._rows_of(number)] = np.inf

    def _below(self, limit: float, family: str | None = None) -> list[int]:
        """The rows whose value is at most a limit."""
        found: list[int] = []
        for number, unit in enumerate(self.units):
            if family in (None, unit.supply.family):
                own = self._rows_of(number)
                found += (np.flatnonzero(self.key[own] <= limit) + own.start).tolist()
        return found

    def _least(self, family: str | None = None) -> int:
        """The row of least value. Within a millionth plans are equal: then the simpler way to save, the smaller bill."""
        rows = self.rows

        def order(at: int) -> tuple[float, ...]:
            way, bill, waste = self.way_at(at), float(rows.usd_per_month[at]), float(rows.waste_fraction[at])
            return (way, bill, waste) if self.objective == COST else (bill, way, waste)

        return min(self._below(self.best_of(family) * (1.0 + EQUAL_FRACTION), family), key=order)

    def picked(self, search: Search) -> _Picked:
        """Winner, near ties, the best of each family, frontier."""
        value = self.best_of()
        if not np.isfinite(value):
            return _Picked(None, (), (), ())
        best = self._least()
        near = np.flatnonzero(self.key <= value * (1.0 + search.within_fraction))
        if near.size > MOST_TIES + 1:
            near = near[np.argpartition(self.key[near], MOST_TIES)[: MOST_TIES + 1]]
        ties = near[np.lexsort((self.rows.usd_per_month[near], self.key[near]))]
        kinds = dict.fromkeys(unit.supply.family for unit in self.units)
        families = [self._least(kind) for kind in kinds if np.isfinite(self.best_of(kind))]
        return _Picked(
            best,
            tuple(int(at) for at in ties if at != best)[:MOST_TIES],
            tuple(sorted(families, key=lambda at: float(self.key[at]))),
            self._frontier(),
        )

    def judged(self, picked: _Picked) -> tuple[int, ...]:
        """Plans to be worked out whole before they are proposed; of the frontier the two ends of each way to save."""
        ends: dict[tuple[int, bool], int] = {}
        for at in picked.frontier:
            way = self.way_at(at)
            ends.setdefault((way, False), at)
            ends[way, True] = at
        own = () if picked.best is None else (picked.best,)
        return tuple(dict.fromkeys((*own, *picked.families, *picked.ties, *ends.values())))

    def _frontier(self) -> tuple[int, ...]:
        """The plans that none beats in both bill and waste, cheapest first; of many those at even steps of the bill's log."""
        is_long = len(self.rows) > _SORTED_ROWS
        able = self._least_waste_at_steps() if is_long else np.flatnonzero(np.isfinite(self.key))
        bill, waste = self.rows.usd_per_month[able], self.rows.waste_fraction[able]
        order = np.lexsort((waste, bill))
        ahead = np.concatenate(([np.inf], np.minimum.accumulate(waste[order])[:-1]))
        kept = able[order[waste[order] < ahead]]
        if kept.size > MOST_FRONTIER:
            money = np.log(np.maximum(self.rows.usd_per_month[kept], 1e-6))
            steps = np.searchsorted(money, np.linspace(money[0], money[-1], MOST_FRONTIER) * (1.0 - 1e-12))
            kept = kept[np.union1d(np.minimum(steps, kept.size - 1), [0, kept.size - 1])]
        return tuple(int(at) for at in kept)

    def _least_waste_at_steps(self) -> IntArray:
        """Of each bill on a fine grid the plan within it that wastes least. Within a unit the waste falls with the bill."""
        able = [
            np.flatnonzero(np.isfinite(self.key[self._rows_of(number)])) + self.starts[number]
            for number in range(len(self.units))
        ]
        able = [own for own in able if own.size]
        bills = [self.rows.usd_per_month[own] for own in able]
        low, high = min(bill[0] for bill in bills), max(bill[-1] for bill in bills)
        steps = np.geomspace(max(low, 1e-6), max(high, 1e-6), MOST_FRONTIER) * (1.0 + 1e-9)
        waste = np.full((len(able), steps.size), np.inf)
        row = np.zeros(waste.shape, dtype=np.int64)
        for number, (own, bill) in enumerate(zip(able, bills, strict=True)):
            last = np.searchsorted(bill, steps, side="right") - 1
            row[number] = own[np.maximum(last, 0)]
            waste[number] = np.where(last >= 0, self.rows.waste_fraction[row[number]], np.inf)
        return np.unique(row[waste.argmin(axis=0), np.arange(steps.size)])

    def wins_below(self, supply: Supply) -> float | None:
        """The price of a size of 1 below which an unpriced supply would hold the winner. [USD/month] None: never."""
        best = self.best_of()
        if not np.isfinite(best):
            return None
        found = 0.0
        for number, unit in enumerate(self.units):
            if unit.supply.id != supply.id or unit.is_priced:
                continue
            part = self.parts[number]
            left = np.where(part.works, best - part.money_usd_per_year, -np.inf) / MONTHS_PER_YEAR
            found = max(found, float((left / supply.sizes.at(part.index)).max(initial=0.0)))
        return found if found > 0.0 else None
