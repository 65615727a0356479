"""The parts of the check page, with data and without an engine: strip, causes, lanes, and the sums behind them."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QColor, QImage, QMouseEvent, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from ckptplanner.ui.check.axis import moment_text, moment_ticks, share_ticks
from ckptplanner.ui.check.causes import CauseBars, ink_on, percent_kept
from ckptplanner.ui.check.coverage import Lane, Run, heights, lanes_of, skyline
from ckptplanner.ui.check.kinds import CAUSES, LANES, cause_word, colour_of
from ckptplanner.ui.check.lanes import LaneView
from ckptplanner.ui.check.strip import Estimate, FormulaMark, Strip, pointed
from ckptplanner.ui.ink import spread
from ckptplanner.ui.theme import DARK, LIGHT
from tests.ui.conftest import Heard
from tests.ui.hands import LEFT, NO_KEYS

DAY = 86_400.0


def plain(words: str) -> str:
    return words.replace("\u00a0", " ")


# ---------------------------------------------------------------- how much of a pixel is covered


def lane(*stretches: tuple[float, float], name: str = "saving") -> Lane:
    starts, ends = np.array(stretches, dtype=float).reshape(-1, 2).T
    return Lane(name, starts, ends)


def test_shares_are_those_of_a_walk_over_the_stretches() -> None:
    rng = np.random.default_rng(3)
    points = np.sort(rng.uniform(0, 1000, 60))
    one = Lane("lost", points[::2], points[1::2])
    edges = np.linspace(-50.0, 1050.0, 74)
    by_hand = [
        sum(max(min(end, right) - max(start, left), 0.0) for start, end in zip(one.start_s, one.end_s, strict=True))
        / (right - left)
        for left, right in pairwise(edges)
    ]
    assert one.shares(edges) == pytest.approx(by_hand, abs=1e-9)
    assert (one.shares(edges) * np.diff(edges)).sum() == pytest.approx(one.total_s)


def test_an_empty_lane_covers_nothing() -> None:
    empty = lane()
    assert empty.shares(np.array([0.0, 1.0, 2.0])).tolist() == [0.0, 0.0]
    assert empty.total_s == 0.0
    assert empty.at(0.5) is None


def test_a_moment_finds_its_stretch() -> None:
    one = lane((10, 20), (20, 25), (40, 50))
    assert one.at(9.9) is None
    assert one.at(10.0) == (10.0, 20.0)
    assert one.at(20.0) == (20.0, 25.0)
    assert one.at(30.0) is None
    assert one.at(49.9) == (40.0, 50.0)
    assert one.at(50.0) is None


def test_stretches_that_reach_into_a_window_are_found() -> None:
    one = lane((0, 10), (20, 30), (40, 50), (60, 70))
    assert one.start_s[one.within(25.0, 60.0)].tolist() == [20.0, 40.0]
    assert one.start_s[one.within(9.0, 21.0)].tolist() == [0.0, 20.0]
    assert one.start_s[one.within(11.0, 19.0)].tolist() == []


def test_lanes_are_sorted_out_by_kind() -> None:
    kind = np.array([0, 2, 0, 1, 4], dtype=np.int8)
    starts, ends = np.arange(5.0), np.array([1.0, 2.0, 3.0, 4.0, 4.0])  # the last one is empty
    kinds = ("training", "lost", "saving", "waiting", "restart", "down", "planned")
    found = {one.name: one.start_s.tolist() for one in lanes_of(LANES, kinds, kind, starts, ends)}
    assert found["training"] == [0.0, 2.0]
    assert found["saving"] == [1.0]
    assert found["lost"] == [3.0]
    assert found["restart"] == found["down"] == []


def test_what_is_there_is_seen_and_what_is_not_is_not() -> None:
    tall = heights(np.array([0.0, 1e-6, 0.2, 0.999, 1.0]), 20.0, 2.0)
    assert tall[0] == 0.0
    assert tall[1] == 2.0
    assert 8.0 < tall[2] < 12.0
    assert tall[4] == 20.0
    assert (np.diff(tall) > 0).all()


def test_columns_stand_on_the_ground() -> None:
    pixels = skyline(np.array([0.0, 2.0, 2.5, 4.0]), 4, (0, 0, 0), (255, 255, 255))
    assert pixels.shape == (4, 4)
    white, black, half = 0xFFFFFFFF, 0xFF000000, 0xFF808080
    assert pixels[:, 0].tolist() == [white] * 4
    assert pixels[:, 1].tolist() == [white, white, black, black]
    assert pixels[:, 2].tolist() == [white, half, black, black]
    assert pixels[:, 3].tolist() == [black] * 4


# ---------------------------------------------------------------- axes


def test_moments_are_as_exact_as_the_step() -> None:
    at = 12 * DAY + 6 * 3600 + 30 * 60 + 15
    assert plain(moment_text(at, DAY)) == "12 d"
    assert plain(moment_text(at, 3600.0)) == "12 d 06:30"
    assert plain(moment_text(at, 15.0)) == "12 d 06:30:15"
    assert plain(moment_text(2 * DAY - 0.4, 1.0)) == "2 d 00:00:00"


@pytest.mark.parametrize("span", [20.0, 3600.0, DAY, 90 * DAY, 3650 * DAY, 1e10])
@pytest.mark.parametrize("width", [200.0, 900.0, 2000.0])
def test_ticks_keep_apart(span: float, width: float) -> None:
    begin = 0.37 * span
    step, ticks = moment_ticks(begin, begin + span, width)
    assert ticks
    assert min(ticks) >= begin - 1e-6 * span
    assert max(ticks) <= begin + span * (1 + 1e-6)
    assert step / span * width >= 95.9 or len(ticks) == 1


@pytest.mark.parametrize(("low", "high"), [(0.0035, 0.0075), (0.0, 1.0), (0.1, 0.1004), (0.53, 0.99)])
def test_round_shares_are_found(low: float, high: float) -> None:
    ticks = share_ticks(low, high, 500.0)
    assert 2 <= len(ticks) <= 8
    assert low <= ticks[0] <= ticks[-1] <= high


def test_labels_do_not_touch() -> None:
    centres, widths = [100.0, 101.0, 103.0, 480.0], [80.0, 120.0, 60.0, 90.0]
    lefts = spread(centres, widths, 12.0, 0.0, 500.0)
    for left, width, after in zip(lefts, widths, lefts[1:], strict=False):
        assert left + width + 12.0 <= after + 1e-9
    assert lefts[0] >= 0.0
    assert lefts[-1] + widths[-1] <= 500.0 + 1e-9


def test_a_label_with_room_stands_where_it_belongs() -> None:
    assert spread([100.0, 300.0], [40.0, 40.0], 12.0, 0.0, 500.0) == [80.0, 280.0]


# ---------------------------------------------------------------- strip

BINS = np.linspace(0.003, 0.009, 13)
ESTIMATE = Estimate(0.00537, 1.8e-5, 0.0044, 0.0053, 0.0063, BINS, np.array([0, 1, 4, 9, 20, 30, 22, 9, 4, 1, 0, 1.0]))
MARKS = (FormulaMark("first order", 0.00540, is_chosen=False), FormulaMark("exact", 0.00538, is_chosen=True))


@pytest.fixture
def strip(qtbot: QtBot) -> Strip:
    made = Strip()
    qtbot.addWidget(made)
    made.resize(500, 190)
    made.show_estimate(ESTIMATE, MARKS)
    return made


def test_a_mean_is_as_exact_as_its_margin() -> None:
    assert plain(pointed(0.005372, 5.4e-5)) == "0.537 %, give or take 0.005 %"
    assert plain(pointed(0.193123, 2.1e-4)) == "19.31 %, give or take 0.02 %"


def test_the_strip_says_what_it_shows(strip: Strip) -> None:
    said = plain(strip.accessibleDescription())
    assert said == "mean 0.537 %, give or take 0.005 %; 9 of 10 runs 0.44 % to 0.63 %; exact 0.538 %; first order 0.54 %"


def test_marks_and_band_lie_in_order(strip: Strip) -> None:
    places = [strip.place_of(one) for one in (0.0044, 0.00537, 0.00538, 0.00540, 0.0063)]
    assert places == sorted(places)
    assert places[0] >= 8.0
    assert places[-1] <= strip.width() - 8.0


def test_a_mark_far_off_is_still_on_the_axis(strip: Strip) -> None:
    strip.show_estimate(ESTIMATE, (*MARKS, FormulaMark("Young", 0.05, is_chosen=False)))
    assert 0.0 <= strip.place_of(0.05) <= strip.width()


def test_pointing_says_what_is_there(strip: Strip) -> None:
    assert plain(strip.words_at(strip.place_of(0.00540) + 3)) == "first order 0.54 %"
    assert "exact 0.538 %, which decides" in plain(strip.words_at(strip.place_of(0.00538) - 1))
    strip.show_estimate(ESTIMATE, ())
    assert "three standard errors" in strip.words_at(strip.place_of(0.00537))
    assert "9 of 10 runs waste 0.44 % to 0.63 %" in plain(strip.words_at(strip.place_of(0.006)))
    assert strip.words_at(strip.place_of(0.0068)) == ""


def colours_in(widget: Strip | CauseBars | LaneView) -> set[str]:
    image = widget.grab().toImage().convertToFormat(QImage.Format.Format_RGB32)
    return {QColor(image.pixel(x, y)).name() for x in range(image.width()) for y in range(0, image.height(), 2)}


def test_an_old_result_is_pale(strip: Strip) -> None:
    strip.show_theme(LIGHT)
    accent = QColor(LIGHT.accent).name()
    assert accent in colours_in(strip)
    strip.show_estimate(ESTIMATE, MARKS, is_stale=True)
    assert accent not in colours_in(strip)


# ---------------------------------------------------------------- causes

SPLIT = {"training": 0.99463, "saving": 0.00186, "waiting": 0.0, "rework": 0.00228, "restart": 0.00123, "down": 0.0}


@pytest.fixture
def causes(qtbot: QtBot) -> CauseBars:
    made = CauseBars()
    qtbot.addWidget(made)
    made.resize(480, 160)
    made.show_causes(SPLIT, SPLIT | {"rework": 0.00229})
    return made


def test_causes_are_named_with_both_shares(causes: CauseBars) -> None:
    said = plain(causes.accessibleDescription()).split("; ")
    assert said == [
        "training 99.46 %", "saving 0.186 %, formula 0.186 %", "done again 0.228 %, formula 0.229 %",
        "restart 0.123 %, formula 0.123 %",
    ]  # fmt: skip


def test_causes_can_be_copied(causes: CauseBars) -> None:
    rows = causes.texts()
    assert rows[0] == ["Part of the run", "Simulated", "Formula"]
    assert [row[0] for row in rows[1:]] == [cause_word(name) for name in CAUSES]
    assert plain(rows[4][1]) == "0.228 %"
    assert plain(rows[4][2]) == "0.229 %"


def test_pointing_at_a_part_explains_it(causes: CauseBars) -> None:
    causes.grab()  # places are known once it is drawn
    saving = next(
        QPointF(x, y)
        for y in range(40, 80, 4)
        for x in range(80, 470, 4)
        if causes.words_at(QPointF(x, y)).startswith("saving")
    )
    assert plain(causes.words_at(saving)) == (
        "saving 0.186 %, formula 0.186 %. Training stands still, or is slowed, by a save."
    )
    assert causes.words_at(QPointF(1, 1)) == ""


def test_every_loss_has_its_colour(causes: CauseBars) -> None:
    seen = colours_in(causes)
    for name in ("training", "saving", "rework", "restart"):
        assert QColor(colour_of(name, LIGHT)).name() in seen
    for name in ("waiting", "down", "planned"):
        assert QColor(colour_of(name, LIGHT)).name() not in seen


def test_without_a_split_of_the_formula_there_is_one_bar(causes: CauseBars) -> None:
    before = causes.minimumHeight()
    causes.show_causes(SPLIT, None)
    assert causes.minimumHeight() < before
    assert "formula" not in causes.accessibleDescription()


def test_a_run_that_loses_nothing_can_be_drawn(causes: CauseBars) -> None:
    causes.show_causes({"training": 1.0}, None)
    causes.grab()
    causes.show_causes({"training": 0.0, "restart": 1.0}, {"training": 0.0, "restart": 1.0})
    causes.grab()


def test_what_is_kept_is_as_exact_as_what_is_lost() -> None:
    assert plain(percent_kept(1 - 0.00537)) == "99.46 %"
    assert plain(percent_kept(1 - 0.00004)) == "99.9960 %"


def test_words_stand_out_on_every_fill() -> None:
    def light(colour: str) -> float:
        parts = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in QColor(colour).getRgbF()[:3]]
        return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2] + 0.05

    for theme in (LIGHT, DARK):
        for fill in theme.causes:
            one, two = light(fill), light(ink_on(fill, theme))
            assert max(one, two) / min(one, two) >= 4.4, (theme.name, fill)


# ---------------------------------------------------------------- lanes

LENGTH = 90 * DAY


def a_run(interval_s: float = 2700.0, at: tuple[float, ...] = (10.3 * DAY, 50.1 * DAY)) -> Run:
    """Saves of 5 s every interval, and at each interruption 20 minutes that are lost and 15 of restart."""
    saves = np.arange(interval_s, LENGTH, interval_s)
    hit = np.array(at)
    lanes = (
        Lane("training", np.array([0.0, *(hit + 900.0)]), np.array([*(hit - 1200.0), LENGTH])),
        Lane("saving", saves, saves + 5.0),
        Lane("lost", hit - 1200.0, hit),
        Lane("restart", hit, hit + 900.0),
    )
    return Run(lanes, hit, tuple(f"fault {index}; goes back to shared storage" for index in range(len(at))), LENGTH)


@pytest.fixture
def lanes(qtbot: QtBot) -> LaneView:
    made = LaneView()
    qtbot.addWidget(made)
    made.resize(1000, 200)
    made.show_run(a_run())
    made.show()
    return made


def wheel(view: LaneView, x: float, notches: int) -> None:
    where = QPointF(x, 60)
    event = QWheelEvent(
        where, QPointF(view.mapToGlobal(where.toPoint())), QPoint(), QPoint(0, 120 * notches), Qt.MouseButton.NoButton,
        NO_KEYS, Qt.ScrollPhase.NoScrollPhase, False,
    )  # fmt: skip
    QApplication.sendEvent(view, event)


def move(view: LaneView, x: float, y: float, *, held: bool = False) -> None:
    place = QPointF(x, y)
    none = Qt.MouseButton.NoButton
    event = QMouseEvent(
        QEvent.Type.MouseMove, place, QPointF(view.mapToGlobal(place.toPoint())), none, LEFT if held else none, NO_KEYS
    )
    QApplication.sendEvent(view, event)


def test_the_whole_run_is_seen_first(lanes: LaneView) -> None:
    assert lanes.view_s == (0.0, LENGTH)
    assert lanes.is_whole
    said = plain(lanes.accessibleDescription())
    assert said.startswith("2 interruptions; training ")
    assert "lost 40 min, restart 30 min" in said


def test_the_wheel_zooms_about_the_pointer(lanes: LaneView) -> None:
    frame = lanes.frame()
    assert frame is not None
    x = frame.x(10.3 * DAY)
    wheel(lanes, x, 8)
    begin, end = lanes.view_s
    assert (end - begin) / LENGTH == pytest.approx(1.3**-8)
    after = lanes.frame()
    assert after is not None
    assert after.seconds(x) == pytest.approx(10.3 * DAY)
    wheel(lanes, x, -30)
    assert lanes.is_whole


def test_zooming_ends_at_half_a_minute(lanes: LaneView) -> None:
    wheel(lanes, 500, 200)
    begin, end = lanes.view_s
    assert end - begin == pytest.approx(30.0)
    wheel(lanes, 500, 5)
    assert lanes.view_s == (begin, end)


def test_a_drag_moves_and_stops_at_the_ends(lanes: LaneView) -> None:
    lanes.show_span(40 * DAY, 50 * DAY)
    frame = lanes.frame()
    assert frame is not None
    QTest.mousePress(lanes, LEFT, NO_KEYS, QPoint(600, 100))
    move(lanes, 500, 100, held=True)
    assert lanes.view_s[0] == pytest.approx(40 * DAY + 100 * frame.seconds_per_pixel)
    assert lanes.view_s[1] - lanes.view_s[0] == pytest.approx(10 * DAY)
    move(lanes, 99_999, 100, held=True)
    assert lanes.view_s == (0.0, pytest.approx(10 * DAY))
    QTest.mouseRelease(lanes, LEFT, NO_KEYS, QPoint(600, 100))


def test_a_double_click_shows_the_whole_run(qtbot: QtBot, lanes: LaneView) -> None:
    lanes.show_span(40 * DAY, 50 * DAY)
    with qtbot.waitSignal(lanes.view_changed):
        QTest.mouseDClick(lanes, LEFT, NO_KEYS, QPoint(600, 100))
    assert lanes.is_whole


def test_keys_move_zoom_and_go_through_interruptions(lanes: LaneView) -> None:
    QTest.keyClick(lanes, Qt.Key.Key_Plus)
    assert lanes.view_s == (pytest.approx(LENGTH / 4), pytest.approx(LENGTH * 3 / 4))
    QTest.keyClick(lanes, Qt.Key.Key_Right)
    assert lanes.view_s[0] == pytest.approx(LENGTH * 0.3)
    QTest.keyClick(lanes, Qt.Key.Key_Left)
    QTest.keyClick(lanes, Qt.Key.Key_Minus)
    assert lanes.is_whole
    QTest.keyClick(lanes, Qt.Key.Key_PageDown)
    assert lanes.view_s[0] < 50.1 * DAY < lanes.view_s[1] < 51 * DAY
    QTest.keyClick(lanes, Qt.Key.Key_PageUp)
    assert lanes.view_s[0] < 10.3 * DAY < lanes.view_s[1] < 11 * DAY
    QTest.keyClick(lanes, Qt.Key.Key_Home)
    assert lanes.is_whole


def test_a_click_on_an_interruption_zooms_to_it(lanes: LaneView) -> None:
    frame = lanes.frame()
    assert frame is not None
    QTest.mouseClick(lanes, LEFT, NO_KEYS, QPoint(round(frame.x(50.1 * DAY)), 7))
    begin, end = lanes.view_s
    assert begin < 50.1 * DAY - 1200 < 50.1 * DAY + 900 < end
    assert end - begin < 6 * 3600


def test_pointing_names_what_happens(lanes: LaneView, heard: type[Heard]) -> None:
    told = heard(lanes.hovered)
    frame = lanes.frame()
    assert frame is not None
    move(lanes, frame.x(10.3 * DAY), 7)
    assert plain(str(told.said[-1][0])) == "10 d 07:12: fault 0; goes back to shared storage"
    lanes.show_span(10.3 * DAY - 1800, 10.3 * DAY + 1800)
    frame = lanes.frame()
    assert frame is not None
    bars = {one.name: bar for one, bar in frame.bars()}
    move(lanes, frame.x(10.3 * DAY - 600), bars["lost"].center().y())
    assert plain(str(told.said[-1][0])) == "10 d 07:02:00: lost, 20 min"
    move(lanes, frame.x(10.3 * DAY + 1200), bars["lost"].center().y())
    assert plain(str(told.said[-1][0])) == "10 d 07:32:00: lost, 33.3 % of what is seen"


def test_lanes_fit_into_any_height(lanes: LaneView) -> None:
    for height in (118, 150, 200, 400):
        lanes.resize(1000, height)
        frame = lanes.frame()
        assert frame is not None
        bars = [bar for _, bar in frame.bars()]
        assert all(one.bottom() < other.top() for one, other in pairwise(bars))
        assert bars[-1].bottom() + 20 <= lanes.height()
        assert min(bar.height() for bar in bars) >= 12


def test_saves_stay_a_thin_even_line_at_full_view(lanes: LaneView) -> None:
    """2,880 saves in some 800 columns: no column without, none that towers over the others."""
    frame = lanes.frame()
    assert frame is not None
    one = next(one for one, _ in frame.bars() if one.name == "saving")
    tall = heights(one.shares(np.linspace(*lanes.view_s, 801)), 24.0, 2.0)
    assert tall.min() == 2.0
    assert tall.max() < 4.0


def test_another_run_keeps_the_days_that_are_looked_at(lanes: LaneView) -> None:
    lanes.show_span(40 * DAY, 50 * DAY)
    lanes.show_run(a_run(at=(44 * DAY,)), keeps_view=True)
    assert lanes.view_s == (40 * DAY, 50 * DAY)
    lanes.show_run(a_run())
    assert lanes.is_whole
