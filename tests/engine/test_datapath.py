"""The way of the data: each hop's ceiling and load, which hop bounds a phase, and that the plan's own times agree with it."""

from __future__ import annotations

from typing import Any

import pytest

from ckptplanner.data import catalog
from ckptplanner.engine.datapath import near_read_s, ring_blocking_s
from ckptplanner.engine.evaluate import evaluate
from ckptplanner.engine.node_plan import DataPath, Hop, Phase
from ckptplanner.engine.plan import Plan, Schedule
from ckptplanner.engine.scenario import CustomStorage
from ckptplanner.engine.survival import tier_states
from ckptplanner.units import GBPS, HOUR
from tests.engine.build import INSTANT, SYNC, printed, scenario

S = 124.45e9 * 14
FIXED: dict[str, Any] = {"storage.tier": "p2-500-12000"}
EFA: dict[str, Any] = {"storage.tier": "p2-1000-33600-efa"}
SINGLE: dict[str, Any] = {"workload.writer": "single", "storage.pace": "full"}
SLOW = 1e6  # below every ceiling of the catalog


def path_of(plan: Plan) -> DataPath:
    assert plan.datapath is not None
    return plan.datapath


def phase_of(name: str, *changes: dict[str, Any]) -> Phase:
    return path_of(evaluate(scenario(*changes))).phase(name)


def hop_of(phase: Phase, hop_id: str) -> Hop:
    found = phase.hop(hop_id)
    assert found is not None, [hop.id for hop in phase.hops]
    return found


def ceiling(phase: Phase, hop_id: str) -> float:
    rate = hop_of(phase, hop_id).ceiling_bytes_per_s
    assert rate is not None
    return rate


def schedule_of(plan: Plan) -> Schedule:
    assert plan.schedule is not None
    return plan.schedule


def paths_said(plan: Plan, severity: str) -> set[str]:
    return {finding.path for finding in plan.findings if finding.severity == severity}


# ---------------------------------------------------------------- copies to host memory

FIFTY_FOUR_GB: dict[str, Any] = {"workload.measured_bytes": 54e9 * 32}


@pytest.mark.parametrize(("pinned", "rate", "seconds"), [(True, 56.9e9, "0.12"), (False, 3.5e9, "1.9")])
def test_the_published_copy_of_54_gb_a_node(pinned: bool, rate: float, seconds: str) -> None:
    """54 GB over 8 GPUs are 6.75 GB each: 0.12 s at 56.9 GB/s, pinned over PCIe 5.0; 1.9 s at 3.5 GB/s, pageable."""
    phase = phase_of("snapshot", FIFTY_FOUR_GB, {"datapath.pinned": pinned})
    assert phase.bottleneck == "copy"
    assert phase.seconds == pytest.approx(54e9 / 8 / rate)
    assert phase.seconds is not None
    assert printed(phase.seconds, seconds) == seconds


def test_the_detail_says_why_published_copies_take_seconds() -> None:
    """The 5 s of the plan are more than ten times the 0.12 s of the link; half a second is not."""
    detail = str(phase_of("snapshot", FIFTY_FOUR_GB).detail)
    assert "pageable or being allocated" in detail
    assert "small" in detail
    assert "1.35" in detail  # 54 GB / 8 / 5 s
    assert "pageable" not in str(phase_of("snapshot", FIFTY_FOUR_GB, {"storage.blocking_s": 0.5}).detail)
    assert "pageable" not in str(phase_of("snapshot", FIFTY_FOUR_GB, SYNC).detail)


def test_one_gpu_copies_for_a_single_writer() -> None:
    phase = phase_of("snapshot", {"workload.writer": "single", "workload.measured_bytes": 569e9})
    assert phase.seconds == pytest.approx(569e9 / 56.9e9)
    assert phase.bytes_per_node == 569e9


