"""Everything that files and folders say: finds the files, asks the readers which of them knows each, gathers what they give.

    gather([Path("run-7/")])    -> Gathered: what was found, what was refused and why, what nobody knows

Folders are walked without following links that leave them. A checkpoint folder is one thing and is not walked into. One file
that cannot be used costs one sentence, never the others.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ckptplanner.data.evidence import FileEvidence, Gathered
from ckptplanner.data.readers import (
    aws,
    checkpoints,
    event_tables,
    hyperpod,
    kubernetes,
    nvrx,
    path_benchmarks,
    slurm,
    storage_benchmarks,
    torchrun,
    training_logs,
    xid,
)
from ckptplanner.data.readers.column_mapping import ColumnMapping, MappingNeeded, read_mapped
from ckptplanner.data.readers.errors import ReaderError, printable, shown
from ckptplanner.data.readers.source import Opened, Progress, Reader, open_file
from ckptplanner.text import Text, text

# the strict ones first: any CSV comes last
READERS: tuple[Reader, ...] = (
    *slurm.READERS,
    *nvrx.READERS,
    *torchrun.READERS,
    *kubernetes.READERS,
    *hyperpod.READERS,
    *xid.READERS,
    *aws.READERS,
    *storage_benchmarks.READERS,
    *path_benchmarks.READERS,
    *training_logs.READERS,
    *checkpoints.READERS,
    *event_tables.READERS,
)
MOST_FILES = 20_000
MOST_UNKNOWN = 50  # of which the names are kept
DEEPEST = 16
_PACKED = (  # how the start of a file that has to be unpacked first looks
    (b"\x1f\x8b", "it is compressed (gzip); unpack it first"),
    (b"\xfd7zXZ\x00", "it is compressed (xz); unpack it first"),
    (b"BZh", "it is compressed (bzip2); unpack it first"),
    (b"\x28\xb5\x2f\xfd", "it is compressed (zstd); unpack it first"),
    (b"PK\x03\x04", "it is compressed (zip); unpack it first"),
    (b"%PDF-", "it is a PDF; save it as text or CSV first"),
)
_BZIP2 = re.compile(rb"BZh[1-9](?:1AY&SY|\x17rE8P\x90)")  # three letters alone may begin any text
_UNSEEN = (".git", "__pycache__", ".venv", "node_modules")


def reader_of(opened: Opened) -> Reader | None:
    """The first reader that knows a file by its content; None where nobody does."""
    return next((reader for reader in READERS if reader.knows(opened.head)), None)


def read_file(path: Path, name: str | None = None, progress: Progress = lambda _: None) -> FileEvidence:
    """Read one file with the reader that knows it.

    Raises:
        ReaderError: nobody knows it, or it cannot be used; one sentence.
        what `progress` raises: the user has stopped it.
    """
    opened = open_file(path, name, progress)
    reader = reader_of(opened)
    if reader is None:
        if (packed := _packed(opened.head.start)) is not None:
            raise opened.refuse(packed)
        raise _Unknown(f"{opened.name}: no reader knows what this is.")
    return _read(reader, opened)


def _packed(start: bytes) -> str | None:
    """What has to be done with a file before it can be read; None where nothing has, as with what torch.save writes."""
    if start.startswith(b"BZh") and _BZIP2.match(start) is None:
        return None
    if start.startswith(b"PK\x03\x04") and b"/data.pkl" in start[:1000]:
        return None
    return next((what for magic, what in _PACKED if start.startswith(magic)), None)


class _Unknown(ReaderError):  # noqa: N818 - read as what it is in the sentence of an except
    """A file that no reader knows."""


def _read(reader: Reader, opened: Opened) -> FileEvidence:
    try:
        return reader.read(opened)
    except RecursionError:
        raise opened.refuse("it is nested too deeply") from None
    except MemoryError:
        raise opened.refuse("it needs more memory than there is") from None


@dataclass
class _Walk:
    """What was found on the way."""

    files: list[tuple[Path, str]] = field(default_factory=list)
    folders: list[FileEvidence] = field(default_factory=list)
    refused: list[tuple[str, str]] = field(default_factory=list)
    left_out: int = 0
    links_out: int = 0
    too_deep: int = 0

    @property
    def notes(self) -> Iterator[Text]:
        """What was not looked at."""
        if self.left_out:
            yield text("Only the first {most} files were looked at; {count} more were left out.",
                       most=f"{MOST_FILES:,}", count=f"{self.left_out:,}")  # fmt: skip
        if self.links_out:
            yield text("{count} links that lead out of the folder were not followed.", count=f"{self.links_out:,}")
        if self.too_deep:
            yield text("Folders more than {deepest} levels down were not looked into.", deepest=DEEPEST)


def _is_inside(path: Path, root: Path) -> bool:
    """Whether a link stays inside the folder that was given."""
    try:
        return path.resolve().is_relative_to(root)
    except (OSError, RuntimeError):  # a loop
        return False


def _entries(folder: Path, name: str, found: _Walk) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as scan:
            return sorted(scan, key=lambda entry: entry.name)
    except OSError as error:
        found.refused.append((name, f"{name}: this folder cannot be read ({error.strerror})."))
        return []


def _walk(folder: Path, name: str, root: Path, found: _Walk, progress: Progress, depth: int = 0) -> None:
    """The files below a folder; checkpoint folders are read on the way. Links to folders are never followed."""
    progress(0.0)
    try:
        whole = checkpoints.read_folder(folder, name, progress)
    except ReaderError as error:
        found.refused.append((name, str(error)))
        return
    if whole is not None:
        found.folders.append(whole)
        return
    for entry in _entries(folder, name, found):
        shown_name = f"{name}/{printable(entry.name)}"
        if entry.is_symlink() and not _is_inside(Path(entry.path), root):
            found.links_out += 1
        elif entry.is_dir(follow_symlinks=False):
            if entry.name in _UNSEEN:
                continue
            if depth >= DEEPEST:
                found.too_deep += 1
                continue
            _walk(Path(entry.path), shown_name, root, found, progress, depth + 1)
        elif not entry.is_symlink() and entry.is_file(follow_symlinks=False):  # a link inside leads to what is read anyway
            if len(found.files) < MOST_FILES:
                found.files.append((Path(entry.path), shown_name))
            else:
                found.left_out += 1


def _start(path: Path, found: _Walk, progress: Progress) -> None:
    """One path that the user gave: a link is followed, since it was named."""
    name = printable(path.name) or printable(str(path))
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or "there is no such file"
        found.refused.append((name, f"{shown(str(path))}: it cannot be read ({why})."))
        return
    if stat.S_ISDIR(mode):
        _walk(path, name, path.resolve(), found, progress)
    else:
        found.files.append((path, name))


def gather(
    paths: Sequence[Path],
    *,
    progress: Progress = lambda _: None,
    mappings: Mapping[str, ColumnMapping] | None = None,
) -> Gathered:
    """Read all files and folders that were given.

    Args:
        paths: Files and folders.
        progress: Called with the share that is done, in [0, 1]; what it raises ends the reading.
        mappings: What the columns of a table are that no reader knows, by the file's name in `Gathered`.

    Returns:
        What was found; whatever could not be used has a sentence there, so that nothing is raised for a file.
    """
    found = _Walk()
    for path in paths:
        _start(path, found, progress)
    evidence, refused, unknown, tables = list(found.folders), list(found.refused), list[str](), list[str]()
    whole = sum(_size(path) for path, _ in found.files) or 1
    done = 0
    for path, name in found.files:
        size = _size(path)
        share = _share_of(progress, done / whole, size / whole)
        try:
            mapping = (mappings or {}).get(name)
            if mapping is None:
                evidence.append(read_file(path, name, share))
            else:
                evidence.append(read_mapped(open_file(path, name, share), mapping))
        except MappingNeeded as error:
            tables.append(name)
            refused.append((name, str(error)))
        except _Unknown:
            unknown.append(name)
        except ReaderError as error:
            refused.append((name, str(error)))
        done += size
        progress(done / whole)
    return Gathered(
        tuple(evidence), tuple(refused), tuple(unknown[:MOST_UNKNOWN]), len(unknown), tuple(found.notes), tuple(tables)
    )


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _share_of(progress: Progress, begins: float, share: float) -> Callable[[float], None]:
    """The progress of one file as a part of that of all."""
    return lambda fraction: progress(min(begins + share * fraction, 1.0))
