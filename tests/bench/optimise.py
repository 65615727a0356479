"""A million plans ranked, against the bare arithmetic of the same formulas in numpy, in the same run.

`make bench-optimise` searches a large cluster (10 T parameters on 16,384 nodes) over every legal size of Persistent 2 in both
modes, and writes the same formulas down once more without the planner: sizes -> rate -> write time -> T* -> exact waste ->
dollars -> the least. Both go through pieces that stay in the cache. Best of five; exits 1 above three times the arithmetic,
or where the two disagree about the winner.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from ckptplanner.engine.families import Supply, supplies
from ckptplanner.engine.job import job_of
from ckptplanner.engine.optimise import Search, _Run, _Table
from ckptplanner.engine.scenario import Scenario
from ckptplanner.frozen import with_value

MOST_RATIO, PLANS = 3.0, 1_000_000
ROUNDS, PIECE = 5, 8_192
CASE: dict[str, Any] = {
    "workload.total_params": 10e12,
    "workload.nodes": 16_384,
    "failures.mtbi_nodes": 16_384,
    "failures.mtbi_s": 36_000.0,
}
SEARCH = Search(families=("fsx-p2",), levels="single", most_sizes=10_000_000)


def case() -> Scenario:
    scenario = Scenario()
    for path, value in CASE.items():
        scenario = with_value(scenario, path, value)
    return scenario


def bare(scenario: Scenario, supply: Supply, mode: str, first: int, last: int) -> tuple[int, float]:
    """The least total of some sizes: how many there were, and what it is. [USD/year]"""
    job = job_of(scenario)
    size, mtbi, blocking = job.checkpoint_bytes, job.mtbi_s, scenario.storage.blocking_s
    tau, step = supply.write_bytes_per_s, supply.sizes.step
    small = len(supply.sizes.small)
    best, count = math.inf, 0
    for start in range(first, last + 1, PIECE):
        index = np.arange(start, min(start + PIECE, last + 1), dtype=float)
        gib = np.where(index < small, supply.sizes.small[0] if small else 0.0, (index - small + 1.0) * step)
        rate = gib * tau
        client = np.minimum(supply.client_bytes_per_s, np.ceil(gib / step) * supply.client_server_bytes_per_s)
        reach = scenario.workload.nodes * client
        write = size / np.minimum(rate, reach)
        if supply.needs_efa is False:
            write = np.maximum(write, size / 10e9)
        allowed = (size / write > 10e9) if supply.needs_efa else np.isfinite(write)
        read = size / np.minimum(rate, reach)
        stop = write if mode == "sync" else np.full_like(write, blocking)
        behind = np.zeros_like(write) if mode == "sync" else write
        c = (stop if mode == "sync" else stop[:1]) / mtbi
        s = np.sqrt(2.0 * c)
        x = np.where(c < 1.0, s + s**2 / 6.0 + s**3 / 36.0, 1.0 + c)
        for _ in range(8):
            low = np.minimum(x, 0.02)
            series = low**2 * (0.5 - low * (1 / 6 - low * (1 / 24 - low * (1 / 120 - low / 720))))
            x = x - (np.where(x < 0.02, series, x + np.expm1(-x)) - c) / -np.expm1(-x)
        interval = np.minimum(np.maximum(x * mtbi, stop + behind), job.run_s)
        restart = job.restart_base_s + read
        period = np.maximum(interval, stop + behind)
        goodput = (interval - stop) / mtbi * np.exp(-(interval + behind + restart) / mtbi) / -np.expm1(-period / mtbi)
        waste = np.clip(1.0 - goodput, 0.0, 1.0)
        worst = period + stop + behind
        money = 8760.0 * job.gpus * job.gpu_value_usd_per_h * waste + 12.0 * gib * supply.usd_per_month
        works = allowed & (interval > stop) & (waste <= 0.95) & (mtbi > restart) & (mtbi > stop) & np.isfinite(worst)
        works &= stop + behind <= job.run_s
        best = min(best, float(np.where(works, money, np.inf).min()))
        count += index.size
    return count, best


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    began = time.perf_counter()
    found = work()
    return time.perf_counter() - began, found


def main() -> int:
    """Rank both ways, print, judge."""
    scenario = case()
    job = job_of(scenario)
    found, _ = supplies(scenario, job, families=("fsx-p2",))
    share = min(1.0, PLANS / 2 / sum(one.last - one.first + 1 for one in found))
    cut = [(one, one.first + math.ceil((one.last - one.first + 1) * share) - 1) for one in found]

    def by_numpy() -> tuple[int, float]:
        parts = [bare(scenario, one, mode, one.first, last) for one, last in cut for mode in ("async", "sync")]
        return sum(count for count, _ in parts), min(least for _, least in parts)

    def by_planner() -> tuple[int, float]:
        run = _Run(scenario, SEARCH, None)
        ends = {one.id: last for one, last in cut}
        looks = [np.arange(unit.supply.first, ends[unit.supply.id] + 1, dtype=float) for unit in run.units]
        rows = run.figures(list(zip(run.units, looks, strict=True)))
        table = _Table(run.units, rows, [len(look) for look in looks], run.objective)
        picked = table.picked(SEARCH)
        assert picked.best is not None
        return len(table.rows), float(table.rows.money_usd_per_year[picked.best])

    plain, planned = math.inf, math.inf
    for _ in range(ROUNDS):
        seconds, (count, least) = timed(by_numpy)
        plain = min(plain, seconds)
        seconds, (ranked, best) = timed(by_planner)
        planned = min(planned, seconds)
    ratio = planned / plain
    agree = count == ranked and abs(best / least - 1.0) <= 2e-6
    print(f"{ranked:,} plans ranked in {planned:.2f} s, the bare arithmetic takes {plain:.2f} s: {ratio:.2f} times")
    print(f"least total: {best:,.0f} and {least:,.0f} $ a year")
    holds = ratio <= MOST_RATIO and agree and ranked >= PLANS
    print(f"at most {MOST_RATIO:g} times, a million plans, the same winner: {'holds' if holds else 'does NOT hold'}")
    return int(not holds)


if __name__ == "__main__":
    sys.exit(main())
