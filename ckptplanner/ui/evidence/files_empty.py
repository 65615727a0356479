"""What stands on the page "Your files" before anything was opened: which files say something, and how to get them."""

from __future__ import annotations

from PySide6.QtCore import QRectF, Qt, Signal
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QApplication, QGridLayout, QHBoxLayout, QLabel, QPushButton, QScrollArea, QVBoxLayout, QWidget
from typing_extensions import override

from ckptplanner.ui.ink import pen
from ckptplanner.ui.theme import LIGHT, Theme
from ckptplanner.ui.words import say

_MOST_WIDTH = 760
COMMANDS = (
    "sacct -D -P -S 2026-09-01 -o JobIDRaw,JobName,State,ExitCode,Submit,Eligible,Start,End,NNodes,NodeList,Restarts",
    "aws fsx describe-file-systems > fsx.json",
    "fio --output-format=json ... > fio.json",
)


def sources() -> tuple[tuple[str, str], ...]:
    """What can be settled, and by which files."""
    return (
        (say("Interruptions, restarts"), say("sacct output, Kubernetes or HyperPod events, torchrun error files, XID lines")),
        (say("Saves, steps"), say("Megatron-LM and TorchTitan logs, text or JSONL")),
        (say("Size of a checkpoint"), say("checkpoint folders of PyTorch, Megatron, DeepSpeed, Lightning, NeMo; safetensors")),
        (say("Rates"), say("fio, IOR, elbencho, MLPerf Storage, nvbandwidth, nccl-tests, CloudWatch")),
        (say("Platform and prices"), say("AWS output for file systems, instance types and prices")),
        (say("Anything else"), say("a CSV whose columns you name")),
    )


class FilesEmpty(QWidget):
    """Names the files and the commands, with the two buttons."""

    files_requested = Signal()
    folder_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("files.empty")
        self._theme = LIGHT
        inside = QWidget()
        inside.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        inside.setProperty("role", "surface")
        column = QVBoxLayout(inside)
        column.setContentsMargins(28, 16, 28, 16)
        column.setSpacing(6)
        column.addWidget(self._label(say("Your own files become the inputs"), "title"))
        column.addWidget(self._label(
            say("Drop a folder of a run, or files, anywhere on the window. You see what was found, how sure it is and what it "
                "changes before anything of the plan does. Nothing that a file says is executed."), "muted",
        ))  # fmt: skip
        column.addSpacing(4)
        column.addLayout(self._grid())
        column.addSpacing(4)
        column.addWidget(self._label(say("Commands that write such files; a click copies one"), "small"))
        for at, command in enumerate(COMMANDS):
            column.addWidget(self._command(at, command))
        column.addSpacing(4)
        column.addLayout(self._buttons())
        column.addStretch(1)
        scroll = QScrollArea()
        scroll.setWidgetResizable(True)
        scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scroll.setWidget(inside)
        inside.setMaximumWidth(_MOST_WIDTH + 56)
        box = QVBoxLayout(self)
        box.setContentsMargins(17, 9, 17, 17)
        box.addWidget(scroll)

    @staticmethod
    def _label(words: str, role: str) -> QLabel:
        made = QLabel(words)
        made.setProperty("role", role)
        made.setWordWrap(True)
        made.setMaximumWidth(_MOST_WIDTH)
        made.setTextFormat(Qt.TextFormat.PlainText)
        return made

    def _grid(self) -> QGridLayout:
        grid = QGridLayout()
        grid.setHorizontalSpacing(16)
        grid.setVerticalSpacing(2)
        grid.setColumnStretch(1, 1)
        for row, (what, files) in enumerate(sources()):
            title = self._label(what, "")
            title.setMinimumWidth(150)
            grid.addWidget(title, row, 0, Qt.AlignmentFlag.AlignTop)
            grid.addWidget(self._label(files, "muted"), row, 1)
        return grid

    def _command(self, at: int, command: str) -> QPushButton:
        made = QPushButton(command)
        made.setObjectName(f"files.command.{at}")
        made.setProperty("role", "source")
        made.setToolTip(say("Copy this command"))
        made.setAccessibleName(say("Copy this command"))
        made.setMaximumWidth(_MOST_WIDTH)
        made.setMinimumWidth(80)
        made.setCursor(Qt.CursorShape.PointingHandCursor)
        made.clicked.connect(lambda: QApplication.clipboard().setText(command))
        return made

    def _buttons(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(8)
        self.first_stop = folder = QPushButton(say("Open folder…"))
        files = QPushButton(say("Open files…"))
        folder.setObjectName("files.empty.folder")
        folder.setProperty("role", "primary")
        files.setObjectName("files.empty.files")
        for button, signal in ((folder, self.folder_requested), (files, self.files_requested)):
            button.setFixedHeight(26)
            button.clicked.connect(signal)
            row.addWidget(button)
        row.addStretch(1)
        return row

    def show_theme(self, theme: Theme) -> None:
        """Take the colours of a theme."""
        self._theme = theme
        self.update()

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        line = pen(self._theme.line, dashed=True)
        line.setColor(QColor(self._theme.line))
        painter.setPen(line)
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(16.5, 8.5, -16.5, -16.5), 4, 4)
