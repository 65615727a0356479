"""What a person chooses about the interruptions as a whole: which job, what belongs together, which record to add."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtGui import QPalette, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QMenu, QSizePolicy, QToolButton, QWidget
from typing_extensions import override

from ckptplanner.data.catalog import interruption_records
from ckptplanner.engine.evidence import Choices, FailureRecord
from ckptplanner.frozen import FieldSpec
from ckptplanner.ui.dates import span_text
from ckptplanner.ui.lines import QuietLine
from ckptplanner.ui.theme import Theme, icon, set_property
from ckptplanner.ui.widgets.picker import Picker
from ckptplanner.ui.widgets.quantity_edit import QuantityEdit
from ckptplanner.ui.words import say
from ckptplanner.units import DAY, SECONDS, exact

MERGES_S = (0.0, 60.0, 300.0, 900.0)
_MOST_JOBS = 200
_JOB_SHARE, _PRIOR_SHARE = 0.18, 0.24  # of the row, at most
_EVERY = ""  # the key of all jobs, and of no record


def _spec() -> FieldSpec:
    return FieldSpec(
        "evidence.merge", "Merge within", "", SECONDS, False, (), False, False, 60.0, "", 0.0, 7 * DAY, False,
    )  # fmt: skip


class FailureControls(QWidget):
    """One row; says what was chosen, never takes it for granted."""

    job_chosen = Signal(str)
    merge_chosen = Signal(float)
    prior_chosen = Signal(str)
    period_cleared = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("evidence.choices")
        self.job = Picker("evidence.job", say("Job"))
        self.prior = Picker("evidence.prior", say("Combined with a published record"))
        self.merge = QuantityEdit(_spec())
        self._presets = QToolButton()
        self._clear = QToolButton()
        self._aside, self._hint, self._refusal = QuietLine(), "", ""
        self._labels = {name: QLabel(words) for name, words in (
            ("job", say("Job")), ("merge", say("Merge within")), ("prior", say("Combine with")),
        )}  # fmt: skip
        self._place()
        self._connect()

    def _place(self) -> None:
        tips = {
            "job": say("Whose runs are counted"),
            "merge": say("Stops that begin less than this after the one before are one interruption"),
            "prior": say("A published record counts as a few interruptions more; it weighs little beside many of one's own"),
        }
        for name, label in self._labels.items():
            label.setProperty("role", "small")
            label.setToolTip(tips[name])
        self.merge.setFixedSize(64, 24)
        self.merge.setToolTip(tips["merge"])
        self._presets.setObjectName("evidence.merge.presets")
        self._presets.setAccessibleName(say("Usual times to merge within"))
        self._presets.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self._presets.setFixedSize(20, 24)
        menu = QMenu(self._presets)
        for seconds in MERGES_S:
            menu.addAction(exact(seconds, SECONDS)).setData(seconds)
        menu.triggered.connect(self._on_preset)
        self._presets.setMenu(menu)
        self._clear.setObjectName("evidence.period")
        self._clear.setToolTip(say("Take the whole record again (Esc, or a double click on the dates)"))
        self._clear.setToolButtonStyle(self._clear.toolButtonStyle().ToolButtonTextBesideIcon)
        self._clear.setFixedHeight(24)
        for picker in (self.job, self.prior):
            picker.setMinimumWidth(72)
            picker.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        row = QHBoxLayout(self)
        row.setContentsMargins(12, 4, 16, 0)
        row.setSpacing(6)
        merge = QHBoxLayout()
        merge.setSpacing(0)
        merge.addWidget(self.merge)
        merge.addWidget(self._presets)
        row.addWidget(self._labels["job"])
        row.addWidget(self.job)
        row.addSpacing(6)
        row.addWidget(self._labels["merge"])
        row.addLayout(merge)
        row.addSpacing(6)
        row.addWidget(self._labels["prior"])
        row.addWidget(self.prior)
        self._aside.setObjectName("evidence.aside")
        row.addSpacing(6)
        row.addWidget(self._aside, 1)
        row.addWidget(self._clear)

    def _connect(self) -> None:
        self.job.chosen.connect(self.job_chosen)
        self.prior.chosen.connect(self.prior_chosen)
        self.merge.edited.connect(self._on_merge)
        self.merge.refused.connect(self._on_refused)
        self._clear.clicked.connect(self.period_cleared)

    def show_choices(self, record: FailureRecord, choices: Choices) -> None:
        """Show what holds."""
        jobs = _jobs(record)
        self.job.show_entries(jobs, record.job)
        has_jobs = len(jobs) > 2
        self.job.setVisible(has_jobs)
        self._labels["job"].setVisible(has_jobs)
        self.merge.show_value(choices.merge_s)
        records = [(row.id, row.name) for row in interruption_records()]
        self.prior.show_entries([(_EVERY, say("no published record")), *records], choices.prior or _EVERY)
        for picker in (self.job, self.prior):
            picker.setToolTip(picker.currentText())
            picker.view().setMinimumWidth(picker.sizeHint().width())
        self._clear.setVisible(choices.period is not None)
        if choices.period is not None:
            first, last = span_text(*choices.period)
            self._clear.setText(say("{first} to {last}", first=first, last=last))

    def show_hint(self, words: str) -> None:
        """Say at the end of the row what else can be done; what was typed and is refused comes first."""
        self._hint = words
        self._show_aside()

    def _on_refused(self, sentence: str) -> None:
        self._refusal = sentence
        self.merge.setToolTip(sentence or self._labels["merge"].toolTip())
        self._show_aside()

    def _show_aside(self) -> None:
        set_property(self._aside, "role", "refusal" if self._refusal else "small")
        self._aside.show_words(self._refusal or self._hint)

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        """Long names give way to what else stands in the row."""
        super().resizeEvent(event)
        for picker, share in ((self.job, _JOB_SHARE), (self.prior, _PRIOR_SHARE)):
            picker.setMaximumWidth(max(round(self.width() * share), 96))

    def show_theme(self, theme: Theme) -> None:
        """Take the colours of a theme."""
        self._clear.setIcon(icon("close", theme, theme.accent))
        self._presets.setIcon(icon("chevron-down", theme, self.palette().color(QPalette.ColorRole.PlaceholderText).name()))

    def _on_preset(self, action: object) -> None:
        seconds = action.data()  # type: ignore[attr-defined]
        self.merge_chosen.emit(float(seconds))

    def _on_merge(self, _: str, value: object) -> None:
        if isinstance(value, int | float):
            self.merge_chosen.emit(float(value))


def _jobs(record: FailureRecord) -> Sequence[tuple[str, str]]:
    """The jobs with the most node hours, and all together."""
    kept = [job for job in record.jobs[:_MOST_JOBS] if job != _EVERY]
    if record.job != _EVERY and record.job not in kept:
        kept.append(record.job)
    return [*((job, job) for job in kept), (_EVERY, say("all jobs"))]
