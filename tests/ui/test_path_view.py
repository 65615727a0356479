"""The Path view by hand and eye: phases, the board, the hops, host RAM, gradients, what is not known."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise

import pytest
from PySide6.QtCore import QPoint, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QImage, QPainter
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QCheckBox, QLabel, QPushButton, QTableView, QWidget
from pytestqt.qtbot import QtBot

from ckptplanner.engine.node_plan import DataPath, HostRam, RamItem
from ckptplanner.engine.plan import Plan
from ckptplanner.text import text
from ckptplanner.ui.diagram.board import Board, paint_board
from ckptplanner.ui.diagram.paint import thickness
from ckptplanner.ui.diagram.ram_bar import RamBar, spread
from ckptplanner.ui.diagram.view import PathView, clamped
from ckptplanner.ui.theme import DARK, LIGHT, font
from tests.ui.conftest import Heard
from tests.ui.data_paths import GB, plan_of, ram, shown_of, with_path
from tests.ui.hands import NO_KEYS, child, click

Open = Callable[..., PathView]


@pytest.fixture
def open_view(qtbot: QtBot) -> Open:
    """Opens a Path view on a plan, the mockup's data path where none is given."""

    opened: list[PathView] = []  # a widget without an owner goes with its last reference

    def open_one(plan: Plan | None = None, base: Plan | None = None, size: tuple[int, int] = (1068, 560)) -> PathView:
        view = PathView()
        qtbot.addWidget(view)
        opened.append(view)
        view.resize(*size)
        view.show_plans(shown_of(plan or with_path(plan_of()), base), "month")
        with qtbot.waitExposed(view):
            view.show()
        view.activateWindow()
        assert QTest.qWaitForWindowActive(view)
        return view

    return open_one


def sentence(view: QWidget) -> str:
    label = child(view, QLabel, "path_sentence")
    assert isinstance(label, QLabel)
    return label.text().replace("\u00a0", " ")


def detail(view: QWidget) -> str:
    label = child(view, QLabel, "path_detail")
    assert isinstance(label, QLabel)
    return label.text().replace("\u00a0", " ")


def rows(view: PathView) -> list[list[str]]:
    return [[cell.replace("\u00a0", " ") for cell in row] for row in view.texts()]


def board_of(view: QWidget) -> Board:
    board = child(view, QWidget, "board")
    assert isinstance(board, Board)
    return board


def place_on(board: Board, hop_id: str) -> QPoint:
    place = board.place_of(hop_id)
    assert place is not None, f"{hop_id} can be clicked nowhere"
    return place.toPoint()


# ---------------------------------------------------------------- phases


def test_it_opens_on_the_shared_write_with_its_bottleneck(open_view: Open) -> None:
    view = open_view()
    assert view.phase == "shared_write"
    assert sentence(view) == "The file system is the limit: 6.0 GB/s for all 32 nodes, 97 % of it used."
    assert rows(view)[0] == ["GB/s", "can", "load", "use"]
    assert rows(view)[-1] == ["file system, all nodes", "6", "5.81", "97 %"]
    assert rows(view)[1] == ["host RAM, two sockets", "717", "0.18", "<1 %"]


def test_a_click_on_a_phase_changes_the_bottleneck(open_view: Open) -> None:
    view = open_view()
    click(child(view, QWidget, "phase.local_write"))
    assert sentence(view) == "The local drives are the limit: 9.01 GB/s for the 8 of a node."
    assert [row[0] for row in rows(view)[1:]] == ["host RAM, two sockets", "PCIe to the card", "8 NVMe drives"]
    click(child(view, QWidget, "phase.snapshot"))
    assert sentence(view).startswith("The copy engines are the limit")


def test_the_arrow_keys_go_along_the_phases(open_view: Open) -> None:
    view = open_view()
    chosen = child(view, QWidget, "phase.shared_write")
    chosen.setFocus(Qt.FocusReason.TabFocusReason)
    QTest.keyClick(chosen, Qt.Key.Key_Right)
    assert view.phase == "s3_write"
    QTest.keyClick(child(view, QWidget, "phase.s3_write"), Qt.Key.Key_Left)
    assert view.phase == "shared_write"


def test_each_phase_says_how_long_it_takes_or_that_it_is_not_set(open_view: Open) -> None:
    shown = {name: time.replace("\u00a0", " ") for name, time, _ in open_view().phases.texts()}
    assert shown["Snapshot"] == "120 ms"
    assert shown["Shared write"] == "4 min 50 s"
    assert shown["Replicate"] == "not set"


