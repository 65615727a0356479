"""What was opened and what became of every file: read, refused with its sentence, or not known.

Space or Enter does what stands at the end of a row, Del takes away what was opened, Ctrl+C copies the chosen rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtGui import QKeyEvent, QKeySequence
from PySide6.QtWidgets import QApplication, QWidget
from typing_extensions import override

from ckptplanner.data.evidence import FileEvidence
from ckptplanner.ui.evidence.desk import Found
from ckptplanner.ui.evidence.line_table import Cell, Column, Line, LineTable, Tone
from ckptplanner.ui.evidence.question_rows import files_words
from ckptplanner.ui.words import say, say_text
from ckptplanner.units import grouped

_MOST_LINES = 4  # of a sentence


@dataclass(frozen=True, slots=True)
class Opened:
    """A file or folder that was opened; its action takes it away."""

    path: Path


@dataclass(frozen=True, slots=True)
class Read:
    """A file that was read; its action leaves it out, or takes it in again."""

    file: str
    is_left_out: bool


@dataclass(frozen=True, slots=True)
class Refused:
    """A file that cannot be used; its action asks for its columns, or copies the sentence."""

    file: str
    sentence: str
    is_table: bool


@dataclass(frozen=True, slots=True)
class Answered:
    """A question that was answered; its action asks it again."""

    question: str


def columns() -> tuple[Column, ...]:
    """The columns of the table."""
    return (
        Column(say("File"), 200, 480),
        Column(say("What it is"), 120, 260),
        Column(say("Tells"), 60, 200),
        Column(say("Date"), 68, 90, is_right=True),
        Column("", 60, 150, is_right=True),
    )


def _group(name: str, title: str) -> Line:
    return Line(f"group {name}", (Cell(title),), is_group=True)


def _count(count: int, one: str, many: str) -> str:
    return (one if count == 1 else many) if count else ""


def tells(file: FileEvidence) -> str:
    """How much a file has, in a few words."""
    runs, events = len(file.runs), len(file.events)
    values, facts = sum(len(one.values) for one in file.measured), len(file.facts)
    parts = (
        _count(runs, say("1 run"), say("{count} runs", count=grouped(runs))),
        _count(events, say("1 event"), say("{count} events", count=grouped(events))),
        _count(values, say("1 value"), say("{count} values", count=grouped(values))),
        _count(facts, say("1 fact"), say("{count} facts", count=grouped(facts))),
        _count(len(file.restarts), say("a count of restarts"), say("counts of restarts")),
    )
    return ", ".join(part for part in parts if part) or say("nothing")


def _opened(found: Found) -> Iterator[Line]:
    yield _group("opened", say("Opened"))
    for path in found.paths:
        kind = say("folder") if path.is_dir() else say("file")
        cells = Cell(path.name or str(path)), Cell(kind, tone="muted"), Cell(), Cell(), Cell(say("Remove"), tone="accent",
                                                                                            is_small=True)  # fmt: skip
        yield Line(f"opened {path}", cells, Opened(path), tip=str(path), can_act=True)


def _read(found: Found) -> Iterator[Line]:
    files = found.gathered.files
    if files:
        yield _group("read", say("Read, {count}", count=grouped(len(files))))
    for file in files:
        is_out = file.file in found.choices.left_out
        tone: Tone = "muted" if is_out else "text"
        action = say("Take in again") if is_out else say("Leave out")
        cells = (
            Cell(file.file, tone=tone), Cell(say_text(file.title), tone=tone), Cell(tells(file), tone="muted"),
            Cell(file.date, tone="muted"), Cell(action, tone="accent", is_small=True),
        )  # fmt: skip
        warnings = " ".join(say_text(warning) for warning in file.warnings)
        tip = "\n".join((file.file, *(say_text(warning) for warning in file.warnings)))
        yield Line(f"read {file.file}", cells, Read(file.file, is_out), warnings, "warning", tip, can_act=True)


def _refused(found: Found) -> Iterator[Line]:
    refused, tables = found.gathered.refused, set(found.gathered.tables)
    if refused:
        yield _group("refused", say("Cannot be used, {count}", count=grouped(len(refused))))
    for file, sentence in sorted(refused, key=lambda one: one[0] not in tables):
        is_table = file in tables
        what = say("a table, columns not known") if is_table else ""
        action = say("Name its columns…") if is_table else say("Copy")
        cells = Cell(file), Cell(what, tone="muted"), Cell(), Cell(), Cell(action, tone="accent", is_small=True)
        yield Line(f"refused {file}", cells, Refused(file, sentence, is_table), sentence, "muted" if is_table else "error",
                   sentence, can_act=True)  # fmt: skip


def _unknown(found: Found) -> Iterator[Line]:
    gathered = found.gathered
    count = max(gathered.unknown_count, len(gathered.unknown))
    if count:
        yield _group("unknown", say("Not known to any reader, {count}", count=grouped(count)))
    for file in gathered.unknown:
        yield Line(f"unknown {file}", (Cell(file, tone="muted"),), tip=file)
    if count > len(gathered.unknown):
        words = say("and {count} more", count=grouped(count - len(gathered.unknown)))
        yield Line("unknown", (Cell(words, tone="muted"),))


def _notes(found: Found) -> Iterator[Line]:
    notes = [*found.gathered.notes, *(found.reading.notes if found.reading is not None else ())]
    if notes:
        yield _group("notes", say("To be known"))
    for at, note in enumerate(notes):
        yield Line(f"note {at}", (), remark=say_text(note), tip=say_text(note))


def files_that_ask(found: Found) -> Mapping[str, tuple[str, ...]]:
    """The files that leave each question open, by its id."""
    asking: dict[str, dict[str, None]] = {}
    for file in found.gathered.files:
        for one in file.measured:
            if one.question is not None and file.file not in found.choices.left_out:
                asking.setdefault(one.question.id, {})[file.file] = None
    return {question: tuple(files) for question, files in asking.items()}


def answered_values(found: Found) -> Mapping[tuple[str, str], str]:
    """The quantity and the file of every value that rests on an answer, and the id of its question."""
    answers = dict(found.choices.answers)
    return {
        (answer, file.file): one.question.id
        for file in found.gathered.files
        for one in file.measured
        if one.question is not None and (answer := answers.get(one.question.id))
    }


def _answered(found: Found) -> Iterator[Line]:
    """The questions that were answered, in the words of the files that asked them."""
    asked = {one.question.id: one.question for file in found.gathered.files for one in file.measured if one.question}
    asking = files_that_ask(found)
    known = [(asked[question], quantity) for question, quantity in found.choices.answers if question in asked]
    if known:
        yield _group("answered", say("Answered"))
    for question, quantity in known:
        answer = next((say_text(words) for key, words in question.choices if key == quantity), quantity)
        files = asking.get(question.id, ())
        about = Cell(files_words(files) if files else "", tone="muted")
        cells = Cell(answer), about, Cell(), Cell(), Cell(say("Ask again"), tone="accent", is_small=True)
        words = say_text(question.words)
        yield Line(f"answered {question.id}", cells, Answered(question.id), words, tip=words, can_act=True)


def lines_of_files(found: Found) -> tuple[Line, ...]:
    """Every row of the table."""
    return (*_opened(found), *_notes(found), *_answered(found), *_refused(found), *_read(found), *_unknown(found))


class FilesTable(LineTable):
    """Proposes to take files away, to leave them out, to name the columns of one."""

    remove_requested = Signal(object)  # a Path
    left_out = Signal(str, bool)
    columns_requested = Signal(str)
    asked_again = Signal(str)  # the question's id

    def __init__(self, parent: QWidget | None = None) -> None:
        says = say("What was opened, and what became of every file")
        super().__init__("files.files", says, columns(), row_px=24, most_lines=_MOST_LINES, parent=parent)
        self.acted.connect(self._on_acted)

    def show_found(self, found: Found) -> None:
        """Show what was opened."""
        self.show_lines(lines_of_files(found))

    def _on_acted(self, items: Sequence[object]) -> None:
        for item in items:
            if isinstance(item, Opened):
                self.remove_requested.emit(item.path)
            elif isinstance(item, Read):
                self.left_out.emit(item.file, not item.is_left_out)
            elif isinstance(item, Answered):
                self.asked_again.emit(item.question)
            elif isinstance(item, Refused) and item.is_table:
                self.columns_requested.emit(item.file)
                return
        if any(isinstance(item, Refused) for item in items):
            self.copy_chosen()

    def copy_chosen(self) -> None:
        """Put the chosen rows on the clipboard: a file with its sentence on each line."""
        rows = [(*(cell.first for cell in line.cells[:-1] or line.cells), line.remark) for line in self.chosen]
        QApplication.clipboard().setText("\n".join("\t".join(part for part in row if part) for row in rows))

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy_chosen()
        elif event.matches(QKeySequence.StandardKey.Delete):
            for line in self.chosen:
                if isinstance(line.item, Opened):
                    self.remove_requested.emit(line.item.path)
        else:
            super().keyPressEvent(event)
