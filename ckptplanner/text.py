"""Sentences that the engine says and the window translates: a template in English and the words put into it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Text:
    """An English template and its values; `str()` is the English sentence, the window looks the template up first."""

    template: str
    values: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        return self.template.format(**dict(self.values))


def text(template: str, /, **values: object) -> Text:
    """Make a `Text`; values are shown as they are, so numbers come formatted with their unit."""
    return Text(template, tuple((name, str(value)) for name, value in values.items()))
