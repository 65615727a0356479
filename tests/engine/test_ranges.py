"""Ranges of inputs: each holds today's value, says who says so, and what is published still stands in the catalog."""

from __future__ import annotations

from typing import Any

import pytest

from ckptplanner.data import catalog
from ckptplanner.engine.levers import BYTES_EACH, RESTART_BASE, STORAGE_PRICE, lever_of
from ckptplanner.engine.ranges import TABLE, Range, range_of, ranges_of
from ckptplanner.engine.scenario import PATHS, CustomStorage, NamedScenario
from ckptplanner.frozen import PathError
from ckptplanner.units import HOUR
from tests.engine.build import scenario

PLAIN = NamedScenario(name="plain", scenario=scenario())
EVERYTHING: dict[str, Any] = {
    "local.enabled": True, "planned.every_s": 86_400.0, "spares.wait_s": 3600.0, "shared.load_bytes_per_s": 1e9,
    "failures.weibull_shape": 0.7, "storage.custom": CustomStorage(usd_per_month=1000.0),
}  # fmt: skip
FULL = NamedScenario(name="full", scenario=scenario(EVERYTHING))
MEASURED = NamedScenario(name="measured", scenario=scenario({"workload.measured_bytes": 1e12}))


@pytest.mark.parametrize("plan", [PLAIN, FULL, MEASURED], ids=lambda plan: str(plan.name))
def test_a_range_holds_todays_value_and_says_why(plan: NamedScenario) -> None:
    for one in ranges_of(plan):
        assert one.low <= one.value <= one.high
        assert one.low < one.high
        assert str(one.reason)
        if one.kind == "assumption":
            assert str(one.reason).startswith("assumed: ")
        assert 0.0 <= one.position(one.value) <= 1.0
        assert one.position(one.low) == 0.0
        assert one.position(one.high) == pytest.approx(1.0)


def test_every_row_of_the_table_is_in_use_somewhere() -> None:
    found = {one.path for plan in (PLAIN, FULL, MEASURED) for one in ranges_of(plan)}
    assert found == {row.path for row in TABLE}
    assert len(TABLE) == len(found)


def test_a_row_is_a_field_or_one_of_three_sums() -> None:
    sums = {STORAGE_PRICE, RESTART_BASE, BYTES_EACH}
    custom = {f"storage.custom.{name}" for name in CustomStorage.model_fields}
    assert {row.path for row in TABLE} - set(PATHS) - custom == sums


@pytest.mark.parametrize("plan", [PLAIN, FULL, MEASURED], ids=lambda plan: str(plan.name))
def test_a_lever_reads_what_it_puts(plan: NamedScenario) -> None:
    for one in ranges_of(plan):
        for value in (one.low, one.value, one.high):
            again = lever_of(one.lever.put(plan.scenario, value), one.path)
            if value or one.path != STORAGE_PRICE:
                assert again is not None
            # another class of storage may be chosen at another price; the proportion is what holds
            if again is not None and one.path != STORAGE_PRICE:
                assert again.value == pytest.approx(value)


def test_todays_value_put_back_changes_no_number() -> None:
    for one in ranges_of(PLAIN):
        if one.path not in ("prices.gpu_value_usd_per_h", BYTES_EACH):
            assert one.lever.put(PLAIN.scenario, one.value) == PLAIN.scenario


def of(path: str, plan: NamedScenario = PLAIN) -> Range:
    found = range_of(plan, path)
    assert found is not None
    return found


def test_interruptions_span_the_published_records() -> None:
    """SPEC 4: from the Meta paper's 32 h (31.6) to Acme's 781 h at 32 nodes."""
    one = of("failures.mtbi_s")
    assert one.kind == "published"
    assert round(one.low / HOUR, 1) == 31.6
    assert round(one.high / HOUR) == 781
    other = NamedScenario(name="64", scenario=scenario({"failures.mtbi_nodes": 64}))
    assert of("failures.mtbi_s", other).low == pytest.approx(one.low / 2)


@pytest.mark.parametrize(("path", "row", "words"), [
    ("storage.blocking_s", "bytecheckpoint-405b-blocking", "0.59"),
    ("storage.blocking_s", "nemotron-stall", "60 to < 1"),
    (RESTART_BASE, "meta-write", "about 5, and 5 to 20"),
])  # fmt: skip
def test_what_is_published_is_in_the_catalog(path: str, row: str, words: str) -> None:
    assert of(path).kind == "published"
    assert next(run for run in catalog.published_runs() if run.id == row).value == words


def test_the_layouts_are_those_of_the_catalog() -> None:
    one = of(BYTES_EACH)
    assert (one.low, one.value, one.high, one.kind) == (2.0, 14.0, 16.0, "catalog")


def test_a_given_range_replaces_that_of_the_table() -> None:
    (one,) = (found for found in ranges_of(PLAIN, {"failures.mtbi_s": (150 * HOUR, 260 * HOUR)}) if found.kind == "given")
    assert (one.low, one.high, one.path) == (150 * HOUR, 260 * HOUR, "failures.mtbi_s")
    assert len(ranges_of(PLAIN, {"run.days": (30.0, 365.0)})) == len(ranges_of(PLAIN)) + 1


def test_a_given_range_is_widened_to_todays_value_and_cut_to_the_field() -> None:
    one = ranges_of(PLAIN, {"storage.read_efficiency": (-1.0, 0.9)})
    found = next(each for each in one if each.path == "storage.read_efficiency")
    assert (found.low, found.high) == (0.001, 1.0)


@pytest.mark.parametrize("ends", [(2.0, 1.0), (float("nan"), 1.0), (0.0, float("inf"))])
def test_a_range_that_is_none_is_refused(ends: tuple[float, float]) -> None:
    with pytest.raises(ValueError, match="a low to a high"):
        ranges_of(PLAIN, {"failures.mtbi_s": ends})


def test_unknown_paths_and_texts_are_refused() -> None:
    with pytest.raises(KeyError, match="no range is known"):
        range_of(PLAIN, "storage.mode")
    with pytest.raises(PathError):
        ranges_of(PLAIN, {"storage.mode": (0.0, 1.0)})
    with pytest.raises(PathError):
        ranges_of(PLAIN, {"storage.speed": (0.0, 1.0)})


def test_what_is_not_given_cannot_be_turned() -> None:
    assert lever_of(PLAIN.scenario, "storage.quota_gib") is None
    assert lever_of(scenario({"prices.node_usd_per_h": None}), "prices.gpu_value_usd_per_h") is None
    assert lever_of(scenario({"storage.custom": CustomStorage()}), STORAGE_PRICE) is None


def test_the_parts_of_a_restart_keep_their_proportion() -> None:
    lever = of(RESTART_BASE).lever
    changed = lever.put(PLAIN.scenario, 1200.0).failures
    assert (changed.detect_s, changed.reschedule_s, changed.start_s) == (120.0, 600.0, 480.0)
    nothing = scenario({"failures.detect_s": 0.0, "failures.reschedule_s": 0.0, "failures.start_s": 0.0})
    assert lever.put(nothing, 60.0).failures.detect_s == 60.0
