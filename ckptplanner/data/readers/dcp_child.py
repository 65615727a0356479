"""The child process that unpickles a `.metadata` file of torch.distributed.checkpoint into inert records and adds them up.

    python -I -S dcp_child.py FILE MEMORY_BYTES SECONDS   -> one line of JSON on standard output, no more than a few megabytes

It imports nothing of this package, so that it starts in milliseconds and has nothing that a hostile file could call. Every
name that the pickle asks for is looked up in a fixed table of inert things; any other name ends it. Limits on memory, time and
written files are set before the first byte is read, where the platform has them.
Names: torch 2.13.0, torch before 2.3 (`_shard.sharded_tensor`), Megatron core 0.15; read 2026-11-29.
"""

import gc
import json
import os
import pickle
import sys
from collections import Counter
from typing import Any, NoReturn

FILE_CAP_BYTES = 512_000_000
FILES_CAP = 100_000  # data files that are named one by one in the answer
LARGEST = 10**18  # elements or bytes

_METADATA = "torch.distributed.checkpoint.metadata"
_OLD_METADATA = "torch.distributed._shard.sharded_tensor.metadata"
_MCORE = "megatron.core.dist_checkpointing.strategies.torch"

DTYPE_BYTES = {
    "float64": 8, "double": 8, "float32": 4, "float": 4, "float16": 2, "half": 2, "bfloat16": 2,
    "float8_e4m3fn": 1, "float8_e4m3fnuz": 1, "float8_e5m2": 1, "float8_e5m2fnuz": 1, "float8_e8m0fnu": 1,
    "float4_e2m1fn_x2": 1, "complex32": 4, "complex64": 8, "complex128": 16,
    "int64": 8, "long": 8, "int32": 4, "int": 4, "int16": 2, "short": 2, "int8": 1, "uint8": 1, "uint16": 2, "uint32": 4,
    "uint64": 8, "bool": 1, "quint8": 1, "qint8": 1, "qint32": 4,
}  # fmt: skip

MOMENTS = frozenset({"exp_avg", "exp_avg_sq", "max_exp_avg_sq", "exp_inf", "momentum_buffer", "momentum", "square_avg",
                     "grad_avg", "acc_delta", "exp_avg_diff", "moment1", "moment2"})  # fmt: skip
_MASTERS = frozenset({"fp32_param", "param", "main_param", "master_param", "master_params", "master_weight", "master_weights",
                      "fp32_from_fp16"})  # fmt: skip
_NO_WEIGHTS = frozenset({"train_state", "dataloader", "lr_scheduler", "rng_state", "common_state", "loops", "callbacks",
                         "rerun_state_machine_state", "opt_param_scheduler", "scheduler"})  # fmt: skip
_BUFFERS = ("inv_freq", "freqs_cis", "position_ids", "expert_bias", "e_score_correction_bias", "running_mean", "running_var",
            "num_batches_tracked", "tokens_per_expert", "_extra_state")  # fmt: skip


class Refused(Exception):  # noqa: N818 - read as what it is in the sentence of an except
    """What the file asks for is not given."""


class Record:
    """Holds the state that the pickle gives to an object, and does nothing with it."""

    __slots__ = ("state",)
    state: Any

    def __setstate__(self, state: object) -> None:
        self.state = state


class Metadata(Record):
    __slots__ = ()


class TensorEntry(Record):
    __slots__ = ()


class BytesEntry(Record):
    __slots__ = ()


class Properties(Record):
    __slots__ = ()


class Index(Record):
    __slots__ = ()


class Stored(Record):
    __slots__ = ()


class Ignored(Record):
    """Chunks and the like: there may be millions, and nothing of them is needed."""

    __slots__ = ()

    def __setstate__(self, state: object) -> None:
        return None


class Inert:
    """Stands for a function or an enumeration; called, it gives nothing."""

    __slots__ = ()

    def __call__(self, *_: object) -> None:
        return None

    def __setstate__(self, state: object) -> NoReturn:
        raise Refused("a function is given a state")


