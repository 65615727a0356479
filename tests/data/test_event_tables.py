"""Tables of events: Los Alamos, plain logs, and any other CSV once its columns are said."""

from __future__ import annotations

import math
import time
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ckptplanner.data.evidence import FileEvidence
from ckptplanner.data.readers import column_mapping, event_tables, slurm
from ckptplanner.data.readers.column_mapping import ColumnMapping, MappingNeeded, ValueColumn, kind_of, read_mapped
from ckptplanner.data.readers.column_suggestion import suggested_mapping
from ckptplanner.data.readers.errors import ReaderError
from ckptplanner.data.readers.source import open_file
from ckptplanner.data.readers.tables import number_scale, unit_in
from tests.engine.build import STEADY

SAMPLES = Path(__file__).parent / "samples"
READERS = (*slurm.READERS, *event_tables.READERS)
JAN_1 = 1767225600.0  # 2026-01-01T00:00Z
HOUR = 3600.0


def wrote(folder: Path, words: str | bytes, name: str = "log.csv") -> Path:
    path = folder / name
    path.write_bytes(words.encode() if isinstance(words, str) else words)
    return path


def known(path: Path) -> list[str]:
    return [reader.id for reader in READERS if reader.knows(open_file(path).head)]


def read(path: Path) -> FileEvidence:
    opened = open_file(path)
    (reader,) = [reader for reader in READERS if reader.knows(opened.head)]
    return reader.read(opened)


def asked(path: Path) -> tuple[MappingNeeded, ColumnMapping]:
    """What the dialog is given, and what is suggested."""
    with pytest.raises(MappingNeeded) as error:
        read(path)
    mapping = suggested_mapping(error.value.headings, error.value.rows)
    assert mapping is not None
    return error.value, mapping


def warned(said: FileEvidence) -> str:
    return " ".join(map(str, said.warnings))


# ---------------------------------------------------------------- how times are written

SEP_21_0637 = 1789972620.0  # 2026-09-21T06:37Z


@pytest.mark.parametrize(
    ("cell", "at"),
    [
        ("21.09.2026 06:37", "d/m/y"), ("21-9-2026 6:37", "d/m/y"), ("21/09/2026 06:37:00", "d/m/y"),
        ("21.09.2026, 06:37 UTC", "d/m/y"), ("9/21/2026 6:37 AM", "m/d/y"), ("09-21-2026 06:37", "m/d/y"),
        ("Sep 21 2026 06:37 AM", "iso"), ("21 Sep 2026 06:37", "iso"), ("September 21, 2026 06:37", "iso"),
        ("Mon, 21 Sept. 2026 06:37:00 GMT", "iso"), ("2026-09-21 06:37", "iso"), ("2026-09-21T06:37:00 UTC", "iso"),
    ],
)  # fmt: skip
def test_a_time_may_be_written_as_people_write_it(tmp_path: Path, cell: str, at: str) -> None:
    """Dots, dashes, slashes and months in words; the format is suggested and reads the same moment."""
    assert datetime(2026, 9, 21, 6, 37, tzinfo=UTC).timestamp() == SEP_21_0637
    path = wrote(tmp_path, f"Ticket;Wann;Dauer (min)\nOPS-1;{cell};33\n")
    _, mapping = asked(path)
    assert (mapping.time, mapping.time_format, mapping.asks) == ("Wann", at, ())
    assert [event.at_s for event in read_mapped(open_file(path), mapping).events] == [SEP_21_0637]


def test_a_heading_that_says_utc_gives_its_times_a_zone(tmp_path: Path) -> None:
    path = wrote(tmp_path, 'incident_ref,happened (UTC),root cause\n605,Sep 21 2026 06:37 AM,"disk"\n')
    _, mapping = asked(path)
    assert mapping.time == "happened (UTC)"
    (event,) = read_mapped(open_file(path), mapping).events
    assert (event.at_s, event.is_zoned) == (SEP_21_0637, True)


