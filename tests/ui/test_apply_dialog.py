"""The dialog of settings: choose a target, read, copy, save, see what has changed since; what present settings mean."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QSettings, Qt
from PySide6.QtGui import QColor, QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QDialog, QLabel, QLineEdit, QMessageBox, QPlainTextEdit, QTableWidget, QWidget
from pytestqt.qtbot import QtBot

from ckptplanner.engine.evaluate import plan_of
from ckptplanner.engine.settings.registry import TARGETS, write_all
from ckptplanner.engine.settings.target import settings_of
from ckptplanner.engine.workbook_file import read
from ckptplanner.ui.apply.code_view import CodeView
from ckptplanner.ui.apply.dialog import IMPORT, ApplyDialog
from ckptplanner.ui.apply.highlight import RULES
from ckptplanner.ui.apply.preview import changes, difference
from ckptplanner.ui.lines import QuietLine
from ckptplanner.ui.main_window import MainWindow
from ckptplanner.ui.store import Store
from ckptplanner.ui.theme import DARK, LIGHT, THEMES, CodeColours
from tests.settings_fakes import FAKES, write
from tests.ui.conftest import E1, Open
from tests.ui.hands import CTRL, child, click, drop, labels, press, shown, type_into, with_button, with_file

FLAGS = """torchrun pretrain_gpt.py \\
  --save /lustre/run17 --save-interval 500 \\
  --ckpt-format torch_dist --async-save --use-persistent-ckpt-worker
