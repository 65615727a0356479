"""The failures page: what it says of a record, and every choice a person makes on it, by mouse and by keys."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime
from itertools import combinations, pairwise

import numpy as np
import pyqtgraph as pg
import pytest
from PySide6.QtCore import QCoreApplication, QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QMouseEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QComboBox, QLabel, QPushButton, QToolButton, QWidget
from pytestqt.modeltest import ModelTester
from pytestqt.qtbot import QtBot

from ckptplanner.data.evidence import KIND_TITLES, Place
from ckptplanner.engine.evidence import Choices, FailureRecord
from ckptplanner.ui.dates import date_ticks, moment_text, span_text
from ckptplanner.ui.evidence.kind_toggles import KindToggle
from ckptplanner.ui.failures_page import FailuresPage
from ckptplanner.ui.ink import width_of
from ckptplanner.ui.plots.failures_gaps import survival
from ckptplanner.ui.stops import kind_path
from ckptplanner.ui.theme import BODY_PX, DARK, LIGHT, apply_theme
from ckptplanner.ui.widgets.picker import Picker
from ckptplanner.units import DAY, HOUR
from tests.ui.conftest import Heard
from tests.ui.failure_records import BEGIN_S, job_record, large_record, quiet_record, with_choices, with_prior
from tests.ui.hands import LEFT, NO_KEYS, child, click, type_into
from tests.ui.test_translation import Foreign, bare, untranslated

IN_USE = (200 * HOUR, 32)
LOW, TALL = (840, 390), (1108, 600)
SHIFT = Qt.KeyboardModifier.ShiftModifier


class Desk:
    """A page whose choices come back to it as they do in the window."""

    def __init__(self, page: FailuresPage, record: FailureRecord | None, choices: Choices) -> None:
        self.page, self.record, self.choices = page, record, choices
        page.choices_changed.connect(self.show)

    def show(self, choices: Choices) -> None:
        """Show the record under these choices."""
        self.choices = choices
        self.page.show_failures(None if self.record is None else with_choices(self.record, choices), choices, *IN_USE)
        QApplication.processEvents()


Open = Callable[..., Desk]


@pytest.fixture
def open_page(qtbot: QtBot) -> Open:
    def open_one(record: FailureRecord | None, size: tuple[int, int] = TALL, choices: Choices | None = None) -> Desk:
        page = FailuresPage()
        qtbot.addWidget(page)
        page.show_theme(LIGHT)
        page.resize(*size)
        desk = Desk(page, record, choices or Choices())
        desk.show(desk.choices)
        with qtbot.waitExposed(page):
            page.show()
        QApplication.processEvents()
        return desk

    return open_one


@pytest.fixture
def desk(open_page: Open) -> Desk:
    return open_page(job_record())


# ---------------------------------------------------------------- eyes and hands


def said(words: str) -> str:
    return words.replace("\u00a0", " ")


def row(desk: Desk, index: int) -> list[str]:
    return [said(cell) for cell in desk.page.table.texts()[1][index]]


def toggle(desk: Desk, kind: str) -> KindToggle:
    found = child(desk.page, KindToggle, f"evidence.counts.{kind}")
    assert isinstance(found, KindToggle)
    return found


def drag(strip: QWidget, begin: float, end: float, *, lets_go: bool = True) -> None:
    """Pull the mouse over the time axis from one place to another. [px]"""
    y, none = 4, Qt.MouseButton.NoButton
    QTest.mousePress(strip, LEFT, NO_KEYS, QPoint(round(begin), y))
    for x in (begin + (end - begin) / 2, end):
        place = QPointF(round(x), y)
        move = QMouseEvent(QEvent.Type.MouseMove, place, QPointF(strip.mapToGlobal(place)), none, LEFT, NO_KEYS)
        QApplication.sendEvent(strip, move)
    if lets_go:
        QTest.mouseRelease(strip, LEFT, NO_KEYS, QPoint(round(end), y))


def hover(part: QWidget, place: QPointF) -> None:
    """Move the mouse to a place of a plot."""
    viewport = child(part, pg.GraphicsLayoutWidget, "").viewport()
    inside, none = QPointF(viewport.mapFrom(part, place.toPoint())), Qt.MouseButton.NoButton
    where = QPointF(viewport.mapToGlobal(inside))
    QApplication.sendEvent(viewport, QMouseEvent(QEvent.Type.MouseMove, inside, where, none, none, NO_KEYS))


def kinds_list(qtbot: QtBot, desk: Desk) -> QComboBox:
    """The list of kinds that was opened in a cell."""
    qtbot.waitUntil(lambda: desk.page.table.findChild(QComboBox, "evidence.kind") is not None)
    box = child(desk.page.table, QComboBox, "evidence.kind")
    assert isinstance(box, QComboBox)
    qtbot.waitUntil(lambda: box.view().isVisible())
    return box


# ---------------------------------------------------------------- what it says


def test_the_sentence_says_how_often_and_how_surely(desk: Desk) -> None:
    assert said(desk.page.verdict.text()) == (
        "23 interruptions in 41 days of running on 32 nodes: one every 42.8 h (30.3 h to 63.1 h at 90 %)."
    )
    assert desk.page.notes.text() == "Two lines belong to an interruption just before them and are not counted again."


def test_no_interruption_gives_a_limit(open_page: Open) -> None:
    desk = open_page(quiet_record())
    assert said(desk.page.verdict.text()) == "No interruption in 10 days of running: at most one every 80.1 h, at 90 %."
    assert [said(rung.name) for rung in desk.page.mean.rungs] == ["at least", "in use"], "without nodes no record can be scaled"
    assert "No gap" in desk.page.gaps.accessibleDescription()


def test_one_interruption_and_time_that_is_not_known(open_page: Open) -> None:
    one = replace(job_record(), count=1, mtbi_s=41 * DAY, low_s=207 * HOUR, high_s=math.inf, is_exposure_known=False)
    desk = open_page(one)
    assert said(desk.page.verdict.text()) == (
        "1 interruption in 41 days on 32 nodes: one every 984 h (at least 207 h at 90 %)."
    )


def test_a_published_record_is_said_beside_the_count(open_page: Open) -> None:
    desk = open_page(with_prior(job_record()), choices=Choices(prior="llama3-unexpected"))
    assert said(desk.page.notes.text()).startswith("Together with Llama 3 405B, unexpected one every 55 h (39 h to 80 h).")
    looks = {rung.look: said(rung.name) for rung in desk.page.mean.rungs if rung.look != "record"}
    assert looks == {
        "counted": "counted", "combined": "combined", "in use": "in use", "chosen": "Llama 3 405B, unexpected",
    }  # fmt: skip


def test_an_empty_page_offers_to_open_files(open_page: Open, heard: type[Heard]) -> None:
    desk = open_page(None, LOW)
    asked = heard(desk.page.open_requested)
    click(child(desk.page, QPushButton, "evidence.failures.begin"))
    assert asked.said == [()]
    assert desk.page.texts()[1] == []
    assert desk.page.picture.isVisible()


def test_the_table_says_where_each_stop_stands(desk: Desk) -> None:
    assert row(desk, 6)[1:] == [
        "many nodes or storage failed", "lustre: all clients evicted (+ 2 more lines)", "32", "cu20, cu21 and 9 more",
        "sacct.txt, line 8", "counts",
    ]  # fmt: skip
    assert row(desk, 3)[1:] == ["time limit", "TIMEOUT", "32", "", "sacct.txt, line 5", "does not count"]
    heads, rows = desk.page.texts()
    assert len(rows) == 30
    assert all(len(one) == len(heads) for one in rows)


def test_the_model_of_the_table_is_sound(desk: Desk, qtmodeltester: ModelTester) -> None:
    qtmodeltester.check(desk.page.table.model())


# ---------------------------------------------------------------- what counts


def test_a_kind_is_counted_by_a_click(desk: Desk) -> None:
    assert not toggle(desk, "cancelled").isChecked()
    click(toggle(desk, "cancelled"))
    assert "cancelled" in desk.choices.counted
    assert row(desk, 5)[-1] == "counts"
    QTest.keyClick(toggle(desk, "node"), Qt.Key.Key_Space)
    assert "node" not in desk.choices.counted


def test_what_still_runs_can_never_count(open_page: Open) -> None:
    desk = open_page(job_record(), choices=Choices(counted=frozenset({"node", "open"})))
    assert not toggle(desk, "open").isEnabled()
    assert not toggle(desk, "open").isChecked()


def test_one_stop_is_reclassified_by_keys(desk: Desk, qtbot: QtBot) -> None:
    table = desk.page.table
    table.setFocus()
    table.choose(4)
    QTest.keyClick(table, Qt.Key.Key_Down)
    QTest.keyClick(table, Qt.Key.Key_F2)
    box = kinds_list(qtbot, desk)
    assert [box.itemText(index) for index in range(box.count())] == [str(title) for title in KIND_TITLES.values()]
    assert box.currentData() == "cancelled"
    QTest.keyClick(box.view(), Qt.Key.Key_Home)
    QTest.keyClick(box.view(), Qt.Key.Key_Return)
    assert desk.choices.kinds == (("run pretrain 5", "node"),)
    assert row(desk, 5)[1] == "node failed"
    assert table.currentIndex().row() == 5, "the row stays"


def test_a_stop_goes_back_to_what_the_file_says(open_page: Open, qtbot: QtBot) -> None:
    desk = open_page(job_record(), choices=Choices(kinds=(("run pretrain 5", "node"), ("run pretrain 9", "process"))))
    table = desk.page.table
    table.choose(5)
    QTest.keyClick(table, Qt.Key.Key_Return)
    box = kinds_list(qtbot, desk)
    assert box.itemText(box.count() - 1) == "as the file says"
    QTest.keyClick(box.view(), Qt.Key.Key_End)
    QTest.keyClick(box.view(), Qt.Key.Key_Return)
    assert desk.choices.kinds == (("run pretrain 9", "process"),)
    assert row(desk, 5)[1] == "cancelled"


def test_a_click_on_the_kind_opens_the_list(desk: Desk, qtbot: QtBot) -> None:
    table = desk.page.table
    heard = Heard(desk.page.choices_changed)
    QTest.mouseClick(table.viewport(), LEFT, NO_KEYS, table.visualRect(table.model().index(1, 1)).center())
    box = kinds_list(qtbot, desk)
    QTest.keyClick(box.view(), Qt.Key.Key_Return)
    assert heard.said == [], "the same kind is no choice"


# ---------------------------------------------------------------- the time axis


def test_a_click_on_a_mark_goes_to_its_row(desk: Desk) -> None:
    strip = desk.page.strip
    QTest.mouseClick(strip, LEFT, NO_KEYS, strip.place_of(22).toPoint())
    assert desk.page.table.currentIndex().row() == 22
    assert desk.choices.period is None


def test_in_a_low_page_a_click_on_a_mark_shows_the_table(open_page: Open) -> None:
    desk = open_page(job_record(), LOW)
    assert desk.page.gaps.isVisible()
    assert not desk.page.table.isVisible()
    strip = desk.page.strip
    QTest.mouseClick(strip, LEFT, NO_KEYS, strip.place_of(22).toPoint())
    assert desk.page.table.isVisible()
    assert not desk.page.gaps.isVisible()
    assert desk.page.table.currentIndex().row() == 22


def test_the_pointer_says_what_a_mark_is(desk: Desk, heard: type[Heard]) -> None:
    words = heard(desk.page.cursor_moved)
    strip = desk.page.strip
    QTest.mouseMove(strip, strip.place_of(6).toPoint())
    qualified = said(str(words.said[-1][0]))
    assert qualified.startswith(f"{moment_text(job_record().stops[6].at_s)}: many nodes or storage failed, lustre: all clients")
    assert qualified.endswith("32 nodes, counts, sacct.txt, line 8")
    assert said(strip.tip_at(strip.place_of(6))) == qualified


def test_a_drag_takes_a_period_and_escape_gives_it_back(desk: Desk) -> None:
    strip = desk.page.strip
    begin, end = BEGIN_S + 9 * DAY, BEGIN_S + 30 * DAY
    left, right = strip.x_of(begin), strip.x_of(end)
    drag(strip, left, right)
    assert desk.choices.period is not None
    assert desk.choices.period == pytest.approx((begin, end), abs=0.1 * DAY)
    assert len(desk.page.texts()[1]) < 30
    assert strip.x_of(begin) == pytest.approx(left), "what is left out stays in sight"
    button = child(desk.page, QToolButton, "evidence.period")
    assert button.text() == "2026-10-10 to 2026-10-31"
    QTest.keyClick(strip, Qt.Key.Key_Escape)
    assert desk.choices.period is None
    assert not button.isVisible()
    assert len(desk.page.texts()[1]) == 30


@pytest.mark.parametrize("how", ["button", "double click"])
def test_a_period_is_given_back(open_page: Open, how: str) -> None:
    desk = open_page(job_record())
    desk.show(Choices(period=(BEGIN_S + 9 * DAY, BEGIN_S + 30 * DAY)))
    if how == "button":
        click(child(desk.page, QToolButton, "evidence.period"))
    else:
        QTest.mouseDClick(desk.page.strip, LEFT, NO_KEYS, QPoint(200, 60))
    assert desk.choices.period is None


def test_escape_ends_a_drag(desk: Desk) -> None:
    drag(desk.page.strip, 100, 300, lets_go=False)
    QTest.keyClick(desk.page.strip, Qt.Key.Key_Escape)
    QTest.mouseRelease(desk.page.strip, LEFT, NO_KEYS, QPoint(300, 4))
    assert desk.choices.period is None


def test_a_period_is_taken_by_keys(desk: Desk) -> None:
    strip, stops = desk.page.strip, job_record().stops
    for key in (Qt.Key.Key_Home, Qt.Key.Key_Right, Qt.Key.Key_Right):
        QTest.keyClick(strip, key)
    assert desk.page.table.currentIndex().row() == 2
    QTest.keyClick(strip, Qt.Key.Key_Home, SHIFT)
    assert desk.choices.period == (stops[2].at_s, BEGIN_S + 41 * DAY)
    assert len(desk.page.texts()[1]) == 28
    QTest.keyClick(strip, Qt.Key.Key_End)
    QTest.keyClick(strip, Qt.Key.Key_Left)
    QTest.keyClick(strip, Qt.Key.Key_End, SHIFT)
    assert desk.choices.period == (stops[2].at_s, stops[28].at_s)


def test_another_job_forgets_the_period(open_page: Open) -> None:
    desk = open_page(job_record())
    desk.show(Choices(period=(BEGIN_S + 9 * DAY, BEGIN_S + 30 * DAY)))
    job = child(desk.page, Picker, "evidence.job")
    assert isinstance(job, Picker)
    job.choose("ablation")
    assert desk.choices == Choices(job="ablation")
    job.choose("")
    assert desk.choices.job == ""


# ---------------------------------------------------------------- the row of choices


def test_what_belongs_together_is_typed(desk: Desk) -> None:
    type_into(desk.page, "evidence.merge", "15 min")
    assert desk.choices.merge_s == 900.0
    type_into(desk.page, "evidence.merge", "-3")
    assert desk.choices.merge_s == 900.0, "what is refused changes nothing"


def test_usual_times_are_in_a_list(desk: Desk) -> None:
    menu = child(desk.page, QToolButton, "evidence.merge.presets").menu()
    assert [said(action.text()) for action in menu.actions()] == ["0 s", "1 min", "5 min", "15 min"]
    menu.actions()[0].trigger()
    assert desk.choices.merge_s == 0.0


def test_a_published_record_is_chosen(desk: Desk) -> None:
    prior = child(desk.page, Picker, "evidence.prior")
    assert isinstance(prior, Picker)
    prior.choose("opt-all")
    assert desk.choices.prior == "opt-all"
    prior.choose("")
    assert desk.choices.prior is None


def test_a_single_job_is_not_asked_for(open_page: Open) -> None:
    desk = open_page(quiet_record())
    assert not child(desk.page, Picker, "evidence.job").isVisible()


def test_the_same_choice_is_silent(desk: Desk, heard: type[Heard]) -> None:
    words = heard(desk.page.choices_changed)
    desk.show(desk.choices)
    desk.page.strip.setFocus()
    QTest.keyClick(desk.page.strip, Qt.Key.Key_Escape)
    assert words.said == []


# ---------------------------------------------------------------- the plots


def test_published_records_stand_at_this_size(desk: Desk) -> None:
    """THEORY 4.1 for 32 nodes: OPT 53.1 and 159.4 h, Llama 3 178, 198 and 254 h, MegaScale 197 h, Acme 781 h."""
    rungs = {rung.name: round(rung.mtbi_s / HOUR, 1) for rung in desk.page.mean.rungs}
    assert rungs["OPT-175B, all restarts"] == 53.1
    assert rungs["OPT-175B, manual restarts"] == 159.4
    assert [round(rungs[f"Llama 3 405B, {what}"]) for what in ("all interruptions", "unexpected", "hardware")] == [
        178,
        198,
        254,
    ]
    assert [round(rungs[name]) for name in ("MegaScale", "Acme (Seren and Kalos)")] == [197, 781]
    assert rungs["in use"] == 200.0


def test_the_plans_own_value_is_scaled_too(open_page: Open) -> None:
    desk = open_page(job_record())
    desk.page.show_failures(job_record(), Choices(), 100 * HOUR, 64)
    assert next(rung.mtbi_s for rung in desk.page.mean.rungs if rung.look == "in use") == 200 * HOUR


def test_survival_of_a_published_sample() -> None:
    """Freireich's 6-MP arm: .857 at 6, .807 at 7, .753 at 10, .690, .627, .538 and .448 at 23 weeks (Kaplan-Meier)."""
    weeks = np.array([6, 6, 6, 6, 7, 9, 10, 10, 11, 13, 16, 17, 19, 20, 22, 23, 25, 32, 32, 34, 35], dtype=float)
    is_open = np.array([0, 0, 0, 1, 0, 1, 0, 1, 1, 0, 0, 1, 1, 1, 0, 0, 1, 1, 1, 1, 1], dtype=bool)
    times, share = survival(weeks, is_open)
    at = {week: float(share[np.searchsorted(times, week, side="right") - 1]) for week in (6, 7, 10, 13, 16, 22, 23, 35)}
    expected = {6: 0.857, 7: 0.807, 10: 0.753, 13: 0.690, 16: 0.627, 22: 0.538, 23: 0.448, 35: 0.448}
    assert at == pytest.approx(expected, abs=5e-4)


