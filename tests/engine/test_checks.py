"""Each kind of finding: how bad it is, which field it points at, and that its sentence says what would be accepted."""

from __future__ import annotations

import ast
import inspect
from typing import Any, NamedTuple

import pytest

from ckptplanner.engine import checks
from ckptplanner.engine.evaluate import evaluate, plan_of
from ckptplanner.engine.plan import Finding
from ckptplanner.engine.scenario import CustomStorage, NamedScenario, Scenario, Source
from ckptplanner.frozen import with_value
from ckptplanner.units import DAY, GIB, HOUR
from tests.engine.build import SYNC, scenario


class Kind(NamedTuple):
    """Inputs that call for one finding, and what must be in its sentence."""

    name: str
    changes: dict[str, Any]
    severity: str
    path: str
    words: tuple[str, ...]


OWN: dict[str, Any] = {"write_bytes_per_s": 10e9, "read_bytes_per_s": 10e9, "usable_bytes": 20e12, "usd_per_month": 100.0}
ZERO_BYTES = ({"what": "nothing", "bytes_per_param": 0.0},)
NO_TIER_PRICE = {f"prices.storage_usd_per_gib_month.p2_{tau}": None for tau in (125, 250, 500, 1000)}

KINDS = [
    Kind(
        "more frozen than all", {"workload.frozen_params": 200e9},
        "error", "workload.frozen_params", ("200 B", "124 B", "inside the total"),
    ),
    Kind("nothing saved", {"workload.layout": ZERO_BYTES}, "error", "workload.layout", ("Nothing is saved", "0 bytes")),
    Kind(
        "frozen parts left out", {"workload.frozen_params": 1e9, "workload.frozen_bytes_per_param": 0.0},
        "info", "workload.frozen_bytes_per_param", ("left out", "base model"),
    ),
    Kind(
        "measured between presets", {"workload.measured_bytes": 124.45e9 * 11.04},
        "info", "workload.measured_bytes", ("measured", "11.04 B a parameter", "between 10 and 12"),
    ),
    Kind(
        "measured at a preset", {"workload.measured_bytes": 124.45e9 * 12.0},
        "info", "workload.measured_bytes", ("12 B a parameter", "the preset of 12 B"),
    ),
    Kind(
        "measured beyond presets", {"workload.measured_bytes": 124.45e9 * 30.0},
        "info", "workload.measured_bytes", ("30 B a parameter", "beyond every preset"),
    ),
    Kind(
        "active count as total", {"workload.total_params": 37.55e9},
        "warning", "workload.total_params", ("active count of DeepSeek", "Give the total"),
    ),
    Kind(
        "one generation", {"storage.generations_kept": 1},
        "error", "storage.generations_kept", ("One generation".lower(), "nothing to restore from", "2 or more"),
    ),
    Kind(
        "latency eats the write", {"storage.latency_s": 300.0},
        "error", "storage.latency_s", ("fixed time per save (5 min)", "write time (5 min)", "longer write"),
    ),
    Kind(
        "best interval beyond the run", {"run.days": 0.01},
        "warning", "run.days", ("T* (45 min)", "run (14 min)", "at the end"),
    ),
    Kind(
        "typed interval beyond the run", {"storage.interval_s": 2 * DAY, "run.days": 1.0},
        "warning", "storage.interval_s", ("48 h", "run (24 h)", "the run is used"),
    ),
    Kind(
        "interval below a step", {"storage.interval_s": 400.0, "workload.step_s": 500.0},
        "warning", "storage.interval_s", ("6 min 40 s", "shorter than a step", "one step (8 min 20 s)"),
    ),
    Kind(
        "save beyond the run", {"storage.write_s": 2 * DAY, "run.days": 1.0},
        "error", "storage.write_s", ("A save takes 48 h", "whole run (24 h)"),
    ),
    Kind(
        "overlap", {"storage.interval_s": 200.0, "workload.framework": "TorchTitan"},
        "warning", "storage.interval_s", ("before the last is written", "TorchTitan waits", "1 min 45 s every interval"),
    ),
    Kind(
        "overlap in Megatron", {"storage.interval_s": 200.0},
        "warning", "storage.interval_s", ("Megatron-LM warns, then waits", "1 min 45 s"),
    ),
    Kind(
        "interval follows the write", {"storage.write_s": HOUR},
        "info", "storage.interval_s", ("Saves take 1 h", "best interval (45 min)", "follows the write"),
    ),
    Kind(
        "save costs its interval", SYNC | {"storage.interval_s": 200.0},
        "error", "storage.interval_s", ("no progress", "5 min", "3 min 20 s"),
    ),
    Kind(
        "interrupted before restarted", {"failures.mtbi_s": 600.0},
        "error", "failures.mtbi_s", ("no progress", "every 10 min", "a restart takes (15 min)"),
    ),
    Kind(
        "interrupted before saved", {"failures.mtbi_s": 1000.0, "storage.blocking_s": 2000.0},
        "error", "failures.mtbi_s", ("no progress", "every 17 min", "a stop takes (33 min)"),
    ),
    Kind(
        "no progress", {"failures.mtbi_s": 1000.0, "storage.interval_s": 3000.0},
        "error", "failures.mtbi_s", ("no progress", "%", "of the time is lost"),
    ),
    Kind(
        "first order above all", {"failures.mtbi_s": 1000.0},
        "warning", "storage.waste_model", ("passes 100", "exact model gives"),
    ),
    Kind(
        "models part", {"failures.mtbi_s": 40_000.0},
        "info", "storage.waste_model", ("First order says", "exact model", "decisions follow the exact one"),
    ),
    Kind(
        "models part and first order decides", {"failures.mtbi_s": 20_000.0, "storage.waste_model": "first_order"},
        "warning", "storage.waste_model", ("First order says", "decisions follow the first-order one"),
    ),
    Kind(
        "stop against interruptions", {"storage.blocking_s": 10_000.0},
        "warning", "failures.mtbi_s", ("1.39 %", "recent log"),
    ),
    Kind(
        "no async", {"workload.framework": "Hugging Face Trainer"},
        "error", "storage.mode", ("Hugging Face Trainer has no asynchronous saving", "choose sync"),
    ),
    Kind(
        "collective timeout", SYNC | {"storage.write_s": 1200.0},
        "warning", "workload.collective_timeout_s", ("20 min", "timeout of 10 min", "Raise the timeout or save faster"),
    ),
    Kind(
        "published at the next save", {"storage.published": "next_save"},
        "warning", "storage.published", ("from the next save on", "two intervals"),
    ),
    Kind(
        "spot notice", {"failures.spot_notice_s": 120.0},
        "warning", "failures.spot_notice_s", ("notice is 2 min", "690 GB of 1.74 TB"),
    ),
    Kind(
        "nothing on offer", {"storage.quota_gib": 1000.0},
        "error", "storage.write_s", ("No file system on offer", "above your quota of 1,000 GiB"),
    ),
    Kind(
        "single writer too slow", {"workload.writer": "single", "storage.write_s": 30.0, "storage.efa": "off"},
        "error", "storage.write_s", ("No file system on offer", "one node can write at most 12.5 GB/s"),
    ),
    Kind(
        "illegal throughput", {"storage.tier": "p2-300-12000"},
        "error", "storage.tier", ("300 MB/s/TiB", "refused", "offers 125, 250, 500, 1,000 MB/s/TiB"),
    ),
    Kind(
        "illegal size", {"storage.tier": "p2-500-12001"},
        "error", "storage.tier", ("12,001 GiB", "refused", "next sizes 12,000, 14,400 GiB"),
    ),
    Kind(
        "illegal size with EFA", {"storage.tier": "p2-1000-12000-efa"},
        "error", "storage.tier", ("EFA is refused", "next sizes 9,600, 14,400 GiB"),
    ),
    Kind(
        "a size below the smallest", {"storage.tier": "p2-500-600"}, "error", "storage.tier", ("next sizes 1,200 GiB",),
    ),
    Kind(
        "single writer on a fixed tier", {"workload.writer": "single", "storage.tier": "p2-500-12000"},
        "error", "storage.tier", ("refused", "one node can write at most 3.12 GB/s"),
    ),
    Kind(
        "no room in a fixed tier", {"storage.tier": "p2-1000-4800", "storage.write_s": 600.0},
        "error", "storage.tier", ("4", "need 6,491 GiB", "room for 4,800 GiB", "keep 2 or buy more"),
    ),
    Kind(
        "no room in storage that exists", {"storage.custom": CustomStorage(**{**OWN, "usable_bytes": 5e12})},
        "error", "storage.custom", ("need 6,491 GiB", "The storage that exists has room for 4,657 GiB", "keep 2"),
    ),
    Kind(
        "no room beside others",
        {
            "workload.nodes": 1, "workload.measured_bytes": 53e9, "storage.tier": "p2-500-4800",
            "shared.used_bytes": 0.97 * 4800 * GIB,
        },
        "error", "shared.used_bytes", ("need 197 GiB", "beside 5 TB of others", "room for 144 GiB", "delete 57.4 GB"),
    ),
    Kind(
        "no room left", {"storage.generations_kept": 4, "storage.write_s": 1200.0},
        "info", "storage.generations_kept", ("90 %", "no room for another"),
    ),
    Kind(
        "a region that is not known", {"prices.region": "mars-1"},
        "warning", "prices.region", ("mars-1", "it knows us-west-2"),
    ),
    Kind(
        "room left", {}, "info", "storage.generations_kept", ("54 %", "room for 3 more"),
    ),
    Kind(
        "write time too short for storage that exists", {"storage.custom": CustomStorage(**OWN), "storage.write_s": 100.0},
        "error", "storage.write_s", ("needs 2 min 54 s for a write", "1 min 40 s is allowed", "pace to full"),
    ),
    Kind(
        "write time too short for a fixed tier", {"storage.tier": "p2-250-12000"},
        "error", "storage.write_s", ("250 MB/s/TiB × 12,000 GiB needs 9 min 41 s", "5 min is allowed"),
    ),
    Kind(
        "EFA on a node without it", SYNC | {"storage.write_s": 60.0, "workload.node": "p4d.24xlarge"},
        "warning", "storage.efa", ("p4d.24xlarge", "EFA", "check"),
    ),
    Kind(
        "default quota", {"workload.total_params": 1e13},
        "warning", "storage.tier", ("above the default quota of 100,800 GiB", "ask AWS"),
    ),
    Kind(
        "a quota of one's own", {"storage.quota_gib": 10_000.0, "storage.tier": "p2-500-12000"},
        "error", "storage.quota_gib", ("12,000 GiB", "quota of 10,000 GiB"),
    ),
    Kind(
        "tier price unknown", {"prices.storage_usd_per_gib_month.p2_250": None, "prices.region": "ap-northeast-1"},
        "warning", "prices.storage_usd_per_gib_month.p2_250", ("250 MB/s/TiB", "ap-northeast-1", "type it from your bill"),
    ),
    Kind(
        "all tier prices unknown", NO_TIER_PRICE,
        "warning", "prices.storage_usd_per_gib_month.p2_125", ("125, 250, 500, 1,000 MB/s/TiB", "out of the ranking"),
    ),
    Kind(
        "price of storage that exists", {"storage.custom": CustomStorage(**{**OWN, "usd_per_month": None})},
        "warning", "storage.custom.usd_per_month", ("not known", "stay empty"),
    ),
    Kind(
        "storage for nothing", {"storage.custom": CustomStorage(**{**OWN, "usd_per_month": 0.0})},
        "warning", "storage.custom.usd_per_month", ("$0", "Leave it empty"),
    ),
    Kind(
        "a tier for nothing", {"prices.storage_usd_per_gib_month.p2_500": 0.0},
        "warning", "prices.storage_usd_per_gib_month.p2_500", ("$0", "Leave it empty"),
    ),
    Kind(
        "planned stops all the time", {"planned.every_s": 1000.0},
        "error", "planned.every_s", ("makes no progress", "with planned stops 100 %"),
    ),
    Kind(
        "node price unknown", {"prices.node_usd_per_h": None},
        "warning", "prices.node_usd_per_h", ("p6-b300.48xlarge", "us-west-2", "type one, or the value of a GPU-hour"),
    ),
]  # fmt: skip