"""


def text_of(dialog: QWidget) -> str:
    """What stands in the preview."""
    view = child(dialog, CodeView, "apply.preview")
    assert isinstance(view, CodeView)
    return view.toPlainText()


def words_of(dialog: QWidget, name: str) -> str:
    """What a label says."""
    label = child(dialog, QLabel, name)
    assert isinstance(label, QLabel)
    return (label.words if isinstance(label, QuietLine) else label.text()).replace("\u00a0", " ")


def button(dialog: QWidget, name: str) -> QAbstractButton:
    """One of the buttons."""
    found = child(dialog, QAbstractButton, name)
    assert isinstance(found, QAbstractButton)
    return found


Opened = tuple[MainWindow, Store, ApplyDialog]


@pytest.fixture
def opened(open_window: Open) -> Opened:
    """A window on E1 with the dialog opened by its keys."""
    window, store = open_window()
    return window, store, dialog_of(window)


def dialog_of(window: MainWindow) -> ApplyDialog:
    press(window, Qt.Key.Key_T, CTRL)
    dialog = window.findChild(QDialog, "apply_dialog")
    assert isinstance(dialog, ApplyDialog)
    assert dialog.isVisible()
    return dialog


def to_import(dialog: ApplyDialog, text: str = FLAGS) -> None:
    """Go to the second page and paste."""
    dialog.tabs.setCurrentIndex(IMPORT)
    field = child(dialog, QPlainTextEdit, "apply.import_text")
    assert isinstance(field, QPlainTextEdit)
    field.setPlainText(text)
    dialog.imports.take_text()


@pytest.fixture
def alone(qtbot: QtBot, settings: QSettings) -> Iterator[Callable[..., ApplyDialog]]:
    """Makes the dialog with targets of this test, on E1."""
    made: list[ApplyDialog] = []

    def make(file: Path | None = None) -> ApplyDialog:
        dialog = ApplyDialog(FAKES, write, settings)
        qtbot.addWidget(dialog)
        dialog.show_file(file)
        dialog.show_plans(Store(read(E1)).shown())
        dialog.show()
        made.append(dialog)
        return dialog

    yield make
    for dialog in made:
        dialog.close()


# ---------------------------------------------------------------- targets


def test_the_plans_own_framework_and_its_storage_are_ticked(opened: Opened) -> None:
    _, _, dialog = opened
    assert dialog.windowTitle() == "Settings for frameworks and clouds: 5 min"
    assert dialog.list.ticked == ("megatron-lm", "fsx-cli")
    assert dialog.list.shown == "megatron-lm"
    assert "--save-interval 268" in text_of(dialog)
    assert "core" in words_of(dialog, "apply.version")


def test_the_other_framework_follows_the_plan_until_a_box_is_ticked(opened: Opened) -> None:
    _, store, dialog = opened
    store.edit("workload.framework", "TorchTitan")
    assert dialog.list.ticked == ("torchtitan", "fsx-cli")
    item = dialog.list.findItems("Slurm", Qt.MatchFlag.MatchRecursive)[0]
    item.setCheckState(0, Qt.CheckState.Checked)
    store.edit("workload.framework", "Hugging Face Trainer")
    assert dialog.list.ticked == ("torchtitan", "fsx-cli", "slurm")


def test_storage_that_exists_needs_no_file_system(opened: Opened) -> None:
    _, store, dialog = opened
    store.edit("storage.custom", {"write_bytes_per_s": 250e9, "read_bytes_per_s": 700e9, "usable_bytes": 2e15})
    assert dialog.list.ticked == ("megatron-lm",)


def test_every_target_shows_files_or_says_why_not(opened: Opened) -> None:
    _, _, dialog = opened
    for target in TARGETS:
        dialog.list.show_target(target.id)
        assert words_of(dialog, "apply.title") == str(target.title)
        assert words_of(dialog, "apply.purpose") != str(target.title), f"{target.id} says what it is for"
        assert text_of(dialog)
        assert dialog.page.preview.file is not None


def test_a_target_is_ticked_and_chosen_by_keys(alone: Callable[..., ApplyDialog]) -> None:
    dialog = alone()
    dialog.list.setFocus()
    QTest.keyClick(dialog.list, Qt.Key.Key_Down)
    assert dialog.list.shown == "fsx-cli"
    QTest.keyClick(dialog.list, Qt.Key.Key_Space)
    assert dialog.list.ticked == ("megatron-lm",)
    assert button(dialog, "apply.save").text() == "Save 1 file…"


def test_what_a_target_cannot_do_leads_to_its_field(opened: Opened) -> None:
    window, _, dialog = opened
    assert any("trim_checkpoints.sh" in one for one in labels(child(dialog, QWidget, "apply.findings")))
    click(button(dialog, "apply.field.storage.generations_kept"))
    field = child(window, QLineEdit, "storage.generations_kept")
    assert window.focusWidget() is field


def test_a_target_that_is_refused_says_so(open_window: Open) -> None:
    window, _ = open_window(read(E1.with_name("full-file-system.ckptplan.json")))
    dialog = dialog_of(window)
    dialog.list.show_target("fsx-cli")
    assert words_of(dialog, "apply.purpose") == "Not written, for this reason:"
    assert any("do not fit" in one for one in labels(child(dialog, QWidget, "apply.findings")))
    assert not button(dialog, "apply.copy").isEnabled()


# ---------------------------------------------------------------- whole steps


def test_whole_steps_are_said_and_can_be_taken_into_the_plan(opened: Opened) -> None:
    window, store, dialog = opened
    assert words_of(dialog, "apply.steps") == "T 44 min 45 s = 268 steps of 10 s = 44 min 40 s"
    click(button(dialog, "apply.whole_steps"))
    assert store.workbook.shown.scenario.storage.whole_steps
    assert words_of(dialog, "apply.steps") == "T 44 min 40 s = 268 steps of 10 s = 44 min 40 s"
    assert not button(dialog, "apply.whole_steps").isVisible()
    store.undo_stack.undo()
    assert not store.workbook.shown.scenario.storage.whole_steps
    assert button(dialog, "apply.whole_steps").isVisible()
    assert window.isVisible()


def test_times_that_look_alike_are_told_apart(opened: Opened) -> None:
    _, store, dialog = opened
    store.edit("storage.interval_s", 3597.0)
    assert words_of(dialog, "apply.steps") == "T 59 min 57 s = 360 steps of 10 s = 1 h"
    store.edit("storage.interval_s", 7203.0)
    assert words_of(dialog, "apply.steps") == "T 2 h 3 s = 720 steps of 10 s = 2 h"


def test_two_levels_are_said(open_window: Open) -> None:
    book = read(E1.with_name("local-and-shared.ckptplan.json"))
    window, _ = open_window(book.model_copy(update={"current": "local saves with copies"}))
    dialog = dialog_of(window)
    assert words_of(dialog, "apply.steps").endswith("Shared: one in 3, 849 steps = 2 h 22 min")
    assert "283 steps of 10 s" in words_of(dialog, "apply.steps")


def test_a_plan_without_a_schedule_says_what_to_do(alone: Callable[..., ApplyDialog]) -> None:
    dialog, store = alone(), Store(read(E1))
    store.edit("workload.total_params", 1e15)
    dialog.show_plans(store.shown())
    assert words_of(dialog, "apply.title") == "Nothing to write yet"
    assert "no schedule" in words_of(dialog, "apply.purpose")
    assert text_of(dialog) == words_of(dialog, "apply.steps") == ""
    assert not any(button(dialog, f"apply.{name}").isEnabled() for name in ("save", "copy"))
    store.undo_stack.undo()
    dialog.show_plans(store.shown())
    assert "--save-interval 268" in text_of(dialog)


# ---------------------------------------------------------------- names


def test_a_name_is_put_into_the_file_and_kept(alone: Callable[..., ApplyDialog]) -> None:
    dialog = alone()
    assert child(dialog, QLineEdit, "apply.name.shared_folder").isVisible()
    assert not child(dialog, QLineEdit, "apply.name.subnet_id").isVisible(), "this file has no subnet"
    type_into(dialog, "apply.name.shared_folder", "/lustre/run 17")
    assert "--save /lustre/run 17" in text_of(dialog)
    again = alone()
    assert "--save /lustre/run 17" in text_of(again)
    assert shown(again, "apply.name.shared_folder") == "/lustre/run 17"


def test_a_refused_name_says_what_is_expected_and_the_file_keeps_the_last_good_one(alone: Callable[..., ApplyDialog]) -> None:
    dialog = alone()
    edit = type_into(dialog, "apply.name.shared_folder", "checkpoints")
    assert words_of(dialog, "apply.name_trouble").endswith("/fsx/checkpoints.")
    assert edit.property("state") == "error"
    assert edit.text() == "checkpoints"
    assert "--save /fsx/checkpoints" in text_of(dialog)
    type_into(dialog, "apply.name.shared_folder", "/x")
    assert not child(dialog, QLabel, "apply.name_trouble").isVisible()
    assert "--save /x" in text_of(dialog)


@pytest.mark.parametrize(("value", "said"), [("relative/dir", "Shared folder “relative/dir” is refused."),
                                             ("", "Shared folder is empty.")])  # fmt: skip
def test_nothing_is_saved_or_copied_while_a_name_is_refused(
    alone: Callable[..., ApplyDialog], tmp_path: Path, value: str, said: str
) -> None:
    dialog = alone()
    type_into(dialog, "apply.name.shared_folder", value)
    assert not button(dialog, "apply.save").isEnabled()
    assert not button(dialog, "apply.copy").isEnabled()
    assert words_of(dialog, "apply.name_trouble").startswith(said)
    assert said in words_of(dialog, "apply.status")
    assert not dialog.save_to(tmp_path)
    assert not list(tmp_path.iterdir())
    dialog.list.show_target("fsx-cli")
    assert button(dialog, "apply.copy").isEnabled(), "this file has no shared folder"
    assert not button(dialog, "apply.save").isEnabled(), "the ticked ones have"
    dialog.list.tick(["fsx-cli"])
    dialog.list.show_target("megatron-lm")
    assert button(dialog, "apply.save").isEnabled()
    assert words_of(dialog, "apply.status") == ""
    type_into(dialog, "apply.name.shared_folder", "/x")
    assert button(dialog, "apply.copy").isEnabled()


# ---------------------------------------------------------------- copy, save, difference


def test_the_file_that_is_seen_is_copied(alone: Callable[..., ApplyDialog]) -> None:
    dialog = alone()
    click(button(dialog, "apply.difference"))
    click(button(dialog, "apply.copy"))
    assert "--save-interval 268  # from the plan" in QGuiApplication.clipboard().text()
    assert words_of(dialog, "apply.status") == "train.args is on the clipboard."


def test_what_is_ticked_is_saved_and_what_changed_since_is_shown(opened: Opened, tmp_path: Path) -> None:
    _, store, dialog = opened
    assert "Nothing of this plan has been saved yet" in words_of(dialog, "apply.words")
    folder = tmp_path / "settings"
    folder.mkdir()
    with with_file(folder):
        click(button(dialog, "apply.save"))
    names = sorted(file.name for file in folder.iterdir())
    assert len(names) >= 3
    assert all(name in words_of(dialog, "apply.status") for name in names)
    assert "Still examples" in words_of(dialog, "apply.status")
    assert words_of(dialog, "apply.words") == f"The same as in {folder}."
    store.edit("storage.interval_s", 1200.0)
    click(button(dialog, "apply.difference"))
    lines = text_of(dialog).split("\n")
    assert any(line.startswith("-") and "--save-interval 268" in line for line in lines)
    assert any(line.startswith("+") and "--save-interval 120" in line for line in lines)
    assert words_of(dialog, "apply.words") == f"Differs from the one in {folder}: 6 lines added, 6 removed."
    store.undo_stack.undo()
    assert text_of(dialog) == ""


def test_it_asks_before_it_writes_over_others(alone: Callable[..., ApplyDialog], tmp_path: Path) -> None:
    dialog = alone()
    (tmp_path / "train.args").write_text("mine")
    with with_button(QMessageBox.StandardButton.Cancel) as asked:
        assert not dialog.save_to(tmp_path)
    assert "train.args" in asked.words
    assert (tmp_path / "train.args").read_text() == "mine"
    assert not (tmp_path / "disk.json").exists()
    assert dialog.folder is None
    with with_button(QMessageBox.StandardButton.Save):
        assert dialog.save_to(tmp_path)
    assert "--save-interval 268" in (tmp_path / "train.args").read_text()
    assert dialog.save_to(tmp_path), "what is the same is not asked about"


def test_a_folder_that_cannot_be_written_is_said(alone: Callable[..., ApplyDialog], tmp_path: Path) -> None:
    dialog = alone()
    (tmp_path / "file").write_text("")
    assert not dialog.save_to(tmp_path / "file" / "in")
    assert "train.args could not be written" in words_of(dialog, "apply.status")
    assert child(dialog, QLabel, "apply.status").property("role") == "refusal"


def test_a_plan_file_remembers_its_folder_and_its_boxes(open_window: Open, tmp_path: Path) -> None:
    file, folder = tmp_path / "mine.ckptplan.json", tmp_path / "out"
    shutil.copy(E1, file)
    window, _ = open_window(read(file), file)
    dialog = dialog_of(window)
    dialog.list.findItems("Slurm", Qt.MatchFlag.MatchRecursive)[0].setCheckState(0, Qt.CheckState.Checked)
    assert dialog.save_to(folder)
    other = dialog_of(open_window(read(file), file)[0])
    assert other.folder == folder
    assert other.list.ticked == ("megatron-lm", "fsx-cli", "slurm")
    assert words_of(other, "apply.words") == f"The same as in {folder}."
    third = dialog_of(open_window(read(file), tmp_path / "another.ckptplan.json")[0])
    assert third.folder is None
    assert third.list.ticked == ("megatron-lm", "fsx-cli")


def test_a_plan_that_is_saved_later_keeps_the_folder(alone: Callable[..., ApplyDialog], tmp_path: Path) -> None:
    dialog = alone()
    assert dialog.save_to(tmp_path)
    dialog.show_file(tmp_path / "plan.ckptplan.json")
    assert dialog.folder == tmp_path


def test_lines_of_a_difference_are_counted_in_words() -> None:
    assert [changes(*pair) for pair in ((2, 2), (1, 0), (0, 1), (3, 0), (1, 4))] == [
        "2 lines added, 2 removed", "1 line added", "1 line removed", "3 lines added", "1 line added, 4 removed",
    ]  # fmt: skip


def test_a_difference_has_signs_and_grounds() -> None:
    lines = difference("a\nb\n", "a\nc\n", "x").split("\n")
    assert lines[0].startswith("@@")
    assert lines[1:] == [" a", "-b", "+c"]
    assert difference("a\n", "a\n", "x") == ""


# ---------------------------------------------------------------- colours


def colours(view: CodeView) -> dict[str, str]:
    """The words of a text and their colours."""
    found: dict[str, str] = {}
    block = view.document().firstBlock()
    while block.isValid():
        for one in block.layout().formats():
            word = block.text()[one.start : one.start + one.length].strip()
            found[word] = one.format.foreground().color().name().upper()
        block = block.next()
    return found


def kinds(view: CodeView, code: CodeColours) -> dict[str, str]:
    """The words of a text and which kind of word they are."""
    by_colour = {code.keyword: "keyword", code.key: "key", code.string: "string", code.number: "number",
                 code.comment: "comment", code.remark: "remark"}  # fmt: skip
    return {word: by_colour[colour] for word, colour in colours(view).items()}


@pytest.mark.parametrize(
    ("language", "content", "expected"),
    [
        ("shell", '--save "/a #b" 268  # from the plan: T', {
            "--save": "key", '"/a #b"': "string", "268": "number", "# from the plan: T": "remark"}),
        ("shell", "#SBATCH --requeue\nif true; then", {
            "#SBATCH": "keyword", "--requeue": "key", "if": "keyword", "then": "keyword"}),
        ("yaml", "checkpoint:\n  save_interval: 268  # why\n  async: true", {
            "checkpoint": "key", "save_interval": "key", "268": "number", "# why": "comment", "async": "key",
            "true": "keyword"}),
        ("toml", '[checkpoint]\nfolder = "a#b"\nkeep = 3', {
            "[checkpoint]": "keyword", "folder": "key", '"a#b"': "string", "keep": "key", "3": "number"}),
        ("python", 'def f(x=1):\n    """Two\n    lines # no comment."""\n    return None  # end', {
            "def": "keyword", "x": "key", "1": "number", '"""Two': "string", 'lines # no comment."""': "string",
            "return": "keyword", "None": "keyword", "# end": "comment"}),
        ("json", '{"a": "save every 2 h: 3", "n": -1.5e3, "b": true, "//": "from the plan: x"}', {
            '"a"': "key", '"save every 2 h: 3"': "string", '"n"': "key", "-1.5e3": "number", '"b"': "key", "true": "keyword",
            '"//": "from the plan: x"': "remark"}),
        ("text", "# 1 if true", {}),
    ],
)  # fmt: skip
def test_words_have_their_colours(qtbot: QtBot, language: str, content: str, expected: dict[str, str]) -> None:
    view = CodeView()
    qtbot.addWidget(view)
    for theme in (LIGHT, DARK):
        view.show_theme(theme)
        view.show_file(content, language)
        assert kinds(view, theme.code) == expected


