"""Checkpoint folders of all layouts: size, bytes a parameter, generations; broken and hostile ones."""

from __future__ import annotations

import json
import os
import shutil
import sys
import time
import zipfile
from pathlib import Path

import pytest

from ckptplanner.data.evidence import FileEvidence, Measured
from ckptplanner.data.readers import folder as folders
from ckptplanner.data.readers.checkpoints import READERS, read_folder
from ckptplanner.data.readers.source import open_file
from ckptplanner.data.records import ModelParts
from tests.data.dcp_pickles import called, metadata, name, plain

SAMPLES = Path(__file__).parent / "samples"
TORCHTITAN = SAMPLES / "dcp" / "torchtitan-like"
MEGATRON = SAMPLES / "dcp" / "megatron-torch_dist-like"
TINY = SAMPLES / "safetensors" / "tiny-llama-bf16"
HF = SAMPLES / "checkpoints" / "hf-trainer-5.24.0"


def read(path: Path) -> FileEvidence:
    found = read_folder(path, path.name, lambda _: None)
    assert found is not None
    return found


def one(found: FileEvidence, quantity: str) -> Measured:
    (measured,) = (row for row in found.measured if row.quantity == quantity)
    return measured


def value(found: FileEvidence, quantity: str) -> float:
    (only,) = one(found, quantity).values
    return only


def said(found: FileEvidence) -> str:
    return " ".join(map(str, (*found.warnings, *(note for row in found.measured for note in row.notes))))


def write_dcp(path: Path, bytes_of: dict[str, tuple[str, tuple[int, ...]]], *, megatron: bool = False) -> None:
    """One complete generation with a data file of 1,000 bytes."""
    path.mkdir(parents=True)
    (path / "__0_0.distcp").write_bytes(bytes(1000))
    (path / ".metadata").write_bytes(metadata(bytes_of, {"__0_0.distcp": 1000}))
    if megatron:
        (path / "metadata.json").write_text('{"sharded_backend": "torch_dist", "sharded_backend_version": 1}')


ADAM = {"w": ("float32", (10, 10)), "optimizer.state.w.exp_avg": ("float32", (10, 10)),
        "optimizer.state.w.exp_avg_sq": ("float32", (10, 10))}  # fmt: skip


# ---------------------------------------------------------------- the samples


@pytest.mark.parametrize("path", [TORCHTITAN, TORCHTITAN / "step-2"])
def test_torchtitan(path: Path) -> None:
    found = read(path)
    assert str(found.title) == "TorchTitan checkpoints"
    assert value(found, "params") == 6144
    assert f"{value(found, 'bytes_per_param'):.2f}" == "12.00"
    assert value(found, "checkpoint") == sum(file.stat().st_size for file in (TORCHTITAN / "step-2").iterdir())
    assert "fp32 weights 4, fp32 moments 8" in said(found)
    assert one(found, "bytes_per_param").place.where.endswith(".metadata")
    assert not found.warnings


@pytest.mark.parametrize("path", [MEGATRON, MEGATRON / "iter_0001000"])
def test_megatron(path: Path) -> None:
    found = read(path)
    assert str(found.title) == "Megatron checkpoints (torch_dist)"
    assert value(found, "params") == 6144
    assert f"{value(found, 'bytes_per_param'):.2f}" == "14.00"
    assert "bf16 weights 2, fp32 master weights 4, fp32 moments 8" in said(found)


def test_from_metadata_and_not_from_sizes_of_small_files() -> None:
    """By its files the Megatron-like sample would have 22.6 bytes a parameter."""
    found = read(MEGATRON)
    by_files = value(found, "checkpoint") / value(found, "params")
    assert by_files > 22
    assert value(found, "bytes_per_param") == pytest.approx(14.0, abs=0.005)


def test_weights_of_a_model_cannot_be_resumed_from() -> None:
    found = read(TINY)
    assert value(found, "params") == 26_784
    assert value(found, "bytes_per_param") == 2.0
    assert "53,568 bytes" in said(found)
    assert "cannot resume" in said(found)
    assert one(found, "bytes_per_param").is_doubtful
    assert one(found, "checkpoint").is_doubtful
    assert not one(found, "params").is_doubtful


