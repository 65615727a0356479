"""Settings of frameworks as text -> what is said in them: name, value and line. Nothing in the text is ever executed.

found(text)  -> Found(dialect, {name: Said}), None where the text is none of these

shell      a line or file of arguments, a bash array, a script for sbatch; variables that the text itself sets
log        the list of arguments that Megatron-LM prints, name and value with dots between
yaml       flat, or a section `checkpoint:`
toml       a section [checkpoint]
json       Hugging Face TrainingArguments, or arguments
python     calls with keywords, and assignments to `...checkpoint.name`
"""

from __future__ import annotations

import ast
import json
import re
import tomllib
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from ckptplanner.engine.settings.words import Word, words_of

Dialect = Literal["megatron-lm", "megatron-bridge", "torchtitan", "torchtitan-0.2", "hf-trainer"]
MAX_CHARACTERS = 1_000_000
KEPT_REMARK = re.compile(r"#\s*keeps (\d{1,9}) complete generations?\b")  # what this program writes above the arguments

MEGATRON = frozenset({
    "save_interval", "persistent_save_interval", "async_save", "use_persistent_ckpt_worker", "save_retain_interval",
    "non_persistent_ckpt_type", "non_persistent_save_interval", "non_persistent_local_ckpt_dir", "replication",
    "replication_jump", "replication_factor", "ckpt_format", "async_strategy", "most_recent_k",
})  # fmt: skip
OLD_TITAN = frozenset({  # names of TorchTitan 0.1.0 and older, which 0.2.0 and newer refuse
    "enable_checkpoint", "interval_type", "model_weights_only", "last_save_model_weights_only",
})  # fmt: skip
TITAN = OLD_TITAN | {"enable", "interval", "async_mode", "keep_latest_k", "last_save_model_only", "load_only"}
HUGGING = frozenset({"save_strategy", "save_steps", "save_total_limit", "save_only_model"})
SWITCHES = frozenset({
    "async_save", "use_persistent_ckpt_worker", "replication", "ckpt_assume_constant_structure", "ckpt_fully_parallel_load",
    "log_progress", "use_checkpoint_args", "dist_ckpt_optim_fully_reshardable", "use_dist_ckpt",
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class Said:
    """One value, where it stands and how it is written there."""

    value: str  # true, false and none in small letters
    line: int  # from 1
    words: str


@dataclass(frozen=True, slots=True)
class Found:
    """What a text says, and in whose words."""

    dialect: Dialect
    said: Mapping[str, Said]
    kept_by_script: Said | None = None
    others: tuple[tuple[Said, Said], ...] = ()  # what was taken, and what another command of the text says
    overruled: tuple[Said, ...] = ()  # arguments that are given again further on with another value
    is_list: bool = False  # all arguments that a program has, as it prints them, not what somebody chose


def found(text: str) -> Found | None:
    """What the text says, None where it is not settings of a framework that is known."""
    if len(text) > MAX_CHARACTERS or "\0" in text:
        return None
    clean = text.replace("\r\n", "\n").removeprefix("\ufeff")
    for read in (_json, _toml, _yaml, _log, _python, _shell):
        said = read(clean)
        if said is not None:
            return said
    return None


def _plain(value: Any) -> str:
    """A value of a file as text."""
    if value is None or isinstance(value, bool):
        return str(value).lower()
    return str(value)


def _shell_value(value: str) -> str:
    return value.lower() if value.lower() in {"true", "false", "none", "null"} else value


def _by_names(said: dict[str, Said], kept: Said | None = None) -> Found | None:
    """Names that stand for themselves: whose are they?"""
    titan = {name.removeprefix("checkpoint."): one for name, one in said.items() if name.startswith("checkpoint.")}
    choices: tuple[tuple[Dialect, dict[str, Said], frozenset[str]], ...] = (
        ("megatron-lm", said, MEGATRON), ("hf-trainer", said, HUGGING), ("torchtitan", titan, TITAN),
    )  # fmt: skip
    dialect, own, names = max(choices, key=lambda choice: len(choice[2] & choice[1].keys()))
    return Found(dialect, own, kept) if names & own.keys() else None


# ---------------------------------------------------------------- JSON, TOML, YAML


def _lines_of(text: str, name: str, start: int = 1) -> dict[str, int]:
    """The line, from 1, in which each name stands first; from line `start` on."""
    sought = re.compile(name)
    found: dict[str, int] = {}
    for number, line in enumerate(text.split("\n")[start - 1 :], start=start):
        for match in sought.finditer(line):
            found.setdefault(match[1], number)
    return found


def _json(text: str) -> Found | None:
    if not text.lstrip().startswith("{"):
        return None
    try:
        tree = json.loads(text)
    except (ValueError, RecursionError):
        return None
    lines = _lines_of(text, r'"(\w+)"\s*:')
    for level in (tree, *(inner for inner in tree.values() if isinstance(inner, dict))):
        said = {
            name: Said(_plain(value), lines.get(name, 1), f"{name}: {_plain(value)}"[:120]) for name, value in level.items()
        }
        result = _by_names(said)
        if result is not None:
            return result
    return None


def _toml(text: str) -> Found | None:
    header = re.search(r"^[ \t]*\[[ \t]*checkpoint[ \t]*\]", text, re.MULTILINE)
    if header is None:
        return None
    try:
        section = tomllib.loads(text).get("checkpoint")
    except (tomllib.TOMLDecodeError, RecursionError):
        return None
    lines = _lines_of(text, r"^\s*(\w+)\s*=", text.count("\n", 0, header.start()) + 1)
    said = {}
    for name, value in section.items() if isinstance(section, dict) else ():
        said[name] = Said(_plain(value), lines.get(name, 1), f"{name} = {_plain(value)}"[:120])
    return Found("torchtitan-0.2", said)


_YAML_LINE = re.compile(r"^(\s*)([A-Za-z_]\w*)\s*:(?:\s+(.*))?$")


def _yaml_value(written: str) -> str:
    """A scalar without its quotes and the remark behind it."""
    clean = written.strip()
    if clean[:1] in {"'", '"'}:
        end = clean.find(clean[0], 1)
        return clean[1:end] if end > 0 else clean[1:]
    clean = re.sub(r"\s+#.*$", "", clean)
    return {"~": "none", "null": "none", "": "none"}.get(clean.lower(), _shell_value(clean))


def _yaml(text: str) -> Found | None:
    flat: dict[str, Said] = {}
    section: dict[str, Said] | None = None
    depth = -1
    for number, line in enumerate(text.split("\n"), start=1):
        match = _YAML_LINE.match(line)
        if match is None:
            continue
        indent, name, value = len(match[1]), match[2], match[3] or ""
        if depth >= 0 and indent <= depth:
            depth = -1
        if name == "checkpoint" and not value.split("#")[0].strip():
            depth, section = indent, {}
        else:
            one = Said(_yaml_value(value), number, f"{name}: {_yaml_value(value)}"[:120])
            if section is not None and depth >= 0:
                section.setdefault(name, one)
            elif indent == 0:
                flat[name] = one
    if section is not None and MEGATRON & section.keys():
        return Found("megatron-bridge", section)
    return _by_names(flat)


_LOG_LINE = re.compile(r"\b([a-z]\w*) \.{2,} (\S.*)$")


def _log(text: str) -> Found | None:
    """The arguments as Megatron-LM prints them at the start of a run."""
    said: dict[str, Said] = {}
    for number, line in enumerate(text.split("\n"), start=1):
        match = _LOG_LINE.search(line) if " .." in line else None
        if match is not None:
            said.setdefault(match[1], Said(_shell_value(match[2].strip()), number, line.strip()[:120]))
    result = _by_names(said)
    return None if result is None else replace(result, is_list=True)


# ---------------------------------------------------------------- Python, by its syntax tree alone


def _dotted(node: ast.expr) -> str:
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join(reversed([*parts, node.id])) if isinstance(node, ast.Name) else ".".join(reversed(parts))


def _literal(node: ast.expr) -> str | None:
    try:
        return _plain(ast.literal_eval(node))
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return None


def _from_node(name: str, node: ast.expr, constants: Mapping[str, str]) -> Said:
    """A literal, a name that the text sets to one, or the name as it stands; an expression is not computed."""
    dotted = _dotted(node)
    value = _literal(node) or constants.get(dotted) or dotted or "an expression"
    return Said(value, node.lineno, f"{name}={value}"[:120])


def _owner(call: ast.Call) -> str:
    """What is called, or what `dataclasses.replace` makes a changed copy of."""
    called = _dotted(call.func)
    return _dotted(call.args[0]) if called.rpartition(".")[2] == "replace" and call.args else called


def _groups(tree: ast.Module) -> Iterator[tuple[str, str, ast.expr]]:
    """Whose keyword, its name and its value."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            owner = _owner(node)
            yield from ((owner, word.arg, word.value) for word in node.keywords if word.arg is not None)
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                owner, _, name = _dotted(target).rpartition(".")
                yield owner, name, node.value


def _python(text: str) -> Found | None:
    try:
        with warnings.catch_warnings():  # of odd escapes in strings: they are the user's affair
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return None
    kinds: dict[Dialect, dict[str, Said]] = {"torchtitan": {}, "megatron-bridge": {}, "hf-trainer": {}}
    groups = sorted(_groups(tree), key=lambda group: group[2].lineno)  # the last one counts
    constants = {name: value for owner, name, node in groups if not owner and (value := _literal(node)) is not None}
    for owner, name, node in groups:
        one = _from_node(name, node, constants)
        last = owner.rpartition(".")[2]
        if owner.endswith("CheckpointManager.Config") or (last in {"checkpoint", "CheckpointConfig"} and name in TITAN):
            kinds["torchtitan"][name] = one
        elif (last in {"CheckpointConfig", "checkpoint"} and name in MEGATRON | {"save"}) or last == "CheckpointConfig":
            kinds["megatron-bridge"][name] = one
        elif name in HUGGING or last.endswith("TrainingArguments"):
            kinds["hf-trainer"][name] = one
    named: dict[Dialect, frozenset[str]] = {"torchtitan": TITAN, "megatron-bridge": MEGATRON, "hf-trainer": HUGGING}
    dialect = max(kinds, key=lambda kind: len(kinds[kind].keys() & named[kind]))
    return Found(dialect, kinds[dialect]) if kinds[dialect].keys() & named[dialect] else None


# ---------------------------------------------------------------- shell


_PRETRAIN = re.compile(r"(?:^|[/._-])(?:pre)?train(?:_\w*)?(?:[.-]\w*)*$", re.IGNORECASE)  # a script or module
_ASKED = MEGATRON | HUGGING | {f"checkpoint.{name}" for name in TITAN}


def _flags(words: list[Word]) -> Iterator[tuple[str, Said]]:
    for at, word in enumerate(words):
        if not re.match(r"--[A-Za-z]", word.text):
            continue
        flag, sign, value = word.text.partition("=")
        name = flag[2:].replace("-", "_")
        after = words[at + 1] if at + 1 < len(words) and words[at + 1].part == word.part else None
        if sign:
            yield name, Said(_shell_value(value), word.line, word.text[:120])
        elif name in SWITCHES or after is None or re.match(r"--[A-Za-z]", after.text):
            yield name, Said("true", word.line, flag)
        else:
            yield name, Said(_shell_value(after.text), word.line, f"{flag} {after.text}"[:120])


def _weight(words: list[Word], has_loose: bool) -> tuple[bool, int, int]:
    """How much a command says of checkpoints: whether it trains, how many settings, the earlier one of two alike."""
    count = len(_ASKED & dict(_flags(words)).keys())
    is_training = any(_PRETRAIN.search(word.text[-200:]) for word in words) and (
        count > 0 or (has_loose and any(word.text.startswith("$") for word in words))
    )
    return is_training, count, -words[0].line


def _one_command(words: list[Word]) -> tuple[list[Word], tuple[tuple[Said, Said], ...]]:
    """Words of the command that trains, with those that stand by themselves, and what other commands say otherwise."""
    commands: dict[int, list[Word]] = {}
    for word in words:
        commands.setdefault(word.command, []).append(word)
    has_loose = bool(_ASKED & dict(_flags(commands.pop(0, []))).keys())
    weights = {number: _weight(own, has_loose) for number, own in commands.items()}
    asked = [number for number, (is_training, count, _) in weights.items() if is_training or count]
    if len(asked) < 2:
        taken = [word for word in words if word.command in {0, *asked}]
        return (taken if asked and "save" in dict(_flags(taken)) else words), ()
    chosen = max(asked, key=weights.__getitem__)
    taken = [word for word in words if word.command in {0, chosen}]
    said = dict(_flags(taken))
    others: dict[str, tuple[Said, Said]] = {}
    for number in asked:
        for name, one in _flags(commands[number]) if number != chosen else ():
            if name in _ASKED and name in said and said[name].value != one.value:
                others.setdefault(name, (said[name], one))
    return taken, tuple(others.values())


def _shell(text: str) -> Found | None:
    words, others = _one_command(list(words_of(text)))
    flags = list(_flags(words))
    said = dict(flags)
    overruled = tuple(one for name, one in flags if one.value != said[name].value)
    for alias in [name for name in said if name.startswith("checkpoint.no_")]:
        said["checkpoint." + alias.removeprefix("checkpoint.no_")] = Said("false", said[alias].line, said[alias].words)
    kept = KEPT_REMARK.search(text)
    remark = None if kept is None else Said(kept[1], text.count("\n", 0, kept.start()) + 1, kept[0])
    result = _by_names(said, remark)
    return (
        None if result is None else replace(result, others=others, overruled=tuple(one for one in overruled if _is_ours(one)))
    )


def _is_ours(said: Said) -> bool:
    name = said.words.lstrip("-").partition("=")[0].split()[0].replace("-", "_").removeprefix("checkpoint.")
    return name in MEGATRON | HUGGING | TITAN | {"save"}