def test_lines_from_the_plan_are_marked(qtbot: QtBot) -> None:
    view = CodeView()
    qtbot.addWidget(view)
    view.show_file("a\nb  # from the plan: T\nc\n", "shell")
    assert view.lines_from_the_plan() == [2]
    view.show_file("+b  # from the plan: T", "text", is_difference=True)
    assert view.lines_from_the_plan() == []


def test_a_difference_is_coloured_by_its_signs(qtbot: QtBot) -> None:
    view = CodeView()
    qtbot.addWidget(view)
    view.show_file("@@ -1 +1 @@\n-a # 1\n+b", "text", is_difference=True)
    code = LIGHT.code
    assert colours(view) == {"@@ -1 +1 @@": code.keyword, "-a # 1": code.removed, "+b": code.added}
    grounds = [one.format.background().color().name().upper() for one in view.extraSelections()]
    assert grounds == [code.removed_ground, code.added_ground]


def luminance(colour: str) -> float:
    parts = [value / 12.92 if value <= 0.03928 else ((value + 0.055) / 1.055) ** 2.4 for value in QColor(colour).getRgbF()[:3]]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


@pytest.mark.parametrize("name", THEMES)
def test_words_can_be_read_in_both_themes(name: str) -> None:
    theme = THEMES[name]
    code = theme.code
    pairs = [
        (colour, theme.surface) for colour in (code.keyword, code.key, code.string, code.number, code.comment, code.remark)
    ]
    pairs += [(code.added, code.added_ground), (code.removed, code.removed_ground), (theme.muted, theme.panel)]
    for ink, ground in pairs:
        light, dark = sorted((luminance(ink), luminance(ground)), reverse=True)
        assert (light + 0.05) / (dark + 0.05) >= 4.5, (ink, ground)


