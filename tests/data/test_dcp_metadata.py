"""`.metadata` files: sums of the samples, and that hostile ones run nothing and end within the limits."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from ckptplanner.data.readers import dcp_metadata
from ckptplanner.data.readers.dcp_child import FILE_CAP_BYTES, component_of
from ckptplanner.data.readers.dcp_metadata import CHILD_FLAG, Metadata, read_metadata
from ckptplanner.data.readers.errors import ReaderError
from tests.data.dcp_pickles import METADATA, OLD_METADATA, called, fields, metadata, name, plain, record, tensor

SAMPLES = Path(__file__).parent / "samples" / "dcp"
TORCHTITAN = SAMPLES / "torchtitan-like" / "step-2" / ".metadata"
MEGATRON = SAMPLES / "megatron-torch_dist-like" / "iter_0001000" / ".metadata"


def read(path: Path) -> Metadata:
    return read_metadata(path, path.name, lambda _: None)


def written(folder: Path, raw: bytes) -> Path:
    path = folder / ".metadata"
    path.write_bytes(raw)
    return path


def parts(found: Metadata) -> dict[tuple[str, str], int]:
    return {(row.part, row.dtype): row.elements for row in found.sums if row.part != "other"}


def test_fp32_weights_and_two_moments() -> None:
    found = read(TORCHTITAN)
    assert parts(found) == {("weights", "float32"): 6144, ("moments", "float32"): 2 * 6144}
    assert found.moments == ("exp_avg", "exp_avg_sq")
    assert set(found.files) == {"__0_0.distcp", "__1_0.distcp"}


def test_bf16_weights_with_fp32_masters() -> None:
    found = read(MEGATRON)
    assert parts(found) == {("weights", "bfloat16"): 6144, ("master", "float32"): 6144, ("moments", "float32"): 2 * 6144}
    assert found.size_bytes() == 14 * 6144
    assert found.blobs == 2


def test_what_tests_write_by_hand_reads_like_what_torch_writes(tmp_path: Path) -> None:
    found = read(written(tmp_path, metadata({"model.w": ("bfloat16", (4, 8))}, {"__0_0.distcp": 100})))
    assert parts(found) == {("weights", "bfloat16"): 32}
    assert found.files == {"__0_0.distcp": 100}


@pytest.mark.parametrize(
    ("root", "properties"),
    [
        ((METADATA, "Metadata"), OLD_METADATA),
        (("megatron.core.dist_checkpointing.strategies.torch", "MCoreMetadata"), METADATA),
    ],
)
def test_names_of_older_versions(tmp_path: Path, root: tuple[str, str], properties: str) -> None:
    raw = metadata({"w": ("float32", (3, 5))}, root=root, properties=properties)
    assert parts(read(written(tmp_path, raw))) == {("weights", "float32"): 15}


@pytest.mark.parametrize(
    ("key", "dtype", "part"),
    [
        ("tok_embeddings.weight", "bfloat16", "weights"),
        ("model.layers.0.w", "float32", "weights"),
        ("optimizer.state.layers.0.w.exp_avg", "float32", "moments"),
        ("optimizer.state.exp_avg_sq.decoder.layers.w", "float32", "moments"),
        ("chained_0.optimizer.state.fp32_param.decoder.w", "float32", "master"),
        ("optimizer.distributed.dp_group_idx_0.gbuf_idx_0.dtype_(torch.bfloat16, torch.bfloat16).bucket_idx_0.param", "float32",
         "master"),
        ("optimizer_0.state.w.exp_avg", "float32", "moments"),
        ("optimizer.state.w.step", "float32", "optimizer"),
        ("optimizer.param_groups.0.lr", "float32", "optimizer"),
        ("optimizer.state.w.absmax1", "float32", "optimizer"),
        ("train_state.step", "int32", "other"),
        ("layers.0.rope.inv_freq", "float32", "buffers"),
        ("layers.0.position_ids", "int64", "buffers"),
    ],
)  # fmt: skip
def test_what_a_tensor_is_by_its_key(key: str, dtype: str, part: str) -> None:
    assert component_of(key, dtype) == part


# ---------------------------------------------------------------- hostile


class Runs:
    """Its unpickling runs a command that leaves a file behind."""

    def __init__(self, function: Callable[..., object], *arguments: object) -> None:
        self.function, self.arguments = function, arguments

    def __reduce__(self) -> tuple[Callable[..., object], tuple[object, ...]]:
        return self.function, self.arguments


@pytest.mark.parametrize("protocol", [0, 2, 4])
@pytest.mark.parametrize(
    ("function", "shown"),
    [(os.system, ".system"), (eval, ".eval"), (exec, ".exec"), (subprocess.call, ".call"), (getattr, ".getattr")],
    ids=["system", "eval", "exec", "call", "getattr"],
)
def test_a_pickle_that_tries_to_run_code_is_refused_by_name(
    tmp_path: Path, function: Callable[..., object], shown: str, protocol: int
) -> None:
    mark = tmp_path / "it-ran"
    words = f"touch {mark}" if function in (os.system, subprocess.call) else f"open({str(mark)!r}, 'w').close()"
    raw = pickle.dumps(Runs(function, words), protocol)
    with pytest.raises(ReaderError, match=shown):
        read(written(tmp_path, raw))
    assert not mark.exists()


def test_it_would_have_run(tmp_path: Path) -> None:
    """The same pickle, read without care: or the test above would show nothing."""
    mark = tmp_path / "it-ran"
    pickle.loads(pickle.dumps(Runs(eval, f"open({str(mark)!r}, 'w').close()")))
    assert mark.exists()


def test_hidden_in_a_good_file(tmp_path: Path) -> None:
    mark = tmp_path / "it-ran"
    bad = {plain("x"): called(name("os", "system"), f"touch {mark}")}
    with pytest.raises(ReaderError, match=r"asks for os\.system"):
        read(written(tmp_path, metadata({"w": ("float32", (2,))}, entries=bad)))
    assert not mark.exists()


def laughs(levels: int) -> bytes:
    """Tuples of ten times the tuple before: a few hundred bytes, 10^levels ends; the last is in the memo at `levels`."""
    return b")q\x00" + b"".join(b"(" + (b"h" + bytes([i])) * 10 + b"tq" + bytes([i + 1]) for i in range(levels))


HOSTILE = {
    "empty": b"",
    "no pickle": b"hello, this is no pickle",
    "cut": TORCHTITAN.read_bytes()[:6000],
    "persistent id": b"\x80\x02X\x01\x00\x00\x00xQ.",
    "persistent id, protocol 0": b"Pxyz\n.",
    "extension": b"\x80\x02\x82\x01.",
    "instance": b"(ios\nsystem\n.",
    "dotted": b"\x80\x04\x8c\x05torch\x8c\x0cSize.__new__\x93.",
    "attribute of ours": b"c" + METADATA.encode() + b"\nMetadata.__init__\n.",
    "other root": plain({"a": 1}).join((b"\x80\x02", b".")),
    "state for a function": b"\x80\x02" + name("torch", "Size") + plain({"__call__": 1}) + b"b.",
    "state for a type": b"\x80\x02" + name("torch", "float32") + plain({"name": "x"}) + b"b.",
    "state for a class": b"\x80\x02" + name(METADATA, "Metadata") + plain({"state_dict_metadata": {}}) + b"b.",
    "a type is called": b"\x80\x02" + called(name("torch", "float32"), 1) + b".",
    "huge integer": metadata({}, entries={plain("w"): tensor("float32", (1 << 2000,))}),
    "negative size": metadata({"w": ("float32", (-5,))}),
    "true as a size": metadata({"w": ("float32", (True,))}),
    "product too large": metadata({"w": ("float32", (10**9, 10**9, 10**9))}),
    "many dimensions": metadata({"w": ("float32", (1,) * 40)}),
    "sum too large": metadata({f"w{i}": ("float32", (10**18,)) for i in range(3)}),
    "entry is no record": metadata({}, entries={plain("w"): plain([1, 2])}),
    "no entries": b"\x80\x02" + record(METADATA, "Metadata", fields(state_dict_metadata=plain([]))) + b".",
    "key is no text": metadata({}, entries={plain(5): tensor("float32", (1,))}),
    "decimal of 100,000 digits": b"L" + b"9" * 100_000 + b"L\n.",
    "memo far away": b"\x80\x02Nr\xff\xff\xff\x7f.",
    "bytes that are not there": b"\x80\x04\x8e" + (1 << 40).to_bytes(8, "little") + b"x.",
    "bytearray of a terabyte": b"\x80\x05\x96" + (1 << 40).to_bytes(8, "little") + b"x.",
    "frame of a terabyte": b"\x80\x04\x95" + (1 << 40).to_bytes(8, "little") + b"N.",
    "nested 1,000,000 deep": b"\x80\x02]" + b"\x85" * 1_000_000 + b".",
    "laughs": b"\x80\x02" + laughs(60) + b".",
    "laughs as a key": b"\x80\x02" + laughs(6) + b"}h\x06Ns.",
}  # fmt: skip


@pytest.mark.parametrize("kind", HOSTILE)
def test_hostile_and_broken_files_end_in_one_sentence(tmp_path: Path, kind: str) -> None:
    started = time.monotonic()
    with pytest.raises(ReaderError, match=r"^\.metadata: .*\.$"):
        read(written(tmp_path, HOSTILE[kind]))
    assert time.monotonic() - started < 60


def test_a_file_that_takes_for_ever_is_stopped_in_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A key of nested tuples: its hash is a walk of 10^60 steps."""
    monkeypatch.setattr(dcp_metadata, "_SECONDS", 1)
    started = time.monotonic()
    with pytest.raises(ReaderError, match=r"more than the 1 s|ended early"):
        read(written(tmp_path, b"\x80\x02" + laughs(60) + b"}h\x3cNs."))
    assert time.monotonic() - started < 10


