"""Each kind of finding about nodes, saves, stops and neighbours: how bad, at which field, and what its sentence says."""

from __future__ import annotations

import ast
import inspect
from typing import Any

import pytest

from ckptplanner.engine import node_checks
from ckptplanner.engine.evaluate import evaluate
from ckptplanner.engine.scenario import CustomStorage, Scenario
from ckptplanner.units import DAY, GIB, HOUR
from tests.engine.build import SYNC, scenario
from tests.engine.test_checks import Kind, at, plain

S = 124.45e9 * 14
FIXED: dict[str, Any] = {"storage.tier": "p2-500-12000"}
ROUND: dict[str, Any] = {"workload.measured_bytes": 1e12, "workload.nodes": 10, "memory.job_bytes": 0.0}  # 100 GB a node
DAILY: dict[str, Any] = {"planned.every_s": DAY}
SMALL: dict[str, Any] = {"workload.nodes": 1, "workload.measured_bytes": 53e9, "storage.tier": "p2-500-4800"}
OTHERS: dict[str, Any] = {"shared.used_bytes": 0.97 * 4800 * GIB}


def saves(**row: Any) -> dict[str, Any]:
    return {"saves": ({"kind": "export", "every_s": DAY, "keep": 1, **row},)}


KINDS = [
    Kind(
        "a stop shorter than the copy", {"storage.blocking_s": 0.05},
        "warning", "storage.blocking_s", ("stop of 50 ms", "needs (120 ms)", "pinned copies"),
    ),
    Kind(
        "a stop shorter than pageable copies", {"storage.blocking_s": 1.0, "datapath.pinned": False},
        "warning", "storage.blocking_s", ("stop of 1 s", "needs (1.94 s)", "pageable copies"),
    ),
    Kind(
        "a stop shorter than the exchange of copies",
        {"storage.blocking_s": 0.1, "replication.factor": 2, "datapath.efa_bytes_per_s": 100e9},
        "warning", "storage.blocking_s", ("needs (784 ms)", "RDMA cards"),  # 54.4/100 + 108.9/455.2
    ),
    Kind(
        "a stop shorter than the ring buffer drains", {"memory.ring_bytes": 1e9},
        "warning", "storage.blocking_s", ("stop of 5 s", "needs (5.93 s)", "drives that the ring buffer drains to"),
    ),
    Kind(
        "a copy far below its link", {},
        "info", "storage.blocking_s", ("stop of 5 s", "1.36 GB/s a GPU", "64 GB/s of its link", "pageable memory"),
    ),
    Kind(
        "a copy below its link and above pageable", {"storage.blocking_s": 1.5, "workload.total_params": 124.45e9},
        "info", "storage.blocking_s", ("4.54 GB/s a GPU", "small tensors", "allocated anew"),
    ),
    Kind(
        "the same at full pace", FIXED | {"datapath.servers_bytes_per_s": 2e9, "storage.pace": "full"},
        "error", "datapath.servers_bytes_per_s", ("network of the servers carries 2 GB/s for all nodes", "14 min 31 s"),
    ),
    Kind(
        "a network of the servers too slow", FIXED | {"datapath.servers_bytes_per_s": 2e9},
        "warning", "datapath.servers_bytes_per_s", ("network of the servers carries 2 GB/s for all nodes", "14 min 31 s"),
    ),
    Kind(
        "a card too slow for storage that exists",
        {"storage.custom": CustomStorage(), "datapath.ena_bytes_per_s": 100e6},
        "warning", "datapath.ena_bytes_per_s", ("carries 100 MB/s a node", "9 min 4 s, not 5 min"),
    ),
    Kind(
        "servers too slow for reading back", FIXED | {"datapath.servers_bytes_per_s": 2e9},
        "warning", "datapath.servers_bytes_per_s", ("Reading back takes 14 min 31 s", "needs (4 min 50 s)", "network of the"),
    ),
    Kind(
        "copies that do not fit the interval", {"replication.factor": 8, "storage.interval_s": 30.0, "storage.write_s": 20.0},
        "warning", "datapath.nvme_write_bytes_per_s", ("Replicate: 48 s at each save", "the interval (30 s)", "local drives"),
    ),
    Kind(
        "a shard too large for S3",
        {"workload.total_params": 10e12, "saves": ({"writer": "single"},)},
        "error", "saves", ("A shard of 140 TB", "53.7 TB", "let more ranks write"),
    ),
    Kind(
        "a class that reads unknown drives",
        {"workload.node": "g6e.48xlarge", "restart.classes": ({"share": 1.0, "reads_from": "local"},)},
        "warning", "restart.classes", ("How long reading from local takes is not known",),
    ),
    Kind(
        "nothing left for readers",
        {"storage.tier": "p2-500-12000", "storage.read_efficiency": 0.5, "shared.load_bytes_per_s": 3.5e9},
        "error", "shared.load_bytes_per_s", ("gives to readers (3 GB/s)", "nothing is left for a restart"),
    ),
    Kind(
        "EFA connections", {"storage.tier": "p2-1000-33600-efa", "workload.nodes": 65},
        "warning", "datapath.efa_connections", ("65 nodes with 16", "1,040 connections", "takes 1,024", "use 15 at most"),
    ),
    Kind(
        "more nodes than EFA connections", {"storage.tier": "p2-1000-33600-efa", "workload.nodes": 1025},
        "warning", "datapath.efa_connections", ("16,400 connections", "use none of them, TCP instead at most"),
    ),
    Kind(
        "a ceiling that is not known", {"workload.node": "p5.48xlarge"},
        "info", "datapath.ena_bytes_per_s", ("Not known of p5.48xlarge", "network card", "Type it"),
    ),
    Kind(
        "host memory not known", {"workload.node": "dgx-b300"},
        "info", "memory.ram_bytes", ("host memory of DGX B300 is not known",),
    ),
    Kind(
        "a second save in memory", ROUND | {"memory.ram_bytes": 150e9},
        "error", "memory.writes_in_flight", ("200 GB are needed, a node has 150 GB", "One save in memory at a time fits"),
    ),
    Kind(
        "whole copies in memory", ROUND | {"memory.staging": "whole", "memory.ram_bytes": 2e12},
        "error", "memory.staging", ("16 TB are needed", "stage its own share"),
    ),
    Kind(
        "too much beside the saves", ROUND | {"memory.ram_disk_bytes": 400e9, "memory.ram_bytes": 300e9},
        "error", "memory.ram_disk_bytes", ("600 GB are needed", "largest part: RAM disk, 400 GB"),
    ),
    Kind(
        "saves that fall together", FIXED | saves(to="shared", bytes=600e9),
        "warning", "saves", ("fall together 7.81 GB/s", "sustains 6 GB/s"),  # 5.81 + 600 GB / 300 s
    ),
    Kind(
        "one writer", FIXED | saves(to="shared", bytes=794e9, writer="single"),
        "info", "saves", ("export has one writer", "3.12 GB/s to 5 servers", "4 min 14 s", "1.32 GB/s are needed", "10 min"),
    ),
    Kind(
        "one writer, too slow", FIXED | saves(to="shared", bytes=2e12, writer="single"),
        "warning", "saves", ("10 min 40 s at best", "3.33 GB/s are needed"),
    ),
    Kind(
        "what lies in S3", {"run.days": 90.0, "saves": ({"kind": "permanent", "every_s": DAY, "to": "s3"},)},
        "info", "saves", ("157 TB lie in S3", "90 permanent saves", "$3,607 a month"),
    ),
    Kind(
        "what lies in S3 without a price", saves(bytes=1e12) | {"prices.s3_usd_per_gb_month": None},
        "info", "saves", ("1 TB lie in S3", "price unknown"),
    ),
    Kind(
        "no price of S3", saves() | {"prices.s3_usd_per_gb_month": None},
        "warning", "prices.s3_usd_per_gb_month", ("No price of S3", "type it"),
    ),
    Kind(
        "too many parts", saves(bytes=794e9, writer="single") | {"datapath.s3_part_bytes": 8 * 2.0**20},
        "error", "datapath.s3_part_bytes", ("794 GB", "more than 10,000 parts of 8.39 MB", "79.4 MB or more fit"),
    ),
    Kind(
        "other saves stop training", saves(stop_s=0.06 * DAY),
        "warning", "saves", ("stop training for 6 % of the time",),
    ),
    Kind(
        "other saves leave no time", saves(stop_s=2 * DAY),
        "error", "saves", ("stop training for 100 % of the time",),
    ),
    Kind(
        "planned stops", DAILY, "info", "planned.every_s", ("1.37 %", "last save before one takes 4 min 50 s"),
    ),
    Kind(
        "planned stops with notice", DAILY | {"planned.notice_s": 600.0},
        "info", "planned.notice_s", ("1.37 %", "4 min 50 s of 10 min notice"),
    ),
    Kind(
        "planned stops with too little notice", DAILY | {"planned.notice_s": 120.0, "storage.interval_s": 3000.0},
        "warning", "planned.notice_s", ("takes 4 min 50 s", "notice is 2 min", "loses 30 min 5 s", "3.12 %"),  # 1500 + 305 s
    ),
    Kind(
        "planned stops sooner than a restart", {"planned.every_s": 800.0},
        "error", "planned.every_s", ("no progress", "a restart takes (14 min 50 s)"),
    ),
    Kind(
        "shares of classes", {"restart.classes": ({"share": 0.5}, {"share": 0.3})},
        "error", "restart.classes", ("sum to 80 %", "must sum to 100 %"),
    ),
    Kind(
        "classes that read copies that nobody keeps",
        {"restart.classes": ({"share": 0.5, "reads_from": "replica"}, {"share": 0.5, "reads_from": "local"})},
        "warning", "restart.classes", ("reads from local, replica", "set the number of copies"),
    ),
    Kind(
        "jobs on one file system", {"shared.jobs": 4},
        "info", "shared.jobs", ("Of 4 jobs 2 write at once", "11.6 GB/s in all"),  # ppf(0.95, 4, 300 s / 44.7 min) = 2
    ),
    Kind(
        "others take everything", FIXED | {"shared.load_bytes_per_s": 6e9},
        "error", "shared.load_bytes_per_s", ("all that the file system sustains (6 GB/s)", "nothing is left"),
    ),
    Kind(
        "zones without a price", {"network.same_zone": False},
        "warning", "prices.cross_zone_usd_per_gb", ("1.71 PB cross zones in a month", "type it"),
    ),
    Kind(
        "zones", {"network.same_zone": False, "prices.cross_zone_usd_per_gb": 0.01},
        "info", "network.same_zone", ("1.71 PB cross zones in a month: $17.1k",),
    ),
    Kind(
        "spares without a price", {"spares.nodes": 2, "prices.node_usd_per_h": None},
        "warning", "prices.node_usd_per_h", ("idle spare nodes cost is not known", "type a node price"),
    ),
    Kind("spares for nothing", {"spares.nodes": 1}, "info", "spares.wait_s", ("stand idle", "type how long")),
    Kind(
        "a spare that pays", {"spares.wait_s": 12 * HOUR},
        "info", "spares.nodes", ("With 0 spare", "none left with 100 %", "waits 12 h", "one more spare pays", "6 h 15 min"),
    ),
    Kind(
        "a spare that does not", {"spares.nodes": 1, "spares.wait_s": 10 * HOUR},
        "info", "spares.nodes", ("With 1 spare nodes", "4.9 %", "one more spare does not pay"),  # 1 - exp(-10/200)
    ),
]  # fmt: skip


