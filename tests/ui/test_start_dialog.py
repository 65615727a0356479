"""The three questions of a new plan, with the keyboard: what is typed, what is chosen, what is said where nothing fits."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QComboBox, QLabel, QLineEdit, QListWidget, QWidget
from pytestqt.qtbot import QtBot

from ckptplanner.engine.checks import source_kind
from ckptplanner.ui.start_dialog import StartDialog
from tests.ui.hands import child, click, plain, with_file

SAMPLES = Path(__file__).parents[1] / "data" / "samples" / "hf"
Key = Qt.Key


@pytest.fixture
def dialog(qtbot: QtBot) -> StartDialog:
    made = StartDialog()
    qtbot.addWidget(made)
    with qtbot.waitExposed(made):
        made.show()
    made.activateWindow()
    qtbot.waitUntil(search(made).hasFocus)
    return made


def search(dialog: StartDialog) -> QLineEdit:
    return child(dialog, QLineEdit, "start.model")  # type: ignore[return-value]


def hits(dialog: StartDialog) -> QListWidget:
    return child(dialog, QListWidget, "start.hits")  # type: ignore[return-value]


def parts(dialog: StartDialog) -> str:
    return plain(child(dialog, QLabel, "start.parts").text())  # type: ignore[attr-defined]


def lines(dialog: StartDialog) -> list[str]:
    return [hits(dialog).item(row).text().replace("\u00a0", " ") for row in range(hits(dialog).count())]


def highlighted(dialog: StartDialog) -> list[str]:
    return [item.text().partition("   ")[0] for item in hits(dialog).selectedItems()]


def trouble(dialog: StartDialog) -> str:
    label = child(dialog, QLabel, "start.trouble")
    return label.text() if label.isVisible() else ""  # type: ignore[attr-defined]


def enter(dialog: StartDialog, text: str) -> None:
    QTest.keyClicks(search(dialog), text)
    QTest.keyClick(search(dialog), Key.Key_Return)


# ---------------------------------------------------------------- which model


@pytest.mark.parametrize(
    ("text", "total", "name"),
    [
        ("70 B", 70e9, "70 B"),
        ("70e9", 70e9, "70 B"),
        ("124.45 B", 124.45e9, "124.5 B"),
        ("8,030,261,248", 8_030_261_248, "8.03 B"),
    ],
)
def test_a_number_is_a_number_even_where_one_model_holds_it(dialog: StartDialog, text: str, total: float, name: str) -> None:
    enter(dialog, text)
    assert dialog.named is not None
    work = dialog.named.scenario.workload
    assert (work.total_params, work.active_params, work.model) == (total, total, None)
    assert dialog.named.name == name
    assert source_kind(dialog.named, "workload.active_params") == "guess"


def test_a_number_shows_as_such_and_highlights_nothing(dialog: StartDialog) -> None:
    QTest.keyClicks(search(dialog), "70 B")
    assert lines(dialog) == ["Llama 3.1 70B   70.55 B"]
    assert highlighted(dialog) == []
    assert parts(dialog) == "70 B in all"


@pytest.mark.parametrize("text", ["DeepSeek-V3", "deepseek-v3"])
def test_the_exact_name_is_enough(dialog: StartDialog, text: str) -> None:
    QTest.keyClicks(search(dialog), text)
    assert len(lines(dialog)) == 2
    assert highlighted(dialog) == ["DeepSeek-V3"]
    QTest.keyClick(search(dialog), Key.Key_Return)
    assert dialog.named is not None
    assert dialog.named.name == "DeepSeek-V3"


def test_the_only_hit_is_shown_with_its_parts_and_taken(dialog: StartDialog) -> None:
    QTest.keyClicks(search(dialog), "qwen3 235")
    assert highlighted(dialog) == ["Qwen3-235B-A22B"]
    assert "22.19 B active" in parts(dialog)
    QTest.keyClick(search(dialog), Key.Key_Return)
    assert dialog.named is not None
    assert dialog.named.name == "Qwen3-235B-A22B"


def test_digits_of_a_name_are_no_number_of_parameters(dialog: StartDialog) -> None:
    enter(dialog, "405")
    assert dialog.named is not None
    assert dialog.named.name == "Llama 3.1 405B"


def test_a_chosen_hit_goes_before_everything(dialog: StartDialog) -> None:
    QTest.keyClicks(search(dialog), "70 B")
    click(hits(dialog).viewport(), hits(dialog).visualItemRect(hits(dialog).item(0)).center())
    QTest.keyClick(search(dialog), Key.Key_Return)
    assert dialog.named is not None
    assert dialog.named.name == "Llama 3.1 70B"


def test_the_arrow_keys_choose_and_enter_takes_the_plan(dialog: StartDialog) -> None:
    QTest.keyClicks(search(dialog), "llama")
    assert highlighted(dialog) == []
    QTest.keyClick(search(dialog), Key.Key_Down)
    assert hits(dialog).hasFocus()
    assert highlighted(dialog) == ["Llama 3.1 8B"]
    QTest.keyClick(hits(dialog), Key.Key_Down)
    QTest.keyClick(hits(dialog), Key.Key_Down)
    QTest.keyClick(hits(dialog), Key.Key_Up)
    assert highlighted(dialog) == ["Llama 3.1 70B"]
    assert search(dialog).text() == "Llama 3.1 70B"
    assert "70.554 B in all" in parts(dialog)
    QTest.keyClick(hits(dialog), Key.Key_Return)
    assert dialog.named is not None
    assert dialog.named.name == "Llama 3.1 70B"
    assert not dialog.isVisible()


def test_up_from_the_first_line_leads_back_to_the_search(dialog: StartDialog) -> None:
    QTest.keyClicks(search(dialog), "llama")
    QTest.keyClick(search(dialog), Key.Key_Down)
    QTest.keyClick(hits(dialog), Key.Key_Up)
    assert search(dialog).hasFocus()


def test_no_match_says_what_to_do(dialog: StartDialog) -> None:
    QTest.keyClicks(search(dialog), "nosuch")
    assert lines(dialog) == ["No model of that name: write its number of parameters, or open its config.json"]
    QTest.keyClick(search(dialog), Key.Key_Down)
    assert search(dialog).hasFocus()
    QTest.keyClick(search(dialog), Key.Key_Return)
    assert dialog.named is None
    assert trouble(dialog).startswith("Choose a model from the list")
    assert search(dialog).property("state") == "error"


def test_several_hits_are_not_guessed_between(dialog: StartDialog) -> None:
    enter(dialog, "llama")
    assert dialog.named is None
    assert trouble(dialog)
    QTest.keyClicks(search(dialog), " 405")
    assert trouble(dialog) == ""
    assert search(dialog).property("state") == "error" or not search(dialog).property("state")


def test_a_folder_can_be_chosen(dialog: StartDialog, tmp_path: Path) -> None:
    folder = tmp_path / "my-llama"
    folder.mkdir()
    (folder / "config.json").write_bytes((SAMPLES / "llama.config.json").read_bytes())
    with with_file(folder):
        click(child(dialog, QAbstractButton, "start.folder"))
    assert search(dialog).text() == "my-llama"
    assert "6.73842 B in all" in parts(dialog)
    QTest.keyClick(search(dialog), Key.Key_Return)
    assert dialog.named is not None
    assert dialog.named.name == "my-llama"


# ---------------------------------------------------------------- which storage


def existing_storage(dialog: StartDialog, *rates: str) -> list[QLineEdit]:
    QTest.keyClicks(search(dialog), "70 B")
    storage = child(dialog, QComboBox, "start.storage")
    storage.setFocus()
    QTest.keyClick(storage, Key.Key_Down)
    names = ("write_bytes_per_s", "read_bytes_per_s", "usable_bytes")
    fields = [child(dialog, QLineEdit, f"start.{name}") for name in names]
    for one, text in zip(fields, rates, strict=True):
        QTest.keyClicks(one, text)
    return fields  # type: ignore[return-value]


@pytest.mark.parametrize(
    ("rates", "wrong", "sentence"),
    [
        (("fast", "1 GB/s", "2 PB"), 0, "Writes at: Not a rate. Write 11 GB/s"),
        (("-1 GB/s", "1 GB/s", "2 PB"), 0, "Writes at: "),
        (("1 GB/s", "", "2 PB"), 1, "Reads at: Not a rate."),
        (("1 GB/s", "1 GB/s", "much"), 2, "Usable: Not a size."),
    ],
)
def test_a_wrong_rate_is_red_and_named(dialog: StartDialog, rates: tuple[str, ...], wrong: int, sentence: str) -> None:
    fields = existing_storage(dialog, *rates)
    QTest.keyClick(fields[2], Key.Key_Return)
    assert trouble(dialog).startswith(sentence)
    assert [one.property("state") == "error" for one in fields] == [place == wrong for place in range(3)]
    assert search(dialog).property("state") != "error"
    assert fields[wrong].hasFocus()
    QTest.keyClicks(fields[wrong], "1")
    assert trouble(dialog) == ""
    assert fields[wrong].property("state") != "error"


# ---------------------------------------------------------------- places


def test_nothing_is_squeezed_between_the_boxes(dialog: StartDialog) -> None:
    for text in ("×", "in"):
        label = next(one for one in dialog.findChildren(QLabel) if one.text() == text)
        row = [one for one in dialog.findChildren(QWidget) if one.parent() is dialog and one.isVisible()]
        beside = [
            one for one in row if one is not label and abs(one.geometry().center().y() - label.geometry().center().y()) < 4
        ]
        left = max(one.geometry().right() for one in beside if one.geometry().right() < label.geometry().left())
        right = min(one.geometry().left() for one in beside if one.geometry().left() > label.geometry().right())
        assert label.geometry().left() - left >= 8
        assert right - label.geometry().right() >= 8