def plain(finding: Finding) -> str:
    return finding.message.replace("\u00a0", " ")


def at(findings: tuple[Finding, ...], severity: str, path: str) -> list[str]:
    return [plain(finding) for finding in findings if (finding.severity, finding.path) == (severity, path)]


@pytest.mark.parametrize("kind", KINDS, ids=[kind.name for kind in KINDS])
def test_a_finding_points_at_its_field_and_says_what_would_do(kind: Kind) -> None:
    said = at(evaluate(scenario(kind.changes)).findings, kind.severity, kind.path)
    missing = {sentence: [word for word in kind.words if word not in sentence] for sentence in said}
    assert any(not words for words in missing.values()), missing


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind.changes], ids=[kind.name for kind in KINDS if kind.changes])
def test_the_default_plan_gives_no_such_finding(kind: Kind) -> None:
    said = at(evaluate(Scenario()).findings, kind.severity, kind.path)
    assert not [sentence for sentence in said if all(word in sentence for word in kind.words)]


def test_every_kind_of_sentence_is_tested_here() -> None:
    """The templates that the kinds above call for are all that checks.py has."""
    calls = [node for node in ast.walk(ast.parse(inspect.getsource(checks))) if isinstance(node, ast.Call)]
    templates = {
        next(part.value for part in call.args[2:] if isinstance(part, ast.Constant))
        for call in calls
        if isinstance(call.func, ast.Name) and call.func.id == "_say" and len(call.args) > 2
    }
    said = {finding.text.template for kind in KINDS for finding in evaluate(scenario(kind.changes)).findings}
    said |= {finding.text.template for finding in plan_of(NamedScenario(name="some", missing=("run.days",))).findings}
    assert templates - said == set()