def test_trainer_of_hugging_face() -> None:
    found = read(HF)
    assert value(found, "params") == 920
    assert value(found, "bytes_per_param") == pytest.approx(12.0, abs=0.06)  # each of 12 tensors has a step of 4 bytes
    assert value(found, "generations") == 2
    facts = {str(fact.title): fact.value for fact in found.facts}
    assert facts["Steps between generations"] == 2
    assert facts["Steps between saves, as set"] == 2
    assert isinstance(facts["Model"], ModelParts)
    assert facts["Model"].total_params == 920
    assert not found.warnings


def test_deepspeed() -> None:
    path = SAMPLES / "checkpoints" / "deepspeed-0.19.8"
    found = read(path)
    assert str(found.title) == "DeepSpeed checkpoints"
    assert value(found, "checkpoint") == sum(file.stat().st_size for file in (path / "global_step4").iterdir())
    assert "14 bytes a parameter if those are bf16" in said(found)
    assert value(found, "generations") == 1
    assert {str(fact.title): fact.value for fact in found.facts}["Newest by the tracker"] == "global_step4"


def test_lightning_file_by_file(tmp_path: Path) -> None:
    sample = SAMPLES / "checkpoints" / "lightning-2.6.6" / "epoch=0-step=4.ckpt"
    shutil.copy(sample, tmp_path / "epoch=0-step=2.ckpt")
    shutil.copy(sample, tmp_path / "epoch=0-step=4.ckpt")
    (tmp_path / "epoch=0-step=6.ckpt").write_bytes(sample.read_bytes()[:9000])
    (tmp_path / "last.ckpt").symlink_to("epoch=0-step=4.ckpt")
    found = read(tmp_path)
    assert value(found, "checkpoint") == sample.stat().st_size
    assert value(found, "generations") == 2
    assert "epoch=0-step=6.ckpt" in said(found)


def test_nvidia_resiliency_local() -> None:
    """A session of two ranks; only their shares are here, so it is not proposed as the size of a checkpoint."""
    path = SAMPLES / "checkpoints" / "nvrx-0.4.1" / "run7"
    found = read(path)
    assert value(found, "checkpoint") == sum(file.stat().st_size for file in path.rglob("*.pt"))
    assert one(found, "checkpoint").is_doubtful
    assert value(found, "generations") == 1
    assert read_folder(path.parent, "x", lambda _: None) is None


@pytest.mark.parametrize(
    "path",
    [SAMPLES, SAMPLES / "dcp", SAMPLES / "hf", SAMPLES / "checkpoints", SAMPLES / "no-such-folder", Path(__file__).parent],
)
def test_other_folders_are_walked_into(path: Path) -> None:
    assert read_folder(path, path.name, lambda _: None) is None


# ---------------------------------------------------------------- layouts that are written here


def test_the_newest_complete_one_counts_and_incomplete_ones_are_named(tmp_path: Path) -> None:
    for step in (500, 1000, 1500):
        write_dcp(tmp_path / f"step-{step}", ADAM)
    (tmp_path / "step-2000").mkdir()
    (tmp_path / "step-2000" / "__0_0.distcp").write_bytes(bytes(50))
    found = read(tmp_path)
    assert value(found, "generations") == 3
    assert one(found, "checkpoint").place.where == "step-1500"
    assert "step-2000 (.metadata is missing)" in said(found)
    facts = {str(fact.title): fact.value for fact in found.facts}
    assert facts["Steps between generations"] == 500
    assert facts["Steps of the complete generations"] == "500, 1,000, 1,500"


def test_steps_are_numbers_not_names(tmp_path: Path) -> None:
    for step in (900, 1000):
        write_dcp(tmp_path / f"step-{step}", ADAM)
    assert one(read(tmp_path), "checkpoint").place.where == "step-1000"