def test_the_most_loaded_writer_sets_the_pace() -> None:
    even, skewed = (phase_of("snapshot", {"datapath.writer_skew_ratio": ratio}) for ratio in (1.0, 3.0))
    assert even.seconds is not None
    assert skewed.seconds == pytest.approx(3 * even.seconds)


# ---------------------------------------------------------------- the file system over TCP


def test_three_servers_of_500_mb_per_s_per_tib() -> None:
    """7,200 GiB / 2,400 are 3 servers; 7,200 / 1,000 x 500 MB/s = 3.6 GB/s of disk; 3 x 5 Gbps = 1.875 GB/s a client."""
    plan = evaluate(scenario(SINGLE, {"storage.tier": "p2-500-7200"}))
    phase = path_of(plan).phase("shared_write")
    assert plan.storage.chosen is not None
    assert plan.storage.chosen.servers == 3
    assert ceiling(phase, "disks") == pytest.approx(3.6e9)
    assert ceiling(phase, "connections") == pytest.approx(1.875e9)
    assert ceiling(phase, "client") == pytest.approx(100 * GBPS)
    assert phase.bottleneck == "connections"
    assert phase.seconds == pytest.approx(S / 1.875e9)
    full = [hop.id for hop in phase.hops if (hop.use_ratio or 0.0) > 0.999]
    assert full == ["connections"]


def test_the_network_of_the_servers() -> None:
    """1,300 MB/s/TiB at the tier of 500: 12,000 GiB carry 15.6 GB/s."""
    assert ceiling(phase_of("shared_write", FIXED), "servers_network") == pytest.approx(15.6e9)


def test_the_load_of_the_disks_is_what_storage_must_sustain() -> None:
    """With a fixed time per save the bytes flow in what is left: S / (300 - 60)."""
    plan = evaluate(scenario(FIXED, {"storage.latency_s": 60.0, "storage.write_s": 360.0}))
    load = hop_of(path_of(plan).phase("shared_write"), "disks").load_bytes_per_s
    assert load == pytest.approx(S / 300)
    assert load == pytest.approx(plan.storage.required_write_bytes_per_s)


@pytest.mark.parametrize(
    ("tier", "node", "gbps"),
    [
        ("p2-500-72000", "p6-b300.48xlarge", 100),
        ("p2-1000-33600-efa", "p6-b300.48xlarge", 700),
        ("p2-1000-33600-efa", "p5.48xlarge", 1200),
        ("p2-500-72000", "p5.48xlarge", 100),
    ],
)
def test_what_one_client_may_exchange(tier: str, node: str, gbps: float) -> None:
    phase = phase_of("shared_write", {"storage.tier": tier, "workload.node": node})
    assert ceiling(phase, "client") == pytest.approx(gbps * GBPS)


@pytest.mark.parametrize(("where", "gbps"), [("outside", 5), ("placement", 10), ("ena_express", 25)])
def test_one_tcp_flow(where: str, gbps: float) -> None:
    changes = {"storage.custom": INSTANT, "storage.pace": "full", "datapath.tcp_flows": 2, "datapath.tcp_flow": where}
    phase = phase_of("shared_write", changes)
    assert phase.bottleneck == "flows"
    assert ceiling(phase, "flows") == pytest.approx(2 * gbps * GBPS)
    assert phase.seconds == pytest.approx(S / 32 / (2 * gbps * GBPS))


def test_efa_connections_of_a_file_system() -> None:
    """16 interfaces a node: 64 nodes use all 1,024 connections, 65 want 1,040, and 15 a node would fit."""
    fits, too_many = (evaluate(scenario(EFA, {"workload.nodes": nodes})) for nodes in (64, 65))
    assert "datapath.efa_connections" not in paths_said(fits, "warning")
    said = [finding.message for finding in too_many.findings if finding.path == "datapath.efa_connections"]
    assert len(said) == 1
    assert "1,040" in said[0]
    assert "use 15 at most" in said[0]
    over_tcp = evaluate(scenario(FIXED, {"workload.nodes": 65}))
    assert "datapath.efa_connections" not in paths_said(over_tcp, "warning")


