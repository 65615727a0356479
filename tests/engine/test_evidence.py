"""From files to estimates: what stands for many values, contradictions, doubts, questions, and what is proposed."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ckptplanner.data.evidence import QUANTITIES, Event, Fact, FileEvidence, Measured, Place, Question, Restarts, Run
from ckptplanner.engine.edits import edit
from ckptplanner.engine.evidence import Choices, Estimate, Reading
from ckptplanner.engine.readings import read_evidence
from ckptplanner.engine.scenario import NamedScenario, Scenario
from ckptplanner.text import text
from ckptplanner.units import HOUR, SECONDS

NODES = 32
ALL = Choices()


def file(name: str = "a.log", date: str = "2026-11-29", reader: str = "megatron", **found: Any) -> FileEvidence:
    return FileEvidence(reader, text("A log"), name, date, **found)


def measured(quantity: str, *values: float, name: str = "a.log", **more: Any) -> Measured:
    return Measured(quantity, values, Place(name, "line 1"), **more)


def saves(quantity: str, *values: float, name: str = "a.log", date: str = "2026-11-29", **more: Any) -> FileEvidence:
    return file(name, date, measured=(measured(quantity, *values, name=name, **more),))


def read(*files: FileEvidence, choices: Choices = ALL) -> Reading:
    return read_evidence(files, choices, nodes=NODES)


def of(reading: Reading, name: str) -> Estimate:
    return next(estimate for estimate in reading.estimates if estimate.id == name)


def all_of(reading: Reading, name: str) -> list[Estimate]:
    return [estimate for estimate in reading.estimates if estimate.id == name]


# ---------------------------------------------------------------- what stands for many values


def test_times_of_the_megatron_sample() -> None:
    """The three saves of samples/logs/megatron-lm.log: C median 5.067, t median 298.73; t_w is what is left of t."""
    log = file(measured=(measured("stop", 4.972, 5.067, 5.262), measured("restorable", 285.06, 301.11, 298.73)))
    reading = read(log)
    stop = of(reading, "stop")
    assert (stop.value, stop.low, stop.high, stop.count) == (5.067, 4.972, 5.262, 3)
    assert (stop.spread, stop.basis, stop.path, stop.unit) == ("values", "measured", "storage.blocking_s", SECONDS)
    assert of(reading, "restorable").value == 298.73
    write = of(reading, "write")
    assert write.value == pytest.approx(298.73 - 5.262)
    assert (write.basis, write.path) == ("derived", "storage.write_s")


def test_the_write_of_a_synchronous_save_is_all_of_it() -> None:
    log = file(measured=(measured("stop", 100.0, 110.0), measured("restorable", 100.0, 110.0)))
    assert of(read(log), "write").value == 105.0


def test_a_measured_write_is_not_derived_again() -> None:
    log = file(measured=(measured("stop", 5.0), measured("restorable", 300.0), measured("write", 250.0)))
    assert [estimate.value for estimate in all_of(read(log), "write")] == [250.0]


def test_rates_are_averaged_and_the_newest_size_stands() -> None:
    assert of(read(saves("copy", 1e9, 2e9, 6e9)), "copy").value == 3e9
    reading = read(
        saves("bytes_per_param", 12.0, name="new", date="2026-11-20"),
        saves("bytes_per_param", 14.0, name="old", date="2026-11-02"),
    )  # fmt: skip
    assert [estimate.value for estimate in all_of(reading, "bytes_per_param")] == [12.0]
    assert of(reading, "bytes_per_param").places[0].file == "new"


def test_one_value_has_no_spread_and_twenty_have_quantiles() -> None:
    one = of(read(saves("step", 20.0)), "step")
    assert (one.low, one.high, one.spread) == (None, None, "")
    many = of(read(saves("step", *(float(value) for value in range(101)))), "step")
    assert (many.low, many.high) == (5.0, 95.0)
    few = of(read(saves("step", *(float(value) for value in range(19)))), "step")
    assert (few.low, few.high) == (0.0, 18.0)


# ---------------------------------------------------------------- contradictions, doubts, questions


def test_of_two_that_contradict_each_other_the_newer_is_proposed() -> None:
    old, new = saves("stop", 5, 5.1, 5.2, 5.3, name="old", date="2026-10-01"), saves("stop", 20, 21, name="new")
    for files in ((old, new), (new, old)):
        first, second = all_of(read(*files), "stop")
        assert (first.value, first.is_proposed) == (20.5, True)
        assert (second.value, second.is_proposed) == (5.15, False)
        assert "old" in str(first.notes[-1])
        assert "new" in str(second.notes[-1])


def test_on_the_same_day_the_larger_sample_is_proposed() -> None:
    first, _ = all_of(read(saves("stop", 20, 21, name="b"), saves("stop", 5, 5.1, 5.2, name="a")), "stop")
    assert first.value == 5.1


def test_files_that_agree_are_pooled() -> None:
    (stop,) = all_of(read(saves("stop", 5, 6, name="a"), saves("stop", 5.5, 7, name="b"), saves("stop", 7.2, name="c")), "stop")
    assert (stop.count, stop.value) == (5, 6.0)
    assert {place.file for place in stop.places} == {"a", "b", "c"}


def test_files_of_one_kind_with_one_value_each_are_repetitions() -> None:
    (stop,) = all_of(read(*(saves("stop", value, name=f"{value}") for value in (5.0, 8.0, 20.0))), "stop")
    assert (stop.value, stop.low, stop.high) == (8.0, 5.0, 20.0)


def test_the_same_save_in_a_log_and_its_json_is_one_value() -> None:
    log = saves("stop", 5.0, 6.0, name="a.log", at_s=(100.0, 200.0))
    copy = saves("stop", 5.01, 6.01, 5.5, name="a.jsonl", at_s=(100.4, 200.4, 300.0))
    assert of(read(log, copy), "stop").count == 3


def test_a_value_from_a_cache_is_shown_and_not_proposed() -> None:
    note = text("From the page cache.")
    reading = read(
        file(measured=(measured("drives_read", 11e9, is_doubtful=True, notes=(note,)), measured("drives_read", 2e9)))
    )
    first, second = all_of(reading, "drives_read")
    assert (first.value, first.is_proposed) == (2e9, True)
    assert (second.value, second.is_proposed, second.notes) == (11e9, False, (note,))


WHICH = Question("save_time", text("What is it?"), (("stop", text("C")), ("restorable", text("t")), ("", text("neither"))))


def test_what_must_be_asked_is_no_estimate() -> None:
    log = file(measured=(measured("stop", 5.0, question=WHICH),))
    assert read(log).questions == (WHICH,)
    assert not read(log, log).estimates
    for answer in ("stop", "restorable"):
        reading = read(log, choices=Choices(answers=(("save_time", answer),)))
        assert of(reading, answer).value == 5.0
        assert not reading.questions
    neither = read(log, choices=Choices(answers=(("save_time", ""),)))
    assert (neither.estimates, neither.questions) == ((), ())
    wrong = read(log, choices=Choices(answers=(("save_time", "params"),)))
    assert wrong.questions == (WHICH,)


def test_a_file_can_be_left_out() -> None:
    reading = read(saves("stop", 5, name="a"), saves("stop", 50, name="b"), choices=Choices(left_out=frozenset({"b"})))
    assert [estimate.value for estimate in reading.estimates] == [5.0]


def test_a_benchmark_of_other_nodes_is_not_proposed() -> None:
    alone, same = saves("writes_at", 2e9, nodes=1), saves("writes_at", 2e9, nodes=NODES)
    assert not of(read(alone), "writes_at").is_proposed
    assert not of(read(saves("writes_at", 2e9)), "writes_at").is_proposed
    assert of(read(same), "writes_at").is_proposed
    assert of(read(alone), "writes_at").path == "storage.custom.write_bytes_per_s"


# ---------------------------------------------------------------- interruptions


def run(start_h: float, end_h: float, kind: Any = "node", **more: Any) -> Run:
    return Run("train", start_h * HOUR, end_h * HOUR, kind, "", Place("s.txt", f"line {start_h:g}"), **{"nodes": 32, **more})


def slurm(*runs: Run, name: str = "s.txt") -> FileEvidence:
    return file(name, reader="sacct", runs=runs)


def test_m_brings_its_nodes_and_its_interval() -> None:
    m = of(read(slurm(*(run(100 * at, 100 * at + 100) for at in range(10)))), "mtbi")
    assert (m.value, m.count, m.basis, m.spread) == (100 * HOUR, 10, "counted", "interval")
    assert m.low is not None
    assert m.high is not None
    assert (m.low / HOUR, m.high / HOUR) == pytest.approx((58.9545, 184.318), rel=1e-5)
    assert m.with_paths == (("failures.mtbi_nodes", 32),)
    assert m.places[0].where == "line 900"


def test_m_of_a_mean_node_count_keeps_the_rate_of_a_node() -> None:
    m = of(read(slurm(run(0, 100, nodes=32), run(100, 150, nodes=33))), "mtbi")
    nodes = dict(m.with_paths)["failures.mtbi_nodes"]
    assert m.value * nodes == pytest.approx((100 * 32 + 50 * 33) * HOUR / 2)


def test_m_without_nodes_is_taken_as_this_jobs() -> None:
    m = of(read(slurm(run(0, 100, nodes=None))), "mtbi")
    assert m.with_paths == (("failures.mtbi_nodes", NODES),)
    assert any("how many nodes" in str(note) for note in m.notes)


def test_events_of_nodes_are_no_interruptions_of_the_job() -> None:
    def events(**more: Any) -> tuple[Event, ...]:
        return tuple(Event(at * HOUR, "node", "DOWN", Place("n.txt", f"line {at}"), **more) for at in range(1, 9))

    nodes = of(read(file("n.txt", reader="slurm-events", events=events(node_names=("a",)))), "mtbi")
    assert not nodes.is_proposed
    assert not of(read(file("n.txt", reader="xid", events=events())), "mtbi").is_proposed
    assert of(read(file("n.txt", reader="event-log", events=events())), "mtbi").is_proposed
    assert of(read(file("n.txt", reader="lanl-table", events=events(node_names=("a",), nodes=512))), "mtbi").is_proposed


def test_without_an_interruption_m_is_a_bound_and_not_proposed() -> None:
    m = of(read(slurm(run(0, 1000, "completed"))), "mtbi")
    assert m.value == pytest.approx(333.808 * HOUR, rel=1e-5)
    assert (m.high, m.is_proposed, m.count) == (None, False, 0)
    prior = of(read(slurm(run(0, 1000, "completed")), choices=Choices(prior="llama3-unexpected")), "mtbi")
    assert (prior.is_proposed, prior.basis) == (True, "derived")


def test_the_shape_is_proposed_from_fifty_gaps_on() -> None:
    lengths = [1.0, 4.0, 9.0, 30.0, 2.0, 15.0, 7.0, 60.0, 3.0, 20.0]

    def reading(count: int) -> Reading:
        at, runs = 0.0, []
        for number in range(count):
            runs.append(run(at, at + lengths[number % 10]))
            at += 100.0
        return read(slurm(*runs))

    assert not all_of(reading(19), "shape")
    assert not of(reading(30), "shape").is_proposed
    shape = of(reading(60), "shape")
    assert shape.is_proposed
    assert shape.path == "failures.weibull_shape"
    assert shape.count == 60


def test_a_shape_under_a_trend_is_not_proposed() -> None:
    runs = [run(200 * at, 200 * at + (100 if at < 40 else 10)) for at in range(80)]
    shape = of(read(slurm(*runs)), "shape")
    assert not shape.is_proposed
    assert any("mixes" in str(note) for note in shape.notes)


def test_shares_of_causes_sum_to_one() -> None:
    kinds = ["node", "process", "process", "cluster", "node", "process", "preempted", "unknown"]
    share = of(read(slurm(*(run(10 * at, 10 * at + 10, kind) for at, kind in enumerate(kinds)))), "shares")
    values = {"failures.process_share": share.value, **dict(share.with_paths)}
    assert sum(values.values()) == pytest.approx(1.0)
    assert values["failures.process_share"] == pytest.approx(3 / 7, abs=6e-4)
    assert values["failures.cluster_share"] == pytest.approx(2 / 7, abs=1.1e-3)
    assert share.count == 7
    assert not all_of(read(slurm(*(run(10 * at, 10 * at + 10) for at in range(4)))), "shares")


def test_a_count_of_restarts_stands_beside_runs_and_is_not_proposed() -> None:
    count = file(
        "jobset.json", reader="kubernetes", restarts=(Restarts("train", 5, 0.0, 100 * HOUR, Place("jobset.json"), 32),)
    )
    alone, (first, second) = of(read(count), "mtbi"), all_of(read(slurm(run(0, 50)), count), "mtbi")
    assert (alone.value, alone.is_proposed) == (20 * HOUR, True)
    assert (first.value, first.is_proposed) == (50 * HOUR, True)
    assert (second.value, second.is_proposed) == (20 * HOUR, False)


# ---------------------------------------------------------------- the parts of a restart


def test_the_parts_of_a_restart_of_the_slurm_sample() -> None:
    """samples/logs/sacct: NODE_FAIL after 38 s, eligible 121 s later, running again 137 s after the end."""
    runs = (
        Run("pretrain-120b", 0.0, 38.0, "node", "NODE_FAIL", Place("s.txt", "line 2"), 4, eligible_s=0.0),
        Run("pretrain-120b", 175.0, 220.0, "completed", "COMPLETED", Place("s.txt", "line 5"), 4, eligible_s=159.0),
    )
    reading = read(slurm(*runs))
    reschedule = of(reading, "reschedule")
    assert (reschedule.value, reschedule.basis, reschedule.path) == (137.0, "derived", "failures.reschedule_s")
    words = " ".join(str(note) for note in reschedule.notes)
    assert "2\u00a0min 1\u00a0s" in words.replace("min\u00a0", "min ")
    assert "noticed" in words
    assert not all_of(reading, "detect")


def test_a_planned_stop_is_queueing_and_no_restart() -> None:
    runs = (
        run(0, 24, "limit"),
        run(25, 40, "completed", eligible_s=24.5 * HOUR),
        run(41, 50, "node"),
        run(52, 60, "completed"),
    )
    reading = read(slurm(*runs))
    assert of(reading, "queue").value == pytest.approx(0.75 * HOUR)
    assert of(reading, "reschedule").value == 2 * HOUR


def test_start_is_without_the_read_where_a_file_says_how_long_that_took() -> None:
    runs = (run(0, 10, "node"), run(11, 20, "completed", first_step_s=11 * HOUR + 500.0))
    unknown = read(slurm(*runs))
    assert (of(unknown, "start").value, of(unknown, "start").is_proposed) == (500.0, False)
    assert any("Reading the checkpoint" in str(note) for note in of(unknown, "start").notes)
    known = read(slurm(*runs), saves("restore_read", 200.0))
    assert (of(known, "start").value, of(known, "start").is_proposed) == (300.0, True)
    assert of(known, "restart").value == HOUR + 500.0


def test_detection_is_what_was_before_the_schedulers_end() -> None:
    fault = file("dmesg", reader="dmesg", events=(Event(10 * HOUR - 240.0, "node", "XID 79", Place("dmesg", "line 9")),))
    detect = of(read(slurm(run(0, 10, "unknown"), run(11, 20, "completed")), fault), "detect")
    assert (detect.value, detect.path) == (240.0, "failures.detect_s")


def log(*runs: Run, name: str = "train.log") -> FileEvidence:
    """A training log: nobody says when its runs were started, and when their end was noticed."""
    own = tuple(replace(one, job=name, place=Place(name, "line 1"), nodes=None, is_from_log=True) for one in runs)
    return file(name, reader="megatron-log", runs=own)


def test_a_log_alone_tells_the_whole_restart_and_no_part_of_it() -> None:
    """Its lines before and after a restart have all of R between them; reschedule beside it would count R twice."""
    runs = (run(0, 10, "unknown"), run(10.35, 20, "unknown", first_step_s=10.35 * HOUR), run(21, 30, "completed"))
    fault = file("dmesg", reader="dmesg", events=(Event(10 * HOUR - 240.0, "node", "XID 79", Place("dmesg", "line 9")),))
    alone = read(log(*runs), fault)
    assert of(alone, "restart").value == pytest.approx(0.35 * HOUR)
    assert not {"detect", "reschedule", "queue"} & {estimate.id for estimate in alone.estimates}
    scheduler = slurm(run(-0.1, 10.1, "node", eligible_s=0.0), run(10.3, 30, "completed", eligible_s=10.2 * HOUR))
    for files in ((log(*runs), scheduler), (scheduler, log(*runs))):
        assert of(read(*files), "reschedule").value == pytest.approx(0.2 * HOUR), "not from restarts inside a run of it"
        assert of(read(*files), "reschedule").count == 1


def test_only_the_last_line_of_a_log_tells_when_the_failure_was_noticed() -> None:
    """A launcher's record, and a requeued run in a second export, end with the run: that is no detection in 0 s."""
    scheduler = slurm(run(0, 10, "node", eligible_s=0.0), run(11, 20, "completed", eligible_s=10.1 * HOUR))
    inside = (run(0, 4, "unknown"), run(4.1, 9.99, "unknown"), run(11, 20, "unknown"))
    for cycles in ((run(0, 10, "unknown"), run(11, 20, "unknown")), inside):
        launcher = file("cycles", reader="nvrx-cycle", runs=cycles)
        assert not all_of(read(scheduler, launcher), "detect")
    assert of(read(scheduler, log(*inside)), "detect").value == pytest.approx(0.01 * HOUR)
    whole = log(run(0.1, 9.9, "unknown"), run(11.1, 20, "unknown"))
    assert of(read(scheduler, whole), "detect").value == pytest.approx(0.1 * HOUR)


