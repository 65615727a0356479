"""The window as people meet it: why, sources, findings, refusals, switches, themes, what is remembered, the small screen."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, QPoint, QRect, QSettings, Qt
from PySide6.QtGui import QAction, QPalette
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QLabel,
    QLineEdit,
    QListWidget,
    QMessageBox,
    QPushButton,
    QScrollArea,
    QSpinBox,
    QTableView,
    QWidget,
)
from pytestqt.qtbot import QtBot

from ckptplanner.engine.cards import Share
from ckptplanner.engine.evaluate import plan_of
from ckptplanner.engine.plan import SEVERITIES
from ckptplanner.engine.scenario import Workbook
from ckptplanner.engine.workbook_file import SUFFIX, read
from ckptplanner.text import Text
from ckptplanner.ui.findings_view import FindingRow, FindingsView
from ckptplanner.ui.headline import Bar, CardView
from ckptplanner.ui.ink import lines_of, width_of
from ckptplanner.ui.main_window import MainWindow
from ckptplanner.ui.source_popup import SourcePopup
from ckptplanner.ui.store import Store
from ckptplanner.ui.theme import DARK, LIGHT, apply_theme
from ckptplanner.ui.why import Link, WhyPopup
from ckptplanner.ui.widgets.field_row import ComputedRow
from ckptplanner.units import SECONDS, parse
from tests.pdf import text_of
from tests.ui.conftest import E1, Open
from tests.ui.hands import (
    CTRL,
    Answer,
    Handle,
    card,
    child,
    click,
    click_figure,
    drop,
    field,
    figures,
    headline,
    labels,
    plain,
    plot_figures,
    press,
    shown,
    table,
    type_into,
    with_button,
    with_file,
    with_text,
)

EXAMPLES = sorted(E1.parent.glob(f"*{SUFFIX}"))
Button = QMessageBox.StandardButton


@pytest.fixture(autouse=True)
def _light_again(qapp: QApplication) -> Iterator[None]:
    yield
    if qapp.palette().color(QPalette.ColorRole.Window).lightness() < 128:
        apply_theme(qapp, LIGHT)


def example(path: Path, scenario: str) -> Workbook:
    return read(path).model_copy(update={"current": scenario})


SCENARIOS = [
    pytest.param(path, one.name, id=f"{path.name.removesuffix(SUFFIX)}: {one.name}")
    for path in EXAMPLES
    for one in read(path).scenarios
]

# one of each kind: async and sync, bought and existing storage, a run of a day
KINDS = [one for one in SCENARIOS if one.values[1] in {"5 min", "sync 60 s", "async", "sharded read", "one node, one day"}]


def popup(window: QWidget, kind: type) -> QWidget:
    found = window.findChild(kind)
    assert found is not None
    return found


def has_focus(window: MainWindow, path: str) -> bool:
    """Whether the cursor is in the field at a path, or in the word that is chosen there."""
    now = window.focusWidget()
    return now is not None and any(home is now or home.isAncestorOf(now) for home in window.findChildren(QWidget, path))


# ---------------------------------------------------------------- why this number, and whose is it


@pytest.mark.parametrize(("file", "scenario"), KINDS)
def test_every_figure_says_why(open_window: Open, file: Path, scenario: str) -> None:
    window, _ = open_window(example(file, scenario))
    why = popup(window, WhyPopup)
    clickable = [figure for figure, _ in figures(window)]
    assert len(set(clickable)) >= 12
    for figure in dict.fromkeys(clickable):
        click_figure(window, figure)
        assert why.isVisible(), figure
        assert len(" ".join(labels(why))) > 40
        assert child(why, QLabel, "formula").text()
        why.close()


def test_the_rows_of_the_panels_are_laid_out_before_they_are_painted(qtbot: QtBot, settings: QSettings) -> None:
    window = MainWindow(Store(read(E1)), settings)
    qtbot.addWidget(window)
    with qtbot.waitSignal(window.ready):
        window.show()
        window.complete()
        scroll = child(window, QWidget, "panels").findChild(QScrollArea)
        assert scroll.widget().height() >= scroll.widget().minimumSizeHint().height() > scroll.height()
    qtbot.wait(50)  # what the first paint has put off comes to its end


def test_the_bars_and_the_computed_rows_say_why_too(open_window: Open) -> None:
    window, _ = open_window()
    why = popup(window, WhyPopup)
    others = [one for kind in (Bar, ComputedRow) for one in window.findChildren(kind) if one.isVisible()]
    assert len(others) == 8
    titles = set()
    for one in others:
        click(one)
        assert why.isVisible()
        titles.add(labels(why)[0])
        why.close()
    assert len(titles) == 7


@pytest.mark.parametrize("shown", ["<0.01 %", "12 %", "1,234 %"])
def test_a_share_never_stands_on_its_bar(qtbot: QtBot, shown: str) -> None:
    bar = Bar()
    qtbot.addWidget(bar)
    bar.resize(114, 17)
    bar.show_share(Share("network_fraction", Text("network"), 0.00001, shown), LIGHT, LIGHT.accent)
    assert bar.bar_room().right() <= bar.width() - width_of(shown)


def test_what_is_shortened_ends_with_a_whole_word(qtbot: QtBot) -> None:
    words = "A scheduler's end of a run is when the failure was noticed, not when it happened, and later than that."
    for width in range(120, 420, 7):
        last = lines_of(words, width, 1)[-1]
        assert last.endswith("…")
        assert words.startswith(last[:-1])
        assert words[len(last) - 1] == " "
        assert width_of(last) <= width


def test_a_value_of_a_derivation_leads_to_its_field(open_window: Open) -> None:
    """Each of them: a link that leads nowhere is worse than none."""
    window, _ = open_window()
    why, followed = popup(window, WhyPopup), set()
    for figure in dict.fromkeys(figure for figure, _ in figures(window)):
        click_figure(window, figure)
        goals = [link.objectName() for link in why.findChildren(Link) if "." in link.objectName()]
        why.close()
        for goal in goals:
            if goal in followed:
                continue
            click_figure(window, figure)
            click(child(why, Link, goal))
            assert not why.isVisible()
            assert has_focus(window, goal), f"{figure}: {goal}"
            followed.add(goal)
    assert {"storage.write_s", "workload.nodes", "storage.blocking_s", "failures.detect_s"} <= followed


def test_a_figure_in_a_derivation_opens_its_own_and_leads_back(open_window: Open) -> None:
    window, _ = open_window()
    why = popup(window, WhyPopup)
    click_figure(window, "required_write_bytes_per_s")
    first = labels(why)[0]
    click(child(why, Link, "checkpoint_bytes"))
    assert why.isVisible()
    assert labels(why)[0] != first
    click(child(why, QAbstractButton, "back"))
    assert labels(why)[0] == first
    QTest.keyClick(why, Qt.Key.Key_Escape)
    assert not why.isVisible()


def source_word(window: QWidget, path: str) -> QPushButton:
    holder = field(window, path).parentWidget()
    word = next(button for button in holder.findChildren(QPushButton) if button.property("role") == "source")
    assert isinstance(word, QPushButton)
    return word


def test_the_source_word_opens_the_source(open_window: Open) -> None:
    window, _ = open_window()
    source = popup(window, SourcePopup)
    word = source_word(window, "failures.mtbi_s")
    assert word.text() == "article"
    click(word)
    assert source.isVisible()
    words = "\n".join(labels(source))
    assert "200 h" in words
    assert "How to measure it" in words
    source.close()


def test_another_source_is_taken_over_by_a_click(open_window: Open) -> None:
    window, store = open_window()
    source = popup(window, SourcePopup)
    click(source_word(window, "failures.mtbi_s"))
    other = next(link for link in source.findChildren(Link) if link.objectName().startswith("use:"))
    value = other.text()
    click(other)
    assert not source.isVisible()
    assert store.workbook.shown.scenario.failures.mtbi_s == pytest.approx(parse(value, SECONDS), rel=0.01)
    assert source_word(window, "failures.mtbi_s").text() == "typed"
    assert store.undo_stack.count() == 1


# ---------------------------------------------------------------- findings


def count_button(window: QWidget, severity: str) -> QPushButton:
    button = child(window, QPushButton, f"findings.{severity}")
    assert isinstance(button, QPushButton)
    return button


@pytest.mark.parametrize(("file", "scenario"), KINDS)
def test_every_finding_is_counted_and_leads_to_its_field(open_window: Open, file: Path, scenario: str) -> None:
    window, store = open_window(example(file, scenario))
    findings, view = plan_of(store.workbook.shown).findings, popup(window, FindingsView)
    for severity in SEVERITIES:
        assert count_button(window, severity).text() == str(sum(one.severity == severity for one in findings))
    assert findings
    for index, finding in enumerate(findings):
        click(count_button(window, "error"))
        QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)  # the rows of the time before
        assert view.isVisible()
        rows = [row for row in view.findChildren(FindingRow) if row.isVisible()]
        assert [row.finding for row in rows] == list(findings)
        assert finding.message.replace("\u00a0", " ") in "\n".join(labels(rows[index]))
        click(rows[index])
        assert not view.isVisible()
        assert has_focus(window, finding.path) or has_focus(window, finding.path.rpartition(".")[0]), finding.path


def test_an_error_is_counted_at_once(open_window: Open) -> None:
    window, _ = open_window()
    assert count_button(window, "error").text() == "0"
    type_into(window, "storage.generations_kept", "1")
    assert count_button(window, "error").text() == "1"


# ---------------------------------------------------------------- what is refused


@pytest.mark.parametrize(("text", "note"), [("5 minn", "Write 90 s, 5 min or 1.5 h."), ("0", "Between"), ("-3 min", "Between")])
def test_a_refused_value_says_so_and_the_last_good_plan_stays(open_window: Open, text: str, note: str) -> None:
    window, store = open_window()
    before, tag, stale = headline(window), plot_figures(window), child(window, QLabel, "stale")
    assert not stale.text()
    edit = type_into(window, "storage.write_s", text)
    assert edit.text() == text
    assert edit.property("state") == "error"
    assert any(note in words for words in labels(edit.parentWidget().parentWidget()))
    assert "last good plan" in stale.text()
    assert stale.isVisible()
    assert (headline(window), plot_figures(window)) == (before, tag)
    assert store.undo_stack.count() == 0
    type_into(window, "storage.write_s", "10 min")
    assert not stale.text()
    assert plot_figures(window).startswith("10 min")


def test_escape_takes_a_refused_text_back(open_window: Open) -> None:
    window, _ = open_window()
    edit = type_into(window, "storage.write_s", "soon")
    QTest.keyClick(edit, Qt.Key.Key_Escape)
    assert shown(window, "storage.write_s") == "5 min"
    assert not child(window, QLabel, "stale").text()


def test_a_refused_name_does_not_leave_the_plan_marked_as_old(open_window: Open) -> None:
    window, store = open_window()
    with with_text("20 min"):
        press(window, Qt.Key.Key_F2)
    assert store.workbook.current == "5 min"
    assert "name" in window.statusBar().currentMessage()
    with with_text("another"):
        press(window, Qt.Key.Key_F2)
    assert store.workbook.current == "another"
    assert not child(window, QLabel, "stale").text()


def test_another_plan_takes_a_refused_text_away(open_window: Open) -> None:
    """Also where the other plan holds the same value."""
    window, store = open_window()
    type_into(window, "storage.write_s", "soon")
    store.open(E1.with_name(f"one-node-fine-tune{SUFFIX}"))
    assert shown(window, "storage.write_s") == "5 min"
    assert not child(window, QLabel, "stale").text()


def test_another_scenario_takes_a_refused_text_away(open_window: Open) -> None:
    window, store = open_window()
    press(window, Qt.Key.Key_D, CTRL)
    type_into(window, "storage.write_s", "soon")
    store.switch("5 min")
    assert shown(window, "storage.write_s") == "5 min"
    assert not child(window, QLabel, "stale").text()


# ---------------------------------------------------------------- switches


def waste(window: QWidget) -> str:
    return dict(figures(window))["waste_fraction"]


def test_ideal_and_allowances(open_window: Open) -> None:
    window, store = open_window()
    ideal, allowances = (child(window, QPushButton, f"ideal.{name}") for name in ("ideal", "allowances"))
    assert ideal.isChecked()
    assert waste(window) == "0.54 %"
    click(allowances)
    assert allowances.isChecked()
    assert waste(window) in ("1 %", "1.00 %")
    assert plan_of(store.workbook.shown).waste.exact_fraction == pytest.approx(0.0100, abs=5e-5)  # type: ignore[union-attr]
    assert source_word(window, "failures.detect_s").text() == "guess"
    type_into(window, "failures.detect_s", "5 min")
    assert not ideal.isChecked()
    assert not allowances.isChecked()
    click(ideal)
    assert waste(window) == "0.54 %"
    assert store.undo_stack.count() == 3


def dollars(text: str) -> float:
    """$21.9k, $262,300 or 4,080 as a number."""
    number = re.search(r"[\d.,]+", text)
    assert number is not None
    scale = {"k": 1e3, "M": 1e6, "B": 1e9}.get(text[number.end() : number.end() + 1], 1.0)
    return float(number[0].replace(",", "")) * scale


def test_every_dollar_follows_the_basis(open_window: Open) -> None:
    window, _ = open_window()
    type_into(window, "run.days", "73")  # a fifth of a year
    month, rows = dict(figures(window)), table(window)
    money = {figure for figure, text in month.items() if "$" in text}
    assert money == {"total_usd", "storage_usd", "lost_gpu_usd"}
    why = popup(window, WhyPopup)
    for basis, factor, words in (("year", 12.0, "a year"), ("run", 12.0 / 5, "for the run"), ("month", 1.0, "a month")):
        click(child(window, QPushButton, f"basis.{basis}"))
        now = dict(figures(window))
        for figure in money:
            assert dollars(now[figure]) == pytest.approx(factor * dollars(month[figure]), rel=0.01), figure
        assert words in card(window, "COSTS")
        assert words in card(window, "BUY")
        header = child(window, QWidget, "options_table").model().headerData(7, Qt.Orientation.Horizontal)
        assert header == f"$ {words}"
        for row, old in zip(table(window), rows, strict=True):
            assert dollars(row[7]) == pytest.approx(factor * dollars(old[7]), rel=0.01)
            assert dollars(row[9]) == pytest.approx(factor * dollars(old[9]), rel=0.01)
        click_figure(window, "storage_usd")
        assert dollars(now["storage_usd"]) == pytest.approx(dollars(result(why)), rel=0.01)
        why.close()


def result(why: QWidget) -> str:
    """The result that a derivation ends with."""
    return plain(child(why, QLabel, "substituted").text()).rpartition("=")[2]


def test_the_theme_goes_both_ways(open_window: Open, settings: QSettings, qapp: QApplication) -> None:
    window, _ = open_window()
    sentence = child(window, QLabel, "sentence")
    QApplication.processEvents()  # plots find their final size in the first turn of the event loop
    ground, picture = qapp.palette().color(QPalette.ColorRole.Window), window.grab().toImage()
    assert LIGHT.text in sentence.text()
    for theme in (DARK, LIGHT):
        action = next(one for one in window.findChildren(QAction) if one.data() == theme.name)
        action.trigger()
        assert theme.text in sentence.text()
        assert settings.value("theme") == theme.name
        assert action.isChecked()
        is_light = theme is LIGHT
        assert (qapp.palette().color(QPalette.ColorRole.Window) == ground) is is_light
        assert (window.grab().toImage() == picture) is is_light


def section_header(window: QWidget, title: str) -> QAbstractButton:
    return next(one for one in window.findChildren(QAbstractButton) if one.accessibleName() == title and one.isCheckable())


def test_the_window_comes_back_as_it_was(open_window: Open) -> None:
    window, _ = open_window()
    click(section_header(window, "Failures"), QPoint(60, 10))
    click(child(window, QPushButton, "basis.year"))
    next(one for one in window.findChildren(QAction) if one.data() == "dark").trigger()
    assert not field(window, "failures.mtbi_s").isVisible()
    window.close()
    again, _ = open_window()
    assert not field(again, "failures.mtbi_s").isVisible()
    assert field(again, "storage.write_s").isVisible()
    assert child(again, QPushButton, "basis.year").isChecked()
    assert "a year" in card(again, "COSTS")
    assert DARK.text in child(again, QLabel, "sentence").text()


# ---------------------------------------------------------------- the small screen


def clipped(label: QLabel) -> str:
    """How a label cuts what it says; empty where it does not."""
    room = label.contentsRect()
    if label.wordWrap():
        needed = label.heightForWidth(label.width())
        return f"{plain(label.text())!r} needs {needed} of {label.height()} px" if needed > label.height() + 1 else ""
    needed = label.sizeHint().width() if "<" in label.text() else label.fontMetrics().horizontalAdvance(label.text())
    have = label.width() if "<" in label.text() else room.width()
    return f"{plain(label.text())!r} needs {needed} of {have} px" if needed > have + 1 else ""


@pytest.mark.parametrize(("file", "scenario"), SCENARIOS)
def test_nothing_is_cut_on_the_smallest_screen(open_window: Open, file: Path, scenario: str) -> None:
    window, _ = open_window(example(file, scenario))
    window.resize(1180, 720)
    QApplication.processEvents()
    assert (window.width(), window.height()) == (1180, 720), "what is inside wants more than the smallest window"
    for basis in ("month", "run", "year"):
        click(child(window, QPushButton, f"basis.{basis}"))
        QApplication.processEvents()
        assert cut_in_headline(child(window, QWidget, "headline")) == []


def cut_in_headline(head: QWidget) -> list[str]:
    """What does not fit into the headline: cards and their lines side by side, and every word on them."""
    cards = head.findChildren(CardView)
    assert len(cards) == 5
    places = [QRect(one.mapTo(head, QPoint(0, 0)), one.size()) for one in cards]
    assert all(head.rect().contains(place) for place in places)
    assert all(left.right() < right.left() for left, right in pairwise(places))
    for part in cards:
        inside = [one for one in part.findChildren(QWidget) if one.isVisible()]
        assert all(part.rect().contains(one.geometry()) for one in inside)
        ordered = sorted((one.geometry() for one in inside), key=QRect.top)
        assert all(above.bottom() < below.top() for above, below in pairwise(ordered))
    return [cut for label in head.findChildren(QLabel) if label.isVisible() and (cut := clipped(label))]


def test_panels_and_bar_cut_no_word(open_window: Open) -> None:
    window, _ = open_window()
    window.resize(1180, 720)
    QApplication.processEvents()
    panels = next(one for one in window.findChildren(QScrollArea) if one.widget() and one.widget().property("role") == "panel")
    cut = [cut for label in panels.widget().findChildren(QLabel) if label.isVisible() and (cut := clipped(label))]
    assert cut == []
    narrow = [
        edit.objectName() for edit in panels.widget().findChildren(QLineEdit)
        if edit.isVisible() and edit.fontMetrics().horizontalAdvance(edit.text()) > edit.width() - 12
    ]  # fmt: skip
    assert narrow == ["workload.model"], "names of models may be longer than any field"
    bar = child(window, QWidget, "scenario_bar")
    buttons = [one for one in bar.findChildren(QPushButton) if one.isVisible()]
    assert len(buttons) == 4 + 3 + 2 + 3
    for button in buttons:
        assert button.fontMetrics().horizontalAdvance(button.text()) < button.width(), button.text()


def test_the_splitter_leaves_room_for_plot_and_table(open_window: Open) -> None:
    window, _ = open_window()
    window.resize(1180, 720)
    QApplication.processEvents()
    assert child(window, QWidget, "write_time_plots").height() >= 200
    assert child(window, QWidget, "options_table").height() >= 60


# ---------------------------------------------------------------- leaving, files, models


def test_closing_with_changes_asks(open_window: Open, tmp_path: Path) -> None:
    file = tmp_path / "mine.ckptplan.json"
    shutil.copy(E1, file)
    window, store = open_window(read(file), file)
    old = file.read_text()
    type_into(window, "storage.write_s", "7 min")
    with with_button(Button.Cancel) as asked:
        assert not window.close()
    assert "mine.ckptplan.json" in asked.words
    assert window.isVisible()
    assert file.read_text() == old
    with with_button(Button.Save):
        assert window.close()
    assert read(file).shown.scenario.storage.write_s == 420.0
    assert read(file) == store.workbook


def test_closing_without_changes_does_not_ask(open_window: Open) -> None:
    window, _ = open_window()
    assert window.close()


def test_what_is_discarded_is_not_written(open_window: Open, tmp_path: Path) -> None:
    file = tmp_path / "mine.ckptplan.json"
    shutil.copy(E1, file)
    window, _ = open_window(read(file), file)
    old = file.read_text()
    type_into(window, "storage.write_s", "7 min")
    with with_button(Button.Discard):
        assert window.close()
    assert file.read_text() == old


@pytest.mark.parametrize(
    ("content", "part"),
    [
        (b"{", "not JSON"),
        (b"\xff\xfe\x00", "UTF-8"),
        (b"[]", "not a plan"),
        (b'{"scenarios": [{"name": "x", "storage": {"write_s": "soon"}}]}', "storage.write_s"),
        (b'{"scenarios": [{"name": "x", "storage": {"write_seconds": 3}}]}', "storage.write_seconds"),
        (b'{"scenarios": [{"name": "x", "storage": {"write_s": NaN}}]}', "NaN"),
    ],
)
def test_a_file_that_cannot_be_read_is_one_sentence(open_window: Open, tmp_path: Path, content: bytes, part: str) -> None:
    window, store = open_window()
    file, before = tmp_path / f"bad{SUFFIX}", store.workbook
    file.write_bytes(content)
    with with_button(Button.Ok) as told:
        drop(window, file)
    assert file.name in told.words
    assert part in told.words
    assert "\n" not in told.words
    assert "Traceback" not in told.words
    assert store.workbook is before


def test_a_folder_that_cannot_be_written_is_one_sentence(open_window: Open, tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    file = gone / f"mine{SUFFIX}"
    shutil.copy(E1, file)
    window, store = open_window(read(file), file)
    type_into(window, "storage.write_s", "7 min")
    file.unlink()
    gone.rmdir()
    with with_button(Button.Ok) as told:
        press(window, Qt.Key.Key_S, CTRL)
    assert file.name in told.words
    assert "\n" not in told.words
    assert window.isWindowModified()
    assert store.workbook.shown.scenario.storage.write_s == 420.0


def test_an_unknown_family_is_named_and_its_total_asked_for(open_window: Open, tmp_path: Path) -> None:
    window, store = open_window()
    config = tmp_path / "config.json"
    config.write_text(
        json.dumps({"model_type": "marsupial_moe", "hidden_size": 4096, "num_hidden_layers": 4, "vocab_size": 99})
    )
    with with_text("70 B") as asked:
        assert drop(window, config)
    assert "marsupial_moe" in asked.words
    assert shown(window, "workload.total_params") == "70 B"
    assert store.workbook.shown.scenario.workload.model is None, "the old model is not this one's name"
    assert "980 GB" in headline(window)


def test_a_file_that_is_no_model_is_one_sentence(open_window: Open, tmp_path: Path) -> None:
    window, store = open_window()
    file, before = tmp_path / "notes.json", store.workbook
    file.write_text("[1, 2]")
    with with_button(Button.Ok) as told:
        drop(window, file)
    assert "notes.json" in told.words
    assert store.workbook is before


def test_the_menu_reads_a_model_too(open_window: Open, tmp_path: Path) -> None:
    window, _ = open_window()
    file = tmp_path / "config.json"
    shutil.copy(Path(__file__).parents[1] / "data" / "samples" / "hf" / "llama.config.json", file)
    with with_file(file):
        press(window, Qt.Key.Key_I, CTRL)
    assert shown(window, "workload.total_params") == "6.738415616 B"


def test_three_questions_make_a_plan(open_window: Open) -> None:
    """Journeys 1 and 2: a few letters, nodes, and the storage that is there."""
    window, store = open_window()

    def act(dialog: QDialog) -> None:
        search, hits = child(dialog, QLineEdit, "start.model"), child(dialog, QListWidget, "start.hits")
        QTest.keyClicks(search, "qwen3 235")
        item = hits.item(0)
        click(hits.viewport(), hits.visualItemRect(item).center())
        assert "235" in search.text()
        assert "235" in plain(child(dialog, QLabel, "start.parts").text())
        nodes = child(dialog, QSpinBox, "start.nodes")
        nodes.selectAll()
        QTest.keyClicks(nodes, "16")
        storage = child(dialog, QComboBox, "start.storage")
        storage.setFocus()
        QTest.keyClick(storage, Qt.Key.Key_Down)
        for name, text in (("write_bytes_per_s", "250 GB/s"), ("read_bytes_per_s", "700 GB/s"), ("usable_bytes", "2 PB")):
            rate = child(dialog, QLineEdit, f"start.{name}")
            assert rate.isVisible()
            QTest.keyClicks(rate, text)
        make = child(dialog, QDialogButtonBox, "").button(QDialogButtonBox.StandardButton.Ok)
        click(make)

    with Answer(act):
        press(window, Qt.Key.Key_N, CTRL)
    named = store.workbook.shown
    assert (named.scenario.workload.nodes, named.scenario.storage.custom is None) == (16, False)
    assert named.scenario.workload.total_params == pytest.approx(235e9, rel=0.01)
    assert "250 GB/s" in card(window, "USE")
    assert named.scenario.storage.max_fill == 0.85, "a new plan starts with allowances"
    assert source_word(window, "failures.detect_s").text() == "guess"
    assert "Qwen3-235B" in named.name
    assert window.isWindowModified(), "nobody has saved it yet"


def test_a_rate_that_makes_no_sense_keeps_the_dialog_open(open_window: Open) -> None:
    window, store = open_window()
    before = store.workbook

    def act(dialog: QDialog) -> None:
        QTest.keyClicks(child(dialog, QLineEdit, "start.model"), "70 B")
        storage = child(dialog, QComboBox, "start.storage")
        storage.setFocus()
        QTest.keyClick(storage, Qt.Key.Key_Down)
        QTest.keyClicks(child(dialog, QLineEdit, "start.write_bytes_per_s"), "fast")
        click(child(dialog, QDialogButtonBox, "").button(QDialogButtonBox.StandardButton.Ok))
        assert dialog.isVisible()
        trouble = child(dialog, QLabel, "start.trouble")
        assert trouble.isVisible()
        assert "GB/s" in trouble.text()

    with Answer(act):
        press(window, Qt.Key.Key_N, CTRL)
    assert store.workbook is before


def test_a_negative_rate_keeps_the_dialog_open(open_window: Open) -> None:
    window, store = open_window()
    before = store.workbook

    def act(dialog: QDialog) -> None:
        QTest.keyClicks(child(dialog, QLineEdit, "start.model"), "70 B")
        storage = child(dialog, QComboBox, "start.storage")
        storage.setFocus()
        QTest.keyClick(storage, Qt.Key.Key_Down)
        for name, text in (("write_bytes_per_s", "-1 GB/s"), ("read_bytes_per_s", "1 GB/s"), ("usable_bytes", "2 PB")):
            QTest.keyClicks(child(dialog, QLineEdit, f"start.{name}"), text)
        click(child(dialog, QDialogButtonBox, "").button(QDialogButtonBox.StandardButton.Ok))
        assert dialog.isVisible()
        assert child(dialog, QLabel, "start.trouble").isVisible()

    with Answer(act):
        press(window, Qt.Key.Key_N, CTRL)
    assert store.workbook is before


def test_existing_storage_of_the_second_journey(open_window: Open, qtbot: QtBot) -> None:
    """250 GB/s, 700 GB/s, 2 PB with the example's workload: save every 45 min, writes in 7 s, restores in 2.5 s."""
    window, _ = open_window()
    tier = child(window, QComboBox, "storage.tier")
    index = next(i for i in range(tier.count()) if tier.itemText(i).startswith("storage we have"))
    tier.setCurrentIndex(index)
    tier.activated.emit(index)
    for name, text in (("write_bytes_per_s", "250 GB/s"), ("read_bytes_per_s", "700 GB/s"), ("usable_bytes", "2 PB")):
        type_into(window, f"storage.custom.{name}", text)
    assert "45 min" in card(window, "SAVE EVERY")
    assert "writes in 6.97 s, reads in 2.49 s" in card(window, "USE")
    assert plot_figures(window).startswith("6.97 s")  # the handle stands where the storage puts it


