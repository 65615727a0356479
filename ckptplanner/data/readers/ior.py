"""Reads what IOR 3 and 4 write as JSON, CSV or text: the rate of each repetition, in MiB/s, and never the largest alone.

    JSON   tests[].{Parameters, Options, Results[].{access, bwMiB}}, summary[].{operation, bwMeanMIB}
    CSV    access,bw(MiB/s),IOPS,Latency,block(KiB),xfer(KiB),...,numTasks,iter
    text   Options: key : value; a table that begins with access; "Summary of all tests:" with Mean(MiB)

Without -e a write may end in a page cache. A read of what the same node has just written comes from its cache: only with
-C or -Z, and on more than one node, another node reads it.
Source: IOR 4.1.0+dev (5fcf0ba), written by the tool itself; read 2026-11-29.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ckptplanner.data.evidence import FileEvidence, Measured
from ckptplanner.data.readers.json_values import as_object
from ckptplanner.data.readers.rates import day, items, mean, moment_s, number, rate, target_of, whole
from ckptplanner.data.readers.source import Head, Opened, Reader
from ckptplanner.text import Text, text
from ckptplanner.units import MIB

TITLE = text("Storage benchmark (IOR)")
_WAYS = ("write", "read")
_MOST_TESTS = 1000
_MOST_VALUES = 100_000
_FAR = 0.01  # of the mean that IOR itself gives
_JSON_KEYS = ("Version", "Began")
_JSON = re.compile(r'\{\s*"(?:Version|Began)"\s*:')
_BANNER = re.compile(r"^IOR-\S+: MPI Coordinated Test of Parallel I/O")
_OPTION = re.compile(r"^\s*([A-Za-z][A-Za-z0-9 #]{1,24}?)\s*[:=]\s(.*)$")
_FLAGS = re.compile(r"-[A-Za-z]+")

NO_FSYNC = text("Written without -e: a page cache may have taken it.")
FSYNC_UNKNOWN = text("Whether -e was given is not in this file: without it a page cache may have taken the data.")
JUST_WRITTEN = text("Read by the node that had just written it: it comes from that node's cache.")
ORDER_UNKNOWN = text("Whether another node read the data than wrote it (-C) is not in this file: it may come from a cache.")


@dataclass(slots=True)
class _Setup:
    """How a test was run, as far as the file says; None: it does not."""

    nodes: int | None = None
    tasks: int | None = None
    tasks_per_node: int | None = None
    is_reordered: bool | None = None
    is_flushed: bool | None = None
    is_direct: bool = False
    path: str = ""
    at_s: float | None = None

    @property
    def nodes_taking_part(self) -> int | None:
        """Nodes as the file says, else tasks over those of one node."""
        if self.nodes is None and self.tasks and self.tasks_per_node:
            return math.ceil(self.tasks / self.tasks_per_node)
        return self.nodes

    def take_command(self, command: str) -> None:
        """What the command line says of flushing, direct I/O and the order of reading."""
        if not command.strip():
            return
        words = [word.strip('"') for word in command.split()][:500]
        flags = "".join(word[1:] for word in words if _FLAGS.fullmatch(word) and len(word) <= 12)
        self.is_flushed = bool(set("eY") & set(flags))
        self.is_reordered = bool(set("CZ") & set(flags))
        self.is_direct = any("odirect" in word.lower() or "useo_direct=1" in word.lower() for word in words)


@dataclass(slots=True)
class _Test:
    """Rates of one test in MiB/s, by direction."""

    setup: _Setup
    where: str
    rates: dict[str, list[float]] = field(default_factory=lambda: {"write": [], "read": []})
    places: dict[str, str] = field(default_factory=dict)
    means: dict[str, float] = field(default_factory=dict)

    def add(self, way: object, value: object, place: str) -> None:
        """One repetition; what is no rate is left out."""
        found = number(value)
        if way in _WAYS and found and len(self.rates[str(way)]) < _MOST_VALUES:
            self.rates[str(way)].append(found)
            self.places.setdefault(str(way), place)

    def add_mean(self, way: object, value: object, place: str) -> None:
        """The mean that IOR gives itself."""
        found = number(value)
        if way in _WAYS and found:
            self.means.setdefault(str(way), found)
            self.places.setdefault(str(way), place)


def _knows(head: Head) -> bool:
    if _JSON.search(head.text) is not None and head.has('"Command line"', '"tests"'):
        return True
    return any(_BANNER.match(line) for line in head.lines) or _csv_columns(head.lines) is not None


def _csv_columns(lines: Sequence[str]) -> list[str] | None:
    """The headings, where the first line that is not empty is IOR's."""
    first = next((line for line in lines if line.strip()), "")
    columns = [cell.strip() for cell in first.split(",")]
    return columns if {"access", "bw(MiB/s)"} <= set(columns) else None