def test_the_laws_are_named_where_they_can_be_told(open_page: Open) -> None:
    desk = open_page(job_record())
    plot = desk.page.gaps
    assert "memoryless, one every 42.8 h; Weibull, shape 0.82 (0.63 to 1)" in said(plot.accessibleDescription())
    few = job_record()
    assert few.shape is not None
    plot.show_record(replace(few, shape=replace(few.shape, can_tell=False)))
    assert "Weibull" not in plot.accessibleDescription()


def test_the_pointer_reads_off_gaps_and_mean(desk: Desk, heard: type[Heard]) -> None:
    words = heard(desk.page.cursor_moved)
    gaps, mean = desk.page.gaps, desk.page.mean
    hover(gaps, gaps.place_of(42.8 * HOUR))
    assert "of the gaps were longer than 42" in said(str(words.said[-1][0]))
    assert "memoryless 36" in said(str(words.said[-1][0])), "e^-1 is 36.8 %"
    hover(mean, mean.place_of(BEGIN_S + 20 * DAY))
    assert said(str(words.said[-1][0])).startswith("Until 2026-10-2")
    acme = next(rung for rung in mean.rungs if rung.name.startswith("Acme"))
    hover(mean, mean.place_of_rung(acme))
    assert said(str(words.said[-1][0])) == "Acme (Seren and Kalos): one every 781 h at 32 nodes, counted at 588 nodes"