def test_a_data_file_that_is_missing_makes_it_incomplete(tmp_path: Path) -> None:
    for step in (1, 2, 3):
        write_dcp(tmp_path / f"step-{step}", ADAM)
    (tmp_path / "step-3" / "__0_0.distcp").unlink()
    (tmp_path / "step-2" / "__0_0.distcp").write_bytes(bytes(999))
    found = read(tmp_path)
    assert one(found, "checkpoint").place.where == "step-1"
    assert value(found, "generations") == 1
    assert "data files are missing or cut off" in said(found)


def test_megatron_writes_metadata_json_last(tmp_path: Path) -> None:
    write_dcp(tmp_path / "iter_0000100", ADAM, megatron=True)
    write_dcp(tmp_path / "iter_0000200", ADAM)
    write_dcp(tmp_path / "non_persistent" / "iter_0000150", ADAM, megatron=True)
    (tmp_path / "latest_checkpointed_iteration.txt").write_text("300\n")
    found = read(tmp_path)
    assert value(found, "generations") == 2
    assert one(found, "checkpoint").place.where == "non_persistent/iter_0000150"
    assert "iter_0000200 (metadata.json is missing)" in said(found)
    assert "1 of them are under non_persistent" in said(found)
    assert "names 300, which is not there" in said(found)


@pytest.mark.parametrize(("tracker", "complete"), [("100", 1), ("200\n", 2), (None, 2)])
def test_megatron_legacy_goes_by_its_tracker(tmp_path: Path, tracker: str | None, complete: int) -> None:
    for step in (100, 200):
        for rank in ("mp_rank_00_000", "mp_rank_01_000"):
            path = tmp_path / f"iter_{step:07d}" / rank
            path.mkdir(parents=True)
            write_archive(path / "model_optim_rng.pt", 200)
            write_archive(path / "distrib_optim.pt", 1200)
    if tracker is not None:
        (tmp_path / "latest_checkpointed_iteration.txt").write_text(tracker)
    found = read(tmp_path)
    assert str(found.title) == "Megatron checkpoints (torch)"
    assert value(found, "generations") == complete
    assert ("not known" in said(found)) is (tracker is None)


def write_archive(path: Path, size: int, pickled: bytes = b"\x80\x02}.") -> None:
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("archive/data.pkl", pickled)
        file.writestr("archive/data/0", bytes(size))


def test_deepspeed_tag_that_latest_does_not_name_yet(tmp_path: Path) -> None:
    for tag in ("global_step10", "global_step20"):
        (tmp_path / tag).mkdir()
        write_archive(tmp_path / tag / "mp_rank_00_model_states.pt", 200)
        write_archive(tmp_path / tag / "bf16_zero_pp_rank_0_mp_rank_00_optim_states.pt", 1200)
    (tmp_path / "latest").write_text("global_step10")
    found = read(tmp_path)
    assert value(found, "generations") == 1
    assert one(found, "checkpoint").place.where == "global_step10"
    assert "latest still names global_step10" in said(found)


def test_trainer_state_is_the_mark_of_the_trainer(tmp_path: Path) -> None:
    shutil.copytree(HF, tmp_path, dirs_exist_ok=True)
    shutil.copytree(HF / "checkpoint-4", tmp_path / "checkpoint-6")
    (tmp_path / "checkpoint-6" / "trainer_state.json").unlink()
    shutil.copytree(HF / "checkpoint-4", tmp_path / "checkpoint-8")
    state = tmp_path / "checkpoint-8" / "trainer_state.json"
    state.write_text(state.read_text()[:100])
    found = read(tmp_path)
    assert value(found, "generations") == 2
    assert "checkpoint-6 (trainer_state.json is missing), checkpoint-8 (trainer_state.json is cut off)" in said(found)


def test_trainer_without_optimizer_cannot_resume(tmp_path: Path) -> None:
    """save_only_model."""
    shutil.copytree(HF / "checkpoint-4", tmp_path / "checkpoint-4")
    (tmp_path / "checkpoint-4" / "optimizer.pt").unlink()
    found = read(tmp_path)
    assert "cannot resume" in said(found)
    assert one(found, "bytes_per_param").is_doubtful


