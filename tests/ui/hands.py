"""Hands and eyes for tests of the window: type, drag, drop, answer a dialog; read what a person would read."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from pathlib import Path

import pyqtgraph as pg
from PySide6.QtCore import QEvent, QMimeData, QPoint, QPointF, Qt, QTimer, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent, QMouseEvent, QTextDocumentFragment
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QDialog,
    QFileDialog,
    QLabel,
    QLineEdit,
    QMessageBox,
    QTableView,
    QWidget,
)

_LINK = re.compile(r'<a href="([^"]+)"[^>]*>(.*?)</a>')
NO_KEYS, CTRL = Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.ControlModifier
LEFT = Qt.MouseButton.LeftButton


# ---------------------------------------------------------------- eyes


def plain(html: str) -> str:
    """Rich text as it is read, with plain spaces."""
    return QTextDocumentFragment.fromHtml(html).toPlainText().replace("\u00a0", " ")


def child(window: QWidget, kind: type, name: str) -> QWidget:
    """The one child of that kind and name."""
    found = window.findChild(kind, name)
    assert found is not None, f"no {kind.__name__} {name!r}"
    return found


def labels(part: QWidget) -> list[str]:
    """What stands on the visible labels of a part, from top to bottom."""
    return [plain(label.text()) for label in part.findChildren(QLabel) if label.isVisible() and label.text()]


def headline(window: QWidget) -> str:
    """Everything in the headline as one text."""
    return "\n".join(labels(child(window, QWidget, "headline")))


def card(window: QWidget, title: str) -> str:
    """What stands on the card of that title."""
    for frame in child(window, QWidget, "headline").findChildren(QWidget):
        if frame.property("role") == "card" and title in (texts := labels(frame)):
            return "\n".join(texts[1:])
    raise AssertionError(f"no card {title!r}")


def figures(window: QWidget) -> list[tuple[str, str]]:
    """Every figure of the headline that can be clicked: its id and how it reads."""
    texts = (label.text() for label in child(window, QWidget, "headline").findChildren(QLabel) if label.isVisible())
    links = [(figure, plain(shown)) for text in texts for figure, shown in _LINK.findall(text)]
    return [(figure, words) for figure, words in links if not figure.startswith("field:")]


def table(window: QWidget) -> list[list[str]]:
    """The storage options as they stand in the table."""
    model = child(window, QTableView, "options_table").model()
    rows, columns = range(model.rowCount()), range(model.columnCount())
    return [[str(model.index(row, column).data() or "").replace("\u00a0", " ") for column in columns] for row in rows]


def plot_figures(window: QWidget) -> str:
    """What the tag at the handle says."""
    return child(window, QWidget, "write_time_plots").accessibleDescription().replace("\u00a0", " ")


def field(window: QWidget, path: str) -> QLineEdit:
    """The field at a path."""
    found = child(window, QLineEdit, path)
    assert isinstance(found, QLineEdit)
    return found


def shown(window: QWidget, path: str) -> str:
    """What stands in the field at a path."""
    return field(window, path).text().replace("\u00a0", " ")


# ---------------------------------------------------------------- hands


def type_into(window: QWidget, path: str, text: str, *, enter: bool = True) -> QLineEdit:
    """Replace what stands in a field, key by key, and press Enter."""
    edit = field(window, path)
    edit.setFocus(Qt.FocusReason.TabFocusReason)
    edit.selectAll()
    QTest.keyClick(edit, Qt.Key.Key_Delete)
    QTest.keyClicks(edit, text)
    if enter:
        QTest.keyClick(edit, Qt.Key.Key_Return)
    return edit


def click(widget: QWidget, place: QPoint | None = None) -> None:
    """Click on a widget."""
    QTest.mouseClick(widget, LEFT, NO_KEYS, place or widget.rect().center())


def click_figure(window: QWidget, figure: str, part: str = "headline") -> None:
    """Move over the figure's label until the pointer is over its link, and click there."""
    holders = [
        label for label in child(window, QWidget, part).findChildren(QLabel)
        if label.isVisible() and f'href="{figure}"' in label.text()
    ]  # fmt: skip
    for label in holders:
        place = _place_of_link(label, figure)
        if place is not None:
            click(label, place)
            return
    raise AssertionError(f"nowhere on the screen can {figure} be clicked")


def _place_of_link(label: QLabel, figure: str) -> QPoint | None:
    hovered: list[str] = []
    label.linkHovered.connect(hovered.append)
    kind, none = QEvent.Type.MouseMove, Qt.MouseButton.NoButton
    for y in range(6, label.height(), 6):
        for x in range(2, label.width(), 5):
            place = QPoint(x, y)
            where = QPointF(label.mapToGlobal(place))
            QApplication.sendEvent(label, QMouseEvent(kind, QPointF(place), where, none, none, NO_KEYS))
            if hovered and hovered[-1] == figure:
                return place
    return None