def test_dashes_that_may_be_either_are_asked_and_dots_begin_with_the_day(tmp_path: Path) -> None:
    _, mapping = asked(wrote(tmp_path, "ticket,fired\n1,3-4-2026 14:05\n"))
    assert "3-4-2026" in str(mapping.asks[0])
    assert mapping.time_format == ""
    _, mapping = asked(wrote(tmp_path, "ticket,fired\n1,3.4.2026 14:05\n"))
    assert (mapping.time_format, mapping.asks) == ("d/m/y", ())


def test_times_in_another_spelling_say_which_are_accepted(tmp_path: Path) -> None:
    path = wrote(tmp_path, "ticket,fired\n1,week 38\n2,week 39\n")
    with pytest.raises(ReaderError, match=r"2 of 2 rows have no readable time; .* 29\.11\.2026 14:05, .* seconds since 1970"):
        read_mapped(open_file(path), ColumnMapping(time="fired"))


def test_a_long_cell_of_zones_is_no_time(tmp_path: Path) -> None:
    path = wrote(tmp_path, f"ticket,fired\n1,{'UTC ' * 20_000} UTC\n")
    with pytest.raises(ReaderError):
        read_mapped(open_file(path), ColumnMapping(time="fired"))


def test_a_plain_log_with_dots_is_read_day_first(tmp_path: Path) -> None:
    """No day above 12 tells, but dots do: they begin with the day."""
    said = read(wrote(tmp_path, "time,kind\n03.04.2026 14:05,node\n05.04.2026 02:11,node\n"))
    assert [event.at_s for event in said.events] == [
        datetime(2026, 4, 3, 14, 5, tzinfo=UTC).timestamp(), datetime(2026, 4, 5, 2, 11, tzinfo=UTC).timestamp(),
    ]  # fmt: skip


# ---------------------------------------------------------------- Los Alamos


def test_the_table_of_los_alamos() -> None:
    """Checked by hand against the rows of the excerpt."""
    said = read(SAMPLES / "tables/lanl-excerpt.csv")
    assert said.reader == "lanl-table"
    first = said.events[0]
    assert (first.system, first.nodes, first.node_names, first.kind) == ("2", 49, ("0",), "node")
    assert (first.at_s, first.downtime_s) == (1119351240.0, 360.0)  # 6/21/2005 10:54, 6 minutes
    assert (first.said, str(first.place)) == ("Hardware: Graphics Accel Hdwr", "lanl-excerpt.csv, line 2")
    assert {event.system for event in said.events} == {"2", "18", "20"}
    assert Counter(event.system for event in said.events)["2"] == 8


HEAD = "System,nodes,Prob Started,Down Time,Facilities,Hardware,Human Error,Network,Undetermined,Software\n"


def test_the_cause_is_the_column_that_is_filled(tmp_path: Path) -> None:
    causes = [",".join("x" if column == filled else "" for column in range(6)) for filled in range(7)]
    words = HEAD + "".join(f"3,,1/{day}/2003 4:05,7,{cause}\n" for day, cause in enumerate(causes, start=1))
    said = read(wrote(tmp_path, words))
    assert [event.kind for event in said.events] == ["cluster", "node", "unknown", "node", "unknown", "process", "unknown"]
    assert [event.nodes for event in said.events] == [None] * 7


def test_rows_that_are_none_are_told(tmp_path: Path) -> None:
    words = HEAD + "3,5,1/1/2003 4:05,7,,x,,,,\nx,5,1/1/2003 4:05,7,,x,,,,\n3,5,31/1/2003 4:05,7,,x,,,,\n3,5\n"
    said = read(wrote(tmp_path, words))
    assert len(said.events) == 1
    assert "Rows that could not be read, left out: 3; the first is line 3." in warned(said)
    with pytest.raises(ReaderError, match="no row with a system and a start"):
        read(wrote(tmp_path, HEAD))


def test_a_table_as_long_as_the_real_one_is_read_in_well_under_a_second(tmp_path: Path) -> None:
    heading, *rows = (SAMPLES / "tables/lanl-excerpt.csv").read_text().splitlines()
    path = wrote(tmp_path, "\n".join([heading, *(rows[index % len(rows)] for index in range(23_739))]))
    before = time.process_time()
    assert len(read(path).events) == 23_739
    assert time.process_time() - before < 2.0  # 0.3 s where nothing else runs


