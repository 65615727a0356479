"""What present settings mean: paste them, see line by line what was recognised, make a scenario of them to compare."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QDragEnterEvent, QDropEvent, QHideEvent, QResizeEvent, QTextOption
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFileDialog,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QPlainTextEdit,
    QPushButton,
    QSplitter,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableWidget,
    QTableWidgetItem,
    QVBoxLayout,
    QWidget,
)
from typing_extensions import override

from ckptplanner.engine.edits import EditError
from ckptplanner.engine.plan import SEVERITIES, Finding, Plan, finding
from ckptplanner.engine.scenario import NamedScenario, Scenario
from ckptplanner.engine.settings.importing import (
    ImportedSettings,
    adopted_settings,
    edits_for,
    group_finding,
    read_settings,
)
from ckptplanner.frozen import spec_of, value_at
from ckptplanner.ui.apply.finding_lines import FindingLines
from ckptplanner.ui.drops import dropped_file, welcome
from ckptplanner.ui.findings_view import field_title
from ckptplanner.ui.source_popup import shown_value
from ckptplanner.ui.theme import Theme, code_font, font, load_code_font
from ckptplanner.ui.words import say, say_text

MOST_BYTES = 4_000_000
_VALUE = 2
_PADDING, _AIR = 12, 4  # left and right of the words of a cell; above and below them
_WAIT_MS = 150  # after the last key, until what was typed is read


class _Cells(QStyledItemDelegate):
    """Asks for the height that its words take between the paddings of a cell, which the style sheet adds when it paints."""

    @override
    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        hint, table = super().sizeHint(option, index), self.parent()
        if not isinstance(table, QTableWidget):
            return hint
        shown = QStyleOptionViewItem(option)
        self.initStyleOption(shown, index)
        room = QRect(0, 0, table.columnWidth(index.column()) - 2 * _PADDING, 10_000)
        words = shown.fontMetrics.boundingRect(room, Qt.TextFlag.TextWordWrap, shown.text)
        return QSize(hint.width(), max(hint.height(), words.height() + _AIR))


class _Lines(QTableWidget):
    """A table whose rows are as tall as their words at the width that it has."""

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.resizeRowsToContents()
        QTimer.singleShot(0, self, self.resizeRowsToContents)  # a scroll bar that this brings takes room of the first column


class ImportPage(QWidget):
    """A text at the left, what it means at the right."""

    scenario_made = Signal(object)  # a NamedScenario
    field_requested = Signal(str)

    def __init__(self, frameworks: Mapping[str, str], parent: QWidget | None = None) -> None:
        """Build the page; `frameworks` has the names of targets by id."""
        super().__init__(parent)
        load_code_font()
        self.setAcceptDrops(True)
        self._frameworks = frameworks
        self._named: NamedScenario | None = None
        self._plan: Plan | None = None
        self._found: ImportedSettings | None = None
        self._made: NamedScenario | None = None
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(_WAIT_MS)
        self._timer.timeout.connect(self.take_text)
        self._build_text()
        self._build_found()
        self._place()
        self._text.textChanged.connect(self._timer.start)
        self._open.clicked.connect(self._on_open)
        self._add.clicked.connect(self._on_add)
        self.findings.field_requested.connect(self.field_requested)
        self._show()

    def _build_text(self) -> None:
        self._text = QPlainTextEdit()
        self._text.setObjectName("apply.import_text")
        self._text.setAccessibleName(say("Your present settings"))
        self._text.setPlaceholderText(
            say(
                "Paste what you run today: Megatron-LM arguments or the list that it prints, a Megatron Bridge or TorchTitan "
                "configuration, TrainingArguments of Hugging Face. Or drop a file here."
            )
        )
        self._text.setFont(code_font())
        self._text.setLineWrapMode(QPlainTextEdit.LineWrapMode.WidgetWidth)
        self._text.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self._text.setAcceptDrops(False)  # the page takes files
        self._text.setTabChangesFocus(True)
        self._open = QPushButton(say("From a file…"))
        self._open.setObjectName("apply.import_open")
        self._open.setAutoDefault(False)

    def _build_found(self) -> None:
        self._title = QLabel()
        self._title.setObjectName("apply.import_title")
        self._title.setProperty("role", "title")
        self._words = QLabel()
        self._words.setObjectName("apply.import_words")
        self._words.setProperty("role", "muted")
        self._unsaid = QLabel()
        self._unsaid.setObjectName("apply.import_unsaid")
        self._unsaid.setProperty("role", "small")
        for label in (self._title, self._words, self._unsaid):
            label.setWordWrap(True)
            label.setTextFormat(Qt.TextFormat.PlainText)
        self._table = _Lines(0, 4)
        self._table.setItemDelegate(_Cells(self._table))
        self._table.setObjectName("apply.import_lines")
        self._table.setAccessibleName(say("What was recognised"))
        self._table.setHorizontalHeaderLabels([say("What it says"), say("Means"), say("Value"), say("The plan has")])
        self._table.verticalHeader().hide()
        self._table.setShowGrid(False)
        self._table.setWordWrap(True)
        self._table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self._table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self._table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        head = self._table.horizontalHeader()
        head.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        head.setHighlightSections(False)
        head.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        for column, width in ((1, 124), (2, 104), (3, 104)):
            head.resizeSection(column, width)
        head.sectionResized.connect(self._fit_rows)
        self._table.currentCellChanged.connect(self._on_row)
        self.findings = FindingLines(tallest=200)
        self.findings.setObjectName("apply.import_findings")
        self._add = QPushButton(say("Add as a scenario"))
        self._add.setObjectName("apply.import_add")
        self._add.setProperty("role", "primary")
        self._add.setAutoDefault(False)
        self._add.setFixedHeight(26)

    def _place(self) -> None:
        left, right = QWidget(), QWidget()
        for side in (left, right):
            side.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
            side.setProperty("role", "surface")
        one = QVBoxLayout(left)
        one.setContentsMargins(16, 12, 12, 8)
        one.setSpacing(8)
        one.addWidget(self._text, 1)
        one.addWidget(self._open, 0, Qt.AlignmentFlag.AlignLeft)
        other = QVBoxLayout(right)
        other.setContentsMargins(16, 12, 16, 8)
        other.setSpacing(6)
        other.addWidget(self._title)
        other.addWidget(self._words)
        other.addWidget(self.findings)
        other.addWidget(self._table, 1)
        other.addStretch()  # where there is no table, what is said stays at the top
        hands = QHBoxLayout()
        hands.setSpacing(16)
        hands.addWidget(self._unsaid, 1)
        hands.addWidget(self._add, 0, Qt.AlignmentFlag.AlignBottom | Qt.AlignmentFlag.AlignRight)
        other.addLayout(hands)
        split = QSplitter()
        split.setHandleWidth(1)
        split.setChildrenCollapsible(False)
        split.addWidget(left)
        split.addWidget(right)
        split.setSizes([480, 620])
        box = QVBoxLayout(self)
        box.setContentsMargins(0, 0, 0, 0)
        box.addWidget(split)

    # ------------------------------------------------------------ what is shown

    def show_plan(self, named: NamedScenario, plan: Plan) -> None:
        """Take the plan that the settings are put into."""
        self._named, self._plan = named, plan
        self._show()

    def show_theme(self, theme: Theme) -> None:
        """Take the colours of a theme."""
        self.findings.show_theme(theme)
        self._text.setFont(code_font())

    def take_text(self) -> None:
        """Read what stands at the left."""
        self._timer.stop()
        written = self._text.toPlainText()
        self._found = read_settings(written) if written.strip() else None
        self._show()

    def _show(self) -> None:
        found, named = self._found, self._named
        findings = list(found.findings) if found is not None else []
        self._made = None
        if found is not None and named is not None and found.edits:
            try:
                self._made = adopted_settings(named, found).model_copy(update={"name": self._scenario_name(found), "note": ""})
            except EditError as error:
                reason = finding("error", error.path, "This value cannot be taken into a plan: {reason}", reason=error.message)
                findings.insert(0, reason)
            else:
                groups = group_finding(self._made, found)
                findings += [groups] if groups is not None else []
        self._show_head(found)
        self._show_lines(found)
        self.findings.show_findings(_worst_first(findings))
        self._add.setEnabled(self._made is not None)

    def _show_head(self, found: ImportedSettings | None) -> None:
        unsaid = [] if found is None else [say("Not in these settings"), *map(say_text, found.unsaid)]
        self._unsaid.setText("\n".join(unsaid))
        self._unsaid.setVisible(found is not None and bool(found.edits))
        if found is None:
            self._title.setText(say("Nothing to read yet"))
            self._words.setText(
                say(
                    "What the settings say about saves is listed here, and can stand beside the plan as a scenario: how often "
                    "they save, what that costs, what is lost when it breaks."
                )
            )
        elif found.refusal is not None:
            self._title.setText(say("Not recognised"))
            self._words.setText(say_text(found.refusal))
        else:
            self._title.setText(self._scenario_name(found))
            self._words.setText(say("All that is not said here is taken from the plan {name}.", name=self._plan_name))

    @property
    def _plan_name(self) -> str:
        return "" if self._named is None else f"“{self._named.name}”"

    def _scenario_name(self, found: ImportedSettings) -> str:
        return say("{framework} today", framework=self._frameworks.get(found.dialect, found.dialect))

    def _show_lines(self, found: ImportedSettings | None) -> None:
        named = self._named
        edits = () if found is None or named is None else found.edits
        self._table.setVisible(bool(edits))
        kept = () if found is None or named is None else found.kept
        self._table.setRowCount(len(edits) + len(kept))
        if found is None or named is None:
            return
        values = edits_for(found, named.scenario.workload.step_s)
        for row, (one, (path, value)) in enumerate(zip(edits, values, strict=True)):
            unit = spec_of(Scenario, path).unit
            now = _worked_out(path, self._plan) or value_at(named.scenario, path)
            cells = (say_text(one.where), field_title(path), shown_value(path, value, unit), shown_value(path, now, unit))
            self._show_row(row, cells, one.line, is_other=value != getattr(now, "id", now))
        for row, left in enumerate(kept, start=len(edits)):
            unit = spec_of(Scenario, left.path).unit
            now = _worked_out(left.path, self._plan) or value_at(named.scenario, left.path)
            words = (say_text(left.where), field_title(left.path), say_text(left.words), shown_value(left.path, now, unit))
            self._show_row(row, words, left.line, is_other=False)
        self._fit_rows()

    def _show_row(self, row: int, cells: tuple[str, ...], line: int | None, *, is_other: bool) -> None:
        for column, words in enumerate(cells):
            item = QTableWidgetItem(words)
            item.setToolTip(words)
            item.setTextAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop)
            item.setData(Qt.ItemDataRole.UserRole, line)
            if column == _VALUE and is_other:
                item.setFont(font(bold=True))
            self._table.setItem(row, column, item)

    def _fit_rows(self, *_: Any) -> None:
        self._table.resizeRowsToContents()

    # ------------------------------------------------------------ hands

    def _on_row(self, row: int, *_: Any) -> None:
        """Go to the line of the text."""
        item = self._table.item(row, 0)
        line = None if item is None else item.data(Qt.ItemDataRole.UserRole)
        if line is None:
            return
        block = self._text.document().findBlockByNumber(line - 1)
        if block.isValid():
            cursor = self._text.textCursor()
            cursor.setPosition(block.position())
            cursor.movePosition(cursor.MoveOperation.EndOfBlock, cursor.MoveMode.KeepAnchor)
            self._text.setTextCursor(cursor)

    def _on_open(self) -> None:
        chosen, _ = QFileDialog.getOpenFileName(self, say("Your present settings"), str(Path.home()))
        if chosen:
            self.take_file(Path(chosen))

    def take_file(self, file: Path) -> None:
        """Read a file into the text."""
        try:
            if file.stat().st_size > MOST_BYTES:
                raise OSError(say("it is larger than 4 MB"))
            written = file.read_bytes().decode("utf-8", "replace")
        except OSError as problem:
            self._text.clear()
            self.take_text()
            self._title.setText(say("{file} cannot be read: {reason}", file=file.name, reason=problem.strerror or problem))
            self._words.setText("")
            return
        self._text.setPlainText(written)
        self.take_text()

    def _on_add(self) -> None:
        self.take_text()
        if self._made is not None:
            self.scenario_made.emit(self._made)

    @override
    def hideEvent(self, event: QHideEvent) -> None:
        self._timer.stop()
        super().hideEvent(event)

    @override
    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        welcome(event)

    @override
    def dropEvent(self, event: QDropEvent) -> None:
        if (file := dropped_file(event)) is not None:
            self.take_file(file)

    @override
    def sizeHint(self) -> QSize:
        return QSize(1100, 560)


def _worked_out(path: str, plan: Plan | None) -> float | None:
    """What the plan has where its field is left to the planner."""
    if plan is None or plan.schedule is None:
        return None
    if path == "storage.interval_s":
        return plan.schedule.interval_s
    levels = plan.levels
    return {"local.interval_s": levels.local.interval_s, "local.ratio": levels.ratio}.get(path) if levels else None


def _worst_first(findings: list[Finding]) -> list[Finding]:
    """Errors before warnings before what is worth knowing."""
    return sorted(findings, key=lambda one: SEVERITIES.index(one.severity))