# ---------------------------------------------------------------- keys while a field has the focus


def test_undo_works_from_the_field_that_was_changed(open_window: Open) -> None:
    window, store = open_window()
    edit = type_into(window, "storage.write_s", "20 min")
    assert edit.hasFocus()
    QTest.keyClick(edit, Qt.Key.Key_Z, CTRL)
    assert shown(window, "storage.write_s") == "5 min"
    assert store.undo_stack.index() == 0
    QTest.keyClick(edit, Qt.Key.Key_Y, CTRL)
    assert shown(window, "storage.write_s") == "20 min"


def test_undo_while_typing_takes_back_what_was_typed(open_window: Open) -> None:
    window, store = open_window()
    type_into(window, "storage.generations_kept", "3")
    edit = type_into(window, "storage.write_s", "20", enter=False)
    QTest.keyClick(edit, Qt.Key.Key_Z, CTRL)
    assert shown(window, "storage.write_s") == "5 min"
    assert store.undo_stack.index() == 1


def test_saving_takes_what_is_being_typed(open_window: Open, tmp_path: Path) -> None:
    file = tmp_path / "mine.ckptplan.json"
    shutil.copy(E1, file)
    window, _ = open_window(read(file), file)
    edit = type_into(window, "storage.write_s", "30 min", enter=False)
    QTest.keyClick(edit, Qt.Key.Key_S, CTRL)
    assert read(file).shown.scenario.storage.write_s == 1800.0
    assert edit.hasFocus()
    assert not window.isWindowModified()


