"""Reads back what a settings file holds, whatever wrote it, so that rules judge what was written and not what was meant."""

from __future__ import annotations

import ast
import json
import re
import shlex
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ckptplanner.engine.settings.target import SettingsFile

Value = str | int | float | bool | None
Pairs = Iterator[tuple[str, Value]]


class Unreadable(ValueError):  # noqa: N818 - said of the file
    """A file that its own language does not accept; the message says where."""


@dataclass(frozen=True, slots=True)
class Read:
    """Names and values of one file in the order in which they stand, names in small letters with underscores."""

    file: SettingsFile
    values: tuple[tuple[str, Value], ...]
    document: Any = None  # of JSON: all of it

    def all(self, *names: str) -> tuple[Value, ...]:
        """Every value that stands under one of these names."""
        return tuple(value for name, value in self.values if name in names)

    def number(self, name: str) -> float | None:
        """The first number under a name, None where there is none."""
        numbers = (value for value in self.all(name) if isinstance(value, int | float) and not isinstance(value, bool))
        return next(numbers, None)


def read(file: SettingsFile) -> Read:
    """The values of a file.

    Raises:
        Unreadable: its language does not accept it.
    """
    try:
        document = json.loads(file.content) if file.language == "json" else None
        values = tuple((_plain(name), value) for name, value in _pairs(file, document))
    except (ValueError, SyntaxError, RecursionError) as trouble:
        raise Unreadable(str(trouble).splitlines()[0]) from trouble
    return Read(file, values, document)


def _pairs(file: SettingsFile, document: Any) -> Pairs:
    if file.language == "json":
        return _leaves(document)
    if file.language == "toml":
        return _leaves(tomllib.loads(file.content))
    if file.language == "yaml":
        return _yaml(file.content)
    if file.language == "python":
        return _python(ast.parse(file.content))
    return _shell(file.content) if file.language == "shell" else iter(())


def _plain(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).replace("-", "_").lower()


def _scalar(word: str) -> Value:
    """A bare word as YAML and shells leave it."""
    if word in {"true", "false"}:
        return word == "true"
    if word in {"null", "~", ""}:
        return None
    if re.fullmatch(r"[+-]?\d+", word):
        return int(word)
    if re.fullmatch(r"[+-]?(\d+\.\d*|\.?\d+)(e[+-]?\d+)?", word, re.IGNORECASE):
        return float(word)
    return word


def _leaves(part: Any, name: str = "") -> Pairs:
    """The scalars of nested tables and lists under the last name above them."""
    if isinstance(part, dict):
        for key, inner in part.items():
            yield from _leaves(inner, str(key))
    elif isinstance(part, list):
        for inner in part:
            yield from _leaves(inner, name)
    else:
        yield name, part


_YAML_LINE = re.compile(r'^ *(?:- )*([\w./-]+): *("(?:\\.|[^"\\])*"|\{[^}]*\}|\[[^\]]*\]|[^#\s][^#]*)?\s*(?:#.*)?$')
_FLOW_PAIR = re.compile(r"([\w./-]+): *([^,{}]+)")


def _yaml(content: str) -> Pairs:
    """`name: value` a line: block style, flow maps of scalars, strings in double quotes. That is all that targets write."""
    for line in content.splitlines():
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        match = _YAML_LINE.match(line)
        if match is None:
            if line.lstrip().startswith("- "):
                continue
            raise ValueError(f"not understood as YAML: {line}")
        name, word = match[1], (match[2] or "").strip()
        if word.startswith('"'):
            yield name, str(json.loads(word))
        elif word.startswith("{"):
            yield from ((key, _scalar(value.strip())) for key, value in _FLOW_PAIR.findall(word))
        elif not word.startswith("["):
            yield name, _scalar(word)


def _python(tree: ast.Module) -> Pairs:
    """Constants, keyword arguments and names that are called; `timeout=timedelta(seconds=9)` counts as timeout=9."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            target = node.targets[0]
            if isinstance(target, ast.Name | ast.Attribute):  # config.comm.name counts as name
                yield from _constant(target.id if isinstance(target, ast.Name) else target.attr, node.value)
        elif isinstance(node, ast.Call):
            yield "calls", node.func.id if isinstance(node.func, ast.Name) else None
            for keyword in node.keywords:
                yield from _constant(keyword.arg or "", keyword.value)


def _constant(name: str, value: ast.expr) -> Pairs:
    if isinstance(value, ast.Call):
        value = next((one.value for one in value.keywords if one.arg == "seconds"), value)
    try:
        found = ast.literal_eval(value)
    except (ValueError, TypeError):
        return
    if found is None or isinstance(found, str | int | float | bool):
        yield name, found


_SBATCH = re.compile(r'^#SBATCH +--([\w-]+)(?:=("(?:\\.|[^"\\])*"|[^\s#]+))? *(?:#.*)?$', re.MULTILINE)
_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)=(.*)", re.DOTALL)


def _shell(content: str) -> Pairs:
    """#SBATCH lines (as sbatch_NAME), NAME=VALUE, and options with what follows them, `--name value` or `--name=value`."""
    for name, value in _SBATCH.findall(content):
        yield f"sbatch_{name}", _scalar(re.sub(r"\\(.)", r"\1", value[1:-1]) if value.startswith('"') else value)
    words = shlex.split(re.sub(r"\\\n", " ", content), comments=True)
    for at, word in enumerate(words):
        if word.startswith("--"):
            name, has_value, value = word[2:].partition("=")
            after = words[at + 1] if at + 1 < len(words) else ""
            follows = True if after.startswith("--") or not after else _scalar(after)
            yield name, _scalar(value) if has_value else follows
        elif (match := _ASSIGNMENT.fullmatch(word)) and "$" not in match[2]:  # else the script works it out
            yield match[1], _scalar(match[2])