def test_trainer_with_fsdp_keeps_model_and_optimizer_apart(tmp_path: Path) -> None:
    path = tmp_path / "checkpoint-100"
    write_dcp(path / "pytorch_model_fsdp_0", {"model.w": ("bfloat16", (10, 10))})
    write_dcp(path / "optimizer_0", {key: row for key, row in ADAM.items() if key != "w"})
    (path / "trainer_state.json").write_text("{}")
    found = read(tmp_path)
    assert value(found, "params") == 100
    assert value(found, "bytes_per_param") == 10.0
    assert one(found, "params").place.where == "checkpoint-100/pytorch_model_fsdp_0/.metadata"


def test_an_adapter_is_not_the_model(tmp_path: Path) -> None:
    path = tmp_path / "checkpoint-4"
    shutil.copytree(HF / "checkpoint-4", path)
    (path / "model.safetensors").rename(path / "adapter_model.safetensors")
    found = read(tmp_path)
    assert "adapter" in said(found)
    assert one(found, "checkpoint").is_doubtful
    assert not [row for row in found.measured if row.quantity in {"params", "bytes_per_param"}]


def test_nemo_and_its_mark_of_the_unfinished(tmp_path: Path) -> None:
    for step in (100, 200):
        path = tmp_path / f"llama--step={step}-last"
        write_dcp(path / "weights", ADAM, megatron=True)
        (path / "context").mkdir()
    (tmp_path / "llama--step=200-last-unfinished").touch()
    found = read(tmp_path)
    assert str(found.title) == "NeMo checkpoints"
    assert value(found, "generations") == 1
    assert one(found, "checkpoint").place.where == "llama--step=100-last"
    assert value(found, "bytes_per_param") == 12.0


def test_lightning_sharded(tmp_path: Path) -> None:
    write_dcp(tmp_path / "epoch=0-step=50.ckpt", {"state_dict.w": ADAM["w"], "optimizer_0.state.w.exp_avg": ADAM["w"]})
    write_archive(tmp_path / "epoch=0-step=50.ckpt" / "meta.pt", 0)
    found = read(tmp_path)
    assert str(found.title) == "Lightning checkpoints"
    assert value(found, "bytes_per_param") == 8.0


def test_local_copies_for_other_ranks_count_once_and_dirty_files_not(tmp_path: Path) -> None:
    for holder, files in {
        "0": ("iter_0000100_0_local.pt", "iter_0000100_1_local.pt", "iter_0000200_0_local.pt"),
        "1": ("iter_0000100_1_local.pt", "iter_0000100_0_local.pt", "iter_0000200_1_local.dirty.pt"),
    }.items():
        (tmp_path / holder).mkdir()
        for file in files:
            (tmp_path / holder / file).write_bytes(bytes(1000))
    found = read(tmp_path)
    assert value(found, "checkpoint") == 2000
    assert "2 of its files are copies" in said(found)
    assert "iter_0000200 (1 of 2 ranks have no clean file)" in said(found)


# ---------------------------------------------------------------- what sizes reveal


@pytest.mark.parametrize(
    ("moments", "per_param", "words"),
    [
        ("float32", 14.0, "bf16 weights 2, fp32 master weights 4, fp32 moments 8"),
        ("bfloat16", 10.0, "bf16 weights 2, fp32 master weights 4, bf16 moments 4"),
        ("float8_e4m3fn", 8.0, "8 lies between 6 and 10"),
    ],
)
def test_the_number_is_reported_not_the_nearest_label(tmp_path: Path, moments: str, per_param: float, words: str) -> None:
    """Megatron's precision-aware optimizer can mix types: anything from 6 to 14."""
    tensors = {"w": ("bfloat16", (64,)), "optimizer.state.fp32_param.w": ("float32", (64,))}
    tensors |= {f"optimizer.state.{name}.w": (moments, (64,)) for name in ("exp_avg", "exp_avg_sq")}
    write_dcp(tmp_path / "iter_0000001", tensors, megatron=True)
    found = read(tmp_path)
    assert value(found, "bytes_per_param") == per_param
    assert words in said(found)


