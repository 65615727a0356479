"""The Evidence view: logs replayed by mouse and keys, a file of one's own, the record taken into the plan, published runs."""

from __future__ import annotations

from itertools import combinations, pairwise
from pathlib import Path

import pyqtgraph as pg
import pytest
from PySide6.QtCore import QEvent, QPointF, QRectF, Qt
from PySide6.QtGui import QDragEnterEvent, QGuiApplication, QMouseEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QApplication,
    QCheckBox,
    QComboBox,
    QDialog,
    QLabel,
    QPushButton,
    QScrollArea,
    QTabBar,
    QWidget,
)
from pytestqt.qtbot import QtBot

from ckptplanner.data.records import Log
from ckptplanner.engine.backtests import CASES, backtest, logs
from ckptplanner.engine.edits import edit
from ckptplanner.engine.evaluate import evaluate
from ckptplanner.engine.published import cards
from ckptplanner.engine.scenario import MOST_GAPS, NamedScenario, Scenario
from ckptplanner.frozen import with_value
from ckptplanner.ui.assets import asset_path
from ckptplanner.ui.evidence.card import CardWidget
from ckptplanner.ui.evidence.places import LOGS, PUBLISHED
from ckptplanner.ui.evidence.sentences import verdict
from ckptplanner.ui.evidence.use_row import UseRow
from ckptplanner.ui.evidence_view import EvidenceView
from ckptplanner.ui.shown import Shown
from ckptplanner.ui.theme import DARK, LIGHT, apply_theme
from ckptplanner.units import SECONDS, exact
from tests.ui.conftest import Heard, Open
from tests.ui.hands import CTRL, LEFT, NO_KEYS, Answer, child, click, drop, labels, press, with_file

OWN = """time,kind
2026-09-01T02:10,node
2026-09-03T11:40,process
2026-09-08T20:05,node
2026-09-10T13:00,software
2026-09-15T04:30,network
"""
SHORT = Log("own:odd", "odd", "odd.csv", "", 8, (123_456.7, 123_543.3))
LANL = """System,nodes,Prob Started
2,49,1/3/2003 10:00
2,49,1/4/2003 10:00
2,49,1/6/2003 10:00
20,512,2/1/2003 8:00
20,512,2/1/2003 20:00
"""


def shown(values: dict[str, object] | None = None) -> Shown:
    """Article A's example with some other values, evaluated."""
    scenario = Scenario()
    for path, value in (values or {}).items():
        scenario = with_value(scenario, path, value)
    return Shown(NamedScenario(name="5 min", scenario=scenario), evaluate(scenario), 0, True, True)


def view_of(qtbot: QtBot, size: tuple[int, int] = (1108, 620)) -> EvidenceView:
    view = EvidenceView()
    qtbot.addWidget(view)
    view.resize(*size)
    view.show_theme(LIGHT)
    view.show_plans([shown()], "month")
    view.show_page(LOGS)
    with qtbot.waitExposed(view):
        view.show()
    return view


@pytest.fixture
def view(qtbot: QtBot) -> EvidenceView:
    return view_of(qtbot)


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """A log of one's own: five interruptions."""
    file = tmp_path / "mine.csv"
    file.write_text(OWN, encoding="utf-8")
    return file


# ---------------------------------------------------------------- eyes and hands


def said(view: QWidget, name: str) -> str:
    return child(view, QLabel, f"evidence.{name}").text().replace("\u00a0", " ")


def rows(view: EvidenceView) -> list[list[str]]:
    model = view.logs.table.model()
    return [
        [str(model.index(row, column).data()).replace("\u00a0", " ") for column in range(model.columnCount())]
        for row in range(model.rowCount())
    ]


def choose(view: EvidenceView, name: str) -> None:
    """Click on the row of a log."""
    table = view.logs.table
    index = table.model().index([row[0] for row in rows(view)].index(name), 0)
    table.scrollTo(index)
    QTest.mouseClick(table.viewport(), LEFT, NO_KEYS, table.visualRect(index).center())


