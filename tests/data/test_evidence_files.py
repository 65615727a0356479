"""Gathering: every sample is known and gives its values; folders are walked safely, and one bad file costs one sentence."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from ckptplanner.data.evidence import FileEvidence, Gathered
from ckptplanner.data.readers import evidence_files
from ckptplanner.data.readers.column_mapping import ColumnMapping
from ckptplanner.data.readers.column_suggestion import suggested_mapping
from ckptplanner.data.readers.errors import ReaderError
from ckptplanner.data.readers.evidence_files import READERS, gather, read_file
from ckptplanner.data.readers.source import open_file

SAMPLES = Path(__file__).parent / "samples"


def of(found: Gathered, name: str) -> FileEvidence:
    return next(file for file in found.files if file.file.endswith(name))


def measured(file: FileEvidence, quantity: str) -> tuple[float, ...]:
    return tuple(value for one in file.measured if one.quantity == quantity for value in one.values)


@pytest.fixture(scope="module")
def everything() -> Gathered:
    return gather([SAMPLES])


# ---------------------------------------------------------------- what a reader must get (the samples' README)


def test_no_two_readers_have_one_id() -> None:
    ids = [reader.id for reader in READERS]
    assert len(set(ids)) == len(ids)


def test_each_sample_is_known_to_one_reader_alone() -> None:
    """The order of the readers decides nothing, but for the tables of any kind at the end."""
    for path in sorted(SAMPLES.rglob("*")):
        if path.is_file() and path.stat().st_size < 1_000_000:
            head = open_file(path).head
            ids = [reader.id for reader in READERS if reader.id != "table" and reader.knows(head)]
            assert len(ids) <= 1, f"{path.name}: {ids}"


def test_all_folders_of_samples_give_what_their_readme_says(everything: Gathered) -> None:
    """README of the shared samples: these figures were not made by this program."""
    megatron = of(everything, "logs/megatron-lm.log")
    assert measured(megatron, "stop") == pytest.approx((4.972, 5.067, 5.262), abs=1e-3)
    assert measured(megatron, "restorable") == pytest.approx((285.06, 301.11, 298.73), abs=0.01)
    assert measured(of(everything, "storage/fio-3.33.json"), "writes_at") == pytest.approx((2.049e9,), rel=1e-3)
    assert measured(of(everything, "storage/fio-3.33.json"), "reads_at") == pytest.approx((1.190e9,), rel=1e-3)
    assert max(measured(of(everything, "storage/elbencho-3.1.csv"), "writes_at")) == pytest.approx(2941 * 2**20)
    copy = measured(of(everything, "nvbandwidth-constructed.json"), "copy")
    assert sum(copy) * 8 / len(copy) == pytest.approx(158.5e9, rel=1e-3)


def test_the_samples_that_are_no_input_stay_unknown_without_a_word_of_refusal(everything: Gathered) -> None:
    assert everything.unknown_count > 0
    assert not any("Traceback" in message for _, message in everything.refused)
    assert all(message.endswith(".") for _, message in everything.refused)


# ---------------------------------------------------------------- the walk


def test_one_bad_file_costs_one_sentence_and_never_the_others(tmp_path: Path) -> None:
    shutil.copy(SAMPLES / "storage/fio-3.33.json", tmp_path / "good.json")
    (tmp_path / "broken.json").write_bytes((SAMPLES / "storage/fio-3.33.json").read_bytes()[:4000])
    found = gather([tmp_path])
    assert [file.file for file in found.files] == [f"{tmp_path.name}/good.json"]
    ((name, message),) = found.refused
    assert name.endswith("broken.json")
    assert message.startswith(name)


def test_a_file_that_is_not_there_is_one_sentence(tmp_path: Path) -> None:
    found = gather([tmp_path / "nowhere.log"])
    assert found.files == ()
    assert "cannot be read" in found.refused[0][1]


def test_a_ten_deep_loop_of_links_ends(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    deep = folder
    for level in range(10):
        deep = deep / f"level{level}"
        deep.mkdir()
        (deep / "back").symlink_to(folder)
        (deep / "self").symlink_to(deep / "self")
    shutil.copy(SAMPLES / "storage/fio-3.33.json", deep / "fio.json")
    found = gather([folder])
    assert [file.reader for file in found.files] == ["fio"]


def test_links_that_leave_the_folder_are_not_followed(tmp_path: Path) -> None:
    outside, folder = tmp_path / "outside", tmp_path / "run"
    outside.mkdir()
    folder.mkdir()
    shutil.copy(SAMPLES / "storage/fio-3.33.json", outside / "fio.json")
    (folder / "file").symlink_to(outside / "fio.json")
    (folder / "folder").symlink_to(outside)
    found = gather([folder])
    assert found.files == ()
    assert any("2 links" in str(note) for note in found.notes)


def test_a_link_that_the_user_names_is_followed(tmp_path: Path) -> None:
    (tmp_path / "named").symlink_to(SAMPLES / "storage/fio-3.33.json")
    assert [file.reader for file in gather([tmp_path / "named"]).files] == ["fio"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_pipe_does_not_hang_it(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert gather([tmp_path]).files == ()
    assert "no regular file" in gather([tmp_path / "pipe"]).refused[0][1]


def test_a_sparse_file_of_5_gb_is_looked_at_and_left(tmp_path: Path) -> None:
    for name in ("log.txt", ".metadata", "model.pt"):
        with (tmp_path / name).open("wb") as file:
            file.truncate(5_000_000_000)
    found = gather([tmp_path])
    assert found.files == () or all(not file.measured for file in found.files)


def test_a_sparse_file_that_begins_like_a_log_is_refused_where_it_is_empty(tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    log.write_bytes((SAMPLES / "logs/megatron-lm.log").read_bytes() * 5)
    with log.open("r+b") as file:
        file.truncate(5_000_000_000)
    found = gather([log])
    assert found.files == ()
    assert "zero bytes" in found.refused[0][1]


def test_a_checkpoint_folder_is_one_thing(tmp_path: Path) -> None:
    shutil.copytree(SAMPLES / "dcp/torchtitan-like", tmp_path / "run/checkpoint")
    shutil.copy(SAMPLES / "storage/fio-3.33.json", tmp_path / "run/fio.json")
    found = gather([tmp_path / "run"])
    assert sorted(file.reader for file in found.files)[-1] == "fio"
    assert len(found.files) == 2
    assert found.unknown_count == 0  # no shard of the checkpoint was looked at by itself


def test_too_many_files_are_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evidence_files, "MOST_FILES", 3)
    for number in range(5):
        (tmp_path / f"{number}.txt").write_text("nothing")
    found = gather([tmp_path])
    assert found.unknown_count == 3
    assert any("2 more" in str(note) for note in found.notes)


def test_progress_rises_to_the_end_and_can_stop_it(tmp_path: Path) -> None:
    for number in range(4):
        shutil.copy(SAMPLES / "logs/megatron-lm.log", tmp_path / f"{number}.log")
    told: list[float] = []
    gather([tmp_path], progress=told.append)
    assert told == sorted(told)
    assert told[-1] == pytest.approx(1.0)

    class Enough(Exception):  # noqa: N818
        """What a user's stop raises."""

    def stop_at(limit: float) -> Callable[[float], None]:
        def progress(fraction: float) -> None:
            if fraction > limit:
                raise Enough

        return progress

    with pytest.raises(Enough):
        gather([tmp_path], progress=stop_at(0.4))


