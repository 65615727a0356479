"""`ckptplanner import`: what evidence files and folders hold, as a table or JSON; `--into FILE` takes it into a plan."""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

from ckptplanner.data.evidence import QUANTITIES, Gathered, Place
from ckptplanner.data.readers.column_mapping import ROWS_SHOWN, ColumnMapping, headings_of
from ckptplanner.data.readers.column_suggestion import suggested_mapping
from ckptplanner.data.readers.errors import ReaderError
from ckptplanner.data.readers.evidence_files import gather, with_tables
from ckptplanner.data.readers.source import open_file
from ckptplanner.data.readers.tables import rows
from ckptplanner.engine.adopting import adopted, proposed
from ckptplanner.engine.edits import EditError
from ckptplanner.engine.evidence import Choices, Estimate, Reading
from ckptplanner.engine.readings import read_evidence
from ckptplanner.engine.scenario import NamedScenario, Workbook
from ckptplanner.engine.workbook_file import WorkbookError, read, write
from ckptplanner.frozen import Frozen
from ckptplanner.text import Text
from ckptplanner.units import SECONDS, UNKNOWN, UnitError, brief, parse

COLUMNS = ("time", "end", "duration", "kind", "nodes", "node_names", "job", "system")
DATES = ("iso", "m/d/y", "d/m/y", "epoch_s", "epoch_ms", "elapsed")
# the fields that files can settle: those of the quantities, and what is counted or stated
SETTLED = frozenset(one.path for one in QUANTITIES.values() if one.path is not None) | {
    "failures.mtbi_s", "failures.weibull_shape", "failures.process_share", "workload.model", "workload.node",
    "workload.gpus_per_node", "storage.tier", "storage.custom", "prices.node_usd_per_h",
    *(f"prices.storage_usd_per_gib_month.p2_{tier}" for tier in (125, 250, 500, 1000)),
}  # fmt: skip


def add_arguments(command: argparse.ArgumentParser) -> None:
    """What this command takes."""
    command.add_argument("paths", metavar="PATH", nargs="+", type=Path, help="files and folders")
    command.add_argument("--json", action="store_true", help="print one JSON object")
    command.add_argument("--into", metavar="FILE", type=Path, help="take what is proposed into this plan")
    command.add_argument("--scenario", metavar="NAME", help="which scenario of the plan; the current one if left out")
    command.add_argument(
        "--only", metavar="PATH", action="append", default=[], help="take this field alone, proposed or not; may be repeated"
    )
    command.add_argument("--job", metavar="NAME", help="count this job's interruptions; '' for all jobs together")
    command.add_argument(
        "--nodes",
        metavar="N",
        type=_count,
        help="nodes of the job where no file says; those of the plan, or the most in a file",
    )
    command.add_argument("--merge", metavar="TIME", type=_time, help="stops closer than this are one; 1 min if left out")
    command.add_argument(
        "--columns", metavar="FILE:WHAT=COLUMN,...", action="append", type=_columns, default=[],
        help=f"what the columns of a table are, of a CSV that nobody knows: {', '.join(COLUMNS)}, dates ({', '.join(DATES)})",
    )  # fmt: skip
    command.add_argument(
        "--answer", metavar="QUESTION=QUANTITY", action="append", type=_answer, default=[],
        help="what a time means where a file leaves it open; may be repeated",
    )  # fmt: skip


def _time(written: str) -> float:
    try:
        time = parse(written, SECONDS)
    except UnitError as error:
        raise argparse.ArgumentTypeError(f"{written!r}: {error}") from error
    if time < 0.0:
        raise argparse.ArgumentTypeError(f"{written!r}: a time of at least 0 s is expected")
    return time


def _columns(written: str) -> tuple[str, dict[str, str]]:
    file, _, rest = written.partition(":")
    said = dict(part.partition("=")[::2] for part in rest.split(",") if part.strip())
    said = {key.strip(): value.strip() for key, value in said.items()}
    known = (*COLUMNS, "dates")
    if not file or "time" not in said or not set(said) <= set(known):
        raise argparse.ArgumentTypeError(
            f"{written!r}: FILE:time=COLUMN with more of {', '.join(known)} between commas is expected"
        )
    if said.get("dates", "iso") not in DATES:
        raise argparse.ArgumentTypeError(f"dates={said['dates']!r}: one of {', '.join(DATES)} is expected")
    return file, said


def _count(written: str) -> int:
    if not written.isdecimal() or not 1 <= int(written[:9]) <= 1_000_000:
        raise argparse.ArgumentTypeError(f"{written!r}: a whole number of nodes from 1 to 1,000,000 is expected")
    return int(written)


def _answer(written: str) -> tuple[str, str]:
    question, equals, quantity = written.partition("=")
    if not equals or not question or not quantity:
        raise argparse.ArgumentTypeError(f"{written!r}: QUESTION=QUANTITY is expected")
    return question, quantity


