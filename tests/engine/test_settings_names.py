"""Names at the user's site: which are accepted, what is said where they are not; and files in a folder."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pytest

from ckptplanner.engine.csv_files import ExportError
from ckptplanner.engine.settings.folder import content_in, differing, files_of, write_files
from ckptplanner.engine.settings.names import NAMES, NameRefused, names_from, refusal
from ckptplanner.engine.settings.target import Names, SettingsFile, Written


def test_every_name_has_a_rule_and_every_example_passes() -> None:
    assert [one.name for one in NAMES] == [one.name for one in fields(Names)]
    for one in NAMES:
        assert refusal(one.name, getattr(Names(), one.name)) is None
        assert str(one.accepts).endswith(".")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("shared_folder", "/lustre/チェック ポイント/it's"), ("shared_folder", "/"), ("log_folder", "/a#b/$(x)"),
        ("job", "a"), ("job", "Pre_train-v2.1"), ("bucket", "abc"), ("bucket", "my.bucket-1"),
        ("subnet_id", "subnet-01234567"), ("file_system_id", "fs-0123456789abcdef0"), ("security_group_id", "sg-aaaaaaaa"),
    ],
)  # fmt: skip
def test_what_is_accepted(name: str, value: str) -> None:
    assert refusal(name, value) is None
    assert getattr(names_from({name: value}), name) == value


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("shared_folder", "checkpoints"), ("shared_folder", ""), ("shared_folder", "/a\n/b"), ("shared_folder", "/a\x00"),
        ("local_folder", "/a\u202eb"), ("log_folder", "/a "), ("log_folder", "/" + "a" * 2000),
        ("job", ""), ("job", "a b"), ("job", "-x"), ("job", "x" * 64), ("job", "a\n"), ("job", "$(rm -rf)"),
        ("bucket", "ab"), ("bucket", "My-Bucket"), ("bucket", "a..b"), ("bucket", "192.168.0.1"), ("bucket", "a" * 64),
        ("bucket", "abc\n"), ("subnet_id", "subnet-xyz"), ("subnet_id", "sg-01234567"),
        ("file_system_id", "fs-0123456789ABCDEF0"), ("security_group_id", "sg-012345678"),
    ],
)  # fmt: skip
def test_what_is_refused_says_what_would_be_accepted(name: str, value: str) -> None:
    sentence = refusal(name, value)
    assert sentence is not None
    assert getattr(Names(), name) in str(sentence)
    with pytest.raises(NameRefused, match=name):
        names_from({name: value})


def test_an_unknown_name_lists_those_that_are_known() -> None:
    with pytest.raises(NameRefused, match="shared_folder"):
        names_from({"folder": "/x"})
    with pytest.raises(KeyError):
        refusal("folder", "/x")


# ---------------------------------------------------------------- files in a folder

A, B = SettingsFile("a.sh", "shell", "echo 1\n"), SettingsFile("b.json", "json", '{"x": "日本"}\n')


def test_files_are_written_whole_and_only_what_differs_is_named(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "folder"
    assert differing(folder, (A, B)) == ()
    assert write_files(folder, (A, B)) == (folder / "a.sh", folder / "b.json")
    assert content_in(folder, "b.json") == B.content
    assert differing(folder, (A, B)) == ()
    (folder / "a.sh").write_bytes(b"\xff\xfe")
    assert content_in(folder, "a.sh") is None
    assert differing(folder, (A, B)) == ("a.sh",)
    assert [one.name for one in folder.iterdir() if one.name.startswith(".")] == []


def test_a_file_that_is_the_same_is_not_touched(tmp_path: Path) -> None:
    write_files(tmp_path, (A,))
    before = (tmp_path / "a.sh").stat().st_ino
    write_files(tmp_path, (A,))
    assert (tmp_path / "a.sh").stat().st_ino == before


def test_a_folder_or_a_broken_link_of_that_name_is_no_file_to_lose_silently(tmp_path: Path) -> None:
    (tmp_path / "a.sh").mkdir()
    (tmp_path / "b.json").symlink_to(tmp_path / "nowhere")
    assert differing(tmp_path, (A, B)) == ("a.sh", "b.json")
    with pytest.raises(ExportError):
        write_files(tmp_path, (A,))


def test_of_two_files_with_one_name_the_first_is_taken() -> None:
    other = SettingsFile("a.sh", "shell", "echo 2\n")
    assert files_of([Written((A,)), Written((other, B))]) == (A, B)
