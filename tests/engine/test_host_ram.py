"""The ledger of host memory: what the most loaded node holds, against sums done by hand."""

from __future__ import annotations

from typing import Any

import pytest

from ckptplanner.engine.evaluate import evaluate
from ckptplanner.engine.node_plan import HostRam
from ckptplanner.engine.plan import Finding, Plan
from ckptplanner.units import DAY, GIB, HOUR
from tests.engine.build import SYNC, scenario

# 744 billion parameters at 14 B on 16 nodes: 10.416 TB, 651 GB a node
LARGE: dict[str, Any] = {"workload.total_params": 744e9, "workload.layout": "megatron-14", "workload.nodes": 16}
# 1 TB over 10 nodes of 8 GPUs, 100 GB a node; nothing else in memory
ROUND: dict[str, Any] = {"workload.measured_bytes": 1e12, "workload.nodes": 10, "memory.job_bytes": 0.0}
ONE: dict[str, Any] = {"memory.writes_in_flight": 1}
SINGLE: dict[str, Any] = {"workload.writer": "single"}


def ram_of(*changes: dict[str, Any]) -> HostRam:
    found = evaluate(scenario(*changes)).host_ram
    assert found is not None
    return found


def held(*changes: dict[str, Any]) -> dict[str, float]:
    return {item.id: item.held_bytes for item in ram_of(*changes).items}


def said(plan: Plan) -> list[Finding]:
    return [finding for finding in plan.findings if finding.message.startswith("Host memory does not hold it")]


# ---------------------------------------------------------------- fits or does not


def test_651_gb_a_node() -> None:
    assert held(LARGE)["being_written"] == pytest.approx(744e9 * 14 / 16) == pytest.approx(651e9)


def test_a_second_save_in_flight_does_not_fit_into_780_gb() -> None:
    """78 GB of the job (a tenth), 651 GB being written and as much again are 1,380 GB; with one save in flight 729 GB."""
    room = {"memory.ram_bytes": 780e9}
    two = evaluate(scenario(LARGE, room))
    assert [(finding.severity, finding.path) for finding in said(two)] == [("error", "memory.writes_in_flight")]
    message = said(two)[0].message
    assert "1.38" in message
    assert "780" in message
    assert "One save in memory at a time fits" in message
    assert "ring buffer" in message
    assert two.host_ram is not None
    assert two.host_ram.used_bytes == pytest.approx(78e9 + 2 * 651e9)
    assert two.host_ram.fill_ratio == pytest.approx((78e9 + 2 * 651e9) / 780e9)
    one = evaluate(scenario(LARGE, room, ONE))
    assert one.host_ram is not None
    assert one.host_ram.used_bytes == pytest.approx(729e9)
    assert said(one) == []


def test_exactly_full_fits() -> None:
    assert said(evaluate(scenario(ROUND, {"memory.ram_bytes": 200e9}))) == []
    assert len(said(evaluate(scenario(ROUND, {"memory.ram_bytes": 199e9})))) == 1


def test_the_cure_is_at_its_own_field() -> None:
    """One save at a time would not help against 800 GB of eight whole copies, nor against a large buffer."""
    whole = said(evaluate(scenario(ROUND, {"memory.staging": "whole", "memory.ram_bytes": 900e9})))
    assert [(finding.severity, finding.path) for finding in whole] == [("error", "memory.staging")]
    assert "stage its own share" in whole[0].message
    pinned = said(evaluate(scenario(ROUND, {"memory.pinned_bytes": 500e9, "memory.ram_bytes": 400e9})))
    assert [(finding.severity, finding.path) for finding in pinned] == [("error", "memory.pinned_bytes")]
    assert "pinned buffers, 500" in pinned[0].message


def test_memory_that_is_not_known_is_asked_for() -> None:
    plan = evaluate(scenario(workload={"node": "dgx-b200"}))
    assert plan.host_ram is not None
    assert (plan.host_ram.ram_bytes, plan.host_ram.fill_ratio) == (None, None)
    assert ("info", "memory.ram_bytes") in [(finding.severity, finding.path) for finding in plan.findings]
    assert said(plan) == []


def test_the_catalogs_memory_and_the_users() -> None:
    assert ram_of().ram_bytes == 4096 * GIB  # p6-b300
    assert ram_of({"memory.ram_bytes": 1e12}).ram_bytes == 1e12