@pytest.mark.parametrize("language", RULES)
def test_no_line_takes_long_to_colour(qtbot: QtBot, language: str) -> None:
    """Unclosed quotes, deep escapes and long numbers: each word is looked at a bounded number of times."""
    view = CodeView()
    qtbot.addWidget(view)
    for piece in ('"\\', "'a ", "1_0e", "--a-", '"":', "$" * 3, "[[", "- - ", "'''"):
        view.show_file(piece * 2000, language)


# ---------------------------------------------------------------- the theme


def test_the_theme_reaches_an_open_dialog(opened: Opened) -> None:
    window, _, dialog = opened
    next(action for action in window.actions() if action.text() == "Light or dark").trigger()
    view = child(dialog, CodeView, "apply.preview")
    assert isinstance(view, CodeView)
    assert set(colours(view).values()) <= {value.upper() for value in _values(DARK.code)}
    assert view.font().pixelSize() == 12


def _values(code: CodeColours) -> list[str]:
    return [getattr(code, name) for name in CodeColours.__slots__]


def test_a_closed_dialog_is_opened_again_and_up_to_date(opened: Opened) -> None:
    window, store, dialog = opened
    click(button(dialog, "apply.close"))
    assert not dialog.isVisible()
    store.edit("storage.interval_s", 1200.0)
    assert dialog_of(window) is dialog
    assert "--save-interval 120" in text_of(dialog)