def test_a_period_restricts_the_parts_too() -> None:
    runs = (run(0, 10), run(11, 20), run(23, 30, "completed"))
    assert of(read(slurm(*runs)), "reschedule").value == 2 * HOUR
    assert of(read(slurm(*runs), choices=Choices(period=(10.5 * HOUR, 40 * HOUR))), "reschedule").value == 3 * HOUR


# ---------------------------------------------------------------- facts, order, paths


def test_facts_are_stated_and_one_value_is_proposed_for_a_field() -> None:
    def fact(value: Any, name: str) -> Fact:
        return Fact("storage.tier", text("File system"), value, Place(name, "FileSystems[0]"), shown=str(value))

    same = read(file("a", facts=(fact("p2-500-12000", "a"),)), file("b", facts=(fact("p2-500-12000", "b"),)))
    (one,) = same.estimates
    assert (one.basis, one.value, one.count, len(one.places)) == ("stated", "p2-500-12000", 2, 2)
    other = read(file("a", "2026-01-01", facts=(fact("p2-500-12000", "a"),)), file("b", facts=(fact("p2-250-7200", "b"),)))
    assert [(estimate.value, estimate.is_proposed) for estimate in other.estimates] == [
        ("p2-250-7200", True),
        ("p2-500-12000", False),
    ]


