"""Reading a user's file with bounds: so many bytes, so long a line, from the first to the last once, and no more.

`Head` is what a reader looks at to tell whether it knows the file; `Opened` is what it reads from. Nothing that a file says
is executed, and no other file is opened because of it.
"""

from __future__ import annotations

import json
import re
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any, BinaryIO

from ckptplanner.data.evidence import FileEvidence, Place
from ckptplanner.data.readers.errors import ReaderError, printable
from ckptplanner.text import Text

HEAD_BYTES = 65_536
JSON_CAP_BYTES = 64_000_000
LINE_CAP_BYTES = 1_000_000  # a longer line is cut there
_PIECE = 1 << 19  # less than a line may have
_JSON_BEGINS = re.compile(
    r"""\s*(?:\{\s*(?:["}]|\Z)|\[\s*(?:[\[{"\]]|\Z"""
    r"""|(?:true|false|null|-?\d{1,40}(?:\.\d{1,40})?(?:[eE][-+]?\d{1,5})?)\s*(?:,|\]\s*\Z)))"""
)
_TOO_DEEP = "its JSON is nested too deeply"
Progress = Callable[[float], None]


def _no_progress(_: float) -> None:
    return None


@dataclass(frozen=True)
class Head:
    """The start of a file, by which it is recognised: by its content, not by its name."""

    name: str
    size: int
    start: bytes  # the first HEAD_BYTES

    @property
    def is_whole(self) -> bool:
        """Whether this is all of it."""
        return self.size <= len(self.start)

    @cached_property
    def text(self) -> str:
        """The start as text; empty where it is binary."""
        if b"\x00" in self.start:
            return ""
        return self.start.decode("utf-8-sig", "replace")

    @cached_property
    def lines(self) -> tuple[str, ...]:
        """Its first lines, at most 200, without the one that the end of the start cuts."""
        lines = self.text.splitlines()
        return tuple((lines if self.is_whole else lines[:-1])[:200])

    @cached_property
    def is_json(self) -> bool:
        """Whether it begins like JSON: a line of a log that begins with [2026-11-29 14:00:00] or [rank0]: does not."""
        return _JSON_BEGINS.match(self.text) is not None

    def has(self, *parts: str) -> bool:
        """Whether all these stand in the start."""
        return all(part in self.text for part in parts)


def _split(rest: bytes, whole: bytes, is_first: bool) -> list[str]:
    """The lines of a piece, the first of them begun in the piece before; a quarter of a second for a gigabyte."""
    if len(rest) + len(whole) > LINE_CAP_BYTES:
        head, newline, tail = whole.partition(b"\n")
        whole, rest = (rest + head)[:LINE_CAP_BYTES] + newline + tail, b""
    words = (rest + whole).decode("utf-8-sig" if is_first else "utf-8", "replace")
    lines = words.split("\n")
    return [line.rstrip("\r") for line in lines] if "\r" in words else lines


