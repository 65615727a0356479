"""What an event leaves: the matrix of tiers and events, the newest checkpoint, the clock and the sentences."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ckptplanner.engine.evaluate import evaluate
from ckptplanner.engine.node_plan import EVENTS, TIERS, Beyond, DataPath, Event, Hop, Phase, PhaseName, TierState
from ckptplanner.engine.operations import SaveRow
from ckptplanner.engine.plan import Plan
from ckptplanner.engine.replicas import replication_plan
from ckptplanner.engine.survival import newest_age_s, restart_tier, survive, tier_states
from ckptplanner.text import Text, text
from ckptplanner.units import NBSP
from tests.engine.build import STEADY, SYNC, scenario

TWO = {"replication.factor": 2}
RACKS = {**TWO, "replication.rack_nodes": 8}
IN_RAM = {**TWO, "replication.store": "ram"}
TO_S3: dict[str, Any] = {"saves": (SaveRow(),)}
TIMES: dict[PhaseName, float | None] = {
    "snapshot": 0.5, "replicate": 7.0, "restore_local": 3.0, "restore_replica": 6.0,
}  # fmt: skip


def phase(name: PhaseName, seconds: float | None) -> Phase:
    """Bounded by the drives, a guess; the link takes a tenth of the time and is documented."""
    drives = Hop(
        "nvme", text("drives"), "nvme", 1e10, 1e10, False, "assumed", "test", "2026-11", "datapath.nvme_read_bytes_per_s"
    )
    link = Hop("link", text("link"), "link", 1e11, 1e10, False, "documented", "test", "2026-11", "datapath.link_bytes_per_s")
    return Phase(name, text("some phase"), True, 1e9, seconds, None, "nvme", (drives, link), lambda: (text("a"), text("b")))


def plan_of(*changes: dict[str, Any], times: dict[PhaseName, float | None] | None = TIMES, **sections: dict[str, Any]) -> Plan:
    """The plan of the example with its replicas, and a data path of these times."""
    plan = evaluate(scenario(*changes, **sections))
    path = None if times is None else DataPath(tuple(phase(name, seconds) for name, seconds in times.items()), None, None)
    schedule = plan.schedule
    period = schedule.period_s if schedule else None
    made = replication_plan(plan.scenario, plan.checkpoint.checkpoint_bytes, period, 12.0, 6.0, 600.0)
    return replace(plan, replication=made, datapath=path)


def beyond(**known: float) -> Beyond:
    """What lies beyond the articles, all of it nothing but what is given."""
    given: dict[str, Any] = {**dict.fromkeys(one.name for one in fields(Beyond)), "saves": (), "mean_wait_s": 0.0, **known}
    return Beyond(**given)


def plain(words: Text | None) -> str:
    return str(words).replace(NBSP, " ")


# ---------------------------------------------------------------- the matrix


def rows(plan: Plan) -> dict[str, str]:
    """For each tier whether it survives the events in their order; capitals where it is used."""
    return {
        state.tier: "".join("yn"[not left].upper() if state.is_used else "yn"[not left] for left in state.survives)
        for state in tier_states(plan)
    }


def test_the_matrix_of_the_example() -> None:
    """Process restart, reboot, node, group, rack, cluster, planned stop."""
    assert rows(plan_of(RACKS)) == {
        "host_ram": "ynnnnnn", "local_nvme": "YYNNNNN", "replica": "YYYNNNN", "shared": "YYYYYYY", "s3": "yyyyyyy",
    }  # fmt: skip
    assert rows(plan_of(RACKS, {"replication.jump": 64}))["replica"] == "YYYNYNN"
    assert rows(plan_of(TWO, {"replication.jump": 4}))["replica"] == "YYNNNNN"
    assert rows(plan_of(IN_RAM, TO_S3)) == {
        "host_ram": "YNNNNNN", "local_nvme": "yynnnnn", "replica": "YYYNNNN", "shared": "YYYYYYY", "s3": "YYYYYYY",
    }  # fmt: skip
    assert rows(plan_of()) == {
        "host_ram": "ynnnnnn", "local_nvme": "yynnnnn", "replica": "yynnnnn", "shared": "YYYYYYY", "s3": "yyyyyyy",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "tiers"),
    [
        ({}, ["shared"] * 7),
        (TWO, ["local_nvme", "local_nvme", "replica", "shared", "shared", "shared", "shared"]),
        ({**RACKS, "replication.jump": 64}, ["local_nvme", "local_nvme", "replica", "shared", "replica", "shared", "shared"]),
        (IN_RAM, ["host_ram", "replica", "replica", "shared", "shared", "shared", "shared"]),
        ({**TWO, "workload.nodes": 31}, ["shared"] * 7),
        ({**TWO, "replication.jump": 4}, ["local_nvme", "local_nvme", "shared", "shared", "shared", "shared", "shared"]),
        ({**IN_RAM, "replication.jump": 4}, ["host_ram", "shared", "shared", "shared", "shared", "shared", "shared"]),
    ],
)
def test_where_training_restarts_from(changes: dict[str, Any], tiers: list[str]) -> None:
    plan = plan_of(changes)
    assert [restart_tier(plan, event) for event in EVENTS] == tiers
    assert [survive(plan, event).source for event in EVENTS] == tiers


SOME = st.fixed_dictionaries(
    {
        "workload.nodes": st.sampled_from((1, 2, 6, 31, 32)),
        "replication.factor": st.integers(1, 4),
        "replication.jump": st.sampled_from((None, 3, 4, 8, 12, 16, 64)),
        "replication.store": st.sampled_from(("nvme", "ram")),
        "replication.rack_nodes": st.sampled_from((None, 1, 4, 5, 64)),
    }
)


@settings(STEADY, max_examples=60)
@given(changes=SOME)
def test_the_matrix_and_the_story_of_an_event_agree(changes: dict[str, Any]) -> None:
    plan = plan_of(changes)
    states = tier_states(plan)
    assert tuple(state.tier for state in states) == TIERS
    for event in EVENTS:
        nearest = next((one.tier for one in states if one.is_used and one.survives[EVENTS.index(event)]), None)
        found = survive(plan, event)
        assert found.source == nearest == restart_tier(plan, event)
        assert "{" not in plain(found.sentence) + plain(found.detail)
        assert all((state.why_not is None) == state.is_used for state in states)


def state_of(plan: Plan, tier: str) -> TierState:
    return next(state for state in tier_states(plan) if state.tier == tier)


def test_why_a_tier_is_not_used() -> None:
    assert plain(state_of(plan_of(), "host_ram").why_not) == "the snapshot dies with the trainer"
    assert plain(state_of(plan_of(SYNC), "host_ram").why_not) == "a synchronous save leaves no snapshot"
    assert plain(state_of(plan_of(TWO), "host_ram").why_not) == "the snapshot dies with the trainer"
    assert plain(state_of(plan_of(), "local_nvme").why_not) == "no copies are kept on the nodes"
    assert plain(state_of(plan_of(IN_RAM), "local_nvme").why_not) == "copies are kept in memory"
    assert plain(state_of(plan_of(TWO, {"workload.nodes": 31}), "replica").why_not) == "the groups cannot be formed"
    assert plain(state_of(plan_of(), "s3").why_not) == "no save goes to S3"
    no_system = replace(plan_of(), schedule=None)
    assert plain(state_of(no_system, "shared").why_not) == "no file system is chosen"


def test_reading_times_and_when_a_tier_holds_a_checkpoint() -> None:
    found = {s.tier: (s.read_s, s.is_read_guess, s.durable_after_s) for s in tier_states(plan_of(TWO))}
    assert found["local_nvme"] == (3.0, True, 12.0)
    assert found["replica"] == (6.0, True, 12.0)
    read, is_guess, durable = found["shared"]
    assert read == pytest.approx(290.4, abs=0.1)
    assert (is_guess, durable, found["s3"]) == (False, 305.0, (None, False, None))


def test_copies_in_memory_are_read_past_the_drives() -> None:
    found = {state.tier: state for state in tier_states(plan_of(IN_RAM))}
    assert (found["host_ram"].read_s, found["host_ram"].is_read_guess) == (pytest.approx(0.3), False)
    assert (found["replica"].read_s, found["host_ram"].durable_after_s) == (pytest.approx(0.6), 12.0)
    plan = plan_of(IN_RAM)
    assert plan.datapath is not None
    only_drives = DataPath(tuple(replace(one, hops=one.hops[:1]) for one in plan.datapath.phases), None, None)
    assert state_of(replace(plan, datapath=only_drives), "host_ram").read_s is None


@pytest.mark.parametrize("times", [None, {**TIMES, "replicate": None, "restore_local": None}])
def test_what_the_data_path_does_not_know_stays_unknown(times: dict[PhaseName, float | None] | None) -> None:
    plan = plan_of(TWO, times=times)
    state, found = state_of(plan, "local_nvme"), survive(plan, "process_restart")
    assert (state.read_s, state.durable_after_s) == (None, None)
    assert (found.source, found.newest_age_s, found.mean_rework_s, found.restart_s) == ("local_nvme", None, None, None)
    assert [part.id for part in found.clock] == ["detect", "start"]
    assert plain(found.detail) == (
        "Training restarts from the local drives; how old its checkpoint is and how long reading takes is not known."
    )


# ---------------------------------------------------------------- nodes and groups


def test_the_picture_of_nodes_10_and_11() -> None:
    found = survive(plan_of(RACKS), "group_lost", (11, 10))
    assert (found.lost_nodes, found.lost_groups, found.source) == ((10, 11), (5,), "shared")
    assert plain(found.sentence) == (
        "Both copies of group 6 are gone, so the local checkpoint is lost for every node; shared storage still has it."
    )
    assert plain(found.detail) == (
        "Training restarts from shared storage: 27 min of work done again on average, 50 min at worst, "
        "and it runs again after 14 min 50 s."
    )
    assert [(part.id, round(part.seconds), part.actor) for part in found.clock] == [
        ("detect", 60, "monitoring"), ("reschedule", 300, "scheduler"), ("start", 240, "framework"), ("read", 290, "framework"),
    ]  # fmt: skip
    assert plain(found.clock[-1].name) == "read 1.74 TB"


def test_it_depends_on_the_very_nodes() -> None:
    plan = plan_of(TWO)
    apart = survive(plan, "node_lost", (9, 10, 12))
    assert (apart.source, apart.lost_groups) == ("replica", ())
    assert plain(apart.sentence) == "3 nodes are lost, but every group keeps a copy."
    assert survive(plan, "node_lost", (9, 10, 11)).lost_groups == (5,)
    many = survive(plan, "rack_lost", range(8, 16))
    assert many.lost_groups == (4, 5, 6, 7)
    assert plain(many.sentence).startswith("Every copy of 4 groups is gone")
    assert restart_tier(plan, "node_lost", (10, 11)) == "shared"
    one = survive(plan, "node_lost")
    assert (one.lost_nodes, one.source) == ((0,), "replica")
    assert plain(one.sentence) == "Node 0 is lost, but the other nodes of its group still hold its shards."


def test_more_than_two_copies() -> None:
    plan = plan_of({"replication.factor": 4})
    assert survive(plan, "group_lost", (4, 5, 6)).source == "replica"
    gone = survive(plan, "group_lost")
    assert (gone.lost_nodes, gone.lost_groups) == ((0, 1, 2, 3), (0,))
    assert plain(gone.sentence).startswith("All 4 copies of group 1 are gone")


def test_groups_that_overlap() -> None:
    """12 ranks on nodes of 8: nodes 0, 1 and 2 hang together, and any two of them are all the copies of something."""
    plan = plan_of(TWO, {"replication.jump": 12, "workload.nodes": 36})
    assert survive(plan, "node_lost", (2, 3)).source == "replica"
    assert survive(plan, "node_lost", (4, 5)).lost_groups == (1,)
    assert survive(plan, "node_lost", (3, 4, 5, 6, 8)).lost_groups == (1, 2)


def test_too_many_ranks_to_look_at_each_group() -> None:
    plan = plan_of(TWO, {"replication.jump": 12, "workload.nodes": 300_000})
    assert survive(plan, "node_lost", (2,)).source == "replica"
    found = survive(plan, "node_lost", (2, 3))
    assert (found.source, found.lost_groups) == ("shared", ())
    assert plain(found.sentence).startswith("2 nodes are lost, more than every group is sure to survive")


def test_racks() -> None:
    found = survive(plan_of(RACKS), "rack_lost")
    assert (found.lost_nodes, found.lost_groups) == (tuple(range(8)), (0, 1, 2, 3))
    uneven = survive(plan_of(TWO, {"replication.rack_nodes": 1}), "rack_lost")
    assert (uneven.lost_nodes, uneven.source) == ((0,), "replica")
    unknown = survive(plan_of(TWO), "rack_lost")
    assert (unknown.lost_nodes, unknown.source) == ((), "shared")
    assert plain(unknown.sentence).startswith("Racks are not described")
    # of racks of 3 the first with both nodes of a pair: 0, 1, 2
    assert survive(plan_of(TWO, {"replication.rack_nodes": 3}), "rack_lost").lost_nodes == (0, 1, 2)


def test_without_copies_the_nodes_shards_are_gone() -> None:
    found = survive(plan_of(), "node_lost", (7,))
    assert (found.lost_nodes, found.lost_groups, found.source) == ((7,), (7,), "shared")
    assert plain(found.sentence) == "Node 7 is lost and nobody else has its shards; shared storage still has the checkpoint."
    assert plain(survive(plan_of(), "node_lost", (7, 8)).sentence).startswith("2 nodes are lost and nobody else")
    assert survive(plan_of(), "node_lost", (99, -1)).lost_nodes == (0,)


def test_a_plan_without_replicas_attached_works_them_out() -> None:
    assert survive(evaluate(scenario(TWO)), "group_lost", (10, 11)).lost_groups == (5,)


@pytest.mark.parametrize(
    ("changes", "event", "words"),
    [
        ({}, "process_restart", "The snapshot in host RAM dies with the trainer; shared storage still has the checkpoint."),
        (SYNC, "process_restart", "Nothing of a save stays in host RAM; shared storage still has the checkpoint."),
        (TWO, "process_restart", "The hosts stay up, so the checkpoint on their drives is still there."),
        (IN_RAM, "process_restart", "The hosts stay up, so the copies in their memory are still there."),
        ({}, "node_reboot", "A reboot empties host RAM; shared storage still has the checkpoint."),
        (TWO, "node_reboot", "A reboot keeps the drives, so the checkpoint on them is still there."),
        (IN_RAM, "node_reboot", "A reboot empties the memory of the node, but other nodes of its group still hold its shards."),
        (TWO, "cluster_lost", "All nodes are lost with what they hold; shared storage still has the checkpoint."),
        (
            TWO,
            "planned_stop",
            "A planned stop gives the nodes back with what they hold; shared storage still has the checkpoint.",
        ),
    ],
)
def test_sentences(changes: dict[str, Any], event: Event, words: str) -> None:
    assert plain(survive(plan_of(changes), event).sentence) == words


def test_nothing_left_and_s3_alone() -> None:
    bare = replace(plan_of(), schedule=None)
    found = survive(bare, "cluster_lost")
    assert (found.source, found.restart_s, found.newest_age_s) == (None, None, None)
    assert plain(found.sentence) == "Nothing is left to restart from."
    assert plain(found.detail) == "Training starts from the beginning."
    in_s3 = survive(replace(plan_of(TO_S3), schedule=None), "cluster_lost")
    assert (in_s3.source, in_s3.restart_s) == ("s3", None)
    assert plain(in_s3.sentence).endswith("S3 still has the checkpoint.")


# ---------------------------------------------------------------- the newest checkpoint


def test_the_age_at_a_moment() -> None:
    assert [newest_age_s(m, 100.0, 30.0) for m in (0.0, 10.0, 29.0, 30.0, 80.0, 99.0)] == [100, 110, 129, 30, 80, 99]
    # restorable only 2.5 intervals later: saves -3 and -2 count
    assert [newest_age_s(m, 100.0, 250.0) for m in (0.0, 49.0, 50.0, 99.0)] == [300, 349, 250, 299]


@settings(STEADY, max_examples=200)
@given(moment=st.integers(0, 500), period=st.integers(1, 100), durable=st.integers(0, 400))
def test_the_age_is_that_of_the_last_save_that_was_ready(moment: int, period: int, durable: int) -> None:
    ready = [start for start in range(-1000 * period, moment + 1, period) if start + durable <= moment]
    assert newest_age_s(float(moment), float(period), float(durable)) == moment - max(ready)


def test_mean_and_worst_are_those_of_all_moments() -> None:
    plan = plan_of(TWO)
    assert plan.schedule is not None
    moments = np.linspace(0.0, plan.schedule.period_s, 20_000, endpoint=False)
    for event in ("process_restart", "cluster_lost"):
        found = survive(plan, cast(Event, event))
        assert found.mean_rework_s is not None
        assert found.worst_rework_s is not None
        durable = state_of(plan, str(found.source)).durable_after_s
        ages = newest_age_s(moments, plan.schedule.period_s, cast(float, durable))  # type: ignore[arg-type]
        assert float(np.mean(ages)) == pytest.approx(found.mean_rework_s, rel=1e-4)
        assert float(np.max(ages)) == pytest.approx(found.worst_rework_s, rel=1e-4)
        assert found.newest_age_s == pytest.approx(found.mean_rework_s)


def test_rework_from_shared_storage_is_that_of_the_plan() -> None:
    plan = plan_of()
    assert plan.waste is not None
    assert plan.schedule is not None
    found = survive(plan, "node_lost")
    assert found.mean_rework_s == pytest.approx(plan.waste.mean_rework_s)
    assert found.worst_rework_s == pytest.approx(plan.waste.worst_rework_s)
    assert found.restart_s == pytest.approx(plan.schedule.restart_s)
    assert found.moment_s == found.newest_age_s == pytest.approx(plan.schedule.period_s / 2 + 305)


def test_a_moment_before_the_save_is_restorable_goes_back_to_the_one_before() -> None:
    plan = plan_of()
    assert plan.schedule is not None
    early, late = survive(plan, "node_lost", (3,), 300.0), survive(plan, "node_lost", (3,), 310.0)
    assert early.newest_age_s == pytest.approx(plan.schedule.period_s + 300)
    assert late.newest_age_s == pytest.approx(310)
    assert plain(late.detail) == (
        "Training restarts from shared storage: 5 min 10 s of work done again at this moment, 50 min at worst, "
        "and it runs again after 14 min 50 s."
    )


# ---------------------------------------------------------------- the clock


def clock(plan: Plan, event: Event) -> list[tuple[str, float]]:
    return [(part.id, part.seconds) for part in survive(plan, event).clock]


def test_a_process_restart_needs_no_scheduler() -> None:
    assert clock(plan_of(TWO), "process_restart") == [("detect", 60.0), ("start", 240.0), ("read", 3.0)]
    assert clock(plan_of(TWO), "node_lost") == [("detect", 60.0), ("reschedule", 300.0), ("start", 240.0), ("read", 6.0)]


def test_waiting_for_a_spare_is_nobodys_work() -> None:
    plan = plan_of(TWO, {"failures.downtime_s": 900.0})
    assert clock(plan, "node_lost")[1] == ("wait", 900.0)
    assert survive(plan, "node_lost").clock[1].actor == "nobody"
    assert survive(plan, "node_lost").restart_s == 1506.0
    assert "wait" not in dict(clock(plan, "node_reboot"))
    spares = beyond(mean_wait_s=100.0)
    assert dict(clock(replace(plan, beyond=spares), "node_lost"))["wait"] == 1000.0


def test_a_planned_stop_queues_and_takes_all_of_the_restart() -> None:
    """As the waste counts it: 20 min in the queue, R = 14 min 50 s."""
    plan = plan_of(TWO, {"planned.queue_s": 1200.0})
    found = survive(plan, "planned_stop")
    assert [part.id for part in found.clock] == ["queue", "detect", "reschedule", "start", "read"]
    assert (found.clock[0].seconds, found.clock[0].actor) == (1200.0, "scheduler")
    assert found.lost_nodes == tuple(range(32))
    assert (found.newest_age_s, found.mean_rework_s, found.worst_rework_s) == (0.0, 0.0, 0.0)
    assert plain(found.detail) == (
        "A last save is made before the stop, so no work is done again: training restarts from shared storage "
        "after 34 min 50 s."
    )


def test_a_notice_shorter_than_a_save_loses_work() -> None:
    short = plan_of({"planned.notice_s": 60.0})
    assert short.waste is not None
    assert survive(short, "planned_stop").mean_rework_s == pytest.approx(short.waste.mean_rework_s)
    assert survive(plan_of({"planned.notice_s": 600.0}), "planned_stop").mean_rework_s == 0.0
    faster = beyond(final_save_s=50.0)
    assert survive(replace(short, beyond=faster), "planned_stop").mean_rework_s == 0.0
