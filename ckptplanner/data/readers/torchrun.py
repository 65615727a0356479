"""What torchrun says about failures: the error file of a rank, and the agent's messages on stderr.

    attempt_N/RANK/error.json   {"message": {"message": "RuntimeError: ...", "extraInfo": {"timestamp": "1795961203"}}}
    stderr                      Root Cause (first observed failure):  time, host, rank, exitcode; its last line of traceback
                                E1129 14:06:43.907000 768 torch/distributed/elastic/...] failed (exitcode: 1) local_rank: 1
                                [default] Worker group FAILED. 3/3 attempts left; will restart worker group

Only causes count: ranks that were ended by SIGTERM because another failed are listed too. Tracebacks, paths and addresses stay
in the file. Sources: torch 2.13.0 elastic/multiprocessing/errors, elastic/agent/server/api.py; stamps of older versions.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from ckptplanner.data.evidence import Event, FileEvidence, Kind
from ckptplanner.data.readers import megatron_log, torchtitan_log
from ckptplanner.data.readers.errors import printable
from ckptplanner.data.readers.source import Head, Opened, Reader
from ckptplanner.data.readers.training_runs import LATEST_S, Clock
from ckptplanner.text import Text, text

ERROR_TITLE = text("Error file of a rank (torchrun)")
STDERR_TITLE = text("Messages of torchrun")
FILE_CAP_BYTES = 4_000_000
EVENTS_CAP = 10_000
HALF_YEAR_S = 182 * 86_400.0
SAME_S = 1.5  # the agent logs a failure a moment after the rank that failed

HARDWARE = (  # words of a message by which a node is to blame, not the program
    "uncorrectable ecc",
    "nvlink",
    "xid",
    "fallen off the bus",
    "gpu is lost",
    "ncclremoteerror",
    "nccl remote error",
    "hardware error",
)
_ENDED = re.compile(r"got signal: 15|\bSIGTERM\b")

_START = re.compile(r'\s*\{\s*"message"\s*:\s*\{\s*"message"\s*:')
_AGENT = re.compile(
    r"torch[./]distributed[./](?:elastic|run|launcher)|Root Cause \(first observed failure\):|Worker group FAILED\."
)
_GLOG = re.compile(r"\b[EWIF](\d\d)(\d\d) (\d\d:\d\d):(\d\d(?:\.\d{1,6})?) ")
_FULL = re.compile(r"\[?(\d{4}-\d\d-\d\d \d\d:\d\d):(\d\d(?:[.,]\d{1,6})?)")
_FAILED = re.compile(r"failed \(exitcode: (-?\d{1,5})\) local_rank: (\d{1,6})")
_GROUP = re.compile(r"Worker group (?:FAILED|UNHEALTHY)\. (\d{1,6}/\d{1,6}) attempts left")
_FIELD = re.compile(r"\b(time|host|rank|exitcode|traceback) {0,12}: (.*)")
_RAISED = re.compile(r"(?:^|\s)((?:[A-Za-z_]\w*\.)*[A-Za-z_]\w*(?:Error|Exception|Interrupt|Exit)(?:: .*)?)$")
_PATH = re.compile(r"(?<![\w.])(?:~|\.{1,2})?/[^\s'\"(),;]+|\b[A-Za-z]:\\[^\s'\"(),;]+")
_ADDRESS = re.compile(
    r"\b\d{1,3}(?:\.\d{1,3}){3}(?::\d{1,5})?\b|\S+@\S+|\b(?:[0-9a-fA-F]{1,4}:){4,7}[0-9a-fA-F]{1,4}\b|\bfe80::\S+"
)
_HOST = re.compile(r"[A-Za-z][\w-]{0,62}(?:\.[A-Za-z][\w.-]{0,180})?")

_YEAR = text("The year of its stamps is not in the file; that of the day on which it was written was taken: {year}.", year="")
_VICTIMS = text("Ranks that were ended by SIGTERM because another failed are not counted.")
_CAPPED = text("There are more than {count} failures; the rest is left out.", count=f"{EVENTS_CAP:,}")


def _said(message: str) -> str:
    """The first line of a message without paths and addresses, short."""
    first = next((line.strip() for line in message.splitlines() if line.strip()), "no message")
    words = _ADDRESS.sub("…", _PATH.sub("…", printable(first[:400])))
    words = "".join(char if char.isprintable() else " " for char in words)
    return words if len(words) <= 120 else words[:119] + "…"


def _kind(message: str) -> Kind:
    lower = message.lower()
    return "node" if any(re.search(rf"\b{re.escape(word)}", lower) for word in HARDWARE) else "process"


# ---------------------------------------------------------------- error.json


def knows_error(head: Head) -> bool:
    """Whether it is the error file of a rank."""
    return _START.match(head.text) is not None and (not head.is_whole or head.has('"extraInfo"', '"timestamp"'))


def _whole(value: Any) -> int | None:
    """The seconds of a stamp, which is a string here."""
    if isinstance(value, str) and value.strip().isdecimal() and len(value.strip()) <= 12:
        value = int(value)
    is_time = isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= LATEST_S
    return value if is_time else None


def read_error(opened: Opened) -> FileEvidence:
    """Read the error file of one rank of one attempt.

    Raises:
        ReaderError: it is no such file.
    """
    document = opened.json(FILE_CAP_BYTES)
    inner = document.get("message") if isinstance(document, dict) else None
    extra = inner.get("extraInfo") if isinstance(inner, dict) else None
    message = inner.get("message") if isinstance(inner, dict) else None
    at_s = _whole(extra.get("timestamp")) if isinstance(extra, dict) else None
    if not isinstance(message, str) or at_s is None:
        raise opened.refuse("message.message and message.extraInfo.timestamp, in seconds since 1970, are expected in it")
    if _ENDED.search(message):
        return FileEvidence("torchrun-error", ERROR_TITLE, opened.name, date=opened.date, warnings=(_VICTIMS,))
    place = opened.place("message.extraInfo.timestamp")
    event = Event(float(at_s), _kind(message), _said(message), place, is_zoned=True)
    date = datetime.fromtimestamp(at_s, UTC).strftime("%Y-%m-%d")
    return FileEvidence("torchrun-error", ERROR_TITLE, opened.name, date=date, events=(event,))


# ---------------------------------------------------------------- stderr


@dataclass
class _Seen:
    """One sign of a failure: a better one (a lower rank) at the same time replaces it."""

    rank: int
    line: int
    at_s: float | None
    month_day: tuple[str, ...] | None  # of a stamp without a year: month, day, hour and minute, second
    said: str
    kind: Kind
    host: str = ""


@dataclass
class _Agent:
    """What the agent's messages say so far."""

    opened: Opened
    clock: Clock = field(default_factory=Clock)
    seen: list[_Seen] = field(default_factory=list)
    block: dict[str, str] | None = None  # the fields of the root cause that is read
    block_line: int = 0
    raised: str = ""
    has_victims: bool = False
    is_capped: bool = False

    def add(self, seen: _Seen) -> None:
        """One more sign."""
        if len(self.seen) < EVENTS_CAP:
            self.seen.append(seen)
        else:
            self.is_capped = True

    def read(self) -> None:
        """All lines, once."""
        for number, line in self.opened.lines():
            if self.block is not None:
                self.inside(number, line)
            elif "Root Cause (first observed failure)" in line:
                self.block, self.block_line, self.raised = {}, number, ""
            elif "failed (exitcode" in line or "Worker group" in line:
                self.sign(number, line)
            elif "SIGTERM" in line:
                self.has_victims = True
        if self.block is not None:
            self.close()

    def inside(self, number: int, line: str) -> None:
        """A line of the root cause."""
        assert self.block is not None
        if "==========" in line or number > self.block_line + 2000:
            self.close()
            return
        found = _FIELD.search(line) if len(self.block) < 5 else None
        if found is not None and found[1] not in self.block:
            self.block[found[1]] = found[2][:400]
        if raised := _RAISED.search(line[:1000]):
            self.raised = raised[1]

    def close(self) -> None:
        """The root cause is read."""
        block, self.block = self.block or {}, None
        day, _, time = block.get("time", "").strip().partition("_")
        at_s = self.clock.at_s(f"{day} {time[:5]}", time[6:8])
        if at_s is None:
            return
        exitcode, trace = block.get("exitcode", ""), block.get("traceback", "")
        message = self.raised or (trace if trace.startswith("Signal") else "") or f"exitcode {exitcode}"
        kind: Kind = "cancelled" if "SIGTERM" in exitcode or exitcode.startswith("-15") else _kind(message)
        host = block.get("host", "").strip()
        is_name = _HOST.fullmatch(host) is not None and host != "localhost" and "in-addr" not in host
        said = _said(re.sub(r" ?(?:received )?by PID \d+|\(pid: \d+\)", "", message))
        self.add(_Seen(0, self.block_line, at_s, None, said, kind, host if is_name else ""))

    def sign(self, number: int, line: str) -> None:
        """The agent's own line about a failure."""
        failed, group = _FAILED.search(line), _GROUP.search(line)
        if failed is not None and failed[1] == "-15":
            self.has_victims = True
        elif failed is not None or group is not None:
            said = (
                f"failed (exitcode: {failed[1]}) local_rank: {failed[2]}"
                if failed
                else f"{group[1]} attempts left"
                if group
                else ""
            )
            glog, full = _GLOG.search(line), _FULL.search(line)
            at_s = self.clock.at_s(full[1], full[2].replace(",", ".")) if full else None
            self.add(_Seen(1 if failed else 2, number, at_s, glog.groups() if glog else None, said, "process"))

    def events(self, warnings: list[Text]) -> tuple[Event, ...]:
        """The failures, each once."""
        known = [seen.at_s for seen in self.seen if seen.at_s is not None]
        if not known and any(seen.month_day for seen in self.seen):
            warnings.append(_YEAR.with_value("year", self.opened.date[:4]))
        last_s = max(known) if known else None
        dated = [(at_s, seen) for seen in self.seen if (at_s := self._moment(seen, last_s)) is not None]
        kept: list[tuple[float, _Seen]] = []
        for at_s, seen in sorted(dated, key=lambda pair: pair[0]):
            if not kept or at_s - kept[-1][0] > SAME_S:
                kept.append((at_s, seen))
            elif seen.rank < kept[-1][1].rank:
                kept[-1] = (at_s, seen)
        return tuple(
            Event(
                at_s, seen.kind, seen.said, self.opened.place(f"line {seen.line}"), node_names=(seen.host,) if seen.host else ()
            )
            for at_s, seen in kept
        )

    def _moment(self, seen: _Seen, last_s: float | None) -> float | None:
        """When it was; a stamp without a year lies before the last one that has it, and within half a year of it. [s]"""
        if seen.at_s is not None or seen.month_day is None:
            return seen.at_s
        month, day, minute, second = seen.month_day
        year = int(self.opened.date[:4]) if last_s is None else datetime.fromtimestamp(last_s, UTC).year
        at_s = self.clock.at_s(f"{year}-{month}-{day} {minute}", second)
        if at_s is not None and last_s is not None and at_s > last_s + HALF_YEAR_S:
            return self.clock.at_s(f"{year - 1:04}-{month}-{day} {minute}", second)
        return at_s


def knows_stderr(head: Head) -> bool:
    """Whether torchrun's agent speaks in it, and no training log that is read as such."""
    return _AGENT.search(head.text) is not None and not (
        head.text.lstrip().startswith("{") or megatron_log.knows(head) or torchtitan_log.knows(head)
    )


def read_stderr(opened: Opened) -> FileEvidence:
    """Read the agent's messages in one pass.

    Raises:
        ReaderError: it cannot be read.
    """
    agent = _Agent(opened)
    agent.read()
    warnings: list[Text] = []
    events = agent.events(warnings)
    if agent.has_victims:
        warnings.append(_VICTIMS)
    if agent.is_capped:
        warnings.append(_CAPPED)
    date = datetime.fromtimestamp(events[-1].at_s, UTC).strftime("%Y-%m-%d") if events else opened.date
    return FileEvidence("torchrun-stderr", STDERR_TITLE, opened.name, date=date, events=events, warnings=tuple(warnings))


READERS: tuple[Reader, ...] = (
    Reader("torchrun-error", ERROR_TITLE, knows_error, read_error),
    Reader("torchrun-stderr", STDERR_TITLE, knows_stderr, read_stderr),
)