# ---------------------------------------------------------------- S3


def test_s3_over_many_connections() -> None:
    """25 connections of 50 MB/s carry 1.25 GB/s a node."""
    phase = phase_of("s3_write")
    assert phase.bottleneck == "s3_connections"
    assert phase.seconds == pytest.approx(S / 32 / 1.25e9)
    assert phase_of("s3_write", {"datapath.s3_connections": 100}).seconds == pytest.approx(S / 32 / 5e9)


def test_a_flow_slower_than_a_connection_counts() -> None:
    """One connection of 2 GB/s is one TCP flow of 5 Gbps."""
    phase = phase_of("s3_write", {"datapath.s3_connection_bytes_per_s": 2e9, "datapath.s3_connections": 4})
    assert ceiling(phase, "s3_connections") == pytest.approx(4 * 0.625e9)


def exports(**row: Any) -> dict[str, Any]:
    return {"saves": ({"kind": "export", "every_s": 86_400.0, "keep": 1, "to": "s3", **row},)}


def test_one_writer_uploads_all_of_it() -> None:
    """794 GB at 1.25 GB/s are 635.2 s; 10,000 parts of 79.4 MB."""
    plan = evaluate(scenario(exports(bytes=794e9, writer="single")))
    phase = path_of(plan).phase("s3_write")
    assert phase.seconds == pytest.approx(635.2)
    assert phase.bytes_per_node == 794e9
    assert "79.4" in str(hop_of(phase, "s3_connections").note)
    assert plan.beyond is not None
    assert plan.beyond.saves[0].writes_in_s == pytest.approx(635.2)


def test_the_largest_upload_of_a_node_is_shown() -> None:
    """A shard of 1/32 of 1.74 TB is less than 100 GB of one writer."""
    rows = exports(bytes=100e9, writer="single")["saves"] + exports(writer="sharded")["saves"]
    assert phase_of("s3_write", {"saves": rows}).bytes_per_node == 100e9


@pytest.mark.parametrize(("size", "refused"), [(83.8e9, False), (83.9e9, True)])
def test_10_000_parts(size: float, refused: bool) -> None:
    """10,000 parts of 8 MiB hold 83.886 GB."""
    part = {"datapath.s3_part_bytes": 8 * 2.0**20}
    plan = evaluate(scenario(exports(bytes=size, writer="single"), part))
    assert ("datapath.s3_part_bytes" in paths_said(plan, "error")) is refused
    shared_out = evaluate(scenario(exports(bytes=size * 256, writer="sharded"), part))
    assert ("datapath.s3_part_bytes" in paths_said(shared_out, "error")) is refused


def test_small_shards_take_parts_of_8_mib() -> None:
    """1.74 TB over 256 GPUs are 6.8 GB each: 10,000 parts would be of 0.7 MB."""
    assert "8.39" in str(hop_of(phase_of("s3_write"), "s3_connections").note)


# ---------------------------------------------------------------- the user's own ceilings

