"""What the tests of the settings share: plans to export, words that must not break out, and readers of what is written."""

from __future__ import annotations

import shlex
from typing import Any

from hypothesis import strategies as st

from ckptplanner.engine.evaluate import plan_of
from ckptplanner.engine.scenario import NamedScenario, Scenario
from ckptplanner.engine.settings.target import Names, NotPlanned, Settings, Target, settings_of
from ckptplanner.frozen import with_value
from tests.engine.build import scenario

TWO_LEVELS: dict[str, Any] = {"local.enabled": True, "replication.factor": 2}
HOSTILE = (
    "plain", "it's \"quoted\"", "a\nb: c", "x */ y <!-- z -->", "# not a comment",
    "$(touch broken) `id` ${HOME}",
    "日本語のチェックポイント", "tail \\", "'''\"\"\"", "a\r\n[checkpoint]\nenable = false", "{{x}} %s {0}",
    "\u2028\u0085\x1b[31m",
    ") ; rm -rf / ; (", "--load /other", "- - : |",
)  # fmt: skip


def settings_for(*groups: dict[str, Any], name: str = "5 min", names: Names | None = None) -> Settings:
    """Settings of the default scenario with values at dotted paths."""
    named = NamedScenario(name=name, scenario=scenario(*groups))
    return settings_of(named, plan_of(named), names)


def hostile_settings(words: str, *groups: dict[str, Any]) -> Settings:
    """The same, with these words wherever a user writes."""
    return settings_for(*groups, name=words, names=Names(*(words for _ in range(8))))


def content(target: Target, settings: Settings, at: int = 0) -> str:
    """What one of the target's files holds."""
    return target.write(settings).files[at].content


def by_id(targets: tuple[Target, ...], name: str) -> Target:
    """The target of that name."""
    return next(target for target in targets if target.id == name)


def flags_of(written: str) -> dict[str, str]:
    """The arguments of a bash array, by Python's own shell reader."""
    words = shlex.split(written, comments=True)
    assert words[0] == "CHECKPOINT_ARGS=("
    assert words[-1] == ")"
    found: dict[str, str] = {}
    for at, word in enumerate(words):
        if word.startswith("--") and at and words[at - 1] not in {"--save", "--load", "--non-persistent-local-ckpt-dir"}:
            after = words[at + 1]
            is_switch = after == ")" or (after.startswith("--") and word not in {"--save", "--load"})
            found[word] = "" if is_switch else after
    return found


def _settled(values: dict[str, Any]) -> Scenario:
    made = Scenario()
    for path, value in values.items():
        made = with_value(made, path, value)
    return made


SCENARIOS: st.SearchStrategy[Scenario] = st.fixed_dictionaries(
    {
        "workload.total_params": st.floats(125e6, 1e13),
        "workload.nodes": st.one_of(st.integers(1, 64), st.integers(1, 16_384)),
        "workload.gpus_per_node": st.sampled_from((1, 4, 8, 16)),
        "workload.step_s": st.floats(0.05, 300.0),
        "workload.collective_timeout_s": st.sampled_from((60.0, 600.0, 3600.0)),
        "failures.mtbi_s": st.floats(600.0, 3e7),
        "storage.mode": st.sampled_from(("async", "sync")),
        "storage.blocking_s": st.floats(0.0, 900.0),
        "storage.write_s": st.floats(1.0, 7200.0),
        "storage.interval_s": st.one_of(st.none(), st.floats(1.0, 1e6)),
        "storage.generations_kept": st.one_of(st.integers(1, 4), st.integers(1, 1000)),
        "storage.pace": st.sampled_from(("within", "full")),
        "storage.tier": st.sampled_from(("auto", "p2-125-1200", "p2-500-12000", "p2-1000-33600-efa")),
        "replication.factor": st.one_of(st.integers(1, 4), st.integers(1, 64)),
        "replication.jump": st.one_of(st.none(), st.integers(1, 64)),
        "local.enabled": st.booleans(),
        "local.blocking_s": st.floats(0.0, 120.0),
        "local.ratio": st.one_of(st.none(), st.integers(1, 50)),
        "saves": st.sampled_from(((), ({"kind": "permanent", "every_s": 86_400.0, "to": "shared"},))),
    }
).map(_settled)  # fmt: skip


def planned(made: Scenario) -> Settings | None:
    """Settings of a scenario, None where it has no schedule to export."""
    named = NamedScenario(name="any", scenario=made)
    try:
        return settings_of(named, plan_of(named))
    except NotPlanned:
        return None