class Shape(Inert):
    """Stands for torch.Size; called, it gives the tuple back."""

    __slots__ = ()

    def __call__(self, *sizes: object) -> Any:
        return sizes[0] if len(sizes) == 1 and type(sizes[0]) is tuple else ()


class Dtype:
    """Stands for torch.float32 and the like."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __setstate__(self, state: object) -> NoReturn:
        raise Refused("a type is given a state")


_INERT = Inert()
ALLOWED: dict[tuple[str, str], object] = {
    (_METADATA, "Metadata"): Metadata,
    (_METADATA, "TensorStorageMetadata"): TensorEntry,
    (_METADATA, "BytesStorageMetadata"): BytesEntry,
    (_METADATA, "TensorProperties"): Properties,
    (_METADATA, "ChunkStorageMetadata"): Ignored,
    (_METADATA, "MetadataIndex"): Index,
    (_METADATA, "StorageMeta"): Ignored,
    (_METADATA, "_MEM_FORMAT_ENCODING"): _INERT,
    (_OLD_METADATA, "TensorProperties"): Properties,
    (_OLD_METADATA, "MEM_FORMAT_ENCODING"): _INERT,
    ("torch.distributed.checkpoint.filesystem", "_StorageInfo"): Stored,
    ("torch", "Size"): Shape(),
    ("torch.serialization", "_get_layout"): _INERT,
    (_MCORE, "MCoreMetadata"): Metadata,
    (_MCORE, "MCoreSavePlan"): Ignored,
}
ALLOWED |= {("torch", name): Dtype(name) for name in DTYPE_BYTES}
ALLOWED |= {
    (module, name): _INERT
    for module in ("pathlib", "pathlib._local")
    for name in ("Path", "PosixPath", "WindowsPath", "PurePath", "PurePosixPath", "PureWindowsPath")
}


class Unpickler(pickle.Unpickler):
    """Knows the names of ALLOWED and nothing else."""

    def find_class(self, module: str, name: str, /) -> Any:
        found = ALLOWED.get((str(module), str(name)))
        if found is None:
            raise Refused(f"{str(module)[:80]}.{str(name)[:80]}")
        return found

    def persistent_load(self, pid: object, /) -> NoReturn:
        raise Refused("a persistent id")


def component_of(name: str, dtype: str) -> str:
    """What a tensor is by its key: weights, master, moments, optimizer (the rest of it), buffers or other.

    The rest of an optimizer that has one element (its step, its rate) is counted as other by `added_up`.
    """
    parts = name.split(".")
    at = next((i for i, part in enumerate(parts[:3]) if part.startswith("optim") or part == "fp32_from_fp16_params"), None)
    if at is not None:
        rest = parts[at + 1 :]
        if parts[-1] == "step" or rest[:1] == ["param_groups"]:
            return "optimizer"
        if not MOMENTS.isdisjoint(rest):
            return "moments"
        return "optimizer" if _MASTERS.isdisjoint(rest) else "master"
    if not _NO_WEIGHTS.isdisjoint(parts[:2]):
        return "other"
    if not dtype.startswith(("float", "bfloat", "half", "double")) or parts[-1].startswith(_BUFFERS):
        return "buffers"
    return "weights"


def moment_of(name: str) -> str:
    """The name of the moment that a tensor is."""
    return next((part for part in name.split(".") if part in MOMENTS), "")


def _state(record: object, kind: type[Record]) -> dict[Any, Any]:
    state = getattr(record, "state", None) if type(record) is kind else None
    return state if type(state) is dict else {}


def _tensor(name: str, record: object) -> tuple[str, int]:
    """Type and number of elements."""
    state = _state(record, TensorEntry)
    size, properties = state.get("size"), state.get("properties")
    held = getattr(properties, "state", None) if type(properties) is Properties else None
    dtype = held[0] if type(held) is tuple and held else held.get("dtype") if type(held) is dict else None
    if type(size) is not tuple or len(size) > 16 or type(dtype) is not Dtype:
        raise Refused(f"the entry {name[:80]} without size and type")
    elements = 1
    for length in size:
        if type(length) is not int or not 0 <= length <= LARGEST or elements * length > LARGEST:
            raise Refused(f"the entry {name[:80]} with a size that no tensor has")
        elements *= length
    return dtype.name, elements


def _stored(storage: object, blobs: set[str]) -> tuple[dict[str, int], int]:
    """Data files with the bytes that they must have at least, and the bytes of entries that are no tensors."""
    ends: dict[str, int] = {}
    blob_bytes = 0
    for index, record in storage.items() if type(storage) is dict else ():
        place = _state(record, Stored)
        path, offset, length = place.get("relative_path"), place.get("offset"), place.get("length")
        if type(path) is not str or type(offset) is not int or type(length) is not int:
            continue
        if not (0 <= offset <= LARGEST and 0 <= length <= LARGEST):
            raise Refused("a place in a data file that no file has")
        ends[path] = max(ends.get(path, 0), offset + length)
        name = _state(index, Index).get("fqn")
        if type(name) is str and name in blobs:
            blob_bytes += length
    return ends, blob_bytes


def added_up(root: object) -> dict[str, Any]:
    """The sums over all entries of an unpickled file."""
    state = _state(root, Metadata)
    entries = state.get("state_dict_metadata")
    if type(entries) is not dict:
        raise Refused("something else than the Metadata of a checkpoint")
    elements: Counter[tuple[str, str]] = Counter()
    tensors: Counter[tuple[str, str]] = Counter()
    moments: set[str] = set()
    blobs: set[str] = set()
    for name, record in entries.items():
        if type(name) is not str:
            raise Refused("an entry without a name")
        if type(record) is BytesEntry:
            blobs.add(name)
            continue
        dtype, count = _tensor(name, record)
        part = component_of(name, dtype)
        key = ("other" if part == "optimizer" and count <= 1 else part, dtype)
        elements[key] += count
        tensors[key] += 1
        if key[0] == "moments":
            moments.add(moment_of(name))
    if sum(elements.values()) > LARGEST:
        raise Refused("tensors of a size that no checkpoint has")
    ends, blob_bytes = _stored(state.get("storage_data"), blobs)
    named = [[path[:300], end] for path, end in list(ends.items())[:FILES_CAP]]
    return {
        "sums": [[part, dtype, count, tensors[part, dtype]] for (part, dtype), count in sorted(elements.items())],
        "moments": sorted(moments),
        "blobs": len(blobs),
        "blob_bytes": min(blob_bytes, LARGEST),
        "files": named,
        "files_left_out": len(ends) - len(named),
    }


def limit(memory_bytes: int, seconds: int) -> None:
    """Bound this process; a platform without such limits has only the clock of the parent."""
    try:
        import resource
    except ImportError:
        return
    wanted = {"RLIMIT_AS": memory_bytes, "RLIMIT_CPU": seconds, "RLIMIT_FSIZE": 0, "RLIMIT_CORE": 0, "RLIMIT_NPROC": 0}
    for name, most in wanted.items():
        try:
            resource.setrlimit(getattr(resource, name), (most, most))
        except (AttributeError, ValueError, OSError):
            continue


def answer_for(path: str) -> dict[str, Any]:
    """What the parent is told: sums, or why there are none."""
    try:
        with open(path, "rb") as file:
            if os.fstat(file.fileno()).st_size > FILE_CAP_BYTES:
                return {"refused": "too large"}
            root = Unpickler(file, encoding="utf-8").load()
        return added_up(root)
    except Refused as error:
        return {"refused": "asks for", "what": str(error)}
    except MemoryError:
        return {"refused": "memory"}
    except Exception as error:  # noqa: BLE001 - a pickle can raise anything; the parent is told what
        return {"refused": "broken", "what": type(error).__name__}


def main(arguments: list[str]) -> int:
    """Answer for one file and end without clearing up: taking a deep structure apart can take long."""
    path, memory_bytes, seconds = arguments
    limit(int(memory_bytes), int(seconds))
    gc.disable()
    sys.stdout.write(json.dumps(answer_for(path)) + "\n")
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1:])
