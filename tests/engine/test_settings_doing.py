"""What a target's file says of itself: the waste of what it really does, and every warning of the target."""

from __future__ import annotations

import re
from typing import Any

import pytest

from ckptplanner.engine.evaluate import evaluate
from ckptplanner.engine.settings.registry import TARGETS, target, write_all
from ckptplanner.engine.settings.target import Settings
from ckptplanner.frozen import with_value
from ckptplanner.units import percent
from tests.engine.settings_plans import settings

# a write of 32 min behind a stop of 5 s, as in the example local-and-shared
SLOW: dict[str, Any] = {"storage.write_s": 1936.0, "storage.interval_s": 8490.0}
TWO_LEVELS: dict[str, Any] = {"storage.write_s": 1936.0, "local.enabled": True, "replication.factor": 2,
                              "local.interval_s": 2830.0, "local.ratio": 3}  # fmt: skip


def said(made: Settings, id: str, at: int = 0) -> str:
    """A target's file, as one text without signs of comments and breaks of lines."""
    content = target(id).write(made).files[at].content
    return re.sub(r"\s+(?:# )?\s*", " ", content.replace("\u00a0", " "))


def waste(made: Settings, **changes: Any) -> str:
    """The waste of the plan's scenario with values changed."""
    scenario = made.plan.scenario
    for path, value in changes.items():
        scenario = with_value(scenario, path.replace("__", "."), value)
    found = evaluate(scenario).waste
    assert found is not None
    assert found.total_fraction is not None
    return percent(found.total_fraction).replace("\u00a0", " ")


@pytest.mark.parametrize("id", ["lightning", "hf-trainer", "deepspeed"])
def test_a_target_that_stops_training_says_what_that_costs(id: str) -> None:
    made = settings(SLOW)
    real = waste(made, storage__mode="sync", storage__tier=made.plan.storage.chosen.id)  # type: ignore[union-attr]
    at = 0 if id == "lightning" else 1  # the text beside the JSON
    assert f"waste {real} with these settings; the plan: {waste(made)}" in said(made, id, at)
    assert float(real.split()[0]) > 20.0, "32 min of each 2 h 22 min"


@pytest.mark.parametrize("id", ["torchtitan", "torchtitan-0.2", "dcp", "nemo2"])
def test_a_target_without_local_saves_says_the_waste_without_them(id: str) -> None:
    made = settings(TWO_LEVELS)
    real = waste(made, local__enabled=False, replication__factor=1, storage__interval_s=8490.0)
    assert f"waste {real} with these settings; the plan: {waste(made)}" in said(made, id)


@pytest.mark.parametrize("id", ["megatron-lm", "megatron-bridge"])
def test_local_saves_of_megatron_stop_training_and_so_do_the_shared_ones(id: str) -> None:
    made = settings(TWO_LEVELS)
    local = made.plan.scenario.local
    real = waste(made, storage__mode="sync", local__blocking_s=local.blocking_s + local.durable_s, local__durable_s=0.0)
    assert f"waste {real} with these settings; the plan: {waste(made)}" in said(made, id)


@pytest.mark.parametrize("id", ["megatron-lm", "megatron-bridge", "torchtitan", "dcp", "nemo2", "nvrx"])
def test_a_target_that_does_as_planned_says_the_plans_waste_alone(id: str) -> None:
    made = settings()
    assert f"waste {waste(made)} " in said(made, id)
    assert "with these settings" not in said(made, id)


def test_saves_that_leave_no_time_to_train_are_said() -> None:
    made = settings({"storage.write_s": 1936.0, "storage.interval_s": 1900.0})
    assert "waste 100 %: these saves leave no time to train; the plan: " in said(made, "lightning")


@pytest.mark.parametrize("one", TARGETS, ids=lambda one: one.id)
@pytest.mark.parametrize(
    "groups", [{}, TWO_LEVELS, {"workload.nodes": 1000, "storage.write_s": 60.0}], ids=["E1", "two", "large"]
)
def test_every_warning_stands_in_each_file(one: Any, groups: dict[str, Any]) -> None:
    written = one.write(settings(groups))
    warnings = [found.message for found in written.findings if found.severity == "warning"]
    texts = [file for file in written.files if file.language != "json" or "tf" in file.name or "template" in file.name]
    for file in texts:
        if file.name == "trim_checkpoints.sh":
            continue  # it does as planned, whoever it is written beside
        plain = re.sub(
            r'[\s"#,]+', "", file.content.encode().decode("unicode_escape") if "template" in file.name else file.content
        )
        for warning in warnings:
            assert re.sub(r'[\s"#,]+', "", warning) in plain, (file.name, warning)


def test_a_warning_takes_few_lines_and_a_number_keeps_its_unit() -> None:
    content = target("megatron-lm").write(settings(TWO_LEVELS)).files[0].content
    comments = [line for line in content.split("\n") if line.startswith("# Warning") or line.startswith("#   ")]
    assert max(map(len, comments)) <= 128
    assert len(comments) <= 2 * sum(line.startswith("# Warning") for line in comments)
    assert not re.search(r"\d\n#   \w", content)


def test_one_of_a_thing_is_not_said_as_many() -> None:
    made = settings({"workload.nodes": 1, "workload.gpus_per_node": 1, "workload.step_s": 20_000.0})
    lines = made.assumptions()
    assert lines[1].startswith("1 node x 1 GPU, ")
    assert ": 1 step of " in lines[2]


def test_the_same_is_not_said_twice() -> None:
    """FSx's own rule and the target both know the quota."""
    made = settings({"workload.nodes": 1000, "storage.write_s": 1.0})
    for one in ("fsx-cli", "fsx-cloudformation", "fsx-terraform"):
        found = [one for one in write_all(made, [one]).findings if one.path == "storage.quota_gib"]
        assert len(found) == 1


def test_deepspeed_is_not_waited_for_where_a_step_takes_longer_than_a_write() -> None:
    assert not target("deepspeed").write(settings({"storage.write_s": 4.0, "storage.latency_s": 0.0})).findings
    found = target("deepspeed").write(settings({"storage.write_s": 60.0})).findings[0].message.replace("\u00a0", " ")
    assert "stops training for up to 50 s instead of 5 s" in found


def test_no_sentence_says_one_of_many() -> None:
    groups = {"workload.nodes": 1, "workload.gpus_per_node": 1, "workload.step_s": 20_000.0, "local.enabled": True,
              "storage.generations_kept": 2}  # fmt: skip
    made = settings(groups)
    for one in TARGETS:
        written = write_all(made, [one.id])
        said = [*(file.content for file in written.files), *(found.message for found in written.findings)]
        assert not re.search(
            r"\b1\W(?:nodes|GPUs|steps|complete checkpoints|saves)\b", "\n".join(said).replace("\u00a0", " ")
        ), one.id