def test_a_table_that_nobody_knows_is_read_once_its_columns_are_named(tmp_path: Path) -> None:
    table = tmp_path / "incidents.csv"
    table.write_text("created_on,severity,what broke\n2026-10-02 03:14,1,node\n2026-10-09 11:40,1,process\n")
    asked = gather([table])
    if not asked.tables:  # its headings tell already
        assert asked.files[0].events
        return
    assert asked.tables == ("incidents.csv",)
    rows = [line.split(",") for line in table.read_text().splitlines()]
    mapping = suggested_mapping(tuple(rows[0]), tuple(map(tuple, rows[1:])))
    assert isinstance(mapping, ColumnMapping)
    found = gather([table], mappings={"incidents.csv": mapping})
    assert len(found.files[0].events) == 2


def test_what_nobody_knows_raises_when_it_is_read_alone(tmp_path: Path) -> None:
    (tmp_path / "poem.txt").write_text("The time has come, the walrus said")
    with pytest.raises(ReaderError, match="no reader knows"):
        read_file(tmp_path / "poem.txt")


def test_a_name_with_lone_surrogates_is_no_trouble(tmp_path: Path) -> None:
    name = os.fsencode(tmp_path) + b"/\xff\xfe.json"
    shutil.copy(SAMPLES / "storage/fio-3.33.json", name)
    found = gather([tmp_path])
    found.files[0].file.encode("utf-8")