def imported(options: argparse.Namespace) -> str:
    """Read the files, take them into the plan where that is asked for, and say what was found.

    Raises:
        WorkbookError, EditError: the plan cannot be read, written, or does not take a value; then it is unchanged.
        ImportRefused: an option or a path makes no sense, or nothing could be read; one sentence.
    """
    _check(options)
    workbook = None if options.into is None else _workbook(options.into, options.scenario)
    found = _gathered(options.paths, dict(options.columns))
    if not found.files:
        raise ImportRefused(_nothing(found))
    choices = replace(Choices(), job=options.job, answers=tuple(options.answer))
    if options.merge is not None:
        choices = replace(choices, merge_s=options.merge)
    nodes = options.nodes or (_nodes(found) if workbook is None else workbook.shown.scenario.workload.nodes)
    reading = read_evidence(found.files, choices, nodes=nodes)
    _check_choices(found, reading, choices)
    taken: tuple[Estimate, ...] = ()
    if workbook is not None:
        taken = _wanted(workbook.shown, found, reading, options.only)
        write(_with(workbook, adopted(workbook.shown, taken)), options.into)
    document = import_document(found, reading)
    if options.json:
        return json.dumps(document, ensure_ascii=False, indent=1, allow_nan=False)
    return _words(found, reading, taken, options.into)


def _gathered(paths: Sequence[Path], columns: Mapping[str, Mapping[str, str]]) -> Gathered:
    """Everything that the files say; tables whose columns are named are read with them."""
    found = gather(paths)
    if not columns:
        return found
    named: dict[str, ColumnMapping] = {}
    for file, said in columns.items():
        name = next((one for one in found.places if one == file or one.endswith("/" + file)), None)
        if name is None:
            raise ImportRefused(f"--columns {file}: there is no such file among those that were given")
        try:
            named[name] = _mapping(found.places[name], name, said)
        except ReaderError as error:
            raise ImportRefused(str(error)) from error
    return with_tables(found, named)


def _mapping(path: Path, name: str, said: Mapping[str, str]) -> ColumnMapping:
    """What was said of the columns, and for the rest what they seem to be."""
    table = rows(open_file(path, name))
    headings = headings_of(next(table, (0, []))[1])
    first = [cells for _, cells in islice(table, ROWS_SHOWN)]
    strangers = [said[key] for key in said if key != "dates" and said[key] not in headings]
    if strangers:
        raise ImportRefused(f"{name}: it has no column {strangers[0]!r}; there are {', '.join(headings)}")
    mapping = suggested_mapping(headings, first) or ColumnMapping()
    formats = {"time_format": said["dates"]} if "dates" in said else {}
    named: dict[str, Any] = {key: value for key, value in said.items() if key != "dates"} | formats
    return replace(mapping, **named, asks=())


class ImportRefused(ValueError):  # noqa: N818 - read as what it is in the sentence of an except
    """What was asked for cannot be done; the message is one line and says what would be accepted."""


def _check(options: argparse.Namespace) -> None:
    """Paths that are there, and options that go together."""
    for path in options.paths:
        if not path.name and str(path) in ("", "."):
            raise ImportRefused("an empty path: the name of a file or a folder is expected; ./ is this folder")
        if not path.exists():
            raise ImportRefused(f"{path}: there is no such file or folder")
    if options.into is None and (options.only or options.scenario is not None):
        raise ImportRefused("--only and --scenario say what to take into a plan: --into FILE is expected with them")


def _nothing(found: Gathered) -> str:
    """Why nothing came of all the files."""
    if found.refused:
        more = len(found.refused) - 1
        return found.refused[0][1] + (f" {more} more could not be used either." if more else "")
    if found.unknown:
        return f"{', '.join(found.unknown[:3])}: no reader knows what this is; docs/models.md 22.6 lists what is read"
    return "there are no files in it"


def _questions(found: Gathered) -> dict[str, tuple[str, ...]]:
    """The questions that the files leave open, with the quantities that answer them."""
    asked = (one.question for file in found.files for one in file.measured if one.question is not None)
    return {question.id: tuple(key for key, _ in question.choices) for question in asked}


def _check_choices(found: Gathered, reading: Reading, choices: Choices) -> None:
    """A job that is there, questions that are asked."""
    questions = _questions(found)
    for question, answer in choices.answers:
        if question not in questions:
            raise ImportRefused(f"--answer {question!r}: one of {', '.join(questions) or 'no questions'} is expected")
        if answer not in questions[question]:
            known = " or ".join(one or "''" for one in questions[question])
            raise ImportRefused(f"--answer {question}={answer!r}: {known} is expected")
    jobs = () if reading.failures is None else reading.failures.jobs
    if choices.job and choices.job not in jobs:
        raise ImportRefused(f"--job {choices.job!r}: one of {', '.join(jobs) or 'no jobs'} is expected")


def _workbook(file: Path, name: str | None) -> Workbook:
    workbook = read(file)
    if name is None:
        return workbook
    try:
        return workbook.model_copy(update={"current": workbook.named(name).name})
    except KeyError as error:
        raise WorkbookError(f"{file}: {error.args[0]}") from error


def _with(workbook: Workbook, named: NamedScenario) -> Workbook:
    scenarios = tuple(named if one.name == named.name else one for one in workbook.scenarios)
    return workbook.model_copy(update={"scenarios": scenarios})