# ---------------------------------------------------------------- plain logs


@pytest.mark.parametrize(
    "words",
    [
        "time,kind,nodes,downtime_s,note\n2026-01-01T00:00,node,1,600,\n2026-01-01T01:00,gpu,1,0,x\n2026-01-01T03:00,node,1,0,\n",
        "2026-01-01 00:00:00\n2026-01-01 01:00:00\n2026-01-01 03:00:00\n",
        "1/1/2026 0:00\n1/1/2026 1:00\n1/1/2026 3:00\n",
        "\ufeffTimestamp, note\n2026-01-01T03:00,\n2026-01-01T00:00,\n\n2026-01-01T01:00,\n",
        "# what broke\nStart\n2026-01-01T00:00\n# a remark\n2026-01-01T01:00\n2026-01-01T03:00\n",
        "cause;time\nx;2026-01-01T00:00\ny;2026-01-01T01:00\nz;2026-01-01T03:00\n",
    ],
)
def test_three_events_however_they_are_written(tmp_path: Path, words: str) -> None:
    said = read(wrote(tmp_path, words))
    assert said.reader == "event-log"
    assert sorted(event.at_s - JAN_1 for event in said.events) == [0.0, HOUR, 3 * HOUR]
    assert said.date == "2026-01-01"


def test_numbers_count_from_a_moment_that_is_not_known(tmp_path: Path) -> None:
    said = read(wrote(tmp_path, "node\telapsed (min)\nn1\t10\nn2\t70\nn3\t190\n"))
    assert [(event.at_s, event.node_names) for event in said.events] == [(600, ("n1",)), (4200, ("n2",)), (11400, ("n3",))]
    assert "a moment that is not known" in warned(said)


def test_what_a_row_says_besides_its_time(tmp_path: Path) -> None:
    words = (
        "time,kind,nodes,downtime (min),node,note\n"
        "2026-01-01T01:00+01:00,GPU,32,10,gpu-[1-2],call Bob\n"
        "2026-01-02T01:00+01:00,planned,16,,,\n"
        "2026-01-03T01:00+01:00,gremlins,,x,,\n"
    )
    first, second, third = (said := read(wrote(tmp_path, words))).events
    assert (first.at_s, first.is_zoned, first.kind, first.said) == (JAN_1, True, "node", "GPU")
    assert (first.nodes, first.node_names, first.downtime_s) == (32, ("gpu-1", "gpu-2"), 600.0)
    assert (second.kind, second.nodes, second.downtime_s) == ("cancelled", 16, None)
    assert (third.kind, third.said, third.downtime_s) == ("unknown", "gremlins", None)
    assert "gremlins 1" in warned(said)
    assert "Bob" not in str(said)


def test_days_before_months_are_told_or_said(tmp_path: Path) -> None:
    told = read(wrote(tmp_path, "time,kind\n13/1/2026 1:00,a\n2/1/2026 1:00,b\n"))
    assert [event.at_s for event in told.events] == [JAN_1 + 12 * 24 * HOUR + HOUR, JAN_1 + 24 * HOUR + HOUR]
    open_ = read(wrote(tmp_path, "time\n2/1/2026 1:00\n3/1/2026 1:00\n"))
    assert "Dates such as 2/1/2026 1:00 are taken as month/day/year." in warned(open_)
    assert "month/day/year" not in warned(read(wrote(tmp_path, "time\n2/1/2026 1:00\n3/13/2026 1:00\n")))


def test_times_with_and_without_a_zone(tmp_path: Path) -> None:
    assert "taken as UTC" in warned(read(wrote(tmp_path, "time,kind\n2026-01-01T00:00Z,a\n2026-01-01T02:00,b\n")))


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("time,kind\n2026-01-01T00:00,a\nx,b\ny,b\n", "line 3: 2 of 3 rows have no readable time"),
        ("2026-01-01\n2026-01-02\n" + 58 * "2026-01-02\n" + "x\n" * 99, "line 61: most lines are no time"),
        ("time,note\n2026-01-01T00:00,\n" + "2026-01-01T00:00,\n" * 60 + '2026-01-01T00:00,"open\n', "it is no line of a CSV"),
        ("time,note\n2026-01-01T00:00,\n" + "2026-01-01T00:00,\n" * 60 + "2026," + "x" * 200_000, "field larger than"),
    ],
)
def test_broken_logs(tmp_path: Path, words: str, says: str) -> None:
    with pytest.raises(ReaderError, match=says):
        read(wrote(tmp_path, words))