# ---------------------------------------------------------------- names


def log_in(folder: Path, name: str = "sacct.txt") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(SAMPLES / "storage/fio-3.33.json", folder / name)
    return folder / name


def names(found: Gathered) -> list[str]:
    assert all(one.place.file == file.file for file in found.files for one in file.measured)
    assert set(found.places) >= {file.file for file in found.files}
    return [file.file for file in found.files]


def test_two_files_of_one_name_have_that_of_their_folder_in_front(tmp_path: Path) -> None:
    """Two weekly exports: were they called the same, the engine would not look for runs that both have."""
    one, two, other = log_in(tmp_path / "c1"), log_in(tmp_path / "c2"), log_in(tmp_path / "c2", "other.txt")
    found = gather([one, two, other])
    assert names(found) == ["c1/sacct.txt", "c2/sacct.txt", "other.txt"]
    assert found.places == {"c1/sacct.txt": one, "c2/sacct.txt": two, "other.txt": other}


def test_two_folders_of_one_name_have_that_of_their_folder_in_front(tmp_path: Path) -> None:
    for run in ("r1", "r2"):
        log_in(tmp_path / run / "logs")
    found = gather([tmp_path / "r1/logs", tmp_path / "r2/logs"])
    assert names(found) == ["r1/logs/sacct.txt", "r2/logs/sacct.txt"]


def test_where_the_folders_are_called_the_same_too_a_number_tells(tmp_path: Path) -> None:
    one, two = log_in(tmp_path / "r1/logs"), log_in(tmp_path / "r2/logs")
    found = gather([one, two])
    assert names(found) == ["logs/sacct.txt", "logs/sacct.txt #2"]
    assert found.places["logs/sacct.txt #2"] == two


def test_a_name_below_a_folder_is_no_other_files_name(tmp_path: Path) -> None:
    """c1/logs/a of the folder c1, and of two folders logs of which one lies in another c1."""
    log_in(tmp_path / "x/c1/logs")
    log_in(tmp_path / "y/c1/logs")
    log_in(tmp_path / "z/logs")
    found = gather([tmp_path / "x/c1", tmp_path / "y/c1/logs", tmp_path / "z/logs"])
    assert sorted(names(found)) == ["c1/logs/sacct.txt", "c1/logs/sacct.txt #2", "z/logs/sacct.txt"]


def test_names_that_cannot_be_printed_are_told_apart(tmp_path: Path) -> None:
    for byte in (b"\xfe", b"\xff"):
        shutil.copy(SAMPLES / "storage/fio-3.33.json", os.fsencode(tmp_path) + b"/" + byte + b".json")
    assert len(set(names(gather([tmp_path])))) == 2


def test_what_is_given_twice_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = log_in(tmp_path / "c1/deep")
    (tmp_path / "link").symlink_to(path)
    monkeypatch.chdir(tmp_path / "c1")
    for given in (
        [path, path],
        [path, Path("deep/sacct.txt"), tmp_path / "c1/../c1/deep/sacct.txt"],
        [path, tmp_path / "link"],
        [tmp_path / "link", path],
    ):
        assert names(gather(given)) == ["sacct.txt"]
    assert names(gather([tmp_path / "c1", path])) == ["c1/deep/sacct.txt"]
    assert names(gather([path, tmp_path / "c1"])) == ["sacct.txt"]
    assert names(gather([tmp_path / "c1/deep", tmp_path / "c1"])) == ["deep/sacct.txt"]
    assert names(gather([tmp_path / "c1", tmp_path / "c1/deep"])) == ["c1/deep/sacct.txt"]