OVERRIDES: list[tuple[str, str, str, float, dict[str, Any]]] = [
    ("hbm_bytes_per_s", "snapshot", "hbm", 8, {}),
    ("copy_bytes_per_s", "snapshot", "copy", 8, {}),
    ("link_bytes_per_s", "snapshot", "link", 8, {}),
    ("memory_bytes_per_s", "snapshot", "memory", 1, {}),
    ("memory_bytes_per_s", "shared_write", "memory", 1, FIXED),
    ("nvme_write_bytes_per_s", "local_write", "nvme", 1, {}),
    ("nvme_write_bytes_per_s", "gds_write", "nvme", 1, {}),
    ("nvme_write_bytes_per_s", "replicate", "nvme", 1, {"replication.factor": 2}),
    ("nvme_read_bytes_per_s", "restore_local", "nvme", 1, {}),
    ("nvme_read_bytes_per_s", "restore_replica", "peer_nvme", 1, {}),
    ("ena_bytes_per_s", "shared_write", "ena", 1, FIXED),
    ("ena_bytes_per_s", "s3_write", "ena", 1, {}),
    ("efa_bytes_per_s", "shared_write", "efa", 1, EFA),
    ("efa_bytes_per_s", "replicate", "efa", 1, {"replication.factor": 2}),
    ("client_bytes_per_s", "shared_write", "client", 1, FIXED),
    ("client_bytes_per_s", "shared_write", "client", 1, {"storage.custom": INSTANT}),
    ("client_bytes_per_s", "restore_shared", "client", 1, FIXED),
    ("servers_bytes_per_s", "shared_write", "servers_network", 1, FIXED),
    ("servers_bytes_per_s", "restore_shared", "servers_network", 1, FIXED),
    ("s3_connection_bytes_per_s", "s3_write", "s3_connections", 25, {}),
]


@pytest.mark.parametrize(
    ("name", "phase_name", "hop_id", "count", "changes"), OVERRIDES, ids=[f"{one[0]}-{one[1]}" for one in OVERRIDES]
)
def test_an_own_ceiling_reaches_its_hop_and_can_bound_it(
    name: str, phase_name: str, hop_id: str, count: float, changes: dict[str, Any]
) -> None:
    before = phase_of(phase_name, changes).hop(hop_id)
    assert before is None or before.kind != "typed"
    after = phase_of(phase_name, changes, {f"datapath.{name}": SLOW})
    hop = hop_of(after, hop_id)
    assert (hop.kind, hop.ceiling_bytes_per_s, hop.path) == ("typed", SLOW * count, f"datapath.{name}")
    assert after.bottleneck == hop_id
    passing = {"replicate": 2, "restore_replica": 2}.get(phase_name, 1) if "nvme" in hop_id else 1
    total = S if hop.is_shared else S / 32 * passing
    assert after.seconds == pytest.approx(total / (SLOW * count))


def test_every_rate_of_the_datapath_is_tested_above() -> None:
    rates = {name for name in type(scenario().datapath).model_fields if name.endswith("_bytes_per_s")}
    assert rates == {one[0] for one in OVERRIDES}


@pytest.mark.parametrize(
    ("name", "severity", "path"),
    [
        ("servers_bytes_per_s", "warning", "datapath.servers_bytes_per_s"),
        ("ena_bytes_per_s", "error", "storage.tier"),
        ("memory_bytes_per_s", "error", "storage.tier"),
        ("client_bytes_per_s", "error", "storage.tier"),
    ],
)
def test_a_way_too_slow_for_the_write_time_is_said(name: str, severity: str, path: str) -> None:
    """32 nodes at 1 MB/s, or the servers at 1 MB/s in all, do not write 1.74 TB in 5 minutes."""
    plan = evaluate(scenario(FIXED, {f"datapath.{name}": SLOW}))
    assert path in paths_said(plan, severity)


def test_the_ceiling_of_a_file_wins_over_the_catalogs() -> None:
    rows = tuple(
        row.model_copy(update={"rate_bytes_per_s": 10e9}) if row.id == "copy-pinned-5" else row for row in catalog.ceilings()
    )
    phase = phase_of("snapshot", {"datapath.ceilings": rows})
    assert hop_of(phase, "copy").ceiling_bytes_per_s == 80e9
    assert phase.seconds == pytest.approx(S / 32 / 80e9)


# ---------------------------------------------------------------- what a hop counts


