"""The start: one fresh process opens the first example to its first paint, without what only later work needs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
EXAMPLE = ROOT / "resources/examples/nemotron-3.5-super.ckptplan.json"


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> frozenset[str]:
    """The names of all modules once the plan and its plots have been painted."""
    done = subprocess.run(
        [sys.executable, str(ROOT / "tests/bench/first_paint.py"), "--plots", str(EXAMPLE)],
        env=os.environ | {"XDG_CONFIG_HOME": str(tmp_path_factory.mktemp("home")), "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    _clock, _cpu, *modules = done.stdout.split()
    return frozenset(modules)


def test_the_window_is_painted(loaded: frozenset[str]) -> None:
    assert "ckptplanner.ui.main_window" in loaded
    assert "pyqtgraph" in loaded


@pytest.mark.parametrize(
    "module",
    [
        "pandas",
        "scipy",
        "matplotlib",
        "PySide6.QtPrintSupport",
        "ckptplanner.ui.background",
        "ckptplanner.ui.check.page",
        "ckptplanner.engine.simulation.run",
        "ckptplanner.ui.evidence_view",
        "ckptplanner.engine.published",
        "ckptplanner.ui.decide_view",
        "ckptplanner.ui.decide.best_page",
        "ckptplanner.ui.frontier_page",
        "ckptplanner.engine.compare",
        "ckptplanner.engine.campaign",
        "ckptplanner.engine.requirement",
        "ckptplanner.engine.optimise",
        "ckptplanner.engine.flips",
        "ckptplanner.engine.regret",
        "ckptplanner.ui.break_even",
        "ckptplanner.ui.bench",
        "ckptplanner.engine.flip_words",
        "concurrent.futures",
        "ckptplanner.engine.settings.registry",
        "ckptplanner.ui.apply.dialog",
    ],
)
def test_the_first_paint_does_not_wait_for(module: str, loaded: frozenset[str]) -> None:
    assert module not in loaded
