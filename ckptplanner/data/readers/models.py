"""One door for a model's files: `read_model(path)` takes a config.json, an index, a .safetensors file or their folder.

    config.json ---------------------- count_config ----+
                                                        +-- both there: the weights give the count, the config
    index or .safetensors headers ---- count_index, ----+   the split and the active share; a difference is noted
                                       count_tensors

What a file is shows in its content, not in its name. Nothing is imported, unpickled or fetched.
"""

from __future__ import annotations

import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ckptplanner.data.readers.errors import ReaderError, UnknownFamily, printable, shown
from ckptplanner.data.readers.hf_config import Shape, count_config, text_shape
from ckptplanner.data.readers.safetensors import (
    HEADER_CAP_BYTES,
    SHARD,
    Index,
    count_index,
    count_tensors,
    file_date,
    json_object,
    parse_index,
    read_header,
    shards_beside,
)
from ckptplanner.data.records import ModelParts

CONFIG_CAP_BYTES = 5_000_000
_ACCEPTED = "config.json, model.safetensors.index.json, a .safetensors file or a folder with them"
_GENERIC_STEMS = ("config", "model", "consolidated", "pytorch_model")

# first bytes -> what the file is; named so that the refusal can say it
_FOREIGN = {b"PK\x03\x04": "a zip archive, as torch.save writes it", b"\x80": "a pickle", b"GGUF": "a GGUF file"}


@dataclass(frozen=True, slots=True)
class _Source:
    """What was recognised at one place: config, index and files of weights, each of them if there."""

    folder: Path
    name: str
    config_path: Path | None = None
    weights_path: Path | None = None


def _regular_size(path: Path) -> int:
    """Size of a regular file. [B] Devices and pipes are refused, for reading them may never end."""
    label = printable(path.name) or printable(str(path))
    try:
        status = path.stat()
    except (OSError, ValueError):
        raise ReaderError(f"{label}: there is no such file; {_ACCEPTED} is expected.") from None
    if not stat.S_ISREG(status.st_mode):
        raise ReaderError(f"{label}: this is no regular file; {_ACCEPTED} is expected.")
    return status.st_size


def _start(path: Path) -> bytes:
    """The first 64 bytes."""
    try:
        with path.open("rb") as file:
            return file.read(64)
    except OSError as error:
        raise _unreadable(path, error) from None


def _unreadable(path: Path, error: OSError) -> ReaderError:
    return ReaderError(f"{printable(path.name)}: it cannot be read ({error.strerror}); {_ACCEPTED} is expected.")


def _is_json(start: bytes) -> bool:
    return start.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] == b"{"


def _kind(path: Path) -> str:
    """Which kind of file this is by its first bytes: json or safetensors.

    Raises:
        ReaderError: anything else.
    """
    size, start = _regular_size(path), _start(path)
    if _is_json(start):
        return "json"
    if start[8:9] == b"{":
        return "safetensors"
    what = next((words for magic, words in _FOREIGN.items() if start.startswith(magic)), None)
    what = what or (f"a file of {size} bytes that is neither a JSON object nor safetensors")
    raise ReaderError(f"{printable(path.name)}: this is {what}; {_ACCEPTED} is expected.")


def _json(path: Path) -> dict[str, Any]:
    """A decoded config.json (up to 5 MB) or index (up to 100 MB)."""
    source, size = printable(path.name), _regular_size(path)
    if size > HEADER_CAP_BYTES:
        raise ReaderError(f"{source}: it has {size:,} bytes, where at most {HEADER_CAP_BYTES:,} are expected.")
    try:
        with path.open("rb") as file:
            raw = file.read(HEADER_CAP_BYTES)
    except OSError as error:
        raise _unreadable(path, error) from None
    if len(raw) > CONFIG_CAP_BYTES and b'"weight_map"' not in raw:
        raise ReaderError(f"{source}: it has {len(raw):,} bytes, where a config.json of at most 5 MB is expected.")
    return json_object(raw, source)


