"""Reads a model's own files as evidence: safetensors, their index, and config.json, by what `read_model` counts in them."""

from __future__ import annotations

import re
import struct
from collections import Counter
from pathlib import Path

from ckptplanner.data.evidence import Fact, FileEvidence, Measured, Place
from ckptplanner.data.readers.errors import ReaderError, printable
from ckptplanner.data.readers.folder import regular
from ckptplanner.data.readers.models import CONFIG_CAP_BYTES, read_model
from ckptplanner.data.readers.safetensors import HEADER_CAP_BYTES, json_object, parse_index, read_header, shards_beside
from ckptplanner.data.readers.source import Head, Opened, Reader
from ckptplanner.data.records import ModelParts
from ckptplanner.text import Text, text

_SHAPE_KEYS = re.compile(r'"(hidden_size|n_embd|d_model|text_config|llm_config|dim)"\s*:')
_NO_RESUME = text("These are weights without an optimizer: training cannot resume from them as it was.")


def _is_object(head: Head) -> bool:
    return head.text.lstrip()[:1] == "{"


def _is_config(head: Head) -> bool:
    return (
        _is_object(head) and head.size <= CONFIG_CAP_BYTES and head.has('"model_type"') and bool(_SHAPE_KEYS.search(head.text))
    )


def _is_index(head: Head) -> bool:
    return _is_object(head) and head.has('"weight_map"') and ".safetensors" in head.text


def _is_safetensors(head: Head) -> bool:
    start = head.start
    if len(start) < 10 or start[8:9] != b"{":
        return False
    (length,) = struct.unpack_from("<Q", start)
    return 2 <= length <= HEADER_CAP_BYTES and (b'"dtype"' in start or b'"__metadata__"' in start)


def config_fact(path: Path, root: str, place: Place) -> Fact | None:
    """The model that a config.json in a folder describes; None where there is none that is counted exactly."""
    if regular(path, root) is None:
        return None
    try:
        return _fact(read_model(path), place)
    except ReaderError:
        return None


def _fact(parts: ModelParts, place: Place) -> Fact:
    notes = tuple(text("{note}", note=note) for note in parts.notes)
    return Fact("workload.model", text("Model"), parts, place, shown=printable(parts.name), notes=notes)


def _read_config(opened: Opened) -> FileEvidence:
    fact = _fact(read_model(opened.path), opened.place())
    return FileEvidence("model_config", text("Model's config.json"), opened.name, opened.date, facts=(fact,))


def _weights(opened: Opened, parts: ModelParts, size_bytes: float, notes: tuple[Text, ...]) -> FileEvidence:
    """Parameters, and bytes of each; a size that is no checkpoint's is shown, not proposed."""
    stored = parts.body_params + parts.embedding_params + (0 if parts.tied else parts.head_params)
    params = stored + parts.mtp_params + parts.vision_params
    said = tuple(text("{note}", note=note) for note in parts.notes)
    measured = [Measured("params", (float(params),), opened.place(), notes=(*said, *notes))]
    if size_bytes > 0 and params > 0:
        measured.append(Measured("bytes_per_param", (size_bytes / params,), opened.place(), is_doubtful=True))
        measured.append(Measured("checkpoint", (float(size_bytes),), opened.place(), is_doubtful=True))
    return FileEvidence(
        "safetensors", text("Model weights (safetensors)"), opened.name, opened.date, tuple(measured), warnings=(_NO_RESUME,)
    )


def _read_index(opened: Opened) -> FileEvidence:
    index = parse_index(json_object(opened.content(HEADER_CAP_BYTES), opened.name), opened.name)
    return _weights(opened, read_model(opened.path), float(index.total_size_bytes or 0), ())


def _read_safetensors(opened: Opened) -> FileEvidence:
    """One file, with the other shards of its model beside it."""
    parts = read_model(opened.path)
    sizes: Counter[str] = Counter()
    for shard in shards_beside(opened.path):
        for tensor in read_header(shard):
            sizes[tensor.dtype] += tensor.size_bytes
    return _weights(opened, parts, float(sum(sizes.values())), ())


MODEL_READERS: tuple[Reader, ...] = (
    Reader("safetensors_index", text("Index of a model's weights"), _is_index, _read_index),
    Reader("safetensors", text("Model weights (safetensors)"), _is_safetensors, _read_safetensors),
    Reader("model_config", text("Model's config.json"), _is_config, _read_config),
)