# ---------------------------------------------------------------- what present settings mean


def test_present_flags_become_a_scenario_and_undo_takes_it_away(opened: Opened) -> None:
    window, store, dialog = opened
    names = [one.name for one in store.workbook.scenarios]
    to_import(dialog)
    table = child(dialog, QTableWidget, "apply.import_lines")
    assert isinstance(table, QTableWidget)
    cells = [[table.item(row, column).text().replace("\u00a0", " ") for column in range(4)] for row in range(table.rowCount())]
    assert ["line 2: --save-interval 500", "Interval", "1 h 23 min 20 s", "44 min 45 s"] in cells or [
        "line 2: --save-interval 500", "Interval", "1 h 23 min", "44 min 45 s"] in cells  # fmt: skip
    click(button(dialog, "apply.import_add"))
    assert store.workbook.current == "Megatron-LM today"
    assert store.workbook.base == "5 min"
    assert store.workbook.shown.scenario.storage.interval_s == 5000.0
    click(button(dialog, "apply.import_add"))
    assert store.workbook.current == "Megatron-LM today 2"
    store.undo_stack.undo()
    store.undo_stack.undo()
    assert [one.name for one in store.workbook.scenarios] == names
    assert store.workbook.current == "5 min"
    assert window.isVisible()


def test_a_line_of_the_table_leads_to_its_line_in_the_text(opened: Opened) -> None:
    _, _, dialog = opened
    to_import(dialog)
    table, text = child(dialog, QTableWidget, "apply.import_lines"), child(dialog, QPlainTextEdit, "apply.import_text")
    assert isinstance(table, QTableWidget)
    assert isinstance(text, QPlainTextEdit)
    row = next(row for row in range(table.rowCount()) if "line 2" in table.item(row, 0).text())
    table.setCurrentCell(row, 0)
    assert text.textCursor().selectedText() == FLAGS.split("\n")[1]


