"""Every text of the settings dialog goes through translation; what programs call their settings stays as it is."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtWidgets import QApplication, QPlainTextEdit

from ckptplanner.engine.settings.registry import TARGETS
from ckptplanner.engine.workbook_file import read
from ckptplanner.ui.apply.dialog import ApplyDialog
from tests.ui.conftest import E1, Open
from tests.ui.hands import child, press, type_into
from tests.ui.test_translation import Foreign, untranslated


@pytest.fixture(autouse=True)
def _abroad(qapp: QApplication) -> Iterator[None]:
    translator = Foreign(qapp)
    assert QCoreApplication.installTranslator(translator)
    yield
    QCoreApplication.removeTranslator(translator)


# what programs call their settings stays as it is
_SETTINGS = (
    "--save-retain-interval",
    "trim_checkpoints.sh",
    "most_recent_k",
    "checkpoints.yaml",
    "PyTorch",
    "hashicorp",
    "Terraform",
)
_OPTIONS = (
    "async_save",
    "use_persistent_ckpt_worker",
    "save_retain_interval",
    "non_persistent",
    "replication_jump",
    "replication",
)


@pytest.mark.parametrize("file", ["nemotron-3.5-super", "local-and-shared"])
def test_the_settings_are_translated(open_window: Open, tmp_path: Path, file: str) -> None:
    """Every target, a refused name, a difference, a save; then present settings, and what is none."""
    book = read(E1.with_name(f"{file}.ckptplan.json"))
    window, store = open_window(book)
    press(window, Qt.Key.Key_T, Qt.KeyboardModifier.ControlModifier)
    dialog = window.findChild(ApplyDialog)
    assert dialog is not None
    dialog.resize(4000, 900)  # nothing is shortened
    names = [one.name for one in book.scenarios]
    left: list[str] = []
    for target in TARGETS:
        dialog.list.show_target(target.id)
        files = dialog.page.preview.file_names()
        left += untranslated(dialog, *names, *files, target.version, target.checked, *_SETTINGS)
    dialog.list.show_target("megatron-lm")
    type_into(dialog, "apply.name.shared_folder", "x")
    lm = next(target for target in TARGETS if target.id == "megatron-lm")
    left += untranslated(dialog, *names, *dialog.page.preview.file_names(), lm.version, lm.checked, *_SETTINGS)
    type_into(dialog, "apply.name.shared_folder", "/x")
    dialog.list.tick([target.id for target in TARGETS])
    assert dialog.save_to(tmp_path)
    store.edit("storage.interval_s", 1200.0)
    files = [file.name for file in tmp_path.iterdir()]
    left += untranslated(dialog, *names, *files, str(tmp_path), lm.version, lm.checked, *_SETTINGS)
    dialog.tabs.setCurrentIndex(1)
    left += untranslated(dialog.imports, *names)
    field = child(dialog, QPlainTextEdit, "apply.import_text")
    for text in ("--save-interval 500 --async-save --replication --replication-factor 3", "hello"):
        field.setPlainText(text)
        dialog.imports.take_text()
        left += untranslated(dialog.imports, *names, *_SETTINGS, *text.split(), *_OPTIONS)
    assert left == []
