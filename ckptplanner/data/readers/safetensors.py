"""Reads the headers of `.safetensors` files and `model.safetensors.index.json`: names, shapes, types, never the data.

    8 bytes: N, little-endian | N bytes of JSON {name: {dtype, shape, data_offsets}} | data

Only what one element stands for one parameter of is counted. Scales of FP8 weights and buffers are left out with a
note; packed weights (4 bits in U8 or I32) are refused, for their element count is not a parameter count.
Source: safetensors format README and transformers 5.24.0 save_pretrained; read 2026-11-29.
"""

from __future__ import annotations

import json
import math
import re
import struct
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ckptplanner.data.readers.errors import ReaderError, printable, shown
from ckptplanner.data.records import ModelParts

HEADER_CAP_BYTES = 100_000_000
LARGEST_TOTAL = 10**15
LONGEST_NAME_BYTES = 255  # that a file system takes
LARGEST_SHARDS = 100_000

# dtype -> bytes of one element; the sub-byte types are packed by whoever wrote them and are refused
_FLOATS = {"F64": 8, "F32": 4, "F16": 2, "BF16": 2, "F8_E4M3": 1, "F8_E5M2": 1}
_OTHERS = {
    "I64": 8,
    "U64": 8,
    "I32": 4,
    "U32": 4,
    "I16": 2,
    "U16": 2,
    "I8": 1,
    "U8": 1,
    "BOOL": 1,
    "F8_E8M0": 1,
    "C64": 8,
}
_ELEMENT_BYTES = _FLOATS | _OTHERS
_FP8 = frozenset({"F8_E4M3", "F8_E5M2"})

_ADAPTER = re.compile(r"(^|\.)(lora_[AB]|lora_embedding_[AB]|lora_magnitude_vector|prompt_embeddings|ia3_l)(\.|$)")
_PACKED = re.compile(r"(_blocks|_scales|\.qweight|\.qzeros|\.weight_packed|\.absmax|\.weight_scale_2)$")
_SCALE = re.compile(r"(^|[._])(weight|input|output|activation|act|[qkv])_scale(_inv)?$|\.scale_inv$")
_BUFFER = re.compile(r"(^|\.)(position_ids|inv_freq|e_score_correction_bias|masked_bias|num_batches_tracked)$")
_VISION = re.compile(
    r"(^|\.)(vision_tower|visual|vision_model|vision_encoder|vision_embed_tokens|multi_modal_projector|mm_projector"
    r"|vision_language_adapter|patch_merger|pre_mm_projector_norm)\."
)
_LAYER = re.compile(r"^(model\.|language_model\.|backbone\.|transformer\.)*layers\.(\d{1,6})\.")
_MTP = re.compile(r"(^|\.)mtp(_layers|_block)?\.")
_MTP_COPY = re.compile(r"(^|\.)(embed_tokens|shared_head\.head|lm_head|output)\.weight$")
_EMBEDDING = re.compile(r"(^|\.)(embed_tokens|word_embeddings|tok_embeddings|wte|embeddings)\.weight$")
_HEAD = re.compile(r"^(model\.|language_model\.)*(lm_head|output_layer|embed_out|output)\.weight$")
_EXPERTS = re.compile(r"(^|\.)(experts|block_sparse_moe|router)(\.|$)")
SHARD = re.compile(r"-(\d{5})-of-(\d{5})\.safetensors$")


@dataclass(frozen=True, slots=True)
class Tensor:
    """One entry of a header."""

    name: str
    dtype: str
    elements: int
    size_bytes: int


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) < len(pairs):
        twice = next(key for key, times in Counter(key for key, _ in pairs).items() if times > 1)
        raise ReaderError(f"the key {shown(twice)} stands twice in one object")
    return result


def json_object(raw: bytes, source: str) -> dict[str, Any]:
    """Decode one JSON object; infinite constants are let through, for some configs hold them outside the shape.

    Raises:
        ReaderError: not UTF-8, not JSON, a key twice, nested too deeply, or not an object.
    """
    try:
        value = json.loads(raw.decode("utf-8-sig"), object_pairs_hook=_unique_keys)
    except ReaderError as error:
        raise ReaderError(f"{source}: {error}, where JSON with each key once is expected.") from None
    except UnicodeDecodeError:
        raise ReaderError(f"{source}: this is not UTF-8 text, where JSON is expected.") from None
    except RecursionError:
        raise ReaderError(f"{source}: this is nested too deeply, where a plain JSON object is expected.") from None
    except ValueError as error:
        raise ReaderError(f"{source}: this is not JSON ({shown(str(error))}), where a JSON object is expected.") from None
    if not isinstance(value, dict):
        raise ReaderError(f"{source}: this holds {shown(value)}, where a JSON object is expected.")
    return value


