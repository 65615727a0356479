"""The look of the application and settings that touch nobody's home."""

from pathlib import Path

import pytest
from PySide6.QtCore import QLocale, QSettings
from PySide6.QtWidgets import QApplication

from ckptplanner.ui.theme import LIGHT, apply_theme


@pytest.fixture(scope="session", autouse=True)
def _look(qapp: QApplication, tmp_path_factory: pytest.TempPathFactory) -> None:
    settings: Path = tmp_path_factory.mktemp("settings")
    QSettings.setDefaultFormat(QSettings.Format.IniFormat)
    QSettings.setPath(QSettings.Format.IniFormat, QSettings.Scope.UserScope, str(settings))
    QLocale.setDefault(QLocale.c())
    apply_theme(qapp, LIGHT)


class Heard:
    """What a signal said, in order."""

    def __init__(self, *signals: object) -> None:
        self.said: list[tuple[object, ...]] = []
        for signal in signals:
            signal.connect(self._on_said)  # type: ignore[attr-defined]

    def _on_said(self, *values: object) -> None:
        self.said.append(values)


@pytest.fixture
def heard() -> type[Heard]:
    """Records what signals say: `heard(widget.edited).said`."""
    return Heard