def notes_of(plot: QWidget) -> list[pg.TextItem]:
    scene = child(plot, pg.GraphicsLayoutWidget, "").scene()
    return [item for item in scene.items() if isinstance(item, pg.TextItem) and item.isVisible()]


@pytest.mark.parametrize("size", [LOW, TALL, (1600, 900)])
@pytest.mark.parametrize("make", [job_record, large_record])
def test_names_stand_apart(open_page: Open, size: tuple[int, int], make: Callable[[], FailureRecord]) -> None:
    desk = open_page(make(), size)
    QApplication.processEvents()
    notes = [(note.toPlainText(), note.mapRectToScene(note.boundingRect()).adjusted(4, 4, -4, -4))
             for note in notes_of(desk.page.gaps)]  # fmt: skip
    assert len(notes) == 2
    for (one, first), (other, second) in combinations(notes, 2):
        assert not first.intersects(second), (one, other)
    named = desk.page.mean.ruler.named()
    assert named[0].mtbi_s > named[-1].mtbi_s
    assert {"counted", "in use"} <= {rung.look for rung in named}, "what matters most has room first"
    assert 13.0 * (len(named) - 1) <= desk.page.mean.ruler.geometry().height()


@pytest.mark.parametrize("record", [job_record, quiet_record, large_record])
def test_it_fits_into_the_smallest_window(open_page: Open, record: Callable[[], FailureRecord]) -> None:
    desk = open_page(record(), LOW)
    assert (desk.page.width(), desk.page.height()) == LOW
    assert desk.page.minimumSizeHint().height() <= LOW[1]
    assert desk.page.minimumSizeHint().width() <= LOW[0]
    for one in desk.page.findChildren(KindToggle):
        if one.isVisible():
            assert width_of(one.text()) + 38 < one.width()


