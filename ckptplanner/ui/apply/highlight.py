"""Colours for the words of a settings file: shell, YAML, TOML, Python and JSON, line by line; and for a difference.

Not a parser: what colours a word wrongly does no harm. Strings are looked for before comments and numbers, so that a `#`
in quotes stays what it is.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from PySide6.QtGui import QColor, QSyntaxHighlighter, QTextCharFormat, QTextDocument
from typing_extensions import override

from ckptplanner.ui.theme import LIGHT, Theme

_FROM_THE_PLAN = re.compile(r"\bfrom the plan\b", re.IGNORECASE)
_SINGLE, _DOUBLE = r"'(?:\\.|[^'\\])*'?", r'"(?:\\.|[^"\\])*"?'
_NUMBER = r"(?<![\w.-])[-+]?\d[\d_]*(?:\.\d+)?(?:[eE][-+]?\d+)?(?![\w.-])"
_PYTHON_WORDS = (
    "and|as|assert|async|await|break|class|continue|def|del|elif|else|except|finally|for|from|global|if|import|in|is|"
    "lambda|not|or|pass|raise|return|try|while|with|yield|None|True|False"
)
_SHELL_WORDS = "case|do|done|elif|else|esac|exec|exit|export|fi|for|function|if|in|local|return|set|shift|then|trap|while"


def _rules(**patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(f"(?P<{name}>{pattern})" for name, pattern in patterns.items()))


RULES: Mapping[str, re.Pattern[str]] = {
    "shell": _rules(
        keyword=rf"^#(?:SBATCH|PBS)\b|^#!.*$|(?<![\w./-])(?:{_SHELL_WORDS})(?![\w./=-])",
        string=rf"'[^']*'?|{_DOUBLE}", comment=r"(?:^|(?<=\s))#.*$",
        key=r"(?<![\w-])--?[A-Za-z][\w-]*|\$\{[^}]*\}?|\$\w+|^[A-Za-z_]\w*(?==)", number=_NUMBER,
    ),
    "yaml": _rules(
        key=r"^\s*(?:- )*[\w./-]+(?=\s*:(?:\s|$))", string=rf"{_DOUBLE}|{_SINGLE}", comment=r"(?:^|(?<=\s))#.*$",
        keyword=r"(?<![\w.-])(?:true|false|null|yes|no)(?![\w.-])|^---", number=_NUMBER,
    ),
    "toml": _rules(
        keyword=r"^\s*\[\[?[^\]#\"']*\]\]?|\b(?:true|false)\b", key=r"^\s*[\w.-]+(?=\s*=)", string=rf"{_DOUBLE}|'[^']*'?",
        comment=r"#.*$", number=_NUMBER,
    ),
    "python": _rules(
        string=rf"[rbfRBF]{{0,2}}(?:{_DOUBLE}|{_SINGLE})", comment=r"#.*$",
        keyword=rf"\b(?:{_PYTHON_WORDS})\b|^\s*@[\w.]+", key=r"\b[A-Za-z_]\w*(?=\s*=(?!=))", number=_NUMBER,
    ),
    "json": _rules(
        comment=rf'"//"\s*:\s*{_DOUBLE}|"//"(?=\s*:)', key=r'"(?:\\.|[^"\\])*"(?=\s*:)', string=_DOUBLE,
        keyword=r"\b(?:true|false|null)\b", number=_NUMBER,
    ),
}  # fmt: skip
_TRIPLE = re.compile(r'"""|\'\'\'')
_OUTSIDE, _IN_STRING = 0, 1


def is_from_the_plan(line: str) -> bool:
    """Whether a line says that it comes from a figure of the plan."""
    return _FROM_THE_PLAN.search(line) is not None


class Highlighter(QSyntaxHighlighter):
    """Colours a document; `show_language` and `show_theme` colour it anew."""

    def __init__(self, document: QTextDocument) -> None:
        super().__init__(document)
        self._language, self._theme, self._is_difference = "text", LIGHT, False

    def show_language(self, language: str, *, is_difference: bool) -> None:
        """Take a language; a difference is coloured by its signs alone."""
        if (language, is_difference) != (self._language, self._is_difference):
            self._language, self._is_difference = language, is_difference
            self.rehighlight()

    def show_theme(self, theme: Theme) -> None:
        """Take the colours of a theme."""
        if theme is not self._theme:
            self._theme = theme
            self.rehighlight()

    @override
    def highlightBlock(self, text: str) -> None:
        if self._is_difference:
            self._colour_difference(text)
            return
        self.setCurrentBlockState(_OUTSIDE)
        start = self._colour_long_string(text) if self._language == "python" else 0
        if self._language in RULES:
            self._colour_words(text, start)

    def _colour_words(self, text: str, start: int) -> None:
        code = self._theme.code
        for found in RULES[self._language].finditer(text, start):
            kind = found.lastgroup or ""
            remark = kind == "comment" and is_from_the_plan(found[0])
            colour = code.remark if remark else getattr(code, kind)
            self._set(found.start(), len(found[0]), colour)

    def _colour_long_string(self, text: str) -> int:
        """Colour what of the line is in triple quotes; where the rest begins, the end where there is none."""
        place, is_inside = 0, self.previousBlockState() == _IN_STRING
        for found in _TRIPLE.finditer(text):
            if not is_inside and "#" in text[place : found.start()]:
                break
            if is_inside:
                self._set(place, found.end() - place, self._theme.code.string)
            place, is_inside = (found.end() if is_inside else found.start()), not is_inside
        if is_inside:
            self._set(place, len(text) - place, self._theme.code.string)
            self.setCurrentBlockState(_IN_STRING)
            return len(text)
        return place

    def _colour_difference(self, text: str) -> None:
        code = self._theme.code
        if text.startswith("@@"):
            self._set(0, len(text), code.keyword)
        elif text.startswith("+"):
            self._set(0, len(text), code.added)
        elif text.startswith("-"):
            self._set(0, len(text), code.removed)

    def _set(self, start: int, count: int, colour: str) -> None:
        made = QTextCharFormat()
        made.setForeground(QColor(colour))
        self.setFormat(start, count, made)
