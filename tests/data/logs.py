"""Lines of logs, and the evidence in a file, for the tests of their readers."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from ckptplanner.data.evidence import FileEvidence, Measured
from ckptplanner.data.readers import torchrun, training_logs
from ckptplanner.data.readers.source import Reader, open_file

SAMPLES = Path(__file__).parent / "samples"
READERS: tuple[Reader, ...] = (*training_logs.READERS, *torchrun.READERS)


def evidence(path: Path, name: str | None = None) -> FileEvidence:
    """What the one reader that knows the file says."""
    opened = open_file(path, name)
    (reader,) = [reader for reader in READERS if reader.knows(opened.head)]
    return reader.read(opened)


def written(folder: Path, content: str | bytes, name: str = "a.log") -> FileEvidence:
    """What is read from this content."""
    path = folder / name
    path.write_bytes(content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content)
    return evidence(path)


def one(found: FileEvidence, quantity: str) -> Measured:
    """The one measurement of a quantity."""
    (measured,) = [measured for measured in found.measured if measured.quantity == quantity]
    return measured


def quantities(found: FileEvidence) -> set[str]:
    return {measured.quantity for measured in found.measured}


def values(found: FileEvidence, quantity: str) -> list[float]:
    return [round(value, 6) for value in one(found, quantity).values]


def words(found: FileEvidence) -> str:
    """All its warnings."""
    return " ".join(map(str, found.warnings))


def stamp_s(moment: str) -> float:
    """Seconds since 1970 of a time without a zone."""
    return datetime.fromisoformat(moment).replace(tzinfo=UTC).timestamp()
