"""Reads one generation of a checkpoint: bytes by part and type, from `.metadata`, safetensors headers, zip directories."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ckptplanner.data.readers.checkpoint_layouts import Generation
from ckptplanner.data.readers.dcp_metadata import Metadata, read_metadata
from ckptplanner.data.readers.errors import ReaderError, printable
from ckptplanner.data.readers.folder import Listing, files_below, regular
from ckptplanner.data.readers.safetensors import Tensor, count_tensors, read_header
from ckptplanner.data.readers.source import Progress
from ckptplanner.data.readers.torch_zip import read_archive, starts_like_one
from ckptplanner.text import Text, text

METADATA_CAP, SHARDS_CAP, ARCHIVES_CAP = 16, 2_000, 10_000  # files of each kind that are opened
PER_PARAM = ("weights", "master", "moments", "optimizer")  # what grows with the parameters
_ARCHIVE = re.compile(r"\.(pt|pth|bin|ckpt)$")
_OPTIMIZER_FILE = re.compile(r"(^|[_/.-])(optim|optimizer|distrib_optim|optim_states)([_.-]|$)")
_MODEL_FILE = re.compile(r"^(pytorch_model|model_|consolidated)|model_states\.pt$|\.ckpt$")
_SHORT = {"bfloat16": "bf16", "float16": "fp16", "half": "fp16", "float32": "fp32", "float": "fp32", "float64": "fp64",
          "double": "fp64", "BF16": "bf16", "F16": "fp16", "F32": "fp32", "F64": "fp64"}  # fmt: skip


@dataclass
class Contents:
    """What one generation holds."""

    listing: Listing
    sizes: Counter[tuple[str, str]] = field(default_factory=Counter)  # (part, type) -> bytes of tensors
    params: int = 0  # 0: not known
    params_from: str = ""  # the file that says so
    moments: set[str] = field(default_factory=set)
    archive_bytes: Counter[str] = field(default_factory=Counter)  # model, optimizer, other -> bytes of tensors
    archive_says: set[str] = field(default_factory=set)
    is_adapter: bool = False
    why_broken: Text | None = None
    notes: list[Text] = field(default_factory=list)
    warnings: list[Text] = field(default_factory=list)

    @property
    def size_bytes(self) -> int:
        """Sum of the sizes of its files. [B]"""
        return self.listing.size_bytes

    @property
    def has_optimizer(self) -> bool:
        """Whether something of an optimizer was seen in it."""
        parts = {part for (part, _), size in self.sizes.items() if size}
        return bool(
            parts & {"master", "moments", "optimizer"} or self.archive_bytes["optimizer"] or "optimizer" in self.archive_says
        )

    @property
    def per_param(self) -> Mapping[tuple[str, str], float]:
        """Bytes for each parameter by part and type; empty where the parameters are not known."""
        if not self.params:
            return {}
        found = {key: size / self.params for key, size in self.sizes.items() if key[0] in PER_PARAM and size}
        if self.archive_bytes["optimizer"]:
            found["optimizer", ""] = self.archive_bytes["optimizer"] / self.params
        order = {part: i for i, part in enumerate(PER_PARAM)}
        return dict(sorted(found.items(), key=lambda item: (order[item[0][0]], item[0][1])))


def short(dtype: str) -> str:
    """A type as people write it: bf16, fp32, fp8."""
    return "fp8" if dtype.lower().startswith(("float8", "f8")) else _SHORT.get(dtype, dtype.lower())


def read_contents(generation: Generation, root: str, progress: Progress) -> Contents:
    """Read one generation; what cannot be read of it is a warning, not an error."""
    if generation.files:
        return Contents(Listing(dict(generation.files), 0, True, _newest(generation)))
    if os.path.isdir(generation.path):
        contents = Contents(files_below(generation.path, root, progress))
    else:
        status = regular(generation.path, root)
        sizes = {} if status is None else {generation.path.name: status.st_size}
        contents = Contents(Listing(sizes, 0, True, status.st_mtime if status else 0.0))
    folder = generation.path if os.path.isdir(generation.path) else generation.path.parent
    _add_metadata(contents, folder, progress)
    _add_safetensors(contents, folder, progress)
    _add_archives(contents, folder, progress)
    return contents


def _newest(generation: Generation) -> float:
    times = [status.st_mtime for file, _ in generation.files if (status := regular(generation.path / file, "")) is not None]
    return max(times, default=0.0)


def _some(contents: Contents, names: Iterator[str], most: int) -> list[str]:
    """The first files of a kind, with a warning where there are more."""
    found = sorted(names)
    if len(found) > most:
        contents.warnings.append(
            text("Only {most} of its {count} files of one kind were opened.", most=f"{most:,}", count=f"{len(found):,}")
        )
    return found[:most]


# ---------------------------------------------------------------- .metadata


def _add_metadata(contents: Contents, folder: Path, progress: Progress) -> None:
    files = contents.listing.files
    weights = masters = 0
    for name in _some(contents, (name for name in files if name.rpartition("/")[2] == ".metadata"), METADATA_CAP):
        try:
            metadata = read_metadata(folder / name, printable(name), progress)
        except ReaderError as error:
            contents.warnings.append(text("{error} Only the sizes of its files are known.", error=str(error)))
            continue
        for row in metadata.sums:
            contents.sizes[row.part, row.dtype] += row.size_bytes
        contents.moments |= set(metadata.moments)
        if not contents.params_from or (metadata.elements("weights") and not weights):
            contents.params_from = name
        weights += metadata.elements("weights")
        masters += metadata.elements("master")
        _look_for_files(contents, metadata, name)
    contents.params = weights or masters
    if contents.sizes and not weights and masters:
        contents.notes.append(text("There are no weights in it; the parameters are those of the master weights."))
    elif contents.moments and not contents.params:
        contents.notes.append(text("There are no weights in it, only what an optimizer keeps."))


def _look_for_files(contents: Contents, metadata: Metadata, name: str) -> None:
    """Whether the data files that `.metadata` names are there and long enough."""
    files, where = contents.listing.files, name.rpartition("/")[0]
    missing = [path for path, end in metadata.files.items() if files.get(f"{where}/{path}" if where else path, -1) < end]
    if missing and contents.listing.is_whole:
        contents.why_broken = text(
            "{count} of {all} data files are missing or cut off, {name} first",
            count=f"{len(missing):,}",
            all=f"{len(metadata.files):,}",
            name=printable(min(missing))[:80],
        )


# ---------------------------------------------------------------- safetensors and archives


def _add_safetensors(contents: Contents, folder: Path, progress: Progress) -> None:
    """Weights in the generation's own folder; only the headers are read."""
    names = (name for name in contents.listing.files if "/" not in name and name.endswith(".safetensors"))
    tensors: list[Tensor] = []
    for name in _some(contents, names, SHARDS_CAP):
        progress(0.0)
        if name.startswith("adapter_"):
            contents.is_adapter = True
            continue
        try:
            tensors += read_header(folder / name)
        except ReaderError as error:
            contents.why_broken = text("{error}", error=str(error))
            return
    if not tensors or contents.params:
        return
    source = "model.safetensors.index.json" if "model.safetensors.index.json" in contents.listing.files else "safetensors"
    try:
        parts = count_tensors(tensors, source=source)
    except ReaderError as error:
        contents.is_adapter = contents.is_adapter or "adapter" in str(error)
        contents.warnings.append(text("{error}", error=str(error)))
        return
    for tensor in tensors:
        contents.sizes["weights", tensor.dtype] += tensor.size_bytes
    stored = parts.body_params + parts.embedding_params + (0 if parts.tied else parts.head_params)
    contents.params = int(stored + parts.mtp_params + parts.vision_params)
    contents.params_from = source


def _role(name: str) -> str:
    last = name.rpartition("/")[2]
    if _OPTIMIZER_FILE.search(last):
        return "optimizer"
    return "model" if _MODEL_FILE.search(last) else "other"


def _add_archives(contents: Contents, folder: Path, progress: Progress) -> None:
    """Sum the tensors in files by torch.save."""
    names = (name for name in contents.listing.files if _ARCHIVE.search(name))
    for name in _some(contents, names, ARCHIVES_CAP):
        progress(0.0)
        if contents.listing.files[name] and not _is_archive(folder / name):
            continue
        try:
            archive = read_archive(folder / name, printable(name))
        except ReaderError as error:
            contents.why_broken = text("{error}", error=str(error))
            return
        role = _role(name)
        contents.archive_bytes[role] += archive.tensor_bytes
        if role == "model":
            contents.archive_says |= archive.says
        contents.is_adapter = contents.is_adapter or (name.startswith("adapter_") and role != "optimizer")


def _is_archive(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return starts_like_one(file.read(4_096))
    except OSError:
        return False
