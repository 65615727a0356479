"""The dialog that asks what the columns of a table are: what it suggests, what one changes, what would be read."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtWidgets import QDialog, QLabel, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from ckptplanner.data.readers.column_mapping import ColumnMapping, ValueColumn
from ckptplanner.data.readers.errors import ReaderError
from ckptplanner.ui.evidence.mapping_dialog import (
    MappingDialog,
    ask_columns,
    role_of,
    roles,
    sheet_of,
    unit_and_scale,
    with_role,
    with_scale,
)
from ckptplanner.ui.widgets.picker import Picker
from tests.ui.hands import Answer, child, click, labels

PAGES = "fired,cause of it,Downtime (min),by\n3/4/2026 14:05,gpu failure,42,anna\n5/9/2026 02:11,nccl hang,180,kim\n"
SIZES = "name,took\na,4.5\nb,5.5\nc,6.5\n"


@pytest.fixture
def pages(tmp_path: Path) -> Path:
    file = tmp_path / "pages.csv"
    file.write_text(PAGES, encoding="utf-8")
    return file


@pytest.fixture
def dialog(qtbot: QtBot, pages: Path) -> Iterator[MappingDialog]:
    made = MappingDialog(sheet_of(pages))
    qtbot.addWidget(made)
    with qtbot.waitExposed(made):
        made.show()
    yield made
    made.reject()


def choose(dialog: QWidget, name: str, key: str) -> None:
    picker = child(dialog, Picker, f"mapping.{name}")
    assert isinstance(picker, Picker)
    picker.choose(key)


def preview(qtbot: QtBot, dialog: QWidget) -> str:
    label = child(dialog, QLabel, "mapping.preview")
    assert isinstance(label, QLabel)
    qtbot.waitUntil(lambda: label.text() != "Reading it…", timeout=10_000)
    return label.text()


def test_it_shows_headings_and_first_cells(dialog: MappingDialog) -> None:
    read = "\n".join(labels(dialog))
    assert dialog.windowTitle() == "What are the columns of pages.csv?"
    for part in ("fired", "3/4/2026 14:05, 5/9/2026 02:11", "Downtime (min)", "42, 180", "anna, kim"):
        assert part in read


def test_ambiguous_dates_are_asked_and_not_guessed(qtbot: QtBot, dialog: MappingDialog) -> None:
    """3/4/2026 is the fourth of March or the third of April: nothing is read until that is said."""
    assert "month/day/year or day/month/year" in child(dialog, QLabel, "mapping.asks").text()  # type: ignore[attr-defined]
    preview(qtbot, dialog)
    button = child(dialog, QPushButton, "mapping.read")
    assert not button.isEnabled()
    choose(dialog, "time_format", "m/d/y")
    assert preview(qtbot, dialog) == "2 interruptions from 2026-03-04 to 2026-05-09"
    assert button.isEnabled()
    choose(dialog, "time_format", "d/m/y")
    assert preview(qtbot, dialog) == "2 interruptions from 2026-04-03 to 2026-09-05"
    assert not child(dialog, QLabel, "mapping.asks").isVisible()


def test_a_column_is_given_another_role(qtbot: QtBot, dialog: MappingDialog) -> None:
    choose(dialog, "time_format", "m/d/y")
    choose(dialog, "role.cause of it", "kind")
    choose(dialog, "role.Downtime (min)", "duration")
    assert (dialog.mapping.kind, dialog.mapping.duration, dialog.mapping.duration_scale) == (
        "cause of it",
        "Downtime (min)",
        60,
    )
    choose(dialog, "unit.Downtime (min)", "h")
    assert dialog.mapping.duration_scale == 3600.0
    choose(dialog, "role.by", "kind")
    assert dialog.mapping.kind == "by", "what had that role before is left out"
    assert child(dialog, Picker, "mapping.role.cause of it").key == ""  # type: ignore[attr-defined]
    assert preview(qtbot, dialog).startswith("2 interruptions")
    assert "not known here" in child(dialog, QLabel, "mapping.warnings").text()  # type: ignore[attr-defined]


def test_what_cannot_be_read_is_one_sentence(qtbot: QtBot, dialog: MappingDialog) -> None:
    choose(dialog, "time_format", "m/d/y")
    choose(dialog, "role.by", "time")
    said = preview(qtbot, dialog)
    assert said.startswith("pages.csv")
    assert not child(dialog, QPushButton, "mapping.read").isEnabled()


def test_measured_values_have_a_unit(qtbot: QtBot, tmp_path: Path) -> None:
    file = tmp_path / "saves.csv"
    file.write_text(SIZES)
    made = MappingDialog(sheet_of(file))
    qtbot.addWidget(made)
    click(child(made, QPushButton, "mapping.rows_are.values"))
    choose(made, "role.took", "value:stop")
    choose(made, "unit.took", "ms")
    assert preview(qtbot, made) == "3 values"
    assert made.mapping.values == (ValueColumn("took", "stop", 1e-3, "ms"),)
    made.reject()


def test_the_answer_is_given_back(pages: Path, qtbot: QtBot) -> None:
    parent = QWidget()
    qtbot.addWidget(parent)

    def act(dialog: QDialog) -> None:
        choose(dialog, "time_format", "d/m/y")
        preview(qtbot, dialog)
        click(child(dialog, QPushButton, "mapping.read"))

    with Answer(act):
        mapping = ask_columns(parent, pages)
    assert mapping is not None
    assert (mapping.time, mapping.time_format) == ("fired", "d/m/y")
    with Answer(lambda dialog: dialog.reject()):
        assert ask_columns(parent, pages) is None


def test_a_file_that_is_no_table_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ReaderError):
        sheet_of(tmp_path / "gone.csv")


@pytest.mark.parametrize("role", [key for key, _ in roles() if key])
def test_every_role_can_be_taken_and_left(role: str) -> None:
    mapping = with_role(ColumnMapping(), "one", role)
    assert role_of(mapping, "one") == role
    if (found := unit_and_scale(mapping, "one")) is not None:
        assert unit_and_scale(with_scale(mapping, "one", 0.5, "x"), "one") == (found[0], 0.5)
    if not role.startswith("value:"):
        other = with_role(mapping, "two", role)
        assert (role_of(other, "one"), role_of(other, "two")) == ("", role)
    assert role_of(with_role(mapping, "one", ""), "one") == ""


def test_european_dates_are_read_as_they_are(qtbot: QtBot, tmp_path: Path) -> None:
    """With dots: the order is told by the first day above 12, and what is previewed is what is read."""
    file = tmp_path / "incidents.csv"
    file.write_text("Ticket;Wann;Dauer (min)\nOPS-1;21.09.2026 06:37;33\nOPS-2;23.09.2026 23:10;11\n", encoding="utf-8")
    dialog = MappingDialog(sheet_of(file))
    qtbot.addWidget(dialog)
    assert (dialog.mapping.time, dialog.mapping.time_format, dialog.mapping.duration) == ("Wann", "d/m/y", "")
    assert preview(qtbot, dialog) == "2 interruptions from 2026-09-21 to 2026-09-23"
    choose(dialog, "time_format", "iso")
    assert "29.11.2026 14:05" in preview(qtbot, dialog)  # how times may be written
    dialog.reject()
