"""Where the fonts, icons and examples lie: resources/ in a checkout, its copy inside the package in a wheel."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).parents[1]


def asset_path(name: str) -> Path:
    """The file or folder called `name` below the resources, for example "icons/open.svg"."""
    installed = _PACKAGE / "resources"
    return (installed if installed.is_dir() else _PACKAGE.parent / "resources") / name
