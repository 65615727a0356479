"""The words of a shell text with the lines they stand in: quotes, continuations, comments and variables that it sets itself."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count

MOST_DEPTH = 3  # quoted strings inside quoted strings
MOST_VALUE, MOST_WORD = 512, 4096  # characters: longer ones are no settings, and variables in them are left alone
_ASSIGNED = re.compile(r"([A-Za-z_]\w*)\+?=(.*)", re.DOTALL)
_VARIABLE = re.compile(r"\$(?:\{([A-Za-z_]\w*)(?::?-([^}]*))?\}|([A-Za-z_]\w*))")
_BREAKS = frozenset(";|&()<>")
_ITEM = re.compile(r"\n[ \t]*-[ \t]+(?![\w.-]+:(?:\s|$))")  # of a YAML list; `- name: x` begins another thing
_OPENS_LIST = re.compile(r"""(?<![\w$])\[(?=["']|--|[ \t]*\n)""")  # of JSON, YAML or Python; a shell's [ has a blank behind it
_FLAG = re.compile(r"--?[A-Za-z]")


@dataclass(frozen=True, slots=True)
class Word:
    """One word, the line it begins in, from 1, and the command that it belongs to."""

    text: str
    line: int
    command: int = 0  # 0: arguments that stand by themselves, in an array, a string or a file
    part: int = 0  # words of different parts are no flag and its value


@dataclass(slots=True)
class _Scanner:
    """Cuts a text into words; `at` and `line` are where it stands."""

    text: str
    line: int
    at: int = 0
    part: int = 0  # words between line ends, ; & and |, of one array or one list
    array: int = 0  # open parentheses from NAME=( on
    lists: int = 0  # open brackets of lists
    first: str = ""  # word of this part
    on_line: list[str] = field(default_factory=list)

    def words(self) -> Iterator[tuple[Word, bool]]:
        """Each word, its part among those of this text, and whether it stands in an array."""
        while self.at < len(self.text):
            sign = self.text[self.at]
            if sign == "#":
                self._to_line_end()
            elif self._skips(sign):
                continue
            else:
                start, is_in_array = self.line, self.array > 0
                word = self._word()
                self.first = self.first or word
                self.on_line.append(word)
                yield Word(word, start, part=self.part), is_in_array

    def _skips(self, sign: str) -> bool:
        """Whether a blank, a break or a continuation was passed over."""
        if self.text.startswith("\\\n", self.at):
            self.at, self.line = self.at + 2, self.line + 1
            return True
        if sign.isspace() or sign in _BREAKS:
            if sign == "\n":
                self._line_end()
            else:
                self._break(sign)
        elif _OPENS_LIST.match(self.text, self.at):
            self.lists += 1
        elif self.lists and sign in ",]":
            self.lists -= sign == "]"
        else:
            return False
        self.at += 1
        return True

    def _line_end(self) -> None:
        """A command ends here, unless the line is continued by what it holds."""
        self.line += 1
        is_item = _ITEM.match(self.text, self.at) is not None
        flag = self.on_line[0] if len(self.on_line) == 1 and _FLAG.match(self.first) else ""  # its value may be the next line
        if not (self.array or self.lists or is_item or (_FLAG.match(flag) and "=" not in flag)):
            self._next_part()
        self.on_line = []

    def _break(self, sign: str) -> None:
        before, after = self.text[self.at - 1 : self.at], self.text[self.at + 1 : self.at + 2]
        if sign == "(" and (self.array or before == "="):
            self.array += 1
            if self.array == 1:
                self._next_part()
        elif sign == ")" and self.array:
            self.array -= 1
            if not self.array:
                self._next_part()
        elif sign in ";|" or (sign == "&" and before != ">" and after != ">"):
            self._next_part()

    def _next_part(self) -> None:
        self.part, self.first = self.part + 1, ""

    def _to_line_end(self) -> None:
        end = self.text.find("\n", self.at)
        self.at = len(self.text) if end < 0 else end

    def _word(self) -> str:
        parts: list[str] = []
        while self.at < len(self.text):
            sign = self.text[self.at]
            if sign in "'\"":
                is_whole = not parts
                parts.append(self._quoted(sign))
                if is_whole and self.text.startswith(",", self.at):  # a line of a list
                    self.at += 1
                    break
            elif sign == "\\":
                self.line += self.text.startswith("\n", self.at + 1)
                parts.append("" if self.text.startswith("\n", self.at + 1) else self.text[self.at + 1 : self.at + 2])
                self.at += 2
            elif self._ends_word(sign):
                break
            else:
                parts.append(sign)
                self.at += 1
        return "".join(parts)

    def _ends_word(self, sign: str) -> bool:
        is_of_list = bool(self.lists) and sign in ",]"
        return sign.isspace() or sign in _BREAKS or is_of_list or _OPENS_LIST.match(self.text, self.at) is not None

    def _quoted(self, mark: str) -> str:
        end = self.at + 1
        while end < len(self.text) and self.text[end] != mark:
            end += 2 if mark == '"' and self.text[end] == "\\" else 1
        inner = self.text[self.at + 1 : min(end, len(self.text))]
        self.line += inner.count("\n")
        self.at = end + 1
        return re.sub(r'\\(["\\$`])', r"\1", inner) if mark == '"' else inner


@dataclass(slots=True)
class _Known:
    """What the text has set so far, and numbers for its commands and parts."""

    variables: dict[str, str] = field(default_factory=dict)
    numbers: Iterator[int] = field(default_factory=lambda: count(1))


def words_of(text: str) -> Iterator[Word]:
    """The words, with those of quoted strings of arguments (ARGS="--save x ...") one by one."""
    return _words_of(text, 1, _Known(), 0, 0)


def _words_of(text: str, line: int, known: _Known, depth: int, within: int) -> Iterator[Word]:
    """Words of one text; what begins with a flag belongs to the command that it stands within."""
    at, part, command = -1, 0, within
    for word, is_in_array in _Scanner(text, line).words():
        assigned = _ASSIGNED.fullmatch(word.text)
        whole = assigned[2] if assigned else word.text
        if word.part != at:
            at, part, command = word.part, next(known.numbers), -1
        if command < 0 and not assigned:
            command = within if is_in_array or _FLAG.match(word.text) else next(known.numbers)
        if re.search(r"(^|\s)--[A-Za-z][^\n]*\s", whole) and depth < MOST_DEPTH:
            inside = within if assigned else command
            yield from _words_of(whole.replace("\\\n", " \\\n"), word.line, known, depth + 1, inside)
        elif assigned:
            known.variables[assigned[1]] = _with_values(whole, known.variables)[:MOST_VALUE]
        elif word.text != "-":  # of a YAML list
            yield Word(_with_values(word.text, known.variables), word.line, command, part)


def _with_values(word: str, variables: dict[str, str]) -> str:
    """With the variables that are known; the others stand as they are."""

    def value(match: re.Match[str]) -> str:
        return variables.get(match[1] or match[3], match[2] if match[2] is not None else match[0])

    return _VARIABLE.sub(value, word) if len(word) <= MOST_WORD else word
