"""From runs and events to M: exposure, what counts, which job, no run twice, causes, and the table of Los Alamos."""

from __future__ import annotations

import csv
import lzma
import math
import time
from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime
from typing import Any

import numpy as np
import pytest

from ckptplanner.data.evidence import COUNTED, Event, FileEvidence, Kind, Place, Restarts, Run
from ckptplanner.engine.evidence import Choices, FailureRecord
from ckptplanner.engine.failure_record import failure_record
from ckptplanner.engine.timelines import timeline
from ckptplanner.text import text
from ckptplanner.units import HOUR
from tests.engine.test_failure_stats import SAMPLES, summaries

DAY = 24 * HOUR
AS_READ = Choices()


def run(start_h: float, end_h: float | None, kind: Kind = "process", job: str = "train", **more: Any) -> Run:
    end = None if end_h is None else end_h * HOUR
    place = Place(more.pop("file", "sacct.txt"), f"line {start_h:g}")
    return Run(job, start_h * HOUR, end, kind, kind.upper(), place, **{"nodes": 4, **more})


def event(at_h: float, kind: Kind = "node", **more: Any) -> Event:
    return Event(at_h * HOUR, kind, more.pop("said", "XID 79"), Place(more.pop("file", "events"), f"line {at_h:g}"), **more)


def file(reader: str = "sacct", name: str = "sacct.txt", **found: Any) -> FileEvidence:
    return FileEvidence(reader, text("A file"), name, "2026-11-29", **found)


def record_of(*files: FileEvidence, choices: Choices = AS_READ, nodes: int = 4) -> FailureRecord:
    record = failure_record(timeline(files), files, choices, nodes=nodes)
    assert record is not None
    return record


def of_runs(*runs: Run, choices: Choices = AS_READ) -> FailureRecord:
    return record_of(file(runs=runs), choices=choices)


# ---------------------------------------------------------------- M from runs


def test_m_is_running_time_over_interruptions() -> None:
    """Queueing is not exposure; completed, limit, cancelled and open runs are time without an interruption."""
    record = of_runs(
        run(0, 10, "node"), run(12, 20, "process"), run(30, 54, "limit"), run(54, 60, "cancelled"),
        run(61, 70, "completed"), run(80, None, "open", seen_until_s=83 * HOUR),
    )  # fmt: skip
    assert record.exposure_s == pytest.approx((10 + 8 + 24 + 6 + 9 + 3) * HOUR)
    assert record.count == 2
    assert record.mtbi_s == pytest.approx(30 * HOUR)
    assert (record.first_s, record.last_s) == (0.0, 83 * HOUR)
    assert record.is_exposure_known
    assert [stop.kind for stop in record.stops] == ["node", "process", "limit", "cancelled", "completed", "open"]
    assert [stop.is_counted for stop in record.stops] == [True, True, False, False, False, False]
    assert record.gaps_s / HOUR == pytest.approx([10, 8, 24, 6, 9, 3])
    assert record.is_open.tolist() == [False, False, True, True, True, True]


def test_without_an_interruption_there_is_only_a_lower_bound() -> None:
    record = of_runs(run(0, 1000, "completed"))
    assert math.isnan(record.mtbi_s)
    assert record.low_s == pytest.approx(333.808 * HOUR, rel=1e-5)
    assert record.high_s == math.inf
    assert any("at least" in str(note) for note in record.notes)


def test_node_hours_are_pooled() -> None:
    record = of_runs(run(0, 30, "node", nodes=4), run(30, 40, "node", nodes=8), run(40, 45, "node", nodes=None))
    assert record.nodes == pytest.approx((30 * 4 + 10 * 8) / 40)
    assert record.exposure_s == 45 * HOUR


def test_the_job_with_the_most_node_hours_is_taken() -> None:
    runs = (run(0, 50, job="small", nodes=1), run(0, 20, job="large", nodes=64), run(20, 30, job="large", nodes=64))
    assert of_runs(*runs).jobs == ("large", "small")
    assert of_runs(*runs).exposure_s == 30 * HOUR
    assert of_runs(*runs, choices=Choices(job="small")).exposure_s == 50 * HOUR
    everything = of_runs(*runs, choices=Choices(job=""))
    assert (everything.job, everything.exposure_s, everything.count) == ("", 80 * HOUR, 3)
    gone = of_runs(*runs, choices=Choices(job="gone"))
    assert gone.job == "large"
    assert any("gone" in str(note) for note in gone.notes)


