"""Megatron-LM's log and its forks: C, t, T, steps, restarts, background loss, and what can be wrong with a log."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from pathlib import Path
from statistics import median

import pytest

from ckptplanner.data.evidence import FileEvidence
from ckptplanner.data.readers import megatron_log, training_runs
from ckptplanner.data.readers.errors import ReaderError
from ckptplanner.data.readers.source import open_file
from ckptplanner.engine.evidence import Choices
from ckptplanner.engine.readings import read_evidence
from tests.bench.big_log import write_log
from tests.data.logs import READERS, SAMPLES, evidence, one, quantities, stamp_s, values, words, written

LOGS = SAMPLES / "logs"
GOLDEN = LOGS / "megatron-lm.log"


def iteration(moment: str, number: int, ms: float = 10_000.0) -> str:
    return (
        f" [2026-05-01 {moment}] iteration {number:8d}/  500000 | consumed samples: {number * 3072:12d} | "
        f"elapsed time per iteration (ms): {ms:.1f} | learning rate: 1.2E-04 | lm loss: 1.9E+00 |"
    )


def steps(first: int, last: int, start: str = "00:00:00", step_s: int = 10) -> list[str]:
    """Iterations one by one; the first ends `step_s` after the start."""
    hour, minute, second = map(int, start.split(":"))
    at = hour * 3600 + minute * 60 + second
    lines = []
    for number in range(first, last + 1):
        at += step_s
        lines.append(iteration(f"{at // 3600:02}:{at // 60 % 60:02}:{at % 60:02}", number, step_s * 1e3))
    return lines


def saving(moment: str, number: int, folder: str = "/fsx/ckpt") -> str:
    return f"[2026-05-01 {moment}] saving checkpoint at iteration {number:7d} to {folder} in torch_dist format"


def saved(moment: str, number: int, what: str = "") -> str:
    return (
        f"  [2026-05-01 {moment}] successfully saved {what}checkpoint from iteration {number:7d} to /fsx/ckpt [ t 1/4, p 1/8 ]"
    )


def scheduled(moment: str, number: int) -> str:
    return f"  [2026-05-01 {moment}] scheduled an async checkpoint save at iteration {number:7d} to /fsx/ckpt"


def log(folder: Path, *lines: str | list[str]) -> FileEvidence:
    flat = [line for part in lines for line in ([part] if isinstance(part, str) else part)]
    return written(folder, "\n".join(flat) + "\n")


# ---------------------------------------------------------------- the sample, with the values of its README


def test_the_sample() -> None:
    found = evidence(GOLDEN)
    assert values(found, "stop") == [4.97181, 5.06726, 5.26162]
    assert [round(median(one(found, name).values), 3) for name in ("stop", "restorable")] == [5.067, 298.73]
    assert [round(value, 2) for value in one(found, "restorable").values] == [285.06, 301.11, 298.73]
    assert one(found, "interval").values == pytest.approx((2611.27, 2608.94), abs=0.01), "about 2,610 s"
    assert values(found, "write") == [
        round(t - c, 6) for t, c in zip(values(found, "restorable"), values(found, "stop"), strict=True)
    ]
    assert one(found, "stop").place.where == "line 12"
    assert found.date == "2026-11-02"


def test_step_times_leave_out_the_save_and_are_milliseconds() -> None:
    found = one(evidence(GOLDEN), "step")
    assert len(found.values) == len(found.at_s) == 40
    assert found.values[0] == pytest.approx(20.0166)
    assert max(found.values) < 20.2, "a line over a save is 26 s from stamp to stamp"


def test_a_save_before_the_last_one_was_written_is_a_warning() -> None:
    assert "The interval is too short for the write" in words(evidence(GOLDEN))


def test_one_run_that_is_still_going_on() -> None:
    (run,) = evidence(GOLDEN).runs
    assert (run.kind, run.end_s, run.is_zoned) == ("open", None, False)
    assert run.seen_until_s == pytest.approx(stamp_s("2026-11-02 02:23:53.008092"))
    assert run.first_step_s == pytest.approx(stamp_s("2026-11-02 00:13:23.280132") - 10 * 20.0166), "10 after the checkpoint"


def test_too_few_lines_beside_a_write_give_no_background_loss() -> None:
    assert not quantities(evidence(GOLDEN)) & {"background_loss", "slowdown"}


# ---------------------------------------------------------------- restarts and background loss


def test_a_restart_in_all_its_parts() -> None:
    found = evidence(LOGS / "megatron-restart-constructed.log")
    first, second = found.runs
    assert first.is_from_log
    assert second.is_from_log
    assert (first.kind, second.kind) == ("unknown", "open")
    assert (first.start_s, first.end_s) == (stamp_s("2026-03-01 00:00:00"), stamp_s("2026-03-01 00:08:46"))
    assert second.first_step_s == stamp_s("2026-03-01 00:18:46")
    assert values(found, "restart") == [600.0]
    assert values(found, "restore_read") == [90.0]
    assert values(found, "start") == [110.0], "200 s from the first line of the new run, 90 of them reading"
    assert values(found, "lost_steps") == [10.0], "50 was reached, 40 was loaded"
    assert values(found, "interval") == [208.0], "none across the restart"
    assert values(found, "stop") == [2.0, 2.0, 2.0], "also of the save that was never written"
    assert values(found, "restorable") == [68.0, 68.0]


def test_what_writes_cost_the_steps_beside_them() -> None:
    found = evidence(LOGS / "megatron-restart-constructed.log")
    assert values(found, "background_loss") == [6.0, 6.0], "six steps of 11 s instead of 10"
    assert values(found, "slowdown") == [0.1, 0.1]


def test_a_line_over_several_iterations_counts_for_all_of_them(tmp_path: Path) -> None:
    lines = [iteration(f"00:{minute:02}:00", 6 * minute) for minute in range(1, 11)]  # six of 10 s in each minute
    lines += [saving("00:10:00", 60), scheduled("00:10:00", 60)]
    lines += [iteration(f"00:{10 + line}:{6 * line:02}", 60 + 6 * line, 11_000.0) for line in range(1, 6)]  # six of 11 s
    found = log(tmp_path, lines, saved("00:15:30", 60), iteration("00:16:30", 96))
    assert values(found, "background_loss") == [30.0], "30 iterations of 1 s more"
    assert values(found, "slowdown") == [0.1]


def test_settings_are_facts() -> None:
    facts = {str(fact.title): fact.value for fact in evidence(LOGS / "megatron-restart-constructed.log").facts}
    assert facts == {"GPUs (world size)": 256, "Tensor parallel": 4, "Iterations from save to save": 20}


def test_going_backwards_alone_is_a_restart(tmp_path: Path) -> None:
    found = log(tmp_path, steps(1, 20), steps(11, 15, "00:30:00"))
    assert [run.kind for run in found.runs] == ["unknown", "open"]
    assert found.runs[0].said == "iteration 20, then 11"
    assert values(found, "lost_steps") == [10.0]
    assert values(found, "restart") == [1800.0 - 200.0], "until the first new step begins"


def test_a_long_gap_alone_is_a_restart_and_says_so(tmp_path: Path) -> None:
    found = log(tmp_path, steps(1, 20), steps(21, 25, "00:30:00"))
    assert len(found.runs) == 2
    assert "because of a gap" in words(found)
    assert values(found, "lost_steps") == [0.0]


@pytest.mark.parametrize(
    "between",
    [
        [" validation loss at iteration 20 | lm loss value: 1.9E+00 | lm loss PPL: 6.6E+00 |"],
        [saving("00:03:20", 20), saved("00:29:59", 20)],
    ],
)
def test_a_gap_that_a_validation_or_a_save_explains_is_none(tmp_path: Path, between: list[str]) -> None:
    found = log(tmp_path, steps(1, 20), between, steps(21, 25, "00:30:00"))
    assert len(found.runs) == 1
    assert not found.warnings


def test_missing_lines_are_no_gap(tmp_path: Path) -> None:
    assert len(log(tmp_path, steps(1, 5), steps(105, 110, "00:17:20")).runs) == 1


@pytest.mark.parametrize(
    ("words_of_end", "kind"),
    [
        ("after training is done", "completed"),
        ("exiting program after 690.0159624854724 minutes", "limit"),
        ("exiting program at iteration 20", "limit"),
        ("exiting program after receiving SIGTERM.", "cancelled"),
    ],
)
def test_ends_that_the_program_names(tmp_path: Path, words_of_end: str, kind: str) -> None:
    end = f"[default0]:[{words_of_end}] datetime: 2026-05-01 00:03:30 "
    start = "[before the start of training step] datetime: 2026-05-01 01:00:00 "
    found = log(tmp_path, steps(1, 20), end, start, steps(21, 25, "01:00:00"))
    assert [run.kind for run in found.runs] == [kind, "open"]
    assert (found.runs[0].said, found.runs[0].end_s) == (words_of_end, stamp_s("2026-05-01 00:03:30"))
    assert not quantities(found) & {"restart", "lost_steps"}, "a planned stop tells nothing of R"
    assert log(tmp_path, steps(1, 20), end).runs[-1].kind == kind, "at the end of the file too"


def test_summer_time_is_left_out_both_ways(tmp_path: Path) -> None:
    back = log(tmp_path, steps(1, 20, "02:50:00"), steps(21, 40, "01:53:20"))
    assert "The clock goes back" in words(back)
    assert len(back.runs) == 1
    ahead = log(tmp_path, steps(1, 20, "02:50:00"), steps(21, 40, "03:53:20"))
    assert "leaps ahead by an hour" in words(ahead)
    assert len(ahead.runs) == 1


def test_a_run_counts_as_long_as_it_was_whatever_its_clock_did(tmp_path: Path) -> None:
    """Two hours of steps, and the clock is set by an hour, or by seven minutes, in the middle; or soon after the start."""
    first = steps(1, 60, "04:00:00", 60)
    for second in (steps(61, 120, "04:00:00", 60), steps(61, 120, "06:00:00", 60), steps(61, 120, "04:53:00", 60)):
        record = read_evidence((log(tmp_path, first, second),), Choices(), nodes=4).failures
        assert record is not None
        assert record.exposure_s == 7200.0
    early = log(tmp_path, steps(1, 20, "02:50:00"), steps(21, 40, "01:53:20"))
    record = read_evidence((early,), Choices(), nodes=4).failures
    assert record is not None
    assert record.exposure_s == 400.0, "it ended before it began, as the log has it"


def test_no_value_lies_across_a_changed_clock(tmp_path: Path) -> None:
    lines = [saving("02:53:20", 20), scheduled("02:53:22", 20), steps(21, 40, "01:53:20"), saved("01:55:00", 20)]
    found = log(
        tmp_path, steps(1, 20, "02:50:00"), *lines, saving("01:56:40", 40), saved("01:56:50", 40), steps(41, 42, "01:56:50")
    )
    assert values(found, "restorable") == [10.0]
    assert "interval" not in quantities(found)


# ---------------------------------------------------------------- saves


def test_a_synchronous_save_stops_for_the_whole_write(tmp_path: Path) -> None:
    lines = [saving("00:03:20", 20), saved("00:04:40", 20), *steps(21, 25, "00:04:40")]
    found = log(tmp_path, steps(1, 20), lines)
    assert values(found, "stop") == values(found, "restorable") == values(found, "write") == [80.0]


def test_local_saves_are_apart(tmp_path: Path) -> None:
    timer = ["(min, max) time across ranks (ms):", "    save-checkpoint-non-persistent .................: (2900.00, 3000.00)"]
    lines = [
        *steps(1, 10), saving("00:01:40", 10, "/nvme"), scheduled("00:01:43", 10), *timer,
        *steps(11, 20, "00:01:43"), saved("00:02:13", 10, "local "),
        saving("00:03:23", 20, "/nvme"), scheduled("00:03:26", 20), *timer,
        *steps(21, 30, "00:03:26"), saved("00:03:56", 20, "local "),
        saving("00:05:06", 30), saved("00:05:56", 30), *steps(31, 40, "00:05:56"),
    ]  # fmt: skip
    found = log(tmp_path, lines)
    assert values(found, "local_stop") == [3.0, 3.0]
    assert values(found, "local_write") == [30.0, 30.0]
    assert values(found, "local_interval") == [103.0]
    assert values(found, "stop") == values(found, "restorable") == [50.0]
    assert "interval" not in quantities(found)


def test_stamps_on_iterations_alone(tmp_path: Path) -> None:
    found = evidence(LOGS / "megatron-old-constructed.log")
    assert values(found, "stop") == values(found, "restorable") == [81.61182, 81.61182], "the slowest rank"
    assert values(found, "restore_read") == [17.35307]
    assert values(found, "interval") == [182.0]
    assert "approximate" in str(one(found, "interval").notes[0])
    assert "timer" in str(one(found, "stop").notes[0])
    assert found.runs[0].first_step_s == stamp_s("2023-05-01 10:00:00"), "ten iterations of 5 s after 100"


def test_an_asynchronous_save_without_stamps_is_approximate(tmp_path: Path) -> None:
    lines = [
        "saving checkpoint at iteration      20 to /fsx/ckpt in torch_dist format",
        "  scheduled an async checkpoint save at iteration      20 to /fsx/ckpt",
        "    save-checkpoint ................................: 2000.00",
        *steps(21, 30, "00:03:22"),
        "  successfully saved checkpoint from iteration      20 to /fsx/ckpt",
        *steps(31, 33, "00:05:02"),
    ]
    found = log(tmp_path, steps(1, 20), lines)
    assert values(found, "stop") == [2.0]
    assert values(found, "restorable") == [107.0], "saved between 102 and 112 s after the iteration before it"
    assert "approximate" in str(one(found, "restorable").notes[0])


def test_no_stamps_at_all_as_bloom_printed() -> None:
    found = evidence(LOGS / "megatron-bloom-constructed.log")
    assert values(found, "step") == [105.22] * 11 + [105.0] * 6, "(s) is seconds"
    assert values(found, "stop") == [57.51453, 57.51453]
    assert values(found, "interval") == [round(6 * 105.22 + 57.51453, 6)]
    assert values(found, "lost_steps") == [2.0], "12704 and 12705 were done twice"
    assert found.runs == ()
    assert "no time stamps" in words(found)
    assert one(found, "step").at_s == ()


# ---------------------------------------------------------------- what surrounds the lines


@pytest.mark.parametrize(
    "disturb",
    [
        lambda text: re.sub("^", "12: ", text, flags=re.M),
        lambda text: re.sub("^", "[default7]:", text, flags=re.M),
        lambda text: re.sub("^", "gpu-017: ", text, flags=re.M),
        lambda text: re.sub("^", "\x1b[32m[rank0]:\x1b[0m", text, flags=re.M),
        lambda text: text.replace("\n", "\r\n"),
        lambda text: text.replace("\n", "\nLoading: 10%|#   | 1/10\rLoading: 100%|####| 10/10\r"),
        lambda text: text.replace("\n", "\n[rank3]: UserWarning: a | b | c ...  4 of the datetime\n"),
        lambda text: "\ufeff" + text,
        lambda text: text.replace("500000 | consumed", "500000 | current time: 17.5 | consumed"),
    ],
)
def test_prefixes_colours_and_lines_between(tmp_path: Path, disturb: object) -> None:
    assert callable(disturb)
    plain, found = evidence(GOLDEN), written(tmp_path, disturb(GOLDEN.read_text()))
    for name in ("stop", "restorable", "interval", "step"):
        assert one(found, name).values == one(plain, name).values, name
    assert len(found.runs) == 1


@pytest.mark.parametrize("width", [80, 100, 110, 120])
def test_wrapped_lines(tmp_path: Path, width: int) -> None:
    lines = steps(1, 20)
    wrapped = [line[at : at + width] for line in lines for at in range(0, len(line), width)]
    assert values(log(tmp_path, wrapped, saving("00:03:20", 20)), "step") == [10.0] * 20


def test_the_same_lines_of_several_ranks_count_once(tmp_path: Path) -> None:
    lines = steps(1, 20)
    doubled = [f"[default{rank}]:{line}" for line in lines for rank in (3, 7)]
    late = [*doubled[:20], doubled[3], *doubled[20:]]
    found = log(tmp_path, late)
    assert len(one(found, "step").values) == 20
    assert len(found.runs) == 1
    assert "each was taken once" in words(found)


def test_times_that_no_log_can_hold_are_left_out(tmp_path: Path) -> None:
    found = log(
        tmp_path,
        steps(1, 5),
        iteration("00:00:60", 6, 999_999_999_999.0),
        " [2026-13-45 99:99:99] iteration        7/  500000 | consumed samples: 1 | elapsed time per iteration (ms): nan |",
        " [9999-12-31 23:59:59] iteration        8/  500000 | consumed samples: 1 | elapsed time per iteration (ms): 10000.0 |",
        saving("00:01:40", 8),
        saved("00:01:30", 8),
        " iteration 99999999999999999999/ 5 | consumed samples: 1 | elapsed time per iteration (ms): 1.0 |",
    )
    assert max(one(found, "step").values) == 10.0
    assert "restorable" not in quantities(found)
    assert "The clock goes back" in words(found)


def test_no_reader_takes_another_file(tmp_path: Path) -> None:
    for path in (path for path in SAMPLES.rglob("*") if path.is_file()):
        head = open_file(path).head
        is_ours = path.relative_to(SAMPLES).as_posix().startswith("logs/megatron-")
        assert megatron_log.knows(head) == is_ours, path
        assert sum(reader.knows(head) for reader in READERS) <= 1, path


def test_a_log_that_says_nothing_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    path.write_text("nothing\n" * 10)
    with pytest.raises(ReaderError, match=r"^a\.log: it has no line of an iteration or a save"):
        megatron_log.read(open_file(path))
    path.write_bytes(GOLDEN.read_bytes() + b"\0\n")
    with pytest.raises(ReaderError, match=r"line 59: there are zero bytes"):
        megatron_log.read(open_file(path))


@pytest.mark.parametrize(
    "piece", ["successfully loaded checkpoint from ", "iteration 1/ 2 |", "[2026-05-01 00:", "save-checkpoint ....("]
)
def test_a_line_made_to_be_slow_is_read_quickly(tmp_path: Path, piece: str) -> None:
    start = time.process_time()
    log(tmp_path, steps(1, 3), piece * (900_000 // len(piece)) + " elapsed time per iteration checkpoint")
    assert time.process_time() - start < 5.0


# ---------------------------------------------------------------- size


def test_values_are_thinned_beyond_the_cap(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(training_runs, "VALUES_CAP", 100)
    found = log(tmp_path, steps(1, 1000))
    step = one(found, "step")
    assert 50 <= len(step.values) <= 101
    assert step.at_s[-1] - step.at_s[0] > 0.9 * 9990.0, "they are spread over the whole log"
    assert f"{len(step.values)} of 1,000 values were kept" in map(str, step.notes)


def test_runs_are_capped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(training_runs, "RUNS_CAP", 3)
    found = log(tmp_path, *[steps(1, 3, f"{hour:02}:00:00") for hour in range(9)])
    assert len(found.runs) == 3
    assert "more than 3 runs" in words(found)


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="only Linux tells the peak memory of a program")
def test_twenty_megabytes_in_little_memory(tmp_path: Path) -> None:
    path = tmp_path / "big.log"
    runs = write_log(path, 20_000_000)
    command = (
        "import re, sys; from pathlib import Path; from ckptplanner.data.readers import megatron_log as reader\n"
        "from ckptplanner.data.readers.source import open_file\n"
        "found = reader.read(open_file(Path(sys.argv[1])))\n"
        # ru_maxrss would be that of the tests' own process, which a fork hands on
        "peak = re.search(r'VmHWM:\\s+(\\d+) kB', Path('/proc/self/status').read_text())\n"
        "print(int(peak[1]) * 1024, len(found.runs))"
    )
    root = Path(__file__).parents[2]
    done = subprocess.run([sys.executable, "-c", command, str(path)], capture_output=True, text=True, check=True, cwd=root)
    peak_bytes, count = map(int, done.stdout.split())
    assert peak_bytes < 200_000_000
    assert count == runs


def test_progress_rises_and_ends_the_reading_when_it_raises(tmp_path: Path) -> None:
    path = tmp_path / "big.log"
    write_log(path, 20_000_000)
    told: list[float] = []
    megatron_log.read(open_file(path, progress=told.append))
    assert told == sorted(told)
    assert told[-1] == 1.0
    assert len(told) >= 20

    class Stopped(Exception):  # noqa: N818
        pass

    calls: list[float] = []

    def stop(share: float) -> None:
        calls.append(time.process_time())
        if share > 0.5:
            raise Stopped

    with pytest.raises(Stopped):
        megatron_log.read(open_file(path, progress=stop))
    assert time.process_time() - calls[-2] < 0.2, "from the call before, after which the user may have clicked"
