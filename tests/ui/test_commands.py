"""Starting, leaving and asking: what is not saved is not lost, questions can be read, a first start fits the screen."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from PySide6.QtCore import QSize, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QDialog, QInputDialog, QLabel, QLineEdit, QMainWindow, QMessageBox, QScrollArea
from pytestqt.qtbot import QtBot

from ckptplanner import cli
from ckptplanner.engine.checks import source_kind
from ckptplanner.engine.derivation.derive import derivation
from ckptplanner.engine.derivation.figures import FIGURES
from ckptplanner.engine.workbook_file import read
from ckptplanner.ui import app
from ckptplanner.ui.commands import ask_text
from ckptplanner.ui.why import WhyPopup
from tests.ui.conftest import E1, Open
from tests.ui.hands import CTRL, Answer, child, press, type_into, with_button, with_file

SAMPLES = Path(__file__).parents[1] / "data" / "samples" / "hf"
Button = QMessageBox.StandardButton


def with_model(text: str) -> Answer:
    """Answers the three questions with a model."""

    def act(dialog: QDialog) -> None:
        search = child(dialog, QLineEdit, "start.model")
        QTest.keyClicks(search, text)
        QTest.keyClick(search, Qt.Key.Key_Return)

    return Answer(act)


def new(window: QMainWindow, text: str = "70 B") -> None:
    with with_model(text):
        press(window, Qt.Key.Key_N, CTRL)


# ---------------------------------------------------------------- a new plan


def test_a_new_plan_is_not_lost_without_a_question(open_window: Open, tmp_path: Path) -> None:
    window, store = open_window()
    new(window)
    assert store.workbook.shown.name == "70 B"
    assert window.isWindowModified()
    with with_button(Button.Cancel) as asked:
        assert not window.close()
    assert asked.words == "Save the changes to 70 B before it is closed?"
    file = tmp_path / "mine.ckptplan.json"
    with with_file(file):
        press(window, Qt.Key.Key_S, CTRL)
    assert not window.isWindowModified()
    assert read(file).shown.scenario.workload.total_params == 70e9
    assert window.close()


def test_the_question_names_the_file_and_its_buttons_say_what_they_do(open_window: Open, tmp_path: Path) -> None:
    file = tmp_path / "mine.ckptplan.json"
    shutil.copy(E1, file)
    window, _ = open_window(read(file), file)
    type_into(window, "storage.write_s", "7 min")
    words: list[str] = []

    def act(dialog: QDialog) -> None:
        assert isinstance(dialog, QMessageBox)
        words.extend(dialog.button(one).text() for one in (Button.Save, Button.Discard, Button.Cancel))

    with Answer(act) as asked:
        assert not window.close()
    assert asked.words == "Save the changes to mine.ckptplan.json before it is closed?"
    assert words == ["Save", "Don't save", "Cancel"]


def test_an_undone_edit_leaves_a_new_plan_unsaved(open_window: Open) -> None:
    window, store = open_window()
    new(window)
    type_into(window, "storage.write_s", "7 min")
    store.undo_stack.undo()
    assert window.isWindowModified()


def test_the_first_plan_can_be_left(open_window: Open) -> None:
    window, _ = open_window(app.new_workbook())
    assert not window.isWindowModified()
    assert window.close()


def test_the_examples_values_are_guesses_in_a_new_plan(open_window: Open) -> None:
    window, store = open_window(app.new_workbook())
    paths = ("failures.mtbi_s", "storage.blocking_s", "storage.generations_kept", "workload.layout", "failures.mtbi_nodes")
    for path in (*paths, "workload.total_params", "workload.nodes"):
        assert source_kind(store.workbook.shown, path) == "guess", path
    new(window)
    named = store.workbook.shown
    for path in paths:
        assert source_kind(named, path) == "guess", path
    source = named.source_of("failures.mtbi_s")
    assert source is not None
    assert source.text == "The example's value, until you measure yours"
    for path in ("workload.total_params", "workload.nodes"):
        assert source_kind(named, path) == "typed", path


# ---------------------------------------------------------------- questions


def test_a_long_question_wraps(open_window: Open) -> None:
    window, _ = open_window()
    sizes: list[QSize] = []

    def act(dialog: QDialog) -> None:
        assert isinstance(dialog, QInputDialog)
        label, line = dialog.findChild(QLabel), dialog.findChild(QLineEdit)
        assert label is not None
        assert line is not None
        assert line.width() >= 420
        assert label.height() >= label.heightForWidth(label.width())
        sizes.append(dialog.size())

    with Answer(act):
        assert ask_text(window, "A family", "A question of very many words. " * 12) is None
    assert sizes[0].width() < 700


# ---------------------------------------------------------------- starting


def test_a_first_start_fits_the_screen(open_window: Open) -> None:
    window, _ = open_window()
    app.fit_to(window, QSize(960, 500), has_geometry=False)
    assert window.size() == QSize(960, 500)
    window.setMinimumSize(1180, 720)
    app.fit_to(window, QSize(2560, 1400), has_geometry=False)
    assert window.size() == QSize(1440, 900)
    assert window.minimumSize() == QSize(1180, 720)
    window.resize(1300, 800)
    app.fit_to(window, QSize(2560, 1400), has_geometry=True)
    assert window.size() == QSize(1300, 800)


class Started:
    """Runs the window's start without its event loop, until an answer has been given."""

    def __init__(self, qtbot: QtBot, qapp: object, monkeypatch: pytest.MonkeyPatch) -> None:
        self._qtbot = qtbot
        monkeypatch.setattr(type(qapp), "exec", self._exec)
        self.wanted: object = lambda: True
        self.window: QMainWindow | None = None

    def _exec(self, *_: object) -> int:
        windows = [one for one in app.QApplication.topLevelWidgets() if one.objectName() == "main_window" and one.isVisible()]
        self.window = windows[0]  # type: ignore[assignment]
        self._qtbot.waitUntil(lambda: self.wanted(self.window))  # type: ignore[operator]
        return 0


