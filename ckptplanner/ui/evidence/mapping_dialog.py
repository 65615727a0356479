"""What are the columns of this table? Each with its first cells and a choice; below, what would be read, while one chooses.

A row is   [ an interruption | a run | a measurement | a step ]        Dates are  [ m/d/y | d/m/y | ... ]
started      3/4/2026 14:05, 3/9/2026 02:11          Time
Downtime     42, 180                                 Duration      min
by           anna, kim                               left out
214 interruptions from 2026-01-03 to 2026-03-30                                        Cancel   Read it so
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import shiboken6
from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QDialog, QGridLayout, QHBoxLayout, QLabel, QPushButton, QScrollArea, QVBoxLayout, QWidget
from typing_extensions import override

from ckptplanner.data.evidence import QUANTITIES, FileEvidence
from ckptplanner.data.readers.column_mapping import ROWS_SHOWN, ColumnMapping, ValueColumn, headings_of, read_mapped
from ckptplanner.data.readers.column_suggestion import suggested_mapping
from ckptplanner.data.readers.errors import ReaderError
from ckptplanner.data.readers.source import open_file
from ckptplanner.data.readers.tables import rows, unit_in
from ckptplanner.ui.background import Progress, TaskRunner
from ckptplanner.ui.evidence.files_table import tells
from ckptplanner.ui.lines import QuietLine
from ckptplanner.ui.scenario_bar import Switch
from ckptplanner.ui.theme import set_property
from ckptplanner.ui.widgets.picker import Picker
from ckptplanner.ui.words import say, say_text
from ckptplanner.units import BYTES, BYTES_PER_S, FRACTION, GB, GBPS, GIB, HOUR, MB, MIB, MINUTE, SECONDS, TB, Unit, grouped

_QUIET_MS = 150
_SHOWN_CELLS = 3
_VALUE = "value:"
_SCALES: dict[Unit, tuple[tuple[str, float], ...]] = {
    SECONDS: (("s", 1.0), ("ms", 1e-3), ("min", MINUTE), ("h", HOUR), ("d", 24 * HOUR)),
    BYTES: (("B", 1.0), ("MB", MB), ("GB", GB), ("TB", TB), ("MiB", MIB), ("GiB", GIB)),
    BYTES_PER_S: (("B/s", 1.0), ("MB/s", MB), ("GB/s", GB), ("MiB/s", MIB), ("GiB/s", GIB), ("Gbit/s", GBPS)),
    FRACTION: (("1", 1.0), ("%", 0.01)),
}


def roles() -> tuple[tuple[str, str], ...]:
    """What a column can be: its key and its words."""
    return (
        ("", say("left out")), ("time", say("Time, or start")), ("end", say("End")), ("duration", say("Duration")),
        ("kind", say("Kind or cause")), ("nodes", say("Number of nodes")), ("node_names", say("Names of nodes")),
        ("job", say("Job")), ("system", say("System")), ("step", say("Number of the step")),
        *((f"{_VALUE}{one.id}", say_text(one.title)) for one in QUANTITIES.values()),
    )  # fmt: skip


_SINGLE = ("time", "end", "duration", "kind", "nodes", "node_names", "job", "system", "step")  # one column each


@dataclass(frozen=True, slots=True)
class Sheet:
    """A table as it stands in the file: its headings and first rows."""

    path: Path
    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def cells(self, column: int) -> str:
        """The first cells of a column that are not empty."""
        found = (row[column] for row in self.rows if column < len(row) and row[column])
        return ", ".join(islice(found, _SHOWN_CELLS))


def sheet_of(path: Path) -> Sheet:
    """The head of a table.

    Raises:
        ReaderError: it cannot be read as a table; one sentence.
    """
    found = rows(open_file(path))
    headings = headings_of(next(found, (0, []))[1])
    return Sheet(path, headings, tuple(tuple(row) for _, row in islice(found, ROWS_SHOWN)))


def role_of(mapping: ColumnMapping, heading: str) -> str:
    """What a column is in a mapping."""
    single = next((name for name in _SINGLE if getattr(mapping, name) == heading), "")
    value = next((f"{_VALUE}{one.quantity}" for one in mapping.values if one.column == heading), "")
    return single or value


def with_role(mapping: ColumnMapping, heading: str, role: str) -> ColumnMapping:
    """The mapping with another role for a column; whichever had that role before is left out."""
    cleared: dict[str, Any] = {name: "" for name in _SINGLE if getattr(mapping, name) == heading}
    mapping = replace(mapping, values=tuple(one for one in mapping.values if one.column != heading), **cleared)
    found = unit_in(heading)
    if role.startswith(_VALUE):
        quantity = role.removeprefix(_VALUE)
        fits = found is not None and found[1] == QUANTITIES[quantity].unit
        new = ValueColumn(heading, quantity, found[2], found[0]) if found and fits else ValueColumn(heading, quantity)
        return replace(mapping, values=(*mapping.values, new))
    if role == "duration":
        return replace(mapping, duration=heading, duration_scale=found[2] if found and found[1] is SECONDS else 1.0)
    changed: dict[str, Any] = {role: heading} if role else {}
    return replace(mapping, **changed)


def unit_and_scale(mapping: ColumnMapping, heading: str) -> tuple[Unit, float] | None:
    """The unit that a column is counted in and how much of it one is; None where it has none."""
    if mapping.duration == heading:
        return SECONDS, mapping.duration_scale
    if mapping.time == heading and mapping.time_format == "elapsed":
        return SECONDS, mapping.time_scale
    value = next((one for one in mapping.values if one.column == heading), None)
    return None if value is None else (QUANTITIES[value.quantity].unit, value.scale)


def with_scale(mapping: ColumnMapping, heading: str, scale: float, unit: str) -> ColumnMapping:
    """The mapping with another unit for a column."""
    if mapping.duration == heading:
        return replace(mapping, duration_scale=scale)
    if mapping.time == heading:
        return replace(mapping, time_scale=scale)
    return replace(mapping, values=tuple(
        replace(one, scale=scale, unit=unit) if one.column == heading else one for one in mapping.values
    ))  # fmt: skip


def _day(at_s: float) -> str:
    return datetime.fromtimestamp(at_s, UTC).strftime("%Y-%m-%d")


def read_words(evidence: FileEvidence, *, has_days: bool) -> str:
    """What would be read, in a sentence."""
    times = [one.at_s for one in evidence.events] + [one.start_s for one in evidence.runs]
    times += [at_s for one in evidence.measured for at_s in one.at_s]
    stops, others = len(evidence.events), replace(evidence, events=())
    parts = [say("1 interruption") if stops == 1 else say("{count} interruptions", count=grouped(stops))] if stops else []
    if others.runs or others.measured:
        parts.append(tells(others))
    words = ", ".join(parts)
    if not times or not has_days:
        return words
    return say("{what} from {first} to {last}", what=words, first=_day(min(times)), last=_day(max(times)))


class MappingDialog(QDialog):
    """Asks what the columns are; `mapping` is the answer once it is accepted."""

    def __init__(self, sheet: Sheet, mapping: ColumnMapping | None = None, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("mapping_dialog")
        self.setWindowTitle(say("What are the columns of {file}?", file=sheet.path.name))
        self.resize(760, 520)
        self.mapping = mapping or suggested_mapping(sheet.headings, sheet.rows) or ColumnMapping(time_format="")
        self._sheet = sheet
        self._pickers: dict[str, Picker] = {}
        self._units: dict[str, Picker] = {}
        self._runner = TaskRunner(self)
        self._quiet = QTimer(self)
        self._quiet.setObjectName("mapping.quiet")
        self._quiet.setSingleShot(True)
        self._quiet.setInterval(_QUIET_MS)
        self.rows_are = Switch("mapping.rows_are", (
            ("events", say("an interruption"), say("A stop, or an event that ended a run")),
            ("runs", say("a run"), say("With a start and an end; how it ended tells whether it was interrupted")),
            ("values", say("a measurement"), say("Times, sizes or rates; no interruption")),
            ("steps", say("a training step"), say("A step that comes again marks a restart")),
        ))  # fmt: skip
        self.time_format = Picker("mapping.time_format", say("How times are written"))
        self._asks, self._preview, self._warnings = QLabel(), QLabel(), QLabel()
        self._read = QPushButton(say("Read it so"))
        self._cancel = QPushButton(say("Cancel"))
        self._place()
        self._quiet.timeout.connect(self._try)
        self._runner.finished.connect(self._on_tried)
        self._runner.failed.connect(self._on_failed)
        self.rows_are.chosen.connect(lambda key: self._change(replace(self.mapping, rows_are=key)))
        self.time_format.chosen.connect(lambda key: self._change(replace(self.mapping, time_format=key)))
        self._read.clicked.connect(self.accept)
        self._cancel.clicked.connect(self.reject)
        self._show()

    # ------------------------------------------------------------ building

    def _place(self) -> None:
        for label, name, role in ((self._asks, "asks", "warning"), (self._preview, "preview", "title"),
                                  (self._warnings, "warnings", "small")):  # fmt: skip
            label.setObjectName(f"mapping.{name}")
            label.setProperty("role", role)
            label.setWordWrap(True)
            label.setTextFormat(Qt.TextFormat.PlainText)
        self._preview.setMinimumHeight(20)
        self._read.setObjectName("mapping.read")
        self._read.setProperty("role", "primary")
        self._read.setDefault(True)
        top = QGridLayout()
        top.setHorizontalSpacing(12)
        top.setVerticalSpacing(8)
        top.setColumnStretch(2, 1)
        top.addWidget(QLabel(say("A row is")), 0, 0)
        top.addWidget(self.rows_are, 0, 1)
        top.addWidget(QLabel(say("Times are")), 1, 0)
        times = QHBoxLayout()
        times.addWidget(self.time_format)
        times.addStretch(1)
        top.addLayout(times, 1, 1)
        inside = QWidget()
        inside.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        inside.setProperty("role", "surface")
        grid = QGridLayout(inside)
        grid.setContentsMargins(12, 8, 12, 8)
        grid.setHorizontalSpacing(12)
        grid.setVerticalSpacing(4)
        for column, share in enumerate((4, 6, 0, 0)):
            grid.setColumnStretch(column, share)
        for at, words in enumerate((say("Column"), say("First cells"), say("What it is"), say("Unit"))):
            head = QLabel(words)
            head.setProperty("role", "small")
            grid.addWidget(head, 0, at)
        for at, heading in enumerate(self._sheet.headings, start=1):
            self._add_column(grid, at, heading)
        grid.setRowStretch(len(self._sheet.headings) + 1, 1)
        scroll = QScrollArea()
        scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # the choices in it are the stops
        scroll.setWidgetResizable(True)
        scroll.setWidget(inside)
        buttons = QHBoxLayout()
        buttons.addStretch(1)
        buttons.addWidget(self._cancel)
        buttons.addWidget(self._read)
        box = QVBoxLayout(self)
        box.setContentsMargins(16, 16, 16, 16)
        box.setSpacing(8)
        box.addLayout(top)
        box.addWidget(self._asks)
        box.addWidget(scroll, 1)
        box.addWidget(self._preview)
        box.addWidget(self._warnings)
        box.addLayout(buttons)

    def _add_column(self, grid: QGridLayout, row: int, heading: str) -> None:
        name, cells = QuietLine(), QuietLine()
        set_property(name, "role", "")
        name.show_words(heading)
        cells.show_words(self._sheet.cells(row - 1))
        what = Picker(f"mapping.role.{heading}", say("What the column {column} is", column=heading))
        unit = Picker(f"mapping.unit.{heading}", say("Unit of the column {column}", column=heading))
        what.setFixedWidth(190)
        unit.setFixedWidth(84)
        keeps = unit.sizePolicy()
        keeps.setRetainSizeWhenHidden(True)
        unit.setSizePolicy(keeps)
        what.chosen.connect(partial(self._on_role, heading))
        unit.chosen.connect(partial(self._on_unit, heading))
        self._pickers[heading], self._units[heading] = what, unit
        for at, part in enumerate((name, cells, what, unit)):
            grid.addWidget(part, row, at)

    # ------------------------------------------------------------ what is shown

    def _on_role(self, heading: str, role: str) -> None:
        mapping = with_role(self.mapping, heading, role)
        if role == "time":  # as its own cells suggest it
            at = self._sheet.headings.index(heading)
            alone = suggested_mapping((heading,), [row[at : at + 1] for row in self._sheet.rows])
            if alone is not None and alone.time:
                mapping = replace(mapping, time_format=alone.time_format, time_scale=alone.time_scale)
        self._change(mapping)

    def _on_unit(self, heading: str, name: str) -> None:
        found = unit_and_scale(self.mapping, heading)
        if found is not None:
            self._change(with_scale(self.mapping, heading, dict(_SCALES[found[0]])[name], name))

    def _change(self, mapping: ColumnMapping) -> None:
        """Take another mapping; what the suggestion asked is answered by that."""
        self.mapping = replace(mapping, asks=())
        self._show()

    def _show(self) -> None:
        self.rows_are.show_choice(self.mapping.rows_are)
        self._show_formats()
        for heading, picker in self._pickers.items():
            picker.show_entries(roles(), role_of(self.mapping, heading))
            self._show_unit(heading)
        asks = " ".join(say_text(one) for one in self.mapping.asks)
        self._asks.setText(asks)
        self._asks.setVisible(bool(asks))
        self._read.setEnabled(False)
        self._tell(say("Reading it…"), "muted", "")
        self._quiet.start()

    def _show_formats(self) -> None:
        entries = (
            ("iso", say("2026-11-29 14:05, 29 Nov 2026 14:05")), ("m/d/y", say("month/day/year: 11/29/2026 14:05")),
            ("d/m/y", say("day/month/year: 29.11.2026 14:05")), ("epoch_s", say("seconds since 1970")),
            ("epoch_ms", say("milliseconds since 1970")), ("elapsed", say("time since some start")),
        )  # fmt: skip
        chosen = self.mapping.time_format
        self.time_format.show_entries(entries if chosen else (("", say("choose")), *entries), chosen)
        self.time_format.setEnabled(bool(self.mapping.time))

    def _show_unit(self, heading: str) -> None:
        picker, found = self._units[heading], unit_and_scale(self.mapping, heading)
        scales = _SCALES.get(found[0], ()) if found is not None else ()
        picker.setVisible(bool(scales))
        if found is not None and scales:
            picker.show_entries([(name, name) for name, _ in scales], next((n for n, s in scales if s == found[1]), ""))

    def _tell(self, words: str, role: str, warnings: str) -> None:
        set_property(self._preview, "role", role)
        self._preview.setText(words)
        self._warnings.setText(warnings)
        self._warnings.setVisible(bool(warnings))

    # ------------------------------------------------------------ trying it

    def _try(self) -> None:
        path, mapping = self._sheet.path, self.mapping

        def work(progress: Progress) -> object:
            try:
                return read_mapped(open_file(path, progress=progress), mapping)
            except ReaderError as error:
                return error

        self._runner.start(work)

    def _on_tried(self, result: object) -> None:
        if isinstance(result, FileEvidence):
            words = read_words(result, has_days=self.mapping.time_format != "elapsed")
            self._tell(words, "title", " ".join(say_text(one) for one in result.warnings))
            self._read.setEnabled(True)
        else:
            self._tell(str(result), "warning", "")

    def _on_failed(self, trouble: str) -> None:
        self._tell(trouble.partition("\n\n")[0], "warning", "")

    @override
    def done(self, result: int) -> None:
        self._quiet.stop()
        self._runner.close()
        super().done(result)


def ask_columns(parent: QWidget, path: Path, mapping: object = None) -> ColumnMapping | None:
    """Ask what the columns of a table are; None: cancelled, or it is no table after all."""
    try:
        sheet = sheet_of(path)
    except ReaderError:
        return None
    dialog = MappingDialog(sheet, mapping if isinstance(mapping, ColumnMapping) else None, parent)
    answer = dialog.mapping if dialog.exec() else None
    shiboken6.delete(dialog)  # at once: one that lingers keeps shortcuts from the window
    return answer