def _model_name(path: Path) -> str:
    """What the user calls the model: the file's name where it says something, else its folder's."""
    stem = path.name.split(".")[0]
    return printable(path.parent.name if stem.startswith(_GENERIC_STEMS) and path.parent.name else stem)


def _source_of_file(path: Path) -> _Source:
    """A file given by itself; beside weights a config.json is used too, beside a config nothing is."""
    if path.name == "adapter_config.json":
        raise ReaderError("adapter_config.json: this describes an adapter, not the model; give the model's own files.")
    if _kind(path) == "json" and "weight_map" not in _json(path):
        return _Source(path.parent, _model_name(path), config_path=path)
    config = path.with_name("config.json")
    return _Source(path.parent, _model_name(path), config if config.is_file() else None, path)


def _weights_in(folder: Path) -> Path | None:
    """The index, else the only model among the .safetensors files of a folder."""
    names = sorted(child.name for child in folder.iterdir() if child.name.endswith((".safetensors", ".index.json")))
    names = [name for name in names if not name.startswith("adapter_")]
    for wanted in ("model.safetensors.index.json", "model.safetensors"):
        if wanted in names:
            return folder / wanted
    indexes = [name for name in names if name.endswith(".safetensors.index.json")]
    if indexes:
        return folder / indexes[0]
    weights = [name for name in names if name.endswith(".safetensors")]
    models = {SHARD.sub("", name) for name in weights}
    if len(models) > 1:
        if (folder / "config.json").is_file():
            return None
        raise ReaderError(
            f"{printable(folder.name)}: it holds {len(models)} models ({shown(weights[0])}, ...); choose one file."
        )
    return folder / weights[0] if weights else None


def _source_of_folder(folder: Path) -> _Source:
    label = printable(folder.name) or printable(str(folder))
    try:
        weights = _weights_in(folder)
        has_adapter = (folder / "adapter_config.json").is_file()
    except OSError as error:
        raise _unreadable(folder, error) from None
    config = folder / "config.json"
    source = _Source(folder, printable(folder.name), config if config.is_file() else None, weights)
    if source.config_path is None and weights is None:
        what = "holds an adapter, not a model" if has_adapter else "holds no model's files"
        raise ReaderError(f"{label}: the folder {what}; {_ACCEPTED} is expected.")
    return source


def _layers_of(config: dict[str, Any] | None) -> int | None:
    """num_hidden_layers of a config that need not be countable; None when it does not say."""
    if config is None:
        return None
    try:
        return text_shape(Shape("config.json", config)).layers
    except ReaderError:
        return None


def _from_weights(path: Path, name: str, layers: int | None) -> tuple[ModelParts, bool]:
    """Count by an index or by headers: the parts, and whether they are split."""
    source, date = printable(path.name), file_date(path)
    if _kind(path) == "json":
        index: Index = parse_index(_json(path), source)
        return count_index(index, path.parent, name=name, date=date, layers=layers)
    if path.name.startswith("adapter_"):
        raise ReaderError(f"{source}: this is an adapter, not the model; give the model's own files.")
    tensors = [tensor for shard in shards_beside(path) for tensor in read_header(shard)]
    return count_tensors(tensors, source=source, name=name, date=date, layers=layers), True


def _changed(parts: ModelParts, **values: Any) -> ModelParts:
    """A validated copy with other values."""
    return ModelParts.model_validate({**dict(parts), **values})


def _noted(parts: ModelParts, *notes: str) -> ModelParts:
    return _changed(parts, notes=tuple(dict.fromkeys((*parts.notes, *notes))))


def _text_params(parts: ModelParts) -> float:
    """Body, embedding and head as stored. [params]"""
    return parts.body_params + parts.embedding_params + (0 if parts.tied else parts.head_params)