def test_boxes_stand_level_with_their_lanes(desk: Desk) -> None:
    strip, first = desk.page.strip, {}
    for index, stop in enumerate(job_record().stops):
        first.setdefault(stop.kind, index)
    for kind, index in first.items():
        box = toggle(desk, kind)
        middle = box.mapTo(desk.page, box.rect().center()).y()
        mark = strip.mapTo(desk.page, strip.place_of(index).toPoint()).y()
        assert abs(middle - mark) <= 1, kind


def test_every_kind_has_a_shape_of_its_own() -> None:
    paths = {kind: kind_path(kind, 10) for kind in KIND_TITLES}
    for (one, first), (other, second) in combinations(paths.items(), 2):
        assert first != second, (one, other)


def test_both_themes_draw(open_page: Open, qapp: QApplication) -> None:
    desk = open_page(with_prior(job_record()))
    light = desk.page.picture.grab().toImage()
    try:
        apply_theme(qapp, DARK)
        desk.page.show_theme(DARK)
        QApplication.processEvents()
        dark = desk.page.picture.grab().toImage()
    finally:
        apply_theme(qapp, LIGHT)
    corner = QPoint(light.width() - 3, light.height() - 3)
    assert light.pixelColor(corner).name().upper() == LIGHT.surface
    assert dark.pixelColor(corner).name().upper() == DARK.surface


