"""What the tests of settings share: plans of all kinds, names that try to break out, and the settings of a scenario."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from ckptplanner.engine.evaluate import plan_of
from ckptplanner.engine.scenario import NamedScenario
from ckptplanner.engine.settings.target import Names, Settings, Written, settings_of
from tests.engine.build import scenario

EVIL = "a'b\"c`id`$(rm -rf /)\n#x */ \"\"\" '''\u2028\\ %s {y} 日本\r\t- z: 1\x00"
EVIL_NAMES = Names(EVIL, "/local/" + EVIL, "/log/" + EVIL, EVIL, EVIL, EVIL, EVIL, EVIL)


def settings(*groups: dict[str, Any], name: str = "5 min", names: Names | None = None, **sections: dict[str, Any]) -> Settings:
    """The settings of the default scenario with values changed, as `build.scenario` does."""
    named = NamedScenario(name=name, scenario=scenario(*groups, **sections))
    return settings_of(named, plan_of(named), names)


def content(written: Written, name: str) -> str:
    """The content of the file of that name."""
    return next(file.content for file in written.files if file.name == name)


def sentences(written: Written) -> str:
    """All findings in one text."""
    return "\n".join(f"{one.severity} {one.path} {one.message}" for one in written.findings).replace("\u00a0", " ")


TIERS = st.sampled_from(("auto", "p2-125-48000", "p2-250-24000", "p2-500-12000", "p2-1000-33600-efa", "p2-125-1200",
                         "p2-333-33601", "p2-1000-1200-efa"))  # fmt: skip

SCENARIOS = st.fixed_dictionaries(
    {
        "workload.total_params": st.floats(8.0, 13.0).map(lambda power: 10.0**power),
        "workload.nodes": st.one_of(st.integers(1, 64), st.integers(1, 16_384)),
        "workload.gpus_per_node": st.sampled_from((1, 4, 8)),
        "workload.step_s": st.floats(-2.0, 3.0).map(lambda power: 10.0**power),
        "workload.writer": st.sampled_from(("sharded", "single")),
        "workload.framework": st.sampled_from(("Megatron-LM", "TorchTitan", "Hugging Face Trainer")),
        "failures.mtbi_s": st.floats(3.0, 8.0).map(lambda power: 10.0**power),
        "storage.mode": st.sampled_from(("async", "sync")),
        "storage.write_s": st.floats(0.0, 5.5).map(lambda power: 10.0**power),
        "storage.blocking_s": st.floats(0.0, 100.0),
        "storage.generations_kept": st.integers(1, 30),
        "storage.tier": TIERS,
        "replication.factor": st.sampled_from((1, 2, 3, 4, 8)),
        "local.enabled": st.booleans(),
        "planned.every_s": st.one_of(st.none(), st.floats(60.0, 1e7)),
        "planned.notice_s": st.one_of(st.none(), st.floats(0.0, 1e6)),
        "spares.nodes": st.integers(0, 4),
        "run.days": st.floats(0.1, 365.0),
    },
    optional={
        "replication.jump": st.integers(1, 64),
        "storage.interval_s": st.floats(-3.0, 7.0).map(lambda power: 10.0**power),
        "local.interval_s": st.floats(0.0, 5.0).map(lambda power: 10.0**power),
        "local.ratio": st.integers(1, 1000),
    },
)

# most of these are plans without an error
SOUND = st.fixed_dictionaries(
    {
        "workload.total_params": st.floats(8.1, 13.0).map(lambda power: 10.0**power),
        "workload.nodes": st.integers(0, 14).map(lambda power: 2**power),
        "workload.step_s": st.floats(-1.0, 2.0).map(lambda power: 10.0**power),
        "workload.framework": st.sampled_from(("Megatron-LM", "Megatron Bridge", "TorchTitan")),
        "failures.mtbi_s": st.floats(5.5, 8.0).map(lambda power: 10.0**power),
        "storage.mode": st.sampled_from(("async", "sync")),
        "storage.write_s": st.floats(60.0, 3000.0),
        "storage.generations_kept": st.integers(2, 10),
        "replication.factor": st.sampled_from((1, 2, 4)),
        "local.enabled": st.booleans(),
        "spares.nodes": st.integers(0, 4),
    },
    optional={"planned.every_s": st.floats(1e5, 1e7)},
)