def press(window: QWidget, key: Qt.Key, keys: Qt.KeyboardModifier = NO_KEYS) -> None:
    """Press a key in a window. (Without a window manager nobody makes it active again after a dialog.)"""
    window.activateWindow()
    assert QTest.qWaitForWindowActive(window)
    QTest.keyClick(window, key, keys)


class Handle:
    """The write time's line in the cost plot, and the mouse over it."""

    def __init__(self, window: QWidget) -> None:
        plots = child(window, QWidget, "write_time_plots")
        view = plots.findChild(pg.GraphicsLayoutWidget)
        assert view is not None
        self._view, self.viewport = view, view.viewport()
        lines = [item for item in view.scene().items() if isinstance(item, pg.InfiniteLine) and item.movable]
        self.line = max(lines, key=lambda line: line.getViewBox().sceneBoundingRect().height())

    @property
    def shown_s(self) -> float:
        """Where the line stands. [s]"""
        return float(10.0 ** self.line.value())

    def pixel(self, seconds: float) -> QPoint:
        """Where a write time lies in the viewport, halfway up the plot."""
        box = self.line.getViewBox()
        scene = box.mapViewToScene(QPointF(math.log10(seconds), sum(box.viewRange()[1]) / 2))
        return self._view.mapFromScene(scene)

    def move(self, place: QPoint, *, held: bool) -> None:
        """Move the mouse, with or without its left button held. (QTest.mouseMove forgets the button.)"""
        kind, none = QEvent.Type.MouseMove, Qt.MouseButton.NoButton
        where = QPointF(self.viewport.mapToGlobal(place))
        QApplication.sendEvent(self.viewport, QMouseEvent(kind, QPointF(place), where, none, LEFT if held else none, NO_KEYS))

    def press(self, seconds: float) -> None:
        """Come to a place and press there."""
        self.move(self.pixel(seconds), held=False)
        QTest.mousePress(self.viewport, LEFT, NO_KEYS, self.pixel(seconds))

    def release(self, seconds: float) -> None:
        """Let go."""
        QTest.mouseRelease(self.viewport, LEFT, NO_KEYS, self.pixel(seconds))


def drop(window: QWidget, file: Path) -> bool:
    """Drop a file on a window; whether the window took it."""
    mime = QMimeData()
    mime.setUrls([QUrl.fromLocalFile(str(file))])
    place, copy = window.rect().center(), Qt.DropAction.CopyAction
    entering = QDragEnterEvent(place, copy, mime, LEFT, NO_KEYS)
    QApplication.sendEvent(window, entering)
    dropping = QDropEvent(QPointF(place), copy, mime, LEFT, NO_KEYS)
    QApplication.sendEvent(window, dropping)
    return entering.isAccepted() and dropping.isAccepted()


class Answer:
    """Answers the next modal dialog; `words` is what it said. Leaving without a dialog is a failure."""

    def __init__(self, act: Callable[[QDialog], None]) -> None:
        self._act, self._tries = act, 0
        self.words = ""
        self.was_asked = False

    def __enter__(self) -> Answer:
        QTimer.singleShot(0, self._look)
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        if error is None:
            assert self.was_asked, "no dialog was opened"

    def _look(self) -> None:
        dialog = QApplication.activeModalWidget()
        if not isinstance(dialog, QDialog):
            self._tries += 1
            if self._tries < 200:
                QTimer.singleShot(5, self._look)
            return
        self.was_asked = True
        self.words = dialog.text() if isinstance(dialog, QMessageBox) else "\n".join(labels(dialog))
        try:
            self._act(dialog)
        finally:
            if dialog.isVisible():
                dialog.reject()


def with_file(file: Path) -> Answer:
    """Answers a file dialog with this file or folder."""

    def act(dialog: QDialog) -> None:
        assert isinstance(dialog, QFileDialog)
        name = dialog.findChild(QLineEdit, "fileNameEdit")
        assert name is not None
        name.setText(str(file))
        dialog.accept()

    return Answer(act)


def with_text(text: str) -> Answer:
    """Answers a question for a text, by keys."""

    def act(dialog: QDialog) -> None:
        edit = dialog.findChild(QLineEdit)
        assert edit is not None
        edit.selectAll()
        QTest.keyClicks(edit, text)
        QTest.keyClick(edit, Qt.Key.Key_Return)

    return Answer(act)


def with_button(button: QMessageBox.StandardButton) -> Answer:
    """Answers a message box with one of its buttons."""

    def act(dialog: QDialog) -> None:
        assert isinstance(dialog, QMessageBox)
        pressed: QAbstractButton | None = dialog.button(button)
        assert pressed is not None
        pressed.click()

    return Answer(act)
