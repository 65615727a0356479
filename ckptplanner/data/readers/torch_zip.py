"""Reads the directory of a `torch.save` archive (.pt, .pth, .ckpt, .bin): how many bytes of tensors it holds.

    NAME/data.pkl | NAME/byteorder | NAME/data/0, 1, ... (each a tensor's storage) | NAME/version | directory | end

Nothing is decompressed and nothing unpickled: entries are stored as they are, so the directory alone tells. An entry that
claims more bytes than the file has, or that is compressed, is refused. `data.pkl` is searched for a few words only.
Source: torch 2.13.0 torch.save; APPNOTE.TXT 6.3.10 of the zip format; read 2026-11-29.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from ckptplanner.data.readers.errors import ReaderError, printable, shown

ENTRIES_CAP = 1_000_000
DIRECTORY_CAP_BYTES = 256_000_000
PICKLE_CAP_BYTES = 64_000_000
_END, _END64, _LOCATOR64 = b"PK\x05\x06", b"PK\x06\x06", b"PK\x06\x07"
_ENTRY = struct.Struct("<4s6H3I5H2I")  # of the directory, 46 bytes
_LOCAL = struct.Struct("<4s5H3I2H")  # of a file in front of its data, 30 bytes
_MOST_32 = 0xFFFFFFFF
_WORDS = {
    "optimizer": re.compile(rb"exp_avg|momentum_buffer|optimizer_states"),
    "lightning": re.compile(rb"pytorch-lightning_version"),
    "adapter": re.compile(rb"lora_[AB]|lora_embedding_"),
    "weights": re.compile(rb"\.weight"),
}


@dataclass(frozen=True, slots=True)
class Archive:
    """What the directory of one archive says."""

    tensor_bytes: int
    tensors: int  # storages; tensors that share one count once
    other_bytes: int
    says: frozenset[str]  # which of optimizer, lightning, adapter, weights its data.pkl names


@dataclass(frozen=True, slots=True)
class _Entry:
    name: str
    size: int
    offset: int


def starts_like_one(start: bytes) -> bool:
    """Whether these are the first bytes of an archive by torch.save: its first entry is NAME/data.pkl."""
    if len(start) < _LOCAL.size or not start.startswith(b"PK\x03\x04"):
        return False
    length = _LOCAL.unpack_from(start)[9]
    name = start[_LOCAL.size : _LOCAL.size + length]
    return len(name) == length and re.fullmatch(rb"[^/]+/data\.pkl", name) is not None


def read_archive(path: Path, name: str) -> Archive:
    """Add up the entries of one archive.

    Raises:
        ReaderError: cut off, no archive of torch.save, compressed, or claiming more than the file holds.
    """
    try:
        with path.open("rb") as file:
            size = file.seek(0, 2)
            return _added_up(file, size, name)
    except OSError as error:
        raise ReaderError(f"{name}: it cannot be read ({error.strerror}).") from None
    except struct.error:
        raise ReaderError(f"{name}: this is cut off inside its directory; give the complete file.") from None


def _added_up(file: BinaryIO, size: int, name: str) -> Archive:
    tensor_bytes = tensors = other_bytes = 0
    pickled: _Entry | None = None
    for entry in _entries(file, size, name):
        if re.fullmatch(r"[^/]+/data/\d+", entry.name):
            tensor_bytes += entry.size
            tensors += 1
        else:
            other_bytes += entry.size
            if re.fullmatch(r"[^/]+/data\.pkl", entry.name):
                pickled = entry
    if tensor_bytes + other_bytes > size:
        raise ReaderError(
            f"{name}: its entries claim {tensor_bytes + other_bytes:,} bytes together, where the file has {size:,}."
        )
    if pickled is None:
        raise ReaderError(f"{name}: there is no data.pkl in it, where an archive written by torch.save is expected.")
    return Archive(tensor_bytes, tensors, other_bytes, _words_of(file, pickled))


def _words_of(file: BinaryIO, entry: _Entry) -> frozenset[str]:
    """Which words stand in data.pkl; it is searched as bytes and never unpickled."""
    file.seek(entry.offset)
    header = file.read(_LOCAL.size)
    if len(header) < _LOCAL.size:
        return frozenset()
    name_length, extra_length = _LOCAL.unpack(header)[9:]
    file.seek(entry.offset + _LOCAL.size + name_length + extra_length)
    raw = file.read(min(entry.size, PICKLE_CAP_BYTES))
    return frozenset(word for word, pattern in _WORDS.items() if pattern.search(raw))


def _entries(file: BinaryIO, size: int, name: str) -> Iterator[_Entry]:
    """The entries of the directory, one after the other."""
    count, length, start = _directory(file, size, name)
    if count > ENTRIES_CAP or length > DIRECTORY_CAP_BYTES:
        raise ReaderError(f"{name}: its directory claims {count:,} entries in {length:,} bytes, where fewer are expected.")
    if start + length > size:
        raise ReaderError(f"{name}: its directory lies beyond its end; give the complete file.")
    file.seek(start)
    raw = file.read(length)
    at = 0
    for _ in range(count):
        fields = _ENTRY.unpack_from(raw, at)
        if fields[0] != b"PK\x01\x02":
            raise ReaderError(f"{name}: its directory is broken at byte {start + at:,}; give the complete file.")
        method, packed, plain = fields[4], fields[8], fields[9]
        name_length, extra_length, comment_length, offset = fields[10], fields[11], fields[12], fields[16]
        label = raw[at + 46 : at + 46 + name_length].decode("utf-8", "replace")
        extra = raw[at + 46 + name_length : at + 46 + name_length + extra_length]
        plain, packed, offset = _wide(extra, plain, packed, offset)
        if method != 0 or packed != plain:
            raise ReaderError(
                f"{name}: {shown(printable(label))} is compressed, where torch.save stores its entries as they are."
            )
        if offset + plain > size:
            raise ReaderError(f"{name}: {shown(printable(label))} claims {plain:,} bytes, where the file has {size:,}.")
        at += 46 + name_length + extra_length + comment_length
        yield _Entry(label, plain, offset)


def _wide(extra: bytes, plain: int, packed: int, offset: int) -> tuple[int, int, int]:
    """Sizes of more than 4 GiB stand in the extra field, in the order of those that do not fit."""
    at = 0
    while at + 4 <= len(extra):
        kind, length = struct.unpack_from("<HH", extra, at)
        if kind == 1:
            numbers = iter(struct.unpack_from(f"<{length // 8}Q", extra, at + 4))
            values = [next(numbers, value) if value == _MOST_32 else value for value in (plain, packed, offset)]
            return values[0], values[1], values[2]
        at += 4 + length
    return plain, packed, offset


def _directory(file: BinaryIO, size: int, name: str) -> tuple[int, int, int]:
    """Entries, length and start of the directory, from the end of the file."""
    tail_bytes = min(size, 22 + 65_535 + 20)
    file.seek(size - tail_bytes)
    tail = file.read(tail_bytes)
    at = tail.rfind(_END)
    if at < 0 or len(tail) - at < 22:
        raise ReaderError(f"{name}: it has no directory at its end, so it is cut off; give the complete file.")
    count, length, start = struct.unpack_from("<HII", tail, at + 10)
    end = size - tail_bytes + at
    locator = at - 20
    if locator >= 0 and tail[locator : locator + 4] == _LOCATOR64:
        (place,) = struct.unpack_from("<Q", tail, locator + 8)
        if place + 56 > size:
            raise ReaderError(f"{name}: its directory lies beyond its end; give the complete file.")
        file.seek(place)
        record = file.read(56)
        if record[:4] != _END64:
            raise _elsewhere(name)
        count, length, start = struct.unpack_from("<QQQ", record, 32)
        end = place
    if start + length != end:
        raise _elsewhere(name)
    return count, length, start


def _elsewhere(name: str) -> ReaderError:
    return ReaderError(
        f"{name}: its directory is not where it says, as in the data files of a distributed checkpoint, which hold many "
        "archives; give the complete file, or the folder with .metadata."
    )
