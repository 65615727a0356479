"""Where simulations and searches work: in this process, in threads or processes of this machine, or on a Dask cluster."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from concurrent.futures import Executor

HERE = ("threads", "processes")
CONNECT_S = 10.0
_DASK = re.compile(r"dask://(\[[0-9A-Fa-f:.]+\]|[^\s/:\[\]]+):(\d{1,5})")


class ExecutorError(Exception):
    """A cluster that cannot be used; one sentence says why."""


def add_executor(command: argparse.ArgumentParser) -> None:
    """The option that every command takes whose work can be shared out."""
    command.add_argument(
        "--executor",
        metavar="WHERE",
        type=_kind,
        help="threads, processes, or a Dask cluster by its scheduler: dask://HOST:PORT",
    )


def _kind(written: str) -> str:
    if written in HERE or _DASK.fullmatch(written):
        return written
    raise argparse.ArgumentTypeError(f"{written!r}: threads, processes or dask://HOST:PORT is expected")


@contextmanager
def executor_of(kind: str | None) -> Iterator[Executor | None]:
    """An executor for as long as the block lasts; None works here.

    Raises:
        ExecutorError: Dask is not installed, or its scheduler does not answer.
    """
    if kind is None:
        yield None
    elif kind in HERE:
        from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

        with (ThreadPoolExecutor if kind == "threads" else ProcessPoolExecutor)(os.cpu_count()) as executor:
            yield executor
    else:
        yield from _on_dask(kind)


def _on_dask(kind: str) -> Iterator[Executor]:
    """The workers of a cluster; they need this package, of the same version."""
    try:
        distributed = import_module("distributed")
    except ImportError:
        raise ExecutorError(f"{kind}: Dask is not installed here; install ckptplanner[cluster]") from None
    found = _DASK.fullmatch(kind)
    assert found is not None
    try:
        client = distributed.Client(f"tcp://{found[1]}:{found[2]}", timeout=CONNECT_S)
    except (OSError, ValueError) as error:
        raise ExecutorError(f"{kind}: no Dask scheduler answers there ({type(error).__name__})") from None
    with client:
        yield client.get_executor()