def test_many_stops_are_drawn_at_once(open_page: Open) -> None:
    desk = open_page(job_record())
    desk.record = large_record(24_000)
    began = time.process_time()
    desk.show(Choices())
    desk.page.grab()
    assert time.process_time() - began < 2.0, "about 0.4 s on the machine it was written on"
    began = time.process_time()
    desk.page.strip.grab()
    assert time.process_time() - began < 0.5
    desk.page.table.choose(23_999)
    assert desk.page.table.model().rowCount() == 24_000


# ---------------------------------------------------------------- dates


@pytest.mark.parametrize(
    ("days", "words"),
    [(0.5, "10-01 06:00"), (41, "2026-10-11"), (400, "2027-01"), (4000, "2030"), (4e5, "2200")],
)
def test_ticks_stand_at_whole_dates(days: float, words: str) -> None:
    ticks = date_ticks(BEGIN_S, BEGIN_S + days * DAY, 800)
    assert words in [text for _, text in ticks]
    assert 3 <= len(ticks) <= 10
    assert all(later - sooner > 0 for (sooner, _), (later, _) in pairwise(ticks))
    assert all(BEGIN_S <= place <= BEGIN_S + days * DAY for place, _ in ticks)


@pytest.mark.parametrize("ends", [(0.0, 0.0), (5.0, 1.0), (-1e300, 1e300), (1e18, 2e18), (0.0, 1e-3)])
def test_no_range_is_too_odd_for_the_axis(ends: tuple[float, float]) -> None:
    assert len(date_ticks(*ends, 800)) < 12
    assert all(span_text(*ends))