def test_the_default_plan_has_nothing_to_complain_about() -> None:
    plan = evaluate(Scenario())
    assert (plan.count("error"), plan.count("warning")) == (0, 0)


@pytest.mark.parametrize("kind", KINDS, ids=[kind.name for kind in KINDS])
def test_sentences_are_sentences(kind: Kind) -> None:
    for finding in evaluate(scenario(kind.changes)).findings:
        sentence = plain(finding)
        assert sentence[0].isupper() or sentence[0].isdigit() or sentence[0] == "$" or sentence.startswith("p4d.")
        assert sentence.endswith((".", "?"))
        assert "{" not in sentence
        assert "None" not in sentence
        assert "nan" not in sentence
        assert "inf " not in sentence


@pytest.mark.parametrize(
    ("tier", "reason"),
    [("p2-500-12000", None), ("p2-500-1200", None), ("p2-1000-4800-efa", None), ("p2-1000-1200-efa", "next sizes 4,800 GiB")],
)
def test_what_the_service_sells_is_not_refused(tier: str, reason: str | None) -> None:
    chosen = evaluate(scenario(storage={"tier": tier})).storage.chosen
    assert chosen is not None
    assert (str(chosen.illegal_reason) if chosen.illegal_reason else None) == reason


# ---------------------------------------------------------------- sources