def test_the_base_stands_below_in_small(open_view: Open) -> None:
    plan = with_path(plan_of())
    assert all(base == "" for _, _, base in open_view(plan).phases.texts())
    assert plan.datapath is not None
    slow = tuple(replace(phase, seconds=600.0) if phase.name == "shared_write" else phase for phase in plan.datapath.phases)
    view = open_view(plan, base=replace(plan, datapath=DataPath(slow, None, None)))
    shown = {name: base.replace("\u00a0", " ") for name, _, base in view.phases.texts()}
    assert shown["Shared write"] == "base 10 min"


def test_a_phase_stays_chosen_while_the_plan_changes(open_view: Open) -> None:
    view = open_view()
    click(child(view, QWidget, "phase.snapshot"))
    view.show_plans(shown_of(with_path(plan_of("g6e.12xlarge"))), "month")
    assert view.phase == "snapshot"


def test_what_is_hidden_is_drawn_when_it_is_looked_at(open_view: Open) -> None:
    view = open_view(plan_of())
    view.hide()
    view.show_plans(shown_of(with_path(plan_of())), "month")
    assert rows(view)[1][0] == "host RAM, two sockets", "a copy of a hidden table is up to date"
    view.show_phase("local_write")
    view.show()
    assert sentence(view) == "The local drives are the limit: 9.01 GB/s for the 8 of a node."


# ---------------------------------------------------------------- the board


@pytest.mark.parametrize("size", [(1068, 560), (860, 470), (1600, 900)])
def test_a_click_on_a_hop_asks_for_its_field(open_view: Open, heard: type[Heard], size: tuple[int, int]) -> None:
    view = open_view(size=size)
    board, plan = board_of(view), with_path(plan_of())
    assert plan.datapath is not None
    for phase in plan.datapath.phases:
        view.show_phase(phase.name)
        for hop in phase.hops:
            asked = heard(view.field_requested)
            QTest.mouseClick(board, Qt.MouseButton.LeftButton, NO_KEYS, place_on(board, hop.id))
            at_one_place = {other.path for other in phase.hops if other.part == hop.part or other.id in ("copy", "link", "hbm")}
            assert len(asked.said) == 1, (phase.name, hop.id)
            assert asked.said[0][0] in at_one_place | {hop.path}, (phase.name, hop.id)


def test_a_click_beside_the_parts_asks_for_nothing(open_view: Open, heard: type[Heard]) -> None:
    view = open_view()
    asked = heard(view.field_requested)
    QTest.mouseClick(board_of(view), Qt.MouseButton.LeftButton, NO_KEYS, QPoint(board_of(view).width() - 2, 2))
    assert asked.said == []


def test_the_tip_says_ceiling_load_use_and_how_it_is_known(open_view: Open) -> None:
    board = board_of(open_view())
    tip = board.tip_at(QPointF(place_on(board, "ena"))).replace("\u00a0", " ")
    assert tip.splitlines() == [
        "ENA card", "ceiling 43.8 GB/s, load 180 MB/s", "use <1 %", "documented, Amazon EC2 User Guide, 2026-07",
    ]  # fmt: skip
    assert "this is the limit" in board.tip_at(QPointF(place_on(board, "disks")))


def test_tab_walks_the_hops_and_enter_asks(open_view: Open, heard: type[Heard]) -> None:
    view = open_view()
    board, asked = board_of(view), heard(view.field_requested)
    child(view, QWidget, "phase.shared_write").setFocus()
    board.setFocus(Qt.FocusReason.TabFocusReason)
    seen = [board.strong_hop]
    for _ in range(5):
        QTest.keyClick(board, Qt.Key.Key_Tab)
        seen.append(board.strong_hop)
    assert seen == ["memory", "link", "ena", "client", "servers_network", "disks"]
    assert "file system" in board.accessibleDescription()
    QTest.keyClick(board, Qt.Key.Key_Left)
    QTest.keyClick(board, Qt.Key.Key_Left)
    assert board.strong_hop == "client"
    QTest.keyClick(board, Qt.Key.Key_Return)
    assert asked.said == [("datapath.client_bytes_per_s",)]


def test_tab_leaves_after_the_last_hop(open_view: Open) -> None:
    view = open_view()
    board = board_of(view)
    child(view, QWidget, "phase.shared_write").setFocus()
    board.setFocus(Qt.FocusReason.TabFocusReason)
    for _ in range(6):
        QTest.keyClick(board, Qt.Key.Key_Tab)
    assert not board.hasFocus()


def test_what_is_pointed_at_is_said_below(open_view: Open, heard: type[Heard]) -> None:
    view = open_view()
    board, moved = board_of(view), heard(view.cursor_moved)
    QTest.mouseMove(board, place_on(board, "ena"))
    assert str(moved.said[-1][0]).startswith("ENA card, ceiling")


