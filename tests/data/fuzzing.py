"""Throws damaged files at the readers: each ends in a sound value or one sentence, whatever the bytes are.

    attack(folder, seeds)   -> how many were read, how many refused; a Broken that names reader, sample and seed otherwise
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ckptplanner.data.evidence import KIND_TITLES, QUANTITIES, Event, FileEvidence, Measured, Run
from ckptplanner.data.readers.errors import ReaderError
from ckptplanner.data.readers.evidence_files import READERS
from ckptplanner.data.readers.source import Reader, open_file
from ckptplanner.engine.evidence import Choices, read_evidence
from tests.data.mutations import mutated

SAMPLES = Path(__file__).parent / "samples"
KEPT = SAMPLES / "fuzz"  # inputs that broke a reader once
_LARGEST = 200_000  # bytes of a sample that is worth damaging
_MAY_BE_INFINITE = {"high_s", "over_time_high_s", "over_time_low_s", "over_time_mtbi_s"}  # of FailureRecord: nothing counted
_MAY_BE_NAN = {"nodes", "mtbi_s", "low_s", "node_rate_per_s", "common_rate_per_s", *_MAY_BE_INFINITE}


class Broken(AssertionError):
    """An input that broke the promise; the message names it."""


@dataclass(frozen=True)
class Case:
    """One sample and the reader that knows it."""

    reader: Reader
    sample: Path
    raw: bytes


def cases() -> tuple[Case, ...]:
    """Every sample with the first reader that knows it."""
    return tuple(_cases())


def _cases() -> Iterator[Case]:
    for sample in sorted(SAMPLES.rglob("*")):
        if not sample.is_file() or sample.is_relative_to(KEPT) or sample.stat().st_size > _LARGEST:
            continue
        head = open_file(sample).head
        reader = next((one for one in READERS if one.knows(head)), None)
        if reader is not None:
            yield Case(reader, sample, sample.read_bytes())


def sound(value: Any, where: str = "") -> None:
    """Raise Broken where a result holds NaN, infinity, a broken text or an unknown name."""
    name = where.rpartition(".")[2].partition("[")[0]
    if isinstance(value, float) and not math.isfinite(value):
        if not ((math.isnan(value) and name in _MAY_BE_NAN) or (math.isinf(value) and name in _MAY_BE_INFINITE)):
            raise Broken(f"{where} is {value}")
    elif isinstance(value, str):
        value.encode("utf-8")
    elif isinstance(value, np.ndarray):
        if value.dtype == float and name not in _MAY_BE_NAN and not np.isfinite(value).all():
            raise Broken(f"{where} holds what is not finite")
    elif isinstance(value, list | tuple | frozenset):
        for index, one in enumerate(value):
            sound(one, f"{where}[{index}]")
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        _sound_record(value, where)
        for part in dataclasses.fields(value):
            sound(getattr(value, part.name), f"{where}.{part.name}")


def _sound_record(value: Any, where: str) -> None:
    if isinstance(value, Measured):
        if value.quantity not in QUANTITIES and not (value.quantity == "" and value.question is not None):
            raise Broken(f"{where}: {value.quantity!r} is no quantity")
        if value.at_s and len(value.at_s) != len(value.values):
            raise Broken(f"{where}: {len(value.values)} values at {len(value.at_s)} moments")
    if isinstance(value, Run | Event) and value.kind not in KIND_TITLES:
        raise Broken(f"{where}: {value.kind!r} is no kind")
    if isinstance(value, Run) and value.end_s is not None and value.end_s < value.start_s:
        raise Broken(f"{where}: a run that ends before it starts")


def read_damaged(reader: Reader, path: Path) -> FileEvidence | None:
    """Read one file with one reader; None where it was refused, Broken where anything else happens."""
    try:
        opened = open_file(path)
        reader.knows(opened.head)
        found = reader.read(opened)
        sound(found, reader.id)
        sound(read_evidence((found,), Choices(), nodes=32), "reading")
        sound(read_evidence((found,), Choices(job="", counted=frozenset(KIND_TITLES)), nodes=None), "reading of all")
    except ReaderError as error:
        said = str(error)
        if "\n" in said or not said.endswith(".") or len(said) > 600:
            raise Broken(f"{reader.id}: no sentence: {said[:200]!r}") from error
        return None
    except Broken:
        raise
    except Exception as error:
        raise Broken(f"{reader.id}: {type(error).__name__}: {error}") from error
    return found


def attack(folder: Path, seeds: Iterable[int]) -> tuple[int, int]:
    """Damage one sample for each seed and read it with the reader that knows the whole one."""
    every, target = cases(), folder / "damaged"
    read = refused = 0
    for seed in seeds:
        case = every[seed % len(every)]
        target.write_bytes(mutated(case.raw, seed))
        try:
            found = read_damaged(case.reader, target)
        except Broken as error:
            raise Broken(f"{case.sample.relative_to(SAMPLES)}, seed {seed}: {error}") from error
        read, refused = read + (found is not None), refused + (found is None)
    return read, refused