def test_a_moment_is_in_the_files_own_zone() -> None:
    moment = (datetime(2026, 11, 29, 14, 5) - datetime(1970, 1, 1)).total_seconds()
    assert moment_text(moment) == "2026-11-29 14:05"


# ---------------------------------------------------------------- other languages


@pytest.fixture
def _abroad(qapp: QApplication) -> Iterator[None]:
    translator = Foreign(qapp)
    assert QCoreApplication.installTranslator(translator)
    yield
    QCoreApplication.removeTranslator(translator)


@pytest.mark.usefixtures("_abroad")
@pytest.mark.parametrize("make", [job_record, quiet_record, large_record, lambda: with_prior(job_record()), lambda: None])
def test_the_page_is_translated(open_page: Open, make: Callable[[], FailureRecord | None], qtbot: QtBot) -> None:
    record = make()
    desk = open_page(record, choices=Choices(prior="llama3-unexpected", kinds=(("run pretrain 0", "process"),)))
    if record is not None:
        desk.record = replace(record, stops=record.stops[:40])
        desk.show(replace(desk.choices, period=(record.first_s, record.last_s)))
    page = desk.page
    kept = ("NODE_FAIL", "FAILED 1:0", "lustre: all clients evicted", "PREEMPTED", "exit code", "CANCELLED", "TIMEOUT",
            "COMPLETED", "RUNNING", "sacct.txt, line", "pretrain-a", "ablation", "cu")  # fmt: skip
    left = untranslated(page, *kept)
    words = [*(cell for one in page.texts()[1] for cell in one), *page.texts()[0], *(rung.words for rung in page.mean.rungs)]
    words += [rung.name for rung in page.mean.rungs]
    words += [page.strip.words_at(QPointF(x, y)) for x in range(0, page.strip.width(), 9) for y in range(3, 140, 9)]
    words += [page.gaps.words_at(HOUR), page.mean.words_at(BEGIN_S), page.mean.words_at(BEGIN_S + 40 * DAY)]
    if record is not None:
        page.table.choose(0)
        QTest.keyClick(page.table, Qt.Key.Key_F2)
        if record.stops[0].kind != "open":
            left += untranslated(kinds_list(qtbot, desk))
    for text in words:
        for known in kept:
            text = text.replace(known, " ")
        left += [text] if bare(text) else []
    assert left == []


