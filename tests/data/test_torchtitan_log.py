"""TorchTitan's text and structured logs: what their times mean, ranks, colours, restarts."""

from __future__ import annotations

import json
from pathlib import Path
from statistics import median

import pytest

from ckptplanner.data.readers import torchtitan_log
from ckptplanner.data.readers.errors import ReaderError
from ckptplanner.data.readers.source import open_file
from tests.data.logs import SAMPLES, evidence, one, quantities, stamp_s, values, words, written

LOGS = SAMPLES / "logs"


def said(second: float, words_of_line: str, prefix: str = "[rank0]:[titan] ") -> str:
    whole = int(second)
    moment = f"2026-05-01 {whole // 3600:02}:{whole // 60 % 60:02}:{whole % 60:02},000"
    return f"{prefix}{moment} - root - INFO - {words_of_line}"


def step(second: float, number: int, prefix: str = "[rank0]:[titan] ") -> str:
    return said(second, f"\x1b[31mstep: {number:2}  \x1b[32mloss:  7.02000  \x1b[39m", prefix)


# ---------------------------------------------------------------- text


def test_the_sample() -> None:
    found = evidence(LOGS / "torchtitan.log")
    assert values(found, "stop") == [0.11, 0.11]
    assert not quantities(found) & {"restorable", "write"}, "the time of staging is C, not t"
    assert all(measured.question is None for measured in found.measured)
    assert values(found, "step") == [0.021, 0.021], "between the colours; without those that have a save between them"
    assert values(found, "interval") == [0.153]
    (run,) = found.runs
    assert (run.kind, run.is_zoned, found.date) == ("open", False, "2026-11-29")


def test_older_words_leave_open_whether_it_is_the_whole_write() -> None:
    found = evidence(LOGS / "torchtitan-v0.1-constructed.log")
    assert values(found, "stop") == [5.53, 5.53], "training stood still so long in any case"
    (asked,) = [measured for measured in found.measured if measured.question is not None]
    assert (asked.quantity, asked.values) == ("", (5.53, 5.53)), "nothing until it is answered"
    assert asked.question is not None
    assert [choice for choice, _ in asked.question.choices] == ["write", ""]
    assert asked.question.suggested == ""


def test_saving_without_more_words_is_suggested_as_the_whole_write(tmp_path: Path) -> None:
    lines = [
        step(10, 1),
        said(10, "Saving the checkpoint."),
        said(40, "Finished saving the checkpoint in 30.00 seconds."),
        step(50, 2),
    ]
    found = written(tmp_path, "\n".join(lines))
    (asked,) = [measured for measured in found.measured if measured.question is not None]
    assert asked.question is not None
    assert (asked.values, asked.question.suggested) == ((30.0,), "write")


def test_a_restart_in_all_its_parts() -> None:
    found = evidence(LOGS / "torchtitan-v0.1-constructed.log")
    first, second = found.runs
    assert (first.kind, second.kind, second.said) == ("unknown", "completed", "Training completed")
    assert first.start_s == stamp_s("2025-04-01 00:00:00")
    assert first.first_step_s == stamp_s("2025-04-01 00:00:30")
    assert values(found, "restore_read") == [61.68]
    assert values(found, "restart") == [380.0]
    assert values(found, "start") == [18.32]
    assert values(found, "lost_steps") == [50.0]
    assert values(found, "interval") == [105.53], "none across the restart"


def test_one_rank_counts_where_all_print() -> None:
    found = evidence(LOGS / "torchtitan-v0.1-constructed.log")
    assert values(found, "step") == [2.0] * 9


def test_the_save_at_the_last_step_is_left_out() -> None:
    found = evidence(LOGS / "torchtitan-v0.1-constructed.log")
    assert 40.0 not in one(found, "stop").values
    assert "save at the last step is left out" in words(found)


def test_going_backwards_or_a_long_gap_is_a_restart(tmp_path: Path) -> None:
    back = written(
        tmp_path, "\n".join([*(step(10 * n, n) for n in range(1, 9)), *(step(2000 + 10 * n, n) for n in range(5, 9))])
    )
    assert [run.said for run in back.runs] == ["step 8, then 5", "the log ends here"]
    assert values(back, "lost_steps") == [4.0]
    gap = written(
        tmp_path, "\n".join([*(step(10 * n, n) for n in range(1, 9)), *(step(2000 + 10 * n, n) for n in range(9, 12))])
    )
    assert len(gap.runs) == 2
    assert "because of a gap" in words(gap)


