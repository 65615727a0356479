"""Archives by torch.save: tensor bytes by the directory alone, and that no archive can claim more than it holds."""

from __future__ import annotations

import struct
import zipfile
from pathlib import Path

import pytest

from ckptplanner.data.readers.checkpoints import READERS
from ckptplanner.data.readers.errors import ReaderError
from ckptplanner.data.readers.source import open_file
from ckptplanner.data.readers.torch_zip import Archive, read_archive, starts_like_one

SAMPLES = Path(__file__).parent / "samples" / "checkpoints"
LIGHTNING = SAMPLES / "lightning-2.6.6" / "epoch=0-step=4.ckpt"
OPTIMIZER = SAMPLES / "hf-trainer-5.24.0" / "checkpoint-4" / "optimizer.pt"


def archive(path: Path, entries: dict[str, bytes], *, packed: bool = False) -> Path:
    """A zip as torch.save lays it out."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED if packed else zipfile.ZIP_STORED) as file:
        for name, content in entries.items():
            file.writestr(f"archive/{name}", content)
    return path


def read(path: Path) -> Archive:
    return read_archive(path, path.name)


def test_tensor_bytes_of_a_lightning_checkpoint() -> None:
    """1,681 fp32 parameters and two moments: 12 bytes each, and the 4 bytes of two steps and some counters."""
    found = read(LIGHTNING)
    assert 0 <= found.tensor_bytes - 12 * 1681 <= 64
    assert {"lightning", "optimizer", "weights"} <= found.says


def test_tensor_bytes_of_an_optimizer() -> None:
    """Two fp32 moments of 920 parameters, and one step of 4 bytes for each of their tensors."""
    found = read(OPTIMIZER)
    assert 0 <= found.tensor_bytes - 8 * 920 <= 64
    assert "lightning" not in found.says


def test_the_sum_is_of_the_data_alone(tmp_path: Path) -> None:
    """40,000 and 170,000 bytes, as in ECOSYSTEM 1c."""
    path = archive(
        tmp_path / "x.pt", {"data.pkl": b"\x80\x02}.", "data/0": bytes(40_000), "data/1": bytes(170_000), "version": b"3\n"}
    )
    assert read(path) == Archive(210_000, 2, len(b"\x80\x02}.") + 2, frozenset())


def test_by_content_not_by_name(tmp_path: Path) -> None:
    path = archive(tmp_path / "x.txt", {"data.pkl": b"\x80\x02}.", "data/0": bytes(8)})
    found = next(reader for reader in READERS if reader.knows(open_file(path).head)).read(open_file(path))
    assert found.measured[0].values == (8.0,)
    other = tmp_path / "x.pt"
    with zipfile.ZipFile(other, "w") as file:
        file.writestr("word/document.xml", "<x/>")
    assert not any(reader.knows(open_file(other).head) for reader in READERS)


def test_what_resuming_needs_is_told(tmp_path: Path) -> None:
    weights = archive(tmp_path / "w.pt", {"data.pkl": b"\x80\x02X\x08\x00\x00\x00a.weight.", "data/0": bytes(8)})
    for path, doubtful, warned in ((weights, True, True), (LIGHTNING, False, False), (OPTIMIZER, True, False)):
        found = READERS[0].read(open_file(path))
        assert found.measured[0].is_doubtful is doubtful
        assert any("cannot resume" in str(warning) for warning in found.warnings) is warned


def test_an_adapter_is_not_the_model(tmp_path: Path) -> None:
    path = archive(tmp_path / "a.bin", {"data.pkl": b"\x80\x02q.lora_A.weight exp_avg", "data/0": bytes(8)})
    found = READERS[0].read(open_file(path))
    assert found.measured[0].is_doubtful
    assert "adapter" in str(found.warnings[0])


# ---------------------------------------------------------------- hostile


def patched(path: Path, *, plain: int, packed: int, method: int = 0, wide: bool = False) -> Path:
    """Change what the directory says of the entry data/0."""
    raw = bytearray(path.read_bytes())
    at = raw.find(b"archive/data/0", raw.find(b"PK\x01\x02")) - 46
    struct.pack_into("<H", raw, at + 10, method)
    struct.pack_into("<II", raw, at + 20, min(packed, 0xFFFFFFFF), min(plain, 0xFFFFFFFF))
    if wide:  # sizes in the extra field, which is put in behind the name
        extra = struct.pack("<HHQQ", 1, 16, plain, packed)
        struct.pack_into("<H", raw, at + 30, len(extra))
        end = at + 46 + len(b"archive/data/0")
        raw[end:end] = extra
        tail = raw.rfind(b"PK\x05\x06")
        (length,) = struct.unpack_from("<I", raw, tail + 12)
        struct.pack_into("<I", raw, tail + 12, length + len(extra))
    path.write_bytes(raw)
    return path


def good(folder: Path) -> Path:
    return archive(folder / "x.pt", {"data.pkl": b"\x80\x02}.", "data/0": bytes(64), "data/1": bytes(64)})


def test_an_archive_that_claims_terabytes_is_refused(tmp_path: Path) -> None:
    path = patched(good(tmp_path), plain=1 << 42, packed=1 << 42, wide=True)
    with pytest.raises(ReaderError, match=r"claims 4,398,046,511,104 bytes, where the file has"):
        read(path)


def test_wide_sizes_are_read(tmp_path: Path) -> None:
    """Zip64: the same numbers in the extra field."""
    raw = good(tmp_path).read_bytes()
    path = patched(good(tmp_path), plain=0xFFFFFFFF, packed=0xFFFFFFFF, wide=True)
    at = path.read_bytes().find(struct.pack("<HHQQ", 1, 16, 0xFFFFFFFF, 0xFFFFFFFF))
    fixed = bytearray(path.read_bytes())
    struct.pack_into("<QQ", fixed, at + 4, 64, 64)
    path.write_bytes(fixed)
    assert len(raw) + 20 == len(fixed)
    assert read(path).tensor_bytes == 128


def test_a_bomb_is_never_opened(tmp_path: Path) -> None:
    path = archive(tmp_path / "x.pt", {"data.pkl": b"\x80\x02}.", "data/0": bytes(50_000_000)}, packed=True)
    assert path.stat().st_size < 100_000
    with pytest.raises(ReaderError, match="compressed"):
        read(path)


def test_entries_that_lie_over_one_another_are_refused(tmp_path: Path) -> None:
    """Each fits into the file; all together do not."""
    path = good(tmp_path)
    size = path.stat().st_size
    patched(path, plain=size - 200, packed=size - 200)
    raw = bytearray(path.read_bytes())
    at = raw.find(b"archive/data/1", raw.find(b"PK\x01\x02")) - 46
    struct.pack_into("<III", raw, at + 20, size - 200, size - 200, 0)
    struct.pack_into("<I", raw, at + 42, 0)
    path.write_bytes(raw)
    with pytest.raises(ReaderError, match=r"together|claims"):
        read(path)


@pytest.mark.parametrize("keep", [0, 10, 40, 500, -1, -10, -22, -30, -200])
def test_cut_off(tmp_path: Path, keep: int) -> None:
    path = tmp_path / "x.ckpt"
    path.write_bytes(LIGHTNING.read_bytes()[:keep])
    with pytest.raises(ReaderError):
        read(path)


def test_a_data_file_of_a_distributed_checkpoint_is_many_archives() -> None:
    """The directory at its end is of the last tensor alone."""
    with pytest.raises(ReaderError, match=r"the folder with \.metadata"):
        read(SAMPLES.parent / "dcp" / "torchtitan-like" / "step-2" / "__1_0.distcp")


def test_a_directory_of_too_many_entries(tmp_path: Path) -> None:
    path = good(tmp_path)
    raw = bytearray(path.read_bytes())
    tail = raw.rfind(b"PK\x05\x06")
    struct.pack_into("<H", raw, tail + 10, 0xFFFF)
    path.write_bytes(raw)
    with pytest.raises(ReaderError):
        read(path)


def test_every_byte_changed_ends_in_a_value_or_a_sentence(tmp_path: Path) -> None:
    raw = good(tmp_path).read_bytes()
    path = tmp_path / "y.pt"
    refused = 0
    for at in range(len(raw)):
        for value in (255, raw[at] ^ 1):
            path.write_bytes(raw[:at] + bytes([value]) + raw[at + 1 :])
            try:
                size = read(path).tensor_bytes
            except ReaderError:
                refused += 1
            else:
                assert 0 <= size <= len(raw)
    assert refused > 50


def test_the_first_bytes_tell() -> None:
    assert starts_like_one(LIGHTNING.read_bytes()[:100])
    for start in (
        b"",
        b"PK\x03\x04",
        b"PK\x03\x04" + bytes(26),
        b"PK\x03\x04" + bytes(22) + b"\xff\xff\x00\x00" + b"a/data.pkl",
    ):
        assert not starts_like_one(start)
