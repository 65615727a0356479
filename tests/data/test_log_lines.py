"""The lines of a file of any size: they are the same however the pieces of the file fall."""

from __future__ import annotations

from pathlib import Path

import pytest

from ckptplanner.data.readers import source
from ckptplanner.data.readers.errors import ReaderError
from ckptplanner.data.readers.source import LINE_CAP_BYTES, open_file


def lines(folder: Path, content: bytes) -> list[tuple[int, str]]:
    path = folder / "a.log"
    path.write_bytes(content)
    return list(open_file(path).lines())


@pytest.mark.parametrize("piece", [1, 2, 3, 7, 1 << 19])
@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", []),
        (b"\n", [""]),
        (b"a", ["a"]),
        (b"a\nb\n", ["a", "b"]),
        (b"a\r\n\r\nb\r", ["a", "", "b"]),
        (b"a\rb\nc", ["a\rb", "c"]),
        ("\ufeffé\n\ufeff€😀\n".encode(), ["é", "\ufeff€😀"]),
        (b"\xff\xfe\n\x85\x1c\x0b\n", ["\ufffd\ufffd", "\ufffd\x1c\x0b"]),
    ],
)
def test_lines_and_their_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, piece: int, content: bytes, expected: list[str]
) -> None:
    monkeypatch.setattr(source, "_PIECE", piece)
    assert lines(tmp_path, content) == list(enumerate(expected, start=1))


@pytest.mark.parametrize("length", [LINE_CAP_BYTES - 1, LINE_CAP_BYTES, LINE_CAP_BYTES + 1, 3 * LINE_CAP_BYTES])
def test_a_long_line_is_cut_and_the_next_one_is_whole(tmp_path: Path, length: int) -> None:
    found = lines(tmp_path, b"x\n" + b"a" * length + b"\nb\n" + b"c" * length)
    assert [(number, text[:1], len(text)) for number, text in found] == [
        (1, "x", 1),
        (2, "a", min(length, LINE_CAP_BYTES)),
        (3, "b", 1),
        (4, "c", min(length, LINE_CAP_BYTES)),
    ]


def test_zero_bytes_are_refused_with_their_line(tmp_path: Path) -> None:
    with pytest.raises(ReaderError, match=r"^a\.log, line 200002: there are zero bytes"):
        lines(tmp_path, b"abcdef\n" * 200_001 + b"a\0b\n")


@pytest.mark.parametrize("way", ["lines", "pieces"])
def test_trouble_of_who_listens_to_the_progress_is_no_trouble_of_the_file(tmp_path: Path, way: str) -> None:
    """A broken pipe of a program that prints the progress must not read as `the file cannot be read`."""

    def broken(_: float) -> None:
        raise BrokenPipeError("nobody listens")

    (tmp_path / "a.log").write_text("a\nb\n")
    with pytest.raises(BrokenPipeError, match="nobody listens"):
        list(getattr(open_file(tmp_path / "a.log", progress=broken), way)())


@pytest.mark.parametrize("way", ["lines", "pieces"])
def test_a_file_that_is_gone_is_one_sentence(tmp_path: Path, way: str) -> None:
    (tmp_path / "a.log").write_text("a\nb\n")
    opened = open_file(tmp_path / "a.log")
    (tmp_path / "a.log").unlink()
    with pytest.raises(ReaderError, match=r"^a\.log: it cannot be read"):
        list(getattr(opened, way)())


@pytest.mark.parametrize(
    ("words", "is_json"),
    [
        ('{"a": 1}', True),
        ('\n {\n "a": 1}', True),
        ("{}", True),
        ("[]", True),
        ('[\n {"a": 1}]', True),
        ('["2026-11-29 14:00:00", 1]', True),
        ("[[1], [2]]", True),
        ("[1, 2]", True),
        ("[-1.5e-3, 2]", True),
        ("[3]\n", True),
        ("[null, true]", True),
        ("[2026-11-29 14:00:00,123] INFO save", False),
        ("[2026/11/29 14:00:00] INFO save", False),
        ("[14:00:00] INFO save", False),
        ("[14:00:00.123, 5] INFO save", False),
        ("[rank0]: Traceback", False),
        ("[0]: step 1", False),
        ("[3] step 1", False),
        ("[trainer] started", False),
        ("[notice] started", False),
        ("{rank 0} started", False),
        ("step 1", False),
        ("", False),
    ],
)
def test_what_begins_like_json(tmp_path: Path, words: str, is_json: bool) -> None:
    (tmp_path / "a.log").write_text(words)
    assert open_file(tmp_path / "a.log").head.is_json == is_json