def test_duplicating_takes_what_is_being_typed(open_window: Open) -> None:
    window, store = open_window()
    edit = type_into(window, "storage.write_s", "30 min", enter=False)
    QTest.keyClick(edit, Qt.Key.Key_D, CTRL)
    assert store.workbook.named("5 min").scenario.storage.write_s == 1800.0
    assert store.workbook.shown.scenario.storage.write_s == 1800.0
    assert store.workbook.current != "5 min"


@pytest.mark.parametrize("x", [-300, 5000])
def test_a_drag_beyond_the_plot_ends_at_its_edge(open_window: Open, x: int) -> None:
    window, store = open_window()
    handle = Handle(window)
    low, high = (10.0**edge for edge in handle.line.getViewBox().viewRange()[0])
    handle.press(300.0)
    for place in (QPoint(600, 100), QPoint(x, 100), QPoint(2 * x, 100)):
        handle.move(place, held=True)
    QTest.mouseRelease(handle.viewport, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, QPoint(2 * x, 100))
    assert 0.9 * low <= store.workbook.shown.scenario.storage.write_s <= 1.1 * high
    assert not child(window, QLabel, "stale").text()
    assert store.undo_stack.count() == 1
    assert handle.shown_s == pytest.approx(store.workbook.shown.scenario.storage.write_s, rel=1e-6)