def test_a_checkpoint_folder_that_is_given_twice_is_read_once(tmp_path: Path) -> None:
    shutil.copytree(SAMPLES / "dcp/torchtitan-like", tmp_path / "run/checkpoint")
    found = gather([tmp_path / "run/checkpoint", tmp_path / "run"])
    assert [file.file for file in found.files] == ["checkpoint"]
    assert found.places == {"checkpoint": tmp_path / "run/checkpoint"}


def test_names_of_no_file_are_no_trouble(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    found = gather([Path("a\0b"), tmp_path / "loop", Path("x" * 5000)])
    assert len(found.refused) == 3


def test_each_file_is_told_before_it_is_read(tmp_path: Path) -> None:
    log_in(tmp_path / "run", "a.json")
    log_in(tmp_path / "run", "b.json")
    told: list[tuple[str, int, int]] = []
    gather([tmp_path / "run"], telling=lambda name, number, count: told.append((name, number, count)))
    assert told == [("run/a.json", 1, 2), ("run/b.json", 2, 2)]


# ---------------------------------------------------------------- what has to be unpacked first


def zipped(raw: bytes) -> bytes:
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("sacct.txt", raw)
    return whole.getvalue()


ZSTD = bytes.fromhex("28b52ffd0458290000") + b"hello" + bytes.fromhex("b0f38afa")


@pytest.mark.parametrize(
    ("name", "pack"),
    [
        ("gzip", gzip.compress),
        ("xz", lzma.compress),
        ("bzip2", bz2.compress),
        ("zip", zipped),
        ("zstd", lambda _: ZSTD),
    ],
)
def test_a_compressed_log_is_refused_with_one_sentence(tmp_path: Path, name: str, pack: Callable[[bytes], bytes]) -> None:
    (tmp_path / "sacct").write_bytes(pack((SAMPLES / "logs/megatron-lm.log").read_bytes()))
    found = gather([tmp_path / "sacct"])
    assert found.refused == (("sacct", f"sacct: it is compressed ({name}); unpack it first."),)
    assert found.unknown_count == 0


def test_a_pdf_is_refused_with_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "quote.pdf").write_bytes(b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj\n")
    assert gather([tmp_path]).refused[0][1].endswith("quote.pdf: it is a PDF; save it as text or CSV first.")


def test_what_torch_save_writes_is_not_called_compressed(tmp_path: Path) -> None:
    archive = next(path for path in sorted(SAMPLES.rglob("*.pt")) if path.read_bytes()[:4] == b"PK\x03\x04")
    found = gather([archive])
    assert not any("compressed" in message for _, message in found.refused)


def test_a_text_that_begins_like_a_magic_number_is_not_called_compressed(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("BZh is how files of bzip2 begin")
    found = gather([tmp_path])
    assert (found.refused, found.unknown_count) == ((), 1)


def test_logs_beside_the_generations_of_a_save_folder_are_read_too(tmp_path: Path) -> None:
    """`--save` with logs beside it: the checkpoints are one thing, the logs are another."""
    run = tmp_path / "run"
    shutil.copytree(SAMPLES / "dcp/megatron-torch_dist-like", run)
    (run / "logs").mkdir()
    shutil.copy(SAMPLES / "logs/megatron-lm.log", run / "logs/rank0.log")
    shutil.copy(SAMPLES / "logs/sacct_parsable2.txt", run / "sacct.txt")
    found = gather([run])
    assert sorted(file.reader for file in found.files) == ["checkpoint_folder", "megatron-log", "slurm-text"]
    assert found.unknown_count == 0  # neither the tracker nor a shard is looked at by itself


def test_what_lies_inside_one_generation_is_all_its_own(tmp_path: Path) -> None:
    run = tmp_path / "run"
    shutil.copytree(SAMPLES / "dcp/torchtitan-like/step-2", run / "step-2")
    shutil.copy(SAMPLES / "logs/sacct_parsable2.txt", run / "step-2/sacct.txt")
    assert [file.reader for file in gather([run]).files] == ["checkpoint_folder"]
