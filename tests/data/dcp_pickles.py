"""Writes `.metadata` pickles by hand, opcode by opcode, so that tests need no torch and can write hostile ones."""

from __future__ import annotations

import pickle
from collections.abc import Mapping

METADATA = "torch.distributed.checkpoint.metadata"
OLD_METADATA = "torch.distributed._shard.sharded_tensor.metadata"


def name(module: str, attribute: str) -> bytes:
    """GLOBAL"""
    return b"c" + module.encode() + b"\n" + attribute.encode() + b"\n"


def plain(value: object) -> bytes:
    return pickle.dumps(value, 2)[2:-1]


def called(function: bytes, *arguments: object) -> bytes:
    """REDUCE"""
    return function + plain(tuple(arguments)) + b"R"


def mapping(items: Mapping[bytes, bytes]) -> bytes:
    return b"}(" + b"".join(key + value for key, value in items.items()) + b"u"


def record(module: str, kind: str, state: bytes) -> bytes:
    """NEWOBJ and BUILD"""
    return name(module, kind) + b")\x81" + state + b"b"


def fields(**values: bytes) -> bytes:
    return mapping({plain(key): value for key, value in values.items()})


def tensor(dtype: str, size: tuple[int, ...], properties: str = METADATA) -> bytes:
    layout = called(name("torch.serialization", "_get_layout"), "torch.strided")
    encoding = "_MEM_FORMAT_ENCODING" if properties == METADATA else "MEM_FORMAT_ENCODING"
    state = b"(" + name("torch", dtype) + layout + b"\x89" + called(name(properties, encoding), 0) + b"\x89t"
    return record(
        METADATA,
        "TensorStorageMetadata",
        fields(
            properties=record(properties, "TensorProperties", state),
            size=called(name("torch", "Size"), size),
            chunks=b"]" + record(METADATA, "ChunkStorageMetadata", fields(sizes=called(name("torch", "Size"), size))) + b"a",
        ),
    )


def metadata(
    tensors: Mapping[str, tuple[str, tuple[int, ...]]],
    files: Mapping[str, int] | None = None,
    *,
    root: tuple[str, str] = (METADATA, "Metadata"),
    properties: str = METADATA,
    entries: Mapping[bytes, bytes] | None = None,
) -> bytes:
    """A whole file.

    Args:
        tensors: Key -> type and size.
        files: Data file -> its length.
        root: Name of the outermost record.
        properties: Module of TensorProperties.
        entries: More of state_dict_metadata, as opcodes.
    """
    described = {plain(key): tensor(dtype, size, properties) for key, (dtype, size) in tensors.items()} | dict(entries or {})
    stored = {
        record(METADATA, "MetadataIndex", fields(fqn=plain(file))): record(
            "torch.distributed.checkpoint.filesystem",
            "_StorageInfo",
            fields(relative_path=plain(file), offset=plain(0), length=plain(length)),
        )
        for file, length in (files or {}).items()
    }
    return b"\x80\x02" + record(*root, fields(state_dict_metadata=mapping(described), storage_data=mapping(stored))) + b"."