def test_a_killed_hang_can_be_counted() -> None:
    runs = (run(0, 10, "cancelled"), run(10, 30, "cancelled"), run(30, 40, "completed"))
    plain = of_runs(*runs)
    assert plain.count == 0
    one = of_runs(*runs, choices=Choices(kinds=((plain.stops[0].key, "process"),)))
    assert (one.count, one.stops[0].kind, one.stops[0].is_reclassified, one.stops[1].is_counted) == (1, "process", True, False)
    every = of_runs(*runs, choices=Choices(counted=COUNTED | {"cancelled"}))
    assert every.count == 2


def test_keys_stay_and_tell_runs_apart() -> None:
    runs = [run(0, 10), run(0, 11), run(12, 20)]
    first, again = of_runs(*runs), of_runs(*reversed(runs))
    keys = [stop.key for stop in first.stops]
    assert len(set(keys)) == 3
    assert keys == [stop.key for stop in again.stops]


def test_stops_within_the_merge_window_are_one() -> None:
    """A job that fails again at once did not run long enough to be interrupted twice."""
    runs = (run(0, 10), run(10.002, 10.01), run(10.012, 20))
    record = of_runs(*runs)
    assert record.count == 2
    assert record.stops[0].merged == 2
    assert len(record.gaps_s) == 2
    assert of_runs(*runs, choices=Choices(merge_s=1.0)).count == 3
    away = of_runs(*runs, choices=Choices(kinds=((record.stops[0].key, "cancelled"),)))
    assert away.count == 1, "reclassifying a stop takes its merged lines along"


def test_what_is_said_of_one_stop_does_not_take_its_neighbour_along() -> None:
    """Two node failures 72 s apart, the second one no interruption: the first stays one, however far is merged."""
    runs = (run(0, 40, "node"), run(40.005, 40.02, "node"), run(40.1, 90, "completed"))
    first, second, _ = (stop.key for stop in of_runs(*runs).stops)
    for merge_s in (60.0, 120.0):
        away = of_runs(*runs, choices=Choices(merge_s=merge_s, kinds=((second, "cancelled"),)))
        assert away.count == 1
        assert [(stop.kind, stop.is_counted, stop.merged) for stop in away.stops[:2]] == [
            ("node", True, 1), ("cancelled", False, 1),
        ]  # fmt: skip
    said: tuple[tuple[str, Kind], ...] = ((second, "cluster"), (first, "process"))
    both = of_runs(*runs, choices=Choices(merge_s=120.0, kinds=said))
    assert (both.count, both.stops[0].kind, both.stops[0].is_reclassified) == (1, "process", True)
    graver = of_runs(*runs, choices=Choices(merge_s=120.0, kinds=said[:1]))
    assert (graver.count, graver.stops[0].kind, graver.stops[0].is_reclassified) == (1, "cluster", True)
    three = (*runs[:2], run(40.021, 40.035, "node"), run(40.1, 90, "completed"))
    apart = of_runs(*three, choices=Choices(merge_s=80.0, kinds=((second, "cancelled"),)))
    assert apart.count == 2, "what does not count joins nothing either"


def test_a_period_cuts_runs_at_both_ends() -> None:
    runs = (run(0, 10, "node"), run(10, 30, "node"), run(30, 50, "node"))
    record = of_runs(*runs, choices=Choices(period=(5 * HOUR, 40 * HOUR)))
    assert record.exposure_s == 35 * HOUR
    assert record.count == 2
    assert record.gaps_s / HOUR == pytest.approx([20, 10]), "the gap that began before the period has no known length"
    assert record.is_open.tolist() == [False, True]


