"""The words of a shell text with the lines they stand in: quotes, continuations, comments and variables that it sets itself."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

MOST_DEPTH = 3  # quoted strings inside quoted strings
MOST_VALUE, MOST_WORD = 512, 4096  # characters: longer ones are no settings, and variables in them are left alone
_ASSIGNED = re.compile(r"([A-Za-z_]\w*)\+?=(.*)", re.DOTALL)
_VARIABLE = re.compile(r"\$(?:\{([A-Za-z_]\w*)(?::?-([^}]*))?\}|([A-Za-z_]\w*))")
_BREAKS = frozenset(";|&()<>")


@dataclass(frozen=True, slots=True)
class Word:
    """One word and the line it begins in, from 1."""

    text: str
    line: int


@dataclass(slots=True)
class _Scanner:
    """Cuts a text into words; `at` and `line` are where it stands."""

    text: str
    line: int
    at: int = 0

    def words(self) -> Iterator[Word]:
        while self.at < len(self.text):
            sign = self.text[self.at]
            if sign == "#":
                self._to_line_end()
            elif self._skips(sign):
                continue
            else:
                start = self.line
                yield Word(self._word(), start)

    def _skips(self, sign: str) -> bool:
        """Whether a blank, a break or a continuation was passed over."""
        if self.text.startswith("\\\n", self.at):
            self.at, self.line = self.at + 2, self.line + 1
        elif sign.isspace() or sign in _BREAKS:
            self.at, self.line = self.at + 1, self.line + (sign == "\n")
        else:
            return False
        return True

    def _to_line_end(self) -> None:
        end = self.text.find("\n", self.at)
        self.at = len(self.text) if end < 0 else end

    def _word(self) -> str:
        parts: list[str] = []
        while self.at < len(self.text):
            sign = self.text[self.at]
            if sign in "'\"":
                parts.append(self._quoted(sign))
            elif sign == "\\":
                self.line += self.text.startswith("\n", self.at + 1)
                parts.append("" if self.text.startswith("\n", self.at + 1) else self.text[self.at + 1 : self.at + 2])
                self.at += 2
            elif sign.isspace() or sign in _BREAKS:
                break
            else:
                parts.append(sign)
                self.at += 1
        return "".join(parts)

    def _quoted(self, mark: str) -> str:
        end = self.at + 1
        while end < len(self.text) and self.text[end] != mark:
            end += 2 if mark == '"' and self.text[end] == "\\" else 1
        inner = self.text[self.at + 1 : min(end, len(self.text))]
        self.line += inner.count("\n")
        self.at = end + 1
        return re.sub(r'\\(["\\$`])', r"\1", inner) if mark == '"' else inner


def words_of(text: str, line: int = 1, variables: dict[str, str] | None = None, depth: int = 0) -> Iterator[Word]:
    """The words, with those of quoted strings of arguments (ARGS="--save x ...") one by one."""
    known = {} if variables is None else variables
    for word in _Scanner(text, line).words():
        assigned = _ASSIGNED.fullmatch(word.text)
        whole = assigned[2] if assigned else word.text
        if re.search(r"(^|\s)--[A-Za-z][^\n]*\s", whole) and depth < MOST_DEPTH:
            yield from words_of(whole.replace("\\\n", " \n"), word.line, known, depth + 1)
        elif assigned:
            known[assigned[1]] = _with_values(whole, known)[:MOST_VALUE]
        else:
            yield Word(_with_values(word.text, known), word.line)


def _with_values(word: str, variables: dict[str, str]) -> str:
    """With the variables that are known; the others stand as they are."""

    def value(match: re.Match[str]) -> str:
        return variables.get(match[1] or match[3], match[2] if match[2] is not None else match[0])

    return _VARIABLE.sub(value, word) if len(word) <= MOST_WORD else word
