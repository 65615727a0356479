"""Settings files in a folder: what lies there already, what differs, and writing them whole."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from ckptplanner.engine.csv_files import write_whole
from ckptplanner.engine.settings.target import SettingsFile, Written

MOST_BYTES = 5_000_000  # of a file that is compared; no settings file comes near it


def files_of(written: Iterable[Written]) -> tuple[SettingsFile, ...]:
    """Every file once, in order; of two with one name the first."""
    found: dict[str, SettingsFile] = {}
    for one in written:
        for file in one.files:
            found.setdefault(file.name, file)
    return tuple(found.values())


def content_in(folder: Path, name: str) -> str | None:
    """What a file of that name in the folder says; None where there is none that can be read as text."""
    path = folder / name
    try:
        if not path.is_file() or path.stat().st_size > MOST_BYTES:
            return None
        return path.read_bytes().decode("utf-8")
    except (OSError, UnicodeDecodeError):
        return None


def differing(folder: Path, files: Iterable[SettingsFile]) -> tuple[str, ...]:
    """Names of files that are there already and say something else, so that writing would lose it."""
    names = []
    for file in files:
        path = folder / file.name
        if (path.exists() or path.is_symlink()) and content_in(folder, file.name) != file.content:
            names.append(file.name)
    return tuple(names)


def write_files(folder: Path, files: Iterable[SettingsFile]) -> tuple[Path, ...]:
    """Write the files, each whole or not at all; the folder is made where it is missing.

    Raises:
        ExportError: the folder or a file cannot be written.
    """
    paths = []
    for file in files:
        paths.append(folder / file.name)
        if content_in(folder, file.name) != file.content:
            write_whole(paths[-1], file.content.encode("utf-8"))
    return tuple(paths)
