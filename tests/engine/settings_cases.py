"""What the tests of settings share: plans of every kind as settings, and names that try to break out."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from ckptplanner.engine.evaluate import plan_of
from ckptplanner.engine.operations import SaveRow
from ckptplanner.engine.scenario import CustomStorage, NamedScenario, Scenario
from ckptplanner.engine.settings.target import Names, NotPlanned, Settings, settings_of
from tests.engine.build import scenario

HOSTILE = 'it\'s "x" \\ $(rm -rf /) `id` ${var.y} %{if} #{z} */ --> # \n\r\u2028\x1b[2J\t; 本番 \u202e<b>&'


def settings_for(made: Scenario | None = None, *, name: str = "5 min", names: Names | None = None) -> Settings:
    """The settings of a scenario."""
    named = NamedScenario(name=name, scenario=made or Scenario())
    return settings_of(named, plan_of(named), names)


def settings_or_none(made: Scenario, **more: Any) -> Settings | None:
    """The settings, None where there is nothing to plan."""
    try:
        return settings_for(made, **more)
    except NotPlanned:
        return None


def hostile_names() -> Names:
    """Names that would break out of a comment, a string, a template or a line of a shell."""
    fields = ("shared_folder", "local_folder", "log_folder")
    folders = {field: f"/fsx/{HOSTILE}" for field in fields}
    others = ("job", "bucket", "subnet_id", "security_group_id", "file_system_id")
    return Names(**folders, **dict.fromkeys(others, HOSTILE))


def _tier(parts: tuple[int, int, str]) -> str:
    throughput, size, efa = parts
    return f"p2-{throughput}-{size}{efa}"


TIERS = st.one_of(
    st.just("auto"),
    st.just("auto"),
    st.tuples(
        st.sampled_from((125, 250, 500, 1000, 333)),
        st.sampled_from((1200, 2400, 7200, 12_000, 33_600, 33_601, 38_400, 115_200, 3)),
        st.sampled_from(("", "-efa")),
    ).map(_tier),
)  # fmt: skip
SAVES = st.sampled_from(
    ((), (SaveRow(kind="permanent"),), (SaveRow(kind="final", to="s3"), SaveRow(kind="export", to="shared")))
)


@st.composite
def scenarios(draw: st.DrawFn) -> Scenario:
    """Plans of every size and kind, and of every file system on sale or not."""
    return scenario({
        "workload.nodes": draw(st.integers(1, 16_384)),
        "workload.gpus_per_node": draw(st.sampled_from((1, 4, 8, 72))),
        "workload.total_params": 10.0 ** draw(st.floats(8.1, 13.0)),
        "workload.writer": draw(st.sampled_from(("sharded", "sharded", "single"))),
        "workload.step_s": draw(st.floats(0.01, 500.0)),
        "storage.mode": draw(st.sampled_from(("async", "sync"))),
        "storage.write_s": 10.0 ** draw(st.floats(0.5, 4.5)),
        "storage.generations_kept": draw(st.integers(1, 30)),
        "storage.max_fill": draw(st.sampled_from((1.0, 0.85))),
        "storage.write_efficiency": draw(st.sampled_from((1.0, 0.6))),
        "storage.efa": draw(st.sampled_from(("auto", "on", "off"))),
        "storage.tier": draw(TIERS),
        "storage.custom": draw(st.sampled_from((None, None, None, CustomStorage()))),
        "storage.quota_gib": draw(st.sampled_from((None, None, 100_800.0, 1e9))),
        "local.enabled": draw(st.booleans()),
        "replication.factor": draw(st.sampled_from((1, 2, 4))),
        "shared.used_bytes": draw(st.sampled_from((0.0, 1e13))),
        "network.same_zone": draw(st.booleans()),
        "saves": draw(SAVES),
    })  # fmt: skip
