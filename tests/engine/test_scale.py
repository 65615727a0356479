"""The same job at other node counts, and whether ten thousand GPUs should save more often or less."""

from __future__ import annotations

import pytest

from ckptplanner.engine.csv_files import csv_text
from ckptplanner.engine.decide_tables import (
    FLIP_COLUMNS,
    REGRET_COLUMNS,
    SCALE_COLUMNS,
    TORNADO_COLUMNS,
    flip_rows,
    flips_table,
    regret_rows,
    regret_table,
    scale_rows,
    scale_table,
    tornado_rows,
    tornado_table,
)
from ckptplanner.engine.evaluate import evaluate
from ckptplanner.engine.flips import flip_bars
from ckptplanner.engine.ranges import ranges_of
from ckptplanner.engine.regret import best_of, regrets
from ckptplanner.engine.scale import NODE_COUNTS, scale
from ckptplanner.engine.scenario import NamedScenario
from ckptplanner.engine.tornado import tornado
from ckptplanner.frozen import with_value
from ckptplanner.units import HOUR
from tests.engine.build import ARTICLE, scenario

PLAN = NamedScenario(name="5 min", scenario=scenario())
SLOW = NamedScenario(name="20 min", scenario=scenario(storage={"write_s": 1200.0}))


def test_from_8_to_16384_nodes() -> None:
    assert (NODE_COUNTS[0], NODE_COUNTS[-1], len(NODE_COUNTS)) == (8, 16_384, 12)
    found = scale(PLAN)
    assert [row.nodes for row in found.rows] == list(NODE_COUNTS)
    for row in found.rows:
        plan = evaluate(with_value(PLAN.scenario, "workload.nodes", row.nodes))
        assert plan.schedule is not None
        assert plan.waste is not None
        assert plan.cost is not None
        assert (row.mtbi_s, row.interval_s) == (plan.schedule.mtbi_s, plan.schedule.period_s)
        assert (row.waste_fraction, row.total_usd_per_year) == (plan.waste.chosen_fraction, plan.cost.total_usd_per_year)
        assert row.gpus == 8 * row.nodes


def test_interruptions_follow_the_nodes() -> None:
    """SPEC 4: M = M0 N0 / N."""
    for row in scale(PLAN).rows:
        assert row.mtbi_s == pytest.approx(200 * HOUR * 32 / row.nodes)


def test_to_first_order_the_interval_goes_with_the_root() -> None:
    """SPEC 3: T* = sqrt(2 C M), so four times the nodes halve it."""
    plan = NamedScenario(name="article", scenario=scenario(ARTICLE))
    best = [row.best_interval_s for row in scale(plan, [8, 32, 128, 512]).rows]
    assert best == pytest.approx([best[1] * 2, best[1], best[1] / 2, best[1] / 4] if best[1] else [])


def test_waste_grows_and_the_interval_shrinks_until_the_write_holds_it() -> None:
    rows = scale(PLAN).rows
    wastes = [row.waste_fraction or 0.0 for row in rows]
    intervals = [row.interval_s or 0.0 for row in rows]
    assert wastes == sorted(wastes)
    assert intervals == sorted(intervals, reverse=True)
    assert [row.nodes for row in rows if row.is_held_by_write] == [4096, 8192, 16_384]
    assert all(row.interval_s == 305.0 for row in rows if row.is_held_by_write)


def test_the_answer_for_ten_thousand_gpus() -> None:
    said = [str(one).replace("\u00a0", " ") for one in scale(PLAN).answer]
    assert said[0] == (
        "More often: 10,000 GPUs (1,250 nodes) are interrupted every 5 h 7 min, 32 nodes every 200 h. "
        "The best interval is 7 min 11 s there and 45 min here."
    )
    assert said[1] == "The waste is 8.42 % there and 0.54 % here."
    assert said[2].startswith("From 4,096 nodes on a save takes longer than the best interval (3 min 59 s): it is held at")


def test_a_larger_job_than_that_saves_less_often_at_ten_thousand() -> None:
    large = NamedScenario(name="llama", scenario=scenario(workload={"nodes": 2048}))
    assert str(scale(large, [8]).answer[0]).startswith("Less often: ")
    same = NamedScenario(name="same", scenario=scenario(workload={"nodes": 1250}))
    assert str(scale(same, [8]).answer[0]).startswith("As often as today")


def test_one_node_is_no_1_nodes() -> None:
    one = NamedScenario(name="one", scenario=scenario(workload={"nodes": 1}))
    assert "1 nodes" not in " ".join(map(str, scale(one, [1, 8]).answer))


def test_counts_are_sorted_and_refused_below_one() -> None:
    assert [row.nodes for row in scale(PLAN, [64, 8, 64]).rows] == [8, 64]
    with pytest.raises(ValueError, match="1 or more"):
        scale(PLAN, [])
    with pytest.raises(ValueError, match="1 or more"):
        scale(PLAN, [0, 8])


def test_what_cannot_be_written_has_no_numbers() -> None:
    single = NamedScenario(name="s", scenario=scenario(workload={"writer": "single"}, storage={"write_s": 5.0}))
    found = scale(single, [8])
    assert found.rows[0].interval_s is None
    assert str(found.answer[0]).startswith("No answer")


# ---------------------------------------------------------------- tables


def test_flips_as_rows() -> None:
    bars = flip_bars(PLAN, SLOW, [one for one in ranges_of(PLAN) if one.path.startswith("prices.gpu")])
    rows = flip_rows(bars)
    assert [row["cheaper"] for row in rows] == ["20 min", "5 min"]
    assert [row["flip"] for row in rows] == [None, bars[0].flips[0].value]
    assert all(tuple(row) == FLIP_COLUMNS for row in rows)
    assert csv_text(flips_table(bars)).count("\r\n") == 3


def test_tornado_as_rows() -> None:
    found = tornado(PLAN, "waste_fraction")
    rows = tornado_rows(found)
    assert all(tuple(row) == TORNADO_COLUMNS for row in rows)
    assert [row["at_high"] for row in rows] == [bar.high for bar in found.bars]
    assert list(tornado_table(found)["span"]) == [bar.span(found.expected) for bar in found.bars]


def test_what_to_measure_as_rows() -> None:
    decided, found = best_of([PLAN]), regrets([PLAN])
    assert decided is not None
    rows = regret_rows(found, decided)
    assert all(tuple(row) == REGRET_COLUMNS for row in rows)
    assert [row["path"] for row in rows] == [row.path for row in found]
    assert len(regret_table(found, decided)) == len(found)


def test_scale_as_rows() -> None:
    found = scale(PLAN)
    rows = scale_rows(found)
    assert all(tuple(row) == SCALE_COLUMNS for row in rows)
    assert rows[2]["bottleneck"] == "file system"
    assert csv_text(scale_table(found)).startswith("nodes,gpus,mtbi_s")
