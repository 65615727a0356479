"""Cards of published runs: none is missing, what is compared is computed, and what is known of the runs comes out."""

from __future__ import annotations

import math

import pytest

from ckptplanner.data import catalog
from ckptplanner.engine import published
from ckptplanner.engine.published import ASSUMED, Card
from ckptplanner.engine.published_interruptions import INTERRUPTIONS, published_ettr
from ckptplanner.engine.published_saves import SAVES
from ckptplanner.units import HOUR, MINUTE, TB

CARDS = {card.id: card for card in published.cards()}
# every row of the collection of published timings, in its order: whose it is and what it says
COLLECTED = (
    ("MegaScale", "several seconds"), ("Fire-Flyer (3FS)", "> 10 GiB/s"), ("3FS", "6.6 TiB/s"), ("ByteCheckpoint", "0.59 s"),
    ("ByteCheckpoint", "51.06 s"), ("ByteCheckpoint", "129.49 s"), ("ByteCheckpoint", "0.34 s"), ("ByteCheckpoint", "20.13 s"),
    ("ByteCheckpoint", "265.73 s"), ("ByteCheckpoint, before it", "200 s"), ("ByteCheckpoint", "54.2 times"),
    ("PyTorch DCP", "6.3 s"), ("torch.save", "up to 30 min"), ("TorchTitan with DCP", "50 s"), ("Check-N-Run", "< 7 s"),
    ("Meta research clusters", "about 5, and 5 to 20 min"), ("GEMINI", "42 min"), ("BLOOM-176B", "40 s"),
    ("VAST survey", "50 to 200 GB/s"), ("VAST survey", "3.6 min"), ("VAST survey", "150 min"),
    ("Orbax against DCP", "173 against 595 s"), ("Nemotron 3 Ultra", "60 to < 1 s"), ("Ling-1T", "269 to 30 s"),
    ("Llama 3 405B", "1 MB to 4 GB"), ("ByteRobust", "0.01 to 0.04 s"), ("DataStates-LLM", "up to 4 times"),
    ("FastPersist", "116 times"), ("MaxText", "12 bytes per parameter"), ("VAST survey", "14 bytes per parameter"),
    ("Article A", "14 bytes per parameter"),
)  # fmt: skip


def test_every_row_of_the_collection_has_its_card() -> None:
    said = [(card.run, str(card.reported)) for card in published.cards()]
    assert len(COLLECTED) == 31
    for row in COLLECTED:
        assert said.count(row) == 1, row


@pytest.mark.parametrize("run", ["BLOOM-176B", "OPT-175B", "Llama 3 405B", "Meta research clusters", "MegaScale"])
def test_the_great_runs_are_compared(run: str) -> None:
    assert sum(card.ratio is not None for card in published.cards() if card.run == run) >= 2


def test_each_row_is_either_compared_or_says_why_not() -> None:
    compared = {row.id for row in catalog.published_runs() if not row.nothing}
    assert compared == {*INTERRUPTIONS, *SAVES}
    assert not set(INTERRUPTIONS) & set(SAVES)


@pytest.mark.parametrize("card", [pytest.param(card, id=card.id) for card in published.cards()])
def test_a_card_is_whole(card: Card) -> None:
    assert card.source
    assert str(card.why).endswith(".")
    assert "{" not in f"{card.title}{card.reported}{card.planner}{card.why}"
    if card.planner is None:
        assert str(card.why).startswith("nothing to compare: ")
        assert (card.planner_value, card.ratio, card.inputs) == (None, None, ())
        return
    assert card.inputs
    assert all(str(label) and value and source for label, value, source in card.inputs)
    if card.ratio is not None:
        assert card.planner_value is not None
        assert card.reported_value is not None
        assert math.isclose(card.ratio, card.planner_value / card.reported_value)


def ratio(row: str) -> float:
    found = CARDS[row].ratio
    assert found is not None
    return found


def test_bloom() -> None:
    """14 B x 176e9 is 2,295 GiB; 40 s a save means 61.6 GB/s."""
    assert CARDS["bloom-size"].planner_value == pytest.approx(2.464 * TB)
    assert "2,295 GiB" in str(CARDS["bloom-size"].planner)
    assert "61.6" in str(CARDS["bloom-save"].planner)
    assert 0.5 < ratio("bloom-interval") < 0.6


def test_llama_3_is_example_e4() -> None:
    """9.3 % at T* = 5.3 min: 90.7 % against more than 90 %."""
    found = CARDS["llama3-effective"].planner_value
    assert found is not None
    assert round(1 - found, 3) == 0.093
    assert ratio("llama3-effective") > 1


def test_scaled_records_are_those_of_spec_4() -> None:
    """178 h for 32 nodes by the record of Llama 3, which is 44.5 h for 128."""
    found = CARDS["meta-mttf"].planner_value
    assert found is not None
    assert found / HOUR == pytest.approx(178.0 * 32 / 128, rel=1e-3)
    assert ratio("megascale-restarts") == pytest.approx(1.1, abs=0.02)


def test_metas_formula_by_hand() -> None:
    """(1 - (12.5 + 30) / 474) / (1 + 5 / 60), beside E1 for the same numbers."""
    assert published_ettr(5 * MINUTE, HOUR, 12.5 * MINUTE, 7.9 * HOUR) == pytest.approx((1 - 42.5 / 474) / (1 + 5 / 60))
    assert CARDS["meta-write"].ratio is None  # it reports what goes into both formulas


def test_gemini_at_12_bytes() -> None:
    """530e9 x 12 B over 20 Gbps are 2,544 s."""
    assert CARDS["gemini-mt-nlg"].planner_value == pytest.approx(530e9 * 12 / 2.5e9)


def test_what_no_source_gives_is_marked() -> None:
    marked = {card.id for card in published.cards() for _, _, source in card.inputs if ASSUMED in source}
    assert {"llama3-effective", "megascale-effective", "bytecheckpoint-405b-blocking", "gemini-mt-nlg"} <= marked


def test_a_value_within_a_reported_range_has_the_ratio_1() -> None:
    assert ratio("llama3-shard") == 1.0


def test_an_interval_twice_the_best_says_what_it_costs_of_the_time() -> None:
    words = str(CARDS["bloom-interval"].planner).replace("\u00a0", " ")
    assert "1.71 % of the time with theirs, 1.41 % at its least" in words
    assert "0.3 % of the time" in str(CARDS["bloom-interval"].why)