def cost(view: EvidenceView, key: str) -> None:
    click(child(view, QPushButton, f"evidence.costs.{key}"))


def move(view: EvidenceView, place: QPointF) -> None:
    """Move the mouse to a place of the plot."""
    plot = view.logs.picture.replay
    viewport = child(plot, pg.GraphicsLayoutWidget, "").viewport()
    inside, none = QPointF(viewport.mapFrom(plot, place.toPoint())), Qt.MouseButton.NoButton
    where = QPointF(viewport.mapToGlobal(inside))
    QApplication.sendEvent(viewport, QMouseEvent(QEvent.Type.MouseMove, inside, where, none, none, NO_KEYS))


# ---------------------------------------------------------------- logs


def test_the_public_logs_are_there(view: EvidenceView) -> None:
    found = {row[0]: row[1:] for row in rows(view)}
    assert len(found) == len(logs()) >= 9
    assert found["LANL system 20"] == ["512", "2,401", "13.6 h", "0.65"]
    assert found["LANL system 8"][2:] == ["84.1 h", "0.71"]
    assert found["LANL system 18"][2:] == ["7.48 h", "0.82"]


def test_the_first_replay_says_what_was_published(view: EvidenceView) -> None:
    """System 20 with C 5 s, t_a 300 s, R 900 s: Young 3.688 %, E1 3.811 %, first order 3.893 %."""
    words = said(view, "verdict")
    assert words.startswith("Young's interval, 11 min 39 s, would have lost 3.69 % on this log; the best constant interval")
    assert words.endswith("The exact formula said 3.81 %, first order 3.89 %.")
    assert said(view, "priced") == "A save stops training for 5 s, restorable 5 min later; a restart takes 15 min."
    assert "from last 20 gaps 3.62 %" in view.logs.picture.replay.accessibleDescription().replace("\u00a0", " ")


def test_another_cost_is_one_click(view: EvidenceView) -> None:
    cost(view, "2")
    assert "would have lost 11.7 %" in said(view, "verdict")
    assert said(view, "verdict").endswith("The exact formula said 12.3 %, first order 13.5 %.")
    choose(view, "LANL system 12")
    cost(view, "1")
    assert said(view, "verdict").endswith("The exact formula said 2.65 %, first order 2.71 %.")


def test_logs_are_gone_through_by_keys(view: EvidenceView) -> None:
    before = said(view, "verdict")
    QTest.keyClick(view.logs.table, Qt.Key.Key_Down)
    assert view.logs.log.id == "lanl-22"
    assert said(view, "verdict") != before
    assert said(view, "scaled") == "260 h at 1 node, so 8 h 7 min at this plan's 32; the plan has 200 h"
    QTest.keyClick(view.logs.table, Qt.Key.Key_Up)
    assert said(view, "verdict") == before


def test_this_plan_gives_the_costs(view: EvidenceView) -> None:
    cost(view, "plan")
    before = said(view, "verdict")
    assert "restorable 5 min later; a restart takes 15 min" in said(view, "priced")
    view.show_plans([shown({"storage.blocking_s": 40.0, "failures.downtime_s": 1800.0})], "month")
    assert "A save stops training for 40 s" in said(view, "priced")
    assert "after 30 min without a node" in said(view, "priced")
    assert said(view, "verdict") != before


def test_a_plan_without_a_file_system_has_no_costs(view: EvidenceView) -> None:
    cost(view, "plan")
    view.show_plans([shown({"storage.generations_kept": 1000, "storage.write_s": 1.0, "storage.tiers": ()})], "month")
    assert said(view, "empty").startswith("This plan has no file system yet")
    assert child(view, QLabel, "evidence.empty").isVisible()
    assert view.texts()[1] == []
    cost(view, "0")
    assert child(view, QLabel, "evidence.verdict").isVisible()


# ---------------------------------------------------------------- the plot


