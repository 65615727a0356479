"""JSON of any size, one value at a time: documents one behind another, and the members of objects deep in a large one.

    documents(opened)                               {...} {...} {...}           one a line, or pretty-printed without commas
    members(opened, {("terms", "OnDemand")})        a file of gigabytes         path, key and value of each member, in order

Only one value is in memory at any time, of at most VALUE_CAP_CHARS. What is not wanted is passed over without being built.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Collection, Iterator
from typing import Any

from ckptplanner.data.readers.errors import ReaderError
from ckptplanner.data.readers.source import Opened

VALUE_CAP_CHARS = 64_000_000
MEMBER_CAP_CHARS = 4_000_000
_KEPT = 1 << 20  # so much is read behind before it is dropped
_SPACE = re.compile(r"[ \t\r\n]*")
_QUIET = re.compile(r'(?:[^"{}\[\]]++|"(?:[^"\\]++|\\.)*+")*+', re.DOTALL)  # up to a bracket, or a string that is cut
_PLAIN = re.compile(r"[^,}\]\s]*")
Keys = tuple[str, ...]


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a number")


_DECODER = json.JSONDecoder(parse_constant=_no_constant)


class _Window:
    """The part of a file that is in memory, and how far it has been read."""

    def __init__(self, opened: Opened) -> None:
        self._opened = opened
        self._pieces = opened.pieces()
        self._decode = codecs.getincrementaldecoder("utf-8")("strict")
        self._text, self._at, self._is_last = "", 0, False
        self._line = 1
        self._more()
        self._text = self._text.removeprefix("\ufeff")

    def refuse(self, what: str) -> ReaderError:
        """One sentence with the line that was reached."""
        return self._opened.refuse(what, self._line + self._text.count("\n", 0, self._at))

    def _more(self) -> bool:
        """Read one more piece; False at the end."""
        if self._is_last:
            return False
        if self._at > _KEPT:
            self._line += self._text.count("\n", 0, self._at)
            self._text, self._at = self._text[self._at :], 0
        piece = next(self._pieces, b"")
        self._is_last = not piece
        try:
            self._text += self._decode.decode(piece, self._is_last)
        except UnicodeDecodeError:
            raise self._opened.refuse("this is no UTF-8 text") from None
        return True

    def peek(self) -> str:
        """The next character that is no space, without taking it; empty at the end."""
        while True:
            found = _SPACE.match(self._text, self._at)
            assert found is not None
            self._at = found.end()
            if self._at < len(self._text):
                return self._text[self._at]
            if not self._more():
                return ""

    def take(self, accepted: str) -> str:
        """The next character, which must be one of these."""
        mark = self.peek()
        if not mark or mark not in accepted:
            raise self.refuse(f"this is no JSON ({' or '.join(accepted)} is expected)")
        self._at += 1
        return mark

    def seek_bracket(self) -> bool:
        """Go on to the first bracket; what stands before it is left out. False where there is none."""
        while (found := re.compile(r"[{\[]").search(self._text, self._at)) is None:
            self._at = len(self._text)
            if not self._more():
                return False
        self._at = found.start()
        return True

    def value(self, cap_chars: int) -> Any:
        """The value that begins here."""
        self.peek()
        while True:
            try:
                value, end = _DECODER.raw_decode(self._text, self._at)
            except json.JSONDecodeError as error:
                why = error.msg
            except RecursionError:
                raise self.refuse("its JSON is nested too deeply") from None
            except ValueError as error:  # NaN, and integers of thousands of digits
                why = str(error)[:60]
            else:
                if end < len(self._text) or self._is_last:  # a number could go on behind the edge
                    self._at = end
                    return value
                why = ""
            if len(self._text) - self._at > cap_chars:
                raise self.refuse(f"one value has more than {cap_chars:,} characters, or this is no JSON ({why})")
            if not self._double() and why:
                raise self.refuse(f"this is no JSON ({why})")

    def _double(self) -> bool:
        """Read on until twice as much lies ahead, so that a long value is not tried at every piece."""
        ahead = len(self._text) - self._at
        grew = False
        while len(self._text) - self._at < 2 * ahead + 1 and self._more():
            grew = True
        return grew

    def skip(self) -> None:
        """Pass over the value that begins here, whatever its size."""
        if self.peek() not in ("{", "["):
            self._skip_plain()
            return
        depth = 0
        while True:
            found = _QUIET.match(self._text, self._at)
            assert found is not None
            self._at = found.end()
            if self._at >= len(self._text) or self._text[self._at] == '"':
                if len(self._text) - self._at > MEMBER_CAP_CHARS or not self._more():
                    raise self.refuse("this is no JSON (it ends within a value)")
                continue
            depth += 1 if self._text[self._at] in "{[" else -1
            self._at += 1
            if depth == 0:
                return

    def _skip_plain(self) -> None:
        self.value(MEMBER_CAP_CHARS)


def documents(opened: Opened) -> Iterator[Any]:
    """The JSON values of a file, one behind another; what stands before the first bracket is left out.

    Raises:
        ReaderError: there is none, or one is broken: those before it have been given by then.
    """
    window = _Window(opened)
    if not window.seek_bracket():
        raise opened.refuse("there is no JSON in it")
    while window.peek() in ("{", "["):
        yield window.value(VALUE_CAP_CHARS)


def members(opened: Opened, wanted: Collection[Keys]) -> Iterator[tuple[Keys, str, Any]]:
    """Path, key and value of the members of the wanted objects, and of plain values at the top; ends with the last of them.

    Args:
        wanted: Paths of objects: ("products",) or ("terms", "OnDemand").
    """
    window = _Window(opened)
    if window.peek() != "{":
        raise window.refuse("this is no JSON object")
    yield from _walk(window, (), {tuple(path) for path in wanted})


def _walk(window: _Window, path: Keys, left: set[Keys]) -> Iterator[tuple[Keys, str, Any]]:
    """The members of the object that begins here; `left` loses what has been walked through."""
    window.take("{")
    if window.peek() == "}":
        window.take("}")
        left.discard(path)
        return
    while True:
        key = window.value(MEMBER_CAP_CHARS)
        if not isinstance(key, str):
            raise window.refuse("this is no JSON (a key is expected)")
        window.take(":")
        inner, is_nested = (*path, key), window.peek() in ("{", "[")
        if path in left or (not path and not is_nested):
            yield path, key, window.value(MEMBER_CAP_CHARS)
        elif window.peek() == "{" and any(one[: len(inner)] == inner for one in left):
            yield from _walk(window, inner, left)
            if not left:
                return
        else:
            window.skip()
        if window.take(",}") == "}":
            left.discard(path)
            return