def file_date(path: Path) -> str:
    """The date a file was last written, ISO; empty when it cannot be told."""
    try:
        return datetime.fromtimestamp(path.stat().st_mtime, UTC).date().isoformat()
    except (OSError, ValueError, OverflowError):
        return ""


def _is_count(value: object) -> bool:
    return type(value) is int and value >= 0


def _tensor(source: str, name: str, entry: object) -> tuple[int, int, Tensor]:
    """Check one entry: (begin, end, tensor)."""
    label = f"{source}: the tensor {shown(name)}"
    if not isinstance(entry, dict):
        raise ReaderError(f"{label} is no object, where dtype, shape and data_offsets are expected.")
    dtype, shape, offsets = entry.get("dtype"), entry.get("shape"), entry.get("data_offsets")
    if not isinstance(dtype, str) or dtype not in _ELEMENT_BYTES:
        raise ReaderError(f"{label} has the type {shown(dtype)}, where one of {', '.join(_ELEMENT_BYTES)} is expected.")
    if not isinstance(shape, list) or len(shape) > 16 or not all(_is_count(size) for size in shape):
        raise ReaderError(f"{label} has the shape {shown(shape)}, where a list of whole numbers is expected.")
    if not isinstance(offsets, list) or len(offsets) != 2 or not all(_is_count(offset) for offset in offsets):
        raise ReaderError(f"{label} has the data_offsets {shown(offsets)}, where begin and end are expected.")
    elements, (begin, end) = math.prod(shape), offsets
    if end - begin != elements * _ELEMENT_BYTES[dtype]:
        raise ReaderError(
            f"{label} takes {shown(end - begin)} bytes, where its shape and type mean "
            f"{shown(elements * _ELEMENT_BYTES[dtype])}."
        )
    return begin, end, Tensor(name, dtype, elements, end - begin)


def read_header(path: Path) -> tuple[Tensor, ...]:
    """The tensors of one .safetensors file.

    Raises:
        ReaderError: truncated, header above 100 MB, or entries whose shapes, types and offsets do not fit together.
    """
    source = printable(path.name)
    try:
        with path.open("rb") as file:
            size, start = path.stat().st_size, file.read(8)
            if len(start) < 8:
                raise ReaderError(f"{source}: this is cut off after {size} bytes, where a safetensors file is expected.")
            length = struct.unpack("<Q", start)[0]
            if length > HEADER_CAP_BYTES:
                raise ReaderError(
                    f"{source}: its header claims {length:,} bytes, where at most {HEADER_CAP_BYTES:,} are expected."
                )
            raw = file.read(length)
    except OSError as error:
        raise ReaderError(f"{source}: it cannot be read ({error.strerror}); a readable file is expected.") from None
    if len(raw) < length:
        raise ReaderError(f"{source}: this is cut off inside its header; give the complete file.")
    return _checked_tensors(json_object(raw, source), source, data_bytes=size - 8 - length)


def _checked_tensors(header: Mapping[str, Any], source: str, *, data_bytes: int) -> tuple[Tensor, ...]:
    """Entries in the order of their data, which must follow one another without gap or overlap up to the file's end."""
    rows = [_tensor(source, name, entry) for name, entry in header.items() if name != "__metadata__"]
    rows.sort(key=lambda row: row[:2])
    place = 0
    for begin, end, tensor in rows:
        if begin != place:
            raise ReaderError(
                f"{source}: the data of {shown(tensor.name)} begins at {shown(begin)}, where {place} is expected."
            )
        place = end
    if place > data_bytes:
        raise ReaderError(
            f"{source}: this is cut off: its tensors take {place:,} bytes and {data_bytes:,} are there; give the complete file."
        )
    if place < data_bytes:
        raise ReaderError(f"{source}: {data_bytes - place:,} bytes belong to no tensor, where none are expected.")
    return tuple(tensor for _, _, tensor in rows)


def _refuse_names(names: Iterable[str], source: str) -> None:
    """Adapters and packed weights have no parameter count to read."""
    for name in names:
        if _ADAPTER.search(name):
            raise ReaderError(
                f"{source}: this is an adapter (it holds {shown(name)}), not the model; give the model's own files."
            )
        if _PACKED.search(name):
            raise ReaderError(
                f"{source}: this is a packed quantised export (it holds {shown(name)}), whose elements are not "
                "parameters; give config.json or the unquantised weights."
            )


def _part_of(name: str, layers: int | None) -> str:
    """The part a tensor belongs to; `copy` is a second embedding or head inside an MTP layer."""
    if _VISION.search(name):
        return "vision"
    layer = _LAYER.search(name)
    if _MTP.search(name) or (layers is not None and layer is not None and int(layer[2]) >= layers):
        return "copy" if _MTP_COPY.search(name) else "mtp"
    if layer is None and _HEAD.search(name):
        return "head"
    return "embedding" if layer is None and _EMBEDDING.search(name) else "body"