@pytest.mark.parametrize("text", ["", "hello\n", "--learning-rate 3", "\0", "{" * 5000])
def test_what_says_nothing_about_saves_adds_no_scenario(opened: Opened, text: str) -> None:
    _, _, dialog = opened
    to_import(dialog, text)
    assert not button(dialog, "apply.import_add").isEnabled()
    assert words_of(dialog, "apply.import_title") in {"Nothing to read yet", "Not recognised"}


def test_typing_is_read_after_a_moment(qtbot: QtBot, opened: Opened) -> None:
    _, _, dialog = opened
    dialog.tabs.setCurrentIndex(IMPORT)
    field = child(dialog, QPlainTextEdit, "apply.import_text")
    QTest.keyClicks(field, "--save /x --save-interval 30")
    qtbot.waitUntil(lambda: words_of(dialog, "apply.import_title") == "Megatron-LM today")


def test_a_file_can_be_dropped_or_opened(opened: Opened, tmp_path: Path) -> None:
    _, _, dialog = opened
    dialog.tabs.setCurrentIndex(IMPORT)
    file = tmp_path / "train.toml"
    file.write_text("[checkpoint]\nenable_checkpoint = true\ninterval = 120\nkeep_latest_k = 3\n")
    assert drop(dialog.imports, file)
    assert words_of(dialog, "apply.import_title").startswith("TorchTitan")
    other = tmp_path / "run.sh"
    other.write_text(FLAGS)
    with with_file(other):
        click(button(dialog, "apply.import_open"))
    assert words_of(dialog, "apply.import_title") == "Megatron-LM today"
    other.unlink()
    dialog.imports.take_file(other)
    assert "run.sh cannot be read" in words_of(dialog, "apply.import_title")
    assert not button(dialog, "apply.import_add").isEnabled()