def test_what_is_measured_goes_before_what_is_stated() -> None:
    stated = Fact("workload.total_params", text("Parameters"), 7e9, Place("config.json"))
    first, second = read(file(facts=(stated,), measured=(measured("params", 8e9),))).estimates
    assert (first.value, first.is_proposed, second.value, second.is_proposed) == (8e9, True, 7e9, False)


def test_the_order_is_m_then_saves_then_sizes_then_restarts_then_rates_then_facts() -> None:
    values = tuple(measured(name, 100.0) for name in reversed(QUANTITIES) if name not in ("detect", "reschedule"))
    reading = read(slurm(run(0, 10), run(11, 20)), file(measured=values, facts=(Fact(None, text("Region"), "x", Place("f")),)))
    ids = [estimate.id for estimate in reading.estimates]
    wanted = ["mtbi", "stop", "write", "interval", "step", "checkpoint", "bytes_per_param", "reschedule", "writes_at", "Region"]
    assert [name for name in ids if name in wanted] == wanted


def test_every_proposed_value_can_be_taken_over() -> None:
    """The paths and their companions are what engine/edits.py takes, each as one edit after another."""
    kinds = ["node", "process", "cluster"] * 20
    runs = [
        run(100 * at, 100 * at + 1 + 90 * (at % 7) / 7, kind, first_step_s=100 * at * HOUR + 600)
        for at, kind in enumerate(kinds)
    ]
    values = tuple(measured(name, 0.5 if about.unit.symbol == "1" else 40.0) for name, about in QUANTITIES.items())
    reading = read(slurm(*runs), file(measured=values))
    proposed = [estimate for estimate in reading.estimates if estimate.is_proposed and estimate.path is not None]
    assert {"mtbi", "shape", "shares", "stop", "write", "detect", "reschedule", "start"} <= {one.id for one in proposed}
    assert len({estimate.path for estimate in proposed}) == len(proposed)
    named = NamedScenario(name="plan", scenario=Scenario())
    for estimate in proposed:
        for path, value in ((estimate.path, estimate.value), *estimate.with_paths):
            assert path is not None
            whole = int(value) if path in ("workload.nodes",) else value
            if path != "workload.bytes_per_param":
                named = edit(named, path, whole, "log")
    failures = named.scenario.failures
    assert failures.process_share + failures.node_share + failures.cluster_share == pytest.approx(1.0)