def _read(opened: Opened) -> FileEvidence:
    warnings: list[Text] = []
    if any(_BANNER.match(line) for line in opened.head.lines):
        tests = list(_from_text(opened))
    elif _csv_columns(opened.head.lines) is not None:
        tests = list(_from_csv(opened))
    else:
        tests = list(_from_json(opened))
    measured = [one for test in tests for way in _WAYS if (one := _measured(opened, test, way, warnings)) is not None]
    if not measured:
        raise opened.refuse("there is no rate of writing or reading in it; a finished run with -w or -r has a table of them")
    at_s = next((test.setup.at_s for test in tests if test.setup.at_s is not None), None)
    return FileEvidence(
        "ior", TITLE, opened.name, day(at_s) or opened.date, measured=tuple(measured), warnings=tuple(warnings[:20])
    )


def _from_json(opened: Opened) -> Iterator[_Test]:
    root: Mapping[str, Any] = {}
    for key in _JSON_KEYS:
        root = root or next(opened.objects(key), {})
    command = str(root.get("Command line", ""))[:20_000]
    summaries = [as_object(row) for row in items(root.get("summary"), 2 * _MOST_TESTS)]
    for index, raw in enumerate(items(root.get("tests"), _MOST_TESTS)):
        test = as_object(raw)
        given, shown = as_object(test.get("Parameters")), as_object(test.get("Options"))
        setup = _Setup(at_s=_date(test.get("StartTime", root.get("Began"))))
        setup.take_command(command)
        setup.nodes = whole(given.get("nodes", shown.get("nodes")))
        setup.tasks = whole(shown.get("tasks", given.get("numTasks")))
        setup.tasks_per_node = whole(shown.get("clients per node", given.get("tasksPerNode")))
        if "fsync" in given:
            setup.is_flushed = bool(number(given.get("fsync")) or number(given.get("fsyncperwrite")))
        if "reorderTasks" in given:
            setup.is_reordered = bool(number(given.get("reorderTasks")) or number(given.get("reorderTasksRandom")))
        setup.path = str(given.get("testFileName", shown.get("test filename", "")))[:500]
        made = _Test(setup, f"tests[{index}]")
        for at, row in enumerate(items(test.get("Results"), _MOST_VALUES)):
            result = as_object(row)
            made.add(result.get("access"), result.get("bwMiB"), f"tests[{index}].Results[{at}].bwMiB")
        for at, row in enumerate(summaries):
            if row.get("TestID", index) == test.get("TestID", index):
                made.add_mean(row.get("operation"), row.get("bwMeanMIB"), f"summary[{at}].bwMeanMIB")
        yield made


def _from_csv(opened: Opened) -> Iterator[_Test]:
    columns: list[str] = []
    tests: dict[tuple[str, ...], _Test] = {}
    for line, words in opened.lines():
        cells = [cell.strip() for cell in words.split(",")]
        if {"access", "bw(MiB/s)"} <= set(cells):
            columns = cells
        elif columns and len(cells) == len(columns):
            row = dict(zip(columns, cells, strict=True))
            key = tuple(row.get(name, "") for name in ("numTasks", "block(KiB)", "xfer(KiB)"))
            if key not in tests and len(tests) >= _MOST_TESTS:
                continue
            setup = _Setup(tasks=whole(row.get("numTasks")))
            tests.setdefault(key, _Test(setup, f"line {line}")).add(row["access"], row["bw(MiB/s)"], f"line {line}")
    yield from tests.values()