@pytest.mark.parametrize(
    ("words", "ids"),
    [
        ("time,temperature\n2026-01-01T00:00,20\n", ["table"]),  # no log of ours: it must be asked
        ("time\n17\n18\n", []),
        ("colour,shape\nred,round\n", ["table"]),
        ("colour,shape\nred,round,big\n", []),
        ("1,2\n3,4\n", []),
        ("Prose, with a comma.\nAnd another line.\n", []),
        ('{"a": 1,\n "b": 2}\n', []),
        ("ISO date,label,path type,operation\n2026-05-22T16:09:38,,dir,MKDIRS\n", []),  # elbencho's
        ("access,bw(MiB/s),IOPS\nwrite,991.2,5\n", []),  # IOR's
        ("", []),
    ],
)
def test_which_tables_are_known(tmp_path: Path, words: str, ids: list[str]) -> None:
    assert known(wrote(tmp_path, words)) == ids


# ---------------------------------------------------------------- any table


def test_the_dialog_gets_headings_and_rows(tmp_path: Path) -> None:
    words = "a;a;;when\n" + "".join(f"1;2;3;{number}\n" for number in range(30))
    path = wrote(tmp_path, words.replace(";;when", ";b;when"))
    with pytest.raises(MappingNeeded, match=r"^log\.csv: say which of its columns is what: a, column 2, b, when\.$") as error:
        read(path)
    assert (error.value.headings, error.value.delimiter) == (("a", "column 2", "b", "when"), ";")
    assert (len(error.value.rows), error.value.rows[19]) == (20, ("1", "2", "3", "19"))


def test_a_pagers_export(tmp_path: Path) -> None:
    path = wrote(tmp_path, (
        "incident_number,created_on,resolved_on,description,service,assigned_to\n"
        "7,2026-01-01T01:00:00-05:00,2026-01-01T01:30:00-05:00,node down,train,Bob\n"
    ))  # fmt: skip
    _, mapping = asked(path)
    assert (mapping.rows_are, mapping.time, mapping.end) == ("events", "created_on", "resolved_on")
    said = read_mapped(open_file(path), replace(mapping, kind="description"))
    assert [(one.at_s, one.kind, one.downtime_s) for one in said.events] == [(JAN_1 + 6 * HOUR, "node", 1800.0)]
    assert "Bob" not in str(said)


def test_a_trackers_list_of_runs(tmp_path: Path) -> None:
    path = wrote(tmp_path, (
        "Name,State,Created,Runtime,User\n"
        "a,crashed,2026-01-01T00:00:00.000Z,3600,bob\na,killed,2026-01-01T02:00:00.000Z,7200,bob\n"
        "a,failed,2026-01-02T02:00:00.000Z,60,bob\na,running,2026-01-03T00:00:00.000Z,60,bob\n"
        "a,finished,2026-01-03T00:00:00.000Z,,bob\n"
    ))  # fmt: skip
    _, mapping = asked(path)
    assert mapping.rows_are == "runs"
    assert [str(one) for one in mapping.asks] == ["In which unit is the column Runtime? Seconds were taken."]
    said = read_mapped(open_file(path), mapping)
    assert [(run.job, run.start_s - JAN_1, run.kind) for run in said.runs] == [
        ("a", 0.0, "unknown"), ("a", 2 * HOUR, "cancelled"), ("a", 26 * HOUR, "process"), ("a", 48 * HOUR, "open"),
    ]  # fmt: skip
    assert [run.end_s and run.end_s - JAN_1 for run in said.runs] == [HOUR, 4 * HOUR, 26 * HOUR + 60, None]
    assert said.runs[3].seen_until_s == JAN_1 + 48 * HOUR + 60
    assert "Rows that could not be read, left out: 1;" in warned(said)


