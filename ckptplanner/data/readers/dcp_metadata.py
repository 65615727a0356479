"""Reads the `.metadata` of a torch.distributed.checkpoint folder: what its tensors are, without running what it says.

    parent (here) -- starts --> child (dcp_child.py: allow-list, limits) -- one line of JSON --> parent checks it

A pickle is a program. It is looked at in a process of its own that has next to nothing to call, no input, no environment and
limits on time, memory and answer; whatever becomes of it, the parent has either checked sums or one sentence.
In a packaged program, which has no interpreter to start, the program itself is started with CHILD_FLAG.
Source: torch 2.13.0 `torch/distributed/checkpoint/metadata.py`, `filesystem.py`; read 2026-11-29.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from ckptplanner.data.readers.dcp_child import DTYPE_BYTES, FILE_CAP_BYTES, LARGEST
from ckptplanner.data.readers.errors import ReaderError, printable
from ckptplanner.data.readers.source import Progress

CHILD_FLAG = "--read-checkpoint-metadata"
ANSWER_CAP_BYTES = 16_000_000
_MEMORY_BYTES, _MEMORY_PER_BYTE, _MEMORY_CAP_BYTES = 300_000_000, 16, 6_000_000_000
_SECONDS, _BYTES_PER_SECOND = 20, 4_000_000
_KEPT_ENVIRONMENT = ("SYSTEMROOT", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")  # without which some interpreters do not start
_PARTS = frozenset({"weights", "master", "moments", "optimizer", "buffers", "other"})

_REFUSALS = {
    "too large": f"it has more than {FILE_CAP_BYTES:,} bytes",
    "memory": "reading it takes more memory than it may",
}


@dataclass(frozen=True, slots=True)
class Sum:
    """All tensors of one part and type."""

    part: str  # weights, master, moments, optimizer, buffers, other
    dtype: str
    elements: int
    tensors: int

    @property
    def size_bytes(self) -> int:
        """What they take. [B]"""
        return self.elements * DTYPE_BYTES[self.dtype]


@dataclass(frozen=True, slots=True)
class Metadata:
    """What one `.metadata` says about its checkpoint."""

    sums: tuple[Sum, ...]
    moments: tuple[str, ...]  # their names
    blobs: int  # entries that are no tensors
    blob_bytes: int
    files: Mapping[str, int]  # data file -> bytes that it must have at least
    files_left_out: int

    def elements(self, part: str) -> int:
        """Elements of one part, all types."""
        return sum(row.elements for row in self.sums if row.part == part)

    def size_bytes(self, *parts: str) -> int:
        """Bytes of tensors, of all parts where none is named. [B]"""
        return sum(row.size_bytes for row in self.sums if not parts or row.part in parts)


def read_metadata(path: Path, name: str, progress: Progress) -> Metadata:
    """Read one `.metadata` in a child process.

    Args:
        path: The file; it is opened by the child alone.
        name: What messages call it.
        progress: Called while the child works; what it raises ends the child.

    Raises:
        ReaderError: too large, hostile, broken, or not done within the limits; one sentence.
    """
    try:
        size = path.stat().st_size
    except OSError as error:
        raise ReaderError(f"{name}: it cannot be read ({error.strerror}).") from None
    if size > FILE_CAP_BYTES:
        raise ReaderError(f"{name}: it has {size:,} bytes, where at most {FILE_CAP_BYTES:,} are expected.")
    seconds = _SECONDS + size // _BYTES_PER_SECOND
    memory = min(_MEMORY_BYTES + _MEMORY_PER_BYTE * size, _MEMORY_CAP_BYTES)
    raw = _ask([*_program(), str(path.absolute()), str(memory), str(seconds)], name, seconds, progress)
    try:
        answer = json.loads(raw)
    except (ValueError, RecursionError):
        raise ReaderError(f"{name}: reading it ended early, where the pickle of a checkpoint's metadata is expected.") from None
    return _checked(answer, name)


def _program() -> list[str]:
    if getattr(sys, "frozen", False):
        return [sys.executable, CHILD_FLAG]
    return [sys.executable, "-I", "-S", "-B", "-X", "utf8", str(Path(__file__).with_name("dcp_child.py"))]


def _ask(command: list[str], name: str, seconds: float, progress: Progress) -> bytes:
    """Run the child; its answer, or nothing where it ended without one."""
    environment = {key: os.environ[key] for key in _KEPT_ENVIRONMENT if key in os.environ}
    try:
        child = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )
    except (OSError, ValueError) as error:
        raise ReaderError(f"{name}: no process could be started to read it ({type(error).__name__}).") from None
    assert child.stdout is not None
    answer: list[bytes] = []
    listener = threading.Thread(target=_listen, args=(child.stdout, answer), daemon=True)
    started = time.monotonic()
    try:
        listener.start()
        while listener.is_alive():
            listener.join(0.05)
            spent = time.monotonic() - started
            if spent > seconds:
                raise ReaderError(f"{name}: reading it takes more than the {seconds:,.0f} s that it may.")
            progress(min(spent / seconds, 1.0))
    finally:
        child.kill()
        child.wait()
        listener.join()
        child.stdout.close()
    if len(answer[0]) > ANSWER_CAP_BYTES:
        raise ReaderError(f"{name}: it names more data files than can be looked at.")
    return answer[0]


def _listen(pipe: IO[bytes], answer: list[bytes]) -> None:
    answer.append(pipe.read(ANSWER_CAP_BYTES + 1))


def _is_count(value: object) -> bool:
    return type(value) is int and 0 <= value <= LARGEST * 2


def _is_sum(row: object) -> bool:
    return (
        isinstance(row, list)
        and len(row) == 4
        and isinstance(row[0], str)
        and row[0] in _PARTS
        and isinstance(row[1], str)
        and row[1] in DTYPE_BYTES
        and _is_count(row[2])
        and _is_count(row[3])
    )


def _checked(answer: Any, name: str) -> Metadata:
    """The child's answer as a record; a refusal as a sentence."""
    if not isinstance(answer, dict):
        raise ReaderError(f"{name}: reading it gave no sums.")
    if (why := answer.get("refused")) is not None:
        what = printable(str(answer.get("what", "")))
        if why == "asks for":
            raise ReaderError(f"{name}: it asks for {what}, where only what describes tensors is expected.")
        known = _REFUSALS.get(str(why), f"this is broken ({what})")
        raise ReaderError(f"{name}: {known}, where the pickle of a checkpoint's metadata is expected.")
    sums, files, moments = (_rows(answer.get(key)) for key in ("sums", "files", "moments"))
    counts = [answer.get(key) for key in ("blobs", "blob_bytes", "files_left_out")]
    is_good = (
        all(map(_is_sum, sums))
        and all(isinstance(row, list) and len(row) == 2 and type(row[0]) is str and _is_count(row[1]) for row in files)
        and all(map(_is_count, counts))
    )
    if not is_good:
        raise ReaderError(f"{name}: reading it gave no sums.")
    blobs, blob_bytes, left_out = (int(count or 0) for count in counts)
    named = tuple(printable(str(moment)) for moment in moments)
    return Metadata(tuple(Sum(*row) for row in sums), named, blobs, blob_bytes, dict(files), left_out)


def _rows(value: object) -> list[Any]:
    return value if isinstance(value, list) else []