def test_closing_while_typing_asks(open_window: Open) -> None:
    window, store = open_window()
    type_into(window, "storage.write_s", "30 min", enter=False)
    with with_button(Button.Cancel):
        assert not window.close()
    assert store.workbook.shown.scenario.storage.write_s == 1800.0


def test_a_row_of_the_table_becomes_the_file_system_by_enter(open_window: Open) -> None:
    window, store = open_window()
    options = child(window, QTableView, "options_table")
    options.setFocus()
    options.selectRow(2)
    name = table(window)[2][0]
    QTest.keyClick(options, Qt.Key.Key_Return)
    assert store.undo_stack.count() == 1
    assert store.workbook.shown.scenario.storage.tier.startswith("p2-")
    assert name.split("×")[1].strip() in card(window, "BUY")


def test_arrow_keys_move_the_write_time_in_one_step(open_window: Open) -> None:
    window, store = open_window()
    plots = child(window, QWidget, "write_time_plots")
    plots.setFocus()
    for _ in range(3):
        QTest.keyPress(plots, Qt.Key.Key_Right)
    QTest.keyRelease(plots, Qt.Key.Key_Right)
    assert store.workbook.shown.scenario.storage.write_s > 320.0
    assert store.undo_stack.count() == 1


def test_a_click_into_the_plot_moves_the_handle_there(open_window: Open) -> None:
    window, store = open_window()
    handle = Handle(window)
    QTest.mouseClick(handle.viewport, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, handle.pixel(900.0))
    assert store.workbook.shown.scenario.storage.write_s == pytest.approx(900.0, rel=0.02)
    assert store.undo_stack.count() == 1


def test_a_press_without_a_move_is_no_step(open_window: Open) -> None:
    window, store = open_window()
    handle = Handle(window)
    handle.press(300.0)
    handle.release(300.0)
    assert store.undo_stack.count() == 0


def test_two_drags_are_two_steps(open_window: Open) -> None:
    window, store = open_window()
    handle = Handle(window)
    for start, end in ((300.0, 600.0), (600.0, 900.0)):
        handle.press(start)
        handle.move(handle.pixel(end), held=True)
        handle.release(end)
    assert store.undo_stack.count() == 2
    store.undo_stack.undo()
    assert store.workbook.shown.scenario.storage.write_s == pytest.approx(600.0, rel=0.02)


def test_the_report_counts_dollars_as_the_window_does(open_window: Open, tmp_path: Path) -> None:
    window, _ = open_window()
    click(child(window, QPushButton, "basis.year"))
    with with_file(tmp_path):
        press(window, Qt.Key.Key_E, CTRL)
    report = text_of(tmp_path / "report.pdf")
    for figure in ("total_usd", "storage_usd", "lost_gpu_usd"):
        assert dict(figures(window))[figure] in report
