"""A gigabyte of training log is read in one pass: memory, speed, progress and cancel, each against a limit.

    write    one day of a run repeated with another date, in a temporary folder: iterations, saves, and lines of other ranks
    read     in a child process, whose peak memory the system tells       limit 200 MB
    bare     a pass over the same lines that does nothing, same run       the ratio is reported
    cancel   progress raises: from the wish to the end of reading         limit 200 ms

`python tests/bench/big_log.py [--mb 1000] [--dense]` prints a table and exits 1 when a limit is broken. `--dense` leaves out
the lines of other ranks: then nearly each line is one of an iteration, which no real log of this size is.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path

ROOT = Path(__file__).parents[2]
STAMP = "%Y-%m-%d %H:%M:%S.%f"
DAY = "2026-01-01"
ITERATIONS, STEP_S, SAVE_EVERY, NOISE = 2700, 20.0, 130, 8
MEMORY_MB, CANCEL_MS = 200.0, 200.0


class Stopped(Exception):  # noqa: N818 - what the user did
    """Raised by the progress of a reading that is to end."""


def day_lines(noise: int) -> Iterator[str]:
    """One run of 15 hours: a load, iterations logged one by one, asynchronous saves that take 290 s."""
    yield " loading distributed checkpoint from /fsx/ckpt at iteration 12000"
    yield "  successfully loaded checkpoint from /fsx/ckpt [ t 1/4, p 1/8 ] at iteration 12000"
    at, writing = datetime.fromisoformat(f"{DAY} 00:10:00"), 0
    for number in range(1, ITERATIONS + 1):
        at += timedelta(seconds=STEP_S)
        iteration = 12_000 + number
        for rank in range(noise):
            yield (
                f"gpu-{rank:03}:{4000 + rank}:{5000 + number} [{rank % 8}] NCCL INFO Channel {number % 16:02}/0 : "
                f"{rank}[{rank % 8}] -> {rank + 1}[{(rank + 1) % 8}] via P2P/CUMEM/read"
            )
        yield (
            f" [{at:{STAMP}}] iteration {iteration:8d}/  500000 | consumed samples: {iteration * 3072:12d} | elapsed time"
            f" per iteration (ms): {STEP_S * 1e3 + number % 7:.1f} | throughput per GPU (TFLOP/s/GPU): 612.4 | learning rate: "
            "1.200000E-04 | global batch size:  3072 | lm loss: 1.929000E+00 | loss scale: 1.0 | grad norm: 0.412 | number of "
            "skipped iterations:   0 | number of nan iterations:   0 |"
        )
        if writing and iteration >= writing + 15:
            done = at - timedelta(seconds=10)
            yield f"  [{done:{STAMP}}] successfully saved checkpoint from iteration {writing:7d} to /fsx/ckpt"
            writing = 0
        if number % SAVE_EVERY == 0:
            yield f"[{at:{STAMP}}] saving checkpoint at iteration {iteration:7d} to /fsx/ckpt in torch_dist format"
            at += timedelta(seconds=5)
            yield f"  [{at:{STAMP}}] scheduled an async checkpoint save at iteration {iteration:7d} to /fsx/ckpt"
            yield "(min, max) time across ranks (ms):"
            yield "    save-checkpoint ................................: (4684.98, 5061.81)"
            writing = iteration


def write_log(path: Path, size_bytes: int, noise: int = NOISE) -> int:
    """Write the log; how many runs are in it."""
    day = ("\n".join(day_lines(noise)) + "\n").encode("ascii")
    first, runs, written = datetime.fromisoformat(DAY), 0, 0
    with path.open("wb") as file:
        while written < size_bytes:
            date = f"{first + timedelta(days=runs):%Y-%m-%d}".encode("ascii")
            written += file.write(day.replace(DAY.encode("ascii"), date))
            runs += 1
    return runs


def child(path: Path) -> None:
    """Read the log, and print what it took as JSON."""
    from ckptplanner.data.readers import megatron_log
    from ckptplanner.data.readers.source import open_file

    told: list[float] = []
    moments = [time.process_time()]  # of the processor: other programs do not count

    def progress(share: float) -> None:
        told.append(share)
        moments.append(time.process_time())

    opened = open_file(path, progress=progress)
    start = time.process_time()
    evidence = megatron_log.read(opened)
    read_s = time.process_time() - start
    peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6  # Linux counts in KiB
    start = time.process_time()
    for _ in open_file(path).lines():
        pass
    bare_s = time.process_time() - start
    print(
        json.dumps(
            {
                "peak_mb": peak_mb,
                "read_s": read_s,
                "bare_s": bare_s,
                "told": len(told),
                "ends_at": told[-1] if told else 0.0,
                "is_rising": all(one <= two for one, two in pairwise(told)),
                "pause_ms": max(two - one for one, two in pairwise(moments)) * 1e3,
                "cancel_ms": cancelled_ms(path),
                "runs": len(evidence.runs),
                "values": {one.quantity: len(one.values) for one in evidence.measured},
            }
        )
    )


def cancelled_ms(path: Path) -> float:
    """From the wish to stop, a quarter into the file, until reading has ended. [ms]"""
    from ckptplanner.data.readers import megatron_log
    from ckptplanner.data.readers.source import open_file

    wished: list[float] = []

    def progress(share: float) -> None:
        if wished:
            raise Stopped
        if share > 0.25:
            wished.append(time.perf_counter())  # the user clicks just after this call: the next one raises

    try:
        megatron_log.read(open_file(path, progress=progress))
    except Stopped:
        return (time.perf_counter() - wished[0]) * 1e3
    return float("inf")


def measured(path: Path) -> dict[str, object]:
    """What a child process that reads the log says."""
    command = [sys.executable, str(Path(__file__)), "--child", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT, env={"PYTHONPATH": str(ROOT)})
    answer: dict[str, object] = json.loads(done.stdout)
    return answer


def main() -> int:
    """Write, read, compare."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mb", type=float, default=1000.0)
    parser.add_argument("--dense", action="store_true", help="no lines of other ranks")
    parser.add_argument("--child", type=Path)
    given = parser.parse_args()
    if given.child is not None:
        child(given.child)
        return 0
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "big.log"
        runs = write_log(path, int(given.mb * 1e6), 0 if given.dense else NOISE)
        size_mb = path.stat().st_size / 1e6
        said = measured(path)
    read_s, bare_s = float(str(said["read_s"])), float(str(said["bare_s"]))
    rows = [
        ("peak memory", f"{said['peak_mb']:.0f} MB", float(str(said["peak_mb"])) < MEMORY_MB, f"< {MEMORY_MB:.0f} MB"),
        ("cancel", f"{said['cancel_ms']:.1f} ms", float(str(said["cancel_ms"])) < CANCEL_MS, f"< {CANCEL_MS:.0f} ms"),
        ("longest pause", f"{said['pause_ms']:.1f} ms", float(str(said["pause_ms"])) < CANCEL_MS, f"< {CANCEL_MS:.0f} ms"),
        ("progress", f"{said['told']} times", bool(said["is_rising"]) and said["ends_at"] == 1.0, "rising, up to 1"),
        ("runs found", f"{said['runs']}", said["runs"] == runs, f"= {runs}"),
    ]
    print(f"{size_mb:,.0f} MB in {read_s:.1f} s of CPU: {size_mb / read_s:.0f} MB/s,")
    print(f"{read_s / bare_s:.1f} times a bare pass over the same lines ({size_mb / bare_s:.0f} MB/s)")
    print(f"values: {said['values']}")
    for name, value, is_passed, limit in rows:
        print(f"  {name:<14} {value:>12}  {limit:<16} {'ok' if is_passed else 'BROKEN'}")
    return 0 if all(row[2] for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