@pytest.mark.parametrize("changes", [FIXED, EFA, {"storage.custom": CustomStorage()}], ids=["tcp", "efa", "custom"])
def test_twice_the_nodes_halve_the_load_of_each_and_leave_what_they_share(changes: dict[str, Any]) -> None:
    few = phase_of("shared_write", changes, {"workload.nodes": 32})
    many = phase_of("shared_write", changes, {"workload.nodes": 64})
    assert [hop.id for hop in few.hops] == [hop.id for hop in many.hops]
    for one, other in zip(few.hops, many.hops, strict=True):
        assert one.load_bytes_per_s is not None
        assert other.load_bytes_per_s == pytest.approx(one.load_bytes_per_s / (1 if one.is_shared else 2)), one.id
    assert {hop.id for hop in few.hops if hop.is_shared} <= {"servers_network", "disks", "storage"}
    assert few.hops[-1].is_shared


CASES: dict[str, dict[str, Any]] = {
    "default": {},
    "20 min": {"storage.write_s": 1200.0},
    "full pace": FIXED | {"storage.pace": "full"},
    "EFA": EFA,
    "EFA of 125": {"storage.tier": "p2-125-38400-efa"},
    "EFA on a node with one card": EFA | {"workload.node": "g6e.12xlarge", "workload.nodes": 2},
    "EFA off above 10 GB/s": {"storage.efa": "off", "storage.write_s": 120.0},
    "single writer": SINGLE | FIXED,
    "single writer over EFA": SINGLE | EFA,
    "single writer, GPUDirect Storage": SINGLE | EFA | {"workload.node": "p5.48xlarge"},
    "skew": SINGLE | FIXED | {"workload.writer": "sharded", "workload.nodes": 4, "datapath.writer_skew_ratio": 3.0},
    "few nodes": FIXED | {"storage.pace": "full", "workload.nodes": 1},
    "custom": {"storage.custom": CustomStorage(write_bytes_per_s=5e9, read_bytes_per_s=9e9), "storage.write_s": 600.0},
    "custom, flows": {"storage.custom": CustomStorage(), "datapath.tcp_flows": 1, "storage.pace": "full"},
    "custom, client": {"storage.custom": CustomStorage(), "datapath.client_bytes_per_s": 1e9, "storage.pace": "full"},
    "load of others": {"shared.load_bytes_per_s": 1e9},
    "load of others, custom": {"storage.custom": CustomStorage(), "shared.load_bytes_per_s": 10e9},
    "other jobs": {"shared.jobs": 5},
    "other jobs, restart efficiency": {"shared.jobs": 3, "storage.read_efficiency": 0.5},
    "efficiencies": {"storage.write_efficiency": 0.8, "storage.read_efficiency": 0.7},
    "load and efficiencies": {
        "storage.write_efficiency": 0.8,
        "storage.read_efficiency": 0.7,
        "shared.load_bytes_per_s": 1e9,
    },
    "4 copies": {"restore.copies": 4},
    "256 copies": {"restore.copies": 256},
    "4 copies, few nodes": FIXED | {"restore.copies": 4, "workload.nodes": 1, "storage.pace": "full"},
    "fixed time": {"storage.latency_s": 30.0},
    "fixed time, full pace": FIXED | {"storage.latency_s": 30.0, "storage.pace": "full"},
    "own client limit": FIXED | {"datapath.client_bytes_per_s": 0.1e9, "storage.pace": "full"},
    "own card": FIXED | {"datapath.ena_bytes_per_s": 0.1e9, "storage.pace": "full"},
    "sync": SYNC | {"storage.write_s": 60.0},
    "DGX": {"workload.node": "dgx-h100", "storage.custom": CustomStorage()},
}


@pytest.mark.parametrize("changes", CASES.values(), ids=CASES)
def test_the_plans_times_are_those_of_the_data_path(changes: dict[str, Any]) -> None:
    plan = evaluate(scenario(changes))
    schedule, path = schedule_of(plan), path_of(plan)
    write, read = path.phase("shared_write"), path.phase("restore_shared")
    bounds = {"disks", "storage", "connections", "client", "ena", "efa", "flows"}
    assert write.bottleneck in bounds
    assert write.seconds == pytest.approx(schedule.writes_in_s)
    assert path.reachable_write_s == write.seconds
    assert read.bottleneck in bounds
    assert read.seconds == pytest.approx(schedule.restore_read_s)