class Opened:
    """One regular file, opened for one reader."""

    def __init__(self, path: Path, name: str, head: Head, progress: Progress = _no_progress) -> None:
        self.path, self.name, self.head = path, name, head
        self._progress = progress

    @property
    def size(self) -> int:
        """How many bytes it has. [B]"""
        return self.head.size

    @cached_property
    def date(self) -> str:
        """The day on which it was last written, YYYY-MM-DD, in UTC."""
        return datetime.fromtimestamp(self.path.stat().st_mtime, UTC).strftime("%Y-%m-%d")

    def place(self, where: str = "") -> Place:
        """A place in this file."""
        return Place(self.name, where)

    def refuse(self, what: str, line: int | None = None) -> ReaderError:
        """One sentence with the file, the line and what is wrong."""
        where = self.name if line is None else f"{self.name}, line {line}"
        return ReaderError(f"{where}: {what}.")

    def lines(self) -> Iterator[tuple[int, str]]:
        """Numbered lines without their ends, in one pass; a line longer than a megabyte is cut. For logs of any size.

        Raises:
            ReaderError: it cannot be read, or it turns out to be binary.
            what `progress` raises: the user has stopped it.
        """
        number, rest = 0, b""
        for piece in self.pieces():
            if b"\x00" in piece:
                line = number + 1 + piece[: piece.index(b"\x00")].count(b"\n")
                raise self.refuse("there are zero bytes in it, so it is no text", line)
            end = piece.rfind(b"\n") + 1
            if end == 0:
                rest = (rest + piece)[:LINE_CAP_BYTES]
                continue
            for line_text in _split(rest, piece[: end - 1], is_first=number == 0):
                number += 1
                yield number, line_text
            rest = piece[end:]
        if rest:
            yield number + 1, _split(rest, b"", is_first=number == 0)[0]

    def pieces(self) -> Iterator[bytes]:
        """Its bytes, half a megabyte at a time. For JSON of any size.

        Raises:
            ReaderError: it cannot be read.
            what `progress` raises: the user has stopped it.
        """
        try:
            file = self.path.open("rb")
        except OSError as error:
            raise self._unreadable(error) from None
        seen = 0
        with file:
            while piece := self._piece(file):
                seen += len(piece)
                self._progress(min(seen / max(self.size, 1), 1.0))  # what it raises is no trouble of the file
                yield piece

    def _piece(self, file: BinaryIO) -> bytes:
        try:
            return file.read(_PIECE)
        except OSError as error:
            raise self._unreadable(error) from None

    def _unreadable(self, error: OSError) -> ReaderError:
        return self.refuse(f"it cannot be read ({error.strerror})")

    def content(self, cap_bytes: int) -> bytes:
        """All its bytes, where there are no more than `cap_bytes`."""
        if self.size > cap_bytes:
            raise self.refuse(f"it has {self.size:,} bytes, where at most {cap_bytes:,} are expected")
        try:
            with self.path.open("rb") as file:
                raw = file.read(cap_bytes + 1)
        except OSError as error:
            raise self._unreadable(error) from None
        if len(raw) > cap_bytes:
            raise self.refuse(f"it grew beyond {cap_bytes:,} bytes while it was read")
        return raw

    def json(self, cap_bytes: int = JSON_CAP_BYTES) -> Any:
        """The first JSON value in it; what stands before its first bracket, and behind it, is left out.

        NaN and Infinity are refused like any other text that is no JSON.
        """
        words = self._words(cap_bytes)
        first = min((at for at in (words.find("{"), words.find("[")) if at >= 0), default=-1)
        if first < 0:
            raise self.refuse("there is no JSON in it")
        return self._decoded(words, first)[0]

    def objects(self, first_key: str, cap_bytes: int = JSON_CAP_BYTES) -> Iterator[dict[str, Any]]:
        """The JSON objects that begin with this key, wherever they stand; what is around them is left out.

        For tools that print text with brackets of its own before their JSON, or one JSON after another.
        """
        words, at = self._words(cap_bytes), 0
        begins = re.compile(r"\{\s*" + re.escape(json.dumps(first_key)) + r"\s*:")
        while found := begins.search(words, at):
            value, at = self._decoded(words, found.start())
            yield value

    def _words(self, cap_bytes: int) -> str:
        try:
            return self.content(cap_bytes).decode("utf-8-sig")
        except UnicodeDecodeError:
            raise self.refuse("this is no UTF-8 text") from None

    def _decoded(self, words: str, at: int) -> tuple[Any, int]:
        """The JSON value that begins there, and where it ends."""
        try:
            return _DECODER.raw_decode(words, at)
        except json.JSONDecodeError as error:
            raise self.refuse(f"this is no JSON ({error.msg})", error.lineno) from None
        except RecursionError:
            raise self.refuse(_TOO_DEEP) from None
        except ValueError as error:  # NaN, and integers of thousands of digits
            raise self.refuse(f"this is no JSON ({str(error)[:60]})") from None


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a number")


_DECODER = json.JSONDecoder(parse_constant=_no_constant)


@dataclass(frozen=True, slots=True)
class Reader:
    """One kind of file: how it is recognised and how it is read. Both may raise nothing but ReaderError."""

    id: str
    title: Text
    knows: Callable[[Head], bool]
    read: Callable[[Opened], FileEvidence]


def open_file(path: Path, name: str | None = None, progress: Progress = _no_progress) -> Opened:
    """Open a regular file for a reader; devices, pipes and what cannot be read are refused in one sentence."""
    shown = printable(path.name if name is None else name)
    try:
        status = path.stat()
        if stat.S_ISREG(status.st_mode):
            with path.open("rb") as file:
                start = file.read(HEAD_BYTES)
    except OSError as error:
        raise ReaderError(f"{shown}: it cannot be read ({error.strerror}).") from None
    except ValueError:
        raise ReaderError(f"{shown}: this is no name of a file.") from None
    if not stat.S_ISREG(status.st_mode):
        raise ReaderError(f"{shown}: this is no regular file.")
    return Opened(path, shown, Head(shown, status.st_size, start), progress)
