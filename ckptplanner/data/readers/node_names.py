"""Names of nodes that hold an IP address become node-1f3a9c, so that no address is in any result.

    ip-10-0-3-17.us-west-2.compute.internal, ip-10-0-3-17  ->  the same node-...: names are compared, and stay equal

The hash is of the address alone. It hides it from a reader of the page, the report or the plan; it is no secret.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from hashlib import blake2b
from typing import TypeVar

from ckptplanner.data.evidence import Event, FileEvidence, Run

_Said = TypeVar("_Said", Run, Event)
_OCTET = r"(?:25[0-5]|2[0-4]\d|[01]?\d?\d)"
_ADDRESS = re.compile(rf"(?<![\d.]){_OCTET}([.\-_]){_OCTET}\1{_OCTET}\1{_OCTET}(?!\d|\1\d)", re.ASCII)
_V6 = re.compile(r"(?=[^:]*:[^:]*:)[0-9a-fA-F:.]{3,45}(?:%\w+)?")
_WORD = re.compile(r"[A-Za-z0-9][A-Za-z0-9._\-]*[A-Za-z0-9]")


def node_name(name: str) -> str:
    """The name, or node- and a hash of the address that it holds; the same address has the same hash."""
    found = _ADDRESS.search(name)
    if found is not None:
        address = ".".join(str(int(part)) for part in re.split(r"[.\-_]", found[0]))
    elif _V6.fullmatch(name) is not None:
        address = name.lower()
    else:
        return name
    return f"node-{blake2b(address.encode(), digest_size=3).hexdigest()}"


def without_addresses(evidence: FileEvidence) -> FileEvidence:
    """The evidence with no address in the names of nodes or in the words of its runs and events."""
    if not evidence.runs and not evidence.events:
        return evidence
    names: dict[int, tuple[str, ...]] = {}
    words: dict[str, str] = {}

    def of_nodes(given: tuple[str, ...]) -> tuple[str, ...]:
        if id(given) not in names:  # thousands of runs share one list
            own = tuple(map(node_name, given))
            names[id(given)] = given if own == given else own
        return names[id(given)]

    def of_words(given: str) -> str:
        if given not in words:
            words[given] = _WORD.sub(lambda word: node_name(word[0]), given) if _ADDRESS.search(given) else given
        return words[given]

    runs = tuple(_clean(run, of_nodes, of_words) for run in evidence.runs)
    events = tuple(_clean(event, of_nodes, of_words) for event in evidence.events)
    return replace(evidence, runs=runs, events=events)


def _clean(one: _Said, of_nodes: Callable[[tuple[str, ...]], tuple[str, ...]], of_words: Callable[[str], str]) -> _Said:
    names, said = of_nodes(one.node_names), of_words(one.said)
    return one if names is one.node_names and said is one.said else replace(one, node_names=names, said=said)