def test_the_cases_above_are_bound_by_all_kinds_of_hops() -> None:
    found = {phase_of("shared_write", changes).bottleneck for changes in CASES.values()}
    assert found >= {"disks", "storage", "connections", "client", "efa", "flows", "ena"}


# ---------------------------------------------------------------- what is not known


@pytest.mark.parametrize(
    ("node", "changes", "phase", "hop", "path"),
    [
        ("g6e.48xlarge", {"replication.factor": 2}, "replicate", "nvme", "datapath.nvme_write_bytes_per_s"),
        ("g6e.48xlarge", {"replication.factor": 2}, "restore_local", "nvme", "datapath.nvme_read_bytes_per_s"),
        ("dgx-b300", {}, "snapshot", "link", "datapath.link_bytes_per_s"),
        ("dgx-b300", {}, "snapshot", "copy", "datapath.copy_bytes_per_s"),
        ("trn1.32xlarge", {}, "snapshot", "hbm", "datapath.hbm_bytes_per_s"),
        ("trn2.48xlarge", {}, "snapshot", "memory", "datapath.memory_bytes_per_s"),
        ("p5.48xlarge", FIXED, "shared_write", "ena", "datapath.ena_bytes_per_s"),
        ("dgx-b200", FIXED, "shared_write", "ena", "datapath.ena_bytes_per_s"),
    ],
)
def test_what_is_not_known_is_said_and_not_made_up(node: str, changes: dict[str, Any], phase: str, hop: str, path: str) -> None:
    plan = evaluate(scenario(changes, {"workload.node": node}))
    found = hop_of(path_of(plan).phase(phase), hop)
    assert (found.ceiling_bytes_per_s, found.use_ratio, found.path) == (None, None, path)
    assert path in paths_said(plan, "info")
    typed = evaluate(scenario(changes, {"workload.node": node, path: 123e9}))
    assert path not in paths_said(typed, "info")


def test_a_way_without_a_known_ceiling_has_no_time() -> None:
    plan = evaluate(scenario(workload={"node": "trn1.32xlarge"}))
    phase = path_of(plan).phase("snapshot")
    assert (phase.seconds, phase.bottleneck, phase.limit) == (None, None, None)
    assert path_of(plan).reachable_blocking_s is None
    assert "Type one" in str(phase.detail)


# ---------------------------------------------------------------- the ring buffer


def simulated_stop_s(share: float, ring: float, copy: float, drain: float, steps: int = 20_000) -> float:
    """Step by step: the copy brings what the buffer has room for, the drives take what is in it."""
    step = max(share / copy, share / drain) / steps
    copied = held = now = 0.0
    while copied < share * (1 - 1e-12):
        taken = min(copy * step, share - copied, ring - held + drain * step)
        copied += taken
        held = max(held + taken - drain * step, 0.0)
        now += step
    return now


@pytest.mark.parametrize(
    ("share", "ring", "copy", "drain"),
    [
        (100e9, 20e9, 50e9, 10e9),  # the drives: (100 - 20) / 10 = 8 s
        (100e9, 95e9, 50e9, 10e9),  # the buffer never fills: 100 / 50 = 2 s
        (100e9, 200e9, 50e9, 10e9),  # more buffer than there is to save
        (100e9, 1e9, 5e9, 10e9),  # the drives are faster than the copy: 20 s
        (54e9, 30e9, 455e9, 9.01e9),
    ],
)
def test_the_stop_through_a_ring_buffer(share: float, ring: float, copy: float, drain: float) -> None:
    made = scenario({"memory.ring_bytes": ring, "datapath.nvme_write_bytes_per_s": drain})
    stop = ring_blocking_s(made, share, share / copy)
    assert stop == pytest.approx(max(share / copy, (share - ring) / drain))
    assert stop == pytest.approx(simulated_stop_s(share, ring, copy, drain), rel=1e-3)


