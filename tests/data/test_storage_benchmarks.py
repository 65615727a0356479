"""fio, IOR, elbencho, DLIO and CloudWatch: the values of the samples, and every trap of their formats."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ckptplanner.data.evidence import FileEvidence, Measured
from ckptplanner.data.readers import path_benchmarks, storage_benchmarks
from ckptplanner.data.readers.errors import ReaderError
from ckptplanner.data.readers.rates import moment_s, number, target_of
from ckptplanner.data.readers.source import open_file
from ckptplanner.engine.evidence import Choices
from ckptplanner.engine.readings import read_evidence
from tests.data.bench_samples import SAMPLES, MiB, check_numbers, read, survive, words, wrote

READERS = storage_benchmarks.READERS
STORAGE = SAMPLES / "storage"
AWS = SAMPLES / "aws"
GIB = 2.0**30


def sample(name: str) -> FileEvidence:
    evidence = read((AWS if name.startswith("cloudwatch") else STORAGE) / name, READERS)
    check_numbers(evidence)
    return evidence


def given(folder: Path, content: object) -> FileEvidence:
    text = content if isinstance(content, str) else json.dumps(content)
    evidence = read(wrote(folder, text), READERS)
    check_numbers(evidence)
    return evidence


def refused(folder: Path, content: object) -> str:
    with pytest.raises(ReaderError) as error:
        given(folder, content)
    assert "\n" not in str(error.value)
    assert str(error.value).startswith("file.txt")
    return str(error.value)


def one(evidence: FileEvidence, *quantities: str) -> Measured:
    found = [row for row in evidence.measured if row.quantity in quantities]
    assert len(found) == 1, [row.quantity for row in evidence.measured]
    return found[0]


def notes(row: Measured) -> str:
    return "\n".join(str(note) for note in row.notes)


def mean(row: Measured) -> float:
    return sum(row.values) / len(row.values)


# ---------------------------------------------------------------- who knows what

KNOWN = {
    "storage/fio-3.33.json": "fio", "storage/fio-3.33-stonewall.txt": "fio", "storage/fio-3.33-normal.txt": "fio",
    "storage/ior-4.1.json": "ior", "storage/ior-4.1.txt": "ior", "storage/elbencho-3.1.csv": "elbencho",
    "storage/dlio-summary-constructed.json": "dlio", "aws/cloudwatch-get-metric-data-constructed.json": "cloudwatch",
    "aws/cloudwatch-get-metric-statistics-constructed.json": "cloudwatch",
    "storage/nvbandwidth-constructed.json": "nvbandwidth", "storage/nccl-tests-constructed.json": "nccl_tests",
    "storage/nvidia-smi-topo-m-constructed.txt": "topo",
}  # fmt: skip


def test_each_sample_is_known_to_its_reader_alone() -> None:
    for path in sorted(SAMPLES.rglob("*")):
        if not path.is_file():
            continue
        head = open_file(path).head
        knowing = [reader.id for reader in (*READERS, *path_benchmarks.READERS) if reader.knows(head)]
        name = path.relative_to(SAMPLES).as_posix()
        assert knowing == ([KNOWN[name]] if name in KNOWN else ["fio"] if "storage/fio" in name else []), name


# ---------------------------------------------------------------- fio


def fio(*jobs: dict[str, Any], **common: Any) -> dict[str, Any]:
    options = {"direct": "1", "bs": "4m", "directory": "/data"}
    return {"fio version": "fio-3.33", "timestamp": 1795960706, "global options": options | common, "jobs": list(jobs)}


def fio_job(rate: float, way: str = "write", *, runtime_ms: float = 20_000, group: int = 0, **more: Any) -> dict[str, Any]:
    done = {"io_bytes": int(rate * runtime_ms / 1e3), "bw_bytes": rate, "bw": int(rate / 1024), "runtime": runtime_ms}
    nothing = {"io_bytes": 0, "bw_bytes": 0, "bw": 0, "runtime": 0}
    other = "read" if way == "write" else "write"
    return {"jobname": "j", "groupid": group, "error": 0, "job options": {"rw": way}, way: done, other: nothing} | more


def test_fio_sample() -> None:
    evidence = sample("fio-3.33.json")
    write, read_ = one(evidence, "writes_at"), one(evidence, "reads_at")
    assert mean(write) == pytest.approx(2.049e9, rel=5e-4)
    assert mean(read_) == pytest.approx(1.190e9, rel=5e-4)
    assert not write.is_doubtful
    assert not read_.is_doubtful
    assert evidence.date == "2026-11-29"
    assert write.at_s == (1795960706.0,)
    assert str(write.place) == "fio-3.33.json, jobs[0].write.bw_bytes"
    assert "one node" in notes(write)
    assert evidence.warnings == ()


def test_fio_asks_what_it_wrote_to(tmp_path: Path) -> None:
    row = one(given(tmp_path, fio(fio_job(1e9))), "writes_at")
    assert row.question is not None
    assert row.question.id == "storage.target.write:/data"
    assert [choice for choice, _ in row.question.choices] == ["writes_at", "drives_write"]
    assert row.question.suggested == ""
    local = one(given(tmp_path, fio(fio_job(1e9, "read"), directory="/mnt/nvme0/bench")), "drives_read")
    assert local.question is not None
    assert (local.question.id, local.question.suggested) == ("storage.target.read:/mnt/nvme0", "drives_read")


def test_names_of_people_stay_in_the_file() -> None:
    assert target_of("/home/someone/x").shown == "/home"
    assert target_of("/fsx/someone/x").shown == "/fsx"
    assert target_of("/mnt/lustre/someone").shown == "/mnt/lustre"
    assert target_of("someone/x").shown == ""
    assert target_of(None).shown == ""


def test_fio_jobs_one_by_one_add_up_and_groups_do_not(tmp_path: Path) -> None:
    jobs = [fio_job(1e9), fio_job(1.5e9), fio_job(5e9, "read", group=1), fio_job(3e9, group=2, **{"job options": {"bs": "1m"}})]
    evidence = given(tmp_path, fio(*jobs))
    writes = [row.values for row in evidence.measured if row.quantity == "writes_at"]
    assert writes == [(2.5e9,), (3e9,)]
    assert one(evidence, "reads_at").values == (5e9,)


def test_fio_groups_with_the_same_options_are_repetitions(tmp_path: Path) -> None:
    assert one(given(tmp_path, fio(fio_job(1e9), fio_job(2e9, group=1))), "writes_at").values == (1e9, 2e9)


def test_fio_text_before_the_json_and_a_stonewall() -> None:
    """The real tool: two writers, a stonewall, two readers; 2 x 33,554,432 B in 29 ms and in 52 ms."""
    assert (STORAGE / "fio-3.33-stonewall.txt").read_text().startswith("w: (g=0): rw=write, bs=(R)")
    evidence = sample("fio-3.33-stonewall.txt")
    write, read_ = one(evidence, "writes_at"), one(evidence, "reads_at")
    assert write.values == (pytest.approx(2 * 33_554_432 / 0.029),)
    assert "did not end together" in notes(write)
    assert not write.is_doubtful, "end_fsync"
    assert read_.values == (pytest.approx(2 * 33_554_432 / 0.052),)
    assert read_.is_doubtful, "read back without direct"


def test_fio_progress_with_brackets_before_the_json(tmp_path: Path) -> None:
    text = "Jobs: 4 (f=4): [W(4)][25.0%][w=2000MiB/s][eta 00m:03s]\n{ not this\n" + json.dumps(fio(fio_job(1e9)))
    assert one(given(tmp_path, text), "writes_at").values == (1e9,)


def test_fio_results_before_the_end_of_a_run_are_left_out() -> None:
    evidence = sample("fio-3.33-status-interval.txt")
    assert one(evidence, "reads_at").values == (49_152_000.0,)
    assert "--status-interval" in words(evidence)


def test_fio_runs_put_one_after_the_other_all_count(tmp_path: Path) -> None:
    runs = [fio(fio_job(rate)) | {"timestamp": 1795960706 + 60 * index} for index, rate in enumerate((1e9, 2e9))]
    assert one(given(tmp_path, "\n".join(map(json.dumps, runs))), "writes_at").values == (1e9, 2e9)


def test_fio_of_several_clients_without_the_row_of_their_sum() -> None:
    """fio's own "All clients" has 1,864,135,111 B/s; its address is no part of the result."""
    evidence = sample("fio-3.33-client.txt")
    assert one(evidence, "writes_at").values == (pytest.approx(1_864_135_111, rel=1e-6),)
    assert "Measured from 2 nodes." in words(evidence)


