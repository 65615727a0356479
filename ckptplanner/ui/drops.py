"""A file dropped on a window: taking the offer, and which file it was."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtGui import QDragEnterEvent, QDropEvent


def welcome(event: QDragEnterEvent) -> None:
    """Accept a drag that carries files."""
    if event.mimeData().hasUrls():
        event.acceptProposedAction()


def dropped_file(event: QDropEvent) -> Path | None:
    """The first local file or folder that was dropped, None where there is none."""
    for url in event.mimeData().urls():
        if url.isLocalFile():
            event.acceptProposedAction()
            return Path(url.toLocalFile())
    return None
