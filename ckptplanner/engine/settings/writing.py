"""How lines of a settings file are put together so that no name or folder can break out of a comment, a string or a line."""

from __future__ import annotations

import json
import shlex
import unicodedata
from collections.abc import Iterable, Sequence

from ckptplanner.engine.settings.target import Settings, SettingsFile
from ckptplanner.text import Text, text
from ckptplanner.units import NBSP, grouped

Rows = Sequence[tuple[str, str]]


def one_line(words: str) -> str:
    """Words in one line: no line end, no control character, no space that shells take for a letter."""
    plain = words.replace(NBSP, " ").replace("\u2009", " ")
    return "".join(" " if unicodedata.category(one) in {"Cc", "Cf", "Cs", "Zl", "Zp"} else one for one in plain)


def comment(lines: Iterable[str], mark: str = "#") -> str:
    """Lines of comment, each of them one line whatever it holds."""
    return "".join(f"{mark} {one_line(line)}".rstrip() + "\n" for line in lines)


def aligned(rows: Rows, indent: str = "") -> str:
    """Lines with a remark behind each that has one: what stands there, and from which figure of the plan it comes."""
    width = max((len(line) for line, remark in rows if remark), default=0)
    return "".join(
        f"{indent}{line:<{width}}  # {one_line(remark)}\n" if remark else f"{indent}{line}".rstrip() + "\n"
        for line, remark in rows
    )


def steps_words(count: int) -> Text:
    """A number of steps in a sentence of the window."""
    return text("1 step") if count == 1 else text("{count} steps", count=grouped(count))


def head(settings: Settings, title: str, checked: str, notes: Iterable[str] = ()) -> tuple[str, ...]:
    """What stands on top of a file: the plan, what it is for and with what it was checked."""
    return (title, *settings.assumptions(), checked or "Written by its source and documents; not run here.", *notes)


def readme(name: str, lines: Iterable[str]) -> SettingsFile:
    """The file beside one whose format has no comment."""
    return SettingsFile(f"{name}.README.txt", "text", "".join(f"{one_line(line)}\n" for line in lines))


def shell_word(word: str) -> str:
    """One word of a shell line."""
    return shlex.quote(one_line(word))


def double_quoted(word: str) -> str:
    """A string as YAML, JSON and Python read it alike: in double quotes, with everything that ends a line escaped."""
    written = json.dumps(word, ensure_ascii=False)
    return "".join(
        f"\\u{ord(one):04x}" if unicodedata.category(one) in {"Cc", "Cf", "Cs", "Zl", "Zp"} and ord(one) < 0x10000 else one
        for one in written
    )


def is_true(value: bool) -> str:
    """A truth value as YAML and JSON write it."""
    return "true" if value else "false"