def _nodes(found: Gathered) -> int:
    """The most nodes that a run or an event had; 1 where no file says, and then the estimate says so."""
    runs = (run.nodes or 1 for file in found.files for run in file.runs)
    events = (event.nodes or 1 for file in found.files for event in file.events)
    return max((*runs, *events), default=1)


def _wanted(named: NamedScenario, found: Gathered, reading: Reading, only: Sequence[str]) -> tuple[Estimate, ...]:
    """What is taken: all that is proposed; or the fields that are named, proposed or not."""
    if not only:
        return proposed(named, reading.estimates)
    taken: dict[str, Estimate] = {}
    for one in reading.estimates:
        if one.path is not None and one.path in only:
            taken.setdefault(one.path, one)
    for path in only:
        if path not in taken:
            raise EditError(path, _missing(found, path))
    return tuple(taken.values())


def _missing(found: Gathered, path: str) -> str:
    """Why a field cannot be taken: no such field, an answer is missing, or nothing is said about it."""
    if path not in SETTLED:
        return f"no such field, or none that files settle; they settle {', '.join(sorted(SETTLED))}"
    answers = (
        f"--answer {question}={key}"
        for question, keys in _questions(found).items()
        for key in keys
        if key in QUANTITIES and QUANTITIES[key].path == path
    )
    first = next(answers, None)
    return "the files say nothing about this field" if first is None else f"say first what was measured: {first}"


# ---------------------------------------------------------------- JSON


def import_document(found: Gathered, reading: Reading) -> dict[str, Any]:
    """The JSON of `import`: what was found, what is left open, what was refused."""
    return {
        "found": [_row(one) for one in reading.estimates],
        "questions": [
            {"id": one.id, "message": str(one.words), "choices": [key for key, _ in one.choices]} for one in reading.questions
        ],
        "refused": [{"file": file, "message": message} for file, message in found.refused],
        "unknown": {"count": found.unknown_count, "files": list(found.unknown)},
        "notes": [str(note) for note in _notes(found, reading)],
    }


def _row(one: Estimate) -> dict[str, Any]:
    return {
        "path": one.path,
        "title": str(one.title),
        "value": _plain(one.value),
        "unit": one.unit.symbol if one.unit is not None else "",
        "low": _plain(one.low),
        "high": _plain(one.high),
        "count": one.count,
        "kind": one.basis,
        "proposed": one.is_proposed,
        "source": _place(one.places[0]) if one.places else None,
        "places": [_place(place) for place in one.places],
        "date": one.date,
        "notes": [str(note) for note in one.notes],
    }


def _place(place: Place) -> dict[str, str]:
    return {"file": place.file, "where": place.where}


def _plain(value: Any) -> Any:
    """A value as JSON holds it; rows by their id, what is not finite as null."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Frozen):
        return getattr(value, "id", None) or getattr(value, "name", None) or value.model_dump(mode="json")
    return str(value)


def _notes(found: Gathered, reading: Reading) -> Iterator[Text]:
    yield from found.notes
    for file in found.files:
        yield from file.warnings
    yield from reading.notes
    if reading.failures is not None:
        yield from reading.failures.notes


# ---------------------------------------------------------------- words


def _value_words(one: Estimate) -> str:
    if one.shown:
        return one.shown
    if isinstance(one.value, bool) or not isinstance(one.value, int | float) or one.unit is None:
        return str(_plain(one.value))
    return brief(one.value, one.unit)


def _range_words(one: Estimate) -> str:
    if one.unit is None or (one.low is None and one.high is None):
        return ""
    low, high = (UNKNOWN if end is None else brief(end, one.unit) for end in (one.low, one.high))
    return f"{low} to {high}"


def _words(found: Gathered, reading: Reading, taken: Sequence[Estimate], into: Path | None) -> str:
    """For people: a line for each value, then what is left open and what was refused."""
    count = len(found.files)
    lines = [f"{count} file{'' if count == 1 else 's'} read, {len(found.refused)} refused, {found.unknown_count} not known"]
    if reading.estimates:
        lines.append("")
    for one in reading.estimates:
        mark = " " if one.is_proposed and one.path is not None else "?" if one.path is not None else "-"
        number = f"{one.count:,}" if one.count else ""
        lines.append(
            f"{mark} {one.title!s:<34} {_value_words(one):<18} {_range_words(one):<26} {number:>6}  {one.path or '':<32} "
            f"{one.places[0] if one.places else ''}".rstrip()
        )
    if any(not one.is_proposed and one.path is not None for one in reading.estimates):
        lines += ["", "? is not taken by itself: see its notes in --json; - is for reading only"]
    lines += [f"question {one.id}: {one.words} ({' or '.join(key for key, _ in one.choices)})" for one in reading.questions]
    lines += [f"note: {note}" for note in dict.fromkeys(map(str, _notes(found, reading)))]
    lines += [f"refused: {message}" for _, message in found.refused]
    if into is not None:
        names = ", ".join(str(one.path) for one in taken) or "nothing"
        lines += ["", f"taken into {into}: {names}"]
    return "\n".join(lines)
