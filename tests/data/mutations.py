"""Damaged copies of real files, reproducible from a seed: what a disk, a truncation, an editor or an enemy makes of them."""

from __future__ import annotations

import random

TOKENS = (
    b"NaN", b"Infinity", b"-Infinity", b"1e999", b"-1", b"0", b"1e-320", b"99999999999999999999999999", b"null", b"true", b'""',
    b"[]", b"{}", b"-0.0", b"1970-01-01T00:00:00", b"9999-12-31T23:59:59", b"0001-01-01", b"\xff\xfe", b"\xed\xa0\x80", b"\x00",
    b"\r\n", b"|", b",", b"\t", b"\x1b[31m", b"gpu-[0-99999999999]", b"a" * 5000, b"[" * 3000, b'{"a":' * 1500, b"1" * 5000,
    "長い名前".encode(), b"Unknown", b"None", b"N/A", b"%s%n", b"../../etc/passwd",
)  # fmt: skip
_DIGITS = b"0123456789"


def _cut(raw: bytearray, draw: random.Random) -> None:
    """The end is missing, as after a full disk."""
    del raw[draw.randrange(len(raw) + 1) :]


def _flip(raw: bytearray, draw: random.Random) -> None:
    for _ in range(draw.randint(1, 8)):
        raw[draw.randrange(len(raw))] = draw.randrange(256)


def _insert(raw: bytearray, draw: random.Random) -> None:
    at = draw.randrange(len(raw) + 1)
    raw[at:at] = draw.choice(TOKENS)


def _remove(raw: bytearray, draw: random.Random) -> None:
    at = draw.randrange(len(raw))
    del raw[at : at + draw.randint(1, 200)]


def _repeat(raw: bytearray, draw: random.Random) -> None:
    at = draw.randrange(len(raw))
    piece = bytes(raw[at : at + draw.randint(1, 2000)])
    raw[at:at] = piece * draw.randint(1, 4)


def _shuffle_lines(raw: bytearray, draw: random.Random) -> None:
    lines = bytes(raw).split(b"\n")
    first, second = draw.randrange(len(lines)), draw.randrange(len(lines))
    lines[first], lines[second] = lines[second], lines[first]
    raw[:] = b"\n".join(lines)


def _number(raw: bytearray, draw: random.Random) -> None:
    """One number becomes another, or no number."""
    starts = [at for at in range(len(raw)) if raw[at] in _DIGITS and (at == 0 or raw[at - 1] not in _DIGITS)]
    if not starts:
        return
    at = draw.choice(starts)
    end = at
    while end < len(raw) and raw[end] in b"0123456789.eE+-":
        end += 1
    raw[at:end] = draw.choice((*TOKENS, str(draw.randint(-(10**12), 10**12)).encode(), repr(draw.lognormvariate(0, 20)).encode()))


def _word(raw: bytearray, draw: random.Random) -> None:
    """A quoted word, or one between separators, becomes something else."""
    quotes = [at for at in range(len(raw)) if raw[at] in b'"|,:']
    if len(quotes) < 2:
        return
    first = draw.randrange(len(quotes) - 1)
    raw[quotes[first] + 1 : quotes[first + 1]] = draw.choice(TOKENS)


_WAYS = (_cut, _flip, _insert, _remove, _repeat, _shuffle_lines, _number, _number, _word, _word)


def mutated(raw: bytes, seed: int) -> bytes:
    """A damaged copy; the same for the same seed."""
    draw = random.Random(seed)
    made = bytearray(raw)
    for _ in range(draw.choice((1, 1, 1, 2, 3, 6))):
        if made:
            draw.choice(_WAYS)(made, draw)
    return bytes(made)