def test_a_trackers_history_shows_steps_pauses_and_restarts(tmp_path: Path) -> None:
    """20 s a step; a pause of half an hour without loss; and 30 -> 24: back to step 24 after an hour."""
    times = [(JAN_1 + 20 * step, step) for step in range(0, 20, 2)]
    times += [(JAN_1 + 2000 + 20 * step, step) for step in range(20, 32, 2)]
    times += [(JAN_1 + 6000 + 20 * step, step) for step in range(24, 40, 2)]
    path = wrote(tmp_path, "_step,_timestamp,loss\n" + "".join(f"{step},{at_s},2.1\n" for at_s, step in times))
    _, mapping = asked(path)
    assert (mapping.rows_are, mapping.time, mapping.time_format, mapping.step) == ("steps", "_timestamp", "epoch_s", "_step")
    said = read_mapped(open_file(path), mapping)
    step, lost = sorted(said.measured, key=lambda one: one.quantity, reverse=True)
    assert (step.quantity, set(step.values)) == ("step", {20.0})
    assert "1 pauses" in str(step.notes[0])
    assert (lost.quantity, lost.values) == ("lost_steps", (6.0,))
    assert [(event.at_s, event.kind, event.said) for event in said.events] == [
        (JAN_1 + 2600, "unknown", "step 30, then 24")
    ]  # fmt: skip


def test_units_in_headings(tmp_path: Path) -> None:
    path = wrote(tmp_path, "n,step time (ms),write bw(KiB/s),write throughput [KB/s],blocking_s\n1,20016.6,100,100,5\n")
    _, mapping = asked(path)
    assert [(one.column, one.quantity, one.scale, one.unit) for one in mapping.values] == [
        ("step time (ms)", "step", 1e-3, "ms"),
        ("write bw(KiB/s)", "writes_at", 1024.0, "KiB/s"),
        ("write throughput [KB/s]", "writes_at", 1000.0, "KB/s"),
        ("blocking_s", "stop", 1.0, "s"),
    ]
    said = read_mapped(open_file(path), mapping)
    assert [one.values[0] for one in said.measured] == pytest.approx([20.0166, 102_400, 100_000, 5])
    assert str(said.measured[1].notes[0]) == "Column write bw(KiB/s), in KiB/s."


@pytest.mark.parametrize(
    ("heading", "unit", "scale"),
    [
        ("Duration (min)", "min", 60.0), ("bw(KiB/s)", "KiB/s", 1024.0), ("load_ms", "ms", 1e-3), ("t, h", "h", 3600.0),
        ("size [GiB]", "GiB", 2.0**30), ("size [GB]", "GB", 1e9), ("rate Gb/s", "Gb/s", 0.125e9),
        ("wait in minutes", "minutes", 60),
    ],
)  # fmt: skip
def test_a_unit_that_a_heading_names(heading: str, unit: str, scale: float) -> None:
    found = unit_in(heading)
    assert found is not None
    assert (found[0], found[2]) == (unit, scale)


@pytest.mark.parametrize("heading", ["time", "Relative Time (Process)", "_step", "MiB/s [last]", "loss (5 min)", "", "nodes"])
def test_a_heading_without_a_unit(heading: str) -> None:
    assert unit_in(heading) is None


def test_a_save_is_never_guessed_to_be_the_stop_or_the_write() -> None:
    mapping = suggested_mapping(["time", "save (s)", "checkpoint time (s)"], [["2026-01-01T00:00", "5", "200"]])
    assert mapping is not None
    assert mapping.values == ()


