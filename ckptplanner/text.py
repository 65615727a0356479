"""Sentences that the engine says and the window translates: a template in English and the words put into it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache


@dataclass(frozen=True, slots=True)
class Text:
    """An English template and its values; `str()` is the English sentence, the window looks the template up first.

    A value is a word as it stands (a formatted number, a name) or another Text.
    """

    template: str
    values: tuple[tuple[str, str | Text], ...] = ()

    def __str__(self) -> str:
        return self.template.format(**dict(self.values))

    def with_value(self, name: str, value: str) -> Text:
        """A copy with one value replaced."""
        return Text(self.template, tuple((key, value if key == name else old) for key, old in self.values))


def text(template: str, /, **values: object) -> Text:
    """Make a `Text`; values are shown as they are, so numbers come formatted with their unit."""
    if not values:
        return _bare(template)
    return Text(template, tuple((name, value if isinstance(value, Text) else str(value)) for name, value in values.items()))


@lru_cache(maxsize=4096)
def _bare(template: str) -> Text:
    """A sentence without values: there is one of each."""
    return Text(template)


def listed(texts: Iterable[Text]) -> Text:
    """Sentences or names with commas between them, each translated for itself."""
    values = {f"t{index}": one for index, one in enumerate(texts)}
    return text(", ".join(f"{{{name}}}" for name in values), **values)
