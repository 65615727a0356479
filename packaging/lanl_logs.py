"""Make ckptplanner/data/interruption_logs.csv from the failure data of Los Alamos National Laboratory.

    python packaging/lanl_logs.py LA-UR-05-7318-failure-data-1996-2005.csv > ckptplanner/data/interruption_logs.csv

The raw file may be compressed with xz. It has one row for each node that failed; here rows that start in the same minute are
one interruption, and of each system with enough of them the whole minutes between one and the next are kept.
"""

from __future__ import annotations

import argparse
import csv
import io
import lzma
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import TextIO

LEAST_GAPS = 200
SOURCE = "LANL public release LA-UR-05-7318, failure data 1996-2005; credit: Los Alamos National Laboratory"
HEADINGS = ("id", "name", "nodes", "gaps_min", "source", "date", "status", "note")


def opened(path: Path) -> TextIO:
    """The raw table as text; its bytes are Latin-1."""
    return io.TextIOWrapper(lzma.open(path) if path.suffix == ".xz" else path.open("rb"), encoding="latin-1", newline="")


def starts_and_nodes(rows: Iterable[Mapping[str, str]]) -> tuple[dict[int, set[datetime]], dict[int, int]]:
    """The distinct start minutes and the number of nodes of every system."""
    starts: dict[int, set[datetime]] = defaultdict(set)
    nodes: dict[int, int] = defaultdict(int)
    for row in rows:
        system = int(row["System"])
        starts[system].add(datetime.strptime(row["Prob Started"].strip(), "%m/%d/%Y %H:%M"))
        nodes[system] = max(nodes[system], int(row["nodes"].strip() or 0))  # blank in a few rows
    return starts, nodes


def rows_of(starts: Mapping[int, set[datetime]], nodes: Mapping[int, int]) -> Iterator[tuple[str, ...]]:
    """One row for each system that has enough gaps."""
    for system, times in sorted(starts.items()):
        ordered = sorted(times)
        gaps = [round((after - before).total_seconds() / 60) for before, after in pairwise(ordered)]
        if len(gaps) >= LEAST_GAPS:
            yield (
                f"lanl-{system}",
                f"LANL system {system}",
                str(nodes[system]),
                " ".join(map(str, gaps)),
                SOURCE,
                "2005",
                "derived",
                f"{len(ordered)} distinct start minutes from {ordered[0]:%Y-%m-%d} to {ordered[-1]:%Y-%m-%d}. "
                "Failures of any node, taken as interruptions of a job on the whole system.",
            )


def main() -> None:
    """Read the raw file that was named and print the reduced one."""
    parser = argparse.ArgumentParser(description="Reduce the LANL failure data to gaps between interruptions.")
    parser.add_argument("raw", type=Path)
    with opened(parser.parse_args().raw) as raw:
        starts, nodes = starts_and_nodes(csv.DictReader(raw))
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(HEADINGS)
    writer.writerows(rows_of(starts, nodes))


if __name__ == "__main__":
    main()