def test_a_public_run_of_8_04_bytes_is_between_6_and_10(tmp_path: Path) -> None:
    """EXAMPLES E3: 395.74 GiB of 52.85 B parameters."""
    tensors = {"w": ("bfloat16", (100,)), "optimizer.state.fp32_param.w": ("float32", (100,)),
               "optimizer.state.exp_avg.w": ("uint8", (204,))}  # fmt: skip
    write_dcp(tmp_path / "iter_0000001", tensors, megatron=True)
    assert "8.04 lies between 6 and 10" in said(read(tmp_path))


# ---------------------------------------------------------------- hostile


def test_a_hostile_metadata_runs_nothing_and_the_sizes_stay(tmp_path: Path) -> None:
    mark = tmp_path / "it-ran"
    path = tmp_path / "step-1"
    write_dcp(path, ADAM)
    bad = {plain("x"): called(name("os", "system"), f"touch {mark}")}
    (path / ".metadata").write_bytes(metadata(ADAM, entries=bad))
    found = read(path)
    assert not mark.exists()
    assert "asks for os.system" in said(found)
    assert [row.quantity for row in found.measured] == ["checkpoint"]
    assert value(found, "checkpoint") == sum(file.stat().st_size for file in path.iterdir())


def test_a_sparse_metadata_of_5_gb_is_not_read(tmp_path: Path) -> None:
    write_dcp(tmp_path / "step-1", ADAM)
    with (tmp_path / "step-1" / ".metadata").open("wb") as file:
        file.truncate(5 * 1024**3)
    started = time.monotonic()
    found = read(tmp_path)
    assert time.monotonic() - started < 2
    assert "Only the sizes of its files are known" in said(found)


def test_links_that_lead_out_are_not_counted(tmp_path: Path) -> None:
    outside = tmp_path / "outside.distcp"
    outside.write_bytes(bytes(5000))
    write_dcp(tmp_path / "run" / "step-1", ADAM)
    (tmp_path / "run" / "step-1" / "__9_9.distcp").symlink_to(outside)
    (tmp_path / "run" / "step-1" / "inside.distcp").symlink_to("__0_0.distcp")
    (tmp_path / "run" / "step-7").symlink_to(tmp_path / "run" / "step-1")
    found = read(tmp_path / "run")
    size = sum((tmp_path / "run" / "step-1" / file).stat().st_size for file in (".metadata", "__0_0.distcp"))
    assert value(found, "checkpoint") == size
    assert value(found, "generations") == 1
    assert "Links that lead out of the folder, not counted: 1." in said(found)


def test_a_metadata_that_is_a_link_out_is_no_mark(tmp_path: Path) -> None:
    write_dcp(tmp_path / "other", ADAM)
    write_dcp(tmp_path / "run" / "step-1", ADAM)
    (tmp_path / "run" / "step-1" / ".metadata").unlink()
    (tmp_path / "run" / "step-1" / ".metadata").symlink_to(tmp_path / "other" / ".metadata")
    assert "step-1 (.metadata is missing)" in said(read(tmp_path / "run"))


def test_a_loop_of_ten_links_ends(tmp_path: Path) -> None:
    write_dcp(tmp_path / "step-1", ADAM)
    inner = tmp_path / "step-1"
    for depth in range(10):
        (inner / f"link{depth}").symlink_to(tmp_path / "step-1", target_is_directory=True)
    for i in range(10):
        (inner / f"ring{i}").symlink_to(inner / f"ring{(i + 1) % 10}")
    (inner / ".self").symlink_to(".self")
    plain_size = sum(file.stat().st_size for file in inner.iterdir() if not file.is_symlink())
    assert value(read(tmp_path), "checkpoint") == plain_size