def test_days_and_months_are_asked_until_a_day_tells(tmp_path: Path) -> None:
    path = wrote(tmp_path, "when,broke\n3/4/2026 10:00,gpu\n")
    _, mapping = asked(path)
    assert mapping.time_format == ""
    assert [str(one) for one in mapping.asks] == ["Are dates such as 3/4/2026 10:00 month/day/year or day/month/year?"]
    with pytest.raises(ReaderError, match="month/day/year or day/month/year"):
        read_mapped(open_file(path), mapping)
    at = [read_mapped(open_file(path), replace(mapping, time_format=kind)).events[0].at_s for kind in ("m/d/y", "d/m/y")]
    assert (at[1] - at[0]) / (24 * HOUR) == 31 - 1  # 3 April after 4 March 2026
    for date, kind in (("13/4/2026 10:00", "d/m/y"), ("4/13/2026 10:00", "m/d/y")):
        found = suggested_mapping(["when", "broke"], [["3/4/2026 10:00", "gpu"], [date, "nic"]])
        assert found is not None
        assert (found.time_format, found.asks) == (kind, ())


def test_epoch_seconds_and_milliseconds(tmp_path: Path) -> None:
    for cell, kind in (("1767225600", "epoch_s"), ("1767225600.5", "epoch_s"), ("1767225600000", "epoch_ms")):
        path = wrote(tmp_path, f"Timestamp,what\n{cell},gpu\n")
        _, mapping = asked(path)
        assert mapping.time_format == kind
        assert read_mapped(open_file(path), mapping).events[0].at_s == pytest.approx(JAN_1, abs=1)


def test_kinds_as_people_write_them() -> None:
    words = ("node", "NODE_FAIL", "gpu failure", "XID 79", "killed", "Preempted", "OOM", "Lustre", "time limit", "fine", "")
    assert [kind_of(word) for word in words] == [
        "node", "node", "node", "node", "cancelled", "preempted", "process", "cluster", "limit", None, None,
    ]  # fmt: skip


def test_the_users_own_words_come_first(tmp_path: Path) -> None:
    path = wrote(tmp_path, "when,what\n2026-01-01T00:00,GPU\n2026-01-02T00:00,Gremlins\n")
    mapping = ColumnMapping(time="when", kind="what", kinds=(("gpu", "process"), ("gremlins", "cluster")))
    assert [event.kind for event in read_mapped(open_file(path), mapping).events] == ["process", "cluster"]


TABLE = "when,x,n\n2026-01-01T00:00,1,2\n"


@pytest.mark.parametrize(
    ("mapping", "says"),
    [
        (ColumnMapping(time="never"), "there is no column 'never'; there are when, x, n"),
        (ColumnMapping(), "say which column is the time"),
        (ColumnMapping(rows_are="steps", time="when"), "say which column counts the steps"),
        (ColumnMapping(rows_are="values"), "there is nothing in the columns"),
        (ColumnMapping(rows_are="values", values=(ValueColumn("x", "speed"),)), "a quantity that is not known"),
        (ColumnMapping(rows_are="values", values=(ValueColumn("x", "step", math.nan),)), "no positive number"),
        (ColumnMapping(time="x"), "1 of 1 rows have no readable time"),
    ],
)
def test_mappings_that_do_not_fit(tmp_path: Path, mapping: ColumnMapping, says: str) -> None:
    with pytest.raises(ReaderError, match=says):
        read_mapped(open_file(wrote(tmp_path, TABLE)), mapping)


def test_values_that_are_none_are_no_values(tmp_path: Path) -> None:
    cells = ("1", "", "nan", "inf", "1e999", "-3", "1,234.5", "12 min", "0:01:30", "99999999999999999999999")
    path = wrote(tmp_path, "v;n\n" + "".join(f"{cell};1\n" for cell in cells))
    said = read_mapped(open_file(path), ColumnMapping(rows_are="values", values=(ValueColumn("v", "step"),)))
    assert said.measured[0].values == (1.0, 1234.5, 720.0, 90.0)


def test_a_table_without_an_end_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(column_mapping, "ROWS_CAP", 3)
    said = read(wrote(tmp_path, "time,kind\n" + "2026-01-01T00:00,node\n" * 9))
    assert len(said.events) == 3
    assert "Only the first 3 rows" in warned(said)


def test_number_scales_are_those_of_the_backtest() -> None:
    assert [number_scale(word) for word in ("hours", "time_s", "elapsed (min)", "ms")] == [HOUR, 1.0, 60.0, None]


