"""100,000 damaged files over all readers (`make soak`); what breaks one is kept in tests/data/samples/fuzz for good.

    python -m tests.soak.readers [COUNT] [FIRST_SEED]
"""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from tests.data.fuzzing import KEPT, Broken, cases, read_damaged
from tests.data.mutations import mutated

COUNT, FIRST = 100_000, 1_000_000
PIECE = 500


def piece(first: int) -> tuple[int, int, list[str]]:
    """Some seeds, one after another: read, refused, and what broke."""
    every, broken, read, refused = cases(), list[str](), 0, 0
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "damaged"
        for seed in range(first, first + PIECE):
            case = every[seed % len(every)]
            target.write_bytes(raw := mutated(case.raw, seed))
            try:
                found = read_damaged(case.reader, target)
            except Broken as error:
                broken.append(f"{case.sample.name}, seed {seed}: {error}")
                KEPT.mkdir(exist_ok=True)
                (KEPT / f"{case.reader.id}-{hashlib.sha256(raw).hexdigest()[:12]}").write_bytes(raw)
                continue
            read, refused = read + (found is not None), refused + (found is None)
    return read, refused, broken


def main() -> int:
    """Attack, count, say what broke."""
    count, first = (int(one) for one in (*sys.argv[1:], *(COUNT, FIRST)[len(sys.argv) - 1 :]))
    began, read, refused, broken = time.perf_counter(), 0, 0, list[str]()
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        for more_read, more_refused, more_broken in pool.map(piece, range(first, first + count, PIECE)):
            read, refused = read + more_read, refused + more_refused
            broken += more_broken
    whole = read + refused + len(broken)
    print(f"{whole:,} damaged files in {time.perf_counter() - began:.0f} s: {read:,} read, {refused:,} refused, {len(broken)} broke")
    print("\n".join(broken[:20]))
    return int(bool(broken) or whole < count)


if __name__ == "__main__":
    sys.exit(main())
