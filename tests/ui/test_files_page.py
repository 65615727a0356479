"""The page "Your files": what was found is adopted by mouse and keys, questions are answered, files opened and left out."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent, QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QLabel, QMenu, QProgressBar, QPushButton, QScrollArea, QWidget
from pytestqt.qtbot import QtBot

from ckptplanner.data.evidence import FileEvidence, Gathered, Measured, Place
from ckptplanner.data.readers.column_mapping import ColumnMapping
from ckptplanner.engine.adopting import Effect, adopted
from ckptplanner.engine.checks import source_kind
from ckptplanner.engine.edits import EditError
from ckptplanner.engine.evaluate import plan_of
from ckptplanner.engine.evidence import Choices, Reading
from ckptplanner.engine.scenario import NamedScenario
from ckptplanner.engine.settled import without_settled
from ckptplanner.ui.background import Progress
from ckptplanner.ui.evidence import found_words as words
from ckptplanner.ui.evidence import tools
from ckptplanner.ui.evidence.desk import EvidenceDesk, Found, Meaning, Telling, Tools
from ckptplanner.ui.evidence.files_empty import COMMANDS
from ckptplanner.ui.evidence.files_page import FILES, OBSERVED, FilesPage
from ckptplanner.ui.evidence.line_table import LineTable
from ckptplanner.ui.evidence_view import EvidenceView
from ckptplanner.ui.ink import width_of
from ckptplanner.ui.theme import BODY_PX, DARK, LIGHT, apply_theme
from ckptplanner.ui.views import Views
from tests.ui.conftest import Heard, Open
from tests.ui.evidence_samples import EFFECTS, FAR, MTBI, NODE, PARTS, QUESTION, VERDICT, estimate, found
from tests.ui.evidence_samples import OBSERVED as SEEN
from tests.ui.hands import CTRL, LEFT, NO_KEYS, child, click, labels, press, with_file

SMALL, LARGE = (838, 388), (1108, 580)


def page_of(qtbot: QtBot, shown: Found, size: tuple[int, int] = LARGE) -> FilesPage:
    page = FilesPage()
    qtbot.addWidget(page)
    page.resize(*size)
    page.show_theme(LIGHT)
    page.show_found(shown)
    with qtbot.waitExposed(page):
        page.show()
    return page


@pytest.fixture
def page(qtbot: QtBot) -> FilesPage:
    return page_of(qtbot, found(QUESTION))


# ---------------------------------------------------------------- eyes and hands


def said(page: QWidget, name: str) -> str:
    return child(page, QLabel, f"files.{name}").text().replace("\u00a0", " ")


def row(page: FilesPage, title: str) -> list[str]:
    """The row of that title, as it can be read."""
    line = next(line for line in page.found.lines if not line.is_group and line.cells[0].first == title)
    return [part.replace("\u00a0", " ") for cell in line.cells for part in (cell.first, cell.second) if part]


def titles(page: FilesPage) -> list[str]:
    return [line.cells[0].first for line in page.found.lines]


def click_action(table: LineTable, start: str) -> None:
    """Click on what stands at the end of the row whose key begins so."""
    line = next(line for line in table.lines if line.key.startswith(start))
    table.scrollTo(table.line_model.index(table.lines.index(line), 0))
    QTest.mouseClick(table.viewport(), LEFT, NO_KEYS, table.action_place(line.key))


def go_to(table: LineTable, start: str) -> None:
    at = next(at for at, line in enumerate(table.lines) if line.key.startswith(start))
    flags = table.selectionModel().SelectionFlag
    table.selectionModel().setCurrentIndex(table.line_model.index(at, 0), flags.ClearAndSelect | flags.Rows)


# ---------------------------------------------------------------- what is shown


def test_the_head_says_what_the_files_settle(page: FilesPage) -> None:
    assert said(page, "sentence") == "3 files settle 5 of the 10 inputs that files can tell; of the rest 3 are guesses."
    assert said(page, "verdict_line").startswith("The plan is still right: it saves every 44 min 42 s")
    assert child(page, QPushButton, "files.troubles").text() == "2 files cannot be used, 2 files not known"


def test_a_row_has_value_interval_count_place_source_and_what_it_changes(page: FilesPage) -> None:
    assert row(page, "Interrupted every") == [
        "Interrupted every", "sacct_parsable2.txt, line 12 and 1 more", "267 h", "201 h to 362 h", "23 interruptions",
        "90 % interval", "200 h", "article", "−$4,212", "−0.13", "Adopt",
    ]  # fmt: skip
    stop = row(page, "Stop time")[2:9]
    assert stop == ["5.07 s", "4.97 s to 5.26 s", "3 values", "least to greatest", "5 s", "article", "+$94"]
    assert row(page, "Step time")[-2:] == ["none", "in use"]
    assert row(page, "Complete generations on disk")[-1] == "for reading"


def test_what_settles_most_dollars_comes_first_and_stays_there(page: FilesPage) -> None:
    groups = [line.cells[0].first for line in page.found.lines if line.is_group]
    assert groups == ["Interruptions", "Size", "Restart", "Saves", "Rates", "Platform"]
    before = titles(page)
    cheaper = tuple(replace(one, usd_per_month=0.0) if one.estimate is MTBI else one for one in EFFECTS)
    page.show_found(found(meaning=Meaning(cheaper)))
    assert titles(page) == before, "a row that was adopted does not jump away"
    page.show_found(found(meaning=Meaning(cheaper[:-1])))
    assert titles(page)[0] == "Size"


def test_what_is_doubtful_never_comes_first() -> None:
    wild = replace(next(one for one in EFFECTS if not one.estimate.is_proposed), usd_per_month=3e6)
    assert words.in_order((wild, EFFECTS[0]))[0] is EFFECTS[0]


def test_rows_that_are_not_proposed_say_why(page: FilesPage) -> None:
    lines = {line.cells[0].first: line for line in page.found.lines if not line.is_group}
    assert lines["Storage reads at"].remark == (
        "Not proposed. Read from the page cache: the file was as large as the memory of one node."
    )
    assert lines["Storage reads at"].remark_tone == "warning"
    assert lines["Shape"].remark == "Cannot be adopted: the shape is used once the law is Weibull."
    assert (lines["Shape"].remark_tone, lines["Shape"].can_act) == ("error", False)
    assert lines["Saved for each parameter"].remark == str(FAR)
    assert all(place in lines["Stop time"].tip for place in ("megatron-lm.log, line 3", "megatron-lm.log, line 20"))


@pytest.mark.parametrize(
    ("effect", "expected"),
    [
        (EFFECTS[0], ("proposed", True, True)),
        (EFFECTS[1], ("refused", False, False)),
        (EFFECTS[4], ("reading", False, False)),
        (EFFECTS[5], ("proposed", False, False)),
        (EFFECTS[9], ("doubtful", True, False)),
        (Effect(NODE, "p5.48xlarge", "doc", None, None, None, ""), ("proposed", True, True)),
    ],
)
def test_what_can_be_adopted(effect: Effect, expected: tuple[str, bool, bool]) -> None:
    assert (words.tone_of(effect), words.can_adopt(effect), words.is_for_all(effect)) == expected


def test_inputs_are_counted_once() -> None:
    sources = dict.fromkeys(words.KEY_INPUTS, "guess") | {"workload.nodes": "log", "storage.write_s": "typed"}
    covers = words.coverage(EFFECTS, sources)
    assert "workload.layout" in covers.settled, "bytes for each parameter settle the layout"
    assert "workload.nodes" in covers.settled, "what was adopted from a log before counts too"
    assert set(covers.assumed) == {"failures.reschedule_s", "failures.start_s", "workload.total_params"}
    assert not set(covers.assumed) & set(covers.settled)
    assert "storage.custom.read_bytes_per_s" not in covers.settled, "what is doubtful settles nothing"
    covers = words.coverage(EFFECTS, sources | {"failures.start_s": "article"})
    assert "failures.start_s" not in covers.assumed, "the field says article: it is no guess"


@pytest.mark.parametrize(
    ("usd", "waste", "shown"),
    [(None, None, ("–", "–")), (0.2, 1e-9, ("none", "none")), (-1240.4, -0.0213, ("−$1,240", "−2.1")),
     (2.5e8, 3e-6, ("+$250M", "+0.0003"))],
)  # fmt: skip
def test_changes_have_a_sign(usd: float | None, waste: float | None, shown: tuple[str, str]) -> None:
    assert (words.money_change(usd), words.waste_change(waste)) == shown


def test_an_interval_may_be_open() -> None:
    assert words.range_words(replace(MTBI, high=float("inf"))).replace("\u00a0", " ") == "at least 201 h"
    assert words.range_words(replace(MTBI, low=None, high=None)) == ""


@pytest.mark.parametrize(("in_use", "is_same"), [(35.9 * 3600.0, True), (36.0 * 3600.0, False)])
def test_what_was_adopted_is_in_use_however_it_was_rounded(in_use: float, is_same: bool) -> None:
    """A count is taken over with three digits, in hours: 129,390 s as 35.9 h."""
    counted = replace(MTBI, value=129_390.15)
    effect = Effect(counted, in_use, "log", 0.0, 0.0, None, "")
    assert (words.is_in_use(effect), words.is_for_all(effect)) == (is_same, not is_same)


def test_files_that_say_what_was_guessed_confirm_it(qtbot: QtBot) -> None:
    """The value is the same, its source is not: taken over it is no guess any more."""
    same = estimate("start", 240.0)
    guessed, logged = (Effect(same, 240.0, source, 0.0, 0.0, None, "") for source in ("guess", "log"))
    page = page_of(qtbot, found(meaning=Meaning((guessed,))))
    assert row(page, "Start")[-1] == "Confirm"
    heard = Heard(page.adopt_requested)
    click(child(page, QPushButton, "files.adopt_all"))
    assert heard.said == [((same,),)]
    page.show_found(found(meaning=Meaning((logged,))))
    assert row(page, "Start")[-1] == "in use"
    named = adopted(NamedScenario(name="a"), [same])
    assert source_kind(named, "failures.start_s") == "log"


def test_a_model_comes_with_its_parameters() -> None:
    """Both proposed would overwrite each other: after all was adopted one of them would be proposed for ever."""
    count = estimate("params", 7e9)
    model = replace(NODE, id="workload.model", path="workload.model", places=(Place("config.json"),))
    kept = without_settled((count, MTBI, model))
    assert [one.is_proposed for one in kept] == [False, True, True]
    assert str(kept[0].notes[0]) == "Comes with the model of config.json."
    assert without_settled((count, MTBI)) == (count, MTBI)


# ---------------------------------------------------------------- adopting


def test_a_click_adopts_one(page: FilesPage) -> None:
    heard = Heard(page.adopt_requested)
    click_action(page.found, "stop ")
    assert [[one.id for one in estimates] for (estimates,) in heard.said] == [["stop"]]
    click_action(page.found, "step ")
    click_action(page.found, "shape ")
    assert len(heard.said) == 1, "what is in use or refused cannot be adopted"


@pytest.mark.parametrize("key", [Qt.Key.Key_Space, Qt.Key.Key_Return, Qt.Key.Key_Enter])
def test_keys_adopt(page: FilesPage, key: Qt.Key) -> None:
    heard = Heard(page.adopt_requested)
    go_to(page.found, "mtbi")
    QTest.keyClick(page.found, Qt.Key.Key_Down)
    QTest.keyClick(page.found, Qt.Key.Key_Down)
    QTest.keyClick(page.found, key)
    assert [one.id for one in heard.said[0][0]] == ["bytes_per_param"]  # type: ignore[attr-defined]


def test_all_that_is_proposed_is_chosen_by_keys_or_taken_by_the_button(page: FilesPage) -> None:
    heard = Heard(page.adopt_requested)
    QTest.keyClick(page.found, Qt.Key.Key_A, CTRL)
    button = child(page, QPushButton, "files.adopt")
    assert button.text() == "Adopt 5 chosen"
    click(button)
    click(child(page, QPushButton, "files.adopt_all"))
    for (estimates,) in heard.said:
        assert {one.id for one in estimates} == {"mtbi", "bytes_per_param", "detect", "stop", "write"}
    assert said(page, "sum") == "5 proposed, together: −$2,050 a month, waste −0.091 points"


def test_a_row_leads_to_its_field(page: FilesPage) -> None:
    heard = Heard(page.field_requested)
    go_to(page.found, "stop")
    QTest.keyClick(page.found, Qt.Key.Key_F)
    assert heard.said == [("storage.blocking_s",)]
    menu = page.found.menu_for(page.found.current)  # type: ignore[arg-type]
    assert [action.text().split("\t")[0] for action in menu.actions()] == ["Adopt", "Go to its field"]


def test_where_all_is_in_use_there_is_nothing_to_adopt(qtbot: QtBot) -> None:
    page = page_of(qtbot, found(meaning=Meaning((EFFECTS[5],))))
    assert not child(page, QPushButton, "files.adopt_all").isEnabled()
    assert said(page, "sum") == "All that is proposed is in use."


def test_what_is_assumed_leads_to_its_field(page: FilesPage) -> None:
    heard = Heard(page.field_requested)
    menu = page.head.assumed_menu()
    assert [action.text() for action in menu.actions()] == ["Reschedule", "Start", "Nodes"]
    menu.actions()[1].trigger()
    assert heard.said == [("failures.start_s",)]
    assert isinstance(menu, QMenu)


# ---------------------------------------------------------------- where the keys go


def test_the_shortcut_puts_the_keys_into_the_page(open_window: Open) -> None:
    """It took 38 presses of Tab to the table, one of them on a frame without a name."""
    window, _ = open_window()
    press(window, Qt.Key.Key_E, CTRL | Qt.KeyboardModifier.ShiftModifier)
    views = window.findChild(Views)
    assert views is not None
    page = views.evidence.files
    assert window.focusWidget() is child(page, QPushButton, "files.empty.folder")
    page.show_found(found(QUESTION))
    press(window, Qt.Key.Key_E, CTRL | Qt.KeyboardModifier.ShiftModifier)
    assert window.focusWidget() is page.found
    panels = child(window, QWidget, "panels")
    assert [area for area in panels.findChildren(QScrollArea) if area.focusPolicy() != Qt.FocusPolicy.NoFocus] == []


def test_without_values_the_keys_go_to_the_question_and_without_that_to_what_opens_files(qtbot: QtBot) -> None:
    page = page_of(qtbot, found(QUESTION, meaning=Meaning()))
    page.take_keys()
    assert page.focusWidget() is child(page, QPushButton, "question.finished saving.stop")
    page.show_found(found(meaning=Meaning()))
    page.take_keys()
    assert page.focusWidget() is child(page, QPushButton, "files.open")
    page.show_part(FILES)
    page.take_keys()
    assert page.focusWidget() is page.files


# ---------------------------------------------------------------- questions and files


def test_a_question_is_answered(page: FilesPage) -> None:
    heard = Heard(page.choices_changed)
    assert str(QUESTION.words) in labels(page.questions)
    likely = child(page, QPushButton, "question.finished saving.stop")
    assert likely.text() == "the stop (likely)"
    click(child(page, QPushButton, "question.finished saving.restorable"))
    assert heard.said == [(Choices(answers=(("finished saving", "restorable"),)),)]
    page.show_found(found(PARTS, QUESTION))
    click(child(page, QPushButton, "question.parts."))
    assert heard.said[1] == (Choices(answers=(("parts", ""),)),), "an answer may be none of the quantities"
    page.show_found(found())
    assert not page.questions.isVisible()


def test_at_most_two_questions_are_asked_at_once(page: FilesPage) -> None:
    page.show_found(found(QUESTION, PARTS, replace(PARTS, id="third")))
    assert "1 more question after these" in labels(page.questions)
    assert page.questions.findChild(QPushButton, "question.third.queue") is None


@pytest.mark.parametrize("width", [420, 838, 1108])
def test_long_answers_are_not_cut(qtbot: QtBot, width: int) -> None:
    from ckptplanner.text import text

    choices = (
        ("", text("also the whole write: async is off, and training waits")), ("stop", text("the stop alone: async is on")),
    )  # fmt: skip
    page = page_of(qtbot, found(replace(QUESTION, choices=choices)), (width, 580))
    QApplication.processEvents()
    for key, _ in choices:
        button = child(page, QPushButton, f"question.finished saving.{key}")
        assert button.width() >= button.sizeHint().width()
        assert button.geometry().right() <= button.parentWidget().width()


def test_an_answer_can_be_taken_back(qtbot: QtBot) -> None:
    one = found().gathered.files[1]
    asking = replace(one, measured=(Measured("stop", (5.0,), Place("a.log"), question=QUESTION),))
    answers = Choices(answers=((QUESTION.id, "restorable"),))
    page = page_of(qtbot, found(gathered=Gathered((asking,)), choices=answers))
    page.show_part(FILES)
    heard = Heard(page.choices_changed)
    click_action(page.files, "answered")
    assert heard.said == [(Choices(),)]


def asking_file(quantity: str = "stop") -> FileEvidence:
    """The log of the samples, as one that leaves open what its times are."""
    one = found().gathered.files[1]
    return replace(one, measured=(Measured(quantity, (5.067,), Place(one.file, "line 3"), question=QUESTION),))


def test_a_question_names_its_file_and_stands_above_the_values_alone(page: FilesPage) -> None:
    page.show_found(found(QUESTION, gathered=Gathered((asking_file(),))))
    assert labels(page.questions).count("megatron-lm.log") == 1
    page.show_part(FILES)
    assert not page.questions.isVisible()


def test_where_the_page_is_low_questions_are_one_line_until_they_are_opened(qtbot: QtBot) -> None:
    page = page_of(qtbot, found(QUESTION, PARTS, gathered=Gathered((asking_file(),))), SMALL)
    fold = child(page, QPushButton, "files.questions.fold")
    assert fold.text() == "2 questions about what was measured"
    assert page.questions.height() < 32
    answer = child(page, QPushButton, "question.finished saving.stop")
    assert not answer.isVisible()
    click(fold)
    assert answer.isVisible()
    assert page.focusWidget() is answer
    click(fold)
    assert fold.text() == "2 questions about what was measured"
    page.resize(*LARGE)
    QApplication.processEvents()
    assert (answer.isVisible(), fold.isVisible()) == (True, False)


def test_a_row_that_rests_on_an_answer_asks_again(qtbot: QtBot) -> None:
    answers = Choices(answers=((QUESTION.id, "stop"),))
    page = page_of(qtbot, found(gathered=Gathered((asking_file(""),)), choices=answers))
    line = next(line for line in page.found.lines if line.cells[0].first == "Stop time")
    assert line.remark.endswith("So you answered; A asks again.")
    assert [action.text().split("\t")[0] for action in page.found.menu_for(line).actions()][2:] == ["Ask again what it is"]
    heard = Heard(page.choices_changed)
    go_to(page.found, "stop")
    QTest.keyClick(page.found, Qt.Key.Key_A)
    assert heard.said == [(Choices(),)]
    go_to(page.found, "mtbi")
    QTest.keyClick(page.found, Qt.Key.Key_A)
    assert len(heard.said) == 1


def test_one_long_word_makes_no_column_wide_while_others_are_cut(qtbot: QtBot) -> None:
    """1180 wide: the name of a model in use took a hundred pixels from every title and place."""
    long = replace(EFFECTS[2], in_use="a model with quite a long name 120B")
    page = page_of(qtbot, found(meaning=Meaning((*EFFECTS[:2], long, *EFFECTS[3:]))), SMALL)
    table = page.found
    for line in table.lines:
        for at, cell in enumerate(line.cells if not line.is_group else ()):
            if "long name" not in cell.first and at in (1, 2, 4, 5):
                room = table.columnWidth(at) - 12 - 6
                assert max(width_of(cell.first, BODY_PX, bold=cell.is_bold), width_of(cell.second)) <= room
    assert table.columnWidth(0) >= 250
    assert sum(table.columnWidth(at) for at in range(7)) == table.viewport().width()


def test_every_file_is_listed_with_what_became_of_it(page: FilesPage) -> None:
    click(child(page, QPushButton, "files.troubles"))
    assert page.part == FILES
    keys = [line.key for line in page.files.lines]
    assert [key for key in keys if key.startswith("group")] == [
        "group opened", "group notes", "group refused", "group read", "group unknown",
    ]  # fmt: skip
    lines = {line.key: line for line in page.files.lines}
    assert lines["read sacct_parsable2.txt"].remark.startswith("No job repeats")
    assert lines["refused broken.json"].remark.startswith("broken.json, line 3: this is no JSON")
    heard = Heard(page.remove_requested, page.choices_changed, page.columns_requested)
    click_action(page.files, "opened run-42")
    click_action(page.files, "read megatron-lm.log")
    click_action(page.files, "refused stops.csv")
    assert heard.said == [(Path("run-42"),), (Choices(left_out=frozenset({"megatron-lm.log"})),), ("stops.csv",)]


def test_a_refusal_can_be_copied(page: FilesPage) -> None:
    page.show_part(FILES)
    click_action(page.files, "refused broken")
    assert "this is no JSON" in QGuiApplication.clipboard().text()
    QGuiApplication.clipboard().clear()
    go_to(page.files, "refused broken")
    QTest.keyClick(page.files, Qt.Key.Key_C, CTRL)
    assert QGuiApplication.clipboard().text() == "broken.json\tbroken.json, line 3: this is no JSON (Expecting ',' delimiter)."
    QGuiApplication.clipboard().clear()


def test_del_takes_away_what_was_opened(page: FilesPage) -> None:
    page.show_part(FILES)
    heard = Heard(page.remove_requested)
    go_to(page.files, "opened ior")
    QTest.keyClick(page.files, Qt.Key.Key_Delete)
    go_to(page.files, "read ior")
    QTest.keyClick(page.files, Qt.Key.Key_Delete)
    assert heard.said == [(Path("ior-4.1.json"),)]


def test_files_and_folders_are_opened(qtbot: QtBot, page: FilesPage, tmp_path: Path) -> None:
    heard = Heard(page.open_requested, page.refresh_requested)
    file = tmp_path / "fio.json"
    file.write_text("{}")
    with with_file(file):
        click(child(page, QPushButton, "files.open"))
    with with_file(tmp_path):
        click(child(page, QPushButton, "files.open_folder"))
    assert heard.said == [([file],), ([tmp_path],)]
    press(page, Qt.Key.Key_F5)
    qtbot.waitUntil(lambda: heard.said[2:] == [()])  # a button that a key presses is seen to go down


def test_before_anything_was_opened_it_says_what_would_fill_it(qtbot: QtBot) -> None:
    page = page_of(qtbot, Found(), SMALL)
    read = "\n".join(labels(page))
    for part in ("Drop a folder of a run", "sacct output", "Megatron-LM", "fio", "a CSV whose columns you name"):
        assert part in read
    click(child(page, QPushButton, "files.command.0"))
    assert QGuiApplication.clipboard().text() == COMMANDS[0]
    assert COMMANDS[0].startswith("sacct -D -P"), "without -D only the newest run of a requeued job shows"
    QGuiApplication.clipboard().clear()
    assert child(page, QPushButton, "files.empty.folder").isVisible()
    assert not page.bar.isEnabled()
    assert page.texts()[1] == []


def test_while_files_are_read_there_is_a_bar_and_a_stop(qtbot: QtBot) -> None:
    page = page_of(qtbot, found(is_reading=True))
    heard = Heard(page.stopped)
    page.show_progress(0.43)
    assert child(page, QProgressBar, "files.progress").value() == 430
    assert said(page, "share") == "43 %"
    assert said(page, "reading") == "Reading ior-4.1.json and 1 more"
    click(child(page, QPushButton, "files.stop"))
    assert heard.said == [()]
    page.show_found(found(was_stopped=True))
    assert not child(page, QProgressBar, "files.progress").isVisible()
    assert said(page, "verdict_line") == "Stopped before all was read."


@pytest.mark.parametrize(
    ("gathered", "sentence"),
    [
        (Gathered(), "There are no files in what was opened."),
        (Gathered(unknown=("a.txt",), unknown_count=1), "The file that was opened says nothing about any input."),
        (Gathered(refused=(("a", "a: bad."),), unknown=("b",), unknown_count=1200),
         "None of the 1,201 files that were opened says anything about any input."),
    ],
)  # fmt: skip
def test_files_that_say_nothing_are_told(qtbot: QtBot, gathered: Gathered, sentence: str) -> None:
    page = page_of(qtbot, found(gathered=gathered, reading=Reading((), None), meaning=Meaning()))
    assert said(page, "sentence") == sentence


# ---------------------------------------------------------------- a week later


def test_planned_stands_beside_observed(page: FilesPage) -> None:
    page.show_part(OBSERVED)
    assert said(page, "verdict") == str(VERDICT).replace("\u00a0", " ")
    heads, rows = page.texts()
    assert heads == ["Figure", "Planned", "Observed", "90 % interval", "Verdict"]
    assert [row[0] for row in rows] == [str(one.title) for one in SEEN]
    assert [cell.replace("\u00a0", " ") for cell in rows[0]] == ["Interrupted every", "200 h", "267 h", "201 h to 362 h",
                                                                 "more than planned"]  # fmt: skip
    assert rows[5][1:3] == ["99.46\u00a0%", "99.31\u00a0%"]
    assert "Stop time: 5.07 s, as planned (5 s)." in page.observed.rows.accessibleDescription()
    assert page.observed.rows.tip_at(QPointF(40, 40)) == "267 h, more than planned (200 h)."
    assert page.observed.rows.grab().width() > 400


def test_without_a_log_nothing_is_held_against_the_plan(qtbot: QtBot) -> None:
    page = page_of(qtbot, found(meaning=Meaning()))
    page.show_part(OBSERVED)
    assert said(page, "verdict") == "Nothing to hold against the plan yet"
    assert "after a week" in said(page, "verdict_note")


# ---------------------------------------------------------------- layout


@pytest.mark.parametrize("size", [SMALL, LARGE, (2200, 1200)])
def test_nothing_is_cut(qtbot: QtBot, size: tuple[int, int]) -> None:
    page = page_of(qtbot, found(QUESTION), size)
    for part in ("values", FILES, OBSERVED):
        page.show_part(part)
        QApplication.processEvents()
        for button in page.findChildren(QAbstractButton):
            if button.isVisible() and button.text():
                assert button.width() >= button.minimumSizeHint().width(), button.text()
        for label in page.findChildren(QLabel):
            if label.isVisible() and label.wordWrap():
                assert label.height() >= label.heightForWidth(label.width()), label.text()
    table = page.found
    assert sum(table.columnWidth(at) for at in range(7)) == table.viewport().width()
    assert not table.horizontalScrollBar().isVisible()


@pytest.mark.parametrize("part", ["values", FILES, OBSERVED])
def test_each_part_has_a_picture_and_a_table(qapp: QApplication, page: FilesPage, part: str) -> None:
    page.show_part(part)
    apply_theme(qapp, DARK)
    try:
        page.show_theme(DARK)
        QApplication.processEvents()
        picture = page.picture.grab().toImage()
    finally:
        apply_theme(qapp, LIGHT)
    assert picture.pixelColor(2, 4).name().upper() == DARK.surface
    heads, rows = page.texts()
    assert rows
    assert {len(row) for row in rows} == {len(heads)}


def test_the_models_are_sound(page: FilesPage, qtmodeltester: Any) -> None:
    qtmodeltester.check(page.found.model())
    qtmodeltester.check(page.files.model())


# ---------------------------------------------------------------- the desk


class Fakes:
    """Tools that note what they were called with; each may be held up until `go` is set."""

    def __init__(self) -> None:
        self.gathers: list[tuple[list[Path], Mapping[str, Any]]] = []
        self.reads: list[tuple[list[str], Choices, int]] = []
        self.judged: list[str] = []
        self.go = threading.Event()
        self.go.set()
        self.hold_reads = threading.Event()
        self.error: Exception | None = None
        self.effects: Callable[[NamedScenario], Sequence[Effect]] = lambda named: EFFECTS

    def gather(self, paths: Sequence[Path], progress: Progress, mappings: Mapping[str, Any], telling: Telling) -> Gathered:
        self.gathers.append((list(paths), mappings))
        telling("run/rank0.log", 12, 40)
        progress(0.5)
        while not self.go.wait(0.005):
            progress(0.5)
        if self.error is not None:
            raise self.error
        return found().gathered

    def read(self, files: Sequence[Any], choices: Choices, nodes: int) -> Reading:
        self.reads.append(([one.file for one in files], choices, nodes))
        while self.hold_reads.is_set():
            time.sleep(0.005)
        questions = () if choices.answers else (QUESTION,)
        return Reading(tuple(one.estimate for one in EFFECTS), None, questions)

    def judge(self, named: NamedScenario, plan: object, reading: Reading, progress: Progress) -> Meaning:
        self.judged.append(named.name)
        return replace(found().meaning, effects=tuple(self.effects(named)))

    def tools(self) -> Tools:
        return Tools(self.gather, self.read, self.judge, adopted)


@pytest.fixture
def fakes() -> Fakes:
    return Fakes()


@pytest.fixture
def desk(qtbot: QtBot, fakes: Fakes) -> Iterator[EvidenceDesk]:
    made = EvidenceDesk(fakes.tools())
    named = NamedScenario(name="5 min")
    made.show_plan(named, plan_of(named))
    made.watch(is_watched=True)
    yield made
    fakes.go.set()
    made.close()
    made.deleteLater()


@pytest.fixture
def real_desk(qtbot: QtBot) -> Iterator[EvidenceDesk]:
    """A desk with the readers and the engine themselves; it judges no plan."""
    made = EvidenceDesk(tools.tools())
    yield made
    made.close()
    made.deleteLater()


def settled(qtbot: QtBot, desk: EvidenceDesk) -> Found:
    qtbot.waitUntil(lambda: not desk.is_busy, timeout=10_000)
    return desk.found


def test_files_are_gathered_read_and_judged(qtbot: QtBot, desk: EvidenceDesk, fakes: Fakes, tmp_path: Path) -> None:
    told = Heard(desk.progressed)
    desk.open([tmp_path])
    assert desk.found.is_reading
    shown = settled(qtbot, desk)
    assert (shown.is_reading, shown.is_stale, shown.trouble) == (False, False, "")
    assert shown.meaning.effects == EFFECTS
    assert fakes.gathers == [([tmp_path], {})]
    assert fakes.reads == [(["sacct_parsable2.txt", "megatron-lm.log", "ior-4.1.json"], Choices(), 32)]
    assert told.said
    desk.open([tmp_path])
    assert settled(qtbot, desk).paths == (tmp_path,), "the same folder again is the same folder"
    assert len(fakes.gathers) == 2, "it is read anew"


def test_choices_are_read_without_opening_files_again(qtbot: QtBot, desk: EvidenceDesk, fakes: Fakes, tmp_path: Path) -> None:
    desk.open([tmp_path])
    assert settled(qtbot, desk).reading.questions == (QUESTION,)  # type: ignore[union-attr]
    heard = Heard(desk.reading_changed)
    desk.choose(Choices(answers=((QUESTION.id, "stop"),), left_out=frozenset({"ior-4.1.json"})))
    assert settled(qtbot, desk).reading.questions == ()  # type: ignore[union-attr]
    assert len(fakes.gathers) == 1
    assert fakes.reads[-1][0] == ["sacct_parsable2.txt", "megatron-lm.log"]
    assert len(heard.said) == 1


def test_another_plan_is_judged_anew_and_other_nodes_are_read_anew(
    qtbot: QtBot, desk: EvidenceDesk, fakes: Fakes, tmp_path: Path
) -> None:
    desk.open([tmp_path])
    settled(qtbot, desk)
    named = NamedScenario(name="20 min")
    desk.show_plan(named, plan_of(named))
    assert desk.found.is_stale
    assert settled(qtbot, desk).is_stale is False
    assert (fakes.judged, len(fakes.reads)) == (["5 min", "20 min"], 1)
    work = named.scenario.workload.model_copy(update={"nodes": 64})
    larger = named.model_copy(update={"scenario": named.scenario.model_copy(update={"workload": work})})
    desk.show_plan(larger, plan_of(larger))
    settled(qtbot, desk)
    assert [nodes for _, _, nodes in fakes.reads] == [32, 64]


def test_while_nobody_looks_no_plan_is_judged(qtbot: QtBot, desk: EvidenceDesk, fakes: Fakes, tmp_path: Path) -> None:
    desk.watch(is_watched=False)
    desk.open([tmp_path])
    settled(qtbot, desk)
    assert fakes.judged == []
    desk.watch(is_watched=True)
    settled(qtbot, desk)
    assert fakes.judged == ["5 min"]


def test_reading_can_be_stopped(qtbot: QtBot, desk: EvidenceDesk, fakes: Fakes, tmp_path: Path) -> None:
    desk.open([tmp_path])
    settled(qtbot, desk)
    fakes.go.clear()
    desk.refresh()
    assert desk.found.is_reading
    desk.stop()
    assert desk.found.was_stopped
    assert settled(qtbot, desk).meaning.effects == EFFECTS, "what was found before stays"


def test_a_bug_in_a_reader_is_told_and_nothing_is_lost(qtbot: QtBot, desk: EvidenceDesk, fakes: Fakes, tmp_path: Path) -> None:
    desk.open([tmp_path])
    settled(qtbot, desk)
    fakes.error = ValueError("odd")
    desk.refresh()
    shown = settled(qtbot, desk)
    assert "odd" in shown.trouble
    assert shown.meaning.effects == EFFECTS


def test_trouble_with_a_plan_does_not_lose_files_that_are_being_gathered(
    qtbot: QtBot, desk: EvidenceDesk, fakes: Fakes, tmp_path: Path
) -> None:
    def odd(named: NamedScenario) -> Sequence[Effect]:
        raise ValueError("odd")

    desk.open([tmp_path])
    settled(qtbot, desk)
    fakes.go.clear()
    desk.refresh()
    fakes.effects = odd
    named = NamedScenario(name="20 min")
    desk.show_plan(named, plan_of(named))
    desk._judge()  # noqa: SLF001 - what the timer does when nothing changes for a moment
    qtbot.waitUntil(lambda: "odd" in desk.found.trouble, timeout=10_000)
    assert desk.found.is_reading
    fakes.effects = lambda named: EFFECTS
    fakes.go.set()
    shown = settled(qtbot, desk)
    assert (len(fakes.reads), shown.trouble, shown.is_reading) == (2, "", False)


def test_other_nodes_while_files_are_read_are_read_for(qtbot: QtBot, desk: EvidenceDesk, fakes: Fakes, tmp_path: Path) -> None:
    fakes.hold_reads.set()
    desk.open([tmp_path])
    qtbot.waitUntil(lambda: len(fakes.reads) == 1, timeout=10_000)
    named = NamedScenario(name="5 min")
    work = named.scenario.workload.model_copy(update={"nodes": 64})
    larger = named.model_copy(update={"scenario": named.scenario.model_copy(update={"workload": work})})
    desk.show_plan(larger, plan_of(larger))
    fakes.hold_reads.clear()
    settled(qtbot, desk)
    assert [nodes for _, _, nodes in fakes.reads] == [32, 64]


def test_a_stop_goes_back_to_the_choices_of_what_is_shown(
    qtbot: QtBot, desk: EvidenceDesk, fakes: Fakes, tmp_path: Path
) -> None:
    desk.open([tmp_path])
    settled(qtbot, desk)
    fakes.go.clear()
    desk.refresh()
    desk.choose(Choices(merge_s=300.0))
    assert desk.found.choices.merge_s == 300.0
    desk.stop()
    assert desk.found.choices == Choices()
    fakes.go.set()
    settled(qtbot, desk)
    desk.choose(Choices(merge_s=300.0))
    settled(qtbot, desk)
    assert fakes.reads[-1][1].merge_s == 300.0


def test_removing_the_last_one_empties_the_desk(qtbot: QtBot, desk: EvidenceDesk, fakes: Fakes, tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    desk.open([one, two])
    settled(qtbot, desk)
    desk.map_columns("one/a.csv", "columns")
    settled(qtbot, desk)
    assert fakes.gathers[-1] == ([one, two], {"one/a.csv": "columns"})
    desk.remove(one)
    assert settled(qtbot, desk).paths == (two,)
    desk.remove(two)
    assert (desk.found.paths, desk.found.reading) == ((), None)


def test_a_file_is_found_again_by_its_name(qtbot: QtBot, real_desk: EvidenceDesk, tmp_path: Path) -> None:
    (tmp_path / "run" / "logs").mkdir(parents=True)
    file, other = tmp_path / "run" / "logs" / "a.csv", tmp_path / "b.csv"
    for path in (file, other):
        path.write_text("a,b\n")
    real_desk.open([tmp_path / "run", other])
    settled(qtbot, real_desk)
    assert real_desk.path_of("run/logs/a.csv") == file
    assert real_desk.path_of("b.csv") == other
    assert real_desk.path_of("run/gone.csv") is None
    other.unlink()
    assert real_desk.path_of("b.csv") is None


def test_the_file_that_is_read_is_named(qtbot: QtBot, desk: EvidenceDesk, fakes: Fakes, tmp_path: Path) -> None:
    page = page_of(qtbot, desk.found)
    desk.changed.connect(lambda: page.show_found(desk.found))
    desk.told.connect(page.show_file)
    fakes.go.clear()
    desk.open([tmp_path])
    qtbot.waitUntil(lambda: "Reading run/rank0.log, 12 of 40" in labels(page))
    fakes.go.set()
    settled(qtbot, desk)
    told = Heard(desk.told)
    fakes.go.clear()
    desk.refresh()
    desk.stop()
    fakes.go.set()
    qtbot.wait(50)
    assert told.said == [], "what was given up says nothing any more"


def two_exports(tmp_path: Path) -> list[Path]:
    """Two tables of the same name in two folders, one row and two rows."""
    paths = [tmp_path / folder / "sacct.csv" for folder in ("week1", "week2")]
    for rows, path in enumerate(paths, start=1):
        path.parent.mkdir()
        path.write_text("time,kind\n" + "".join(f"2026-11-0{day}T00:00:00,node\n" for day in range(1, rows + 1)))
    return paths


def test_files_of_the_same_name_are_told_apart(qtbot: QtBot, real_desk: EvidenceDesk, tmp_path: Path) -> None:
    one, two = two_exports(tmp_path)
    real_desk.open([one, two])
    files = settled(qtbot, real_desk).gathered.files
    assert [(file.file, len(file.events)) for file in files] == [("week1/sacct.csv", 1), ("week2/sacct.csv", 2)]
    assert (real_desk.path_of("week1/sacct.csv"), real_desk.path_of("week2/sacct.csv")) == (one, two)


def test_what_was_left_out_stays_left_out_when_its_name_changes(qtbot: QtBot, real_desk: EvidenceDesk, tmp_path: Path) -> None:
    one, two = two_exports(tmp_path)
    real_desk.open([one])
    settled(qtbot, real_desk)
    real_desk.choose(Choices(left_out=frozenset({"sacct.csv"})))
    settled(qtbot, real_desk)
    real_desk.open([two])
    assert settled(qtbot, real_desk).choices.left_out == {"week1/sacct.csv"}
    real_desk.remove(one)
    shown = settled(qtbot, real_desk)
    assert [file.file for file in shown.gathered.files] == ["sacct.csv"]
    assert "sacct.csv" not in shown.choices.left_out, "that is the other file now"


def test_the_columns_of_one_file_are_not_those_of_another_of_its_name(
    qtbot: QtBot, real_desk: EvidenceDesk, tmp_path: Path
) -> None:
    paths = [tmp_path / folder / "pager.csv" for folder in ("a", "b")]
    for path in paths:
        path.parent.mkdir()
        path.write_text("when it was,what broke\n2026-10-02 03:14,node\n2026-10-09 11:40,process\n")
    real_desk.open([paths[0]])
    assert settled(qtbot, real_desk).gathered.tables == ("pager.csv",)
    real_desk.map_columns("pager.csv", ColumnMapping(time="when it was"))
    assert [len(file.events) for file in settled(qtbot, real_desk).gathered.files] == [2]
    real_desk.open([paths[1]])
    shown = settled(qtbot, real_desk)
    assert [file.file for file in shown.gathered.files] == ["a/pager.csv"]
    assert shown.gathered.tables == ("b/pager.csv",)


# ---------------------------------------------------------------- in the window


def changed(named: NamedScenario) -> tuple[Effect, ...]:
    """The effects as they are for a scenario: what it has already changes nothing."""
    has = named.scenario.failures.mtbi_s == 961_200.0
    return tuple(
        replace(one, in_use=named.scenario.failures.mtbi_s, usd_per_month=0.0 if has else -4212.0,
                in_use_source="log" if has else "article")
        if one.estimate is MTBI else one
        for one in EFFECTS
    )  # fmt: skip


@pytest.fixture
def faked(monkeypatch: pytest.MonkeyPatch, fakes: Fakes) -> Fakes:
    fakes.effects = changed
    monkeypatch.setattr(tools, "tools", fakes.tools)
    return fakes


def drop_all(window: QWidget, files: Sequence[Path]) -> bool:
    mime = QMimeData()
    mime.setUrls([QUrl.fromLocalFile(str(file)) for file in files])
    place, copy = window.rect().center(), Qt.DropAction.CopyAction
    entering = QDragEnterEvent(place, copy, mime, LEFT, NO_KEYS)
    QApplication.sendEvent(window, entering)
    dropping = QDropEvent(QPointF(place), copy, mime, LEFT, NO_KEYS)
    QApplication.sendEvent(window, dropping)
    return entering.isAccepted() and dropping.isAccepted()


def evidence_of(window: QWidget) -> EvidenceView:
    view = child(window, EvidenceView, "evidence_view")
    assert isinstance(view, EvidenceView)
    return view


def test_a_folder_is_dropped_m_adopted_and_taken_back(qtbot: QtBot, open_window: Open, faked: Fakes, tmp_path: Path) -> None:
    window, store = open_window()
    run = tmp_path / "run-42"
    run.mkdir()
    assert drop_all(window, [run])
    view = evidence_of(window)
    assert view.files.isVisible()
    settled(qtbot, view.desk)
    before = plan_of(store.workbook.shown).waste
    click_action(view.files.found, "mtbi")
    failures = store.workbook.shown.scenario.failures
    assert (failures.mtbi_s, failures.mtbi_nodes) == (961_200.0, 32)
    source = store.workbook.shown.source_of("failures.mtbi_s")
    assert source is not None
    assert (source.kind, source.low, source.high, source.count) == ("log", 723_600.0, 1_303_200.0, 23)
    assert plan_of(store.workbook.shown).waste != before
    settled(qtbot, view.desk)
    assert row(view.files, "Interrupted every")[-1] == "in use"
    store.undo_stack.undo()
    assert store.workbook.shown.scenario.failures.mtbi_s == 720_000.0
    assert not store.undo_stack.canUndo(), "it was one step"
    settled(qtbot, view.desk)
    assert row(view.files, "Interrupted every")[-1] == "Adopt"


def test_all_proposed_are_one_step(qtbot: QtBot, open_window: Open, faked: Fakes, tmp_path: Path) -> None:
    window, store = open_window()
    assert drop_all(window, [tmp_path])
    view = evidence_of(window)
    settled(qtbot, view.desk)
    before = store.workbook
    click(child(view, QPushButton, "files.adopt_all"))
    assert store.workbook.shown.scenario.storage.blocking_s == 5.067
    assert store.workbook.shown.scenario.failures.detect_s == 121.0
    store.undo_stack.undo()
    assert store.workbook == before


def test_several_files_go_to_the_page_and_a_single_log_is_replayed(
    qtbot: QtBot, open_window: Open, faked: Fakes, tmp_path: Path
) -> None:
    window, _ = open_window()
    one, two = tmp_path / "mine.csv", tmp_path / "fio.json"
    one.write_text("time\n2026-09-01T02:10\n2026-09-03T11:40\n")
    two.write_text("{}")
    assert drop_all(window, [one, two])
    view = evidence_of(window)
    settled(qtbot, view.desk)
    assert faked.gathers[-1][0] == [one, two]
    press(window, Qt.Key.Key_5, CTRL)
    assert view.logs.isVisible()
    assert drop_all(view, [one])
    assert view.logs.log.name == "mine"
    press(window, Qt.Key.Key_E, CTRL | Qt.KeyboardModifier.ShiftModifier)
    assert view.files.isVisible()
    three = tmp_path / "notes.txt"
    three.write_text("x")
    assert drop_all(view, [three]), "on the page itself any file may be dropped"
    settled(qtbot, view.desk)
    assert view.desk.found.paths == (one, two, three)


def test_a_folder_with_a_model_is_a_model_and_one_of_a_run_is_not(tmp_path: Path) -> None:
    from ckptplanner.ui.drops import is_model

    model, run = tmp_path / "model", tmp_path / "checkpoint-100"
    for folder in (model, run):
        folder.mkdir()
        (folder / "config.json").write_text("{}")
    (run / "trainer_state.json").write_text("{}")
    other = tmp_path / "fio.json"
    other.write_text('{"fio version": "fio-3.33"}')
    assert [is_model(path) for path in (model, run, model / "config.json", other, tmp_path)] == [
        True,
        False,
        True,
        False,
        False,
    ]


def test_what_cannot_be_adopted_is_said_at_its_field(open_window: Open) -> None:
    window, store = open_window()
    heard = Heard(store.edit_rejected)

    def refuse(named: NamedScenario) -> NamedScenario:
        raise EditError("storage.blocking_s", "no")

    store.apply(refuse, "x")
    assert heard.said == [("storage.blocking_s", "no")]
    assert not store.undo_stack.canUndo()
    assert window.isVisible()


def test_the_place_of_an_action_is_inside_its_row(page: FilesPage) -> None:
    place = page.found.action_place(page.found.lines[1].key)
    assert isinstance(place, QPoint)
    assert page.found.line_at(place) is page.found.lines[1]


def test_a_model_beside_what_a_run_left_is_one_of_its_files(tmp_path: Path) -> None:
    """A folder of Hugging Face is a model; with a log or results in it, it is a run; the plan is not changed unasked."""
    from ckptplanner.ui.drops import is_model

    names = (
        "config.json", "generation_config.json", "tokenizer.json", "tokenizer_config.json", "merges.txt", "vocab.json",
        "model-00001-of-00002.safetensors", "model.safetensors.index.json", "README.md", "LICENSE", ".gitattributes",
    )  # fmt: skip
    for name in names:
        (tmp_path / name).write_text("{}")
    assert is_model(tmp_path)
    for left in ("sacct.txt", "fio.json", "train.log", "logs"):
        beside = tmp_path / left
        beside.mkdir() if left == "logs" else beside.write_text("")
        assert not is_model(tmp_path), left
        beside.rmdir() if left == "logs" else beside.unlink()
