"""Taking over what files say: values, sources with their intervals, what would change, and what is far from the plan."""

from __future__ import annotations

import math

import pytest

from ckptplanner.data import catalog
from ckptplanner.data.evidence import Place
from ckptplanner.engine.adopting import adopted, effects, in_use, proposed
from ckptplanner.engine.edits import EditError, edit
from ckptplanner.engine.evaluate import plan_of
from ckptplanner.engine.evidence import Estimate
from ckptplanner.engine.scenario import NamedScenario
from ckptplanner.engine.tables import input_row
from ckptplanner.engine.value_words import range_words
from ckptplanner.frozen import value_at
from ckptplanner.text import text
from ckptplanner.units import BYTES, BYTES_PER_PARAM, BYTES_PER_S, HOUR, PARAMS, SECONDS, Unit

ARTICLE = NamedScenario(name="5 min")


def estimate(
    quantity: str, path: str | None, value: object, unit: Unit | None = SECONDS, *, low: float | None = None,
    high: float | None = None, count: int = 3, with_paths: tuple[tuple[str, object], ...] = (),
) -> Estimate:  # fmt: skip
    return Estimate(
        id=quantity, path=path, title=text("Stop time"), value=value, unit=unit, low=low, high=high, count=count,
        basis="measured", places=(Place("run-7.log", "line 12"), Place("run-8.log", "line 3")), date="2026-11-02",
        spread="values" if low is not None else "", with_paths=with_paths,
    )  # fmt: skip


STOP = estimate("stop", "storage.blocking_s", 5.0668, low=4.972, high=5.262)
MTBI = estimate(
    "mtbi", "failures.mtbi_s", 100.0 * HOUR, low=70.0 * HOUR, high=150.0 * HOUR, count=23,
    with_paths=(("failures.mtbi_nodes", 64),),
)  # fmt: skip


def test_a_value_comes_with_its_file_its_date_and_its_interval() -> None:
    named = adopted(ARTICLE, [STOP])
    source = named.source_of("storage.blocking_s")
    assert named.scenario.storage.blocking_s == 5.067  # to four digits
    assert source is not None
    assert (source.kind, source.date, source.low, source.high, source.count) == ("log", "2026-11-02", 4.972, 5.262, 3)
    assert source.text == "run-7.log, line 12; run-8.log, line 3"
    assert str(range_words(source)) == "4.97\u00a0s to 5.26\u00a0s, from 3 values"


def test_the_inputs_table_carries_the_interval() -> None:
    row = input_row(adopted(ARTICLE, [STOP]), "storage.blocking_s")
    assert (row.source, row.low, row.high, row.count, row.date) == ("log", 4.972, 5.262, 3, "2026-11-02")
    other = input_row(ARTICLE, "storage.blocking_s")
    assert (other.low, other.high, other.count, other.measured) == (None, None, None, "")


def test_an_m_brings_the_nodes_that_it_was_counted_on() -> None:
    named = adopted(ARTICLE, [MTBI])
    assert (named.scenario.failures.mtbi_s, named.scenario.failures.mtbi_nodes) == (360_000.0, 64)
    nodes = named.source_of("failures.mtbi_nodes")
    assert nodes is not None
    assert (nodes.low, nodes.high) == (None, None)  # the interval is that of M
    assert plan_of(named).schedule.mtbi_s == pytest.approx(200.0 * HOUR)  # type: ignore[union-attr]


def test_what_is_in_use_is_told_for_the_same_nodes() -> None:
    """200 h at 32 nodes are 100 h at 64."""
    assert in_use(ARTICLE.scenario, MTBI) == pytest.approx(100.0 * HOUR)
    (effect,) = effects(ARTICLE, plan_of(ARTICLE), [MTBI])
    assert effect.in_use_source == "article"
    assert effect.usd_per_month == pytest.approx(0.0, abs=1e-6)
    assert effect.waste_fraction == pytest.approx(0.0, abs=1e-12)