def test_a_clock_that_was_set_in_between_changes_no_running_time() -> None:
    """The scheduler's moments stand; a log that leapt tells how long the run was where the scheduler does not."""
    runs = run(0, 9, "node", back_s=HOUR), run(9.5, 20, "node", back_s=-HOUR)
    record = of_runs(*runs)
    assert record.exposure_s == (10 + 9.5) * HOUR
    assert [stop.at_s for stop in record.stops] == [9 * HOUR, 20 * HOUR]
    assert record.gaps_s / HOUR == pytest.approx([10, 9.5])
    plain = file(runs=tuple(replace(one, back_s=0.0, eligible_s=0.0) for one in runs))
    log = file("megatron-log", "t.log", runs=tuple(replace(one, kind="unknown", is_from_log=True, nodes=None) for one in runs))
    assert record_of(plain, log).exposure_s == (10 + 9.5) * HOUR


def test_a_run_that_ended_at_once_has_a_gap_above_zero() -> None:
    record = of_runs(run(0, 0, "process"), run(1, 9, "process"))
    assert record.gaps_s.min() > 0.0
    assert record.count == 2


# ---------------------------------------------------------------- one run in several files


def test_scheduler_and_log_of_one_job_are_counted_once() -> None:
    scheduler = file(runs=(run(0, 10, "node", eligible_s=0.0), run(10.2, 20, "process", eligible_s=10.1 * HOUR)))
    log = file(
        "megatron", "train.log",
        runs=(
            run(0.1, 9.8, "unknown", "train.log", nodes=None, first_step_s=0.2 * HOUR, is_from_log=True),
            run(10.25, 20, "unknown", "train.log", nodes=None, first_step_s=10.3 * HOUR, is_from_log=True),
        ),
    )  # fmt: skip
    for files in ((scheduler, log), (log, scheduler)):
        record = record_of(*files)
        assert record.jobs == ("train",)
        assert record.count == 2
        assert record.exposure_s == pytest.approx(19.8 * HOUR)
        assert [stop.kind for stop in record.stops] == ["node", "process"]
        joined = timeline(files).jobs["train"]
        assert [one.run.first_step_s for one in joined] == [0.2 * HOUR, 10.3 * HOUR]
        assert joined[0].last_line_s == 9.8 * HOUR


def test_cycles_inside_one_run_of_the_scheduler_stand() -> None:
    """In-job restarts: the scheduler sees one run where nvidia-resiliency-ext writes three."""
    scheduler = file(runs=(run(0, 100, "limit", eligible_s=0.0, node_names=("a", "b")),))
    cycles = file(
        "nvrx", "cycles",
        runs=(
            run(0.1, 33, "unknown", "482913", file="cycles"), run(33.1, 80, "unknown", "482913", file="cycles"),
            run(80.1, None, "open", "482913", file="cycles", seen_until_s=99 * HOUR),
        ),
    )  # fmt: skip
    record = record_of(cycles, scheduler)
    assert record.jobs == ("train",)
    assert record.count == 2
    assert [stop.kind for stop in record.stops] == ["unknown", "unknown", "limit"]
    assert record.exposure_s == pytest.approx((33 + 46.9 + 19.9) * HOUR)


def test_two_exports_of_the_same_jobs_are_counted_once() -> None:
    old = file(
        name="a.txt", runs=(run(0, 10, "node", file="a.txt"), run(11, None, "open", file="a.txt", seen_until_s=12 * HOUR))
    )
    new = file(name="b.txt", runs=(run(0, 10, "node", file="b.txt"), run(11, 30, "process", file="b.txt")))
    for files in ((old, new), (new, old)):
        record = record_of(*files)
        assert (record.count, record.exposure_s) == (2, 29 * HOUR)


def test_jobs_side_by_side_in_one_file_are_not_the_same_run() -> None:
    record = of_runs(run(0, 10, job="a"), run(0, 10, job="b"), choices=Choices(job=""))
    assert (record.count, record.exposure_s) == (2, 20 * HOUR)


def test_a_short_job_beside_a_long_log_is_another_job() -> None:
    scheduler = file(runs=(run(5, 5.3, "completed", "eval", nodes=1),))
    log = file("megatron", "train.log", runs=(run(0, 100, "unknown", "train.log", file="train.log"),))
    record = record_of(scheduler, log)
    assert set(record.jobs) == {"train.log", "eval"}
    assert record.exposure_s == 100 * HOUR


