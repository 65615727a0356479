"""The names at the user's site that settings need: what each is called, and which values it takes.

A value that passes here may still be quoted by whoever writes it: these rules keep out what no service would take.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace

from ckptplanner.engine.settings.target import Names
from ckptplanner.text import Text, text

_LONGEST_PATH = 1024  # characters; the least that common systems take is more
_ID = "(?:[0-9a-f]{8}|[0-9a-f]{17})"
_ADDRESS = re.compile(r"\d+(\.\d+){3}")
_NOT_IN_A_PATH = {"Cc", "Cf", "Cs", "Zl", "Zp"}  # line ends, control characters and marks that turn text around


@dataclass(frozen=True, slots=True)
class NameRule:
    """One name: its title, and what is accepted in one sentence."""

    name: str
    title: Text
    accepts: Text


NAMES: tuple[NameRule, ...] = (
    NameRule("shared_folder", text("Shared folder"), text(
        "A folder on shared storage is expected, in one line from / on: /fsx/checkpoints.")),
    NameRule("local_folder", text("Local folder"), text(
        "A folder on the nodes' own drives is expected, in one line from / on: /local/checkpoints.")),
    NameRule("log_folder", text("Folder of logs"), text("A folder is expected, in one line from / on: /fsx/logs.")),
    NameRule("job", text("Name of the job"), text(
        "A name of 1 to 63 letters, digits, - _ and . is expected, with a letter or digit first and last: pretrain.")),
    NameRule("bucket", text("Bucket"), text(
        "The name of a bucket is expected: 3 to 63 lower-case letters, digits, - and ., no address: my-checkpoints.")),
    NameRule("subnet_id", text("Subnet"), text("The id of a subnet is expected: subnet-0123456789abcdef0.")),
    NameRule("security_group_id", text("Security group"), text(
        "The id of a security group is expected: sg-0123456789abcdef0.")),
    NameRule("file_system_id", text("File system"), text("The id of a file system is expected: fs-0123456789abcdef0.")),
)  # fmt: skip


class NameRefused(ValueError):  # noqa: N818 - read as what it is in the sentence of an except
    """A name that is not accepted; `text` says what would be."""

    def __init__(self, name: str, sentence: Text) -> None:
        super().__init__(f"{name}: {sentence}")
        self.name, self.text = name, sentence


def refusal(name: str, value: str) -> Text | None:
    """What would be accepted instead, None where the value is.

    Raises:
        KeyError: there is no such name.
    """
    rule = next((one for one in NAMES if one.name == name), None)
    if rule is None:
        raise KeyError(name)
    return None if _is_accepted(name, value) else rule.accepts


def _is_accepted(name: str, value: str) -> bool:
    if name.endswith("_folder"):
        is_plain = not any(unicodedata.category(one) in _NOT_IN_A_PATH for one in value)
        return value.startswith("/") and value == value.strip() and len(value) <= _LONGEST_PATH and is_plain
    if name == "bucket":
        is_name = re.fullmatch(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]", value) is not None
        return is_name and not _ADDRESS.fullmatch(value) and not re.search(r"\.\.|\.-|-\.", value)
    if name == "job":
        return re.fullmatch(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,61}[A-Za-z0-9])?", value) is not None
    prefix = {"subnet_id": "subnet", "security_group_id": "sg", "file_system_id": "fs"}[name]
    return re.fullmatch(f"{prefix}-{_ID}", value) is not None


def names_from(values: Mapping[str, str]) -> Names:
    """The names with some replaced.

    Raises:
        NameRefused: a name or its value is not accepted.
    """
    known = {one.name for one in fields(Names)}
    for name, value in values.items():
        if name not in known:
            raise NameRefused(name, text("No such name; known are {names}.", names=", ".join(sorted(known))))
        if (sentence := refusal(name, value)) is not None:
            raise NameRefused(name, sentence)
    return replace(Names(), **values)
