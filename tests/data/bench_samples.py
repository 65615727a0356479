"""What the tests of the benchmarks' readers share: reading a sample or words, and mutating files."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from pathlib import Path

from ckptplanner.data.evidence import FileEvidence
from ckptplanner.data.readers.errors import ReaderError
from ckptplanner.data.readers.source import Reader, open_file

SAMPLES = Path(__file__).parent / "samples"
MiB = 2.0**20


def wrote(folder: Path, content: str | bytes, name: str = "file.txt") -> Path:
    path = folder / name
    path.write_bytes(content.encode("utf-8") if isinstance(content, str) else content)
    return path


def read(path: Path, readers: Sequence[Reader]) -> FileEvidence:
    """What the one reader that knows the file says."""
    opened = open_file(path)
    knowing = [reader for reader in readers if reader.knows(opened.head)]
    assert len(knowing) == 1, [reader.id for reader in knowing]
    return knowing[0].read(opened)


def words(evidence: FileEvidence) -> str:
    """All notes and warnings as one text."""
    notes = [note for one in evidence.measured for note in one.notes] + [note for one in evidence.facts for note in one.notes]
    return "\n".join(str(line) for line in (*evidence.warnings, *notes))


def check_numbers(evidence: FileEvidence) -> None:
    """No NaN, no infinity, nothing negative, and every value has its place."""
    for one in evidence.measured:
        assert one.values
        assert all(math.isfinite(value) and value >= 0 for value in (*one.values, *one.at_s))
        assert not one.at_s or len(one.at_s) == len(one.values)
        assert str(one.place) != evidence.file
    for fact in evidence.facts:
        assert not isinstance(fact.value, float) or math.isfinite(fact.value)
    asked = [str(one.question) for one in evidence.measured]
    "".join((words(evidence), evidence.date, *asked, *(fact.shown for fact in evidence.facts))).encode("utf-8")


STRANGE = (b"NaN", b"Infinity", b"-1", b"1e999", b"9" * 5000, b"null", b"[]", b"{}", b'"\\ud800"', b"[" * 3000, b"\xff",
           b"true", b'"x"', b"0", b"1e300", b"-0.0", b"\x00", b"\x1b[4m")  # fmt: skip


def mutated(raw: bytes, chance: random.Random) -> bytes:
    """The bytes with a few things changed, cut, doubled or put in."""
    result = bytearray(raw)
    for _ in range(chance.randint(1, 4)):
        at = chance.randrange(len(result) + 1)
        what = chance.randrange(5)
        if what == 0:
            result[at : at + 1] = bytes([chance.randrange(256)])
        elif what == 1:
            result[at : at + chance.randint(1, 40)] = chance.choice(STRANGE)
        elif what == 2:
            del result[at : at + chance.randint(1, 200)]
        elif what == 3:
            result[at:at] = result[at : at + chance.randint(1, 300)]
        elif digits := [i for i in range(len(result)) if 48 <= result[i] <= 57]:
            spot = chance.choice(digits)
            result[spot : spot + 1] = chance.choice(STRANGE)
    return bytes(result)


def survive(readers: Sequence[Reader], paths: Sequence[Path], folder: Path, rounds: int, seed: int) -> None:
    """Every reader takes mutated files, known or not, and gives a value or a clean refusal."""
    chance = random.Random(seed)
    for count in range(rounds):
        source = paths[count % len(paths)]
        path = wrote(folder, mutated(source.read_bytes(), chance), "mutated")
        for reader in readers:
            opened = open_file(path)
            is_known = reader.knows(opened.head)
            if not is_known and count % 20:
                continue
            sentence = "A value."
            try:
                check_numbers(reader.read(opened))
            except ReaderError as error:
                sentence = str(error)
            assert "\n" not in sentence
            assert sentence.endswith(".")
