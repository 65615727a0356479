"""A file dropped on a window or a view: taking the offer, and which file it was."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtGui import QDragEnterEvent, QDropEvent


def welcome(event: QDragEnterEvent) -> None:
    """Accept a drag that carries files."""
    if event.mimeData().hasUrls():
        event.acceptProposedAction()


def carried_file(event: QDropEvent) -> Path | None:
    """The first local file or folder of a drag, None where there is none; nothing is accepted by that."""
    return next((Path(url.toLocalFile()) for url in event.mimeData().urls() if url.isLocalFile()), None)


def dropped_file(event: QDropEvent) -> Path | None:
    """The first local file or folder that was dropped, None where there is none."""
    file = carried_file(event)
    if file is not None:
        event.acceptProposedAction()
    return file