def test_one_log_for_each_try_is_the_log_of_that_try() -> None:
    """slurm-7_0.out ... slurm-7_29.out beside sacct: each is a thirtieth of the job, and most of one of its runs."""
    tries = [run(10.2 * at, 10.2 * at + 10, "node", eligible_s=0.0) for at in range(30)]
    logs = [
        file(
            "megatron-log", f"slurm-7_{at}.out",
            runs=(
                run(10.2 * at + 0.02, 10.2 * at + 9.8, "unknown", f"slurm-7_{at}.out", file=f"slurm-7_{at}.out", nodes=None,
                    first_step_s=(10.2 * at + 0.2) * HOUR, is_from_log=True),
            ),
        )
        for at in range(30)
    ]  # fmt: skip
    for files in ((file(runs=tuple(tries)), *logs), (*logs, file(runs=tuple(tries)))):
        record = record_of(*files, choices=Choices(job=""))
        assert record.jobs == ("train",)
        assert (record.count, record.exposure_s) == (30, pytest.approx(300 * HOUR))
        assert all(one.run.first_step_s is not None for one in timeline(files).jobs["train"])
    whole = file("megatron-log", "train.log", runs=tuple(replace(one, job="train.log") for log in logs for one in log.runs))
    other = file(name="sacct.txt", runs=(run(5, 8, "completed", "eval", nodes=1),))
    assert set(record_of(other, whole).jobs) == {"eval", "train.log"}, "a short job beside a try is none"
    zoned = file("slurm-json", "s.json", runs=tuple(replace(
        one, start_s=one.start_s + 7 * HOUR, end_s=(one.end_s or 0.0) + 7 * HOUR, is_zoned=True) for one in tries)
    )  # fmt: skip
    record = record_of(zoned, *logs, choices=Choices(job=""))
    assert (record.jobs, record.count, record.exposure_s) == (("train",), 30, pytest.approx(300 * HOUR))
    assert all("by +7 h" in str(note) for note in record.notes if "zone" in str(note))


def test_the_same_accounting_as_text_and_json_is_counted_once() -> None:
    """The text has local times without a zone, the JSON seconds since 1970: seven hours apart, two jobs side by side."""
    runs = [run(start, start + 3, "node", job=job) for start in (0, 4, 9, 15) for job in ("a", "b")]
    local = file("slurm-text", "sacct.txt", runs=tuple(runs))
    utc = tuple(
        replace(one, start_s=one.start_s + 7 * HOUR, end_s=(one.end_s or 0.0) + 7 * HOUR, is_zoned=True, place=Place("j"))
        for one in runs
    )
    record = record_of(local, file("slurm-json", "sacct.json", runs=utc), choices=Choices(job=""))
    assert set(record.jobs) == {"a", "b"}
    assert (record.count, record.exposure_s) == (8, 24 * HOUR)
    assert any("by +7 h" in str(note) for note in record.notes)


def test_an_open_run_of_a_crashed_reader_has_an_end_or_is_left_out() -> None:
    record = of_runs(run(0, 10), run(12, None, "open"))
    assert record.exposure_s == 10 * HOUR
    assert any("without an end" in str(note) for note in record.notes)
    longer = of_runs(run(0, 10), run(8, None, "open"))
    assert longer.exposure_s == 12 * HOUR, "until the last moment that the file knows of"


def test_a_choice_does_not_put_the_same_files_together_again() -> None:
    files = [file(runs=(run(0, 10),)), file(runs=(run(20, 30),), name="b.txt")]
    line = timeline(files)
    assert timeline(tuple(files)) is line
    assert timeline([replace(files[0]), files[1]]) == line
    assert timeline(files[::-1]) is not line
    assert timeline(files[:1]).jobs["train"] == line.jobs["train"][:1]


# ---------------------------------------------------------------- causes


def test_an_event_before_the_end_tells_the_cause_and_adds_no_stop() -> None:
    runs = file(runs=(run(0, 10, "process", node_names=("a", "b")), run(11, 20, "process", node_names=("a", "b"))))
    events = file("dmesg", "dmesg", events=(event(9.9, node_names=("b",)), event(5), event(19.95, node_names=("z",))))
    record = record_of(runs, events)
    assert record.count == 2
    assert [stop.kind for stop in record.stops] == ["node", "process"]
    assert "XID 79" in record.stops[0].said


