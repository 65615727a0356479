"""Xid errors of NVIDIA GPUs: lines of the kernel log, and samples of the gauge that the DCGM exporter gives.

    dmesg -T              [Sat Nov 29 13:59:52 2026] NVRM: Xid (PCI:0000:10:1c): 79, pid=1896, ...
    dmesg                 [12345.678901] NVRM: ...             seconds since boot: cannot be placed, refused
    journalctl, syslog    2026-11-29T13:59:52+0900 host kernel: NVRM: ...      Nov 29 13:59:52 host kernel: NVRM: ... (no year)
    DCGM                  DCGM_FI_DEV_XID_ERRORS{gpu="0",Hostname="node-a"} 79 1795957192000, or query_range of Prometheus

13, 31 and 43 are mostly the application's; 48, 63, 64, 74, 79, 94, 95 and 119 are the hardware's. Repeats of one GPU within 5 s
are one event. The gauge holds the last Xid, so only its changes count. Patterns and classes: THEORY 5, read 2026-11-29.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from ckptplanner.data.evidence import Event, FileEvidence, Kind
from ckptplanner.data.readers.json_stream import documents
from ckptplanner.data.readers.json_values import as_list, as_object, as_text, at, day_of, moment, objects
from ckptplanner.data.readers.source import Head, Opened, Reader
from ckptplanner.text import Text, text
from ckptplanner.units import grouped

REPEAT_S = 5.0
MOST_EVENTS, MOST_GPUS = 100_000, 100_000
APPLICATION = frozenset({13, 31, 43})
HARDWARE = frozenset({48, 63, 64, 74, 79, 94, 95, 119})
_LOG_TITLE, _GAUGE_TITLE = text("Xid errors in a kernel log"), text("Xid errors by the DCGM exporter")
_METRIC = "DCGM_FI_DEV_XID_ERRORS"
_XID = re.compile(r"NVRM: Xid \((?:PCI:)?([^)\s]{1,40})[^)]{0,40}\): (\d{1,5})")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_MONTH = "|".join(_MONTHS)
_DAY = r"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)"
_HOST = re.compile(r"(?:^|\s)(\S{1,120}) kernel(?:\[\d+\])?:")
_BOOT = re.compile(r"(?:<\d{1,3}>)?\[ *\d{1,12}\.\d{1,9}\] ")
_CTIME = re.compile(rf"\[{_DAY} ({_MONTH}) +(\d{{1,2}}) (\d\d):(\d\d):(\d\d) (\d{{4}})\] ")
_ISO = re.compile(
    rf"(?:{_DAY} )?(\d{{4}}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{{1,9}})?)(Z|[+-]\d\d:?\d\d)?(?: (UTC|GMT)(?= ))?(?=[ \[])"
)
_SYSLOG = re.compile(rf"(?:<\d{{1,3}}>)?({_MONTH}) +(\d{{1,2}}) (\d\d):(\d\d):(\d\d)(?:\.\d+)? ")
_UNIX = re.compile(r"(\d{9,10}\.\d{1,9}) ")
_SAMPLE = re.compile(rf"{_METRIC}\{{(.*)\}} +([0-9.e+]+)(?: +([0-9.e+]+))?(?: +#.*)?$")
_LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')
_MOST_TURNS = 30
_TURN_MONTHS = 9  # a step back of so many months is New Year


@dataclass(frozen=True, slots=True)
class _Moment:
    """When a line was written; where it names no year, in which year of the file, from 0 on."""

    at_s: float
    is_zoned: bool
    turn: int | None = None


@dataclass(slots=True)
class _Hit:
    """One Xid of one GPU, with its repeats."""

    when: _Moment
    host: str
    code: int
    line: int
    lines: int = 1


@dataclass
class _Log:
    """What was read of a kernel log so far."""

    opened: Opened
    hits: list[_Hit] = field(default_factory=list)
    last: dict[tuple[str, str], tuple[float, _Hit]] = field(default_factory=dict)  # of each GPU
    other: Counter[int] = field(default_factory=Counter)
    lines: int = 0
    repeats: int = 0
    since_boot: int = 0
    undated: int = 0
    left_out: int = 0
    turn: int = 0
    month: int = 0  # of the last line without a year
    day: int = 0


def _kind_of(code: int) -> Kind | None:
    if code in HARDWARE:
        return "node"
    return "process" if code in APPLICATION else None


# ---------------------------------------------------------------- kernel logs


def _knows_log(head: Head) -> bool:
    start = head.text.lstrip()[:2]  # a stamp begins with a bracket too
    if (start[:1] == "{" or start == "[{") and "__REALTIME_TIMESTAMP" not in head.text:
        return False
    if _XID.search(head.text):
        return _METRIC not in head.text
    first = [line for line in head.lines[:60] if line.strip()]
    like = sum(1 for line in first if _BOOT.match(line) or " kernel: " in line[:200] or _CTIME.match(line))
    return len(first) >= 5 and 2 * like > len(first)


def _read_log(opened: Opened) -> FileEvidence:
    log = _Log(opened)
    for number, line in opened.lines():
        if "NVRM: Xid" in line:
            _add_line(log, line, number)
    if not log.lines:
        raise opened.refuse("there is no Xid of an NVIDIA GPU in it")
    if not log.hits and (log.since_boot or log.undated):
        what = "seconds since boot and no time of day" if log.since_boot else "no time that can be read"
        count = log.since_boot or log.undated
        raise opened.refuse(f"its {count:,} Xid lines have {what}; use dmesg -T, or journalctl -k -o short-iso")
    events = tuple(_events(log))
    return FileEvidence(
        reader="xid", title=_LOG_TITLE, file=opened.name, events=events, warnings=tuple(_log_warnings(log)),
        date=day_of(max(one.at_s for one in events)) if events else opened.date,
    )  # fmt: skip


def _add_line(log: _Log, line: str, number: int) -> None:
    host = ""
    if line.startswith("{"):
        line, host, when = _of_journal(line)
    else:
        when = _when(log, line)
    found = _XID.search(line)
    if found is None:
        return
    log.lines += 1
    code, gpu = int(found[2]), found[1].casefold()
    if _kind_of(code) is None:
        log.other[code] += 1
    elif when is None:
        if _BOOT.match(line):
            log.since_boot += 1
        else:
            log.undated += 1
    else:
        named = _HOST.search(line[: found.start()])
        _add_hit(log, (host or (as_text(named[1], 120) if named else ""), gpu), _Hit(when, "", code, number))


def _add_hit(log: _Log, key: tuple[str, str], hit: _Hit) -> None:
    """A new hit, or one more line of the last one of this GPU."""
    at_s, (last_s, last) = hit.when.at_s, log.last.get(key, (-1e12, hit))
    if 0.0 <= at_s - last_s <= REPEAT_S:
        log.last[key] = (at_s, last)
        last.lines += 1
        log.repeats += 1
        if hit.code in HARDWARE and last.code not in HARDWARE:
            last.code = hit.code
    elif len(log.hits) >= MOST_EVENTS or len(log.last) >= MOST_GPUS:
        log.left_out += 1
    else:
        hit.host = key[0]
        log.last[key] = (at_s, hit)
        log.hits.append(hit)


def _when(log: _Log, line: str) -> _Moment | None:
    """The time of day at the start of a line; None where it has none."""
    if (found := _ISO.match(line)) is not None:
        return _moment(found[1] + (found[2] or ("+00:00" if found[3] else "")))
    if (found := _CTIME.match(line)) is not None:
        month, *rest = found.groups()
        day, hour, minute, second, year = map(int, rest)
        return _moment(f"{year:04}-{_MONTHS.index(month) + 1:02}-{day:02}T{hour:02}:{minute:02}:{second:02}")
    if (found := _UNIX.match(line)) is not None:
        return _moment(found[1])
    if (found := _SYSLOG.match(line)) is not None:
        month, *rest = found.groups()
        return _without_year(log, _MONTHS.index(month) + 1, *map(int, rest))
    return None


def _moment(words: str) -> _Moment | None:
    found = moment(words)
    return None if found is None else _Moment(*found)


def _without_year(log: _Log, month: int, day: int, hour: int, minute: int, second: int) -> _Moment | None:
    """Counted in years of 366 days from the first of the file on, until the last line is known."""
    turn = log.turn + (1 if log.month - month >= _TURN_MONTHS and log.turn < _MOST_TURNS else 0)
    try:
        at_s = datetime(2000 + 4 * turn, month, day, hour, minute, second, tzinfo=UTC).timestamp()
    except ValueError:
        return None
    log.turn, log.month, log.day = turn, month, day
    return _Moment(at_s, False, log.turn)


def _of_journal(line: str) -> tuple[str, str, _Moment | None]:
    """Message, host and time of a line of journalctl -o json."""
    try:
        entry = as_object(json.loads(line))
    except (ValueError, RecursionError):
        return "", "", None
    host = as_text(entry.get("_HOSTNAME"), 120)
    return as_text(entry.get("MESSAGE"), 400), host, _moment(as_text(entry.get("__REALTIME_TIMESTAMP"), 30))


def _events(log: _Log) -> Iterator[Event]:
    """The hits as events; years are counted back from the day of the file."""
    year, month, day = map(int, log.opened.date.split("-"))
    newest = year - (1 if (log.month, log.day) > (month, day) else 0)
    for hit in log.hits:
        at_s = hit.when.at_s
        if hit.when.turn is not None:
            try:
                time = datetime.fromtimestamp(at_s, UTC).replace(year=newest - (log.turn - hit.when.turn))
            except ValueError:  # 29 February, or too long ago
                log.undated += 1
                continue
            at_s = time.timestamp()
        kind = _kind_of(hit.code)
        assert kind is not None
        said = f"Xid {hit.code}" + (f" ({hit.lines:,} lines)" if hit.lines > 1 else "")
        names = (hit.host,) if hit.host else ()
        yield Event(at_s, kind, said, log.opened.place(f"line {hit.line}"), node_names=names, is_zoned=hit.when.is_zoned)


def _log_warnings(log: _Log) -> Iterator[Text]:
    yield text("An Xid does not by itself say that a run ended.")
    if log.repeats:
        yield text("{count} lines repeat an Xid of the same GPU within {seconds} s and are one with it.",
                   count=grouped(log.repeats), seconds=f"{REPEAT_S:g}")  # fmt: skip
    yield from _others(log.other)
    if any(hit.when.turn is not None for hit in log.hits):
        yield text("The lines name no year; it was taken from the date of the file, {date}.", date=log.opened.date)
    if any(not hit.when.is_zoned for hit in log.hits):
        yield text("The lines name no time zone.")
    if log.since_boot:
        yield text(
            "{count} lines have seconds since boot and no time of day; they were left out.", count=grouped(log.since_boot)
        )
    if log.undated:
        yield text("{count} lines without a time that can be read were left out.", count=grouped(log.undated))
    if log.left_out:
        yield text("Only the first {most} events were read; {count} lines were left out.",
                   most=grouped(len(log.hits)), count=grouped(log.left_out))  # fmt: skip


def _others(other: Counter[int]) -> Iterator[Text]:
    if other:
        codes = ", ".join(f"{code} ({grouped(count)})" for code, count in other.most_common(6))
        yield text("{count} Xid errors of other codes are no known cause of a stop and were left out: {codes}.",
                   count=grouped(other.total()), codes=codes)  # fmt: skip


# ---------------------------------------------------------------- the gauge of the DCGM exporter


@dataclass
class _Gauge:
    """What was read of the gauge so far."""

    opened: Opened
    last: dict[tuple[str, str], tuple[float, int]] = field(default_factory=dict)  # time and value of each GPU
    events: list[Event] = field(default_factory=list)
    other: Counter[int] = field(default_factory=Counter)
    samples: int = 0
    undated: int = 0
    began_with: int = 0  # GPUs whose first sample shows an Xid of before
    left_out: int = 0

    def add(self, labels: dict[str, str], value: Any, time: Any, where: str) -> None:
        """One sample; an event where the value has changed to an Xid."""
        self.samples += 1
        when, code = moment(time), _code(value)
        if when is None or code is None:
            self.undated += 1
            return
        host = labels.get("Hostname") or labels.get("hostname") or labels.get("node") or ""
        key = (host, labels.get("UUID") or labels.get("gpu") or "")
        before = self.last.get(key)
        if before is None and len(self.last) >= MOST_GPUS:
            self.left_out += 1
            return
        if before is not None and when[0] < before[0]:
            return
        self.last[key] = (when[0], code)
        if before is None:
            self.began_with += 1 if code else 0
        elif code and code != before[1]:
            self._changed(code, when, host, where)

    def _changed(self, code: int, when: tuple[float, bool], host: str, where: str) -> None:
        kind = _kind_of(code)
        if kind is None:
            self.other[code] += 1
        elif len(self.events) >= MOST_EVENTS:
            self.left_out += 1
        else:
            names = (host,) if host else ()
            self.events.append(
                Event(when[0], kind, f"Xid {code}", self.opened.place(where), node_names=names, is_zoned=when[1])
            )


def _code(value: Any) -> int | None:
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return int(number) if 0.0 <= number <= 99_999.0 else None


def _knows_gauge(head: Head) -> bool:
    if head.is_json:
        return head.has(_METRIC, '"values"')
    return any(line.startswith(_METRIC + "{") for line in head.text.splitlines())


def _read_gauge(opened: Opened) -> FileEvidence:
    gauge = _Gauge(opened)
    if opened.head.is_json:
        for document in documents(opened):
            _add_matrix(gauge, document)
    else:
        for number, line in opened.lines():
            if line.startswith(_METRIC) and (found := _SAMPLE.match(line)) is not None:
                labels = {name: as_text(value, 120) for name, value in _LABEL.findall(found[1])}
                gauge.add(labels, found[2], found[3], f"line {number}")
    if gauge.samples == gauge.undated:
        raise opened.refuse(
            f"its samples of {_METRIC} have no times, and one look at a gauge is no history; "
            "a query_range of Prometheus has them"
        )
    return FileEvidence(
        reader="dcgm", title=_GAUGE_TITLE, file=opened.name, events=tuple(sorted(gauge.events, key=lambda one: one.at_s)),
        warnings=tuple(_gauge_warnings(gauge)), date=day_of(max(seconds for seconds, _ in gauge.last.values())),
    )  # fmt: skip


def _add_matrix(gauge: _Gauge, document: Any) -> None:
    """The answer of Prometheus to a query_range: a series for each GPU, values as [seconds, "79"]."""
    for index, series in objects(at(document, "data", "result")):
        metric = as_object(series.get("metric"))
        if metric.get("__name__", _METRIC) != _METRIC:
            continue
        labels = {str(name)[:60]: as_text(value, 120) for name, value in metric.items()}
        for number, pair in enumerate(as_list(series.get("values"))):
            if isinstance(pair, list) and len(pair) == 2:
                gauge.add(labels, pair[1], pair[0], f"data.result[{index}].values[{number}]")


def _gauge_warnings(gauge: _Gauge) -> Iterator[Text]:
    yield text("An Xid does not by itself say that a run ended.")
    yield text("The gauge holds the last Xid: only its changes are counted, so the same Xid twice is seen once.")
    if gauge.began_with:
        yield text("{count} GPUs show an Xid of before their first sample; its time is not known, so it was left out.",
                   count=grouped(gauge.began_with))  # fmt: skip
    yield from _others(gauge.other)
    if gauge.undated:
        yield text("{count} samples without a time or a value were left out.", count=grouped(gauge.undated))
    if gauge.left_out:
        yield text("Only the first {most} events were read; {count} samples were left out.",
                   most=grouped(len(gauge.events)), count=grouped(gauge.left_out))  # fmt: skip


READERS: tuple[Reader, ...] = (
    Reader("xid", _LOG_TITLE, _knows_log, _read_log),
    Reader("dcgm", _GAUGE_TITLE, _knows_gauge, _read_gauge),
)