def _counted(tensors: Iterable[Tensor], source: str, layers: int | None) -> tuple[Counter[str], Counter[str]]:
    """Elements by part and bytes by type; `scale` and `buffer` are parts too."""
    elements, size_bytes = Counter[str](), Counter[str]()
    for tensor in tensors:
        size_bytes[tensor.dtype] += tensor.size_bytes
        if _SCALE.search(tensor.name):
            elements["scale"] += tensor.elements
        elif _BUFFER.search(tensor.name) or tensor.dtype in {"BOOL", "I64"}:
            elements["buffer"] += tensor.elements
        elif tensor.dtype not in _FLOATS:
            raise ReaderError(
                f"{source}: {shown(tensor.name)} has the type {tensor.dtype}, which packs quantised weights; "
                "give config.json or the unquantised weights."
            )
        else:
            elements[_part_of(tensor.name, layers)] += tensor.elements
    return elements, size_bytes


_LEFT_OUT = {
    "scale": "scale factors of quantised weights are not counted",
    "buffer": "elements are buffers, not parameters, and are not counted",
    "copy": "parameters of the MTP layers are copies of embedding and head and are not counted again",
}


def _notes(elements: Counter[str], size_bytes: Counter[str]) -> tuple[str, ...]:
    total = ", ".join(f"{size:,} bytes {dtype}" for dtype, size in sorted(size_bytes.items()))
    notes = [f"The weights take {total}."]
    notes += [f"{elements[part]:,} {text}." for part, text in _LEFT_OUT.items() if elements[part]]
    if elements["mtp"]:
        notes.append(f"The files hold {elements['mtp']:,} MTP parameters, counted only when the run trains them.")
    if _FP8 & set(size_bytes):
        notes.append("The weights are an FP8 export: their size says nothing about the size of a training state.")
    if not elements["embedding"]:
        notes.append("No embedding was recognised among the tensors; all of them count as body.")
    return tuple(notes)


def count_tensors(
    tensors: Iterable[Tensor], *, source: str, name: str = "", date: str = "", layers: int | None = None
) -> ModelParts:
    """Sort tensors into the parts of a model.

    Args:
        tensors: All tensors of the model, from `read_header`.
        source: What messages and result call them.
        name: The model's name; `source` when empty.
        date: Date of the file, ISO.
        layers: num_hidden_layers, to tell MTP layers numbered after it; None when no config.json says.

    Returns:
        The parts; `tied` when an embedding but no head is stored. [params], exact.

    Raises:
        ReaderError: an adapter, packed quantised weights, or nothing to count.
    """
    tensors = tuple(tensors)
    _refuse_names((tensor.name for tensor in tensors), source)
    elements, size_bytes = _counted(tensors, source, layers)
    parts = {part: elements[part] for part in ("body", "embedding", "head", "mtp", "vision")}
    if not 0 < sum(parts.values()) <= LARGEST_TOTAL:
        raise ReaderError(f"{source}: it holds {sum(parts.values()):,} parameters, where those of a model are expected.")
    is_moe = any(_EXPERTS.search(tensor.name) for tensor in tensors)
    tied = bool(parts["embedding"]) and not parts["head"]
    return ModelParts(
        name=printable(name) or printable(source),
        family="not named",
        source=printable(source),
        date=date,
        body_params=parts["body"],
        active_body_params=None if is_moe else parts["body"],
        embedding_params=parts["embedding"],
        head_params=parts["embedding"] if tied else parts["head"],
        tied=tied,
        mtp_params=parts["mtp"],
        vision_params=parts["vision"],
        notes=_notes(elements, size_bytes),
    )


def shards_beside(path: Path) -> tuple[Path, ...]:
    """The file itself, or all shards of its model when its name says "1 of N".

    Raises:
        ReaderError: a shard is missing beside it.
    """
    match = SHARD.search(path.name)
    if match is None or not 1 < (count := int(match[2])) <= LARGEST_SHARDS:
        return (path,)
    stem = path.name[: match.start()]
    shards = tuple(path.with_name(f"{stem}-{i:05d}-of-{count:05d}.safetensors") for i in range(1, count + 1))
    missing = sum(not shard.is_file() for shard in shards)
    if missing:
        raise ReaderError(
            f"{printable(path.name)}: {missing} of its {count} shards are not beside it; give the complete set or "
            "model.safetensors.index.json."
        )
    return shards


@dataclass(frozen=True, slots=True)
class Index:
    """A model.safetensors.index.json: which tensor is in which shard, and the totals it names."""

    source: str
    total_parameters: int | None
    total_size_bytes: int | None
    shard_of: Mapping[str, str]

    @property
    def shards(self) -> tuple[str, ...]:
        """File names of the shards, sorted."""
        return tuple(sorted(set(self.shard_of.values())))


