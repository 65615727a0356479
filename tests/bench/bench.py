"""How fast the planner is, as ratios to a baseline measured in the same run, so that they hold on any machine.

    edit    store.edit of the stop time to the painted window     against repaint() of the same window, data unchanged
    drag    the same for the write time
    curves  engine.curves.curves, 8 file systems x 512 points      against the same formulas as bare numpy, checked equal
    start   exec to the first painted plan (the headline)          against an empty window with one pyqtgraph plot

`make bench` prints a table and exits 1 when a limit is passed. `--profile edit|drag|curves|start` shows where time goes.
"""

from __future__ import annotations

import argparse
import cProfile
import gc
import os
import pstats
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from pathlib import Path

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "resources/examples/nemotron-3.5-super.ckptplan.json"
FIRST_PAINT = Path(__file__).with_name("first_paint.py")
REPEATS, STARTS = 40, 9


@dataclass(frozen=True)
class Time:
    """Medians. [s]"""

    cpu: float
    wall: float


@dataclass(frozen=True)
class Row:
    """One comparison; no limit means that it is only reported. The verdict is on CPU time, except for the start."""

    name: str
    baseline: Time
    measured: Time
    limit: float | None
    by_wall: bool = False

    @property
    def ratio(self) -> float:
        """What the limit is about."""
        kind = "wall" if self.by_wall else "cpu"
        return float(getattr(self.measured, kind) / getattr(self.baseline, kind))

    @property
    def is_passed(self) -> bool:
        """Whether it is slower than it may be."""
        return self.limit is not None and self.ratio > self.limit


def medians(work: Callable[[], object], repeats: int = REPEATS) -> Time:
    """Run once for warmth, then take medians."""
    work()
    gc.collect()
    cpu, wall = [], []
    for _ in range(repeats):
        before = time.process_time(), time.perf_counter()
        work()
        cpu.append(time.process_time() - before[0])
        wall.append(time.perf_counter() - before[1])
    return Time(statistics.median(cpu), statistics.median(wall))


# ---------------------------------------------------------------- window


class Bench:
    """The window on the first example, shown and at rest."""

    def __init__(self) -> None:
        import pyqtgraph as pg
        from PySide6.QtCore import QSettings

        from ckptplanner.engine.workbook_file import read
        from ckptplanner.ui.app import application
        from ckptplanner.ui.main_window import MainWindow
        from ckptplanner.ui.plots.write_time import WriteTimePlots
        from ckptplanner.ui.store import Store
        from ckptplanner.ui.theme import LIGHT, apply_theme

        self._plots, self._paints = None, 0
        self._count_paints(pg.GraphicsView)
        self.app = application()
        apply_theme(self.app, LIGHT)
        self._store = Store(read(EXAMPLE))
        self._settings = tempfile.TemporaryDirectory()
        file = str(Path(self._settings.name, "settings.ini"))
        self.window = MainWindow(self._store, QSettings(file, QSettings.Format.IniFormat))
        self.window.show()
        self.window.complete()
        self._plots = self.window.findChild(WriteTimePlots).findChild(pg.GraphicsView)
        self._values = count(1)
        self.settle()

    def _count_paints(self, view: type) -> None:
        real = view.paintEvent  # type: ignore[attr-defined]

        def painted(plots: object, event: object) -> None:
            self._paints += plots is self._plots
            real(plots, event)

        view.paintEvent = painted  # type: ignore[attr-defined]

    def settle(self) -> None:
        """Let the window do all it has to do."""
        for _ in range(3):
            self.app.processEvents()

    def repaint(self) -> None:
        """The baseline: the whole window again, nothing changed."""
        self.window.repaint()
        self.app.processEvents()

    def _change(self, path: str, value: float) -> None:
        before, plan = self._paints, self._store.workbook
        self._store.edit(path, value)
        self.app.processEvents()
        assert self._store.workbook is not plan, "the edit was refused"
        assert self._paints > before, "the plots were not painted"

    def edit(self) -> None:
        """A stop time that was not there before: every curve is another one."""
        self._change("storage.blocking_s", 5.0 + next(self._values) * 0.01)

    def drag(self) -> None:
        """A write time that was not there before: the curves stay."""
        self._change("storage.write_s", 300.0 + next(self._values))


