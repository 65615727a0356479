"""2,000 damaged files in every run of the tests, and all that ever broke a reader; `make soak` throws 100,000."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ckptplanner.data.readers.evidence_files import READERS
from tests.data.fuzzing import KEPT, Broken, attack, cases, folders, read_damaged, read_damaged_folder, sound
from tests.data.mutations import mutated


def test_every_reader_has_a_sample_that_is_damaged() -> None:
    assert {case.reader.id for case in cases()} == {reader.id for reader in READERS}


@pytest.mark.parametrize("part", range(4))
def test_damaged_files_end_in_a_value_or_a_sentence(tmp_path: Path, part: int) -> None:
    read, refused = attack(tmp_path, range(part * 500, part * 500 + 500))
    assert read + refused == 500
    assert read > 50  # damage that is always refused would prove little
    assert refused > 50


def test_damaged_checkpoint_folders_end_in_a_value_too(tmp_path: Path) -> None:
    whole = folders()
    assert len(whole) >= 6
    found = [read_damaged_folder(whole[seed % len(whole)], tmp_path / "folder", seed) for seed in range(60)]
    assert sum(one is not None for one in found) > 20


def test_what_broke_a_reader_once_breaks_none_again() -> None:
    for kept in sorted(KEPT.glob("*")):
        for reader in READERS:
            read_damaged(reader, kept)


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(raw=st.binary(max_size=400) | st.text(max_size=400).map(lambda words: words.encode("utf-8", "surrogatepass")))
def test_any_bytes_end_in_a_value_or_a_sentence_with_any_reader(tmp_path: Path, raw: bytes) -> None:
    target = tmp_path / "any"
    target.write_bytes(raw)
    for reader in READERS:
        read_damaged(reader, target)


def test_damage_is_the_same_for_the_same_seed_and_differs_between_seeds() -> None:
    raw = cases()[0].raw
    assert mutated(raw, 7) == mutated(raw, 7)
    assert len({mutated(raw, seed) for seed in range(50)}) > 40


def test_the_check_of_soundness_sees_what_is_wrong() -> None:
    with pytest.raises(Broken):
        sound((1.0, float("nan")), "values")
    with pytest.raises(UnicodeEncodeError):
        sound("\ud800")