def test_a_record_that_is_not_ones_own_is_named_with_its_range() -> None:
    found = plan_of(NamedScenario(name="some")).findings
    said = at(found, "warning", "failures.mtbi_s")
    assert said == ["200 h is not your own record: published records span 31.6 h to 781 h for 32 nodes."]


@pytest.mark.parametrize("kind", ["log", "typed"])
def test_ones_own_record_is_not_questioned(kind: str) -> None:
    named = NamedScenario(name="some").with_source(Source(path="failures.mtbi_s", kind=kind))
    assert at(plan_of(named).findings, "warning", "failures.mtbi_s") == []


def test_a_value_that_was_changed_counts_as_typed() -> None:
    named = NamedScenario(name="some", scenario=with_value(Scenario(), "failures.mtbi_s", 100 * HOUR))
    assert checks.source_kind(named, "failures.mtbi_s") == "typed"
    assert at(plan_of(named).findings, "warning", "failures.mtbi_s") == []


def test_guesses_are_listed_until_they_are_measured() -> None:
    def guesses(named: NamedScenario) -> str:
        said = [plain(finding) for finding in checks.source_findings(named) if finding.severity == "info"]
        return " ".join(sentence for sentence in said if "Guesses until they are measured" in sentence).lower()

    named = NamedScenario(name="some")
    assert "detect, reschedule, start" in guesses(named)
    for path in ("failures.detect_s", "failures.reschedule_s"):
        named = named.with_source(Source(path=path, kind="log"))
    assert "detect" not in guesses(named)
    assert "start" in guesses(named)


def test_fields_that_a_file_lacks_are_listed() -> None:
    named = NamedScenario(name="some", missing=("storage.write_s", "run.days"))
    said = [finding for finding in checks.source_findings(named) if finding.path == "storage.write_s"]
    assert [(finding.severity, plain(finding)) for finding in said] == [
        ("info", "Not in the file, defaults are used: storage.write_s, run.days.")
    ]