def test_without_a_ring_buffer_the_copy_is_the_stop() -> None:
    assert ring_blocking_s(scenario(), 1e9, 1.0) is None
    path = path_of(evaluate(scenario()))
    assert path.reachable_blocking_s == path.phase("snapshot").seconds


def test_a_ring_buffer_uses_the_drives_and_sets_the_stop() -> None:
    """54 GB through 30 GB: 24 GB must drain at 9.0112 GB/s, 2.66 s."""
    plan = evaluate(scenario(FIFTY_FOUR_GB, {"memory.ring_bytes": 30e9}))
    assert path_of(plan).phase("local_write").is_used
    assert path_of(plan).reachable_blocking_s == pytest.approx(24e9 / 9.0112e9)
    assert path_of(plan).ring_blocking_s == path_of(plan).reachable_blocking_s
    assert plan.host_ram is not None
    assert plan.host_ram.ring_drain_bytes_per_s == pytest.approx(9.0112e9)


# ---------------------------------------------------------------- copies on other nodes


def test_the_stop_with_copies_is_the_exchange_and_all_copies() -> None:
    """F = 2: 54 GB over 800 GB/s of cards, then 108 GB over 455.2 GB/s of copies."""
    plan = evaluate(scenario(FIFTY_FOUR_GB, {"replication.factor": 2}))
    assert path_of(plan).reachable_blocking_s == pytest.approx(54e9 / 800e9 + 108e9 / (8 * 56.9e9))
    phase = path_of(plan).phase("replicate")
    assert phase.bottleneck == "nvme"
    assert phase.seconds == pytest.approx(108e9 / 9.0112e9)


def test_copies_in_the_background_stop_training_for_the_snapshot_only() -> None:
    plan = evaluate(scenario(FIFTY_FOUR_GB, {"replication.factor": 2, "replication.exchange": "background"}))
    path = path_of(plan)
    assert path.reachable_blocking_s == path.phase("snapshot").seconds
    assert "hbm" not in [hop.id for hop in path.phase("replicate").hops]


def test_a_replica_is_read_from_drives_that_serve_their_own_node_too() -> None:
    """Two shards of 54 GB at 18.0224 GB/s."""
    assert phase_of("restore_replica", FIFTY_FOUR_GB).seconds == pytest.approx(2 * 54e9 / 18.0224e9)
    assert phase_of("restore_local", FIFTY_FOUR_GB).seconds == pytest.approx(54e9 / 18.0224e9)


# ---------------------------------------------------------------- every node of the catalog

PHASES = [
    "snapshot", "local_write", "gds_write", "replicate", "shared_write", "s3_write",
    "restore_local", "restore_replica", "restore_shared",
]  # fmt: skip


@pytest.mark.parametrize("mode", ["async", "sync"])
@pytest.mark.parametrize("node", [row.id for row in catalog.nodes()])
def test_nine_phases_on_every_node(node: str, mode: str) -> None:
    gpus = catalog.node(node).gpus
    plan = evaluate(scenario(workload={"node": node, "gpus_per_node": gpus}, storage={"mode": mode}))
    phases = path_of(plan).phases
    assert [phase.name for phase in phases] == PHASES
    for phase in phases:
        assert (phase.seconds is None) == (phase.bottleneck is None)
        assert phase.bottleneck is None or phase.bottleneck in [hop.id for hop in phase.hops]
        assert len({hop.id for hop in phase.hops}) == len(phase.hops)
        known = [hop for hop in phase.hops if hop.ceiling_bytes_per_s is not None]
        assert (phase.seconds is None) == (not known)
        if phase.seconds is not None and phase.allowed_s is not None:
            fits = phase.seconds <= phase.allowed_s
            assert all((hop.use_ratio or 0.0) <= 1 + 1e-9 for hop in known) == fits
        if phase.limit is not None:
            assert phase.limit.use_ratio == max(hop.use_ratio or 0.0 for hop in known)
        assert str(phase.sentence).endswith(".")