def pixels(plan: Plan, phase: str, colour: str, *, gradients: bool = False) -> int:
    """How many pixels of a board have exactly that colour."""
    image = QImage(860, 440, QImage.Format.Format_RGB32)
    image.fill(QColor(LIGHT.surface))
    painter = QPainter(image)
    paint_board(painter, QRectF(0, 0, 860, 440), plan, phase, LIGHT, shows_gradients=gradients)
    painter.end()
    wanted = QColor(colour).rgb()
    return sum(image.pixel(x, y) == wanted for x in range(0, 860) for y in range(0, 440))


def test_the_board_can_be_painted_anywhere_and_lights_its_way(open_view: Open) -> None:
    plan = with_path(plan_of())
    assert pixels(plan, "shared_write", LIGHT.use_high) > 500
    assert pixels(plan, "snapshot", LIGHT.use_high) == 0
    assert pixels(plan, "snapshot", LIGHT.use_low) > 500


def test_thickness_follows_the_load() -> None:
    loads = [thickness(load * GB) for load in (0.001, 0.04, 0.2, 6.0, 60.0, 1e6)]
    assert loads == sorted(loads)
    assert loads[0] == loads[1] == thickness(None)
    assert loads[-1] <= 9.0


# ---------------------------------------------------------------- gradients