def test_the_pointer_reads_off_what_an_interval_would_have_lost(view: EvidenceView) -> None:
    heard = Heard(view.cursor_moved)
    found = backtest(view.logs.log, CASES[0])
    every, lost = float(found.curve_interval_s[180]), float(found.curve_fraction[180])
    move(view, view.logs.picture.replay.place_of(every, lost))
    words = str(heard.said[-1][0]).replace("\u00a0", " ")
    assert words.startswith("A save every 17 min")
    assert f"would have lost {lost:.2%}".replace("%", " %") in words
    QApplication.sendEvent(child(view.logs.picture.replay, pg.GraphicsLayoutWidget, "").viewport(), QEvent(QEvent.Type.Leave))
    assert heard.said[-1] == ("",)


def test_the_arrow_keys_read_it_off_too(view: EvidenceView) -> None:
    plot, heard = view.logs.picture.replay, Heard(view.cursor_moved)
    for key, time in ((Qt.Key.Key_Home, "11 min 39 s"), (Qt.Key.Key_Right, "11 min 46 s"), (Qt.Key.Key_Left, "11 min 39 s"),
                      (Qt.Key.Key_PageDown, "10 min 33 s"), (Qt.Key.Key_End, "12 min 30 s")):  # fmt: skip
        QTest.keyClick(plot, key)
        assert f"A save every {time} " in str(heard.said[-1][0]).replace("\u00a0", " ")
    QTest.keyClick(plot, Qt.Key.Key_Escape)
    assert heard.said[-1] == ("",)


def drawn_words(plot: QWidget) -> list[tuple[str, QRectF]]:
    """The notes inside the plot with the ink of their rectangles."""
    scene = child(plot, pg.GraphicsLayoutWidget, "").scene()
    notes = [item for item in scene.items() if isinstance(item, pg.TextItem) and item.isVisible()]
    return [(note.toPlainText(), note.mapRectToScene(note.boundingRect()).adjusted(4, 4, -4, -4)) for note in notes]


@pytest.mark.parametrize("size", [(1108, 620), (848, 420)])
@pytest.mark.parametrize("log", ["LANL system 2", "LANL system 12", "LANL system 18", "LANL system 20", "LANL system 23"])
def test_names_in_the_plot_stand_apart(qtbot: QtBot, size: tuple[int, int], log: str) -> None:
    view = view_of(qtbot, size)
    choose(view, log)
    for key in ("0", "1", "2", "plan"):
        cost(view, key)
        QApplication.processEvents()
        words = drawn_words(view.logs.picture.replay)
        assert any("Young" in text for text, _ in words)
        for (one, first), (other, second) in combinations(words, 2):
            assert not first.intersects(second), (key, one, other)


# ---------------------------------------------------------------- a log of one's own


def test_a_log_is_opened(view: EvidenceView, own: Path) -> None:
    with with_file(own):
        click(child(view, QPushButton, "evidence.open"))
    assert rows(view)[0] == ["mine", "–", "5", "84.6 h", "–"]
    assert view.logs.log.name == "mine"
    assert said(view, "priced").endswith("So few interruptions show chance more than a law.")
    assert said(view, "scaled") == "84.6 h, taken as this plan's own at 32 nodes; the plan has 200 h"


def test_a_log_is_dropped_and_taken_away_again(view: EvidenceView, own: Path) -> None:
    view.show_page(PUBLISHED)
    assert drop(view, own)
    assert view.tabs.currentIndex() == LOGS
    assert rows(view)[0][0] == "mine"
    assert drop(view, own)
    assert [row[0] for row in rows(view)].count("mine") == 1, "the same file again is the same log"
    QTest.keyClick(view.logs.table, Qt.Key.Key_Delete)
    assert "mine" not in [row[0] for row in rows(view)]
    QTest.keyClick(view.logs.table, Qt.Key.Key_Delete)
    assert len(rows(view)) == len(logs()), "what comes along stays"


@pytest.mark.parametrize("name", ["plan.ckptplan.json", "config.json", "model.safetensors", "folder"])
def test_plans_and_models_are_left_to_the_window(view: EvidenceView, tmp_path: Path, name: str) -> None:
    place = tmp_path / name
    place.mkdir() if name == "folder" else place.write_text("{}", encoding="utf-8")
    assert not drop(view, place)
    assert len(rows(view)) == len(logs())