_CELLS = st.sampled_from(
    (
        "2026-01-01T00:00",
        "1/2/2026 3:04",
        "1767225600",
        "1e308",
        "-1",
        "nan",
        "gpu",
        "",
        '"',
        "9" * 30,
        "step",
        "time",
        "min (s)",
        "²",
    )
)


@STEADY
@given(st.lists(st.lists(_CELLS | st.text(max_size=8), min_size=1, max_size=5), max_size=8))
def test_any_table_is_read_or_refused(tmp_path_factory: pytest.TempPathFactory, cells: list[list[str]]) -> None:
    words = "\n".join(",".join(row) for row in cells)
    path = wrote(tmp_path_factory.mktemp("any"), words.encode("utf-8", "replace"))
    for reader in event_tables.READERS:
        opened = open_file(path)
        reader.knows(opened.head)
        try:
            reader.read(opened)
        except MappingNeeded as error:
            mapping = suggested_mapping(error.headings, error.rows)
            if mapping is not None:
                _read_or_refuse(path, replace(mapping, time_format=mapping.time_format or "m/d/y"))
        except ReaderError:
            continue


def _read_or_refuse(path: Path, mapping: ColumnMapping) -> None:
    try:
        said = read_mapped(open_file(path), mapping)
    except ReaderError:
        return
    assert all(math.isfinite(value) for one in said.measured for value in one.values)
    assert all(math.isfinite(event.at_s) for event in said.events)


def test_lines_of_a_log_that_begin_with_a_time_in_brackets_are_no_table(tmp_path: Path) -> None:
    """Each has one comma, as the cells of a table of two columns."""
    path = tmp_path / "train.log"
    path.write_text("".join(f"[2026-11-29 14:00:{second:02d},123] INFO save done\n" for second in range(30)))
    head = open_file(path).head
    assert not head.is_json
    assert not any(reader.knows(head) for reader in event_tables.READERS)


# ---------------------------------------------------------------- dates with slashes


def days(*dates: str) -> str:
    return "".join(f"{date} 00:00,node\n" for date in dates)


EARLY = tuple(f"{day:02d}/03/2026" for day in range(1, 13))


def test_a_day_above_12_that_comes_after_row_20_tells_the_order(tmp_path: Path) -> None:
    late = tuple(f"{day:02d}/03/2026" for day in range(13, 29))
    found = read(wrote(tmp_path, "time,kind\n" + days(*EARLY, *EARLY, *late)))
    assert len(found.events) == 40
    assert (found.events[-1].at_s - found.events[0].at_s) / 86400 == 27, "all in March"
    assert found.warnings == ()


def test_the_same_without_a_heading(tmp_path: Path) -> None:
    found = read(wrote(tmp_path, "".join(f"{date} 00:00\n" for date in (*EARLY, *EARLY, "28/03/2026"))))
    assert len(found.events) == 25
    assert (found.events[-1].at_s - found.events[0].at_s) / 86400 == 27


@pytest.mark.parametrize("heading", ["time,kind\n", ""])
@pytest.mark.parametrize("before", [EARLY[:1], EARLY * 3])
def test_dates_of_both_orders_are_refused_with_their_lines(tmp_path: Path, heading: str, before: tuple[str, ...]) -> None:
    words = days(*before, "13/03/2026", "03/28/2026")
    words = words if heading else words.replace(",node", "")
    path = wrote(tmp_path, heading + words)
    first = len(before) + bool(heading) + 1
    with pytest.raises(ReaderError, match=rf"\(13/03/2026 00:00, line {first}\).*\(03/28/2026 00:00, line {first + 1}\)"):
        read(path)


def test_a_mapping_that_says_the_other_order_is_refused(tmp_path: Path) -> None:
    """Of 25 rows 24 can be read as month/day/year: that would put them into the wrong months."""
    path = wrote(tmp_path, "when,what\n" + days(*EARLY, *EARLY, "28/03/2026"))
    mapping = ColumnMapping(time="when", kind="what", time_format="m/d/y")
    with pytest.raises(ReaderError, match=r"line 26: 28/03/2026 00:00 is no date in the order month/day/year"):
        read_mapped(open_file(path), mapping)
    assert len(read_mapped(open_file(path), replace(mapping, time_format="d/m/y")).events) == 25