def test_fio_kib_is_not_kb(tmp_path: Path) -> None:
    old = fio_job(0)
    old["write"] = {"io_bytes": 1, "bw": 1_000_000, "runtime": 20_000}
    evidence = given(tmp_path, fio(old))
    assert one(evidence, "writes_at").values == (1_024_000_000.0,)
    assert "times 1024" in words(evidence)
    wrong = fio_job(1e9)
    wrong["write"]["bw"] = 1_000_000  # as if it were kB
    evidence = given(tmp_path, fio(wrong))
    assert one(evidence, "writes_at").values == (1e9,)
    assert "do not agree" in words(evidence)


@pytest.mark.parametrize("options", [{"end_fsync": "1"}, {"fsync": "1"}, {"fdatasync": "32"}, {"sync": "dsync"},
                                     {"direct": "1"}, {"buffered": "0"}])  # fmt: skip
def test_fio_a_write_that_reached_the_storage(tmp_path: Path, options: dict[str, str]) -> None:
    row = one(given(tmp_path, fio(fio_job(1e9), direct="0", **{k: v for k, v in options.items() if k != "direct"})
                    if "direct" not in options else fio(fio_job(1e9))), "writes_at")  # fmt: skip
    assert not row.is_doubtful


@pytest.mark.parametrize("options", [{}, {"end_fsync": "0"}, {"sync": "none"}])
def test_fio_a_write_into_the_page_cache(tmp_path: Path, options: dict[str, str]) -> None:
    row = one(given(tmp_path, fio(fio_job(9e9), direct="0", **options)), "writes_at")
    assert row.is_doubtful
    assert "page cache" in notes(row)