def test_what_is_written_here_comes_back_as_the_same_plan(opened: Opened) -> None:
    """Out of the preview and into the other page: the same interval, mode and generations."""
    _, store, dialog = opened
    before = store.workbook.shown.scenario
    for target_id in ("megatron-lm", "megatron-bridge", "torchtitan", "torchtitan-0.2"):
        dialog.list.show_target(target_id)
        written = text_of(dialog)
        to_import(dialog, written)
        click(button(dialog, "apply.import_add"))
        now = store.workbook.shown.scenario
        assert now.storage.interval_s == 2680.0, target_id
        assert now.storage.mode == before.storage.mode, target_id
        assert now.storage.generations_kept == before.storage.generations_kept, target_id
        store.undo_stack.undo()


def test_saves_by_epoch_have_a_row_that_says_what_stays(opened: Opened) -> None:
    _, _, dialog = opened
    to_import(dialog, "save_strategy: epoch\nsave_total_limit: 3\n")
    table = child(dialog, QTableWidget, "apply.import_lines")
    assert isinstance(table, QTableWidget)
    cells = [[table.item(row, column).text().replace("\u00a0", " ") for column in range(4)] for row in range(table.rowCount())]
    assert ["line 1: save_strategy: epoch", "Interval", "not in steps: the plan's interval stays", "44 min 45 s"] in cells