@pytest.mark.parametrize("kind", KINDS, ids=[kind.name for kind in KINDS])
def test_a_finding_points_at_its_field_and_says_what_would_do(kind: Kind) -> None:
    said = at(evaluate(scenario(kind.changes)).findings, kind.severity, kind.path)
    missing = {sentence: [word for word in kind.words if word not in sentence] for sentence in said}
    assert any(not words for words in missing.values()), missing


CHANGED = [kind for kind in KINDS if kind.changes]


@pytest.mark.parametrize("kind", CHANGED, ids=[kind.name for kind in CHANGED])
def test_the_default_plan_gives_no_such_finding(kind: Kind) -> None:
    said = at(evaluate(Scenario()).findings, kind.severity, kind.path)
    assert not [sentence for sentence in said if all(word in sentence for word in kind.words)]


def test_every_kind_of_sentence_is_tested_here() -> None:
    """The templates that the kinds above call for, and the half sentences put into them, are all that node_checks.py has."""
    calls = [node for node in ast.walk(ast.parse(inspect.getsource(node_checks))) if isinstance(node, ast.Call)]
    named = [(call.func.id, call) for call in calls if isinstance(call.func, ast.Name)]
    templates = {
        next(part.value for part in call.args[place:] if isinstance(part, ast.Constant))
        for name, place in (("_say", 2), ("text", 0))
        for called, call in named
        if called == name and any(isinstance(part, ast.Constant) for part in call.args[place:])
    }
    findings = [finding for kind in KINDS for finding in evaluate(scenario(kind.changes)).findings]
    said = {finding.text.template for finding in findings}
    said |= {part.template for finding in findings for _, part in finding.text.values if not isinstance(part, str)}
    assert templates - said <= {"the copy", "for all nodes"}  # stands in where no hop of the copy has a load