@pytest.fixture
def started(qtbot: QtBot, qapp: object, monkeypatch: pytest.MonkeyPatch) -> Started:
    import sys

    monkeypatch.setattr(sys, "excepthook", sys.excepthook)
    return Started(qtbot, qapp, monkeypatch)


def close(window: QMainWindow | None) -> None:
    assert window is not None
    if window.isWindowModified():
        with with_button(Button.Discard):
            window.close()
    else:
        assert window.close()
    window.deleteLater()


def total(window: QMainWindow) -> str:
    field = window.findChild(QLineEdit, "workload.total_params")
    return field.text().replace("\u00a0", " ") if field else ""


def test_a_models_file_starts_a_plan(started: Started) -> None:
    started.wanted = lambda window: total(window) == "6.738415616 B"
    assert app.run(SAMPLES / "llama.config.json", None) == 0
    assert started.window is not None
    assert started.window.isWindowModified()
    close(started.window)


def test_a_file_that_is_neither_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "notes.json"
    file.write_text("[1, 2]")
    assert app.run(file, None) == 2
    assert "notes.json" in capsys.readouterr().err


@pytest.mark.parametrize("answer", ["70 B", ""])
def test_a_start_without_a_file_asks_for_the_model(started: Started, monkeypatch: pytest.MonkeyPatch, answer: str) -> None:
    monkeypatch.setattr(app, "has_screen", lambda _: True)
    asked = with_model(answer)
    started.wanted = lambda _: asked.was_asked
    with asked:
        app.run(None, None)
    assert started.window is not None
    assert started.window.isWindowModified() == bool(answer)
    close(started.window)


def test_the_help_names_the_file(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        cli.main(["--help"])
    assert "[FILE]" in capsys.readouterr().out


# ---------------------------------------------------------------- the card that says why


def test_what_is_followed_inside_the_card_shows_to_its_last_line(open_window: Open) -> None:
    window, store = open_window()
    why = window.findChild(WhyPopup)
    assert why is not None
    named = store.workbook.shown
    why.show_derivation(derivation(named, "checkpoint_bytes"))
    why.open_by(window.findChild(QAbstractButton, "findings.error"))
    why.move(why.x(), window.geometry().bottom() - why.height() - 12)
    for figure in FIGURES:
        why.show_derivation(derivation(named, figure))
        bar = why.findChild(QScrollArea).verticalScrollBar()
        assert bar.maximum() == 0, figure
        assert window.geometry().contains(why.geometry()), figure
    why.close()


def test_a_note_that_is_too_long_is_asked_for_again_and_nothing_typed_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    from PySide6.QtWidgets import QInputDialog, QWidget

    from ckptplanner.engine.scenario import NamedScenario, Workbook
    from ckptplanner.ui import commands
    from ckptplanner.ui.store import LONGEST_NOTE, Store

    store = Store(Workbook(scenarios=(NamedScenario(name="5 min"),), current="5 min", base="5 min"))
    shown, said = list[str](), list[str]()
    answers = iter([("長" * (LONGEST_NOTE + 1), True), ("長" * LONGEST_NOTE, True)])

    def ask(_parent: object, _title: str, _label: str, now: str) -> tuple[str, bool]:
        shown.append(now)
        return next(answers)

    monkeypatch.setattr(QInputDialog, "getMultiLineText", ask)
    monkeypatch.setattr(commands, "tell_trouble", lambda _window, sentence: said.append(sentence))
    window = QWidget()
    made = commands.Commands.__new__(commands.Commands)
    made._window, made._store = window, store  # type: ignore[assignment] # noqa: SLF001
    commands.Commands.note(made)
    assert [len(words) for words in shown] == [0, LONGEST_NOTE + 1]
    assert len(said) == 1
    assert len(store.workbook.shown.note) == LONGEST_NOTE