def _named_total(metadata: Mapping[str, Any], key: str, source: str) -> int | None:
    """A total of the metadata; whole floats pass, for several tools write 53568.0."""
    value = metadata.get(key)
    if value is None:
        return None
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if type(value) is not int or not 0 < value <= LARGEST_TOTAL * 8:
        raise ReaderError(f"{source}: metadata.{key} is {shown(value)}, where a whole number above 0 is expected.")
    return value


def parse_index(content: Mapping[str, Any], source: str) -> Index:
    """Check a decoded index file.

    Raises:
        ReaderError: no weight_map of names to file names, ill totals, an adapter, or packed quantised weights.
    """
    weights, metadata = content.get("weight_map"), content.get("metadata") or {}
    if not isinstance(weights, dict) or not weights:
        raise ReaderError(f"{source}: weight_map is {shown(weights)}, where tensor names and file names are expected.")
    if not isinstance(metadata, dict):
        raise ReaderError(f"{source}: metadata is {shown(metadata)}, where an object is expected.")
    for shard in set(map(shown, weights.values())) if not all(isinstance(v, str) for v in weights.values()) else ():
        raise ReaderError(f"{source}: weight_map names {shard} among its files, where file names are expected.")
    for shard in set(weights.values()):
        is_long = len(shard.encode("utf-8", "replace")) > LONGEST_NAME_BYTES
        if not shard or is_long or "/" in shard or "\\" in shard or "\0" in shard or shard in {".", ".."}:
            raise ReaderError(f"{source}: weight_map names {shown(shard)}, where plain file names are expected.")
    _refuse_names(weights, source)
    total = _named_total(metadata, "total_parameters", source)
    if total is not None and total > LARGEST_TOTAL:
        raise ReaderError(f"{source}: metadata.total_parameters is {shown(total)}, where a real model's is expected.")
    return Index(source, total, _named_total(metadata, "total_size", source), weights)


def index_tensors(index: Index, folder: Path) -> tuple[Tensor, ...] | None:
    """The tensors of all shards; None when no shard, or not every one, lies in the folder.

    Raises:
        ReaderError: a shard is broken, or holds other tensors than the index says.
    """
    if len(index.shards) > LARGEST_SHARDS or not all((folder / shard).is_file() for shard in index.shards):
        return None
    found: list[Tensor] = []
    for shard in index.shards:
        tensors = read_header(folder / shard)
        strangers = {tensor.name for tensor in tensors if index.shard_of.get(tensor.name) != shard}
        if strangers:
            raise ReaderError(
                f"{printable(shard)}: it holds {shown(min(strangers))}, which {index.source} does not place there; "
                "give files of one model."
            )
        found += tensors
    missing = index.shard_of.keys() - {tensor.name for tensor in found}
    if missing:
        raise ReaderError(f"{index.source}: {shown(min(missing))} is in no shard beside it; give files of one model.")
    return tuple(found)


def _index_total(index: Index) -> int:
    if index.total_parameters is not None:
        return index.total_parameters
    size = index.total_size_bytes
    named = "no total_parameters" if size is None else f"only total_size ({size:,} bytes), not the type of the weights"
    raise ReaderError(
        f"{index.source}: it gives {named}; put the shards or config.json beside it, or type the total number of parameters."
    )


def count_index(
    index: Index, folder: Path, *, name: str = "", date: str = "", layers: int | None = None
) -> tuple[ModelParts, bool]:
    """Count by the shards beside an index, else by the total it names.

    Returns:
        The parts, and whether they are split (False: everything is in `body_params`).

    Raises:
        ReaderError: neither shards nor metadata.total_parameters are there, or the shards are broken.
    """
    tensors = index_tensors(index, folder)
    if tensors is not None:
        parts = count_tensors(tensors, source=index.source, name=name, date=date, layers=layers)
        stored = sum(tensor.elements for tensor in tensors)
        known = {stored, parts.body_params + parts.embedding_params + (0 if parts.tied else parts.head_params)
                 + parts.mtp_params + parts.vision_params}  # fmt: skip
        if index.total_parameters is not None and index.total_parameters not in known:
            note = f"{index.source} names {index.total_parameters:,} parameters, but the shards hold {stored:,} elements."
            parts = ModelParts.model_validate({**dict(parts), "notes": (*parts.notes, note)})
        return parts, True
    total = _index_total(index)
    notes = ["The index gives the total only: embedding, head, MTP and vision are not told apart."]
    if any(_SCALE.search(tensor) for tensor in index.shard_of):
        notes.append("The index is of a quantised export: its total may count scale factors.")
    parts = ModelParts(
        name=printable(name) or index.source,
        family="not named",
        source=index.source,
        date=date,
        body_params=total,
        notes=tuple(notes),
    )
    return parts, False