@pytest.mark.parametrize("kind", KINDS, ids=[kind.name for kind in KINDS])
def test_sentences_are_sentences(kind: Kind) -> None:
    for finding in evaluate(scenario(kind.changes)).findings:
        sentence = plain(finding)
        assert sentence[0].isupper() or sentence[0].isdigit() or sentence[0] == "$"
        assert sentence.endswith((".", "?"))
        for broken in ("{", "None", "nan", "inf ", "..", " ,"):
            assert broken not in sentence


@pytest.mark.parametrize(
    "changes",
    [
        {"storage.blocking_s": 0.13},  # above the 0.12 s of the copy, below ten times that
        SYNC | {"storage.write_s": 600.0},
        {"workload.nodes": 64, "storage.tier": "p2-1000-33600-efa", "storage.blocking_s": 0.5},
        FIXED | saves(to="shared", bytes=50e9) | {"storage.blocking_s": 0.5},  # 5.81 + 0.17 GB/s of 6
    ],
)
def test_what_is_in_order_is_met_with_silence(changes: dict[str, Any]) -> None:
    paths = {finding.path for finding in evaluate(scenario(changes)).findings}
    assert paths.isdisjoint({"storage.blocking_s", "datapath.efa_connections", "saves", "storage.write_s"})


# ---------------------------------------------------------------- the cure of a full file system