# ---------------------------------------------------------------- curves


def bare_curves(scenario, grid):  # type: ignore[no-untyped-def]
    """docs/models.md 3, 6 and 8 written out once more with plain arrays (8, 512): what the engine's curves need at least."""
    import numpy as np

    work, fail, stor, prices = scenario.workload, scenario.failures, scenario.storage, scenario.prices
    size = work.total_params * work.bytes_per_param
    mtbi = fail.mtbi_s * fail.mtbi_nodes / work.nodes
    gpus = work.nodes * work.gpus_per_node
    tiers = stor.tiers
    tau, step, small, limit, server, price, efa = np.array(
        [
            (
                t.throughput_mb_per_s_per_tib,
                t.step_gib,
                t.small_gib or 0.0,
                150e9 if t.efa and work.node.fsx_gds else t.client_bytes_per_s,
                t.client_server_bytes_per_s or np.inf,
                prices.storage_usd_per_gib_month.at(t.throughput_mb_per_s_per_tib),
                t.efa,
            )
            for t in tiers
        ],
        dtype=float,
    ).T[:, :, None]
    rate = size / grid
    need = np.maximum(stor.generations_kept * size / 2**30, 1000.0 * rate / 1e6 / tau)
    capacity = np.where(need <= small, small, step * np.ceil(need / step - 1e-9))
    baseline = capacity / 1000.0 * tau * 1e6
    usd = capacity * price
    client = np.minimum(limit, np.ceil(capacity / step) * server)
    usable = ((efa > 0) == (rate > 10e9)) & (work.nodes * client >= rate * (1 - 1e-9))
    restart = fail.detect_s + fail.reschedule_s + fail.start_s + size / np.minimum(baseline, work.nodes * client)
    everywhere = np.zeros_like(capacity)
    result = {"capacity": capacity, "usd": usd, "usable": usable}
    value = (prices.node_usd_per_h / work.gpus_per_node) if prices.gpu_value_usd_per_h is None else prices.gpu_value_usd_per_h
    for mode, stop, behind in (
        ("sync", grid + everywhere, everywhere),
        ("async", stor.blocking_s + everywhere, grid + everywhere),
    ):
        c = stop / mtbi
        x = np.sqrt(2 * c) + c / 3
        for _ in range(8):
            x = x - (x + np.expm1(-x) - c) / -np.expm1(-x)
        interval = np.maximum(x * mtbi, stop + behind)
        first = stop / interval + (interval / 2 + stop + behind + restart) / mtbi
        kept = (interval - stop) / mtbi * np.exp(-(interval + behind + restart) / mtbi) / -np.expm1(-interval / mtbi)
        exact = 1.0 - kept
        total = usd + 8760 * gpus * value * exact / 12
        cheapest = np.where(usable, usd, np.inf).argmin(axis=0)
        result |= {f"{mode} interval": interval, f"{mode} first": first, f"{mode} exact": exact, f"{mode} total": total}
        result["cheapest"] = cheapest
    return result


def check_equal(scenario, grid) -> None:  # type: ignore[no-untyped-def]
    """The bare arithmetic must give what the engine gives, or the ratio means nothing."""
    import numpy as np

    from ckptplanner.engine.curves import curves

    bare, full = bare_curves(scenario, grid), curves(scenario, grid)
    pairs = [("capacity", full.capacity_gib), ("usd", full.usd_per_month), ("usable", full.usable)]
    for mode, found in (("sync", full.sync), ("async", full.run_async)):
        pairs += [
            (f"{mode} interval", found.interval_s),
            (f"{mode} first", found.first_order_fraction),
            (f"{mode} exact", found.exact_fraction),
            (f"{mode} total", found.total_usd_per_month),
        ]
    for name, values in pairs:
        np.testing.assert_allclose(np.where(np.isnan(values), np.nan, bare[name]), values, rtol=1e-9, err_msg=name)