HOSTILE = st.floats(allow_nan=True, allow_infinity=True)
KINDS = st.sampled_from(["node", "process", "cluster", "preempted", "unknown", "cancelled", "limit", "completed", "open"])


@st.composite
def hostile_runs(draw: st.DrawFn) -> Run:
    moments = st.one_of(st.none(), st.floats(-1e10, 1e12), HOSTILE)
    return Run(
        draw(st.sampled_from(["", "a", "b"])), draw(st.one_of(st.floats(0, 1e6), HOSTILE)), draw(moments), draw(KINDS), "x",
        Place(draw(st.sampled_from(["f", "g"]))), draw(st.one_of(st.none(), st.integers(0, 10**9))), ("n",),
        draw(moments), draw(moments), draw(moments), draw(st.booleans()), draw(st.booleans()),
        draw(st.sampled_from(["", "7", "8"])), draw(moments), draw(st.one_of(st.just(0.0), st.floats(-1e5, 1e5), HOSTILE)),
    )  # fmt: skip


@settings(max_examples=100, deadline=None)
@given(
    st.lists(hostile_runs(), max_size=8), st.lists(hostile_runs(), max_size=5),
    st.lists(st.tuples(st.one_of(st.floats(0, 1e6), HOSTILE), KINDS), max_size=6),
    st.lists(st.tuples(st.sampled_from(sorted(QUANTITIES)), st.lists(HOSTILE, max_size=5)), max_size=6),
)  # fmt: skip
def test_whatever_readers_give_no_number_is_nan_or_infinite(
    runs: list[Run], others: list[Run], events: list[tuple[float, Any]], values: list[tuple[str, list[float]]]
) -> None:
    files = (
        file("f", reader="one", runs=tuple(runs), events=tuple(Event(at, kind, "", Place("f")) for at, kind in events)),
        file("g", reader="two", runs=tuple(others), measured=tuple(measured(name, *some) for name, some in values)),
        file("h", restarts=(Restarts("a", 3, 0.0, others[0].end_s if others else None, Place("h")),)),
    )
    for job in (None, ""):
        for estimate in read(*files, choices=Choices(job=job, prior="acme")).estimates:
            for number in (estimate.value, estimate.low, estimate.high):
                assert number is None or math.isfinite(number)