def test_a_process_event_does_not_hide_a_lost_node_and_a_limit_stays_a_limit() -> None:
    runs = file(runs=(run(0, 10, "node"), run(11, 20, "limit"), run(21, 30, "unknown")))
    events = file("dmesg", "dmesg", events=(event(9.99, "process"), event(19.99, "node"), event(29.99, "process")))
    assert [stop.kind for stop in record_of(runs, events).stops] == ["node", "limit", "process"]


def test_a_cancelled_run_after_an_event_is_a_question_for_the_person() -> None:
    runs = file(runs=(run(0, 10, "cancelled"), run(11, 20, "process")))
    record = record_of(runs, file("dmesg", "dmesg", events=(event(9.95),)))
    assert record.count == 1
    assert any("Hangs" in str(note) for note in record.notes)


def test_causes_give_the_rate_of_a_node_and_of_all() -> None:
    runs = [run(10 * at, 10 * at + 10, "node" if at % 2 else "process") for at in range(10)]
    record = of_runs(*runs)
    assert record.node_rate_per_s == pytest.approx(5 / (100 * HOUR * 4))
    assert record.common_rate_per_s == pytest.approx(5 / (100 * HOUR))
    few = of_runs(*(replace(one, kind="unknown") for one in runs))
    assert math.isnan(few.node_rate_per_s)


# ---------------------------------------------------------------- shape, trend, a published record


def many(gaps_h: Iterable[float]) -> list[Run]:
    at, runs = 0.0, []
    for gap in gaps_h:
        runs.append(run(at, at + gap, "node"))
        at += gap + 0.5
    return runs


def test_the_shape_cannot_be_told_below_twenty_gaps() -> None:
    random = np.random.default_rng(1)
    few, more = of_runs(*many(random.exponential(20, 19))), of_runs(*many(random.exponential(20, 20)))
    assert few.shape is not None
    assert not few.shape.can_tell
    assert any("too few" in str(note) for note in few.notes)
    assert more.shape is not None
    assert more.shape.can_tell
    assert not any("too few" in str(note) for note in more.notes)


def test_a_trend_is_said_before_the_shape() -> None:
    record = of_runs(*many([100.0] * 30 + [10.0] * 60))
    assert record.trend is not None
    assert record.trend.direction == "more often"
    assert record.trend.laplace_u > 0
    assert record.trend.crow_beta > 1
    assert any("more often" in str(note) for note in record.notes)
    rarer = of_runs(*many([10.0] * 60 + [100.0] * 30))
    assert rarer.trend is not None
    assert rarer.trend.direction == "rarer"
    assert any("mixes" in str(note) for note in rarer.notes)
    assert rarer.over_time_mtbi_s[0] / HOUR == pytest.approx(10.0)
    assert rarer.over_time_mtbi_s[-1] / HOUR == pytest.approx(100.0)
    assert rarer.over_time_s[-1] == rarer.last_s
    assert len(rarer.over_time_s) == len(rarer.over_time_low_s) == len(rarer.over_time_high_s)


def test_a_published_record_is_combined() -> None:
    """Three interruptions in 300 h of 32 nodes with a record of 200 h: the numbers of the gamma update."""
    runs = [replace(one, nodes=32) for one in many([100.0] * 3)]
    record = of_runs(*runs, choices=Choices(prior="llama3-unexpected"))
    assert record.combined is not None
    m0 = 54 * 24 * 2048 / 419
    assert record.combined.mtbi_s / HOUR == pytest.approx((2 * m0 + 300 * 32) / 5 / 32)
    assert record.combined.low_s < record.combined.mtbi_s < record.combined.high_s
    unknown = of_runs(*runs, choices=Choices(prior="no such record"))
    assert unknown.combined is None


# ---------------------------------------------------------------- events and counts alone