def test_gradients_can_be_shown_and_words_say_who_moves_what(open_view: Open) -> None:
    view = open_view(plan_of())
    toggle = child(view, QCheckBox, "path_gradients")
    before = detail(view)
    click(toggle, QPoint(8, toggle.height() // 2))
    said = detail(view)
    assert "RDMA" in said
    assert "SmartNIC" in said
    assert "DMA engine" in said
    layout = board_of(view).drawn()
    assert layout is not None
    assert layout.lines_of("gradient")
    click(toggle, QPoint(8, toggle.height() // 2))
    assert detail(view) == before
    assert pixels(plan_of(), "snapshot", LIGHT.text, gradients=True) > pixels(plan_of(), "snapshot", LIGHT.text) + 200


# ---------------------------------------------------------------- table and host RAM


def test_a_click_or_enter_on_a_row_asks_for_its_field(open_view: Open, heard: type[Heard]) -> None:
    view = open_view()
    table = child(view, QTableView, "hops_table")
    assert isinstance(table, QTableView)
    asked = heard(view.field_requested)
    click(table.viewport(), table.visualRect(table.model().index(2, 0)).center())
    assert asked.said == [("datapath.ena_bytes_per_s",)]
    QTest.keyClick(table, Qt.Key.Key_Down)
    QTest.keyClick(table, Qt.Key.Key_Return)
    assert asked.said[-1] == ("datapath.client_bytes_per_s",)


def test_what_is_not_known_is_a_dash_and_words(open_view: Open) -> None:
    view = open_view(plan_of("trn1.32xlarge"))
    view.show_phase("snapshot")
    unknown = [row for row in rows(view)[1:] if row[1] == "–"]
    assert unknown
    assert all(row[3] == "not known" for row in unknown)
    board = board_of(view)
    assert "ceiling not known" in board.tip_at(QPointF(place_on(board, "memory")))


@pytest.mark.parametrize("size", [(1068, 560), (860, 470), (1600, 900)])
def test_no_number_of_the_table_is_cut(open_view: Open, size: tuple[int, int]) -> None:
    view = open_view(size=size)
    table = child(view, QTableView, "hops_table")
    assert isinstance(table, QTableView)
    for phase in ("snapshot", "shared_write", "replicate"):
        view.show_phase(phase)
        for column in (1, 2, 3):
            for row in range(table.model().rowCount()):
                words = str(table.model().index(row, column).data())
                icon = 16 if table.model().index(row, column).data(Qt.ItemDataRole.DecorationRole) else 0
                made = table.model().index(row, column).data(Qt.ItemDataRole.FontRole)
                assert QFontMetricsF(made).horizontalAdvance(words) + icon <= table.columnWidth(column) - 6


def test_host_ram_says_what_is_held_and_what_is_a_guess(open_view: Open, heard: type[Heard]) -> None:
    view = open_view()
    bar = child(view, QWidget, "ram_bar")
    assert isinstance(bar, RamBar)
    words = [line.replace("\u00a0", " ") for line in bar.texts()]
    assert words[1] == "4,096 GiB = 4.4 TB, 12 % used"
    assert "the job 419 GB, a guess" in words
    assert words[-1].startswith("free")
    asked, place = heard(view.field_requested), bar.place_of("job")
    assert place is not None
    click(bar, place.toPoint())
    assert asked.said == [("memory.job_bytes",)]


def test_host_ram_that_does_not_fit_is_said_and_drawn(open_view: Open) -> None:
    view = open_view(with_path(plan_of(), ram_ratio=1.4))
    bar = child(view, QWidget, "ram_bar")
    assert isinstance(bar, RamBar)
    assert "1.76\u00a0TB more than is installed" in bar.texts()
    image = bar.grab().toImage()
    wanted = QColor(LIGHT.error).rgb()
    assert sum(image.pixel(20, y) == wanted for y in range(image.height())) > 20
    fits = child(open_view(), QWidget, "ram_bar").grab().toImage()
    assert sum(fits.pixel(20, y) == wanted for y in range(60, fits.height())) == 0


def test_host_ram_of_unknown_size_is_no_share(open_view: Open) -> None:
    plan = replace(with_path(plan_of()), host_ram=replace(ram(), ram_bytes=None))
    bar = child(open_view(plan), QWidget, "ram_bar")
    assert isinstance(bar, RamBar)
    assert bar.texts()[1] == "size not known"


def test_many_labels_of_host_ram_stay_apart(open_view: Open) -> None:
    items = tuple(RamItem(f"i{number}", text("thing"), 1e9, False, "memory.job_bytes") for number in range(9))
    plan = replace(with_path(plan_of()), host_ram=HostRam(4e12, items, None))
    bar = child(open_view(plan), QWidget, "ram_bar")
    bar.grab()
    placed = spread([200.0] * 5, 16.0, 300.0, 40.0)
    assert all(before - after >= 15.9 for before, after in pairwise(placed))
    crowded = spread([290.0] * 8, 32.0, 300.0, 40.0)
    assert all(40.0 <= middle <= 300.0 for middle in crowded)
    assert all(before - after >= 31.9 for before, after in pairwise(crowded))


# ---------------------------------------------------------------- what would be faster


def test_a_faster_file_system_is_offered_and_taken(open_view: Open, heard: type[Heard]) -> None:
    view = open_view(plan_of())
    offer = child(view, QWidget, "path_offer")
    assert offer.isVisible()
    words = [label.text().replace("\u00a0", " ") for label in offer.findChildren(QLabel)]
    assert words == ["Faster: 7,200 GiB, 1,000 MB/s/TiB writes in 4 min 2 s for $240 a month more"]
    edited, ended = heard(view.edited), heard(view.gesture_ended)
    click(child(view, QPushButton, "path_take"))
    assert edited.said == [("storage.tier", "p2-1000-7200")]
    assert ended.said == [()]
    click(child(view, QWidget, "phase.snapshot"))
    assert not offer.isVisible(), "a file system makes no snapshot faster"


# ---------------------------------------------------------------- nothing to show


def test_without_a_data_path_it_says_what_would_fill_it(open_view: Open, heard: type[Heard]) -> None:
    view = open_view(replace(plan_of(), datapath=None, host_ram=None))
    empty = child(view, QWidget, "path_empty")
    assert empty.isVisible()
    assert any("kind of node" in label.text() for label in empty.findChildren(QLabel))
    asked = heard(view.field_requested)
    link = child(view, QLabel, "path_empty_link")
    assert isinstance(link, QLabel)
    link.setFocus(Qt.FocusReason.TabFocusReason)
    QTest.keyClick(link, Qt.Key.Key_Tab)
    link.linkActivated.emit("workload.node")
    assert asked.said == [("workload.node",)]
    view.show_plans(shown_of(with_path(plan_of())), "month")
    assert not empty.isVisible()


def test_a_text_that_is_too_long_is_cut_after_its_lines_and_whole_in_the_tip(open_view: Open) -> None:
    words = "Copying takes its time because memory is pageable, " * 6
    cut = clamped(words, font(), 300.0, 2)
    assert cut.endswith("…")
    assert words.startswith(cut[:40])
    assert len(cut) < 120
    assert clamped("short", font(), 300.0, 2) == "short"


@pytest.mark.parametrize("theme", [LIGHT, DARK])
@pytest.mark.parametrize("size", [(1068, 560), (860, 470)])
def test_it_keeps_to_its_size_in_both_themes(open_view: Open, theme: object, size: tuple[int, int]) -> None:
    view = open_view(plan_of(), size=size)
    view.show_theme(theme)  # type: ignore[arg-type]
    for phase in ("snapshot", "shared_write", "replicate"):
        view.show_phase(phase)
        view.grab()
        assert (view.width(), view.height()) == size