@pytest.mark.skipif(sys.platform != "linux", reason="memory of a process is limited on Linux only")
def test_memory_is_limited(tmp_path: Path) -> None:
    """A memo index of 2^31 makes the unpickler ask for 16 GiB."""
    with pytest.raises(ReaderError, match="memory"):
        read(written(tmp_path, HOSTILE["memo far away"]))


def test_a_large_sparse_file_is_refused_by_its_size(tmp_path: Path) -> None:
    path = tmp_path / ".metadata"
    with path.open("wb") as file:
        file.truncate(5 * 1024**3)
    started = time.monotonic()
    with pytest.raises(ReaderError, match=f"{FILE_CAP_BYTES:,}"):
        read(path)
    assert time.monotonic() - started < 1


def test_the_user_can_stop_it(tmp_path: Path) -> None:
    class StoppedError(Exception):
        pass

    def progress(_: float) -> None:
        raise StoppedError

    with pytest.raises(StoppedError):
        read_metadata(TORCHTITAN, "x", progress)


def test_no_child_no_sums(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", str(SAMPLES / "no-such-program"))
    with pytest.raises(ReaderError, match="no process could be started"):
        read(TORCHTITAN)


def test_a_packaged_program_starts_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    """What `_program` asks of a packaged program, `python -m ckptplanner` does."""
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    assert dcp_metadata._program() == [sys.executable, CHILD_FLAG]  # noqa: SLF001
    monkeypatch.setattr(dcp_metadata, "_program", lambda: [sys.executable, "-m", "ckptplanner", CHILD_FLAG])
    monkeypatch.setattr(dcp_metadata, "_KEPT_ENVIRONMENT", ("SYSTEMROOT", "LD_LIBRARY_PATH", "PYTHONPATH"))
    monkeypatch.setenv("PYTHONPATH", str(Path(dcp_metadata.__file__).parents[3]))
    assert sum(parts(read(MEGATRON)).values()) == 4 * 6144


def test_the_child_loads_next_to_nothing() -> None:
    code = (
        "import sys; sys.argv = ['x']; import runpy; "
        f"runpy.run_path({str(Path(dcp_metadata.__file__).with_name('dcp_child.py'))!r}); "
        "print(*sorted({name.split('.')[0] for name in sys.modules}))"
    )
    done = subprocess.run([sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert (
        Counter(done.stdout.split()).keys().isdisjoint({"ckptplanner", "numpy", "subprocess", "socket", "pydantic", "ctypes"})
    )


def test_cut_anywhere_it_is_refused_or_read(tmp_path: Path) -> None:
    raw = MEGATRON.read_bytes()
    for at in range(0, len(raw), 1500):
        with pytest.raises(ReaderError):
            read(written(tmp_path, raw[:at]))