def test_fio_options_of_a_job_go_before_those_of_all(tmp_path: Path) -> None:
    job = fio_job(1e9, **{"job options": {"rw": "write", "direct": "0"}})
    assert one(given(tmp_path, fio(job)), "writes_at").is_doubtful


def test_fio_without_options_is_doubtful(tmp_path: Path) -> None:
    run = fio(fio_job(1e9, **{"job options": {}}))
    del run["global options"]
    assert "options of the run are not in the file" in notes(one(given(tmp_path, run), "writes_at"))


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"rw": "randwrite"}, "random"),
        ({"bs": "4k"}, "blocks of 4k"),
        ({"bs": "4096"}, "blocks of"),
        ({"rate": "1g"}, "limited"),
    ],
)
def test_fio_runs_that_are_no_save(tmp_path: Path, options: dict[str, str], says: str) -> None:
    row = one(given(tmp_path, fio(fio_job(1e9, **{"job options": {"rw": "write"} | options}))), "writes_at")
    assert row.is_doubtful
    assert says in notes(row)


def test_fio_writing_and_reading_at_once(tmp_path: Path) -> None:
    evidence = given(tmp_path, fio(fio_job(1e9), fio_job(2e9, "read")))
    assert all(row.is_doubtful and "same time" in notes(row) for row in evidence.measured)


def test_fio_errors_and_zero_times(tmp_path: Path) -> None:
    short = fio_job(5e9)
    short["write"] |= {"runtime": 0}
    evidence = given(tmp_path, fio(fio_job(1e9), fio_job(2e9, error=28), short))
    assert one(evidence, "writes_at").values == (1e9,)
    assert "ended with an error" in words(evidence)
    assert "no running time" in words(evidence)
    assert "there is no rate of writing or reading" in refused(tmp_path, fio(fio_job(1e9, error=5)))


def test_fio_trims_and_latencies_have_no_rate(tmp_path: Path) -> None:
    job = fio_job(0, runtime_ms=0)
    job["trim"] = {"io_bytes": 1, "bw_bytes": 5, "runtime": 4}
    assert "there is no rate of writing or reading" in refused(tmp_path, fio(job))
    assert "unified_rw_reporting" in refused(tmp_path, fio({"jobname": "m", "mixed": {"bw_bytes": 5}}))


@pytest.mark.parametrize("name", ["fio-3.33-normal.txt", "fio-3.33-terse.txt"])
def test_fio_text_for_people_is_refused(name: str) -> None:
    with pytest.raises(ReaderError, match="run fio with --output-format=json"):
        sample(name)


