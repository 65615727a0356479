"""The cards that say why a number is what it is, and where it comes from."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QAbstractButton, QLabel, QLineEdit, QMainWindow
from pytestqt.qtbot import QtBot

from ckptplanner.engine.derivation.derive import derivation
from ckptplanner.engine.derivation.figures import FIGURES
from ckptplanner.engine.scenario import PATHS, NamedScenario, Scenario, Source
from ckptplanner.frozen import with_value
from ckptplanner.ui.source_popup import SourcePopup
from ckptplanner.ui.why import CardPopup, WhyPopup, rich
from tests.ui.conftest import Heard

NAMED = NamedScenario(name="5 min")


@pytest.fixture
def window(qtbot: QtBot) -> QMainWindow:
    window = QMainWindow()
    window.resize(1000, 700)
    editor = QLineEdit(window)
    editor.setObjectName("editor")
    window.setCentralWidget(editor)
    qtbot.addWidget(window)
    window.show()
    editor.setFocus()
    return window


@pytest.fixture
def why(window: QMainWindow) -> WhyPopup:
    popup = WhyPopup(window)
    popup.show_derivation(derivation(NAMED, "required_write_bytes_per_s"))
    popup.open_by(window.centralWidget())
    return popup


@pytest.fixture
def source(window: QMainWindow) -> SourcePopup:
    return SourcePopup(window)


def texts(popup: CardPopup) -> str:
    labels = [label.text() for label in popup.findChildren(QLabel)]
    buttons = [button.text() for button in popup.findChildren(QAbstractButton)]
    return "\n".join([*labels, *buttons]).replace("\u00a0", " ")


def press(popup: CardPopup, qtbot: QtBot, name: str) -> None:
    button = popup.findChild(QAbstractButton, name)
    assert button is not None
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)


def test_formulas_have_their_indices_below_and_exponents_above() -> None:
    assert rich("W = S / t_w") == "W = S / t<sub>w</sub>"
    assert rich("1 − e^(−(T + R) / M) / 2") == "1 − e<sup>−(T + R) / M</sup> / 2"


def test_formula_numbers_and_changes_are_shown(why: WhyPopup) -> None:
    shown = texts(why)
    for words in ("Needed write throughput", "t<sub>w</sub>", "1,742.3 GB / 300 s = <b>5.81 GB/s</b>", "1.742 TB"):
        assert words in shown
    for words in (", a decision", "10 min to write", "2.90 GB/s", "−50 %", "no change", "Article A"):
        assert words in shown


def test_a_value_leads_to_its_field_and_the_card_closes(why: WhyPopup, qtbot: QtBot, heard: type[Heard]) -> None:
    fields = heard(why.field_requested)
    press(why, qtbot, "storage.write_s")
    assert fields.said == [("storage.write_s",)]
    assert not why.isVisible()


def test_the_source_of_a_value_is_asked_for(why: WhyPopup, qtbot: QtBot, heard: type[Heard]) -> None:
    sources = heard(why.source_requested)
    press(why, qtbot, "source:storage.write_s")
    assert sources.said == [("storage.write_s",)]


def test_another_figure_opens_in_the_card_and_one_can_go_back(why: WhyPopup, qtbot: QtBot) -> None:
    why.figure_requested.connect(lambda figure: why.show_derivation(derivation(NAMED, figure)))
    press(why, qtbot, "checkpoint_bytes")
    assert why.title.text() == "One checkpoint"
    press(why, qtbot, "back")
    assert why.title.text() == "Needed write throughput"
    assert not why.findChild(QAbstractButton, "back").isVisible()


def test_a_fresh_question_forgets_the_way_back(why: WhyPopup) -> None:
    why.show_derivation(derivation(NAMED, "restart_s"))
    assert not why.findChild(QAbstractButton, "back").isVisible()


def test_enter_follows_the_link_that_tab_reached(why: WhyPopup, qtbot: QtBot, heard: type[Heard]) -> None:
    figures = heard(why.figure_requested)
    link = why.findChild(QAbstractButton, "checkpoint_bytes")
    for _ in range(10):
        if link.hasFocus():
            break
        qtbot.keyClick(why.focusWidget() or why, Qt.Key.Key_Tab)
    qtbot.keyClick(link, Qt.Key.Key_Return)
    assert figures.said == [("checkpoint_bytes",)]


def test_the_arrow_keys_walk_through_the_links(why: WhyPopup, qtbot: QtBot) -> None:
    qtbot.keyClick(why, Qt.Key.Key_Down)
    first = why.focusWidget()
    qtbot.keyClick(first, Qt.Key.Key_Down)
    assert why.focusWidget() is not first


def test_escape_closes_and_the_focus_returns(why: WhyPopup, window: QMainWindow, qtbot: QtBot) -> None:
    qtbot.keyClick(why, Qt.Key.Key_Escape)
    assert not why.isVisible()
    assert window.focusWidget() is window.centralWidget()


def test_a_click_outside_closes(why: WhyPopup, qtbot: QtBot) -> None:
    qtbot.mouseClick(why, Qt.MouseButton.LeftButton, pos=QPoint(-20, -20))
    assert not why.isVisible()


def test_the_cross_closes(why: WhyPopup, qtbot: QtBot) -> None:
    press(why, qtbot, "close")
    assert not why.isVisible()


def test_many_changes_are_folded(why: WhyPopup, qtbot: QtBot) -> None:
    why.show_derivation(derivation(NAMED, "waste_fraction"))
    assert "pace full" not in texts(why)
    press(why, qtbot, "more")
    assert "pace full" in texts(why)


def test_what_is_missing_stands_in_place_of_the_numbers(why: WhyPopup) -> None:
    scenario = with_value(Scenario(), "prices.node_usd_per_h", None)
    why.show_derivation(derivation(NamedScenario(name="x", scenario=scenario), "lost_gpu_usd"))
    assert "No price is known for p6-b300.48xlarge" in texts(why)


@pytest.mark.parametrize("height", [900, 420])
def test_a_card_fits_into_its_window(window: QMainWindow, height: int) -> None:
    window.resize(1000, height)
    popup = WhyPopup(window)
    for figure in FIGURES:
        popup.show_derivation(derivation(NAMED, figure))
        popup.open_by(window.centralWidget())
        assert popup.width() <= 420
        assert popup.height() < height
        assert window.geometry().contains(popup.geometry())
        popup.close()


def test_words_can_be_selected(why: WhyPopup) -> None:
    numbers = why.findChild(QLabel, "substituted")
    assert numbers.textInteractionFlags() & Qt.TextInteractionFlag.TextSelectableByMouse


def test_a_source_is_shown_with_its_date_and_its_conflict(source: SourcePopup) -> None:
    logged = Source(path="storage.blocking_s", kind="log", text="train.log", date="2026-11-21", note="The article says 5 s.")
    source.show_field(NAMED.with_source(logged), "storage.blocking_s")
    shown = texts(source)
    for words in ("Stop time", "5 s", "train.log", "2026-11-21", "The article says 5 s.", "on the slowest rank"):
        assert words in shown


def test_the_catalog_value_comes_back(source: SourcePopup, qtbot: QtBot, heard: type[Heard]) -> None:
    path, edits = "prices.storage_usd_per_gib_month.p2_500", heard(source.edited)
    source.show_field(NamedScenario(name="x", scenario=with_value(Scenario(), path, 0.29)), path)
    press(source, qtbot, "back_to_catalog")
    assert edits.said == [(path, 0.34)]


def test_a_value_that_is_the_catalogs_offers_no_way_back(source: SourcePopup) -> None:
    source.show_field(NAMED, "storage.blocking_s")
    assert source.findChild(QAbstractButton, "back_to_catalog") is None


def test_a_published_record_can_be_taken_over(source: SourcePopup, qtbot: QtBot, heard: type[Heard]) -> None:
    edits = heard(source.edited)
    source.show_field(NAMED, "failures.mtbi_s")
    press(source, qtbot, "use:OPT-175B, all restarts")
    path, value = edits.said[0]
    assert path == "failures.mtbi_s"
    assert value == pytest.approx(60 * 86400 / 105 * 124 / 32)


def test_every_field_has_a_card(source: SourcePopup) -> None:
    for path in PATHS:
        source.show_field(NAMED, path)
        assert "None" not in texts(source)