def test_a_bad_file_changes_nothing(view: EvidenceView, own: Path, tmp_path: Path) -> None:
    bad = tmp_path / "bad.csv"
    bad.write_text("a,b\n1,2\n", encoding="utf-8")
    before = rows(view), said(view, "verdict")
    assert drop(view, bad)
    trouble = child(view, QLabel, "evidence.trouble")
    assert trouble.isVisible()
    assert trouble.text().startswith("bad.csv, line 1: neither a time nor a heading for one")
    assert (rows(view), said(view, "verdict")) == before
    drop(view, own)
    assert not trouble.isVisible()


def answer_system(system: str, *, accept: bool = True) -> Answer:
    def act(dialog: QDialog) -> None:
        box = dialog.findChild(QComboBox)
        assert box is not None
        assert [box.itemText(index) for index in range(box.count())] == ["2", "20"]
        box.setCurrentText(system)
        if accept:
            dialog.accept()

    return Answer(act)


def test_a_table_of_several_systems_asks_which(view: EvidenceView, tmp_path: Path) -> None:
    file = tmp_path / "failures.csv"
    file.write_text(LANL, encoding="utf-8")
    with answer_system("2", accept=False):
        view.logs.take(file)
    assert len(rows(view)) == len(logs())
    with answer_system("2") as asked:
        view.logs.take(file)
    assert "failures.csv holds the failures of 2 systems" in asked.words
    assert rows(view)[0] == ["LANL system 2", "49", "3", "36 h", "–"]


# ---------------------------------------------------------------- into the plan


def test_a_record_is_proposed(view: EvidenceView) -> None:
    edits, ends = Heard(view.edited), Heard(view.gesture_ended)
    click(child(view, QPushButton, "evidence.use"))
    assert edits.said == [("failures.record", view.logs.log)]
    click(child(view, QCheckBox, "evidence.spread"))
    click(child(view, QPushButton, "evidence.use"))
    assert edits.said[1:] == [("failures.gaps_s", view.logs.log)]
    assert len(ends.said) == 2


def show_evidence(window: QWidget) -> EvidenceView:
    bar = child(window, QTabBar, "view_tabs")
    click(bar, bar.tabRect(3).center())
    view = child(window, QWidget, "evidence_view")
    assert isinstance(view, EvidenceView)
    view.show_page(LOGS)
    return view


def test_a_record_becomes_the_plans_in_one_step(open_window: Open, own: Path) -> None:
    window, store = open_window()
    view = show_evidence(window)
    assert drop(view, own)
    button = child(view, QPushButton, "evidence.use")
    click(button)
    failures = store.workbook.shown.scenario.failures
    assert failures.mtbi_s == pytest.approx(84.583 * 3600, rel=1e-4)
    assert failures.mtbi_nodes == 32
    source = store.workbook.shown.source_of("failures.mtbi_s")
    assert source is not None
    assert source.kind == "log"
    assert not button.isEnabled()
    click(child(view, QCheckBox, "evidence.spread"))
    assert button.isEnabled()
    click(button)
    assert store.workbook.shown.scenario.failures.law == "empirical"
    assert not button.isEnabled()
    store.undo_stack.undo()
    store.undo_stack.undo()
    assert store.workbook.shown.scenario.failures.mtbi_s == 720_000.0
    assert not store.undo_stack.canUndo()
    assert button.isEnabled()


def test_one_gap_has_no_spread(view: EvidenceView, tmp_path: Path) -> None:
    short = tmp_path / "short.csv"
    short.write_text("time\n2026-09-01T02:10\n2026-09-03T11:40\n", encoding="utf-8")
    edits = Heard(view.edited)
    click(child(view, QCheckBox, "evidence.spread"))
    assert drop(view, short)
    assert not child(view, QCheckBox, "evidence.spread").isEnabled()
    click(child(view, QPushButton, "evidence.use"))
    assert [path for path, _ in edits.said] == ["failures.record"]