def test_fio_cut_files(tmp_path: Path) -> None:
    raw = (STORAGE / "fio-3.33.json").read_text()
    assert "this is no JSON" in refused(tmp_path, raw[: len(raw) // 2])


# ---------------------------------------------------------------- IOR


def ior(**changes: Any) -> dict[str, Any]:
    """The sample with other parameters, on four nodes."""
    root: dict[str, Any] = json.loads((STORAGE / "ior-4.1.json").read_text())
    root["tests"][0]["Parameters"] |= {"nodes": 4} | changes
    return root


@pytest.mark.parametrize(
    ("name", "write", "largest", "read_"),
    [("ior-4.1.json", 991.2, 1708.4, 11_038), ("ior-4.1.txt", 1436.6, 1841.9, 11_151)],
)
def test_ior_samples(name: str, write: float, largest: float, read_: float) -> None:
    evidence = sample(name)
    row = one(evidence, "writes_at")
    assert mean(row) == pytest.approx(write * MiB, rel=1e-4)
    assert max(row.values) == pytest.approx(largest * MiB, rel=1e-4)
    assert len(row.values) == 3
    assert not row.is_doubtful, "-e"
    assert "one node" in notes(row)
    cached = one(evidence, "reads_at")
    assert mean(cached) == pytest.approx(read_ * MiB, rel=1e-4)
    assert cached.is_doubtful
    assert "cache" in notes(cached)
    assert evidence.date == "2026-11-29"
    assert evidence.warnings == ()


def test_ior_places() -> None:
    assert str(one(sample("ior-4.1.json"), "writes_at").place) == "ior-4.1.json, tests[0].Results[0].bwMiB"
    assert str(one(sample("ior-4.1.txt"), "writes_at").place) == "ior-4.1.txt, line 35"


def test_ior_reads_by_another_node_than_wrote(tmp_path: Path) -> None:
    row = one(given(tmp_path, ior()), "reads_at")
    assert not row.is_doubtful
    assert "Measured from 4 nodes." in notes(row)
    assert one(given(tmp_path, ior(reorderTasks=0)), "reads_at").is_doubtful
    assert not one(given(tmp_path, ior(reorderTasks=0, reorderTasksRandom=1)), "reads_at").is_doubtful


def test_ior_without_e_may_end_in_a_cache(tmp_path: Path) -> None:
    row = one(given(tmp_path, ior(fsync=0)), "writes_at")
    assert row.is_doubtful
    assert "-e" in notes(row)
    text = (STORAGE / "ior-4.1.txt").read_text()
    assert one(given(tmp_path, text.replace(" -e ", " ")), "writes_at").is_doubtful
    assert not one(given(tmp_path, text.replace(" -e ", " --posix.odirect ")), "writes_at").is_doubtful
    assert not one(given(tmp_path, text.replace(" -e ", " --posix.odirect ")), "reads_at").is_doubtful


def test_ior_text_without_reordering(tmp_path: Path) -> None:
    text = (STORAGE / "ior-4.1.txt").read_text().replace("nodes               : 1", "nodes               : 4")
    assert not one(given(tmp_path, text), "reads_at").is_doubtful
    assert one(given(tmp_path, text.replace("constant task offset", "no tasks offsets")), "reads_at").is_doubtful


def test_ior_mean_of_the_summary_where_there_are_no_repetitions(tmp_path: Path) -> None:
    root = ior()
    root["tests"][0]["Results"] = []
    row = one(given(tmp_path, root), "writes_at")
    assert row.values == (pytest.approx(991.183 * MiB),)
    assert str(row.place) == "file.txt, summary[0].bwMeanMIB"


def test_ior_repetitions_that_do_not_have_the_given_mean(tmp_path: Path) -> None:
    root = ior()
    root["summary"][0]["bwMeanMIB"] = 1708.3736
    assert "do not have the mean" in words(given(tmp_path, root))


def test_ior_json_with_words_of_the_launcher_before_it_and_without_paths(tmp_path: Path) -> None:
    root = ior()
    del root["tests"][0]["Path"], root["tests"][0]["Parameters"]["testFileName"], root["tests"][0]["Options"]
    text = "[node-1:12345] mca_base_component: {warning}\n" + json.dumps(root)
    assert one(given(tmp_path, text), "writes_at").question.id == "storage.target.write"  # type: ignore[union-attr]


CSV = (
    "access,bw(MiB/s),IOPS,Latency,block(KiB),xfer(KiB),open(s),wr/rd(s),close(s),total(s),numTasks,iter\n"
    "write,1000.5,30.3,1.5,131072.0,1024.0,15.0,202.2,35.0,202.6,48,0\n"
    "write,2000.5,30.3,1.5,131072.0,1024.0,15.0,202.2,35.0,202.6,48,1\n"
    "read,9000.0,2026.8,0.01,131072.0,1024.0,0.4,3.0,1.0,3.05,48,0\n"
)


def test_ior_csv(tmp_path: Path) -> None:
    evidence = given(tmp_path, CSV)
    row = one(evidence, "writes_at")
    assert mean(row) == pytest.approx(1500.5 * MiB)
    assert str(row.place) == "file.txt, line 2"
    assert not row.is_doubtful
    assert "Whether -e was given is not in this file" in notes(row)
    assert "How many nodes" in notes(row)
    assert one(evidence, "reads_at").is_doubtful


def test_ior_without_results(tmp_path: Path) -> None:
    assert "there is no rate" in refused(tmp_path, CSV.splitlines()[0] + "\n")
    assert "there is no rate" in refused(tmp_path, CSV.splitlines()[0] + "\nwrite,nan,1,1,1,1,1,1,1,1,1,0\nwrite,5\n")
    assert "there is no rate" in refused(tmp_path, "IOR-4.0.0: MPI Coordinated Test of Parallel I/O\nBegan : today\n")
    largest = "IOR-3.0.1: MPI Coordinated Test of Parallel I/O\n\nMax Write: 1841.89 MiB/sec (1931.36 MB/sec)\n"
    assert "there is no rate" in refused(tmp_path, largest)


# ---------------------------------------------------------------- elbencho

ELBENCHO = (STORAGE / "elbencho-3.1.csv").read_text()


def test_elbencho_sample() -> None:
    evidence = sample("elbencho-3.1.csv")
    row = one(evidence, "writes_at")
    assert row.values == (2941 * MiB,), "until the last thread, not the first: 3,494"
    assert not row.is_doubtful, "direct"
    assert str(row.place) == "elbencho-3.1.csv, line 3, MiB/s [last]"
    assert evidence.date == "2026-05-22"


def test_elbencho_repetitions_and_headings_in_the_middle(tmp_path: Path) -> None:
    text = ELBENCHO.rstrip() + "\n" + ELBENCHO.replace("3494,2941,10", "3494,2841,10")
    assert one(given(tmp_path, text), "writes_at").values == (2941 * MiB, 2841 * MiB)


def test_elbencho_without_headings(tmp_path: Path) -> None:
    rows = "\n".join(ELBENCHO.splitlines()[1:])
    assert "line 1: the headings are missing; run elbencho without --nocsvlabels" in refused(tmp_path, rows)
    cut = ELBENCHO.replace(",MiB/s [last]", ",other")
    assert "the column MiB/s [last] is missing" in refused(tmp_path, cut)


def test_elbencho_phases_without_bytes(tmp_path: Path) -> None:
    assert "no phase in it wrote or read bytes" in refused(tmp_path, "\n".join(ELBENCHO.splitlines()[:2]) + "\n")


def test_elbencho_without_direct_io(tmp_path: Path) -> None:
    text = ELBENCHO.replace("1048576,1,0,,4,1,0,WRITE", "1048576,0,0,,4,1,0,WRITE")
    text += text.splitlines()[2].replace("WRITE", "READ").replace(",dir,1,1,", ",dir,1,2,") + "\n"
    evidence = given(tmp_path, text)
    assert all(row.is_doubtful and "page cache" in notes(row) for row in evidence.measured)
    assert "Measured from 2 nodes." in notes(one(evidence, "reads_at"))


def elbencho_json(phase: str, **last: str) -> str:
    config = {"path_type": "blockdev", "hosts": "4", "threads": "8", "file_size": "1", "direct_io": "true"}
    done = {"elapsed_time_ms": "2134", "bytes/s": "9999999999"}
    root = {"phase_type": phase, "phase_id": "x", "iso_start_date": "2026-05-22T16:09:38.123+0200", "config": config}
    return json.dumps(root | {"first_done": done, "last_done": last}, separators=(",", ":")).replace("/", "\\/")


def test_elbencho_json_lines(tmp_path: Path) -> None:
    lines = [elbencho_json("MKDIRS", entries="8"), elbencho_json("WRITE", **{"bytes/s": "3083862016"}),
             elbencho_json("READ", **{"bytes/s": "5000000000"})]  # fmt: skip
    evidence = given(tmp_path, "\n".join(lines) + "\n")
    row = one(evidence, "drives_write")
    assert row.values == (3_083_862_016.0,)
    assert str(row.place) == "file.txt, line 2, last_done.bytes/s"
    assert "Measured from 4 nodes." in notes(row)
    assert row.question is not None
    assert row.question.suggested == "drives_write"
    assert one(evidence, "drives_read").values == (5e9,)
    assert "line 3: this is no JSON" in refused(tmp_path, "\n".join(lines)[:-40])


# ---------------------------------------------------------------- DLIO


def test_dlio_sample_gib_called_gb() -> None:
    evidence = sample("dlio-summary-constructed.json")
    assert mean(one(evidence, "writes_at")) == pytest.approx(5.264e9, rel=1e-4)
    assert mean(one(evidence, "write")) == pytest.approx(21.4, rel=2e-3)
    assert mean(one(evidence, "reads_at")) == pytest.approx(7.916e9, rel=1e-4)
    assert one(evidence, "restore_read").values == (14.25,)
    assert one(evidence, "write").is_doubtful, "the time of another checkpoint"
    assert evidence.facts[0].value == 105 * GIB
    assert evidence.date == "2026-11-20"
    assert "GiB" in notes(one(evidence, "writes_at"))


def test_dlio_suspects_a_cache(tmp_path: Path) -> None:
    root = json.loads((STORAGE / "dlio-summary-constructed.json").read_text()) | {"potential_caching": True, "num_hosts": 4}
    evidence = given(tmp_path, root)
    assert one(evidence, "reads_at").is_doubtful
    assert not one(evidence, "writes_at").is_doubtful
    assert "potential_caching" in words(evidence)
    assert "Measured from 4 nodes." in words(evidence)


def test_dlio_training_has_no_checkpoints(tmp_path: Path) -> None:
    root = {
        "num_accelerators": 8,
        "metric": {"train_io_mean_MB_per_second": 5.0, "save_checkpoint_io_mean_GB_per_second": None},
    }
    assert "no saves or loads of checkpoints" in refused(tmp_path, root)


# ---------------------------------------------------------------- CloudWatch


def metric(values: list[float], *, start: float = 1_795_132_800.0, period: float = 60.0, label: str = "DataWriteBytes",
           scale: float = 1.0) -> dict[str, Any]:  # fmt: skip
    times: list[float] = [(start + period * index) * scale for index in range(len(values))]
    return {"Id": "w", "Label": label, "Timestamps": times[::-1], "Values": values[::-1]}


QUIET = 1.2e8
LONG = [QUIET] * 10 + [1e11, 3e11, 3.6e11, 3e11, 2e10] + [QUIET] * 10


@pytest.mark.parametrize("name", ["data", "statistics"])
def test_cloudwatch_samples(name: str) -> None:
    """Bursts of five minutes with about 1.743 TB; 126 MB a minute between them."""
    evidence = sample(f"cloudwatch-get-metric-{name}-constructed.json")
    row = one(evidence, "writes_at")
    assert mean(row) == pytest.approx(1.743e12 / 300, rel=0.01)
    assert not row.is_doubtful
    assert row.at_s == tuple(sorted(row.at_s))
    assert one(evidence, "shared_load").values == (pytest.approx(2.1e6, rel=0.01),)
    assert evidence.date == "2026-11-20"
    assert ("statistic is not in this file" in words(evidence)) == (name == "data")


def test_cloudwatch_throughput_from_the_full_periods_of_a_burst(tmp_path: Path) -> None:
    evidence = given(tmp_path, {"MetricDataResults": [metric(LONG)]})
    assert one(evidence, "writes_at").values == (pytest.approx(3.2e11 / 60),)
    assert one(evidence, "shared_load").values == (pytest.approx(QUIET / 60),)


def test_cloudwatch_a_short_burst_is_blurred(tmp_path: Path) -> None:
    values = [QUIET] * 10 + [1e11] + [QUIET] * 10 + [0.4e11, 0.6e11] + [QUIET] * 5
    row = one(given(tmp_path, {"MetricDataResults": [metric(values)]}), "writes_at")
    assert row.values == (pytest.approx(1e11 / 60), pytest.approx(0.5e11 / 60))
    assert row.is_doubtful
    assert "shorter than three periods of 1\u00a0min" in notes(row)


def test_cloudwatch_milliseconds_seconds_and_words_are_the_same_time(tmp_path: Path) -> None:
    seconds = one(given(tmp_path, {"MetricDataResults": [metric(LONG)]}), "writes_at")
    millis = one(given(tmp_path, {"MetricDataResults": [metric(LONG, scale=1e3)]}), "writes_at")
    assert millis == seconds
    assert (
        moment_s("2026-11-20T02:59:00+00:00")
        == moment_s("2026-11-20T02:59:00Z")
        == moment_s(1_795_143_540_000)
        == 1_795_143_540
    )
    assert moment_s(0) is moment_s("soon") is moment_s(1e17) is moment_s(None) is moment_s("9999-12-31T23:59:59-23:59") is None


def test_cloudwatch_period_is_that_of_the_times(tmp_path: Path) -> None:
    evidence = given(tmp_path, {"MetricDataResults": [metric(LONG, period=300)]})
    assert one(evidence, "writes_at").values == (pytest.approx(3.2e11 / 300),)


def points(*names: str, unit: str = "Bytes") -> dict[str, Any]:
    rows = [
        {"Timestamp": 1_795_132_800 + 60 * index, "Unit": unit}
        | {"Sum": value, "Average": value / 10, "SampleCount": 10.0, "Maximum": value}
        for index, value in enumerate(LONG)
    ]
    keep = {"Timestamp", "Unit", *names}
    shuffled = rows[1::2] + rows[::2]
    return {"Label": "DataWriteBytes", "Datapoints": [{k: v for k, v in row.items() if k in keep} for row in shuffled]}


def test_cloudwatch_average_is_of_one_target(tmp_path: Path) -> None:
    assert "ask for Sum" in refused(tmp_path, points("Average"))
    assert "ask for Sum" in refused(tmp_path, points("Maximum"))
    whole = one(given(tmp_path, points("Sum")), "writes_at").values
    assert one(given(tmp_path, points("Average", "SampleCount")), "writes_at").values == pytest.approx(whole)
    assert whole == (pytest.approx(3.2e11 / 60),)
    assert "ask for Sum" in refused(tmp_path, {"MetricDataResults": [metric(LONG, label="DataWriteBytes Average")]})
    assert "not in bytes" in refused(tmp_path, points("Sum", unit="Megabytes"))


def test_cloudwatch_reading_and_writing_of_others_add_up(tmp_path: Path) -> None:
    results = [metric(LONG), metric([6e8] * 25, label="DataReadBytes")]
    evidence = given(tmp_path, {"MetricDataResults": results})
    assert one(evidence, "shared_load").values == (pytest.approx((QUIET + 6e8) / 60),)
    assert "DataReadBytes has no bursts" in words(evidence)


def test_cloudwatch_free_space(tmp_path: Path) -> None:
    results = [metric([5e12, 4e12, 3e12], label="FreeDataStorageCapacity")]
    evidence = given(tmp_path, {"MetricDataResults": results})
    assert [fact.value for fact in evidence.facts] == [3e12], "the newest"
    assert evidence.measured == ()


def test_cloudwatch_files_without_what_is_needed(tmp_path: Path) -> None:
    assert "there are no sums" in refused(tmp_path, {"MetricDataResults": [metric(LONG, label="CPUUtilization")]})
    assert "there are no sums" in refused(tmp_path, {"MetricDataResults": [metric([1.0])]})
    uneven = metric(LONG)
    uneven["Values"].pop()
    assert "not as many values as times" in refused(tmp_path, {"MetricDataResults": [uneven]})
    more = given(tmp_path, {"MetricDataResults": [metric(LONG) | {"StatusCode": "PartialData"}], "NextToken": "x"})
    assert "PartialData" in words(more)
    assert "NextToken" in words(more)


# ---------------------------------------------------------------- hostile files


@pytest.mark.parametrize(
    "value", [float("nan"), float("inf"), -1, "1e999", "nan", True, None, [], {}, 10**400, "1_000", "9" * 99]
)
def test_what_is_no_number(value: object) -> None:
    assert number(value) is None


def test_mutated_files_end_in_a_value_or_a_refusal(tmp_path: Path) -> None:
    paths = [path for path in sorted((*STORAGE.iterdir(), *AWS.glob("cloudwatch*"))) if path.is_file()]
    survive(READERS, paths, tmp_path, rounds=600, seed=20261129)


# ---------------------------------------------------------------- fio on many nodes, each with a result of its own


def fio_of_node(node: int, rate: float, *, ends: float = 1795960706, elapsed: int = 60) -> str:
    run = fio(fio_job(rate, jobname=f"save-{node}", elapsed=elapsed, **{"job options": {"rw": "write"}}))
    return json.dumps(run | {"timestamp": ends})


def test_fio_results_of_nodes_side_by_side_add_up(tmp_path: Path) -> None:
    both = fio_of_node(0, 1e9) + "\n" + fio_of_node(1, 1.5e9, ends=1795960708, elapsed=61)
    row = one(given(tmp_path, both), "writes_at")
    assert row.values == (2.5e9,)
    assert "Measured from 2 nodes" in notes(row)


def test_fio_results_one_after_the_other_are_repetitions(tmp_path: Path) -> None:
    later = fio_of_node(0, 1e9) + "\n" + fio_of_node(1, 1.5e9, ends=1795960706 + 61)
    assert one(given(tmp_path, later), "writes_at").values == (1e9, 1.5e9)
    again = fio_of_node(0, 1e9) + "\n" + fio_of_node(0, 1.5e9, ends=1795960706 + 20)
    assert one(given(tmp_path, again), "writes_at").values == (1e9, 1.5e9), "the same name: the same node"


# ---------------------------------------------------------------- how many nodes took part


def estimated(evidence: FileEvidence, nodes: int, quantity: str = "writes_at") -> tuple[bool, str]:
    """Whether a plan with so many nodes is proposed the rate, and what is said of it; all questions are answered with it."""
    answers = tuple((row.question.id, quantity) for row in evidence.measured if row.question is not None)
    reading = read_evidence([evidence], replace(Choices(), answers=answers), nodes=nodes)
    found = next(estimate for estimate in reading.estimates if estimate.id == quantity)
    return found.is_proposed, " ".join(map(str, found.notes))


def of_nodes(folder: Path, tool: str) -> tuple[FileEvidence, int]:
    """A rate of writing by each tool, and the nodes that its file names."""
    if tool == "fio":
        return sample("fio-3.33-client.txt"), 2
    if tool == "ior":
        return given(folder, ior()), 4
    if tool == "elbencho":
        return given(folder, elbencho_json("WRITE", **{"bytes/s": "3083862016"}).replace("blockdev", "dir") + "\n"), 4
    root = json.loads((STORAGE / "dlio-summary-constructed.json").read_text()) | {"num_hosts": 32}
    return given(folder, root), 32


@pytest.mark.parametrize("tool", ["fio", "ior", "elbencho", "dlio"])
def test_a_rate_is_proposed_to_a_plan_with_as_many_nodes(tmp_path: Path, tool: str) -> None:
    evidence, nodes = of_nodes(tmp_path, tool)
    rates = [row for row in evidence.measured if row.quantity in ("writes_at", "reads_at")]
    assert rates
    assert {row.nodes for row in rates} == {nodes}
    is_proposed, said = estimated(evidence, nodes)
    assert is_proposed
    assert "not known" not in said
    is_proposed, said = estimated(evidence, 100)
    assert not is_proposed
    assert f"Measured with {nodes} nodes, not with 100." in said
    assert "not known" not in said


def test_one_node_is_not_said_to_be_not_known() -> None:
    is_proposed, said = estimated(sample("fio-3.33.json"), 32)
    assert not is_proposed
    assert "Measured from one node" in said
    assert "not known" not in said


def test_ior_nodes_from_tasks_and_those_of_a_node(tmp_path: Path) -> None:
    words_ = (STORAGE / "ior-4.1.txt").read_text()
    assert one(given(tmp_path, words_), "writes_at").nodes == 1
    lines = [line for line in words_.splitlines() if not line.startswith("nodes  ")]
    changed = "\n".join(lines).replace("tasks               : 4", "tasks               : 16")
    assert one(given(tmp_path, changed), "writes_at").nodes == 4
    old = [line for line in lines if not line.startswith("clients per node")]
    assert one(given(tmp_path, "\n".join(old)), "writes_at").nodes is None
    changed = "\n".join(old).replace("tasks               : 4", "clients             = 16 (8 per node)")
    assert one(given(tmp_path, changed), "writes_at").nodes == 2


def test_cloudwatch_counts_what_all_nodes_did() -> None:
    evidence = sample("cloudwatch-get-metric-data-constructed.json")
    assert one(evidence, "writes_at").nodes is None
    is_proposed, said = estimated(evidence, 32)
    assert is_proposed
    assert "Counted by the file system: what all that used it moved together" in said