def test_the_file_of_a_stop_is_not_sliced(open_page: Open) -> None:
    """1180 wide: all columns together are as wide as the table, so that what is cut has its ellipsis."""
    record, place = job_record(), Place("run/sacct.txt", "line 14 (job 71226)")
    nodes = tuple(f"gpu-{at:03}" for at in range(32))
    desk = open_page(replace(record, stops=tuple(replace(stop, place=place, node_names=nodes) for stop in record.stops)), LOW)
    desk.page.tabs.setCurrentIndex(1)
    QApplication.processEvents()
    table = desk.page.table
    assert sum(table.columnWidth(at) for at in range(6)) <= table.viewport().width()
    assert table.columnWidth(5) >= width_of(str(place), BODY_PX)


def test_the_status_line_forgets_a_period_that_was_taken_back(desk: Desk) -> None:
    strip = desk.page.strip
    heard = Heard(desk.page.cursor_moved)
    y = round(strip.place_of(0).y())
    QTest.mousePress(strip, LEFT, NO_KEYS, QPoint(100, y))
    for x in (140, 220):
        drag = QMouseEvent(QEvent.Type.MouseMove, QPointF(x, y), QPointF(strip.mapToGlobal(QPoint(x, y))), LEFT, LEFT, NO_KEYS)
        QCoreApplication.sendEvent(strip, drag)
    assert " to " in str(heard.said[-1][0])
    strip.setFocus()
    QTest.keyClick(strip, Qt.Key.Key_Escape)
    assert heard.said[-1] == ("",)
    strip.hovered.emit("2026-10-14 to 2026-11-05")
    desk.page.hide()
    assert heard.said[-1] == ("",), "another page says nothing of this one's dates"


@pytest.mark.parametrize("typed", ["banana", "-5"])
def test_a_time_that_is_refused_says_why(open_page: Open, typed: str) -> None:
    desk = open_page(job_record(), LOW)
    aside = child(desk.page, QLabel, "evidence.aside")
    assert aside.text() == "Drag over the dates for a period"
    edit = desk.page.controls.merge
    type_into(desk.page, edit.objectName(), typed)
    assert aside.property("role") == "refusal"
    assert len(edit.toolTip()) > 10
    assert edit.toolTip() == (aside.toolTip() or aside.text())
    edit.setFocus()
    QTest.keyClick(edit, Qt.Key.Key_Escape)
    assert (aside.text(), edit.toolTip()[:5]) == ("Drag over the dates for a period", "Stops")