def test_the_spread_can_be_taken_off_again(open_window: Open, own: Path) -> None:
    window, store = open_window()
    view = show_evidence(window)
    assert drop(view, own)
    spread, button = child(view, QCheckBox, "evidence.spread"), child(view, QPushButton, "evidence.use")
    click(spread)
    click(button)
    mean = store.workbook.shown.scenario.failures.mtbi_s
    click(spread)
    assert button.isEnabled()
    click(button)
    failures = store.workbook.shown.scenario.failures
    assert (failures.law, failures.mtbi_s) == ("weibull", mean)
    assert not button.isEnabled()


def test_a_plan_dropped_on_the_view_opens(open_window: Open) -> None:
    """The view refuses the drag, so that it goes on to the window."""
    window, store = open_window()
    view = show_evidence(window)
    other = asset_path("examples") / "local-and-shared.ckptplan.json"
    assert drop(view.logs, other)
    assert store.file == other


def test_the_menu_leads_to_both_pages_and_the_table_is_copied(open_window: Open) -> None:
    window, _ = open_window()
    press(window, Qt.Key.Key_6, CTRL)
    view = child(window, EvidenceView, "evidence_view")
    assert view.tabs.currentIndex() == PUBLISHED
    press(window, Qt.Key.Key_5, CTRL)
    assert view.tabs.currentIndex() == LOGS
    press(window, Qt.Key.Key_T, CTRL | Qt.KeyboardModifier.ShiftModifier)
    copied = QGuiApplication.clipboard().text().splitlines()
    assert len(copied) == len(logs()) + 1
    assert copied[0].startswith("Log\tNodes\tInterruptions\tMean gap\tShape\tYoung's interval\tLost with it")
    assert "LANL system 20\t512\t2,401\t13.6" in "\n".join(copied)
    QGuiApplication.clipboard().clear()


# ---------------------------------------------------------------- published runs


def seen(view: EvidenceView) -> list[CardWidget]:
    return [card for card in view.published.cards if card.isVisible()]


@pytest.fixture
def page(view: EvidenceView) -> EvidenceView:
    click(view.tabs, view.tabs.tabRect(PUBLISHED).center())
    QApplication.processEvents()
    return view


def test_compared_runs_come_first(page: EvidenceView) -> None:
    assert [card.card for card in seen(page)] == [card for card in cards() if card.planner is not None]
    first = labels(seen(page)[0])
    assert {"reported", "planner"} <= set(first)
    assert "1.07" in first
    assert not child(page, QWidget, "evidence.costs").isVisible()


def test_what_cannot_be_compared_says_why(page: EvidenceView) -> None:
    click(child(page, QPushButton, "evidence.kinds.others"))
    found = seen(page)
    assert [card.card for card in found] == [card for card in cards() if card.planner is None]
    for card in found:
        words = labels(card)
        assert "planner" not in words
        assert any(text.startswith("Nothing to compare: ") for text in words)
    click(child(page, QPushButton, "evidence.kinds.all"))
    assert len(seen(page)) == len(cards())
    assert len(page.texts()[1]) == len(cards())


def test_inputs_unfold_with_their_sources(page: EvidenceView) -> None:
    card = next(card for card in seen(page) if any(where == "assumed" for _, _, where in card.card.inputs))
    more = child(card, QPushButton, "card.more")
    tall, tip = card.height(), more.toolTip()
    assert all(value in tip for _, value, _ in card.card.inputs), "the pointer shows them without a click"
    more.setFocus(Qt.FocusReason.TabFocusReason)
    QTest.keyClick(more, Qt.Key.Key_Space)
    QApplication.processEvents()
    QApplication.processEvents()
    assert {value.replace("\u00a0", " ") for _, value, _ in card.card.inputs} <= set(labels(card))
    assert "assumed" in labels(card)
    assert card.height() > tall
    below = [label for label in card.findChildren(QLabel) if label.isVisible()]
    assert all(label.height() >= label.heightForWidth(label.width()) for label in below), "nothing is cut off"
    click(more)
    QApplication.processEvents()
    QApplication.processEvents()
    assert card.height() == tall