def test_events_alone_count_from_the_first_to_the_last() -> None:
    record = record_of(file("table", "t.csv", events=tuple(event(at) for at in (5, 15, 35, 85))))
    assert (record.count, record.exposure_s) == (3, 80 * HOUR)
    assert not record.is_exposure_known
    assert record.gaps_s / HOUR == pytest.approx([10, 20, 50])
    assert len(record.stops) == 4
    assert math.isnan(record.nodes)
    part = record_of(
        file("table", "t.csv", events=tuple(event(at) for at in (5, 15, 35, 85))),
        choices=Choices(period=(10 * HOUR, 60 * HOUR)),
    )
    assert (part.count, part.exposure_s) == (2, 50 * HOUR)
    assert part.gaps_s / HOUR == pytest.approx([20, 25])
    assert part.is_open.tolist() == [False, True]


def test_events_of_kubernetes_alone_give_no_m() -> None:
    files = (file("kubernetes", "events.json", events=tuple(event(at, is_partial=True) for at in (1, 2, 3))),)
    assert failure_record(timeline(files), files, AS_READ, nodes=4) is None


def test_a_count_of_restarts_is_age_over_count() -> None:
    count = Restarts("train", 4, 0.0, 10 * DAY, Place("jobset.json"), nodes=32)
    record = record_of(file("kubernetes", "jobset.json", restarts=(count,)))
    assert record.mtbi_s == pytest.approx(2.5 * DAY)
    assert not record.is_exposure_known
    assert not record.stops
    assert any("without their times" in str(note) for note in record.notes)
    beside = record_of(file(runs=(run(0, 10, "node"),)), file("kubernetes", "jobset.json", restarts=(count,)))
    assert beside.exposure_s == 10 * HOUR


def test_nothing_gives_nothing() -> None:
    assert failure_record(timeline(()), (), AS_READ, nodes=4) is None
    alone = (file("table", "t.csv", events=(event(3),)),)
    assert failure_record(timeline(alone), alone, AS_READ, nodes=4) is None
    endless = Restarts("train", 4, 0.0, None, Place("jobset.json"))
    files = (file("kubernetes", "jobset.json", restarts=(endless,)),)
    assert failure_record(timeline(files), files, AS_READ, nodes=4) is None


# ---------------------------------------------------------------- the table of Los Alamos


def lanl() -> FileEvidence:
    epoch, name = datetime(1970, 1, 1), "LA-UR-05-7318.csv"
    events = []
    with lzma.open(SAMPLES / "LA-UR-05-7318-failure-data-1996-2005.csv.xz", "rt", encoding="latin-1", newline="") as lines:
        for number, row in enumerate(csv.DictReader(lines), start=2):
            at = (datetime.strptime(row["Prob Started"], "%m/%d/%Y %H:%M") - epoch).total_seconds()
            nodes = int(row["nodes"]) if row["nodes"].isdecimal() else None
            events.append(Event(at, "node", "Hardware", Place(name, f"line {number}"), nodes=nodes, system=row["System"]))
    return file("table", name, events=tuple(events))


def test_the_systems_of_los_alamos_through_the_record() -> None:
    table = lanl()
    began = time.process_time()
    line = timeline([table])
    for printed in summaries():
        record = failure_record(line, [table], Choices(job=printed["system"]), nodes=4)
        assert record is not None
        assert record.shape is not None
        assert record.trend is not None
        assert sum(stop.is_counted for stop in record.stops) == int(printed["distinct_start_minutes"])
        assert sum(stop.merged for stop in record.stops) == int(printed["records"])
        assert record.exposure_s / HOUR == pytest.approx(float(printed["span_h"]), abs=5.1e-3)
        assert record.mtbi_s / HOUR == pytest.approx(float(printed["mean_gap_h"]), abs=5.1e-5)
        assert record.nodes == float(printed["nodes"] or "nan") or (not printed["nodes"] and math.isnan(record.nodes))
        printed_shape = [float(printed[name]) for name in ("weibull_shape", "shape_lo90", "shape_hi90")]
        assert [record.shape.shape, record.shape.low, record.shape.high] == pytest.approx(printed_shape, abs=5.1e-5)
        assert record.shape.cv == pytest.approx(float(printed["cv"]), abs=5.1e-4)
        assert record.trend.laplace_u == pytest.approx(float(printed["laplace_u"]), abs=5.1e-3)
        assert record.trend.crow_beta == pytest.approx(float(printed["crow_beta"]), abs=5.1e-4)
    assert time.process_time() - began < 3.0
    assert len(line.jobs) == 0
