"""Files dropped on a window or a view: taking the offer, which they were, and what kind they are."""

from __future__ import annotations

import re
from itertools import islice
from pathlib import Path

from PySide6.QtGui import QDragEnterEvent, QDropEvent

# what says that a folder with a model's files is a checkpoint of a run, with more in it than the model
_OF_A_RUN = ("trainer_state.json", "optimizer.pt", "optimizer.bin", "scheduler.pt", ".metadata", "latest")
_OF_A_MODEL = ("config.json", "model.safetensors.index.json")
_WEIGHTS = ".safetensors"
# what else lies in a folder that holds a model and nothing but a model
_BESIDE_A_MODEL = re.compile(
    r"(.*(config|tokenizer|index|special_tokens_map|added_tokens|vocab|chat_template|params)(_.*)?\.json|(merges|vocab|license|notice)\.txt|"
    r".*\.(safetensors|model|md|jinja|gitattributes|py|tiktoken)|license.*|notice.*|\..*|original)",
    re.IGNORECASE,
)
_MOST_ENTRIES = 2_000


def welcome(event: QDragEnterEvent) -> None:
    """Accept a drag that carries files."""
    if event.mimeData().hasUrls():
        event.acceptProposedAction()


def carried_files(event: QDropEvent) -> list[Path]:
    """The local files and folders of a drag; nothing is accepted by that."""
    return [Path(url.toLocalFile()) for url in event.mimeData().urls() if url.isLocalFile()]


def dropped_files(event: QDropEvent) -> list[Path]:
    """The local files and folders that were dropped."""
    if files := carried_files(event):
        event.acceptProposedAction()
    return files


def dropped_file(event: QDropEvent) -> Path | None:
    """The first local file or folder that was dropped, None where there is none."""
    return next(iter(dropped_files(event)), None)


def is_model(path: Path) -> bool:
    """Whether a file or folder is meant as a model: by its name, a JSON also by what is in it."""
    name = path.name.lower()
    try:
        if path.is_dir():
            return _is_model_folder(path)
    except OSError:
        return False
    if name.endswith(_WEIGHTS) or name in _OF_A_MODEL or name.endswith(".index.json"):
        return True
    return name.endswith(".json") and _reads_as_model(path)


def _is_model_folder(folder: Path) -> bool:
    """A folder with a model and nothing else; beside logs and results the model is one of the things that a run left."""
    entries = list(islice(folder.iterdir(), _MOST_ENTRIES))
    if any((folder / name).exists() for name in _OF_A_RUN) or not all(_BESIDE_A_MODEL.fullmatch(one.name) for one in entries):
        return False
    return any((folder / name).is_file() for name in _OF_A_MODEL) or next(folder.glob(f"*{_WEIGHTS}"), None) is not None


def _reads_as_model(file: Path) -> bool:
    from ckptplanner.data.readers.errors import ReaderError, UnknownFamily
    from ckptplanner.data.readers.models import read_model

    try:
        read_model(file)
    except UnknownFamily:
        return True
    except ReaderError:
        return False
    return True