def test_a_folder_of_very_many_files_is_cut_and_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folders, "ENTRIES_CAP", 200)
    write_dcp(tmp_path / "step-1", ADAM)
    for i in range(300):
        (tmp_path / "step-1" / f"__{i}_1.distcp").touch()
    found = read(tmp_path)
    assert "were added up" in said(found)
    assert value(found, "bytes_per_param") == 12.0
    assert all(row.is_doubtful for row in found.measured if row.quantity == "checkpoint")


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere mknod is for the administrator")
def test_100_000_files(tmp_path: Path) -> None:
    path = tmp_path / "step-1"
    write_dcp(path, ADAM)
    for i in range(100_000):
        os.mknod(f"{path}/{i}")
    started = time.monotonic()
    found = read(tmp_path)
    assert time.monotonic() - started < 20
    assert "Only the first 100,000 files were added up" in said(found)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here")
def test_a_pipe_is_not_opened(tmp_path: Path) -> None:
    write_dcp(tmp_path / "iter_0000001", ADAM, megatron=True)
    for file in ("latest_checkpointed_iteration.txt", "iter_0000001/x.pt", "iter_0000001/y.safetensors"):
        os.mkfifo(tmp_path / file)
    assert value(read(tmp_path), "bytes_per_param") == 12.0


@pytest.mark.parametrize("words", ["[" * 100_000, '{"sharded_backend": 5}', "[]", "{", "\x00", '{"sharded_backend": NaN}'])
def test_a_broken_metadata_json_is_a_missing_one(tmp_path: Path, words: str) -> None:
    write_dcp(tmp_path / "iter_0000001", ADAM, megatron=True)
    (tmp_path / "iter_0000001" / "metadata.json").write_text(words)
    assert "iter_0000001 (metadata.json is missing)" in said(read(tmp_path))


def test_numbers_in_trainer_state_that_are_no_steps(tmp_path: Path) -> None:
    for words in (
        '{"save_steps": 1e400}',
        '{"save_steps": NaN}',
        '{"save_steps": -5}',
        '{"save_steps": "x"}',
        '{"save_steps": 0.1}',
    ):
        path = tmp_path / "checkpoint-4"
        shutil.rmtree(path, ignore_errors=True)
        shutil.copytree(HF / "checkpoint-4", path)
        (path / "trainer_state.json").write_text(words)
        assert "Steps between saves, as set" not in {str(fact.title) for fact in read(tmp_path).facts}


def test_the_user_can_stop_it() -> None:
    class StoppedError(Exception):
        pass

    def progress(_: float) -> None:
        raise StoppedError

    with pytest.raises(StoppedError):
        read_folder(TORCHTITAN, "x", progress)


# ---------------------------------------------------------------- single files of a model


def read_file(path: Path) -> FileEvidence | None:
    opened = open_file(path)
    known = [reader for reader in READERS if reader.knows(opened.head)]
    assert len(known) <= 1
    return known[0].read(opened) if known else None


@pytest.mark.parametrize("file", ["model.safetensors.index.json", "model-00001-of-00002.safetensors"])
def test_weights_by_themselves(file: str) -> None:
    found = read_file(TINY / file)
    assert found is not None
    assert value(found, "params") == 26_784
    assert value(found, "bytes_per_param") == 2.0
    assert value(found, "checkpoint") == 53_568
    assert "cannot resume" in said(found)


def test_every_config_that_is_counted_is_a_model() -> None:
    expected = json.loads((SAMPLES / "hf" / "expected_parameters.json").read_text(encoding="utf-8"))
    files = sorted((SAMPLES / "hf").glob("*.config.json"))
    assert len(files) == 12
    for file in files:
        found = read_file(file)
        assert found is not None
        (fact,) = found.facts
        assert fact.path == "workload.model"
        assert fact.value.total_params == expected[file.name.removesuffix(".config.json")]["total_parameters"], file.name


@pytest.mark.parametrize("file", ["expected_parameters.json", "variants.json"])
def test_other_json_is_no_config(file: str) -> None:
    assert read_file(SAMPLES / "hf" / file) is None


def test_other_json_beside_a_model_is_no_config() -> None:
    assert read_file(TINY / "generation_config.json") is None
    assert read_file(HF / "checkpoint-4" / "trainer_state.json") is None
