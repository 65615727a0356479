"""The script that trims generations, run with bash on real folders: what it deletes, and above all what it never does."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from ckptplanner.engine.settings.target import Names
from ckptplanner.engine.settings.trimming import NAME, TARGETS, trimming_file
from tests.engine.framework_cases import HOSTILE, hostile_settings, settings_for

BASH = shutil.which("bash")
pytestmark = pytest.mark.skipif(BASH is None, reason="the script is for bash, and there is none here")
TRACKER = "latest_checkpointed_iteration.txt"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "check points"
    made.mkdir()
    return made


def save(folder: Path, name: str, marker: str | None = "") -> Path:
    """A generation; without a marker it is incomplete."""
    made = folder / name
    made.mkdir()
    (made / "__0_0.distcp").write_bytes(b"0" * 64)
    if marker is None:
        return made
    (made / (marker or ("metadata.json" if name.startswith("iter_") else ".metadata"))).write_text("{}")
    return made


def run(tmp_path: Path, folder: Path, *words: str, keep: int = 3) -> subprocess.CompletedProcess[str]:
    """The script of a plan that keeps so many, beside the folder."""
    settings = settings_for({"storage.generations_kept": keep + 1}, names=Names(shared_folder=str(folder)))
    script = tmp_path / NAME
    script.write_text(trimming_file(settings).content)
    return subprocess.run(
        [BASH or "bash", script, *words],
        capture_output=True,
        text=True,
        timeout=30,
        cwd=tmp_path,
        env={"PATH": os.environ["PATH"]},
    )


def left(folder: Path) -> list[str]:
    return sorted(one.name for one in folder.iterdir())


@pytest.fixture
def five(folder: Path) -> Path:
    for iteration in (268, 536, 804, 1072, 1340):
        save(folder, f"iter_{iteration:07d}")
    (folder / TRACKER).write_text("1340")
    return folder


def test_without_delete_it_only_says_what_it_would_do(tmp_path: Path, five: Path) -> None:
    before = left(five)
    done = run(tmp_path, five)
    assert done.returncode == 0
    assert left(five) == before
    assert done.stdout.splitlines() == [
        "kept: iter_0001340", "kept: iter_0001072", "kept: iter_0000804", "would delete: iter_0000536",
        "would delete: iter_0000268", "nothing was deleted: add --delete",
    ]  # fmt: skip


def test_the_newest_stay(tmp_path: Path, five: Path) -> None:
    done = run(tmp_path, five, "--delete")
    assert (done.returncode, done.stderr) == (0, "")
    assert left(five) == ["iter_0000804", "iter_0001072", "iter_0001340", TRACKER]
    assert run(tmp_path, five, "--delete").stdout.count("deleted") == 0, "a second run has nothing to do"


def test_the_save_that_is_being_written_is_left_alone_and_not_counted(tmp_path: Path, five: Path) -> None:
    save(five, "iter_0001608", marker=None)
    done = run(tmp_path, five, "--delete")
    assert "incomplete, left alone: iter_0001608" in done.stdout
    assert left(five) == ["iter_0000804", "iter_0001072", "iter_0001340", "iter_0001608", TRACKER]


def test_one_that_was_killed_long_ago_is_left_alone_too(tmp_path: Path, five: Path) -> None:
    save(five, "iter_0000100", marker=None)
    run(tmp_path, five, "--delete")
    assert "iter_0000100" in left(five)


def test_data_alone_does_not_make_a_save_of_megatron_complete(tmp_path: Path, five: Path) -> None:
    """metadata.json is written last; .metadata before it."""
    save(five, "iter_0001608", marker=".metadata")
    run(tmp_path, five, "--delete")
    assert left(five) == ["iter_0000804", "iter_0001072", "iter_0001340", "iter_0001608", TRACKER]


@pytest.mark.parametrize("written", ["268", "268\n", "  268", "268\r\n", "0000268"])
def test_what_the_tracker_names_stays(tmp_path: Path, five: Path, written: str) -> None:
    (five / TRACKER).write_text(written)
    done = run(tmp_path, five, "--delete", keep=1)
    assert left(five) == ["iter_0000268", "iter_0000536", "iter_0000804", "iter_0001072", "iter_0001340", TRACKER]
    assert done.stdout.count("newer than what the tracker names, left alone") == 4


def test_after_a_rollback_the_branch_that_lives_is_counted(tmp_path: Path, folder: Path) -> None:
    """The run went on from 100: 200 to 500 are of the branch that was given up."""
    for iteration in (50, 60, 100, 150, 160, 200, 300, 400, 500):
        save(folder, f"iter_{iteration:07d}")
    (folder / TRACKER).write_text("160")
    done = run(tmp_path, folder, "--delete")
    assert [one for one in done.stdout.splitlines() if one.startswith("kept")] == [
        "kept: iter_0000160", "kept: iter_0000150", "kept: iter_0000100",
    ]  # fmt: skip
    given_up = [f"iter_{iteration:07d}" for iteration in (200, 300, 400, 500)]
    assert left(folder) == ["iter_0000100", "iter_0000150", "iter_0000160", *given_up, TRACKER]


def test_a_generation_that_is_written_again_is_not_complete(tmp_path: Path, five: Path) -> None:
    """Its metadata.json is of the time before; it neither counts nor goes."""
    for name, seconds in (("iter_0001340", 3600), ("iter_0000268", 3600), ("iter_0001072", 5)):  # clocks differ by seconds
        written_s = (five / name / "metadata.json").stat().st_mtime - seconds
        os.utime(five / name / "metadata.json", (written_s, written_s))
    done = run(tmp_path, five, "--delete", keep=2)
    assert "incomplete, left alone: iter_0001340" in done.stdout
    assert left(five) == ["iter_0000268", "iter_0000804", "iter_0001072", "iter_0001340", TRACKER]


@pytest.mark.parametrize("written", ["release", "", "a[$(touch broken)]", "99999999999999999999999"])
def test_a_tracker_that_names_no_iteration(tmp_path: Path, five: Path, written: str) -> None:
    (five / TRACKER).write_text(written)
    assert run(tmp_path, five, "--delete").returncode == 0
    assert left(five) == ["iter_0000804", "iter_0001072", "iter_0001340", TRACKER]
    assert not (tmp_path / "broken").exists()


def test_other_names_links_and_files_stay(tmp_path: Path, five: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (save(outside, "precious") / "inside").write_text("kept")
    kept = ["release", "iter_", "iter_12x", "iter_-5", "step_100", "iter_0000003.bak", "non_persistent", "$(rm -rf *)", "-rf"]
    for name in kept:
        save(five, name, "metadata.json")
    save(five / "non_persistent", "iter_0000001", "metadata.json")
    (five / "iter_0000001").symlink_to(outside / "precious")
    (five / "iter_0000002").write_text("a file")
    assert run(tmp_path, five, "--delete").returncode == 0
    assert {*kept, "iter_0000001", "iter_0000002"} <= set(left(five))
    assert (outside / "precious/inside").read_text() == "kept"
    assert left(five / "non_persistent") == ["__0_0.distcp", "iter_0000001", "metadata.json"]


def test_a_link_inside_a_generation_is_not_followed(tmp_path: Path, five: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "precious").write_text("kept")
    (five / "iter_0000268/link").symlink_to(outside)
    run(tmp_path, five, "--delete")
    assert "iter_0000268" not in left(five)
    assert (outside / "precious").read_text() == "kept"


def test_numbers_are_compared_as_numbers(tmp_path: Path, folder: Path) -> None:
    for step in (9, 10, 99, 100, 1000):
        save(folder, f"step-{step}")
    run(tmp_path, folder, "--delete", keep=2)
    assert left(folder) == ["step-100", "step-1000"]


def test_a_number_with_leading_zeros_is_not_octal(tmp_path: Path, folder: Path) -> None:
    for name in ("iter_0000008", "iter_0000009", "iter_0000010"):
        save(folder, name)
    assert run(tmp_path, folder, "--delete", keep=1).returncode == 0
    assert left(folder) == ["iter_0000010"]


def test_torchtitan_folders(tmp_path: Path, folder: Path) -> None:
    for step in (100, 200, 300):
        save(folder, f"step-{step}")
    save(folder, "step-400", "model.safetensors.index.json")
    save(folder, "step-500", marker=None)
    run(tmp_path, folder, "--delete", keep=2)
    assert left(folder) == ["step-300", "step-400", "step-500"]


def test_fewer_than_are_to_be_kept(tmp_path: Path, folder: Path) -> None:
    save(folder, "iter_0000268")
    save(folder, "iter_0000536", marker=None)
    assert run(tmp_path, folder, "--delete").returncode == 0
    assert left(folder) == ["iter_0000268", "iter_0000536"]


def test_an_empty_folder(tmp_path: Path, folder: Path) -> None:
    done = run(tmp_path, folder, "--delete")
    assert (done.returncode, done.stdout) == (0, "")


def test_what_stays_for_good(tmp_path: Path, five: Path) -> None:
    run(tmp_path, five, "--delete", "--every", "536", "--keep", "1")
    assert left(five) == ["iter_0000536", "iter_0001072", "iter_0001340", TRACKER]


def test_what_stays_for_good_by_several_rows(tmp_path: Path, five: Path) -> None:
    run(tmp_path, five, "--delete", "--every", "536", "--every", "0", "--every", "0804", "--keep", "1")
    assert left(five) == ["iter_0000536", "iter_0000804", "iter_0001072", "iter_0001340", TRACKER]


def test_the_rows_of_the_plan_are_read_by_the_script(tmp_path: Path, five: Path) -> None:
    rows = tuple({"kind": "permanent", "every_s": count * 2680.0, "to": "shared"} for count in (2, 3))
    made = {"storage.generations_kept": 2, "saves": rows}
    script = tmp_path / NAME
    script.write_text(trimming_file(settings_for(made, names=Names(shared_folder=str(five)))).content)
    subprocess.run([BASH or "bash", script, "--delete"], check=True, capture_output=True, timeout=30, cwd=tmp_path)
    assert left(five) == ["iter_0000536", "iter_0000804", "iter_0001072", "iter_0001340", TRACKER]


@pytest.mark.parametrize(
    "words",
    [
        ("--keep", "0"), ("--keep", ""), ("--keep", "x"), ("--keep", "-1"), ("--keep",), ("--every", "x"),
        ("--every", ""), ("--every", "*"), ("--every", "268", "--every", "x"),
        ("--folder", "relative"),
        ("--folder", "/"), ("--folder", ""), ("--folder", "/no/such/folder"), ("--force",), ("iter_0000268",),
        ("--keep", "a[$(touch broken)]"),
    ],
)  # fmt: skip
def test_what_it_refuses(tmp_path: Path, five: Path, words: tuple[str, ...]) -> None:
    before = left(five)
    done = run(tmp_path, five, "--delete", *words)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    assert left(five) == before
    assert not (tmp_path / "broken").exists()


@pytest.mark.parametrize("words", HOSTILE)
def test_a_hostile_folder_is_no_command(tmp_path: Path, words: str) -> None:
    """Whatever the folder and the plan are called: the script ends with one sentence and has done nothing."""
    script = tmp_path / NAME
    script.write_text(trimming_file(hostile_settings(words)).content)
    done = subprocess.run([BASH or "bash", script, "--delete"], capture_output=True, text=True, timeout=30, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("the folder must be an absolute path: ")
    assert left(tmp_path) == [NAME]


def test_a_folder_with_quotes_and_signs_is_found(tmp_path: Path) -> None:
    odd = tmp_path / 'it\'s $(a) `b` "c" # d'
    odd.mkdir()
    for iteration in (1, 2, 3):
        save(odd, f"iter_{iteration:07d}")
    assert run(tmp_path, odd, "--delete", keep=1).returncode == 0
    assert left(odd) == ["iter_0000003"]


def test_it_runs_often_enough_to_leave_room_for_the_next_save() -> None:
    for interval_s, line in ((90.0, "* * * * *"), (2680.0, "*/20 * * * *"), (30_000.0, "*/30 * * * *")):
        script = trimming_file(settings_for({"storage.interval_s": interval_s})).content
        assert f"#   cron   {line} /path/to/{NAME} --delete" in script


def test_slurm_finds_its_lines_before_the_first_command() -> None:
    lines = trimming_file(hostile_settings("#SBATCH --wrap=x\n#SBATCH --uid=0")).content.splitlines()
    assert lines[0] == "#!/usr/bin/env bash"
    assert [line for line in lines if line.startswith("#SBATCH")] == lines[1:4]


def test_its_target() -> None:
    (target,) = TARGETS
    (file,) = target.write(settings_for()).files
    assert (target.id, target.group, file.language) == ("trim", "scheduler", "shell")