def test_the_jobs_own_use_is_a_guess_of_a_tenth_until_it_is_typed() -> None:
    guess = next(item for item in ram_of({"memory.ram_bytes": 2e12}).items if item.id == "job")
    assert guess.is_guess
    assert guess.held_bytes == pytest.approx(200e9)
    typed = next(item for item in ram_of({"memory.job_bytes": 300e9}).items if item.id == "job")
    assert (typed.held_bytes, typed.is_guess) == (300e9, False)


# ---------------------------------------------------------------- what is held


def test_by_default_one_save_is_written_and_there_is_room_for_the_next() -> None:
    assert held(ROUND) == {"being_written": 100e9, "next": 100e9}
    assert held(ROUND, {"memory.writes_in_flight": 3}) == {"being_written": 100e9, "next": 200e9}
    assert held(ROUND, ONE) == {"being_written": 100e9}


def test_a_synchronous_save_holds_one() -> None:
    assert held(ROUND, SYNC) == {"being_written": 100e9}


def test_every_process_stages_all_of_it() -> None:
    """8 processes of a node with 1 TB each; one where a single writer gathers it."""
    whole = {"memory.staging": "whole"}
    assert held(ROUND, ONE, whole) == {"being_written": 8e12}
    assert held(ROUND, ONE, whole, SINGLE) == {"being_written": 1e12}


def test_a_single_writer_holds_the_whole_checkpoint() -> None:
    assert held(ROUND, ONE, SINGLE) == {"being_written": 1e12}


def test_staging_copies_multiply_each_save() -> None:
    assert held(ROUND, {"memory.staging_copies": 2}) == {"being_written": 200e9, "next": 200e9}


def test_the_most_loaded_node_counts() -> None:
    assert held(ROUND, ONE, {"datapath.writer_skew_ratio": 1.5}) == {"being_written": 150e9}


def test_pinned_buffers_and_a_ram_disk() -> None:
    found = held(ROUND, ONE, {"memory.pinned_bytes": 7e9, "memory.ram_disk_bytes": 64e9})
    assert found == {"pinned": 7e9, "ram_disk": 64e9, "being_written": 100e9}


def test_copies_of_peers() -> None:
    """F = 2: on the drives one more share passes through; in memory two generations of two shares, 2 F S/N."""
    assert held(ROUND, ONE, {"replication.factor": 2})["replicas"] == 100e9
    assert held(ROUND, ONE, {"replication.factor": 2, "replication.store": "ram"})["replicas"] == 400e9
    assert held(ROUND, ONE, {"replication.factor": 5, "replication.store": "ram"})["replicas"] == 1e12


def test_what_saves_leave_grows_until_the_next_restart() -> None:
    """Saves every 30 min, interrupted every 100 h, 1 GB each: 200 GB. A planned stop every day: 48 GB; a run of 12 h: 24."""
    often = {"storage.interval_s": 1800.0, "failures.mtbi_s": 100 * HOUR, "failures.mtbi_nodes": 10, "memory.growth_bytes": 1e9}
    assert held(ROUND, ONE, often)["growth"] == pytest.approx(200e9)
    assert held(ROUND, ONE, often, {"planned.every_s": DAY})["growth"] == pytest.approx(48e9)
    assert held(ROUND, ONE, often, {"run.days": 0.5})["growth"] == pytest.approx(24e9)


def test_an_export_by_one_writer_is_gathered_there() -> None:
    rows = ({"kind": "export", "bytes": 300e9, "writer": "single"}, {"kind": "evaluation", "bytes": 900e9})
    assert held(ROUND, ONE, {"saves": rows})["export"] == 300e9
    assert held(ROUND, ONE, {"saves": ({"kind": "export", "writer": "single"},)})["export"] == 1e12
    assert "export" not in held(ROUND, ONE, {"saves": rows[1:]})


def test_a_ring_buffer_takes_the_place_of_staging() -> None:
    assert held(ROUND, {"memory.ring_bytes": 20e9}) == {"ring": 20e9}
    assert held(ROUND, {"memory.ring_bytes": 500e9}) == {"ring": 100e9}


def test_the_sum_is_all_items() -> None:
    found = ram_of(
        ROUND,
        {
            "memory.job_bytes": 200e9,
            "memory.pinned_bytes": 7e9,
            "replication.factor": 2,
            "memory.staging_copies": 2,
            "workload.measured_bytes": 2e12,
        },
    )
    assert found.used_bytes == pytest.approx(200e9 + 7e9 + 2 * 2 * 200e9 + 200e9)