def test_an_effect_is_the_difference_of_two_plans() -> None:
    half = estimate("mtbi", "failures.mtbi_s", 100.0 * HOUR, with_paths=(("failures.mtbi_nodes", 32),))
    before, after = plan_of(ARTICLE), plan_of(edit(edit(ARTICLE, "failures.mtbi_s", 100.0 * HOUR), "failures.mtbi_nodes", 32))
    (effect,) = effects(ARTICLE, before, [half])
    assert before.cost is not None
    assert after.cost is not None
    assert before.waste is not None
    assert after.waste is not None
    assert effect.usd_per_month == pytest.approx((after.cost.total_usd_per_year - before.cost.total_usd_per_year) / 12.0)  # type: ignore[operator]
    assert effect.waste_fraction == pytest.approx(after.waste.total_fraction - before.waste.total_fraction)  # type: ignore[operator]
    assert effect.waste_fraction > 0.001


def test_bytes_a_parameter_become_a_layout_of_one_part() -> None:
    named = adopted(ARTICLE, [estimate("bytes_per_param", "workload.bytes_per_param", 12.0, BYTES_PER_PARAM)])
    assert named.scenario.workload.bytes_per_param == 12.0
    assert named.source_of("workload.layout") is not None
    assert named.source_of("workload.bytes_per_param") is None


def test_a_field_that_holds_a_whole_number_gets_one() -> None:
    named = adopted(ARTICLE, [estimate("nodes", "workload.nodes", 63.9, None)])
    assert named.scenario.workload.nodes == 64


def test_storage_that_exists_is_made_by_its_first_measured_rate() -> None:
    named = adopted(ARTICLE, [estimate("writes_at", "storage.custom.write_bytes_per_s", 2.0491e9, BYTES_PER_S)])
    assert value_at(named.scenario, "storage.custom.write_bytes_per_s") == 2.049e9


def test_a_value_out_of_range_changes_nothing_and_says_why() -> None:
    bad = estimate("stop", "storage.blocking_s", -1.0)
    with pytest.raises(EditError, match=r"storage\.blocking_s"):
        adopted(ARTICLE, [STOP, bad])
    (effect,) = effects(ARTICLE, plan_of(ARTICLE), [bad])
    assert "storage.blocking_s" in effect.refusal
    assert effect.usd_per_month is None


def test_what_is_for_reading_only_cannot_be_taken() -> None:
    only = estimate("restorable", None, 290.0)
    (effect,) = effects(ARTICLE, plan_of(ARTICLE), [only])
    assert (effect.in_use, effect.refusal, effect.usd_per_month) == (None, "", None)
    with pytest.raises(EditError, match="reading only"):
        adopted(ARTICLE, [only])


# ---------------------------------------------------------------- far from the plan


def far(one: Estimate, named: NamedScenario = ARTICLE) -> str:
    (effect,) = effects(named, plan_of(named), [one])
    return "" if effect.far is None else str(effect.far)


def test_moments_stored_as_fp32_are_named() -> None:
    """SPEC 12: the format in memory is not that on disk."""
    six = edit(ARTICLE, "workload.layout", "bf16-6")
    words = far(estimate("bytes_per_param", "workload.bytes_per_param", 14.0, BYTES_PER_PARAM), six)
    assert "moments are stored as fp32" in words
    assert words.startswith("14.0 B a parameter where the plan has 6.00") or words.startswith("14 B a parameter")
    assert "fp32" in far(estimate("checkpoint", "workload.measured_bytes", 124.45e9 * 14.0, BYTES), six)


def test_a_checkpoint_of_weights_alone_cannot_resume() -> None:
    assert "cannot resume" in far(estimate("bytes_per_param", "workload.bytes_per_param", 2.0, BYTES_PER_PARAM))


def test_a_size_between_two_layouts_is_named_so() -> None:
    """E3: 395.74 GiB of 52.85e9 parameters are 8.04 B each, between 6 and 10."""
    named = edit(ARTICLE, "workload.total_params", 52.85e9)
    words = far(estimate("checkpoint", "workload.measured_bytes", 395.74 * 2**30, BYTES), named)
    assert "between the layouts of 6 and 10" in words.replace("6.00", "6").replace("10.0", "10")


def test_what_belongs_to_another_model_is_named_so() -> None:
    small = estimate("checkpoint", "workload.measured_bytes", 148e3, BYTES)
    assert "another model" in far(small)
    assert "another model" in far(estimate("params", "workload.total_params", 8e9, PARAMS))
    assert far(estimate("params", "workload.total_params", 120e9, PARAMS)) == ""