def test_long_lines_wrap(opened: Opened) -> None:
    _, _, dialog = opened
    to_import(dialog, "torchrun pretrain_gpt.py " + "--save /x --save-interval 5 " * 30)
    field = child(dialog, QPlainTextEdit, "apply.import_text")
    assert isinstance(field, QPlainTextEdit)
    assert not field.horizontalScrollBar().isVisible()
    assert field.document().firstBlock().layout().lineCount() > 3


# ---------------------------------------------------------------- where things stand


def test_rows_are_as_tall_as_their_words_at_every_size(qtbot: QtBot, opened: Opened) -> None:
    _, _, dialog = opened
    dialog.resize(1600, 800)
    to_import(dialog, "save_strategy: epoch\nsave_total_limit: 3\nsave_stepz: 3\n")
    table = child(dialog, QTableWidget, "apply.import_lines")
    assert isinstance(table, QTableWidget)
    for width in (1600, 900, 1100, 900):
        dialog.resize(width, 560)
        qtbot.wait(20)
        heights = [table.rowHeight(row) for row in range(table.rowCount())]
        assert all(height >= table.sizeHintForRow(row) for row, height in enumerate(heights)), (width, heights)
        for row, height in enumerate(heights):  # the style sheet's paddings take room of each cell
            words, room = table.item(row, 0).text(), table.columnWidth(0) - 24
            asked = table.fontMetrics().boundingRect(0, 0, room, 10_000, Qt.TextFlag.TextWordWrap, words).height()
            assert height >= asked, words


def test_nothing_to_read_stands_together_at_the_top(qtbot: QtBot, opened: Opened) -> None:
    _, _, dialog = opened
    dialog.tabs.setCurrentIndex(IMPORT)
    qtbot.wait(20)
    title, words = child(dialog, QLabel, "apply.import_title"), child(dialog, QLabel, "apply.import_words")
    assert title.geometry().top() < 20
    assert 0 <= words.geometry().top() - title.geometry().bottom() < 12
    assert title.height() < 40
    add = button(dialog, "apply.import_add")
    before = add.geometry()
    to_import(dialog)
    qtbot.wait(20)
    assert (add.geometry().width(), add.geometry().right()) == (before.width(), before.right())
    assert words_of(dialog, "apply.import_unsaid").startswith("Not in these settings\n")


def test_the_keys_go_in_the_order_in_which_it_is_read(opened: Opened) -> None:
    _, store, dialog = opened
    store.edit("local.enabled", True)  # the findings are made anew
    order: list[str] = []
    widget = dialog.list.nextInFocusChain()
    while widget is not dialog.list:
        if widget.focusPolicy() & Qt.FocusPolicy.TabFocus and widget.isVisible():
            order.append(widget.objectName())
        widget = widget.nextInFocusChain()
    found = write_all(settings_of(store.workbook.shown, plan_of(store.workbook.shown)), ["megatron-lm"]).findings
    links = [f"apply.field.{one.path}" for one in found]
    assert links
    names = [*links, "apply.name.shared_folder", "apply.preview", "apply.copy", "apply.save", "apply.close"]
    assert [name for name in order if name in names] == names


def test_what_the_dialog_needs_is_loaded_once_the_window_stands() -> None:
    """The first opening waits for no module: measured, loading them took more than half of it."""
    code = (
        "import sys\n"
        "from PySide6.QtCore import QSettings\n"
        "from PySide6.QtTest import QTest\n"
        "from ckptplanner.ui.app import application, new_workbook\n"
        "from ckptplanner.ui.main_window import MainWindow\n"
        "from ckptplanner.ui.store import Store\n"
        "app = application()\n"
        "window = MainWindow(Store(new_workbook()), QSettings())\n"
        "window.show()\n"
        "for _ in range(200):\n"
        "    if 'ckptplanner.ui.apply.dialog' in sys.modules:\n"
        "        break\n"
        "    QTest.qWait(100)\n"
        "assert 'ckptplanner.engine.settings.registry' in sys.modules\n"
        "print('loaded', flush=True)\n"
        "import os\n"
        "os._exit(0)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout.strip() == "loaded", done.stderr
