"""What is gathered while settings are read: edits of a scenario, findings, defaults that apply."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from ckptplanner.engine.plan import Finding, Severity
from ckptplanner.engine.settings.reading import Found, Said
from ckptplanner.text import Text, text

LEAST_STEPS, MOST_STEPS = 1, 10**15
_WHOLE = re.compile(r"[-+]?\d{1,15}(?:_\d{1,15})*")


@dataclass(frozen=True, slots=True)
class Edit:
    """One value for a scenario and the line it came from."""

    path: str
    value: Any
    where: Text  # the line and its words, or whose default it is
    line: int | None = None  # from 1; None: a default
    is_steps: bool = False  # the value counts steps, and becomes a time with the step time


@dataclass(frozen=True, slots=True)
class Kept:
    """A line that says something of a field and gives no value for it, so that the plan's stays."""

    path: str
    where: Text  # the line and its words
    line: int
    words: Text  # why


@dataclass(frozen=True, slots=True)
class ImportedSettings:
    """What a text of settings says."""

    dialect: str = ""  # the id of the target that is written like this
    edits: tuple[Edit, ...] = ()
    findings: tuple[Finding, ...] = ()  # what these settings really do
    unsaid: tuple[Text, ...] = ()  # what is not said, and what applies then
    refusal: Text | None = None  # the text is none of these
    kept: tuple[Kept, ...] = ()  # lines that give no value

    @property
    def interval_steps(self) -> int | None:
        """Steps from one save to shared storage to the next; None where it is not said in steps."""
        return next((one.value for one in self.edits if one.path == "storage.interval_s" and one.is_steps), None)


@dataclass(slots=True)
class Meaning:
    """Gathers what one text says; it is read once, from top to bottom."""

    found: Found
    edits: list[Edit] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    unsaid: list[Text] = field(default_factory=list)
    kept: list[Kept] = field(default_factory=list)

    def result(self, always: tuple[Text, ...]) -> ImportedSettings:
        """All of it, frozen."""
        given = {one.path for one in self.edits}
        kept = tuple(one for one in self.kept if one.path not in given)
        return ImportedSettings(
            self.found.dialect, tuple(self.edits), tuple(self.findings), (*self.unsaid, *always), kept=kept
        )  # fmt: skip

    # ------------------------------------------------------------ reading

    def said(self, name: str) -> Said | None:
        """What is said of a name."""
        return self.found.said.get(name)

    def word(self, name: str, default: str = "none") -> str:
        """A value as it is written."""
        said = self.said(name)
        return default if said is None else said.value

    def is_on(self, name: str, *, default: bool = False) -> bool:
        """Whether a switch is on."""
        said = self.said(name)
        return default if said is None else said.value.lower() in {"true", "1", "yes", "on"}

    def whole(self, name: str, path: str, *, least: int = LEAST_STEPS) -> int | None:
        """A whole number; what is none is said once."""
        said = self.said(name)
        if said is None or said.value in {"none", "null"}:
            return None
        value = int(said.value) if _WHOLE.fullmatch(said.value) else None
        if value is not None and least <= value <= MOST_STEPS:
            return value
        self.say(
            "warning", path,
            text(
                "Line {line}: {words} is no number that can be taken from the text: type it in the plan.",
                line=said.line, words=said.words,
            ),
        )  # fmt: skip
        self.keep(path, said, text("no whole number: the plan's value stays"))
        return None

    # ------------------------------------------------------------ gathering

    def put(self, path: str, value: Any, said: Said | None, *, default: Text | None = None, is_steps: bool = False) -> None:
        """An edit with its line, or with the default that it is."""
        if said is None:
            self.edits.append(Edit(path, value, default or text("not set, so off"), None, is_steps))
        else:
            self.edits.append(Edit(path, value, _where(said), said.line, is_steps))

    def keep(self, path: str, said: Said | None, words: Text) -> None:
        """A line that leaves the plan's value, and why."""
        if said is not None:
            self.kept.append(Kept(path, _where(said), said.line, words))

    def say(self, severity: Severity, path: str, words: Text) -> None:
        """A finding."""
        self.findings.append(Finding(severity, path, words))

    def miss(self, words: Text) -> None:
        """Something that is not said, and what applies then."""
        self.unsaid.append(words)

    def nothing_local(self) -> None:
        """There is one level of saves, without copies."""
        self.put("local.enabled", False, None, default=text("no local saves are set"))
        self.put("replication.factor", 1, None, default=text("no copies are set"))


def _where(said: Said) -> Text:
    return text("line {line}: {words}", line=said.line, words=said.words)
