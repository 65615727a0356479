"""Every text that a person reads goes through here, so that Qt can translate it.

`say` takes a plain literal and the values to put in; never an f-string, since the literal is what is looked up. Texts of
the engine (`Text`) and the words of a field (its title and description) are looked up by the same English sentence.
"""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from ckptplanner.engine.value_words import nodes_words
from ckptplanner.text import Text
from ckptplanner.units import significant

CONTEXT = "ckptplanner"


def say(template: str, /, **values: object) -> str:
    """The text in the language of the window, with `values` put in."""
    found = QCoreApplication.translate(CONTEXT, template)
    return found.format(**values) if values else found


def severity_word(severity: str) -> str:
    """What kind of finding it is."""
    return {"error": say("error"), "warning": say("warning"), "info": say("info")}[severity]


def day_count(days: float) -> str:
    """1 day, 2.5 days."""
    return say("1 day") if days == 1 else say("{count} days", count=significant(days, 4))


def node_count(nodes: int) -> str:
    """1 node, 1,024 nodes."""
    return say_text(nodes_words(nodes))


def say_text(text: Text) -> str:
    """A sentence of the engine in the language of the window, the sentences inside it too."""
    values = {name: say_text(value) if isinstance(value, Text) else value for name, value in text.values}
    return QCoreApplication.translate(CONTEXT, text.template).format(**values)
