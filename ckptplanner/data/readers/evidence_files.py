"""Everything that files and folders say: finds the files, asks the readers which of them knows each, gathers what they give.

    gather([Path("run-7/")])    -> Gathered: what was found, what was refused and why, what nobody knows

Folders are walked without following links that leave them. A checkpoint folder is one thing and is not walked into. One file
that cannot be used costs one sentence, never the others.
"""

from __future__ import annotations

import itertools
import os
import re
import stat
from collections import Counter
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
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
from ckptplanner.data.readers.node_names import without_addresses
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
Telling = Callable[[str, int, int], None]
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


def read_table(path: Path, name: str, mapping: ColumnMapping, progress: Progress = lambda _: None) -> FileEvidence:
    """Read a table of which somebody has said what its columns are.

    Raises:
        ReaderError: it is no table with these columns; one sentence.
        what `progress` raises: the user has stopped it.
    """
    return without_addresses(read_mapped(open_file(path, name, progress), mapping))


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
        return without_addresses(reader.read(opened))
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
    places: dict[str, Path] = field(default_factory=dict)
    seen: set[Path] = field(default_factory=set)  # files and folders, as they are without links
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

    def is_new(self, real: Path) -> bool:
        """Whether this file or folder was not met before: what is given twice is read once."""
        if real in self.seen:
            return False
        self.seen.add(real)
        return True

    def name(self, wanted: str, path: Path) -> str:
        """Give a file or folder a name that no other has."""
        own = _free(wanted, self.places)
        self.places[own] = path
        return own

    def add_file(self, path: Path, name: str) -> None:
        """One more file to look at."""
        if len(self.files) < MOST_FILES:
            self.files.append((path, self.name(name, path)))
        else:
            self.left_out += 1


def _free(name: str, taken: Container[str]) -> str:
    """The name, numbered where another has it."""
    return next(own for number in itertools.count(1) if (own := name if number == 1 else f"{name} #{number}") not in taken)


def _real(path: Path) -> Path:
    """Where it is without links; as it was given where that cannot be told."""
    try:
        return path.resolve()
    except (OSError, RuntimeError, ValueError):  # a loop of links, or no name of a file
        return path


def _tops(paths: Sequence[Path]) -> list[tuple[Path, str]]:
    """What was given, each once, and its name: with that of its folder in front where two are called the same.

    Links come last: what they lead to is read by its own name where it was given too.
    """
    once = {_real(path): path for path in sorted(paths, key=os.path.islink, reverse=True)}
    given = sorted((path for path in dict.fromkeys(paths) if once.get(_real(path)) == path), key=os.path.islink)
    names = [printable(path.name) or printable(str(path)) for path in given]
    often = Counter(names)
    own: list[str] = []
    for path, name in zip(given, names, strict=True):
        parent = printable(Path(os.path.abspath(path)).parent.name)
        own.append(_free(f"{parent}/{name}" if often[name] > 1 and parent else name, own))
    return list(zip(given, own, strict=True))


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


def _walk(folder: Path, name: str, real: Path, root: Path, found: _Walk, progress: Progress, depth: int = 0) -> None:
    """The files below a folder; checkpoint folders are read on the way. Links to folders are never followed."""
    progress(0.0)
    if not found.is_new(real):
        return
    own = _free(name, found.places)
    try:
        others: list[str] = []
        whole = checkpoints.read_folder(folder, own, progress, others)
    except ReaderError as error:
        found.refused.append((own, str(error)))
        return
    if whole is not None:
        found.name(own, folder)
        found.folders.append(whole)
    for entry in _entries(folder, name, found):
        if whole is not None and entry.name not in others:
            continue
        shown_name, inner = f"{name}/{printable(entry.name)}", real / entry.name
        if entry.is_symlink() and not _is_inside(Path(entry.path), root):
            found.links_out += 1
        elif entry.is_dir(follow_symlinks=False):
            if entry.name in _UNSEEN:
                continue
            if depth >= DEEPEST:
                found.too_deep += 1
                continue
            _walk(Path(entry.path), shown_name, inner, root, found, progress, depth + 1)
        # a link inside leads to what is read anyway
        elif not entry.is_symlink() and entry.is_file(follow_symlinks=False) and found.is_new(inner):
            found.add_file(Path(entry.path), shown_name)


def _start(path: Path, name: str, found: _Walk, progress: Progress) -> None:
    """One path that the user gave: a link is followed, since it was named."""
    try:
        mode, real = path.stat().st_mode, _real(path)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or "there is no such file"
        found.refused.append((name, f"{shown(str(path))}: it cannot be read ({why})."))
        return
    if stat.S_ISDIR(mode):
        _walk(path, name, real, real, found, progress)
    elif found.is_new(real):
        found.add_file(path, name)


def gather(
    paths: Sequence[Path],
    *,
    progress: Progress = lambda _: None,
    mappings: Mapping[str, ColumnMapping] | None = None,
    telling: Telling = lambda _name, _number, _count: None,
) -> Gathered:
    """Read all files and folders that were given.

    Args:
        paths: Files and folders.
        progress: Called with the share that is done, in [0, 1]; what it raises ends the reading.
        mappings: What the columns of a table are that no reader knows, by the file's name in `Gathered` or by its path.
        telling: Called with the name of each file before it is read, which one it is, and how many there are.

    Returns:
        What was found; whatever could not be used has a sentence there, so that nothing is raised for a file.
    """
    found = _Walk()
    for path, name in _tops(paths):
        _start(path, name, found, progress)
    evidence, refused, unknown, tables = list(found.folders), list(found.refused), list[str](), list[str]()
    whole = sum(_size(path) for path, _ in found.files) or 1
    done = 0
    columns = mappings or {}
    for number, (path, name) in enumerate(found.files, start=1):
        size = _size(path)
        telling(name, number, len(found.files))
        share = _share_of(progress, done / whole, size / whole)
        try:
            mapping = columns.get(str(path), columns.get(name))
            if mapping is None:
                evidence.append(read_file(path, name, share))
            else:
                evidence.append(read_table(path, name, mapping, share))
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
        tuple(evidence), tuple(refused), tuple(unknown[:MOST_UNKNOWN]), len(unknown), tuple(found.notes), tuple(tables),
        found.places,
    )  # fmt: skip


def with_tables(found: Gathered, mappings: Mapping[str, ColumnMapping]) -> Gathered:
    """The same with these tables read by their columns; no other file is read again."""
    evidence = [one for one in found.files if one.file not in mappings]
    refused = [one for one in found.refused if one[0] not in mappings]
    unknown = tuple(one for one in found.unknown if one not in mappings)
    for name, mapping in mappings.items():
        try:
            evidence.append(read_table(found.places[name], name, mapping))
        except ReaderError as error:
            refused.append((name, str(error)))
    return replace(
        found, files=tuple(evidence), refused=tuple(refused), unknown=unknown,
        unknown_count=found.unknown_count - len(found.unknown) + len(unknown),
        tables=tuple(one for one in found.tables if one not in mappings),
    )  # fmt: skip


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _share_of(progress: Progress, begins: float, share: float) -> Progress:
    """The progress of one file as a part of that of all; where a reader looks at it twice, it stays where it was."""
    most = 0.0

    def told(fraction: float) -> None:
        nonlocal most
        most = max(most, fraction)
        progress(min(begins + share * most, 1.0))

    return told