def test_a_longer_interval_asks_less_of_the_local_drives() -> None:
    """What is written locally has the whole interval: 54 GB in 3 h are 5 MB/s."""
    phase = phase_of("local_write", FIFTY_FOUR_GB, {"storage.interval_s": 3 * HOUR})
    assert hop_of(phase, "nvme").load_bytes_per_s == pytest.approx(54e9 / (3 * HOUR))


# ---------------------------------------------------------------- what copies and peculiar nodes do to it


@pytest.mark.parametrize(
    "changes",
    [
        {"datapath.writer_skew_ratio": 10.0},
        {"workload.writer": "single"},
        {"workload.node": "g6e.12xlarge", "datapath.pinned": False, "datapath.ena_bytes_per_s": 1e12},
    ],
    ids=["skew", "single", "pageable without RDMA"],
)
def test_copies_never_shorten_the_stop(changes: dict[str, Any]) -> None:
    alone, copied = (path_of(evaluate(scenario(changes, {"replication.factor": factor}))) for factor in (1, 2))
    assert alone.reachable_blocking_s is not None
    assert copied.reachable_blocking_s is not None
    assert copied.reachable_blocking_s >= alone.reachable_blocking_s


@pytest.mark.parametrize("node", ["trn2.48xlarge", "trn2u.48xlarge", "p5.48xlarge"])
def test_a_card_that_nobody_names_is_not_known(node: str) -> None:
    assert hop_of(phase_of("shared_write", {"workload.node": node}), "ena").ceiling_bytes_per_s is None


@pytest.mark.parametrize("node", [row.id for row in catalog.nodes()])
@pytest.mark.parametrize("store", ["nvme", "ram"])
@pytest.mark.parametrize("place", ["local", "replica"])
def test_a_class_reads_like_the_phase_and_survive(node: str, store: str, place: str) -> None:
    """One way back, whoever asks: the phase less its drives where copies lie in memory."""
    changes = {"workload.node": node, "replication.store": store, "replication.factor": 2}
    plan = evaluate(scenario(changes))
    read = near_read_s(plan.scenario, plan.checkpoint.checkpoint_bytes, place)
    tier = {"local": "local_nvme" if store == "nvme" else "host_ram", "replica": "replica"}[place]
    assert read == next(state.read_s for state in tier_states(plan) if state.tier == tier)
    phase = path_of(plan).phase(f"restore_{place}")
    times = [hop.load_bytes_per_s * phase.seconds / hop.ceiling_bytes_per_s for hop in phase.hops
             if hop.ceiling_bytes_per_s and (store == "nvme" or "nvme" not in hop.id)] if phase.seconds else []  # fmt: skip
    drives = [hop for hop in phase.hops if "nvme" in hop.id]
    is_known = bool(times) and (store == "ram" or all(hop.ceiling_bytes_per_s for hop in drives))
    assert read == (pytest.approx(max(times)) if is_known else None)


def test_copies_behind_training_do_not_bound_the_stop() -> None:
    changes = {"workload.node": "g6e.12xlarge", "replication.factor": 2, "replication.exchange": "background"}
    said = [
        f.message for f in evaluate(scenario(changes, {"storage.blocking_s": 0.5})).findings if f.path == "storage.blocking_s"
    ]
    assert len(said) == 1
    assert "pinned copies" in said[0]


@pytest.mark.parametrize(("factor", "title"), [(1, "Local write"), (2, "Local write, no copies")])
def test_a_local_write_that_copies_make_says_so(factor: int, title: str) -> None:
    path = evaluate(scenario({"local.enabled": True, "replication.factor": factor})).datapath
    assert path is not None
    assert str(path.phase("local_write").title) == title
