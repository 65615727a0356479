"""`ckptplanner apply`: files and JSON, names, refusals in one line, nothing written over without being asked to."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import pytest

from ckptplanner import cli_apply
from ckptplanner.engine.evaluate import plan_of
from ckptplanner.engine.plan import finding
from ckptplanner.engine.settings.registry import TARGETS
from ckptplanner.engine.settings.target import Settings, Target, Written
from ckptplanner.engine.workbook_file import read
from tests.conftest import Run
from tests.settings_fakes import FAKES, write

E1 = Path(__file__).parents[1] / "resources" / "examples" / "nemotron-3.5-super.ckptplan.json"


def test_the_json_has_every_key_of_the_contract(run: Run, tmp_path: Path) -> None:
    code, out, err = run("apply", E1, "--target", "slurm", "--target", "hf-trainer", "--out", tmp_path, "--json")
    assert (code, err) == (0, "")
    document = json.loads(out)
    assert {"files", "findings"} <= set(document)
    assert {one["target"] for one in document["files"]} == {"slurm", "hf-trainer"}
    for one in document["files"]:
        assert {"name", "target", "version"} <= set(one)
        assert (tmp_path / one["name"]).read_text(encoding="utf-8")
    assert {"severity", "path", "message"} <= set(document["findings"][0])
    assert {one["target"] for one in document["findings"]} >= {None, "hf-trainer"}


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.id)
def test_every_target_can_be_asked_for(run: Run, tmp_path: Path, target: Target) -> None:
    code, out, err = run("apply", E1, "--target", target.id, "--out", tmp_path / "made")
    assert (code, err) == (0, "")
    assert "Save every 268 steps of 10 s = 44 min 40 s" in out
    names = {file.name for file in (tmp_path / "made").iterdir()}
    assert names
    assert all(name in out for name in names)


def test_a_name_and_a_setting_reach_the_file(run: Run, tmp_path: Path) -> None:
    run("apply", E1, "--target", "hf-trainer", "--out", tmp_path, "--name", "shared_folder=/lustre/運 #1",
        "--set", "storage.interval_s=20 min")  # fmt: skip
    values = json.loads((tmp_path / "hf_training_args.json").read_text(encoding="utf-8"))
    assert (values["output_dir"], values["save_steps"]) == ("/lustre/運 #1", 120)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--target", "megatron"), ("megatron", "slurm", "jobset", "fsx-terraform")),
        (("--target", "slurm", "--name", "shared_folder=x"), ("shared_folder", "/fsx/checkpoints")),
        (("--target", "slurm", "--name", "folder=/x"), ("folder", "shared_folder")),
        (("--target", "slurm", "--name", "x"), ("NAME=VALUE",)),
        (("--target", "slurm", "--set", "storage.write_s=soon"), ("storage.write_s",)),
        (("--target", "slurm", "--scenario", "none"), ("none",)),
        ((), ("--target",)),
    ],
)
def test_a_refusal_is_one_line_and_nothing_is_written(
    run: Run, tmp_path: Path, arguments: tuple[str, ...], said: tuple[str, ...]
) -> None:
    code, out, err = run("apply", E1, *arguments, "--out", tmp_path / "made")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert all(word in err for word in said)
    assert not (tmp_path / "made").exists()


def test_a_file_that_differs_is_not_written_over_without_force(run: Run, tmp_path: Path) -> None:
    both = ("apply", E1, "--target", "slurm", "--target", "hf-trainer", "--out", tmp_path)
    assert run(*both)[0] == 0
    assert run(*both)[0] == 0, "what is the same is no clash"
    mine = tmp_path / "hf_training_args.json"
    mine.write_text("mine")
    (tmp_path / "slurm_job.sbatch").unlink()
    code, out, err = run(*both)
    assert (code, out) == (2, "")
    assert "hf_training_args.json" in err
    assert "--force" in err
    assert mine.read_text() == "mine"
    assert not (tmp_path / "slurm_job.sbatch").exists(), "nothing at all is written"
    assert run(*both, "--force")[0] == 0
    assert mine.read_text() != "mine"


def test_a_folder_that_cannot_be_is_one_line(run: Run, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    code, out, err = run("apply", E1, "--target", "slurm", "--out", tmp_path / "file" / "in")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "slurm_job.sbatch" in err


def test_a_plan_with_errors_ends_with_3_and_still_says_all(run: Run, tmp_path: Path) -> None:
    code, out, err = run("apply", E1, "--target", "slurm", "--out", tmp_path, "--json", "--set", "storage.generations_kept=1")
    assert (code, err) == (3, "")
    document = json.loads(out)
    assert [one for one in document["findings"] if one["severity"] == "error" and one["path"] == "storage.generations_kept"]


def test_a_plan_without_a_schedule_writes_nothing(run: Run, tmp_path: Path) -> None:
    code, out, err = run(
        "apply", E1, "--target", "slurm", "--out", tmp_path / "made", "--json", "--set", "workload.total_params=1e15"
    )
    document = json.loads(out)
    assert (code, err) == (3, "")
    assert document["files"] == []
    assert not (tmp_path / "made").exists()
    assert any("no schedule" in one["message"] for one in document["findings"])


def _options(folder: Path, *ids: str) -> argparse.Namespace:
    return argparse.Namespace(targets=list(ids), names=[], out=folder, force=False, json=True)


def test_an_error_of_a_target_ends_with_3(tmp_path: Path) -> None:
    named = read(E1).shown

    def refused(settings: Settings, target: Target) -> Written:
        return Written((), (finding("error", "storage.efa", "EFA on Persistent 1 is refused."),))

    words, has_errors = cli_apply.applied(named, plan_of(named), _options(tmp_path, "slurm"), FAKES, refused)
    assert has_errors
    assert json.loads(words)["findings"][-1]["target"] == "slurm"


def test_a_target_asked_for_twice_is_written_once(tmp_path: Path) -> None:
    named = read(E1).shown
    words, has_errors = cli_apply.applied(
        named, plan_of(named), _options(tmp_path, "fsx-cli", "megatron-lm", "fsx-cli"), FAKES, write
    )
    assert not has_errors
    assert [one["name"] for one in json.loads(words)["files"]] == ["disk.json", "disk.json.README.txt", "train.args"]


def test_two_levels_are_said_in_words(run: Run, tmp_path: Path) -> None:
    file = E1.with_name("local-and-shared.ckptplan.json")
    code, out, _ = run("apply", file, "--scenario", "local saves with copies", "--target", "slurm", "--out", tmp_path)
    assert code == 0
    assert "Save locally every 283 steps = 47 min 10 s, to shared storage every 849 steps" in out


def test_a_target_that_a_rule_refuses_says_not_written_and_why(run: Run, tmp_path: Path) -> None:
    """A full file system: what would not fit is refused, the rest is written, and so is a plan that loses most of its time."""
    file = E1.with_name("full-file-system.ckptplan.json")
    code, out, _ = run("apply", file, "--target", "megatron-lm", "--target", "fsx-cli", "--target", "slurm", "--out", tmp_path)
    assert code == 3
    assert out.count("  not written: storage.generations_kept: ") == 2
    assert "written beside it" not in out, "what a file would do says nothing where there is none"
    assert "do not fit" in out
    assert [one.name for one in tmp_path.iterdir()] == ["slurm_job.sbatch"]
    assert "mend the plan before you use them" in out
    _, out, _ = run("apply", file, "--target", "megatron-lm", "--out", tmp_path, "--json")
    assert [one["target"] for one in json.loads(out)["not_written"]] == ["megatron-lm"]


def test_errors_of_the_plan_alone_stop_nothing(run: Run, tmp_path: Path) -> None:
    arguments = ("apply", E1, "--target", "slurm", "--out", tmp_path, "--set", "storage.generations_kept=1")
    code, out, _ = run(*arguments)
    assert code == 3
    assert "not written" not in out
    assert "mend the plan before you use them" in out
    assert (tmp_path / "slurm_job.sbatch").exists()


def test_each_target_of_a_plan_without_a_schedule_says_why(run: Run, tmp_path: Path) -> None:
    _, out, _ = run(
        "apply", E1, "--target", "slurm", "--target", "dcp", "--out", tmp_path / "made", "--set", "workload.total_params=1e15"
    )
    assert out.count("  not written: storage.tier: This plan has no schedule") == 2
    assert "\nerror: storage.tier: This plan has no schedule" not in out


def test_nothing_to_write_is_no_error_and_says_why(tmp_path: Path) -> None:
    named, options = read(E1).shown, _options(tmp_path, "slurm")
    options.json = False

    def exists(settings: Settings, target: Target) -> Written:
        return Written((), (finding("warning", "storage.custom", "There is one already."),))

    words, has_errors = cli_apply.applied(named, plan_of(named), options, FAKES, exists)
    assert not has_errors
    assert words.endswith("  not written: storage.custom: There is one already.")


def test_one_step_is_said_as_one(run: Run, tmp_path: Path) -> None:
    _, out, _ = run("apply", E1, "--target", "slurm", "--out", tmp_path, "--set", "workload.step_s=2 h")
    assert "Save every 1 step of 2 h = 2 h" in out
