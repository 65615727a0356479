"""What all tests share: no screen is needed, Qt must not find another binding; and one way to run a command."""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
os.environ.setdefault("PYQTGRAPH_QT_LIB", "PySide6")

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs a command and returns its exit code, standard output and standard error."""
    from ckptplanner import cli

    def run_one(*arguments: object) -> tuple[int, str, str]:
        try:
            code = cli.main([str(one) for one in arguments])
        except SystemExit as ended:
            code = ended.code if isinstance(ended.code, int) else 1
        out, err = capsys.readouterr()
        return code, out, err

    return run_one