def test_the_size_of_the_plan_is_not_far() -> None:
    assert far(estimate("bytes_per_param", "workload.bytes_per_param", 14.5, BYTES_PER_PARAM)) == ""


def test_a_slow_copy_hints_at_pageable_memory() -> None:
    """E3 again: 64 GPUs copy 425 GB in 3.7 s, 1.8 GB/s each."""
    named = ARTICLE
    for path, value in {
        "workload.total_params": 52.85e9,
        "workload.measured_bytes": 395.74 * 2**30,
        "workload.nodes": 8,
    }.items():
        named = edit(named, path, value)
    assert "not pinned" in far(estimate("stop", "storage.blocking_s", 3.7), named)
    assert "not pinned" in far(estimate("copy", "datapath.copy_bytes_per_s", 2e9, BYTES_PER_S))
    assert far(estimate("copy", "datapath.copy_bytes_per_s", 20e9, BYTES_PER_S)) == ""


def test_an_m_beyond_all_published_records_is_questioned() -> None:
    known = [record.mtbi_s * record.nodes for record in catalog.interruption_records()]
    for factor, words in ((max(known) * 1.01, "Rarer"), (min(known) * 0.99, "More often")):
        one = estimate("mtbi", "failures.mtbi_s", factor / 32, with_paths=(("failures.mtbi_nodes", 32),))
        assert words in far(one)
    assert far(MTBI) == ""


def test_a_first_rate_of_ones_own_storage_says_what_it_replaces() -> None:
    """One measured rate makes storage of one's own, whose price nobody has said: the plan's file system is not bought."""
    rate = estimate("writes_at", "storage.custom.write_bytes_per_s", 2.0491e11, BYTES_PER_S)
    assert far(rate) == "The storage becomes your own, its bill unknown; what the plan buys now is dropped."
    assert "your own" not in far(rate, adopted(ARTICLE, [rate])), "it is in use already"


def test_what_is_much_less_is_a_share_and_what_is_more_a_multiple() -> None:
    assert far(estimate("detect", "failures.detect_s", 4.26)).replace("\u00a0", " ") == "7.10 % of what the plan has."
    assert far(estimate("detect", "failures.detect_s", 180.0)) == "3 times what the plan has."


def test_no_effect_is_ever_nan() -> None:
    for effect in effects(ARTICLE, plan_of(ARTICLE), [STOP, MTBI, estimate("restorable", None, 290.0)]):
        for number in (effect.usd_per_month, effect.waste_fraction):
            assert number is None or math.isfinite(number)


def test_the_stop_of_a_synchronous_run_is_not_proposed_for_an_asynchronous_plan() -> None:
    """Training stands still for all of the write: taken as the stop of an asynchronous save it would count twice."""
    stop, write = estimate("stop", "storage.blocking_s", 300.0), estimate("write", "storage.write_s", 300.0)
    taken = proposed(ARTICLE, [stop, write])
    assert [one.id for one in taken] == ["write"]
    (effect, _) = effects(ARTICLE, plan_of(ARTICLE), [stop, write])
    assert not effect.estimate.is_proposed
    assert any("synchronously" in str(note) for note in effect.estimate.notes)
    sync = edit(ARTICLE, "storage.mode", "sync")
    assert len(proposed(sync, [stop, write])) == 2
    short = estimate("stop", "storage.blocking_s", 5.0)
    assert len(proposed(ARTICLE, [short, write])) == 2


def test_what_looks_like_another_model_is_shown_and_not_proposed() -> None:
    toy = estimate("params", "workload.total_params", 6144.0, PARAMS)
    small = estimate("checkpoint", "workload.measured_bytes", 148e3, BYTES)
    own = estimate("checkpoint", "workload.measured_bytes", 124.45e9 * 12.0, BYTES)
    assert proposed(ARTICLE, [toy, small, own]) == (own,)
    assert all("another model" in far(one) for one in (toy, small))
    assert adopted(ARTICLE, [toy]).scenario.workload.total_params == 6144.0  # by itself it can be
