"""The questions of the view: which file, which files, which folder, and which of the systems in a table."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import shiboken6
from PySide6.QtWidgets import QFileDialog, QInputDialog, QWidget

from ckptplanner.ui.words import say


def ask_file(parent: QWidget, folder: Path) -> Path | None:
    """Ask for a log; None: cancelled."""
    kinds = f"{say('Tables and texts')} (*.csv *.tsv *.txt *.log *.xz *.gz);;{say('All files')} (*)"
    chosen, _ = QFileDialog.getOpenFileName(parent, say("Replay a log"), str(folder), kinds)
    return Path(chosen) if chosen else None


def ask_system(parent: QWidget, file: str, systems: Sequence[int]) -> int | None:
    """Ask which system of a table is meant; None: cancelled."""
    dialog = QInputDialog(parent)
    dialog.setObjectName("evidence.system")
    dialog.setWindowTitle(say("Which system?"))
    dialog.setLabelText(say("{file} holds the failures of {count} systems. Which one is to be replayed?",
                            file=file, count=len(systems)))  # fmt: skip
    dialog.setComboBoxItems([str(system) for system in systems])
    dialog.setComboBoxEditable(False)
    answer = int(dialog.textValue()) if dialog.exec() else None
    shiboken6.delete(dialog)  # at once: one that lingers keeps shortcuts from the window
    return answer


def ask_files(parent: QWidget, folder: Path) -> list[Path]:
    """Ask for files that say something about the run; empty: cancelled."""
    chosen, _ = QFileDialog.getOpenFileNames(parent, say("Open files of yours"), str(folder), f"{say('All files')} (*)")
    return [Path(one) for one in chosen]


def ask_folder(parent: QWidget, folder: Path) -> Path | None:
    """Ask for a folder with such files; None: cancelled."""
    chosen = QFileDialog.getExistingDirectory(parent, say("Open a folder of yours"), str(folder))
    return Path(chosen) if chosen else None