def cure(*changes: dict[str, Any]) -> str:
    said = at(evaluate(scenario(SMALL, OTHERS, *changes)).findings, "error", "shared.used_bytes")
    assert len(said) == 1
    return said[0]


def test_what_makes_room_beside_others() -> None:
    """4 x 53 GB = 197 GiB against 3 % of 4,800 GiB = 144 GiB: 57.4 GB are missing; a step is 2,400 GiB, 816 $ at 0.34 $."""
    said = cure()
    for words in ("4 generations need 197 GiB", "room for 144 GiB", "delete 57.4 GB", "add 2,400 GiB for $816 a month"):
        assert words in said
    assert "local drives, whose checkpoint dies with the node" in said


def test_a_cure_without_a_price_or_without_drives() -> None:
    unpriced = cure({"prices.storage_usd_per_gib_month.p2_500": None})
    assert "or add 2,400 GiB, or save" in unpriced
    no_drives = {"nvme_count": None, "nvme_bytes_each": None}
    assert "local drives" not in cure({"workload.node": scenario().workload.node.model_copy(update=no_drives)})


def test_storage_that_exists_cannot_be_added_to() -> None:
    custom = {"storage.custom": CustomStorage(usable_bytes=4800 * GIB), "storage.tier": "auto"}
    said = cure(custom)
    assert "delete 57.4 GB" in said
    assert "add" not in said


def test_a_share_that_may_be_filled_needs_more_room() -> None:
    """At most 0.9 full: 4,320 GiB less 4,656 of others is less than nothing, so 336 GiB and the generations are missing."""
    said = cure({"storage.max_fill": 0.9})
    assert "room for 0 GiB" in said
    missing = 4 * 53e9 + (0.97 - 0.9) * 4800 * GIB
    assert f"delete {missing / 1e9:.0f} GB" in said