@pytest.mark.parametrize(("width", "columns"), [(1108, 2), (640, 1)])
def test_cards_stand_in_columns_without_gaps(qtbot: QtBot, width: int, columns: int) -> None:
    view = view_of(qtbot, (width, 620))
    view.show_page(PUBLISHED)
    for kind in ("compared", "others", "compared"):
        view.published.show_kind(kind)
        for _ in range(3):
            QApplication.processEvents()
        found = seen(view)
        assert len({card.x() for card in found}) == columns
        for left in {card.x() for card in found}:
            line = sorted((card for card in found if card.x() == left), key=QWidget.y)
            assert all(after.y() - (card.y() + card.height()) == 12 for card, after in pairwise(line))
    assert not child(view, QScrollArea, "evidence.cards").horizontalScrollBar().isVisible()


# ---------------------------------------------------------------- what every view has


@pytest.mark.parametrize("index", [LOGS, PUBLISHED])
def test_every_page_has_a_picture_and_a_table(qapp: QApplication, view: EvidenceView, index: int) -> None:
    view.show_page(index)
    apply_theme(qapp, DARK)
    try:
        view.show_theme(DARK)
        QApplication.processEvents()
        picture = view.picture_widget.grab().toImage()
    finally:
        apply_theme(qapp, LIGHT)
    assert picture.width() > 400
    assert picture.pixelColor(2, picture.height() // 2).name().upper() == DARK.surface
    heads, found = view.texts()
    assert found
    assert {len(row) for row in found} == {len(heads)}


def test_parts_have_names(view: EvidenceView) -> None:
    for part in (view.logs.table, view.logs.picture.replay, view.logs.picture.gaps):
        assert part.accessibleName()
    assert "from 1 min to" in view.logs.picture.gaps.accessibleDescription().replace("\u00a0", " ")
    view.show_page(PUBLISHED)
    assert all(card.accessibleName() for card in view.published.cards)


def test_a_log_with_one_gap_is_replayed(view: EvidenceView) -> None:
    found = backtest(Log("x", "x", "x.csv", "", 4, (36_000.0,)), CASES[0])
    view.logs.picture.replay.show_backtest(found)
    view.logs.picture.gaps.show_log(found.log)
    assert "from last 20 gaps" not in view.logs.picture.replay.accessibleDescription()


def test_a_drag_without_a_file_is_refused(view: EvidenceView) -> None:
    from PySide6.QtCore import QMimeData

    mime = QMimeData()
    mime.setText("words")
    entering = QDragEnterEvent(view.rect().center(), Qt.DropAction.CopyAction, mime, LEFT, NO_KEYS)
    QApplication.sendEvent(view, entering)
    assert not entering.isAccepted()


def test_an_interval_that_is_raised_is_not_called_youngs() -> None:
    log = Log("own:often", "often", "often.csv", "", 8, (4000.0,) * 30)
    words = verdict(backtest(log, CASES[0])).replace("\u00a0", " ")
    assert words.startswith("An interval of 5 min 5 s, the least possible (Young's is 3 min 20 s), would have lost")


def test_a_long_log_says_how_much_of_it_spreads(qtbot: QtBot) -> None:
    row = UseRow()
    qtbot.addWidget(row)
    row.resize(900, 60)
    with qtbot.waitExposed(row):
        row.show()
    long = Log("own:long", "long", "long.csv", "", 8, tuple(float(gap) for gap in range(1, MOST_GAPS + 11)))
    row.show_log(long, Scenario())
    assert "of 10,010 gaps" not in said(row, "scaled")
    click(child(row, QCheckBox, "evidence.spread"))
    assert said(row, "scaled").endswith("the spread of the last 10,000 of 10,010 gaps")


def test_the_mean_that_was_used_reads_as_a_time() -> None:
    assert exact(edit(NamedScenario(name="5 min"), "failures.record", SHORT).scenario.failures.mtbi_s, SECONDS) == (
        "34\u00a0h\u00a018\u00a0min\u00a020\u00a0s"
    )