def _merge_split(weights: ModelParts, config: ModelParts) -> ModelParts:
    """Count and split as the tensors have them; family, active share and what they lack from the config."""
    values: dict[str, Any] = {"family": config.family, "notes": weights.notes}
    if not weights.mtp_params and config.mtp_params:
        values["mtp_params"] = config.mtp_params
    if weights.embedding_params and weights.embedding_params != config.embedding_params:
        values["notes"] += (
            f"Embedding: {weights.embedding_params:,.0f} parameters in the weights, {config.embedding_params:,.0f} by "
            "config.json; the weights' is used.",
        )
    stored, computed = _text_params(weights), _text_params(config)
    if stored == computed and weights.embedding_params:
        values["active_body_params"] = config.active_body_params
    else:
        active = config.active_body_params
        values["active_body_params"] = None if active is None else min(active, weights.body_params)
        values["notes"] += _difference(stored, computed) if stored != computed else ()
    known = [note for note in config.notes if weights.mtp_params == 0 or "MTP" not in note]
    if weights.vision_params:
        known = [note for note in known if "vision part" not in note]
    values["notes"] += tuple(known)
    return _changed(weights, **values)


def _difference(stored: float, computed: float) -> tuple[str, ...]:
    """The two totals side by side. [params]"""
    return (
        f"The weights hold {stored:,.0f} parameters, config.json means {computed:,.0f} "
        f"({(computed - stored) / stored:+.2%}); the weights' count is used.",
    )


def _merge_total(weights: ModelParts, config: ModelParts) -> ModelParts:
    """An index without shards gives only a sum: the config splits it, and the body takes up any difference."""
    total = weights.body_params
    text = _text_params(config)
    switches = {text, text + config.mtp_params, text + config.vision_params}
    switches.add(text + config.mtp_params + config.vision_params)
    notes = tuple(note for note in weights.notes if "told apart" not in note)
    values: dict[str, Any] = {"source": weights.source, "date": weights.date, "notes": (*notes, *config.notes)}
    if total not in switches:
        body = total - (text - config.body_params) - config.vision_params
        if body <= 0:
            return _noted(weights, *_difference(total, text + config.vision_params))
        active = config.active_body_params
        values["body_params"] = body
        values["active_body_params"] = None if active is None else min(active, body)
        values["notes"] += _difference(total, text + config.vision_params)
    return _changed(config, **values)


def _read(source: _Source) -> ModelParts:
    """Count by what is there; when one of two fails, by the other with a note that says why."""
    config, parts, trouble = None, None, None
    if source.config_path is not None:
        path = source.config_path
        try:
            config = _json(path)
            parts = count_config(config, source=printable(path.name), name=source.name, date=file_date(path))
        except ReaderError as error:
            trouble = error
    if source.weights_path is None:
        if parts is None:
            raise trouble or ReaderError(f"{source.name}: {_ACCEPTED} is expected.")
        return parts
    try:
        weights, is_split = _from_weights(source.weights_path, source.name, _layers_of(config))
    except ReaderError as error:
        if parts is None:
            raise (trouble if isinstance(trouble, UnknownFamily) else error) from None
        return _noted(parts, f"Counted by config.json alone. {error}")
    if parts is None:
        if isinstance(trouble, UnknownFamily):
            weights = _changed(weights, family=trouble.family)
        return weights if trouble is None else _noted(weights, f"Counted by the weights alone. {trouble}")
    return _merge_split(weights, parts) if is_split else _merge_total(weights, parts)


def read_model(path: str | Path) -> ModelParts:
    """Count the parameters of a model from its files.

    Args:
        path: A config.json, a model.safetensors.index.json, a .safetensors file, or a folder that holds them.

    Returns:
        The parts. In a folder, and beside a file of weights, the weights give the count and config.json the split
        into active and MTP; `notes` says when they disagree. [params]

    Raises:
        UnknownFamily: a config.json of a family that is not counted exactly, and no weights to count instead.
        ReaderError: anything else that cannot be used; one sentence for the user.
    """
    place = Path(path)
    try:
        is_folder = place.is_dir()
    except (OSError, ValueError):
        is_folder = False
    if is_folder:
        place = place.absolute()
        return _read(_source_of_folder(place))
    _regular_size(place)
    return _read(_source_of_file(place.absolute()))