def _from_text(opened: Opened) -> Iterator[_Test]:
    """Tests one after the other: options, a row for each repetition, and the means of all at the end."""
    tests: list[_Test] = []
    command, columns = "", list[str]()
    for line, words in opened.lines():
        cells = words.split()
        if "bw(MiB/s)" in cells or "Mean(MiB)" in cells:
            columns = cells
        elif cells and cells[0] in _WAYS and columns and tests:
            _take_row(tests, dict(zip(columns, cells, strict=False)), f"line {line}")
        elif found := _OPTION.match(words[:20_000]):
            name, value = found[1].lower(), found[2].strip()
            if name.startswith("command line"):
                command = value
            elif name == "testid" or (not tests and name == "api"):
                tests = [*tests, _Test(_Setup(), f"line {line}")][:_MOST_TESTS]
                tests[-1].setup.take_command(command)
            if tests:
                _take_option(tests[-1].setup, name, value)
    yield from tests


def _take_row(tests: Sequence[_Test], row: Mapping[str, str], place: str) -> None:
    """A row of the table of repetitions, or of the summary of all tests."""
    if "access" in row:
        tests[-1].add(row["access"], row.get("bw(MiB/s)"), place)
        return
    index = number(row.get("Test#")) or 0.0
    if index < len(tests):
        tests[int(index)].add_mean(row.get("Operation"), row.get("Mean(MiB)"), place)


def _take_option(setup: _Setup, name: str, value: str) -> None:
    if name == "nodes":
        setup.nodes = whole(value)
    elif name == "tasks":
        setup.tasks = whole(value)
    elif name == "clients per node":
        setup.tasks_per_node = whole(value)
    elif name == "clients":
        setup.tasks, setup.tasks_per_node = _clients(value)
    elif name == "test filename":
        setup.path = value[:500]
    elif name == "starttime":
        setup.at_s = _date(value)
    elif name == "ordering inter file":
        setup.is_reordered = not value.startswith("no ")


def _clients(value: str) -> tuple[int | None, int | None]:
    """Tasks and those of one node of "8 (4 per node)", as IOR 3.0 writes it."""
    found = re.match(r"(\d{1,9})\s*\((\d{1,9}) per node\)", value)
    return (whole(found[1]), whole(found[2])) if found else (None, None)


def _date(value: object) -> float | None:
    """The seconds since 1970 of "Sun Nov 29 13:58:19 2026", without its zone."""
    found = re.fullmatch(r"[A-Z][a-z]{2} +([A-Z][a-z]{2}) +(\d{1,2}) (\d\d:\d\d:\d\d) (\d{4})", str(value)[:40].strip())
    months = "JanFebMarAprMayJunJulAugSepOctNovDec"
    at = months.find(found[1]) if found else -1
    if found is None or at < 0 or at % 3:
        return None
    return moment_s(f"{found[4]}-{at // 3 + 1:02}-{int(found[2]):02}T{found[3]}")


def _measured(opened: Opened, test: _Test, way: str, warnings: list[Text]) -> Measured | None:
    rates, given = test.rates[way], test.means.get(way)
    if not rates and given is None:
        return None
    if rates and given is not None and abs(mean(rates) - given) > _FAR * given:
        words = text("The rates of the repetitions ({place}) do not have the mean that IOR gives.", place=test.places[way])
        warnings.append(words)
    doubts = list(_doubts(test, way))
    notes = [*doubts]
    if way == "write" and test.setup.is_flushed is None:
        notes.append(FSYNC_UNKNOWN)
    if not rates:
        notes.append(text("The mean of the repetitions, as IOR gives it."))
    return rate(
        way,
        [value * MIB for value in rates or [given or 0.0]],
        opened.place(test.places[way]),
        target_of(test.setup.path),
        notes,
        is_doubtful=bool(doubts),
        nodes=test.setup.nodes_taking_part,
    )


def _doubts(test: _Test, way: str) -> Iterator[Text]:
    """Why a page cache may stand behind these rates."""
    setup = test.setup
    if setup.is_direct:
        return
    if way == "write" and setup.is_flushed is False:
        yield NO_FSYNC
    if way == "read" and (test.rates["write"] or "write" in test.means):
        if setup.nodes_taking_part == 1 or setup.is_reordered is False:
            yield JUST_WRITTEN
        elif setup.is_reordered is None:
            yield ORDER_UNKNOWN


READER = Reader("ior", TITLE, _knows, _read)
