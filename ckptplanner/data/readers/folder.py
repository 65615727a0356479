"""Lists a user's folder with bounds: regular files with their sizes, links that lead out of it left out, loops not entered."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ckptplanner.data.readers.source import Progress

ENTRIES_CAP = 100_000
DEPTH_CAP = 6
# looked for by name where a folder has more files than are listed
MARKERS = (".metadata", "metadata.json", "common.pt", "meta.pt", "trainer_state.json", "model.safetensors.index.json", "latest",
           "latest_checkpointed_iteration.txt")  # fmt: skip


@dataclass(frozen=True, slots=True)
class Names:
    """What lies directly in a folder. Links are in neither of the two, unless they stay inside and lead to a file."""

    files: frozenset[str] = frozenset()
    folders: frozenset[str] = frozenset()
    is_whole: bool = True  # False: there are more than ENTRIES_CAP


@dataclass(frozen=True, slots=True)
class Listing:
    """All regular files below a folder."""

    files: Mapping[str, int]  # path below it, with slashes -> size [B]
    links_out: int  # links that lead out of it, left out
    is_whole: bool  # False: there are more than ENTRIES_CAP, or deeper than DEPTH_CAP
    newest_s: float  # the last time one of them was written, seconds since 1970

    @property
    def size_bytes(self) -> int:
        """Sum of the sizes. [B] Of the sizes, not of the blocks on disk, which compression makes fewer."""
        return sum(self.files.values())


def is_inside(path: str, root: str) -> bool:
    """Whether a path, with all links followed, lies in `root`, which has none."""
    try:
        real = os.path.realpath(path)
        return os.path.commonpath((real, root)) == root
    except (OSError, ValueError):
        return False


def regular(path: Path, root: str) -> os.stat_result | None:
    """Status of a regular file that lies in `root`; None for anything else."""
    try:
        status = path.lstat()
        if stat.S_ISLNK(status.st_mode):
            if not is_inside(str(path), root):
                return None
            status = path.stat()
    except (OSError, ValueError):
        return None
    return status if stat.S_ISREG(status.st_mode) else None


def _markers(path: Path, root: str) -> dict[str, int]:
    """Those of MARKERS that are there, with their sizes."""
    found = {name: regular(path / name, root) for name in MARKERS}
    return {name: status.st_size for name, status in found.items() if status is not None}


def names_in(path: Path, root: str) -> Names:
    """The names in a folder; none where it cannot be read."""
    files: set[str] = set()
    folders: set[str] = set()
    try:
        with os.scandir(path) as entries:
            for entry in entries:
                if len(files) + len(folders) >= ENTRIES_CAP:
                    return Names(frozenset({*files, *_markers(path, root)}), frozenset(folders), is_whole=False)
                if entry.is_dir(follow_symlinks=False):
                    folders.add(entry.name)
                elif entry.is_file(follow_symlinks=False) or regular(Path(entry.path), root) is not None:
                    files.add(entry.name)
    except (OSError, ValueError):
        pass
    return Names(frozenset(files), frozenset(folders))


def files_below(path: Path, root: str, progress: Progress) -> Listing:
    """All regular files below a folder, each once, by its inode; linked folders are not entered.

    Args:
        path: The folder.
        root: Where links may lead: the real path of what the user gave.
        progress: Called for each folder; what it raises ends the listing.
    """
    files: dict[str, int] = {}
    seen: set[tuple[int, int]] = set()
    links_out, newest, is_whole, looked_at = 0, 0.0, True, 0
    waiting: list[tuple[str, int]] = [("", 0)]
    while waiting:
        below, depth = waiting.pop()
        progress(0.0)
        try:
            entries = _some(path / below, ENTRIES_CAP - looked_at + 1)
        except (OSError, ValueError):
            continue
        looked_at += len(entries)
        if looked_at > ENTRIES_CAP:
            is_whole = False
            entries.pop()
        for entry in sorted(entries, key=lambda entry: entry.name):
            name = f"{below}/{entry.name}" if below else entry.name
            if entry.is_dir(follow_symlinks=False):
                if depth < DEPTH_CAP:
                    waiting.append((name, depth + 1))
                else:
                    is_whole = False
                continue
            status = _status(entry, root)
            if status is None:
                links_out += entry.is_symlink() and not is_inside(entry.path, root)
            elif (status.st_dev, status.st_ino) not in seen:
                seen.add((status.st_dev, status.st_ino))
                files[name] = status.st_size
                newest = max(newest, status.st_mtime)
        if not is_whole and looked_at > ENTRIES_CAP:
            files |= _markers(path, root)
            break
    return Listing(files, links_out, is_whole, newest)


def _status(entry: os.DirEntry[str], root: str) -> os.stat_result | None:
    """Like `regular`, without looking at the path again where it is no link."""
    if entry.is_symlink():
        return regular(Path(entry.path), root)
    try:
        return entry.stat(follow_symlinks=False) if entry.is_file(follow_symlinks=False) else None
    except OSError:  # gone in between
        return None


def _some(path: Path, most: int) -> list[os.DirEntry[str]]:
    found: list[os.DirEntry[str]] = []
    with os.scandir(path) as entries:
        for entry in entries:
            found.append(entry)
            if len(found) >= most:
                break
    return found


def small_text(path: Path, root: str, cap_bytes: int) -> str | None:
    """The text of a small regular file; None where it is none, or larger."""
    status = regular(path, root)
    if status is None or status.st_size > cap_bytes:
        return None
    try:
        with path.open("rb") as file:
            raw = file.read(cap_bytes + 1)
    except OSError:
        return None
    return raw.decode("utf-8-sig", "replace") if len(raw) <= cap_bytes else None