def test_a_clock_that_goes_back_gives_no_step_time(tmp_path: Path) -> None:
    found = written(tmp_path, "\n".join([step(3700, 1), step(3710, 2), step(120, 3), step(130, 4)]))
    assert values(found, "step") == [10.0, 10.0]
    assert "The clock goes back" in words(found)
    (run,) = found.runs
    assert run.seen_until_s is not None
    assert run.seen_until_s - run.start_s + run.back_s == 30.0


def test_a_text_that_says_nothing_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    path.write_text("step: loss: checkpoint\n")
    with pytest.raises(ReaderError, match=r"^a\.log: it has no line of a step or a save"):
        torchtitan_log.read(open_file(path))


# ---------------------------------------------------------------- structured lines


def record(name: str, second: float, step_number: int = 1, rank: int = 0, **more: object) -> str:
    fields = {"rank": rank, "step": step_number, "time_us": int((1_795_962_222 + second) * 1e6), "log_type_name": name, **more}
    return json.dumps(fields)


def test_the_structured_sample() -> None:
    found = evidence(LOGS / "torchtitan-structured.jsonl")
    assert [round(value, 3) for value in one(found, "stop").values] == [0.110, 0.111], "value is in milliseconds"
    assert median(one(found, "step").values) == pytest.approx(0.0209, abs=1e-4)
    assert values(found, "interval") == [round(1795962222.619842 - 1795962222.466882, 6)]
    (run,) = found.runs
    assert run.is_zoned
    assert run.start_s == pytest.approx(1795962222.424759)
    (asked,) = [measured for measured in found.measured if measured.question is not None]
    assert (asked.quantity, len(asked.values)) == ("", 2)


def test_the_slowest_rank_of_each_save_counts(tmp_path: Path) -> None:
    lines = [record("training_start", 0)]
    for number in (10, 20):
        lines += [record("fwd_bwd_start", number, number), record("checkpoint_save_start", number, number)]
        lines += [
            record("checkpoint_save_end", number + 5, number, rank, value=1000.0 * (rank + number)) for rank in (2, 0, 3, 1)
        ]
    assert values(written(tmp_path, "\n".join(lines), "a.jsonl"), "stop") == [13.0, 23.0]


def test_the_counter_of_the_write_settles_the_question(tmp_path: Path) -> None:
    event = "train.checkpoint_write.native_dcp.execute.async_total.latency_ms"
    lines = [
        record("training_start", 0),
        record("checkpoint_save_start", 10, 1),
        record("checkpoint_save_end", 12, 1, value=2000.0),
        record("metric_value", 72, 5, value=62_000.0, event_name=event),
    ]
    found = written(tmp_path, "\n".join(lines), "a.jsonl")
    assert (values(found, "stop"), values(found, "restorable"), values(found, "write")) == ([2.0], [62.0], [60.0])
    assert all(measured.question is None for measured in found.measured)


def test_a_new_start_is_a_new_run(tmp_path: Path) -> None:
    lines = [record("training_start", 0), *(record("fwd_bwd_start", 10.0 * n, n) for n in range(1, 9))]
    lines += [record("training_start", 500), *(record("fwd_bwd_start", 600 + 10.0 * n, n) for n in range(5, 9))]
    found = written(tmp_path, "\n".join(lines), "a.jsonl")
    assert len(found.runs) == 2
    assert values(found, "restart") == [650.0 - 80.0]


@pytest.mark.parametrize(
    "line",
    [
        '{"log_type_name": "checkpoint_save_end", "time_us": 1e400, "rank": 0, "step": 1, "value": 5}',
        '{"log_type_name": "checkpoint_save_end", "time_us": 1795962222424759, "rank": 0, "step": 1, "value": NaN}',
        '{"log_type_name": "checkpoint_save_end", "time_us": 1795962222424759, "rank": -1, "step": "x", "value": -5}',
        '{"log_type_name": "checkpoint_save_end", "time_us": 999999999999999999999, "rank": 0, "step": 1, "value": 5}',
        '{"log_type_name": ["checkpoint_save_end"], "time_us": 1795962222424759, "rank": 0}',
        '{"log_type_name": "checkpoint_save_end", "value": ' + "9" * 5000 + "}",
        '{"checkpoint_save_end": ' + "[" * 100_000,
        '["checkpoint_save_end"]',
    ],
)
def test_records_that_cannot_be_used_are_passed_over(tmp_path: Path, line: str) -> None:
    lines = [record("training_start", 0), line, record("fwd_bwd_start", 10, 1)]
    found = written(tmp_path, "\n".join(lines), "a.jsonl")
    assert found.measured == ()
    assert len(found.runs) == 1