def curve_rows() -> list[Row]:
    """The engine's curves against the bare arithmetic."""
    from ckptplanner.engine import curves as engine
    from ckptplanner.engine.workbook_file import read

    scenario = read(EXAMPLE).shown.scenario
    grid = engine.default_grid_s(scenario)
    check_equal(scenario, grid)
    bare = medians(lambda: bare_curves(scenario, grid))
    low, high = float(grid[0]), float(grid[-1])
    return [
        Row("curves", bare, medians(lambda: engine.curves(scenario, grid)), 5.0),
        Row("  of it the least total", bare, medians(lambda: engine.least_total(scenario, low, high)), None),
    ]


# ---------------------------------------------------------------- start


def start(*arguments: str) -> Time:
    """One fresh process until its first paint."""
    with tempfile.TemporaryDirectory() as home:
        environment = os.environ | {"XDG_CONFIG_HOME": home, "PYTHONPATH": str(ROOT)}
        began = time.monotonic()
        done = subprocess.run(
            [sys.executable, str(FIRST_PAINT), *arguments], env=environment, capture_output=True, text=True, check=True
        )
    painted, cpu = map(float, done.stdout.split()[:2])
    return Time(cpu, painted - began)


def start_rows() -> list[Row]:
    """The program and the empty window by turns, after one turn that warms the caches."""
    rounds = [(start(), start(str(EXAMPLE)), start("--plots", str(EXAMPLE))) for _ in range(STARTS + 1)][1:]
    empty, plan, plots = (
        Time(statistics.median(one.cpu for one in kind), statistics.median(one.wall for one in kind))
        for kind in zip(*rounds, strict=True)
    )
    return [
        Row("start, plan on screen", empty, plan, 1.5, by_wall=True),
        Row("  with its plots", empty, plots, None, by_wall=True),
    ]


# ---------------------------------------------------------------- report


def rows() -> list[Row]:
    """Every comparison; processes first, while this one is small."""
    found = [*start_rows(), *curve_rows()]
    bench = Bench()
    baseline = medians(bench.repaint)
    found += [Row("edit", baseline, medians(bench.edit), 3.0), Row("drag", baseline, medians(bench.drag), None)]
    return found


def table(found: list[Row]) -> str:
    """What people read."""
    lines = [
        f"{'':<24}{'baseline ms':>20}{'measured ms':>20}{'ratio':>8}{'limit':>7}",
        f"{'':<24}{'CPU     wall':>20}{'CPU     wall':>20}",
    ]
    for row in found:
        times = "".join(f"{1e3 * one.cpu:>11.1f}{1e3 * one.wall:>9.1f}" for one in (row.baseline, row.measured))
        limit = "" if row.limit is None else f"{row.limit:.1f}"
        lines.append(f"{row.name:<24}{times}{row.ratio:>8.2f}{limit:>7}{'  TOO SLOW' if row.is_passed else ''}")
    return "\n".join(lines)


def profile(name: str) -> None:
    """Show where the time of one of them goes."""
    if name == "start":
        subprocess.run([sys.executable, str(FIRST_PAINT), "--profile", str(EXAMPLE)], check=True)
        return
    if name == "curves":
        from ckptplanner.engine import curves as engine
        from ckptplanner.engine.workbook_file import read

        scenario = read(EXAMPLE).shown.scenario
        grid = engine.default_grid_s(scenario)
        work: Callable[[], object] = lambda: engine.curves(scenario, grid)  # noqa: E731
    else:
        work = getattr(Bench(), name)
    work()
    profiler = cProfile.Profile()
    profiler.enable()
    for _ in range(REPEATS):
        work()
    profiler.disable()
    pstats.Stats(profiler).sort_stats("cumulative").print_stats(40)


def main() -> int:
    """Measure, print, judge."""
    parser = argparse.ArgumentParser(description="Ratios against limits.")
    parser.add_argument("--profile", choices=("edit", "drag", "curves", "start"))
    options = parser.parse_args()
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    os.environ.setdefault("PYQTGRAPH_QT_LIB", "PySide6")
    sys.path.insert(0, str(ROOT))
    if options.profile:
        profile(options.profile)
        return 0
    found = rows()
    print(table(found))
    return int(any(row.is_passed for row in found))


if __name__ == "__main__":
    sys.exit(main())
